"""The parameters that the three classifiers of weak labels share."""

from collections.abc import Mapping
from typing import Any

from psephos._distributions import Choice, Distribution
from psephos.base import Anatomy
from psephos.contender import Shape
from psephos.params import Anything, Classes, Constraint, Interval, OneOf, Options, Seed, Voter
from psephos.supervision import LOSSES
from psephos.supervision.grids import WIDTH

__all__ = ["DRAWN", "SHARED", "anatomy", "compared"]

_VOTERS = (
    "ranked voters", "coded voters", "linear voters", "kernel voters", "nested voters",
    "joined voters", "tree voters", "naive Bayes voters", "foreign voters",
)  # fmt: skip
SHARED: Mapping[str, Constraint] = {
    "estimator": Voter(),
    "kernel": Options(("linear", "rbf")),
    "loss": Options(LOSSES),
    "prior": OneOf((Options(("elkan-noto",)), Interval(0, 1, open_low=True, open_high=True))),
    "alpha": Interval(0),
    "scaling": Options(("auto", "standard", "rank")),
    "classes": Classes(),
    "pos_label": Anything(),
    "unlabeled": Anything(),
    "sigma": OneOf((WIDTH,), none=True),
    "n_components": Interval(1, whole=True),
    "n_starts": Interval(1, whole=True),
    "max_iter": Interval(1, whole=True),
    "learning_rate": Interval(0, open_low=True),
    "random_state": Seed(),
}


#: What a comparison draws.
DRAWN: Mapping[str, Distribution] = {
    "alpha": Choice((0.0001, 0.001, 0.01)),
    "kernel": Choice(("linear", "rbf")),
    "scaling": Choice(("standard", "rank")),
}


def anatomy(found_by: str) -> Anatomy:
    """Return the anatomy of a vote of one score."""
    return Anatomy(_VOTERS, "constant", "normalised", found_by)


def compared(params: Mapping[str, Any], shape: Shape, seed: int) -> dict[str, Any]:
    """Return the settings of a comparison, whose classes are codes."""
    own = {"classes": [0, 1], "pos_label": shape.positive}
    given = {} if shape.prior is None else {"prior": shape.prior}
    return {**params, **own, **given, **({"scaling": "rank"} if shape.missing else {})}
