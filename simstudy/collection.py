"""A list of studies that belong together, run one after the other and compared on one page."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from simstudy.engine.child import spare_children
from simstudy.errors import SimstudyError, suggestion
from simstudy.report.claims import FIRST_AGAINST, PAIRS, Claim
from simstudy.results import Results
from simstudy.running import Progress, run_study
from simstudy.study import KeyedError, Study, load_study
from simstudy.study_errors import dotted, sentence
from simstudy.toml import read_toml

PAGE = "compare.html"
Watch: TypeAlias = Callable[[Study], AbstractContextManager[Progress | None]]


class _List(BaseModel):
    """The content of a list file, but for its claims."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
    title: str = ""
    citation: str = ""
    studies: list[str] = Field(min_length=1)
    claims: list[Any] = []


@dataclass(frozen=True)
class Collection:
    """The validated content of one list file.

    Attributes
    ----------
    name, title, citation : str
        What it is called, and what it is taken from.
    studies : list of Study
        The studies, in the order of the list.
    claims : list of Claim
        What was said of them elsewhere.
    """

    name: str
    title: str
    citation: str
    studies: list[Study]
    claims: list[Claim]


def is_collection(path: str | Path) -> bool:
    """Whether a file is a list of studies: TOML with the key ``studies``.

    What cannot be read is none; `load_study` says what is wrong with it.
    """
    try:
        return "studies" in read_toml(Path(path))
    except SimstudyError:
        return False


def load_collection(path: str | Path, overrides: Mapping[str, Any] | None = None) -> Collection:
    """Read and check a list file and all studies in it.

    Parameters
    ----------
    path : str or Path
        The TOML file; the studies it names are relative to it.
    overrides : mapping, optional
        Values that replace those of every study, as in `load_study`. A claim may then name sizes
        that the studies no longer have; it will be undecided.

    Raises
    ------
    SimstudyError
        In one sentence: which file, which key, what value, what is allowed.
    """
    path = Path(path)
    content = read_toml(path)
    try:
        given = _List.model_validate_json(json.dumps(content, default=str))
        studies = _studies(given.studies, path, overrides)
        claims = [_claim(claim, index) for index, claim in enumerate(given.claims)]
        known = {study.name: study for study in studies}
        for index, claim in enumerate(claims):
            _check_claim(claim, f"claims[{index}]", known, check_sizes=not overrides)
    except ValidationError as error:
        key, message = _explain(error, _List.model_fields)
        raise SimstudyError(f"{path}, {key}: {message}") from error
    except KeyedError as error:
        raise SimstudyError(f"{path}, {error.key}: {error}") from error
    return Collection(given.name, given.title, given.citation, studies, claims)


def run_collection(
    collection: Collection,
    out: str | Path | None = None,
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    overwrite: bool = False,
    report: bool = True,
    fail_fast: bool = False,
    retry: bool = False,
    refine: bool | None = None,
    watch: Watch | None = None,
) -> list[Results]:
    """Run all studies of a list, then write the page that compares them.

    Each study goes to ``<out>/<list>/<study>``, the page to ``<out>/<list>/compare.html``. What is
    there already is kept, and a run that was stopped goes on, as in `run_study`.

    Parameters
    ----------
    collection : Collection
        From `load_collection`.
    out : str or Path, optional
        The directory above; ``results`` if left out.
    jobs, cluster, overwrite, fail_fast, retry, refine
        As in `run_study`.
    report : bool
        Whether to write each study's tables and figures, and the page.
    watch : callable, optional
        Called with each study before it runs; gives a context manager around the run, with
        something to call each time a model is finished, or None.
    """
    directory = place(collection, out)
    results = []
    with spare_children():
        for study in collection.studies:
            with watch(study) if watch is not None else nullcontext() as progress:
                results.append(
                    run_study(
                        study,
                        directory / study.name,
                        jobs=jobs,
                        cluster=cluster,
                        overwrite=overwrite,
                        report=report,
                        fail_fast=fail_fast,
                        retry=retry,
                        refine=refine,
                        progress=progress,
                    )
                )
    if report:
        from simstudy.comparing import write_page

        write_page(directory / PAGE, page(collection, results))
    return results


def place(collection: Collection, out: str | Path | None = None) -> Path:
    """Where the results of a list of studies go."""
    return Path("results" if out is None else out) / collection.name


def page(collection: Collection, results: list[Results]) -> str:
    """The page that compares the studies and holds the claims against them."""
    from simstudy.comparing import compare_studies
    from simstudy.report.claims import check_claims

    named = {study.name: found for study, found in zip(collection.studies, results, strict=True)}
    return compare_studies(
        results,
        list(named),
        check_claims(collection.claims, named),
        title=collection.title or collection.name,
        citation=collection.citation,
    )


