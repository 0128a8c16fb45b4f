"""A model of stumps or ordered rules as a printable score sheet, worked by hand."""

import math
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from html import escape
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos._types import Floats
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.files.names import Names
from psephos.scoring.form import Branching, NodeRule, plain
from psephos.vote.reading.core import unpacked
from psephos.vote.reading.trees import TreeReader

_MOST = 1 << 20  # the most totals, all of which are tried
_DIGITS = (1, 2, 3, 4, 5, 6, 8, 10, 12)  # of points that are tried
_LEVEL = 2.0**-41  # the relative size of rounding errors
_HAND = 12  # the most digits of a value that is compared by hand


class Band(NamedTuple):
    """A range of a column, some of its levels, or 'not measured', with points for each output."""

    words: str
    points: tuple[int, ...]


class PointSheet(NamedTuple):
    """Points to be added: `base`, and one band of every column.

    Parameters
    ----------
    outputs : list of str
        The classes that get points: the second of two, or each class.
    base : tuple of int
    columns : list of (str, list of Band)
    classes : list of str
    """

    outputs: list[str]
    base: tuple[int, ...]
    columns: list[tuple[str, list[Band]]]
    classes: list[str]

    def answer(self, chosen: list[int]) -> str:
        """Return the class for one band of each column."""
        total = list(self.base)
        for (_, bands), band in zip(self.columns, chosen, strict=True):
            total = [a + b for a, b in zip(total, bands[band].points, strict=True)]
        if len(total) == 1:
            return self.classes[int(total[0] > 0)]
        return self.classes[total.index(max(total))]


def sheet_of(estimator: VoteEstimator) -> PointSheet:
    """Return the points of a model of stumps: whole numbers that give the same predictions.

    Points are the contributions in the coarsest unit for which every combination of bands gives the
    prediction of the model; all combinations are tried.

    Raises
    ------
    PsephosError
        If the model is of another kind, or has too many bands to work by hand.
    """
    model = plain(estimator)
    stumps = _Stumps(model)
    tables = [_bands(stumps, model, j) for j in range(len(model["columns"]))]
    base, used = _base(model, stumps), [(j, own) for j, own in enumerate(tables) if own]
    number = math.prod(len(own) for _, own in used)
    if number > _MOST:
        raise PsephosError(
            f"{model['model']} has too many combinations of bands for a score sheet: {number:,}, "
            f"of {len(used)} columns. Fit fewer voters, or export a scorer."
        )
    parts = [np.array([values for _, values in own]) for _, own in used]
    for digits in _DIGITS:
        unit = max(float(np.abs(own).max()) for own in [base[None], *parts]) / 10**digits
        whole = [np.rint(own / unit).astype(np.int64) for own in [base[None], *parts]]
        if _same(whole, [base[None], *parts], 0.0 if "bound" in model["target"] else _LEVEL):
            break
    else:
        raise PsephosError(f"no whole points give the predictions of this {model['model']}.")
    names = [str(c) for c in model["classes"]]
    columns = [
        (
            str(model["columns"][j]["name"]),
            [Band(w, tuple(p)) for (w, _), p in zip(own, points.tolist(), strict=True)],
        )
        for (j, own), points in zip(used, whole[1:], strict=True)
    ]
    outputs = names[1:] if len(names) == 2 else names
    return PointSheet(outputs, tuple(whole[0][0].tolist()), columns, names)


class _Stumps:
    """The stumps and constants of a model, with their weights; `column` is -1 for a constant."""

    def __init__(self, model: dict[str, Any]) -> None:
        voters, how, alpha = model["voters"], model["readout"]["score"], model["weights"]
        joined = voters["kind"] == "joined voters"
        parts = voters["parts"] if joined else [voters]
        plainly = alpha["kind"] == "constant" and how in ("sum", "normalised")
        classes = model["target"]["kind"] in ("target", "target with a threshold")
        known = classes and not model["readout"]["calibration"]
        short = all(part.get("each") in ("stump", "constant") for part in parts)
        if not (plainly and known and short):
            raise PsephosError(
                f"{model['model']} has no score sheet: it must have stumps with constant weights, "
                "or ordered rules. Export a scorer."
            )
        self._readers = [TreeReader(unpacked(part)) for part in parts]
        where = zip(voters["part"], voters["place"], strict=True) if joined else None
        self._where = list(where or ((0, t) for t in range(self._readers[0].n_voters)))
        self.alpha: list[float] = alpha["alpha"]
        self.scale = (sum(map(abs, self.alpha)) or 1.0) if how == "normalised" else 1.0
        rules = [(self._readers[k].rules, self._readers[k].root[t]) for k, t in self._where]
        self.column = [own.column[root] for own, root in rules]
        self.threshold = [own.threshold[root] for own, root in rules]

    def added(self, voters: list[int], x: dict[int, float]) -> list[float]:
        """Return the contribution of some voters to the score of a case."""
        votes = [(t, self._readers[self._where[t][0]].voted(self._where[t][1], x)) for t in voters]
        return np.sum([np.array(vote) * self.alpha[t] for t, vote in votes], axis=0).tolist()


