"""Changes to models: the truth stays exact, and what changes nothing changes no digit."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from simstudy.changes import (
    Change,
    Duplicate,
    Irrelevant,
    LabelNoise,
    Missing,
    Population,
    Shift,
    World,
)
from simstudy.families import AODEFamily, NaiveBayesFamily, RandomDAGFamily, TANFamily
from simstudy.measures import accuracy, log_loss
from simstudy.testing import check_change
from simstudy.testing.models import FAMILIES, ModelContract, seen_joint

EXAMPLES = [
    Irrelevant(2, (2, 3)),
    Duplicate(2),
    Duplicate(1, rate=0.3, attributes=("x1",)),
    LabelNoise(0.2),
    LabelNoise(0.2, on="both"),
    Missing(0.3),
    Missing((0.1, 0.6), given="x1"),
    Missing(0.4, attributes=("x0",)),
    Shift(class_prior="random"),
    Shift(marginals={"x0": "uniform", "x1": "random"}),
]
BINARY = replace(RandomDAGFamily(variables=(3, 4), values=(2, 3)), classes=2)
CONFUSION = LabelNoise(confusion=((0.9, 0.1), (0.4, 0.6)), on="both")


@dataclass(frozen=True)
class All(Change):
    """Several changes after one another."""

    changes: tuple[Change, ...]

    def apply(self, world: World, rng: np.random.Generator) -> World:
        for change in self.changes:
            world = change.apply(world, rng)
        return world


SEVERAL = All((Duplicate(1, rate=0.2), LabelNoise(0.1), Shift("uniform"), Missing(0.2)))


def stream(*key: int) -> np.random.Generator:
    return np.random.default_rng(key)


@pytest.mark.parametrize("change", EXAMPLES, ids=repr)
def test_changes_keep_their_contract_with_other_parameters(change):
    check_change(change, draws=2)


def test_a_confusion_matrix_and_several_changes_keep_the_contract():
    check_change(CONFUSION, [BINARY], draws=2)
    check_change(SEVERAL, draws=1)


@pytest.mark.slow
@pytest.mark.parametrize("change", [*EXAMPLES, SEVERAL], ids=repr)
def test_a_million_rows_agree_with_the_exact_population(change):
    check_change(change, draws=2, rows=10**6)


@pytest.mark.slow
@pytest.mark.parametrize("change", [*EXAMPLES, SEVERAL], ids=repr)
@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_exact_scores_are_those_of_a_million_rows(change, family):
    world = change.apply(World.of(family.draw(stream(5))), stream(6))
    check_scores(world.test, 10**6)


@pytest.mark.parametrize("change", [LabelNoise(0.2, on="both"), Shift("random"), SEVERAL], ids=repr)
def test_exact_scores_are_those_of_many_rows(change):
    world = change.apply(World.of(FAMILIES[2].draw(stream(5))), stream(6))
    check_scores(world.test, 20_000)


def check_scores(population: Population, rows: int) -> None:
    """The truth's exact scores lie within five standard errors of those of test rows."""
    sample = population.sample(rows, stream(7))
    proba = population.posterior(sample)
    joint = seen_joint(population).reshape(-1, population.cards[-1])
    total = joint.sum(axis=1, keepdims=True)
    posterior = np.divide(joint, total, out=np.ones_like(joint), where=total > 0)
    exact_loss = -np.sum(joint * np.log(posterior, out=np.zeros_like(joint), where=joint > 0))
    for values, exact in (
        (log_loss(proba, sample.target), exact_loss),
        (accuracy(proba, sample.target), joint.max(axis=1).sum()),
    ):
        error = values.std() / np.sqrt(rows)
        assert abs(values.mean() - exact) <= 5 * error + 1e-12


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_noise_of_rate_0_changes_no_digit(family):
    model = family.draw(stream(1))
    rows = model.sample(500, stream(2))
    for change in (LabelNoise(0.0), LabelNoise(0.0, on="both"), Missing(0.0)):
        world = change.apply(World.of(model), stream(3))
        for population in (world.train, world.test):
            drawn = population.sample(500, stream(2))
            assert drawn.plain
            assert (drawn.codes == rows.codes).all()
            assert (population.posterior(drawn) == model.posterior(rows.attributes)).all()
            assert (population.class_prior() == model.class_prior()).all()
        if not world.test.gaps:
            assert (world.test.joint() == model.joint()).all()


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_the_model_s_own_prior_and_marginals_are_no_shift(family):
    world = World.of(family.draw(stream(1)))
    model = world.test.model
    own = Shift(tuple(model.class_prior()), {"x0": tuple(model.marginal(0))})
    assert own.apply(world, stream(2)) is world


