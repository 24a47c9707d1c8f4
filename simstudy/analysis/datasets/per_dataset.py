"""Means, tests and winners on each data set of a study, and properties of the data sets."""

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from simstudy.analysis.tests.adjustment import check_option, check_share, is_significant
from simstudy.analysis.tests.outcomes import TIES, StatisticOutcome
from simstudy.analysis.tests.resampled import corrected_t, five_by_two_f, five_by_two_t, naive_t
from simstudy.analysis.tests.wilcoxon import adjusted_p
from simstudy.arrays import FloatArray
from simstudy.errors import SimstudyError

TESTS = ("corrected_t", "five_by_two_t", "five_by_two_f", "naive_t")


def means_table(scores: pd.DataFrame, measure: str, greater_is_better: bool = True) -> pd.DataFrame:
    """Return mean scores over splits, data sets × learners, as tests over data sets need them.

    Parameters
    ----------
    scores, measure
        As in `pairwise_datasets`.
    greater_is_better
        False for losses, whose means get the opposite sign, so that greater is better.

    Returns
    -------
    DataFrame
        A mean is NaN if a split has no finite score.
    """
    finite = scores[measure].where(np.isfinite(scores[measure]))
    groups = finite.groupby([scores["dataset"], scores["learner"]], sort=False)
    means = groups.mean().where(groups.count() == groups.size())
    learners = dict.fromkeys(scores["learner"])
    table = pd.DataFrame({name: means.xs(name, level="learner") for name in learners})
    table = table.loc[list(dict.fromkeys(scores["dataset"]))]
    return table if greater_is_better else -table


def best_of(means: "pd.Series[float]") -> tuple[str, ...]:
    """Return the learners of the greatest mean, several if they are equal but for rounding."""
    most = means.max()
    return tuple(str(name) for name, mean in means.items() if most - mean <= TIES * abs(most))


def pairwise_datasets(
    scores: pd.DataFrame,
    measure: str,
    test: str = "corrected_t",
    adjustment: str = "holm",
    greater_is_better: bool = True,
) -> pd.DataFrame:
    """Test each pair of learners on each data set, over splits that share rows.

    All tests of all data sets are one family: p is adjusted for every pair on every data set.

    Parameters
    ----------
    scores
        One row per split and learner, of one training size: the columns `dataset`, `repeat`,
        `fold`, `size` (training rows), `test_rows`, `learner` and the measure.
    measure
        Its column.
    test
        ``"corrected_t"``; ``"five_by_two_t"`` or ``"five_by_two_f"``, which need 5 repeats of 2
        folds; or ``"naive_t"``, which is too optimistic. See `simstudy.analysis.tests.resampled`.
    adjustment
        Of p over the pairs on all data sets: ``"holm"``, ``"bonferroni"`` or ``"none"``.
    greater_is_better
        False for losses.

    Returns
    -------
    DataFrame
        One row per data set and pair: `dataset`, `first`, `second`, `n` (splits), `difference` (the
        mean, positive if the first is better), `statistic`, `p`, `p_adjusted`, `m` (tests in the
        family), `test` (its name) and `reason`, why there is no p.
    """
    check_option("test", test, TESTS)
    sums = scores.groupby("dataset", sort=False)[["size", "test_rows"]].sum()
    shares = sums["test_rows"] / (sums["test_rows"] + sums["size"])
    pairs = list(combinations(dict.fromkeys(scores["learner"]), 2))
    rows: list[dict[str, object]] = []
    for dataset, values in _by_split(scores, measure).items():
        for first, second in pairs:
            differences = _differences(values[first], values[second])
            differences *= 1 if greater_is_better else -1
            outcome = _outcome(test, differences, float(shares[dataset]))
            row = {"dataset": dataset, "first": first, "second": second, "n": differences.size}
            row |= {"difference": float(differences.mean()), "p": float(outcome.p)}
            row |= {"statistic": float(outcome.statistic), "test": outcome.test}
            rows.append(row | {"reason": outcome.reason})
    p = np.array([row["p"] for row in rows], dtype=np.float64)
    adjusted, m = adjusted_p(p, adjustment)
    columns = ["dataset", "first", "second", "n", "difference", "statistic", "p", "p_adjusted"]
    table = pd.DataFrame(rows, columns=[*columns, "m", "test", "reason"])
    return table.assign(p_adjusted=adjusted, m=m)


