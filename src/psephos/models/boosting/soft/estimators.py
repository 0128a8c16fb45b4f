"""Soft gradient boosting: soft trees trained together, each on the residual of those before."""

from typing import ClassVar

from psephos._types import ClassWeightLike
from psephos.base import Anatomy, VoteClassifier, VoteRegressor
from psephos.estimator.contender import Contender, Params, Shape
from psephos.estimator.distributions import BALANCED, Choice, Integers, LogUniform
from psephos.estimator.signature import KW_ONLY, parameters
from psephos.models.boosting.soft.model import LearnsClasses, LearnsNumbers, SoftModel

_FAT = 100  # columns from which comparisons take sparse gates


def _settings(params: Params, shape: Shape, seed: int) -> Params:
    """Return sparse gates, small trees and whole epochs as batches for fat tables.

    Dense gates read every column, and the gradients of small batches let noise in.
    """
    if shape.n_columns < _FAT:
        return {name: value for name, value in params.items() if name != "gate_lasso"}
    return {"n_estimators": 10, "max_depth": 3, "gate_lasso": 0.3, "batch_size": 1024, **params}


@parameters
class _SoftBoosting(SoftModel):
    """What the two share.

    Parameters
    ----------
    n_estimators : int
        Soft trees.
    learning_rate : float
        The weight of each tree, in residuals and in the score. 3 gave better probabilities, sooner,
        on letter and satellite.
    detach_residual : bool
        True: the residual is a constant to the gradient. False: a tree is also moved to where the
        residuals of later trees become smaller.
    """

    boosted: ClassVar[bool] = True

    n_estimators: int = 20
    _: KW_ONLY
    max_depth: int = 6
    learning_rate: float = 1.0
    weight_decay: float = 0.0
    detach_residual: bool = False


