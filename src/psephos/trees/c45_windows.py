"""C4.5's windows: trees grown on some of the rows, to which those they get wrong are added."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.sorted_trees.c45_grow import Nodes
from psephos.kernels.sorted_trees.c45_prune import Limit, added_errors, prune, reached, recount
from psephos.trees.c45 import C45Options, Training, as_tree, grown
from psephos.trees.c45_soft import narrowed, wrong_answers
from psephos.trees.tree import Tree

_Floats = NDArray[np.float64]
_Flags = NDArray[np.bool_]
_ROUNDING = 1e-9  # of the whole weight: errors that differ by less are equal


def grow_windowed(
    values: _Floats,
    y: NDArray[np.intp],
    weight: _Floats,
    n_classes: int,
    n_codes: Mapping[int, int],
    options: C45Options,
    trials: Iterable[np.random.Generator],
    size: int | None = None,
    increment: int | None = None,
    found: Collection[int] = (),
) -> Tree:
    """Return the best of several trees, each grown on a window of the training table.

    A trial draws its first window (`first_window`), grows a tree on it, and adds rows outside
    that the tree gets wrong, drawn at random: as many as `increment`, or half of them if that is
    more. It goes on until no row outside is wrong, or a tree is wrong on as much weight of the
    whole table as one before it; the best of its trees then counts the rows of the whole table,
    and is pruned on them. Of the trials that tree is returned whose pessimistic errors, summed
    over its leaves, are least; of equal ones the first.

    Parameters
    ----------
    values, y, weight, n_classes, n_codes, options, found : as for `psephos.trees.c45.grow_c45`.
        Thresholds are values of the whole table, and so is the number of rows that the number of a
        column's categories is compared with.
    trials : one for each trial; at least one
    size : rows of the first window; None: the greater of n / 5 and 2 sqrt(n)
    increment : None: a fifth of the first window, at least 1
    """
    data = Training.of(values, y, weight, n_classes, n_codes, options, found)
    n, limit = len(data.y), options.limit()
    size = min(n, max(n // 5, int(2.0 * np.sqrt(n))) if size is None else size)
    increment = max(size // 5, 1) if increment is None else increment
    best, least = None, np.inf
    for generator in trials:
        nodes = _trial(values, data, options, size, increment, generator)
        if options.pruning:
            prune(data.X, data.y, data.weight, nodes, limit, options.subtree_raising)
        errors = _estimate(nodes, limit)
        if best is None or errors < least - _ROUNDING * data.total:
            best, least = nodes, errors
    assert best is not None
    return as_tree(best, data, options)


def first_window(y: NDArray[Any], size: int, generator: np.random.Generator) -> NDArray[np.intp]:
    """Return `size` rows, sorted, whose classes are as evenly many as they can be.

    Rows are shuffled; each class in turn gives its next row, in the order in which the classes'
    rows of that turn were shuffled.
    """
    shuffled = generator.permutation(len(y))
    by_class = np.argsort(y[shuffled], kind="stable")
    first = np.searchsorted(y[shuffled][by_class], y[shuffled])
    turn = np.empty(len(y), np.intp)
    turn[by_class] = np.arange(len(y))
    taken = np.argsort(turn - first, kind="stable")[:size]
    return np.sort(shuffled[taken])


def _trial(
    values: _Floats,
    data: Training,
    options: C45Options,
    size: int,
    increment: int,
    generator: np.random.Generator,
) -> Nodes:
    """Return the nodes of the best tree of a trial; they count the rows of the whole table."""
    inside = np.zeros(len(data.y), np.bool_)
    inside[first_window(data.y, size, generator)] = True
    nodes, least, whole = _of_window(data, inside, options), np.inf, inside.all()
    best, slack = nodes, _ROUNDING * data.total
    while True:
        wrong = wrong_answers(*narrowed(as_tree(nodes, data, options), values), data.y)[:, 0]
        errors = float(data.weight[wrong].sum())
        if errors >= least - slack:
            break
        best, least, whole = nodes, errors, inside.all()
        outside = np.flatnonzero(wrong & ~inside)
        if len(outside) == 0:
            break
        number = max(increment, (len(outside) + 1) // 2)
        inside[generator.permutation(outside)[:number]] = True
        nodes = _of_window(data, inside, options)
    if not whole:
        recount(data.X, data.y, data.weight, best, options.limit())
    return best


def _of_window(data: Training, inside: _Flags, options: C45Options) -> Nodes:
    """Return the nodes of the tree of some rows."""
    part = data if inside.all() else data.of_rows(np.flatnonzero(inside))
    return grown(part, options)


def _estimate(nodes: Nodes, limit: Limit) -> float:
    """Return the pessimistic errors of a tree, summed over its leaves."""
    used, _ = reached(nodes)
    counts = nodes.counts[used[nodes.n_children[used] == 0]]
    total = counts.sum(axis=1)
    errors = total - counts.max(axis=1)
    return sum(
        e + added_errors(n, e, limit)
        for n, e in zip(total.tolist(), errors.tolist(), strict=True)
        if n > 0.0
    )
