"""What is needed to run a study again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from simstudy.report.prose.phrases import listed

_DIGITS = 12  # of a digest


def needed(manifest: Mapping[str, Any]) -> list[str]:
    """Sentences on what a study needs beside its file."""
    sentences = []
    if files := [*manifest["plugins"], *manifest["plugin_files"]]:
        sentences.append(f"It needs the plugin files beside it in the results: {', '.join(files)}.")
    # A classifier named by its path has the version of its package, if there is one.
    sources = manifest["conditions"]["source"].items()
    modules = {
        name.partition(":")[0]: f"{name.partition(':')[0]} ({_source(digest)})"
        for name, digest in sources
        if ":" in name and re.fullmatch("([0-9a-f]{64})?", digest)
    }
    if modules:
        named, one = [*modules.values()], len(modules) == 1
        sentences.append(
            f"It needs the {'module' if one else 'modules'} {listed(named, most=len(named))}, "
            f"which {'is' if one else 'are'} not in the results."
        )
    if session := manifest["session"]:
        named = [_named(*item) for item in session.items()]
        one = len(named) == 1
        sentences.append(
            f"The file alone cannot be run: {listed(named, most=len(named))} "
            f"{'was' if one else 'were'} registered in a script or notebook, not in a plugin, so "
            f"{'its' if one else 'their'} source is not in the results. Execute "
            f"{'that definition' if one else 'those definitions'} first and run the study from "
            f"Python, or move {'it' if one else 'them'} to a plugin file."
        )
    return sentences


def _named(component: str, digest: str) -> str:
    kind, _, name = component.partition(" ")
    return f"the {kind} “{name}” ({_source(digest)})"


def _source(digest: str) -> str:
    return f"source digest {digest[:_DIGITS]}" if digest else "source unknown"


def same_scores(manifest: Mapping[str, Any]) -> str:
    """When the study gives the same scores again."""
    defined = ", the same definitions" if manifest["session"] else ""
    return (
        f"The same study with the same versions{defined} and the same kind of processor gives the "
        "same scores, byte for byte, however many processes run it. The fingerprint is a digest "
        "of everything that the scores depend on."
    )
