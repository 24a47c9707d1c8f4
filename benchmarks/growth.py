"""How cost grows: exponents of time and memory in rows, variables, values, classes and more.

    python benchmarks/growth.py [--only LEARNER …] [--quick]

Learners: rows are drawn from random networks in which each variable has the target and up to two
others as parents, with fixed seeds: one network as rows grow, another one for each number of
variables, values and classes. One of these grows by factors of two (`SIZES`), while the others
stay as in `START`. A cost is that of making the Sample, fitting, and
predicting `TEST_ROWS` rows: CPU seconds of this process, the best of several rounds, and the peak
that tracemalloc sees (numpy's arrays count, memory of compiled code does not). A learner stops
growing where a fit takes longer than `LONGEST` seconds. An exponent is the slope of log cost on
log size by least squares over the upper half of the sizes that were reached, so that fixed costs
weigh less. Learners have their default parameters. CaMML sums over networks up to 10 variables:
its growth in variables, one by one from 5 to 10, is that of the sum.

Studies: TAN models, 2 sizes, runs without a report. CPU seconds and peak memory of one process as
learners (copies of TAN, 100 models) and models (4 learners) grow, less those of the smallest run,
which are mostly fixed; wall seconds of 2,000 models by 1 and 2 processes, with the exponent
between them (−1 is ideal). Linear algebra keeps to one thread.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import math
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from simstudy.components.registry import LEARNERS
from simstudy.data.sample import Sample
from simstudy.learners.base import Learner
from simstudy.sources.families.kdb import KDBFamily

SEED = 20040101
TEST_ROWS = 1000
LONGEST = 1.5  # seconds of a fit beyond which a learner stops growing
ROUNDS, SHORT = 5, 0.1  # rounds of a fit, as long as they take less than so many seconds together
START = {"rows": 1000, "variables": 10, "values": 4, "classes": 3}
SIZES = {
    "rows": [500 * 2**step for step in range(9)],  # to 128,000
    "variables": [4, 8, 16, 32, 64],
    "values": [2, 4, 8, 16, 32],
    "classes": [2, 4, 8, 16, 32, 64],
}
EXACT = [5, 6, 7, 8, 9, 10]  # variables of CaMML
LEFT_OUT = ("truth",)  # which is not fitted
HEADINGS = "learner", *(f"{what}: time, memory" for what in SIZES)
# The costs of the first are subtracted.
STUDY_LEARNERS, STUDY_MODELS = (1, 8, 16, 32, 64), (10, 500, 1000, 2000, 4000)
STUDY = """
name = "growth"
models = {models}

[family]
name = "tan"

