"""The effect of each column that a model reads, or of two: figures of the panel of values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from psephos._types import Floats, Indices, JsonObject
from psephos.explain.cohort import given_counts
from psephos.explain.column_values import shown_of
from psephos.explain.effects import (
    Axis,
    Pieces,
    Threshold,
    axis_of,
    background,
    count_words,
    direction,
    further,
    level_words,
    mean_answers,
    pieces_of,
    ringed,
    sides,
    voter_thresholds,
)
from psephos.explain.rising import NumericColumns, rising_with
from psephos.files.names import percent
from psephos.protocol.evaluation.stability import positions_of
from psephos.report.numbers.measures import given
from psephos.report.study.folder import FEWEST, Folder
from psephos.report.study.opened import Opened, Reduced
from psephos.report.study.options import with_outer_ends
from psephos.report.words import MINUS, ShortName, chance, number

_PIECES = 64  # pieces of an axis along which answers change gradually


FIRST = 6  # columns that are drawn at first
DRAWN = 24  # the most columns that are drawn; of more, the first ones and a table
PAINTED = 10  # columns that are drawn if there are more: those the form shows at first
_LISTED = 30  # columns that the table lists
_BINS = 48  # bins of a histogram
EIGHTHS = 8  # bins of a page without cases
_MANY = 400  # cases of a class from which on they are counted in bins
_REVERSED = 0.05  # the least difference of shares for a remark that a direction is reversed
_DIGITS = 4  # decimals of what is drawn
_WORTH = 0.02  # changes below this share of the range of answers are not described


@dataclass(frozen=True)
class Portrait:
    """A model, its training cases, and the study's information on its columns."""

    reduced: Reduced
    classes: list[str]
    y: Indices
    rows: Floats  # background cases
    base: Floats  # (K,) their mean answer
    least: float  # the least change of the mean answer that is described
    thresholds: dict[int, list[Threshold]]
    gradual: set[int]
    opened: Opened
    folds: list[set[str]]  # the full names of the columns that each fold's fit reads
    kept: NumericColumns  # all numeric columns of the cases
    called: list[str]  # names of the cases on the page
    short: dict[str, str]  # full name -> name on the page
    shown: Mapping[str, ShortName]  # full name -> name on the page, and whether it is a species
    cases: str  # what the page contains of cases: see `PageOptions`

    def italic(self, whole: str) -> bool:
        """Return whether the name of a column is a species."""
        return whole in self.shown and self.shown[whole].italic


def portrait(
    folder: Folder,
    opened: Opened,
    reduced: Reduced,
    key: str,
    found: tuple[dict[int, list[Threshold]], set[int]] | None = None,
    names: Mapping[str, ShortName] | None = None,
    cases: str = "full",
) -> dict[str, Any]:
    """Return the data of the panel of values for one model, as plain values.

    Parameters
    ----------
    folder : Folder
        The study, with its cases.
    reduced : Reduced
        The same model on its columns, with the cases.
    key : str
        The name of the model in the results.
    found : (dict, set), optional
        The result of `voter_thresholds`, if known.
    names : dict of str to ShortName, optional
        Names of columns on the page.
    cases : {'rounded', 'full', 'none'}
        What the page contains of cases; axes do not reveal extremes more precisely.

    Returns
    -------
    portrait : dict
        ``columns``, those that are drawn; ``table``, a line for each other column; ``base``, the
        mean probability of each class over the background; ``plane`` for models of two columns;
        ``ringed``, the cases that are prototypes; and texts.
    """
    found = found or voter_thresholds(reduced)
    model = _open(folder, opened, reduced, key, found, names or {}, cases)
    used = by_importance(reduced, opened)
    others = [] if len(used) <= DRAWN else used[FIRST : FIRST + _LISTED]
    return {
        "base": _rounded(model.base),
        "background": len(model.rows),
        "n_read": len(used),
        "columns": [_column(model, j) for j in drawn_of(used)],
        "table": [_line(_column(model, j, False)) for j in others],
        "unlisted": max(len(used) - FIRST - len(others), 0) if others else 0,
        "rest_words": _rest_words(model, used),
        "backup": [reduced.names[j] for j in reduced.vote.backup.tolist()],
        "plane": plane(reduced, used, model.thresholds, model.gradual, cases)
        if len(used) == 2
        else None,
        "ringed": ringed(reduced, model.called),
        "shared": bool(model.opened.importance),
    }


