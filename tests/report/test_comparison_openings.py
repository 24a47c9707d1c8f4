"""The figures that open comparisons show what their scores say, computed again with scipy."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.report.charts.spec import Chart, Line, Marks, Text
from simstudy.workflow.compare import compare_studies
from tests.report.agreement.running import Runner, mutate
from tests.report.agreement.truth import share_limits, truth_of

pytestmark = pytest.mark.xdist_group("agreement")


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    return Runner(tmp_path_factory.mktemp("openings"))


def opened(ran: Runner, name: str, column: int = 0) -> tuple[Chart, ...]:
    results = ran.results(name).shown
    return results.study.page.charts(results, results.findings(results.measures[column]))


def marks(chart: Chart) -> dict[str, tuple[float, float, bool]]:
    """Return where marks are, and whether they are hollow, by what they say."""
    found = {}
    for layer in chart.layers:
        if isinstance(layer, Marks):
            hollow = layer.hollow or [False] * len(layer.x)
            each = zip(layer.x, layer.y, hollow, strict=True)
            found |= dict(zip(layer.tips, each, strict=True))
    return found


def values(scores: pd.DataFrame, column: str, test: str, size: int) -> np.ndarray:
    here = scores[(scores["learner"] == test) & (scores["size"] == size)]
    return here[column].to_numpy()


@pytest.mark.parametrize("name", ["tests", "once"])
def test_tests_stand_at_their_rates_and_are_hollow_if_they_exceed_the_level(ran, name):
    scores = pd.read_parquet(ran(name)[0] / "scores.parquet")
    nulls = [column for column in scores if column.startswith("type_1")]
    (chart,) = opened(ran, name)
    shown = marks(chart)
    m = scores["learner"].nunique() * scores["size"].nunique()
    assert len(shown) == m
    for tip, (x, y, hollow) in shown.items():
        test, size = re.match(r"(.*), (\d+) rows: ", tip).groups()
        each = [values(scores, null, test, int(size)) for null in nulls]
        error, power = (
            max(rates.mean() for rates in each),
            values(scores, "power_NB_prior", test, int(size)).mean(),
        )
        assert x == pytest.approx(max(error, chart.x.low))
        assert y == pytest.approx(max(power, chart.y.low))
        assert hollow == any(share_limits(rates, 0.05 / m)[0] > 0.05 for rates in each)
        low, high = share_limits(values(scores, "power_NB_prior", test, int(size)), 0.05 / m)
        assert tip.endswith(f"power {power:.1%} [{low:.1%}, {high:.1%}]")
    assert any(hollow for *_, hollow in shown.values()) == bool(truth_of(ran(name)[0]).exceeding())


def test_the_small_picture_of_tests_is_the_one_for_narrow_screens(ran):
    results = ran.results("tests")
    page, findings = results.study.page, results.findings()
    assert page.thumbnail(results, findings) == page.charts(results, findings, narrow=True)[0]
    assert page.thumbnail(results, findings) != page.charts(results, findings)[0]


def test_estimators_are_sorted_by_rmse_and_stand_at_bias_rmse_and_coverage(ran):
    directory, _ = ran("estimators")
    scores = pd.read_parquet(directory / "scores.parquet")
    column = "squared_error_accuracy_NB"
    bias, rmse, covered = opened(
        ran, "estimators", [*ran.results("estimators").measures].index(column)
    )
    labels = [label for _, label in bias.y.marks]
    size, m = int(scores["size"].min()), len(labels) * scores["size"].nunique()
    roots = {label: np.sqrt(values(scores, column, label, size).mean()) for label in labels}
    assert labels == sorted(labels, key=roots.__getitem__)
    for chart, at in ((bias, "error_accuracy_NB"), (rmse, column)):
        bars = [layer for layer in chart.layers if isinstance(layer, Line)]
        for (tip, (x, row, _)), bar in zip(marks(chart).items(), bars, strict=True):
            label = labels[int(row)]
            each = values(scores, at, label, size)
            half = stats.t.isf(0.025 / m, len(each) - 1) * stats.sem(each)
            ends = np.array([each.mean() - half, each.mean(), each.mean() + half])
            ends = np.sqrt(np.maximum(ends, 0)) if chart is rmse else ends
            assert tip.startswith(label)
            assert [bar.x[0], x, bar.x[1]] == pytest.approx(ends.tolist())
    table = pd.read_parquet(directory / "estimates.parquet")
    table = table[(table["learner"] == "NB") & (table["size"] == size)]
    for tip, (x, row, hollow) in marks(covered).items():
        label, interval = re.match(r"(.*): .*, (\w+)$", tip).groups()
        own = table[table["estimator"] == label]
        inside = own["exact"].between(own[f"lower_{interval}"], own[f"upper_{interval}"])
        assert labels[round(row)] == label
        assert x == pytest.approx(inside.mean())
        m = sum(ran.results("estimators").interval_quality()["learner"] == "NB")
        high = stats.beta.isf(0.025 / m, inside.sum() + 1, max(len(own) - inside.sum(), 1e-9))
        assert hollow == (inside.sum() < len(own) and high < 0.95)


def test_a_coverage_has_a_bar_and_a_number_if_it_is_shown_to_be_too_low(ran):
    column = [*ran.results("estimators").measures].index("squared_error_accuracy_prior")
    *_, covered = opened(ran, "estimators", column)
    texts = [layer.text.strip() for layer in covered.layers if isinstance(layer, Text)]
    short = [x for x, _, hollow in marks(covered).values() if hollow]
    assert sorted(texts) == sorted(f"{x:.0%}" for x in short)
    assert len([layer for layer in covered.layers if isinstance(layer, Line)]) == len(short)


def test_measures_stand_at_their_shares_and_brackets_hold_what_tests_decide(ran):
    truth = truth_of(ran("measures")[0])
    chart, needed = opened(ran, "measures")
    names = {name: name for name in ran.results("measures").shown.treatments}
    assert [*names] == truth.learners
    shown = marks(chart)
    assert len(shown) == len(truth.learners) * len(truth.sizes)
    for tip, (size, share, _) in shown.items():
        assert share == pytest.approx(truth.means[size, names[tip.split(", ")[0]]])
    black = {
        layer.label for layer in chart.layers if isinstance(layer, Line) and layer.kind == "best"
    }
    assert {names[label] for label in black} == set().union(*map(truth.best, truth.sizes))
    at = ran.results("measures").reference
    (best,) = truth.best(at)
    texts = {layer.y: layer.text for layer in needed.layers if isinstance(layer, Text)}
    rows = {label: texts[row].strip() for row, label in needed.y.marks}
    assert {names[label] for label, text in rows.items() if text.endswith("(best)")} == {best}
    decided = [(label, re.fullmatch(r"more than (\d+)", text)) for label, text in rows.items()]
    wide, above = truth.wide, {names[label]: int(found[1]) for label, found in decided if found}
    assert above
    for label, size in above.items():  # it is worse there than the best with fewer rows
        first, second = (wide[key].to_numpy() for key in ((size, label), (at, best)))
        assert first.mean() < second.mean()
        assert stats.ttest_rel(first, second).pvalue < truth.alpha


# One chart at a time is changed


def all_short(real):
    return lambda errors, *rest: real(
        errors._replace(coverage=errors.coverage.assign(short=True)), *rest
    )


def biased(real):
    """Draw errors of each estimator where those of another are."""
    return lambda errors, *rest: real(
        errors._replace(bias=dict(zip(errors.bias, [*errors.bias.values()][::-1], strict=True))),
        *rest,
    )


def all_keep(real):
    return lambda cells, *rest: real([replace(cell, exceeds=False) for cell in cells], *rest)


def upside_down(real):
    """Blacken measures of the worst means."""
    return lambda findings, *rest: real(
        replace(findings, info=replace(findings.info, greater_is_better=False)), *rest
    )


def to_the_last(real):
    """Compare measures with the last of them."""

    def needed(*rest):
        table = real(*rest)
        return table.assign(note=table["note"].tolist()[::-1])

    return needed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "change", "fact"),
    [
        ("estimators.page.panels", all_short, "estimators_are_sorted_by_rmse_and_stand_at_bias"),
        ("estimators.page.panels", biased, "estimators_are_sorted_by_rmse_and_stand_at_bias"),
        ("tests.page.levels", all_keep, "tests_stand_at_their_rates"),
        ("measures.page.choices", upside_down, "measures_stand_at_their_shares"),
        ("measures.results.rows_needed", to_the_last, "measures_stand_at_their_shares"),
    ],
)
def test_a_chart_that_says_otherwise_is_found(ran, monkeypatch, target, change, fact):
    (test,) = (here for name, here in globals().items() if name.startswith(f"test_{fact}"))
    name = target.partition(".")[0]
    ran(name)
    mutate(monkeypatch, f"simstudy.experiments.{target}", change)
    vars(ran)["_results"].pop(name, None)
    with pytest.raises(AssertionError):
        test(ran, *[name] * (name == "tests"))
    vars(ran)["_results"].pop(name, None)


def test_measures_have_their_written_names_where_their_studies_are_compared(ran):
    results = ran.results("measures")
    page = compare_studies([results, results], ["first", "second"])
    opening = page[page.index("<main") : page.index('<section id="designs"')]
    names = dict(zip(results.treatments, results.shown.treatments, strict=True))
    raw = {label for label, name in names.items() if label != name}
    assert raw
    for label in raw:
        assert label not in opening
        assert names[label] in opening
