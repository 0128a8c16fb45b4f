"""The problem to which batches are fitted: distinct rows, scaled; the prior's masses."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices, NDArray
from psephos.estimator.contender import Contender
from psephos.estimator.distributions import Integers, LogUniform
from psephos.estimator.input import Table
from psephos.estimator.params import Constraint, Flag, Interval, Jobs, OneOf, Options, Seed
from psephos.models import training
from psephos.models.prototypes.candidates import target_strata
from psephos.vote import KernelScaling

_HELD = 1 << 13  # values of a block
_FEW = 2  # columns are indexed first if the table has so many times more
_LONG = 1 << 17  # with more rows a block is one column
_MOST = 1023  # greatest power of two whose differences do not overflow


class ScaledRows:
    """The scaled training rows, shape (n, q), NaN where missing; computed on access."""

    def __init__(self, values: Array, rows: Indices, scaling: KernelScaling):
        self._values, self._rows, self._scaling = values, rows, scaling
        self.shape = len(rows), len(scaling.columns)

    def __len__(self) -> int:
        return self.shape[0]

    def only(self, some: Indices) -> "ScaledRows":
        """Return some of the rows, without computing them."""
        return ScaledRows(self._values, self._rows[some], self._scaling)

    def reading(self, columns: Indices) -> "ScaledRows":
        """Return the same rows with some of the q columns, without computing them."""
        whole = self._scaling
        some = KernelScaling(
            whole.n_features, whole.columns[columns], whole.centre[columns],
            whole.inverse[columns], whole.n_levels[columns], whole.agree[columns],
        )  # fmt: skip
        return ScaledRows(self._values, self._rows, some)

    def __getitem__(self, some: slice | Indices) -> Floats:
        """Return some of the rows, contiguous float64."""
        scaling, rows = self._scaling, self._rows[some]
        if self.shape[1] < self._values.shape[1] // _FEW:
            part = self._values[rows[:, None], scaling.columns]
        else:
            part = self._values[rows]
            if self.shape[1] < part.shape[1]:
                part = np.take(part, scaling.columns, axis=1)
        Z = np.ascontiguousarray(part, dtype=np.float64)  # `part` is a copy already
        Z -= scaling.centre
        Z *= scaling.inverse
        return Z


class Scaled(NamedTuple):
    """Scaled training rows, and the scaling; constant columns are left out."""

    Z: ScaledRows
    scaling: KernelScaling

    @property
    def is_category(self) -> NDArray[np.bool_]:
        """Return the mask of categories among the q columns."""
        return self.scaling.n_levels > 0


def read_scaled(table: Table, rows: Indices, weight: Floats) -> Scaled:
    """Return some rows with standardised numeric columns.

    Means and standard deviations are weighted, over present values. A category stays a code; the
    scaling also has the probability that two rows agree in it.
    """
    values = _array(table)
    total, mean, deviation = _moments(values, rows, weight)
    n_levels: Indices = table.code_counts
    with np.errstate(over="ignore", divide="ignore"):
        small = (deviation > 0) & np.isinf(1.0 / deviation)
    for wrong, size, remedy in ((~np.isfinite(deviation), "large", "divide"),
                                (small, "small", "multiply")):  # fmt: skip
        if wrong.any():
            name = table.schema.words().columns[int(wrong.argmax())]
            raise PsephosError(
                f"numbers of column {name!r} are too {size} to be compared: {remedy} them by a "
                "power of ten."
            )
    agree = [_agreement(values[rows, j], weight) for j in np.flatnonzero(n_levels)]
    shares = np.zeros(values.shape[1])
    shares[n_levels > 0] = agree
    # A column that is constant to rounding is left out.
    varies = deviation > 1e-12 * np.abs(mean)
    columns = np.flatnonzero(np.where(n_levels > 0, shares < 1.0, varies) & (total > 0))
    code = n_levels[columns] > 0
    centre = np.where(code, 0.0, mean[columns])
    inverse = np.where(code, 1.0, 1.0 / np.where(code, 1.0, deviation[columns]))
    scaling = KernelScaling(
        values.shape[1], columns.astype(np.intp), centre, inverse, n_levels[columns],
        shares[columns],
    )  # fmt: skip
    return Scaled(ScaledRows(values, rows, scaling), scaling)


def scaled_by(scaling: KernelScaling, table: Table, rows: Indices) -> Scaled:
    """Return some rows with a given scaling."""
    return Scaled(ScaledRows(_array(table), rows, scaling), scaling)


def _array(table: Table) -> Array:
    return table.values if isinstance(table.values, np.ndarray) else table.dense()


def _moments(values: Array, rows: Indices, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Return each column's weight of present values, their mean and deviation, (p,) each.

    The deviation is infinite if differences of values overflow.
    """
    p = values.shape[1]
    found = np.empty((3, p))
    size = 1 if len(rows) > _LONG else max(2, _HELD // len(rows))
    for start in range(0, p, size):
        first = max(0, min(start, p - size))  # a single column would be summed in another order
        part = np.take(values[:, first : first + size], rows, axis=0).astype(np.float64, copy=False)
        total, mean, deviation = training.moments_of_columns(part, weight)
        deviation[training.power_of_columns(part) > _MOST] = np.inf
        found[:, first : first + size] = total, mean, deviation
    return found[0], found[1], found[2]


def _agreement(codes: NDArray[Any], weight: Floats) -> float:
    """Return the probability that two rows drawn by weight have the same code."""
    known = ~np.isnan(codes)
    if not known.any():
        return 1.0
    shares = np.bincount(codes[known].astype(np.intp), weight[known]) / weight[known].sum()
    return float((shares**2).sum())


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
    scaled: Scaled, rows: "DistinctRows", names: tuple[str, ...], share: Floats
) -> PrototypeProblem:
    """Return the problem of a classification; the prior is the class frequencies, `share`."""
    y = rows.y
    prior = Masses(share[y], np.ones(len(y)), np.broadcast_to(share, (len(y), len(share))))
    given = (scaled, y.astype(float), y, y, prior, rows.weight, rows.names, names)
    return PrototypeProblem(*given, unit=0.0, copies=rows.copies)


