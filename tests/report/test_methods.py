"""Methods and results to paste say what is recorded; what they cite is in the bibliography."""

from __future__ import annotations

import re
import shutil
import subprocess

import numpy as np
import pytest
from scipy import stats

from simstudy import make_study, open_results, run_study
from simstudy.components.describe import describe_component
from simstudy.components.registry import REGISTRIES
from simstudy.errors import SimstudyError
from simstudy.report.files import write_methods, write_tables
from simstudy.report.methods import documents
from simstudy.report.pages.page import report_page
from simstudy.report.prose.data_statements import TESTS
from simstudy.report.prose.numbers import number
from simstudy.report.references import further, read
from tests.report.agreement import studies
from tests.report.agreement.truth import SHARES, share_limits

HOSTILE = ["a_b & 50% #1", "\\input{x} $y$", "[z](javascript:1) <b>", "@misc{k,", "*e* `f`"]
KINDS = {
    "learners": (["naive_bayes", "tan", "prior"], {"train_sizes": [10, 40], "test_size": 60}),
    "measures": (
        ["accuracy", "log_loss", "auc:accuracy"],
        {"train_sizes": [30], "test_sizes": [10, 40], "repeats": 3},
    ),
    "estimators": (
        ["resubstitution", "cross_validation", "leave_one_out"],
        {"train_sizes": [12, 30], "training_sets": 3},
    ),
    "tests": (["mcnemar", "five_by_two_t"], {"train_sizes": [30, 60], "repeats": 3}),
}
LEADING = {
    "name": "leading",
    "seed": 3,
    "models": 20,
    "family": {"name": "tan", "variables": [5, 6]},
    "data": {"train_sizes": [20, 400], "test_size": "exact"},
    "measures": {"primary": "accuracy"},
    "learners": [{"name": name} for name in ("naive_bayes", "tan", "prior")],
}
FAILING = """
from dataclasses import dataclass
from pathlib import Path
from simstudy import Learner, register_learner
from simstudy.learners import TAN

Path({mark!r}).touch()

@register_learner("seldom")
@dataclass(frozen=True)
class Sometimes(Learner):
    "Fails at times."
    def fit(self, sample, rng=None):
        if sample.codes[0].sum() % 3 == 0:
            raise RuntimeError("not these rows")
        return TAN().fit(sample, rng)
"""


@pytest.fixture(scope="module", params=[*KINDS, "data"])
def results(request, tmp_path_factory):
    """The results of a kind of study, with labels that mean something to LaTeX and Markdown."""
    place, kind = tmp_path_factory.mktemp(request.param), request.param
    study = {"name": "small", "title": "50% of $x$ & <b>y</b>_", "seed": 31}
    study["measures"] = {"primary": "information_reward"}
    names = ["naive_bayes", "tan", "prior"]
    study["learners"] = [
        {"name": name, "label": label} for name, label in zip(names, HOSTILE, strict=False)
    ]
    if kind == "data":
        for noise, seed in ((0.1, 1), (0.2, 2)):
            studies.write_set(place / f"set{seed}.csv", noise, seed)
        study["datasets"] = [{"path": "set1.csv"}, {"path": "set2.csv", "name": "a_b & c"}]
        study["resampling"] = {"folds": 3}
        return run_study(make_study(study, place), place / "out", jobs=1)
    names, data = KINDS[kind]
    study |= {"models": 5, "data": data, "family": {"name": "tan", "variables": [3, 4]}}
    if kind == "measures":
        study["measures"] = {"primary": names[0], "also": names[1:], "targets": ["kl_divergence"]}
    elif kind != "learners":
        study[kind] = [{"name": name} for name in names]
    study |= {} if kind == "learners" else {"compare": kind}
    return run_study(make_study(study), place / "out", jobs=1)


def paragraphs(text: str) -> str:
    """The text before the table."""
    return re.split(r"\n% needs|\n\*\*Table", text)[0]


