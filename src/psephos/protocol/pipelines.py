"""What baselines need before they can read a table: imputing, one-hot codes, scaling."""

# pyright: reportMissingTypeStubs=false

from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from psephos.contender import Shape

__all__ = ["prepared"]


def prepared(model: Any, shape: Shape, *, scale: bool = False) -> Pipeline:
    """Return `model` behind the steps the table needs, all fitted inside the training part.

    Numbers: the median where missing, then, with `scale`, mean 0 and variance 1. Categories: the
    most frequent level where missing, then one column of 0 and 1 per level; a level not seen in
    training is 0 throughout.
    """
    number: list[tuple[str, Any]] = []
    if shape.missing:
        number.append(("impute", SimpleImputer(strategy="median", keep_empty_features=True)))
    if scale:
        number.append(("scale", StandardScaler()))
    if not shape.categorical:
        return Pipeline([*number, ("model", model)])
    category: list[tuple[str, Any]] = []
    if shape.missing:
        filler = SimpleImputer(strategy="most_frequent", keep_empty_features=True)
        category.append(("impute", filler))
    category.append(("encode", OneHotEncoder(handle_unknown="ignore", sparse_output=False)))
    parts: list[tuple[str, Any, list[int]]] = []
    numeric = [j for j in range(shape.n_columns) if j not in set(shape.categorical)]
    if numeric:
        parts.append(("numbers", Pipeline(number) if number else "passthrough", numeric))
    parts.append(("categories", Pipeline(category), list(shape.categorical)))
    return Pipeline([("columns", ColumnTransformer(parts)), ("model", model)])
