"""A whole second-order tree on binned columns, in one call.

Gradient and hessian of a row, rounded to whole numbers, share 64 bits: a bin of a histogram costs
one addition a row, sums are exact, and a child's histogram is its parent's less its sibling's.
Nodes are grown depth first, so that no more histograms are held than the tree is deep. Bins are
bounded in vectors first, as in `newton_exact`; columns that may beat the best split known are gone
through in full.
"""

import numpy as np

from psephos.kernels._jit import jit
from psephos.kernels.newton_exact import hits
from psephos.kernels.newton_gain import gain_of, loss_of, weight_of

__all__ = ["BINS", "WIDTH", "grow_hist", "lay_out", "leaf_answers"]

BINS = 256
WIDTH = 8  # columns whose codes stand side by side
_F = np.float32
_U = np.uintp
_LEAST_LOSS = _F(1e-6)


@jit(_nrt=False)
def lay_out(codes, out):
    """Write the (p, n) codes to out (blocks, n, WIDTH), columns side by side."""
    for j in range(codes.shape[0]):
        block, lane = j // WIDTH, j % WIDTH
        for i in range(codes.shape[1]):
            out[block, i, lane] = codes[j, i]


@jit(_nrt=False)
def _add_eight(codes, rows, packed, h0, h1, h2, h3, h4, h5, h6, h7):
    for i in range(len(rows)):
        r = _U(rows[i])
        v = packed[r]
        c = codes[r]
        h0[_U(c[0])] += v
        h1[_U(c[1])] += v
        h2[_U(c[2])] += v
        h3[_U(c[3])] += v
        h4[_U(c[4])] += v
        h5[_U(c[5])] += v
        h6[_U(c[6])] += v
        h7[_U(c[7])] += v


@jit(_nrt=False)
def _add_four(codes, rows, packed, h0, h1, h2, h3):
    for i in range(len(rows)):
        r = _U(rows[i])
        v = packed[r]
        c = codes[r]
        h0[_U(c[0])] += v
        h1[_U(c[1])] += v
        h2[_U(c[2])] += v
        h3[_U(c[3])] += v


@jit(_nrt=False)
def _fill(codes, p, rows, packed, hist):
    """Make the histograms (blocks * WIDTH, BINS) of some rows."""
    for j in range(hist.shape[0]):
        for b in range(BINS):
            hist[j, b] = 0
    for block in range(codes.shape[0]):
        j = block * WIDTH
        if p - j > 4:
            _add_eight(
                codes[block], rows, packed, hist[j], hist[j + 1], hist[j + 2], hist[j + 3],
                hist[j + 4], hist[j + 5], hist[j + 6], hist[j + 7],
            )  # fmt: skip
        else:
            _add_four(codes[block], rows, packed, hist[j], hist[j + 1], hist[j + 2], hist[j + 3])


@jit(_nrt=False)
def _take_away(hist, other):
    for j in range(hist.shape[0]):
        a, b = hist[j], other[j]
        for k in range(BINS):
            a[k] -= b[k]


@jit(_nrt=False)
def _parts(packed, scale_g, scale_h):
    """Return (G, H) of a packed sum."""
    g = packed >> 32
    return np.float64(g) / scale_g, np.float64(packed - (g << 32)) / scale_h


@jit(_nrt=False)
def _numeric_split(pen, sums, missing, whole, scale, bounds, column, best):
    """Improve `best` (loss, column, bin, missing left) by a column's running sums over bins."""
    root, low, high, direction = bounds
    loss, chosen, where, left_missing = best
    for side in range(2 if missing != 0 else 1):
        # Nothing missing: where such a value goes is the heavier side's to say, afterwards.
        last = len(sums) if missing != 0 and side == 0 else len(sums) - 1
        for b in range(last):
            left = sums[b] + (missing if side else 0)
            left_g, left_h = _parts(left, scale[0], scale[1])
            right_g, right_h = _parts(whole - left, scale[0], scale[1])
            if left_h < pen.least or right_h < pen.least:
                continue
            if b > 0 and sums[b] == sums[b - 1]:
                continue
            got = loss_of(pen, left_g, left_h, right_g, right_h, root, low, high, direction)
            if got > loss and got < np.inf:
                heavier = left_h >= right_h
                loss, chosen, where = got, column, b
                left_missing = side == 1 if missing != 0 else heavier
    return loss, chosen, where, left_missing


