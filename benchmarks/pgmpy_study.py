"""Naive Bayes and TAN by pgmpy on data sets that simstudy drew; `benchmarks/study.py` runs this.

    python benchmarks/pgmpy_study.py DATA SCORES

DATA is as `benchmarks/weka/RunWeka.java` says. Fits a network of Naive Bayes structure and the one
that `TreeSearch` finds to every training set, both smoothed by Laplace's rule, answers the test set
and writes one line for each cell. At the end it prints the seconds from the first cell on, so that
the time to start can be separated.
"""

from __future__ import annotations

import csv
import logging
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from pgmpy.estimators import TreeSearch
from pgmpy.models import DiscreteBayesianNetwork
from pgmpy.parameter_estimator import DiscreteBayesianEstimator

Rows = pd.DataFrame
States = dict[str, list[str]]


def read(path: Path) -> list[tuple[States, list[Rows]]]:
    """For each model the values of its variables and its data sets, the test set first."""
    content, place = path.read_bytes(), 0

    def numbers(count: int) -> list[int]:
        nonlocal place
        place += 4 * count
        return np.frombuffer(content, ">i4", count, place - 4 * count).tolist()

    models = []
    for _ in range(*numbers(1)):
        cards = numbers(*numbers(1))
        names = [*(f"x{i}" for i in range(len(cards) - 1)), "y"]
        states = {n: [f"s{v}" for v in range(card)] for n, card in zip(names, cards, strict=True)}
        sets = []
        for _ in range(*numbers(1)):
            size = numbers(1)[0] * len(cards)
            codes = np.frombuffer(content, "i1", size, place).reshape(-1, len(cards))
            place += size
            sets.append(pd.DataFrame(codes, columns=names).map("s{}".format))
        models.append((states, sets))
    return models


def fit(learner: str, train: Rows, states: States) -> DiscreteBayesianNetwork:
    arcs = [("y", name) for name in train.columns[:-1]]
    if learner == "TAN":
        search = TreeSearch(train, root_node=train.columns[0], n_jobs=1)
        arcs = search.estimate("tan", class_node="y", show_progress=False).edges()
    network = DiscreteBayesianNetwork(arcs)
    network.fit(train, DiscreteBayesianEstimator(states, prior_type="K2"))
    return network


def reward(proba: np.ndarray, train: Rows, test: Rows, states: States) -> float:
    """Hope & Korb (2004), equation 10, against the training set's frequencies, from ½."""
    total = len(train) + len(states["y"]) / 2
    prior = np.array([((train["y"] == state).sum() + 0.5) / total for state in states["y"]])
    true = np.array([test["y"] == state for state in states["y"]]).T
    q = np.clip(proba, 0.5 / total, (len(train) + 0.5) / total)
    return float(np.where(true, np.log(q / prior), np.log((1 - q) / (1 - prior))).mean())


def main() -> None:
    logging.getLogger("pgmpy").setLevel(logging.CRITICAL)
    models = read(Path(sys.argv[1]))
    start = time.perf_counter()
    with Path(sys.argv[2]).open("w", newline="", encoding="utf-8") as file:
        scores = csv.writer(file)
        scores.writerow(["model", "size", "learner", "information_reward"])
        for model, (states, (test, *trains)) in enumerate(models):
            for train in trains:
                for learner in ("NB", "TAN"):
                    network = fit(learner, train, states)
                    answers = network.predict_probability(test.drop(columns="y"))
                    proba = answers[[f"y_{state}" for state in states["y"]]].to_numpy()
                    value = reward(proba, train, test, states)
                    scores.writerow([model, len(train), learner, value])
    print(time.perf_counter() - start)


if __name__ == "__main__":
    main()
