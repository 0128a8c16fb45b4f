"""Fits of batches: in one call, by a warm start or `partial_fit`; truncation and validation."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices, NDArray
from psephos.base import Labels
from psephos.estimator.input import Context, Table, VoteFit
from psephos.estimator.params import Interval
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.files.field_types import Nullable
from psephos.models.prototypes import problem
from psephos.models.prototypes.batches import Batch, class_masses, fit_batches
from psephos.models.training import Training
from psephos.vote import KernelScaling, Vote, prototype_vote
from psephos.vote.part import check
from psephos.vote.target import AnyTarget

EXTRAS = ("n_prototypes_", "objective_", "n_iter_", "stopped_")


class FurtherBatches(NamedTuple):
    """The state from which further batches are fitted."""

    scaling: KernelScaling
    totals: Floats  # weight of each class; or mean and deviation of the targets
    batches: list[Batch]
    n_given: int  # number of rows of all calls
    rows: problem.DistinctRows | None = None  # those of `partial_fit`


class Growing(VoteEstimator):
    """Mixin of models whose batches are fitted one after another, or added to earlier ones."""

    n_prototypes_: Indices
    shrinkage_: float
    objective_: Nullable
    n_iter_: Indices
    stopped_: NDArray[np.str_]
    n_batches: int
    warm_start: bool
    _grown: FurtherBatches

    # ------------------------------------------------------------------ what they differ in
    def _totals(self, y: Array, weight: Floats, n_classes: int) -> Floats:
        """Return the statistics of the prior."""
        raise NotImplementedError

    def _renewed(self, earlier: Floats, later: Floats, *, added: bool) -> Floats:
        """Return the statistics after later rows, `added` to the earlier or replacing them."""
        raise NotImplementedError

    def _problem(
        self, target: AnyTarget, scaled: problem.Scaled, rows: problem.DistinctRows, totals: Floats
    ) -> problem.PrototypeProblem | None:
        """Return the problem to which batches are fitted; None if the target is constant."""
        raise NotImplementedError

    def _prior(self, totals: Floats) -> Floats:
        raise NotImplementedError

    # ------------------------------------------------------------------ fitting
    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        if context.further:
            return self._further_batch(table, labels, weight, context)
        growth = self._before(context)
        whole = getattr(self, "class_weight", None) is None
        rows = problem.merged_rows(Training(table, labels.target, labels.y, weight), whole=whole)
        totals = self._totals(rows.y, rows.weight, getattr(labels.target, "n_classes", 0))
        if growth is None:
            scaled = problem.read_scaled(table, rows.rows, rows.weight)
            growth = FurtherBatches(scaled.scaling, totals, [], 0)
        else:
            scaled = problem.scaled_by(growth.scaling, table, rows.rows)
            growth = growth._replace(
                totals=self._renewed(growth.totals, totals, added=False), rows=None
            )
        given = int(table.rows.max()) + 1 if table.rows.dtype.kind == "i" else len(table.rows)
        growth = growth._replace(n_given=max(growth.n_given, given))
        return self._with_batches(labels.target, scaled, rows, growth, self.n_batches, context)

    def _with_batches(
        self, target: Any, scaled: problem.Scaled, rows: problem.DistinctRows,
        growth: FurtherBatches, n_batches: int, context: Context, n_judges: int = 0,
    ) -> tuple[Vote, dict[str, Any]]:  # fmt: skip
        """Return the vote of `n_batches` batches and their fitted attributes."""
        found = self._batches(target, scaled, rows, growth, n_batches, context, n_judges=n_judges)
        prior = self._prior(growth.totals)
        vote = prototype_vote([b.found for b in found], scaled.scaling, prior, target)
        self._grown = growth._replace(batches=found)
        return vote, _attributes(found, n_batches)

    def _batches(
        self, target: AnyTarget, scaled: problem.Scaled, rows: problem.DistinctRows,
        growth: FurtherBatches, n_batches: int, context: Context, *, n_judges: int = 0,
    ) -> list[Batch]:  # fmt: skip
        posed = self._problem(target, scaled, rows, growth.totals)
        if posed is None:
            return []
        settings = problem.settings_of(self, posed, n_batches)
        if not scaled.Z.shape[1]:  # no column varies
            return []
        return fit_batches(posed, settings, context, before=growth.batches, n_judges=n_judges)

    # ------------------------------------------------------------------ starting from others
    def _before(self, context: Context) -> FurtherBatches | None:
        """Return the state that a warm start continues; None before the first fit."""
        if context.previous is None:
            return None
        growth = self._growth()
        fitted = len(self.n_prototypes_)
        if self.n_batches < fitted:
            raise PsephosError(
                f"n_batches must be at least the {fitted} batches of the model with a warm start; "
                f"got {self.n_batches}. To remove batches use truncate."
            )
        return growth

    def _growth(self) -> FurtherBatches:
        if not hasattr(self, "_grown"):
            raise PsephosError(
                "no batch can be added to a model that was read from a file or reduced, as it does "
                "not keep the state of the fit. Fit it anew."
            )
        return self._grown

    def _further_batch(
        self, table: Table, labels: Labels, weight: Floats, context: Context
    ) -> VoteFit:
        """Return the vote with one more batch, whose candidates are these rows."""
        first = context.previous is None
        growth = FurtherBatches(None, np.empty(0), [], 0) if first else self._growth()  # type: ignore[arg-type]
        if table.rows.dtype.kind == "i":  # row numbers continue from call to call
            table = replace(table, rows=table.rows + growth.n_given)
        data = Training(table, labels.target, labels.y, weight)
        rows = problem.merged_rows(data, whole=getattr(self, "class_weight", None) is None).alone()
        totals = self._totals(rows.y, rows.weight, getattr(labels.target, "n_classes", 0))
        if first:
            scaling = problem.read_scaled(rows.table, rows.rows, rows.weight).scaling
            still = getattr(labels.target, "classes", None) is None and totals[1] == 0.0
            if still or not problem.scaled_by(scaling, rows.table, rows.rows).Z.shape[1]:
                what = "the target does not vary" if still else "no column varies"
                raise PsephosError(
                    f"{what} in the first call of partial_fit, which determines the scaling: give "
                    "it more rows."
                )
            growth = growth._replace(scaling=scaling, totals=totals)
        else:
            growth = growth._replace(totals=self._renewed(growth.totals, totals, added=True))
        n_judges = 0
        if growth.rows is not None:
            n_judges, rows = len(growth.rows.y), rows.after(growth.rows)
        growth = growth._replace(rows=rows, n_given=growth.n_given + context.n_rows)
        n_batches = 1 if first else 1 + len(self.n_prototypes_)
        scaled = problem.scaled_by(growth.scaling, rows.table, rows.rows)
        return self._with_batches(labels.target, scaled, rows, growth, n_batches, context, n_judges)

    # ------------------------------------------------------------------ fitted
    def _check_loaded(self) -> None:
        super()._check_loaded()  # type: ignore[misc]
        extras = [getattr(self, name) for name in EXTRAS]
        check(all(a.shape == (len(extras[0]),) for a in extras), "batches differ in number")
        found = self.n_prototypes_
        whole = bool((found >= 0).all()) and sum(found.tolist()) < self.vote_.n_voters
        check(whole, "its batches are not those of its prototypes")

    def truncate(self, n_batches: int) -> Self:
        """Return a fitted model of only the first batches.

        Batches are fitted one after another, so it equals a fit with this `n_batches`.

        Parameters
        ----------
        n_batches : int
            Between 0 (only the prior) and the number of batches fitted.

        Raises
        ------
        PsephosError
            If `n_batches` is out of this range.
        """
        self._fitted()
        fitted = len(self.n_prototypes_)
        if not Interval(0, fitted, whole=True).allows(n_batches):
            raise PsephosError(
                f"n_batches must be an integer between 0 and {fitted}, the number of batches "
                f"fitted; got {n_batches!r}."
            )
        fewer: Any = clone(self)  # type: ignore[type-var]
        fewer.set_params(n_batches=n_batches)
        self.schema_.name_columns(fewer)
        extras: dict[str, Any] = {name: getattr(self, name)[:n_batches] for name in EXTRAS}
        extras |= {n: getattr(self, n) for n in ("shrinkage_",) if hasattr(self, n)}
        vote = self.vote_.truncate(1 + int(extras["n_prototypes_"].sum()))
        fewer._set_fitted(vote, self.schema_, extras, self._sample)
        if hasattr(self, "_grown"):
            fewer._grown = self._grown._replace(batches=self._grown.batches[:n_batches])
        return fewer


def _attributes(found: list[Batch], n_batches: int) -> dict[str, Any]:
    """Return the fitted attributes of the batches."""
    if not found:  # no column or target varies
        none = np.zeros(n_batches, dtype=np.intp)
        why = np.array(["no column varies, or the target does not"] * n_batches, dtype=np.str_)
        return dict(zip(EXTRAS, (none, np.full(n_batches, np.nan), none, why), strict=True))
    return {
        "n_prototypes_": np.array([len(b.found.weight) for b in found], dtype=np.intp),
        "objective_": np.array([b.minimum.f for b in found], dtype=np.float64),
        "n_iter_": np.array([b.minimum.n_iterations for b in found], dtype=np.intp),
        "stopped_": np.array([b.minimum.reason for b in found], dtype=np.str_),
    }


_FOLDS, _TASK = 5, 1_000_003  # the task id differs from those of batches
_CLEAR, _ENOUGH = 3.0, 20  # a gain of so many standard errors on so many rows ends the validation
_LEAST = 1e-10  # added to probabilities, as in the objective
FACTORS = np.append(0.0, 2.0 ** np.arange(-6, 1))  # of the prototypes' weights


class FittedBatches(NamedTuple):
    """Batches fitted to some rows, their scaling and class frequencies."""

    scaled: problem.Scaled
    prior: Floats
    batches: list[Batch]


def trusted_share(
    rows: problem.DistinctRows,
    fit: Callable[[problem.DistinctRows], FittedBatches],
    context: Context,
) -> float:
    """Return the factor of the prototypes' weights, from 0 to 1.

    Fits to four fifths of the rows predict the others. The factor is 1 if this held-out log-loss is
    below that of the class frequencies by a standard error, or by three on at least the first two
    fifths and 20 rows (no further fit is then made); otherwise the best factor whose log-loss is
    lower by one standard error; otherwise 0. The training loss is not used, because columns and
    weights were chosen to lower it. Rows of a single group cannot be divided: the factor is 1.
    """
    groups = None if context.groups is None else context.groups[rows.rows]
    if groups is not None and len(np.unique(groups)) < 2:
        return 1.0
    # The copies of a row are spread over the folds.
    parts = np.minimum(rows.copies, 1 if groups is not None else _FOLDS).astype(np.intp)
    parts = np.maximum(parts, 1)
    fold, row = _folds(rows.y, parts, groups, context.generator(_TASK))
    loss = np.empty((len(fold), len(FACTORS)))
    share = rows.weight[row] / parts[row]
    for k in range(int(fold.max()) + 1):
        held = fold == k
        left = np.bincount(row[~held], minlength=len(parts)) / parts
        test, index = np.unique(row[held], return_inverse=True)
        fitted = fit(_some(rows, np.flatnonzero(left), left))
        loss[held] = _losses(_some(rows, test, np.ones(len(parts))), fitted)[index]
        known = fold <= k
        if k and known.sum() >= _ENOUGH and _gains(loss[known], share[known], -1) > _CLEAR:
            return 1.0
    for best in (len(FACTORS) - 1, int((share @ loss).argmin())):
        if _gains(loss, share, best) > 1.0:
            return float(FACTORS[best])
    return 0.0


def _gains(loss: Floats, share: Floats, factor: int) -> float:
    """Return the mean gain over the class frequencies in standard errors."""
    share, gain = share / share.sum(), loss[:, 0] - loss[:, factor]
    mean = float(share @ gain)
    error = float(np.sqrt(share**2 @ (gain - mean) ** 2))
    return mean / error if error else np.inf * np.sign(mean) if mean else 0.0


def share_words(share: float) -> list[str]:
    """Return the sentence on that factor; none if it is 1."""
    if share == 1.0:
        return []
    remedy = "the model predicts the class frequencies"
    if share:
        remedy = f"the prototypes' weights are 1/{1 / share:.0f} of those fitted"
    return [
        "Models fitted to four fifths of the rows did not beat the class frequencies on the other "
        f"fifth by one standard error of the log-loss: {remedy}."
    ]


def _some(rows: problem.DistinctRows, some: Indices, left: Floats) -> problem.DistinctRows:
    """Return some of the rows, with a share `left` of their weights and copies."""
    table, positions, y, weight, copies = rows
    return problem.DistinctRows(
        table, positions[some], y[some], (weight * left)[some], (copies * left)[some]
    )


def _folds(
    y: Indices, parts: Indices, groups: NDArray[np.generic] | None, rng: np.random.Generator
) -> tuple[Indices, Indices]:
    """Return the fold and the row of each part of a row.

    Classes and the parts of a row are spread evenly; rows of one group stay together.
    """
    if groups is None:
        order = rng.permutation(len(y))
        order = order[np.argsort(y[order], kind="stable")]
        row = np.repeat(order, parts[order])
        return np.arange(len(row)) % _FOLDS, row
    _, first, unit = np.unique(groups, return_index=True, return_inverse=True)
    order = rng.permutation(len(first))
    order = order[np.argsort(y[first][order], kind="stable")]
    fold = np.empty(len(first), np.intp)
    fold[order] = np.arange(len(first)) % _FOLDS
    return fold[unit], np.arange(len(y))


def _losses(rows: problem.DistinctRows, fitted: FittedBatches) -> Floats:
    """Return the log-loss of rows for each factor, (n, n_factors)."""
    n_classes = len(fitted.prior)
    scaled = problem.scaled_by(fitted.scaled.scaling, rows.table, rows.rows)
    mass = np.zeros((len(rows.y), n_classes))
    for found in (batch.found for batch in fitted.batches if len(batch.found.weight)):
        mass += class_masses(scaled, found, n_classes)
    own = mass[np.arange(len(mass)), rows.y]
    masses = fitted.prior[rows.y, None] + FACTORS * own[:, None]
    return -np.log(masses / (1.0 + FACTORS * mass.sum(axis=1)[:, None]) + _LEAST)


class Validated(Growing):
    """Mixin of the classifier, whose batches are validated by `fallback`."""

    fallback: str | None

    def _with_batches(
        self, target: Any, scaled: problem.Scaled, rows: problem.DistinctRows,
        growth: FurtherBatches, n_batches: int, context: Context, n_judges: int = 0,
    ) -> tuple[Vote, dict[str, Any]]:  # fmt: skip
        vote, extras = super()._with_batches(
            target, scaled, rows, growth, n_batches, context, n_judges
        )
        share, batches = 1.0, self._grown.batches
        # Not with partial_fit, whose rows have different roles.
        if self.fallback and growth.rows is None and extras["n_prototypes_"].any():

            def fit(some: problem.DistinctRows) -> FittedBatches:
                part = problem.read_scaled(some.table, some.rows, some.weight)
                blank = FurtherBatches(
                    part.scaling, self._totals(some.y, some.weight, target.n_classes), [], 0
                )
                found = self._batches(target, part, some, blank, n_batches, context)
                return FittedBatches(part, self._prior(blank.totals), found)

            share = trusted_share(rows, fit, context)
        if share < 1.0:
            fewer = [b.found._replace(weight=share * b.found.weight) for b in batches if share]
            vote = prototype_vote(fewer, scaled.scaling, self._prior(growth.totals), target)
            if not share:
                extras["n_prototypes_"] = np.zeros_like(extras["n_prototypes_"])
        return vote, extras | {"shrinkage_": share}

    def describe(self) -> list[str]:
        """Return the model as sentences: on the whole, on `fallback`, and on the voters."""
        plain: Any = super()
        whole, *voters = plain.describe()
        return [whole, *share_words(self.shrinkage_), *voters]
