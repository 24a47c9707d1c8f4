"""The page of a study of models and its terminal output, read as statements."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from statistics import fmean

from tests.report.agreement.html import Node, parse, rows_of
from tests.report.agreement.said import Names, Said
from tests.report.agreement.sentences import TELLING, Sentences, families, number

_BLOCKS = (
    *("p", "li", "td", "th", "figcaption", "title", "desc", "dt", "dd", "summary", "option"),
    *("text", "h1", "h2", "h3"),
)
_PIXEL = 0.16  # coordinates are written to a tenth

# What is said of tests, bands and marks in general, whatever the numbers are.
EXPLAINED = [
    r"Which of .* predicts best.*\?|.*where do they overtake each other\?|.*which of .* best.*\?",
    r"Findings in detail|Who beats whom|Who overtakes whom in mean .*|Differences between .*",
    r"In each cell the \w+ that beats the other, by how much, and (?:the interval|Holm’s p value); "
    r"numbers are in favour of the \w+ named in the cell\.",
    r"With \d+ \w+s, only the best mean is compared with the others; .* pairwise\.csv\.",
    r"Pairs are compared over the models that both have: .*",
    r"Mean paired difference in .* over the models that both \w+ have: above 0 where the \w+ named "
    r"first is ahead\.",
    r"Band: the [\d.]+% intervals of the paired tests(?:, Bonferroni-adjusted for m = \d+ pairs? "
    r"at each size)?; where it excludes 0, the difference is significant\.",
    r"Holm's method, which decides, has no intervals and may find further differences\.",
    r"Diamond and bar: the estimated size at which one overtakes the other, and its interval, "
    r"adjusted likewise, where sizes are close enough\.",
    r"Bold: the best mean at each size; †: not significantly different from it\.",
    r"(?:By the same tests, o|O)ne \w+ overtakes another between the last size where the other is "
    r"significantly ahead and the first where it is.*",
    r"The absence of a significant difference does not prove that two \w+s are equal\.",
    r"Grey bar: from the last size studied at which the one overtaken is ahead to the first at "
    r"which the other is, by .*|Who overtakes whom in .*",
    r"None: no significant change of the \w+ ahead\.",
    r"ahead(?: at)?|behind(?: at)?|no significant difference",
    r"A bar that reaches the short line is not separated from it\.",
    r"Bars are longer where differences vary more between models: a learner may be separated while "
    r"another, of a worse mean, is not\.",
    r"In colour: not separated from the best mean at some size; grey: the others\.",
    r"In colour: the best mean at some size; grey: the others, many not separated from it\.",
    r"Hollow: not separated from the best mean\.",
    r"How far the mean [\w ()]* is behind the best mean, at each size\.",
    r"(?:nats|accuracy|log loss|regret) behind (?:the best mean(?: against training size)?|"
    r"\w+(?:, enlarged)?(?:, [\d,]+ rows)?)",
    r"Best: the measure (?:of|with the) best mean at \d+ rows\.",
    r"Where sizes are too far apart for an estimate, the interval runs from the last size at which "
    r"a measure is worse than the best one at \d+ rows to the first at which it is better\.",
    r"\d+ of \d+ pairs are shown: .*, with the best mean at the largest size, against the others; "
    r"all are in pairwise\.csv and, for the primary measure, in thresholds\.csv\.",
]


def _explained(text: str, known: list[str]) -> bool:
    """Whether every telling sentence of a text is a general explanation."""
    sentences = re.split(r"(?<=[.?]) (?=[A-Z†5])", text)
    telling = [one for one in sentences if TELLING.search(one)]
    return all(any(re.fullmatch(pattern, one) for pattern in known) for one in telling)


class Blocks:
    """The blocks of a page, of which those that say who is ahead must all be read.

    Parameters
    ----------
    root : Node
        The page.
    explained : list of str
        Patterns of sentences that hold whatever the numbers are.
    """

    def __init__(self, root: Node, explained: list[str]) -> None:
        self.root, self.explained = root, explained
        self.read: set[int] = set()

    def section(self, name: str) -> Node:
        """Return a section of the page."""
        return self.root.all("section", id=name)[0]

    def marked(self, node: Node, said: list[Said]) -> list[Said]:
        """Remember that an element has been read."""
        self.read.add(id(node))
        return said

    def blocks(self) -> Iterator[Node]:
        """Yield the innermost blocks that say who is ahead, and have not been read."""
        for node in self.root.all():
            if node.tag not in _BLOCKS or id(node) in self.read:
                continue
            inner = [one for one in node.all() if one.tag in _BLOCKS]
            if inner or not TELLING.search(node.text) or _explained(node.text, self.explained):
                continue
            if not any(id(around) in self.read for around in node.within()):
                yield node

    def unread(self) -> list[Said]:
        """Return what has not been read."""
        return [Said("page", "unread", value=block.text) for block in self.blocks()]


class Page(Blocks):
    """What the page of a study says, by the places of its measures.

    Parameters
    ----------
    text : str
        The page.
    sizes : list of int
        The sizes of the study, without added ones.
    """

    def __init__(self, text: str, sizes: list[int]) -> None:
        super().__init__(parse(text), EXPLAINED)
        form = self.root.all("div", "controls")[0]
        boxes = form.all("input", name="learner")
        self.learners = [box.parent.text for box in boxes if box.parent is not None]
        self.sentences, self.sizes = Sentences(self.learners, sizes), sizes

    def said(self) -> dict[int, list[Said]]:
        """Return all statements, and what could not be read, by the place of the measure."""
        found = {place: [*self._view(place)] for place in self.views()}
        for block in self.blocks():
            found.setdefault(self._place(block), []).append(
                Said("page", "unread", value=block.text)
            )
        return found

    def views(self) -> list[int]:
        """Return the places of the measures that are shown."""
        parts = self.section("curves").all("div", "of-measure")
        return [int(part.attrs["data-measure"]) for part in parts]

    def _place(self, block: Node) -> int:
        places = [
            node.attrs["data-measure"] for node in block.within() if "of-measure" in node.classes
        ]
        return int(places[0]) if places else 0

    def _part(self, section: str, place: int) -> Node:
        return self.section(section).all("div", "of-measure", **{"data-measure": str(place)})[0]

    def _view(self, place: int) -> Iterator[Said]:
        opening, detail = self._part("curves", place), self._part("findings", place)
        sentence = opening.all("div", "finding")[0].all("p")[0]
        yield from self.marked(sentence, self.sentences.finding("finding", sentence.text))
        for item in (one for part in detail.all("ul", "findings") for one in part.all("li")):
            yield from self.marked(item, self.sentences.statement("statements", item.text))
        for shape in opening.all("figure"):
            if drawn := shape.all("div", "wide")[0].all("g", "distance"):
                yield from self._distances(drawn[0])
        for shape in self._part("pairs", place).all("g", "forest"):
            yield from self._forest(shape)
        yield from self._means(detail.all("table")[0])
        method = [p.text for p in detail.all("p", "small")]
        yield from families("method", " ".join(method))
        tests = [text for text in method if re.search(r"\btests over\b", text)]
        yield Said("method", "tests", value=" ".join(tests))
        differences = self._part("differences", place)
        for figure in differences.all("figure"):
            if not figure.all("path", "bracket"):
                yield from families("bands", figure.all("figcaption")[0].text)
        for panel in differences.all("div", "panel"):
            yield from self._panel(panel)
        for table in differences.all("table"):
            yield from self._thresholds(table)
        yield from self._timelines(opening, differences)
        for part in self._part("pairs", place).all("div", "table"):
            yield from self._pairs(part)

    def _timelines(self, *parts: Node) -> Iterator[Said]:
        """Read when which learner overtakes which, in words and as it is drawn."""
        for figure in (one for part in parts for one in part.all("figure")):
            drawn = [one for one in figure.all("svg", role="img") if one.all("path", "bracket")]
            for svg in drawn:
                yield from self._timeline(svg)
            if drawn:
                (caption,) = figure.all("figcaption")
                yield from families("timeline", caption.text)
                if text := re.search(r"No change of the lead .*?\.(?= |$)", caption.text):
                    yield from self.marked(caption, self.sentences.unchanged("timeline", text[0]))

    def _timeline(self, svg: Node) -> Iterator[Said]:
        (text,) = svg.all("desc")
        each = text.text.removesuffix(".").split("; ")
        pattern = (
            r"(.+) overtakes (.+) between ([\d,]+) and ([\d,]+) rows(?:, at about ([\d,]+) .*)?"
        )
        changes: dict[frozenset[str], set[tuple[str, str, int, int]]] = {}
        ticks = [one.attrs["d"] for one in svg.all("path", "axis") if one.attrs["d"].endswith("v4")]
        at = [float(tick[1:].split()[0]) for tick in ticks]
        ends = [math.log(self.sizes[0]), math.log(self.sizes[-1])]

        def place(size: float) -> float:
            return at[0] + (math.log(size) - ends[0]) / (ends[1] - ends[0]) * (at[-1] - at[0])

        brackets = [one.attrs["d"] for one in svg.all("path", "bracket")]
        marks = {
            float(mark.attrs["data-x"]): self.learners[int(group.attrs["data-l"])]
            for group in svg.all("g", "s")
            for mark in group.all("g", "pt")
        }
        labels = svg.all("g", "axes")[0].all("text", **{"text-anchor": "end"})
        for sentence, bracket, label in zip(each, brackets, labels, strict=True):
            found = re.fullmatch(pattern, sentence)
            if not found or not self.sentences.overtakings("timeline", sentence):
                yield Said("timeline", "unread", value=sentence)
                continue
            who, whom, low, high = found[1], found[2], number(found[3]), number(found[4])
            changes.setdefault(frozenset((who, whom)), set()).add((who, whom, low, high))
            xs = [float(x) for x, _ in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", bracket)]
            wrong = max(abs(min(xs) - place(low)), abs(max(xs) - place(high))) > 0.3
            if found[5]:
                x = min(marks, key=lambda mark: abs(mark - place(number(found[5]))))
                near = abs(math.log(number(found[5])) - math.log(number(found[5]) + 1)) + 0.02
                scale = (at[-1] - at[0]) / (ends[1] - ends[0])
                wrong |= abs(x - place(number(found[5]))) > near * scale or marks[x] != who
            if wrong or label.text != f"{who} overtakes {whom}":
                yield Said("timeline", "unread", value=f"{sentence}: drawn otherwise")
            self.marked(label, [])
        self.marked(text, [])
        for tip in (tip for mark in svg.all("g", "pt") for tip in mark.all("title")):
            if tip.text in each:
                self.marked(tip, [])
        for pair, own in changes.items():
            yield Said("timeline", "changes", *sorted(pair), value=own)

    def _means(self, table: Node) -> Iterator[Said]:
        """Read the marks of the best means, and of those level with them."""
        heads, lines = rows_of(table)
        marks: dict[int, dict[str, str]] = {}
        for row in lines:
            for head, cell in zip(heads[1:], row[1:], strict=True):
                turned = head in self.learners
                who, size = (head, row[0].text) if turned else (row[0].text, head)
                kind = "best" if cell.all("strong") else "level" if "†" in cell.text else ""
                marks.setdefault(number(size), {})[who] = kind
        yield from self.marks("marks", marks)

    @staticmethod
    def marks(where: str, marks: dict[int, dict[str, str]]) -> Iterator[Said]:
        """Yield the mark of every mean; each size has one best mean."""
        for size, given in marks.items():
            leaders = [name for name, mark in given.items() if mark == "best"]
            if len(leaders) != 1:
                yield Said(where, "unread", value=f"{len(leaders)} best means at {size}")
                continue
            for name, mark in given.items():
                yield Said(where, "mark", name, tuple(leaders), size, mark)

    def _thresholds(self, table: Node) -> Iterator[Said]:
        heads, lines = rows_of(table)
        places = {head: place for place, head in enumerate(heads)}
        changes: dict[frozenset[str], set[tuple[str, str, int, int]]] = {}
        for row in lines:
            self.read.update(map(id, row))
            cells = {head: row[place].text for head, place in places.items()}
            who, whom, between = row[0].text, row[1].text, cells["between"]
            for first, second, head in ((who, whom, "ahead at"), (whom, who, "behind at")):
                sizes = [] if cells[head] == "–" else cells[head].split(", ")
                yield Said("thresholds", "ahead at", first, second, tuple(map(number, sizes)))
            own = changes.setdefault(frozenset((who, whom)), set())
            if "–" in between:
                low, high = between.split("–")
                own.add((who, whom, number(low), number(high)))
            elif between != "none":
                yield Said("thresholds", "unread", value=between)
        for pair, found in changes.items():
            yield Said("thresholds", "changes", *sorted(pair), value=found)

    def _pairs(self, part: Node) -> Iterator[Said]:
        """Read a table of who beats whom at a size: a matrix, or the best against the others."""
        size = number(re.match(r"[\d,]+", part.all("h3")[0].text)[0])  # type: ignore[index]
        heads, lines = rows_of(part.all("table")[0])
        for row in lines:
            for head, cell in zip(heads[1:], row[1:], strict=True):
                best = re.fullmatch(r"(.*), best mean", head)
                if best:
                    yield Said("pairs", "best", best[1], size=size)
                pair = (row[0].text, best[1] if best else head)
                if "none" not in cell.classes:
                    yield from self.marked(cell, [*self._cell(cell, pair, size)])

    def _cell(self, cell: Node, pair: tuple[str, str], size: int) -> Iterator[Said]:
        more = cell.all("span", "more")[0].text
        text = cell.text.removesuffix(more).strip()
        ways = {"identical": "identical", "not compared": "untested"}
        ways["no significant difference"] = "level"
        if "win" in cell.classes and text in pair:
            who = text
            way = "ahead"
        else:
            who, way = pair[0], ways.get(text, "")
            if way == "level":
                who = next(name for name in sorted(pair, key=len)[::-1] if more.startswith(name))
                more = more.removeprefix(who)
        whom = pair[1] if who == pair[0] else pair[0]
        if not way:
            yield Said("pairs", "unread", value=cell.text)
            return
        yield Said("pairs", "verdict", who, whom, size, way)
        if way in ("ahead", "level"):
            yield from self.sentences.numbers("pairs", more, who, whom, size)

    def _tips(self, drawn: Node) -> Iterator[tuple[Node, str, int, str]]:
        """Read the tips of a figure: each with its mark, whose it is, its size and the rest."""
        for dot in drawn.all("g", "pt"):
            tip = dot.all("title")[0]
            start = re.match(rf"(?:({self.sentences.name}), )?([\d,]+) rows: ", tip.text)
            assert start, tip.text
            self.read.add(id(tip))
            yield dot, start[1] or "", number(start[2]), tip.text[start.end() :]

    def _leads(self, where: str, text: str, size: int) -> Iterator[Said]:
        """Read how far one learner is ahead of another, if they could be compared."""
        lead = re.search(rf"({self.sentences.name}) over ({self.sentences.name}) (.*\[.*)", text)
        if lead:
            yield from self.sentences.numbers(where, lead[3], lead[1], lead[2], size)

    def _distances(self, drawn: Node) -> Iterator[Said]:
        """Read the distances: their numbers, the bars as drawn, and the leaders below."""
        leaders, heights = {}, {}
        for dot, who, size, text in self._tips(drawn):
            heights[who, size] = float(dot.attrs["data-y"])
            if text.endswith("the best mean") or text == "rank 1":
                leaders[size] = who
                yield Said("distances", "best", who, size=size)
            if short := re.match(r"([\d.e+−-]+) \w+ short of", text):
                yield Said("distances", "short", who, leaders.get(size), size, short[1])
            yield from self._leads("distances", text, size)
        places = [
            path.attrs["d"] for path in drawn.all("path", "axis") if path.attrs["d"][-2:] == "v4"
        ]
        ticks = [float(path[1:].split()[0]) for path in places]
        for path in drawn.all("path", "bar"):
            who = self.learners[int(path.parent.attrs["data-l"])]  # type: ignore[union-attr]
            for x, *ends in re.findall(r"M([\d.]+) ([\d.]+)V([\d.]+)", path.attrs["d"]):
                size = self._at(ticks, float(x))
                low, high = sorted(float(end) - heights[leaders[size], size] for end in ends)
                if min(abs(low), abs(high)) > _PIXEL:
                    side = _side(low, high, 0.0)
                    yield Said("drawn distances", "band", leaders[size], who, size, side)
        chips: dict[int, list[str]] = {}
        for path in drawn.all("path", "strip"):
            ends = re.findall(r"[ML]([\d.]+) ", path.attrs["d"])
            who = self.learners[int(path.parent.attrs["data-l"])]  # type: ignore[union-attr]
            chips.setdefault(self._at(ticks, fmean(map(float, ends))), []).append(who)
        more = {
            self._at(ticks, float(text.attrs["x"])): int(text.text.removesuffix(" more"))
            for text in drawn.all("text", "note")
            if re.fullmatch(r"\d+ more|\+\d+", text.text)
        }
        for size, names in chips.items():
            yield Said(
                "strip", "contenders", Names(tuple(names), more.get(size, 0)), leaders[size], size
            )

    def _at(self, ticks: list[float], x: float) -> int:
        """Return the size that is drawn nearest."""
        return min(zip(ticks, self.sizes, strict=True), key=lambda tick: abs(tick[0] - x))[1]

    def _forest(self, drawn: Node) -> Iterator[Said]:
        """Read the differences from a leader: their numbers, and which are hollow."""
        for dot, _, size, text in self._tips(drawn):
            yield from self._leads("forest", text, size)
            both = re.match(rf"({self.sentences.name}) over ({self.sentences.name}) ", text)
            hollow = "hollow" in dot.parent.classes  # type: ignore[union-attr]
            yield Said("forest", "hollow", both[1], both[2], size, hollow)  # type: ignore[index]

    def _panel(self, panel: Node) -> Iterator[Said]:
        """Read a chart of differences: the numbers of its dots, and the band as it is drawn."""
        title = panel.all("p", "panel-title")[0].text
        both = re.fullmatch(rf"({self.sentences.name}) vs ({self.sentences.name})", title)
        if not both or not panel.all("svg"):
            yield Said("bands", "unread", value=panel.text)
            return
        who, whom = both.groups()
        chart = Chart(panel.all("svg")[0])
        for dot in panel.all("g", "pt"):
            tip = dot.all("title")[0]
            start = rf"{re.escape(who)} over {re.escape(whom)} at ([\d,]+) rows: "
            found = re.match(start, tip.text)
            if not found:
                if not re.match(r"crossing at about ", tip.text):
                    yield Said("bands", "unread", value=tip.text)
                continue
            self.read.add(id(tip))
            size, numbers = number(found[1]), tip.text[found.end() :]
            read = self.sentences.numbers("bands", numbers, who, whom, size)
            yield from read
            limits = [float(read[0].value[key].replace("−", "-")) for key in ("low", "high")]
            yield Said("bands", "band", who, whom, size, _side(*limits, 0.0))
            yield from chart.drawn(who, whom, size, float(dot.attrs["data-x"]), limits)


def _side(low: float, high: float, room: float) -> int:
    """Return on which side of 0 an interval lies; 0 if it holds 0."""
    return 1 if low > room else -1 if high < -room else 0


def zero_and_unit(svg: Node, rule: str) -> tuple[float, float]:
    """Return where the line at 0 is drawn, and the pixels of a unit, by the ticks."""
    axes = svg.all("g", "axes")[0]
    heights = [float(one.attrs["d"].split()[1].split("H")[0]) for one in axes.all("path", "grid")]
    labels = [one.text for one in axes.all("text", **{"text-anchor": "end"})]
    ticks = [float(label.replace("−", "-").replace(",", "")) for label in labels]
    (zero,) = (float(one.attrs["d"].split()[1].split("H")[0]) for one in svg.all("path", rule))
    assert abs(heights[ticks.index(0.0)] - zero) < _PIXEL
    low, high = (ticks.index(end(ticks)) for end in (min, max))
    return zero, (heights[low] - heights[high]) / (ticks[high] - ticks[low])


class Chart:
    """A chart of differences as it is drawn."""

    def __init__(self, svg: Node) -> None:
        self.zero, self.unit = zero_and_unit(svg, "base")
        bottom = svg.all("path", "axis")[0].attrs["d"]
        self.edges = 8.0, float(bottom.split()[1].split("H")[0])
        self.limits: dict[float, tuple[float, float]] = {}
        for piece in svg.all("path", "band")[0].attrs["d"].split("Z"):
            pairs = re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", piece)
            points = [(float(x), float(y)) for x, y in pairs]
            half = len(points) // 2
            for (x, high), (_, low) in zip(points[:half], points[half:][::-1], strict=True):
                self.limits[x] = low, high

    def drawn(
        self, who: str, whom: str, size: int, x: float, limits: list[float]
    ) -> Iterator[Said]:
        """Compare the band at a size with its numbers and with the line at 0."""
        low, high = ((self.zero - y) for y in self.limits[x])
        if min(abs(low), abs(high)) > _PIXEL:
            yield Said("drawn bands", "band", who, whom, size, _side(low, high, 0.0))
        for pixels, limit in zip((low, high), limits, strict=True):
            y = min(max(self.zero - self.unit * limit, self.edges[0]), self.edges[1])
            if abs(self.zero - pixels - y) > _PIXEL + 6e-5 * self.unit:
                text = f"{who} over {whom} at {size}: {limit} is drawn at {pixels / self.unit:.4g}"
                yield Said("drawn bands", "unread", value=text)


def terminal(text: str, learners: list[str], sizes: list[int]) -> list[Said]:
    """Read what a run prints; lines must not be wrapped."""
    sentences, said = Sentences(learners, sizes), list[Said]()
    section, size = "", 0
    marks: dict[int, dict[str, str]] = {}
    columns: list[int] = []
    for line in text.splitlines():
        bare = line.strip()
        if line.startswith("On these models "):
            said += sentences.finding("terminal finding", bare)
        elif line.startswith("Who "):
            section = line
        elif section.startswith("Who beats whom") and line.startswith(" "):
            if found := re.match(r" *([\d,]+) rows: ", line):
                size, bare = number(found[1]), line[found.end() :]
            said += sentences.verdict("terminal pairs", bare, size)
        elif section == "Who overtakes whom" and line.startswith(" "):
            if found := re.match(r"(\d+) changes of the lead in the pairs of \d+ \w+s: ", bare):
                said.append(Said("terminal courses", "changing", "changes", value=int(found[1])))
            else:
                said += sentences.course("terminal courses", bare)
        elif re.fullmatch(r"(?:learner|measure|estimator|test)(?: +[\d,]+)+", bare) and not columns:
            columns = [number(one) for one in bare.split()[1:]]
        elif columns and len(marks.get(columns[-1], {})) < len(learners):
            marks_of(bare, learners, columns, marks)
        elif TELLING.search(bare):
            said += families("terminal method", bare)
            if not _explained(bare, EXPLAINED) and not re.search(r"m = |not adjusted", bare):
                said.append(Said("terminal", "unread", value=bare))
    for at, given in marks.items():
        said.append(Said("terminal marks", "daggers", size=at, value=given))
    return said


def marks_of(
    line: str, learners: list[str], columns: list[int], marks: dict[int, dict[str, str]]
) -> None:
    """Read the daggers of a row of printed means."""
    for name in learners:
        if line.startswith(f"{name} "):
            cells = re.split(r"  +", line.removeprefix(name).strip())
            for size, cell in zip(columns, cells, strict=True):
                marks.setdefault(size, {})[name] = "level" if "†" in cell else ""
