"""What can be known before running is refused before running, in one sentence."""

from __future__ import annotations

import subprocess
import sys

import pytest

from simstudy import SimstudyError, make_study

PLUGIN = """
from dataclasses import dataclass
from simstudy import register_family, register_learner, register_measure
from simstudy.learners import NaiveBayes

@register_learner("refused_without_fit")
@dataclass(frozen=True)
class WithoutFit:
    "It has no fit."

@register_learner("refused_without_rng")
@dataclass(frozen=True)
class WithoutRng:
    "Its fit takes too little."
    def fit(self, sample):
        return self

@register_learner("refused_check")
@dataclass(frozen=True)
class Check(NaiveBayes):
    "Its own check fails."
    def check_design(self, variables, values, sizes):
        raise KeyError(f"{variables} {values} {list(sizes)}")

@register_family("refused_without_draw")
@dataclass(frozen=True)
class WithoutDraw:
    "It has no draw."

@register_family("allowed_keys")
@dataclass(frozen=True)
class OwnKeys:
    "Its keys have a meaning of their own."
    variables: str = ""
    values: int = 3
    def draw(self, rng):
        raise NotImplementedError

@register_measure("refused_threshold", greater_is_better=True)
def threshold(proba, y, threshold):
    return y

@register_measure("refused_alone", greater_is_better=True)
def alone(proba):
    return 0.0
"""


def study(directory, learner=None, family=None, measures=None, sizes=(20, 40)):
    """A study with a learner, family or measures of a case."""
    content = {
        "name": "refused",
        "models": 2,
        "plugins": ["plugin.py"],
        "family": {"variables": [3, 4], "values": [2, 3], **(family or {"name": "tan"})},
        "data": {"train_sizes": list(sizes), "test_size": 50},
        "measures": measures or {},
        "learners": [{"name": "naive_bayes"}, learner or {"name": "prior"}],
    }
    if family is not None and family["name"].startswith("refused"):
        content["family"] = family
    return make_study(content, directory)


LEARNERS = {
    "sklearn.svm:LinearSVC": "give probabilities, with fit and predict_proba; did you mean 'SVC'?",
    "sklearn.svm:SVC": "not available when probability=False",
    "sklearn.linear_model:SGDClassifier": "not available for loss='hinge'",
    "sklearn.linear_model:RidgeClassifier": "give probabilities, with fit and predict_proba",
    "sklearn.linear_model:Ridge": "give probabilities, with fit and predict_proba",
    "sklearn.metrics:log_loss": "give probabilities, with fit and predict_proba",
    "sklearn.mixture:GaussianMixture": "it is not a classifier",
    "sklearn.tree:Nothing": "sklearn.tree has no 'Nothing'; known: DecisionTreeClassifier",
    "no_such_module:Thing": "No module named 'no_such_module'",
    "refused_without_fit": "needs a method fit(sample, rng)",
    "refused_without_rng": "cannot be called as fit(sample, rng)",
    "refused_check": "KeyError: '(3, 4) (2, 3) [20, 40]'",
}


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_that_cannot_work_is_refused(tmp_path, name):
    (tmp_path / "plugin.py").write_text(PLUGIN)
    with pytest.raises(SimstudyError) as caught:
        study(tmp_path, {"name": name})
    assert str(caught.value).startswith("the study, learners[1]: ")
    assert LEARNERS[name] in str(caught.value)
    assert "\n" not in str(caught.value)


NEIGHBORS = "sklearn.neighbors:KNeighborsClassifier"
EXACT = {"name": "camml", "search": "exact"}


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ({"learner": {"name": NEIGHBORS, "n_neighbors": 21}}, r"n_neighbors = 21 .* has 20"),
        ({"learner": {"name": "tan", "tree": [-1, 0]}}, r"tree = .* 2 to 3 attributes"),
        ({"learner": EXACT, "family": {"name": "tan", "variables": [3, 13]}}, "13 variables"),
        ({"family": {"name": "tan", "variables": [3, 63]}, "learner": {"name": "camml"}}, "62"),
        (
            {"learner": {"name": NEIGHBORS}, "measures": {"primary": "representation"}},
            "'representation' needs learners that accept row weights",
        ),
        (
            {"family": {"name": "kdb", "k": 30, "variables": [3, 40]}},
            r"family: models of 40 variables .* 31 parents .* 10\^17 probabilities",
        ),
        ({"family": {"name": "refused_without_draw"}}, r"needs a method draw\(rng\)"),
        (
            {"measures": {"also": ["refused_threshold"]}},
            r"measures.also\[0\]: .* missing a required argument: 'threshold'; it .*prior",
        ),
        ({"measures": {"primary": "refused_alone"}}, r"measures.primary: .* cannot be called"),
    ],
)
def test_a_design_that_cannot_work_is_refused(tmp_path, case, said):
    (tmp_path / "plugin.py").write_text(PLUGIN)
    with pytest.raises(SimstudyError, match=said) as caught:
        study(tmp_path, **case)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "case",
    [
        {"learner": {"name": NEIGHBORS, "n_neighbors": 20}},
        {"learner": {"name": NEIGHBORS}, "measures": {"also": ["representation"]}},
        {"learner": {"name": "sklearn.svm:SVC", "probability": True}},
        {"learner": {"name": "sklearn.linear_model:SGDClassifier", "loss": "log_loss"}},
        {"learner": EXACT, "family": {"name": "tan", "variables": [3, 12]}},
        {
            "learner": {"name": "tan", "tree": [-1, 0]},
            "family": {"name": "tan", "variables": [3, 3]},
        },
        {"family": {"name": "kdb", "k": 30, "variables": [3, 6]}},
        {
            "family": {"name": "allowed_keys", "variables": "a", "values": 3},
            "measures": {"prior": [0.5, 0.25, 0.25]},
        },
    ],
)
def test_a_design_that_can_work_is_not_refused(tmp_path, case):
    (tmp_path / "plugin.py").write_text(PLUGIN)
    assert len(study(tmp_path, **case).learners) == 2


def test_a_study_of_built_in_learners_imports_no_other_package():
    program = (
        "import sys\nfrom simstudy import make_study\n"
        "make_study({'name': 'x', 'family': {'name': 'tan'}, 'learners': [{'name': 'camml'}]})\n"
        "print({'sklearn', 'pgmpy', 'numba', 'pandas', 'scipy'} & {*sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"
