"""Whether results on data sets bear out claims about learners."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from simstudy.analysis.adjusted import over_pairs
from simstudy.analysis.adjustment import alpha_of, critical_t, is_significant
from simstudy.analysis.outcomes import StatisticOutcome
from simstudy.analysis.signed import sign_test, wilcoxon
from simstudy.analysis.verdicts import NOT_DECIDED, NOT_REPRODUCED, REPRODUCED, Check
from simstudy.study.claims import DataClaim

if TYPE_CHECKING:
    from simstudy.analysis.correlations import Correlations
    from simstudy.analysis.reversals import Reversals
    from simstudy.analysis.winners import Winners

NAIVE = "naive_t"
MAX_CORRELATION = 0.999  # nearer to ±1 counts as this: Fisher's z of 1 is infinite


@runtime_checkable
class HasDatasets(Protocol):
    """Results of a study of data sets, as far as claims are concerned."""

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
    """One of the findings that a claim about data sets is held against.

    Attributes
    ----------
    verdict : str
        Whether the claim holds here.
    first, second : str
        The learners, or measures.
    dataset : str
        The data set; empty if it is about all.
    measure : str
        The measure.
    estimate, lower, upper : float
        The mean difference in favour of the first, or the mean correlation, by Fisher's z, with
        its interval.
    statistic, p : float
        Of the test; p adjusted.
    test : str
        Its name.
    m, n : int
        The number of tests that p is adjusted for, and of data sets or splits.
    wins, draws, losses : int
        Data sets on which the first is significantly better than the second, neither is, or it is
        worse, each by itself and not adjusted; -1 if not counted.
    naive : tuple of int
        The same by the naive paired t test, which is too optimistic; empty if not counted.
    named : tuple of str
        The data sets that count for the verdict.
    reason : str
        What else decides, or why there are no numbers.
    """

    verdict: str
    first: str
    second: str = ""
    dataset: str = ""
    measure: str = ""
    estimate: float = math.nan
    lower: float = math.nan
    upper: float = math.nan
    statistic: float = math.nan
    p: float = math.nan
    test: str = ""
    m: int = 0
    n: int = 0
    wins: int = -1
    draws: int = -1
    losses: int = -1
    naive: tuple[int, ...] = ()
    named: tuple[str, ...] = field(default=())
    reason: str = ""


def check_data_claim(
    claim: DataClaim, results: HasDatasets, confidence: float = 0.95
) -> list[DataCheck]:
    """Hold one claim against the results of a study of data sets.

    Tests within data sets are the study's own (5×2cv t, else corrected resampled t), adjusted
    for the pairs of learners on all data sets where a verdict rests on them.
    """
    return _CHECKS[claim.relation](claim, results, alpha_of(confidence))


def win_draw_loss(found: Winners, first: str, second: str) -> tuple[int, int, int]:
    """Return on how many data sets the first is significantly better, neither is, the second is."""
    pairs = found.pairs
    own = pairs[pairs["first"].isin([first, second]) & pairs["second"].isin([first, second])]
    wins, losses = int((own["winner"] == first).sum()), int((own["winner"] == second).sum())
    return wins, len(own) - wins - losses, losses


def _beats(claim: DataClaim, results: HasDatasets, alpha: float) -> list[DataCheck]:
    """Whether learners are ahead, over all data sets or on each of those named."""
    if claim.datasets:
        return _beats_on(claim, results)
    table = results.dataset_table(claim.measure or None).dropna()
    test: Callable[..., StatisticOutcome] = sign_test if claim.test == "sign" else wilcoxon
    adjusted = over_pairs(table, test)
    plain = results.winners(claim.measure or None, adjustment="none")
    naive = results.winners(claim.measure or None, NAIVE, adjustment="none")
    checks = []
    for first, second in _pairs(claim):
        (pair,) = (one for one in adjusted.pairs if {one.first, one.second} == {first, second})
        differences = table[first] - table[second]
        by_winner: dict[Hashable, str] = {first: REPRODUCED, second: NOT_REPRODUCED}
        verdict = by_winner.get(pair.winner(alpha), NOT_DECIDED)
        counts = win_draw_loss(plain, first, second)
        checks.append(
            DataCheck(
                verdict,
                first,
                second,
                measure=plain.measure,
                estimate=float(differences.mean()),
                statistic=float(pair.outcome.statistic),
                p=float(pair.p_adjusted),
                test=pair.outcome.test,
                m=adjusted.m,
                n=len(table),
                wins=counts[0],
                draws=counts[1],
                losses=counts[2],
                naive=win_draw_loss(naive, first, second),
                reason=pair.outcome.reason,
            )
        )
    return checks


def _beats_on(claim: DataClaim, results: HasDatasets) -> list[DataCheck]:
    """Whether learners are significantly better on each data set named."""
    found = results.winners(claim.measure or None)
    checks = []
    for dataset in claim.datasets:
        for first, second in _pairs(claim):
            row = _pair(found, dataset, first, second)
            verdict = REPRODUCED if row["winner"] == first else NOT_DECIDED
            verdict = NOT_REPRODUCED if row["winner"] == second else verdict
            checks.append(_within(found, row, verdict, first, second))
    return checks


def _never(claim: DataClaim, results: HasDatasets, alpha: float) -> list[DataCheck]:
    """Whether learners win nowhere but on the data sets excepted.

    Reproduced if there is no win even before adjustment; a win after adjustment contradicts.
    """
    measure = claim.measure or None
    plain, adjusted = results.winners(measure, adjustment="none"), results.winners(measure)
    checks = []
    for first, second in _pairs(claim):
        sets = [one for one in plain.datasets if one not in claim.datasets]
        wins = [one for one in sets if second in plain.losers(one, first)]
        sure = [one for one in wins if second in adjusted.losers(one, first)]
        verdict = NOT_REPRODUCED if sure else NOT_DECIDED if wins else REPRODUCED
        counts = win_draw_loss(plain, first, second)
        why = f"after adjustment {len(sure)}" if wins else ""
        checks.append(
            DataCheck(
                verdict,
                first,
                second,
                measure=plain.measure,
                test=str(plain.pairs["test"].iloc[0]),
                m=adjusted.m,
                n=len(sets),
                wins=counts[0],
                draws=counts[1],
                losses=counts[2],
                named=tuple(wins),
                reason=why,
            )
        )
    return checks


def _wherever(claim: DataClaim, results: HasDatasets, alpha: float) -> list[DataCheck]:
    """Whether learners are ahead wherever another one significantly is."""
    measure = claim.measure or None
    plain, adjusted = results.winners(measure, adjustment="none"), results.winners(measure)
    table, checks = results.dataset_table(measure), []
    for second in claim.against:
        where = [one for one in plain.datasets if second in plain.losers(one, claim.rival)]
        for first in claim.learners:
            behind = [one for one in where if not table[first][one] > table[second][one]]
            sure = [one for one in behind if first in adjusted.losers(one, second)]
            verdict = NOT_REPRODUCED if sure else NOT_DECIDED if behind or not where else REPRODUCED
            won = sum(second in plain.losers(one, first) for one in where)
            text = f"where {claim.rival} beats {second} ({len(where)} data sets)"
            checks.append(
                DataCheck(
                    verdict,
                    first,
                    second,
                    measure=plain.measure,
                    test=str(plain.pairs["test"].iloc[0]),
                    m=adjusted.m,
                    n=len(where),
                    wins=won,
                    draws=len(where) - len(behind) - won,
                    losses=len(behind),
                    named=tuple(behind),
                    reason=text,
                )
            )
    return checks


def _wins_more(claim: DataClaim, results: HasDatasets, alpha: float) -> list[DataCheck]:
    """Whether learners win more pairs than they lose: counted by pairs, tested over data sets."""
    found, checks = results.winners(claim.measure or None, adjustment="none"), []
    for learner in claim.learners:
        wins, losses = [], []
        for dataset in found.datasets:
            wins.append(len(found.losers(dataset, learner)))
            losses.append(sum(learner in found.losers(dataset, one) for one in found.learners))
        net = np.array([wins, losses], dtype=np.float64).T
        outcome = sign_test(net)
        p = float(outcome.p)
        total = (int(sum(wins)), int(sum(losses)))
        leans = REPRODUCED if outcome.lead > 0 else NOT_REPRODUCED
        decided = leans if is_significant(p, alpha) else NOT_DECIDED
        pairs = len(found.datasets) * (len(found.learners) - 1)
        checks.append(
            DataCheck(
                decided,
                learner,
                "",
                measure=found.measure,
                statistic=float(outcome.statistic),
                p=p,
                test=f"{outcome.test} over data sets",
                m=1,
                n=len(found.datasets),
                wins=total[0],
                draws=pairs - sum(total),
                losses=total[1],
                reason=outcome.reason,
            )
        )
    return checks


def _other_winners(claim: DataClaim, results: HasDatasets, alpha: float) -> list[DataCheck]:
    """Whether two measures name different winners on some data set.

    Reproduced if on some data set each measure significantly prefers its own winner; learners of
    the best mean that differ are not enough.
    """
    found = results.reversals(claim.measure, claim.other_measure, examples=False)
    one, other = (results.winners(name) for name in (claim.measure, claim.other_measure))
    sure = [d for d in one.datasets if _opposed(one, other, d)]
    verdict = REPRODUCED if sure else NOT_DECIDED if found.found else NOT_REPRODUCED
    some = any(each.significant_first or each.significant_second for each in found.found)
    part = " (by one of them significantly on some)" if some and not sure else ""
    why = f"the best means differ on {len(found.found)} of {found.datasets} data sets{part}"
    return [
        DataCheck(
            verdict,
            claim.measure,
            claim.other_measure,
            measure=claim.measure,
            test=str(one.pairs["test"].iloc[0]),
            m=one.m,
            n=found.datasets,
            named=tuple(sure),
            reason=why,
        )
    ]


def _opposed(one: Winners, other: Winners, dataset: str) -> bool:
    """Whether two learners are significantly in opposite orders by two measures."""
    return any(
        loser in one.losers(dataset, winner) and winner in other.losers(dataset, loser)
        for winner in one.learners
        for loser in one.learners
    )


def _correlation(claim: DataClaim, results: HasDatasets, alpha: float) -> list[DataCheck]:
    """Whether the mean correlation of two measures lies above or below a value.

    The mean of Fisher's z over learners on each data set, with a t interval over data sets;
    estimate and limits are transformed back.
    """
    found = results.correlations(claim.measure, claim.other_measure)
    table = found.table[claim.learners] if claim.learners else found.table
    transformed = np.arctanh(table.clip(-MAX_CORRELATION, MAX_CORRELATION))
    means = transformed.mean(axis=1).dropna().to_numpy(np.float64)
    first, second, n = claim.measure, claim.other_measure, len(means)
    if n < 2:
        why = "fewer than 2 data sets with a correlation"
        return [DataCheck(NOT_DECIDED, first, second, n=n, reason=why)]
    half = critical_t(1 - alpha, 1, np.array(n - 1)) * means.std(ddof=1) / math.sqrt(n)
    mean, lower, upper = (float(np.tanh(means.mean() + side * half)) for side in (0, -1, 1))
    above = claim.relation == "correlation above"
    holds = lower > claim.value if above else upper < claim.value
    fails = upper < claim.value if above else lower > claim.value
    verdict = REPRODUCED if holds else NOT_REPRODUCED if fails else NOT_DECIDED
    known = table.to_numpy(np.float64)
    signs = int((known > 0).sum()), int((known < 0).sum())
    why = f"{signs[0]} of {int(np.isfinite(known).sum())} positive, {signs[1]} negative; "
    why += f"arithmetic mean {table.mean(axis=1).mean():.2f}"
    t = "t interval of Fisher's z over data sets"
    return [
        DataCheck(
            verdict, first, second, "", first, mean, lower, upper, test=t, m=1, n=n, reason=why
        )
    ]


def _pairs(claim: DataClaim) -> list[tuple[str, str]]:
    return [(first, second) for first in claim.learners for second in claim.against]


def _pair(found: Winners, dataset: str, first: str, second: str) -> dict[str, Any]:
    """Return the test of two learners on a data set."""
    pairs = found.pairs
    names = [first, second]
    own = pairs[
        (pairs["dataset"] == dataset) & pairs["first"].isin(names) & pairs["second"].isin(names)
    ]
    (row,) = own.to_dict("records")
    return {str(key): value for key, value in row.items()}


def _within(
    found: Winners, row: dict[str, Any], verdict: str, first: str, second: str
) -> DataCheck:
    """Return the check of two learners on a data set."""
    sign = 1 if row["first"] == first else -1
    return DataCheck(
        verdict,
        first,
        second,
        row["dataset"],
        found.measure,
        sign * row["difference"],
        statistic=sign * row["statistic"],
        p=row["p_adjusted"],
        test=row["test"],
        m=int(row["m"]),
        n=int(row["n"]),
        reason=row["reason"],
    )


_CHECKS: dict[str, Callable[[DataClaim, HasDatasets, float], list[DataCheck]]] = {
    "beats": _beats,
    "never beats": _never,
    "beats wherever": _wherever,
    "wins more than it loses": _wins_more,
    "other winners": _other_winners,
    "correlation above": _correlation,
    "correlation below": _correlation,
}
