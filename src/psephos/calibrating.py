"""Calibration of a fitted classifier's probabilities on held-out rows."""

import warnings
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.optimize
import scipy.special
from sklearn.isotonic import IsotonicRegression

from psephos._errors import PsephosError, must_be
from psephos._types import Floats, NDArray, PerRow, TableLike
from psephos.base import VoteClassifier
from psephos.estimator.labels import codes_among, read_sample_weight
from psephos.figures.calibration import likeliest
from psephos.files.names import fixed
from psephos.vote.calibration import ClassVotes, Isotonic, Sigmoid, Temperature, log_odds, moved
from psephos.vote.importance import SampleRows
from psephos.vote.seen import refuse_seen, summary_of
from psephos.vote.threshold import at_threshold as vote_at
from psephos.vote.threshold import with_calibration

_METHODS = ("sigmoid", "isotonic", "temperature")
_LEVEL = 1e-6  # a map with a smaller slope, or a smaller rise, counts as constant
_WIDEST = 5.0  # the bound of the logarithm of a temperature
LEAST = 1e-15  # probability of the true class in a log-loss, at least


def calibrate(
    model: Any, X: TableLike, y: Any, method: str = "sigmoid", sample_weight: PerRow = None
) -> Any:
    """Return a classifier whose probabilities are calibrated on held-out rows.

    Its voters, weights and score stay the same; `predict_proba` and `predict` use the calibrated
    probabilities. An earlier calibration of the model is replaced. `class_votes` of a
    `VotingClassifier` are kept, and weight the calibrated probabilities: the prediction is
    argmax_k v_k p_k(x) with calibrated p, and `predict_proba` returns these products divided by
    their sum (for plain probabilities fit it without class votes).

    Parameters
    ----------
    model : fitted VoteClassifier
        It is not changed.
    X : array, data frame or sparse table of shape (n_samples, n_features)
        Rows the model was not fitted on: on its training rows its probabilities are too extreme.
        Training rows are rejected as far as the model keeps them: up to 512 rows, or a summary of
        their columns if it was loaded from a file.
    y : array of shape (n_samples,)
        Their labels; every class of the model must be among them.
    method : {'sigmoid', 'isotonic', 'temperature'}, default='sigmoid'
        sigmoid (Platt): 1 / (1 + exp(-(a logit(p) + b))) for each class, a >= 0, with the labels
        smoothed as in the source. isotonic: any non-decreasing map, for each class; it needs
        hundreds of rows, and may return exactly 0 or 1, where a single row of another class makes
        the log-loss infinite. temperature: p to the power 1 / t, one t for all classes.
        Probabilities of more than two classes are then divided by their sum.
    sample_weight : array of shape (n_samples,), default=None
        Relative weights of the rows: they are divided by their mean over the rows with weight. A
        row of weight 2 equals the same row twice for isotonic, and nearly so for sigmoid and
        temperature, whose limits (see Notes) depend on the number of rows.

    Returns
    -------
    calibrated : VoteClassifier

    Raises
    ------
    PsephosError
        If the model is not a fitted single-label classifier, the rows are training rows, a label
        is not one of its classes, a class has no rows, or the method is unknown.

    Warns
    -----
    UserWarning
        If the best map would be decreasing and a constant replaces it (sigmoid: a = 0), if a
        temperature is at its limit, e^-5 or e^5, or if the map does not lower the log-loss of the
        rows that it was fitted on.

    Notes
    -----
    Shares of a vote may be exactly 0 or 1, whose log-odds are infinite. For sigmoid and temperature
    each probability is first moved to (n p + 1) / (n + 2), in fitting and in prediction: n rows
    cannot show a probability below about 1 / (n + 2), the target that Platt's smoothing gives to n
    rows of one class. The order of probabilities does not change.

    References
    ----------
    Platt (1999), "Probabilistic outputs for support vector machines". Zadrozny & Elkan (2002),
    "Transforming classifier scores into accurate multiclass probability estimates". Guo, Pleiss,
    Sun & Weinberger (2017), "On calibration of modern neural networks".

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from psephos import SamBAClassifier, calibrate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SamBAClassifier(n_estimators=3).fit(X[:300], y[:300])
    >>> sure = calibrate(model, X[300:450], y[300:450])
    >>> sure.predict_proba(X[450:]).shape
    (119, 2)
    """
    must_be("method", method, _METHODS)
    target: Any = getattr(getattr(model, "vote_", None), "target", None)
    if not isinstance(model, VoteClassifier) or target is None or target.kind == "multilabel":
        raise PsephosError(f"{type(model).__name__} is not a fitted single-label classifier.")
    plain = replace(model.vote_.readout, calibration=None)
    vote = replace(model.vote_, readout=plain)
    values = model._values(X)
    chances = plain.probabilities(vote.score(values), vote.target)
    if np.ndim(y) == 1 and len(y) != len(chances):
        raise PsephosError(f"y has {len(y)} labels for {len(chances)} rows.")
    codes = codes_among(model.classes_, chances, y)
    weight = _of_mean_one(read_sample_weight(sample_weight, len(codes)))
    truth = np.eye(len(model.classes_))[codes]
    without = truth.T @ weight <= 0
    if without.any():
        label = model.classes_.tolist()[int(without.argmax())]
        raise PsephosError(f"no row is of class {label!r}: calibration needs rows of every class.")
    refuse_seen(model, values, "calibrate", codes, calibrated=False)
    calibrated = copy(model)
    calibrated.recalibration_ = None  # it belongs to the uncalibrated probabilities
    calibrated._calibration_rows = rows = SampleRows.of(vote, values, codes)
    calibrated._calibrated_on = summary_of(model, rows)
    calibration: Any = fitted_map(chances, truth, weight, method)
    own = (chances, calibration.chances(chances, apart=False))
    losses = [losses_of(codes, one, weight)[0] for one in own]
    _warn_of_limits(calibration, model.classes_.tolist(), *losses)
    before = model.vote_.readout.calibration
    if isinstance(before, ClassVotes):
        calibration = replace(before, of=calibration)
    calibrated.vote_ = with_calibration(vote, calibration)
    return calibrated


