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
# # Real data: from a file to a finding
#
# On random models the truth is known, and each model is a new one. A data set is one sample, of
# which we do not know the truth, and whatever we do with it uses the same rows again. This
# notebook goes from a file to a finding, shows by a simple simulation why a plain t test of cross-
# validation results is wrong, and ends with two measures that name different winners.

# %%
import os

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import display
from scipy import stats

import simstudy
from simstudy.analysis.tests.bayesian import correlated_bayes
from simstudy.analysis.tests.friedman import nemenyi
from simstudy.analysis.tests.resampled import corrected_t, five_by_two_t, naive_t
from simstudy.report.charts.spec import COLOURS

QUICK = bool(os.environ.get("SIMSTUDY_QUICK"))  # few samples: only to see that all of it runs
TRIALS = 20 if QUICK else 400
plt.rcParams.update({"figure.dpi": 110, "axes.spines.top": False, "axes.spines.right": False})

# %% [markdown]
# ## The file
#
# 303 patients of Cleveland, 13 attributes, and whether an artery is narrowed. Six values are
# missing.

# %%
DATA = "../studies/data/uci"
heart = simstudy.read_data(f"{DATA}/cleveland.csv.gz")
pd.DataFrame(
    [
        (v.name, "number" if v.values is None else ", ".join(v.values))  # noqa: PD011
        for v in heart.schema.variables
    ],
    columns=["variable", "values"],
)

# %% [markdown]
# ## The study
#
# Five times two folds, stratified. Whatever is fitted, cut points of numbers too, is fitted to
# only the training half. `keep_answers` keeps the predicted probabilities.

# %%
SETS = (
    ["cleveland", "iris", "labor-neg"]
    if QUICK
    else [
        "cleveland",
        "crx",
        "glass",
        "heart",
        "house-votes-84",
        "ionosphere",
        "iris",
        "labor-neg",
        "ly",
        "sonar",
        "ttt",
        "wine",
    ]
)
study = simstudy.make_study(
    {
        "name": "real_data",
        "seed": 9,
        "keep_answers": True,
        "datasets": [{"path": f"{DATA}/{name}.csv.gz"} for name in SETS],
        "resampling": {"scheme": "5x2cv"},
        "measures": {"primary": "information_reward", "also": ["accuracy", "auc"]},
        "learners": [
            {"name": "naive_bayes", "label": "NB"},
            {"name": "c45", "label": "C4.5"},
            {"name": "aode", "label": "AODE"},
            {
                "name": "calibrated",
                "label": "calibrated NB",
                "learner": "naive_bayes",
                "method": "beta",
            },
        ],
    }
)
results = simstudy.run_study(study, "results/real_data", progress=False)
means = results.dataset_means("accuracy")
means[means["dataset"] == "cleveland"].round(3)

# %% [markdown]
# `sd` is how far single splits lie apart. It is tempting to divide it by $\sqrt{10}$ and call it
# the standard error of the mean. The next section shows what comes of that.

# %% [markdown]
# ## Why the naive t test is wrong
#
# Take two learners that are equally good: each predicts the true class of a row with probability
# 0.75 plus what its training rows did to it. To be fair, we give both the same kind of training
# effect: the "skill" of a fit is a mean over its training rows of a random effect that each row
# has on that learner. Neither is better, so a test at the level of 5% should find a difference in
# 5% of data sets. The splits of a data set share training rows, hence their skills, and the test
# rows are used again in every repeat. How strong such effects are depends on the learners and the
# data; here their size is ours, so the simulation shows what can happen, not how often it does.


# %%
def differences(rng, rows, repeats, folds):
    """Differences in accuracy of two exchangeable learners on one data set, repeats × folds."""
    effect = rng.normal(0, 0.6, (2, rows))  # of each row on each learner that is trained on it
    ease = rng.uniform(size=(2, rows))  # whether each learner is right on a row
    found = np.empty((repeats, folds))
    for repeat in range(repeats):
        fold = rng.permutation(rows) % folds
        for one in range(folds):
            test = fold == one
            skill = 0.75 + effect[:, ~test].mean(axis=1)
            right = ease[:, test] < skill[:, None]
            found[repeat, one] = right[0].mean() - right[1].mean()
    return found


def rejected(repeats, folds, test, seed=1):
    """The share of data sets on which a test finds a difference at the level of 5%."""
    rng = np.random.default_rng(seed)
    p = [test(differences(rng, 200, repeats, folds)).p for _ in range(TRIALS)]
    return np.mean(np.array(p) <= 0.05)


schemes = {"10 folds": (1, 10), "5×2 folds": (5, 2), "10×10 folds": (10, 10)}
shares = {"10 folds": 0.1, "5×2 folds": 0.5, "10×10 folds": 0.1}
table = {}
for name, shape in schemes.items():
    share = shares[name]
    tests = {
        "naive t": lambda d: naive_t(d.ravel()),
        "corrected t": lambda d, share=share: corrected_t(d.ravel(), share),
    }
    if shape == (5, 2):
        tests["5×2cv t"] = five_by_two_t
    table[name] = {test: rejected(*shape, function) for test, function in tests.items()}
rates = pd.DataFrame(table).T


