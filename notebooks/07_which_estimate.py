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
# # Which estimate can be trusted?
#
# A learner has been fitted to all the data there are. How good is it? Chapter 5 of Witten, Frank
# & Hall (2011) answers with holdout, cross-validation and the bootstrap; Kohavi (1995), Efron &
# Tibshirani (1997) and Bates, Hastie & Tibshirani (2023) compare them. On data sets the true
# performance is unknown, so such comparisons use a large test set in its place. Here the truth is
# known: the accuracy of every fitted classifier is computed exactly, from the joint distribution
# of the model that the data come from.
#
# There are two things that an estimate may be of: the classifier fitted to *these* rows, or the
# mean over training sets of this size. We ask for both.
#
# All answers are about what is studied here: Naive Bayes (NB) and C4.5 with 50 and 200 rows, judged
# by accuracy, on random models of 4 to 6 variables. The model is the unit of all intervals, because
# results on the same model are correlated.

# %%
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy import stats

import simstudy
from simstudy.analysis.tests.intervals import share_interval

QUICK = bool(os.environ.get("SIMSTUDY_QUICK"))  # few models: only to see that all of it runs
RESULTS = Path("results") / ("quick" if QUICK else "full")
JOBS = 1 if QUICK else 2
MODELS = 3 if QUICK else 24
SIZES = [30] if QUICK else [50, 200]
plt.rcParams.update({"figure.dpi": 50 if QUICK else 96, "font.size": 9.5})

# %% [markdown]
# ## A comparison of estimators
#
# A study with `compare = "estimators"` has estimators in the place of learners, and the rows
# available in the place of training sizes. The built-in study `estimators` has fourteen of them
# and 500 rows; this one is smaller, and looks at all three families of models.

# %%
estimators = [
    {"name": "resubstitution"},
    {"name": "holdout", "label": "holdout 2/3"},
    {"name": "holdout", "label": "holdout ×25", "repeats": 25, "interval": "corrected"},
    {"name": "cross_validation", "label": "2-fold", "folds": 2},
    {"name": "cross_validation", "label": "10-fold"},
    {"name": "cross_validation", "label": "10-fold strat.", "stratify": True, "interval": "folds"},
    {"name": "cross_validation", "label": "10-fold ×10", "repeats": 10, "interval": "corrected"},
    {"name": "leave_one_out", "label": "leave-one-out"},
    {"name": "five_by_two", "label": "5×2cv", "interval": "folds"},
    {"name": "bootstrap_632", "label": ".632"},
    {"name": "bootstrap_632", "label": ".632 (bag)", "training": "bag"},
    {"name": "bootstrap_632", "label": ".632+", "plus": True},
    {"name": "nested_cross_validation", "label": "nested", "repeats": 3 if QUICK else 10},
]


def study_of(family):
    """The study of one family of models."""
    return simstudy.make_study(
        {
            "name": f"estimate_{family}",
            "compare": "estimators",
            "seed": 7,
            "models": MODELS,
            "family": {"name": family, "variables": [4, 6], "values": [2, 4]},
            "data": {"train_sizes": SIZES, "training_sets": 10 if QUICK else 100},
            "learners": [
                {"name": "naive_bayes", "label": "NB"},
                {"name": "c45", "label": "C4.5"},
            ],
            "measures": {"primary": "accuracy"},
            "estimators": estimators,
        }
    )


FAMILIES = ["tan"] if QUICK else ["naive_bayes", "tan", "aode"]
studied = {}
for family in FAMILIES:
    study = study_of(family)
    studied[family] = simstudy.run_study(study, RESULTS / study.name, jobs=JOBS, report=False)
LABELS = studied["tan"].treatments

# %% [markdown]
# `results.estimates` has every estimate beside the exact value, the mean over training sets and
# the bounds of all intervals. We add what distinguishes the models: the number of classes, and
# the probability of the most frequent one.

# %%
frames = []
for family, results in studied.items():
    models = [results.model(number) for number in range(MODELS)]
    classes = np.array([model.cards[-1] for model in models])
    largest = np.array([model.class_prior().max() for model in models])
    frame = results.estimates.assign(family=family)
    number = frame["model"].to_numpy()
    frames.append(frame.assign(classes=classes[number], largest=largest[number]))
