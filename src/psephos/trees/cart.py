"""CART: growing trees with surrogates and complexities, and the table of their prunings."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from psephos._types import Floats, NDArray
from psephos.kernels.sorted_trees import cart_grow, cart_search
from psephos.trees.bins import BLOCK_CELLS, columns_of

_Whole = NDArray[np.int64]

_CRITERIA = {
    "gini": cart_search.GINI,
    "entropy": cart_search.ENTROPY,
    "log_loss": cart_search.ENTROPY,
    "twoing": cart_search.TWOING,
}
_MAX_LEVELS = 12  # levels of a category in a node up to which every subset is tried
_ROUND = (4.0 * np.finfo(np.float64).eps) ** 2


@dataclass(frozen=True)
class CartSettings:
    """Settings of growing, named as the estimator's parameters.

    `min_samples_leaf` is a number of rows; `use_surrogates` is 2 for 'majority', 1 for 'only' and 0
    for 'none'; `of_known`: whether agreement is counted only among rows with the surrogate's value.
    """

    cp: float = 0.01
    min_samples_split: int = 20
    min_samples_leaf: int = 7
    max_depth: int = 30
    max_competitors: int = 4
    max_surrogates: int = 5
    of_known: bool = False
    use_surrogates: int = 2
    criterion: str = "gini"


class CartProblem(NamedTuple):
    """The training labels, with weights, numbers of copies of each row, priors, losses and costs.

    `n_classes` is 0 for numbers. `priors` (K,), `loss` (K, K; row: true class, column: predicted
    class), and the columns' `costs` (p,) are None for the defaults.
    """

    n_classes: int
    y: NDArray[Any]
    weight: Floats
    copies: _Whole
    priors: Floats | None = None
    loss: Floats | None = None
    costs: Floats | None = None


class Presorted(NamedTuple):
    """Sorted entries of the columns (``kernels.sorted_trees.cart_search``), and distinct values."""

    keys: _Whole
    known: _Whole
    start: _Whole
    values: Floats
    n_codes: _Whole


class CartData(NamedTuple):
    """All data for growing.

    `centre` was subtracted from numeric labels; `numbers`: their distinct values, sorted.
    """

    cart: cart_search.Cart
    sorted: Presorted
    centre: float
    numbers: Floats


def presort(table: Any, n_codes: Mapping[int, int]) -> Presorted:
    """Sort every column once, block by block; sparse blocks are made dense."""
    n, p = table.shape
    keys, known, sizes = np.empty((p, n), np.int64), np.empty(p, np.int64), np.empty(p, np.int64)
    distinct: list[Floats] = [np.empty(0)]
    step = max(1, BLOCK_CELLS // max(n, 1))
    for first in range(0, p, step):
        span = slice(first, min(first + step, p))
        block = columns_of(table, span).astype(np.float64, copy=False)
        keys[span], known[span], sizes[span], values = cart_search.sorted_columns(block)
        distinct.append(values)
    start = np.concatenate([[0], np.cumsum(sizes)])
    codes = np.array([n_codes.get(j, 0) for j in range(p)], dtype=np.int64)
    return Presorted(keys, known, start, np.concatenate(distinct), codes)


def prepare(problem: CartProblem, presorted: Presorted) -> CartData:
    """Return the data for growing.

    With f_k the share of class k in the weight, pi_k its prior (default: f_k) and L the loss, a
    row of class k counts rho_k = pi_k / f_k times in risks and shares, and alpha_k =
    (pi_k sum_j L_kj / sum_ij pi_i L_ij) / f_k times in the improvement of splits.
    """
    k, weight = problem.n_classes, problem.weight
    zero_one = 1.0 - np.eye(max(k, 1))
    loss = zero_one if problem.loss is None else problem.loss
    rho = alpha = np.ones(max(k, 1))
    target, centre = np.zeros(0), 0.0
    if k == 0:
        centre = float(np.average(problem.y, weights=weight))
        target = np.asarray(problem.y, dtype=np.float64) - centre
    elif problem.priors is not None or problem.loss is not None:
        held = np.bincount(problem.y, weight, minlength=k)
        share = held / weight.sum()
        held = np.where(held > 0, held, np.inf)  # a class without rows counts nothing
        prior = share if problem.priors is None else problem.priors
        rho = prior / (held / weight.sum())
        cost = prior * loss.sum(axis=1)
        alpha = cost / cost.sum() / (held * (1.0 / weight.sum()))  # rounded as in rpart
    cart = cart_search.Cart(
        n_classes=k,
        y=np.asarray(problem.y if k else np.zeros(0), dtype=np.int32),
        target=target,
        weight=weight,
        copies=problem.copies,
        alpha=alpha,
        rho=rho,
        loss=np.ascontiguousarray(loss, dtype=np.float64),
        zero_one=bool((loss == zero_one).all()),
        start=presorted.start,
        values=presorted.values,
        costs=np.ones(len(presorted.known)) if problem.costs is None else problem.costs,
    )
    numbers = np.zeros(0) if k else np.unique(np.asarray(problem.y, dtype=np.float64))
    return CartData(cart, presorted, centre, numbers)


def root_risk(data: CartData, rows: NDArray[np.int32]) -> float:
    """Return the risk of one prediction for all these rows."""
    counts = np.zeros(max(data.cart.n_classes, 1))
    return float(cart_grow.root_of(data.cart, rows, counts)[3])


def grow_tree(
    data: CartData,
    settings: CartSettings,
    rows: NDArray[np.int32],
    alpha: float,
    *,
    reuse: bool = False,
) -> cart_grow.CartNodes:
    """Grow a tree on some rows.

    `rows` int32; `alpha`: least risk that a split must save. `reuse`: whether a tree of all rows
    may reorder the sorted entries in place, as they are not needed again.
    """
    cart, presorted = data.cart, data.sorted
    keys, known = presorted.keys, presorted.known
    if len(rows) == len(cart.weight):
        keys = keys if reuse else keys.copy()
    else:
        kept = np.zeros(len(cart.weight), np.bool_)
        kept[rows] = True
        keys, known = np.empty((keys.shape[0], len(rows) + 1), np.int64), np.empty_like(known)
        cart_search.keep_rows(presorted.keys, presorted.known, kept, keys, known)
    largest = float(np.abs(cart.target).max(initial=abs(data.centre)))
    n_levels = np.minimum(np.diff(presorted.start), len(rows))
    most = int(n_levels[presorted.n_codes > 0].max(initial=0))
    rules = cart_search.Rules(
        settings.min_samples_split,
        settings.min_samples_leaf,
        settings.max_depth,
        settings.max_competitors,
        settings.max_surrogates,
        settings.of_known,
        settings.use_surrogates,
        _MAX_LEVELS,
        0.0 if cart.n_classes else _ROUND * largest**2,
    )
    criterion = _CRITERIA.get(settings.criterion)  # None for numbers
    parts = (
        criterion if cart.n_classes else None,
        None if cart.n_classes else cart.target,
        cart,
        presorted.n_codes if most > 0 else None,
    )
    return cart_grow.grow(*parts, rules, alpha, keys, known, rows.copy(), most)


_SAME = 1e-12  # complexities that differ by less, as a share of the root's risk, are equal


class Prunings(NamedTuple):
    """The nested prunings of a tree, the root alone first.

    `cp` is the complexity at which each is the best tree, as a share of the root's risk; `n_splits`
    its number of splits; `rel_error` its risk as a share of the root's. `xerror` and `xstd` are the
    cross-validated error and its standard error in the same unit; empty without cross-validation.
    """

    cp: Floats
    n_splits: NDArray[np.intp]
    rel_error: Floats
    xerror: Floats
    xstd: Floats


def prunings(grown: cart_grow.CartNodes, alpha: float) -> Prunings:
    """Return the prunings of a tree that was grown to complexity alpha."""
    whole, real = grown.whole, grown.real
    inner = whole[:, cart_grow.CHILD] > 0
    risk = float(real[0, cart_grow.RISK])
    own = np.where(inner, real[:, cart_grow.COMPLEXITY], -np.inf)
    levels = np.unique(real[inner, cart_grow.COMPLEXITY])[::-1]
    levels = levels[levels > alpha]
    apart = np.append(True, levels[:-1] - levels[1:] > _SAME * risk)[: len(levels)]
    limits = np.append(levels[apart], alpha)  # the largest of equals: a limit prunes its own nodes
    parent = np.full(len(whole), np.inf)
    above = np.flatnonzero(inner)
    for side in (0, 1):
        parent[whole[above, cart_grow.CHILD] + side] = real[above, cart_grow.COMPLEXITY]
    # A node is a leaf of the prunings whose limit is at least its own complexity and below its
    # parent's: a run of rows of the table.
    rows = len(limits) + 1
    first = np.searchsorted(-limits, -parent, side="right")
    last = np.searchsorted(-limits, -own, side="right")
    steps = np.zeros(rows)
    held = first < last
    np.add.at(steps, first[held], real[held, cart_grow.RISK])
    np.add.at(steps, last[held], -real[held, cart_grow.RISK])
    risks = np.cumsum(steps)[:-1]
    n_splits = np.array([int((own > limit).sum()) for limit in limits], dtype=np.intp)
    unit = risk if risk > 0 else 1.0
    none = np.empty(0)
    return Prunings(limits / unit, n_splits, risks / unit, none, none)


def one_se_row(table: Prunings) -> int:
    """Return the smallest pruning within one standard error of the least cross-validated error."""
    best = int(table.xerror.argmin())
    return int(np.flatnonzero(table.xerror <= table.xerror[best] + table.xstd[best])[0])
