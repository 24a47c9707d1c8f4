"""The oracle learner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from simstudy.data.sample import Sample
from simstudy.learners.base import Fitted, Learner


@dataclass(frozen=True)
class Truth(Learner):
    """Oracle: the true class posterior of the generated model; for studies only.

    No learner can expect a greater reward. Nothing is fitted.
    """

    knows_model: ClassVar[bool] = True

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> Fitted:
        raise ValueError("truth is for studies only: a sample does not contain the true posterior")