def at_threshold(model: Any, threshold: float, positive: Any = None) -> Any:
    """Return a classifier that predicts a class if its probability is at least a threshold.

    Probabilities, scores and ballots stay the same; `predict`, exports and the model file use the
    threshold. Fitting the returned model again drops it.

    Parameters
    ----------
    model : fitted VoteClassifier of two classes
        It is not changed.
    threshold : float
        Above 0 and below 1. Choose it by the costs of errors, or on held-out rows.
    positive : label, default=None
        The class; None: the second of `classes_`.

    Returns
    -------
    decided : VoteClassifier

    Raises
    ------
    PsephosError
        If the model is not a fitted classifier of two classes, the label is not one of them, or
        the threshold is not between 0 and 1.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from psephos import SamBAClassifier, at_threshold
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SamBAClassifier(n_estimators=3).fit(X, y)
    >>> cautious = at_threshold(model, 0.2, positive=0)  # 0 is malignant
    >>> int((cautious.predict(X) == 0).sum()) >= int((model.predict(X) == 0).sum())
    True
    """
    if not isinstance(model, VoteClassifier) or not hasattr(model, "vote_"):
        raise PsephosError(f"{type(model).__name__} is not a fitted classifier of psephos.")
    labels = [] if model.multilabel else model.classes_.tolist()
    if positive is not None and positive not in labels:
        raise PsephosError(f"positive must be one of {labels}; got {positive!r}.")
    place = 1 if positive is None else labels.index(positive)
    decided = copy(model)
    decided.vote_ = vote_at(model.vote_, threshold, place)
    return decided


def fitted_map(
    chances: Floats, truth: Floats, weight: Floats, method: str
) -> Sigmoid | Isotonic | Temperature:
    """Return the calibration map that a method fits to probabilities (n, K).

    `truth` (n, K) is 1 in the column of the class of the row, else 0.
    """
    found = {"sigmoid": _sigmoid, "isotonic": _isotonic, "temperature": _temperature}[method]
    return found(chances, truth, weight)


def _warn_of_limits(found: Any, classes: list[Any], before: float, after: float) -> None:
    """Warn if a map is at the limit of the search, or does not lower the log-loss."""
    remedy = "Check that y belongs to X, and that the model was not fitted on other labels; or"
    level = [repr(label) for k, label in enumerate(classes) if _is_level(found, k)]
    if isinstance(found, Temperature) and abs(np.log(found.t)) >= _WIDEST - 1e-3:
        why = (
            "makes the probabilities of all classes nearly equal: they are not related to these "
            "labels, or rank them in reverse"
            if found.t > 1
            else "makes nearly every probability 0 or 1: the model is right on (nearly) all rows"
        )
        words = f"the temperature is at its limit, t = {found.t:.4g}, which {why}"
    elif level:
        words = (
            f"on these rows a higher probability of class {' and of '.join(level)} does not mean "
            "more rows of it: the best non-decreasing map is a constant"
        )
    elif after >= before:
        words = (
            f"the {type(found).__name__.lower()} map does not lower the log-loss of the rows that "
            f"it was fitted on ({fixed(before, 4)} before, {fixed(after, 4)} after): they do "
            "not show that calibration is needed"
        )
        remedy = "Leave the model as it is, or"
    else:
        return
    words = f"calibrate: {words}. {remedy} give more rows that it was not fitted on."
    warnings.warn(words, UserWarning, stacklevel=3)


