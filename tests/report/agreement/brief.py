"""What a run prints without details: means, and who beats whom, in a few lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tests.report.agreement.sentences import number


def lines(text: str) -> list[tuple[int, str]]:
    """Return what is printed of each size on who beats whom; lines must not be wrapped."""
    said = re.findall(r"(?m)^ *([\d,]+) rows: (.*?) *$", text)
    return [(number(size), words) for size, words in said]


def won(text: str, learners: Sequence[str]) -> set[tuple[str, str]]:
    """Return who beats whom by one line, which names all pairs that are significant."""
    ordered = sorted(map(re.escape, learners), key=len, reverse=True)
    name = rf"(?<![\w.])(?:{'|'.join(ordered)})(?![\w])"
    pairs: set[tuple[str, str]] = set()
    if re.match(r"no two \w+ differ significantly", text):
        return pairs
    for clause in re.sub(r"; \d+ pairs? not compared$", "", text).split("; "):
        read = re.fullmatch(
            rf"({name}) beats (?:(all others)|({name}(?:(?:, | and ){name})*))", clause
        )
        assert read, clause
        losers = {*learners} - {read[1]} if read[2] else {*re.findall(name, read[3])}
        pairs |= {(read[1], loser) for loser in losers}
    return pairs


def leader(text: str, learners: Sequence[str]) -> tuple[str, int, set[str] | None]:
    """Return whom a line calls the best of many, how many it beats, and who is level with it.

    None for those level with it: these are not named.
    """
    head, *_ = text.split("; ")
    rivals = len(learners) - 1
    if read := re.fullmatch(r"(.*) beats (\d+) of (\d+) others", head):
        assert int(read[3]) == rivals
        return read[1], int(read[2]), None
    read = re.fullmatch(r"(.*) beats all others(?: but (.*))?", head)
    assert read, head
    names = read[2] or ""
    level = {each for each in learners if re.search(rf"(?<!\w){re.escape(each)}(?!\w)", names)}
    return read[1], rivals - len(level), level


def means(text: str, learners: Sequence[str]) -> dict[tuple[str, int], str]:
    """Return the printed mean of each learner at each size, without its interval."""
    (heads,) = (
        line.split()[1:]
        for line in text.splitlines()
        if re.fullmatch(r"(?:learner|measure|estimator|test)(?: +[\d,]+)+ *", line)
    )
    cells = {}
    for name in learners:
        for line in text.splitlines():
            if re.match(rf"{re.escape(name)} {{2,}}\S", line):
                parts = re.split(r" {2,}", line.removeprefix(name).strip())
                for head, part in zip(heads, parts, strict=True):
                    cells[name, number(head)] = part.split(" ")[0]
                break
    return cells
