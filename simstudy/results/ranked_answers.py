"""Rankings of the kept answers of a study, for curves: one for each model, or for each repeat."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simstudy.analysis.decision_curves import Heights
from simstudy.arrays import FloatArray, IntArray, weights_in
from simstudy.engine.answers import ROUNDING
from simstudy.engine.evaluation import EXACT, SAMPLED, Trial
from simstudy.errors import SimstudyError
from simstudy.measures.arguments import class_numbers, rarest
from simstudy.measures.ranked import Ranking, rank_scores
from simstudy.sources.models import ModelProblem, Models
from simstudy.study.constants import ANSWERS
from simstudy.study.sizes import Size

if TYPE_CHECKING:
    import pyarrow as pa

    from simstudy.results.answers import AnswerResults

_ROOM = 2_000_000  # thresholds of the rankings that are kept


class Answer(NamedTuple):
    """What a learner answered in a cell: the classes of the rows, and their probabilities."""

    target: IntArray
    proba: FloatArray


class RankedAnswers(ABC):
    """Answers by learner and training size, ranked by the probability of a class."""

    test: str  # "exact" or "sampled"
    truth_known: bool
    class_names: tuple[str, ...]
    rarer: int | None  # the rarest class, if it is the same in all rankings
    number: int  # of rankings of each learner: models, or repeats
    rows: int  # of a ranking, at most
    over: str  # what curves are averaged over: "models", "repeats" or "folds"
    dataset: str = ""

    def __init__(self) -> None:
        self.heights = Heights(_ROOM)
        self._ranked: dict[tuple[object, ...], Ranking] = {}
        self._room = _ROOM

    def _once(self, key: tuple[object, ...], make: Callable[[], Ranking]) -> Ranking:
        """Return a ranking, made once while there is room to keep it."""
        if key not in self._ranked:
            made = make()
            self._room -= len(made.thresholds)
            if self._room < 0:
                return made
            self._ranked[key] = made
        return self._ranked[key]

    @abstractmethod
    def rankings(self, size: int, positive: int | None) -> dict[str, list[Ranking]]:
        """Return the rankings of each learner by the probability of a class, or of the rarest."""

    def truth(self, positive: int | None) -> list[Ranking]:
        """Return rankings by the true probabilities; empty if these are not known."""
        return []

    def pooled(self, size: int, positive: int | None) -> dict[str, Ranking]:
        """Return one ranking of each learner, of the answers of all repeats; empty for models."""
        return {}


def read_answers(results: AnswerResults) -> dict[tuple[object, ...], Answer]:
    """Return the kept answers by the columns that name a cell."""
    import pyarrow.parquet as pq

    if not results.study.keep_answers:
        raise SimstudyError(
            f"{results.directory} has no answers, which curves are drawn from; run the study with "
            "keep_answers = true"
        )
    keys, path = results._answer_keys, results.check_file(ANSWERS)
    try:
        # Mapped and in one batch, nothing is copied or joined; starting threads takes longer.
        with pq.ParquetFile(path, memory_map=True, pre_buffer=False) as file:
            if not (rows := file.metadata.num_rows):
                return {}
            (table,) = file.iter_batches(
                rows, columns=[*keys, "target", "probabilities"], use_threads=False
            )
        columns = [_Column.of(table[key]) for key in keys]
        target, lists = table["target"].to_numpy(), table["probabilities"]
        ends, values = lists.offsets.to_numpy(), lists.values.to_numpy()
        return _by_cell(columns, target, ends, values)
    except (OSError, ValueError, KeyError, AttributeError, TypeError, IndexError) as error:
        raise results._damaged(ANSWERS) from error


class _Column(NamedTuple):
    """A column by codes: numbers are compared, not texts."""

    codes: IntArray
    values: list[Any]

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> _Column:
        coded = column.dictionary_encode()
        return cls(coded.indices.to_numpy(), coded.dictionary.to_pylist())


def _by_cell(
    columns: Sequence[_Column], target: IntArray, ends: IntArray, values: FloatArray
) -> dict[tuple[object, ...], Answer]:
    """Rows of one cell stand together."""
    changes = np.zeros(len(target) - 1, dtype=np.bool_)
    for column in columns:
        changes |= column.codes[1:] != column.codes[:-1]
    edges = [0, *(np.flatnonzero(changes) + 1).tolist(), len(target)]
    found = {}
    for first, last in pairwise(edges):
        proba = values[ends[first] : ends[last]].reshape(last - first, -1)
        if not _sound(proba, target[first:last], np.diff(ends[first : last + 1])):
            raise ValueError("these are no probabilities of classes")
        key = tuple(column.values[column.codes[first]] for column in columns)
        found[key] = Answer(target[first:last], proba)
    return found


def _sound(proba: FloatArray, target: IntArray, classes: IntArray) -> bool:
    """Whether probabilities and classes are possible; the target is −1 in an exact test."""
    possible = bool((proba >= 0).all() and (proba <= 1 + ROUNDING).all())
    number = proba.shape[1]
    return (
        possible
        and bool((classes == number).all() and target.min() >= -1)
        and (bool(target.max() < number))
    )


class ModelAnswers(RankedAnswers):
    """Answers on models: exact ones are weighted by the joint distribution.

    The models are drawn again where every name in the study is simstudy's own; otherwise the truth
    is not known, and answers of an exact test cannot be ranked.
    """

    over = "models"

    def __init__(self, results: AnswerResults) -> None:
        super().__init__()
        self._results = results
        self._answers = read_answers(results)
        self._models = results.study.models
        self.test = EXACT if results.is_exact else SAMPLED
        self.truth_known = not results.foreign
        if self.test == EXACT and results.foreign:
            raise SimstudyError(
                "the weights of an exact test need the models, and drawing them again would "
                f"execute {', '.join(dict.fromkeys(results.foreign))}; curves of such a study need "
                "a test_size that is a number of rows"
            )
        counts = [each.proba.shape[1] for each in self._answers.values()]
        self.class_names = class_numbers(max(counts, default=2))
        self.rarer = None
        cells = [each.proba for each in self._answers.values()]
        self.rows = max((p.size if self.test == EXACT else len(p) for p in cells), default=0)

    @property
    def number(self) -> int:  # type: ignore[override]
        """The number of models that are ranked."""
        return self._models

    def use(self, models: int) -> None:
        """Rank at most so many models, the first ones."""
        self._models = min(models, self._models)

    @cached_property
    def _problems(self) -> dict[int, ModelProblem]:
        plan = self._results._plan
        assert isinstance(plan.source, Models)
        found = {m: ModelProblem(plan.source, plan, m) for m in range(self._models)}
        for (model, *_), answer in self._answers.items():
            if model in found:
                _check_drawn(model, found[model], answer)
        return found

    @cached_property
    def _rarest(self) -> Mapping[object, int]:
        """The rarest class of each model, in the population if it is known."""
        if self.truth_known:
            return {model: problem.rarer for model, problem in self._problems.items()}
        found: dict[object, int] = {}
        for (model, *_), answer in self._answers.items():
            counts = weights_in(answer.target, None, answer.proba.shape[1])
            found.setdefault(model, rarest(counts))
        return found

    def rankings(self, size: int, positive: int | None) -> dict[str, list[Ranking]]:
        """Return the rankings of each learner, of the models that all learners have answers on."""
        labels = self._results.treatments
        each = [
            [m for m in range(self._models) if (m, size, label) in self._answers]
            for label in labels
        ]
        common = [model for model in each[0] if all(model in own for own in each)]
        return {
            label: [
                found
                for model in common or own
                if (found := self._rank(model, (model, size, label), positive)) is not None
            ]
            for label, own in zip(labels, each, strict=True)
        }

    def truth(self, positive: int | None) -> list[Ranking]:
        """Return rankings by the true probabilities; empty if the models cannot be drawn."""
        if not self.truth_known:
            return []
        found = []
        for model, problem in self._problems.items():
            one = self._class(model, positive)
            if one < problem.classes:
                found.append(self._once((model, one), partial(self._true_ranking, model, one)))
        return found

    def _true_ranking(self, model: int, one: int) -> Ranking:
        test = _test(self._problems[model])
        return _ranking(self._posteriors[model], test.target, one, test.weights)

    @cached_property
    def _posteriors(self) -> dict[int, FloatArray]:
        """The true probabilities of the test rows of each model."""
        return {
            model: problem.truth.posterior(problem.judged.rows)[_test(problem).rows]  # type: ignore[union-attr]
            for model, problem in self._problems.items()
        }

    def _class(self, model: int, positive: int | None) -> int:
        return self._rarest[model] if positive is None else positive

    def _rank(self, model: int, key: tuple[object, ...], positive: int | None) -> Ranking | None:
        """The ranking of a cell; None if its model has no such class."""
        target, proba = self._answers[key]
        one = self._class(model, positive)
        if one >= proba.shape[1]:
            return None
        if self.test == SAMPLED:
            return self._once((*key, one), partial(_ranking, proba, target, one))
        return self._once((*key, one), partial(self._exact_ranking, model, proba, one))

    def _exact_ranking(self, model: int, proba: FloatArray, one: int) -> Ranking:
        test = _test(self._problems[model])
        return _ranking(proba[test.rows], test.target, one, test.weights)


class DataAnswers(RankedAnswers):
    """Answers on the test rows of a data set, those of all folds of a repeat together."""

    test, truth_known = SAMPLED, False

    def __init__(
        self,
        results: AnswerResults,
        dataset: str | None = None,
        every: Mapping[tuple[object, ...], Answer] | None = None,
        by_fold: bool = False,
    ) -> None:
        super().__init__()
        self._by_fold, self.over = by_fold, "folds" if by_fold else "repeats"
        names = list(dict.fromkeys(part["dataset"] for part in results.manifest["parts"]))
        self.dataset = names[0] if dataset is None else dataset
        if self.dataset not in names:
            raise SimstudyError(f"no data set '{dataset}' here; there are {', '.join(names)}")
        every = read_answers(results) if every is None else every
        self._answers = {key[1:]: one for key, one in every.items() if key[0] == self.dataset}
        parts = [part for part in results.manifest["parts"] if part["dataset"] == self.dataset]
        self._training = {(part["repeat"], part["fold"]): part["train"] for part in parts}
        self._labels = results.treatments
        counts = max((one.proba.shape[1] for one in self._answers.values()), default=2)
        recorded = tuple(results.manifest["classes"].get(self.dataset, ()))
        self.class_names = recorded if len(recorded) == counts else class_numbers(counts)
        targets = [one.target for one in self._answers.values()]
        total = np.concatenate(targets) if targets else np.zeros(1, np.intp)
        self.rarer = rarest(weights_in(total, None, counts))
        self.number = len({part["repeat"] for part in parts})
        self.rows = len(total) // max(len(self._labels) * self.number * len(results.doses), 1)

    def rankings(self, size: int, positive: int | None) -> dict[str, list[Ranking]]:
        """Return a ranking for each repeat, or for each fold."""
        one, found = self._class(positive), {}
        if self._by_fold:
            return {
                label: [_joined([own], one) for own in chain(*answers.values())]
                for label, answers in self._by_repeat(size).items()
            }
        for label, answers in self._by_repeat(size).items():
            found[label] = [
                self._once((size, label, repeat, one), partial(_joined, own, one))
                for repeat, own in answers.items()
            ]
        return found

    def pooled(self, size: int, positive: int | None) -> dict[str, Ranking]:
        """Return one ranking of each learner, of the answers of all repeats."""
        one = self._class(positive)
        return {
            label: self._once(
                (size, label, one), partial(_joined, [*chain(*answers.values())], one)
            )
            for label, answers in self._by_repeat(size).items()
            if answers
        }

    def _class(self, positive: int | None) -> int:
        assert self.rarer is not None
        return self.rarer if positive is None else positive

    def _by_repeat(self, size: int) -> Mapping[str, dict[int, list[Answer]]]:
        found: dict[str, dict[int, list[Answer]]] = {label: {} for label in self._labels}
        for (repeat, fold), training in self._training.items():
            for label in self._labels:
                answer = self._answers.get((repeat, fold, Size.stored(size).rows(training), label))
                if answer is not None:
                    found[label].setdefault(repeat, []).append(answer)
        return found


def _check_drawn(model: int, problem: ModelProblem, answer: Answer) -> None:
    """Refuse answers on another model than the one that was drawn again."""
    rows = len(problem.judged.rows) if problem.judged.all_rows else len(_test(problem).rows)
    same = answer.proba.shape == (rows, problem.classes)
    if same and not problem.judged.all_rows:
        same = np.array_equal(answer.target, _test(problem).target)
    if not same:
        raise SimstudyError(
            f"the answers kept of model {model} are of another model than the one drawn again; "
            "the code that made these results differs from the code that runs now"
        )


def _test(problem: ModelProblem) -> Trial:
    tests = problem.judged.tests
    return tests.get(EXACT) or tests[SAMPLED]


def _ranking(
    proba: FloatArray, target: IntArray, one: int, weights: FloatArray | None = None
) -> Ranking:
    return rank_scores(np.ascontiguousarray(proba[:, one]), target == one, weights)


def _joined(answers: Sequence[Answer], one: int) -> Ranking:
    scores = np.concatenate([answer.proba[:, one] for answer in answers])
    return rank_scores(scores, np.concatenate([answer.target == one for answer in answers]))
