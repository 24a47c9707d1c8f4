"""Sentences about learners at training sizes, read as statements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from tests.report.agreement.said import Names, Said

# Sentences with these words say who is ahead; each must be read, or be known as an explanation.
TELLING = re.compile(
    r"\bbeats?\b|\bbeaten\b|\bahead\b|\bbehind\b|overtak|significant|\bdoes best\b|(?<!no )better "
    r"than|worse than|do(?:es)? not differ|\bwins?\b|\bwinners?\b|separate|\blosers?\b"
)
NOUN = r"(?:learner|measure|estimator|test)"
_INT = r"(?:\d{1,3}(?:,\d{3})+|\d+)"
_NUMBER = r"[+−-]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:e[+−-]?\d+)?"
LEAD = re.compile(
    rf"(?P<lead>{_NUMBER})(?: [^\[\]+−]*?)? ?"
    rf"(?:\[(?P<low>{_NUMBER}), (?P<high>{_NUMBER})\]"
    r"|\(?(?:adjusted )?p (?:= |(?=<))(?P<p>[<\d. ]+)\)?)"
)
FAMILY = re.compile(
    r"(?P<how>Bonferroni-adjusted for|Holm-adjusted over) m = (?P<m>[\d,]+) (?:pair|test)s?"
    r"(?P<what>, all pairs at all sizes| at each size)|not adjusted for the number of tests"
)


def number(text: str) -> int:
    """Return a whole number with commas between thousands."""
    return int(text.replace(",", ""))


def families(where: str, text: str) -> Iterator[Said]:
    """Yield the families of tests that a text names."""
    for found in FAMILY.finditer(text):
        if found["m"]:
            family = f"{found['how']},{found['what'].removeprefix(',')}"
            yield Said(where, "family", family, value=number(found["m"]))
        else:
            yield Said(where, "family", found[0], value=1)


class Sentences:
    """A reader of sentences about some learners at some sizes.

    Parameters
    ----------
    learners
        Their labels.
    sizes
        The training sizes of the study, without added ones.
    """

    def __init__(self, learners: Sequence[str], sizes: Sequence[int]) -> None:
        self.learners, self.sizes = [*learners], [*sizes]
        self._owners: dict[int, list[str]] = {}  # of the best means, by the sentence before
        ordered = sorted(map(re.escape, learners), key=len, reverse=True)
        self.name = rf"(?<![\w.])(?:{'|'.join(ordered)})(?![\w])"
        one = self.name
        self.names = rf"{one}(?:, {one})*(?: and (?:{one}|\d+ others))?"
        self.size_list = rf"{_INT}(?: to {_INT})?(?:(?:, | and ){_INT}(?: to {_INT})?)*"
        self.rows = rf"(?:[Aa]t|[Ff]rom|with) (?P<sizes>{self.size_list}) rows"

    def _full(self, pattern: str, text: str) -> re.Match[str] | None:
        return re.fullmatch(pattern, text)

    def named(self, text: str | None) -> Names:
        """Return the labels in a list such as "A, B and 3 others"."""
        found = re.search(r"(\d+) others$", text or "")
        listed = text or ""
        return Names(tuple(re.findall(self.name, listed)), int(found[1]) if found else 0)

    def at(self, text: str) -> list[int]:
        """Return sizes such as "10 to 40 and 160"."""
        found: list[int] = []
        for part in re.split(r", | and ", text):
            low, _, high = part.partition(" to ")
            ends = number(low), number(high or low)
            found += [size for size in self.sizes if ends[0] <= size <= ends[1]]
        return found

    # The sentence that opens a page

    def finding(self, where: str, text: str) -> list[Said]:
        """Read who does best with how many rows."""
        text, *more = re.split(r"(?<=\.) (?=With |To be |Of these )", text)
        if more:
            said = [one for part in (text, *more) for one in self._further(where, part)]
            return said if said[0].kind == "keeping" else [*self.finding(where, text), *said]
        unread = [Said(where, "unread", value=text)]
        if not text.startswith("On these models ") or not text.endswith("."):
            return unread
        parts = text.removeprefix("On these models ").removesuffix(".").split("; ")
        said: list[Said] = []
        for part in parts:
            read = self._no_two(where, part) or self._whose_mean(where, part)
            read = read or self._best(where, part) or self._crowded(where, part)
            joined = rf"{NOUN}s joined by “or” do not differ significantly"
            if not read and not self._full(joined, part):
                return unread
            said += read
        spoken = {
            one.size
            for one in said
            if one.kind in ("does best", "none differ", "best", "best beaten")
        }
        return [*said, Said(where, "decided", size=sorted(spoken))]

    def _further(self, where: str, text: str) -> list[Said]:
        """Read what only comparisons of measures, estimators or tests say."""
        keeping = (
            r"On these models (\d+) of \d+ tests are not shown to exceed 5% type I error "
            r"\(copies of .*; mirrored pairs\)(?:: (.*))?\."
        )
        if found := self._full(keeping, text):
            names = found[2].split("; ") if found[2] else []
            return [Said(where, "keeping", names, value=int(found[1]))]
        need = (
            rf"To be as good as ({self.name}) with ({_INT}) rows, (.*) needs? more than ({_INT})\."
        )
        if found := self._full(need, text):
            names = self.named(found[3])
            at, more = number(found[2]), number(found[4])
            return [Said(where, "need more", names.named, found[1], at, more)]
        counts = rf"With ({_INT}) rows (\d+|no) estimators? (?:is|are) shown to be biased, and "
        counts += (
            r"(\d+|none) of (\d+) intervals? of (\d+)% to contain the exact value less often\."
        )
        if found := self._full(counts, text):
            size, *numbers = (number(re.sub("^none$|^no$", "0", each)) for each in found.groups())
            biased, short, intervals, promised = numbers
            said = [Said(where, "biased", value=biased, size=size)]
            return [*said, Said(where, "rarely", value=(intervals, promised, short), size=size)]
        if text.startswith("On these models "):
            return []
        said, of = [], re.match(r"Of these (\d+), ", text)
        if of:
            said, text = [Said(where, "kept", value=int(of[1]))], text[of.end() :]
        for part in re.sub(r" \([^()]*\)\.$", "", text).split("; "):
            if part == "tests joined by “or” do not differ significantly":
                continue
            found = self._full(
                rf"[Ww]ith ({self.size_list}) rows (?:(?P<most>.*) detects most|no two .*|"
                rf"(?P<best>{self.name}) has the greatest power, and only (?P<less>.*) detects? "
                r"significantly less than another of them)",
                part,
            )
            sizes = self.at(found[1]) if found else []
            who = tuple(re.findall(self.name, found["most"] or "")) if found else ()
            if found and found["less"]:
                less = {*re.findall(self.name, found["less"])}
                said += [Said(where, "detects less", less, found["best"], size) for size in sizes]
            else:
                said += [Said(where, "detects", Names(who), size=size) for size in sizes]
        return said or [Said(where, "unread", value=text)]

    def _named_estimators(self, where: str, text: str) -> list[Said]:
        """Read which estimators are biased, and which of their intervals are short."""
        if found := self._full(rf"With ({_INT}) rows shown to be biased: (.*)\.", text):
            each = re.findall(rf"({self.name}) \(([+−][\d.]+)\)", found[2])
            shown = {name: float(bias.replace("−", "-")) for name, bias in each}
            more = re.search(r"and (\d+) others$", found[2])
            return [Said(where, "biased", shown, int(more[1]) if more else 0, number(found[1]))]
        rarely = rf"With ({_INT}) rows shown to contain the exact value too rarely: (.*)\."
        if not (found := self._full(rarely, text)):
            return []
        short = {}
        for part in found[2].split("; "):
            kind, _, names = part.partition(": ")
            each = re.findall(rf"({self.name}) \((\d+)%\)", names)
            short |= {(name, kind): int(share) for name, share in each}
        return [Said(where, "rarely", short, size=number(found[1]))]

    def _no_two(self, where: str, part: str) -> list[Said]:
        at = rf"with (?P<sizes>{self.size_list}) rows"
        far = r"(?: \(where they could be compared\))?"
        who = rf"(?:no two of (?:{self.names}|the \d+ {NOUN}s) differ|{self.names} do not differ)"
        found = self._full(rf"{at} no two {NOUN}s differ significantly{far}", part)
        found = found or self._full(rf"{who} significantly{far} {at}", part)
        if same := self._full(rf"(?P<who>{self.names}) have the same scores {at}", part):
            sizes = self.at(same["sizes"])
            said = [Said(where, "none differ", size=size) for size in sizes]
            return [*said, Said(where, "identical", self.named(same["who"]).named, size=sizes)]
        beaten = rf"{at} the {NOUN} with the best mean is beaten by another over the models that "
        beaten += "both have"
        if lost := self._full(beaten, part):
            return [Said(where, "best beaten", size=s) for s in self.at(lost["sizes"])]
        return (
            [Said(where, "none differ", size=s) for s in self.at(found["sizes"])] if found else []
        )

    def _whose_mean(self, where: str, part: str) -> list[Said]:
        """Whose mean is best, and at how many sizes it is better than every other."""
        better = r"it is significantly better than every other at (?:(\d+) of these \d+|none of "
        if found := self._full(rf"{better}these) sizes", part):
            return [Said(where, "wins at", value=int(found[1] or 0))]
        if not part.startswith("the best mean is "):
            return []
        one = rf"({self.name})'s at ({self.size_list}) rows"
        rest = re.sub(one, "#", part.removeprefix("the best mean is "))
        if not self._full(r"#(?:(?:,|, and| and) #)*", rest):
            return []
        each = re.findall(one, part)
        return [Said(where, "best", who, size=size) for who, at in each for size in self.at(at)]

    def _best(self, where: str, part: str) -> list[Said]:
        """Who does best at which sizes; several are joined by "or"."""
        one = self.name
        who = rf"{one}(?:(?:, {one})* or {one})?"
        without = rf"(?: \({self.names} could not be compared\))?"
        clause = rf"({who})( does best)? with ({self.size_list})( rows)?{without}"
        each = re.findall(clause, part)
        end = r"(?:, where (?:the two|these) do not differ significantly)?"
        rest = re.sub(clause, "#", part)
        if not self._full(rf"#(?:(?:,|, and| and) #)*{end}", rest) or not each[0][1]:
            return []
        said = []
        for names, _, at, _ in each:
            best = Names(tuple(re.findall(one, names)))
            said += [Said(where, "does best", best, size=size) for size in self.at(at)]
        return said

    def _crowded(self, where: str, part: str) -> list[Said]:
        """Whose mean is best, and which few are worse, or how many."""
        without = rf"(?: \({self.names} could not be compared\))?"
        found = self._full(
            rf"(?P<who>{self.name}) has the best mean with (?P<sizes>{self.size_list}) rows, where "
            rf"(?:only (?P<worse>{self.names})|(?P<count>\d+)(?: to (?P<most>\d+))? of \d+ others) "
            rf"(?:is|are) significantly worse than another{without}",
            part,
        )
        if not found:
            return []
        worse, sizes = self.named(found["worse"]), self.at(found["sizes"])
        worse = Names((), int(found["count"])) if found["count"] else worse
        best = [Said(where, "best", found["who"], size=size) for size in sizes]
        if found["most"]:
            ends = int(found["count"]), int(found["most"])
            return [Said(where, "only worse", found["who"], size=sizes, value=ends), *best]
        said = [Said(where, "only worse", found["who"], worse, size) for size in sizes]
        return said + best

    # The statements

    def statement(self, where: str, text: str) -> list[Said]:
        """Read a statement of the findings in detail; those of other things are passed over."""
        reads = (self._beats, self._has_best, self._nothing, self._summary, self._overtaking)
        for read in (self._named_estimators, *reads):
            if said := read(where, text):
                return said
        return [Said(where, "unread", value=text)] if TELLING.search(text) else []

    def numbers(self, where: str, text: str, who: str, whom: str, size: int) -> list[Said]:
        """Read a lead with its interval or p value."""
        found = LEAD.search(text)
        if not found:
            return [Said(where, "unread", value=text)]
        given = {key: value.strip() for key, value in found.groupdict().items() if value}
        return [Said(where, "numbers", who, whom, size, given)]

    def _placed(self, where: str, text: str, who: str, rivals: Any, sizes: list[int]) -> list[Said]:
        """Read a lead, with the rival and the size after it where there are several."""
        over = re.search(rf"over ({self.name})(?: at {_INT} rows)?$", text)
        at = re.search(rf"at ({_INT}) rows$", text)
        whom = over[1] if over else rivals[0]
        who = who or next(iter(self._owners.get(number(at[1]), ())), "") if at else who
        return self.numbers(where, text, who, whom, number(at[1]) if at else sizes[0])

    def _beats(self, where: str, text: str) -> list[Said]:
        every = rf"every other {NOUN}(?: that it could be tested against)?"
        found = self._full(
            rf"{self.rows} (?P<who>{self.name}) beats (?:(?P<whom>{self.name})|{every})"
            rf"(?:, by (?P<only>.*)|; its smallest lead is (?P<least>.*))\.",
            text,
        )
        if not found:
            return []
        sizes, who = self.at(found["sizes"]), found["who"]
        rivals = [found["whom"]] if found["whom"] else [n for n in self.learners if n != who]
        said = [Said(where, "best", who, size=size) for size in sizes]
        for size in sizes:
            exact = "that it could be tested against" not in text
            rest = [n for n in self.learners if n != who and n not in rivals]
            if exact:
                said += [Said(where, "verdict", who, whom, size, "ahead") for whom in rivals]
                said += [Said(where, "verdict", who, whom, size, "untested") for whom in rest]
            else:
                said += [
                    Said(where, "rivals", who, Names(()), size, v) for v in ("level", "behind")
                ]
        return said + self._placed(where, found["only"] or found["least"], who, rivals, sizes)

    def _has_best(self, where: str, text: str) -> list[Said]:
        found = self._full(
            rf"{self.rows} (?:(?P<who>{self.name}) has|(?P<shared>{self.names}) share) the best "
            rf"mean(?:; {self.name})?(?: and)?(?: beats (?P<ahead>{self.names}))?(?:, but)?"
            rf"(?: does not differ significantly from (?P<level>{self.names}) \((?P<most>.*)\))?"
            rf"(?:, yet (?P<behind>{self.names}) beats? it over the models that both have)?"
            rf"(?: but cannot be compared with the others)?\.",
            text,
        )
        if not found:
            return []
        sizes, shared = self.at(found["sizes"]), self.named(found["shared"])
        who = found["who"] or shared.named[0]
        said = []
        for size in sizes:
            said += [Said(where, "best", name, size=size) for name in shared.named or (who,)]
            for way in ("ahead", "level", "behind"):
                said.append(Said(where, "rivals", who, self.named(found[way]), size, way))
        if found["most"]:
            rivals = self.named(found["level"]).named
            said += self._placed(where, found["most"], who, rivals, sizes)
        return said

    def _nothing(self, where: str, text: str) -> list[Said]:
        who = rf"(?:no two of (?:{self.names}|the \d+ {NOUN}s) differ|{self.names} do not differ)"
        two = rf"{who} significantly(?: \(where they could be compared\))?"
        found = self._full(
            rf"{self.rows} {two}; the largest mean difference is (?P<lead>.*), "
            rf"(?P<who>{self.name}) over (?P<whom>{self.name}) at (?P<at>{_INT}) rows\.",
            text,
        )
        if not found:
            return []
        said = [Said(where, "none differ", size=size) for size in self.at(found["sizes"])]
        at = number(found["at"])
        return said + self.numbers(where, found["lead"], found["who"], found["whom"], at)

    def _summary(self, where: str, text: str) -> list[Said]:
        """Read where which learner has the best mean, and where it is ahead of all others."""
        own = rf"({self.name})'s (?:at|from) ({self.size_list}) rows"
        if text.startswith("The best mean is "):
            rest = re.sub(own, "#", text)
            if not self._full(
                r"The best mean is #(?:(?:,| and) #)*(?:, shared with others .*)?\.", rest
            ):
                return []
            each = re.findall(own, text)
            self._owners = {size: [who] for who, at in each for size in self.at(at)}
            return [Said(where, "best", who, size=s) for who, at in each for s in self.at(at)]
        found = self._full(
            rf"The {NOUN} with the best mean beats (?:every other"
            rf"(?: that it could be tested against)? {self.rows} "
            rf"\(its smallest lead there is (?P<least>.*?rows)\)|all others at no size "
            rf"studied)(?:; at (?P<level>{self.size_list}) rows (?P<count>[\d to]+) of the others "
            rf"do(?:es)? not differ significantly from it \(the largest such lead is "
            rf"(?P<most>.*?rows)\))?(?:; where models are missing, another beats it .*)?\.",
            text,
        )
        if not found:
            return []
        said = [Said(where, "wins at", size=self.at(found["sizes"]) if found["sizes"] else [])]
        for part in ("least", "most"):
            if found[part]:
                said += self._placed(where, found[part], "", (), [])
        return said

    def _overtaking(self, where: str, text: str) -> list[Said]:
        """Read who overtakes whom, and which pairs never differ; its parts are of many kinds."""
        said: list[Said] = []
        changed, more = set(), 0
        for part in text.removesuffix(".").split("; "):
            part = part[:1].lower() + part[1:] if part[:7] == "Between" else part
            if found := re.match(r"(\d+) more pairs? changes? places: see the table", part):
                more = int(found[1])
            elif changes := self.overtakings(where, part):
                said += changes
                changed.add(frozenset((changes[0].who, changes[0].whom)))
            elif self._full(
                rf"between {_INT} and {_INT} rows no {NOUN} is shown to overtake another", part
            ):
                said.append(Said(where, "changing", "pairs", value=0))
            elif not (read := self._others(where, part)):
                return []
            else:
                said += read
        if changed:
            said.append(Said(where, "changing", "pairs", value=len(changed) + more))
        return said

    def _others(self, where: str, part: str) -> list[Said]:
        where_tested = "(?:studied|at which they could be tested)"
        never = rf"do not differ significantly at any size {where_tested}"
        if found := self._full(rf"(\d+) of (\d+) pairs {never}", part):
            return [Said(where, "never", value=(int(found[1]), int(found[2])))]
        if found := self._full(rf"({self.name}) and ({self.name}) {never}", part):
            return [Said(where, "never", found.groups())]
        every = r"(?:every model|all \d+ models that both have|all models that both have)"
        at = rf"(?: at (?P<sizes>{self.size_list}) rows)?"
        same = rf"({self.name}) and ({self.name}) are identical in {every}{at}"
        if found := self._full(same, part):
            sizes = self.at(found["sizes"]) if found["sizes"] else self.sizes
            return [Said(where, "identical", found.groups()[:2], size=sizes)]
        if found := self._full(r"(\d+) of (\d+) pairs? could not be tested", part):
            return [Said(where, "untested", "never", value=int(found[1]))]
        if found := self._full(r"(\d+) of (\d+) pairs? could be tested only at some sizes", part):
            return [Said(where, "untested", "somewhere", value=int(found[1]))]
        return []

    def overtakings(self, where: str, text: str) -> list[Said]:
        """Read all changes of a pair, such as "A overtakes B between 10 and 40 rows"."""
        about = rf"(?:, at about {_INT} \[{_INT}, {_INT}\])?"
        one = rf"({self.name}) overtakes ({self.name}) between ({_INT}) and ({_INT}) rows{about}"
        over = r"(?:, over \d+ of \d+ models)?"
        if not self._full(rf"{one}(?:, and {one})*{over}", text):
            return []
        each = {(a, b, number(low), number(high)) for a, b, low, high in re.findall(one, text)}
        who, whom, *_ = next(iter(each))
        return [Said(where, "changes", who, whom, value=each)]

    def unchanged(self, where: str, text: str) -> list[Said]:
        """Read in which pairs no change of the lead is established."""
        found = self._full(r"No change of the lead is established in (\d+) pairs?: (.*)\.", text)
        if not found:
            return [Said(where, "unread", value=text)]
        said, more = set[tuple[str, str, str]](), 0
        for part in found[2].split("; "):
            one = self._full(
                rf"(?P<who>{self.name}) is ahead of (?P<whom>{self.names}) wherever they differ "
                "significantly",
                part,
            )
            pairs = re.findall(rf"({self.name}) and ({self.name})", part)
            if one:
                rivals = self.named(one["whom"])
                said |= {(one["who"], whom, "ahead") for whom in rivals.named}
                more += rivals.others
            elif part.endswith("differ significantly at no size") and pairs:
                rest = re.search(r"(\d+) others", part)
                said |= {(*pair, "level") for pair in pairs}
                more += int(rest[1]) if rest else 0
            else:
                return [Said(where, "unread", value=part)]
        return [Said(where, "unchanged", size=int(found[1]), value=(said, more))]

    # The terminal

    def verdict(self, where: str, text: str, size: int) -> list[Said]:
        """Read a line of "Who beats whom"."""
        pair = rf"(?P<who>{self.name}) (?P<verb>beats|and) (?P<whom>{self.name})"
        found = self._full(rf"{pair}(?P<rest>.*)", text)
        if not found:
            return [Said(where, "unread", value=text)]
        who, whom, rest = found["who"], found["whom"], found["rest"]
        ways = {
            " by": "ahead",
            " do not differ significantly:": "level",
            " are identical in": "identical",
            " are not compared:": "untested",
        }
        way = next((way for start, way in ways.items() if rest.startswith(start)), "")
        if not way or (way == "ahead") != (found["verb"] == "beats"):
            return [Said(where, "unread", value=text)]
        said = [Said(where, "verdict", who, whom, size, way)]
        return said + (
            self.numbers(where, rest, who, whom, size) if way in ("ahead", "level") else []
        )

    def course(self, where: str, text: str) -> list[Said]:
        """Read a line of "Who overtakes whom"."""
        if said := self.overtakings(where, text):
            return said
        over = r"(?:, over \d+ of \d+ models)?"
        one, other = rf"(?P<who>{self.name})", rf"(?P<whom>{self.name})"
        if found := self._full(
            rf"neither {one} nor {other} is significantly ahead at any size{over}", text
        ):
            pair = found["who"], found["whom"]
            return [Said(where, "ahead at", *two, ()) for two in (pair, pair[::-1])]
        found = self._full(
            rf"{one} is ahead of {other} at (?P<at>{self.size_list}) rows; (?P=whom) is never "
            rf"significantly ahead{over}",
            text,
        )
        if not found:
            return [Said(where, "unread", value=text)]
        who, whom = found["who"], found["whom"]
        sizes = tuple(map(number, re.split(r", | and ", found["at"])))
        return [Said(where, "ahead at", who, whom, sizes), Said(where, "ahead at", whom, who, ())]
