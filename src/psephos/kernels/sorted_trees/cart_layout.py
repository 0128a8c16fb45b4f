"""Data of a CART: sorted columns, labels and weights, and the settings.

A column is a row of `keys`: one number ``rank << 32 | row`` per known value, sorted, where `rank`
is the index of the value among the distinct values of the column. The value of a category is its
code. A node has the same span of every column; its entries are divided among its children in place
and stay sorted. Thresholds are looked up in `values` by rank, so that the table is not read while
the tree grows.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.numerics.ordering import sort_rows
from psephos.runtime.jit import jit

SHIFT = 32
ROW = (1 << SHIFT) - 1


class Cart(NamedTuple):
    """The training rows.

    `y` holds class indices, `target` numbers (centred). A row counts with `weight`, times `rho` of
    its class in the risk of a node, times `alpha` in the worth of splits; these factors are applied
    to sums, so that results do not depend on the order of rows. `copies` is the number of rows that
    a row counts as. `zero_one`: whether `loss` is 1 off the diagonal.
    ``values[start[j] : start[j + 1]]`` are the distinct values of column j.
    """

    n_classes: int
    y: NDArray[np.int32]
    target: NDArray[np.float64]
    weight: NDArray[np.float64]
    copies: NDArray[np.int64]
    alpha: NDArray[np.float64]
    rho: NDArray[np.float64]
    loss: NDArray[np.float64]
    zero_one: bool
    start: NDArray[np.int64]
    values: NDArray[np.float64]
    costs: NDArray[np.float64]


class Rules(NamedTuple):
    """Settings; `use` is 0 (surrogates are only listed), 1 (used) or 2 (then the majority)."""

    min_split: int
    min_leaf: int
    max_depth: int
    max_competitors: int
    max_surrogates: int
    of_known: bool
    use: int
    max_levels: int
    floor: float


class Slots(NamedTuple):
    """The best few rules of a node so far, best first; the i-th is in slot ``whole[i, 5]``.

    `whole` is (slots, 6): column, rows counted, side of the low values (-1 left, 1 right), number
    of levels, last rank of the low side; `real` is (slots, 3): worth, threshold, adjusted
    agreement. `level` (2, slots, levels) holds codes and branches, None without categories.
    """

    whole: NDArray[np.int64]
    real: NDArray[np.float64]
    level: NDArray[np.int32] | None


class Levels(NamedTuple):
    """Workspace by level of a category.

    `whole` (7, levels): code, rows (two rows), side, best side, order (two rows); `real` (2,
    levels): weight, key to sort by; `sums` (levels, K).
    """

    whole: NDArray[np.int64]
    real: NDArray[np.float64]
    sums: NDArray[np.float64]


class Scratch(NamedTuple):
    """Workspace: by class, by row, by level (None without categories).

    `sums` (6, K): weight in all, left and right of a cut, and the same times the classes' alpha.
    """

    sums: NDArray[np.float64]
    go: NDArray[np.int8]
    key: NDArray[np.int64]
    rows: NDArray[np.int32]
    level: Levels | None


def sorted_columns(values):
    """Return (keys, known, n_values, distinct values) of the columns that are the rows of (b, n).

    The first ``known[j]`` keys of a column are its entries; missing values come after them.
    """
    order, ranked, known = sort_rows(values)
    new = np.ones(ranked.shape, np.bool_)
    np.not_equal(ranked[:, 1:], ranked[:, :-1], out=new[:, 1:])
    keys = ((np.cumsum(new, axis=1) - 1) << SHIFT) | order
    new &= np.arange(values.shape[1]) < known[:, None]
    return keys, known, new.sum(axis=1), ranked[new] + 0.0


@jit
def cut_between(low, high):
    """Return the midpoint, or `high` if rounding would make it `low`."""
    middle = (low + high) / 2.0
    return middle if low < middle <= high else high


@jit
def keep_rows(keys, known, kept, out, out_known):
    """Write to `out` the entries of every column whose rows are `kept`."""
    for j in range(keys.shape[0]):
        m = 0
        for i in range(known[j]):
            key = keys[j, i]
            out[j, m] = key
            m += kept[key & ROW]
        out_known[j] = m


@jit
def put(slots, held, worth):
    """Return (slot for a rule of this worth or -1, number held); equals keep their order."""
    room = slots.whole.shape[0]
    if held == room:
        if held == 0 or worth <= slots.real[slots.whole[held - 1, 5], 0]:
            return -1, held
        held -= 1
    slot = slots.whole[held, 5]
    i = held
    while i > 0 and slots.real[slots.whole[i - 1, 5], 0] < worth:
        slots.whole[i, 5] = slots.whole[i - 1, 5]
        i -= 1
    slots.whole[i, 5] = slot
    slots.real[slot, 0] = worth
    return slot, held + 1
