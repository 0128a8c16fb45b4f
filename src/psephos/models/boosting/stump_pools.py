"""Stumps that are functions of two training rows: all there are, or a pool of drawn ones."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.estimator.input import Context
from psephos.kernels.numerics.criteria import opposite_labels
from psephos.kernels.stump.scan import round_weights
from psephos.models.boosting.compression import rule_of
from psephos.models.training import Training
from psephos.trees.stump import Stump, StumpSearch
from psephos.vote import StumpVoters
from psephos.vote.part import sparse

_Floats = NDArray[np.float64]
_Rows = NDArray[np.intp]
_POOL = (1 << 20) + 1  # task id of the seed that draws stumps: beside that of the anchors
_CELLS = 2 * 10**9  # candidates times rows: a byte each
_BLOCK = 64  # candidates weighed at a time


def _message(yes: int, no: int, n_classes: int) -> int:
    """Return the number of a pair of different answers, from 0 to K (K - 1) - 1."""
    return yes * (n_classes - 1) + no - (no > yes)


def _stumps(
    data: Training, columns: list[int], rules: list[Any], missing: list[bool], said: list[Any]
) -> StumpVoters:
    """Return stumps of (threshold, set of codes), a side of missing values and two answers."""
    read, feature = np.unique(columns, return_inverse=True)
    code = data.target.code
    return StumpVoters(
        n_features=data.table.values.shape[1],
        columns=read.astype(np.intp),
        feature=feature.astype(np.intp),
        threshold=np.array([threshold for threshold, _ in rules], dtype=np.float64),
        missing_left=np.array(missing, dtype=bool),
        category_ptr=np.cumsum([0, *(len(s) for _, s in rules)]).astype(np.intp),
        category_left=np.concatenate([np.empty(0, dtype=bool), *(s for _, s in rules)]),
        left=code[[yes for yes, _ in said]],
        right=code[[no for _, no in said]],
    )


class SearchedStumps:
    """All stumps of a column and two rows: the best is searched as SamBA's are.

    A threshold half-way between two neighbouring values is a function of two rows, whichever two
    the weights choose; the side of missing values is a part of the message. Of categories a stump
    asks for one, that of its first row; a missing value is not that one.

    `position` (len(data.y),): of the rows among the m given.
    """

    def __init__(self, data: Training, position: _Rows, m: int) -> None:
        self.data, self.position, self.m = data, position, m
        codes, p = data.table.n_codes, data.table.values.shape[1]
        numbers = np.array([j for j in range(p) if j not in codes], dtype=np.intp)
        asked = [(j, c) for j in sorted(codes) for c in range(codes[j])]
        self.source = [(int(j), -1) for j in numbers] + asked
        table = data.table.values
        if asked:
            ones = np.column_stack([data.table.dense([j])[:, 0] == c for j, c in asked])
            stack: Any = sparse.hstack if sparse.issparse(table) else np.hstack
            own = {"format": "csc"} if sparse.issparse(table) else {}
            table = stack([table[:, numbers], ones.astype(np.float64)], **own)
        self.search = StumpSearch(table, data.y, data.target.n_classes)

    @property
    def n_candidates(self) -> int:
        """Return columns times ordered pairs of rows times messages."""
        k: int = self.data.target.n_classes
        return self.data.table.values.shape[1] * self.m * (self.m - 1) * 2 * k * (k - 1)

    def learn(self, pi: _Floats, task: int) -> tuple[Any, NDArray[Any]] | None:
        """Return the stump of least weighted error, and what it says."""
        stump = self.search.best(pi, "error")
        if stump is None:
            return None
        left, right = opposite_labels(stump.left_totals, stump.right_totals)
        answers = np.where(self.search.left(stump), left, right)
        return (stump, left, right), answers.astype(np.intp)

    def voters(self, found: Sequence[Any]) -> StumpVoters:
        """Return the stumps as voters."""
        source = [self.source[stump.column] for stump, _, _ in found]
        codes = self.data.table.n_codes
        rules: list[Any] = []
        missing: list[bool] = []
        said: list[Any] = []
        for (stump, left, right), (j, c) in zip(found, source, strict=True):
            is_code = c >= 0  # on the left are the rows that are not of this category
            members = np.arange(codes[j]) == c if is_code else np.empty(0, dtype=bool)
            rules.append((np.nan if is_code else stump.threshold, members))
            missing.append(not is_code and stump.missing_left)
            said.append((right, left) if is_code else (left, right))
        return _stumps(self.data, [j for j, _ in source], rules, missing, said)

    def made_of(self, found: Sequence[Any]) -> tuple[_Rows, _Rows]:
        """Return (numbers, positions of the two rows) of the stumps, shapes (T,) and (T, 2)."""
        k: int = self.data.target.n_classes
        numbers: list[int] = []
        rows: list[_Rows] = []
        for stump, left, right in found:
            j, c = self.source[stump.column]
            first, second = self.position[list(self._pair(stump, j, c))].tolist()
            message = 2 * _message(left, right, k) + bool(stump.missing_left)
            pair = first * (self.m - 1) + second - (second > first)
            numbers.append((j * self.m * (self.m - 1) + pair) * 2 * k * (k - 1) + message)
            rows.append(np.array([first, second]))
        return np.array(numbers, dtype=np.intp), np.array(rows, dtype=np.intp).reshape(-1, 2)

    def _pair(self, stump: Stump, j: int, c: int) -> tuple[int, int]:
        """Return the first rows with the values that a stump lies between."""
        values = self.data.table.dense([j])[:, 0]
        if c >= 0:
            return int((values == c).argmax()), int((values != c).argmax())
        if np.isposinf(stump.threshold):
            return int(np.isnan(values).argmax()), int((~np.isnan(values)).argmax())
        low = np.where(values <= stump.threshold, values, -np.inf)
        high = np.where(values > stump.threshold, values, np.inf)
        return int(low.argmax()), int(high.argmin())


class DrawnStumps:
    """A pool of stumps drawn before the data are seen: a column and two rows each.

    A missing value meets no rule but that of categories whose first row lacks the value, "x is
    missing". The best of the pool is that of least weighted error; its two sides answer
    differently. Ties go to the lowest number.
    """

    def __init__(self, data: Training, n_drawn: int, context: Context) -> None:
        m, p = data.table.values.shape
        if n_drawn * m > _CELLS:
            raise PsephosError(
                f"n_candidates={n_drawn} on {m} rows would take {n_drawn * m / 1e9:.0f} GB of "
                "memory: draw fewer."
            )
        self.data, self.table, self.target = data, data.table, data.target
        self.columns, self.rows = _drawn(n_drawn, m, p, context)
        self.one_hot = np.eye(data.target.n_classes)[data.y]
        self.rules = self._rules()
        self.holds = np.stack([self._held(n) for n in range(n_drawn)])

    @property
    def n_candidates(self) -> int:
        """Return stumps drawn times messages."""
        k: int = self.target.n_classes
        return len(self.columns) * k * (k - 1)

    def _rules(self) -> list[tuple[float, NDArray[np.bool_]]]:
        table, codes = self.table, self.table.n_codes
        each = zip(self.columns.tolist(), self.rows.tolist(), strict=True)
        rules: list[tuple[float, NDArray[np.bool_]]] = []
        for j, rows in each:
            first, second = table.take(np.array(rows)).dense([j])[:, 0].tolist()
            rules.append(rule_of(first, second, codes.get(j, 0)))
        return rules

    def _held(self, n: int) -> NDArray[np.bool_]:
        values = self.table.dense([int(self.columns[n])])[:, 0]
        threshold, codes = self.rules[n]
        if not len(codes):
            return values <= threshold
        if not codes.any():
            return np.isnan(values)
        return values == codes.argmax()

    def learn(self, pi: _Floats, task: int) -> tuple[Any, NDArray[Any]]:
        """Return the best stump of the pool, as (number drawn, class if it holds, else), and said.

        Sums of rounded weights are exact, in whatever order they are made.
        """
        weighed = self.one_hot * round_weights(pi)[:, None]
        blocks = np.split(self.holds, np.arange(_BLOCK, len(self.holds), _BLOCK))
        left = np.concatenate([block.astype(np.float64) @ weighed for block in blocks])
        worth = left[:, :, None] + (weighed.sum(axis=0) - left)[:, None, :]
        k = self.target.n_classes
        worth[:, np.arange(k), np.arange(k)] = -np.inf
        n, yes, no = map(int, np.unravel_index(int(worth.argmax()), worth.shape))
        return (n, yes, no), np.where(self.holds[n], yes, no)

    def voters(self, found: Sequence[Any]) -> StumpVoters:
        """Return the stumps as voters."""
        drawn = [n for n, _, _ in found]
        rules = [self.rules[n] for n in drawn]
        missing = [len(s) > 0 and not s.any() for _, s in rules]
        said = [(yes, no) for _, yes, no in found]
        return _stumps(self.data, self.columns[drawn].tolist(), rules, missing, said)

    def made_of(self, found: Sequence[Any]) -> tuple[_Rows, _Rows]:
        """Return (numbers, positions of the two rows) of the stumps, shapes (T,) and (T, 2)."""
        k: int = self.target.n_classes
        numbers = [n * k * (k - 1) + _message(yes, no, k) for n, yes, no in found]
        return np.array(numbers, dtype=np.intp), self.rows[[n for n, _, _ in found]].reshape(-1, 2)


def _drawn(n_drawn: int, m: int, p: int, context: Context) -> tuple[_Rows, _Rows]:
    """Return (columns, pairs of different rows) of the pool; they depend on m and p alone."""
    rng = context.generator(_POOL)
    columns = rng.integers(p, size=n_drawn)
    first, step = rng.integers(m, size=n_drawn), rng.integers(1, m, size=n_drawn)
    return columns.astype(np.intp), np.column_stack([first, (first + step) % m]).astype(np.intp)
