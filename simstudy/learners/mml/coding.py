"""The message that tells a decision tree or graph, and the classes of the rows given it.

The receiver knows the attributes of all rows, how many values each variable has, and how many
classes there are. All lengths are in nits: an event of probability p costs −ln p.

**A tree** (Wallace & Patrick 1993) is told from its root, branch after branch.

- A node whose parent has b branches is a leaf with probability (b − 1)/b and a split with
  probability 1/b, the shares of leaves and splits among the nodes of large b-ary trees.
- The root is a leaf with probability 1/a, a being the number of attributes: the more there are,
  the likelier that one is useful (Wallace & Patrick 1993). This would forbid a split on an only
  attribute; there leaf and split have probability 1/2 each.
- A split names its attribute among the m that can still take two or more values there: ln m. It
  has one branch for each of those values. Where there is no such attribute the node is a leaf
  and says nothing.
- A leaf tells the classes of its rows one by one, each with the probability (n_c + α)/(n + kα)
  from the n rows of the leaf told before, n_c of them of that class, among k classes. Together
  ln Γ(N + kα) − ln Γ(kα) − Σ_c [ln Γ(N_c + α) − ln Γ(α)], whatever the order of the rows. A leaf
  without rows costs nothing more, and predicts each class alike, as its formula says.

The probabilities of all trees sum to one.

**A graph** (Oliver, Dowe & Wallace 1992; Oliver 1993) is a tree whose branches may join. Its
first tree is told as above, every branch that will join ending in a leaf for the time being. Then
follow rounds of joins. Each takes the L leaves that there are now, in the order they were told:

- J, by how many joining lessens their number, has probability 2^−J, J ≥ 1;
- which of the partitions of the L leaves into L − J groups it is costs ln S(L, L − J), a Stirling
  number of the second kind;
- every group of two or more is a new node, to which its branches lead: a leaf or a split with
  probability 1/2 each; below a split a tree is told as above. An attribute can take at the new
  node every value that it can take at one of the leaves in the group;
- one bit says whether another round follows. Leaves that were not joined go on as leaves.

Whether there are joins at all would be one bit more, of every tree and of every graph. It is left
out of both, so that a graph without joins costs what the tree costs. A receiver can undo each of
these steps before the next; the probabilities sum to less than one only because J < L, and
because a graph can be told in other rounds than those counted here: each join in the first round
in which all its leaves are there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.sample import SlotLayout, check_codes

BIT = math.log(2)
_MANY = 1000
# What a joined node says, leaf or split.
AT_JOIN = (BIT, BIT)


def data_length(counts: FloatArray, alpha: float) -> FloatArray:
    """Nits to tell the classes of leaves' rows, counted along the last axis."""
    classes = counts.shape[-1]
    # One class after the other: long vectors are the fast way round.
    length = _log_rising(counts.sum(axis=-1), classes * alpha)
    for label in range(classes):
        length -= _log_rising(counts[..., label], alpha)
    return length


def _log_rising(counts: FloatArray, start: float) -> FloatArray:
    """ln Γ(n + s) − ln Γ(s), s for the start; whole numbers are looked up if there are many."""
    if counts.size > _MANY and counts.max() < counts.size:
        whole = counts.astype(np.intp)
        if (whole == counts).all():
            table: FloatArray = gammaln(np.arange(whole.max() + 1) + start) - gammaln(start)
            return table[whole]
    rising: FloatArray = gammaln(counts + start) - gammaln(start)
    return rising


def below(branches: int) -> tuple[float, float]:
    """Nits to say leaf, or split, under a node with this many branches."""
    return math.log(branches / (branches - 1)), math.log(branches)


def at_root(attributes: int) -> tuple[float, float]:
    """Nits to say leaf, or split, at the root of a tree over this many attributes."""
    choices = max(attributes, 2)
    return math.log(choices), math.log(choices / (choices - 1))


def log_partitions(items: int, groups: int) -> float:
    """ln S(items, groups): in how many ways items form that many groups."""
    limit = max(64, 1 << (items - 1).bit_length())
    return float(_log_stirling(limit)[items][groups])


