"""The curves of a page: pictures of the first choice, and the numbers of all others.

The page draws other choices (class, training size) from numbers embedded as text, two or three
letters each, to keep it small. Choices that would take too long or too much room are left out:
first other training sizes, then classes, then data sets.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import NamedTuple, TypeAlias

import numpy as np
from markupsafe import Markup

from simstudy.analysis import decision_curves
from simstudy.analysis.decision_curves import DRAWN, KINDS, Heights, MeanCurve, Points
from simstudy.arrays import FloatArray, IntArray
from simstudy.data.sizes import Size
from simstudy.errors import SimstudyError
from simstudy.measures.ranking.ranked_rows import Ranking
from simstudy.report.charts import decisions, spec, svg
from simstudy.report.prose import decisions as prose
from simstudy.report.prose.captions import MAX_BARS
from simstudy.report.prose.numbers import NONE, digits, fixed, number
from simstudy.results.read import ranked_answers
from simstudy.results.read.base import AnswerResults
from simstudy.results.read.curves import Curves, default_class, make_curves, profit_of, ranked
from simstudy.results.read.ranked_answers import DataAnswers, ModelAnswers, RankedAnswers

SIZE = (400.0, 400.0)  # of a picture
MAX_BYTES = 360_000  # of the pictures and numbers of a page
# Maximum number of rankings on a page, rows that count as one more, and minimum of models.
_MAX_RANKINGS, _ROWS, _MIN_MODELS = 800, 2000, 10
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_CODES = np.frombuffer(_LETTERS.encode(), np.uint8)
_BASE = len(_LETTERS)
_STEPS = _BASE**2 - 2  # from 0 to 1 in two letters
_EVERY = 2  # points of a curve, of which one is on the page

# A learner's label and number, and its threshold, cost, most profitable share of rows, and profit.
DecisionRow: TypeAlias = tuple[str, int | None, tuple[str, ...]]


class Choice(NamedTuple):
    """The curves and rates of the learners, and last of the truth, at one choice."""

    numbers: dict[str, object]  # packed, as the page reads them
    points: list[Points | None]  # as precise as these numbers
    lifts: list[FloatArray | None]  # the same


@dataclass(frozen=True)
class CurveSection:
    """What a page shows of the curves of a study or of a data set."""

    name: str  # different for each section of a page
    heading: str
    note: str  # why there are no curves; empty otherwise
    pictures: Sequence[tuple[str, str, Markup, str]] = ()  # kind, title, picture and caption
    classes: Sequence[tuple[str, str]] = ()  # keys and texts of what can be chosen
    sizes: Sequence[tuple[str, str]] = ()
    numbers: str = ""  # as JSON
    prior: str = ""
    decided: str = ""  # what the table of decisions shows
    decisions: Sequence[DecisionRow] = ()
    remarks: Sequence[str] = ()
    truth: bool = False
    profit: str = ""  # the values that profit is drawn for

    @property
    def bytes(self) -> int:
        """The size of pictures and numbers."""
        return len(self.numbers) + sum(len(picture) for _, _, picture, _ in self.pictures)


def curve_section(results: AnswerResults) -> CurveSection:
    """The curves of models."""
    return _section(results, "decisions", "Curves", partial(ranked, results))


def data_curve_sections(results: AnswerResults) -> list[CurveSection]:
    """The curves of data sets, a section for each; none unless predictions were kept."""
    if not results.study.keep_answers:
        return []
    names = [*dict.fromkeys(part["dataset"] for part in results.manifest["parts"])]
    try:
        every = ranked_answers.read_answers(results)
    except SimstudyError as error:
        return [CurveSection("decisions0", "Curves", f"There are no curves: {error}.")]
    sections: list[CurveSection] = []
    for place, name in enumerate(names):
        sizes = [section.bytes for section in sections]
        if sections and MAX_BYTES - sum(sizes) < max(sizes):
            note = (
                f"Curves of the first {place} of {len(names)} data sets are shown. For the "
                "others, use results.curves or simstudy figures."
            )
            return [*sections, CurveSection("decisions-other", "Curves of other data sets", note)]
        section, read = f"decisions{place}", partial(DataAnswers, results, name, every)
        sections.append(_section(results, section, f"Curves: {name}", read, len(names)))
    return sections


def _section(
    results: AnswerResults,
    name: str,
    heading: str,
    read: Callable[[], RankedAnswers],
    sections: int = 1,
) -> CurveSection:
    try:
        answers = read()
        if isinstance(answers, ModelAnswers):
            answers.use(max(_MIN_MODELS, int(_choices(results, answers) * answers.number)))
        curves = [make_curves(results, answers, kind, pooled=False) for kind in DRAWN]
        if not curves[0].table["curves"].max():
            raise SimstudyError("no cell has answers of both classes")
    except SimstudyError as error:
        return CurveSection(name, heading, f"There are no curves: {error}.")
    return _made(results, answers, name, heading, curves, sections)


def _choices(results: AnswerResults, answers: RankedAnswers) -> float:
    """The number of choices of a class and a size whose curves can be computed in time."""
    rankings = len(results.treatments) * answers.number * (1 + answers.rows / _ROWS)
    return _MAX_RANKINGS / rankings


def _made(
    results: AnswerResults,
    answers: RankedAnswers,
    name: str,
    heading: str,
    curves: Sequence[Curves],
    sections: int,
) -> CurveSection:
    classes: dict[int | None, str] = {None: "the rarest class of each model"}
    classes |= {place: f"class {text}" for place, text in enumerate(answers.class_names)}
    if answers.rarer is not None:
        del classes[None]
    named = default_class(results, answers)
    first = answers.rarer if named is None else named
    choices = sorted(classes, key=lambda choice: choice != first)
    prior = float(digits(curves[0].prior))
    section = CurveSection(name, heading, "", _pictures(name, curves, prior))
    room = MAX_BYTES // sections - section.bytes, _choices(results, answers) / sections
    text, sizes, kept, shown = _numbers(results, answers, choices, room)
    remarks, doses = [prose.averaged(curves[0])], results.study.doses
    if kept < len(choices):
        every, listed = len(answers.class_names), kept - (None in choices[:kept])
        remark = f"results.curves provides the curves of each of the {every} classes."
        some_classes = f"Classes shown: {listed} of {every}; results.curves provides all."
        remarks.append(some_classes if listed else remark)
    if len(sizes) < len(doses):
        remarks.append(f"Training sizes shown: {len(sizes)} of {len(doses)}.")
    if isinstance(answers, ModelAnswers) and answers.number < results.study.models:
        remarks.append(f"Over the first {answers.number} of {results.study.models} models.")
    return replace(
        section,
        classes=[(_key(choice), classes[choice]) for choice in choices[:kept]],
        sizes=[(str(size), prose.size_words(Size.stored(size))) for size in sizes],
        numbers=text,
        prior=digits(prior),
        decided=prose.decided(curves[0]),
        decisions=[*_decided(shown, results.treatments, prior)],
        remarks=remarks,
        truth=answers.truth_known,
        profit=prose.profit_values(prior),
    )


def _pictures(
    name: str, curves: Sequence[Curves], prior: float
) -> list[tuple[str, str, Markup, str]]:
    pictures = []
    for each in [*curves, profit_of(curves[DRAWN.index("lift")], prior, 1.0, prior)]:
        chart = decisions.chart(decisions.thinned(each, _EVERY))
        picture = svg.draw(chart, f"{name}-{each.kind}", SIZE).picture
        pictures.append((each.kind, each.about.title, picture, prose.SHOWN[each.kind]))
    return pictures


def _key(choice: int | None) -> str:
    return "rarest" if choice is None else str(choice)


def _numbers(
    results: AnswerResults,
    answers: RankedAnswers,
    choices: Sequence[int | None],
    most: tuple[float, float],
) -> tuple[str, list[int], int, Choice]:
    """As JSON the numbers of as many training sizes and classes as there is room and time for.

    Also these sizes, the number of classes, and the first choice.
    """
    bands, doses = len(results.treatments) <= MAX_BARS, results.study.doses

    @cache
    def choice_at(choice: int | None, size: int) -> Choice:
        rankings = answers.rankings(size, choice)
        rows = [*(rankings[label] for label in results.treatments), answers.truth(choice)]
        return _choice(rows, bands, answers.heights)

    first = choice_at(choices[0], doses[-1])
    room = max(1, int(min(most[0] / len(json.dumps(first.numbers)), most[1])))
    kept = min(len(choices), room)
    sizes = spec.spaced(doses, max(1, room // kept))
    if doses[-1] not in sizes:
        sizes = [doses[-1]]
    pairs = itertools.product(choices[:kept], sizes)
    content = {f"{_key(choice)} {at}": choice_at(choice, at).numbers for choice, at in pairs}
    axes = {kind: [KINDS[kind].x, KINDS[kind].y] for kind in (*DRAWN, "profit")}
    numbers = {"axes": axes, "labels": results.treatments, "choices": content}
    return json.dumps(numbers, separators=(",", ":")), sizes, kept, first


def _choice(rankings: Sequence[Sequence[Ranking]], bands: bool, heights: Heights) -> Choice:
    """The curves and decisions of the learners, and last of the truth."""
    curves: dict[str, list[list[str]]] = {}
    lifts: list[FloatArray | None] = []
    for kind in DRAWN:
        every = [decision_curves.mean_curve(kind, each, heights) for each in rankings]
        curves[kind] = [[*_lines(each, bands, KINDS[kind].bins)] for each in every]
        if kind == "lift":
            lifts = [_rounded(each.y[::_EVERY]) / _STEPS if each.curves else None for each in every]
    rates: list[dict[str, object] | None] = []
    points: list[Points | None] = []
    for exact in map(decision_curves.operating_points, rankings):
        rates.append(None)
        points.append(None)
        if exact is not None:
            t = [None if math.isinf(t) else float(digits(t)) for t in exact.threshold.tolist()]
            both = exact.false_positive_rate, exact.true_positive_rate
            f, p = (_packed(each, 3) for each in both)
            rates[-1] = {"t": t, "f": f, "p": p, "prior": exact.prior}
            thresholds = np.array([math.inf if each is None else each for each in t])
            false, true = (_rounded(each, 3) / (_BASE**3 - 1) for each in both)
            points[-1] = Points(thresholds, false, true, exact.prior)
    prior = next((each.prior for each in points if each), 0.5)
    return Choice({"curves": curves, "points": rates, "prior": prior}, points, lifts)


def _lines(curve: MeanCurve, bands: bool, bins: bool) -> Iterator[str]:
    """The heights, the band if there is one, and of bins their places; nothing without curves."""
    every = 1 if bins else _EVERY
    if curve.curves:
        yield _packed(curve.y[::every])
    if bands and curve.curves > 1:
        yield from (_packed(end[::every]) for end in (curve.low, curve.high))
    if bins and curve.curves:
        yield _packed(curve.x)


def _rounded(values: FloatArray, letters: int = 2) -> IntArray:
    """Numbers from 0 to 1 as integers of n letters; of two, the largest stands for missing."""
    most = _BASE**letters - 1
    scaled = np.rint(values * (_STEPS if letters == 2 else most))
    return np.where(np.isfinite(values), scaled, most).astype(np.intp)


def _packed(values: FloatArray, letters: int = 2) -> str:
    """Numbers from 0 to 1, each as n letters."""
    powers = _BASE ** np.arange(letters)[::-1]
    return _CODES[_rounded(values, letters)[:, None] // powers % _BASE].tobytes().decode()


def _decided(choice: Choice, labels: Sequence[str], prior: float) -> Iterator[DecisionRow]:
    """The best decisions at equal costs, as the page computes them for other costs."""
    every = zip([*labels, decisions.TRUTH], choice.points, choice.lifts, strict=True)
    for place, (label, points, lift) in enumerate(every):
        learner, cells = place if place < len(labels) else None, [NONE] * 4
        if points is None and learner is None:
            continue
        if points is not None and lift is not None:
            best = decision_curves.decide(points, prior)
            text = "all" if best.threshold == points.threshold[-1] else digits(best.threshold)
            text = "none" if math.isinf(best.threshold) else text
            # The smallest of the shares that two letters do not distinguish.
            share, profit = decision_curves.most_profitable(lift, prior, _STEPS)
            cells = [text, number(best.cost), fixed(share, 2), number(profit)]
        yield label, learner, tuple(cells)
    yield "no row is positive", None, (NONE, number(prior), "0.00", number(0.0))
    yield "every row is positive", None, (NONE, number(1 - prior), "1.00", number(0.0))
