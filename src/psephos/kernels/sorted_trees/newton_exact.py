"""Exact second-order splits of all nodes of one level, by sorted columns, values or categories.

The order of a column never changes. One pass over it computes for each node the running sums of its
rows in integers: a rounded gradient and hessian share 64 bits, so that a row needs one addition and
sums do not depend on the order. A second, vectorised pass bounds the gain of all cuts of a node,
allowing for rounding. Only if the bound exceeds the best split so far is the column evaluated in
the arithmetic of the reference (`exact_split`): few columns per node.

Of a column with few distinct values the sums are by value, and cuts between values, not rows.

Of a node's categories, the best of all 2^(K-1) divisions into two sets keeps their order by G / H
(Fisher 1958; here G / (H + lambda), so that rare categories are in the middle): K - 1 cuts are
evaluated, each with missing values on either side.
"""

import numpy as np

from psephos.kernels.numerics.ordering import order_of
from psephos.kernels.sorted_trees.newton_gain import centre_of, comes_first, least_of, loss_of
from psephos.runtime.jit import jit

_BLOCK = 1024  # rows with the same allowance for rounding
_F = np.float32
_U = np.uintp


@jit
def pack(gh, slot, dead, scale_g, scale_h, out):
    """Write to out (n,) gradients and hessians as integers, gradients in the high 32 bits.

    Rows in the slot `dead` become 0.
    """
    for i in range(len(out)):
        if slot[i] == dead:
            out[i] = 0
        else:
            g = np.int64(np.rint(gh[i, 0] * scale_g))
            out[i] = g * np.int64(4294967296) + np.int64(np.rint(gh[i, 1] * scale_h))


@jit
def level_totals(slot, gh, packed, sums, whole, size):
    """Sum, in the order of rows, each slot's (G, H), packed sum and number of rows."""
    for i in range(len(slot)):
        s = _U(slot[i])
        sums[s, 0] += np.float64(gh[i, 0])
        sums[s, 1] += np.float64(gh[i, 1])
        whole[s] += packed[i]
        size[s] += 1


@jit
def descend(values, feature, split, missing_left, first, sets, members, position):
    """Write to `position` (n,) the leaf of every row."""
    for i in range(len(position)):
        node = 0
        while feature[node] >= 0:
            x = values[feature[node], i]  # repeated in `route`: a call per row is slower
            if np.isnan(x):
                left = missing_left[node]
            elif sets[node] >= 0:
                left = members[sets[node], np.int64(x)]
            else:
                left = x < split[node]
            node = first[node] if left else first[node] + 1
        position[i] = node


@jit
def route(
    values, feature, split, missing_left, first, sets, members, base, alive, dead, position, slot
):
    """Move rows from their node (`position`) to its child, and set their slots of the next level.

    Nodes from `base` on belong to the next level; `slot` becomes their index there, or `dead` for
    rows in other nodes and for rows that are not `alive`. A node that splits on categories has a
    row of `members` (``sets[node]``, else -1).
    """
    for i in range(len(position)):
        node = position[i]
        j = feature[node]
        if j >= 0:
            x = values[j, i]
            if np.isnan(x):
                left = missing_left[node]
            elif sets[node] >= 0:
                left = members[sets[node], np.int64(x)]
            else:
                left = x < split[node]
            node = first[node] if left else first[node] + 1
            position[i] = node
        inside = alive[i] and node >= base and node - base < dead
        slot[i] = node - base if inside else dead


