"""Exact splits by columns with few distinct values, from sums by value.

As in `newton_exact`, the gain is first bounded in integers, and a column that may be best is then
evaluated in the arithmetic of the reference; here cuts are between values, not between rows.
"""

import numpy as np

from psephos.kernels.sorted_trees.newton_exact import better_cut, hits
from psephos.kernels.sorted_trees.newton_gain import centre_of
from psephos.runtime.jit import jit

_F = np.float32
_U = np.uintp


@jit
def code_columns(values, order, known, most, codes, levels, n_levels):
    """Code the sorted columns with at most `most` distinct values.

    Writes codes (p, n), missing values after the last; levels (p, most), the values; and n_levels
    (p,), their numbers, 0 for columns with more values.
    """
    for j in range(len(n_levels)):
        count = -1
        for k in range(known[j]):
            v = values[j, order[j, k]]
            if count < 0 or v != levels[j, count]:
                count += 1
                if count == most:
                    break
                levels[j, count] = v
            codes[j, order[j, k]] = count
        n_levels[j] = 0 if count == most else count + 1
        for k in range(known[j], values.shape[1]):
            codes[j, order[j, k]] = count + 1


@jit
def _exact_codes(
    pen, levels, size, codes, rows, forwards, gh, sums, G, H, bounds, column, best
):  # fmt: skip
    """Improve `best` as `exact_split` does, from sums by value; `sums` (>= size + 1, 2): room."""
    centre, root = centre_of(pen, G, H, bounds[0])
    bounds = (root, bounds[1], bounds[2], bounds[3], centre)
    for c in range(size + 1):
        sums[c, 0] = sums[c, 1] = 0.0
    for i in range(len(rows)):
        r = _U(rows[i])
        c = _U(codes[r])
        sums[c, 0] += np.float64(gh[r, 0])
        sums[c, 1] += np.float64(gh[r, 1])
    for backwards in range(0 if forwards else 1, 2):
        acc_g = acc_h = 0.0
        last = _F(0.0)
        step = pen.share * H
        due = step
        for i in range(size + 1):  # last: all known values against the missing ones
            over = i == size
            c = size - 1 - i if backwards else i
            if not over and sums[c, 1] == 0.0:
                continue  # no rows
            v = last if over else levels[c]
            if acc_h != 0.0 and acc_h >= pen.least and (over or acc_h >= due):
                if step > 0.0:
                    due = (np.floor(acc_h / step) + 1.0) * step
                best = better_cut(
                    pen, acc_g, acc_h, G, H, bounds, backwards, v, last, over, column, best
                )
            if not over:
                acc_g += sums[c, 0]
                acc_h += sums[c, 1]
                last = v
    return best


@jit
def scan_codes(
    pen, coded, direction, columns, allowed, slot, gh, packed, level, scale, rows, start, hist,
    running, sums, loss, split, missing_left, chosen,
):  # fmt: skip
    """Find the best split of every slot among some coded columns; see `scan_columns`.

    Parameters
    ----------
    coded : (codes (p, n), levels (p, most), n_levels (p,), known (p,))
    scale : factors (of gradients, of hessians) that made them integers
    rows, start : the rows of slot s are ``rows[start[s] : start[s] + size[s]]``
    hist, running, sums : scratch, (S + 1, most + 1), (most,) and (most + 1, 2)
    """
    codes, levels, n_levels, known = coded
    totals, whole, size, root, low, high = level
    for at in range(len(columns)):
        j = columns[at]
        count, mine, absent = n_levels[j], codes[j], known[j] < len(slot)
        for s in range(len(whole)):
            for c in range(count + 1):
                hist[s, c] = 0
        for i in range(len(slot)):
            hist[_U(slot[i]), _U(mine[i])] += packed[i]
        for s in range(len(whole)):
            if len(allowed) and not allowed[s, j]:
                continue
            if totals[s, 1] < 2.0 * pen.least * (1.0 - 1e-9):
                continue
            total = np.int64(0)
            for c in range(count):
                total += hist[s, c]
                running[c] = total
            if hits(
                pen, running[:count], absent, whole[s] - total, whole[s], size[s], False,
                root[s],
                loss[s], scale[0], scale[1],
            ):  # fmt: skip
                inside = rows[start[s] : start[s] + size[s]]
                best = (loss[s], split[s], missing_left[s], chosen[s])
                loss[s], split[s], missing_left[s], chosen[s] = _exact_codes(
                    pen, levels[j], count, mine, inside, absent and count > 1, gh, sums,
                    totals[s, 0], totals[s, 1], (root[s], low[s], high[s], direction[j]), j, best,
                )  # fmt: skip
