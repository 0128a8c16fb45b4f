"""Calibrations: maps from the probabilities of a link to calibrated ones.

``chances(p, apart)`` maps (n, K) probabilities of labels (`apart`: each separately) or of classes;
``words(classes)`` describes a map.
"""

from dataclasses import field
from typing import Any, ClassVar

import numpy as np

from psephos._types import Floats, NDArray
from psephos.files.names import number
from psephos.vote.codec import register
from psephos.vote.part import check, check_part

_NAMED = 5  # classes in words
_NO_LIMIT = "the least probability of a map must be at least 0 and below 0.5"
_LEAST = 1e-12  # a probability of 0 has no log-odds


def special() -> Any:
    """Return scipy.special (its types are incomplete), which many votes need not import."""
    import scipy.special

    return scipy.special


def log_odds(chances: Floats, least: float) -> Floats:
    """Return the log-odds of probabilities scaled from [0, 1] to [least, 1 - least]."""
    return special().logit(moved(chances, least, 1.0 - _LEAST))


def moved(chances: Floats, least: float, most: float = 1.0) -> Floats:
    """Return probabilities scaled from [0, 1] to [least, 1 - least], and at least 1e-12."""
    return np.clip(least + (1.0 - 2.0 * least) * chances, _LEAST, most)


def _together(chances: Floats, apart: bool) -> Floats:
    """Return probabilities of classes normalised to sum to 1; those of labels unchanged."""
    if apart:
        return chances
    total = chances.sum(axis=1, keepdims=True)
    return np.where(total > 0, chances / np.where(total > 0, total, 1.0), 1.0 / chances.shape[1])


@register
class Sigmoid:
    """Platt's map by class: 1 / (1 + exp(-(slope logit(p) + offset))), normalised to the sum 1.

    Parameters
    ----------
    slope, offset : ndarray of shape (K,)
        Slopes are at least 0.
    least : float, default=0
        Below 0.5: each p is first scaled to least + (1 - 2 least) p, then clipped to
        1e-12 ... 1 - 1e-12.
    """

    tag: ClassVar[str] = "sigmoid calibration"
    slope: Floats
    offset: Floats
    least: float = 0.0

    def __post_init__(self) -> None:
        check(0 <= self.least < 0.5, _NO_LIMIT)
        check(self.slope.ndim == 1 and self.slope.shape == self.offset.shape, "a class lacks a map")
        check(self.slope >= 0, "a map of probabilities falls")

    def words(self, classes: list[str]) -> str:
        return "calibrated (sigmoid)"

    def chances(self, chances: Floats, apart: bool) -> Floats:
        check(chances.shape[1] == len(self.slope), "a class lacks a map")
        odds = log_odds(chances, self.least)
        return _together(special().expit(self.slope * odds + self.offset), apart)


@register
class Temperature:
    """Temperature scaling: probabilities to the power 1 / t, normalised to the sum 1.

    Parameters
    ----------
    t : float
        Above 1 probabilities become more equal, below 1 more extreme.
    least : float, default=0
        Below 0.5: each p is first scaled to least + (1 - 2 least) p, then clipped to at least
        1e-12.
    """

    tag: ClassVar[str] = "temperature calibration"
    t: float
    least: float = 0.0

    def __post_init__(self) -> None:
        check(0 <= self.least < 0.5, _NO_LIMIT)
        check(0 < self.t < np.inf, "a temperature must be a positive number")

    def words(self, classes: list[str]) -> str:
        return "calibrated (temperature)"

    def chances(self, chances: Floats, apart: bool) -> Floats:
        if apart:
            return special().expit(log_odds(chances, self.least) / self.t)
        return special().softmax(np.log(moved(chances, self.least)) / self.t, axis=1)


