"""The cells in a directory of results: which are there, and which are to be computed."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

from simstudy.engine.plan import Plan
from simstudy.engine.task import Cell, CellKey
from simstudy.errors import SimstudyError
from simstudy.results.columns import Columns, Places
from simstudy.results.folder import Folder
from simstudy.results.journal import Journal
from simstudy.study.constants import JOURNAL, STUDY


class CellFolder(Folder):
    """A directory of results as far as it keeps cells, in a journal."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.notes: list[str] = []  # what a user should know of how the results were made
        self._drawn: dict[int, str] = {}  # the digest of each model that has cells
        self._before: dict[str, bytes] = {}  # what complete results say of themselves

    def todo(self, plan: Plan) -> dict[int, list[CellKey]]:
        """The cells of each model that are not there yet."""
        journal, damaged = Journal(self.directory), 0
        done, places = np.zeros(plan.cells, dtype=bool), Places(plan)
        with self._said():
            for said in journal.lines():
                if said is None:
                    damaged += 1
                for cell in said if isinstance(said, list) else ():
                    if (place := places.of(cell)) is not None:
                        done[place] = True
                        self._check_model(plan, cell)
            if damaged:
                journal.mend()
        if damaged:
            self.notes.append(
                f"{damaged} lines of {self.directory / JOURNAL} were damaged, or not finished; "
                "their cells were computed again"
            )
        missing = ~done.reshape(plan.models, plan.cells_each)
        todo = {}
        for model in np.flatnonzero(missing.any(axis=1)).tolist():
            lacking = np.flatnonzero(missing[model]).tolist()
            # Where all cells are missing, one list serves all models.
            whole = len(lacking) == len(places.keys)
            todo[model] = places.keys if whole else [places.keys[i] for i in lacking]
        return todo

    def _check_model(self, plan: Plan, cell: Cell) -> None:
        """Refuse a cell of a model that came out differently when its other cells were run."""
        if not cell.drawn:  # not drawn at all, or by an earlier version
            return
        known = self._drawn.setdefault(cell.model, cell.drawn)
        if known != cell.drawn:
            for name, content in self._before.items():
                self.write(name, content)
            raise SimstudyError(
                f"model {cell.model} came out differently when it was drawn again, so its cells "
                f"in {self.directory} cannot be compared with new ones: either the family "
                f"'{plan.family.name}' does not draw from the generator that it is given alone, "
                "or numpy has changed; what is there is left as it is; choose another place with "
                "--out"
            )

    @contextmanager
    def keeping(self, plan: Plan) -> Iterator[Callable[[Sequence[Cell]], None]]:
        """A function that keeps the cells of a finished task: no kill of this process loses them.

        All are on disk when this is left.
        """
        more = "; what is finished is kept, and the same command goes on from there"
        with ExitStack() as stack:
            with self._said(more):
                add = stack.enter_context(Journal(self.directory).adding())

            def keep(cells: Sequence[Cell]) -> None:
                for cell in cells:
                    self._check_model(plan, cell)
                with self._said(more):
                    add(cells)

            yield keep
            with self._said(more):
                stack.close()

    def failed_cells(self) -> list[Cell]:
        """The cells that failed so far, whether the study is finished or not."""
        self.found()
        with self._said():
            failed: dict[tuple[int, int, str], Cell] = {}
            for cell in Journal(self.directory).cells():
                failed.pop((cell.model, cell.size, cell.learner), None)
                if cell.status != "ok":
                    failed[cell.model, cell.size, cell.learner] = cell
        return [failed[key] for key in sorted(failed)]

    def cell_command(self, cell: Cell) -> str:
        """The command that runs one cell again."""
        options = ["--model", str(cell.model), "--size", str(cell.size), "--learner", cell.learner]
        return shlex.join(["simstudy", "cell", str(self.directory / STUDY), *options])

    def take(self, plan: Plan, others: Sequence[CellFolder]) -> None:
        """Add the cells of the same study that other places hold."""
        places, mine = Places(plan), self.columns(plan)
        added: set[tuple[int, int, str]] = set()
        with self.keeping(plan) as keep:
            for other in others:
                for cells in other._tasks():
                    new = []
                    for cell in cells:
                        if (place := places.of(cell)) is None:
                            key = (cell.model, cell.size, cell.learner)
                            if cell.model < plan.models and key not in added:
                                added.add(key)  # of a size that was added, or of another plan
                                new.append(cell)
                            continue
                        ok = cell.status == "ok"
                        if not mine.there[place] or (place in mine.failed and ok):
                            mine.add(cell)
                            new.append(cell)
                        elif ok and not np.array_equal(
                            mine.values[place], cell.values, equal_nan=True
                        ):
                            raise SimstudyError(
                                f"{other.directory} has another score than the others for model "
                                f"{cell.model}, {cell.size} rows, {cell.learner}: perhaps another "
                                "version of a package, or another kind of processor"
                            )
                    if new:
                        keep(new)

    def _tasks(self) -> Iterator[list[Cell]]:
        """The cells there are, task by task."""
        with self._said():
            yield from Journal(self.directory).tasks()

    def columns(self, plan: Plan) -> Columns:
        """The cells there are that belong to a plan; of a cell written twice, the later."""
        columns = Columns(plan)
        for cells in self._tasks():
            for cell in cells:
                columns.add(cell)
                self._check_model(plan, cell)
        return columns

    def _forget(self) -> None:
        """Take away the cells of earlier runs."""
        with self._said():
            (self.directory / JOURNAL).unlink(missing_ok=True)

    def _retry(self) -> None:
        """Take away the cells that met a limit which is no longer the same."""
        dropped = Journal(self.directory).drop(
            lambda cell: cell.status in ("timeout", "crashed") or "MemoryError" in cell.error
        )
        if dropped:
            self.notes.append(f"the limits are other ones: {dropped} cells that met them ran again")

    def forget_failures(self) -> bool:
        """Take away the cells that failed, so that they are run again; whether there were any."""
        with self._said():
            dropped = Journal(self.directory).drop(lambda cell: cell.status != "ok")
        if dropped:
            self.notes.append(f"{dropped} cells that had failed were run again")
        return bool(dropped)
