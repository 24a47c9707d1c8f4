"""k-dependence classifiers, against counting by hand and against their neighbours."""

import numpy as np
import pytest

from simstudy.data.sample import Sample
from simstudy.learners.bayes.kdb import KDB
from simstudy.learners.bayes.naive_bayes import NaiveBayes
from simstudy.learners.bayes.tan import TAN
from simstudy.sources.families.kdb import KDBFamily
from simstudy.testing import check_learner


@pytest.fixture(params=range(5))
def sample(request: pytest.FixtureRequest) -> Sample:
    rng = np.random.default_rng(request.param)
    return KDBFamily().draw(rng).sample(300, rng)


@pytest.mark.parametrize("k", [0, 1, 2, 3])
def test_kdb_keeps_the_contract(k: int) -> None:
    check_learner(KDB(k), max_attributes=30)


def test_without_attribute_parents_it_is_naive_bayes(sample: Sample) -> None:
    expected = NaiveBayes(alpha=0.5).fit(sample).log_joint(sample.attributes)
    np.testing.assert_allclose(KDB(0).fit(sample).log_joint(sample.attributes), expected)


def test_with_one_parent_each_it_predicts_as_the_tan_of_its_tree(sample: Sample) -> None:
    fitted = KDB(1).fit(sample)
    tree = tuple(parents[0] if parents else None for parents in fitted.parents)
    assert tree.count(None) == 1
    expected = TAN(alpha=0.5, tree=tree).fit(sample).predict_proba(sample.attributes)
    np.testing.assert_allclose(fitted.predict_proba(sample.attributes), expected, rtol=1e-12)


def entropy(sample: Sample, *variables: int) -> float:
    """Of the variables together, counted row by row."""
    _, counts = np.unique(sample.codes[:, variables], axis=0, return_counts=True)
    p = counts / counts.sum()
    return float(-(p * np.log(p)).sum())


@pytest.mark.parametrize("k", [1, 2, 3])
def test_parents_are_the_earlier_attributes_that_share_most(sample: Sample, k: int) -> None:
    target = len(sample.cards) - 1

    def with_class(i: int) -> float:
        return entropy(sample, i) + entropy(sample, target) - entropy(sample, i, target)

    def shared(i: int, j: int) -> float:
        joint = entropy(sample, i, target) + entropy(sample, j, target)
        return joint - entropy(sample, i, j, target) - entropy(sample, target)

    order = sorted(range(target), key=lambda i: -with_class(i))
    fitted = KDB(k).fit(sample)
    for place, attribute in enumerate(order):
        ranked = sorted(order[:place], key=lambda j: -shared(attribute, j))
        assert set(fitted.parents[attribute]) == set(ranked[:k])


@pytest.mark.parametrize(("options", "said"), [({"k": -1}, "k = -1"), ({"alpha": 0}, "alpha = 0")])
def test_parameters_out_of_range_are_refused(options: dict[str, float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        KDB(**options)  # type: ignore[arg-type]
