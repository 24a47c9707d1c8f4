"""Coverage of confidence intervals of means and paired differences, by several methods.

    python benchmarks/coverage.py BANKS [--models 800] [--studies 4000] [--simulated 500] [--jobs 1]

A bank of models is drawn from each population and its scores are kept in the directory BANKS. The
bank is then taken as the population, so that its means are the true ones. Studies of 10, 20 or 40
models are drawn from it with replacement, and the 95 % intervals of information reward (or, with
--measure, of accuracy) checked:

single     each cell (learner and size), unadjusted: mean over cells, and the worst cell
cells      all cells together, adjusted for their number
pairs      all pairs of learners at one size together: mean over sizes, and the worst size
page       all pairs at all sizes together

Intervals, from the same studies:

t          Student's, adjusted by Bonferroni's method
Johnson    shifted by γ/(6n) standard deviations (Johnson 1978)
Hall       by Hall's (1992) cubic transformation, inverted exactly
guarded    the union of Hall's and t
skewness   t extended towards the longer tail only (`reach`)

and with simulated critical values in place of Bonferroni's, from the first studies only:

common     quantile of the largest |T| of a multivariate t with estimated correlations
normal     the same, of normal subjects, each T with its own standard deviation
flips      the same, after random changes of sign of the deviations
bootstrap  the same, of resampled subjects
skewness × normal  the critical value of "normal" in the intervals of "skewness"

Beside each coverage stands the mean width relative to t. naive_bayes, tan and the synthetic
populations were used to choose; nothing was chosen on the others. The last table has the least
coverage on the populations for validation, for more numbers of models. The standard error of a
coverage of 0.95 is 0.003 with 4,000 studies and 0.01 with 500.

Two populations also have 16 learners at 4 sizes (half of the models, a quarter of the studies).
Pairs of learners with equal scores in more than half of the models are left out: a study in which
they are equal throughout, or differ in a few models, says little about their mean difference.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import simstudy
from simstudy.analysis.tests.adjustment import critical_t
from simstudy.arrays import FloatArray

SEED = 1908
CONFIDENCE = 0.95
MEASURES = ("information_reward", "accuracy")
KINDS = ("single", "cells", "pairs", "page")
DRAWN, ALSO_DRAWN = (10, 20, 40), (10, 15, 20, 30, 40, 60, 80, 120, 160)
DRAWS, POOL = 1000, 8000  # of simulated critical values
SIZES, MORE_SIZES = (50, 500, 5000), (50, 150, 500, 5000)
LEARNERS = (
    {"name": "naive_bayes", "label": "NB"},
    {"name": "tan", "label": "TAN"},
    {"name": "aode", "label": "AODE"},
    {"name": "c45", "label": "C4.5"},
    {"name": "c45", "label": "C4.5 Laplace", "prune": False, "laplace": True},
)
MORE_LEARNERS = (
    *LEARNERS,
    {"name": "kdb", "label": "KDB", "k": 2},
    {"name": "hnb", "label": "HNB"},
    {"name": "lbr", "label": "LBR"},
    {"name": "one_r", "label": "1R", "leaves": "frequency"},
    {"name": "boosted_c45", "label": "boosted C4.5"},
    {"name": "mml_tree", "label": "MML tree"},
    {"name": "mml_graph", "label": "MML graph"},
    {"name": "sklearn.tree:DecisionTreeClassifier", "label": "CART", "min_samples_leaf": 5},
    {"name": "sklearn.linear_model:LogisticRegression", "label": "logistic"},
    {"name": "prior", "label": "prior"},
    {"name": "truth", "label": "truth"},
)
ASIA = {
    "name": "network",
    "file": str(Path(__file__).parents[1] / "studies" / "networks" / "asia.bif"),
    "target": "dysp",
    "cpts": "perturbed",
    "strength": 20.0,
}
DEVELOPMENT: dict[str, dict[str, Any]] = {
    "naive_bayes": {"family": {"name": "naive_bayes"}},
    "tan": {"family": {"name": "tan"}},
}
SYNTHETIC = ("normal", "exponential")
VALIDATION: dict[str, dict[str, Any]] = {
    "noisy_or": {"family": {"name": "noisy_or"}},
    "decision_tree": {"family": {"name": "decision_tree"}},
    "latent_class": {"family": {"name": "latent_class"}},
    "random_dag": {"family": {"name": "random_dag"}},
    "kdb": {"family": {"name": "kdb"}},
    "aode": {"family": {"name": "aode"}},
    "label_noise": {"family": {"name": "kdb"}, "changes": [{"name": "label_noise", "rate": 0.2}]},
    "asia": {"family": ASIA},
}
LARGE = ("noisy_or", "decision_tree")  # banks of fewer models, more learners and sizes


def reach(crit: FloatArray | float, skew: FloatArray, n: int) -> tuple[FloatArray, FloatArray]:
    """Return how far an interval reaches below and above the mean, in standard errors.

    T = (mean − μ)/se has the Edgeworth expansion Φ(x) + γ (2x² + 1) φ(x)/(6√n), so its quantile
    at −c lies at −c − γ (2c² + 1)/(6√n) (Johnson 1978; Hall 1992, section 2.6). With γ > 0 both
    limits of Student's interval are therefore too low. The upper one is raised; the lower one
    stays, because γ is estimated.

    Parameters
    ----------
    crit
        Quantile of Student's t, by which both limits are apart from the mean without skewness.
    skew, n
        Sample skewness and number of subjects.
    """
    extension = (2 * np.square(crit) + 1) / (6 * np.sqrt(n))
    return crit + np.maximum(-skew, 0.0) * extension, crit + np.maximum(skew, 0.0) * extension


def student_t(t: FloatArray, skew: FloatArray, n: int) -> FloatArray:
    """Return the t whose Student's test agrees with the interval: the inverse of `reach`.

    The interval of `reach` excludes 0 if and only if the absolute value of the result is greater
    than the critical value, so that p values of Student's distribution agree with intervals.
    Infinite t, of differences without spread, stay as they are, and so does NaN.
    """
    # With γ/√n = a and 0 on the side of the longer tail: |t| = c + a (2c² + 1)/6, solved for c.
    a = np.where(t < 0, np.maximum(skew, 0.0), np.maximum(-skew, 0.0)) / np.sqrt(n)
    rest = np.maximum(np.abs(np.where(np.isinf(t), 0.0, t)) - a / 6, 0.0)
    adjusted = np.copysign(2 * rest / (1 + np.sqrt(1 + 4 * a * rest / 3)), t)
    return np.where(np.isinf(t), t, adjusted)


def bank(name: str, banks: Path, models: int, jobs: int, measure: str) -> np.ndarray:
    """Return the scores of a population, models x sizes x learners; drawn once and kept."""
    learners, sizes = (MORE_LEARNERS, MORE_SIZES) if name in LARGE else (LEARNERS, SIZES)
    content = {
        "name": name,
        "seed": SEED,
        "models": models // 2 if name in LARGE else models,
        "data": {"train_sizes": sizes, "test_size": "exact"},
        "measures": {"primary": MEASURES[0], "also": MEASURES[1:]},
        "learners": learners,
        **(DEVELOPMENT | VALIDATION)[name],
    }
    study = simstudy.make_study(content)
    results = simstudy.run_study(study, banks / name, jobs=jobs, report=False)
    scores = results.scores.pivot_table(
        index="model", columns=["size", "learner"], values=measure, sort=False
    )
    order = list(itertools.product(sizes, [learner["label"] for learner in learners]))
    return scores[order].to_numpy().reshape(-1, len(sizes), len(learners))


def synthetic(name: str, models: int) -> np.ndarray:
    """Return cells that share a component with each subject, and with each of its learners."""
    rng = np.random.default_rng(SEED)
    draw = {"normal": rng.standard_normal, "exponential": rng.exponential}[name]
    learners = np.linspace(0.2, 1, len(LEARNERS))
    shared = draw(size=(models, 1, 1)) + draw(size=(models, 1, len(LEARNERS))) * learners
    return shared + 0.3 * draw(size=(models, len(SIZES), len(LEARNERS)))


def families(cells: np.ndarray) -> dict[str, tuple[np.ndarray, int]]:
    """Return cells and pairs, centred, of each kind, with the number that an interval is for."""
    models, _, learners = cells.shape
    first, second = np.triu_indices(learners, 1)
    centred = cells - cells.mean(axis=0)
    pairs = (centred[:, :, first] - centred[:, :, second]).reshape(models, -1)
    pairs[:, equal(cells)] = 0
    means = centred.reshape(models, -1)
    return {
        "single": (means, 1),
        "cells": (means, means.shape[1]),
        "pairs": (pairs, len(first)),
        "page": (pairs, pairs.shape[1]),
    }


def equal(cells: np.ndarray) -> np.ndarray:
    """Return which pairs at which size have equal scores in more than half of the models."""
    first, second = np.triu_indices(cells.shape[2], 1)
    same = np.abs(cells[:, :, first] - cells[:, :, second]) < 1e-12
    return same.mean(axis=0).ravel() > 0.5


def coverage(inside: np.ndarray, together: int) -> np.ndarray:
    """Return how often ``together`` neighbouring columns of studies x columns are all inside."""
    blocks = inside.reshape(len(inside), -1, together)
    return blocks.all(axis=2).mean(axis=0)


def quantile(m: int, n: int) -> float:
    return float(critical_t(CONFIDENCE, m, np.array(n - 1)))


def moments(values: np.ndarray, drawn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return T and the skewness of studies x columns; the true mean is 0.

    Without spread T is infinite, or 0 if the mean is 0 too, and the skewness is 0.
    """
    studies, n = drawn.shape
    counts = np.zeros((studies, len(values)))
    np.add.at(counts, (np.arange(studies)[:, None], drawn), 1)
    scale = values.std(axis=0) + (values.std(axis=0) == 0)
    sums, squares, cubes = (counts @ (values / scale) ** power for power in (1, 2, 3))
    mean = sums / n
    central = squares / n - mean**2
    skew = cubes / n - 3 * mean * squares / n + 2 * mean**3
    spread = central > 1e-12
    root = np.sqrt(np.where(spread, central, 1))
    flat = np.where(np.abs(mean) > 1e-9, np.inf, 0)
    t = np.where(spread, mean / root * np.sqrt(n - 1), flat)
    return t, np.where(spread, skew / root**3, 0)


