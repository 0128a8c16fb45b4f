"""On which side of which value a column speaks for which class, and how many are there."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Axes, Cell, ColumnLists, Floats, Indices, LabelsLike, TableLike
from psephos.explain.drawing import OTHER, POSITIVE, Display, plain
from psephos.explain.effects import (
    FEW,
    Axis,
    Cut,
    Says,
    Threshold,
    asked_values,
    axis_of,
    background,
    cut_of,
    direction,
    level_words,
    mean_answers,
    pieces_of,
    sides,
)
from psephos.files.levels import LevelCodes
from psephos.files.names import MINUS, class_words, number
from psephos.files.near import suggest
from psephos.vote import Vote

_WORTH = 0.02  # of the range of the answers to the cases: a smaller change is not worth a word
_LANE, _DOTS = 0.32, 0  # of the drawing: half the height of a lane, and the seed of its jitter
_COLOURS = (OTHER, "#3f7f3f", "#7a4fa3", "#8a6d1f", "#b03a7a", "#2f8f8f", "#555555")


class ColumnEffect(NamedTuple):
    """The axis of a column of numbers, and what each value of it moves the mean answer by."""

    axis: Axis
    says: Says
    cut: Cut | None  # the value at which the column changes sides
    missing: Floats | None  # (K,), the move where the value is missing; None where none is


def shown_of(
    vote: Vote,
    rows: Floats,
    column: int,
    values: Floats,
    thresholds: Sequence[Threshold],
    gradual: bool,
    least: float,
    base: Floats,
) -> ColumnEffect:
    """Return the axis of a column and what its values say.

    `rows` (n, q) are the cases whose other values are kept (see `background`), `base` (K,) the mean
    answer to them as they are; `values` (m,) are all values, NaN where missing; `thresholds` those
    that voters ask for, `gradual` whether the column is read otherwise, too; `least` is what change
    of a mean answer is worth a word.
    """
    axis = axis_of(values, [one.at for one in thresholds])
    pieces = pieces_of(axis, [one.at for one in thresholds], gradual or not thresholds)
    few = len(pieces.steps) <= FEW
    beside = [value for pair in pieces.beside for value in pair] if few else []
    gap = [np.nan] if axis.missing else []
    found = mean_answers(vote, rows, column, [*pieces.inside, *beside, 0.0, *gap])
    n, m = len(pieces.inside), len(beside)
    around = found[n : n + m]
    says = Says(
        pieces, found[:n] - base, found[n + m] - base if axis.zero else None,
        around[1::2] - around[::2], least,
    )  # fmt: skip
    closed = {one.at: one.closed for one in thresholds}
    return ColumnEffect(axis, says, cut_of(says, closed, values), found[-1] - base if gap else None)


class _Read(NamedTuple):
    """A model on the columns it reads, and cases."""

    vote: Any
    X: Floats


@dataclass(frozen=True)
class ValuesDisplay(Display):
    """The values of one column by class, on an axis painted with the class that each speaks for.

    `plot` draws the values by class, and below them the axis in the colours it speaks for.

    What is painted is the partial dependence of the probabilities on the column (Friedman 2001,
    8.2), over at most 100 of the cases, less the mean answer to them as they are.

    Parameters
    ----------
    column : str
    classes : tuple of str
    values : ndarray of shape (n,)
        NaN where missing, codes of `levels` where it is a category.
    codes : ndarray of shape (n,), int
        The class of each case.
    shown : Shown or None
        None where it is a category.
    levels : tuple of str
        Of a category.
    moves : ndarray of shape (n_levels or n_levels + 1, K)
        Of a category the move of each level, and last, where one is, of a missing value.
    words : str
        For whom it speaks above and below which value.
    positive : int
        The class that is drawn in the colour of the positive one, as `MissedDisplay` draws it.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from psephos import CARTClassifier
    >>> from psephos.explain import ValuesDisplay
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = CARTClassifier(max_depth=1).fit(X, y)
    >>> display = ValuesDisplay.from_estimator(model, X, y, model.features_used_[0])
    >>> print(display.words)
    From 16.8 on: class 0. Below it: class 1.
    >>> display.counts()["0"]
    [0, 179, 33]
    """

    column: str
    classes: tuple[str, ...]
    values: Floats
    codes: Indices
    shown: ColumnEffect | None
    levels: tuple[str, ...] = ()
    moves: Floats = field(default_factory=lambda: np.empty((0, 0)))
    words: str = ""
    positive: int = 1

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: TableLike, y: LabelsLike, column: Any, *, pos_label: Cell = None
    ) -> Self:
        """Return the display of a column that a fitted classifier reads.

        Parameters
        ----------
        estimator : fitted classifier of psephos, of one class a case
        X : array or data frame of shape (n_samples, n_features)
            The cases that are drawn, with all columns of the fit.
        y : array of shape (n_samples,)
        column : str or int
            Its name, or its position in `X`.
        pos_label : label, default=None
            The positive class, which has the colour that `MissedDisplay` gives it; None: the second
            of ``classes_``.

        Raises
        ------
        PsephosError
            If the estimator is no such classifier, does not read the column, or a label or
            `pos_label` is none of its classes.
        """
        target: Any = getattr(getattr(estimator, "vote_", None), "target", None)
        if target is None or not hasattr(estimator, "classes_") or target.kind == "multilabel":
            raise PsephosError(
                f"{type(estimator).__name__} is not a fitted classifier of psephos of one class a "
                "case: fit one, or give one."
            )
        words, columns = estimator.schema_.words(), estimator.vote_.columns.tolist()
        place = _place(column, words.columns, columns)
        read = _Read(
            estimator.vote_.select(estimator.vote_.columns),
            np.asarray(estimator._table(X).dense(estimator.vote_.columns), dtype=np.float64),
        )
        classes = tuple(str(one) for one in estimator.classes_.tolist())
        spoken = [class_words(one) for one in classes]
        labels = estimator.classes_.tolist()
        if pos_label is not None and pos_label not in labels:
            raise PsephosError(f"pos_label is {pos_label!r}; the classes are {labels}.")
        positive = 1 if pos_label is None else labels.index(pos_label)
        find = LevelCodes(labels)
        codes = np.array([find.code(label) for label in np.asarray(y).tolist()])
        if np.isnan(codes).any() or len(codes) != len(read.X):
            raise PsephosError(
                f"y has labels that are none of the classes {', '.join(classes)}, or not one for "
                f"each of {len(read.X)} rows."
            )
        rows = background(read)
        chances = read.vote.probabilities(rows)
        least = max(_WORTH * float(np.ptp(chances, axis=0).max()), 1e-9)
        base, values = chances.mean(axis=0), read.X[:, place]
        name, codes = words.columns[columns[place]], codes.astype(np.intp)
        levels = words.levels.get(columns[place])
        if levels is not None:
            gap = [np.nan] if np.isnan(values).any() else []
            asked = [*map(float, range(len(levels))), *gap]
            moves = mean_answers(read.vote, rows, place, asked) - base
            said = level_words(moves[: len(levels)], levels, spoken, least)
            shown, levels, said = None, tuple(levels), _text(said)
            return cls(name, classes, values, codes, shown, levels, moves, said, positive)
        thresholds, gradual = asked_values(read)
        own = thresholds.get(place, [])
        shown = shown_of(read.vote, rows, place, values, own, place in gradual, least, base)
        said = direction(shown.says, shown.cut, spoken)
        return cls(name, classes, values, codes, shown, words=_text(said), positive=positive)

    def table(self) -> ColumnLists:
        """Return one entry a piece of the axis, or a level: what it moves the mean answer by.

        ``from``, ``to`` (of a category ``level``) and a move of the probability of each class.
        """
        if self.shown is None:
            moves = self.moves
            gap = ["missing"] if len(moves) > len(self.levels) else []
            heads: dict[str, list[Any]] = {"level": [*self.levels, *gap]}
        else:
            pieces = self.shown.says.pieces
            heads = {"from": list(pieces.ends[:-1]), "to": list(pieces.ends[1:])}
            moves = self.shown.says.moves
        return {**heads, **{name: moves[:, k].tolist() for k, name in enumerate(self.classes)}}

    def counts(self) -> dict[str, list[Any]]:
        """Return the cases by class: missing, above and at or below the value of `words`.

        ``side``, and a number for each class; of a category an entry a level. Where no one value
        parts the mean answers, there are those with a value and those without.
        """
        k = len(self.classes)
        if self.shown is None:
            sets = [self.values == c for c in range(len(self.levels))]
            heads = [*self.levels, "missing"]
            rows = [np.bincount(self.codes[one], minlength=k) for one in sets]
            rows.append(np.bincount(self.codes[np.isnan(self.values)], minlength=k))
        else:
            cut = self.shown.cut
            found = sides(self.values, self.codes, cut, k)
            rows, heads = [np.array(found["missing"])], ["missing"]
            if cut is None:
                heads.append("measured")
                rows.append(np.bincount(self.codes, minlength=k) - rows[0])
            else:
                heads += [f"{'from' if cut.closed else 'above'} {cut.text}"]
                heads += [f"{'below' if cut.closed else 'at or below'} {cut.text}"]
                rows += [np.array(found["above"]), np.array(found["below"])]
        return {
            "side": heads,
            **{name: [int(one[c]) for one in rows] for c, name in enumerate(self.classes)},
        }

    @property
    def _size(self) -> Any:
        return 9, 0.9 + 0.7 * len(self.classes)

    def _draw(self, axes: Axes) -> None:
        known = ~np.isnan(self.values)
        jitter = np.random.default_rng(_DOTS).uniform(-_LANE, _LANE, len(self.values))
        for c in range(len(self.classes)):
            mine = known & (self.codes == c)
            colour = self._colour(c)
            axes.scatter(self.values[mine], c + 1 + jitter[mine], s=12, color=colour, alpha=0.7)
        axes.set_yticks(range(len(self.classes) + 1), ["speaks for", *map(plain, self.classes)])
        if self.shown is None:
            ends = np.arange(len(self.levels) + 1) - 0.5
            self._paint(axes, ends.tolist(), self.moves[: len(self.levels)])
            axes.set_xticks(range(len(self.levels)), [plain(one) for one in self.levels])
        else:
            self._paint(axes, self.shown.says.pieces.ends, self.shown.says.moves)
            if self.shown.axis.log:
                axes.set_xscale("symlog", linthresh=self.shown.axis.low)
            if self.shown.cut is not None:
                axes.axvline(self.shown.cut.at, color="black", linewidth=1)
        lost = int((~known).sum())
        axes.set(title=plain(self.words), xlabel=plain(self.column)
                 + (f" ({lost} of {len(known)} not measured)" if lost else ""))  # fmt: skip

    def _colour(self, c: int) -> str:
        if c == self.positive:
            return POSITIVE
        return _COLOURS[(c - (c > self.positive)) % len(_COLOURS)]

    def _paint(self, axes: Axes, ends: Sequence[float], moves: Floats) -> None:
        most = max(float(np.abs(moves).max()), 1e-12)
        for low, high, move in zip(ends[:-1], ends[1:], moves, strict=True):
            c = int(move.argmax())
            axes.fill_betweenx([-0.2, 0.2], low, high, color=self._colour(c),
                               alpha=float(move[c]) / most, linewidth=0)  # fmt: skip


def _place(column: Any, names: Sequence[str], columns: Sequence[int]) -> int:
    """Return the place of a column among those that are read."""
    if isinstance(column, int | np.integer) and not isinstance(column, bool):
        j = int(column)
    elif str(column) in names:
        j = list(names).index(str(column))
    else:
        raise PsephosError(f"there is no column {column!r}; {suggest(str(column), list(names))}")
    if j not in columns:
        read = [names[i] for i in columns]
        shown = f"column {j}" if not 0 <= j < len(names) else repr(names[j])
        raise PsephosError(f"the model does not read {shown}: it reads {', '.join(read[:6])}.")
    return list(columns).index(j)


def _text(parts: Sequence[Any]) -> str:
    return "".join(one if isinstance(one, str) else str(one["t"]) for one in parts)


# ---------------------------------------------------------------------- Table 1
_LEVELS = 12  # of a category that have a row, the most frequent
_REST, _MISSING, _MIDDLE = "other categories", "missing", "median (quartiles)"


@dataclass(frozen=True)
class CohortDisplay(Display):
    """The cases by class, column by column: Table 1 of a study.

    Median and quartiles of numbers, counts of categories, missing values. There are no p-values:
    columns are chosen because classes differ in them, and a test of each would not allow for that.

    Parameters
    ----------
    names : tuple of str
        The columns.
    values : ndarray of shape (n, q)
        Numbers, or words of categories; None or NaN where missing.
    codes : ndarray of shape (n,), intp
        The class of each case.
    classes : tuple of str
        Of a target of numbers its thirds.
    fewest : int, default=0
        Counts from 1 below it are not given, nor one from which another follows, nor quartiles of
        fewer cases.

    Examples
    --------
    >>> import numpy as np
    >>> from psephos.explain import CohortDisplay
    >>> X = np.array([[1.0, 10.0], [2.0, np.nan], [3.0, 30.0]])
    >>> found = CohortDisplay.from_cases(X, ["ill", "ill", "well"], ["age", "dose"])
    >>> found.table()["text"]
    ['1.5 (1.25 to 1.75)', '3 (3 to 3)', '0', '0', '10 (10 to 10)', '30 (30 to 30)', '1', '0']
    """

    names: tuple[str, ...]
    values: Array
    codes: Indices
    classes: tuple[str, ...]
    fewest: int = 0

    @classmethod
    def from_cases(
        cls, X: TableLike, y: LabelsLike, names: Sequence[str] | None = None, fewest: int = 0
    ) -> Self:
        """Return the table of cases; of numbers of more than 12 different values by thirds of them.

        Raises
        ------
        PsephosError
            If y has missing values, or not one value for each row of X.
        """
        values, target = np.asarray(X, dtype=object), np.asarray(y)
        if values.ndim != 2 or target.shape != values.shape[:1]:
            raise PsephosError(
                f"y must have one value for each row of X; got {target.shape} for {values.shape}."
            )
        if any(one is None or one != one for one in target.tolist()):
            raise PsephosError("y must have no missing values: leave these rows out.")
        columns = getattr(X, "columns", range(values.shape[1])) if names is None else names
        called = tuple(str(one) for one in columns)
        if target.dtype.kind in "iuf" and len(np.unique(target)) > _LEVELS:
            return cls(called, values, thirds(target), THIRDS, fewest)
        classes, codes = np.unique(
            target if target.dtype.kind in "biuf" else target.astype(str), return_inverse=True
        )
        return cls(called, values, codes, tuple(map(str, classes.tolist())), fewest)

    def table(self) -> dict[str, list[Any]]:
        """Return a row for each column, category and class.

        ``column``, ``category`` ('missing' for missing values), ``class``, ``count``, ``low``,
        ``median`` and ``high`` of numbers, and ``text``, the cell as it is read.
        """
        keys = ("column", "category", "class", "count", "low", "median", "high", "text")
        rows = [(name, *row) for j, name in enumerate(self.names) for row in self._rows(j)]
        return {key: [row[k] for row in rows] for k, key in enumerate(keys)}

    def _rows(self, j: int) -> list[tuple[Any, ...]]:
        """Return the rows of a column, those of a category beside each other."""
        column = [None if one is None or one != one else one for one in self.values[:, j].tolist()]
        if any(isinstance(one, str | bool) for one in column):
            column = [None if one is None else _word(str(one)) for one in column]
        words = Counter(one for one in column if isinstance(one, str))
        first = [one for one, _ in words.most_common(_LEVELS)]
        kinds = ([*first, *[_REST] * (len(words) > _LEVELS)] if words else [_MIDDLE]) + [_MISSING]
        rows: list[tuple[Any, ...]] = []
        for k, name in enumerate(self.classes):
            own = [one for one, code in zip(column, self.codes.tolist(), strict=True) if code == k]
            known = [one for one in own if one is not None]
            counts = Counter(one if one in first else _REST for one in known)
            middle = [len(known)] if not words else [counts[one] for one in kinds[:-1]]
            given = _given([*middle, len(own) - len(known)], self.fewest)
            ends = [np.nan] * 3
            if not words and len(known) >= max(1, self.fewest):
                ends = np.quantile(np.array(known, dtype=np.float64), (0.25, 0.5, 0.75)).tolist()
            for kind, (n, text) in zip(kinds, given, strict=True):
                own_ends = ends if kind == _MIDDLE else [np.nan] * 3
                rows.append((kind, name, n, *own_ends, _cell(own_ends) or text))
        return sorted(rows, key=lambda row: kinds.index(row[0]))

    @property
    def _size(self) -> Any:
        return 3 + 2 * len(self.classes), 1 + 0.3 * len(self.table()["text"]) / len(self.classes)

    def _draw(self, axes: Any) -> None:
        heads, *rows = [[plain(one) for one in row] for row in (self.heads(), *self.lines())]
        axes.axis("off")
        axes.table(rows, loc="center", colLabels=heads)

    def heads(self) -> list[str]:
        """Return the heads of `lines`: each class with its cases."""
        sizes: list[int] = np.bincount(self.codes, minlength=len(self.classes)).tolist()
        small = [f"< {self.fewest}" if 0 < n < self.fewest else str(n) for n in sizes]
        return ["column", *(f"{c}, n {n}" for c, n in zip(self.classes, small, strict=True))]

    def lines(self) -> list[list[str]]:
        """Return a line for each column and category: its name and the cells of the classes."""
        found = self.table()
        pairs = zip(found["column"], found["category"], found["text"], strict=True)
        cells, step = [*pairs], len(self.classes)
        return [
            [f"{cells[i][0]}: {cells[i][1]}", *(one[2] for one in cells[i : i + step])]
            for i in range(0, len(cells), step)
        ]


THIRDS = ("lowest third", "middle third", "highest third")


def thirds(target: Floats) -> Indices:
    """Return the third of a number that each case is in, equal numbers in one."""
    cuts = np.quantile(target, (1 / 3, 2 / 3))
    return np.searchsorted(cuts, target, "left").astype(np.intp)


def _word(word: str) -> str:
    return f"the word {word}" if word == _MISSING else word


def _given(counts: Sequence[int], fewest: int) -> list[tuple[int | None, str]]:
    """Return counts, None for those withheld: small ones, and others until none of these follows.

    A reader knows their sum, and that each is from 1 to below `fewest`, or `fewest` and more.
    """
    withheld = [i for i, n in enumerate(counts) if 0 < n < fewest]
    others = sorted((n, i) for i, n in enumerate(counts) if n >= max(1, fewest))
    small = len(withheld)
    while withheld and others:
        large, total = len(withheld) - small, sum(counts[i] for i in withheld)
        open_ended = small + fewest * large < total and (large or total < small * (fewest - 1))
        if len(withheld) > 1 and open_ended:
            break
        withheld.append(others.pop(0)[1])
    return [
        (n, str(n))
        if i not in withheld
        else (None, f"< {fewest}" if n < fewest else f"{fewest} or more")
        for i, n in enumerate(counts)
    ]


def _cell(ends: Sequence[float]) -> str:
    low, middle, high = (number(one).replace("-", MINUS) for one in ends)
    return "" if ends[1] != ends[1] else f"{middle} ({low} to {high})"
