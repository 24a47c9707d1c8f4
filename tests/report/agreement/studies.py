"""Small studies of all kinds, with seeds by which some decisions hang on the adjustment."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

LEARNERS = {
    "NB": "naive_bayes",
    "TAN": "tan",
    "prior": "prior",
    "1R": "one_r",
    "C45": "c45",
    "AODE": "aode",
}
FAILING = """
from dataclasses import dataclass
from simstudy import Learner, register_learner
from simstudy.learners import TAN

@register_learner("sometimes")
@dataclass(frozen=True)
class Sometimes(Learner):
    def fit(self, sample, rng=None):
        if sample.codes[0].sum() % 7 == 0:
            raise RuntimeError("not these rows")
        return TAN(alpha=3.0).fit(sample, rng)
"""


def section(name: str, /, **keys: object) -> str:
    """Return a section of a TOML file; one with two brackets is in a list."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    return "\n".join([f"[{name}]", *lines, ""])


def learners(*labels: str) -> str:
    """Return the sections of learners, by their labels."""
    return "".join(section("[learners]", name=LEARNERS[one], label=one) for one in labels)


def study(name: str, seed: int, body: str, models: int = 12, **keys: object) -> str:
    """Return a study of small models."""
    head = {"name": name, "seed": seed, "models": models, **keys}
    lines = [f"{key} = {json.dumps(value)}" for key, value in head.items()]
    family = section("family", name="tan", variables=[4, 4])
    return "\n".join([*lines, "", family + body])


def data(*sizes: int) -> str:
    """Return the sizes of a study of learners, judged exactly."""
    return section("data", train_sizes=sizes, test_size="exact")


def adjusted(adjustment: str) -> str:
    """Return the section that chooses an adjustment."""
    return section("analysis", adjustment=adjustment)


ESTIMATORS = (
    section("[estimators]", name="resubstitution")
    + section("[estimators]", name="cross_validation", label="cv", folds=4)
    + section("[estimators]", name="bootstrap_632", label="boot", repeats=8)
)
TESTS = (
    section("[tests]", name="resampled_t", label="naive", corrected=False, repeats=20)
    + section("[tests]", name="five_by_two_t", label="5x2")
    + section("[tests]", name="mcnemar")
)
MANY = [
    section("[learners]", name="naive_bayes", label=f"NB{place}", alpha=alpha)
    for place, alpha in enumerate((0.1, 0.5, 1.0, 2.0, 4.0, 8.0))
]
ROUGH = section("[learners]", name="tan", label="rough", alpha=0.02)  # bad with few rows
TWICE = section("measures", primary="information_reward", also=["accuracy"])
KNOWN = TWICE.replace('"accuracy"', '"accuracy", "regret"')  # the distance to the truth
STUDIES = {
    "two": study("two", 2, data(10, 25, 60) + learners("NB", "TAN") + KNOWN),
    "three": study(
        "three",
        1,
        data(10, 25, 60)
        + learners("NB", "TAN", "prior")
        + section("measures", primary="log_loss", also=["accuracy"])
        + adjusted("bonferroni"),
    ),
    "five": study(
        "five",
        2,
        data(10, 30, 90) + learners("NB", "TAN", "prior", "1R", "AODE") + adjusted("holm"),
    ),
    "unadjusted": study(
        "unadjusted", 3, data(10, 30) + learners("NB", "TAN", "prior") + adjusted("none")
    ),
    "many": study(
        "many", 3, data(12, 40, 120) + learners("TAN", "prior", "AODE", "1R") + "".join(MANY)
    ),
    "failing": study(
        "failing",
        3,
        data(10, 30, 90)
        + learners("NB", "TAN", "prior")
        + section("[learners]", name="sometimes", label="some"),
        models=14,
        plugins=["sometimes.py"],
    ),
    "close": study(
        "close",
        2,
        data(10, 40, 160, 640) + learners("NB", "prior") + ROUGH,
        models=14,
    ),
    "measures": study(
        "measures",
        1,
        section("data", train_sizes=[40], test_sizes=[10, 40, 160], repeats=6)
        + learners("NB", "prior", "TAN", "1R")
        + section(
            "measures",
            primary="information_reward",
            also=["accuracy", "auc"],
            targets=["kl_divergence"],
        ),
        models=14,
        compare="measures",
    ),
    "estimators": study(
        "estimators",
        1,
        section("data", train_sizes=[12, 30], training_sets=5)
        + learners("NB", "prior")
        + section("measures", primary="accuracy")
        + ESTIMATORS,
        compare="estimators",
    ),
    "tests": study(
        "tests",
        2,
        section("data", train_sizes=[30, 90], repeats=4)
        + learners("NB", "prior")
        + section("measures", primary="accuracy")
        + TESTS,
        models=8,
        compare="tests",
    ),
    "once": study(
        "once",
        2,
        section("data", train_sizes=[40, 120], repeats=1)
        + learners("NB", "prior")
        + section("measures", primary="accuracy")
        + TESTS,
        models=14,
        compare="tests",
    ),
}


