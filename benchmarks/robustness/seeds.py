"""Sound model files to damage: every setting of every estimator, and tables to ask them with."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone, is_regressor

from psephos import save
from psephos.testing import small_table

sys.path.append(str(Path(__file__).parents[2] / "tests"))
from small_settings import small_settings

__all__ = ["KINDS", "model_of", "write_models"]

KINDS = ("two", "three", "gaps", "frame")  # tables: classes, missing values, words and categories


def _table(kind: str, regression: bool, categories: bool) -> tuple[Any, Any]:
    n_classes = 0 if regression else 3 if kind in ("three", "frame") else 2
    X, y = small_table(n_classes, missing=0.1 if kind == "gaps" else 0.0)
    if kind != "frame":
        return X, y
    frame = pd.DataFrame(X, columns=[f"k__B;p__<b>{j}" for j in range(X.shape[1])])
    if categories:
        frame["site"] = pd.Categorical(np.array(["skin", "lüng", "骨"])[np.arange(len(y)) % 3])
        frame["grade"] = pd.Categorical((np.arange(len(y)) + np.arange(len(y)) // 7) % 4)
    return frame, y


def model_of(name: str, kind: str) -> Any:
    """Return one fitted model, or None where the estimator does not take such a table."""
    model = clone(small_settings()[name])
    categories = getattr(model, "estimator", None) is None or "c45" in name or "cart" in name
    X, y = _table(kind, is_regressor(model), categories and hasattr(model, "categorical_features"))
    if not categories and kind == "frame":
        model.set_params(categorical_features=None)
    try:
        return model.fit(X, y)
    except ValueError:  # models that cannot answer where a value is missing
        return None


def write_models(folder: Path, names: list[str] | None = None) -> list[Path]:
    """Write the seed files that are not there yet, and return all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or list(small_settings()):
        for kind in KINDS:
            path = folder / f"{name}.{kind}.psephos"
            if path.exists() or path.with_suffix(".none").exists():
                continue
            model = model_of(name, kind)
            if model is None:
                path.with_suffix(".none").touch()
            else:
                save(model, path)
    return sorted(folder.glob("*.psephos"))