def _open(
    folder: Folder, opened: Opened, reduced: Reduced, key: str,
    found: tuple[dict[int, list[Threshold]], set[int]], shown: Mapping[str, ShortName],
    carried: str,
) -> Portrait:  # fmt: skip
    cases = folder.cases
    assert cases is not None, "a portrait is of cases"
    rows = background(reduced)
    chances = reduced.vote.probabilities(rows)
    names = [str(one) for one in folder.about["columns"]]
    return Portrait(
        reduced=reduced,
        classes=folder.classes,
        y=np.asarray(cases.y, dtype=np.intp),
        rows=rows,
        base=chances.mean(axis=0),
        least=max(_WORTH * float(np.ptp(chances, axis=0).max()), 1e-9),
        thresholds=found[0],
        gradual=found[1],
        opened=opened,
        folds=[
            {names[j] for j in positions_of(row["columns"])}
            for row in sorted(folder.rows, key=lambda r: (int(r["repeat"]), int(r["fold"])))
            if row["model"] == key and row["status"] == "ok" and "columns" in row
        ],
        kept=folder.numeric,
        called=[cases.called(i) for i in range(len(cases.ids))],
        short={whole: name for name, whole in opened.whole.items()},
        shown=shown,
        cases=carried,
    )


def drawn_of(used: list[int]) -> list[int]:
    """Return the columns that are drawn, of those a model reads, by importance."""
    return used if len(used) <= DRAWN else used[:PAINTED]


def by_importance(reduced: Reduced, opened: Opened) -> list[int]:
    """Return the columns that a complete case needs, in the order of `Opened.rank`."""
    used: list[int] = reduced.vote.used.tolist()
    return sorted(used, key=lambda j: (*opened.rank(reduced.names[j]), j))


def _column(model: Portrait, j: int, drawn: bool = True) -> dict[str, Any]:
    reduced = model.reduced
    name, whole = reduced.names[j], reduced.whole[j]
    share = model.opened.importance.get(name)
    column: dict[str, Any] = {
        "name": name,
        "whole": whole,
        "share": share,
        "share_words": model.opened.weight_words(name),
        "folds": [int(whole in fold) for fold in model.folds],
        "folds_words": _folds_words(model, whole),
        "rising_with": _rising_words(model, whole) if drawn and j not in reduced.levels else [],
        "italic": model.italic(whole),
    }
    column |= _levels(model, j) if j in reduced.levels else _numbers(model, j, drawn)
    column["missing_words"] = _missing_words(model, column["missing"], column["counts"])
    return column


def _folds_words(model: Portrait, whole: str) -> str:
    read, n = sum(whole in fold for fold in model.folds), len(model.folds)
    return f"read in {read} of {n} folds" if n else ""


# ---------------------------------------------------------------------- a numeric column
def _numbers(model: Portrait, j: int, drawn: bool) -> dict[str, Any]:
    values = model.reduced.X[:, j]
    thresholds = model.thresholds.get(j, [])
    axis, says, cut, missing = shown_of(
        model.reduced.vote, model.rows, j, with_outer_ends(values, model.cases), thresholds,
        j in model.gradual, model.least, model.base,
    )  # fmt: skip
    counts = sides(values, model.y, cut, len(model.classes))
    shown = dict(zip(counts, _given([*counts.values()], model.cases), strict=True))
    named = direction(says, cut, model.classes)
    words = (
        count_words(counts, cut, model.classes) + further(says, cut) if cut else _lacking(values)
    )
    words += suppressed(named[0], counts, model.classes)
    if shown != counts:  # sentences with these counts are withheld, too
        words = further(says, cut) if cut else ""
    column: dict[str, Any] = {
        "kind": "number",
        "direction": named,
        "words": words,
        "cut": cut and {name: getattr(cut, name) for name in ("at", "closed", "text", "how")},
        "counts": shown,
        "missing": None if missing is None else _rounded(missing),
    }
    if drawn:
        column |= {
            "axis": axis.data(),
            "ends": [float(f"{end:.6g}") for end in says.pieces.ends],
            "moves": _rounded(says.moves),
            "zero": None if says.zero is None else _rounded(says.zero),
            "steps": says.pieces.steps,
            "bins": _bins(values, model.y, axis, len(model.classes), model.cases != "none"),
        }
    return column


