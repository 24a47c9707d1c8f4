"""Checks of claims about learners against results on data sets."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from simstudy.analysis.claims.evidence import NOT_DECIDED, Check, decided
from simstudy.analysis.datasets.per_dataset import Winners
from simstudy.analysis.datasets.two_measures import Correlations, Reversals
from simstudy.analysis.tests.adjustment import critical_t, is_significant
from simstudy.analysis.tests.outcomes import StatisticOutcome
from simstudy.analysis.tests.wilcoxon import over_pairs, sign_test, wilcoxon
from simstudy.study.claims import DataClaim

ALPHA = 0.05  # of tests over data sets
NAIVE = "naive_t"
MAX_CORRELATION = 0.999  # nearer to ±1 counts as this: Fisher's z of 1 is infinite


@runtime_checkable
class HasDatasets(Protocol):
    """The methods of results on data sets that checks of claims use."""

    def dataset_table(self, measure: str | None = None) -> pd.DataFrame:
        """Mean scores, data sets × learners, greater is better."""

    def winners(
        self, measure: str | None = None, test: str | None = None, *, adjustment: str = "holm"
    ) -> Winners:
        """Who is significantly better than whom on every data set."""

    def reversals(self, first: str, second: str, *, examples: bool = True) -> Reversals:
        """Data sets on which two measures name different winners."""

    def correlations(self, first: str, second: str) -> Correlations:
        """Correlation of two measures over splits."""


@dataclass(frozen=True)
class DataCheck(Check):
    """One of the findings that a claim about data sets is checked against.

    The estimate is the mean difference in favour of the first, or the mean correlation, by Fisher's
    z; n is the number of data sets or splits.

    Attributes
    ----------
    test, measure : str
        The names of the test and the measure.
    wins, draws, losses : int
        Data sets on which the first is significantly better than the second, neither is, or it is
        worse, each by itself and not adjusted; -1 if not counted.
    naive : tuple of int
        The same by the naive paired t test, which is too optimistic; empty if not counted.
    named : tuple of str
        The data sets that count for the verdict.
    dataset : str
        The data set; empty if it is about all.
    statistic : float
        Of the test.
    """

    test: str = ""
    measure: str = ""
    wins: int = -1
    draws: int = -1
    losses: int = -1
    naive: tuple[int, ...] = ()
    named: tuple[str, ...] = ()
    dataset: str = ""
    statistic: float = math.nan
    columns: ClassVar[Sequence[str]] = [
        *("first", "second", "dataset", "measure", "estimate", "lower", "upper", "statistic", "p"),
        *("test", "m", "n", "wins", "draws", "losses", "naive", "named", "reason"),
    ]


def check_data_claim(claim: DataClaim, results: HasDatasets) -> list[DataCheck]:
    """Check one claim against the results of a study of data sets.

    Tests within data sets are the study's own (5×2cv t, else corrected resampled t), adjusted
    for the pairs of learners on all data sets where a verdict rests on them.
    """
    return _CHECKS[claim.relation](claim, results, ALPHA)


def _beats(claim: DataClaim, results: HasDatasets, alpha: float) -> list[DataCheck]:
    """Whether learners are ahead, over all data sets or on each of those named."""
    if claim.datasets:
        return _beats_on(claim, results)
    measure, checks = claim.measure or None, []
    table = results.dataset_table(measure).dropna()
    adjusted = over_pairs(table, sign_test if claim.test == "sign" else wilcoxon)
    tests = {frozenset((pair.first, pair.second)): pair for pair in adjusted.pairs}
    plain, naive = (results.winners(measure, test, adjustment="none") for test in (None, NAIVE))
    for first, second in product(claim.learners, claim.against):
        pair = tests[frozenset((first, second))]
        verdict = decided(pair.winner(alpha) == first, pair.winner(alpha) == second)
        facts = _tested(pair.outcome, plain.measure) | {"p": float(pair.p_adjusted)}
        facts |= {"estimate": float((table[first] - table[second]).mean()), "m": adjusted.m}
        facts |= _win_draw_loss(plain, first, second)
        optimistic = (*_win_draw_loss(naive, first, second).values(),)
        checks.append(DataCheck(verdict, first, second, n=len(table), naive=optimistic, **facts))
    return checks


def _beats_on(claim: DataClaim, results: HasDatasets) -> list[DataCheck]:
    """Whether learners are significantly better on each data set named."""
    winners, checks = results.winners(claim.measure or None), []
    for dataset, first, second in product(claim.datasets, claim.learners, claim.against):
        pairs = winners.between(first, second)
        (row,) = pairs[pairs["dataset"] == dataset].to_dict("records")
        sign = 1 if row["first"] == first else -1
        verdict = decided(row["winner"] == first, row["winner"] == second)
        facts = {key: row[key] for key in ("n", "m", "reason", "test")}
        facts |= {"estimate": sign * row["difference"], "p": row["p_adjusted"]}
        facts |= {"statistic": sign * row["statistic"], "measure": winners.measure}
        checks.append(DataCheck(verdict, first, second, dataset=dataset, **facts))
    return checks


def _never(claim: DataClaim, results: HasDatasets, alpha: float) -> list[DataCheck]:
    """Whether learners win nowhere but on the data sets excepted.

    Reproduced if there is no win even before adjustment; a win after adjustment contradicts.
    """
    plain, adjusted = _winners(claim, results)
    sets, checks = [name for name in plain.datasets if name not in claim.datasets], []
    for first, second in product(claim.learners, claim.against):
        wins = [name for name in sets if second in plain.losers(name, first)]
        sure = [name for name in wins if second in adjusted.losers(name, first)]
        why = f"after adjustment {len(sure)}" if wins else ""
        facts = _facts(adjusted, len(sets), wins) | _win_draw_loss(plain, first, second)
        facts |= {"reason": why}
        checks.append(DataCheck(decided(not wins, bool(sure)), first, second, **facts))
    return checks


def _wherever(claim: DataClaim, results: HasDatasets, alpha: float) -> list[DataCheck]:
    """Whether learners are ahead wherever another one significantly is."""
    plain, adjusted = _winners(claim, results)
    table, checks = results.dataset_table(claim.measure or None), []
    for second, first in product(claim.against, claim.learners):
        where = [name for name in plain.datasets if second in plain.losers(name, claim.rival)]
        behind = [name for name in where if not table[first][name] > table[second][name]]
        sure = any(first in adjusted.losers(name, second) for name in behind)
        won = sum(second in plain.losers(name, first) for name in where)
        draws, text = len(where) - len(behind) - won, f"where {claim.rival} beats {second}"
        facts = _facts(adjusted, len(where), behind)
        facts |= {"wins": won, "draws": draws, "losses": len(behind)}
        facts |= {"reason": f"{text} ({len(where)} data sets)"}
        verdict = decided(bool(where) and not behind, sure)
        checks.append(DataCheck(verdict, first, second, **facts))
    return checks


def _wins_more(claim: DataClaim, results: HasDatasets, alpha: float) -> list[DataCheck]:
    """Whether learners win more pairs than they lose: counted by pairs, tested over data sets."""
    winners, checks = results.winners(claim.measure or None, adjustment="none"), []
    pairs = len(winners.datasets) * (len(winners.learners) - 1)
    for learner in claim.learners:
        won, lost = winners.won_and_lost(learner)
        counts = [[each.count(name) for each in (won, lost)] for name in winners.datasets]
        outcome = sign_test(np.array(counts, dtype=np.float64))
        significant = is_significant(float(outcome.p), alpha)
        verdict = decided(significant and outcome.lead > 0, significant)
        facts = _tested(outcome, winners.measure) | {"n": len(winners.datasets), "m": 1}
        facts |= {"test": f"{outcome.test} over data sets", "wins": len(won), "losses": len(lost)}
        facts |= {"draws": pairs - len(won) - len(lost)}
        checks.append(DataCheck(verdict, learner, **facts))
    return checks


def _other_winners(claim: DataClaim, results: HasDatasets, alpha: float) -> list[DataCheck]:
    """Whether two measures name different winners on some data set.

    Reproduced if on some data set each measure significantly prefers its own winner; learners of
    the best mean that differ are not enough.
    """
    names = claim.measure, claim.other_measure
    reversals = results.reversals(*names, examples=False)
    first, second = map(results.winners, names)
    sure = [name for name in first.datasets if _opposed(first, second, name)]
    partly = any(each.significant_first or each.significant_second for each in reversals.cases)
    part = " (by one of them significantly on some)" if partly and not sure else ""
    differ = f"the best means differ on {len(reversals.cases)} of {reversals.datasets} data sets"
    facts = _facts(first, reversals.datasets, sure) | {"reason": differ + part}
    return [DataCheck(decided(bool(sure), not reversals.cases), *names, **facts)]


def _opposed(first: Winners, second: Winners, dataset: str) -> bool:
    """Whether two learners are significantly in opposite orders by two measures."""
    return any(
        winner in second.losers(dataset, loser)
        for winner in first.learners
        for loser in first.losers(dataset, winner)
    )


def _correlation(claim: DataClaim, results: HasDatasets, alpha: float) -> list[DataCheck]:
    """Whether the mean correlation of two measures lies above or below a value.

    The mean of Fisher's z over learners on each data set, with a t interval over data sets;
    estimate and limits are transformed back.
    """
    names = claim.measure, claim.other_measure
    table = results.correlations(*names).table
    table = table[claim.learners] if claim.learners else table
    transformed = np.arctanh(table.clip(-MAX_CORRELATION, MAX_CORRELATION))
    means = transformed.mean(axis=1).dropna().to_numpy(np.float64)
    n = len(means)
    if n < 2:
        why = "fewer than 2 data sets with a correlation"
        return [DataCheck(NOT_DECIDED, *names, n=n, reason=why)]
    half = critical_t(1 - alpha, 1, np.array(n - 1)) * means.std(ddof=1) / math.sqrt(n)
    mean, lower, upper = (float(np.tanh(means.mean() + side * half)) for side in (0, -1, 1))
    sides = lower > claim.value, upper < claim.value
    verdict = decided(*(sides if claim.relation == "correlation above" else sides[::-1]))
    values = table.to_numpy(np.float64)
    why = f"{int((values > 0).sum())} of {int(np.isfinite(values).sum())} positive, "
    why += f"{int((values < 0).sum())} negative; "
    why += f"arithmetic mean {table.mean(axis=1).mean():.2f}"
    facts = (why, "t interval of Fisher's z over data sets", claim.measure)
    return [DataCheck(verdict, *names, mean, lower, upper, n, 1, math.nan, *facts)]


def _winners(claim: DataClaim, results: HasDatasets) -> tuple[Winners, Winners]:
    """Return who is significantly better on every data set, not adjusted and adjusted."""
    measure = claim.measure or None
    return results.winners(measure, adjustment="none"), results.winners(measure)


def _facts(winners: Winners, n: int, named: list[str]) -> dict[str, Any]:
    """Return the test that decides on single data sets, and the sets that count."""
    facts = {"measure": winners.measure, "test": str(winners.pairs["test"].iloc[0])}
    return facts | {"m": winners.m, "n": n, "named": (*named,)}


def _tested(outcome: StatisticOutcome, measure: str) -> dict[str, Any]:
    """Return the fields of a check that a test over data sets has."""
    facts = {"reason": outcome.reason, "test": outcome.test, "measure": measure}
    return facts | {"statistic": float(outcome.statistic), "p": float(outcome.p)}


def _win_draw_loss(winners: Winners, first: str, second: str) -> dict[str, int]:
    """Return on how many data sets the first is significantly better, neither is, the second is."""
    won = winners.between(first, second)["winner"]
    wins, losses = int((won == first).sum()), int((won == second).sum())
    return {"wins": wins, "draws": len(won) - wins - losses, "losses": losses}


_CHECKS: dict[str, Callable[[DataClaim, HasDatasets, float], list[DataCheck]]] = {
    "beats": _beats,
    "never beats": _never,
    "beats wherever": _wherever,
    "wins more than it loses": _wins_more,
    "other winners": _other_winners,
    "correlation above": _correlation,
    "correlation below": _correlation,
}
