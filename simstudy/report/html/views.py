"""What the report page shows of one measure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simstudy.analysis.standings import UNTESTED, judged
from simstudy.measures.base import MeasureInfo
from simstudy.report import words
from simstudy.report.html import charts, matrix, panels, svg, tables
from simstudy.report.html.differences import Differences, differences
from simstudy.report.html.panels import Panel
from simstudy.report.html.tables import Cell, Table, heads
from simstudy.report.numbers import NONE, brief, number

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.results.results import Results

MOST_IN_MATRIX = 8  # learners whose pairs are all shown
_NAMED = 5


@dataclass(frozen=True)
class Tests:
    """Tests of one measure: the ANOVA, a mixed model if cells are missing, and all pairs."""

    anova: Table | None
    mixed: Table | None
    notes: list[str]
    pairs: list[Table]
    pair_notes: list[str]


@dataclass(frozen=True)
class View:
    """The figures and tables of one measure."""

    index: int
    name: str
    info: MeasureInfo
    wide: charts.Drawn
    narrow: charts.Drawn
    notes: list[str]
    means: Table
    differences: Differences
    tests: Tests
    models: list[Panel]
    precision: Table
    needed: Table | None


def view(results: Results, index: int) -> View:
    """Analyse one of the measures and draw what was found."""
    name = results.measures[index]
    info, intervals = results.info(name), results.intervals(name)
    ceiling, limits = _ceiling(results, name), _limits(results, name)
    curves = []
    for learner, label in enumerate(results.learners):
        part = intervals[intervals["learner"] == label]
        mean, lower, upper = (part[key].tolist() for key in ("mean", "lower", "upper"))
        limit = limits.get(label, ())
        curves.append(charts.Curve(learner, label, mean, lower, upper, limit))
    wide, narrow = (
        charts.learning_curves(curves, results.sizes, info, f"curves{index}{kind}", width, ceiling)
        for kind, width in (("w", 780.0), ("n", 360.0))
    )
    precision = results.precision(name)
    return View(
        index,
        name,
        info,
        wide,
        narrow,
        _curve_notes(results, name, intervals, bool(ceiling), bool(limits), wide.cut),
        tables.means(results, intervals, info, name),
        differences(results, index, intervals),
        _tests(results, name, info, intervals),
        _models(results, index),
        tables.precision(results, precision, info, name),
        _needed(results, name, precision),
    )


def _counted(results: Results, name: str) -> pd.DataFrame:
    """The scores of the models that the means are over."""
    scores = results.scores
    lost = scores["model"][scores[name].isna()]
    kept = scores[~scores["model"].isin(lost)]
    return kept if kept["model"].nunique() >= 2 else scores


def _part(results: Results, name: str, part: str) -> str | None:
    """The column of a part of regret that belongs to an information reward."""
    test = name.removeprefix("information_reward")
    column = part + test
    return column if test in ("", "_sampled") and column in results.measures else None


def _ceiling(results: Results, name: str) -> list[float]:
    """What the true class probabilities earn at each size: the reward plus the regret."""
    column = _part(results, name, "regret")
    if column is None:
        return []
    scores = _counted(results, name)
    scores = scores.assign(truth=(scores[name] + scores[column]).where(np.isfinite(scores[column])))
    # The same for all learners, so one that has it is enough.
    each = scores.groupby(["size", "model"])["truth"].first()
    means = each.groupby("size").apply(lambda values: values.mean(skipna=False))
    return [float(means.loc[size]) for size in results.sizes]


def _limits(results: Results, name: str) -> dict[str, list[float]]:
    """What every learner earns of the population: its reward plus what estimation costs it."""
    column = _part(results, name, "estimation")
    if column is None:
        return {}
    scores = _counted(results, name)
    scores = scores.assign(limit=scores[name] + scores[column])
    cells = scores.groupby(["learner", "size"])["limit"]
    means = cells.apply(lambda values: values.mean(skipna=False))
    return {
        label: [float(means.loc[label, size]) for size in results.sizes]
        for label in results.learners
    }


def _curve_notes(
    results: Results, name: str, intervals: pd.DataFrame, ceiling: bool, limits: bool, cut: bool
) -> list[str]:
    """The caption under the learning curves."""
    bars = f"Bars: {words.interval_words(results, intervals)}. They show how much models differ."
    if len(results.learners) > charts.MOST_BARS:
        method = words.interval_words(results, intervals)
        bars = f"So many bars would hide the lines; the table has the {method}."
    said = [f"Means {words.models_words(results, intervals)}. {bars}"]
    if len(results.learners) > 1:
        said.append(
            "Every learner met the same models, so learners are compared by their paired "
            "differences, below, and not by whether intervals overlap. Marks of one size stand "
            "side by side."
        )
    if ceiling:
        text = "The grey dashed line is the ceiling, what the true class probabilities earn"
        if limits and len(results.learners) <= charts.MOST_LIMITS:
            text += "; dotted lines are the learners’ limits, what each earns of the population"
        said.append(f"{text}.")
    elif name == "information_reward" and not ceiling:
        said.append(
            "To see the ceiling and the learners’ limits here, add “regret”, “representation” and "
            "“estimation” to “also” under [measures] in the study."
        )
    if cut:
        said.append("Bars that reach the edge are longer than they are drawn.")
    missing = intervals[~np.isfinite(intervals["mean"])]
    if len(missing):
        cells = [
            f"{brief(row['learner'])} at {row['size']:,} rows ({number(row['mean'])})"
            for row in missing.head(_NAMED).to_dict("records")
        ]
        more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
        said.append(f"Not drawn, the mean being infinite or missing: {', '.join(cells)}{more}.")
    return said


def _tests(results: Results, name: str, info: MeasureInfo, intervals: pd.DataFrame) -> Tests:
    """The ANOVA, with what it had to leave out, and the pairs at each size."""
    table, left_out, said = None, [], []
    try:
        anova = results.anova(name)
        left_out = words.left_out_words(anova.attrs.get("left_out", []))
        if anova.empty:
            said.append("No ANOVA: one learner at one size leaves nothing to compare.")
        else:
            table = tables.anova(anova, name)
            said.append(
                f"{anova.attrs['subjects']} models. G–G and H–F: corrected after Greenhouse and "
                "Geisser, and Huynh and Feldt, for departures from sphericity, which Mauchly’s W "
                "tests; where ε is well below 1, read the corrected p. η²G and η²p: generalized "
                "and partial eta squared. "
                "A dash stands for what is not defined, as W is for one contrast, or for more "
                "contrasts than the models allow."
            )
            if more := words.size_effect_words(results, name):
                said.append(more)
    except ValueError as error:
        said.append(f"No ANOVA: {error}.")
    if left_out:
        more = f"; and {len(left_out) - _NAMED} more" if len(left_out) > _NAMED else ""
        whom = "; ".join(left_out[:_NAMED])
        said.append(f"Left out of the ANOVA ({len(left_out)} models): {whom}{more}.")
    mixed = None
    if results.scores[name].isna().any():
        try:
            found = results.mixed(name)
            mixed = tables.mixed(found, name)
            attrs = found.attrs
            note = f"; {attrs['note']}" if attrs["note"] else ""
            said.append(
                "The mixed model uses all cells there are: REML, Satterthwaite’s degrees of "
                "freedom; like the uncorrected ANOVA it supposes sphericity; "
                f"{attrs['values']} cells of {attrs['subjects']} models, {attrs['missing']} "
                f"missing{note}."
            )
        except ValueError as error:
            said.append(f"No mixed model: {error}.")
    pairs, pair_notes = _pairs(results, name, info, intervals)
    return Tests(table, mixed, said, pairs, pair_notes)


def _pairs(
    results: Results, name: str, info: MeasureInfo, intervals: pd.DataFrame
) -> tuple[list[Table], list[str]]:
    """A table of pairs for each size, and what its numbers are."""
    pairs = results.pairwise(name)
    if pairs.empty:
        return [], ["One learner has nothing to be compared with."]
    few = len(results.learners) <= MOST_IN_MATRIX
    found = []
    for size in results.sizes:
        here = pairs[pairs["size"] == size]
        if few:
            found.append(matrix.matrix(results, here, info, size, name))
        else:
            found.append(matrix.leader(results, here, intervals, info, size, name))
    method = words.pair_words(results, pairs)
    holm = results.settings["analysis"]["adjustment"] == "holm"
    last = "Holm’s p value" if holm else "the interval"
    said = [
        f"In each cell the learner that beats the other, by how much, and {last}: {method}. "
        "Numbers are in favour of the learner named in the cell. “Not told apart” is no proof "
        "that two are equal."
    ]
    if not few:
        said.append(
            f"With {len(results.learners)} learners the one of best mean is shown against the "
            "others; it was not named in advance. All pairs are in pairwise.csv."
        )
    alpha, models = 1 - results.settings["analysis"]["confidence"], results.settings["models"]
    every = judged(pairs, info.greater_is_better, alpha)
    tested = [pair.n for pair in every if pair.verdict != UNTESTED]
    if tested and min(tested) < models:
        used = f"{min(tested)} to {max(tested)}"
        said.append(f"Pairs are compared over the models that both have: {used} of {models}.")
    return found, said


def _models(results: Results, index: int) -> list[Panel]:
    """A panel for each learner with the score of every model."""
    name, scores = results.measures[index], results.scores
    ends = svg.reach(scores[name].tolist())
    return [
        Panel(
            label,
            panels.models(
                scores[scores["learner"] == label],
                name,
                learner,
                results.sizes,
                ends,
                f"models{index}-{learner}",
            ),
            str(learner),
        )
        for learner, label in enumerate(results.learners)
    ]


def _needed(results: Results, name: str, precision: pd.DataFrame) -> Table | None:
    """How many models would bring all standard errors down to a few round numbers."""
    largest = precision["mcse"].max()
    if not (svg.drawable(largest) and largest > 0):
        return None
    power = 10.0 ** math.floor(math.log10(largest))
    steps = [times * power / 10 for times in (50, 20, 10, 5, 2, 1)]
    lines: list[tuple[str | None, list[Cell]]] = []
    for target in [step for step in steps if step < largest][:3]:
        counts = results.precision(name, mcse=target).groupby("kind")["models_needed"].max()
        cells = [tables.words_cell(f"{target:g}")]
        for kind in ("mean", "difference"):
            known = kind in counts and counts.loc[kind] > 0
            cells.append(Cell(f"{int(counts.loc[kind]):,}" if known else NONE))
        lines.append((None, cells))
    top = heads("for a standard error of", "of every mean", "of every paired difference")
    return Table(f"models_needed_{name}", "Models needed", top, lines)
