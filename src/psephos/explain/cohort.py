"""The cases by class: Table 1 of a study."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices, LabelsLike, TableLike
from psephos.estimator.columns import is_missing
from psephos.estimator.params import Interval
from psephos.explain.drawing import Display, plain
from psephos.files.names import plural, value_text

_LEVELS = 12  # the most frequent categories of a column, which have a row each
_REST, _MISSING, _MIDDLE = "other categories", "missing", "median (quartiles)"


@dataclass(frozen=True)
class CohortDisplay(Display):
    """The cases by class, column by column: Table 1 of a study.

    It shows medians and quartiles of numbers, counts of categories, and missing values. It omits
    p-values: models choose columns in which the classes differ, which a test of each would ignore.

    Parameters
    ----------
    names : tuple of str
        The columns.
    values : ndarray of shape (n, q)
        Numbers, or names of categories; None or NaN where missing.
    codes : ndarray of shape (n,), intp
        The class of each case.
    classes : tuple of str
        For a numeric target, its thirds.
    fewest : int, default=0
        Counts from 1 to `fewest` - 1 are withheld, with any count from which one of them could be
        computed, and quartiles of fewer than `fewest` cases.

    Examples
    --------
    >>> import numpy as np
    >>> from psephos.explain import CohortDisplay
    >>> X = np.array([[1.0, 10.0], [2.0, np.nan], [3.0, 30.0]])
    >>> found = CohortDisplay.from_cases(X, ["ill", "ill", "well"], ["age", "dose"])
    >>> found.table()["text"]
    ['1.5 (1.25 to 1.75)', '3 (3 to 3)', '0', '0', '10 (10 to 10)', '30 (30 to 30)', '1', '0']
    """

    names: tuple[str, ...]
    values: Array
    codes: Indices
    classes: tuple[str, ...]
    fewest: int = 0

    @classmethod
    def from_cases(
        cls, X: TableLike, y: LabelsLike, names: Sequence[str] | None = None, fewest: int = 0
    ) -> Self:
        """Return the table of some cases.

        Parameters
        ----------
        X : table of shape (n, q)
        y : array of shape (n,)
            Classes; numbers of more than 12 different values are divided into thirds.
        names : sequence of str, default=None
            One per column; None: those of X.
        fewest : int, default=0
            As the attribute.

        Raises
        ------
        PsephosError
            If X has infinite values, y has missing values or another length than X, or the number
            of names is not that of the columns.
        """
        values, target = np.asarray(X, dtype=object), np.asarray(y)
        if values.ndim != 2 or target.shape != values.shape[:1] or not target.size:
            raise PsephosError(
                "X must be a table, and y must have one value for each of its rows; got shapes"
                f" {values.shape} and {target.shape}."
            )
        if any(map(is_missing, target.tolist())):
            raise PsephosError("y must have no missing values: leave these rows out.")
        if any(_is_number(one) and np.isinf(one) for one in values.ravel().tolist()):
            raise PsephosError("X must hold numbers that are finite, or missing; got infinity.")
        columns = getattr(X, "columns", range(values.shape[1])) if names is None else names
        called = tuple(str(one) for one in columns)
        if len(called) != values.shape[1] or isinstance(names, str):
            wanted = plural(values.shape[1], "column")
            raise PsephosError(f"names must name each of {wanted}; got {names!r}.")
        if not (kind := Interval(0, whole=True)).allows(fewest):
            raise PsephosError(f"fewest must be {kind.words()}; got {fewest!r}.")
        if target.dtype.kind in "iuf" and len(np.unique(target)) > _LEVELS:
            return cls(called, values, thirds(target), THIRDS, fewest)
        classes, codes = np.unique(
            target if target.dtype.kind in "biuf" else target.astype(str), return_inverse=True
        )
        return cls(called, values, codes, tuple(map(str, classes.tolist())), fewest)

    def table(self) -> dict[str, list[Any]]:
        """Return one entry per column, category and class.

        Keys: ``column``, ``category`` ('missing' for missing values), ``class``, ``count``; for
        numbers the quartiles ``low``, ``median`` and ``high``; and ``text``, the cell as printed.
        """
        keys = ("column", "category", "class", "count", "low", "median", "high", "text")
        rows = [(name, *row) for j, name in enumerate(self.names) for row in self._rows(j)]
        return {key: [row[k] for row in rows] for k, key in enumerate(keys)}

    def _rows(self, j: int) -> list[tuple[Any, ...]]:
        """Return the rows of a column, sorted by category."""
        column = [None if is_missing(one) else one for one in self.values[:, j].tolist()]
        if not all(one is None or _is_number(one) for one in column):
            column = [None if one is None else _word(str(one)) for one in column]
        words = Counter(one for one in column if isinstance(one, str))
        first = [one for one, _ in words.most_common(_LEVELS)]
        kinds = ([*first, *[_REST] * (len(words) > _LEVELS)] if words else [_MIDDLE]) + [_MISSING]
        rows: list[tuple[Any, ...]] = []
        for k, name in enumerate(self.classes):
            own = [one for one, code in zip(column, self.codes.tolist(), strict=True) if code == k]
            known = [one for one in own if one is not None]
            counts = Counter(one if one in first else _REST for one in known)
            middle = [len(known)] if not words else [counts[one] for one in kinds[:-1]]
            given = given_counts([*middle, len(own) - len(known)], self.fewest)
            ends = [np.nan] * 3
            if not words and len(known) >= max(1, self.fewest):
                ends = np.quantile(np.array(known, dtype=np.float64), (0.25, 0.5, 0.75)).tolist()
            for kind, (n, text) in zip(kinds, given, strict=True):
                own_ends = ends if kind == _MIDDLE else [np.nan] * 3
                rows.append((kind, name, n, *own_ends, _cell(own_ends) or text))
        return sorted(rows, key=lambda row: kinds.index(row[0]))

    @property
    def _size(self) -> Any:
        return 3 + 2 * len(self.classes), 1 + 0.3 * len(self.table()["text"]) / len(self.classes)

    def _draw(self, axes: Any) -> None:
        heads, *rows = [[plain(one) for one in row] for row in (self.heads(), *self.lines())]
        axes.axis("off")
        axes.table(rows, loc="center", colLabels=heads)

    def heads(self) -> list[str]:
        """Return the headings of `lines`: each class with its number of cases."""
        sizes: list[int] = np.bincount(self.codes, minlength=len(self.classes)).tolist()
        given = [text for _, text in given_counts(sizes, self.fewest)]
        return ["column", *(f"{c}, n {n}" for c, n in zip(self.classes, given, strict=True))]

    def lines(self) -> list[list[str]]:
        """Return one line per column and category: its name and a cell for each class."""
        found = self.table()
        pairs = zip(found["column"], found["category"], found["text"], strict=True)
        cells, step = [*pairs], len(self.classes)
        return [
            [f"{cells[i][0]}: {cells[i][1]}", *(one[2] for one in cells[i : i + step])]
            for i in range(0, len(cells), step)
        ]


THIRDS = ("lowest third", "middle third", "highest third")


def thirds(target: Floats) -> Indices:
    """Return the index of the third (0 to 2) that each number is in; equal numbers share one."""
    cuts = np.quantile(target, (1 / 3, 2 / 3))
    return np.searchsorted(cuts, target, "left").astype(np.intp)


def _is_number(one: Any) -> bool:
    return isinstance(one, Real) and not isinstance(one, bool)


def _word(word: str) -> str:
    return f"the word {word}" if word == _MISSING else word


def given_counts(counts: Sequence[int], fewest: int) -> list[tuple[int | None, str]]:
    """Return (count, text) pairs; a count is None where it is withheld.

    Small counts are withheld, and then the smallest of the others, one by one, until no small
    count can be computed from those that are given. A reader knows the sum of the withheld
    counts; the text gives their ranges ('< 5', '5 or more') only if these with the sum do not
    determine a count.
    """
    withheld = [i for i, n in enumerate(counts) if 0 < n < fewest]
    others = sorted((n, i) for i, n in enumerate(counts) if n >= max(1, fewest))
    small = len(withheld)

    def unknown() -> bool:
        large, total = len(withheld) - small, sum(counts[i] for i in withheld)
        low, high = small + fewest * large, math.inf if large else small * (fewest - 1)
        return len(withheld) > 1 and low < total < high

    while withheld and others and not unknown():
        withheld.append(others.pop(0)[1])
    words = (f"< {fewest}", f"{fewest} or more") if unknown() else ("withheld", "withheld")
    return [
        (n, str(n)) if i not in withheld else (None, words[n >= fewest])
        for i, n in enumerate(counts)
    ]


def _cell(ends: Sequence[float]) -> str:
    low, middle, high = (value_text(one, 4) for one in ends)
    return "" if ends[1] != ends[1] else f"{middle} ({low} to {high})"
