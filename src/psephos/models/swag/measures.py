"""The errors of candidates: measures with a kernel, and any scikit-learn scorer.

`scores` is (B, L, K): B models, L test rows of all splits one after the other (split s holds the
rows from ``ptr[s]`` up to ``ptr[s + 1]``, one at least), K outputs. `share` (L,) says how much of
its split's mean each row is: it sums to 1 in every split. Every function writes to `out` (B, S).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer

from psephos._errors import PsephosError
from psephos._types import Array, Estimator, Floats, Indices, NDArray, TableLike
from psephos.models.swag.problem import Folds

_Floats = NDArray[np.float64]
_Whole = NDArray[np.integer]


def _means(loss: _Floats, share: _Floats, ptr: _Whole, out: _Floats) -> None:
    """Write the mean losses of the splits from those of the rows, (B, L)."""
    np.add.reduceat(loss * share, ptr[:-1], axis=1, out=out)


def cost_losses(
    scores: _Floats, y: _Whole, cost: _Floats, share: _Floats, ptr: _Whole, out: _Floats
) -> None:
    """Mean of ``cost[truth, answer]``: the share of errors, if the cost is 1 off the diagonal.

    The answer is the class of the greatest score, the first if several have it.
    """
    one = scores.shape[2] == 1
    answer = (scores[:, :, 0] > 0.0).astype(np.intp) if one else scores.argmax(axis=2)
    _means(cost[y, answer], share, ptr, out)


def log_losses(scores: _Floats, y: _Whole, share: _Floats, ptr: _Whole, out: _Floats) -> None:
    """Mean of -log p(truth): p = 1 / (1 + exp(-score)) for two classes, else softmax(scores)."""
    if scores.shape[2] == 1:
        loss = np.logaddexp(0.0, (1.0 - 2.0 * y) * scores[:, :, 0])
    else:
        top = scores.max(axis=2, keepdims=True)
        loss = np.log(np.exp(scores - top).sum(axis=2)) + top[:, :, 0]
        loss -= scores[:, np.arange(len(y)), y]
    _means(loss, share, ptr, out)


def squared_losses(scores: _Floats, y: _Floats, share: _Floats, ptr: _Whole, out: _Floats) -> None:
    """Mean of (prediction - truth)^2."""
    _means((scores[:, :, 0] - y) ** 2, share, ptr, out)


def absolute_losses(scores: _Floats, y: _Floats, share: _Floats, ptr: _Whole, out: _Floats) -> None:
    """Mean of |prediction - truth|."""
    _means(np.abs(scores[:, :, 0] - y), share, ptr, out)


def area_losses(scores: _Floats, y: _Whole, share: _Floats, ptr: _Whole, out: _Floats) -> None:
    """One minus the area under the ROC curve: the share of pairs ranked in the wrong order.

    A pair has a row of each class; it counts by the product of their shares, with equal scores as
    half wrong. Both classes must be present in every split.
    """
    for s, (first, last) in enumerate(pairwise(ptr.tolist())):
        part, place = scores[:, first:last, 0], np.arange(last - first)
        order = np.argsort(part, axis=1)
        ranked = np.take_along_axis(part, order, axis=1)
        mass, second = share[first:last][order], y[first:last][order] == 1
        # Cumulative shares of the second class, and where the scores equal to each begin and end.
        below = np.cumsum(np.pad(mass * second, ((0, 0), (1, 0))), axis=1)
        new = np.ones((len(part), len(place) + 1), np.bool_)
        new[:, 1:-1] = ranked[:, 1:] > ranked[:, :-1]
        begin = np.maximum.accumulate(np.where(new[:, :-1], place, 0), axis=1)
        end = np.minimum.accumulate(np.where(new[:, 1:], place, len(place))[:, ::-1], axis=1)
        less = np.take_along_axis(below, begin, axis=1)
        upto = np.take_along_axis(below, end[:, ::-1] + 1, axis=1)
        wrong = (mass * ~second * (0.5 * less + 0.5 * upto)).sum(axis=1)
        out[:, s] = wrong / (below[:, -1] * (mass * ~second).sum(axis=1))


class _Precomputed(BaseEstimator):
    """A fitted model with precomputed scores: row i of its table X is test row X[i, 0]."""

    def __init__(self, scores: Any = None, classes: Any = None) -> None:
        self.scores = scores
        self.classes = self.classes_ = classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def decision_function(self, X: TableLike) -> Floats:
        scores = self.scores[np.asarray(X)[:, 0].astype(np.intp)]
        return scores[:, 0] if scores.shape[1] == 1 else scores


class _PrecomputedClassifier(ClassifierMixin, _Precomputed):
    def predict_proba(self, X: TableLike) -> Floats:
        scores = self.decision_function(X)
        if scores.ndim > 1:
            return softmax(scores, axis=1)
        return np.column_stack([expit(-scores), expit(scores)])

    def predict(self, X: TableLike) -> Array:
        scores = self.decision_function(X)
        two = scores.ndim == 1
        return self.classes_[(scores > 0).astype(np.intp) if two else scores.argmax(axis=1)]


class _PrecomputedRegressor(RegressorMixin, _Precomputed):
    def predict(self, X: TableLike) -> Floats:
        return self.decision_function(X)


@dataclass(frozen=True)
class Scorer:
    """The negative of ``scorer(estimator, X, y)``, called once per candidate and split.

    The estimator has the labels (empty for regression), the predictions, ``decision_function`` (the
    scores) and ``predict_proba`` (their logistic function or softmax). X has one column, the
    indices of its rows among the test rows; `weight` (L,) is passed unless it is None.
    """

    scorer: Any
    labels: NDArray[Any]
    weight: Floats | None

    def put(self, scores: Floats, y: Any, ptr: NDArray[np.int64], out: Floats) -> None:
        """Put the losses of candidates in out (B, S)."""
        classes = len(self.labels) > 0
        kind = _PrecomputedClassifier if classes else _PrecomputedRegressor
        truth = self.labels[y] if classes else y
        for b, lines in enumerate(scores):
            model = kind(lines, self.labels)
            for s in range(out.shape[1]):
                out[b, s] = -self._score(model, truth, slice(ptr[s], ptr[s + 1]), s)

    def _score(self, model: Estimator, truth: NDArray[Any], rows: slice, split: int) -> float:
        weights = {} if self.weight is None else {"sample_weight": self.weight[rows]}
        X = np.arange(rows.start, rows.stop)[:, None]
        try:
            score = float(self.scorer(model, X, truth[rows], **weights))
        except (TypeError, ValueError) as error:
            raise PsephosError(
                f"scoring fails on the test rows of split {split}: {error}"
            ) from error
        if not np.isfinite(score):
            raise PsephosError(
                f"scoring gives {score} on the test rows of split {split}: use fewer folds, or a "
                "measure that is defined there."
            )
        return score


def scorer_of(scoring: Any) -> Any:
    """Return the scikit-learn scorer of a parameter `scoring`."""
    try:
        return get_scorer(scoring)
    except ValueError as error:
        raise PsephosError(
            "scoring must be a measure of psephos or a scorer of scikit-learn (see "
            f"sklearn.metrics.get_scorer_names()); got {scoring!r}."
        ) from error


_BITS = 40  # to which a mean error is rounded: equal means may differ by rounding
_CLASSES = ("error", "balanced_error", "log_loss", "auc")
_NUMBERS = ("squared_error", "absolute_error")
_ALIASES = {
    "accuracy": "error",
    "balanced_accuracy": "balanced_error",
    "neg_log_loss": "log_loss",
    "roc_auc": "auc",
    "neg_mean_squared_error": "squared_error",
    "neg_mean_absolute_error": "absolute_error",
}
_KERNELS: dict[str, Callable[..., None]] = {
    "log_loss": log_losses,
    "auc": area_losses,
    "squared_error": squared_losses,
    "absolute_error": absolute_losses,
}


@dataclass(frozen=True)
class Errors:
    """The errors of B candidates."""

    # (B,); mean over splits of the (weighted) mean loss in the split; smaller is better
    error: Floats
    # (B,); standard deviation of the splits' losses (divisor S - 1; NaN for one split), as in
    # caret: over splits, not over repeats
    spread: Floats
    # (B,); mean log-loss (regression: squared error) of the scores, to break ties
    tie: Floats

    @classmethod
    def joined(cls, parts: Sequence["Errors"]) -> Self:
        """Return the errors of all candidates, part after part."""
        names = ("error", "spread", "tie")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def summarise(losses: Floats, tie: Floats) -> Errors:
    """Return the errors of candidates from their splits' losses (B, S) and log-losses (B, S).

    The mean is rounded to 40 binary digits: errors that are equal (the same rows wrong in another
    split) would otherwise differ in the last bit and not be tied.
    """
    mantissa, exponent = np.frexp(losses.mean(axis=1))
    error = np.ldexp(np.round(np.ldexp(mantissa, _BITS)), exponent - _BITS)
    one = losses.shape[1] == 1
    spread = np.full(len(losses), np.nan) if one else losses.std(axis=1, ddof=1)
    return Errors(error, spread, tie.mean(axis=1))


@dataclass(frozen=True)
class Measure:
    """A measure of error on fixed folds.

    `y` (L,) is the truth of every test row, `plain` (L,) its weight in the mean of its split, and
    `ptr` (S + 1,) the start of splits. `losses` computes the measure (`_Kernel` or `Scorer`).
    """

    losses: "_Kernel | Scorer"
    y: NDArray[Any]
    plain: Floats
    ptr: NDArray[np.int64]

    def errors(self, scores: Floats) -> Errors:
        """Return the errors of candidates from their out-of-fold scores (B, L, K)."""
        found, tie = np.empty((2, len(scores), len(self.ptr) - 1))
        self.losses.put(scores, self.y, self.ptr, found)
        breaks = squared_losses if self.y.dtype.kind == "f" else log_losses
        breaks(scores, self.y, self.plain, self.ptr, tie)
        return summarise(found, tie)


@dataclass(frozen=True)
class _Kernel:
    """A measure computed by a kernel; `share` (L,) is the weight of a row in its split's mean.

    `cost` (n_classes, n_classes) is the cost of each (truth, prediction), None for other measures.
    """

    name: str
    share: Floats
    cost: Floats | None = None

    def put(self, scores: Floats, y: NDArray[Any], ptr: NDArray[np.int64], out: Floats) -> None:
        """Put the losses of candidates in out (B, S)."""
        if self.cost is not None:
            cost_losses(scores, y, self.cost, self.share, ptr, out)
        else:
            _KERNELS[self.name](scores, y, self.share, ptr, out)


def make_measure(
    scoring: Any,
    y: NDArray[Any],
    n_classes: int,
    weight: Floats,
    folds: Folds,
    classes: Array | None = None,
) -> Measure:
    """Return the measure of error that ranks candidates.

    Classification: 'error' (None), the share of wrong predictions; 'balanced_error', the mean of
    the classes' shares of wrong predictions; 'log_loss'; 'auc', one minus the area under the ROC
    curve (two classes); a matrix (n_classes, n_classes) of costs, by truth (row) and prediction
    (column). Regression: 'squared_error' (None) or 'absolute_error'. Otherwise the name of a
    scikit-learn scorer or a callable ``scorer(estimator, X, y)``, whose negative is the error;
    scorers are called once per candidate and split, which is slow. scikit-learn's names of the
    measures above are accepted (and reported as errors). `classes` are the labels passed to a
    scorer (default: the codes).
    """
    codes, weights, ptr = np.ascontiguousarray(y[folds.test]), weight[folds.test], folds.test_ptr
    totals = np.add.reduceat(weights, ptr[:-1])
    plain = weights / np.repeat(totals, np.diff(ptr))
    default = "error" if n_classes else "squared_error"
    name: Any = default if scoring is None else scoring
    name = _ALIASES.get(name, name) if isinstance(name, str) else name
    if isinstance(name, str) and name in (_CLASSES if n_classes else _NUMBERS):
        share, cost = plain, None
        if name in ("error", "balanced_error"):
            cost = 1.0 - np.eye(n_classes)
        if name == "balanced_error":
            share = _balanced_shares(codes, weights, ptr, n_classes)
        if name == "auc":
            _check_area(codes, ptr, n_classes)
        losses: Any = _Kernel(name, share, cost)
    elif not isinstance(name, str) and not callable(name):
        losses = _Kernel("cost", plain, _cost(name, n_classes))
    else:
        labels = np.arange(n_classes) if classes is None else classes
        even = bool((weights == weights[0]).all())
        losses = Scorer(scorer_of(name), labels, None if even else weights)
    return Measure(losses, codes, plain, ptr)


def _balanced_shares(
    codes: Indices, weight: Floats, ptr: NDArray[np.int64], n_classes: int
) -> Floats:
    """Return the weights of rows with which all classes present in a split have equal weight."""
    n_splits = len(ptr) - 1
    split = np.repeat(np.arange(n_splits), np.diff(ptr))
    totals = np.bincount(split * n_classes + codes, weight, n_splits * n_classes)
    present = (totals.reshape(n_splits, n_classes) > 0).sum(axis=1)
    return weight / totals[split * n_classes + codes] / present[split]


def _check_area(codes: Indices, ptr: NDArray[np.int64], n_classes: int) -> None:
    if n_classes != 2:
        raise PsephosError(f"scoring='auc' needs two classes; got {n_classes}. Use 'roc_auc_ovr'.")
    ones = np.add.reduceat(codes, ptr[:-1])
    lacking = np.flatnonzero((ones == 0) | (ones == np.diff(ptr)))
    if len(lacking):
        raise PsephosError(
            f"scoring='auc' needs both classes in every test part; that of split {lacking[0]} has "
            "one. Use fewer folds, or another measure."
        )


def _cost(given: Any, n_classes: int) -> Floats:
    try:
        cost = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        cost = np.empty(0)
    if not n_classes or cost.shape != (n_classes, n_classes) or not np.isfinite(cost).all():
        kinds = _CLASSES if n_classes else _NUMBERS
        costs = f", a matrix of costs of shape ({n_classes}, {n_classes})" if n_classes else ""
        raise PsephosError(
            f"scoring must be one of {', '.join(map(repr, kinds))}{costs}, or a scikit-learn "
            f"scorer; got {' '.join(repr(given).split())[:80]}."
        )
    return cost
