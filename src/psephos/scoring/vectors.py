"""Conformance vectors: generated rows with what a model says of them, and how it calls things.

They travel in the model file, so that whoever reads it can check that they read it right. No row is
a training row, and no number of one is in them (see `psephos.vote.marks`).
"""

import json
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, ClassVar, NamedTuple

import numpy as np

from psephos._errors import ModelFileError, PsephosError
from psephos._types import Array, Floats, NDArray
from psephos.files.cells import FARTHEST
from psephos.files.field_types import AnySize, Nullable
from psephos.files.names import Names
from psephos.scoring.reader.model import said_words
from psephos.vote import Ballots, Vote
from psephos.vote.codec import register
from psephos.vote.part import check

_MOST = 1 << 16  # numbers of the rows in a model file
_GAPS, _EXACT = 0.1, 0.4  # shares of values: missing, where an answer turns
_DIGITS = 13  # of scores in a file, which is then the same wherever it is written
_CLOSE = 1e-12
_VOTERS = 8  # whose words on the first row are kept


class Checked(NamedTuple):
    """What a comparison of a file's vectors came to.

    Parameters
    ----------
    rows : int
    worst : float
        The greatest difference of a score, as a share of its size.
    note : str
        What was not compared, or is otherwise though the answers are the same; '' for nothing.
    """

    rows: int
    worst: float
    note: str = ""


@register
@dataclass(frozen=True)
class Vectors:
    """Rows on the columns that a vote reads, and what it says of them.

    Parameters
    ----------
    rows : ndarray of shape (n, q)
        NaN where missing, codes of categories.
    scores : ndarray of shape (n, K)
        Before a link or calibration.
    answers : ndarray of shape (n,) or (n, K)
        Labels, 0 or 1 for each label, or numbers.
    chances : ndarray of shape (n, n_classes), default=()
        Probabilities; of numbers (n, 0). Older files have none.
    words : tuple of str, default=()
        The names of columns, categories and classes, and the ballots of the first row. Older files
        have none.
    """

    tag: ClassVar[str] = "conformance vectors"
    rows: Nullable
    scores: AnySize
    answers: Array
    chances: tuple[NDArray[np.float64], ...] = ()
    words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check(self.rows.ndim == self.scores.ndim == 2, "vectors are not tables")
        check(len(self.rows) == len(self.scores) == len(self.answers), "vectors differ in number")
        check(all(len(one) == len(self.rows) for one in self.chances), "vectors differ in number")

    def check_vote(self, vote: Vote, names: Names, alike: bool = True) -> Checked:
        """Return how a vote on these columns, which are called so, compares.

        Parameters
        ----------
        vote : Vote
        names : Names
            Of the columns of the vote.
        alike : bool, default=True
            Whether ballots must be worded alike: they may not be by another version.

        Raises
        ------
        PsephosError
            If a score or probability is off by more than 1e-12, or an answer or a name is another.
        """
        shape = (len(self.rows), vote.target.n_outputs)
        same = self.rows.shape[1] == len(vote.columns) and self.scores.shape == shape
        check(same, "vectors of another vote")
        found = _told(vote, self.rows)
        worst = self._check_size("score", self.scores, found.scores)
        if vote.target.n_classes and not np.array_equal(found.answers, self.answers):
            raise PsephosError("a conformance vector has the same score and another answer here.")
        if not self.words:
            return Checked(
                len(self.rows), worst, "an older version wrote the file: names were not compared"
            )
        for chances in self.chances:
            self._check_size("probability", chances, found.chances)
        note = ""
        here = _words_of(vote, names, self.rows)
        for meant, told in zip_longest(self.words, here, fillvalue="nothing"):
            if meant != told and not alike and meant.startswith("voter "):
                note = "ballots are worded otherwise than by the version that wrote the file"
            elif meant != told:
                raise PsephosError(
                    f"it says {told!r} here, and {meant!r} where the file was written: a name, a "
                    "class or a reason was changed."
                )
        return Checked(len(self.rows), worst, note)

    def _check_size(self, what: str, wanted: Floats, found: Floats) -> float:
        """Return the greatest difference as a share of the size; raise if it is no rounding."""
        size = np.maximum(np.abs(wanted).max(axis=1, initial=0.0), 1.0)
        apart = np.abs(found - wanted).max(axis=1, initial=0.0) / size
        worst = int(np.argmax(np.where(np.isnan(apart), np.inf, apart))) if len(apart) else 0
        if len(apart) and not apart[worst] <= _CLOSE:
            raise PsephosError(
                f"row {worst} of the file's {len(apart)} conformance vectors has the {what} "
                f"{found[worst].tolist()} here, and {wanted[worst].tolist()} where the file "
                "was written: this reader, or this machine's arithmetic, is another."
            )
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
        ``answers``; ``words``, the names of columns, categories and classes, and the ballots of
        the first row.

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
    rows = drawn_rows(vote, estimator.schema_.select(vote.columns).levels, n, random_state)
    found, names = _told(vote, rows), _names(vote, estimator.schema_)
    return {
        "rows": [
            [_worded(value, names.levels.get(j)) for j, value in enumerate(row)]
            for row in rows.tolist()
        ],
        "scores": found.scores.tolist(),
        "probabilities": found.chances.tolist() if vote.target.n_classes else None,
        "answers": found.answers.tolist(),
        "words": _words_of(vote, names, rows),
    }


