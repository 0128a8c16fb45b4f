"""One node of a CART: its prediction, rules and surrogates, and the division of its rows.

Surrogates are rules on other columns, by their agreement with a node's own rule: Breiman,
Friedman, Olshen and Stone (1984), section 5.3; least numbers of rows and the order of equals as in
rpart.
"""

import numpy as np

from psephos.kernels.sorted_trees import cart_search
from psephos.runtime.jit import jit


@jit
def sent(data, keys, j, s, m, go):
    """Return (weight left, weight right, rows) of the entries that the node's rule sends."""
    left = right = 0.0
    rows = np.int64(0)
    for i in range(s, s + m):
        row = keys[j, i] & cart_search.ROW
        if go[row] != 0:
            rows += data.copies[row]
            if go[row] < 0:
                left += data.weight[row]
            else:
                right += data.weight[row]
    return left, right, rows


@jit
def agree_numbers(data, keys, j, s, m, go, left, right, rows):
    """Return (weight in agreement, last rank below, first above, side of the low values).

    `left`, `right` and `rows` are those of `sent`. A cut must leave at least two rows on both sides
    and agree more than sending every row to the heavier side; else the side is 0.
    """
    best = right if right > left else left
    low, high, where = np.int64(-1), np.int64(-1), np.int64(0)
    lead = 0.0  # weight below the cut: sent left less sent right
    below = np.int64(0)
    previous = np.int64(-1)
    for i in range(s, s + m):
        key = keys[j, i]
        row, rank = key & cart_search.ROW, key >> cart_search.SHIFT
        g = go[row]
        if rank != previous and below >= 2:
            if rows - below < 2:
                break
            if left - lead > best:
                best, low, high, where = left - lead, previous, rank, np.int64(1)
            if right + lead > best:
                best, low, high, where = right + lead, previous, rank, np.int64(-1)
        if g != 0:
            lead -= g * data.weight[row]
            below += data.copies[row]
        previous = rank
    return best, low, high, where


@jit
def agree_levels(data, keys, j, s, m, go, left, right, work):
    """Return (weight in agreement, number of levels, whether the rule is usable).

    `left` and `right` are those of `sent` for this column. A level goes to the side to which most
    of its weight is sent; on a tie to the heavier of `left` and `right`, and right if they are
    equal, too. Sides and codes are written to `work`. The rule is usable if it sends at least two
    rows each way; rpart requires two rows that agree and two that do not, and so rejects a perfect
    copy of the column.
    """
    n_levels = 0
    last = np.int64(-1)
    for i in range(s, s + m):
        key = keys[j, i]
        row = key & cart_search.ROW
        g = go[row]
        if g == 0:
            continue
        if key >> cart_search.SHIFT != last:
            last = key >> cart_search.SHIFT
            work.level.whole[0, n_levels] = np.int32(data.values[data.start[j] + last])
            work.level.real[0, n_levels] = 0.0  # sent left
            work.level.real[1, n_levels] = 0.0  # sent right
            work.level.whole[1, n_levels] = 0
            work.level.whole[2, n_levels] = 0
            n_levels += 1
        at = n_levels - 1
        if g < 0:
            work.level.real[0, at] += data.weight[row]
            work.level.whole[1, at] += data.copies[row]
        else:
            work.level.real[1, at] += data.weight[row]
            work.level.whole[2, at] += data.copies[row]
    heavier = -1 if left > right else 1
    agreement = 0.0
    to_left, to_right = np.int64(0), np.int64(0)
    for a in range(n_levels):
        of_left, of_right = work.level.real[0, a], work.level.real[1, a]
        side = heavier if of_left == of_right else (-1 if of_left > of_right else 1)
        rows_l, rows_r = work.level.whole[1, a], work.level.whole[2, a]
        work.level.whole[4, a] = side
        if side < 0:
            agreement += of_left
            to_left += rows_l + rows_r
        else:
            agreement += of_right
            to_right += rows_l + rows_r
    return agreement, n_levels, to_left > 1 and to_right > 1


_FAINT = 1e-10  # rules below this share of the largest worth so far are dropped, as in rpart
_ROUND = 1e-13  # gains below this share of the node's weight are rounding errors


