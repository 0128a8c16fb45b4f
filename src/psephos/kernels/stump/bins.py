"""Columns in a few bins by rank, laid out for sums of weights by look-up.

The rows are taken class by class, six at a time: six bits say which of six rows lie below a
threshold, and a table of 64 entries, one register, says what these weigh together. A column is kept
as the bits of its rows' bins, so that a byte holds one bit of six rows, and 64 columns stand side
by side: (block of 64 columns, plane, group of six rows, column), the highest bit's plane first.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.stump.layout import LANES
from psephos.runtime.jit import jit

GROUP = 6  # rows to a byte: 64 entries fill one register of the widest kind
WIDTH = 64  # columns side by side
PLANES = 5  # bits of a bin
BINS = 1 << PLANES
_U64 = np.uint64
_TOP = 255  # greatest entry of a table
_SUM = 2**15 - 1  # greatest sum of entries
_CHOSEN = (np.arange(1 << GROUP) >> np.arange(GROUP)[:, None] & 1).astype(np.float64)


class Rows(NamedTuple):
    """Where the rows stand: ``place`` (n + 1,) is ``LANES`` times a row's position.

    The padding row's place lies behind all groups. ``at`` (n_groups, GROUP) is the way back, the
    padding row where a group is not full; the first class has the first ``n_first`` groups.
    """

    place: NDArray[np.int64]
    at: NDArray[np.int64]
    n_first: int
    n_groups: int


class Scales(NamedTuple):
    """What the entries of weight tables mean.

    ``units`` to one of the whole-number weights; the weight of either class in units; ``slack``,
    the most by which sums of entries of both classes together can miss the weights' own.
    """

    units: float
    whole_a: int
    whole_b: int
    slack: float


def arrange(labels: NDArray[np.int64]) -> Rows:
    """Deal the rows of two classes, ``labels`` (n,) of 0 and 1, out to groups of one class."""
    n = len(labels)
    members = [np.flatnonzero(labels == c) for c in (0, 1)]
    groups = [-(-len(rows) // GROUP) for rows in members]
    at = np.full((sum(groups), GROUP), n)
    flat = at.reshape(-1)
    first = 0
    for rows, count in zip(members, groups, strict=True):
        flat[first : first + len(rows)] = rows
        first += count * GROUP
    place = np.empty(n + 1, np.int64)
    place[flat] = np.arange(len(flat)) * LANES
    place[n] = len(flat) * LANES
    return Rows(place, at, groups[0], sum(groups))


def bin_ends(n: int, narrower: float) -> NDArray[np.int64]:
    """Ranks at which the 32 bins of n rows end; the outermost are ``narrower`` than the mean."""
    share = np.arange(1, BINS + 1) / BINS
    share -= narrower * np.sin(2 * np.pi * share) / (2 * np.pi)
    return np.rint(n * share).astype(np.int64)


@jit
def code_columns(order, mask, first, last, place, n_groups, ends, codes, words, out):
    """Bins of the eight columns of each of the blocks ``first`` to ``last`` of interleaved orders.

    Parameters
    ----------
    order, mask : orders (``layout``), and the bits of an entry that name its row
    place, n_groups : of ``Rows``
    ends : (32,) of ``bin_ends``: bins are formed by rank
    codes, words : the same memory, all zero at first: ``(n_groups * GROUP + 1) * LANES`` uint8 and
        an eighth as many uint64
    out : (blocks of 64 columns * PLANES * n_groups * 8,) uint64, a word for eight columns
    """
    ones = _U64(0x0101010101010101)
    per = WIDTH // LANES
    for block in range(first, last):
        for lane in range(LANES):
            stop = 0
            for code in range(ends.shape[0]):
                start, stop = stop, ends[code]
                for k in range(start, stop):
                    row = np.int64(order[block, k, lane]) & mask
                    codes[_U64(place[_U64(row)]) + _U64(lane)] = code
        for g in range(n_groups):
            for plane in range(PLANES):
                shift = _U64(PLANES - 1 - plane)
                six = _U64(0)
                for r in range(GROUP):
                    six |= (words[_U64(g * GROUP + r)] >> shift & ones) << _U64(r)
                line = (block // per * PLANES + plane) * n_groups + g
                out[_U64(line * per + block % per)] = six


def weigh_groups(
    signed: NDArray[np.int32], rows: Rows
) -> tuple[NDArray[np.uint8], NDArray[np.int64], int, Scales]:
    """Table of what any rows of a group weigh, for every group, rounded to units of one size.

    A table's entries are at most 255. A group too weights for that is visited several times, with a
    part of its weight each time: units can then be small beside the common weight. At most an
    eighth more visits than groups are made.

    `signed` (n + 1,) int32: whole-number weights, the last being the padding row's.

    Returns
    -------
    tables : (visits, 64) uint8
    visits : (visits,) int64; where the visited group begins in a plane
    n_first : so many visits are to the first class
    """
    sums = np.abs(signed)[rows.at].astype(np.float64) @ _CHOSEN  # exact: whole numbers below 2^30
    weights = sums[:, -1]
    by_class = weights[: rows.n_first].sum(), weights[rows.n_first :].sum()
    most = (_SUM - rows.n_groups) / max(*by_class, 1.0)
    scale = min(
        _TOP / max(weights.max(), 1.0) * (1.0 - 1e-12), most
    )  # not above the top by rounding
    most_parts = rows.n_groups + rows.n_groups // 8
    while 2.0 * scale <= most and _parts(2.0 * scale * weights).sum() <= most_parts:
        scale *= 2.0
    parts = _parts(scale * weights)
    visited = np.repeat(np.arange(rows.n_groups), parts)
    whole = np.floor(scale * sums + 0.5).astype(np.int64)[visited]
    split = np.flatnonzero(parts[visited] > 1)
    if len(split):
        begin = np.cumsum(parts) - parts
        part, of = (split - begin[visited[split]])[:, None], parts[visited[split]][:, None]
        whole[split] = whole[split] * (part + 1) // of - whole[split] * part // of
    n_first = int(parts[: rows.n_first].sum())
    a, b = whole[:n_first, -1].sum(), whole[n_first:, -1].sum()
    # Half a unit a group, and the rounding of what is made of it.
    slack = 0.5 * rows.n_groups + 0.02
    return whole.astype(np.uint8), visited * WIDTH, n_first, Scales(scale, int(a), int(b), slack)


def _parts(weight: NDArray[np.float64]) -> NDArray[np.int64]:
    """Visits that a group of so many units needs."""
    return np.maximum(1.0, np.ceil(weight / _TOP)).astype(np.int64)
