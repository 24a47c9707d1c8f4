"""Networks from files: the truth of the literature, with any of its variables as the target."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from simstudy.arrays import FloatArray
from simstudy.errors import require, suggestion
from simstudy.networks.bif import bif_text, parse_bif, read_text
from simstudy.networks.model import Model
from simstudy.networks.network import Network
from simstudy.networks.xmlbif import parse_xmlbif
from simstudy.sources.families.base import Family

CPTS = ("file", "dirichlet", "normalized_uniform", "perturbed")


@dataclass(frozen=True, repr=False)
class NetworkFamily(Family):
    """Networks from a file, with any variable as the target and all others as attributes.

    The numbers of variables, values and classes are those of the file. A study reads the file
    when it is loaded, keeps a copy with its results and is another study if the network changes.

    Parameters
    ----------
    file : str
        Path of a file in BIF or XMLBIF, relative to the study file; or the text of a BIF file.
    target : str
        The variable to predict.
    cpts : {"file", "dirichlet", "normalized_uniform", "perturbed"}
        The CPTs of a model: those of the file; drawn anew with its arcs; or those of the file
        perturbed, each row p being drawn from a Dirichlet distribution with parameters s·p, so
        that zeros stay.
    strength : float > 0
        The equivalent sample size s of perturbed rows.
    class_prior : "uniform" or list of float, optional
        The prior of the classes, in place of that of the network; P(attributes | class) stays as
        it is.

    References
    ----------
    J. Pearl (1988). Probabilistic Reasoning in Intelligent Systems. Morgan Kaufmann.
    """

    files: ClassVar[tuple[str, ...]] = ("file",)
    file_suffix: ClassVar[str] = ".bif"
    _allowed_cpts: ClassVar[tuple[str, ...]] = CPTS

    variables: tuple[int, int] = field(default=(0, 0), init=False)
    values: tuple[int, int] = field(default=(0, 0), init=False)
    classes: int | tuple[int, int] | None = field(default=None, init=False)
    file: str = field(kw_only=True)
    target: str = field(kw_only=True)
    cpts: Literal["file", "dirichlet", "normalized_uniform", "perturbed"] = field(  # type: ignore[assignment]
        default="file", kw_only=True
    )
    strength: float = field(default=100.0, kw_only=True)

    def __post_init__(self) -> None:
        network = self.network
        if self.target not in network.names:
            near = suggestion(self.target, network.names)
            raise ValueError(f"target = {self.target!r} is not a variable of the network{near}")
        classes = network.cards[network.index(self.target)]
        rule = "it must have two values or more, and the network another variable"
        require(len(network.cards) > 1 < classes, "target", self.target, rule)
        self._take_cards(network.cards, classes)
        finite = 0 < self.strength < np.inf
        require(finite, "strength", self.strength, "it must be above 0 and finite")

    def __repr__(self) -> str:
        file = self.file if not _is_text(self.file) else "…"
        return f"NetworkFamily(file={file!r}, target={self.target!r}, cpts={self.cpts!r})"

    @property
    def network(self) -> Network:
        """The network of the file."""
        return _parsed(self.file) if _is_text(self.file) else _read(Path(self.file))

    @property
    def card_limits(self) -> list[int]:
        return list(self.network.cards)

    @property
    def draws_trees(self) -> bool:
        target = self.network.index(self.target)
        parents = self.network.parents
        return not parents[target] and all(
            target in those and len(those) <= 2 for v, those in enumerate(parents) if v != target
        )

    @property
    def max_parents(self) -> int:
        return max(map(len, self.network.parents))

    @classmethod
    def file_text(cls, key: str, path: Path) -> str:
        """Return the network of a file as BIF text at full precision."""
        return bif_text(_read(path))

    def draw(self, rng: np.random.Generator) -> Model:
        network = self.network
        if self.cpts != "file":
            network = network.with_tables([self._drawn(rng, cpt) for cpt in network.cpts])
        return self.with_prior(network.model(self.target))

    def _drawn(self, rng: np.random.Generator, cpt: FloatArray) -> FloatArray:
        """Return a table drawn anew, or one near a given one."""
        if self.cpts != "perturbed":
            return self._draw_cpt(rng, cpt.shape[:-1], cpt.shape[-1])
        drawn = rng.standard_gamma(self.strength * cpt)
        total = drawn.sum(axis=-1, keepdims=True)
        near: FloatArray = np.where(total > 0, drawn / np.where(total > 0, total, 1.0), cpt)
        return near


def _is_text(file: str) -> bool:
    """Whether a string is the text of a network and not a path."""
    return "{" in file and "\n" in file


@lru_cache(maxsize=8)  # a family is asked for its network many times
def _parsed(text: str, source: str = "BIF") -> Network:
    return parse_xmlbif(text, source) if text.lstrip().startswith("<") else parse_bif(text, source)


def _read(path: Path) -> Network:
    return _parsed(read_text(path), str(path))