def percent(share):
    """A share of the data sets with its exact binomial 95% interval, in percent."""
    if np.isnan(share):
        return "–"
    low, high = stats.binomtest(round(share * TRIALS), TRIALS).proportion_ci()
    return f"{100 * share:.1f} ({100 * low:.1f}–{100 * high:.1f})"


rates.map(percent)

# %%
fig, ax = plt.subplots(figsize=(6.4, 2.8))
for place, name in enumerate(rates.columns):
    known = rates[name].dropna()
    heights = [list(rates.index).index(row) + 0.25 * (place - 1) for row in known.index]
    ax.barh(heights, known, height=0.22, color=COLOURS[place], label=name)
ax.axvline(0.05, color="0.3", lw=1, ls="--")
ax.text(0.055, -0.47, "5%, as promised", fontsize=8, va="center", color="0.3")
ax.set_yticks(range(len(rates)), rates.index)
ax.set_ylim(len(rates) - 0.5, -0.6)
ax.set_xlim(0, 1)
ax.set_xlabel("share of data sets with p ≤ 0.05; both learners are equally good")
ax.legend(frameon=False, fontsize=8, loc="lower right")
fig.tight_layout()

# %% [markdown]
# The naive test takes differences that share rows for independent ones. More repeats make it worse:
# its standard error goes to 0 with the number of splits, while what we know does not grow. The
# corrected resampled t test (Nadeau & Bengio 2003) adds the ratio of test to training rows to the
# variance; the 5×2cv t test (Dietterich 1998) uses the difference of one fold and the variances of
# five repeats. With 5×2 folds neither is significantly above 5% here. With ten folds the corrected
# test is, with 9%, and with 10×10 folds it rejects in 24% of data sets; the naive one rejects more
# often. In this simulation the answer for a row depends little on the training rows, so 100 splits
# say little more than 10. The nulls of [notebook 07](07_which_estimate.ipynb), where the corrected
# test stays below its level, leave out what training rows do to the difference; so neither notebook
# shows that a test keeps its level in general.
#
# ## The finding on one data set

# %%
pairs = results.pairwise_datasets("information_reward", "five_by_two_t")
columns = ["first", "second", "difference", "statistic", "p", "p_adjusted", "m"]
pairs[pairs["dataset"] == "cleveland"][columns].round(4)

# %% [markdown]
# `p_adjusted` is Holm's, for all m pairs of learners on all data sets. A Bayesian answer: how
# probable is it that AODE is better than NB by more than 0.01 in accuracy, about equal, or worse?

# %%
scores = results.scores
own = scores[scores["dataset"] == "cleveland"].pivot_table(
    index=["repeat", "fold"], columns="learner", values="accuracy"
)
posterior = correlated_bayes((own["AODE"] - own["NB"]).to_numpy(), 0.5, rope=0.01)
pd.Series([*posterior], index=["AODE better", "about equal", "NB better"]).round(3)

# %% [markdown]
# ## Many data sets
#
# Each data set gives one difference, and data sets do not share rows: over them the usual tests
# hold. The table has a column for each winner, and its cells name the learners that are
# significantly worse.

# %%
results.winners("information_reward", adjustment="none").table.head(len(SETS))

# %%
ranks = results.dataset_table("information_reward")
found = nemenyi(ranks)
pd.Series(found.mean_ranks, index=found.learners, name="mean rank").round(2)

# %% [markdown]
# ## Measures that disagree

# %%
reversed_ = results.reversals("accuracy", "information_reward")
reversed_.table.round(3)

# %% [markdown]
# Accuracy asks which class is the most probable one. Information reward asks for the
# probabilities, and takes a great deal for being sure and wrong. A test row that shows it, of the
# first such data set:

# %%
examples = [one for one in reversed_.cases if one.example is not None]
if examples:
    one = examples[0]
    row = one.example
    shown = pd.DataFrame(
        {one.winner_first: row.probabilities_first, one.winner_second: row.probabilities_second}
    ).T
    print(f"{one.dataset}, row {row.row}, true class {row.target}")
    print(f"by accuracy {one.winner_first} wins, by reward {one.winner_second}")
    display(shown.round(4))

# %%
accuracy, reward = results.dataset_table("accuracy"), results.dataset_table("information_reward")
reversals = {one.dataset for one in reversed_.cases}
fig, ax = plt.subplots(figsize=(6.4, 3.6))
for place, name in enumerate(accuracy.columns):
    ax.scatter(accuracy[name], reward[name], s=18, color=COLOURS[place], label=name)
for dataset in reversals:
    x, y = accuracy.loc[dataset], reward.loc[dataset]
    ax.plot([x[x.idxmax()], x[y.idxmax()]], [y[x.idxmax()], y[y.idxmax()]], color="0.6", lw=0.8)
ax.axhline(0, color="0.8", lw=0.8, zorder=0)
ax.set_xlabel("mean accuracy")
ax.set_ylabel("mean information reward (nats)")
ax.legend(frameon=False, fontsize=8, loc="upper left")
fig.tight_layout()

# %% [markdown]
# A line joins the winners by accuracy and by reward where they are not the same. Below 0 a
# learner does worse than predicting the class frequencies would: plain Naive Bayes does so on some
# data sets on which its accuracy is high. Its calibrated version orders rows in the same way and
# is paid for saying how sure it may be. `simstudy run papers` has the studies of the papers, on
# up to 29 data sets.
