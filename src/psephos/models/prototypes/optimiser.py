"""The descent of a batch: where it starts, how it goes down, and why it stops.

The parameters are ``theta = [v (q), w (M), further]``, all at least 0: inverse bandwidths of the
columns, weights of the candidates, and what else the objective has. A column of v_d = 0 has no
derivative and never returns, so the start and the first steps decide much.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import Bounds, minimize

from psephos._errors import PsephosError
from psephos._types import Floats
from psephos.runtime.threads import one_thread

_Objective = Callable[[Floats], tuple[float, Floats]]

WEIGHT_SCALE = 100.0  # weights of fitted prototypes are of this order, inverse bandwidths of 1
_LENGTHS = 10.0 ** np.arange(0.0, 1.6, 0.25)  # of v, on trial: 1, 1.8, 3.2, 5.6, 10, 18, 32
_TRIALS = ((2, 3), (1, 6))  # steps of the weights alone, and how many starts go on after them
_EPSILON = float(np.finfo(np.float64).eps)
#: Why a descent ended, by SciPy's number.
_ENDS = (
    "an iteration lowered the objective, or a step would, by less than its tolerance",
    "the greatest number of iterations was reached",
    "no lower point was found along the last direction",
)


class Minimum(NamedTuple):
    """Where a descent ended."""

    x: Floats  # (n,) at least `lower`
    f: float
    n_iterations: int
    reason: str  # why it stopped, in words

    def after(self, before: "Minimum") -> "Minimum":
        """Return this one, counting the iterations before it."""
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

    It works on ``z = (x - lower) / scale``. The first step goes down the gradient, and the
    curvature of all directions is at first taken to be alike: without a scale the weights, many
    times larger than the inverse bandwidths, are still near their start when the columns are
    chosen.

    `scale` and `lower` are the typical size and the least value of each parameter; the latter is
    above 0 where the objective is not defined at 0. It stops when an iteration lowers f by at most
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

    with one_thread():  # the same bytes whatever the threads
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
            f"the objective of a batch is {found.fun} at its start: bring the columns to unit "
            "variance and give penalties that are finite numbers."
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

    All columns start alike, ``v_d = c / sqrt(q)``: the expected exponent of two rows of unit
    variance is then c^2, whatever q. On trial are c = 1, 1.8, ... 32 with all weights 1; the
    lowest objective wins. The references judge it, so this is the bandwidth of a Parzen window
    chosen on rows held out. If none is below the empty model (f at v = w = 0), a few steps of the
    weights alone are made at each c, more at the two that are then lowest, and the lowest wins.

    `further` are parameters after v and w, which stay as they are. ``by_weights([v, w, further]) ->
    (f, gradient by w alone)`` costs less where columns are many; None: from the objective.
    """
    inside = slice(n_columns, n_columns + n_weights)
    told = by_weights or (lambda x: _part(objective(x), inside))
    lengths = [np.full(n_columns, c / n_columns**0.5) for c in _LENGTHS]
    tail = np.array(further, dtype=np.float64)
    starts = [np.concatenate([v, np.ones(n_weights), tail]) for v in lengths]
    points = [*starts, np.concatenate([np.zeros(n_columns + n_weights), tail])]
    *values, empty = [told(x)[0] for x in points]
    best = int(np.argmin(values))
    if values[best] < empty:
        return starts[best]
    for n_kept, n_steps in _TRIALS:
        trials = [_weights_alone(told, x, inside, n_steps) for x in starts]
        order = np.argsort([f for f, _ in trials], kind="stable")[:n_kept]
        starts = [trials[k][1] for k in order]
    return starts[0]


def _weights_alone(
    told: _Objective, start: Floats, inside: slice, n_steps: int
) -> tuple[float, Floats]:
    """Return f and the parameters after a few steps in which only the weights move."""
    x = start.copy()

    def along(w: Floats) -> tuple[float, Floats]:
        x[inside] = w
        return told(x.copy())

    lowest = descend(along, start[inside], scale=WEIGHT_SCALE, max_iterations=n_steps)
    x[inside] = lowest.x
    return lowest.f, x


def _part(told: tuple[float, Floats], inside: slice) -> tuple[float, Floats]:
    return told[0], told[1][inside]
