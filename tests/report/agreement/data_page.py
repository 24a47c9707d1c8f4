"""The page of a study of data sets and its terminal output, read as statements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from tests.report.agreement.html import Node, parse, rows_of
from tests.report.agreement.page import Blocks
from tests.report.agreement.said import Said

EXPLAINED = [
    r".*which of .* predicts best, by .*\?|Winners and losers(?: by .*)?",
    r"significantly better than another learner, worse than none|ahead|behind|best by .*|ahead by",
    r"Number of data sets that each learner wins\.|Data sets that each learner wins, by .*",
    r"Best mean, ahead \(a test won and none lost\) and behind \(a test lost and none won\): "
    r"numbers of data sets\.",
    r"A column is a winner; the cell names the learners that it is significantly better than\.",
    r"A bar joins the learners that have a dot on it: two learners differ significantly if no bar "
    r"has a dot of both \(.*\)\.",
    r"No bar joins two learners: all differ significantly \(.*\)\.",
    r"Posterior over data sets: the first is better, equivalent, the second is better",
    r"A line joins the two winners of a data set where the measures disagree\.",
    r"Ahead by: the mean lead over the winner by the other measure; bold if significant\.",
    r"The measures name different winners on \d+ of \d+ data sets.*|Different winners by .*",
    r"By .* this row counts .*|\d+ data sets are too few for Wilcoxon's test: .*",
]
TESTS = ("Nemenyi", "sign test", "Bayesian signed rank test")
_COUNT = r"(?P<count>\d+)"


class DataSentences:
    """A reader of sentences about learners on data sets."""

    def __init__(self, learners: list[str]) -> None:
        self.learners = learners
        ordered = sorted(map(re.escape, learners), key=len, reverse=True)
        self.name = rf"(?<![\w.])(?:{'|'.join(ordered)})(?!\w)"
        self.names = rf"{self.name}(?:, {self.name})*(?: and {self.name})?"

    def named(self, text: str | None) -> set[str]:
        """Return the labels in a list."""
        return {*re.findall(self.name, text or "")}

    def finding(self, where: str, text: str) -> list[Said]:
        """Read the sentences that open a page."""
        said: list[Said] = []
        for sentence in re.split(r"(?<=[.]) (?=[A-Z])", text):
            read = self._best(where, sentence) + self._ahead(where, sentence)
            read += self._over(where, sentence) + self._one(where, sentence)
            if not read:
                return [Said(where, "unread", value=sentence)]
            said += read
        return said

    def _best(self, where: str, text: str) -> list[Said]:
        one = rf"({self.name}) on (\d+)"
        found = re.fullmatch(
            rf"By [\w ]+? (?P<who>{self.name}) has the best mean on {_COUNT} of \d+ data sets"
            rf"(?P<more>(?:(?:, | and ){one})*)(?: \(shared on (?P<shared>\d+)\))?\.",
            text,
        )
        if not found:
            return []
        each = [(found["who"], found["count"]), *re.findall(one, found["more"])]
        said = [Said(where, "count", who, "best mean", value=int(n)) for who, n in each]
        said.append(Said(where, "leaders", "", "best mean", value={who for who, _ in each}))
        return [*said, Said(where, "shared", value=int(found["shared"] or 0))]

    def _ahead(self, where: str, text: str) -> list[Said]:
        if text == "On no single data set do two learners differ significantly.":
            return [Said(where, "significant", value=0)]
        if text.startswith("On no data set is a learner significantly better than another and"):
            return [Said(where, "leaders", "", "ahead", value=set())]
        one = rf"({self.name}) on (\d+)"
        start = "Significantly ahead of another learner, and behind none: "
        if not re.fullmatch(rf"{start}{one}(?:(?:, | and ){one})*\.", text):
            return []
        each = re.findall(one, text)
        said = [Said(where, "count", who, "ahead", value=int(n)) for who, n in each]
        return [*said, Said(where, "leaders", "", "ahead", value={who for who, _ in each})]

    def _over(self, where: str, text: str) -> list[Said]:
        if re.fullmatch(
            r"Over \d+ data sets (?:no two|the two learners do not) .* significantly.*\.", text
        ):
            return [Said(where, "separated", value=set())]
        found = re.fullmatch(
            rf"Over \d+ data sets (?P<who>{self.name}) is significantly better than "
            rf"(?P<beaten>{self.names})(?:, and worse than (?P<worse>{self.names}))?"
            rf"(?:, and does not differ significantly from (?P<level>{self.names}))?\.",
            text,
        )
        if not found:
            return []
        kinds = ("beaten", "worse", *["level"] * (not found["worse"]))
        return [Said(where, kind, found["who"], value=self.named(found[kind])) for kind in kinds]

    def _one(self, where: str, text: str) -> list[Said]:
        """Read what is said of the only data set."""
        found = re.fullmatch(
            rf"On (?P<at>\S+) (?P<who>{self.names}) ha(?:s|ve) the best mean .*\.", text
        )
        if found:
            self._at, self._who = found["at"], self.named(found["who"])
            return [Said(where, "best on", size=found["at"], value=self._who)]
        if text == "No two learners differ significantly.":
            return [Said(where, "significant", value=0)]
        if re.fullmatch(
            r"(?:It is|They are) not significantly better than any other learner\.", text
        ):
            return [Said(where, "losers", who, size=self._at, value=set()) for who in self._who]
        found = re.fullmatch(
            rf"It is significantly better than (?P<losers>{self.names})"
            rf"(?:; the difference from (?P<rest>{self.names}) is not significant)?\.",
            text,
        )
        if not found or len(self._who) != 1:
            return []
        (who,), losers = self._who, self.named(found["losers"])
        said = [Said(where, "losers", who, size=self._at, value=losers)]
        if losers | self.named(found["rest"]) | {who} != {*self.learners}:
            said.append(Said(where, "unread", value=text))
        return said

    _at, _who = "", set[str]()

    def statement(self, where: str, text: str) -> list[Said]:
        """Read a statement of the findings in detail; empty if it says nothing of pairs."""
        said = []
        if found := re.match(r"Of \d+ pairwise tests.*, (\d+) (?:is|are) significant by ", text):
            said.append(Said(where, "significant", value=int(found[1])))
        if found := re.match(r"The only pairwise test is (not )?significant by ", text):
            said.append(Said(where, "significant", value=int(not found[1])))
        said += self.families(where, text)
        if found := re.match(
            r"Friedman's test (rejects|does not reject) that all learners are equivalent "
            r"\(χ²\(\d+\) = ([\d.]+), p (?:= )?(< )?([\d.]+), ",
            text,
        ):
            rejects = float(found[4]) <= 0.05
            said.append(Said(where, "friedman", size=float(found[2]), value=True))
            if rejects != (found[1] == "rejects"):
                said.append(Said(where, "unread", value=text))
        return said + self._dissents(where, text)

    def _dissents(self, where: str, text: str) -> list[Said]:
        """Read the pairs on which another test disagrees; of many some are only counted."""
        for test in TESTS:
            if re.match(rf"(?:The )?{test}(?:'s test)? \(", text):
                unlike = ") separates, unlike Wilcoxon’s, "
                separates = unlike in text
                _, _, pairs = text.partition(unlike if separates else "not separate ")
                both = re.findall(rf"(?:^|; )({self.name}) and ({self.name}) \(", pairs)
                more = re.search(r"; (\d+) other pairs?\.$", pairs)
                value = {frozenset(pair) for pair in both}, int(more[1]) if more else 0
                return [Said(where, "dissents", test, separates, value=value)]
        return []

    @staticmethod
    def families(where: str, text: str) -> list[Said]:
        """Read the numbers of tests that a text names."""
        family = r"(?:Holm|Bonferroni)-adjusted over m = ([\d,]+) pairs?"
        family += r"( on all data sets| of learners|)"
        each = re.findall(family, text)
        return [Said(where, "family", what, value=int(m.replace(",", ""))) for m, what in each]


class DataPage(Blocks):
    """What the page of a study of data sets says, by the places of its measures."""

    def __init__(self, text: str) -> None:
        super().__init__(parse(text), EXPLAINED)
        form = self.root.all("div", "controls")[0]
        boxes = form.all("input", name="learner")
        self.learners = [box.parent.text for box in boxes if box.parent is not None]
        self.sentences = DataSentences(self.learners)
        self.posterior: dict[frozenset[str], tuple[bool, bool]] = {}  # sure; Wilcoxon's winner
        self.reversals: list[str] = []

    def said(self) -> dict[int, list[Said]]:
        """Return all statements, and what could not be read, by the place of the measure."""
        parts = self.section("opening").all("div", "of-measure")
        found = {at: [*self._view(at)] for at in (int(one.attrs["data-measure"]) for one in parts)}
        for node in (*self.section("findings").all("li"), *self.root.all("p")):
            if re.search(r" name (?:different winners|the same winner)", node.text):
                self.reversals += self.marked(node, [node.text])  # type: ignore[list-item, arg-type]
        found[0] += self.unread()
        return found

    def _part(self, section: str, place: int) -> Node:
        return self.section(section).all("div", "of-measure", **{"data-measure": str(place)})[0]

    def _view(self, place: int) -> Iterator[Said]:
        opening, detail = self._part("opening", place), self._part("findings", place)
        sentence = opening.all("div", "finding")[0].all("p")[0]
        yield from self.marked(sentence, self.sentences.finding("finding", sentence.text))
        for text in opening.all("desc"):
            yield from self.marked(text, self._chart(text.text))
        for group in (one for one in opening.all("g", "s") if one.all("text", "tick")):
            numbers = [int(text.text) for text in group.all("text", "tick")]
            who = self.learners[int(group.attrs["data-l"])]
            for number, kind in zip(numbers, ("best mean", "ahead"), strict=True):
                yield Said("chart", "count", who, kind, value=number)
        said: list[Said] = []
        for item in detail.all("li"):
            read = self.sentences.statement("statements", item.text)
            said += self.marked(item, read) if read else []
        yield from said
        tables = detail.all("table")
        yield from self._standings(tables[0]) if tables else ()
        yield from self._winners(self._part("winners", place))
        if self.root.all("section", id="over"):
            yield from self._over(self._part("over", place))
            yield from self._all_dissents(said)

    def _all_dissents(self, said: list[Said]) -> Iterator[Said]:
        """Compare the posterior with its table; and where no test is said to dissent, say so."""
        known = {(one.who, one.whom): one.value for one in said if one.kind == "dissents"}
        for separates in (True, False):
            expected = {
                pair for pair, (sure, won) in self.posterior.items() if sure == separates != won
            }
            named, more = known.get((TESTS[2], separates), (set(), 0))
            if self.posterior and not (named <= expected and len(expected) == len(named) + more):
                yield Said("statements", "unread", value=f"posterior: {named}, not {expected}")
            for test in TESTS[:2]:
                if (test, separates) not in known:
                    yield Said("statements", "dissents", test, separates, value=(set(), 0))

    def _chart(self, text: str) -> list[Said]:
        one = rf"({self.sentences.name}): best mean on (\d+), significantly ahead on (\d+)"
        said = []
        for who, best, ahead in re.findall(one, text):
            said.append(Said("chart", "count", who, "best mean", value=int(best)))
            said.append(Said("chart", "count", who, "ahead", value=int(ahead)))
        return said

    def _standings(self, table: Node) -> Iterator[Said]:
        heads, lines = rows_of(table)
        for row in lines:
            cells = dict(zip(heads, (cell.text for cell in row), strict=True))
            for head in ("best mean", "ahead", "behind", "tests won", "tests lost"):
                yield Said("standings", "count", cells["learner"], head, value=int(cells[head]))
            rank = float(cells["average rank"])
            yield Said("standings", "rank", cells["learner"], size=rank, value=True)

    def _winners(self, part: Node) -> Iterator[Said]:
        heads, lines = rows_of(part.all("table")[0])
        yield from self.sentences.families("winners", part.text)
        for row in lines:
            for who, cell in zip(heads[1:], row[1:], strict=True):
                if row[0].text != "tests":
                    losers = {*filter(None, cell.text.split(", "))}
                    yield Said("winners", "losers", who, size=row[0].text, value=losers)
                    continue
                won, lost = map(int, re.findall(r"\d+", cell.text))
                yield Said("winners", "count", who, "tests won", value=won)
                yield Said("winners", "count", who, "tests lost", value=lost)

    def _over(self, part: Node) -> Iterator[Said]:
        yield from self.sentences.families("over", part.text)
        for figure in part.all("figure"):
            if "Average ranks" in figure.all("p", "panel-title")[0].text:
                for svg in figure.all("svg"):
                    yield from self._ranks(svg)
        self.posterior = {}
        table = next(one for one in part.all("table") if rows_of(one)[0][0] == "first – second")
        heads, lines = rows_of(table)
        for row in lines:
            cells = dict(zip(heads, (cell.text for cell in row), strict=True))
            pair = cells["first – second"].split(" – ")
            winner = "" if cells["better"] == "–" else cells["better"]
            yield Said("over", "winner", *pair, value=winner)
            if "P(first)" in cells:
                sure = max(_share(cells["P(first)"]), _share(cells["P(second)"])) >= 0.95
                self.posterior[frozenset(pair)] = sure, bool(winner)
            if cells["adjusted p"] != "–":
                yield Said("over", "adjusted", *pair, size=cells["adjusted p"], value=True)

    def _ranks(self, svg: Node) -> Iterator[Said]:
        """Read which learners a diagram of ranks joins, from its words and as it is drawn."""
        text = svg.all("desc")[0].text
        every = {frozenset((a, b)) for a in self.learners for b in self.learners if a != b}
        _, said, groups = text.removesuffix(".").partition("joined by bars: ")
        joined = [group.split(", ") for group in groups.split(" | ")] if said else []
        yield Said("diagram", "separated", value=every - _pairs(joined))
        for who, rank in re.findall(rf"({self.sentences.name}) (\d+\.\d\d);", text):
            yield Said("diagram", "rank", who, size=float(rank), value=True)
        yield Said("drawn diagram", "separated", value=every - _pairs(self._drawn(svg)))

    def _drawn(self, svg: Node) -> list[list[str]]:
        """Return the learners whose places have a dot on each bar, along an axis or in rows."""
        upright = bool(svg.all("g", "axes"))
        places: dict[float, str] = {}
        if upright:
            for label in svg.all("text", **{"text-anchor": "end"}):
                places[round(float(label.attrs["y"]) - 4, 1)] = label.text
        else:
            sides = {
                (one.attrs["text-anchor"], float(one.attrs["y"]) - 4): one.text
                for one in svg.all("text", "tick")
            }
            for path in svg.all("path", "thin"):
                points = re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path.attrs["d"])
                if len(points) == 3:
                    side = "end" if float(points[2][0]) < float(points[0][0]) else "start"
                    near = [
                        text
                        for (at, y), text in sides.items()
                        if at == side and abs(y - float(points[2][1])) < 0.2
                    ]
                    places[float(points[0][0])] = re.sub(r"\s*\d+\.\d\d\s*", "", near[0]).strip()
        axis = 1 if upright else 0
        groups = []
        shapes = [one for one in svg.all("path") if {"join", "dots"} & {*one.classes}]
        for bar, dots in pairwise(shapes):
            if "join" in bar.classes and "dots" in dots.classes:
                ends = [pair[axis] for pair in _points(bar.attrs["d"])]
                at = [pair[axis] for pair in _points(dots.attrs["d"])]
                assert min(ends) - 0.2 <= min(at) <= max(at) <= max(ends) + 0.2
                groups.append([_nearest(places, one) for one in at])
        return groups


def _share(text: str) -> float:
    return float(text.replace("< ", "").replace("> ", ""))


def _points(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path)]


def _nearest(places: dict[float, str], at: float) -> str:
    """Return the label at a place, which must be there to a pixel."""
    place = min(places, key=lambda one: abs(one - at))
    assert abs(place - at) < 0.5
    return places[place]


def _pairs(groups: list[list[str]]) -> set[frozenset[str]]:
    """Return every two learners that are in one group."""
    return {frozenset((a, b)) for group in groups for a in group for b in group if a != b}


def data_terminal(text: str, learners: list[str]) -> list[Said]:
    """Read what a run prints of a study of data sets; lines must not be wrapped."""
    sentences, said = DataSentences(learners), list[Said]()
    heads: list[str] = []
    for line in text.splitlines():
        bare = line.strip()
        cells = re.split(r"  +", bare)
        if re.match(
            r"(?:Over \d+ .*\. )?By [\w ]+ \S+ has the best mean on |On \S+ \S.* ha(?:s|ve) the best mean ",
            line,
        ):
            said += sentences.finding("terminal finding", bare)
        elif cells[0] == "learner" and "tests won" in cells:
            heads = cells
        elif heads and cells[0] in learners and len(cells) == len(heads):
            given = dict(zip(heads, cells, strict=True))
            for head in ("best mean", "ahead", "behind", "tests won", "tests lost"):
                value = int(given[head])
                said.append(Said("terminal standings", "count", cells[0], head, value=value))
        elif line.startswith("  "):
            said += sentences.statement("terminal statements", bare)
    return said
