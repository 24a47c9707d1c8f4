"""Message length of a decision tree or graph, and of the classes of the rows given it.

The receiver knows the attributes of all rows and the number of values of each variable. All
lengths are in nits: an event of probability p costs −ln p.

**A tree** (Wallace & Patrick 1993) is encoded from its root, branch by branch.

- A node whose parent has b branches is a leaf with probability (b − 1)/b and a split with
  probability 1/b, the shares of leaves and splits among the nodes of large b-ary trees.
- The root is a leaf with probability 1/a for a attributes: with more attributes it is likelier
  that one is useful (Wallace & Patrick 1993). With a single attribute, where this would forbid a
  split, leaf and split have probability 1/2 each.
- A split names its attribute among the m that can still take two or more values there: ln m. It
  has one branch for each of those values. Without such an attribute the node is a leaf and costs
  nothing.
- A leaf encodes the classes of its rows one by one, each with probability (n_c + α)/(n + kα)
  given the n rows encoded before, n_c of them of that class, and k classes. The sum is
  ln Γ(N + kα) − ln Γ(kα) − Σ_c [ln Γ(N_c + α) − ln Γ(α)], independent of the order of the rows. A
  leaf without rows costs nothing more and predicts all classes with equal probability.

The probabilities of all trees sum to one.

**A graph** (Oliver, Dowe & Wallace 1992; Oliver 1993) is a tree whose branches may join. Its first
tree is encoded as above, with a provisional leaf at the end of every branch that will join. Rounds
of joins follow. Each takes the L current leaves, in the order of encoding:

- J, the reduction of the number of leaves by joining, has probability 2^−J, J ≥ 1;
- the partition of the L leaves into L − J groups costs ln S(L, L − J), a Stirling number of the
  second kind;
- every group of two or more is a new node, to which its branches lead: a leaf or a split with
  probability 1/2 each; below a split a tree is encoded as above. At the new node an attribute can
  take every value that it can take at a leaf of the group;
- one bit states whether another round follows. Leaves that were not joined remain leaves.

A bit for whether there are joins at all would be common to all trees and graphs. It is omitted, so
that a graph without joins costs as much as the tree. Each step can be decoded before the next. The
probabilities sum to less than one only because J < L, and because a graph can be encoded in other
rounds than those counted here: each join in the first round in which all its leaves exist.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import gammaln

from simstudy.arrays import BoolArray, FloatArray, IntArray
from simstudy.data.attribute_arrays import attribute_codes
from simstudy.data.value_layout import SlotLayout
from simstudy.learners.base import Described
from simstudy.texts import counted

BIT = math.log(2)
_MANY = 1000
# Cost of stating leaf or split at a joined node.
AT_JOIN = (BIT, BIT)


def data_length(counts: FloatArray, alpha: float) -> FloatArray:
    """Return the nits to encode the classes of the rows of leaves, counted on the last axis."""
    classes = counts.shape[-1]
    # Class by class: long vectors are fastest.
    length = _log_rising(counts.sum(axis=-1), classes * alpha)
    for label in range(classes):
        length -= _log_rising(counts[..., label], alpha)
    return length


def _log_rising(counts: FloatArray, start: float) -> FloatArray:
    """Return ln Γ(n + start) − ln Γ(start), by lookup for many integer counts."""
    if counts.size > _MANY and counts.max() < counts.size:
        whole = counts.astype(np.intp)
        if (whole == counts).all():
            table: FloatArray = gammaln(np.arange(whole.max() + 1) + start) - gammaln(start)
            return table[whole]
    return np.asarray(gammaln(counts + start) - gammaln(start))


def below(branches: int) -> tuple[float, float]:
    """Return the nits to state leaf, or split, under a node with this many branches."""
    return math.log(branches / (branches - 1)), math.log(branches)


def at_root(attributes: int) -> tuple[float, float]:
    """Return the nits to state leaf, or split, at the root of a tree over these attributes."""
    choices = max(attributes, 2)
    return math.log(choices), math.log(choices / (choices - 1))


def log_partitions(items: int, groups: int) -> float:
    """Return ln S(items, groups), the log number of partitions of items into groups."""
    return float(_log_stirling(max(64, 1 << (items - 1).bit_length()))[items][groups])


@lru_cache(maxsize=2)
def _log_stirling(limit: int) -> list[FloatArray]:
    """Return ln S(n, 0), …, ln S(n, n) for every n up to the limit."""
    rows = [np.zeros(1)]
    for n in range(1, limit + 1):
        row = np.full(n + 1, -np.inf)
        row[1:] = rows[-1]  # the last item alone
        more = np.log(np.arange(1, n)) + rows[-1][1:]  # or in one of the existing groups
        row[1:n] = np.logaddexp(row[1:n], more)
        rows.append(row)
    return rows


def joins_length(leaves: IntArray, members: IntArray, groups: IntArray) -> float:
    """Return the nits to encode which leaves join.

    Parameters
    ----------
    leaves : array
        Leaves of the trees encoded in each round; the first tree is round 0.
    members, groups : arrays
        Number of leaves joined in each round, and number of groups; 0 in round 0.
    """
    length, current = 0.0, 0
    for t in range(1, len(leaves)):
        current += int(leaves[t - 1]) - int(members[t - 1])
        merges = int(members[t]) - int(groups[t])
        length += merges * BIT + log_partitions(current, current - merges) + BIT
    return length


@dataclass(frozen=True)
class Costs:
    """The components of a message length.

    Attributes
    ----------
    nodes : array of shape (nodes,)
        Cost of each node: leaf or split, its attribute, the classes of its rows; for a joined
        node also the provisional leaves of its branches.
    rounds : array of shape (nodes,)
        The round in which the tree of each node is encoded.
    tally : tuple of three arrays of shape (rounds,)
        Arguments of `joins_length`.
    possible : array of shape (nodes, slots)
        Whether a value can occur at a node.
    available : array of shape (nodes,)
        Number of attributes that can still take two or more values.
    """

    nodes: FloatArray
    rounds: IntArray
    tally: tuple[IntArray, IntArray, IntArray]
    possible: BoolArray
    available: IntArray

    @property
    def total(self) -> float:
        return float(self.nodes.sum()) + joins_length(*self.tally)


@dataclass(eq=False, repr=False)
class DecisionGraph(Described):
    """A decision tree or graph with the class counts of its nodes.

    Attributes
    ----------
    attribute : array of shape (nodes,)
        The attribute tested at a node; −1 at a leaf. Node 0 is the root, and every node precedes
        its children.
    children : array of shape (nodes, values)
        The child for each value of the attribute; −1 for impossible values.
    counts : array of shape (nodes, classes)
        Rows of each class at a node.
    alpha : float
        Parameter of the Dirichlet prior of every leaf.
    """

    cards: tuple[int, ...]
    attribute: IntArray
    children: IntArray
    counts: FloatArray
    alpha: float

    def _facts(self) -> list[str]:
        joined = f", {len(self.joined)} joined" if len(self.joined) else ""
        leaves = counted(self.leaves, "leaf", "leaves")
        nodes = f"{counted(len(self.attribute), 'node')}{joined}"
        return [*super()._facts(), f"{leaves}, {nodes}, {self.message_length:.1f} nits"]

    @cached_property
    def _layout(self) -> SlotLayout:
        return SlotLayout(self.cards[:-1])

    @property
    def leaves(self) -> int:
        """The number of leaves."""
        return int((self.attribute < 0).sum())

    @cached_property
    def joined(self) -> IntArray:
        """The nodes with two or more incoming branches."""
        return np.flatnonzero(self.branches_into() > 1)

    @cached_property
    def message_length(self) -> float:
        """Total message length in nits: the graph, and the classes of the rows given it."""
        return self.costs().total

    @property
    def message(self) -> tuple[float, float]:
        """The two parts of the message in nits: the graph, and the classes given it."""
        data = float(data_length(self.counts[self.attribute < 0], self.alpha).sum())
        return self.message_length - data, data

    @cached_property
    def _proba(self) -> FloatArray:
        counts = self.counts + self.alpha
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    def predict_proba(self, codes: IntArray) -> FloatArray:
        """Return (n_c + α)/(N + kα) of the leaf of each row, shape (rows, classes)."""
        return self._proba[self.leaf_of(attribute_codes(codes, self.cards[:-1]))]

    def leaf_of(self, codes: IntArray, start: int = 0) -> IntArray:
        """Return the leaf of each row from a node down; −1 if its value has no branch."""
        node = np.full(len(codes), start, dtype=np.intp)
        going = np.flatnonzero(self.attribute[node] >= 0)
        while going.size:
            here = node[going]
            node[going] = here = self.children[here, codes[going, self.attribute[here]]]
            going = going[(here >= 0) & (self.attribute[here] >= 0)]
        return node

    def costs(self) -> Costs:
        """Return the components of the message length."""
        into = self.branches_into()
        possible, rounds = self._follow(into)
        varying = np.add.reduceat(possible, self._layout.starts, axis=1, dtype=np.intp) > 1
        available = varying.sum(axis=1)
        leaf = self.attribute < 0
        nodes = np.where(leaf, data_length(self.counts, self.alpha), np.log(available + leaf))
        parents, children = self.edges()
        labels = self.label_costs(available)[np.where(leaf | (into > 1), 0, 1)[children], parents]
        np.add.at(nodes, children, labels)
        for top in (0, *np.flatnonzero(into > 1).tolist()):
            if available[top]:
                here = AT_JOIN if top else at_root(int(available[0]))
                nodes[top] += here[0 if leaf[top] else 1]
        return Costs(nodes, rounds, self._tally(into, rounds), possible, available)

    def label_costs(self, available: IntArray) -> FloatArray:
        """Return the nits to state leaf (first row) or split (second) on each node's branches."""
        branches = (self.children >= 0).sum(axis=1)
        labels = np.zeros((2, len(branches)))
        for node in np.flatnonzero((branches > 0) & (available > 1)).tolist():
            labels[:, node] = below(int(branches[node]))
        return labels

    def branches_into(self) -> IntArray:
        """Return the number of branches into each node."""
        return np.bincount(self.children[self.children >= 0], minlength=len(self.attribute))

    def edges(self) -> tuple[IntArray, IntArray]:
        """Return the parent and child of every branch."""
        parents, values = np.nonzero(self.children >= 0)
        return parents, self.children[parents, values]

    def _follow(self, into: IntArray) -> tuple[BoolArray, IntArray]:
        """Return the values that can occur at each node, and the round in which it is encoded."""
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
        """Return the leaves encoded in each round, and the leaves and groups that it joins."""
        size = int(rounds.max()) + 1
        joined = into > 1
        # A leaf ends a branch of its tree, or is a tree by itself if it is joined; every branch
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
        """Append a node and its subtree, joined nodes by name only."""
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
