"""How long CaMML takes: over the study's models, and as variables and rows grow.

    python benchmarks/camml.py [--quick]

A fit is everything up to the first answer, from plain integer arrays: making the Sample, the
posterior over networks, choosing a network or a mixture, its parameters, and predicting one row.
What 1000 rows take to predict after that stands beside it. A time is the best of several rounds
on one data set, and the figures shown are the mean and the worst over data sets: from random Naive
Bayes and TAN models and AODE mixtures, equally many of each, with 4 to 8 variables of 2 to 5
values, always the same ones; and from the nine models of tests/golden/weka, if they are there.
Few rows and many variables are the hard corner, since the posterior is then spread over very many
networks: random models of 8 variables, with 2 values each, 5 each, and 2 to 5, stand apart.
Matrix products keep to one thread, as in the workers of a study.

The public Java program took 0.45 to 2.3 s a fit in the mean on such data, 1.5 s at 10 variables, 5
s at 15 to 20 and 17 s at 30. Those figures were measured warm, on another machine: only the order
of magnitude compares.

Growth is shown on data of random networks in which each variable has the target and up to two
others as parents (KDBFamily), three values each. Beyond 10 variables CaMML samples networks unless
told otherwise. The sampler is compiled on its first use ever and loaded from a cache afterwards;
both are measured in processes of their own, with a cache of their own.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from simstudy.data.sample import Sample
from simstudy.learners.networks.camml.learner import MAX_EXACT, CaMML
from simstudy.sources.families.aode import AODEFamily
from simstudy.sources.families.base import Family
from simstudy.sources.families.kdb import KDBFamily
from simstudy.sources.families.naive_bayes import NaiveBayesFamily
from simstudy.sources.families.tan import TANFamily

FAMILIES = (NaiveBayesFamily(), TANFamily(), AODEFamily())
LEARNERS = (CaMML(), CaMML("map"), CaMML("sec"), CaMML("average"), CaMML("sec_average"))
SIZES = (50, 500, 5000)
TEST_ROWS = 1000
SEED = 20040101
GOLDEN = Path(__file__).parent.parent / "tests" / "golden" / "weka"
ORIGINAL = "0.45–2.3 s"
ORIGINAL_AT = {10: "1.5 s", 15: "5 s", 20: "5 s", 30: "17 s"}
LONGEST_MEAN, LONGEST = 40, 150  # what a fit may take on average and at worst, in milliseconds
CORNER = ((2, 2), (2, 5), (5, 5))  # values of each variable, least and most
COLUMNS = ("fit: mean", "worst", "predict: mean", "worst")

# Run in a new process: import and sample once, sample again, and print both times.
FIRST_RUN = """
import time
import numpy as np
from simstudy.learners.networks.camml.learner import CaMML
from simstudy.data.sample import Sample
codes = np.random.default_rng(0).integers(2, size=(50, 4))
for _ in range(2):
    start = time.perf_counter()
    CaMML(search="sample").fit(Sample(codes, (2, 2, 2, 2))).dag
    print(time.perf_counter() - start)
