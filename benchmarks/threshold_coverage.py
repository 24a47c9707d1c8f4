"""How often what a study says of crossings is true: brackets, and intervals with their widths.

    python benchmarks/threshold_coverage.py [--population results/populations] [--models 2000]
                                            [--studies 2000] [--jobs 2]

The population is 2,000 models of a family (TAN, AODE), each with a training set of 19 sizes from 50
to 5,000 (steps of a factor of 1.29) on which Naive Bayes, TAN by SuperParent, AODE and CaMML are
evaluated exactly. It is made once, by simstudy itself, in about a quarter of an hour for each
family on two cores, and kept; a run that is stopped goes on. The true mean difference of two
learners is that over the population, and the true crossing its zero, known to a small part of a
step.

A study draws 40 models of the population with replacement, at some of the 19 sizes:

3 sizes     50, 500 and 5,000
refined     the same, and the sizes that refinement adds
7 sizes     steps of a factor of 2.15
10 sizes    steps of a factor of 1.67
19 sizes    all

A bracket is wrong if the true difference does not have the signs that the study says it has at its
two ends. An interval covers if it holds the true crossing in its bracket. Its width is given as the
median of upper/lower. A pair counts in the columns of intervals by the intervals that were printed.
Below the pairs: the share of studies with any wrong bracket, and of those with intervals in which
all of these cover.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from rich.console import Console
from rich.table import Table

import simstudy
from simstudy.analysis.models.difference_curves import PairCurve
from simstudy.analysis.models.thresholds import compared, sizes_to_add

SEED = 2013
OWN = (50, 500, 5000)
SIZES = tuple(round(50 * 10 ** (step / 9)) for step in range(19))
DESIGNS = {
    "3 sizes": SIZES[::9],
    "refined": SIZES[::9],
    "7 sizes": SIZES[::3],
    "10 sizes": SIZES[::2],
    "19 sizes": SIZES,
}
LEARNERS = ("NB", "TAN", "AODE", "CaMML")
STUDY = """
name = "population_{family}"
seed = {seed}
models = {models}

[family]
name = "{family}"

[data]
train_sizes = {sizes}
test_size = "exact"

[[learners]]
name = "naive_bayes"
label = "NB"

[[learners]]
name = "tan"
label = "TAN"
search = "superparent"

[[learners]]
name = "aode"
label = "AODE"

