"""The optimal report under the information reward of Hope & Korb (2002), for two classes."""

import math

from simstudy.measures.positive_class import require


def optimal_report_2002(frequency: float, prior: float) -> float:
    """Return the report that earns the greatest mean reward of Hope & Korb (2002).

    Hope & Korb 2004, theorem 1 and equation 9: ``f (1 − q)/(q (1 − f)) = log p/log(1 − p)``, solved
    for q. It is the frequency f only under a uniform prior: with p = .1 and f = .5 it is .0438.
    """
    require(0 < prior < 1, "prior", prior, "it must be between 0 and 1")
    require(0 <= frequency <= 1, "frequency", frequency, "it must be from 0 to 1")
    odds = math.log(prior) / math.log1p(-prior)
    return frequency / (frequency + (1.0 - frequency) * odds)
