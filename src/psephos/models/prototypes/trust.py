"""Validation of a classifier's fit: prototypes that do not lower the held-out loss are shrunk."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from psephos._types import Floats, Indices, NDArray
from psephos.estimator.input import Context
from psephos.models.prototypes.batches import Batch, class_masses
from psephos.models.prototypes.growing import FurtherBatches, Growing
from psephos.models.prototypes.problem import DistinctRows
from psephos.models.prototypes.scaling import Scaled, read_scaled, scaled_by
from psephos.vote import Vote, prototype_vote

_FOLDS, _TASK = 5, 1_000_003  # the task id differs from those of batches
_CLEAR, _ENOUGH = 3.0, 20  # a gain of so many standard errors on so many rows ends the validation
_LEAST = 1e-10  # added to probabilities, as in the objective
FACTORS = np.append(0.0, 2.0 ** np.arange(-6, 1))  # of the prototypes' weights


class FittedBatches(NamedTuple):
    """Batches fitted to some rows, their scaling and class frequencies."""

    scaled: Scaled
    prior: Floats
    batches: list[Batch]


def trusted_share(
    rows: DistinctRows, fit: Callable[[DistinctRows], FittedBatches], context: Context
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


def _some(rows: DistinctRows, some: Indices, left: Floats) -> DistinctRows:
    """Return some of the rows, with a share `left` of their weights and copies."""
    table, positions, y, weight, copies = rows
    return DistinctRows(
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


def _losses(rows: DistinctRows, fitted: FittedBatches) -> Floats:
    """Return the log-loss of rows for each factor, (n, n_factors)."""
    n_classes = len(fitted.prior)
    scaled = scaled_by(fitted.scaled.scaling, rows.table, rows.rows)
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
        self, target: Any, scaled: Scaled, rows: DistinctRows, growth: FurtherBatches,
        n_batches: int,
        context: Context, n_judges: int = 0,
    ) -> tuple[Vote, dict[str, Any]]:  # fmt: skip
        vote, extras = super()._with_batches(
            target, scaled, rows, growth, n_batches, context, n_judges
        )
        share, batches = 1.0, self._grown.batches
        # Not with partial_fit, whose rows have different roles.
        if self.fallback and growth.rows is None and extras["n_prototypes_"].any():

            def fit(some: DistinctRows) -> FittedBatches:
                part = read_scaled(some.table, some.rows, some.weight)
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
