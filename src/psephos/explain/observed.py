"""Predicted against observed numbers: every case, the worst, and where errors are greatest."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos._types import Array, ArrayLike, Axes, ColumnLists, Floats, PerRow
from psephos.estimator.labels import read_groups
from psephos.estimator.params import Interval, check_values
from psephos.explain.drawing import OTHER, Display, case_names, plain
from psephos.figures import Estimate, mean
from psephos.figures.estimate import numbers
from psephos.files.names import number, plural, sum_digits, value_text

_LEAST, _MOST = 10, 5  # cases of a part of the range, and parts


class RangeErrors(NamedTuple):
    """A part of the range of observed numbers: above `low` and up to `high`, and its errors."""

    low: float  # minus infinity of the first
    high: float
    n: int
    n_groups: int | None
    size: Estimate  # the mean absolute error
    shift: float  # the mean of predicted less observed
    rest: float  # the mean absolute error of all other cases

    def words(self) -> str:
        """Return 'up to 16', 'above 16, up to 23' or 'above 23'."""
        low, high = (value_text(one, 12) for one in (self.low, self.high))
        above = "" if math.isinf(self.low) else f"above {low}"
        return ", ".join(filter(None, (above, "" if math.isinf(self.high) else f"up to {high}")))


@dataclass(frozen=True)
class ObservedDisplay(Display):
    """Predicted numbers against observed ones, case by case.

    `plot` draws a dot a case on the diagonal of right predictions, with the interval that the model
    states, if any. Predictions must be of cases that the model was not fitted on; otherwise errors
    flatter.

    Parameters
    ----------
    observed, predicted : ndarray of shape (n,)
        Of several predictions of a case, `predicted` has their mean.
    sizes : ndarray of shape (n,)
        Absolute errors; of several predictions of a case the mean of theirs.
    stated : ndarray of shape (n, 2) or None
        The interval that the model states of each case.
    estimator_name : str
    ids : tuple of str
        What cases are called.
    groups : ndarray of shape (n,) or None
        Cases that belong together.

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
            Of cases that were predicted several times a column each time, NaN where it was not.
        stated, groups, ids, name
            As the attributes; cases without ids are called by their positions.

        Raises
        ------
        PsephosError
            If shapes differ, or a case has no observed or no predicted number.
        """
        observed, each = numbers(y_true, "y_true"), numbers(y_pred, "y_pred")
        n = observed.size
        if observed.shape != (n,) or each.ndim not in (1, 2) or len(each) != n or not each.size:
            raise PsephosError(
                "y_true must have one number a case, and y_pred one or a row of several; got "
                f"shapes {observed.shape} and {each.shape}."
            )
        each = each.reshape(n, -1)
        gone = np.isnan(each).all(axis=1) | ~np.isfinite(observed) | np.isinf(each).any(axis=1)
        if gone.any():
            raise PsephosError(
                f"row {int(gone.argmax())} of y_true or y_pred is not finite: leave it out."
            )
        ends = None if stated is None else numbers(stated, "stated")
        if ends is not None and (ends.shape != (n, 2) or (ends[:, 0] > ends[:, 1]).any()):
            raise PsephosError(
                f"stated must have a low and a high end for each of {plural(n, 'case')}, none below"
                f" the other; got shape {ends.shape}."
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
        """Return one entry a case, the greatest errors first.

        ``case``, ``observed``, ``predicted``, ``error`` (predicted less observed), ``low`` and
        ``high`` (the interval that the model states; NaN of one that states none).
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

    def parts(self, unit: float = 0.0) -> list[RangeErrors]:
        """Return the errors in up to five parts of the range of observed numbers, alike in size.

        None is of fewer than ten cases. Ends are rounded: to three figures, more where they are
        close, or to multiples of `unit`. Intervals are those of `psephos.figures.mean`, in which
        groups are independent.
        """
        check_values("parts", {"unit": unit}, {"unit": Interval(0)})
        y, k = self.observed, min(_MOST, len(self.observed) // _LEAST)
        cuts = np.quantile(y, np.arange(1, max(k, 1)) / max(k, 1))
        digits = sum_digits(float(np.abs(y).max()), float(np.ptp(y))) - 1
        rounded = np.round(cuts / unit) * unit if unit else [float(f"{v:.{digits}g}") for v in cuts]
        ends, before = [-math.inf], 0
        for end in np.unique(rounded).tolist():
            below = int((y <= end).sum())
            if below - before >= _LEAST and len(y) - below >= _LEAST:
                ends, before = [*ends, end], below
        return [self._part(*one) for one in zip(ends, [*ends[1:], math.inf], strict=True)]

    def _part(self, low: float, high: float) -> RangeErrors:
        mine = (self.observed > low) & (self.observed <= high)
        own = None if self.groups is None else self.groups[mine]
        rest = float(self.sizes[~mine].mean()) if (~mine).any() else math.nan
        shift, size = float((self.predicted - self.observed)[mine].mean()), self.sizes[mine]
        n_groups = None if own is None else len(np.unique(own))
        return RangeErrors(low, high, len(size), n_groups, mean(size, own), shift, rest)

    def covered(self) -> NDArray[np.bool_]:
        """Return which observed numbers lie within the stated intervals; none without these."""
        low, high = np.full((2, len(self.ids)), np.nan) if self.stated is None else self.stated.T
        return (self.observed >= low) & (self.observed <= high)

    def __str__(self) -> str:
        """Return the mean and the greatest error in a sentence."""
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
