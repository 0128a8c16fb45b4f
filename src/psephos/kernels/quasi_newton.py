"""The direction of a projected quasi-Newton step: a few sums over many parameters."""

from psephos.kernels._jit import jit
from psephos.kernels._power import wide

__all__ = ["two_loops"]


@jit(fastmath={"contract", "reassoc"}, _nrt=False)
def _dot(x, y):
    wide()
    total = 0.0
    for k in range(x.shape[0]):
        total += x[k] * y[k]
    return total


@jit(fastmath={"contract"}, _nrt=False)
def _add(q, by, x, free):
    wide()
    for k in range(q.shape[0]):
        q[k] += by * (x[k] * free[k])


@jit(fastmath={"contract", "reassoc"}, _nrt=False)
def _curvature(step, change, free):
    wide()
    curved = squared = 0.0
    for k in range(step.shape[0]):
        change_k = change[k] * free[k]
        curved += step[k] * change_k
        squared += change[k] * change_k
    return curved, squared


@jit(_nrt=False)
def two_loops(steps, changes, n, z, gradient, least, free, parts, d):
    """Write the direction at ``z`` into ``d``; whether it uses the memory and goes down.

    Parameters held at 0 (the gradient is not below 0 there) stay; the others take the step of
    L-BFGS restricted to them: ``-H gradient``, H made of the last ``n`` rows of steps and changes
    of the gradient, those left out whose curvature is not above ``least`` times the squared
    change. Where that does not go down, or there is no memory, ``d`` is the negative gradient.

    Parameters
    ----------
    steps, changes : (memory, size), oldest first
    n : int
    z, gradient : (size,)
    least : float
    free : (size,), parts : (2, memory); room to work
    d : (size,), the result

    Notes
    -----
    Source: Nocedal & Wright, Numerical Optimization, algorithm 7.4.
    """
    for k in range(z.shape[0]):
        held = z[k] <= 0.0 and not gradient[k] < 0.0
        free[k] = 0.0 if held else 1.0
        d[k] = -gradient[k] * free[k]
    size = 0.0
    for i in range(n - 1, -1, -1):
        curved, squared = _curvature(steps[i], changes[i], free)
        parts[0, i] = curved if curved > least * squared else 0.0
        if parts[0, i] > 0.0:
            size = curved / squared if size == 0.0 else size
            parts[1, i] = _dot(steps[i], d) / curved
            _add(d, -parts[1, i], changes[i], free)
    if size == 0.0:
        return False
    for k in range(z.shape[0]):
        d[k] *= size
    for i in range(n):
        if parts[0, i] > 0.0:
            _add(d, parts[1, i] - _dot(changes[i], d) / parts[0, i], steps[i], free)
    if _dot(d, gradient) < 0.0:
        return True
    for k in range(z.shape[0]):
        d[k] = -gradient[k] * free[k]
    return False
