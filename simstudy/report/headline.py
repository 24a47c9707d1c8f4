"""A study's question in one sentence and its findings in a few, none beyond what was tested."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from simstudy.analysis.standings import (
    AHEAD,
    IDENTICAL,
    UNTESTED,
    Pair,
    Standing,
    judged,
    standing_at,
)
from simstudy.measures.base import MeasureInfo
from simstudy.report.numbers import number, p_value, signed
from simstudy.report.overtaking import changes_said, tests_words
from simstudy.report.phrases import NAMED, among, counted, family, listed, opening, rows, runs

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.results.results import Results

_FAMILIES = {"naive_bayes": "Naive Bayes", "tan": "TAN", "aode": "AODE", "kdb": "k-dependence"}
_STRETCHES = 3  # stretches of sizes that get a sentence each; more are summarised


def question(results: Results) -> str:
    """The study's question in one sentence."""
    learners, sizes, label = results.learners, results.sizes, results.info().label
    place = f"On random {_models(results.settings['family'])}"
    after = f"after {listed([f'{size:,}' for size in sizes])} rows"
    if len(sizes) > NAMED + 1:
        after = f"after {sizes[0]:,} to {sizes[-1]:,} rows ({len(sizes)} sizes)"
    if len(learners) == 1:
        return f"{place}, how well does {learners[0]} predict, by {label}, {after}?"
    which = listed(learners) if len(learners) <= NAMED + 1 else f"{len(learners)} learners"
    cross = ", and where do they overtake each other" if len(sizes) > 1 else ""
    return f"{place}, which of {which} predicts best, by {label}, {after}{cross}?"


def _models(family: dict[str, Any]) -> str:
    """The models of a family, with how many variables they have if it says so."""
    name = family["name"]
    said = f"{_FAMILIES[name]} models" if name in _FAMILIES else f"models of the family {name}"
    bounds = family.get("attributes")
    if not (isinstance(bounds, list) and len(bounds) == 2):
        return said
    low, high = bounds
    return f"{said} of {low} variables" if low == high else f"{said} of {low}–{high} variables"


def findings(results: Results) -> list[str]:
    """What the study found by its primary measure, in at most about five sentences."""
    settings, manifest = results.settings, results.manifest
    return headline(
        results.pairwise(),
        results.thresholds(),
        results.intervals(),
        results.info(),
        confidence=settings["analysis"]["confidence"],
        adjustment=settings["analysis"]["adjustment"],
        models=settings["models"],
        failures=manifest["failures"],
        cells=manifest["cells"],
    )


def headline(
    pairs: pd.DataFrame,
    thresholds: pd.DataFrame,
    intervals: pd.DataFrame,
    info: MeasureInfo,
    *,
    confidence: float = 0.95,
    adjustment: str = "bonferroni",
    models: int | None = None,
    failures: int = 0,
    cells: int = 0,
) -> list[str]:
    """Findings in words, from the tables of pairs, thresholds and intervals.

    A learner beats another only where the adjusted p value is below 1 − confidence. One that
    beats all others at a size is said to; otherwise the one of best mean is named, whom it beats,
    and from whom it is not told apart. One overtakes another between the last size at which the
    other is ahead and the first at which it is, by tests adjusted for all pairs and sizes.

    Parameters
    ----------
    pairs, thresholds, intervals
        As `Results` gives them; the first two may be empty.
    info
        Of the measure.
    confidence, adjustment
        Of the pairs, as the study has them.
    models
        How many the study has; those that a test could not use are then said to be missing.
    failures, cells
        How many cells failed, of how many.
    """
    holm = adjustment == "holm"
    learners = list(dict.fromkeys(intervals["learner"]))
    sizes = [int(size) for size in dict.fromkeys(intervals["size"])]
    lost = _lost(intervals, sizes, failures, cells)
    if len(learners) == 1:
        return [_alone(intervals, info, confidence), *lost]
    compared = judged(pairs, info.greater_is_better, 1 - confidence)
    found = [standing_at(size, compared, intervals, info.greater_is_better) for size in sizes]
    standings = [standing for standing in found if standing is not None]
    said = _leaders(standings, compared, holm)
    leaders = {standing.leader for standing in standings}
    said += _changes(thresholds, compared, leaders, sizes, models)
    m = 0 if pairs.empty else int(pairs["m"].iloc[0])
    said.append(_method(compared, m, thresholds, info, confidence, adjustment, models))
    return said + _means(intervals, models) + lost


