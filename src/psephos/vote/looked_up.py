"""Answers that are looked up: how many voters said yes, and the posterior of so many."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from psephos.files.names import fixed, sentence_name

_LABELS = 20  # rows of the table that are written out


class LookedUp(NamedTuple):
    """The look-up of one label, or class, for one case."""

    name: str
    yes: float  # the weight of the voters that say it: a number of neighbours
    total: float  # of all voters
    place: int  # the table is read in column `place` of 0 ... `most`
    most: int
    chance: float  # the probability of the answer; of classes divided by their sum
    given: bool | None  # whether the label is given; None of classes

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
    """Return the look-up of each label or class for a case (from 0); none of other read-outs."""
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
    """Return the same as sentences, ``ill: 5 of 10 neighbours have it: ...``, likeliest first."""
    found = sorted(looked_up(ballots, case), key=lambda one: (not one.given, -one.chance))
    who = who_votes(ballots.vote)
    return [f"{sentence_name(one.name)}: {one.words(who)}" for one in found]


def who_votes(vote: Any) -> str:
    """Return what the voters are called."""
    return "neighbours" if vote.weighting.tag == "neighbours" else "votes"


def table_words(vote: Any, names: Sequence[str]) -> list[str]:
    """Return the table of a read-out in sentences, a label or class each; none of others."""
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
