"""How far a fit of classes may be trusted: its held-out loss beside that of the frequencies."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psephos._input import Context
from psephos.models.prototypes.growing import Rows
from psephos.models.prototypes.kinds import Batch
from psephos.models.prototypes.objective import own_and_total
from psephos.models.prototypes.scaling import Scaled, scaled_by

__all__ = ["FACTORS", "Fitted", "share_words", "trusted_share"]

_Floats = NDArray[np.float64]
_Rows = NDArray[np.intp]
_FOLDS, _TASK = 5, 1_000_003  # the task is that of no batch
_LEAST = 1e-10  # of a probability, as in the objective
FACTORS = np.append(0.0, 2.0 ** np.arange(-6, 1))  # of the prototypes' weights


class Fitted(NamedTuple):
    """Batches of some rows, their scaling and class frequencies."""

    scaled: Scaled
    prior: _Floats
    batches: list[Batch]


def trusted_share(rows: Rows, fit: Callable[[Rows], Fitted], context: Context) -> float:
    """Return what the prototypes' weights are multiplied by, 0 to 1.

    Fits to four fifths of the rows answer the others. It is 1 if their log-loss is below that of
    the frequencies by a standard error, else the factor of least log-loss that is, else 0. The
    loss that a fit ends at does not tell: columns and weights were chosen to lower it. Rows of one
    group alone cannot be divided: nothing is taken back.
    """
    groups = None if context.groups is None else context.groups[rows.rows]
    if groups is not None and len(np.unique(groups)) < 2:
        return 1.0
    # A row that stands for several is divided: its copies vouch for each other.
    parts = np.minimum(rows.copies, 1 if groups is not None else _FOLDS).astype(np.intp)
    parts = np.maximum(parts, 1)
    fold, row = _folds(rows.y, parts, groups, context.generator(_TASK))
    loss = np.empty((len(fold), len(FACTORS)))
    for k in range(int(fold.max()) + 1):
        held = fold == k
        left = np.bincount(row[~held], minlength=len(parts)) / parts
        asked, place = np.unique(row[held], return_inverse=True)
        fitted = fit(_some(rows, np.flatnonzero(left), left))
        loss[held] = _losses(_some(rows, asked, np.ones(len(parts))), fitted)[place]
    share = rows.weight[row] / parts[row] / rows.weight.sum()
    for best in (len(FACTORS) - 1, int((share @ loss).argmin())):
        gain = loss[:, 0] - loss[:, best]
        mean = float(share @ gain)
        if mean > np.sqrt(share**2 @ (gain - mean) ** 2):
            return float(FACTORS[best])
    return 0.0


def share_words(share: float) -> list[str]:
    """Return the sentence on that factor, none where it is 1."""
    if share == 1.0:
        return []
    remedy = "the class frequencies are the answer"
    if share:
        remedy = f"the prototypes' weights are 1/{1 / share:.0f} of those fitted"
    return [
        "Fits to four fifths of the rows did not answer the others better than the class "
        f"frequencies by a standard error of the log-loss: {remedy}."
    ]


def _some(rows: Rows, some: _Rows, left: _Floats) -> Rows:
    """Return some of the rows, and what is left of their weights and copies."""
    table, positions, y, weight, copies = rows
    return Rows(table, positions[some], y[some], (weight * left)[some], (copies * left)[some])


def _folds(
    y: _Rows, parts: _Rows, groups: NDArray[np.generic] | None, rng: np.random.Generator
) -> tuple[_Rows, _Rows]:
    """Return the fold and the row of each part of a row.

    Classes are spread evenly, and parts of a row; rows of one group stay together.
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


def _losses(rows: Rows, fitted: Fitted) -> _Floats:
    """Return the log-loss of rows by each factor, (n, factors)."""
    scaling, n_classes = fitted.scaled.scaling, len(fitted.prior)
    scaled = scaled_by(scaling, rows.table, rows.rows)
    mass = np.zeros((len(rows.y), n_classes))
    for found in (batch.found for batch in fitted.batches if len(batch.found.weight)):
        read = np.flatnonzero(found.inverse_bandwidth)
        mass += own_and_total(
            scaled.Z.reading(read), found.prototypes[:, read], found.inverse_bandwidth[read],
            found.weight, found.answer, n_classes, is_category=scaled.is_category[read],
            agree=scaling.agree[read],
        )  # fmt: skip
    own = mass[np.arange(len(mass)), rows.y]
    masses = fitted.prior[rows.y, None] + FACTORS * own[:, None]
    return -np.log(masses / (1.0 + FACTORS * mass.sum(axis=1)[:, None]) + _LEAST)
