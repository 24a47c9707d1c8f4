"""A page that compares several studies, as one self-contained HTML file."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import pandas as pd
from markupsafe import Markup

from simstudy.analysis.claims.published import Agreement
from simstudy.analysis.claims.verdict import StatementVerdict
from simstudy.analysis.models.findings import ModelFindings
from simstudy.experiments import shared_words
from simstudy.experiments.base import Words
from simstudy.experiments.page import Opening, Overall, Section
from simstudy.report.charts import curves as lines
from simstudy.report.charts import svg
from simstudy.report.charts.winners import winners
from simstudy.report.pages.page import render
from simstudy.report.prose import captions, claims, comparison
from simstudy.report.prose.numbers import number
from simstudy.report.prose.pairwise import pair_method
from simstudy.report.prose.phrases import axis_label, intervals_of_means, listed, opening, with_unit
from simstudy.report.tables import comparison as build
from simstudy.report.tables.table import Table, TableCell, make_table, words
from simstudy.results.read.open import Results
from simstudy.study.constants import PAGE
from simstudy.study.lists import Published

_GRID = 960.0  # the width of the grid of winners
_MAX_LEARNERS = 20  # whose lines are drawn
_MAX_FINDINGS = 12  # beside the headline of variants
_MAX_MEASURES = 12  # all of which are shown


@dataclass(frozen=True)
class Compared:
    """The content of a comparison page.

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
        Why there is none, if the scores of the studies are not comparable.
    of_list : bool
        Whether the studies are a list, in directories of their names beside the page.
    variants : bool
        Whether the studies are variants of one; the readings then have the findings of each.
    note : str
        Remarks beyond the verdicts.
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
        return shared_words([results.study.experiment for results in self.studies.values()])

    @property
    def learners(self) -> list[str]:
        """The treatments of all studies."""
        every = (label for results in self.studies.values() for label in results.treatments)
        return [*dict.fromkeys(every)]

    @property
    def registered(self) -> dict[str, str]:
        """The names under which they are registered, by their labels."""
        names: dict[str, str] = {}
        for results in reversed([*self.studies.values()]):
            names |= zip(results.treatments, results.study.names, strict=True)
        return {label: names[label] for label in self.learners}

    @property
    def swatches(self) -> list[tuple[int, str, Markup]]:
        """The place, the label and the swatch of each."""
        return svg.swatches(self.learners, [*self.registered.values()])

    @property
    def titles(self) -> dict[str, str]:
        """What the studies are called: by their titles, if these differ and no name was given."""
        named = self.studies.items()
        titles = {name: s.study.heading if name == s.study.name else name for name, s in named}
        return titles if len({*titles.values()}) == len(titles) else {name: name for name in titles}


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
    content = _side_by_side(compared, measure) if measure else _one_by_one(compared)
    first = next(iter(compared.studies.values()))
    titles = [*compared.titles.values()]
    content |= {"title": title or f"Comparison of {listed(titles)}", "citation": citation}
    content |= {"names": titles, "measure": measure, "variants": compared.variants}
    content |= {"grids": _grid(compared, measure), "chipped": bool(compared.verdicts)}
    content |= {"failed": claims.not_reproduced(compared.verdicts, compared.titles)}
    content |= {"kind": compared.words, "manifest": first.manifest}
    return render("compare.html", written="compared.html", **content)


def _statements(compared: Compared, basis: str = "", means: str = "") -> list[Section]:
    """The statements and the verdicts on them, if there are any."""
    table = build.statements(compared.verdicts, compared.studies, compared.titles)
    content = {"table": table, "note": compared.note, "basis": basis, "means": means}
    return [Section("statements", "Statements", content)] * bool(compared.verdicts)


def _designs(compared: Compared, unlike: list[str]) -> Section:
    content = {"unlike": unlike, "table": build.designs(compared.studies)}
    return Section("designs", "Designs", content)


