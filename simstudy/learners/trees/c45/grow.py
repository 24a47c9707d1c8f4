"""Growing a tree, all nodes of a level at once."""

from __future__ import annotations

import numpy as np

from simstudy.learners.trees.c45.search import Search
from simstudy.learners.trees.c45.table import Entries, TrainingRows, together
from simstudy.learners.trees.c45.tree import Tree


def grow(table: TrainingRows, min_leaf: float) -> tuple[Tree, list[Entries]]:
    """Return the full tree before pruning, and the rows at the mixed nodes of each level."""
    search = Search(table, min_leaf)
    # The number of branches of a test, and of attribute −1.
    branches = np.array([*(card or 2 for card in table.cards), 0], dtype=np.intp)
    entries = table.all_entries()
    counts = table.class_counts(entries, 1)
    layers: list[Tree] = []
    rows: list[Entries] = []
    start = 0
    while True:
        attribute, threshold, entries = search.best(entries, counts, len(layers))
        number = branches.take(attribute)
        ends = number.cumsum()
        children = int(ends[-1])
        # Rows at leaves move to an index past the last child.
        first = np.where(number, ends - number, children)
        layer = Tree(attribute, threshold, first, number, counts)
        layers.append(layer)
        if not children:
            break
        rows.append(Entries(entries.rows, entries.nodes + start, entries.weights))
        start += len(layer)
        entries, missing = layer.step(table, entries)
        counts = table.class_counts(entries, children + 1)[:, :-1]
        if missing is not None and len(missing.rows):
            entries = together(entries, layer.spread(missing, counts.sum(axis=0)))
            counts = table.class_counts(entries, children + 1)[:, :-1]
    tree = Tree.by_level(
        np.concatenate([layer.attribute for layer in layers]),
        np.concatenate([layer.threshold for layer in layers]),
        np.concatenate([layer.branches for layer in layers]),
        np.concatenate([layer.counts for layer in layers], axis=1),
    )
    return tree, rows
