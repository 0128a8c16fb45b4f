"""Small example tables: generated ones with known truth, and breast cancer with products."""

from psephos.datasets.demo import (
    LabelledTable,
    breast_cancer_interactions,
    first_order_products,
)
from psephos.datasets.generators import (
    make_checkerboard,
    make_continuous_xor,
    make_spirals,
)

__all__ = [
    "LabelledTable", "breast_cancer_interactions", "first_order_products", "make_checkerboard",
    "make_continuous_xor", "make_spirals",
]  # fmt: skip
