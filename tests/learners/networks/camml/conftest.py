"""The Java CaMML's results, random data, and all totally ordered models of a few variables."""

import json
from collections.abc import Callable
from functools import cache
from itertools import permutations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from simstudy.data.sample import Sample
from simstudy.learners.networks.camml.exact import ExactPosterior
from simstudy.learners.networks.camml.learner import CaMML, FittedCaMML

GOLDEN = Path(__file__).parents[3] / "golden"
SETS = [
    f"{family}_{model:02d}_{rows}"
    for family in ("nb", "tan", "aode")
    for model in (0, 1, 2)
    for rows in (50, 500, 5000)
]


class Golden(NamedTuple):
    """A training set, the test rows, what the Java CaMML found, our exact fit and posterior."""

    name: str
    sample: Sample
    test: np.ndarray
    figures: dict[str, Any]
    fitted: FittedCaMML
    posterior: ExactPosterior

    @property
    def masks(self) -> tuple[int, ...]:
        """The parents of the program's DAG, as bit masks."""
        return tuple(sum(1 << u for u in parents) for parents in self.figures["parents"])


@cache
def read_results() -> dict[str, Any]:
    return json.loads((GOLDEN / "camml" / "results.json").read_text())


@cache
def read(name: str) -> Golden:
    model, rows = name.rsplit("_", 1)
    with np.load(GOLDEN / "weka" / f"{model}.npz") as file:
        sample = Sample(file[f"train_{rows}"], file["cards"])
    with np.load(GOLDEN / "camml" / "test_rows.npz") as file:
        test = file[model].astype(np.intp)
    fitted = CaMML(search="exact").fit(sample)
    return Golden(name, sample, test, read_results()[name], fitted, ExactPosterior(sample))


@pytest.fixture(params=SETS)
def golden(request: pytest.FixtureRequest) -> Golden:
    """Each of the 27 training sets in turn."""
    return read(request.param)


@pytest.fixture(scope="session")
def golden_named() -> Callable[[str], Golden]:
    return read


def draw(seed: int, variables: int = 4, rows: int | None = None) -> Sample:
    """Rows in which variables lean on each other; some values, or all rows, may be absent."""
    rng = np.random.default_rng([7, seed, variables])
    cards = rng.integers(2, 5, size=variables)
    rows = int(rng.integers(5, 120)) if rows is None else rows
    codes = rng.integers(0, cards, size=(rows, variables))
    for v in range(1, variables):
        follows = rng.random(rows) < rng.random()
        codes[:, v] = np.where(follows, codes[:, rng.integers(v)] % cards[v], codes[:, v])
    absent = rng.integers(variables)
    codes[:, absent] = np.minimum(codes[:, absent], cards[absent] - 2)
    return Sample(codes, cards)


@pytest.fixture(scope="session")
def draw_sample() -> Callable[..., Sample]:
    return draw


@cache
def enumerate_toms(variables: int) -> np.ndarray:
    """The parents, as bit masks, of every totally ordered model: every order, every DAG in it."""
    toms = []
    for order in permutations(range(variables)):
        choices: list[list[int]] = [[]] * variables
        for place, v in enumerate(order):
            before = order[:place]
            choices[v] = [
                sum(1 << u for u, held in zip(before, bits, strict=True) if held)
                for bits in product((0, 1), repeat=place)
            ]
        toms += list(product(*choices))
    return np.array(toms)


@pytest.fixture(scope="session")
def all_toms() -> Callable[[int], np.ndarray]:
    return enumerate_toms
