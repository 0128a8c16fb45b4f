"""Pure random trees: cells of a cube, each rule what it says, a missing value somewhere."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos.trees.forest import SPLITS, pure_tree, side_exponent, theory_leaves

# NumPy says so where kernels run uncompiled
pytestmark = pytest.mark.filterwarnings("ignore:overflow")


def cells(tree, d):
    """The cells of the leaves, as (low, high) a coordinate, and each leaf's coordinates cut."""
    found = []

    def visit(node, low, high, path):
        f = tree.link[node, 0]
        if f < 0:
            found.append((low, high, path))
            return
        assert low[f] < tree.cut[node] < high[f]
        for child, side in enumerate((high, low)):
            moved = side.copy()
            moved[f] = tree.cut[node]
            box = (low, moved) if child == 0 else (moved, high)
            visit(tree.link[node, 1] + child, *box, [*path, f])

    visit(0, np.zeros(d), np.ones(d), [])
    return found


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("k", [1, 2, 7, 64])
def test_cells_fill_the_cube(split, k):
    d = 3
    tree = pure_tree(split, d, k, 5)
    found = cells(tree, d)
    assert len(found) == k
    assert len(tree.cut) == 2 * k - 1
    assert_allclose(sum(np.prod(high - low) for low, high, _ in found), 1.0)
    points = np.random.default_rng(0).random((20, d))
    for x, sides in zip(points, tree.sides(points), strict=True):
        inside = [(low, high) for low, high, _ in found if ((low < x) & (x <= high)).all()]
        assert len(inside) == 1
        assert_allclose(sides, inside[0][1] - inside[0][0])
    if split != "uniform":
        sides = np.array([high - low for low, high, _ in found])
        assert_array_equal(np.log2(sides), np.round(np.log2(sides)))
    if split == "balanced":
        depth = int(np.log2(k))
        for _, _, path in found:
            assert len(path) in (depth, depth + 1)
            for start in range(0, len(path) - d + 1, d):  # each coordinate once a round
                assert sorted(path[start : start + d]) == list(range(d))
            rest = path[len(path) // d * d :]
            assert len(set(rest)) == len(rest)


def test_leaves_and_coordinates_are_drawn_evenly():
    roots = [pure_tree("uniform", 4, 2, s).link[0, 0] for s in range(400)]
    count = np.bincount(roots, minlength=4)
    assert ((count - 100.0) ** 2 / 100.0).sum() < 16.3  # chi squared, 3 degrees: 0.1 %
    cut = np.array([pure_tree("uniform", 1, 2, s).cut[0] for s in range(400)])
    count = np.bincount((cut * 4).astype(int), minlength=4)
    assert ((count - 100.0) ** 2 / 100.0).sum() < 16.3
    second = [pure_tree("midpoint", 1, 3, s).link[1, 0] >= 0 for s in range(400)]
    assert 150 < sum(second) < 250


def test_a_missing_value_goes_by_the_lengths_of_the_sides():
    trees = [pure_tree("uniform", 1, 2, s) for s in range(600)]
    cut = np.array([tree.cut[0] for tree in trees])
    left = np.array([tree.missing_left[0] for tree in trees])
    assert left[cut > 0.8].mean() > 0.75
    assert left[cut < 0.2].mean() < 0.25


def test_shares_of_cells():
    tree = pure_tree("midpoint", 1, 2, 0)
    X = np.array([[0.1, 9.0], [0.2, 9.0], [0.3, np.nan]])
    shares = tree.shares(
        X, np.array([0, 1, 1]), np.array([1.0, 2.0, 1.0]), np.array([0]), tree.cut, 2
    )
    assert_allclose(shares, [[0.5, 0.5], [0.25, 0.75], [0.5, 0.5]])  # no row ends at the root


def test_numbers_of_cells_of_the_theory():
    assert theory_leaves("uniform", 2, 1000) == round(1000 ** (8 / 9))
    assert theory_leaves("midpoint", 2, 1000) == round(1000 ** (7.74 / 9.74))
    assert theory_leaves("balanced", 2, 1000) == round((1000 / np.log(1000)) ** 0.5)
    assert all(theory_leaves(split, 3, 1) == 2 for split in SPLITS)


@pytest.mark.parametrize("split", SPLITS)
def test_sides_shrink_as_they_must(split):
    """In the mean over trees, and within the reach of a small case; the table is in reference."""
    k, d = 32, 2
    points = np.random.default_rng(0).random((20, d))
    sides = [pure_tree(split, d, k, s).sides(points).mean() for s in range(60)]
    assert_allclose(-np.log(np.mean(sides)) / np.log(k), side_exponent(split, d), atol=0.07)
