"""A scorer with the settings that tests choose, without a study."""

import math
from types import SimpleNamespace

from simstudy.engine.scoring import Scorer


def scorer(columns, model, judged, prior="train", cutoff="mml", base=math.e, reward="mean"):
    """Score by some columns on the tests of a model."""
    plan = SimpleNamespace(prior=prior, cutoff=cutoff, base=base, reward=reward, positive=None)
    problem = SimpleNamespace(truth=model, judged=judged, class_names=(), rarer=None)
    return Scorer(columns, plan, problem, ())
