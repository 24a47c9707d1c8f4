"""Learners that are made of another learner, which a study names with its parameters."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import simstudy.learners
from simstudy.errors import suggestion
from simstudy.learners.base import Learner

# Names of study files, and public names here.
LEARNERS = {
    "prior": "Prior",
    "naive_bayes": "NaiveBayes",
    "tan": "TAN",
    "aode": "AODE",
    "kdb": "KDB",
    "camml": "CaMML",
    "hnb": "HNB",
    "lbr": "LBR",
    "c45": "C45",
    "boosted_c45": "BoostedC45",
    "mml_tree": "MMLTree",
    "mml_graph": "MMLGraph",
    "decision_stump": "DecisionStump",
    "one_r": "OneR",
}


@dataclass(frozen=True)
class Wrapper(Learner):
    """Base class of learners that change what another learner does.

    Parameters
    ----------
    learner : str
        The name of the learner: a built-in one, or a classifier by its path.
    parameters : table, optional
        The parameters of that learner; its defaults if not given.
    """

    purpose: ClassVar[str]  # what is done to the learner, for sentences: "weighted by costs"

    learner: str = "naive_bayes"
    parameters: dict[str, object] | None = None

    def __post_init__(self) -> None:
        if self.base().needs_structure:
            raise ValueError(f"tree = 'true' is not possible for a learner {self.purpose}")

    def base(self) -> Learner:
        """Return the other learner."""
        return make_learner(self.learner, self.parameters or {}, self.purpose)

    @property
    def accepts(self) -> frozenset[str]:  # type: ignore[override]
        """Rows that the learner accepts."""
        return self.base().accepts

    def check_design(
        self, variables: tuple[int, int], values: tuple[int, int], sizes: Sequence[int]
    ) -> None:
        """Refuse what the learner refuses."""
        base = self.base()
        if hasattr(base, "check_design"):
            base.check_design(variables, values, sizes)

    def warm_up(self) -> None:
        """Prepare the learner, so that this is not timed as part of a fit."""
        base = self.base()
        if hasattr(base, "warm_up"):
            base.warm_up()


def make_learner(name: str, given: Mapping[str, object], purpose: str) -> Learner:
    """Return a learner by its name or path, with parameters; ``purpose`` is for errors."""
    cls = _find(name, purpose)
    known = [field.name for field in dataclasses.fields(cls) if field.init]
    for key in given:
        if key not in known:
            of = f"parameters: '{key}' is no parameter of '{name}'"
            raise ValueError(f"{of}{suggestion(key, known)}")
    try:
        made: Learner = cls(**given)
    except TypeError as error:  # a value of another type
        raise ValueError(f"parameters = {given!r} do not fit '{name}'") from error
    return made


def _find(name: str, purpose: str) -> type[Learner]:
    """Return the class of a learner by its name or path."""
    if name in LEARNERS:
        return getattr(simstudy.learners, LEARNERS[name])
    if name.startswith("pgmpy:"):
        from simstudy.learners.pgmpy import pgmpy_learner

        return pgmpy_learner(name)
    if ":" in name:
        from simstudy.learners.scikit import scikit_learner

        return scikit_learner(name)
    raise ValueError(f"learner = '{name}' cannot be {purpose}{suggestion(name, LEARNERS)}")
