"""An acceleration of the derivatives by columns: squares expanded, ``x^2 - 2 x c + c^2``.

Of ``sum_nj A_nj (x_nd - c_jd)^2`` the squares need but the sums of A by rows and by columns, which
are known, and only ``sum_nj A_nj x_nd c_jd`` looks at pairs: one operation for three. It loses
about eps (x^2 + c^2) of what is added, so it is for many columns and kernels that are not narrow.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.kernels._jit import jit
from psephos.kernels.numerics.powers import wide

__all__ = ["add_products", "add_row_squares", "add_squares_of_lines", "pays"]

_COLUMNS = 12  # from which on it pays
_SQUARE = 128.0  # |x|^2, on average and in base 2, up to which it is exact enough


def pays(n_columns: int, square: NDArray[np.float64], column: Any, scale: NDArray[Any]) -> bool:
    """Return whether to expand: columns are many, and rows multiplied by v short on average."""
    if n_columns < _COLUMNS:
        return False
    by = scale[: len(column)].astype(np.float64)
    return float(np.einsum("d,d,d", square[column], by, by)) <= _SQUARE


@jit(fastmath={"contract", "reassoc"}, _nrt=False)
def add_products(a, rows, lines, out):
    """Add ``-2 sum over r, j of a[r, j] rows[r, d] lines[d, j]`` of four rows to out."""
    wide()
    a0, a1, a2, a3 = a[0], a[1], a[2], a[3]
    for d in range(0, lines.shape[0], 4):
        c0, c1, c2, c3 = lines[d], lines[d + 1], lines[d + 2], lines[d + 3]
        w0 = w1 = w2 = w3 = x0 = x1 = x2 = x3 = np.float32(0.0)
        y0 = y1 = y2 = y3 = z0 = z1 = z2 = z3 = np.float32(0.0)
        for j in range(a.shape[1]):
            s0, s1, s2, s3 = a0[j], a1[j], a2[j], a3[j]
            c = c0[j]
            w0 += s0 * c
            x0 += s1 * c
            y0 += s2 * c
            z0 += s3 * c
            c = c1[j]
            w1 += s0 * c
            x1 += s1 * c
            y1 += s2 * c
            z1 += s3 * c
            c = c2[j]
            w2 += s0 * c
            x2 += s1 * c
            y2 += s2 * c
            z2 += s3 * c
            c = c3[j]
            w3 += s0 * c
            x3 += s1 * c
            y3 += s2 * c
            z3 += s3 * c
        out[d] -= 2.0 * (w0 * rows[0, d] + x0 * rows[1, d] + y0 * rows[2, d] + z0 * rows[3, d])
        d1, d2, d3 = d + 1, d + 2, d + 3
        out[d1] -= 2.0 * (w1 * rows[0, d1] + x1 * rows[1, d1] + y1 * rows[2, d1] + z1 * rows[3, d1])
        out[d2] -= 2.0 * (w2 * rows[0, d2] + x2 * rows[1, d2] + y2 * rows[2, d2] + z2 * rows[3, d2])
        out[d3] -= 2.0 * (w3 * rows[0, d3] + x3 * rows[1, d3] + y3 * rows[2, d3] + z3 * rows[3, d3])


@jit(_nrt=False)
def add_row_squares(total, row, out):
    """Add ``total row[d]^2``, total the sum over j of a row's A."""
    wide()
    for d in range(out.shape[0]):
        out[d] += total * row[d] * row[d]


@jit(fastmath={"contract", "reassoc"}, _nrt=False)
def add_squares_of_lines(lines, by_w, w, whole, out):
    """Add ``sum over j of w_j by_w_j lines[d, j]^2``: w by_w is the sum of A over references."""
    wide()
    for d in range(whole):
        total, line = 0.0, lines[d]
        for j in range(w.shape[0]):
            total += by_w[j] * w[j] * line[j] * line[j]
        out[d] += total
