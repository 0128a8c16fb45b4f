"""Batches of prototypes, one after another: draw candidates, descend, keep what is heard."""

from typing import Any, NamedTuple

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
from psephos.models.prototypes.merging import merge_prototypes
from psephos.models.prototypes.objective import BatchObjective, own_and_total
from psephos.models.prototypes.optimiser import WEIGHT_SCALE, Minimum, choose_start
from psephos.models.prototypes.problems import Masses, Problem
from psephos.models.prototypes.reentry import descend_with_reentry
from psephos.models.prototypes.scaling import ScaledRows
from psephos.models.prototypes.windows import Windows
from psephos.vote import PrototypeBatch

__all__ = ["Batch", "Settings", "fit_batches"]

_Floats = NDArray[np.float64]
_U_START = 2.0  # a batch's density is at first half as wide as that of all targets
_U_LEAST = 1e-3  # and at most a thousand times as wide


class Settings(NamedTuple):
    """Parameters of a fit; see `ProsetClassifier`."""

    n_batches: int
    penalties: dict[str, Any]
    beta: float
    n_candidates: int
    max_fraction: float
    grouping: str
    references: str
    tol: float
    max_iter: int
    max_reentries: int
    min_gain: float
    n_jobs: int | None


class Batch(NamedTuple):
    """One batch, and how it was found."""

    found: PrototypeBatch
    minimum: Minimum
    theta: _Floats  # v, w and u of what is kept
    kept: NDArray[np.intp]  # rows of the prototypes


def fit_batches(problem: Problem, settings: Settings, context: Context) -> list[Batch]:
    """Return the batches, each fitted with the earlier ones as they are."""
    masses = problem.prior
    batches: list[Batch] = []
    for b in range(settings.n_batches):
        draw = _draw(problem, masses, settings, context.generator(b))
        objective = _objective(problem, draw, masses, settings)
        batch = _fit_batch(problem, draw, masses, objective, settings)
        batches.append(batch)
        if not len(batch.found.weight) and draw.of_all:  # so would be all that follow
            return batches + [batch] * (settings.n_batches - b - 1)
        if len(batch.found.weight) and b + 1 < settings.n_batches:
            masses = _with_batch(problem, masses, batch, draw, objective, settings)
    return batches


def _draw(
    problem: Problem, masses: Masses, settings: Settings, generator: np.random.Generator
) -> Draw:
    """Return the candidates of a batch, and who judges them."""
    given = (problem.strata, _hard(problem, masses, settings), problem.weight, generator)
    if settings.references == "all":
        return draw_judged_by_all(
            *given, n_candidates=settings.n_candidates, names=problem.names,
            copies=problem.copies,
        )  # fmt: skip
    return draw_candidates(
        *given, n_candidates=settings.n_candidates, max_fraction=settings.max_fraction,
        names=problem.names,
    )  # fmt: skip


def _hard(problem: Problem, masses: Masses, settings: Settings) -> NDArray[np.bool_]:
    """Return the rows that the vote so far serves worst."""
    if settings.grouping == "correct":
        return misread_rows(masses.by_class, problem.strata)
    goodness = masses.own / masses.total
    return hard_rows(problem.strata, goodness, problem.weight, beta=settings.beta)


def _with_batch(
    problem: Problem, masses: Masses, batch: Batch, draw: Draw, objective: BatchObjective,
    settings: Settings,
) -> Masses:  # fmt: skip
    """Return the masses of all rows with one more batch; no row hears itself that judged it."""
    found, scaled, alone = batch.found, problem.scaled, draw.twin is not None
    own, total, by_class = masses
    if alone:
        own, total = objective.masses(batch.minimum.x)
    elif problem.regression:
        every = Draw(batch.kept, np.arange(len(problem.y)), problem.weight / problem.weight.sum())
        own, total = _objective(problem, every, masses, settings).masses(batch.theta)
    if not problem.regression and (not alone or settings.grouping == "correct"):
        by_class = by_class + own_and_total(
            scaled.Z, found.prototypes, found.inverse_bandwidth, found.weight, found.answer,
            by_class.shape[1], is_category=scaled.is_category, agree=scaled.scaling.agree,
            n_jobs=settings.n_jobs,
        )  # fmt: skip
        rows = np.arange(len(by_class)), problem.strata
        if alone:
            by_class[rows] = own
        else:
            own, total = by_class[rows], by_class.sum(axis=1)
    return Masses(own, total, by_class)