def _given(parts: Sequence[Sequence[int]], cases: str) -> list[list[int | str]]:
    """Return counts by part and class, with those withheld class by class (see `given`)."""
    by_class = [given(own, cases) for own in zip(*parts, strict=True)]
    return [list(row) for row in zip(*by_class, strict=True)]


def _missing_words(model: Portrait, moves: Any, counts: dict[str, list[Any]]) -> list[Any]:
    """Return the effect of a missing value on the answer, if any case lacks the value."""
    if moves is None or not any(counts["missing"]):
        return []
    change: Floats = np.asarray(moves)
    if float(np.abs(change).max()) < model.least:
        return ["A missing value barely moves the mean answer."]
    k = int(change.argmax())
    name, before = model.classes[k], float(model.base[k])
    return [
        {"k": k, "t": f"Missing: more like {name}"},
        f"; the mean answer for {name} is then {chance(before + float(change[k]))}, and"
        f" {chance(before)} with the values as they are.",
    ]


def _lacking(values: Floats) -> str:
    lost = np.isnan(values).sum()
    return f"{lost} of {len(values)} cases lack a value." if lost else ""


def suppressed(named: Any, counts: dict[str, list[int]], classes: Sequence[str]) -> str:
    """Return a remark if a column favours a class above its cut that is rarer there, else ''."""
    above, below = (np.array(counts.get(side, [0])) for side in ("above", "below"))
    if isinstance(named, str) or not above.sum() or not below.sum():
        return ""
    k, n, m = named["k"], int(above.sum()), int(below.sum())
    if above[k] / n > below[k] / m - _REVERSED:
        return ""
    return (
        f" Yet {classes[k]} is rarer there ({above[k]} of {n} cases, elsewhere {below[k]} of {m}):"
        " the direction holds together with the model's other columns, not for this one alone."
    )


def _bins(values: Floats, y: Indices, axis: Any, n_classes: int, kept: bool) -> JsonObject | None:
    """Return histograms of the cases by class; None if there are few cases.

    A page without cases has eight bins, and those whose counts are withheld are 0.
    """
    apart = np.isnan(values) | ((values == 0) & axis.zero)
    if kept and np.bincount(y, minlength=n_classes).max() < _MANY:
        return None
    ends = axis.spaced(_BINS if kept else EIGHTHS)
    zero = np.bincount(y[(values == 0) & axis.zero], minlength=n_classes).tolist()
    each: list[list[int]] = []
    for k in range(n_classes):
        own = np.histogram(values[(y == k) & ~apart], bins=ends)[0].tolist()
        each.append([n or 0 for n, _ in given_counts([*own, zero[k]], 0 if kept else FEWEST)])
    return {"counts": [own[:-1] for own in each], "zero": [own[-1] for own in each]}


# ---------------------------------------------------------------------- a categorical column
def _levels(model: Portrait, j: int) -> dict[str, Any]:
    names, values = model.reduced.levels[j], model.reduced.X[:, j]
    codes, gap, k = range(len(names)), np.isnan(values), len(model.classes)
    tried = [*codes, *([np.nan] if gap.any() else [])]
    moves = mean_answers(model.reduced.vote, model.rows, j, tried) - model.base
    parts = [np.bincount(model.y[values == c], minlength=k).tolist() for c in codes]
    lacking = np.bincount(model.y[gap], minlength=k).tolist()
    *by_level, lost = _given([*parts, lacking], model.cases)
    return {
        "kind": "category",
        "direction": level_words(moves[: len(names)], names, model.classes, model.least),
        "words": _lacking(values) if lost == lacking else "",
        "cut": None,
        "counts": {"missing": lost},
        "levels": [
            {"name": names[c], "counts": by_level[c], "moves": _rounded(moves[c])} for c in codes
        ],
        "missing": _rounded(moves[-1]) if gap.any() else None,
    }


