"""Measures of predictions of several labels, and of numbers and their distributions."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from psephos._errors import PsephosError
from psephos._types import Array, ArrayLike, Floats, Indices, LabelsLike, NDArray, PerRow, Values
from psephos.models.prototypes.mixture import NormalMixture

_Mask = NDArray[np.bool_]


# ------------------------------------------------------------------- the five measures
def hamming_loss(y_true: LabelsLike, y_pred: ArrayLike, *, sample_weight: PerRow = None) -> float:
    """Return the share of wrong predictions among all rows and labels; 0 is best.

    It equals `sklearn.metrics.hamming_loss`. `y_pred` is a table of 0 and 1, like `y_true`; the
    other parameters and errors are those of `one_error`.

    Examples
    --------
    >>> from psephos.protocol import hamming_loss
    >>> hamming_loss([[1, 0, 0], [1, 1, 0]], [[1, 0, 1], [1, 1, 0]])  # doctest: +ELLIPSIS
    0.1666...
    """
    truth, predicted = _yes(y_true, "y_true"), _yes(y_pred, "y_pred")
    _same_shape(truth, predicted, "y_pred")
    return _mean((truth != predicted).mean(axis=1), sample_weight)


def one_error(y_true: LabelsLike, y_score: ArrayLike, *, sample_weight: PerRow = None) -> float:
    """Return the share of rows whose top-ranked label is not one of theirs; 0 is best.

    If several labels have the greatest score, it is an error only if none of them is the row's.
    Rows with no label or all labels are left out, as in the authors' program.

    Parameters
    ----------
    y_true : array or sparse table of shape (n, K)
        0 and 1: which labels a row has.
    y_score : array of shape (n, K)
        Finite; greater for more likely labels.
    sample_weight : array of shape (n,), default=None

    Returns
    -------
    error : float
        NaN if no row is left.

    Raises
    ------
    PsephosError
        If y_true is not of 0 and 1, a score is not finite, or shapes differ.

    References
    ----------
    Zhang & Zhou (2007), "ML-KNN: a lazy learning approach to multi-label learning", Pattern
    Recognition 40, section 4.1; details that the text leaves open follow the authors' program.

    Examples
    --------
    >>> from psephos.protocol import one_error
    >>> one_error([[1, 0, 0], [0, 1, 0]], [[0.9, 0.2, 0.1], [0.8, 0.6, 0.0]])
    0.5
    """
    truth, score = _tables(y_true, y_score)
    top = score == score.max(axis=1, keepdims=True)
    return _mean(~(top & truth).any(axis=1), sample_weight, _mixed(truth))


def coverage(y_true: LabelsLike, y_score: ArrayLike, *, sample_weight: PerRow = None) -> float:
    """Return the mean rank of a row's lowest-ranked label, minus 1.

    0 is best for rows with one label; the maximum is K - 1. A row without labels counts 0. Among
    labels with equal scores the later column ranks higher, as in the authors' program
    (`sklearn.metrics.coverage_error` is greater by 1, and counts ties against the model).
    Parameters and errors are those of `one_error`.

    Examples
    --------
    >>> from psephos.protocol import coverage
    >>> coverage([[1, 0, 0], [0, 1, 0]], [[0.9, 0.2, 0.1], [0.8, 0.6, 0.0]])
    0.5
    """
    truth, score = _tables(y_true, y_score)
    return _mean(np.maximum(np.where(truth, _ranks(score), 0).max(axis=1) - 1, 0), sample_weight)


def ranking_loss(y_true: LabelsLike, y_score: ArrayLike, *, sample_weight: PerRow = None) -> float:
    """Return the share of pairs (a label of the row, another label) ranked wrongly; 0 is best.

    Ties are wrong. Rows with no label or all labels are left out of the mean
    (`sklearn.metrics.label_ranking_loss` counts them as 0). Parameters and errors are those of
    `one_error`.

    Examples
    --------
    >>> from psephos.protocol import ranking_loss
    >>> ranking_loss([[1, 0, 0], [0, 1, 0]], [[0.9, 0.2, 0.1], [0.8, 0.6, 0.0]])
    0.25
    """
    truth, score = _tables(y_true, y_score)
    wrong = np.zeros(len(truth))
    for label in range(truth.shape[1]):
        above = (~truth & (score >= score[:, [label]])).sum(axis=1)
        wrong += np.where(truth[:, label], above, 0)
    n_own = truth.sum(axis=1)
    pairs = n_own * (truth.shape[1] - n_own)
    return _mean(wrong / np.maximum(pairs, 1), sample_weight, _mixed(truth))


def average_precision(
    y_true: LabelsLike, y_score: ArrayLike, *, sample_weight: PerRow = None
) -> float:
    """Return the mean precision at the rank of each of a row's labels; 1 is best.

    For each label of a row it is (the row's labels ranked at or above this one) / (the rank of this
    one), averaged over the row's labels, then over rows. Among equal scores the later column ranks
    higher; rows with no label or all labels are left out (in
    `sklearn.metrics.label_ranking_average_precision_score` ties count against the model, and these
    rows count as 1). Parameters and errors are those of `one_error`.

    Examples
    --------
    >>> from psephos.protocol import average_precision
    >>> average_precision([[1, 0, 0], [0, 1, 0]], [[0.9, 0.2, 0.1], [0.8, 0.6, 0.0]])
    0.75
    """
    truth, score = _tables(y_true, y_score)
    order = np.argsort(score, axis=1, kind="stable")[:, ::-1]
    own = np.take_along_axis(truth, order, axis=1)
    place = np.cumsum(np.ones(own.shape), axis=1)
    shares = own * np.cumsum(own, axis=1) / place
    of_row = shares.sum(axis=1) / np.maximum(own.sum(axis=1), 1)
    return _mean(of_row, sample_weight, _mixed(truth))


def _ranks(score: Floats) -> Indices:
    """Return the rank of each label, 1 for the highest; among ties the later column is higher."""
    rank = np.empty(score.shape, dtype=np.intp)
    order = np.argsort(score, axis=1, kind="stable")
    down = np.cumsum(np.ones(score.shape, dtype=np.intp), axis=1)[:, ::-1]
    np.put_along_axis(rank, order, down, axis=1)
    return rank


def _mixed(truth: _Mask) -> _Mask:
    """Return a mask of rows with some labels, but not all."""
    n_own = truth.sum(axis=1)
    return (n_own > 0) & (n_own < truth.shape[1])


def _mean(values: Array, sample_weight: PerRow, kept: _Mask | None = None) -> float:
    weight = np.ones(len(values)) if sample_weight is None else np.asarray(sample_weight, float)
    if weight.shape != values.shape:
        raise PsephosError(
            f"sample_weight has shape {weight.shape}: give one number per row ({len(values)})."
        )
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise PsephosError("sample_weight must be finite numbers of at least 0.")
    weight = weight if kept is None else weight * kept
    weight = np.ldexp(weight, -np.frexp(weight.max(initial=0.0))[1])  # so that the sum is finite
    total = weight.sum()
    return float(values @ weight / total) if total > 0 else float("nan")


def _yes(table: Any, name: str) -> _Mask:
    sparse = bool(issparse(table))  # a plain bool: the type guard would narrow table
    given: Any = table.toarray() if sparse else np.asarray(table)
    yes = given == 1
    if given.ndim != 2 or not (yes | (given == 0)).all() or not given.size:
        raise PsephosError(
            f"{name} must be a table of 0 and 1 with a row per case and a column per label."
        )
    return np.asarray(yes, dtype=bool)


def _tables(y_true: LabelsLike, y_score: Any) -> tuple[_Mask, Floats]:
    truth = _yes(y_true, "y_true")
    sparse = bool(issparse(y_score))
    given: Any = y_score.toarray() if sparse else y_score
    score = np.asarray(given, dtype=np.float64)
    _same_shape(truth, score, "y_score")
    if not np.isfinite(score).all():
        row = int((~np.isfinite(score)).any(axis=1).argmax())
        raise PsephosError(f"y_score is not finite in row {row}: labels cannot be ranked there.")
    return truth, score


def _same_shape(truth: _Mask, other: Array, name: str) -> None:
    if truth.shape != other.shape:
        raise PsephosError(
            f"{name} has shape {other.shape}, and y_true {truth.shape}: give one value per row and "
            "label."
        )


# ------------------------------------------------------------------- answers of models
class LabelAnswers(NamedTuple):
    """A model's predictions for some rows, each of shape (n, K)."""

    given: _Mask  # the predicted labels
    proba: Floats  # the probability of each label


