"""Which missing value of a case may move its answer most: see `psephos.explain.next_column`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from psephos._errors import PsephosError
from psephos._types import ColumnLists, NDArray
from psephos.vote.frames import Framed
from psephos.vote.profile import Profile
from psephos.vote.vote import Vote

_Floats = NDArray[np.float64]
VALUES = 10  # of a column of numbers


@dataclass(frozen=True)
class NextColumn(Framed):
    """The missing columns of cases, those that would move the answer most first.

    Parameters
    ----------
    case : list
        The row of each line.
    column : list of str
    change : ndarray
        The mean change of the answer.
    flips : ndarray
        The chance that the class changes; NaN of numbers.
    """

    case: list[Any]
    column: list[str]
    change: _Floats
    flips: _Floats

    def table(self) -> ColumnLists:
        """Return the lines: case, column, change, flips."""
        return {
            "case": self.case,
            "column": self.column,
            "change": self.change.tolist(),
            "flips": self.flips.tolist(),
        }

    def first(self) -> dict[Any, str]:
        """Return for each case that lacks a column the one that would tell most."""
        found: dict[Any, str] = {}
        for case, column in zip(self.case, self.column, strict=True):
            found.setdefault(case, column)
        return found


def next_of(
    vote: Vote, profile: Profile, names: Sequence[str], X: _Floats, cases: Sequence[Any]
) -> NextColumn:
    """Return what `next_column` does, of a vote on its own columns and rows X of shape (n, q)."""
    now, answer = _answers(vote, X)
    found: list[tuple[int, float, int, float]] = []
    for j in range(X.shape[1]):
        lacking = np.flatnonzero(np.isnan(X[:, j]))
        values, chance = profile.points(j, VALUES)
        if not len(lacking) or not len(values):
            continue
        asked = np.repeat(X[lacking], len(values), axis=0)
        asked[:, j] = np.tile(values, len(lacking))
        then, other = _answers(vote, asked)
        gap = np.abs(then.reshape(len(lacking), len(values), -1) - now[lacking][:, None])
        half = 0.5 if vote.target.n_classes else 1.0
        change = half * gap.sum(axis=2) @ chance
        changed = other.reshape(len(lacking), -1) != answer[lacking][:, None]
        flips = changed @ chance if vote.target.n_classes else np.full(len(lacking), np.nan)
        triples = zip(lacking.tolist(), change.tolist(), flips.tolist(), strict=True)
        found += [(i, -c, j, f) for i, c, f in triples]
    found.sort(key=lambda line: line[:3])
    return NextColumn(
        [cases[line[0]] for line in found],
        [names[line[2]] for line in found],
        np.array([0.0 - line[1] for line in found]),
        np.array([line[3] for line in found]),
    )


def _answers(vote: Vote, X: _Floats) -> tuple[_Floats, NDArray[Any]]:
    """Return (n, K) probabilities (numbers: answers), and the answers."""
    score, mass = vote.score_and_mass(X)
    if not vote.target.n_classes:
        return score, score[:, 0]
    chances = vote.readout.probabilities(score, vote.target, mass)
    decided = vote.readout.decided(score, vote.target, mass)
    if vote.target.kind == "multilabel":
        raise PsephosError("next_column is about one class a case, or of a number.")
    target: Any = vote.target
    return chances, target.chosen(decided)