def _is_level(found: Any, k: int) -> bool:
    """Return whether the map of a class is constant."""
    if isinstance(found, Sigmoid):
        return bool(found.slope[k] < _LEVEL)
    return isinstance(found, Isotonic) and bool(np.ptp(found.told[k]) < _LEVEL)


def _of_mean_one(weight: Floats) -> Floats:
    """Return weights scaled so that their sum is the number of rows with weight."""
    share = weight / weight.max(initial=1e-320)
    return share * (np.count_nonzero(share) / max(float(share.sum()), 1e-320))


def _least(weight: Floats) -> float:
    """Return 1 / (n + 2), the least probability that rows distinguish from 0, as Platt's targets.

    n is the sum of weights: in `calibrate` the number of rows with weight, and in a recalibration
    the number of cases, where the rows of a case together count once.
    """
    return 1.0 / (float(weight.sum()) + 2.0)


def _maps_of_classes(fit: Any, mirror: Any, n_classes: int) -> list[Any]:
    """Return a map for each class; for two, that of the second and its mirror: they sum to 1."""
    if n_classes != 2:
        return [fit(k) for k in range(n_classes)]
    second = fit(1)
    return [mirror(second), second]


def _sigmoid(chances: Floats, truth: Floats, weight: Floats) -> Sigmoid:
    least = _least(weight)
    odds = log_odds(chances, least)
    maps = _maps_of_classes(
        lambda k: _platt(odds[:, k], truth[:, k], weight), lambda m: (m[0], -m[1]), odds.shape[1]
    )
    slope, offset = zip(*maps, strict=True)
    return Sigmoid(np.array(slope), np.array(offset), least)


def _platt(odds: Floats, truth: Floats, weight: Floats) -> tuple[float, float]:
    """Return slope and offset of least log-loss, with labels smoothed by one row of each class."""
    yes, no = float(weight @ truth), float(weight @ (1.0 - truth))
    wanted = np.where(truth == 1, (yes + 1.0) / (yes + 2.0), 1.0 / (no + 2.0))

    design = np.column_stack([odds, np.ones_like(odds)])
    slope, offset = likeliest(wanted, design, weight=weight, start=np.array([1.0, 0.0])).tolist()
    if slope < 0:  # the best map that does not decrease is a constant
        mean = float(weight @ wanted) / float(weight.sum())
        slope, offset = 0.0, float(scipy.special.logit(mean))
    return slope, offset


def _isotonic(chances: Floats, truth: Floats, weight: Floats) -> Isotonic:
    def of_class(k: int) -> tuple[Floats, Floats]:
        fitted: Any = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
        fitted.fit(chances[:, k], truth[:, k], sample_weight=weight)
        return fitted.X_thresholds_.astype(np.float64), fitted.y_thresholds_

    maps = _maps_of_classes(
        of_class, lambda m: (1.0 - m[0][::-1], 1.0 - m[1][::-1]), chances.shape[1]
    )
    given, mapped = zip(*maps, strict=True)
    return Isotonic(given, tuple(np.asarray(y, dtype=np.float64) for y in mapped))


def _temperature(chances: Floats, truth: Floats, weight: Floats) -> Temperature:
    least = _least(weight)
    logs = np.log(moved(chances, least))

    def loss(log_t: float) -> float:
        scaled = logs / np.exp(log_t)
        logs_scaled = scaled - scipy.special.logsumexp(scaled, axis=1, keepdims=True)
        return -float(weight @ (truth * logs_scaled).sum(axis=1))

    best: Any = scipy.optimize.minimize_scalar(
        loss, bounds=(-_WIDEST, _WIDEST), method="bounded", options={"xatol": 1e-9}
    )
    return Temperature(float(np.exp(best.x)), least)


def losses_of(codes: NDArray[Any], chances: Floats, weight: Floats) -> tuple[float, float]:
    """Return the weighted log-loss and Brier score, defined as in `psephos.figures`."""
    own = np.maximum(chances[np.arange(len(codes)), codes], LEAST)
    gap = (chances - np.eye(chances.shape[1])[codes]) ** 2
    square = gap[:, 1] if chances.shape[1] == 2 else gap.sum(axis=1)
    total = weight.sum()
    return float(-(weight @ np.log(own)) / total), float(weight @ square / total)
