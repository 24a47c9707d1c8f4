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
# # A first study
#
# Naive Bayes assumes too much, and yet it is hard to beat. When does it pay to assume less? Hope &
# Korb (2004) asked this in a setting where the answer can be known. They drew random Bayesian
# networks, drew data from them, and compared four learners by the probabilities they gave to unseen
# rows.
#
# This notebook runs their experiment on tree-augmented Naive Bayes (TAN) models and reads what
# comes out: the means, the analysis of variance, the paired differences, the learning curves. At
# the end it asks how many models such a study needs.

# %%
import os
from pathlib import Path

import matplotlib.pyplot as plt

import simstudy
from simstudy.engine.seeds import stream
from simstudy.learners.networks.camml.learner import CaMML
from simstudy.report.charts.network_plot import draw_dag
from simstudy.sources.families.tan import TANFamily

QUICK = bool(os.environ.get("SIMSTUDY_QUICK"))  # few models: only to see that all of it runs
STUDIES = Path("../studies")
RESULTS = Path("results") / ("quick" if QUICK else "full")
JOBS = 1 if QUICK else None  # None: as many processes as there are processors
plt.rcParams.update({"figure.dpi": 50 if QUICK else 96, "font.size": 9.5})

# %% [markdown]
# ## The study
#
# A study is a short text file. This one says: 40 random TAN models of 4 to 8 variables with 2 to 5
# values each, training sets of 50, 500 and 5,000 rows, test sets of 1,000, four learners.

# %%
print((STUDIES / "tan.toml").read_text(encoding="utf-8"))

# %% [markdown]
# `load_study` reads and checks it. Any value can be replaced by its dotted key, here to make the
# study small when it is only to be seen to run.

# %%
smaller = {"models": 4, "data.train_sizes": [50, 500]} if QUICK else {}
study = simstudy.load_study(STUDIES / "tan.toml", overrides=smaller)
results = simstudy.run_study(study, RESULTS / "tan", jobs=JOBS, report=not QUICK)
print(results)

# %% [markdown]
# Run the cell again and it returns at once: results that are there are used again. Another study is
# never written over them unless asked to.
#
# ## One of the models
#
# Every random stream is a function of what it is for: the seed, the family, the number of the
# model, the role. So any model of the study can be drawn again, and its training sets too. Here is
# model number 3, and what CaMML makes of 50 and of 500 rows from it.

# %%
MODEL = 3


def again(role):
    """The stream that the study used for this model in this role."""
    return stream(study.seed, study.family.identity, MODEL, role)


model = TANFamily().draw(again("model"))
print("values of each variable:", dict(zip(model.names, model.cards, strict=True)))

fig, axes = plt.subplots(1, 3, figsize=(10.5, 4.1), layout="constrained")
draw_dag(model.components[0].parents, ax=axes[0])
axes[0].set_title("the model")
for rows, ax in zip((50, 500), axes[1:], strict=True):
    fitted = CaMML().fit(model.sample(rows, again(f"train/{rows}")))
    draw_dag(fitted.dag, fitted.arc_posteriors, ax=ax)
    ax.set_title(f"CaMML after {rows} rows")
plt.show()

# %% [markdown]
# *Figure 1. Left: a TAN model. The target y is a parent of every attribute, and the attributes form
# a tree. Middle and right: the network that CaMML chooses from the study's own training sets.
# Numbers are the posterior probabilities of arcs; dashed arcs are not in the chosen network.* The
# chosen network after 50 rows has three of the model's nine links and one that is not there. After
# 500 it has all nine. One of them, between x1 and y, points the other way, and the probabilities
# say that the data cannot tell.
#
# ## The scores
#
# The raw material is one row for each cell: a model, a training size, a learner.

# %%
results.scores.head(8)

# %% [markdown]
# The primary measure is Bayesian information reward (Hope & Korb 2004, equation 10). With $k$
# classes, true class $c$, prior $p$ and the learner's probabilities $q$, a row earns
#
# $$ IR_B = \frac{1}{k} \Bigl[ \log \frac{q_c}{p_c} +
# \sum_{i \ne c} \log \frac{1 - q_i}{1 - p_i} \Bigr]. $$
#
# It is 0 for a learner that only repeats the prior, here the class frequencies of the training set.
# The means over models:

# %%
means = results.intervals()
means.pivot(index="learner", columns="size", values="mean").loc[results.learners].round(4)

