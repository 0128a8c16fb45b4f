"""Recalibration by pairs of answer and truth, with an honest figure of what it changes."""

import warnings
from copy import copy
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices, NDArray, PerRow
from psephos.calibrating import fitted_map, losses_of
from psephos.vote.recalibration import Recalibration, no_map
from psephos.vote.threshold import with_calibration

_MANY = 1000  # cases from which a map of any shape is fitted rather than a sigmoid
_FOLDS = 10


def recalibrated(model: Any) -> Any:
    """Return the classifier that answers through the map that its held-out answers justify.

    `psephos.compare` fits the map for each model it saves, on the answers of its recipe to cases
    held out; it is kept in the model file beside the model. Answers follow the mapped
    probabilities, voters and weights stay.

    Parameters
    ----------
    model : fitted VoteClassifier
        With `recalibration_`; it is left as it is.

    Returns
    -------
    recalibrated : VoteClassifier

    Raises
    ------
    PsephosError
        If the model has no such map.

    Examples
    --------
    >>> from psephos import compare, recalibrated
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> found = compare(X[::4], y[::4].to_numpy(), models=["cart"], n_jobs=1)
    >>> sure = recalibrated(found.models["cart"])
    >>> sure.predict_proba(X[:1]).shape
    (1, 2)
    """
    found = getattr(model, "recalibration_", None)
    if found is None:
        target: Any = getattr(getattr(model, "vote_", None), "target", None)
        raise PsephosError(no_map(type(model).__name__, getattr(target, "n_classes", 2)))
    again = copy(model)
    again.vote_ = with_calibration(model.vote_, found.calibration)
    again.recalibration_ = None
    return again


def recalibration_of(
    chances: Any,
    codes: Any,
    cases: Any = None,
    *,
    groups: PerRow = None,
    method: str | None = None,
    seed: int = 0,
) -> Recalibration:
    """Return the map from answers to the truth, and what it changes on cases it was not fitted on.

    `chances` (n, K) are probabilities told of cases that the models had not seen, `codes` (n,)
    their classes. `cases` (n,) says which case a row is of, where several are of one: each case
    counts once. Cases of a group stay on one side of the cross-fitting; by default each is a group.
    The method is by default isotonic from 1,000 cases, sigmoid below, where a map of any shape
    would follow noise.
    """
    chances, codes = np.asarray(chances, dtype=np.float64), np.asarray(codes)
    cases = np.arange(len(codes)) if cases is None else np.asarray(cases)
    _, own, count = np.unique(cases, return_inverse=True, return_counts=True)
    weight, n_cases = 1.0 / count[own], len(count)
    method = method or ("isotonic" if n_cases >= _MANY else "sigmoid")
    apart = own if groups is None else np.asarray(groups)
    after, n_folds = cross_fitted(chances, codes, apart, weight=weight, method=method, seed=seed)
    truth = np.eye(chances.shape[1])[codes]
    before = losses_of(codes, chances, weight)
    again = losses_of(codes, after, weight)
    whole: Any = fitted_map(chances, truth, weight, method)
    return Recalibration(whole, n_cases, *before, *again, n_folds)


def cross_fitted(
    chances: Floats,
    codes: NDArray[Any],
    groups: Array,
    *,
    weight: Floats | None = None,
    method: str = "sigmoid",
    seed: int = 0,
) -> tuple[Floats, int]:
    """Return each row's probabilities by a map fitted on other groups, and the number of folds."""
    weight = np.ones(len(codes)) if weight is None else weight
    k = chances.shape[1]
    alike = [len(np.unique(groups[codes == one])) for one in range(k)]
    n_folds = min(_FOLDS, *alike)
    if n_folds < 2:
        raise PsephosError(
            "a map of probabilities needs at least two cases (groups) of each class, and there "
            f"are {', '.join(map(str, alike))}."
        )
    out, truth = np.empty_like(chances), np.eye(k)[codes]
    for train, test in _divided(codes, groups, n_folds, seed):
        if not len(test):
            continue
        if len(np.unique(codes[train])) < k:
            raise PsephosError(
                "the groups cannot be divided so that each part has every class: a map of "
                "probabilities cannot be judged on them."
            )
        found: Any = fitted_map(chances[train], truth[train], weight[train], method)
        out[test] = found.chances(chances[test], apart=False)
    return out, n_folds


def _divided(codes: Array, groups: Array, n_folds: int, seed: int) -> list[tuple[Indices, Indices]]:
    """Return (rows to fit on, rows held out) of each fold; groups stay whole."""
    _, first, own, count = np.unique(
        groups, return_index=True, return_inverse=True, return_counts=True
    )
    settings: dict[str, Any] = {"shuffle": True, "random_state": seed}
    if (count == count[0]).all() and (codes == codes[first][own]).all():
        # Groups of one size and class each are divided as cases: at 3,000 in 1/800 of the time.
        folds = StratifiedKFold(n_folds, **settings).split(first, codes[first])
        held = [np.isin(own, groups_out) for _, groups_out in folds]
        return [(np.flatnonzero(~out), np.flatnonzero(out)) for out in held]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class of fewer rows than folds
        return list(StratifiedGroupKFold(n_folds, **settings).split(codes, codes, groups))
