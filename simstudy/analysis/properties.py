"""Properties of data sets."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True)
class Properties:
    """What a data set is like.

    Attributes
    ----------
    dataset : str
        Its name.
    rows : int
        The rows with a class.
    least_train_rows, most_train_rows, least_test_rows, most_test_rows : int
        The smallest and largest numbers of rows of the parts of a split.
    attributes, numeric : int
        The attributes, and how many of them are numeric.
    classes : int
        The classes of the target, k, with those that no row has.
    missing : float
        The share of missing values among all values of attributes.
    """

    dataset: str
    rows: int
    least_train_rows: int
    most_train_rows: int
    least_test_rows: int
    most_test_rows: int
    attributes: int
    numeric: int
    classes: int
    missing: float


def properties(
    dataset: str,
    splits: Collection[tuple[int, int]],
    *,
    rows: int,
    attributes: int,
    numeric: int,
    classes: int,
    missing: float,
) -> Properties:
    """Describe a data set.

    Parameters
    ----------
    dataset
        Its name.
    splits
        Training and test rows of every split.
    rows, attributes, numeric, classes, missing
        As in `Properties`; results record them.

    References
    ----------
    K. B. Korb, L. R. Hope & M. J. Hughes (2001). The evaluation of predictive learners: some
    theoretical and empirical results. Table 7.
    """
    train, test = zip(*splits, strict=True)
    sizes = (min(train), max(train), min(test), max(test))
    return Properties(dataset, rows, *sizes, attributes, numeric, classes, missing)
