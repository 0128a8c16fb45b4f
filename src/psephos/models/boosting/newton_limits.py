"""What the parameters of second-order boosting may be, and what they mean for its trees."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.estimator.contender import Contender, Params, Shape
from psephos.estimator.distributions import BALANCED, WEIGHTS, Integers, LogUniform, Uniform
from psephos.estimator.input import Table
from psephos.kernels.sorted_trees.newton_gain import Penalty
from psephos.trees.newton import Growth

_HIST_COLUMNS = 1000  # of a comparison: beyond, gigabytes
_MOST = float(np.finfo(np.float32).max)


def growth(model: Any, signs: NDArray[np.int64], n_rows: int) -> Growth:
    """Return what limits each tree."""
    ordered = model.grow_policy == "lossguide" or model.max_leaves is not None
    local = (model.tree_method, model.proposal) == ("approx", "local")
    if ordered and (local or model.tree_method == "exact"):
        name = "max_leaves" if model.max_leaves is not None else "grow_policy"
        how = "proposal='local'" if local else "tree_method='exact'"
        raise PsephosError(
            f"{name}={getattr(model, name)!r} with {how}: these trees are grown in whole levels; "
            "take tree_method='hist', or 'approx' with proposal='global'."
        )
    return Growth(
        penalty(model),
        n_rows if model.max_depth is None else model.max_depth,
        signs,
        model.max_leaves,
        model.grow_policy == "lossguide",
    )


def penalty(model: Any) -> Penalty:
    """Return the costs as float32 holds them."""
    numbers = (model.reg_lambda, model.reg_alpha, model.max_delta_step, model.min_child_weight)
    local = (model.tree_method, model.proposal) == ("approx", "local")
    return Penalty(
        *(float(np.float32(min(v, _MOST))) for v in numbers),
        constrained=model.monotone_constraints is not None,
        share=1.0 / model.max_bin if local else 0.0,
        gamma=float(np.float32(min(model.gamma, _MOST))),
    )


def directions(given: Any, table: Table) -> NDArray[np.int64]:
    """Return a direction per column."""
    p = table.values.shape[1]
    if given is None:
        return np.zeros(p, np.int64)
    words = table.schema.words().columns
    if isinstance(given, dict):
        unknown = [name for name in given if name not in words]
        if unknown:
            raise PsephosError(
                f"monotone_constraints names {unknown[0]!r}, which is not a column of the table."
            )
        given = [given.get(name, 0) for name in words]
    try:
        signs = np.asarray(given)
    except ValueError:  # lists of different lengths
        signs = np.empty(0)
    if signs.shape != (p,) or not np.isin(signs, (-1, 0, 1)).all():
        raise PsephosError(
            f"monotone_constraints is {str(given)[:60]}: give -1, 0 or 1 for each of the {p} "
            "columns, or a dict from names to them."
        )
    for j in np.flatnonzero(signs):
        if int(j) in table.n_codes:
            raise PsephosError(
                f"monotone_constraints gives column {words[j]!r} a direction, but its values are "
                "categories, which have no order: give 0."
            )
    return signs.astype(np.int64)


def _settings(params: Params, shape: Shape, seed: int) -> Params:
    """Return histograms where their memory allows: one is kept for each level and column."""
    return {"tree_method": "hist" if shape.n_columns <= _HIST_COLUMNS else "exact", **params}


CONTENDER = Contender(
    "newton-boosting",
    "boosting",
    {
        "quick": {
            "n_estimators": Integers(20, 100),
            "max_depth": Integers(1, 6),
            "learning_rate": LogUniform(0.03, 0.5),
            "class_weight": BALANCED,
        },
        "samba": {
            "n_estimators": Integers(1, 300),
            "max_depth": Integers(1, 10),
            "learning_rate": Uniform(0, 1),
            "class_weight": WEIGHTS,
        },
    },
    settings=_settings,
    ensemble=True,
    first={"quick": {"n_estimators": 50, "class_weight": "balanced"}},
    notes="histograms up to 1,000 columns, every cut beyond",
    small={"n_estimators": 4, "max_depth": 3, "random_state": 0},
)
