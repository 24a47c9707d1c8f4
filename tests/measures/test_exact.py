"""Exact values of measures against samples of a million rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simstudy.components.registry import FAMILIES, LEARNERS, MEASURES
from simstudy.data.codes import configurations
from simstudy.measures.base import clip, has_exact_value, keywords, score

ROWS, DRAWS = 1_000_000, 12
FAMILY_NAMES = ("naive_bayes", "tan", "aode", "kdb")
OF_SETS = sorted(
    name
    for name in MEASURES._builtin
    if MEASURES.get(name).info.over == "set"
    and has_exact_value(MEASURES.get(name))
    and "message" not in keywords(MEASURES.get(name))  # they depend on no test row
)
LEARNER_NAMES = sorted({*LEARNERS._builtin} - {"truth"})
WRAPPERS = {"calibrated", "cost_sensitive"}


# By default each learner meets one family, and each family several learners.
PAIRS = [
    pytest.param(family, learner, marks=[] if (i - j) % 4 == 0 else [pytest.mark.slow])
    for i, family in enumerate(FAMILY_NAMES)
    for j, learner in enumerate(LEARNER_NAMES)
]


@pytest.mark.parametrize(("family", "learner"), PAIRS)
def test_exact_values_agree_with_a_million_rows(family, learner):
    rng = np.random.default_rng([FAMILY_NAMES.index(family), LEARNER_NAMES.index(learner)])
    model = FAMILIES.get(family)(variables=(4, 4), values=(2, 3)).draw(rng)
    given = {"learner": "naive_bayes"} if learner in WRAPPERS else {}
    fitted = LEARNERS.get(learner)(**given).fit(model.sample(150, rng), rng)
    rows, k = configurations(model.cards[:-1]), model.cards[-1]
    proba = np.repeat(fitted.predict_proba(rows), k, axis=0)
    y = np.tile(np.arange(k), len(rows))
    probability = model.joint().reshape(-1)
    probability = probability / probability.sum()
    rarer = int(np.argmin(model.class_prior()))
    samples = [rng.multinomial(ROWS, probability).astype(float) for _ in range(DRAWS)]
    for name in OF_SETS:
        measure = MEASURES.get(name)
        shown = clip(proba, "mml", 150) if measure.info.logarithmic else proba

        def value(weights, measure=measure, shown=shown):
            return score(measure, shown, y, prior=model.class_prior(), weights=weights, rarer=rarer)

        exact, sampled = value(probability), np.array([value(weights) for weights in samples])
        if math.isnan(exact):
            assert np.isnan(sampled).all(), name
            continue
        # of independent samples; the smallest error is that of rounding
        error = max(float(sampled.std(ddof=1)) / math.sqrt(DRAWS), 1e-7)
        assert abs(sampled.mean() - exact) < 6 * error, (name, exact, sampled.mean(), error)
