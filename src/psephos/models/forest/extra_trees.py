"""Extremely randomised trees."""

from typing import ClassVar

from psephos.estimator.contender import Anatomy, Contender
from psephos.estimator.signature import KW_ONLY, parameters
from psephos.models.forest.common import ClassForest, NumberForest, taking_part, uniform


@parameters
class ExtraTreesClassifier(ClassForest):
    """Extra trees: at every split a few columns are drawn, each with a random threshold.

    Use it as a random forest if predictions should be smoother: single trees vary more, and their
    mean changes less abruptly from case to case.

    As `RandomForestClassifier`, except that every tree is grown on all rows, and that one threshold
    is tried per column drawn at a node: uniform between the column's minimum and maximum there (for
    categories, a random set). The best of these splits is used. Votes and read-out are those of the
    random forest.

    Notes
    -----
    A dense, purely numeric table with more columns than rows and at most 1,000 rows is not binned,
    unless `bootstrap` is set or `max_bins` is below 255: thresholds are then exactly those drawn,
    as in the source. Otherwise a threshold inside a bin (see `RandomForestClassifier`) moves to the
    boundary after it; if a column has at most `max_bins` distinct values, the trees are the same
    either way. Missing values go to the better side of the split. Without a bootstrap there are no
    out-of-bag predictions and no jackknife. `RandomForestClassifier` explains the three
    importances.

    References
    ----------
    Geurts, Ernst & Wehenkel (2006), "Extremely randomized trees", Machine Learning 63.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from psephos import ExtraTreesClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = ExtraTreesClassifier(random_state=0).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.95)
    True
    """

    anatomy: ClassVar[Anatomy] = uniform("trees grown apart, of cuts drawn at random")
    contender: ClassVar[Contender] = taking_part("extra-trees")
    random_cuts: ClassVar[bool] = True

    _: KW_ONLY
    bootstrap: bool = False


@parameters
class ExtraTreesRegressor(NumberForest):
    """Extra trees for regression: the mean of trees with random thresholds.

    As `ExtraTreesClassifier`, with the mean of y at a leaf in place of class shares, and by default
    all columns tried at every node, as in scikit-learn.

    References
    ----------
    Geurts, Ernst & Wehenkel (2006), "Extremely randomized trees", Machine Learning 63.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from psephos import ExtraTreesRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ExtraTreesRegressor(random_state=0).fit(X[::2], y[::2])
    >>> bool(0.3 < model.score(X[1::2], y[1::2]) < 0.6)
    True
    """

    anatomy: ClassVar[Anatomy] = ExtraTreesClassifier.anatomy
    contender: ClassVar[Contender] = taking_part("extra-trees").of_numbers(
        "extra-trees-regressor", "criterion"
    )
    random_cuts: ClassVar[bool] = True

    _: KW_ONLY
    bootstrap: bool = False
