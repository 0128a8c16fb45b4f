"""The greedy choice of members whose mean is best, with replacement, in bags of the library."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.models.committees.fitting import Data, Task, fit_all
from psephos.models.committees.levels import Levels, fold_plan
from psephos.models.committees.members import mean_vote, voters_of
from psephos.models.committees.meta import chances_of
from psephos.models.committees.naming import checked
from psephos.models.committees.stacking_fit import member_scores
from psephos.vote import Vote

_Floats = NDArray[np.float64]
_Loss = Callable[[_Floats], _Floats]  # (c, n, K) means of candidates -> (c,)
_LEAST = 1e-9  # a probability below counts as that
_TIED = 1e-12  # shares, and losses, that differ by less are equal
_FEW = 10  # candidates that are in every bag: a bag of two has no good one to choose
_BAG = 1  # the id of the draws of bags, beside that of folds


def chosen(model: Any, data: Data, scoring: str) -> tuple[Vote, dict[str, Any]]:
    """Return the vote of the members chosen, fitted on all rows, and further attributes."""
    members = checked(model, model._members())
    levels = Levels(data, fold_plan(data, model.cv), passthrough=False, all_before=False)
    levels.add(members)
    answers = levels.out_of_fold(0)
    scores = member_scores(data, answers)
    votes = answers.reshape(len(data.y), len(members), -1)
    unit = 1.0 if data.n_classes else 2.0 ** np.frexp(np.abs(data.y).max())[1]
    said = chances_of(votes, data.n_classes) if data.n_classes else votes / unit
    counts = np.zeros(len(members), dtype=np.intp)
    size = max(model.n_init, _FEW, round(model.bag_fraction * len(members)))
    for bag in range(model.n_bags if size < len(members) else 1):
        draw = data.context.generator(0, _BAG, bag)
        inside = np.sort(draw.permutation(len(members))[:size])
        loss = _loss(data if data.n_classes else replace(data, y=data.y / unit), scoring)
        counts[inside] += greedy_counts(said[:, inside], loss, model.n_steps, model.n_init)
    kept = np.flatnonzero(counts)
    tasks = [Task(members[t][1], (1, t)) for t in kept.tolist()]
    names = [members[t][0] for t in kept.tolist()]
    voters = voters_of(fit_all(data, tasks), data, names=names)
    vote = mean_vote(voters, data.target, counts[kept].astype(np.float64))
    return vote, {
        "member_names_": tuple(name for name, _ in members),
        "counts_": counts,
        "member_scores_": scores,
    }


def _loss(data: Data, scoring: str) -> _Loss:
    """Return the loss of means (c, n, K) of c candidates, by weight; of numbers 1 - R^2."""
    y = data.y
    share = np.full(len(y), 1.0 / len(y)) if data.weight is None else data.weight
    share = share / share.sum()
    rows = np.arange(len(y))
    spread = 1.0 if data.n_classes else float(share @ (y - share @ y) ** 2) or 1.0

    def squares(means: _Floats) -> _Floats:
        return ((means[:, :, 0] - y) ** 2) @ share / spread

    def errors(means: _Floats) -> _Floats:
        near = means >= means.max(axis=2, keepdims=True) - _TIED  # an answer of equals: the first
        wrong = near.argmax(axis=2) != y
        return wrong.sum(axis=1) / len(y) if data.weight is None else wrong @ share

    def logs(means: _Floats) -> _Floats:
        return -(np.log(np.maximum(means[:, rows, y], _LEAST)) @ share)

    return {"squared_error": squares, "accuracy": errors, "log_loss": logs}[scoring]


def greedy_counts(said: _Floats, loss: _Loss, n_steps: int, n_init: int) -> NDArray[np.intp]:
    """Return how often each of M members is chosen, (M,).

    Parameters
    ----------
    said : (n, M, K); probabilities of classes, or numbers
    n_steps, n_init : members added one by one, and those to begin with. Of equals the first is
        taken; of means that are equally good the smallest. Losses that differ by rounding are
        equal.
    """
    each = said.transpose(1, 0, 2)
    alone, picks = loss(each), list[int]()
    for _ in range(min(n_init, len(alone))):
        picks.append(_first_of_least(alone))
        alone[picks[-1]] = np.inf
    total = each[picks].sum(axis=0) if picks else np.zeros(each.shape[1:])
    best, kept = (float(loss(total[None] / len(picks))[0]), len(picks)) if picks else (np.inf, 0)
    for _ in range(n_steps):
        losses = loss((total + each) / (len(picks) + 1))
        t = _first_of_least(losses)
        picks.append(t)
        total = total + each[t]
        if losses[t] < best - _slack(losses[t]):
            best, kept = float(losses[t]), len(picks)
    return np.bincount(picks[:kept], minlength=len(each))


def _first_of_least(losses: _Floats) -> int:
    least = losses.min()
    return int((losses <= least + _slack(least)).argmax())


def _slack(loss: float) -> float:
    """Return by how much losses differ that are equal but for rounding."""
    return _TIED * (1.0 + loss)
