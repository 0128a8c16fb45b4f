"""Which subsets of columns a step tries: all of them, or distinct random extensions."""

from itertools import chain, combinations
from math import comb, inf
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.kernels.numerics.subset_draws import all_unions, draw_unions

__all__ = ["Sampling", "Subsets", "all_subsets", "extensions", "in_order", "random_pairs"]

Subsets = NDArray[np.intp]
Sampling = Literal["parent", "uniform"]
_MOST = 10**8  # subsets in one step that are held in memory


def all_subsets(pool: Subsets, size: int) -> Subsets:
    """Return all subsets of `size` columns of the sorted `pool`, in lexicographic order.

    Raises
    ------
    PsephosError
        If there are more than 10^8.
    """
    count = comb(len(pool), size)
    if count > _MOST:
        raise PsephosError(
            f"there are {count} subsets of {size} of {len(pool)} columns, too many to try all: "
            "give a smaller m or alpha."
        )
    flat = chain.from_iterable(combinations(range(len(pool)), size))
    places = np.fromiter(flat, dtype=np.intp, count=count * size)
    return pool[places].reshape(count, size)


def in_order(subsets: Subsets) -> Subsets:
    """Return subsets in lexicographic order."""
    return subsets[np.lexsort(subsets.T[::-1])]


def extensions(pool: Subsets, strong: Subsets, m: float, sampling: Sampling, seed: int) -> Subsets:
    """Return the candidates of dimension d (Algorithm 2, lines 1 to 6).

    All C(p*, d) subsets of the pool if they are at most m; else m distinct unions of a strong
    subset of d - 1 columns and one more column of the pool.

    Parameters
    ----------
    pool : ndarray of shape (p*,)
        S*, sorted.
    strong : ndarray of shape (M, d - 1)
        The strong subsets of the step before, sorted columns of the pool.
    m : float
        Most candidates; inf tries all subsets.
    sampling : {'parent', 'uniform'}
        parent: a random strong subset and a random column that it lacks, drawn again until m
        distinct unions are found (the paper); a union of several strong subsets is likelier.
        uniform: every union is equally likely (the R program).
    seed : int
        Seeds the draws, together with d.

    Returns
    -------
    candidates : ndarray of shape (M', d)
        Distinct, in lexicographic order; fewer than m only if there are no more unions.

    Notes
    -----
    A draw takes two numbers u, v of ``numpy.random.default_rng([seed, d]).random`` (and a third
    for 'uniform'): strong subset floor(u M) in lexicographic order, then column floor(v (p* - d +
    1)) of those of the pool that it lacks, in order.
    """
    size = strong.shape[1] + 1
    if size > len(pool):
        return np.empty((0, size), dtype=np.intp)
    if comb(len(pool), size) <= m:
        return all_subsets(pool, size)
    wanted = int(m)
    rng = np.random.default_rng([seed, size])
    places = in_order(np.searchsorted(pool, strong).astype(np.intp))
    most = len(places) * (len(pool) - size + 1)
    # Each union arises from at most `size` parents, so above this bound more than 4 m unions exist
    # and drawing m of them ends soon. Below it they are counted: there may be fewer than m.
    if most <= 4 * size * wanted:
        found = all_unions(places, len(pool))
        if len(found) <= wanted:
            return pool[in_order(found)]
        if sampling == "uniform":
            chosen = rng.choice(len(found), wanted, replace=False)
            return pool[in_order(in_order(found)[chosen])]
    return pool[in_order(_drawn(places, len(pool), wanted, sampling, rng))]


def _drawn(
    strong: Subsets, n_pool: int, m: int, sampling: Sampling, rng: np.random.Generator
) -> Subsets:
    even = sampling == "uniform"
    rows = np.empty((0, strong.shape[1] + 1), dtype=np.intp)
    while len(rows) < m:
        numbers = rng.random((2 * (m - len(rows)) + 100, 3 if even else 2))
        rows = draw_unions(numbers, strong, n_pool, even, rows)
    return rows[:m]


def random_pairs(n_columns: int, most: int, seed: int) -> Subsets:
    """Return all pairs of columns if they are at most `most`, else that many, equally likely."""
    every = np.arange(n_columns)
    m = inf if comb(n_columns, 2) <= most else most
    return extensions(every, every[:, None], m, "uniform", seed)
