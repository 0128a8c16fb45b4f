"""Measures of a regressor's predictions: errors, and scores of predicted distributions."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Floats, Values
from psephos.models.prototypes.mixture import NormalMixture

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
