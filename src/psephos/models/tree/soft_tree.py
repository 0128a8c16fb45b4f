"""Soft decision trees: every gate sends a share of a case each way; trained by gradients."""

from collections.abc import Mapping
from typing import Any, ClassVar

from psephos._types import ClassWeightLike
from psephos.base import Anatomy, VoteClassifier, VoteRegressor
from psephos.estimator.contender import Contender
from psephos.estimator.signature import KW_ONLY, parameters
from psephos.models.boosting.soft.model import LearnsClasses, LearnsNumbers, SoftModel

_SMALL: Mapping[str, Any] = {"max_depth": 2, "max_iter": 90, "random_state": 0}


@parameters
class _SoftTree(SoftModel):
    """Base class of both estimators."""

    boosted: ClassVar[bool] = False

    max_depth: int = 6


@parameters
class SoftTreeClassifier(_SoftTree, LearnsClasses, VoteClassifier):
    """A soft decision tree: every gate sends a share of a case each way, all trained at once.

    Use it for one tree of a few gates whose predictions change smoothly, or to distil a larger
    model (`distill`)::

        model = SoftTreeClassifier(3, random_state=0).distill(forest, X)
        print(model)             # its first gate in words

    A `SoftGradientBoostingClassifier` is usually more accurate.

    The tree votes ``F(x) = sum_l reach_l(x) theta_l``, with reach_l the product of the gates'
    shares on the path to leaf l and theta_l one number per class; Adam minimises the cross-entropy
    of softmax(F). (In the source leaves have distributions and losses are mixed; here leaves have
    free vectors that are summed, as in boosted soft trees.)

    Parameters
    ----------
    gate_lasso : float
        Group lasso penalty of columns over all gates; if it is above 0, only columns that enter are
        read.

    Attributes
    ----------
    vote_ : Vote
        One soft tree.
    loss_curve_ : ndarray
        Mean cross-entropy per row in each epoch of the last call, each batch's before its step,
        without the penalty of `gate_lasso`.

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
    soft_labels: ClassVar[bool] = True

    _: KW_ONLY
    warm_start: bool = False
    class_weight: ClassWeightLike = None


@parameters
class SoftTreeRegressor(_SoftTree, LearnsNumbers, VoteRegressor):
    """A soft decision tree for one number or several at once, by squared error.

    As `SoftTreeClassifier`, minimising half the squared error of the standardised y.

    Attributes
    ----------
    vote_ : Vote
        The mean of the target (voter 1) and one soft tree.

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
    multioutput: ClassVar[bool] = True
