"""Fits that shrink where their prototypes do not pay."""

from typing import Any

import numpy as np

from psephos._input import Context
from psephos.models.prototypes.common import Batched
from psephos.models.prototypes.growing import Growth, Rows
from psephos.models.prototypes.kinds import NO_PATH, Path
from psephos.models.prototypes.scaling import Scaled, read_scaled
from psephos.models.prototypes.trust import Fitted, share_words, trusted_share
from psephos.vote import Vote, prototype_vote

__all__ = ["Guarded"]


class Guarded(Batched):
    """What the classifier adds to its batches."""

    fallback: str | None

    def _with_batches(
        self, target: Any, scaled: Scaled, rows: Rows, growth: Growth, n_batches: int,
        context: Context, n_judges: int = 0, path: Path = NO_PATH,
    ) -> tuple[Vote, dict[str, Any]]:  # fmt: skip
        vote, told = super()._with_batches(
            target, scaled, rows, growth, n_batches, context, n_judges, path
        )
        share, batches = 1.0, self._grown.batches
        # A path's penalties are compared by others, and rows of partial_fit do not count alike.
        if (
            self.fallback
            and path is NO_PATH
            and growth.rows is None
            and told["n_prototypes_"].any()
        ):

            def fit(some: Rows) -> Fitted:
                part = read_scaled(some.table, some.rows, some.weight)
                blank = Growth(
                    part.scaling, self._totals(some.y, some.weight, target.n_classes), [], 0
                )
                found = self._batches(target, part, some, blank, n_batches, context)
                return Fitted(part, self._prior(blank.totals), found)

            share = trusted_share(rows, fit, context)
        if share < 1.0:
            fewer = [b.found._replace(weight=share * b.found.weight) for b in batches if share]
            vote = prototype_vote(fewer, scaled.scaling, self._prior(growth.totals), target)
            if not share:
                told["n_prototypes_"] = np.zeros_like(told["n_prototypes_"])
        return vote, told | {"shrinkage_": share}

    def describe(self) -> list[str]:
        """Return the model as sentences: one on the whole, what `fallback` did, then the voters."""
        plain: Any = super()
        whole, *voters = plain.describe()
        return [whole, *share_words(self.shrinkage_), *voters]