def _worded(value: float, levels: Any) -> Any:
    if np.isnan(value):
        return None
    return value if levels is None else levels[int(value)]


def checked(vectors: Any, vote: Vote, schema: Any, alike: bool) -> Checked:
    """Return what `Vectors.check_vote` says of the vectors that a file holds.

    Raises
    ------
    ModelFileError
        If it raises, or the file holds no vectors.
    """
    if not isinstance(vectors, Vectors):
        raise ModelFileError(
            "it holds no conformance vectors (an older version wrote it, or it reads too many "
            "columns): load and save it again."
        )
    try:
        return vectors.check_vote(vote, _names(vote, schema), alike)
    except PsephosError as error:
        raise ModelFileError(str(error)) from None


def vectors_of(vote: Vote, schema: Any, n: int = 16) -> Vectors | None:
    """Return the vectors that a model file holds; None if a vote reads too many columns."""
    n = min(n, _MOST // max(1, len(vote.columns)))
    if n == 0:
        return None
    try:
        rows = drawn_rows(vote, schema.select(vote.columns).levels, n)
        found = _told(vote, rows)
    except PsephosError:  # no row of numbers has an answer
        return None
    words = tuple(_words_of(vote, _names(vote, schema), rows))
    chances = () if found.chances is None else (to_digits(found.chances),)
    return Vectors(rows, to_digits(found.scores), found.answers, chances, words)


def to_digits(table: Floats, digits: int = _DIGITS) -> Floats:
    """Return the nearest numbers of so many digits."""
    written = np.array([float(f"{v:.{digits}g}") for v in table.ravel().tolist()])
    return written.reshape(table.shape)


def drawn_rows(vote: Vote, levels: Any, n: int, random_state: int = 0) -> Floats:
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


def _column(marks: Floats, n_levels: int, where: Floats, exact: NDArray[np.bool_]) -> Floats:
    if n_levels:
        return np.floor(where * n_levels)
    if not len(marks):
        return 4.0 * where - 2.0
    low, high = float(marks[0]), float(marks[-1])
    span = (high - low) or abs(low) or 1.0
    between = low - 0.2 * span + 1.4 * span * where
    at = marks[np.minimum((where * len(marks)).astype(np.intp), len(marks) - 1)]
    return np.clip(np.where(exact, at, between), -FARTHEST, FARTHEST)


def _with_gaps(vote: Vote, rows: Floats, gaps: NDArray[np.bool_]) -> Floats:
    """Return rows with gaps, if the vote answers rows with gaps."""
    holed = np.where(gaps, np.nan, rows)
    try:
        _told(vote, holed)
    except PsephosError:
        return rows
    return holed


def _names(vote: Vote, schema: Any) -> Names:
    """Return what the columns that a vote reads are called, in the table of the fit."""
    return schema.words().select(vote.columns.tolist())


class _Told(NamedTuple):
    scores: Floats
    answers: Array
    chances: Any


def _of_its_columns(vote: Vote, rows: Floats) -> tuple[Vote, Floats]:
    if not len(vote.columns):
        return vote, np.zeros((len(rows), vote.n_features))
    return vote.select(vote.columns), rows


def _told(vote: Vote, rows: Floats) -> _Told:
    small, rows = _of_its_columns(vote, rows)
    scores, mass = small.score_and_mass(rows)
    chances = None
    if small.target.n_classes:
        chances = small.readout.probabilities(scores, small.target, mass)
    return _Told(scores, small.decided(scores, mass), chances)


def _words_of(vote: Vote, names: Names, rows: Floats) -> list[str]:
    """Return how things are called, and the first row's ballots, but for named training rows."""
    target: Any = vote.target
    classes = [str(c) for c in target.classes] if target.n_classes else list(target.outputs)
    ballots: list[tuple[int, str]] = []
    if len(rows):
        small, rows = _of_its_columns(vote, rows[:1])
        own = Ballots.of(small, names, rows, [0])
        for t, number in enumerate(own.voter_numbers[:_VOTERS]):
            if '"row": "' not in json.dumps(own.reasons[0][t].data(own.names), default=str):
                ballots.append((number, own.words(0, t)))
    return said_words(names, classes, ballots)
