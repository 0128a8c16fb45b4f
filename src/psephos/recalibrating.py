"""Recalibration by held-out predictions and the truth, with cross-fitted losses."""

import warnings
from copy import copy
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices, NDArray, PerRow
from psephos.calibrating import LEAST, fitted_map, losses_of
from psephos.vote.recalibration import Recalibration, no_map
from psephos.vote.threshold import with_calibration

_MANY = 1000  # cases from which an isotonic map is fitted rather than a sigmoid
_FOLDS = 10


def recalibrated(model: Any) -> Any:
    """Return the classifier with the calibration that was fitted to its held-out predictions.

    `psephos.compare` fits this map for each model it saves, on the held-out predictions of its
    recipe; the model file keeps it. Predictions follow the calibrated probabilities; voters and
    weights stay the same.

    Parameters
    ----------
    model : fitted VoteClassifier
        With `recalibration_`; it is not changed.

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
    """Return the calibration map of held-out probabilities, and cross-fitted losses of it.

    `chances` (n, K) are predicted probabilities of cases that were held out, `codes` (n,) their
    classes. `cases` (n,) is the case of each row, if a case has several rows: each case counts
    once. Cross-fitting does not divide groups; by default each case is a group. The default method
    is isotonic from 1,000 cases. Below, where an isotonic map overfits, it is sigmoid, unless the
    cross-fitted log-loss of an isotonic map is lower by more than two standard errors.
    """
    chances, codes = np.asarray(chances, dtype=np.float64), np.asarray(codes)
    cases = np.arange(len(codes)) if cases is None else np.asarray(cases)
    _, own, count = np.unique(cases, return_inverse=True, return_counts=True)
    weight, n_cases = 1.0 / count[own], len(count)
    apart = own if groups is None else np.asarray(groups)
    kinds = [method] if method else ["isotonic"] if n_cases >= _MANY else ["sigmoid", "isotonic"]
    maps = [cross_fitted(chances, codes, apart, weight=weight, method=m, seed=seed) for m in kinds]
    best = len(maps) > 1 and _clearly_lower(maps[1][0], maps[0][0], codes, weight, apart)
    method, (after, n_folds) = kinds[best], maps[best]
    truth = np.eye(chances.shape[1])[codes]
    before = losses_of(codes, chances, weight)
    again = losses_of(codes, after, weight)
    whole: Any = fitted_map(chances, truth, weight, method)
    return Recalibration(whole, n_cases, *before, *again, n_folds)


def _clearly_lower(
    one: Floats, other: Floats, codes: NDArray[Any], weight: Floats, groups: Array
) -> bool:
    """Return whether the first log-loss is lower by two standard errors over the groups."""
    rows, index = np.arange(len(codes)), np.unique(groups, return_inverse=True)[1]
    loss = [-np.log(np.maximum(p[rows, codes], LEAST)) for p in (one, other)]
    gain = np.bincount(index, weight * (loss[1] - loss[0]))
    return bool(gain.mean() > 2.0 * gain.std(ddof=1) / np.sqrt(len(gain)))


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
                "probabilities cannot be validated on them."
            )
        found: Any = fitted_map(chances[train], truth[train], weight[train], method)
        out[test] = found.chances(chances[test], apart=False)
    return out, n_folds


def _divided(codes: Array, groups: Array, n_folds: int, seed: int) -> list[tuple[Indices, Indices]]:
    """Return (rows to fit on, rows held out) of each fold; groups are not divided."""
    _, first, own, count = np.unique(
        groups, return_index=True, return_inverse=True, return_counts=True
    )
    settings: dict[str, Any] = {"shuffle": True, "random_state": seed}
    if (count == count[0]).all() and (codes == codes[first][own]).all():
        # Equally large groups, each of one class, are split as cases: 800 times faster at 3,000.
        folds = StratifiedKFold(n_folds, **settings).split(first, codes[first])
        held = [np.isin(own, groups_out) for _, groups_out in folds]
        return [(np.flatnonzero(~out), np.flatnonzero(out)) for out in held]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class of fewer rows than folds
        return list(StratifiedGroupKFold(n_folds, **settings).split(codes, codes, groups))
