"""Conformance vectors: generated rows with the scores that a model gives them.

They travel in the model file, so that whoever reads it can check that they read it right. No row is
a training row, and no number of one is in them (see `psephos.vote.marks`).
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from psephos._errors import ModelFileError, PsephosError
from psephos._stored import AnySize, Nullable
from psephos.vote import Vote
from psephos.vote.codec import register
from psephos.vote.part import check

__all__ = ["Vectors", "checked", "conformance", "drawn_rows", "vectors_of"]

_Floats = NDArray[np.float64]
_MOST = 1 << 16  # numbers of the rows in a model file
_GAPS, _EXACT = 0.1, 0.4  # shares of values: missing, where an answer turns
_DIGITS = 13  # of scores in a file, which is then the same wherever it is written
_CLOSE = 1e-12


@register
@dataclass(frozen=True)
class Vectors:
    """Rows on the columns that a vote reads, and their scores.

    Parameters
    ----------
    rows : ndarray of shape (n, q)
        NaN where missing, codes of categories.
    scores : ndarray of shape (n, K)
        Before a link or calibration.
    answers : ndarray of shape (n,) or (n, K)
        Labels, 0 or 1 for each label, or numbers.
    """

    tag: ClassVar[str] = "conformance vectors"
    rows: Nullable
    scores: AnySize
    answers: NDArray[Any]

    def __post_init__(self) -> None:
        check(self.rows.ndim == self.scores.ndim == 2, "vectors are not tables")
        check(len(self.rows) == len(self.scores) == len(self.answers), "vectors differ in number")

    def check_vote(self, vote: Vote) -> float:
        """Return the greatest difference of a vote's scores from these, as a share of their size.

        Raises
        ------
        PsephosError
            If it is above 1e-12, or an answer is another.
        """
        shape = (len(self.rows), vote.target.n_outputs)
        same = self.rows.shape[1] == len(vote.columns) and self.scores.shape == shape
        check(same, "vectors of another vote")
        scores, answers = _answered(vote, self.rows)
        size = np.maximum(np.abs(self.scores).max(axis=1), 1.0)
        apart = np.abs(scores - self.scores).max(axis=1) / size
        worst = int(np.argmax(np.where(np.isnan(apart), np.inf, apart))) if len(apart) else 0
        if len(apart) and not apart[worst] <= _CLOSE:
            raise PsephosError(
                f"row {worst} of the file's {len(apart)} conformance vectors has the score "
                f"{scores[worst].tolist()} here, and {self.scores[worst].tolist()} where the file "
                "was written: this reader, or this machine's arithmetic, is another."
            )
        if vote.target.n_classes and not np.array_equal(answers, self.answers):
            raise PsephosError("a conformance vector has the same score and another answer here.")
        return float(apart.max(initial=0.0))


def conformance(estimator: Any, n: int = 16, random_state: int = 0) -> dict[str, Any]:
    """Return generated rows of a fitted model, and what it says of them.

    Parameters
    ----------
    estimator : fitted estimator of psephos
    n : int, default=16
    random_state : int, default=0

    Returns
    -------
    dict
        ``rows``, in the order of the columns of `plain`: numbers, words of levels, None where
        missing; ``scores`` (a list each); ``probabilities``, a list each, None of numbers;
        ``answers``.

    Raises
    ------
    PsephosError
        If the estimator is not a fitted one.

    Examples
    --------
    >>> from psephos import CARTClassifier
    >>> from psephos.scoring import conformance
    >>> model = CARTClassifier(n_folds=0).fit([[1.0], [2.0], [3.0], [4.0]] * 10, [0, 0, 1, 1] * 10)
    >>> len(conformance(model, 8)["rows"])
    8
    """
    if not hasattr(estimator, "vote_"):
        raise PsephosError(f"{type(estimator).__name__} is not a fitted model of psephos.")
    estimator._fitted()
    vote: Vote = estimator.vote_
    schema = estimator.schema_.select(vote.columns)
    rows = drawn_rows(vote, schema.levels, n, random_state)
    scores, answers = _answered(vote, rows)
    probabilities = vote.probabilities(_whole(vote, rows)) if vote.target.n_classes else None
    levels = schema.words().levels
    return {
        "rows": [
            [_told(value, levels.get(j)) for j, value in enumerate(row)] for row in rows.tolist()
        ],
        "scores": scores.tolist(),
        "probabilities": None if probabilities is None else probabilities.tolist(),
        "answers": answers.tolist(),
    }


def _told(value: float, levels: Any) -> Any:
    if np.isnan(value):
        return None
    return value if levels is None else levels[int(value)]


def checked(vectors: Any, vote: Vote) -> tuple[int, float]:
    """Return the number of the vectors that a file holds, and the greatest difference of a score.

    Raises
    ------
    PsephosError
        If a score is not what the file says, or the file holds no vectors.
    """
    if not isinstance(vectors, Vectors):
        raise ModelFileError(
            "it holds no conformance vectors (an older version wrote it, or it reads too many "
            "columns): load and save it again."
        )
    try:
        return len(vectors.rows), vectors.check_vote(vote)
    except PsephosError as error:
        raise ModelFileError(str(error)) from None


def vectors_of(vote: Vote, schema: Any, n: int = 16) -> Vectors | None:
    """Return the vectors that a model file holds; None if a vote reads too many columns."""
    levels = schema.select(vote.columns).levels
    n = min(n, _MOST // max(1, len(vote.columns)))
    if n == 0:
        return None
    try:
        rows = drawn_rows(vote, levels, n)
        scores, answers = _answered(vote, rows)
    except PsephosError:  # no row of numbers has an answer
        return None
    with np.errstate(invalid="ignore"):
        written = np.array([float(f"{v:.{_DIGITS}g}") for v in scores.ravel().tolist()])
    return Vectors(rows, written.reshape(scores.shape), answers)


def drawn_rows(vote: Vote, levels: Any, n: int, random_state: int = 0) -> _Floats:
    """Return (n, q) rows on the columns that a vote reads, drawn where its answers turn.

    A value is missing, the very threshold of a rule, or between the least and the greatest of the
    marks of its column and a little beyond; a category is one of its levels, each alike.

    Parameters
    ----------
    vote : Vote
    levels : mapping of int to sequence
        The categories of categorical columns, which are numbered as they are read.
    n : int
    random_state : int, default=0
    """
    rng = np.random.default_rng(random_state)
    columns, q = vote.columns, len(vote.columns)
    marked, values = vote.marks()
    kept = np.isfinite(values)
    place, values = np.searchsorted(columns, marked[kept]), values[kept]
    order = np.lexsort((values, place))
    ends = np.searchsorted(place[order], np.arange(q + 1))
    where, exact, gap = rng.random((3, n, q))
    rows = np.empty((n, q))
    for j in range(q):
        own = values[order[ends[j] : ends[j + 1]]]
        rows[:, j] = _column(own, len(levels.get(j, ())), where[:, j], exact[:, j] < _EXACT)
    return _with_gaps(vote, rows, gap < _GAPS)


def _column(marks: _Floats, n_levels: int, where: _Floats, exact: NDArray[np.bool_]) -> _Floats:
    if n_levels:
        return np.floor(where * n_levels)
    if not len(marks):
        return 4.0 * where - 2.0
    low, high = float(marks[0]), float(marks[-1])
    span = (high - low) or abs(low) or 1.0
    between = low - 0.2 * span + 1.4 * span * where
    at = marks[np.minimum((where * len(marks)).astype(np.intp), len(marks) - 1)]
    return np.where(exact, at, np.clip(between, -1e300, 1e300))


def _with_gaps(vote: Vote, rows: _Floats, gaps: NDArray[np.bool_]) -> _Floats:
    """Return rows with gaps, if the vote answers rows with gaps."""
    holed = np.where(gaps, np.nan, rows)
    try:
        _answered(vote, holed)
    except PsephosError:
        return rows
    return holed


def _whole(vote: Vote, rows: _Floats) -> _Floats:
    """Return the rows on all columns of the vote's table, or on its own if it reads none."""
    out = np.zeros((len(rows), vote.n_features))
    out[:, vote.columns] = rows
    return out


def _answered(vote: Vote, rows: _Floats) -> tuple[_Floats, NDArray[Any]]:
    small = vote.select(vote.columns) if len(vote.columns) else vote
    scores, mass = small.score_and_mass(rows if len(vote.columns) else _whole(vote, rows))
    return scores, small.decided(scores, mass)
