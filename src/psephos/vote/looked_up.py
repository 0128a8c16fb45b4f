"""Predictions from a table: the number of voters for a label, and its posterior probability."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from psephos.files.names import fixed, sentence_name

_LABELS = 20  # rows of the table that are written out


class LookedUp(NamedTuple):
    """The look-up of one label, or class, for one case."""

    name: str
    yes: float  # the weight of the voters for it: a number of neighbours
    total: float  # the weight of all voters
    place: int  # the column of the table that is read, 0 ... `most`
    most: int
    chance: float  # its probability; of classes divided by their sum
    given: bool | None  # whether the label is predicted; None of classes

    def found(self, who: str) -> str:
        """Return ``5 of 10 neighbours have it``."""
        if not self.total:
            return f"no {who.removesuffix('s')}"
        have = "have it" if self.given is not None else "are it"
        words = f"{self.yes:.6g} of {self.total:.6g} {who} {have}"
        if (round(self.yes, 9), round(self.total, 9)) == (self.place, self.most):
            return words
        return f"{words}, read as {self.place} of {self.most}"

    def words(self, who: str) -> str:
        """Return ``5 of 10 neighbours have it: probability 0.364, not given``."""
        answer = "" if self.given is None else ", given" if self.given else ", not given"
        return f"{self.found(who)}: probability {fixed(self.chance)}{answer}"


def looked_up(ballots: Any, case: int) -> list[LookedUp]:
    """Return the look-up of each label or class for a case (from 0); [] of other read-outs."""
    vote = ballots.vote
    posterior: Any = getattr(vote.readout.calibration, "posterior", None)
    if posterior is None:
        return []
    target, score = vote.target, ballots.score[[case]]
    share = replace(vote.readout, calibration=None).probabilities(score, target)[0]
    most, total = posterior.shape[1] - 1, float(ballots.mass[case])
    multilabel = target.kind == "multilabel"
    given = set(ballots.given(case)) if multilabel else set[int]()
    rows = zip(target.classes.tolist(), share.tolist(), ballots.chances(case), strict=True)
    return [
        LookedUp(
            str(name), p * total, total, int(np.rint(p * most)), most, chance,
            k in given if multilabel else None,
        )
        for k, (name, p, chance) in enumerate(rows)
    ]  # fmt: skip


def looked_up_words(ballots: Any, case: int) -> list[str]:
    """Return `looked_up` as ``ill: 5 of 10 neighbours have it: ...``, likeliest first."""
    found = sorted(looked_up(ballots, case), key=lambda one: (not one.given, -one.chance))
    who = who_votes(ballots.vote)
    return [f"{sentence_name(one.name)}: {one.words(who)}" for one in found]


def who_votes(vote: Any) -> str:
    """Return the name of the voters: 'neighbours' or 'votes'."""
    return "neighbours" if vote.weighting.tag == "neighbours" else "votes"


def table_words(vote: Any, names: Sequence[str]) -> list[str]:
    """Return a sentence per label or class with its row of the table; [] of other read-outs."""
    posterior: Any = getattr(vote.readout.calibration, "posterior", None)
    if posterior is None:
        return []
    most, who = posterior.shape[1] - 1, who_votes(vote)
    words = [
        f"Posterior of {name} where 0, 1, ..., {most} of {most} {who} say it:"
        f" {' '.join(fixed(p) for p in row)}"
        for name, row in zip(names, posterior[:_LABELS].tolist(), strict=False)
    ]
    more = len(posterior) - len(words)
    return [*words, *([f"Posteriors of {more} labels more: posterior_."] if more > 0 else [])]
