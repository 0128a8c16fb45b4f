"""Forests of trees grown on binned columns, and pure random trees, drawn without labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.binned_trees.forest_draws import take_rows
from psephos.kernels.binned_trees.forest_grow import (
    BALANCED,
    MIDPOINT,
    UNIFORM,
    BinnedSample,
    ForestGrowth,
    GrownTree,
    blank,
    cell_sides,
    count_cells,
    grow,
    grow_pure,
    kind_of,
    workspace,
)
from psephos.kernels.numerics.criteria import ENTROPY, GINI, SQUARED_ERROR, Criterion
from psephos.runtime.jit import effective_jobs, run_blocks
from psephos.runtime.progress import progress
from psephos.trees.bins import Bins
from psephos.trees.forest_rows import Bootstraps, ForestRows, GroupDraws, Unbinned, balanced_classes

_Floats = NDArray[np.float64]
_CRITERIA = {"gini": GINI, "entropy": ENTROPY, "squared_error": SQUARED_ERROR}


@dataclass(frozen=True)
class ForestNodes:
    """The concatenated nodes of many trees; children follow their parent."""

    root: NDArray[np.intp]  # (T,); the first node of each tree
    column: NDArray[np.intp]  # (nodes,); -1 at a leaf
    # (nodes,); a numeric rule sends ``value <= threshold`` to the first child; else NaN
    threshold: _Floats
    missing_left: NDArray[np.bool_]  # (nodes,)
    # `first`, `second`: (nodes,); the children; 0 at a leaf
    first: NDArray[np.intp]
    second: NDArray[np.intp]
    answer: NDArray[np.intp]  # (nodes,); the row of `Forest.answers` of a leaf; else -1
    category_ptr: NDArray[np.intp]  # (nodes + 1,) intp, or empty if no rule is on categories
    # ``category_left[category_ptr[i]:category_ptr[i + 1]][code]``: the code goes to the first
    category_left: NDArray[np.bool_]


@dataclass(frozen=True)
class Forest:
    """Grown trees."""

    bins: Bins | Unbinned  # the columns that they were grown on
    trees: Sequence[GrownTree]
    n_classes: int  # 0 for numbers
    center: float  # subtracted from numeric labels

    def answers(self) -> _Floats:
        """Return (rows, C): class shares, or the mean number (C = 1), of leaves.

        First a row per class, for all leaves of only that class; then the other leaves, tree by
        tree.
        """
        if self.n_classes == 0:
            mixed = [self.center + tree.sums[:, 1:] / tree.sums[:, :1] for tree in self.trees]
        else:
            mixed = [tree.sums / tree.sums.sum(axis=1, keepdims=True) for tree in self.trees]
        return np.concatenate([self._pure(), *mixed])

    def _pure(self) -> _Floats:
        """Return the class shares of pure leaves."""
        return np.eye(self.n_classes, max(self.n_classes, 1))

    def impurity_importance(self) -> _Floats:
        """Return (p,): each column's share of the impurity decrease, averaged over trees.

        Every tree counts the same, as in scikit-learn, except that trees of one leaf do not count.
        """
        columns, shares = [], []
        for tree in self.trees:
            inner = tree.link[:, 0] >= 0
            worth = np.maximum(tree.gain[inner], 0.0)
            columns.append(tree.link[inner, 0])
            shares.append(worth / max(worth.sum(), np.finfo(float).tiny))
        p = len(self.bins.n_bins)
        total = np.bincount(np.concatenate(columns), np.concatenate(shares), p)
        return total / max(total.sum(), np.finfo(float).tiny)

    def nodes(self) -> ForestNodes:
        """Return the nodes of all trees."""
        sizes = [len(tree.link) for tree in self.trees]
        ends = np.cumsum(sizes)
        root, n = (ends - sizes).astype(np.intp), int(ends[-1])
        column, first, second, answer = (np.empty(n, np.intp) for _ in range(4))
        threshold, missing_left = np.empty(n), np.empty(n, np.bool_)
        pure = total_sums = len(self._pure())
        for tree, start, end in zip(self.trees, root.tolist(), ends.tolist(), strict=True):
            here, inner = slice(start, end), tree.link[:, 0] >= 0
            column[here] = tree.link[:, 0]
            first[here] = np.where(inner, tree.link[:, 1] + start, 0)
            second[here] = np.where(inner, tree.link[:, 1] + (start + 1), 0)
            named = tree.link[:, 1] < pure
            row = np.where(named, tree.link[:, 1], tree.link[:, 1] + (total_sums - pure))
            answer[here] = np.where(inner, -1, row)
            threshold[here] = np.where(tree.link[:, 3] >= 0, np.nan, tree.threshold)
            missing_left[here] = tree.missing_left
            total_sums += len(tree.sums)
        sets = self._sets()
        return ForestNodes(root, column, threshold, missing_left, first, second, answer, *sets)

    def _sets(self) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return the sets of categories: the start of each node's, and whether it has each code."""
        maps = self.bins.categories
        size, members = [np.zeros(1, np.intp)], [np.empty(0, np.bool_)]
        for tree in self.trees:
            nodes = np.flatnonzero(tree.link[:, 3] >= 0)
            column = tree.link[nodes, 0].tolist()
            pairs = zip(tree.link[nodes, 3].tolist(), column, strict=True)
            members += [tree.sets[i, maps[j]] == 1 for i, j in pairs]
            size.append(np.zeros(len(tree.link), np.intp))
            size[-1][nodes] = [len(maps[j]) for j in column]
        if len(members) == 1:
            return np.empty(0, np.intp), np.empty(0, np.bool_)
        return np.cumsum(np.concatenate(size)).astype(np.intp), np.concatenate(members)


