"""Support vector machines for the search: linear ones, and those with a Gaussian kernel."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices
from psephos.estimator.params import Flag, Interval, OneOf, Options, Several, check_params
from psephos.kernels.small_models.gaussian_svm import Machines, machines, rbf_scores
from psephos.kernels.small_models.linear_svm import LinearMachines, linear_machines, linear_scores
from psephos.kernels.small_models.svm_common import MOST_ROWS, layout
from psephos.models.swag.learners import common
from psephos.models.swag.problem import BoundLearner, Says, SearchProblem
from psephos.vote import Voters

_Subset = Indices
_NUMBERS = 2**22  # scores held at once while C is chosen
#: The values of C tried where none is given: 1/4, 1/2, ... 128.
C_GRID = tuple(2.0**k for k in range(-2, 8))
_POSITIVE = Interval(0, open_low=True)
_WIDTH = OneOf((Options(("scale", "sigest")), _POSITIVE))
_PAIRS = 5000  # of rows, at most, whose distances give the width of 'sigest'
_COSTS = OneOf((_POSITIVE, Several(_POSITIVE)), none=True)


@dataclass(frozen=True)
class LinearSVMLearner(common.Scaling):
    """Linear support vector machine with an intercept that is not penalised.

    Minimises ``|w|^2 / 2 + C sum_i weight_i max(0, 1 - y_i (w'x_i + b))`` over w and b, y = 1 for
    the second class and -1 for the first. Scores are margins ``w'x + b``, not log-odds. More than
    two classes: one machine a pair of classes, the winner of most pairs wins (equals: the greatest
    sum of margins).

    Parameters
    ----------
    C : float above 0, default=1.0
        Weight of the errors against the width of the margin.
    scale : bool, default=True
        Centre and scale columns by the training rows of each split (weighted mean and standard
        deviation; a constant column is not used either way).

    Notes
    -----
    The peer is, after ``StandardScaler()`` if `scale`, ``SVC(kernel="linear", break_ties=True)``,
    which solves the same problem to a tolerance of 1e-3 (here: a duality gap of 1e-9).

    A class without a training row never wins. ``says="probability"``: margins carry no
    probability; the shares ``1 / (1 + exp(-margin))`` (more classes: proportional to exp(score))
    are not calibrated.

    Source: Cortes & Vapnik (1995), "Support-vector networks", Machine Learning 20, section 3, with
    F(u) = u.
    """

    C: float = 1.0
    scale: bool = True

    def bind(self, problem: SearchProblem) -> "_LinearMachines":
        """Return the learner on a problem."""
        check_params(self, {"C": _POSITIVE, "scale": Flag()})
        return _LinearMachines(problem, float(self.C), bool(self.scale))


@dataclass(frozen=True)
class RBFSVMLearner(common.Scaling):
    """Support vector machine with a Gaussian kernel ``exp(-gamma |z - z'|^2)`` of scaled columns.

    Maximises ``sum_i alpha_i - sum_ij alpha_i y_i K_ij alpha_j y_j / 2`` over ``0 <= alpha_i <=
    C weight_i`` with ``sum_i alpha_i y_i = 0``. Scores are margins ``b + sum_i alpha_i y_i
    k(z, z_i)``, not log-odds.

    Parameters
    ----------
    C : float above 0, tuple of such, or None, default=1.0
        Weight of the errors. With several values (None: 1/4, 1/2, 1, ... 128) each candidate takes
        the one of least weighted error over the test rows of all splits, the least of equals.
    gamma : float above 0, 'scale' or 'sigest', default='scale'
        'scale': ``1 / (d Var)``, Var the variance of all entries of the split's scaled columns
        together (1 / d if none is constant and weights are equal). 'sigest': the middle between
        the .1 and the .9 quantile of ``|z - z'|^-2`` over pairs of training rows that differ, of
        all splits together: caret's rule, which takes it from `sigest` of kernlab (there half as
        many random pairs as rows; here every pair, or 5000 drawn ones where there are more).
    scale : bool, default=True
        Centre and scale columns by the training rows of each split (weighted mean and standard
        deviation; 1 for a constant column).
    tol : float above 0, default=1e-3
        Stop when no pair of rows violates optimality by more.

    Notes
    -----
    The peer is ``SVC(kernel="rbf", gamma="scale", break_ties=True)``, after ``StandardScaler()``
    if `scale`. More than two classes: one machine a pair of classes, the winner of most pairs
    wins (equals: the greatest sum of margins); a class without a training row never wins.

    Choosing C on the folds that then evaluate the candidate makes its error too small, as choosing
    the candidate does; the R package swag, whose caret tunes ten values, has the same optimism.

    ``says="probability"``: margins carry no probability; the shares ``1 / (1 + exp(-margin))``
    (more classes: proportional to exp(score)) are not calibrated.

    Source: Fan, Chen & Lin (2005), "Working set selection using second order information for
    training support vector machines", JMLR 6, problem (1).
    """

    C: float | tuple[float, ...] | None = 1.0
    gamma: float | str = "scale"
    scale: bool = True
    tol: float = 1e-3

    def bind(self, problem: SearchProblem) -> "_Machines":
        """Return the learner on a problem."""
        check_params(self, {"C": _COSTS, "gamma": _WIDTH, "scale": Flag(), "tol": _POSITIVE})
        return _Machines(problem, _costs(self.C), self.gamma, bool(self.scale), float(self.tol))


def _costs(C: float | Sequence[float] | None) -> Floats:
    values = C_GRID if C is None else (C,) if isinstance(C, Real) else C
    return np.unique(np.asarray(values, dtype=np.float64))


class _BoundMachines(BoundLearner):
    """What both kinds share: rows by class and the moments of all columns in every split."""

    def __init__(self, problem: SearchProblem, name: str, scale: bool) -> None:
        common.refuse_numbers(name, problem)
        if len(problem.X) > MOST_ROWS:
            raise PsephosError(
                f"{name} takes at most {MOST_ROWS} rows, and this table has {len(problem.X)}: use "
                "another learner, or a sample of the rows."
            )
        self._problem, folds = problem, problem.folds
        self._weight = np.ascontiguousarray(problem.weight, dtype=np.float64)
        self._y = np.asarray(problem.y, dtype=np.intp)
        rows = (folds.train, folds.train_ptr, np.ascontiguousarray(folds.test), folds.test_ptr)
        given = (problem.XT, self._y, problem.n_classes, self._weight)
        self._layout = layout(*given, *rows, scale)
        self._splits = (0, folds.n_splits)
        self._whole = (folds.n_splits, folds.n_splits + 1)


class _LinearMachines(_BoundMachines):
    """Linear machines on one problem."""

    def __init__(self, problem: SearchProblem, C: float, scale: bool) -> None:
        super().__init__(problem, "LinearSVMLearner", scale)
        self._C = C

    def _run(self, subsets: _Subset, splits: tuple[int, int], out: Floats) -> LinearMachines:
        n, d = len(self._y), subsets.shape[1]
        room = linear_machines(n, d, self._problem.n_classes)
        subsets = np.ascontiguousarray(subsets, dtype=np.intp)
        linear_scores(self._layout, splits, subsets, self._C, room, out)
        return room

    def scores(self, subsets: _Subset) -> Floats:
        """Return out-of-fold margins (B, L, K)."""
        out = np.empty((len(subsets), self._problem.folds.n_tests, self._problem.n_outputs))
        self._run(subsets, self._splits, out)
        return out

    def fit(self, subsets: Sequence[_Subset], says: Says, code: Floats) -> Voters:
        """Return one voter per subset: linear voters, or kernel voters for pairs of classes."""
        common.refuse_value(says)
        models = []
        for subset in subsets:
            columns = np.asarray(subset, dtype=np.intp)
            room = self._run(columns[None], self._whole, np.empty((1, 0, 0)))
            slope = room.coef[:, :-1] * room.scaling[1]
            intercept = room.coef[:, -1] - (slope * room.scaling[0]).sum(axis=1)
            models.append((columns, slope, intercept))
        if self._problem.n_classes == 2:
            return common.linear_voters(self._problem, models, code, says)
        # A line is an expansion whose support rows are the axes.
        parts = [
            (c, np.zeros(len(c)), np.ones(len(c)), np.eye(len(c)), coef, level, 1.0)
            for c, coef, level in models
        ]
        return common.kernel_voters(self._problem.X.shape[1], parts, code, says, "linear")


class _Machines(_BoundMachines):
    """Machines with a Gaussian kernel on one problem; C is ascending."""

    def __init__(
        self, problem: SearchProblem, C: Floats, gamma: float | str, scale: bool, tol: float
    ) -> None:
        super().__init__(problem, "RBFSVMLearner", scale)
        self._C, self._gamma, self._tol = C, gamma, tol
        n = len(self._y)
        draws = np.random.default_rng(problem.seed).integers
        few = n * (n - 1) // 2 <= _PAIRS
        self._pairs = np.array(np.triu_indices(n, 1)) if few else draws(n, size=(2, _PAIRS))

    def _widths(self, subsets: _Subset) -> Floats:
        """Return gamma of each candidate, (B,); 0 for 'scale', which is each split's own."""
        if self._gamma != "sigest":
            return np.full(len(subsets), 0.0 if self._gamma == "scale" else self._gamma, np.float64)
        found, X = np.ones(len(subsets)), self._problem.X
        for b, columns in enumerate(subsets):
            inverse = self._layout.moments[columns, self._whole[0], 1]
            Z = X[:, columns] * inverse
            square = (np.subtract(*Z[self._pairs]) ** 2).sum(axis=1)
            if square.any():
                ends = np.quantile(square[square > 0], [0.1, 0.9])
                found[b] = (1.0 / np.maximum(ends, 1e-300)).mean()
        return found

    def _run(self, subsets: _Subset, C: Floats, splits: tuple[int, int], out: Floats) -> Machines:
        n, d = len(self._y), subsets.shape[1]
        room = machines(n, d, self._problem.n_classes, len(C))
        subsets = np.ascontiguousarray(subsets, dtype=np.intp)
        pair = room.pair if self._problem.n_classes > 2 else None
        how = (self._widths(subsets), C, self._tol, room, pair)
        rbf_scores(self._layout, splits, subsets, *how, out)
        return room

    def _chosen(self, subsets: _Subset) -> tuple[Floats, Indices]:
        """Return the scores (B, L, K) at the C that is best for each candidate, and its place."""
        n_tests, n_outputs = self._problem.folds.n_tests, self._problem.n_outputs
        scores = np.empty((len(subsets), n_tests, n_outputs))
        place = np.zeros(len(subsets), dtype=np.intp)
        size = max(1, _NUMBERS // max(1, len(self._C) * n_tests * n_outputs))
        truth, weight = self._y[self._layout.test], self._weight[self._layout.test]
        for first in range(0, len(subsets), size):
            block = slice(first, first + size)
            out = np.empty((len(self._C), len(subsets[block]), n_tests, n_outputs))
            self._run(subsets[block], self._C, self._splits, out)
            if len(self._C) > 1:
                predicted = out[..., 0] > 0 if n_outputs == 1 else out.argmax(axis=3)
                wrong = ((predicted != truth) * weight).sum(axis=2)
                place[block] = wrong.argmin(axis=0)  # the first of equals: the least C
            at = place[block]
            scores[block] = out[at, np.arange(len(at))]
        return scores, place

    def scores(self, subsets: _Subset) -> Floats:
        """Return out-of-fold margins (B, L, K)."""
        return self._chosen(subsets)[0]

    def fit(self, subsets: Sequence[_Subset], says: Says, code: Floats) -> Voters:
        """Return one voter per subset, at the C that was best on the folds."""
        common.refuse_value(says)
        parts: list[common.Expansion] = []
        for subset in subsets:
            columns = np.asarray(subset, dtype=np.intp)
            C = self._C
            if len(C) > 1:
                at = self._chosen(columns[None])[1][0]
                C = C[at : at + 1]
            room = self._run(columns[None], C, self._whole, np.empty((1, 1, 0, 0)))
            n = len(self._y)
            dual = room.beta[0, :, :n]
            support = np.flatnonzero((dual != 0).any(axis=0))
            whole = self._whole[0]
            centre, inverse = self._layout.moments[columns, whole, :2].T
            gamma = float((room.scaling[1, 0] / inverse[0]) ** 2) if len(columns) else 1.0
            rows = self._layout.rows[self._layout.ptr[whole] :][support]
            z = (self._problem.X[np.ix_(rows, columns)] - centre) * inverse
            level = room.intercept[0].copy()
            parts.append((columns, centre, inverse, z, dual[:, support], level, gamma))
        return common.kernel_voters(self._problem.X.shape[1], parts, code, says, "rbf")

    def remarks(self, subsets: _Subset) -> dict[str, Array]:
        """Return C (B,) as chosen on the folds, where there was a choice."""
        return {"C": self._C[self._chosen(subsets)[1]]} if len(self._C) > 1 else {}
