"""Fits that start from others: warm starts, rows that come later, paths of penalties."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from psephos._errors import PsephosError
from psephos._input import Context, Table
from psephos.base import Labels
from psephos.models.prototypes.growing import Growth, merged_rows
from psephos.models.prototypes.kinds import Batch, Path
from psephos.models.prototypes.scaling import read_scaled, scaled_by
from psephos.models.training import Training
from psephos.vote import Vote
from psephos.vote.importance import SampleRows

__all__ = ["Adding"]

_Floats = NDArray[np.float64]


class Adding:
    """Methods of a model of batches that start from batches there are."""

    def _before(self: Any, context: Context) -> Growth | None:
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

    def _growth(self: Any) -> Growth:
        if not hasattr(self, "_grown"):
            raise PsephosError(
                "no batch can be added to a model that was read from a file or reduced: what "
                "its batches were fitted with is not kept there. Fit it anew."
            )
        return self._grown

    def _further_batch(
        self: Any, table: Table, labels: Labels, weight: _Floats, context: Context
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
        self: Any,
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


def _falling(name: str, values: ArrayLike) -> list[float]:
    """Return penalties that may be a path."""
    found = np.asarray(values)
    usable = found.ndim == 1 and found.size > 0 and found.dtype.kind in "iuf"
    if not (usable and np.isfinite(found).all() and (found >= 0).all()):
        raise PsephosError(f"{name} is {values!r}: give finite numbers of at least 0.")
    if (np.diff(found) > 0).any():
        raise PsephosError(f"{name} increases: give the greatest penalty first.")
    return found.astype(np.float64).tolist()
