"""Which class each value of a column favours, and how many cases have such values."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Axes, Cell, ColumnLists, Floats, Indices, LabelsLike, TableLike
from psephos.estimator.labels import codes_among
from psephos.explain import effects
from psephos.explain.drawing import OTHER, POSITIVE, Display, plain
from psephos.files.names import class_words
from psephos.files.near import suggest
from psephos.vote import Vote

_WORTH = 0.02  # changes below this share of the range of predictions are not described
_LANE, _DOTS = 0.32, 0  # half the height of a lane, and the seed of its jitter
_COLOURS = (OTHER, "#3f7f3f", "#7a4fa3", "#8a6d1f", "#b03a7a", "#2f8f8f", "#555555")


class ColumnEffect(NamedTuple):
    """The axis of a numeric column, and the change of the mean prediction at each value."""

    axis: effects.Axis
    says: effects.Says
    cut: effects.Cut | None  # the value at which the column changes sides
    missing: Floats | None  # (K,), the change where the value is missing; None if none is missing


def shown_of(
    vote: Vote,
    rows: Floats,
    column: int,
    values: Floats,
    thresholds: Sequence[effects.Threshold],
    gradual: bool,
    least: float,
    base: Floats,
) -> ColumnEffect:
    """Return the axis of a numeric column and its effect on the mean prediction.

    Parameters
    ----------
    rows : ndarray of shape (n, q)
        The cases whose other values are kept; see `background`.
    values : ndarray of shape (m,)
        All values of the column, NaN where missing.
    thresholds, gradual
        As `voter_thresholds` finds them: the column's thresholds, and whether it is also read in
        another way.
    least : float
        The least change of a mean prediction that is described.
    base : ndarray of shape (K,)
        The mean prediction of `rows` as they are.
    """
    axis = effects.axis_of(values, [one.at for one in thresholds])
    pieces = effects.pieces_of(axis, [one.at for one in thresholds], gradual or not thresholds)
    few = len(pieces.steps) <= effects.FEW
    beside = [value for pair in pieces.beside for value in pair] if few else []
    gap = [np.nan] if axis.missing else []
    found = effects.mean_answers(vote, rows, column, [*pieces.inside, *beside, 0.0, *gap])
    n, m = len(pieces.inside), len(beside)
    around = found[n : n + m]
    says = effects.Says(
        pieces, found[:n] - base, found[n + m] - base if axis.zero else None,
        around[1::2] - around[::2], least,
    )  # fmt: skip
    closed = {one.at: one.closed for one in thresholds}
    return ColumnEffect(
        axis, says, effects.cut_of(says, closed, values), found[-1] - base if gap else None
    )


class _Read(NamedTuple):
    """A model on the columns it reads, and cases."""

    vote: Any
    X: Floats


@dataclass(frozen=True)
class ValuesDisplay(Display):
    """The values of one column by class, on an axis coloured by the class that each value favours.

    `plot` draws the values by class, and below them the axis in the colours of the favoured class.

    The colour shows the partial dependence of the probabilities on the column (Friedman 2001, 8.2)
    over at most 100 of the cases, minus the mean prediction of these cases as they are.

    Parameters
    ----------
    column : str
    classes : tuple of str
    values : ndarray of shape (n,)
        NaN where missing; for a category, codes of `levels`.
    codes : ndarray of shape (n,), int
        The class of each case.
    shown : ColumnEffect or None
        The effect of a numeric column; None for a category.
    levels : tuple of str
        The levels of a category; empty for numbers.
    moves : ndarray of shape (n_levels or n_levels + 1, K)
        For a category, the change of the mean prediction at each level and, if a value is missing,
        in the last row where it is missing.
    words : str
        Which class the column favours above and below which value.
    positive : int
        Index of the class in the positive colour, which `MissedDisplay` uses, too.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from psephos import CARTClassifier
    >>> from psephos.explain import ValuesDisplay
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = CARTClassifier(max_depth=1).fit(X, y)
    >>> display = ValuesDisplay.from_estimator(model, X, y, model.features_used_[0])
    >>> print(display.words)
    From 16.8 on: more like class 0. Below it: more like class 1.
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
        estimator : fitted classifier of psephos with one class per case
        X : array or data frame of shape (n_samples, n_features)
            The cases that are drawn, with all columns of the fit.
        y : array of shape (n_samples,)
        column : str or int
            Its name, or its position in `X`.
        pos_label : label, default=None
            The positive class; None: the second of ``classes_``.

        Raises
        ------
        PsephosError
            If the estimator is not such a classifier, does not read the column, or a label or
            `pos_label` is not one of its classes.
        """
        target: Any = getattr(getattr(estimator, "vote_", None), "target", None)
        if target is None or not hasattr(estimator, "classes_") or target.kind == "multilabel":
            raise PsephosError(
                "estimator must be a fitted classifier of psephos with one class per case; got "
                f"{type(estimator).__name__}."
            )
        words, columns = estimator.schema_.words(), estimator.vote_.columns.tolist()
        place = _position(column, words.columns, columns)
        read = _Read(
            estimator.vote_.select(estimator.vote_.columns),
            np.asarray(estimator._table(X).dense(estimator.vote_.columns), dtype=np.float64),
        )
        classes = tuple(str(one) for one in estimator.classes_.tolist())
        named = [class_words(one) for one in classes]
        labels = estimator.classes_.tolist()
        if pos_label is not None and pos_label not in labels:
            raise PsephosError(f"pos_label must be one of {labels}; got {pos_label!r}.")
        positive = 1 if pos_label is None else labels.index(pos_label)
        codes = codes_among(estimator.classes_, read.X, y)
        rows = effects.background(read)
        chances = read.vote.probabilities(rows)
        least = max(_WORTH * float(np.ptp(chances, axis=0).max()), 1e-9)
        base, values = chances.mean(axis=0), read.X[:, place]
        name = words.columns[columns[place]]
        levels = words.levels.get(columns[place])
        if levels is not None:
            gap = [np.nan] if np.isnan(values).any() else []
            moves = effects.mean_answers(read.vote, rows, place, [*range(len(levels)), *gap]) - base
            text = _text(effects.level_words(moves[: len(levels)], levels, named, least))
            return cls(name, classes, values, codes, None, tuple(levels), moves, text, positive)
        thresholds, gradual = effects.voter_thresholds(read)
        own = thresholds.get(place, [])
        shown = shown_of(read.vote, rows, place, values, own, place in gradual, least, base)
        text = _text(effects.direction(shown.says, shown.cut, named))
        return cls(name, classes, values, codes, shown, words=text, positive=positive)

    def table(self) -> ColumnLists:
        """Return the change of the mean prediction, one entry per piece of the axis or level.

        Keys: ``from`` and ``to`` (for a category ``level``), and the change of the probability of
        each class.
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
        """Return the number of cases of each class on each side of the value in `words`.

        Keys: ``side`` (missing, above, at or below; for a category its levels) and each class. If
        no single value divides the mean predictions, sides are 'missing' and 'measured'.
        """
        k = len(self.classes)
        if self.shown is None:
            sets = [self.values == c for c in range(len(self.levels))]
            heads = [*self.levels, "missing"]
            rows = [np.bincount(self.codes[one], minlength=k) for one in sets]
            rows.append(np.bincount(self.codes[np.isnan(self.values)], minlength=k))
        else:
            cut = self.shown.cut
            found = effects.sides(self.values, self.codes, cut, k)
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
        axes.set_yticks(range(len(self.classes) + 1), ["favours", *map(plain, self.classes)])
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


def _position(column: Any, names: Sequence[str], columns: Sequence[int]) -> int:
    """Return the position of a column among those that the model reads."""
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
