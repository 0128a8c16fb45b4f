"""The effect of a column: its axis, the partial dependence along it, and both in words."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, pairwise
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from psephos._types import Floats, Indices
from psephos.files.names import MINUS, Names, number, series, true_minus, value_text
from psephos.vote import Vote
from psephos.vote.importance import evenly_spaced

_STEPS = 48  # pieces of an axis along which predictions change gradually
_SPAN = 20.0  # an axis is logarithmic if the largest value is more than this times the smallest
_MOST = 48  # thresholds that divide an axis; of more, as many evenly spaced ones
_NEAR = 1e-6  # a step beside a threshold, as a share of the axis: above single precision
_BARELY = 0.02  # mean predictions that differ by less, as a share of their range, are alike
_PAD = 0.02  # margin at both ends of an axis, as a share of its range


@dataclass(frozen=True)
class Axis:
    """The axis of a numeric column."""

    log: bool  # if no value is negative and the positive ones span more than twenty-fold
    low: float  # a little below the values; of a logarithmic axis, below the positive ones
    high: float
    zero: bool  # whether zero is shown apart, before a logarithmic axis
    missing: bool  # whether a value is missing

    def middle(self, low: float, high: float) -> float:
        """Return the value halfway between two values on the axis."""
        if self.log:
            return math.sqrt(low) * math.sqrt(high)
        return low + (high - low) / 2

    def spaced(self, pieces: int) -> list[float]:
        """Return the ends of `pieces` pieces of equal length."""
        if self.log:
            ends = np.exp(np.linspace(math.log(self.low), math.log(self.high), pieces + 1))
        else:
            ends = np.linspace(self.low, self.high, pieces + 1)
        return [self.low, *ends[1:-1].tolist(), self.high]

    def data(self) -> dict[str, Any]:
        """Return the axis as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Pieces:
    """The pieces into which an axis is divided."""

    ends: list[float]  # sorted, one more than there are pieces
    inside: list[float]  # a value within each piece
    steps: list[float]  # the thresholds among the ends
    beside: list[tuple[float, float]]  # for each threshold a value just below and one just above


def axis_of(values: Floats, thresholds: Sequence[float] = ()) -> Axis:
    """Return the axis of a column's values (NaN where missing) and of its voters' thresholds."""
    known = values[np.isfinite(values)]
    missing = bool(np.isnan(values).any())
    positive = known[known > 0]
    log = bool(len(positive) and known.min() >= 0 and positive.max() / _SPAN > positive.min())
    drawn = positive if log else known
    shown = [t for t in thresholds if math.isfinite(t) and (t > 0 or not log)]
    every = [*drawn.tolist(), *shown] or [0.0]
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
    """Divide an axis at the thresholds and, if predictions change gradually, into even pieces.

    Of more than 48 thresholds only 48, evenly spaced in their order, are used.
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
    """Return a value just below a threshold and one just above, with no other end between them."""
    i = ends.index(at)
    near = _NEAR * at if axis.log else _NEAR * (axis.high - axis.low)
    return max(at - near, (ends[i - 1] + at) / 2), min(at + near, (at + ends[i + 1]) / 2)


_ROWS = 20_000  # rows predicted at once
_REASONS = 8_000  # reasons that are searched for thresholds, at most
_CELLS = 50_000  # values within these reasons, at most
_BACKGROUND, _FEWER, _FEWEST = 100, 40, 20  # background cases; fewer for large models; at least
_MANY = 60  # voters of a large model: more than this
_VALUES = 40_000  # values of the background cases, at most
_FORWARD = ("<", ">=")  # relations whose bound belongs to the upper side


class HasCases(Protocol):
    """A model restricted to the columns it reads, with its training cases."""

    @property
    def vote(self) -> Any:
        """Return the vote, with columns indexed as in the restricted model."""
        ...

    @property
    def X(self) -> Floats:
        """Return the (n, q) cases: categories as codes, NaN where missing."""
        ...


class Threshold(NamedTuple):
    """A value of a column at which a voter's vote changes."""

    at: float
    closed: bool  # whether the value itself belongs to the upper side