estimates = pd.concat(frames, ignore_index=True)
estimates["error"] = estimates["estimate"] - estimates["exact"]
estimates["error_of_mean"] = estimates["estimate"] - estimates["mean"]
estimates.loc[:, ["family", "model", "size", "estimator", "learner", "estimate", "exact"]].head()


# %% [markdown]
# ## Bias and spread
#
# The error of an estimate has two parts: its mean over models (bias) and its spread. Root mean
# squared error (RMSE) has both.


# %%
def summary(rows, column="error"):
    """Bias, standard deviation and RMSE of errors, and correlation with the exact value."""
    error = rows[column]
    target = rows["exact" if column == "error" else "mean"]
    return pd.Series(
        {
            "bias": error.mean(),
            "sd": error.std(),
            "RMSE": np.sqrt((error**2).mean()),
            "correlation": np.corrcoef(rows["estimate"], target)[0, 1],
        }
    )


by = ["learner", "size", "estimator"]
quality = pd.DataFrame({key: summary(rows) for key, rows in estimates.groupby(by, sort=False)}).T
quality.index.names = by
quality = quality.sort_index(sort_remaining=True)
quality.xs(SIZES[0], level="size").reindex(LABELS, level="estimator").round(3)

# %%
fig, axes = plt.subplots(
    2, len(SIZES), figsize=(10, 6.5), sharex="col", sharey=True, squeeze=False, layout="constrained"
)
for column, size in enumerate(SIZES):
    for row, learner in enumerate(["NB", "C4.5"]):
        ax, here = axes[row, column], quality.xs((learner, size)).reindex(LABELS)
        number = estimates["model"].nunique() * len(FAMILIES)
        ax.errorbar(
            here["bias"],
            range(len(LABELS)),
            xerr=1.96 * here["sd"] / np.sqrt(number),
            fmt="o",
            label="bias, 95 % interval",
        )
        ax.plot(here["RMSE"], range(len(LABELS)), "x", color="0.4", label="RMSE")
        ax.axvline(0, color="0.7", lw=0.8)
        ax.set_yticks(range(len(LABELS)), LABELS)
        ax.set_title(f"{learner}, {size} rows available")
axes[0, 0].invert_yaxis()
handles = axes[0, 0].get_legend_handles_labels()
fig.legend(*handles, loc="outside upper right", ncols=2, frameon=False)
for ax in axes[-1]:
    ax.set_xlabel("error of the estimate of accuracy")
plt.show()

# %% [markdown]
# Resubstitution flatters both learners: by more than 7 points of accuracy with 50 rows, and with
# 200 still by 2.6 (NB) and 4.6 (C4.5). Estimates from smaller training sets (2-fold, 5×2cv) err
# on the other side, by up to 4 points. The .632 bootstrap of the book, whose training error is
# that of each sample on its own rows, is too optimistic by 1 to 3 points; Efron's, with the
# resubstitution error, by less than 1, and .632+ by hardly anything.
#
# The rest is spread, and that is larger than most biases: with 50 rows every estimate has a root
# mean squared error of 6 points or more. A single holdout wastes what little there is; its RMSE is
# about 1.7 times that of repeated cross-validation.
#
# ## One table
#
# RMSE against the exact accuracy of the classifier fitted to these rows, in percentage points,
# for groups of models. The interval is the 95 % interval of the difference in squared error from
# stratified ten-fold cross-validation, over models: a star marks estimators for which it excludes
# 0. The intervals are not adjusted for their number: of 100 comparisons without a difference, about
# five would have a star.


# %%
def rmse_with_star(rows):
    """RMSE of every estimator in percentage points; a star where it differs from 10-fold strat."""
    squared = rows.assign(squared=rows["error"] ** 2)
    table = squared.pivot_table("squared", ["family", "model"], "estimator")[LABELS]
    found = {}
    for name in LABELS:
        gap = table[name] - table["10-fold strat."]
        half = 1.96 * gap.std() / np.sqrt(len(gap))
        star = "*" if abs(gap.mean()) > half > 0 else ""
        found[name] = f"{100 * np.sqrt(table[name].mean()):.1f}{star}"
    return pd.Series(found)


