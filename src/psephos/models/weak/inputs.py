"""The numbers a score of margins is made of, and the voters that read the table through them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.estimator.input import Table
from psephos.models.design import Design
from psephos.models.linear.scoring import score_knots
from psephos.vote import (
    CodedVoters,
    KernelVoters,
    LinearVoters,
    RankedVoters,
    Voters,
    design_matrix,
    normal_scores,
)

_Floats = NDArray[np.float64]
_QUANTILES = 1000  # most values of a column whose scores are kept


@dataclass(frozen=True)
class Inputs:
    """How a table becomes numbers of one size: normal scores of ranks, or units of deviation."""

    p: int  # columns of the table
    design: Design | None  # None where no column holds categories
    knots: Any  # of normal scores; None where columns are centred and scaled
    # `centre`, `inverse`: (q,); ``z = (x - centre) inverse``, x divided by two to its power;
    # inverse is 0 for a column that is constant
    centre: _Floats
    inverse: _Floats
    powers: NDArray[np.intp]  # (q,); so that squares are numbers, whatever the units

    @classmethod
    def of(cls, table: Table, weight: _Floats, scaling: str) -> tuple["Inputs", _Floats]:
        """Return how these rows are read, and their (n, q) numbers."""
        X = table.dense()
        p = X.shape[1]
        n_codes = np.array([table.n_codes.get(j, 0) for j in range(p)], dtype=np.intp)
        design = Design.of(n_codes, X) if n_codes.any() else None
        X = X if design is None else design_matrix(X, design.source, design.level)
        q = X.shape[1]
        if scaling == "rank" or (scaling == "auto" and bool(np.isnan(X).any())):
            knots = score_knots(X, weight, _QUANTILES)
            plain = np.zeros(q, dtype=np.intp)
            return cls(p, design, knots, np.zeros(q), np.ones(q), plain), normal_scores(X, *knots)
        _refuse_gaps(X, table, design)
        Z, centre, inverse, powers = _standardised(X, weight)
        return cls(p, design, None, centre, inverse, powers), Z

    def lines(self, coef: _Floats, intercept: float, code: _Floats) -> Voters:
        """Return one linear voter: log-odds ``intercept + coef' z``."""
        if self.knots is None:
            coef = coef * self.inverse
            intercept -= float(coef @ self.centre)
        every = np.arange(len(coef))
        line = LinearVoters(
            len(every), every, coef[None, None], np.array([[intercept]]), code, "probability"
        )
        return self._through(line.times(self.powers))

    def kernels(
        self, dual: _Floats, centres: _Floats, sigma: float, intercept: float, code: _Floats
    ) -> Voters:
        """Return one voter: log-odds ``intercept + sum_i dual_i exp(-|z - c_i|^2 / 2 sigma^2)``."""
        used = np.flatnonzero(self.inverse != 0)
        machine = KernelVoters(
            len(self.inverse),
            used,
            np.array([0, len(used)]),
            np.arange(len(used)),
            self.centre[used],
            self.inverse[used],
            np.array([0, len(centres)]),
            centres[:, used].ravel(),
            dual[None],
            np.array([[intercept]]),
            np.array([0.5 / sigma**2]),
            code,
            "rbf",
            "probability",
            called="kernel score",
        )
        return self._through(machine.times(self.powers))

    def _through(self, voters: Any) -> Voters:
        one = np.zeros(1, dtype=np.intp)
        if self.knots is not None:
            q = len(self.inverse)
            voters = RankedVoters(q, np.arange(q), voters, *self.knots)
        if self.design is not None:
            every = np.arange(self.p)
            voters = CodedVoters(self.p, every, voters, self.design.source, self.design.level)
        return voters.take(one)  # columns without a say are not read


def _standardised(
    X: _Floats, weight: _Floats
) -> tuple[_Floats, _Floats, _Floats, NDArray[np.intp]]:
    """Return the columns centred and divided by their deviation, and centre, inverse and powers."""
    powers = np.frexp(np.abs(X).max(axis=0))[1].astype(np.intp)
    X = np.ldexp(X, -powers)
    centre = np.average(X, axis=0, weights=weight)
    away = X - centre
    spread = np.sqrt(np.average(away**2, axis=0, weights=weight))
    moves = (X.max(axis=0) > X.min(axis=0)) & (spread > 0)
    inverse = np.divide(1.0, spread, out=np.zeros(X.shape[1]), where=moves)
    return away * inverse, centre, inverse, powers


def _refuse_gaps(X: _Floats, table: Table, design: Design | None) -> None:
    gaps = np.isnan(X)
    if gaps.any():
        row, j = (int(k) for k in np.argwhere(gaps)[0])
        column = j if design is None else int(design.source[j])
        name = table.schema.words().columns[column]
        raise PsephosError(
            f"{name!r} is missing in row {table.rows[row]}: with scaling='standard' every value "
            "is needed; scaling='rank' reads a missing value as the median."
        )
