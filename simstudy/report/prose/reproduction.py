"""What is needed to run a study again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from simstudy.report.prose.phrases import listed

_DIGITS = 12  # of a digest


def needed(manifest: Mapping[str, Any]) -> list[str]:
    """Sentences on what a study needs beside its file."""
    files = ", ".join([*manifest["plugins"], *manifest["plugin_files"]])
    sentences = [f"It needs the plugin files beside it in the results: {files}."] * bool(files)
    # A classifier named by its path has the version of its package, if there is one.
    modules = {
        name.partition(":")[0]: digest
        for name, digest in manifest["conditions"]["source"].items()
        if ":" in name and re.fullmatch("([0-9a-f]{64})?", digest)
    }
    if modules:
        sentences.append(f"It needs modules that are not in the results: {_named(modules)}.")
    if session := manifest["session"]:
        quoted = {re.sub(r"^(\S+) (.*)$", r"the \1 “\2”", key): session[key] for key in session}
        sentences.append(
            "It cannot be run from its file: the source of components that a script or notebook "
            f"registered is not in the results: {_named(quoted)}. Execute the definitions first "
            "and run the study from Python, or move them to a plugin file."
        )
    return sentences


def _named(digests: Mapping[str, str]) -> str:
    """Names with the digests of their sources."""
    each = [
        f"{name} ({f'source digest {digest[:_DIGITS]}' if digest else 'source unknown'})"
        for name, digest in digests.items()
    ]
    return listed(each, most=len(each))


def same_scores(manifest: Mapping[str, Any]) -> str:
    """When the study gives the same scores again."""
    defined = ", the same definitions" if manifest["session"] else ""
    return (
        f"The same study with the same versions{defined} and the same kind of processor gives the "
        "same scores, byte for byte, whatever the number of processes. The fingerprint is a digest "
        "of everything that the scores depend on."
    )
