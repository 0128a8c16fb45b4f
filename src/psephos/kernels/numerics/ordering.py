"""A stable sort without memory of its own: it compiles in a fraction of NumPy's time."""

from psephos.kernels._jit import jit

__all__ = ["order_of"]


@jit(inner=True)
def order_of(values, n, room):
    """Return the row of `room` (2, n) with the order of the first n values, equals as they come."""
    now = 0
    for i in range(n):
        room[now, i] = i
    width = 1
    while width < n:
        for start in range(0, n, 2 * width):
            middle = start + width if start + width < n else n
            end = middle + width if middle + width < n else n
            i, j = start, middle
            for t in range(start, end):
                first = i < middle
                if first and j < end:
                    first = values[room[now, i]] <= values[room[now, j]]
                room[1 - now, t] = room[now, i if first else j]
                if first:
                    i += 1
                else:
                    j += 1
        now = 1 - now
        width *= 2
    return now