@parameters
class SoftGradientBoostingClassifier(_SoftBoosting, LearnsClasses, VoteClassifier):
    """Soft gradient boosting: a vote of soft trees that are trained together by mini-batches.

    Use it where columns are numbers and the borders between classes are smooth, where rows come in
    a stream (`partial_fit`), or where a forest or committee is to be distilled into a few trees
    (`distill`)::

        model = SoftGradientBoostingClassifier(10, max_depth=4, random_state=0).fit(X, y)
        model.predict_proba(new)
        model.explain(new)       # the gates on each case's likeliest way, in words

    On fat data set `gate_lasso=0.3` and `batch_size` to the number of rows or more: few columns are
    then read. On a table at hand `NewtonBoostingClassifier("hist")` mostly takes less time to the
    same loss (benchmarks/README.md).

    Attributes
    ----------
    vote_ : Vote
        Soft trees of constant weight `learning_rate`.

    Raises
    ------
    PsephosError
        In fit: if the loss becomes infinite (a step size too large), or a warm start has another
        meaning of the parameters there are.

    Notes
    -----
    **Votes.** A soft tree of depth D sends a share of a case to the left of each gate g, the rest
    to the right, and votes the mean of its leaves by the shares that reach them::

        left_g(x) = 1 / (1 + exp(-(w_g . z(x) + b_g) / temperature))
        h(x)      = sum_l reach_l(x) theta_l,    F(x) = learning_rate sum_m h_m(x)

    z(x) are the columns in standard deviations from their means, theta_l one number a class.
    Probabilities are the softmax of F. Two classes are trained as two outputs, of which the vote
    keeps the difference. A tree moves F by at most about `learning_rate`, so that probabilities of
    few trees are cautious, right as answers may be: `calibrate` them, or take a larger one.

    **Training.** All trees take one Adam step a batch on the sum of local losses, in which each
    tree is to say the residual of those before it::

        r_m = onehot(y) - softmax(learning_rate sum_{j<m} h_j),   L = sum_m sum_i w_i |r_m - h_m|^2

    The source leaves open whether residuals are constants to the gradient. They are not, by
    default: that did better in five of six settings, and .0028 worse on breast_cancer
    (benchmarks/README.md). y may be a table of probabilities, one column a class, that sum to 1.

    **Rows.** Equal rows of one label are one row of added weight, and rows are drawn by their
    content, so that their order does not matter (up to rows that differ only beyond the first 64
    columns); with `groups`, and in `partial_fit`, they are taken as they are.

    **Columns.** A missing value enters as the column's mean, and where the column had any in
    training, as 1 in an input of its own, which gates weigh too. Columns of one value are not read.

    **Sparse gates.** With `gate_lasso` the penalty is of the product of gates and leaves, since
    halving gates and doubling leaves changes little of what a tree says::

        P = lambda sqrt(sum_m c_m^2 |theta_m - mean theta_m|^2) sum_j sqrt(d_j) |w_j|

    a unit of weight, with w_j the weights of column j in all gates (of its d_j inputs), and c_m
    what a unit of tree m's leaves moves at the start; what all classes of a leaf share counts for
    nothing. Gates share one step size (AdaMax), so that the proximal step, which sets columns to
    exactly 0, is exact.

    **Cost.** Training is in float32 on arrays of NumPy and one thread (the same bytes for any
    number of threads; another BLAS may round otherwise); answers are in float64. Memory of a fit:
    about twelve times the gates, 4 bytes for each of ``n_estimators (2^D - 1)`` gates and column,
    beside the table; half of it where `gate_lasso` leaves few columns. A model file has about 8
    bytes for each weight of a gate that is not 0 (49 MB for the defaults on 5,000 columns without
    `gate_lasso`), twice that with `warm_start`.

    References
    ----------
    Feng, Xu, Jiang & Zhou (2020), "Soft gradient boosting machine", arXiv 2006.04059, algorithm 2.
    Frosst & Hinton (2017), "Distilling a neural network into a soft decision tree", arXiv
    1711.09784 (gate penalty). Yuan & Lin (2006), "Model selection and estimation in regression
    with grouped variables", JRSS B 68 (group lasso). Kingma & Ba (2015), "Adam: a method for
    stochastic optimization", ICLR.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from psephos import SoftGradientBoostingClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SoftGradientBoostingClassifier(5, max_depth=3, max_iter=20, random_state=0)
    >>> bool(model.fit(X, y).score(X, y) > 0.97)
    True
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        ("soft trees", "coded voters"), "constant", "sum", "Adam on all trees together"
    )
    contender: ClassVar[Contender] = Contender(
        "soft-boosting", "boosting",
        {"quick": {
            "n_estimators": Integers(5, 20), "max_depth": Integers(3, 6),
            "learning_rate_init": LogUniform(0.003, 0.03), "gate_lasso": Choice((0.2, 0.3, 0.4)),
            "class_weight": BALANCED,
        }},
        settings=_settings, ensemble=True,
        notes=f"gates read all columns up to {_FAT - 1}; beyond, those a group lasso selects",
        small={"n_estimators": 3, "max_depth": 2, "max_iter": 60, "random_state": 0},
    )  # fmt: skip
    soft_labels: ClassVar[bool] = True
    _: KW_ONLY
    warm_start: bool = False
    class_weight: ClassWeightLike = None


@parameters
class SoftGradientBoostingRegressor(_SoftBoosting, LearnsNumbers, VoteRegressor):
    """Soft gradient boosting for one number or several at once, by squared error.

    As `SoftGradientBoostingClassifier`, with the residual ``r_m = y - learning_rate sum_{j<m} h_j``
    of y in standard deviations from its mean; a leaf is a vector of one number an output, so that
    outputs share gates.

    Attributes
    ----------
    vote_ : Vote
        The mean of the target (voter 1) and the soft trees.

    Examples
    --------
    >>> from sklearn.datasets import load_linnerud
    >>> from psephos import SoftGradientBoostingRegressor
    >>> X, Y = load_linnerud(return_X_y=True)
    >>> model = SoftGradientBoostingRegressor(3, max_depth=2, random_state=0).fit(X, Y)
    >>> model.predict(X).shape
    (20, 3)
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        ("joined voters",), "constant", "sum", "Adam on all trees together"
    )
    contender: ClassVar[Contender] = SoftGradientBoostingClassifier.contender.of_numbers(
        "soft-boosting-regressor"
    )
    multioutput: ClassVar[bool] = True
