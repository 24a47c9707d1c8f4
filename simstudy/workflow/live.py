"""A provisional page while a long study runs."""

from __future__ import annotations

from simstudy.analysis.models.running import RunningMeans
from simstudy.engine.plan import Plan
from simstudy.errors import describe
from simstudy.results.store.store import Store
from simstudy.study.constants import PAGE
from simstudy.study.study import Study
from simstudy.workflow.progress import Progress, Step, pace

FIRST, EVERY = 120.0, 30.0  # seconds before the first page, and between pages


class LivePage:
    """Rewrites the page of a study as models finish; an error in it is noted and ends it."""

    def __init__(self, study: Study, plan: Plan, store: Store, progress: Progress | None) -> None:
        self._study, self._plan, self._store, self._progress = study, plan, store, progress
        self._means = RunningMeans(study.analysis.confidence, plan.cells_each)
        self._next = FIRST  # seconds

    def __call__(self, step: Step) -> None:
        """Pass a step on, count its cells, and write the page if it is time."""
        if self._progress is not None:
            self._progress(step)
        try:
            for cell in step.finished:
                if cell.status == "ok":
                    self._means.add(cell.learner, cell.size, cell.values[0])
            if self._next <= step.seconds and step.cells < step.all_cells:
                self._write(step)
                self._next = step.seconds + EVERY
        except Exception as error:  # costs the page only
            self._next = float("inf")
            self._store.notes.append(f"the provisional page was given up: {describe(error)}")

    def _write(self, step: Step) -> None:
        from simstudy.report.pages.live import live_page

        label = self._plan.experiment.info(self._plan, self._plan.columns[0]).label
        page = live_page(self._study, label, self._means, step, pace(step))
        made = (self._store.folder.manifest() or {}).get("report", [])
        if PAGE not in made:  # so that the files of the report replace it
            self._store.record_report([*made, PAGE])
        self._store.folder.write(PAGE, page.encode())
