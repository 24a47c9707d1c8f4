"""The truth among the learners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from simstudy.data.sample import Sample
from simstudy.learners.base import Fitted, Learner


@dataclass(frozen=True)
class Truth(Learner):
    """The true class posterior, the best that any learner could answer; for studies only."""

    knows_model: ClassVar[bool] = True

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> Fitted:
        raise ValueError("no sample tells the truth: only a study, which drew the model, knows it")
