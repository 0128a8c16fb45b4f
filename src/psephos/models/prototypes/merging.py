"""Prototypes at one place become one: weights add, the kernel sums stay as they were."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["merge_prototypes"]

_Floats = NDArray[np.float64]
_Rows = NDArray[np.intp]


def merge_prototypes(
    places: _Floats, label: _Rows, weight: _Floats, *, tolerance: float = 1e-6
) -> tuple[_Rows, _Floats]:
    """Merge prototypes of one label that no kernel tells apart; return who is kept, and weights.

    Two prototypes are linked if they have the same label, miss the same columns, and differ by at
    most `tolerance` in every other column; the linked are merged, and what is linked to them. The
    first of each set is kept, with the sum of the weights. `places` (J, q) are the columns a batch
    reads times its inverse bandwidths, NaN where missing: in these units a difference of
    `tolerance` cannot be seen in a kernel. A regression appends its targets times theirs.

    Memory is that of `places`. Time is that of sorting a few columns, and, only where many
    prototypes lie within the tolerance of a neighbour without all lying at one place, the square
    of their number. (proset 0.6 merges likewise, by a table of all distances.)
    """
    if len(places) == 0:
        return np.empty(0, dtype=np.intp), np.empty(0)
    missing = np.isnan(places)
    codes = np.column_stack([label, np.packbits(missing, axis=1)])
    groups = np.unique(codes, axis=0, return_inverse=True)[1].reshape(-1).astype(np.intp)
    filled = np.where(missing, 0.0, places)
    groups = _divide(filled, groups, tolerance)
    for rows in _shared(groups):
        block = filled[rows]
        if (np.ptp(block, axis=0) > tolerance).any():
            groups[rows] = groups.max() + 1 + _linked(block, tolerance)
    _, kept, members = np.unique(groups, return_index=True, return_inverse=True)
    order = np.argsort(kept)
    merged = np.zeros(len(kept))
    np.add.at(merged, members, weight)
    return kept[order], merged[order]


def _divide(places: _Floats, groups: _Rows, tolerance: float) -> _Rows:
    """Divide groups where a column has a gap wider than the tolerance, until none has.

    Linked prototypes are never divided: along every column a chain of links has no such gap.
    """
    groups = groups.copy()
    while True:
        before = groups.max()
        for column in places.T:
            rows = np.flatnonzero(np.bincount(groups)[groups] > 1)
            if len(rows) == 0:
                return groups
            rows = rows[np.lexsort((column[rows], groups[rows]))]
            apart = np.diff(groups[rows]) > 0
            gap = ~apart & (np.diff(column[rows]) > tolerance)
            groups[rows] = _renumber(groups[rows], apart, gap, groups.max())
        if groups.max() == before:
            return groups


def _renumber(
    numbers: _Rows, apart: NDArray[np.bool_], gap: NDArray[np.bool_], last: np.intp
) -> _Rows:
    """Keep each group's number up to its first gap; what follows a gap gets a new number."""
    runs = np.concatenate([[0], np.cumsum(apart | gap)])
    fresh = np.concatenate([[False], gap])[np.concatenate([[True], apart | gap])]
    first = np.flatnonzero(np.concatenate([[True], apart | gap]))
    told = np.where(fresh, last + np.cumsum(fresh), numbers[first])
    return told[runs]


def _shared(groups: _Rows) -> list[_Rows]:
    """Return the members of each group of two or more."""
    order = np.argsort(groups, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)
    return [rows for rows in parts if len(rows) > 1]


def _linked(places: _Floats, tolerance: float) -> _Rows:
    """Return the connected components of the links among the rows, by flooding from each row."""
    component = np.full(len(places), -1, dtype=np.intp)
    for seed in range(len(places)):
        if component[seed] >= 0:
            continue
        component[seed] = component.max() + 1
        reached = [seed]
        while reached:
            here = reached.pop()
            dry = np.flatnonzero(component < 0)
            near = dry[(np.abs(places[dry] - places[here]) <= tolerance).all(axis=1)]
            component[near] = component[seed]
            reached.extend(near.tolist())
    return component
