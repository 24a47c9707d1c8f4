# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     notebook_metadata_filter: -jupytext.text_representation.jupytext_version
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Your own estimators: from a frame to a finding
#
# A data frame of 569 tumours, 30 numbers each, and five learners: a pipeline with a search, tuned
# again in each training part; a forest and boosted trees of scikit-learn; TAN and AODE.

# %%
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import simstudy

logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
search = GridSearchCV(logistic, {"logisticregression__C": [0.01, 0.1, 1.0, 10.0]})
forest, boosted = RandomForestClassifier(), HistGradientBoostingClassifier()
learners = {"tuned": search, "forest": forest, "boosted": boosted, "TAN": "tan", "AODE": "aode"}
data = {"breast cancer": load_breast_cancer(as_frame=True).frame}
results = simstudy.compare(data, "target", learners.items(), progress=False)
results

# %% [markdown]
# Over the table stands what the tests support: who has the best mean, and from whom it differs
# significantly, by the corrected resampled t test, adjusted for all pairs. Information reward is 0
# for a learner that is no better than the class frequencies, and punishes those that are sure and
# wrong.

# %%
results.plot_means()

# %% [markdown]
# Each dot is a split. The page beside the results says what each learner was given: TAN and AODE
# get numbers cut by Fayyad & Irani's criterion, the others get them uncut. It also draws scores
# against the time to fit and predict, and names the Pareto front.
#
# The same in the shell, for a file:
#
# ```sh
# simstudy compare-learners my.csv --target y --learner tan --learner sklearn.naive_bayes:GaussianNB
# ```
