"""The answers of a forest's trees to the rows they were not grown on, and how good they are."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.base import Labels
from psephos.models.forest.memory import ForestMemory
from psephos.models.sampling import out_of_bag
from psephos.trees.forest import Forest
from psephos.trees.forest_rows import Draws
from psephos.vote import Vote

_Floats = NDArray[np.float64]
_CELLS = 1 << 21  # numbers of a block: 16 MiB


def extras_of(
    model: Any,
    vote: Vote,
    memory: ForestMemory,
    forest: Forest | None,
    given: tuple[NDArray[Any], Any, Labels, _Floats],
) -> dict[str, Any]:
    """Return the memory and the out-of-bag answers; `forest` is there if all trees are new.

    Of the rows given the first are the units that were drawn: distinct rows, or groups.
    """
    unit, values, labels, weight = given
    draws, answers = memory.draws, None
    if model.oob_score and draws is not None and forest is not None and not memory.grouped:
        answers = forest.out_of_bag(draws, memory.seeds, model.n_jobs)[unit]
        if labels.target.n_classes:  # ties as `predict` has them
            answers = vote.readout.probabilities(
                labels.target.level(answers @ labels.target.code), labels.target
            )
    elif model.oob_score and draws is not None:
        answers = _asked(vote, draws, memory.seeds, unit, values)
    scored = out_of_bag(answers, labels.target.n_classes, labels.y, weight)
    return {"memory_": memory, **scored}


def _asked(
    vote: Vote, draws: Draws, seeds: NDArray[np.uint64], group: NDArray[Any], X: Any
) -> _Floats:
    """Return (n, C): shares of classes, or numbers, of the trees that a row was left out of."""
    counts = np.array([draws.counts(seed) for seed in seeds])
    k = vote.target.n_classes
    out = np.full((len(group), max(k, 1)), np.nan)
    size = max(1, _CELLS // (vote.n_voters * max(k, 1)))
    for start in range(0, len(group), size):
        span = slice(start, start + size)
        left = (counts[:, group[span]] == 0).T
        votes = np.einsum("nt,ntk->nk", left.astype(np.float64), vote.votes(X[span]))
        number = left.sum(axis=1)
        known = number > 0
        mean = votes[known] / number[known, None]
        said: _Floats = mean
        if k:
            said = vote.readout.probabilities(vote.target.level(mean), vote.target)
        out[np.flatnonzero(known) + start] = said
    return out
