"""One page that holds several studies side by side, in one file that needs no network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from simstudy.analysis.claims import NOT_REPRODUCED, VERDICTS, StatementVerdict
from simstudy.analysis.compare import PAIRED, WELCH
from simstudy.report import words
from simstudy.report.charts import curves as lines
from simstudy.report.charts import svg
from simstudy.report.headline import findings, question
from simstudy.report.html.compare_designs import apart, designs
from simstudy.report.html.compare_readings import readings_table, summary
from simstudy.report.html.compare_statements import statement_tables
from simstudy.report.html.tables import Cell, Table, heads, words_cell
from simstudy.report.html.templating import render
from simstudy.report.numbers import number, p_value, signed
from simstudy.report.phrases import listed

if TYPE_CHECKING:
    import pandas as pd
    from markupsafe import Markup

    from simstudy.measures.base import MeasureInfo
    from simstudy.report.charts.spec import Chart
    from simstudy.results.results import Results
    from simstudy.study.readings import Reading

_KINDS = {True: "win", False: "tie"}
MOST_ROWS = 120  # of the table of differences between studies
_MOST_LEARNERS = 12  # whose lines are drawn


@dataclass(frozen=True)
class Column:
    """One study of the page."""

    name: str
    title: str
    question: str
    findings: list[str]
    unit: str
    curves: Markup | None
    differences: Markup | None


@dataclass(frozen=True)
class Changes:
    """The table of means that differ between studies, and what it is."""

    summary: str
    note: str = ""
    table: Table | None = None
    left_off: int = 0


def compare_page(
    results: Sequence[Results],
    names: Sequence[str],
    statements: Sequence[StatementVerdict] | None = None,
    *,
    readings: Sequence[tuple[Reading, Sequence[StatementVerdict]]] = (),
    measure: str | None = None,
    changes: pd.DataFrame | None = None,
    not_compared: str = "",
    title: str = "",
    citation: str = "",
    note: str = "",
) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    results, names
        The studies, and what each is called; no two alike.
    statements
        Verdicts on statements about them, if there are any.
    readings
        The verdicts under several readings, first those above.
    measure
        One that all of them have; the first study's primary one if left out.
    changes
        The table of `analysis.compare`, whose studies go by the same names.
    not_compared
        Why there is none, if the numbers of the studies are not of one kind.
    title, citation, note
        Of the page, where the statements are from, and what is known beyond the verdicts.
    """
    name = measure or results[0].measures[0]
    learners = list(dict.fromkeys(label for found in results for label in found.learners))
    shared = [label for label in learners if all(label in found.learners for found in results)]
    reference = shared[0] if shared and len(learners) > 1 else ""
    shown = [*shared, *(label for label in learners if label not in shared)][:_MOST_LEARNERS]
    numbers = {label: learners.index(label) for label in shown}
    info = results[0].info(name)
    units = [found.info(name).unit for found in results]
    shared_unit = len({*units}) == 1
    every = [found.findings(name) for found in results]
    charts = lines.studies(every, names, learners, [*numbers])
    leads = lines.studies(every, names, learners, [*numbers], reference) if reference else []
    found = None
    if changes is not None:
        found = _changes(changes, results, info.label, numbers)
    elif not_compared:
        found = Changes(not_compared)
    return render(
        "compare.html",
        results=results[0],
        title=title or f"Comparison of {listed(names)}",
        citation=citation,
        names=list(names),
        columns=_columns(results, names, units, charts, leads),
        learners=[(number, label, svg.swatch(number)) for label, number in numbers.items()],
        axis=words.axis_label(info if shared_unit else _with_units(info, units, names)),
        shared=shared_unit,
        not_compared=not_compared,
        reference=reference,
        left_off=len(learners) - len(shown),
        cut=any(chart.notes for chart in (*charts, *leads)),
        interval_note=_interval_note(results, name),
        pair_note=_pair_note(results, name),
        changes=found,
        designs=_designs(results, names),
        apart=apart(results, names),
        statements=statement_tables(statements or []),
        counts=_counts(statements or []),
        failed=[_failed(found) for found in statements or [] if found.verdict == NOT_REPRODUCED],
        note=note,
        readings=[reading for reading, _ in readings],
        readings_table=readings_table(readings) if readings else None,
        readings_summary=summary(readings) if readings else "",
    )


def _with_units(info: MeasureInfo, units: Sequence[str], names: Sequence[str]) -> MeasureInfo:
    """What is known of the measure, with the unit of each study."""
    each = listed([f"{unit} in {name}" for unit, name in zip(units, names, strict=True)])
    return replace(info, unit=each)


def _designs(results: Sequence[Results], names: Sequence[str]) -> Table:
    """The settings of the studies, those shaded that are not the same in all."""
    rows: list[tuple[str | None, list[Cell]]] = [
        (None, [Cell(text, kind="t differs" if differs else "t") for text in (key, *values)])
        for key, values, differs in designs(results)
    ]
    top = heads("setting", *names, kind="t")
    return Table("designs", "Settings of the studies", top, rows)


