"""What a plugin imports from its own directory, and the data files it declares, belong to it."""

from __future__ import annotations

import itertools
import shutil
import sys
from pathlib import Path

import pytest

from simstudy import SimstudyError, load_study, merge, run_shard, run_study
from simstudy.components import plugins
from simstudy.components.plugins import load_plugin, read_plugin
from simstudy.components.registry import LEARNERS
from simstudy.engine.plan import make_plan
from simstudy.engine.workers.environment import environment

NUMBERS = itertools.count()
LEARNER = """
from dataclasses import dataclass
from simstudy import register_learner
from simstudy.learners import NaiveBayes
{imports}

@register_learner("{name}")
@dataclass(frozen=True)
class Mine(NaiveBayes):
    "A learner of one's own."
    alpha: float = {alpha}
"""


def write(directory: Path, **files: str) -> Path:
    """Write modules by name; returns the path of the first."""
    for name, text in files.items():
        path = directory / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return directory / f"{next(iter(files))}.py"


def learner(imports: str, alpha: str) -> tuple[str, str]:
    """The text of a plugin, and the name of its learner, which no other test uses."""
    name = f"sibling{next(NUMBERS)}"
    return LEARNER.format(imports=imports, alpha=alpha, name=name), name


def alpha(name: str) -> float:
    found: float = LEARNERS.get(name)().alpha
    return found


@pytest.mark.parametrize(
    ("imports", "expression"),
    [
        ("import helpers", "helpers.VALUE"),
        ("import helpers as h", "h.VALUE"),
        ("from helpers import VALUE", "VALUE"),
        ("from helpers import *", "VALUE"),
        ("from . import helpers", "helpers.VALUE"),
        ("from .helpers import VALUE as v", "v"),
        ("import inside.deep", "inside.deep.VALUE"),
        ("import inside.deep as d", "d.VALUE"),
        ("from inside import deep", "deep.VALUE"),
        ("from inside.deep import VALUE", "VALUE"),
        ("from bare.module import VALUE", "VALUE"),
        ("import bare.module", "bare.module.VALUE"),
        ("def lazy():\n    from helpers import VALUE\n    return VALUE", "lazy()"),
        ("import sys\nsys.path.insert(0, __file__[:-8])\nimport helpers", "helpers.VALUE"),
    ],
)
def test_what_is_imported_from_its_directory_belongs_to_a_plugin(tmp_path, imports, expression):
    text, name = learner(imports, expression)
    before = [*sys.path]
    files = {
        "helpers": "from constants import VALUE",  # a sibling's sibling
        "constants": "VALUE = 2.0",
        "inside/__init__": "",
        "inside/deep": "from ..constants import VALUE\nfrom . import other",
        "inside/other": "import constants",
        "bare/module": "import constants\nVALUE = constants.VALUE",
        "unrelated": "1 / 0",
    }
    path = write(tmp_path, plugin=text, **files)
    plugin = load_plugin(path)
    assert alpha(name) == 2.0
    names = [file for file, _ in plugin.files]
    assert "constants.py" in names
    assert "unrelated.py" not in names
    assert ("inside/__init__.py" in names) == ("inside" in imports)
    assert not {"helpers", "constants", "inside", "bare"} & {*sys.modules}
    (tmp_path / "constants.py").write_text("VALUE = 3.0")
    changed = load_plugin(path)
    assert changed.digest != plugin.digest
    assert alpha(name) == 3.0
    assert LEARNERS.source_digest(name) == changed.digest
    with pytest.raises(SimstudyError, match="differs from the one that the results"):
        load_plugin(path, plugin.digest)
    sys.path[:] = before


def test_a_plugin_alone_has_the_digest_of_its_content(tmp_path):
    import hashlib

    path = write(tmp_path, plugin="import numpy, statistics, simstudy\n", statistics="1 / 0")
    (tmp_path / "simstudy").mkdir()
    (tmp_path / "simstudy" / "__init__.py").write_text("1 / 0")
    plugin = load_plugin(path)
    assert plugin.files == ()
    assert plugin.digest == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_file_beside_the_plugin_wins_over_a_package_but_not_over_what_it_is_named_after(tmp_path):
    text, name = learner("import threadpoolctl", "threadpoolctl.VALUE")
    path = write(tmp_path, plugin=text, threadpoolctl="import threadpoolctl as real\nVALUE = 2.0")
    assert [file for file, _ in load_plugin(path).files] == ["threadpoolctl.py"]
    assert alpha(name) == 2.0
    wrapper, other = learner("import threadpoolctl", "float(len(threadpoolctl.__name__))")
    load_plugin(write(tmp_path / "other", threadpoolctl=wrapper))
    assert alpha(other) == len("threadpoolctl")


def test_plugins_of_different_directories_have_their_own_modules(tmp_path):
    names = []
    for value in (2.0, 3.0):
        text, name = learner("import helpers", "helpers.VALUE")
        place = tmp_path / str(value)
        load_plugin(write(place, plugin=text, helpers=f"VALUE = {value}"))
        names.append(name)
    assert [*map(alpha, names)] == [2.0, 3.0]


