"""The optimisation of a batch: its start, its descent, and why it stops.

The parameters are ``theta = [v (q), w (M), further]``, all at least 0: inverse bandwidths of the
columns, weights of the candidates, and further parameters of the objective. The derivative by v_d
is 0 at v_d = 0, so such a column never returns: the start and the first steps are important.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import Bounds, minimize

from psephos._errors import PsephosError
from psephos._types import Floats
from psephos.runtime.threads import one_thread

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
