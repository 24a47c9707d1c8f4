"""The page of a comparison of learners."""

from __future__ import annotations

from functools import partial

from simstudy.analysis.models.computing_time import median_seconds
from simstudy.analysis.models.findings import ModelFindings
from simstudy.analysis.models.standings import Standing
from simstudy.experiments.learners.results import LearnerResults
from simstudy.experiments.models_page import MANY_SIZES, ModelsPage, drawn
from simstudy.experiments.page import Opening, Section
from simstudy.measures.base import MeasureInfo
from simstudy.report.charts import curves, distance, spread, svg
from simstudy.report.charts.decisions import decision_makers
from simstudy.report.charts.layout import Maker
from simstudy.report.pages.curve_section import curve_section
from simstudy.report.pages.page import curves_section
from simstudy.report.prose import captions, distances
from simstudy.report.prose.phrases import MAX_NAMED, all_sizes, listed, with_unit
from simstudy.report.tables import facts
from simstudy.study.study import Study
from simstudy.texts import counted

_FORESTS = 660.0, 505.0  # widths of differences from a leader, and of their enlarged part


class LearnersPage(ModelsPage[LearnerResults]):
    """Which learner is closest to the true probabilities, and after how many rows."""

    rerun_figures = ("reliability",)

    def asks(self, study: Study, info: MeasureInfo) -> str:
        """Ask which learner predicts best."""
        learners, sizes = study.labels, study.doses
        after = f"after {all_sizes(sizes)} rows"
        if len(sizes) > MAX_NAMED + 1:
            after = f"after {sizes[0]:,} to {sizes[-1]:,} rows ({len(sizes)} sizes)"
        if len(learners) == 1:
            return f"how well does {learners[0]} predict, by {info.label}, {after}?"
        which = listed(learners) if len(learners) <= MAX_NAMED + 1 else f"{len(learners)} learners"
        cross = ", and where do they overtake each other" if len(sizes) > 1 else ""
        return f"which of {which} predicts best, by {info.label}, {after}{cross}?"

    def aims(self, study: Study) -> str:
        """Return what is compared, and by what."""
        several = len(study.doses) > 1
        more = ", and to see how that changes with the number of training rows" * several
        return (
            f"To compare {counted(len(study.labels), 'learner')} by how close the predicted class "
            f"probabilities are to the true ones{more}."
        )

    def opening(self, results: LearnerResults, findings: ModelFindings, index: int) -> Opening:
        """Return distances to the truth, or to the best mean; curves are one switch away."""
        curves, many = super().opening(results, findings, index), distance.many(findings)
        if len(findings.treatments) < 2 or not findings.standings:
            return curves
        name = "Distance to the " + ("truth" if distance.to_truth(findings) else "best mean")
        make, notes = partial(distance.distance, findings), distances.caption(findings)
        ranks, sizes = distance.ranks(findings), svg.MANY_LINES if many else svg.LINES
        if len(findings.design.sizes) >= MANY_SIZES and not many:  # below changes of the lead
            sizes = svg.LOW, svg.NARROW
        ranked = drawn("Ranks", lambda _: ranks, f"ranks{index}", sizes, [distances.RANKS])
        first = drawn(name, make, f"distance{index}", sizes, notes)
        return first._replace(more=(*[ranked] * many, curves))

    def view(
        self, results: LearnerResults, findings: ModelFindings, index: int
    ) -> dict[str, object]:
        """Add how far many learners are behind the leader of each size."""
        at = findings.standings if distance.many(findings) else ()
        forests = [_forest(findings, standing, f"forest{index}-{standing.size}") for standing in at]
        return super().view(results, findings, index) | {"forests": forests}

    def own_sections(self, results: LearnerResults) -> list[Section]:
        """Return what regret is made of, and curves of decisions."""
        decisions = [curve_section(results)] if results.study.keep_answers else []
        return [*_regret(results), *curves_section(decisions)]

    def sections(self, results: LearnerResults) -> list[Section]:
        """Add the seconds of fitting and predicting."""
        return [*super().sections(results), _costs(results)]

    def figures(self, results: LearnerResults) -> dict[str, Maker]:
        """Add reliability, regret, rewards against divergences, and curves of decisions."""
        from simstudy.report.charts.printed import learner_makers

        return super().figures(results) | learner_makers() | decision_makers(results)

    def estimands(self, study: Study, info: MeasureInfo) -> str:
        """Return the means, differences and thresholds."""
        several = len(study.labels) > 1
        pairs = " For each pair of learners and training size: the mean paired difference."
        change = " For each pair of learners: the training size at which it changes sign."
        return (
            "For each learner and training size: the mean, over the models of the family, of its "
            f"{with_unit(info)} after training on a random set of that size."
            + pairs * several
            + change * (several and len(study.doses) > 1)
        )


def _forest(findings: ModelFindings, standing: Standing, file: str) -> Opening:
    """How far each learner is behind the leader of a size."""
    parts = (False, True) if distance.close(standing) else (False,)
    charts = [distance.forest(findings, standing, enlarged) for enlarged in parts]
    pictures = []
    for end, widths in (("w", _FORESTS), ("n", (svg.NARROW[0],) * 2)):
        drawn = []
        for place, chart in enumerate(charts):
            size = widths[place], 70.0 + 24 * len(chart.y.marks)
            drawn.append(svg.draw(chart, f"{file}{end}{place}", size).picture)
        pictures.append(svg.element("div", *drawn, class_="forests"))
    bars = f"Bars: {distances.intervals(findings)} Hollow: not separated from the best mean."
    caption = " ".join([bars, *charts[0].notes])
    return Opening(pictures[0], pictures[1], caption, name=f"{standing.size:,} rows")


def _regret(results: LearnerResults) -> list[Section]:
    """What regret is made of, if the study has measured it."""
    split = results.regret_parts
    if split is None:
        return []
    unit = results.info("regret").unit
    content = {
        "panels": svg.panels(spread.regret(split, results.treatments, unit).charts, "regret"),
        "table": facts.regret(results, split),
        "caption": captions.regret(split, results.study),
        "unit": unit,
    }
    return [Section("regret", "What regret is made of", content, entry="Regret")]


def _costs(results: LearnerResults) -> Section:
    """The seconds of fitting and predicting."""
    medians, platform = median_seconds(results.timings), results.manifest["platform"]
    charts = curves.seconds(medians, results.treatments, results.study.names, results.doses)
    content = {
        "panels": svg.panels(charts, "seconds", svg.TIMES),
        "table": facts.costs(results, medians),
        "caption": captions.costs(platform, results.study.data.test_size),
    }
    return Section("cost", "Cost", content)
