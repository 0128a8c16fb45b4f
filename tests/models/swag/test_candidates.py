"""Which subsets are tried, against literal loops."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from psephos import PsephosError
from psephos.models.swag.fitting import all_subsets, extensions, in_order


def lines(subsets):
    return [tuple(row) for row in subsets.tolist()]


def unions(pool, strong):
    return {tuple(sorted({*s, c})) for s in lines(strong) for c in pool.tolist() if c not in s}


def random_case(seed, n_pool=12, size=3, n_strong=20):
    rng = np.random.default_rng(seed)
    pool = np.sort(rng.choice(100, n_pool, replace=False))
    every = all_subsets(pool, size)
    return pool, every[np.sort(rng.choice(len(every), n_strong, replace=False))]


def test_all_subsets_are_in_lexicographic_order():
    pool = np.array([2, 5, 7, 11])
    assert lines(all_subsets(pool, 2)) == list(combinations([2, 5, 7, 11], 2))
    assert all_subsets(pool, 5).shape == (0, 5)
    with pytest.raises(PsephosError, match="too many to try all"):
        all_subsets(np.arange(1000), 6)


def test_few_enough_subsets_are_all_tried():
    pool, strong = random_case(0)
    assert lines(extensions(pool, strong, 495, "parent", 0)) == list(combinations(pool, 4))
    assert lines(extensions(pool, strong, np.inf, "uniform", 0)) == list(combinations(pool, 4))
    assert extensions(pool[:3], pool[None, :3], 10, "parent", 0).shape == (0, 4)


@pytest.mark.parametrize("m", [1, 7, 60, 100])
@pytest.mark.parametrize("n_strong", [1, 20, 200])
def test_parents_are_drawn_as_in_the_paper(m, n_strong):
    pool, strong = random_case(1, n_strong=n_strong)
    rng = np.random.default_rng([9, 4])
    found, target = set(), min(m, len(unions(pool, strong)))
    while len(found) < target:
        parent = lines(strong)[int(rng.random() * len(strong))]
        others = [c for c in pool.tolist() if c not in parent]
        found.add(tuple(sorted([*parent, others[int(rng.random() * len(others))]])))
    shuffled = strong[::-1]  # the order in which strong subsets are given does not matter
    assert lines(extensions(pool, shuffled, m, "parent", 9)) == sorted(found)


@pytest.mark.parametrize("sampling", ["parent", "uniform"])
def test_when_unions_run_out_all_are_tried(sampling):
    pool, strong = random_case(2, n_strong=3)
    every = unions(pool, strong)
    assert len(every) < 40
    assert lines(extensions(pool, strong, 40, sampling, 0)) == sorted(every)


@pytest.mark.parametrize("m", [2, 30])  # drawn one by one, and chosen from all
def test_uniform_makes_all_unions_equally_likely(m):
    pool, strong = random_case(3, n_pool=7, size=2, n_strong=8)
    every = sorted(unions(pool, strong))
    m = min(m, len(every) - 1)
    counts = dict.fromkeys(every, 0)
    n = 4000 // m
    for seed in range(n):
        for row in lines(extensions(pool, strong, m, "uniform", seed)):
            counts[row] += 1
    share = m / len(every)
    spread = np.sqrt(n * share * (1 - share))
    assert np.abs(np.array(list(counts.values())) - n * share).max() < 4 * spread
    drawn = [extensions(pool, strong, m, "uniform", seed) for seed in (5, 5)]
    assert_array_equal(*drawn)


def test_parent_prefers_unions_of_several_strong_subsets():
    pool = np.arange(6)
    strong = np.array([[0, 1], [0, 2], [1, 2], [4, 5]])
    hits = {"parent": 0, "uniform": 0}
    for sampling in hits:
        for seed in range(400):
            hits[sampling] += [0, 1, 2] in extensions(pool, strong, 1, sampling, seed).tolist()
    assert 50 < hits["parent"] < 105  # 3 of 16 pairs of parent and column: 75 of 400
    assert 15 < hits["uniform"] < 50  # one of 14 - 1 unions: about 31


@pytest.mark.parametrize("sampling", ["parent", "uniform"])
def test_many_candidates_are_distinct_and_sorted(sampling):
    rng = np.random.default_rng(4)
    pool = np.arange(0, 6000, 2)
    rows = np.stack([np.sort(rng.choice(pool, 7, replace=False)) for _ in range(2000)])
    strong = in_order(np.unique(rows, axis=0))
    found = extensions(pool, strong, 5000, sampling, 1)
    assert found.shape == (5000, 8)
    assert (np.diff(found, axis=1) > 0).all()
    assert lines(found) == sorted(set(lines(found)))
    parents = set(lines(strong))
    assert all(
        any(tuple(r[:j] + r[j + 1 :]) in parents for j in range(8)) for r in found[:50].tolist()
    )
    assert_array_equal(found, extensions(pool, strong, 5000, sampling, 1))
    assert not np.array_equal(found, extensions(pool, strong, 5000, sampling, 2))
