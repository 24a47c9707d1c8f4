"""How long learners take to fit and to predict, beside scikit-learn and pgmpy.

    python benchmarks/learners.py [--quick]

One figure is the time to fit a training set and to predict the class probabilities of 1000 rows,
in microseconds, from plain integer arrays: ours includes making the Sample, so no table is
counted beforehand. The data come from random TAN models of 8 variables with 2 to 5 values each,
always the same ones. On every model the contestants take turns, one run each and round again, so
that a slow spell of the machine meets them all; a contestant's time on a model is the best of its
rounds, and the figure shown is the median over the models.

scikit-learn's is CategoricalNB with min_categories, so that it knows absent values as ours does.
pgmpy's is a DiscreteBayesianNetwork of Naive Bayes structure smoothed by Laplace's rule (its own
NaiveBayes class cannot predict probabilities), given data frames of strings with all state names;
it takes seconds, so after a warming-up it runs once, on the first model. All three Naive Bayes
must give the same probabilities, but for scikit-learn's unsmoothed class prior, or the run stops.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from sklearn.naive_bayes import CategoricalNB

from simstudy.data.sample import Sample
from simstudy.learners.base import Learner
from simstudy.learners.baselines import Prior
from simstudy.learners.bayes.aode import AODE
from simstudy.learners.bayes.naive_bayes import NaiveBayes
from simstudy.learners.bayes.tan import TAN
from simstudy.sources.families.tan import TANFamily

SIZES = (50, 500, 5000)
TEST_ROWS = 1000
SEED = 20040101
OURS: dict[str, Learner] = {
    "Prior": Prior(),
    "NaiveBayes": NaiveBayes(),
    "TAN cmi": TAN(),
    "TAN likelihood": TAN(search="likelihood"),
    "TAN superparent": TAN(search="superparent"),
    "AODE": AODE(),
}
SKLEARN, PGMPY = "sklearn CategoricalNB", "pgmpy naive network"

Run = Callable[[], np.ndarray]


class Problem:
    """Training rows and rows to predict of one random model, as plain integer arrays."""

    def __init__(self, index: int, size: int) -> None:
        rng = np.random.default_rng([SEED, index])
        model = TANFamily(variables=(8, 8)).draw(rng)
        self.cards = model.cards
        self.test = model.sample(TEST_ROWS, rng).attributes.copy()
        self.train = model.sample(size, rng).codes.copy()
        self.X, self.y = self.train[:, :-1].copy(), self.train[:, -1].copy()

    def ours(self, learner: Learner) -> Run:
        return lambda: learner.fit(Sample(self.train, self.cards)).predict_proba(self.test)

    def sklearn(self) -> Run:
        cards = list(self.cards[:-1])
        return lambda: (
            CategoricalNB(min_categories=cards).fit(self.X, self.y).predict_proba(self.test)
        )

    def pgmpy(self, rows: int = TEST_ROWS) -> Run:
        """Fit and predict with string states; making the data frames is not timed."""
        from pgmpy.models import DiscreteBayesianNetwork
        from pgmpy.parameter_estimator import DiscreteBayesianEstimator

        names = [*(f"x{i}" for i in range(len(self.cards) - 1)), "y"]
        states = {n: [f"s{v}" for v in range(c)] for n, c in zip(names, self.cards, strict=True)}
        train = pd.DataFrame(self.train, columns=names).map("s{}".format)
        test = pd.DataFrame(self.test[:rows], columns=names[:-1]).map("s{}".format)

        def run() -> np.ndarray:
            network = DiscreteBayesianNetwork([("y", name) for name in names[:-1]])
            network.fit(train, DiscreteBayesianEstimator(states, prior_type="K2"))
            return network.predict_probability(test).to_numpy()

        return run


def seconds(run: Run) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def race(size: int, models: int, rounds: int) -> dict[str, float]:
    """Median over models of the best time of each contestant, in microseconds."""
    best: dict[str, list[float]] = {}
    for index in range(models):
        problem = Problem(index, size)
        runs = {name: problem.ours(learner) for name, learner in OURS.items()}
        runs[SKLEARN] = problem.sklearn()
        check_agreement(runs["NaiveBayes"](), runs[SKLEARN](), problem.y)
        times = np.array([[seconds(run) for run in runs.values()] for _ in range(rounds)])
        for name, fastest in zip(runs, times.min(axis=0), strict=True):
            best.setdefault(name, []).append(fastest)
    return {name: 1e6 * float(np.median(values)) for name, values in best.items()}


def check_agreement(ours: np.ndarray, sklearns: np.ndarray, y: np.ndarray) -> None:
    """Stop unless both agree once the class priors are divided out.

    Ours are (n + 1)/(N + k); scikit-learn's are n/N, and it has no column for an absent class.
    """
    classes, counts = np.unique(y, return_counts=True)
    ours, sklearns = ours[:, classes] / (counts + 1), sklearns / counts
    ours /= ours.sum(axis=1, keepdims=True)
    sklearns /= sklearns.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(ours, sklearns, rtol=1e-6)


def race_pgmpy(size: int) -> float | str:
    """Time of one run in microseconds, or why there is none."""
    try:
        problem = Problem(0, size)
        problem.pgmpy(rows=1)()  # imports what it needs
        run = problem.pgmpy()
        start = time.perf_counter()
        theirs = run()
        elapsed = time.perf_counter() - start
    except Exception as error:
        return f"pgmpy is left out, it fails: {type(error).__name__}: {error}"
    np.testing.assert_allclose(problem.ours(NaiveBayes())(), theirs, rtol=1e-6)
    return 1e6 * elapsed


def ratio(value: float) -> str:
    return f"{value:,.1f}" if value >= 1 else f"{value:.2g}"


def show(size: int, times: dict[str, float], console: Console) -> None:
    table = Table(title=f"{size} training rows, {TEST_ROWS} rows predicted", title_justify="left")
    table.add_column("learner")
    for heading in ("µs", "× sklearn", "× pgmpy"):
        table.add_column(heading, justify="right")
    for name, micros in times.items():
        ratios = [
            ratio(times[other] / micros) if other in times else "–" for other in (SKLEARN, PGMPY)
        ]
        table.add_row(name, f"{micros:,.0f}", *ratios)
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of the learners beside other packages.")
    parser.add_argument("--quick", action="store_true", help="fewer models and rounds")
    quick = parser.parse_args().quick
    models, rounds = (3, 5) if quick else (11, 20)
    warnings.filterwarnings("ignore", category=FutureWarning, module="pgmpy")
    console = Console(highlight=False)
    packages = ", ".join(
        f"{package} {version(package)}"
        for package in ("simstudy", "numpy", "scikit-learn", "pandas", "pgmpy")
    )
    console.print(f"Python {platform.python_version()}, {packages}; {os.cpu_count()} CPUs")
    console.print(f"median over {models} models of the best of {rounds} rounds; pgmpy: one run")
    console.print("× says how many times faster than that package the learner is")
    for size in SIZES:
        times = race(size, models, rounds)
        pgmpy = race_pgmpy(size)
        if isinstance(pgmpy, str):
            console.print(pgmpy)
        else:
            times[PGMPY] = pgmpy
        show(size, times, console)


if __name__ == "__main__":
    main()
