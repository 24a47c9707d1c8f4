"""The verdicts on claims, and what they rest on."""

REPRODUCED, NOT_REPRODUCED, NOT_DECIDED = "reproduced", "not reproduced", "not decided"
VERDICTS = (REPRODUCED, NOT_REPRODUCED, NOT_DECIDED)


class Check:
    """One of the numbers that a claim is held against; see `ModelCheck` and `DataCheck`.

    Attributes
    ----------
    verdict : str
        Whether the claim holds here.
    first, second : str
        What is compared; the second is empty if the estimate is of one.
    estimate, lower, upper : float
        The estimate with its interval; of two learners, their difference in favour of the first,
        whether more or less of the measure is better.
    p : float
        The adjusted p value, where a test decides.
    m, n : int
        The number of tests or intervals that it is adjusted for, and of what the mean is over.
    reason : str
        Why there are no numbers, or what else decides.
    """

    verdict: str
    first: str
    second: str
    estimate: float
    lower: float
    upper: float
    p: float
    m: int
    n: int
    reason: str
