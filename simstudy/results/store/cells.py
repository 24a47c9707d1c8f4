"""The cells in a directory of results: which exist, and which are to be computed."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from simstudy.data.sizes import size_text
from simstudy.engine.plan import Plan
from simstudy.engine.task import Cell, CellKey
from simstudy.errors import SimstudyError
from simstudy.results.store.columns import Columns, Places
from simstudy.results.store.folder import Folder
from simstudy.results.store.manifest import levels
from simstudy.study.constants import JOURNAL, STUDY


class RecordedCells:
    """The cells in the journal of a directory of results.

    Attributes
    ----------
    folder, directory : Folder, Path
        The directory.
    notes : list of str
        For the user: how the results were made.
    drawn : dict
        The digest of each model that has cells.
    earlier : dict
        Files of earlier complete results, put back if a model differs: study and manifest.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder, self.directory = folder, folder.directory
        self.notes: list[str] = []
        self.drawn: dict[int, str] = {}
        self.earlier: dict[str, bytes] = {}
        self._further: tuple[set[int], set[int], set[str]] = (set(), set(), set())

    def todo(self, plan: Plan) -> dict[int, list[CellKey]]:
        """The missing cells of each model."""
        journal, damaged = self.folder.journal, 0
        self._further = models, sizes, labels = set(), set(), set()
        done, places = np.zeros(plan.cells, dtype=bool), Places(plan)
        for entry in journal.entries():
            damaged += entry is None
            for cell in entry if isinstance(entry, list) else ():
                if (place := places.of(cell)) is not None:
                    done[place] = True
                    self._check_model(plan, cell)
                else:
                    models.add(cell.model)
                    sizes.add(cell.size)
                    labels.add(cell.learner)
        if damaged:
            journal.repair()
            self.notes.append(
                f"{damaged} lines of {self.directory / JOURNAL} were damaged or incomplete; their "
                "cells were recomputed"
            )
        missing = ~done.reshape(plan.problems, plan.cells_each)
        todo = {}
        for model in np.flatnonzero(missing.any(axis=1)).tolist():
            lacking = np.flatnonzero(missing[model]).tolist()
            # models without any cells share one list
            whole = len(lacking) == len(places.keys)
            todo[model] = places.keys if whole else [places.keys[i] for i in lacking]
        return todo

    def note_kept(self, plan: Plan) -> None:
        """Note the cells that `todo` found of models, sizes and learners that a plan lacks."""
        models, sizes, labels = self._further
        labels = labels - {spec.label for spec in plan.treatments}
        sizes = (sizes & self._stated_sizes()) - {*plan.doses}  # not those added by refining
        further = [
            _count(sum(model >= plan.problems for model in models), "model"),
            _count(len(sizes), "size", [f"{size:,} rows" for size in sorted(sizes)]),
            _count(len(labels), "learner", sorted(labels)),
        ]
        if any(further):
            self.notes.append(
                f"cells of {' and of '.join(filter(None, further))} are kept in "
                f"{self.directory / JOURNAL}, for studies that include them"
            )

    def _stated_sizes(self) -> set[int]:
        """The sizes of all studies that the journal has cells of."""
        owners = self.folder.journal.owners()
        return {size for owner in owners for size in levels(owner["conditions"])[1]}

    def _check_model(self, plan: Plan, cell: Cell) -> None:
        """Refuse a cell whose model differs from that of its other cells."""
        # without a digest, drawing failed
        if cell.drawn and self.drawn.setdefault(cell.model, cell.drawn) != cell.drawn:
            for name, content in self.earlier.items():
                self.folder.write(name, content)
            raise SimstudyError(
                f"model {cell.model} differs from when it was first drawn, so its cells in "
                f"{self.directory} cannot be compared with new ones: either the family "
                f"'{plan.source.name}' uses random numbers other than those of its generator, or "
                "numpy has changed; the results there are unchanged; choose another directory "
                "with --out"
            )

    @contextmanager
    def saving(self, plan: Plan) -> Iterator[Callable[[Sequence[Cell]], None]]:
        """A function that saves the cells of a task; killing this process does not lose them."""
        with self.folder.journal.adding() as add:

            def save(cells: Sequence[Cell]) -> None:
                for cell in cells:
                    self._check_model(plan, cell)
                add(cells)

            yield save

    def failed(self) -> list[Cell]:
        """The cells that failed so far, whether or not the study is complete."""
        conditions = self.folder.required()["conditions"]
        labels, sizes = levels(conditions)
        asked = self._asked(conditions["models"], sizes, labels)
        failed: dict[tuple[int, int, str], Cell] = {}
        for cell in self.folder.journal.cells():
            failed.pop((cell.model, cell.size, cell.learner), None)
            if cell.status != "ok" and asked(cell):
                failed[cell.model, cell.size, cell.learner] = cell
        return [failed[key] for key in sorted(failed)]

    def _asked(
        self, models: int, sizes: Sequence[int], labels: Sequence[str]
    ) -> Callable[[Cell], bool]:
        """Whether a cell belongs to a study, perhaps at a size added by refining."""
        refined = (self.folder.manifest() or {}).get("refined", {}).get("sizes", {})
        kept = self._stated_sizes() - {*sizes, *(int(size) for size in refined if size.isdecimal())}
        return lambda cell: cell.model < models and cell.learner in labels and cell.size not in kept

    def command(self, cell: Cell) -> str:
        """The command that runs one cell again."""
        size = size_text(cell.size)
        options = ["--model", str(cell.model), "--size", size, "--learner", cell.learner]
        return shlex.join(["simstudy", "cell", str(self.directory / STUDY), *options])

    def take(self, plan: Plan, pieces: Sequence[RecordedCells]) -> None:
        """Add the cells of the same study from other directories."""
        places, mine = Places(plan), self.columns(plan)
        labels = {spec.label for spec in plan.treatments}
        refined: set[tuple[int, int, str]] = set()

        def is_new(cell: Cell) -> bool:
            place, ok = places.of(cell), cell.status == "ok"
            if place is None:  # perhaps of a size added by refining
                key = (cell.model, cell.size, cell.learner)
                asked = cell.model < plan.problems and cell.learner in labels and key not in refined
                refined.add(key)
                return asked
            if not mine.present[place] or (place in mine.failed and ok):
                mine.add(cell)
                return True
            if ok and not np.array_equal(mine.values[place], cell.values, equal_nan=True):
                raise SimstudyError(
                    f"{piece.directory} has a different score for model {cell.model}, {cell.size} "
                    f"rows, {cell.learner}: perhaps package versions or processors differ"
                )
            return False

        with self.saving(plan) as save:
            for piece in pieces:
                for cells in piece.folder.journal.tasks():
                    if new := [*filter(is_new, cells)]:
                        save(new)

    def columns(self, plan: Plan) -> Columns:
        """The recorded cells of a plan; of a cell written twice, the later."""
        columns = Columns(plan)
        for cell in self.folder.journal.cells():
            columns.add(cell)
            self._check_model(plan, cell)
        return columns

    def retry(self) -> None:
        """Remove the cells that exceeded limits which have changed since."""
        self._drop(
            lambda cell: cell.status in ("timeout", "crashed") or "MemoryError" in cell.error,
            "limits changed; {} cells that had exceeded them were rerun",
        )

    def forget_failures(self, plan: Plan) -> bool:
        """Remove failed cells, so that they are rerun; returns whether there were any."""
        labels = [spec.label for spec in plan.treatments]
        asked = self._asked(plan.problems, plan.doses, labels)
        return self._drop(
            lambda cell: cell.status != "ok" and asked(cell), "{} failed cells were rerun"
        )

    def _drop(self, unwanted: Callable[[Cell], bool], note: str) -> bool:
        """Remove cells, and note their number; returns whether there were any."""
        if dropped := self.folder.journal.drop(unwanted):
            self.notes.append(note.format(dropped))
        return bool(dropped)


def _count(number: int, kind: str, names: Sequence[str] = ()) -> str:
    """The number of further items of a kind, with their names; empty if there are none."""
    text = f"{number:,} further {kind}{'s' * (number > 1)}"
    return text + f" ({', '.join(names)})" * bool(names) if number else ""