def _fit_batch(
    problem: Problem, draw: Draw, masses: Masses, objective: BatchObjective, settings: Settings
) -> Batch:
    """Return the batch that the descent ends at."""
    q, m = objective.n_columns, objective.n_candidates
    further = (_U_START,) if problem.regression else ()
    windows = _windows(problem, draw, masses, objective, settings)
    start = choose_start(objective, q, m, further, windows or objective.by_weights)
    del windows  # it may hold tables of all pairs
    scale = np.concatenate([np.ones(q), np.full(m, WEIGHT_SCALE), np.ones(len(further))])
    lower = np.concatenate([np.zeros(q + m), np.full(len(further), _U_LEAST)])
    minimum = descend_with_reentry(
        objective, start, settings.max_reentries, scale=scale, lower=lower,
        factr=settings.tol / np.finfo(float).eps, max_iterations=settings.max_iter,
    )  # fmt: skip
    nothing = np.concatenate([np.zeros(q + m), np.full(len(further), _U_LEAST)])
    empty = objective(nothing)[0]
    if (empty - minimum.f) * problem.weight.sum() < settings.min_gain:
        minimum = minimum._replace(x=nothing, f=empty)
    v, w, u = objective.split(minimum.x)
    heard = np.flatnonzero(w > 0) if (v > 0).any() or problem.regression else np.empty(0, np.intp)
    rows = draw.candidates[heard]
    kept, weight = _merged(problem, rows, v, w[heard], u)
    rows = rows[kept]
    found = PrototypeBatch(
        v, problem.scaled.Z[rows], weight, problem.answer[rows], problem.rows[rows],
        problem.unit / u if problem.regression else 0.0,
    )  # fmt: skip
    theta = np.concatenate([v, weight, [u] if problem.regression else []])
    return Batch(found, minimum, theta, rows)


def _windows(
    problem: Problem, draw: Draw, masses: Masses, objective: BatchObjective, settings: Settings
) -> Windows | None:
    """Return the objective where all columns are alike, if this table allows its short way."""
    rows, own, y = draw.references, draw.candidates, problem.y
    if not objective.is_plain or not Windows.suit(len(rows), len(own), objective.n_columns):
        return None
    return Windows(
        *_tables(problem, draw), y[rows], y[own], masses.own[rows], masses.total[rows], draw.omega,
        draw.twin, draw.echo, settings.penalties, _U_START if problem.regression else 0.0,
    )  # fmt: skip


def _tables(problem: Problem, draw: Draw) -> tuple[ScaledRows, ScaledRows]:
    """Return the scaled rows of references and of candidates."""
    Z = problem.scaled.Z
    references, candidates = (
        Z if len(rows) == len(Z) else Z.only(rows) for rows in (draw.references, draw.candidates)
    )
    return references, candidates


def _merged(
    problem: Problem, rows: NDArray[np.intp], v: _Floats, w: _Floats, u: float
) -> tuple[NDArray[np.intp], _Floats]:
    """Merge prototypes that no kernel of the batch tells apart."""
    read = v > 0
    places = problem.scaled.Z[rows][:, read] * v[read]
    label = problem.strata[rows]
    if problem.regression:
        places = np.column_stack([places, problem.y[rows] * u])
        label = np.zeros(len(rows), dtype=np.intp)
    return merge_prototypes(places, label, w)


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
