"""Batches of prototypes, one after another: draw candidates, optimise, keep those with weight.

Most candidates end at weight 0, where they do not affect the objective: only their derivative shows
whether they should have weight again. `Screened` evaluates it only now and then, and in between
takes the last value, which is positive and keeps the weight at 0.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from psephos._types import Floats, Indices, NDArray
from psephos.estimator.input import Context
from psephos.kernels.prototypes.kernel import kernel_sums
from psephos.models.prototypes import candidates
from psephos.models.prototypes.objective import (
    WEIGHT_SCALE,
    BatchObjective,
    Minimum,
    choose_start,
    descend,
)
from psephos.models.prototypes.problem import Masses, PrototypeProblem, Scaled, Settings
from psephos.runtime.progress import tracked
from psephos.vote import PrototypeBatch

_EVERY = 10  # evaluations between two evaluations of all candidates
_ROUNDS = 3  # maximum number of descents
_FEW = 200  # with fewer candidates it does not pay
_SMALL = (0.3, 0.1, 0.03, 0.01)  # shares of the greatest inverse bandwidth
_WORTH = 0.8  # if a larger share of candidates is active, none is left out


class Screened:
    """``objective(theta) -> (f, gradient)``, with the gradient by inactive candidates cached.

    f is exact. `settled` checks whether a minimum found with it is one of the whole objective.
    """

    def __init__(self, objective: BatchObjective) -> None:
        self._whole = objective
        self._some: BatchObjective | None = None
        self._kept = np.empty(0, np.intp)  # entries of theta in the partial objective
        self._inactive = np.empty(0, np.intp)  # the other entries
        self._gradient = np.empty(0)
        self._left = 0

    def __call__(self, theta: Floats) -> tuple[float, Floats]:
        """Return value and gradient."""
        some = self._some
        if some is None or self._left == 0 or np.count_nonzero(theta[self._inactive]):
            return self._evaluate_all(theta)
        self._left -= 1
        value, gradient = some(theta[self._kept])
        whole = self._gradient.copy()
        whole[self._kept] = gradient
        return value, whole

    def settled(self, theta: Floats) -> bool:
        """Return whether all inactive candidates may stay inactive."""
        gradient = self._evaluate_all(theta)[1]
        q, m = self._whole.n_columns, self._whole.n_candidates
        return not ((theta[q : q + m] == 0.0) & (gradient[q : q + m] < 0.0)).any()

    def _evaluate_all(self, theta: Floats) -> tuple[float, Floats]:
        """Evaluate all candidates, and choose those to leave out until the next time."""
        value, gradient = self._whole(theta)
        q, m = self._whole.n_columns, self._whole.n_candidates
        active = (theta[q : q + m] > 0.0) | (gradient[q : q + m] <= 0.0)
        self._some, self._left = None, _EVERY - 1
        if 0 < active.sum() <= _WORTH * m:
            keep = np.ones(len(theta), dtype=np.bool_)
            keep[q : q + m] = active
            self._kept, self._inactive = np.flatnonzero(keep), np.flatnonzero(~keep)
            self._some, self._gradient = self._whole.among(np.flatnonzero(active)), gradient
        return value, gradient


def descend_screened(objective: BatchObjective, start: Floats, **options: Any) -> Minimum:
    """Return the minimum of `descend`; with many candidates most evaluations leave out some.

    If one that was left out should have weight after all, the descent is continued.
    """
    if objective.n_candidates < _FEW:
        return descend(objective, start, **options)
    screened = Screened(objective)
    found = total = Minimum(start, np.inf, 0, "")
    for _ in range(_ROUNDS):
        found = descend(screened, found.x, **options)
        total = found.after(total)
        if screened.settled(found.x):
            break
    return total


def descend_thinned(objective: BatchObjective, start: Floats, **options: Any) -> Minimum:
    """Return the minimum of `descend_screened`, continued after small columns were set to 0.

    If many columns have small weights, iterations lower the objective slowly although it would be
    lower without them. Columns below .3, .1, .03 or .01 of the greatest inverse bandwidth,
    whichever gives the lowest objective, are dropped if that lowers it.
    """
    found = descend_screened(objective, start, **options)
    for _ in range(_ROUNDS):
        thinner = _thinner(objective, found)
        if thinner is None:
            break
        found = descend_screened(objective, thinner, **options).after(found)
    return found


def _thinner(objective: BatchObjective, found: Minimum) -> Floats | None:
    """Return the lowest point without small columns, if one is below the minimum found."""
    v = found.x[: objective.n_columns]
    lowest, best = found.f, None
    for share in _SMALL:
        small = np.flatnonzero((v > 0.0) & (v < share * v.max()))
        if len(small) == 0:
            break
        x = found.x.copy()
        x[small] = 0.0
        value = objective.by_weights(x)[0]
        if value < lowest:
            lowest, best = value, x
    return best


def merge_prototypes(
    places: Floats, label: Indices, weight: Floats, *, tolerance: float = 1e-6
) -> tuple[Indices, Floats]:
    """Merge prototypes of one label with equal kernels; return the indices kept, and the weights.

    Two prototypes are linked if they have the same label and the same missing columns, and differ
    by at most `tolerance` in every other column; linked sets are merged. The first of each set is
    kept, with the sum of the weights. `places` (J, q) are the columns of a batch times its inverse
    bandwidths, NaN where missing: in these units a difference of `tolerance` does not change a
    kernel. In regression the targets times theirs are appended.

    Memory is that of `places`. (proset 0.6 merges in the same way, by a table of all distances.)
    """
    if len(places) == 0:
        return np.empty(0, dtype=np.intp), np.empty(0)
    missing = np.isnan(places)
    codes = np.column_stack([label, np.packbits(missing, axis=1)])
    groups = np.unique(codes, axis=0, return_inverse=True)[1].reshape(-1)
    filled = np.where(missing, 0.0, places)
    for column in filled.T:  # along each column, linked prototypes are in one chain of small steps
        if groups.max() + 1 == len(places):
            break
        order, chain = np.argsort(column), np.empty(len(column), dtype=np.intp)
        chain[order] = np.cumsum(np.append(False, np.diff(column[order]) > tolerance))
        groups = np.unique(groups * len(column) + chain, return_inverse=True)[1].reshape(-1)
    for group in np.flatnonzero(np.bincount(groups) > 1):
        rows = np.flatnonzero(groups == group)
        if (np.ptp(filled[rows], axis=0) > tolerance).any():
            near = KDTree(filled[rows]).query_pairs(tolerance, p=np.inf, output_type="ndarray")
            links = csr_array((np.ones(len(near)), near.T), shape=(len(rows), len(rows)))
            groups[rows] = groups.max() + 1 + connected_components(links, directed=False)[1]
    _, kept, members = np.unique(groups, return_index=True, return_inverse=True)
    order = np.argsort(kept)
    merged = np.zeros(len(kept))
    np.add.at(merged, members, weight)
    return kept[order], merged[order]


class FrozenBatch(NamedTuple):
    """A batch before its equal prototypes are merged.

    It is needed to leave a row that is a prototype out of its own masses: a merged prototype has
    the weights of several rows.
    """

    columns: Indices  # (r,) of the q scaled columns, those with v > 0 (one, if there is none)
    v: Floats  # (r,) inverse bandwidths
    Z: Floats  # (J, r) scaled rows
    y: Floats  # (J,) codes of classes, or standardised targets
    weight: Floats  # (J,)
    u: float  # inverse bandwidth of the target, 0 for classes
    rows: NDArray[np.generic]  # (J,) identifiers
    places: Indices  # (J,) indices into the rows of the fit


def frozen_batch(
    problem: PrototypeProblem, rows: Indices, v: Floats, w: Floats, u: float
) -> FrozenBatch:
    """Return the batch with these rows as prototypes."""
    read = np.flatnonzero(v > 0)
    columns = read if len(read) else np.zeros(1, dtype=np.intp)
    Z = problem.scaled.Z.only(rows).reading(columns)[:]
    return FrozenBatch(columns, v[columns], Z, problem.y[rows], w, u, problem.rows[rows], rows)


def merged(problem: PrototypeProblem, frozen: FrozenBatch) -> tuple[Indices, Floats]:
    """Merge prototypes with equal kernels in the batch."""
    read = frozen.v > 0
    places = frozen.Z[:, read] * frozen.v[read]
    label = problem.strata[frozen.places]
    if problem.regression:
        places = np.column_stack([places, frozen.y * frozen.u])
        label = np.zeros(len(frozen.y), dtype=np.intp)
    return merge_prototypes(places, label, frozen.weight)


def masses_with(
    problem: PrototypeProblem,
    frozen: FrozenBatch,
    masses: Masses,
    *,
    alone: bool,
    n_jobs: int | None,
) -> tuple[Floats, Floats]:
    """Return own and total mass of each row with the batch, from those without it.

    The batch may have been fitted to other rows. With `alone` rows are left out of their own
    masses: one that represents c rows keeps (c - 1) / c of its own weight.
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


