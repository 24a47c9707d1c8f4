"""The interface of measures: a pure function with metadata, and how it is called.

A measure is ``f(proba, y, *, prior, truth, oracle, limit, weights, base, reward, rarer,
message)``. It declares only the keywords it needs, and may have parameters, which have
defaults. A measure over rows returns one value per row, of which the mean is taken; a measure over
sets returns one number for all rows.
"""

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial, wraps
from typing import Any, Literal, ParamSpec, Protocol, TypeAlias, TypedDict, TypeVar, Unpack, cast

import numpy as np

from simstudy.arrays import ArrayLike, FloatArray, IntArray

Weights: TypeAlias = FloatArray | None  # of rows; without them all count alike
NATS = math.e  # the base of logarithms, unless another is stated


class Context(TypedDict, total=False):
    """What a measure may declare; see `score`."""

    prior: FloatArray | None
    truth: FloatArray | None
    oracle: FloatArray | None
    limit: FloatArray | None
    weights: Weights
    base: float
    reward: str
    rarer: int | None
    message: tuple[float, float] | None


CONTEXT_KEYWORDS = frozenset(Context.__annotations__)

_FAR = 2.0**-200  # weights of this size or its inverse are scaled

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
MeasureFunction: TypeAlias = Callable[..., float | FloatArray]
Keywords: TypeAlias = dict[str, Any]  # arguments of a measure: context and parameters


@dataclass(frozen=True)
class MeasureInfo:
    """Metadata of a measure for the engine and the report.

    Parameters
    ----------
    greater_is_better : bool
        Whether greater values are better.
    logarithmic : bool
        Whether the measure takes logarithms of probabilities; the engine clips probabilities for
        these measures only.
    label : str
        The axis label.
    unit : str
        ``"nats"`` for a measure that takes ``base`` (the report names the unit of the chosen
        base), ``"bits"`` for one that is always in base 2, ``"%"`` for a percentage, empty
        otherwise.
    zero : str
        The meaning of 0, if it deserves a reference line in figures.
    over : {"row", "set"}
        Whether the measure is a mean of one value per row, or one number for a set of rows.
    partial : bool
        Whether the measure counts only one kind of error, so that a learner that is always wrong
        may score better than one that is always right.
    share : bool
        Whether a score is a share of the choices, intervals or tests of a model, with binomial
        intervals over models; not for measures of learners.
    equivalent : float, optional
        Differences up to this count as practically equivalent; 0 if none do, and in nats for a
        measure that takes ``base``. If left out: one hundredth of a bit for nats and bits, 1 for
        percentages, and .01 for measures without a unit, taken to lie between 0 and 1.
    """

    greater_is_better: bool
    logarithmic: bool = False
    label: str = ""
    unit: str = ""
    zero: str = ""
    over: Literal["row", "set"] = "row"
    partial: bool = False
    share: bool = False
    equivalent: float | None = None


class Undefined(float):
    """A value that does not exist, NaN, with the reason."""

    reason: str

    def __new__(cls, reason: str) -> "Undefined":
        """Make a NaN that knows its reason."""
        value = super().__new__(cls, math.nan)
        value.reason = reason
        return value


class Measure(Protocol[P, R_co]):
    """A function that carries a `MeasureInfo`."""

    info: MeasureInfo
    __name__: str
    __qualname__: str

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...

    def __hash__(self) -> int: ...


class MeasureOptions(TypedDict, total=False):
    """The optional keywords of `measure`; see `MeasureInfo`."""

    logarithmic: bool
    label: str
    unit: str
    zero: str
    over: Literal["row", "set"]
    partial: bool
    equivalent: float | None


def measure(
    *, greater_is_better: bool, **options: Unpack[MeasureOptions]
) -> Callable[[Callable[P, R_co]], Measure[P, R_co]]:
    """Attach a `MeasureInfo` to a function as ``.info``, and let it ignore other context.

    All measures can then be called alike, ``f(proba, y, prior=…, weights=…)``. A measure over sets
    that takes no weights refuses them; one that takes them refuses those that are no weights.
    """
    info = MeasureInfo(greater_is_better, **options)
    if info.equivalent is not None and not 0 <= info.equivalent < math.inf:
        raise ValueError(f"equivalent is {info.equivalent!r}; it must be a number of at least 0")

    def attach(function: Callable[P, R_co]) -> Measure[P, R_co]:
        name, unused = function.__name__, CONTEXT_KEYWORDS - keywords(function)

        @wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R_co:
            for key in unused.intersection(kwargs):
                if kwargs.pop(key) is not None and key == "weights" and info.over == "set":
                    raise ValueError(f"measure {name!r} takes no weights of rows")
            if info.over == "set" and (weights := kwargs.get("weights")) is not None:
                kwargs["weights"] = usable_weights(name, cast(FloatArray, weights))
            return function(*args, **kwargs)

        measured = cast(Measure[P, R_co], called)
        measured.info = replace(info, label=info.label or name.replace("_", " "))
        return measured

    return attach


_kept: dict[tuple[object, ...], tuple[object, FloatArray]] | None = None


