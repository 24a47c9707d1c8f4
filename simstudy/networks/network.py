"""Bayesian networks: one class for those of families, of learners and of files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from simstudy.arrays import ArrayLike, FloatArray, IntArray
from simstudy.data.attribute_arrays import attribute_codes
from simstudy.data.sample import Sample
from simstudy.data.schema import Schema, Variable
from simstudy.errors import suggestion
from simstudy.networks import elimination
from simstudy.networks.evaluation import LogTables, log_tables, on_all_axes, product_on_grid
from simstudy.texts import arc_text, counted, summary

if TYPE_CHECKING:
    from pgmpy.models import DiscreteBayesianNetwork

    from simstudy.networks.model import Model

Parents: TypeAlias = tuple[tuple[int, ...], ...]  # of each variable


class Network:
    """A Bayesian network of nominal variables.

    Parameters
    ----------
    parents : sequence of sequences of int
        The parents of each variable.
    cpts : sequence of arrays
        The conditional probability table of each variable: one axis per parent in the order of
        ``parents``, then one for the variable itself, along which it sums to one.
    names : sequence of str, optional
        Names of the variables; by default x0, x1, … and y for the last.
    states : sequence of sequences of str, optional
        Names of the values of each variable; by default 0, 1, 2, …
    title : str, optional
        A name of the network.

    Attributes
    ----------
    cards : tuple of int
        The number of values of each variable.
    """

    parents: tuple[tuple[int, ...], ...]
    cards: tuple[int, ...]
    title: str = ""

    def __init__(
        self,
        parents: Sequence[Sequence[int]],
        cpts: Sequence[ArrayLike],
        names: Sequence[str] | None = None,
        states: Sequence[Sequence[str]] | None = None,
        title: str = "",
    ) -> None:
        self.parents = tuple(tuple(int(p) for p in those) for those in parents)
        self.cpts = tuple(np.asarray(cpt, dtype=np.float64) for cpt in cpts)
        self.title = title
        self.cards = tuple(cpt.shape[-1] if cpt.ndim else 0 for cpt in self.cpts)
        if names is not None:
            self.names = tuple(names)
        if states is not None:
            self.states = tuple(map(tuple, states))
        check_names(self.names, self.cards)
        check_tables(self.cards, self.parents, self.cpts, self.names)
        if len(self.states) != len(self.cards):
            raise ValueError(f"{len(self.cards)} variables need the names of their values")
        for name, values, card in zip(self.names, self.states, self.cards, strict=True):
            if len(values) != card or len({*values}) != card:
                raise ValueError(f"the {card} values of '{name}' need as many different names")

    @classmethod
    def trusted(cls, parents: Parents, cpts: tuple[FloatArray, ...]) -> Network:
        """Make a network of tables that were checked before."""
        made = cls.__new__(cls)
        made.parents, made.cpts = parents, cpts
        made.cards = tuple(cpt.shape[-1] for cpt in cpts)
        return made

    @cached_property
    def cpts(self) -> tuple[FloatArray, ...]:
        """The conditional probability tables, exp(log P)."""
        return tuple(np.exp(table) for table in self.log_tables)

    @cached_property
    def log_tables(self) -> Sequence[FloatArray]:
        """log P(v | parents) of every variable, with the axes of `axes`."""
        with np.errstate(divide="ignore"):
            return [np.log(cpt) for cpt in self.cpts]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the variables."""
        return tuple(variable_names(len(self.cards)))

    @cached_property
    def states(self) -> tuple[tuple[str, ...], ...]:
        """The names of the values of each variable."""
        return tuple(tuple(map(str, range(card))) for card in self.cards)

    def __repr__(self) -> str:
        arcs = arc_text(self.parents, self.names)
        return summary(self, counted(len(self.cards), "variable"), arcs)

    # -- structure ------------------------------------------------------------------------------

    @cached_property
    def axes(self) -> list[tuple[int, ...]]:
        """The axes of every variable's table: its parents, then itself."""
        return [(*parents, v) for v, parents in enumerate(self.parents)]

    def index(self, name: str | int) -> int:
        """Return the number of a variable, given its name or its number."""
        if isinstance(name, str):
            if name not in self._places:
                raise ValueError(f"no variable is named '{name}'{suggestion(name, self.names)}")
            return self._places[name]
        if not 0 <= name < len(self.cards):
            raise ValueError(f"variables go from 0 to {len(self.cards) - 1}; {name} is not one")
        return int(name)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: v for v, name in enumerate(self.names)}

    def ancestors(self, variables: Iterable[int]) -> tuple[int, ...]:
        """Return variables with all their ancestors, in order."""
        mask = 0
        for v in variables:
            mask |= self._ancestors[v]
        return elimination.members(mask)

    @cached_property
    def _ancestors(self) -> list[int]:
        """Every variable with its ancestors, as bit masks."""
        masks, before = [1 << v for v in range(len(self.parents))], [0]
        while masks != before:  # which takes a fraction of the time of a topological order
            before = masks.copy()
            for v, parents in enumerate(self.parents):
                for u in parents:
                    masks[v] |= masks[u]
        return masks

    # -- probabilities --------------------------------------------------------------------------

    @cached_property
    def _lookup(self) -> LogTables:
        return log_tables(self.parents, self.log_tables, self.cards)

    def log_joint(self, codes: IntArray, weight: float = 1.0) -> FloatArray:
        """Return log P(others, last variable) for rows of the others, shape (rows, its values).

        A ``weight`` of the network in a mixture multiplies the probabilities.
        """
        with np.errstate(divide="ignore"):
            return self._lookup.log_joint(codes, float(np.log(weight)))

    def joint(self, weight: float = 1.0) -> FloatArray:
        """Return the probability of every joint configuration, an array of shape ``cards``."""
        product = np.full(self.cards, weight)
        for axes, cpt in zip(self.axes, self.cpts, strict=True):
            product *= on_all_axes(cpt, axes, self.cards)
        return product

    def log_density(self) -> FloatArray:
        """Return log P of every joint configuration, flattened."""
        total = np.zeros(self.cards)
        for axes, table in zip(self.axes, self.log_tables, strict=True):
            total += on_all_axes(table, axes, self.cards)
        return total.ravel()

    def joint_grid(self) -> FloatArray:
        """Return the joint with all configurations of the others flattened, the last one first.

        Its shape is (values of the last variable, configurations).
        """
        target, factors = len(self.cards) - 1, []
        for axes, cpt in zip(self.axes, self.cpts, strict=True):
            order = [i for _, _, i in sorted((u != target, u, i) for i, u in enumerate(axes))]
            table = cpt.transpose(order)
            scope = tuple(axes[i] for i in order if axes[i] != target)
            factors.append((scope, table if target in axes else table[None]))
        return product_on_grid(self.cards, factors)

    def marginal(self, wanted: Sequence[int]) -> FloatArray:
        """Return the marginal of some variables, axes in the given order, by elimination."""
        return elimination.marginal(self, tuple(wanted))

    def posteriors(self, target: str | int, rows: Sample | ArrayLike) -> FloatArray:
        """Return P(target | evidence) of each row, shape (rows, values of the target).

        Parameters
        ----------
        target : str or int
            The query variable.
        rows : Sample or array of shape (rows, variables)
            Codes of all variables in the order of the network; −1 or NaN is not observed. What
            the column of the target holds is ignored; an array may lack it. The columns of a
            sample with names are found by their names.

        Returns
        -------
        array of shape (rows, values)
            NaN in rows whose observations are impossible.
        """
        v = self.index(target)
        codes = self._codes(rows, v)
        codes[:, v] = -1
        return elimination.posteriors(self, v, codes)[0]

    def log_evidence(self, rows: Sample | ArrayLike) -> FloatArray:
        """Return log P(evidence) of each row; rows as for `posteriors`."""
        codes = self._codes(rows, None)
        return elimination.posteriors(self, None, codes)[1]

    def posterior(self, target: str | int, evidence: Mapping[str, str]) -> dict[str, float]:
        """Return P(target | evidence) by the names of its values.

        All are NaN if the evidence is impossible.
        """
        v = self.index(target)
        codes = np.full((1, len(self.cards)), -1)
        for name, value in evidence.items():
            u = self.index(name)
            if u == v:
                raise ValueError(f"'{name}' is the target; it cannot be observed as well")
            self._check_values(u, [value])
            codes[0, u] = self.states[u].index(value)
        posterior = elimination.posteriors(self, v, codes)[0][0]
        return dict(zip(self.states[v], posterior.tolist(), strict=True))

    def _check_values(self, v: int, values: Iterable[str]) -> None:
        for value in values:
            if value not in self.states[v]:
                near = suggestion(str(value), self.states[v])
                raise ValueError(f"'{self.names[v]}' has no value '{value}'{near}")

    def _codes(self, rows: Sample | ArrayLike, target: int | None) -> IntArray:
        """Return a copy of rows as codes of all variables, −1 where a value is not observed."""
        if isinstance(rows, Sample):
            if rows.declared is not None and rows.declared != self.schema:
                return self._matched(rows.declared, rows.codes)
            if rows.cards != self.cards:
                cards = f"{rows.cards} values, the network's have {self.cards}"
                raise ValueError(f"the rows have variables of {cards}")
            return rows.codes.copy(order="F")
        table = np.asarray(rows)
        if target is not None and table.ndim == 2:  # what the column of the target holds is ignored
            table = table.astype(np.float64 if table.dtype.kind == "O" else table.dtype)
            if table.shape[1] == len(self.cards) - 1:
                table = np.insert(table, target, 0, axis=1)
            elif table.shape[1] == len(self.cards):
                table[:, target] = 0
        return attribute_codes(table, self.cards, missing=True).copy(order="F")

    @cached_property
    def schema(self) -> Schema:
        """The names and values of the variables."""
        return Schema(tuple(map(Variable, self.names, self.states)))

    def _matched(self, schema: Schema, rows: IntArray) -> IntArray:
        """Return the codes of rows with another order of variables or values, or fewer."""
        codes = np.full((len(rows), len(self.cards)), -1, order="F")
        for column, variable in enumerate(schema.variables):
            v = self.index(variable.name)
            if variable.values is None:
                raise ValueError(f"'{variable.name}' is numeric, and a network's are nominal")
            self._check_values(v, variable.values)
            places = np.array([*map(self.states[v].index, variable.values), -1])
            codes[:, v] = places[rows[:, column]]  # −1 stays −1
        return codes

    # -- rows -----------------------------------------------------------------------------------

    def sample(self, n: int, rng: np.random.Generator) -> Sample:
        """Draw ``n`` rows of all variables; a longer draw starts with the same rows."""
        uniform = np.ascontiguousarray(rng.random((n, len(self.cards))).T)
        codes = np.empty((len(self.cards), n), dtype=np.intp)
        self.fill(uniform, codes)
        drawn = Sample(codes.T, self.cards)
        if "names" in self.__dict__ or "states" in self.__dict__:
            drawn.declared = self.schema
        return drawn

    def fill(self, uniform: FloatArray, codes: IntArray) -> None:
        """Fill ``codes``, one row per variable, by inverse transform sampling."""
        for v in topological_order(self.parents):
            bounds, parents = self.bounds[v], self.parents[v]
            if parents:
                place = codes[parents[0]]
                for parent in parents[1:]:
                    place = place * self.cards[parent] + codes[parent]
                bounds = bounds.take(place, axis=1)
            above = (uniform[v] >= bounds).view(np.uint8)  # small integers add fastest
            codes[v] = above.sum(axis=0, dtype=np.min_scalar_type(len(bounds)))

    @cached_property
    def bounds(self) -> tuple[FloatArray, ...]:
        """Cumulative probabilities of each variable, one column per parent configuration.

        The last value takes the remainder, so a cumulative sum just below one is harmless.
        """
        sums = [np.cumsum(cpt, axis=-1).reshape(-1, cpt.shape[-1])[:, :-1] for cpt in self.cpts]
        return tuple(np.ascontiguousarray(table.T) for table in sums)

    # -- other forms ----------------------------------------------------------------------------

    def with_tables(self, cpts: Sequence[ArrayLike]) -> Network:
        """Return a network with the same variables and arcs and other tables."""
        return Network(self.parents, cpts, self.names, self.states, self.title)

    def reordered(self, variables: Sequence[str | int]) -> Network:
        """Return the same network with its variables in another order."""
        order = [self.index(name) for name in variables]
        if sorted(order) != list(range(len(self.cards))):
            raise ValueError("every variable of the network must be named once")
        parents = [[order.index(p) for p in self.parents[v]] for v in order]
        cpts, names = [self.cpts[v] for v in order], [self.names[v] for v in order]
        return Network(parents, cpts, names, [self.states[v] for v in order], self.title)

    def model(self, target: str | int) -> Model:
        """Return the network as a model of this target: the other variables are attributes."""
        from simstudy.networks.model import Component, Model

        v = self.index(target)
        ordered = self.reordered([*(u for u in range(len(self.cards)) if u != v), v])
        component = Component(1.0, ordered.parents, ordered.cpts)
        return Model(ordered.cards, [component], ordered.names)

    def to_pgmpy(self, names: Sequence[str] | None = None) -> DiscreteBayesianNetwork:
        """Return the network with its tables as a pgmpy network."""
        from simstudy.networks.exchange import to_pgmpy

        return to_pgmpy(self, names)

    @classmethod
    def from_pgmpy(cls, network: DiscreteBayesianNetwork) -> Network:
        """Return a pgmpy network, with its nodes in their order."""
        from simstudy.networks.exchange import from_pgmpy

        return from_pgmpy(network)


