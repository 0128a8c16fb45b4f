"""A combined ranking: columns that both a forest and a lasso rank high."""

import numpy as np

from psephos._types import Floats
from psephos.models.columns.problem import SelectionProblem
from psephos.models.columns.selectors.importance import importance
from psephos.models.columns.selectors.lars import lars
from psephos.models.linear.ridge import default_alphas, fit_ridge

_AFTER = 4
_FOLDS = 5


def blend(problem: SelectionProblem) -> Floats:
    """Return (p,) sums of 1 / (4 + rank) over the rankings of `importance` and `lars`.

    Of each ranking the first `problem.depth` columns count. For regression a third ranking is
    added, by the absolute coefficients of a ridge regression on normal scores.
    """
    rankings = [importance(problem), lars(problem)]
    if not problem.data.n_classes:
        rankings.append(_ridge(problem))
    return joined(rankings, problem.depth)


def joined(rankings: list[Floats], depth: int) -> Floats:
    """Return sums of 1 / (4 + rank) of (p,) scores, ranks from 0; a score of 0 has no rank."""
    total = np.zeros(len(rankings[0]))
    for score in rankings:
        best = np.argsort(-score, kind="stable")[:depth]
        best = best[score[best] > 0]
        total[best] += 1.0 / (_AFTER + np.arange(len(best)))
    return total


def _ridge(problem: SelectionProblem) -> Floats:
    """Return (p,) absolute coefficients of a ridge regression on normal scores."""
    found = fit_ridge(
        problem.scored, problem.targets[:, 0], 0, problem.weight,
        default_alphas(problem.scored.shape[1]),
        n_folds=_FOLDS, groups=problem.data.groups, seed=problem.context.integer(4),
    )  # fmt: skip
    return problem.by_column(np.abs(found.coef[0]))
