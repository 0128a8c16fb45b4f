"""Linear models as voters."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from psephos.vote.codec import register
from psephos.vote.part import (
    Columns,
    check,
    check_columns,
    check_present,
    positions,
    usage_table,
)

__all__ = ["LinearVoters"]

_Floats = NDArray[np.float64]


@register
@dataclass(frozen=True)
class LinearVoters:
    """Linear models: each votes the code of the class whose linear score is greatest.

    `coef` is (T, R, q) and `intercept` (T, R): one row (R = 1) decides between two classes by its
    sign, else one row a class. `value` (n_classes, K) is the table of codes.
    """

    tag: ClassVar[str] = "linear voters"
    n_features: int
    columns: Columns
    coef: _Floats
    intercept: _Floats
    value: _Floats

    def __post_init__(self) -> None:
        check_columns(self.columns, self.n_features)
        check(self.coef.ndim == 3 and self.coef.shape[2] == len(self.columns), "coefficients")
        check(self.intercept.shape == self.coef.shape[:2], "intercepts")
        rows = 2 if self.coef.shape[1] == 1 else self.coef.shape[1]
        check(self.value.ndim == 2 and len(self.value) == rows, "classes")
        numbers = (self.coef, self.intercept, self.value)
        check(all(a.dtype == np.float64 for a in numbers), "numbers are not float64")

    @property
    def n_voters(self) -> int:
        """Return T."""
        return len(self.coef)

    def votes(self, X: _Floats) -> _Floats:
        """Return the (n, T, K) votes."""
        read = X[:, self.columns]
        check_present(read, "linear models")
        linear = np.einsum("nq,trq->ntr", read, self.coef) + self.intercept
        answer = (linear[:, :, 0] > 0).astype(int) if linear.shape[2] == 1 else linear.argmax(2)
        return self.value[answer]

    def usage(self) -> Any:
        """Return the (T, p) table of columns with a coefficient."""
        voter, column = np.nonzero((self.coef != 0).any(axis=1))
        return usage_table(voter, self.columns[column], (self.n_voters, self.n_features))

    def select(self, columns: Columns) -> Self:
        """Return the same models on the table reduced to `columns`."""
        where = positions(self.columns, columns)
        return replace(self, n_features=len(columns), columns=where)

    def take(self, voters: NDArray[np.intp]) -> Self:
        """Return these models only; columns no longer read are dropped."""
        coef = self.coef[voters]
        read = np.flatnonzero((coef != 0).any(axis=(0, 1)))
        coef = np.ascontiguousarray(coef[:, :, read])
        columns, intercept = self.columns[read], self.intercept[voters]
        return replace(self, columns=columns, coef=coef, intercept=intercept)

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return the linear score in words (two classes), or its columns."""
        coef = self.coef[voter]
        read = np.flatnonzero((coef != 0).any(axis=0))
        if len(coef) > 1 or len(read) > 6:
            return f"a linear model of {len(read)} columns"
        terms = [f"{coef[0, j]:+.4g} {names[self.columns[j]]}" for j in read]
        return " ".join([*terms, f"{self.intercept[voter, 0]:+.4g} > 0"])

    def sides(self, voter: int) -> list[tuple[str, _Floats]]:
        """Return the two answers, or none."""
        if self.coef.shape[1] > 1:
            return []
        return [("if so", self.value[1]), ("otherwise", self.value[0])]
