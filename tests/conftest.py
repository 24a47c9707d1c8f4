"""Throw-away studies for the tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import settings

from simstudy.analysis.models.findings import AnalysisDesign, ModelFindings
from simstudy.measures.base import MeasureInfo

# Laws are tried on fewer examples than usual, unless HYPOTHESIS_PROFILE=thorough asks for more.
settings.register_profile("quick", max_examples=30, deadline=None)
settings.register_profile("thorough", max_examples=300, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

SMALL_STUDY = """
name = "small"
title = "A small study"
seed = 7
models = 4

[family]
name = "tan"
variables = [3, 4]

[data]
train_sizes = [20, 60]
test_size = 100

[[learners]]
name = "naive_bayes"
label = "NB"

[[learners]]
name = "tan"
label = "TAN"
"""


@pytest.fixture
def write_study(tmp_path: Path) -> Callable[..., Path]:
    """Write a study file: the small study with lines replaced or added."""

    def write(
        changes: dict[str, str] | None = None, text: str = SMALL_STUDY, name: str = "study.toml"
    ) -> Path:
        for old, new in (changes or {}).items():
            assert old in text, old
            text = text.replace(old, new)
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="session")
def run_simstudy() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the real command in a directory."""

    def run(
        directory: Path, *arguments: object, module: str = "simstudy"
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", module, *map(str, arguments)],
            cwd=directory,
            env={**os.environ, "COLUMNS": "100"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run


@pytest.fixture
def simstudy(
    tmp_path: Path, run_simstudy: Callable[..., subprocess.CompletedProcess[str]]
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the real command in an empty directory."""
    return partial(run_simstudy, tmp_path)


@pytest.fixture(scope="session")
def make_findings() -> Callable[..., ModelFindings]:
    """Findings about the column "reward" of made-up scores, or with parts given outright."""

    def make(
        scores: pd.DataFrame | None = None,
        greater_is_better: bool = True,
        *,
        learners: list[str] | None = None,
        sizes: list[int] | None = None,
        models: int | None = None,
        confidence: float = 0.95,
        adjustment: str = "bonferroni",
        **parts: Any,
    ) -> ModelFindings:
        if scores is None:
            scores = pd.DataFrame({"model": [], "size": [], "learner": [], "reward": []})
        design = AnalysisDesign(
            tuple(dict.fromkeys(scores["learner"]) if learners is None else learners),
            tuple(dict.fromkeys(scores["size"]) if sizes is None else sizes),
            scores["model"].nunique() if models is None else models,
            confidence,
            adjustment,
        )
        label, unit = ("reward", "nats") if greater_is_better else ("loss", "")
        info = MeasureInfo(greater_is_better=greater_is_better, label=label, unit=unit)
        findings = ModelFindings("reward", info, design, scores, scores.iloc[:0])
        if "p_adjusted" in (pairs := parts.get("pairwise", pd.DataFrame())):
            significant = pairs["p_adjusted"] < 1 - confidence
            parts["pairwise"] = pairs.assign(significant=significant)
        findings.__dict__.update(parts)
        return findings

    return make
