"""Models with another marginal of a variable: what depends on it stays as it is."""

from __future__ import annotations

import math

import numpy as np

from simstudy.arrays import FloatArray
from simstudy.networks.evaluation import on_all_axes
from simstudy.networks.model import Component, Model
from simstudy.networks.network import topological_order

MAX_TABLE = 2**24  # cells of a table that a reversed arc makes
_SAME = 1e-12


def with_marginal(model: Model, variable: int, marginal: FloatArray) -> Model:
    """Return a model of P(all others | variable) · marginal.

    The model itself is returned if it has this marginal already. Arcs into the variable are
    reversed (Shachter 1986), so that it becomes a root; components of a mixture are weighted anew.

    Parameters
    ----------
    model : Model
        The model.
    variable : int
        Its number; the target is the last.
    marginal : array of shape (values,)
        The probabilities of its values.
    """
    name, card = model.names[variable], model.cards[variable]
    if marginal.shape != (card,):
        wrong = f"{marginal.size} probabilities do not fit"
        raise ValueError(f"{wrong} '{name}', which has {card} values")
    before = model.marginal(variable)
    if np.abs(marginal - before).max() <= _SAME:
        return model
    if (before[marginal > 0] <= 0).any():
        raise ValueError(f"a value that '{name}' never has cannot be given a probability")
    rooted = [rooted_at(component, variable, model.cards) for component in model.components]
    shared = len({component.cpts[variable].tobytes() for component in rooted}) == 1
    ratio = np.divide(marginal, before, out=np.zeros_like(marginal), where=before > 0)
    components = []
    for component in rooted:
        weight, cpts = component.weight, list(component.cpts)
        scaled = cpts[variable] * ratio
        if not shared:
            weight *= float(scaled.sum())
        cpts[variable] = marginal if shared else scaled / scaled.sum()
        components.append(Component(weight, component.parents, tuple(cpts)))
    return Model(model.cards, components, model.names)


def rooted_at(component: Component, target: int, cards: tuple[int, ...]) -> Component:
    """Return the same distribution as a network in which a variable has no parents."""
    parents = [tuple(those) for those in component.parents]
    cpts = list(component.cpts)
    while parents[target]:
        # the last parent in the order: there is no other path from it to the target
        places = {v: i for i, v in enumerate(topological_order(tuple(parents)))}
        last = max(parents[target], key=places.__getitem__)
        _reverse(last, target, parents, cpts, cards)
    return Component(component.weight, tuple(parents), tuple(cpts))


def _reverse(
    u: int, v: int, parents: list[tuple[int, ...]], cpts: list[FloatArray], cards: tuple[int, ...]
) -> None:
    """Reverse the arc u → v by Bayes's theorem; each inherits the other's parents."""
    both = tuple(sorted({*parents[u], *parents[v]} - {u}))
    axes = (*both, v, u)
    if math.prod(cards[w] for w in axes) > MAX_TABLE:
        size = f"{len(axes)} variables, above {MAX_TABLE:,} cells"
        raise ValueError(f"another marginal needs a table of {size}")
    sizes = [cards[w] for w in axes]
    of_u, of_v_given_u = (
        on_all_axes(cpts[w], [axes.index(x) for x in (*parents[w], w)], sizes) for w in (u, v)
    )
    joint = of_u * of_v_given_u
    of_v = joint.sum(axis=-1)
    # what never occurs may be anything
    empty = np.full(joint.shape, 1 / cards[u])
    cpts[u] = np.divide(joint, of_v[..., None], out=empty, where=of_v[..., None] > 0)
    cpts[v] = of_v / of_v.sum(axis=-1, keepdims=True)
    parents[u], parents[v] = (*both, v), both
