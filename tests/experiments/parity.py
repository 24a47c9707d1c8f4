"""A source of problems that are no models: bits, and their parity, which is sometimes wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from simstudy import register_family
from simstudy.arrays import FloatArray
from simstudy.data.sample import Sample
from simstudy.engine.evaluation import SAMPLED, Evaluation, Trial, pack, unpack
from simstudy.engine.plan import Plan
from simstudy.sources import Problem, Source


@register_family("parity")
@dataclass(frozen=True)
class Parity(Source):
    """Puzzles: the class of a row is the parity of its bits."""

    problem_word = "puzzle"
    unit = "puzzle"
    knows_truth = False
    name = "parity"

    bits: int = 3
    noise: float = 0.1
    puzzles: int = 0

    @property
    def identity(self) -> str:
        return f"parity of {self.bits} bits, noise {self.noise}"

    @property
    def count(self) -> int:
        return self.puzzles

    def first(self, number: int) -> Parity:
        return replace(self, puzzles=number)

    def problem(self, plan: Plan, index: int) -> Problem:
        return Puzzle(self, plan, index)

    def rows_of_bits(self, size: int, rng: np.random.Generator) -> Sample:
        bits = rng.integers(0, 2, (size, self.bits))
        parity = (bits.sum(axis=1) + (rng.random(size) < self.noise)) % 2
        return Sample(np.column_stack([bits, parity]), (2,) * (self.bits + 1))


class Puzzle(Problem):
    """One puzzle with 200 test rows."""

    def __init__(self, source: Parity, plan: Plan, index: int) -> None:
        self._source, self._plan, self._index = source, plan, index
        self.truth = self.training = None
        self.class_names, self.rarer = ("even", "odd"), 0
        test = source.rows_of_bits(200, plan.stream(index, "test"))
        self.judged = Evaluation(
            test.attributes, {SAMPLED: Trial(np.arange(len(test)), test.target)}
        )

    @property
    def digest(self) -> str:
        return f"{self._source.identity} {self._index}"

    def draw(self, size: int) -> Sample:
        return self._source.rows_of_bits(size, self._plan.stream(self._index, f"train/{size}"))

    def answers(self, proba: FloatArray) -> str:
        return pack(np.arange(len(proba)), self.judged.tests[SAMPLED].target, proba)

    def predictions(self, answers: str) -> FloatArray:
        return unpack(answers)[2]
