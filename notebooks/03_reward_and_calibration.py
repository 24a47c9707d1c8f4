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
# # Reward and calibration
#
# How should a probabilistic prediction be paid? A good payment makes honesty the best policy: the
# expected reward is greatest for whoever reports the true probabilities. Scores with this property
# are called *proper*. This notebook looks at four rewards from that point of view:
#
# - Good's (1952) information reward, for two classes and even odds;
# - the information score of Kononenko & Bratko (1991);
# - the information reward of Hope & Korb (2002, definition 3);
# - the Bayesian information reward $IR_B$ of Hope & Korb (2004, equation 10).
#
# Throughout, $q$ are the reported probabilities, $p$ the prior ones, $t$ the true ones, $c$ the
# class that comes true, and $k$ the number of classes.

# %%
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import simstudy
from simstudy.learners.bayes.aode import AODE
from simstudy.learners.bayes.naive_bayes import NaiveBayes
from simstudy.learners.bayes.tan import TAN
from simstudy.learners.networks.camml.learner import CaMML
from simstudy.measures.calibration import miscalibration
from simstudy.measures.scores.rewards import (
    good_reward,
    information_reward,
    information_reward_2002,
    kononenko_bratko,
)
from simstudy.measures.scores.truth import kl_divergence
from simstudy.report.charts.spec import COLOURS, MARKERS
from simstudy.sources.families.tan import TANFamily

