"""From out-of-fold scores to the error of every candidate: the measures that have a kernel."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.kernels.small_models.losses import (
    absolute_losses,
    area_losses,
    cost_losses,
    log_losses,
    squared_losses,
)
from psephos.models.swag.errors import Errors, Measure, summarise, tie_losses
from psephos.models.swag.problem import Folds
from psephos.models.swag.scorers import ScorerMeasure

__all__ = ["KernelMeasure", "make_measure"]

_Floats = NDArray[np.float64]

CLASS_MEASURES = ("error", "balanced_error", "log_loss", "auc")
NUMBER_MEASURES = ("squared_error", "absolute_error")
ALIASES = {
    "accuracy": "error",
    "balanced_accuracy": "balanced_error",
    "neg_log_loss": "log_loss",
    "roc_auc": "auc",
    "neg_mean_squared_error": "squared_error",
    "neg_mean_absolute_error": "absolute_error",
}


@dataclass(frozen=True)
class KernelMeasure:
    """A measure computed by a kernel.

    `y` (L,) is the truth of every test row, `share` (L,) how much of its split's mean it is, and
    `plain` (L,) the same for the log-loss that breaks ties. `cost` (n_classes, n_classes) is the
    cost of each (truth, answer), empty for measures other than 'cost'.
    """

    name: str
    y: NDArray[Any]
    share: _Floats
    plain: _Floats
    ptr: NDArray[np.int64]
    cost: _Floats

    def errors(self, scores: _Floats) -> Errors:
        """Return the errors of candidates from their out-of-fold scores (B, L, K)."""
        losses = np.empty((len(scores), len(self.ptr) - 1))
        if self.name == "cost":
            cost_losses(scores, self.y, self.cost, self.share, self.ptr, losses)
        else:
            _KERNELS[self.name](scores, self.y, self.share, self.ptr, losses)
        return summarise(losses, tie_losses(scores, self.y, self.plain, self.ptr))


_KERNELS: dict[str, Callable[..., None]] = {
    "log_loss": log_losses,
    "auc": area_losses,
    "squared_error": squared_losses,
    "absolute_error": absolute_losses,
}


def make_measure(
    scoring: Any,
    y: NDArray[Any],
    n_classes: int,
    weight: _Floats,
    folds: Folds,
    classes: NDArray[Any] | None = None,
) -> Measure:
    """Return the measure of error that ranks candidates.

    Parameters
    ----------
    scoring : str, array or callable, or None
        Classification: 'error' (None), the share of wrong answers; 'balanced_error', the mean of
        the classes' shares of wrong answers; 'log_loss'; 'auc', one minus the area under the ROC
        curve (two classes); a matrix (n_classes, n_classes) of costs, row the truth and column
        the answer. Regression: 'squared_error' (None) or 'absolute_error'. Else the name of a
        scikit-learn scorer or a callable ``scorer(estimator, X, y)``, greater is better, so that
        the error is its negative; scorers are called once a candidate and split, which is slow.
        scikit-learn's names of the measures above mean these (and are reported as errors).
    y : ndarray of shape (n,)
        Class codes, or numbers.
    n_classes : int
        0 for regression.
    weight : ndarray of shape (n,)
        How much each row counts in its split's mean.
    folds : Folds
    classes : ndarray of shape (n_classes,), default=None
        The labels that a scorer sees; default: the codes.

    Raises
    ------
    PsephosError
        If the measure is unknown, does not suit the target, or a test part lacks a class that it
        needs.
    """
    codes = np.ascontiguousarray(y[folds.test])
    weights = weight[folds.test]
    plain = _shares(weights, folds.test_ptr)
    default = "error" if n_classes else "squared_error"
    name: Any = default if scoring is None else scoring
    name = ALIASES.get(name, name) if isinstance(name, str) else name
    no_cost = np.empty((0, 0))
    if isinstance(name, str) and name in (CLASS_MEASURES if n_classes else NUMBER_MEASURES):
        if name == "error":
            cost = 1.0 - np.eye(n_classes)
            return KernelMeasure("cost", codes, plain, plain, folds.test_ptr, cost)
        if name == "balanced_error":
            share = _balanced_shares(codes, weights, folds.test_ptr, n_classes)
            return KernelMeasure("cost", codes, share, plain, folds.test_ptr, 1 - np.eye(n_classes))
        if name == "auc":
            _check_area(codes, folds.test_ptr, n_classes)
        return KernelMeasure(name, codes, plain, plain, folds.test_ptr, no_cost)
    if not isinstance(name, str) and not callable(name):
        cost = _cost(name, n_classes)
        return KernelMeasure("cost", codes, plain, plain, folds.test_ptr, cost)
    labels = np.arange(n_classes) if classes is None else classes
    return ScorerMeasure.of(name, codes, labels, weights, plain, folds)


def _shares(weight: _Floats, ptr: NDArray[np.int64]) -> _Floats:
    totals = np.add.reduceat(weight, ptr[:-1])
    return weight / np.repeat(totals, np.diff(ptr))


def _balanced_shares(
    codes: NDArray[np.intp], weight: _Floats, ptr: NDArray[np.int64], n_classes: int
) -> _Floats:
    """Return shares by which every class present in a split counts the same in it."""
    n_splits = len(ptr) - 1
    split = np.repeat(np.arange(n_splits), np.diff(ptr))
    totals = np.bincount(split * n_classes + codes, weight, n_splits * n_classes)
    present = (totals.reshape(n_splits, n_classes) > 0).sum(axis=1)
    return weight / totals[split * n_classes + codes] / present[split]


def _check_area(codes: NDArray[np.intp], ptr: NDArray[np.int64], n_classes: int) -> None:
    if n_classes != 2:
        raise PsephosError(
            f"scoring 'auc' is for two classes and there are {n_classes}: use 'roc_auc_ovr'."
        )
    ones = np.add.reduceat(codes, ptr[:-1])
    lacking = np.flatnonzero((ones == 0) | (ones == np.diff(ptr)))
    if len(lacking):
        raise PsephosError(
            f"scoring 'auc' needs both classes in every test part and that of split {lacking[0]} "
            "has one: use fewer folds, or another measure."
        )


def _cost(given: Any, n_classes: int) -> _Floats:
    try:
        cost = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        cost = np.empty(0)
    if not n_classes or cost.shape != (n_classes, n_classes) or not np.isfinite(cost).all():
        kinds = CLASS_MEASURES if n_classes else NUMBER_MEASURES
        costs = f", a matrix of costs of shape ({n_classes}, {n_classes})" if n_classes else ""
        raise PsephosError(
            f"scoring is {' '.join(repr(given).split())[:80]}; it must be one of "
            f"{', '.join(map(repr, kinds))}{costs}, or a scikit-learn scorer."
        )
    return cost