def label_answers_of(model: Any, X: Values, n_labels: int) -> LabelAnswers:
    """Return the predictions of a model fitted on a table of 0 and 1, one column per label."""
    chances: Any = model.predict_proba(X)
    listed = bool(isinstance(chances, list))  # one table per label, as from scikit-learn's trees
    proba = _of_list(model, chances) if listed else np.asarray(chances, dtype=np.float64)
    given = _yes(model.predict(X), "the prediction of the model")
    for values in (given, proba):
        if values.shape != (X.shape[0], n_labels):
            raise PsephosError(
                f"the model predicts a table of shape {values.shape} for {X.shape[0]} rows and "
                f"{n_labels} labels."
            )
    if not ((proba >= 0) & (proba <= 1)).all():  # also for NaN
        raise PsephosError("the model predicts probabilities that are outside [0, 1] or NaN.")
    return LabelAnswers(given, proba)


def _of_list(model: Any, chances: Sequence[Any]) -> Floats:
    """Return P(1) of each label; a label that was constant in training has one column only."""
    classes: Any = model.classes_
    columns = [
        np.asarray(table)[:, known.tolist().index(1)] if 1 in known else np.zeros(len(table))
        for table, known in zip(chances, map(np.asarray, classes), strict=True)
    ]
    return np.column_stack(columns).astype(np.float64)


