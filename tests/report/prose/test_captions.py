"""Captions name the tests and intervals that were used."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from simstudy import make_study
from simstudy.measures.base import MeasureInfo
from simstudy.report.prose import captions
from simstudy.report.prose.pairwise import verdicts
from simstudy.report.prose.statements import method, statements
from simstudy.report.tables.findings import means


def scores(**offsets):
    """Rewards of 30 models at one size: a common part plus each learner's offset and noise."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=30)
    rows = [
        {"model": model, "size": 50, "learner": name, "reward": common[model] + offset + noise}
        for name, offset in offsets.items()
        for model, noise in enumerate(rng.normal(scale=0.1, size=30))
    ]
    return pd.DataFrame(rows)


def study(**measures):
    return make_study(
        {
            "name": "tiny",
            "family": {"name": "tan"},
            "learners": [{"name": "prior"}],
            "measures": measures,
        }
    )


def test_the_effect_of_size_is_said_to_include_that_of_the_prior(make_findings):
    def said(measure="information_reward", sizes=(50, 500), **measures):
        findings = make_findings(sizes=sizes)
        object.__setattr__(findings, "measure", measure)
        return captions.size_effect(findings, study(**measures))

    assert "the effect of size includes that" in said()
    assert said(prior="test") == ""
    assert said(sizes=[50]) == ""
    assert said(measure="accuracy") == ""


def covered(make_findings, values):
    """Findings on shares of two learners."""
    table = pd.DataFrame(
        {"model": model, "size": 50, "learner": learner, "reward": value}
        for learner, own in values.items()
        for model, value in enumerate(own)
    )
    return replace(make_findings(table), info=MeasureInfo(True, label="coverage", share=True))


def test_shares_have_brackets_and_the_names_of_their_tests(make_findings):
    findings = covered(make_findings, {"A": [1.0] * 19 + [0.0], "B": [1.0] * 8 + [0.0] * 12})
    table = means(findings)
    low, high = proportion_confint(19, 20, 0.05 / 2, "beta")
    assert table.rows[0][1].text == "0.95"
    assert table.rows[0][1].more == f"[{low:.2f}, {high:.2f}]"
    assert "±" not in table.caption
    assert "95% Clopper–Pearson intervals between models" in table.caption
    sentences = [*captions.reading(findings), *statements(findings), method(findings)]
    text = " ".join([table.caption, *sentences])
    assert "xact McNemar tests over 20 models" in text
    assert " t " not in text
    (sentence,) = verdicts(findings)[50]
    assert sentence.startswith("A beats B by +0.5500 [+0.")


def test_shares_of_several_trials_are_compared_by_t_tests(make_findings):
    findings = covered(make_findings, {"A": [0.25, 0.5, 0.75, 1.0], "B": [0.5, 0.25, 0.5, 0.0]})
    assert "aired t tests (sign tests where all differences are equal)" in method(findings)


def test_few_models_are_said_with_the_coverage_that_was_measured(make_findings):
    def note(models, **options):
        row = {"size": 50, "first": "A", "second": "B", "n": models, "difference": 0.1}
        row |= {"lower": -0.1, "upper": 0.3, "p_adjusted": 0.5, "m": 1, "infinite": 0}
        return captions.few_models(make_findings(pairwise=pd.DataFrame([row]), **options))

    assert note(60) == []
    line, text = note(25)
    assert line.startswith("25 models are few: below 60, do not rely on tests of")
    assert len(line) < 80
    assert "with 20 models, 95% intervals of all pairs at all sizes by information reward" in text
    assert "held simultaneously in 68 to 94% of studies" in text
    assert "fewer than 10 models were not examined" in note(4)[1]


def test_the_coverage_that_pages_state_is_that_of_the_benchmark():
    text = (Path(__file__).parents[3] / "benchmarks" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \| t \|.*\| ([.\d, ]+) \| 1.00, 1.00, 1.00 \|$", text, re.M)
    assert len(rows) == 8
    together = [[round(100 * float(share)) for share in shares.split(", ")] for _, shares in rows]
    for models, column in zip((10, 20, 40), zip(*together, strict=True), strict=True):
        assert captions.COVERED[models] == (min(column), max(column))


def test_the_bands_say_what_they_are_adjusted_for(make_findings):
    def caption(adjustment, **options):
        pairs = pd.DataFrame({"m": [36]})
        findings = make_findings(courses=(), pairwise=pairs, adjustment=adjustment)
        return captions.differences(findings, **options)

    said = caption("bonferroni_all")
    assert "Bonferroni-adjusted for m = 36 tests, all pairs at all sizes; where it excludes" in said
    assert "m = " not in caption("bonferroni_all", alone=False)
    said = caption("holm", alone=False)
    assert "Bonferroni-adjusted for m = 36 pairs at each size" in said
    assert "Holm's method, which decides, has no intervals" in said
