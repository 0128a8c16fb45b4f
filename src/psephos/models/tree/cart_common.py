"""What the two CARTs share: their parameters, growing and cross-validation."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.estimator.input import Context, Table
from psephos.kernels.sorted_trees.cart_layout import ROW
from psephos.models.sampling import drawn_columns
from psephos.models.tree.cart_readings import cut
from psephos.models.tree.cart_units import in_units, out_of_units
from psephos.models.units import refuse_huge
from psephos.trees.cart import CartSettings, Problem, grow_tree, prepare, presort, root_risk
from psephos.trees.cart_growth import growth_of, tree_of
from psephos.trees.cart_table import cross_validate, one_se_row, prunings
from psephos.trees.tree import Tree
from psephos.vote import BranchVoters, Constant, Readout, Vote

_Floats = NDArray[np.float64]
DEEPEST = 62  # rules on a way: nodes are numbered 2 i and 2 i + 1 below node i
_FOLLOW = {"none": 0, "only": 1, "majority": 2}
_COUNT = 2.0**31  # above, a weight is hardly a number of rows


def fit_cart(
    model: Any,
    table: Table,
    problem: Problem,
    target: Any,
    context: Context,
) -> tuple[Vote, dict[str, Any]]:
    """Return the vote of a grown (and pruned) tree, and its growth.

    `problem` has everything but the rows' numbers and the costs of columns.
    """
    n, p = table.values.shape
    problem = problem._replace(copies=_copies(problem.weight), costs=_costs(model.costs, p))
    folds = _folds(model, n, context)
    presorted = presort(table.values, table.n_codes)
    known = _known_rows(presorted.keys, presorted.known, n)
    if len(known) < n and len(known) > 0:
        table = table.take(known)
        fewer = {name: getattr(problem, name)[known] for name in ("y", "weight", "copies")}
        problem = problem._replace(**fewer)
        folds = None if folds is None else folds[known]
        presorted = presort(table.values, table.n_codes)
    settings = _settings(model, p, context)
    if problem.n_classes == 0:
        refuse_huge(problem.y)
    problem, units = in_units(problem)
    data = prepare(problem, presorted)
    rows = np.arange(len(problem.weight), dtype=np.int32)
    risk = root_risk(data, rows)
    grown = grow_tree(data, settings, rows, settings.cp * risk, reuse=folds is None)
    found = prunings(grown, settings.cp * risk)
    if folds is not None:
        part = _part_of(table)
        found = cross_validate(data, settings, found, part, folds, model.n_jobs, risk)
    growth = growth_of(grown, data, found)
    tree = tree_of(growth, grown, data, settings.use_surrogates)
    if any(units):
        tree, growth = out_of_units(tree, growth, *units)
    if model.one_standard_error:
        if folds is None:
            raise PsephosError("one_standard_error needs cross-validation: n_folds of at least 2.")
        cp = float(found.cp[one_se_row(found)])
        tree, growth = cut(tree, growth, cp), growth.pruned(cp)
    return _vote(tree, p, target), {"growth_": growth}


def _vote(tree: Tree, p: int, target: Any) -> Vote:
    numbers = target.kind == "regression"
    if not numbers:
        tree = replace(tree, value=_said(tree.value))
    readout = Readout("sum", "identity") if numbers else Readout("normalised", "share")
    return Vote(BranchVoters.of([tree], p), Constant(p, np.ones(1)), readout, target)


def _said(shares: _Floats) -> _Floats:
    """Return the votes of class shares p, sum_k p_k code_k; equal shares are equal votes."""
    k = shares.shape[1]
    if k == 2:
        return shares[:, 1:] - shares[:, :1]
    return (k * shares - 1.0) / (k - 1)


def _settings(model: Any, p: int, context: Context) -> CartSettings:
    split, leaf = int(model.min_samples_split), model.min_samples_leaf
    return CartSettings(
        cp=float(model.cp),
        min_samples_split=min(split, int(_COUNT)),
        min_samples_leaf=min(max(1, round(split / 3)) if leaf is None else int(leaf), int(_COUNT)),
        max_depth=DEEPEST if model.max_depth is None else int(model.max_depth),
        max_leaf_nodes=None if model.max_leaf_nodes is None else int(model.max_leaf_nodes),
        max_competitors=min(int(model.max_competitors), p - 1),
        max_surrogates=min(int(model.max_surrogates), p - 1),
        of_known=model.surrogate_style == "known",
        use_surrogates=_FOLLOW[model.use_surrogates],
        criterion=model.criterion,
        max_features=None if model.max_features is None else drawn_columns(model.max_features, p),
        seed=0 if model.max_features is None else context.integer(1),
    )


def _copies(weight: _Floats) -> NDArray[np.int64]:
    """Return how many rows each row is: its weight, if all weights are whole numbers."""
    if bool(((weight == np.floor(weight)) & (weight < _COUNT)).all()):
        return weight.astype(np.int64)
    return np.ones(len(weight), np.int64)


def _costs(costs: Any, p: int) -> _Floats | None:
    if costs is None:
        return None
    try:
        given = np.array(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise PsephosError("costs has an entry that is not a number.") from None
    if given.shape != (p,):
        raise PsephosError(f"costs has shape {given.shape}: give one number per column ({p}).")
    if not (np.isfinite(given) & (given > 0)).all():
        column = int(np.flatnonzero(~(np.isfinite(given) & (given > 0)))[0])
        raise PsephosError(f"costs of column {column} is {given[column]}: costs are above 0.")
    return given


def _known_rows(keys: NDArray[np.int64], known: NDArray[np.int64], n: int) -> NDArray[np.intp]:
    """Return the rows with a value in some column."""
    seen = np.zeros(n, np.bool_)
    for j in range(len(known)):
        seen[keys[j, : known[j]] & ROW] = True
        if seen.all():
            break
    return np.flatnonzero(seen)


def _part_of(table: Table) -> Callable[[NDArray[Any], NDArray[Any]], _Floats]:
    """Return what gives some rows and columns of the table, dense."""
    values = table.values

    def part(rows: NDArray[Any], columns: NDArray[Any]) -> _Floats:
        if isinstance(values, np.ndarray):
            return np.ascontiguousarray(values[np.ix_(rows, columns)], dtype=np.float64)
        return table.dense(columns)[rows]

    return part


def _folds(model: Any, n: int, context: Context) -> NDArray[np.intp] | None:
    """Return the fold in which each row is left out: the given, or drawn; None: none."""
    if model.folds is not None:
        return _given_folds(model.folds, n, context)
    units = np.arange(n) if context.groups is None else context.groups
    names, unit = np.unique(units, return_inverse=True)
    number = min(int(model.n_folds), len(names))
    if number < 2:
        return None
    order = context.generator(0).permutation(len(names))
    return (order % number)[unit].astype(np.intp)


def _given_folds(folds: Any, n: int, context: Context) -> NDArray[np.intp]:
    given = np.asarray(folds)
    kept = context.kept
    if given.ndim != 1 or len(given) < n or (kept is None and len(given) != n):
        raise PsephosError(f"folds has shape {given.shape}: give one fold per row ({n}).")
    names, fold = np.unique(given if kept is None else given[kept], return_inverse=True)
    if len(names) < 2:
        raise PsephosError("folds names one fold only: cross-validation needs two.")
    return fold.astype(np.intp)
