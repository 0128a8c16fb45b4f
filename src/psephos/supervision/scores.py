"""What can be said of answers where labels of positives are known, and others not."""

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError

__all__ = ["accuracy_bounds", "pu_scores"]


def pu_scores(
    said: NDArray[np.bool_],
    codes: NDArray[np.intp],
    prior: float | None = None,
) -> dict[str, float | None]:
    """Return scores of answers to rows of which some are positive and others have no label.

    They hold where the labelled positives are drawn at random from all positives, and the rows
    without a label from all cases. Rows that are labelled negative do not count.

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
        square of the geometric mean of precision and recall; it is not at most 1. accuracy_low,
        accuracy_high: see `accuracy_bounds`. None where not defined, or where the prior
        contradicts the shares.

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
    >>> found["pu_f"], found["accuracy_low"]
    (4.0, 1.0)
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
    possible = prior is None or _allowed(recall, share, prior)
    low, high = accuracy_bounds(recall, share, prior) if possible else (None, None)
    f = recall**2 / share if share > 0 else (0.0 if recall == 0 else None)
    return dict(zip(names, (recall, share, f, low, high), strict=True))


def accuracy_bounds(
    recall: float, positive_share: float, prior: float | tuple[float, float] | None = None
) -> tuple[float, float]:
    """Return the least and the greatest accuracy that these shares allow.

    With the prior p it is known: ``1 - p - positive_share + 2 p recall`` (1 less the
    unbiased risk of the 0/1 loss). Without, p is any share that answers of this kind could have
    come from: ``p recall <= positive_share`` and ``p (1 - recall) <= 1 - positive_share``.
    A range of priors counts as far as it fits the shares so.
    The shares are taken as exact: their sampling error is not in the bounds.

    Parameters
    ----------
    recall, positive_share : float
    prior : float, (low, high) or None, default=None

    Raises
    ------
    PsephosError
        If a share is outside [0, 1], or no prior given could have come with these shares.
    """
    if prior is not None and np.shape(prior) not in ((), (2,)):
        raise PsephosError(f"prior is {prior!r}: give a share, or (low, high).")
    given = (0.0, 1.0) if prior is None else tuple(np.broadcast_to(prior, 2).tolist())
    for one in (recall, positive_share, *given):
        if isinstance(one, str) or not 0 <= one <= 1:
            raise PsephosError(f"{one} is no share: recall, share and prior are from 0 to 1.")
    least, most = min(given), _most(recall, positive_share)
    if not _allowed(recall, positive_share, least):
        raise PsephosError(
            f"a prior of {least:g} contradicts the shares: with a recall of {recall:g} and "
            f"{positive_share:g} answered positive it is at most {most:.3g}."
        )
    priors = (least, min(max(given), most))
    ends = [1.0 - p - positive_share + 2.0 * p * recall for p in priors]
    return min(max(min(ends), 0.0), 1.0), min(max(max(ends), 0.0), 1.0)


def _most(recall: float, positive_share: float) -> float:
    """Return the greatest prior that these shares could have come from."""
    most = 1.0
    if recall > 0:
        most = min(most, positive_share / recall)
    if recall < 1:
        most = min(most, (1.0 - positive_share) / (1.0 - recall))
    return most


def _allowed(recall: float, positive_share: float, prior: float) -> bool:
    return prior <= _most(recall, positive_share) + 1e-12
