"""The sparse wrapper search: Algorithms 1 to 3 of the seed paper."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, combinations
from math import comb, inf, sqrt
from typing import Any

import numpy as np

from psephos._errors import PsephosError
from psephos.kernels.numerics.subset_draws import all_unions, draw_unions
from psephos.models.swag.backends import Clock, Report
from psephos.models.swag.measures import Errors
from psephos.models.swag.problem import Subsets
from psephos.models.swag.settings import Sampling, SearchSettings
from psephos.models.swag.steps import Step, make_step
from psephos.models.swag.store import Store

_MOST = 10**8  # subsets in one step that are held in memory


@dataclass(frozen=True)
class Found:
    """What a search found: a step for each dimension 1, 2, ..., and why it ended.

    `pool` (p*,) is S*: the columns of the strong candidates of the first screening, sorted.
    """

    steps: tuple[Step, ...]
    pool: Subsets
    stopped: str


def search(
    evaluate: Callable[..., Errors],
    n_columns: int,
    settings: SearchSettings,
    *,
    seed: int = 0,
    n_parts: float = 1.0,
    store: Store | None = None,
    report: Report | None = None,
) -> Found:
    """Return the strong subsets of columns of every dimension.

    Parameters
    ----------
    evaluate : ``evaluate(subsets, memory, clock)`` returns the errors of candidates (M, d), and
        depends on nothing but their columns. `memory` keeps finished chunks across restarts;
        ``clock.tick(n)`` counts those done. See `backends.Workers`.
    n_columns : p
    seed : seeds the draws; those of dimension d depend on `seed`, d and the strong subsets of d - 1
        alone
    n_parts : number of splits that test every row once, for the standard error of ``p_max='curve'``
    store : finished steps are read from it and written to it
    report : called as the search goes on with a `backends.Standing`
    """
    if n_columns < 1:
        raise PsephosError("the table has no column to search among: give at least one.")
    every = np.arange(n_columns, dtype=np.intp)
    screening = 2 if settings.first_step == "pairs" and n_columns > 1 else 1
    pool, steps, last = every, list[Step](), min(settings.last, n_columns)
    for dimension in range(1, last + 1):
        step = None if store is None else store.load(dimension)
        if step is None:
            if dimension == 1:
                candidates = every[:, None]
            elif dimension <= screening:
                candidates = random_pairs(n_columns, settings.n_pairs, seed)
            else:
                strong, most = steps[-1].subsets, settings.most(len(pool))
                candidates = extensions(pool, strong, most, settings.sampling, seed)
            if not len(candidates):
                return Found(tuple(steps), pool, f"the pool has {len(pool)} columns")
            clock = None if report is None else Clock(report, dimension, last, len(candidates))
            memory = None if store is None else store.chunks(dimension)
            step = make_step(candidates, evaluate(candidates, memory, clock), settings)
            step = step if store is None else store.save(step)
        steps.append(step)
        if dimension == screening:
            pool = np.unique(step.subsets)
        if settings.p_max == "curve" and dimension > screening and _flat(steps, n_parts):
            return Found(tuple(steps), pool, f"the error curve is flat at {dimension} columns")
    return Found(tuple(steps), pool, f"p_max is {last}")


def _flat(steps: list[Step], n_parts: float) -> bool:
    """Return whether the last step's quantile is not one standard error below the lowest before."""
    before = min(steps[:-1], key=lambda step: step.quantile)
    spread = float(before.spread[0])
    error = spread / sqrt(max(1.0, n_parts)) if np.isfinite(spread) else 0.0
    return not before.quantile - steps[-1].quantile > error


def in_order(subsets: Subsets) -> Subsets:
    """Return subsets in lexicographic order."""
    return subsets[np.lexsort(subsets.T[::-1])]


def extensions(pool: Subsets, strong: Subsets, m: float, sampling: Sampling, seed: int) -> Subsets:
    """Return the candidates of dimension d (Algorithm 2, lines 1 to 6), in lexicographic order.

    All C(p*, d) subsets of the pool if they are at most m; else m distinct unions of a strong
    subset of d - 1 columns and one more column of the pool, fewer only if there are no more.

    Parameters
    ----------
    pool : (p*,); S*, sorted
    strong : (M, d - 1); the strong subsets of the step before, sorted columns of the pool
    m : most candidates; inf tries all subsets
    sampling : {'parent', 'uniform'}; parent: a random strong subset and a random column that it
        lacks, drawn again until m distinct unions are found (the paper); a union of several strong
        subsets is likelier. uniform: every union is equally likely (the R program).
    seed : seeds the draws, together with d

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
    rng: Any = np.random.default_rng([seed, size])
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
    even = sampling == "uniform"
    drawn = np.empty((0, size), dtype=np.intp)
    while len(drawn) < wanted:
        numbers = rng.random((2 * (wanted - len(drawn)) + 100, 3 if even else 2))
        drawn = draw_unions(numbers, places, len(pool), even, drawn)
    return pool[in_order(drawn[:wanted])]


def all_subsets(pool: Subsets, size: int) -> Subsets:
    """Return all subsets of `size` columns of the sorted `pool`, in lexicographic order."""
    count = comb(len(pool), size)
    if count > _MOST:
        raise PsephosError(
            f"there are {count} subsets of {size} of {len(pool)} columns, too many to try all: "
            "give a smaller m or alpha."
        )
    flat = chain.from_iterable(combinations(range(len(pool)), size))
    places = np.fromiter(flat, dtype=np.intp, count=count * size)
    return pool[places].reshape(count, size)


def random_pairs(n_columns: int, most: int, seed: int) -> Subsets:
    """Return all pairs of columns if they are at most `most`, else that many, equally likely."""
    every = np.arange(n_columns)
    m = inf if comb(n_columns, 2) <= most else most
    return extensions(every, every[:, None], m, "uniform", seed)
