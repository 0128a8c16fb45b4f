"""How proset takes part in comparisons."""

from psephos._distributions import BALANCED, WEIGHTS, Integers, LogUniform
from psephos.contender import Contender

__all__ = ["CONTENDER"]


CONTENDER = Contender(
    "proset",
    "prototypes",
    {
        "quick": {
            "lambda_v": LogUniform(1e-4, 1.0),
            "n_batches": Integers(1, 4),
            "class_weight": BALANCED,
        },
        "samba": {
            "lambda_v": LogUniform(1e-6, 1.0),
            "n_batches": Integers(1, 10),
            "class_weight": WEIGHTS,
        },
    },
    ensemble=True,
    first={"quick": {"class_weight": "balanced"}},
    notes=(
        "drawn like the other models; the source's own rule, which prefers fewer columns, is "
        "ProsetSearchCV"
    ),
    default=True,
    small={"random_state": 0},
)
