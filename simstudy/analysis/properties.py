"""Properties of data sets."""

from __future__ import annotations

from collections.abc import Collection, Mapping


def properties(
    dataset: str, splits: Collection[tuple[int, int]], facts: Mapping[str, float]
) -> dict[str, str | float]:
    """Describe a data set.

    Parameters
    ----------
    dataset
        Its name.
    splits
        Training and test rows of every split.
    facts
        The other properties, which results record.

    Returns
    -------
    dict
        `dataset`; `rows`, those with a class; `least_train_rows`, `most_train_rows`,
        `least_test_rows` and `most_test_rows`, of the parts of a split; `attributes`, and how many
        of them are `numeric`; `classes` of the target, with those that no row has; `missing`, the
        share of missing values among all values of attributes.

    References
    ----------
    K. B. Korb, L. R. Hope & M. J. Hughes (2001). The evaluation of predictive learners: some
    theoretical and empirical results. Table 7.
    """
    row: dict[str, str | float] = {"dataset": dataset, "rows": facts["rows"]}
    for part, sizes in zip(("train", "test"), zip(*splits, strict=True), strict=True):
        row |= {f"least_{part}_rows": min(sizes), f"most_{part}_rows": max(sizes)}
    return row | {key: facts[key] for key in ("attributes", "numeric", "classes", "missing")}