def intervals(crit: float, skew: np.ndarray, n: int) -> Iterator[tuple[str, Any, Any]]:
    """Yield each interval's reach below and above the mean, in standard errors."""
    yield "t", np.full(skew.shape, crit), np.full(skew.shape, crit)
    shift = skew / (6 * np.sqrt(n))
    yield "Johnson", crit - shift, crit + shift
    a = np.where(np.abs(skew) < 1e-6, 1e-6, skew) / (3 * np.sqrt(n))
    low, high = ((np.cbrt(1 + 3 * a * (c - shift)) - 1) / a for c in (-crit, crit))
    yield "Hall", high, -low
    yield "guarded", np.maximum(high, crit), np.maximum(-low, crit)
    yield "skewness", *reach(crit, skew, n)


def closed_form(cells: np.ndarray, drawn: np.ndarray) -> dict[tuple[str, str], np.ndarray]:
    """Return mean and least coverage, and relative width, of each interval and kind."""
    n, figures = drawn.shape[1], {}
    kinds = families(cells)
    statistics = {kind: moments(kinds[kind][0], drawn) for kind in ("single", "pairs")}
    for kind, (_, m) in kinds.items():
        t, skew = statistics["single" if kind in ("single", "cells") else "pairs"]
        crit = quantile(m, n)
        for name, below, above in intervals(crit, skew, n):
            covered = coverage((t <= below) & (-above <= t), m)
            width = (below + above).mean() / (2 * crit)
            figures[name, kind] = np.array([covered.mean(), covered.min(), width])
    return figures


