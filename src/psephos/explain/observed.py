"""Predicted against observed numbers: every case, and the errors by part of the range."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos._types import Array, ArrayLike, Axes, ColumnLists, Floats, PerRow
from psephos.estimator.labels import read_groups
from psephos.estimator.params import Interval, Options, check_values
from psephos.explain.drawing import OTHER, Display, case_names, plain
from psephos.figures import Estimate, mean
from psephos.figures.estimate import numbers
from psephos.files.names import number, plural, sum_digits, value_text

_LEAST, _MOST = 10, 5  # the least cases of a part of the range, and the most parts


class RangeErrors(NamedTuple):
    """The errors of the cases whose observed number, or prediction, is in (`low`, `high`]."""

    low: float  # minus infinity in the first part
    high: float
    n: int
    n_groups: int | None
    size: Estimate  # the mean absolute error
    shift: float  # the mean of predicted - observed
    rest: float  # the mean absolute error of all other cases

    def words(self) -> str:
        """Return the range as 'up to 16', 'above 16, up to 23' or 'above 23'."""
        low, high = (value_text(one, 12) for one in (self.low, self.high))
        above = "" if math.isinf(self.low) else f"above {low}"
        return ", ".join(filter(None, (above, "" if math.isinf(self.high) else f"up to {high}")))


@dataclass(frozen=True)
class ObservedDisplay(Display):
    """Predicted against observed numbers, case by case.

    `plot` draws a dot for each case, the diagonal of correct predictions, and prediction intervals
    if the model states any. The cases must not have been used to fit the model; otherwise errors
    are optimistic.

    Parameters
    ----------
    observed, predicted : ndarray of shape (n,)
        For several predictions of a case, `predicted` has their mean.
    sizes : ndarray of shape (n,)
        Absolute errors; for several predictions of a case, their mean.
    stated : ndarray of shape (n, 2) or None
        The model's prediction interval for each case.
    estimator_name : str
    ids : tuple of str
        Names of the cases.
    groups : ndarray of shape (n,) or None
        The group of each case, such as the patient.

    Examples
    --------
    >>> from psephos.explain import ObservedDisplay
    >>> display = ObservedDisplay.from_predictions([1.0, 2.0, 4.0], [1.5, 2.0, 3.0])
    >>> display.table()["error"]
    [-1.0, 0.5, 0.0]
    >>> print(display)
    Mean absolute error 0.5 over 3 cases; the greatest error is -1, of case 2.
    """

    observed: Floats
    predicted: Floats
    sizes: Floats
    stated: Floats | None
    estimator_name: str
    ids: tuple[str, ...]
    groups: Array | None = None
    _size = (5, 5)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        stated: ArrayLike | None = None,
        groups: PerRow = None,
        ids: Sequence[object] | None = None,
        name: str = "Regressor",
    ) -> Self:
        """Return the display of predictions.

        Parameters
        ----------
        y_true : array of shape (n_samples,)
        y_pred : array of shape (n_samples,) or (n_samples, n_times)
            Several columns for cases that were predicted several times, NaN where one was not.
        stated, groups, ids, name
            As the attributes; without `ids`, cases are named by their positions.

        Raises
        ------
        PsephosError
            If shapes do not match, or a case lacks an observed or a predicted number.
        """
        observed, each = numbers(y_true, "y_true"), numbers(y_pred, "y_pred")
        n = observed.size
        if observed.shape != (n,) or each.ndim not in (1, 2) or len(each) != n or not each.size:
            raise PsephosError(
                "y_true must have one number per case, and y_pred one number or one row; got "
                f"shapes {observed.shape} and {each.shape}."
            )
        each = each.reshape(n, -1)
        gone = np.isnan(each).all(axis=1) | ~np.isfinite(observed) | np.isinf(each).any(axis=1)
        if gone.any():
            raise PsephosError(
                f"y_true and y_pred must be finite; row {int(gone.argmax())} is not: leave it out."
            )
        ends = None if stated is None else numbers(stated, "stated")
        if ends is not None and (ends.shape != (n, 2) or (ends[:, 0] > ends[:, 1]).any()):
            raise PsephosError(
                f"stated must have a low and a high end, low <= high, for each of "
                f"{plural(n, 'case')}; got shape {ends.shape}."
            )
        sizes = np.nanmean(np.abs(each - observed[:, None]), axis=1)
        return cls(
            observed, np.nanmean(each, axis=1), sizes, ends, name, case_names(ids, n),
            read_groups(groups, n),
        )  # fmt: skip

    @property
    def order(self) -> list[int]:
        """Return the positions of cases, the greatest error first."""
        return np.argsort(-np.abs(self.predicted - self.observed), kind="stable").tolist()

    def table(self) -> ColumnLists:
        """Return one entry per case, the greatest errors first.

        Keys: ``case``, ``observed``, ``predicted``, ``error`` (predicted - observed), ``low`` and
        ``high`` (the prediction interval; NaN for a model without intervals).
        """
        order = self.order
        ends = np.full((len(order), 2), np.nan) if self.stated is None else self.stated[order]
        return {
            "case": [self.ids[i] for i in order],
            "observed": self.observed[order].tolist(),
            "predicted": self.predicted[order].tolist(),
            "error": (self.predicted - self.observed)[order].tolist(),
            "low": ends[:, 0].tolist(),
            "high": ends[:, 1].tolist(),
        }

    def parts(self, unit: float = 0.0, by: str = "observed") -> list[RangeErrors]:
        """Return the errors in up to five parts of the range, of about equal numbers of cases.

        A part has at least ten cases, unless there are fewer in all. Ends are rounded to three
        digits, to more where they are close, or to multiples of `unit`. Intervals are those of
        `psephos.figures.mean`, which takes groups as independent.

        Parameters
        ----------
        unit : float, default=0.0
        by : {'observed', 'predicted'}, default='observed'
            The numbers whose range is divided. A new case has a prediction alone.
        """
        rules = {"unit": Interval(0), "by": Options(("observed", "predicted"))}
        check_values("parts", {"unit": unit, "by": by}, rules)
        y, k = getattr(self, by), min(_MOST, len(self.observed) // _LEAST)
        cuts = np.quantile(y, np.arange(1, max(k, 1)) / max(k, 1))
        digits = sum_digits(float(np.abs(y).max()), float(np.ptp(y))) - 1
        rounded = np.round(cuts / unit) * unit if unit else [float(f"{v:.{digits}g}") for v in cuts]
        ends, before = [-math.inf], 0
        for end in np.unique(rounded).tolist():
            below = int((y <= end).sum())
            if below - before >= _LEAST and len(y) - below >= _LEAST:
                ends, before = [*ends, end], below
        return [self._part(y, *one) for one in zip(ends, [*ends[1:], math.inf], strict=True)]

    def _part(self, y: Floats, low: float, high: float) -> RangeErrors:
        mine = (y > low) & (y <= high)
        own = None if self.groups is None else self.groups[mine]
        rest = float(self.sizes[~mine].mean()) if (~mine).any() else math.nan
        shift, size = float((self.predicted - self.observed)[mine].mean()), self.sizes[mine]
        n_groups = None if own is None else len(np.unique(own))
        return RangeErrors(low, high, len(size), n_groups, mean(size, own), shift, rest)

    def covered(self) -> NDArray[np.bool_]:
        """Return a mask of the cases whose observed number lies within the stated interval."""
        low, high = np.full((2, len(self.ids)), np.nan) if self.stated is None else self.stated.T
        return (self.observed >= low) & (self.observed <= high)

    def __str__(self) -> str:
        """Return the mean and the greatest error as a sentence."""
        i = self.order[0]
        return (
            f"Mean absolute error {number(float(self.sizes.mean()))} over"
            f" {plural(len(self.ids), 'case')}; the greatest error is"
            f" {number(float(self.predicted[i] - self.observed[i]))}, of case {self.ids[i]}."
        )

    def _draw(self, axes: Axes) -> None:
        ends = np.array([self.observed, self.predicted])
        axes.plot(*[[ends.min(), ends.max()]] * 2, color="black", lw=1)
        if self.stated is not None:
            axes.vlines(self.observed, *self.stated.T, color="0.8", lw=1)
        axes.scatter(self.observed, self.predicted, s=12, color=OTHER)
        axes.set(xlabel="observed", ylabel="predicted", title=plain(self.estimator_name))
