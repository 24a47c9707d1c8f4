"""What a study found: its scores, and the analyses of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simstudy.errors import SimstudyError, suggestion
from simstudy.measures.base import MeasureInfo
from simstudy.results.kept import foreign, kept_study
from simstudy.results.manifest import filled
from simstudy.results.store import COMPLETE, REFINED, SCORES, SHARD, Store
from simstudy.texts import csv_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from simstudy.analysis.findings import Findings
    from simstudy.analysis.ranks import Ranks
    from simstudy.analysis.regret import Regret
    from simstudy.analysis.reliability import Reliability
    from simstudy.engine.plan import Plan
    from simstudy.networks.model import Model

_KEYS = ["model", "size", "learner"]


def open_results(directory: str | Path) -> Results:
    """Open the results that a study wrote."""
    return Results(Path(directory))


class Results:
    """What a study found.

    Attributes
    ----------
    directory : Path
        Where the files are.
    study : Study
        The study as it was run; nothing that it names is looked up or executed.
    settings : dict
        The same as a dictionary, section by section.
    manifest : dict
        What made the results: versions, seed, fingerprint, seconds.
    reused : bool
        Whether they were there already when the study was run.
    note : str
        What else should be known of how they were made; mostly empty.
    """

    def __init__(self, directory: Path, reused: bool = True) -> None:
        self.directory = directory
        self.reused = reused
        self.note = ""
        manifest = Store(directory).manifest()
        status = "" if manifest is None else manifest["status"]
        if status.startswith(SHARD):
            raise SimstudyError(
                f"{directory} holds {status} of a study alone; simstudy merge joins all of them"
            )
        if manifest is None or status != COMPLETE:
            raise SimstudyError(f"{directory} holds no complete results of a study")
        self.manifest: dict[str, Any] = filled(manifest)
        self._findings: dict[str, Findings] = {}
        self.study = kept_study(directory)
        self.settings: dict[str, Any] = self.study.as_dict()

    def __repr__(self) -> str:
        return f"Results({str(self.directory)!r}: {self.manifest['cells']} cells)"

    def _repr_html_(self) -> str:
        """What a notebook shows: the design and the means."""
        from simstudy.report.tables.html import notebook_summary

        return notebook_summary(self)

    @property
    def measures(self) -> list[str]:
        """The names of the measures, the primary one first."""
        return list(self.manifest["measures"])

    @property
    def learners(self) -> list[str]:
        """The labels of the learners."""
        return [learner["label"] for learner in self.settings["learners"]]

    @property
    def sizes(self) -> list[int]:
        """The training sizes."""
        return list(self.settings["data"]["train_sizes"])

    @property
    def foreign(self) -> list[str]:
        """What the study names that is not simstudy's own: to run cells again executes that."""
        return foreign(self.settings)

    def info(self, measure: str | None = None) -> MeasureInfo:
        """What is known of a measure, its unit named for the base in use."""
        info = dict(self.manifest["measures"][self._measure(measure)])
        if info["unit"] == "nats":
            base = self.settings["measures"]["base"]
            info["unit"] = {"e": "nats", 2.0: "bits", 10.0: "hartleys"}.get(base, f"base {base}")
        return MeasureInfo(**info)

    @cached_property
    def scores(self) -> pd.DataFrame:
        """One row for each cell."""
        return self._every_cell(SCORES[0], ["family", *_KEYS, *self.measures, "status"])

    @cached_property
    def refined(self) -> pd.DataFrame:
        """The cells of sizes that were added around crossings; they serve thresholds alone."""
        if not self.manifest["refined"]:
            return self.scores.iloc[:0]
        table = self._read(REFINED, list(self.scores.columns))
        known = table["learner"].isin(self.learners) & (table["size"] > 0)
        if not (known & table["model"].between(0, self.settings["models"] - 1)).all():
            raise self._damaged(REFINED)
        return table

    @cached_property
    def timings(self) -> pd.DataFrame:
        """Seconds that fitting and predicting took in each cell.

        A table that several learners share is counted by the first that asks for it, and its time
        is that learner's.
        """
        return self._every_cell(SCORES[1], [*_KEYS, "fit_seconds", "predict_seconds"])

    @cached_property
    def failures(self) -> pd.DataFrame:
        """The cells that failed, and why."""
        return self._read(SCORES[2], [*_KEYS, "status", "error", "stream", "traceback"])

    def _every_cell(self, name: str, columns: list[str]) -> pd.DataFrame:
        """A table with a row for each cell, in the order of models, sizes and learners."""
        table = self._read(name, columns)
        models, sizes, labels = self.settings["models"], self.sizes, self.learners
        each = len(sizes) * len(labels)
        if len(table) != models * each or not (
            np.array_equal(table["model"], np.repeat(np.arange(models), each))
            and np.array_equal(table["size"], np.tile(np.repeat(sizes, len(labels)), models))
            and table["learner"].tolist() == labels * (models * len(sizes))
        ):
            raise self._damaged(name)
        return table

    def _read(self, name: str, columns: list[str]) -> pd.DataFrame:
        """A table that is as it was written and has these columns, of numbers or of texts."""
        import pandas as pd

        numbers = {"model": "i", "size": "i", "fit_seconds": "f", "predict_seconds": "f"}
        numbers |= dict.fromkeys(self.measures, "f")
        texts = [column for column in columns if column not in numbers]
        path = self.directory / name
        try:
            if path.suffix == ".csv":
                kinds = dict.fromkeys(texts, str)
                table = pd.read_csv(path, keep_default_na=False, dtype=kinds)
            else:
                table = pd.read_parquet(path)
        except (OSError, ValueError) as error:
            raise self._damaged(name) from error
        if (
            not Store(self.directory).is_as_written(name, self.manifest)
            or list(table.columns) != columns
            or len({*columns}) < len(columns)
            or (
                len(table)
                and any(table[key].dtype.kind != numbers[key] for key in columns if key in numbers)
            )
            or any(pd.api.types.infer_dtype(table[key]) not in ("string", "empty") for key in texts)
        ):
            raise self._damaged(name)
        if path.suffix == ".csv":
            for key in texts:
                table[key] = table[key].map(csv_text)
        return table

    def _damaged(self, name: str) -> SimstudyError:
        return SimstudyError(
            f"{self.directory / name} is missing or damaged; run the study again, which makes it "
            "from the cells that are kept"
        )

    def findings(self, measure: str | None = None) -> Findings:
        """What the analysis says about a measure, the primary one if left out."""
        from simstudy.analysis.findings import Design, Findings

        name = self._measure(measure)
        if name not in self._findings:
            study = self.study
            design = Design(
                tuple(self.learners),
                tuple(self.sizes),
                study.models,
                study.analysis.confidence,
                study.analysis.adjustment,
            )
            parts = [self._part(name, part) for part in ("regret", "estimation")]
            self._findings[name] = Findings(
                name, self.info(name), design, self.scores, self.refined, *parts
            )
        return self._findings[name]

    def _part(self, name: str, part: str) -> str:
        """The column of a part of regret that belongs to an information reward, if there is one."""
        test = name.removeprefix("information_reward")
        column = part + test
        return column if test in ("", "_sampled") and column in self.measures else ""

    def _measure(self, name: str | None) -> str:
        """The measure of this name, the primary one if none is given."""
        if name is not None and name not in self.measures:
            raise SimstudyError(f"no measure '{name}' here{suggestion(name, self.measures)}")
        return name or self.measures[0]

    def anova(self, measure: str | None = None) -> pd.DataFrame:
        """Repeated-measures ANOVA, learner × size, models as subjects.

        A factor with a single level is left out; without any factor the table is empty.
        """
        import pandas as pd

        from simstudy.analysis.findings import Absent

        found = self.findings(measure)
        if not found.factors:
            return pd.DataFrame()
        if isinstance(found.anova, Absent):
            raise SimstudyError(found.anova.reason)
        return found.anova.table

    def intervals(self, measure: str | None = None, **options: Any) -> pd.DataFrame:
        """Means and confidence intervals of all cells; options as `analysis.intervals`.

        The means are over the models without a failed cell, so that learners are compared on
        the same models; where fewer than two are left, over those that each cell has.
        """
        from simstudy.analysis.intervals import intervals

        found = self.findings(measure)
        if not options:
            return found.intervals
        adjusted = found.design.adjustment != "none"
        defaults = {
            "confidence": found.design.confidence,
            "adjustment": "bonferroni" if adjusted else "none",
            "complete": found.over_complete_models,
        }
        return intervals(self.scores, value=found.measure, **defaults | options)

    def pairwise(self, measure: str | None = None, **options: Any) -> pd.DataFrame:
        """Paired differences between learners at each size; options as `analysis.pairwise`.

        With a single learner the table is empty.
        """
        from simstudy.analysis.pairwise import pairwise

        found = self.findings(measure)
        if not options or len(self.learners) < 2:
            return found.pairwise
        design = found.design
        defaults: dict[str, Any] = {
            "confidence": design.confidence,
            "adjustment": design.adjustment,
        }
        return pairwise(self.scores, value=found.measure, **defaults | options)

    def thresholds(self, measure: str | None = None, **options: Any) -> pd.DataFrame:
        """Between which sizes learners overtake each other; options as `analysis.thresholds`.

        Sizes that were added by refinement count. With a single learner or a single size the table
        is empty.
        """
        import pandas as pd

        from simstudy.analysis.thresholds import thresholds

        found = self.findings(measure)
        if not options or not found.courses:
            return found.thresholds
        scores = pd.concat([self.scores, self.refined])
        return thresholds(scores, **self._compared(measure) | options)

    def difference_curve(
        self, first: str, second: str, measure: str | None = None, **options: Any
    ) -> pd.DataFrame:
        """By how much the second learner is ahead at every size, with bands, for a figure."""
        return self.findings(measure).curve(first, second, **options).table

    def _compared(self, measure: str | None) -> dict[str, Any]:
        """What analyses of who is better need to know of a measure."""
        name = self._measure(measure)
        return {
            "value": name,
            "greater_is_better": self.info(name).greater_is_better,
            "confidence": self.settings["analysis"]["confidence"],
        }

    def converged(self, within: float | None = None, fraction: float | None = None) -> pd.DataFrame:
        """The size from which each learner's mean regret at estimating is small.

        Give either ``within``, an information reward, or ``fraction``, a part of what it is at
        the smallest size. The study must have measured ``estimation``.
        """
        from simstudy.analysis.convergence import converged

        scores = self.scores
        if "estimation" not in scores:
            raise SimstudyError("the study has not measured 'estimation', the gap to a limit")
        limits = scores[["model", "learner"]].drop_duplicates().assign(estimation=0.0)
        options = self._compared("estimation")
        return converged(scores, limits, within, fraction, **options)

    @cached_property
    def regret_parts(self) -> Regret | None:
        """Mean regret and its parts, if the study measured them."""
        from simstudy.analysis.regret import regret

        return regret(self.scores)

    def regret(self) -> pd.DataFrame:
        """Mean regret of every learner and size, and what it is made of, with standard errors.

        Over the models in which all three are finite in every cell, so that the parts sum to the
        whole; a learner that never has a limit is left out. Empty if the study has not measured
        ``regret``, ``representation`` and ``estimation``, or there are no such models.
        """
        import pandas as pd

        return pd.DataFrame() if self.regret_parts is None else self.regret_parts.table

    def precision(self, measure: str | None = None, mcse: float | None = None) -> pd.DataFrame:
        """Monte-Carlo standard errors of all means and paired differences.

        Of the means that `intervals` gives, over the same models; differences are over the models
        that both learners have. With ``mcse``, also how many models would reach it.
        """
        return self.findings(measure).precision_for(mcse)

    def mixed(self, measure: str | None = None) -> pd.DataFrame:
        """A mixed model, learner × size, models at random: for when cells are missing."""
        from simstudy.analysis.findings import Absent

        found = self.findings(measure).mixed
        if isinstance(found, Absent):
            raise SimstudyError(found.reason)
        return found.table

    def left_out(self, measure: str | None = None) -> pd.DataFrame:
        """The models without a finite value of a measure in some cell, and why."""
        import pandas as pd

        return pd.DataFrame(self.findings(measure).left_out, columns=["model", "reason"])

    def ranks(self, size: int | None = None, measure: str | None = None) -> pd.DataFrame:
        """Average ranks of the learners over the models, with Friedman's and Nemenyi's tests.

        At one training size, or of the scores averaged over all sizes; `rank_tests` has the tests.
        With a single learner the table is empty.
        """
        import pandas as pd

        return pd.DataFrame() if len(self.learners) < 2 else self.rank_tests(size, measure).table

    def rank_tests(self, size: int | None = None, measure: str | None = None) -> Ranks:
        """The same with Friedman's and Nemenyi's tests; see `analysis.ranks.Ranks`."""
        from simstudy.analysis.findings import Absent

        self._check_size(size)
        found = self.findings(measure).ranks(size)
        if isinstance(found, Absent):
            raise SimstudyError(found.reason)
        return found

    def reliability(
        self, size: int | Sequence[int] | None = None, models: int | None = None, **options: Any
    ) -> pd.DataFrame:
        """Observed frequencies against predicted probabilities, bin by bin; see `calibration`."""
        return self.calibration(size, models, **options).table

    def calibration(
        self,
        size: int | Sequence[int] | None = None,
        models: int | None = None,
        bins: int = 10,
        *,
        learners: Sequence[str] | None = None,
        classes: str = "every",
        **options: Any,
    ) -> Reliability:
        """Observed frequencies against predicted probabilities, bin by bin.

        Predictions are not stored: cells of the first ``models`` models (all up to 20 if left
        out) are run again in this process, at one or several sizes or all; cells that failed are
        not. The primary measure must come out as stored. Further options as
        `engine.reliability.reliability` and `analysis.reliability.calibration`, where the columns
        of the table are described.
        """
        from simstudy.analysis.reliability import Reliability, calibration
        from simstudy.engine.reliability import check_repeated, reliability
        from simstudy.study.study import load_study

        analysis, scores = self.settings["analysis"], self.scores
        failed = scores[scores["status"] != "ok"]
        repeated = reliability(
            load_study(self.directory / "study.toml"),
            models,
            size,
            bins,
            learners=learners,
            classes=classes,
            without=set(zip(failed["model"], failed["size"], failed["learner"], strict=True)),
        )
        stored = scores.set_index(["model", "size", "learner"])[self.measures[0]]
        check_repeated(repeated, stored)
        options.setdefault("confidence", analysis["confidence"])
        adjusted = analysis["adjustment"] != "none"
        options.setdefault("adjustment", "bonferroni" if adjusted else "none")
        table = calibration(repeated.table, **options)
        return Reliability(table, repeated.models, classes, repeated.test, options["confidence"])

    def _check_size(self, size: int | None) -> None:
        if size is not None and size not in self.sizes:
            known = ", ".join(f"{known:,}" for known in self.sizes)
            raise SimstudyError(f"no training size {size:,} here; there are {known}")

    def plot_scores(
        self, size: int | None = None, measure: str | None = None, ax: Axes | None = None
    ) -> Axes:
        """Draw how the scores of each learner spread over the models at one training size.

        The largest size if left out.
        """
        from simstudy.report.paper.spread import draw_scores

        self._check_size(size)
        at = self.sizes[-1] if size is None else size
        rows = self.scores[self.scores["size"] == at]
        name = self._measure(measure)
        table = rows[["model", "learner"]].assign(value=rows[name])
        ax = draw_scores(table, self.info(measure), ax or _axes())
        ax.set_title(f"{at:,} training rows", fontsize="medium")
        return ax

    def plot_reliability(
        self, learner: str, size: int | None = None, ax: Axes | None = None
    ) -> Axes:
        """Draw how often what a learner gave a probability came about.

        At one training size, or at the smallest and the largest; see `reliability`.
        """
        from simstudy.report.paper.calibration import draw_reliability

        sizes = sorted({self.sizes[0], self.sizes[-1]}) if size is None else [size]
        found = self.reliability(sizes, learners=[learner])
        ax = draw_reliability(found, ax or _axes())
        ax.legend(frameon=False, fontsize="small", loc="upper left", title="training rows")
        return ax

    def plot_ranks(
        self, size: int | None = None, measure: str | None = None, ax: Axes | None = None
    ) -> Axes:
        """Draw a critical-difference diagram of the learners' average ranks; see `ranks`."""
        from simstudy.report.paper.ranks import draw_ranks

        table = self.ranks(size, measure)
        if table.empty:
            raise SimstudyError("ranks need at least two learners, and the study has one")
        return draw_ranks(table, ax or _axes())

    @cached_property
    def _plan(self) -> Plan:
        """What was run; plugins are executed, if they are those that the results were made with."""
        from simstudy.engine.plan import make_plan
        from simstudy.study.study import load_study

        return make_plan(load_study(self.directory / "study.toml"))

    def model(self, index: int) -> Model:
        """Draw one of the study's models again, the same as in the run.

        Parameters
        ----------
        index : int
            Its number in the scores, from 0.
        """
        from simstudy.engine.task import draw_model

        plan = self._plan
        if index not in range(plan.models):
            raise SimstudyError(
                f"the study has no model {index}; it has models 0 to {plan.models - 1}"
            )
        return draw_model(plan, index)

    def about(self, kind: str, name: str) -> str:
        """What a family, learner or measure says of itself in a line; empty if it is not known.

        Parameters
        ----------
        kind : str
            ``"family"``, ``"learner"`` or ``"measure"``.
        name : str
            As in the study.
        """
        line: str = self.manifest["about"].get(kind, {}).get(name, "")
        return line

    def plot_learning_curves(self, ax: Axes | None = None, measure: str | None = None) -> Axes:
        """Draw a measure against training size, with intervals, and return the axes."""
        from simstudy.report.figures import draw_learning_curves

        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.subplots(layout="constrained")[1]
        return draw_learning_curves(self.intervals(measure), self.info(measure), ax)

    def plot_difference(
        self, first: str, second: str, ax: Axes | None = None, measure: str | None = None
    ) -> Axes:
        """Draw by how much the second learner is ahead, with bands and thresholds."""
        from simstudy.report.figures import draw_difference

        self._check_pair(first, second)
        if len(self.sizes) < 2:
            raise SimstudyError("a difference is drawn over at least two sizes; the study has one")
        found = self.thresholds(measure)
        pair = {first, second}
        found = found[[{row.first, row.second} == pair for row in found.itertuples()]]
        curve = self.findings(measure).curve(first, second)
        return draw_difference(curve, found, self.info(measure), ax or _axes())

    def _check_pair(self, *labels: str) -> None:
        """Refuse learners that cannot be compared."""
        if len(self.learners) < 2:
            raise SimstudyError("a difference needs two learners, and the study has one")
        for label in labels:
            if label not in self.learners:
                known = ", ".join(self.learners)
                raise SimstudyError(f"the study has no learner '{label}'; it has {known}")
        if len({*labels}) < 2:
            raise SimstudyError(f"'{labels[0]}' is given twice; a difference needs two learners")


def _axes() -> Axes:
    """Axes of their own."""
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]
