"""The plain form of a fitted model: its vote on the columns that it reads, as JSON holds it."""

from typing import Any

import numpy as np

from psephos._errors import PsephosError
from psephos.scoring.reader import every_kind
from psephos.vote import Vote
from psephos.vote.plain import from_plain, kinds_within, to_plain

__all__ = ["FORMAT", "VERSION", "plain", "plain_vote", "vote_of"]

FORMAT, VERSION = "psephos plain model", 1


def plain(estimator: Any) -> dict[str, Any]:
    """Return a fitted model as lists, dictionaries, words and numbers, on its used columns.

    Parameters
    ----------
    estimator : fitted estimator of psephos

    Returns
    -------
    dict
        ``format``, ``version``, ``model`` (the class), ``classes`` (none of numbers), ``columns``
        (a dictionary each: ``name``, and of a category its ``levels``), ``target``, ``voters``,
        ``weights`` and ``readout``, the parts of the vote.

    Raises
    ------
    PsephosError
        If the model has no plain form: a voter is an estimator of another library, or of a kind
        that no reader knows.

    Examples
    --------
    >>> from psephos import CARTClassifier
    >>> from psephos.scoring import plain
    >>> model = CARTClassifier(n_folds=0).fit([[1.0], [2.0], [3.0], [4.0]] * 10, [0, 0, 1, 1] * 10)
    >>> plain(model)["columns"]
    [{'name': 'column 0'}]
    """
    if not hasattr(estimator, "vote_"):
        raise PsephosError(f"{type(estimator).__name__} is not a fitted model of psephos.")
    estimator._fitted()
    return plain_vote(estimator.vote_, estimator.schema_, type(estimator).__name__)


def plain_vote(vote: Vote, schema: Any, name: str) -> dict[str, Any]:
    """Return the plain form of a vote on the columns of a schema."""
    columns = vote.columns if len(vote.columns) else np.zeros(1, dtype=np.intp)
    small, words = vote.select(columns), schema.select(columns).words()
    names = schema.words().columns
    content = to_plain(small)
    _check_kinds(content, name)
    target: Any = vote.target
    return {
        "format": FORMAT,
        "version": VERSION,
        "model": name,
        "classes": to_plain(target.classes) if target.n_classes else [],
        "columns": [
            {"name": names[j], **({"levels": words.levels[i]} if i in words.levels else {})}
            for i, j in enumerate(columns.tolist())
        ],
        "target": content["target"],
        "voters": content["voters"],
        "weights": content["weighting"],
        "readout": content["readout"],
    }


def _check_kinds(content: dict[str, Any], name: str) -> None:
    for kind in sorted(kinds_within(content) - every_kind()):
        why = _NO_READER.get(kind, "it is a part of another package")
        raise PsephosError(f"{name} has no plain form: nothing but psephos reads {kind!r}; {why}.")


_NO_READER = {
    "counted hypotheses": "its hypotheses are too many to be listed and are counted at each case; "
    "draw some of them (method='sample'), or test fewer columns"
}


def vote_of(data: dict[str, Any]) -> Vote:
    """Return the vote of a plain model, on its columns: the library's own reader."""
    parts = {"voters": "voters", "weights": "weighting", "readout": "readout", "target": "target"}
    content = {"kind": "vote", **{own: data[key] for key, own in parts.items()}}
    return from_plain(content)