@jit(inline="always")  # called, it takes a tenth longer
def better_cut(pen, acc_g, acc_h, G, H, bounds, backwards, value, last, over, column, best):
    """Return `best`, or the cut before `value` if its gain is greater.

    `acc_g` and `acc_h` are the sums over values up to `last`, upwards or, if `backwards`,
    downwards. If all known values are included (`over`), `value` is ignored and the cut separates
    known values from missing ones.

    The midpoint of two adjacent float32 numbers is one of them. Upwards, the reference then uses
    the lower one, so that no row is before the cut. If that would violate a direction, or with
    shares or a centre, which the reference does not have, the higher one is used.
    """
    root, low, high, direction, centre = bounds
    loss, where, left_missing, chosen = best
    rest_g, rest_h = G - acc_g, H - acc_h
    if rest_h < pen.least:
        return loss, where, left_missing, chosen
    acc_g, rest_g = acc_g - centre * acc_h, rest_g - centre * rest_h
    if backwards:
        got = loss_of(pen, rest_g, rest_h, acc_g, acc_h, root, low, high, direction)
    else:
        got = loss_of(pen, acc_g, acc_h, rest_g, rest_h, root, low, high, direction)
    better = got > loss or (got == loss and comes_first(pen.ties, column, chosen))
    if better and got < np.inf:
        loss, left_missing, chosen = got, backwards == 1, column
        if over:
            gap = abs(last)
            if not (pen.centred or pen.share > 0.0):
                gap += _F(1e-6)  # the reference's
            elif gap == 0.0:
                gap += _F(np.inf)
            where = last - gap if backwards else last + gap
        else:
            where = (value + last) * _F(0.5)
            if (pen.centred or pen.share > 0.0) and np.isinf(
                where
            ):  # elsewhere the reference's overflow is ours
                where = value * _F(0.5) + last * _F(0.5)
            if where == value:
                where = last
            free = pen.constrained or pen.centred or pen.share > 0.0
            if where == last and not backwards and free:
                where = value
    return loss, where, left_missing, chosen


@jit
def exact_split(pen, x, rows, forwards, gh, G, H, bounds, column, best):
    """Improve `best` (loss, split, missing left, column) by one column of one node.

    `rows` are those of the node with known values, sorted by the column `x`; `bounds` are the gain
    of the node, the least and the greatest weight, and the column's direction.

    With ``pen.share`` > 0 a cut is evaluated only after the sum of hessians has passed another
    multiple of that share of the node's: at its weighted quantiles.

    First missing values go right (only if `forwards`: the column has some, and is not constant);
    then, backwards, they go left. Of equal losses the lower column is kept, or the one drawn by
    ``pen.ties``, and within a column the first cut.
    """
    known = len(rows)
    centre, root = centre_of(pen, G, H, bounds[0])
    bounds = (root, bounds[1], bounds[2], bounds[3], centre)
    for backwards in range(0 if forwards else 1, 2):
        acc_g = acc_h = 0.0
        last = _F(0.0)
        step = pen.share * H
        due = step
        for i in range(known):
            r = rows[known - 1 - i] if backwards else rows[i]
            v = x[r]
            if acc_h == 0.0:
                last = v
            elif v != last and acc_h >= pen.least and acc_h >= due:
                if step > 0.0:
                    due = (np.floor(acc_h / step) + 1.0) * step
                best = better_cut(
                    pen, acc_g, acc_h, G, H, bounds, backwards, v, last, False, column, best
                )
            acc_g += np.float64(gh[r, 0])
            acc_h += np.float64(gh[r, 1])
            last = v
        if acc_h != 0.0 and acc_h >= pen.least:
            best = better_cut(
                pen, acc_g, acc_h, G, H, bounds, backwards, last, last, True, column, best
            )
    return best


@jit(inline="always")
def _may_gain(sums, shift, whole, near, far, bar):
    """Return whether any cut after the rows of `sums` may gain more than `bar`.

    `near` and `far`, for the side of the sums and the other side, are the number added to its
    hessians, the least sum after that, and the number added to its gradients. If a sum of hessians
    is too small for a bound, the cut may.
    """
    found = np.int32(0)
    for k in range(len(sums)):
        a = sums[k] + shift
        b = whole - a
        u = _F(np.int32(a)) + near[0]
        v = _F(np.int32(b)) + far[0]
        x = abs(_F(np.int32(a >> 32))) + near[2]
        y = abs(_F(np.int32(b >> 32))) + far[2]
        x = x if x > _F(0.0) else _F(0.0)
        y = y if y > _F(0.0) else _F(0.0)
        wide = x * x * v + y * y * u > bar * (u * v)
        unbounded = (u <= _F(0.0)) | (v <= _F(0.0))
        found += np.int32((wide | unbounded) & (u >= near[1]) & (v >= far[1]))
    return found > 0


