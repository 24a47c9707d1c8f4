"""What a comparison of tests found."""

from __future__ import annotations

from simstudy.results.read.model_analyses import ModelResults


class TestResults(ModelResults):
    """How often tests reject; see `ModelResults`."""

    __test__ = False  # for pytest, which takes the name for that of a test