def _studies(names: list[str], path: Path, overrides: Mapping[str, Any] | None) -> list[Study]:
    """The studies of a list; no two may have one name, for it is the name of their directory."""
    studies: list[Study] = []
    for index, name in enumerate(names):
        key = f"studies[{index}]"
        file = path.parent / name
        if file.resolve() == path.resolve() or is_collection(file):
            raise KeyedError(key, f'"{name}" is a list of studies itself; name single studies')
        try:
            study = load_study(file, overrides)
        except SimstudyError as error:
            raise KeyedError(key, str(error)) from error
        if study.name in [other.name for other in studies]:
            raise KeyedError(key, f"two studies have the name '{study.name}'")
        studies.append(study)
    return studies


_CLAIM = TypeAdapter(Claim)


def _claim(given: Any, index: int) -> Claim:
    """One claim of a list, its keys and their types checked."""
    where = f"claims[{index}]"
    known = [field.name for field in fields(Claim)]
    if not isinstance(given, dict):
        raise KeyedError(where, "each claim needs a section of its own, [[claims]]")
    for key in given:
        if key not in known:
            raise KeyedError(f"{where}.{key}", f"unknown key{suggestion(key, known)}")
    try:
        return _CLAIM.validate_json(json.dumps(given), strict=True)
    except ValidationError as error:
        key, message = _explain(error, known)
        raise KeyedError(f"{where}.{key}", message) from error


def _check_claim(claim: Claim, where: str, studies: dict[str, Study], check_sizes: bool) -> None:
    """Refuse a claim that no result could decide."""
    if claim.study not in studies:
        raise KeyedError(
            f"{where}.study", f"no study '{claim.study}'{suggestion(claim.study, studies)}"
        )
    study = studies[claim.study]
    for key, names in (("learners", claim.learners), ("against", claim.against or [])):
        for name in names:
            if name not in study.labels:
                said = f"the study '{study.name}' has no learner '{name}'"
                raise KeyedError(f"{where}.{key}", said + suggestion(name, study.labels))
    if claim.measure and claim.measure not in study.measures.names:
        said = f"the study '{study.name}' has no measure '{claim.measure}'"
        raise KeyedError(f"{where}.measure", said + suggestion(claim.measure, study.measures.names))
    for size in claim.sizes:
        if check_sizes and size not in study.data.train_sizes:
            sizes = ", ".join(map(str, study.data.train_sizes))
            said = f"the study '{study.name}' has no size {size}; it has {sizes}"
            raise KeyedError(f"{where}.sizes", said)
    _check_shape(claim, where)


def _check_shape(claim: Claim, where: str) -> None:
    """Refuse a claim without what its relation needs, or with what it has no use for."""
    relation = f'"{claim.relation}"'
    for key in ("learners", "sizes"):
        if not getattr(claim, key):
            raise KeyedError(f"{where}.{key}", "at least 1 is needed")
    numbers = len(claim.value or [])
    wanted = 0 if claim.relation in PAIRS else 2 if claim.relation == "between" else 1
    if numbers != wanted:
        said = f"{relation} needs {wanted or 'no'} number{'s' * (wanted != 1)}, not {numbers}"
        raise KeyedError(f"{where}.value", said)
    if claim.relation == "between" and claim.value and claim.value[0] >= claim.value[1]:
        low, high = claim.value
        said = f"{relation} needs the lower number first; {low:g} is not below {high:g}"
        raise KeyedError(f"{where}.value", said)
    if claim.relation in FIRST_AGAINST and not claim.against:
        raise KeyedError(f"{where}.against", f"{relation} needs learners to compare with")
    if claim.relation not in PAIRS and claim.against:
        raise KeyedError(f"{where}.against", f"{relation} is said of a mean, not of two learners")
    if claim.relation in PAIRS and not any(first != second for first, second in claim.pairs()):
        raise KeyedError(f"{where}.learners", f"{relation} needs two learners")
    if claim.relation in PAIRS and any(first == second for first, second in claim.pairs()):
        raise KeyedError(f"{where}.against", "a learner is compared with itself")
    if claim.relation in ("level", "near") and not claim.margin > 0:
        raise KeyedError(f"{where}.margin", f"{relation} needs a margin above 0")
    if claim.margin < 0:
        raise KeyedError(f"{where}.margin", f"{claim.margin} is not allowed; it must be at least 0")


def _explain(error: ValidationError, known: Any) -> tuple[str, str]:
    """The key and the sentence of the first thing that is wrong, a misspelt key before others."""
    errors = sorted(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
    first = errors[0]
    key = dotted(first["loc"])
    if first["type"] == "extra_forbidden":
        return key, f"unknown key{suggestion(str(first['loc'][-1]), known)}"
    if first["type"] == "missing":
        return key, "this key is missing"
    return key, sentence(first, first["input"])
