"""How complex a CART should be: the table of its prunings, and their cross-validated errors."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.sorted_trees.cart_grow import CHILD, CLASS, COMPLEXITY, MEAN, RISK, Grown
from psephos.runtime.jit import run_blocks
from psephos.trees.cart import CartData, CartSettings, grow_tree
from psephos.trees.cart_descent import run_down

_Floats = NDArray[np.float64]
_SAME = 1e-12  # of the root's risk: complexities that differ by less are one


class Prunings(NamedTuple):
    """The nested prunings of a tree, the root alone first.

    `cp` is the complexity at which each is the best tree, as a share of the root's risk; `n_splits`
    its size; `rel_error` its risk as a share of the root's. `xerror` and `xstd` are the error in
    cross-validation and its standard error, in the same unit; empty if there was none.
    """

    cp: _Floats
    n_splits: NDArray[np.intp]
    rel_error: _Floats
    xerror: _Floats
    xstd: _Floats


def prunings(grown: Grown, alpha: float) -> Prunings:
    """Return the prunings of a tree that was grown to complexity alpha."""
    whole, real = grown.whole, grown.real
    inner = whole[:, CHILD] > 0
    risk = float(real[0, RISK])
    own = np.where(inner, real[:, COMPLEXITY], -np.inf)
    levels = np.unique(real[inner, COMPLEXITY])[::-1]
    levels = levels[levels > alpha]
    apart = np.append(True, levels[:-1] - levels[1:] > _SAME * risk)[: len(levels)]
    limits = np.append(levels[apart], alpha)  # of equals the largest: a limit prunes what it names
    parent = np.full(len(whole), np.inf)
    above = np.flatnonzero(inner)
    for side in (0, 1):
        parent[whole[above, CHILD] + side] = real[above, COMPLEXITY]
    # A node is a leaf of the prunings whose limit is at least its own complexity and below its
    # parent's: a run of rows of the table.
    rows = len(limits) + 1
    first = np.searchsorted(-limits, -parent, side="right")
    last = np.searchsorted(-limits, -own, side="right")
    steps = np.zeros(rows)
    held = first < last
    np.add.at(steps, first[held], real[held, RISK])
    np.add.at(steps, last[held], -real[held, RISK])
    risks = np.cumsum(steps)[:-1]
    n_splits = np.array([int((own > limit).sum()) for limit in limits], dtype=np.intp)
    unit = risk if risk > 0 else 1.0
    none = np.empty(0)
    return Prunings(limits / unit, n_splits, risks / unit, none, none)


def one_se_row(table: Prunings) -> int:
    """Return the smallest pruning within one standard error of the least cross-validated error."""
    best = int(table.xerror.argmin())
    return int(np.flatnonzero(table.xerror <= table.xerror[best] + table.xstd[best])[0])


def _limits(cp: _Floats) -> _Floats:
    """Return complexities that stand for the intervals of the table: their geometric means."""
    return np.concatenate([[10.0 * cp[0]], np.sqrt(cp[:-1] * cp[1:])])


def cross_validate(
    data: CartData,
    settings: CartSettings,
    table: Prunings,
    values: Any,
    folds: NDArray[np.intp],
    n_jobs: int | None,
    risk: float,
) -> Prunings:
    """Return the table with its cross-validated errors.

    For each fold a tree is grown on the other rows, with complexities in proportion to their
    weight; every row left out is run down it once per row of the table.

    `values`: ``values(rows, columns)`` is that part of the table, dense. `folds` (n,): the fold in
    which each row is left out. `risk`: the root's.

    With e_i the loss of row i times rho of its class (or the squared error), W the weight::

        xerror = sum_i w_i e_i / risk
        xstd   = sqrt(sum_i w_i e_i^2 - (sum_i w_i e_i)^2 / W) / risk
    """
    names = np.unique(folds)
    errors = np.zeros((len(folds), len(table.cp)))
    plan = _for_folds(data, settings)

    def one(b: int) -> None:
        out = np.flatnonzero(folds == names[b])
        kept = np.flatnonzero(folds != names[b]).astype(np.int32)
        if len(kept):
            errors[out] = _left_out(data, plan, table, values, kept, out, risk)

    run_blocks(one, len(names), n_jobs)
    weight = data.cart.weight[:, None]
    unit = risk if risk > 0 else 1.0
    total, squares = (weight * errors).sum(axis=0), (weight * errors**2).sum(axis=0)
    spread = np.sqrt(np.maximum(squares - total**2 / weight.sum(), 0.0))
    return table._replace(xerror=total / unit, xstd=spread / unit)


def _for_folds(data: CartData, settings: CartSettings) -> CartSettings:
    """Return the settings without what cross-validation does not read."""
    whole = bool((data.sorted.known == len(data.cart.weight)).all())
    lists = bool(data.sorted.n_codes.any())
    n_surrogates = 0 if whole and not lists else settings.max_surrogates
    return replace(settings, max_competitors=0, max_surrogates=n_surrogates)


def _left_out(
    data: CartData,
    settings: CartSettings,
    table: Prunings,
    values: Any,
    kept: NDArray[np.int32],
    out: NDArray[np.intp],
    risk: float,
) -> _Floats:
    cart = data.cart
    scale = float(cart.weight[kept].sum() / cart.weight.sum()) * risk
    grown = grow_tree(data, settings, kept, float(table.cp[-1]) * scale)
    columns = np.unique(grown.rule_whole[:, 0])
    place = np.zeros(len(data.sorted.known), np.int64)
    place[columns] = np.arange(len(columns))
    limits = _limits(table.cp) * scale
    ends = run_down(grown, values(out, columns), place, settings.use_surrogates, limits)
    if cart.n_classes == 0:
        return (cart.target[out, None] - grown.real[ends, MEAN]) ** 2
    answers = grown.whole[ends, CLASS]
    truth = cart.y[out, None]
    return cart.rho[truth] * cart.loss[truth, answers]
