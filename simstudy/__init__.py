"""Simulation studies of probabilistic classifiers on synthetic Bayesian networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simstudy.lazy import find

__version__ = "0.2.0"

if TYPE_CHECKING:
    from simstudy.collection import load_collection
    from simstudy.comparing import compare_studies
    from simstudy.errors import SimstudyError
    from simstudy.families.base import Family
    from simstudy.families.model import Component, Model
    from simstudy.learners.base import Generative, Learner
    from simstudy.planning import run_pilot
    from simstudy.registry import register_family, register_learner, register_measure
    from simstudy.results import Results, open_results
    from simstudy.running import merge, run_cell, run_shard, run_study
    from simstudy.sample import Sample
    from simstudy.study import Study, load_study, make_study

# Imported when first asked for, so that `import simstudy` costs next to nothing.
_HOMES = {
    "simstudy.collection": ["load_collection"],
    "simstudy.comparing": ["compare_studies"],
    "simstudy.errors": ["SimstudyError"],
    "simstudy.families.base": ["Family"],
    "simstudy.families.model": ["Component", "Model"],
    "simstudy.learners.base": ["Generative", "Learner"],
    "simstudy.planning": ["run_pilot"],
    "simstudy.registry": ["register_family", "register_learner", "register_measure"],
    "simstudy.results": ["Results", "open_results"],
    "simstudy.running": ["merge", "run_cell", "run_shard", "run_study"],
    "simstudy.sample": ["Sample"],
    "simstudy.study": ["Study", "load_study", "make_study"],
}

__all__ = [  # noqa: RUF022 (in the order of a study)
    "Study",
    "load_study",
    "make_study",
    "run_study",
    "run_shard",
    "run_cell",
    "run_pilot",
    "merge",
    "load_collection",
    "compare_studies",
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
    return find(name, __name__, _HOMES)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
