"""References as docstrings write them, and as BibTeX.

A reference reads "A. Author & B. Author (2004). Title. Where, with a volume."
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from simstudy.components.describe import describe_component
from simstudy.components.registry import AnyRegistry, Spec
from simstudy.report.tables.formats import latex_text

_REFERENCE = re.compile(r"(.+?) \((\d{4})\)\. (.+?)[.?](?: (.+?)\.?)?(?:(?<=\.) .*)?")
_CHAPTER = re.compile(r", (?:chapter|section)s? [\d. and]+$")  # of a book, which has one entry
_PUBLISHER = re.compile("Press|Springer|Kaufmann|Mifflin|Butterworths")


class Reference(NamedTuple):
    """An entry of a bibliography."""

    key: str
    kind: str
    fields: dict[str, str]

    @property
    def bibtex(self) -> str:
        """The entry as BibTeX; the letters of titles keep their case."""
        texts = {name: latex_text(text) for name, text in self.fields.items() if name != "author"}
        texts |= {"author": self.fields["author"], "title": f"{{{texts['title']}}}"}
        lines = [f"  {name} = {{{text}}}," for name, text in texts.items()]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])


@cache
def further() -> dict[str, str]:
    """References by key for what is no component, such as adjustments."""
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def read(text: str) -> Reference | None:
    """Return a reference as docstrings have it, or by its key here; None for any other text."""
    if not (parts := _REFERENCE.fullmatch(further().get(text, text))):
        return None
    names, year, title, where = parts.groups()
    title, kind, place = _CHAPTER.sub("", title), "misc", dict[str, str]()
    if volume := re.fullmatch(r"(.+) (\d{1,3})", where or ""):
        kind, place = "article", {"journal": volume[1], "volume": volume[2]}
    elif where:
        book = bool(_PUBLISHER.search(where))
        kind, where_is = ("book", "publisher") if book else ("inproceedings", "booktitle")
        place = {where_is: where}
    authors = re.split(", | & ", names)
    word = next(word for word in re.findall(r"\w+", title) if len(word) > 3)
    letters = unicodedata.normalize("NFKD", f"{authors[0].split()[-1]}{year}{word}".lower())
    fields = {"author": " and ".join(authors), "title": title, "year": year, **place}
    return Reference(re.sub("[^a-z0-9]", "", letters), kind, fields)


def cited(registry: AnyRegistry, specs: Iterable[Spec]) -> list[str]:
    """Return what the docstrings of built-in components cite, and the keys of other packages.

    Learners that learners are made of are included. Nothing that is not built in is looked up.
    """
    every = [(spec.name, spec.resolved.get("learner", "")) for spec in specs]
    names = [str(name) for pair in every for name in pair if name]
    parts = [part for name in names for part in name.split(":")]  # of two-level measures
    own = [describe_component(registry, name) for name in parts if registry.is_own(name)]
    packages = [re.split("[.:]", name)[0] for name in names if ":" in name]
    return [text for each in own for text in each.references] + packages


def bibliography(texts: Iterable[str]) -> list[Reference]:
    """Return the entries of references, each once, by key."""
    entries = {each.key: each for each in map(read, texts) if each}
    return [entries[key] for key in sorted(entries)]
