"""The values of a column: where they stand on its axis, what they do to the answer, in words."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from psephos._types import Floats, Indices
from psephos.files.names import MINUS, Names, number, series, true_minus, value_text
from psephos.vote import Vote
from psephos.vote.importance import evenly_spaced

_STEPS = 48  # pieces of an axis on which an answer changes gradually
_SPAN = 20.0  # a logarithmic axis is for values that span more than so many fold
_MOST = 48  # thresholds that divide an axis; of more, evenly spaced ones
_NEAR = 1e-6  # of the axis, or of a value on a logarithmic one: beyond single precision
_PAD = 0.02  # of the axis, beyond the values


@dataclass(frozen=True)
class Axis:
    """The axis of a column of numbers."""

    log: bool  # only where no value is negative and the positive ones span more than twenty-fold
    low: float  # a little beyond the values; of the positive ones where it is logarithmic
    high: float
    zero: bool  # whether zero has a place of its own, before a logarithmic axis
    missing: bool  # whether a value is missing

    def middle(self, low: float, high: float) -> float:
        """Return the value halfway between two on the axis."""
        if self.log:
            return math.sqrt(low) * math.sqrt(high)
        return low + (high - low) / 2

    def spaced(self, pieces: int) -> list[float]:
        """Return the ends of so many pieces of equal length."""
        if self.log:
            ends = np.exp(np.linspace(math.log(self.low), math.log(self.high), pieces + 1))
        else:
            ends = np.linspace(self.low, self.high, pieces + 1)
        return [self.low, *ends[1:-1].tolist(), self.high]

    def data(self) -> dict[str, Any]:
        """Return the axis as plain values."""
        return {
            "log": self.log, "low": self.low, "high": self.high, "zero": self.zero,
            "missing": self.missing,
        }  # fmt: skip


@dataclass(frozen=True)
class Pieces:
    """The pieces of an axis."""

    ends: list[float]  # one more than there are pieces, sorted
    inside: list[float]  # a value within each piece
    steps: list[float]  # the thresholds among the ends
    beside: list[tuple[float, float]]  # for each of these a value just below it and one just above


def axis_of(values: Floats, thresholds: Sequence[float] = ()) -> Axis:
    """Return the axis of the values of a column, NaN where missing.

    Thresholds that a model asks for lie on it as well.
    """
    known = values[np.isfinite(values)]
    missing = bool(np.isnan(values).any())
    positive = known[known > 0]
    log = bool(len(positive) and known.min() >= 0 and positive.max() / _SPAN > positive.min())
    drawn = positive if log else known
    asked = [t for t in thresholds if math.isfinite(t) and (t > 0 or not log)]
    every = [*drawn.tolist(), *asked] or [0.0]
    low, high = min(every), max(every)
    if low == high:
        size = abs(low) / 2 or 0.5
        low, high = low - size, high + size
    elif log:
        pad = (high / low) ** _PAD
        low, high = low / pad, high * pad
    else:
        pad = _PAD * high - _PAD * low
        low, high = low - pad, high + pad
    return Axis(log, low, high, log and bool((known == 0).any()), missing)


def pieces_of(axis: Axis, thresholds: Sequence[float], gradual: bool, even: int = _STEPS) -> Pieces:
    """Return the pieces of an axis: between thresholds and, where the answer is gradual, even ones.

    Of more than 48 thresholds, as many evenly spaced ones divide it.
    """
    steps = sorted({t for t in thresholds if axis.low < t < axis.high})
    if len(steps) > _MOST:
        at: list[int] = np.linspace(0, len(steps) - 1, _MOST).round().astype(int).tolist()
        steps = [steps[i] for i in at]
    spaced = axis.spaced(even) if gradual or not steps else [axis.low, axis.high]
    ends = sorted({*spaced, *steps})
    inside = [axis.middle(a, b) for a, b in pairwise(ends)]
    beside = [_beside(axis, ends, t) for t in steps]
    return Pieces(ends, inside, steps, beside)


def _beside(axis: Axis, ends: Sequence[float], at: float) -> tuple[float, float]:
    """Return a value just below a threshold and one just above, with none other between."""
    i = ends.index(at)
    near = _NEAR * at if axis.log else _NEAR * (axis.high - axis.low)
    return max(at - near, (ends[i - 1] + at) / 2), min(at + near, (at + ends[i + 1]) / 2)


_ROWS = 20_000  # answered at once
_REASONS = 8_000  # looked at for thresholds, and at most so many values within them
_CELLS = 50_000
_BACKGROUND, _FEWER, _FEWEST = 100, 40, 20  # cases whose other values are kept: of models of many
_VALUES = 40_000  # voters, and of so many values
_MANY = 60  # voters
_FORWARD = ("<", ">=")


class HasCases(Protocol):
    """A model on the columns it reads alone, and training cases as it reads them."""

    @property
    def vote(self) -> Any:
        """Return its vote on these columns."""
        ...

    @property
    def X(self) -> Floats:
        """Return the cases, (n, q): categories as codes, NaN where missing."""
        ...


class Threshold(NamedTuple):
    """A value of a column at which a voter's vote changes."""

    at: float
    closed: bool  # whether the value itself belongs to what is above


