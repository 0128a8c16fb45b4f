"""The columns that a fitted model reads, their importances, and its number of voters."""

# pyright: reportMissingTypeStubs=false

from typing import Any, TypeAlias

import numpy as np
from sklearn.dummy import DummyClassifier

from psephos._errors import PsephosError
from psephos._types import Array, Estimator, Floats, Indices, Values
from psephos.estimator.columns import dense_columns
from psephos.estimator.contender import Contender
from psephos.protocol.running.contenders import OneModelALabel

_Fitted: TypeAlias = Any  # an estimator or step of any library
_Sources = list[Indices]  # for each column inside a pipeline, the user's columns it depends on


def columns_used(estimator: _Fitted, n_columns: int) -> Indices:
    """Return the columns of the user's table that a fitted estimator reads.

    Parameters
    ----------
    estimator : fitted estimator or pipeline
        A model of psephos (its `features_used_`), a tree, a forest, gradient boosting, XGBoost
        (columns of their splits), a linear model (coefficients other than 0), neighbours or a
        support vector machine with another kernel (all), a dummy (none); a one-against-rest or
        bagging collection of these (the union); any of them after imputing, encoding, scaling or
        selecting steps. A categorical column counts once, even if it is encoded as several.
    n_columns : int
        Number of columns of the table that the estimator was fitted on.

    Returns
    -------
    columns : ndarray of int, sorted

    Raises
    ------
    PsephosError
        If the estimator, or a step before it, is of a kind whose columns are not known.
    """
    model, sources = _traced(estimator, n_columns)
    read = _read_by(model, len(sources))
    if not len(read):
        return np.empty(0, dtype=np.intp)
    return _union([sources[int(j)] for j in read])


def _traced(estimator: _Fitted, n_columns: int) -> tuple[_Fitted, _Sources]:
    """Return the model at the end of a pipeline, and the sources of its input columns."""
    sources: _Sources = [np.array([j], dtype=np.intp) for j in range(n_columns)]
    while hasattr(estimator, "steps"):
        for _, step in estimator.steps[:-1]:
            sources = _through(step, sources)
        estimator = estimator.steps[-1][1]
    return estimator, sources


def importances(estimator: _Fitted, X: Values) -> Floats | None:
    """Return the importance of each column in a fitted estimator, or None if it has none.

    Parameters
    ----------
    estimator : fitted estimator or pipeline
        As in `columns_used`. Importances are its `feature_importances_`, else the absolute
        coefficients times the standard deviations of their inputs, else the mean of its members'
        importances, each scaled to sum 1. Those of a preprocessed column count for its source.
    X : ndarray or CSC array of shape (n, p)
        The rows it was fitted on.

    Returns
    -------
    importances : ndarray of shape (p,) or None
        Not negative.

    Raises
    ------
    PsephosError
        If the columns that a preprocessing step reads are not known.
    """
    found, values = np.zeros(X.shape[1]), X
    model, sources = _traced(estimator, len(found))
    while hasattr(estimator, "steps"):
        for _, step in estimator.steps[:-1]:
            values = step.transform(values) if hasattr(step, "transform") else values
        estimator = estimator.steps[-1][1]
    own = _own(model, values)
    if own is None:
        return None
    for value, source in zip(own.tolist(), sources, strict=True):
        found[source] += value / len(source)
    return found


def _own(model: _Fitted, X: Any) -> Floats | None:
    """Return the importance of each input column of a model, given the rows it was fitted on."""
    model = getattr(model, "regressor_", model)  # inside TransformedTargetRegressor
    if hasattr(model, "feature_importances_"):
        return np.asarray(model.feature_importances_, dtype=np.float64)
    if hasattr(model, "coef_"):
        return np.abs(_coefficients(model)).sum(axis=0) * dense_columns(X).std(axis=0)
    members: list[_Fitted] = np.ravel(np.array(getattr(model, "estimators_", []), object)).tolist()
    subsets: Any = getattr(model, "estimators_features_", [np.arange(X.shape[1])] * len(members))
    total = np.zeros(X.shape[1])
    for member, subset in zip(members, subsets, strict=True):
        one = importances(member, X[:, subset])
        if one is None and len(_read_by(member, len(subset))):
            return None
        if one is not None and one.any():
            np.add.at(total, subset, one / one.sum())
    return total if members else None


def _coefficients(model: _Fitted) -> Array:
    coefficients: Any = model.coef_
    table = coefficients.toarray() if hasattr(coefficients, "toarray") else coefficients
    return np.atleast_2d(np.asarray(table))


# ------------------------------------------------------------------- models
def _read_by(model: _Fitted, p: int) -> Indices:
    """Return the indices of the input columns, of p, that a model reads."""
    vote = getattr(model, "vote_", None)
    if vote is not None:
        return np.asarray(vote.used, dtype=np.intp)
    if hasattr(model, "tree_"):
        features = np.asarray(model.tree_.feature)
        return np.unique(features[features >= 0]).astype(np.intp)
    if hasattr(model, "get_booster"):
        return _read_by_xgboost(model)
    if hasattr(model, "regressor_"):  # inside TransformedTargetRegressor
        return _read_by(model.regressor_, p)
    if hasattr(model, "coef_"):
        return np.flatnonzero(np.any(_coefficients(model) != 0, axis=0))
    members: _Fitted = getattr(model, "estimators_", None)
    if members is not None:
        return _read_by_members(model, members, p)
    kind = type(model).__name__
    if kind.startswith("Dummy") or kind == "_ConstantPredictor":
        return np.empty(0, dtype=np.intp)
    if hasattr(model, "support_vectors_") or hasattr(model, "n_samples_fit_"):
        return np.arange(p, dtype=np.intp)
    raise PsephosError(
        f"psephos does not know which columns {kind} reads: count all {p} of them, or give the "
        "model a fitted tree, coefficients or vote to read them from."
    )


