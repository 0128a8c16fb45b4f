"""Candidates whose columns have gaps: the rows that they can read, and the prior elsewhere."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.models.swag.problem import Folds, Problem

__all__ = ["complete_problem", "groups", "prior_scores", "with_prior"]

_Floats = NDArray[np.float64]
_Rows = NDArray[np.intp]


def groups(
    missing: NDArray[np.bool_], subsets: NDArray[np.intp], which: _Rows, *, apart: bool
) -> Iterator[tuple[_Rows, NDArray[np.bool_]]]:
    """Yield (candidates, present): the candidates of `which` that are complete on the same rows.

    `missing` is (n, p), `subsets` (B, d). With `apart` every candidate is a group of its own.
    """
    absent = np.zeros((len(which), len(missing)), dtype=bool)
    for column in subsets[which].T:
        absent |= missing[:, column].T
    packed = np.packbits(absent, axis=1)
    _, first, group = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    group = group.ravel()
    if apart:
        first, group = np.arange(len(which)), np.arange(len(which))
    for g, i in enumerate(first):
        yield which[group == g], ~absent[i]


def complete_problem(
    problem: Problem, columns: _Rows, present: NDArray[np.bool_]
) -> tuple[Problem, _Rows]:
    """Return the problem on some columns and the rows present, and which test rows it keeps.

    Splits that cannot serve are left out: those without a test row, or whose training rows lack a
    class (numbers: are fewer than two).
    """
    folds, row = problem.folds, np.cumsum(present) - 1
    splits, tested = [], [np.empty(0, dtype=np.intp)]
    for s in range(folds.n_splits):
        train = folds.train[folds.train_ptr[s] : folds.train_ptr[s + 1]]
        test = folds.test[folds.test_ptr[s] : folds.test_ptr[s + 1]]
        train, kept = train[present[train]], present[test]
        n_classes = len(np.unique(problem.y[train])) if problem.n_classes else len(train)
        if kept.any() and n_classes >= max(2, problem.n_classes):
            splits.append((row[train], row[test[kept]]))
            tested.append(folds.test_ptr[s] + np.flatnonzero(kept))
    none = np.empty(0, dtype=np.int32), np.zeros(1, dtype=np.int64)
    part = Problem(
        np.asfortranarray(problem.X[np.ix_(present, columns)]),
        problem.y[present],
        problem.n_classes,
        problem.weight[present],
        Folds.of(splits) if splits else Folds(*none, *none),
        problem.seed,
        None if problem.n_codes is None else problem.n_codes[columns],
    )
    return part, np.concatenate(tested)


def prior_scores(problem: Problem) -> _Floats:
    """Return the scores (L, K) of a model that reads nothing, trained on each split's rows.

    Two classes: the log-odds of their weights; more: the logarithms of their shares; numbers: the
    weighted mean.
    """
    folds = problem.folds
    out = np.empty((folds.n_tests, problem.n_outputs))
    for s in range(folds.n_splits):
        train = folds.train[folds.train_ptr[s] : folds.train_ptr[s + 1]]
        test = slice(folds.test_ptr[s], folds.test_ptr[s + 1])
        y, weight = problem.y[train], problem.weight[train]
        if not problem.n_classes:
            out[test] = np.average(y, weights=weight)
            continue
        shares = np.log(np.bincount(y, weight, problem.n_classes) / weight.sum())
        out[test] = shares[1] - shares[0] if problem.n_outputs == 1 else shares
    return out


def with_prior(scores: _Floats, problem: Problem) -> _Floats:
    """Return scores (B, L, K) with the prior's where one of a row is not finite."""
    if np.isfinite(scores.sum()):
        return scores
    lost: Any = ~np.isfinite(scores).all(axis=2)
    return np.where(lost[:, :, None], prior_scores(problem), scores)