def test_plugins_of_one_directory_may_import_each_other(tmp_path):
    base, first = learner("RUNS = []", "2.0")
    derived, second = learner("import base\nbase.RUNS.append(1)", "base.Mine().alpha + 1")
    write(tmp_path, base=base, derived=derived)
    for name in ("derived", "base", "derived"):
        load_plugin(tmp_path / f"{name}.py")
    assert (alpha(first), alpha(second)) == (2.0, 3.0)
    package = LEARNERS.get(first).__module__.rpartition(".")[0]
    assert sys.modules[f"{package}.base"].Mine is LEARNERS.get(first)
    assert sys.modules[f"{package}.base"].RUNS == [1]


def test_a_change_reaches_every_plugin_of_the_directory(tmp_path):
    (one, first), (two, second) = (learner("import helpers", "helpers.VALUE") for _ in range(2))
    paths = [write(tmp_path, one=one, helpers="VALUE = 2.0"), write(tmp_path, two=two)]

    def loaded():
        for path in paths:
            load_plugin(path)
        return alpha(first), alpha(second), LEARNERS.source_digest(second)

    before = loaded()
    write(tmp_path, helpers="VALUE = 3.0")
    after = loaded()
    assert after[:2] == (3.0, 3.0)
    assert after[2] != before[2]
    write(tmp_path, helpers="VALUE = = 4.0")
    with pytest.raises(SimstudyError, match="SyntaxError"):
        loaded()
    write(tmp_path, helpers="VALUE = 3.0")
    assert loaded() == after
    (tmp_path / "helpers.py").unlink()
    with pytest.raises(SimstudyError, match="No module named 'helpers'"):
        loaded()


def test_a_component_of_a_sibling_has_the_digest_of_what_that_needs(tmp_path):
    text, name = learner("from constants import VALUE", "VALUE")
    files = {"helpers": text, "constants": "VALUE = 2.0"}
    first = write(tmp_path, first="import helpers", **files)
    second = write(tmp_path, second="import helpers\nimport other", other="", **files)
    digests = []
    for path in (first, second):  # whichever is loaded, in whatever order
        plugin = load_plugin(path)
        digests.append(LEARNERS.source_digest(name))
        assert digests[-1] != plugin.digest
    assert digests[0] == digests[1]
    (tmp_path / "constants.py").write_text("VALUE = 3.0")
    load_plugin(first)
    assert LEARNERS.source_digest(name) not in digests


def test_a_module_imported_by_other_means_is_refused(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    text = "import importlib\nimportlib.import_module('dynamic_helper')"
    path = write(tmp_path, plugin=text, dynamic_helper="")
    with pytest.raises(SimstudyError, match=r"dynamic_helper.py is imported without .* statement"):
        load_plugin(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [("x = = 1", r"SyntaxError.*helpers.py, line 1"), ("\n1 / 0", r"Zero.*helpers.py, line 2")],
)
def test_an_error_in_a_sibling_names_its_file_and_line(tmp_path, text, said):
    path = write(tmp_path, plugin="import helpers", helpers=text)
    with pytest.raises(SimstudyError, match=rf"plugin .*plugin.py fails to load: {said}"):
        load_plugin(path)
    (tmp_path / "helpers.py").write_text("")
    load_plugin(path)


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ("['none.csv']", "'none.csv' is not an existing file"),
        ("['inside']", "'inside' is not an existing file"),
        ("['../table.csv']", r"'../table.csv' is not allowed; files must be in the directory"),
        ("['/etc/passwd']", "'/etc/passwd' is not allowed"),
        ("['a\\\\b']", "is not allowed"),
        ("['C:/b']", "is not allowed"),
        ("['']", "is not allowed"),
        ("'table.csv'", "it must be a literal list of names"),
        ("[name for name in names()]", "it must be a literal list of names"),
    ],
)
def test_a_data_file_that_cannot_be_kept_is_one_sentence(tmp_path, declared, said):
    (tmp_path / "inside").mkdir()
    path = write(tmp_path, plugin=f"DATA_FILES: list[str] = {declared}")
    with pytest.raises(SimstudyError, match=f"plugin.py, DATA_FILES: .*{said}"):
        read_plugin(path)


READER = """
from pathlib import Path
from helpers import VALUE
DATA_FILES = ["table.csv", "inside/deep.csv"]

def total():
    here = Path(__file__).parent
    return VALUE + sum(float((here / name).read_text()) for name in DATA_FILES)
"""
STUDY = """
name = "siblings"
models = 2
plugins = ["code/plugin.py", "alone.py"]

[family]
name = "naive_bayes"
variables = [3, 3]

[data]
train_sizes = [20, 40]
test_size = 50

[[learners]]
name = "naive_bayes"
label = "NB"

[[learners]]
name = "{name}"
label = "mine"
"""