def test_numbers_are_those_of_the_study(results):
    text, manifest = documents(results)["md"], results.manifest
    written = paragraphs(text).replace("\\", "")
    assert "Seed 31." in written
    assert f"None of {manifest['cells']} cells failed." in written
    for name, version in manifest["packages"].items():
        assert f"{name} {version}" in written
    assert f"Python {manifest['python']}" in written
    assert "two-sided" in written
    findings = results.findings()
    if results.study.datasets:
        assert f"m = {findings.winners.m} pairs on all data sets" in written
        assert f"m = {findings.over_sets.m} pairs of learners, α = 0.05" in written
        assert "Rows: 100 to 100." in written
        assert "Fitted to each training part" in written
        assert "Nominal values: as they are for" in written
        return
    assert "5 models, drawn at random from the family tan." in written
    assert f"m = {findings.pair_tests} tests, all pairs at all sizes" in written
    assert f"m = {len(findings.means)} cells" in written
    assert "95% confidence" in written
    for size in results.doses:
        assert re.search(rf"\b{size}\b", written)
    table = results.intervals()
    for row in table[table["size"] == results.doses[-1]].to_dict("records"):
        limits = f"[{number(row['lower'])}, {number(row['upper'])}]"
        assert number(row["mean"]) in written
        assert limits in written


def test_what_was_found_is_what_the_page_says(results):
    written = paragraphs(documents(results)["md"]).replace("\\", "").replace("&amp;", "&")
    results = results.shown
    findings, page = results.findings(), results.study.page
    for sentence in [page.finding(results, findings), *page.statements(results, findings)]:
        assert sentence.replace("\\", "").removesuffix(".") in written


def limits(values, m, share):
    """The limits of a mean by scipy: Student's t, or Clopper & Pearson's for shares."""
    if share:
        return share_limits(values, 0.05 / m)
    half = stats.sem(values) * stats.t.isf(0.025 / m, len(values) - 1)
    return values.mean() - half, values.mean() + half


def test_numbers_found_are_computed_again_from_the_scores(results):
    text = paragraphs(documents(results)["md"]).replace("\\", "").replace("−", "-")
    found, scores = text.split("**Results.**")[1], results.scores
    name, study = results.measures[0], results.study
    if study.datasets:
        means = scores.pivot_table(name, "dataset", "learner")
        for label, best in means.idxmax(axis=1).value_counts().items():
            clean = label.replace("\\", "")
            assert re.search(rf"{re.escape(clean)} (?:has the best mean )?on {best}\b", found)
        pairs = [(a, b) for i, a in enumerate(study.labels) for b in study.labels[i + 1 :]]
        assert f"m = {len(pairs)} pairs of learners" in found
        return
    table = scores.pivot_table(name, "model", ["learner", "size"])
    last, share = results.doses[-1], name.startswith(SHARES)
    number = r"(-?[\d.]+(?:e-\d+)?)"
    shown = re.findall(rf"{number}(?: nats)? \[{number}, {number}\]", found.split("Mean ")[-1])
    assert len(shown) == len(study.labels)
    for label, printed in zip(study.labels, shown, strict=True):
        values = table[label, last].to_numpy()
        expected = values.mean(), *limits(values, table.shape[1], share)
        assert [*map(float, printed)] == pytest.approx(expected, abs=6e-5, rel=0.06)


def test_leads_found_are_computed_again_from_the_scores(tmp_path):
    results = run_study(make_study(LEADING), tmp_path / "out", jobs=1, report=False)
    text = paragraphs(documents(results)["md"]).replace("\\", "").replace("−", "-")
    table = results.scores.pivot_table("accuracy", "model", ["learner", "size"])
    leads = re.findall(
        r"At (\d+) rows (\w+) beats every other learner; its smallest lead is "
        r"(\S+) in accuracy \[(\S+), (\S+)\], over (\w+)\.",
        text,
    )
    assert leads
    for size, first, *printed, second in leads:
        difference = (table[first, int(size)] - table[second, int(size)]).to_numpy()
        # 3 pairs at 2 sizes
        expected = difference.mean(), *limits(difference, 6, share=False)
        assert [*map(float, printed)] == pytest.approx(expected, abs=6e-5)
        rivals = {label for label, _ in table} - {first}
        smallest = min((table[first, int(size)] - table[each, int(size)]).mean() for each in rivals)
        assert smallest == pytest.approx(difference.mean())