SETS = {f"set{place}": (0.08 + 0.035 * place, place) for place in range(9)}
DATA_STUDIES = {
    "sets": (
        [*SETS],
        section("resampling", folds=5)
        + learners("NB", "TAN", "prior", "1R", "C45")
        + section("measures", primary="log_loss"),
    ),
    "halves": (
        ["set0", "set2", "set5"],
        section("resampling", scheme="5x2cv") + learners("NB", "TAN", "prior") + TWICE,
    ),
    "set": (["set3"], section("resampling", folds=8) + learners("NB", "TAN", "prior", "1R")),
}


def write_set(path: Path, noise: float, seed: int, rows: int = 100) -> None:
    """Write rows whose attributes follow the class but for noise; one copies another."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, rows)
    seen = {}
    for place in range(3):
        wrong = rng.random(rows) < noise * (1 + place / 2)
        seen[f"x{place}"] = np.where(wrong, 1 - kind, kind)
    seen["copy"] = np.where(rng.random(rows) < 0.1, 1 - seen["x2"], seen["x2"])
    table = pd.DataFrame(seen).replace({0: "u", 1: "v"})
    table.assign(kind=np.array(["a", "b"])[kind]).to_csv(path, index=False)


CLAIMED = (("TAN", "prior"), ("AODE", "NB"), ("NB", "TAN"))
LISTED = ("two", "unadjusted", "five")
CLAIMS = [
    ("two", "TAN", "NB", [60]),
    ("two", "NB", "TAN", [10, 25, 60]),
    ("unadjusted", "NB", "prior", [10, 30]),
    ("unadjusted", "TAN", "NB", [10, 30]),
    *(("five", who, whom, [size]) for who, whom in CLAIMED for size in (10, 30, 90)),
    ("five", "TAN", "prior", [10, 30, 90]),
    ("five", "1R", "AODE", [10, 90]),
]


def claim(study: str, who: str, whom: str, sizes: list[int]) -> str:
    """Return a claim whose words say what it is."""
    *others, last = map(str, sizes)
    at = f"{', '.join(others)} and {last}" if others else last
    text = f"{who} beats {whom} at {at} rows"
    keys = {"relation": "beats", "learners": [who], "against": [whom], "sizes": sizes}
    return section("[statements]", study=study, text=text, **keys)


def write(directory: Path) -> dict[str, Path]:
    """Write all studies of models to a directory, and return their files."""
    (directory / "sometimes.py").write_text(FAILING, encoding="utf-8")
    files = {name: directory / f"{name}.toml" for name in STUDIES}
    for name, path in files.items():
        path.write_text(STUDIES[name], encoding="utf-8")
    for name, given in SETS.items():
        write_set(directory / f"{name}.csv", *given)
    for name, (sets, body) in DATA_STUDIES.items():
        rows = "".join(section("[datasets]", path=f"{one}.csv") for one in sets)
        (directory / f"{name}.toml").write_text(f'name = "{name}"\nseed = 3\n{rows}{body}')
    listed = json.dumps([f"{name}.toml" for name in LISTED])
    claims = "".join(claim(*one) for one in CLAIMS)
    path = directory / "list.toml"
    path.write_text(f'name = "list"\nstudies = {listed}\n{claims}', encoding="utf-8")
    return files
