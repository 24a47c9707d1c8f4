"""Verdicts on claims, and the evidence for them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

REPRODUCED, NOT_REPRODUCED, NOT_DECIDED = "reproduced", "not reproduced", "not decided"
VERDICTS = (REPRODUCED, NOT_REPRODUCED, NOT_DECIDED)


@dataclass(frozen=True)
class Check:
    """One of the numbers that a claim is checked against; see `ModelCheck` and `DataCheck`.

    `columns` are the fields that a table of checks has, in their order.

    Attributes
    ----------
    verdict : str
        Whether the claim holds here.
    first, second : str
        What is compared; the second is empty if the estimate is of one.
    estimate, lower, upper : float
        The estimate with its interval; of two learners, their difference in favour of the first,
        whether more or less of the measure is better.
    n, m : int
        The number of what the mean is over, and of tests or intervals that it is adjusted for.
    p : float
        The adjusted p value, where a test decides.
    reason : str
        Why there are no numbers, or what else decides.
    """

    verdict: str
    first: str
    second: str = ""
    estimate: float = math.nan
    lower: float = math.nan
    upper: float = math.nan
    n: int = 0
    m: int = 0
    p: float = math.nan
    reason: str = ""
    columns: ClassVar[Sequence[str]] = ()


def decided(holds: bool, fails: bool) -> str:
    """Return the verdict on what holds, is contradicted, or neither."""
    return REPRODUCED if holds else NOT_REPRODUCED if fails else NOT_DECIDED
