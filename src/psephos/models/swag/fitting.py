"""The fit that the two wrappers share: judge, search, choose, refit, vote."""

from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos._input import Context, Table
from psephos.base import Labels
from psephos.models.swag.assembling import make_library, make_vote
from psephos.models.swag.backends import Workers
from psephos.models.swag.coding import CodedLearner
from psephos.models.swag.cost import StepCost, estimate_cost
from psephos.models.swag.evaluation import Evaluation, divided, powers_of
from psephos.models.swag.folding import make_folds
from psephos.models.swag.mechanisms import make_mechanism
from psephos.models.swag.problem import Learner
from psephos.models.swag.progress import progress_bar
from psephos.models.swag.rules import (
    among_kept,
    default_shares,
    fold_count,
    most_columns,
)
from psephos.models.swag.search import search
from psephos.models.swag.settings import SearchSettings
from psephos.models.swag.steps import post_process, quantile
from psephos.models.swag.store import Store, identity_of
from psephos.models.units import refuse_huge
from psephos.params import (
    Anything,
    Constraint,
    Flag,
    Folder,
    Interval,
    Jobs,
    OneOf,
    Options,
    Seed,
)
from psephos.vote import Vote
from psephos.vote.part import sparse

__all__ = ["SHARED", "cost_of", "fit_library"]

_Floats = NDArray[np.float64]
_FOLDS, _DRAWS, _LEARNER = range(3)  # tasks that draw


SHARED: dict[str, Constraint] = {
    "p_max": OneOf((Interval(1, whole=True), Options(("epv", "curve", "embedded")))),
    "m": Anything(),  # SearchSettings says what is wrong with these three
    "alpha": Anything(),
    "delta": Interval(0, 1, open_low=True),
    "n_folds": Interval(2, whole=True),
    "n_repeats": Interval(1, whole=True),
    "cv": Anything(),
    "scoring": Anything(),
    "dimension": OneOf((Interval(1, whole=True),), none=True),
    "sampling": Options(("parent", "uniform")),
    "ties": Options(("log_loss", "all", "first")),
    "first_step": Options(("columns", "pairs")),
    "absent": Options((None, "vote")),
    "n_reserve": Interval(0, whole=True),
    "folder": Folder(),
    "verbose": Flag(),
    "n_jobs": Jobs(),
    "random_state": Seed(),
}


def _has_values(table: Table) -> bool:
    values = table.values
    return bool(sparse.issparse(values) or not np.isnan(values).all())


def fit_library(
    model: Any,
    names: dict[str, Learner],
    table: Table,
    labels: Labels,
    weight: _Floats,
    context: Context,
) -> tuple[Vote, dict[str, Any]]:
    """Return the vote and the library of a wrapper's parameters; `names` are its mechanisms."""
    if labels.target.kind == "regression":
        refuse_huge(labels.y)
    if not _has_values(table):
        raise PsephosError("no column has a value in any row: there is nothing to learn from.")
    evaluation = _evaluation(model, names, table, labels, weight, context)
    settings = _settings(model, evaluation)
    seed = context.integer(_DRAWS)
    store = None
    if model.folder is not None:
        store = Store(model.folder, identity_of(evaluation, settings, seed))
    with progress_bar() if model.verbose else nullcontext() as report:
        found = search(
            Workers(evaluation, model.n_jobs),
            table.schema.n_features,
            settings,
            seed=seed,
            n_parts=evaluation.n_parts,
            store=store,
            report=report,
        )
    kept = _kept(found.steps, model.delta, model.dimension)
    library = make_library(found.steps, kept, evaluation, table, _measure_words(model, labels))
    n_reserve = model.n_reserve if model.absent == "vote" else 0
    vote = make_vote(library, evaluation, model.vote, n_reserve, labels.target)
    n_splits = evaluation.problem.folds.n_splits
    return vote, {"library_": library, "stopped_": found.stopped, "n_splits_": n_splits}


def cost_of(
    model: Any,
    names: dict[str, Learner],
    table: Table,
    labels: Labels,
    weight: _Floats,
    context: Context,
    seconds: float,
) -> list[StepCost]:
    """Return what each step of the search would cost."""
    evaluation = _evaluation(model, names, table, labels, weight, context)
    return estimate_cost(evaluation, _settings(model, evaluation), seconds=seconds)


def _evaluation(
    model: Any,
    names: dict[str, Learner],
    table: Table,
    labels: Labels,
    weight: _Floats,
    context: Context,
) -> Evaluation:
    target = labels.target
    n_classes = target.n_classes
    classes = target.classes if n_classes else None
    folds = make_folds(
        labels.y,
        n_classes,
        groups=context.groups,
        n_folds=fold_count(model.n_folds, labels, context),
        n_repeats=model.n_repeats,
        cv=among_kept(model.cv, context.kept),
        seed=context.integer(_FOLDS),
        classes=classes,
    )
    learner = make_mechanism(model.learner, names)
    n_codes = np.zeros(table.schema.n_features, dtype=np.intp)
    for column, count in table.n_codes.items():
        n_codes[column] = count
    X = table.dense()
    powers = powers_of(table, X, learner)
    return Evaluation.of(
        CodedLearner(learner) if n_codes.any() else learner,
        divided(X, powers),
        labels.y,
        n_classes,
        folds=folds,
        weight=weight,
        seed=context.integer(_LEARNER),
        scoring=model.scoring,
        classes=classes,
        n_codes=n_codes if n_codes.any() else None,
        powers=powers,
    )


def _settings(model: Any, evaluation: Evaluation) -> SearchSettings:
    return SearchSettings(
        p_max=most_columns(model.p_max, evaluation),
        m=model.m,
        alpha=default_shares(evaluation) if model.alpha is None else model.alpha,
        ties=model.ties,
        sampling=model.sampling,
        first_step=model.first_step,
    )


def _kept(steps: Any, delta: float, dimension: int | None) -> list[int]:
    """Return how many models of each step vote: by post-processing, or of one dimension only."""
    if dimension is None:
        return list(post_process(steps, delta).kept)
    last = min(dimension, steps[-1].dimension)
    return [
        int((step.error <= quantile(step.errors, delta)).sum()) if step.dimension == last else 0
        for step in steps
    ]


def _measure_words(model: Any, labels: Labels) -> str:
    if model.scoring is None:
        return "error" if labels.target.n_classes else "squared_error"
    return model.scoring if isinstance(model.scoring, str) else "own measure"
