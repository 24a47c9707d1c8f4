"""One page of studies that share no scale: who wins in each, statements, printed values.

Studies of data sets, beside ones of models or alone, and lists whose studies have other measures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from simstudy.analysis.claims import StatementVerdict
from simstudy.analysis.published import Agreement
from simstudy.experiments import shared_words
from simstudy.experiments.base import Words
from simstudy.report.charts import svg
from simstudy.report.prose import claims, comparison
from simstudy.report.prose.design import data_design, design
from simstudy.report.prose.finding import data_finding, finding
from simstudy.report.prose.numbers import NONE, number
from simstudy.report.prose.phrases import axis_label, listed, opening
from simstudy.report.prose.published import summary
from simstudy.report.tables import comparison as build
from simstudy.report.tables.published import published_tables
from simstudy.report.tables.table import Cell, Table, make_table, words
from simstudy.report.templating import render
from simstudy.report.wording import reworded
from simstudy.results.results import Results
from simstudy.study.published import Published

_MAX_MEASURES = 12  # all of which are shown


@dataclass(frozen=True)
class Column:
    """A study on the page: what it finds by a measure, and the means of its learners."""

    name: str
    title: str
    finding: str
    design: str
    where: str  # over what means are
    means: dict[str, float] = field(repr=False)
    best: str  # the learner of the best mean


def compare_data_page(
    studies: Mapping[str, Results],
    verdicts: Sequence[StatementVerdict] = (),
    printed: Sequence[tuple[Published, Agreement]] = (),
    *,
    of_list: bool = False,
    title: str = "",
    citation: str = "",
    note: str = "",
) -> str:
    """Write the page as HTML.

    Parameters
    ----------
    studies
        The results by the names of the studies.
    verdicts
        On statements about them.
    printed
        Printed values, and how ours agree with them.
    of_list
        Whether the studies are a list, in directories of their names beside the page.
    title, citation, note
        Of the page, where the statements are from, and what is known beyond the verdicts.
    """
    learners = list(dict.fromkeys(one for found in studies.values() for one in found.learners))
    shown, left_out = _measures(studies, verdicts)
    views = [_view(studies, learners, *one) for one in enumerate(shown)]
    counts = claims.counts(verdicts) if verdicts else ""
    return render(
        "compare_data.html",
        kind=shared_words([one.study.kind for one in studies.values()]),
        manifest=next(iter(studies.values())).manifest,
        title=title or f"Comparison of {listed([*studies])}",
        citation=citation,
        of_list=of_list,
        studies=[_study(own, found, verdicts) for own, found in studies.items()],
        learners=svg.swatches(learners),
        views=views,
        left_out=left_out,
        found=[*filter(None, (counts, *claims.not_reproduced(verdicts)))],
        statements=build.statements(verdicts, studies) if verdicts else None,
        published=[
            {
                "title": f"{one.source}: {one.study}",
                "sentences": summary(one, found),
                "tables": published_tables(one, found),
            }
            for one, found in printed
        ],
        note=note,
        designs=build.designs(studies),
        unlike=comparison.unlike_conventions(studies),
    )


def _study(
    name: str, results: Results, verdicts: Sequence[StatementVerdict]
) -> dict[str, str | bool]:
    """A study of a list: its title, whether it has a page, how many statements hold."""
    own = [one for one in verdicts if one.statement.study == name]
    return {
        "name": name,
        "title": results.study.heading,
        "counts": claims.counts(own) if own else "",
        "page": (results.directory / "report.html").exists(),
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


def _view(
    studies: Mapping[str, Results], learners: Sequence[str], index: int, measure: str
) -> dict[str, object]:
    """What the studies say by one measure."""
    every = [_column(name, found, measure) for name, found in studies.items()]
    columns = [one for one in every if one]
    kind = shared_words([found.study.kind for found in studies.values()])
    info = next(one.info(measure) for one in studies.values() if measure in one.measures)
    return {
        "index": index,
        "info": info,
        "columns": columns,
        "missing": [name for name, one in zip(studies, every, strict=True) if not one],
        "means": _means(columns, learners, measure, axis_label(info), kind),
    }


def _column(name: str, results: Results, measure: str) -> Column | None:
    """What a study says by a measure; None if it has not measured it."""
    if measure not in results.measures:
        return None
    study, info = results.study, results.info(measure)
    if study.datasets:
        own = results.data_findings(measure)
        means = own.means.mean(axis=0, skipna=False).to_dict()
        said, made = data_finding(own), data_design(study)
        where = f"over {len(own.datasets)} data sets"
    else:
        found = results.findings(measure)
        last = results.sizes[-1]
        means = {one.learner: one.mean for one in found.means if one.size == last}
        said, made = (reworded(text, study.kind) for text in (finding(found), design(study)))
        where = f"over {study.models} models, after {last:,} rows"
    values = {str(label): float(mean) for label, mean in means.items()}
    known = {label: mean for label, mean in values.items() if not math.isnan(mean)}
    choose = max if info.greater_is_better else min
    best = choose(known, key=lambda label: known[label]) if known else NONE
    title = study.heading
    return Column(name, title, said, opening(f"{made}."), where, values, best)


def _means(
    columns: Sequence[Column], learners: Sequence[str], name: str, axis: str, kind: Words
) -> Table:
    """The mean of every learner in every study, the best of each bold."""
    lines: list[list[str | Cell]] = []
    for place, label in enumerate(learners):
        if not any(label in one.means for one in columns):
            continue
        cells = [
            Cell(number(one.means.get(label, math.nan)), bold=label == one.best) for one in columns
        ]
        lines.append([words(label, "", place), *cells])
    heads = [words(kind.treatment), *(Cell(one.name) for one in columns)]
    caption = (
        f"{'; '.join(f'{one.name}: {one.where}' for one in columns)}. Bold: the best of "
        "each study; whether it is significantly so is said with the study. Means of different "
        "studies are not tested against each other."
    )
    data = pd.DataFrame({one.name: pd.Series(one.means) for one in columns})
    data = data.reindex([*learners]).rename_axis("learner").reset_index()
    title = f"Mean {axis} by study"
    return make_table(f"means_{name}", title, heads, lines, caption=caption, cut=True, data=data)
