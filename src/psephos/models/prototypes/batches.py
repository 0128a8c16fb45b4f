"""Batches of prototypes, one after another: draw candidates, descend, keep what has weight."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos.estimator.input import Context
from psephos.kernels.prototypes.masses import kernel_sums
from psephos.models.prototypes.candidates import (
    Draw,
    draw_candidates,
    draw_judged_by_all,
    hard_rows,
    misread_rows,
)
from psephos.models.prototypes.frozen_batch import FrozenBatch, frozen_batch, masses_with, merged
from psephos.models.prototypes.objective import BatchObjective
from psephos.models.prototypes.optimiser import WEIGHT_SCALE, Minimum, choose_start
from psephos.models.prototypes.problem import Masses, Problem
from psephos.models.prototypes.scaling import Scaled
from psephos.models.prototypes.screening import descend_with_reentry, let_in
from psephos.models.prototypes.settings import Settings
from psephos.runtime.progress import tracked
from psephos.vote import PrototypeBatch

_Floats = NDArray[np.float64]
_U_START, _U_LEAST = 2.0, 1e-3  # densities begin half as wide as that of all targets; the widest


class Batch(NamedTuple):
    """One batch, and how it was found."""

    found: PrototypeBatch
    minimum: Minimum  # without its place
    frozen: FrozenBatch


class Path(NamedTuple):
    """The batches of another penalty, where descents start."""

    last: Sequence[Batch]
    cold: bool  # whether descents also start from the default place


NO_PATH = Path((), True)


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
    masses, batches = problem.prior, list(before)
    for b in tracked(range(settings.n_batches), "batches"):
        if b == len(batches):
            draw = _draw(problem, masses, settings, context.generator(b), n_judges)
            last = path.last[b].frozen if b < len(path.last) else None
            batch = _fit_batch(problem, draw, masses, settings, last, path.cold)
            batches.append(batch)
            if not len(batch.found.weight) and draw.of_all:  # so would be all that follow
                return batches + [batch] * (settings.n_batches - b - 1)
        if b + 1 < settings.n_batches and len(batches[b].found.weight):
            masses = _with_batch(problem, masses, batches[b], settings)
    return batches


def _draw(
    problem: Problem, masses: Masses, settings: Settings, generator: np.random.Generator,
    n_judges: int,
) -> Draw:  # fmt: skip
    """Return the candidates of a batch, and who judges them."""
    of = slice(n_judges, None)
    given = problem.strata[of], _hard(problem, masses, settings)[of], problem.weight[of], generator
    copies = problem.copies[of]
    more = {"n_candidates": settings.model.n_candidates, "names": problem.names, "copies": copies}
    if settings.model.references == "all":
        draw = draw_judged_by_all(*given, **more)
    else:
        draw = draw_candidates(*given, max_fraction=settings.model.max_fraction, **more)
    if n_judges == 0:
        return draw
    return draw.judged_too(problem.weight[:n_judges], float(problem.weight[of].sum()))


def _hard(problem: Problem, masses: Masses, settings: Settings) -> NDArray[np.bool_]:
    """Return the rows that the vote so far serves worst."""
    if settings.grouping == "correct":
        return misread_rows(masses.by_class, problem.strata)
    goodness = masses.own / masses.total
    return hard_rows(problem.strata, goodness, problem.weight, beta=settings.model.beta)


def _with_batch(problem: Problem, masses: Masses, batch: Batch, settings: Settings) -> Masses:
    """Return the masses of all rows with one more batch; who judged it is left out of its own."""
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
) -> _Floats:
    """Return a batch's mass for each class (n, K): ``sum over y_j = k of w_j G(x_n, c_j)``."""
    read = np.flatnonzero(found.inverse_bandwidth)  # all rows are scaled at once there
    table = np.zeros((len(found.weight), n_classes))
    table[np.arange(len(table)), found.answer] = found.weight
    return kernel_sums(
        scaled.Z.reading(read), found.prototypes[:, read], found.inverse_bandwidth[read], table,
        scaled.is_category[read], scaled.scaling.agree[read], n_jobs,
    )  # fmt: skip


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


def _descended(objective: BatchObjective, start: _Floats, settings: Settings) -> Minimum:
    """Return where the descent from a start ends."""
    q, m, further = objective.n_columns, objective.n_candidates, int(objective.regression)
    scale = np.concatenate([np.ones(q), np.full(m, WEIGHT_SCALE), np.ones(further)])
    lower = np.concatenate([np.zeros(q + m), np.full(further, _U_LEAST)])
    return descend_with_reentry(
        objective, start, settings.model.max_reentries, scale=scale, lower=lower,
        factr=settings.model.tol / np.finfo(float).eps, max_iterations=settings.model.max_iter,
    )  # fmt: skip


def _moved(last: FrozenBatch, draw: Draw, n_columns: int) -> _Floats:
    """Return a batch fitted to the same rows as parameters of these candidates."""
    v, w = np.zeros(n_columns), np.zeros(len(draw.candidates))
    v[last.columns] = last.v
    at = np.minimum(np.searchsorted(draw.candidates, last.places), len(w) - 1)
    there = draw.candidates[at] == last.places
    w[at[there]] = last.weight[there]
    return np.concatenate([v, w, [last.u] if last.u else []])


def _objective(problem: Problem, draw: Draw, masses: Masses, settings: Settings) -> BatchObjective:
    """Return a batch's objective."""
    y, Z = problem.y, problem.scaled.Z
    each = (Z if len(r) == len(Z) else Z.only(r) for r in (draw.references, draw.candidates))
    references, candidates = each
    rows = draw.references if len(draw.references) < len(y) else slice(None)  # no copy
    return BatchObjective(
        references, candidates, y[rows], y[draw.candidates], masses.own[rows],
        masses.total[rows], draw.omega, problem.scaled.is_category, problem.scaled.scaling.agree,
        regression=problem.regression, n_jobs=settings.model.n_jobs, twin=draw.twin,
        echo=draw.echo,
        **settings.penalties,
    )  # fmt: skip
