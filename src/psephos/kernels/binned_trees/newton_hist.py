"""Second-order trees on binned columns: a whole tree in one call, or sums of blocks of rows.

Gradient and hessian of a row, rounded to whole numbers, share 64 bits: a histogram costs one
addition per row and column, sums are exact, and a child's histogram is its parent's minus its
sibling's. Without a limit on the leaves nodes are grown depth first, the child of fewer rows before
its sibling, so that at most log2(rows) histograms are held. The gain of each column is bounded
first, in vectors, as in `newton_exact`; only columns that may beat the best split so far are
searched in full.

The best split of a leaf is searched when the leaf is made; the leaf then waits to be split.
Histograms of waiting leaves are kept while there is memory for them, so that the larger child's can
be had by subtraction; otherwise they are computed again when the leaf is split, with the same sums.

Histograms are sums of whole numbers, so they are the same for any order of rows or blocks. Sums in
floating point are continued from block to block in the order of the rows.
"""

import numpy as np

from psephos.kernels.binned_trees.forest_cuts import uniform
from psephos.kernels.small_models.tree import GAMMA
from psephos.kernels.sorted_trees.newton_exact import hits
from psephos.kernels.sorted_trees.newton_gain import centre_of, gain_of, loss_of, weight_of
from psephos.runtime.jit import jit

BINS = 256
WIDTH = 8  # columns whose codes stand side by side
FEATURE, CUT, MISSING_LEFT, FIRST, BEGIN, END = range(6)  # of a node, in whole numbers
LOSS, LOW, HIGH = range(3)  # in float32
#: Which leaf is split next: the smaller of the two made last, the one made first, or the one with
#: the greatest gain.
DEEPEST, EARLIEST, BEST = range(3)
_F = np.float32
_U = np.uintp
_LEAST_LOSS = _F(1e-6)


@jit
def _add_eight(codes, rows, packed, hist, first):
    for i in range(len(rows)):
        r = _U(rows[i])
        v = packed[r]
        for k in range(WIDTH):  # the compiler unrolls it
            hist[_U(first + k), _U(codes[r, k])] += v


@jit(inline="always")
def fill(codes, rows, packed, hist):
    """Make the histograms (blocks * WIDTH, BINS) of some rows."""
    for j in range(hist.shape[0]):
        for b in range(BINS):
            hist[j, b] = 0
    for block in range(codes.shape[0]):
        _add_eight(codes[block], rows, packed, hist, block * WIDTH)


@jit(inline="always")
def take_away(hist, other):
    """Subtract histograms, in place."""
    for j in range(hist.shape[0]):
        a, b = hist[j], other[j]
        for k in range(BINS):
            a[k] -= b[k]


@jit(inline="always")
def _parts(packed, scale_g, scale_h):
    """Return (G, H) of a packed sum."""
    g = packed >> 32
    return np.float64(g) / scale_g, np.float64(packed - (g << 32)) / scale_h


@jit
def _numeric_split(pen, sums, missing, whole, scale, bounds, column, best):
    """Improve `best` (loss, column, bin, missing left) by a column's running sums over bins."""
    root, low, high, direction, centre = bounds
    loss, chosen, where, left_missing = best
    for side in range(2 if missing != 0 else 1):
        # Nothing is missing: missing values will go to the heavier side, which is decided later.
        last = len(sums) if missing != 0 and side == 0 else len(sums) - 1
        for b in range(last):
            left = sums[b] + (missing if side else 0)
            left_g, left_h = _parts(left, scale[0], scale[1])
            right_g, right_h = _parts(whole - left, scale[0], scale[1])
            if left_h < pen.least or right_h < pen.least:
                continue
            if b > 0 and sums[b] == sums[b - 1]:
                continue
            left_g, right_g = left_g - centre * left_h, right_g - centre * right_h
            got = loss_of(pen, left_g, left_h, right_g, right_h, root, low, high, direction)
            if got > loss and got < np.inf:
                heavier = left_h >= right_h
                loss, chosen, where = got, column, b
                left_missing = side == 1 if missing != 0 else heavier
    return loss, chosen, where, left_missing


@jit
def _category_split(pen, hist, size, missing, whole, scale, bounds, column, best, categories):
    """Improve `best` by a column of categories; write the first child's bins."""
    root, low, high, _, centre = bounds
    order, ratio, lut = categories
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
            left_g, right_g = left_g - centre * left_h, right_g - centre * right_h
            got = loss_of(pen, left_g, left_h, right_g, right_h, root, low, high, np.int64(0))
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


