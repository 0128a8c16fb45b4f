"""Support vector machines as voters."""

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from psephos._types import Floats, Indices, Usage
from psephos.files.field_types import AnySize
from psephos.trees.tree import spans_of
from psephos.vote import part
from psephos.vote.codec import register
from psephos.vote.lowered import RowByRow
from psephos.vote.operations.scores import votes_by_score
from psephos.vote.reading.scores import KernelMachines

_MOST_NAMED = 6  # a rule names no more columns than this
_BLOCK = 2**20  # entries of a table of kernels held at once


_CALLED = ("support vector machine", "kernel score")


@register
class KernelVoters(part.ReadsColumns, RowByRow):
    """Support vector machines: sums of kernels around support rows, one for each pair of classes.

    Voter t scales its d_t columns, ``z_j = (x_j - centre_j) inverse_j``; the margin of a pair of
    classes (a, b), a < b, is ``intercept + sum_i dual_i k(z, support_i)``, above 0 for b. Two
    classes have one margin; more have a score each, ``votes_k + s_k / (3 (|s_k| + 1))``, where s_k
    is the sum of the margins in favour of class k: it orders classes by the pairs they win, then
    by s_k.

    Parameters
    ----------
    n_features : int
        p, the number of columns of the table.
    columns : ndarray of shape (q,), intp
        Sorted columns that any of the voters reads.
    ptr : ndarray of shape (T + 1,), intp
        Where each voter's columns begin in `position`, `centre` and `inverse`.
    position : ndarray of shape (sum of d_t,), intp
        Positions in `columns`, ascending within a voter.
    centre, inverse : ndarray of shape (sum of d_t,)
        Centre and 1 / scale of each.
    rows : ndarray of shape (T + 1,), intp
        Where each voter's m_t support rows begin.
    support : ndarray of shape (sum of m_t d_t,)
        Scaled support rows, row by row, voter after voter.
    dual : ndarray of shape (P, sum of m_t)
        ``y_i alpha_i``; P pairs (0, 1), (0, 2), ... (1, 2), ... of classes.
    intercept : ndarray of shape (T, P)
    gamma : ndarray of shape (T,)
        Positive; ignored if `kernel` is 'linear'.
    value : ndarray of shape (n_classes, K)
        The table of codes.
    kernel : {'rbf', 'linear'}, default='rbf'
        ``exp(-gamma |z - support|^2)``, or ``z'support``.
    says : {'answer', 'probability'}, default='answer'
        answer: the code of the class with the greatest score, the first of equals. probability:
        ``sum_k p_k code_k`` with p = 1 / (1 + exp(-margin)) for the second of two classes, and p
        proportional to exp(score) for more. Margins are not calibrated: p ranks predictions by
        confidence, but does not estimate how often they are right.
    abstains : bool, default=False
        False: a missing value in any column that is read raises. True: a voter that lacks a value
        votes 0 on that row, and the others decide.
    called : {'support vector machine', 'kernel score'}, default='support vector machine'
        Name in descriptions: a kernel score minimises another loss than the hinge.

    Raises
    ------
    PsephosError
        If the fields do not fit together, or on a missing value where voters do not abstain.

    Notes
    -----
    Source: Boser, Guyon & Vapnik (1992), COLT, equation (6); Knerr, Personnaz & Dreyfus (1990)
    for the pairs of classes.
    """

    tag: ClassVar[str] = "kernel voters"
    reader: ClassVar[type[Any]] = KernelMachines
    n_features: int
    columns: part.Columns
    ptr: Indices
    position: Indices
    centre: AnySize
    inverse: AnySize
    rows: Indices
    support: Floats
    dual: Floats
    intercept: Floats
    gamma: Floats
    value: Floats
    kernel: str = "rbf"
    says: str = "answer"
    abstains: bool = False
    called: str = "support vector machine"

    def __post_init__(self) -> None:
        part.check_part(self)
        part.check(self.gamma.ndim == 1 and bool((self.gamma > 0).all()), "a gamma is not positive")
        t, shapes = len(self.gamma), {a.shape for a in (self.centre, self.inverse, self.position)}
        n_columns = part.check_places(self.position, self.ptr, t, len(self.columns))
        n_rows = part.check_ptr(self.rows, t, self.dual.shape[-1], "support rows")
        part.check(len(shapes) == 1, "centre and inverse have another shape than position")
        whole = self.support.shape == (int(n_columns @ n_rows),)
        part.check(whole, "support does not hold each voter's rows on its columns")
        part.check(self.value.ndim == 2 and len(self.value) > 1, "value is not (C, K)")
        pairs = len(self.value) * (len(self.value) - 1) // 2
        whole = self.dual.ndim == 2 and len(self.dual) == pairs
        part.check(whole, "dual has no row for each pair of classes")
        part.check(self.intercept.shape == (t, pairs), "intercept is not (T, pairs of classes)")
        numbers = (self.centre, self.inverse, self.support, self.dual, self.intercept)
        part.check(all(bool(np.isfinite(a).all()) for a in numbers), "numbers are not finite")
        part.check(self.kernel in ("rbf", "linear"), f"kernel is {self.kernel!r}")
        part.check(self.says in ("answer", "probability"), f"says is {self.says!r}")
        part.check(self.called in _CALLED, f"called is {self.called!r}")

    @property
    def n_voters(self) -> int:
        return len(self.gamma)

    def votes(self, X: Floats) -> Floats:
        read = X[:, self.columns]
        if not self.abstains:
            part.check_present(read, f"{self.called}s")
        out = np.zeros((len(X), self.n_voters, self.value.shape[1]))
        for t in range(self.n_voters):
            own = self._own(t)
            table = read[:, self.position[own]]
            present = np.flatnonzero(~np.isnan(table).any(axis=1))
            size = max(1, _BLOCK // max(1, int(self.rows[t + 1] - self.rows[t])))
            for first in range(0, len(present), size):
                block = present[first : first + size]
                z = (table[block] - self.centre[own]) * self.inverse[own]
                out[block, t] = self._vote(self._margins(t, z))
        return out

    def _own(self, voter: int) -> slice:
        return slice(int(self.ptr[voter]), int(self.ptr[voter + 1]))

    def _support(self, voter: int) -> Floats:
        """Return the (m, d) scaled support rows."""
        sizes = np.diff(self.ptr) * np.diff(self.rows)
        first = int(sizes[:voter].sum())
        shape = (self.rows[voter + 1] - self.rows[voter], self.ptr[voter + 1] - self.ptr[voter])
        return self.support[first : first + int(sizes[voter])].reshape(shape)

    def _margins(self, voter: int, z: Floats) -> Floats:
        """Return (n, P) margins of scaled rows, summed in the same order for every row."""
        support = self._support(voter)
        kernel = np.zeros((len(z), len(support)))
        for j in range(z.shape[1]):
            if self.kernel == "rbf":
                gap = z[:, j, None] - support[:, j]
                kernel += gap * gap
            else:
                kernel += z[:, j, None] * support[:, j]
        if self.kernel == "rbf":
            kernel = np.exp(-self.gamma[voter] * kernel)
        dual = self.dual[:, self.rows[voter] : self.rows[voter + 1]]
        sums = [(kernel * row).sum(axis=1) for row in dual]
        return np.stack(sums, axis=1) + self.intercept[voter]

    def _vote(self, margins: Floats) -> Floats:
        """Return the (n, K) votes of margins (n, P)."""
        if len(self.value) == 2:
            scores = np.concatenate([np.zeros_like(margins), margins], axis=1)
        else:
            scores = _pair_scores(margins, len(self.value))
        return votes_by_score(scores, self.value, self.says)

    def usage(self) -> Usage:
        voter = np.repeat(np.arange(self.n_voters), np.diff(self.ptr))
        return part.usage_at(self, voter, self.position)

    def times(self, powers: Indices) -> Self:
        """Return the same machines for a table whose columns are multiplied by powers of two."""
        own = powers[self.columns[self.position]]
        centre, inverse = np.ldexp(self.centre, own), np.ldexp(self.inverse, -own)
        return replace(self, centre=centre, inverse=inverse)

    def marks(self) -> part.Breakpoints:
        """Return (columns, values): two units on either side of the centres."""
        away = 2.0 / self.inverse
        return part.outer_marks(self.columns[self.position], self.centre - away, self.centre + away)

    def training_rows(self) -> int:
        return self.dual.shape[1]

    def take(self, voters: Indices) -> Self:
        ptr, own = spans_of(self.ptr, voters)
        row_ptr, rows = spans_of(self.rows, voters)
        read, position = np.unique(self.position[own], return_inverse=True)
        some = [self._support(t).ravel() for t in voters.tolist()]
        return replace(
            self,
            columns=self.columns[read],
            ptr=ptr,
            position=position.astype(np.intp),
            centre=self.centre[own],
            inverse=self.inverse[own],
            rows=row_ptr,
            support=np.concatenate([np.empty(0), *some]),
            dual=np.ascontiguousarray(self.dual[:, rows]),
            intercept=self.intercept[voters],
            gamma=self.gamma[voters],
        )

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return the kernel, the number of support rows and the columns."""
        m = int(self.rows[voter + 1] - self.rows[voter])
        called = [names[self.columns[j]] for j in self.position[self._own(voter)]]
        named = "" if len(called) > _MOST_NAMED else ": " + ", ".join(called)
        if not called:
            return f"a {self.called} of 0 columns: its prior alone"
        if self.kernel == "linear":
            lines = "a line" if len(self.dual) == 1 else f"{len(self.dual)} lines, one a pair,"
            return f"a {self.called}: {lines} in {len(called)} columns{named}"
        return (
            f"likeness (Gaussian, gamma {self.gamma[voter]:.4g}) to {m} of the training rows in "
            f"{len(called)} columns{named}"
        )

    def sides(self, voter: int) -> list[tuple[str, Floats]]:
        return []


def _pair_scores(margins: Floats, n_classes: int) -> Floats:
    """Return (n, classes) scores of the margins (n, P) of all pairs."""
    votes, total = np.zeros((2, len(margins), n_classes))
    pairs = [(a, b) for a in range(n_classes) for b in range(a + 1, n_classes)]
    for margin, (a, b) in zip(margins.T, pairs, strict=True):
        votes[:, a] += margin <= 0
        votes[:, b] += margin > 0
        total[:, a] -= margin
        total[:, b] += margin
    return votes + total / (3 * (np.abs(total) + 1))
