"""Gaussian classifiers as voters: naive Bayes and quadratic discriminants."""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos.files.field_types import AnySize
from psephos.trees.tree import spans_of
from psephos.vote.codec import register
from psephos.vote.marks import Marks, outer_marks
from psephos.vote.part import (
    Columns,
    ReadsColumns,
    Voters,
    check,
    check_part,
    check_places,
    check_present,
    usage_at,
    usage_of,
)
from psephos.vote.reasons import Reason, Score, Term, abstention, scored

_Floats = NDArray[np.float64]
_NAMED = 4  # columns that a rule spells out
_LOWEST = -1e300  # of a score, so that differences of scores are numbers
_SAYS = ("answer", "probability")


@register
@dataclass(frozen=True)
class NaiveBayesVoters(ReadsColumns, Voters):
    """Gaussian naive Bayes: classes of columns that are normal and independent within each.

    The score of class k is log_prior_k - sum over the voter's columns j of
    ((x_j - mean_kj)^2 / variance_kj + log(2 pi variance_kj)) / 2.

    Parameters
    ----------
    n_features : int
        p, the columns of the table.
    columns : ndarray of shape (q,)
        Sorted columns that some voter reads.
    mean, variance : ndarray of shape (T, classes, q)
        Of each class; variances are positive.
    log_prior : ndarray of shape (T, classes)
    value : ndarray of shape (classes, K)
        The table of codes.
    reads : ndarray of shape (T, q), bool, or None
        Who reads which column; None: every voter reads all.
    says : {'answer', 'probability'}, default='answer'
        The code of the class of greatest score, or the mean of the codes by probability.
    abstains : bool, default=False
        A voter that lacks a value it reads votes 0; else a missing value raises.
    """

    tag: ClassVar[str] = "naive Bayes voters"
    n_features: int
    columns: Columns
    mean: AnySize
    variance: AnySize
    log_prior: _Floats
    value: _Floats
    reads: NDArray[np.bool_] | None = None
    says: str = "answer"
    abstains: bool = False

    def __post_init__(self) -> None:
        check_part(self)
        check(
            self.mean.ndim == 3 and self.mean.shape == self.variance.shape,
            "mean and variance are not (T, C, q)",
        )
        check(self.mean.shape[2] == len(self.columns), "moments and columns differ")
        check(self.log_prior.shape == self.mean.shape[:2], "log_prior is not (T, C)")
        check(bool((self.variance > 0).all()), "a variance is not positive")
        _check_classes(self.value, self.mean.shape[1], self.says)
        shape = (len(self.mean), len(self.columns))
        check(self.reads is None or self.reads.shape == shape, "reads is not (T, q)")

    @property
    def n_voters(self) -> int:
        return len(self.mean)

    def votes(self, X: _Floats) -> _Floats:
        read = X[:, self.columns]
        if not self.abstains:
            check_present(read, "naive Bayes voters")
        out = np.empty((len(X), self.n_voters, self.value.shape[1]))
        for t in range(self.n_voters):
            score = np.tile(self.log_prior[t], (len(X), 1))
            for column in self._own(t):  # one column after the other: one order of sums
                score -= self._density(t, column, read[:, column])
            out[:, t] = votes_by_score(score, self.value, self.says)
        return out

    def _density(self, voter: int, column: int, values: _Floats) -> _Floats:
        """Return what a column takes off the scores of the classes, (n, classes)."""
        variance = self.variance[voter, :, column]
        gap = values[:, None] - self.mean[voter, :, column]
        return 0.5 * (gap * gap / variance + np.log(2 * np.pi * variance))

    def reasons(self, X: _Floats) -> list[list[Reason]]:
        """Return, for each row, what the columns add to the log densities of the classes."""
        votes, read = self.votes(X), X[:, self.columns]
        reasons: list[list[Reason]] = []
        for t in range(self.n_voters):
            own = self._own(t)
            added = np.stack(
                [
                    np.zeros((len(X), len(self.value))),
                    *(-self._density(t, j, read[:, j]) for j in own),
                ]
            )
            reasons.append(
                [self._reason(t, own, x, added[1:, i], votes[i, t]) for i, x in enumerate(read)]
            )
        return [list(row) for row in zip(*reasons, strict=True)] if reasons else [[] for _ in X]

    def _reason(
        self, voter: int, own: NDArray[np.intp], x: _Floats, added: _Floats, vote: _Floats
    ) -> Reason:
        abstained = abstention(x, own, vote)
        if abstained is not None and self.abstains:
            return abstained.mapped(self.columns.tolist(), {})
        spread = np.ptp(added, axis=1) if len(added) else np.empty(0)
        order = np.argsort(-spread, kind="stable").tolist()
        terms = tuple(
            Term(int(self.columns[own[j]]), float(x[own[j]]), tuple(added[j].tolist()))
            for j in order
        )
        constant = self.log_prior[voter]
        scores = constant.copy()
        for row in added:
            scores += row
        sums = tuple(constant.tolist()), tuple(scores.tolist())
        return Score(tuple(vote.tolist()), "Gaussian naive Bayes", terms, *sums, self.says)

    def _own(self, voter: int) -> NDArray[np.intp]:
        if self.reads is None:
            return np.arange(len(self.columns))
        return np.flatnonzero(self.reads[voter])

    def usage(self) -> Any:
        return usage_of(self, [self._own(t) for t in range(self.n_voters)])

    def marks(self) -> Marks:
        """Return (columns, values): about the means of the classes."""
        away = 2.0 * np.sqrt(self.variance)
        low, high = (self.mean - away).min(axis=(0, 1)), (self.mean + away).max(axis=(0, 1))
        return outer_marks(self.columns, low, high)

    def take(self, voters: NDArray[np.intp]) -> Self:
        moments = {"mean": self.mean[voters], "variance": self.variance[voters]}
        some = replace(
            self,
            **moments,
            log_prior=self.log_prior[voters],
            reads=None if self.reads is None else self.reads[voters],
        )
        if some.reads is None:
            return some
        kept = np.flatnonzero(some.reads.any(axis=0))
        return replace(
            some,
            columns=some.columns[kept],
            mean=np.ascontiguousarray(some.mean[:, :, kept]),
            variance=np.ascontiguousarray(some.variance[:, :, kept]),
            reads=np.ascontiguousarray(some.reads[:, kept]),
        )

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return the columns, with each class's mean and deviation if they are few."""
        own = self._own(voter)
        deviation = np.sqrt(self.variance[voter][:, own])
        named = [names[self.columns[j]] for j in own]
        return _rule("Gaussian naive Bayes", named, self.mean[voter][:, own], deviation)

    def sides(self, voter: int) -> list[tuple[str, _Floats]]:
        return []


