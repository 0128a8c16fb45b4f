"""Candidate elimination row by row: version spaces before and after rows, their size and words."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.base import Labels
from psephos.estimator.input import Context, Table
from psephos.models.concepts.concept import Concept
from psephos.models.concepts.version_spaces import VersionSpaces
from psephos.vote.voters.conjunctive_space import ConjunctiveSpace
from psephos.vote.voters.counting import STATES, Problem, TooManyStates, minimal_negatives


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

    A row that would leave one empty is left out of it.
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
    rows: NDArray[Any] = out[:, 0]
    if memory.left_out.dtype.kind == "U":  # those of a file have names
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
    """Return the test of column i in words; ``?`` where there is none."""
    nowhere = [np.nan] * space.n_features
    words: list[str] = []
    for test in space.take(np.array([i])).tests([low], [high], nowhere):
        bound: Any = test.bound
        category = test.relation == "in"
        words.append(
            str(levels[test.column][bound[0]]) if category else f"{test.relation} {bound:g}"
        )
    return " and ".join(words) or "?"
