"""Who is ahead of whom in a study of models, from its scores by scipy alone."""

from __future__ import annotations

import math
import tomllib
from functools import cache
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats.multitest import multipletests

from tests.report.agreement.said import Said

SHARES = ("right_", "type_1", "power_", "wrong_", "covered_")  # of choices and rejections
LOWER = ("log_loss", "brier_score", "loss_", "squared_error", "type_1", "wrong", "regret")
KEYS = ("family", "dataset", "model", "repeat", "fold", "size", "learner", "status")
_SPECS = {"estimators": "estimators", "tests": "tests"}


def paired_p(first: np.ndarray, second: np.ndarray, exact: bool) -> float:
    """Return the p value of a pair; NaN if it is identical.

    By Student's t or, if it is to be exact, by McNemar's test, which is the sign test.
    """
    difference = first - second
    if np.allclose(difference, 0, rtol=0, atol=1e-13):
        return math.nan
    if exact:
        unequal = int((difference != 0).sum())
        return float(stats.binomtest(int((difference > 0).sum()), unequal).pvalue)
    return float(stats.ttest_rel(first, second).pvalue)


INTERVALS = {
    "rows": "rows (Wilson or t)",
    "folds": "naive t over splits",
    "corrected": "corrected t over splits",
    "nested": "nested cross-validation",
    "percentile": "percentiles of samples",
}


NAMED = {"information_reward": "information reward", "auc": "AUC"}


def share_limits(values: np.ndarray, alpha: float) -> tuple[float, float]:
    """Return the limits of a mean share over models, of Korn & Graubard (1998)."""
    n, share, spread = len(values), values.mean(), values.var(ddof=1)
    if spread > 0:
        ratio = stats.norm.isf(alpha / 2) / stats.t.isf(alpha / 2, n - 1)
        n = max(n, share * (1 - share) * ratio**2 / (spread / n))
    k = share * n
    low = stats.beta.ppf(alpha / 2, k, n - k + 1) if k > 0 else 0.0
    return float(low), float(stats.beta.isf(alpha / 2, k + 1, n - k) if k < n else 1.0)


