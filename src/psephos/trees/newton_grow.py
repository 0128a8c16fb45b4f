"""The tree growers of boosting models: exact, on bins, or on bins made for each tree."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from psephos._types import Array, NDArray
from psephos.kernels.binned_trees.bins import bin_columns
from psephos.kernels.binned_trees.newton_hist import BINS
from psephos.runtime.jit import run_blocks
from psephos.trees.newton import NewtonTree, TreeLimits, TreeSample, prune, shrink
from psephos.trees.newton_exact import grow_exact, sort_table
from psephos.trees.newton_hist import BinnedTable, bin_table, edges, grow_binned, side_by_side

_Singles = NDArray[np.float32]
_Whole = NDArray[np.intp]
_BLOCK = 2**18
Search = Callable[[NDArray[Any], TreeLimits, TreeSample], tuple[NewtonTree, _Whole]]
Grower = Callable[[NDArray[Any], TreeLimits, TreeSample], tuple[NewtonTree, _Singles]]


def grower(
    model: Any,
    values: Array,
    n_codes: Mapping[int, int],
    weight: NDArray[np.float64] | None = None,
) -> Grower:
    """Return a function of (gradients and hessians, growth, draws) to (tree, values of rows).

    Parameters
    ----------
    model : its `tree_method`, `proposal`, `max_bin`, `learning_rate` and `n_jobs` are used
    values : (p, n)
    n_codes : numbers of codes of the categorical columns
    weight : (n,); weights of the rows, for bins that are made once; bins made for each tree are
        weighted by hessians
    """
    own_quantiles = (model.tree_method, model.proposal) == ("approx", "local")
    method = "exact" if own_quantiles else model.tree_method
    search = searching(method, values, n_codes, model.max_bin, model.n_jobs, weight)

    def grow(gh: Array, growth: TreeLimits, draws: TreeSample) -> tuple[NewtonTree, _Singles]:
        tree, position = search(gh, growth, draws)
        if method == "exact":  # the others do not make splits with a gain below gamma
            position = prune(tree, growth.penalty.gamma)[position]
        shrink(tree, model.learning_rate)
        return tree, tree.answer[position]

    return grow


def searching(
    method: str,
    values: Array,
    n_codes: Mapping[int, int],
    max_bin: int,
    n_jobs: int | None,
    weight: NDArray[np.float64] | None,
) -> Search:
    """Return a function that grows a tree ('exact', 'approx' or 'hist'), with each row's leaf."""
    if method == "exact":
        table = sort_table(values, n_codes, n_jobs)
        return lambda gh, growth, draws: grow_exact(table, gh, growth, draws, n_jobs)
    if method == "approx":
        bins = proposer(values, n_codes, max_bin, n_jobs)
        return lambda gh, growth, draws: grow_binned(bins(gh, draws), gh, growth, draws)
    binned = bin_table(values, n_codes, max_bin, n_jobs, weight)
    return lambda gh, growth, draws: grow_binned(binned, gh, growth, draws)


def proposer(
    values: Array, n_codes: Mapping[int, int], max_bin: int, n_jobs: int | None
) -> Callable[[Array, TreeSample], BinnedTable]:
    """Return a function that bins the (p, n) table for a tree, from its gradients and draws.

    Bins have equal sums of hessians. Quantiles are exact, from columns that are sorted once.
    """
    p, n = values.shape
    table = sort_table(values, n_codes, n_jobs)
    coded = sorted(n_codes)
    fixed = bin_table(values[coded], dict(enumerate(n_codes[j] for j in coded)), max_bin, n_jobs)
    width = max(1, _BLOCK // n)

    def bins(gh: Array, draws: TreeSample) -> BinnedTable:
        mass, n_bins = draws.rows * gh[:, 1].astype(np.float64), np.empty(p, np.int64)
        codes = np.empty((p, n), np.uint8)
        low, high = np.full((2, p, BINS), np.nan)

        def work(block: int) -> None:
            part = slice(block * width, (block + 1) * width)
            bin_columns(
                values[part], table.order[part], mass, min(max_bin - 1, BINS - 1),
                np.empty((2, n)), codes[part], n_bins[part], low[part], high[part],
            )  # fmt: skip

        run_blocks(work, -(-p // width), n_jobs)
        codes[coded], n_bins[coded] = fixed.codes, fixed.n_bins
        categories = {j: fixed.categories[i] for i, j in enumerate(coded)}
        cuts = edges(low, high, n_bins)
        return BinnedTable(values, codes, side_by_side(codes), n_bins, cuts, categories)

    return bins
