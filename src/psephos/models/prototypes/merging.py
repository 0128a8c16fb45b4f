"""Prototypes at one place, as far as a batch's kernels can tell, are made one."""

import numpy as np
from numpy.typing import NDArray

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

    Memory is that of `places`. (proset 0.6 merges likewise, by a table of all distances.)
    """
    if len(places) == 0:
        return np.empty(0, dtype=np.intp), np.empty(0)
    missing = np.isnan(places)
    codes = np.column_stack([label, np.packbits(missing, axis=1)])
    groups = np.unique(codes, axis=0, return_inverse=True)[1].reshape(-1)
    filled = np.where(missing, 0.0, places)
    for column in filled.T:  # linked prototypes are in one chain without a gap along each column
        if groups.max() + 1 == len(places):
            break
        order, chain = np.argsort(column), np.empty(len(column), dtype=np.intp)
        chain[order] = np.cumsum(np.append(False, np.diff(column[order]) > tolerance))
        groups = np.unique(groups * len(column) + chain, return_inverse=True)[1].reshape(-1)
    for group in np.flatnonzero(np.bincount(groups) > 1):
        rows = np.flatnonzero(groups == group)
        if (np.ptp(filled[rows], axis=0) > tolerance).any():
            groups[rows] = groups.max() + 1 + _linked(filled[rows], tolerance)
    _, kept, members = np.unique(groups, return_index=True, return_inverse=True)
    order = np.argsort(kept)
    merged = np.zeros(len(kept))
    np.add.at(merged, members, weight)
    return kept[order], merged[order]


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
