"""Scores linear in inputs, or in kernels around rows, that minimise a risk; and their voters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from psephos._errors import PsephosError
from psephos._types import Floats, Indices
from psephos.estimator.input import Context, Table
from psephos.models.design import Design
from psephos.models.linear.scoring import ScoredColumns
from psephos.optimise.adam import Adam
from psephos.runtime.threads import one_thread
from psephos.supervision import NonNegativeRisk, Risk, WeightedRisk
from psephos.supervision.grids import median_width
from psephos.vote import (
    CodedVoters,
    KernelVoters,
    RankedVoters,
    Voters,
    design_matrix,
    linear_models,
)

_QUANTILES = 1000  # maximum number of values of a column whose scores are kept


@dataclass(frozen=True)
class Inputs:
    """The scaling of a table: normal scores of ranks, or standardised columns."""

    p: int  # columns of the table
    design: Design | None  # None if no column holds categories
    knots: Any  # of normal scores; None if columns are standardised
    # `centre`, `inverse`: (q,); ``z = (x - centre) inverse``, with x divided by two to its power;
    # inverse is 0 for a constant column
    centre: Floats
    inverse: Floats
    powers: Indices  # (q,); so that squares do not overflow

    @classmethod
    def of(cls, table: Table, weight: Floats, scaling: str) -> tuple["Inputs", Floats]:
        """Return the scaling by these rows, and their (n, q) scaled inputs."""
        X = table.dense()
        p = X.shape[1]
        n_codes = np.array([table.n_codes.get(j, 0) for j in range(p)], dtype=np.intp)
        design = Design.of(n_codes, X) if n_codes.any() else None
        X = X if design is None else design_matrix(X, design.source, design.level)
        q = X.shape[1]
        if scaling == "rank" or (scaling == "auto" and bool(np.isnan(X).any())):
            scored = ScoredColumns(X, weight, None, _QUANTILES)
            plain = np.zeros(q, dtype=np.intp)
            scores = scored.scores()
            return cls(p, design, scored.knots, np.zeros(q), np.ones(q), plain), scores
        _refuse_missing(X, table, design)
        Z, centre, inverse, powers = _standardised(X, weight)
        return cls(p, design, None, centre, inverse, powers), Z

    def lines(self, coef: Floats, intercept: float, code: Floats) -> Voters:
        """Return one linear voter: log-odds ``intercept + coef' z``."""
        if self.knots is None:
            coef = coef * self.inverse
            intercept -= float(coef @ self.centre)
        every = np.arange(len(coef))
        line = linear_models(
            len(every), every, coef[None, None], np.array([[intercept]]), code, "probability"
        )
        return self._through(line.times(self.powers))

    def kernels(
        self, dual: Floats, centres: Floats, sigma: float, intercept: float, code: Floats
    ) -> Voters:
        """Return one voter: log-odds ``intercept + sum_i dual_i exp(-|z - c_i|^2 / 2 sigma^2)``."""
        used = np.flatnonzero(self.inverse != 0)
        machine = KernelVoters(
            len(self.inverse),
            used,
            np.array([0, len(used)]),
            np.arange(len(used)),
            self.centre[used],
            self.inverse[used],
            np.array([0, len(centres)]),
            centres[:, used].ravel(),
            dual[None],
            np.array([[intercept]]),
            np.array([0.5 / sigma**2]),
            code,
            "rbf",
            "probability",
            called="kernel score",
        )
        return self._through(machine.times(self.powers))

    def _through(self, voters: Any) -> Voters:
        one = np.zeros(1, dtype=np.intp)
        if self.knots is not None:
            q = len(self.inverse)
            voters = RankedVoters(q, np.arange(q), voters, *self.knots)
        if self.design is not None:
            every = np.arange(self.p)
            voters = CodedVoters(self.p, every, voters, self.design.source, self.design.level)
        return voters.take(one)  # drops columns with coefficient 0


def _standardised(X: Floats, weight: Floats) -> tuple[Floats, Floats, Floats, Indices]:
    """Return the standardised columns, and their centre, inverse deviation and powers of two."""
    powers = np.frexp(np.abs(X).max(axis=0))[1].astype(np.intp)
    X = np.ldexp(X, -powers)
    centre = np.average(X, axis=0, weights=weight)
    away = X - centre
    spread = np.sqrt(np.average(away**2, axis=0, weights=weight))
    moves = (X.max(axis=0) > X.min(axis=0)) & (spread > 0)
    inverse = np.divide(1.0, spread, out=np.zeros(X.shape[1]), where=moves)
    return away * inverse, centre, inverse, powers


def _refuse_missing(X: Floats, table: Table, design: Design | None) -> None:
    missing = np.isnan(X)
    if missing.any():
        row, j = (int(k) for k in np.argwhere(missing)[0])
        column = j if design is None else int(design.source[j])
        name = table.schema.words().columns[column]
        raise PsephosError(
            f"{name!r} is missing in row {table.rows[row]}: scaling='standard' does not accept "
            "missing values. Use scaling='rank', which reads them as the median."
        )


_REACH = 30.0  # mean absolute row sum, about that of 36 standardised columns
_JITTER = 1e-10  # of the greatest eigenvalue of a kernel


