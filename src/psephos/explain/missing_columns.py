"""Which missing value of a case to measure next: the one that may change the prediction most."""

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

VALUES = 10  # values that are tried for a missing number


@dataclass(frozen=True)
class NextColumn(Framed):
    """The missing columns of cases, sorted by how far their values may change the prediction.

    Parameters
    ----------
    case : list
        The row of each entry.
    column : list of str
        The missing column.
    change : ndarray
        The mean absolute change of the prediction if the column is measured.
    flips : ndarray
        The probability that the predicted class changes; NaN for regression.
    unmoved : list
        Rows with missing columns, none of which can change the prediction.
    """

    case: list[Any]
    column: list[str]
    change: Floats
    flips: Floats
    unmoved: list[Any]

    def table(self) -> dict[str, list[Any]]:
        """Return one entry per case and column: ``case``, ``column``, ``change``, ``flips``."""
        numbers = {"change": self.change.tolist(), "flips": self.flips.tolist()}
        return {"case": self.case, "column": self.column, **numbers}

    def first(self) -> dict[Any, str]:
        """Return the column to measure first, by case."""
        found: dict[Any, str] = {}
        for case, column in zip(self.case, self.column, strict=True):
            found.setdefault(case, column)
        return found


def next_of(
    vote: Vote, profile: Profile, names: Sequence[str], X: Floats, cases: Sequence[Any]
) -> NextColumn:
    """Do `next_column` for a vote on its own columns and rows X of shape (n, q)."""
    score, now, answer = _answers(vote, X)
    found: list[tuple[int, float, int, float]] = []
    tried = set[int]()
    for j in range(X.shape[1]):
        lacking = np.flatnonzero(np.isnan(X[:, j]))
        values, chance = profile.points(j, VALUES)
        if not len(lacking) or not len(values):
            continue
        tried.update(lacking.tolist())
        after, then, other = _answers(vote, _with_values(X[lacking], j, values))
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
    """Return a mask of the n rows whose (n, K) score differs from any of its v new scores."""
    apart = np.abs(after.reshape(len(score), -1, score.shape[1]) - score[:, None])
    moved: Any = apart > LEVEL * np.maximum(np.abs(score), 1.0)[:, None]
    return moved.any(axis=(1, 2))


def _every_value(vote: Vote, profile: Profile, column: int) -> Floats:
    """Return values of a column on both sides of every value at which a vote may change."""
    levels = profile.levels(column)
    if levels is not None:
        return np.arange(len(levels), dtype=np.float64)
    of, at = vote.marks()
    own = np.unique(at[(of == column) & np.isfinite(at)])
    known = profile.quantiles[column]
    return np.concatenate([known, own, np.nextafter(own, -np.inf), np.nextafter(own, np.inf)])


def _answers(vote: Vote, X: Floats) -> tuple[Floats, Floats, NDArray[Any]]:
    """Return (n, K) scores, probabilities (for regression the scores), and predictions."""
    score, mass = vote.score_and_mass(X)
    if not vote.target.n_classes:
        return score, score, score[:, 0]
    chances = vote.readout.probabilities(score, vote.target, mass)
    decided = vote.readout.decided(score, vote.target, mass)
    if vote.target.kind == "multilabel":
        raise PsephosError("model must predict one class or number per case.")
    target: Any = vote.target
    return score, chances, target.chosen(decided)


def next_column(model: VoteEstimator, X: TableLike) -> NextColumn:
    """Return which missing value of each case may change the prediction most if it is measured.

    For a column j that the model reads and that is missing in case x::

        change_j(x) = sum over v of P_j(v) * 1/2 * sum over k of |p_k(x, x_j = v) - p_k(x)|
        flips_j(x)  = sum over v of P_j(v) * [the class of (x, x_j = v) differs from that of x]

    P_j is the training distribution of column j alone, as the model keeps it: the shares of
    categories, or ten values at the quantiles .05, .15, ... .95. It does not depend on the case's
    other values. For regression, change is the mean absolute change of the prediction.

    Parameters
    ----------
    model : fitted estimator
        It must predict where values are missing, as swag, trees and abstaining voters do.
    X : frame or array of shape (n, p)
        Cases; NaN where not measured. With ``absent='vote'`` frames may lack columns.

    Returns
    -------
    found : NextColumn
        Without columns that are not missing, that no training row had, or that cannot change the
        score; `unmoved` lists cases all of whose missing columns are of the last kind.

    Raises
    ------
    PsephosError
        If the model is not fitted, keeps no summary of its training columns, or cannot predict
        with a missing value.

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
            f"next_column needs a summary of the training columns, which this "
            f"{type(model).__name__} lacks: fit it again with this version."
        )
    columns = model.vote_.columns
    names = [model.schema_.words().columns[j] for j in columns.tolist()]
    values: Any = table.dense(columns)
    return next_of(
        model.vote_.select(columns), baseline.profile, names, values, table.rows.tolist()
    )
