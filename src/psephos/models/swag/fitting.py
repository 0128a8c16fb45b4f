"""The fit that the two wrappers share: judge, search, choose, refit, vote."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.linear_model import LassoCV, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import l1_min_c

from psephos._errors import PsephosError
from psephos._input import Context, Table
from psephos.base import Labels
from psephos.models.folding import make_splits
from psephos.models.swag.assembling import make_library, make_vote
from psephos.models.swag.backends import StepCost, Workers, estimate_cost, progress_bar
from psephos.models.swag.coding import CodedLearner
from psephos.models.swag.evaluation import Evaluation, divided, powers_of
from psephos.models.swag.mechanisms import make_mechanism
from psephos.models.swag.problem import Folds, Learner
from psephos.models.swag.search import search
from psephos.models.swag.settings import SearchSettings
from psephos.models.swag.steps import post_process
from psephos.models.swag.store import Store, identity_of
from psephos.models.units import refuse_huge
from psephos.vote import Vote
from psephos.vote.part import sparse

__all__ = ["cost_of", "embedded_count", "events_per_variable", "fit_library"]

_Floats = NDArray[np.float64]
_FOLDS, _DRAWS, _LEARNER = range(3)  # tasks that draw
_EPV_MOST = 6
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
        p_max=_most_columns(model.p_max, evaluation),
        m=model.m,
        alpha=(first, _ALPHA) if model.alpha is None else model.alpha,
        ties=model.ties,
        sampling=model.sampling,
        first_step=model.first_step,
    )


# ---------------------------------------------------------------------- what is left open
def events_per_variable(counts: Sequence[int] | NDArray[Any], per: float = 5.0) -> int:
    """Return p_max by the rule of events per variable: rows of the smallest class / `per`.

    At least 1. The paper aims at 4 to 7 events for each column.
    """
    return max(1, int(min(counts) // per))


def embedded_count(
    X: NDArray[np.float64],
    y: NDArray[Any],
    n_classes: int,
    folds: Folds,
    weight: NDArray[np.float64] | None = None,
) -> int:
    """Return p_max, at least 1, as the number of columns that an embedded method selects.

    Columns, without gaps, are standardised. Classification: logistic regression with an L1 penalty
    (more than two classes: one for each against the rest, and the union of their columns), its C
    chosen by accuracy on the folds among 12 from the least that selects a column (`l1_min_c`) to
    1000 times that. Regression: the lasso, its penalty chosen on the folds.
    """
    table = StandardScaler().fit_transform(X)
    weights = {} if weight is None else {"sample_weight": weight}
    trains = np.split(folds.train, folds.train_ptr[1:-1])
    splits = list(zip(trains, np.split(folds.test, folds.test_ptr[1:-1]), strict=True))
    if not n_classes:
        return max(1, int((LassoCV(cv=splits).fit(table, y, **weights).coef_ != 0).sum()))
    chosen = np.zeros(table.shape[1], dtype=bool)
    for k in range(n_classes) if n_classes > 2 else (1,):
        chosen |= _selected(table, y == k, splits, weights)
    return max(1, int(chosen.sum()))


def _selected(
    table: NDArray[np.float64], truth: NDArray[np.bool_], splits: Any, weights: dict[str, Any]
) -> NDArray[np.bool_]:
    """Return which columns the L1 logistic regression of one class against the rest selects."""
    version = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
    lasso: dict[str, Any] = {"l1_ratio": 1.0} if version >= (1, 8) else {"penalty": "l1"}
    model = LogisticRegression(solver="liblinear", random_state=0, max_iter=1000, **lasso)
    path = l1_min_c(table, truth, loss="log") * np.geomspace(1.001, 1000.0, 12)
    found: Any = GridSearchCV(model, {"C": path}, cv=splits).fit(table, truth, **weights)
    return np.asarray(found.best_estimator_.coef_)[0] != 0


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


def _most_columns(given: Any, evaluation: Evaluation) -> Any:
    """Return p_max of its rule: a number, or 'curve', which the search itself follows.

    Events are rows, counted as often as their weights say where these are whole numbers.
    """
    problem = evaluation.problem
    if given == "epv":
        whole = bool((problem.weight == np.round(problem.weight)).all())  # repetitions of rows
        weight = problem.weight if whole else np.ones(len(problem.y))
        events = np.bincount(problem.y, weight) if problem.n_classes else [weight.sum() / 2]
        return min(_EPV_MOST, events_per_variable(events))
    if given == "embedded":
        weight = problem.weight
        return embedded_count(problem.X, problem.y, problem.n_classes, problem.folds, weight)
    return given