def _base(model: dict[str, Any], stumps: _Stumps) -> Floats:
    """Return the constant voters' contribution minus the threshold: the second class is above 0.

    A total within rounding of the threshold is for the class that the threshold is of.
    """
    target = model["target"]
    constants = [t for t, column in enumerate(stumps.column) if column < 0]
    k = 1 if len(model["classes"]) == 2 else len(model["classes"])
    base = np.zeros(k)
    if "bound" in target:
        rounding = -_LEVEL if target["positive"] else _LEVEL
        base -= (target["bound"] + rounding) * stumps.scale
    return base + stumps.added(constants, {}) if constants else base


def _bands(stumps: _Stumps, model: dict[str, Any], j: int) -> list[tuple[str, list[float]]]:
    """Return (words, contributions) of the bands of a column; empty if no stump reads it."""
    own = [t for t, column in enumerate(stumps.column) if column == j]
    if not own:
        return []
    levels = model["columns"][j].get("levels")
    if levels is not None:
        values = [(str(level), float(code)) for code, level in enumerate(levels)]
    else:
        values = _ranges(sorted({stumps.threshold[t] for t in own} - {math.inf}))
    found = [(words, stumps.added(own, {j: v})) for words, v in values]
    merged: list[tuple[str, list[float]]] = []
    for words, points in found:
        if levels is not None and (same := [m for m in merged if m[1] == points]):
            at = merged.index(same[0])
            merged[at] = (f"{merged[at][0]}, {words}", points)
        else:
            merged.append((words, points))
    return [*merged, ("not measured", stumps.added(own, {j: math.nan}))]


def _ranges(bounds: list[float]) -> list[tuple[str, float]]:
    """Return (words, a value inside) for each range between bounds; a range has its upper end."""
    if not bounds:
        return [("measured", 0.0)]
    sides = [_sides(bound) for bound in bounds]
    words = [sides[0][0], *(f"{a[1]}, {b[0]}" for a, b in pairwise(sides)), sides[-1][1]]
    last = float(np.nextafter(bounds[-1], np.inf))
    return list(zip(words, [*bounds, last], strict=True))


def _sides(bound: float) -> tuple[str, str]:
    """Return the words for the lower side of a bound, which includes it, and for the upper."""
    closed, text = hand_bound(bound)
    return (f"at most {text}", f"above {text}") if closed else (f"below {text}", f"from {text} on")


def hand_bound(bound: float) -> tuple[bool, str]:
    """Return whether the printed bound belongs to the lower side, and its shortest text.

    For values of at most twelve digits, ``value <= bound`` is the same as ``value <= text`` if it
    does, else as ``value < text``: 2.3499999999999996 is written as below 2.35.

    Examples
    --------
    >>> from psephos.scoring.sheet import hand_bound
    >>> hand_bound(-0.6779999999999999), hand_bound(2.3499999999999996), hand_bound(2.5)
    ((True, '-0.678'), (False, '2.35'), (True, '2.5'))
    """
    if not math.isfinite(bound) or bound == 0:
        return True, f"{bound:g}"
    exact = Decimal(bound)
    step = Decimal(1).scaleb(exact.adjusted() - _HAND)  # no value of twelve digits is so near
    for digits in range(1, _HAND + 1):
        near = _rounded(exact, digits)
        if abs(near - exact) < step:
            return float(near) <= bound, _written(near)
    return True, _written(_rounded(exact, _HAND, ROUND_FLOOR))


def _rounded(value: Decimal, digits: int, how: str = ROUND_HALF_EVEN) -> Decimal:
    return value.quantize(Decimal(1).scaleb(value.adjusted() - digits + 1), rounding=how)


def _written(value: Decimal) -> str:
    """Return a number of few digits without trailing zeros."""
    size = value.adjusted()
    return f"{value.normalize():f}" if -5 < size < 15 else f"{value.normalize():e}"


def _same(whole: list[NDArray[Any]], exact: list[NDArray[Any]], level: float) -> bool:
    """Return whether whole points give the model's predictions for all combinations of bands.

    For two classes a sum counts as above 0 if it exceeds `level` times the greatest.
    """
    k = exact[0].shape[1]
    points, sums = np.zeros((1, k), dtype=np.int64), np.zeros((1, k))
    for p, s in zip(whole, exact, strict=True):
        points = (points[:, None] + p).reshape(-1, k)
        sums = (sums[:, None] + s).reshape(-1, k)
    if k == 1:
        size = max(1.0, float(np.abs(sums).max()))
        return bool(((points[:, 0] > 0) == (sums[:, 0] > level * size)).all())
    near = sums >= sums.max(axis=1, keepdims=True) - 1e-12
    return bool((points.argmax(axis=1) == near.argmax(axis=1)).all())


