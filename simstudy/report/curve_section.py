"""The curves of a page: pictures of a first choice, and the numbers of all others.

The page draws other choices (class, training size) from numbers that are embedded as text, two
or three letters each, to keep it small. What takes long or much room is not shown: first other
training sizes, then classes, then data sets.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypedDict

import numpy as np
from markupsafe import Markup

from simstudy.analysis.decision_curves import (
    DRAWN,
    KINDS,
    Heights,
    MeanCurve,
    Points,
    decide,
    mean_curve,
    most_profitable,
    operating_points,
)
from simstudy.arrays import FloatArray
from simstudy.errors import SimstudyError
from simstudy.measures.ranked import Ranking
from simstudy.report.charts import decisions, spread, svg
from simstudy.report.prose import decisions as prose
from simstudy.report.prose.captions import MAX_BARS
from simstudy.report.prose.numbers import NONE, digits, fixed, number
from simstudy.results.answers import AnswerResults
from simstudy.results.curves import Curves, default_class, make_curves, profit_of, ranked
from simstudy.results.ranked_answers import (
    DataAnswers,
    ModelAnswers,
    RankedAnswers,
    read_answers,
)
from simstudy.study.sizes import Size

SIZE = (400.0, 400.0)  # of a picture
MAX_BYTES = 360_000  # of the pictures and numbers of a page
# Rankings for a page at most, each counted as one more for so many rows; models always used.
_MAX_RANKINGS, _ROWS, _MIN_MODELS = 800, 2000, 10
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_CODES = np.frombuffer(_LETTERS.encode(), np.uint8)
_MISSING = len(_LETTERS) ** 2 - 1
_EVERY = 2  # points of a curve, of which one is on the page
_FINE = len(_LETTERS) ** 3 - 1


class DecisionRow(NamedTuple):
    """A line of the table of decisions."""

    label: str
    learner: int | None
    threshold: str
    cost: str
    share: str  # of the rows to act on, the most profitable one
    profit: str


class Rates(TypedDict):
    """The thresholds of a learner, with packed false and true positive rates."""

    t: list[float | None]
    f: str
    p: str
    prior: float


class Choice(TypedDict):
    """The packed curves, by kind, and the rates of the learners at one choice."""

    curves: dict[str, list[list[str]]]
    points: list[Rates | None]
    prior: float


class Numbers(TypedDict):
    """What a page draws other choices from."""

    axes: dict[str, list[str]]
    labels: list[str]
    choices: dict[str, Choice]


@dataclass(frozen=True)
class CurveSection:
    """What a page shows of the curves of a study or of a data set."""

    name: str  # different for each section of a page
    heading: str
    note: str  # why there are no curves; empty if there are
    pictures: tuple[tuple[str, str, Markup, str], ...] = ()  # kind, title, picture and caption
    classes: tuple[tuple[str, str], ...] = ()  # keys and texts of what can be chosen
    sizes: tuple[tuple[str, str], ...] = ()
    numbers: str = ""  # as JSON
    prior: str = ""
    decided: str = ""  # what the table of decisions shows
    decisions: tuple[DecisionRow, ...] = ()
    remarks: tuple[str, ...] = ()
    truth: bool = False
    profit: str = ""  # the values that profit is drawn for
    bytes: int = 0  # of pictures and numbers


def curve_section(results: AnswerResults) -> CurveSection:
    """The curves of models."""
    return _section(results, "decisions", None)


def data_curve_sections(results: AnswerResults) -> list[CurveSection]:
    """The curves of data sets whose answers were kept, a section for each; else none."""
    if not results.study.keep_answers:
        return []
    names = [*dict.fromkeys(part["dataset"] for part in results.manifest["parts"])]
    try:
        every = read_answers(results)
    except SimstudyError as error:
        return [CurveSection("decisions0", "Curves", f"There are no curves: {error}.")]
    found: list[CurveSection] = []
    for place, name in enumerate(names):
        room = MAX_BYTES - sum(one.bytes for one in found)
        if found and room < max(one.bytes for one in found):
            return [*found, _left_out(names, place)]
        answers = DataAnswers(results, name, every)
        found.append(_section(results, f"decisions{place}", name, answers, len(names)))
    return found


def _left_out(names: Sequence[str], shown: int) -> CurveSection:
    note = (
        f"Curves of the first {shown} of {len(names)} data sets are shown. results.curves and "
        "simstudy figures have those of all."
    )
    return CurveSection("decisions-other", "Curves of other data sets", note)


def _section(
    results: AnswerResults,
    name: str,
    dataset: str | None,
    answers: RankedAnswers | None = None,
    sections: int = 1,
) -> CurveSection:
    heading = "Curves" if dataset is None else f"Curves: {dataset}"
    try:
        answers = ranked(results, dataset) if answers is None else answers
        if isinstance(answers, ModelAnswers):
            answers.use(max(_MIN_MODELS, int(_choices(results, answers) * answers.number)))
        curves = [make_curves(results, answers, kind, pooled=False) for kind in DRAWN]
    except SimstudyError as error:
        return CurveSection(name, heading, f"There are no curves: {error}.")
    if not curves[0].table["curves"].max():
        none = "There are no curves: no cell has answers of both classes."
        return CurveSection(name, heading, none)
    return _made(results, answers, name, heading, curves, sections)


def _choices(results: AnswerResults, answers: RankedAnswers) -> float:
    """The number of choices of a class and a size whose curves do not take long."""
    one = len(results.treatments) * answers.number * (1 + answers.rows / _ROWS)
    return _MAX_RANKINGS / one


def _made(
    results: AnswerResults,
    answers: RankedAnswers,
    name: str,
    heading: str,
    curves: Sequence[Curves],
    sections: int,
) -> CurveSection:
    labels = results.treatments
    choices: list[int | None] = [*range(len(answers.class_names))]
    if answers.rarer is None:
        choices = [None, *choices]
    named = default_class(results, answers)
    choices = _first(answers.rarer if named is None else named, choices)
    prior = float(digits(curves[0].prior))
    pictures = [*_pictures(name, curves, prior)]
    drawn = sum(len(picture) for _, _, picture, _ in pictures)
    room = MAX_BYTES // sections - drawn, _choices(results, answers) / sections
    numbers, sizes, kept = _numbers(results, answers, choices, room)
    text = json.dumps(numbers, separators=(",", ":"))
    first = numbers["choices"][f"{_key(choices[0])} {results.study.doses[-1]}"]
    remarks = [prose.averaged(curves[0])]
    remarks += [_of_classes(kept, choices)] * (kept < len(choices))
    if len(sizes) < len(results.study.doses):
        remarks.append(f"Training sizes shown: {len(sizes)} of {len(results.study.doses)}.")
    if isinstance(answers, ModelAnswers) and answers.number < results.study.models:
        remarks.append(f"Over the first {answers.number} of {results.study.models} models.")
    return CurveSection(
        name,
        heading,
        "",
        tuple(pictures),
        tuple((_key(one), _class_text(one, answers)) for one in choices[:kept]),
        tuple((str(size), prose.size_words(Size.stored(size))) for size in sizes),
        text,
        digits(prior),
        prose.decided(curves[0]),
        tuple(_decided(first["points"], first["curves"]["lift"], labels, prior)),
        tuple(remarks),
        answers.truth_known,
        prose.profit_values(prior),
        drawn + len(text),
    )


def _pictures(
    name: str, curves: Sequence[Curves], prior: float
) -> Iterator[tuple[str, str, Markup, str]]:
    lift = curves[DRAWN.index("lift")]
    for one in [*curves, profit_of(lift, prior, 1.0, prior)]:
        chart = decisions.chart(decisions.thinned(one, _EVERY))
        picture = svg.draw(chart, f"{name}-{one.kind}", SIZE).picture
        yield one.kind, one.about.title, picture, prose.what(one.kind)


def _first(one: int | None, choices: Sequence[int | None]) -> list[int | None]:
    return [one, *(other for other in choices if other != one)]


def _of_classes(kept: int, choices: Sequence[int | None]) -> str:
    shown, every = (sum(one is not None for one in some) for some in (choices[:kept], choices))
    if not shown:
        return f"results.curves has the curves of each of the {every} classes."
    return f"Classes shown: {shown} of {every}; results.curves has all."


def _key(choice: int | None) -> str:
    return "rarest" if choice is None else str(choice)


def _class_text(choice: int | None, answers: RankedAnswers) -> str:
    if choice is None:
        return "the rarest class of each model"
    return f"class {answers.class_names[choice]}"


def _numbers(
    results: AnswerResults,
    answers: RankedAnswers,
    choices: Sequence[int | None],
    most: tuple[float, float],
) -> tuple[Numbers, list[int], int]:
    """The numbers of as many training sizes and classes as there is room and time for."""
    bands = len(results.treatments) <= MAX_BARS
    made: dict[tuple[int | None, int], Choice] = {}

    def choice_at(choice: int | None, size: int) -> Choice:
        if (choice, size) not in made:
            found = answers.rankings(size, choice)
            own = [found[label] for label in results.treatments]
            made[choice, size] = _choice([*own, answers.truth(choice)], bands, answers.heights)
        return made[choice, size]

    each = len(json.dumps(choice_at(choices[0], results.study.doses[-1])))
    room = max(1, int(min(most[0] / each, most[1])))
    kept = min(len(choices), room)
    sizes = spread.spaced(results.study.doses, max(1, room // kept))
    if results.study.doses[-1] not in sizes:
        sizes = [results.study.doses[-1]]
    content = {
        f"{_key(choice)} {size}": choice_at(choice, size)
        for choice in choices[:kept]
        for size in sizes
    }
    axes = {kind: [KINDS[kind].x, KINDS[kind].y] for kind in (*DRAWN, "profit")}
    return {"axes": axes, "labels": results.treatments, "choices": content}, sizes, kept


def _choice(rankings: Sequence[Sequence[Ranking]], bands: bool, heights: Heights) -> Choice:
    """The curves and decisions of the learners, and last of the truth."""
    points = [_points(own) for own in rankings]
    priors = [one["prior"] for one in points if one]
    found = Choice(curves={}, points=points, prior=priors[0] if priors else 0.5)
    for kind in DRAWN:
        every = [mean_curve(kind, own, heights) for own in rankings]
        found["curves"][kind] = [
            [*_lines(one, bands, KINDS[kind].bins)] if one.curves else [] for one in every
        ]
    return found


def _lines(curve: MeanCurve, bands: bool, bins: bool) -> Iterator[str]:
    """The heights, the band if there is one, and of bins their places."""
    every = 1 if bins else _EVERY
    yield _packed(curve.y[::every])
    if bands and curve.curves > 1:
        yield from (_packed(end[::every]) for end in (curve.low, curve.high))
    if bins:
        yield _packed(curve.x)


def _packed(shown: FloatArray) -> str:
    """Numbers from 0 to 1, each as two letters."""
    there = np.isfinite(shown)
    whole = np.where(there, np.rint(np.where(there, shown, 0) * (_MISSING - 1)), _MISSING)
    letters = np.array(np.divmod(whole.astype(np.intp), len(_LETTERS))).T
    return _CODES[letters].tobytes().decode()


def _packed_finely(shown: FloatArray) -> str:
    """Rates from 0 to 1, each as three letters."""
    whole, base = np.rint(shown * _FINE).astype(np.intp), len(_LETTERS)
    letters = np.array([whole // base**2, whole // base % base, whole % base]).T
    return _CODES[letters].tobytes().decode()


def _unpacked(text: str, letters: int = 2) -> FloatArray:
    """Numbers as the page reads them."""
    places = np.array([_LETTERS.index(letter) for letter in text]).reshape(-1, letters)
    weights = len(_LETTERS) ** np.arange(letters)[::-1]
    found: FloatArray = (places @ weights) / (_MISSING - 1 if letters == 2 else _FINE)
    return found


def _most_profitable(lines: Sequence[str], prior: float) -> tuple[str, str]:
    """The best share at the default values, the least of those that two letters do not tell apart.

    Acting on rows at random earns nothing at these values.
    """
    if not lines:
        return NONE, NONE
    share, profit = most_profitable(_unpacked(lines[0]), prior, _MISSING - 1)
    return fixed(share, 2), number(profit)


def _points(rankings: Sequence[Ranking]) -> Rates | None:
    """Thresholds and rates; a threshold of no rows is null."""
    found = operating_points(rankings)
    if found is None:
        return None
    thresholds = [None if math.isinf(t) else float(digits(t)) for t in found.threshold.tolist()]
    return {
        "t": thresholds,
        "f": _packed_finely(found.false_positive_rate),
        "p": _packed_finely(found.true_positive_rate),
        "prior": found.prior,
    }


def _decided(
    points: Sequence[Rates | None],
    lifts: Sequence[Sequence[str]],
    labels: Sequence[str],
    prior: float,
) -> Iterator[DecisionRow]:
    """The best decisions at equal costs, as the page computes them for others."""
    names = [*labels, decisions.TRUTH]
    for place, (label, own, lines) in enumerate(zip(names, points, lifts, strict=True)):
        learner = place if place < len(labels) else None
        if own is None:
            if learner is not None:
                yield DecisionRow(label, learner, NONE, NONE, NONE, NONE)
            continue
        thresholds = np.array([math.inf if t is None else t for t in own["t"]])
        false, true = (_unpacked(rates, 3) for rates in (own["f"], own["p"]))
        found = Points(thresholds, false, true, own["prior"])
        best = decide(found, prior)
        text = _threshold(best.threshold, thresholds[-1])
        yield DecisionRow(label, learner, text, number(best.cost), *_most_profitable(lines, prior))
    yield DecisionRow("no row is positive", None, NONE, number(prior), "0.00", number(0.0))
    yield DecisionRow("every row is positive", None, NONE, number(1 - prior), "1.00", number(0.0))


def _threshold(value: float, last: float) -> str:
    if math.isinf(value):
        return "none"
    return "all" if value == last else digits(value)
