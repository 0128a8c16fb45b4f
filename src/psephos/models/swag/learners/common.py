"""What the batched learners share: units, refusals, and their models as voters.

The sums over folds that a problem's candidates share.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices, NDArray
from psephos.kernels.small_models.moments import FoldSums, describe, sum_rows
from psephos.models.swag.problem import Folds, Says, SearchProblem, Subsets
from psephos.vote.operations.machines import KernelVoters
from psephos.vote.operations.scores import Scores, linear_models

NONE = np.empty(0, dtype=np.intp)
#: One kernel machine: columns, centre and factor of each (d,), support rows (m, d), their signed
#: dual coefficients (P, m), intercepts (P,), and gamma.
Expansion = tuple[Indices, Floats, Floats, Floats, Floats, Floats, float]


class Scaling:
    """A learner that scales columns by the training rows of each split, if `scale`."""

    scale: bool

    @property
    def units(self) -> str:
        """Return what the units of columns are to the learner."""
        return "free" if self.scale else "own"


def refuse_numbers(learner: str, problem: SearchProblem) -> None:
    """Raise a sentence unless the target is two or more classes."""
    if problem.n_classes < 2:
        kind = "one class only" if problem.n_classes else "numbers"
        raise PsephosError(
            f"{learner} tells two or more classes apart, and this target is {kind}: choose another "
            "learner, such as LeastSquaresLearner or RidgeLearner for numbers."
        )


def refuse_value(says: Says) -> None:
    """Raise PsephosError if a classifier is used for regression."""
    if says == "value":
        raise PsephosError(
            "a classifier has no number to say: it says its 'answer' or a 'probability', not a "
            "'value'."
        )


def by_size(subsets: Sequence[Indices]) -> Iterator[tuple[int, list[int], Subsets]]:
    """Yield (d, which subsets have d columns, these as a table) for each d."""
    sizes = np.array([len(subset) for subset in subsets])
    for d in np.unique(sizes).tolist():
        which = np.flatnonzero(sizes == d).tolist()
        yield d, which, np.array([subsets[t] for t in which], dtype=np.intp).reshape(len(which), d)


def linear_voters(
    problem: SearchProblem,
    models: Sequence[tuple[Indices, Floats, Floats]],
    code: Floats,
    says: Says,
) -> Scores:
    """Return linear models (columns, coef (K, d), intercept (K,)) as voters that abstain."""
    used = [(coef != 0).any(axis=0) for _, coef, _ in models]
    parts = [columns[read] for (columns, *_), read in zip(models, used, strict=True)]
    union = np.unique(np.concatenate([NONE, *parts]))
    table = np.zeros((len(models), problem.n_outputs, len(union)))
    for t, (_, coef, _) in enumerate(models):
        table[t][:, np.searchsorted(union, parts[t])] = coef[:, used[t]]
    intercept = np.array([level for *_, level in models]).reshape(table.shape[:2])
    code = np.asarray(code, dtype=np.float64)
    return linear_models(
        problem.X.shape[1], union, table, intercept, code, says=says, abstains=True
    )


def kernel_voters(
    n_features: int, parts: Sequence[Expansion], code: Floats, says: Says, kernel: str
) -> KernelVoters:
    """Return machines as voters that abstain."""
    none, pairs = np.empty(0), len(code) * (len(code) - 1) // 2
    fields = [list(field) for field in zip(*parts, strict=True)] or [[] for _ in range(7)]
    read, centre, inverse, z, dual, level, gamma = fields
    columns, position = np.unique(np.concatenate([NONE, *read]), return_inverse=True)

    def starts(rows: list[Array]) -> Indices:
        return np.cumsum([0, *map(len, rows)]).astype(np.intp)

    return KernelVoters(
        n_features, columns, starts(read), position.astype(np.intp),
        np.concatenate([none, *centre]), np.concatenate([none, *inverse]),
        starts(z), np.concatenate([none, *map(np.ravel, z)]),
        np.concatenate([np.empty((pairs, 0)), *dual], axis=1),
        np.array(level).reshape(len(parts), pairs), np.array(gamma, dtype=np.float64),
        np.asarray(code, dtype=np.float64), kernel=kernel, says=says, abstains=True,
    )  # fmt: skip


_NUMBERS = 2**18  # of a block of candidates


class SharedSums:
    """Means and cross-products of columns on all splits, for candidates of one problem.

    `XT` is (p, n); `groups` (n,) are the classes of the rows, 0 ... C - 1 (all 0 in a regression);
    a row that a split names twice counts twice. `pooled` adds the cross-products of the classes
    up; else the squares of each class are summed, and no products of two columns.
    """

    def __init__(
        self, XT: Floats, groups: Indices, n_groups: int, weight: Floats, folds: Folds, pooled: bool
    ) -> None:
        order = np.argsort(groups, kind="stable").astype(np.intp)
        ends = np.cumsum(np.bincount(groups, minlength=n_groups))
        class_ptr = np.concatenate([[0], ends]).astype(np.intp)
        training = _training(folds, weight)[order]
        count = np.stack([training[a:b].sum(axis=0) for a, b in zip(class_ptr, ends, strict=False)])
        scale, centre, class_centre = describe(XT, order, class_ptr)
        split = np.repeat(np.arange(folds.n_splits), np.diff(folds.test_ptr))
        self.sums = FoldSums(
            XT,
            order,
            class_ptr,
            training,
            count,
            centre,
            scale,
            class_centre,
            folds.test.astype(np.uintp),
            split.astype(np.uintp),
            pooled,
        )

    @property
    def count(self) -> Floats:
        """Return the weight (C, S) of each class in each training part."""
        return self.sums.mass

    def load(self, subsets: Indices, n_rows: int = 0) -> tuple[Floats, Floats]:
        """Return candidates' means (B, d, C, S) and cross-products (B, G, m, S).

        The triangles have room for `n_rows` rows more than the d columns.
        """
        sums, (n_candidates, d) = self.sums, subsets.shape
        n_groups, n_splits = sums.mass.shape
        side = d + n_rows
        entries = side * (side + 1) // 2 if sums.pooled else d
        mean = np.empty((n_candidates, d, n_groups, n_splits))
        pairs = np.empty((n_candidates, 1 if sums.pooled else n_groups, entries, n_splits))
        sum_rows(sums, subsets, np.empty((d, len(sums.order))), mean, pairs)
        return mean, pairs

    def blocks(self, n_candidates: int, n_columns: int) -> list[slice]:
        """Return slices of candidates whose numbers stay near the processor together."""
        n_groups, n_splits = self.sums.mass.shape
        each = (n_columns + 2) ** 2 * n_groups * n_splits + n_groups * len(self.sums.test)
        size = max(1, _NUMBERS // each)
        return [slice(a, a + size) for a in range(0, n_candidates, size)]

    def original(
        self, columns: Sequence[int] | Indices, coef: Floats, constant: Floats
    ) -> tuple[Floats, Floats]:
        """Return coef (R, d) and constant (R,) of scaled columns for columns as they are."""
        slope = coef * self.sums.scale[columns]
        return slope, constant - coef @ self.sums.centre[columns]

    def unscaled(self, columns: Indices, values: Floats) -> Floats:
        """Return values (..., d) of scaled columns in the columns' own units."""
        return (values + self.sums.centre[columns]) / self.sums.scale[columns]

    def scale(self, columns: Indices) -> Floats:
        """Return the powers of two by which columns are multiplied."""
        return self.sums.scale[columns]


def _training(folds: Folds, weight: Floats) -> NDArray[Any]:
    """Return (n, S): the weight of each row in the training part of each split."""
    split = np.repeat(np.arange(folds.n_splits), np.diff(folds.train_ptr))
    times = np.zeros((len(weight), folds.n_splits))
    np.add.at(times, (folds.train, split), 1.0)
    return times * weight[:, None]
