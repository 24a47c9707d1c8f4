"""What a study file may say, and what is said of one that is wrong."""

from __future__ import annotations

import dataclasses
import sys
import tomllib
from pathlib import Path

import pytest
from pydantic import ValidationError

from simstudy import SimstudyError, load_study, make_study, register_family
from simstudy.sources.families.tan import TANFamily

STUDIES = Path(__file__).parents[2] / "studies"
LEARNER = '[[learners]]\nname = "naive_bayes"\nlabel = "NB"\n'


def test_defaults_are_the_design_of_2004():
    study = make_study(
        {"name": "x", "family": {"name": "tan"}, "learners": [{"name": "naive_bayes"}]}
    )
    assert study.models == 40
    assert study.data.train_sizes == [50, 500, 5000]
    assert study.data.test_size == 1000
    assert study.family.resolved == {
        "variables": (4, 8),
        "values": (2, 5),
        "concentration": 1.0,
        "cpts": "dirichlet",
    }
    assert study.measures.labels == ["information_reward"]
    assert (study.measures.prior, study.measures.cutoff, study.measures.base) == (
        "train",
        "mml",
        "e",
    )
    assert study.measures.reward == "mean"
    assert (study.analysis.confidence, study.analysis.adjustment) == (0.95, "bonferroni_all")
    assert study.labels == ["naive_bayes"]


@pytest.mark.parametrize("name", ["naive_bayes", "tan", "aode"])
def test_the_shipped_studies_are_the_design_of_2004(name):
    study = load_study(STUDIES / f"{name}.toml")
    assert (study.name, study.family.name, study.models) == (name, name, 40)
    assert (study.data.train_sizes, study.data.test_size) == ([50, 500, 5000], 1000)
    assert study.labels == ["NB", "TAN", "AODE", "CaMML"]
    assert [learner.parameters for learner in study.learners] == [
        *({}, {"search": "superparent"}, {}, {})
    ]


@pytest.mark.parametrize("name", ["naive_bayes", "tan", "aode"])
def test_a_resolved_study_reads_back_as_itself(name):
    study = load_study(STUDIES / f"{name}.toml")
    again = make_study(tomllib.loads(study.to_toml()))
    assert again.as_dict() == study.as_dict()
    assert again.to_toml() == study.to_toml()


def test_hostile_text_survives_the_way_through_toml(write_study):
    title = 'quotes " and \\ backslash, \t tab, é, \x7f, <script>'
    study = load_study(write_study(), {"title": title})
    assert tomllib.loads(study.to_toml())["title"] == title


def test_an_identity_names_only_what_differs_from_the_defaults():
    def identity(**parameters):
        learner = {"name": "tan", **parameters}
        study = make_study({"name": "x", "family": {"name": "tan"}, "learners": [learner]})
        return study.learners[0].identity

    assert identity() == identity(alpha=0.5, search="cmi") == '["tan", {}]'
    assert identity(alpha=1) == identity(alpha=1.0) == '["tan", {"alpha": 1.0}]'
    assert identity(label="other") == identity()


