"""The names that users import, and what importing them costs."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

PACKAGES = (
    "simstudy",
    "simstudy.learners",
    "simstudy.families",
    "simstudy.sources",
    "simstudy.measures",
)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_can_be_imported(package):
    module = importlib.import_module(package)
    for name in module.__all__:
        assert getattr(module, name).__name__ == name
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nonsense'"):
        module.nonsense  # noqa: B018
    assert {*module.__all__} <= {*dir(module)}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_costs_nothing_until_it_is_used(package):
    code = f"import sys, {package}; print('numpy' in sys.modules, 'pydantic' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["False", "False"]


def test_names_of_the_readme():
    from simstudy.families import TANFamily
    from simstudy.learners import NaiveBayes
    from simstudy.measures import information_reward
    from simstudy.sources import TANFamily as Source

    assert Source is TANFamily
    assert NaiveBayes().alpha == 1.0
    assert TANFamily().values == (2, 5)
    assert information_reward.info.greater_is_better