def _side_by_side(compared: Compared, measure: str) -> dict[str, object]:
    """The studies on the scale of one measure: curves, differences, what changes between them."""
    studies, learners, variants = compared.studies, compared.learners, compared.variants
    every = {name: cast(ModelFindings, each.findings(measure)) for name, each in studies.items()}
    several = {name: findings for name, findings in every.items() if len(findings.treatments) > 1}
    shared = {label for label in learners if all(label in f.treatments for f in every.values())}
    shown = sorted(learners, key=lambda label: label not in shared)[:_MAX_LEARNERS]
    first, info = next(iter(studies.values())), next(iter(every.values())).info
    units = {name: findings.info.unit for name, findings in every.items()}
    one_unit = len({*units.values()}) == 1
    if not one_unit:
        info = replace(info, unit=listed([f"{unit} in {name}" for name, unit in units.items()]))
    charts = lines.studies(every, compared.registered, shown)
    pictures = [svg.draw(chart, f"curves{at}", svg.STUDY) for at, chart in enumerate(charts)]
    differ, changes = compared.not_compared, None
    if compared.changes is not None:
        differ = comparison.changes_summary(compared.changes, compared.words)
        if len(compared.changes):
            label, confidence = with_unit(info), first.study.analysis.confidence
            changes = build.changes(compared.changes, compared.words, label, confidence, learners)
    columns = [
        {
            "name": name,
            "title": compared.titles[name],
            "question": results.study.page.question(results.study, every[name]),
            "finding": results.study.page.finding(results, every[name]),
            "chips": claims.chips(compared.verdicts, name),
            "statements": results.study.page.statements(results, every[name]),
            "unit": units[name],
            "curves": curves.picture,
        }
        for (name, results), curves in zip(studies.items(), pictures, strict=True)
    ]
    bars = comparison.of_each(several, comparison.pair_intervals)
    over = comparison.of_each(every, lambda e: f"{intervals_of_means(e)}, {captions.models(e)}")
    change = {"table": changes, "sentence": differ}
    unlike = comparison.unlike(studies)
    sections = [
        *_statements(compared, comparison.of_each(several, pair_method), over),
        *([_sweep(every, learners)] if variants and len(every) > 1 else []),
        *([_readings(compared)] if compared.readings else []),
        Section("found", "What each study found"),
        *[Section("changes", "What differs between the studies", change, entry="Between studies")]
        * bool(differ),
        _designs(compared, unlike),
    ]
    return {
        "columns": columns,
        "changing": _changing(compared) if variants else None,
        "learners": [compared.swatches[learners.index(label)] for label in shown],
        "axis": axis_label(info),
        "shared": one_unit,
        "left_off": len(learners) - len(shown),
        "bars": bars if len(shown) <= captions.MAX_BARS else "",
        "cut": any(chart.notes for chart in charts),
        "found": [*filter(None, (*_summaries(compared), differ))] or [columns[0]["finding"]],
        "unlike": unlike and not variants,
        "sections": sections,
    }


def _grid(compared: Compared, measure: str) -> list[Opening]:
    """Who leads at which size of which study, if there are several with several learners.

    By a common measure, or else by the primary one of each study.
    """
    rows, links, labels = dict[str, Overall](), list[str](), dict[str, str]()
    for place, (name, title) in enumerate(compared.titles.items(), 1):
        results = compared.studies[name]
        overall = results.study.page.overall(results, measure or results.measures[0])
        if overall.standings:  # variants are numbered as in the tables of findings
            row = f"{place}: {title}" if compared.variants else title
            rows[row], page = overall, results.directory / PAGE
            labels[row] = results.info(measure or results.measures[0]).label
            beside = (compared.of_list or compared.variants) and page.exists()
            links.append(f"{page.parent.name}/{PAGE}" * beside)
    if len(rows) < 2:
        return []
    tall, differ, kind = 60 + 36.0 * len(rows), len({*labels.values()}) > 1, compared.words
    pictures = []
    for name, width in (("winnersw", _GRID), ("winnersn", svg.NARROW[0])):
        own = {row: f"{labels[row]}: " * (differ and width == _GRID) for row in rows}
        standings = {f"{own[row]}{row}": overall.standings for row, overall in rows.items()}
        chart = winners(standings, compared.registered, kind, width, links)
        pictures.append(svg.draw(chart, name, (width, tall)).picture)
    tests = {row: overall.tests for row, overall in rows.items()}
    over = any(at.size == 0 for overall in rows.values() for at in overall.standings)
    caption = comparison.grid(tests, {} if measure else labels, kind, over, any(links))
    wide, narrow = pictures
    return [Opening(wide, narrow, caption)]


def _summaries(compared: Compared) -> Iterator[str]:
    """How many statements are reproduced, and under which readings."""
    if compared.verdicts:
        yield claims.counts(compared.verdicts)
    if compared.readings and compared.variants:
        yield from claims.keys_summary(compared.readings)
        yield claims.variants_summary(compared.readings, compared.words)
    elif compared.readings:
        yield claims.readings_summary(compared.readings)


def _changing(compared: Compared) -> Table | None:
    """The findings that do not hold under all variants alike, the first of many."""
    variants = compared.readings
    columns = [*zip(*(verdicts for _, verdicts in variants), strict=True)]
    changing = [column for column in columns if len({each.verdict for each in column}) > 1]
    if not changing:
        return None
    shown = zip(*changing[:_MAX_FINDINGS], strict=True)
    parts = [(each, [*column]) for (each, _), column in zip(variants, shown, strict=True)]
    more = f"{len(changing) - _MAX_FINDINGS} more are in the table of all findings." * (
        len(changing) > _MAX_FINDINGS
    )
    title = "Findings that not all variants share"
    table = build.readings(parts, compared.titles, True)
    return replace(table, name="changing", title=title, caption=more)


