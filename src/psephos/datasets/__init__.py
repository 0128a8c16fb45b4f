"""Tables to learn from: small, generated or at hand, with known truth where it can be known."""

from psephos.datasets.demo import LabelledTable, breast_cancer_interactions
from psephos.datasets.generators import (
    make_checkerboard,
    make_continuous_xor,
    make_spirals,
)

__all__ = [
    "LabelledTable", "breast_cancer_interactions", "make_checkerboard",
    "make_continuous_xor", "make_spirals",
]  # fmt: skip
