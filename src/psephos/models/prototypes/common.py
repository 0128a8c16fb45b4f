"""What the classifier and the regressor share: parameters, penalties, batches, how they grow."""

import math
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from psephos._errors import PsephosError
from psephos._input import Context, Table
from psephos._stored import Nullable
from psephos.base import Labels
from psephos.models.prototypes.adding import Adding
from psephos.models.prototypes.batches import fit_batches
from psephos.models.prototypes.growing import Growth, Rows, merged_rows
from psephos.models.prototypes.kinds import NO_PATH, Batch, Path, Settings
from psephos.models.prototypes.problems import Problem
from psephos.models.prototypes.scaling import Scaled, read_scaled, scaled_by
from psephos.models.training import Training
from psephos.params import Constraint, Flag, Interval, Jobs, OneOf, Options, Seed
from psephos.vote import Vote, prototype_vote
from psephos.vote.part import check

__all__ = ["EXTRAS", "SHARED", "Batched", "automatic"]

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
_Floats = NDArray[np.float64]
_OF_ROWS = {"lambda_w": 3e-4, "lambda_u": 3.0}  # times the number of rows


class Batched(Adding):
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


def automatic(name: str, weight: float, n_columns: int) -> float:
    """Return what 'auto' is for a penalty, given the rows' total weight and the columns."""
    of_all = max(_LEAST, math.log(n_columns)) if name == "lambda_v" else _OF_ROWS[name]
    return of_all / weight


def _settings(model: Any, problem: Problem, n_batches: int) -> Settings:
    """Return the parameters of a fit."""
    names = ("lambda_v", "lambda_w", "lambda_u", "alpha_v", "alpha_w")
    penalties = {name: getattr(model, name) for name in names if hasattr(model, name)}
    for name in [name for name, value in penalties.items() if value == "auto"]:
        size = float(problem.weight.sum()), max(problem.scaled.Z.shape[1], 1)
        penalties[name] = automatic(name, *size)
    return Settings(
        n_batches, penalties, model.beta, model.n_candidates, model.max_fraction,
        getattr(model, "grouping", "likelihood"), model.references, model.tol, model.max_iter,
        model.max_reentries, model.min_gain, model.n_jobs,
    )  # fmt: skip


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
