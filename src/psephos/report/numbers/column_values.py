"""What one model makes of each column it reads, or of two: the figures of the panel of values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from psephos._types import Floats, Indices, JsonObject
from psephos.explain.cohort import given_counts
from psephos.explain.column_values import shown_of
from psephos.explain.effects import (
    Axis,
    Cut,
    Pieces,
    Says,
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
from psephos.files.names import percent
from psephos.protocol.evaluation.stability import positions_of
from psephos.report.numbers.measures import given
from psephos.report.study.folder import FEWEST, Folder, NumericColumns
from psephos.report.study.opened import Opened, Reduced
from psephos.report.study.options import guarded
from psephos.report.words import MINUS, ShortName, chance, number

_LEAST = 0.6  # of the size of a rank correlation that is told
_MOST = 3
_PAIRS = 10  # cases that have both values, at least
_BLOCK = 256
_PIECES = 64  # of an axis on which answers change gradually


class Rising(NamedTuple):
    """A column and its rank correlation (Spearman's rho) with another, over cases with both."""

    column: int
    rho: float


def rising_with(
    columns: NumericColumns, column: int, most: int = _MOST, least: float = _LEAST
) -> list[Rising]:
    """Return the columns of greatest rank correlation with one, the greatest first.

    Parameters
    ----------
    least : float, default=0.6
        Correlations of smaller size are left out, and those over fewer than 10 cases.
    """
    rho = _correlations(columns, column)
    rho[column] = np.nan  # with itself
    found = [Rising(j, float(rho[j])) for j in np.flatnonzero(np.abs(rho) >= least).tolist()]
    return sorted(found, key=lambda one: (-abs(one.rho), one.column))[:most]


def _correlations(columns: NumericColumns, column: int) -> Floats:
    """Return the rank correlation of a column with all; 0 where it is not defined."""
    values, ranks, rho = columns.values, columns.ranks, np.zeros(len(columns.names))
    missing, lacking = np.isnan(values), np.isnan(ranks[0])
    rest = np.flatnonzero(lacking | lacking[column])
    if not lacking[column] and len(values) >= _PAIRS:
        rho = _pearson(ranks[:, column], ranks)
    for part in (rest[start : start + _BLOCK] for start in range(0, len(rest), _BLOCK)):
        gaps = missing[:, [column]] | missing[:, part]
        patterns, which = np.unique(gaps, axis=1, return_inverse=True)
        for p in range(patterns.shape[1]):  # ranks are among the cases that have both values
            both, at = ~patterns[:, p], part[which == p]
            if both.sum() >= _PAIRS:
                theirs = rankdata(values[np.ix_(both, at)], axis=0)
                rho[at] = _pearson(rankdata(values[both, column]), theirs)
    return rho


def _pearson(a: Any, b: Any) -> Floats:
    a, b = a - a.mean(), b - b.mean(axis=0)
    size = np.sqrt((a @ a) * (b * b).sum(axis=0))
    return (a @ b) / np.where(size > 0, size, 1.0)


FIRST = 6  # columns that are drawn before the reader asks for the rest
DRAWN = 24  # columns that are drawn at most; of more, the first ones and a table
PAINTED = 10  # of more, those that the form of a new case shows first are painted
_LISTED = 30  # columns that the table lists
_BINS = 48  # of a histogram
EIGHTHS = 8  # bins, where no single case is carried
_MANY = 400  # cases of a class from which on they are counted in bins
_REVERSED = 0.05  # less of a class on the side that speaks for it than on the other
_DIGITS = 4  # decimals of what is drawn
_WORTH = 0.02  # of the range of the answers to the cases


@dataclass(frozen=True)
class Portrait:
    """A model, the training cases as it reads them, and what the study tells of its columns."""

    asked: Reduced
    classes: list[str]
    y: Indices
    rows: Floats  # the background
    base: Floats  # (K,) the mean answer over it
    least: float  # a change of the mean answer that is worth a word
    thresholds: dict[int, list[Threshold]]
    gradual: set[int]
    opened: Opened
    folds: list[set[str]]  # the columns, by their whole names, that each held-out fit reads
    kept: NumericColumns  # all of the cases
    called: list[str]  # the cases, as the page names them
    short: dict[str, str]  # whole name -> name on the page
    shown: Mapping[str, ShortName]  # by whole names: which are of species
    cases: str  # how the page carries them: see `Options`

    def italic(self, whole: str) -> bool:
        """Return whether a column is named by a species."""
        return whole in self.shown and self.shown[whole].italic


def portrait(
    folder: Folder,
    opened: Opened,
    asked: Reduced,
    key: str,
    found: tuple[dict[int, list[Threshold]], set[int]] | None = None,
    names: Mapping[str, ShortName] | None = None,
    cases: str = "full",
) -> dict[str, Any]:
    """Return what the panel of values shows of a model, as plain values.

    Parameters
    ----------
    folder : Folder
        With its cases.
    asked : Asked
        The same model on its columns, with the cases.
    key : str
        Of the model in the results.
    found : (dict, set), optional
        What `voter_thresholds` says of it, if that is known.
    names : dict of str to Shown, optional
        Units, and which names are of species.
    cases : {'rounded', 'full', 'none'}
        How the page carries them: axes tell the extremes no better.

    Returns
    -------
    portrait : dict
        ``columns``, those that are drawn; ``table``, a line for each other one; ``base``, the mean
        probability of each class over the background; ``plane`` for models of two columns;
        ``ringed``, the cases that are prototypes; and words.
    """
    model = _open(folder, opened, asked, key, found or voter_thresholds(asked), names or {}, cases)
    used = by_importance(asked, opened)
    others = [] if len(used) <= DRAWN else used[FIRST : FIRST + _LISTED]
    return {
        "base": _rounded(model.base),
        "background": len(model.rows),
        "n_read": len(used),
        "columns": [_column(model, j) for j in drawn_of(used)],
        "table": [_line(_column(model, j, False)) for j in others],
        "unlisted": max(len(used) - FIRST - len(others), 0) if others else 0,
        "rest_words": _rest_words(model, used),
        "backup": [asked.names[j] for j in asked.vote.backup.tolist()],
        "plane": plane(asked, used, model.thresholds, model.gradual, cases)
        if len(used) == 2
        else None,
        "ringed": ringed(asked, model.called),
        "shared": bool(model.opened.importance),
    }


def _open(
    folder: Folder, opened: Opened, asked: Reduced, key: str,
    found: tuple[dict[int, list[Threshold]], set[int]], shown: Mapping[str, ShortName],
    carried: str,
) -> Portrait:  # fmt: skip
    cases = folder.cases
    assert cases is not None, "a portrait is of cases"
    rows = background(asked)
    chances = asked.vote.probabilities(rows)
    names = [str(one) for one in folder.about["columns"]]
    return Portrait(
        asked=asked,
        classes=[str(one) for one in folder.about["classes"]],
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
    """Return the columns that are drawn, of those a model reads, by say."""
    return used if len(used) <= DRAWN else used[:PAINTED]


def by_importance(asked: Reduced, opened: Opened) -> list[int]:
    """Return the columns that a complete case is answered by, in the order of `Opened.rank`."""
    used: list[int] = asked.vote.used.tolist()
    return sorted(used, key=lambda j: (*opened.rank(asked.names[j]), j))


def _column(model: Portrait, j: int, drawn: bool = True) -> dict[str, Any]:
    asked = model.asked
    name, whole = asked.names[j], asked.whole[j]
    share = model.opened.importance.get(name)
    column: dict[str, Any] = {
        "name": name,
        "whole": whole,
        "share": share,
        "share_words": model.opened.weight_words(name),
        "folds": [int(whole in fold) for fold in model.folds],
        "folds_words": _folds_words(model, whole),
        "rising_with": _rising_words(model, whole) if drawn and j not in asked.levels else [],
        "italic": model.italic(whole),
    }
    column |= _levels(model, j) if j in asked.levels else _numbers(model, j, drawn)
    column["missing_words"] = _missing_words(model, column["missing"], column["counts"])
    return column


def _folds_words(model: Portrait, whole: str) -> str:
    if not model.folds:
        return ""
    read = sum(whole in fold for fold in model.folds)
    return f"returns in {read} of {len(model.folds)} folds"


# ---------------------------------------------------------------------- a column of numbers
def _numbers(model: Portrait, j: int, drawn: bool) -> dict[str, Any]:
    values = model.asked.X[:, j]
    thresholds = model.thresholds.get(j, [])
    axis, says, cut, missing = shown_of(
        model.asked.vote, model.rows, j, guarded(values, model.cases), thresholds,
        j in model.gradual, model.least, model.base,
    )  # fmt: skip
    counts = sides(values, model.y, cut, len(model.classes))
    shown = dict(zip(counts, _given([*counts.values()], model.cases), strict=True))
    named = direction(says, cut, model.classes)
    words = _count_sentence(model, says, cut, counts, len(values))
    words += suppressed(named[0], counts, model.classes)
    if shown != counts:  # what follows from these is withheld, too
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
    """Return counts of the classes in parts of the cases, class by class (see `given`)."""
    by_class = [given(own, cases) for own in zip(*parts, strict=True)]
    return [list(row) for row in zip(*by_class, strict=True)]


def _missing_words(model: Portrait, moves: Any, counts: dict[str, list[Any]]) -> list[Any]:
    """Return what a missing value does to the answer, where some case lacks one."""
    if moves is None or not any(counts["missing"]):
        return []
    change: Floats = np.asarray(moves)
    if float(np.abs(change).max()) < model.least:
        return ["A missing value hardly moves the mean answer."]
    k = int(change.argmax())
    name, before = model.classes[k], float(model.base[k])
    return [
        {"k": k, "t": f"Missing: more like {name}"},
        f"; the mean answer for {name} is then {chance(before + float(change[k]))}, and"
        f" {chance(before)} with the values as they are.",
    ]


def _count_sentence(
    model: Portrait, says: Says, cut: Cut | None, counts: dict[str, list[int]], n: int
) -> str:
    if cut is None:
        lost = sum(counts["missing"])
        return f"{lost} of {n} cases lack a value." if lost else ""
    return count_words(counts, cut, model.classes) + further(says, cut)


def suppressed(named: Any, counts: dict[str, list[int]], classes: Sequence[str]) -> str:
    """Return why a column speaks above its cut for a class that is rarer there; '' if it is not."""
    above, below = (np.array(counts.get(side, [0])) for side in ("above", "below"))
    if isinstance(named, str) or not above.sum() or not below.sum():
        return ""
    k, n, m = named["k"], int(above.sum()), int(below.sum())
    if above[k] / n > below[k] / m - _REVERSED:
        return ""
    return (
        f" Yet {classes[k]} is rarer there ({above[k]} of {n} cases, elsewhere {below[k]} of {m}):"
        " the model reads this direction beside its other columns, not from this one alone."
    )


def _bins(values: Floats, y: Indices, axis: Any, n_classes: int, kept: bool) -> JsonObject | None:
    """Return the cases counted in pieces of the axis, by class; None where they are few.

    In a page that carries no cases they are counted in eighths, and those withheld are not drawn.
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


# ---------------------------------------------------------------------- a column of categories
def _levels(model: Portrait, j: int) -> dict[str, Any]:
    names, values = model.asked.levels[j], model.asked.X[:, j]
    codes, gap, k = range(len(names)), np.isnan(values), len(model.classes)
    asked = [*map(float, codes), *([np.nan] if gap.any() else [])]
    moves = mean_answers(model.asked.vote, model.rows, j, asked) - model.base
    parts = [np.bincount(model.y[values == c], minlength=k).tolist() for c in codes]
    lost = np.bincount(model.y[gap], minlength=k).tolist()
    *by_level, lost = _given([*parts, lost], model.cases)
    return {
        "kind": "category",
        "direction": level_words(moves[: len(names)], names, model.classes, model.least),
        "words": "",
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
    """Return which columns rise and fall with one: words, and names of species apart."""
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
    """Return a correlation to two decimals: never 1.00 where it is less."""
    if 0.995 <= abs(value) < 1:
        return "> 0.99" if value > 0 else f"< {MINUS}0.99"
    return number(value, 2)


def _rest_words(model: Portrait, used: Sequence[int]) -> str:
    rest = used[FIRST:]
    if not rest:
        return ""
    share = sum(model.opened.importance.get(model.asked.names[j], 0.0) for j in rest)
    words = f"Show the other {len(rest)} columns" if len(rest) > 1 else "Show the other column"
    return f"{words} ({percent(share)} of the importance)" if model.opened.importance else words


def _rounded(values: Floats) -> list[Any]:
    return np.round(values, _DIGITS).tolist()


# ---------------------------------------------------------------------- beside mistakes


def plane(
    asked: Reduced,
    used: Sequence[int],
    thresholds: Mapping[int, Sequence[Threshold]],
    gradual: set[int],
    cases: str = "full",
) -> dict[str, Any] | None:
    """Return the probabilities over the values of two columns; None unless both are numbers.

    Returns
    -------
    plane : dict or None
        ``axes``; ``ends``, of the pieces of both; ``chances``, (pieces of the second, pieces of
        the first, K), where zero lies apart as the first piece.
    """
    if any(j in asked.levels for j in used):
        return None
    across, up = (_axis(asked, j, thresholds.get(j, []), j in gradual, cases) for j in used)
    grid = np.array([(a, b) for b in _inside(*up) for a in _inside(*across)])
    X = np.full((len(grid), asked.X.shape[1]), np.nan)
    X[:, list(used)] = grid
    chances: Any = asked.vote.probabilities(X).reshape(len(_inside(*up)), len(_inside(*across)), -1)
    rounded: list[Any] = np.asarray(np.round(chances, _DIGITS), dtype=np.float64).tolist()
    return {
        "axes": [axis.data() for axis, _ in (across, up)],
        "ends": [pieces.ends for _, pieces in (across, up)],
        "chances": rounded,
    }


def _axis(
    asked: Reduced, j: int, thresholds: Sequence[Threshold], gradual: bool, cases: str
) -> tuple[Axis, Pieces]:
    steps = [one.at for one in thresholds]
    axis = axis_of(guarded(asked.X[:, j], cases), steps)
    return axis, pieces_of(axis, steps, gradual, _PIECES)


def _inside(axis: Axis, pieces: Pieces) -> list[float]:
    return [*([0.0] if axis.zero else []), *pieces.inside]
