"""Version spaces of concepts: hypotheses, elimination by rows, description in words."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from psephos._types import Array, Indices, NDArray
from psephos.base import Labels
from psephos.estimator.input import Context, Table
from psephos.estimator.labels import row_word
from psephos.files.names import Names, listed, plural
from psephos.vote import Vote
from psephos.vote.codec import register
from psephos.vote.part import Columns, check, named_of
from psephos.vote.voters.conjunctive_space import ConjunctiveSpace, Hypotheses
from psephos.vote.voters.counting import STATES, Problem, TooManyStates, minimal_negatives
from psephos.vote.voters.hypotheses import HypothesisVoters, in_words

_Codes = NDArray[np.int32]


@register
@dataclass(frozen=True)
class Concept:
    """The version space of one concept: S, G, and the negatives that determine G.

    With conjunctions the most specific consistent hypothesis is unique, so S is one. The version
    space is all h with S <= h that hold for none of the negatives, whether or not G is kept.
    """

    tag: ClassVar[str] = "concept"
    # `low`, `high`: (q,) int32; S; not used while it is empty
    low: _Codes
    high: _Codes
    empty: bool  # whether no positive row has been seen: S is the empty hypothesis
    negatives: _Codes  # (m, q) int32; codes of the negative rows
    # `general_low`, `general_high`: (g, q) int32; G; no rows if it is not kept, or if only the
    # empty hypothesis is left
    general_low: _Codes
    general_high: _Codes
    general_kept: bool  # whether G has stayed within its maximum size

    def __post_init__(self) -> None:
        q = len(self.low)
        check(self.low.shape == self.high.shape == (q,), "S must be a row of codes")
        check(self.negatives.shape[1:] == (q,), "negatives and columns differ")
        check(self.general_low.shape == self.general_high.shape, "G has other columns")
        check(self.general_low.shape[1:] == (q,), "G and S differ in columns")

    @classmethod
    def start(cls, space: ConjunctiveSpace) -> Self:
        """Return the version space before any row: S is empty, G has no tests."""
        none = np.empty((0, space.n_columns), dtype=np.int32)
        top = space.anything()
        return cls(top.low[0], top.high[0], True, none, top.low, top.high, True)

    @property
    def specific(self) -> Hypotheses:
        """Return S."""
        return Hypotheses(self.low[None], self.high[None], np.array([self.empty]))

    @property
    def general(self) -> Hypotheses:
        """Return G; empty if it is not kept, or if only the empty hypothesis is left."""
        none = np.zeros(len(self.general_low), dtype=np.bool_)
        return Hypotheses(self.general_low, self.general_high, none)

    def with_positive(self, space: ConjunctiveSpace, code: _Codes) -> "Concept | None":
        """Return the version space after a positive row; None if it becomes empty.

        S becomes the least general hypothesis above it that holds for the row; hypotheses of G that
        do not hold for the row are removed.
        """
        if self.specific.holds(code[None])[0, 0]:
            return self
        joined = space.joined(self.specific, code[None])
        if joined.holds(self.negatives).any():
            return None
        kept = np.flatnonzero(self.general.holds(code[None])[0])
        return replace(
            self,
            low=joined.low[0],
            high=joined.high[0],
            empty=False,
            general_low=self.general_low[kept],
            general_high=self.general_high[kept],
        )

    def with_negative(
        self, space: ConjunctiveSpace, code: _Codes, max_boundary: int
    ) -> "Concept | None":
        """Return the version space after a negative row; None if it becomes empty.

        Each hypothesis of G that holds for the row is replaced by its most general specialisations
        that do not and are above S; of all these, the most general ones are kept.
        """
        if self.specific.holds(code[None])[0, 0]:
            return None
        if self.general_kept and not self.general.holds(code[None]).any():
            return self  # no hypothesis below G holds for it
        negatives = np.vstack([self.negatives, code[None]])
        if not self.general_kept:
            return replace(self, negatives=negatives)
        low, high, kept = self._specialised(space, code, max_boundary)
        return replace(
            self, negatives=negatives, general_low=low, general_high=high, general_kept=kept
        )

    def _specialised(
        self, space: ConjunctiveSpace, code: _Codes, max_boundary: int
    ) -> tuple[_Codes, _Codes, bool]:
        """Return G after a negative row, and whether it is within its maximum size."""
        holds = self.general.holds(code[None])[0]
        rest = self.general.take(np.flatnonzero(~holds))
        new = [rest]
        for g in np.flatnonzero(holds):
            below = space.below(self.general.take(np.array([g])), code)
            above = below.covers(self.specific)[:, 0]
            new.append(below.take(np.flatnonzero(above)))
            if sum(len(one.low) for one in new) > 4 * max_boundary:
                break
        found = Hypotheses(*(np.concatenate(parts) for parts in zip(*new, strict=True)))
        if len(found.low) <= 4 * max_boundary:
            found = _most_general(found)
        if len(found.low) <= max_boundary:
            return found.low, found.high, True
        none = np.empty((0, space.n_columns), dtype=np.int32)
        return none, none, False

    def take(self, which: NDArray[np.intp]) -> Self:
        """Return the version space on these columns only, by index in the space."""
        tables = ("negatives", "general_low", "general_high")
        own: dict[str, Any] = {n: np.ascontiguousarray(getattr(self, n)[:, which]) for n in tables}
        return replace(self, low=self.low[which], high=self.high[which], **own)


def _most_general(found: Hypotheses) -> Hypotheses:
    """Return the maximal hypotheses, each once."""
    both = np.unique(np.hstack([found.low, found.high]), axis=0)
    low, high = (np.ascontiguousarray(a) for a in np.split(both, 2, axis=1))
    alone = Hypotheses(low, high, np.zeros(len(low), dtype=np.bool_))
    # a hypothesis above another is wider, so it comes before it or in the same block
    widest = np.argsort(-(high - low).sum(axis=1), kind="stable")
    kept = np.empty(0, dtype=np.intp)
    for part in np.array_split(widest, 1 + len(widest) // 256):
        few = alone.take(part)
        beside = few.covers(few) & ~np.eye(len(part), dtype=np.bool_)
        below = beside.any(axis=0) | alone.take(kept).covers(few).any(axis=0)
        kept = np.concatenate([kept, part[~below]])
    return alone.take(np.sort(kept))


@register
@dataclass(frozen=True)
class VersionSpaces:
    """The version spaces of all concepts, and the rows left out because one would become empty."""

    tag: ClassVar[str] = "concept memory"
    space: ConjunctiveSpace
    concepts: tuple[Concept, ...]  # that of the second of two classes, else one per class
    n_rows: int  # rows of all calls
    left_out: NDArray[Any]  # (c,); rows that were left out, numbered over all calls, or their names
    left_out_of: Indices  # (c,); the concept that each was left out of
    whole: bool = True  # whether all columns that S tests are left, after reductions

    def __post_init__(self) -> None:
        check(len(self.concepts) > 0, "there must be a concept")
        widths = {len(concept.low) for concept in self.concepts}
        check(widths == {self.space.n_columns}, "concepts and their space differ in columns")
        check(self.left_out.shape == self.left_out_of.shape, "rows left out and their concepts")

    def summary(self, names: Any, vote: Vote) -> list[str]:
        """Return the sentences that `describe` adds: see `space_words`."""
        return space_words(self, names, vote)

    def named_rows(self, names: Array) -> Self:
        """Return the version spaces with names for the rows that were left out."""
        return replace(self, left_out=named_of(self.left_out, names))

    def select(self, columns: Columns) -> Self:
        """Return the version spaces on the table reduced to `columns`."""
        kept = np.flatnonzero(np.isin(self.space.columns, columns))
        dropped = np.setdiff1d(np.arange(self.space.n_columns), kept)
        read = any(bool(c.empty or (c.low[dropped] >= 0).any()) for c in self.concepts)
        return replace(
            self,
            space=self.space.take(kept).select(columns),
            concepts=tuple(concept.take(kept) for concept in self.concepts),
            whole=self.whole and not (len(dropped) and read),
        )


_LISTED = 6  # rows, or hypotheses of G, that a sentence names
_TESTS = 20  # of a hypothesis
_DRAWS = 1000  # if hypotheses cannot be counted


def space_words(memory: VersionSpaces, names: Names, vote: Vote) -> list[str]:
    """Return a sentence for each concept (number of hypotheses, S, G), and one on rows left out.

    `names`: of the table and the classes. `vote`: the vote of all or of sampled hypotheses.
    """
    classes = names.classes[1:] if len(memory.concepts) == 1 else names.classes
    words: list[str] = []
    for k, concept in enumerate(memory.concepts):
        number, error = number_of(memory.space, concept, _DRAWS)
        about = "" if error == 0 else "about "
        agree = "conjunction agrees" if number == 1 else "conjunctions agree"
        text = f"Class {classes[k]}: {about}{in_words(number)} {agree} with the rows"
        some = _listed_voters(vote, k)
        if 0 < some < number:
            text += f", of which {some} were drawn at random to vote"
        text += f". Most specific (S): {_rules(memory.space, concept.specific, names)[0]}."
        if concept.general_kept:
            rules = _rules(memory.space, concept.general, names)
            text += f" Most general (G), {len(rules)}: {'; '.join(rules[:_LISTED])}"
            text += f" and {len(rules) - _LISTED} more." if len(rules) > _LISTED else "."
        else:
            text += " The most general (G) are more than max_boundary."
        words.append(text)
    out = collapsed(memory, np.array(names.classes), 0)
    if out:
        left = plural(len(set(memory.left_out.tolist())), "row")
        words.append(f"Of {memory.n_rows} rows {left} left out: {out}.")
    return words


def _listed_voters(vote: Any, concept: int) -> int:
    """Return the number of hypotheses that are voters of a concept; 0 if they are counted."""
    voters = vote.voters
    if voters.tag == "joined voters":  # a vote per concept
        voters = voters.parts[int(voters.part[concept])]
        voters = voters.inner[0].voters
    return voters.n_voters if voters.tag == "hypotheses" else 0


def _rules(space: ConjunctiveSpace, found: Hypotheses, names: Names) -> list[str]:
    none, names = np.zeros(1), names.in_sentences()
    voters = HypothesisVoters.of(space, found, none, none)
    rules: list[str] = []
    for t in range(voters.n_voters):
        tests = voters.rule(t, names.columns, names.levels).split(" and ")
        more = len(tests) - _TESTS
        rules.append(" and ".join(tests[:_TESTS]) + (f" and {more} tests more" if more > 0 else ""))
    return rules


# ---------------------------------------------------------------------- rows left out
def collapses(memory: VersionSpaces, classes: Array) -> list[str]:
    """Return a sentence for each row that was left out."""
    names = classes[1:] if len(memory.concepts) == 1 else classes
    pairs = zip(memory.left_out.tolist(), memory.left_out_of.tolist(), strict=True)
    return [_collapsed([_named(row)], names[k]) for row, k in pairs]


def collapsed(memory: VersionSpaces, classes: Array, known: int) -> str:
    """Return the rows left out beyond the first `known` in one sentence; '' if there are none."""
    names = classes[1:] if len(memory.concepts) == 1 else classes
    rows: dict[int, list[str]] = {}
    pairs = zip(memory.left_out.tolist(), memory.left_out_of.tolist(), strict=True)
    for row, k in list(pairs)[known:]:
        rows.setdefault(k, []).append(_named(row))
    return "; ".join(_collapsed(own, names[k]) for k, own in sorted(rows.items()))


def _named(row: int | str) -> str:
    return row if isinstance(row, str) else row_word(row)


def _collapsed(rows: list[str], label: Any) -> str:
    them = "it" if len(rows) == 1 else "them"
    return (
        f"{listed(rows, _LISTED)}: no conjunction for class {label!s} agrees with {them} and the "
        "rows before"
    )


def space_of(table: Table, n_bins: int) -> ConjunctiveSpace:
    """Return the hypothesis space of a training table."""
    return ConjunctiveSpace.of(table.dense(), table.n_codes, n_bins)


def started(space: ConjunctiveSpace, n_classes: int) -> VersionSpaces:
    """Return the version spaces before any row."""
    concept, none = Concept.start(space), np.empty(0, dtype=np.intp)
    number = 1 if n_classes == 2 else n_classes
    return VersionSpaces(space, (concept,) * number, 0, none, none)


def eliminated(
    memory: VersionSpaces, table: Table, labels: Labels, context: Context, max_boundary: int
) -> VersionSpaces:
    """Return the version spaces after further rows, one after another.

    A row that would make one empty is left out of it.
    """
    code = memory.space.encode(table.dense())
    n = len(code)
    row = memory.n_rows + (np.arange(n) if context.kept is None else context.kept)
    two = labels.target.n_classes == 2
    concepts: list[Concept] = []
    left: list[tuple[int, int]] = []
    for k, concept in enumerate(memory.concepts):
        positive = labels.y == (1 if two else k)
        now = concept
        for i in range(n):
            one = code[i]
            new = (
                now.with_positive(memory.space, one)
                if positive[i]
                else now.with_negative(memory.space, one, max_boundary)
            )
            if new is None:
                left.append((int(row[i]), k))
            else:
                now = new
        concepts.append(now)
    left.sort()
    out = np.array(left, dtype=np.intp).reshape(-1, 2)
    rows: Array = out[:, 0]
    if memory.left_out.dtype.kind == "U":  # rows of a file have names
        rows = np.array([f"row {r}" for r in rows.tolist()], dtype=str)
    return replace(
        memory,
        concepts=tuple(concepts),
        n_rows=memory.n_rows + (context.n_rows or n),
        left_out=np.append(memory.left_out, rows),
        left_out_of=np.append(memory.left_out_of, out[:, 1]),
    )


def number_of(space: ConjunctiveSpace, concept: Concept, n_samples: int) -> tuple[int, float]:
    """Return (number of consistent hypotheses, its relative standard error)."""
    rows = minimal_negatives(space, concept.specific, concept.negatives)
    problem = Problem(space, concept.specific, rows)
    try:
        return problem.count(10 * STATES) + concept.empty, 0.0
    except TooManyStates:
        return problem.drawn(n_samples, np.random.default_rng(0)).estimate()


def constraint(space: ConjunctiveSpace, i: int, low: int, high: int, levels: Any) -> str:
    """Return the test of column i in words; ``?`` without a test."""
    nowhere = [np.nan] * space.n_features
    words: list[str] = []
    for test in space.take(np.array([i])).tests([low], [high], nowhere):
        bound: Any = test.bound
        category = test.relation == "in"
        words.append(
            str(levels[test.column][bound[0]]) if category else f"{test.relation} {bound:g}"
        )
    return " and ".join(words) or "?"
