"""Models of a family as problems: the truth is known, rows are drawn from it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.components import registry
from simstudy.components.registry import CHANGES, FAMILIES, Spec, build, first_line
from simstudy.data.sample import Sample
from simstudy.engine.evaluation import EXACT, SAMPLED, evaluation, pack, unpack
from simstudy.measures.positive_class import class_numbers, rarest
from simstudy.networks.model import Model
from simstudy.sources.changes.world import World
from simstudy.sources.source import Problem, Source
from simstudy.study.constants import FILES

if TYPE_CHECKING:
    from simstudy.engine.plan import Plan
    from simstudy.learners.base import Learner


@dataclass(frozen=True)
class Models(Source):
    """Models drawn at random from a family, perhaps changed: their truth is known.

    Attributes
    ----------
    family : Spec
        The family.
    number : int
        The number of models drawn.
    test_size : int or str
        The number of test rows; "exact" for the joint distribution, or "both".
    training : str
        Whether training sets of several sizes are drawn "independent" or "nested".
    changes : tuple of Spec
        The changes made to each model, in order.
    """

    problem_word = "model"
    unit = "model"
    test_note = ""  # data.test_size says it

    family: Spec
    number: int
    test_size: int | str
    training: str
    changes: tuple[Spec, ...] = ()

    @property
    def count(self) -> int:
        """The number of models."""
        return self.number

    @property
    def name(self) -> str:
        """The name of the family."""
        return self.family.name

    @property
    def identity(self) -> str:
        """The identity of the family."""
        return self.family.identity

    def first(self, number: int) -> Models:
        """Return the source of the first models."""
        return replace(self, number=number)

    def sent(self, family: Spec | None) -> Models:
        """Return itself, which is built in."""
        return self

    def about(self) -> dict[str, dict[str, str]]:
        """Return a line on the family and on each change."""
        changes = {change.name: first_line(CHANGES, change.name) for change in self.changes}
        return {**super().about(), **({"change": changes} if changes else {})}

    @property
    def prepares(self) -> bool:
        """Whether a change makes values missing."""
        return registry.makes_missing(change.name for change in self.changes)

    @property
    def tests(self) -> tuple[str, ...]:
        """What learners are evaluated on."""
        if self.test_size == "both":
            return (EXACT, SAMPLED)
        return (SAMPLED,) if isinstance(self.test_size, int) else (EXACT,)

    def problem(self, plan: Plan, index: int) -> Problem:
        """Return a model, drawn and changed."""
        return ModelProblem(self, plan, index)

    def model(self, plan: Plan, index: int) -> Model:
        """Return the model that training rows are drawn from."""
        return self.world(plan, index).train.model

    def world(self, plan: Plan, index: int) -> World:
        """Return what the rows of a task are drawn from: a model with all changes made."""
        drawn = build(FAMILIES, self.family).draw(plan.stream(index, "model"))
        world, times = World.of(drawn), dict[str, int]()
        for change in self.changes:
            # Streams depend only on the name: another rate chooses the same attributes.
            number = times[change.name] = times.get(change.name, -1) + 1
            rng = plan.stream(index, f"change/{change.name}/{number}")
            world = build(CHANGES, change).apply(world, rng)
            if not isinstance(world, World):
                raise TypeError(f"the change '{change.name}' returned a {type(world).__name__}")
        return world

    def drawn(self) -> dict[str, object]:
        """Return how test and training rows are drawn."""
        return {"data.test_size": self.test_size, "data.training": self.training}

    def copies(self) -> dict[str, bytes]:
        """Return the files that parameters of the family name."""
        return {name: str(self.family.parameters[key]).encode() for key, name in self.family.files}

    def placed(self, settings: Mapping[str, Any], directory: Path) -> dict[str, Any]:
        """Return the family with the names of the copies of its files."""
        copies = dict(self.family.files)
        return {"family": {**settings["family"], **copies}} if copies else {}

    def recorded(self, manifest: Mapping[str, Any], directory: Path) -> Models:
        """Return the source with the identities recorded, and the texts of copied files."""
        conditions, parameters = manifest["conditions"], self.family.parameters
        texts = _recorded_files(directory, parameters)
        files = tuple((key, str(parameters[key])) for key in texts)
        family = replace(self.family, identity=conditions["family"], files=files)
        recorded = zip(self.changes, conditions.get("changes", ()), strict=False)
        family = replace(family, parameters={**parameters, **texts})
        changes = tuple(replace(change, identity=identity) for change, identity in recorded)
        return replace(self, family=family, changes=changes)


def _recorded_files(directory: Path, parameters: Mapping[str, object]) -> dict[str, str]:
    """The texts of files that the results hold copies of, by the parameters that name them."""
    texts = {}
    for key, value in parameters.items():
        place = Path(value) if isinstance(value, str) and "\0" not in value else Path()
        inside = len(place.parts) == 2 and place.parts[0] == FILES and place.name != ".."
        if inside and not any((directory / path).is_symlink() for path in (place, FILES)):
            with suppress(OSError, ValueError):  # missing: needed to run the study again only
                texts[key] = (directory / place).read_text(encoding="utf-8")
    return texts


class ModelProblem(Problem):
    """A model drawn from a family, perhaps changed: its truth is known."""

    def __init__(self, source: Models, plan: Plan, model: int) -> None:
        self._source, self._plan, self._model = source, plan, model
        self._world = source.world(plan, model)
        self.training, self.truth = self._world.train, self._world.test
        self.judged = evaluation(self.truth, source.test_size, plan.stream(model, "test"))
        self.class_names = class_numbers(self.truth.cards[-1])
        self.rarer = rarest(self.truth.class_prior())
        self._prepared: dict[object, tuple[Sample, Sample]] = {}

    @cached_property
    def digest(self) -> str:
        """A digest of the model and, unless all that made it is built in, of the test rows."""
        digest, foreign, source = self._world.digest(), dict(self._plan.sources), self._source
        if foreign.keys().isdisjoint(spec.name for spec in (source.family, *source.changes)):
            return digest
        content = hashlib.blake2b(digest.encode(), digest_size=8)
        rows = self.judged.rows
        rows = rows.attributes if isinstance(rows, Sample) else np.asarray(rows)
        for test in self.judged.tests.values():
            content.update(rows[test.rows].tobytes() + test.target.tobytes())
        return content.hexdigest()

    def answers(self, proba: FloatArray) -> str:
        """Return the predictions for the test rows, or for all attribute configurations."""
        target: IntArray = np.full(len(proba), -1)
        if not self.judged.all_rows:
            test = self.judged.tests[SAMPLED]
            target, proba = test.target, proba[test.rows]
        return pack(np.arange(len(proba)), target, proba)

    def predictions(self, answers: str) -> FloatArray:
        """Return the predictions for the distinct rows."""
        kept = unpack(answers)[2]
        if self.judged.all_rows:
            return kept
        proba = np.empty((len(self.judged.rows), self.classes), order="F")
        proba[self.judged.tests[SAMPLED].rows] = kept
        return proba

    def draw(self, size: int) -> Sample:
        """Return the training set of a size, or the first rows of the largest."""
        self._prepared.clear()
        role = "train" if self._source.training == "nested" else f"train/{size}"
        return self._world.train.sample(size, self._plan.stream(self._model, role))

    def seen(
        self, component: Spec, learner: Learner, sample: Sample
    ) -> tuple[Sample, IntArray | Sample]:
        """Return both sets as prepared for a learner, where values may be missing."""
        rows = self.judged.rows
        if component.preparation is None or registry.knows_model(learner):
            return sample, rows
        if not isinstance(rows, Sample):  # none is missing
            codes = np.column_stack([rows, np.zeros(len(rows), dtype=np.intp)])
            rows = Sample(codes, self._world.test.cards)
        return prepared_sets(self._prepared, component, sample, rows)


def prepared_sets(
    cache: dict[object, tuple[Sample, Sample]], component: Spec, train: Sample, test: Sample
) -> tuple[Sample, Sample]:
    """Training and test rows as prepared for a learner; those of equal needs share them."""
    assert component.preparation is not None
    key = (component.preparation, component.accepts)
    if key not in cache:
        prepared = component.preparation.fit(train, component.accepts)
        cache[key] = prepared.train, prepared(test)
    return cache[key]
