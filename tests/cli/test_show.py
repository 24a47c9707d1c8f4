"""`simstudy show`."""

from __future__ import annotations

import tomllib


def test_show_prints_the_study_with_every_default(simstudy, write_study):
    done = simstudy("show", write_study())
    assert done.returncode == 0, done.stderr
    shown = tomllib.loads(done.stdout)
    assert shown["learners"][1] == {"name": "tan", "label": "TAN", "alpha": 0.5, "search": "cmi"}
    assert shown["measures"]["cutoff"] == "mml"
    assert shown["family"]["concentration"] == 1.0


def test_what_show_prints_is_a_study(simstudy, write_study):
    first = simstudy("show", write_study()).stdout
    second = simstudy("show", write_study(text=first, name="again.toml")).stdout
    assert first == second