def number_problem(
    scaled: Scaled, rows: "DistinctRows", moments: tuple[float, float]
) -> PrototypeProblem:
    """Return the problem of a regression; the prior is a normal density with y's moments."""
    t = (rows.y - moments[0]) / moments[1]
    density = np.exp(-0.5 * t * t) / np.sqrt(2 * np.pi)
    prior = Masses(density, np.ones(len(t)), np.empty((len(t), 0)))
    strata = target_strata(t, rows.weight, max(1, min(_STRATA, len(t) // 4)))
    names = tuple(f"of target range {k + 1}" for k in range(int(strata.max()) + 1))
    given = (scaled, t, rows.y, strata, prior, rows.weight, rows.names, names)
    return PrototypeProblem(*given, unit=moments[1], copies=rows.copies)


CONTENDER = Contender(
    "proset",
    "prototypes",
    {
        "quick": {
            "lambda_v": LogUniform(1e-4, 1.0),
            "n_batches": Integers(1, 4),
        },
        "samba": {
            "lambda_v": LogUniform(1e-6, 1.0),
            "n_batches": Integers(1, 10),
        },
    },
    ensemble=True,
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
).weighted()  # fmt: skip

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


def merged_rows(data: training.Training, *, whole: bool = True) -> DistinctRows:
    """Return distinct rows, sorted by their values, without copying the table.

    A row represents as many rows as its weight, if all weights are integers (and `whole`), else as
    many as it has copies.
    """
    found = _ordered(data)
    copies = found.weight
    if not (whole and (data.weight == np.floor(data.weight)).all()):
        copies = _ordered(data._replace(weight=np.ones(len(data.weight)))).weight
    return DistinctRows(data.table, found.table.rows, found.y, found.weight, copies)


def _ordered(data: training.Training) -> training.Training:
    """Return the sorted distinct rows, identified by their indices, with few columns."""
    numbered = replace(data.table, rows=np.arange(len(data.y)))
    found = training.distinct_rows(data._replace(table=numbered))
    few = replace(found.table, values=found.table.values[:, :_ORDERED_BY])
    return training.ordered_rows(found._replace(table=few))