def background(model: HasCases) -> Floats:
    """Return evenly spaced training cases over which partial dependence is averaged.

    They are at most 100, or 40 for a model of more than 60 voters, and have at most 40,000 values
    unless that leaves fewer than 20 cases.
    """
    most = _BACKGROUND if model.vote.n_voters <= _MANY else _FEWER
    most = max(_FEWEST, min(most, _VALUES // max(1, model.X.shape[1])))
    return model.X[evenly_spaced(len(model.X), most)]


def mean_answers(
    vote: Vote,
    rows: Floats,
    column: int,
    values: Sequence[float],
    number: bool = False,
) -> Floats:
    """Return the mean probability of each class if all rows had each value: (len(values), K).

    Or with `number` the mean prediction of a numeric target: (len(values), 1).

    This is the partial dependence of the probabilities on the column, by brute force (Friedman
    2001, "Greedy function approximation", section 8.2): the other columns of the rows (n, q) keep
    their values. The value NaN stands for a missing value.
    """
    tried = np.repeat(rows[:1], len(values), axis=0)
    tried[:, column] = values
    vote, derived = vote.derived(np.vstack([rows, tried]))
    rows, at = derived[: len(rows)], derived[len(rows) :, column]
    step = max(1, _ROWS // max(len(rows), 1))
    found: list[Floats] = []
    for start in range(0, len(at), step):
        part = at[start : start + step]
        changed = np.tile(rows, (len(part), 1))
        changed[:, column] = np.repeat(part, len(rows))
        chances = vote.answers(changed).astype(float) if number else vote.probabilities(changed)
        found.append(chances.reshape(len(part), len(rows), -1).mean(axis=1))
    return np.vstack(found)


def voter_thresholds(model: HasCases) -> tuple[dict[int, list[Threshold]], set[int]]:
    """Return the voters' thresholds by column, and the columns that are also read in another way.

    Both come from the voters' reasons for training cases; of large models only some evenly spaced
    cases are used, so a threshold may be left out. The second columns enter a sum, a distance or a
    weight, so predictions change gradually with them.
    """
    cells = sum(len(one.cells()) for one in chain.from_iterable(model.vote.reasons(model.X[:1])))
    most = max(2, min(_REASONS // max(model.vote.n_voters, 1), _CELLS // max(cells, 1)))
    rows = model.X[evenly_spaced(len(model.X), most)]
    numbered = Names([str(j) for j in range(model.X.shape[1])])
    found: dict[int, dict[float, bool]] = {}
    gradual: set[int] = set(model.vote.weighting.columns.tolist())
    for reason in chain.from_iterable(model.vote.reasons(rows)):
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


def ringed(model: HasCases, called: Sequence[str]) -> list[int]:
    """Return the positions of the cases that are prototypes; none if half the cases or more are."""
    numbered = Names([str(j) for j in range(model.X.shape[1])])
    data = [reason.data(numbered) for reason in model.vote.reasons(model.X[:1])[0]]
    place = {name: i for i, name in enumerate(called)}
    named = {str(one["row"]) for one in data if one.get("kind") == "case"}
    rows = sorted(place[name] for name in named if name in place)
    return rows if len(rows) < len(called) / 2 else []


# ---------------------------------------------------------------------- in words
Parts = list[Any]  # text, and {"k": class, "t": text} in the colour of a class
_LISTED = 4  # thresholds or categories that are named
FEW = 8  # thresholds whose jumps are computed


class Cut(NamedTuple):
    """The value at which the effect of a column changes."""

    at: float
    closed: bool  # whether the value itself belongs to the upper side
    text: str  # the value, with enough digits that every count of cases beside it is right
    # 'step': the only threshold; 'split': the value that divides the mean predictions best;
    # 'crossing': where a monotone mean prediction equals that of the cases as they are
    how: str
    # (K,), the mean prediction above minus that below: next to the value, or over both sides
    change: Floats


class Says(NamedTuple):
    """The change of the mean prediction at each value of a column."""

    pieces: Pieces
    # (n_pieces, K), mean probabilities on each piece minus those of the cases as they are
    moves: Floats
    zero: Floats | None  # (K,), the same at zero, where it is shown apart
    # (n_steps, K), the mean prediction just above each threshold minus that just below; (0, K) if
    # there are more than `FEW` thresholds
    jumps: Floats
    least: float  # smaller changes are not described

    @property
    def every(self) -> Floats:
        """Return the changes from the lowest value to the highest, zero included."""
        return self.moves if self.zero is None else np.vstack([self.zero, self.moves])


def _written(at: float, closed: bool, values: Floats) -> tuple[str, bool]:
    """Return a threshold with just enough digits that rounding moves no value to the other side.

    The second result says whether the printed number itself is above: true of 0.3 for > 0.2999999.
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
    """Return the value at which the effect of a column changes; None if no single value does.

    Of several thresholds it is the one that divides the mean predictions best (see `_split`). If
    predictions change gradually, it is where a monotone mean prediction crosses that of the cases
    as they are, or else the best split, if that explains at least half of the variance.
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
    """Return where a monotone prediction of two classes crosses its mean."""
    moves, inside = says.moves, says.pieces.inside
    k = int((moves[-1] - moves[0]).argmax())
    line = moves[:, k]
    crossed = np.flatnonzero(np.sign(line[1:]) != np.sign(line[:-1]))
    if len(crossed) != 1 or moves.shape[1] > 2:
        return None
    i = int(crossed[0])
    part = line[i] / (line[i] - line[i + 1])
    at = float(inside[i] + part * (inside[i + 1] - inside[i]))
    return about_cut(at, values, "crossing", moves[-1] - moves[0])


def about_cut(at: float, values: Floats, how: str, change: Floats) -> Cut:
    """Return a cut at a value of two digits, or of more if that is the value of a case."""
    found = float(number(at, digits=2))
    if found in values:  # on which side it is must not depend on rounding
        return _cut(at, {}, values, how, change)
    return Cut(found, False, value_text(found), how, change)


def _split(says: Says, closed: dict[float, bool], values: Floats) -> Cut | None:
    """Return the best split of the mean predictions, weighted by the cases on each piece.

    It maximises ``n_low n_high |mean_high - mean_low|^2``, as a regression tree with one split.
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
    uppers = ends[1:-1] if says.zero is None else ends[:-1]  # the upper end of each of these pieces
    steps = set(says.pieces.steps)
    allowed = np.array([end in steps or not steps for end in uppers])
    gain = np.where(allowed, gain, 0.0)
    i = int(gain.argmax())
    variance = (weights[:, None] * (every - whole / total) ** 2).sum()
    if gain[i] <= 0 or (not steps and gain[i] < variance / 2):
        return None
    if steps:
        return _cut(uppers[i], closed, values, "split", off[i])
    return about_cut(float(uppers[i]), values, "split", off[i])


def direction(says: Says, cut: Cut | None, classes: Sequence[str]) -> Parts:
    """Return which class the column favours above the cut, and at or below it."""
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
        return [{"k": top, "t": f"{head}: more like {classes[top]}."}, f" {below}: ",
                {"k": bottom, "t": f"more like {classes[bottom]}"}, "."]  # fmt: skip
    up, down = int(cut.change.argmax()), int(cut.change.argmin())
    head += ": on average" if cut.how == "split" else ":"
    less = [" and less like ", {"k": down, "t": classes[down]}] if len(classes) > 2 else []
    words: Parts = [{"k": up, "t": f"{head} more like {classes[up]}"}, *less, " than below."]
    if len(tops | bottoms) == 1:
        side = tops.pop()
        words += [" Both sides favour ", {"k": side, "t": classes[side]}, "."]
    return words


def _idle(moves: Floats) -> str:
    most = float(np.ptp(moves, axis=0).max())
    if most < 1e-12:
        return "By itself its value does not move the mean answer."
    return f"By itself its value moves the mean answer by {value_text(most, 2)} at most."


def _gradual(says: Says, cut: Cut | None, classes: Sequence[str]) -> Parts:
    every = says.every
    change = every[-1] - every[0]
    k, down = int(change.argmax()), int(change.argmin())
    if _monotone(says):
        words: Parts = [{"k": k, "t": f"The higher, the more like {classes[k]}."}]
        if len(classes) > 2:
            words += [" Mostly at the expense of ", {"k": down, "t": classes[down]}, "."]
        if cut:
            words.append(f" Above about {cut.text} it pushes the mean answer towards {classes[k]}.")
        return words
    inside = says.pieces.inside if says.zero is None else [0.0, *says.pieces.inside]
    top = int(every.max(axis=0).argmax())
    at = value_text(inside[int(every[:, top].argmax())], 2)
    return ["It rises and falls: ", {"k": top, "t": f"most like {classes[top]}"},
            f" at about {at}."]  # fmt: skip


def rises(vote: Vote, rows: Floats, column: int, values: Floats, levels: Sequence[str] = ()) -> str:
    """Return how the mean prediction of a number moves as the values of a column grow.

    It is the partial dependence on the column, over `rows` (n, q), from the lowest of its `values`
    (m,) to the highest: "mostly" if it moves back by up to a ninth of the whole movement. For a
    category, with `levels`, the one with the highest prediction is named.
    """
    axis = axis_of(values)
    inside = [*([0.0] if axis.zero else []), *pieces_of(axis, [], gradual=True).inside]
    at = [float(k) for k in range(len(levels))] or inside
    line = mean_answers(vote, rows, column, at, number=True)[:, 0]
    size, named = float(np.ptp(line)), levels or [value_text(v, 2) for v in at]
    if size < _BARELY * float(np.ptp(vote.answers(rows).astype(np.float64))):
        return f"By itself its value barely moves the mean prediction ({value_text(size, 2)})."
    top, low = named[int(line.argmax())], named[int(line.argmin())]
    if levels:
        return f"The prediction is highest for {top}, by {value_text(size, 2)} above {low}."
    net, way = float(line[-1] - line[0]), float(np.abs(np.diff(line)).sum())
    if abs(net) < 0.8 * way:
        return f"The prediction rises and falls: highest at about {top}, lowest at about {low}."
    head = "The higher" if abs(net) > (1 - 1e-9) * way else "Mostly, the higher"
    change = f"the {'higher' if net > 0 else 'lower'} the prediction"
    return f"{head} it is, {change}, by {value_text(abs(net), 2)} from end to end."


def sides(values: Floats, y: Indices, cut: Cut | None, n_classes: int) -> dict[str, list[int]]:
    """Count the cases of each class above the cut, at or below it, and without a value."""
    missing = np.isnan(values)

    def by_class(which: Any) -> list[int]:
        return np.bincount(y[which], minlength=n_classes).tolist()

    found = {"missing": by_class(missing)}
    if cut is not None:
        above = _above(values, cut.at, cut.closed) & ~missing
        found |= {"above": by_class(above), "below": by_class(~above & ~missing)}
    return found


def count_words(counts: dict[str, list[int]], cut: Cut, classes: Sequence[str]) -> str:
    """Return a sentence: how many cases of each class with a value are above the cut."""
    pairs = zip(counts["above"], counts["below"], classes, strict=True)
    words = [f"{a} of {a + b} {name}" for a, b, name in pairs]
    lost = sum(counts["missing"])
    gap = f"; {lost} lack a value" if lost else ""
    return f"{'At or above it' if cut.closed else 'Above it'} are {series(words)}{gap}."


def further(says: Says, cut: Cut) -> str:
    """Return a sentence on the other thresholds at which the mean prediction changes, or ''."""
    steps = says.pieces.steps
    if not steps or len(steps) > FEW:
        return f" Voters split this column at {len(steps)} or more values." if steps else ""
    sizes = np.abs(says.jumps).max(axis=1)
    main = int(np.abs(np.array(steps) - cut.at).argmin())
    shown = [i for i in range(len(sizes)) if i != main and sizes[i] >= says.least]
    if not shown:
        return ""
    kept = sorted(sorted(shown, key=lambda i: -sizes[i])[:_LISTED])
    words = [value_text(steps[i], 4) for i in kept]
    words += [f"{len(shown) - len(kept)} more"] * (len(shown) > len(kept))
    return f" There {'are further steps' if shown[1:] else 'is a further step'} at {series(words)}."


def level_words(
    moves: Floats, levels: Sequence[str], classes: Sequence[str], least: float
) -> Parts:
    """Return which categories favour which class, by moving the mean prediction towards it."""
    if float(np.ptp(moves, axis=0).max()) < least:
        return [_idle(moves)]
    words: Parts = []
    for k, name in enumerate(classes):
        order: list[int] = np.argsort(-moves[:, k], kind="stable").tolist()
        own = [levels[i] for i in order if int(moves[i].argmax()) == k and moves[i, k] >= least / 2]
        more = len(own) - _LISTED
        if own:
            listed = series([*own[:_LISTED], f"{more} more"] if more > 0 else own)
            words += [{"k": k, "t": f"{listed}: more like {name}."}, " "]
    return words[:-1]
