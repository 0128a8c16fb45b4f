"""How a vote comes to its answer, in words."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.vote.names import percent
from psephos.vote.shown import n_trees, shown_tree
from psephos.vote.vote import Vote

__all__ = ["answer_rule", "before_weighing"]

_PICKS = {
    "majority": "each voter counts for the class it votes for",
    "loudest": "what the voter of greatest weight says",
    "drawn": "what one voter says, drawn with the chance of its weight",
    "borda": "the class of most points: each voter ranks the classes",
    "median": "the weighted median of what the voters say",
}


def answer_rule(vote: Vote) -> str:
    """Return how votes become the answer; '' of a plain sum or mean of voters of one kind.

    Such as ``the median of what the voters say, weighed by class (ill × 5)``.
    """
    parts = [_combined(vote)]
    if vote.readout.calibration is not None:
        first = "" if parts[0] else "probabilities are "
        parts.append(first + vote.readout.calibration.words(_classes(vote)))
    return ", ".join(part for part in parts if part)


def before_weighing(vote: Vote, score: NDArray[np.float64]) -> str:
    """Return what a (K,) score answers without the calibration and weights of classes; '' if none.

    Its contributions sum to that score, and not to the answer.
    """
    calibration, target = vote.readout.calibration, vote.target
    if calibration is None or target.kind == "multilabel":
        return ""
    plain = replace(vote.readout, calibration=None)
    chances = plain.probabilities(score[None], target)[0].tolist()
    shares = [f"{c} {percent(p)}" for c, p in zip(_classes(vote), chances, strict=True)]
    shown = sorted(range(len(shares)), key=lambda k: -chances[k])[:3]
    said = ", ".join(shares[k] for k in shown)
    return f"{calibration.words(_classes(vote))}; the votes alone say {said}"


def _classes(vote: Vote) -> list[str]:
    target: Any = vote.target
    return [str(label) for label in target.classes.tolist()]


def _combined(vote: Vote) -> str:
    readout = vote.readout
    if readout.score == "trimmed mean":
        cut = percent(readout.cut)
        return f"the mean of what the voters say without the {cut} of the weight at either end"
    if readout.score in _PICKS:
        return _PICKS[readout.score]
    joined = getattr(vote.voters, "tag", "") == "joined voters" and vote.n_voters > 1
    if readout.score != "normalised" or not joined:
        return ""
    if not vote.target.n_classes:
        return "the weighted mean of the voters' numbers"
    kinds = {_says(vote.voters, t) for t in range(vote.n_voters)} - {""}
    if kinds == {"probability"}:
        return "the weighted mean of the voters' probabilities"
    return "" if kinds - {"answer"} else "each voter counts for the class it answers"


def _says(joined: Any, voter: int) -> str:
    """Return what a voter says; '' of a tree whose answers are sure: then it is both."""
    part = joined.parts[int(joined.part[voter])]
    part = part if hasattr(part, "says") else getattr(part, "inner", part)
    if hasattr(part, "says") or n_trees(joined, voter) != 1:
        return getattr(part, "says", "vote")
    shown = shown_tree(joined, voter, 0)
    said = shown.votes[shown.tree.n_children == 0]
    return "" if np.isclose(np.abs(said).max(axis=1), 1.0).all() else "probability"
