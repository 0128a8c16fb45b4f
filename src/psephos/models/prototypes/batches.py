"""Batches of prototypes, one after another: draw candidates, descend, keep what has weight."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from psephos._input import Context
from psephos.models.prototypes.candidates import (
    Draw,
    draw_candidates,
    draw_judged_by_all,
    hard_rows,
    misread_rows,
)
from psephos.models.prototypes.frozen import FrozenBatch, masses_with
from psephos.models.prototypes.kinds import NO_PATH, Batch, Path, Settings
from psephos.models.prototypes.merging import merge_prototypes
from psephos.models.prototypes.objective import BatchObjective, own_and_total
from psephos.models.prototypes.optimiser import WEIGHT_SCALE, Minimum, choose_start
from psephos.models.prototypes.problems import Masses, Problem
from psephos.models.prototypes.scaling import ScaledRows
from psephos.models.prototypes.screening import descend_with_reentry, let_in
from psephos.vote import PrototypeBatch

__all__ = ["fit_batches"]

_Floats = NDArray[np.float64]
_U_START, _U_LEAST = 2.0, 1e-3  # densities begin half as wide as that of all targets; the widest


def fit_batches(
    problem: Problem,
    settings: Settings,
    context: Context,
    *,
    before: Sequence[Batch] = (),
    n_judges: int = 0,
    path: Path = NO_PATH,
) -> list[Batch]:
    """Return the batches, each fitted with the earlier ones as they are.

    Those `before` are there already. The first `n_judges` rows are no candidates.
    """
    masses = problem.prior
    batches = list(before)
    for b, batch in enumerate(batches):
        if len(batch.found.weight) and b + 1 < settings.n_batches:
            masses = _with_batch(problem, masses, batch, settings)
    for b in range(len(batches), settings.n_batches):
        if b > len(before) and len(batches[-1].found.weight):
            masses = _with_batch(problem, masses, batches[-1], settings)
        draw = _draw(problem, masses, settings, context.generator(b), n_judges)
        last = path.last[b].frozen if b < len(path.last) else None
        batch = _fit_batch(problem, draw, masses, settings, last, path.cold)
        batches.append(batch)
        if not len(batch.found.weight) and draw.of_all:  # so would be all that follow
            return batches + [batch] * (settings.n_batches - b - 1)
    return batches


def _draw(
    problem: Problem, masses: Masses, settings: Settings, generator: np.random.Generator,
    n_judges: int,
) -> Draw:  # fmt: skip
    """Return the candidates of a batch, and who judges them."""
    of = slice(n_judges, None)
    given = problem.strata[of], _hard(problem, masses, settings)[of], problem.weight[of], generator
    copies = problem.copies[of]
    more = {"n_candidates": settings.n_candidates, "names": problem.names, "copies": copies}
    if settings.references == "all":
        draw = draw_judged_by_all(*given, **more)
    else:
        draw = draw_candidates(*given, max_fraction=settings.max_fraction, **more)
    if n_judges == 0:
        return draw
    return draw.judged_too(problem.weight[:n_judges], float(problem.weight[of].sum()))


def _hard(problem: Problem, masses: Masses, settings: Settings) -> NDArray[np.bool_]:
    """Return the rows that the vote so far serves worst."""
    if settings.grouping == "correct":
        return misread_rows(masses.by_class, problem.strata)
    goodness = masses.own / masses.total
    return hard_rows(problem.strata, goodness, problem.weight, beta=settings.beta)


def _with_batch(problem: Problem, masses: Masses, batch: Batch, settings: Settings) -> Masses:
    """Return the masses of all rows with one more batch; who judged it is left out of its own."""
    found, scaled, alone = batch.found, problem.scaled, settings.references == "all"
    own, total, by_class = masses
    if alone or problem.regression:
        own, total = masses_with(problem, batch.frozen, masses, alone=alone, n_jobs=settings.n_jobs)
    if not problem.regression and (not alone or settings.grouping == "correct"):
        read = np.flatnonzero(found.inverse_bandwidth)  # all rows are scaled at once there
        by_class = by_class + own_and_total(
            scaled.Z.reading(read), found.prototypes[:, read], found.inverse_bandwidth[read],
            found.weight, found.answer, by_class.shape[1], is_category=scaled.is_category[read],
            agree=scaled.scaling.agree[read], n_jobs=settings.n_jobs,
        )  # fmt: skip
        rows = np.arange(len(by_class)), problem.strata
        if alone:
            by_class[rows] = own
        else:
            own, total = by_class[rows], by_class.sum(axis=1)
    return Masses(own, total, by_class)


def _fit_batch(
    problem: Problem, draw: Draw, masses: Masses, settings: Settings, last: FrozenBatch | None,
    cold: bool,
) -> Batch:  # fmt: skip
    """Return the batch that the lowest descent ends at."""
    objective = _objective(problem, draw, masses, settings)
    q, m = objective.n_columns, objective.n_candidates
    ends: list[Minimum] = []
    if last is not None and last.v.any() and len(last.weight):
        ends.append(_descended(objective, let_in(objective, _moved(last, draw, q)), settings))
    if cold or not ends:
        further = (_U_START,) if problem.regression else ()
        start = choose_start(objective, q, m, further, objective.by_weights)
        objective.forget()
        ends.append(_descended(objective, start, settings))
    minimum = min(ends, key=lambda one: one.f)
    nothing = np.concatenate([np.zeros(q + m), np.full(int(problem.regression), _U_LEAST)])
    empty = objective(nothing)[0]
    if (empty - minimum.f) * problem.weight.sum() < settings.min_gain:
        minimum = minimum._replace(x=nothing, f=empty)
    v, w, u = objective.split(minimum.x)
    kept = np.flatnonzero(w > 0) if (v > 0).any() or problem.regression else np.empty(0, np.intp)
    frozen = _frozen(problem, draw.candidates[kept], v, w[kept], u)
    kept, weight = _merged(problem, frozen)
    rows = frozen.places[kept]
    found = PrototypeBatch(
        v, problem.scaled.Z[rows], weight, problem.answer[rows], problem.rows[rows],
        problem.unit / u if problem.regression else 0.0,
    )  # fmt: skip
    return Batch(found, minimum._replace(x=np.empty(0)), frozen)


def _descended(objective: BatchObjective, start: _Floats, settings: Settings) -> Minimum:
    """Return where the descent from a start ends."""
    q, m, further = objective.n_columns, objective.n_candidates, int(objective.regression)
    scale = np.concatenate([np.ones(q), np.full(m, WEIGHT_SCALE), np.ones(further)])
    lower = np.concatenate([np.zeros(q + m), np.full(further, _U_LEAST)])
    return descend_with_reentry(
        objective, start, settings.max_reentries, scale=scale, lower=lower,
        factr=settings.tol / np.finfo(float).eps, max_iterations=settings.max_iter,
    )  # fmt: skip


def _moved(last: FrozenBatch, draw: Draw, n_columns: int) -> _Floats:
    """Return a batch fitted to the same rows as parameters of these candidates."""
    v, w = np.zeros(n_columns), np.zeros(len(draw.candidates))
    v[last.columns] = last.v
    at = np.minimum(np.searchsorted(draw.candidates, last.places), len(w) - 1)
    there = draw.candidates[at] == last.places
    w[at[there]] = last.weight[there]
    return np.concatenate([v, w, [last.u] if last.u else []])


def _frozen(
    problem: Problem, rows: NDArray[np.intp], v: _Floats, w: _Floats, u: float
) -> FrozenBatch:
    """Return the batch that has these rows as prototypes."""
    read = np.flatnonzero(v > 0)
    columns = read if len(read) else np.zeros(1, dtype=np.intp)
    Z = problem.scaled.Z.only(rows).reading(columns)[:]
    return FrozenBatch(columns, v[columns], Z, problem.y[rows], w, u, problem.rows[rows], rows)


def _tables(problem: Problem, draw: Draw) -> tuple[ScaledRows, ScaledRows]:
    """Return the scaled rows of references and of candidates."""
    Z, each = problem.scaled.Z, (draw.references, draw.candidates)
    references, candidates = (Z if len(rows) == len(Z) else Z.only(rows) for rows in each)
    return references, candidates


def _merged(problem: Problem, frozen: FrozenBatch) -> tuple[NDArray[np.intp], _Floats]:
    """Merge prototypes that no kernel of the batch tells apart."""
    read = frozen.v > 0
    places = frozen.Z[:, read] * frozen.v[read]
    label = problem.strata[frozen.places]
    if problem.regression:
        places = np.column_stack([places, frozen.y * frozen.u])
        label = np.zeros(len(frozen.y), dtype=np.intp)
    return merge_prototypes(places, label, frozen.weight)


def _objective(problem: Problem, draw: Draw, masses: Masses, settings: Settings) -> BatchObjective:
    """Return a batch's objective."""
    y = problem.y
    rows = draw.references if len(draw.references) < len(y) else slice(None)  # no copy
    return BatchObjective(
        *_tables(problem, draw), y[rows], y[draw.candidates], masses.own[rows],
        masses.total[rows], draw.omega, problem.scaled.is_category, problem.scaled.scaling.agree,
        regression=problem.regression, n_jobs=settings.n_jobs, twin=draw.twin,
        echo=draw.echo,
        **settings.penalties,
    )  # fmt: skip