def _readings(compared: Compared) -> Section:
    """The verdicts, or findings, under all readings or variants."""
    table = build.readings(compared.readings, compared.titles, compared.variants)
    content = {"readings": [reading for reading, _ in compared.readings], "table": table}
    return Section("readings", "Variants" if compared.variants else "Readings", content)


def _sweep(every: Mapping[str, ModelFindings], learners: Sequence[str]) -> Section:
    """Who wins and how thresholds move from variant to variant."""
    content: dict[str, object] = {"thresholds": None, "table": build.sweep(every)}
    if thresholds := lines.thresholds(every, learners):
        content["thresholds"], labelled = svg.draw(thresholds, "thresholds", svg.CURVES, True)
        pairs = [] if labelled else thresholds.labelled
        content["key"] = [(line.label, svg.swatch(line.look)) for line in pairs if line.look]
        content["notes"] = thresholds.notes
    return Section("sweep", "Winners and thresholds", content)


# Studies that share no scale


def _one_by_one(compared: Compared) -> dict[str, object]:
    """Who wins in each study by each measure, statements and printed values."""
    studies, verdicts = compared.studies, compared.verdicts
    shown, left_out = _measures(studies, verdicts)
    counts = [claims.counts(verdicts)] if verdicts else []
    published = [
        {
            "title": f"{values.source}: {values.study}",
            "sentences": claims.published_summary(values, agreement),
            "table": build.published(values, agreement),
        }
        for values, agreement in compared.printed
    ]
    listing = []
    for name, results in studies.items():  # of a list
        about = [verdict for verdict in verdicts if verdict.statement.study == name]
        study: dict[str, object] = {"name": name, "title": results.study.heading}
        study["counts"] = claims.counts(about) if about else ""
        listing.append(study | {"page": (results.directory / PAGE).exists()})
    return {
        "learners": compared.swatches,
        "views": [_view(compared, index, measure) for index, measure in enumerate(shown)],
        "found": counts,
        "sections": [
            *[Section("studies", "Studies", listing)] * compared.of_list,
            *_statements(compared),
            *[Section("published", "Printed values and ours", published, entry="Printed values")]
            * bool(published),
            Section("means", "Means by study", left_out),
            _designs(compared, comparison.unlike_conventions(studies)),
        ],
    }


def _measures(
    studies: Mapping[str, Results], verdicts: Sequence[StatementVerdict]
) -> tuple[list[str], int]:
    """The measures shown, those that most studies have first, and how many are left out.

    Of many, the primary ones, those of several studies and those that statements are about.
    """
    counts = Counter(name for results in studies.values() for name in results.measures)
    wanted = {results.measures[0] for results in studies.values()}
    wanted |= {line.claim.measure for verdict in verdicts for line in verdict.lines}
    shown = [name for name, _ in counts.most_common()]
    if len(shown) > _MAX_MEASURES:
        shown = [name for name in shown if counts[name] > 1 or name in wanted]
    return shown, len(counts) - len(shown)


def _view(compared: Compared, index: int, measure: str) -> dict[str, object]:
    """What the studies say by one measure."""
    having = {name: each for name, each in compared.studies.items() if measure in each.measures}
    columns, overall = [], {}
    for name, results in having.items():
        study, page = results.study, results.study.page
        design, overall[name] = opening(f"{page.design(study)}."), page.overall(results, measure)
        shown = results.shown
        finding = page.finding(shown, shown.findings(measure))
        column = {"finding": finding, "design": design}
        chips = claims.chips(compared.verdicts, name)
        columns.append({"title": compared.titles[name], "chips": chips, **column})
    info = next(iter(having.values())).info(measure)
    return {
        "index": index,
        "info": info,
        "columns": columns,
        "missing": [name for name in compared.studies if name not in having],
        "means": _means(overall, compared, measure, axis_label(info)),
    }


def _means(studies: Mapping[str, Overall], compared: Compared, name: str, axis: str) -> Table:
    """The mean of every learner in every study, the best of each bold."""
    rows, each = [], [(overall.means, overall.best) for overall in studies.values()]
    for place, label in enumerate(compared.learners):
        means = [(number(means.get(label, math.nan)), label == best) for means, best in each]
        cells = [TableCell(mean, bold=best) for mean, best in means]
        if any(label in means for means, _ in each):
            rows.append([words(label, "", place), *cells])
    heads = [words(compared.words.treatment), *map(TableCell, studies)]
    caption = (
        f"{'; '.join(f'{name}: {overall.where}' for name, overall in studies.items())}. Bold: the "
        "best mean of each study; see the study for its significance. Means are not tested between "
        "studies."
    )
    data = pd.DataFrame({name: pd.Series(overall.means) for name, overall in studies.items()})
    data = data.reindex(compared.learners).rename_axis("learner").reset_index()
    title = f"Mean {axis} by study"
    return make_table(f"means_{name}", title, heads, rows, caption=caption, cut=True, data=data)