@dataclass(frozen=True)
class ScoreLearner:
    """Margins ``A w + b`` of rows, and their voter."""

    # (n, r), of the training rows: inputs; with more inputs than rows their principal components
    # (equivalent, as the penalty is |w|^2); or orthonormalised kernels
    A: Floats
    back: Floats | None  # (r, k) or None; maps w to coefficients of inputs or kernels
    inputs: Inputs
    centres: Floats | None = None  # (k, q) or None
    sigma: float = 1.0

    @classmethod
    def linear(cls, inputs: Inputs, Z: Floats) -> "ScoreLearner":
        """Return a learner of scores that are linear in the inputs."""
        if Z.shape[1] <= Z.shape[0]:
            return cls(Z, None, inputs)
        left, size, right = scipy.linalg.svd(Z, full_matrices=False)
        return cls(left * size, right, inputs)

    @classmethod
    def rbf(
        cls, inputs: Inputs, Z: Floats, sigma: float | None, n_components: int, context: Context
    ) -> "ScoreLearner":
        """Return a learner of sums of Gaussian kernels; |w|^2 is the squared norm in their RKHS."""
        order = context.generator(1).permutation(len(Z))
        centres = Z[np.sort(order[:n_components])]
        squared = cdist(Z, centres, "sqeuclidean")
        width = median_width(squared) if sigma is None else float(sigma)
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
        starts: Sequence[Floats],
        max_iter: int = 400,
        learning_rate: float = 0.1,
    ) -> tuple[Floats, float, int]:
        """Return (w, b) as one array, its ``risk + alpha |w|^2``, and the number of iterations."""
        with one_thread():  # so that the result does not depend on the number of threads
            return self._searched(risk, alpha, starts, max_iter, learning_rate)

    def _searched(
        self,
        risk: Risk,
        alpha: float,
        starts: Sequence[Floats],
        max_iter: int,
        learning_rate: float,
    ) -> tuple[Floats, float, int]:
        if isinstance(risk, NonNegativeRisk):
            # if every weight moves by the rate, a margin moves by up to the rate times this
            reach = float(np.abs(self.A).sum(axis=1).mean())
            rate = learning_rate * min(1.0, _REACH / max(reach, 1.0))
            with np.errstate(over="ignore", invalid="ignore"):
                found = descend(self.A, risk, alpha, starts[0], max_iter, rate)
                value = _objective(self.A, risk, alpha, found)[0]
            if not np.isfinite(value):
                raise PsephosError(
                    f"the non-negative fit diverges: learning_rate must be below {learning_rate:g}."
                )
            return found, value, max_iter
        found, value, n_iter = least(self.A, risk, alpha, starts)
        if isinstance(risk, WeightedRisk) and alpha == 0 and risk.falls_along(self.margins(found)):
            raise PsephosError(
                "alpha must be above 0 here, such as 0.01; got 0. Without a penalty the unbiased "
                "risk of the logistic loss has no minimum, as its negative part is unbounded. Or "
                "use a symmetric loss or the non-negative risk."
            )
        return found, value, n_iter

    def starts(self, risk: Risk, number: int) -> list[Floats]:
        """Return the starts of searches: 0, and points along the risk's negative gradient there.

        The root mean square of their margins is 0, 1, 4, 16, ... Starts depend neither on the order
        of columns nor on the names of classes.
        """
        slope = risk.step(np.zeros((len(self.A), 1)))[:, 0]
        down = -np.append(self.A.T @ slope, slope.sum())
        size = float(np.sqrt(np.mean(self.margins(down) ** 2)))
        unit = down / size if size > 0 else np.zeros_like(down)
        return [unit * (0.0 if k == 0 else 4.0 ** (k - 1)) for k in range(number)]

    def margins(self, found: Floats) -> Floats:
        """Return the margins of the training rows, shape (n,)."""
        return self.A @ found[:-1] + found[-1]

    def voters(self, found: Floats, code: Floats) -> Voters:
        """Return the voter; code (2, 1) is that of the negative and the positive class."""
        w, b = found[:-1], float(found[-1])
        coef = w if self.back is None else w @ self.back
        if code[1, 0] < code[0, 0]:  # a voter's score is for the second class
            coef, b, code = -coef, -b, code[::-1].copy()
        if self.centres is None:
            return self.inputs.lines(coef, b, code)
        return self.inputs.kernels(coef, self.centres, self.sigma, b, code)


def _objective(A: Floats, risk: Risk, alpha: float, found: Floats) -> tuple[float, Floats]:
    w = found[:-1]
    value, slope = risk.value_and_gradient((A @ w + found[-1])[:, None])
    own = np.append(A.T @ slope[:, 0] + 2.0 * alpha * w, slope.sum())
    return value + alpha * float(w @ w), own


def least(
    A: Floats, risk: Risk, alpha: float, starts: Sequence[Floats]
) -> tuple[Floats, float, int]:
    """Return the best local minimum of L-BFGS over these starts, its objective and iterations.

    The intercept is not penalised.
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
    A: Floats, risk: Risk, alpha: float, start: Floats, max_iter: int, learning_rate: float
) -> Floats:
    """Return the last point of full-batch Adam on a risk."""
    point = start.copy()
    adam = Adam([point], learning_rate)
    for _ in range(max_iter):
        slope = risk.step((A @ point[:-1] + point[-1])[:, None])
        adam.step([np.append(A.T @ slope[:, 0] + 2.0 * alpha * point[:-1], slope.sum())])
    return point
