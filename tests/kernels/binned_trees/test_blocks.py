import itertools

import numpy as np
from numpy.testing import assert_array_equal

from psephos.kernels.binned_trees import newton_hist as kernel
from psephos.kernels.binned_trees.newton_hist import FEATURE, FIRST
from psephos.trees.newton import sizes_of


def block(rng, m=40, p=3, nodes=7):
    codes = rng.integers(0, 5, (p, m)).astype(np.uint8)
    return codes, rng.integers(0, nodes, m).astype(np.int32)


def test_histograms_of_the_wanted_nodes(random_seed):
    rng = np.random.default_rng(random_seed)
    codes, node = block(rng)
    packed = rng.integers(-(2**60), 2**60, len(node)) // 64
    slot_of = np.array([-1, 1, -1, 0, -1, -1, 2], dtype=np.int32)
    rows = np.flatnonzero(slot_of[node] >= 0)
    place = slot_of[node[rows]]
    sums = np.ones((3, 3, 256), dtype=np.int64)  # added to what is there
    kernel.add_block(codes, 0, 2, rows, place, packed, sums)
    kernel.add_block(codes, 2, 3, rows, place, packed, sums)
    slow = np.ones_like(sums)
    for i, j in itertools.product(range(len(node)), range(3)):
        if slot_of[node[i]] >= 0:
            slow[slot_of[node[i]], j, codes[j, i]] += packed[i]
    assert_array_equal(sums, slow)


def test_rows_move_to_children(random_seed):
    rng = np.random.default_rng(random_seed)
    codes, node = block(rng, nodes=3)
    ints = np.zeros((7, 6), np.int64)
    ints[:, FEATURE] = -1
    ints[1, [FEATURE, FIRST]] = 2, 3
    ints[2, [FEATURE, FIRST]] = 0, 5
    luts = rng.integers(0, 2, (7, 256)).astype(np.uint8)
    moved = node.copy()
    kernel.route_block(codes, moved, ints, luts)
    for i, before in enumerate(node):
        if before == 0:
            assert moved[i] == 0
            continue
        code = codes[ints[before, FEATURE], i]
        assert moved[i] == ints[before, FIRST] + (not luts[before, code])
    again = moved.copy()
    kernel.route_block(codes, again, ints, luts)
    assert_array_equal(again, moved)  # all are in leaves


def test_sums_go_on_from_block_to_block(random_seed):
    """Added one after another, as if all rows were in one block."""
    rng = np.random.default_rng(random_seed)
    gh = rng.standard_normal((90, 2)).astype(np.float32)
    node = rng.integers(0, 3, 90).astype(np.int32)
    total, leaves = np.zeros(2), np.zeros((3, 3))
    for a, b in ((0, 7), (7, 50), (50, 90)):
        total = sizes_of(gh[a:b], total)
        kernel.add_leaves(gh[a:b], node[a:b], leaves)
    assert_array_equal(total, np.cumsum(np.abs(gh).astype(np.float64), axis=0)[-1])
    for at in range(3):
        own = gh[node == at].astype(np.float64)
        assert_array_equal(leaves[at], [*np.cumsum(own, axis=0)[-1], len(own)])
