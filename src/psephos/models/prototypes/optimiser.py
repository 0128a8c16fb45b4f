"""The descent of a batch: where it starts, how it goes down, and why it stops.

The parameters are ``theta = [v (q), w (M), further]``, all at least 0: inverse bandwidths of the
columns, weights of the candidates, and what else the objective has. A column of v_d = 0 has no
derivative and never returns, so the start and the first steps decide much.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Floats
from psephos.kernels.numerics.quasi_newton import steepest, two_loops

_Objective = Callable[[Floats], tuple[float, Floats]]

WEIGHT_SCALE = 100.0  # weights of fitted prototypes are of this order, inverse bandwidths of 1
_LENGTHS = 10.0 ** np.arange(0.0, 1.6, 0.25)  # of v, on trial: 1, 1.8, 3.2, 5.6, 10, 18, 32
_TRIALS = ((2, 3), (1, 6))  # steps of the weights alone, and how many starts go on after them
_MEMORY = 10
_SEARCHES = 20  # evaluations along one direction
_ARMIJO = 1e-4
_LEAST_CURVATURE = 1e-10
_EPSILON = float(np.finfo(np.float64).eps)
_FLAT = "the projected gradient is within its tolerance"
_LEVEL = "an iteration lowered the objective by less than its tolerance"
_MOST = "the greatest number of iterations was reached"
_STUCK = "no lower point was found along the last direction"


def _dot(a: Floats, b: Floats) -> float:
    """Return the inner product, whatever the threads of BLAS: it divides long sums among them."""
    return float(np.einsum("i,i", a, b))


class Minimum(NamedTuple):
    """Where a descent ended."""

    x: Floats  # (n,) at least `lower`
    f: float
    n_iterations: int
    n_evaluations: int
    reason: str  # why it stopped, in words
    converged: bool

    def after(self, before: "Minimum", further: int = 0) -> "Minimum":
        """Return this one, counting what was done before it, and `further` evaluations."""
        n_evaluations = self.n_evaluations + before.n_evaluations + further
        n_iterations = self.n_iterations + before.n_iterations
        return self._replace(n_iterations=n_iterations, n_evaluations=n_evaluations)


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
    """Minimise f(x) over x >= lower by a projected L-BFGS method with a memory of 10 steps.

    It works on ``z = (x - lower) / scale``. The first step goes down the gradient, and the
    curvature of all directions is at first taken to be alike: without a scale the weights, many
    times larger than the inverse bandwidths, are still near their start when the columns are
    chosen.

    A parameter is held where it is at its bound and its slope is upwards; the quasi-Newton
    direction is that of the others, from the memory's entries for them alone. The search goes
    along ``max(z + t d, 0)`` until f has fallen by 1e-4 of what the slope promises (Armijo's
    rule). A step without positive curvature is not remembered.

    `scale` and `lower` are the typical size and the least value of each parameter; the latter is
    above 0 where the objective is not defined at 0. It stops when an iteration lowers f by at most
    ``factr * 2.2e-16 * max(|f|, 1)``, or no entry of the projected gradient (with respect to z)
    exceeds `gradient_tolerance`.

    References
    ----------
    Bertsekas (1982), "Projected Newton methods for optimization problems with simple
    constraints", without the margin around the bound; Nocedal and Wright, Numerical
    Optimization, algorithm 7.4. Stopping rules and their defaults as in proset 0.6.
    """
    scale = np.broadcast_to(np.asarray(scale, dtype=np.float64), start.shape)

    def at(z: Floats) -> _Point:
        f, gradient = objective(lower + z * scale)
        return _Point(z, float(f), np.asarray(gradient, dtype=np.float64) * scale)

    here = at(np.maximum(start - lower, 0.0) / scale)
    if not np.isfinite(here.f):
        raise PsephosError(
            f"the objective of a batch is {here.f} at its start: bring the columns to unit "
            "variance and give penalties that are finite numbers."
        )
    memory = _Memory(len(start))
    n_evaluations, n_iterations, reason = 1, 0, _MOST
    while n_iterations < max_iterations:
        if steepest(here.z, here.gradient) <= gradient_tolerance:
            reason = _FLAT
            break
        d = memory.direction(here)
        found, n = _search(at, here, d, fresh=memory.n == 0)
        n_evaluations += n
        if found is None and memory.n:
            memory.n = 0  # once more, down the gradient itself
            continue
        if found is None:
            reason = _STUCK
            break
        n_iterations += 1
        memory.add(found.z - here.z, found.gradient - here.gradient)
        fallen, here, before = here.f - found.f, found, here.f
        if fallen <= factr * _EPSILON * max(abs(before), abs(here.f), 1.0):
            reason = _LEVEL
            break
    converged = reason in (_FLAT, _LEVEL)
    return Minimum(lower + here.z * scale, here.f, n_iterations, n_evaluations, reason, converged)


class _Point(NamedTuple):
    """A place in scaled parameters, with f and its gradient there."""

    z: Floats
    f: float
    gradient: Floats


class _Memory:
    """The last steps and the changes of the gradient along them, in turn."""

    def __init__(self, size: int) -> None:
        self._steps = np.zeros((_MEMORY, size))
        self._changes = np.zeros((_MEMORY, size))
        self._free, self._parts = np.empty(size), np.empty((2, _MEMORY))
        self.n = self._first = 0  # how many, and the place of the oldest

    def add(self, step: Floats, change: Floats) -> None:
        """Remember a step, in the place of the oldest if there are too many."""
        if _dot(step, change) <= _EPSILON * _dot(change, change):
            return
        k = (self._first + self.n) % _MEMORY
        self._steps[k], self._changes[k] = step, change
        if self.n < _MEMORY:
            self.n += 1
        else:
            self._first = (k + 1) % _MEMORY

    def direction(self, here: _Point) -> Floats:
        """Return where to go: 0 for the held, a quasi-Newton step for the others."""
        d = np.empty_like(here.z)
        more = (_LEAST_CURVATURE, self._free, self._parts, d)
        known = self._steps, self._changes, self._first, self.n
        used = two_loops(*known, here.z, here.gradient, *more)
        if not used:
            self.n = 0
        return d


def _search(
    at: Callable[[Floats], _Point], here: _Point, d: Floats, *, fresh: bool
) -> tuple[_Point | None, int]:
    """Return the first point low enough along the projected direction, and the evaluations.

    A direction without memory has no length of its own: its first step is of length 1.
    """
    t = 1.0 / np.sqrt(_dot(d, d)) if fresh else 1.0
    for n in range(1, _SEARCHES + 1):
        there = at(np.maximum(here.z + t * d, 0.0))
        promised = _dot(here.gradient, there.z - here.z)
        if there.f <= here.f + _ARMIJO * promised:
            return there, n
        # The parabola through both values and the slope has its lowest point here.
        bend = 2.0 * (there.f - here.f - promised)
        t *= min(max(-promised / bend, 0.1), 0.5) if bend > 0 else 0.5
    return None, _SEARCHES


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
