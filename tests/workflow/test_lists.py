"""Lists of studies are checked before anything runs, and run into one directory."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

import pytest

from simstudy import SimstudyError
from simstudy.study.lists import is_collection, load_collection
from simstudy.workflow.lists import run_collection, summary

STUDIES = Path(__file__).parents[2] / "studies"
STUDY = """
name = "NAME"
models = 3
seed = 5

[family]
name = "tan"
variables = [3, 4]

[data]
train_sizes = [20, 60]
test_size = 50

[[learners]]
name = "naive_bayes"
label = "NB"

[[learners]]
name = "prior"
"""
LIST = """
name = "both"
title = "Two studies"
citation = "Somebody (2004)"
studies = ["one.toml", "two.toml"]

[[claims]]
id = "first"
study = "one"
text = "NB is better than nothing"
relation = "beats"
learners = ["NB"]
against = ["prior"]
sizes = [20, 60]
"""
STATEMENTS = """
[[statements]]
id = "level"
study = "one"
text = "NB and prior are alike"
relation = "level"
learners = ["NB", "prior"]
sizes = [20, 60]
margin = 0.5

[[statements]]
study = "two"
text = "NB starts below and ends above zero"
short = "from below to above"
learners = ["NB"]
value = [0.0]

[[statements.lines]]
text = "below at first"
relation = "below"
sizes = [20]

[[statements.lines]]
text = "above in the end"
relation = "above"
sizes = [60]
"""
READINGS = """
name = "ways"
of = "both.toml"
label = "as given"

[[readings]]
id = "other_seed"
label = "another seed"
override.seed = 6

[[readings]]
id = "smooth"
label = "more smoothing, uniform prior"
override.learners.NB.alpha = 2.0
override.measures.prior = "uniform"
margin_factor = 2.0
post_hoc = true
"""


@pytest.fixture
def write(tmp_path):
    """Write two studies and a list of them, with some text replaced; return the list's path."""
    for name in ("one", "two"):
        text = STUDY.replace("NAME", name)
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")

    def write(old="", new=""):
        assert old in LIST
        path = tmp_path / "both.toml"
        path.write_text(LIST.replace(old, new) if old else LIST, encoding="utf-8")
        return path

    return write


def test_a_list_is_told_from_a_study_by_its_studies(write, tmp_path):
    assert is_collection(write())
    assert not is_collection(tmp_path / "one.toml")
    assert not is_collection(tmp_path / "missing.toml")
    (tmp_path / "broken.toml").write_text("studies = [")
    assert not is_collection(tmp_path / "broken.toml")


def test_a_list_holds_its_studies_and_claims(write):
    found = load_collection(write())
    assert (found.name, found.title, found.citation) == ("both", "Two studies", "Somebody (2004)")
    assert [study.name for study in found.studies] == ["one", "two"]
    (statement,) = found.statements
    (claim,) = statement.lines
    assert statement.text == claim.text == "NB is better than nothing"
    assert (claim.relation, claim.learners, claim.sizes) == ("beats", ["NB"], [20, 60])