@lru_cache(maxsize=2)
def _log_stirling(limit: int) -> list[FloatArray]:
    """ln S(n, 0), …, ln S(n, n) for every n up to the limit."""
    rows = [np.zeros(1)]
    for n in range(1, limit + 1):
        row = np.full(n + 1, -np.inf)
        row[1:] = rows[-1]  # the last item on its own
        more = np.log(np.arange(1, n)) + rows[-1][1:]  # or in one of the groups there are
        row[1:n] = np.logaddexp(row[1:n], more)
        rows.append(row)
    return rows


def joins_length(leaves: IntArray, members: IntArray, groups: IntArray) -> float:
    """Nits to tell which leaves join.

    Parameters
    ----------
    leaves : array
        Leaves of the trees that are told in each round, the first tree being round 0.
    members, groups : arrays
        How many leaves each round joins, and into how many groups; of round 0 none.
    """
    length, there = 0.0, 0
    for t in range(1, len(leaves)):
        there += int(leaves[t - 1]) - int(members[t - 1])
        merges = int(members[t]) - int(groups[t])
        length += merges * BIT + log_partitions(there, there - merges) + BIT
    return length


@dataclass(frozen=True)
class Costs:
    """A message, part by part.

    Attributes
    ----------
    nodes : array of shape (nodes,)
        What each node costs: leaf or split, its attribute, its rows' classes; for a joined node
        also that its branches end in leaves for the time being.
    rounds : array of shape (nodes,)
        The round in which the tree of each node is told.
    leaves, members, groups : arrays of shape (rounds,)
        As `joins_length` takes them.
    possible : array of shape (nodes, slots)
        Whether a value can occur at a node.
    available : array of shape (nodes,)
        How many attributes can still take two or more values.
    """

    nodes: FloatArray
    rounds: IntArray
    leaves: IntArray
    members: IntArray
    groups: IntArray
    possible: npt.NDArray[np.bool_]
    available: IntArray

    @property
    def total(self) -> float:
        return float(self.nodes.sum()) + joins_length(self.leaves, self.members, self.groups)


