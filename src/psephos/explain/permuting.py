"""Permutation importance: how much worse predictions of held-out cases are without a column."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.metrics import r2_score

from psephos._errors import PsephosError
from psephos._types import Array, Axes, ColumnLists, Floats, Indices, LabelsLike, PerRow, TableLike
from psephos.estimator.labels import codes_among, read_groups, read_numbers
from psephos.estimator.params import Interval
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.explain.drawing import POSITIVE, Display, plain
from psephos.figures.confusion import balanced_accuracy
from psephos.vote.importance import evenly_spaced
from psephos.vote.seen import refuse_seen

DRAWS, FIRST = 20, 60  # permutations of a column, and the most columns that are permuted
_CASES, _NUMBERS = 1000, 1 << 24  # the most held-out cases, and values of all permuted tables


def most_important(model: VoteEstimator) -> Indices:
    """Return the columns used for complete cases, at most 60, the most important first."""
    shares = model.feature_importances_
    read = model.vote_.used
    return read[np.argsort(-shares[read], kind="stable")[:FIRST]]


def encoded(model: VoteEstimator, X: Floats) -> tuple[Any, Floats]:
    """Return a copy of the model that predicts encoded tables, and the rows it reads for X.

    Column j of these rows depends on column j of X alone; see `Vote.derived`.
    """
    found = copy(model)
    found._values = lambda X: X  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]
    found.vote_, rows = model.vote_.derived(X)
    return found, rows


def held_out_sample(n_cases: int, n_columns: int) -> Indices:
    """Return evenly spaced cases among which columns are permuted: 1,000, fewer of wide tables."""
    return evenly_spaced(n_cases, min(_CASES, max(2, _NUMBERS // (DRAWS * max(1, n_columns)))))


def constant_within(groups: Array, target: Array) -> bool:
    """Return whether the target has one value in each group."""
    _, first, units = np.unique(groups, return_index=True, return_inverse=True)
    return bool((target == target[first][units]).all())


def _within_groups(block: Indices, rng: np.random.Generator) -> Indices:
    """Return, for each case, the case of its own group whose value it takes."""
    draw = np.empty_like(block)
    draw[np.argsort(block, kind="stable")] = np.lexsort((rng.random(len(block)), block))
    return draw


def _whole_groups(block: Indices, rng: np.random.Generator) -> Indices:
    """Return, for each case, the case whose value it takes, groups taking those of other groups."""
    order, size = np.lexsort((rng.random(len(block)), block)), np.bincount(block)
    first, donor = np.cumsum(size) - size, rng.permutation(len(size))[block[order]]
    place = np.arange(len(block)) - first[block[order]]
    draw = np.empty_like(block)
    draw[order] = order[first[donor] + place % size[donor]]
    return draw


def worse_by(
    X: Floats,
    columns: Sequence[int],
    answers_to: Callable[[Floats], Any],
    measured: Callable[[Any, Indices], float | None],
    groups: Array | None,
    seed: int,
    *,
    whole: bool = False,
    read: Floats | None = None,
) -> dict[int, list[float]]:
    """Return, by column, how much the measure falls in each draw where the column is permuted.

    All columns share the same permutations. With groups these stay within each group, and cases
    that are the only one of their group are permuted among each other; a column that is constant
    in each of these sets has no draws. The result is empty if the measure is not defined.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Held-out cases.
    answers_to : callable
        ``answers_to(rows)`` returns the predictions of rows like those of X.
    measured : callable
        ``measured(answers, at)`` scores the predictions ``answers[at]`` of the n cases, greater
        being better; None where the score is not defined.
    whole : bool, default=False
        Each group takes the values of another group: if the target is constant within groups,
        permuting within them would keep each group's values with its target.
    read : ndarray of shape (n, p), optional
        The rows that are predicted in place of X, column by column.
    """
    read = X if read is None else read
    n, rng = len(X), np.random.default_rng(seed)
    block = (
        np.zeros(n, dtype=np.intp) if groups is None else np.unique(groups, return_inverse=True)[1]
    )
    if not whole:
        alone = np.bincount(block)[block] == 1
        block = np.unique(np.where(alone, -1, block), return_inverse=True)[1]
    one_draw = _whole_groups if whole else _within_groups
    drawn = np.stack([one_draw(block, rng) for _ in range(DRAWS)])
    as_is = measured(answers_to(read), np.arange(n))
    if as_is is None:
        return {}
    found = {j: list[float]() for j in columns}
    for j in columns:
        # NaN is one value
        values, first, codes = np.unique(X[:, j], return_index=True, return_inverse=True)
        held = len(np.unique(block * len(values) + codes))  # pairs of group and value
        if groups is not None and not whole and held == block.max() + 1:
            continue
        # each pair of case and value is predicted once, however often it is drawn
        pairs, where = np.unique(np.arange(n) * len(values) + codes[drawn], return_inverse=True)
        rows = read[pairs // len(values)]
        rows[:, j] = read[first[pairs % len(values)], j]
        answers = answers_to(rows)
        after = [measured(answers, at) for at in where.reshape(drawn.shape)]
        found[j] = [as_is - one for one in after if one is not None]
    return found


@dataclass(frozen=True)
class PermutedDisplay(Display):
    """Permutation importance on held-out cases: how much worse the measure is without each column.

    `plot` draws a bar for each column, the mean, with its standard deviation.

    If only one column carries the signal, permuting it reduces the model to chance; if two columns
    carry the same signal, permuting one of them may change nothing. A negative value means that
    predictions are better where the column is permuted.

    Parameters
    ----------
    measure : str
    names : tuple of str
        The columns that were permuted, the greatest mean first.
    worse : tuple of tuple of float
        For each column, the fall of the measure in each draw; for a study, the mean over 20 draws
        in each fold (0 in a fold whose model does not read the column).

    Examples
    --------
    >>> import numpy as np
    >>> from psephos import CARTClassifier
    >>> from psephos.explain import PermutedDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 3))
    >>> y = np.where(X[:, 1] > 0, "ill", "well")
    >>> model = CARTClassifier(max_depth=2).fit(X[:200], y[:200])
    >>> table = PermutedDisplay.from_estimator(model, X[200:], y[200:]).table()
    >>> table["column"], bool(table["worse"][0] > 0.4)
    (['column 1'], True)
    """

    measure: str
    names: tuple[str, ...]
    worse: tuple[tuple[float, ...], ...]

    @classmethod
    def of(cls, measure: str, found: Mapping[str, Sequence[float]]) -> Self:
        """Return the display of values by column; a column without values is left out."""
        known = sorted((one for one in found.items() if one[1]), key=lambda one: -np.mean(one[1]))
        return cls(measure, tuple(name for name, _ in known), tuple(tuple(own) for _, own in known))

    @classmethod
    def from_rows(cls, rows: Sequence[Mapping[str, Any]], model: str) -> Self:
        """Return the display of one model of a study, from the rows of permuted.csv.

        Parameters
        ----------
        rows : sequence of mappings
            With the keys ``model``, ``column``, ``measure`` and ``worse``.
        model : str
            The name of the model.

        Raises
        ------
        PsephosError
            If a row lacks a key, or no row is of this model.
        """
        keys = ("model", "column", "measure", "worse")
        if not all(isinstance(row, Mapping) and {*keys} <= {*row} for row in rows):
            raise PsephosError(f"rows must be mappings with {', '.join(keys)}, as in permuted.csv.")
        own = [row for row in rows if row["model"] == model]
        if not own:
            raise PsephosError(
                f"model must be one whose columns were permuted; got {model!r}: compare with "
                "out=FOLDER keeps models of folds, unless they are large or of another library."
            )
        found = {str(row["column"]): list[float]() for row in own}
        for row in own:
            found[row["column"]] += [] if row["worse"] in (None, "") else [float(row["worse"])]
        return cls.of(own[0]["measure"], found)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: TableLike, y: LabelsLike, *, groups: PerRow = None,
        random_state: int = 0,
    ) -> Self:  # fmt: skip
        """Return the display of a fitted model of psephos on cases that it was not fitted on.

        The measure is balanced accuracy, or R² for regression. At most the 60 most important
        columns are permuted, 20 times each, among at most 1,000 evenly spaced cases.

        Parameters
        ----------
        estimator : fitted classifier or regressor
        X : array or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        groups : array of shape (n_samples,), default=None
            Values are permuted within groups, and among the cases that are the only one of their
            group; columns that are constant in each of these sets are left out. If y is constant
            within each group, whole groups exchange their values instead.
        random_state : int, default=0

        Raises
        ------
        PsephosError
            If it is not a fitted model of psephos, or X has rows that it was fitted or calibrated
            on, as far as it keeps them.
        """
        if not isinstance(estimator, VoteEstimator) or not hasattr(estimator, "vote_"):
            raise PsephosError(
                f"estimator must be a fitted model of psephos; got {type(estimator).__name__}: use "
                "sklearn.inspection.permutation_importance for other models."
            )
        if not (kind := Interval(0, whole=True)).allows(random_state):
            raise PsephosError(f"random_state must be {kind.words()}; got {random_state!r}.")
        X = estimator._table(X).dense()  # pyright: ignore[reportPrivateUsage]
        refuse_seen(estimator, X, "PermutedDisplay", None)
        blocks, rows = read_groups(groups, len(X)), held_out_sample(*X.shape)
        classes = getattr(estimator, "classes_", None)

        def read(some: Floats, y: LabelsLike) -> Any:
            return read_numbers(some, y) if classes is None else codes_among(classes, some, y)

        def measured(answers: Any, at: Indices) -> float:
            if classes is None:
                return float(r2_score(truth, answers[at]))
            return balanced_accuracy(answers[at], truth)

        truth = read(X, y)[rows]
        if classes is None and np.ptp(truth) == 0:
            raise PsephosError(f"y must have two different values; got {truth[0]} for all cases.")
        predicting, derived = encoded(estimator, X[rows])
        found = worse_by(
            X[rows], most_important(estimator).tolist(),
            lambda some: read(some, predicting.predict(some)), measured,
            None if blocks is None else blocks[rows], random_state,
            whole=blocks is not None and constant_within(blocks[rows], truth), read=derived,
        )  # fmt: skip
        words = estimator.schema_.words().columns
        named = {words[j]: own for j, own in found.items()}
        return cls.of("r2" if classes is None else "balanced_accuracy", named)

    def table(self) -> ColumnLists:
        """Return one entry per column: ``column``, ``worse`` and ``sd``.

        ``worse`` is the mean fall of the measure, ``sd`` its standard deviation over draws (for a
        study over folds), NaN if there is only one.
        """
        sd = [float(np.std(own, ddof=1)) if len(own) > 1 else np.nan for own in self.worse]
        worse = [float(np.mean(own)) for own in self.worse]
        return {"column": list(self.names), "worse": worse, "sd": sd}

    def _draw(self, axes: Axes) -> None:
        table: Any = self.table()
        at = np.arange(len(self.names))[::-1]
        axes.barh(at, table["worse"], xerr=np.nan_to_num(table["sd"]), color=POSITIVE)
        axes.set_yticks(at, [plain(name) for name in self.names])
        axes.set(xlabel=f"fall of {self.measure} where the column is permuted")
