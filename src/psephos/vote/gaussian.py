"""Gaussian naive Bayes as voters."""

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

__all__ = ["NaiveBayesVoters"]

_Floats = NDArray[np.float64]


@register
@dataclass(frozen=True)
class NaiveBayesVoters:
    """Gaussian naive Bayes: `mean` and `variance` (T, classes, q), `log_prior` (T, classes)."""

    tag: ClassVar[str] = "naive Bayes voters"
    n_features: int
    columns: Columns
    mean: _Floats
    variance: _Floats
    log_prior: _Floats
    value: _Floats

    def __post_init__(self) -> None:
        check_columns(self.columns, self.n_features)
        check(self.mean.ndim == 3 and self.mean.shape == self.variance.shape, "moments")
        check(self.mean.shape[2] == len(self.columns), "moments and columns differ")
        check(self.log_prior.shape == self.mean.shape[:2], "priors")
        check(bool((self.variance > 0).all()), "a variance is not positive")
        check(self.value.ndim == 2 and len(self.value) == self.mean.shape[1], "classes")
        numbers = (self.mean, self.variance, self.log_prior, self.value)
        check(all(a.dtype == np.float64 for a in numbers), "numbers are not float64")

    @property
    def n_voters(self) -> int:
        """Return T."""
        return len(self.mean)

    def votes(self, X: _Floats) -> _Floats:
        """Return the (n, T, K) votes."""
        read = X[:, self.columns]
        check_present(read, "naive Bayes voters")
        answer = np.empty((len(X), self.n_voters), dtype=np.intp)
        for t in range(self.n_voters):
            squares = (read[:, None, :] - self.mean[t]) ** 2 / self.variance[t]
            constant = self.log_prior[t] - 0.5 * np.log(2 * np.pi * self.variance[t]).sum(axis=1)
            answer[:, t] = (constant - 0.5 * squares.sum(axis=2)).argmax(axis=1)
        return self.value[answer]

    def usage(self) -> Any:
        """Return the (T, p) table: every column of the model."""
        voter, column = np.indices((self.n_voters, len(self.columns))).reshape(2, -1)
        return usage_table(voter, self.columns[column], (self.n_voters, self.n_features))

    def select(self, columns: Columns) -> Self:
        """Return the same models on the table reduced to `columns`."""
        where = positions(self.columns, columns)
        return replace(self, n_features=len(columns), columns=where)

    def take(self, voters: NDArray[np.intp]) -> Self:
        """Return these models only."""
        moments = {"mean": self.mean[voters], "variance": self.variance[voters]}
        return replace(self, **moments, log_prior=self.log_prior[voters])

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return what it is."""
        return f"Gaussian naive Bayes on {len(self.columns)} columns"

    def sides(self, voter: int) -> list[tuple[str, _Floats]]:
        """Return no short answer."""
        return []
