"""Checks that every estimator of the library passes, for users who write their own.

`CHECKS` names them; `parametrize_with_contract` makes pytest cases of them.
`assert_ballots_are_true` evaluates the reasons of ballots on their cases. `plain_evaluation`
evaluates votes without fused kernels.
"""

from psephos.kernels.prediction import plain_evaluation
from psephos.testing.ballots import assert_ballots_are_true
from psephos.testing.contract import CHECKS, Case, parametrize_with_contract, small_table

__all__ = [
    "CHECKS", "Case", "assert_ballots_are_true", "parametrize_with_contract",
    "plain_evaluation", "small_table",
]  # fmt: skip