def test_a_statement_has_a_line_for_each_size_or_the_lines_it_names(write):
    path = write()
    path.write_text(LIST + STATEMENTS, encoding="utf-8")
    level, course, claim = load_collection(path).statements
    assert [line.text for line in level.lines] == ["20 rows", "60 rows"]
    assert [line.sizes for line in level.lines] == [[20], [60]]
    assert [line.id for line in level.lines] == ["level.20", "level.60"]
    assert (course.study, course.short) == ("two", "from below to above")
    assert [line.text for line in course.lines] == ["below at first", "above in the end"]
    assert [line.relation for line in course.lines] == ["below", "above"]
    assert all(line.learners == ["NB"] for line in course.lines)
    assert claim.text == "NB is better than nothing"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("short", "shrt", "statements[1].shrt: unknown key; did you mean 'short'?"),
        ('short = "from', 'short = 3 # "from', "statements[1].short: 3 is not text in quotes"),
        ('text = "NB starts below and ends above zero"', "", "statements[1].text: this key is"),
        ('"above"', '"over"', 'statements[1].lines[1].relation: "over" is not allowed'),
        ("sizes = [60]", "sizes = [70]", "statements[1].lines[1].sizes: the study 'two' has no"),
        ("sizes = [60]", "size = [60]", "statements[1].lines[1].size: unknown key; did you mean"),
        ("margin = 0.5", "", 'statements[0].margin: "level" needs a margin above 0'),
        ("[20, 60]", "[]", "statements[0].sizes: at least 1 is needed"),
    ],
)
def test_what_is_wrong_with_a_statement_is_said_with_its_line(write, old, new, said):
    path = write()
    assert old in STATEMENTS
    path.write_text(LIST + STATEMENTS.replace(old, new), encoding="utf-8")
    with pytest.raises(SimstudyError) as error:
        load_collection(path)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "both"', "", "both.toml, name: this key is missing"),
        ('name = "both"', 'name = "a b"', 'both.toml, name: "a b" is not allowed'),
        ("title", "titel", "both.toml, titel: unknown key; did you mean 'title'?"),
        ('["one.toml", "two.toml"]', "[]", "both.toml, studies: at least 1 is needed"),
        ('"two.toml"', '"three.toml"', "both.toml, studies[1]: "),
        ('"two.toml"', '"one.toml"', "studies[1]: two studies have the name 'one'"),
        ('"two.toml"', '"both.toml"', 'studies[1]: "both.toml" is this list itself'),
        ("learners =", "lerners =", "claims[0].lerners: unknown key; did you mean 'learners'?"),
        ('study = "one"', "", "claims[0].study: this key is missing"),
        ('study = "one"', 'study = "tree"', "claims[0].study: no study 'tree'"),
        ('"beats"', '"beat"', "claims[0].relation: \"beat\" is not allowed; it must be one of"),
        ('["NB"]', '"NB"', 'claims[0].learners: "NB" is not a list in square brackets'),
        ('["NB"]', '["NBC"]', "claims[0].learners: the study 'one' has no learner 'NBC'"),
        ('["NB"]', "[]", "claims[0].learners: at least 1 is needed"),
        ('against = ["prior"]', "", 'claims[0].against: "beats" needs learners to compare with'),
        ('["prior"]', '["NB"]', "claims[0].learners: \"beats\" needs two learners"),
        ('["prior"]', '["prior", "NB"]', "claims[0].against: a learner is compared with itself"),
        ("[20, 60]", "[50]", "claims[0].sizes: the study 'one' has no size 50; it has 20, 60"),
        ("[20, 60]", "[20]\nvalue = [1.0]", 'claims[0].value: "beats" needs no numbers, not 1'),
        ("[20, 60]", "[20]\nmargin = -1.0", "claims[0].margin: -1.0 is not allowed"),
        ("[20, 60]", '[20]\nmeasure = "accuracy"', "claims[0].measure: the study 'one' has no"),
        ('"beats"', '"level"', 'claims[0].margin: "level" needs a margin above 0'),
        ('"beats"', '"below"', 'claims[0].value: "below" needs 1 number, not 0'),
        ('"beats"', '"between"\nvalue = [0.0, 1.0]', 'claims[0].against: "between" concerns a'),
        ('"beats"\nlearners = ["NB"]\nagainst = ["prior"]',
         '"between"\nlearners = ["NB"]\nvalue = [0.1, -0.3]',
         'claims[0].value: "between" needs the lower number first; 0.1 is not below -0.3'),
        ("[[claims]]", "[claims]", "both.toml, claims: "),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_a_sentence_with_file_and_key(write, old, new, said):
    with pytest.raises(SimstudyError) as error:
        load_collection(write(old, new))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_cannot_be_read_is_said_to(tmp_path):
    with pytest.raises(SimstudyError, match="cannot be read"):
        load_collection(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("studies = [")
    with pytest.raises(SimstudyError, match="is not valid TOML"):
        load_collection(tmp_path / "bad.toml")


def test_what_is_overridden_is_so_in_every_study_and_claims_are_kept(write):
    found = load_collection(write(), {"models": 2, "data.train_sizes": [30]})
    assert [study.models for study in found.studies] == [2, 2]
    assert found.statements[0].lines[0].sizes == [20, 60]


def test_a_list_overrides_settings_of_its_studies_and_the_command_those_of_the_list(
    write, tmp_path
):
    given = '\n[override]\nmodels = 4\nmeasures.prior = "test"\nlearners.NB.alpha = 2.0\n'
    path = write("[[claims]]", f"{given}\n[[claims]]")
    found = load_collection(path, {"models": 2})
    assert [study.models for study in found.studies] == [2, 2]
    assert [study.measures.prior for study in found.studies] == ["test", "test"]
    assert [study.learners[0].parameters["alpha"] for study in found.studies] == [2.0, 2.0]
    assert "alpha" not in found.studies[0].learners[1].parameters
    run_collection(found, tmp_path / "out", jobs=1, report=False)
    record = (tmp_path / "out" / "both" / "two" / "study.toml").read_text(encoding="utf-8")
    assert 'prior = "test"' in record
    assert "alpha = 2.0" in record
    assert "prior" not in (tmp_path / "two.toml").read_text(encoding="utf-8").split("name")[0]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("measures.priro = 1", "both.toml, override: study 'one', measures.priro: unknown key; "),
        ("data = 3", "both.toml, override: study 'one', data: 3 is not a section"),
        ('name = "x"', "both.toml, studies[1]: two studies have the name 'x'"),
        ("models.x = 1", "both.toml, override.models: models is not a section"),
        ("learners.MB.alpha = 1.0", "override.learners: study 'one' has no learner 'MB'; did you"),
        ("learners.NB = 1", "override.learners.NB: 1 is not a section"),
        ("learners.NB.alhpa = 1.0", "override: study 'one', learners[0].alhpa: unknown key; did"),
    ],
)
def test_what_a_list_cannot_override_is_refused(write, given, said):
    path = write("[[claims]]", f"[override]\n{given}\n\n[[claims]]")
    with pytest.raises(SimstudyError) as error:
        load_collection(path)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.fixture