@jit
def describe(target, data, rows, s, n, counts):
    """Return (rows, class, weight, risk, mean) of a node; write its weight per class.

    The class is the first of least expected loss, and the risk is that loss: sum over j of
    ``counts[j] rho[j] loss[j, class]``; for numbers the sum of squares around the mean. `target`
    is None for classes: numba does not compile code under ``is not None`` then.
    """
    number = np.int64(0)
    weight = 0.0
    if target is not None:
        sums = 0.0
        for i in range(s, s + n):
            row = rows[i]
            number += data.copies[row]
            weight += data.weight[row]
            sums += data.weight[row] * target[row]
        mean = sums / weight
        risk = 0.0
        for i in range(s, s + n):
            row = rows[i]
            off = target[row] - mean
            risk += data.weight[row] * (off * off)
        counts[0] = weight
        return number, np.int64(0), weight, risk, mean
    for k in range(counts.shape[0]):
        counts[k] = 0.0
    for i in range(s, s + n):
        row = rows[i]
        counts[data.y[row]] += data.weight[row]
        number += data.copies[row]
        weight += data.weight[row]
    answer, risk = np.int64(0), np.inf
    total = 0.0
    for k in range(data.n_classes):
        total += counts[k] * data.rho[k]
    for k in range(data.n_classes):
        loss = total - counts[k] * data.rho[k]
        if not data.zero_one:
            loss = 0.0
            for j in range(data.n_classes):
                loss += counts[j] * data.rho[j] * data.loss[j, k]
        if loss < risk:
            answer, risk = np.int64(k), loss
    return number, answer, weight, risk, 0.0


@jit
def find_rules(crit, target, data, n_codes, rules, keys, s, n, known, risk, largest, slots, work):
    """Fill `slots` with the best rule of each column, best first; return (number, largest worth).

    `largest` is the largest worth in the tree so far: rules that are negligible relative to it are
    dropped. The worth is divided by the column's cost. `n_codes` is None without categories, `crit`
    for numbers, `target` for classes: numba does not compile code under ``is not None`` then.
    """
    held = np.int64(0)
    for k in range(slots.whole.shape[0]):
        slots.whole[k, 5] = k
    of_all = -1  # whether the sums of all rows are in `total`
    rows = np.int64(0)
    weight = 0.0
    for j in range(keys.shape[0]):
        m = known[j]
        if m < 2:
            continue
        if target is not None:
            rows, weight = _numbers_known(data, keys, j, s, m)
        if crit is not None and (m < n or of_all < 0):
            rows, weight = cart_search.class_sums(data, keys, j, s, m, work.sums[0])
            of_all = 1 if m == n else -1
        if rows < 2 * rules.min_leaf:
            continue
        n_levels = np.int64(0)
        low, high, where = np.int64(-1), np.int64(-1), np.int64(0)
        worth = 0.0
        if n_codes is not None and n_codes[j] > 0:
            n_levels = cart_search.gather_levels(crit, target, data, keys, j, s, m, work)
            if n_levels < 2:
                continue
            worth = cart_search.best_levels(
                crit, target, data, rules.min_leaf, rules.max_levels, rows, n_levels, work
            )
        else:
            if target is not None:
                worth, low, high, where = cart_search.scan_numbers(
                    target, data, rules.min_leaf, keys, j, s, m, rows
                )
            if crit is not None:
                worth, low, high, where = cart_search.scan_classes(
                    crit, data, rules.min_leaf, keys, j, s, m, rows, work
                )
        if worth <= _ROUND * (risk if data.n_classes == 0 else weight):
            continue
        if data.n_classes == 0:
            worth /= risk
        worth /= data.costs[j]
        if worth <= _FAINT * largest:
            continue
        if worth > largest:
            largest = worth
        slot, held = cart_search.put(slots, held, worth)
        if slot >= 0:
            _write(data, n_codes, slots, slot, j, rows, low, high, where, n_levels, work)
    return held, largest


@jit
def _numbers_known(data, keys, j, s, m):
    rows, weight = np.int64(0), 0.0
    for i in range(s, s + m):
        row = keys[j, i] & cart_search.ROW
        rows += data.copies[row]
        weight += data.weight[row]
    return rows, weight


@jit
def _write(data, n_codes, slots, slot, j, rows, low, high, where, n_levels, work):
    slots.whole[slot, 0] = j
    slots.whole[slot, 1] = rows
    slots.whole[slot, 2] = where
    slots.whole[slot, 3] = n_levels
    slots.whole[slot, 4] = low
    slots.real[slot, 1] = np.nan
    slots.real[slot, 2] = 0.0
    if n_codes is not None and n_levels > 0:
        for a in range(n_levels):
            slots.level[0, slot, a] = work.level.whole[0, a]
            slots.level[1, slot, a] = work.level.whole[4, a]
    else:
        at = data.start[j]
        slots.real[slot, 1] = cart_search.cut_between(data.values[at + low], data.values[at + high])


