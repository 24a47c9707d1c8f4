"""Lazy Bayesian rules.

Zheng & Webb (2000); the predictions are those of Weka's LBR.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from simstudy.arrays import ArrayLike, BoolArray, FloatArray, IntArray, weights_in
from simstudy.data.attribute_arrays import attribute_codes
from simstudy.data.codes import MISSING, distinct_rows
from simstudy.data.sample import Sample
from simstudy.data.value_layout import SlotLayout
from simstudy.learners.base import Described, Learner, normalise, require
from simstudy.texts import counted

# Log scores within this tolerance are ties up to rounding.
_TIE = 1e-9
# Approximate size of a temporary array; larger work is split.
_PIECE = 2**20


@dataclass(frozen=True)
class LBR(Learner):
    """Lazy Bayesian rules: a local Naive Bayes per query row (Zheng & Webb 2000).

    A rule starts without conditions. Each step considers every attribute not yet in the rule:
    the condition X_i = x_i, with a Naive Bayes (Laplace) over the remaining attributes on the
    training rows that satisfy it. Among the conditions whose leave-one-out errors are
    significantly fewer than those of the current rule, by a one-sided sign test, the one with the
    fewest errors is added (ties to the lowest index). The rule is complete when there is none.

    Duplicate training rows are merged. A row of weight w counts as w rows; leaving one out
    subtracts min(w, 1) from the tables.

    A missing value satisfies no condition, is left out of the counts of its attribute, and is
    skipped when a row is scored.

    Parameters
    ----------
    significance : float >= 0, <= 1
        Significance level of the sign test; with 0 the learner is Naive Bayes.
    missing_as_first : bool
        Whether a missing training value is counted as the first value of its attribute. Weka's LBR
        does so, apparently by oversight; with it, predictions equal Weka's.

    References
    ----------
    Z. Zheng & G. I. Webb (2000). Lazy learning of Bayesian rules. Machine Learning 41.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"missing"})

    significance: float = 0.05
    missing_as_first: bool = False

    def __post_init__(self) -> None:
        allowed = "it must be from 0 to 1"
        require(0 <= self.significance <= 1, "significance", self.significance, allowed)

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> FittedLBR:
        return FittedLBR(sample, self.significance, self.missing_as_first)


class _Rules(NamedTuple):
    """Rules with the training rows they cover and the query rows they apply to.

    ``used[k, i]``: whether attribute i is in rule k. Rule ``rule_of_row[e]`` covers training row
    ``rows[e]``; ``right[e]``: whether it is correct by leave-one-out. ``rule_of_query[e]`` is the
    rule of query ``queries[e]``.
    """

    used: BoolArray
    rows: IntArray
    rule_of_row: IntArray
    right: BoolArray
    queries: IntArray
    rule_of_query: IntArray

    def part(self, kept: BoolArray, asked: BoolArray) -> _Rules:
        """Return the rules in ``kept``, with their queries in ``asked``."""
        number = np.cumsum(kept) - 1
        covers, asked = kept[self.rule_of_row], asked & kept[self.rule_of_query]
        rows = self.rows[covers], number[self.rule_of_row[covers]], self.right[covers]
        queries = self.queries[asked], number[self.rule_of_query[asked]]
        return _Rules(self.used[kept], *rows, *queries)


