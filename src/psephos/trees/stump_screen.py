"""Which columns of a sorted table may hold the best split of two classes."""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.stump.bins import (
    BINS,
    GROUP,
    PLANES,
    WIDTH,
    Rows,
    arrange,
    bin_ends,
    code_columns,
    weigh_groups,
)
from psephos.kernels.stump.bounds import bound_error, bound_gini, has_bounds, reaches
from psephos.kernels.stump.layout import LANES
from psephos.kernels.stump.screen import quantise, screen_error, screen_gini
from psephos.runtime.jit import effective_jobs, is_compiled, run_blocks
from psephos.trees.stump_orders import Ordered

BLOCK = 512  # columns searched by one thread at a time: fixed, so that results are too
_SERIAL = 10**6  # table entries below which one thread is quicker than two
_BOUNDED = 2**19  # entries from which bounds are worth their own overhead
_WORTH = 2**29  # entries a process has searched before it compiles bounds: a second's work
_BOUNDED_ROWS = 2**12  # rows beyond which the units of their sums, 16 bits, are too coarse
_VALUES = 64  # thresholds from which a column is bounded well: bounds know nothing of ties
_SAMPLE = 32  # columns that are looked at to decide
_BOUNDED_SHARE = 0.8  # of columns that have a bound
_LEADERS = 4  # blocks screened at once: the greatest of their values is the one to come near
_MANY = 0.7  # share of all blocks screened from which bounds do not pay
_SHORTEST_WAIT = 2
_LONGEST_WAIT = 64  # searches between two trials of bounds that exclude nothing


def jobs(n_jobs: int | None, entries: int) -> int | None:
    """Threads for one search: starting them costs more than a small search takes."""
    return n_jobs if entries > _SERIAL else 1


class _Bins(NamedTuple):
    """The columns in a few bins (``kernels.stump.bins``)."""

    codes: NDArray[np.uint64]
    rows: Rows
    ends: NDArray[np.int64]


class _Search(NamedTuple):
    """One search: what is the same for all columns, by criterion."""

    by_error: bool
    signed: NDArray[np.int32]
    total_d: int
    total_w: int
    values: NDArray[np.float64]
    counted: NDArray[np.float64]  # 0 where a column's screen value counts, else -inf
    extra: NDArray[np.float64]  # added to bounds: inf where a column has none, -inf if uncounted
    limits: tuple[float, float, float]
    missing: NDArray[np.int64]  # positions of columns whose screen value does not count
    narrower: float  # by how much the outermost bins are: a few rows there change Gini's value much


def _kernel(search: _Search) -> Any:
    return bound_error if search.by_error else bound_gini


def _greatest(search: _Search, blocks: NDArray[np.int64]) -> tuple[float, float]:
    """Greatest screen value that counts, and the least that comes near it."""
    relative, absolute, _ = search.limits
    counted = search.counted.reshape(-1, LANES)
    best = float((search.values[blocks] + counted[blocks]).max())
    return best, best - absolute - relative * best


