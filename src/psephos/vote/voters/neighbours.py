"""Training cases as voters, of which the k nearest have a weight: k nearest neighbours."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import scipy.spatial
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos._stored import AnySize, Nullable
from psephos.kernels.prediction.nearest import nearest_cases
from psephos.kernels.prediction.similarity import Metric, distances
from psephos.vote.codec import register
from psephos.vote.names import Names
from psephos.vote.part import (
    Columns,
    ReadsColumns,
    check,
    check_columns,
    check_present,
    named_of,
    usage_table,
)
from psephos.vote.reasons import CaseLike, Reason
from psephos.vote.weights.local import Nearest, moved_by_distance

__all__ = ["METRICS", "CaseVoters", "Neighbours"]

_Floats = NDArray[np.float64]
_spatial: Any = scipy.spatial  # its types say less than they promise
_CELLS = 1 << 22  # distances held at once
#: Metrics between rows of numbers, by the names of scikit-learn and SciPy.
METRICS = (
    "euclidean", "manhattan", "chebyshev", "cosine", "correlation", "braycurtis", "canberra",
    "hamming", "jaccard",
)  # fmt: skip
_FAR, _FARTHER = 1e100, 1e10  # numbers of a row, and how often the greatest of the cases
_NAMED = 6  # a rule names no more columns than this


@register
@dataclass(frozen=True)
class CaseVoters(ReadsColumns):
    """Training cases as voters: each votes for its own class, labels or numbers.

    Parameters
    ----------
    n_features : int
        Columns of the table.
    columns : ndarray of shape (q,)
        Sorted columns in which the cases are described.
    cases : ndarray of shape (T, q)
        Their values, NaN where missing.
    values : ndarray of shape (T, K)
        The vote of each.
    rows : ndarray of shape (T,)
        Identifiers: positions in the training table, or its own row names.
    """

    tag: ClassVar[str] = "training cases"
    n_features: int
    columns: Columns
    cases: Nullable
    values: _Floats
    rows: NDArray[Any]

    def __post_init__(self) -> None:
        check_columns(self.columns, self.n_features)
        t = len(self.rows)
        check(self.cases.shape == (t, len(self.columns)), "cases have another shape")
        check(self.values.ndim == 2 and len(self.values) == t, "cases and votes differ in number")
        kinds = (self.cases.dtype, self.values.dtype)
        check(all(kind == np.float64 for kind in kinds), "numbers are not float64")

    @property
    def n_voters(self) -> int:
        """Return T."""
        return len(self.rows)

    def votes(self, X: _Floats) -> _Floats:
        """Return the (n, T, K) votes."""
        return np.broadcast_to(self.values, (len(X), *self.values.shape))

    def usage(self) -> Any:
        """Return the (T, p) table: a case is described in all columns."""
        return _all_columns(self.n_voters, self.columns, self.n_features)

    def named_rows(self, names: NDArray[Any]) -> Self:
        """Return the same voters with names for the training cases."""
        return replace(self, rows=named_of(self.rows, names))

    def take(self, voters: NDArray[np.intp]) -> Self:
        """Return these voters only."""
        taken = (self.cases[voters], self.values[voters], self.rows[voters])
        return replace(self, cases=taken[0], values=taken[1], rows=taken[2])

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return ``near row 17: dose = 0.5, site = lung and 3 more columns``."""
        row = self.rows.tolist()[voter]
        place = f"near {row}" if isinstance(row, str) else f"near row {row}"
        words = Names(names, levels)
        cells = list(zip(self.columns.tolist(), self.cases[voter].tolist(), strict=True))
        values = [f"{names[j]} = {words.value(j, value)}" for j, value in cells[:_NAMED]]
        more = len(cells) - len(values)
        rest = "" if more < 1 else f" and {more} more column{'s' if more > 1 else ''}"
        return f"{place}: {', '.join(values)}{rest}"

    def reasons(self, X: _Floats) -> list[list[Reason]]:
        """Return, for each row, the training case beside it."""
        columns, rows = tuple(self.columns.tolist()), self.rows.tolist()
        votes = [tuple(v) for v in self.values.tolist()]
        theirs = [tuple(v) for v in self.cases.tolist()]
        read = [tuple(x) for x in X[:, self.columns].tolist()]
        known = list(zip(votes, rows, theirs, strict=True))
        return [[CaseLike(v, row, columns, x, case) for v, row, case in known] for x in read]

    def sides(self, voter: int) -> list[tuple[str, _Floats]]:
        """Return the one answer."""
        return [("always", self.values[voter])]


