"""What the parameters of CART may be, and how it takes part in comparisons."""

from collections.abc import Mapping

from psephos._distributions import BALANCED, WEIGHTS, Choice, Integers
from psephos.contender import Contender, Params, Shape
from psephos.params import Anything, Constraint, Interval, OneOf, Options

__all__ = ["CART_PARAMS", "CONTENDER"]

CART_PARAMS: Mapping[str, Constraint] = {
    "cp": Interval(0),
    "min_samples_split": Interval(2, whole=True),
    "min_samples_leaf": OneOf((Interval(1, whole=True),), none=True),
    "max_depth": Interval(1, 62, whole=True),
    "max_leaf_nodes": OneOf((Interval(2, whole=True),), none=True),
    "max_competitors": Interval(0, whole=True),
    "max_surrogates": Interval(0, whole=True),
    "surrogate_style": Options(("total", "known")),
    "use_surrogates": Options(("majority", "only", "none")),
    "n_folds": OneOf((Interval(0, 0, whole=True), Interval(2, whole=True))),
    "folds": Anything(),
    "costs": Anything(),
}


def _for_comparison(params: Params, shape: Shape, seed: int) -> Params:
    """Return the rule of one standard error; surrogates where a value may be missing or new."""
    plain = not (shape.missing or shape.categorical)
    surrogates: Params = {"max_surrogates": 0} if plain else {}
    return {"cp": 1e-4, "one_standard_error": True, **surrogates, **params}


CONTENDER = Contender(
    "cart",
    "tree",
    {
        "quick": {
            "criterion": Choice(("gini", "entropy")),
            "min_samples_split": Integers(4, 40),
            "class_weight": BALANCED,
        },
        "samba": {
            "max_depth": Integers(1, 30),
            "criterion": Choice(("gini", "entropy")),
            "min_samples_split": Integers(2, 40),
            "class_weight": WEIGHTS,
        },
    },
    settings=_for_comparison,
    first={"quick": {"class_weight": "balanced"}},
    notes=(
        "grown to cp = 0.0001 and pruned by the 1-SE rule in 10 folds of the training part; "
        "surrogates only where values are missing or categories; their columns, asked where "
        "another is missing, are not counted as used"
    ),
    grouped=True,
    small={"min_samples_split": 6, "n_folds": 3, "random_state": 0},
)
