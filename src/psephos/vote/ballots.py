"""Who voted for this answer: one row per case and voter, in words and numbers."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import MissingExtraError, PsephosError
from psephos.vote.vote import Vote

__all__ = ["Ballots", "Names", "answer_words", "frame_of"]

_NEAREST = 5


@dataclass(frozen=True)
class Names:
    """The words of a table: its columns, and the levels of its categories.

    Parameters
    ----------
    columns : list of str
        One per column of the table.
    levels : dict of int to list of str
        The categories of each categorical column, by code.
    """

    columns: list[str]
    levels: dict[int, list[str]] = field(default_factory=dict[int, list[str]])


def answer_words(vote: Vote, value: NDArray[np.float64]) -> str:
    """Return the class a (K,) vote speaks for, or the number it is."""
    return vote.target.words(value[None, :])[0]


@dataclass(frozen=True)
class Ballots:
    """The ballots of some cases, as `explain` returns them.

    Parameters
    ----------
    vote : Vote
    names : Names
    X : ndarray or CSC of shape (n, p)
        The cases, encoded.
    case_ids : list
        One name per case.

    Attributes
    ----------
    score : ndarray of shape (n, K)
        The decision of each case; its contributions sum to it.
    mass : ndarray of shape (n,)
        Total raw weight: how familiar the case is (local weights), or a constant.
    contributions : ndarray of shape (n, T, K)
    """

    vote: Vote
    names: Names
    X: Any
    case_ids: list[Any]
    score: NDArray[np.float64] = field(init=False)
    mass: NDArray[np.float64] = field(init=False)
    contributions: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        score, mass = self.vote.score_and_mass(self.X)
        object.__setattr__(self, "score", score)
        object.__setattr__(self, "mass", mass)
        object.__setattr__(self, "contributions", self.vote.contributions(self.X))

    def __len__(self) -> int:
        return len(self.case_ids)

    def columns(self) -> dict[str, list[Any]]:
        """Return the table as lists, one entry per (case, voter), cases first.

        Keys: ``case``; ``voter`` (number, from 0); ``rule`` (the voter in words); ``vote`` (the
        class it speaks for, or its number); ``weight`` (its share here); ``contribution`` (or one
        ``contribution_<class>`` a class if there are more than two); ``columns`` (names read by
        the voter) and, for local weights, ``nearest``: tuples (training row, distance, share of
        the similarity, class) of the training cases heard most.
        """
        n, voters, outputs = self.contributions.shape
        table: dict[str, list[Any]] = {
            "case": [case for case in self.case_ids for _ in range(voters)],
            "voter": list(range(voters)) * n,
            "rule": self._rules() * n,
            "vote": self._answers(),
            "weight": self.vote.shares(self.X).ravel().tolist(),
        }
        for k in range(outputs):
            name = self.vote.target.outputs[k]
            key = f"contribution_{name}" if outputs > 1 else "contribution"
            table[key] = self.contributions[:, :, k].ravel().tolist()
        table["columns"] = self._columns_read() * n
        nearest = self.nearest()
        if nearest is not None:
            table["nearest"] = [cases for cases in nearest for _ in range(voters)]
        return table

    def nearest(self) -> list[tuple[tuple[Any, float, float, str], ...]] | None:
        """Return per case the training cases heard most, or None for constant weights."""
        found = self.vote.nearest(self.X, _NEAREST)
        if found is None:
            return None
        local: Any = self.vote.weighting
        rows = local.rows[found.anchor].tolist()
        target: Any = self.vote.target  # local weights are for classes
        classes = target.classes[local.anchor_class[found.anchor]].astype(str).tolist()
        cases: list[tuple[tuple[Any, float, float, str], ...]] = []
        for i in range(len(self)):
            distance, share = found.distance[i].tolist(), found.share[i].tolist()
            cases.append(tuple(zip(rows[i], distance, share, classes[i], strict=True)))
        return cases

    def frame(self, backend: str | None = None) -> Any:
        """Return `columns` as a data frame; polars gets each nearest case as a struct.

        Parameters
        ----------
        backend : {'pandas', 'polars'}, default=None
            None takes pandas if it is installed, else polars.

        Raises
        ------
        MissingExtraError
            If no data frame library is installed.
        """
        return frame_of(self.columns(), backend)

    def _rules(self) -> list[str]:
        voters = range(self.vote.n_voters)
        return [self.vote.voters.rule(t, self.names.columns, self.names.levels) for t in voters]

    def _answers(self) -> list[str]:
        votes = self.vote.votes(self.X)
        return self.vote.target.words(votes.reshape(-1, votes.shape[2]))

    def _columns_read(self) -> list[tuple[str, ...]]:
        usage: Any = self.vote.voters.usage()
        ends = usage.indptr
        named = self.names.columns
        spans: list[list[int]] = [
            usage.indices[ends[t] : ends[t + 1]].tolist() for t in range(self.vote.n_voters)
        ]
        return [tuple(named[j] for j in sorted(span)) for span in spans]


def _structs(table: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Return the table with nearest cases as dictionaries: polars has no mixed tuples."""
    if "nearest" not in table:
        return table
    keys = ("row", "distance", "share", "class")
    cases = [[dict(zip(keys, case, strict=True)) for case in cases] for cases in table["nearest"]]
    return {**table, "nearest": cases}


def frame_of(table: dict[str, list[Any]], backend: str | None = None) -> Any:
    """Return a table of lists as a pandas or polars data frame, whichever is asked for or there."""
    if backend not in (None, "pandas", "polars"):
        raise PsephosError(f"backend {backend!r} is unknown: use 'pandas' or 'polars'.")
    for name in (backend,) if backend else ("pandas", "polars"):
        try:
            library: Any = __import__(name)
        except ImportError:
            continue
        return library.DataFrame(_structs(table) if name == "polars" else table)
    raise MissingExtraError(backend or "pandas", "a data frame", "frames")