@jit(inline="always")
def _allowance(pen, rows, shrunk, scale_h):
    """Return the allowance of one side of a cut for the rounding of `rows` rows."""
    error = 0.5 * rows + 1.0
    lam = pen.lam * scale_h - error
    edge = pen.least * scale_h - error + lam
    return _F(lam), _F(edge - 1e-6 * abs(edge)), _F(error - shrunk)


@jit(fastmath={"contract"})
def hits(pen, sums, partial, missing, whole, size, by_row, root, best, scale_g, scale_h):
    """Return whether any cut after the entries of `sums` may gain more than `best`.

    The bound allows for the rounding of `size` rows, for float32, for sides that are too small, and
    (if `partial`) for missing values on either side. If an entry is a row (`by_row`), the allowance
    of a side is that of its own rows: in a node of many rows, that of all rows could exceed the
    least sum of hessians of a side, and the bound would be useless.
    """
    known = len(sums)
    bar = _F(least_of(root, best) * (scale_g * scale_g / scale_h))
    # The gain of a bounded weight is without alpha: see `gain_of`.
    free = pen.step == 0.0 and not pen.constrained
    shrunk = pen.alpha * scale_g * (1.0 - 1e-6) if free else 0.0
    step = _BLOCK if by_row else max(known, 1)
    for first in range(0, known, step):
        last = min(first + step, known)
        # rows with missing values may be on either side
        near = _allowance(pen, size - known + last if by_row else size, shrunk, scale_h)
        far = _allowance(pen, size - first if by_row else size, shrunk, scale_h)
        part = sums[first:last]
        for side in range(2 if partial else 1):
            shift = missing if side else np.int64(0)
            if _may_gain(part, shift, whole, near, far, bar):
                return True
    return False


@jit
def _deal(rows, slot, packed, at, sums):
    """Add each row to the running sums of its slot."""
    for k in range(len(rows)):
        r = _U(rows[k])
        s = _U(slot[r])
        q = _U(at[s])
        sums[q] = sums[q - _U(1)] + packed[r]
        at[s] = np.uint32(q + _U(1))


@jit
def deal_rows(order, slot, start, at, out):
    """Write the rows of each slot to out, in order, from ``start[slot]`` on."""
    for s in range(len(at)):
        at[s] = start[s]
    for k in range(len(order)):
        r = order[k]
        s = _U(slot[r])
        q = _U(at[s])
        out[q] = r
        at[s] = np.uint32(q + _U(1))


@jit
def scan_columns(
    pen, table, columns, allowed, slot, gh, packed, start, level, scale_g, scale_h,
    at, sums, spot, dealt, loss, split, missing_left, chosen,
):  # fmt: skip
    """Find the best split of every slot among some columns.

    Parameters
    ----------
    table : (values (p, n), order (p, n), known (p,), direction (p,))
    columns : columns to evaluate, increasing
    allowed : (S, p) whether a node may use a column; empty if all may use all
    slot : (n,) index of each row's node, S for rows of none
    gh, packed : gradients and hessians of rows, and the same as integers
    start : (S + 2,) start of each slot's running sums, after one free entry
    level : (sums (S, 2), whole (S,), size (S,), root (S,), low (S,), high (S,))
    at, sums, spot, dealt : scratch, (S + 1,), (start[-1],), (S + 1,) and (start[-1],)
    loss, split, missing_left, chosen : (S,) the best so far; chosen -1: none
    """
    values, order, known, direction = table
    totals, whole, size, root, low, high = level
    slots = len(whole)
    for j in columns:
        for s in range(slots + 1):
            at[s] = start[s]
            sums[start[s] - 1] = 0
        fresh = False
        _deal(order[j, : known[j]], slot, packed, at, sums)
        for s in range(slots):
            if len(allowed) and not allowed[s, j]:
                continue
            near, end = start[s], np.int64(at[s])
            if end == near or totals[s, 1] < 2.0 * pen.least * (1.0 - 1e-9):
                continue
            mine = sums[near:end]
            if hits(
                pen, mine, end - near < size[s], whole[s] - mine[-1], whole[s], size[s], True,
                root[s], loss[s], scale_g, scale_h,
            ):  # fmt: skip
                if not fresh:  # only for columns that may be best
                    deal_rows(order[j, : known[j]], slot, start, spot, dealt)
                    fresh = True
                first, last = order[j, 0], order[j, known[j] - 1]
                forwards = known[j] < len(slot) and values[j, first] != values[j, last]
                best = (loss[s], split[s], missing_left[s], chosen[s])
                loss[s], split[s], missing_left[s], chosen[s] = exact_split(
                    pen, values[j], dealt[near:end], forwards, gh, totals[s, 0], totals[s, 1],
                    (root[s], low[s], high[s], direction[j]), j, best,
                )  # fmt: skip


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


