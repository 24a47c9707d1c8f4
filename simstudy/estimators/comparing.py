"""Tests of two learners on the rows available, as components of a study."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import chain
from typing import Literal, NamedTuple, get_args

from simstudy.arrays import FloatArray
from simstudy.data.splits.schemes import CrossValidation, Holdout
from simstudy.estimators.bench import Bench, Judge, Splitting, test_share, values_of
from simstudy.measures.base import modal_class
from simstudy.measures.intervals import mcnemar
from simstudy.measures.positive_class import require_one_of

Method = Literal["exact", "corrected", "plain"]


class Decision(NamedTuple):
    """The p of a test, NaN if there is none, and the difference, first minus second."""

    p: float
    difference: float

    def rejects(self, level: float) -> bool:
        """Whether the test rejects at a level."""
        from simstudy.analysis.tests.adjustment import is_significant

        return is_significant(self.p, level)


class LearnerTest(ABC):
    """Base class: a frozen dataclass of parameters with one method, `test`."""

    @abstractmethod
    def test(self, first: Bench, second: Bench, judge: Judge) -> Decision:
        """Test two learners on the same rows, split alike, by a measure."""


class SplitTest(Splitting, LearnerTest):
    """Base class of tests of the differences in several splits."""

    def test(self, first: Bench, second: Bench, judge: Judge) -> Decision:
        repeats = first.repeats(self.scheme)
        outcomes = [*chain(*repeats)]
        compared = [*chain(*second.repeats(self.scheme))]
        differences = values_of(outcomes, judge) - values_of(compared, judge)
        differences = differences.reshape(len(repeats), -1)
        return Decision(self.p(differences, test_share(outcomes)), float(differences.mean()))

    @abstractmethod
    def p(self, differences: FloatArray, share: float) -> float:
        """Return the p of differences by repeat and fold; ``share`` is that of test rows."""


class PairedT(SplitTest):
    """Base class of paired t tests over splits, naive or corrected."""

    corrected: bool

    def p(self, differences: FloatArray, share: float) -> float:
        from simstudy.analysis.tests.resampled import corrected_t, naive_t

        return corrected_t(differences, share).p if self.corrected else naive_t(differences).p


@dataclass(frozen=True)
class CrossValidatedT(PairedT):
    """Paired t test over the folds of cross-validation.

    Parameters
    ----------
    folds : int >= 2
        The number of folds.
    repeats : int >= 1, <= 10000
        The number of random divisions into folds.
    stratify : bool
        Whether all folds have the classes in the same proportions.
    corrected : bool
        Whether the variance is that of Nadeau & Bengio (2003), for splits that share rows.

    References
    ----------
    T. G. Dietterich (1998). Approximate statistical tests for comparing supervised classification
    learning algorithms. Neural Computation 10.

    C. Nadeau & Y. Bengio (2003). Inference for the generalization error. Machine Learning 52.
    """

    folds: int = 10
    repeats: int = 1
    stratify: bool = False
    corrected: bool = True

    @property
    def scheme(self) -> CrossValidation:
        return CrossValidation(self.folds, self.repeats, self.stratify)


@dataclass(frozen=True)
class ResampledT(PairedT):
    """Paired t test over random splits.

    Parameters
    ----------
    share : float > 0, < 1
        The share of training rows.
    repeats : int >= 1, <= 10000
        The number of splits.
    stratify : bool
        Whether both parts have the classes in the same proportions.
    corrected : bool
        Whether the variance is that of Nadeau & Bengio (2003), for splits that share rows.

    References
    ----------
    C. Nadeau & Y. Bengio (2003). Inference for the generalization error. Machine Learning 52.
    """

    share: float = 2 / 3
    repeats: int = 30
    stratify: bool = False
    corrected: bool = True

    @property
    def scheme(self) -> Holdout:
        return Holdout(self.share, self.repeats, self.stratify)


@dataclass(frozen=True)
class FiveByTwoT(SplitTest):
    """5×2cv paired t test.

    Parameters
    ----------
    stratify : bool
        Whether both folds have the classes in the same proportions.

    References
    ----------
    T. G. Dietterich (1998). Approximate statistical tests for comparing supervised classification
    learning algorithms. Neural Computation 10.
    """

    stratify: bool = False

    @property
    def scheme(self) -> CrossValidation:
        return CrossValidation(2, 5, self.stratify)

    def p(self, differences: FloatArray, share: float) -> float:
        from simstudy.analysis.tests.resampled import five_by_two_t

        return five_by_two_t(differences).p


@dataclass(frozen=True)
class FiveByTwoF(FiveByTwoT):
    """Combined 5×2cv F test.

    References
    ----------
    E. Alpaydin (1999). Combined 5×2 cv F test for comparing supervised classification learning
    algorithms. Neural Computation 11.
    """

    def p(self, differences: FloatArray, share: float) -> float:
        from simstudy.analysis.tests.resampled import five_by_two_f

        return five_by_two_f(differences).p


@dataclass(frozen=True)
class McNemarTest(Splitting, LearnerTest):
    """McNemar's test of the rows that only one of two learners predicts correctly, in one holdout.

    Parameters
    ----------
    share : float > 0, < 1
        The share of training rows.
    stratify : bool
        Whether both parts have the classes in the same proportions.
    method : {"exact", "corrected", "plain"}
        Binomial; or chi-squared, with or without continuity correction.

    References
    ----------
    Q. McNemar (1947). Note on the sampling error of the difference between correlated proportions
    or percentages. Psychometrika 12.
    """

    share: float = 2 / 3
    stratify: bool = False
    method: Method = "exact"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_one_of("method", self.method, get_args(Method))

    @property
    def scheme(self) -> Holdout:
        return Holdout(self.share, 1, self.stratify)

    def test(self, first: Bench, second: Bench, judge: Judge) -> Decision:
        right = []
        for bench in (first, second):
            outcome = bench.repeats(self.scheme)[0][0]
            right.append(modal_class(outcome.answers) == bench.target[outcome.test])
        tested, difference = mcnemar(*right), float(right[0].mean() - right[1].mean())
        p = {"exact": tested.p_exact, "corrected": tested.p_corrected, "plain": tested.p}
        return Decision(p[self.method], difference)
