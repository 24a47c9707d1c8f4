"""A study's question in one sentence and its findings in a few, none beyond what was tested."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simstudy.measures.base import MeasureInfo
from simstudy.report.phrases import NAMED, among, listed, opening, rows, runs
from simstudy.report.standings import Lead, Standing, crossings_said, lead_of, standing_at

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.results import Results

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
    and from whom it is not told apart.

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
    alpha, holm = 1 - confidence, adjustment == "holm"
    learners = list(dict.fromkeys(intervals["learner"]))
    sizes = [int(size) for size in dict.fromkeys(intervals["size"])]
    lost = _lost(intervals, sizes, failures, cells)
    if len(learners) == 1:
        return [_alone(intervals, info, confidence), *lost]
    found = [standing_at(size, pairs, intervals, info, alpha) for size in sizes]
    standings = [standing for standing in found if standing is not None]
    said = _leaders(standings, pairs, info, alpha, holm)
    said += _changes(thresholds, pairs, {standing.leader for standing in standings}, sizes, alpha)
    said.append(_method(pairs, not thresholds.empty, info, confidence, adjustment, models))
    return said + lost


def _alone(intervals: pd.DataFrame, info: MeasureInfo, confidence: float) -> str:
    """The mean of the only learner, at the smallest and the largest size."""
    cells: list[dict[Any, Any]] = intervals.to_dict("records")
    ends = cells[:1] if len(cells) == 1 else [cells[0], cells[-1]]
    m = int(cells[0]["m"])
    adjusted = f", Bonferroni-adjusted for m = {m} sizes" if m > 1 else ""
    means = listed([f"{_mean(cell)} at {cell['size']:,} rows" for cell in ends])
    return (
        f"{cells[0]['learner']}, the only learner, has a mean {info.label} of {means} "
        f"({100 * confidence:.10g}% t intervals between models{adjusted}); nothing is compared."
    )


def _mean(cell: dict[Any, Any]) -> str:
    if cell["infinite"]:
        return f"{cell['mean']:+.0f}".replace("inf", "∞")
    return f"{cell['mean']:.4f} [{cell['lower']:.4f}, {cell['upper']:.4f}]"


def _leaders(
    standings: list[Standing], pairs: pd.DataFrame, info: MeasureInfo, alpha: float, holm: bool
) -> list[str]:
    """Who wins at which sizes: a sentence for each of a few stretches, or a summary."""
    if not standings:
        return ["No learner has a finite mean at any size, so none are compared."]
    if not (pairs["p_adjusted"] < alpha).any():
        return [_nothing([standing.size for standing in standings], pairs, info, holm)]
    stretches = runs(standings, lambda standing: standing.key)
    if len(stretches) <= _STRETCHES:
        return [opening(_stretch(stretch, holm)) for stretch in stretches]
    return _summary(standings, holm)


def _nothing(sizes: list[int], pairs: pd.DataFrame, info: MeasureInfo, holm: bool) -> str:
    """That nothing was told apart, and how large the largest difference is."""
    learners = list(dict.fromkeys([*pairs["first"], *pairs["second"]]))
    tested = pairs[(pairs["infinite"] == 0) & (pairs["n"] > 1)]
    if tested.empty:
        return opening(f"{rows(sizes)} {listed(learners)} cannot be compared.")
    whom = (
        f"no two of {listed(learners)} are" if len(learners) > 2 else f"{listed(learners)} are not"
    )
    row = max(tested.to_dict("records"), key=lambda row: abs(row["difference"]))
    sign = 1 if info.greater_is_better else -1
    ahead = row["first"] if sign * row["difference"] >= 0 else row["second"]
    lead = lead_of(row, ahead, sign)
    where = f"{ahead} over {lead.rival} at {lead.size:,} rows"
    text = f"{rows(sizes)} {whom} told apart; the largest mean difference is {lead.numbers(holm)}"
    return opening(f"{text}, {where}.")


def _stretch(stretch: list[Standing], holm: bool) -> str:
    """What holds at every size of a stretch."""
    first, where = stretch[0], rows([standing.size for standing in stretch])
    if first.wins:
        least = min((lead for one in stretch for lead in one.beats), key=lambda lead: lead.mean)
        whom = first.all_others
        number = least.numbers(holm) + f" over {least.rival}" * (len(first.beats) > 1)
        return (
            f"{where} {first.leader} beats {whom}, by {_extreme('least', number, least, stretch)}."
        )
    said = f"{where} {first.leader} has the best mean"
    if first.beats:
        said += f" and beats {listed([lead.rival for lead in first.beats])}"
    if first.level:
        most = max((lead for one in stretch for lead in one.level), key=lambda lead: lead.mean)
        names = listed([lead.rival for lead in first.level])
        number = most.numbers(holm) + f" over {most.rival}" * (len(first.level) > 1)
        said += f", but is not told apart from {names} ({_extreme('most', number, most, stretch)})"
    if first.beaten_by:
        names = listed([lead.rival for lead in first.beaten_by])
        said += f", yet {names} beats it over the models that both have"
    if not (first.beats or first.level or first.beaten_by):
        said += " but cannot be compared with the others"
    return f"{said}."


def _extreme(which: str, number: str, lead: Lead, stretch: list[Standing]) -> str:
    """A number that stands for several, if it does, and at which size it is found."""
    several = len(stretch) > 1
    many = len(stretch[0].beats if which == "least" else stretch[0].level) > 1 or several
    return f"at {which} {number}" * many + number * (not many) + f" at {lead.size:,}" * several


def _summary(standings: list[Standing], holm: bool) -> list[str]:
    """Who has the best mean where, where it wins, and whom it is not told apart from elsewhere."""
    sizes = [standing.size for standing in standings]
    best: dict[str, list[int]] = {}
    for standing in standings:
        best.setdefault(standing.leader, []).append(standing.size)
    owners = listed([f"{name}'s {among(at, sizes)}" for name, at in best.items()])
    won = [standing for standing in standings if standing.wins]
    if won:
        tested = " that it could be tested against" * any(one.untested for one in won)
        where = among([standing.size for standing in won], sizes)
        least = min((lead for one in won for lead in one.beats), key=lambda lead: lead.mean)
        text = f"The learner of best mean beats every other{tested} {where} "
        text += f"(by at least {_placed(least, holm)})"
    else:
        text = "The learner of best mean beats all others at no size studied"
    level = [lead for standing in standings for lead in standing.level]
    if level:
        most = max(level, key=lambda lead: lead.mean)
        counts = {len(standing.level) for standing in standings if standing.level}
        others = f"{min(counts)} to {max(counts)}" if len(counts) > 1 else f"{max(counts)}"
        where = among([standing.size for standing in standings if standing.level], sizes)
        text += f"; {where} {others} of the others "
        text += "is" if counts == {1} else "are"
        text += f" not told apart from it (at most {_placed(most, holm)})"
    if any(standing.beaten_by for standing in standings):
        text += "; where models are missing, another beats it over the models that both have"
    return [f"The best mean is {owners}.", f"{text}."]


def _placed(lead: Lead, holm: bool) -> str:
    return f"{lead.numbers(holm)} over {lead.rival} at {lead.size:,}"


def _changes(
    thresholds: pd.DataFrame,
    pairs: pd.DataFrame,
    leaders: set[str],
    sizes: list[int],
    alpha: float,
) -> list[str]:
    """Which crossings are established, and which pairs are told apart at no size."""
    parts = [] if thresholds.empty else [crossings_said(thresholds, leaders, sizes)]
    told = pairs.assign(told=pairs["p_adjusted"] < alpha)
    apart = told.groupby(["first", "second"], sort=False)["told"].any()
    never = apart.index[~apart].tolist()
    if 0 < len(never) < len(apart) and len(sizes) > 1:
        named = len(never) == 1
        whom = listed(never[0]) if named else f"{len(never)} of {len(apart)} pairs"
        parts.append(f"{whom} are told apart at no size studied")
    return [opening("; ".join(parts)) + "."] if parts else []


def _method(
    pairs: pd.DataFrame,
    crossings: bool,
    info: MeasureInfo,
    confidence: float,
    adjustment: str,
    models: int | None,
) -> str:
    """What the statements above rest on."""
    m = int(pairs["m"].iloc[0])
    scope = {
        "bonferroni": f"Bonferroni-adjusted for m = {m} pairs at each size",
        "bonferroni_all": f"Bonferroni-adjusted for m = {m} pairs over all sizes",
        "holm": f"Holm-adjusted over m = {m} pairs at each size",
        "none": "not adjusted for the number of pairs",
    }[adjustment]
    if m == 1 and adjustment != "none":
        scope = scope.replace("pairs", "pair")
    least, most = int(pairs["n"].min()), int(pairs["n"].max())
    used = f"{most}" if least == most else f"{least} to {most}"
    used += f" of {models}" if models is not None and least < models else ""
    level = f"{100 * confidence:.10g}%"
    better = "" if info.greater_is_better else ", where less is better"
    said = (
        f"Paired t tests between {used} models at {level} confidence, {scope}; numbers are "
        f"differences in mean {info.label}{better}, in favour of the learner named first"
    )
    if crossings:
        said += (
            "; crossings are interpolated, linearly in log rows, with a "
            f"{level} interval from the paired t test of each pair by itself"
        )
    return f"{said}."


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
        parts.append(f"infinite scores, with which nothing is tested, has {listed(names)}")
    return [opening("; ".join(parts)) + "."] if parts else []
