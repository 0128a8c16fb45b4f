"""Learning from labels that are partly missing or one-sidedly wrong.

Losses of margins and the risks made of them (`pu_risk`, `non_negative_pu_risk`, `one_sided_risk`),
density ratios (`ULSIF`, `KLIEP`), the class prior (`ElkanNotoPrior`) and scores of predictions
where some labels are missing (`pu_scores`). Nothing here depends on a model: a risk is an object
with a value and a gradient over margins, or sample weights that any learner accepts.
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