class Simulation:
    """Draws of |T| given the deviations of a study, always the same for a number of subjects."""

    def __init__(self, n: int) -> None:
        rng = np.random.default_rng(SEED)
        self.n = n
        self.normal = rng.standard_normal((POOL, n - 1), dtype=np.float32)
        self.root = np.sqrt(rng.chisquare(n - 1, (POOL, 1)) / (n - 1)).astype(np.float32)
        subjects = rng.standard_normal((POOL, n - 1, n - 1), dtype=np.float32)
        squares = subjects.swapaxes(1, 2) @ subjects / np.float32(n - 1)
        self.places = np.triu_indices(n - 1)
        twice = np.where(self.places[0] == self.places[1], 1, 2).astype(np.float32)
        self.squares = squares[:, *self.places] * twice
        self.signs = rng.choice(np.array([-1, 1], dtype=np.float32), (POOL, n))
        self.counts = rng.multinomial(n, np.full(n, 1 / n), POOL).astype(np.float32)
        # Orthogonal to the mean: n − 1 coordinates of centred deviations.
        self.basis = np.linalg.qr(np.column_stack([np.ones(n), np.eye(n, n - 1)])).Q[:, 1:]

    def largest(self, unit: np.ndarray, study: int) -> Iterator[tuple[str, np.ndarray]]:
        """Yield draws x columns of |T|, given centred deviations of length 1."""
        n = np.float32(self.n)
        window = slice(study * DRAWS % POOL, study * DRAWS % POOL + DRAWS)
        unit, rotated = unit.astype(np.float32), (self.basis.T @ unit).astype(np.float32)
        means = np.abs(self.normal[window] @ rotated)
        yield "common", means / self.root[window]
        rows, columns = self.places
        variance = self.squares[window] @ (rotated[rows] * rotated[columns])
        yield "normal", means / np.sqrt(np.maximum(variance, 1e-6))
        r = np.abs(self.signs[window] @ unit) / np.sqrt(n)
        yield "flips", r * np.sqrt((n - 1) / np.maximum(1 - r**2, 1e-6))
        sums, squares = self.counts[window] @ unit, self.counts[window] @ unit**2
        rest = np.maximum(squares - sums**2 / n, 1e-6)
        yield "bootstrap", np.abs(sums) * np.sqrt((n - 1) / n / rest)