@jit(inline="always")
def best_split(pen, hist, columns, n_bins, direction, whole, scale, bounds, sums, categories):
    """Return (loss, column, bin, missing left) of a node's best split; the column is -1 if none.

    `sums` (BINS,) is scratch. `categories`: scratch (order (BINS,), ratio (BINS,)) and the bins of
    the first child (BINS,), a result if the best column is of categories.
    """
    G, H = _parts(whole, scale[0], scale[1])
    centre, base = centre_of(pen, G, H, bounds[0])
    best = (_F(0.0), np.int64(-1), np.int64(0), np.bool_(False))
    for c in range(len(columns)):
        j = columns[c]
        size = abs(n_bins[j])
        mine = hist[j]
        here = base, bounds[1], bounds[2], direction[j], centre
        if n_bins[j] < 0:
            best = _category_split(
                pen, mine, size, mine[size], whole, scale, here, j, best, categories
            )
            continue
        total = np.int64(0)
        for b in range(size):
            total += mine[b]
            sums[b] = total
        missing = whole - total
        known = sums[:size]
        if hits(
            pen, known, missing != 0, missing, whole, 0, False, bounds[0], best[0],
            scale[0], scale[1],
        ):  # fmt: skip
            best = _numeric_split(pen, known, missing, whole, scale, here, j, best)
    return best


@jit(inline="always")
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


@jit
def _draw(seed, node, columns, count, out):
    """Draw `count` of the columns for a node, increasing, by selection sampling."""
    state = np.uint64(seed) + np.uint64(node) * GAMMA
    needed, left, at = count, len(columns), 0
    for c in range(len(columns)):
        state, u = uniform(state)
        if u * left < needed:
            out[at] = columns[c]
            at += 1
            needed -= 1
        left -= 1
    return at


@jit(inline="always")
def make_leaf(nodes, node):
    """Turn a node into a leaf."""
    ints, reals = nodes
    ints[node, FEATURE], reals[node, LOSS] = -1, 0.0
    ints[node, CUT] = ints[node, MISSING_LEFT] = ints[node, FIRST] = 0


@jit(inline="always")
def make_root(nodes, size):
    """Make node 0 the root, with all rows."""
    ints, reals = nodes
    ints[0, FEATURE], ints[0, BEGIN], ints[0, END] = -1, 0, size
    reals[0, LOW], reals[0, HIGH] = -np.inf, np.inf


@jit(inline="always")  # each kernel has one caller of it, as of `best_split`
def search_node(
    pen, bins, levels, draw, node, depth, hist, scale, sums, categories, own, nodes
):  # fmt: skip
    """Write a node's best split to `nodes` (column -1 if none gains); return the packed sum.

    See `grow_hist`.
    """
    n_bins, direction = bins[2], bins[3]
    ints, reals = nodes
    last = len(levels[1]) - 1
    at = depth if depth < last else last
    columns = levels[0][at, : levels[1][at]]
    if draw[0] < 1.0:
        wanted = max(1, np.int64(draw[0] * len(columns)))
        columns = own[: _draw(draw[1], node, columns, wanted, own)]
    whole = np.int64(0)
    for b in range(BINS):
        whole += hist[0, b]
    G, H = _parts(whole, scale[0], scale[1])
    root = gain_of(pen, G, H, reals[node, LOW], reals[node, HIGH])
    bounds = root, reals[node, LOW], reals[node, HIGH]
    of_node = categories[0], categories[1], categories[2][node]
    best = best_split(pen, hist, columns, n_bins, direction, whole, scale, bounds, sums, of_node)
    if best[0] > _LEAST_LOSS and best[0] >= _F(pen.gamma):
        reals[node, LOSS], ints[node, FEATURE], ints[node, CUT], ints[node, MISSING_LEFT] = best
    return whole


@jit
def first_side(bins, node, lut, categories, nodes):
    """Write to lut (BINS,) 1 for each code whose rows go to the first child of a node, else 0."""
    n_bins, ints = bins[2], nodes[0]
    j, cut = ints[node, FEATURE], ints[node, CUT]
    for b in range(BINS):
        lut[b] = b <= cut
    if n_bins[j] < 0:
        for b in range(BINS):
            lut[b] = categories[2][node, b]
    lut[abs(n_bins[j])] = ints[node, MISSING_LEFT]


