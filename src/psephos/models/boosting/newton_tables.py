"""From a table to the float32 columns that trees grow on, and from trees to voters."""

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos._input import Table
from psephos.trees.newton import NewtonTree
from psephos.vote import TreeVoters
from psephos.vote.part import sparse

__all__ = ["single_values", "tree_voters"]

_Singles = NDArray[np.float32]


def single_values(table: Table) -> _Singles:
    """Return the (p, n) table in float32.

    Raises
    ------
    PsephosError
        If a number is beyond float32.
    """
    n, p = table.values.shape
    out = np.empty((p, n), np.float32)
    with np.errstate(over="ignore"):
        if sparse.issparse(table.values):
            for j in range(p):
                out[j] = table.dense([j])[:, 0]
        else:
            out[:] = table.values.T
    far = np.isinf(out)
    if far.any():
        j, i = np.argwhere(far)[0]
        raise PsephosError(
            f"column {table.schema.words().columns[j]!r} has a number beyond float32's range in "
            f"row {table.rows[i]}: divide the column by a constant."
        )
    return out


def tree_voters(trees: list[tuple[int, NewtonTree]], p: int, k: int) -> TreeVoters:
    """Return grown trees as voters; a tree of output c votes in column c only."""
    flat = [tree.compact() for _, tree in trees]
    sizes = np.array([len(t.feature) for t in flat])
    root = (np.cumsum(sizes) - sizes).astype(np.intp)
    shift = np.repeat(root, sizes)
    column = np.concatenate([t.feature for t in flat])
    read = np.unique(column[column >= 0])
    feature = np.where(column < 0, -1, np.searchsorted(read, column))
    value = np.zeros((len(column), k))
    output = np.repeat([c for c, _ in trees], sizes)
    value[np.arange(len(column)), output] = np.concatenate([t.answer for t in flat])
    inner = column >= 0
    # x < s on float32 is x <= the float32 just below s.
    below = np.nextafter(np.concatenate([t.threshold for t in flat]), np.float32(-np.inf))
    first = np.concatenate([t.first for t in flat]) + shift
    sets = [t.sets.get(i, np.empty(0, np.bool_)) for t in flat for i in range(len(t.feature))]
    coded = any(t.sets for t in flat)
    none = np.empty(0, np.intp)
    return TreeVoters(
        n_features=p,
        columns=read.astype(np.intp),
        root=root,
        feature=feature.astype(np.intp),
        threshold=below.astype(np.float64),
        missing_left=np.concatenate([t.missing_left for t in flat]),
        first=np.where(inner, first, 0).astype(np.intp),
        second=np.where(inner, first + 1, 0).astype(np.intp),
        value=value,
        single=True,
        category_ptr=np.cumsum([0, *map(len, sets)]).astype(np.intp) if coded else none,
        category_left=np.concatenate(sets) if coded else np.empty(0, np.bool_),
    )
