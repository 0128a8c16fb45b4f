"""How good the answers of a regressor are: errors, and measures of distributions."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Floats, Values
from psephos.models.prototypes.mixture import NormalMixture

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)  # of the quantiles that are kept of a stated distribution


class NumberAnswers(NamedTuple):
    """A model's answers to some rows, where the target is a number."""

    predicted: Floats  # (n,)
    stated: NormalMixture | None = None  # the distribution it states; None of most models
    quantiles: Floats | None = None  # (n, 5), of LEVELS


def number_answers_of(model: Any, X: Values) -> NumberAnswers:
    """Return the answers of a regressor, and the distribution it states, if it does.

    That is what its method `distribution` returns (`psephos.ProsetRegressor`).
    """
    predicted = np.asarray(model.predict(X), dtype=np.float64)
    if predicted.shape != (X.shape[0],) or not np.isfinite(predicted).all():
        raise PsephosError(
            f"the model answers with what is not a finite number a row for {X.shape[0]} rows."
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
    """Return max(q e, (q - 1) e) with e = truth - quantile, its mean over rows and levels q."""
    if answers.quantiles is None:
        return None
    off, level = truth[:, None] - answers.quantiles, np.array(LEVELS)
    return float(np.maximum(level * off, (level - 1) * off).mean())


def mean_crps(answers: NumberAnswers, truth: Floats) -> float | None:
    """Return the mean CRPS of the distributions, None without one."""
    return None if answers.stated is None else float(answers.stated.crps(truth).mean())


def of_points(
    measured: Callable[[NumberAnswers, Floats], float | None],
) -> Callable[[NumberAnswers, Floats], float | None]:
    """Return a measure that takes a prediction without a distribution as one of that point.

    The pinball loss has it as each quantile, and the CRPS of a point is the absolute error.
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
    """Return the share of rows within the outer quantiles, None without them."""
    if answers.quantiles is None:
        return None
    low, high = answers.quantiles[:, 0], answers.quantiles[:, -1]
    return float(((low <= truth) & (truth <= high)).mean())
