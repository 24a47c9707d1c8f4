"""Simulation studies of probabilistic classifiers on synthetic Bayesian networks."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from simstudy.errors import SimstudyError
    from simstudy.families.base import Family
    from simstudy.families.model import Component, Model
    from simstudy.learners.base import Generative, Learner
    from simstudy.registry import register_family, register_learner, register_measure
    from simstudy.results import Results, open_results
    from simstudy.running import merge, run_shard, run_study
    from simstudy.sample import Sample
    from simstudy.study import Study, load_study, make_study

# Imported when first asked for, so that `import simstudy` costs next to nothing.
_HOMES = {
    "simstudy.errors": ["SimstudyError"],
    "simstudy.families.base": ["Family"],
    "simstudy.families.model": ["Component", "Model"],
    "simstudy.learners.base": ["Generative", "Learner"],
    "simstudy.registry": ["register_family", "register_learner", "register_measure"],
    "simstudy.results": ["Results", "open_results"],
    "simstudy.running": ["merge", "run_shard", "run_study"],
    "simstudy.sample": ["Sample"],
    "simstudy.study": ["Study", "load_study", "make_study"],
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [  # noqa: RUF022 (in the order of a study)
    "Study",
    "load_study",
    "make_study",
    "run_study",
    "run_shard",
    "merge",
    "open_results",
    "Results",
    "Family",
    "Model",
    "Component",
    "Sample",
    "Learner",
    "Generative",
    "register_family",
    "register_learner",
    "register_measure",
    "SimstudyError",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'simstudy' has no attribute '{name}'")
    return getattr(importlib.import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