def test_overrides_replace_what_the_file_says(write_study):
    study = load_study(write_study(), {"models": 9, "data.train_sizes": [5, 6]})
    assert (study.models, study.data.train_sizes) == (9, [5, 6])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"models = 4": "modles = 4"}, "modles: unknown key; did you mean 'models'?"),
        ({"test_size": "tset_size"}, "data.tset_size: unknown key; did you mean 'test_size'?"),
        ({'name = "tan"\nvar': 'name = "tam"\nvar'}, "unknown family 'tam'; did you mean 'tan'?"),
        (
            {'name = "naive_bayes"': 'name = "naive_byes"'},
            "learners[0].name: unknown learner 'naive_byes'; did you mean 'naive_bayes'?",
        ),
        (
            {'label = "TAN"': "serch = 'cmi'"},
            "learners[1].serch: unknown key; did you mean 'search'",
        ),
        ({'label = "TAN"': "search = 'x'"}, "must be one of 'cmi', 'superparent' or 'likelihood'"),
        ({'label = "TAN"': "alpha = 0"}, "alpha = 0.0 is not allowed; it must be above 0"),
        ({'label = "TAN"': "tree = [1, 0]"}, "its arcs must not form a cycle"),
        ({'label = "TAN"': 'label = "NB"'}, "learners[1].label: two learners have the label 'NB'"),
        ({"[20, 60]": "[0, 60]"}, "data.train_sizes[0]: 0 is not allowed; it must be at least 1"),
        ({"[20, 60]": "[60, 20]"}, "[60, 20] is not allowed; sizes must increase"),
        ({"[20, 60]": "[20, 20]"}, "[20, 20] is not allowed; sizes must increase"),
        ({"[20, 60]": "[]"}, "data.train_sizes: at least 1 is needed"),
        ({"[20, 60]": "[20.5]"}, "data.train_sizes[0]: 20.5 is not a whole number"),
        ({"test_size = 100": "test_size = 0"}, "data.test_size: 0 is not allowed"),
        ({"[3, 4]": "[1, 4]"}, "variables = [1, 4] is not allowed"),
        ({"[3, 4]": "[4, 3]"}, "variables = [4, 3] is not allowed"),
        ({"[3, 4]": "[3, 4, 5]"}, "family.variables: [3, 4, 5] has too many entries"),
        ({"variables = [3, 4]": "values = [1, 4]"}, "values = [1, 4] is not allowed"),
        ({"variables = [3, 4]": "concentration = 0"}, "concentration = 0.0 is not allowed"),
        ({"variables = [3, 4]": "k = 2"}, "family.k: unknown key"),
        (
            {"variables = [3, 4]": 'cpts = "uniform"'},
            "family.cpts: \"uniform\" is not allowed; it must be one of 'dirichlet' or",
        ),
        (
            {"variables = [3, 4]": 'cpts = "normalized_uniform"\nconcentration = 0.5'},
            "family: concentration = 0.5 is not allowed with cpts = 'normalized_uniform'",
        ),
        ({"models = 4": "models = 1"}, "must be at least 2 (models are the subjects of the ANOVA"),
        ({"models = 4": 'models = "4"'}, 'models: "4" is not a whole number'),
        ({"models = 4": "models = true"}, "models: true is not a whole number"),
        ({"seed = 7": "seed = -1"}, "seed: -1 is not allowed; it must be at least 0"),
        ({'name = "small"': 'name = "../up"'}, 'name: "../up" is not allowed'),
        ({'name = "small"': ""}, "name: this key is missing"),
        ({LEARNER: "[measures]\nprimary = 'acuracy'\n" + LEARNER}, "did you mean 'accuracy'?"),
        ({LEARNER: "[measures]\nalso = ['accuracy', 'accuracy']\n" + LEARNER}, "is listed twice"),
        ({LEARNER: "[measures]\nprior = 'tset'\n" + LEARNER}, "one of train, test, uniform, true"),
        ({LEARNER: "[measures]\nprior = [0.5, 0.6]\n" + LEARNER}, "that sum to 1"),
        (
            {LEARNER: "[measures]\nprior = [0.5, 0.5]\n" + LEARNER},
            "needs a target with as many values",
        ),
        ({LEARNER: "[measures]\nbase = 1\n" + LEARNER}, '"e" or a number above 1'),
        ({LEARNER: "[measures]\ncutoff = 'x'\n" + LEARNER}, "'mml', '2001', 'epsilon' or 'none'"),
        ({LEARNER: "[measures]\nreward = 'x'\n" + LEARNER}, "must be one of 'mean' or 'sum'"),
        (
            {LEARNER: "[analysis]\nconfidence = 95\n" + LEARNER},
            "95 is not allowed; it must be below 1",
        ),
        ({LEARNER: "[analysis]\nadjustment = 'x'\n" + LEARNER}, "must be one of 'bonferroni_all'"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(write_study, changes, said):
    path = write_study(changes)
    with pytest.raises(SimstudyError) as caught:
        load_study(path)
    sentence = str(caught.value)
    assert said in sentence
    assert sentence.startswith(f"{path}, ")
    assert "\n" not in sentence


def test_a_syntax_error_names_the_line(write_study):
    with pytest.raises(SimstudyError, match=r"is not valid TOML: .*line 5"):
        load_study(write_study({"models = 4": "models = = 4"}))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SimstudyError, match=r"nowhere\.toml cannot be read: No such file"):
        load_study(tmp_path / "nowhere.toml")