def write_readings(write, tmp_path):
    """Write a list with statements and readings of it, with some text replaced."""

    def write_readings(old="", new=""):
        assert old in READINGS
        override = '[override]\nmeasures.prior = "test"\n'
        write().write_text(LIST + STATEMENTS + override, encoding="utf-8")
        path = tmp_path / "ways.toml"
        path.write_text(READINGS.replace(old, new) if old else READINGS, encoding="utf-8")
        return path

    return write_readings


def test_readings_are_the_list_with_more_overridden(write_readings):
    path = write_readings()
    assert is_collection(path)
    found = load_collection(path, {"models": 2})
    assert (found.name, found.title, found.reading.label) == ("ways", "Two studies", "as given")
    seed, smooth = found.readings
    assert [part.studies[1].seed for part in (found, seed, smooth)] == [5, 6, 5]
    priors = [part.studies[0].measures.prior for part in (found, seed, smooth)]
    assert priors == ["test", "test", "uniform"]
    assert {study.models for part in (found, seed, smooth) for study in part.studies} == {2}
    assert smooth.studies[0].learners[0].parameters == {"alpha": 2.0}
    margins = [part.statements[0].lines[0].margin for part in (found, seed, smooth)]
    assert margins == [0.5, 0.5, 1.0]
    assert (seed.reading.post_hoc, smooth.reading.post_hoc) == (False, True)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("seed = 6", "sead = 6", "ways.toml, readings[0].override: study 'one', sead: unknown"),
        ("NB.alpha", "MB.alpha", "readings[1].override.learners: study 'one' has no learner 'MB'"),
        ("post_hoc", "posthoc", "readings[1].posthoc: unknown key; did you mean 'post_hoc'?"),
        ('label = "another seed"', "", "readings[0].label: this key is missing"),
        ('"smooth"', '"other_seed"', "readings[1].id: 'other_seed' is taken by another reading"),
        ('"smooth"', '"two"', "readings[1].id: 'two' is taken by another reading or a study"),
        ("2.0\npost", "0.0\npost", "readings[1].margin_factor: 0.0 is not allowed"),
        ('"both.toml"', '"ways.toml"', 'of: "ways.toml" is not a list of studies'),
        ('"both.toml"', '"one.toml"', 'of: "one.toml" is not a list of studies'),
        ('"both.toml"', '"none.toml"', "cannot be read"),
    ],
)
def test_what_is_wrong_with_readings_is_said_in_a_sentence(write_readings, old, new, said):
    with pytest.raises(SimstudyError) as error:
        load_collection(write_readings(old, new))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_lists_of_data_sets_have_no_readings(write_readings, tmp_path):
    path = write_readings()
    (tmp_path / "rows.csv").write_text("x,y\n" + "a,0\nb,1\n" * 10, encoding="utf-8")
    study = 'name = "rows"\n[[datasets]]\npath = "rows.csv"\ntarget = "y"\n'
    study += '[resampling]\nfolds = 2\n[[learners]]\nname = "naive_bayes"\nlabel = "NB"\n'
    (tmp_path / "rows.toml").write_text(study, encoding="utf-8")
    (tmp_path / "both.toml").write_text('name = "both"\nstudies = ["rows.toml"]\n')
    with pytest.raises(SimstudyError, match=r"of: 'both\.toml' has studies of data sets"):
        load_collection(path)


def test_readings_run_beside_the_list_and_their_verdicts_stand_on_its_page(
    write_readings, tmp_path, monkeypatch
):
    monkeypatch.setattr("simstudy.report.files.write_report", lambda *_: None)
    results = run_collection(load_collection(write_readings()), tmp_path / "out", jobs=1)
    root = tmp_path / "out" / "ways"
    assert [found.directory for found in results] == [root / "one", root / "two"]
    assert "seed = 6" in (root / "other_seed" / "two" / "study.toml").read_text(encoding="utf-8")
    assert "seed = 5" in (root / "two" / "study.toml").read_text(encoding="utf-8")
    page = (root / "compare.html").read_text(encoding="utf-8")
    assert "Verdicts by reading" in page
    assert "Under 2 readings of the source" in page
    assert "more smoothing, uniform prior*" in page
    assert "<strong>Chosen after results had been seen" in page


