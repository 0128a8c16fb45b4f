"""Which cases a model misses: all predicted probabilities, the threshold, and its mistakes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos._types import Array, Axes, ColumnLists, Floats, Label, LabelsLike, PerRow, TableLike
from psephos.estimator.columns import is_missing
from psephos.estimator.labels import codes_among
from psephos.explain.drawing import OTHER, POSITIVE, Display, case_names, plain
from psephos.figures import Confusion, Estimate, called, confusion, in_millionths
from psephos.figures.confusion import UNIT
from psephos.figures.estimate import numbers
from psephos.files.names import class_words, plural
from psephos.vote.seen import refuse_seen

_RADII = (3.2, 2.6, 2.1, 1.6)
_PUSHED = 6.0  # the greatest shift of a dot from its value before dots are made smaller


def dodged(
    answers: Sequence[int], width: float, height: float
) -> tuple[float, list[tuple[float, float]]]:
    """Return the radius of dots, and the (x, y) position of the dot of each probability.

    `answers` are in millionths. Dots that would overlap are stacked, at most to `height`; further
    ones are shifted towards the middle, so that stacks at both ends stay within the plot.
    """
    places: list[tuple[float, float]] = []
    for radius in _RADII:
        places, pushed = _placed(answers, width, height, radius)
        if pushed <= _PUSHED:
            break
    else:
        radius = _RADII[-1]
    return radius, places


def _placed(
    answers: Sequence[int], width: float, height: float, radius: float
) -> tuple[list[tuple[float, float]], float]:
    step = 2 * radius + 0.8
    rows = max(int(height // step), 1)
    places = [(0.0, 0.0)] * len(answers)
    pushed = 0.0
    order = sorted(range(len(answers)), key=lambda i: answers[i])
    low = [i for i in order if 2 * answers[i] <= UNIT]
    high = [i for i in reversed(order) if 2 * answers[i] > UNIT]
    for side, ones in ((1, low), (-1, high)):
        last = [-1e9] * rows
        for i in ones:
            at = answers[i] / UNIT * width * side  # mirrored for the right half
            row = next((r for r in range(rows) if at - last[r] >= step), -1)
            if row < 0:
                row = min(range(rows), key=lambda r: last[r])
                pushed = max(pushed, last[row] + step - at)
                at = last[row] + step
            last[row] = at
            places[i] = (at * side, radius + row * step)
    return places, pushed


_WIDTH, _LANE = 780.0, 96.0  # width and height of the area of a lane's dots


@dataclass(frozen=True)
class MissedDisplay(Display):
    """Predicted probabilities of all cases by class, and the mistakes at a threshold.

    `plot` draws a dot for each case, a lane for each class, and the threshold with its four counts.

    The cases must not have been used to fit the model; otherwise the counts are optimistic.

    Parameters
    ----------
    positive : ndarray of shape (n,), bool
        Mask of the cases of the positive class.
    answers : ndarray of shape (n,)
        Predicted probabilities of the positive class.
    threshold : float
        A case is called positive from this probability on (`psephos.figures.called`).
    counts : Confusion
        ``found``, ``missed``, ``alarms``, ``cleared``, and the measures with 95 % intervals.
    names : tuple of two str
        The positive class and the other.
    estimator_name : str
    ids : tuple of str
        Names of the cases.
    groups : ndarray of shape (n,) or None
        The group of each case, such as the patient.

    Examples
    --------
    >>> from psephos.explain import MissedDisplay
    >>> truth = ["ill", "ill", "ill", "well", "well"]
    >>> display = MissedDisplay.from_predictions(truth, [0.9, 0.6, 0.2, 0.1, 0.7], pos_label="ill")
    >>> print(display)
    From 0.5 on called ill: 2 of 3 ill found, 1 missed; 1 of 2 well cleared, 1 false alarm.
    >>> display.at(0.15).counts.missed
    0
    """

    positive: NDArray[np.bool_]
    answers: Floats
    threshold: float
    counts: Confusion
    names: tuple[str, str]
    estimator_name: str
    ids: tuple[str, ...]
    groups: Array | None = None
    _size = (9, 4)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: TableLike,
        y: LabelsLike,
        *,
        pos_label: Label | None = None,
        threshold: float = 0.5,
        groups: PerRow = None,
        ids: LabelsLike | None = None,
        name: str | None = None,
    ) -> Self:
        """Return the display of a fitted classifier on held-out cases.

        Parameters
        ----------
        estimator : fitted classifier with ``predict_proba`` and two classes
            Of psephos or scikit-learn.
        X : array or data frame of shape (n_samples, n_features)
            Cases that it was not fitted on.
        y : array of shape (n_samples,)
        pos_label : label, default=None
            The positive class; None: the second of ``classes_``.
        threshold : float, default=0.5
        groups, ids : array of shape (n_samples,), default=None
        name : str, default=None
            Name of the model; None: its class.

        Raises
        ------
        PsephosError
            If the estimator does not have two classes, `pos_label` or a true class is not one of
            them, or X has rows that it was fitted or calibrated on, as far as it keeps them.
        """
        classes: list[Any] = np.asarray(getattr(estimator, "classes_", ())).tolist()
        if len(classes) != 2 or not hasattr(estimator, "predict_proba"):
            raise PsephosError(
                "estimator must be a classifier with two classes and predict_proba; got "
                f"{type(estimator).__name__}. Or pass the probabilities of one class to "
                "from_predictions."
            )
        label = classes[1] if pos_label is None else pos_label
        if label not in classes:
            raise PsephosError(f"pos_label must be one of {classes}; got {label!r}.")
        unknown = [one for one in dict.fromkeys(_labels(y).tolist()) if one not in classes]
        if unknown:
            raise PsephosError(f"y must hold classes of the model, {classes}; got {unknown[0]!r}.")
        if hasattr(estimator, "_values"):
            values = estimator._values(X)
            codes = codes_among(estimator.classes_, values, y)
            refuse_seen(estimator, values, "MissedDisplay", codes)
        chances = np.asarray(estimator.predict_proba(X))[:, classes.index(label)]
        return cls.from_predictions(
            y, chances, pos_label=label, threshold=threshold, groups=groups, ids=ids,
            name=name or type(estimator).__name__,
            other=class_words(str(classes[1 - classes.index(label)])),
        )  # fmt: skip

    @classmethod
    def from_predictions(
        cls,
        y_true: LabelsLike,
        y_proba: Any,
        *,
        pos_label: Label | None = None,
        threshold: float = 0.5,
        groups: PerRow = None,
        ids: Any = None,
        name: str = "Classifier",
        other: str | None = None,
    ) -> Self:
        """Return the display of predicted probabilities.

        Those of a study are in its predictions.csv, those of a validation in
        ``frame("predictions")``.

        Parameters
        ----------
        y_true : array of shape (n_samples,)
            The true classes; all except `pos_label` share a lane.
        y_proba : array of shape (n_samples,)
            Probabilities of `pos_label`.
        pos_label : label, default=None
            None: the greater of two labels.
        threshold : float, default=0.5
        groups : array of shape (n_samples,), default=None
            Groups of cases: intervals take groups as independent, not the cases within them.
        ids : array of shape (n_samples,), default=None
            Names of the cases; None: their positions.
        name : str, default='Classifier'
            Name of the model.
        other : str, default=None
            Name of the other cases; None: their class if there is one, else 'others'.

        Raises
        ------
        PsephosError
            If lengths differ, a true class is missing, a probability is not from 0 to 1, or
            `pos_label` must be given or is not a class of `y_true`.
        """
        truth, answers = _labels(y_true), numbers(y_proba, "y_proba")
        if truth.shape != answers.shape or not len(truth):
            raise PsephosError(
                "y_true and y_proba must have one entry per case; got shapes"
                f" {truth.shape} and {answers.shape}."
            )
        if not ((answers >= 0) & (answers <= 1)).all():
            raise PsephosError("y_proba must hold probabilities from 0 to 1.")
        if not isinstance(threshold, int | float | np.number) or not 0 <= threshold <= 1:
            raise PsephosError(f"threshold must be from 0 to 1; got {threshold!r}.")
        labels: list[Any] = sorted(set(truth.tolist()))
        if pos_label is None and len(labels) != 2:
            raise PsephosError(f"pos_label must be given, since y_true has {len(labels)} classes.")
        label: Any = labels[1] if pos_label is None else pos_label
        if label not in labels and len(labels) > 1:
            raise PsephosError(f"pos_label must be one of {labels}; got {label!r}.")
        rest = [class_words(str(one)) for one in labels if one != label]
        names = class_words(str(label)), other or (rest[0] if len(rest) == 1 else "others")
        positive = truth == label
        cases = case_names(ids, len(truth))
        counts = confusion(positive, called(answers, threshold), groups)
        return cls(
            positive, answers, float(threshold), counts, names, name, cases,
            None if groups is None else np.asarray(groups),
        )  # fmt: skip

    def at(self, threshold: float) -> Self:
        """Return the same cases at another threshold."""
        label, other = self.names
        return type(self).from_predictions(
            np.where(self.positive, label, other), self.answers, pos_label=label, other=other,
            threshold=threshold, groups=self.groups, ids=self.ids, name=self.estimator_name,
        )  # fmt: skip

    def table(self) -> ColumnLists:
        """Return one entry per case, mistakes first, those farthest from the threshold on top.

        Keys: ``case``, ``class``, ``answer`` (the probability), ``called`` (the predicted class)
        and ``outcome``: 'missed', 'false alarm', 'found' or 'cleared'.
        """
        yes = called(self.answers, self.threshold)
        wrong = yes != self.positive
        far = np.abs(self.answers - self.threshold)
        order = np.lexsort((np.arange(len(far)), -far, ~wrong)).tolist()
        words = (("cleared", "false alarm"), ("missed", "found"))
        return {
            "case": [self.ids[i] for i in order],
            "class": [self.names[0 if self.positive[i] else 1] for i in order],
            "answer": self.answers[order].tolist(),
            "called": [self.names[0 if yes[i] else 1] for i in order],
            "outcome": [words[int(self.positive[i])][int(yes[i])] for i in order],
        }

    def measures(self) -> ColumnLists:
        """Return one entry per measure: ``measure``, ``value``, ``low``, ``high``, ``hits``, ``n``.

        The measures are sensitivity, specificity, and the predictive values at the prevalence among
        these cases; NaN where no case is called so.
        """
        c = self.counts
        found: list[tuple[str, Estimate]] = [
            ("sensitivity", c.sensitivity), ("specificity", c.specificity),
            ("PPV", c.ppv), ("NPV", c.npv),
        ]  # fmt: skip
        return {
            "measure": [name for name, _ in found],
            **{k: [getattr(one, k) for _, one in found] for k in ("value", "low", "high")},
            "hits": [max(one.hits, 0) for _, one in found],
            "n": [one.n for _, one in found],
        }

    def __str__(self) -> str:
        """Return the counts in a sentence."""
        c, (pos, neg) = self.counts, self.names
        return (
            f"From {self.threshold:g} on called {pos}: {c.found} of {c.found + c.missed} {pos} "
            f"found, {c.missed} missed; {c.cleared} of {c.alarms + c.cleared} {neg} cleared, "
            f"{plural(c.alarms, 'false alarm')}."
        )

    def _draw(self, axes: Axes) -> None:
        c, yes = self.counts, called(self.answers, self.threshold)
        ends = (("missed", "found"), ("cleared", "false alarms"))
        numbers = ((c.missed, c.found), (c.cleared, c.alarms))
        for lane, (name, colour) in enumerate(zip(self.names, (POSITIVE, OTHER), strict=True)):
            mine = self.positive == (lane == 0)
            units = in_millionths(self.answers[mine]).tolist()
            radius, places = dodged(units, _WIDTH, _LANE)
            base, wrong = (1 - lane) * 1.35, yes[mine] != (lane == 0)
            x, y = np.array(places).reshape(-1, 2).T
            axes.scatter(x / _WIDTH, base + y / _LANE, s=(2 * radius) ** 2 / 2, color=colour,
                         edgecolors=["black" if bad else colour for bad in wrong])  # fmt: skip
            (left, right), (low, high) = numbers[lane], ends[lane]
            axes.text(0, base + 1.1, f"{left} {low}", color=colour)
            axes.text(1, base + 1.1, f"{right} {high}", color=colour, ha="right")
            axes.text(-0.02, base, plain(name), color=colour, ha="right")
        axes.axvline(self.threshold, color="black")
        axes.set(xlim=(-0.01, 1.01), ylim=(-0.1, 2.65), yticks=[],
                 xlabel=plain(f"probability of {self.names[0]}"),
                 title=plain(self.estimator_name))  # fmt: skip


def _labels(y_true: LabelsLike) -> NDArray[Any]:
    """Return true classes as an array; raise if one is missing."""
    labels = np.asarray(y_true)
    if labels.ndim != 1:
        raise PsephosError(f"y_true must have one class per case; got shape {labels.shape}.")
    gone = [i for i, one in enumerate(labels.tolist()) if is_missing(one)]
    if gone:
        raise PsephosError(
            f"y_true is missing in {len(gone)} of {labels.size} rows, such as row {gone[0]}: leave "
            "them out."
        )
    return labels