def test_noise_flips_labels_at_its_rate_and_leaves_the_rest():
    model = TANFamily().draw(stream(1))
    world = LabelNoise(0.25).apply(World.of(model), stream(2))
    clean, noisy = model.sample(20_000, stream(3)), world.train.sample(20_000, stream(3))
    assert (clean.attributes == noisy.attributes).all()
    assert abs((clean.target != noisy.target).mean() - 0.25) < 5 * np.sqrt(0.25 * 0.75 / 20_000)
    assert (world.test.sample(50, stream(3)).codes == clean.codes[:50]).all()


def test_a_binary_noisy_posterior_is_the_textbook_formula():
    """P(label 1 | x) = (1 − r) p + r (1 − p), Angluin & Laird (1988)."""
    model = BINARY.draw(stream(4))
    rows = model.sample(50, stream(5)).attributes
    p = model.posterior(rows)[:, 1]
    seen = LabelNoise(0.2, on="both").apply(World.of(model), stream(6)).test.posterior(rows)[:, 1]
    np.testing.assert_allclose(seen, 0.8 * p + 0.2 * (1 - p), rtol=1e-12)


def test_a_shifted_prior_follows_bayes_s_theorem():
    """P'(c | x) ∝ P(c | x) P'(c)/P(c), Saerens et al. (2002)."""
    for family in FAMILIES:
        model = family.draw(stream(4))
        world = Shift(class_prior="random").apply(World.of(model), stream(5))
        rows = model.sample(50, stream(6)).attributes
        expected = model.posterior(rows) * world.test.class_prior() / model.class_prior()
        expected /= expected.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(world.test.posterior(rows), expected, rtol=1e-9)
        assert world.train.model is model


def test_shifted_marginals_leave_the_posterior():
    """Covariate shift: P(class | attributes) stays, Shimodaira (2000)."""
    for family in FAMILIES:
        model = family.draw(stream(4))
        test = Shift(marginals={"x1": "random"}).apply(World.of(model), stream(5)).test
        rows = model.sample(50, stream(6)).attributes
        np.testing.assert_allclose(test.posterior(rows), model.posterior(rows), rtol=1e-9)
        assert not np.allclose(test.model.marginal(1), model.marginal(1), atol=1e-3)


def test_irrelevant_attributes_say_nothing_and_the_rest_says_the_same():
    for family in FAMILIES:
        model = family.draw(stream(4))
        test = Irrelevant(2).apply(World.of(model), stream(5)).test
        rows = test.sample(100, stream(6)).attributes
        np.testing.assert_allclose(test.posterior(rows), model.posterior(rows[:, :-2]), rtol=1e-9)
        assert test.model.names[-3:] == ("irrelevant_1", "irrelevant_2", "y")


def test_an_exact_copy_is_equal_and_tells_nothing_new():
    model = TANFamily().draw(stream(4))
    test = Duplicate(attributes=("x0",)).apply(World.of(model), stream(5)).test
    rows = test.sample(300, stream(6)).attributes
    assert (rows[:, -1] == rows[:, 0]).all()
    np.testing.assert_allclose(test.posterior(rows), model.posterior(rows[:, :-1]), rtol=1e-9)
    assert test.model.names[-2:] == ("x0_copy", "y")


