"""The designs of several studies side by side, and what not all of them have."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from simstudy.report.phrases import listed

if TYPE_CHECKING:
    from simstudy.results.results import Results


def designs(results: Sequence[Results]) -> list[tuple[str, list[str], bool]]:
    """Every setting of the studies: its key, its values, and whether they differ."""
    flat = [_flat(found) for found in results]
    keys = dict.fromkeys(itertools.chain.from_iterable(flat))
    rows = [(key, [one.get(key, "–") for one in flat]) for key in keys]
    return [(key, values, len({*values}) > 1) for key, values in rows]


def _flat(study: Results) -> dict[str, str]:
    """A study's settings by dotted key, its learners by their labels."""
    found: dict[str, str] = {}
    for key, value in study.settings.items():
        if key == "learners":
            for learner in value:
                rest = {k: v for k, v in learner.items() if k not in ("name", "label")}
                options = ", ".join(f"{k} = {_said(v)}" for k, v in rest.items())
                text = learner["name"] + (f" ({options})" if options else "")
                found[f"learner {learner['label']}"] = text
        elif isinstance(value, dict):
            found |= {f"{key}.{inner}": _said(given) for inner, given in value.items()}
        else:
            found[key] = str(value) if key == "seed" else _said(value)
    found["failed cells"] = f"{study.manifest['failures']:,} of {study.manifest['cells']:,}"
    found["simstudy"] = str(study.manifest["conditions"]["simstudy"])
    return found


def _said(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_said, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value) or "none"


def apart(results: Sequence[Results], names: Sequence[str]) -> list[str]:
    """What not all studies have, and conventions that make numbers of different kinds."""
    said = []
    for what, lists in (
        ("learners", [found.learners for found in results]),
        ("sizes", [[f"{size:,}" for size in found.sizes] for found in results]),
        ("measures", [found.measures for found in results]),
    ):
        shared = set.intersection(*map(set, lists))
        for name, own in zip(names, lists, strict=True):
            alone = [item for item in own if item not in shared]
            if alone:
                said.append(f"{name} has {what} that not all studies have: {listed(alone, 12)}.")
    families = [found.settings["family"]["name"] for found in results]
    if len({*families}) > 1:
        each = listed([f"{family} in {name}" for family, name in zip(families, names, strict=True)])
        said.append(f"The models are of different families: {each}.")
    said += _other_learners(results, names)
    for key in ("prior", "cutoff", "base"):
        values = [str(found.settings["measures"][key]) for found in results]
        if len({*values}) > 1:
            each = listed([f"{value} in {name}" for value, name in zip(values, names, strict=True)])
            said.append(
                f"The {key} of the rewards is not the same in all studies ({each}), so their "
                "rewards are not of the same kind."
            )
    tests = [str(found.settings["data"]["test_size"]) for found in results]
    if len({*tests}) > 1:
        each = listed([f"{value} in {name}" for value, name in zip(tests, names, strict=True)])
        said.append(f"The studies were judged on tests of different sizes: {each}.")
    return said


def _other_learners(results: Sequence[Results], names: Sequence[str]) -> list[str]:
    """Labels that stand for different learners, or for one with different parameters."""
    meanings: dict[str, dict[str, list[str]]] = {}
    for found, name in zip(results, names, strict=True):
        for key, text in _flat(found).items():
            if key.startswith("learner "):
                meanings.setdefault(key, {}).setdefault(text, []).append(name)
    return [
        f"The label {key.removeprefix('learner ')} does not mean the same in all studies: "
        + "; ".join(f"{text} in {listed(where)}" for text, where in texts.items())
        + "."
        for key, texts in meanings.items()
        if len(texts) > 1
    ]
