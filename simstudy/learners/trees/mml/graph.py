"""Decision graphs by minimum message length.

Oliver, Dowe & Wallace (1992), Oliver (1993); encoding in `simstudy.learners.trees.mml.coding`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simstudy.arrays import BoolArray, FloatArray, IntArray, weights_in
from simstudy.data.sample import Sample
from simstudy.learners.trees.mml import coding
from simstudy.learners.trees.mml.tree import MMLTree, Node, Rows, ordered, pack, shortest_tree

# The message length is computed for this many of the most promising pairs of nodes.
_TRIALS = 8
# Below a joined node the search is exhaustive up to this many cells.
_EXACT_CELLS = 20_000
# Maximum number of counts in the estimates for single splits.
_SCREENED_COUNTS = 500_000
# Minimum relative saving of a join, above rounding error.
_TIE = 1e-10


@dataclass(frozen=True)
class MMLGraph(MMLTree):
    """Decision graph (a tree with joined branches) by minimum message length (Oliver 1993).

    The search starts from the tree of `MMLTree` and joins nodes while that shortens the message,
    always the pair with the largest saving. Two nodes, neither an ancestor of the other, become
    one, and the tree below it is searched again for the rows of both. Only the most promising
    pairs by a cheaper estimate are evaluated. The message is never longer than the tree's.

    Parameters
    ----------
    alpha : float > 0
        Dirichlet parameter of the class probabilities in every leaf.

    References
    ----------
    J. J. Oliver (1993). Decision graphs: an extension of decision trees. AI & Statistics 1993.
    """

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> coding.DecisionGraph:
        search = _Search(sample.distinct, self.root(sample), self.alpha)
        while search.join():
            pass
        return search.graph


class _Search:
    """A graph under construction, and the search for nodes to join."""

    def __init__(self, sample: Sample, root: Node, alpha: float) -> None:
        self._sample, self._root, self._alpha = sample, root, alpha
        self._below: dict[frozenset[Node], Node] = {}
        self._look()

    def _look(self) -> None:
        """Update the derived arrays of the current graph."""
        self._nodes = ordered(self._root)
        self.graph = pack(self._nodes, self._sample.cards, self._alpha)
        self._costs = self.graph.costs()
        self._paths = self._passing()
        self._into: list[list[tuple[Node, int]]] = [[] for _ in self._nodes]
        for node, children in zip(self._nodes, self.graph.children, strict=True):
            for value in node.branches:
                self._into[children[value]].append((node, value))

    def _passing(self) -> BoolArray:
        """Return which rows pass through each node, shape (nodes, rows)."""
        through = np.zeros((len(self._nodes), len(self._sample)), dtype=np.bool_)
        through[0] = True
        for node, children in enumerate(self.graph.children):
            if self.graph.attribute[node] >= 0:
                column = self._sample.codes[:, self.graph.attribute[node]]
                for value in np.flatnonzero(children >= 0):
                    through[children[value]] |= through[node] & (column == value)
        return through

    def join(self) -> bool:
        """Join the best pair of nodes; False if none shortens the message."""
        shortest, best = self._costs.total * (1 - _TIE), None
        for pair in self._promising():
            length = self._with_join(pair)
            if length < shortest:
                shortest, best = length, pair
        if best is None:
            return False
        self._lead(best, self._joined(best))
        self._look()
        return True

    def _joined(self, pair: tuple[int, int]) -> Node:
        """Return one node for two, with the shortest tree for the rows of both."""
        u, v = pair
        key = frozenset((self._nodes[u], self._nodes[v]))
        if key not in self._below:
            possible = self._costs.possible[u] | self._costs.possible[v]
            rows = Rows.of(self._sample, self._paths[u] | self._paths[v], possible)
            self._below[key] = shortest_tree(rows, self._alpha, coding.AT_JOIN, _EXACT_CELLS)
        return self._below[key]

    def _lead(self, pair: tuple[int, int], to: Node | None) -> None:
        """Redirect the branches into a pair of nodes to another; None restores them."""
        for number in pair:
            for parent, value in self._into[number]:
                parent.branches[value] = self._nodes[number] if to is None else to

    def _with_join(self, pair: tuple[int, int]) -> float:
        """Return the message length if a pair were joined."""
        self._lead(pair, self._joined(pair))
        graph = pack(ordered(self._root), self._sample.cards, self._alpha)
        self._lead(pair, None)
        return graph.message_length

    def _promising(self) -> list[tuple[int, int]]:
        """Return the pairs with the largest estimated savings, best first."""
        reach = self._reach()
        first, second = np.nonzero(np.triu(~(reach | reach.T) & self._closed(reach), 1))
        if not first.size:
            return []
        visits = np.nonzero(self._paths)
        promise = _Promise(self._sample, self.graph, self._costs, visits, reach)
        best = np.argsort(-promise.saving(first, second), kind="stable")[:_TRIALS]
        return list(zip(first[best].tolist(), second[best].tolist(), strict=True))

    def _reach(self) -> BoolArray:
        """Return which nodes are at or below each node."""
        reach = np.eye(len(self._nodes), dtype=np.bool_)
        for node in range(len(self._nodes) - 1, -1, -1):
            for child in self.graph.children[node].tolist():
                if child >= 0:
                    reach[node] |= reach[child]
        return reach

    def _closed(self, reach: BoolArray) -> BoolArray:
        """Return whether the nodes below a pair are reached only through it and can be replaced."""
        parents, children = self.graph.edges()
        joins = self.graph.branches_into()[children] > 1
        outside = ~reach[:, parents[joins]]  # the branch comes from elsewhere
        below_it = reach[:, children[joins]] & (np.arange(len(reach))[:, None] != children[joins])
        stray = (below_it & outside).astype(np.float64) @ outside.T > 0
        return np.asarray(~(stray | stray.T))


@dataclass(frozen=True)
class _Promise:
    """Estimated saving of joining each pair of nodes.

    The joined node is taken as a leaf, as a single split, or with the subtree of one of the two.
    The cost of stating which leaves join assumes that nothing else in the graph changes.
    """

    _sample: Sample
    _graph: coding.DecisionGraph
    _costs: coding.Costs
    _visits: tuple[IntArray, ...]  # the node and the row of each pass of a row through a node
    _reach: BoolArray

    @property
    def _size(self) -> int:
        return len(self._reach)

    def saving(self, first: IntArray, second: IntArray) -> FloatArray:
        """Return the estimated saving of joining each pair, in nits."""
        counts = self._graph.counts
        length = coding.data_length(counts[first] + counts[second], self._graph.alpha)
        subtree = self._with_subtrees()
        length = np.minimum(length, np.minimum(subtree[first, second], subtree[second, first]))
        removed = self._reach @ self._costs.nodes - self._ends()
        fixed = removed[first] + removed[second] - coding.BIT - self._joins(first, second)
        affordable = 1 + _SCREENED_COUNTS // (self._sample.layout.size * self._sample.classes)
        few = np.argsort(length - fixed, kind="stable")[:affordable]
        length[few] = np.minimum(length[few], self._with_one_split(first[few], second[few]))
        return np.asarray(fixed - length)

    def _count(self, place: IntArray, width: int) -> FloatArray:
        """Count rows at each node by index and class; one index per visit, or several."""
        nodes, rows = self._visits
        classes = self._sample.classes
        flat = (nodes * width + place) * classes + self._sample.target[rows]
        assert self._sample.weights is not None
        weights = np.broadcast_to(self._sample.weights[rows], flat.shape).ravel()
        cells = self._size * width * classes
        return weights_in(flat.ravel(), weights, cells).reshape(-1, width, classes)

    def _with_one_split(self, first: IntArray, second: IntArray) -> FloatArray:
        """Return the nits to encode the rows of each pair after the best single split."""
        layout = self._sample.layout
        slots = layout.slots(self._sample.attributes.T)[:, self._visits[1]]
        tables = self._count(slots, layout.size)
        length = coding.data_length(tables[first] + tables[second], self._graph.alpha)
        possible = self._costs.possible[first] | self._costs.possible[second]
        branches = np.add.reduceat(possible, layout.starts, axis=1, dtype=np.float64)
        varying = branches > 1
        many, available = np.maximum(branches, 2.0), varying.sum(axis=1, keepdims=True)
        labels = branches * np.log(many / (many - 1)) + np.log(np.maximum(available, 1))
        totals = np.add.reduceat(length, layout.starts, axis=1) + labels
        return np.asarray(np.where(varying, totals, np.inf).min(axis=1))

    def _with_subtrees(self) -> FloatArray:
        """Return the nits if the rows of two nodes, by row and column, used the first's subtree."""
        length = np.full((self._size, self._size), np.inf)
        data = coding.data_length(self._graph.counts, self._graph.alpha)
        leaf_costs = np.where(self._graph.attribute < 0, data, 0.0)
        structure = self._reach @ (self._costs.nodes - leaf_costs) - self._costs.nodes
        for node in np.flatnonzero(self._graph.attribute >= 0).tolist():
            ends = self._graph.leaf_of(self._sample.codes, node)
            places, rank = np.unique(ends, return_inverse=True)
            tables = self._count(rank.reshape(-1)[self._visits[1]], len(places))
            both = coding.data_length(tables + tables[node], self._graph.alpha).sum(axis=1)
            length[node] = both + structure[node] + np.log(self._costs.available[node])
        return length

    def _ends(self) -> FloatArray:
        """Return the nits to state that the branches into each node end in leaves."""
        parents, children = self._graph.edges()
        labels = self._graph.label_costs(self._costs.available)[0, parents]
        return weights_in(children, labels, self._size)

    def _joins(self, first: IntArray, second: IntArray) -> FloatArray:
        """Return the nits to state that one more pair joins."""
        joined = np.zeros(self._size, dtype=np.intp)
        joined[self._graph.joined] = 1
        turns = self._costs.rounds - joined
        turn = 1 + np.maximum(turns[first], turns[second])
        # Two leaves form a group, a leaf enters a group, or two groups merge.
        kinds = ((2, 1), (1, 0), (0, -1))
        table = [[self._extra(t, *kind) for kind in kinds] for t in range(turn.max() + 1)]
        return np.array(table)[turn, joined[first] + joined[second]]

    def _extra(self, turn: int, members: int, groups: int) -> float:
        """Return the cost in nits of additional leaves and groups in one round."""
        leaves, joined, nodes = (np.append(part, 0) for part in self._costs.tally)
        joined[turn] += members
        nodes[turn] += groups
        current = (leaves - joined)[:turn].sum()
        if turn == 0 or not 0 < joined[turn] - nodes[turn] < current:
            return coding.BIT
        used = len(leaves) if joined[-1] else -1
        now = coding.joins_length(*self._costs.tally)
        return coding.joins_length(leaves[:used], joined[:used], nodes[:used]) - now
