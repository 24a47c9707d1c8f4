"""Tables say what the results say, to the printed digit, and survive any label."""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import pytest

from simstudy import SimstudyError, make_study, run_study
from simstudy.analysis.models.thresholds import Course, Overtaking
from simstudy.report.files import write_tables
from simstudy.report.tables.findings import decimals, means, models_needed, pairs, thresholds
from simstudy.report.tables.formats import (
    SHRUNK,
    as_html,
    as_latex,
    as_markdown,
    latex_text,
    markdown_text,
)
from simstudy.report.tables.table import TableCell, make_table
from simstudy.report.terminal import print_table

NASTY = r"a & b % c _ d # e $ f { g } h ~ i ^ j \ k | l"


def run(directory, **changes):
    content = {
        "name": "tabled",
        "models": 12,
        "family": {"name": "tan", "variables": [3, 4], "values": [2, 3]},
        "data": {"train_sizes": [8, 40, 1000], "test_size": 100},
        "learners": [
            {"name": "naive_bayes", "label": "NB"},
            {"name": "tan", "label": "TAN"},
            {"name": "prior", "label": NASTY},
        ],
        "measures": {"also": ["log_loss"]},
    }
    return run_study(make_study({**content, **changes}), directory, jobs=1, report=False)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return run(tmp_path_factory.mktemp("tables") / "out")


@pytest.fixture(scope="module")
def written(results, tmp_path_factory):
    """The directory of each format."""
    place = tmp_path_factory.mktemp("written")
    for format in ("latex", "markdown", "csv"):
        paths = write_tables(results, place / format, format)
        assert all(path.exists() for path in paths)
    return place