def test_tables_of_data_sets_hold_the_means_and_spreads_of_the_scores(results, tmp_path):
    if not results.study.datasets:
        return
    write_tables(results, tmp_path, "markdown")
    shown = (tmp_path / "means.md").read_text(encoding="utf-8").replace("−", "-")
    cells = re.findall(r"(-?[\d.]+) ± ([\d.]+)", shown)
    by = results.scores.groupby(["dataset", "learner"], sort=False)[results.measures[0]]
    means, spreads = by.mean().unstack(), 1.96 * by.std(ddof=1).unstack()
    order = [*results.study.labels]
    expected = np.stack([means[order].to_numpy().ravel(), spreads[order].to_numpy().ravel()], 1)
    np.testing.assert_allclose(np.array(cells, dtype=float), expected, atol=6e-5)


def test_every_component_is_described_with_its_parameters(results):
    written = paragraphs(documents(results)["md"]).replace("\\", "").replace("&amp;", "&")
    study = results.study
    specs = [*study.learners, *study.measured, *study.targets, *study.estimators, *study.tests]
    for spec in specs:
        assert spec.label.replace("\\", "") in written
        for key, value in spec.resolved.items():
            shown = f"{value:.10g}" if isinstance(value, float) else value
            assert f"{key} = {shown}" in written


def test_rows_are_drawn_as_the_study_says(results):
    text = paragraphs(documents(results)["md"])
    if results.study.datasets:
        assert "stratified by class. All learners receive the same splits" in text
    elif results.study.experiment.name == "tests":
        assert "From each model 3 data sets of each size (30, 60 rows)" in text
        assert "All tests compare the learners on the same data sets." in text
    else:
        assert "From each model one set of each size" in text
        further = "3 further sets of each size serve the second target" in text
        assert further == (results.study.experiment.name == "estimators")


def test_estimands_and_letters_of_formulas_are_in_the_text(results):
    text = paragraphs(documents(results)["md"]).replace("\\", "")
    assert f"Estimands: {results.study.page.estimands(results.study, results.info())}" in text
    assert "n: size of the training set, k: number of classes" in text


def test_what_is_cited_is_not_named_again(results):
    text = paragraphs(documents(results)["md"]).replace("\\", "")
    methods = text.split("Learner ", 1)[1].split("The primary score")[0]
    assert not re.search(r"\([^()]*\b(?:19|20)\d\d\)", methods)
    if len(results.study.measured) > 1:
        assert "Measure log_loss: Log loss:" not in text


def test_labels_are_no_markup(results):
    text = documents(results)
    latex = re.sub(r"~\\cite\{[a-z0-9,]+\}|\\paragraph\{\w+\.\}", "", paragraphs(text["tex"]))
    latex = re.sub(r"(?<!\\)\$[^$]+(?<!\\)\$", "", latex)
    latex = re.sub(r"\\(?:text\w+|ldots)\{\}", "", latex)
    assert not re.search(r"(?<!\\)[&%#_{}~^$]", latex)
    assert r"\input" not in latex
    assert not re.search(r"(?<!\\)[<*`_]", paragraphs(text["md"]).replace("**", ""))
    assert not re.search(r"(?<!\\)\]\(", text["md"])


def test_what_is_cited_is_in_the_bibliography(results):
    text = documents(results)
    keys = re.findall(r"^@\w+\{(\w+),$", text["bib"], flags=re.MULTILINE)
    assert len({*keys}) == len(keys)
    latex = {
        key for each in re.findall(r"~\\cite\{([^}]+)\}", text["tex"]) for key in each.split(",")
    }
    cited = paragraphs(text["md"]).replace("\\", "")
    markdown = {
        key
        for each in re.findall(r" \[(@[a-z0-9@; ]+)\]\.", cited)
        for key in re.findall(r"\w+", each)
    }
    assert latex == markdown == {*keys}
    assert {"morris2019using", "authors2026simstudy"} <= latex
    for entry in text["bib"].split("\n\n"):
        assert entry.count("{") - entry.count(r"\{") == entry.count("}") - entry.count(r"\}")