class FittedLBR(Described):
    """A fitted LBR: the training rows; rules are searched at prediction.

    The gain of a condition depends only on the rule and the condition, so query rows with the
    same rule share each step.
    """

    def __init__(self, sample: Sample, significance: float, missing_as_first: bool = False) -> None:
        self.cards, self._layout = sample.cards, SlotLayout(sample.cards[:-1])
        self._significance = significance
        rows = sample.distinct
        self._columns, self._target = np.ascontiguousarray(rows.attributes.T), rows.target.copy()
        self._plain, self._missing_as_first = rows.plain, missing_as_first
        self._weights = np.ones(len(rows)) if rows.weights is None else rows.weights
        self._rounding = 1e-12 * float(self._weights.sum())
        used, covered = np.zeros((1, len(self._columns)), dtype=np.bool_), np.arange(len(rows))
        none, first = np.zeros(0, dtype=np.intp), np.zeros(len(rows), dtype=np.intp)
        right = self._leave_one_out(used, covered, first)
        self._start = _Rules(used, covered, first, right, none, none)

    def _facts(self) -> list[str]:
        rows = counted(len(self._weights), "distinct row")
        return [*super()._facts(), f"{rows}, rules searched at prediction"]

    def predict_proba(self, rows: Sample | ArrayLike) -> FloatArray:
        """Return P(class | attributes) by the rule of each row, shape (rows, classes)."""
        codes = attribute_codes(rows, self.cards[:-1], missing=True)
        lacking = int((codes == MISSING).any())
        first, inverse = distinct_rows(codes + lacking, [c + lacking for c in self.cards[:-1]])
        columns = np.ascontiguousarray(codes[first].T)
        log_joint = np.empty((len(first), self.cards[-1]))
        zeros = np.zeros(len(first), dtype=np.intp)
        pending = [self._start._replace(queries=np.arange(len(first)), rule_of_query=zeros)]
        while pending:
            rules = pending.pop()
            if len(rules.used) > 1 and len(rules.rows) * len(columns) > _PIECE:
                half = np.arange(len(rules.used)) < len(rules.used) // 2
                everything = np.ones(len(rules.queries), dtype=np.bool_)
                pending += [rules.part(half, everything), rules.part(~half, everything)]
                continue
            longer, finished = self._lengthen(rules, columns)
            if finished.any():
                ending = np.zeros(len(rules.used), dtype=np.bool_)
                ending[rules.rule_of_query[finished]] = True
                last = rules.part(ending, finished)
                log_joint[last.queries] = self._log_joint(last, columns)
            if longer is not None:
                pending.append(longer)
        return normalise(log_joint)[inverse]

    def _lengthen(self, rules: _Rules, columns: IntArray) -> tuple[_Rules | None, BoolArray]:
        """Return the rules with one more condition, and which queries have no such rule."""
        asked = columns[:, rules.queries]
        present = asked != MISSING
        slots = self._layout.slots(np.maximum(asked, 0))
        conditions = rules.rule_of_query * self._layout.size + slots
        worth_trying = self._worth_trying(rules)[conditions]
        worth_trying &= ~rules.used[rules.rule_of_query].T & present
        tried = np.unique(conditions[worth_trying])
        if not len(tried):
            return None, np.ones(len(rules.queries), dtype=np.bool_)
        number = np.full(len(rules.used) * self._layout.size, -1)
        number[tried] = np.arange(len(tried))
        used = rules.used[tried // self._layout.size]
        used[np.arange(len(tried)), self._layout.owner[tried % self._layout.size]] = True
        entries, condition = self._covered(rules, number)
        right = self._leave_out_in_pieces(used, rules.rows[entries], condition)
        gains = self._gains(rules, entries, condition, right, len(tried))
        # The extra entry is for conditions that were not tried.
        gains = np.append(gains, np.inf)[np.where(present, number[conditions], -1)]
        fewest = gains.min(axis=0)
        finished = fewest == np.inf
        choice = (gains <= fewest + self._rounding).argmax(axis=0)
        chosen = number[conditions[choice, np.arange(len(choice))]][~finished]
        if not len(chosen):
            return None, finished
        # The same conditions in another order are the same rule.
        queries = rules.queries[~finished]
        values = np.where(used[chosen], columns[:, queries].T + 1, 0)
        first, rule_of_query = distinct_rows(values, [c + 1 for c in self.cards[:-1]])
        kept = np.full(len(tried), -1)
        kept[chosen[first]] = np.arange(len(first))
        covers = kept[condition] >= 0
        rows, rule_of_row = rules.rows[entries[covers]], kept[condition[covers]]
        used = used[chosen[first]]
        return _Rules(used, rows, rule_of_row, right[covers], queries, rule_of_query), finished

    def _worth_trying(self, rules: _Rules) -> BoolArray:
        """Return whether a condition could pass the sign test, for every rule and slot.

        At best it corrects all e errors of the current rule, with probability 2^-e (so Weka's rule
        to stop below five errors is implied by the test at 0.05); a condition that all rows of the
        rule satisfy changes nothing.
        """
        size = self._layout.size
        columns, places = self._columns[:, rules.rows], len(rules.used) * size
        cells = (rules.rule_of_row * size + self._layout.slots(columns)).ravel()
        wrong = np.tile(np.where(rules.right, 0.0, self._weights[rules.rows]), len(columns))
        if not self._plain:
            present = columns.ravel() != MISSING
            cells, wrong = cells[present], wrong[present]
        errors = np.bincount(cells, wrong, minlength=places)
        fulfil = np.bincount(cells, minlength=places)
        covered = np.bincount(rules.rule_of_row, minlength=len(rules.used))
        return (0.5**errors < self._significance) & (fulfil < np.repeat(covered, size))

    def _covered(self, rules: _Rules, number: IntArray) -> tuple[IntArray, IntArray]:
        """Return the rows of each rule that satisfy each condition, as (entry, condition)."""
        columns = self._columns[:, rules.rows]
        condition = number[rules.rule_of_row * self._layout.size + self._layout.slots(columns)]
        if not self._plain:
            condition[columns == MISSING] = -1
        return np.nonzero(condition >= 0)[1], condition[condition >= 0]

    def _gains(
        self, rules: _Rules, entries: IntArray, condition: IntArray, right: BoolArray, tried: int
    ) -> FloatArray:
        """Return the change of errors by each condition; infinite where not significant."""
        from scipy.special import betainc  # needed at prediction only

        weights, before = self._weights[rules.rows[entries]], rules.right[entries]
        worse = np.bincount(condition, weights * (before & ~right), minlength=tried)
        better = np.bincount(condition, weights * (right & ~before), minlength=tried)
        # P(at most `worse` heads in `worse + better` tosses), also for fractional rows.
        chance = np.where(better > 0, betainc(np.maximum(better, 1e-300), worse + 1, 0.5), 1.0)
        return np.where(chance < self._significance, worse - better, np.inf)

    def _leave_out_in_pieces(self, used: BoolArray, rows: IntArray, rule: IntArray) -> BoolArray:
        """Apply `_leave_one_out` to blocks of rules."""
        if len(rows) * self.cards[-1] <= _PIECE:
            return self._leave_one_out(used, rows, rule)
        sizes = np.cumsum(np.bincount(rule, minlength=len(used)))
        piece = (sizes - 1) * self.cards[-1] // _PIECE
        right = np.empty(len(rows), dtype=np.bool_)
        for number in np.unique(piece):
            here = np.flatnonzero(piece == number)
            covered = piece[rule] == number
            right[covered] = self._leave_one_out(used[here], rows[covered], rule[covered] - here[0])
        return right

    def _leave_one_out(self, used: BoolArray, rows: IntArray, rule: IntArray) -> BoolArray:
        """Return whether the Naive Bayes of each rule, fitted without a row, is right about it.

        Ties go to the first class.
        """
        target, rules, columns = self._target[rows], len(used), self._columns[:, rows]
        weights = self._weights[rows]
        removed = np.minimum(weights, 1.0)
        cells, classes = target * rules + rule, self.cards[-1]
        totals = weights_in(cells, weights, classes * rules).reshape(classes, rules)
        without = of_class_without = np.maximum(totals.ravel()[cells] - removed, 0.0)
        scores, row_scores = np.log(totals + 1.0)[:, rule], np.log(without + 1.0)
        for values, card, free in zip(columns, self.cards[:-1], ~used.T, strict=True):
            counts, of_class, terms = self._tables(values, card, free, weights, cells, totals)
            if not self._plain:
                present, values = values != MISSING, np.maximum(values, 0)
                of_class_without = np.maximum(of_class.ravel()[cells] - removed, 0.0)
            gathered = terms.take(rule * card + values, axis=1)
            counts_without = np.maximum(counts[cells * card + values] - removed, 0.0)
            row_term = np.log((counts_without + 1.0) / (of_class_without + card)) * free[rule]
            scores += gathered if self._plain else gathered * present
            row_scores += row_term if self._plain else row_term * present
        scores[target, np.arange(len(rows))] = row_scores
        right: BoolArray = (scores >= scores.max(axis=0) - _TIE).argmax(axis=0) == target
        return right

    def _tables(
        self,
        values: IntArray,
        card: int,
        free: BoolArray,
        weights: FloatArray,
        cells: IntArray,
        totals: FloatArray,
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the tables of an attribute in each class and rule.

        They are the counts by value, flat, those of all values, and log P(value | class, rule),
        shape (classes, rules times values), 0 unless the attribute is ``free`` of conditions.
        """
        if not self._plain:
            if not self._missing_as_first:
                weights = weights * (values != MISSING)
            values = np.maximum(values, 0)
        counts = weights_in(cells * card + values, weights, totals.size * card)
        by_value = counts.reshape(*totals.shape, card)
        of_class = totals if self._plain else by_value.sum(axis=2)
        table = by_value + 1.0
        table /= of_class[:, :, None] + card
        terms = np.log(table) * free[:, None]
        return counts, of_class, terms.reshape(len(totals), -1)

    def _log_joint(self, rules: _Rules, columns: IntArray) -> FloatArray:
        """Return log P(class, remaining attributes) of the queries by their rules' Naive Bayes."""
        rule, rows, weights = rules.rule_of_query, rules.rows, self._weights[rules.rows]
        number, classes = len(rules.used), self.cards[-1]
        cells = self._target[rows] * number + rules.rule_of_row
        totals = weights_in(cells, weights, classes * number).reshape(classes, number)
        log_prior = np.log((totals + 1.0) / (totals.sum(axis=0) + len(totals)))
        log_joint = np.zeros((classes, len(rule)))
        for i, asked in enumerate(columns[:, rules.queries]):
            card, free, values = self.cards[i], ~rules.used[:, i], self._columns[i, rows]
            terms = self._tables(values, card, free, weights, cells, totals)[2]
            gathered = terms.take(rule * card + asked, axis=1)
            log_joint += np.where(asked == MISSING, 0.0, gathered)
        return (log_joint + log_prior[:, rule]).T
