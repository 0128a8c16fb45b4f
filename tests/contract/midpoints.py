"""A model of another package, as a user would write it: stumps halfway between the classes."""

from typing import ClassVar

import numpy as np

from psephos import register
from psephos.base import Anatomy, VoteClassifier
from psephos.estimator.contender import Contender
from psephos.estimator.distributions import Integers
from psephos.estimator.params import Interval
from psephos.vote import Constant, Readout, StumpVoters, Vote


@register
class MidpointClassifier(VoteClassifier):
    """Stumps on the columns whose class means lie farthest apart, in standard deviations."""

    anatomy = Anatomy(("stump voters",), "constant", "normalised", "class means")
    contender = Contender(
        "third-midpoint",
        "stumps",
        {"quick": {"n_columns": Integers(1, 5)}},
        ensemble=True,
        notes="cuts halfway between the class means",
        small={"n_columns": 2},
    )
    constraints: ClassVar = {"n_columns": Interval(1, whole=True)}

    def __init__(self, n_columns=3):
        self.n_columns = n_columns

    def _fit_vote(self, table, labels, weight, context):
        X, code = table.dense(), labels.target.code
        known = ~np.isnan(X) * weight[:, None]
        of_class = np.eye(len(code))[labels.y]
        total = of_class.T @ known  # (classes, columns)
        mean = of_class.T @ (known * np.nan_to_num(X)) / np.where(total > 0, total, 1.0)
        spread = np.sqrt((known * (np.nan_to_num(X) - mean[labels.y]) ** 2).sum(axis=0))
        low, high = mean.argmin(axis=0), mean.argmax(axis=0)
        apart = np.ptp(mean, axis=0) / np.where(spread > 0, spread, np.inf)
        columns = np.sort(np.argsort(-apart, kind="stable")[: self.n_columns])
        stumps = StumpVoters(
            n_features=X.shape[1],
            columns=columns,
            feature=np.arange(len(columns)),
            threshold=(mean.min(axis=0) + mean.max(axis=0))[columns] / 2.0,
            missing_left=np.zeros(len(columns), dtype=bool),
            category_ptr=np.zeros(len(columns) + 1, dtype=np.intp),
            category_left=np.zeros(0, dtype=bool),
            left=code[low[columns]],
            right=code[high[columns]],
        )
        weights = Constant(X.shape[1], apart[columns] + 1e-3)
        return Vote(stumps, weights, Readout("normalised", "share"), labels.target), {}
