"""The kinds of studies: what is compared, by the value of ``compare`` in a study file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations


@dataclass(frozen=True)
class Kind:
    """What a study compares, and the words for it.

    A study applies treatments to problems at several doses. Scores hold the label of the treatment
    in the column ``learner`` and the dose in ``size``, whatever the kind.

    Attributes
    ----------
    name : str
        The value of ``compare``: the plural of the treatment, and the attribute of a plan that
        has the treatments.
    treatment : str
        One treatment, in words.
    dose : str
        The kind of rows that are the dose, as in "training rows".
    doses : str
        The key of the doses in ``[data]``, and the attribute of a plan.
    specs : str
        The attribute of a study that has the treatments.
    own_keys : tuple of str
        Keys of a study file that are for this kind alone.
    keeps : str
        The name of a table of results with what its cells keep beside their scores.
    scores : tuple of str
        What is scored by each target: the beginnings of the names of the columns.
    sample : str
        The rows of one dose, in words.
    size : str
        Their number, in words.
    score : str
        What a column of the scores is called.
    """

    name: str
    treatment: str
    dose: str
    doses: str
    specs: str
    own_keys: tuple[str, ...] = ()
    keeps: str = ""
    scores: tuple[str, ...] = ()
    sample: str = "sample"
    size: str = "sample size"
    score: str = "score"

    @property
    def compares_learners(self) -> bool:
        """Whether it is the kind that results record without a name."""
        return self.name == LEARNERS_KIND

    def alien_keys(self) -> set[str]:
        """Return the keys of a study file that are for other kinds alone."""
        return {key for kind in KINDS.values() for key in kind.own_keys} - {*self.own_keys}

    @property
    def conditions(self) -> tuple[str, str]:
        """The conditions of a plan that hold its treatments and its doses, which may grow."""
        if self.compares_learners:
            return "learners", "data.train_sizes"
        return "treatments", "doses"


LEARNERS_KIND = "learners"
DOSES = "doses"  # among overrides of a study: its doses, whatever their key
KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            LEARNERS_KIND,
            "learner",
            "training",
            "train_sizes",
            "learners",
            ("data.test_size",),
            sample="training set",
            size="training size",
            score="measure",
        ),
        Kind(
            "measures",
            "measure",
            "test",
            "test_sizes",
            "measured",
            ("data.test_sizes", "data.repeats", "measures.targets"),
            keeps="picks.parquet",
            scores=("right", "loss"),
            sample="test set",
            size="test size",
        ),
        Kind(
            "estimators",
            "estimator",
            "available",
            "train_sizes",
            "estimators",
            ("estimators", "data.training_sets"),
            keeps="estimates.parquet",
            scores=(
                *("squared_error", "squared_error_of_mean", "error", "error_of_mean"),
                *("covered", "covered_mean", "width"),
            ),
        ),
        Kind("tests", "test", "available", "train_sizes", "tests", ("tests", "data.repeats")),
    )
}


def shared_kind(kinds: Sequence[Kind]) -> Kind:
    """Return the kind of all studies; for studies of several kinds, one with words for any."""
    other = Kind("treatments", "treatment", "available", "train_sizes", "")
    return kinds[0] if len({*kinds}) == 1 else other


# The scores that are shares of the choices, intervals or tests of a model.
SHARES = ("right", "covered", "covered_mean", "type_1", "type_1_mirrored", "power", "wrong")


def tested_scores(learners: Sequence[str]) -> list[tuple[str, str]]:
    """The scores of a comparison of tests: of single learners, then of every two."""
    pairs = [f"{first}_{second}" for first, second in combinations(learners, 2)]
    alone = [(score, name) for score in ("type_1", "type_1_mirrored") for name in learners]
    return alone + [(score, pair) for score in ("power", "wrong", "difference") for pair in pairs]
