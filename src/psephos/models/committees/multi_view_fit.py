"""The fit of a multi-view vote: members on rows that have their view, weights, the prior."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags

from psephos._errors import PsephosError
from psephos.models.committees.fitting import Data, Task, fit_all
from psephos.models.committees.levels import fold_plan, side_by_side
from psephos.models.committees.members import mean_vote, one_voter, voters_of
from psephos.models.committees.meta import pool_weights
from psephos.models.committees.naming import check_kind, is_member, weights_of
from psephos.vote import Available, Readout, Vote, Voters
from psephos.vote.voters.joined import join
from psephos.vote.voters.stumps import prior_voter

_Floats = NDArray[np.float64]
_Rows = NDArray[np.intp]
_Views = list[tuple[str, _Rows]]


def fit_views(
    model: Any, views: _Views, members: list[Any], data: Data
) -> tuple[Vote, tuple[str, ...]]:
    """Return the vote of a member for each view with weight, and the names of these views."""
    given = model.weights if model.fusion == "late" else None
    alpha = weights_of(given, [name for name, _ in views], "views")
    views = [view for view, weight in zip(views, alpha, strict=True) if weight > 0]
    members = [one for one, weight in zip(members, alpha, strict=True) if weight > 0]
    for (name, _), one in zip(views, members, strict=True):
        if not is_member(one):
            raise PsephosError(
                f"view {name!r}: its estimator is {one!r}; give an estimator, not its class."
            )
        check_kind(model, one, f"the estimator of view {name!r}")
    partly = np.array([bool(get_tags(one).input_tags.allow_nan) for one in members])
    here = _here(views, partly, data.X)
    for (name, _), rows in zip(views, here.T, strict=True):
        if not rows.any():
            raise PsephosError(
                f"view {name!r}: no row has it, so that nothing can be fitted. A member that takes "
                "missing values needs one value a row, another needs all."
            )
    fitted = fit_all(data, _tasks(members, views, here, np.ones(len(data.y), dtype=bool), data.y))
    voters = _voters(fitted, views, partly, data)
    stacked = model.fusion == "stacked"
    alpha = _stacked(model.cv, members, views, partly, here, data) if stacked else alpha[alpha > 0]
    return _vote(voters, alpha, partly, data), tuple(name for name, _ in views)


def _here(views: _Views, partly: NDArray[np.bool_], X: _Floats) -> NDArray[np.bool_]:
    """Return (n, views): which rows have a view."""
    known = [~np.isnan(X[:, own]) for _, own in views]
    return np.column_stack(
        [k.any(axis=1) if some else k.all(axis=1) for k, some in zip(known, partly, strict=True)]
    )


def _tasks(
    members: list[Any],
    views: _Views,
    here: NDArray[np.bool_],
    rows: NDArray[np.bool_],
    y: NDArray[np.intp],
) -> list[Task]:
    """Return what is to be fitted on `rows`: each member on those that have its view."""
    _check_classes(views, here & rows[:, None], y)
    return [
        Task(one, (1, t), np.flatnonzero(here[:, t] & rows), own)
        for t, (one, (_, own)) in enumerate(zip(members, views, strict=True))
    ]


def _check_classes(views: _Views, here: NDArray[np.bool_], y: NDArray[np.intp]) -> None:
    """Raise PsephosError if all rows that have a view are of one class."""
    for (name, _), rows in zip(views, here.T, strict=True):
        if len(np.unique(y[rows])) < 2:
            raise PsephosError(
                f"view {name!r}: the {int(rows.sum())} rows that have it, and that its member "
                "would be fitted on, are of fewer than two classes: leave the view out (or, in "
                "stacked fusion, set a smaller cv)."
            )


def _voters(fitted: list[Any], views: _Views, partly: NDArray[np.bool_], data: Data) -> Voters:
    """Return the members as voters; one that takes no missing values votes 0 where one is."""
    voters = voters_of(fitted, data, [own for _, own in views], names=[name for name, _ in views])
    parts: list[Voters] = []
    for t, (name, _) in enumerate(views):
        alone = voters.take(np.array([t]))
        if not partly[t]:
            alone = one_voter(mean_vote(alone, data.target), "probability", name, abstains=True)
        parts.append(alone)
    return side_by_side(parts)


def _stacked(
    cv: Any,
    members: list[Any],
    views: _Views,
    partly: NDArray[np.bool_],
    here: NDArray[np.bool_],
    data: Data,
) -> _Floats:
    """Return the weights of least log-loss on rows out of fold, where views are there."""
    fold = fold_plan(data, cv)
    votes = np.zeros((len(data.y), len(views), data.target.n_outputs))
    for f in range(int(fold.max()) + 1):
        test = np.flatnonzero(fold == f)
        fitted = fit_all(data, _tasks(members, views, here, fold != f, data.y))
        votes[test] = _voters(fitted, views, partly, data).votes(data.X[test])
    some = here.any(axis=1)
    weight = None if data.weight is None else data.weight[some]
    alpha = pool_weights(votes[some], data.y[some], weight, data.n_classes, here[some])
    return np.maximum(alpha, 1e-6)  # a view without weight still answers where it is alone


def _vote(voters: Any, alpha: _Floats, partly: NDArray[np.bool_], data: Data) -> Vote:
    share = np.ones(len(data.y)) if data.weight is None else data.weight
    prior = prior_voter(data.y, share, data.target, voters.n_features)
    every = side_by_side([voters, join([(np.zeros(1, dtype=np.intp), prior)], ["prior"])])
    usage = every.usage()
    columns = np.unique(usage.indices).astype(np.intp)
    weights = Available(
        voters.n_features,
        columns,
        np.asarray(usage[:, columns].toarray(), dtype=bool),
        np.append(alpha, 1.0),
        np.append(np.zeros(len(alpha), dtype=np.intp), 1),
        partly=np.append(partly, False),
    )
    return Vote(every, weights, Readout("normalised", "share"), data.target)
