"""What the classifier and the regressor share: parameters, penalties, batches, how they grow."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from psephos._distributions import BALANCED, WEIGHTS, Integers, LogUniform
from psephos._errors import PsephosError
from psephos._input import Context, Table
from psephos._stored import Nullable
from psephos.base import Labels
from psephos.contender import Contender
from psephos.models.prototypes.batches import NO_PATH, Batch, Path, Problem, Settings, fit_batches
from psephos.models.prototypes.scaling import Scaled, read_scaled, scaled_by
from psephos.models.training import Training, distinct_rows, ordered_rows
from psephos.params import Constraint, Flag, Interval, Jobs, OneOf, Options, Seed
from psephos.vote import KernelScaling, Vote, prototype_vote
from psephos.vote.importance import SampleRows
from psephos.vote.part import check

__all__ = ["CONTENDER", "EXTRAS", "SHARED", "Batched", "Growth", "Rows", "automatic", "merged_rows"]

_Floats = NDArray[np.float64]
_ORDERED_BY = 64  # first columns, all that `ordered_rows` looks at


class Rows(NamedTuple):
    """Distinct rows in an order of their own, as positions in the table given."""

    table: Table
    rows: NDArray[np.intp]  # (n,)
    y: NDArray[Any]
    weight: _Floats
    copies: _Floats  # how many rows each stands for

    @property
    def names(self) -> NDArray[Any]:
        """Return the rows' identifiers."""
        return self.table.rows[self.rows]

    def alone(self) -> "Rows":
        """Return the same with a table of these rows only, dense."""
        values = self.table.values
        some = values[self.rows] if isinstance(values, np.ndarray) else values[self.rows].toarray()
        table = Table(some, self.table.schema, self.names)
        return self._replace(table=table, rows=np.arange(len(self.rows)))

    def after(self, earlier: "Rows") -> "Rows":
        """Return the earlier rows and then these; equal ones are not made one."""
        values = np.concatenate([earlier.table.values, self.table.values])
        names = np.concatenate([earlier.table.rows, self.table.rows])
        of_rows = (np.append(a, b) for a, b in zip(earlier[2:], self[2:], strict=True))
        return Rows(Table(values, self.table.schema, names), np.arange(len(names)), *of_rows)


class Growth(NamedTuple):
    """What further batches start from."""

    scaling: KernelScaling
    totals: _Floats  # weight of each class; or mean and deviation of the targets
    batches: list[Batch]
    n_given: int  # rows, of all calls
    rows: Rows | None = None  # those of `partial_fit`


def merged_rows(data: Training, *, whole: bool = True) -> Rows:
    """Return distinct rows in an order of their own; the table is not copied for it.

    How many rows each stands for is said by weights if all are whole (and `whole`), else by copies.
    """
    found = _ordered(data)
    copies = found.weight
    if not (whole and (data.weight == np.floor(data.weight)).all()):
        copies = _ordered(data._replace(weight=np.ones(len(data.weight)))).weight
    return Rows(data.table, found.table.rows, found.y, found.weight, copies)


def _ordered(data: Training) -> Training:
    """Return the rows so ordered, identified by their positions, without most of their columns."""
    numbered = replace(data.table, rows=np.arange(len(data.y)))
    found = distinct_rows(data._replace(table=numbered))
    few = replace(found.table, values=found.table.values[:, :_ORDERED_BY])
    return ordered_rows(found._replace(table=few))


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


EXTRAS = ("n_prototypes_", "objective_", "n_iter_", "stopped_")
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


