"""Decisions that are made in one place: the source has no second copy of them.

Each rule finds one kind of copy in the syntax of the package. Its homes are the files that may
decide, with the reason; every home is checked to need its permission. Each rule is also shown to
find copies that are planted in a package of their own.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "simstudy"
ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
P_VALUE = re.compile(r"\b(p|p_\w+|\w+_p|p_?values?)\b")
LEVEL = re.compile(r"\b(alpha|\w*level|LEVEL|\w*significance\w*|\w*confidence|0\.05|0\.01|0\.1)\b")
HALF = re.compile(r"0\.5|1 / 2")
QUANTITY = re.compile(r"\b(lead|means?|ranks?|differences?|scores?|posterior|ahead|wins|t|p)\b")
COMPARED = {"lead", "mean", "means", "difference", "rank", "score"}
FILE_NAMES = {
    "scores.parquet",
    "timings.parquet",
    "failures.csv",
    "answers.parquet",
    "refined.parquet",
    "picks.parquet",
    "estimates.parquet",
}
FILE_CONSTANTS = {"SCORES", "TIMINGS", "FAILURES", "ANSWERS", "REFINED"}


def text(node: ast.AST) -> str:
    """The source of a node, with keys of columns as names."""
    return ast.unparse(node).replace("'", " ").replace('"', " ")


def called(node: ast.AST) -> str:
    """The name of what a call calls; empty if it is no call."""
    function = node.func if isinstance(node, ast.Call) else None
    return getattr(function, "attr", getattr(function, "id", ""))


def significance(node: ast.AST) -> bool:
    """A p compared with a level, by an operator or a method."""
    if isinstance(node, ast.Compare) and any(isinstance(op, ORDERS) for op in node.ops):
        sides = [*map(text, (node.left, *node.comparators))]
        return any(map(P_VALUE.search, sides)) and any(
            LEVEL.search(side) and not P_VALUE.search(side) for side in sides
        )
    if called(node) in ("lt", "le", "gt", "ge", "less", "less_equal", "greater", "greater_equal"):
        return bool(P_VALUE.search(text(node)) and LEVEL.search(text(node)))
    return False


def smoothing(node: ast.AST) -> bool:
    """Counts with a half, or a parameter, added to each, or the floor of such frequencies."""
    if not isinstance(node, ast.BinOp):
        return False
    if isinstance(node.op, ast.Add) and HALF.fullmatch(text(node.right)):
        return "count" in text(node.left)
    if not isinstance(node.op, ast.Div):
        return False
    if HALF.fullmatch(text(node.left)):
        return "/ 2" in text(node.right)
    if isinstance(node.left, ast.BinOp) and isinstance(node.left.op, ast.Add):
        added = text(node.left.right)
        return bool(HALF.fullmatch(added)) or (
            isinstance(node.left.right, ast.Name | ast.Attribute)
            and re.search(rf"\* {re.escape(added)}\b", text(node.right)) is not None
        )
    return False


def ranking(node: ast.AST) -> bool:
    """A choice of the best, an order by what is measured, or a comparison of means."""
    name = called(node)
    if name in ("idxmax", "idxmin", "argmax", "argmin", "nlargest", "nsmallest", "rank"):
        return True
    if isinstance(node, ast.Call) and name in ("max", "min", "sorted", "sort"):
        keys = [text(one.value) for one in node.keywords if one.arg == "key"]
        return any(map(QUANTITY.search, keys))
    if isinstance(node, ast.IfExp):
        return {text(node.body), text(node.orelse)} == {"max", "min"}
    if isinstance(node, ast.Compare) and any(isinstance(op, ORDERS) for op in node.ops):
        sides = (node.left, *node.comparators)
        return any(isinstance(one, ast.Attribute) and one.attr in COMPARED for one in sides) or any(
            isinstance(one, ast.Subscript) and text(one.slice).strip() in COMPARED for one in sides
        )
    return False


def cell_file(node: ast.AST) -> bool:
    """The name of a file made from cells, or a list of such files."""
    if isinstance(node, ast.Constant):
        return node.value in FILE_NAMES
    if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict):
        parts = node.keys if isinstance(node, ast.Dict) else node.elts
        names = [text(part) for part in parts if part is not None]
        return len(FILE_CONSTANTS & {*names}) > 1 or any("cell_files" in name for name in names)
    return False


def tie(node: ast.AST) -> bool:
    """A tolerance of ties, rounding to as many decimals, or another most probable class."""
    if isinstance(node, ast.Constant):
        return node.value == 5e-13
    if isinstance(node, ast.Assign):
        return bool(re.search(r"\b_?(TIES?|TOLERANCE)\b", text(node.targets[0])))
    if called(node) == "round" and isinstance(node, ast.Call):
        return bool(re.search(r"\b12\b|DECIMALS", text(node))) and "confidence" not in text(node)
    if called(node) == "argmax" and isinstance(node, ast.Call):
        return "proba" in text(node) and any(one.arg == "axis" for one in node.keywords)
    return False


def display(node: ast.AST) -> bool:
    """A format of a number with decimals, digits or percent; counts and settings have none."""
    if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
        spec = text(node.format_spec)
        return bool(re.search(r"\.|%|[eE]", spec)) and ",.0f" not in spec
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return bool(re.search(r"\{[^{}]*:[^{}]*\.\d+[efg%]\}|%[+ 0]?\.\d+[efg]", node.value))
    return called(node) in ("format_float_positional", "format_float_scientific")


@dataclass(frozen=True)
class Rule:
    """One kind of copy.

    Attributes
    ----------
    finds : callable
        Whether a node of the syntax is such a decision.
    homes : dict
        The files that may make it, and why.
    planted : tuple of str
        Copies that must be found.
    rooms : tuple of str
        Where it is looked for; empty for everywhere.
    spared : tuple of str
        Rooms that have rules of their own.
    """

    finds: Callable[[ast.AST], bool]
    homes: dict[str, str]
    planted: tuple[str, ...]
    rooms: tuple[str, ...] = ()
    spared: tuple[str, ...] = ()


RULES = {
    "significance": Rule(
        significance,
        {
            "analysis/tests/adjustment.py": "`is_significant`",
            "learners/networks/structure_scores.py": "independence, as pgmpy decides it",
        },
        (
            "won = p < alpha",
            "won = row['p_adjusted'] <= 1 - confidence",
            "won = found.alpha > test.p",
            "won = math.isnan(p) or p_sign > self.alpha",
            "won = pair.p_value <= 0.05",
            "won = table['p_adjusted'].le(alpha)",
            "won = decision.p <= LEVEL",
        ),
    ),
    "smoothed prior": Rule(
        smoothing,
        {
            "arrays.py": "`smoothed`",
            "measures/base.py": "`extremes`, which such frequencies have",
            "measures/theory/answer_sets.py": "the middles of ranks, not of classes",
            "learners/networks/camml/costs.py": "the probability of an arc",
        },
        (
            "prior = (counts + 0.5) / (counts.sum() + classes / 2)",
            "prior = (n + 0.5) / total",
            "counts = np.bincount(target, minlength=classes) + 0.5\nprior = counts / counts.sum()",
            "prior = (counts + alpha) / (total + classes * alpha)",
            "floor = 0.5 / (rows + classes / 2)",
        ),
    ),
    "who is ahead": Rule(
        ranking,
        {"report/charts/network_plot.py": "the places of labels, nothing measured"},
        (
            "best = int(one.present.means.argmax())",
            "best = means.idxmin()",
            "best = max(pairs, key=lambda pair: pair.lead)",
            "order = sorted(found.ranks.items(), key=lambda one: one[1])\nbest = means.nlargest(1)",
            "found.sort(key=lambda one: -one.mean)",
            "choose = max if info.greater_is_better else min",
            "ahead = pair if pair.lead > 0 else pair.turned()",
            "ahead = row['difference'] > 0",
            "shades = row.rank(method='average')",
        ),
        rooms=("report", "workflow", "cli"),
    ),
    "files made from cells": Rule(
        cell_file,
        {
            "study/constants.py": "their names",
            "experiments/measures/__init__.py": "the name of the table that it keeps",
            "experiments/estimators/__init__.py": "the name of the table that it keeps",
            "results/store/columns.py": "`cell_files` and `written_files`",
            "results/store/folder.py": "checksums in manifests of earlier versions",
        },
        (
            "names = ['scores.parquet']",
            "names = [SCORES, TIMINGS, FAILURES]",
            "names = {SCORES: 1, REFINED: 2}",
            "names = [*cell_files(study), REFINED]",
        ),
    ),
    "ties": Rule(
        tie,
        {
            "measures/ranking/ranked_rows.py": "`last_of_ties` and `rounded`: probabilities",
            "measures/theory/two_level.py": "`differ`: values of measures",
            "measures/base.py": "`modal_class`: classes of a row",
            "analysis/tests/outcomes.py": "`TIES`: means over splits",
        },
        (
            "tied = high - low <= 5e-13 * high",
            "_TIE = 1e-12",
            "TOLERANCE = 1e-9",
            "same = np.round(proba, 12)",
            "same = np.round(q, DECIMALS)",
            "chosen = proba.argmax(axis=1)",
            "chosen = np.argmax(self.predict_proba(rows), axis=1)",
        ),
        spared=("learners",),  # whose ties are steps of their algorithms
    ),
    "display of numbers": Rule(
        display,
        {
            "report/prose/numbers.py": "how numbers are written",
            "report/charts/spec.py": "ticks, which share their decimals",
            "report/charts/svg.py": "coordinates",
        },
        (
            "shown = f'{mean:.3f}'",
            "shown = f'{gain:+.1f}'",
            "shown = f'{share:.0%}'",
            "shown = f'{value:.{digits}f}'",
            "shown = f'{prior:.4g}'",
            "shown = '{:.2f}'.format(mean)",
            "shown = '%.2f' % mean",
        ),
        rooms=("report",),
    ),
}


def within(file: str, places: tuple[str, ...]) -> bool:
    """Whether a file is one of some places, or in one of them."""
    return any(file == place or file.startswith(f"{place}/") for place in places)


def copies(rule: Rule, package: Path) -> Iterator[tuple[str, int]]:
    """The files and lines of a package at which a rule finds its decision."""
    for path in sorted(package.rglob("*.py")):
        file = path.relative_to(package).as_posix()
        if (rule.rooms and not within(file, rule.rooms)) or within(file, rule.spared):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if rule.finds(node):
                yield file, getattr(node, "lineno", 0)


@pytest.mark.parametrize("name", RULES)
def test_decisions_are_made_at_home_only(name):
    rule = RULES[name]
    found = [*copies(rule, PACKAGE)]
    elsewhere = [f"{file}:{line}" for file, line in found if file not in rule.homes]
    assert not elsewhere, f"{name}: decided again in {elsewhere}; homes: {rule.homes}"
    assert {file for file, _ in found} == {*rule.homes}  # none is a home in vain


@pytest.mark.parametrize(
    ("name", "source"),
    [(name, source) for name, rule in RULES.items() for source in rule.planted],
)
def test_a_planted_copy_is_found(name, source, tmp_path):
    rule = RULES[name]
    place = tmp_path / (rule.rooms or ("analysis",))[0] / "planted.py"
    place.parent.mkdir()
    place.write_text("import math\n\n\ndef decide():\n    return math.pi\n", encoding="utf-8")
    assert not [*copies(rule, tmp_path)]
    body = "".join(f"    {line}\n" for line in source.splitlines())
    place.write_text(f"def decide():\n{body}", encoding="utf-8")
    assert [*copies(rule, tmp_path)]
