"""Cases without an answer: why they have none, and which values they need."""

# pyright: standard

from collections.abc import Sequence
from typing import Any

from psephos.files.names import Names, listed, plural, sentence_name, series
from psephos.vote.reading.core import LEVEL
from psephos.vote.reasons.base import NAMED


def needing_all(voters: Any, weights: Any) -> list[bool]:
    """Return which voters need all of their columns, rather than at least one: see `unanswered`."""
    if not hasattr(weights, "partly"):
        return _abstaining(voters)
    partly = weights.partly  # `Available`: weights by which columns have a value
    return [partly is None or not partly[t] for t in range(voters.n_voters)]


def _abstaining(voters: Any) -> list[bool]:
    if hasattr(voters, "abstains"):
        return [bool(voters.abstains)] * voters.n_voters
    if hasattr(voters, "parts"):
        each = [_abstaining(part) for part in voters.parts]
        return [each[k][t] for k, t in zip(voters.part, voters.place, strict=True)]
    inner = getattr(voters, "inner", None) or getattr(voters, "readers", None)
    return _abstaining(inner) if inner else [False] * voters.n_voters


def expected_losses(score: Any, loss: Any) -> list[float]:
    """Return the expected loss of predicting each class, under the class shares of a score."""
    k = len(loss)
    each = score if k > 2 else [-score[0], score[0]]
    shares = [((k - 1) * s + 1.0) / k for s in each]
    return [sum(shares[j] * loss[j][i] for j in range(k)) for i in range(k)]


def tied(target: Any, score: Any) -> bool:
    """Return whether a (calibrated) score is equal for all classes, or every label is at its bound.

    With losses: whether all classes have the same expected loss. Targets with a threshold of the
    probability, and numbers, have no ties.
    """
    if not target.n_classes or getattr(target, "bound", None) is not None:
        return False
    if target.kind == "multilabel":
        return all(abs(s - target.threshold) <= LEVEL for s in score)
    loss = getattr(target, "loss", None)
    if loss is not None:
        expected = expected_losses(score, loss)
        return max(expected) - min(expected) <= 1e-12 * max(max(row) for row in loss)
    return abs(score[0]) <= LEVEL if len(score) == 1 else max(score) - min(score) <= LEVEL


def unanswered(x: Any, weights: Any, reads: Any, whole: Any, tie: bool) -> str:
    """Return why a case has no answer: 'weight', 'values' or 'tie'; '' if it has one.

    weight: no voter has weight. values: a value is missing, and no voter with weight that reads
    columns (itself, or through its distance from cases) has the values it needs, which are one of
    its columns, or all if it abstains on missing values. tie: see `tied`.

    Parameters
    ----------
    x : sequence of float
        The case, NaN where a value is missing.
    weights : sequence
        (T,) or (T, K).
    reads : list of list of int
        The columns of each voter.
    whole : list of bool
        Whether it needs all of them.
    tie : bool
    """
    weighed = False
    for w, own, every in zip(weights, reads, whole, strict=True):
        if any(w) if isinstance(w, list) else w:
            weighed = True
            if own and (all if every else any)(x[j] == x[j] for j in own):
                return "tie" if tie else ""
    if weighed and not any(x[j] != x[j] for own in reads for j in own):
        return "tie" if tie else ""
    return "values" if weighed else "weight"


def unanswered_words(why: str, x: Any, reads: Any, whole: Any, target: Any, names: Names) -> str:
    """Return why a case has no answer and what it needs: ``...; one of a and b would do``.

    If every voter needs several more columns, those of the voter that lacks the fewest are named.
    """
    gaps = [[j for j in own if x[j] != x[j]] for own in reads]
    missing = sorted({j for own in gaps for j in own})
    if why == "tie":
        by = "every answer has the same expected loss"
        by = by if getattr(target, "loss", None) is not None else "all classes are equal"
        by = "every label is at its threshold" if target.kind == "multilabel" else by
        return f"no answer: {by}" + (f"; {_named(missing, names)} missing" if missing else "")
    if not missing:
        return "no answer: no voter has weight here"
    each = zip(gaps, whole, strict=True)
    alone = sorted({j for own, every in each for j in own if not every or len(own) == 1})
    wanted = alone or min((own for own in gaps if own), key=len)
    some = "one of " if len(alone) > 1 else ""
    return f"no answer: no voter has the values it needs; {some}{_named(wanted, names)} would do"


def unanswered_notes(found: Any) -> list[str]:
    """Return notes on the first cases without an answer, from pairs (case, reason)."""
    notes = [f"{case} has {why}." for case, why in found if why]
    more = len(notes) - NAMED
    return notes[:NAMED] + ([f"{plural(more, 'more case')} without an answer."] if more > 0 else [])


def unanswered_cases(cases: Sequence[str], answered: Sequence[str]) -> list[str]:
    """Return a note on the cases whose 'answered' is false; [] if all have an answer."""
    found = [case for case, one in zip(cases, answered, strict=True) if one == "false"]
    if not found:
        return []
    return [
        f"{plural(len(found), 'case has', 'cases have')} no answer: answered is false "
        f"({listed(found, NAMED)}); explain says why."
    ]


def _named(columns: list[int], names: Names) -> str:
    named = [sentence_name(names.columns[j]) for j in columns]
    return listed(named, NAMED) if len(named) > NAMED else series(named)
