"""The fits of positive-unlabelled learning: by a risk, by Elkan and Noto, by bagging."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.models.committees.bag_voters import bag_voters
from psephos.models.committees.fitting import Task
from psephos.models.weak.fitting import (
    FIT_TASK,
    Fitted,
    estimated,
    fitted_by,
    labels_told,
    odds_map,
    prior_of,
    share_map,
)
from psephos.models.weak.rows import Rows
from psephos.models.weak.told import WeakLabels
from psephos.supervision import non_negative_pu_risk, pu_risk, supervised_risk
from psephos.supervision.losses import MarginLoss
from psephos.vote import Voters
from psephos.vote.voters.joined import join

_Floats = NDArray[np.float64]
PUFit = tuple[Fitted, Any, WeakLabels]  # the voters, the map of their probabilities, the prior


def by_risk(rows: Rows) -> PUFit:
    """Return the least unbiased or non-negative risk of positive and unlabelled rows."""
    m, labels = rows.model, prior_of(rows)
    if m.risk == "unbiased":
        risk: Any = pu_risk(rows.codes, labels.prior, rows.loss, rows.weight)
    else:
        risk = non_negative_pu_risk(
            rows.codes, labels.prior, rows.loss, rows.weight, beta=m.beta, gamma=m.gamma
        )
    found = fitted_by(rows, risk)
    # weights 2 prior / n_P and 1 / n_U make odds of twice P(y = positive)
    return found, None if m.estimator is None else odds_map(rows, 0.5), labels


def elkan_noto(rows: Rows) -> PUFit:
    """Return the classifier of labelled against unlabelled, its probability divided by c."""
    known, open_ = rows.codes == 1, rows.codes == -1
    mass = float(rows.weight[known].sum()), float(rows.weight[open_].sum())
    found: Any = rows.model.prior
    if isinstance(rows.model.prior, str):
        # by the classifier that is fitted below
        own = rows.model.estimator is None
        found = (
            estimated(rows, rows.learner().A, max(rows.model.alpha, 1e-9))
            if own
            else estimated(rows)
        )
    labels = labels_told(rows, found)
    c = mass[0] / (mass[0] + mass[1] * labels.prior)  # of an estimate that was not clipped, its own
    return fitted_by(*_apart(rows)), share_map(rows, c), labels


def _apart(rows: Rows) -> tuple[Rows, Any]:
    """Return positives against unlabelled rows, and the logistic risk that tells them apart."""
    codes = np.where(rows.codes == -1, 0, np.where(rows.codes == 1, 1, -1)).astype(np.intp)
    return rows.coded(codes), supervised_risk(codes, MarginLoss("logistic"), rows.weight)


def bagged(rows: Rows) -> PUFit:
    """Return members fitted on the positives and as many draws of unlabelled rows."""
    m, labels = rows.model, prior_of(rows)
    known, open_ = np.flatnonzero(rows.codes == 1), np.flatnonzero(rows.codes == -1)
    mass = float(rows.weight[known].sum())
    size = rows.counts[1] if m.max_samples is None else int(m.max_samples)
    chance = rows.weight[open_] / rows.weight[open_].sum()
    tasks: list[tuple[NDArray[np.intp], _Floats]] = []
    for t in range(m.n_estimators):
        drawn = rows.context.generator(FIT_TASK, t).multinomial(size, chance)
        some = np.concatenate([known, open_[drawn > 0]])
        counts = (drawn[drawn > 0] * (mass / size)).astype(np.float64)
        weight = np.concatenate([rows.weight[known], counts])
        tasks.append((some, weight))
    voters = _members(rows, tasks)
    return Fitted(voters), odds_map(rows, labels.prior), labels


def _members(rows: Rows, tasks: list[tuple[NDArray[np.intp], _Floats]]) -> Voters:
    if rows.model.estimator is None:
        parts = [
            (np.array([t], dtype=np.intp), fitted_by(*_apart(_weighted(rows, *task))).voters)
            for t, task in enumerate(tasks)
        ]
        return join(parts)
    negative, every = 1 - rows.positive, np.zeros(len(rows.codes))
    data = replace(rows.data, y=np.where(rows.codes == 1, rows.positive, negative).astype(np.intp))
    own: list[Task] = []
    for t, (some, weight) in enumerate(tasks):
        full = every.copy()
        full[some] = weight * (len(some) / weight.sum())  # whatever the unit of weights
        own.append(Task(rows.model.estimator, (FIT_TASK, t), some, None, full))
    return bag_voters(data, own)


def _weighted(rows: Rows, some: NDArray[np.intp], weight: _Floats) -> Rows:
    return replace(rows.take(some), weight=weight)
