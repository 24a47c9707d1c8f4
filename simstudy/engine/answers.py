"""Predictions as text that a cell keeps, so that new measures need no new fits."""

from __future__ import annotations

import base64
import zlib

import numpy as np
import numpy.typing as npt

from simstudy.arrays import FloatArray

ROUNDING = 1e-6  # by which the sum of probabilities may differ from 1
_DAMAGED = "the predictions of a cell are damaged"
_MAX_BYTES = 2**32  # of the predictions of one cell
_Integers = npt.NDArray[np.int64]


def pack(rows: npt.ArrayLike, target: npt.ArrayLike, proba: FloatArray) -> str:
    """Return test rows, their classes and the predictions for them, compressed, as text."""
    numbers = [np.asarray([len(proba)]), np.asarray(rows), np.asarray(target)]
    content = np.concatenate(numbers).astype("<i8").tobytes()
    content += proba.astype("<f8").tobytes(order="C")
    return base64.b64encode(zlib.compress(content)).decode()


def unpack(answers: str) -> tuple[_Integers, _Integers, FloatArray]:
    """Return the rows, their classes and the predictions of `pack`.

    The class is −1 in an exact test. Raises ValueError for anything else than probabilities.
    """
    reader = zlib.decompressobj()
    try:
        content = reader.decompress(base64.b64decode(answers), _MAX_BYTES)
    except zlib.error as error:
        raise ValueError(_DAMAGED) from error
    if reader.unconsumed_tail:
        raise ValueError("the predictions of a cell are too large")
    number = int(np.frombuffer(content, "<i8", 1)[0]) if len(content) >= 8 else 0
    if not 0 < number <= len(content) // 24:
        raise ValueError(_DAMAGED)
    rows, target = (np.frombuffer(content, "<i8", number, 8 + 8 * number * i) for i in (0, 1))
    proba = np.frombuffer(content, "<f8", -1, 8 + 16 * number).reshape(number, -1)
    if not (
        proba.min() >= 0
        and np.abs(proba.sum(axis=1) - 1).max() <= ROUNDING
        and -1 <= target.min() <= target.max() < proba.shape[1]
    ):
        raise ValueError(_DAMAGED)
    return rows, target, proba
