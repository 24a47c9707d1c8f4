"""Rankings of the kept answers of a study, for curves: one for each model, or for each repeat."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from simstudy.analysis.decision_curves import Heights
from simstudy.arrays import FloatArray, IntArray, weights_in
from simstudy.data.sizes import Size
from simstudy.engine.evaluation import EXACT, ROUNDING, SAMPLED
from simstudy.errors import SimstudyError, check_name
from simstudy.measures.positive_class import class_numbers, rarest
from simstudy.measures.ranking.ranked_rows import Ranking, rank_scores
from simstudy.sources.models import ModelProblem, Models
from simstudy.study.constants import ANSWERS

if TYPE_CHECKING:
    from simstudy.results.read.base import AnswerResults

_ROOM = 2_000_000  # thresholds of the rankings that are kept


class Answer(NamedTuple):
    """The predictions of a learner in a cell: classes of the rows, and their probabilities."""

    target: IntArray
    proba: FloatArray


Answers: TypeAlias = dict[tuple[object, ...], Answer]  # by the columns that name a cell


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
        if key in self._ranked:
            return self._ranked[key]
        made = make()
        self._room -= len(made.thresholds)
        if self._room >= 0:
            self._ranked[key] = made
        return made

    @abstractmethod
    def rankings(self, size: int, positive: int | None) -> dict[str, list[Ranking]]:
        """Return the rankings of each learner by the probability of a class, or of the rarest."""

    def truth(self, positive: int | None) -> list[Ranking]:
        """Return rankings by the true probabilities; empty if these are unknown."""
        return []

    def pooled(self, size: int, positive: int | None) -> dict[str, Ranking]:
        """Return one ranking of each learner, of the answers of all repeats; empty for models."""
        return {}


def read_answers(results: AnswerResults) -> Answers:
    """Return the kept answers by the columns that name a cell."""
    import pyarrow.parquet as pq

    keys, path = results._answer_keys, results._answers_file
    try:
        # Mapped and in one batch, nothing is copied or joined; starting threads takes longer.
        with pq.ParquetFile(path, memory_map=True, pre_buffer=False) as file:
            if not (rows := file.metadata.num_rows):
                return {}
            columns = [*keys, "target", "probabilities"]
            (table,) = file.iter_batches(rows, columns=columns, use_threads=False)
        coded = [table[key].dictionary_encode() for key in keys]
        names = [(each.indices.to_numpy(), each.dictionary.to_pylist()) for each in coded]
        target, lists = table["target"].to_numpy(), table["probabilities"]
        return _by_cell(names, target, lists.offsets.to_numpy(), lists.values.to_numpy())
    except (OSError, ValueError, KeyError, AttributeError, TypeError, IndexError) as error:
        raise results._damaged(ANSWERS) from error


def _by_cell(
    columns: list[tuple[IntArray, list[Any]]], target: IntArray, ends: IntArray, values: FloatArray
) -> Answers:
    """Split answers where the cell changes; columns have codes, which are compared, and values."""
    changes = np.logical_or.reduce([codes[1:] != codes[:-1] for codes, _ in columns])
    edges = [0, *(np.flatnonzero(changes) + 1).tolist(), len(target)]
    answers = {}
    for first, last in pairwise(edges):
        proba = values[ends[first] : ends[last]].reshape(last - first, -1)
        classes, labels = proba.shape[1], target[first:last]
        if not (  # the target is −1 in an exact test
            proba.min() >= 0
            and proba.max() <= 1 + ROUNDING
            and (np.diff(ends[first : last + 1]) == classes).all()
            and -1 <= labels.min() <= labels.max() < classes
        ):
            raise ValueError("these are not class probabilities")
        key = tuple(names[codes[first]] for codes, names in columns)
        answers[key] = Answer(labels, proba)
    return answers


class ModelAnswers(RankedAnswers):
    """Answers on models: exact ones are weighted by the joint distribution.

    The models are redrawn if the study has no third-party components; otherwise the truth is
    unknown, and answers of an exact test cannot be ranked.
    """

    over = "models"

    def __init__(self, results: AnswerResults) -> None:
        super().__init__()
        self._results = results
        self._answers = read_answers(results)
        self.number = results.study.models
        self.test = EXACT if results.is_exact else SAMPLED
        self.truth_known = not results.foreign
        if self.test == EXACT and results.foreign:
            raise SimstudyError(
                "an exact test is weighted by the models, and redrawing them would execute "
                f"{', '.join(dict.fromkeys(results.foreign))}; curves of such a study require a "
                "test_size that is a number of rows"
            )
        cells = [answer.proba for answer in self._answers.values()]
        self.class_names = class_numbers(max((proba.shape[1] for proba in cells), default=2))
        self.rarer = None
        self.rows = max((p.size if self.test == EXACT else len(p) for p in cells), default=0)

    def use(self, models: int) -> None:
        """Rank at most the first ``models`` models."""
        self.number = min(models, self.number)

    @cached_property
    def _problems(self) -> dict[int, ModelProblem]:
        plan = self._results._plan
        assert isinstance(plan.source, Models)
        problems = {m: ModelProblem(plan.source, plan, m) for m in range(self.number)}
        for (model, *_), answer in self._answers.items():
            if model in problems:
                _check_drawn(model, problems[model], answer)
        return problems

    @cached_property
    def _rarest(self) -> Mapping[object, int]:
        """The rarest class of each model, in the population if it is known."""
        if self.truth_known:
            return {model: problem.rarer for model, problem in self._problems.items()}
        return {
            model: rarest(weights_in(answer.target, None, answer.proba.shape[1]))
            for (model, *_), answer in reversed(self._answers.items())
        }

    def rankings(self, size: int, positive: int | None) -> dict[str, list[Ranking]]:
        """Return the rankings of each learner, of the models that all learners have answers on."""
        models = {
            label: [m for m in range(self.number) if (m, size, label) in self._answers]
            for label in self._results.treatments
        }
        common = sorted(set.intersection(*map(set, models.values())))
        ranked = {
            label: [self._rank(model, (model, size, label), positive) for model in common or each]
            for label, each in models.items()
        }
        return {label: [*filter(None, each)] for label, each in ranked.items()}

    def truth(self, positive: int | None) -> list[Ranking]:
        """Return rankings by the true probabilities; empty if the models cannot be drawn."""
        models = self._problems if self.truth_known else ()
        return [*filter(None, (self._rank(model, (model,), positive) for model in models))]

    def _rank(self, model: int, key: tuple[object, ...], positive: int | None) -> Ranking | None:
        """The ranking of a cell, or of the truth; None if the model has no such class."""
        positive = self._rarest[model] if positive is None else positive
        answer = self._answers.get(key)
        classes = self._problems[model].classes if answer is None else answer.proba.shape[1]
        if positive >= classes:
            return None

        def make() -> Ranking:
            if answer is not None and self.test == SAMPLED:
                return _ranking([answer], positive)
            test = self._problems[model].judged.test
            proba = self._posteriors[model] if answer is None else answer.proba[test.rows]
            return _ranking([Answer(test.target, proba)], positive, test.weights)

        return self._once((*key, positive), make)

    @cached_property
    def _posteriors(self) -> dict[int, FloatArray]:
        """The true probabilities of the test rows of each model."""
        return {
            model: problem.truth.posterior(problem.judged.rows)[problem.judged.test.rows]  # type: ignore[union-attr]
            for model, problem in self._problems.items()
        }


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
        check_name("data set", self.dataset, names)
        every = read_answers(results) if every is None else every
        self._answers = {key[1:]: every[key] for key in every if key[0] == self.dataset}
        parts = [part for part in results.manifest["parts"] if part["dataset"] == self.dataset]
        self._training = {(part["repeat"], part["fold"]): part["train"] for part in parts}
        self._labels = results.treatments
        classes = max((answer.proba.shape[1] for answer in self._answers.values()), default=2)
        recorded = tuple(results.manifest["classes"].get(self.dataset, ()))
        self.class_names = recorded if len(recorded) == classes else class_numbers(classes)
        targets = [answer.target for answer in self._answers.values()]
        total = np.concatenate(targets) if targets else np.zeros(1, np.intp)
        self.rarer: int = rarest(weights_in(total, None, classes))
        self.number = len({part["repeat"] for part in parts})
        self.rows = len(total) // max(len(self._labels) * self.number * len(results.doses), 1)

    def rankings(self, size: int, positive: int | None) -> dict[str, list[Ranking]]:
        """Return a ranking for each repeat, or for each fold."""
        keys = 2 if self._by_fold else 1
        return {label: self._grouped(size, label, positive, keys) for label in self._labels}

    def pooled(self, size: int, positive: int | None) -> dict[str, Ranking]:
        """Return one ranking of each learner, of the answers of all repeats."""
        ranked = {label: self._grouped(size, label, positive, 0) for label in self._labels}
        return {label: rankings[0] for label, rankings in ranked.items() if rankings}

    def _grouped(self, size: int, label: str, positive: int | None, keys: int) -> list[Ranking]:
        """Rankings of a learner, pooled, by repeat, or by repeat and fold: 0, 1 or 2 keys."""
        positive = self.rarer if positive is None else positive
        groups: dict[tuple[int, ...], list[Answer]] = {}
        for place, training in self._training.items():
            answer = self._answers.get((*place, Size.stored(size).rows(training), label))
            if answer is not None:
                groups.setdefault(place[:keys], []).append(answer)
        return [
            self._once((size, label, *place, positive), partial(_ranking, answers, positive))
            for place, answers in groups.items()
        ]


def _check_drawn(model: int, problem: ModelProblem, answer: Answer) -> None:
    """Refuse answers that do not belong to the model as redrawn."""
    judged = problem.judged
    rows = len(judged.rows) if judged.all_rows else len(judged.test.rows)
    if answer.proba.shape != (rows, problem.classes) or not (
        judged.all_rows or np.array_equal(answer.target, judged.test.target)
    ):
        raise SimstudyError(
            f"the saved answers on model {model} do not belong to the model as redrawn; "
            "these results were made by different code"
        )


def _ranking(answers: list[Answer], positive: int, weights: FloatArray | None = None) -> Ranking:
    """Return one ranking of answers by the probability of a class."""
    scores = np.concatenate([answer.proba[:, positive] for answer in answers])
    hits = np.concatenate([answer.target == positive for answer in answers])
    return rank_scores(scores, hits, weights)
