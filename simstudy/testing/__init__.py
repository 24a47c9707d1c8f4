"""Checks of the contracts of families, changes, learners and measures, for testing plugins.

Each check takes an object, exercises it, and raises an AssertionError that states in one sentence
what the contract requires and what was found. A plugin's test is one line::

    def test_my_learner_keeps_the_contract():
        check_learner(MyLearner(depth=3))
"""

from simstudy.testing.changes import check_change
from simstudy.testing.families import check_family
from simstudy.testing.learners import check_learner
from simstudy.testing.measures import check_measure

__all__ = ["check_change", "check_family", "check_learner", "check_measure"]