@register
class Isotonic:
    """Isotonic map by class: linear between given points, normalised to the sum 1.

    Parameters
    ----------
    given, told : tuple of ndarray
        For each class, the points (given, told) of a rising map from probabilities to
        probabilities, which is constant beyond the first and last point.
    fixed : bool, default=False
        Whether the points follow from the model, and not from predictions of rows.
    """

    tag: ClassVar[str] = "isotonic calibration"
    given: tuple[Floats, ...]
    told: tuple[Floats, ...]
    fixed: bool = False

    def __post_init__(self) -> None:
        check(len(self.given) == len(self.told) > 0, "a class lacks a map")
        for x, y in zip(self.given, self.told, strict=True):
            check(x.ndim == 1 and x.shape == y.shape and len(x) > 0, "a map lacks points")
            check(bool((np.diff(x) > 0).all()) and bool((np.diff(y) >= 0).all()), "a map falls")
            check((y >= 0) & (y <= 1), "a map leaves the probabilities")

    def words(self, classes: list[str]) -> str:
        return "read off a fixed rising curve" if self.fixed else "calibrated (isotonic)"

    def chances(self, chances: Floats, apart: bool) -> Floats:
        check(chances.shape[1] == len(self.given), "a class lacks a map")
        maps = zip(chances.T, self.given, self.told, strict=True)
        mapped: list[Floats] = [np.interp(p, x, y) for p, x, y in maps]
        return _together(np.stack(mapped, axis=1), apart)


@register
class PosteriorTable:
    """Posterior probabilities of label k by the number j of m voters that vote for it.

    Parameters
    ----------
    posterior : ndarray of shape (K, m + 1)
        Column j holds the probabilities where j of m voters vote for the label.
    prior : ndarray of shape (K,), default=empty
        The probability where no voter has weight; empty: that of equal shares.
    """

    tag: ClassVar[str] = "table of posteriors"
    posterior: Floats
    prior: Floats = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        check(self.posterior.ndim == 2 and self.posterior.shape[1] > 1, "posteriors have no table")
        check((self.posterior >= 0) & (self.posterior <= 1), "posteriors")
        check(self.prior.shape in ((0,), self.posterior.shape[:1]), "a label has no prior")
        check((self.prior >= 0) & (self.prior <= 1), "priors")

    def words(self, classes: list[str]) -> str:
        return "looked up in a table of posteriors"

    def chances(self, chances: Floats, apart: bool) -> Floats:
        """Return the (n, K) posteriors of the (n, K) shares of voters for each label."""
        k, m = self.posterior.shape
        check(chances.shape[1] == k, "a label has no posteriors")
        count = np.rint(chances * (m - 1)).astype(np.intp)
        return _together(self.posterior[np.arange(k), np.clip(count, 0, m - 1)], apart)

    def with_prior(self, chances: Floats, weighed: NDArray[np.bool_], apart: bool) -> Floats:
        """Return these probabilities, replaced by the prior on rows where no voter has weight."""
        if not len(self.prior):
            return chances
        return np.where(weighed[:, None], chances, _together(self.prior[None], apart))


@register
class ClassVotes:
    """Class weights: w_k p_k, normalised to the sum 1; argmax_k w_k p_k is predicted.

    p are the probabilities of the link, calibrated by `of` if it is given.

    Parameters
    ----------
    weight : ndarray of shape (K,)
        At least 0, and one above 0.
    of : Sigmoid, Isotonic or Temperature, default=None
        A calibration that is applied first.
    """

    tag: ClassVar[str] = "class votes"
    weight: Floats
    of: Sigmoid | Isotonic | Temperature | None = None

    def __post_init__(self) -> None:
        check_part(self)
        plain = self.weight.ndim == 1 and bool(np.isfinite(self.weight).all())
        check(plain, "weights of classes are not numbers")
        check((self.weight >= 0).all() and (self.weight > 0).any(), "weights of classes")

    def words(self, classes: list[str]) -> str:
        """Return the calibration, and the classes whose weight is not 1."""
        pairs = zip(classes, self.weight.tolist(), strict=True)
        named = [f"{name} × {number(w)}" for name, w in pairs if w != 1]
        more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
        first = "" if self.of is None else self.of.words(classes) + ", then "
        votes = ", ".join(named[:_NAMED]) + more if named else "each class × 1"
        return f"{first}weighed by class ({votes})"

    def chances(self, chances: Floats, apart: bool) -> Floats:
        """Return weighted (n, K) probabilities of classes; raise for labels (`apart`).

        If only classes of weight 0 have votes, the others are equally probable.
        """
        check(not apart, "labels are not weighed against each other")
        check(chances.shape[1] == len(self.weight), "a class lacks a weight")
        if self.of is not None:
            chances = self.of.chances(chances, apart)
        weighed = chances * self.weight
        lost = ~weighed.any(axis=1, keepdims=True)
        return _together(np.where(lost, 1.0 * (self.weight > 0), weighed), apart)
