"""Warm starts of forests: the trees there are, then those that are grown more."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.vote import TreeVoters

_Floats = NDArray[np.float64]


def with_earlier(before: Any, new: TreeVoters, n_classes: int) -> TreeVoters:
    """Return the trees of a forest, then new ones; answers that name one class are shared."""
    old: TreeVoters = before
    nodes, columns = len(old.feature), np.union1d(old.columns, new.columns).astype(np.intp)
    pure = n_classes if len(old.value) >= n_classes <= len(new.value) else 0
    pure = pure if np.array_equal(old.value[:pure], new.value[:pure]) else 0

    def feature(part: TreeVoters) -> NDArray[np.intp]:
        place = np.append(np.searchsorted(columns, part.columns), -1).astype(np.intp)
        return place[part.feature]

    shift = np.where(new.answer >= pure, len(old.value) - pure, 0)
    before_ptr, new_ptr = _pointers(old), _pointers(new)
    ptr = np.append(before_ptr, before_ptr[-1] + new_ptr[1:])
    inner = new.feature >= 0
    return replace(
        old,
        columns=columns,
        root=np.append(old.root, new.root + nodes),
        feature=np.append(feature(old), feature(new)),
        threshold=np.append(old.threshold, new.threshold),
        missing_left=np.append(old.missing_left, new.missing_left),
        first=np.append(old.first, np.where(inner, new.first + nodes, new.first)),
        second=np.append(old.second, np.where(inner, new.second + nodes, new.second)),
        value=np.concatenate([old.value, new.value[pure:]]),
        category_ptr=ptr if ptr[-1] else np.empty(0, np.intp),
        category_left=np.append(old.category_left, new.category_left),
        answer=np.append(old.answer, new.answer + shift),
    )


def _pointers(part: TreeVoters) -> NDArray[np.intp]:
    """Return where the sets of categories of the nodes begin; all empty where none is asked."""
    return part.category_ptr if len(part.category_ptr) else np.zeros(len(part.feature) + 1, np.intp)


def joined_importance(old: Any, before: _Floats, new: Any, more: _Floats) -> _Floats:
    """Return the mean over all trees that split of the columns' shares of the decrease."""
    sizes = [np.count_nonzero(np.diff(one.usage().indptr)) for one in (old, new)]
    total = sizes[0] * before + sizes[1] * more
    return total / max(float(total.sum()), np.finfo(float).tiny)
