"""One page that sets several studies side by side, in one file that needs no network."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from simstudy.analysis.claims import StatementVerdict
from simstudy.analysis.findings import ModelFindings
from simstudy.analysis.published import Agreement
from simstudy.experiments import shared_words
from simstudy.experiments.base import Words
from simstudy.experiments.page import Section
from simstudy.report.charts import curves as lines
from simstudy.report.charts import svg, sweep
from simstudy.report.names import PAGE
from simstudy.report.prose import captions, claims, comparison
from simstudy.report.prose.numbers import NONE, number
from simstudy.report.prose.phrases import axis_label, listed, opening, with_unit
from simstudy.report.prose.published import summary
from simstudy.report.prose.verdicts import pair_method
from simstudy.report.tables import comparison as build
from simstudy.report.tables.published import published_tables
from simstudy.report.tables.table import Table, TableCell, make_table, words
from simstudy.report.templating import render
from simstudy.results.results import Results
from simstudy.study.published import Published

_MAX_LEARNERS = 20  # whose lines are drawn
_MAX_MEASURES = 12  # all of which are shown


@dataclass(frozen=True)
class Compared:
    """What is compared on a page.

    Attributes
    ----------
    studies : mapping
        The results by the names of the studies.
    verdicts : sequence of StatementVerdict
        On statements about them.
    readings : sequence of (Reading, verdicts)
        The verdicts under several readings, first those above.
    printed : sequence of (Published, Agreement)
        Printed values, and how ours agree with them.
    changes : DataFrame, optional
        The table of `analysis.compare`, whose studies have the same names.
    not_compared : str
        Why there is none, if the numbers of the studies are not of one kind.
    of_list : bool
        Whether the studies are a list, in directories of their names beside the page.
    variants : bool
        Whether the studies are variants of one; the readings then have the findings of each.
    note : str
        What is known beyond the verdicts.
    """

    studies: Mapping[str, Results]
    verdicts: Sequence[StatementVerdict] = ()
    readings: claims.Readings = ()
    printed: Sequence[tuple[Published, Agreement]] = ()
    changes: pd.DataFrame | None = None
    not_compared: str = ""
    of_list: bool = False
    variants: bool = False
    note: str = ""

    @property
    def words(self) -> Words:
        """The words for what is compared."""
        return shared_words([one.study.experiment for one in self.studies.values()])

    @property
    def learners(self) -> list[str]:
        """The treatments of all studies."""
        return [*dict.fromkeys(label for one in self.studies.values() for label in one.treatments)]


def compare_page(compared: Compared, measure: str = "", title: str = "", citation: str = "") -> str:
    """Write the page as HTML.

    Parameters
    ----------
    compared
        The studies, and statements about them.
    measure
        A measure on whose scale all studies are drawn beside each other; if there is none, each is
        shown by itself, by all its measures.
    title, citation
        Of the page, and where the statements are from.
    """
    names = [*compared.studies]
    content = _side_by_side(compared, measure) if measure else _one_by_one(compared)
    return render(
        "compare.html",
        written="compared.html",
        kind=compared.words,
        manifest=next(iter(compared.studies.values())).manifest,
        title=title or f"Comparison of {listed(names)}",
        citation=citation,
        names=names,
        measure=measure,
        variants=compared.variants,
        **content,
    )


def _statements(compared: Compared, basis: str = "") -> list[Section]:
    """The statements and the verdicts on them, if there are any."""
    if not compared.verdicts:
        return []
    table = build.statements(compared.verdicts, compared.studies)
    content = {"table": table, "note": compared.note, "basis": basis}
    return [Section("statements", "Statements", content)]


def _designs(compared: Compared, unlike: list[str]) -> Section:
    content = {"unlike": unlike, "table": build.designs(compared.studies)}
    return Section("designs", "Designs", content)


def _side_by_side(compared: Compared, measure: str) -> dict[str, object]:
    """The studies on the scale of one measure: curves, differences, what changes between them."""
    studies, learners, variants = compared.studies, compared.learners, compared.variants
    found: dict[str, ModelFindings] = {
        name: own.study.page.on_scale(own, measure) for name, own in studies.items()
    }
    several = {name: one for name, one in found.items() if len(one.treatments) > 1}
    shared = [label for label in learners if all(label in one.treatments for one in found.values())]
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
    differ = compared.not_compared
    if compared.changes is not None:
        differ = comparison.changes_summary(compared.changes, compared.words)
    columns = [
        {
            "name": name,
            "title": name if variants else own.study.heading,
            "question": own.study.page.question(own.study, found[name]),
            "finding": _finding(own, measure),
            "statements": own.study.page.statements(own, found[name]),
            "unit": units[name],
            "curves": svg.draw(charts[place], f"curves{place}", svg.STUDY).picture,
            "differences": svg.draw(leads[place], f"leads{place}", svg.STUDY).picture
            if reference
            else None,
        }
        for place, (name, own) in enumerate(studies.items())
    ]
    bars = comparison.of_each(several, comparison.pair_intervals)
    lead = {"reference": reference, "label": with_unit(info), "bars": bars}
    change = {"table": _changes(compared, with_unit(info), places), "sentence": differ}
    unlike = comparison.unlike(studies)
    sections = [
        *_statements(compared, comparison.of_each(several, pair_method)),
        *([_sweep(found, learners)] if variants and len(found) > 1 else []),
        *([_readings(compared)] if compared.readings else []),
        *[Section("differences", f"Differences from {reference}", lead, "leads", "Differences")]
        * bool(reference),
        Section("found", "What each study found"),
        *[Section("changes", "What differs between the studies", change, entry="Between studies")]
        * bool(differ),
        _designs(compared, unlike),
    ]
    return {
        "columns": columns,
        "learners": [(place, label, svg.swatch(place)) for label, place in places.items()],
        "axis": axis_label(info),
        "shared": one_unit,
        "left_off": len(learners) - len(shown),
        "bars": len(shown) <= captions.MAX_BARS,
        "cut": any(chart.notes for chart in (*charts, *leads)),
        "interval_note": comparison.of_each(
            found, lambda one: f"{captions.intervals(one)}, {captions.models(one)}"
        ),
        "found": _found(compared, differ) or [_finding(next(iter(studies.values())), measure)],
        "failed": claims.not_reproduced(compared.verdicts),
        "unlike": unlike and not variants,
        "sections": sections,
    }


def _finding(results: Results, measure: str) -> str:
    """What opens the page of a study."""
    said: str = results.study.page.finding(results.findings(measure))
    return said


def _found(compared: Compared, differ: str) -> list[str]:
    """How many statements are reproduced, under which readings, and what differs."""
    counts = claims.counts(compared.verdicts) if compared.verdicts else ""
    readings = ""
    if compared.readings and compared.variants:
        readings = claims.variants_summary(compared.readings, compared.words)
    elif compared.readings:
        readings = claims.readings_summary(compared.readings)
    return [*filter(None, (counts, readings, differ))]


def _changes(compared: Compared, label: str, places: Mapping[str, int]) -> Table | None:
    """Which means differ between studies, if they are compared."""
    changes, first = compared.changes, next(iter(compared.studies.values()))
    if changes is None or changes.empty:
        return None
    return build.changes(changes, compared.words, label, first.study.analysis.confidence, places)


def _readings(compared: Compared) -> Section:
    """The verdicts, or findings, under all readings or variants."""
    table = build.readings(compared.readings, compared.variants)
    content = {"readings": [reading for reading, _ in compared.readings], "table": table}
    return Section("readings", "Variants" if compared.variants else "Readings", content)


def _sweep(found: Mapping[str, ModelFindings], learners: Sequence[str]) -> Section:
    """How winners and thresholds move from variant to variant."""
    thresholds = sweep.thresholds(found, learners)
    drawn = None if thresholds is None else svg.draw(thresholds, "thresholds", svg.CURVES, True)
    several = len(learners) > 1
    winners = svg.draw(sweep.winners(found, learners), "winners", svg.CURVES) if several else None
    content = {
        "winners": winners.picture if winners else None,
        "thresholds": drawn.picture if drawn else None,
        "key": [(line.label, svg.swatch(line.series or 0)) for line in thresholds.labelled]
        if thresholds and drawn and not drawn.labelled
        else [],
        "notes": thresholds.notes if thresholds else (),
        "table": build.sweep(found),
    }
    return Section("sweep", "Winners and thresholds", content)


# Studies that share no scale


@dataclass(frozen=True)
class StudyColumn:
    """A study on the page: what it finds by a measure, and the means of its learners."""

    name: str
    title: str
    finding: str
    design: str
    where: str  # over what means are
    means: Mapping[str, float] = field(repr=False)
    best: str  # the learner of the best mean


def _one_by_one(compared: Compared) -> dict[str, object]:
    """Who wins in each study by each measure, statements and printed values."""
    studies, verdicts = compared.studies, compared.verdicts
    shown, left_out = _measures(studies, verdicts)
    counts = [claims.counts(verdicts)] if verdicts else []
    published = [
        {
            "title": f"{one.source}: {one.study}",
            "sentences": summary(one, found),
            "tables": published_tables(one, found),
        }
        for one, found in compared.printed
    ]
    listing = [_study(own, found, verdicts) for own, found in studies.items()]
    return {
        "learners": svg.swatches(compared.learners),
        "views": [_view(compared, *one) for one in enumerate(shown)],
        "found": [*counts, *claims.not_reproduced(verdicts)],
        "sections": [
            *[Section("studies", "Studies", listing)] * compared.of_list,
            *_statements(compared),
            *[Section("published", "Printed values and ours", published, entry="Printed values")]
            * bool(published),
            Section("means", "Means by study", left_out),
            _designs(compared, comparison.unlike_conventions(studies)),
        ],
    }


def _study(name: str, results: Results, verdicts: Sequence[StatementVerdict]) -> dict[str, object]:
    """A study of a list: its title, whether it has a page, how many statements hold."""
    own = [one for one in verdicts if one.statement.study == name]
    return {
        "name": name,
        "title": results.study.heading,
        "counts": claims.counts(own) if own else "",
        "page": (results.directory / PAGE).exists(),
    }


def _measures(
    studies: Mapping[str, Results], verdicts: Sequence[StatementVerdict]
) -> tuple[list[str], int]:
    """The measures shown, those that most studies have first, and how many are left out.

    Of many, the primary ones, those of several studies and those that statements are about.
    """
    every = [name for found in studies.values() for name in found.measures]
    known = sorted(dict.fromkeys(every), key=lambda name: -every.count(name))
    if len(known) <= _MAX_MEASURES:
        return known, 0
    wanted = {found.measures[0] for found in studies.values()}
    wanted |= {line.claim.measure for one in verdicts for line in one.lines}
    shown = [name for name in known if every.count(name) > 1 or name in wanted]
    return shown, len(known) - len(shown)


def _view(compared: Compared, index: int, measure: str) -> dict[str, object]:
    """What the studies say by one measure."""
    having = {name: one for name, one in compared.studies.items() if measure in one.measures}
    columns = [_column(name, found, measure) for name, found in having.items()]
    info = next(iter(having.values())).info(measure)
    return {
        "index": index,
        "info": info,
        "columns": columns,
        "missing": [name for name in compared.studies if name not in having],
        "means": _means(columns, compared, measure, axis_label(info)),
    }


def _column(name: str, results: Results, measure: str) -> StudyColumn:
    """What a study says by a measure."""
    study, page = results.study, results.study.page
    means, best, where = page.overall(results, measure)
    design, said = opening(f"{page.design(study)}."), _finding(results, measure)
    return StudyColumn(name, study.heading, said, design, where, means, best or NONE)


def _means(columns: Sequence[StudyColumn], compared: Compared, name: str, axis: str) -> Table:
    """The mean of every learner in every study, the best of each bold."""
    rows: list[list[str | TableCell]] = []
    for place, label in enumerate(compared.learners):
        if not any(label in one.means for one in columns):
            continue
        cells = [
            TableCell(number(one.means.get(label, math.nan)), bold=label == one.best)
            for one in columns
        ]
        rows.append([words(label, "", place), *cells])
    heads = [words(compared.words.treatment), *(TableCell(one.name) for one in columns)]
    caption = (
        f"{'; '.join(f'{one.name}: {one.where}' for one in columns)}. Bold: the best of "
        "each study; whether it is significantly so is said with the study. Means of different "
        "studies are not tested against each other."
    )
    data = pd.DataFrame({one.name: pd.Series(one.means) for one in columns})
    data = data.reindex(compared.learners).rename_axis("learner").reset_index()
    title = f"Mean {axis} by study"
    return make_table(f"means_{name}", title, heads, rows, caption=caption, cut=True, data=data)
