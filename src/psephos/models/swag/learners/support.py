"""Support vector machines for the search: linear ones, and those with a Gaussian kernel."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.models.swag.learners.support_bound import BoundLinear, BoundRBF
from psephos.models.swag.problem import Problem
from psephos.params import Flag, Interval, Options, check_params

__all__ = ["C_GRID", "LinearSVMLearner", "RBFSVMLearner"]

#: The values of C tried where none is given: 1/4, 1/2, ... 128.
C_GRID = tuple(2.0**k for k in range(-2, 8))
_POSITIVE = Interval(0, open_low=True)


@dataclass(frozen=True)
class LinearSVMLearner:
    """Linear support vector machine with an intercept that is not penalised.

    Minimises ``|w|^2 / 2 + C sum_i weight_i h(1 - y_i (w'x_i + b))`` over w and b, y = 1 for the
    second class and -1 for the first. Scores are margins ``w'x + b``, not log-odds.

    Parameters
    ----------
    C : float above 0, default=1.0
        Weight of the errors against the width of the margin.
    loss : {'hinge', 'squared_hinge'}, default='hinge'
        ``h(u) = max(0, u)``, or its square. More than two classes: hinge has one machine a pair
        of classes, the winner of most pairs wins (equals: the greatest sum of margins); squared
        hinge has one machine a class against the rest.
    scale : bool, default=True
        Centre and scale columns by the training rows of each split (weighted mean and standard
        deviation; a constant column is not used either way).

    Notes
    -----
    The peers are, after ``StandardScaler()`` if `scale`: for the hinge ``SVC(kernel="linear",
    break_ties=True)``, which solves the same problem to a tolerance of 1e-3 (here: a duality gap
    of 1e-9); for the squared hinge ``LinearSVC``, which penalises the intercept as if it were a
    coefficient and therefore minimises something else: answers differ in places.

    A class without a training row never wins. ``says="probability"``: margins carry no
    probability; the shares ``1 / (1 + exp(-margin))`` (more classes: proportional to exp(score))
    are not calibrated.

    Source: Cortes & Vapnik (1995), "Support-vector networks", Machine Learning 20, section 3, with
    F(u) = u or u^2.
    """

    C: float = 1.0
    loss: str = "hinge"
    scale: bool = True

    @property
    def units(self) -> str:
        """Return what the units of columns are to the learner."""
        return "free" if self.scale else "own"

    def bind(self, problem: Problem) -> BoundLinear:
        """Return the learner on a problem.

        Raises
        ------
        PsephosError
            If a hyperparameter is out of range, or the target is not two or more classes.
        """
        check_params(
            self,
            {"C": _POSITIVE, "loss": Options(("hinge", "squared_hinge")), "scale": Flag()},
        )
        return BoundLinear(problem, float(self.C), self.loss == "squared_hinge", bool(self.scale))


@dataclass(frozen=True)
class RBFSVMLearner:
    """Support vector machine with a Gaussian kernel ``exp(-gamma |z - z'|^2)`` of scaled columns.

    Maximises ``sum_i alpha_i - sum_ij alpha_i y_i K_ij alpha_j y_j / 2`` over ``0 <= alpha_i <=
    C weight_i`` with ``sum_i alpha_i y_i = 0``. Scores are margins ``b + sum_i alpha_i y_i
    k(z, z_i)``, not log-odds.

    Parameters
    ----------
    C : float above 0, tuple of such, or None, default=1.0
        Weight of the errors. With several values (None: 1/4, 1/2, 1, ... 128) each candidate takes
        the one of least weighted error over the test rows of all splits, the least of equals.
    gamma : float above 0 or 'scale', default='scale'
        'scale': ``1 / (d Var)``, Var the variance of all entries of the split's scaled columns
        together (1 / d if none is constant and weights are equal).
    scale : bool, default=True
        Centre and scale columns by the training rows of each split (weighted mean and standard
        deviation; 1 for a constant column).
    tol : float above 0, default=1e-3
        Stop when no pair of rows violates optimality by more.

    Notes
    -----
    The peer is ``SVC(kernel="rbf", gamma="scale", break_ties=True)``, after ``StandardScaler()``
    if `scale`. More than two classes: one machine a pair of classes, the winner of most pairs
    wins (equals: the greatest sum of margins); a class without a training row never wins.

    Choosing C on the folds that then judge the candidate makes its error too small, as choosing
    the candidate does; the R package swag, whose caret tunes ten values, has the same optimism.

    ``says="probability"``: margins carry no probability; the shares ``1 / (1 + exp(-margin))``
    (more classes: proportional to exp(score)) are not calibrated.

    Source: Fan, Chen & Lin (2005), "Working set selection using second order information for
    training support vector machines", JMLR 6, problem (1).
    """

    C: float | tuple[float, ...] | None = 1.0
    gamma: float | str = "scale"
    scale: bool = True
    tol: float = 1e-3

    @property
    def units(self) -> str:
        """Return what the units of columns are to the learner."""
        return "free" if self.scale else "own"

    def bind(self, problem: Problem) -> BoundRBF:
        """Return the learner on a problem.

        Raises
        ------
        PsephosError
            If a hyperparameter is out of range, or the target is not two or more classes.
        """
        check_params(self, {"C": _Costs(), "gamma": _Width(), "scale": Flag(), "tol": _POSITIVE})
        gamma = 0.0 if isinstance(self.gamma, str) else float(self.gamma)
        return BoundRBF(problem, _costs(self.C), gamma, bool(self.scale), float(self.tol))


class _Costs:
    """None, a number above 0, or a tuple of them."""

    def allows(self, value: Any) -> bool:
        """Return whether the value can serve as C."""
        if isinstance(value, tuple | list):
            return len(value) > 0 and all(_POSITIVE.allows(item) for item in value)
        return value is None or _POSITIVE.allows(value)

    def words(self) -> str:
        """Return what is allowed."""
        return "a finite number above 0, a tuple of such numbers, or None (1/4, 1/2, ... 128)"


class _Width:
    """'scale' or a number above 0."""

    def allows(self, value: Any) -> bool:
        """Return whether the value can serve as gamma."""
        return value == "scale" if isinstance(value, str) else _POSITIVE.allows(value)

    def words(self) -> str:
        """Return what is allowed."""
        return "'scale' or a finite number above 0"


def _costs(C: float | Sequence[float] | None) -> NDArray[np.float64]:
    values = C_GRID if C is None else (C,) if isinstance(C, Real) else C
    return np.unique(np.asarray(values, dtype=np.float64))
