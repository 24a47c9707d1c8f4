"""Who overtakes whom, in words: one sentence for one pair, from sizes that tests decide."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from simstudy.analysis.curves import MAX_RATIO
from simstudy.report.phrases import listed

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.results.results import Results

_NAMED_CHANGES = 3  # pairs that the headline names; more are counted


def threshold_sentences(found: pd.DataFrame, models: int | None = None) -> list[str]:
    """One sentence for each pair of the table of thresholds.

    One that could not use all ``models`` says how many it used.
    """
    sentences = []
    for _, pair in found.groupby(["first", "second"], sort=False):
        rows = pair.to_dict("records")
        said = pair_sentence(rows)
        if models is not None and rows[0]["n"] < models:
            said += f", over {rows[0]['n']} of {models} models"
        sentences.append(said)
    return sentences


def pair_sentence(rows: Sequence[Mapping[Any, Any]]) -> str:
    """What the rows of one pair say."""
    row = rows[0]
    first, second = row["first"], row["second"]
    if row["infinite"] or row["n"] < 2:
        return f"{first} and {second}: {row['note']}"
    if has_change(row):
        return ", and ".join(map(change_words, rows))
    if not isinstance(row["ahead"], str):
        return f"{first} and {second} do not differ significantly at any size"
    sizes = ahead_at(row, row["ahead"])
    where = listed([f"{size:,}" for size in sizes], most=6)
    return f"{row['ahead']} is ahead of {behind(row)} at {where} rows, and shown behind at none"


def change_words(row: Mapping[Any, Any]) -> str:
    """Between which sizes one learner overtakes the other, and where if that is estimated."""
    said = f"{row['ahead']} overtakes {behind(row)} between {bracket(row)} rows"
    return said if math.isnan(row["crossing"]) else f"{said}, at about {estimate(row)}"


def has_change(row: Mapping[Any, Any]) -> bool:
    """Whether a row is about one learner overtaking the other."""
    return not math.isnan(row["before"])


def behind(row: Mapping[Any, Any]) -> str:
    """The learner that is not ahead."""
    return str(row["first"] if row["ahead"] == row["second"] else row["second"])


def bracket(row: Mapping[Any, Any]) -> str:
    """The sizes between which the learner ahead changes."""
    return f"{row['before']:,.0f} and {row['after']:,.0f}"


def estimate(row: Mapping[Any, Any]) -> str:
    """The estimated size with its interval, its limits rounded outwards."""
    return f"{row['crossing']:,.0f} {interval(row)}"


def interval(row: Mapping[Any, Any]) -> str:
    """The interval of the estimate, its limits rounded outwards."""
    return f"[{math.floor(row['lower']):,}, {math.ceil(row['upper']):,}]"


def ahead_at(row: Mapping[Any, Any], learner: str) -> list[int]:
    """The sizes at which a learner is ahead by the tests."""
    said = row["first_ahead" if learner == row["first"] else "second_ahead"]
    return [int(float(size)) for size in said.split(", ")] if said else []


def changes_said(found: pd.DataFrame, leaders: set[str], sizes: list[int]) -> str:
    """The pairs in which one overtakes the other, for the headline; a few are named."""
    pairs = [
        rows
        for _, pair in found.groupby(["first", "second"], sort=False)
        if has_change((rows := pair.to_dict("records"))[0])
    ]
    if not pairs:
        return (
            f"between {sizes[0]:,} and {sizes[-1]:,} rows no learner is shown to overtake another"
        )
    pairs.sort(key=lambda rows: -len({rows[0]["first"], rows[0]["second"]} & leaders))
    named = sorted(pairs[:_NAMED_CHANGES], key=lambda rows: float(rows[0]["after"]))
    said = "; ".join(map(pair_sentence, named))
    more = len(pairs) - len(named)
    noun = "pair changes places" if more == 1 else "pairs change places"
    return said + (f"; {more} more {noun}: see the table of thresholds" if more else "")


def tests_words(found: pd.DataFrame, level: str) -> str:
    """Which tests say who is ahead, and what they are adjusted for."""
    m = found["m"].dropna()
    if m.empty:
        return ""
    return (
        f"paired t tests, {level} confidence for all of them together, Bonferroni-adjusted for "
        f"m = {int(m.iloc[0])} tests of pairs at their sizes"
    )


def method_words(found: pd.DataFrame, level: str) -> str:
    """How to read what is said of who overtakes whom."""
    if not (tests := tests_words(found, level)):
        return ""
    said = (
        f"Ahead: by {tests}. Overtakes: between the last size at which the one and the first at "
        "which the other is ahead."
    )
    if found["crossing"].notna().any():
        said += (
            f" In brackets: intervals, {level} for all of them together, of the size at which the "
            "mean difference is 0; they allow for the course of the curve between the sizes."
        )
    if found["note"].str.contains("no estimate in between").any():
        said += (
            f" Where sizes around it are more than a factor of {MAX_RATIO:g} apart a crossing is "
            "not estimated; --refine adds sizes."
        )
    return said


def refined_words(results: Results) -> str:
    """Which sizes were added for the thresholds alone."""
    added = sorted({int(size) for size in results.refined["size"]})
    if not added:
        return ""
    where = listed([f"{size:,}" for size in added], most=20)
    return f"Sizes added around crossings, for the thresholds alone: {where}."
