"""In words: for whom a column speaks on which side of which value, and how many are there."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.report.axes import Pieces
from psephos.report.words import MINUS, series
from psephos.vote.names import number

__all__ = ["Cut", "direction", "further", "level_words", "sides", "value_text", "written"]

Parts = list[Any]  # words, and {"k": class, "t": words} in its colour
_Floats = NDArray[np.float64]
_NOTHING = 0.005  # of a probability: what would be printed as 0.00
_DIGITS = (3, 4, 6, 9, 12, 17)
_LISTED = 4


class Cut(NamedTuple):
    """The value at which a column changes sides, and what the mean answers are around it.

    Parameters
    ----------
    at : float
    closed : bool
        Whether the value itself is above.
    text : str
        The value in words, with digits enough for every count beside it.
    piece : int
        The piece that begins there; -1 where the change is gradual.
    """

    at: float
    closed: bool
    text: str
    piece: int


def value_text(value: float, digits: int = 3) -> str:
    """Return a value of a column for reading: three figures, a true minus."""
    return number(value, digits=digits).replace("-", MINUS)


def written(at: float, closed: bool, values: _Floats) -> str:
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


def greatest_step(says: _Floats, pieces: Pieces) -> int:
    """Return the piece that begins at the threshold where the mean answers change most."""
    jumps = np.abs(np.diff(says, axis=0)).max(axis=1)
    return int(jumps.argmax()) + 1 if len(jumps) and len(pieces.steps) else -1


def crossing(says: _Floats, pieces: Pieces) -> float:
    """Return where a gradual answer passes its mean, if it does so once; else NaN."""
    k = int(np.abs(says[-1] - says[0]).argmax())
    line = says[:, k]
    at = np.flatnonzero(np.diff(np.sign(line)) != 0)
    if len(at) != 1:
        return math.nan
    i = int(at[0])
    part = line[i] / (line[i] - line[i + 1])
    low, high = pieces.inside[i], pieces.inside[i + 1]
    return low + part * (high - low)


def direction(
    says: _Floats, pieces: Pieces, cut: Cut | None, classes: Sequence[str], zero: _Floats | None
) -> Parts:
    """Return for whom the column speaks above the cut and at or below it.

    Parameters
    ----------
    says : ndarray of shape (n_pieces, K)
        The mean probability of each class on each piece, less that of the cases as they are.
    pieces : Pieces
    cut : Cut or None
    classes : sequence of str
    zero : ndarray of shape (K,) or None
        The same at zero, where it lies apart.
    """
    every = says if zero is None else np.vstack([zero, says])
    if float((every.max(axis=0) - every.min(axis=0)).max()) < _NOTHING:
        return ["Its value alone changes the mean answer by less than 0.01."]
    if cut is None or cut.piece < 0:
        return _gradual(every, pieces, cut, classes)
    before = cut.piece + (zero is not None)
    low, high = every[:before], every[before:]
    up, down = int((high[0] - low[-1]).argmax()), int((high[0] - low[-1]).argmin())
    above, below = ("From", "on", "Below") if cut.closed else ("Above", "", "At or below"), ""
    head = f"{above[0]} {cut.text}{' on' if cut.closed else ''}"
    tops, bottoms = set(high.argmax(axis=1).tolist()), set(low.argmax(axis=1).tolist())
    del below
    if len(tops) == len(bottoms) == 1 and tops != bottoms:
        top, bottom = tops.pop(), bottoms.pop()
        return [
            {"k": top, "t": f"{head}: {classes[top]}."},
            f" {above[2]}: ",
            {"k": bottom, "t": classes[bottom]},
            ".",
        ]
    words: Parts = [{"k": up, "t": f"{head}: more like {classes[up]}"}, ", less like ",
                    {"k": down, "t": classes[down]}, "."]  # fmt: skip
    if len(tops | bottoms) == 1:
        side = tops.pop()
        words += [" It leans to ", {"k": side, "t": classes[side]}, " on both sides."]
    return words


def _gradual(every: _Floats, pieces: Pieces, cut: Cut | None, classes: Sequence[str]) -> Parts:
    change = every[-1] - every[0]
    k = int(change.argmax())
    line = every[:, k]
    if bool((np.diff(line) >= -1e-12).all()):
        words: Parts = [{"k": k, "t": f"The higher, the more like {classes[k]}."}]
        down = int(change.argmin())
        if len(classes) > 2:
            words += [" The lower, the more like ", {"k": down, "t": classes[down]}, "."]
        if cut is not None:
            words += [f" It passes the mean answer at about {cut.text}."]
        return words
    offset = len(every) - len(pieces.inside)
    inside = [0.0, *pieces.inside] if offset else pieces.inside
    top = int(every.max(axis=0).argmax())
    at = value_text(inside[int(every[:, top].argmax())], 2)
    return [
        "It does not point one way: ",
        {"k": top, "t": f"most like {classes[top]} at about {at}"},
        ".",
    ]


def sides(values: _Floats, y: NDArray[np.intp], cut: Cut | None, n_classes: int) -> dict[str, Any]:
    """Return the cases above the cut, at or below it and without a value, counted by class."""
    missing = np.isnan(values)
    found = {"missing": _by_class(y[missing], n_classes)}
    if cut is not None:
        above = _above(values, cut.at, cut.closed) & ~missing
        found["above"] = _by_class(y[above], n_classes)
        found["below"] = _by_class(y[~above & ~missing], n_classes)
    return found


def _by_class(y: NDArray[np.intp], n_classes: int) -> list[int]:
    return np.bincount(y, minlength=n_classes).tolist()


def further(cut: Cut, thresholds: Sequence[Any], says: _Floats, values: _Floats) -> str:
    """Return at which other thresholds the mean answers change, '' if at none."""
    jumps = np.abs(np.diff(says, axis=0)).max(axis=1)
    told = [
        (float(jump), one)
        for jump, one in zip(jumps, thresholds, strict=True)
        if one.at != cut.at and jump >= _NOTHING
    ]
    if not told:
        return ""
    kept = sorted(sorted(told, key=lambda pair: -pair[0])[:_LISTED], key=lambda pair: pair[1].at)
    words = [written(one.at, one.closed, values) for _, one in kept]
    more = len(told) - len(kept)
    return f"Further steps at {series([*words, f'{more} more'] if more else words)}."


def level_words(says: _Floats, levels: Sequence[str], classes: Sequence[str]) -> Parts:
    """Return which categories speak for which class: those that move the mean answer most."""
    if float((says.max(axis=0) - says.min(axis=0)).max()) < _NOTHING:
        return ["Its value alone changes the mean answer by less than 0.01."]
    words: Parts = []
    for k, name in enumerate(classes):
        own = [i for i in np.argsort(-says[:, k], kind="stable").tolist()
               if int(says[i].argmax()) == k and says[i, k] >= _NOTHING]  # fmt: skip
        if own:
            named = [levels[i] for i in own[:_LISTED]]
            more = len(own) - len(named)
            listed = series([*named, f"{more} more"] if more else named)
            words += [{"k": k, "t": f"{listed}: {name}."}, " "]
    return words[:-1]