def background(asked: HasCases) -> Floats:
    """Return training cases, evenly spaced, as the model reads them.

    At most 100; of a model that takes longer to answer fewer: of more than 60 voters at most 40, of
    so many columns that 100 cases have more than 40,000 values fewer cases, but 20.
    """
    most = _BACKGROUND if asked.vote.n_voters <= _MANY else _FEWER
    most = max(_FEWEST, min(most, _VALUES // max(1, asked.X.shape[1])))
    return asked.X[evenly_spaced(len(asked.X), most)]


def mean_answers(vote: Vote, rows: Floats, column: int, values: Sequence[float]) -> Floats:
    """Return the mean probability of each class if all rows had a value: (len(values), K).

    That is the partial dependence of the probabilities on the column, by brute force (Friedman
    2001, "Greedy function approximation", section 8.2): every other column of the rows (n, q) is as
    it is. NaN asks for the answer where the column is missing.
    """
    step = max(1, _ROWS // max(len(rows), 1))
    found: list[Floats] = []
    for start in range(0, len(values), step):
        part = np.asarray(values[start : start + step], dtype=np.float64)
        asked = np.tile(rows, (len(part), 1))
        asked[:, column] = np.repeat(part, len(rows))
        chances = vote.probabilities(asked)
        found.append(chances.reshape(len(part), len(rows), -1).mean(axis=1))
    return np.vstack(found)


def asked_values(asked: HasCases) -> tuple[dict[int, list[Threshold]], set[int]]:
    """Return the thresholds that voters ask for, by column, and the columns read otherwise, too.

    Both are read off the reasons of the ballots of training cases; where the voters, or the
    columns that one case is answered by, are so many that this would take long, of fewer of them,
    evenly spaced. Columns read otherwise enter a sum, a distance or a weight, so that the answer
    changes gradually with them.
    """
    cells = sum(len(one.cells()) for one in chain.from_iterable(asked.vote.reasons(asked.X[:1])))
    most = max(2, min(_REASONS // max(asked.vote.n_voters, 1), _CELLS // max(cells, 1)))
    rows = asked.X[evenly_spaced(len(asked.X), most)]
    numbered = Names([str(j) for j in range(asked.X.shape[1])])
    found: dict[int, dict[float, bool]] = {}
    gradual: set[int] = set(asked.vote.weighting.columns.tolist())
    for reason in chain.from_iterable(asked.vote.reasons(rows)):
        tests = list(_tests(reason.data(numbered)))
        tested = {int(one["column"]) for one in tests if str(one["column"]).isdecimal()}
        gradual |= {j for j, _ in reason.cells() if j >= 0} - tested
        for one in tests:
            if str(one["column"]).isdecimal():
                own = found.setdefault(int(one["column"]), {})
                own.update(_bounds(one["relation"], one["bound"]))
    listed = {j: [Threshold(at, own[at]) for at in sorted(own)] for j, own in found.items()}
    return {j: own for j, own in listed.items() if own}, gradual


def _tests(data: Any) -> Iterator[dict[str, Any]]:
    """Yield every condition within a reason as data."""
    if isinstance(data, list):
        for one in cast("list[Any]", data):
            yield from _tests(one)
    elif isinstance(data, dict):
        entries = cast("dict[str, Any]", data)
        if {"column", "relation", "bound"} <= entries.keys():
            yield entries
        for one in entries.values():
            yield from _tests(one)


def _bounds(relation: str, bound: Any) -> dict[float, bool]:
    if relation == "within":
        return {float(b): False for b in bound if math.isfinite(b)}
    if relation not in ("<=", ">", *_FORWARD) or not math.isfinite(bound):
        return {}
    return {float(bound): relation in _FORWARD}


def ringed(asked: HasCases, called: Sequence[str]) -> list[int]:
    """Return the training cases that voters are (prototypes), by position; none where all are."""
    numbered = Names([str(j) for j in range(asked.X.shape[1])])
    data = [reason.data(numbered) for reason in asked.vote.reasons(asked.X[:1])[0]]
    place = {name: i for i, name in enumerate(called)}
    named = {str(one["row"]) for one in data if one.get("kind") == "case"}
    rows = sorted(place[name] for name in named if name in place)
    return rows if len(rows) < len(called) / 2 else []


# ---------------------------------------------------------------------- in words
Parts = list[Any]  # words, and {"k": class, "t": words} in its colour
_LISTED = 4
FEW = 8  # thresholds that are listed


class Cut(NamedTuple):
    """The value at which a column changes sides."""

    at: float
    closed: bool  # whether the value itself is above
    text: str  # the value in words, with digits enough for every count beside it
    # 'step': the only threshold; 'split': the value on both sides of which the mean answer differs
    # most; 'crossing': where a rising or falling answer passes that of the cases
    how: str
    # (K,), the mean answer above less that below: just above and below, or on average
    change: Floats


class Says(NamedTuple):
    """What each value of a column moves the mean answer by."""

    pieces: Pieces
    # (n_pieces, K), mean probabilities on each piece, less those of the cases as they are
    moves: Floats
    zero: Floats | None  # (K,), the same at zero, where it lies apart
    # (n_steps, K), the mean answer just above each threshold less that just below; of no threshold
    # where there are more than `FEW`
    jumps: Floats
    # what is worth a word: smaller changes are nothing beside the differences of the answers
    least: float

    @property
    def every(self) -> Floats:
        """Return the moves from the lowest value on, zero included."""
        return self.moves if self.zero is None else np.vstack([self.zero, self.moves])


def _written(at: float, closed: bool, values: Floats) -> tuple[str, bool]:
    """Return a threshold with just enough digits that no value changes sides by it.

    And whether the number itself, as it is printed, is above: 0.3 for what is above 0.2999999.
    """
    known = values[np.isfinite(values)]
    above = _above(known, at, closed)
    tried = [(3, closed), (4, closed), (6, closed), (3, not closed), (4, not closed)]
    for digits, side in [*tried, *((digits, closed) for digits in (9, 12, 17))]:
        text = number(at, digits=digits)
        if np.array_equal(_above(known, float(text), side), above):
            return true_minus(text), side
    return true_minus(repr(at)), closed


def _above(values: Floats, at: float, closed: bool) -> Any:
    return values >= at if closed else values > at


def cut_of(says: Says, closed: dict[float, bool], values: Floats) -> Cut | None:
    """Return the value at which a column changes sides; None where there is no one.

    Of several thresholds it is the one that parts the mean answers best (see `_split`). An answer
    that changes gradually has one where, rising or falling throughout, it passes that of the
    cases as they are, or the value that parts it best, if that tells more than half of its
    variance.
    """
    if float(np.ptp(says.every, axis=0).max()) < says.least:
        return None
    steps = says.pieces.steps
    if len(steps) == 1 and np.abs(says.jumps).max() >= says.least:
        return _cut(steps[0], closed, values, "step", says.jumps[0])
    if not steps and _monotone(says):
        return _crossing(says, values)
    return _split(says, closed, values)


def _cut(at: float, closed: dict[float, bool], values: Floats, how: str, change: Floats) -> Cut:
    text, side = _written(at, closed.get(at, False), values)
    return Cut(float(text.replace(MINUS, "-")), side, text, how, change)


def _monotone(says: Says) -> bool:
    every = says.every
    k = int((every[-1] - every[0]).argmax())
    return bool((np.diff(every[:, k]) >= -1e-9).all())


def _crossing(says: Says, values: Floats) -> Cut | None:
    """Return where a monotone answer of two classes passes that of the cases, to two figures."""
    moves, inside = says.moves, says.pieces.inside
    k = int((moves[-1] - moves[0]).argmax())
    line = moves[:, k]
    at = np.flatnonzero(np.sign(line[1:]) != np.sign(line[:-1]))
    if len(at) != 1 or moves.shape[1] > 2:
        return None
    i = int(at[0])
    part = line[i] / (line[i] - line[i + 1])
    found = float(number(float(inside[i] + part * (inside[i + 1] - inside[i])), digits=2))
    return Cut(found, False, value_text(found), "crossing", moves[-1] - moves[0])


def _split(says: Says, closed: dict[float, bool], values: Floats) -> Cut | None:
    """Return the value that parts the mean answers best, weighed by the cases on each piece.

    It is that of greatest ``n_low n_high |mean_high - mean_low|^2``: what a regression tree of one
    split would ask.
    """
    ends = says.pieces.ends
    known = values[np.isfinite(values)]
    weights = np.histogram(known, ends)[0].astype(np.float64)
    weights[0] += (known < ends[0]).sum() if says.zero is None else 0
    every = says.every
    if says.zero is not None:
        weights = np.concatenate([[(known == 0).sum()], weights])
    total = weights.sum()
    low, up = np.cumsum(weights)[:-1], np.cumsum(weights[:, None] * every, axis=0)[:-1]
    high, whole = total - low, (weights[:, None] * every).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        off = (whole - up) / high[:, None] - up / low[:, None]
        gain = np.nan_to_num(low * high / total * (off**2).sum(axis=1))
    asked = ends[1:-1] if says.zero is None else ends[:-1]  # the end behind each of these pieces
    steps = set(says.pieces.steps)
    allowed = np.array([end in steps or not steps for end in asked])
    gain = np.where(allowed, gain, 0.0)
    i = int(gain.argmax())
    variance = (weights[:, None] * (every - whole / total) ** 2).sum()
    if gain[i] <= 0 or (not steps and gain[i] < variance / 2):
        return None
    if steps:
        return _cut(asked[i], closed, values, "split", off[i])
    found = float(number(asked[i], digits=2))
    return Cut(found, False, value_text(found), "split", off[i])


def direction(says: Says, cut: Cut | None, classes: Sequence[str]) -> Parts:
    """Return for whom the column speaks above the cut and at or below it."""
    every = says.every
    if float(np.ptp(every, axis=0).max()) < says.least:
        return [_idle(every)]
    if cut is None or cut.how == "crossing":
        return _gradual(says, cut, classes)
    first = sum(inside < cut.at for inside in says.pieces.inside) + (says.zero is not None)
    tops = set(every[first:].argmax(axis=1).tolist())
    bottoms = set(every[:first].argmax(axis=1).tolist())
    about = "about " if not says.pieces.steps else ""
    head, below = ("From", "Below it") if cut.closed else ("Above", "At or below")
    head = f"{head} {about}{cut.text}" + (" on" if cut.closed else "")
    if len(tops) == len(bottoms) == 1 and tops != bottoms:
        top, bottom = tops.pop(), bottoms.pop()
        return [{"k": top, "t": f"{head}: {classes[top]}."}, f" {below}: ",
                {"k": bottom, "t": classes[bottom]}, "."]  # fmt: skip
    up, down = int(cut.change.argmax()), int(cut.change.argmin())
    mean = " on average" if cut.how == "split" else ""
    words: Parts = [{"k": up, "t": f"{head}: more like {classes[up]}{mean}"}, ", less like ",
                    {"k": down, "t": classes[down]}, "."]  # fmt: skip
    if len(tops | bottoms) == 1:
        side = tops.pop()
        words += [" It leans to ", {"k": side, "t": classes[side]}, " on both sides."]
    return words


def _idle(moves: Floats) -> str:
    most = float(np.ptp(moves, axis=0).max())
    if most < 1e-12:
        return "By itself its value does not move the mean answer."
    return f"By itself its value hardly moves the mean answer: by {value_text(most, 2)} at most."


def _gradual(says: Says, cut: Cut | None, classes: Sequence[str]) -> Parts:
    every = says.every
    change = every[-1] - every[0]
    k, down = int(change.argmax()), int(change.argmin())
    if _monotone(says):
        words: Parts = [{"k": k, "t": f"The higher, the more like {classes[k]}."}]
        if len(classes) > 2:
            words += [" Most is taken from ", {"k": down, "t": classes[down]}, "."]
        tips = f" Beyond about {cut.text} it tips the mean answer that way." if cut else ""
        return [*words, tips] if tips else words
    inside = says.pieces.inside if says.zero is None else [0.0, *says.pieces.inside]
    top = int(every.max(axis=0).argmax())
    at = value_text(inside[int(every[:, top].argmax())], 2)
    return ["It does not point one way: ", {"k": top, "t": f"most like {classes[top]}"},
            f" at about {at}."]  # fmt: skip


def sides(values: Floats, y: Indices, cut: Cut | None, n_classes: int) -> dict[str, list[int]]:
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


def further(says: Says, cut: Cut) -> str:
    """Return at which other thresholds the mean answer changes, '' if at none."""
    steps = says.pieces.steps
    if not steps or len(steps) > FEW:
        return f" It asks for at least {len(steps)} values." if steps else ""
    sizes = np.abs(says.jumps).max(axis=1)
    main = int(np.abs(np.array(steps) - cut.at).argmin())
    shown = [i for i in range(len(sizes)) if i != main and sizes[i] >= says.least]
    if not shown:
        return ""
    kept = sorted(sorted(shown, key=lambda i: -sizes[i])[:_LISTED])
    words = [value_text(steps[i], 4) for i in kept]
    more = len(shown) - len(kept)
    return f" Further steps at {series([*words, f'{more} more'] if more else words)}."


def level_words(
    moves: Floats, levels: Sequence[str], classes: Sequence[str], least: float
) -> Parts:
    """Return which categories speak for which class: those that move the mean answer to it."""
    if float(np.ptp(moves, axis=0).max()) < least:
        return [_idle(moves)]
    words: Parts = []
    for k, name in enumerate(classes):
        order: list[int] = np.argsort(-moves[:, k], kind="stable").tolist()
        own = [levels[i] for i in order if int(moves[i].argmax()) == k and moves[i, k] >= least / 2]
        more = len(own) - _LISTED
        if own:
            listed = series([*own[:_LISTED], f"{more} more"] if more > 0 else own)
            words += [{"k": k, "t": f"{listed}: {name}."}, " "]
    return words[:-1]
