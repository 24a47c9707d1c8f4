"""The tables of a study of data sets for papers."""

from __future__ import annotations

from simstudy.analysis.findings import Absent
from simstudy.errors import SimstudyError
from simstudy.experiments.learners.data_results import DataResults
from simstudy.report.data_measures import measure_pairs
from simstudy.report.prose.data_finding import reversal_sentence
from simstudy.report.tables import datasets as build
from simstudy.report.tables.table import Table

ALONE = Absent("it needs at least two learners")


def data_tables(results: DataResults) -> dict[str, Table | Absent]:
    """Means, winners and tests of every measure, and measures compared, by name."""
    several = len(results.treatments) > 1
    found: dict[str, Table | Absent] = {}
    for place, name in enumerate(results.measures):
        findings, end = results.data_findings(name), f"_{name}" if place else ""
        over = findings.over_sets
        found[f"means{end}"] = build.means(findings, spread=True)
        found[f"standings{end}"] = build.standings(findings) if several else ALONE
        found[f"winners{end}"] = build.winners(findings) if several else ALONE
        if over is None:
            found[f"across{end}"] = Absent("it needs two learners and two data sets with all means")
            continue
        found[f"across{end}"] = build.pairs(over, findings.info)
        if len(results.treatments) > 2:
            found[f"tests{end}"] = build.tests(over)
    for first, second in measure_pairs(results.measures):
        labels = (results.info(first).label, results.info(second).label)
        own = f"{first}_{second}"
        reversed_ = results.reversals(first, second, examples=False)
        found[f"reversals_{own}"] = (
            build.reversals(reversed_, labels)
            if reversed_.found
            else Absent(reversal_sentence(reversed_, labels).removesuffix("."))
        )
        found[f"correlations_{own}"] = build.correlations(
            results.correlations(first, second), labels
        )
    try:
        found["properties"] = build.properties(results.properties())
    except SimstudyError as error:
        found["properties"] = Absent(str(error))
    return found