def _places(problem: PrototypeProblem, frozen: FrozenBatch) -> Indices:
    """Return the index of each prototype among the rows, -1 if it is not one of them.

    It is the index in its own fit, or that of its identifier, if the row's values are the same.
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


_U_START, _U_LEAST = 2.0, 1e-3  # start: half as wide as the density of all targets; least


class Batch(NamedTuple):
    """One batch, and its minimum."""

    found: PrototypeBatch
    minimum: Minimum  # without x
    frozen: FrozenBatch


def fit_batches(
    problem: PrototypeProblem,
    settings: Settings,
    context: Context,
    *,
    before: Sequence[Batch] = (),
    n_judges: int = 0,
) -> list[Batch]:
    """Return the batches, each fitted with the earlier ones fixed.

    `before` are batches fitted earlier. The first `n_judges` rows are references only.
    """
    masses, batches = problem.prior, list(before)
    for b in tracked(range(settings.n_batches), "batches"):
        if b == len(batches):
            draw = _draw(problem, masses, settings, context.generator(b), n_judges)
            batch = _fit_batch(problem, draw, masses, settings)
            batches.append(batch)
            if not len(batch.found.weight) and draw.of_all:  # later ones would be the same
                return batches + [batch] * (settings.n_batches - b - 1)
        if b + 1 < settings.n_batches and len(batches[b].found.weight):
            masses = _with_batch(problem, masses, batches[b], settings)
    return batches


def _draw(
    problem: PrototypeProblem, masses: Masses, settings: Settings, generator: np.random.Generator,
    n_judges: int,
) -> candidates.BatchRows:  # fmt: skip
    """Return the candidates and the references of a batch."""
    of = slice(n_judges, None)
    given = problem.strata[of], _hard(problem, masses, settings)[of], problem.weight[of], generator
    copies = problem.copies[of]
    more = {"n_candidates": settings.model.n_candidates, "names": problem.names, "copies": copies}
    if settings.model.references == "all":
        draw = candidates.draw_leave_one_out(*given, **more)
    else:
        draw = candidates.draw_candidates(*given, max_fraction=settings.model.max_fraction, **more)
    if n_judges == 0:
        return draw
    return draw.with_references(problem.weight[:n_judges], float(problem.weight[of].sum()))


def _hard(problem: PrototypeProblem, masses: Masses, settings: Settings) -> NDArray[np.bool_]:
    """Return the mask of the rows that the vote so far predicts worst."""
    if settings.grouping == "correct":
        return candidates.misread_rows(masses.by_class, problem.strata)
    goodness = masses.own / masses.total
    return candidates.hard_rows(problem.strata, goodness, problem.weight, beta=settings.model.beta)


def _with_batch(
    problem: PrototypeProblem, masses: Masses, batch: Batch, settings: Settings
) -> Masses:
    """Return the masses of all rows with one more batch, leave-one-out with references='all'."""
    found, alone, n_jobs = batch.found, settings.model.references == "all", settings.model.n_jobs
    own, total, by_class = masses
    if alone or problem.regression:
        own, total = masses_with(problem, batch.frozen, masses, alone=alone, n_jobs=n_jobs)
    if not problem.regression and (not alone or settings.grouping == "correct"):
        by_class = by_class + class_masses(
            problem.scaled, found, by_class.shape[1], settings.model.n_jobs
        )
        rows = np.arange(len(by_class)), problem.strata
        if alone:
            by_class[rows] = own
        else:
            own, total = by_class[rows], by_class.sum(axis=1)
    return Masses(own, total, by_class)


def class_masses(
    scaled: Scaled, found: PrototypeBatch, n_classes: int, n_jobs: int | None = None
) -> Floats:
    """Return a batch's mass for each class (n, K): ``sum over y_j = k of w_j G(x_n, c_j)``."""
    read = np.flatnonzero(found.inverse_bandwidth)
    table = np.zeros((len(found.weight), n_classes))
    table[np.arange(len(table)), found.answer] = found.weight
    return kernel_sums(
        scaled.Z.reading(read), found.prototypes[:, read], found.inverse_bandwidth[read], table,
        scaled.is_category[read], scaled.scaling.agree[read], n_jobs,
    )  # fmt: skip