def prior_precision(train: Array, test: Array) -> float:
    """Return the average precision on test rows of ranking labels by their training frequency."""
    return average_precision(test, np.broadcast_to(train.mean(axis=0), test.shape))


def label_figures(truth: Array, given: Array) -> list[Mapping[str, Any]]:
    """Return counts, sensitivity, precision and F1 of each label, from two tables of 0 and 1.

    ``rows`` is the number of rows with the label, ``given`` with the label predicted, ``found``
    with both; ``sensitivity`` = found / rows, ``precision`` = found / given, ``f1`` = 2 found /
    (rows + given); None if the divisor is 0.
    """
    counts = ((truth == 1).sum(0), (given == 1).sum(0), ((truth == 1) & (given == 1)).sum(0))
    return [
        {
            "rows": n,
            "given": g,
            "found": both,
            "sensitivity": both / n if n else None,
            "precision": both / g if g else None,
            "f1": 2 * both / (n + g) if n + g else None,
        }
        for n, g, both in zip(*(one.tolist() for one in counts), strict=True)
    ]


LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)  # of the quantiles of a predicted distribution


class NumberAnswers(NamedTuple):
    """A model's predictions for some rows of a numeric target."""

    predicted: Floats  # (n,)
    stated: NormalMixture | None = None  # the predicted distribution; None for most models
    quantiles: Floats | None = None  # (n, 5), at LEVELS


def number_answers_of(model: Any, X: Values) -> NumberAnswers:
    """Return the predictions of a regressor, and its predicted distribution, if any.

    That is the result of its method `distribution` (`psephos.ProsetRegressor`).
    """
    predicted = np.asarray(model.predict(X), dtype=np.float64)
    if predicted.shape != (X.shape[0],) or not np.isfinite(predicted).all():
        raise PsephosError(
            f"the model must predict one finite number per row; it does not for {X.shape[0]} rows."
        )
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    if not hasattr(last, "distribution"):
        return NumberAnswers(predicted)
    stated = last.distribution(X if last is model else model[:-1].transform(X))
    return NumberAnswers(predicted, stated, stated.quantile(LEVELS))


def r_squared(answers: NumberAnswers, truth: Floats) -> float | None:
    """Return 1 - (squared errors) / (squared deviations of these rows from their mean)."""
    whole = float(((truth - truth.mean()) ** 2).sum())
    return 1.0 - float(((truth - answers.predicted) ** 2).sum()) / whole if whole > 0 else None


def absolute_error(answers: NumberAnswers, truth: Floats) -> float:
    """Return the mean absolute error."""
    return float(np.abs(truth - answers.predicted).mean())


def root_squared_error(answers: NumberAnswers, truth: Floats) -> float:
    """Return the root of the mean squared error."""
    return math.sqrt(float(((truth - answers.predicted) ** 2).mean()))


def pinball_loss(answers: NumberAnswers, truth: Floats) -> float | None:
    """Return the mean of max(q e, (q - 1) e), e = truth - quantile, over rows and levels q."""
    if answers.quantiles is None:
        return None
    off, level = truth[:, None] - answers.quantiles, np.array(LEVELS)
    return float(np.maximum(level * off, (level - 1) * off).mean())


def mean_crps(answers: NumberAnswers, truth: Floats) -> float | None:
    """Return the mean CRPS of the predicted distributions, or None."""
    return None if answers.stated is None else float(answers.stated.crps(truth).mean())


def of_points(
    measured: Callable[[NumberAnswers, Floats], float | None],
) -> Callable[[NumberAnswers, Floats], float | None]:
    """Return a measure that takes a prediction without a distribution as a point mass.

    For the pinball loss it is every quantile; the CRPS of a point is the absolute error.
    """

    def found(answers: NumberAnswers, truth: Floats) -> float | None:
        if answers.quantiles is not None:
            return measured(answers, truth)
        if measured is mean_crps:
            return absolute_error(answers, truth)
        points = np.repeat(answers.predicted[:, None], len(LEVELS), axis=1)
        return measured(answers._replace(quantiles=points), truth)

    return found


def covered(answers: NumberAnswers, truth: Floats) -> float | None:
    """Return the share of rows within the outer quantiles, or None without quantiles."""
    if answers.quantiles is None:
        return None
    low, high = answers.quantiles[:, 0], answers.quantiles[:, -1]
    return float(((low <= truth) & (truth <= high)).mean())
