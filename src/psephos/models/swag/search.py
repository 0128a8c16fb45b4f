"""The sparse wrapper search: Algorithms 1 to 3 of the seed paper."""

from dataclasses import dataclass
from math import sqrt
from typing import Protocol

import numpy as np

from psephos._errors import PsephosError
from psephos.models.swag.candidates import Subsets, extensions, random_pairs
from psephos.models.swag.errors import Errors
from psephos.models.swag.progress import Clock, Report
from psephos.models.swag.settings import SearchSettings
from psephos.models.swag.steps import Step, make_step
from psephos.models.swag.store import ChunkMemory, Store

__all__ = ["Evaluate", "Found", "search"]


class Evaluate(Protocol):
    """What judges candidates: `backends.Workers`, or any function of their columns."""

    def __call__(self, subsets: Subsets, memory: ChunkMemory | None, clock: Clock | None) -> Errors:
        """Return the errors of candidates (M, d).

        `memory` keeps finished chunks across restarts; ``clock.tick(n)`` counts those done.
        """
        ...


@dataclass(frozen=True)
class Found:
    """What a search found.

    Parameters
    ----------
    steps : tuple of Step
        One for each dimension 1, 2, ...
    pool : ndarray of shape (p*,)
        S*: the columns of the strong candidates of the first screening, sorted.
    stopped : str
        Why the search ended.
    """

    steps: tuple[Step, ...]
    pool: Subsets
    stopped: str


def search(
    evaluate: Evaluate,
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
    evaluate : callable
        ``evaluate(subsets, memory, clock)`` returns the errors of candidates. It must depend on
        nothing but their columns.
    n_columns : int
        p.
    settings : SearchSettings
    seed : int, default=0
        Seeds the draws; those of dimension d depend on `seed`, d and the strong subsets of d - 1
        alone.
    n_parts : float, default=1
        Number of splits that test every row once, for the standard error of ``p_max='curve'``.
    store : Store, default=None
        Finished steps are read from it and written to it.
    report : callable, default=None
        Called as the search goes on; see `progress`.

    Returns
    -------
    found : Found

    Raises
    ------
    PsephosError
        If there is no column, or a step would try more than 10^8 subsets.
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
                strong = steps[-1].subsets
                most = settings.most(len(pool))
                candidates = extensions(pool, strong, most, settings.sampling, seed)
            if not len(candidates):
                return Found(tuple(steps), pool, f"the pool has {len(pool)} columns")
            step = _run(evaluate, candidates, settings, last, store, report)
        steps.append(step)
        if dimension == screening:
            pool = np.unique(step.subsets)
        if settings.p_max == "curve" and dimension > screening and _flat(steps, n_parts):
            return Found(tuple(steps), pool, f"the error curve is flat at {dimension} columns")
    return Found(tuple(steps), pool, f"p_max is {last}")


def _run(
    evaluate: Evaluate,
    candidates: Subsets,
    settings: SearchSettings,
    last: int,
    store: Store | None,
    report: Report | None,
) -> Step:
    clock = None if report is None else Clock(report, candidates.shape[1], last, len(candidates))
    memory = None if store is None else store.chunks(candidates.shape[1])
    step = make_step(candidates, evaluate(candidates, memory, clock), settings)
    return step if store is None else store.save(step)


def _flat(steps: list[Step], n_parts: float) -> bool:
    """Return whether the last step's quantile is not one standard error below the lowest before."""
    before = min(steps[:-1], key=lambda step: step.quantile)
    spread = float(before.spread[0])
    error = spread / sqrt(max(1.0, n_parts)) if np.isfinite(spread) else 0.0
    return not before.quantile - steps[-1].quantile > error
