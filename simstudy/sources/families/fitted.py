"""Networks fitted to a table: each model is a plausible true network given the rows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

import numpy as np

from simstudy.arrays import FloatArray
from simstudy.data.files.assembly import ReadOptions
from simstudy.data.files.read import data_text, read_text_set
from simstudy.data.preparation.prepare import Preparation, suggested_preparation
from simstudy.data.sample import Sample
from simstudy.data.schema import Schema
from simstudy.errors import require
from simstudy.networks.model import Component, Model
from simstudy.sources.families.base import Family, attribute_parents

if TYPE_CHECKING:
    from simstudy.learners.networks.camml.exact import TomPosterior

Structure: TypeAlias = tuple[tuple[int, ...], ...]  # the parents of every variable
DrawStructure: TypeAlias = Callable[[np.random.Generator], Structure]
MAX_EXACT = 10  # variables
_Columns: TypeAlias = tuple[str, tuple[str, ...], tuple[str, ...]]
_DISCRETIZERS = ("auto", "mdl", "kononenko", "equal_frequency", "equal_width")
_MAX_ATTRIBUTES = 61  # with the target 62 variables, as many as CaMML samples


@dataclass(frozen=True, repr=False)
class FittedFamily(Family):
    """Networks fitted to a data file: each model is a draw from the posterior given its rows.

    The rows are discretised and their missing values replaced; then a structure is drawn, given
    these, and each row of its CPTs from its Dirichlet distribution, with the counts plus
    ``concentration``. The numbers of variables, values and classes are those of the table. A study
    reads the file when it is loaded, keeps a copy with its results and is another study if the
    data change.

    Parameters
    ----------
    data : str
        Path of a CSV, ARFF or Parquet file, relative to the study file; or the text of an ARFF
        file.
    target : str
        The column to predict.
    ignore : list of str
        Columns to leave out.
    nominal : list of str
        Columns whose numbers are names.
    fitter : {"camml", "tan", "kdb", "bootstrap"}
        Where structures come from: CaMML's posterior, exact up to 10 variables and sampled beyond;
        TANs or 2-dependence classifiers of rows drawn with replacement; or CaMML's best networks
        of such rows.
    discretize : {"auto", "mdl", "kononenko", "equal_frequency", "equal_width"}
        How numbers become nominal; "auto" is "mdl" unless that leaves most columns without a cut,
        and "equal_frequency" then.
    bins : int >= 2, <= 1000
        Number of bins of equal frequency or width.
    missing : {"value", "mode"}
        Whether missing values are a separate value, or replaced by the most frequent one.
    max_attributes : int >= 1, <= 61
        If there are more attributes, those of greatest mutual information with the target are
        kept. Attributes of one value are always left out.
    concentration : float > 0
        What is added to the counts of every row of every CPT.
    class_prior : "uniform" or list of float, optional
        The prior of the classes, in place of that drawn; P(attributes | class) stays as it is.

    References
    ----------
    N. Friedman, M. Goldszmidt & A. Wyner (1999). Data analysis with Bayesian networks: a bootstrap
    approach. UAI.
    """

    files: ClassVar[tuple[str, ...]] = ("data",)
    file_suffix: ClassVar[str] = ".arff"

    variables: tuple[int, int] = field(default=(0, 0), init=False)
    values: tuple[int, int] = field(default=(0, 0), init=False)
    concentration: float = 0.5
    cpts: Literal["dirichlet"] = field(default="dirichlet", init=False)
    classes: int | tuple[int, int] | None = field(default=None, init=False)
    data: str = field(kw_only=True)
    target: str = field(kw_only=True)
    ignore: tuple[str, ...] = field(default=(), kw_only=True)
    nominal: tuple[str, ...] = field(default=(), kw_only=True)
    fitter: Literal["camml", "tan", "kdb", "bootstrap"] = field(default="camml", kw_only=True)
    discretize: Literal["auto", "mdl", "kononenko", "equal_frequency", "equal_width"] = field(
        default="auto", kw_only=True
    )
    bins: int = field(default=5, kw_only=True)
    missing: Literal["value", "mode"] = field(default="value", kw_only=True)
    max_attributes: int = field(default=_MAX_ATTRIBUTES, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ignore", tuple(self.ignore))
        object.__setattr__(self, "nominal", tuple(self.nominal))
        if "\n" not in self.data:
            object.__setattr__(self, "data", data_text(Path(self.data)))
        self._check_choices()
        sample = self.sample
        if len(sample.cards) < 2:
            text = "leaves no attribute with two values; 'equal_frequency' may"
            raise ValueError(f"discretize = {self.discretize!r} {text}")
        self._take_cards(sample.cards, sample.cards[-1])
        sampled = len(sample.cards) > MAX_EXACT and self.fitter in ("camml", "bootstrap")
        if sampled and find_spec("numba") is None:
            text = f"with {len(sample.cards)} variables, fitter = {self.fitter!r} samples the "
            text += "posterior, which needs numba: pip install 'simstudy[sampling]'; 'tan' does not"
            raise ValueError(text)

    def _check_choices(self) -> None:
        for name, choice, allowed in (
            ("fitter", self.fitter, tuple(FITTERS)),
            ("discretize", self.discretize, _DISCRETIZERS),
            ("missing", self.missing, ("value", "mode")),
        ):
            require(choice in allowed, name, choice, f"it must be one of {', '.join(allowed)}")
        require(2 <= self.bins <= 1000, "bins", self.bins, "it must be from 2 to 1000")
        rule, most = f"it must be from 1 to {_MAX_ATTRIBUTES}", self.max_attributes
        require(1 <= most <= _MAX_ATTRIBUTES, "max_attributes", most, rule)

    def __repr__(self) -> str:
        return f"FittedFamily(target={self.target!r}, fitter={self.fitter!r})"

    @property
    def sample(self) -> Sample:
        """The rows as they are fitted: nominal and complete."""
        columns = (self.target, self.ignore, self.nominal)
        treatment = (self.discretize, self.bins, self.missing, self.max_attributes)
        return _fitted_rows(self.data, columns, *treatment)

    @property
    def card_limits(self) -> list[int]:
        return list(self.sample.cards)

    @property
    def draws_trees(self) -> bool:
        return self.fitter == "tan"

    @classmethod
    def file_text(cls, key: str, path: Path) -> str:
        """Return the table as ARFF text, with all that is declared of its columns."""
        return data_text(path)

    def draw(self, rng: np.random.Generator) -> Model:
        sample = self.sample
        content = hashlib.sha256(repr(sample.cards).encode())
        content.update(np.ascontiguousarray(sample.codes).tobytes())
        structure = _structures(_Hashed(content.hexdigest(), sample), self.fitter)(rng)
        return self.with_prior(draw_model(sample, structure, rng, self.concentration))


@dataclass(frozen=True)
class _Hashed:
    """Rows known by their content, so that a posterior is computed once in a process."""

    key: str
    sample: Sample = field(compare=False)


@lru_cache(maxsize=4)
def _structures(rows: _Hashed, fitter: str) -> DrawStructure:
    """Return what draws structures; the same in all processes."""
    seed = int(rows.key[:16], 16)
    return FITTERS[fitter](rows.sample, np.random.default_rng(seed))


@lru_cache(maxsize=4)
def _fitted_rows(
    text: str, reading: _Columns, discretize: str, bins: int, missing: str, most: int
) -> Sample:
    target, ignore, nominal = reading
    sample = read_text_set(text, ReadOptions(target, nominal, ignore=ignore)).sample
    if discretize == "auto":
        discretize = suggested_preparation(sample).discretize
    treatment = Preparation(discretize, bins, missing if sample.incomplete else "ignore")
    return informative(treatment.fit(sample).train, most)


def informative(sample: Sample, most: int) -> Sample:
    """Return complete rows without attributes of one value, with at most ``most`` attributes.

    Those of greatest mutual information with the target are kept, in their order.
    """
    attributes = [place for place, card in enumerate(sample.cards[:-1]) if card > 1]
    if len(attributes) > most:
        target = len(sample.cards) - 1
        shared = [_information(sample.counts(place, target)) for place in attributes]
        best = np.argsort(-np.array(shared), kind="stable")[:most]
        attributes = np.take(attributes, np.sort(best)).tolist()
    kept = [*attributes, len(sample.cards) - 1]
    if len(kept) == len(sample.cards):
        return sample
    variables = tuple(sample.schema.variables[place] for place in kept)
    return Sample.of(np.asfortranarray(sample.values[:, kept]), Schema(variables))


def _information(counts: FloatArray) -> float:
    """Return the mutual information of two variables in nats."""
    joint = counts / counts.sum()
    even = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    seen = joint > 0
    return float((joint[seen] * np.log(joint[seen] / even[seen])).sum())


def draw_model(
    sample: Sample, structure: Structure, rng: np.random.Generator, prior: float = 0.5
) -> Model:
    """Draw the CPTs of a structure given complete rows: each row of one is Dirichlet(n + prior)."""
    cpts = []
    for variable, parents in enumerate(structure):
        gammas = rng.standard_gamma(sample.counts(*parents, variable) + prior)
        gammas = np.maximum(gammas, np.finfo(float).tiny)  # tiny shapes may give 0 everywhere
        cpts.append(gammas / gammas.sum(axis=-1, keepdims=True))
    names = [variable.name for variable in sample.schema.variables]
    return Model(sample.cards, [Component(1.0, structure, tuple(cpts))], names)


def camml_structures(sample: Sample, rng: np.random.Generator) -> DrawStructure:
    """Structures from CaMML's posterior: exact up to 10 variables, sampled beyond."""
    if len(sample.cards) <= MAX_EXACT:
        from simstudy.learners.networks.camml.exact import ExactPosterior

        exact = ExactPosterior(sample)
        return lambda stream: draw_from_posterior(exact, stream)
    from simstudy.learners.networks.camml.sampling import SampledPosterior
    from simstudy.networks.elimination import members

    dags, mass = SampledPosterior(sample, rng).clean_dags
    return lambda stream: tuple(members(int(mask)) for mask in dags[_pick(mass, stream)])