def _read_by_members(model: Estimator, members: _Fitted, p: int) -> Indices:
    flat: list[_Fitted] = list(np.asarray(members, dtype=object).ravel())
    subsets: Any = getattr(model, "estimators_features_", None)
    read: list[Indices] = []
    for i, member in enumerate(flat):
        inside = columns_used(member, p if subsets is None else len(subsets[i]))
        read.append(inside if subsets is None else np.asarray(subsets[i], dtype=np.intp)[inside])
    return np.unique(np.concatenate(read)) if read else np.empty(0, dtype=np.intp)


def _read_by_xgboost(model: _Fitted) -> Indices:
    booster = model.get_booster()
    # only split columns have a count; columns are named f0, f1, ... if it was fitted on an array
    names: Any = booster.feature_names
    where = {n: j for j, n in enumerate(names)} if names else {}
    found = [where[k] if k in where else int(k[1:]) for k in booster.get_score()]
    return np.array(sorted(found), dtype=np.intp)


# ------------------------------------------------------------------- steps before the model
def _through(step: _Fitted, sources: _Sources) -> _Sources:
    """Return the sources of a fitted step's outputs."""
    if step is None or isinstance(step, str):  # 'passthrough'
        return sources
    if hasattr(step, "steps"):
        for _, inner in step.steps:
            sources = _through(inner, sources)
        return sources
    if hasattr(step, "transformers_"):
        return _through_columns(step, sources)
    if hasattr(step, "transformer_list"):
        return [one for _, part in step.transformer_list for one in _through(part, sources)]
    if hasattr(step, "get_support"):
        return [sources[j] for j in np.flatnonzero(step.get_support()).tolist()]
    if hasattr(step, "categories_"):
        return _through_encoder(step, sources)
    if hasattr(step, "statistics_"):
        return _through_imputer(step, sources)
    if hasattr(step, "features_"):  # MissingIndicator
        return [sources[j] for j in np.asarray(step.features_).tolist()]
    if type(step).__name__.endswith(("Scaler", "Normalizer", "Transformer", "Binarizer")):
        _refuse_resizing(step, len(sources))
        # a row's norm depends on all its columns
        return [_union(sources)] * len(sources) if type(step).__name__ == "Normalizer" else sources
    raise PsephosError(
        f"psephos does not know which columns the step {type(step).__name__} reads: "
        "count all columns, or use imputing, encoding, scaling and selecting steps."
    )


def _union(sources: _Sources) -> Indices:
    return np.unique(np.concatenate(sources))


def _refuse_resizing(step: _Fitted, p: int) -> None:
    names: Any = step.get_feature_names_out() if hasattr(step, "get_feature_names_out") else ()
    if len(names) != p:
        raise PsephosError(
            f"the step {type(step).__name__} turns {p} columns into {len(names)}, and psephos does "
            "not know which it reads for each: count all columns."
        )


def _through_columns(step: _Fitted, sources: _Sources) -> _Sources:
    outputs: dict[int, Indices] = {}
    for name, part, chosen in step.transformers_:
        place = step.output_indices_[name]
        if isinstance(part, str) and part == "drop":
            continue
        inside = _through(part, [sources[j] for j in _positions(step, chosen, len(sources))])
        outputs |= dict(zip(range(place.start, place.stop), inside, strict=True))
    return [outputs[k] for k in sorted(outputs)]


def _positions(step: _Fitted, chosen: Any, p: int) -> list[int]:
    if isinstance(chosen, slice):
        return list(range(p))[chosen]
    picked = np.atleast_1d(np.asarray(chosen))
    if picked.dtype.kind == "b":
        return np.flatnonzero(picked).tolist()
    if picked.dtype.kind in "iu":
        return picked.tolist()
    names = [str(n) for n in step.feature_names_in_]
    return [names.index(str(n)) for n in picked]


def _through_encoder(step: _Fitted, sources: _Sources) -> _Sources:
    if type(step).__name__ == "OrdinalEncoder":
        return sources
    # output names contain the mark of their input, in all versions of scikit-learn
    marks = [f"\x1f{j}\x1f" for j in range(len(sources))]
    return [sources[int(str(name).split("\x1f")[1])] for name in step.get_feature_names_out(marks)]


def _through_imputer(step: _Fitted, sources: _Sources) -> _Sources:
    kept = list(range(len(sources)))
    if not step.keep_empty_features:
        kept = [j for j in kept if step.statistics_[j] == step.statistics_[j]]
    flagged: list[int] = []
    indicator = getattr(step, "indicator_", None)
    if indicator is not None:
        flagged = np.asarray(indicator.features_).tolist()
    return [sources[j] for j in (*kept, *flagged)]


# ------------------------------------------------------------------- voters
def final_step(estimator: Estimator) -> Any:
    """Return the model at the end of a pipeline, or the estimator itself."""
    steps: Any = getattr(estimator, "steps", None)
    return estimator if steps is None else steps[-1][1]


def n_voters(model: Any, contender: Contender) -> int | None:
    """Return the number of voters of a model; None if it is not an ensemble."""
    if isinstance(model, OneModelALabel):
        own = [one for one in model.estimators_ if not isinstance(one, DummyClassifier)]
        each = [n_voters(one, contender) for one in own]
        return sum(n or 0 for n in each) if any(n is not None for n in each) else None
    last = final_step(model)
    vote = getattr(last, "vote_", None)
    if vote is not None:
        return int(vote.n_voters)
    if not contender.ensemble:
        return None
    if hasattr(last, "get_booster"):
        return len(last.get_booster().get_dump())
    found = getattr(last, "estimators_", None)
    return None if found is None else int(np.size(found))