class Batched:
    """What both models can do with their batches."""

    vote_: Vote
    schema_: Any
    n_prototypes_: NDArray[np.intp]
    shrinkage_: float
    objective_: Nullable
    n_iter_: NDArray[np.intp]
    stopped_: NDArray[np.str_]
    n_batches: int
    warm_start: bool
    _fitted: Any
    _set_fitted: Any
    _sample: Any
    _grown: Growth

    # ------------------------------------------------------------------ what they differ in
    def _totals(self, y: NDArray[Any], weight: _Floats, n_classes: int) -> _Floats:
        """Return what a prior is made of."""
        raise NotImplementedError

    def _renewed(self, earlier: _Floats, later: _Floats, *, added: bool) -> _Floats:
        """Return the same after later rows, which were added to the earlier or stand for them."""
        raise NotImplementedError

    def _problem(self, target: Any, scaled: Scaled, rows: Rows, totals: _Floats) -> Problem | None:
        """Return what batches are fitted to; None if every row says the same."""
        raise NotImplementedError

    def _prior(self, totals: _Floats) -> _Floats:
        raise NotImplementedError

    # ------------------------------------------------------------------ fitting
    def _fit_vote(
        self, table: Table, labels: Labels, weight: _Floats, context: Context
    ) -> tuple[Vote, dict[str, Any]]:
        if context.further:
            return self._further_batch(table, labels, weight, context)
        return self._fit_on(table, labels, weight, context, self._before(context), NO_PATH)

    def _fit_on(
        self, table: Table, labels: Labels, weight: _Floats, context: Context,
        growth: Growth | None, path: Path,
    ) -> tuple[Vote, dict[str, Any]]:  # fmt: skip
        """Fit the batches, from what a warm start or a path gives."""
        whole = getattr(self, "class_weight", None) is None
        rows = merged_rows(Training(table, labels.target, labels.y, weight), whole=whole)
        totals = self._totals(rows.y, rows.weight, getattr(labels.target, "n_classes", 0))
        if growth is None:
            scaled = read_scaled(table, rows.rows, rows.weight)
            growth = Growth(scaled.scaling, totals, [], 0)
        else:
            scaled = scaled_by(growth.scaling, table, rows.rows)
            growth = growth._replace(
                totals=self._renewed(growth.totals, totals, added=False), rows=None
            )
        given = int(table.rows.max()) + 1 if table.rows.dtype.kind == "i" else len(table.rows)
        growth = growth._replace(n_given=max(growth.n_given, given))
        return self._with_batches(
            labels.target, scaled, rows, growth, self.n_batches, context, path=path
        )

    def _with_batches(
        self, target: Any, scaled: Scaled, rows: Rows, growth: Growth, n_batches: int,
        context: Context, n_judges: int = 0, path: Path = NO_PATH,
    ) -> tuple[Vote, dict[str, Any]]:  # fmt: skip
        """Return the vote of so many batches and what is told of them."""
        found = self._batches(
            target, scaled, rows, growth, n_batches, context, n_judges=n_judges, path=path
        )
        prior = self._prior(growth.totals)
        vote = prototype_vote([b.found for b in found], scaled.scaling, prior, target)
        self._grown = growth._replace(batches=found)
        return vote, _told(found, n_batches)

    def _batches(
        self, target: Any, scaled: Scaled, rows: Rows, growth: Growth, n_batches: int,
        context: Context, *, n_judges: int = 0, path: Path = NO_PATH,
    ) -> list[Batch]:  # fmt: skip
        problem = self._problem(target, scaled, rows, growth.totals)
        if problem is None:
            return []
        settings = _settings(self, problem, n_batches)
        if not scaled.Z.shape[1]:  # where no column varies there is nothing to be near in
            return []
        return fit_batches(
            problem, settings, context, before=growth.batches, n_judges=n_judges, path=path
        )

    # ------------------------------------------------------------------ starting from others
    def _before(self, context: Context) -> Growth | None:
        """Return what a warm start adds to; None before the first fit."""
        if context.previous is None:
            return None
        growth = self._growth()
        fitted = len(self.n_prototypes_)
        if self.n_batches < fitted:
            raise PsephosError(
                f"n_batches is {self.n_batches}, but the model has {fitted} batches: a warm start "
                "only adds some; use truncate."
            )
        return growth

    def _growth(self) -> Growth:
        if not hasattr(self, "_grown"):
            raise PsephosError(
                "no batch can be added to a model that was read from a file or reduced: what "
                "its batches were fitted with is not kept there. Fit it anew."
            )
        return self._grown

    def _further_batch(
        self, table: Table, labels: Labels, weight: _Floats, context: Context
    ) -> tuple[Vote, dict[str, Any]]:
        """Return the vote with a batch more, whose candidates are these rows."""
        first = context.previous is None
        growth = Growth(None, np.empty(0), [], 0) if first else self._growth()  # type: ignore[arg-type]
        if table.rows.dtype.kind == "i":  # positions: they go on from call to call
            table = replace(table, rows=table.rows + growth.n_given)
        data = Training(table, labels.target, labels.y, weight)
        rows = merged_rows(data, whole=getattr(self, "class_weight", None) is None).alone()
        totals = self._totals(rows.y, rows.weight, getattr(labels.target, "n_classes", 0))
        if first:
            scaling = read_scaled(rows.table, rows.rows, rows.weight).scaling
            still = getattr(labels.target, "classes", None) is None and totals[1] == 0.0
            if still or not scaled_by(scaling, rows.table, rows.rows).Z.shape[1]:
                what = "the target does not vary" if still else "no column varies"
                raise PsephosError(
                    f"{what} in the first call of partial_fit, which learns the scales: give it "
                    "more rows."
                )
            growth = growth._replace(scaling=scaling, totals=totals)
        else:
            growth = growth._replace(totals=self._renewed(growth.totals, totals, added=True))
        n_judges = 0
        if growth.rows is not None:
            n_judges, rows = len(growth.rows.y), rows.after(growth.rows)
        growth = growth._replace(rows=rows, n_given=growth.n_given + context.n_rows)
        n_batches = 1 if first else 1 + len(self.n_prototypes_)
        scaled = scaled_by(growth.scaling, rows.table, rows.rows)
        return self._with_batches(labels.target, scaled, rows, growth, n_batches, context, n_judges)

    def path(
        self,
        X: Any,
        y: Any,
        lambda_v: ArrayLike,
        lambda_w: ArrayLike | None = None,
        sample_weight: Any = None,
        *,
        cold: bool = True,
    ) -> list[Any]:
        """Return fitted models of falling penalties, each started from the one before.

        A batch starts at the last model's, with the columns let in that would lower the objective
        now. Where columns are many and penalties weak, that finds what the usual start, from which
        all kernels are flat or all columns are used, does not.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        lambda_v : array of shape (K,)
            Not increasing.
        lambda_w : array of shape (K,), default=None
            Not increasing; None: the parameter.
        cold : bool, default=True
            Whether each batch starts where `fit` would start it, too, and the lower end is taken:
            then no first batch is above that of `fit`. Without it a path takes a third to a half
            of the time of as many fits, and small tables may end above them.

        Returns
        -------
        models : list of K fitted estimators
            This one is left as it is.

        Raises
        ------
        PsephosError
            If a penalty, or what `fit` is given, cannot be used.
        """
        strengths = {"lambda_v": _falling("lambda_v", lambda_v)}
        if lambda_w is not None:
            strengths["lambda_w"] = _falling("lambda_w", lambda_w)
            if len(strengths["lambda_w"]) != len(strengths["lambda_v"]):
                raise PsephosError("lambda_v and lambda_w differ in length: give pairs.")
        blank: Any = clone(self)
        given = blank.read(X, y, sample_weight)
        schema = given[0].schema
        models: list[Any] = []
        last: list[Batch] = []
        for one in zip(*strengths.values(), strict=True):
            model: Any = clone(self)
            model.set_params(**dict(zip(strengths, one, strict=True)))
            vote, told = model._fit_on(*given, None, Path(last, cold))
            model.n_features_in_ = schema.n_features
            if schema.names is not None:
                model.feature_names_in_ = np.asarray(schema.names, dtype=object)
            model._set_fitted(vote, schema, told, SampleRows.of(vote, given[0].values))
            models.append(model)
            last = model._grown.batches
        return models

    # ------------------------------------------------------------------ fitted
    def _check_loaded(self) -> None:
        super()._check_loaded()  # type: ignore[misc]
        told = [getattr(self, name) for name in EXTRAS]
        check(all(a.shape == (len(told[0]),) for a in told), "batches differ in number")
        found = self.n_prototypes_
        whole = bool((found >= 0).all()) and sum(found.tolist()) < self.vote_.n_voters
        check(whole, "its batches are not those of its prototypes")

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
        extras: dict[str, Any] = {name: getattr(self, name)[:n_batches] for name in EXTRAS}
        extras |= {n: getattr(self, n) for n in ("shrinkage_",) if hasattr(self, n)}
        vote = self.vote_.truncate(1 + int(extras["n_prototypes_"].sum()))
        fewer._set_fitted(vote, self.schema_, extras, self._sample)
        if hasattr(self, "_grown"):
            fewer._grown = self._grown._replace(batches=self._grown.batches[:n_batches])
        return fewer


