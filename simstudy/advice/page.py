"""The page of advice on a table: one HTML file that needs nothing else; its figure and tables."""

from __future__ import annotations

import shlex

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
        learners=svg.swatches(advice.learners),
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
    heights, ends, described = [], [], []
    if outlook.ceiling_holds:
        level = [outlook.ceiling.value] * len(sizes)
        layers.append(spec.Line(sizes, level, "ceiling", "ceiling"))
        heights += level
    for place, label in enumerate(outlook.learners):
        measured = course[:, place].tolist()
        predicted = [outlook.predicted(place, size) for size in sizes]
        means, lows = [each.value for each in predicted], [each.low for each in predicted]
        highs = [each.high for each in predicted]
        x = [size * asides[place] for size in sizes]
        tips = [
            f"{label}, {n:,} rows: {number(score)} measured"
            for n, score in zip(real, measured, strict=True)
        ]
        tips += [
            f"{label}, {n:,} rows: {number(at.value)} [{number(at.low)}, {number(at.high)}] "
            "predicted"
            for n, at in zip(sizes, predicted, strict=True)
        ]
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
    )


def _estimate_cell(estimate: IntervalEstimate, place: int = -1, bold: bool = False) -> TableCell:
    """An estimate with its interval below."""
    learners = (place,) if place >= 0 else ()
    interval = f"[{fixed(estimate.low)}, {fixed(estimate.high)}]"
    return TableCell(fixed(estimate.value), interval, learners=learners, bold=bold)


def now_table(advice: Advice) -> Table:
    """Make the table of cross-validated scores."""
    lines = [
        [
            words(label, "", place),
            *(_estimate_cell(at.now[place], place, at.best_now == place) for at in advice.outlooks),
        ]
        for place, label in enumerate(advice.learners)
    ]
    return make_table(
        "now",
        f"Scores with your {rows(advice.about.rows)} rows",
        [words("learner"), *(TableCell(axis_label(at.info)) for at in advice.outlooks)],
        lines,
        caption="Means over splits; 95% intervals correct for shared rows (Nadeau & Bengio 2003). "
        "Bold: best.",
        data=advice.now(),
    )


def _predicted_table(advice: Advice, outlook: Outlook) -> Table:
    """Make the table of predicted scores of a measure."""
    table, info = advice.forecast(), outlook.info
    return by_size(
        f"predicted_{outlook.measure}",
        f"Predicted {axis_label(info)}",
        experiment(DEFAULT),
        outlook.learners,
        outlook.sizes,
        {
            (label, size): _estimate_cell(
                outlook.predicted(place, size), place, place == outlook.best(size)
            )
            for size in outlook.sizes
            for place, label in enumerate(outlook.learners)
        },
        caption="By number of training rows; intervals hold 95% of the scenarios. Bold: best mean.",
        data=table[table["measure"] == outlook.measure],
    )


def gain_table(advice: Advice) -> Table:
    """Make the table of what more rows bring."""
    sizes, number_of = advice.outlooks[0].sizes[1:], len(advice.learners)
    lines = [
        [
            words(label, "points of accuracy" if at.is_accuracy else axis_label(at.info), place),
            *(_gained(at, place, size) for size in sizes),
        ]
        for at in advice.outlooks
        for place, label in enumerate(advice.learners)
    ]
    return make_table(
        "gains",
        "What more rows bring",
        [words("learner"), *(TableCell(f"{rows(s - advice.about.rows)} more") for s in sizes)],
        lines,
        rules={*range(number_of, len(lines), number_of)},
        caption="Gain over the score with your rows; intervals hold 95% of the scenarios.",
        data=advice.gains(),
    )


def _gained(outlook: Outlook, place: int, size: int) -> TableCell:
    value, low, high = prose.gain_numbers(outlook, place, size)
    return TableCell(value, f"[{low}, {high}]")


def _check_table(outlook: Outlook) -> Table:
    """Make the table of simulated beside cross-validated scores."""
    check = outlook.check
    lines = [
        [
            words(label, "", place),
            _estimate_cell(check.measured[place]),
            _estimate_cell(check.simulated[place]),
            TableCell(plus(check.distances[place], 1)),
        ]
        for place, label in enumerate(outlook.learners)
    ]
    return make_table(
        f"check_{outlook.measure}",
        opening(f"{axis_label(outlook.info)} with {rows(outlook.simulated.start)} training rows"),
        ["learner", "your rows", "simulated", "standard errors apart"],
        lines,
        caption="Simulated: mean over the simulated truths, with the range of 95% of them.",
    )
