"""Who is better on data sets and over them, from the scores by scipy alone."""

from __future__ import annotations

import math
import tomllib
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats.multitest import multipletests

from tests.report.agreement.said import Said
from tests.report.agreement.truth import KEYS, LOWER

_DIGITS = 12  # beyond which differences are rounding


def corrected_p(differences: np.ndarray) -> float:
    """Nadeau & Bengio's corrected resampled t test, of repeats × folds of cross-validation."""
    folds, count = differences.shape[1], differences.size
    scale = math.sqrt((1 / count + 1 / (folds - 1)) * differences.var(ddof=1))
    return float(2 * stats.t.sf(abs(differences.mean()) / scale, count - 1)) if scale else math.nan


def five_by_two_p(differences: np.ndarray) -> tuple[float, int]:
    """Dietterich's 5×2cv paired t test, and the sign of the difference that it tests."""
    variances = differences.var(axis=1, ddof=0) * 2  # (d₁ − d̄)² + (d₂ − d̄)²
    scale = math.sqrt(variances.sum() / 5)
    p = float(2 * stats.t.sf(abs(differences[0, 0]) / scale, 5)) if scale else math.nan
    return p, int(np.sign(differences[0, 0]))


def holm(p: dict, adjust: bool = True) -> dict:
    """Adjust p values of a family; a test that cannot be made counts as one."""
    filled = np.nan_to_num([*p.values()], nan=1.0)
    adjusted = multipletests(filled, method="holm")[1] if adjust else filled
    return dict(zip(p, np.where(np.isnan([*p.values()]), np.nan, adjusted).tolist(), strict=True))


@cache
def truth_of(directory: Path, place: int = 0, adjust: bool = True) -> DataTruth:
    """Return the tests of a column, computed once."""
    return DataTruth(directory, place, adjust)


