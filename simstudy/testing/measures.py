"""Contract checks of measures."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from simstudy.arrays import FloatArray, IntArray, smoothed
from simstudy.measures.base import MeasureFunction, MeasureInfo, keywords, parameters, score
from simstudy.testing.contract import Contract, stream

Rows: TypeAlias = dict[str, Any]
_PURE = "a measure must not modify its inputs"


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
    contract = _MeasureContract(measure)
    info = getattr(measure, "info", None)
    if not isinstance(info, MeasureInfo):
        rule = "a measure must carry a MeasureInfo as .info, which register_measure attaches"
        contract.fail(rule, f"its .info is {info!r}")
    for name, parameter in parameters(measure).items():
        stated = parameter.default is not parameter.empty
        contract.require(stated, "parameters of a measure must have defaults", f"{name} has none")
    for classes in (2, 3, 5):
        rows = _draw(classes, 60)
        values = contract.check_values(rows, info.over)
        contract.check_row_order(rows, values)
        if values.ndim or "weights" in keywords(measure):
            contract.check_row_weights(rows)
        if "base" in keywords(measure):
            contract.check_base(rows, info.unit)
        contract.check_direction(info, classes)


def _rows(proba: FloatArray, y: IntArray, prior: FloatArray, truth: FloatArray) -> Rows:
    """Return the arguments of a measure by name; class 1 is the rarer one."""
    # What is clipped is equal to the truth here; the learner's limit is near it.
    arrays = {"proba": proba, "y": y, "prior": prior, "truth": truth, "oracle": truth.copy()}
    return {**arrays, "limit": 0.9 * truth + 0.1 / len(prior), "rarer": 1, "message": (12.0, 34.0)}


def _draw(classes: int, rows: int) -> Rows:
    rng = stream(classes, rows)
    truth = 0.01 / classes + 0.99 * rng.dirichlet(np.ones(classes), size=rows)
    proba = 0.01 / classes + 0.99 * rng.dirichlet(np.ones(classes), size=rows)
    y = np.array([rng.choice(classes, p=row) for row in truth])
    return _rows(proba, y, smoothed(np.bincount(y, minlength=classes)), truth)


def _take(rows: Rows, places: IntArray) -> Rows:
    """Return copies of some of the rows."""
    proba, y, truth = (rows[name][places] for name in ("proba", "y", "truth"))
    return _rows(proba, y, rows["prior"].copy(), truth)


class _MeasureContract(Contract[MeasureFunction]):
    def _score(self, rows: Rows, weights: FloatArray | None = None, base: float = math.e) -> float:
        return score(self.component, weights=weights, base=base, **rows)

    def _values(self, rows: Rows) -> FloatArray:
        """Return the values of the measure before averaging."""
        context = {**rows, "base": math.e, "reward": "mean"}
        declared = {key: context[key] for key in keywords(self.component) & {*context}}
        rule = "it must accept probabilities strictly between 0 and 1, with or without weights"
        returned = self.attempt(rule, self.component, rows["proba"], rows["y"], **declared)
        return np.asarray(returned, dtype=np.float64)

    def check_values(self, rows: Rows, over: str) -> FloatArray:
        """Check the values of a measure, and that its inputs are unchanged."""
        number = len(rows["y"])
        copy = _take(rows, np.arange(number))
        values = self._values(copy)
        for name, array in rows.items():
            self.require(np.array_equal(copy[name], array), _PURE, f"{name} was changed")
        rule = "a measure must return one value per row or one number"
        finding = f"it returned shape {values.shape} for {number} rows"
        self.require(values.shape in ((), (number,)), rule, finding)
        rule = 'a measure with over="set" must return one number'
        self.require(over == "row" or values.shape == (), rule, finding)
        rule = "a measure must be finite where all probabilities are strictly between 0 and 1"
        infinite = int((~np.isfinite(values)).sum())
        self.require(infinite == 0, rule, f"{infinite} of its values are not")
        for row in (0, number - 1) if values.ndim else ():
            alone = self._values(_take(rows, np.array([row])))
            same = alone.shape == (1,) and np.allclose(alone[0], values[row], 1e-9, 1e-12)
            rule = "a row's value must not depend on the other rows"
            finding = f"row {row} has {values[row]} among others and {alone} by itself"
            self.require(same, rule, finding)
        return values

    def check_row_order(self, rows: Rows, values: FloatArray) -> None:
        plain, order = self._score(rows), stream(3).permutation(len(rows["y"]))
        rule = "the order of the rows must not matter"
        self._require_same(plain, self._score(_take(rows, order)), rule, "in another order")
        self._require_same(plain, float(values.mean()), rule, "as the mean of the values")

    def check_row_weights(self, rows: Rows) -> None:
        times = stream(4).integers(0, 4, size=len(rows["y"]))
        weights = times.astype(np.float64)
        weighted = self._score(rows, weights)
        self.require(np.array_equal(weights, times), _PURE, "weights was changed")
        repeated = self._score(_take(rows, np.repeat(np.arange(len(times)), times)))
        rule = "a row of weight w must count as w rows"
        self._require_same(weighted, repeated, rule, "with rows repeated")
        scaled = self._score(rows, weights / weights.sum())
        rule = "only the ratios of weights must matter"
        self._require_same(weighted, scaled, rule, "with weights that sum to one")

    def check_base(self, rows: Rows, unit: str) -> None:
        rule = "a measure that declares base has the unit nats"
        self.require(unit == "nats", rule, f"its unit is {unit!r}")
        nats, bits = self._score(rows), self._score(rows, base=2.0)
        rule = "another base must only change the unit"
        same = math.isclose(nats, bits * math.log(2), rel_tol=1e-9, abs_tol=1e-12)
        self.require(same, rule, f"the score is {nats} nats and {bits} bits")

    def _require_same(self, score: float, again: float, rule: str, how: str) -> None:
        same = math.isclose(score, again, rel_tol=1e-9, abs_tol=1e-12)
        self.require(same, rule, f"the score is {score}, and {again} {how}")

    def check_direction(self, info: MeasureInfo, classes: int) -> None:
        y = np.repeat(np.arange(classes), 20)
        right = np.full((len(y), classes), 0.1 / (classes - 1))
        right[np.arange(len(y)), y] = 0.9
        prior = np.full(classes, 1 / classes)
        when_right = self._score(_rows(right, y, prior, right))
        when_wrong = self._score(_rows(np.roll(right, 1, axis=1), y, prior, right))
        greater = info.greater_is_better
        kept = when_right >= when_wrong if greater else when_right <= when_wrong
        rule = f"with greater_is_better={greater} a confidently right learner must not score worse "
        rule += "than a confidently wrong one"
        if info.partial:
            rule = f"a measure may only be partial if it breaks this rule: {rule}"
        self.require(kept != info.partial, rule, f"they score {when_right} and {when_wrong}")
