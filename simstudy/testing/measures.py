"""Contract checks of measures."""

from __future__ import annotations

import math

import numpy as np

from simstudy.arrays import FloatArray, IntArray, smoothed
from simstudy.measures.base import MeasureFunction, MeasureInfo, keywords, parameters, score
from simstudy.testing.contract import Contract, stream

_MESSAGE = (12.0, 34.0)  # lengths of theory and data
_PURE = "a measure must not modify its inputs"
_RARER = 1  # the class that is rarer in the population


def check_measure(measure: MeasureFunction) -> None:
    """Check that a measure satisfies its contract.

    - It carries a `MeasureInfo` as ``.info``.
    - Its parameters have defaults.
    - It returns one value per row, or one number, as it must if it is over sets; finite if all
      probabilities are strictly between 0 and 1. It does not modify its inputs.
    - A row's value does not depend on the other rows; the order of the rows does not matter.
    - If it takes weights, a row of weight 2 counts as two rows, and only their ratios matter; it
      also works without weights.
    - If it declares ``base``, its unit is nats and another base only changes the unit.
    - A learner that is confidently right scores no worse than one that is confidently wrong,
      according to ``info.greater_is_better``. Only one that says so with ``info.partial`` may, and
      must, break this rule.

    Parameters
    ----------
    measure : callable
        The measure, decorated by `register_measure` or `simstudy.measures.base.measure`.

    Raises
    ------
    AssertionError
        States in one sentence what the contract requires and what was found.
    """
    contract = Contract(measure)
    info = getattr(measure, "info", None)
    if not isinstance(info, MeasureInfo):
        rule = "a measure must carry a MeasureInfo as .info, which register_measure attaches"
        contract.fail(rule, f"its .info is {info!r}")
    for name, parameter in parameters(measure).items():
        stated = parameter.default is not parameter.empty
        contract.require(stated, "parameters of a measure must have defaults", f"{name} has none")
    for classes in (2, 3, 5):
        rows = _Rows.draw(classes, 60)
        values = _check_values(contract, measure, rows, info.over)
        _check_row_order(contract, measure, rows, values)
        if values.ndim or "weights" in keywords(measure):
            _check_row_weights(contract, measure, rows)
        if "base" in keywords(measure):
            _check_base(contract, measure, info.unit, rows)
        _check_direction(contract, measure, info, classes)


class _Rows:
    """The arguments of a measure."""

    def __init__(
        self, proba: FloatArray, y: IntArray, prior: FloatArray, truth: FloatArray
    ) -> None:
        self.proba, self.y, self.prior, self.truth = proba, y, prior, truth
        # What is clipped is equal to the truth here; the learner's limit is near it.
        self.oracle, self.limit = truth.copy(), 0.9 * truth + 0.1 / len(prior)

    @classmethod
    def draw(cls, classes: int, rows: int) -> _Rows:
        rng = stream(classes, rows)
        truth = 0.01 / classes + 0.99 * rng.dirichlet(np.ones(classes), size=rows)
        proba = 0.01 / classes + 0.99 * rng.dirichlet(np.ones(classes), size=rows)
        y = np.array([rng.choice(classes, p=row) for row in truth])
        return cls(proba, y, smoothed(np.bincount(y, minlength=classes)), truth)

    def __getitem__(self, rows: IntArray) -> _Rows:
        return _Rows(self.proba[rows], self.y[rows], self.prior.copy(), self.truth[rows])

    def score(
        self, measure: MeasureFunction, weights: FloatArray | None = None, base: float = math.e
    ) -> float:
        context = {**vars(self), "rarer": _RARER, "message": _MESSAGE}
        return score(measure, weights=weights, base=base, **context)

    def values(self, contract: Contract, measure: MeasureFunction) -> FloatArray:
        """Return the values of the measure before averaging."""
        context = {**vars(self), "base": math.e, "reward": "mean"}
        context |= {"rarer": _RARER, "message": _MESSAGE}
        declared = {key: context[key] for key in keywords(measure) & {*context}}
        rule = "it must accept probabilities strictly between 0 and 1, with or without weights"
        returned = contract.attempt(rule, lambda: measure(self.proba, self.y, **declared))
        return np.asarray(returned, dtype=np.float64)


