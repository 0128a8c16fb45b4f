"""The objective of a batch of prototypes, and its optimisation: start, descent, why it stops.

The parameters are ``theta = [v (q), w (M), further]``, all at least 0: inverse bandwidths of the
columns, weights of the candidates, and further parameters of the objective. The derivative by v_d
is 0 at v_d = 0, so such a column never returns: the start and the first steps are important.
"""

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import Bounds, minimize

from psephos._errors import PsephosError
from psephos._types import Array, ArrayLike, Floats, Indices
from psephos.kernels.prototypes.sums import ZERO_AT, Sums, batch_sums, squared_distances, stage
from psephos.models.prototypes.problem import ScaledRows
from psephos.runtime.threads import one_thread

_NO_TWINS = np.empty(0, np.int64)
_KEPT_PAIRS = 2**20  # maximum size of a cached table of distances; more if there are more columns


class BatchObjective:
    """The penalised log-likelihood of one batch as a function of its weights, with its gradient.

    ``f = - sum_n omega_n log(q_n / s_n + 1e-10) + P(v; lambda_v, alpha_v) + P(w; lambda_w,
    alpha_w) + lambda_u / 2 u^2``, ``P(x; l, a) = l ((1 - a) / 2 sum x^2 + a sum x)``; q and s are
    the masses of a reference's own class (density of its target) and of all. Columns with
    ``v = 0`` take no time.

    Parameters
    ----------
    references, candidates : ndarray or ScaledRows of shape (R, q), (M, q); scaled rows; NaN is
        missing, categories are codes
    y_references, y_candidates : (R,), (M,); codes of classes, or with `regression` standardised
        targets: theta then ends in u, the inverse bandwidth of the target
    base_own, base_total, omega : (R,); masses of the prior and the earlier batches, positive, and
        the references' weights, which sum to 1
    is_category, agree : (q,); whether a column is a category, and then the probability that two
        training rows agree
    dtype : {'float32', 'float64'}; of the sums within a tile; sums of tiles are float64. In float32
        the error of value and gradient is about 1e-6 of the sum of the absolute terms.
    twin, echo : (R,); the candidate that is the reference itself, or -1, and the share of its own
        weight that such a reference keeps, below 1. None: no row is both; nothing is kept.

    Source: the manual of proset 0.6.1, objective of a batch and its gradient, here with the 1e-10
    included in the gradient. The treatment of missing values is this project's choice.
    """

    def __init__(
        self, references: Floats | ScaledRows, candidates: Floats | ScaledRows,
        y_references: ArrayLike, y_candidates: ArrayLike, base_own: ArrayLike,
        base_total: ArrayLike, omega: ArrayLike, is_category: ArrayLike, agree: ArrayLike, *,
        regression: bool = False,
        lambda_v: float = 1e-3, lambda_w: float = 1e-8, lambda_u: float = 0.0,
        alpha_v: float = 0.05, alpha_w: float = 0.05, dtype: str = "float32",
        n_jobs: int | None = None, twin: ArrayLike | None = None,
        echo: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        self._penalties = {"lambda_v": lambda_v, "lambda_w": lambda_w, "lambda_u": lambda_u,
                           "alpha_v": alpha_v, "alpha_w": alpha_w}  # fmt: skip
        self._masses = (
            np.ascontiguousarray(base_own), np.ascontiguousarray(base_total),
            np.ascontiguousarray(omega),
        )  # fmt: skip
        self._twin = np.asarray(_NO_TWINS if twin is None else twin, dtype=np.int64)
        self._pairs = stage(
            references, candidates, np.asarray(y_references), np.asarray(y_candidates),
            np.asarray(is_category), np.asarray(agree), np.dtype(dtype),
        )  # fmt: skip
        self._distances: Array | None = None
        share = np.zeros(len(self._twin)) if echo is None else np.asarray(echo, dtype=np.float64)
        with np.errstate(divide="ignore"):
            self._apart = np.minimum(-np.log2(share), ZERO_AT)
        self.regression, self.n_jobs = regression, n_jobs
        self.n_columns, self.n_candidates = references.shape[1], len(candidates)
        self.size = self.n_columns + self.n_candidates + regression

    def split(self, theta: ArrayLike) -> tuple[Floats, Floats, float]:
        """Return the parts of theta: v (q,), w (M,), and u (0 for classification)."""
        given = np.asarray(theta, dtype=np.float64)
        u = float(given[-1]) if self.regression else 0.0
        q = self.n_columns
        return given[:q], given[q : q + self.n_candidates], u

    def __call__(self, theta: ArrayLike) -> tuple[float, Floats]:
        """Return value and gradient (float64) at theta: v, w and, in regression, u."""
        v, w, u = self.split(theta)
        sums = self._sums(v, w, u)
        p = self._penalties
        value, by_v = _penalty(v, p["lambda_v"], p["alpha_v"])
        more, by_w = _penalty(w, p["lambda_w"], p["alpha_w"])
        by_u = [sums.u + p["lambda_u"] * u] if self.regression else []
        gradient = np.concatenate([sums.v + by_v, sums.w + by_w, by_u])
        return sums.value + value + more + 0.5 * p["lambda_u"] * u * u, gradient

    def by_weights(self, theta: ArrayLike) -> tuple[float, Floats]:
        """Return the value at theta and the gradient by w only, (M,): faster with many columns.

        If all columns have the same v, as in the trials of a start, the squared distances of all
        pairs are computed once and cached, unless there are many pairs or missing values.
        """
        v, w, u = self.split(theta)
        sums = self._sums(v, w, u, columns=False, alike=self._alike(v))
        p = self._penalties
        value = _penalty(v, p["lambda_v"], p["alpha_v"])[0]
        more, by_w = _penalty(w, p["lambda_w"], p["alpha_w"])
        return sums.value + value + more + 0.5 * p["lambda_u"] * u * u, sums.w + by_w

    def _alike(self, v: Floats) -> tuple[Array, float] | None:
        """Return squared distances of all pairs, and the common v; None if they are not cached."""
        most = max(_KEPT_PAIRS, self.n_columns * self.n_candidates)
        if (
            len(self._masses[0]) * self.n_candidates > most
            or (v != v[0]).any()
            or not self._pairs.is_plain
        ):
            return None
        if self._distances is None:
            self._distances = squared_distances(self._pairs, self.n_jobs)
        return self._distances, float(v[0])

    def forget(self) -> None:
        """Drop the distances that `by_weights` caches."""
        self._distances = None

    def among(self, candidates: Indices) -> "BatchObjective":
        """Return the objective over some of the candidates."""
        some = copy.copy(self)
        some._pairs, some._distances = self._pairs.among(candidates), None
        if len(self._twin):
            index = np.full(self.n_candidates + 1, -1)  # the last entry is for -1
            index[candidates] = np.arange(len(candidates))
            some._twin = index[self._twin]
        some.n_candidates = len(candidates)
        some.size = self.size - self.n_candidates + len(candidates)
        return some

    def masses(self, theta: ArrayLike) -> tuple[Floats, Floats]:
        """Return own and total mass (R,) of the references with this batch, for the next batch."""
        sums = self._sums(*self.split(theta), gradient=False)
        return self._masses[0] + sums.own, self._masses[1] + sums.total

    def _sums(self, v: Floats, w: Floats, u: float, **options: Any) -> Sums:
        return batch_sums(
            self._pairs, v, w, u, *self._masses, self.n_jobs,
            twin=self._twin, apart=self._apart, **options,
        )  # fmt: skip


def _penalty(x: Floats, strength: float, share: float) -> tuple[float, Floats | float]:
    """Return the penalty of some weights and its derivatives, one number if all are equal."""
    total = float(np.add.reduce(x))
    if share == 1.0:
        return strength * total, strength
    squares = float(np.einsum("i,i", x, x))
    value = strength * (0.5 * (1.0 - share) * squares + share * total)
    return value, strength * ((1.0 - share) * x + share)


_Objective = Callable[[Floats], tuple[float, Floats]]

WEIGHT_SCALE = 100.0  # typical size of fitted weights; inverse bandwidths are of order 1
_LENGTHS = 10.0 ** np.arange(0.0, 1.6, 0.25)  # trial lengths of v: 1, 1.8, 3.2, 5.6, 10, 18, 32
_TRIALS = ((2, 3), (1, 6))  # (starts kept, steps of the weights before)
_EPSILON = float(np.finfo(np.float64).eps)
#: Why a descent ended, by SciPy's number.
_ENDS = (
    "an iteration lowered the objective, or a step would, by less than its tolerance",
    "the greatest number of iterations was reached",
    "no lower point was found along the last direction",
)


class Minimum(NamedTuple):
    """The end of a descent."""

    x: Floats  # (n,) at least `lower`
    f: float
    n_iterations: int
    reason: str  # why it stopped, in words

    def after(self, before: "Minimum") -> "Minimum":
        """Return this minimum with the iterations of an earlier descent added."""
        return self._replace(n_iterations=self.n_iterations + before.n_iterations)


def descend(
    objective: _Objective,
    start: Floats,
    *,
    scale: Floats | float = 1.0,
    lower: Floats | float = 0.0,
    factr: float = 1e7,
    gradient_tolerance: float = 1e-5,
    max_iterations: int = 15_000,
) -> Minimum:
    """Minimise f(x) over x >= lower by SciPy's L-BFGS-B.

    It works on ``z = (x - lower) / scale``. The first step follows the gradient, with equal
    curvature in all directions: without a scale the weights, which are many times larger than the
    inverse bandwidths, would still be near their start when the columns are chosen.

    `scale` and `lower` are the typical size and the minimum of each parameter; the latter is
    above 0 if the objective is not defined at 0. It stops when an iteration lowers f by at most
    ``factr * 2.2e-16 * max(|f|, 1)``, or no entry of the projected gradient (with respect to z)
    exceeds `gradient_tolerance`: rules and defaults as in proset 0.6.

    References
    ----------
    Byrd, Lu, Nocedal and Zhu (1995), "A limited memory algorithm for bound constrained
    optimization".
    """

    def at(z: Floats) -> tuple[float, Floats]:
        f, gradient = objective(lower + z * scale)
        return f, np.asarray(gradient * scale, dtype=np.float64)

    with one_thread():  # so that the result does not depend on the number of threads
        found: Any = minimize(
            at, np.maximum(start - lower, 0.0) / scale, jac=True, method="L-BFGS-B",
            bounds=Bounds(0.0, np.inf),
            options={
                "ftol": factr * _EPSILON, "gtol": gradient_tolerance,
                "maxiter": max_iterations, "maxfun": 10**9,
            },
        )  # fmt: skip
    if not np.isfinite(found.fun):
        raise PsephosError(
            f"the objective of a batch must be finite at its start; got {found.fun}. Scale the "
            "columns to unit variance, and give finite penalties."
        )
    x = lower + np.asarray(found.x, dtype=np.float64) * scale
    return Minimum(x, float(found.fun), int(found.nit), _ENDS[found.status])


def choose_start(
    objective: _Objective,
    n_columns: int,
    n_weights: int,
    further: tuple[float, ...] = (),
    by_weights: _Objective | None = None,
) -> Floats:
    """Return a start whose objective is below that of the empty model, if one is found.

    All columns have the same start, ``v_d = c / sqrt(q)``: the expected exponent of two rows of
    unit variance is then c^2 for any q. Of c = 1, 1.8, ... 32 with all weights 1, the one with the
    lowest objective is chosen. As the objective is computed on the references, this is the
    bandwidth of a Parzen window chosen on held-out rows. If none is below the empty model (f at v =
    w = 0), a few steps of the weights only are made at each c, more at the two lowest, and the
    lowest is chosen.

    `further` are parameters after v and w, which are not changed. ``by_weights([v, w, further]) ->
    (f, gradient by w only)`` is faster with many columns; None: from the objective.
    """
    inside = slice(n_columns, n_columns + n_weights)
    partial = by_weights or (lambda x: _part(objective(x), inside))
    lengths = [np.full(n_columns, c / n_columns**0.5) for c in _LENGTHS]
    tail = np.array(further, dtype=np.float64)
    starts = [np.concatenate([v, np.ones(n_weights), tail]) for v in lengths]
    points = [*starts, np.concatenate([np.zeros(n_columns + n_weights), tail])]
    *values, empty = [partial(x)[0] for x in points]
    best = int(np.argmin(values))
    if values[best] < empty:
        return starts[best]
    for n_kept, n_steps in _TRIALS:
        trials = [_weights_only(partial, x, inside, n_steps) for x in starts]
        order = np.argsort([f for f, _ in trials], kind="stable")[:n_kept]
        starts = [trials[k][1] for k in order]
    return starts[0]


def _weights_only(
    partial: _Objective, start: Floats, inside: slice, n_steps: int
) -> tuple[float, Floats]:
    """Return f and the parameters after a few steps in which only the weights change."""
    x = start.copy()

    def along(w: Floats) -> tuple[float, Floats]:
        x[inside] = w
        return partial(x.copy())

    lowest = descend(along, start[inside], scale=WEIGHT_SCALE, max_iterations=n_steps)
    x[inside] = lowest.x
    return lowest.f, x


def _part(value: tuple[float, Floats], inside: slice) -> tuple[float, Floats]:
    return value[0], value[1][inside]