def _alone(intervals: pd.DataFrame, info: MeasureInfo, confidence: float) -> str:
    """The mean of the only learner, at the smallest and the largest size."""
    cells: list[dict[Any, Any]] = intervals.to_dict("records")
    ends = cells[:1] if len(cells) == 1 else [cells[0], cells[-1]]
    m = int(cells[0]["m"])
    adjusted = f", Bonferroni-adjusted for m = {m} sizes" if m > 1 else ""
    known = [cell for cell in ends if not math.isnan(cell["mean"])]
    said = f"{cells[0]['learner']}, the only learner, has "
    if known:
        means = listed([f"{_mean(cell)} at {cell['size']:,} rows" for cell in known])
        said += f"a mean {info.label} of {means}"
    if any(_has_interval(cell) for cell in known):
        said += f" ({100 * confidence:.10g}% t intervals between models{adjusted})"
    lost = [f"{cell['size']:,}" for cell in ends if math.isnan(cell["mean"])]
    said += (", and " * bool(known) + f"no score at {listed(lost)} rows") * bool(lost)
    return f"{said}; nothing is compared."


def _has_interval(cell: dict[Any, Any]) -> bool:
    return math.isfinite(cell["lower"]) and math.isfinite(cell["upper"])


def _mean(cell: dict[Any, Any]) -> str:
    mean = number(cell["mean"])
    if _has_interval(cell):
        return f"{mean} [{number(cell['lower'])}, {number(cell['upper'])}]"
    why = "infinite in some model" if cell["infinite"] else f"over {counted(cell['n'], 'model')}"
    return f"{mean} (without an interval: {why})"


def _leaders(standings: list[Standing], compared: list[Pair], holm: bool) -> list[str]:
    """Who wins at which sizes: a sentence for each of a few stretches, or a summary."""
    if not standings:
        return ["No learner has a finite mean at any size, so none are compared."]
    if not any(pair.verdict == AHEAD for pair in compared):
        return [_nothing([standing.size for standing in standings], compared, holm)]
    stretches = runs(standings, lambda standing: standing.key)
    if len(stretches) <= _STRETCHES:
        return [opening(_stretch(stretch, holm)) for stretch in stretches]
    return _summary(standings, holm)


def _nothing(sizes: list[int], compared: list[Pair], holm: bool) -> str:
    """That nothing was told apart, and how large the largest difference is."""
    firsts, seconds = ([getattr(p, key) for p in compared] for key in ("first", "second"))
    learners = list(dict.fromkeys([*firsts, *seconds]))
    tested = [pair for pair in compared if pair.verdict != UNTESTED]
    if not tested:
        return opening(f"{rows(sizes)} {listed(learners)} cannot be compared.")
    if all(pair.verdict == IDENTICAL for pair in compared):
        return opening(f"{rows(sizes)} {listed(learners)} are identical in every model.")
    if all(pair.verdict == IDENTICAL for pair in tested):
        return opening(f"{rows(sizes)} no difference is found in any pair that could be tested.")
    whom = (
        f"no two of {listed(learners)} are" if len(learners) > 2 else f"{listed(learners)} are not"
    )
    most = max(tested, key=lambda pair: abs(pair.lead))
    most = most if most.lead >= 0 else most.turned()
    where = f"{most.first} over {most.second} at {most.size:,} rows"
    text = f"{rows(sizes)} {whom} told apart; the largest mean difference is {_lead(most, holm)}"
    return opening(f"{text}, {where}.")


def _lead(pair: Pair, holm: bool) -> str:
    """A lead with its interval; by Holm's method, which has none, with its p value."""
    if holm:
        return f"{signed(pair.lead)} ({p_value(pair.p, 'adjusted p')})"
    return f"{signed(pair.lead)} [{signed(pair.low)}, {signed(pair.high)}]"


def _all_others(standing: Standing) -> str:
    """Whom a winner beats."""
    if standing.untested:
        return "every other learner that it could be tested against"
    return standing.beats[0].second if len(standing.beats) == 1 else "every other learner"


