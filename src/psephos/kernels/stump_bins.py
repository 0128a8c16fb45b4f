"""Columns in a few bins by rank, laid out for sums of weights by look-up.

The rows are taken class by class, six at a time: six bits say which of six rows lie below a
threshold, and a table of 64 entries, one register, says what these weigh together. A column is kept
as the bits of its rows' bins, so that a byte holds one bit of six rows, and 64 columns stand side
by side: (block of 64 columns, plane, group of six rows, column), the highest bit's plane first.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels._jit import jit
from psephos.kernels.stump_layout import LANES

__all__ = [
    "GROUP",
    "PLANES",
    "WIDTH",
    "Bins16",
    "Bins32",
    "Rows",
    "arrange",
    "bin_ends",
    "code_columns",
    "weigh_groups",
]

GROUP = 6  # rows to a byte: 64 entries fill one register of the widest kind
WIDTH = 64  # columns side by side
PLANES = 5  # bits of a bin
_U64 = np.uint64
_TOP = 255  # greatest entry of a table
_SUM = 2**15 - 1  # greatest sum of entries


class Bins16(NamedTuple):
    """The first four planes, sixteen bins; a type of its own, with machine code of its own."""

    planes: int = 4


class Bins32(NamedTuple):
    """All planes, 32 bins."""

    planes: int = 5


class Rows(NamedTuple):
    """Where the rows stand: ``place`` (n + 1,) is ``LANES`` times a row's position.

    The padding row's place lies behind all groups. ``at`` (n_groups, GROUP) is the way back, the
    padding row where a group has room left; the first class has the first ``n_first`` groups.
    """

    place: NDArray[np.int64]
    at: NDArray[np.int64]
    n_first: int
    n_groups: int


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


def bin_ends(n: int, bins: Bins16 | Bins32, narrower: float) -> NDArray[np.int64]:
    """Ranks at which the bins of n rows end; the outermost are ``narrower`` than the mean.

    Each of 16 bins is two of 32.
    """
    share = np.arange(1, (1 << bins.planes) + 1) / (1 << bins.planes)
    share -= narrower * np.sin(2 * np.pi * share) / (2 * np.pi)
    return np.rint(n * share).astype(np.int64)


@jit(_nrt=False)
def code_columns(order, n, bits, first, last, place, n_groups, ends, room, words, out):
    """Bins of the eight columns of each of the blocks ``first`` to ``last`` of packed orders.

    Parameters
    ----------
    order, n, bits : orders of n rows, packed (``stump_layout``) in at most 16 bits
    place, n_groups : of ``Rows``
    ends : (32,) of ``bin_ends``: bins are formed by rank
    room, words : the same memory, all zero at first: ``(n_groups * GROUP + 1) * LANES`` uint8 and
        an eighth as many uint64
    out : (blocks of 64 columns * PLANES * n_groups * 8,) uint64, a word for eight columns
    """
    one, ones = _U64(1), _U64(0x0101010101010101)
    keep, stride = _U64((1 << (bits - 1)) - 1), _U64(bits)  # unsigned: no index counts from the end
    per = WIDTH // LANES
    for block in range(first, last):
        for lane in range(LANES):
            at = _U64(block * n * bits + lane * bits // 8)
            filled = _U64(lane * bits % 8)
            stop = 0
            for code in range(ends.shape[0]):
                start, stop = stop, ends[code]
                for _ in range(start, stop):
                    row = (_U64(order[at]) | _U64(order[at + one]) << _U64(8)) >> filled & keep
                    room[_U64(place[row]) + _U64(lane)] = code
                    at += stride
        for g in range(n_groups):
            for plane in range(PLANES):
                shift = _U64(PLANES - 1 - plane)
                six = _U64(0)
                for r in range(GROUP):
                    six |= (words[_U64(g * GROUP + r)] >> shift & ones) << _U64(r)
                line = (block // per * PLANES + plane) * n_groups + g
                out[_U64(line * per + block % per)] = six


@jit
def weigh_groups(signed, at, n_first, heaviest, tables, visits, scales):
    """Table of what any rows of a group weigh, for every group, rounded to units of one size.

    A table's entries are at most 255. A group too heavy for that is visited several times, with a
    part of its weight each time: units can then be small beside the common weight. At most an
    eighth more visits than groups are made.

    Parameters
    ----------
    signed : (n + 1,) int32 whole-number weights, the last being the padding row's
    at, n_first : of ``Rows``
    heaviest : (n_groups,) float64 room to work
    tables : (n_groups + n_groups // 8, 64) uint8 result
    visits : (n_groups + n_groups // 8,) int64 result, where the visited group begins in a plane
    scales : (5,) float64 result: units to one of ``signed``, the weight of either class in units,
        and the most by which a sum of entries of either class can miss the weights' own

    Returns the number of visits, and of those to the first class.
    """
    n_groups = at.shape[0]
    by_class = np.int64(0), np.int64(0)
    peak = np.int64(1)
    for g in range(n_groups):
        total = np.int64(0)
        for r in range(GROUP):
            total += abs(np.int64(signed[at[g, r]]))
        heaviest[g] = total
        peak = max(peak, total)
        by_class = (by_class[0] + total, by_class[1]) if g < n_first else (
            by_class[0], by_class[1] + total)  # fmt: skip
    most = (_SUM - n_groups) / max(by_class[0], by_class[1], 1)
    scale = min(_TOP / peak * (1.0 - 1e-12), most)  # no group is above the top by a rounding
    while 2.0 * scale <= most:
        count = np.int64(0)
        for g in range(n_groups):
            count += max(1, np.int64(np.ceil(2.0 * scale * heaviest[g] / _TOP)))
        if count > visits.shape[0]:
            break
        scale *= 2.0
    count = n_before = np.int64(0)
    scales[0], scales[1], scales[2] = scale, 0.0, 0.0
    # Half a unit a group, and the rounding of what is made of it.
    scales[3], scales[4] = 0.5 * n_first + 0.01, 0.5 * (n_groups - n_first) + 0.01
    sums = np.empty(1 << GROUP, np.int64)
    for g in range(n_groups):
        if g == n_first:
            n_before = count
        sums[0] = 0
        for r in range(GROUP):
            weight = abs(np.int64(signed[at[g, r]]))
            for e in range(1 << r):
                sums[(1 << r) + e] = sums[e] + weight
        parts = max(1, np.int64(np.ceil(scale * heaviest[g] / _TOP)))
        for part in range(parts):
            for e in range(1 << GROUP):
                whole = np.int64(scale * sums[e] + 0.5)
                if parts > 1:
                    whole = whole * (part + 1) // parts - whole * part // parts
                tables[count, e] = whole
            scales[1 if g < n_first else 2] += tables[count, (1 << GROUP) - 1]
            visits[count] = g * WIDTH
            count += 1
    return count, n_before if n_first < n_groups else count