class Screen:
    """Search without float64, for those columns that are then searched in float64.

    The greatest value of every column is found in whole numbers; where the table is large and the
    processor allows it (``kernels.stump.bounds``), only of the columns whose upper bound comes near
    the best. The columns that remain are the same either way.

    `labels` (n + 1,) int64 class codes, the last being the padding row's.
    """

    _searched: ClassVar[int] = 0  # entries that were searched for want of compiled bounds

    def __init__(self, ordered: Ordered, labels: NDArray[np.int64], n_jobs: int | None):
        self._ordered, self._labels, self._n_jobs = ordered, labels, n_jobs
        p, n = len(ordered.columns), ordered.n
        self._complete = ordered.n_present == n
        self._missing = np.flatnonzero(~self._complete)
        self._n_blocks, self._n_wide = len(ordered.order), -(-p // WIDTH)
        lanes = self._n_wide * WIDTH
        self._used, self._counted = np.full(lanes, -np.inf), np.full(lanes, -np.inf)
        self._used[:p] = 0.0
        self._counted[:p][self._complete] = 0.0
        self._bounded = np.where(self._used == self._counted, self._used, np.inf)
        self._bounds = has_bounds and p * n >= _BOUNDED and n <= _BOUNDED_ROWS
        self._bounds = self._bounds and self._bounds_fit()
        self._bins: dict[float, _Bins] = {}
        # Bins are made for the second search: they take as long as three exact screens.
        self._wait, self._pause = 1, _SHORTEST_WAIT
        self._compiled: dict[str, bool] = {}

    def promising(self, crit: Any, weights: NDArray[np.float64]) -> NDArray[np.int64]:
        """Positions of the columns that may hold the best split.

        ``weights`` (n + 1,), the last being the padding row's.
        """
        p = len(self._ordered.columns)
        signed, totals = np.empty(len(weights), np.int32), np.empty(3)
        if not p or not quantise(weights, self._labels, signed, totals):
            return np.arange(p)
        values = np.empty((self._n_wide * WIDTH // LANES, LANES))
        search = self._search(crit, signed, totals, values)
        blocks = np.arange(self._n_blocks)
        if self._bounds_tell(_kernel(search)):
            blocks = self._by_bounds(search)
        else:
            self._exact(search, blocks)
        best, least = _greatest(search, blocks)
        if best <= search.limits[2]:  # the screen proves nothing
            return np.arange(p)
        near = values[blocks] + search.counted.reshape(-1, LANES)[blocks] >= least
        at = (blocks[:, None] * LANES + np.arange(LANES))[near]
        return np.union1d(at, search.missing) if len(search.missing) else at

    def _search(self, crit: Any, signed: Any, totals: Any, values: Any) -> _Search:
        total_d, total_w, error = int(totals[0]), int(totals[1]), float(totals[2])
        if crit.by_error:
            # A column with missing rows may show |D|, "all on one side", which is no split.
            floor = float(abs(total_d)) if self._ordered.any_missing else -2.0
            limits = 0.0, 2 * error + 2, floor
            return _Search(
                True, signed, total_d, total_w, values, self._used, self._bounded, limits,
                self._missing[:0], 0.0,
            )  # fmt: skip
        # Ten float32 roundings, and what rounded weights can do to d^2 / w on two sides; both
        # twice, since two columns are compared.
        limits = 24 * 2.0**-24, 12 * error + 16, -2.0
        return _Search(
            False, signed, total_d, total_w, values, self._counted, self._counted, limits,
            self._missing, 0.4,
        )  # fmt: skip

    def _exact(self, search: _Search, blocks: NDArray[np.int64]) -> None:
        """Screen values of these blocks of columns."""
        o = self._ordered
        given: Any = search.signed, search.total_d
        if not search.by_error:
            given = *given, search.total_w
        screen = screen_error if search.by_error else screen_gini

        def part(b: int) -> None:
            screen(o.order, blocks[b * BLOCK : (b + 1) * BLOCK], *given, search.values)

        threads = jobs(self._n_jobs, len(blocks) * LANES * o.n)
        run_blocks(part, -(-len(blocks) // BLOCK), threads)

    def _bound(self, search: _Search, bins: _Bins) -> None:
        """Upper bounds in place of the screen values of all columns."""
        rows = bins.rows
        tables, visits, n_visited, scales = weigh_groups(search.signed, rows)
        if search.by_error:
            given: Any = scales.units, scales.whole_a, scales.whole_b, scales.slack, search.total_d
        else:
            total = search.total_w
            weights = (total - search.total_d) / 2.0, (total + search.total_d) / 2.0
            in_units = (np.float32(scales.units * weight) for weight in weights)
            given = scales.units, *in_units, reaches(bins.ends, rows, scales, weights)
        kernel, scratch = _kernel(search), ((2, np.int16) if search.by_error else (5, np.float32))
        threads = jobs(self._n_jobs, self._entries() // 4)  # it takes a quarter of the time
        per = -(-self._n_wide // (1 if threads == 1 else 4 * effective_jobs(threads)))

        def part(b: int) -> None:
            kernel(
                bins.codes, rows.n_groups, b * per, min(self._n_wide, (b + 1) * per),
                tables, visits, n_visited, *given, search.extra,
                np.empty((2, BINS - 1, WIDTH), np.int16), np.empty((scratch[0], WIDTH), scratch[1]),
                search.values.reshape(-1),
            )  # fmt: skip

        run_blocks(part, -(-self._n_wide // per), threads)

    def _bounds_fit(self) -> bool:
        """Whether nearly all columns are complete and take many values, as a sample of them says.

        The others have no bound, and where a third of them are searched in full anyway a round
        took a fifth longer than without bounds.
        """
        o, complete = self._ordered, np.flatnonzero(self._complete)
        sample = complete[:: max(1, len(complete) // _SAMPLE)]
        few = min(_VALUES, o.n - 1)
        many = [np.count_nonzero(o.entries(int(at)) >= o.flag) >= few for at in sample]
        fit = len(complete) * sum(many) / max(1, len(many))
        return bool(fit > _BOUNDED_SHARE * len(o.columns))

    def _entries(self) -> int:
        return len(self._ordered.columns) * self._ordered.n

    def _bounds_tell(self, kernel: Any) -> bool:
        """Whether this search is to use bounds, compiled already or worth it."""
        if not self._bounds:
            return False
        if self._wait > 0:
            self._wait -= 1
            return False
        name = str(kernel.__name__)
        if name not in self._compiled:
            self._compiled[name] = is_compiled(kernel)
        if not self._compiled[name] and Screen._searched < _WORTH:
            Screen._searched += self._entries()
            return False
        return True

    def _binned(self, narrower: float) -> _Bins:
        if narrower in self._bins:
            return self._bins[narrower]
        o = self._ordered
        rows = arrange(self._labels[: o.n])
        ends = bin_ends(o.n, narrower)
        codes = np.empty(self._n_wide * PLANES * rows.n_groups * (WIDTH // LANES), np.uint64)

        def part(b: int) -> None:
            words = np.zeros(rows.n_groups * GROUP + 1, np.uint64)
            code_columns(
                o.order, o.flag - 1, b * BLOCK, min(self._n_blocks, (b + 1) * BLOCK), rows.place,
                rows.n_groups, ends, words.view(np.uint8), words, codes,
            )  # fmt: skip

        run_blocks(part, -(-self._n_blocks // BLOCK), jobs(self._n_jobs, self._entries()))
        self._bins[narrower] = _Bins(codes, rows, ends)
        return self._bins[narrower]

    def _by_bounds(self, search: _Search) -> NDArray[np.int64]:
        """Blocks whose bounds come near the best; theirs become screen values."""
        bins, values = self._binned(search.narrower), search.values
        self._bound(search, bins)
        first = self._leaders(values.reshape(-1, WIDTH))
        self._exact(search, first)
        # A block's eight answers are read as one word.
        near = (values[: self._n_blocks] >= _greatest(search, first)[1]).view(np.uint64)
        left = np.flatnonzero(near)
        self._exact(search, left)
        self._learn(len(left) / self._n_blocks)
        return left

    def _leaders(self, bounds: NDArray[np.float64]) -> NDArray[np.int64]:
        """Blocks of eight with the greatest finite bounds, at most one of each 64 columns."""
        if len(self._missing):
            bounds = np.where(bounds < np.inf, bounds, -np.inf)
        few = min(_LEADERS, len(bounds))
        wide = bounds.max(axis=1).argpartition(-few)[-few:]
        return (wide * WIDTH + bounds[wide].argmax(axis=1)) // LANES

    def _learn(self, share: float) -> None:
        """Where bounds excluded little, pause before the next trial."""
        if share > _MANY:
            self._wait = self._pause = min(2 * self._pause, _LONGEST_WAIT)
        else:
            self._pause = _SHORTEST_WAIT
