"""Random streams are functions of what they are for."""

from __future__ import annotations

import hashlib
import itertools

import numpy as np

from simstudy.engine.seeds import stream


def test_a_stream_is_the_same_whenever_it_is_asked_for():
    first = stream(1, '["tan", {}]', 3, "train/50").random(5)
    assert (first == stream(1, '["tan", {}]', 3, "train/50").random(5)).all()


def test_streams_for_different_things_differ():
    keys = itertools.product((1, 2), ("a", "b"), (0, 1), ("model", "test", "train/50", "train/500"))
    assert len({stream(*key).random() for key in keys}) == 2 * 2 * 2 * 4


def test_a_stream_keeps_its_place_from_version_to_version():
    # The SHA-256 digest of the key's JSON, as eight little-endian words, seeds PCG64; if this
    # moves, so does every result.
    digest = hashlib.sha256(rb'[2004, "[\"tan\", {}]", 0, "test"]').digest()
    words = [int.from_bytes(digest[i : i + 4], "little") for i in range(0, 32, 4)]
    expected = np.random.Generator(np.random.PCG64(np.random.SeedSequence(words))).random(3)
    assert (stream(2004, '["tan", {}]', 0, "test").random(3) == expected).all()
