"""What regret is made of."""

from __future__ import annotations

from collections.abc import Sequence

from simstudy.analysis.regret import Regret
from simstudy.report.charts.spec import (
    Axis,
    Band,
    Chart,
    Key,
    Line,
    Marks,
    Panels,
    reach,
    sizes_axis,
)
from simstudy.report.prose.numbers import number

KEY = (
    Key("regret", "dot"),
    Key("estimation: what more data would win back", "estimation"),
    Key("representation: what no amount would", "representation"),
)


def regret(split: Regret, learners: Sequence[str], unit: str, shown: Sequence[str] = ()) -> Panels:
    """Mean regret and its parts, a panel for each learner that has them, on the same axes.

    ``learners`` are all of the study; ``shown``, if given, those to be drawn.
    """
    table = split.table
    sizes = [int(size) for size in sorted(set(table["size"]))]
    ends = reach([0.0, *table["regret"], *table["representation"]])
    y = Axis(f"regret ({unit})" if unit else "regret", *ends)
    charts = []
    for label in split.learners:
        if shown and label not in shown:
            continue
        rows = table[table["learner"] == label].sort_values("size").to_dict("records")
        x, whole, floor = (
            [row[key] for row in rows] for key in ("size", "regret", "representation")
        )
        tips = [
            f"{row['size']:,} rows: regret {number(row['regret'])}, representation "
            f"{number(row['representation'])}, estimation {number(row['estimation'])}"
            for row in rows
        ]
        told = (
            f"Regret of {label} from {number(whole[0])} at {sizes[0]:,} rows to "
            f"{number(whole[-1])} at {sizes[-1]:,}, of which representation {number(floor[0])} "
            f"and {number(floor[-1])}."
        )
        layers = (
            Band(x, [0.0] * len(x), floor, kind="representation"),
            Band(x, floor, whole, kind="estimation"),
            Line(x, floor, "floor"),
            Line(x, whole),
            Marks(x, whole, tips, "dot"),
        )
        number_of = learners.index(label)
        charts.append(
            Chart(
                label,
                f"Regret of {label}",
                told,
                sizes_axis(sizes),
                y,
                layers,
                kind="regret",
                learners=(number_of,),
            )
        )
    across = 6 if len(charts) > 12 else 0
    return Panels(tuple(charts), KEY, across=across, height=1.55, shared=True)
