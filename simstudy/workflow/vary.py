"""Sensitivity analysis: variants of a study, and which findings hold under all of them."""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Unpack

from simstudy.analysis.claims import check_statements
from simstudy.engine.plan import make_plan
from simstudy.engine.workers.child import spare_children
from simstudy.errors import SimstudyError
from simstudy.results.analyses import ModelResults
from simstudy.results.files import write_files
from simstudy.results.results import Results
from simstudy.study.claims import ModelClaim, Statement
from simstudy.study.constants import JOURNAL
from simstudy.study.lists import load_variant
from simstudy.study.readings import Reading
from simstudy.study.toml import set_dotted
from simstudy.texts import shortened
from simstudy.workflow.compare import compare_studies, write_page
from simstudy.workflow.lists import PAGE, Watch
from simstudy.workflow.options import RunOptions
from simstudy.workflow.run import run_study

MAX_VARIANTS = 24


def parse_key(text: str) -> tuple[str, list[object]]:
    """Read ``measures.prior=train,test`` as a dotted key and its values.

    Values are written as in TOML; words need no quotes.
    """
    key, _, listed = text.partition("=")
    values = re.findall(r"(?:\[[^\]]*\]|\"[^\"]*\"|[^,])+", listed)
    if not key.strip() or not values:
        raise SimstudyError(
            f"--key: '{text}' is not a key with its values such as measures.prior=train,test"
        )
    return key.strip(), [_value(value.strip()) for value in values]


def _value(text: str) -> object:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, deep nesting
        raise SimstudyError(
            f"--key: '{shortened(text)}' is too long a number, or nested too deeply"
        ) from error


def variants(keys: Sequence[tuple[str, Sequence[object]]]) -> list[Reading]:
    """Every combination of the values of some keys, labelled and named."""
    combinations = [*itertools.product(*(values for _, values in keys))]
    if len(combinations) > MAX_VARIANTS:
        raise SimstudyError(
            f"--key: these values make {len(combinations)} variants; {MAX_VARIANTS} are allowed"
        )
    last = [key.rpartition(".")[2] for key, _ in keys]
    pairs = zip(last, keys, strict=True)
    names = [short if last.count(short) == 1 else key for short, (key, _) in pairs]
    readings = []
    for number, values in enumerate(combinations, start=1):
        override: dict[str, object] = {}
        for (key, _), value in zip(keys, values, strict=True):
            set_dotted(override, key, value)
        label = ", ".join(f"{name} {value}" for name, value in zip(names, values, strict=True))
        slug = re.sub(r"[^A-Za-z0-9.]+", "-", label).strip("-.")
        readings.append(Reading(label, id=f"{number:02}-{slug}"[:60], override=override))
    return readings


def vary_study(
    path: str | Path,
    keys: Sequence[str],
    out: str | Path | None = None,
    overrides: Mapping[str, object] | None = None,
    watch: Watch | None = None,
    **options: Unpack[RunOptions],
) -> tuple[Path, list[Results]]:
    """Run variants of a study and write a page: which findings hold under all of them.

    Each variant goes to ``<out>/<study>-varied/<variant>``, the page beside them. Variants that
    differ in their analysis alone share their cells.

    Parameters
    ----------
    path : str or Path
        The study file.
    keys : sequence of str
        Keys and values, e.g. ``measures.prior=train,test``; several keys are combined. A
        parameter of a learner is ``learners.LABEL.parameter``, one of a change
        ``changes[0].rate``.
    out : str or Path, optional
        The directory above; ``results`` if left out.
    overrides : mapping, optional
        Values that replace those of every variant, as in `load_study`.
    watch : callable, optional
        As in `run_collection`.
    **options
        Of the run, as in `run_study`.

    Returns
    -------
    (Path, list of Results)
        The page, and the results of the variants.
    """
    readings = variants([parse_key(key) for key in keys])
    studies = [load_variant(Path(path), reading.override, overrides) for reading in readings]
    for study in studies:
        study.demand_models("vary")
    place = Path("results" if out is None else out) / f"{studies[0].name}-varied"
    results: list[Results] = []
    computed: dict[str, Path] = {}
    with spare_children():
        for reading, study in zip(readings, studies, strict=True):
            directory = place / reading.id
            _share(computed.setdefault(make_plan(study).fingerprint(), directory), directory)
            with watch(study) if watch is not None else nullcontext() as progress:
                results.append(run_study(study, directory, progress=progress, **options))
    write_page(place / PAGE, variants_page(readings, results))
    return place / PAGE, results


def _share(source: Path, directory: Path) -> None:
    """Copy the journal of a variant that has the same cells."""
    journal, copy = source / JOURNAL, directory / JOURNAL
    if journal != copy and journal.exists() and not copy.exists():
        write_files({copy: journal.read_bytes()})


def statements(variants: Sequence[Results]) -> list[Statement]:
    """Every "X beats Y at n rows" that any of the results supports, by size."""
    beats: dict[tuple[int, str, str], None] = {}
    for results in variants:
        assert isinstance(results, ModelResults)
        for pair in results.findings().pairs:
            if pair.winner is not None:
                ahead = pair.seen_from(pair.winner)
                beats[ahead.size, ahead.first, ahead.second] = None
    name, findings = variants[0].study.name, []
    for size, first, second in sorted(beats, key=lambda key: key[0]):
        claim = ModelClaim(name, f"{size:,} rows", "beats", [first], [size], [second])
        findings.append(Statement(f"{first} beats {second} at {size:,} rows", [claim]))
    return findings


def variants_page(readings: Sequence[Reading], variants: Sequence[Results]) -> str:
    """The page of the variants: their curves, and each finding under each of them."""
    findings, study = statements(variants), variants[0].study
    verdicts = [
        (reading, check_statements(findings, {study.name: results}))
        for reading, results in zip(readings, variants, strict=True)
    ]
    return compare_studies(
        variants,
        [reading.label for reading in readings],
        readings=verdicts,
        title=f"Sensitivity of “{study.heading}”",
        variants=True,
    )
