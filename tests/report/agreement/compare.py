"""The page that compares the studies of a list, read as statements about each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from tests.report.agreement.html import Node, parse, rows_of
from tests.report.agreement.page import Blocks, zero_and_unit
from tests.report.agreement.said import Names, Said
from tests.report.agreement.sentences import Sentences, families, number

EXPLAINED = [
    r".*, which of .* predicts best, by .*\?",
    r"What differs between the studies|differs|not significant|Statements and verdicts",
    r"Being level requires an interval within the margin, .* and yet differ significantly\.",
    r"Bars compare with the best mean at that size only: a bar that reaches its line is not "
    r"separated from it \([^.]*\)\.",
    r"The \w+ of the best mean at each .* of each study, striped with the \w+ that are not "
    r"separated from it \(.*\)\.",
    r"Bars: [^.]*\.|Differences: .*in favour of the \w+ named first\.",
    r"The statements of the source, .* where Holm’s method decides\.",
]
_HOLDS = {"holds": "ahead", "contradicted": "behind", "open": "level"}
_CLAIM = r"(?P<who>.+) beats (?P<whom>.+) at (?P<sizes>[\d, and]+) rows"


def _box(piece: str) -> tuple[float, float, float, float]:
    """Return the ends of a piece of an area, from left to right and from top to bottom."""
    points = [(float(x), float(y)) for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", piece)]
    xs, ys = zip(*points, strict=True)
    return min(xs), max(xs), min(ys), max(ys)


class Comparison(Blocks):
    """What a page of a list says, by the names of its studies.

    Parameters
    ----------
    text : str
        The page.
    designs : dict
        The learners and sizes of every study, by its name.
    """

    def __init__(self, text: str, designs: Mapping[str, tuple[Sequence[str], Sequence[int]]]):
        super().__init__(parse(text), EXPLAINED)
        self.readers = {name: Sentences(*own) for name, own in designs.items()}

    def said(self) -> list[tuple[str, Said]]:
        """Return every statement with the study that it is about."""
        found = [
            *self._opening(),
            *self._grids(),
            *self._found(),
            *self._statements(),
            *self._leads(),
        ]
        found += self._between()
        first = next(iter(self.readers))
        return found + [(first, one) for one in self.unread()]

    def _opening(self) -> Iterator[tuple[str, Said]]:
        for panel in self.section("curves").all("div", "panel"):
            name, (note,) = panel.all("p", "panel-title")[0].text, panel.all("p", "panel-note")
            for one in self.marked(note, self.readers[name].finding("findings", note.text)):
                yield name, one

    def _grids(self) -> Iterator[tuple[str, Said]]:
        """Read who leads at which size, from the words of cells and as they are filled."""
        boxes = self.root.all("div", "controls")[0].all("input", name="learner")
        labels = {box.attrs["value"]: box.parent.text for box in boxes if box.parent is not None}
        figures = self.section("curves").all("figure")
        for svg in (one for figure in figures for one in figure.all("svg", role="img")):
            if not (spots := svg.all("g", "spot")):
                continue
            pieces = [
                (labels[group.attrs["data-l"]], *_box(piece))
                for group in svg.all("g", "s")
                for path in group.all("path", "full")
                for piece in path.attrs["d"].split("Z")[:-1]
            ]
            tips = [mark.all("title")[0] for mark in spots[0].all("g", "pt")]
            (text,) = svg.all("desc")
            if text.text == "; ".join(tip.text for tip in tips) + ".":
                self.read.add(id(text))
            for mark, tip in zip(spots[0].all("g", "pt"), tips, strict=True):
                found = re.fullmatch(r"([\w-]+), ([\d,]+) rows: (.+), (.+)", tip.text)
                x, y = float(mark.attrs["data-x"]), float(mark.attrs["data-y"])
                around = [one for one in pieces if one[1] < x < one[2] and one[3] < y < one[4]]
                wide = max(one[2] - one[1] for one in around)
                (cell,) = (one for one in around if one[2] - one[1] > wide - 0.2)
                within = [
                    one
                    for one in pieces
                    if one is not cell
                    and cell[1] - 0.2 < one[1] < one[2] < cell[2] + 0.2
                    and cell[3] - 0.2 < one[3] < one[4] < cell[4] + 0.2
                ]
                if not found or found[3] != cell[0]:
                    yield next(iter(self.readers)), Said("grid", "unread", value=tip.text)
                    continue
                self.read.add(id(tip))
                rivals = {one[0] for one in within}
                size = number(found[2])
                yield found[1], Said("grid", "grid cell", cell[0], size=size, value=rivals)
                who = Names(tuple(re.findall(self.readers[found[1]].name, found[4])))
                level = who if found[4].startswith("not significantly better") else Names(())
                yield found[1], Said("grid", "rivals", cell[0], level, size, "level or identical")

    def _found(self) -> Iterator[tuple[str, Said]]:
        section = self.section("found")
        for head, items in zip(section.all("h3"), section.all("ul"), strict=True):
            name = head.text.partition(":")[0]
            for item in items.all("li"):
                read = self.readers[name].statement("statements", item.text)
                yield from ((name, one) for one in self.marked(item, read))

    def _statements(self) -> Iterator[tuple[str, Said]]:
        """Read the verdicts on claims that one learner beats another, and their numbers."""
        section = self.section("statements")
        _, lines = rows_of(section.all("table")[0])
        counts = dict.fromkeys(("reproduced", "not reproduced", "not decided"), 0)
        failed, held = list[tuple[str, str]](), dict[tuple[str, str], str]()
        for claim, where, verdict, numbers in lines:
            name, text = where.all("span", "w")[0].text, claim.text
            reader, found = self.readers[name], re.fullmatch(_CLAIM, text)
            self.read.update(map(id, (claim, verdict)))
            if not found or verdict.text not in counts:
                yield name, Said("claims", "unread", value=f"{text}: {verdict.text}")
                continue
            counts[verdict.text] += 1
            held[name, text] = verdict.text
            sizes = tuple(map(number, re.split(r", | and ", found["sizes"])))
            yield name, Said("claims", "claim", found["who"], found["whom"], sizes, verdict.text)
            for brief in numbers.all("summary"):
                over = rf"({reader.name}) over ({reader.name}) at ([\d,]+) rows: "
                for one in re.finditer(over, brief.text):
                    given = (one[1], one[2], number(one[3]))
                    yield name, *reader.numbers("claims", brief.text[one.end() :], *given)
            for item in numbers.all("li"):
                yield from ((name, one) for one in self._evidence(item, reader))
            for basis in numbers.all("span", "from"):
                m = re.fullmatch(r"\d+ models, m = ([\d,]+)", basis.text)
                yield name, Said("claims", "tested for", value=number(m[1]) if m else basis.text)
            if verdict.text == "not reproduced":
                failed.append((text, name))
        for panel in self.section("curves").all("div", "panel"):
            about = panel.all("p", "panel-title")[0].text
            self.read.update(map(id, panel.all("p", "chips")))
            for chip in panel.all("span", "verdict"):
                found = re.fullmatch(r"[✓✗?] (?:\d+ more|(?P<text>.+)) \((.*)\)", chip.text)
                if not found or (found["text"] and held.get((about, found["text"])) != found[2]):
                    yield about, Said("chips", "unread", value=chip.text)
        each = [f"{n} {'is' if n == 1 else 'are'} {kind}" for kind, n in counts.items()]
        text = (
            f"Of {len(lines)} statements about these studies, {each[0]}, {each[1]} and {each[2]}."
        )
        if (given := self.section("curves").all("div", "finding")[0].all("p")[0].text) != text:
            yield name, Said("claims", "unread", value=f"{given} — {text}")
        named = []
        for item in self.section("curves").all("li"):
            if made := re.fullmatch(
                r"Not reproduced: (.*) \(([\w-]+)(?:; contradicted: .*)?\)\.", item.text
            ):
                self.read.add(id(item))
                named.append(made.groups())
        if named != failed:
            yield name, Said("claims", "unread", value=f"not reproduced: {named} — {failed}")
        for note in section.all("p", "small"):
            if note.text.startswith("Differences: "):
                for part in re.split(r"; (?=[\w-]+(?:, [\w-]+| and [\w-]+)*: )", note.text[13:]):
                    names, _, text = part.partition(": ")
                    for name in re.split(r", | and ", names):
                        yield from ((name, one) for one in families("claims", text))

    def _evidence(self, item: Node, reader: Sentences) -> Iterator[Said]:
        """Read a number that a claim is held against, and what it is said to show."""
        text, word = item.text, item.all("em")[0].text
        found = re.match(rf"({reader.name}) over ({reader.name}) at ([\d,]+) rows: ", text)
        if not found:
            yield Said("claims", "unread", value=text)
            return
        who, whom, size = found[1], found[2], number(found[3])
        yield Said("claims", "verdict", who, whom, size, _HOLDS.get(word, word))
        (read,) = reader.numbers("claims", text[found.end() :], who, whom, size)
        yield read
        if "low" in read.value:
            low, high = (float(read.value[key].replace("−", "-")) for key in ("low", "high"))
            side = "holds" if low > 0 else "contradicted" if high < 0 else "open"
            if side != word:
                yield Said("claims", "unread", value=f"{text}: the interval says {side}")

    def _between(self) -> Iterator[tuple[str, Said]]:
        """Read which means differ between studies, and how many are said to."""
        section = self.section("changes")
        heads, lines = rows_of(section.all("table")[0])
        counts = dict.fromkeys(("differs", "not significant", "identical"), 0)
        for row in lines:
            cells = dict(zip(heads, (cell.text for cell in row), strict=True))
            verdict = re.sub(r" \(.*\)$", "", cells["verdict"])
            counts[verdict] += 1
            first, second = cells["studies"].split(" → ")
            where = {"size": number(cells["rows"]), "value": (verdict, len(lines))}
            yield first, Said("between", "between", cells["learner"], second, **where)
        m = re.findall(r"m = ([\d,]+) comparisons", section.text)
        text = (
            f"Of {len(lines)} comparisons of a learner's mean at one size between two studies, "
            f"{counts['differs']} differ by more than Monte-Carlo error, "
            f"{counts['not significant']} do not differ significantly"
        )
        for item in self.section("curves").all("li"):
            if item.text.startswith("Of ") and " comparisons of " in item.text:
                self.read.add(id(item))
                if item.text.replace(" and", ",").startswith(text) and m == [str(len(lines))]:
                    return
        yield first, Said("between", "unread", value=f"m = {m}: {text}")

    def _leads(self) -> Iterator[tuple[str, Said]]:
        """Read the bars, drawn from the best mean of each size, and their tips."""
        for panel in self.section("curves").all("div", "panel"):
            name, svg = panel.all("p", "panel-title")[0].text, panel.all("svg")[0]
            reader, (_, unit) = self.readers[name], zero_and_unit(svg, "zero")
            dots, bases = list[tuple[str, int, str, list[float]]](), dict[int, float]()
            for group in (one for one in svg.all("g", "s") if one.all("g", "pt")):
                bars = group.all("path", "bar")[0].attrs["d"]
                ends = re.findall(r"M([\d.]+) ([\d.]+)V([\d.]+)", bars)
                drawn = {float(x): sorted(map(float, ys)) for x, *ys in ends}
                for dot in group.all("g", "pt"):
                    (tip,) = dot.all("title")
                    found = re.match(rf"({reader.name}), ([\d,]+) rows: [^;]+; ", tip.text)
                    if not found:
                        yield name, Said("leads", "unread", value=tip.text)
                        continue
                    self.read.add(id(tip))
                    size, text = number(found[2]), tip.text[found.end() :]
                    if text == "the best mean":
                        bases[size] = float(dot.attrs["data-y"])
                        yield name, Said("leads", "best", found[1], size=size)
                    else:
                        at = drawn[float(dot.attrs["data-x"])]
                        dots.append((found[1], size, text, at))
            for whom, size, text, pixels in dots:
                lead = re.match(rf"({reader.name}) over {whom} ", text)
                if not lead:
                    yield name, Said("leads", "unread", value=text)
                    continue
                (read,) = reader.numbers("leads", text[lead.end() :], lead[1], whom, size)
                yield name, read
                limits = [float(read.value[k].replace("−", "-")) for k in ("low", "high")]
                side = 1 if limits[0] > 0 else -1 if limits[1] < 0 else 0
                yield name, Said("leads", "band", lead[1], whom, size, side)
                for pixel, limit in zip(pixels, limits, strict=True):
                    at = pixel - bases[size]
                    if abs(at - unit * limit) > 0.26 + 6e-5 * unit:
                        said = f"{text}: {limit} is drawn at {at / unit:.4g}"
                        yield name, Said("leads", "unread", value=said)
