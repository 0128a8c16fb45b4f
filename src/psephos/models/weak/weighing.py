"""Importance weights of labelled rows whose recorded negatives may be positive."""

from typing import Any

import numpy as np
from sklearn.base import clone

from psephos._errors import PsephosError
from psephos._types import Floats, NDArray
from psephos.models.cloning import fitted
from psephos.models.weak.rows import WeakRows
from psephos.supervision import KLIEP, ULSIF, non_negative_pu_risk
from psephos.supervision.risks import MarginLoss

_RATIO_TASK = 4


def nnpu_scores(rows: WeakRows, prior: float) -> Floats:
    """Return the margins of all rows by a non-negative positive-unlabelled fit.

    With `estimator` this fit is linear in the inputs.
    """
    m = rows.model
    learner = rows.learner() if m.estimator is None else rows.linear
    risk = non_negative_pu_risk(rows.codes, prior, MarginLoss("sigmoid"), rows.weight)
    start = learner.starts(risk, 1)
    found, *_ = learner.fit(
        risk, alpha=m.alpha, starts=start, max_iter=m.max_iter, learning_rate=m.learning_rate
    )
    return learner.margins(found)


def importance(rows: WeakRows, prior: float, score: Floats) -> Floats:
    """Return sigma of every labelled row: at least 1 for positives, from 0 to 1 for negatives.

    The unlabelled rows with the greatest scores, a share `prior` of their weight, count as positive
    (U+), the others as negative (U-); with ``pseudo_labels='sign'`` U+ are those with a score above
    0. q is the share of U+, t that of recorded positives among labelled rows. Then::

        sigma+ = max(1, q / t  r+),           r+ = p(x | U+) / p(x | recorded +)
        sigma- = min(1, (1 - q) / (1 - t) r-),   r- = p(x | U-) / p(x | recorded -)

    The clips follow from sigma+ = 1 / P(recorded + | x, +) and sigma- = P(- | x, recorded -).
    """
    open_ = np.flatnonzero(rows.codes == -1)
    upper = score[open_] > 0
    if rows.model.pseudo_labels == "prior" or upper.all() or not upper.any():
        upper = _upper(score[open_], rows.weight[open_], prior)
    w = rows.weight
    q = float(w[open_[upper]].sum() / w[open_].sum())
    known = rows.codes >= 0
    t = float(w[rows.codes == 1].sum() / w[known].sum())
    sigma = np.ones(len(w))
    features = rows.features
    for code, part, factor in ((1, upper, q / t), (0, ~upper, (1.0 - q) / (1.0 - t))):
        top, bottom = open_[part], np.flatnonzero(rows.codes == code)
        given = features[top], features[bottom], (w[top], w[bottom])
        ratio = fitted(_ratio(rows, code), *given)
        found = factor * ratio.predict(features[bottom])
        sigma[bottom] = np.maximum(found, 1.0) if code else np.minimum(found, 1.0)
    return sigma


def _upper(score: Floats, weight: Floats, prior: float) -> NDArray[np.bool_]:
    """Return the mask of the share `prior` of rows with the greatest scores: not all, not none."""
    order = np.argsort(-score, kind="stable")
    middle = np.cumsum(weight[order]) - weight[order] / 2.0
    out = np.zeros(len(score), dtype=bool)
    out[order] = middle <= prior * weight.sum()
    out[order[0]], out[order[-1]] = True, False
    return out


def _ratio(rows: WeakRows, task: int) -> Any:
    given, seed = rows.model.density_ratio, rows.context.integer(_RATIO_TASK, task)
    if isinstance(given, str):
        return (ULSIF if given == "ulsif" else KLIEP)(random_state=seed)
    own: Any = clone(given)
    if "random_state" in own.get_params() and own.get_params()["random_state"] is None:
        own.set_params(random_state=seed)
    return own


def refuse_no_negative(rows: WeakRows, kind: str) -> None:
    """Raise PsephosError if no row is recorded negative, or fewer than two are unlabelled."""
    if not (rows.codes == 0).any():
        raise PsephosError(
            f"no row is recorded negative, and {kind} needs such rows: for positive and unlabelled "
            "rows use PUClassifier."
        )
    if (rows.codes == -1).sum() < 2:
        raise PsephosError(
            f"{kind} needs at least two rows without a label; got one. Label it, or leave it out."
        )
