"""The page of advice on a table: one HTML file that needs nothing else; its figure and tables."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from markupsafe import Markup

import simstudy
from simstudy.advice import prose
from simstudy.advice.facts import Advice, IntervalEstimate, Outlook
from simstudy.experiments import DEFAULT, experiment
from simstudy.report.charts import spec, svg
from simstudy.report.charts.spec import Axis, Chart
from simstudy.report.pages.page import render
from simstudy.report.prose.numbers import fixed, number, plus, rows
from simstudy.report.prose.phrases import axis_label, opening
from simstudy.report.tables.table import Table, TableCell, by_size, make_table, words


def advice_page(advice: Advice) -> str:
    """Write the page: the same bytes each time."""
    return render(
        "advice.html",
        manifest={"conditions": {"simstudy": simstudy.__version__}},
        title=f"{advice.about.name}: which learner, and how many rows?",
        about=advice.about,
        learners=svg.swatches(advice.learners, advice.outlooks[0].names),
        views=[_view(advice, at) for at in range(len(advice.outlooks))],
        now_table=now_table(advice),
        more_rows=prose.more_rows(advice),
        gain_table=gain_table(advice),
        left_out=prose.left_out(advice.about),
        basis=prose.basis(advice),
        doubts=prose.DOUBTS,
        proved=prose.PROVED,
        commands=[
            f"simstudy run {shlex.quote(part)}/study.toml --out {shlex.quote(part)}"
            for part in ("table", "simulated")
        ],
    )


def _view(advice: Advice, at: int) -> dict[str, object]:
    """The sentences, the figure and the tables of one measure."""
    outlook = advice.outlooks[at]
    chart = outlook_chart(outlook)
    return {
        "index": at,
        "info": outlook.info,
        "headline": prose.headline(outlook),
        "now": prose.now(outlook),
        "overtaking": prose.overtaking(outlook),
        "ceiling": prose.ceiling(outlook),
        "ceiling_holds": outlook.ceiling_holds,
        "check": prose.check(outlook),
        "verdict": outlook.check.verdict,
        "wide": svg.draw(chart, f"outlook{at}w", svg.CURVES, labels=True),
        "narrow": svg.draw(chart, f"outlook{at}n", svg.NARROW),
        "notes": chart.notes,
        "predicted": _predicted_table(advice, outlook),
        "check_table": _check_table(outlook),
    }


def notebook_advice(advice: Advice) -> str:
    """Write what a notebook shows: the sentences."""
    items = Markup("").join(map(Markup("<li>{}</li>").format, prose.summary(advice)))
    head = Markup("<strong>{}</strong><ul>{}</ul>")
    return str(head.format(f"{advice.about.name}: {advice.about.rows:,} rows", items))


def outlook_chart(outlook: Outlook) -> Chart:
    """Draw the learning curves of the table, and predicted scores with their intervals."""
    real, sizes, info = outlook.present.sizes, outlook.sizes, outlook.info
    course = outlook.present.scores.mean(axis=0)
    layers: list[spec.Layer] = [spec.Rule(float(outlook.rows), upright=True)]
    if info.zero:
        layers.append(spec.Rule(0.0, info.zero))
    asides = spec.dodges(sizes, len(outlook.learners))
    predicted = [*zip(*map(outlook.predicted, sizes), strict=True)]  # by learner, then size
    heights, ends, described = [], [], []
    if outlook.ceiling_holds:
        level = [outlook.ceiling.value] * len(sizes)
        layers.append(spec.Line(sizes, level, "ceiling", "ceiling"))
        heights += level
    for place, label in enumerate(outlook.learners):
        measured = course[:, place].tolist()
        means, lows, highs = map(list, zip(*predicted[place], strict=True))
        x = [size * asides[place] for size in sizes]
        texts = [f"{number(score)} measured" for score in measured]
        texts += ["{} [{}, {}] predicted".format(*map(number, each)) for each in predicted[place]]
        both = zip([*real, *sizes], texts, strict=True)
        tips = [f"{label}, {n:,} rows: {text}" for n, text in both]
        layers += [
            spec.Line(real, measured, learner=place),
            spec.Span(x, lows, highs, learner=place),
            spec.Line([real[-1], *x], [measured[-1], *means], "limit", label, learner=place),
            spec.Marks([*real, *x], [*measured, *means], tips, learner=place),
        ]
        heights += [*measured, *means]
        ends += [*lows, *highs]
        described.append(
            f"{label} {number(measured[-1])} now, {number(means[-1])} predicted with "
            f"{sizes[-1]:,} rows"
        )
    (low, high), cut = spec.cut_reach(heights, ends, [0.0] * bool(info.zero))
    return Chart(
        "",
        f"{info.label} against training rows, measured and predicted",
        f"{axis_label(info)}: {'; '.join(described)}.",
        spec.sizes_axis(sorted({*real, *sizes}), "training rows"),
        Axis(axis_label(info), low, high),
        tuple(layers),
        notes=("Bars that reach the edge are truncated.",) * cut,
        names=outlook.names,
    )


def _cells(
    estimates: Iterable[IntervalEstimate], best: int = -1, coloured: bool = True
) -> list[TableCell]:
    """The estimates of all learners, each with its interval below; the best in bold."""
    return [
        TableCell(
            fixed(each.value),
            f"[{fixed(each.low)}, {fixed(each.high)}]",
            learners=(place,) * coloured,
            bold=place == best,
        )
        for place, each in enumerate(estimates)
    ]


def _lines(learners: Sequence[str], *columns: Sequence[TableCell]) -> list[Sequence[TableCell]]:
    """A line for each learner, after its name."""
    names = [words(label, "", place) for place, label in enumerate(learners)]
    return [*zip(names, *columns, strict=True)]


def now_table(advice: Advice) -> Table:
    """Make the table of cross-validated scores."""
    heads = ["learner", *(axis_label(at.info) for at in advice.outlooks)]
    lines = _lines(advice.learners, *(_cells(at.now, at.best_now) for at in advice.outlooks))
    caption = (
        "Means over splits; 95% intervals correct for shared rows (Nadeau & Bengio 2003). Bold: "
        "best mean."
    )
    title = f"Scores with your {rows(advice.about.rows)} rows"
    return make_table("now", title, heads, lines, caption=caption, data=advice.now())


def _predicted_table(advice: Advice, outlook: Outlook) -> Table:
    """Make the table of predicted scores of a measure."""
    table, labels, sizes = advice.forecast(), outlook.learners, outlook.sizes
    cells: dict[tuple[str, int], TableCell] = {}
    for size in sizes:
        column = _cells(outlook.predicted(size), outlook.best(size))
        cells |= {(label, size): cell for label, cell in zip(labels, column, strict=True)}
    name, title = f"predicted_{outlook.measure}", f"Predicted {axis_label(outlook.info)}"
    caption = "By number of training rows; intervals hold 95% of the scenarios. Bold: best mean."
    data, kind = table[table["measure"] == outlook.measure], experiment(DEFAULT)
    return by_size(name, title, kind, labels, sizes, cells, caption=caption, data=data)


def gain_table(advice: Advice) -> Table:
    """Make the table of what more rows bring."""
    sizes, learners, lines = advice.outlooks[0].sizes[1:], advice.learners, []
    for outlook in advice.outlooks:
        unit = "points of accuracy" if outlook.is_accuracy else axis_label(outlook.info)
        for place, label in enumerate(learners):
            gains = [prose.gain_numbers(outlook, place, size) for size in sizes]
            cells = [TableCell(value, f"[{low}, {high}]") for value, low, high in gains]
            lines.append([words(label, unit, place), *cells])
    heads = ["learner", *(f"{rows(size - advice.about.rows)} more" for size in sizes)]
    caption = "Gain over the score with your rows; intervals hold 95% of the scenarios."
    rules = {*range(len(learners), len(lines), len(learners))}
    title, data = "What more rows bring", advice.gains()
    return make_table("gains", title, heads, lines, caption=caption, data=data, rules=rules)


def _check_table(outlook: Outlook) -> Table:
    """Make the table of simulated beside cross-validated scores."""
    check = outlook.check
    columns = [_cells(each, coloured=False) for each in (outlook.now, check.simulated)]
    distances = [TableCell(plus(distance, 1)) for distance in check.distances]
    name, training_rows = f"check_{outlook.measure}", rows(outlook.simulated.start)
    title = opening(f"{axis_label(outlook.info)} with {training_rows} training rows")
    heads = ["learner", "your rows", "simulated", "standard errors apart"]
    caption = "Simulated: mean over the simulated truths, with the range of 95% of them."
    lines = _lines(outlook.learners, *columns, distances)
    return make_table(name, title, heads, lines, caption=caption)
