"""What the classifier and the regressor share: parameters, penalties, batches, truncation."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from psephos._errors import PsephosError
from psephos._input import Context, Table
from psephos._params import Constraint, Interval, Jobs, OneOf, Options, Seed
from psephos.models.prototypes.batches import Batch, Settings, fit_batches
from psephos.models.training import Training, distinct_rows, ordered_rows
from psephos.vote import Vote

__all__ = ["EXTRAS", "SHARED", "Batched", "Merged", "automatic", "fit_all", "merged_rows", "told"]

EXTRAS = ("n_prototypes_", "objective_", "n_iter_", "stopped_")
SHARED: Mapping[str, Constraint] = {
    "n_batches": Interval(0, whole=True),
    "lambda_v": OneOf((Interval(0), Options(("auto",)))),
    "lambda_w": Interval(0),
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
    "n_jobs": Jobs(),
    "random_state": Seed(),
}
_ORDERED_BY = 64  # first columns, all that `ordered_rows` looks at
_LEAST = 2.0  # lambda_v times the number of rows, where columns are few
_OF_ROWS = {"lambda_w": 3e-4, "lambda_u": 3.0}  # times the number of rows


class Batched:
    """What both models can do with their batches."""

    vote_: Vote
    schema_: Any
    n_prototypes_: NDArray[np.intp]
    _fitted: Any

    def truncate(self, n_batches: int) -> Self:
        """Return a fitted model of the first batches alone.

        Batches are fitted one after another, so it is what a fit of so many would be.

        Parameters
        ----------
        n_batches : int
            0 (the prior) to the number fitted.

        Raises
        ------
        PsephosError
            If there are not so many.
        """
        self._fitted()
        if not Interval(0, whole=True).allows(n_batches):
            raise PsephosError(f"n_batches is {n_batches!r}: give a whole number of at least 0.")
        fitted = len(self.n_prototypes_)
        if not 0 <= n_batches <= fitted:
            raise PsephosError(f"n_batches is {n_batches}: the model has {fitted}; give 0 to that.")
        fewer: Any = clone(self)  # type: ignore[type-var]
        fewer.set_params(n_batches=n_batches)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(fewer, name, getattr(self, name))
        extras = {name: getattr(self, name)[:n_batches] for name in EXTRAS}
        vote = self.vote_.truncate(1 + int(extras["n_prototypes_"].sum()))
        fewer._set_fitted(vote, self.schema_, extras)
        return fewer


class Merged(NamedTuple):
    """Distinct rows in an order of their own, as positions in the table given."""

    table: Table
    rows: NDArray[np.intp]  # (n,)
    y: NDArray[Any]
    weight: NDArray[np.float64]
    copies: NDArray[np.float64]  # how many rows each stands for

    @property
    def names(self) -> NDArray[Any]:
        """Return the rows' identifiers."""
        return self.table.rows[self.rows]


def merged_rows(data: Training, *, whole: bool = True) -> Merged:
    """Return distinct rows in an order of their own; the table is not copied for it.

    How many rows each stands for is said by weights if all are whole (and `whole`), else by copies.
    """
    found = _ordered(data)
    copies = found.weight
    if not (whole and (data.weight == np.floor(data.weight)).all()):
        copies = _ordered(data._replace(weight=np.ones(len(data.weight)))).weight
    return Merged(data.table, found.table.rows, found.y, found.weight, copies)


def _ordered(data: Training) -> Training:
    """Return the rows so ordered, identified by their positions, without most of their columns."""
    numbered = replace(data.table, rows=np.arange(len(data.y)))
    found = distinct_rows(data._replace(table=numbered))
    few = replace(found.table, values=found.table.values[:, :_ORDERED_BY])
    return ordered_rows(found._replace(table=few))


def automatic(name: str, weight: float, n_columns: int) -> float:
    """Return what 'auto' is for a penalty, given the rows' total weight and the columns."""
    of_all = max(_LEAST, math.log(n_columns)) if name == "lambda_v" else _OF_ROWS[name]
    return of_all / weight


def fit_all(model: Any, problem: Any, context: Context) -> list[Batch]:
    """Fit a model's batches; where no column varies there is nothing to be near in."""
    if not problem.scaled.Z.shape[1]:
        return []
    names = ("lambda_v", "lambda_w", "lambda_u", "alpha_v", "alpha_w")
    penalties = {name: getattr(model, name) for name in names if hasattr(model, name)}
    for name in [name for name, value in penalties.items() if value == "auto"]:
        size = float(problem.weight.sum()), problem.scaled.Z.shape[1]
        penalties[name] = automatic(name, *size)
    settings = Settings(
        model.n_batches, penalties, model.beta, model.n_candidates, model.max_fraction,
        getattr(model, "grouping", "likelihood"), model.references, model.tol, model.max_iter,
        model.max_reentries, model.min_gain, model.n_jobs,
    )  # fmt: skip
    return fit_batches(problem, settings, context)


def told(found: list[Batch], n_batches: int) -> dict[str, Any]:
    """Return the fitted attributes that tell of the batches."""
    if not found:  # nothing varies
        none = np.zeros(n_batches, dtype=np.intp)
        why = np.array(["no column varies, or the target does not"] * n_batches, dtype=np.str_)
        return dict(zip(EXTRAS, (none, np.full(n_batches, np.nan), none, why), strict=True))
    return {
        "n_prototypes_": np.array([len(b.found.weight) for b in found], dtype=np.intp),
        "objective_": np.array([b.minimum.f for b in found], dtype=np.float64),
        "n_iter_": np.array([b.minimum.n_iterations for b in found], dtype=np.intp),
        "stopped_": np.array([b.minimum.reason for b in found], dtype=np.str_),
    }