[[learners]]
name = "camml"
label = "CaMML"
"""


def population(family: str, place: Path, models: int, jobs: int) -> np.ndarray:
    """The rewards of all models, models x learners x sizes."""
    place.mkdir(parents=True, exist_ok=True)
    file = place / f"{family}.toml"
    file.write_text(
        STUDY.format(family=family, seed=SEED, models=models, sizes=list(SIZES)), encoding="utf-8"
    )

    def progress(step: object) -> None:
        models = getattr(step, "models", 0)
        if sys.stderr.isatty() and models % 10 == 0:
            print(f"\r{family}: {models} models", end="", file=sys.stderr)

    study = simstudy.load_study(file)
    results = simstudy.run_study(study, place / family, jobs=jobs, report=False, progress=progress)
    scores = results.scores.sort_values(["model", "size"], kind="stable")
    return np.stack(
        [
            scores.loc[scores["learner"] == name, "information_reward"]
            .to_numpy()
            .reshape(-1, len(SIZES))
            for name in LEARNERS
        ],
        axis=1,
    )


def analysed(rewards: np.ndarray, sizes: dict[int, set[str]]) -> list[PairCurve]:
    """What a study of some models says that has these sizes, each of some learners."""
    cells = [(name, size) for name in LEARNERS for size in sorted(sizes) if name in sizes[size]]
    places = [(LEARNERS.index(name), SIZES.index(size)) for name, size in cells]
    table = pd.DataFrame(cells * len(rewards), columns=["learner", "size"])
    table["model"] = np.repeat(np.arange(len(rewards)), len(cells))
    table["information_reward"] = rewards[:, *zip(*places, strict=True)].ravel()
    return compared(table)


def study(rewards: np.ndarray, design: str) -> list[PairCurve]:
    """The pairs of one study, refined if the design says so."""
    sizes = {size: {*LEARNERS} for size in DESIGNS[design]}
    pairs = analysed(rewards, sizes)
    while design == "refined":
        proposed = sizes_to_add(pairs, OWN)
        new = {size: names - sizes.get(size, set()) for size, names in proposed.items()}
        if not any(new.values()):
            break
        for size, names in new.items():
            sizes.setdefault(size, set()).update(names)
        pairs = analysed(rewards, sizes)
    return pairs


@dataclass
class Truth:
    """The true mean difference of two learners at all sizes, and where it is 0."""

    means: np.ndarray
    zeros: list[float] = field(default_factory=list)

    def sign(self, size: float) -> int:
        return int(np.sign(self.means[SIZES.index(int(size))]))

    def between(self, low: float, high: float) -> list[float]:
        return [zero for zero in self.zeros if low < zero < high]


def truths(rewards: np.ndarray) -> dict[tuple[str, str], Truth]:
    """The truth of every pair, from the whole population."""
    found = {}
    for pair in analysed(rewards, {size: {*LEARNERS} for size in SIZES}):
        assert pair.curve is not None
        signs = np.sign(pair.curve.mean)
        changes = np.flatnonzero(signs[1:] != signs[:-1]).tolist()
        zeros = [pair.curve.zone(at, at + 1, 0.0).zeros[0] for at in changes]
        found[pair.first, pair.second] = Truth(pair.curve.mean, zeros)
    return found


def judged(
    rewards: np.ndarray, truth: dict[tuple[str, str], Truth], models: int, seed: int, design: str
) -> list[tuple[str, bool, bool, bool, float, int]]:
    """Every bracket of a study: pair, wrong, has an interval, covers, upper/lower, sizes."""
    rng = np.random.default_rng([SEED, seed])
    drawn = rewards[rng.integers(len(rewards), size=models)]
    found = []
    for pair in study(drawn, design):
        known = truth[pair.first, pair.second]
        for change in pair.changes:
            assert pair.curve is not None
            low, high, sign = change.before, change.after, 1 if change.ahead == pair.second else -1
            wrong = known.sign(low) != -sign or known.sign(high) != sign
            printed = change.estimated
            inside = known.between(low, high)
            covers = printed and any(change.lower <= zero <= change.upper for zero in inside)
            width = change.upper / change.lower if printed else np.nan
            name = f"{pair.first} and {pair.second}"
            found.append((name, wrong, printed, covers, width, len(pair.curve.sizes)))
    return found


def show(
    console: Console, family: str, rewards: np.ndarray, studies: int, models: int, jobs: int
) -> None:
    truth = truths(rewards)
    console.print(f"\n{family}: {len(rewards)} models; the true crossings, in rows")
    for (first, second), each in truth.items():
        zeros = ", ".join(f"{zero:.1f}" for zero in each.zeros) or "none"
        console.print(f"  {first} and {second}: {zeros}")
    table = Table(title=f"{studies} studies of {models} models", title_justify="left")
    heads = ("design", "pair", "brackets", "wrong", "intervals", "cover", "upper/lower", "sizes")
    for head in heads:
        table.add_column(head, justify="left" if head in ("design", "pair") else "right")
    for design in DESIGNS:
        run: Sequence[list[tuple[str, bool, bool, bool, float, int]]] = Parallel(jobs)(
            delayed(judged)(rewards, truth, models, seed, design) for seed in range(studies)
        )
        rows = sorted(itertools.chain.from_iterable(run))
        for name, group in itertools.groupby(rows, key=lambda row: row[0]):
            _, wrong, printed, covers, widths, sizes = map(np.array, zip(*group, strict=True))
            share = f"{covers.sum() / printed.sum():.1%}" if printed.any() else "–"
            width = f"{np.nanmedian(widths):.2f}" if printed.any() else "–"
            table.add_row(
                *(design, name, str(len(wrong)), str(wrong.sum()), str(printed.sum())),
                *(share, width, f"{sizes.mean():.1f}"),
            )
        false = sum(any(row[1] for row in one) for one in run)
        printed = [row for row in rows if row[2]]
        covered = f"{sum(row[3] for row in printed) / len(printed):.1%}" if printed else "–"
        several = [[row[3] for row in one if row[2]] for one in run]
        joint = [all(each) for each in several if each]
        together = f"{np.mean(joint):.1%}" if joint else "–"
        table.add_row("", "studies: a wrong bracket; all intervals cover", "")
        table.add_row("", "", "", f"{false / studies:.1%}", str(len(joint)), together)
        table.add_row("", "all intervals", "", "", str(len(printed)), covered, end_section=True)
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--population", type=Path, default=Path("results/populations"))
    parser.add_argument("--models", type=int, default=2000, help="of the population")
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--drawn", type=int, default=40, help="models of a study")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    console = Console(width=100)
    for family in ("tan", "aode"):
        rewards = population(family, given.population, given.models, given.jobs)
        show(console, family, rewards, given.studies, given.drawn, given.jobs)


if __name__ == "__main__":
    main()