# ---------------------------------------------------------------------- as a page
_STYLE = """
body { font: 11pt/1.4 Georgia, serif; max-width: 18cm; margin: 1cm auto; color: #111; }
table { border-collapse: collapse; width: 100%; } caption { text-align: left; font-weight: bold; }
td, th { border-bottom: 1px solid #999; padding: .15em .5em; text-align: left; }
td.n, th.n { text-align: right; } td.box { border: 1px solid #111; width: 2.5cm; }
tbody { break-inside: avoid; } @page { margin: 1.2cm; }
"""


def sheet(estimator: VoteEstimator, title: str = "") -> str:
    """Return an HTML page to print: a model of stumps as points, or of ordered rules as a list.

    Worked by hand, it gives the predictions of the model.

    Parameters
    ----------
    estimator : fitted estimator of psephos
    title : str, default=''
        The heading; '' means the class of the model.

    Raises
    ------
    PsephosError
        If the model is of another kind, or has too many bands to work by hand.
    """
    model = plain(estimator)
    body = _rules(model) if model["weights"]["kind"] == "first match" else _points(estimator)
    head = escape(title or model["model"])
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{head}</title>'
        f"<style>{_STYLE}</style></head>\n<body><h1>{head}</h1>\n{body}\n</body></html>\n"
    )


def _points(estimator: VoteEstimator) -> str:
    made = sheet_of(estimator)
    heads = "".join(f'<th class="n">points for {escape(o)}</th>' for o in made.outputs)
    rows: list[str] = []
    for name, bands in made.columns:
        for i, band in enumerate(bands):
            first = f'<th rowspan="{len(bands)}">{escape(name)}</th>' if i == 0 else ""
            cells = "".join(f'<td class="n">{p:+d}</td>' for p in band.points)
            box = f'<td class="box" rowspan="{len(bands)}"></td>' if i == 0 else ""
            rows.append(f"<tr>{first}<td>{escape(band.words)}</td>{cells}{box}</tr>")
    base = "".join(f'<td class="n">{p:+d}</td>' for p in made.base)
    rule = (
        f"Add the points of one line per column. Above 0: <b>{escape(made.classes[1])}</b>; 0 or "
        f"below: <b>{escape(made.classes[0])}</b>."
        if len(made.classes) == 2
        else "Add the points of one line per column, class by class. The class with the most "
        "points is the answer; of ties, the first."
    )
    start = f'<tr><th>to begin with</th><td></td>{base}<td class="box"></td></tr>'
    return (
        f"<p>{rule}</p><table><thead><tr><th>column</th><th>if it is</th>{heads}<th>yours</th></tr>"
        f"</thead><tbody>{start}{''.join(rows)}</tbody></table>"
        "<p>All combinations of lines were tried: each gives the answer of the model, for values "
        f"of at most {_HAND} digits.</p>"
    )


def _rules(model: dict[str, Any]) -> str:
    if model["voters"]["kind"] != "trees":
        raise PsephosError(
            f"{model['model']} has no score sheet: its leaves hold linear models. Export a scorer."
        )
    rules = Branching(model["voters"])
    order = sorted(range(len(rules.root)), key=lambda t: model["weights"]["rank"][t])
    levels = {j: c["levels"] for j, c in enumerate(model["columns"]) if "levels" in c}
    names = Names([c["name"] for c in model["columns"]], levels)
    lines: list[str] = []
    for t in order:
        inner = [n for n in rules.within(t) if rules.children[n]]
        conditions = [_condition(names, rules.node_rules(n)[0]) for n in inner]
        answer = model["classes"][_class_of(model, rules.value[rules.last(t)])]
        when = f"If {' and '.join(conditions)}" if conditions else "Otherwise"
        lines.append(f"<li>{escape(when)}: <b>{escape(str(answer))}</b></li>")
    return (
        "<p>Read from the top: the first line that holds gives the answer. A value that was not "
        f"measured meets no condition. Values have at most {_HAND} digits.</p>"
        f"<ol>{''.join(lines)}</ol>"
    )


def _condition(names: Names, rule: NodeRule) -> str:
    if rule.codes:
        return f"{names.columns[rule.column]} is {names.level(rule.column, rule.codes.index(0))}"
    closed, text = hand_bound(float(rule.threshold))
    op = (("<", ">="), ("<=", ">"))[closed][rule.flip]
    return f"{names.columns[rule.column]} {op} {text}"


def _class_of(model: dict[str, Any], vote: list[float]) -> int:
    bound = model["target"].get("bound", 0.0)
    return int(vote[0] > bound) if len(vote) == 1 else vote.index(max(vote))
