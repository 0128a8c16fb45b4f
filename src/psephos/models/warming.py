"""Compile kernels ahead of use by fitting each model on small tables."""

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array
from psephos.base import VoteClassifier
from psephos.registry import estimator_class, estimator_classes, model_names

_ROWS, _COLUMNS = 60, 8


def warm_up(only: str = "") -> Iterator[tuple[str, float]]:
    """Fit each model on small tables, predict and explain, and yield its name and the seconds.

    The tables have two and three classes (a regressor: numbers), with and without missing values,
    with and without a category, and more rows than columns or fewer. Compiled kernels are cached
    on disk, if a folder is writable, for every later process. Settings other than the defaults may
    need further kernels.

    Parameters
    ----------
    only : str, default=""
        A name of `psephos list`; '' means all models.

    Raises
    ------
    PsephosError
        If there is no model of this name.
    """
    names = model_names()
    if only and only not in names:
        raise PsephosError(f"the model must be one of {', '.join(names)}; got {only!r}.")
    here = {} if only else estimator_classes()
    for name in [only] if only else [one for one, kind in names.items() if kind in here]:
        start = time.perf_counter()
        kind: Any = estimator_class(names[name])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # models warn of such small tables
            for X, y, categories in _tables(issubclass(kind, VoteClassifier)):
                _exercise(kind, X, y, categories)
        yield name, time.perf_counter() - start


def _exercise(kind: Any, X: Array, y: Array, categories: list[int] | None) -> None:
    known = kind().get_params(deep=False)
    settings: dict[str, Any] = dict(kind.contender.small)  # a kernel is compiled at its first use
    if categories and "categorical_features" not in known:
        return
    if "categorical_features" in known:
        settings["categorical_features"] = categories
    model = kind(**settings).fit(X, y)
    model.predict(X[:3])
    if hasattr(model, "predict_proba"):
        model.predict_proba(X[:3])
    model.explain(X[:3]).columns()


def _tables(classes: bool) -> Iterator[tuple[Array, Array, list[int] | None]]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(_ROWS, _COLUMNS))
    missing, codes = X.copy(), X.copy()
    wide = np.repeat(X, _ROWS // _COLUMNS + 1, axis=1)  # extra trees do not bin it
    missing[::7, 1] = np.nan
    codes[:, 2] = rng.integers(3, size=_ROWS)
    for k in (2, 3) if classes else (0,):
        y: Array = X[:, 0] + 0.5 * rng.normal(size=_ROWS)
        if k:
            y = np.array([f"class {c}" for c in np.argsort(np.argsort(y)) * k // _ROWS])
        yield X, y, None
        yield missing, y, None
        yield wide, y, None
        yield codes, y, [2]
