"""A component is added by one file and one line, as ARCHITECTURE.md says: tried in a copy."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import simstudy

pytestmark = pytest.mark.slow

STUDY = """
name = "added"
models = 2
compare = "{compare}"
[family]
name = "{family}"
{sizes}
[[learners]]
name = "{learner}"
[[learners]]
name = "prior"
[data]
train_sizes = [20]
[measures]
primary = "{measure}"
"""


class Addition(NamedTuple):
    """A component: its file, the line that imports it, and what a study has of it."""

    kind: str
    file: str
    line: str
    code: str
    names: dict[str, str]  # in the study
    section: str = ""


FAMILY = '''
from dataclasses import dataclass

import numpy as np

from simstudy.networks.model import Model
from simstudy.sources.families.base import Family


@dataclass(frozen=True)
class ChainFamily(Family):
    """Chains: each attribute depends on the one before it, and on the target."""

    def draw(self, rng: np.random.Generator) -> Model:
        cards = self.draw_cards(rng)
        target = len(cards) - 1
        parents = [[i - 1, target] if i else [target] for i in range(target)]
        return self.draw_model(rng, cards, [*parents, []])
'''
BARE = '''
from dataclasses import dataclass

import numpy as np

from simstudy.networks.model import Component, Model


@dataclass(frozen=True)
class CoinFamily:
    """Two coins, one of which tells the class: a family without the keys of others."""

    bias: float = 0.75

    def draw(self, rng: np.random.Generator) -> Model:
        told = np.array([[self.bias, 1 - self.bias], [1 - self.bias, self.bias]])
        cpts = (told, rng.dirichlet((1, 1)), np.array([0.5, 0.5]))
        return Model((2, 2, 2), [Component(1.0, ((2,), (), ()), cpts)])
'''
CHANGE = '''
from dataclasses import dataclass

import numpy as np

from simstudy.sources.changes.base import Change
from simstudy.sources.changes.irrelevant import Irrelevant
from simstudy.sources.changes.world import World


@dataclass(frozen=True)
class Clutter(Change):
    """Clutter: one irrelevant attribute of two values."""

    def apply(self, world: World, rng: np.random.Generator) -> World:
        return Irrelevant(1, (2, 2)).apply(world, rng)
'''
LEARNER = '''
from dataclasses import dataclass

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.sample import Sample
from simstudy.learners.base import Learner


@dataclass(frozen=True)
class FairDie(Learner):
    """All classes are equally probable."""

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> "Thrown":
        return Thrown(sample.classes)


@dataclass(frozen=True)
class Thrown:
    classes: int

    def predict_proba(self, codes: IntArray) -> FloatArray:
        return np.full((len(codes), self.classes), 1 / self.classes)
'''
MEASURE = '''
import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.measures.base import measure


@measure(greater_is_better=True)
def spherical_score(proba: FloatArray, y: IntArray) -> FloatArray:
    """Spherical score: ``q_c / √Σ q_i²``."""
    return proba[np.arange(len(y)), y] / np.sqrt(np.square(proba).sum(axis=1))
'''
ESTIMATOR = '''
from dataclasses import dataclass

from simstudy.data.splits.schemes import CrossValidation
from simstudy.estimators.bench import Estimator
from simstudy.estimators.bench import Bench, Judge
from simstudy.estimators.bench import Estimate


@dataclass(frozen=True)
class PooledEstimator(Estimator):
    """Cross-validation whose answers are judged together."""

    folds: int = 5

    def estimate(self, bench: Bench, judge: Judge, confidence: float = 0.95) -> Estimate:
        (outcomes,) = bench.repeats(CrossValidation(self.folds))
        return Estimate(judge.pooled(outcomes))
'''
TEST = '''
from dataclasses import dataclass

from scipy.stats import binomtest

from simstudy.arrays import FloatArray
from simstudy.data.splits.schemes import CrossValidation
from simstudy.estimators.comparing import SplitTest


@dataclass(frozen=True)
class SignTest(SplitTest):
    """Sign test over the folds of cross-validation."""

    @property
    def scheme(self) -> CrossValidation:
        return CrossValidation(10)

    def p(self, differences: FloatArray, share: float) -> float:
        wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
        return float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0
'''
ADDITIONS = {
    "chain": Addition("family", "sources/chain.py", "ChainFamily", FAMILY, {"family": "chain"}),
    "coin": Addition("family", "sources/coin.py", "CoinFamily", BARE, {"family": "coin"}),
    "clutter": Addition(
        *("change", "sources/changes/clutter.py", "Clutter", CHANGE, {}),
        '[[changes]]\nname = "clutter"\n',
    ),
    "fair_die": Addition(
        "learner", "learners/fair_die.py", "FairDie", LEARNER, {"learner": "fair_die"}
    ),
    "spherical_score": Addition(
        *("measure", "measures/spherical.py", "spherical_score", MEASURE),
        {"measure": "spherical_score"},
    ),
    "pooled": Addition(
        *("estimator", "estimators/pooled.py", "PooledEstimator", ESTIMATOR),
        {"compare": "estimators"},
        '[[estimators]]\nname = "pooled"\n',
    ),
    "sign": Addition(
        *("test", "estimators/sign.py", "SignTest", TEST, {"compare": "tests"}),
        '[[tests]]\nname = "sign"\n',
    ),
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """A copy of the package with all additions."""
    place = tmp_path_factory.mktemp("copy")
    package = shutil.copytree(Path(simstudy.__file__).parent, place / "simstudy")
    for added in ADDITIONS.values():
        (package / added.file).write_text(added.code.lstrip())
        module = "simstudy." + added.file.removesuffix(".py").replace("/", ".")
        home = {"family": "families", "test": "estimators"}.get(added.kind, f"{added.kind}s")
        block = f'if built_in("{added.kind}"):\n'
        names = (package / home / "__init__.py").read_text()
        assert names.count(block) == 1
        line = f"    from {module} import {added.line} as {added.line}\n"
        (package / home / "__init__.py").write_text(names.replace(block, block + line))
    return place


@pytest.mark.parametrize("name", ADDITIONS)
def test_one_file_and_one_line_make_a_component(name, copy, tmp_path):
    added = ADDITIONS[name]
    assert len(added.code.strip().splitlines()) <= 25
    usual = {"compare": "learners", "family": "tan", "learner": "naive_bayes"}
    sizes = "" if name == "coin" else "variables = [3, 4]\nvalues = [2, 3]"
    study = STUDY.format(**{**usual, "measure": "accuracy", **added.names}, sizes=sizes)
    (tmp_path / "added.toml").write_text(study + added.section)
    done = subprocess.run(
        [sys.executable, "-m", "simstudy", "run", "added.toml", "--jobs", "1", "--no-report"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    manifest = json.loads((tmp_path / "results" / "added" / "manifest.json").read_text())
    assert (manifest["failures"], manifest["conditions"]["source"]) == (0, {})
