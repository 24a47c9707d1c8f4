"""What each learner of a study of data sets was given, and where that differs between them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from simstudy.report.prose.phrases import grouped, listed
from simstudy.results.read.base import Results

TO_PIPELINE = "left to the pipeline"  # as learners say
NOT_THERE, NOT_USED = "none in these data", "not used"
_MISSING = {"mode": "replaced by the most frequent value", "value": "a further value"}


class Inputs(NamedTuple):
    """What a learner was given of each kind of value, in words."""

    learner: str
    numbers: str
    scaled: str
    nominal: str
    missing: str


def cuts(prepared: Mapping[str, Any]) -> str:
    """How numbers are made nominal, by the keys of ``[preparation]``."""
    return {
        "mdl": "cut by Fayyad & Irani's (1993) criterion",
        "kononenko": "cut by Kononenko's (1995) criterion",
        "equal_frequency": f"cut into {prepared['bins']} bins of equal frequency",
        "equal_width": f"cut into {prepared['bins']} bins of equal width",
    }.get(prepared["discretize"], "not cut")


def inputs(results: Results) -> list[Inputs]:
    """What each learner was given; none of results of earlier versions, which did not record it."""
    manifest, rows = results.manifest, []
    tables, transforms = manifest["tables"].values(), manifest["transforms"]
    numeric = any(table["numeric"] for table in tables)
    nominal = any(table["numeric"] < table["attributes"] for table in tables)
    gaps = any(table["missing"] for table in tables)
    for label, identity in manifest["conditions"]["learners"]:
        if label not in transforms:
            continue
        prepared, does = json.loads(identity)[1], transforms[label]
        uncut = "numeric" in prepared["accepts"]
        missing = "" if "missing" in prepared["accepts"] else _MISSING.get(prepared["missing"], "")
        encoded = "nominal" in does and not uncut  # bins, which are nominal values
        numbers = does.get("numeric", "uncut") if uncut else cuts(prepared)
        scaled = does.get("scaled", "no") if uncut else "no"
        row = [
            numbers if numeric else NOT_THERE,
            scaled if numeric else NOT_THERE,
            does.get("nominal", "as they are") if nominal or encoded else NOT_THERE,
            (missing or does.get("missing", "left to the learner")) if gaps else NOT_THERE,
        ]
        rows.append(Inputs(label, *row))
    return rows


def different_inputs(results: Results, brief: bool = False) -> str:
    """Say which learners were given numbers or missing values in another form; "" if none was.

    In brief, only of the first kind that differs. What a pipeline makes of its input is not known.
    """
    rows, texts, certain = inputs(results), list[str](), False
    for what, key in (("numbers", "numbers"), ("missing values", "missing")):
        forms = grouped((getattr(row, key), row.learner) for row in rows)
        forms.pop(NOT_USED, None)
        if len(forms) > 1:
            which = [f"{form} for {listed(names, 9)}" for form, names in forms.items()]
            texts.append(f"{what} were {'; '.join(which)}")
            certain |= len(forms.keys() - {TO_PIPELINE}) > 1
    shown = ", and ".join(texts[:1] if brief else texts)
    were = "were" if certain else "may have been"
    return f"Learners {were} given different inputs: {shown}." if texts else ""
