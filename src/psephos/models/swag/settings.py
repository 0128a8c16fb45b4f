"""The meta-parameters of a search, their constraints, and SWAG's part in comparisons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from numbers import Real
from typing import Literal

import numpy as np

from psephos.estimator import params
from psephos.estimator.contender import Contender, Params, Shape
from psephos.estimator.distributions import Choice, LogUniform

Sampling = Literal["parent", "uniform"]


_SHARE = params.Interval(0, 1, open_low=True)
_SHARES = params.Accepts(
    params.OneOf((_SHARE, params.Several(_SHARE))).allows,
    "a number above 0 and at most 1, a sequence of such numbers",
)
_ENDLESS = params.Accepts(lambda value: isinstance(value, Real) and value == np.inf, "inf")

SHARED: Mapping[str, params.Constraint] = {
    "p_max": params.OneOf(
        (params.Interval(1, whole=True), params.Options(("epv", "curve", "embedded")))
    ),
    "m": params.OneOf((params.Interval(1, whole=True), _ENDLESS), none=True),
    "alpha": params.OneOf((_SHARES,), none=True),
    "delta": params.Interval(0, 1, open_low=True),
    "n_folds": params.Interval(2, whole=True),
    "n_repeats": params.Interval(1, whole=True),
    "cv": params.Anything(),
    "scoring": params.Anything(),
    "dimension": params.OneOf((params.Interval(1, whole=True),), none=True),
    "sampling": params.Options(("parent", "uniform")),
    "ties": params.Options(("log_loss", "all", "first")),
    "absent": params.Options((None, "vote")),
    "n_reserve": params.Interval(0, whole=True),
    "folder": params.FolderPath(),
    "verbose": params.OneOf((params.Flag(), params.Interval(0, whole=True))),
    "n_jobs": params.Jobs(),
    "random_state": params.Seed(),
}


@dataclass(frozen=True)
class SearchSettings:
    """The meta-parameters of a search (seed paper, section 2.1); see `SparseWrapperClassifier`.

    With p_max='curve' the search ends at the first step whose alpha-quantile is not more than one
    standard error below the lowest one before. The standard error is that of the best model of the
    earlier step: its spread over splits divided by the square root of the number of splits that
    test every row once. (The paper leaves this to future work, "similarly to the scree plot".)

    With ties='all' every candidate with error <= quantile is strong, as in the paper: with few
    rows, many more than a share alpha. Otherwise exactly floor(alpha (M - 1)) + 1 of M are, the
    paper's number if no errors are equal: by error, then by the mean log-loss of their scores
    ('log_loss'), then by columns; or by error, then by columns ('first').
    """

    p_max: int | Literal["curve"] = 5
    m: float | None = None
    alpha: float | Sequence[float] = 0.05
    ties: Literal["log_loss", "all", "first"] = "log_loss"
    sampling: Sampling = "parent"
    p_limit: int = 20  # most columns of 'curve'

    @property
    def last(self) -> int:
        """Return the maximum dimension."""
        return self.p_limit if self.p_max == "curve" else int(self.p_max)

    def share(self, dimension: int) -> float:
        """Return alpha of a step."""
        shares = np.atleast_1d(np.asarray(self.alpha, dtype=np.float64))
        return float(shares[min(dimension, len(shares)) - 1])

    def most(self, n_pool: int) -> float:
        """Return m for a pool of p* columns."""
        return max(1, comb(n_pool, 2)) if self.m is None else self.m


def _settings(params: Params, shape: Shape, seed: int) -> Params:
    """Return the parameters in a comparison, which limit a search to seconds."""
    return {"m": 2000, "n_folds": 5, **params}


_SMALL: Params = {"p_max": 2, "m": 30, "alpha": 0.3, "delta": 0.2, "n_folds": 3, "random_state": 0}

CONTENDER = Contender(
    "swag",
    "library",
    {
        "quick": {
            "alpha": LogUniform(0.01, 0.1),
            "vote": Choice(("majority", "mean")),
        },
        "samba": {
            "alpha": LogUniform(0.01, 0.1),
            "delta": LogUniform(0.01, 0.2),
            "vote": Choice(("majority", "mean")),
        },
    },
    settings=_settings,
    ensemble=True,
    notes=(
        "logistic regressions on few columns each (events per variable, at most 6), at most "
        "2000 candidates a step evaluated in 5 folds of the training part; the source tries up to "
        "40,000, ten times in 10 folds"
    ),
    grouped=True,
    small=_SMALL,
    variants={  # the mechanisms of the paper with its grids, and the first of them as published
        "swag-lasso": {"learner": "lasso"},
        "swag-linear-svm": {"learner": "linear_svm"},
        "swag-rbf-svm": {"learner": "rbf_svm(C=None, gamma='sigest')"},
        "swag-forest": {"learner": "forest", "m": 200},  # else 50 times as long
        "swag-forest-500": {"learner": "forest(n_estimators=500)", "m": 200},
        "swag-published": {
            "learner": "lasso", "alpha": 0.05, "delta": 0.01, "m": 40_000, "n_folds": 10,
            "n_repeats": 10, "ties": "all", "vote": "majority", "class_weight": None,
        },
    },
).weighted()  # fmt: skip

REGRESSOR = CONTENDER.of_numbers(
    "swag-regressor", "vote", notes="least squares on few columns each, at most 2000 a step",
    variants={"swag-forest-regressor": {"learner": "forest", "m": 200}},
)  # fmt: skip
