"""Figures for print: all that the data allow, true to the numbers, nothing cut off."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from simstudy import SimstudyError, make_study, run_study
from simstudy.analysis.models.average_ranks import rank
from simstudy.analysis.models.thresholds import Course, Overtaking
from simstudy.experiments import experiment
from simstudy.report import files
from simstudy.report.charts import mpl as renderer
from simstudy.report.charts import ranks, spread
from simstudy.report.charts.mpl import STYLES
from simstudy.report.charts.pairs import changes_shown, thresholds
from simstudy.report.charts.spec import looks
from simstudy.report.files import write_figures
from simstudy.report.tables.formats import markdown_text

pytestmark = pytest.mark.xdist_group("figures")  # its results are made once

mpl.use("Agg")
LONG = "A label that goes on and on and on, with a $ and an _, as labels do, variant "


def make_results(directory, **changes):
    content = {
        "name": "printed",
        "title": "A study to print",
        "models": 4,
        "family": {"name": "tan", "variables": [3, 4], "values": [2, 3]},
        "data": {"train_sizes": [8, 40, 200], "test_size": "exact", "training": "nested"},
        "learners": [
            {"name": "naive_bayes", "label": "NB"},
            {"name": "tan", "label": "TAN"},
            {"name": "truth"},
        ],
        "measures": {"also": ["kl_divergence", "regret", "representation", "estimation"]},
    }
    return run_study(make_study({**content, **changes}), directory, jobs=1, report=False)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return make_results(tmp_path_factory.mktemp("whole") / "out")


@pytest.fixture(scope="module")
def awkward(tmp_path_factory):
    """Long labels, losses, and scores that are infinite."""
    return make_results(
        tmp_path_factory.mktemp("awkward") / "out",
        data={"train_sizes": [8, 40], "test_size": 40},
        learners=[{"name": name, "label": LONG + name} for name in ("naive_bayes", "tan", "c45")],
        measures={"primary": "log_loss", "cutoff": "none"},
    )


@pytest.fixture(scope="module")
def drawn(results, awkward, tmp_path_factory):
    """The figures of both studies in each style, laid out but not rendered, and what was said."""
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        for style in STYLES:
            figures = []
            patch.setattr(files, "render", keeping(figures))
            place = tmp_path_factory.mktemp(style)
            said = write_figures(results, place / "new" / "figures", "svg", style)
            write_figures(awkward, place / "awkward", "png", style)
            found[style] = (figures, *said)
    return found


def keeping(figures):
    """What keeps figures instead of making bytes of them."""

    def keep(figure, formats, **options):
        figure.draw_without_rendering()
        figures.append(figure)
        return dict.fromkeys(formats, b"")

    return keep


@pytest.mark.slow
def test_every_figure_is_written_with_its_caption(results, drawn):
    _, written, skipped = drawn["paper"]
    names = [path.stem for path in written]
    expected = ["learning_curves", *(f"learning_curves_{m}" for m in results.measures[1:])]
    expected += ["differences", "scores", "ranks", "reliability", "regret"]
    assert names == [*expected, "reward_and_divergence", "captions"]
    assert [line.partition(":")[0] for line in skipped] == ["thresholds"]  # none is established
    assert all(path.exists() for path in written)
    captions = written[-1].read_text(encoding="utf-8")
    for path in written[:-1]:
        assert f"## {path.name}" in captions
    assert "Bonferroni-adjusted for m = 9 cells" in captions
    assert "Bonferroni-adjusted for m = 9 tests, all pairs at all sizes" in captions
    assert "Nemenyi's test of all m = 3 pairs together at α = 0.05" in captions
    assert "4 models of the family tan" in captions


@pytest.mark.slow
@pytest.mark.parametrize("format", ["pdf", "svg"])
def test_files_are_the_same_bytes_each_time(results, tmp_path, monkeypatch, format):
    every = results.study.page.figures(results)
    few = {name: every[name] for name in ("ranks", "regret")}
    monkeypatch.setattr(type(results.study.page), "figures", lambda *_: few)
    first, again = (write_figures(results, tmp_path / str(i), format)[0] for i in (1, 2))
    assert [path.name for path in first] == [f"ranks.{format}", f"regret.{format}", "captions.md"]
    for one, other in zip(first, again, strict=True):
        assert one.read_bytes() == other.read_bytes()
    if format == "pdf":
        content = first[0].read_bytes()
        assert b"/FontFile2" in content  # the letters are embedded, as TrueType
        assert b"/Type3" not in content


@pytest.mark.slow
@pytest.mark.parametrize("style", ["paper", "talk"])
def test_sizes_suit_the_style_and_no_label_is_cut(drawn, style):
    figures = drawn[style][0]
    assert len(figures) > 14
    for figure in figures:
        width, height = figure.get_size_inches()
        titled = figure.get_suptitle() != ""
        if style == "paper":
            assert 3.4 <= width <= 7
            assert height <= 9
            assert not titled
        else:
            assert (width, height) == (10, 5.6)
            assert titled
        shown = list(texts(figure))
        assert len(shown) > 3
        for text in shown:
            assert text.get_fontsize() >= STYLES[style].smallest
            box = text.get_window_extent()
            assert min(box.x0, box.y0) > -3, text
            assert box.x1 < figure.bbox.x1 + 3, text
            assert box.y1 < figure.bbox.y1 + 3, text


def texts(figure):
    """All that can be read in a figure."""
    beyond = set()
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            beyond |= {tick.label1 for tick in ticks if not low <= tick.get_loc() <= high}
    for text in figure.findobj(Text):
        hidden = text.axes is not None and not text.axes.get_visible()
        if text.get_visible() and text.get_text().strip() and not hidden and text not in beyond:
            yield text


def test_what_the_data_do_not_allow_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "render", keeping([]))
    alone = make_results(
        tmp_path / "out",
        data={"train_sizes": [30], "test_size": 50},
        learners=[{"name": "naive_bayes", "label": "NB"}],
        measures={},
    )
    written, skipped = write_figures(alone, tmp_path / "figures", "png")
    names = [path.name for path in written]
    assert names == ["learning_curves.png", "scores.png", "reliability.png", "captions.md"]
    assert "differences: they need two learners and two training sizes" in skipped
    assert "ranks: they need at least two learners" in skipped
    assert "reward_and_divergence: the study has not measured 'kl_divergence'" in skipped
    assert len(skipped) == 5
    for sentence in skipped:
        assert f"- {markdown_text(sentence)}" in written[-1].read_text(encoding="utf-8")


def test_captions_are_escaped(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "render", keeping([]))
    odd = make_results(
        tmp_path / "out",
        title="*One* <b>",
        data={"train_sizes": [30], "test_size": 50},
        learners=[{"name": "naive_bayes", "label": "NB"}],
        measures={},
    )
    written, _ = write_figures(odd, tmp_path / "figures", "png")
    said = written[-1].read_text(encoding="utf-8")
    assert said.startswith("# \\*One\\* \\<b\\>\n")
    assert "naive_bayes" not in said.replace("## ", "")


def test_unknown_formats_and_styles_are_refused(results, tmp_path):
    with pytest.raises(SimstudyError, match="format 'gif'; it must be one of png, svg, pdf"):
        write_figures(results, tmp_path, "gif")
    with pytest.raises(SimstudyError, match="style 'poster'; it must be one of paper, talk"):
        write_figures(results, tmp_path, "pdf", "poster")
    (tmp_path / "file").write_text("")
    with pytest.raises(SimstudyError, match="file cannot be created"):
        write_figures(results, tmp_path / "file", "png")


def test_scores_are_drawn_where_they_are(results):
    ax = results.plot_scores(size=40, ax=Figure().subplots())
    mine = results.scores[results.scores["size"] == 40]
    boxes = [line for line in ax.lines if len(line.get_xdata()) == 5]
    for place, (learner, dots) in enumerate(zip(results.learners, ax.collections, strict=True)):
        values = mine.loc[mine["learner"] == learner, "information_reward"].to_numpy()
        drawn = dots.get_offsets()
        np.testing.assert_allclose(np.sort(drawn[:, 0]), np.sort(values))
        assert np.abs(drawn[:, 1] - place).max() < 0.3
        ends = boxes[place].get_xdata()
        np.testing.assert_allclose([min(ends), max(ends)], np.quantile(values, [0.25, 0.75]))
    assert [t.get_text() for t in ax.get_yticklabels()] == ["NB", "TAN", "truth"]
    assert "40" in ax.get_title()


def test_scores_that_are_not_finite_are_left_out(awkward):
    findings = awkward.findings()
    values = [findings.values(learner, 8) for learner in awkward.learners]
    finite = [int(np.isfinite(one).sum()) for one in values]
    assert min(finite) < awkward.study.models  # or this would test nothing
    ax = awkward.plot_scores(size=8, ax=Figure().subplots())
    assert [np.isfinite(dots.get_offsets()[:, 0]).sum() for dots in ax.collections] == finite


def test_reliability_is_drawn_with_its_intervals(results):
    ax = results.plot_reliability("NB", ax=Figure().subplots())
    found = results.reliability([8, 200], learners=["NB"])
    marks = [c for c in ax.collections if hasattr(c, "get_sizes")]
    bars = [container.lines[2][0] for container in ax.containers]
    for size, dots, lines in zip((8, 200), marks, bars, strict=True):
        rows = found[found["size"] == size].sort_values("predicted")
        np.testing.assert_allclose(dots.get_offsets(), rows[["predicted", "observed"]])
        ends = np.array([segment[:, 1] for segment in lines.get_segments() if len(segment)])
        known = rows["se"].notna().to_numpy()
        expected = rows.loc[rows["se"].notna(), ["lower", "upper"]].clip(0, 1)
        np.testing.assert_allclose(ends[np.isfinite(ends).all(axis=1)], expected)
        assert (dots.get_facecolor()[:, :3].min(axis=1) == 1).tolist() == (~known).tolist()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["8", "200"]
    one = spread.reliability(results.calibration(8, learners=["NB"]), ["NB"])
    assert [key.text for key in one.key] == ["8"]


def test_changes_are_drawn_with_their_brackets_and_estimates_in_the_order_of_their_sizes(results):
    ahead = {"first_ahead": (8,), "second_ahead": (200,)}
    labels = results.treatments
    estimated = Overtaking(labels[1], labels[0], 8, 200, 30, 20, 90)
    earlier = Overtaking(labels[0], labels[1], 8, 40)
    courses = [
        Course(*labels[:2], 9, 0, 9, **ahead, changes=(estimated, earlier)),
        Course(*labels[:2], 9, 0, 9),
    ]
    changes, which = changes_shown(courses, 4)
    assert changes == [earlier, estimated]  # 18, the middle of the bracket, and 30
    assert which == ""
    ax = renderer.draw(thresholds(changes, results.findings()), Figure().subplots())
    rows = [f"{labels[0]} overtakes {labels[1]}", f"{labels[1]} overtakes {labels[0]}"]
    assert [t.get_text().replace("\n", " ") for t in ax.get_yticklabels()] == rows
    spans = [area.get_paths()[0].get_extents() for area in ax.collections]
    assert [(span.x0, span.x1) for span in spans] == [(8, 40), (8, 200)]
    (mark,) = (line for line in ax.lines if line.get_marker() not in ("None", ""))
    assert (*mark.get_xdata(), *mark.get_ydata()) == (30, 1)
    (look,) = looks(results.study.names)[1:2]
    assert mark.get_color() == renderer.COLOURS[look.colour]
    (line,) = (line for line in ax.lines if len(line.get_xdata()) == 2)
    assert tuple(line.get_xdata()) == (20, 90)
    assert [text.get_text().strip() for text in ax.texts] == ["30", "20–90"]
    few, which = changes_shown(courses, 1)
    assert few == [earlier]
    assert which == "Shown: the first 1 of 2 changes; the table has all."


def test_ranks_are_drawn_where_they_are_and_groups_are_joined(results):
    found = results.rank_tests(200)
    ax = results.plot_ranks(200, ax=Figure().subplots())
    words = {text.get_text().strip() for text in ax.texts}
    for learner, place in zip(found.table["learner"], found.table["rank"], strict=True):
        assert {f"{learner}  {place:.2f}", f"{place:.2f}  {learner}"} & words
    stems = [line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 3]
    assert stems == found.table["rank"].tolist()
    joins = [line for line in ax.lines if line.get_linewidth() > 3]
    assert len(joins) == len(found.groups)
    assert f"critical difference {found.critical_difference:.2f}" in words


def test_many_ranks_stand_below_each_other():
    rng = np.random.default_rng(0)
    rows = [
        {"model": model, "size": 9, "learner": f"l{index}", "information_reward": rng.normal()}
        for model in range(9)
        for index in range(20)
    ]
    found = rank(pd.DataFrame(rows), at=9)
    ax = renderer.draw(ranks.ranks(found, experiment("learners")), Figure().subplots())
    bars = [line.get_xdata() for line in ax.lines if len(line.get_xdata()) == 2]
    np.testing.assert_allclose([b - a for a, b in bars], found.critical_difference)
    np.testing.assert_allclose([(a + b) / 2 for a, b in bars], found.table["rank"])
    assert [t.get_text() for t in ax.get_yticklabels()] == found.table["learner"].tolist()
