"""Study files and plugins that are legal to write and no one would: one sentence each."""

from __future__ import annotations

import pytest

from simstudy.cli.report import results_of_others
from simstudy.errors import SimstudyError
from simstudy.study.study import load_study, make_study

PLUGIN = """
from dataclasses import dataclass
import simstudy
class Untold(BaseException):
    def __str__(self): raise RuntimeError
class Wordless(Exception):
    def __str__(self): return None
@simstudy.register_learner("{name}")
@dataclass(frozen=True)
class Odd:
    "Odd."
    def __post_init__(self): {body}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"seed = 7": "seed = " + "7" * 5000}, r"cannot be read: Exceeds the limit"),
        ({"seed = 7": "seed = 0x" + "7" * 5000}, r"cannot be used: Exceeds the limit"),
        ({"seed = 7": "seed = " + "[" * 600 + "]" * 600}, r"nested too deeply"),
        ({"seed = 7": "seed = " + "[" * 300 + "]" * 300}, r"study\.toml"),
        ({"seed = 7": "seed = 7\nplugins = [" + "[" * 220 + "]" * 220 + "]"}, r"study\.toml"),
        ({"models = 4": "models = 300000000"}, r"models: 300000000 .* at most 10000000"),
        ({"seed = 7": 'seed = 7\nplugins = ["a\\u0000.py"]'}, r"plugins\[0\]: .*null"),
        ({"[data]": f"[measures]\nbase = 1{'0' * 400}\n[data]"}, r"measures\.base: "),
        ({"[data]": f"[limits]\ntimeout = 1{'0' * 400}\n[data]"}, r"limits\.timeout: "),
        ({"[3, 4]": f"[3, 1{'0' * 400}]"}, r"family: variables .* end at no more than"),
        ({"[3, 4]": "[3, 20000]", "test_size = 100": 'test_size = "exact"'}, r"have over 10\^15"),
    ],
)
def test_odd_values_are_refused_in_a_sentence(simstudy, write_study, changes, said):
    path = write_study(changes)
    with pytest.raises(SimstudyError, match=said):
        load_study(path)
    done = simstudy("run", path)
    assert done.returncode == 2
    assert done.stderr.startswith("simstudy: ")
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ('studies = ["a\\u0000.toml"]', r"studies[0]: "),
        ('studies = ["loop.toml"]', r"studies[0]: "),
        ('of = "a\\u0000"\n[[readings]]\nid = "x"\nlabel = "x"', "of: "),
        ("studies = [0x" + "7" * 5000 + "]", "cannot be used: Exceeds the limit"),
    ],
)
def test_odd_lists_of_studies_are_refused_in_a_sentence(simstudy, tmp_path, given, said):
    (tmp_path / "loop.toml").symlink_to("loop.toml")
    (tmp_path / "list.toml").write_text(f'name = "all"\n{given}\n')
    done = simstudy("run", "list.toml")
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_number_that_python_would_not_write_is_refused_from_a_dictionary():
    with pytest.raises(SimstudyError, match="the study cannot be used: Exceeds the limit"):
        make_study({"name": "x", "seed": 10**5000})


@pytest.mark.parametrize("option", ["inf", "nan", pytest.param("1e-300", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["--mcse", "--difference"])
def test_what_no_number_of_models_reaches_is_refused(simstudy, write_study, name, option):
    done = simstudy("plan", write_study(), "--pilot", 3, "--jobs", 1, name, option)
    assert done.returncode == 2
    assert done.stderr.startswith(f"simstudy: {name}") or "is too small: " in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise BaseException('base')", r"BaseException: base \(line 1\)"),
        ("raise GeneratorExit", r"GeneratorExit"),
        ("class E(Exception):\n    def __str__(self): 1 / 0\nraise E", r"E: \(no message\)"),
        ("class E(Exception):\n    def __str__(self): return 1\nraise E", r"E: \(no message\)"),
    ],
)
def test_a_plugin_that_fails_at_all_is_one_sentence(simstudy, write_study, tmp_path, body, said):
    (tmp_path / "odd.py").write_text(body)
    path = write_study({"seed = 7": 'seed = 7\nplugins = ["odd.py"]'})
    with pytest.raises(SimstudyError, match=rf"plugins\[0\]: plugin .* fails to load: {said}"):
        load_study(path)
    done = simstudy("run", path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("body", ["raise Untold", "raise Wordless", "raise SystemExit(0)"])
def test_a_learner_that_cannot_be_made_is_one_sentence(simstudy, write_study, tmp_path, body):
    name = f"odd_{body.split()[-1].lower().strip('(0)')}"
    (tmp_path / "odd.py").write_text(PLUGIN.format(name=name, body=body))
    changes = {"seed = 7": 'seed = 7\nplugins = ["odd.py"]', '"naive_bayes"': f'"{name}"'}
    done = simstudy("run", write_study(changes))
    assert done.returncode == 2
    assert "learners[0]: " in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("where", ["import", "check"])
def test_a_plugin_that_changes_the_directory_does_not_move_the_results(
    simstudy, write_study, tmp_path, where
):
    away = tmp_path / "away"
    away.mkdir()
    go = f"__import__('os').chdir({str(away)!r})"
    plugin = PLUGIN.format(name="wandering", body=go if where == "check" else "pass")
    plugin = plugin.replace("class Odd:", "class Odd(simstudy.learners.NaiveBayes):")
    plugin = f"import simstudy.learners\n{plugin}\n" + go * (where == "import")
    (tmp_path / "odd.py").write_text(plugin)
    changes = {"seed = 7": 'seed = 7\nplugins = ["odd.py"]', '"naive_bayes"': '"wandering"'}
    done = simstudy("run", write_study(changes), "--jobs", 1, "--no-report", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "results/small/scores.parquet").exists()
    assert not any(away.iterdir())


def test_a_sentence_about_results_of_others_is_passed_on_as_it_is():
    with pytest.raises(SimstudyError, match=r"^it is damaged$"), results_of_others():
        raise SimstudyError("it is damaged")
    with pytest.raises(SimstudyError, match="valid results: ValueError: x"), results_of_others():
        raise ValueError("x")
