"""Built-in studies: found by name, in a wheel and in a checkout."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from simstudy import SimstudyError, load_collection, load_study
from simstudy.study import files
from simstudy.study.files import builtin_studies, study_path, summary
from simstudy.study.lists import is_collection
from simstudy.workflow.lists import vary_study

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """A working directory without studies."""
    monkeypatch.chdir(tmp_path)


# Their data sets take long to read.
LARGE = {"huang_ling2007", "papers", "recalibration", "uci2004"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name in LARGE else [])
        for name in builtin_studies()
    ],
)
def test_every_built_in_study_loads_by_its_name_and_has_a_line(name):
    load = load_collection if is_collection(name) else load_study
    assert load(name).name == name
    line = summary(builtin_studies()[name])
    assert 20 < len(line) <= 120
    assert line[-1] in ".?"


def test_summaries_differ():
    lines = [summary(file) for file in builtin_studies().values()]
    assert len(set(lines)) == len(lines) > 8


def test_the_studies_of_a_built_in_list_are_found_beside_it():
    assert [study.name for study in load_collection("paper2004").studies] == [
        "naive_bayes",
        "tan",
        "aode",
    ]
    assert load_collection("paper2004_readings").readings


def test_a_file_of_that_name_takes_precedence(write_study, tmp_path):
    write_study(name="tan")
    assert study_path("tan") == Path("tan")
    assert load_study("tan").title == "A small study"
    assert load_study(Path("./tan")).name == "small"


def test_a_directory_of_that_name_does_not(tmp_path):
    (tmp_path / "tan").mkdir()
    assert load_study("tan").seed == 2004


def test_a_list_may_name_built_in_studies_and_lists(write_study, tmp_path):
    write_study(name="mine.toml")
    (tmp_path / "list.toml").write_text('name = "both"\nstudies = ["mine.toml", "tan"]\n')
    assert [study.name for study in load_collection("list.toml").studies] == ["small", "tan"]
    (tmp_path / "readings.toml").write_text(
        'name = "more"\nof = "paper2004"\n[[readings]]\nid = "x"\nlabel = "x"\n'
    )
    assert len(load_collection("readings.toml").studies) == 3


def test_a_built_in_study_can_be_varied(tmp_path):
    page, found = vary_study(
        "tan",
        ["analysis.confidence=0.9,0.95"],
        tmp_path / "out",
        {"models": 2, "data.train_sizes": [20, 30]},
        jobs=1,
        report=False,
    )
    assert page.parent == tmp_path / "out" / "tan-varied"
    assert len(found) == 2


@pytest.mark.parametrize("given", ["tna", "tan1", "tan.toml", "no/such/place/tan"])
def test_an_unknown_name_suggests_built_in_studies(given):
    with pytest.raises(SimstudyError) as error:
        load_study(given)
    assert str(error.value).startswith(f"{given} cannot be read")
    assert "did you mean 'tan'" in str(error.value)
    assert "true_tree" in str(error.value)


def test_an_unknown_name_suggests_files_in_the_directory(write_study, tmp_path):
    write_study(name="mine.toml")
    for given in ("mine", "mien.toml", "mines"):
        with pytest.raises(SimstudyError, match=r"did you mean 'mine\.toml'"):
            load_study(given)
    with pytest.raises(SimstudyError, match=r"did you mean '.*/mine\.toml'"):
        load_study(tmp_path / "mein.toml")


def test_a_name_like_no_other_gets_the_list_alone():
    with pytest.raises(
        SimstudyError, match="No such file or directory; built-in studies: alarm, aode, "
    ):
        load_study("qqqqqq")


def test_a_list_is_not_a_study():
    with pytest.raises(SimstudyError, match=r"paper2004\.toml is a list of studies"):
        load_study("paper2004")


def test_a_wheel_has_them_inside_the_package(tmp_path, monkeypatch):
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = settings["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["only-include"] == ["simstudy", "studies"]
    assert wheel["sources"] == {"studies": "simstudy/studies"}
    place = tmp_path / "site-packages" / "simstudy"
    (place / "studies").mkdir(parents=True)
    (place / "studies" / "inside.toml").touch()
    (place.parent / "studies").mkdir()
    (place.parent / "studies" / "of_another_package.toml").touch()
    monkeypatch.setattr(files, "__file__", str(place / "study" / "files.py"))
    assert [*builtin_studies()] == ["inside"]


@pytest.mark.slow
def test_the_wheel_that_is_built_has_every_study_and_the_starter(tmp_path):
    command = ["pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run([sys.executable, "-m", *command], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {f"simstudy/studies/{name}.toml" for name in builtin_studies()} <= {*names}
    assert "simstudy/study/starter.toml" in names
    data = [path.relative_to(ROOT) for path in (ROOT / "studies" / "data").rglob("*.*")]
    assert len(data) > 31
    assert {f"simstudy/{path.as_posix()}" for path in data} <= {*names}
