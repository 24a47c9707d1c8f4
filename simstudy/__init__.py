"""Simulation studies of probabilistic classifiers on synthetic Bayesian networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simstudy.lazy import find

__version__ = "0.2.0"

if TYPE_CHECKING:
    from simstudy.data.files import read_data
    from simstudy.data.sample import Sample
    from simstudy.errors import SimstudyError
    from simstudy.learners.base import Generative, Learner
    from simstudy.networks.model import Component, Model
    from simstudy.results.results import Results, open_results
    from simstudy.sources.base import Family
    from simstudy.sources.changes.base import Change
    from simstudy.sources.changes.world import World
    from simstudy.study.lists import load_collection
    from simstudy.study.registry import (
        register_change,
        register_family,
        register_learner,
        register_measure,
    )
    from simstudy.study.study import Study, load_study, make_study
    from simstudy.workflow.advise import advise
    from simstudy.workflow.compare import compare_studies
    from simstudy.workflow.pilot import run_pilot
    from simstudy.workflow.run import merge, run_cell, run_shard, run_study

# Imported when first asked for, so that `import simstudy` costs next to nothing.
_HOMES = {
    "simstudy.study.lists": ["load_collection"],
    "simstudy.workflow.advise": ["advise"],
    "simstudy.workflow.compare": ["compare_studies"],
    "simstudy.errors": ["SimstudyError"],
    "simstudy.sources.base": ["Family"],
    "simstudy.sources.changes.base": ["Change"],
    "simstudy.sources.changes.world": ["World"],
    "simstudy.networks.model": ["Component", "Model"],
    "simstudy.learners.base": ["Generative", "Learner"],
    "simstudy.workflow.pilot": ["run_pilot"],
    "simstudy.study.registry": [
        "register_change",
        "register_family",
        "register_learner",
        "register_measure",
    ],
    "simstudy.results.results": ["Results", "open_results"],
    "simstudy.workflow.run": ["merge", "run_cell", "run_shard", "run_study"],
    "simstudy.data.files": ["read_data"],
    "simstudy.data.sample": ["Sample"],
    "simstudy.study.study": ["Study", "load_study", "make_study"],
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
    "advise",
    "open_results",
    "Results",
    "Family",
    "Model",
    "Component",
    "Change",
    "World",
    "Sample",
    "read_data",
    "Learner",
    "Generative",
    "register_family",
    "register_change",
    "register_learner",
    "register_measure",
    "SimstudyError",
]


def __getattr__(name: str) -> Any:
    return find(name, __name__, _HOMES)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
