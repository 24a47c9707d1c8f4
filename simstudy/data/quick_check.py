"""Quick checks of a table by two cheap learners: leaks, groups, copies, the order of rows.

Naive Bayes and the nearest neighbour predict at most 1,000 rows in ten folds. Folds that keep
something together (copies of a row, rows of a group, rows near each other in the file) are compared
with the same folds after their rows are exchanged at random within each class. If rows of a class
are exchangeable, both have the same distribution, whatever the learner: a share of right
predictions that lies outside of what exchanged folds give shows that they are not.
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
_EXPLAINED = 0.8  # of the errors of the most frequent class, by a column that is asked about
_LEVEL, _LEAST = 0.0001, 0.03  # of a test; the difference that is mentioned
_FEW_ERRORS = 10  # of the most frequent class, below which no column is asked about
_GROUPS, _CANDIDATES = 20, 4  # least number of groups; columns that are tried
_SMOOTH = 0.5  # correlation of neighbouring groups
_MANY, _RARE, _COMMON = 100, 0.02, 0.9  # attributes; shares of classes
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

    def bayes(self, folds: IntArray) -> tuple[float, list[float]]:
        """Return the share of rows that Naive Bayes predicts: from all columns, and from each."""
        k, own = self.classes, folds * self.classes + self.target
        inside = np.bincount(own, minlength=_FOLDS * k).reshape(_FOLDS, k)
        outside = inside.sum(axis=0) - inside + 0.5
        prior = np.log(outside)[folds]
        total, alone = prior.copy(), []
        for codes in self.codes:
            width = int(codes.max()) + 1
            cells = np.bincount(own * width + codes, minlength=_FOLDS * k * width)
            cells = cells.reshape(_FOLDS, k, width)
            rest = cells.sum(axis=0) - cells + 0.5
            evidence = np.log(rest / rest.sum(axis=2, keepdims=True))[folds, :, codes]
            alone.append(self._share((prior + evidence).argmax(axis=1)))
            total += evidence
        return self._share(total.argmax(axis=1)), alone

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

    def drop(self, folds: Sequence[IntArray], rng: np.random.Generator) -> str:
        """Say how much better exchanged folds are predicted, if they are; else nothing."""
        if len(self.rows) < MIN_ROWS:
            return ""
        learners: dict[str, Callable[[IntArray], float]] = {
            "Naive Bayes": lambda each: self.bayes(each)[0],
            "the nearest neighbour": self.neighbour,
        }
        order, rows = np.argsort(self.target, kind="stable"), len(self.rows)
        patterns = [folds[i % len(folds)][order] for i in range(_REPEATS)]
        mixed = [self._by_class(pattern, rng.random(rows)) for pattern in patterns]
        found = {}
        for name, learner in learners.items():
            kept = float(np.mean([learner(each) for each in folds]))
            free = np.array([learner(each) for each in mixed])
            less = float(free.mean()) - kept
            spread = max(float(free.std(ddof=1)) * np.sqrt(1 + 1 / _REPEATS), 1e-9)
            if less >= _LEAST and stdtr(_REPEATS - 1, -less / spread) <= _LEVEL / len(learners):
                found[less] = f"{name} predicts {kept:.0%} of the rows, in random folds "
                found[less] += f"{free.mean():.0%}"
        return found[max(found)] if found else ""


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
    texts = [*_classes(sample), *_columns(sample)]
    usable = [i for i, name in enumerate(names) if name not in screening.suspects]
    if not usable:
        return texts
    rows = _Rows(sample, _drawn(np.arange(len(sample)), rng), usable)
    texts += _leaks(rows, names, keep, rng)
    if sample.groups is not None:
        return texts
    kept = [*_groups(sample, usable, names, keep, rng)]
    copies = equal_rows(sample)
    if copies.max() + 1 < len(copies) and (found := _kept(sample, copies, usable, rng)):
        kept.append(f"with equal rows in one part {found}")
    if not kept and (found := rows.drop([rows.dealt(rows.rows)], rng)):
        text = f"the order of the rows matters: in folds of neighbouring rows of each class {found}"
        text += '; if rows are in order of time, scheme = "ordered" in [resampling] trains on '
        kept = [f"{text}what came before"]
    return texts + kept


def _drawn(groups: IntArray, rng: np.random.Generator) -> IntArray:
    """Return rows of randomly chosen groups, up to the limit, in random order."""
    places = rng.permutation(int(groups.max()) + 1)[groups]
    sizes = np.bincount(places)
    last = max(int(np.searchsorted(np.cumsum(sizes), _ROWS, side="right")), 1)
    return rng.permutation(np.flatnonzero(places < last))[:_ROWS]


def _leaks(
    rows: _Rows, names: Sequence[str], keep: Collection[str], rng: np.random.Generator
) -> Iterator[str]:
    """Ask about columns that alone predict nearly as well as all together."""
    every, alone = rows.bayes(rows.dealt(rng.random(len(rows.rows))))
    most = np.bincount(rows.target).max() / len(rows.rows)
    error = np.sqrt(every * (1 - every) / len(rows.rows))
    if len(alone) < 2 or (1 - most) * len(rows.rows) < _FEW_ERRORS:
        return
    least = max(every - 2 * error, 1 - (1 - most) * (1 - _EXPLAINED))
    by_name = dict(zip([names[place] for place in rows.columns], alone, strict=True))
    strong = {name: at for name, at in by_name.items() if at >= least and name not in keep}
    if strong:
        many = len(strong) > 1
        which = f"each of {len(strong)} columns" if many else "one column"
        were = "were they" if many else "was it"
        text = f"{which}, {listed(strong)}, predicts nearly as well alone as all together "
        text += f"({max(strong.values()):.0%} of the rows by Naive Bayes, all columns {every:.0%}, "
        yield f"{text}the most frequent class {most:.0%}); {were} known beforehand?"


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
        column = sample.values[:, place]
        groups = np.unique(column, return_inverse=True)[1]
        sizes = np.bincount(groups)
        many = _GROUPS <= len(sizes) <= len(groups) / 2 and _FOLDS * sizes.max() <= len(groups)
        if not many or (column % 1).any():  # NaN is true
            continue
        if sample.cards[place] or not _smooth(sample.values, place, groups, sizes):
            candidates.append((-len(sizes), place, groups))
    for _, place, groups in sorted(candidates, key=lambda each: each[:2])[:_CANDIDATES]:
        if not (columns := [each for each in usable if each != place]):
            continue
        if found := _kept(sample, groups, columns, rng):
            text = f"rows of the same '{names[place]}' resemble each other: kept in one part, "
            text += f'{found}; groups = "{names[place]}" of the data set keeps them together, if '
            yield f"{text}new rows will have other values of it"


def _smooth(values: FloatArray, place: int, groups: IntArray, sizes: IntArray) -> bool:
    """Whether another column varies smoothly with this one, which is then no name of groups."""
    for column in np.delete(values, place, axis=1).T:
        means = np.bincount(groups, np.nan_to_num(column)) / sizes
        with np.errstate(invalid="ignore", divide="ignore"):  # of a constant column
            if np.corrcoef(means[:-1], means[1:])[0, 1] > _SMOOTH:
                return True
    return False


def _kept(
    sample: Sample, groups: IntArray, columns: Sequence[int], rng: np.random.Generator
) -> str:
    """Say how folds that keep groups together differ from others."""
    rows = _Rows(sample, _drawn(groups, rng), columns)
    of_row = np.unique(groups[rows.rows], return_inverse=True)[1]
    number = int(of_row.max()) + 1
    return rows.drop([rng.permutation(number)[of_row] * _FOLDS // number for _ in range(3)], rng)


def _classes(sample: Sample) -> Iterator[str]:
    """Name rare classes, and a class so frequent that accuracy says little."""
    shares = sample.class_counts / len(sample)
    labels = dict(zip(sample.class_names, shares, strict=True))
    if shares.max() >= _COMMON:
        text = f"{shares.max():.1%} of the rows are of class '{max(labels, key=labels.__getitem__)}"
        yield f"{text}': always naming it is that accurate"
    rare = [f"'{each}' ({share:.1%})" for each, share in labels.items() if 0 < share < _RARE]
    if rare:
        number = counted(len(rare), "class is", "classes are")
        yield f"{number} rare: {listed(rare)}; scores say little about them"


def _columns(sample: Sample) -> Iterator[str]:
    """Name numbers that seem to mark missing values, and many columns."""
    attributes, rows = len(sample.schema.attributes), len(sample)
    if attributes >= _MANY or 2 * attributes > rows:
        text = f"{attributes:,} attributes for {counted(rows, 'row')}: some go with the target by "
        yield f"{text}chance; choose among them only inside training parts"
    marked: dict[str, list[str]] = {}
    for place, variable in enumerate(sample.schema.attributes):
        values, times = np.unique(sample.values[:, place], return_counts=True)
        values, times = values[~np.isnan(values)], times[: len(values)]
        if not variable.numeric or len(values) < _FOLDS:
            continue
        for end, rest in ((0, values[1:]), (-1, values[:-1])):
            nines = {*f"{abs(values[end]):.10g}"} == {"9"} and abs(values[end]) > 9
            apart = np.abs(rest - values[end]).min() > rest[-1] - rest[0]
            if nines and apart and times[end] > 1:
                marked.setdefault(f"{values[end]:g}", []).append(variable.name)
    for value, columns in marked.items():
        text = f"{value} lies far from all other numbers of {listed(columns)}; if it marks missing "
        yield f"{text}values, name it in missing_values"
