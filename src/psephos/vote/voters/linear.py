"""Linear models as voters."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from psephos._types import Floats, NDArray
from psephos.vote.codec import register
from psephos.vote.lowered import ReadAsLowered
from psephos.vote.operations.scores import Scores, check_says
from psephos.vote.part import Columns, ReadsColumns, check, check_part


@register
@dataclass(frozen=True)
class LinearVoters(ReadsColumns, ReadAsLowered):
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
    coef: Floats
    intercept: Floats
    value: Floats
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
        check_says(self.value, self.coef.shape[1], self.says)
        check(0 < self.slope < np.inf, "a slope is not a positive number")

    @property
    def n_voters(self) -> int:
        return len(self.coef)

    @cached_property
    def _operation(self) -> Scores:
        voter, position = np.nonzero((self.coef != 0).any(axis=1))
        ptr = np.searchsorted(voter, np.arange(self.n_voters + 1)).astype(np.intp)
        return Scores(
            self.n_features, self.columns, ptr, position, self.intercept, self.value,
            "a linear model", self.says, self.slope, self.abstains,
            coef=np.ascontiguousarray(self.coef[voter, :, position].T),
        )  # fmt: skip

    def times(self, powers: NDArray[np.intp]) -> Self:
        """Return the same models for a table whose columns are times these powers of two."""
        return replace(self, coef=np.ldexp(self.coef, -powers[self.columns]))

    def take(self, voters: NDArray[np.intp]) -> Self:
        coef = self.coef[voters]
        read = np.flatnonzero((coef != 0).any(axis=(0, 1)))
        coef = np.ascontiguousarray(coef[:, :, read])
        columns, intercept = self.columns[read], self.intercept[voters]
        return replace(self, columns=columns, coef=coef, intercept=intercept)
