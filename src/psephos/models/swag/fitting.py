"""The fit that the two wrappers share: judge, search, choose, refit, vote."""

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.base import Labels
from psephos.estimator.input import Context, Table
from psephos.models.cloning import in_codes
from psephos.models.folding import make_splits
from psephos.models.swag.assembling import make_library, make_vote
from psephos.models.swag.backends import StepCost, Workers, estimate_cost, progress_bar
from psephos.models.swag.coding import CodedLearner
from psephos.models.swag.evaluation import Evaluation, divided, powers_of
from psephos.models.swag.mechanisms import make_mechanism
from psephos.models.swag.most_columns import most_columns
from psephos.models.swag.problem import Folds, Learner
from psephos.models.swag.search import search
from psephos.models.swag.settings import SearchSettings
from psephos.models.swag.steps import post_process
from psephos.models.swag.store import Store, identity_of
from psephos.models.units import refuse_huge
from psephos.vote import Vote
from psephos.vote.part import sparse

_Floats = NDArray[np.float64]
_FOLDS, _DRAWS, _LEARNER = range(3)  # tasks that draw
_ALPHA, _POOL = 0.05, 30


def fit_library(
    model: Any,
    names: Mapping[str, Learner],
    table: Table,
    labels: Labels,
    weight: _Floats,
    context: Context,
) -> tuple[Vote, dict[str, Any]]:
    """Return the vote and the library of a wrapper's parameters; `names` are its mechanisms."""
    if labels.target.kind == "regression":
        refuse_huge(labels.y)
    if not (sparse.issparse(table.values) or not np.isnan(table.values).all()):
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
    kept = post_process(found.steps, model.delta, model.dimension)
    measure = "error" if labels.target.n_classes else "squared_error"
    if model.scoring is not None:
        measure = model.scoring if isinstance(model.scoring, str) else "own measure"
    library = make_library(found.steps, kept, evaluation, table, measure)
    n_reserve = model.n_reserve if model.absent == "vote" else 0
    vote = make_vote(library, evaluation, model.vote, n_reserve, labels.target)
    n_splits = evaluation.problem.folds.n_splits
    return vote, {"library_": library, "stopped_": found.stopped, "n_splits_": n_splits}


def cost_of(
    model: Any,
    names: Mapping[str, Learner],
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
    names: Mapping[str, Learner],
    table: Table,
    labels: Labels,
    weight: _Floats,
    context: Context,
) -> Evaluation:
    n_classes = labels.target.n_classes
    classes = labels.target.classes if n_classes else None
    splits = make_splits(
        labels.y,
        n_classes,
        groups=context.groups,
        n_folds=_fold_count(model.n_folds, labels, context),
        n_repeats=model.n_repeats,
        cv=_among_kept(model.cv, context.kept),
        seed=context.integer(_FOLDS),
        classes=classes,
    )
    learner = make_mechanism(in_codes(model.learner, labels.target), names)
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
        folds=Folds.of(splits),
        weight=weight,
        seed=context.integer(_LEARNER),
        scoring=model.scoring,
        classes=classes,
        n_codes=n_codes if n_codes.any() else None,
        powers=powers,
    )


def _settings(model: Any, evaluation: Evaluation) -> SearchSettings:
    """Return the settings; by default 5 % are strong, first at least 30 if the table has them."""
    first = max(_ALPHA, min(1.0, _POOL / evaluation.problem.X.shape[1]))
    return SearchSettings(
        p_max=most_columns(model.p_max, evaluation.problem),
        m=model.m,
        alpha=(first, _ALPHA) if model.alpha is None else model.alpha,
        ties=model.ties,
        sampling=model.sampling,
        first_step=model.first_step,
    )


def _fold_count(given: int, labels: Labels, context: Context) -> int:
    """Return the folds that the table allows: no more than rows (or groups) of any class."""
    if context.groups is not None:
        units = len(np.unique(context.groups))
    else:
        units = int(np.bincount(labels.y).min()) if labels.target.n_classes else len(labels.y)
    if len(labels.y) < 2:
        raise PsephosError("n_samples=1: cross-validation needs at least two rows.")
    return max(2, min(given, units))


def _among_kept(cv: Any, kept: NDArray[np.intp] | None) -> Any:
    """Return given (train, test) pairs without the rows of weight 0, by the places of the rest."""
    if kept is None or cv is None or isinstance(cv, str | int) or hasattr(cv, "split"):
        return cv
    pairs: list[tuple[Any, Any]] = []
    for parts in cv:
        rows = [np.asarray(part) for part in parts]
        rows = [np.flatnonzero(part) if part.dtype == bool else part for part in rows]
        train, test = (np.searchsorted(kept, part[np.isin(part, kept)]) for part in rows)
        pairs.append((train, test))
    return pairs
