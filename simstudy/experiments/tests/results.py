"""What a comparison of tests found."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import TYPE_CHECKING

from simstudy.experiments.base import ScoreColumn
from simstudy.experiments.tests import COPIES, LEVEL, MIRRORED, POWER
from simstudy.results.read.model_analyses import ModelResults

if TYPE_CHECKING:
    from simstudy.analysis.models.rejections import Rejections
    from simstudy.analysis.models.standings import Standing


class TestResults(ModelResults):
    """How often tests reject; see `ModelResults`."""

    __test__ = False  # for pytest, which takes the name for that of a test

    def rates(self, kinds: Collection[str]) -> list[ScoreColumn]:
        """The columns of some kinds of rates, such as `POWER`."""
        return [column for column in map(self.column, self.measures) if column.test in kinds]

    @cached_property
    def rejections(self) -> list[Rejections]:
        """Type I error and power, of the first two learners; see `analysis.models.rejections`."""
        from simstudy.analysis.models.rejections import rejections

        nulls = [self.findings(column.name) for column in self.rates((COPIES, MIRRORED))]
        power = [self.findings(column.name) for column in self.rates((POWER,))[:1]]
        return rejections(nulls, power[0], LEVEL) if power else []

    @property
    def keeping(self) -> list[str]:
        """The tests that are not shown to exceed their level at any size."""
        exceeding = {cell.test for cell in self.rejections if cell.exceeds}
        tests = dict.fromkeys(cell.test for cell in self.rejections)
        return [test for test in tests if test not in exceeding]

    @cached_property
    def most_powerful(self) -> list[Standing]:
        """The standing by power, at each size, of the tests that keep their level."""
        from simstudy.analysis.models.rejections import most_powerful

        return most_powerful(self.findings(self.rates((POWER,))[0].name), self.keeping)

    @property
    def detecting(self) -> str:
        """Of which learners the power is, in words."""
        return self.info(self.rates((POWER,))[0].name).label

    @property
    def leading(self) -> tuple[str, ...]:
        """Those that lead by power with the most rows, if tests decide."""
        last = [at for at in self.most_powerful if at.size == self.doses[-1] and at.beaten]
        return last[0].contenders if last else ()
