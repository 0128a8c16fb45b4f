"""A soft tree: gates that divide every case, trained by gradients."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from psephos._input import Context, Table
from psephos.base import Anatomy, Labels, VoteClassifier, VoteRegressor
from psephos.contender import Contender
from psephos.models.boosting.soft.fit import fit_soft
from psephos.models.boosting.soft.memory import SoftMemory
from psephos.models.boosting.soft.parameters import EXTRAS, SHARED
from psephos.models.boosting.soft.teaching import LearnsClasses, LearnsNumbers
from psephos.params import ClassWeight, Constraint
from psephos.vote import Vote

__all__ = ["SoftTreeClassifier", "SoftTreeRegressor"]

_Floats = NDArray[np.float64]
_SMALL: Mapping[str, Any] = {"max_depth": 2, "max_iter": 90, "random_state": 0}


class SoftTreeClassifier(LearnsClasses, VoteClassifier):
    """A soft decision tree: every gate sends a share of a case each way, all trained at once.

    Use it where one tree of a few gates is wanted whose answer changes smoothly, or to distil a
    larger model into (`distill`)::

        model = SoftTreeClassifier(3, random_state=0).distill(forest, X)
        print(model)             # its first gate in words

    Mostly a `SoftGradientBoostingClassifier` is more accurate.

    The tree votes ``F(x) = sum_l reach_l(x) theta_l`` with reach_l the product of the gates'
    shares on the way to leaf l and theta_l one number a class; the cross-entropy of softmax(F) is
    minimised by Adam. (The source has a distribution in each leaf and mixes losses; sums of free
    vectors are what boosted soft trees have.)

    Parameters
    ----------
    max_depth : int, default=6
        D; the tree has 2^D leaves.
    learning_rate_init : float, default=0.01
        Of Adam.
    max_iter : int, default=100
        Epochs.
    batch_size : int, default=128
    weight_decay : float, default=0.0
    temperature : float, default=1.0
        Of gates: the lower, the harder they divide.
    gate_penalty : float, default=0.0
        Cost of gates that send all rows one way.
    gate_lasso : float, default=0.0
        Group lasso of columns over all gates; above 0 only columns that enter are read.
    validation_fraction : float, default=None
    n_iter_no_change : int, default=10
    warm_start : bool, default=False
    class_weight : dict, 'balanced' or None, default=None
    categorical_features : 'from_dtype', list, mask or None, default='from_dtype'
    random_state : int, RandomState or None, default=None
        See `SoftGradientBoostingClassifier` for all of these, and for its notes.

    Attributes
    ----------
    vote_ : Vote
        One soft tree.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only if X had column names.
    n_features_used_ : int
    features_used_ : ndarray
    n_iter_ : int
    loss_curve_ : ndarray
        Cross-entropy a row in each epoch of the last call, each batch's before its step; the cost
        of `gate_penalty` included, that of `gate_lasso` not.
    validation_losses_ : ndarray
    stopped_ : str
    memory_ : SoftMemory

    References
    ----------
    Irsoy, Yildiz & Alpaydin (2012), "Soft decision trees", ICPR. Frosst & Hinton (2017),
    "Distilling a neural network into a soft decision tree", arXiv 1711.09784.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from psephos import SoftTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(SoftTreeClassifier(3, random_state=0).fit(X, y).score(X, y) > 0.95)
    True
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        ("soft trees", "coded voters"), "constant", "sum", "Adam on all gates and leaves"
    )
    contender: ClassVar[Contender] = Contender("soft-tree", "tree", small=_SMALL)
    constraints: ClassVar[Mapping[str, Constraint]] = {**SHARED, "class_weight": ClassWeight()}
    extras: ClassVar[tuple[str, ...]] = EXTRAS
    boosted: ClassVar[bool] = False
    soft_labels: ClassVar[bool] = True
    n_iter_: int
    loss_curve_: _Floats
    validation_losses_: _Floats
    stopped_: str
    memory_: SoftMemory

    def __init__(
        self,
        max_depth: int = 6,
        *,
        learning_rate_init: float = 0.01,
        max_iter: int = 100,
        batch_size: int = 128,
        weight_decay: float = 0.0,
        temperature: float = 1.0,
        gate_penalty: float = 0.0,
        gate_lasso: float = 0.0,
        validation_fraction: float | None = None,
        n_iter_no_change: int = 10,
        warm_start: bool = False,
        class_weight: Any = None,
        categorical_features: Any = "from_dtype",
        random_state: Any = None,
    ) -> None:
        self.max_depth = max_depth
        self.learning_rate_init = learning_rate_init
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.weight_decay = weight_decay
        self.temperature = temperature
        self.gate_penalty = gate_penalty
        self.gate_lasso = gate_lasso
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.random_state = random_state

    def _fit_vote(
        self, table: Table, labels: Labels, weight: _Floats, context: Context
    ) -> tuple[Vote, dict[str, Any]]:
        return fit_soft(self, table, labels, weight, context)


