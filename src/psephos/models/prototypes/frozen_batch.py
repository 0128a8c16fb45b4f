"""A batch as it was fitted, and the masses it leaves to the next."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.models.prototypes.merging import merge_prototypes
from psephos.models.prototypes.objective import BatchObjective
from psephos.models.prototypes.problem import Masses, Problem

_Floats = NDArray[np.float64]
_Rows = NDArray[np.intp]


class FrozenBatch(NamedTuple):
    """A batch as it was fitted, before prototypes at one place are made one.

    So a row that is a prototype can be left out of its own masses: in a merged one its weight is
    not told from its neighbours'.
    """

    columns: _Rows  # (r,) of the q scaled columns, those with v > 0 (one, if there is none)
    v: _Floats  # (r,) inverse bandwidths
    Z: _Floats  # (J, r) scaled rows
    y: _Floats  # (J,) codes of classes, or standardised targets
    weight: _Floats  # (J,)
    u: float  # inverse bandwidth of the target, 0 for classes
    rows: NDArray[np.generic]  # (J,) identifiers
    places: _Rows  # (J,) among the rows of the fit


def frozen_batch(problem: Problem, rows: _Rows, v: _Floats, w: _Floats, u: float) -> FrozenBatch:
    """Return the batch that has these rows as prototypes."""
    read = np.flatnonzero(v > 0)
    columns = read if len(read) else np.zeros(1, dtype=np.intp)
    Z = problem.scaled.Z.only(rows).reading(columns)[:]
    return FrozenBatch(columns, v[columns], Z, problem.y[rows], w, u, problem.rows[rows], rows)


def merged(problem: Problem, frozen: FrozenBatch) -> tuple[_Rows, _Floats]:
    """Merge prototypes that no kernel of the batch tells apart."""
    read = frozen.v > 0
    places = frozen.Z[:, read] * frozen.v[read]
    label = problem.strata[frozen.places]
    if problem.regression:
        places = np.column_stack([places, frozen.y * frozen.u])
        label = np.zeros(len(frozen.y), dtype=np.intp)
    return merge_prototypes(places, label, frozen.weight)


def masses_with(
    problem: Problem, frozen: FrozenBatch, masses: Masses, *, alone: bool, n_jobs: int | None
) -> tuple[_Floats, _Floats]:
    """Return own and total mass of each row with the batch, from those without it.

    The rows of the problem need not be those that the batch was fitted to. With `alone` rows are
    left out of their own masses: one that stands for c rows keeps (c - 1) / c of its own weight.
    """
    scaled, columns = problem.scaled, frozen.columns
    twin = None
    if alone:
        twin = np.full(len(problem.y), -1, dtype=np.intp)
        own = _places(problem, frozen)
        twin[own[own >= 0]] = np.flatnonzero(own >= 0)
    objective = BatchObjective(
        scaled.Z.reading(columns), frozen.Z, problem.y, frozen.y, masses.own, masses.total,
        problem.weight / problem.weight.sum(), scaled.is_category[columns],
        scaled.scaling.agree[columns], regression=problem.regression, n_jobs=n_jobs, twin=twin,
        echo=1.0 - 1.0 / np.maximum(problem.copies, 1.0) if alone else None,
    )  # fmt: skip
    of_target = [frozen.u] if problem.regression else []
    return objective.masses(np.concatenate([frozen.v, frozen.weight, of_target]))


def _places(problem: Problem, frozen: FrozenBatch) -> _Rows:
    """Return where each prototype stands among the rows, -1 if it is not there.

    It is where it was in its own fit, else where its identifier is, if its values are there too.
    """
    n = len(problem.y)
    places = np.where(frozen.places < n, frozen.places, -1)
    lost = (places < 0) | (problem.rows[places] != frozen.rows)
    if lost.any():
        order = np.argsort(problem.rows, kind="stable")
        at = np.searchsorted(problem.rows, frozen.rows[lost], sorter=order)
        places[lost] = order[np.minimum(at, n - 1)]
    Z = problem.scaled.Z.only(places).reading(frozen.columns)[:]
    same = (Z == frozen.Z) | (np.isnan(Z) & np.isnan(frozen.Z))
    known = same.all(axis=1) & (problem.y[places] == frozen.y)
    return np.where(known & (problem.rows[places] == frozen.rows), places, -1)