class DecisionGraph:
    """A decision tree or graph with the class counts of its nodes.

    Attributes
    ----------
    attribute : array of shape (nodes,)
        The attribute that a node tests; −1 at a leaf. Node 0 is the root, and every node comes
        before its children.
    children : array of shape (nodes, values)
        Where each value of the attribute leads; −1 where none can.
    counts : array of shape (nodes, classes)
        Rows of each class that come to a node.
    alpha : float
        Parameter of the Dirichlet prior of every leaf.
    """

    def __init__(
        self,
        cards: Sequence[int],
        attribute: IntArray,
        children: IntArray,
        counts: FloatArray,
        alpha: float,
    ) -> None:
        self._cards = tuple(cards)
        self.attribute = attribute
        self.children = children
        self.counts = counts
        self.alpha = alpha

    @cached_property
    def _layout(self) -> SlotLayout:
        return SlotLayout(self._cards[:-1])

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return int((self.attribute < 0).sum())

    @cached_property
    def joined(self) -> IntArray:
        """The nodes to which two or more branches lead."""
        return np.flatnonzero(self.branches_into() > 1)

    @cached_property
    def message_length(self) -> float:
        """Nits of the whole message: the graph, and the classes of the rows given it."""
        return self.costs().total

    @cached_property
    def _proba(self) -> FloatArray:
        counts = self.counts + self.alpha
        proba: FloatArray = counts / counts.sum(axis=1, keepdims=True)
        return proba

    def predict_proba(self, codes: IntArray) -> FloatArray:
        """(n_c + α)/(N + kα) of the leaf of each row, shape (rows, classes)."""
        return self._proba[self.leaf_of(check_codes(codes, self._cards[:-1], "attribute"))]

    def leaf_of(self, codes: IntArray) -> IntArray:
        """The node at which each row ends."""
        node = np.zeros(len(codes), dtype=np.intp)
        going = np.flatnonzero(self.attribute[node] >= 0)
        while going.size:
            here = node[going]
            node[going] = self.children[here, codes[going, self.attribute[here]]]
            going = going[self.attribute[node[going]] >= 0]
        return node

    def costs(self) -> Costs:
        """The message, part by part."""
        into = self.branches_into()
        possible, rounds = self._follow(into)
        varying = np.add.reduceat(possible, self._layout.starts, axis=1, dtype=np.intp) > 1
        available = varying.sum(axis=1)
        leaf = self.attribute < 0
        nodes = np.where(leaf, data_length(self.counts, self.alpha), np.log(available + leaf))
        parents, children = self.edges()
        says = self.says_below(available)[np.where(leaf | (into > 1), 0, 1)[children], parents]
        np.add.at(nodes, children, says)
        for told in (0, *np.flatnonzero(into > 1).tolist()):
            if available[told]:
                says_here = AT_JOIN if told else at_root(int(available[0]))
                nodes[told] += says_here[0 if leaf[told] else 1]
        return Costs(nodes, rounds, *self._tally(into, rounds), possible, available)

    def says_below(self, available: IntArray) -> FloatArray:
        """Nits to say leaf (first row) or split (second) on the branches of each node."""
        branches = (self.children >= 0).sum(axis=1)
        says = np.zeros((2, len(branches)))
        for node in np.flatnonzero((branches > 0) & (available > 1)).tolist():
            says[:, node] = below(int(branches[node]))
        return says

    def branches_into(self) -> IntArray:
        """How many branches lead to each node."""
        return np.bincount(self.children[self.children >= 0], minlength=len(self.attribute))

    def edges(self) -> tuple[IntArray, IntArray]:
        """Parent and child of every branch."""
        parents, values = np.nonzero(self.children >= 0)
        return parents, self.children[parents, values]

    def _follow(self, into: IntArray) -> tuple[npt.NDArray[np.bool_], IntArray]:
        """What values can occur at each node, and the round in which it is told."""
        possible = np.zeros((len(self.attribute), self._layout.size), dtype=np.bool_)
        possible[0] = True
        rounds = np.zeros(len(self.attribute), dtype=np.intp)
        for node in np.flatnonzero(self.attribute >= 0).tolist():
            span = self._layout.spans[self.attribute[node]]
            branch = possible[node].copy()
            branch[span] = False
            for value, child in enumerate(self.children[node].tolist()):
                if child >= 0:
                    possible[child] |= branch
                    possible[child, span.start + value] = True
                    rounds[child] = max(rounds[child], rounds[node] + (into[child] > 1))
        return possible, rounds

    def _tally(self, into: IntArray, rounds: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Leaves told in each round, and the leaves and groups that it joins."""
        size = int(rounds.max()) + 1
        joined = into > 1
        # A leaf ends a branch of its tree, or is a tree of its own if it is joined; every branch
        # into a joined node ends in a leaf of the tree above.
        parents, children = self.edges()
        leaves = np.bincount(rounds[self.attribute < 0], minlength=size)
        leaves += np.bincount(rounds[parents[joined[children]]], minlength=size)
        members = np.bincount(np.repeat(rounds[joined], into[joined]), minlength=size)
        return leaves, members, np.bincount(rounds[joined], minlength=size)

    def __str__(self) -> str:
        lines = [f"{self.message_length:.2f} nits"]
        names = {node: f"join {i + 1}" for i, node in enumerate(self.joined.tolist())}
        for top in (0, *self.joined.tolist()):
            self._write(top, f"{names[top]}: " if top else "", 0, names, lines)
        return "\n".join(lines)

    def _write(
        self, node: int, label: str, depth: int, names: dict[int, str], lines: list[str]
    ) -> None:
        """Append a node and what is below it, joined nodes by name only."""
        indent = "  " * depth
        if self.attribute[node] < 0:
            lines.append(f"{indent}{label}[{' '.join(f'{n:g}' for n in self.counts[node])}]")
            return
        lines.append(f"{indent}{label}x{self.attribute[node]}")
        for value in np.flatnonzero(self.children[node] >= 0).tolist():
            child = int(self.children[node, value])
            if child in names:
                lines.append(f"{indent}  {value}: → {names[child]}")
            else:
                self._write(child, f"{value}: ", depth + 1, names, lines)