def simulated(cells: np.ndarray, drawn: np.ndarray) -> dict[tuple[str, str], np.ndarray]:
    """Return what `closed_form` does, of intervals with simulated critical values."""
    n, simulation, kinds = drawn.shape[1], Simulation(drawn.shape[1]), families(cells)
    rows: dict[tuple[str, str], list[np.ndarray]] = {}
    for study, kind in itertools.product(range(len(drawn)), ("cells", "page")):
        values, every = kinds[kind]
        sample = values[drawn[study]]
        deviations = sample - sample.mean(axis=0)
        length = np.sqrt((deviations**2).sum(axis=0))
        spread = length > 1e-9 * length.max()
        t, skew = moments(values, drawn[study : study + 1])
        adjusted = student_t(t, skew, n)
        blocks = {kind: every} | ({"pairs": kinds["pairs"][1]} if kind == "page" else {})
        for name, draws in simulation.largest(deviations[:, spread] / length[spread], study):
            full = np.zeros((DRAWS, every), dtype=np.float32)
            full[:, spread] = draws
            for block, m in blocks.items():
                crit = np.quantile(full.reshape(DRAWS, -1, m).max(axis=2), CONFIDENCE, axis=0)
                crit = np.maximum(crit, quantile(1, n))
                tests = {name: (t, np.zeros(every))}
                if name == "normal":
                    tests["skewness × normal"] = adjusted, skew
                for label, (statistic, extended) in tests.items():
                    inside = np.abs(statistic.reshape(-1, m)).max(axis=1) <= crit
                    width = np.mean(reach(np.repeat(crit, m), extended, n)) / quantile(m, n)
                    rows.setdefault((label, block), []).append(np.append(inside, width))
    means = {key: np.mean(row, axis=0) for key, row in rows.items()}
    return {key: np.array([m[:-1].mean(), m[:-1].min(), m[-1]]) for key, m in means.items()}


