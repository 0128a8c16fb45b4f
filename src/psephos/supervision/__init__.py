"""What labels mean where some are missing or one-sidedly wrong.

Losses of margins and the risks made of them (`pu_risk`, `non_negative_pu_risk`, `one_sided_risk`),
ratios of densities (`ULSIF`, `KLIEP`), the class prior (`ElkanNotoPrior`) and what can be said of
answers without all labels (`pu_scores`). Nothing here knows a model: a risk is an object that gives
a value and a gradient over margins, or weights of rows that any learner takes.
"""

from psephos.supervision.density_ratio import KLIEP, ULSIF
from psephos.supervision.priors import ElkanNotoPrior
from psephos.supervision.risks import (
    LOSSES,
    MarginLoss,
    NonNegativeRisk,
    Risk,
    WeightedRisk,
    non_negative_pu_risk,
    one_sided_risk,
    pu_risk,
    supervised_risk,
)
from psephos.supervision.scores import accuracy_bounds, pu_scores

__all__ = [
    "KLIEP", "LOSSES", "ULSIF", "ElkanNotoPrior", "MarginLoss", "NonNegativeRisk", "Risk",
    "WeightedRisk", "accuracy_bounds", "non_negative_pu_risk", "one_sided_risk", "pu_risk",
    "pu_scores", "supervised_risk",
]  # fmt: skip
