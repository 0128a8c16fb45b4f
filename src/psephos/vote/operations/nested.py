"""A vote of votes: fitted models of the library, each as one voter."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self, cast

import numpy as np

from psephos._types import Floats, Indices, Usage
from psephos.files.names import Names, listed
from psephos.vote import part
from psephos.vote.codec import register
from psephos.vote.importance import Baseline, column_moves
from psephos.vote.operations.weights import Constant
from psephos.vote.reasons import Inner, Reason, abstention
from psephos.vote.target import RegressionTarget, Target
from psephos.vote.vote import Vote

SAYS = ("answer", "probability", "log-odds", "value")
_Levels = tuple[tuple[int, Floats], ...]


@register
class NestedVoters(part.ReadsColumns, part.Voters):
    """Voters that are votes: each votes the prediction of its own weighted vote.

    Parameters
    ----------
    n_features : int
        Columns of the table.
    columns : ndarray of shape (q,)
        Sorted columns that are read.
    places : tuple of ndarray of shape (d_t,)
        The positions in `columns` of the columns each vote is on, in its order.
    inner : tuple of Vote
        T votes, each on a table of the columns it reads; their classes are rows of `value`.
    levels : tuple of tuple of (int, ndarray)
        For each vote, its columns of categories and their values: a category's code is its index
        among the values, any other value is missing.
    says : {'answer', 'probability', 'log-odds', 'value'}
        The code of the class that a vote predicts; the mean of the codes under its probabilities;
        the log-odds of these; the number it predicts.
    value : ndarray of shape (n_classes, K)
        The codes; for numbers (1, 1) and not read.
    abstains : bool
        Whether a vote abstains (0) where a value it reads is missing.
    """

    tag: ClassVar[str] = "nested voters"
    n_features: int
    columns: part.Columns
    places: tuple[part.Columns, ...]
    inner: tuple[Vote, ...]
    levels: tuple[_Levels, ...]
    says: str
    value: Floats
    abstains: bool

    def __post_init__(self) -> None:
        part.check_part(self)
        part.check(self.says in SAYS, f"votes cannot say {self.says!r}")
        part.check(self.value.ndim == 2, "codes are not a table")
        same = len(self.inner) == len(self.places) == len(self.levels)
        part.check(same, "votes, their columns and their categories differ in number")
        for vote, places, levels in zip(self.inner, self.places, self.levels, strict=True):
            part.check(places.dtype == np.intp, "positions are not integers")
            part.check(places.shape == (vote.n_features,), "a vote has another table")
            part.check_within(places, len(self.columns), "a vote reads a column outside the list")
            for j, values in levels:
                known = 0 <= j < len(places) and values.ndim == 1 and values.dtype == np.float64
                part.check(known and len(values) > 0, "categories are not a row of numbers")
            self._check_target(vote.target)

    def _check_target(self, target: Any) -> None:
        plain = isinstance(target, Target | RegressionTarget)
        part.check(plain, "a vote within a vote predicts one class or one number")
        number = isinstance(target, RegressionTarget)
        part.check(number == (self.says == "value"), "votes answer with numbers, or with classes")
        if isinstance(target, Target):
            part.check(target.classes.dtype.kind in "iu", "classes of a vote are not codes")
            known = target.classes.min() >= 0 and target.classes.max() < len(self.value)
            part.check(known, "a class has no code")

    @property
    def n_voters(self) -> int:
        return len(self.inner)

    def kinds(self) -> tuple[str, ...]:
        """Return ``votes of stump voters`` and the like, one for each kind of inner vote."""
        inner = [" and ".join(vote.voters.kinds()) for vote in self.inner]
        return tuple(dict.fromkeys(f"votes of {kinds}" for kinds in inner))

    def votes(self, X: Floats) -> Floats:
        read = X[:, self.columns]
        out = np.zeros((len(X), self.n_voters, self.value.shape[1]))
        for t, (vote, places) in enumerate(zip(self.inner, self.places, strict=True)):
            table = np.ascontiguousarray(read[:, places])
            complete: Any = ~np.isnan(table).any(axis=1) if self.abstains else slice(None)
            table = _coded(table[complete], self.levels[t])
            if len(table):
                out[complete, t] = self._votes(vote, *vote.score_and_mass(table))
        return out

    def _votes(self, vote: Vote, score: Floats, mass: Floats) -> Floats:
        """Return the (n, K) votes of the (n, k) scores and (n,) mass of an inner vote."""
        target: Any = vote.target
        if target.kind == "regression":
            return score
        classes = target.classes.astype(np.intp)
        if self.says == "log-odds":
            chances = np.zeros((len(score), len(self.value)))
            chances[:, classes] = vote.readout.probabilities(score, target, mass)
            return part.log_odds(chances, self.value.shape[1])
        codes = self.value[classes]
        if self.says == "answer":
            return codes[target.chosen(vote.readout.decided(score, target, mass))]
        return vote.readout.probabilities(score, target, mass) @ codes

    def usage(self) -> Usage:
        """Return the (T, p) table of the columns that each vote reads."""
        return part.usage_of(self, self.places)

    def primary(self) -> Self:
        """Return the votes without columns read only where values are missing, unless they abstain.

        A category that is known to some vote is a missing value for those that do not know it.
        """
        if self.abstains:
            return self
        every: dict[int, set[float]] = {}
        for own, levels in zip(self.places, self.levels, strict=True):
            for j, values in levels:
                every.setdefault(int(own[j]), set()).update(values.tolist())
        bare = [
            _primary(vote, [j for j, values in levels if len(values) < len(every[int(own[j])])])
            for vote, own, levels in zip(self.inner, self.places, self.levels, strict=True)
        ]
        held = [vote.columns for vote in bare]
        places = [own[read] for own, read in zip(self.places, held, strict=True)]
        levels = [
            tuple((int(np.searchsorted(read, j)), v) for j, v in own if j in read)
            for own, read in zip(self.levels, held, strict=True)
        ]
        small = [vote.select(read) for vote, read in zip(bare, held, strict=True)]
        alike = replace(self, places=tuple(places), inner=tuple(small), levels=tuple(levels))
        return alike.take(np.arange(self.n_voters))

    def divided(self, X: Floats, size: Floats, centre: Floats) -> Floats:
        """Return (n, p): sizes (n, T) divided by the importance inside each vote.

        It is measured by the difference of votes from those on the row of column means or, if no
        vote differs, by the weights.
        """
        out = np.zeros((len(X), self.n_features))
        for t, (vote, places) in enumerate(zip(self.inner, self.places, strict=True)):
            table = _coded(X[:, self.columns[places]], self.levels[t])
            middle = _coded(centre[None, self.columns[places]], self.levels[t])
            none = np.zeros(len(places))
            baseline = Baseline(middle[0], vote.votes(middle)[0], vote.shares(middle)[0], none)
            inner = np.zeros((len(X), len(places)))
            complete: Any = ~np.isnan(table).any(axis=1) if self.abstains else slice(None)
            inner[complete] = column_moves(vote, table[complete], baseline)
            still = np.flatnonzero(inner.sum(axis=1) == 0)  # votes as on the row of means
            still = still[~np.isnan(table[still]).any(axis=1)] if self.abstains else still
            size_of = np.abs(vote.shares(table[still]))
            inner[still] = vote.voters.divided(table[still], size_of, middle[0])
            total = inner.sum(axis=1, keepdims=True)
            rate = np.divide(size[:, [t]], total, out=np.zeros_like(total), where=total > 0)
            out[:, self.columns[places]] += inner * rate
        return out

    def marks(self) -> part.Breakpoints:
        each = zip(self.inner, self.places, strict=True)
        found = [(places, *vote.marks()) for vote, places in each]
        return part.joined_marks([(self.columns[places[j]], v) for places, j, v in found])

    def lowered(self) -> Self:
        return replace(self, inner=tuple(vote.lowered() for vote in self.inner))

    def training_rows(self) -> int:
        return max(vote.training_rows() for vote in self.inner)

    def take(self, voters: Indices) -> Self:
        order: list[int] = voters.tolist()
        columns, places = part.placed([self.columns[self.places[t]] for t in order])
        inner = tuple(self.inner[t] for t in order)
        levels = tuple(self.levels[t] for t in order)
        return replace(self, columns=columns, places=places, inner=inner, levels=levels)

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return the rule of a vote's only voter, or the number of voters and their columns."""
        vote = self.inner[voter]
        table: list[int] = self.columns[self.places[voter]].tolist()
        words, known = [names[j] for j in table], self._words(voter, levels)
        if vote.n_voters == 1:
            return vote.voters.rule(0, words, known)
        composed = getattr(vote.voters, "tag", "") == "composed voters"
        answers: Any = cast("Any", vote.voters).answers if composed else ()
        more = f" and on members' answers ({listed(answers, 6)})" if answers else ""
        return f"{_who(vote)} on {listed(words) or 'no column'}{more}"

    def reasons(self, X: Floats) -> list[list[Reason]]:
        """Return, for each row, the reason of a vote's only voter, or the number of voters."""
        votes, read = self.votes(X), X[:, self.columns]
        reasons: list[list[Reason]] = [[] for _ in X]
        for t in range(self.n_voters):
            columns = self.columns[self.places[t]]
            table = _coded(np.ascontiguousarray(read[:, self.places[t]]), self.levels[t])
            for i, reason in enumerate(self._reasons_of(t, table, X[:, columns], votes[:, t])):
                reasons[i].append(reason.mapped(columns.tolist(), dict(self.levels[t])))
        return reasons

    def _reasons_of(self, voter: int, table: Floats, given: Floats, votes: Floats) -> list[Reason]:
        """Return the reason of each row, in the columns and codes of the vote."""
        vote, own = self.inner[voter], np.arange(table.shape[1], dtype=np.intp)
        rows = zip(given, votes, strict=True)
        reasons: list[Any] = [abstention(x, own, v) if self.abstains else None for x, v in rows]
        complete = np.flatnonzero([reason is None for reason in reasons])
        if vote.n_voters == 1 and len(complete):
            alone = [row[0] for row in vote.voters.reasons(table[complete])]
        else:
            at: tuple[int, ...] = tuple(own.tolist())
            of = "training case" if vote.voters.are_cases() else "voter"
            alone = [Inner((), at, tuple(x), vote.n_voters, of) for x in table[complete].tolist()]
        for i, reason in zip(complete.tolist(), alone, strict=True):
            reasons[i] = reason.says(tuple(votes[i].tolist()), self.says)
        return reasons

    def open(self, voter: int, X: Floats, names: Names) -> tuple[Vote, Floats, Names]:
        """Return an inner vote, the table on which it is evaluated, and its names."""
        vote = self.inner[voter]
        table: list[int] = self.columns[self.places[voter]].tolist()
        levels = self._words(voter, names.levels)
        classes = self._classes(vote, names)
        words = Names([names.columns[j] for j in table], levels, classes)
        if classes:  # the vote has codes, the reader sees names
            target = replace(cast("Target", vote.target), classes=np.array(classes, dtype=object))
            vote = replace(vote, target=target)
        return vote, _coded(np.ascontiguousarray(X[:, table]), self.levels[voter]), words

    def _words(self, voter: int, levels: dict[int, list[str]]) -> dict[int, list[str]]:
        """Return the names of the categories of an inner vote, by its own columns."""
        known = [levels.get(int(j), []) for j in self.columns[self.places[voter]]]
        return {j: [_word(float(v), known[j]) for v in own] for j, own in self.levels[voter]}

    @staticmethod
    def _classes(vote: Vote, names: Names) -> list[str]:
        """Return the names of an inner vote's classes, which are class indices of the outer."""
        target: Any = vote.target
        if target.kind == "regression":
            return []
        known = names.classes
        codes: list[int] = target.classes.tolist()
        return [known[c] if c < len(known) else str(c) for c in codes]

    def sides(self, voter: int) -> list[tuple[str, Floats]]:
        """Return the votes of an inner vote with one voter of constant weight; else []."""
        vote = self.inner[voter]
        if vote.n_voters > 1 or not isinstance(vote.weighting, Constant):
            return []
        alpha = vote.weighting.alpha
        size, sides = np.abs(alpha), vote.voters.sides(0)
        if self.abstains:  # it has no vote where a value is missing
            sides = [(when.split(" or if missing")[0], value) for when, value in sides[:2]]
        votes = [(w, vote.readout.finish(alpha * value[None], size)) for w, value in sides]
        return [(when, self._votes(vote, score, size)[0]) for when, score in votes]