class DataTruth:
    """The tests of one column of the scores of a study of data sets.

    Parameters
    ----------
    directory : Path
        The results.
    place : int
        The place of the column among the measures.
    adjust : bool
        Whether p values are adjusted.
    """

    def __init__(self, directory: Path, place: int = 0, adjust: bool = True) -> None:
        with (directory / "study.toml").open("rb") as file:
            confidence = tomllib.load(file)["analysis"]["confidence"]
        self.alpha, scores = 1 - confidence, pd.read_parquet(directory / "scores.parquet")
        self.column = [name for name in scores.columns if name not in KEYS][place]
        self.sign = sign = -1 if self.column.startswith(LOWER) else 1
        self.learners = [str(name) for name in dict.fromkeys(scores["learner"])]
        self.datasets = [str(name) for name in dict.fromkeys(scores["dataset"])]
        keys = ["dataset", "repeat", "fold"]
        wide = sign * scores.pivot(index=keys, columns="learner", values=self.column)  # noqa: PD010
        self.means = wide.groupby("dataset").mean().loc[self.datasets]
        self._on_sets(wide, adjust)
        self._over_sets(adjust)

    def _on_sets(self, wide: pd.DataFrame, adjust: bool) -> None:
        """Test all pairs on all data sets: one family."""
        p, self.signs = {}, {}
        for dataset in self.datasets:
            rows = wide.loc[dataset]
            shape = (rows.index.get_level_values(0).nunique(), -1)
            for pair in combinations(self.learners, 2):
                difference = (rows[pair[0]] - rows[pair[1]]).to_numpy().round(_DIGITS)
                own = difference.reshape(shape)
                mean = sign = int(np.sign(round(float(difference.mean()), _DIGITS)))
                if own.shape == (5, 2):
                    p[dataset, *pair], sign = five_by_two_p(own)
                else:
                    p[dataset, *pair] = corrected_p(own)
                self.signs[dataset, *pair] = mean if mean == sign else 0
        self.p = holm(p, adjust)

    def _over_sets(self, adjust: bool) -> None:
        """Test all pairs over data sets by Wilcoxon's signed ranks: another family."""
        p, signs, self.rank_signs = {}, {}, {}
        exact = stats.PermutationMethod(n_resamples=np.inf)
        for pair in combinations(self.learners, 2):
            difference = (self.means[pair[0]] - self.means[pair[1]]).to_numpy().round(_DIGITS)
            kept = difference[difference != 0]
            p[pair] = signs[pair] = math.nan
            self.rank_signs[pair] = 0
            if len(self.datasets) > 1 and len(kept):
                p[pair] = float(stats.wilcoxon(kept, method=exact).pvalue)
                ranks = stats.rankdata(abs(kept))
                self.rank_signs[pair] = int(np.sign((ranks * np.sign(kept)).sum().round(6)))
                signs[pair] = float(stats.binomtest(int((kept > 0).sum()), len(kept)).pvalue)
        self.over, self.sign_p = holm(p, adjust), holm(signs, adjust)
        ranks = (-self.means.round(_DIGITS)).rank(axis=1)
        self.ranks = ranks.mean().to_dict()
        k, n = len(self.learners), len(self.datasets)
        quantile = stats.studentized_range.ppf(1 - self.alpha, k, np.inf)
        self.critical = float(quantile / math.sqrt(2) * math.sqrt(k * (k + 1) / (6 * n)))

    def winner_on(self, dataset: str, one: str, other: str) -> str:
        """Return who is significantly better on a data set; empty if nobody is."""
        key = (dataset, one, other) if (dataset, one, other) in self.p else (dataset, other, one)
        if not self.p[key] <= self.alpha or not self.signs[key]:
            return ""
        return key[1] if self.signs[key] > 0 else key[2]

    def winner_over(self, one: str, other: str) -> str:
        """Return who is significantly better over all data sets."""
        key = (one, other) if (one, other) in self.over else (other, one)
        if not self.over[key] <= self.alpha or not self.rank_signs[key]:
            return ""
        return key[0] if self.rank_signs[key] > 0 else key[1]

    def losers_on(self, dataset: str, who: str) -> set[str]:
        """Return the learners that one is significantly better than on a data set."""
        others = [name for name in self.learners if name != who]
        return {name for name in others if self.winner_on(dataset, who, name) == who}

    def beaten(self, who: str) -> set[str]:
        """Return the learners that one is significantly better than over all data sets."""
        others = [name for name in self.learners if name != who]
        return {name for name in others if self.winner_over(who, name) == who}

    def pairs(self) -> list[tuple[str, str]]:
        """Return every two learners."""
        return [*combinations(self.learners, 2)]

    def best_on(self, dataset: str) -> set[str]:
        """Return the learners of best mean on a data set."""
        row = self.means.loc[dataset]
        return {name for name in self.learners if row[name] >= row.max() - 1e-12}

    def counts(self, who: str) -> dict[str, int]:
        """Return on how many data sets a learner has the best mean, is ahead, and so on."""
        won = {at: len(self.losers_on(at, who)) for at in self.datasets}
        others = [name for name in self.learners if name != who]
        lost = {at: sum(who in self.losers_on(at, one) for one in others) for at in self.datasets}
        return {
            "best mean": sum(who in self.best_on(at) for at in self.datasets),
            "ahead": sum(won[at] > 0 and not lost[at] for at in self.datasets),
            "behind": sum(lost[at] > 0 and not won[at] for at in self.datasets),
            "tests won": sum(won.values()),
            "tests lost": sum(lost.values()),
        }

    def dissents(self, test: str) -> dict[bool, set[frozenset[str]]]:
        """Return the pairs that only another test separates (True), or only Wilcoxon's (False)."""
        found: dict[bool, set[frozenset[str]]] = {True: set(), False: set()}
        for pair in self.pairs():
            apart = abs(self.ranks[pair[0]] - self.ranks[pair[1]]) >= self.critical
            separates = apart if test == "Nemenyi" else self.sign_p[pair] <= self.alpha
            if separates != bool(self.winner_over(*pair)):
                found[separates].add(frozenset(pair))
        return found

    def fault(self, said: Said) -> str:
        """Return what is wrong with a statement; empty if it holds."""
        if said.kind == "unread":
            return f"not understood: {said.value}"
        expected = getattr(self, "_" + said.kind.replace(" ", "_"))(said)
        if expected == said.value:
            return ""
        return f"{said.kind} {said.who} {said.whom} {said.size}: {expected}, not {said.value}"

    def _count(self, said: Said) -> int:
        return self.counts(said.who)[said.whom]

    def _shared(self, said: Said) -> int:
        return sum(len(self.best_on(at)) > 1 for at in self.datasets)

    def _sure(self, said: Said) -> int:
        """The data sets on which all of best mean are significantly better than some other."""
        losers = {at: [self.losers_on(at, who) for who in self.best_on(at)] for at in self.datasets}
        return sum(bool(set.intersection(*each)) for each in losers.values())

    def _leaders(self, said: Said) -> set[str]:
        """Who has a count above 0."""
        return {name for name in self.learners if self.counts(name)[said.whom]}

    def _significant(self, said: Said) -> int:
        return sum(self.counts(name)["tests won"] for name in self.learners)

    def _mean(self, said: Said) -> str:
        """Whether a printed mean is the one of a learner on a data set."""
        _, _, decimals = said.value.partition(".")
        mean = self.sign * float(self.means[said.who][said.size])
        near = abs(mean - float(said.value)) <= 0.51 * 10.0 ** -len(decimals)
        return str(said.value) if near else f"{mean}"

    def _order(self, said: Said) -> list[str]:
        """The data sets by their best means."""
        return [*self.means.max(axis=1).sort_values(ascending=False).index]

    def _losers(self, said: Said) -> set[str]:
        return self.losers_on(said.size, said.who)

    def _best_on(self, said: Said) -> set[str]:
        return self.best_on(said.size)

    def _beaten(self, said: Said) -> set[str]:
        return self.beaten(said.who)

    def _worse(self, said: Said) -> set[str]:
        return {name for name in self.learners if said.who in self.beaten(name)}

    def _level(self, said: Said) -> set[str]:
        others = [name for name in self.learners if name != said.who]
        return {name for name in others if not self.winner_over(said.who, name)}

    def _winner(self, said: Said) -> str:
        return self.winner_over(said.who, said.whom)

    def _adjusted(self, said: Said) -> bool:
        """Whether a printed p value is the adjusted one of a pair over data sets."""
        p = self.over[said.who, said.whom]
        return p < 1e-4 if said.size == "< 0.0001" else abs(p - float(said.size)) < 6e-5

    def _separated(self, said: Said) -> set[frozenset[str]]:
        return {frozenset(pair) for pair in self.pairs() if self.winner_over(*pair)}

    def _family(self, said: Said) -> int:
        pairs = len(self.pairs())
        return pairs * len(self.datasets) if "on all" in said.who else pairs

    def _dissents(self, said: Said) -> tuple[set[frozenset[str]], int]:
        """The pairs, of which those that are only counted may be any."""
        if said.who not in ("Nemenyi", "sign test"):
            return said.value
        every, (named, more) = self.dissents(said.who)[said.whom], said.value
        if len(self.learners) < 3 and said.who == "Nemenyi":
            every = set()
        agree = named <= every and len(named) + more == len(every)
        return said.value if agree else (every, 0)

    def _friedman(self, said: Said) -> bool:
        chi2 = stats.friedmanchisquare(*self.means.round(_DIGITS).to_numpy().T).statistic
        return abs(chi2 - said.size) < 0.00501

    def _rank(self, said: Said) -> bool:
        return abs(self.ranks[said.who] - said.size) <= 0.00501


def reversal_fault(one: DataTruth, other: DataTruth, text: str) -> str:
    """Return what is wrong with a sentence on the winners by two measures."""
    turned, sure = 0, 0
    for at in one.datasets:
        first, second = one.best_on(at), other.best_on(at)
        if not first & second:
            turned += 1
            sure += any(
                one.winner_on(at, a, b) == a and other.winner_on(at, a, b) == b
                for a in first
                for b in second
            )
    many = len(one.datasets)
    expected = f" name the same winner on all of {many} data sets."
    if turned:
        expected = (
            f" name different winners on {turned} of {many} data sets; on {sure or 'none'} of them "
            "are both leads significant."
        )
    return "" if text.endswith(expected) else f"{text} — {expected}"