def test_a_list_runs_into_one_directory_and_is_not_run_twice(write, tmp_path, monkeypatch):
    # The figures of each study take long and are tested elsewhere.
    monkeypatch.setattr("simstudy.report.files.write_report", lambda *_: None)
    linked = []
    monkeypatch.setattr(
        "simstudy.report.pages.home.update_home",
        lambda place: linked.append((place.parent / "compare.html").exists()) or [],
    )
    watched = []

    @contextmanager
    def watch(study):
        yield lambda step: watched.append((study.name, step.models))

    collection = load_collection(write())
    results = run_collection(collection, tmp_path / "out", jobs=1, watch=watch)
    assert [found.directory for found in results] == [
        tmp_path / "out" / "both" / name for name in ("one", "two")
    ]
    assert [found.settings["name"] for found in results] == ["one", "two"]
    assert watched[-1] == ("two", 3)
    assert linked == [False, False, True]
    page = (tmp_path / "out" / "both" / "compare.html").read_text(encoding="utf-8")
    assert "Two studies" in page
    assert "NB is better than nothing" in page
    counts = summary(collection, results)[0]
    assert counts in page
    assert "1 statement" in counts
    again = run_collection(collection, tmp_path / "out", jobs=1)
    assert all(found.reused for found in again)


KINDS = """
name = "NAME"
compare = "NAME"
models = 3

[family]
name = "tan"
variables = [3, 4]

[data]
train_sizes = [20, 30]

[[learners]]
name = "naive_bayes"

[measures]
primary = "accuracy"

[[NAME]]
"""
NO_MEASURE_IN_COMMON = """
name = "judges"
studies = ["estimators.toml", "tests.toml"]

[[statements]]
id = "optimistic"
study = "estimators"
text = "Resubstitution is too optimistic"
relation = "above"
measure = "error_accuracy_naive_bayes"
learners = ["resubstitution"]
value = [-1]
sizes = [20]
"""


def test_studies_without_a_measure_in_common_have_a_page_of_their_statements(tmp_path):
    given = {"estimators": "resubstitution", "tests": "mcnemar"}
    for name, treatment in given.items():
        text = KINDS.replace("NAME", name) + f'name = "{treatment}"\n'
        if name == "tests":
            text = text.replace("[[learners]]", '[[learners]]\nname = "prior"\n\n[[learners]]')
        (tmp_path / f"{name}.toml").write_text(text)
    (tmp_path / "judges.toml").write_text(NO_MEASURE_IN_COMMON)
    run_collection(load_collection(tmp_path / "judges.toml"), tmp_path, jobs=1)
    page = (tmp_path / "judges" / "compare.html").read_text()
    assert "Of 1 statement about these studies, 1 is reproduced" in page
    assert "2</b> treatments" in page  # not learners
    assert "Not measured in tests." in page
    assert "test mcnemar" in page  # among the settings, in words
    assert "{&#39;name&#39;" not in page


def test_without_a_report_there_is_no_page(write, tmp_path):
    collection = load_collection(write(), {"data.train_sizes": [20]})
    run_collection(collection, tmp_path / "out", jobs=1, report=False)
    assert not (tmp_path / "out" / "both" / "compare.html").exists()


def test_the_paper_of_2004_is_a_list_whose_claims_cite_it():
    paper = load_collection(STUDIES / "paper2004.toml")
    assert [study.name for study in paper.studies] == ["naive_bayes", "tan", "aode"]
    assert {study.measures.prior for study in paper.studies} == {"test"}
    assert len(paper.statements) == 11
    lines = [line for statement in paper.statements for line in statement.lines]
    assert all("section 5.1" in line.source for line in lines)
    assert all(statement.short for statement in paper.statements)


def test_the_readings_of_the_paper_say_which_were_chosen_after_the_fact():
    paper = load_collection(STUDIES / "paper2004_readings.toml")
    after = [part.name for part in paper.readings if part.reading.post_hoc]
    assert after == ["combined", "combined_seed_2005"]
    for part in paper.readings:
        summed = part.studies[0].measures.reward == "sum"
        assert summed == part.name.startswith(("sum", "combined"))
        assert {study.measures.prior for study in part.studies} == {
            "train" if part.name == "train_prior" else "test"
        }
