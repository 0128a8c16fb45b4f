"""A stable sort without memory of its own: it compiles in a fraction of NumPy's time."""

from psephos.runtime.jit import jit


@jit
def order_of(values, n, scratch):
    """Return a row of `scratch` (2, n): the stable order of the first n values."""
    now = 0
    for i in range(n):
        scratch[now, i] = i
    width = 1
    while width < n:
        for start in range(0, n, 2 * width):
            middle = start + width if start + width < n else n
            end = middle + width if middle + width < n else n
            i, j = start, middle
            for t in range(start, end):
                first = i < middle
                if first and j < end:
                    first = values[scratch[now, i]] <= values[scratch[now, j]]
                scratch[1 - now, t] = scratch[now, i if first else j]
                if first:
                    i += 1
                else:
                    j += 1
        now = 1 - now
        width *= 2
    return now
