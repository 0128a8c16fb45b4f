"""The direction of a projected quasi-Newton step: a few sums over many parameters."""

from psephos.runtime.jit import jit


@jit
def steepest(z, gradient):
    """Return the greatest entry of the projected gradient ``z - max(z - gradient, 0)``, its size.

    Not a number if one of the entries is none.
    """
    top = 0.0
    for k in range(z.shape[0]):
        slope = abs(z[k] - max(z[k] - gradient[k], 0.0))
        if slope > top or slope != slope:
            top = slope
    return top


@jit(fastmath={"contract", "reassoc"})
def two_loops(steps, changes, first, n, z, gradient, least, free, parts, d):
    """Write the direction at ``z`` into ``d``; whether it uses the memory and goes down.

    Parameters held at 0 (the gradient is not below 0 there) stay; the others take the step of
    L-BFGS restricted to them: ``-H gradient``, H made of the last ``n`` steps and changes
    of the gradient, those left out whose curvature is not above ``least`` times the squared
    change. Where that does not go down, or there is no memory, ``d`` is the negative gradient.

    Parameters
    ----------
    steps, changes : (memory, size)
    first, n : the row of the oldest, and how many follow each other from there on, in a circle
    z, gradient : (size,)
    free : (size,), parts : (2, memory); scratch
    d : (size,), the result

    Source: Nocedal & Wright, Numerical Optimization, algorithm 7.4.
    """
    top = z.shape[0]
    for k in range(top):
        held = z[k] <= 0.0 and not gradient[k] < 0.0
        free[k] = 0.0 if held else 1.0
        d[k] = -gradient[k] * free[k]
    size = 0.0
    for turn in range(2 * n):  # from the last to the oldest, then back
        i = (first + (n - 1 - turn if turn < n else turn - n)) % steps.shape[0]
        step, change = steps[i], changes[i]
        if turn < n:
            curved = squared = 0.0
            for k in range(top):
                change_k = change[k] * free[k]
                curved += step[k] * change_k
                squared += change[k] * change_k
            parts[0, i] = curved if curved > least * squared else 0.0
            if parts[0, i] > 0.0 and size == 0.0:
                size = curved / squared
        elif turn == n:
            for k in range(top):
                d[k] *= size
        if parts[0, i] == 0.0:
            continue
        against, added = (step, change) if turn < n else (change, step)
        along = 0.0
        for k in range(top):
            along += against[k] * d[k]
        along /= parts[0, i]
        if turn < n:
            parts[1, i] = along
            by = -along
        else:
            by = parts[1, i] - along
        for k in range(top):
            d[k] += by * (added[k] * free[k])
    down = 0.0
    for k in range(top):
        down += d[k] * gradient[k]
    used = size > 0.0 and down < 0.0
    if not used:
        for k in range(top):
            d[k] = -gradient[k] * free[k]
    return used
