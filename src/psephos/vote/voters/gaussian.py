"""Gaussian classifiers as voters: naive Bayes and quadratic discriminants."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import ClassVar, Self

import numpy as np

from psephos._types import Floats, NDArray
from psephos.files.field_types import AnySize
from psephos.vote.codec import register
from psephos.vote.lowered import ReadAsLowered
from psephos.vote.operations.scores import Scores, check_says
from psephos.vote.part import Columns, ReadsColumns, check, check_part, check_places


@register
@dataclass(frozen=True)
class NaiveBayesVoters(ReadsColumns, ReadAsLowered):
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
    log_prior: Floats
    value: Floats
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
        check_says(self.value, self.mean.shape[1], self.says)
        shape = (len(self.mean), len(self.columns))
        check(self.reads is None or self.reads.shape == shape, "reads is not (T, q)")

    @property
    def n_voters(self) -> int:
        return len(self.mean)

    @cached_property
    def _operation(self) -> Scores:
        voter, position = np.nonzero(self._reads)
        ptr = np.searchsorted(voter, np.arange(self.n_voters + 1)).astype(np.intp)
        mean, variance = (a[voter, :, position].T for a in (self.mean, self.variance))
        return Scores(
            self.n_features, self.columns, ptr, position, self.log_prior, self.value,
            "Gaussian naive Bayes", self.says, abstains=self.abstains,
            centre=np.ascontiguousarray(mean), variance=np.ascontiguousarray(variance),
        )  # fmt: skip

    @property
    def _reads(self) -> NDArray[np.bool_]:
        whole = np.ones((self.n_voters, len(self.columns)), dtype=bool)
        return whole if self.reads is None else self.reads

    def take(self, voters: NDArray[np.intp]) -> Self:
        reads = self._reads[voters]
        kept = np.flatnonzero(reads.any(axis=0) | (self.reads is None))
        mean, variance = (a[voters][:, :, kept] for a in (self.mean, self.variance))
        return replace(
            self,
            columns=self.columns[kept],
            mean=np.ascontiguousarray(mean),
            variance=np.ascontiguousarray(variance),
            log_prior=self.log_prior[voters],
            reads=None if self.reads is None else np.ascontiguousarray(reads[:, kept]),
        )


@register
@dataclass(frozen=True)
class QuadraticVoters(ReadsColumns, ReadAsLowered):
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
    constant: Floats
    value: Floats
    says: str = "answer"
    abstains: bool = False

    def __post_init__(self) -> None:
        check_part(self)
        check(self.constant.ndim == 2, "constant is not (T, C)")
        n_voters, classes = self.constant.shape
        sizes = check_places(self.position, self.ptr, n_voters, len(self.columns))
        check_says(self.value, classes, self.says)
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

    @cached_property
    def _operation(self) -> Scores:
        return Scores(
            self.n_features, self.columns, self.ptr, self.position, self.constant, self.value,
            "quadratic discriminant", self.says, abstains=self.abstains,
            centre=self.mean, whitening=self.whitening,
        )  # fmt: skip

    def times(self, powers: NDArray[np.intp]) -> Self:
        """Return the same models for a table whose columns are times these powers of two.

        Densities are then in other units, alike for all classes: scores keep their differences.
        """
        own = powers[self.columns[self.position]]
        blocks = [-np.tile(own[a:b], b - a) for a, b in pairwise(self.ptr.tolist())]
        each = np.concatenate([np.empty(0, np.intp), *blocks])
        mean, whitening = np.ldexp(self.mean, own), np.ldexp(self.whitening, each)
        return replace(self, mean=mean, whitening=whitening)

    def take(self, voters: NDArray[np.intp]) -> Self:
        some: Scores = self._operation.take(voters)
        return replace(
            self, columns=some.columns, ptr=some.ptr, position=some.position,
            mean=some.centre, whitening=some.whitening, constant=some.constant,
        )  # fmt: skip