@pytest.fixture
def written(tmp_path):
    """A study with a plugin that needs a sibling, a sibling's sibling and data files."""
    text, name = learner("from reader import total", "total()")
    # The data are read in fit too, which worker processes call.
    text += "    def fit(self, sample, rng=None):\n        assert total() == self.alpha\n"
    text += "        return super().fit(sample, rng)\n"
    write(tmp_path / "code", plugin=text, reader=READER, helpers="import joblib\nVALUE = 0.25")
    (tmp_path / "code" / "inside").mkdir()
    (tmp_path / "code" / "table.csv").write_text("0.5")
    (tmp_path / "code" / "inside" / "deep.csv").write_text("0.25")
    (tmp_path / "alone.py").write_text("")
    (tmp_path / "s.toml").write_text(STUDY.format(name=name))
    return tmp_path


COPIES = ["0/helpers.py", "0/inside/deep.csv", "0/plugin.py", "0/reader.py", "0/table.csv"]


def copies(place: Path) -> list[str]:
    found = (path for path in (place / "plugins").rglob("*") if path.is_file())
    return sorted(path.relative_to(place / "plugins").as_posix() for path in found)


def test_all_that_a_plugin_needs_is_copied_shipped_and_digested(written, monkeypatch):
    study = load_study(written / "s.toml")
    for path in sorted((written / "code").rglob("*.*")):  # as on another machine
        path.unlink()
    temporary = written / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    out = written / "out"
    first = run_study(study, out, jobs=2, report=False)
    assert first.manifest["failures"] == 0
    assert [*temporary.iterdir()] == []
    assert copies(out) == [*COPIES, "1_alone.py"]
    assert first.manifest["plugins"] == ["plugins/0/plugin.py", "plugins/1_alone.py"]
    # From the copy, whether or not the original is loaded.
    for forgotten in (False, True):
        if forgotten:
            plugins._loaded.clear()
            LEARNERS._registered.pop(study.learners[1].name)
        again = load_study(out / "study.toml")
        assert make_plan(again).fingerprint() == make_plan(study).fingerprint()
        assert run_study(again, out, jobs=2, report=False).reused
    moved = run_study(again, written / "moved", jobs=2, report=False)
    assert moved.scores.equals(first.scores)
    assert copies(written / "moved") == copies(out)


@pytest.mark.parametrize("file", COPIES)
def test_a_change_to_any_file_is_noticed(written, file):
    out = written / "out"
    run_study(load_study(written / "s.toml"), out, jobs=1, report=False)
    shutil.copytree(out, written / "theirs")
    for place in (written / "code", written / "theirs" / "plugins" / "0"):
        with (place / file.removeprefix("0/")).open("a") as content:
            content.write("\n")
    with pytest.raises(SimstudyError, match=r"different study; these differ: plugins.*source"):
        run_study(load_study(written / "s.toml"), out, jobs=1, report=False)
    with pytest.raises(SimstudyError, match=r"differs from the one .* not executed"):
        load_study(written / "theirs" / "study.toml")


def test_shards_are_merged_with_all_files_and_without_executing_them(written):
    study = load_study(written / "s.toml")
    pieces = [run_shard(study, (n, 2), written / str(n), jobs=1).directory for n in (1, 2)]
    joined = merge(pieces, written / "joined")
    assert copies(joined.directory) == [*COPIES, "1_alone.py"]
    (pieces[0] / "plugins" / "0" / "table.csv").write_text("7")
    with pytest.raises(SimstudyError, match="these differ: plugins"):
        merge(pieces, written / "again")
    (pieces[0] / "plugins" / "0" / "table.csv").unlink()
    with pytest.raises(SimstudyError, match=r"'table.csv' is not an existing file"):
        merge(pieces, written / "again")


def test_copies_never_leave_the_results(written):
    out, precious = written / "out", written / "precious"
    study = load_study(written / "s.toml")
    run_study(study, out, jobs=1, report=False)
    shutil.rmtree(out / "plugins" / "0")
    precious.mkdir()
    (precious / "plugin.py").write_text("mine")
    (out / "plugins" / "0").symlink_to(precious)
    more = run_study(load_study(written / "s.toml", {"models": 3}), out, jobs=1, report=False)
    assert [path.name for path in precious.iterdir()] == ["plugin.py"]
    assert (precious / "plugin.py").read_text() == "mine"
    assert copies(out) == [*COPIES, "1_alone.py"]
    assert more.manifest["failures"] == 0


def test_files_that_are_no_longer_needed_are_removed(written):
    out = written / "out"
    run_study(load_study(written / "s.toml"), out, jobs=1, report=False)
    (out / "plugins" / "0" / "notes.txt").write_text("mine")
    text = (written / "s.toml").read_text().replace('"code/plugin.py", ', "")
    (written / "s.toml").write_text(text[: text.rindex("[[learners]]")])
    run_study(load_study(written / "s.toml"), out, jobs=1, overwrite=True, report=False)
    assert copies(out) == ["0/notes.txt", "0_alone.py"]


def test_packages_that_a_sibling_imports_must_be_the_same_on_a_cluster(written):
    assert "joblib" in environment(make_plan(load_study(written / "s.toml")))
