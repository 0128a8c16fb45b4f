"""Scratch of ``sums``, and what one evaluation leaves to the next."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.prototypes.packed import Order, Pairs, aligned, order_of

__all__ = ["STEP", "Desk", "Room"]

STEP = 16  # numbers from one reference to the next in a block of MANY columns
_SHAPES = 8  # of scratch that are remembered


class Room:
    """Scratch of a task, kept for the next: to make it anew took a fifth of a fit.

    One block of memory serves all shapes, so that shapes that come and go cost nothing more.
    """

    def __init__(self) -> None:
        self._block: NDArray[Any] = np.empty(0, np.float32)
        self._known: dict[Any, tuple[Any, ...]] = {}

    def parts(self, *shape: Any) -> tuple[Any, ...]:
        """Return the parts for (size, width, m, near, far, dtype); the last is 0."""
        known = self._known.get(shape)
        if known is not None:
            known[-1].fill(0.0)
            return known
        starts, sizes = _layout(*shape)
        size, _, m, _, _, dtype = shape
        if len(self._block) < starts[-1] or self._block.dtype != dtype:
            self._known, self._block = {}, np.empty(0, dtype)  # first: not both at once
            self._block = aligned(starts[-1], dtype)
        elif len(self._known) >= _SHAPES:
            self._known.clear()
        given = [self._block[start : start + n] for start, n in zip(starts, sizes, strict=False)]
        self._known[shape] = (*given, np.zeros(size), np.zeros(m))
        return self._known[shape]


def _layout(
    size: int, width: int, m: int, near: int, far: int, dtype: Any
) -> tuple[list[int], tuple[int, ...]]:
    """Return where the parts of a task's scratch begin, and their sizes.

    A row of columns takes an odd number of cache lines. The user overwrites every part.
    """
    item = dtype.itemsize

    def stride(columns: int) -> int:
        return (-(-(columns + 2) * item // 64) | 1) * 64 // item

    other = size * stride(far) if far >= 0 else 0
    sizes = (size * m, size * stride(near), other, size * width, size * width, size, size,
             3 * width, size * STEP, (near if far < 0 else far) * width)  # fmt: skip
    line = 64 // item
    return np.cumsum([0, *(-(-s // line) * line for s in sizes)]).tolist(), sizes


class Laid(NamedTuple):
    """Where active columns lie, and panels that were laid out so, or are empty."""

    asked: tuple[bytes, int]
    special: NDArray[np.bool_]
    order: Order
    panels: NDArray[Any]


class Desk:
    """What calls leave to the next: scratch, and the order of the columns with its panels.

    From one evaluation to the next the same columns are heard, mostly: to look anew where each
    lies took a fifth of an evaluation of a few hundred rows. Threads may share a desk: what one
    has taken the others do without.
    """

    def __init__(self) -> None:
        self.rooms: list[Room] = []
        self._laid: list[Laid] = []

    def room(self) -> Room:
        """Return scratch for a task, to be put back among the rooms."""
        try:
            return self.rooms.pop()
        except IndexError:  # other threads have them
            return Room()

    def take(self, pairs: Pairs, active: NDArray[np.bool_]) -> Laid:
        """Return what the last call left, if it is of these columns, or a new order."""
        asked = active.tobytes(), len(pairs.place_label)
        try:
            last = self._laid.pop()
        except IndexError:
            last = None
        if last is not None and last.asked == asked and last.special is pairs.is_special:
            return last
        del last  # first: the panels of both would be twice the memory
        order = order_of(pairs, active)
        panels = aligned((len(order.column) + 2) * len(pairs.place_label), pairs.rows.dtype)
        return Laid(asked, pairs.is_special, order, panels)

    def leave(self, laid: Laid) -> None:
        """Keep it for the next call."""
        self._laid[:] = [laid]
