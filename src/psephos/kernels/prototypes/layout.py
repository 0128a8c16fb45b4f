"""References and prototypes laid out for ``sums``."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.prototypes.kernel import HALF_LOG2E, column_terms, whole_lanes, whole_lines

_Float = NDArray[np.float64]
_CHUNK = 2**14  # numbers scaled at once
_NO_TERMS = np.empty((0, 3))


class Pairs(NamedTuple):
    """References and prototypes, columns of numbers less their mean over the prototypes."""

    references: NDArray[Any]  # (q, R'), column by column, filled up to whole lanes
    label: NDArray[Any]  # (R,) class codes or targets
    columns: NDArray[Any]  # (q, M') of the prototypes, the same array where they are the same rows
    column_label: NDArray[Any]  # (M',)
    n_prototypes: int  # M
    is_special: NDArray[np.bool_]  # (q,) categories and columns with a missing value
    is_category: NDArray[np.bool_]  # (q,)
    agree: _Float  # (q,)
    is_plain: bool  # whether nothing is missing and nothing a category

    def among(self, some: NDArray[np.intp]) -> "Pairs":
        """Return the pairs with some of the prototypes."""
        n = len(some)
        columns = np.zeros((len(self.columns), whole_lanes(n)), self.columns.dtype)
        np.take(self.columns, some, axis=1, out=columns[:, :n], mode="clip")
        label = filled_up(self.column_label[some], columns.dtype)
        return self._replace(columns=columns, column_label=label, n_prototypes=n)


class Panel(NamedTuple):
    """Columns of the prototypes, multiplied by v and ``sqrt(log2(e) / 2)``; plain ones first."""

    column: NDArray[np.intp]  # (k,) which each is
    scale: NDArray[Any]  # (k,)
    plain: int  # of these
    lines: NDArray[Any]  # (whole lines of plain ones + special, M)
    terms: NDArray[Any]  # (special, 3): see `column_terms`


def stage(
    references: Any,
    candidates: Any,
    label: NDArray[Any],
    candidate_label: NDArray[Any],
    is_category: NDArray[np.bool_],
    agree: _Float,
    dtype: Any = np.float32,
) -> Pairs:
    """Lay out references (R, q) and prototypes (M, q), NaN where missing, for many sums.

    Tables are arrays, or give rows when asked for a slice of them. Labels are class codes, whole
    numbers, or targets. The mean that is taken off changes no difference, and keeps digits.
    """
    q = references.shape[1]
    total, known = np.zeros(q), np.zeros(q, np.intp)
    for _, part in _parts(candidates):
        there = ~np.isnan(part)
        total += np.where(there, part, 0.0).sum(axis=0)
        known += there.sum(axis=0)
    centre = np.where(is_category, 0.0, total / np.maximum(known, 1))
    special = is_category | (known < len(candidates))
    columns = theirs = _by_column(candidates, centre, dtype)
    if references is not candidates:
        theirs = _by_column(references, centre, dtype)
    special |= np.isnan(theirs).any(axis=1)
    labels = label.astype(dtype), filled_up(candidate_label, dtype)
    kinds = len(candidates), special, is_category, agree, not special.any()
    return Pairs(theirs, labels[0], columns, labels[1], *kinds)


def _by_column(table: Any, centre: _Float, dtype: Any) -> NDArray[Any]:
    """Return the columns of a table less their centres, filled up to whole lanes by 0."""
    out = np.zeros((len(centre), whole_lanes(len(table))), dtype)
    for some, part in _parts(table):
        np.subtract(part.T, centre[:, None], out=out[:, some], casting="same_kind")
    return out


def filled_up(values: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return what prototypes have, filled up to whole lanes by 0."""
    out = np.zeros(whole_lanes(len(values)), dtype)
    out[: len(values)] = values
    return out


def _parts(table: Any) -> Iterator[tuple[slice, _Float]]:
    """Yield rows of a table a few at a time, with their places."""
    size = max(8, _CHUNK // max(1, table.shape[1]))
    for first in range(0, len(table), size):
        some = slice(first, min(first + size, len(table)))
        yield some, table[some]


def panel_of(pairs: Pairs, v: _Float, active: NDArray[np.bool_], entering: bool = False) -> Panel:
    """Return the active columns, with `entering` for derivatives by v^2 at 0."""
    columns, column, terms = pairs.columns, active.nonzero()[0], _NO_TERMS
    plain = len(column)
    if not pairs.is_plain:
        special = pairs.is_special[column]
        column = np.concatenate([column[~special], column[special]])
        plain -= int(special.sum())
        last = column[plain:]
        terms = column_terms(v[last], pairs.is_category[last], pairs.agree[last], entering)
    scale = np.ones(len(column)) if entering else v[column] * math.sqrt(HALF_LOG2E)
    if len(terms):
        scale[plain:][terms[:, 0] >= 0.0] = 1.0
    scale, first = scale.astype(columns.dtype), whole_lines(plain)
    lines = np.zeros((first + len(terms), columns.shape[1]), columns.dtype)
    columns.take(column[:plain], axis=0, out=lines[:plain], mode="clip")
    lines[:plain] *= scale[:plain, None]
    if len(terms):
        columns.take(column[plain:], axis=0, out=lines[first:], mode="clip")
        lines[first:] *= scale[plain:, None]
    return Panel(column, scale, plain, lines, terms)
