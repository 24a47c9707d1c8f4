"""Claims about studies of data sets, checked before anything runs."""

from __future__ import annotations

from simstudy.errors import suggestion
from simstudy.study.data_claims import OF_PAIRS, OF_TWO_MEASURES, DataClaim
from simstudy.study.explain import KeyedError
from simstudy.study.study import Study


def check_data_claim(claim: DataClaim, where: str, study: Study) -> None:
    """Refuse a claim that no result could decide; raises `KeyedError`."""
    datasets = [table.name for table in study.tables]
    labels, measures = study.labels, study.measures.labels
    for key, kind, names, known in (
        ("learners", "learner", claim.learners, labels),
        ("against", "learner", claim.against, labels),
        ("rival", "learner", [claim.rival] * bool(claim.rival), labels),
        ("datasets", "data set", claim.datasets, datasets),
        ("measure", "measure", [claim.measure] * bool(claim.measure), measures),
        ("other_measure", "measure", [claim.other_measure] * bool(claim.other_measure), measures),
    ):
        for name in names:
            if name not in known:
                text = f"the study '{study.name}' has no {kind} '{name}'{suggestion(name, known)}"
                raise KeyedError(f"{where}.{key}", text)
    _check_shape(claim, where)


def _check_shape(claim: DataClaim, where: str) -> None:
    """Refuse a claim that lacks what its relation needs, or has what it does not use."""
    relation = claim.relation
    two = relation in OF_TWO_MEASURES
    needed = {
        "learners": relation in (*OF_PAIRS, "wins more than it loses"),
        "against": relation in OF_PAIRS,
        "rival": relation == "beats wherever",
        "measure": two,
        "other_measure": two,
    }
    for key, wanted in needed.items():
        if wanted and not getattr(claim, key):
            raise KeyedError(f"{where}.{key}", f'"{relation}" needs this key')
    unused = {
        "learners": relation == "other winners",
        "against": relation not in OF_PAIRS,
        "rival": relation != "beats wherever",
        "datasets": relation not in ("beats", "never beats"),
        "other_measure": not two,
    }
    for key, idle in unused.items():
        if idle and getattr(claim, key):
            raise KeyedError(f"{where}.{key}", f'"{relation}" does not use this key')
    if {*claim.learners, claim.rival} & {*claim.against}:
        raise KeyedError(f"{where}.against", "a learner is compared with itself")
    if two and claim.measure == claim.other_measure:
        raise KeyedError(f"{where}.other_measure", "a measure is compared with itself")