@jit
def _follow(data, n_codes, keys, s, m, slots, slot, go):
    """Send entries that no rule has sent yet by the rule of a slot; return the number of rows."""
    j = slots.whole[slot, 0]
    where, n_levels, low = slots.whole[slot, 2], slots.whole[slot, 3], slots.whole[slot, 4]
    number = np.int64(0)
    at = 0
    for i in range(s, s + m):
        key = keys[j, i]
        row = key & cart_search.ROW
        if go[row] != 0:
            continue
        if n_codes is None or n_levels == 0:
            go[row] = where if key >> cart_search.SHIFT <= low else -where
        else:
            code = np.int32(data.values[data.start[j] + (key >> cart_search.SHIFT)])
            while at < n_levels and slots.level[0, slot, at] < code:
                at += 1
            if at < n_levels and slots.level[0, slot, at] == code:
                go[row] = slots.level[1, slot, at]
        if go[row] != 0:
            number += data.copies[row]
    return number


@jit
def find_surrogates(data, n_codes, rules, keys, s, n, known, rows, chosen, slots, surrogates, work):
    """Send the rows by the chosen rule, and fill `surrogates` with the rules that agree best.

    Returns (number of surrogates, weight left, weight right, rows without the rule's column).
    """
    go = work.go
    for i in range(s, s + n):
        go[rows[i]] = 0
    primary = slots.whole[chosen, 0]
    _follow(data, n_codes, keys, s, known[primary], slots, chosen, go)
    left, right, number = sent(data, keys, primary, s, known[primary], go)
    lost = n - known[primary]
    held = np.int64(0)
    for k in range(surrogates.whole.shape[0]):
        surrogates.whole[k, 5] = k
    if surrogates.whole.shape[0] == 0:
        return held, left, right, lost
    for j in range(keys.shape[0]):
        m = known[j]
        if j == primary or m < 2:
            continue
        left_j, right_j, rows_j = left, right, number
        if m < n or lost > 0:
            left_j, right_j, rows_j = sent(data, keys, j, s, m, go)
        left_of, right_of = (left_j, right_j) if rules.of_known else (left, right)
        total = left_of + right_of
        most = right_of if right_of > left_of else left_of
        if rows_j < 2 or most >= total:
            continue
        n_levels = np.int64(0)
        low, high, where = np.int64(-1), np.int64(-1), np.int64(0)
        if n_codes is not None and n_codes[j] > 0:
            agreement, n_levels, serves = agree_levels(
                data, keys, j, s, m, go, left_j, right_j, work
            )
        else:
            agreement, low, high, where = agree_numbers(
                data, keys, j, s, m, go, left_j, right_j, rows_j
            )
            serves = where != 0
        agree = agreement / total
        adjusted = (agree - most / total) / (1.0 - most / total)
        if not serves or adjusted <= _FAINT:
            continue
        slot, held = cart_search.put(surrogates, held, agree)
        if slot >= 0:
            _write(
                data, n_codes, surrogates, slot, j, np.int64(0), low, high, where, n_levels, work
            )
            surrogates.real[slot, 2] = adjusted
    return held, left, right, lost


@jit
def send(data, n_codes, rules, keys, s, n, known, rows, surrogates, held, left, right, lost, go):
    """Send the rows that lack the rule's column; return the side of most weight, 0 if neither."""
    heavier = np.int64(0) if left == right else (-1 if left > right else 1)
    if lost > 0 and rules.use > 0:
        for i in range(held):
            slot = surrogates.whole[i, 5]
            j = surrogates.whole[slot, 0]
            surrogates.whole[slot, 1] = _follow(
                data, n_codes, keys, s, known[j], surrogates, slot, go
            )
        if rules.use == 2 and heavier != 0:
            for i in range(s, s + n):
                if go[rows[i]] == 0:
                    go[rows[i]] = heavier
    return heavier


@jit
def divide_rows(rows, s, n, go, buffer):
    """Put the rows that go left first, then those that go right; return how many go each way."""
    n_left, n_right = 0, 0
    for i in range(s, s + n):
        row = rows[i]
        buffer[n_right] = row
        rows[s + n_left] = row
        n_left += go[row] < 0
        n_right += go[row] > 0
    for i in range(n_right):
        rows[s + n_left + i] = buffer[i]
    return n_left, n_right


@jit
def divide(keys, known, s, go, n_left, right_lives, known_left, known_right, buffer):
    """Divide the sorted entries of every column, in place, among the children that will split."""
    for j in range(keys.shape[0]):
        m_left, m_right = 0, 0
        for i in range(s, s + known[j]):
            key = keys[j, i]
            g = go[key & cart_search.ROW]
            buffer[m_right] = key
            keys[j, s + m_left] = key
            m_left += g < 0
            m_right += g > 0
        if right_lives:
            for i in range(m_right):
                keys[j, s + n_left + i] = buffer[i]
        known_left[j] = m_left
        known_right[j] = m_right