@contextmanager
def sharing() -> Iterator[None]:
    """Let `shared` functions keep results of read-only arrays, which must not change meanwhile."""
    global _kept
    before, _kept = _kept, {}
    try:
        yield
    finally:
        _kept = before


def shared(function: Callable[P, FloatArray]) -> Callable[P, FloatArray]:
    """Compute a part of several measures only once for the same arrays, within `sharing`."""

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> FloatArray:
        arrays = [arg for arg in args if isinstance(arg, np.ndarray)]
        if _kept is None or kwargs or any(array.flags.writeable for array in arrays):
            return function(*args, **kwargs)
        key = (function, *(id(arg) if isinstance(arg, np.ndarray) else arg for arg in args))
        if key not in _kept:
            _kept[key] = (
                args,
                function(*args, **kwargs),
            )  # holds the arrays, so that their ids stay theirs
        return _kept[key][1].copy()

    return called


def plain_measure(function: MeasureFunction) -> tuple[MeasureFunction, Keywords]:
    """Return a measure and the parameters it was given by `functools.partial`."""
    return (function.func, function.keywords) if isinstance(function, partial) else (function, {})


def info_of(function: MeasureFunction) -> MeasureInfo | None:
    """Return the metadata of a measure, also of one with parameters; None if it has none."""
    return getattr(plain_measure(function)[0], "info", None)


def function_name(function: MeasureFunction) -> str:
    """Return the name of a measure, also of one with parameters."""
    return str(getattr(plain_measure(function)[0], "__name__", repr(function)))


@lru_cache
def _named(function: MeasureFunction) -> dict[str, inspect.Parameter]:
    """Return the arguments that can be given by name, except probabilities and classes."""
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    items = [*inspect.signature(function).parameters.items()]
    return {name: parameter for name, parameter in items[2:] if parameter.kind in by_name}


@lru_cache
def keywords(function: MeasureFunction) -> frozenset[str]:
    """Return the context keywords that a measure declares; ``**kwargs`` declares none."""
    return CONTEXT_KEYWORDS.intersection(_named(function))


def parameters(function: MeasureFunction) -> dict[str, inspect.Parameter]:
    """Return the parameters of a measure: what a study may set beside the context."""
    return {k: named for k, named in _named(function).items() if k not in CONTEXT_KEYWORDS}


def has_exact_value(function: Measure[..., float | FloatArray]) -> bool:
    """Whether a measure has a value on the joint distribution: a mean, or one with weights."""
    return function.info.over == "row" or "weights" in keywords(function)


def score(
    function: MeasureFunction,
    proba: FloatArray,
    y: IntArray,
    *,
    prior: FloatArray | None = None,
    truth: FloatArray | None = None,
    oracle: FloatArray | None = None,
    limit: FloatArray | None = None,
    weights: Weights = None,
    base: float = math.e,
    reward: str = "mean",
    rarer: int | None = None,
    message: tuple[float, float] | None = None,
    **parameters: object,
) -> float:
    """Call a measure with the keywords it declares and reduce the result to one number.

    Parameters
    ----------
    function : callable
        The measure.
    proba : array of shape (n, k)
        The learner's probability of every class, for every row.
    y : array of shape (n,)
        The true class of every row, as codes 0 to k − 1.
    prior : array of shape (k,), optional
        The prior probability of every class.
    truth : array of shape (n, k), optional
        The true class posterior of every row.
    oracle : array of shape (n, k), optional
        The same, clipped like ``proba``.
    limit : array of shape (n, k), optional
        The learner's prediction with unlimited training data, clipped like ``proba``.
    weights : array of shape (n,), optional
        Row weights, with any positive sum. Rows of weight 0 are ignored, even if their value is
        infinite.
    base : float
        The base of the logarithms, for measures that take one.
    reward : {"mean", "sum"}
        How the information reward combines the classes, for measures based on it.
    rarer : int, optional
        The class that is rarer in the population: the positive one, unless another is named.
    message : pair of float, optional
        The lengths of the learner's message in nats: its model, and the training data given it.
    **parameters
        The parameters of the measure, such as the ``matrix`` of `cost`.

    Returns
    -------
    float
        The (weighted) mean of a measure with one value per row, else the value of the measure;
        an `Undefined` NaN has a reason.
    """
    name = function_name(function)
    arrays = {"prior": prior, "truth": truth, "oracle": oracle, "limit": limit, "weights": weights}
    _check_shapes(name, proba, y, arrays)
    weights = None if weights is None else usable_weights(name, weights)
    context: dict[str, object] = {"base": base, "reward": reward, "rarer": rarer}
    context |= {**arrays, "weights": weights, "message": message}
    declared = keywords(function)
    present = {key: context[key] for key in declared if context[key] is not None}
    if absent := _required(function) - present.keys():
        raise ValueError(f"measure {name!r} needs {min(absent)!r}, which was not given")

    value = function(proba, y, **present, **parameters)
    if isinstance(value, Undefined):
        return value
    returned = np.asarray(value)
    if returned.dtype.kind not in "fiub":
        text = f"an array of {returned.dtype}" if returned.ndim else returned[()]
        raise ValueError(f"measure {name!r} returned {text}, which is not a number")
    values = returned.astype(np.float64, copy=False)
    if values.ndim == 0:
        if weights is not None and "weights" not in declared:
            text = f"measure {name!r} returns one number for all rows and declares no 'weights'"
            raise ValueError(f"{text}, so it cannot score weighted rows")
        return float(values)
    if values.shape != (len(y),):
        text = f"measure {name!r} returned shape {values.shape} for {len(y)} rows"
        raise ValueError(f"{text}; it must return one value per row or one number")
    return _mean(values, weights)


