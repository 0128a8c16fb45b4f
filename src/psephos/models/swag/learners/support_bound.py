"""Support vector machines bound to a problem: scores of many candidates, voters of a few."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.kernels.small_models.gaussian_svm import Machines, machines, rbf_scores
from psephos.kernels.small_models.linear_svm import LinearMachines, linear_machines, linear_scores
from psephos.kernels.small_models.svm_common import MOST_ROWS, layout
from psephos.models.swag.learners.gaussian_bound import linear_voters
from psephos.models.swag.problem import BoundLearner, Problem, Says
from psephos.vote import Voters
from psephos.vote.voters.kernel import KernelVoters

__all__ = ["BoundLinear", "BoundRBF"]

_Floats = NDArray[np.float64]
_Subset = NDArray[np.intp]
_NUMBERS = 2**22  # scores held at once while C is chosen


class _Bound(BoundLearner):
    """What both kinds share: rows by class and the moments of all columns in every split."""

    def __init__(self, problem: Problem, name: str, scale: bool) -> None:
        if problem.n_classes < 2:
            kind = "numbers" if problem.n_classes == 0 else "one class only"
            raise PsephosError(f"{name} tells classes apart, and this target is {kind}.")
        if len(problem.X) > MOST_ROWS:
            raise PsephosError(
                f"{name} takes at most {MOST_ROWS} rows, and this table has {len(problem.X)}: use "
                "another learner, or a sample of the rows."
            )
        self._problem = problem
        self._X = np.asfortranarray(problem.X, dtype=np.float64)
        self._weight = np.ascontiguousarray(problem.weight, dtype=np.float64)
        self._y = np.asarray(problem.y, dtype=np.intp)
        folds = problem.folds
        self._layout = layout(
            self._X, self._y, problem.n_classes, self._weight, folds.train, folds.train_ptr, scale
        )
        self._splits = (0, folds.n_splits)
        self._test = np.ascontiguousarray(folds.test)
        # All rows are one more split, which tests none.
        self._test_ptr = np.append(folds.test_ptr, folds.test_ptr[-1:])
        self._whole = (folds.n_splits, folds.n_splits + 1)


class BoundLinear(_Bound):
    """Linear machines on one problem."""

    def __init__(self, problem: Problem, C: float, squared: bool, scale: bool) -> None:
        super().__init__(problem, "LinearSVMLearner", scale)
        self._C, self._squared = C, squared

    def _run(self, subsets: _Subset, splits: tuple[int, int], out: _Floats) -> LinearMachines:
        n, d = len(self._X), subsets.shape[1]
        room = linear_machines(n, d, self._problem.n_classes, self._squared)
        linear_scores(
            self._X, self._weight, self._layout, splits, self._test, self._test_ptr,
            np.ascontiguousarray(subsets, dtype=np.intp), self._C, self._squared or None, room,
            out,
        )  # fmt: skip
        return room

    def scores(self, subsets: _Subset) -> _Floats:
        """Return out-of-fold margins (B, L, K)."""
        out = np.empty((len(subsets), len(self._test), self._problem.n_outputs))
        self._run(subsets, self._splits, out)
        return out

    def fit(self, subsets: Sequence[_Subset], says: Says, code: NDArray[np.float64]) -> Voters:
        """Return one voter per subset: linear voters, or kernel voters for pairs of classes."""
        _check_says(says)
        p, models = self._X.shape[1], []
        for subset in subsets:
            columns = np.asarray(subset, dtype=np.intp)
            room = self._run(columns[None], self._whole, np.empty((1, 0, 0)))
            slope = room.coef[:, :-1] * room.scaling[1]
            intercept = room.coef[:, -1] - (slope * room.scaling[0]).sum(axis=1)
            models.append((columns, slope, intercept))
        if self._squared or self._problem.n_classes == 2:
            return linear_voters(p, self._problem.n_outputs, models, code, says)
        # A line is an expansion whose support rows are the axes.
        parts = [
            _Expansion(c, np.zeros(len(c)), np.ones(len(c)), np.eye(len(c)), coef, level, 1.0)
            for c, coef, level in models
        ]
        return _kernel_voters(p, parts, code, says, "linear")


class BoundRBF(_Bound):
    """Machines with a Gaussian kernel on one problem; C is ascending."""

    def __init__(self, problem: Problem, C: _Floats, gamma: float, scale: bool, tol: float) -> None:
        super().__init__(problem, "RBFSVMLearner", scale)
        self._C, self._gamma, self._tol = C, gamma, tol

    def _run(self, subsets: _Subset, C: _Floats, splits: tuple[int, int], out: _Floats) -> Machines:
        n, d = len(self._X), subsets.shape[1]
        room = machines(n, d, self._problem.n_classes, len(C))
        rbf_scores(
            self._X, self._weight, self._layout, splits, self._test, self._test_ptr,
            np.ascontiguousarray(subsets, dtype=np.intp), self._gamma, C, self._tol, room,
            room.pair if self._problem.n_classes > 2 else None, out,
        )  # fmt: skip
        return room

    def _chosen(self, subsets: _Subset) -> tuple[_Floats, NDArray[np.intp]]:
        """Return the scores (B, L, K) at the C that is best for each candidate, and its place."""
        n_tests, n_outputs = len(self._test), self._problem.n_outputs
        scores = np.empty((len(subsets), n_tests, n_outputs))
        place = np.zeros(len(subsets), dtype=np.intp)
        size = max(1, _NUMBERS // max(1, len(self._C) * n_tests * n_outputs))
        truth, weight = self._y[self._test], self._weight[self._test]
        for first in range(0, len(subsets), size):
            block = slice(first, first + size)
            out = np.empty((len(self._C), len(subsets[block]), n_tests, n_outputs))
            self._run(subsets[block], self._C, self._splits, out)
            if len(self._C) > 1:
                said = out[..., 0] > 0 if n_outputs == 1 else out.argmax(axis=3)
                wrong = ((said != truth) * weight).sum(axis=2)
                place[block] = wrong.argmin(axis=0)  # the first of equals: the least C
            at = place[block]
            scores[block] = out[at, np.arange(len(at))]
        return scores, place

    def scores(self, subsets: _Subset) -> _Floats:
        """Return out-of-fold margins (B, L, K)."""
        return self._chosen(subsets)[0]

    def fit(self, subsets: Sequence[_Subset], says: Says, code: NDArray[np.float64]) -> Voters:
        """Return one voter per subset, at the C that was best on the folds."""
        _check_says(says)
        parts: list[_Expansion] = []
        for subset in subsets:
            columns = np.asarray(subset, dtype=np.intp)
            C = self._C
            if len(C) > 1:
                at = self._chosen(columns[None])[1][0]
                C = C[at : at + 1]
            room = self._run(columns[None], C, self._whole, np.empty((1, 1, 0, 0)))
            n = len(self._X)
            dual = room.beta[0, :, :n]
            support = np.flatnonzero((dual != 0).any(axis=0))
            whole = self._whole[0]
            centre, inverse = self._layout.moments[columns, whole, :2].T
            gamma = float((room.scaling[1, 0] / inverse[0]) ** 2) if len(columns) else 1.0
            rows = self._layout.rows[self._layout.ptr[whole] :][support]
            z = (self._X[np.ix_(rows, columns)] - centre) * inverse
            level = room.intercept[0].copy()
            parts.append(_Expansion(columns, centre, inverse, z, dual[:, support], level, gamma))
        return _kernel_voters(self._X.shape[1], parts, code, says, "rbf")

    def remarks(self, subsets: _Subset) -> dict[str, NDArray[Any]]:
        """Return C (B,) as chosen on the folds, where there was a choice."""
        return {"C": self._C[self._chosen(subsets)[1]]} if len(self._C) > 1 else {}


@dataclass(frozen=True)
class _Expansion:
    """One machine: `z` (m, d) support rows, `dual` (P, m), `level` (P,) intercepts."""

    columns: _Subset
    centre: _Floats
    inverse: _Floats
    z: _Floats
    dual: _Floats
    level: _Floats
    gamma: float


def _check_says(says: Says) -> None:
    if says == "value":
        raise PsephosError(
            "a support vector machine tells classes apart: it says its 'answer' or a "
            "'probability', not a 'value'."
        )


def _kernel_voters(
    n_features: int, parts: Sequence[_Expansion], code: _Floats, says: Says, kernel: str
) -> KernelVoters:
    """Return machines as voters that abstain."""
    pairs = len(code) * (len(code) - 1) // 2
    read = np.concatenate([np.empty(0, dtype=np.intp), *(part.columns for part in parts)])
    columns, position = np.unique(read, return_inverse=True)

    def joined(pieces: list[_Floats]) -> _Floats:
        return np.concatenate([np.empty(0), *pieces])

    def starts(sizes: list[int]) -> NDArray[np.intp]:
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)

    return KernelVoters(
        n_features, columns,
        starts([len(part.columns) for part in parts]), position.astype(np.intp),
        joined([part.centre for part in parts]), joined([part.inverse for part in parts]),
        starts([len(part.z) for part in parts]), joined([part.z.ravel() for part in parts]),
        np.concatenate([np.empty((pairs, 0)), *(part.dual for part in parts)], axis=1),
        np.array([part.level for part in parts]).reshape(len(parts), pairs),
        np.array([part.gamma for part in parts]), np.asarray(code, dtype=np.float64),
        kernel=kernel, says=says, abstains=True,
    )  # fmt: skip