@register
@dataclass(frozen=True)
class QuadraticVoters(ReadsColumns, Voters):
    """Quadratic discriminants: a normal density a class, with its own covariance.

    The score of class k is constant_k - |W_k (x - mean_k)|^2 / 2, where W_k' W_k is the inverse
    of the class's covariance and the constant holds the prior and the determinant.

    Parameters
    ----------
    n_features : int
        p, the columns of the table.
    columns : ndarray of shape (q,)
        Sorted columns that some voter reads.
    ptr : ndarray of shape (T + 1,), intp
        Where each voter's d_t columns begin in `position` and `mean`.
    position : ndarray of shape (sum of d_t,), intp
        Positions in `columns`, ascending within a voter.
    mean : ndarray of shape (classes, sum of d_t)
    whitening : ndarray of shape (classes, sum of d_t squared)
        The matrices W, row by row, voter after voter.
    constant : ndarray of shape (T, classes)
    value : ndarray of shape (classes, K)
        The table of codes.
    says : {'answer', 'probability'}, default='answer'
        The code of the class of greatest score, or the mean of the codes by probability.
    abstains : bool, default=False
        A voter that lacks a value it reads votes 0; else a missing value raises.
    """

    tag: ClassVar[str] = "quadratic voters"
    n_features: int
    columns: Columns
    ptr: NDArray[np.intp]
    position: NDArray[np.intp]
    mean: AnySize
    whitening: AnySize
    constant: _Floats
    value: _Floats
    says: str = "answer"
    abstains: bool = False

    def __post_init__(self) -> None:
        check_part(self)
        check(self.constant.ndim == 2, "constant is not (T, C)")
        n_voters, classes = self.constant.shape
        sizes = check_places(self.position, self.ptr, n_voters, len(self.columns))
        _check_classes(self.value, classes, self.says)
        check(self.mean.shape == (classes, len(self.position)), "means and columns differ")
        check(
            self.whitening.shape == (classes, int((sizes**2).sum())),
            "whitening has another shape than the voters' columns need",
        )
        numbers = (self.mean, self.whitening, self.constant, self.value)
        check(all(bool(np.isfinite(a).all()) for a in numbers), "a number is not finite")

    @property
    def n_voters(self) -> int:
        return len(self.ptr) - 1

    def _blocks(self) -> NDArray[np.intp]:
        return np.concatenate([[0], np.cumsum(np.diff(self.ptr) ** 2)]).astype(np.intp)

    def _matrices(self, voter: int) -> _Floats:
        """Return the (classes, d, d) whitening matrices of a voter."""
        d, start = self.ptr[voter + 1] - self.ptr[voter], self._blocks()[voter]
        return self.whitening[:, start : start + d * d].reshape(len(self.whitening), d, d)

    def votes(self, X: _Floats) -> _Floats:
        read = X[:, self.columns]
        if not self.abstains:
            check_present(read, "quadratic discriminants")
        out = np.empty((len(X), self.n_voters, self.value.shape[1]))
        for t in range(self.n_voters):
            out[:, t] = votes_by_score(self._scores(t, read), self.value, self.says)
        return out

    def _scores(self, voter: int, read: _Floats) -> _Floats:
        """Return the (n, classes) scores of rows in the columns that are read."""
        own = slice(self.ptr[voter], self.ptr[voter + 1])
        score = np.tile(self.constant[voter], (len(read), 1))
        _distances(read[:, self.position[own]], self.mean[:, own], self._matrices(voter), score)
        return score

    def reasons(self, X: _Floats) -> list[list[Reason]]:
        """Return, for each row, the scores of the classes and the values they are made of."""
        votes, read = self.votes(X), X[:, self.columns]
        reasons: list[list[Reason]] = [[] for _ in X]
        for t in range(self.n_voters):
            columns = self.columns[self.position[self.ptr[t] : self.ptr[t + 1]]]
            scores, model = self._scores(t, read), "quadratic discriminant"
            for i, x in enumerate(X):
                reasons[i].append(
                    scored(model, x, columns, scores[i], votes[i, t], self.says, self.abstains)
                )
        return reasons

    def usage(self) -> Any:
        voter = np.repeat(np.arange(self.n_voters), np.diff(self.ptr))
        return usage_at(self, voter, self.position)

    def times(self, powers: NDArray[np.intp]) -> Self:
        """Return the same models for a table whose columns are times these powers of two.

        Densities are then in other units, alike for all classes: scores keep their differences.
        """
        own = powers[self.columns[self.position]]
        blocks = [-np.tile(own[a:b], b - a) for a, b in pairwise(self.ptr.tolist())]
        each = np.concatenate([np.empty(0, np.intp), *blocks])
        mean, whitening = np.ldexp(self.mean, own), np.ldexp(self.whitening, each)
        return replace(self, mean=mean, whitening=whitening)

    def marks(self) -> Marks:
        """Return (columns, values): the means of the classes."""
        columns = self.columns[self.position]
        return outer_marks(columns, self.mean.min(axis=0), self.mean.max(axis=0))

    def take(self, voters: NDArray[np.intp]) -> Self:
        ptr, own = spans_of(self.ptr, voters)
        square = spans_of(self._blocks(), voters)[1]
        kept, position = np.unique(self.position[own], return_inverse=True)
        return replace(
            self,
            columns=self.columns[kept],
            ptr=ptr,
            position=position.astype(np.intp),
            mean=np.ascontiguousarray(self.mean[:, own]),
            whitening=np.ascontiguousarray(self.whitening[:, square]),
            constant=self.constant[voters],
        )

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return the columns, with each class's mean and deviation if they are few."""
        own = slice(self.ptr[voter], self.ptr[voter + 1])
        inverse = np.linalg.pinv(np.tril(self._matrices(voter))).astype(np.float64)
        deviation = np.sqrt((inverse * inverse).sum(axis=2))
        named = [names[self.columns[j]] for j in self.position[own]]
        return _rule("quadratic discriminant", named, self.mean[:, own], deviation)

    def sides(self, voter: int) -> list[tuple[str, _Floats]]:
        return []


