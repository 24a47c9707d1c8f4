"""Simulation studies of probabilistic classifiers on synthetic Bayesian networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simstudy.lazy import attach

__version__ = "0.2.0"

if TYPE_CHECKING:
    from simstudy.advice.advise import advise as advise
    from simstudy.components.registry import register_change as register_change
    from simstudy.components.registry import register_estimator as register_estimator
    from simstudy.components.registry import register_family as register_family
    from simstudy.components.registry import register_learner as register_learner
    from simstudy.components.registry import register_measure as register_measure
    from simstudy.components.registry import register_test as register_test
    from simstudy.data.files.read import read_data as read_data
    from simstudy.data.sample import Sample as Sample
    from simstudy.errors import SimstudyError as SimstudyError
    from simstudy.experiments import register_experiment as register_experiment
    from simstudy.experiments.estimators.results import EstimatorResults as EstimatorResults
    from simstudy.experiments.learners.data_results import DataResults as DataResults
    from simstudy.experiments.learners.results import LearnerResults as LearnerResults
    from simstudy.experiments.measures.results import MeasureResults as MeasureResults
    from simstudy.experiments.tests.results import TestResults as TestResults
    from simstudy.learners.base import Generative as Generative
    from simstudy.learners.base import Learner as Learner
    from simstudy.networks.model import Component as Component
    from simstudy.networks.model import Model as Model
    from simstudy.results.read.model_analyses import ModelResults as ModelResults
    from simstudy.results.read.open import Results as Results
    from simstudy.results.read.open import open_results as open_results
    from simstudy.sources.changes.base import Change as Change
    from simstudy.sources.changes.world import World as World
    from simstudy.sources.families.base import Family as Family
    from simstudy.study.lists import load_collection as load_collection
    from simstudy.study.study import Study as Study
    from simstudy.study.study import load_study as load_study
    from simstudy.study.study import make_study as make_study
    from simstudy.workflow.compare import compare_studies as compare_studies
    from simstudy.workflow.compare_data import compare as compare
    from simstudy.workflow.pilot import run_pilot as run_pilot
    from simstudy.workflow.run import merge as merge
    from simstudy.workflow.run import run_cell as run_cell
    from simstudy.workflow.run import run_shard as run_shard
    from simstudy.workflow.run import run_study as run_study
else:
    __getattr__, __dir__ = attach(__name__)