def _fit_batch(
    problem: PrototypeProblem, draw: candidates.BatchRows, masses: Masses, settings: Settings
) -> Batch:
    """Return the batch at the end of the descent."""
    objective = _objective(problem, draw, masses, settings)
    q, m = objective.n_columns, objective.n_candidates
    further = int(problem.regression)
    start = choose_start(objective, q, m, (_U_START,) * further, objective.by_weights)
    objective.forget()
    nothing = np.concatenate([np.zeros(q + m), np.full(further, _U_LEAST)])
    minimum = descend_thinned(
        objective, start, lower=nothing,
        scale=np.concatenate([np.ones(q), np.full(m, WEIGHT_SCALE), np.ones(further)]),
        factr=settings.model.tol / np.finfo(float).eps, max_iterations=settings.model.max_iter,
    )  # fmt: skip
    empty = objective(nothing)[0]
    if (empty - minimum.f) * problem.weight.sum() < settings.model.min_gain:
        minimum = minimum._replace(x=nothing, f=empty)
    v, w, u = objective.split(minimum.x)
    kept = np.flatnonzero(w > 0) if (v > 0).any() or problem.regression else np.empty(0, np.intp)
    frozen = frozen_batch(problem, draw.candidates[kept], v, w[kept], u)
    kept, weight = merged(problem, frozen)
    rows = frozen.places[kept]
    found = PrototypeBatch(
        v, problem.scaled.Z[rows], weight, problem.answer[rows], problem.rows[rows],
        problem.unit / u if problem.regression else 0.0,
    )  # fmt: skip
    return Batch(found, minimum._replace(x=np.empty(0)), frozen)


def _objective(
    problem: PrototypeProblem, draw: candidates.BatchRows, masses: Masses, settings: Settings
) -> BatchObjective:
    """Return the objective of a batch."""
    y, Z = problem.y, problem.scaled.Z
    each = (Z if len(r) == len(Z) else Z.only(r) for r in (draw.references, draw.candidates))
    references, own = each
    rows = draw.references if len(draw.references) < len(y) else slice(None)  # no copy
    return BatchObjective(
        references, own, y[rows], y[draw.candidates], masses.own[rows],
        masses.total[rows], draw.omega, problem.scaled.is_category, problem.scaled.scaling.agree,
        regression=problem.regression, n_jobs=settings.model.n_jobs, twin=draw.twin,
        echo=draw.echo,
        **settings.penalties,
    )  # fmt: skip
