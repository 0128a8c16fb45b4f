"""The problem to which batches are fitted: distinct rows, the prior's masses, parameters."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from psephos._types import Array, Floats, Indices, NDArray
from psephos.estimator.contender import Contender
from psephos.estimator.distributions import BALANCED, WEIGHTS, Integers, LogUniform
from psephos.estimator.input import Table
from psephos.estimator.params import Constraint, Flag, Interval, Jobs, OneOf, Options, Seed
from psephos.models.prototypes.candidates import target_strata
from psephos.models.prototypes.scaling import Scaled
from psephos.models.training import Training, distinct_rows, ordered_rows

_STRATA = 5  # ranges of a target used in place of classes; fewer with few rows


class Masses(NamedTuple):
    """The masses of the vote so far at each training row: of its own class or target, in all."""

    own: Floats  # (n,)
    total: Floats  # (n,)
    by_class: Floats  # (n, K), updated only if the draw needs it; (n, 0) for regression


class PrototypeProblem(NamedTuple):
    """The data of a batch, for classification and regression.

    `y` are class codes, or standardised targets; `prior` has the frequency of each row's class, or
    the prior's density of its target; `answer` is the vote of a row as a prototype.
    """

    scaled: Scaled
    y: Floats
    answer: NDArray[Any]
    strata: Indices
    prior: Masses
    weight: Floats
    rows: NDArray[Any]
    names: tuple[str, ...]
    unit: float  # standard deviation of the target in its own units; 0 for classes
    copies: Floats  # number of equal rows that each represents

    @property
    def regression(self) -> bool:
        """Return whether this is a regression."""
        return self.unit > 0


def class_problem(
    scaled: Scaled, codes: Indices, weight: Floats, rows: Array,
    names: tuple[str, ...], copies: Floats, share: Floats,
) -> PrototypeProblem:  # fmt: skip
    """Return the problem of a classification; the prior is the class frequencies, `share`."""
    every = np.broadcast_to(share, (len(codes), len(share)))
    prior = Masses(share[codes], np.ones(len(codes)), every)
    return PrototypeProblem(
        scaled, codes.astype(float), codes, codes, prior, weight, rows, names, 0.0,
                   copies)  # fmt: skip


def number_problem(
    scaled: Scaled, y: Floats, weight: Floats, rows: Array, moments: tuple[float, float],
    copies: Floats,
) -> PrototypeProblem:  # fmt: skip
    """Return the problem of a regression; the prior is a normal density with y's moments."""
    t = (y - moments[0]) / moments[1]
    density = np.exp(-0.5 * t * t) / np.sqrt(2 * np.pi)
    prior = Masses(density, np.ones(len(t)), np.empty((len(t), 0)))
    strata = target_strata(t, weight, max(1, min(_STRATA, len(t) // 4)))
    names = tuple(f"of target range {k + 1}" for k in range(int(strata.max()) + 1))
    return PrototypeProblem(scaled, t, y, strata, prior, weight, rows, names, moments[1], copies)


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
    in_search={"fallback": None, "tol": 1e-4},
    small={"random_state": 0},
    variants={
        "proset-manual": {
            "lambda_v": 1e-3, "lambda_w": 1e-8, "alpha_w": 0.05, "references": "rest",
            "tol": 2e-9, "min_gain": 0.0, "fallback": None,
        },
    },
)  # fmt: skip

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
    "min_gain": Interval(0),
    "warm_start": Flag(),
    "n_jobs": Jobs(),
    "random_state": Seed(),
}
_LEAST = 2.0  # lambda_v times the number of rows, with few columns
_OF_ROWS = {"lambda_w": 3e-4, "lambda_u": 3.0}  # times the number of rows


class Settings(NamedTuple):
    """Parameters of a fit."""

    n_batches: int
    penalties: dict[str, Any]
    grouping: str
    model: Any  # the `ProsetClassifier` or `ProsetRegressor`, for other parameters


def automatic(name: str, weight: float, n_columns: int) -> float:
    """Return the value of 'auto' for a penalty, by the rows' total weight and the columns."""
    of_all = max(_LEAST, math.log(n_columns)) if name == "lambda_v" else _OF_ROWS[name]
    return of_all / weight


def settings_of(model: Any, problem: PrototypeProblem, n_batches: int) -> Settings:
    """Return the parameters of a fit."""
    names = ("lambda_v", "lambda_w", "lambda_u", "alpha_v", "alpha_w")
    penalties = {name: getattr(model, name) for name in names if hasattr(model, name)}
    size = float(problem.weight.sum()), max(problem.scaled.Z.shape[1], 1)
    for name, value in penalties.items():
        if value == "auto":
            penalties[name] = automatic(name, *size)
    return Settings(n_batches, penalties, getattr(model, "grouping", "likelihood"), model)


_ORDERED_BY = 64  # first columns, all that `ordered_rows` uses


class DistinctRows(NamedTuple):
    """Distinct rows, sorted by their values, as indices into a table."""

    table: Table
    rows: Indices  # (n,)
    y: NDArray[Any]
    weight: Floats
    copies: Floats  # number of rows that each represents

    @property
    def names(self) -> NDArray[Any]:
        """Return the rows' identifiers."""
        return self.table.rows[self.rows]

    def alone(self) -> "DistinctRows":
        """Return these rows with a dense table of only them."""
        values = self.table.values
        some = values[self.rows] if isinstance(values, np.ndarray) else values[self.rows].toarray()
        table = Table(some, self.table.schema, self.names)
        return self._replace(table=table, rows=np.arange(len(self.rows)))

    def after(self, earlier: "DistinctRows") -> "DistinctRows":
        """Return the earlier rows followed by these, without merging equal ones."""
        values = np.concatenate([earlier.table.values, self.table.values])
        names = np.concatenate([earlier.table.rows, self.table.rows])
        of_rows = (np.append(a, b) for a, b in zip(earlier[2:], self[2:], strict=True))
        return DistinctRows(
            Table(values, self.table.schema, names), np.arange(len(names)), *of_rows
        )


def merged_rows(data: Training, *, whole: bool = True) -> DistinctRows:
    """Return distinct rows, sorted by their values, without copying the table.

    A row represents as many rows as its weight, if all weights are integers (and `whole`), else as
    many as it has copies.
    """
    found = _ordered(data)
    copies = found.weight
    if not (whole and (data.weight == np.floor(data.weight)).all()):
        copies = _ordered(data._replace(weight=np.ones(len(data.weight)))).weight
    return DistinctRows(data.table, found.table.rows, found.y, found.weight, copies)


def _ordered(data: Training) -> Training:
    """Return the sorted distinct rows, identified by their indices, with few columns."""
    numbered = replace(data.table, rows=np.arange(len(data.y)))
    found = distinct_rows(data._replace(table=numbered))
    few = replace(found.table, values=found.table.values[:, :_ORDERED_BY])
    return ordered_rows(found._replace(table=few))