def _check_values(
    contract: Contract, measure: MeasureFunction, rows: _Rows, over: str
) -> FloatArray:
    """Check the values of a measure, and that its inputs are unchanged."""
    copy = rows[np.arange(len(rows.y))]
    values = copy.values(contract, measure)
    for name, array in vars(rows).items():
        contract.require(np.array_equal(vars(copy)[name], array), _PURE, f"{name} was changed")
    rule = "a measure must return one value per row or one number"
    finding = f"it returned shape {values.shape} for {len(rows.y)} rows"
    contract.require(values.shape in ((), rows.y.shape), rule, finding)
    rule = 'a measure with over="set" must return one number'
    contract.require(over == "row" or values.shape == (), rule, finding)
    contract.require(
        bool(np.isfinite(values).all()),
        "a measure must be finite where all probabilities are strictly between 0 and 1",
        f"{int((~np.isfinite(values)).sum())} of its values are not",
    )
    if values.ndim:
        for row in (0, len(rows.y) - 1):
            alone = rows[np.array([row])].values(contract, measure)
            contract.require(
                alone.shape == (1,) and np.allclose(alone[0], values[row], rtol=1e-9, atol=1e-12),
                "a row's value must not depend on the other rows",
                f"row {row} has {values[row]} among others and {alone} alone",
            )
    return values


def _check_row_order(
    contract: Contract, measure: MeasureFunction, rows: _Rows, values: FloatArray
) -> None:
    order = stream(3).permutation(len(rows.y))
    plain, shuffled = rows.score(measure), rows[order].score(measure)
    rule = "the order of the rows must not matter"
    _check_same(contract, plain, shuffled, rule, "in another order")
    _check_same(contract, plain, float(values.mean()), rule, "as the mean of the values")


def _check_row_weights(contract: Contract, measure: MeasureFunction, rows: _Rows) -> None:
    times = stream(4).integers(0, 4, size=len(rows.y))
    weights = times.astype(np.float64)
    weighted = rows.score(measure, weights=weights)
    contract.require(np.array_equal(weights, times), _PURE, "weights was changed")
    repeated = rows[np.repeat(np.arange(len(rows.y)), times)].score(measure)
    rule = "a row of weight w must count as w rows"
    _check_same(contract, weighted, repeated, rule, "with rows repeated")
    scaled = rows.score(measure, weights=weights / weights.sum())
    rule = "only the ratios of weights must matter"
    _check_same(contract, weighted, scaled, rule, "with weights that sum to one")


def _check_base(contract: Contract, measure: MeasureFunction, unit: str, rows: _Rows) -> None:
    rule = "a measure that declares base has the unit nats"
    contract.require(unit == "nats", rule, f"its unit is {unit!r}")
    nats, bits = rows.score(measure), rows.score(measure, base=2.0)
    rule = "another base must only change the unit"
    same = math.isclose(nats, bits * math.log(2), rel_tol=1e-9, abs_tol=1e-12)
    contract.require(same, rule, f"the score is {nats} nats and {bits} bits")


def _check_same(contract: Contract, score: float, again: float, rule: str, how: str) -> None:
    same = math.isclose(score, again, rel_tol=1e-9, abs_tol=1e-12)
    contract.require(same, rule, f"the score is {score}, and {again} {how}")


def _check_direction(
    contract: Contract, measure: MeasureFunction, info: MeasureInfo, classes: int
) -> None:
    y = np.repeat(np.arange(classes), 20)
    right = np.full((len(y), classes), 0.1 / (classes - 1))
    right[np.arange(len(y)), y] = 0.9
    prior = np.full(classes, 1 / classes)
    when_right, when_wrong = (
        _Rows(proba, y, prior, right).score(measure) for proba in (right, np.roll(right, 1, axis=1))
    )
    greater = info.greater_is_better
    kept = when_right >= when_wrong if greater else when_right <= when_wrong
    rule = (
        f"with greater_is_better={greater} a confidently right learner must not score worse than a "
        "confidently wrong one"
    )
    if info.partial:
        rule = f"a measure is only partial if not so: {rule}"
    contract.require(kept != info.partial, rule, f"they score {when_right} and {when_wrong}")
