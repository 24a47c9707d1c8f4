"""The reference tables of tests/golden/stats, with what R says about them."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pytest

STATS = Path(__file__).parent.parent / "golden" / "stats"


class Reference(NamedTuple):
    name: str
    table: pd.DataFrame
    within: list[str]
    r: dict[str, Any]


def load_reference(name: str) -> Reference:
    r = json.loads((STATS / f"R_{name}.json").read_text())
    return Reference(name, pd.read_csv(STATS / r["file"]), r["within"], r)


@pytest.fixture(params=["a", "b", "d", "e"])
def reference(request: pytest.FixtureRequest) -> Reference:
    return load_reference(request.param)


@pytest.fixture
def table_a() -> pd.DataFrame:
    return load_reference("a").table


@pytest.fixture
def mauchly() -> dict[str, Any]:
    return json.loads((STATS / "mauchly.json").read_text())


@pytest.fixture
def interval_kinds() -> dict[str, Any]:
    return json.loads((STATS / "ci_a.json").read_text())


@pytest.fixture
def scores() -> pd.DataFrame:
    """Three models, two learners, two sizes, with the default column names."""
    values = [0.1, 0.3, 0.2, 0.5, 0.15, 0.3, 0.4, 0.45, 0.0, 0.2, 0.1, 0.7]
    cells = [(m, ln, n) for m in (0, 1, 2) for ln in ("nb", "tan") for n in (50, 500)]
    table = pd.DataFrame(cells, columns=["model", "learner", "size"])
    return table.assign(information_reward=values, status="ok")
