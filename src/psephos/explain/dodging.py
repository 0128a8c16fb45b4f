"""Dots beside each other on an axis: none covers another, and each is near its value."""

from collections.abc import Sequence

from psephos.figures.confusion import UNIT

_RADII = (3.2, 2.6, 2.1, 1.6)
_PUSHED = 6.0  # how far a dot may stand from its answer before dots are made smaller


def dodged(
    answers: Sequence[int], width: float, height: float
) -> tuple[float, list[tuple[float, float]]]:
    """Return the radius of dots, and for each answer where its dot stands, beside 0 and above it.

    Dots stand at their answers, which are in millionths, and rise where they would cover each
    other, at most to `height`; from there they spread towards the middle, so that piles at either
    end stay in the picture.
    """
    places: list[tuple[float, float]] = []
    for radius in _RADII:
        places, pushed = _placed(answers, width, height, radius)
        if pushed <= _PUSHED:
            break
    else:
        radius = _RADII[-1]
    return radius, places


def _placed(
    answers: Sequence[int], width: float, height: float, radius: float
) -> tuple[list[tuple[float, float]], float]:
    step = 2 * radius + 0.8
    rows = max(int(height // step), 1)
    places = [(0.0, 0.0)] * len(answers)
    pushed = 0.0
    order = sorted(range(len(answers)), key=lambda i: answers[i])
    low = [i for i in order if 2 * answers[i] <= UNIT]
    high = [i for i in reversed(order) if 2 * answers[i] > UNIT]
    for side, ones in ((1, low), (-1, high)):
        last = [-1e9] * rows
        for i in ones:
            at = answers[i] / UNIT * width * side  # from the right the picture is its mirror
            row = next((r for r in range(rows) if at - last[r] >= step), -1)
            if row < 0:
                row = min(range(rows), key=lambda r: last[r])
                pushed = max(pushed, last[row] + step - at)
                at = last[row] + step
            last[row] = at
            places[i] = (at * side, radius + row * step)
    return places, pushed
