"""The members of a bag as voters, and those of an earlier fit before them."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.models.committees.fitting import Data, Task, fit_all
from psephos.models.committees.members import voters_of
from psephos.vote import ConstantVoters, Voters
from psephos.vote.voters.foreign import TREES, tree_voters
from psephos.vote.voters.joined import join
from psephos.vote.voters.nested import NestedVoters, nested

_Rows = NDArray[np.intp]


def bag_voters(data: Data, tasks: list[Task]) -> Voters:
    """Return the members as voters; one whose sample has one class always says that."""
    seen = [data.y if task.rows is None else data.y[task.rows] for task in tasks]
    alone = np.array([bool(data.n_classes) and bool((y == y[0]).all()) for y in seen])
    apt = [task for task, one in zip(tasks, alone, strict=True) if not one]
    if not alone.any():
        return _voters(fit_all(data, apt), apt, data)
    said = data.target.code[[y[0] for y, one in zip(seen, alone, strict=True) if one]]
    constant = ConstantVoters(data.X.shape[1], said, "the one class of its sample")
    parts: list[tuple[_Rows, Voters]] = [(np.flatnonzero(alone), constant)]
    if apt:
        parts.append((np.flatnonzero(~alone), _voters(fit_all(data, apt), apt, data)))
    return join(parts)


def _voters(models: list[Any], tasks: list[Task], data: Data) -> Voters:
    """Return fitted members as voters: of one kind as one part, where that is known."""
    p, code = data.X.shape[1], data.target.code if data.n_classes else np.zeros((1, 1))
    subsets = [task.columns for task in tasks]
    whole = [np.arange(p) if own is None else own for own in subsets]
    own = nested(models, whole, p, data.says, code, abstains=False)
    if own is not None:
        return own
    kind = type(models[0])
    trees = kind.__module__.startswith("sklearn.") and kind.__name__ in TREES
    if trees and all(subset is None for subset in subsets):
        return tree_voters(models, p, code, says="probability")
    return voters_of(models, data, subsets)


def with_earlier(before: Any, new: Any) -> Voters:
    """Return the voters of a warm start: those there were, then the new."""
    if new is None:
        return before
    if not isinstance(before, NestedVoters) or not isinstance(new, NestedVoters):
        first = np.arange(before.n_voters)
        return join([(first, before), (before.n_voters + np.arange(new.n_voters), new)])
    columns = np.union1d(before.columns, new.columns).astype(np.intp)
    places = [
        np.searchsorted(columns, part.columns[own]).astype(np.intp)
        for part in (before, new)
        for own in part.places
    ]
    return replace(
        before,
        columns=columns,
        places=tuple(places),
        inner=before.inner + new.inner,
        levels=before.levels + new.levels,
    )