def _check_classes(value: _Floats, classes: int, says: str) -> None:
    check(value.ndim == 2 and len(value) == classes > 0, "value is not (C, K)")
    check(says in _SAYS, f"says is {says!r}")


def _distances(read: _Floats, mean: _Floats, matrices: _Floats, score: _Floats) -> None:
    """Take half the squared lengths of W_k (x - mean_k) off score (n, classes)."""
    d = read.shape[1]
    for k in range(len(mean)):
        whitening = matrices[k].reshape(d, d)
        gap = read - mean[k]
        for i in range(d):  # element by element: a row's sums do not depend on other rows
            length = np.zeros(len(read))
            for j in range(i + 1):
                length += whitening[i, j] * gap[:, j]
            score[:, k] -= 0.5 * length * length


def votes_by_score(score: _Floats, value: _Floats, says: str) -> _Floats:
    """Return the (n, K) votes of scores (n, classes); 0 where a score is missing."""
    missing = np.isnan(score).any(axis=1)
    if says == "answer":
        out = value[score.argmax(axis=1)]
    else:
        score = np.maximum(score, _LOWEST)  # an infinite value: no class is likelier
        share = np.exp(score - score.max(axis=1, keepdims=True))
        total, out = np.zeros(len(score)), np.zeros((len(score), value.shape[1]))
        for k in range(len(value)):
            total += share[:, k]
            out += share[:, k, None] * value[k]
        out /= total[:, None]
    out[missing] = 0.0
    return out


def _rule(kind: str, names: list[str], mean: _Floats, deviation: _Floats) -> str:
    """Return a density's columns in words: mean and deviation of each class, in their order."""
    if not names:
        return f"{kind} on 0 columns: the classes' shares"
    if len(names) > _NAMED:
        return f"{kind} on {len(names)} columns"
    parts = [
        f"{name} ({' | '.join(f'{m:.4g} ± {s:.4g}' for m, s in zip(*pair, strict=True))})"
        for name, pair in zip(names, zip(mean.T, deviation.T, strict=True), strict=True)
    ]
    return f"{kind}, mean ± deviation by class: {', '.join(parts)}"
