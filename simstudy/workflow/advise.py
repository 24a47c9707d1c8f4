"""Advice on a table of one's own: two studies, of its splits and of truths fitted to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from simstudy.analysis.advice import Advice, DescribedTable, Lead
from simstudy.analysis.forecast import Present, Simulated, forecast
from simstudy.analysis.outlook import Outlook
from simstudy.arrays import FloatArray
from simstudy.data.arff_text import sample_text
from simstudy.data.assembly import ReadOptions
from simstudy.data.suggested import suggested_preparation
from simstudy.engine.seeds import stream
from simstudy.errors import SimstudyError
from simstudy.experiments.learners.data_results import DataResults
from simstudy.results.results import Results
from simstudy.study.constants import FAILURES, MAX_MODELS
from simstudy.study.study import make_study
from simstudy.workflow.compare import write_page
from simstudy.workflow.options import RunOptions
from simstudy.workflow.own_table import OwnTable, read_own
from simstudy.workflow.progress import Progress
from simstudy.workflow.run import run_study

if TYPE_CHECKING:
    from simstudy.data.files import PathOrFrame

MODELS = 40
_FOLDS = 10
_SHARES = (0.125, 0.25, 0.5, 1.0)  # of the training part
_TIMES = (1, 2, 5, 10)  # the rows at hand
_MAX_SIMULATED = 20_000  # training rows, unless twice the rows at hand are more
_SPLIT_ROWS = 3000  # rows that all repeats together split, about
_MAX_CAMML = 8  # variables up to which CaMML is among the learners
_MAX_SAMPLED = 20  # variables up to which structures are drawn from CaMML's posterior
_MAX_FITTED = 61  # attributes of a simulated truth
_TRUTH = "truth"

Watch = Callable[[str], AbstractContextManager[Progress | None]]


class Advised(Advice):
    """Advice, and how it reads."""

    def __repr__(self) -> str:
        return f"Advised({self.about.name!r}: {self.about.rows:,} rows; {self.page})"

    @property
    def sentences(self) -> list[str]:
        """The advice in a few sentences."""
        from simstudy.report.prose.advice import summary

        return summary(self)

    def _repr_html_(self) -> str:
        """What a notebook shows: the sentences and the predicted curves."""
        from simstudy.report.advice import notebook_advice

        return notebook_advice(self)


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
) -> Advised:
    """Say which learner does best on a table now, and what more rows would bring.

    Scores now are those of repeated cross-validation. Scores with more rows are predicted from
    scores on networks drawn from the posterior given the table, and from the course of the table's
    own learning curve; see `simstudy.analysis.forecast`. A page is written to ``out``.

    Parameters
    ----------
    data : path or pandas.DataFrame
        A file (CSV, ARFF or Parquet) or a frame.
    target : str
        The column to predict.
    out : str or Path, optional
        The directory for the page and the two studies; ``results/advise-<name>`` if left out.
    ignore, keep, nominal : sequence of str
        Columns to leave out; to keep although they look like identifiers or copies of the target;
        whose numbers are names.
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
        Is given what is done next, and returns a context of a progress callback.
    """
    if not 10 <= models <= MAX_MODELS:
        raise SimstudyError(
            f"models = {models} is not allowed; it must be between 10 and {MAX_MODELS:,}"
        )
    reading = ReadOptions(target, nominal, (), ignore, missing_values=missing_values, keep=keep)
    watch = watch or (lambda _: nullcontext())
    with watch("reading"):
        table = read_own(data, reading, seed)
    place = Path(out) if out is not None else Path("results") / f"advise-{table.name}"
    sizes = _sizes(len(table.sample), rows)
    about = _described(table, fitter, models, seed)
    _keep_rows(place, sample_text(table.sample), overwrite)
    labels = {"NB": "naive_bayes", "TAN": "tan", "AODE": "aode", "C4.5": "c45"}
    if len(table.sample.cards) <= _MAX_CAMML:
        labels["CaMML"] = "camml"

    def run(part: str, content: dict[str, object]) -> Results:
        with watch(part) as progress:
            study = make_study(content, place, str(place / part))
            options: RunOptions = {"jobs": jobs, "overwrite": overwrite, "report": False}
            return run_study(study, place / part, progress=progress or False, **options)

    splits = run("table", _data_study(about, labels))
    drawn = run("simulated", _fitted_study(about, labels, sizes))
    advice = _advice(splits, drawn, about, place)
    from simstudy.report.advice import advice_page

    write_page(advice.page, advice_page(advice))
    return advice


def _keep_rows(place: Path, text: str, overwrite: bool) -> None:
    """Write the rows that are used, unless the directory has advice on others."""
    path = place / "data.arff"
    if path.exists() and not overwrite and path.read_bytes() != text.encode():
        raise SimstudyError(
            f"{place} has advice on other rows or columns; choose another --out, or --overwrite"
        )
    write_page(path, text)


def _sizes(rows: int, also: Sequence[int]) -> list[int]:
    """The training sizes of simulated truths: those of the splits, and those to predict."""
    most = max(_MAX_SIMULATED, 2 * rows)
    more = [rows * times for times in _TIMES if rows * times <= most]
    if more[-1] < min(most, rows * _TIMES[-1]):
        more.append(min(most, rows * _TIMES[-1]))
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


def _described(table: OwnTable, fitter: str, models: int, seed: int) -> DescribedTable:
    sample, chosen = table.sample, suggested_preparation(table.sample)
    attributes = len(sample.schema.attributes)
    if fitter == "auto":
        fitter = "camml" if attributes < _MAX_SAMPLED else "tan"
    return DescribedTable(
        table.name,
        table.target,
        table.all_rows,
        len(sample),
        attributes,
        int(np.count_nonzero(sample.class_counts)),
        table.screening.identifiers,
        table.screening.copies,
        table.screening.constants,
        max(0, attributes - _MAX_FITTED),
        table.notes,
        chosen.discretize if sample.schema.numeric else "",
        "value" if sample.incomplete else "",
        fitter,
        models,
        _FOLDS,
        min(10, max(1, _SPLIT_ROWS // len(sample))) if attributes <= _MAX_FITTED else 1,
        seed,
    )


def _shared(
    about: DescribedTable, labels: dict[str, str], part: str, **options: object
) -> dict[str, object]:
    return {
        "name": f"{about.name}-{part}",
        "seed": about.seed,
        "measures": {"primary": "information_reward", "also": ["accuracy"]},
        "learners": [{"name": name, "label": label, **options} for label, name in labels.items()],
    }


def _data_study(about: DescribedTable, labels: dict[str, str]) -> dict[str, object]:
    """The study of splits of the table; all learners get rows that are prepared alike."""
    prepared = {"discretize": about.discretize or "mdl", "bins": 5}
    prepared["missing"] = about.missing or "ignore"
    return _shared(about, labels, "table", preparation=prepared) | {
        "title": f"{about.name}: cross-validation",
        "datasets": [{"path": "data.arff", "name": about.name, "target": about.target}],
        "resampling": {"scheme": "cv", "stratify": True, "sizes": list(_SHARES)}
        | {"folds": about.folds, "repeats": about.repeats},
    }


def _fitted_study(
    about: DescribedTable, labels: dict[str, str], sizes: list[int]
) -> dict[str, object]:
    """The study of networks fitted to the table."""
    content = _shared(about, {**labels, _TRUTH: "truth"}, "simulated")
    return content | {
        "title": f"{about.name}: truths fitted to the table",
        "models": about.models,
        "family": {
            "name": "fitted",
            "data": "data.arff",
            "target": about.target,
            "fitter": about.fitter,
            "discretize": about.discretize or "mdl",
        },
        "data": {"train_sizes": sizes, "test_size": 1000, "training": "nested"},
    }


def _advice(splits: Results, drawn: Results, about: DescribedTable, place: Path) -> Advised:
    """Put the scores of both studies together."""
    labels = [label for label in drawn.learners if label != _TRUTH]
    failed = [label for label in labels if _has_gaps(splits, label) or _has_gaps(drawn, label)]
    kept = tuple(label for label in labels if label not in failed)
    if not kept:
        raise SimstudyError(f"every learner failed; see {splits.directory / FAILURES}")
    outlooks = tuple(_outlook(splits, drawn, name, kept, about) for name in drawn.measures)
    leads = tuple(_leads(splits, name, kept) for name in drawn.measures)
    return Advised(about, outlooks, leads, tuple(failed), place)


def _outlook(
    splits: Results, drawn: Results, measure: str, labels: tuple[str, ...], about: DescribedTable
) -> Outlook:
    real = _training_sizes(about.rows)
    present = Present(_scores(splits, measure, labels), real, 1 / about.folds)
    simulated = Simulated(_scores(drawn, measure, labels), tuple(drawn.study.doses), real[-1])
    rng = stream(about.seed, "advise", 0, measure)
    expected = forecast(present, simulated, rng, most=1.0 if measure == "accuracy" else np.inf)
    best, info = _scores(drawn, measure, (_TRUTH,))[..., 0], drawn.info(measure)
    return Outlook(measure, info, labels, about.rows, present, simulated, expected, best)


def _scores(results: Results, measure: str, labels: Sequence[str]) -> FloatArray:
    """Scores by model or split, size and learner."""
    shape = (-1, len(results.doses), len(results.treatments))
    values = results.scores[measure].to_numpy(np.float64).reshape(shape)
    return values[..., [results.treatments.index(label) for label in labels]]


def _has_gaps(results: Results, label: str) -> bool:
    return any(
        not np.isfinite(_scores(results, measure, (label,))).all() for measure in results.measures
    )


def _leads(splits: Results, measure: str, labels: Sequence[str]) -> tuple[Lead, ...]:
    """Who is significantly ahead of whom now."""
    assert isinstance(splits, DataResults)
    tests = splits.winners(measure).pairs
    keys = ("winner", "loser", "difference", "p_adjusted")
    return tuple(
        Lead(winner, loser, abs(difference), p)
        for winner, loser, difference, p in zip(*(tests[key] for key in keys), strict=True)
        if {winner, loser} <= {*labels}
    )
