"""The parameters of a fit, what each may be, and how the models take part in comparisons."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from psephos.estimator.contender import Contender
from psephos.estimator.distributions import BALANCED, WEIGHTS, Integers, LogUniform
from psephos.estimator.params import Constraint, Flag, Interval, Jobs, OneOf, Options, Seed
from psephos.models.prototypes.problem import Problem

CONTENDER = Contender(
    "proset",
    "prototypes",
    {
        "quick": {
            "lambda_v": LogUniform(1e-4, 1.0),
            "n_batches": Integers(1, 4),
            "class_weight": BALANCED,
        },
        "samba": {
            "lambda_v": LogUniform(1e-6, 1.0),
            "n_batches": Integers(1, 10),
            "class_weight": WEIGHTS,
        },
    },
    ensemble=True,
    first={"quick": {"class_weight": "balanced"}},
    notes=(
        "drawn like the other models; the source's own rule, which prefers fewer columns, is "
        "ProsetSearchCV"
    ),
    default=True,
    small={"random_state": 0},
)

SHARED: Mapping[str, Constraint] = {
    "n_batches": Interval(0, whole=True),
    "lambda_v": OneOf((Interval(0), Options(("auto",)))),
    "lambda_w": OneOf((Interval(0), Options(("auto",)))),
    "alpha_v": Interval(0, 1),
    "alpha_w": Interval(0, 1),
    "beta": Interval(0, 0.5, open_low=True),
    "n_candidates": Interval(1, whole=True),
    "references": Options(("all", "rest")),
    "max_fraction": Interval(0, 1, open_low=True, open_high=True),
    "tol": Interval(0),
    "max_iter": Interval(1, whole=True),
    "max_reentries": Interval(0, whole=True),
    "min_gain": Interval(0),
    "warm_start": Flag(),
    "n_jobs": Jobs(),
    "random_state": Seed(),
}
_LEAST = 2.0  # lambda_v times the number of rows, where columns are few
_OF_ROWS = {"lambda_w": 3e-4, "lambda_u": 3.0}  # times the number of rows


class Settings(NamedTuple):
    """Parameters of a fit."""

    n_batches: int
    penalties: dict[str, Any]
    grouping: str
    model: Any  # a `ProsetClassifier` or `ProsetRegressor`, for the others


def automatic(name: str, weight: float, n_columns: int) -> float:
    """Return what 'auto' is for a penalty, given the rows' total weight and the columns."""
    of_all = max(_LEAST, math.log(n_columns)) if name == "lambda_v" else _OF_ROWS[name]
    return of_all / weight


def settings_of(model: Any, problem: Problem, n_batches: int) -> Settings:
    """Return the parameters of a fit."""
    names = ("lambda_v", "lambda_w", "lambda_u", "alpha_v", "alpha_w")
    penalties = {name: getattr(model, name) for name in names if hasattr(model, name)}
    size = float(problem.weight.sum()), max(problem.scaled.Z.shape[1], 1)
    for name, value in penalties.items():
        if value == "auto":
            penalties[name] = automatic(name, *size)
    return Settings(n_batches, penalties, getattr(model, "grouping", "likelihood"), model)
