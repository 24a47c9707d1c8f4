"""Run several studies and compare them on one page: lists of studies, and variants of a study."""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, Unpack

from simstudy.engine.plan import make_plan
from simstudy.engine.workers.child import spare_children
from simstudy.errors import SimstudyError
from simstudy.results.read.open import Results
from simstudy.results.store.atomic_files import write_files, write_text
from simstudy.study.claims import ModelClaim, Statement
from simstudy.study.constants import JOURNAL
from simstudy.study.files import set_dotted
from simstudy.study.lists import Collection, Published, Reading, load_variant
from simstudy.study.study import Study
from simstudy.texts import shortened
from simstudy.workflow.compare import compare_studies
from simstudy.workflow.progress import Progress
from simstudy.workflow.run import RunOptions, run_study

if TYPE_CHECKING:
    from simstudy.analysis.claims.published import Agreement
    from simstudy.analysis.claims.verdict import StatementVerdict

PAGE = "compare.html"
MAX_VARIANTS = 24
Watch: TypeAlias = Callable[[Study], AbstractContextManager[Progress | bool | None]]


def run_collection(
    collection: Collection,
    out: str | Path | None = None,
    *,
    watch: Watch | None = None,
    **options: Unpack[RunOptions],
) -> list[Results]:
    """Run all studies of a list, then write the page that compares them.

    Each study goes to ``<out>/<list>/<study>``, or ``<out>/<list>/<reading>/<study>`` without
    tables and figures, and the page to ``<out>/<list>/compare.html``; ``out`` is ``results`` if
    left out. Existing results are reused and interrupted runs resumed, as in `run_study`.
    ``watch`` is called with each study and returns a context manager around its run, which gives
    its ``progress``; if left out, there is a bar for each study in a notebook. ``report`` includes
    the page; other options are as in `run_study`. Returned are the results of the list, then those
    of readings with failed cells.
    """
    directory = place(collection, out)
    only_scores: RunOptions = {**options, "report": False, "refine": False}

    def run(part: Collection, where: Path, options: RunOptions) -> list[Results]:
        made = []
        for study in part.studies:
            shown = replace(study, name=str((where / study.name).relative_to(directory)))
            with watch(shown) if watch is not None else nullcontext() as progress:
                made.append(run_study(study, where / study.name, progress=progress, **options))
        return made

    with spare_children():
        results = run(collection, directory, options)
        readings = [run(part, directory / part.name, only_scores) for part in collection.readings]
    if options.get("report", True):
        from simstudy.report.pages.home import update_home
        from simstudy.report.tables.comparison import published

        write_text(directory / PAGE, page(collection, results, readings))
        update_home(results[0].directory)  # whose card links the page
        for printed, agreement in _agreements(collection, results):
            table = published(printed, agreement)
            write_text(directory / f"{table.name}.csv", table.csv)
    return results + [each for made in readings for each in made if each.manifest["failures"]]


def place(collection: Collection, out: str | Path | None = None) -> Path:
    """The directory for the results of a list."""
    return Path("results" if out is None else out) / collection.name


def summary(collection: Collection, results: Sequence[Results]) -> list[str]:
    """How many of the statements are reproduced, and which are not."""
    from simstudy.report.prose import claims

    verdicts = _verdicts(collection, results[: len(collection.studies)])
    return [claims.counts(verdicts), *claims.not_reproduced(verdicts)] if verdicts else []


def _verdicts(collection: Collection, results: Sequence[Results]) -> list[StatementVerdict]:
    """The verdicts on the statements by the results of all studies, in their order."""
    from simstudy.analysis.claims.verdict import check_statements

    names = [study.name for study in collection.studies]
    return check_statements(collection.statements, dict(zip(names, results, strict=True)))


def _agreements(
    collection: Collection, results: Sequence[Results]
) -> list[tuple[Published, Agreement]]:
    """How means agree with printed values."""
    from simstudy.analysis.claims.published import agreement
    from simstudy.experiments.learners.data_results import DataResults

    names = [study.name for study in collection.studies]
    agreements = []
    for printed in collection.published:
        made = results[names.index(printed.study)]
        assert isinstance(made, DataResults)
        means = made.data_findings(printed.measure or None).means
        agreed = agreement(means, printed.values, printed.leave_out, printed.tolerance)
        agreements.append((printed, agreed))
    return agreements


def page(
    collection: Collection, results: list[Results], readings: Sequence[list[Results]] = ()
) -> str:
    """The page that compares the studies, here and under ``others``, and checks the statements."""
    names = [study.name for study in collection.studies]
    parts = zip([collection, *collection.readings], [results, *readings], strict=True)
    verdicts = [(part.reading, _verdicts(part, made)) for part, made in parts]
    return compare_studies(
        results,
        names,
        verdicts[0][1],
        readings=verdicts if readings else (),
        printed=_agreements(collection, results),
        of_list=True,
        title=collection.title or collection.name,
        citation=collection.citation,
        note=collection.note,
    )


def parse_key(text: str) -> tuple[str, list[object]]:
    """Read ``measures.prior=train,test`` as a dotted key and its values.

    Values are written as in TOML; words need no quotes.
    """
    key, _, listed = text.partition("=")
    values = re.findall(r"(?:\[[^\]]*\]|\"[^\"]*\"|[^,])+", listed)
    if not key.strip() or not values:
        raise SimstudyError(f"--key: '{text}' is not of the form measures.prior=train,test")
    return key.strip(), [_value(value.strip()) for value in values]


def _value(text: str) -> object:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, deep nesting
        raise SimstudyError(f"--key: '{shortened(text)}' is too long or deeply nested") from error


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
        readings.append(Reading(label=label, id=f"{number:02}-{slug}"[:60], override=override))
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
    differ only in their analysis share their cells.

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
    write_text(place / PAGE, variants_page(readings, results))
    return place / PAGE, results


def _share(source: Path, directory: Path) -> None:
    """Copy the journal of a variant that has the same cells."""
    journal, copy = source / JOURNAL, directory / JOURNAL
    if journal != copy and journal.exists() and not copy.exists():
        write_files({copy: journal.read_bytes()})


def statements(variants: Sequence[Results]) -> list[Statement]:
    """Every "X beats Y at n rows" that any of the results supports, by size."""
    from simstudy.results.read.model_analyses import ModelResults

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
    from simstudy.analysis.claims.verdict import check_statements

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
