"""The meta-parameters of a search, checked."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from psephos._distributions import BALANCED, WEIGHTS, Choice, LogUniform
from psephos._errors import PsephosError
from psephos.contender import Contender, Params, Shape
from psephos.models.swag.candidates import Sampling

__all__ = ["CONTENDER", "REGRESSOR", "SearchSettings", "Ties"]

Ties = Literal["log_loss", "all", "first"]
_WORDS = {
    "ties": ("log_loss", "all", "first"),
    "sampling": ("parent", "uniform"),
    "first_step": ("columns", "pairs"),
    "keep": ("strong", "all"),
}


@dataclass(frozen=True)
class SearchSettings:
    """The meta-parameters of a sparse wrapper search (seed paper, section 2.1).

    Parameters
    ----------
    p_max : int or 'curve', default=5
        Most columns of a model. 'curve' goes on while the curve of the alpha-quantiles falls: the
        search ends with the first step whose quantile is not more than one standard error below
        the lowest before it. The standard error is that of the best model of that earlier step:
        its spread over splits divided by the square root of the number of splits that test every
        row once. (The paper leaves this to future work, "similarly to the scree plot".)
    m : int, inf or None, default=None
        Most candidates of a step. inf tries all subsets of the pool S*; None is the paper's rule
        of thumb, C(p*, 2).
    alpha : float or sequence of float, default=0.05
        Share of the candidates that are strong. A sequence gives the share of each step, its last
        number that of all further steps: (0.1, 0.05) are two quantiles, q1 and q0.
    ties : {'log_loss', 'all', 'first'}, default='log_loss'
        Which of the candidates with the quantile's error are strong. 'all': every candidate with
        error <= quantile, as in the paper: with few rows, many more than a share alpha. Else
        exactly floor(alpha (M - 1)) + 1 of M, which is the paper's number where no errors are
        equal: by error, then by the mean log-loss of their scores ('log_loss'), then by columns;
        or by error, then by columns ('first').
    sampling : {'parent', 'uniform'}, default='parent'
        How candidates are drawn where not all are tried; see `candidates.extensions`.
    first_step : {'columns', 'pairs'}, default='columns'
        'columns': S* holds the columns that are strong alone, which leaves out columns that say
        something only together (the parity of two columns: XOR). 'pairs': S* holds the columns of
        the strong pairs, of all pairs if they are at most `n_pairs`, else of a random sample.
        Single columns are tried as well.
    n_pairs : int, default=100_000
    p_limit : int, default=20
        Most columns under ``p_max='curve'``.
    keep : {'strong', 'all'}, default='strong'
        'all' keeps the columns of every candidate beside its error; errors are always kept.

    Raises
    ------
    PsephosError
        If a parameter has a value that it cannot have.
    """

    p_max: int | Literal["curve"] = 5
    m: float | None = None
    alpha: float | Sequence[float] = 0.05
    ties: Ties = "log_loss"
    sampling: Sampling = "parent"
    first_step: Literal["columns", "pairs"] = "columns"
    n_pairs: int = 100_000
    p_limit: int = 20
    keep: Literal["strong", "all"] = "strong"

    def __post_init__(self) -> None:
        whole: dict[str, Any] = {"n_pairs": self.n_pairs, "p_limit": self.p_limit}
        if self.p_max != "curve":
            whole["p_max"] = self.p_max
        if self.m is not None and self.m != np.inf:
            whole["m"] = self.m
        for name, value in whole.items():
            if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
                other = {"m": ", inf or None", "p_max": " or 'curve'"}.get(name, "")
                raise PsephosError(
                    f"{name} is {value!r}; it must be a whole number of at least 1{other}."
                )
        for name, words in _WORDS.items():
            if getattr(self, name) not in words:
                raise PsephosError(
                    f"{name} is {getattr(self, name)!r}; it must be one of "
                    f"{', '.join(map(repr, words))}."
                )
        alpha: Any = self.alpha
        shares = [alpha] if isinstance(alpha, Real) else list(alpha)
        if not shares or not all(isinstance(a, Real) and 0 < float(a) <= 1 for a in shares):
            raise PsephosError(
                f"alpha is {alpha!r}; it must be a number above 0 and at most 1, or a sequence of "
                "such numbers."
            )
        object.__setattr__(self, "alpha", tuple(float(a) for a in shares))

    @property
    def last(self) -> int:
        """Return the greatest dimension that may be reached."""
        return self.p_limit if self.p_max == "curve" else int(self.p_max)

    def share(self, dimension: int) -> float:
        """Return alpha of a step."""
        shares: Any = self.alpha
        return shares[min(dimension, len(shares)) - 1]

    def most(self, n_pool: int) -> float:
        """Return m for a pool of p* columns."""
        return max(1, comb(n_pool, 2)) if self.m is None else self.m


def _settings(params: Params, shape: Shape, seed: int) -> Params:
    """Return what keeps the search of a comparison to seconds."""
    return {"m": 2000, "n_folds": 5, **params}


_SMALL: Params = {
    "p_max": 2,
    "m": 30,
    "alpha": 0.3,
    "delta": 0.2,
    "n_folds": 3,
    "random_state": 0,
}

CONTENDER = Contender(
    "swag",
    "library",
    {
        "quick": {
            "alpha": LogUniform(0.01, 0.1),
            "vote": Choice(("majority", "mean")),
            "class_weight": BALANCED,
        },
        "samba": {
            "alpha": LogUniform(0.01, 0.1),
            "delta": LogUniform(0.01, 0.2),
            "vote": Choice(("majority", "mean")),
            "class_weight": WEIGHTS,
        },
    },
    settings=_settings,
    ensemble=True,
    first={"quick": {"class_weight": "balanced"}},
    notes=(
        "logistic regressions on few columns each (events per variable, at most 6), at most "
        "2000 candidates a step judged in 5 folds of the training part; the source tries up to "
        "40,000, ten times in 10 folds"
    ),
    grouped=True,
    default=True,
    small=_SMALL,
)

REGRESSOR = Contender("swag-regressor", "library", small=_SMALL)
