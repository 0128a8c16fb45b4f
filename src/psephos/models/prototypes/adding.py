"""Batches added to a fitted model: by a warm start, or of rows that come later."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos._input import Context, Table, read_schema, read_table, seed_sequence
from psephos.base import Labels
from psephos.models.prototypes.growing import Growth, merged_rows
from psephos.models.prototypes.scaling import read_scaled, scaled_by
from psephos.models.training import Training
from psephos.params import check_params
from psephos.vote.importance import SampleRows

__all__ = ["Adding"]

_Floats = NDArray[np.float64]


class Adding:
    """What goes on from the batches that are there."""

    def _to_go_on_with(self: Any, table: Table, target: Any) -> Growth | None:
        """Return what a warm start starts from; None before the first fit."""
        if not hasattr(self, "vote_"):
            return None
        growth = self._growth()
        fitted = len(self.n_prototypes_)
        if self.n_batches < fitted:
            raise PsephosError(
                f"n_batches is {self.n_batches}, but the model has {fitted} batches: a warm start "
                "only adds some; use truncate."
            )
        now, then = (getattr(t, "classes", np.empty(0)) for t in (target, self.vote_.target))
        if table.schema != self.schema_ or not np.array_equal(now, then):
            raise PsephosError(
                "with warm_start=True the table needs the columns, categories and classes of the "
                "first fit: fit another model."
            )
        return growth

    def _growth(self: Any) -> Growth:
        if not hasattr(self, "_grown"):
            raise PsephosError(
                "no batch can be added to a model that was read from a file or reduced: how its "
                "rows were heard is not kept there. Fit it anew."
            )
        return self._grown

    def _add_batch(self: Any, labels: Labels, weight: _Floats, table: Table) -> Any:
        """Add a batch whose candidates are these rows."""
        kept = np.flatnonzero(weight > 0)
        if len(kept) == 0:
            raise PsephosError("sample_weight is zero on every row: a row needs weight.")
        first, n = not hasattr(self, "vote_"), len(weight)
        growth = Growth(None, np.empty(0), [], 0) if first else self._growth()  # type: ignore[arg-type]
        if table.rows.dtype.kind == "i":  # positions: they go on from call to call
            table = replace(table, rows=table.rows + growth.n_given)
        data = Training(table.take(kept), labels.target, labels.y[kept], weight[kept])
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
        growth = growth._replace(rows=rows, n_given=growth.n_given + n)
        n_batches = 1 if first else 1 + len(self.n_prototypes_)
        scaled = scaled_by(growth.scaling, rows.table, rows.rows)
        context = Context(seed_sequence(self.random_state))
        found = self._with_batches(
            labels.target, scaled, rows, growth, n_batches, context, n_judges
        )
        self._set_fitted(found[0], table.schema, found[1], SampleRows.of(found[0], table.values))
        return self

    def _further_table(self: Any, X: Any, y: Any) -> Table:
        """Return the rows of a call of `partial_fit`."""
        check_params(self, self.constraints)
        first = not hasattr(self, "vote_")
        if first:
            schema = read_schema(self, X, y, self.categorical_features)
        else:
            schema = self.schema_
            self._growth()
        return read_table(self, X, schema, reset=first)
