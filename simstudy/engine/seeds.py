"""Random streams that depend only on what they are for."""

from __future__ import annotations

import hashlib
import json

import numpy as np


def stream_key(seed: int, family: str, model: int, role: str) -> str:
    """What a stream is for, as the text that seeds it."""
    return json.dumps([seed, family, model, role])


def stream(seed: int, family: str, model: int, role: str) -> np.random.Generator:
    """The random stream of one role in one model of a study.

    Parameters
    ----------
    seed : int
        The study's seed.
    family : str
        The identity of the family: its name and the parameters that differ from their defaults.
    model : int
        The index of the model.
    role : str
        What the stream is for: ``model``, ``test``, ``train/<size>`` or
        ``learner/<identity>/<size>``.
    """
    digest = hashlib.sha256(stream_key(seed, family, model, role).encode()).digest()
    words = np.frombuffer(digest, dtype="<u4").astype(np.uint32)  # the same seed as a list of them
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(words)))
