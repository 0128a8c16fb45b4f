"""Risks of labels that are missing or one-sidedly wrong, as losses of the rows' margins.

Every risk has ``value_and_gradient(margins)``, for margins (n, 1), and ``step(margins)``, the
direction that a gradient method subtracts: the gradient, except for the non-negative risk. So any
learner that needs only the gradient at each row can minimise them.
"""

from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np
import scipy.special

from psephos._errors import PsephosError, must_be, must_be_inside
from psephos._types import Floats, Indices, NDArray

LOSSES = ("sigmoid", "logistic", "ramp")
_SYMMETRIC = ("sigmoid", "ramp")


@dataclass(frozen=True)
class MarginLoss:
    """A loss l of the margin m = y g(x).

    Parameters
    ----------
    name : {'sigmoid', 'logistic', 'ramp'}
        sigmoid: 1 / (1 + exp(m)). logistic: log(1 + exp(-m)). ramp: (1 - m) / 2, clipped to [0, 1].

    Raises
    ------
    PsephosError
        If the name is not one of these.

    Examples
    --------
    >>> from psephos.supervision import MarginLoss
    >>> float(MarginLoss("sigmoid").value(0.0))
    0.5
    """

    name: str

    def __post_init__(self) -> None:
        must_be("loss", self.name, LOSSES)

    @property
    def symmetric(self) -> bool:
        """Return whether l(m) + l(-m) = 1 for every m."""
        return self.name in _SYMMETRIC

    def value(self, margin: Floats) -> Floats:
        """Return the loss of each margin."""
        if self.name == "sigmoid":
            return scipy.special.expit(-np.asarray(margin))
        if self.name == "logistic":
            return np.logaddexp(0.0, -np.asarray(margin))
        return np.clip((1.0 - np.asarray(margin)) / 2.0, 0.0, 1.0)

    def slope(self, margin: Floats) -> Floats:
        """Return the derivative at each margin; for the ramp, 0 at its two corners."""
        if self.name == "ramp":
            return np.where(np.abs(margin) < 1.0, -0.5, 0.0)
        wrong = scipy.special.expit(-np.asarray(margin))
        return -wrong if self.name == "logistic" else -wrong * (1.0 - wrong)


class Risk(Protocol):
    """A risk as a function of the margins of all rows."""

    def value_and_gradient(self, margins: Floats) -> tuple[float, Floats]:
        """Return the risk and its gradient, of the shape of the margins."""
        ...

    def step(self, margins: Floats) -> Floats:
        """Return the direction that a gradient method subtracts, of the shape of the margins."""
        ...


@dataclass(frozen=True)
class WeightedRisk:
    """``R(g) = constant + sum_i up_i l(g_i) + sum_i down_i l(-g_i)``.

    Parameters
    ----------
    up, down : ndarray of shape (n,)
        Weight of each row as positive and as negative. Weights may be negative if the loss is not
        symmetric.
    loss : MarginLoss
    constant : float, default=0.0
    """

    up: Floats
    down: Floats
    loss: MarginLoss
    constant: float = 0.0

    def value_and_gradient(self, margins: Floats) -> tuple[float, Floats]:
        """Return the risk and its gradient, of the shape of the margins (n, 1)."""
        g = margins[:, 0]
        value = self.up @ self.loss.value(g) + self.down @ self.loss.value(-g) + self.constant
        slope = self.up * self.loss.slope(g) - self.down * self.loss.slope(-g)
        return float(value), slope[:, None]

    def step(self, margins: Floats) -> Floats:
        """Return the gradient."""
        return self.value_and_gradient(margins)[1]

    def mixed(self, other: Self, share: float) -> Self:
        """Return ``share * self + (1 - share) * other``, risks of the same rows and loss."""
        if self.loss != other.loss:
            raise PsephosError(
                f"mixed risks must have the same loss; got {self.loss.name} and {other.loss.name}."
            )
        rest = 1.0 - share
        return replace(
            self,
            up=share * self.up + rest * other.up,
            down=share * self.down + rest * other.down,
            constant=share * self.constant + rest * other.constant,
        )

    def falls_along(self, margins: Floats) -> bool:
        """Return whether the risk tends to minus infinity as margins (n,) are scaled up.

        With a bounded loss it never does; the logistic loss grows as ``max(0, -m)``.
        """
        if self.loss.symmetric:
            return False
        ends = self.up @ np.maximum(-margins, 0.0) + self.down @ np.maximum(margins, 0.0)
        return bool(ends < -1e-9 * np.abs(margins).max(initial=0.0))

    @property
    def weights(self) -> tuple[Floats, Floats]:
        """Return (up, down) as sample weights, which any learner accepts.

        Raises
        ------
        PsephosError
            If a weight is negative.
        """
        if (self.up < 0).any() or (self.down < 0).any():
            raise PsephosError(
                f"the loss {self.loss.name!r} needs rows of negative weight, which learners do not "
                "accept: use a loss with l(m) + l(-m) = 1 ('sigmoid' or 'ramp'), or the linear or "
                "kernel model."
            )
        return self.up, self.down