def variable_names(variables: int) -> list[str]:
    """Return the default names: x0, x1, … and y for the target."""
    return [*(f"x{i}" for i in range(variables - 1)), "y"]


@lru_cache(maxsize=1024)
def topological_order(parents: Parents) -> tuple[int, ...]:
    """Return the variables, parents first; cached, as many models share their arcs."""
    try:
        return tuple(TopologicalSorter(dict(enumerate(parents))).static_order())
    except CycleError as error:
        raise ValueError(f"the parents {parents} form a cycle") from error


def check_names(names: Sequence[str], cards: Sequence[int]) -> None:
    """Raise a ValueError unless the variables have different names."""
    if len(names) != len(cards) or len(set(names)) != len(names):
        raise ValueError(f"{len(cards)} variables need as many different names")


def check_tables(
    cards: Sequence[int], parents: Parents, cpts: Sequence[FloatArray], names: Sequence[str]
) -> None:
    """Raise a ValueError unless the tables make a Bayesian network."""
    if not len(parents) == len(cpts) == len(cards):
        raise ValueError("a component needs parents and a CPT for every variable")
    for v, cpt in enumerate(cpts):
        inside = all(0 <= p < len(cards) for p in parents[v])
        if not inside or len({*parents[v], v}) != len(parents[v]) + 1:
            rule = f"different other variables from 0 to {len(cards) - 1}"
            raise ValueError(f"the parents of {names[v]} must be {rule}; they are {parents[v]}")
        shape = (*(cards[p] for p in parents[v]), cards[v])
        if cpt.shape != shape:
            raise ValueError(f"the CPT of {names[v]} has shape {cpt.shape}, not {shape}")
        if not (cpt.min() >= 0 and np.abs(cpt.sum(axis=-1) - 1).max() <= 1e-9):
            raise ValueError(f"a row of the CPT of {names[v]} is not a distribution")
    topological_order(parents)  # raises an error for cycles