def _stretch(stretch: list[Standing], holm: bool) -> str:
    """What holds at every size of a stretch."""
    first, where = stretch[0], rows([standing.size for standing in stretch])
    if first.wins:
        leads = [lead for one in stretch for lead in one.beats]
        least = min(leads, key=lambda pair: pair.lead)
        said = f"{where} {first.leader} beats {_all_others(first)}"
        if len(leads) == 1:
            return f"{said}, by {_lead(least, holm)}."
        return f"{said}; its smallest lead is {_placed(least, stretch, len(first.beats), holm)}."
    if first.shared_with:
        said = f"{where} {listed([first.leader, *first.shared_with])} share the best mean"
        said += f"; {first.leader}" * bool(first.beats or first.level or first.beaten_by)
    else:
        said = f"{where} {first.leader} has the best mean" + " and" * bool(first.beats)
    if first.beats:
        said += f" beats {listed([pair.second for pair in first.beats])}"
    but = first.beats or not first.shared_with
    if first.level:
        names = listed([pair.second for pair in first.level])
        said += ", but" * bool(but) + f" is not told apart from {names} ({_largest(stretch, holm)})"
    if first.beaten_by:
        names = listed([pair.second for pair in first.beaten_by])
        verb = "beats" if len(first.beaten_by) == 1 else "beat"
        said += f", yet {names} {verb} it over the models that both have"
    if first.untested and not (first.beats or first.level or first.identical or first.beaten_by):
        said += " but cannot be compared with the others"
    return f"{said}."


def _largest(stretch: list[Standing], holm: bool) -> str:
    """The largest lead over those from whom the leader is not told apart; if one, just that."""
    leads = [lead for one in stretch for lead in one.level]
    most = max(leads, key=lambda pair: pair.lead)
    if len(leads) == 1:
        return _lead(most, holm)
    rivals = len(stretch[0].level)
    whom = "these" if rivals > 1 else most.second
    return f"its largest lead over {whom}: {_placed(most, stretch, rivals, holm)}"


def _placed(pair: Pair, stretch: list[Standing], rivals: int, holm: bool) -> str:
    """A lead, with the rival and the size where there are several."""
    where = [f"over {pair.second}"] * (rivals > 1) + [f"at {pair.size:,} rows"] * (len(stretch) > 1)
    return f"{_lead(pair, holm)}, {' '.join(where)}"


def _summary(standings: list[Standing], holm: bool) -> list[str]:
    """Who has the best mean where, where it wins, and whom it is not told apart from elsewhere."""
    sizes = [standing.size for standing in standings]
    best: dict[str, list[int]] = {}
    for standing in standings:
        best.setdefault(standing.leader, []).append(standing.size)
    owners = listed([f"{name}'s {among(at, sizes)}" for name, at in best.items()])
    tied = [standing.size for standing in standings if standing.shared_with]
    owners += f", shared with others {among(tied, sizes)}" if tied else ""
    won = [standing for standing in standings if standing.wins]
    if won:
        tested = " that it could be tested against" * any(one.untested for one in won)
        where = among([standing.size for standing in won], sizes)
        least = min((pair for one in won for pair in one.beats), key=lambda pair: pair.lead)
        text = f"The learner of best mean beats every other{tested} {where} "
        text += f"(its smallest lead there is {_placed(least, standings, 2, holm)})"
    else:
        text = "The learner of best mean beats all others at no size studied"
    level = [lead for standing in standings for lead in standing.level]
    if level:
        most = max(level, key=lambda pair: pair.lead)
        counts = {len(standing.level) for standing in standings if standing.level}
        others = f"{min(counts)} to {max(counts)}" if len(counts) > 1 else f"{max(counts)}"
        where = among([standing.size for standing in standings if standing.level], sizes)
        text += f"; {where} {others} of the others "
        text += "is" if counts == {1} else "are"
        text += " not told apart from it "
        text += f"(the largest lead over such a one is {_placed(most, standings, 2, holm)})"
    if any(standing.beaten_by for standing in standings):
        text += "; where models are missing, another beats it over the models that both have"
    return [f"The best mean is {owners}.", f"{text}."]


