"""Random streams that depend only on their purpose."""

from __future__ import annotations

import hashlib
import json

import numpy as np


def stream_key(seed: int, family: str, model: int, role: str) -> str:
    """The purpose of a stream, as the text that seeds it."""
    return json.dumps([seed, family, model, role])


def stream(seed: int, family: str, model: int, role: str) -> np.random.Generator:
    """The random stream of one role in one model of a study.

    ``family`` is the identity of the family: its name and the parameters that differ from their
    defaults. Roles are ``model``, ``test``, ``train/<size>`` and ``learner/<identity>/<size>``.
    """
    digest = hashlib.sha256(stream_key(seed, family, model, role).encode()).digest()
    words = np.frombuffer(digest, dtype="<u4").astype(np.uint32)  # the same seed as a list of them
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(words)))