def test_a_directory_is_not_a_study(tmp_path):
    with pytest.raises(SimstudyError, match="cannot be read"):
        load_study(tmp_path)


def test_a_file_that_is_not_text_is_refused(tmp_path):
    (tmp_path / "x.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SimstudyError, match="not UTF-8"):
        load_study(tmp_path / "x.toml")


def test_without_learners_there_is_no_study(write_study):
    text = 'name = "x"\n[family]\nname = "tan"\n'
    with pytest.raises(SimstudyError, match="learners: this key is missing"):
        load_study(write_study(text=text))


def test_a_study_cannot_be_changed(write_study):
    study = load_study(write_study())
    for thing, key in ((study, "seed"), (study.family, "name"), (study.data, "test_size")):
        with pytest.raises(
            (dataclasses.FrozenInstanceError, ValidationError), match=r"frozen|assign"
        ):
            setattr(thing, key, 5)
    again = dataclasses.replace(study, source=study.source.first(9))
    assert (study.models, again.models, again.family) == (4, 9, study.family)


def test_the_earlier_name_of_a_parameter_stays_in_the_identity(write_study):
    study = load_study(write_study())
    assert study.family.parameters == {"variables": [3, 4]}
    assert study.family.identity == '["tan", {"attributes": [3, 4]}]'


def test_a_family_of_another_kind_may_mean_anything_by_the_renamed_keys():
    @register_family("deck")
    @dataclasses.dataclass(frozen=True)
    class Deck:
        variables: int = 3
        attributes: str = "red"

        def draw(self, rng):
            return TANFamily(variables=(self.variables, self.variables)).draw(rng)

    given = {"name": "deck", "variables": 4, "attributes": "black"}
    study = make_study({"name": "x", "learners": [{"name": "prior"}], "family": given})
    assert study.family.identity == '["deck", {"attributes": "black", "variables": 4}]'


def camml_study(variables: list[int], **parameters: str) -> dict[str, object]:
    return {
        "name": "x",
        "family": {"name": "tan", "variables": variables},
        "learners": [{"name": "naive_bayes"}, {"name": "camml", **parameters}],
    }


def test_a_study_that_needs_numba_is_refused_without_it(monkeypatch):
    make_study(camml_study([4, 11]))
    monkeypatch.setitem(sys.modules, "numba", None)  # as if it were not installed
    make_study(camml_study([4, 10]))
    with pytest.raises(SimstudyError, match=r"learners\[1\]: .*11 variables.*simstudy\[sampling\]"):
        make_study(camml_study([4, 11]))
    with pytest.raises(SimstudyError, match=r"simstudy\[sampling\]"):
        make_study(camml_study([4, 5], search="sample"))


@pytest.mark.parametrize(("search", "allowed"), [("exact", 12), ("auto", 62), ("sample", 62)])
def test_models_too_large_for_camml_are_refused_before_running(search, allowed):
    make_study(camml_study([4, allowed], search=search))
    with pytest.raises(SimstudyError, match=f"{allowed + 1} variables are too many"):
        make_study(camml_study([4, allowed + 1], search=search))