class Truth:
    """The tests of one column of the scores of a study of models.

    Parameters
    ----------
    directory : Path
        The results.
    place : int
        The place of the column among the measures.
    adjustment : str, optional
        Instead of the study's own.
    """

    def __init__(self, directory: Path, place: int = 0, adjustment: str = "") -> None:
        with (directory / "study.toml").open("rb") as file:
            settings = tomllib.load(file)
        self.directory, self.seed = directory, settings["seed"]
        scores = pd.read_parquet(directory / "scores.parquet")
        if settings.get("compare") == "measures":  # which pages name
            scores["learner"] = scores["learner"].replace(NAMED)
        self.scores = scores
        self.column = [name for name in scores.columns if name not in KEYS][place]
        self.sizes = sorted(int(size) for size in scores["size"].unique())
        self.learners = [str(name) for name in dict.fromkeys(scores["learner"])]
        self.models = scores["model"].nunique()
        self.sign = -1 if self.column.startswith(LOWER) else 1
        self.adjustment = adjustment or settings["analysis"]["adjustment"]
        self.alpha = 1 - settings["analysis"]["confidence"]
        own = scores.pivot(index="model", columns=["size", "learner"], values=self.column)  # noqa: PD010
        complete = own.dropna()
        used = complete if len(complete) > 1 else own
        self.means = (self.sign * used.mean()).to_dict()
        if (directory / "refined.parquet").exists():
            scores = pd.concat([scores, pd.read_parquet(directory / "refined.parquet")])
        self.wide = scores.pivot(index="model", columns=["size", "learner"], values=self.column)  # noqa: PD010
        self.every_size = sorted(int(size) for size in scores["size"].unique())
        self.share = self.column.startswith(SHARES)
        self.binary = self.share and bool(scores[self.column].dropna().isin((0, 1)).all())
        self._test()

    def _test(self) -> None:
        """Test all pairs at all sizes, and adjust."""
        self.both: dict[tuple[int, str, str], tuple[np.ndarray, np.ndarray]] = {}
        for size in self.every_size:
            here = [name for name in self.learners if (size, name) in self.wide.columns]
            for pair in combinations(here, 2):
                known = self.wide[[(size, name) for name in pair]].dropna().to_numpy()
                self.both[size, *pair] = self.sign * known[:, 0], self.sign * known[:, 1]
        self.p = _raw_p(self)
        at = {size: [key for key in self.p if key[0] == size] for size in self.every_size}
        self.m = {size: len(keys) for size, keys in at.items()}
        if self.adjustment == "bonferroni_all":
            self.m = dict.fromkeys(self.every_size, len(self.p))
        elif self.adjustment == "none":
            self.m = dict.fromkeys(self.every_size, 1)
        self.adjusted = {key: min(1.0, p * self.m[key[0]]) for key, p in self.p.items()}
        if self.adjustment == "holm":
            for keys in at.values():
                filled = np.nan_to_num([self.p[key] for key in keys], nan=1.0)
                found = multipletests(filled, method="holm")[1]
                self.adjusted |= dict(zip(keys, found.tolist(), strict=True))

    def exact(self, key: tuple[int, str, str]) -> bool:
        """Whether a pair has an exact test: shares of 0 and 1, or whose differences are equal."""
        spread = float(np.ptp(np.subtract(*self.both[key]))) if len(self.both[key][0]) else 0.0
        return self.binary or (self.share and spread < 1e-13)

    @cache  # noqa: B019 - these are few
    def lead(self, who: str, whom: str, size: int) -> tuple[float, float, float]:
        """Return the mean difference in favour of the first, and the limits of its interval."""
        turned = (size, who, whom) not in self.both
        key = (size, whom, who) if turned else (size, who, whom)
        difference = np.subtract(*self.both[key]) * (-1 if turned else 1)
        mean, n = float(difference.mean()), len(difference)
        spread = float(difference.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan
        half = float(stats.t.isf(self.alpha / (2 * self.m[size]), n - 1)) * spread
        low, high = mean - half, mean + half
        return (mean, max(low, -1.0), min(high, 1.0)) if self.share else (mean, low, high)

    @cache  # noqa: B019
    def verdict(self, who: str, whom: str, size: int) -> str:
        """Return "ahead", "behind", "level", "identical" or "untested", seen from the first."""
        key = (size, who, whom) if (size, who, whom) in self.p else (size, whom, who)
        if key not in self.p or len(self.both[key][0]) < 2:
            return "untested"
        if math.isnan(self.p[key]):
            return "identical"
        if not self.adjusted[key] < self.alpha:
            return "level"
        ahead = float(np.subtract(*self.both[key]).mean()) > 0
        return "ahead" if ahead == (key[1] == who) else "behind"

    def rivals(self, who: str, size: int, verdict: str) -> set[str]:
        """Return the learners against which one has a verdict at a size."""
        others = [name for name in self.learners if name != who]
        return {name for name in others if self.verdict(who, name, size) == verdict}

    def best(self, size: int) -> set[str]:
        """Return the learners of best mean."""
        known = {name: self.means[size, name] for name in self.learners}
        most = max(value for value in known.values() if not math.isnan(value))
        return {name for name, value in known.items() if value >= most - 1e-13}

    def contenders(self, leader: str, size: int) -> set[str]:
        """Return the leader and the learners level with it, that no other is ahead of."""
        near = {leader} | self.rivals(leader, size, "level")
        near |= self.rivals(leader, size, "identical")
        return {name for name in near if not self.rivals(name, size, "behind")}

    def ahead_at(self, who: str, whom: str) -> tuple[int, ...]:
        """Return all sizes, added ones included, at which the first is ahead."""
        return tuple(at for at in self.every_size if self.verdict(who, whom, at) == "ahead")

    def changes(self, one: str, other: str) -> set[tuple[str, str, int, int]]:
        """Return who overtakes whom, and between which sizes."""
        found = {size: self.verdict(one, other, size) for size in self.every_size}
        decided = [(size, way) for size, way in found.items() if way in ("ahead", "behind")]
        names = {"ahead": (one, other), "behind": (other, one)}
        return {
            (*names[after], before_size, after_size)
            for (before_size, before), (after_size, after) in pairwise(decided)
            if before != after
        }

    def pairs(self) -> list[tuple[str, str]]:
        """Return every two learners."""
        return [*combinations(self.learners, 2)]

    def differing(self, sizes: list[int] | None = None) -> list[tuple[str, str]]:
        """Return the pairs that differ significantly at any of some sizes."""
        at = self.sizes if sizes is None else sizes
        ways = ("ahead", "behind")
        return [two for two in self.pairs() if any(self.verdict(*two, s) in ways for s in at)]

    def never(self) -> list[tuple[str, str]]:
        """Return the pairs that are tested, not always identical, and never differ."""
        differ = self.differing()
        return [
            two
            for two in self.pairs()
            if two not in differ and any(self.verdict(*two, s) == "level" for s in self.sizes)
        ]

    def fault(self, said: Said) -> str:
        """Return what is wrong with a statement; empty if it holds."""
        return str(getattr(self, "_" + said.kind.replace(" ", "_"))(said) or "")

    def _verdict(self, said: Said) -> str:
        found = self.verdict(said.who, said.whom, said.size)
        if found == said.value:
            return ""
        return f"{said.who} – {said.whom} at {said.size} is {found}, not {said.value}"

    def _numbers(self, said: Said) -> str:
        """A lead, its interval or its p value as they are printed."""
        lead, low, high = self.lead(said.who, said.whom, said.size)
        given = said.value
        expected = {"lead": lead, "low": low, "high": high}
        key = (said.size, said.who, said.whom)
        key = key if key in self.adjusted else (said.size, said.whom, said.who)
        if self.exact(key):
            expected = {"lead": lead}
            if "low" in given:
                excludes = _number(given["low"]) > 0 or _number(given["high"]) < 0
                decided = self.verdict(said.who, said.whom, said.size) in ("ahead", "behind")
                if excludes != decided:
                    return f"the interval {given} says otherwise than the test"
        if "p" in given:
            expected["p"] = self.adjusted[key]
        wrong = [f"{k} {given[k]}, not {v:.6g}" for k, v in expected.items() if _off(given, k, v)]
        return f"{said.who} over {said.whom} at {said.size}: {'; '.join(wrong)}" if wrong else ""

    def _values(self, column: str, size: int) -> pd.DataFrame:
        """Return a column at a size: models × treatments."""
        here = self.scores[self.scores["size"] == size]
        wide = here.pivot(index="model", columns="learner", values=column)  # noqa: PD010
        return wide[self.learners]

    def exceeding(self) -> set[str]:
        """Return the tests with a type I error whose adjusted interval lies above 5 %."""
        nulls = [name for name in self.scores if name.startswith("type_1")]
        m = len(self.learners) * len(self.sizes)
        return {
            test
            for null in nulls
            for size in self.sizes
            for test, values in self._values(null, size).items()
            if share_limits(values.to_numpy(), self.alpha / m)[0] > 0.05
        }

    def _keeping(self, said: Said) -> str:
        kept = {*self.learners} - self.exceeding()
        right = {*said.who} == kept and said.value == len(kept)
        return "" if right else f"{kept} keep their level, not {said.who}"

    def _kept(self, said: Said) -> str:
        kept = len({*self.learners} - self.exceeding())
        return "" if said.value == kept else f"{kept} tests keep their level, not {said.value}"

    def _detects(self, said: Said) -> str:
        """Who leads by power among the tests that keep their level."""
        columns = [name for name in self.scores if name not in KEYS]
        place = [name.startswith("power_") for name in columns].index(True)
        power, kept = Truth(self.directory, place), {*self.learners} - self.exceeding()
        most = max(power.means[said.size, name] for name in kept)
        won = any(power.verdict(a, b, said.size) == "ahead" for a in kept for b in kept)
        wrong = []
        for leader in (name for name in kept if power.means[said.size, name] == most):
            near = {leader, *power.rivals(leader, said.size, "level")}
            near |= power.rivals(leader, said.size, "identical")
            near &= kept
            near -= {name for name in near if power.rivals(name, said.size, "behind") & kept}
            wrong.append(said.who.fault(near if won else set()))
        return "" if "" in wrong else f"detects most at {said.size}: {wrong[0]}"

    def _detects_less(self, said: Said) -> str:
        """Whose power is greatest of the tests that keep their level, and who of them is worse."""
        columns = [name for name in self.scores if name not in KEYS]
        place = [name.startswith("power_") for name in columns].index(True)
        power, kept = Truth(self.directory, place), {*self.learners} - self.exceeding()
        most = max(power.means[said.size, name] for name in kept)
        less = {name for name in kept if power.rivals(name, said.size, "behind") & kept}
        right = less == said.who and power.means[said.size, said.whom] == most
        return "" if right else f"{less} detect less at {said.size}, not {said.who}"

    def _need_more(self, said: Said) -> str:
        """That each is worse, with as many rows, than the best with fewer."""
        reference = self.sign * self._values(self.column, said.size)
        wrong = [] if reference.mean().idxmax() == said.whom else [said.whom]
        for size in (size for size in self.sizes if size <= said.value):
            values = self.sign * self._values(self.column, size)
            worse = stats.ttest_rel(values, reference[[said.whom] * len(self.learners)]).pvalue
            for name, p in zip(self.learners, worse.tolist(), strict=True):
                lead = values[name].mean() - reference[said.whom].mean()
                decided = p < self.alpha or size < said.value
                wrong += [name] * (name in said.who and not (lead < 0 and decided))
        return f"{wrong} at most {said.value}" if wrong else ""

    def _biased(self, said: Said) -> str:
        """The estimators whose mean error has an adjusted interval without 0."""
        errors = self._values(self.column.replace("squared_", ""), said.size)
        level = self.alpha / 2 / (len(self.learners) * len(self.sizes))
        half = stats.t.isf(level, len(errors) - 1) * errors.sem()
        bias = errors.mean()[errors.mean().abs() > half].to_dict()
        if not isinstance(said.who, dict):
            return "" if said.value == len(bias) else f"{len(bias)} are biased, not {said.value}"
        near = all(abs(bias.get(name, 9) - value) < 6e-5 for name, value in said.who.items())
        right = near and len(said.who) + (said.whom or 0) == len(bias)
        return "" if right else f"biased are {bias}, not {said.who}"

    def _rarely(self, said: Said) -> str:
        """The intervals whose coverage has an adjusted interval below the confidence."""
        target = "mean" if "of_mean" in self.column else "exact"
        table = pd.read_parquet(self.directory / "estimates.parquet")
        own = table["learner"].map(lambda name: self.column.endswith(f"_{name}"))
        table = table[own & table["measure"].map(self.column.__contains__)]
        known = [table[f"lower_{name}"].notna() & table[target].notna() for name in INTERVALS]
        m = sum(
            table["estimator"].where(each).groupby(table["size"]).nunique().sum() for each in known
        )
        table, shares, short = table[table["size"] == said.size], {}, {}
        for name, words in INTERVALS.items():
            inside = (table[f"lower_{name}"] <= table[target]) & (
                table[target] <= table[f"upper_{name}"]
            )
            known = table[f"lower_{name}"].notna() & table[target].notna()
            for key, share in inside[known].groupby(table["estimator"]).mean().items():
                shares[key, words] = share
        for key, share in shares.items():
            inside = round(share * self.models)
            tail = stats.beta.isf(self.alpha / 2 / m, inside + 1, self.models - inside)
            if inside < self.models and tail < 1 - self.alpha:
                short[key] = share
        if isinstance(said.who, dict):
            near = (abs(100 * short.get(key, 9) - value) <= 0.5 for key, value in said.who.items())
            right = all(near) and len(short) >= len(said.who) and bool(said.who) == bool(short)
        else:
            right = said.value == (len(shares), round(100 * (1 - self.alpha)), len(short))
        return "" if right else f"short are {short} of {len(shares)}, not {said.who}, {said.value}"

    def _rivals(self, said: Said) -> str:
        """Exactly whom a learner is ahead of, level with or behind."""
        kinds = ("level", "identical") if said.value == "level or identical" else (said.value,)
        expected = set().union(*(self.rivals(said.who, said.size, kind) for kind in kinds))
        wrong = said.whom.fault(expected)
        return f"{said.who} at {said.size}, {said.value}: {wrong}" if wrong else ""

    def _best(self, said: Said) -> str:
        best = self.best(said.size)
        return "" if said.who in best else f"best at {said.size} is {best}, not {said.who}"

    def _does_best(self, said: Said) -> str:
        wrongs = [said.who.fault(self.contenders(one, said.size)) for one in self.best(said.size)]
        wrong = "" if "" in wrongs else wrongs[0]
        if not wrong and not self.differing([said.size]):
            wrong = "no two differ"
        return f"does best at {said.size}: {wrong}" if wrong else ""

    def _only_worse(self, said: Said) -> str:
        """Who cannot do best, where many can: those than which some other is better."""
        if said.value:
            each = [len(self._beaten(size)) for size in said.size]
            return "" if said.value == (min(each), max(each)) else f"worse are {each}"
        untested = self.rivals(said.who, said.size, "untested")
        wrong = said.whom.fault(self._beaten(said.size) - untested)
        return f"worse at {said.size}: {wrong}" if wrong else ""

    def _beaten(self, size: int) -> set[str]:
        """The learners than which some other is better."""
        return {name for name in self.learners if self.rivals(name, size, "behind")}

    def _contenders(self, said: Said) -> str:
        return str(said.who.fault(self.contenders(said.whom, said.size)))

    def _hollow(self, said: Said) -> str:
        """Whether a mark says that two learners do not differ."""
        differ = self.verdict(said.who, said.whom, said.size) in ("ahead", "behind")
        return "" if differ != said.value else f"{said.whom} is hollow: {said.value}"

    def _short(self, said: Said) -> str:
        """How far a learner is below the true probabilities: its regret, if no cell failed."""
        scores = pd.read_parquet(self.directory / "scores.parquet")
        here = scores[(scores["learner"] == said.who) & (scores["size"] == said.size)]
        regret = float(here["regret"].mean())
        wrong = _off({"at": said.value}, "at", regret)
        return f"{said.who} at {said.size} is short by {regret}, not {said.value}" if wrong else ""

    def _none_differ(self, said: Said) -> str:
        differ = self.differing([said.size])
        return f"at {said.size} {differ} differ" if differ else ""

    def _decided(self, said: Said) -> str:
        """That every size at which two differ is among those that are spoken of."""
        left = [size for size in self.sizes if size not in said.size]
        return f"nothing is said of {left}" if left else ""

    def _wins_at(self, said: Said) -> str:
        """The sizes at which the learner of best mean is ahead of all others."""
        won = [
            size
            for size in self.sizes
            if any(
                self.rivals(leader, size, "ahead")
                and not self.rivals(leader, size, "level")
                and not self.rivals(leader, size, "identical")
                for leader in self.best(size)
            )
        ]
        given = said.size if isinstance(said.size, list) else len(won) * [0]
        number = len(won) if said.value is None else said.value
        wrong = (isinstance(said.size, list) and given != won) or number != len(won)
        return f"the best mean wins at {won}, not {said.size or said.value}" if wrong else ""

    def _ahead_at(self, said: Said) -> str:
        found = self.ahead_at(said.who, said.whom)
        if found == said.size:
            return ""
        return f"{said.who} is ahead of {said.whom} at {found}, not {said.size}"

    def _changes(self, said: Said) -> str:
        """All changes of a pair."""
        found = self.changes(said.who, said.whom)
        return "" if found == said.value else f"changes are {found}, not {said.value}"

    def _unchanged(self, said: Said) -> str:
        """The pairs without a change, and who is ahead in them; of many only some are named."""
        pairs, more = said.value
        wrong = [
            (who, whom)
            for who, whom, way in pairs
            if self.ahead_at(whom, who) or bool(self.ahead_at(who, whom)) != (way == "ahead")
        ]
        still = [pair for pair in self.pairs() if not self.changes(*pair)]
        count = len(pairs) + more == said.size
        whole = len(self.pairs()) > 15 or said.size == len(still)
        return "" if not wrong and count and whole else f"unchanged: {still}, not {said}"

    def _grid_cell(self, said: Said) -> str:
        """The learner that a cell has the colour of, and those that it is striped with."""
        leader, size = said.who, said.size
        near = {
            name
            for name in self.learners
            if name != leader
            and self.verdict(leader, name, size) != "ahead"
            and not self.rivals(name, size, "behind")
        }
        if leader in self.best(size) and near == said.value:
            return ""
        return f"{leader} leads at {size} with {said.value}, not {self.best(size)} with {near}"

    def _changing(self, said: Said) -> str:
        """The number of pairs, or of changes, in which one overtakes the other."""
        each = [len(self.changes(*pair)) for pair in self.pairs()]
        number = sum(each) if said.who == "changes" else sum(map(bool, each))
        return "" if number == said.value else f"{number} {said.who}, not {said.value}"

    def _never(self, said: Said) -> str:
        never = [{*pair} for pair in self.never()]
        if said.who:
            return "" if [{*said.who}] == never else f"never differ: {never}, not {said.who}"
        wrong = (len(never), len(self.pairs())) != said.value
        return f"{len(never)} pairs never differ, not {said.value}" if wrong else ""

    def _identical(self, said: Said) -> str:
        pairs = combinations(said.who, 2)
        wrong = [(*two, at) for two in pairs for at in said.size if self._unlike(*two, at)]
        return f"{wrong} are not identical" if wrong else ""

    def _unlike(self, one: str, other: str, size: int) -> bool:
        return self.verdict(one, other, size) != "identical"

    def _family(self, said: Said) -> str:
        """The number of tests adjusted for, and what the family is called."""
        names = {
            "bonferroni_all": "Bonferroni-adjusted for, all pairs at all sizes",
            "bonferroni": "Bonferroni-adjusted for, at each size",
            "holm": "Holm-adjusted over, at each size",
            "none": "not adjusted for the number of tests",
        }
        own = {self.m[size] for size in self.sizes}
        if said.who == names["bonferroni"] and self.adjustment == "holm" and said.where == "bands":
            return "" if {said.value} == own else f"m is {own}, not {said.value}"
        if said.who != names[self.adjustment]:
            return f"the family is {said.who}, not {self.adjustment}"
        wrong = self.adjustment != "none" and {said.value} != own
        return f"m is {own}, not {said.value}" if wrong else ""

    def _tests(self, said: Said) -> str:
        wrong = ("McNemar" in said.value) != self.binary
        return f"the test is {said.value}" if wrong else ""

    def _mark(self, said: Said) -> str:
        """Whether a mean is marked as the best or level with it."""
        (leader, *_) = said.whom
        ways = (leader in self.best(said.size), self.verdict(leader, said.who, said.size))
        level = "level" if ways[1] in ("level", "identical") else ""
        expected = "best" if said.who == leader else level
        if expected == said.value and ways[0]:
            return ""
        return f"{said.who} at {said.size} is {expected or 'unmarked'}, not {said.value}"

    def _daggers(self, said: Said) -> str:
        """The learners marked as level with the best mean, whose own mark cannot be seen."""
        given = {name for name, mark in said.value.items() if mark}
        for leader in self.best(said.size):
            level = self.rivals(leader, said.size, "level")
            if given == level | self.rivals(leader, said.size, "identical"):
                return ""
        return f"marked at {said.size} are {sorted(given)}"

    def _best_beaten(self, said: Said) -> str:
        best = self.best(said.size)
        beaten = any(self.rivals(leader, said.size, "behind") for leader in best)
        return "" if beaten else f"the best mean at {said.size} is not beaten"

    def _band(self, said: Said) -> str:
        """Whether a band excludes 0 where a difference is significant."""
        found = self.verdict(said.who, said.whom, said.size)
        expected = {"ahead": 1, "behind": -1}.get(found, 0)
        if self.adjustment == "holm" and said.value == 0:
            return ""  # Holm's method may find more than its intervals show
        if expected == said.value:
            return ""
        return f"the band of {said.who} over {said.whom} at {said.size}: {said.value}, not {found}"

    def _claim(self, said: Said) -> str:
        """The verdict on a claim that one learner is ahead of another at some sizes."""
        ways = {self.verdict(said.who, said.whom, size) for size in said.size}
        expected = "not reproduced" if "behind" in ways else "not decided"
        expected = "reproduced" if ways == {"ahead"} else expected
        return "" if expected == said.value else f"{said} is {expected}"

    def _tested_for(self, said: Said) -> str:
        own = {self.m[size] for size in self.sizes}
        return "" if {said.value} == own else f"m is {own}, not {said.value}"

    def _untested(self, said: Said) -> str:
        """The number of pairs that could not be tested, or at some sizes only."""
        tested = [
            sum(self.verdict(*pair, size) != "untested" for size in self.sizes)
            for pair in self.pairs()
        ]
        none = sum(number == 0 for number in tested)
        some = sum(0 < number < len(self.sizes) for number in tested)
        found = none if said.who == "never" else some
        return "" if found == said.value else f"{found} pairs could not be tested, not {said.value}"

    def _unread(self, said: Said) -> str:
        return f"not understood: {said.value}"


@cache
def truth_of(directory: Path, place: int = 0, adjustment: str = "") -> Truth:
    """Return the tests of a column, computed once."""
    return Truth(directory, place, adjustment)


_KNOWN: dict[tuple[str, str], dict[tuple[int, str, str], float]] = {}


def _raw_p(truth: Truth) -> dict[tuple[int, str, str], float]:
    """Return the p values of all pairs at all sizes, computed once for all adjustments."""
    key = str(truth.directory), truth.column
    if key not in _KNOWN:
        _KNOWN[key] = {at: paired_p(*two, truth.exact(at)) for at, two in truth.both.items()}
    return _KNOWN[key]


def between_fault(one: Truth, other: Truth, paired: bool, said: Said) -> str:
    """Return what is wrong with a statement that a mean differs between two studies."""
    first, second = (truth.wide[said.size, said.who].dropna() for truth in (one, other))
    verdict, m = said.value
    if paired:
        both = first.index.intersection(second.index)
        p = paired_p(first[both].to_numpy(), second[both].to_numpy(), exact=False)
    else:
        p = float(stats.ttest_ind(first, second, equal_var=False).pvalue)
    expected = "differs" if p * m < one.alpha else "not significant"
    expected = "identical" if math.isnan(p) else expected
    return "" if verdict == expected else f"{said.who} at {said.size} {expected}, not {verdict}"


def _number(text: str) -> float:
    return float(text.replace("−", "-").replace(",", ""))


def _off(given: dict[str, str], key: str, expected: float) -> bool:
    """Whether a number differs by more than its last digit from what is expected."""
    if key not in given:
        return False
    text = given[key].replace("−", "-").replace(",", "").replace("< ", "")
    if given[key].startswith("<"):
        return not expected < float(text)
    digits, _, power = text.partition("e")
    decimals = len(digits.partition(".")[2]) - int(power or 0)
    return not abs(float(text) - expected) <= 0.51 * 10.0**-decimals + 1e-12
