"""Ask a fitted model everything it can be asked, on a small table of what it says it reads."""

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from psephos import load, save
from psephos._errors import PsephosError

__all__ = ["asked", "probe_table"]

_PROPERTIES = (
    "classes_", "n_features_used_", "features_used_", "feature_importances_", "features_backup_",
    "tree_", "rules_", "cptable_", "nodes_", "splits_", "competitors_", "variable_importance_",
    "impurity_importance_", "n_features_in_",
)  # fmt: skip
_PLAIN = ("describe", "usage", "reduce", "export_text", "get_depth", "get_n_leaves", "get_params",
          "__repr__", "_repr_html_", "__str__")  # fmt: skip
_OF_TABLES = (
    "predict", "predict_proba", "decision_function", "staged_predict", "staged_predict_proba",
    "staged_decision_function", "contributions", "local_importance", "mass", "explain",
    "uncertainty", "distribution", "usable",
)  # fmt: skip
# may say NaN, or infinity
_UNSURE = ("get_params", "objective_", "library_.table", "usable", "competitors_", "splits_")
# what a sound file may say, too: it keeps no rows, or was fitted to a constant target
_LAWFUL = ("importance needs training rows", "a voter's spread is 0")
_WIDE = 20_000  # unnamed columns: beyond, the table is sparse


def probe_table(model: Any, n: int = 7) -> Any:
    """Return a small random table of the columns that a model was fitted on."""
    rng, p = np.random.default_rng(0), int(model.n_features_in_)
    schema = model.schema_
    if p > _WIDE and not schema.levels:
        return sparse.random(n, p, min(1.0, 500 / p), "csr", random_state=0)
    X: Any = rng.standard_normal((n, p)) * 2.0
    if not schema.levels and schema.names is None:
        return X
    X = X.astype(object) if schema.levels else X
    for j, levels in schema.levels.items():
        X[:, j] = [levels[int(k)] for k in rng.integers(len(levels), size=n)] if levels else np.nan
    return X if schema.names is None else pd.DataFrame(X, columns=list(schema.names))


def _numbers(value: Any) -> bool:
    """Return whether every number in an answer is finite."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "O":
            return all(map(_numbers, value.ravel().tolist()))
        return value.dtype.kind not in "fc" or bool(np.isfinite(value).all())
    if isinstance(value, float):
        return bool(np.isfinite(value))
    if isinstance(value, dict):
        return all(map(_numbers, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_numbers, value))
    return True


def _calls(model: Any, X: Any, scratch: Path) -> Iterator[tuple[str, Any]]:
    """Yield the name of each question and what asks it."""
    kind = type(model)
    for name in (*_PROPERTIES, *model.extras):
        if hasattr(kind, name) or name in model.extras:
            yield name, lambda name=name: getattr(model, name)
    for name in _PLAIN:
        if hasattr(kind, name):
            yield name, lambda name=name: getattr(model, name)()
    for name in _OF_TABLES:
        if hasattr(kind, name):
            yield name, lambda name=name: _drawn(getattr(model, name)(X))
    if hasattr(kind, "margins"):
        yield "margins", lambda: model.margins(X, np.resize(model.classes_, X.shape[0]))
    if hasattr(kind, "prune"):
        yield "prune", lambda: model.prune(0.01).predict(X)
    if hasattr(kind, "truncate"):
        yield "truncate", lambda: model.truncate(1 if len(model.n_prototypes_) else 0).predict(X)
    if hasattr(model, "library_"):
        yield "library_.table", lambda: model.library_.table()
        yield "library_.dimensions", lambda: model.library_.dimensions.columns()
    yield "reduce.predict", lambda: _reduced(model, X)
    yield "save", lambda: _saved(model, X, scratch)


def _drawn(value: Any) -> Any:
    if hasattr(value, "columns") and callable(value.columns):  # ballots
        return value.columns()
    return list(value) if hasattr(value, "__next__") else value


def _reduced(model: Any, X: Any) -> Any:
    small = model.reduce()
    columns = model.vote_.columns if len(model.vote_.columns) else np.array([0])
    part = X.iloc[:, columns] if hasattr(X, "iloc") else X[:, columns]
    return small.predict(part)


def _saved(model: Any, X: Any, scratch: Path) -> Any:
    save(model, scratch)
    again = load(scratch).predict(X)
    if not np.array_equal(again, model.predict(X), equal_nan=again.dtype.kind == "f"):
        raise AssertionError("a model that was written again answers otherwise")
    return again


def asked(model: Any, scratch: Path) -> dict[str, str]:
    """Return what came of every question: '', 'not finite', or the error's kind and words."""
    found: dict[str, str] = {}
    X = probe_table(model)
    for name, call in _calls(model, X, scratch):
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                said = call()
                finite = name in _UNSURE or _numbers(said)
                found[name] = "" if finite else "not finite"
            except PsephosError as error:
                found[name] = "" if str(error).startswith(_LAWFUL) else f"PsephosError: {error}"
            except Exception as error:
                found[name] = f"{type(error).__name__}: {error}"
    return found