QUICK = bool(os.environ.get("SIMSTUDY_QUICK"))  # few models: only to see that all of it runs
RESULTS = Path("results") / ("quick" if QUICK else "full")
JOBS = 1 if QUICK else None  # None: as many processes as there are processors
MODELS = 4 if QUICK else 30
SIZES = [50, 500] if QUICK else [50, 500, 5000]
plt.rcParams.update(
    {
        "figure.dpi": 50 if QUICK else 96,
        "font.size": 9.5,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
)

# %% [markdown]
# ## The paper's figure 1
#
# Three classes, of which the first comes true. A learner gives it the probability $q$ and shares
# the rest between the other two. What does it earn?

# %%
confidence = np.linspace(0.005, 0.995, 397)
reports = np.column_stack([confidence, (1 - confidence) / 2, (1 - confidence) / 2])
first = np.zeros(len(reports), dtype=int)  # the class that comes true, in every row

fig, axes = plt.subplots(1, 2, figsize=(8.6, 3.6), layout="constrained", sharey=True)
for ax, prior in zip(axes, ([1 / 3, 1 / 3, 1 / 3], [0.1, 0.45, 0.45]), strict=True):
    rewards = {
        "IR, 2002": information_reward_2002(reports, first, np.array(prior)),
        "$IR_B$, 2004 (bits)": information_reward(reports, first, np.array(prior), base=2),
        "Kononenko & Bratko (bits)": kononenko_bratko(reports, first, np.array(prior), base=2),
    }
    for (name, reward), colour, line in zip(
        rewards.items(), COLOURS, ("--", "-", "-."), strict=False
    ):
        ax.plot(confidence, reward, color=colour, linestyle=line, label=name)
    ax.axhline(0, color="0.35", linewidth=0.8)
    ax.axvline(prior[0], color="0.6", linewidth=0.8, linestyle=":")
    ax.set_title("prior " + ("uniform" if prior[0] > 0.2 else "(.1, .45, .45)"))
    ax.set(xlabel="probability given to the true class", ylim=(-3.2, 3.5))
axes[0].set_ylabel("reward")
axes[0].legend(frameon=False, loc="lower right")
plt.show()

# %% [markdown]
# *Figure 1, after Hope & Korb (2004, figure 1). Reward for one prediction against the probability
# given to the true class, the other two being thought equally likely. Left: uniform prior. Right:
# the true class has prior .1. Dotted: the prior, where every one of the rewards is 0.*
#
# Under the uniform prior the two information rewards run close together. Under the other they part:
# the reward of 2002 never pays more than 1, however unlikely the class was that came true, while
# $IR_B$ pays more for a surprise foreseen. Kononenko & Bratko's score has a kink at the prior. It
# is also bounded below: even a flat denial of what then happens costs little.
#
# ## Paid for nothing
#
# A disease is carried by 10% of a population. A lazy expert says of everyone that they are healthy,
# with probability .9. Good's reward pays for this; the rewards that know of the prior do not.

# %%
lazy = np.array([[0.9, 0.1], [0.9, 0.1]])
outcomes, chances = np.array([0, 1]), np.array([0.9, 0.1])
print(f"Good 1952:  {chances @ good_reward(lazy, outcomes):.3f} bits for each patient")
print(f"IR_B:       {chances @ information_reward(lazy, outcomes, chances):.3f}")
print(f"IR of 2002: {chances @ information_reward_2002(lazy, outcomes, chances):.3f}")

# %% [markdown]
# ## Does honesty pay?
#
# Now two classes. The first has the true probability $t = .3$, and a learner reports $q$ for it.
# Its expected reward is the mean of what it earns if the class comes true and if it does not. Where
# is the maximum?

# %%
TRUE = 0.3
report = np.linspace(0.002, 0.998, 997)
pairs = np.column_stack([report, 1 - report])


def expected(measure, prior, chance=TRUE):
    """Expected reward of every report, if the first class has this chance."""
    priors = np.array([prior, 1 - prior])
    yes = measure(pairs, np.zeros(len(pairs), dtype=int), priors)
    no = measure(pairs, np.ones(len(pairs), dtype=int), priors)
    return chance * yes + (1 - chance) * no


MEASURES = {
    "IR, 2002": information_reward_2002,
    "Kononenko & Bratko": kononenko_bratko,
    "$IR_B$, 2004": information_reward,
}
fig, axes = plt.subplots(1, 3, figsize=(9.4, 3.7), layout="constrained")
for ax, (name, measure) in zip(axes, MEASURES.items(), strict=True):
    for prior, colour, marker in zip((0.05, 0.2, 0.5, 0.8), COLOURS, MARKERS, strict=False):
        values = expected(measure, prior)
        best = values.argmax()
        ax.plot(report, values, color=colour, label=f"prior {prior:g}")
        ax.plot(report[best], values[best], marker, color=colour, markersize=7)
    ax.axvline(TRUE, color="0.5", linewidth=0.9, linestyle="--")
    ax.set(title=name, xlabel="reported probability")
axes[0].set(ylim=(-1.5, 0.9), ylabel="expected reward")
axes[1].set(ylim=(-1.5, 0.9), ylabel="expected reward (nats)")
axes[2].set(ylim=(-1.5, 0.9), ylabel="expected reward (nats)")
handles, labels = axes[0].get_legend_handles_labels()
fig.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
plt.show()

# %% [markdown]
# *Figure 2. Expected reward against the reported probability of a class whose true probability is
# .3 (dashed), for four priors. Marks: the maximum of each curve.*
#
# Only $IR_B$ has its maxima at the truth, whatever the prior. Its expected value is
#
# $$ t \log \frac{q}{p} + (1 - t) \log \frac{1 - q}{1 - p}, $$
#
# so the prior only moves the curve up or down. The reward of 2002 *divides* by $\log p$ and $\log
# (1 - p)$. This weighs the two outcomes differently, and the best report $q^*$ satisfies (Hope &
# Korb 2004, equation 9)
#
# $$ \frac{t\,(1 - q^*)}{q^* (1 - t)} = \frac{\log p}{\log (1 - p)}. $$
#
# It is honest to report $t$ only if $p = 1/2$. And Kononenko & Bratko's score is not even gradual.
# Work out the two branches: its expected value is $(2t - 1) \log (q/p)$ above the prior and $(1 -
# 2t) \log ((1 - q)/(1 - p))$ below it. So the best report is always certainty, for whichever class
# is the more probable: the score pays like accuracy.

# %%
chance = np.linspace(0.01, 0.99, 99)
fig, ax = plt.subplots(figsize=(7.4, 4.0), layout="constrained")
for prior, colour, line in zip((0.05, 0.2, 0.8), COLOURS, ("--", "-.", ":"), strict=False):
    odds = np.log(prior) / np.log(1 - prior)
    ax.plot(
        chance,
        chance / (chance + odds * (1 - chance)),
        color=colour,
        linestyle=line,
        label=f"IR of 2002, prior {prior:g}",
    )
    found = [report[expected(information_reward_2002, prior, t).argmax()] for t in chance[::14]]
    ax.plot(chance[::14], found, "o", color=colour, markersize=4)
honest = [report[expected(information_reward, 0.2, t).argmax()] for t in chance]
ax.plot(chance, honest, color="black", linewidth=1.8, label="$IR_B$, any prior")
ax.step(chance, chance > 0.5, color=COLOURS[3], label="Kononenko & Bratko, any prior")
ax.set(xlabel="true probability", ylabel="report with the greatest expected reward", aspect="equal")
fig.legend(loc="outside right center", frameon=False)
plt.show()

# %% [markdown]
# *Figure 3. The report that pays best, against the true probability. Lines for the reward of 2002:
# equation 9; dots: maxima found on a grid. On the black diagonal honesty pays best.*
#
# With a prior of .05 the reward of 2002 makes it pay to report .02 where the truth is .5. It asks
# for understatement of rare classes and overstatement of common ones.
#
# ## Reward and Kullback–Leibler divergence
#
# If the truth is known, the divergence $KL(t \Vert q) = \sum_i t_i \log (t_i / q_i)$ says how far a
# report is from it. What has it to do with the reward? By how much does the expected reward fall
# short if $q$ is reported instead of $t$? Write down the definition and the prior cancels:
#
# $$ R(t) - R(q) = \frac{1}{k} \sum_i \Bigl[ t_i \log \frac{t_i}{q_i}
# \; {} + (1 - t_i) \log \frac{1 - t_i}{1 - q_i} \Bigr] = \frac{1}{k} \Bigl[ KL(t \Vert q) + (k -
# 1)\, KL(\bar t \Vert \bar q) \Bigr], $$
#
# where $\bar t_i = (1 - t_i)/(k - 1)$, and $\bar q$ likewise. One may read $\bar t$ as what becomes
# of $t$ if the class that comes true is replaced by one of the others at random. Such a replacement
# cannot make two distributions easier to tell apart, so $KL(\bar t \Vert \bar q) \le KL(t \Vert
# q)$, and
#
# $$ \tfrac{1}{k}\, KL(t \Vert q) \;\le\; R(t) - R(q) \;\le\; KL(t \Vert q). $$
#
# With two classes $\bar t$ is $t$ the other way round, and the shortfall *is* the divergence. With
# more classes it lies between two straight lines. Random truths and random reports show it.

# %%
rng = np.random.default_rng(2004)


def expected_reward(proba, truth, prior):
    """Expected information reward of every row, by its true probabilities."""
    classes = truth.shape[1]
    by_class = [information_reward(proba, np.full(len(proba), c), prior) for c in range(classes)]
    return (truth * np.column_stack(by_class)).sum(axis=1)


fig, axes = plt.subplots(1, 3, figsize=(9.4, 3.3), layout="constrained", sharey=True)
for classes, ax in zip((2, 3, 5), axes, strict=True):
    truth, proba = rng.dirichlet(np.ones(classes), size=(2, 400))
    prior = rng.dirichlet(np.ones(classes))
    divergence = kl_divergence(proba, np.zeros(400, dtype=int), truth)
    short = expected_reward(truth, truth, prior) - expected_reward(proba, truth, prior)
    line = np.geomspace(2e-3, 4)
    ax.plot(line, line, color="0.3", linewidth=1, label="divergence")
    if classes > 2:
        ax.plot(line, line / classes, color="0.3", linewidth=1, ls="--", label="divergence / k")
    ax.plot(divergence, short, ".", color=COLOURS[0], markersize=3.5, alpha=0.6)
    ax.set(xscale="log", yscale="log", xlim=(2e-3, 6), ylim=(5e-4, 6))
    ax.set(title=f"{classes} classes", xlabel="KL divergence (nats)")
    ax.legend(frameon=False, loc="upper left")
    if classes == 2:
        print(f"2 classes: greatest gap to the divergence {np.abs(short - divergence).max():.1e}")
axes[0].set_ylabel("reward short of the truth's (nats)")
plt.show()

# %% [markdown]
# *Figure 4. How much less a random report earns than the truth would, against its divergence from
# the truth; 400 random pairs (uniform on the simplex) in each panel, both axes logarithmic.*
#
# ## The same with learners
#
# Random reports are one thing. Do the two measures agree about *learners*? Here are four of them on
# TAN models with four classes, judged exactly at several training sizes. Beside the reward stands
# accuracy: how much less often is the learner right than someone who knows the truth?

# %%
study = simstudy.make_study(
    {
        "name": "reward_and_divergence",
        "seed": 2004,
        "models": MODELS,
        "family": {"name": "tan", "variables": [5, 5], "values": [4, 4]},
        "data": {"train_sizes": SIZES, "test_size": "exact"},
        "learners": [
            {"name": "truth"},
            {"name": "naive_bayes", "label": "NB"},
            {"name": "tan", "label": "TAN"},
            {"name": "aode", "label": "AODE"},
            {"name": "camml", "label": "CaMML"},
        ],
        "measures": {
            "primary": "information_reward",
            "also": ["regret", "kl_divergence", "accuracy"],
            "cutoff": "none",
        },
    }
)
results = simstudy.run_study(study, RESULTS / study.name, jobs=JOBS, report=False)
scores = results.scores
knows = scores[scores["learner"] == "truth"].set_index(["model", "size"])["accuracy"]
cells = scores[scores["learner"] != "truth"].set_index(["model", "size"])
cells = cells.assign(accuracy_lost=knows - cells["accuracy"])

fig, axes = plt.subplots(1, 2, figsize=(8.6, 3.7), layout="constrained")
for learner, colour, marker in zip(results.learners[1:], COLOURS, MARKERS, strict=False):
    mine = cells[cells["learner"] == learner]
    for ax, column in zip(axes, ("regret", "accuracy_lost"), strict=True):
        look = {"markersize": 4, "alpha": 0.6, "markeredgewidth": 0, "label": learner}
        ax.plot(mine["kl_divergence"], mine[column], marker, color=colour, **look)
line = np.array([cells["kl_divergence"].min(), cells["kl_divergence"].max()])
axes[0].plot(line, line, color="0.3", linewidth=1)
axes[0].plot(line, line / 4, color="0.3", linewidth=1, linestyle="--")
axes[0].set(xscale="log", yscale="log", ylabel="regret (nats)")
axes[1].set(xscale="log", ylabel="accuracy lost (share of rows)")
axes[0].legend(frameon=False)
for ax in axes:
    ax.set_xlabel("KL divergence (nats)")
plt.show()

table = cells.reset_index().merge(cells.reset_index(), on=["model", "size"])
table = table[table["learner_x"] < table["learner_y"]]  # each pair of learners once
order = table["kl_divergence_x"] < table["kl_divergence_y"]
for column in ("regret", "accuracy_lost"):
    rank = cells[["kl_divergence", column]].corr("spearman").iloc[0, 1]
    against = ((table[f"{column}_x"] < table[f"{column}_y"]) != order).mean()
    print(f"{column}: rank correlation with the divergence {rank:.3f}; ", end="")
    print(f"two learners ordered against it in {against:.1%} of the comparisons")

# %% [markdown]
# *Figure 5. Four learners on TAN models of 5 variables with 4 values, at training sizes of 50, 500
# and 5,000; a mark for each model, size and learner. Left: regret (the truth's expected reward less
# the learner's) against divergence; full line: equal; dashed: a quarter. Right: accuracy lost.*
#
# Regret follows the divergence almost as a function of it. Accuracy follows more loosely: near a
# divergence of .6 nats the accuracy lost runs from below .2 to above .5. And where two learners
# meet on the same training set, accuracy orders them against the divergence nearly twice as often
# as the reward does. The reward, unlike the divergence, can be measured without knowing the truth.
# This is the paper's point.
#
# ## Calibration
#
# A learner is calibrated if what it gives the probability .8 happens in 8 cases of 10. Since the
# models are known, this can be checked without sampling any test rows. For each learner, fitted to
# rows from each of several TAN models, collect all reported probabilities, of every class and every
# configuration; sort them into ten bins; and compare in each bin the mean report with the mean true
# probability, all weighted by how probable the configuration is.

# %%
LEARNERS = {"NB": NaiveBayes(), "TAN": TAN(), "AODE": AODE(), "CaMML": CaMML()}
ROWS = (50, 500)
family = TANFamily(variables=(6, 6), values=(3, 3))
drawn = []  # models with what the learners report of them
for index in range(MODELS):
    rng = np.random.default_rng([2004, index])
    model = family.draw(rng)
    train, test = model.sample(max(ROWS), rng), model.sample(1000, rng)
    rows = np.indices(model.cards[:-1]).reshape(len(model.cards) - 1, -1).T
    told = {"truth": model.posterior(rows)}
    for size in ROWS:
        sample = simstudy.Sample(train.codes[:size], train.cards)
        for name, learner in LEARNERS.items():
            told[name, size] = learner.fit(sample).predict_proba(rows)
    places = np.ravel_multi_index(tuple(test.attributes.T), model.cards[:-1])
    drawn.append((model, model.joint().sum(axis=-1).ravel(), told, places, test.target))

edges = np.linspace(0, 1, 11)
true = np.concatenate([told["truth"].ravel() for _, _, told, _, _ in drawn])
weight = np.concatenate([np.repeat(weights, 3) for _, weights, _, _, _ in drawn])
fig, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained", sharey=True)
for size, ax in zip(ROWS, axes, strict=True):
    ax.plot([0, 1], [0, 1], color="0.5", linewidth=0.9, linestyle="--")
    for name, colour, marker in zip(LEARNERS, COLOURS, MARKERS, strict=False):
        reported = np.concatenate([told[name, size].ravel() for _, _, told, _, _ in drawn])
        place = np.clip(np.digitize(reported, edges) - 1, 0, 9)
        total = np.bincount(place, weight, 10)
        said = np.bincount(place, weight * reported, 10) / total
        happens = np.bincount(place, weight * true, 10) / total
        ax.plot(said, happens, color=colour, marker=marker, markersize=5, label=name)
    ax.set(xlabel="mean reported probability", title=f"after {size} rows", aspect="equal")
axes[0].set_ylabel("mean true probability")
axes[0].legend(frameon=False)
plt.show()

# %% [markdown]
# *Figure 6. Reliability of four learners on TAN models of 6 variables with 3 values: mean true
# probability against mean reported probability in ten bins, after 50 rows (left) and 500 (right).
# A learner on the dashed line is calibrated; a flatter line means overconfidence.*
#
# After 50 rows TAN is overconfident, NB and CaMML are so a little, and AODE, which averages, errs
# on the other side. After 500 all of them are nearly calibrated. That holds for Naive Bayes too,
# whose reputation is to be far too sure. It earns the reputation where attributes repeat each other
# and the same evidence is counted twice. In models drawn at random the dependencies between
# attributes go either way, and much of this cancels. What Naive Bayes lacks here is not calibration
# but knowledge.
#
# ## Turning confidence up and down
#
# Accuracy cannot see calibration. To show it, sharpen or soften every report by a power,
#
# $$ q_i \;\mapsto\; \frac{q_i^{\,a}}{\sum_j q_j^{\,a}}. $$
#
# This never changes which class is the most probable, so accuracy stays as it is. Reward does not.


# %%
def sharpen(proba, power):
    """The probabilities raised to a power and normalised."""
    raised = np.exp(power * np.log(np.maximum(proba, 1e-300)))
    return raised / raised.sum(axis=1, keepdims=True)


def clipped(proba, size):
    """Kept from the extremes that n rows cannot support."""
    bound = 0.5 / (size + proba.shape[1] / 2)
    return np.clip(proba, bound, 1 - bound * (proba.shape[1] - 1))


powers = np.geomspace(0.25, 4, 9 if QUICK else 33)


def along_powers(name, size):
    """Mean expected reward and mean miscalibration of one learner at every power."""
    reward, distance = np.zeros(len(powers)), np.zeros(len(powers))
    for model, weights, told, places, target in drawn:
        truth, prior = told["truth"], model.class_prior()
        proba = truth if name == "truth" else told[name, size]
        for at, power in enumerate(powers):
            sharpened = sharpen(proba, power)
            rewards = expected_reward(clipped(sharpened, size), truth, prior)
            reward[at] += weights @ rewards / len(drawn)
            distance[at] += miscalibration(sharpened[places], target) / len(drawn)
    return reward, distance


fig, axes = plt.subplots(1, 2, figsize=(8.6, 3.7), layout="constrained")
for name, colour in zip(["truth", *LEARNERS], ("black", *COLOURS), strict=False):
    best = []
    for size in ROWS:
        reward, distance = along_powers(name, size)
        gain = reward.max() - np.interp(0, np.log(powers), reward)
        best.append(f"after {size} rows {powers[reward.argmax()]:.2f}, worth {gain:.4f} nats")
        if size != ROWS[0]:
            continue
        line = "--" if name == "truth" else "-"
        axes[0].plot(powers, reward, color=colour, linestyle=line, label=name)
        axes[0].plot(powers[reward.argmax()], reward.max(), "o", color=colour, markersize=5)
        axes[1].plot(powers, distance, color=colour, linestyle=line)
        axes[1].plot(powers[distance.argmin()], distance.min(), "o", color=colour, markersize=5)
    print(f"best power of {name:6}", "; ".join(best))
axes[0].set(ylabel="expected reward (nats)", ylim=(-0.1, 0.3))
axes[0].axhline(0, color="0.35", linewidth=0.8)
axes[1].set(ylabel="miscalibration of the modal class", ylim=(0, None))
for ax in axes:
    ax.set_xscale("log", base=2)
    ax.set_xticks([0.25, 0.5, 1, 2, 4], ["¼", "½", "1", "2", "4"])
    ax.axvline(1, color="0.6", linewidth=0.9, linestyle=":")
    ax.set_xlabel("power: softer ←  → sharper")
fig.legend(loc="outside lower center", ncols=5, frameon=False)
plt.show()

# %% [markdown]
# *Figure 7. Left: expected information reward against the power to which the reports are raised,
# after 50 rows; dots: maxima. Right: miscalibration (Korb, Hope & Hughes 2001) of the modal class
# on test sets of 1,000 rows, lower is better; dots: minima. Means over the models; along each line
# accuracy is the same.*
#
# The truth earns most as it is, at power 1: reward is proper. TAN, CaMML and NB would earn more if
# they were less sure, TAN most of all, by a hundredth of a nat. AODE might be a little bolder.
# After 500 rows all of the best powers lie within a tenth of 1, and little is to be gained.
#
# The measure of miscalibration, which looks at sampled test rows and knows nothing of the reward,
# has its minima at nearly the same powers. Two things should be known about it. It does not go down
# to 0 even for the truth, because its cells hold few rows and the frequency in a cell scatters. And
# it is a sum over cells. CaMML often chooses a small network after 50 rows, gives few different
# answers, and so has few cells: its low line says little about how well it is calibrated. Reward
# has neither trouble.
#
# ## References
#
# - I. J. Good (1952). Rational decisions.
# - L. R. Hope & K. B. Korb (2002). Bayesian information reward.
# - L. R. Hope & K. B. Korb (2004). A Bayesian metric for evaluating machine learning algorithms.
# - I. Kononenko & I. Bratko (1991). Information-based evaluation criterion for classifier's
#   performance.
# - K. B. Korb, L. R. Hope & M. J. Hughes (2001). The evaluation of predictive learners.