@lru_cache
def _required(function: MeasureFunction) -> frozenset[str]:
    """Return the context keywords that a measure has no default for."""
    empty, named = inspect.Parameter.empty, _named(function)
    return frozenset(name for name in keywords(function) if named[name].default is empty)


def _check_shapes(
    name: str, proba: FloatArray, y: IntArray, arrays: Mapping[str, FloatArray | None]
) -> None:
    """Raise an error for arrays whose shapes or values would give a wrong result."""
    needs = f"measure {name!r} needs"
    if np.ndim(proba) != 2 or len(proba) == 0:
        needs += " probabilities of shape (rows, classes) with at least one row"
        raise ValueError(f"{needs}, not {np.shape(proba)}")
    n, k = np.shape(proba)
    shapes = {"y": (n,), "prior": (k,), "weights": (n,)}
    for keyword, array in {"y": y, **arrays}.items():
        expected = shapes.get(keyword, (n, k))
        if array is not None and np.shape(array) != expected:
            raise ValueError(f"{needs} {keyword!r} of shape {expected}, not {np.shape(array)}")
    least, most = np.min(y), np.max(y)
    if least < 0 or most >= k:
        raise ValueError(f"{needs} true classes from 0 to {k - 1}, not {least} to {most}")


def usable_weights(name: str, weights: FloatArray) -> FloatArray:
    """Return weights whose products neither overflow nor vanish; refuse what are no weights."""
    weights = np.asarray(weights)
    least, most = (float(weights.min()), float(weights.max())) if weights.size else (0.0, 0.0)
    if not (least >= 0 and 0 < most < math.inf):  # also of NaN
        raise ValueError(f"measure {name!r} needs finite weights of at least 0 with a positive sum")
    if _FAR < most < 1 / _FAR:
        return weights
    # A power of two changes no digit.
    return np.ldexp(weights.astype(np.float64), -math.frexp(most)[1])


def _mean(values: FloatArray, weights: Weights) -> float:
    """Average values, ignoring rows of weight 0 (0 times infinity is NaN)."""
    with np.errstate(invalid="ignore"):  # infinity minus infinity
        if weights is None:
            mean = float(values.mean())
        else:
            weights = np.asarray(weights, dtype=np.float64)
            present = weights > 0
            values, weights = values[present], weights[present]
            mean = float((values * weights).sum() / weights.sum())
    if math.isnan(mean):
        absent = int(np.isnan(values).sum())
        text = f"it is nan in {absent} of {len(values)} rows"
        return Undefined(text if absent else "some rows have the value inf, others −inf")
    return mean


def clip(proba: FloatArray, cutoff: str, n: float) -> FloatArray:
    """Clip probabilities to the extremes that ``n`` training rows can support.

    ``mml`` clips to [½/(n + k/2), (n + ½)/(n + k/2)] (Hope & Korb 2002), ``2001`` to
    [½/(n + 1), (n + ½)/(n + 1)] (Korb, Hope & Hughes 2001), ``epsilon`` to [ε, 1 − ε] with ε the
    precision of a double, as scikit-learn does, ``none`` does not clip. Rows are not renormalised.
    """
    return proba if cutoff == "none" else np.clip(proba, *extremes(cutoff, n, proba.shape[1]))


def extremes(cutoff: str, n: float, classes: int) -> tuple[float, float]:
    """Return the least and the greatest probability that `clip` leaves."""
    if cutoff == "epsilon":
        return np.finfo(np.float64).eps, 1 - np.finfo(np.float64).eps
    total = n + (classes / 2 if cutoff == "mml" else 1.0)
    return 0.5 / total, (n + 0.5) / total


def divided(numbers: ArrayLike, by: ArrayLike, absent: float = math.nan) -> FloatArray:
    """Return quotients; ``absent`` where the divisor is 0."""
    quotients = np.full(np.shape(numbers), absent)
    return np.divide(numbers, by, out=quotients, where=np.asarray(by) != 0)


def modal_class(proba: FloatArray) -> IntArray:
    """Return the most probable class of every row; ties go to the lowest class index."""
    return np.argmax(proba, axis=1)


def pick(proba: FloatArray, classes: IntArray) -> FloatArray:
    """Return the probability of one class per row."""
    rows = np.arange(len(classes))
    return np.asarray(proba, dtype=np.float64)[rows, np.asarray(classes, dtype=np.intp)]