@jit
def make_children(pen, bins, node, count, hist, whole, scale, lut, nodes):
    """Make the nodes `count` and the next the children of a node, by the `first_side` of its split.

    Returns the sums of hessians of the two.
    """
    n_bins, direction = bins[2], bins[3]
    ints, reals = nodes
    j, left = ints[node, FEATURE], np.int64(0)
    for b in range(abs(n_bins[j]) + 1):
        left += hist[j, b] * lut[b]
    left_g, left_h = _parts(left, scale[0], scale[1])
    right_g, right_h = _parts(whole - left, scale[0], scale[1])
    low, high = reals[node, LOW], reals[node, HIGH]
    low_1 = low_2 = low
    high_1 = high_2 = high
    if pen.constrained and direction[j] != 0:
        left_w = weight_of(pen, left_g, left_h, low, high)
        between = (left_w + weight_of(pen, right_g, right_h, low, high)) * _F(0.5)
        if direction[j] > 0:
            high_1 = low_2 = between
        else:
            low_1 = high_2 = between
    one, two = count, count + 1
    ints[node, FIRST] = one
    ints[one, FEATURE] = ints[two, FEATURE] = -1
    reals[one, LOW], reals[one, HIGH], reals[two, LOW], reals[two, HIGH] = (
        low_1,
        high_1,
        low_2,
        high_2,
    )
    return left_h, right_h


@jit
def divide_node(
    pen, bins, node, count, hist, whole, rows, spare, scale, lut, categories, nodes
):  # fmt: skip
    """Divide a node's rows by its split between its children, the nodes `count` and the next.

    Returns the sums of hessians of the two. If all rows would go to one of them (possible where a
    side has no weight), the node becomes a leaf.
    """
    ints = nodes[0]
    begin, end = ints[node, BEGIN], ints[node, END]
    first_side(bins, node, lut, categories, nodes)
    middle = begin + _divide(bins[1][ints[node, FEATURE]], lut, rows[begin:end], spare)
    if not begin < middle < end:
        make_leaf(nodes, node)
        return 0.0, 0.0
    one, two = count, count + 1
    ints[one, BEGIN], ints[one, END], ints[two, BEGIN], ints[two, END] = begin, middle, middle, end
    return make_children(pen, bins, node, count, hist, whole, scale, lut, nodes)


@jit
def _first(order, reals, one, two):
    """Return whether leaf `one` is split before `two`: by greater gain, or because made first."""
    if order == BEST and reals[one, LOSS] != reals[two, LOSS]:
        return reals[one, LOSS] > reals[two, LOSS]
    return one < two


@jit
def grow_hist(
    pen, bins, levels, draw, limits, rows, spare, packed, scale, hists, sums, lut, categories, own,
    waiting, nodes,
):  # fmt: skip
    """Grow one tree and return its number of nodes.

    Parameters
    ----------
    bins : (blocks (b, n, WIDTH) codes, codes (p, n), n_bins (p,), direction (p,)); ``-n_bins[j]``
        is given for a column of categories; the missing code is ``n_bins[j]``
    levels : (level_columns (levels, p), level_sizes (levels,)); columns of each level; the last
        entry also holds for all deeper levels
    draw : (share of these columns drawn for each node, seed of the draws)
    limits : (max_depth, max_leaves, order): see `DEEPEST`
    rows : (m,) the rows; sorted by leaf in place
    packed, scale : rounded gradients and hessians of all rows, and their scale factors
    hists : (h, blocks * WIDTH, BINS) for histograms, h at least 3
    spare, sums, lut, own : scratch (m,), (BINS,), (BINS,) and (p,)
    categories : scratch (order (BINS,), ratio (BINS,)) and a result (capacity, BINS): bins of the
        first child, for splits on categories
    waiting : scratch (leaf, depth, place, whole, free), arrays of the capacity of `nodes`, the last
        (h,): the waiting leaves; the depth of each node, the place of its histogram or -1, and its
        packed sum; the free places
    nodes : (ints (capacity, 6), reals (capacity, 3)), zeros; results, with columns in the order of
        the constants above (few arrays, because each argument costs compile time)
    """
    max_depth, max_leaves, order = limits
    leaf, depth, place, whole, free = waiting
    ints, reals = nodes
    enough = 2.0 * pen.least * (1.0 - 1e-9)
    for i in range(len(free)):
        free[i] = i
    vacant = len(free)  # at least two wherever a leaf is taken
    make_root(nodes, len(rows))
    depth[0] = 0
    count, leaves, size = np.int64(1), 1, np.int64(0)
    wanted, other = np.int64(0), np.int64(-1)  # a histogram to be made, and subtracted from another
    small, large, new = np.int64(0), np.int64(0), 1  # nodes to search: the first, or both
    node = np.int64(-1)  # to be split
    while True:
        if wanted >= 0:
            vacant -= 1
            place[wanted] = free[vacant]
            hist, mine = hists[place[wanted]], rows[ints[wanted, BEGIN] : ints[wanted, END]]
            fill(bins[0], mine, packed, hist)
            if other >= 0:
                take_away(hists[place[other]], hist)
            wanted = other = -1
        if node < 0:
            for turn in range(new):
                child = small if turn == new - 1 else large
                if place[child] < 0:
                    continue  # too little to be split
                whole[child] = search_node(
                    pen, bins, levels, draw, child, depth[child], hists[place[child]], scale,
                    sums, categories, own, nodes,
                )  # fmt: skip
                if ints[child, FEATURE] >= 0:
                    leaf[size] = child
                    size += 1
                    continue
                free[vacant] = place[child]
                vacant += 1
                place[child] = -1
            for child in (small, large):
                if vacant < 2 and place[child] >= 0:
                    free[vacant] = place[child]
                    vacant += 1
                    place[child] = -1
            if size == 0 or leaves == max_leaves:
                break
            chosen = size - 1
            for i in range(0 if order == DEEPEST else size):
                if _first(order, reals, leaf[i], leaf[chosen]):
                    chosen = i
            node = leaf[chosen]
            size -= 1
            leaf[chosen] = leaf[size]
            if place[node] < 0:
                wanted = node
                continue
        at = place[node]
        left_h, right_h = divide_node(
            pen, bins, node, count, hists[at], whole[node], rows, spare, scale, lut, categories,
            nodes,
        )  # fmt: skip
        new = 0
        if ints[node, FEATURE] >= 0:
            small, large, large_h = count, count + 1, right_h
            if ints[small, END] - ints[small, BEGIN] > ints[large, END] - ints[large, BEGIN]:
                small, large, large_h = large, small, left_h
            count += 2
            leaves += 1
            depth[small] = depth[large] = depth[node] + 1
            place[small] = place[large] = -1
            open_end = depth[small] < max_depth and leaves < max_leaves
            if open_end and (left_h >= enough or right_h >= enough):
                new, wanted = 2, small
                if large_h >= enough:
                    place[large] = at
                    other, at = large, np.int64(-1)
        if at >= 0:
            free[vacant] = at
            vacant += 1
        place[node] = -1
        node = np.int64(-1)
    for i in range(size):  # leaves that were never split
        make_leaf(nodes, leaf[i])
    return count


