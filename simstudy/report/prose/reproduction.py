"""What is needed to run a study again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_DIGITS = 12  # of a digest


def needed(manifest: Mapping[str, Any]) -> list[str]:
    """Sentences on what a study needs beside its file, from the manifest."""
    sentences = []
    if files := [*manifest["plugins"], *manifest["plugin_files"]]:
        sentences.append(f"It needs the plugin files beside it in the results: {', '.join(files)}.")
    if session := manifest["session"]:
        named = [_named(*item) for item in session.items()]
        listed = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
        one = len(named) == 1
        sentences.append(
            f"The file alone cannot be run: {listed} {'was' if one else 'were'} registered in a "
            f"script or notebook, not in a plugin, so {'its' if one else 'their'} source is not "
            f"in the results. Execute {'that definition' if one else 'those definitions'} first "
            "and run the study from Python, or move "
            f"{'it' if one else 'them'} to a plugin file."
        )
    return sentences


def _named(component: str, digest: str) -> str:
    kind, _, name = component.partition(" ")
    source = f"source digest {digest[:_DIGITS]}" if digest else "source unknown"
    return f"the {kind} “{name}” ({source})"


def same_scores(manifest: Mapping[str, Any]) -> str:
    """When the study gives the same scores again."""
    defined = ", the same definitions" if manifest["session"] else ""
    return (
        f"The same study with the same versions{defined} and the same kind of processor gives the "
        "same scores, byte for byte, however many processes run it. The fingerprint is a digest "
        "of everything that the scores depend on."
    )