def show(console: Console, title: str, cells: np.ndarray, studies: int, resampled: int) -> None:
    """Print the table of a population."""
    sizes, learners = cells.shape[1:]
    tests = sizes * learners * (learners - 1) // 2
    title = f"{title}: {tests} tests on a page, {equal(cells).sum()} of them left out"
    table = Table(title=title, title_justify="left")
    for head in ("models", "interval", *KINDS):
        table.add_column(head, justify="right" if head == "models" else "left")
    for n in DRAWN:
        drawn = draw(len(cells), studies, n)
        figures = closed_form(cells, drawn)
        if resampled:
            figures |= simulated(cells, drawn[:resampled])
        for name in dict.fromkeys(name for name, _ in figures):
            texts = [text(figures.get((name, kind))) for kind in KINDS]
            table.add_row(str(n), name, *texts)
        table.add_section()
    console.print(table)


def text(figures: np.ndarray | None) -> str:
    """Return mean coverage, the least if it differs, and the relative width."""
    if figures is None:
        return ""
    mean, least, width = figures
    worst = "" if least == mean else f", {least:.3f}"
    return f"{mean:.3f}{worst} ({width:.2f})"


def draw(models: int, studies: int, n: int) -> np.ndarray:
    return np.random.default_rng([SEED, n]).integers(models, size=(studies, n))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("banks", type=Path, help="directory of the scores")
    parser.add_argument("--models", type=int, default=800, help="of a bank")
    parser.add_argument("--studies", type=int, default=4000)
    parser.add_argument("--simulated", type=int, default=500, help="studies for simulated values")
    parser.add_argument("--populations", nargs="+", default=[*SYNTHETIC, *DEVELOPMENT, *VALIDATION])
    parser.add_argument("--measure", choices=MEASURES, default=MEASURES[0])
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    console = Console(width=120)
    least: dict[tuple[str, str, int], list[float]] = {}
    for name in options.populations:
        cells = (
            synthetic(name, options.models)
            if name in SYNTHETIC
            else bank(name, options.banks, options.models, options.jobs, options.measure)
        )
        if name in LARGE:
            show(console, name, cells, options.studies // 4, options.simulated // 5)
            cells = cells[:, [MORE_SIZES.index(size) for size in SIZES], : len(LEARNERS)]
        show(console, name, cells, options.studies, options.simulated)
        for n in ALSO_DRAWN if name in VALIDATION else ():
            figures = closed_form(cells, draw(len(cells), options.studies, n))
            for (interval, kind), (_, worst, _) in figures.items():
                least.setdefault((interval, kind, n), []).append(worst)
    if not least:
        return
    table = Table("models", "interval", *KINDS, title_justify="left")
    table.title = "Least coverage on the populations for validation"
    for n, interval in itertools.product(ALSO_DRAWN, ("t", "skewness")):
        worst = [min(least[interval, kind, n]) for kind in KINDS]
        table.add_row(str(n), interval, *(f"{value:.3f}" for value in worst))
    console.print(table)


if __name__ == "__main__":
    main()