@jit(_nrt=False)
def _category_split(
    pen, hist, size, missing, whole, scale, bounds, column, best, order, ratio, lut
):
    """Do so by a column of categories; write the first child's bins to `lut` (BINS,)."""
    root, low, high, _ = bounds
    loss, chosen, where, left_missing = best
    present = 0
    for b in range(size):
        if hist[b] != 0:
            g, h = _parts(hist[b], scale[0], scale[1])
            r = g / (h + pen.lam) if h + pen.lam > 0.0 else 0.0
            k = present
            while k > 0 and ratio[k - 1] > r:
                ratio[k], order[k] = ratio[k - 1], order[k - 1]
                k -= 1
            ratio[k], order[k] = r, b
            present += 1
    found = -1
    for side in range(2 if missing != 0 else 1):
        left = missing if side else np.int64(0)
        last = present if missing != 0 and side == 0 else present - 1
        for k in range(last):
            left += hist[order[k]]
            left_g, left_h = _parts(left, scale[0], scale[1])
            right_g, right_h = _parts(whole - left, scale[0], scale[1])
            if left_h < pen.least or right_h < pen.least:
                continue
            got = loss_of(pen, left_g, left_h, right_g, right_h, root, low, high, 0)
            if got > loss and got < np.inf:
                heavier = left_h >= right_h
                loss, chosen, where, found = got, column, 0, k
                left_missing = side == 1 if missing != 0 else heavier
    if found >= 0:
        for b in range(BINS):
            lut[b] = 0
        for k in range(found + 1):
            lut[order[k]] = 1
    return loss, chosen, where, left_missing


@jit(_nrt=False)
def best_split(pen, hist, columns, n_bins, direction, whole, scale, bounds, room):
    """Return (loss, column, bin, missing left) of a node's best split; the column is -1 if none.

    `room`: (running sums (BINS,), order (BINS,), ratio (BINS,), lut (BINS,)).
    """
    sums, order, ratio, lut = room
    root = bounds[0]
    best = (_F(0.0), np.int64(-1), np.int64(0), np.bool_(False))
    for c in range(len(columns)):
        j = columns[c]
        size = abs(n_bins[j])
        mine = hist[j]
        here = bounds[0], bounds[1], bounds[2], direction[j]
        if n_bins[j] < 0:  # categories
            best = _category_split(
                pen, mine, size, mine[size], whole, scale, here, j, best, order, ratio, lut
            )
            continue
        total = np.int64(0)
        for b in range(size):
            total += mine[b]
            sums[b] = total
        missing = whole - total
        known = sums[:size]
        if hits(
            pen, known, missing != 0, missing, whole, 0, root, best[0], scale[0], scale[1]
        ):  # fmt: skip
            best = _numeric_split(pen, known, missing, whole, scale, here, j, best)
    return best


@jit(_nrt=False)
def _divide(codes, lut, rows, spare):
    """Move rows whose code is in `lut` to the front, each side in its order; return how many."""
    kept = _U(0)
    other = _U(0)
    for i in range(len(rows)):
        r = rows[i]
        rows[kept] = r
        spare[other] = r
        side = _U(lut[codes[_U(r)]])
        kept += side
        other += _U(1) - side
    for i in range(other):
        rows[kept + _U(i)] = spare[i]
    return np.int64(kept)


@jit(_nrt=False)
def _draw(seed, node, columns, count, out):
    """Draw `count` of the columns for a node, increasing, by selection sampling."""
    state = np.uint64(seed) + np.uint64(node) * np.uint64(0x9E3779B97F4A7C15)
    needed, left, at = count, len(columns), 0
    for c in range(len(columns)):
        state += np.uint64(0x9E3779B97F4A7C15)
        z = state
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
        u = np.float64(z >> np.uint64(11)) / 9007199254740992.0
        if u * left < needed:
            out[at] = columns[c]
            at += 1
            needed -= 1
        left -= 1
    return at


