"""Which missing measurement of a case would tell most: by how far its value may move the answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Floats, NDArray, TableLike
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.explain.drawing import fitted_vote
from psephos.vote.frames import Framed
from psephos.vote.profile import Profile
from psephos.vote.reading.core import LEVEL
from psephos.vote.vote import Vote

VALUES = 10  # of a column of numbers


@dataclass(frozen=True)
class NextColumn(Framed):
    """The missing columns of cases, those that would move the answer most first.

    Parameters
    ----------
    case : list
        The row of each line.
    column : list of str
    change : ndarray
        The mean change of the answer.
    flips : ndarray
        The chance that the class changes; NaN of numbers.
    unmoved : list
        The rows that lack columns, none of which moves the answer.
    """

    case: list[Any]
    column: list[str]
    change: Floats
    flips: Floats
    unmoved: list[Any]

    def table(self) -> dict[str, list[Any]]:
        """Return the lines: case, column, change, flips."""
        numbers = {"change": self.change.tolist(), "flips": self.flips.tolist()}
        return {"case": self.case, "column": self.column, **numbers}

    def first(self) -> dict[Any, str]:
        """Return for each case that lacks a column the one that would tell most."""
        found: dict[Any, str] = {}
        for case, column in zip(self.case, self.column, strict=True):
            found.setdefault(case, column)
        return found


def next_of(
    vote: Vote, profile: Profile, names: Sequence[str], X: Floats, cases: Sequence[Any]
) -> NextColumn:
    """Return what `next_column` does, of a vote on its own columns and rows X of shape (n, q)."""
    score, now, answer = _answers(vote, X)
    found: list[tuple[int, float, int, float]] = []
    tried = set[int]()
    for j in range(X.shape[1]):
        lacking = np.flatnonzero(np.isnan(X[:, j]))
        values, chance = profile.points(j, VALUES)
        if not len(lacking) or not len(values):
            continue
        tried.update(lacking.tolist())
        asked = _with_values(X[lacking], j, values)
        after, then, other = _answers(vote, asked)
        moves = _differ(after, score[lacking])
        for i in np.flatnonzero(~moves):  # between the values of training rows, and beyond them
            row, every = X[lacking[i : i + 1]], _every_value(vote, profile, j)
            moves[i] = _differ(vote.score(_with_values(row, j, every)), score[lacking[i : i + 1]])[
                0
            ]
        gap = np.abs(then.reshape(len(lacking), len(values), -1) - now[lacking][:, None])
        half = 0.5 if vote.target.n_classes else 1.0
        change = half * gap.sum(axis=2) @ chance
        changed = other.reshape(len(lacking), -1) != answer[lacking][:, None]
        flips = changed @ chance if vote.target.n_classes else np.full(len(lacking), np.nan)
        lines = zip(lacking.tolist(), change.tolist(), flips.tolist(), moves.tolist(), strict=True)
        found += [(i, -c, j, f) for i, c, f, moved in lines if moved]
    found.sort(key=lambda line: line[:3])
    return NextColumn(
        [cases[line[0]] for line in found],
        [names[line[2]] for line in found],
        np.array([0.0 - line[1] for line in found]),
        np.array([line[3] for line in found]),
        [cases[i] for i in sorted(tried - {line[0] for line in found})],
    )


def _with_values(X: Floats, column: int, values: Floats) -> Floats:
    """Return each row of X with each value of a column, rows first."""
    rows = np.repeat(X, len(values), axis=0)
    rows[:, column] = np.tile(values, len(X))
    return rows


def _differ(after: Floats, score: Floats) -> NDArray[np.bool_]:
    """Return which rows of (n, K) scores any of the (n v, K) scores differs from."""
    apart = np.abs(after.reshape(len(score), -1, score.shape[1]) - score[:, None])
    moved: Any = apart > LEVEL * np.maximum(np.abs(score), 1.0)[:, None]
    return moved.any(axis=(1, 2))


def _every_value(vote: Vote, profile: Profile, column: int) -> Floats:
    """Return values of a column in each part of its range that a vote distinguishes."""
    levels = profile.levels(column)
    if levels is not None:
        return np.arange(len(levels), dtype=np.float64)
    of, at = vote.marks()
    own = np.unique(at[(of == column) & np.isfinite(at)])
    known = profile.quantiles[column]
    return np.concatenate([known, own, np.nextafter(own, -np.inf), np.nextafter(own, np.inf)])


def _answers(vote: Vote, X: Floats) -> tuple[Floats, Floats, NDArray[Any]]:
    """Return (n, K) scores, probabilities (numbers: answers), and the answers."""
    score, mass = vote.score_and_mass(X)
    if not vote.target.n_classes:
        return score, score, score[:, 0]
    chances = vote.readout.probabilities(score, vote.target, mass)
    decided = vote.readout.decided(score, vote.target, mass)
    if vote.target.kind == "multilabel":
        raise PsephosError("next_column is about one class a case, or of a number.")
    target: Any = vote.target
    return score, chances, target.chosen(decided)


def next_column(model: VoteEstimator, X: TableLike) -> NextColumn:
    """Return which missing measurement of each case would move the answer most.

    For a column j that a case x lacks and the model reads::

        change_j(x) = sum over v of P_j(v) * 1/2 * sum over k of |p_k(x, x_j = v) - p_k(x)|
        flips_j(x)  = sum over v of P_j(v) * [the class of (x, x_j = v) is another than that of x]

    P_j is the training distribution of column j alone, as the model keeps it: the shares of
    categories, or ten values at the middles of tenths, between the quantiles that are kept. It does
    not know what the case's other values say of the missing one. Of numbers, change is the mean
    absolute change of the answer.

    Parameters
    ----------
    model : fitted estimator
        That answers where values are missing: a library (swag), trees, and what abstains.
    X : frame or array of shape (n, p)
        Cases; NaN where not measured. With ``absent='vote'`` frames may lack columns.

    Returns
    -------
    found : NextColumn
        No line for a case that lacks nothing, for a column that no training row had, or for one
        of which no value changes the score; `unmoved` are the cases that have no other.

    Raises
    ------
    PsephosError
        If the model is not fitted, keeps no summary of its training columns, or cannot answer
        without a value.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from psephos import CARTClassifier
    >>> from psephos.explain import next_column
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CARTClassifier(max_depth=2).fit(X, y)
    >>> next_column(model, np.array([[5.0, 3.0, np.nan, np.nan]])).column
    ['column 2', 'column 3']
    """
    fitted_vote(model)
    table = model._table(X)
    baseline = model._known_baseline()
    if baseline is None or baseline.profile is None:
        raise PsephosError(
            f"next_column needs what the training columns were like, which this "
            f"{type(model).__name__} does not keep: fit it again, or save and load it with this "
            "version after a fit."
        )
    columns = model.vote_.columns
    names = [model.schema_.words().columns[j] for j in columns.tolist()]
    values: Any = table.dense(columns)
    return next_of(
        model.vote_.select(columns), baseline.profile, names, values, table.rows.tolist()
    )
