"""Draws of networks given a table: a structure from its posterior, CPTs from their Dirichlets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from simstudy.arrays import FloatArray
from simstudy.data.sample import Sample
from simstudy.data.schema import Schema
from simstudy.networks.model import Component, Model

if TYPE_CHECKING:
    from simstudy.learners.networks.camml.exact import TomPosterior

Structure: TypeAlias = tuple[tuple[int, ...], ...]  # the parents of every variable
DrawStructure: TypeAlias = Callable[[np.random.Generator], Structure]
MAX_EXACT = 10  # variables


def informative(sample: Sample, most: int) -> Sample:
    """Return complete rows without attributes of one value, with at most ``most`` attributes.

    Those of greatest mutual information with the target are kept, in their order.
    """
    attributes = [place for place, card in enumerate(sample.cards[:-1]) if card > 1]
    if len(attributes) > most:
        target = len(sample.cards) - 1
        shared = [_information(sample.counts(place, target)) for place in attributes]
        best = np.argsort(-np.array(shared), kind="stable")[:most]
        attributes = np.take(attributes, np.sort(best)).tolist()
    kept = [*attributes, len(sample.cards) - 1]
    if len(kept) == len(sample.cards):
        return sample
    variables = tuple(sample.schema.variables[place] for place in kept)
    return Sample.of(np.asfortranarray(sample.values[:, kept]), Schema(variables))


def _information(counts: FloatArray) -> float:
    """Return the mutual information of two variables in nats."""
    joint = counts / counts.sum()
    even = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    seen = joint > 0
    return float((joint[seen] * np.log(joint[seen] / even[seen])).sum())


def draw_model(
    sample: Sample, structure: Structure, rng: np.random.Generator, prior: float = 0.5
) -> Model:
    """Draw the CPTs of a structure given complete rows: each row of one is Dirichlet(n + prior)."""
    cpts = []
    for variable, parents in enumerate(structure):
        gammas = rng.standard_gamma(sample.counts(*parents, variable) + prior)
        gammas = np.maximum(gammas, np.finfo(float).tiny)  # tiny shapes may give 0 everywhere
        cpts.append(gammas / gammas.sum(axis=-1, keepdims=True))
    names = [variable.name for variable in sample.schema.variables]
    return Model(sample.cards, [Component(1.0, structure, tuple(cpts))], names)


def camml_structures(sample: Sample, rng: np.random.Generator) -> DrawStructure:
    """Structures from CaMML's posterior: exact up to 10 variables, sampled beyond."""
    if len(sample.cards) <= MAX_EXACT:
        from simstudy.learners.networks.camml.exact import ExactPosterior

        exact = ExactPosterior(sample)
        return lambda stream: draw_from_posterior(exact, stream)
    from simstudy.learners.networks.camml.sampling import SampledPosterior
    from simstudy.learners.networks.estimated import members

    dags, mass = SampledPosterior(sample, rng).clean_dags
    return lambda stream: tuple(members(int(mask)) for mask in dags[_pick(mass, stream)])


def bootstrap_structures(sample: Sample, rng: np.random.Generator) -> DrawStructure:
    """CaMML's best network of rows drawn with replacement (Friedman, Goldszmidt & Wyner 1999)."""
    from simstudy.learners.networks.camml.learner import CaMML

    return lambda stream: CaMML(select="map").fit(_bootstrapped(sample, stream), stream).dag


def tan_structures(sample: Sample, rng: np.random.Generator) -> DrawStructure:
    """The TAN of rows drawn with replacement: its tree is uncertain, its kind is not."""
    from simstudy.learners.bayes.tree_searches import cmi_tree

    def draw(stream: np.random.Generator) -> Structure:
        tree = cmi_tree(_bootstrapped(sample, stream), 0.5)
        return _with_target([() if parent is None else (parent,) for parent in tree])

    return draw


def kdb_structures(sample: Sample, rng: np.random.Generator) -> DrawStructure:
    """The 2-dependence classifier of rows drawn with replacement."""
    from simstudy.learners.bayes.kdb import KDB

    return lambda stream: _with_target(KDB(k=2).fit(_bootstrapped(sample, stream)).parents)


FITTERS: dict[str, Callable[[Sample, np.random.Generator], DrawStructure]]
FITTERS = {"camml": camml_structures, "tan": tan_structures}
FITTERS |= {"kdb": kdb_structures, "bootstrap": bootstrap_structures}


def draw_from_posterior(posterior: TomPosterior, rng: np.random.Generator) -> Structure:
    """Draw a DAG from the exact posterior: an order, and parents among the predecessors."""
    variables = posterior.variables
    parents: list[tuple[int, ...]] = [()] * variables
    masks, placed = np.arange(posterior.sets), 0
    for _ in range(variables):
        child = _pick(posterior.steps[:, placed], rng)
        inside = masks[masks & ~placed == 0]
        logs = posterior.weights[child, inside]
        chosen = int(inside[_pick(np.exp(logs - logs.max()), rng)])
        parents[child] = tuple(v for v in range(variables) if chosen >> v & 1)
        placed |= 1 << child
    return tuple(parents)


def _pick(weights: FloatArray, rng: np.random.Generator) -> int:
    """Draw an index in proportion to its weight."""
    sums = np.cumsum(weights)
    drawn = int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))
    return min(drawn, int(np.flatnonzero(weights)[-1]))  # rounding may lead beyond the last


def _bootstrapped(sample: Sample, rng: np.random.Generator) -> Sample:
    return sample.take(rng.integers(len(sample), size=len(sample)))


def _with_target(parents: Sequence[tuple[int, ...]]) -> Structure:
    """The parents of all variables with the target as a parent of every attribute."""
    return (*((*attributes, len(parents)) for attributes in parents), ())
