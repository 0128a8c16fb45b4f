"""Conformance vectors: generated rows with a model's predictions; rounding of rows that it keeps.

Vectors are stored in the model file, so that a reader of the file can check its own predictions.
They contain no training row and no value of one (see `psephos.vote.part.Breakpoints`).
"""

import copy
import json
from dataclasses import replace
from itertools import zip_longest
from typing import Any, ClassVar, NamedTuple

import numpy as np

from psephos._errors import ModelFileError, PsephosError
from psephos._types import Array, Floats, NDArray
from psephos.files.cells import FARTHEST
from psephos.files.field_types import AnySize, Nullable
from psephos.files.names import Names
from psephos.scoring.reader.model import conformance_words
from psephos.vote import Ballots, Local, LocalRelevance, Neighbours, Vote
from psephos.vote.codec import register
from psephos.vote.operations.cases import CaseVoters, PrototypeVoters
from psephos.vote.part import Voters, check
from psephos.vote.voters.prototypes import KernelWeights

_MOST = 1 << 16  # the most values of the rows in a model file
_GAPS, _EXACT = 0.1, 0.4  # the shares of values that are missing, or exactly at a breakpoint
_DIGITS = 13  # digits of scores in a file, so that all machines write the same file
_CLOSE = 1e-12  # the greatest relative difference of equal scores
_VOTERS = 8  # voters whose ballots for the first row are kept


class Checked(NamedTuple):
    """The result of comparing a file's vectors with a vote.

    Parameters
    ----------
    rows : int
        The number of rows that were compared.
    worst : float
        The greatest relative difference of a score.
    note : str
        What was not compared, or differs although the predictions agree; '' if nothing.
    """

    rows: int
    worst: float
    note: str = ""


@register
class Vectors:
    """Generated rows on the columns that a vote reads, with its predictions.

    Parameters
    ----------
    rows : ndarray of shape (n, q)
        NaN where missing, codes of categories.
    scores : ndarray of shape (n, K)
        Scores before a link or calibration.
    answers : ndarray of shape (n,) or (n, K)
        Labels, 0 or 1 for each label, or numbers.
    chances : ndarray of shape (n, n_classes), default=()
        Probabilities; for regression (n, 0). Older files have none.
    words : tuple of str, default=()
        The names of columns, categories and classes, and the ballots of the first row. Older files
        have none.
    """

    tag: ClassVar[str] = "conformance vectors"
    rows: Nullable
    scores: AnySize
    answers: Array
    chances: tuple[Floats, ...] = ()
    words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check(self.rows.ndim == self.scores.ndim == 2, "vectors are not tables")
        check(len(self.rows) == len(self.scores) == len(self.answers), "vectors differ in number")
        check(all(len(one) == len(self.rows) for one in self.chances), "vectors differ in number")

    def check_vote(self, vote: Vote, names: Names, alike: bool = True) -> Checked:
        """Compare the predictions, names and ballots of a vote with those of the vectors.

        Parameters
        ----------
        vote : Vote
        names : Names
            Names of the columns of the vote.
        alike : bool, default=True
            Whether ballots must have the same wording; another version may word them differently.

        Raises
        ------
        PsephosError
            If a score or probability is off by more than 1e-12, or a label or name differs.
        """
        shape = (len(self.rows), vote.target.n_outputs)
        same = self.rows.shape[1] == len(vote.columns) and self.scores.shape == shape
        check(same, "vectors of another vote")
        found = _predictions(vote, self.rows)
        worst = self._check_size("score", self.scores, found.scores)
        if vote.target.n_classes and not np.array_equal(found.answers, self.answers):
            raise PsephosError("a conformance vector has the same score but another label here.")
        if not self.words:
            note = "an older version wrote the file: names were not compared"
            return Checked(len(self.rows), worst, note)
        for chances in self.chances:
            self._check_size("probability", chances, found.chances)
        note = ""
        here = _words_of(vote, names, self.rows)
        for meant, own in zip_longest(self.words, here, fillvalue="nothing"):
            if meant != own and not alike and meant.startswith("voter "):
                note = "ballots are worded differently by the version that wrote the file"
            elif meant != own:
                raise PsephosError(
                    f"it has {own!r} here, but {meant!r} where the file was written: a name, a "
                    "class or a reason was changed."
                )
        return Checked(len(self.rows), worst, note)

    def _check_size(self, what: str, wanted: Floats, found: Floats) -> float:
        """Return the greatest relative difference; raise if it is above 1e-12."""
        size = np.maximum(np.abs(wanted).max(axis=1, initial=0.0), 1.0)
        apart = np.abs(found - wanted).max(axis=1, initial=0.0) / size
        worst = int(np.argmax(np.where(np.isnan(apart), np.inf, apart))) if len(apart) else 0
        if len(apart) and not apart[worst] <= _CLOSE:
            raise PsephosError(
                f"row {worst} of the file's {len(apart)} conformance vectors has the {what} "
                f"{found[worst].tolist()} here, but {wanted[worst].tolist()} where the file "
                "was written: this reader, or this machine's arithmetic, differs."
            )
        return float(apart.max(initial=0.0))