@dataclass(frozen=True)
class NonNegativeRisk:
    """``R(g) = positive(g) + max(0, negative(g))``, with the step of its authors.

    If ``negative(g) < -beta``, the step is ``-gamma`` times the gradient of `negative`, which
    reduces the overfit; otherwise it is the gradient of both.

    Parameters
    ----------
    positive, negative : WeightedRisk
    beta : float, default=0.0
    gamma : float, default=1.0

    Notes
    -----
    Source: Kiryo, Niu, du Plessis & Sugiyama (2017), NeurIPS, equation (6) and algorithm 1.
    """

    positive: WeightedRisk
    negative: WeightedRisk
    beta: float = 0.0
    gamma: float = 1.0

    def value_and_gradient(self, margins: Floats) -> tuple[float, Floats]:
        """Return the risk and its gradient; of the first part only if the second is below 0."""
        first, slope = self.positive.value_and_gradient(margins)
        second, other = self.negative.value_and_gradient(margins)
        return (first + second, slope + other) if second > 0 else (first, slope)

    def mixed(self, other: WeightedRisk, share: float) -> "NonNegativeRisk":
        """Return ``share * self + (1 - share) * other``, risks of the same rows and loss."""
        nothing = replace(other, up=0.0 * other.up, down=0.0 * other.down, constant=0.0)
        first = self.positive.mixed(other, share)
        return replace(self, positive=first, negative=self.negative.mixed(nothing, share))

    def step(self, margins: Floats) -> Floats:
        """Return the direction of algorithm 1."""
        second, other = self.negative.value_and_gradient(margins)
        if second < -self.beta:
            return -self.gamma * other
        return self.positive.step(margins) + other


def _shares(rows: NDArray[np.bool_], weight: Floats | None, words: str) -> Floats:
    """Return the weights of some rows, scaled to sum to 1, and 0 for the others."""
    plain = np.where(rows, 1.0 if weight is None else weight, 0.0)
    if plain.sum() <= 0:
        raise PsephosError(f"no row is {words}: this risk needs at least one.")
    return plain / plain.sum()


def supervised_risk(codes: Indices, loss: MarginLoss, weight: Floats | None = None) -> WeightedRisk:
    """Return the mean loss of rows coded 1 (positive) or 0 (negative); others (-1) are ignored."""
    every = _shares(codes >= 0, weight, "labelled")
    return WeightedRisk(np.where(codes == 1, every, 0.0), np.where(codes == 0, every, 0.0), loss)