# ---------------------------------------------------------------------- beside the strips
def _line(column: dict[str, Any]) -> dict[str, Any]:
    kept = (
        "name", "whole", "italic", "share", "share_words", "folds_words", "direction",
        "words", "missing_words",
    )  # fmt: skip
    return {key: column[key] for key in kept}


def _rising_words(model: Portrait, whole: str) -> list[Any]:
    """Return which columns rise and fall with one: text, with names of species apart."""
    names = model.kept.names
    if whole not in names:
        return []
    found = rising_with(model.kept, names.index(whole))
    parts: list[Any] = []
    for up in (True, False):
        own = [one for one in found if (one.rho > 0) == up]
        if own:
            parts += [f"{' and' if parts else 'It'} {'rises' if up else 'falls'} with "]
        for i, one in enumerate(own):
            name = names[one.column]
            called = model.short.get(name, name)
            parts += ["" if not i else " and " if i + 1 == len(own) else ", "]
            parts += [{"i": called} if model.italic(name) else called, f" (ρ {_rho(one.rho)})"]
    return [*parts, "."] if parts else []


def _rho(value: float) -> str:
    """Return a correlation to two decimals, but not 1.00 if it is less."""
    if 0.995 <= abs(value) < 1:
        return "> 0.99" if value > 0 else f"< {MINUS}0.99"
    return number(value, 2)


def _rest_words(model: Portrait, used: Sequence[int]) -> str:
    rest = used[FIRST:]
    if not rest:
        return ""
    share = sum(model.opened.importance.get(model.reduced.names[j], 0.0) for j in rest)
    words = f"Show the other {len(rest)} columns" if len(rest) > 1 else "Show the other column"
    return f"{words} ({percent(share)} of the importance)" if model.opened.importance else words


def _rounded(values: Floats) -> list[Any]:
    return np.round(values, _DIGITS).tolist()


def plane(
    reduced: Reduced,
    used: Sequence[int],
    thresholds: Mapping[int, Sequence[Threshold]],
    gradual: set[int],
    cases: str = "full",
) -> dict[str, Any] | None:
    """Return the probabilities over the values of two columns; None unless both are numbers.

    Returns
    -------
    plane : dict or None
        ``axes``; ``ends`` of the pieces of both; ``chances`` of shape (pieces of the second, pieces
        of the first, K), with zero as the first piece where it is shown apart.
    """
    if any(j in reduced.levels for j in used):
        return None
    across, up = (_axis(reduced, j, thresholds.get(j, []), j in gradual, cases) for j in used)
    grid = np.array([(a, b) for b in _inside(*up) for a in _inside(*across)])
    X = np.full((len(grid), reduced.X.shape[1]), np.nan)
    X[:, list(used)] = grid
    shape = len(_inside(*up)), len(_inside(*across)), -1
    chances = _rounded(reduced.vote.probabilities(X).reshape(shape))
    return {
        "axes": [axis.data() for axis, _ in (across, up)],
        "ends": [pieces.ends for _, pieces in (across, up)],
        "chances": chances,
    }


def _axis(
    reduced: Reduced, j: int, thresholds: Sequence[Threshold], gradual: bool, cases: str
) -> tuple[Axis, Pieces]:
    steps = [one.at for one in thresholds]
    axis = axis_of(with_outer_ends(reduced.X[:, j], cases), steps)
    return axis, pieces_of(axis, steps, gradual, _PIECES)


def _inside(axis: Axis, pieces: Pieces) -> list[float]:
    return [*([0.0] if axis.zero else []), *pieces.inside]
