"""Voters that are rules: stumps and constants."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos.files.field_types import Thresholds
from psephos.kernels.prediction.stump_votes import left_sides
from psephos.kernels.prediction.vote_sums import sum_sides
from psephos.runtime.jit import frozen
from psephos.vote.codec import register
from psephos.vote.marks import Marks
from psephos.vote.part import (
    Columns,
    ReadsColumns,
    ReadsNothing,
    Voters,
    check,
    check_part,
    check_ptr,
    check_within,
    usage_at,
)
from psephos.vote.reasons import Always, Path, Reason, Test

_Floats = NDArray[np.float64]


@register
@dataclass(frozen=True)
class ConstantVoters(ReadsNothing, Voters):
    """Voters that always say the same thing: a class prior, a base score.

    Parameters
    ----------
    n_features : int
        Columns of the table; none is read.
    values : ndarray of shape (T, K)
        The vote of each.
    name : str
        What they are, in words.
    """

    tag: ClassVar[str] = "constant voters"
    n_features: int
    values: _Floats
    name: str

    def __post_init__(self) -> None:
        check_part(self)
        check(self.values.ndim == 2, "constant voters need a (T, K) table of votes")

    @property
    def n_voters(self) -> int:
        return len(self.values)

    def votes(self, X: _Floats) -> _Floats:
        return np.broadcast_to(self.values, (len(X), *self.values.shape))

    def take(self, voters: NDArray[np.intp]) -> Self:
        return replace(self, values=self.values[voters])

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        return self.name

    def reasons(self, X: _Floats) -> list[list[Reason]]:
        return [[Always(tuple(v), self.name) for v in self.values.tolist()] for _ in X]

    def sides(self, voter: int) -> list[tuple[str, _Floats]]:
        return [("always", self.values[voter])]


def prior_name(regression: bool) -> str:
    """Return what a voter is that answers with the distribution of the training rows alone."""
    return "the mean of the target" if regression else "the class frequencies, by weight"


def prior_voter(y: NDArray[Any], weight: _Floats, target: Any, n_features: int) -> ConstantVoters:
    """Return the voter of the weighted class frequencies, or of the weighted mean."""
    regression = target.kind == "regression"
    if regression:
        said = np.array([[np.average(y, weights=weight)]])
    else:
        said = (np.bincount(y, weight, target.n_classes) / weight.sum())[None] @ target.code
    return ConstantVoters(n_features, said, prior_name(regression))


@register
@dataclass(frozen=True)
class StumpVoters(ReadsColumns, Voters):
    """Decision stumps: a rule on one column, one answer where it holds and one elsewhere.

    A numeric rule holds where ``value <= threshold``; a rule on categories where the code is in
    its set. `missing_left` says whether it also holds where the value is missing; a code outside
    the set of codes counts as missing.

    Parameters
    ----------
    n_features : int
        Columns of the table.
    columns : ndarray of shape (q,)
        Sorted columns that are read.
    feature : ndarray of shape (T,)
        Position in `columns` of the column each stump reads.
    threshold : ndarray of shape (T,)
        Thresholds; NaN for a rule on categories.
    missing_left : ndarray of shape (T,), bool
    category_ptr : ndarray of shape (T + 1,)
        Stump t's set is ``category_left[category_ptr[t]:category_ptr[t + 1]]``; empty for a
        numeric rule.
    category_left : ndarray, bool
        Whether each code is in the set.
    left, right : ndarray of shape (T, K)
        The votes where the rule holds, and elsewhere.
    """

    tag: ClassVar[str] = "stump voters"
    n_features: int
    columns: Columns
    feature: NDArray[np.intp]
    threshold: Thresholds
    missing_left: NDArray[np.bool_]
    category_ptr: NDArray[np.intp]
    category_left: NDArray[np.bool_]
    left: _Floats
    right: _Floats

    def __post_init__(self) -> None:
        check_part(self)
        t = len(self.feature)
        ranks = (self.feature, self.threshold, self.missing_left)
        check(all(a.shape == (t,) for a in ranks), "stumps differ in number")
        check_within(self.feature, len(self.columns), "a stump reads a column outside its list")
        check(self.left.ndim == 2 and self.left.shape == self.right.shape, "votes differ in shape")
        check(len(self.left) == t, "stumps and votes differ in number")
        check(self.category_left.ndim == 1, "sets of categories are not a row")
        check_ptr(self.category_ptr, t, len(self.category_left), "categories")

    @property
    def n_voters(self) -> int:
        return len(self.feature)

    def holds(self, X: _Floats) -> NDArray[np.bool_]:
        """Return the (n, T) truth of every rule on every row of X, shape (n, p)."""
        read = X if len(self.columns) == X.shape[1] else X[:, self.columns]
        return left_sides(
            np.ascontiguousarray(read, dtype=np.float64),
            self.feature,
            self.threshold,
            self.missing_left,
            self.category_ptr,
            self.category_left,
        )

    def votes(self, X: _Floats) -> _Floats:
        return np.where(self.holds(X)[:, :, None], self.left, self.right)

    def weighted_sum(self, weights: _Floats, X: _Floats) -> _Floats:
        """Return the (n, K) weighted sums of votes, without the votes."""
        out = np.zeros((len(X), self.left.shape[1]))
        sum_sides(self.holds(X), frozen(weights), frozen(self.left), frozen(self.right), out)
        return out

    def usage(self) -> Any:
        return usage_at(self, np.arange(self.n_voters), self.feature)

    def marks(self) -> Marks:
        return self.columns[self.feature], self.threshold

    def take(self, voters: NDArray[np.intp]) -> Self:
        kept, feature = np.unique(self.feature[voters], return_inverse=True)
        sets = [self._set(int(t)) for t in voters]
        return replace(
            self,
            columns=self.columns[kept],
            feature=feature.astype(np.intp),
            threshold=self.threshold[voters],
            missing_left=self.missing_left[voters],
            category_ptr=np.concatenate([[0], np.cumsum([len(s) for s in sets])]).astype(np.intp),
            category_left=np.concatenate([np.empty(0, dtype=bool), *sets]),
            left=self.left[voters],
            right=self.right[voters],
        )

    def _set(self, voter: int) -> NDArray[np.bool_]:
        return self.category_left[self.category_ptr[voter] : self.category_ptr[voter + 1]]

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return the rule in words, such as ``V3 <= 1.25 or missing``."""
        column = int(self.columns[self.feature[voter]])
        missing = " or missing" if self.missing_left[voter] else ""
        members = self._set(voter)
        if len(members):
            words = levels.get(column) or [str(code) for code in range(len(members))]
            chosen = ", ".join(words[code] for code in np.flatnonzero(members) if code < len(words))
            return f"{names[column]} in {{{chosen}}}{missing}"
        threshold = self.threshold[voter]
        if np.isposinf(threshold):
            return f"{names[column]} is present" if not missing else "always"
        return f"{names[column]} <= {threshold:.6g}{missing}"

    def reasons(self, X: _Floats) -> list[list[Reason]]:
        """Return, for each row, the side of each stump it is on."""
        holds = self.holds(X).tolist()
        values = X[:, self.columns[self.feature]].tolist()
        left, right = ([tuple(v) for v in side.tolist()] for side in (self.left, self.right))
        return [
            [
                Path(left[t] if met else right[t], (self._test(t, value, met),))
                for t, (met, value) in enumerate(zip(row, cells, strict=True))
            ]
            for row, cells in zip(holds, values, strict=True)
        ]

    def _test(self, voter: int, value: float, met: bool) -> Test:
        """Return what a value meets, on the side where the rule holds or on the other."""
        column = int(self.columns[self.feature[voter]])
        members = self._set(voter)
        if np.isnan(value):
            return Test(column, "missing", None, value)
        if len(members) and not 0 <= value < len(members):  # new to the stump: as if missing
            return Test(column, "not in", tuple(range(len(members))), value)
        if len(members):
            side = np.flatnonzero(members)
            return Test(column, "in" if met else "not in", tuple(side.tolist()), value)
        threshold = float(self.threshold[voter])
        if np.isposinf(threshold):
            return Test(column, "present", None, value)
        return Test(column, "<=" if met else ">", threshold, value)

    def sides(self, voter: int) -> list[tuple[str, _Floats]]:
        """Return the answers where the rule holds and elsewhere, and which is of missing values."""
        left = bool(self.missing_left[voter]) or float(self.threshold[voter]) == np.inf
        other = "otherwise" if left else "otherwise, also if missing"
        return [("if so", self.left[voter]), (other, self.right[voter])]