@jit
def split_categories(
    pen, x, column, allowed, slot, gh, level, sums, ratio, present, room, loss, chosen,
    missing_left, members,
):  # fmt: skip
    """Improve the best split of every slot by one categorical column.

    Parameters
    ----------
    x : (n,) float32 codes, NaN where missing
    allowed : (S,) whether a node may use the column; empty if all may
    slot, gh, level : see `scan_columns`
    sums : (S + 1, n_codes, 3) zeros, for gradients, hessians and rows by code
    ratio, present, room : scratch, (n_codes,) float64, (n_codes,) and (2, n_codes) int64
    loss, chosen, missing_left : (S,) the best so far, updated
    members : (S, >= n_codes) the codes of the first child of updated splits
    """
    totals, _whole, _size, root, low, high = level
    slots, n_codes = len(loss), len(ratio)
    for i in range(len(slot)):
        if x[i] == x[i]:
            c = np.int64(x[i])
            sums[slot[i], c, 0] += np.float64(gh[i, 0])
            sums[slot[i], c, 1] += np.float64(gh[i, 1])
            sums[slot[i], c, 2] += 1.0
    for s in range(slots):
        if len(allowed) and not allowed[s]:
            continue
        count = np.int64(0)
        known_g = known_h = 0.0
        for c in range(n_codes):
            if sums[s, c, 2] > 0.0:
                g, h = sums[s, c, 0], sums[s, c, 1]
                present[count] = c
                ratio[count] = g / (h + pen.lam) if h + pen.lam > 0.0 else 0.0
                known_g += g
                known_h += h
                count += 1
        if count == 0:
            continue
        order = room[order_of(ratio, count, room)]
        absent_g, absent_h = totals[s, 0] - known_g, totals[s, 1] - known_h
        centre, base = centre_of(pen, totals[s, 0], totals[s, 1], root[s])
        best = -1
        acc_g = acc_h = 0.0
        for i in range(count):
            acc_g += sums[s, present[order[i]], 0]
            acc_h += sums[s, present[order[i]], 1]
            for side in range(2):
                left_g, left_h = acc_g + side * absent_g, acc_h + side * absent_h
                right_g, right_h = totals[s, 0] - left_g, totals[s, 1] - left_h
                if left_h < pen.least or right_h < pen.least or left_h == 0.0 or right_h == 0.0:
                    continue
                if i == count - 1 and side == 1:
                    continue
                left_g, right_g = left_g - centre * left_h, right_g - centre * right_h
                got = loss_of(
                    pen, left_g, left_h, right_g, right_h, base, low[s], high[s], np.int64(0)
                )
                drawn = got == loss[s] and comes_first(pen.ties, column, chosen[s])
                better = got > loss[s] or drawn
                if better and got < np.inf:
                    best = i
                    loss[s], chosen[s], missing_left[s] = got, column, side == 1
        if best >= 0:
            for c in range(members.shape[1]):
                members[s, c] = False
            for i in range(best + 1):
                members[s, present[order[i]]] = True
