"""Tables of studies of data sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from simstudy.analysis.datasets.across_datasets import LEAST_SETS, OverSets, SetsPair
from simstudy.analysis.datasets.findings import DataFindings, LearnerStanding
from simstudy.analysis.datasets.per_dataset import SPREAD
from simstudy.analysis.datasets.two_measures import Correlations, Reversals
from simstudy.analysis.tests.friedman import Friedman, FTest
from simstudy.data.sizes import size_text
from simstudy.measures.base import MeasureInfo
from simstudy.report.prose import data_statements as prose
from simstudy.report.prose import numbers
from simstudy.report.prose.inputs import Inputs, inputs
from simstudy.report.prose.numbers import NONE, number, p_value, signed
from simstudy.report.prose.phrases import axis_label, opening
from simstudy.report.tables.table import Row, Table, TableCell, Text, make_table, table_of, words
from simstudy.results.read.open import Results
from simstudy.texts import counted

GIVEN = "What each learner was given"
_SHADES = 5  # of the cells of a data set, by rank
MEANS = (
    "Means over the splits of each data set; bold: the best. Splits of a data set share rows, so "
    "their spread does not show how precise these means are."
)


def _by_dataset(
    name: str,
    title: str,
    learners: Sequence[str],
    rows: Mapping[str, Sequence[Text]],
    data: pd.DataFrame,
    caption: str = "",
) -> Table:
    """A row for each data set, a column for each learner."""
    heads = [TableCell(label, learners=(place,)) for place, label in enumerate(learners)]
    lines = [[dataset, *cells] for dataset, cells in rows.items()]
    heads = [words("data set"), *heads]
    return make_table(name, title, heads, lines, caption=caption, data=data, cut=True)


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
    rows: dict[str, list[TableCell]] = {}
    for dataset in findings.datasets:
        shades, cells = _shades(findings.placings(dataset)), rows.setdefault(dataset, [])
        best = findings.best[dataset] if len(findings.learners) > 1 else ()
        for place, label in enumerate(findings.learners):
            finite = not math.isnan(findings.table[label][dataset])
            more = f"± {number(SPREAD * findings.spreads[label][dataset])}" * (spread and finite)
            mean, kind = number(findings.means[label][dataset]), f"n{shades.get(label, '')}"
            cells.append(TableCell(mean, more, kind, (place,), label in best))
    title = f"Mean {axis_label(findings.info)} by data set{after}"
    title += ", with 1.96 standard deviations between splits" * spread
    caption = MEANS + " ±: 1.96 standard deviations between splits (not standard errors)." * spread
    data = findings.means.rename_axis("dataset").reset_index()
    return _by_dataset("means" + "_spread" * spread, title, findings.learners, rows, data, caption)


def on_one_set(every: Sequence[DataFindings], after: str = "") -> Table:
    """Mean scores on the only data set, learners × measures; best by the first measure first."""
    first = every[0]
    (dataset,) = first.datasets
    rows: list[list[Text]] = []
    values = {label: float(first.table[label][dataset]) for label in first.learners}
    for label in sorted(values, key=lambda label: (math.isnan(values[label]), -values[label])):
        cells = [
            TableCell(number(at.means[label][dataset]), bold=label in at.best[dataset])
            for at in every
        ]
        rows.append([words(label, "", first.learners.index(label)), *cells])
    heads: list[Text] = [words("learner"), *(axis_label(at.info) for at in every)]
    return make_table("means", f"Means on {dataset}{after}", heads, rows, caption=MEANS)


def _shades(ranks: pd.Series[float]) -> dict[Hashable, str]:
    """The classes of the cells of a row by their ranks, so that one bad mean does not hide all."""
    low, high = ranks.min(), ranks.max()
    shades = (_SHADES * (ranks - low) / (high - low)).dropna()  # none if all ranks are equal
    return {name: f" h{round(shade)}" for name, shade in shades.items()}


def standings(findings: DataFindings) -> Table:
    """How often each learner is best, wins and loses, and its average rank."""
    columns: dict[str, Callable[[LearnerStanding], Text]] = {
        "learner": lambda row: words(row.learner, "", findings.learners.index(row.learner)),
        "best mean": lambda row: f"{row.best}",
        "ahead": lambda row: f"{row.ahead}",
        "behind": lambda row: f"{row.behind}",
        "tests won": lambda row: f"{row.wins}",
        "tests lost": lambda row: f"{row.losses}",
        "average rank": lambda row: number(row.rank, 2),
    }
    caption = "Best mean, ahead (a test won and none lost) and behind (a test lost and none won): "
    caption += f"numbers of data sets. {opening(prose.method(findings))}."
    title = f"Learners on {counted(len(findings.datasets), 'data set')}, by {findings.info.label}"
    rows, data = findings.standings, pd.DataFrame(findings.standings)
    return table_of(rows, "standings", title, columns, caption=caption, data=data)


def winners(findings: DataFindings) -> Table:
    """A column for each winner; the cell names the learners that are significantly worse."""
    outcome = findings.winners
    totals = outcome.counts.set_index("learner").loc[[*outcome.learners]].itertuples()
    lines = [[name, *row] for name, row in outcome.table.iterrows()]
    lines.append(["tests", *(f"{row.wins} won, {row.losses} lost" for row in totals)])
    cells = [[words(str(text)) for text in line] for line in lines]
    caption = "A column is a winner; the cell names the learners that it is significantly better "
    caption += f"than. {opening(prose.method(findings))}."
    title, heads = f"Winners and losers by {findings.info.label}", ["data set", *outcome.learners]
    table = make_table("winners", title, heads, cells, caption=caption, data=outcome.pairs)
    return replace(table, rules={len(lines) - 1})


def tests(over: OverSets) -> Table:
    """The tests of all learners over data sets."""
    columns: dict[str, Callable[[Friedman | FTest], Text]] = {
        "test": lambda test: test.test,
        "statistic": lambda test: number(test.statistic, 3),
        "df": lambda t: f"{t.df1}, {t.df2}" if isinstance(t, FTest) else f"{t.df}",
        "p": lambda test: test.reason or p_value(test.p),
        "p from": lambda test: words("" if test.reason else prose.p_method(test)),
    }
    caption = (
        "These test whether any learners differ; pairwise tests decide which "
        f"({prose.over_method(over)}). Friedman's chi-squared and Iman & Davenport's F are "
        "corrected for ties. With up to 15 data sets, p comes from permutations of the ranks "
        "within data sets."
    )
    title = f"Tests of all learners over {len(over.datasets)} data sets"
    every: list[Friedman | FTest] = [over.friedman, over.iman_davenport, over.quade]
    return table_of(every, "tests", title, columns, caption=caption)


def pairs(over: OverSets, info: MeasureInfo) -> Table:
    """Each pair of learners over data sets: win/draw/loss, tests and posterior."""

    def both(pair: SetsPair) -> TableCell:
        places = map(over.learners.index, (pair.first, pair.second))
        return words(f"{pair.first} – {pair.second}", "", *places)

    columns: dict[str, Callable[[SetsPair], Text]] = {
        "first – second": both,
        "mean difference": lambda pair: signed(pair.difference),
        "won/drawn/lost": lambda p: f"{p.sign.wins}/{p.sign.draws}/{p.sign.losses}",
        "Wilcoxon p": lambda pair: pair.wilcoxon.reason or p_value(pair.wilcoxon.p),
        "adjusted p": lambda pair: p_value(pair.p_adjusted),
        "better": lambda p: TableCell(p.winner or NONE, kind="win" if p.winner else "tie"),
        "sign test, adjusted p": lambda pair: p_value(pair.p_sign_adjusted),
    }
    caption = f"Differences are in favour of the first. Better: {prose.over_method(over)}. "
    caption += "The p of the sign test is adjusted in the same way. "
    if len(over.datasets) < LEAST_SETS:
        caption += f"There are no posterior probabilities: these need {LEAST_SETS} data sets."
    else:
        columns["P(first)"] = lambda pair: numbers.estimated_share(pair.posterior.p_first_better)
        if over.rope:
            columns["P(equivalent)"] = lambda pair: numbers.estimated_share(pair.posterior.p_rope)
        columns["P(second)"] = lambda pair: numbers.estimated_share(pair.posterior.p_second_better)
        caption += "P: posterior probability of each by the Bayesian signed rank test "
        caption += f"({prose.equivalence(over.rope, info)}); not used for decisions here."
    title = f"Each pair of learners over {len(over.datasets)} data sets"
    return table_of(over.pairs, "across", title, columns, caption=caption, data=over.table)


def reversals(cases: Reversals, labels: tuple[str, str]) -> Table:
    """Data sets on which two measures name different winners."""
    lines = []
    for row in cases.cases:
        first = row.winner_first, row.difference_first, row.significant_first, row.p_first
        second = row.winner_second, row.difference_second, row.significant_second, row.p_second
        line: list[Text] = [row.dataset]
        for winner, lead, significant, p in (first, second):
            line += [words(winner), TableCell(signed(lead), bold=significant), p_value(p)]
        lines.append(line)
    heads = [[f"best by {label}", "ahead by", "adjusted p"] for label in labels]
    caption = "Ahead by: the mean lead over the winner by the other measure; bold if significant."
    name = f"reversals_{cases.first}_{cases.second}"
    title = f"Different winners by {labels[0]} and {labels[1]}"
    every = ["data set", *heads[0], *heads[1]]
    return make_table(name, title, every, lines, caption=caption, data=cases.table)


def example_sentences(cases: Reversals, labels: tuple[str, str]) -> list[str]:
    """A test row of each reversal that shows why, or one sentence why there are none."""
    sentences = []
    for case in cases.cases:
        if (row := case.example) is None:
            continue
        probabilities = row.probabilities_first, row.probabilities_second
        first, second = (numbers.share(each.get(row.target, math.nan)) for each in probabilities)
        sentences.append(
            f"{case.dataset}, row {row.row} (repeat {row.repeat + 1}, fold {row.fold + 1}), of "
            f"class {row.target}: {case.winner_first} gives it {first}, {case.winner_second} "
            f"{second}. By {labels[1]} this row counts {number(row.difference_second)} for "
            f"{case.winner_second}; by {labels[0]} {number(row.difference_first)} for "
            f"{case.winner_first}."
        )
    reasons = dict.fromkeys(case.no_example for case in cases.cases if case.no_example)
    return sentences or [f"No example row: {reason}." for reason in reasons]


def correlations(correlated: Correlations, labels: tuple[str, str]) -> Table:
    """Correlation of two measures over splits, data sets × learners."""
    overall, means = correlated.overall, correlated.by_learner.set_index("learner")["mean"]
    every = pd.concat([correlated.table[[*means.index]], means.to_frame("mean").T])
    rows = {str(name): [number(value, 2) for value in row] for name, row in every.iterrows()}
    caption = "Pearson's correlation over splits; splits share rows, so it is not tested. "
    caption += f"Over all: mean {number(overall['mean'], 2)}, {overall['positive']} positive, "
    caption += f"{overall['negative']} negative of {overall['cells']}."
    name = f"correlations_{correlated.first}_{correlated.second}"
    title, learners = f"Correlation of {labels[0]} and {labels[1]}", [*means.index]
    table = _by_dataset(name, title, learners, rows, correlated.cells, caption)
    return replace(table, rules={len(rows) - 1})


def properties(table: pd.DataFrame) -> Table:
    """What the data sets are like."""

    def between(part: str) -> Callable[[Row], str]:
        keys = f"least_{part}_rows", f"most_{part}_rows"
        return lambda row: "–".join(dict.fromkeys(f"{row[key]:,}" for key in keys))

    columns: dict[str, Callable[[Row], str]] = {
        "data set": lambda row: str(row["dataset"]),
        "rows": lambda row: f"{row['rows']:,}",
        "training": between("train"),
        "test": between("test"),
        "attributes": lambda row: f"{row['attributes']:,}",
        "numeric": lambda row: f"{row['numeric']:,}",
        "classes": lambda row: f"{row['classes']:,}",
        "missing": lambda row: numbers.percent(row["missing"]),
    }
    caption = "Missing: the share of missing values among all attribute values."
    rows, title = table.to_dict("records"), "Properties of the data sets"
    return table_of(rows, "properties", title, columns, caption=caption, data=table)


def given(results: Results) -> list[Table]:
    """What each learner was given, unless an earlier version made the results."""
    columns: dict[str, Callable[[Inputs], Text]] = {
        "learner": lambda row: words(row.learner, "", results.learners.index(row.learner)),
        "numbers": lambda row: words(row.numbers),
        "numbers scaled": lambda row: words(row.scaled),
        "nominal values": lambda row: words(row.nominal),
        "missing values": lambda row: words(row.missing),
    }
    title, rows = "Inputs of the learners", inputs(results)
    caption = "Whatever has to be estimated for this is estimated in each training part only."
    return [table_of(rows, "inputs", title, columns, texts=5, caption=caption)] if rows else []


def costs(results: Results, totals: pd.DataFrame) -> Table:
    """Seconds to fit and to predict all splits, data sets × learners."""
    rows, columns = {}, ["fit_seconds", "predict_seconds"]
    for dataset, times in totals.groupby("dataset", sort=False):
        each = times.set_index("learner").loc[results.treatments, columns].map(numbers.duration)
        cells = enumerate(each.itertuples(index=False, name=None))
        rows[str(dataset)] = [TableCell(fit, more, learners=(i,)) for i, (fit, more) in cells]
    title = "Median time to fit a split (below: to predict)"
    return _by_dataset("seconds", title, results.treatments, rows, totals)


def size_words(results: Results, size: int) -> str:
    """The training size as it stands in a title, if a study has several."""
    return f" after {size_text(size)} training rows" if len(results.study.doses) > 1 else ""