largest_size = estimates["size"] == SIZES[-1]
skewed = estimates["largest"] > estimates["largest"].median()
groups = {
    "all": estimates["size"] > 0,
    **{family: estimates["family"] == family for family in FAMILIES},
    **{f"{size} rows": estimates["size"] == size for size in SIZES},
    "two classes": estimates["classes"] == 2,
    "more": estimates["classes"] > 2,
    "balanced": ~skewed,
    "skewed": skewed,
    "NB": estimates["learner"] == "NB",
    "C4.5": estimates["learner"] == "C4.5",
}
table = pd.DataFrame(
    {name: rmse_with_star(estimates[mask]) for name, mask in groups.items() if mask.any()}
)
table.head(len(LABELS))

# %%
reference = table.loc["10-fold strat."].astype(float)
for name, row in table.iterrows():
    starred = row[row.str.endswith("*")].str.rstrip("*").astype(float)
    smaller = starred < reference[starred.index]
    for word, columns in (("smaller", starred[smaller]), ("larger", starred[~smaller])):
        if len(columns):
            groups_named = f"{len(columns)} of {len(row)} groups: {', '.join(columns.index)}"
            print(f"{name}: significantly {word} error in {groups_named}")

# %% [markdown]
# ## This classifier, or the mean over training sets?
#
# Bates, Hastie & Tibshirani show that for linear models cross-validation says more about the mean
# over training sets than about the classifier at hand. Is that so here? For each estimator, its
# RMSE against both, in percentage points:

# %%
both = pd.DataFrame(
    {
        "this classifier": estimates.groupby("estimator", sort=False)["error"].agg(
            lambda error: 100 * np.sqrt((error**2).mean())
        ),
        "mean over training sets": estimates.groupby("estimator", sort=False)["error_of_mean"].agg(
            lambda error: 100 * np.sqrt((error**2).mean())
        ),
    }
)
both.round(2)

# %% [markdown]
# Not here. The errors against both are about equal: how well these classifiers do depends more on
# the model that the data come from than on which rows were drawn, so that an estimate of the one
# is an estimate of the other.
#
# ## Intervals
#
# How often does a 95 % interval contain the exact accuracy? Each model has four results, of two
# learners at two sizes, which are not independent. So the interval of a share (`from`, `to`) is
# that of Clopper & Pearson for the effective number of results (Korn & Graubard 1998), which
# follows from the variance between models. Where the share is 0 or 1, it is for the number of
# models.


# %%
def exact_interval(mean, variance, models, results):
    """The exact 95 % interval of a share, from its variance between models; results of each."""
    number = min(models, models * results)
    if variance > 0:
        ratio = stats.t.ppf(0.975, models * results - 1) / stats.t.ppf(0.975, models - 1)
        number = min(mean * (1 - mean) / variance * ratio**2, models * results)
    low = stats.beta.ppf(0.025, number * mean, number * (1 - mean) + 1) if mean > 0 else 0.0
    high = stats.beta.ppf(0.975, number * mean + 1, number * (1 - mean)) if mean < 1 else 1.0
    return low, high


def of_models(shares):
    """The mean of shares of models, and its binomial interval."""
    return [limit[0] for limit in share_interval(shares.to_numpy()[:, None], 0.95)]


rows = {}
for interval in ["rows", "folds", "corrected", "nested", "percentile"]:
    bounds = estimates[["exact", f"lower_{interval}", f"upper_{interval}"]].dropna()
    inside = bounds["exact"].between(bounds[f"lower_{interval}"], bounds[f"upper_{interval}"])
    width = bounds[f"upper_{interval}"] - bounds[f"lower_{interval}"]
    own = estimates.loc[bounds.index]
    for name in own["estimator"].unique():
        these = own["estimator"] == name
        shares = inside[these].groupby([own["family"], own["model"]]).mean()
        rows[name, interval] = *of_models(shares), width[these].mean()
coverage = pd.DataFrame(rows, index=["coverage", "from", "to", "width"]).T
coverage.index.names = ["estimator", "interval"]
coverage.round(3)

