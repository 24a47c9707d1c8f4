"""Lists, sizes and numbers as they stand in a sentence."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

T = TypeVar("T")

NAMED = 4  # members of a list that are named before the rest are counted


def listed(names: Sequence[str], most: int = NAMED) -> str:
    """ "A, B and C"; of a longer list the first, and how many others there are."""
    shown = list(names)
    if len(shown) > most + 1:
        shown = [*shown[:most], f"{len(shown) - most} others"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def runs(items: Sequence[T], key: Callable[[T], Hashable]) -> list[list[T]]:
    """Neighbours that share a key, together."""
    found: list[list[T]] = []
    for item in items:
        if found and key(found[-1][-1]) == key(item):
            found[-1].append(item)
        else:
            found.append([item])
    return found


def rows(sizes: Sequence[int]) -> str:
    """ "at 50 rows", "from 50 to 5,000 rows" for sizes that follow each other in the study."""
    if len(sizes) < 3:
        return f"at {listed([f'{size:,}' for size in sizes])} rows"
    return f"from {sizes[0]:,} to {sizes[-1]:,} rows"


def among(sizes: Sequence[int], studied: Sequence[int]) -> str:
    """Some of the sizes studied, those that follow each other as a stretch."""
    places = [(studied.index(size), size) for size in sizes]
    numbered = [(place - order, size) for order, (place, size) in enumerate(places)]
    stretches = [[size for _, size in run] for run in runs(numbered, lambda pair: pair[0])]
    parts = [f"{run[0]:,} to {run[-1]:,}" if len(run) > 1 else f"{run[0]:,}" for run in stretches]
    return f"at {listed(parts)} rows"


def opening(text: str) -> str:
    """A sentence that begins with a capital letter."""
    return text[:1].upper() + text[1:]


def counted(number: int, noun: str) -> str:
    """ "1 pair", "3 pairs"."""
    return f"{number:,} {noun}" + "s" * (number != 1)


def family(adjustment: str, m: int) -> str:
    """What the tests of pairs are adjusted for, by the study's name of the method."""
    pairs = f"m = {counted(m, 'pair')}"
    return {
        "bonferroni": f"Bonferroni-adjusted for {pairs} at each size",
        "bonferroni_all": f"Bonferroni-adjusted for {pairs} over all sizes",
        "holm": f"Holm-adjusted over {pairs} at each size",
        "none": "not adjusted for the number of pairs",
    }[adjustment]
