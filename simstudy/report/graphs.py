"""Networks drawn on matplotlib axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy.typing as npt

from simstudy.report.charts import mpl
from simstudy.report.charts.network import network

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SCALE = 10 / 12  # points to a pixel of the layout: letters of 10 points


class NamedNetwork(Protocol):
    """What is drawn of a `simstudy.networks.Network`."""

    @property
    def parents(self) -> Sequence[Sequence[int]]: ...
    @property
    def names(self) -> Sequence[str]: ...


def draw_dag(
    parents: NamedNetwork | Sequence[Sequence[int]],
    arc_posteriors: npt.ArrayLike | None = None,
    names: Sequence[str] | None = None,
    ax: Axes | None = None,
    target: int | str | None = None,
) -> Axes:
    """Draw a network on a circle, the target on top, and return the axes.

    Parameters
    ----------
    parents : Network, or sequence of sequences of int
        The network, or for every variable its parents.
    arc_posteriors : array of shape (variables, variables), optional
        ``arc_posteriors[u, v]``: the probability of an arc from u to v. Each arc is labelled with
        it and as wide as it is probable; an arc of probability 0.1 or more that is not in the
        network is drawn dashed and grey.
    names : sequence of str, optional
        Of the variables; those of the network, or x0, x1, … and y unless given.
    ax : Axes, optional
        Where to draw; on axes of its own unless given.
    target : int or str, optional
        The variable to mark, by its number or name; the last unless given.
    """
    if not isinstance(parents, Sequence):
        names = parents.names if names is None else names
        parents = parents.parents
    if isinstance(target, str):
        target = list(names or ()).index(target)
    room, scale = None, _SCALE
    if ax is not None:
        box = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
        room = (box.width * 72 / _SCALE, box.height * 72 / _SCALE)
    laid_out = network(parents, names, arc_posteriors, target, room)
    width, height = laid_out.width * _SCALE / 72, laid_out.height * _SCALE / 72
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(width, height), layout="constrained")[1]
    else:  # where there is too little room, everything is smaller
        scale = _SCALE * min(box.width / width, box.height / height, 1.0)
    return mpl.draw_network(laid_out, ax, scale)