# %% [markdown]
# With 50 rows AODE leads. With 500 CaMML does, TAN follows, and at 5,000 these two are level. Naive
# Bayes soon stops gaining: more data cannot mend a wrong assumption.
#
# ## Is it more than chance?
#
# The models are the subjects of the experiment; each meets every learner and every size. So the
# analysis is a two-factor repeated-measures ANOVA. Sphericity does not hold (Mauchly's test), so
# the corrected p values beside the plain one are those to read.

# %%
anova = results.anova()
shown = ["effect", "df1", "df2", "F", "p", "mauchly_p", "eps_gg", "p_gg", "eps_hf", "p_hf"]
anova[[*shown, "eta2_generalized"]].set_index("effect").map("{:.3g}".format)

# %% [markdown]
# Learner and size matter, and so does their interaction: which learner is best depends on how much
# there is to learn from. The ANOVA does not say who beats whom. The paired differences do. Each is
# taken within models, so what makes a model easy or hard for all learners cancels.

# %%
pairs = results.pairwise()
shown = ["size", "first", "second", "difference", "lower", "upper", "p_adjusted", "first_greater"]
pairs[shown].set_index(["size", "first", "second"]).round(4)

# %% [markdown]
# A positive difference favours the first learner. Intervals are 95% and Bonferroni-adjusted for 18
# tests, six pairs at each of three sizes. `first_greater` is the share of models in which the first
# learner earned more: at 50 rows Naive Bayes beats AODE in 2 models of 40.
#
# ## Learning curves, by reward and by accuracy
#
# The study also measured accuracy. Any table and figure can be had for any measure.

# %%
fig, axes = plt.subplots(1, 2, figsize=(9, 3.9), layout="constrained")
for ax, measure in zip(axes, ("information_reward", "accuracy"), strict=True):
    results.plot_learning_curves(ax=ax, measure=measure)
axes[0].legend(frameon=False, loc="upper left")
axes[1].set_ylabel("accuracy (share of rows)")
plt.show()

# %% [markdown]
# *Figure 2. Mean information reward (left) and mean accuracy (right) against training size, with
# 95% intervals between models, Bonferroni-adjusted for the 12 cells. These bars show how much
# models differ; to compare learners use the paired differences.*
#
# The two measures draw much the same picture here, but they do not see the same amount. Take AODE
# and TAN at 50 rows:

# %%
by_measure = {
    measure: results.pairwise(measure).query("size == 50 and first == 'TAN' and second == 'AODE'")
    for measure in ("information_reward", "accuracy", "log_loss", "brier_score")
}
for measure, row in by_measure.items():
    difference, lower, upper, p = row[["difference", "lower", "upper", "p_adjusted"]].iloc[0]
    print(f"{measure:19} {difference:+.4f}  [{lower:+.4f}, {upper:+.4f}]  adjusted p = {p:.4f}")

# %% [markdown]
# By accuracy the two do not differ significantly. By each of the measures that use probabilities
# AODE is clearly ahead (for log loss and the Brier score lower is better, so a positive difference
# is again in AODE's favour). Accuracy counts a prediction of .51 and one of 1 alike, and what it
# throws away can be what decides.
#
# ## How many models?
#
# Forty models was the paper's choice. Every mean carries a Monte-Carlo standard error, and
# `precision` says how many models would bring it to a wanted size, here .005 nats.

# %%
needed = results.precision(mcse=0.005)
shown = ["size", "first", "second", "estimate", "sd", "mcse", "models_needed"]
largest = needed[needed["size"] == results.sizes[-1]]
largest[["kind", *shown]].set_index(["kind", "size", "first", "second"]).round(4)

# %% [markdown]
# A *mean* reward to within a standard error of .005 takes several hundred models, because models
# differ so much. A *difference* takes fewer, and between two learners that end up alike very few:
# three models would do for TAN against CaMML at 5,000 rows. This is what pairing buys. The numbers
# rest on standard deviations that are themselves known to about 11%, so take them as a guide.
#
# ## Where everything is

# %%
for file in sorted(results.directory.iterdir()):
    print(file.as_posix())

# %% [markdown]
# `scores.parquet` holds what the study found; the tables and figures are made from it and can be
# made anew. `study.toml` has every default filled in, and with `manifest.json` it says what made
# the results. `simstudy.open_results` opens them in another session.
#
# ## References
#
# - L. R. Hope & K. B. Korb (2004). A Bayesian metric for evaluating machine learning algorithms.
