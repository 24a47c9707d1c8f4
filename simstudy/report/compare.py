"""One page that sets several studies side by side, in one file that needs no network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from simstudy.analysis.claims import StatementVerdict
from simstudy.analysis.findings import ModelFindings
from simstudy.experiments import shared_words
from simstudy.report.charts import curves as lines
from simstudy.report.charts import svg, sweep
from simstudy.report.prose import captions, claims, comparison
from simstudy.report.prose.design import question
from simstudy.report.prose.finding import finding
from simstudy.report.prose.phrases import axis_label, listed, with_unit
from simstudy.report.prose.statements import statements
from simstudy.report.prose.verdicts import pair_method
from simstudy.report.tables import comparison as build
from simstudy.report.templating import render
from simstudy.report.wording import reworded
from simstudy.results.results import Results

_MAX_LEARNERS = 20  # whose lines are drawn


def compare_page(
    studies: Mapping[str, Results],
    measure: str,
    verdicts: Sequence[StatementVerdict] = (),
    *,
    readings: claims.Readings = (),
    changes: pd.DataFrame | None = None,
    not_compared: str = "",
    title: str = "",
    citation: str = "",
    note: str = "",
    variants: bool = False,
) -> str:
    """Write the page as HTML.

    Parameters
    ----------
    studies
        The results by the names of the studies.
    measure
        A measure that all of them have.
    verdicts
        On statements about them.
    readings
        The verdicts under several readings, first those above.
    changes
        The table of `analysis.compare`, whose studies have the same names.
    not_compared
        Why there is none, if the numbers of the studies are not of one kind.
    title, citation, note
        Of the page, where the statements are from, and what is known beyond the verdicts.
    variants
        Whether the studies are variants of one; the readings then have the findings of each.
    """
    found = {name: results.findings(measure) for name, results in studies.items()}
    labels = [one.design.learners for one in found.values()]
    learners = list(dict.fromkeys(label for own in labels for label in own))
    shared = [label for label in learners if all(label in own for own in labels)]
    reference = shared[0] if shared and len(learners) > 1 else ""
    shown = [*shared, *(label for label in learners if label not in shared)][:_MAX_LEARNERS]
    places = {label: learners.index(label) for label in shown}
    first = next(iter(found.values()))
    units = {name: one.info.unit for name, one in found.items()}
    one_unit = len({*units.values()}) == 1
    info = first.info
    if not one_unit:
        info = replace(info, unit=listed([f"{unit} in {name}" for name, unit in units.items()]))
    every = [*found.values()], [*found], learners, shown
    charts = lines.studies(*every)
    leads = lines.studies(*every, reference) if reference else []
    curves = [svg.draw(c, f"curves{i}", svg.STUDY).picture for i, c in enumerate(charts)]
    differences = [svg.draw(c, f"leads{i}", svg.STUDY).picture for i, c in enumerate(leads)]
    several = {name: one for name, one in found.items() if len(one.design.learners) > 1}
    table = None
    if changes is not None and not changes.empty:
        table = build.changes(changes, with_unit(info), first.design.confidence, places)
    summary = claims.variants_summary if variants else claims.readings_summary
    differ = not_compared if changes is None else comparison.changes_summary(changes)
    read_so = summary(readings) if readings else ""
    counts = claims.counts(verdicts) if verdicts else ""
    sentences = [*filter(None, (counts, read_so, differ))] or [finding(first)]
    return render(
        "compare.html",
        kind=shared_words([one.study.kind for one in studies.values()]),
        manifest=next(iter(studies.values())).manifest,
        title=title or f"Comparison of {listed([*studies])}",
        citation=citation,
        columns=[
            {
                "name": name,
                "title": name if variants else results.study.heading,
                "question": question(results.study, found[name].info),
                "finding": reworded(finding(found[name]), results.study.kind),
                "statements": reworded(
                    statements(
                        found[name], results.manifest["failures"], results.manifest["cells"]
                    ),
                    results.study.kind,
                ),
                "unit": units[name],
                "curves": curves[place],
                "differences": differences[place] if reference else None,
            }
            for place, (name, results) in enumerate(studies.items())
        ],
        learners=[(place, label, svg.swatch(place)) for label, place in places.items()],
        label=with_unit(info),
        axis=axis_label(info),
        shared=one_unit,
        reference=reference,
        left_off=len(learners) - len(shown),
        bars=len(shown) <= captions.MAX_BARS,
        cut=any(chart.notes for chart in (*charts, *leads)),
        interval_note=comparison.of_each(
            found, lambda one: f"{captions.intervals(one)}, {captions.models(one)}"
        ),
        pair_note=comparison.of_each(several, pair_method),
        bars_note=comparison.of_each(several, comparison.pair_intervals),
        found=sentences,
        changes=differ,
        changes_table=table,
        designs=build.designs(studies),
        unlike=comparison.unlike(studies),
        statements=build.statements(verdicts, studies) if verdicts else None,
        failed=claims.not_reproduced(verdicts),
        note=note,
        readings=[reading for reading, _ in readings],
        readings_table=build.readings(readings, variants) if readings else None,
        variants=variants,
        sweep=_sweep(found, learners) if variants and len(found) > 1 else None,
    )


def _sweep(found: Mapping[str, ModelFindings], learners: Sequence[str]) -> dict[str, object]:
    """How winners and thresholds move from variant to variant."""
    thresholds = sweep.thresholds(found, learners)
    drawn = None if thresholds is None else svg.draw(thresholds, "thresholds", svg.CURVES, True)
    several = len(learners) > 1
    winners = svg.draw(sweep.winners(found, learners), "winners", svg.CURVES) if several else None
    return {
        "winners": winners.picture if winners else None,
        "thresholds": drawn.picture if drawn else None,
        "key": [(line.label, svg.swatch(line.series or 0)) for line in thresholds.labelled]
        if thresholds and drawn and not drawn.labelled
        else [],
        "notes": thresholds.notes if thresholds else (),
        "table": build.sweep(found),
    }
