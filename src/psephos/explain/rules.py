"""The rules of a vote: a column, where it is asked, and the class its higher side speaks for."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.vote.names import Names
from psephos.vote.part import ShownTree, ask, n_trees

_Floats = NDArray[np.float64]
_TREES = 2000  # of a voter that are looked at


class Rule(NamedTuple):
    """One question on one column."""

    column: str
    # The place of the class that higher values speak for, or that the categories `levels` do; of a
    # number 1: they raise it, 0: they lower it.
    toward: int
    bound: float | None = None  # the threshold; None of a term of a score, and of categories
    levels: tuple[str, ...] = ()  # of a rule on categories those it asks for


def rules_of(model: Any) -> list[Rule]:
    """Return the rules of a fitted model, each once, in the order of its voters.

    Of trees and stumps every question; the class it speaks for is that whose mean vote over the
    leaves above the threshold exceeds that below most. Of linear voters the sign of each
    coefficient. Of votes within votes those of the inner voters. Other voters (kernels, prototypes,
    neighbours, densities, questions of more than two branches) have no rules of this kind.
    """
    found = _rules(model.vote_, model.schema_.words())
    return list(dict.fromkeys(found))


def _rules(vote: Any, names: Names) -> Iterator[Rule]:
    columns: list[int] = vote.columns.tolist()
    row = np.zeros((1, vote.n_features))
    reasons: Any = None
    for voter in range(vote.n_voters):
        inner = vote.open(voter, row, names)
        if inner is not None:
            yield from _rules(inner[0], inner[2])
            continue
        trees = n_trees(vote.voters, voter)
        if trees:
            for tree in range(min(trees, _TREES)):
                yield from _of_tree(ask(vote.voters, "shown_tree", None, voter, tree), names)
            continue
        if not columns:
            continue
        if reasons is None:
            reasons = vote.reasons(row)[0]
        yield from _of_reason(reasons[voter], vote.voters.sides(voter), names)


def _of_tree(shown: ShownTree, names: Names) -> Iterator[Rule]:
    tree, votes = shown.tree, shown.votes
    leaves = (np.asarray(tree.n_children) == 0).astype(np.float64)
    total = votes * leaves[:, None]
    count = leaves.copy()
    for node in range(tree.n_nodes - 1, -1, -1):  # children come after their parent
        first, n = int(tree.child[node]), int(tree.n_children[node])
        if n:
            total[node] = total[first : first + n].sum(axis=0)
            count[node] = count[first : first + n].sum()
    mean = total / np.maximum(count, 1.0)[:, None]
    for node in np.flatnonzero(tree.n_children == 2).tolist():
        first, bound = int(tree.child[node]), float(tree.threshold[node])
        name, gap = names.columns[int(tree.column[node])], mean[first + 1] - mean[first]
        if bound == bound:
            yield Rule(name, _toward(-gap if tree.flip[node] else gap), bound)
            continue
        begin, end = int(tree.code_ptr[node]), int(tree.code_ptr[node + 1])
        codes = np.flatnonzero(tree.code_branch[begin:end] == 1).tolist()
        levels = tuple(names.level(int(tree.column[node]), code) for code in codes)
        yield Rule(name, _toward(gap), None, levels)


def _of_reason(reason: Any, sides: Any, names: Names) -> Iterator[Rule]:
    """Yield the rule of a stump, or the terms of a linear score, of the reason of one row."""
    tests = getattr(reason, "tests", ())
    if len(tests) == 1 and len(sides) == 2:
        here = np.array(reason.answer)
        votes = [np.asarray(vote) for _, vote in sides]
        there = votes[1] if np.array_equal(votes[0], here) else votes[0]
        test, gap = tests[0], here - there
        name = names.columns[test.column]
        if test.relation in ("<=", "<", ">", ">="):
            yield Rule(name, _toward(gap if test.relation[0] == ">" else -gap), float(test.bound))
        elif test.relation in ("in", "not in"):
            levels = tuple(names.level(test.column, code) for code in test.bound)
            yield Rule(name, _toward(gap if test.relation == "in" else -gap), None, levels)
    for term in getattr(reason, "terms", ()):
        if term.coef and any(term.coef):
            levels = () if term.level < 0 else (names.level(term.column, term.level),)
            yield Rule(names.columns[term.column], _toward(np.array(term.coef)), None, levels)


def _toward(gap: _Floats) -> int:
    """Return the class that a change of a vote, (K,), is for."""
    return int(gap[0] > 0) if len(gap) == 1 else int(np.argmax(gap))
