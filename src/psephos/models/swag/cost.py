"""What a search will cost: a few candidates of each size are timed."""

import time
from dataclasses import dataclass
from math import comb

import numpy as np

from psephos.models.swag.backends import Workers
from psephos.models.swag.evaluation import Evaluation
from psephos.models.swag.settings import SearchSettings

__all__ = ["StepCost", "estimate_cost"]


@dataclass(frozen=True)
class StepCost:
    """What a step is expected to cost.

    Parameters
    ----------
    dimension : int
    n_candidates : int
        At most so many.
    n_fits : int
        Candidates times splits.
    seconds : float
        Of one worker.
    """

    dimension: int
    n_candidates: int
    n_fits: int
    seconds: float


def estimate_cost(
    evaluation: Evaluation, settings: SearchSettings, *, seconds: float = 0.5, seed: int = 0
) -> list[StepCost]:
    """Return what each step of a search will cost at most, from random candidates.

    The pool S* is taken to have the share alpha of the columns (of pairs: all columns). Strong
    candidates may take longer than random ones (support vectors, separable classes). Each
    dimension is tried for so many `seconds`, at least one chunk. The sum of the steps' seconds,
    divided by the number of workers, is the time of the search.
    """
    p = evaluation.problem.X.shape[1]
    pairs = settings.first_step == "pairs" and p > 1
    n_pool = p if pairs else int((p - 1) * settings.share(1)) + 1
    rng = np.random.default_rng(seed)
    workers = Workers(evaluation, 1)
    workers(np.zeros((1, 1), dtype=np.intp))  # compiles and binds
    steps: list[StepCost] = []
    for d in range(1, min(settings.last, n_pool) + 1):
        count = p if d == 1 else int(min(comb(n_pool, d), settings.most(n_pool)))
        if pairs and d == 2:
            count = min(comb(p, 2), settings.n_pairs)
        spent, tried, size = 0.0, 0, 1
        while tried < count and spent < seconds:
            size = min(size, evaluation.chunk, count - tried)
            probe = np.sort(np.stack([rng.choice(p, d, replace=False) for _ in range(size)]))
            start = time.perf_counter()
            workers(probe)
            spent += time.perf_counter() - start
            tried, size = tried + size, 4 * size
        fits = count * evaluation.problem.folds.n_splits
        steps.append(StepCost(d, count, fits, spent / tried * count))
    return steps