def conformance(estimator: Any, n: int = 16, random_state: int = 0) -> dict[str, Any]:
    """Return generated rows for a fitted model, with its predictions and the first row's ballots.

    Parameters
    ----------
    estimator : fitted estimator of psephos
    n : int, default=16
    random_state : int, default=0

    Returns
    -------
    dict
        ``rows``, in the order of the columns of `plain`: numbers, names of levels, None where
        missing; ``scores``, a list for each row; ``probabilities``, the same, or None for
        regression; ``answers``; ``words``, the names of columns, categories and classes, and the
        ballots of the first row.

    Raises
    ------
    PsephosError
        If the estimator is not a fitted model of psephos.

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
    found, names = _predictions(vote, rows), _names(vote, estimator.schema_)
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
    """Compare a vote with the vectors of a model file; see `Vectors.check_vote`.

    Raises
    ------
    ModelFileError
        If they differ, or the file has no vectors.
    """
    if not isinstance(vectors, Vectors):
        raise ModelFileError(
            "it has no conformance vectors (an older version wrote it, or it reads too many "
            "columns): load and save it again."
        )
    try:
        return vectors.check_vote(vote, _names(vote, schema), alike)
    except PsephosError as error:
        raise ModelFileError(str(error)) from None


def vectors_of(vote: Vote, schema: Any, n: int = 16) -> Vectors | None:
    """Return the vectors for a model file; None if the vote reads too many columns."""
    n = min(n, _MOST // max(1, len(vote.columns)))
    if n == 0:
        return None
    try:
        rows = drawn_rows(vote, schema.select(vote.columns).levels, n)
        found = _predictions(vote, rows)
    except PsephosError:  # the vote cannot predict generated rows
        return None
    words = tuple(_words_of(vote, _names(vote, schema), rows))
    chances = () if found.chances is None else (to_digits(found.chances),)
    return Vectors(rows, to_digits(found.scores), found.answers, chances, words)


def to_digits(table: Floats, digits: int = _DIGITS) -> Floats:
    """Round numbers to so many significant digits."""
    written = np.array([float(f"{v:.{digits}g}") for v in table.ravel().tolist()])
    return written.reshape(table.shape)


def drawn_rows(vote: Vote, levels: Any, n: int, random_state: int = 0) -> Floats:
    """Return (n, q) random rows on the columns that a vote reads, near its breakpoints.

    A number is missing, equal to a breakpoint of its column, or uniform over the range of these and
    a little beyond; categories are uniform over their levels.

    Parameters
    ----------
    vote : Vote
    levels : mapping of int to sequence
        The categories of categorical columns, by position among the columns read.
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
    """Return rows with missing values, or without if the vote cannot predict them."""
    holed = np.where(gaps, np.nan, rows)
    try:
        _predictions(vote, holed)
    except PsephosError:
        return rows
    return holed


def _names(vote: Vote, schema: Any) -> Names:
    """Return the names of the columns that a vote reads."""
    return schema.words().select(vote.columns.tolist())


class _Predictions(NamedTuple):
    scores: Floats
    answers: Array
    chances: Any


def _of_its_columns(vote: Vote, rows: Floats) -> tuple[Vote, Floats]:
    if not len(vote.columns):
        return vote, np.zeros((len(rows), vote.n_features))
    return vote.select(vote.columns), rows


def _predictions(vote: Vote, rows: Floats) -> _Predictions:
    small, rows = _of_its_columns(vote, rows)
    scores, mass = small.score_and_mass(rows)
    chances = None
    if small.target.n_classes:
        chances = small.readout.probabilities(scores, small.target, mass)
    return _Predictions(scores, small.decided(scores, mass), chances)


def _words_of(vote: Vote, names: Names, rows: Floats) -> list[str]:
    """Return names and the first row's ballots, without ballots that name a training row."""
    target: Any = vote.target
    classes = [str(c) for c in target.classes] if target.n_classes else list(target.outputs)
    ballots: list[tuple[int, str]] = []
    if len(rows):
        small, rows = _of_its_columns(vote, rows[:1])
        own = Ballots.of(small, names, rows, [0])
        for t, number in enumerate(own.voter_numbers[:_VOTERS]):
            if '"row": "' not in json.dumps(own.reasons[0][t].data(own.names), default=str):
                ballots.append((number, own.words(0, t)))
    return conformance_words(names, classes, ballots)


def with_rounded_rows(estimator: Any, digits: int) -> Any:
    """Return a copy of a fitted estimator with rounded training rows; itself if it keeps none.

    Parameters
    ----------
    estimator : fitted estimator of psephos
    digits : int
        Significant digits of each value; at least 1.
    """
    vote: Vote = estimator.vote_
    voters: Voters = vote.voters
    weights: Any = vote.weighting
    if isinstance(voters, CaseVoters):
        voters = replace(voters, cases=to_digits(voters.cases, digits))
    if isinstance(weights, Local):
        weights = replace(weights, anchors=to_digits(weights.anchors, digits))
    elif isinstance(weights, LocalRelevance):
        local = replace(weights.local, anchors=to_digits(weights.local.anchors, digits))
        weights = replace(weights, local=local)
    elif isinstance(weights, Neighbours):
        weights = replace(weights, cases=to_digits(weights.cases, digits))
    elif isinstance(weights, KernelWeights) and isinstance(voters, PrototypeVoters):
        cases = to_digits(voters.cases, digits)
        voters = replace(voters, cases=cases)
        scaled = (cases - weights.centre) * weights.inverse
        weights = replace(weights, prototypes=np.ascontiguousarray(scaled))
    if voters is vote.voters and weights is vote.weighting:
        return estimator
    other = copy.copy(estimator)
    other.vote_ = replace(vote, voters=voters, weighting=weights)
    return other
