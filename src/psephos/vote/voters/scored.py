"""Linear models, naive Bayes and quadratic discriminants as voters by scores.

In files of older releases each was a kind of voters with these parameters as its fields.
"""

import numpy as np

from psephos._types import Floats, Indices, NDArray
from psephos.files.field_types import AnySize
from psephos.vote.codec import register_form
from psephos.vote.operations.scores import Scores
from psephos.vote.part import Columns, check, check_columns


@register_form("linear voters")
def linear_models(
    n_features: int,
    columns: Columns,
    coef: Floats,
    intercept: Floats,
    value: Floats,
    says: str = "answer",
    abstains: bool = False,
    slope: float = 1.0,
) -> Scores:
    """Return linear models ``z_r(x) = intercept_r + sum_j coef_rj x_j``, R scores per voter.

    Parameters
    ----------
    n_features : int
        p, the number of columns of the table.
    columns : ndarray of shape (q,), intp
        Sorted columns that any of the voters reads.
    coef : ndarray of shape (T, R, q)
        A voter does not read columns whose R coefficients are all 0; it may read none. With R = 1
        the sign of the score decides between two classes (above 0: the second), or the score is a
        number (regression); else there is one score per class.
    intercept : ndarray of shape (T, R)
    value, says, abstains, slope
        As in `Scores`.

    Raises
    ------
    PsephosError
        If the parameters are inconsistent.
    """
    _check_scores(n_features, columns, coef)
    check(intercept.shape == coef.shape[:2], "intercept is not (T, scores)")
    voter, position, ptr = _read((coef != 0).any(axis=1))
    return Scores(
        n_features, columns, ptr, position, intercept, value, "a linear model", says, slope,
        abstains, coef=np.ascontiguousarray(coef[voter, :, position].T),
    )  # fmt: skip


@register_form("naive Bayes voters")
def naive_bayes_models(
    n_features: int,
    columns: Columns,
    mean: AnySize,
    variance: AnySize,
    log_prior: Floats,
    value: Floats,
    reads: NDArray[np.bool_] | None = None,
    says: str = "answer",
    abstains: bool = False,
) -> Scores:
    """Return Gaussian naive Bayes models: columns are normal and independent within each class.

    The score of class k is log_prior_k - sum over the voter's columns j of
    ((x_j - mean_kj)^2 / variance_kj + log(2 pi variance_kj)) / 2.

    Parameters
    ----------
    n_features : int
        p, the columns of the table.
    columns : ndarray of shape (q,)
        Sorted columns that some voter reads.
    mean, variance : ndarray of shape (T, classes, q)
        Means and variances of each class; variances must be positive.
    log_prior : ndarray of shape (T, classes)
    reads : ndarray of shape (T, q), bool, or None
        The columns that each voter reads; None: every voter reads all.
    value, says, abstains
        As in `Scores`.

    Raises
    ------
    PsephosError
        If the parameters are inconsistent.
    """
    _check_scores(n_features, columns, mean)
    check(mean.shape == variance.shape, "mean and variance differ in shape")
    check(log_prior.shape == mean.shape[:2], "log_prior is not (T, C)")
    shape = (len(mean), len(columns))
    reads = np.ones(shape, dtype=bool) if reads is None else reads
    check(reads.shape == shape and reads.dtype == np.bool_, "reads is not a mask of shape (T, q)")
    voter, position, ptr = _read(reads)
    moments = (np.ascontiguousarray(a[voter, :, position].T) for a in (mean, variance))
    return Scores(
        n_features, columns, ptr, position, log_prior, value, "Gaussian naive Bayes", says,
        abstains=abstains, **dict(zip(("centre", "variance"), moments, strict=True)),
    )  # fmt: skip


@register_form("quadratic voters")
def quadratic_models(
    n_features: int,
    columns: Columns,
    ptr: Indices,
    position: Indices,
    mean: AnySize,
    whitening: AnySize,
    constant: Floats,
    value: Floats,
    says: str = "answer",
    abstains: bool = False,
) -> Scores:
    """Return quadratic discriminants: a normal density per class, with its own covariance.

    The score of class k is ``constant_k - |W_k (x - mean_k)|^2 / 2``, where W_k' W_k is the inverse
    of the class's covariance and the constant contains the prior and the determinant. `mean` is
    `centre` of `Scores`; the other parameters have the same names there.
    """
    numbers = (mean, whitening, constant, value)
    check(all(bool(np.isfinite(a).all()) for a in numbers), "a number is not finite")
    return Scores(
        n_features, columns, ptr, position, constant, value, "quadratic discriminant", says,
        abstains=abstains, centre=mean, whitening=whitening,
    )  # fmt: skip


def _check_scores(n_features: int, columns: Columns, table: Floats) -> None:
    check_columns(columns, n_features)
    shaped = table.ndim == 3 and table.shape[2] == len(columns) and table.shape[1] > 0
    check(shaped, "the coefficients of scores must have the shape (T, scores, columns)")


def _read(reads: NDArray[np.bool_]) -> tuple[Indices, Indices, Indices]:
    """Return the (voter, position) pairs of a mask, and the start of each voter's pairs."""
    voter, position = np.nonzero(reads)
    return voter, position, np.searchsorted(voter, np.arange(len(reads) + 1)).astype(np.intp)
