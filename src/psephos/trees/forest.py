"""Forests: whole trees grown on binned columns, one kernel call each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.kernels._jit import effective_jobs, run_blocks
from psephos.kernels.criteria import BinaryEntropy, Entropy, Gini, Poisson, Variance
from psephos.kernels.forest_draws import add_votes, take_rows
from psephos.kernels.forest_grow import Grown, Rule, Table, blank, grow, room
from psephos.trees.bins import Bins
from psephos.trees.forest_rows import Draws, Rows

__all__ = ["Forest", "Nodes", "grow_forest"]

_MOST_NODES = 2**30  # deep enough for any tree
_ROWS = 1 << 13  # rows of a block

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Nodes:
    """The nodes of many trees in one row each; children follow their parent.

    Parameters
    ----------
    root : ndarray of shape (T,), intp
        The first node of each tree.
    column : ndarray of shape (nodes,), intp
        -1 at a leaf.
    threshold : ndarray of shape (nodes,)
        Of a numeric rule, ``value <= threshold`` goes to the first child; else NaN.
    missing_left : ndarray of shape (nodes,), bool
    first, second : ndarray of shape (nodes,), intp
        The children; 0 at a leaf.
    category_ptr : ndarray of shape (nodes + 1,), intp, or empty if no rule is on categories
    category_left : ndarray, bool
        ``category_left[category_ptr[i]:category_ptr[i + 1]][code]``: the code goes to the first.
    """

    root: NDArray[np.intp]
    column: NDArray[np.intp]
    threshold: _Floats
    missing_left: NDArray[np.bool_]
    first: NDArray[np.intp]
    second: NDArray[np.intp]
    category_ptr: NDArray[np.intp]
    category_left: NDArray[np.bool_]


@dataclass(frozen=True)
class Forest:
    """Grown trees.

    Parameters
    ----------
    bins : Bins
        The columns that they were grown on.
    trees : sequence of Grown
    n_classes : int
        0 for numbers.
    center : float
        What was taken from the numbers before.
    """

    bins: Bins
    trees: Sequence[Grown]
    n_classes: int
    center: float

    def answers(self, tree: int) -> _Floats:
        """Return (nodes, C): class shares, or the mean number (C = 1)."""
        sums = self.trees[tree].sums
        if self.n_classes == 0:
            return self.center + sums[:, 1:] / sums[:, :1]
        if self.n_classes == 2:  # grown on numbers 0 and 1
            share = sums[:, 1:] / sums[:, :1]
            return np.concatenate([1.0 - share, share], axis=1)
        return sums / sums.sum(axis=1, keepdims=True)

    def impurity_importance(self) -> _Floats:
        """Return (p,): each column's share of the decrease of the impurity, the mean over trees.

        Every tree counts the same, as in scikit-learn; a tree of one leaf counts nothing.
        """
        total = np.zeros(len(self.bins.n_bins))
        for tree in self.trees:
            inner = tree.link[:, 0] >= 0
            gain = np.maximum(tree.numbers[inner, 1], 0.0)
            if gain.sum() > 0.0:
                total += np.bincount(tree.link[inner, 0], gain / gain.sum(), len(total))
        return total / max(total.sum(), np.finfo(float).tiny)

    def nodes(self) -> Nodes:
        """Return the nodes of all trees."""
        sizes = np.array([len(tree.link) for tree in self.trees], np.intp)
        root = np.cumsum(sizes) - sizes
        link = np.concatenate([tree.link for tree in self.trees])
        column = link[:, 0].astype(np.intp)
        first = np.where(column >= 0, link[:, 1] + np.repeat(root, sizes), 0).astype(np.intp)
        ptr, members = self._sets(column, link[:, 3])
        threshold = np.concatenate([tree.numbers[:, 0] for tree in self.trees])
        return Nodes(
            root,
            column,
            np.where(link[:, 3] >= 0, np.nan, threshold),
            np.concatenate([tree.missing_left for tree in self.trees]),
            first,
            np.where(column >= 0, first + 1, 0).astype(np.intp),
            ptr,
            members,
        )

    def _sets(
        self, column: NDArray[np.intp], place: NDArray[np.int32]
    ) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return the sets of categories by code: where each node's begins, and the members."""
        nodes = np.flatnonzero(place >= 0)
        if len(nodes) == 0:
            return np.empty(0, np.intp), np.empty(0, np.bool_)
        sets = np.concatenate([tree.sets for tree in self.trees])
        sizes = [len(tree.sets) for tree in self.trees]
        start = np.repeat(np.cumsum(sizes) - sizes, [len(tree.link) for tree in self.trees])
        maps = self.bins.categories
        size = np.zeros(len(place), np.intp)
        size[nodes] = [len(maps[int(j)]) for j in column[nodes]]
        which = (start + place)[nodes].tolist()
        pairs = zip(which, column[nodes].tolist(), strict=True)
        members = [sets[i, maps[int(j)]] == 1 for i, j in pairs]
        return np.concatenate([[0], np.cumsum(size)]).astype(np.intp), np.concatenate(members)

    def out_of_bag(self, draws: Draws, seeds: Any, n_jobs: int | None) -> _Floats:
        """Return (m, C): the mean answer of the trees that were not grown on a row; NaN if none."""
        m = self.bins.codes.shape[1]
        total, heard = np.zeros((m, max(self.n_classes, 1))), np.zeros(m, np.int64)
        for t, tree in enumerate(self.trees):
            value, count = self.answers(t), draws.counts(seeds[t])

            def work(block: int, tree: Any = tree, value: Any = value, count: Any = count) -> None:
                span = block * _ROWS, min((block + 1) * _ROWS, m)
                codes, n_bins = self.bins.codes, self.bins.n_bins
                add_votes(codes, n_bins, tree, value, count, *span, total, heard)

            run_blocks(work, -(-m // _ROWS), n_jobs)
        return np.where(heard[:, None] > 0, total / np.maximum(heard, 1)[:, None], np.nan)


def grow_forest(
    rows: Rows,
    n_classes: int,
    criterion: str,
    rule: Rule,
    seeds: Any,
    draws: Draws | None,
    n_jobs: int | None = None,
    least_share: float = 0.0,
    random: bool = False,
) -> Forest:
    """Return the forest of one tree a seed; the trees do not depend on `n_jobs`.

    Parameters
    ----------
    rows : Rows
        `y` holds class codes, or numbers.
    n_classes : int
        0 for numbers.
    criterion : {'gini', 'entropy', 'squared_error', 'poisson'}
    rule : Rule
    seeds : ndarray of shape (T,), uint64
        Of the draws of rows; those of columns and cuts follow from it.
    draws : Draws or None
        None: every tree is grown on all rows.
    n_jobs : int, default=None
    least_share : float, default=0.0
        Least share of a tree's weight on either side of a cut.
    random : bool, default=False
        Cuts of extra trees: one a column, at a random place.
    """
    bins, m = rows.bins, len(rows.mass)
    center = 0.0
    if n_classes == 0 and criterion != "poisson":
        center = float((rows.mass * rows.y).sum() / rows.mass.sum())
    answers = rows.y.astype(np.int32 if n_classes > 2 else np.float64)
    if n_classes == 0:
        answers = answers - center
    is_category = np.zeros(len(bins.n_bins), np.bool_)
    is_category[list(bins.categories)] = True
    table = Table(bins.codes, bins.n_bins, bins.ptr, bins.low, bins.high, is_category)
    whole = float(rows.mass.sum() if draws is None else draws.size)
    crit = _criterion(criterion, n_classes, least_share * whole)
    if isinstance(crit, Poisson):  # half the least sum that is not 0: below it, sums are rounding
        each = rows.mass * rows.y if draws is None else rows.y
        crit = crit._replace(nothing=float(each[each > 0].min(initial=np.inf)) / 2.0)
    n_workers = min(effective_jobs(n_jobs), len(seeds))
    trees: list[Any] = [None] * len(seeds)

    def work(worker: int) -> None:
        n_sums = n_classes if n_classes > 2 else 2
        scratch, arena = room(m, n_sums, answers, table), _Arena(m, n_sums, bool(bins.categories))
        left = np.empty(n_sums) if n_classes > 2 else None
        chance = np.empty(m, np.uint8) if random else None
        mask = np.empty(256, np.uint8) if bins.categories else None
        row, y, w = np.empty(m, np.int32), np.empty_like(answers), np.empty(m)
        own = range(worker, len(seeds), n_workers)
        for i, t in enumerate(own):
            weight = rows.mass if draws is None else draws.counts(seeds[t])
            size = take_rows(weight, answers, row, y, w)
            part = row[:size], y[:size], w[:size]
            state, tree = ~np.uint64(seeds[t]), arena.free(len(own) - i)
            found = grow(crit, rule, table, *part, state, scratch, tree, left, chance, mask)
            trees[t] = arena.keep(*found)

    run_blocks(work, n_workers, n_jobs)
    return Forest(bins, trees, n_classes, center)


class _Arena:
    """Where a thread's trees grow side by side: many small arrays would cost more than the trees.

    Parameters
    ----------
    m, n_sums : int
        Rows, and totals of a node.
    has_sets : bool
    """

    def __init__(self, m: int, n_sums: int, has_sets: bool) -> None:
        self._most, self._n_sums = 2 * m - 1, n_sums
        self._sets = blank(0, n_sums, m if has_sets else 0).sets
        self._nodes = blank(0, n_sums, 0)
        self._used = self._greatest = 0

    def free(self, trees: int) -> Grown:
        """Return room for the largest tree; `trees` are still to come, this one among them."""
        if len(self._nodes.link) - self._used < self._most:
            expected = (trees - 1) * self._greatest * 9 // 8
            self._nodes, self._used = blank(expected + self._most, self._n_sums, 0), 0
        return self._nodes.part(self._used)._replace(sets=self._sets)

    def keep(self, nodes: int, sets: int) -> Grown:
        """Return the tree that was grown in the room."""
        self._used, start = self._used + nodes, self._used
        self._greatest = max(self._greatest, nodes)
        return self._nodes.part(start, self._used)._replace(sets=self._sets[:sets].copy())


def _criterion(name: str, n_classes: int, least: float) -> Any:
    if name == "gini":
        return Gini(n_classes, least) if n_classes > 2 else Variance(True, least)
    if name == "entropy":
        return Entropy(n_classes, least) if n_classes > 2 else BinaryEntropy(least)
    return Poisson(least) if name == "poisson" else Variance(False, least)
