"""Figures of held-out predictions with confidence intervals: functions of arrays.

Every interval names its method. `groups` are cases that belong together (of a subject, of a
clinic): intervals then treat groups as independent, and cases of a group as dependent.
"""

from psephos.figures.calibration import (
    CalibrationBin,
    CalibrationLine,
    brier,
    calibration_line,
    calibration_table,
    log_loss,
)
from psephos.figures.confusion import (
    Confusion,
    NetBenefit,
    area,
    areas,
    called,
    confusion,
    hand_till,
    in_millionths,
    levelled,
    net_benefit,
    predictive_values,
)
from psephos.figures.estimate import Estimate, mean, mean_of, number_line, r2, rmse, share, wilson

__all__ = [
    "CalibrationBin", "CalibrationLine", "Confusion", "Estimate", "NetBenefit", "area",
    "areas", "brier", "calibration_line", "calibration_table", "called",
    "confusion", "hand_till", "in_millionths", "levelled", "log_loss", "mean", "mean_of",
    "net_benefit", "number_line", "predictive_values", "r2", "rmse", "share", "wilson",
]  # fmt: skip
