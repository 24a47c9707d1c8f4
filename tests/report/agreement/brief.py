"""What a run prints without details: means, and who beats whom, in a few lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tests.report.agreement.sentences import number


def rows(text: str, head: str) -> list[list[str]]:
    """Return the cells of a printed table whose head has a word; lines must not be wrapped."""
    lines = text.splitlines()
    (start,) = (
        place for place, line in enumerate(lines[:-1]) if head in line and _ruled(lines, place)
    )
    cells = []
    for line in lines[start + 2 :]:
        parts = re.split(r" {2,}", line.strip())
        if len(parts) < 2:
            break
        cells.append(parts)
    return cells


def _ruled(lines: list[str], place: int) -> bool:
    return set(lines[place + 1].strip()) == {"─"}


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


def leader(text: str, learners: Sequence[str]) -> tuple[str, int, set[str], int]:
    """Return whom a line calls the best of many, how many it beats, and who is level with it."""
    head, *more = text.split("; ")
    read = re.fullmatch(r"(.*) beats (\d+) of (\d+) others", head)
    assert read, head
    assert int(read[3]) == len(learners) - 1
    level, others = set[str](), 0
    for part in more:
        if found := re.fullmatch(r"it does not differ significantly from (.*)", part):
            names = found[1]
            if counted := re.search(r" and (\d+) others$", names):
                others, names = int(counted[1]), names[: counted.start()]
            level = {
                each for each in learners if re.search(rf"(?<!\w){re.escape(each)}(?!\w)", names)
            }
    return read[1], int(read[2]), level, others


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
