"""The plain form of a fitted model: its vote on the columns that it reads, as JSON."""

from typing import Any

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Label
from psephos.scoring.reader import every_kind
from psephos.vote import Vote
from psephos.vote.codec import registered
from psephos.vote.plain import from_plain, kinds_within, to_plain

__all__ = ["FORMAT", "VERSION", "plain", "plain_vote", "renewed", "vote_of"]

FORMAT, VERSION = "psephos plain model", 2


def plain(estimator: Any) -> dict[str, Any]:
    """Return a fitted model as lists, dictionaries, strings and numbers, on the columns it reads.

    Parameters
    ----------
    estimator : fitted estimator of psephos

    Returns
    -------
    dict
        ``format``, ``version``, ``model`` (the class), ``classes`` (empty for regression),
        ``table`` (its ``width``, and whether its columns are ``named``), ``columns`` (a dictionary
        each: ``name``, ``place`` in the table, for a category its ``levels``, and ``may be absent``
        if it is read only where another is missing), and the parts of the vote: ``target``,
        ``voters``, ``weights`` and ``readout``.

    Raises
    ------
    PsephosError
        If the model is not fitted or has no plain form: a voter is an estimator of another library,
        or of a kind that the readers do not support.

    Examples
    --------
    >>> from psephos import CARTClassifier
    >>> from psephos.scoring import plain
    >>> model = CARTClassifier(n_folds=0).fit([[1.0], [2.0], [3.0], [4.0]] * 10, [0, 0, 1, 1] * 10)
    >>> plain(model)["columns"]
    [{'name': 'column 0', 'place': 0}]
    """
    if not hasattr(estimator, "vote_"):
        raise PsephosError(f"{type(estimator).__name__} is not a fitted model of psephos.")
    estimator._fitted()
    absent = getattr(estimator, "absent", None)  # a model file may hold anything here
    partial = isinstance(absent, str) and absent == "vote"  # columns may be absent
    return plain_vote(estimator.vote_, estimator.schema_, type(estimator).__name__, partial)


def plain_vote(vote: Vote, schema: Any, name: str, absent: bool = False) -> dict[str, Any]:
    """Return the plain form of a vote on the columns of a schema."""
    columns = vote.columns
    small = vote.select(columns if len(columns) else np.zeros(1, dtype=np.intp))
    words = schema.select(columns).words()
    names, spare = schema.words().columns, set(vote.backup.tolist())
    content = to_plain(small.lowered())
    _check_kinds(content, name)
    target: Any = vote.target
    classes: list[Label] = target.classes.tolist() if target.n_classes else []
    if classes:  # True and False stay as they are, not 1 and 0
        content["target"]["classes"] = classes
    return {
        "format": FORMAT,
        "version": VERSION,
        "model": name,
        "classes": classes,
        "table": {"width": vote.n_features, "named": schema.names is not None},
        "columns": [
            _column(names[j], j, words.levels.get(i), absent or j in spare)
            for i, j in enumerate(columns.tolist())
        ],
        "target": content["target"],
        "voters": content["voters"],
        "weights": content["weighting"],
        "readout": content["readout"],
    }


def _column(name: str, place: int, levels: list[str] | None, spare: bool) -> dict[str, Any]:
    column: dict[str, Any] = {"name": name, "place": place}
    if levels is not None:
        column["levels"] = levels
    return {**column, "may be absent": True} if spare else column


def _check_kinds(content: dict[str, Any], name: str) -> None:
    unread = kinds_within(content) - every_kind()
    for kind in sorted(unread, key=lambda k: (k not in _NO_READER, k)):
        part: Any = registered(kind)
        other = f"that is the part {part.__name__} of {part.__module__}"
        why = _NO_READER.get(kind, other)
        raise PsephosError(f"{name} has no plain form: its readers do not support {kind!r}; {why}.")


_NO_READER = {
    "counted hypotheses": "it has too many hypotheses to list and counts them for each case: "
    "raise max_hypotheses until they are listed, or test fewer columns"
}


def vote_of(data: dict[str, Any]) -> Vote:
    """Return the vote of a plain model on its columns; this is the library's own reader."""
    parts = {"voters": "voters", "weights": "weighting", "readout": "readout", "target": "target"}
    content = {"kind": "vote", **{own: data[key] for key, own in parts.items()}}
    return from_plain(content)


def renewed(data: dict[str, Any]) -> dict[str, Any]:
    """Convert a plain model of an earlier version to this version.

    Parameters
    ----------
    data : dict
        The plain form, which is not changed.

    Examples
    --------
    >>> from psephos import CARTClassifier
    >>> from psephos.scoring import plain, renewed
    >>> model = CARTClassifier(n_folds=0).fit([[1.0], [2.0], [3.0], [4.0]] * 10, [0, 0, 1, 1] * 10)
    >>> data = plain(model)
    >>> renewed({**data, "version": 1}) == data
    True
    """
    content = to_plain(vote_of(data).lowered())
    parts = {"voters": content["voters"], "weights": content["weighting"]}
    return {**data, "version": VERSION, **parts}
