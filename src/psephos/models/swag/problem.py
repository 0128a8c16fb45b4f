"""The interface between the search and its learners: problem, folds and protocols of learners."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self

import numpy as np

from psephos._types import Array, Floats, Indices, NDArray
from psephos.runtime.jit import frozen
from psephos.vote import Voters

Subsets = Indices  # (B, d), sorted columns of B candidates
Says = Literal["answer", "probability", "value"]


@dataclass(frozen=True)
class Folds:
    """Training and test rows of S splits, one split after the other, for every candidate."""

    train: NDArray[np.int32]
    train_ptr: NDArray[np.int64]  # (S + 1,) start of each split's rows
    test: NDArray[np.int32]
    test_ptr: NDArray[np.int64]

    @classmethod
    def of(cls, splits: Iterable[tuple[Any, Any]]) -> Self:
        """Return the folds of (training rows, test rows) pairs, as from scikit-learn's splitters.

        Rows are sorted within a split, so that sums have a fixed order.
        """
        parts = list(splits)
        return cls(*_joined([a for a, _ in parts]), *_joined([b for _, b in parts]))

    @classmethod
    def whole(cls, n_rows: int) -> Self:
        """Return one split that trains on every row and tests none: the final fit."""
        return cls.of([(np.arange(n_rows), np.empty(0, dtype=np.int32))])

    def of_split(self, s: int) -> tuple[NDArray[np.int32], slice]:
        """Return the training rows of a split, and the slice of its test rows in `test`."""
        train = self.train[self.train_ptr[s] : self.train_ptr[s + 1]]
        return train, slice(self.test_ptr[s], self.test_ptr[s + 1])

    @property
    def n_splits(self) -> int:
        """Return S."""
        return len(self.train_ptr) - 1

    @property
    def n_tests(self) -> int:
        """Return L, the number of test rows over all splits."""
        return len(self.test)


def _joined(parts: Sequence[Array]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    none = np.empty(0, dtype=np.int32)
    ptr = np.cumsum([0, *map(len, parts)]).astype(np.int64)
    return np.concatenate([none, *map(np.sort, parts)]).astype(np.int32), ptr


@dataclass(frozen=True)
class SearchProblem:
    """A training table and the folds on which every candidate is evaluated.

    X is finite: missing values are handled by `Evaluation`, not by learners. A candidate's seed
    depends only on `seed`, its columns and its split, so it has the same errors in any batch. For
    categorical columns, whose values are codes, `n_codes` is the number of categories (0 for
    numeric ones); learners see only numeric columns (`fitting.CodedLearner`).
    """

    X: Floats  # (n, p), Fortran order
    y: NDArray[Any]  # (n,) class codes 0 ... n_classes - 1, or numbers for regression
    n_classes: int  # 0 for regression
    weight: Floats  # (n,) positive weights of rows, in training and in errors
    folds: Folds
    seed: int = 0
    n_codes: Indices | None = None  # (p,)

    @property
    def XT(self) -> Floats:
        """Return the columns (p, n), read-only, for kernels."""
        return frozen(self.X.T, np.float64)

    @property
    def n_outputs(self) -> int:
        """Return K: 1 for two classes and for regression, else the number of classes."""
        return self.n_classes if self.n_classes > 2 else 1


def complete_problem(
    problem: SearchProblem, columns: Indices, present: NDArray[np.bool_]
) -> tuple[SearchProblem, Indices]:
    """Return the problem on some columns and the rows present, and the test rows that it keeps.

    Unusable splits are left out: those without a test row, or with a class missing from the
    training rows (regression: with fewer than two).
    """
    folds, row = problem.folds, np.cumsum(present) - 1
    splits, tested = [], [np.empty(0, dtype=np.intp)]
    for s in range(folds.n_splits):
        train, place = folds.of_split(s)
        test = folds.test[place]
        train, kept = train[present[train]], present[test]
        n_classes = len(np.unique(problem.y[train])) if problem.n_classes else len(train)
        if kept.any() and n_classes >= max(2, problem.n_classes):
            splits.append((row[train], row[test[kept]]))
            tested.append(place.start + np.flatnonzero(kept))
    part = SearchProblem(
        np.asfortranarray(problem.X[np.ix_(present, columns)]),
        problem.y[present],
        problem.n_classes,
        problem.weight[present],
        Folds.of(splits),
        problem.seed,
        None if problem.n_codes is None else problem.n_codes[columns],
    )
    return part, np.concatenate(tested)


def prior_scores(problem: SearchProblem) -> Floats:
    """Return the scores (L, K) of the prior of each split's training rows.

    Two classes: the log-odds of their weights; more: the logarithms of their shares; regression:
    the weighted mean.
    """
    folds = problem.folds
    out = np.empty((folds.n_tests, problem.n_outputs))
    for s in range(folds.n_splits):
        train, test = folds.of_split(s)
        y, weight = problem.y[train], problem.weight[train]
        if not problem.n_classes:
            out[test] = np.average(y, weights=weight)
            continue
        shares = np.log(np.bincount(y, weight, problem.n_classes) / weight.sum())
        out[test] = shares[1] - shares[0] if problem.n_outputs == 1 else shares
    return out


class BoundLearner(Protocol):
    """A learner on one problem. Its methods may be called from several threads at once."""

    def scores(self, subsets: Indices) -> Floats:
        """Return out-of-fold scores of candidates, shape (B, L, K).

        Row l of a candidate has the scores of the model trained on split s for ``folds.test[l]``,
        test_ptr[s] <= l < test_ptr[s + 1]. Two classes: one number, above 0 for the second class
        (log-odds if the model is probabilistic, else its margin). More classes: one number per
        class, of which the greatest is predicted, the first of ties (log-probabilities up to a
        constant, if probabilistic). Regression: the prediction. A candidate's scores do not depend
        on the others.
        """
        ...

    def fit(self, subsets: Sequence[Indices], says: Says, code: Floats) -> Voters:
        """Return one voter per subset (of any sizes), trained on all rows.

        It votes the code, a row of `code` (n_classes, K), of the predicted class ('answer'), the
        sum over k of p_k code_k ('probability'), or the prediction of a regression ('value'). A
        voter reads exactly the columns of its subset and votes 0 if one of them is missing. The
        voter of the empty subset is the training prior.
        """
        ...

    def remarks(self, subsets: Indices) -> dict[str, Array]:
        """Return remarks on these models, fitted on all rows, for users: (B,) by name."""
        return {}


class Learner(Protocol):
    """A learning mechanism and its hyperparameters: a frozen dataclass.

    An optional attribute `units` is explained in `evaluation.powers_of`.
    """

    def bind(self, problem: SearchProblem) -> BoundLearner:
        """Return the learner on a problem, with shared quantities of candidates precomputed."""
        ...
