"""How long measures take, beside scikit-learn.

    python benchmarks/measures.py [--quick]

The first table is the area under the ROC curve of two classes, ours and scikit-learn's
roc_auc_score, for random probabilities: all different, and rounded to two digits, so that there
are many ties; without weights and with. Both take turns in one process, so that a slow spell of
the machine meets both; the time is the best of the rounds, and the ratio is ours to
scikit-learn's. They must agree to 1e-9, or the run stops.

The second table is the time of each measure with its default parameters for 1000 rows, as studies
call them: the best of 200 calls, with 2, 3 and 10 classes.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from importlib.metadata import version

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.metrics import roc_auc_score

from simstudy.components.registry import MEASURES
from simstudy.measures import auc
from simstudy.measures.base import keywords, score

SEED = 20040101
ROWS = (1_000, 100_000, 1_000_000)
CLASSES = (2, 3, 10)


def best(runs: list[Callable[[], float]], rounds: int) -> list[float]:
    """The best time of each run in seconds; they take turns."""
    times = [math.inf] * len(runs)
    for _ in range(rounds):
        for place, run in enumerate(runs):
            started = time.perf_counter()
            run()
            times[place] = min(times[place], time.perf_counter() - started)
    return times


def race(rows: int, digits: int | None, weighted: bool, rounds: int) -> tuple[float, float]:
    """The seconds of our area and of scikit-learn's."""
    rng = np.random.default_rng(SEED)
    q = rng.random(rows)
    y = (rng.random(rows) < q).astype(np.intp)
    q = q if digits is None else np.round(q, digits)
    proba, weights = np.column_stack([1 - q, q]), rng.random(rows) if weighted else None
    runs = [
        lambda: auc(proba, y, weights=weights, positive=1),
        lambda: float(roc_auc_score(y, q, sample_weight=weights)),
    ]
    if abs(runs[0]() - runs[1]()) > 1e-9:
        raise SystemExit("the two areas differ")
    ours, theirs = best(runs, rounds)
    return ours, theirs


def show_race(console: Console, rounds: int) -> None:
    table = Table(title="Area under the ROC curve: milliseconds", title_justify="left")
    for heading in ("rows", "probabilities", "weights", "simstudy", "scikit-learn", "ratio"):
        table.add_column(heading, justify="left" if heading == "probabilities" else "right")
    for rows in ROWS:
        for digits, ties in ((None, "all different"), (2, "two digits")):
            for weighted in (False, True):
                ours, theirs = race(rows, digits, weighted, rounds)
                figures = (f"{1e3 * ours:.3g}", f"{1e3 * theirs:.3g}", f"{ours / theirs:.2f}")
                table.add_row(f"{rows:,}", ties, "yes" if weighted else "no", *figures)
    console.print(table)


def show_measures(console: Console, rounds: int) -> None:
    table = Table(title="1000 rows: microseconds", title_justify="left")
    table.add_column("measure")
    for classes in CLASSES:
        table.add_column(f"{classes} classes", justify="right")
    for name in MEASURES.names():
        measure = MEASURES.get(name)
        if keywords(measure) & {"truth", "oracle", "limit", "message"}:
            continue
        times = []
        for classes in CLASSES:
            rng = np.random.default_rng(SEED)
            proba = rng.dirichlet(np.ones(classes), 1000)
            y = rng.integers(0, classes, 1000)
            prior = np.full(classes, 1 / classes)

            def run(measure=measure, proba=proba, y=y, prior=prior) -> float:
                return score(measure, proba, y, prior=prior, rarer=1)

            times += best([run], rounds)
        table.add_row(name, *(f"{1e6 * seconds:.0f}" for seconds in times))
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of measures beside scikit-learn.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    quick = parser.parse_args().quick
    console = Console(highlight=False)
    packages = ", ".join(f"{p} {version(p)}" for p in ("simstudy", "numpy", "scikit-learn"))
    console.print(packages)
    show_race(console, 3 if quick else 15)
    show_measures(console, 20 if quick else 200)


if __name__ == "__main__":
    main()
