"""The .632 and .632+ bootstrap (Efron 1983; Efron & Tibshirani 1997).

Values may be losses or gains: the formulas are the same, but that a loss grows towards that
without information and a gain falls.
"""

from dataclasses import dataclass
from itertools import chain
from typing import Literal, get_args

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.splits.schemes import Bootstrap
from simstudy.estimators import bench as base
from simstudy.estimators.bench import Bench, Estimate, Estimator, Judge, Outcome, Splitting
from simstudy.measures.base import Undefined
from simstudy.measures.positive_class import require_one_of

INSIDE, OUTSIDE = 0.368, 0.632  # 1/e, the chance that a row is in no sample, and the rest
Training = Literal["resubstitution", "bag", "distinct"]


def leave_one_out_bootstrap(values: FloatArray, out: FloatArray) -> float:
    """Return the mean, over rows, of the mean value in the samples that leave the row out.

    Parameters
    ----------
    values : array of shape (samples, rows)
        The value of every row after the fit to every sample.
    out : array of bool of shape (samples, rows)
        Whether the sample leaves the row out. Rows that all samples contain do not count.
    """
    times = out.sum(axis=0)
    sums = np.where(out, values, 0.0).sum(axis=0)
    left = times > 0
    return float((sums[left] / times[left]).mean()) if left.any() else float("nan")


def no_information_value(by_class: FloatArray, target: IntArray) -> float:
    """Return the mean value of all answers with all classes: γ for a loss.

    Parameters
    ----------
    by_class : array of shape (rows, classes)
        The value that each row would have with each class.
    target : array of shape (rows,)
        The classes.
    """
    shares = np.bincount(target, minlength=by_class.shape[1]) / len(target)
    return float((by_class * shares).sum(axis=1).mean())


def weighted_632_plus(
    inside: float, outside: float, no_information: float, greater_is_better: bool = False
) -> float:
    """Return the .632+ estimate (Efron & Tibshirani 1997, equations 29 to 32).

    The relative overfitting rate is R = (Err⁽¹⁾ − err)/(γ − err), between 0 and 1, with Err⁽¹⁾ at
    most γ; the estimate is (1 − w) err + w Err⁽¹⁾ with w = .632/(1 − .368 R).
    """
    nearest = max if greater_is_better else min
    bounded = nearest(outside, no_information)
    loss, most = bounded - inside, no_information - inside
    if greater_is_better:
        loss, most = -loss, -most
    rate = loss / most if loss > 0 and most > 0 else 0.0
    weight = OUTSIDE / (1 - INSIDE * rate)
    return (1 - weight) * inside + weight * bounded


@dataclass(frozen=True)
class BootstrapEstimator(Splitting, Estimator):
    """.632 bootstrap: samples with replacement train, the rows that they leave out are tested.

    ``.632 e_out + .368 e_train``, or the .632+ estimate, which relies more on e_out the more the
    learner overfits. The interval has percentiles of the estimates by single samples.

    Parameters
    ----------
    training : {"resubstitution", "bag", "distinct"}
        e_train: the value on all rows of the learner fitted to them (Efron), with e_out a mean over
        rows; or the mean over samples of the value on the rows of the sample, with repetitions
        (Witten, Frank & Hall) or each once, with e_out a mean over samples.
    plus : bool
        Whether to compute the .632+ estimate; with ``training = "resubstitution"`` only.
    repeats : int >= 1, <= 10000
        The number of samples.

    Notes
    -----
    A measure over sets has no value per row: its e_out is a mean over the samples in which it has
    one, and it has no .632+ estimate.

    References
    ----------
    B. Efron & R. Tibshirani (1997). Improvements on cross-validation: the .632+ bootstrap method.
    Journal of the American Statistical Association 92.

    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, section 5.4.
    """

    training: Training = "resubstitution"
    plus: bool = False
    repeats: int = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        require_one_of("training", self.training, get_args(Training))
        if self.plus and self.training != "resubstitution":
            raise ValueError(
                f"plus = True is not allowed with training = {self.training!r}; the .632+ estimate "
                "is defined with the resubstitution error"
            )

    @property
    def scheme(self) -> Bootstrap:
        return Bootstrap(self.repeats)

    def estimate(self, bench: Bench, judge: Judge, confidence: float = 0.95) -> Estimate:
        outcomes = [*chain(*bench.repeats(self.scheme, everywhere=True))]
        bags = [np.bincount(each.train, minlength=len(bench)) for each in bench.splits(self.scheme)]
        whole = bench.whole()
        if not judge.by_row:
            if self.plus:
                return Estimate(Undefined(".632+ needs a measure with a value for every row"))
            estimates = self._of_sets(judge, whole, outcomes, bags)
            return _estimate(base.mean_of(estimates, "sample"), estimates, confidence)
        values, counts = np.stack(judge.rows(outcomes)), np.stack(bags)
        out = counts == 0
        by_sample = (values * out).sum(axis=1) / out.sum(axis=1)
        if self.training != "resubstitution":
            weights = counts if self.training == "bag" else ~out
            trained = (values * weights).sum(axis=1) / weights.sum(axis=1)
            each = OUTSIDE * by_sample + INSIDE * trained
            return _estimate(float(each.mean()), each, confidence)
        (seen,) = judge.rows([whole])
        inside, outside = float(seen.mean()), leave_one_out_bootstrap(values, out)
        if not self.plus:
            each = OUTSIDE * by_sample + INSIDE * inside
            return _estimate(OUTSIDE * outside + INSIDE * inside, each, confidence)
        gamma = no_information_value(judge.by_class(whole), bench.target)
        better = judge.greater_is_better
        value, *each = (weighted_632_plus(inside, v, gamma, better) for v in (outside, *by_sample))
        return _estimate(value, np.array(each), confidence)

    def _of_sets(
        self, judge: Judge, whole: Outcome, outcomes: list[Outcome], bags: list[IntArray]
    ) -> FloatArray:
        """Return the estimate by each sample, of a measure without values of rows."""
        out = [np.flatnonzero(bag == 0) for bag in bags]
        outside = np.array(list(map(judge.value, outcomes, out)))
        if self.training == "resubstitution":
            return OUTSIDE * outside + INSIDE * judge.value(whole)
        times = bags if self.training == "bag" else [bag > 0 for bag in bags]
        seen = [np.repeat(np.arange(len(bag)), bag) for bag in times]
        return OUTSIDE * outside + INSIDE * np.array(list(map(judge.value, outcomes, seen)))


def _estimate(value: float, by_sample: FloatArray, confidence: float) -> Estimate:
    """Return a value with percentiles of its values in samples, unless these are too few."""
    finite, tail = by_sample[np.isfinite(by_sample)], (1 - confidence) / 2
    if len(finite) < 2:
        return Estimate(value, chosen="percentile")
    lower, upper = np.quantile(finite, (tail, 1 - tail)).tolist()
    return Estimate(value, {"percentile": (lower, upper)}, "percentile")