@jit
def leaf_answers(pen, rows, gh, count, nodes, sums, weight, position):
    """Add every node's (G, H) to sums (count, 2); write its weight, and the leaf of each row."""
    ints, reals = nodes
    for node in range(count - 1, -1, -1):
        if ints[node, FEATURE] >= 0:
            one = ints[node, FIRST]
            for k in range(2):
                sums[node, k] = sums[one, k] + sums[one + 1, k]
        else:
            G, H = sums[node, 0], sums[node, 1]
            for i in range(ints[node, BEGIN], ints[node, END]):
                r = rows[i]
                G += np.float64(gh[r, 0])
                H += np.float64(gh[r, 1])
                position[r] = node
            sums[node, 0], sums[node, 1] = G, H
        low, high = reals[node, LOW], reals[node, HIGH]
        weight[node] = weight_of(pen, sums[node, 0], sums[node, 1], low, high)


@jit
def add_block(codes, start, stop, rows, place, packed, sums):
    """Add rows of a block to the histograms of their slots, for columns ``start`` to ``stop``.

    `codes` (p, m) uint8; `rows`, `place` (r,) int64, (r,) int32; `packed` (m,) int64, gradient and
    hessian as one whole number; `sums` (slots, p, 256) int64, result.
    """
    for j in range(start, stop):
        column = codes[j]
        for k in range(len(rows)):
            i = np.uintp(rows[k])
            sums[np.uintp(place[k]), j, np.uintp(column[i])] += packed[i]


@jit
def route_block(codes, node, ints, luts):
    """Send each row of a block from its node to a child, in place; rows at leaves stay there.

    `codes` (p, m) uint8; `node` (m,) int32; `ints` (nodes, 6) as in `newton_hist`; `luts`
    (nodes, 256) uint8, 1 for each code whose rows go to the first child of a node, else 0.
    """
    for i in range(len(node)):
        at = node[i]
        j = ints[at, FEATURE]
        if j < 0:
            continue
        node[i] = ints[at, FIRST] + 1 - np.int64(luts[at, codes[j, i]])


@jit
def add_leaves(gh, node, sums):
    """Add gradients, hessians (m, 2) and numbers of rows to their nodes' ``sums`` (nodes, 3)."""
    for i in range(len(node)):
        sums[node[i], 0] += np.float64(gh[i, 0])
        sums[node[i], 1] += np.float64(gh[i, 1])
        sums[node[i], 2] += 1.0
