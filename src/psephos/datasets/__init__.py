"""Tables to learn from: small, generated or at hand, with known truth where it can be known."""

from psephos.datasets.demo import LabelledTable, breast_cancer_interactions
from psephos.datasets.generators import (
    add_noise_columns,
    make_checkerboard,
    make_continuous_xor,
    make_spirals,
)

__all__ = [
    "LabelledTable", "add_noise_columns", "breast_cancer_interactions", "make_checkerboard",
    "make_continuous_xor", "make_spirals",
]  # fmt: skip