"""


class Problem:
    """Training rows and rows to predict, as plain integer arrays."""

    def __init__(self, train: np.ndarray, test: np.ndarray, cards: Sequence[int]) -> None:
        self.train, self.test, self.cards = train, test, cards

    def times(self, learner: CaMML, rounds: int) -> tuple[float, float]:
        """The best times to fit, and to predict all rows after that, in seconds."""
        clock = []
        for _ in range(rounds):
            rng = np.random.default_rng(SEED)
            start = time.perf_counter()
            fitted = learner.fit(Sample(self.train, self.cards), rng)
            fitted.predict_proba(self.test[:1])
            middle = time.perf_counter()
            fitted.predict_proba(self.test)
            clock.append((middle - start, time.perf_counter() - middle))
        fit, predict = np.min(clock, axis=0)
        return float(fit), float(predict)


def problem(family: Family, index: int, rows: int) -> Problem:
    """Data of a random model; the model and its first rows do not depend on how many rows."""
    rng = np.random.default_rng([SEED, index])
    model = family.draw(rng)
    test = model.sample(TEST_ROWS, rng).attributes.copy()
    return Problem(model.sample(rows, rng).codes.copy(), test, model.cards)


def random_networks(variables: int, rows: int, networks: int) -> list[Problem]:
    family = KDBFamily(k=2, variables=(variables, variables), values=(3, 3))
    return [problem(family, index, rows) for index in range(networks)]


def golden() -> list[Problem]:
    """The training sets of the golden models; their rows to predict are a few, repeated."""
    files = [np.load(path) for path in sorted(GOLDEN.glob("*_0?.npz"))]
    problems = []
    for file in files:
        cards, test = tuple(file["cards"].tolist()), file["test"]
        test = np.resize(test, (TEST_ROWS, test.shape[1]))
        problems += [Problem(file[f"train_{size}"], test, cards) for size in SIZES]
    return problems


def measure(problems: Iterable[Problem], learner: CaMML, rounds: int) -> list[float]:
    """What COLUMNS say, in milliseconds."""
    fit, predict = 1e3 * np.transpose([one.times(learner, rounds) for one in problems])
    return [fit.mean(), fit.max(), predict.mean(), predict.max()]


def kept(figures: Sequence[float]) -> str:
    """Whether fits take no longer than they may."""
    return "kept" if figures[0] <= LONGEST_MEAN and figures[1] <= LONGEST else "not kept"


def cells(figures: Iterable[float]) -> list[str]:
    return [f"{value:,.1f}" for value in figures]


def table(title: str, *headings: str) -> Table:
    made = Table(title=title, title_justify="left")
    for heading in headings:
        made.add_column(heading, justify="right")
    return made


def show_models(console: Console, models: int, rounds: int) -> None:
    title = f"random models, {models} data sets of each size, best of {rounds} rounds"
    made = table(title, "select", "rows", *COLUMNS, "original")
    for learner in LEARNERS:
        for size in SIZES:
            problems = [problem(FAMILIES[i % len(FAMILIES)], i, size) for i in range(models)]
            figures = cells(measure(problems, learner, rounds))
            original = ORIGINAL if learner.select == "mmlec" else "–"
            made.add_row(learner.select, str(size), *figures, original)
        made.add_section()
    console.print(made)


def show_golden(console: Console, rounds: int) -> None:
    if not (problems := golden()):
        console.print(f"the golden data sets are left out: there are none in {GOLDEN}")
        return
    title = f"the {len(problems)} golden data sets, best of {rounds} rounds"
    made = table(title, "select", *COLUMNS, f"≤ {LONGEST_MEAN}, ≤ {LONGEST}")
    for learner in LEARNERS:
        figures = measure(problems, learner, rounds)
        made.add_row(learner.select, *cells(figures), kept(figures))
    console.print(made)


def show_corner(console: Console, models: int, rounds: int) -> None:
    title = f"8 variables, {models} random models, select = mmlec, best of {rounds} rounds"
    made = table(title, "values", "rows", *COLUMNS, f"≤ {LONGEST_MEAN}, ≤ {LONGEST}")
    for values in CORNER:
        families = [type(family)(variables=(8, 8), values=values) for family in FAMILIES]
        for size in SIZES:
            problems = [problem(families[i % len(families)], i, size) for i in range(models)]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of a posterior spread very thin
                figures = measure(problems, LEARNERS[0], rounds)
            made.add_row("–".join(map(str, values)), str(size), *cells(figures), kept(figures))
        made.add_section()
    console.print(made)


def show_growth(console: Console, networks: int, rounds: int) -> None:
    exact = CaMML(search="exact")
    number = f"{networks} networks, best of {rounds} rounds"
    made = table(f"exact, 1000 rows, {number}", "variables", *COLUMNS)
    for variables in range(4, MAX_EXACT + 1):
        problems = random_networks(variables, 1000, networks)
        made.add_row(str(variables), *cells(measure(problems, exact, rounds)))
    console.print(made)
    made = table(f"exact, 8 variables, {number}", "rows", *COLUMNS)
    for rows in (50, 150, 500, 1500, 5000, 15_000, 50_000):
        problems = random_networks(8, rows, networks)
        made.add_row(f"{rows:,}", *cells(measure(problems, exact, rounds)))
    console.print(made)


def show_sampler(console: Console, networks: int, sizes: Sequence[int]) -> None:
    with tempfile.TemporaryDirectory() as cache:
        compiled, loaded = (first_run(cache) for _ in range(2))
    console.print(
        f"sampler: first use ever {compiled:.1f} s longer (imports, compiling); "
        f"first use in a later process {loaded:.2f} s longer (imports, loading the cache)"
    )
    sampler = CaMML(search="sample")
    random_networks(4, 50, 1)[0].times(sampler, 1)  # compiles or loads
    made = table(f"sampler, 1000 rows, {networks} networks", "variables", *COLUMNS, "original")
    for variables in sizes:
        figures = cells(measure(random_networks(variables, 1000, networks), sampler, 1))
        made.add_row(str(variables), *figures, ORIGINAL_AT.get(variables, "–"))
    console.print(made)


def first_run(cache: str) -> float:
    """How much longer the first sampled fit of a new process takes than its second."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    run = [sys.executable, "-c", FIRST_RUN]
    printed = subprocess.run(run, env=environment, check=True, capture_output=True, text=True)
    first, second = map(float, printed.stdout.split())
    return first - second


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of CaMML.")
    parser.add_argument("--quick", action="store_true", help="fewer models and rounds")
    quick = parser.parse_args().quick
    console = Console(highlight=False)
    packages = ", ".join(f"{name} {version(name)}" for name in ("simstudy", "numpy", "numba"))
    python = f"Python {platform.python_version()}"
    console.print(f"{python}, {packages}; {os.cpu_count()} CPUs; times in ms")
    rounds = 2 if quick else 5
    with threadpool_limits(1):
        show_golden(console, rounds)
        show_corner(console, 30 if quick else 100, 1 if quick else 3)
        show_models(console, 30 if quick else 60, rounds)
        show_growth(console, 2 if quick else 5, 1 if quick else 3)
        show_sampler(console, 1 if quick else 3, (10, 15, 20) if quick else (10, 15, 20, 25, 30))


if __name__ == "__main__":
    main()
