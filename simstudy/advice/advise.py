"""Advice on a user's table: a study of its splits, and one of networks fitted to it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from simstudy.advice.facts import LEARNERS, Advice, DescribedTable, Outlook
from simstudy.advice.forecast import Present, Simulated, forecast
from simstudy.arrays import FloatArray
from simstudy.data.checks import check_usable, few_rows, oddities, screened
from simstudy.data.files.arff import sample_text
from simstudy.data.files.assembly import ReadOptions
from simstudy.data.files.read import read_data_set
from simstudy.data.preparation.prepare import suggested_preparation
from simstudy.data.quick_check import quick_check
from simstudy.data.sample import Sample
from simstudy.data.schema import Schema
from simstudy.engine.seeds import stream
from simstudy.engine.workers.child import spare_children
from simstudy.errors import SimstudyError
from simstudy.experiments.learners.data_results import DataResults
from simstudy.results.read.open import Results
from simstudy.results.store.atomic_files import write_text
from simstudy.study.constants import FAILURES, MAX_MODELS
from simstudy.study.study import make_study
from simstudy.workflow.progress import Progress
from simstudy.workflow.run import RunOptions, run_study

if TYPE_CHECKING:
    from simstudy.data.files.read import PathOrFrame

MODELS = 40
_FOLDS = 10
_SHARES = (0.125, 0.25, 0.5, 1.0)  # of the training part
_TIMES = (1, 2, 5, 10)  # the rows at hand
_MAX_SIMULATED = 20_000  # training rows, unless twice the rows at hand are more
_SPLIT_ROWS = 3000  # rows that all repeats together split, about
_MAX_CAMML = 8  # variables up to which CaMML is among the learners
_MAX_SAMPLED = 20  # variables up to which structures are drawn from CaMML's posterior
_MAX_FITTED = 61  # attributes of a simulated truth
_MAX_ROWS = 5000  # that are used
_TRUTH = "truth"

Watch = Callable[[str], AbstractContextManager[Progress | None]]
Labels: TypeAlias = dict[str, str]  # the names of learners by their labels
Content: TypeAlias = dict[str, object]  # of a study file


def advise(
    data: PathOrFrame,
    target: str | None = None,
    out: str | Path | None = None,
    *,
    ignore: Sequence[str] = (),
    keep: Sequence[str] = (),
    nominal: Sequence[str] = (),
    missing_values: Sequence[str] | None = None,
    rows: Sequence[int] = (),
    fitter: Literal["auto", "camml", "tan", "kdb", "bootstrap"] = "auto",
    models: int = MODELS,
    seed: int = 1,
    jobs: int | None = None,
    overwrite: bool = False,
    watch: Watch | None = None,
) -> Advice:
    """Say which learner does best on a table now, and what more rows would bring.

    Scores now are those of repeated cross-validation. Scores with more rows are predicted from
    scores on networks drawn from the posterior given the table, and from the learning curve of the
    table; see `simstudy.advice.forecast`. A page is written to ``out``.

    Parameters
    ----------
    data : path or data frame
        A file, the name of a data set, or a frame, as for `read_data`.
    target : str, optional
        The column to predict; by default that which the data set declares, else the last one.
    out : str or Path, optional
        The directory for the page and the two studies; ``results/advise-<name>`` if left out.
    ignore, keep, nominal : sequence of str
        Columns to leave out; to keep although they look like identifiers or copies of the target;
        whose numbers are labels of categories.
    missing_values : sequence of str, optional
        What stands for a missing value; as for `read_data`.
    rows : sequence of int
        Further numbers of rows to predict scores for.
    fitter : {"auto", "camml", "tan", "kdb", "bootstrap"}
        Where the structures of simulated truths come from, see the family ``fitted``; "auto" is
        "camml" up to 20 variables and "tan" beyond.
    models : int >= 10
        The number of simulated truths.
    seed : int
        The seed of all random streams.
    jobs : int, optional
        Worker processes; one per processor if left out.
    overwrite : bool
        Replace existing results.
    watch : callable, optional
        Called with the name of each step; returns a context manager with a progress callback.
    """
    if not 10 <= models <= MAX_MODELS:
        raise SimstudyError(
            f"models = {models} is not allowed; it must be between 10 and {MAX_MODELS:,}"
        )
    reading = ReadOptions(target, nominal, (), ignore, missing_values=missing_values, keep=keep)
    watch = watch or (lambda _: nullcontext())
    with watch("reading"):
        sample, about = read_table(data, reading, fitter, models, seed)
    place = Path(out) if out is not None else Path("results") / f"advise-{about.name}"
    sizes = _sizes(about.rows, rows)
    _keep_rows(place, sample_text(sample), overwrite)
    labels = dict(LEARNERS)
    if len(sample.cards) > _MAX_CAMML:
        del labels["CaMML"]

    def run(part: str, content: Content) -> Results:
        with watch(part) as progress:
            study = make_study(content, place, str(place / part))
            options: RunOptions = {"jobs": jobs, "overwrite": overwrite, "report": False}
            return run_study(study, place / part, progress=progress or False, **options)

    with spare_children():  # the second study uses the workers of the first
        splits = run("table", _data_study(about, labels))
        drawn = run("simulated", _fitted_study(about, labels, sizes))
    advice = _advice(splits, drawn, about, place)
    from simstudy.advice.page import advice_page

    write_text(advice.page, advice_page(advice))
    return advice


def _keep_rows(place: Path, text: str, overwrite: bool) -> None:
    """Write the rows that are used, unless the directory has advice on others."""
    path = place / "data.arff"
    if path.exists() and not overwrite and path.read_bytes() != text.encode():
        raise SimstudyError(
            f"{place} has advice on other rows or columns; choose another --out, or --overwrite"
        )
    write_text(path, text)


def _sizes(rows: int, also: Sequence[int]) -> list[int]:
    """The training sizes of simulated truths: those of the splits, and those to predict."""
    largest = max(_MAX_SIMULATED, 2 * rows)
    more = [min(rows * times, largest) for times in _TIMES]
    for size in also:
        if not rows < size <= 100 * rows:
            raise SimstudyError(
                f"--rows: {size:,} is not allowed; it must be above the {rows:,} rows at hand and "
                "at most a hundred times as many"
            )
    return sorted({*_training_sizes(rows), *more, *also})


def _training_sizes(rows: int) -> tuple[int, ...]:
    """The rows of the training parts of cross-validation, and of shares of them."""
    return tuple(max(1, int(share * (rows * (_FOLDS - 1) // _FOLDS))) for share in _SHARES)


def read_table(
    data: PathOrFrame, reading: ReadOptions, fitter: str, models: int, seed: int
) -> tuple[Sample, DescribedTable]:
    """Read a table; leave out rows beyond 5,000, at random, and columns that would mislead."""
    table = read_data_set(data, reading)
    sample, rows = table.sample, len(table.sample)
    screening = screened(sample, reading.keep)
    if rows > _MAX_ROWS:
        order = stream(seed, "advise", 0, "rows").permutation(rows)[:_MAX_ROWS]
        sample = sample.take(np.sort(order))
    check_usable(sample, screening, table.source)
    variables = sample.schema.variables
    kept = [i for i, each in enumerate(variables) if each.name not in screening.suspects]
    schema = Schema(tuple(variables[place] for place in kept))
    sample = Sample.of(np.asfortranarray(sample.values[:, kept]), schema)
    attributes = len(schema.attributes)
    quick = quick_check(sample, reading.keep, stream(0, "data", 0, "check"))
    if fitter == "auto":
        fitter = "camml" if attributes < _MAX_SAMPLED else "tan"
    many = attributes > _MAX_FITTED
    return sample, DescribedTable(
        re.sub(r"[^A-Za-z0-9_.-]+", "-", table.name).strip("-.") or "table",
        schema.target.name,
        rows,
        len(sample),
        attributes,
        int(np.count_nonzero(sample.class_counts)),
        screening,
        max(0, attributes - _MAX_FITTED),
        (*table.target_note, *oddities(table, left_out=screening), *few_rows(sample), *quick),
        suggested_preparation(sample).discretize if schema.numeric else "",
        "value" if sample.incomplete else "",
        fitter,
        models,
        _FOLDS,
        1 if many else min(10, max(1, _SPLIT_ROWS // len(sample))),
        seed,
    )


def _shared(about: DescribedTable, labels: Labels, part: str, **options: object) -> Content:
    return {
        "name": f"{about.name}-{part}",
        "seed": about.seed,
        "measures": {"primary": "information_reward", "also": ["accuracy"]},
        "learners": [{"name": name, "label": label, **options} for label, name in labels.items()],
    }


def _data_study(about: DescribedTable, labels: Labels) -> Content:
    """The study of splits of the table; all learners get rows that are prepared alike."""
    prepared = {"discretize": about.discretize or "mdl", "bins": 5}
    prepared["missing"] = about.missing or "ignore"
    return _shared(about, labels, "table", preparation=prepared) | {
        "title": f"{about.name}: cross-validation",
        "datasets": [{"path": "data.arff", "name": about.name, "target": about.target}],
        "resampling": {"scheme": "cv", "stratify": True, "sizes": list(_SHARES)}
        | {"folds": about.folds, "repeats": about.repeats},
    }


def _fitted_study(about: DescribedTable, labels: Labels, sizes: list[int]) -> Content:
    """The study of networks fitted to the table."""
    family = {"name": "fitted", "data": "data.arff", "target": about.target}
    family |= {"fitter": about.fitter, "discretize": about.discretize or "mdl"}
    content = _shared(about, {**labels, _TRUTH: "truth"}, "simulated")
    return content | {
        "title": f"{about.name}: truths fitted to the table",
        "models": about.models,
        "family": family,
        "data": {"train_sizes": sizes, "test_size": 1000, "training": "nested"},
    }


def _advice(splits: Results, drawn: Results, about: DescribedTable, place: Path) -> Advice:
    """Put the scores of both studies together."""
    labels = [label for label in drawn.learners if label != _TRUTH]
    measures = drawn.measures
    scores = [_scores(part, name, labels) for part in (splits, drawn) for name in measures]
    complete = np.all([np.isfinite(each).all(axis=(0, 1)) for each in scores], axis=0)
    kept = tuple(itertools.compress(labels, complete))
    failed = tuple(itertools.compress(labels, ~complete))
    if not kept:
        raise SimstudyError(f"every learner failed; see {splits.directory / FAILURES}")
    outlooks = tuple(_outlook(splits, drawn, name, kept, about) for name in measures)
    return Advice(about, outlooks, failed, place)


def _outlook(
    splits: Results, drawn: Results, measure: str, labels: tuple[str, ...], about: DescribedTable
) -> Outlook:
    real = _training_sizes(about.rows)
    present = Present(_scores(splits, measure, labels), real, 1 / about.folds)
    simulated = Simulated(_scores(drawn, measure, labels), tuple(drawn.study.doses), real[-1])
    rng = stream(about.seed, "advise", 0, measure)
    expected = forecast(present, simulated, rng, most=1.0 if measure == "accuracy" else np.inf)
    best, info = _scores(drawn, measure, (_TRUTH,))[..., 0], drawn.info(measure)
    assert isinstance(splits, DataResults)
    tests = splits.winners(measure).pairs
    ahead = labels[int(present.means.argmax())]
    behind = tuple(tests.loc[tests["winner"].eq(ahead) & tests["loser"].isin(labels), "loser"])
    return Outlook(measure, info, labels, about.rows, present, simulated, expected, best, behind)


def _scores(results: Results, measure: str, labels: Sequence[str]) -> FloatArray:
    """Scores by model or split, size and learner."""
    shape = (-1, len(results.doses), len(results.treatments))
    values = results.scores[measure].to_numpy(np.float64).reshape(shape)
    return values[..., [results.treatments.index(label) for label in labels]]
