"""Linear models as voters."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.prediction.linear_sums import linear_scores
from psephos.vote.codec import register
from psephos.vote.marks import Marks
from psephos.vote.names import plural
from psephos.vote.part import (
    Columns,
    ReadsColumns,
    Voters,
    check,
    check_part,
    check_present,
    usage_at,
)
from psephos.vote.reasons import Reason, Score, Term, abstention

_Floats = NDArray[np.float64]
_MOST_NAMED = 6  # a rule spells out no more columns than this
_ROUNDING = 1e-12


def _terms(n: int, coded: bool) -> str:
    """Return how many terms a model has; a category has one for each level that counts."""
    return plural(n, "term") if coded else plural(n, "column")


@register
@dataclass(frozen=True)
class LinearVoters(ReadsColumns, Voters):
    """Linear models ``z_r(x) = intercept_r + sum_j coef_rj x_j``, one set of R scores a voter.

    Parameters
    ----------
    n_features : int
        p, the number of columns of the table.
    columns : ndarray of shape (q,), intp
        Sorted columns that any of the voters reads.
    coef : ndarray of shape (T, R, q)
        A column whose R coefficients are all 0 is not read by that voter; a voter may read none.
        R = 1 decides between two classes by its sign (the second above 0) or is a number
        (regression); else there is one row a class.
    intercept : ndarray of shape (T, R)
    value : ndarray of shape (n_classes, K)
        The table of codes; of shape (any, 1) and not looked at where `says` is 'value'.
    says : {'answer', 'probability', 'value'}, default='answer'
        answer: the code of the class with the greatest score, the first of equals. probability:
        ``sum_k p_k code_k``; two classes: ``p = 1 / (1 + exp(-slope z))`` for the second; more:
        ``p_k`` proportional to ``exp(slope z_k)``. value: z itself, R = 1.
    abstains : bool, default=False
        False: a missing value in any column that is read raises. True: a voter that lacks a value
        votes 0 on that row, and the others decide.
    slope : float, default=1.0
        Log-odds a unit of the score: 1 for models whose scores are log-odds already.

    Raises
    ------
    PsephosError
        If the fields do not fit together, or on a missing value where voters do not abstain.
    """

    tag: ClassVar[str] = "linear voters"
    n_features: int
    columns: Columns
    coef: _Floats
    intercept: _Floats
    value: _Floats
    says: str = "answer"
    abstains: bool = False
    slope: float = 1.0

    def __post_init__(self) -> None:
        check_part(self)
        check(
            self.coef.ndim == 3 and self.coef.shape[2] == len(self.columns),
            "coef is not (T, scores, q)",
        )
        check(self.intercept.shape == self.coef.shape[:2], "intercept is not (T, scores)")
        check(self.coef.shape[1] > 0, "a model has no score")
        check(self.says in ("answer", "probability", "value"), f"says is {self.says!r}")
        if self.says == "value":
            check(self.coef.shape[1] == 1, "a number is not one score")
            check(self.value.ndim == 2 and self.value.shape[1] == 1, "a number is not one column")
        else:
            rows = 2 if self.coef.shape[1] == 1 else self.coef.shape[1]
            check(self.value.ndim == 2 and len(self.value) == rows, "value is not (C, K)")
        check(0 < self.slope < np.inf, "a slope is not a positive number")

    @property
    def n_voters(self) -> int:
        return len(self.coef)

    def votes(self, X: _Floats) -> _Floats:
        read = X[:, self.columns]
        if not self.abstains:
            check_present(read, "linear models")
        linear = linear_scores(read, self.coef, self.intercept)  # NaN where a value is missing
        votes = self._votes(linear)
        if self.abstains:
            votes[np.isnan(linear).any(axis=1)] = 0.0
        return np.ascontiguousarray(votes.transpose(1, 0, 2))

    def _votes(self, linear: _Floats) -> _Floats:
        """Return the (T, n, K) votes of scores (T, R, n)."""
        if self.says == "value":
            return linear.transpose(0, 2, 1).copy()
        if self.says == "answer":
            two = linear.shape[1] == 1
            answer = (linear[:, 0] > 0).astype(int) if two else linear.argmax(axis=1)
            return self.value[answer]
        share = _shares(self.slope * linear)
        votes = share[:, 0, :, None] * self.value[0]
        for k in range(1, len(self.value)):  # one order of sums, whatever the shape
            votes += share[:, k, :, None] * self.value[k]
        return votes

    def usage(self) -> Any:
        voter, column = np.nonzero((self.coef != 0).any(axis=1))
        return usage_at(self, voter, column)

    def divided(self, X: _Floats, size: _Floats, centre: _Floats) -> _Floats:
        """Return (n, p): sizes (n, T) divided by the terms ``|coef_j (x_j - centre_j)|``."""
        steep = np.abs(self.coef).sum(axis=1)
        away = np.nan_to_num(np.abs(X[:, self.columns] - centre[self.columns]))
        total = away @ steep.T
        rate = np.divide(size, total, out=np.zeros_like(size), where=total > 0)
        out = np.zeros((len(X), self.n_features))
        out[:, self.columns] = away * (rate @ steep)
        return out

    def times(self, powers: NDArray[np.intp]) -> Self:
        """Return the same models for a table whose columns are times these powers of two."""
        return replace(self, coef=np.ldexp(self.coef, -powers[self.columns]))

    def marks(self) -> Marks:
        """Return (columns, values) at which a column's greatest term is 1 or -1."""
        size = np.abs(self.coef).max(axis=(0, 1), initial=0.0)
        read = np.flatnonzero(size)
        return np.tile(self.columns[read], 2), np.concatenate([1.0 / size[read], -1.0 / size[read]])

    def take(self, voters: NDArray[np.intp]) -> Self:
        coef = self.coef[voters]
        read = np.flatnonzero((coef != 0).any(axis=(0, 1)))
        coef = np.ascontiguousarray(coef[:, :, read])
        columns, intercept = self.columns[read], self.intercept[voters]
        return replace(self, columns=columns, coef=coef, intercept=intercept)

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return the linear score in words (one score), or its columns and 0/1 columns."""
        coef = self.coef[voter]
        read = np.flatnonzero((coef != 0).any(axis=0))
        coded = any(names[int(j)].startswith("(") for j in self.columns[read])
        if not len(read) and len(coef) == 1 and self.says == "answer":
            return "a linear model that reads no column"
        if len(read) > _MOST_NAMED:
            return f"a linear model of {_terms(len(read), coded)}{self._greatest(voter, names)}"
        named = [names[int(j)] for j in self.columns[read]]
        if len(coef) > 1:
            return (
                f"a linear model of {_terms(len(read), coded)}:"
                f" {', '.join(named) or 'its prior alone'}"
            )
        terms = [f"{coef[0, j]:+.4g} {name}" for j, name in zip(read, named, strict=True)]
        constant = float(self.intercept[voter, 0])  # in the unit of log-odds: 1e-17 is rounding
        constant = 0.0 if self.says != "value" and abs(constant) <= _ROUNDING else constant
        score = " ".join([*terms, f"{constant:+.4g}"])
        if self.says == "value":
            return score
        if self.says == "answer":
            return f"{score} > 0"
        steep = self.slope != 1
        return f"log-odds {self.slope:.4g} times ({score})" if steep else f"log-odds {score}"

    def _greatest(self, voter: int, names: list[str]) -> str:
        """Return the greatest coefficients of a model of many."""
        size = np.abs(self.coef[voter]).max(axis=0)
        top = np.argsort(-size, kind="stable")[:_MOST_NAMED].tolist()
        more = f" and {np.count_nonzero(size) - len(top)} more"
        named = [names[int(self.columns[j])] for j in top]
        if len(self.coef[voter]) > 1:
            return f", by the greatest coefficients {', '.join(named)}{more}"
        way = "" if self.says == "value" else " (above 0: for the second class)"
        coef = [f"{self.coef[voter, 0, j]:+.4g} {n}" for j, n in zip(top, named, strict=True)]
        return f", the greatest coefficients{way} {', '.join(coef)}{more}"

    def reasons(self, X: _Floats) -> list[list[Reason]]:
        """Return, for each row, what the columns add to the scores of each model."""
        votes = self.votes(X)
        scores = linear_scores(X[:, self.columns], self.coef, self.intercept)  # (T, R, n)
        return [
            [self._reason(t, x, scores[t, :, i], votes[i, t]) for t in range(self.n_voters)]
            for i, x in enumerate(X)
        ]

    def _reason(self, voter: int, x: _Floats, scores: _Floats, votes: _Floats) -> Reason:
        coef = self.coef[voter]
        read = np.flatnonzero((coef != 0).any(axis=0))
        abstained = abstention(x, self.columns[read], votes) if self.abstains else None
        if abstained is not None:
            return abstained
        added = coef[:, read] * x[self.columns[read]]
        order = np.argsort(-np.abs(added).max(axis=0, initial=0.0), kind="stable")
        terms = tuple(
            Term(
                int(self.columns[read[j]]),
                float(x[self.columns[read[j]]]),
                tuple(added[:, j].tolist()),
                tuple(coef[:, read[j]].tolist()),
            )
            for j in order.tolist()
        )
        sums = tuple(self.intercept[voter].tolist()), tuple(scores.tolist())
        return Score(
            tuple(votes.tolist()), "a linear model", terms, *sums, self.says, float(self.slope)
        )

    def sides(self, voter: int) -> list[tuple[str, _Floats]]:
        """Return the two answers, one if it reads no column, or none."""
        if self.coef.shape[1] > 1 or self.says != "answer":
            return []
        if not self.coef[voter].any():
            return [("always", self.value[int(self.intercept[voter, 0] > 0)])]
        return [("if so", self.value[1]), ("otherwise", self.value[0])]


def _shares(linear: _Floats) -> _Floats:
    """Return class probabilities (T, classes, n) of log-odds (T, 1, n) or scores (T, R, n)."""
    if linear.shape[1] == 1:
        linear = np.concatenate([np.zeros_like(linear), linear], axis=1)
    share = np.exp(linear - linear.max(axis=1, keepdims=True))
    total = share[:, 0].copy()
    for k in range(1, share.shape[1]):
        total += share[:, k]
    return share / total[:, None]