# %%
near = coverage[(coverage["from"] <= 0.95) & (coverage["to"] >= 0.95)]
print("Coverage does not differ significantly from 95 %:")
print("; ".join(f"{name} ({interval})" for name, interval in near.index))

# %%
fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
colours = dict(
    zip(["rows", "folds", "corrected", "nested", "percentile"], plt.cm.tab10.colors, strict=False)
)
for (name, interval), row in coverage.iterrows():
    place = LABELS.index(name) + 0.14 * ([*colours].index(interval) - 2)
    ax.plot(row["coverage"], place, "o", color=colours[interval])
    ax.plot(row[["from", "to"]], [place, place], color=colours[interval])
for interval, colour in colours.items():
    ax.plot([], [], "o", color=colour, label=interval)
ax.axvline(0.95, color="0.6", lw=0.8)
ax.set_yticks(range(len(LABELS)), LABELS)
ax.invert_yaxis()
ax.set_xlabel("coverage of intervals of nominal 95 %")
ax.legend(frameon=False, title="interval over", loc="lower left")
plt.show()

# %% [markdown]
# Intervals that take the values of repeated splits for independent (`folds` of 10-fold ×10,
# holdout ×25 and 5×2cv) contain the exact accuracy about half of the time or less: 46 % (39–53),
# 40 % (33–46) and 51 % (44–58). More repeats make them narrower, and more wrong (Nadeau & Bengio
# 2003; Bengio & Grandvalet 2004). With the correction of Nadeau & Bengio these three cover 92 %
# (88–95), 95 % (92–98) and 98 % (96–99). Wilson's interval over the rows of ten-fold
# cross-validation, the naive interval of Bates, Hastie & Tibshirani, covers 89 % (83–93), and
# stratified 90 % (85–93): less than nominal. Nested cross-validation covers 95 % (91–97), as they
# say, with intervals 1.4 times as wide. Percentiles of bootstrap samples cover 83 to 88 %, all
# significantly less than nominal.
#
# ## Tests of two learners
#
# The same question for tests: how often does a test at 5 % reject where there is no difference?
# That depends on what "no difference" is. Dietterich (1998) and Nadeau & Bengio (2003) mean two
# learners of equal expected performance, both fitted to the same training rows. Which of the two a
# training set favours is then chance, and all splits of a data set share part of it. The two nulls
# of a study with `compare = "tests"` are simpler, and neither has this effect.
#
# - *Copies* of one learner are fitted, in every split, to 80 % of the training rows, drawn anew for
#   each of the two. What training rows do to the difference is then nearly independent from split
#   to split, as a naive t test assumes.
# - A *mirrored* pair is one classifier that is asked about the test rows and about others drawn
#   from the same classes, so that both have the same exact accuracy. What the training rows do
#   cancels. What is left is that the same test rows are used in several splits.

# %%
tests = simstudy.make_study(
    {
        "name": "estimate_tests",
        "compare": "tests",
        "seed": 7,
        "models": MODELS if QUICK else 50,
        "family": {"name": "tan", "variables": [4, 6], "values": [2, 4]},
        "data": {"train_sizes": [SIZES[0] if QUICK else 100], "repeats": 2 if QUICK else 10},
        "learners": [{"name": "naive_bayes", "label": "NB"}, {"name": "tan", "label": "TAN"}],
        "measures": {"primary": "accuracy"},
        "tests": [
            {"name": "cross_validated_t", "label": "naive t, 10 folds", "corrected": False},
            {"name": "resampled_t", "label": "naive t, 30 splits", "corrected": False},
            {"name": "cross_validated_t", "label": "corrected t, 10 folds"},
            {"name": "resampled_t", "label": "corrected t, 30 splits"},
            {"name": "five_by_two_t", "label": "5×2cv t"},
            {"name": "five_by_two_f", "label": "5×2cv F"},
            {"name": "mcnemar", "label": "McNemar"},
        ],
    }
)
tested = simstudy.run_study(tests, RESULTS / tests.name, jobs=JOBS, report=False)
columns = {
    "type_1_NB": "copies of NB",
    "type_1_TAN": "copies of TAN",
    "type_1_mirrored_NB": "mirrored NB",
    "type_1_mirrored_TAN": "mirrored TAN",
    "power_NB_TAN": "power",
    "wrong_NB_TAN": "wrong way",
}
repeats, shares = tests.data.repeats, tested.scores.pivot_table([*columns], "model", "learner")


