"""A chart as a small picture in a file of its own, which other pages show without trusting it."""

from __future__ import annotations

from dataclasses import replace

from simstudy.report.charts import spec, svg
from simstudy.report.charts.spec import COLOURS, DASHES, Chart

SMALL, _ROW, _NAMED = (340.0, 170.0), 30.0, 8  # more rows have no names
_STYLE = (
    "path{fill:none;stroke:#57606a}text{font:12px sans-serif;fill:#1f2328}.s text{fill:var(--k)}"
    ".s .line{stroke:var(--k);stroke-width:2.2}.s .dots{stroke:var(--k)}"
    ".dots{stroke-width:6;stroke-linecap:round}.others,.grid{stroke:#d8dce1}"
    ".ceiling,.zero{stroke-dasharray:6 4}.s .limit,.leader{stroke:none}"
    ".s .pale,.s .full,.s>path[transform]{fill:var(--k);stroke:none}.pale{opacity:.4}"
    ".keeps{fill:#e9ecef;stroke:none}.whisker{stroke:none}path.rest{stroke:#b8bec5}"
    ".s .ring{stroke:var(--k)}.join{stroke:#b8bec5;stroke-width:5}"
)


def thumbnail(chart: Chart) -> str:
    """Draw a chart without intervals and tips; one that is not made of rows, also without axes."""
    rows = len(chart.y.marks) if chart.y.kind == "rows" and len(chart.y.marks) <= _NAMED else 0
    kept = (each for each in chart.layers if getattr(each, "kind", "") not in ("bar", "limit"))
    layers = [replace(each, tips=()) if isinstance(each, spec.Marks) else each for each in kept]
    size = (SMALL[0], 60 + _ROW * rows) if rows else SMALL
    simple = replace(chart, layers=tuple(layers), frame=bool(rows) and chart.frame)
    picture = svg.draw(simple, "card", size, labels=not rows).picture
    looks = [f".k{number}{{--k:{colour}}}" for number, colour in enumerate(COLOURS)]
    looks += [
        f".d{number} .line{{stroke-dasharray:{' '.join(f'{2 * each:g}' for each in dashes)}}}"
        for number, dashes in enumerate(DASHES)
        if dashes
    ]
    style = f"<style>{_STYLE}{''.join(looks)}</style>"
    head, _, rest = picture.partition(">")
    return f'{head} xmlns="http://www.w3.org/2000/svg">{style}{rest}'
