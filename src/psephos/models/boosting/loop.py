"""The boosting loop, with local expertise: Algorithm 1 of the SamBA supplement.

A recipe defines how the next voter is learned and how sample weights are updated after each round.
AdaBoost has one weight per voter, SamBA one relevance per voter and sample.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from psephos._types import Array, Floats, Indices, NDArray
from psephos.runtime.progress import tracked

_STILL = 1e-14  # relative change of the sample weights up to which a round had no effect
TOO_GREAT = "sample weights beyond float64"  # why a loop ended


class Round(NamedTuple):
    """One round of the loop: a voter, its predictions and its error."""

    voter: Any  # as returned by the learner
    answers: Indices  # (m,); predicted class index of each training row
    right: NDArray[np.bool_]  # (m,)
    # weighted error rate; with probabilities the weighted mean of 1 - the true class's probability
    error: float
    share: Floats | None = None  # (m,); probability of the true class; None if it predicts classes
    relevance: Floats | None = None  # (m,); omega_t; None if the recipe derives it from `right`


class VoterLearner(Protocol):
    """Base learner: finds the best voter for given sample weights."""

    def learn(self, pi: Floats, task: int) -> tuple[Any, Array] | None:
        """Return (voter, its predictions on the training rows), or None if no voter exists.

        Predictions are class indices, shape (m,), or class probabilities, float64 of shape (m, K).
        """
        ...

    def voters(self, found: Sequence[Any]) -> Any:
        """Return the results of `learn` as the voters of a vote."""
        ...


@dataclass
class Boosted:
    """Result of the loop: the rounds in order, and why it ended."""

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
    learner : line 4: finds the best voter under the sample weights
    y : (m,); class indices
    prior : (m,); line 2: the first sample weights; they sum to 1
    n_rounds : T
    chance : error of random guessing; a voter's error must be lower
    reweight : ``reweight(pi, rounds)`` returns the next sample weights, unnormalised: the loop
        divides them by their sum (line 7, where the printed normaliser lacks pi_t(i))
    enough : the loop ends after a round where ``enough(rounds)`` is true
    relate : line 5: ``relate(pi, t, round)`` returns the voter's relevance on each training row
    begun : earlier rounds to continue from, on the same rows

    The loop ends early when no voter beats chance (that voter is not kept), when a round leaves the
    sample weights unchanged (every later round would repeat it), when all weights are 0, or when
    their sum overflows float64.
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
        last = _evaluated(*found, y, pi)
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
    """Return the next sample weights, or None and set the reason why the loop ends."""
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


def _evaluated(voter: Any, predicted: NDArray[Any], y: Indices, pi: Floats) -> Round:
    """Return the round of a voter that predicts classes, (m,), or probabilities, (m, K)."""
    if predicted.ndim == 1:
        right = predicted == y
        return Round(voter, predicted, right, float(pi[~right].sum()))
    share = predicted[np.arange(len(y)), y]
    answers = predicted.argmax(axis=1)
    return Round(voter, answers, answers == y, float((pi * (1.0 - share)).sum()), share)
