"""Data-generating models: a discrete Bayesian network, or a mixture of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.codes import check_codes
from simstudy.data.sample import Sample
from simstudy.networks.network import Network, check_names, check_tables, variable_names
from simstudy.texts import arc_text, counted, summary

if TYPE_CHECKING:
    from pgmpy.models import DiscreteBayesianNetwork


@dataclass(frozen=True, eq=False)
class Component:
    """One Bayesian network of a mixture.

    Attributes
    ----------
    weight : float
        The probability that a row comes from this component.
    parents : tuple of tuples of int
        The parents of each variable.
    cpts : tuple of arrays
        The conditional probability table of each variable: one axis per parent in the order of
        ``parents``, then one for the variable itself, along which it sums to one.
    """

    weight: float
    parents: tuple[tuple[int, ...], ...]
    cpts: tuple[FloatArray, ...]

    @cached_property
    def network(self) -> Network:
        """The component as a network, with default names."""
        return Network.trusted(tuple(map(tuple, self.parents)), self.cpts)

    def __repr__(self) -> str:
        names = variable_names(len(self.parents))
        return summary(self, f"weight {self.weight:g}", arc_text(self.parents, names))


class Model:
    """A weighted list of Bayesian networks over the same variables, the target last.

    Parameters
    ----------
    cards : sequence of int
        Number of values of each variable.
    components : sequence of Component
        One for a plain Bayesian network; several, with weights that sum to one, for a mixture.
    names : sequence of str, optional
        Names of the variables; by default x0, x1, … and y for the target.
    """

    def __init__(
        self, cards: Sequence[int], components: Sequence[Component], names: Sequence[str] = ()
    ) -> None:
        self.cards = tuple(int(card) for card in cards)
        self.components = tuple(components)
        self.names = tuple(names or variable_names(len(self.cards)))
        if len(self.cards) < 2 or min(self.cards) < 1:
            raise ValueError(f"a model needs an attribute and a target; its cards are {self.cards}")
        check_names(self.names, self.cards)
        weights = [component.weight for component in self.components]
        if not (weights and min(weights) >= 0 and abs(sum(weights) - 1) <= 1e-9):
            raise ValueError(f"the components' weights must sum to one; they are {weights}")
        for component in self.components:
            parents = tuple(map(tuple, component.parents))
            check_tables(self.cards, parents, component.cpts, self.names)

    def __repr__(self) -> str:
        classes = counted(self.cards[-1], "class", "classes")
        shape = f"{counted(len(self.cards) - 1, 'attribute')}, {classes}"
        if len(self.components) > 1:
            return summary(self, shape, f"{counted(len(self.components), 'network')}, mixed")
        return summary(self, shape, arc_text(self.components[0].parents, self.names))

    def digest(self) -> str:
        """Return a short digest that identifies the model.

        Probabilities are rounded to six digits, so that it does not depend on the processor.
        """
        parents = [[[int(p) for p in those] for those in c.parents] for c in self.components]
        numbers = [np.array([component.weight for component in self.components])]
        numbers += [cpt.ravel() for component in self.components for cpt in component.cpts]
        content = hashlib.blake2b(repr((self.cards, parents)).encode(), digest_size=8)
        content.update(np.round(np.concatenate(numbers), 6).tobytes())
        return content.hexdigest()

    def sample(self, n: int, rng: np.random.Generator) -> Sample:
        """Draw ``n`` rows; a longer draw from the same stream starts with the same rows."""
        variables = len(self.cards)
        mixture = len(self.components) > 1
        # Row by row: a row uses the same positions of the stream, whatever the number of rows.
        uniform = np.ascontiguousarray(rng.random((n, variables + mixture)).T)
        codes = np.empty((variables, n), dtype=np.intp)
        if not mixture:
            self.components[0].network.fill(uniform, codes)
            return Sample(codes.T, self.cards)
        limits = np.cumsum([component.weight for component in self.components])[:-1]
        chosen = np.searchsorted(limits, uniform[-1], side="right")
        for index, component in enumerate(self.components):
            rows = np.flatnonzero(chosen == index)
            drawn = np.empty((variables, len(rows)), dtype=np.intp)
            component.network.fill(uniform.take(rows, axis=1), drawn)
            codes[:, rows] = drawn
        return Sample(codes.T, self.cards)

    def joint(self) -> FloatArray:
        """Return the probability of every joint configuration, an array of shape ``cards``."""
        total = np.zeros(self.cards)
        for component in self.components:
            total += component.network.joint(component.weight)
        return total

    def log_joint(self, codes: IntArray) -> FloatArray:
        """Return log P(attributes, class) for rows of attribute codes, shape (rows, classes)."""
        codes = check_codes(codes, self.cards[:-1], "attribute")
        logs = (c.network.log_joint(codes, c.weight) for c in self.components)
        # row by row in memory, as sums over classes are taken
        return np.logaddexp.reduce([*map(np.ascontiguousarray, logs)], axis=0)

    def posterior(self, codes: IntArray) -> FloatArray:
        """Return the true P(class | attributes) for rows of attribute codes, shape (rows, classes).

        For attributes of probability 0 the class prior is returned.
        """
        log_joint = self.log_joint(codes)
        impossible = np.isneginf(log_joint.max(axis=1))
        if impossible.any():
            with np.errstate(divide="ignore"):
                log_joint[impossible] = np.log(self.class_prior())
        scaled = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
        posterior: FloatArray = scaled / scaled.sum(axis=1, keepdims=True)
        return posterior

    def class_prior(self) -> FloatArray:
        """Return the true marginal P(class)."""
        return self.marginal(len(self.cards) - 1)

    def marginal(self, variable: int) -> FloatArray:
        """Return the true marginal of a variable."""
        if all(component.parents[variable] == () for component in self.components):
            return np.sum([c.weight * c.cpts[variable] for c in self.components], axis=0)
        return np.sum([c.weight * c.network.marginal((variable,)) for c in self.components], axis=0)

    def partial_posterior(self, codes: IntArray) -> FloatArray:
        """Return P(class | attributes seen) for rows of attribute codes, −1 where not seen.

        By variable elimination. For what has probability 0 the class prior is returned.
        """
        target, components = len(self.cards) - 1, self.components
        posteriors = [c.network.posteriors(target, codes) for c in components]
        posterior = posteriors[0]
        if len(components) > 1:
            evidence = np.insert(codes, target, -1, axis=1)
            with np.errstate(divide="ignore", invalid="ignore"):
                logs = [np.log(c.weight) + c.network.log_evidence(evidence) for c in components]
                shares = np.exp(logs - np.max(logs, axis=0))[..., None]
                posterior = (np.nan_to_num(posteriors) * shares).sum(0) / shares.sum(0)
        impossible = np.isnan(posterior).any(axis=1)
        posterior[impossible] = self.class_prior()
        return posterior

    def to_pgmpy(self) -> DiscreteBayesianNetwork | list[tuple[float, DiscreteBayesianNetwork]]:
        """Return a pgmpy network with its CPDs; for a mixture, a list of (weight, network)."""
        networks = [(c.weight, c.network.to_pgmpy(self.names)) for c in self.components]
        return networks if len(networks) > 1 else networks[0][1]

    def to_xmlbif(self, path: str | Path) -> list[Path]:
        """Write XMLBIF and return the files written.

        A mixture is written as one file per component, ``name_0.xml``, ``name_1.xml``, …, with
        the component's weight in the name of the network.
        """
        from simstudy.networks.xmlbif import write_xmlbif

        path, files = Path(path), []
        for index, component in enumerate(self.components):
            number = f"_{index}" if len(self.components) > 1 else ""
            title = f"{path.stem}, weight {component.weight!r}"
            network = Network(component.parents, component.cpts, self.names, title=title)
            files.append(path.with_name(f"{path.stem}{number}{path.suffix}"))
            write_xmlbif(network, files[-1])
        return files

    def to_json(self) -> str:
        """Return the model as JSON text, at full precision."""
        components = [
            {"weight": c.weight, "parents": c.parents, "cpts": [cpt.tolist() for cpt in c.cpts]}
            for c in self.components
        ]
        return json.dumps({"cards": self.cards, "names": self.names, "components": components})