class SoftTreeRegressor(LearnsNumbers, VoteRegressor):
    """A soft decision tree for one number or several at once, by squared error.

    As `SoftTreeClassifier`; half the squared error of y, in standard deviations from its mean, is
    minimised.

    Parameters
    ----------
    max_depth : int, default=6
    learning_rate_init : float, default=0.01
    max_iter : int, default=100
    batch_size : int, default=128
    weight_decay : float, default=0.0
    temperature : float, default=1.0
    gate_penalty : float, default=0.0
    gate_lasso : float, default=0.0
    validation_fraction : float, default=None
    n_iter_no_change : int, default=10
    warm_start : bool, default=False
    categorical_features : 'from_dtype', list, mask or None, default='from_dtype'
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    vote_ : Vote
        The mean of the target (voter 1) and one soft tree.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only if X had column names.
    n_features_used_ : int
    features_used_ : ndarray
    n_iter_ : int
    loss_curve_ : ndarray
    validation_losses_ : ndarray
    stopped_ : str
    memory_ : SoftMemory

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from psephos import SoftTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> bool(SoftTreeRegressor(3, max_iter=50, random_state=0).fit(X, y).score(X, y) > 0.5)
    True
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        ("joined voters",), "constant", "sum", "Adam on all gates and leaves"
    )
    contender: ClassVar[Contender] = Contender("soft-tree-regressor", "tree", small=_SMALL)
    constraints: ClassVar[Mapping[str, Constraint]] = SHARED
    extras: ClassVar[tuple[str, ...]] = EXTRAS
    boosted: ClassVar[bool] = False
    multioutput: ClassVar[bool] = True
    n_iter_: int
    loss_curve_: _Floats
    validation_losses_: _Floats
    stopped_: str
    memory_: SoftMemory

    def __init__(
        self,
        max_depth: int = 6,
        *,
        learning_rate_init: float = 0.01,
        max_iter: int = 100,
        batch_size: int = 128,
        weight_decay: float = 0.0,
        temperature: float = 1.0,
        gate_penalty: float = 0.0,
        gate_lasso: float = 0.0,
        validation_fraction: float | None = None,
        n_iter_no_change: int = 10,
        warm_start: bool = False,
        categorical_features: Any = "from_dtype",
        random_state: Any = None,
    ) -> None:
        self.max_depth = max_depth
        self.learning_rate_init = learning_rate_init
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.weight_decay = weight_decay
        self.temperature = temperature
        self.gate_penalty = gate_penalty
        self.gate_lasso = gate_lasso
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.categorical_features = categorical_features
        self.random_state = random_state

    def _fit_vote(
        self, table: Table, labels: Labels, weight: _Floats, context: Context
    ) -> tuple[Vote, dict[str, Any]]:
        return fit_soft(self, table, labels, weight, context)