def _changes(
    thresholds: pd.DataFrame,
    compared: list[Pair],
    leaders: set[str],
    sizes: list[int],
    models: int | None,
) -> list[str]:
    """Who overtakes whom, and which pairs are never told apart, nor could be."""
    parts = []
    if not thresholds.empty and thresholds["m"].notna().any():
        parts.append(changes_said(thresholds, leaders, sizes))
    by_pair: dict[tuple[str, str], list[Pair]] = {}
    for pair in compared:
        by_pair.setdefault((pair.first, pair.second), []).append(pair)
    whole = len(by_pair)
    told = {names for names, at in by_pair.items() if any(p.verdict == AHEAD for p in at)}
    tested = {names: sum(p.verdict != UNTESTED for p in at) for names, at in by_pair.items()}
    same = {names: [p for p in at if p.verdict == IDENTICAL] for names, at in by_pair.items()}
    never = [n for n in by_pair if n not in told and tested[n] > len(same[n])]
    if never and told and len(sizes) > 1:
        whom = listed(never[0]) if len(never) == 1 else f"{len(never)} of {whole} pairs"
        every = all(tested[names] == len(sizes) for names in never)
        where = "studied" if every else "at which they could be tested"
        parts.append(f"{whom} are told apart at no size {where}")
    if sum(map(len, same.values())) < sum(tested.values()):  # else it was said before
        parts += _identical({n: at for n, at in same.items() if at}, whole, sizes, models)
    without = sum(number == 0 for number in tested.values())
    some = sum(1 <= number < len(sizes) for number in tested.values())
    if without and any(tested.values()):
        parts.append(f"{without} of {counted(whole, 'pair')} could not be tested")
    if some:
        parts.append(f"{some} of {counted(whole, 'pair')} could be tested at some sizes only")
    return [opening("; ".join(parts)) + "."] if parts else []


def _identical(
    same: dict[tuple[str, str], list[Pair]], whole: int, sizes: list[int], models: int | None
) -> list[str]:
    """Which pairs have the same score in every model."""
    if len(same) > _STRETCHES:
        every = [pair for at in same.values() for pair in at]
        said = f"{len(same)} of {whole} pairs are identical in {_every(every, models)}"
        return [said if len(every) == len(same) * len(sizes) else f"{said} at some sizes"]
    parts = []
    for names, at in same.items():
        where = "" if len(at) == len(sizes) else " " + among([pair.size for pair in at], sizes)
        parts.append(f"{listed(names)} are identical in {_every(at, models)}{where}")
    return parts


def _every(pairs: list[Pair], models: int | None) -> str:
    """All models, or those that both of a pair have."""
    least, most = min(pair.n for pair in pairs), max(pair.n for pair in pairs)
    if models is None or least == models:
        return "every model"
    return f"all {least} models that both have" if least == most else "all models that both have"


def _method(
    compared: list[Pair],
    m: int,
    thresholds: pd.DataFrame,
    info: MeasureInfo,
    confidence: float,
    adjustment: str,
    models: int | None,
) -> str:
    """What the statements above rest on."""
    tested = [pair.n for pair in compared if pair.verdict != UNTESTED]
    if not tested:
        return (
            "No pair could be tested: each has an infinite score, or both in fewer than 2 models."
        )
    scope = family(adjustment, m)
    least, most = min(tested), max(tested)
    used = f"{most}" if least == most else f"{least} to {most}"
    fewer = least < (most if models is None else models)
    used += f" of {models}" * (fewer and models is not None)
    used += " models" + ", those that both have," * fewer
    level = f"{100 * confidence:.10g}%"
    better = "" if info.greater_is_better else ", where less is better"
    said = (
        f"Paired t tests over {used} at {level} confidence, {scope}; numbers are "
        f"differences in mean {info.label}{better}, in favour of the learner named first"
    )
    said += "."
    changed = not thresholds.empty and thresholds["before"].notna().any()
    if changed and (tests := tests_words(thresholds, level)):
        said += (
            " Who overtakes whom is decided by the last size at which the one and the first at "
            f"which the other is ahead: {tests}"
        )
        if thresholds["crossing"].notna().any():
            said += f"; in brackets, {level} intervals for all crossings together"
        said += "."
    return said


def _means(intervals: pd.DataFrame, models: int | None) -> list[str]:
    """Which models means are over, where that is not all of them."""
    n = intervals["n"] + intervals["infinite"]
    if n.min() == n.max():
        if models is None or n.min() >= models:
            return []
        return [f"Means are over the {n.min()} of {models} models that no cell lacks."]
    of = f" of {models}" if models is not None else ""
    said = f"those that each learner has at each size, {n.min()} to {n.max()}{of}"
    return [f"Means are over different models ({said}), to which their order may be due."]


def _lost(intervals: pd.DataFrame, sizes: list[int], failures: int, cells: int) -> list[str]:
    """Which cells failed or are infinite, and so are not compared."""
    parts = []
    if failures:
        parts.append(f"{failures:,} of {cells:,} cells failed")
    infinite = intervals[intervals["infinite"] > 0]
    if not infinite.empty:
        names = [
            f"{learner} {among([int(size) for size in at['size']], sizes)}"
            for learner, at in infinite.groupby("learner", sort=False)
        ]
        parts.append(f"infinite scores, with which nothing is tested: {listed(names)}")
    return [opening("; ".join(parts)) + "."] if parts else []
