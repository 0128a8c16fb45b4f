"""Batches of prototypes, one after another: draw candidates, descend, keep what is heard."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos._input import Context
from psephos.models.prototypes.candidates import (
    Draw,
    draw_candidates,
    hard_rows,
    misread_rows,
    target_strata,
)
from psephos.models.prototypes.merging import merge_prototypes
from psephos.models.prototypes.objective import BatchObjective, own_and_total
from psephos.models.prototypes.optimiser import WEIGHT_SCALE, Minimum, choose_start, descend
from psephos.models.prototypes.scaling import Scaled
from psephos.vote import PrototypeBatch

__all__ = ["Problem", "Settings", "class_problem", "fit_batches", "number_problem"]

_Floats = NDArray[np.float64]
_U_START = 2.0  # a batch's density is at first half as wide as that of all targets
_STRATA = 5  # ranges of a target that stand in for classes, fewer where rows are few
_U_LEAST = 1e-3  # and at most a thousand times as wide


class Masses(NamedTuple):
    """What the vote so far gives each training row: its own answer, in all, and each class."""

    own: _Floats  # (n,)
    total: _Floats  # (n,)
    by_class: _Floats  # (n, K); (n, 0) for numbers


class Problem(NamedTuple):
    """What a batch is fitted to, for classes and for numbers.

    `y` are class codes, or targets of mean 0 and variance 1; `prior` holds the frequency of each
    row's class, or the prior's density of its target; `answer` is what a row says as a prototype.
    """

    scaled: Scaled
    y: _Floats
    answer: NDArray[Any]
    strata: NDArray[np.intp]
    prior: Masses
    weight: _Floats
    rows: NDArray[Any]
    names: tuple[str, ...]
    unit: float  # of the target; 0 for classes

    @property
    def regression(self) -> bool:
        """Return whether the answers are numbers."""
        return self.unit > 0


class Settings(NamedTuple):
    """Parameters of a fit; see `ProsetClassifier`."""

    n_batches: int
    penalties: dict[str, Any]
    beta: float
    n_candidates: int
    max_fraction: float
    grouping: str
    tol: float
    max_iter: int
    n_jobs: int | None


class Batch(NamedTuple):
    """One batch, and how it was found."""

    found: PrototypeBatch
    minimum: Minimum


def class_problem(
    scaled: Scaled, codes: NDArray[np.intp], weight: _Floats, rows: NDArray[Any],
    names: tuple[str, ...],
) -> Problem:  # fmt: skip
    """Return the problem of classes: the prior is their frequency."""
    share = np.bincount(codes, weight, minlength=len(names)) / weight.sum()
    prior = Masses(share[codes], np.ones(len(codes)), np.tile(share, (len(codes), 1)))
    return Problem(scaled, codes.astype(float), codes, codes, prior, weight, rows, names, 0.0)


def number_problem(
    scaled: Scaled, y: _Floats, weight: _Floats, rows: NDArray[Any], moments: tuple[float, float]
) -> Problem:
    """Return the problem of numbers: the prior is a normal density with the target's moments."""
    t = (y - moments[0]) / moments[1]
    density = np.exp(-0.5 * t * t) / np.sqrt(2 * np.pi)
    prior = Masses(density, np.ones(len(t)), np.empty((len(t), 0)))
    strata = target_strata(t, weight, max(1, min(_STRATA, len(t) // 4)))
    names = tuple(f"of target range {k + 1}" for k in range(int(strata.max()) + 1))
    return Problem(scaled, t, y, strata, prior, weight, rows, names, moments[1])


def fit_batches(problem: Problem, settings: Settings, context: Context) -> list[Batch]:
    """Return the batches, each fitted with the earlier ones as they are."""
    masses = problem.prior
    batches: list[Batch] = []
    for b in range(settings.n_batches):
        draw = draw_candidates(
            problem.strata, _hard(problem, masses, settings), problem.weight,
            context.generator(b), n_candidates=settings.n_candidates,
            max_fraction=settings.max_fraction, names=problem.names,
        )  # fmt: skip
        batch, theta, kept = _fit_batch(problem, draw, masses, settings)
        batches.append(batch)
        if len(kept) and b + 1 < settings.n_batches:
            masses = _with_batch(problem, masses, batch.found, theta, kept, settings)
    return batches


def _hard(problem: Problem, masses: Masses, settings: Settings) -> NDArray[np.bool_]:
    """Return the rows that the vote so far serves worst."""
    if settings.grouping == "correct":
        return misread_rows(masses.by_class, problem.strata)
    goodness = masses.own / masses.total
    return hard_rows(problem.strata, goodness, problem.weight, beta=settings.beta)


def _with_batch(
    problem: Problem, masses: Masses, batch: PrototypeBatch, theta: _Floats,
    kept: NDArray[np.intp], settings: Settings,
) -> Masses:  # fmt: skip
    """Return the masses of all rows with one more batch."""
    if problem.regression:
        own, total = _objective(problem, None, kept, masses, settings).masses(theta)
        return Masses(own, total, masses.by_class)
    scaled = problem.scaled
    more = own_and_total(
        scaled.Z, batch.prototypes, batch.inverse_bandwidth, batch.weight, batch.answer,
        masses.by_class.shape[1], is_category=scaled.is_category, agree=scaled.scaling.agree,
        n_jobs=settings.n_jobs,
    )  # fmt: skip
    by_class = masses.by_class + more
    own = by_class[np.arange(len(by_class)), problem.strata]
    return Masses(own, by_class.sum(axis=1), by_class)


def _fit_batch(
    problem: Problem, draw: Draw, masses: Masses, settings: Settings
) -> tuple[Batch, _Floats, NDArray[np.intp]]:
    """Return the batch, and its parameters over the rows that it keeps."""
    objective = _objective(problem, draw, draw.candidates, masses, settings)
    q, m = objective.n_columns, objective.n_candidates
    further = (_U_START,) if problem.regression else ()
    start = choose_start(objective, q, m, further)
    scale = np.concatenate([np.ones(q), np.full(m, WEIGHT_SCALE), np.ones(len(further))])
    lower = np.concatenate([np.zeros(q + m), np.full(len(further), _U_LEAST)])
    minimum = descend(
        objective, start, scale=scale, lower=lower, factr=settings.tol / np.finfo(float).eps,
        max_iterations=settings.max_iter,
    )  # fmt: skip
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
    return Batch(found, minimum), theta, rows


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


def _objective(
    problem: Problem, draw: Draw | None, candidates: NDArray[np.intp],
    masses: Masses, settings: Settings,
) -> BatchObjective:  # fmt: skip
    """Return a batch's objective; without a draw, all rows are references."""
    Z, y = problem.scaled.Z, problem.y
    rows = slice(None) if draw is None else draw.references
    omega = problem.weight / problem.weight.sum() if draw is None else draw.omega
    return BatchObjective(
        Z[rows], Z[candidates], y[rows], y[candidates], masses.own[rows], masses.total[rows], omega,
        problem.scaled.is_category, problem.scaled.scaling.agree, regression=problem.regression,
        n_jobs=settings.n_jobs, **settings.penalties,
    )  # fmt: skip
