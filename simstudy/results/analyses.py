"""The analyses of a study's scores, with the confidence and adjustment that it asks for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from simstudy.errors import SimstudyError
from simstudy.results.measure_analyses import MeasureAnalyses

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.analysis.findings import Findings, ModelFindings
    from simstudy.analysis.ranks import Ranks
    from simstudy.analysis.regret import Regret
    from simstudy.analysis.reliability import Reliability
    from simstudy.engine.plan import Plan
    from simstudy.engine.refit import Refit
    from simstudy.networks.model import Model
    from simstudy.results.curves import Curves
    from simstudy.sources.changes.world import World


class Analyses(MeasureAnalyses):
    """Analyses of the scores; see `Results`."""

    @cached_property
    def _findings(self) -> dict[str, ModelFindings]:
        return {}

    def findings(self, measure: str | None = None) -> Findings:
        """What the analysis says about a measure, the primary one if left out.

        Of a study of models `ModelFindings`, of data sets `DataFindings`.
        """
        return (self.data_findings if self.study.datasets else self.model_findings)(measure)

    def model_findings(self, measure: str | None = None) -> ModelFindings:
        """What the analysis says about a measure of a study of models."""
        from simstudy.analysis.findings import Design, ModelFindings

        name = self._measure(measure)
        if self.study.datasets:
            raise SimstudyError(
                f"{self.directory} is a study of data sets, whose splits share rows: the analyses "
                "of models do not apply; results.scores and results.dataset_means() have its scores"
            )
        if name not in self._findings:
            study = self.study
            design = Design(
                tuple(self.learners),
                tuple(self.sizes),
                study.models,
                study.analysis.confidence,
                study.analysis.adjustment,
                study.experiment,
            )
            parts = [self._part(name, part) for part in ("regret", "estimation")]
            self._findings[name] = ModelFindings(
                name, self.info(name), design, self.scores, self.refined, *parts
            )
        return self._findings[name]

    def _part(self, name: str, part: str) -> str:
        """The column of a part of regret that belongs to an information reward, if there is one."""
        own = self.column(name)
        found = [one for one in self.measures if self.column(one)[1:3] == (part, own.test)]
        return found[0] if found and own.measure == "information_reward" else ""

    def anova(self, measure: str | None = None) -> pd.DataFrame:
        """Repeated-measures ANOVA, learner × size, models as subjects.

        A factor with a single level is left out; without any factor the table is empty.
        """
        import pandas as pd

        from simstudy.analysis.findings import Absent

        found = self.model_findings(measure)
        if not found.factors:
            return pd.DataFrame()
        if isinstance(found.anova, Absent):
            raise SimstudyError(found.anova.reason)
        return found.anova.table.copy()

    def intervals(self, measure: str | None = None, **options: Any) -> pd.DataFrame:
        """Means and confidence intervals of all cells; options as `analysis.intervals`.

        The means are over the models without a failed cell, so that learners are compared on
        the same models; where fewer than two are left, over those that each cell has.
        """
        from simstudy.analysis.intervals import intervals

        found = self.model_findings(measure)
        if not options:
            return found.intervals.copy()
        adjusted = found.design.adjustment != "none"
        defaults: dict[str, Any] = {
            "confidence": found.design.confidence,
            "adjustment": "bonferroni" if adjusted else "none",
            "complete": found.over_complete_models,
            "share": found.info.share and options.get("method", "cell") == "cell",
        }
        return intervals(self.scores, value=found.measure, **defaults | options)

    def pairwise(self, measure: str | None = None, **options: Any) -> pd.DataFrame:
        """Paired differences between learners at each size; options as `analysis.pairwise`.

        With a single learner the table is empty.
        """
        import pandas as pd

        from simstudy.analysis.pairwise import pairwise

        found = self.model_findings(measure)
        if not options or len(self.learners) < 2:
            return found.pairwise.copy()
        design = found.design
        defaults: dict[str, Any] = {
            "confidence": design.confidence,
            "adjustment": design.adjustment,
            "share": found.info.share,
        }
        if options.get("within", "size") != "size":
            return pairwise(self.scores, value=found.measure, **defaults | options)
        scores = pd.concat([self.scores, self.refined])  # added sizes are of the family too
        tests = pairwise(scores, value=found.measure, **defaults | options)
        return tests[tests["size"].isin(self.sizes)].reset_index(drop=True)

    def thresholds(self, measure: str | None = None, **options: Any) -> pd.DataFrame:
        """Between which sizes learners overtake each other; options as `analysis.thresholds`.

        Sizes that were added by refinement count. With a single learner or a single size the table
        is empty.
        """
        import pandas as pd

        from simstudy.analysis.thresholds import thresholds

        found = self.model_findings(measure)
        if not options or not found.courses:
            return found.thresholds.copy()
        scores = pd.concat([self.scores, self.refined])
        defaults = self._compared(measure)
        defaults |= {"adjustment": found.design.adjustment, "share": found.info.share}
        return thresholds(scores, **defaults | options)

    def difference_curve(self, first: str, second: str, measure: str | None = None) -> pd.DataFrame:
        """By how much the second learner is ahead at each size, with the adjusted intervals."""
        for name in (first, second):
            if name not in self.learners:
                known = ", ".join(self.learners)
                raise SimstudyError(
                    f"no {self.study.experiment.treatment} {name!r} here; there are {known}"
                )
        return self.model_findings(measure).curve(first, second)

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

        return pd.DataFrame() if self.regret_parts is None else self.regret_parts.table.copy()

    def precision(self, measure: str | None = None, mcse: float | None = None) -> pd.DataFrame:
        """Monte-Carlo standard errors of all means and paired differences.

        Of the means that `intervals` gives, over the same models; differences are over the models
        that both learners have. With ``mcse``, also how many models would reach it.
        """
        return self.model_findings(measure).precision_for(mcse)

    def mixed(self, measure: str | None = None) -> pd.DataFrame:
        """A mixed model, learner × size, models at random: for when cells are missing."""
        from simstudy.analysis.findings import Absent

        found = self.model_findings(measure).mixed
        if isinstance(found, Absent):
            raise SimstudyError(found.reason)
        return found.table.copy()

    def left_out(self, measure: str | None = None) -> pd.DataFrame:
        """The models without a finite value of a measure in some cell, and why."""
        import pandas as pd

        return pd.DataFrame(self.model_findings(measure).left_out, columns=["model", "reason"])

    def ranks(self, size: int | None = None, measure: str | None = None) -> pd.DataFrame:
        """Average ranks of the learners over the models, with Friedman's and Nemenyi's tests.

        At one training size, or of the scores averaged over all sizes; `rank_tests` has the tests.
        With a single learner the table is empty.
        """
        import pandas as pd

        return (
            pd.DataFrame()
            if len(self.learners) < 2
            else self.rank_tests(size, measure).table.copy()
        )

    def rank_tests(self, size: int | None = None, measure: str | None = None) -> Ranks:
        """The same with Friedman's and Nemenyi's tests; see `analysis.ranks.Ranks`."""
        from simstudy.analysis.findings import Absent

        self._check_size(size)
        found = self.model_findings(measure).ranks(size)
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

    def curves(
        self,
        kind: str = "roc",
        learners: Sequence[str] | None = None,
        size: float | None = None,
        positive: str | int | None = None,
        dataset: str | None = None,
        over: str | None = None,
        **options: float,
    ) -> Curves:
        """Curves of the learners, from the answers that a study with ``keep_answers`` has.

        Of models, one curve for each model, averaged vertically, and the truth's own beside them:
        exact, weighted by the joint distribution, unless ``test_size`` is a number of rows. The
        models are drawn again, if every name in the study is simstudy's own; otherwise exact
        curves are refused, and sampled ones have no truth. Of data sets, one curve for each repeat,
        of the answers of all its folds, averaged vertically, and the pooled one of all repeats.

        Parameters
        ----------
        kind : str
            ``"roc"``, ``"precision_recall"``, ``"lift"``, ``"cost"`` (the lower envelope),
            ``"profit"`` or ``"reliability"``.
        learners : sequence of str, optional
            Their labels; all if left out.
        size : int or float, optional
            The training size, in rows or as a share of the training part; the largest if left out.
        positive : str or int, optional
            The positive class, against the rest; of models their number. If left out, the one that
            the study names, else the rarest of each model or of the data set.
        dataset : str, optional
            The data set; the first if left out.
        over : str, optional
            Of data sets ``"repeats"``, or ``"folds"`` for one curve of each fold; ``each`` of what
            is returned has these.
        **options
            Of ``"profit"``: ``benefit`` of each positive row, ``cost`` of each row acted on and
            ``fixed``, the cost of acting at all, all for each row of the sample.
        """
        from simstudy.results.curves import make_curves, ranked

        answers = ranked(self, dataset, over)
        return make_curves(
            self, answers, kind, learners, size, positive, over=over, options=options
        )

    def _check_size(self, size: int | None) -> None:
        if size is not None and size not in self.sizes:
            known = ", ".join(f"{known:,}" for known in self.sizes)
            raise SimstudyError(f"no training size {size:,} here; there are {known}")

    @cached_property
    def _plan(self) -> Plan:
        """What was run; plugins are executed, if they are those that the results were made with."""
        from simstudy.engine.plan import make_plan
        from simstudy.study.study import load_study

        return make_plan(load_study(self.directory / "study.toml"))

    def model(self, index: int) -> Model:
        """Draw one of the study's models again, the same as in the run.

        With changes, it is what training rows are drawn from; see `world`.

        Parameters
        ----------
        index : int
            Its number in the scores, from 0.
        """
        return self.world(index).train.model

    def world(self, index: int) -> World:
        """Draw one of the study's models again, with all changes made.

        Parameters
        ----------
        index : int
            Its number in the scores, from 0.

        Returns
        -------
        World
            What training rows (``train``) and test rows (``test``) are drawn from, with
            ``sample``, ``posterior`` and ``class_prior``.
        """
        from simstudy.engine.task import draw_world

        plan = self._plan
        if index not in range(plan.models):
            raise SimstudyError(
                f"the study has no model {index}; it has models 0 to {plan.models - 1}"
            )
        return draw_world(plan, index)

    def refit(self, learner: str, dataset: str | None = None) -> Refit:
        """Fit a learner to all rows of a data set, prepared as in the study.

        What the study measured is the estimate that belongs to it: the mean of the primary measure
        over the splits of the data set, with the standard deviation between splits, at the largest
        training size. The data set is read again and must be that of the run.

        Parameters
        ----------
        learner : str
            Its label.
        dataset : str, optional
            Its name; not needed if the study has one data set.

        Returns
        -------
        Refit
            Has ``predict_proba(frame)``, ``predict(frame)``, ``classes`` and ``estimate``.
        """
        from simstudy.results.refitting import refitted

        return refitted(self, learner, dataset)

    def about(self, kind: str, name: str) -> str:
        """What a component says of itself in a line; empty if it is not known.

        Parameters
        ----------
        kind : str
            ``"family"``, ``"change"``, ``"learner"`` or ``"measure"``.
        name : str
            As in the study.
        """
        line: str = self.manifest["about"].get(kind, {}).get(name, "")
        return line
