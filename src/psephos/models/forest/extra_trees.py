"""Extremely randomised trees."""

from typing import ClassVar

from psephos.estimator.contender import Anatomy, Contender
from psephos.estimator.signature import KW_ONLY, parameters
from psephos.models.forest.parameters import (
    ClassForest,
    NumberForest,
    taking_part,
    uniform,
)


@parameters
class ExtraTreesClassifier(ClassForest):
    """Extra trees: at every split a few columns, each cut at a place drawn at random.

    Use it as a random forest, where smoother answers are wanted: single trees vary more, and their
    mean less abruptly from case to case.

    As `RandomForestClassifier`, but every tree is grown on all rows, and of each column that is
    drawn at a node one cut is looked at: a place drawn uniformly between its least and greatest
    value there (of categories, a random set). The best of these cuts is made. Votes and read-out
    are those of the random forest.

    Notes
    -----
    A dense table of numbers alone, of more columns than rows and at most 1,000 rows, is not binned,
    unless a bootstrap or `max_bins` below 255 is asked for: a cut is at the very place that was
    drawn, as in the source. Elsewhere a place inside a bin (see `RandomForestClassifier`) moves to
    the gap after it; with at most `max_bins` distinct values in a column none has an inside, and
    the trees are the same either way. Missing values go to the better side of the cut that was
    drawn. Without a bootstrap there is neither an out-of-bag answer nor a
    jackknife. `RandomForestClassifier` states how the three importances differ.

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
    """Extra trees for numbers: the mean of trees of random cuts.

    As `ExtraTreesClassifier`, with the mean number at a leaf in place of class shares, and by
    default all columns looked at in every node, as in scikit-learn.

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
