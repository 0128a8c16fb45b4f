"""How CART takes part in comparisons."""

from psephos.estimator.contender import Contender, Params, Shape
from psephos.estimator.distributions import BALANCED, WEIGHTS, Choice, Integers


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
