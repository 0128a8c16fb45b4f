"""A fitted model on another cohort: nothing is fitted again.

`validate` says which voters can speak, how the columns and the familiarity of the cases have
shifted, how well the answers tell the classes apart and how right the probabilities are, with
intervals, and what a recalibration would change. A `Validation` prints, is a table of a notebook,
and writes a folder of plain files.
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
