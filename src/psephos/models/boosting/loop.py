"""The one boosting loop, with local expertise: Algorithm 1 of the SamBA supplement.

A recipe says how the next voter is learned and how sample weights change after each round. AdaBoost
keeps one number a voter, SamBA one relevance a voter and sample.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from psephos._types import Array, Floats, Indices, NDArray
from psephos.runtime.progress import tracked

_STILL = 1e-14  # relative change of the sample weights below which a round had no effect
TOO_GREAT = "sample weights beyond float64"  # why a loop ended


class Round(NamedTuple):
    """One round of the loop: a voter, its answers and its error."""

    voter: Any  # what the learner made
    answers: Indices  # (m,); its class index on each training row
    right: NDArray[np.bool_]  # (m,)
    # weighted share of rows it is wrong on; of a voter that says probabilities the weighted mean of
    # what it gives to other classes than the row's
    error: float
    # (m,); probability it gives to each row's class; None where it says classes
    share: Floats | None = None
    relevance: Floats | None = None  # (m,); omega_t; None where the recipe derives it from `right`


class VoterLearner(Protocol):
    """Finds the best voter for given sample weights, and makes voters of what it found."""

    def learn(self, pi: Floats, task: int) -> tuple[Any, Array] | None:
        """Return (voter, what it says of each training row), or None if there is none.

        It says class indices, shape (m,), or class probabilities, float64 of shape (m, K).
        """
        ...

    def voters(self, found: Sequence[Any]) -> Any:
        """Return the found voters as the voters of a vote."""
        ...


@dataclass
class Boosted:
    """What the loop returns: the rounds in order, and why it ended."""

    rounds: list[Round] = field(default_factory=list[Round])
    # 'all voters', 'no better than chance', 'no effect', 'no difficult row', 'validation' or
    # `TOO_GREAT`
    reason: str = "all voters"
    pi: Floats | None = None  # the sample weights of the last round


def boost(
    learner: VoterLearner,
    y: Indices,
    prior: Floats,
    n_rounds: int,
    chance: float,
    reweight: Callable[[Floats, list[Round]], Floats],
    enough: Callable[[list[Round]], bool] | None = None,
    relate: Callable[[Floats, int, Round], Floats] | None = None,
    begun: Boosted | None = None,
) -> Boosted:
    """Run Algorithm 1.

    Parameters
    ----------
    learner : line 4: the voter of greatest quality under the sample weights
    y : (m,); class indices
    prior : (m,); line 2: the first sample weights; they sum to 1
    n_rounds : T
    chance : the error of guessing; a voter must do better
    reweight : ``reweight(pi, rounds)`` returns the next sample weights, not yet normalised: the
        loop divides them by their sum (line 7, where the printed normaliser lacks pi_t(i))
    enough : ``enough(rounds)`` ends the loop after a round
    relate : line 5: ``relate(pi, t, round)`` returns the voter's relevance on each training row
    begun : rounds to continue from, of the same rows

    The loop ends early when no voter beats chance (the voter is not kept), or when a round leaves
    the sample weights as they were: the same voter would then come for ever, and change nothing;
    or when no row has weight left, or when their sum is beyond the range of float64.
    """
    out = Boosted() if begun is None else replace(begun, reason="all voters")
    pi = prior / prior.sum() if out.pi is None else out.pi
    first = len(out.rounds)
    if 0 < first < n_rounds and (moved := _moved(reweight, pi, out)) is not None:
        pi = moved
    for t in tracked(range(first, n_rounds if out.reason == "all voters" else 0), "rounds"):
        found = learner.learn(pi, t)
        if found is None:
            out.reason = "no better than chance"
            break
        last = _judged(*found, y, pi)
        if last.error >= chance - 1e-12:
            out.reason = "no better than chance"
            break
        if relate is not None:
            last = last._replace(relevance=relate(pi, t, last))
        out.rounds.append(last)
        out.pi = pi
        if enough is not None and enough(out.rounds):
            out.reason = "validation"
            break
        if len(out.rounds) == n_rounds:  # no voter is learned from the next weights
            break
        moved = _moved(reweight, pi, out)
        if moved is None:
            break
        pi = moved
    return out


def _moved(reweight: Callable[..., Floats], pi: Floats, out: Boosted) -> Floats | None:
    """Return the next sample weights, or None, with the reason that the loop ends."""
    moved = reweight(pi, out.rounds)
    with np.errstate(over="ignore"):
        total = moved.sum()
    if not moved.any():
        out.reason = "no difficult row"
    elif not np.isfinite(total):
        out.reason = TOO_GREAT
    elif np.all(np.abs(moved / total - pi) <= _STILL * pi):
        out.reason = "no effect"
    else:
        return moved / total
    return None


def _judged(voter: Any, said: NDArray[Any], y: Indices, pi: Floats) -> Round:
    """Return the round of a voter that says classes, (m,), or their probabilities, (m, K)."""
    if said.ndim == 1:
        right = said == y
        return Round(voter, said, right, float(pi[~right].sum()))
    share = said[np.arange(len(y)), y]
    answers = said.argmax(axis=1)
    return Round(voter, answers, answers == y, float((pi * (1.0 - share)).sum()), share)
