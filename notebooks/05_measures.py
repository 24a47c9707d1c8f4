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
# # What measures reward
#
# A measure is a decision about what counts. This notebook shows what each of the common ones pays
# for a single prediction, whether it pays to report the true probabilities, how often two
# measures rank two sets of answers differently, and works through the examples of chapter 5 of
# Witten, Frank & Hall (2011).
#
# Throughout, $q$ are the predicted probabilities, $p$ the prior ones, and $c$ is the true class.

# %%
import os

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from simstudy import measures
from simstudy.measures import curves, theory
from simstudy.measures.theory.reward_theory import optimal_report_2002
from simstudy.report.charts.spec import COLOURS

QUICK = bool(os.environ.get("SIMSTUDY_QUICK"))  # few samples: only to see that all of it runs
SAMPLES = 40 if QUICK else 400
plt.rcParams.update(
    {
        "figure.dpi": 50 if QUICK else 96,
        "font.size": 9.5,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
)

# %% [markdown]
# ## What one prediction earns
#
# Three classes. The true class is given the probability $q$, and the other two share the rest
# equally. Losses are drawn with a minus sign, so that higher is better in every panel.

# %%
q = np.linspace(0.005, 0.995, 397)
reports = np.column_stack([q, (1 - q) / 2, (1 - q) / 2])
true_class = np.zeros(len(q), dtype=int)
PRIORS = {"uniform prior": np.full(3, 1 / 3), "prior (.1, .45, .45)": np.array([0.1, 0.45, 0.45])}
SINGLE = {
    "Good 1952, modal class (bits)": lambda p: measures.good_reward(reports, true_class),
    "2002, modal class": lambda p: measures.information_reward_2002_modal(reports, true_class, p),
    "2002, all classes": lambda p: measures.information_reward_2002(reports, true_class, p),
    "Kononenko & Bratko (bits)": lambda p: measures.kononenko_bratko(
        reports, true_class, p, base=2
    ),
    "information reward, 2004 (bits)": lambda p: measures.information_reward(
        reports, true_class, p, base=2
    ),
    "− log loss (bits)": lambda p: -measures.log_loss(reports, true_class, base=2),
    "− Brier score": lambda p: -measures.brier_score(reports, true_class),
    "accuracy": lambda p: measures.accuracy(reports, true_class),
}

fig, axes = plt.subplots(2, 4, figsize=(10.4, 5.2), layout="constrained", sharex=True)
for ax, (name, value) in zip(axes.flat, SINGLE.items(), strict=True):
    for (label, prior), colour, line in zip(PRIORS.items(), COLOURS, ("-", "--"), strict=False):
        ax.plot(q, value(prior), color=colour, linestyle=line, label=label)
    ax.axhline(0, color="0.35", linewidth=0.8)
    ax.axvline(1 / 3, color="0.6", linewidth=0.8, linestyle=":")
    ax.set_title(name, fontsize=9.5)
    ax.set_ylim(max(ax.get_ylim()[0], -4), None)
for ax in axes[1]:
    ax.set_xlabel("probability of the true class")
axes[0, 0].legend(frameon=False, loc="lower right", fontsize=8.5)
plt.show()

# %% [markdown]
# *Figure 1, after Hope & Korb (2004, figure 1) and (2002, figures 1 to 3). Value of one
# prediction against the probability given to the true class. Dotted: one third, beyond which the
# true class is the most probable. Where one line is seen, the prior plays no part.*
#
# Accuracy, Good's reward and, unless the prior is uniform, the modal reward of 2002 jump at one
# third, where the predicted class becomes the right one; with the uniform prior the latter has a
# kink there. Accuracy knows nothing else: .34 and .99 earn the same. Good's reward even falls,
# since it pays for doubting a wrong class. Kononenko & Bratko's score has a kink at the prior.
# The four measures that know the prior pay more where the true class was improbable; of these,
# the two of 2002 never pay more than 1.
#
# At $q = (.8, .1, .1)$ and the uniform prior the information reward is .4919 nats:

# %%
one = measures.information_reward(np.array([[0.8, 0.1, 0.1]]), np.array([0]), np.full(3, 1 / 3))
print(f"{one[0]:.4f} nats")

# %% [markdown]
# ## Does honesty pay?
#
# Two classes. The first has the true probability .3 and the prior .1, and a learner reports $q$
# for it. A measure is proper if its expected value is best at $q = .3$.

# %%
TRUE, PRIOR = 0.3, np.array([0.1, 0.9])
report = np.linspace(0.002, 0.998, 997)
pairs = np.column_stack([report, 1 - report])
COSTS = [[0, 5], [1, 0]]  # overlooking the first class costs five times as much


def expected(name, sign=1, **arguments):
    """Expected value of each report."""
    measure = getattr(measures, name)
    values = [measure(pairs, np.full(len(pairs), outcome), **arguments) for outcome in (0, 1)]
    return sign * (TRUE * values[0] + (1 - TRUE) * values[1])


EXPECTED = {
    "Good 1952": expected("good_reward"),
    "2002, all classes": expected("information_reward_2002", prior=PRIOR),
    "Kononenko & Bratko": expected("kononenko_bratko", prior=PRIOR),
    "information reward, 2004": expected("information_reward", prior=PRIOR),
    "− log loss": expected("log_loss", -1),
    "− Brier score": expected("brier_score", -1),
    "− absolute error": expected("mean_absolute_error", -1),
    "− cost 5 : 1, least-cost decision": expected("cost", -1, matrix=COSTS, decision="least_cost"),
}

fig, axes = plt.subplots(2, 4, figsize=(10.4, 5.0), layout="constrained", sharex=True)
for ax, (name, value) in zip(axes.flat, EXPECTED.items(), strict=True):
    ax.plot(report, value, color=COLOURS[0])
    best = report[np.isclose(value, value.max(), rtol=0, atol=1e-12)]
    ax.axvspan(best.min(), max(best.max(), best.min() + 0.004), color=COLOURS[1], alpha=0.5)
    ax.axvline(TRUE, color="0.35", linewidth=0.9, linestyle=":")
    ax.set_title(name, fontsize=9.5)
    ax.set_ylim(max(ax.get_ylim()[0], value.max() - 2.5), None)
for ax in axes[1]:
    ax.set_xlabel("reported probability")
plt.show()

# %% [markdown]
# *Figure 2. Expected value against the report, for a true probability of .3 (dotted) and a prior
# of .1. Shaded: the best reports.*
#
# The information reward of 2004, log loss, the Brier score and, with two classes, Good's reward
# are best at .3 and nowhere else. The reward of 2002 is best elsewhere, since the prior is not
# even: Hope & Korb (2004, theorem 1) give the condition, which for a true probability of .5 and a
# prior of .1 is met at .0438. Kononenko & Bratko's score and absolute error are best at 0: they
# reward exaggeration. Cost is the same for all reports that lead to the better decision, those
# above one sixth.

# %%
print(f"best report by the reward of 2002: {optimal_report_2002(0.5, 0.1):.4f}")

# %% [markdown]
# ## Where measures disagree
#
# Two learners answer the same questions. How often do two measures agree on which is better?
# Huang & Ling (2007) call this the degree of consistency, C: the share of pairs of answers that
# both put in the same order, among those that both put in some order. Here answers are random:
# 100 rows, two classes of equal size, probabilities uniform.

# %%
NAMES = ["accuracy", "kappa", "f_score", "auc", "average_precision", "lift", "h_measure"]
NAMES += ["brier_score", "log_loss", "information_reward", "mean_absolute_error"]
agreement = pd.DataFrame(np.eye(len(NAMES)), NAMES, NAMES)
for i, f in enumerate(NAMES):
    for g in NAMES[:i]:
        found = theory.compare(f, g, rows=100, samples=SAMPLES, rng=1)
        agreement.loc[f, g] = agreement.loc[g, f] = found.consistency

fig, ax = plt.subplots(figsize=(6.6, 5.4), layout="constrained")
image = ax.imshow(agreement, cmap="cividis", vmin=0.5, vmax=1)
words = [name.replace("_", " ") for name in NAMES]
ax.set_xticks(range(len(NAMES)), words, rotation=45, ha="right")
ax.set_yticks(range(len(NAMES)), words)
for i in range(len(NAMES)):
    for j in range(len(NAMES)):
        value = agreement.iloc[i, j]
        ax.text(
            j,
            i,
            f"{value:.2f}".lstrip("0"),
            ha="center",
            va="center",
            fontsize=7.5,
            color="black" if value > 0.75 else "white",
        )
fig.colorbar(image, label="degree of consistency", shrink=0.8)
ax.spines[:].set_visible(False)
plt.show()

# %% [markdown]
# *Figure 3. Degree of consistency of pairs of measures over random answers; ½ is chance.*
#
# Kappa orders balanced rows as accuracy does, and with two classes and an even prior the
# information reward orders them as log loss does. Otherwise even measures with much in common,
# such as log loss and the Brier score, contradict each other now and then. Lift, which looks at
# ten of the rows only, agrees least with the others. Answers of real learners are not random;
# what holds for them, a study with both measures shows.
#
# For ranked lists everything can be counted. This is table 3 of Huang & Ling (2007): AUC is
# consistent with accuracy, and it tells many more lists apart than accuracy does (D, the degree
# of discriminancy).

# %%
sizes = [6, 8, 10] if QUICK else [6, 8, 10, 12, 14, 16]
table = [theory.compare("auc", "accuracy", n=n) for n in sizes]
pd.DataFrame(
    {"C": [found.consistency for found in table], "D": [found.discriminancy for found in table]},
    pd.Index(sizes, name="examples"),
).round(3)

# %% [markdown]
# ## Examples of chapter 5
#
# **Kappa** (table 5.4). A classifier gets 140 of 200 right. A random one with the same shares of
# predictions would get 82.

# %%
counts = np.array([[88, 10, 2], [14, 40, 6], [18, 10, 12]])  # rows actual, columns predicted
actual, predicted = (index.ravel() for index in np.indices(counts.shape))
answers = np.eye(3)[predicted]
kappa = measures.kappa(answers, actual, weights=counts.ravel())
print(f"kappa = {kappa:.3f} = (140 − 82)/(200 − 82)")

# %% [markdown]
# **Lift** (table 5.6). Of 150 people 50 would respond; of the ten that a learner ranks first 8
# do. **ROC**: the nineteen rows printed in the table have an area of 49/78 under their curve,
# ties counting one half.

# %%
score = np.array(
    [
        *(0.95, 0.93, 0.93, 0.88, 0.86, 0.85, 0.82, 0.80, 0.80, 0.79),
        *(0.77, 0.76, 0.73, 0.65, 0.63, 0.58, 0.56, 0.49, 0.48),
    ]
)
responds = np.array([1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 0, 1], dtype=bool)
ranked_first = np.arange(150) < 10
people = np.r_[np.ones(8), np.zeros(2), np.ones(42), np.zeros(98)]
print(f"lift of 8 among 10: {curves.lift(ranked_first, people).lift[1]:.1f}")
curve = curves.roc(score, responds)
hull = curves.roc_hull(curve)
print(f"area under the ROC curve: {curve.area:.4f} = 49/78")

fig, axes = plt.subplots(1, 3, figsize=(10.4, 3.5), layout="constrained")
axes[0].plot(curve.false_positive_rate, curve.true_positive_rate, color=COLOURS[0], label="ROC")
axes[0].plot(
    hull.false_positive_rate, hull.true_positive_rate, "--", color=COLOURS[1], label="convex hull"
)
axes[0].plot([0, 1], [0, 1], color="0.6", linewidth=0.8)
axes[0].set(xlabel="false positive rate", ylabel="true positive rate", title="ROC")
axes[0].legend(frameon=False, loc="lower right")
found = curves.precision_recall(score, responds)
axes[1].plot(found.recall, found.precision, color=COLOURS[0])
axes[1].axhline(responds.mean(), color="0.6", linewidth=0.8)
axes[1].set(xlabel="recall", ylabel="precision", title="precision and recall", ylim=(0.5, 1.05))
costs = curves.cost_curve(score, responds)
for left, right in zip(costs.false_positive_rate, costs.false_negative_rate, strict=True):
    axes[2].plot([0, 1], [left, right], color="0.85", linewidth=0.8)
axes[2].plot(costs.probability_cost, costs.cost, color=COLOURS[0], label="lower envelope")
axes[2].set(xlabel="probability cost", ylabel="normalized expected cost", title="cost curve")
axes[2].legend(frameon=False, loc="upper right")
plt.show()

# %% [markdown]
# *Figure 4. The nineteen rows of table 5.6. Left: ROC curve with its hull; a random mixture of
# two classifiers lies on the line between them. Middle: precision against recall; grey: the share
# of positive rows. Right: cost curve. Each threshold is a grey line from its false positive rate
# on the left to its false negative rate on the right.*
#
# **Cost curves** (figure 5.5). A classifier with false positive and false negative rates of .25
# costs .25 whatever the costs. Always predicting one class costs less where the probability cost
# is below .25 or above .75.

# %%
quarter = curves.cost_curve(
    [1, 1, 1, 0, 0, 0, 0, 1], np.array([1, 1, 1, 1, 0, 0, 0, 0], dtype=bool)
)
print("intercepts:", quarter.false_positive_rate[1], quarter.false_negative_rate[1])
print("useful between", quarter.useful)
