"""Networks fitted to a table: each model is a plausible true network given the rows."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from simstudy.data.files.assembly import ReadOptions
from simstudy.data.files.read import data_text, read_text_set
from simstudy.data.preparation.prepare import Preparation, suggested_preparation
from simstudy.data.sample import Sample
from simstudy.errors import require
from simstudy.networks.model import Model
from simstudy.sources.families import fitters
from simstudy.sources.families.base import Family

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
        sampled = len(sample.cards) > fitters.MAX_EXACT and self.fitter in ("camml", "bootstrap")
        if sampled and find_spec("numba") is None:
            text = f"with {len(sample.cards)} variables, fitter = {self.fitter!r} samples the "
            text += "posterior, which needs numba: pip install 'simstudy[sampling]'; 'tan' does not"
            raise ValueError(text)

    def _check_choices(self) -> None:
        for name, choice, allowed in (
            ("fitter", self.fitter, tuple(fitters.FITTERS)),
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
        return self.with_prior(fitters.draw_model(sample, structure, rng, self.concentration))


@dataclass(frozen=True)
class _Hashed:
    """Rows known by their content, so that a posterior is computed once in a process."""

    key: str
    sample: Sample = field(compare=False)


@lru_cache(maxsize=4)
def _structures(rows: _Hashed, fitter: str) -> fitters.DrawStructure:
    """Return what draws structures; the same in all processes."""
    seed = int(rows.key[:16], 16)
    return fitters.FITTERS[fitter](rows.sample, np.random.default_rng(seed))


@lru_cache(maxsize=4)
def _fitted_rows(
    text: str, reading: _Columns, discretize: str, bins: int, missing: str, most: int
) -> Sample:
    target, ignore, nominal = reading
    sample = read_text_set(text, ReadOptions(target, nominal, ignore=ignore)).sample
    if discretize == "auto":
        discretize = suggested_preparation(sample).discretize
    treatment = Preparation(discretize, bins, missing if sample.incomplete else "ignore")
    return fitters.informative(treatment.fit(sample).train, most)