def grow_forest(
    rows: ForestRows,
    n_classes: int,
    criterion: str,
    rule: ForestGrowth,
    seeds: Any,
    draws: Bootstraps | GroupDraws | None,
    n_jobs: int | None = None,
    least_share: float = 0.0,
    random: bool = False,
    balanced: bool = False,
) -> Forest:
    """Return a forest with one tree per seed; the trees do not depend on `n_jobs`.

    Parameters
    ----------
    rows : `y` holds class codes, or numbers
    n_classes : 0 for numbers
    criterion : {'gini', 'entropy', 'squared_error'}
    rule : its numbers of rows are sums of weights if rows are drawn or weights are counts
    seeds : (T,) uint64; seeds of the draws of rows, from which those of columns and cuts follow
    draws : None: every tree is grown on all rows
    least_share : least share of a tree's weight on either side of a cut
    random : cuts of extra trees: one per column, at a random value. Rows whose columns are not
        binned need these.
    balanced : whether rows are weighted so that the classes of each tree have equal weight
    """
    bins, m, center = rows.bins, len(rows.mass), 0.0
    if n_classes == 0:
        center = float((rows.mass * rows.y).sum() / rows.mass.sum())
    is_category = np.zeros(len(bins.n_bins), np.bool_)
    is_category[list(bins.categories)] = True
    unbinned = isinstance(bins, Unbinned)
    table = BinnedSample(bins.codes, bins.n_bins, bins.ptr, bins.low, bins.high, is_category)
    weight = float(rows.mass.sum() if draws is None else draws.size)
    whole = (draws is not None or rows.counts) and not balanced

    answers = rows.y.astype(np.uint32) if n_classes > 2 else rows.y.astype(np.float64) - center
    least = least_share * weight
    if whole:  # a weight is a number of rows
        least = max(least, float(rule.least))
        lightest = float(max(rule.min_split, 2 * rule.least))
        rule = rule._replace(min_split=2, least=1, min_weight=lightest)
    crit = Criterion(_CRITERIA[criterion], n_classes, least)
    n_workers = min(effective_jobs(n_jobs), len(seeds))
    trees: list[Any] = [None] * len(seeds)
    step = progress(len(seeds), "trees")

    def work(worker: int) -> None:
        own, kind = range(worker, len(seeds), n_workers), kind_of(m, n_classes, random, unbinned)
        row, count = np.empty(m, np.uint32), np.empty(m)
        y, w = np.empty_like(answers), np.empty(m)
        scratch = workspace(m, n_classes, y, kind, len(bins.n_bins))
        # Room for the largest tree, out of which each is copied; unused memory is not allocated.
        room = blank(2 * m - 1, m, len(scratch.sums), m if bins.categories else 0)
        for t in own:
            weight = _weight_of(rows, draws, seeds[t], count, n_classes if balanced else 0)
            size = take_rows(rows.first, weight, answers, row, y, w)
            part = row[:size], y[:size], w[:size]
            state = ~np.uint64(seeds[t])
            trees[t] = _kept(room, *grow(crit, rule, table, *part, state, scratch, room, *kind))
            step()

    run_blocks(work, n_workers, n_jobs)
    return Forest(bins, trees, n_classes, center)


def _weight_of(
    rows: ForestRows,
    draws: Bootstraps | GroupDraws | None,
    seed: Any,
    count: _Floats,
    balanced: int,
) -> _Floats:
    """Return the weights (m,) of a tree's rows; `balanced`: number of classes to balance, or 0."""
    weight = rows.mass if draws is None else draws.counts(seed, count)
    return balanced_classes(weight, rows.y, balanced) if balanced else weight


def _kept(room: GrownTree, nodes: int, sums: int, sets: int) -> GrownTree:
    """Return a copy of the tree that was grown in `room`."""
    ends = nodes, nodes, nodes, nodes, sums, sets
    arrays: Any = [a[:end].copy() for a, end in zip(room, ends, strict=True)]
    return GrownTree(*arrays)


