"""The page of a study of data sets and its terminal output, read as statements."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.report.agreement.html import Node, parse, rows_of
from tests.report.agreement.page import Blocks
from tests.report.agreement.said import Said

EXPLAINED = [
    r".*which of .* predicts best, by .*\?|Winners and losers(?: by .*)?",
    r"ahead|behind|best by .*|ahead by",
    r"Joined: the Pareto front, the learners that no other beats in one without being worse in the "
    r"other: .*|Whether scores differ significantly is not shown here; times differ .*",
    r"With these splits only a difference above .* could be significant.*; with .*repeats = .* it "
    r"could be from .* on, if the standard deviation between splits stays the same\.",
    r"Best mean, ahead \(a test won and none lost\) and behind \(a test lost and none won\): "
    r"numbers of data sets\.",
    r"A column is a winner; the cell names the learners that it is significantly better than\.",
    r"A bar joins the learners that have their marks on it: two learners differ significantly if "
    r"no bar has the marks of both \(.*\)\.",
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
            read = self._best(where, sentence)
            read += self._over(where, sentence) + self._one(where, sentence)
            if not read:
                return [Said(where, "unread", value=sentence)]
            said += read
        return said

    def _best(self, where: str, text: str) -> list[Said]:
        one = rf"({self.name}) on (\d+)"
        found = re.fullmatch(
            rf"By [\w ]+? (?P<who>{self.name}) has the best mean on {_COUNT} of \d+ data sets"
            rf"(?P<more>(?:(?:, | and ){one})*)(?: \(shared on (?P<shared>\d+)\))?; on "
            r"(?P<sure>\d+|none) of the \d+ the best mean is significantly better than at least "
            r"one other\.",
            text,
        )
        if not found:
            return []
        each = [(found["who"], found["count"]), *re.findall(one, found["more"])]
        said = [Said(where, "count", who, "best mean", value=int(n)) for who, n in each]
        said.append(Said(where, "leaders", "", "best mean", value={who for who, _ in each}))
        said.append(Said(where, "sure", value=int(found["sure"].replace("none", "0"))))
        return [*said, Said(where, "shared", value=int(found["shared"] or 0))]

    def _ahead(self, where: str, text: str) -> list[Said]:
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
            rf"On (?P<at>\S+), (?P<who>{self.names}) ha(?:s|ve) the best mean .*\.", text
        )
        if found:
            self._at, self._who = found["at"], self.named(found["who"])
            return [Said(where, "best on", size=found["at"], value=self._who)]
        if text == "No two learners differ significantly.":
            return [Said(where, "significant", value=0)]
        if text.startswith("No mean is above 0, the score of the prior ("):
            return [Said(where, "at most", value=0)]
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
        said += self.families(where, text) + self._ahead(where, text)
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
        dots, *ranks = opening.all("figure")
        for svg in dots.all("svg", role="img") if self.root.all("section", id="over") else ():
            yield from self._dots(svg)
        for svg in (svg for figure in ranks for svg in figure.all("svg")):
            yield from self._ranks(svg)
        for caption in (one for figure in ranks for one in figure.all("figcaption")):
            yield from self.sentences.families("diagram", caption.text)
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

    def _marks(self, svg: Node) -> list[tuple[str, float, float, str]]:
        """Return the learner, the place and the words of every mark."""
        return [
            (
                self.learners[int(group.attrs["data-l"])],
                float(mark.attrs["data-x"]),
                float(mark.attrs["data-y"]),
                mark.all("title")[0].text,
            )
            for group in svg.all("g", "s")
            for mark in group.all("g", "pt")
        ]

    def _dots(self, svg: Node) -> Iterator[Said]:
        """Read the means of data sets from their words and as they are drawn, and their rings."""
        labels = svg.all("g", "axes")[0].all("text", **{"text-anchor": "end"})
        rows = {one.text: float(one.attrs["y"]) - 4 for one in labels}
        best: dict[str, set[str]] = {name: set() for name in rows}
        drawn: list[tuple[float, float]] = []
        for who, x, y, tip in self._marks(svg):
            found = re.fullmatch(rf"(.+), {re.escape(who)}: ([−\d.]+)(?: \S+)?", tip)
            if not found or min(rows, key=lambda name: abs(rows[name] - y)) != found[1]:
                yield Said("chart", "unread", value=tip)
                continue
            drawn.append((float(found[2].replace("−", "-")), x))
            yield Said("chart", "mean", who, size=found[1], value=found[2].replace("−", "-"))
            rings = [
                (float(a) + float(r), float(b))
                for group in svg.all("g", "s")
                if self.learners[int(group.attrs["data-l"])] == who
                for path in group.all("path", "ring")
                for a, b, r in re.findall(r"M(-?[\d.]+) (-?[\d.]+)a([\d.]+) ", path.attrs["d"])
            ]
            if any(abs(x - a) < 0.2 and abs(y - b) < 0.2 for a, b in rings):
                best[found[1]].add(who)
        (low, left), (high, right) = min(drawn), max(drawn)
        for value, x in drawn:
            if abs(left + (value - low) / (high - low) * (right - left) - x) > 0.5:
                yield Said("chart", "unread", value=f"{value} is drawn at {x}")
        for name, leaders in best.items():
            yield Said("chart", "best on", size=name, value=leaders)
        yield Said("chart", "order", value=sorted(rows, key=rows.__getitem__))

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
        """Return the learners whose marks are on each bar, along an axis or beside rows."""
        marks, groups = self._marks(svg), list[list[str]]()
        for bar in svg.all("path", "join"):
            (x1, y1), (x2, y2) = _points(bar.attrs["d"])
            box = min(x1, x2) - 0.2, max(x1, x2) + 0.2, min(y1, y2) - 0.2, max(y1, y2) + 0.2
            on = [m for m in marks if box[0] <= m[1] <= box[1] and box[2] <= m[2] <= box[3]]
            groups.append([who for who, *_ in on])
        return groups


def _share(text: str) -> float:
    return float(text.replace("< ", "").replace("> ", ""))


def _points(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path)]


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
            r"(?:Over \d+ .*\. )?By [\w ]+ \S+ has the best mean on |"
            r"On \S+ \S.* ha(?:s|ve) the best mean ",
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
