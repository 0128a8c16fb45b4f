"""Sorting of the rows of a table by each column, and of a few numbers inside a kernel."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.runtime.jit import jit


def sort_rows(values: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.int64]]:
    """Return (order, ranked, known) of columns that are the rows of `values`, shape (c, n).

    `order` (c, n) are the rows by value, equal ones by row, those without a value (NaN) last;
    `ranked` (c, n) the values in this order; `known` (c,) the number of values.

    NumPy sorts integers several times as fast as it computes a stable order. So the leading bits of
    the numbers are sorted with the row in the last bits; columns with a wrong order are sorted
    again.
    """
    n = values.shape[1]
    last = np.int64((1 << n.bit_length()) - 1)
    # The bits of a float as an integer have its order, except that those of negative numbers are
    # flipped; zero and negative zero are made equal.
    key = (values + 0.0).astype(np.float64, copy=False).view(np.int64)
    key ^= (key >> np.int64(63)) & np.int64(2**63 - 1)
    absent = np.isnan(values)
    key[absent] = 2**63 - 1
    key &= ~last
    key |= np.arange(n)
    key.sort(axis=1)
    order = np.bitwise_and(key, last, out=key)
    ranked = np.take_along_axis(values, order, axis=1)
    wrong = np.flatnonzero((ranked[:, 1:] < ranked[:, :-1]).any(axis=1))
    if len(wrong):
        order[wrong] = np.argsort(values[wrong], axis=1, kind="stable")
        ranked[wrong] = np.take_along_axis(values[wrong], order[wrong], axis=1)
    return order, ranked, n - absent.sum(axis=1)


@jit
def order_of(values, n, scratch):
    """Return the row of `scratch` (2, n) with the stable order of the first n values.

    It allocates no memory, and compiles faster than NumPy's `argsort`.
    """
    now = 0
    for i in range(n):
        scratch[now, i] = i
    width = 1
    while width < n:
        for start in range(0, n, 2 * width):
            middle = start + width if start + width < n else n
            end = middle + width if middle + width < n else n
            i, j = start, middle
            for t in range(start, end):
                first = i < middle
                if first and j < end:
                    first = values[scratch[now, i]] <= values[scratch[now, j]]
                scratch[1 - now, t] = scratch[now, i if first else j]
                if first:
                    i += 1
                else:
                    j += 1
        now = 1 - now
        width *= 2
    return now
