"""Quick checks of a table by two cheap learners: leaks, groups, copies, the order of rows.

Naive Bayes and the nearest neighbour predict at most 1,000 rows in ten folds. Folds that keep rows
of a group, or rows near each other in the file, together are compared with the same folds after
their rows are exchanged at random within each class. If the rows of a class are exchangeable, both
have the same distribution, whatever the learner: a share of right predictions that lies outside of
what exchanged folds give shows that they are not. Folds that keep equal rows together depend on the
rows themselves, so that both shares are stated without a test.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np
from scipy.special import stdtr

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.checks import MIN_ROWS, equal_rows, screened
from simstudy.data.files.columns import listed
from simstudy.data.sample import Sample
from simstudy.texts import counted

_ROWS, _FOLDS, _REPEATS = 1000, 10, 15
_EXPLAINED, _FEW = 0.9, 10  # of the errors of guessing, by a column asked about; rows of a class
_LEVEL, _LEAST = 0.0001, 0.03  # of a test; the difference that is mentioned
_GROUPS, _NUMBERED, _CANDIDATES = 5, 20, 4  # least groups: labels, numbers; columns that are tried
_OF_GROUP = 10  # rows that are drawn of each of many groups
_SMOOTH = 0.5  # correlation of neighbouring groups
_RARE, _COMMON = 20, 0.9  # rows of a class; share of a class, whose rest is rare
_MANY, _ROWS_EACH = 100, 20  # attributes; rows for each, above which these are not many
_EVEN = 1.6  # limit of Kolmogorov and Smirnov's statistic at a level of 1%, times √rows
_RANKS, _APART = 100, 50  # of numbers; half the distance of different labels
_EXACT = 500  # columns, below which single precision holds all sums of their products


class _Rows:
    """Some rows as the two learners see them, in random order, so that ties are broken at random.

    Similarities are whole numbers, so that all processors agree on the nearest row.
    """

    def __init__(self, sample: Sample, rows: IntArray, columns: Sequence[int]) -> None:
        self.rows, self.target = rows, sample.target[rows]
        self.classes, self.columns = sample.classes, columns
        bins, parts = int(np.clip(np.sqrt(len(rows)), 2, 30)), []
        self.codes: list[IntArray] = []
        for place in columns:
            column = sample.values[rows, place]
            known = np.sort(column[~np.isnan(column)])
            if sample.cards[place]:
                codes = np.unique(column, return_inverse=True)[1]
                parts.append(_APART * (codes[:, None] == np.arange(codes.max() + 1)))
            else:  # missing numbers come after all others
                below = np.searchsorted(known, column) / max(len(known), 1)
                codes = (below * bins).astype(np.intp)
                parts.append((below * _RANKS).astype(np.intp)[:, None])
            self.codes.append(codes)
        points = np.hstack(parts)
        points = points.astype(np.float32 if points.shape[1] < _EXACT else np.float64)
        self.similar = 2 * (points @ points.T) - (points**2).sum(axis=1)
        if sample.groups is not None:  # none is predicted from its own group
            groups = np.unique(sample.groups, return_inverse=True)[1][rows]
            self.similar[groups[:, None] == groups] = -np.inf

    def bayes(self, folds: IntArray) -> float:
        """Return the share of rows that Naive Bayes predicts."""
        inside = np.bincount(folds * self.classes + self.target, minlength=_FOLDS * self.classes)
        inside = inside.reshape(_FOLDS, self.classes)
        prior = np.log(inside.sum(axis=0) - inside + 0.5)[folds]
        return self._share(sum(self.evidence(folds), prior).argmax(axis=1))

    def evidence(self, folds: IntArray) -> Iterator[FloatArray]:
        """Yield the logarithm of the likelihood of the classes, by each column."""
        k = self.classes
        own = folds * k + self.target
        for codes in self.codes:
            width = int(codes.max()) + 1
            cells = np.bincount(own * width + codes, minlength=_FOLDS * k * width)
            cells = cells.reshape(_FOLDS, k, width)
            rest = cells.sum(axis=0) - cells + 0.5
            yield np.log(rest / rest.sum(axis=2, keepdims=True))[folds, :, codes]

    def neighbour(self, folds: IntArray) -> float:
        """Return the share of rows whose class is that of the nearest row in other folds."""
        near = np.where(folds[:, None] == folds, -np.inf, self.similar).argmax(axis=1)
        return self._share(self.target[near])

    def _share(self, predicted: IntArray) -> float:
        return float((predicted == self.target).mean())

    def dealt(self, keys: FloatArray | IntArray) -> IntArray:
        """Return folds of neighbouring rows of each class, in the order of some keys."""
        counts = np.bincount(self.target, minlength=self.classes)
        ranks = np.arange(len(self.target)) - np.repeat(np.cumsum(counts) - counts, counts)
        return self._by_class(ranks * _FOLDS // np.repeat(counts, counts), keys)

    def _by_class(self, folds: IntArray, keys: FloatArray | IntArray) -> IntArray:
        """Assign the folds of rows sorted by class to those of the class in the order of keys."""
        assigned = np.empty_like(folds)
        assigned[np.lexsort((keys, self.target))] = folds
        return assigned

    def fall(
        self, folds: Sequence[IntArray], rng: np.random.Generator, both: bool = False
    ) -> tuple[str, float, bool]:
        """Say how well rows are predicted, and if exchanged; how much better, and if significantly.

        By the nearest neighbour or, of ``both`` learners, the one whose share falls most.
        """
        learners: dict[str, Callable[[IntArray], float]] = {"the nearest neighbour": self.neighbour}
        if both:
            learners["Naive Bayes"] = self.bayes
        order, rows = np.argsort(self.target, kind="stable"), len(self.rows)
        patterns = [folds[i % len(folds)][order] for i in range(_REPEATS)]
        mixed = [self._by_class(pattern, rng.random(rows)) for pattern in patterns]
        falls = []
        for name, learner in learners.items():
            kept = float(np.mean([learner(each) for each in folds]))
            free = np.array([learner(each) for each in mixed])
            less = float(free.mean()) - kept
            spread = max(float(free.std(ddof=1)) * np.sqrt(1 + 1 / _REPEATS), 1e-9)
            lower = stdtr(_REPEATS - 1, -less / spread) <= _LEVEL / len(learners)
            text = f"{name} predicts {kept:.0%} of {rows:,} rows, in random folds {free.mean():.0%}"
            falls.append((bool(lower and less >= _LEAST and rows >= MIN_ROWS), less, text))
        lower, less, text = max(falls)
        return text, less, lower


def quick_check(sample: Sample, keep: Collection[str], rng: np.random.Generator) -> list[str]:
    """Return sentences about what would mislead a study of a table; see the module.

    Parameters
    ----------
    sample : Sample
        The rows.
    keep : collection of str
        Columns that are known before the class, about which nothing is asked.
    rng : numpy.random.Generator
        A stream of its own.
    """
    counts = sample.class_counts
    if len(sample) < 2 * _FOLDS or np.count_nonzero(counts) < 2:
        return []
    screening, names = screened(sample, keep), [each.name for each in sample.schema.attributes]
    texts = [*_classes(sample), *_columns(sample, {*screening.suspects, *keep})]
    usable = [i for i, name in enumerate(names) if name not in screening.suspects]
    if not usable:
        return texts
    rows = _Rows(sample, _drawn(np.arange(len(sample)), rng), usable)
    texts += _leaks(rows, names, keep, rng)
    kept, copied = [], False
    if sample.groups is None:
        kept = [*_groups(sample, usable, names, keep, rng)]
        if 100 * screening.repeated >= len(sample):
            copies = equal_rows(sample, screening.identifiers)
            found, less, copied = _kept(sample, copies, usable, rng)
            if less >= _LEAST:
                found += ": the first is right if they are copies of one case (drop them), the "
                found += "second if they are different cases"
            texts.append(f"with equal rows in one part {found}")
    if not kept and not copied:
        kept = [*_order(sample, rows, names, rng)]
    return texts + kept


def _drawn(groups: IntArray, rng: np.random.Generator) -> IntArray:
    """Return some rows of randomly chosen groups, up to the limit, in random order."""
    numbers = np.bincount(groups)
    places = rng.permutation(len(numbers))[groups]
    order = np.lexsort((rng.random(len(groups)), places))
    sizes = np.bincount(places)
    ranks = np.arange(len(groups)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return rng.permutation(order[ranks < max(_ROWS // len(sizes), _OF_GROUP)][:_ROWS])


def _leaks(
    rows: _Rows, names: Sequence[str], keep: Collection[str], rng: np.random.Generator
) -> Iterator[str]:
    """Ask about columns each of which predicts nearly as well as all columns but these.

    Classes have the same weight, but for those of a few rows, which have none.
    """
    counts = np.bincount(rows.target, minlength=rows.classes)
    classes = np.count_nonzero(counts >= _FEW)
    if classes < 2:
        return
    weights = np.where(counts >= _FEW, 1 / np.maximum(counts, 1), 0)[rows.target] / classes
    least, strong = 1 - (1 - 1 / classes) * (1 - _EXPLAINED), []
    rest: FloatArray = np.zeros((len(weights), rows.classes))
    folds = rows.dealt(rng.random(len(weights)))
    for place, evidence in zip(rows.columns, rows.evidence(folds), strict=True):
        rest += evidence
        alone = float(weights[evidence.argmax(axis=1) == rows.target].sum())
        if alone >= least and names[place] not in keep:
            strong.append((-alone, place, evidence))
    asked, strong = 0, sorted(strong, key=lambda each: each[:2])[: len(rows.columns) - 1]
    for number, (less, _, evidence) in enumerate(strong, 1):
        rest -= evidence
        share = float(weights[rest.argmax(axis=1) == rows.target].sum())
        if share <= -less + 2 * np.sqrt(-less * (1 + less) * (weights**2).sum()):
            asked, others = number, share
    if asked:
        many = asked > 1
        which = f"each of {asked} columns" if many else "one column"
        shares = listed(f"{names[place]} ({-less:.0%})" for less, place, _ in strong[:asked])
        text = f"{which}, {shares}, alone predicts nearly as well as the other columns together "
        text += f"({others:.0%}), or better, by Naive Bayes with equal weights of the classes; "
        yield f"{text}{'were they' if many else 'was it'} known beforehand?"


def _groups(
    sample: Sample,
    usable: Sequence[int],
    names: Sequence[str],
    keep: Collection[str],
    rng: np.random.Generator,
) -> Iterator[str]:
    """Name columns whose values are groups of rows that resemble each other."""
    candidates = []
    for place in [i for i, name in enumerate(names) if name not in keep]:
        known = np.flatnonzero(~np.isnan(sample.values[:, place]))
        column = sample.values[known, place]
        groups = np.unique(column, return_inverse=True)[1]
        sizes, least = np.bincount(groups), _GROUPS if sample.cards[place] else _NUMBERED
        many = least <= len(sizes) <= len(known) / 2 and 2 * sizes.max() <= len(known)
        if not many or 2 * len(known) < len(sample) or (column % 1).any():
            continue
        if sample.cards[place] or not _smooth(sample.values[known], place, groups):
            candidates.append((-len(sizes), place, known, groups))
    for _, place, known, groups in sorted(candidates, key=lambda each: each[:2])[:_CANDIDATES]:
        if not (columns := [each for each in usable if each != place]):
            continue
        found, _, lower = _kept(sample.take(known), groups, columns, rng)
        if lower:
            text = f"rows of the same '{names[place]}' resemble each other: kept in one part, and "
            text += f"without this column, {found}; if new rows will have other values of it, "
            yield f'{text}groups = "{names[place]}" of the data set keeps them together'


def _order(
    sample: Sample, rows: _Rows, names: Sequence[str], rng: np.random.Generator
) -> Iterator[str]:
    """Say whether neighbouring rows resemble each other, but for columns that sort them."""
    by = [place for place in rows.columns if _sorts(sample, place)]
    columns = [place for place in rows.columns if place not in by]
    if not columns:
        return
    if by:
        rows = _Rows(sample, rows.rows, columns)
    found, _, lower = rows.fall([rows.dealt(rows.rows)], rng, both=sample.groups is None)
    if lower:
        what = "the order of the rows matters: in"
        if by:
            sorting = listed(names[place] for place in by)
            what = f"the rows are sorted by {sorting}; but for this, in"
        text = f"{what} folds of neighbouring rows of each class {found}; if rows are in order of "
        text += 'time, scheme = "ordered" in [resampling] trains on what came before; if they were '
        yield f"{text}sorted, or enumerate combinations of values, random folds are right"


def _sorts(sample: Sample, place: int) -> bool:
    """Whether values ascend or descend, or each label is in one run, within all classes."""
    known = np.argsort(sample.target, kind="stable")
    known = known[~np.isnan(sample.values[known, place])]
    column, classes = sample.values[known, place], sample.target[known]
    steps = np.diff(column)[np.diff(classes) == 0]
    if not sample.cards[place]:
        return bool((steps >= 0).all() or (steps <= 0).all())
    runs = np.count_nonzero(steps) + len(np.unique(classes))
    return bool(runs == len(np.unique(column * sample.classes + classes)))


def _smooth(values: FloatArray, place: int, groups: IntArray) -> bool:
    """Whether another column varies smoothly with this one, which is then no name of groups."""
    for column in np.delete(values, place, axis=1).T:
        known = ~np.isnan(column)
        sizes = np.bincount(groups[known])
        means = np.bincount(groups[known], column[known])[sizes > 0] / sizes[sizes > 0]
        if min(map(len, map(np.unique, (means[1:], means[:-1])))) < 2:  # nothing varies
            continue
        if np.corrcoef(means[:-1], means[1:])[0, 1] > _SMOOTH:
            return True
    return False


def _kept(
    sample: Sample, groups: IntArray, columns: Sequence[int], rng: np.random.Generator
) -> tuple[str, float, bool]:
    """Say how folds that keep groups together differ from others, as `_Rows.fall` does."""
    rows = _Rows(sample, _drawn(groups, rng), columns)
    of_row = np.unique(groups[rows.rows], return_inverse=True)[1]
    number = int(of_row.max()) + 1
    return rows.fall([rng.permutation(number)[of_row] * _FOLDS // number for _ in range(3)], rng)


def _classes(sample: Sample) -> Iterator[str]:
    """Name classes of few rows, and a class so frequent that accuracy says little."""
    counts = dict(zip(sample.class_names, sample.class_counts.tolist(), strict=True))
    most = max(counts, key=counts.__getitem__)
    if counts[most] >= _COMMON * len(sample):
        text = f"{counts[most] / len(sample):.1%} of the rows are of class '{most}': always naming "
        yield f"{text}it is that accurate"
    few = min(_RARE, (1 - _COMMON) * len(sample))
    rare = [f"'{each}' ({count:.0f})" for each, count in counts.items() if 0 < count < few]
    if rare:
        number = counted(len(rare), "class has", "classes have")
        text = f"{number} fewer than {_RARE} rows: {listed(rare)}; scores say little about "
        yield text + ("it" if len(rare) == 1 else "them")


def _columns(sample: Sample, settled: Collection[str]) -> Iterator[str]:
    """Name numbers that seem to mark missing values, many columns, and numbers of the rows."""
    attributes, rows = len(sample.schema.attributes), len(sample)
    if (attributes * _ROWS_EACH > rows and attributes >= _MANY) or 2 * attributes > rows:
        text = f"{attributes:,} attributes for {counted(rows, 'row')}: some go with the target by "
        yield f"{text}chance; choose among them only inside training parts"
    marked: dict[str, list[str]] = {}
    numbers = []
    for place, variable in enumerate(sample.schema.attributes):
        values, times = np.unique(sample.values[:, place], return_counts=True)
        values, times = values[~np.isnan(values)], times[: len(values)]
        if not variable.numeric or len(values) < _FOLDS:
            continue
        if times.max() == 1 and len(values) >= _MANY and not (values % 1).any():
            even = np.interp(values, values[[0, -1]], (0, 1)) - np.linspace(0, 1, len(values))
            if np.abs(even).max() < _EVEN / np.sqrt(len(values)) and variable.name not in settled:
                numbers.append(variable.name)
        for end, rest in ((0, values[1:]), (-1, values[:-1])):
            nines = {*f"{abs(values[end]):.10g}"} == {"9"} and abs(values[end]) > 9
            apart = np.abs(rest - values[end]).min() > rest[-1] - rest[0]
            if nines and apart and times[end] > 1:
                marked.setdefault(f"{values[end]:g}", []).append(variable.name)
    for value, columns in marked.items():
        text = f"{value} lies far from all other numbers of {listed(columns)}; if it marks missing "
        yield f"{text}values, name it in missing_values"
    if numbers:
        text = f"a different whole number in every row, evenly spread: {listed(numbers)}; list in "
        yield f"{text}ignore what names the rows"