def _counts(statements: Sequence[StatementVerdict]) -> str:
    """How many statements there are of each verdict."""
    counts = Counter(found.verdict for found in statements)
    said = [f"{counts[kind]} {'is' if counts[kind] == 1 else 'are'} {kind}" for kind in VERDICTS]
    many = f"{len(statements)} statement{'s' * (len(statements) != 1)}"
    return f"Of {many} about these studies, {listed(said)}."


def _failed(found: StatementVerdict) -> str:
    """What is not reproduced, and which of several lines contradict it."""
    lines = f"; contradicted: {'; '.join(found.contradicted)}" if found.contradicted else ""
    return f"Not reproduced: {found.statement.text} ({found.statement.study}{lines})."


def _columns(
    results: Sequence[Results],
    names: Sequence[str],
    units: Sequence[str],
    charts: Sequence[Chart],
    leads: Sequence[Chart],
) -> list[Column]:
    curves = svg.panels(charts, "curves", svg.STUDY)
    differences = svg.panels(leads, "leads", svg.STUDY)
    found = []
    for index, (study, name) in enumerate(zip(results, names, strict=True)):
        title = study.settings["title"] or study.settings["name"]
        lead = differences[index].picture if differences else None
        said = (question(study), findings(study), units[index])
        found.append(Column(name, title, *said, curves[index].picture, lead))
    return found


def _interval_note(results: Sequence[Results], measure: str) -> str:
    """What the bars of the means are, said once if it is the same for all studies."""
    said: dict[str, list[str]] = {}
    for found in results:
        intervals = found.intervals(measure)
        text = f"{words.interval_words(found, intervals)}, {words.models_words(found, intervals)}"
        said.setdefault(text, []).append(found.settings["name"])
    return _each(said)


def _pair_note(results: Sequence[Results], measure: str) -> str:
    """What the bars of the differences are."""
    said: dict[str, list[str]] = {}
    for found in results:
        pairs = found.pairwise(measure)
        if not pairs.empty:
            said.setdefault(words.pair_words(found, pairs), []).append(found.settings["name"])
    return _each(said)


def _each(said: Mapping[str, Sequence[str]]) -> str:
    if len(said) == 1:
        return next(iter(said))
    return "; ".join(f"{listed(names)}: {text}" for text, names in said.items())


def _changes(
    table: pd.DataFrame, results: Sequence[Results], label: str, numbers: Mapping[str, int]
) -> Changes:
    """The differences between studies in words and rows, the clearest first."""
    if table.empty:
        return Changes("The studies share no cell: no learner at the same size.")
    kinds = Counter(table["test"])
    differ, tested = int(table["changed"].sum()), kinds[PAIRED] + kinds[WELCH]
    parts = [f"{differ} differ by more than Monte-Carlo error"]
    parts.append(f"{tested - differ} are not told apart")
    parts += [f"{kinds[kind]} are {kind}" for kind in kinds if kind not in (PAIRED, WELCH)]
    many = f"{len(table)} comparison{'s' * (len(table) != 1)}"
    summary = f"Of {many} of a learner's mean at one size between two studies, "
    m = int(table["m"].iloc[0])
    adjusted = f"Bonferroni-adjusted for m = {m} comparisons" if m > 1 else "not adjusted"
    note = [
        f"{words.confidence_level(results[0])} intervals of the difference in mean {label}, the "
        f"second study less the first, {adjusted}"
    ]
    tests = {
        PAIRED: "paired t tests over the models that both have, where family and seed are the same",
        WELCH: "Welch's t tests, where the models are different ones",
    }
    note += [said for kind, said in tests.items() if kinds[kind]]
    order = table.assign(size_of=table["t"].abs().fillna(-1.0))
    order = order.sort_values("size_of", ascending=False, kind="stable")
    rows = order.head(MOST_ROWS).to_dict("records")
    columns = (
        "learner",
        "rows",
        "studies",
        "means",
        "difference",
        "interval",
        "df",
        "adjusted p",
        "models",
    )
    top = [*heads(*columns), words_cell("verdict")]
    both = bool(kinds[PAIRED] and kinds[WELCH])
    body = [(str(numbers.get(row["learner"], "")) or None, _change(row, both)) for row in rows]
    made = Table("between_studies", f"Differences in mean {label}", top, body, table)
    return Changes(
        f"{summary}{listed(parts)}.", f"{'; '.join(note)}.", made, len(table) - len(rows)
    )


def _change(row: dict[Any, Any], name_test: bool) -> list[Cell]:
    """One row of the table."""
    tested = row["test"] in (PAIRED, WELCH)
    said = "differs" if row["changed"] else "not told apart" if tested else row["test"]
    counts = f"{row['n_first']}" + f", {row['n_second']}" * (row["n_first"] != row["n_second"])
    interval = f"[{signed(row['lower'])}, {signed(row['upper'])}]" if tested else ""
    return [
        words_cell(str(row["learner"])),
        Cell(f"{row['size']:,}"),
        Cell(f"{row['first']} → {row['second']}"),
        Cell(f"{number(row['mean_first'])} → {number(row['mean_second'])}"),
        Cell(signed(row["difference"])),
        Cell(interval),
        Cell(number(row["df"], 1).removesuffix(".0") if tested else ""),
        Cell(p_value(row["p_adjusted"]) if tested else ""),
        Cell(counts),
        Cell(said, f"({row['test']})" if name_test and tested else "", _KINDS[row["changed"]]),
    ]
