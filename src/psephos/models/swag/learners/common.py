"""What the batched learners share: units, refusals, and linear models as voters."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.models.swag.problem import Problem, Says, Subsets
from psephos.vote.voters.linear import LinearVoters

__all__ = ["NONE", "Scaling", "by_size", "linear_voters", "refuse_numbers", "refuse_value"]

_Floats = NDArray[np.float64]
NONE = np.empty(0, dtype=np.intp)


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
