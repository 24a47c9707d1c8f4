"""A page as a browser shows it: with its packed parts in their places."""

from __future__ import annotations

import base64
import json
import re
import zlib

_PACKED = re.compile(r'<script type="text/plain" id="packed">([^<]*)</script>')
_PLACE = re.compile(r'(?<= data-view=")(\d+)(">)(?=</div>)')


def unpacked(page: str) -> str:
    """Return a page with all views in their places."""
    views = _parts(page)["views"]
    whole = _PACKED.sub("", page)
    return _PLACE.sub(lambda place: place[0] + views[int(place[1])], whole)


def files(page: str) -> dict[str, str]:
    """Return the files that a page holds, by name."""
    return _parts(page)["files"]


def _parts(page: str) -> dict:
    packed = _PACKED.search(page)
    if packed is None:
        return {"views": [], "files": {}}
    return json.loads(zlib.decompress(base64.b64decode(packed[1])))
