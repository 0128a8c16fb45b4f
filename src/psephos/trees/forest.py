"""Trees of forests, and the distinct rows with weights on which they are grown."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from scipy import sparse

from psephos._errors import PsephosError
from psephos._types import Array, Floats, NDArray
from psephos.kernels.binned_trees import forest_draws, forest_grow
from psephos.kernels.numerics.criteria import ENTROPY, GINI, SQUARED_ERROR, Criterion
from psephos.runtime.jit import effective_jobs, run_blocks
from psephos.runtime.progress import progress
from psephos.trees.bins import BLOCK_CELLS, Bins, columns_of

_BLOCK = 1 << 16  # rows
_MOST = 2**31  # numbers of rows, counted by weights or drawn, must be below
_SECOND = np.uint64(0x9E3779B97F4A7C15)  # changes the seed for a second draw
_MANY = 16  # draws per row above which they are not drawn one by one


@dataclass(frozen=True)
class Unbinned:
    """A dense table of numbers whose columns are not binned, in place of `Bins`."""

    codes: NDArray[Any]  # (p, n) float64 or float32; the values, column by column
    categories: ClassVar[Mapping[int, NDArray[np.uint8]]] = {}
    low: ClassVar[Floats] = np.empty(0)
    high: ClassVar[Floats] = np.empty(0)

    @classmethod
    def of(cls, values: Array, n_jobs: int | None = None) -> Self:
        """Return a copy of the values of a table (n, p)."""
        n, p = values.shape
        codes = np.empty((p, n), values.dtype)

        def copy(span: slice) -> None:
            codes[span] = columns_of(values, span)

        _by_columns(copy, n, p, n_jobs)
        return cls(codes)

    @property
    def n_bins(self) -> NDArray[np.int64]:
        """Return (p,): 2, the two sides of a cut."""
        return np.full(len(self.codes), 2)

    @property
    def ptr(self) -> NDArray[np.int64]:
        """Return (p + 1,): no column has bins."""
        return np.zeros(len(self.codes) + 1, dtype=np.int64)

    def bits(self) -> Array:
        """Return the bits of the values, as integers of the same size."""
        return self.codes.view(f"u{self.codes.dtype.itemsize}")

    def arrange(self, order: NDArray[np.int64], n_jobs: int | None = None) -> None:
        """Reorder the rows: row i becomes the old row ``order[i]``."""
        p, n = self.codes.shape

        def arrange(span: slice) -> None:
            self.codes[span] = self.codes[span][:, order]

        _by_columns(arrange, n, p, n_jobs)


def _by_columns(work: Callable[[slice], None], n: int, p: int, n_jobs: int | None) -> None:
    """Call a function for blocks of the columns of a table (n, p)."""
    step = max(1, BLOCK_CELLS // max(n, 1))
    run_blocks(lambda b: work(slice(b * step, (b + 1) * step)), -(-p // step), n_jobs)


@dataclass(frozen=True)
class ForestRows:
    """Distinct rows of a training table.

    Rows with equal codes (or values) and labels become one row with the sum of their weights, and
    rows are in the order of a hash of these, so that a row of weight 2 has the same effect as the
    row given twice. If rows must be counted but weights are not counts, equal rows are not merged.
    """

    bins: Bins | Unbinned  # of all rows of the table
    # (m,); the position of each distinct row in the codes of `bins`: in `Bins` that of its first
    # copy in the table; in `Unbinned` the distinct rows come first
    first: NDArray[np.int64]
    y: NDArray[Any]  # (m,)
    mass: Floats  # (m,); their weights
    group: NDArray[np.int64]  # (n,); the distinct row of each row of the table
    # the number of rows: the sum of weights that are integers; else the rows of the table
    number: float
    counts: bool  # whether weights are integers with a sum below 2^31: numbers of rows

    @classmethod
    def of(
        cls,
        values: Any,
        n_codes: Mapping[int, int],
        y: Array,
        weight: Floats,
        max_bins: int,
        n_jobs: int | None,
        *,
        counted: bool = False,
        unbinned: bool = False,
        ranked: bool = True,
    ) -> Self:
        """Return the distinct rows of a table: see `Bins.of`; `weight` must be positive.

        With `counted`, rows are merged only if weights are counts. With `unbinned`, the table must
        be dense and without categories, and its columns are not binned. With `ranked`, the hash is
        that of the rank of y, which has no unit, and not of its bits.
        """
        bins: Any = Unbinned.of(values, n_jobs) if unbinned else None
        if bins is None:
            bins = Bins.of(values, n_codes, weight, max_bins, n_jobs)
        codes, n = bins.bits() if unbinned else bins.codes, len(y)
        key: Any = np.unique(y, return_inverse=True)[1] if ranked else y
        numbers = np.ascontiguousarray(key, dtype=np.float64) + 0.0  # -0 is 0
        marks = numbers.view(np.uint64).copy()

        def mark(block: int) -> None:
            span = slice(block * _BLOCK, min((block + 1) * _BLOCK, n))
            forest_draws.row_marks(codes[:, span], marks[span])

        run_blocks(mark, -(-n // _BLOCK), n_jobs)
        number = number_of(weight, n)
        counts = _is_whole(weight) and number < _MOST
        apart = counted and not counts
        by = np.lexsort((weight, marks)) if apart else np.argsort(marks, kind="stable")
        order = by.astype(np.int64)
        sorted_marks = marks[order]
        if apart or (sorted_marks[1:] != sorted_marks[:-1]).all():  # no row is there twice
            first, mass, group = order, weight[order], np.empty(n, np.int64)
            group[order] = np.arange(n)
        else:
            first, group, mass = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
            m = forest_draws.merge_rows(codes, numbers, weight, order, marks, first, mass, group)
            first, mass = first[:m].copy(), mass[:m].copy()
        y = y[first]
        if unbinned:
            bins.arrange(np.concatenate([first, np.delete(np.arange(n), first)]), n_jobs)
            first = np.arange(len(first))
        return cls(bins, first, y, mass, group, number, counts)

    def n_draws(self, max_samples: float | None) -> int:
        """Return the number of rows that a bootstrap draws.

        `max_samples` (None: 1.0) is a share of the sum of weights if these are all integers
        (counts), else of the number of rows given. An integer is the number of draws itself.
        """
        if isinstance(max_samples, int | np.integer):
            draws = int(max_samples)
        else:
            draws = max(1, round(self.number * (1.0 if max_samples is None else max_samples)))
        if draws >= _MOST:
            raise PsephosError(
                f"a bootstrap would draw {draws:.3g} rows: integer weights are counts of rows; "
                "divide them all by one number, or give a smaller max_samples."
            )
        return draws


def number_of(weight: Floats, n: int) -> float:
    """Return the number of rows: the sum of integer weights, which are counts; else n."""
    return float(weight.sum()) if _is_whole(weight) else float(n)


def balanced_classes(weight: Floats, y: Array, n_classes: int) -> Floats:
    """Return weights with the same sum, equal for all classes that have rows."""
    totals = np.bincount(y, weight, n_classes)
    each = weight.sum() / np.count_nonzero(totals)
    return weight * (each / np.where(totals > 0, totals, 1.0))[y]


def _is_whole(weight: Floats) -> bool:
    return bool((weight == np.round(weight)).all())


class Bootstraps:
    """Bootstrap samples of weighted rows, each determined by its seed.

    `mass` (m,): the weights with which rows are drawn. `size`: draws per sample.
    """

    def __init__(self, mass: Floats, size: int) -> None:
        self.size, self._mass = size, mass
        m = len(mass)
        self._many = size > _MANY * m
        self._share, self._other = np.empty(m), np.empty(m, np.int32)
        if (mass == mass[:1]).all():
            self._share[:], self._other[:] = 1.0, np.arange(m)
        elif not self._many:
            forest_draws.make_alias(mass, self._share, self._other, np.empty(m, np.int64))

    def counts(self, seed: Any, out: Floats | None = None) -> Floats:
        """Return how often each row is in the sample of a seed, shape (m,); `out` takes it."""
        count = np.empty(len(self._mass)) if out is None else out
        if self._many:
            forest_draws.split_counts(self._mass, self.size, np.uint64(seed), count)
        else:
            forest_draws.draw_counts(self._share, self._other, self.size, np.uint64(seed), count)
        return count


class GroupDraws:
    """Bootstrap samples of whole groups: a row counts as often as its group was drawn.

    If weights are not counts, `size` rows are then drawn by weight from the rows of the drawn
    groups, so that counts are integers.

    Parameters
    ----------
    draws : Draws
        Draws of the groups.
    unit, row : ndarray of shape (n,)
        The group of each row of the table, and its index among the rows that are counted.
    weight : ndarray of shape (n,)
    size : int
        Mean number of rows of a sample.
    """

    def __init__(
        self, draws: Any, unit: NDArray[Any], row: NDArray[Any], weight: Floats, size: int
    ) -> None:
        self.size, self._draws, self._whole = size, draws, _is_whole(weight)
        self._rows: Any = sparse.csr_array((weight, (row, unit)))

    def counts(self, seed: Any, out: Floats | None = None) -> Floats:
        """Return how often each row is in the sample of a seed, shape (m,); `out` takes it."""
        count: Floats = self._rows @ self._draws.counts(seed)
        if not self._whole:
            some = np.flatnonzero(count)
            count[some] = Bootstraps(count[some], self.size).counts(np.uint64(seed) ^ _SECOND)
        if out is None:
            return count
        out[:] = count
        return out


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
    trees: Sequence[forest_grow.GrownTree]
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
    rule: forest_grow.ForestGrowth,
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
    table = forest_grow.BinnedSample(
        bins.codes, bins.n_bins, bins.ptr, bins.low, bins.high, is_category
    )
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
        own, kind = (
            range(worker, len(seeds), n_workers),
            forest_grow.kind_of(m, n_classes, random, unbinned),
        )
        row, count = np.empty(m, np.uint32), np.empty(m)
        y, w = np.empty_like(answers), np.empty(m)
        scratch = forest_grow.workspace(m, n_classes, y, kind, len(bins.n_bins))
        # Room for the largest tree, out of which each is copied; unused memory is not allocated.
        room = forest_grow.blank(2 * m - 1, m, len(scratch.sums), m if bins.categories else 0)
        for t in own:
            weight = rows.mass if draws is None else draws.counts(seeds[t], count)
            if balanced:
                weight = balanced_classes(weight, rows.y, n_classes)
            size = forest_draws.take_rows(rows.first, weight, answers, row, y, w)
            part = row[:size], y[:size], w[:size]
            state = ~np.uint64(seeds[t])
            trees[t] = _kept(
                room, *forest_grow.grow(crit, rule, table, *part, state, scratch, room, *kind)
            )
            step()

    run_blocks(work, n_workers, n_jobs)
    return Forest(bins, trees, n_classes, center)


def _kept(room: forest_grow.GrownTree, nodes: int, sums: int, sets: int) -> forest_grow.GrownTree:
    """Return a copy of the tree that was grown in `room`."""
    ends = nodes, nodes, nodes, nodes, sums, sets
    arrays: Any = [a[:end].copy() for a, end in zip(room, ends, strict=True)]
    return forest_grow.GrownTree(*arrays)


Split = Literal["uniform", "midpoint", "balanced"]
SPLITS: dict[str, int] = {
    "uniform": forest_grow.UNIFORM,
    "midpoint": forest_grow.MIDPOINT,
    "balanced": forest_grow.BALANCED,
}


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
        forest_grow.cell_sides(points, self.link, self.cut, np.empty(d), np.empty(d), out)
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
        forest_grow.count_cells(X, y, weight, column, self.link, threshold, self.missing_left, sums)
        mass = sums.sum(axis=1, keepdims=True)
        return np.where(mass > 0.0, sums / np.where(mass > 0.0, mass, 1.0), 1.0 / n_classes)


def pure_tree(split: str, n_columns: int, n_leaves: int, seed: int) -> PureTree:
    """Return a tree of `n_leaves` cells; see `psephos.kernels.binned_trees.forest_grow`."""
    nodes = 2 * n_leaves - 1
    link, cut = np.full((nodes, 2), -1, np.int64), np.full(nodes, np.nan)
    missing_left = np.zeros(nodes, np.bool_)
    scratch = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    forest_grow.grow_pure(
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