[data]
train_sizes = [50, 500]
"""


class Growth(NamedTuple):
    """Sizes that were reached, and the CPU seconds and megabytes at each."""

    sizes: list[int]
    seconds: list[float]
    megabytes: list[float]


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The slope of log cost on log size over the upper half of the sizes; at least two."""
    start = min(len(sizes) // 2, len(sizes) - 2)
    if start < 0 or min(costs[start:]) <= 0:
        return math.nan
    return float(np.polyfit(np.log(sizes[start:]), np.log(costs[start:]), 1)[0])


def drawn(sizes: dict[str, int]) -> tuple[np.ndarray, np.ndarray, tuple[int, ...]]:
    """Training rows, attributes of rows to predict, and the numbers of values."""
    variables, values, classes = sizes["variables"], sizes["values"], sizes["classes"]
    rng = np.random.default_rng([SEED, variables, values, classes])  # one network for all rows
    family = KDBFamily(
        k=2, variables=(variables, variables), values=(values, values), classes=(classes, classes)
    )
    model = family.draw(rng)
    test = model.sample(TEST_ROWS, rng).attributes.copy()
    return model.sample(sizes["rows"], rng).codes.copy(), test, model.cards


def cost(learner: Learner, sizes: dict[str, int]) -> tuple[float, float]:
    """CPU seconds and peak megabytes of a fit and its predictions."""
    train, test, cards = drawn(sizes)

    def run() -> None:
        rng = np.random.default_rng(SEED)
        learner.fit(Sample(train, cards), rng).predict_proba(test)

    gc.collect()
    seconds = list[float]()
    while len(seconds) < ROUNDS and sum(seconds) < SHORT:
        started = time.process_time()
        run()
        seconds.append(time.process_time() - started)
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return min(seconds), peak / 1e6


def growth(name: str, what: str, quick: bool) -> Growth:
    """The costs of a learner as one size grows, up to the time limit."""
    learner = LEARNERS.get(name)()
    reached = Growth([], [], [])
    sizes = EXACT if (name, what) == ("camml", "variables") else SIZES[what]
    for size in sizes[: 4 if quick else None]:
        with contextlib.suppress(ValueError):  # more than the learner allows
            seconds, megabytes = cost(learner, START | {what: size})
            for values, value in zip(reached, (size, seconds, megabytes), strict=True):
                values.append(value)
            if seconds > LONGEST:
                break
    return reached


def cell(name: str, what: str, quick: bool) -> str:
    """Both exponents, and the last size if the learner stopped before that of most learners."""
    reached = growth(name, what, quick)
    if len(reached.sizes) < 2:
        return "–"
    exponents = (exponent(reached.sizes, costs) for costs in reached[1:])
    text = ", ".join(f"{value:.2f}" for value in exponents)
    last = reached.sizes[-1]
    return text if last == SIZES[what][3 if quick else -1] else f"{text} (to {last:,})"


def print_row(*cells: str) -> None:
    print(f"| {' | '.join(cells)} |", flush=True)


def print_heading(*cells: str) -> None:
    print_row(*cells)
    print_row(*["---"] * len(cells))


def study_cost(learners: int, models: int, jobs: int = 1) -> tuple[float, float, float]:
    """CPU seconds, wall seconds and peak megabytes of a study, as a command."""
    with tempfile.TemporaryDirectory() as place:
        study = Path(place, "growth.toml")
        parts = [f'[[learners]]\nname = "tan"\nlabel = "TAN {n}"\n' for n in range(learners)]
        study.write_text("\n".join([STUDY.format(models=models), *parts]), encoding="utf-8")
        command = [sys.executable, "-m", "simstudy", "run", str(study), "--out", f"{place}/out"]
        command += ["--no-report", "--quiet", "--jobs", str(jobs)]
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"{' '.join(command)} failed")
        wall = time.perf_counter() - started
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024


def studies() -> None:
    """Print how the costs of whole studies grow."""
    print_heading("studies", "range", "time", "memory")
    for what, sizes in (("learners", STUDY_LEARNERS), ("models", STUDY_MODELS)):
        costs = [study_cost(n, 100) if what == "learners" else study_cost(4, n) for n in sizes]
        grown = sizes[1:]
        exponents = [
            exponent(grown, [each[of] - costs[0][of] for each in costs[1:]]) for of in (0, 2)
        ]
        print_row(what, f"{grown[0]:,} to {grown[-1]:,}", *(f"{value:.2f}" for value in exponents))
    walls = [study_cost(4, STUDY_MODELS[-2], jobs)[1] for jobs in (1, 2)]
    print_row("processes", "1 to 2", f"{exponent((1, 2), walls):.2f}", "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", metavar="LEARNER", help="these learners, no studies")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, no studies")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    names = options.only or [name for name in LEARNERS.names() if name not in LEFT_OUT]
    started = time.perf_counter()
    if not (options.only or options.quick):
        studies()  # first: the peak of a child is at least the size of this process
        print()
    print_heading(*HEADINGS)
    with threadpool_limits(1):
        for name in names:
            cost(LEARNERS.get(name)(), START)  # imports, and compiled code
            print_row(f"`{name}`", *(cell(name, what, options.quick) for what in SIZES))
    print(f"\n{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
