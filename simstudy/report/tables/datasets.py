"""Tables of studies of data sets."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from simstudy.analysis.correlations import Correlations
from simstudy.analysis.data_findings import DataFindings
from simstudy.analysis.datasets import SPREAD
from simstudy.analysis.over_sets import LEAST_SETS, OverSets
from simstudy.analysis.reversals import Reversals
from simstudy.measures.base import MeasureInfo
from simstudy.report.prose import data_statements as prose
from simstudy.report.prose.numbers import (
    NONE,
    duration,
    estimated_share,
    number,
    p_value,
    percent,
    share,
    signed,
)
from simstudy.report.prose.phrases import axis_label, opening
from simstudy.report.tables.table import Options, Table, TableCell, make_table, words
from simstudy.results.results import Results
from simstudy.study.sizes import Size, size_text
from simstudy.texts import counted

_SHADES = 5  # of the cells of a data set, by rank
MEANS = (
    "Means over the splits of each data set; bold: the best. Splits of a data set share rows, so "
    "how far these means would vary cannot be told from their spread."
)


def means(findings: DataFindings, after: str = "", *, spread: bool = False) -> Table:
    """Mean scores, data sets × learners, the best bold and each row shaded.

    Parameters
    ----------
    findings
        Of one measure.
    after
        The training size in words, if the study has several.
    spread
        Whether 1.96 standard deviations between splits stand beside each mean.
    """
    lines: list[list[str | TableCell]] = []
    for dataset in findings.datasets:
        row: Any = findings.table.loc[dataset]
        best = findings.best[dataset]
        shades = _shades(findings.placings(dataset))
        cells = []
        for place, label in enumerate(findings.learners):
            kind = f"n{shades[label]}"
            more = ""
            if spread and not math.isnan(row[label]):
                more = f"± {number(SPREAD * float(findings.spreads[label][dataset]))}"
            value = number(float(findings.means[label][dataset]))
            bold = label in best and len(findings.learners) > 1
            cells.append(TableCell(value, more, kind, (place,), bold))
        lines.append([words(dataset), *cells])
    caption = MEANS
    if spread:
        caption += " ±: 1.96 standard deviations between splits (not standard errors)."
    heads = [words("data set"), *_heads(findings.learners)]
    title = f"Mean {axis_label(findings.info)} by data set{after}"
    data = findings.means.rename_axis("dataset").reset_index()
    options: Options = {"caption": caption, "cut": True, "data": data}
    return make_table("means_spread" if spread else "means", title, heads, lines, **options)


def _shades(ranks: pd.Series[float]) -> dict[str, str]:
    """The classes of the cells of a row by their ranks, so that one bad mean does not hide all."""
    low, high = ranks.min(), ranks.max()
    return {
        str(name): f" h{round(_SHADES * (rank - low) / (high - low))}"
        if high > low and not math.isnan(rank)
        else ""
        for name, rank in ranks.items()
    }


def _heads(learners: tuple[str, ...]) -> list[TableCell]:
    return [TableCell(label, learners=(place,)) for place, label in enumerate(learners)]


def standings(findings: DataFindings) -> Table:
    """How often each learner is best, wins and loses, and its average rank."""
    places = {label: place for place, label in enumerate(findings.learners)}
    lines: list[list[str | TableCell]] = [
        [
            words(one.learner, "", places[one.learner]),
            f"{one.best}",
            f"{one.ahead}",
            f"{one.behind}",
            f"{one.wins}",
            f"{one.losses}",
            number(one.rank, 2),
        ]
        for one in findings.standings
    ]
    heads = ["learner", "best mean", "ahead", "behind", "tests won", "tests lost", "average rank"]
    caption = (
        "Best mean, ahead (a test won and none lost) and behind (a test lost and none won): "
        f"numbers of data sets. {opening(prose.method(findings))}."
    )
    data = pd.DataFrame(findings.standings)
    title = f"Learners on {counted(len(findings.datasets), 'data set')}, by {findings.info.label}"
    return make_table("standings", title, heads, lines, caption=caption, data=data)


def winners(findings: DataFindings) -> Table:
    """A column for each winner; the cell names the learners that are significantly worse."""
    found = findings.winners
    cells, counts = found.table, found.counts.set_index("learner")
    lines: list[list[str | TableCell]] = [
        [
            words(dataset),
            *(TableCell(str(cells.loc[dataset, one]), kind="t") for one in found.learners),
        ]
        for dataset in found.datasets
    ]
    totals = [
        TableCell(f"{counts['wins'][one]} won, {counts['losses'][one]} lost", kind="t")
        for one in found.learners
    ]
    lines.append([words("tests"), *totals])
    heads = [words("data set"), *(TableCell(one, kind="t") for one in found.learners)]
    caption = (
        "A column is a winner; the cell names the learners that it is significantly better than. "
        f"{opening(prose.method(findings))}."
    )
    title = f"Winners and losers by {findings.info.label}"
    rules = {len(lines) - 1}
    return make_table(
        "winners", title, heads, lines, caption=caption, data=found.pairs, rules=rules
    )


def tests(found: OverSets) -> Table:
    """The tests of all learners over data sets."""
    lines: list[list[str | TableCell]] = []
    for test, df in (
        (found.friedman, f"{found.friedman.df}"),
        (found.iman_davenport, f"{found.iman_davenport.df1}, {found.iman_davenport.df2}"),
        (found.quade, f"{found.quade.df1}, {found.quade.df2}"),
    ):
        by = "" if test.reason else prose.p_method(test, "χ²" if test is found.friedman else "F")
        p = test.reason or p_value(test.p)
        lines.append([test.test, number(test.statistic, 3), df, p, words(by)])
    heads: list[str | TableCell] = ["test", "statistic", "df", "p", words("p from")]
    title = f"Tests of all learners over {len(found.datasets)} data sets"
    caption = (
        "Whether any learners differ; which do is decided by tests of pairs "
        f"({prose.over_method(found)}). Friedman's chi-squared and Iman & Davenport's F are "
        "corrected for ties; up to 15 data sets p is from the orders of ranks within data sets."
    )
    return make_table("tests", title, heads, lines, caption=caption)


def pairs(found: OverSets, info: MeasureInfo) -> Table:
    """Every two learners over data sets: win/draw/loss, tests and posterior."""
    few = len(found.datasets) < LEAST_SETS
    shown = [] if few else [0, 1, 2] if found.rope else [0, 2]
    places = {label: place for place, label in enumerate(found.learners)}
    lines: list[list[str | TableCell]] = []
    for pair in found.pairs:
        own = (places[pair.first], places[pair.second])
        lines.append(
            [
                words(f"{pair.first} – {pair.second}", "", *own),
                signed(pair.difference),
                f"{pair.sign.wins}/{pair.sign.draws}/{pair.sign.losses}",
                pair.wilcoxon.reason or p_value(pair.wilcoxon.p),
                p_value(pair.p_adjusted),
                TableCell(pair.winner or NONE, kind="win" if pair.winner else "tie"),
                p_value(pair.p_sign_adjusted),
                *(estimated_share([*pair.posterior][place]) for place in shown),
            ]
        )
    heads: list[str | TableCell] = [
        "first – second",
        "mean difference",
        "won/drawn/lost",
        "Wilcoxon p",
    ]
    heads += ["adjusted p", words("better"), "sign test, adjusted p"]
    heads += [("P(first)", "P(equivalent)", "P(second)")[place] for place in shown]
    caption = (
        f"Differences in favour of the first. Better: {prose.over_method(found)}. The p of the "
        "sign test is adjusted in the same way. "
    )
    if few:
        caption += f"There are no posterior probabilities: these need {LEAST_SETS} data sets."
    else:
        caption += (
            "P: posterior probability of each by the Bayesian signed rank test "
            f"({prose.equivalence(found.rope, info)}); it decides nothing here."
        )
    title = f"Every two learners over {len(found.datasets)} data sets"
    return make_table("across", title, heads, lines, caption=caption, data=found.table)


def reversals(found: Reversals, labels: tuple[str, str]) -> Table:
    """Data sets on which two measures name different winners."""
    lines: list[list[str | TableCell]] = [
        [
            words(one.dataset),
            words(one.winner_first),
            _lead(one.difference_first, one.significant_first),
            p_value(one.p_first),
            words(one.winner_second),
            _lead(one.difference_second, one.significant_second),
            p_value(one.p_second),
        ]
        for one in found.found
    ]
    heads: list[str | TableCell] = [words("data set")]
    for label in labels:
        heads += [words(f"best by {label}"), "ahead by", "adjusted p"]
    caption = (
        "Ahead by: the mean lead over the winner by the other measure; bold if it is significant."
    )
    name = f"reversals_{found.first}_{found.second}"
    title = f"Different winners by {labels[0]} and {labels[1]}"
    return make_table(name, title, heads, lines, caption=caption, data=found.table)


def _lead(difference: float, significant: bool) -> TableCell:
    return TableCell(signed(difference), bold=significant)


def example_sentences(found: Reversals, labels: tuple[str, str]) -> list[str]:
    """A test row of each reversal that shows why, or one sentence why there are none."""
    sentences = []
    for one in found.found:
        if (row := one.example) is None:
            continue
        ours, theirs = (
            each.get(row.target, math.nan)
            for each in (row.probabilities_first, row.probabilities_second)
        )
        sentences.append(
            f"{one.dataset}, row {row.row} (repeat {row.repeat + 1}, fold {row.fold + 1}), of the "
            f"class {row.target}: {one.winner_first} gives it {share(ours)}, {one.winner_second} "
            f"{share(theirs)}. By {labels[1]} this row counts {number(row.difference_second)} for "
            f"{one.winner_second}; by {labels[0]} {number(row.difference_first)} for "
            f"{one.winner_first}."
        )
    reasons = dict.fromkeys(one.no_example for one in found.found if one.no_example)
    return sentences or [f"No example row: {reason}." for reason in reasons]


def correlations(found: Correlations, labels: tuple[str, str]) -> Table:
    """Correlation of two measures over splits, data sets × learners."""
    table, learners = found.table, tuple(found.by_learner["learner"])
    lines: list[list[str | TableCell]] = [
        [words(str(dataset)), *(number(float(row[name]), 2) for name in learners)]
        for dataset, row in table.iterrows()
    ]
    mean = found.by_learner.set_index("learner")["mean"]
    lines.append([words("mean"), *(number(float(mean[name]), 2) for name in learners)])
    heads = [words("data set"), *_heads(learners)]
    overall = found.overall
    caption = (
        f"Pearson's correlation over splits; splits share rows, so it is not tested. Over all: "
        f"mean {number(overall['mean'], 2)}, {overall['positive']} positive, "
        f"{overall['negative']} negative of {overall['cells']}."
    )
    name = f"correlations_{found.first}_{found.second}"
    title = f"Correlation of {labels[0]} and {labels[1]}"
    options: Options = {
        "caption": caption,
        "cut": True,
        "data": found.cells,
        "rules": {len(lines) - 1},
    }
    return make_table(name, title, heads, lines, **options)


def properties(table: pd.DataFrame) -> Table:
    """What the data sets are like."""

    def between(row: Mapping[Hashable, Any], part: str) -> str:
        low, high = row[f"least_{part}_rows"], row[f"most_{part}_rows"]
        return f"{low:,}" if low == high else f"{low:,}–{high:,}"

    lines: list[list[str | TableCell]] = []
    for row in table.to_dict("records"):
        counts = [f"{row[key]:,}" for key in ("attributes", "numeric", "classes")]
        parts = [between(row, "train"), between(row, "test")]
        cells = [f"{row['rows']:,}", *parts, *counts, percent(row["missing"])]
        lines.append([words(str(row["dataset"])), *cells])
    heads = ["data set", "rows", "training", "test", "attributes", "numeric", "classes", "missing"]
    caption = "Missing: the share of missing values among all values of attributes."
    title = "Properties of the data sets"
    return make_table("properties", title, heads, lines, caption=caption, data=table)


def costs(results: Results, totals: pd.DataFrame) -> Table:
    """Seconds to fit and to predict all splits, data sets × learners."""
    lines: list[list[str | TableCell]] = []
    for dataset, rows in totals.groupby("dataset", sort=False):
        own = rows.set_index("learner")
        cells = [
            TableCell(
                duration(float(own["fit_seconds"][name])),
                duration(float(own["predict_seconds"][name])),
                learners=(place,),
            )
            for place, name in enumerate(results.treatments)
        ]
        lines.append([words(str(dataset)), *cells])
    heads = [words("data set"), *_heads(tuple(results.treatments))]
    title = "Median time to fit, and below it to predict, a split"
    return make_table("seconds", title, heads, lines, cut=True, data=totals)


def size_words(results: Results, size: int) -> str:
    """The training size as it stands in a title, if a study has several."""
    return f" after {size_text(size)} training rows" if len(results.study.doses) > 1 else ""


def given(size: int) -> float:
    """A training size as the analyses take it: rows, or a share."""
    return Size.stored(size).value
