import numpy as np
import pytest
from numpy.testing import assert_array_equal

from psephos.kernels import stump_bounds
from psephos.kernels._jit import jit
from psephos.kernels._power import wide
from psephos.kernels.stump_bins import (
    GROUP,
    PLANES,
    WIDTH,
    Bins16,
    Bins32,
    arrange,
    bin_ends,
    code_columns,
    weigh_groups,
)
from psephos.kernels.stump_layout import LANES, packing_of, place
from psephos.kernels.stump_screen import quantise, screen_error, screen_gini

needs_look_up = pytest.mark.skipif(
    not stump_bounds.has_bounds, reason="this processor does not look 64 bytes up at once"
)
lane_sums = stump_bounds.lane_sums


@jit
def _sums(codes, word, n_groups, tables, visits, n_visited, out, bins):
    wide()
    lane_sums(codes, word, n_groups, tables, visits, n_visited, visits.shape[0], out, bins)


def _coded(rng, n, y, bins, narrower=0.0, blocks=16):
    """Return orders (8 * blocks, n), the same packed, the arrangement, bin ends and codes."""
    packing = packing_of(n)
    order = np.stack([rng.permutation(n) for _ in range(LANES * blocks)])
    packed = np.zeros(blocks * n * packing.bits + 32, np.uint8)
    place(order.astype(np.uint32), 0, packing.bits, packed)
    rows, ends = arrange(y), bin_ends(n, bins, narrower)
    wide_blocks = -(-blocks * LANES // WIDTH)
    codes = np.zeros(wide_blocks * PLANES * rows.n_groups * LANES, np.uint64)
    words = np.zeros(rows.n_groups * GROUP + 1, np.uint64)
    code_columns(
        packed, n, packing.bits, 0, blocks, rows.place, rows.n_groups,
        bin_ends(n, Bins32(), narrower), words.view(np.uint8), words, codes,
    )  # fmt: skip
    return order, packed, rows, ends, codes


def _weighed(signed, rows):
    most = rows.n_groups + rows.n_groups // 8
    tables, visits = np.empty((most, 1 << GROUP), np.uint8), np.empty(most, np.int64)
    scales = np.empty(5)
    room = np.empty(rows.n_groups)
    count, n_visited = weigh_groups(signed, rows.at, rows.n_first, room, tables, visits, scales)
    return tables, visits[:count], n_visited, scales


def _weights(rng, n, kind):
    if kind == "one":
        return np.ones(n)
    if kind == "even":
        return rng.random(n)
    if kind == "one heavy row":
        return np.where(np.arange(n) == n // 3, 1.0, 1e-3)
    return np.exp(2.0 * rng.standard_normal(n))


KINDS = ["one", "even", "uneven", "one heavy row"]


def _quantised(w, y):
    n = len(y)
    signed, totals = np.empty(n + 1, np.int32), np.empty(3)
    assert quantise(np.append(w, 0.0), np.append(y, 0), signed, totals)
    return signed, int(totals[0]), int(totals[1])


def test_rows_are_dealt_out_by_class(random_seed):
    rng = np.random.default_rng(random_seed)
    for y in (rng.integers(0, 2, 50), np.zeros(7, int), np.ones(6, int), np.arange(2)):
        rows = arrange(y)
        n = len(y)
        flat = rows.at.reshape(-1)
        assert_array_equal(np.sort(flat[flat < n]), np.arange(n))
        assert (rows.place[:n] // LANES < GROUP * rows.n_groups).all()
        assert_array_equal(flat[rows.place[:n] // LANES], np.arange(n))
        assert rows.place[n] == LANES * GROUP * rows.n_groups
        first = rows.at[: rows.n_first].reshape(-1)
        assert_array_equal(np.sort(first[first < n]), np.flatnonzero(y == 0))


@pytest.mark.parametrize("bins", [Bins16(), Bins32()])
@pytest.mark.parametrize("narrower", [0.0, 0.4])
def test_bins_end_in_order(bins, narrower):
    for n in (1, 5, 100, 4096):
        ends = bin_ends(n, bins, narrower)
        assert len(ends) == 2**bins.planes
        assert ends[-1] == n
        assert (np.diff(ends) >= 0).all()
    sizes = np.diff(ends, prepend=0)
    assert abs(sizes[0] - (1 - narrower) * n / len(ends)) < 0.05 * n / len(ends)
    assert abs(sizes - sizes[::-1]).max() <= 2


@pytest.mark.parametrize("bins", [Bins16(), Bins32()])
@pytest.mark.parametrize("n", [40, 600])
def test_codes_are_bins_by_rank(random_seed, bins, n):
    rng = np.random.default_rng(random_seed)
    y = rng.integers(0, 2, n)
    order, _, rows, ends, codes = _coded(rng, n, y, bins, 0.4, blocks=11)
    bits = np.unpackbits(codes.view(np.uint8), bitorder="little")
    bits = bits.reshape(2, PLANES, rows.n_groups, WIDTH, 8)[:, : bins.planes, ..., :GROUP]
    code = (bits.astype(int) << np.arange(bins.planes - 1, -1, -1)[:, None, None, None]).sum(axis=1)
    code = code.transpose(0, 2, 1, 3).reshape(2 * WIDTH, -1)[:, rows.place[:n] // LANES]
    want = np.empty(order.shape, int)
    np.put_along_axis(want, order, np.searchsorted(ends, np.arange(n), "right")[None], axis=1)
    assert_array_equal(code[: len(order)], want)


@pytest.mark.parametrize("kind", KINDS)
def test_tables_weigh_any_six_rows(random_seed, kind):
    rng = np.random.default_rng(random_seed)
    for n in (1, 5, 90, 600, 4000):
        y = rng.integers(0, 2, n)
        rows = arrange(y)
        signed, _, _ = _quantised(_weights(rng, n, kind), y)
        tables, visits, n_visited, scales = _weighed(signed, rows)
        chosen = (np.arange(64)[:, None] >> np.arange(GROUP)) & 1
        exact = np.abs(signed[rows.at].astype(float)) @ chosen.T * scales[0]
        found = np.zeros(exact.shape)
        np.add.at(found, visits // WIDTH, tables[: len(visits)].astype(float))
        assert abs(found - exact).max() <= 0.5 + 1e-6
        assert (visits[:n_visited] < rows.n_first * WIDTH).all()
        assert (visits[n_visited:] >= rows.n_first * WIDTH).all()
        assert_array_equal(
            scales[1:3], [found[: rows.n_first, -1].sum(), found[rows.n_first :, -1].sum()]
        )
        assert scales[1:3].max() < 2**15
        if kind == "one heavy row" and n == 600:  # split up, so that the others weigh something
            assert len(visits) > rows.n_groups
            assert np.median(found[:, -1]) > 4


@needs_look_up
@pytest.mark.parametrize("bins", [Bins16(), Bins32()])
@pytest.mark.parametrize("kind", KINDS)
def test_vector_sums_equal_their_twin(random_seed, bins, kind):
    rng = np.random.default_rng(random_seed)
    n = 100
    for y in (rng.integers(0, 2, n), np.zeros(n, int), np.ones(n, int)):
        _, _, rows, _, codes = _coded(rng, n, y, bins)
        signed, _, _ = _quantised(_weights(rng, n, kind), y)
        tables, visits, n_visited, _ = _weighed(signed, rows)
        word = PLANES * rows.n_groups * LANES  # the second block of 64
        out, want = np.empty((2, 2, 2**bins.planes - 1, WIDTH), np.int16)
        _sums(codes, word, rows.n_groups, tables, visits, n_visited, out, bins)
        given = codes, word, rows.n_groups, tables, visits, n_visited, len(visits)
        stump_bounds._plain_sums(*given, want, bins)
        assert_array_equal(out, want)


@needs_look_up
@pytest.mark.parametrize("bins", [Bins16(), Bins32()])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.5, 0.1, 0.0])
def test_bounds_are_above_the_screen(random_seed, bins, kind, share):
    rng = np.random.default_rng(random_seed)
    n, blocks = 150, 16
    packing = packing_of(n)
    y = (rng.random(n) < share).astype(int)
    w = _weights(rng, n, kind)
    signed, d, total = _quantised(w, y)
    for narrower in (0.0, 0.4):
        _, packed, rows, ends, codes = _coded(rng, n, y, bins, narrower, blocks)
        tables, visits, n_visited, scales = _weighed(signed, rows)
        exact = np.empty((2, blocks, LANES))
        orders = packed, n, packing, blocks, np.arange(blocks)
        screen_error(*orders, signed, d, exact[0])
        screen_gini(*orders, signed, d, total, exact[1])
        given = codes, rows.n_groups, bins, 0, 2, ends, tables, visits, rows.n_first, n_visited
        extra, bounds = np.zeros(2 * WIDTH), np.empty((2, 2 * WIDTH))
        stump_bounds.bound_error(*given, scales, d, extra, bounds[0])
        stump_bounds.bound_gini(*given, scales, d, total, extra, bounds[1])
        bounds = bounds.reshape(exact.shape)
        assert (bounds >= exact).all()
        # And not far above: by the heaviest bins, and the rounding of the tables.
        order = _unpacked(packed, n, packing, blocks)
        cumulated = np.abs(signed[order].astype(float)).cumsum(axis=1)
        padded = np.concatenate([np.zeros((len(order), 1)), cumulated], axis=1)
        in_bins = np.diff(padded[:, np.append(0, ends)], axis=1).max(axis=1)
        slack = 2 * (scales[3] + scales[4]) / scales[0]
        assert ((bounds[0] - exact[0]).reshape(-1) <= 2 * in_bins + slack + 1e-6 * total).all()


def _unpacked(packed, n, packing, blocks):
    bits = np.unpackbits(packed[: blocks * n * packing.bits], bitorder="little")
    entries = bits.reshape(blocks, n, LANES, packing.bits) * (1 << np.arange(packing.bits))
    return entries.sum(axis=3).transpose(0, 2, 1).reshape(-1, n)
