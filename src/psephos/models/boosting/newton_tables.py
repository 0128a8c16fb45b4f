"""From a table to the columns that trees grow on, and from trees to voters."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.estimator.input import Table
from psephos.runtime.jit import run_blocks
from psephos.trees.bins import BLOCK_CELLS, columns_of
from psephos.trees.newton import NewtonTree
from psephos.vote import TreeVoters

_Singles = NDArray[np.float32]


_LEAST = 1e-30  # far below it float32 has fewer digits
_MANY = 0.05  # of a column's values that become equal to another


def column_values(table: Table, kind: Any = None) -> NDArray[Any]:
    """Return the (p, n) table in a type of floats, without one in its own."""
    n, p = table.values.shape
    out = np.empty((p, n), kind or table.values.dtype)
    width = max(1, BLOCK_CELLS // max(n, 1))
    for first in range(0, p, width):
        span = slice(first, min(first + width, p))
        out[span] = columns_of(table.values, span)
    return out


def warn_of_merged_values(table: Table, values: _Singles, n_jobs: int | None) -> None:
    """Warn of columns of which float32 merges more values than it would of as many random ones.

    Of d values whose binary digits are random, float32 merges some d^2 / 2^24. Twice that and two
    more, or a twentieth of the values, are not by chance.
    """
    p, n = values.shape
    merged, distinct = np.zeros((2, p), np.int64)
    width = max(1, BLOCK_CELLS // n)

    def count(block: int) -> None:
        span = np.arange(block * width, min((block + 1) * width, p))
        part = columns_of(table.values, slice(span[0], span[-1] + 1)).astype(np.float64, copy=False)
        changed = ((values[span] != part) & ~np.isnan(part)).any(axis=1)
        changed[[j in table.n_codes for j in span.tolist()]] = False
        ranked = np.sort(
            part[changed], axis=1
        )  # missing values last: no comparison of theirs holds
        apart, single = ranked[:, 1:] > ranked[:, :-1], ranked.astype(np.float32)
        distinct[span[changed]] = 1 + apart.sum(axis=1)
        merged[span[changed]] = (apart & (single[:, 1:] == single[:, :-1])).sum(axis=1)

    run_blocks(count, -(-p // width), n_jobs)
    chance = distinct.astype(np.float64) ** 2 / 2**24
    found = np.flatnonzero((merged > 2.0 * chance + 2.0) | (merged > _MANY * distinct))
    if len(found):
        names = table.schema.words().columns
        most = ", ".join(f"{names[j]!r} ({merged[j]} of {distinct[j]})" for j in found[:5])
        more = f" and {len(found) - 5} more columns" if len(found) > 5 else ""
        warnings.warn(
            "tree_method='exact' compares values in float32, as XGBoost does, which makes "
            f"different values of a column equal: {most}{more}. Use tree_method='hist' or "
            "'approx', which compare in float64, or multiply or shift the column.",
            UserWarning,
            stacklevel=2,
        )


def exact_values(table: Table) -> NDArray[Any]:
    """Return the (p, n) table in float32; in float64 if a column is beyond the range of float32.

    That is a column with a number that float32 cannot hold, or all of whose numbers but 0 are so
    small that float32 would drop digits of them, or make them 0.
    """
    with np.errstate(over="ignore"):
        single = column_values(table, np.float32)
    size = np.abs(single)
    most = np.fmax.reduce(size, axis=1)
    near = (most >= _LEAST) & (most < np.inf)
    if near.all():
        return single
    far = np.flatnonzero(~near)
    zero = [not np.nan_to_num(columns_of(table.values, slice(j, j + 1))).any() for j in far]
    return single if all(zero) else column_values(table, np.float64)


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
    threshold = np.concatenate([t.threshold for t in flat])
    # x < s is x <= the number just below s, of the type that values are compared in.
    below = np.nextafter(threshold, threshold.dtype.type(-np.inf))
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
        single=threshold.dtype == np.float32,
        category_ptr=np.cumsum([0, *map(len, sets)]).astype(np.intp) if coded else none,
        category_left=np.concatenate(sets) if coded else np.empty(0, np.bool_),
    )
