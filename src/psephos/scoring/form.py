"""The plain form of a vote."""

from typing import Any, NamedTuple

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Label
from psephos.scoring.reader import every_kind
from psephos.vote import Vote
from psephos.vote.codec import registered
from psephos.vote.plain import from_plain, kinds_within, to_plain
from psephos.vote.reading.core import unpacked
from psephos.vote.reading.trees import TreeReader


def single_bound(threshold: float, strict: bool) -> float:
    """Return t so that ``x <= t`` if x, rounded to float32, is at most (strict: below) a bound.

    t is halfway between the greatest float32 that passes and the next; a value exactly halfway is
    rounded to the even one.
    """
    with np.errstate(over="ignore"):
        at = np.float32(threshold)
    inf = np.float32(np.inf)
    if float(at) > threshold or (strict and float(at) == threshold):
        at = np.nextafter(at, -inf)
    after = np.nextafter(at, inf)
    if not np.isfinite(after):
        return float(np.finfo(np.float64).max)
    middle = (float(at) + float(after)) / 2.0
    even = int(at.view(np.int32)) % 2 == 0
    return middle if even else float(np.nextafter(middle, -np.inf))


class NodeRule(NamedTuple):
    """A rule of a node: a threshold, or the branch of each code."""

    column: int
    threshold: Any
    codes: list[int]
    flip: bool


class Branching(TreeReader):
    """The operation `Trees`, node by node, for export.

    Of each node: `children` (empty for a leaf), `missing`, the branch of a missing value (-1: all
    branches by share; -2: the case stays), and `value`, the (K,) vote or, for a voter of several
    trees, a term of a mean (see `says`, `code`). `reads` are the columns of each voter.
    """

    def __init__(self, part: dict[str, Any]) -> None:
        super().__init__(unpacked(part))
        self.strict, self.single, self.soft = self.rules.strict, self.rules.rounded, self.lower
        ends = zip(self.child, self.n_children, strict=True)
        self.children = [list(range(first, first + n)) for first, n in ends]

    def within(self, tree: int) -> list[int]:
        """Return the nodes of a tree."""
        return list(range(self.root[tree], [*self.root, len(self.children)][tree + 1]))

    def divides(self, tree: int) -> bool:
        """Return whether a case may end at several nodes of a tree."""
        return any(self.missing[n] == -1 and self.children[n] for n in self.within(tree))

    def node_rules(self, node: int) -> list[NodeRule]:
        """Return the rule of a node and its surrogates, in the order in which they are tried."""
        spare = range(self.ptr[node], self.ptr[node + 1])
        each = [(self.rules, node), *((self.surrogates, r) for r in spare)]
        return [
            NodeRule(own.column[r], own.threshold[r], own.codes[r], bool(own.flip[r]))
            for own, r in each
        ]


def bound_in_single(threshold: float, strict: bool, single: bool) -> float:
    """Return the float32 b such that a value, rounded to float32, passes if it is at most b.

    For a model that reads float32 (`single`) it is the greatest float32 at most (if `strict`,
    below) the threshold, which keeps its predictions. For other models it is the threshold rounded
    like the values, so that a value equal to it stays on its side.

    Examples
    --------
    >>> from psephos.scoring.form import bound_in_single
    >>> bound_in_single(0.8, False, False) > 0.8 > bound_in_single(0.8, False, True)
    True
    """
    low = np.float32(-np.inf)
    with np.errstate(over="ignore"):
        at = np.float32(threshold)
    if single and float(at) > threshold:
        return float(np.nextafter(at, low))
    passes = not strict or (single and float(at) != threshold)
    return float(at if passes else np.nextafter(at, low))


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
    return from_plain({"kind": "vote", **{own: data[key] for key, own in parts.items()}})


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
