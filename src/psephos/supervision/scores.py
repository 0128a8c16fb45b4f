"""What can be said of answers where labels of positives are known, and others not."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.special import betaincinv

from psephos._errors import PsephosError, must_be_inside

_CONFIDENCE = 0.95


def pu_scores(
    said: NDArray[np.bool_],
    codes: NDArray[np.intp],
    prior: float | None = None,
) -> dict[str, float | None]:
    """Return scores of answers to rows of which some are positive and others have no label.

    They are of the cases that the rows without a label come from, and hold where these are drawn at
    random from them, and the labelled positives from their positives (case-control). Rows that are
    labelled negative do not count.

    Parameters
    ----------
    said : ndarray of shape (n,)
        Whether the answer is positive.
    codes : ndarray of shape (n,)
        1 positive, -1 unlabelled, 0 negative.
    prior : float, default=None
        P(y = positive) among the unlabelled rows.

    Returns
    -------
    scores : dict
        recall: the share of labelled positives that are answered so. positive_share: the share of
        unlabelled rows that are. pu_f: ``recall^2 / positive_share``, which is proportional to the
        square of the geometric mean of precision and recall; it is not at most 1. Where no
        unlabelled row is answered positive the formula has no limit: half a row counts as
        answered so, so that answers that find no more than the positives are the best there
        can be. accuracy_low, accuracy_high: an interval that holds the accuracy on such cases with
        95 %, see `accuracy_bounds`. None where there is no labelled positive or no unlabelled row;
        the interval also where the prior contradicts the shares beyond sampling error.

    Notes
    -----
    Lee and Liu estimate the share of positive answers on a part held out, and say nothing of 0.
    Half a row is the usual continuity correction; it keeps the order of answers to the same rows.

    References
    ----------
    Lee & Liu (2003), "Learning with positive and unlabeled examples using weighted logistic
    regression", ICML, section 4.

    Examples
    --------
    >>> import numpy as np
    >>> from psephos.supervision import pu_scores
    >>> said = np.array([True, True, False, True, False, False])
    >>> found = pu_scores(said, np.array([1, 1, -1, -1, -1, -1]), prior=0.25)
    >>> found["recall"], found["positive_share"], found["pu_f"]
    (1.0, 0.25, 4.0)
    """
    said, codes = np.asarray(said), np.asarray(codes)
    if said.dtype != bool or said.ndim != 1 or said.shape != codes.shape:
        raise PsephosError(
            f"said is {said.dtype} of shape {said.shape}, codes have the shape {codes.shape}: give "
            "for each row whether it is answered positive (True, False), and its code."
        )
    if not np.isin(codes, (-1, 0, 1)).all():
        raise PsephosError("codes are 1 of positives, 0 of negatives and -1 of unlabelled rows.")
    known, open_ = codes == 1, codes == -1
    names = ("recall", "positive_share", "pu_f", "accuracy_low", "accuracy_high")
    if not known.any() or not open_.any():
        return dict.fromkeys(names)
    recall, share = float(np.mean(said[known])), float(np.mean(said[open_]))
    n = int(known.sum()), int(open_.sum())
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
    """Return the least and the greatest accuracy that these shares allow.

    With the prior p it is ``1 - p - positive_share + 2 p recall`` (1 less the unbiased risk of the
    0/1 loss). Without, p is any share that answers of this kind could have come from:
    ``p recall <= positive_share`` and ``p (1 - recall) <= 1 - positive_share``. A range of priors
    counts as far as it fits the shares so.

    Parameters
    ----------
    recall, positive_share : float
        Shares of labelled positives, and of unlabelled rows, that are answered positive.
    prior : float, (low, high) or None, default=None
        The share of positives among the cases that unlabelled rows come from.
    n : (int, int) or None, default=None
        The labelled positives and the unlabelled rows that the shares were counted on. Then the
        two bounds are an interval that holds the accuracy on such cases at least with `confidence`,
        whatever the truth: each share may be any that its Clopper-Pearson interval allows, at half
        the error each. None: the shares are exact.
    confidence : float, default=0.95

    Raises
    ------
    PsephosError
        If a share is outside [0, 1], or no prior given could have come with these shares.

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
        raise PsephosError(f"prior is {prior!r}: give a share, or (low, high).")
    given = (0.0, 1.0) if prior is None else tuple(np.broadcast_to(prior, 2).tolist())
    for one in (recall, positive_share, *given):
        if isinstance(one, str) or not 0 <= one <= 1:
            raise PsephosError(f"{one} is no share: recall, share and prior are from 0 to 1.")
    must_be_inside("confidence", confidence)
    if n is not None and not all(isinstance(one, int | np.integer) and one > 0 for one in n):
        raise PsephosError(f"n is {n}: two numbers of rows, at least 1 each.")
    found = _interval(recall, positive_share, prior, n, confidence)
    if found is None:
        raise PsephosError(
            f"a prior of {min(given):g} contradicts the shares: with a recall of {recall:g} and "
            f"{positive_share:g} answered positive it is at most "
            f"{_most(recall, positive_share):.3g}{', sampling error apart' if n else ''}."
        )
    return found


def _interval(
    recall: float, share: float, prior: Any, n: tuple[int, int] | None, confidence: float
) -> tuple[float, float] | None:
    """Return the least and greatest accuracy; None if no prior given fits.

    Two linear programmes over (p, a, s), a the share of cases that are positive and answered so:
    ``1 - p - s + 2 a`` under ``a = p recall`` (or between p times the ends of its interval),
    ``a <= s`` and ``p - a <= 1 - s``.
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
    """Return the Clopper-Pearson interval of a share of n rows, one of two that hold together."""
    if n is None:
        return share, share
    k, error = round(share * n), (1.0 - confidence) / 4.0
    low = 0.0 if k == 0 else float(betaincinv(k, n - k + 1, error))
    high = 1.0 if k == n else float(betaincinv(k + 1, n - k, 1.0 - error))
    return low, high


def _most(recall: float, positive_share: float) -> float:
    """Return the greatest prior that these shares could have come from."""
    most = 1.0
    if recall > 0:
        most = min(most, positive_share / recall)
    if recall < 1:
        most = min(most, (1.0 - positive_share) / (1.0 - recall))
    return most