def _by_split(scores: pd.DataFrame, measure: str) -> dict[str, dict[str, FloatArray]]:
    """Return the scores of every learner, repeats × folds, by data set."""
    ordered = scores.sort_values(["repeat", "fold"], kind="stable")
    learners = dict.fromkeys(scores["learner"])
    arrays: dict[str, dict[str, FloatArray]] = {}
    for dataset in dict.fromkeys(scores["dataset"]):
        rows = ordered[ordered["dataset"] == dataset]
        shape = rows["repeat"].nunique(), rows["fold"].nunique()
        names, values = rows["learner"].to_numpy(), rows[measure].to_numpy(np.float64)
        if any((names == name).sum() != shape[0] * shape[1] for name in learners):
            raise ValueError(f"{dataset}: every split must have one score of every learner")
        arrays[dataset] = {name: values[names == name].reshape(shape) for name in learners}
    return arrays


def _differences(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return first − second: 0 if it is only rounding, NaN unless both are finite."""
    finite = np.isfinite(first) & np.isfinite(second)
    first, second = np.where(finite, first, np.nan), np.where(finite, second, np.nan)
    rounding = TIES * np.maximum(np.abs(first), np.abs(second))
    return np.where(np.abs(first - second) <= rounding, 0.0, first - second)


def _outcome(test: str, differences: FloatArray, share: float) -> StatisticOutcome:
    """Return the test of the differences of one data set."""
    if test == "corrected_t":
        return corrected_t(differences.ravel(), share)
    if test == "naive_t":
        return naive_t(differences.ravel())
    if differences.shape != (5, 2):
        repeats, folds = differences.shape
        raise SimstudyError(f"{test} needs 5 repeats of 2 folds, not {repeats} of {folds}")
    return five_by_two_t(differences) if test == "five_by_two_t" else five_by_two_f(differences)


SPREAD = 1.96  # standard deviations either side, which hold 95% of a normal distribution


def dataset_means(scores: pd.DataFrame, measure: str, sizes: list[str]) -> pd.DataFrame:
    """Return the mean over splits of a measure, by data set, training size and learner.

    Parameters
    ----------
    scores
        One row per split, size and learner, in that order.
    measure
        Its column.
    sizes
        The training sizes, as text.

    Returns
    -------
    DataFrame
        The data set, `size`, learner, `splits` (with a value), `mean`, `sd`, the standard deviation
        between splits, and `sd_1_96`, 1.96 times that: the ± of Korb, Hope & Hughes (2001, Tables 1
        to 3). Both describe the spread of single splits. Splits share rows, so sd/√splits is no
        standard error of the mean.
    """
    learners = scores["learner"].nunique()
    each = np.tile(np.repeat(sizes, learners), len(scores) // (len(sizes) * learners))
    groups = scores.assign(size=each).groupby(["dataset", "size", "learner"], sort=False)[measure]
    with np.errstate(invalid="ignore"):  # infinite scores
        means = groups.agg(splits="count", mean=lambda v: v.mean(), sd=lambda v: v.std(ddof=1))
    return means.assign(sd_1_96=SPREAD * means["sd"]).reset_index()


def properties(
    dataset: str, splits: Collection[tuple[int, int]], facts: Mapping[str, float]
) -> dict[str, str | float]:
    """Describe a data set.

    Parameters
    ----------
    dataset
        Its name.
    splits
        Training and test rows of every split.
    facts
        The other properties, which results record.

    Returns
    -------
    dict
        `dataset`; `rows`, those with a class; `least_train_rows`, `most_train_rows`,
        `least_test_rows` and `most_test_rows`, of the parts of a split; `attributes`, and how many
        of them are `numeric`; `classes` of the target, with those that no row has; `missing`, the
        share of missing values among all values of attributes.

    References
    ----------
    K. B. Korb, L. R. Hope & M. J. Hughes (2001). The evaluation of predictive learners: some
    theoretical and empirical results. Table 7.
    """
    row: dict[str, str | float] = {"dataset": dataset, "rows": facts["rows"]}
    for part, sizes in zip(("train", "test"), zip(*splits, strict=True), strict=True):
        row |= {f"least_{part}_rows": min(sizes), f"most_{part}_rows": max(sizes)}
    return row | {key: facts[key] for key in ("attributes", "numeric", "classes", "missing")}


FIVE_BY_TWO = (5, 2)  # repeats and folds
OPPOSITE = "the difference that is tested and the mean difference have opposite signs"
NO_DIFFERENCE = "the mean difference is 0"


@dataclass(frozen=True)
class Winners:
    """Who is significantly better than whom by a measure, on every data set.

    Attributes
    ----------
    measure : str
        The measure.
    learners, datasets : tuple of str
        The learners and the data sets, in the order of the scores.
    test, adjustment : str
        The test, and how p is adjusted over the pairs on all data sets.
    alpha : float
        The level of the tests.
    m : int
        The number of tests that p is adjusted for: the pairs on all data sets, or 1 without
        adjustment.
    pairs : DataFrame
        One row per data set and pair: the columns of `within.pairwise_datasets`, with `winner` and
        `loser`, which are empty where nobody wins, and in `reason` why there is no p or, though p
        is small, no winner.
    """

    measure: str
    learners: tuple[str, ...]
    datasets: tuple[str, ...]
    test: str
    adjustment: str
    alpha: float
    m: int
    pairs: pd.DataFrame = field(repr=False, compare=False)

    def losers(self, dataset: str, winner: str) -> tuple[str, ...]:
        """Return the learners that are significantly worse than one on a data set."""
        won = (self.pairs["dataset"] == dataset) & (self.pairs["winner"] == winner)
        losers = set(self.pairs["loser"][won])
        return tuple(name for name in self.learners if name in losers)

    def between(self, first: str, second: str) -> pd.DataFrame:
        """Return the tests of two learners, one row per data set."""
        names = (first, second)
        return self.pairs[self.pairs["first"].isin(names) & self.pairs["second"].isin(names)]

    @property
    def table(self) -> pd.DataFrame:
        """Data sets × winners; a cell names the learners that are significantly worse."""
        cells = {
            winner: [", ".join(self.losers(dataset, winner)) for dataset in self.datasets]
            for winner in self.learners
        }
        return pd.DataFrame(cells, index=pd.Index(self.datasets, name="dataset"))

    @property
    def counts(self) -> pd.DataFrame:
        """By learner: `wins` and `losses` over all pairs and data sets, and their difference.

        `ahead` is the number of data sets on which it wins against a learner and loses to none.
        """
        rows = []
        for name in self.learners:
            won, lost = self.won_and_lost(name)
            rows.append([name, len(won), len(lost), len(won) - len(lost), len({*won} - {*lost})])
        return pd.DataFrame(rows, columns=["learner", "wins", "losses", "difference", "ahead"])

    def won_and_lost(self, learner: str) -> tuple[list[str], list[str]]:
        """Return the data sets of the tests that a learner wins, and of those that it loses."""
        won, lost = (self.pairs["dataset"][self.pairs[c] == learner] for c in ("winner", "loser"))
        return won.tolist(), lost.tolist()


def default_test(scores: pd.DataFrame) -> str:
    """Return ``"five_by_two_t"`` if all data sets have 5 repeats of 2 folds, else corrected t."""
    groups = scores.groupby("dataset", sort=False)
    shapes = zip(groups["repeat"].nunique(), groups["fold"].nunique(), strict=True)
    return "five_by_two_t" if {*shapes} == {FIVE_BY_TWO} else "corrected_t"


def winners(
    scores: pd.DataFrame,
    measure: str,
    test: str | None = None,
    adjustment: str = "holm",
    alpha: float = 0.05,
    greater_is_better: bool = True,
) -> Winners:
    """Find which learners are significantly better than which on each data set.

    A learner wins if p, adjusted, is at most α and its mean is the better one. The 5×2cv t test is
    of the difference in one fold only; where that and the mean difference have opposite signs,
    nobody wins.

    Parameters
    ----------
    scores, measure, adjustment, greater_is_better
        As in `within.pairwise_datasets`.
    test
        As there; if left out, the 5×2cv t test for 5 repeats of 2 folds, and the corrected
        resampled t test for all others.
    alpha
        The level of the tests.

    References
    ----------
    L. R. Hope & K. B. Korb (2004). A Bayesian metric for evaluating machine learning algorithms.
    Tables 1 and 2.
    """
    check_share("alpha", alpha)
    chosen = default_test(scores) if test is None else test
    pairs = pairwise_datasets(scores, measure, chosen, adjustment, greater_is_better)
    verdicts = [_verdict(row, alpha, chosen) for row in pairs.to_dict("records")]
    for place, name in enumerate(("winner", "loser", "reason")):
        pairs[name] = [verdict[place] for verdict in verdicts]
    learners, datasets = (tuple(dict.fromkeys(scores[key])) for key in ("learner", "dataset"))
    m = int(pairs["m"].iloc[0]) if len(pairs) else 0
    return Winners(measure, learners, datasets, chosen, adjustment, alpha, m, pairs)


def _verdict(pair: Mapping[Hashable, Any], alpha: float, test: str) -> tuple[str, str, str]:
    """Return winner, loser and why there is none although there is no p or a small one."""
    if not is_significant(pair["p_adjusted"], alpha):
        return "", "", pair["reason"]
    sign = np.sign(pair["difference"])
    if test == "five_by_two_t" and sign * np.sign(pair["statistic"]) < 0:
        return "", "", OPPOSITE
    if sign == 0:
        return "", "", NO_DIFFERENCE
    names = (pair["first"], pair["second"])
    return (*(names if sign > 0 else names[::-1]), "")