@register
@dataclass(frozen=True)
class Neighbours(ReadsColumns):
    """w_t(x) = 1 if training case t is among the k nearest of x, else 0.

    Distances are Euclidean over the columns both rows have, sqrt(q / |P| * sum of squared
    differences over P), each number divided by its column's scale, a category differing by 0 or 1;
    rows with no column in common are at distance `absent`. Of equally near cases the first in the
    table are taken. Of another metric rows lack no value, and no column is a category.

    Parameters
    ----------
    n_features : int
        Columns of the table.
    columns : ndarray of shape (q,)
        Sorted columns the distance reads.
    cases : ndarray of shape (m, q)
        All training cases, NaN where missing.
    voter : ndarray of shape (T,)
        Which case each voter is.
    k : int
    by_distance : bool
        Whether a neighbour is weighed by 1 / distance; one at distance 0 silences the others.
    column_scale : ndarray of shape (q,)
    is_category : ndarray of shape (q,), bool
    absent : float
    metric : str, default='euclidean'
        One of `METRICS`, as scikit-learn and SciPy name them.
    mass : ndarray of shape (m,), default=empty
        How many cases each counts for; all for one, if empty. The k nearest are then cases whose
        mass is k together, the last in part.
    """

    tag: ClassVar[str] = "neighbours"
    n_features: int
    columns: Columns
    cases: Nullable
    voter: NDArray[np.intp]
    k: int
    by_distance: bool
    column_scale: AnySize
    is_category: NDArray[np.bool_]
    absent: float
    metric: str = "euclidean"
    mass: _Floats = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        check_columns(self.columns, self.n_features)
        check(self.metric in METRICS, f"unknown metric {self.metric!r}")
        m, q = len(self.cases), len(self.columns)
        check(self.cases.shape == (m, q) and self.cases.dtype == np.float64, "cases are no table")
        check(not np.isinf(self.cases).any(), "a case is infinite")
        check(self.voter.ndim == 1 and self.voter.dtype == np.intp, "voters are not integers")
        inside = len(self.voter) > 0 and self.voter.min() >= 0 and self.voter.max() < m
        check(bool(inside), "a voter is no case")
        check(self.mass.shape in ((0,), (m,)), "cases and their mass differ in number")
        check(bool((self.mass > 0).all()), "the mass of a case is not positive")
        known = self.mass.sum() if len(self.mass) else m
        check(1 <= self.k <= known, "there are fewer cases than neighbours")
        shapes = self.column_scale.shape == self.is_category.shape == (q,)
        check(shapes and self.is_category.dtype == np.bool_, "scales and columns differ in number")
        check(
            bool(((self.column_scale > 0) & (self.column_scale < np.inf)).all()),
            "a column scale is not positive",
        )
        check(0 <= self.absent < np.inf, "a distance is not finite")

    @property
    def n_voters(self) -> int:
        """Return T."""
        return len(self.voter)

    def found(
        self, X: _Floats, k: int | None = None, own: Any = None, n_jobs: int | None = None
    ) -> tuple[NDArray[np.intp], _Floats]:
        """Return the k nearest cases of each row of X, (n, p), and their distances, nearest first.

        `own` (n,) are cases that are left out, a row's own.

        Raises
        ------
        PsephosError
            If a distance is beyond the range of numbers, so that none is the nearest.
        """
        read = np.ascontiguousarray(X[:, self.columns], dtype=np.float64)
        size = np.abs(np.nan_to_num(read) / self.column_scale).max(axis=1, initial=0.0)
        self._refuse_far(read, size > self._farthest)
        order, apart = self._found(read, self.k if k is None else k, own, n_jobs)
        self._refuse_far(read, np.asarray(~np.isfinite(apart).all(axis=1)))
        return order, apart

    @cached_property
    def _farthest(self) -> float:
        """Return what no number of a row is above: beside it those of others would be lost."""
        size = np.abs(np.nan_to_num(self.cases) / self.column_scale).max(initial=0.0)
        return max(_FAR, float(size) * _FARTHER)

    @staticmethod
    def _refuse_far(read: _Floats, far: NDArray[np.bool_]) -> None:
        if far.any():
            values = np.nan_to_num(read[far.argmax()])
            raise PsephosError(
                "a row is so far from the training cases that distances cannot be computed (it "
                f"holds {values[np.abs(values).argmax()]:.3g}): check the units of its columns."
            )

    def _found(
        self, read: _Floats, k: int, own: Any, n_jobs: int | None
    ) -> tuple[NDArray[np.intp], _Floats]:
        if self.metric != "euclidean" or self._special:
            return self._sorted(read, k, own, n_jobs)
        ragged = np.isnan(read).any(axis=1)
        if not ragged.any():
            return self._screened(read, k, own, n_jobs)
        order, apart = np.empty((len(read), k), dtype=np.intp), np.empty((len(read), k))
        for rows, ask in ((ragged, self._sorted), (~ragged, self._screened)):
            part = None if own is None else np.asarray(own)[rows]
            order[rows], apart[rows] = ask(read[rows], k, part, n_jobs)
        return order, apart

    @cached_property
    def _special(self) -> bool:
        """Return whether a case lacks a value, or a column is a category."""
        return bool(self.is_category.any() or np.isnan(self.cases).any())

    def _screened(
        self, read: _Floats, k: int, own: Any, n_jobs: int | None
    ) -> tuple[NDArray[np.intp], _Floats]:
        scale = self.column_scale
        return nearest_cases(read / scale, self.cases / scale, k, own, n_jobs)

    def _sorted(
        self, read: _Floats, k: int, own: Any, n_jobs: int | None
    ) -> tuple[NDArray[np.intp], _Floats]:
        """Return the nearest cases by sorting all distances, some rows at a time."""
        order, apart = np.empty((len(read), k), dtype=np.intp), np.empty((len(read), k))
        step = max(1, _CELLS // len(self.cases))
        for start in range(0, len(read), step):
            rows = slice(start, start + step)
            far = self._distances(read[rows], n_jobs)
            if own is not None:
                there = np.flatnonzero(own[rows] >= 0)
                far[there, own[rows][there]] = np.inf
            order[rows] = np.argsort(far, axis=1, kind="stable")[:, :k]
            apart[rows] = np.take_along_axis(far, order[rows], axis=1)
        return order, apart

    def _distances(self, read: _Floats, n_jobs: int | None) -> _Floats:
        if self.metric == "euclidean":
            metric = Metric(self.column_scale, self.is_category, self.absent)
            return distances(read, self.cases, metric, n_jobs)
        check_present(read, f"distances by the metric {self.metric!r}")
        scale, name = self.column_scale, {"manhattan": "cityblock"}.get(self.metric, self.metric)
        return _spatial.distance.cdist(read / scale, self.cases / scale, name)

    def counted(
        self, X: _Floats, own: Any = None, n_jobs: int | None = None
    ) -> tuple[NDArray[np.intp], _Floats, _Floats]:
        """Return the nearest cases of each row, their distances, and how far each counts.

        A case of `own` counts for one less than its mass.
        """
        if not len(self.mass):
            order, apart = self.found(X, own=own, n_jobs=n_jobs)
            return order, apart, np.ones_like(apart)
        width, most = self.k, len(self.cases)
        while True:
            order, apart = self.found(X, min(width, most), n_jobs=n_jobs)
            mass = self.mass[order]
            if own is not None:
                mass = np.maximum(mass - (order == np.asarray(own)[:, None]), 0.0)
            before = np.cumsum(mass, axis=1) - mass
            counts = np.clip(self.k - before, 0.0, mass)
            if width >= most or (counts.sum(axis=1) >= self.k * (1 - 1e-12)).all():
                return order, apart, counts
            width *= 2

    def _raw(self, X: _Floats) -> tuple[NDArray[np.intp], _Floats, _Floats]:
        """Return the nearest cases of each row, their distances and raw weights."""
        order, apart, counts = self.counted(X)
        if not self.by_distance:
            return order, apart, counts
        same = apart == 0
        weight = np.where(same.any(axis=1, keepdims=True), same, 1.0 / np.where(same, 1.0, apart))
        return order, apart, weight * counts

    def weights(self, X: _Floats) -> _Floats:
        """Return the raw (n, T) weights."""
        order, _, raw = self._raw(X)
        out = np.zeros((len(X), len(self.cases)))
        np.put_along_axis(out, order, raw, axis=1)
        return out[:, self.voter]

    def sums_with(self, voters: Any) -> Any:
        """Return the function of rows to (sums, mass) with these voters; None if they are others.

        It looks at the k nearest alone.
        """
        every = np.arange(len(self.cases))
        same = isinstance(voters, CaseVoters) and np.array_equal(self.voter, every)
        if not same or voters.n_voters != len(every):
            return None

        def sums(X: _Floats) -> tuple[_Floats, _Floats]:
            order, _, raw = self._raw(X)
            total = np.zeros((len(X), voters.values.shape[1]))
            for i in range(order.shape[1]):
                total += raw[:, i, None] * voters.values[order[:, i]]
            return total, raw.sum(axis=1)

        return sums

    def heard(self, X: _Floats) -> NDArray[np.intp]:
        """Return the voters that are a neighbour of any row of X, in their order."""
        order, _, raw = self._raw(X)
        return np.flatnonzero(np.isin(self.voter, order[raw > 0]))

    def loudness(self) -> _Floats:
        """Return each voter's share of the weight over the training cases."""
        read = np.zeros((len(self.cases), self.n_features))
        read[:, self.columns] = self.cases
        total = self.weights(read).sum(axis=0)
        return total / total.sum() if total.any() else np.full(self.n_voters, 1 / self.n_voters)

    def moved(self, X: _Floats, size: _Floats, centre: _Floats) -> _Floats:
        """Return (n, p): sizes (n, T) divided by each column's part of the distance from the means.

        It is the squared distance, whatever the metric: a column that is constant moves nothing.
        """
        away = X[:, self.columns] - centre[self.columns]
        out = np.zeros((len(X), self.n_features))
        parts = moved_by_distance(away, size, self.column_scale, self.is_category)
        out[:, self.columns] = parts
        return out

    def words(self) -> str:
        """Return what the weights are."""
        return f"the {self.k} nearest neighbours"

    def nearest(self, voters: Any, target: Any, X: _Floats, k: int) -> Nearest | None:
        """Return the nearest neighbours of each row of X, shape (n, p)."""
        rows = getattr(voters, "rows", None)
        if rows is None:
            return None
        order, apart, raw = self._raw(X)
        where = np.full(len(self.cases), -1)
        where[self.voter] = np.arange(self.n_voters)
        place = where[order[:, :k]]
        if (place < 0).any():  # a near case is no voter any more
            return None
        share = (raw / raw.sum(axis=1, keepdims=True))[:, :k]
        answer = np.array(target.words(voters.values), dtype=object)[place]
        meaning = "Training cases are the voters here, and these have a weight."
        return Nearest(place, apart[:, :k], share, rows[place], answer, meaning)

    def usage(self) -> Any:
        """Return the (T, p) table: every voter is weighed with all columns of the distance."""
        return _all_columns(self.n_voters, self.columns, self.n_features)

    def take(self, voters: NDArray[np.intp]) -> Self:
        """Return these voters' weights: each counts where its case is among the k nearest."""
        return replace(self, voter=self.voter[voters])


def _all_columns(voters: int, columns: Columns, n_features: int) -> Any:
    voter, column = np.indices((voters, len(columns))).reshape(2, -1)
    return usage_table(voter, columns[column], (voters, n_features))
