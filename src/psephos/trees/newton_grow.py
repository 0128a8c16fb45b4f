"""Which way a boosting model grows its trees."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.trees.newton import Draws, Growth, NewtonTree, prune, shrink
from psephos.trees.newton_approx import proposer
from psephos.trees.newton_exact import grow_exact, sort_table
from psephos.trees.newton_hist import bin_table, grow_binned

_Singles = NDArray[np.float32]
_Whole = NDArray[np.intp]
Search = Callable[[NDArray[Any], Growth, Draws], tuple[NewtonTree, _Whole]]
Grower = Callable[[NDArray[Any], Growth, Draws], tuple[NewtonTree, _Singles]]


def grower(
    model: Any,
    values: NDArray[Any],
    n_codes: Mapping[int, int],
    weight: NDArray[np.float64] | None = None,
) -> Grower:
    """Return what grows one tree: from (gradients and hessians, growth, draws) to (tree, answers).

    Parameters
    ----------
    model : its `tree_method`, `proposal`, `max_bin`, `gamma`, `learning_rate` and `n_jobs` are read
    values : (p, n)
    n_codes : codes of the categorical columns
    weight : (n,); of the rows, for bins that are made once; those of each tree have the hessians'
        weight
    """
    own_quantiles = (model.tree_method, model.proposal) == ("approx", "local")
    method = "exact" if own_quantiles else model.tree_method
    search = searching(method, values, n_codes, model.max_bin, model.n_jobs, weight)

    def grow(gh: NDArray[Any], growth: Growth, draws: Draws) -> tuple[NewtonTree, _Singles]:
        tree, position = search(gh, growth, draws)
        if method == "exact":  # the others do not make what gains less than gamma
            position = prune(tree, model.gamma)[position]
        shrink(tree, model.learning_rate)
        return tree, tree.answer[position]

    return grow


def searching(
    method: str,
    values: NDArray[Any],
    n_codes: Mapping[int, int],
    max_bin: int,
    n_jobs: int | None,
    weight: NDArray[np.float64] | None,
) -> Search:
    """Return what grows a tree ('exact', 'approx' or 'hist'), and finds the leaf of each row."""
    if method == "exact":
        table = sort_table(values, n_codes, n_jobs)
        return lambda gh, growth, draws: grow_exact(table, gh, growth, draws, n_jobs)
    if method == "approx":
        bins = proposer(values, n_codes, max_bin, n_jobs)
        return lambda gh, growth, draws: grow_binned(bins(gh, draws), gh, growth, draws)
    binned = bin_table(values, n_codes, max_bin, n_jobs, weight)
    return lambda gh, growth, draws: grow_binned(binned, gh, growth, draws)
