"""The parameters that soft trees share, one or many, and what is fitted of them."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from psephos.base import Labels
from psephos.estimator.input import Context, Table
from psephos.estimator.params import Constraint, Interval, OneOf, Text
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.boosting.soft.fit import fit_soft
from psephos.models.boosting.soft.memory import SoftMemory
from psephos.vote import Vote

_ABOVE = Interval(0, open_low=True)
_Floats = NDArray[np.float64]


@parameters
class SoftModel:
    """Soft trees, one or several, and how they are trained.

    Parameters
    ----------
    max_depth : int
        D; a tree has 2^D leaves.
    learning_rate_init : float
        Step size of Adam.
    max_iter : int
        Epochs. An epoch goes once through the distinct rows, so a table of few distinct rows (of
        categories) has few steps an epoch: give it more epochs.
    batch_size : int
        Distinct rows of a step; the last of an epoch may have fewer.
    weight_decay : float
        L2 penalty: this times each parameter is added to its gradient (a sum over the batch).
    temperature : float
        Of gates: the lower, the nearer they are to thresholds.
    gate_penalty : float
        Cost, a row, of gates that send all rows one way: ``-gate_penalty 2^-level (log a + log (1 -
        a)) / 2`` with a the share of the batch that goes left.
    gate_lasso : float
        Above 0 gates start at 0 and read only the columns that enter: a group lasso, the group of a
        column being its weights in all gates. It is a share of the penalty at which no column
        enters at the start: .2 to .4 served on four fat tables; from about 1 on none enters.
        Batches of few rows let noise in (at 1, 67 of 500 columns of noise by batches of 16, of 80
        rows; at 1.2 none). 0 reads all columns.
    validation_fraction : float
        Share of the rows held out; the epoch of least loss there is kept. None holds out
        none. Rows of one group stay together.
    n_iter_no_change : int
        Epochs without a lower one after which training ends. Needs `validation_fraction`.
    warm_start : bool
        Whether `fit` goes on from the last one for `max_iter` epochs more, on a table of the same
        columns and classes, whose units stay those of the first. `temperature`, `gate_lasso` and
        the `learning_rate` of boosting then stay the same too. With `validation_fraction` it ends
        no worse, on the rows held out, than it began.
    device : str
        Where training runs: 'cpu' (NumPy), or a device of PyTorch, such as 'cuda', which is then
        needed and not installed with psephos. It is worth it for large batches (thousands of rows:
        `batch_size`) of many rows. The same trees are drawn, but sums differ by rounding, and so
        do fits, between devices. Answers are computed on the CPU.
    categorical_features : 'from_dtype', list, mask or None
        Columns whose values are categories: a 0/1 input a level.
    random_state : int, RandomState or None
        Seeds the start, the order of rows and the validation share.

    Attributes
    ----------
    n_iter_ : int
        Epochs of the last call that were kept; 0 if a warm start found none better than its start.
    loss_curve_ : ndarray
        The loss a row in each epoch of the last call, each batch's before its step, of numbers in
        squared standard deviations; the cost of `gate_penalty` included, that of `gate_lasso` not.
    validation_losses_ : ndarray
        Of held-out rows after each epoch of the last call, cross-entropy or half the squared error
        in squared standard deviations; empty if none was held out.
    stopped_ : str
        'all epochs' or 'validation'.
    memory_ : SoftMemory
        What `partial_fit` and a warm start go on from. After `fit` without `warm_start` it has the
        columns that are read, and no running means of Adam; else all columns and these means.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        "max_depth": Interval(1, 12, whole=True),
        "learning_rate_init": _ABOVE,
        "max_iter": Interval(1, whole=True),
        "batch_size": Interval(1, whole=True),
        "weight_decay": Interval(0),
        "temperature": _ABOVE,
        "gate_penalty": Interval(0),
        "gate_lasso": Interval(0),
        "validation_fraction": OneOf((Interval(0, 1, open_low=True, open_high=True),), none=True),
        "n_iter_no_change": Interval(1, whole=True),
        "device": Text(),
    }

    _: KW_ONLY
    max_depth: int = 6
    learning_rate_init: float = 0.01
    max_iter: int = 100
    batch_size: int = 128
    weight_decay: float = 0.0
    temperature: float = 1.0
    gate_penalty: float = 0.0
    gate_lasso: float = 0.0
    validation_fraction: float | None = None
    n_iter_no_change: int = 10
    warm_start: bool = False
    device: str = "cpu"
    categorical_features: Any = "from_dtype"
    random_state: Any = None
    n_iter_: int = fitted()
    loss_curve_: _Floats = fitted()
    validation_losses_: _Floats = fitted()
    stopped_: str = fitted()
    memory_: SoftMemory = fitted()

    def _fit_vote(
        self, table: Table, labels: Labels, weight: _Floats, context: Context
    ) -> tuple[Vote, dict[str, Any]]:
        return fit_soft(self, table, labels, weight, context)
