"""A fitted model on another cohort: nothing is fitted again.

`validate` reports which voters are usable, how the columns and the familiarity of the cases have
shifted, discrimination and calibration with intervals, and the effect of a recalibration. A
`Validation` can be printed, shown in a notebook, and written to a folder of plain files.
"""

from psephos.validation.cohort import Cohort, cohort_of
from psephos.validation.result import SCHEMA, Validation, read_validation, write_validation
from psephos.validation.validating import validate, validated

__all__ = [
    "SCHEMA",
    "Cohort",
    "Validation",
    "cohort_of",
    "read_validation",
    "validate",
    "validated",
    "write_validation",
]
