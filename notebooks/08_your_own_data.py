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
# # Your own data
#
# Which learner does best on *my* table, and how many rows do I need? `simstudy.advise` answers with
# two studies. One cross-validates learners on the rows at hand. The other draws networks from the
# posterior given these rows, which are truths that the table leaves possible, and fits the learners
# to as many rows of each as you may one day have.
#
# The table here is the vote records of 435 members of the US House of Representatives; the class is
# the party. To see whether the advice is any good, it gets 150 of the rows, and the others are the
# outcome.

# %%
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import display

import simstudy
from simstudy.report.charts.spec import COLOURS

QUICK = bool(os.environ.get("SIMSTUDY_QUICK"))  # few models: only to see that all of it runs
DATA = Path("..") / "studies" / "data" / "uci" / "house-votes-84.csv.gz"
RESULTS = Path("results") / ("quick" if QUICK else "full")
JOBS = 1 if QUICK else None  # None: as many processes as there are processors
MODELS = 10 if QUICK else 40
plt.rcParams.update({"figure.dpi": 50 if QUICK else 96, "font.size": 9.5})

whole = pd.read_csv(DATA, dtype=str)
few = whole.sample(60 if QUICK else 150, random_state=1)
few.head(3)

# %%
advice = simstudy.advise(
    few,
    target="class",
    out=RESULTS / "advise-votes",
    rows=[] if QUICK else [390],
    fitter="tan" if QUICK else "auto",
    models=MODELS,
    jobs=JOBS,
)
display(advice)

# %% [markdown]
# That is the short form; `advice.page` is the whole, as a page. The numbers behind it are tables.

# %%
advice.now().round(3)

# %%
gains = advice.gains()
gains[gains["measure"] == "information_reward"].drop(columns="measure").round(3)

# %% [markdown]
# ## What is predicted, and what came of it
#
# The votes that the advice has not seen tell how the learners really do with more rows: here with
# the other rows, cross-validated on the whole table. Bars are the intervals of the forecast.

# %%
study = simstudy.make_study(
    {
        "name": "votes-whole",
        "datasets": [{"path": str(DATA.resolve()), "name": "votes", "target": "class"}],
        "resampling": {"scheme": "cv", "folds": 10, "repeats": 1 if QUICK else 5},
        "preparation": {"missing": "value"},
        "measures": {"primary": "information_reward", "also": ["accuracy"]},
        "learners": [
            {"name": name, "label": label, "preparation": {"missing": "value"}}
            for name, label in (
                ("naive_bayes", "NB"),
                ("tan", "TAN"),
                ("aode", "AODE"),
                ("c45", "C4.5"),
            )
        ],
    }
)
results = simstudy.run_study(study, RESULTS / "votes-whole", jobs=JOBS, report=False)
outcome = results.dataset_means().set_index("learner")["mean"]

table = advice.forecast()
table = table[table["measure"] == "information_reward"]
fig, ax = plt.subplots(figsize=(7, 3.6))
asides = (0.97, 0.99, 1.01, 1.03)
every = zip(COLOURS, asides, table.groupby("learner", sort=False), strict=False)
for colour, aside, (label, rows) in every:
    reach = np.abs(rows[["low", "high"]].T - rows["value"].to_numpy())
    line = {"color": colour, "marker": "o", "ms": 4, "lw": 1}
    ax.errorbar(aside * rows["rows"], rows["value"], reach, label=label, **line)
    ax.plot(aside * 391, outcome[label], "*", color=colour, ms=13, mec="white")
ax.set(xscale="log", xlabel="training rows", ylabel="information reward (nats)")
ax.set_title("Predicted from few rows (lines), and the outcome (stars)", fontsize=9.5)
ax.legend(frameon=False, ncols=4)
plt.show()

# %% [markdown]
# ## How much hangs on the fitter?
#
# The family `fitted` is an ordinary family, so other fitters can be tried. Here is how the four see
# Naive Bayes and TAN with 2,000 rows, and what the best possible predictions would earn.

# %%
few.to_csv(RESULTS / "votes.csv", index=False)
rows = []
for fitter in ("tan", "kdb") if QUICK else ("camml", "tan", "kdb", "bootstrap"):
    study = simstudy.make_study(
        {
            "name": f"votes-{fitter}",
            "models": 4 if QUICK else 12,
            "family": {
                "name": "fitted",
                "data": str((RESULTS / "votes.csv").resolve()),
                "target": "class",
                "fitter": fitter,
            },
            "data": {"train_sizes": [135, 2000], "test_size": 1000},
            "learners": [{"name": name} for name in ("naive_bayes", "tan", "truth")],
        }
    )
    found = simstudy.run_study(study, RESULTS / study.name, jobs=JOBS, report=False)
    last = found.scores[found.scores["size"] == 2000]
    means = last.groupby("learner", sort=False)["information_reward"].mean()
    rows.append({"fitter": fitter, **means.round(3)})
pd.DataFrame(rows).set_index("fitter")

# %% [markdown]
# Simulated truths that differ this much are the reason why `advise` takes only *gains* from them,
# adds these to the cross-validated scores, and combines them with the table's own learning
# curve. What it says rests on further rows being like these.
