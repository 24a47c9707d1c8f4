"""Shift: test rows come from a model with another class prior or other marginals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from simstudy.errors import require
from simstudy.networks.model import Model
from simstudy.networks.priors import with_marginal
from simstudy.sources.changes.base import Change, Extent
from simstudy.sources.changes.world import World

Marginal: TypeAlias = Literal["uniform", "random"] | tuple[float, ...]


@dataclass(frozen=True)
class Shift(Change):
    """Test rows come from another model than training rows: its marginals are shifted.

    The truth and the best possible scores are those of the test model; the limit of a learner is
    its fit to the training population.

    Parameters
    ----------
    class_prior : "uniform", "random" or list of float, optional
        The class prior of test rows; P(attributes | class) stays as it is. A random one is drawn
        uniformly from all distributions.
    marginals : table, optional
        Distributions of attributes in test rows, by name: { x0 = "uniform" }. P(all others |
        attribute) stays as it is, and so does P(class | attributes). Those of several attributes
        are changed one after the other.

    References
    ----------
    M. Saerens, P. Latinne & C. Decaestecker (2002). Adjusting the outputs of a classifier to new a
    priori probabilities. Neural Computation 14.

    H. Shimodaira (2000). Improving predictive inference under covariate shift by weighting the
    log-likelihood function. Journal of Statistical Planning and Inference 90.
    """

    class_prior: Marginal | None = None
    marginals: dict[str, Marginal] | None = None

    def __post_init__(self) -> None:
        if self.class_prior is None and not self.marginals:
            raise ValueError("a shift needs a class_prior or marginals")
        marginals = (self.marginals or {}).items()
        for key, marginal in (("class_prior", self.class_prior), *marginals):
            if marginal in (None, "uniform", "random"):
                continue
            numbers = np.array([-1.0] if isinstance(marginal, str) else marginal, dtype=np.float64)
            rule = "it must be 'uniform', 'random' or list probabilities"
            require(numbers.ndim == 1 and (numbers >= 0).all(), key, marginal, rule)
            require(abs(numbers.sum() - 1) <= 1e-9, key, marginal, "it must sum to 1")

    def extent(self, extent: Extent) -> Extent:
        if isinstance(self.class_prior, tuple | list):
            extent.demand_classes("class_prior", len(self.class_prior))
        return extent

    def apply(self, world: World, rng: np.random.Generator) -> World:
        model = world.test.model
        if self.class_prior is not None:
            model = _shifted(model, len(model.cards) - 1, self.class_prior, rng)
        for name, marginal in (self.marginals or {}).items():
            model = _shifted(model, world.test.attribute(name), marginal, rng)
        if model is world.test.model:
            return world
        return World(world.train, replace(world.test, model=model))


def _shifted(model: Model, variable: int, marginal: Marginal, rng: np.random.Generator) -> Model:
    card = model.cards[variable]
    if marginal == "uniform":
        marginal = tuple(np.full(card, 1 / card))
    elif marginal == "random":
        marginal = tuple(rng.dirichlet(np.ones(card)))
    return with_marginal(model, variable, np.array(marginal, dtype=np.float64))
