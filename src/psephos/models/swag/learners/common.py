"""What the batched learners share: units, refusals, and their models as voters."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.models.swag.problem import Problem, Says, Subsets
from psephos.vote.voters.kernel import KernelVoters
from psephos.vote.voters.linear import LinearVoters

_Floats = NDArray[np.float64]
NONE = np.empty(0, dtype=np.intp)
#: One kernel machine: columns, centre and factor of each (d,), support rows (m, d), their signed
#: dual coefficients (P, m), intercepts (P,), and gamma.
Expansion = tuple[NDArray[np.intp], _Floats, _Floats, _Floats, _Floats, _Floats, float]


class Scaling:
    """A learner that scales columns by the training rows of each split, if `scale`."""

    scale: bool

    @property
    def units(self) -> str:
        """Return what the units of columns are to the learner."""
        return "free" if self.scale else "own"


def refuse_numbers(learner: str, problem: Problem) -> None:
    """Raise a sentence unless the target is two or more classes."""
    if problem.n_classes < 2:
        kind = "one class only" if problem.n_classes else "numbers"
        raise PsephosError(
            f"{learner} tells two or more classes apart, and this target is {kind}: choose another "
            "learner, such as LeastSquaresLearner or RidgeLearner for numbers."
        )


def refuse_value(says: Says) -> None:
    """Raise a sentence if a classifier is asked for a number."""
    if says == "value":
        raise PsephosError(
            "a classifier has no number to say: it says its 'answer' or a 'probability', not a "
            "'value'."
        )


def by_size(subsets: Sequence[NDArray[np.intp]]) -> Iterator[tuple[int, list[int], Subsets]]:
    """Yield (d, which subsets have d columns, these as a table) for each d."""
    sizes = np.array([len(subset) for subset in subsets])
    for d in np.unique(sizes).tolist():
        which = np.flatnonzero(sizes == d).tolist()
        yield d, which, np.array([subsets[t] for t in which], dtype=np.intp).reshape(len(which), d)


def linear_voters(
    problem: Problem,
    models: Sequence[tuple[NDArray[np.intp], _Floats, _Floats]],
    code: _Floats,
    says: Says,
) -> LinearVoters:
    """Return linear models (columns, coef (K, d), intercept (K,)) as voters that abstain."""
    used = [(coef != 0).any(axis=0) for _, coef, _ in models]
    parts = [columns[read] for (columns, *_), read in zip(models, used, strict=True)]
    union = np.unique(np.concatenate([NONE, *parts]))
    table = np.zeros((len(models), problem.n_outputs, len(union)))
    for t, (_, coef, _) in enumerate(models):
        table[t][:, np.searchsorted(union, parts[t])] = coef[:, used[t]]
    intercept = np.array([level for *_, level in models]).reshape(table.shape[:2])
    code = np.asarray(code, dtype=np.float64)
    return LinearVoters(problem.X.shape[1], union, table, intercept, code, says=says, abstains=True)


def kernel_voters(
    n_features: int, parts: Sequence[Expansion], code: _Floats, says: Says, kernel: str
) -> KernelVoters:
    """Return machines as voters that abstain."""
    none, pairs = np.empty(0), len(code) * (len(code) - 1) // 2
    fields = [list(field) for field in zip(*parts, strict=True)] or [[] for _ in range(7)]
    read, centre, inverse, z, dual, level, gamma = fields
    columns, position = np.unique(np.concatenate([NONE, *read]), return_inverse=True)

    def starts(rows: list[NDArray[Any]]) -> NDArray[np.intp]:
        return np.cumsum([0, *map(len, rows)]).astype(np.intp)

    return KernelVoters(
        n_features, columns, starts(read), position.astype(np.intp),
        np.concatenate([none, *centre]), np.concatenate([none, *inverse]),
        starts(z), np.concatenate([none, *map(np.ravel, z)]),
        np.concatenate([np.empty((pairs, 0)), *dual], axis=1),
        np.array(level).reshape(len(parts), pairs), np.array(gamma, dtype=np.float64),
        np.asarray(code, dtype=np.float64), kernel=kernel, says=says, abstains=True,
    )  # fmt: skip
