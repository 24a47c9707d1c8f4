"""Docstrings of measures: shared arguments are added to them, what they say themselves stays."""

from __future__ import annotations

import inspect

from simstudy.measures import lift
from simstudy.measures.base import measure


@measure(greater_is_better=True)
def partly(proba, y, *, weights=None, share=0.5, positive=None):
    """Partly described.

    Parameters
    ----------
    positive : int
        A class
        of its own.

        Said in two paragraphs.
    share : float
        A share.

    Returns
    -------
    float
    """


@measure(greater_is_better=True)
def bare(proba, y):
    """Described in words.

    Returns
    -------
    float

    Notes
    -----
    None.
    """


@measure(greater_is_better=True)
def loose(proba, y, weights=None):
    """Described by a sentence alone."""


def test_shared_arguments_are_added_in_the_order_of_the_signature():
    assert (
        inspect.getdoc(partly)
        == """Partly described.

Parameters
----------
proba : array of shape (n, k)
    The learner's probabilities.
y : array of shape (n,)
    The true classes.
weights : array of shape (n,), optional
    Row weights.
share : float
    A share.
positive : int
    A class
    of its own.

    Said in two paragraphs.

Returns
-------
float"""
    )


def test_a_docstring_without_parameters_gets_the_section():
    text = inspect.getdoc(bare)
    assert text.startswith("Described in words.\n\nParameters\n----------\nproba : array")
    assert text.endswith("    The true classes.\n\nReturns\n-------\nfloat\n\nNotes\n-----\nNone.")


def test_other_docstrings_are_left_alone():
    assert inspect.getdoc(loose) == "Described by a sentence alone."


def test_built_in_measures_describe_every_argument():
    text = inspect.getdoc(lift)
    assert all(f"\n{name} : " in text for name in inspect.signature(lift).parameters)