def bootstrap_structures(sample: Sample, rng: np.random.Generator) -> DrawStructure:
    """CaMML's best network of rows drawn with replacement (Friedman, Goldszmidt & Wyner 1999)."""
    from simstudy.learners.networks.camml.learner import CaMML

    return lambda stream: CaMML(select="map").fit(_bootstrapped(sample, stream), stream).dag


def tan_structures(sample: Sample, rng: np.random.Generator) -> DrawStructure:
    """The TAN of rows drawn with replacement: its tree is uncertain, its kind is not."""
    from simstudy.learners.bayes.tree_searches import cmi_tree

    def draw(stream: np.random.Generator) -> Structure:
        tree = cmi_tree(_bootstrapped(sample, stream), 0.5)
        return attribute_parents([() if parent is None else (parent,) for parent in tree])

    return draw


def kdb_structures(sample: Sample, rng: np.random.Generator) -> DrawStructure:
    """The 2-dependence classifier of rows drawn with replacement."""
    from simstudy.learners.bayes.kdb import KDB

    return lambda stream: attribute_parents(KDB(k=2).fit(_bootstrapped(sample, stream)).parents)


FITTERS: dict[str, Callable[[Sample, np.random.Generator], DrawStructure]]
FITTERS = {"camml": camml_structures, "tan": tan_structures}
FITTERS |= {"kdb": kdb_structures, "bootstrap": bootstrap_structures}


def draw_from_posterior(posterior: TomPosterior, rng: np.random.Generator) -> Structure:
    """Draw a DAG from the exact posterior: an order, and parents among the predecessors."""
    variables = posterior.variables
    parents: list[tuple[int, ...]] = [()] * variables
    masks, placed = np.arange(posterior.sets), 0
    for _ in range(variables):
        child = _pick(posterior.steps[:, placed], rng)
        inside = masks[masks & ~placed == 0]
        logs = posterior.weights[child, inside]
        chosen = int(inside[_pick(np.exp(logs - logs.max()), rng)])
        parents[child] = tuple(v for v in range(variables) if chosen >> v & 1)
        placed |= 1 << child
    return tuple(parents)


def _pick(weights: FloatArray, rng: np.random.Generator) -> int:
    """Draw an index in proportion to its weight."""
    sums = np.cumsum(weights)
    drawn = int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))
    return min(drawn, int(np.flatnonzero(weights)[-1]))  # rounding may lead beyond the last


def _bootstrapped(sample: Sample, rng: np.random.Generator) -> Sample:
    return sample.take(rng.integers(len(sample), size=len(sample)))
