"""Checks of the contracts of components, for testing plugins.

Each check takes an object, exercises it, and raises an AssertionError that states in one sentence
what the contract requires and what was found. A plugin's test is one line::

    def test_my_learner_keeps_the_contract():
        check_learner(MyLearner(depth=3))
"""

from simstudy.testing.estimators import check_estimate as check_estimate
from simstudy.testing.estimators import check_test as check_test
from simstudy.testing.learners import check_learner as check_learner
from simstudy.testing.measures import check_measure as check_measure
from simstudy.testing.models import check_change as check_change
from simstudy.testing.models import check_family as check_family
