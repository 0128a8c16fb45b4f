"""In words: for whom a column speaks on which side of which value, and how many are there."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.report.axes import Pieces
from psephos.report.words import MINUS, series
from psephos.vote.names import number

__all__ = ["Cut", "Says", "count_words", "direction", "further", "gradual_cut", "level_words", "sides",
           "step_cut", "value_text"]  # fmt: skip

Parts = list[Any]  # words, and {"k": class, "t": words} in its colour
_Floats = NDArray[np.float64]
_NOTHING = 0.005  # of a probability: what would be printed as 0.00
_DIGITS = (3, 4, 6, 9, 12, 17)
_LISTED = 4
_IDLE = "Its value alone changes the mean answer by less than 0.01."


class Cut(NamedTuple):
    """The value at which a column changes sides.

    Parameters
    ----------
    at : float
    closed : bool
        Whether the value itself is above.
    text : str
        The value in words, with digits enough for every count beside it.
    change : ndarray of shape (K,) or None
        The mean answer just above less that just below; None where the change is gradual.
    """

    at: float
    closed: bool
    text: str
    change: _Floats | None


class Says(NamedTuple):
    """What each value of a column moves the mean answer by.

    Parameters
    ----------
    pieces : Pieces
    moves : ndarray of shape (n_pieces, K)
        The mean probability of each class on each piece, less that of the cases as they are.
    zero : ndarray of shape (K,) or None
        The same at zero, where it lies apart.
    jumps : ndarray of shape (n_steps, K)
        The mean answer just above each threshold less that just below.
    """

    pieces: Pieces
    moves: _Floats
    zero: _Floats | None
    jumps: _Floats

    @property
    def every(self) -> _Floats:
        """Return the moves from the lowest value on, zero included."""
        return self.moves if self.zero is None else np.vstack([self.zero, self.moves])


def value_text(value: float, digits: int = 3) -> str:
    """Return a value of a column for reading: three figures, a true minus."""
    return number(value, digits=digits).replace("-", MINUS)


def _written(at: float, closed: bool, values: _Floats) -> str:
    """Return a threshold with just enough digits that no value changes sides by it."""
    known = values[np.isfinite(values)]
    above = _above(known, at, closed)
    for digits in _DIGITS:
        text = number(at, digits=digits)
        if np.array_equal(_above(known, float(text), closed), above):
            return text.replace("-", MINUS)
    return repr(at).replace("-", MINUS)


def _above(values: _Floats, at: float, closed: bool) -> Any:
    return values >= at if closed else values > at


def step_cut(says: Says, closed: dict[float, bool], values: _Floats) -> Cut | None:
    """Return the threshold at which the mean answer changes most; None if at none."""
    if not len(says.jumps):
        return None
    sizes = np.abs(says.jumps).max(axis=1)
    i = int(sizes.argmax())
    if sizes[i] < _NOTHING:
        return None
    at = says.pieces.steps[i]
    return Cut(at, closed[at], _written(at, closed[at], values), says.jumps[i])


def gradual_cut(says: Says) -> Cut | None:
    """Return where a gradual answer of two classes passes that of the cases, if it does so once."""
    moves, inside = says.moves, says.pieces.inside
    k = int(np.abs(moves[-1] - moves[0]).argmax())
    line = moves[:, k]
    at = np.flatnonzero(np.sign(line[1:]) != np.sign(line[:-1]))
    if len(at) != 1 or np.ptp(line) < _NOTHING or moves.shape[1] > 2:
        return None
    i = int(at[0])
    part = line[i] / (line[i] - line[i + 1])
    found = float(inside[i] + part * (inside[i + 1] - inside[i]))
    rounded = float(number(found, digits=2))
    return Cut(rounded, False, value_text(rounded), None)


def direction(says: Says, cut: Cut | None, classes: Sequence[str]) -> Parts:
    """Return for whom the column speaks above the cut and at or below it."""
    every = says.every
    if float(np.ptp(every, axis=0).max()) < _NOTHING:
        return [_IDLE]
    if cut is None or cut.change is None:
        return _gradual(says, cut, classes)
    first = sum(end < cut.at for end in says.pieces.ends[:-1]) + (says.zero is not None)
    tops = set(every[first:].argmax(axis=1).tolist())
    bottoms = set(every[:first].argmax(axis=1).tolist())
    head, below = ("From", "Below it") if cut.closed else ("Above", "At or below")
    head = f"{head} {cut.text}" + (" on" if cut.closed else "")
    if len(tops) == len(bottoms) == 1 and tops != bottoms:
        top, bottom = tops.pop(), bottoms.pop()
        return [{"k": top, "t": f"{head}: {classes[top]}."}, f" {below}: ",
                {"k": bottom, "t": classes[bottom]}, "."]  # fmt: skip
    up, down = int(cut.change.argmax()), int(cut.change.argmin())
    words: Parts = [{"k": up, "t": f"{head}: more like {classes[up]}"}, ", less like ",
                    {"k": down, "t": classes[down]}, "."]  # fmt: skip
    if len(tops | bottoms) == 1:
        side = tops.pop()
        words += [" It leans to ", {"k": side, "t": classes[side]}, " on both sides."]
    return words


def _gradual(says: Says, cut: Cut | None, classes: Sequence[str]) -> Parts:
    every = says.every
    change = every[-1] - every[0]
    k, down = int(change.argmax()), int(change.argmin())
    if bool((np.diff(every[:, k]) >= -1e-9).all()):
        words: Parts = [{"k": k, "t": f"The higher, the more like {classes[k]}."}]
        if len(classes) > 2:
            words += [" Most is taken from ", {"k": down, "t": classes[down]}, "."]
        return words if cut is None else [*words, f" It speaks for it beyond about {cut.text}."]
    inside = says.pieces.inside if says.zero is None else [0.0, *says.pieces.inside]
    top = int(every.max(axis=0).argmax())
    at = value_text(inside[int(every[:, top].argmax())], 2)
    return ["It does not point one way: ", {"k": top, "t": f"most like {classes[top]}"},
            f" at about {at}."]  # fmt: skip


def sides(
    values: _Floats, y: NDArray[np.intp], cut: Cut | None, n_classes: int
) -> dict[str, list[int]]:
    """Return the cases above the cut, at or below it and without a value, counted by class."""
    missing = np.isnan(values)

    def by_class(which: Any) -> list[int]:
        return np.bincount(y[which], minlength=n_classes).tolist()

    found = {"missing": by_class(missing)}
    if cut is not None:
        above = _above(values, cut.at, cut.closed) & ~missing
        found |= {"above": by_class(above), "below": by_class(~above & ~missing)}
    return found


def count_words(counts: dict[str, list[int]], cut: Cut, classes: Sequence[str]) -> str:
    """Return how many of each class are above the cut, of those that have a value."""
    pairs = zip(counts["above"], counts["below"], classes, strict=True)
    words = [f"{a} of {a + b} {name}" for a, b, name in pairs]
    lost = sum(counts["missing"])
    gap = f"; {lost} lack a value" if lost else ""
    return f"{'From there on' if cut.closed else 'Above it'} are {series(words)}{gap}."


def further(says: Says, cut: Cut, closed: dict[float, bool], values: _Floats) -> str:
    """Return at which other thresholds the mean answer changes by 0.01 or more, '' if at none."""
    sizes = np.abs(says.jumps).max(axis=1) if len(says.jumps) else np.zeros(0)
    told = [
        (float(size), at)
        for size, at in zip(sizes, says.pieces.steps, strict=True)
        if at != cut.at and size >= _NOTHING
    ]
    if not told:
        return ""
    kept = sorted(at for _, at in sorted(told, key=lambda pair: -pair[0])[:_LISTED])
    words = [_written(at, closed[at], values) for at in kept]
    more = len(told) - len(kept)
    return f" Further steps at {series([*words, f'{more} more'] if more else words)}."


def level_words(moves: _Floats, levels: Sequence[str], classes: Sequence[str]) -> Parts:
    """Return which categories speak for which class: those that move the mean answer to it."""
    if float(np.ptp(moves, axis=0).max()) < _NOTHING:
        return [_IDLE]
    words: Parts = []
    for k, name in enumerate(classes):
        order: list[int] = np.argsort(-moves[:, k], kind="stable").tolist()
        own = [levels[i] for i in order if int(moves[i].argmax()) == k and moves[i, k] >= _NOTHING]
        more = len(own) - _LISTED
        if own:
            listed = series([*own[:_LISTED], f"{more} more"] if more > 0 else own)
            words += [{"k": k, "t": f"{listed}: {name}."}, " "]
    return words[:-1]
