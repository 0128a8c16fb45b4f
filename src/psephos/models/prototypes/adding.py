"""Batches added to a fitted model: by a warm start, or of rows that come later."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos._input import Context, Table
from psephos.base import Labels
from psephos.models.prototypes.growing import Growth, merged_rows
from psephos.models.prototypes.scaling import read_scaled, scaled_by
from psephos.models.training import Training
from psephos.vote import Vote

__all__ = ["Adding"]

_Floats = NDArray[np.float64]


class Adding:
    """What goes on from the batches that are there."""

    def _before(self: Any, context: Context) -> Growth | None:
        """Return what a warm start goes on from; None before the first fit."""
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
