"""CART: a table and its labels in, a grown tree with its rules, surrogates and complexities out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.kernels.sorted_trees.cart_grow import Grown, grow, root_of
from psephos.kernels.sorted_trees.cart_layout import (
    Cart,
    Picks,
    Rules,
    keep_rows,
    sorted_columns,
)
from psephos.kernels.sorted_trees.cart_worth import ENTROPY, GINI, GINI_SHARES, TWOING
from psephos.trees.best_first import best_first
from psephos.trees.bins import BLOCK_CELLS, columns_of

_Floats = NDArray[np.float64]
_Whole = NDArray[np.int64]

_CRITERIA = {"gini": GINI, "entropy": ENTROPY, "log_loss": ENTROPY, "twoing": TWOING}
_MAX_LEVELS = 12  # of a category in a node, beyond which not every subset is tried
_ROUND = (4.0 * np.finfo(np.float64).eps) ** 2


@dataclass(frozen=True)
class CartSettings:
    """What a tree may be; the names of the estimator's parameters.

    `min_samples_leaf` is a number here; `use_surrogates` is 2 for 'majority', 1 for 'only' and 0
    for 'none'; `of_known`: agreement is counted among the rows that have the surrogate's column.
    `max_features`: columns drawn at each node, from `seed`; None: all are looked at.
    """

    cp: float = 0.01
    min_samples_split: int = 20
    min_samples_leaf: int = 7
    max_depth: int = 30
    max_leaf_nodes: int | None = None
    max_competitors: int = 4
    max_surrogates: int = 5
    of_known: bool = False
    use_surrogates: int = 2
    criterion: str = "gini"
    compat: bool = False
    max_features: int | None = None
    seed: int = 0


class Problem(NamedTuple):
    """What is to be learned: labels, weights, how many rows each row counts as, costs.

    `n_classes` is 0 for numbers. `priors` (K,), `loss` (K, K) with rows true and columns
    answered, and the columns' `costs` (p,) are None for the defaults.
    """

    n_classes: int
    y: NDArray[Any]
    weight: _Floats
    copies: _Whole
    priors: _Floats | None = None
    loss: _Floats | None = None
    costs: _Floats | None = None


class Presorted(NamedTuple):
    """Sorted entries of the columns (``kernels.sorted_trees.cart_layout``), and distinct values."""

    keys: _Whole
    known: _Whole
    start: _Whole
    values: _Floats
    n_codes: _Whole


class CartData(NamedTuple):
    """All that growing reads.

    `centre` is what was taken off the numbers to be learned; `numbers`: those there are, sorted.
    """

    cart: Cart
    sorted: Presorted
    centre: float
    numbers: _Floats


def presort(table: Any, n_codes: Mapping[int, int]) -> Presorted:
    """Sort every column once, a block at a time; sparse ones are written out for that."""
    n, p = table.shape
    keys, known, sizes = np.empty((p, n), np.int64), np.empty(p, np.int64), np.empty(p, np.int64)
    distinct: list[_Floats] = [np.empty(0)]
    step = max(1, BLOCK_CELLS // max(n, 1))
    for first in range(0, p, step):
        span = slice(first, min(first + step, p))
        block = columns_of(table, span).astype(np.float64, copy=False)
        keys[span], known[span], sizes[span], values = sorted_columns(block)
        distinct.append(values)
    start = np.concatenate([[0], np.cumsum(sizes)])
    codes = np.array([n_codes.get(j, 0) for j in range(p)], dtype=np.int64)
    return Presorted(keys, known, start, np.concatenate(distinct), codes)


def prepare(problem: Problem, presorted: Presorted, compat: bool = False) -> CartData:
    """Return what growing reads.

    With f_k the share of class k in the weight, pi_k its prior (default: f_k) and L the loss, a
    row of class k counts rho_k = pi_k / f_k times in risks and shares and alpha_k =
    (pi_k sum_j L_kj / sum_ij pi_i L_ij) / f_k times in the worth of splits.
    """
    k, weight = problem.n_classes, problem.weight
    zero_one = 1.0 - np.eye(max(k, 1))
    loss = zero_one if problem.loss is None else problem.loss
    rho = alpha = np.ones(max(k, 1))
    target, centre, charge = np.zeros(0), 0.0, weight
    if k == 0:
        centre = float(np.average(problem.y, weights=weight))
        target = np.asarray(problem.y, dtype=np.float64) - centre
    elif problem.priors is not None or problem.loss is not None or compat:
        held = np.bincount(problem.y, weight, minlength=k)
        share = held / weight.sum()
        held = np.where(held > 0, held, np.inf)  # a class without rows counts nothing
        prior = share if problem.priors is None else problem.priors
        rho = prior / (held / weight.sum())
        cost = prior * loss.sum(axis=1)
        alpha = cost / cost.sum() / (held * (1.0 / weight.sum()))  # rounds as rpart's
    if compat and k:
        charge, alpha = weight * alpha[problem.y], np.ones(k)
    unit = bool((weight == 1.0).all() and (problem.copies == 1).all())
    cart = Cart(
        n_classes=k,
        y=np.asarray(problem.y if k else np.zeros(0), dtype=np.int32),
        target=target,
        weight=weight,
        charge=charge,
        copies=problem.copies,
        unit=unit,
        plain=unit and bool((charge == 1.0).all() and (alpha == 1.0).all()),
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
    """Return the risk of answering alike for all these rows."""
    counts = np.zeros(max(data.cart.n_classes, 1))
    return float(root_of(data.cart, rows, counts)[3])


def grow_tree(
    data: CartData,
    settings: CartSettings,
    rows: NDArray[np.int32],
    alpha: float,
    *,
    reuse: bool = False,
) -> Grown:
    """Grow a tree on some rows.

    `rows` int32; `alpha`: risk that a split must save. `reuse`: the sorted entries are not needed
    again: a tree of all rows divides them in place.
    """
    cart, presorted = data.cart, data.sorted
    keys, known = presorted.keys, presorted.known
    if len(rows) == len(cart.weight):
        keys = keys if reuse else keys.copy()
    else:
        kept = np.zeros(len(cart.weight), np.bool_)
        kept[rows] = True
        keys, known = np.empty((keys.shape[0], len(rows) + 1), np.int64), np.empty_like(known)
        keep_rows(presorted.keys, presorted.known, kept, keys, known)
    largest = float(np.abs(cart.target).max(initial=abs(data.centre)))
    n_levels = np.minimum(np.diff(presorted.start), len(rows))
    most = int(n_levels[presorted.n_codes > 0].max(initial=0))
    rules = Rules(
        settings.min_samples_split,
        settings.min_samples_leaf,
        settings.max_depth,
        settings.max_competitors,
        settings.max_surrogates,
        settings.of_known,
        settings.use_surrogates,
        settings.compat,
        _MAX_LEVELS,
        0.0 if cart.n_classes else _ROUND * largest**2,
    )
    criterion = _CRITERIA.get(settings.criterion)  # None: of numbers
    if settings.compat and criterion == GINI:
        criterion = GINI_SHARES
    parts = (
        criterion if cart.n_classes else None,
        None if cart.n_classes else cart.target,
        cart,
        presorted.n_codes if most > 0 else None,
        _picks(settings, len(known)),
    )
    limit = settings.max_leaf_nodes
    grown = grow(*parts, rules, alpha if limit is None else -np.inf, keys, known, rows.copy(), most)
    if limit is not None:
        grown = best_first(grown, limit, alpha, regression=cart.n_classes == 0)
    return grown


def _picks(settings: CartSettings, p: int) -> Picks:
    """Return what columns are drawn from."""
    number = settings.max_features or 0
    return Picks(number if number < p else 0, np.arange(p), np.array([settings.seed], np.uint64))
