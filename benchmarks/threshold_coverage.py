"""How often the intervals of thresholds hold the true size at which a learner overtakes.

    python benchmarks/threshold_coverage.py [--replicates 4000] [--models 40] [--band t] [--jobs 1]

Every replicate is a study of two learners at 12 sizes from 25 to 20,000. A model's score of a
learner is its limit, less a multiple of a power of n, plus noise. Limits and multiples vary from
model to model and are shared by the sizes, and so is the noise of the test set; the noise of the
training sets is not, and shrinks as 1/√n. Differences at neighbouring sizes have correlations from
0.5 (the smallest sizes) to 0.99 (the largest). The mean over all models is known at any n, and so
is the size at which it changes sign; it is none of the study's, and the true curve is not straight
between these, so the error of interpolation is included.

An interval counts if it holds that size; an open end holds everything beyond. A study without a
crossing in the right direction has no interval and counts as a miss. The band counts if it holds
the true means at all 12 sizes and the straight lines between them. The width is the median of
log10(upper/lower) over the studies whose interval is closed.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from rich.console import Console
from rich.table import Table
from scipy.optimize import brentq

from simstudy.analysis.thresholds import BANDS, thresholds

SIZES = np.array([25, 50, 100, 200, 400, 800, 1500, 2500, 5000, 8000, 12_000, 20_000])
SEED = 20040101


@dataclass(frozen=True)
class Scene:
    """Two learners: the second has the better limit and the slower approach to it."""

    name: str
    advantage: float  # mean difference of the limits
    price: float  # mean multiple of n^−1/2 by which the second lags behind its limit
    skewed: bool = False  # whether the models' multiples are log-normal, not normal

    def expected(self, n: np.ndarray | float) -> np.ndarray | float:
        """Return the mean difference, second − first, over all models."""
        return self.advantage - self.price * np.power(n, -0.5) + 0.2 * np.power(n, -0.8)

    def crossing(self) -> float:
        """Return the true size at which the second learner overtakes the first."""
        return float(brentq(self.expected, SIZES[0], SIZES[-1]))

    def study(self, models: int, rng: np.random.Generator) -> np.ndarray:
        """Draw the scores of a study: learners × models × sizes."""
        n = SIZES.astype(float)
        limit = rng.normal(0.5, 0.15, (models, 1))
        advantage = rng.normal(self.advantage, 0.6 * self.advantage, (models, 1))
        if self.skewed:  # with the mean `price`
            price = self.price * rng.lognormal(-0.32, 0.8, (models, 1))
        else:
            price = rng.normal(self.price, 0.5 * self.price, (models, 1))
        training = rng.normal(0, 0.3, (2, models, len(n))) / np.sqrt(n)
        testing = rng.normal(0, 0.01, (2, models, 1))
        curves = np.array([limit - 0.2 * n**-0.8, limit + advantage - price * n**-0.5])
        return curves + training + testing


SCENES = (
    Scene("early", advantage=0.06, price=0.7),
    Scene("middle", advantage=0.03, price=0.8),
    Scene("late, flat", advantage=0.012, price=0.8),
    Scene("middle, skewed", advantage=0.03, price=0.8, skewed=True),
)
LEARNERS = ("first", "second")


def as_table(scores: np.ndarray) -> pd.DataFrame:
    """Return learners × models × sizes as a long table."""
    levels = [LEARNERS, range(scores.shape[1]), SIZES]
    index = pd.MultiIndex.from_product(levels, names=["learner", "model", "size"])
    return pd.DataFrame({"information_reward": scores.ravel()}, index=index).reset_index()


def held(row: pd.Series, truth: float) -> dict[str, float]:
    """Say of a row of thresholds which intervals hold the truth, and how wide they are."""
    fieller = (row["lower"] <= truth or row["lower_open"]) and (
        row["upper"] >= truth or row["upper_open"]
    )
    is_open = row["lower_open"] or row["upper_open"]
    lower, upper = row["bootstrap_lower"], row["bootstrap_upper"]
    closed = np.isfinite([lower, upper]).all()
    return {
        "fieller": fieller,
        "fieller_width": np.nan if is_open else np.log10(row["upper"] / row["lower"]),
        "bootstrap": lower <= truth <= upper,
        "bootstrap_width": np.log10(upper / lower) if closed else np.nan,
    }


def replicate(
    scene: Scene, models: int, band: str, seed: np.random.SeedSequence
) -> dict[str, float]:
    """Draw a study, analyse it, and compare with the truth."""
    scores = scene.study(models, np.random.default_rng(seed))
    resampling = int(seed.generate_state(1)[0])
    rows = thresholds(as_table(scores), band=band, bootstrap=True, seed=resampling)
    truth = scene.crossing()
    result = {"fieller": False, "bootstrap": False}
    found = rows[rows["crossing"].notna() & (rows["ahead"] == "second")]
    if len(found):
        nearest = np.log(found["crossing"] / truth).abs().idxmin()
        result = held(found.loc[nearest], truth)
    differences = scores[1] - scores[0]
    weights = np.array([np.interp(np.arange(0, 11.01, 0.1), range(12), one) for one in np.eye(12)])
    error = np.abs((differences.mean(axis=0) - scene.expected(SIZES)) @ weights)
    se = (differences @ weights).std(axis=0, ddof=1) / np.sqrt(models)
    largest = (error / se).max()
    row = rows.iloc[0]
    return result | {
        "several": len(found) > 1,
        "none": not len(found),
        "sup": row["sup_t"] >= largest,
    }


def main() -> None:
    """Print a row per scene."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--replicates", type=int, default=4000)
    parser.add_argument("--models", type=int, default=40)
    parser.add_argument("--band", choices=BANDS, default="t")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    table = Table(title=f"{options.replicates} studies of {options.models} models, 95 % intervals")
    columns = ["scene", "true n", "Fieller", "width", "open", "bootstrap", "width", "open"]
    for column in [*columns, "sup-t band", "no crossing", "several"]:
        table.add_column(column)
    for scene in SCENES:
        seeds = np.random.SeedSequence(SEED).spawn(options.replicates)
        run = Parallel(options.jobs)(
            delayed(replicate)(scene, options.models, options.band, seed) for seed in seeds
        )
        results = pd.DataFrame(run)
        cells = [scene.name, f"{scene.crossing():.0f}"]
        for name in ("fieller", "bootstrap"):
            width = results.loc[~results["none"], f"{name}_width"]
            cells += [f"{results[name].astype(float).mean():.1%}", f"{width.median():.2f}"]
            cells += [f"{width.isna().mean():.1%}"]
        cells += [f"{results[name].mean():.1%}" for name in ("sup", "none", "several")]
        table.add_row(*cells)
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