def pu_risk(
    codes: Indices, prior: float, loss: MarginLoss, weight: Floats | None = None
) -> WeightedRisk:
    """Return the unbiased risk of positive (1) and unlabelled (-1) rows; others are ignored.

    It is ``prior E_P[l(g)] + E_U[l(-g)] - prior E_P[l(-g)]``, which for a symmetric loss equals
    ``2 prior E_P[l(g)] + E_U[l(-g)] - prior``.

    Parameters
    ----------
    codes : ndarray of shape (n,)
    prior : float
        P(y = positive) in the population of the unlabelled rows.
    loss : MarginLoss
    weight : ndarray of shape (n,), default=None

    Raises
    ------
    PsephosError
        If no row is positive, or no row is unlabelled.

    Notes
    -----
    Source: du Plessis, Niu & Sugiyama (2014), NeurIPS, equation (3); (2015), ICML, equation (4).
    """
    positive, unlabelled = _parts(codes, prior, loss, weight)
    if loss.symmetric:  # no negative weights
        return WeightedRisk(2.0 * positive.up, np.maximum(unlabelled.down, 0.0), loss, -prior)
    return replace(unlabelled, up=positive.up)


def non_negative_pu_risk(
    codes: Indices,
    prior: float,
    loss: MarginLoss,
    weight: Floats | None = None,
    *,
    beta: float = 0.0,
    gamma: float = 1.0,
) -> NonNegativeRisk:
    """Return ``prior E_P[l(g)] + max(0, E_U[l(-g)] - prior E_P[l(-g)])``; codes as in `pu_risk`."""
    return NonNegativeRisk(*_parts(codes, prior, loss, weight), beta, gamma)


def _parts(
    codes: Indices, prior: float, loss: MarginLoss, weight: Floats | None
) -> tuple[WeightedRisk, WeightedRisk]:
    """Return the risks ``prior E_P[l(g)]`` and ``E_U[l(-g)] - prior E_P[l(-g)]``."""
    must_be_inside("prior", prior)
    positive = prior * _shares(codes == 1, weight, "positive")
    unlabelled = _shares(codes == -1, weight, "unlabelled")
    nothing = np.zeros(len(codes))
    first = WeightedRisk(positive, nothing, loss)
    return first, WeightedRisk(nothing, unlabelled - positive, loss)


def one_sided_risk(
    codes: Indices, sigma: Floats, loss: MarginLoss, weight: Floats | None = None
) -> WeightedRisk:
    """Return the risk of labelled rows whose recorded negatives may be positive.

    It is ``E[sigma(x) l(y g(x))]`` over the labelled rows, with y as recorded. It is unbiased if
    ``sigma = 1 / P(recorded + | x, y = +)`` for recorded positives and
    ``sigma = P(y = - | x, recorded -)`` for recorded negatives.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        1 recorded positive, 0 recorded negative, -1 unlabelled (ignored).
    sigma : ndarray of shape (n,)
        The weights; ignored for unlabelled rows.
    loss : MarginLoss
    weight : ndarray of shape (n,), default=None

    Notes
    -----
    Its minimiser g over a class of scores G has a bounded excess risk. Let l lie in [0, 1] with
    slopes of at most L, let sigma and its estimate s be at most B, and let R_n be the Rademacher
    complexity of G on n labelled rows (at most ``c sqrt(d / n)`` for bounded linear scores of d
    inputs). With probability at least 1 - delta::

        R(g) - min R <= 4 B L R_n + 2 B sqrt(ln(2 / delta) / (2 n)) + 2 E|s(x) - sigma(x)|

    because the risk with s differs from R at most by its uniform deviation and by the error of s.
    The first two terms decrease as 1 / sqrt(n), the last with the error of the density ratios.

    Source: Zhang, Zhao, Jiang & Zhou (2019), KDD, "Learning from incomplete and inaccurate
    supervision"; the constants are of the usual symmetrisation (Bartlett & Mendelson 2002, JMLR 3).
    """
    plain = supervised_risk(codes, loss, weight)
    held = np.where(codes >= 0, sigma, 0.0)
    return replace(plain, up=plain.up * held, down=plain.down * held)
