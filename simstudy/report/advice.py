"""The page of advice on a table: one HTML file that needs nothing else."""

from __future__ import annotations

import shlex

from markupsafe import Markup

import simstudy
from simstudy.analysis.advice import Advice
from simstudy.report.charts import svg
from simstudy.report.charts.forecast import outlook_chart
from simstudy.report.prose import advice as prose
from simstudy.report.tables import advice as build
from simstudy.report.templating import render


def advice_page(advice: Advice) -> str:
    """Write the page: the same bytes each time."""
    about = advice.about
    return render(
        "advice.html",
        manifest={"conditions": {"simstudy": simstudy.__version__}},
        title=f"{about.name}: which learner, and how many rows?",
        about=about,
        learners=svg.swatches(advice.learners),
        views=[_view(advice, at) for at in range(len(advice.outlooks))],
        now_table=build.now_table(advice),
        more_rows=prose.more_rows(advice),
        gain_table=build.gain_table(advice),
        left_out=prose.left_out(about),
        basis=prose.basis(advice),
        doubts=prose.DOUBTS,
        proved=prose.PROVED,
        commands=[
            f"simstudy run {shlex.quote(what)}/study.toml --out {shlex.quote(what)}"
            for what in ("table", "simulated")
        ],
    )


def _view(advice: Advice, at: int) -> dict[str, object]:
    """The sentences, the figure and the tables of one measure."""
    one = advice.outlooks[at]
    chart = outlook_chart(one)
    return {
        "index": at,
        "info": one.info,
        "headline": prose.headline(advice, at),
        "now": prose.now(advice, at),
        "overtaking": prose.overtaking(one),
        "ceiling": prose.ceiling(one),
        "ceiling_holds": one.ceiling_holds,
        "check": prose.check(one),
        "verdict": one.check.verdict,
        "wide": svg.draw(chart, f"outlook{at}w", svg.CURVES, labels=True),
        "narrow": svg.draw(chart, f"outlook{at}n", svg.NARROW),
        "notes": chart.notes,
        "predicted": build.predicted_table(advice, at),
        "check_table": build.check_table(advice, at),
    }


def notebook_advice(advice: Advice) -> str:
    """Write what a notebook shows: the sentences."""
    items = Markup("").join(Markup("<li>{}</li>").format(one) for one in prose.summary(advice))
    head = Markup("<strong>{}</strong><ul>{}</ul>")
    return str(head.format(f"{advice.about.name}: {advice.about.rows:,} rows", items))