def test_all_attributes_are_copied_before_one_is_copied_twice():
    model = NaiveBayesFamily(variables=(4, 4)).draw(stream(1))
    made = Duplicate(5).apply(World.of(model), stream(2)).test.model
    copied = [name.partition("_")[0] for name in made.names[3:-1]]
    assert sorted(copied[:3]) == ["x0", "x1", "x2"]
    assert len({*made.names}) == len(made.names) == 9


def test_values_are_missing_at_the_stated_rates():
    model = TANFamily(variables=(4, 4), values=(3, 3)).draw(stream(1))
    world = Missing((0.1, 0.5), given="x1").apply(World.of(model), stream(2))
    codes = world.train.sample(30_000, stream(3)).codes
    assert (codes[:, [1, 3]] >= 0).all()
    for value, rate in enumerate((0.1, 0.3, 0.5)):
        rows = codes[codes[:, 1] == value]
        error = np.sqrt(rate * (1 - rate) / (2 * len(rows)))
        assert abs((rows[:, [0, 2]] < 0).mean() - rate) < 5 * error


def test_more_rate_loses_more_of_the_same_values():
    model = AODEFamily().draw(stream(1))
    few, many = (
        Missing(rate).apply(World.of(model), stream(2)).test.sample(200, stream(3)).codes < 0
        for rate in (0.1, 0.3)
    )
    assert (few <= many).all()
    assert few.sum() < many.sum()


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ([Missing(0.1), Irrelevant(1)], "before values are made missing"),
        ([Missing(0.1, given="x1"), Missing(0.1)], "given 'x1', which must itself never"),
        ([Missing(0.1, given="x1", attributes=("x1",))], "given 'x1', which must itself never"),
        ([Missing(0.1, attributes=("x11",))], "no attribute is named 'x11'; did you mean 'x1'"),
        ([LabelNoise(confusion=((1.0, 0.0), (0.0, 1.0)))], "for 2 classes, and the model has 3"),
        ([Shift((0.5, 0.5))], "2 probabilities do not fit 'y', which has 3 values"),
    ],
)
def test_what_does_not_fit_is_refused(changes, text):
    model = TANFamily(variables=(4, 4), values=(3, 3)).draw(stream(1))
    with pytest.raises(ValueError, match=text):
        All(tuple(changes)).apply(World.of(model), stream(2))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: LabelNoise(confusion=((1.0,), (0.0, 1.0))), "as many columns as rows"),
        (lambda: LabelNoise(confusion=((0.5, 0.4), (0.0, 1.0))), "sum to 1"),
        (lambda: Shift(), "class_prior or marginals"),
        (lambda: Shift("even"), "'uniform', 'random' or list"),
        (lambda: Shift((0.5, 0.6)), "must sum to 1"),
        (lambda: Missing((0.1, 0.2)), "needs 'given'"),
        (lambda: Missing(()), "is not allowed"),
    ],
)
def test_wrong_parameters_are_refused(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_the_contract_finds_what_is_wrong():
    @dataclass(frozen=True)
    class Forgetful(Change):
        def apply(self, world, rng):
            return None

    @dataclass(frozen=True)
    class Moody(Change):
        def apply(self, world, rng):
            prior = np.random.default_rng().dirichlet(np.ones(world.test.cards[-1]))
            return Shift(tuple(prior)).apply(world, rng)

    class Biased(Population):
        def posterior(self, rows):
            return super().posterior(rows)[:, ::-1]

    @dataclass(frozen=True)
    class Wrong(Change):
        def apply(self, world, rng):
            return world.changed(lambda one: Biased(one.model))

    for change, text in (
        (Forgetful(), "must return a World; it returned a NoneType"),
        (Moody(), "the same stream must make the same world"),
        (Wrong(), "posterior must agree with joint"),
    ):
        with pytest.raises(AssertionError, match=text):
            _check(change)


def _check(change: Change) -> None:
    """The contract without pickling, which classes of a test do not survive."""
    ModelContract(change).check_change((change,) * 2, FAMILIES[0].draw(stream(1)), 1, 1000)
