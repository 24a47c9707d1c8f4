"""Random networks: any directed acyclic graph within bounds, all equally likely."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simstudy.errors import require
from simstudy.networks.model import Model
from simstudy.sources.families.base import Family

_STEPS = 50  # of the chain, for each pair of variables


@dataclass(frozen=True)
class RandomDAGFamily(Family):
    """Random networks: all DAGs with bounded degrees are equally likely, the target anywhere.

    The graph is the last state of a Markov chain (Melançon, Dutour & Bousquet-Mélou 2001; Ide &
    Cozman 2002). A step chooses an ordered pair of variables at random: an arc between them is
    removed; a missing one is added unless it closes a cycle or exceeds a bound. Steps are as
    likely as their reversals, so that the limit is uniform; 50 steps are made for each pair.

    Parameters
    ----------
    in_degree : int >= 1
        Largest number of parents of a variable.
    degree : int >= 1, optional
        Largest number of parents and children of a variable together; by default any.

    References
    ----------
    J. S. Ide & F. G. Cozman (2002). Random generation of Bayesian networks. SBIA 2002, LNAI 2507.

    G. Melançon, I. Dutour & M. Bousquet-Mélou (2001). Random generation of directed acyclic
    graphs. Electronic Notes in Discrete Mathematics 10.
    """

    draws_trees = False

    in_degree: int = 3
    degree: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, bound in {"in_degree": self.in_degree, "degree": self.degree}.items():
            require(bound is None or bound >= 1, name, bound, "it must be at least 1")

    @property
    def max_parents(self) -> int:
        most = self.variables[1] - 1
        return min(self.in_degree, most, most if self.degree is None else self.degree)

    def draw(self, rng: np.random.Generator) -> Model:
        cards = self.draw_cards(rng)
        return self.draw_model(rng, cards, random_dag(len(cards), self.in_degree, self.degree, rng))


def random_dag(
    variables: int, in_degree: int, degree: int | None, rng: np.random.Generator
) -> list[list[int]]:
    """Return the parents of each variable in a uniformly random DAG within the bounds."""
    most = variables if degree is None else degree
    parents, degrees = [0] * variables, [0] * variables
    pairs = rng.integers(variables * (variables - 1), size=_STEPS * variables * (variables - 1))
    for pair in pairs.tolist():
        u, v = divmod(pair, variables - 1)
        v += v >= u
        change = -1 if parents[v] >> u & 1 else 1
        room = parents[v].bit_count() < in_degree and degrees[u] < most > degrees[v]
        if change > 0 and (not room or _is_ancestor(v, u, parents)):
            continue
        parents[v] ^= 1 << u
        degrees[u] += change
        degrees[v] += change
    return [[u for u in range(variables) if mask >> u & 1] for mask in parents]


def _is_ancestor(v: int, u: int, parents: list[int]) -> bool:
    """Whether v is an ancestor of u."""
    ancestors = waiting = parents[u]
    while waiting:
        lowest = waiting & -waiting
        new = parents[lowest.bit_length() - 1] & ~ancestors
        ancestors |= new
        waiting = (waiting ^ lowest) | new
    return bool(ancestors >> v & 1)