def percent(mean, low, high):
    """A share and its interval, in percent."""
    return f"{100 * mean:.1f} ({100 * low:.1f}–{100 * high:.1f})"


pd.DataFrame(
    {
        label: {name: percent(*of_models(shares[column, name])) for name in tested.treatments}
        for column, label in columns.items()
    }
)

# %%
power, wrong = shares["power_NB_TAN"], shares["wrong_NB_TAN"]
for name in tested.treatments:
    verdicts = power[name] + wrong[name]
    if verdicts.sum() > 0:
        share = wrong[name].sum() / verdicts.sum()
        variance = ((wrong[name] - share * verdicts).sem() / verdicts.mean()) ** 2
        bounds = exact_interval(share, variance, len(verdicts), repeats * verdicts.mean())
        print(f"{name}: {percent(share, *bounds)} % of its verdicts favour the worse learner")
for first, second in [
    ("corrected t, 10 folds", "naive t, 10 folds"),
    ("corrected t, 30 splits", "naive t, 10 folds"),
    ("corrected t, 30 splits", "5×2cv t"),
    ("corrected t, 10 folds", "5×2cv t"),
]:
    gap = 100 * (power[first] - power[second])
    half = stats.t.ppf(0.975, len(gap) - 1) * gap.sem()
    print(f"power of {first} minus that of {second}: {gap.mean():+.1f} ± {half:.1f} points")

# %% [markdown]
# The shares are percentages of 500 data sets of 100 rows, ten from each of 50 TAN models, with
# exact intervals as above. Power and wrong verdicts are those on NB and TAN, which differ by
# little.
#
# Between copies no test rejects significantly more often than in 5 %, not even the naive t test
# over 30 splits. Between a classifier and its mirror image that test rejects in about half of all
# data sets. On NB and TAN it favours the worse one in 9 % of data sets, which are 13 % (8–20) of
# its verdicts. All other tests are not significantly above 5 % under either null. The corrected t
# tests reject in less than 3 %. That has a price: over ten folds the corrected test has 15 ± 4
# points less power than the naive one, over 30 splits 11 ± 4 less. Against the 5×2cv t test it has
# 5 ± 4 points more over 30 splits, and over ten folds the two do not differ significantly.
#
# None of this says how often these tests reject when the effect of the training set on the
# difference is there. So it does not contradict Dietterich, who found up to twice the nominal error
# for the naive t test over ten folds, and it does not show that the corrected test keeps its level
# in general. [Notebook 09](09_real_data.ipynb) simulates two equally good learners with such an
# effect: there the corrected test rejects too often over ten folds, and more so over 10×10.
#
# ## Answer
#
# For NB and C4.5, 50 and 200 rows, on these models:
#
# - **The estimate**: repeated or stratified ten-fold cross-validation, Efron's .632 or .632+. Over
#   all models, their errors do not differ significantly from that of stratified ten-fold
#   cross-validation. Of 36 comparisons in groups of models two do, not adjusted for their number:
#   .632+ with 200 rows and .632 for NB, both with the smaller error. Resubstitution, a single
#   holdout and two folds are significantly worse over all models, and in 8 to 11 of 12 groups.
# - **The interval**: nested cross-validation if the fits are affordable, else the corrected t
#   interval over 25 random splits; that of 10-fold ×10 covers a little less than nominal. Never a t
#   interval over repeated splits without correction.
# - **The test**: not a naive t test over repeated splits. Beyond that these nulls cannot choose: by
#   them the naive t test over ten folds would be the best, since it is not significantly above its
#   level and has more power than the corrected tests. Between the corrected t test over 30 splits
#   and the 5×2cv t test, the former has more power for NB and TAN with 100 rows.
#
# ## References
#
# - E. L. Korn & B. I. Graubard (1998). Confidence intervals for proportions with small expected
#   number of positive counts estimated from survey data. Survey Methodology 24.
