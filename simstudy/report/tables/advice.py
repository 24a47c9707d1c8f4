"""Tables of advice: scores now, predicted scores, gains, and the check of simulated truths."""

from __future__ import annotations

from simstudy.analysis.advice import Advice
from simstudy.analysis.outlook import IntervalEstimate, Outlook
from simstudy.experiments import DEFAULT, experiment
from simstudy.report.prose.numbers import fixed, plus, rows
from simstudy.report.prose.phrases import axis_label, opening
from simstudy.report.tables.table import Table, TableCell, by_size, make_table, words


def now_table(advice: Advice) -> Table:
    """Make the table of cross-validated scores."""
    heads = [words("learner"), *(TableCell(axis_label(one.info)) for one in advice.outlooks)]
    lines = []
    for place, label in enumerate(advice.learners):
        cells = [_scored(one.now[place], one, place) for one in advice.outlooks]
        lines.append([words(label, "", place), *cells])
    return make_table(
        "now",
        f"Scores with your {rows(advice.about.rows)} rows",
        heads,
        lines,
        caption="Means over the splits, with 95% intervals that allow for shared rows (Nadeau & "
        "Bengio 2003). Bold: the best.",
        data=advice.now(),
    )


def _scored(one: IntervalEstimate, of: Outlook, place: int) -> TableCell:
    return TableCell(fixed(one.value), _between(one), learners=(place,), bold=of.best_now == place)


def _between(one: IntervalEstimate) -> str:
    return f"[{fixed(one.low)}, {fixed(one.high)}]"


def predicted_table(advice: Advice, at: int) -> Table:
    """Make the table of predicted scores of a measure."""
    one = advice.outlooks[at]
    cells = {}
    for size in one.sizes:
        best = one.best(size)
        for place, label in enumerate(one.learners):
            found = one.predicted(place, size)
            shown = fixed(found.value), _between(found)
            cells[label, size] = TableCell(*shown, learners=(place,), bold=place == best)
    table = advice.forecast()
    return by_size(
        f"predicted_{one.measure}",
        f"Predicted {axis_label(one.info)}",
        experiment(DEFAULT),
        one.learners,
        one.sizes,
        cells,
        caption="With so many training rows; 95% of the scenarios lie within the intervals. Bold: "
        "the best mean.",
        data=table[table["measure"] == one.measure],
    )


def gain_table(advice: Advice) -> Table:
    """Make the table of what more rows bring."""
    sizes = advice.outlooks[0].sizes[1:]
    heads = [words("learner"), *(TableCell(f"{rows(s - advice.about.rows)} more") for s in sizes)]
    lines: list[list[str | TableCell]] = []
    rules = set()
    for one in advice.outlooks:
        percent = one.measure == "accuracy"
        unit = "points of accuracy" if percent else axis_label(one.info)
        if lines:
            rules.add(len(lines))
        for place, label in enumerate(one.learners):
            found = [one.gain(place, size) for size in sizes]
            name = words(label, unit, place)
            lines.append([name, *(_gained(gain, 100.0 if percent else 1.0) for gain in found)])
    return make_table(
        "gains",
        "What more rows bring",
        heads,
        lines,
        rules=rules,
        caption="Gain over the score with your rows; the intervals hold 95% of the scenarios.",
        data=advice.gains(),
    )


def _gained(one: IntervalEstimate, times: float) -> TableCell:
    decimals = 1 if times > 1 else 3
    value, low, high = (plus(times * v, decimals) for v in (one.value, one.low, one.high))
    return TableCell(value, f"[{low}, {high}]")


def check_table(advice: Advice, at: int) -> Table:
    """Make the table of simulated beside cross-validated scores."""
    one = advice.outlooks[at]
    found = one.check
    lines = []
    for place, label in enumerate(one.learners):
        measured, simulated = found.measured[place], found.simulated[place]
        lines.append(
            [
                words(label, "", place),
                TableCell(fixed(measured.value), _between(measured)),
                TableCell(fixed(simulated.value), _between(simulated)),
                TableCell(plus(found.distances[place], 1)),
            ]
        )
    return make_table(
        f"check_{one.measure}",
        opening(f"{axis_label(one.info)} with {rows(one.simulated.start)} training rows"),
        ["learner", "your rows", "simulated", "standard errors apart"],
        lines,
        caption="Simulated: over truths drawn given your rows, with the range of 95% of them.",
    )
