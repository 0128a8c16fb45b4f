"""Tables to learn from: small, generated or at hand, with known truth where it can be known."""

from psephos.datasets.demo import LabelledTable, breast_cancer_interactions

__all__ = ["LabelledTable", "breast_cancer_interactions"]
