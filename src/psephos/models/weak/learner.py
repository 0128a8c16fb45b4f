"""A score linear in inputs, or in kernels around rows, that minimises a risk."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from psephos._input import Context
from psephos.models.weak.inputs import Inputs
from psephos.optimise.adam import Adam
from psephos.supervision import NonNegativeRisk, Risk
from psephos.vote import Voters

__all__ = ["Learner", "descend", "least"]

_Floats = NDArray[np.float64]
_SPREADS = (0.01, 0.1)  # of the first start, and of the others
_REACH = 30.0  # about that of 36 standardised columns
_JITTER = 1e-10  # of the greatest eigenvalue of a kernel


@dataclass(frozen=True)
class Learner:
    """Margins ``A w + b`` of rows, and the voter that says them.

    Parameters
    ----------
    A : ndarray of shape (n, r)
        Of the training rows: inputs, their principal components where there are more inputs than
        rows (which changes nothing: the penalty is a length), or kernels made orthonormal.
    back : ndarray of shape (r, k), or None
        From w to coefficients of inputs or kernels.
    inputs : Inputs
    centres : ndarray of shape (k, q), or None
    sigma : float
    """

    A: _Floats
    back: _Floats | None
    inputs: Inputs
    centres: _Floats | None = None
    sigma: float = 1.0

    @classmethod
    def linear(cls, inputs: Inputs, Z: _Floats) -> "Learner":
        """Return a learner of scores that are linear in the inputs."""
        if Z.shape[1] <= Z.shape[0]:
            return cls(Z, None, inputs)
        left, size, right = scipy.linalg.svd(Z, full_matrices=False)
        return cls(left * size, right, inputs)

    @classmethod
    def rbf(
        cls, inputs: Inputs, Z: _Floats, sigma: float | None, n_components: int, context: Context
    ) -> "Learner":
        """Return a learner of sums of Gaussian kernels; |w|^2 is the kernel's own norm."""
        order = context.generator(1).permutation(len(Z))
        centres = Z[np.sort(order[:n_components])]
        squared = cdist(Z, centres, "sqeuclidean")
        width = float(np.sqrt(np.median(squared[squared > 0]))) if (squared > 0).any() else 1.0
        width = width if sigma is None else float(sigma)
        among = np.exp(cdist(centres, centres, "sqeuclidean") * (-0.5 / width**2))
        values, vectors = scipy.linalg.eigh(among)
        sound = values > _JITTER * values[-1]
        whiten = vectors[:, sound] / np.sqrt(values[sound])
        kernels = np.exp(squared * (-0.5 / width**2))
        return cls(kernels @ whiten, whiten.T, inputs, centres, width)

    def fit(
        self,
        risk: Risk,
        *,
        alpha: float,
        starts: Sequence[_Floats],
        max_iter: int = 400,
        learning_rate: float = 0.1,
    ) -> tuple[_Floats, float, int]:
        """Return (w, b) one after the other, ``risk + alpha |w|^2`` there, and the iterations."""
        if isinstance(risk, NonNegativeRisk):
            # a step of every weight by the rate moves a margin by the rate times this
            reach = float(np.abs(self.A).sum(axis=1).mean())
            learning_rate *= min(1.0, _REACH / max(reach, 1.0))
            found = descend(self.A, risk, alpha, starts[0], max_iter, learning_rate)
            return found, _objective(self.A, risk, alpha, found)[0], max_iter
        return least(self.A, risk, alpha, starts)

    def starts(self, context: Context, number: int) -> list[_Floats]:
        """Return where searches begin: normal numbers of deviation .01, then .1."""
        rng, size = context.generator(0), self.A.shape[1] + 1
        return [rng.normal(0.0, _SPREADS[min(k, 1)], size) for k in range(number)]

    def margins(self, found: _Floats) -> _Floats:
        """Return the margins of the training rows, shape (n,)."""
        return self.A @ found[:-1] + found[-1]

    def voters(self, found: _Floats, code: _Floats) -> Voters:
        """Return the voter; code (2, 1) is that of the negative and of the positive class."""
        w, b = found[:-1], float(found[-1])
        coef = w if self.back is None else w @ self.back
        if code[1, 0] < code[0, 0]:  # the score of a voter is for the second class
            coef, b, code = -coef, -b, code[::-1].copy()
        if self.centres is None:
            return self.inputs.lines(coef, b, code)
        return self.inputs.kernels(coef, self.centres, self.sigma, b, code)


def _objective(A: _Floats, risk: Risk, alpha: float, found: _Floats) -> tuple[float, _Floats]:
    w = found[:-1]
    value, slope = risk.value_and_gradient((A @ w + found[-1])[:, None])
    own = np.append(A.T @ slope[:, 0] + 2.0 * alpha * w, slope.sum())
    return value + alpha * float(w @ w), own


def least(
    A: _Floats, risk: Risk, alpha: float, starts: Sequence[_Floats]
) -> tuple[_Floats, float, int]:
    """Return the best of the local minima that L-BFGS finds from these starts.

    With its objective and the iterations that led there. The intercept is not penalised.
    """
    best: Any = None
    for start in starts:
        found = minimize(
            lambda point: _objective(A, risk, alpha, point),
            start,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 5000, "maxfun": 10000, "ftol": 1e-13, "gtol": 1e-8},
        )
        if best is None or found.fun < best.fun:
            best = found
    return best.x, float(best.fun), max(1, int(best.nit))


def descend(
    A: _Floats, risk: Risk, alpha: float, start: _Floats, max_iter: int, learning_rate: float
) -> _Floats:
    """Return the last point of full-batch Adam along the steps of a risk."""
    point = start.copy()
    adam = Adam([point], learning_rate)
    for _ in range(max_iter):
        slope = risk.step((A @ point[:-1] + point[-1])[:, None])
        adam.step([np.append(A.T @ slope[:, 0] + 2.0 * alpha * point[:-1], slope.sum())])
    return point