@jit(_nrt=False)
def grow_hist(
    pen, bins, levels, by_node, seed, max_depth, rows, spare, packed, scale, hists, room, own,
    stack, nodes, luts,
):  # fmt: skip
    """Grow one tree and return its number of nodes.

    Parameters
    ----------
    pen : Penalty
    bins : (blocks (b, n, WIDTH) codes, codes (p, n), n_bins (p,), direction (p,))
        ``-n_bins[j]`` is given for a column of categories; the missing code is ``n_bins[j]``.
    levels : (level_columns (max_depth, p), level_sizes (max_depth,))
        Columns of each level.
    by_node, seed : share of them drawn for each node, and the seed of the draws
    rows : (m,) the rows, put into the order of leaves
    spare, room, own : scratch
    packed, scale : whole gradients and hessians of all rows, and what they were multiplied by
    hists : (max_depth + 2, blocks * WIDTH, BINS) room for histograms
    stack : (max_depth + 2, 3) room: node, depth, histogram
    nodes : (feature, bin, missing_left, first, loss, start, end, low, high), each (capacity,)
    luts : (capacity, BINS) or (0, BINS): bins of the first child, for splits on categories
    """
    blocks, codes, n_bins, direction = bins
    feature, cut, missing_left, first, loss, begin, end, low, high = nodes
    lut = room[3]
    feature[0], begin[0], end[0] = -1, 0, len(rows)
    low[0], high[0] = -np.inf, np.inf
    count, top = 1, 1
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, 0, 0
    _fill(blocks, codes.shape[0], rows, packed, hists[0])
    while top > 0:
        top -= 1
        node, depth, at = stack[top, 0], stack[top, 1], stack[top, 2]
        free = at + 1  # the one pending below it on the stack holds a lower place
        hist = hists[at]
        j0 = levels[0][depth, 0]
        whole = np.int64(0)
        for b in range(abs(n_bins[j0]) + 1):
            whole += hist[j0, b]
        G, H = _parts(whole, scale[0], scale[1])
        columns = levels[0][depth, : levels[1][depth]]
        if by_node < 1.0:
            wanted = max(1, np.int64(by_node * len(columns)))
            columns = own[: _draw(seed, node, columns, wanted, own)]
        root = gain_of(pen, G, H, low[node], high[node])
        best = best_split(
            pen, hist, columns, n_bins, direction, whole, scale,
            (root, low[node], high[node]), room,
        )  # fmt: skip
        if best[1] < 0 or best[0] <= _LEAST_LOSS:
            continue
        j, size = best[1], abs(n_bins[best[1]])
        if n_bins[j] > 0:
            for b in range(BINS):
                lut[b] = 1 if b <= best[2] else 0
        else:
            for b in range(BINS):
                luts[node, b] = lut[b]
        lut[size] = 1 if best[3] else 0
        mine = rows[begin[node] : end[node]]
        middle = begin[node] + _divide(codes[j], lut, mine, spare)
        if middle == begin[node] or middle == end[node]:
            continue  # a side of rows without weight
        feature[node], cut[node], missing_left[node], loss[node] = j, best[2], best[3], best[0]
        first[node] = count
        one, two = count, count + 1
        count += 2
        for child in (one, two):
            feature[child], first[child], loss[child] = -1, 0, 0.0
            low[child], high[child] = low[node], high[node]
        begin[one], end[one], begin[two], end[two] = begin[node], middle, middle, end[node]
        left = np.int64(0)
        for b in range(size + 1):
            if lut[b]:
                left += hist[j, b]
        left_g, left_h = _parts(left, scale[0], scale[1])
        right_g, right_h = _parts(whole - left, scale[0], scale[1])
        if pen.constrained and direction[j] != 0:
            left_w = weight_of(pen, left_g, left_h, low[node], high[node])
            right_w = weight_of(pen, right_g, right_h, low[node], high[node])
            between = (left_w + right_w) * _F(0.5)
            if direction[j] > 0:
                high[one] = low[two] = between
            else:
                low[one] = high[two] = between
        enough = 2.0 * pen.least * (1.0 - 1e-9)
        if depth + 1 == max_depth or max(left_h, right_h) < enough:
            continue
        small, large, small_h, large_h = one, two, left_h, right_h
        if end[one] - begin[one] > end[two] - begin[two]:
            small, large, small_h, large_h = two, one, right_h, left_h
        # Of two histograms the smaller is made, the other is what is left of the parent's.
        place = free if large_h >= enough else at
        _fill(blocks, codes.shape[0], rows[begin[small] : end[small]], packed, hists[place])
        if large_h >= enough:
            _take_away(hist, hists[place])
            stack[top, 0], stack[top, 1], stack[top, 2] = large, depth + 1, at
            top += 1
        if small_h >= enough:
            stack[top, 0], stack[top, 1], stack[top, 2] = small, depth + 1, place
            top += 1
    return count


@jit(_nrt=False)
def leaf_answers(rows, begin, end, feature, first, gh, count, sums, position):
    """Write every node's (G, H) to sums (count, 2), and the leaf of each row to `position`."""
    for node in range(count - 1, -1, -1):
        if feature[node] >= 0:
            for k in range(2):
                sums[node, k] = sums[first[node], k] + sums[first[node] + 1, k]
        else:
            G = H = 0.0
            for i in range(begin[node], end[node]):
                r = rows[i]
                G += np.float64(gh[r, 0])
                H += np.float64(gh[r, 1])
                position[r] = node
            sums[node, 0], sums[node, 1] = G, H
