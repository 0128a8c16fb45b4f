"""Scores of predictions where only some positives are labelled."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.special import betaincinv

from psephos._errors import PsephosError, must_be_inside

_CONFIDENCE = 0.95


def pu_scores(
    said: NDArray[np.bool_], codes: NDArray[np.intp], prior: float | None = None
) -> dict[str, float | None]:
    """Return scores of predictions on rows that are labelled positive or not labelled.

    They are about the population of the unlabelled rows. These must be a random sample of it, and
    the labelled positives a random sample of its positives (case-control). Rows that are labelled
    negative are ignored.

    Parameters
    ----------
    said : ndarray of shape (n,)
        Whether the prediction is positive.
    codes : ndarray of shape (n,)
        1 positive, -1 unlabelled, 0 negative.
    prior : float, default=None
        P(y = positive) among the unlabelled rows.

    Returns
    -------
    scores : dict
        recall: the share of labelled positives that are predicted positive. positive_share: the
        share of unlabelled rows that are. pu_f: ``recall^2 / positive_share``, which is
        proportional to the square of the geometric mean of precision and recall, and may be above
        1; if no unlabelled row is predicted positive, half a row is counted as such. accuracy_low,
        accuracy_high: a 95 % interval of the accuracy, see `accuracy_bounds`. All are None if no
        row is labelled positive or none is unlabelled; the interval is also None if the prior
        contradicts the shares beyond sampling error.

    Notes
    -----
    Lee and Liu estimate the share of positive predictions on a held-out part, and do not treat a
    share of 0. Half a row is the usual continuity correction; it keeps the order of models on the
    same rows.

    References
    ----------
    Lee & Liu (2003), "Learning with positive and unlabeled examples using weighted logistic
    regression", ICML, section 4.

    Examples
    --------
    >>> import numpy as np
    >>> from psephos.supervision import pu_scores
    >>> positive = np.array([True, True, False, True, False, False])
    >>> found = pu_scores(positive, np.array([1, 1, -1, -1, -1, -1]), prior=0.25)
    >>> found["recall"], found["positive_share"], found["pu_f"]
    (1.0, 0.25, 4.0)
    """
    predicted, codes = np.asarray(said), np.asarray(codes)
    if predicted.dtype != bool or predicted.ndim != 1 or predicted.shape != codes.shape:
        raise PsephosError(
            "said must be True or False per row, and codes must have the same shape; got "
            f"{predicted.dtype} of shape {predicted.shape} and codes of shape {codes.shape}."
        )
    if not np.isin(codes, (-1, 0, 1)).all():
        raise PsephosError("codes must be 1 (positive), 0 (negative) or -1 (unlabelled).")
    labelled, unlabelled = codes == 1, codes == -1
    names = ("recall", "positive_share", "pu_f", "accuracy_low", "accuracy_high")
    if not labelled.any() or not unlabelled.any():
        return dict.fromkeys(names)
    recall, share = float(np.mean(predicted[labelled])), float(np.mean(predicted[unlabelled]))
    n = int(labelled.sum()), int(unlabelled.sum())
    interval = _interval(recall, share, prior, n, _CONFIDENCE)
    f = recall**2 / max(share, 0.5 / n[1])
    return dict(zip(names, (recall, share, f, *(interval or (None, None))), strict=True))


def accuracy_bounds(
    recall: float,
    positive_share: float,
    prior: float | tuple[float, float] | None = None,
    *,
    n: tuple[int, int] | None = None,
    confidence: float = _CONFIDENCE,
) -> tuple[float, float]:
    """Return the lowest and highest accuracy that these shares allow.

    For a prior p the accuracy is ``1 - p - positive_share + 2 p recall`` (1 less the unbiased risk
    of the 0/1 loss). Without a prior, p may be any value consistent with the shares:
    ``p recall <= positive_share`` and ``p (1 - recall) <= 1 - positive_share``. Of a range of
    priors, only the consistent values are used.

    Parameters
    ----------
    recall, positive_share : float
        Shares of labelled positives, and of unlabelled rows, that are predicted positive.
    prior : float, (low, high) or None, default=None
        The share of positives in the population of the unlabelled rows.
    n : (int, int) or None, default=None
        The numbers of labelled positives and of unlabelled rows behind the shares. The result is
        then an interval that covers the accuracy with at least `confidence`: each share may take
        any value in its Clopper-Pearson interval, with half the error each. None: the shares are
        exact.
    confidence : float, default=0.95

    Raises
    ------
    PsephosError
        If a share is outside [0, 1], or no given prior is consistent with the shares.

    Examples
    --------
    >>> from psephos.supervision import accuracy_bounds
    >>> low, high = accuracy_bounds(0.9, 0.35, prior=0.3)
    >>> round(low, 3), round(high, 3)
    (0.89, 0.89)
    >>> low, high = accuracy_bounds(0.9, 0.35, prior=0.3, n=(40, 200))
    >>> round(low, 3), round(high, 3)
    (0.715, 0.993)
    """
    if prior is not None and np.shape(prior) not in ((), (2,)):
        raise PsephosError(f"prior must be a share, or (low, high); got {prior!r}.")
    given = (0.0, 1.0) if prior is None else tuple(np.broadcast_to(prior, 2).tolist())
    for one in (recall, positive_share, *given):
        if isinstance(one, str) or not 0 <= one <= 1:
            raise PsephosError(f"recall, positive_share and prior must lie in [0, 1]; got {one}.")
    must_be_inside("confidence", confidence)
    if n is not None and not all(isinstance(one, int | np.integer) and one > 0 for one in n):
        raise PsephosError(f"n must be two numbers of rows, at least 1 each; got {n}.")
    found = _interval(recall, positive_share, prior, n, confidence)
    if found is None:
        raise PsephosError(
            f"a prior of {min(given):g} contradicts the shares: with a recall of {recall:g} and a "
            f"positive share of {positive_share:g} it is at most "
            f"{_most(recall, positive_share):.3g}{', sampling error apart' if n else ''}."
        )
    return found


def _interval(
    recall: float, share: float, prior: Any, n: tuple[int, int] | None, confidence: float
) -> tuple[float, float] | None:
    """Return the lowest and highest accuracy; None if no given prior is consistent.

    Two linear programmes over (p, a, s), with a the share of true positives: ``1 - p - s + 2 a``
    under ``a = p recall`` (or between p times the ends of its interval), ``a <= s`` and
    ``p - a <= 1 - s``.
    """
    recalls, shares = (
        _plausible(one, None if n is None else n[k], confidence)
        for k, one in enumerate((recall, share))
    )
    low, high = (0.0, 1.0) if prior is None else sorted(np.broadcast_to(prior, 2).tolist())
    rows = [[recalls[0], -1.0, 0.0], [-recalls[1], 1.0, 0.0], [0.0, 1.0, -1.0], [1.0, -1.0, 1.0]]
    ends: list[float] = []
    for sign in (1.0, -1.0):
        found: Any = linprog(
            sign * np.array([-1.0, 2.0, -1.0]), A_ub=rows, b_ub=[0.0, 0.0, 0.0, 1.0],
            bounds=[(low, high), (0.0, 1.0), shares],
        )  # fmt: skip
        if found.status == 2:
            return None
        ends.append(float(np.clip(1.0 + sign * found.fun, 0.0, 1.0)))
    return ends[0], ends[1]


def _plausible(share: float, n: int | None, confidence: float) -> tuple[float, float]:
    """Return the Clopper-Pearson interval of a share of n rows, at half the error."""
    if n is None:
        return share, share
    k, error = round(share * n), (1.0 - confidence) / 4.0
    low = 0.0 if k == 0 else float(betaincinv(k, n - k + 1, error))
    high = 1.0 if k == n else float(betaincinv(k + 1, n - k, 1.0 - error))
    return low, high


def _most(recall: float, positive_share: float) -> float:
    """Return the greatest prior that is consistent with these shares."""
    most = 1.0
    if recall > 0:
        most = min(most, positive_share / recall)
    if recall < 1:
        most = min(most, (1.0 - positive_share) / (1.0 - recall))
    return most