Split = Literal["uniform", "midpoint", "balanced"]
SPLITS: dict[str, int] = {"uniform": UNIFORM, "midpoint": MIDPOINT, "balanced": BALANCED}


class PureTree(NamedTuple):
    """Cells of [0, 1]^d; the second child of a node follows its first.

    `link` (nodes, 2): coordinate (-1 at a leaf) and first child; `cut` (nodes,), NaN at a leaf;
    `missing_left` (nodes,).
    """

    link: NDArray[np.int64]
    cut: _Floats
    missing_left: NDArray[np.bool_]

    def sides(self, points: _Floats) -> _Floats:
        """Return (n, d): the side lengths of the cell of each point of the cube."""
        d = points.shape[1]
        out = np.empty(points.shape)
        cell_sides(points, self.link, self.cut, np.empty(d), np.empty(d), out)
        return out

    def shares(
        self,
        X: _Floats,
        y: NDArray[np.intp],
        weight: _Floats,
        column: NDArray[np.intp],
        threshold: _Floats,
        n_classes: int,
    ) -> _Floats:
        """Return (nodes, n_classes): class shares of the rows in each cell, equal in empty cells.

        `X` (n, p); `y`, `weight` (n,); `column` (d,): the columns of X that are the coordinates.
        `threshold` (nodes,): the cuts in the units of X.
        """
        sums = np.zeros((len(self.cut), n_classes))
        count_cells(X, y, weight, column, self.link, threshold, self.missing_left, sums)
        mass = sums.sum(axis=1, keepdims=True)
        return np.where(mass > 0.0, sums / np.where(mass > 0.0, mass, 1.0), 1.0 / n_classes)


def pure_tree(split: str, n_columns: int, n_leaves: int, seed: int) -> PureTree:
    """Return a tree of `n_leaves` cells; see `psephos.kernels.binned_trees.forest_grow`."""
    nodes = 2 * n_leaves - 1
    link, cut = np.full((nodes, 2), -1, np.int64), np.full(nodes, np.nan)
    missing_left = np.zeros(nodes, np.bool_)
    scratch = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    grow_pure(
        SPLITS[split], n_columns, n_leaves, np.uint64(seed), link, cut, missing_left, *scratch
    )
    return PureTree(link, cut, missing_left)


def theory_leaves(split: str, n_columns: int, n_rows: float) -> int:
    """Return the number of cells k that balances bias (few cells) and variance (few rows a cell).

    The sides of a cell shrink like k^(-a / d) and the noise of its class share grows like
    sqrt(k / n). They are of the same order for uniform cuts (guaranteed a = 1/8) at
    k = n^(4d / (4d + 1)), for midpoints (a = 1/3.87) at k = n^(3.87d / (3.87d + 2)), and for
    balanced cells (a = 1) at k = (n / ln n)^(d / (d + 2)).
    """
    d, n = n_columns, max(float(n_rows), 1.0)
    if split == "uniform":
        k = n ** (4.0 * d / (4.0 * d + 1.0))
    elif split == "midpoint":
        k = n ** (3.87 * d / (3.87 * d + 2.0))
    else:
        k = (n / max(np.log(n), 1.0)) ** (d / (d + 2.0))
    return max(2, round(k))


def side_exponent(split: str, n_columns: int) -> float:
    """Return b: the sides of a random point's cell shrink like k^-b with the number of cells k.

    With j cells, the cell of the point is cut next with probability 1 / j, so it is cut about ln k
    times, 1/d of these along each coordinate. A uniform cut leaves 2/3 of the side on average (the
    point is more often in the longer part), a midpoint half: k^(-1 / (3 d)) and k^(-1 / (2 d)).
    Balanced cells are halved log2(k) / d times along each coordinate: k^(-1 / d).
    """
    return 1.0 / ({"uniform": 3, "midpoint": 2, "balanced": 1}[split] * n_columns)


def risk_exponent(split: str, n_columns: int) -> float:
    """Return c: the excess risk of a pure forest of n rows falls at least like n^-c.

    Excess risk is the probability of error less that of the best classifier. The theorems assume
    independent columns that are uniform on [0, 1], a class probability with a bounded slope, and a
    number of cells chosen by n: c = 1 / (8 d + 2) for uniform cuts, 1 / (3.87 d + 2) for midpoints;
    if cells and coordinates are cut in turn, excess risk falls like (ln n / n)^(1 / (d + 2)). These
    are guarantees: in simulations the first two converge faster.

    Source: Gao & Zhou (2020), "Towards convergence rate analysis of random forests for
    classification", NeurIPS 33.
    """
    slope = {"uniform": 8.0, "midpoint": 3.87, "balanced": 1.0}[split]
    return 1.0 / (slope * n_columns + 2.0)
