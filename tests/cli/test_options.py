"""Short options, help and completion."""

from __future__ import annotations

import pytest

from simstudy.cli.app import app

VERBS = [command.name for command in app.registered_commands]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself(verb, command):
    done = command(verb, "-h")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == command(verb, "--help").stdout
    assert f"simstudy {verb}" in done.stdout


def test_quiet_and_out_have_a_letter(command, place, tmp_path):
    done = command("run", place / "small.toml", "-q", "-o", "short", "--models", 2, "--no-report")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "short" / "scores.parquet").is_file()


def test_shells_can_complete_the_command(command, monkeypatch):
    assert "--install-completion" in command("-h").stdout
    monkeypatch.setenv("_SIMSTUDY_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "simstudy adv")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert command().stdout.strip() == "advise"
