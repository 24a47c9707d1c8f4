"""The contracts of families, learners and measures, as checks to run on things of your own.

Each check takes a thing, tries it out, and raises an AssertionError with one sentence that says
what the contract asks and what was found. A plugin's test is one line::

    def test_my_learner_keeps_the_contract():
        check_learner(MyLearner(depth=3))
"""

from simstudy.testing.families import check_family
from simstudy.testing.learners import check_learner
from simstudy.testing.measures import check_measure

__all__ = ["check_family", "check_learner", "check_measure"]