def _who(vote: Vote) -> str:
    """Return ``a vote of 30``, or ``the 5 nearest neighbours of 100 training cases``."""
    if vote.voters.are_cases():
        return f"{vote.weighting_words()} of {vote.n_voters} training cases"
    return f"a vote of {vote.n_voters}"


def _word(value: float, outer: list[str]) -> str:
    """Return the name of a category: that of its code in the table, or the number itself."""
    code = value.is_integer() and 0 <= value < len(outer)
    return outer[int(value)] if code else f"{value:g}"


def _primary(vote: Vote, unsure: Sequence[int]) -> Vote:
    """Return a vote without columns it reads only for missing values, or new ones in `unsure`."""
    if not unsure:
        return vote.primary()
    return replace(vote, voters=vote.voters.primary_beside(unsure))


def _coded(table: Floats, levels: _Levels) -> Floats:
    """Replace categories by codes in a table, in place, and return it."""
    for j, values in levels:
        order = np.argsort(values)
        at = np.minimum(np.searchsorted(values[order], table[:, j]), len(values) - 1)
        table[:, j] = np.where(values[order][at] == table[:, j], order[at], np.nan)
    return table


def nested(
    estimators: Sequence[Any],
    subsets: Sequence[part.Columns],
    n_features: int,
    says: str,
    code: Floats,
    *,
    abstains: bool,
) -> NestedVoters | None:
    """Return fitted models of the library as voters, or None if one is not of the library.

    Classes derived from the library's do not count, as they may predict differently. Models predict
    the classes 0 ... n_classes - 1, or numbers; `subsets` are the columns of the table on which
    each was fitted, in order; `code` is (n_classes, K).
    """
    votes: list[Any] = [getattr(model, "vote_", None) for model in estimators]
    if not all(map(_is_own, estimators)):
        return None
    if abstains:  # evaluated on complete rows only
        votes = [vote.primary() for vote in votes]
    read = [subset[vote.columns] for subset, vote in zip(subsets, votes, strict=True)]
    levels = [m.schema_.select(v.columns).levels for m, v in zip(estimators, votes, strict=True)]
    inner = [vote.select(vote.columns) for vote in votes]
    if abstains:
        inner = [replace(vote, voters=vote.voters.abstaining()) for vote in inner]
    columns, places = part.placed(read)
    value = np.zeros((1, 1)) if says == "value" else code
    known = [[(j, np.asarray(v, dtype=np.float64)) for j, v in own.items()] for own in levels]
    parts = (columns, places, tuple(inner), tuple(map(tuple, known)))
    return NestedVoters(n_features, *parts, says, value, abstains)


def _is_own(model: Any) -> bool:
    fitted = isinstance(getattr(model, "vote_", None), Vote) and hasattr(model, "schema_")
    return fitted and getattr(model, "is_registered", False)