def test_the_same_results_give_the_same_text_which_the_page_has(results):
    text, page = documents(results), report_page(results)
    assert documents(open_results(results.directory)) == text
    section = page[page.index('<section id="methods">') :]
    assert "Methods and results to paste" in section
    assert "&lt;" in section
    assert "<b>" not in section[: section.index("</section>")]
    assert "@misc{authors2026simstudy" in section


def test_files_are_written_and_other_formats_refused(results, tmp_path):
    text = documents(results)
    for format, ending in (("latex", "tex"), ("markdown", "md")):
        paths = write_methods(results, tmp_path / format, format)
        assert [path.name for path in paths] == [f"methods.{ending}", "references.bib"]
        assert paths[0].read_text(encoding="utf-8") == text[ending]
        assert paths[1].read_text(encoding="utf-8") == text["bib"]
    with pytest.raises(SimstudyError, match="latex, markdown"):
        write_methods(results, tmp_path / "csv", "csv")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs LaTeX")
def test_latex_compiles_and_nothing_is_wider_than_the_page(results, tmp_path):
    files = [*write_methods(results, tmp_path), *write_tables(results, tmp_path)]
    texts = [path.read_text(encoding="utf-8") for path in files if path.suffix == ".tex"]
    start = "\\documentclass{article}\\usepackage[T1]{fontenc}"
    packages = "\\usepackage{booktabs,graphicx,longtable}\\begin{document}"
    lines = [start, packages, *texts, "\\bibliography{references}\\end{document}"]
    (tmp_path / "paper.tex").write_text("\n".join(lines), encoding="utf-8")
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "paper"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert run.returncode == 0, run.stdout.decode(errors="replace")[-2000:]
    log = (tmp_path / "paper.log").read_text(encoding="utf-8", errors="replace")
    assert "multiply defined" not in log
    wide = re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide\) in alignment", log)
    assert all(float(points) < 2 for points in wide)


def test_failed_cells_are_counted_and_no_plugin_is_executed(tmp_path):
    mark = tmp_path / "executed"
    (tmp_path / "seldom.py").write_text(FAILING.format(mark=str(mark)), encoding="utf-8")
    study = {"name": "failing", "seed": 2, "models": 6, "plugins": ["seldom.py"]}
    study |= {"family": {"name": "tan", "variables": [3, 4]}, "measures": {"primary": "accuracy"}}
    study["data"] = {"train_sizes": [10, 20], "test_size": 30}
    study["learners"] = [{"name": "tan"}, {"name": "seldom"}]
    results = run_study(make_study(study, tmp_path), tmp_path / "out", jobs=1, report=False)
    mark.unlink()
    results = open_results(tmp_path / "out")
    failed = results.manifest["failures"]
    assert 0 < failed < 12
    text = documents(results)["md"]
    assert f"{failed} of 24 cells failed and have no score; the notes say" in text
    assert "Learner seldom: Fails at times" in text
    assert not mark.exists()


def test_every_reference_of_a_component_is_read():
    entries = {}
    for registry in REGISTRIES:
        for name in [each for each in registry.names() if registry.is_own(each)]:
            for text in describe_component(registry, name).references:
                entry = read(text)
                assert entry, text
                same = entries.setdefault(entry.key, entry)
                assert same.fields["title"] == entry.fields["title"]
                assert same.fields["author"] == entry.fields["author"]
    assert read("no reference") is None


def test_further_references_are_read_and_name_every_test():
    assert all(map(read, further()))
    assert {"bonferroni", "holm", "mdl", "kononenko", *TESTS} - {*further()} == {"naive_t"}
    entry = read("holm")
    assert entry.kind == "article"
    assert entry.fields["journal"] == "Scandinavian Journal of Statistics"
    assert entry.fields["volume"] == "6"
    book = read("A. B. Cé & D. van E (2001). A book of C4.5, volume 2. MIT Press.")
    assert (book.key, book.kind) == ("ce2001book", "book")
    assert book.fields["author"] == "A. B. Cé and D. van E"
    assert "title = {{A book of C4.5, volume 2}}" in book.bibtex