def _falling(name: str, values: ArrayLike) -> list[float]:
    """Return penalties that may be a path."""
    found = np.asarray(values)
    usable = found.ndim == 1 and found.size > 0 and found.dtype.kind in "iuf"
    if not (usable and np.isfinite(found).all() and (found >= 0).all()):
        raise PsephosError(f"{name} is {values!r}: give finite numbers of at least 0.")
    if (np.diff(found) > 0).any():
        raise PsephosError(f"{name} increases: give the greatest penalty first.")
    return found.astype(np.float64).tolist()


def automatic(name: str, weight: float, n_columns: int) -> float:
    """Return what 'auto' is for a penalty, given the rows' total weight and the columns."""
    of_all = max(_LEAST, math.log(n_columns)) if name == "lambda_v" else _OF_ROWS[name]
    return of_all / weight


def _settings(model: Any, problem: Problem, n_batches: int) -> Settings:
    """Return the parameters of a fit."""
    names = ("lambda_v", "lambda_w", "lambda_u", "alpha_v", "alpha_w")
    penalties = {name: getattr(model, name) for name in names if hasattr(model, name)}
    size = float(problem.weight.sum()), max(problem.scaled.Z.shape[1], 1)
    for name, value in penalties.items():
        if value == "auto":
            penalties[name] = automatic(name, *size)
    return Settings(n_batches, penalties, getattr(model, "grouping", "likelihood"), model)


def _told(found: list[Batch], n_batches: int) -> dict[str, Any]:
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