def markdown_rows(path):
    """The cells of a Markdown table below its head, unescaped."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line[:1] == "|"]
    return [
        [
            re.sub(r"\\(.)", r"\1", cell.strip()).replace("&amp;", "&")
            for cell in re.split(r"(?<!\\)\|", line)[1:-1]
        ]
        for line in lines[2:]
    ]


def number(text):
    """A printed number, or the first of two."""
    text = text.split("±")[0].strip("*† ").replace("−", "-").replace(",", "")
    return math.nan if text == "–" else float(text.removeprefix("< "))


def shown(text, value):
    """Whether a printed number is a value rounded to its last digit."""
    digits, _, power = text.strip("*† ").replace("−", "-").partition("e")
    decimals = len(digits.partition(".")[2]) - int(power or 0)
    return number(text) == pytest.approx(value, abs=0.51 * 10.0**-decimals + 1e-12)


def latex_rows(path):
    """The cells of a LaTeX table below its head."""
    text = path.read_text(encoding="utf-8")
    start, end = (r"\endfoot", r"\end{") if r"\endfoot" in text else (r"\midrule", r"\bottomrule")
    body = text.split(start, 1)[1].split(end)[0]
    rows = [row for row in body.replace(r"\midrule ", "").split("\\\\\n") if row.strip()]
    return [re.split(r"(?<!\\) & ", row.strip()) for row in rows]


def test_all_tables_are_written_in_every_format(written):
    names = ["means", "means_log_loss", "anova", "sphericity", "pairwise", "thresholds"]
    names += ["precision", "ranks"]
    for format, ending in (("latex", "tex"), ("markdown", "md"), ("csv", "csv")):
        found = {path.name for path in (written / format).iterdir()}
        assert found == {*(f"{name}.{ending}" for name in names), "captions.md"}
        captions = (written / format / "captions.md").read_text(encoding="utf-8")
        assert all(f"## {name}.{ending}" in captions for name in names)
        assert "Bonferroni-adjusted for m = 9 cells" in captions
        assert "Bonferroni-adjusted for m = 9 tests, all pairs at all sizes" in captions


def test_means_are_those_of_the_results(results, written):
    intervals = results.intervals().set_index(["learner", "size"])
    rows = markdown_rows(written / "markdown/means.md")
    assert [row[0] for row in rows] == results.learners
    for row in rows:
        for size, text in zip(results.sizes, row[1:], strict=True):
            cell = intervals.loc[(row[0], size)]
            mean, half = text.replace("−", "-").strip("*†").split(" ± ")
            width = (cell["upper"] - cell["lower"]) / 2
            assert shown(mean, cell["mean"])
            assert shown(half.strip("*†"), width)
    plain = [
        [cell.replace("$-$", "−").replace(r"$\pm$", "±") for cell in row[1:]]
        for row in latex_rows(written / "latex/means.tex")
    ]
    for one, other in zip(plain, markdown_rows(written / "markdown/means.md"), strict=True):
        for latex, markdown in zip(one, other[1:], strict=True):
            bare = re.sub(r"\\textbf\{(.*)\}", r"\1", latex.replace(r"$^{\dagger}$", ""))
            assert bare == markdown.strip("*†")
            assert (r"\textbf" in latex) == markdown.startswith("**")
            assert ("dagger" in latex) == markdown.endswith("†")
    exact = pd.read_csv(written / "csv/means.csv")
    np.testing.assert_array_equal(exact["mean"], results.intervals()["mean"])


def test_the_best_is_bold_and_those_that_do_not_differ_are_marked(results):
    table = means(results.findings("log_loss"))  # lower is better
    intervals, pairs = results.intervals("log_loss"), results.pairwise("log_loss")
    marks = 0
    for column, size in enumerate(results.sizes, start=1):
        here = intervals[intervals["size"] == size].set_index("learner")["mean"]
        best = here.idxmin()
        for row in table.rows:
            learner, cell = row[0].text, row[column]
            assert cell.bold == (learner == best)
            if learner != best:
                pair = pairs[(pairs["size"] == size)]
                pair = pair[
                    [
                        {a, b} == {learner, best}
                        for a, b in zip(pair["first"], pair["second"], strict=True)
                    ]
                ]
                assert cell.dagger == (pair["p_adjusted"].item() >= 0.05)
                marks += cell.dagger
    assert marks > 0
    assert "Bold: the best mean at each size; †: not significantly different" in table.caption
    assert "m = 9 tests, all pairs at all sizes" in table.caption


def test_tests_are_those_of_the_results(results, written):
    anova, rows = results.anova(), markdown_rows(written / "markdown/anova.md")
    assert [row[0] for row in rows] == ["learner", "size", "learner × size"]
    for row, expected in zip(rows, anova.to_dict("records"), strict=True):
        assert row[1] == f"{expected['df1']}, {expected['df2']}"
        assert row[2] == f"{expected['F']:.2f}"
        assert row[4] == ("< 0.0001" if expected["p_gg"] < 1e-4 else f"{expected['p_gg']:.4f}")
        assert row[6] == f"{expected['eta2_generalized']:.3f}"
    pairs, rows = results.pairwise(), markdown_rows(written / "markdown/pairwise.md")
    for row, expected in zip(rows, pairs.to_dict("records"), strict=True):
        assert row[:2] == [f"{expected['size']:,}", f"{expected['first']} − {expected['second']}"]
        assert shown(row[2], expected["difference"])
        low, high = row[3].strip("[]\\").split(", ")
        assert shown(low, expected["lower"])
        assert shown(high, expected["upper"])
        assert number(row[6]) == pytest.approx(expected["p_adjusted"], abs=1e-4)
    spread, rows = results.precision(), markdown_rows(written / "markdown/precision.md")
    for row, expected in zip(rows, spread.to_dict("records"), strict=True):
        assert shown(row[5], expected["mcse"])


def test_ranks_are_those_of_the_results(results, written):
    rows = {row[0]: row[1:] for row in markdown_rows(written / "markdown/ranks.md")}
    for column, at in enumerate([*results.sizes, None]):
        found = results.rank_tests(at)
        for learner, rank in zip(found.table["learner"], found.table["rank"], strict=True):
            assert rows[learner][column] == f"{rank:.2f}"
        assert rows["Friedman's χ²"][column] == f"{found.chi2:.2f}"
        assert rows["critical difference"][column] == f"{found.critical_difference:.2f}"
    data = pd.read_csv(written / "csv/ranks.csv")
    assert len(data) == 4 * 3


def test_thresholds_are_those_of_the_results(results, written):
    rows = markdown_rows(written / "markdown/thresholds.md")
    for row, expected in zip(rows, results.thresholds().to_dict("records"), strict=True):
        assert {*row[:2]} == {expected["first"], expected["second"]}
        if isinstance(expected["ahead"], str):
            assert row[0] == expected["ahead"]
            mine = expected["first_ahead" if row[0] == expected["first"] else "second_ahead"]
            assert (row[5] == "–") == (mine == "")
        else:
            assert row[2] == "none"
    told = (written / "markdown/captions.md").read_text(encoding="utf-8")
    assert "Bonferroni-adjusted for m = " in told
    head = (written / "csv/thresholds.csv").read_text(encoding="utf-8")
    assert "second_ahead" in head


def test_a_threshold_s_row_claims_no_more_than_the_tests(make_findings):
    def row(*changes, first_ahead=(), second_ahead=(), **more):
        given = {"n": 40, "infinite": 0, "m": 4} | more
        course = Course("NB", "TAN", **given, first_ahead=first_ahead, second_ahead=second_ahead,
                        changes=changes)  # fmt: skip
        family = pd.DataFrame({"m": [4]})
        findings = make_findings(learners=["NB", "TAN"], courses=(course,), pairwise=family)
        table = thresholds(findings)
        ((first, *others),) = table.rows
        assert first.learners == (0, 1)
        return [first.text, *(cell.text for cell in others)]

    assert row() == ["NB", "TAN", "none", "–", "–", "–", "–", "40"]
    assert row(m=0, note="not analysed: infinite values")[2] == "not analysed: infinite values"
    ahead = {"second_ahead": (5000,)}
    assert row(**ahead) == ["TAN", "NB", "none", "–", "–", "5,000", "–", "40"]
    ahead |= {"first_ahead": (50,)}
    change = Overtaking("TAN", "NB", 50, 5000)
    assert row(change, **ahead) == ["TAN", "NB", "50–5,000", "–", "–", "5,000", "50", "40"]
    known = Overtaking("TAN", "NB", 50, 5000, 700.2, 650.6, 800.1)
    assert row(known, **ahead)[2:5] == ["50–5,000", "700", "[650, 801]"]


def test_latex_is_well_formed_whatever_the_labels(written):
    for path in (written / "latex").glob("*.tex"):
        text = path.read_text(encoding="utf-8")
        assert text.startswith("% needs \\usepackage{booktabs")
        body = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
        bare = re.sub(r"\\[\\{}$&%#_]", "", body)
        assert bare.count("{") == bare.count("}")
        assert bare.count("$") % 2 == 0
        assert "%" not in bare
        assert "#" not in bare
        # Outside of math, and of names of commands and labels, no sign is left unescaped.
        assert body.count(SHRUNK) == body.count(r"\begin{tabular}")
        outside = re.sub(r"\$[^$]*\$|\\label\{[^}]*\}", "", bare.replace(SHRUNK, ""))
        assert not set(outside) & set("_^~|<>")
        shapes = re.sub(r"p\{0\.\d\\linewidth\}", "l", body)
        columns = len(re.search(r"\\begin\{(?:tabular|longtable)\}\{([lr]+)\}", shapes)[1])
        for row in latex_rows(path):
            assert len(row) == columns
        assert r"\caption{" in body
        assert r"\label{tab:tabled-" in body


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (NASTY, r"a \& b \% c \_ d \# e \$ f \{ g \} h \textasciitilde{} i \textasciicircum{} j "
         r"\textbackslash{} k \textbar{} l"),
        ("η²G ± ε", r"$\eta^{2}$G $\pm$ $\varepsilon$"),
        ("−0.5", "$-$0.5"),
        ("α−β × x₁", r"$\alpha-\beta$ $\times$ x$_{1}$"),
        ("two\nlines", "two lines"),
        ("“G–G”…", r"``G--G''\ldots{}"),
        ("Demšar", "Demšar"),
        ("--refine, 4–8", "-{}-refine, 4--8"),
    ],
)  # fmt: skip
def test_text_is_escaped_for_latex(text, expected):
    assert latex_text(text) == expected


def test_text_is_escaped_for_markdown():
    assert markdown_text("a|b *c* & [d]\n_e_") == r"a\|b \*c\* \& \[d\] \_e\_"


def one_table(lines, **more):
    return make_table("t", "Title", ["learner", *("abcdefg"[: len(lines[0]) - 1])], lines, **more)


def test_wide_tables_are_cut_and_long_ones_go_over_pages():
    wide = one_table([["x", *("0.1234 ± 0.0123" for _ in range(7))]], cut=True)
    latex = as_latex(wide, "Caption.", "tab:t")
    assert re.findall(r"\\begin\{tabular\}\{(\w+)\}", latex) == ["lrrrr", "lrrr"]
    assert latex.count(r"\caption{Title.}") == 1
    assert latex.count("Caption.") == 1  # the note, below the last part
    assert [line.count("|") for line in as_markdown(wide, "").splitlines() if line[:1] == "|"] == [
        8, 8, 8, 3, 3, 3,
    ]  # fmt: skip
    long = as_latex(one_table([[str(n), "1"] for n in range(60)]), "Caption.", "tab:t")
    assert r"\begin{longtable}{lr}" in long
    assert "booktabs, longtable" in long
    # Its heads are on every page, its label on the first.
    first, again = long.split(r"\endfirsthead")
    assert first.count(r"\label{tab:t}") == first.count(r"learner & a \\") == 1
    assert (again.count(r"\label"), again.count(r"learner & a \\")) == (0, 1)


def test_six_learners_fit_into_a_table_for_a_paper():
    six = one_table([["letter-recognition", *("0.1234 ± 0.0123" for _ in range(6))]], cut=True)
    assert as_latex(six, "", "tab:t").count(r"\begin{tabular}{lrrrrrr}") == 1


def test_heads_wider_than_their_columns_are_broken_in_wide_tables_only():
    heads = ["learner", *(f"adjusted p of test {n}" for n in range(5))]
    made = as_latex(make_table("t", "T", heads, [["x", *["0.123"] * 5]]), "", "tab:t")
    assert r"\shortstack[r]{adjusted\\{}p of\\{}test 0}" in made
    assert "shortstack" not in as_latex(make_table("t", "T", heads[:3], [["x", "1", "2"]]), "", "t")


def test_long_texts_are_broken_wherever_their_column_is():
    table = one_table([["x", TableCell("50, " * 20, kind="t"), "1"]])
    assert r"{lp{0.3\linewidth}r}" in as_latex(table, "", "tab:t")


def test_a_terminal_shows_all_of_a_wide_table(capsys):
    from rich.console import Console

    numbers = [f"{n}.{n}{n}{n}{n}" for n in range(7)]
    table = one_table([["[b]x[/b]", *numbers]], cut=True, caption="A [caption].")
    print_table(table, Console(width=40))
    shown = capsys.readouterr().out
    assert all(number in shown for number in numbers)
    assert shown.count("[b]x[/b]") > 1
    assert "A [caption]." in shown
    assert max(map(len, shown.splitlines())) <= 40


def test_html_is_escaped_and_names_the_learners_of_rows_and_cells():
    cells = [
        TableCell("<b>", "± &", learners=(1,)),
        TableCell("2", bold=True),
        TableCell("3", dagger=True),
    ]
    text = as_html(one_table([[TableCell("NB", kind="t", learners=(0,)), *cells]], rules={0}))
    assert '<tr class="ruled" data-l="0">' in text
    assert '<td class="n" data-l="1">&lt;b&gt; <span class="more">± &amp;</span></td>' in text
    assert "<strong>2</strong>" in text
    assert "3†" in text


def test_pairs_name_the_winner_and_its_lead(results):
    found = {(p.size, frozenset((p.first, p.second))): p for p in results.findings().pairs}
    wins = 0
    for size in results.sizes:
        for first, *cells in pairs(results.findings(), size).rows:
            for cell in cells:
                if cell.kind == "none":
                    continue
                both = [results.learners[place] for place in (*first.learners, *cell.learners)]
                pair = found[size, frozenset(both)]
                assert (cell.kind == "win") == (pair.winner is not None)
                if pair.winner is not None:
                    wins += 1
                    assert cell.text == pair.winner
                    assert cell.more.startswith(f"+{abs(pair.lead):.4f} [+")
    assert wins > 0


def test_models_needed_shrink_standard_errors_to_round_numbers(results):
    table, largest = models_needed(results.findings()), results.precision()["mcse"].max()
    targets = [float(row[0].text) for row in table.rows]
    assert targets == sorted(targets, reverse=True)
    assert all(target < largest for target in targets)
    for target, row in zip(targets, table.rows, strict=True):
        needed = results.precision(mcse=target).groupby("kind")["models_needed"].max()
        assert [cell.text for cell in row[1:]] == [
            f"{needed[kind]:,}" for kind in ("mean", "difference")
        ]


def test_a_row_that_begins_with_a_bracket_is_no_option_of_the_row_before():
    latex = as_latex(one_table([["[a]", "1"], ["*", "2"]]), "", "tab:t")
    assert "{}[a] & 1" in latex
    assert "{}* & 2" in latex


def test_letters_that_pdflatex_lacks_are_announced():
    latex = as_latex(one_table([["学习者", "1"]]), "", "tab:t")
    assert "% has letters that only XeLaTeX and LuaLaTeX know: 习 学 者" in latex


def test_decimals_show_the_narrowest_interval():
    assert [decimals([0.5, width]) for width in (0.2, 0.02, 0.00012, 1e-9)] == [2, 3, 5, 6]
    assert decimals([0.0, math.nan, math.inf]) == 2


def test_tables_that_cannot_be_made_are_named(tmp_path):
    alone = run(
        tmp_path / "out",
        data={"train_sizes": [30], "test_size": 50},
        learners=[{"name": "naive_bayes"}],
        measures={},
    )
    paths = write_tables(alone, tmp_path / "tables", "markdown")
    assert [path.name for path in paths] == ["means.md", "precision.md", "captions.md"]
    said = paths[-1].read_text(encoding="utf-8")
    assert "- pairwise: there is only one learner" in said
    assert "- anova: one learner at one size leaves nothing to compare" in said
    assert "Bold" not in said
    assert markdown_rows(paths[0])[0][0] == "naive_bayes"
    with pytest.raises(
        SimstudyError, match="format 'html'; it must be one of latex, markdown, csv"
    ):
        write_tables(alone, tmp_path, "html")


def test_many_sizes_and_few_learners_turn_the_table(tmp_path):
    sizes = [5, 10, 20, 40, 80, 160, 320]
    grown = run(tmp_path / "out", models=3, data={"train_sizes": sizes, "test_size": 20})
    table = means(grown.findings())
    assert [head.text for head in table.heads] == ["training rows", "NB", "TAN", NASTY]
    assert [head.learners for head in table.heads] == [(), (0,), (1,), (2,)]
    assert [row[0].text for row in table.rows] == [str(size) for size in sizes]
    intervals = grown.intervals().set_index(["learner", "size"])["mean"]
    assert shown(table.rows[2][2].text, intervals["TAN", 20])


def test_infinite_means_are_neither_best_nor_level(tmp_path):
    lossy = run(
        tmp_path / "out",
        learners=[{"name": "naive_bayes", "label": "NB"}, {"name": "c45", "label": "C4.5"}],
        measures={"primary": "log_loss", "cutoff": "none"},
        data={"train_sizes": [8], "test_size": 100},
    )
    (nb, c45) = means(lossy.findings("log_loss")).rows
    assert c45[1] == TableCell("∞")
    assert nb[1].bold


def test_captions_are_escaped(results, written, tmp_path):
    odd = run(tmp_path / "out", title="*NB* & <b>[x](y)</b>", models=3, measures={})
    for format in ("latex", "csv"):
        said = write_tables(odd, tmp_path / format, format)[-1].read_text(encoding="utf-8")
        assert said.startswith(r"# \*NB\* \& \<b\>\[x\](y)\</b\>" + "\n")
    assert NASTY not in (written / "csv" / "captions.md").read_text(encoding="utf-8")


def test_rows_and_columns_of_numbers_without_an_entry_are_left_out_and_named():
    heads = ["learner", TableCell("5", learners=(0,)), TableCell("9"), "better"]
    lines = [["A", "1", "–", TableCell("–", kind="t")], ["B", "–", "", TableCell("–", kind="t")]]
    lines += [["C", "3", "–", TableCell("–", kind="t")]]
    table = make_table("t", "T", heads, lines, caption="Sums.", rules={2})
    filled = table.filled
    assert [head.text for head in filled.heads] == ["learner", "5", "better"]
    assert [row[0].text for row in filled.rows] == ["A", "C"]
    assert filled.caption == "Sums. Without an entry: “B”."
    assert filled.rules == {1}  # still above C
    assert "B" in table.csv
    empty = make_table("t", "T", ["learner", "n"], [["A", "–"]])
    assert empty.filled is empty
