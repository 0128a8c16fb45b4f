"""Random forests."""

from typing import ClassVar

from psephos.estimator.contender import Anatomy, Contender
from psephos.estimator.signature import parameters
from psephos.models.forest.parameters import (
    ClassForest,
    NumberForest,
    taking_part,
    uniform,
)


@parameters
class RandomForestClassifier(ClassForest):
    """Random forest: trees on bootstrap samples, a few columns drawn at every split.

    Use it where accuracy counts more than a model short enough to read: ballots and importance say
    what an answer rests on, out-of-bag rows how accurate it is, and `uncertainty` how sure.

    Tree t is grown on rows drawn with replacement. At a node `max_features` columns are drawn
    and the best of their cuts is made, until leaves are pure. Its vote is the share of each class
    p_tk(x) among the training rows of the leaf that x reaches, and the forest is their mean::

        p_k(x) = 1/T sum_t p_tk(x)

    In the coding of the vote a share is (K p_k - 1) / (K - 1), 2 p - 1 of two classes, so
    ``decision_function`` is that of the mean and `predict_proba` is the mean itself.

    Notes
    -----
    *Bins.* Columns are cut into at most `max_bins` bins of nearly equal weight before trees grow.
    A column of at most that many distinct values loses nothing: a cut is then the midpoint between
    the neighbouring values at the node. Missing values go to the side where they do better; a node
    that saw none sends them where most rows went. Categories are divided into two sets: of two
    classes the best (where `min_samples_leaf` forbids none), in the order of their shares; of more,
    one category against the rest. Those that a node did not see go with the missing values.

    *Weights* say how often a row is drawn; if all are whole numbers they are counts, and a tree
    draws as many rows as their sum, else as many as there are rows. Rows of equal bins and label
    are one row of added weight, drawn by their content and not by their place: weight 2 is the row
    given twice. `min_samples_split` and `min_samples_leaf` count the draws of a bootstrap, copies
    included; without one they count whole weights (below 2^31 together), and of other weights
    every row once: rows then stay apart.

    *Three importances.* `impurity_importance_` is read off the training rows: it prefers columns
    of many values, which have more cuts to choose from, and is positive for columns of noise.
    ``permutation_importance(X, y)`` asks how much accuracy on given rows is lost when a column is
    shuffled: near 0 for noise, but shared (and so low for each) among columns that stand in for
    one another. `feature_importances_` says whose splits move the votes on the training rows.

    *Uncertainty*: see the method of that name.

    References
    ----------
    Breiman (2001), "Random forests", Machine Learning 45. Breiman (1996), "Out-of-bag
    estimation". Wager, Hastie & Efron (2014), "Confidence intervals for random forests: the
    jackknife and the infinitesimal jackknife", JMLR 15.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from psephos import RandomForestClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = RandomForestClassifier(oob_score=True, random_state=0).fit(X, y)
    >>> bool(model.oob_score_ > 0.95), model.uncertainty(X).epistemic.shape
    (True, (178,))
    """

    anatomy: ClassVar[Anatomy] = uniform("trees grown apart, on samples of rows and columns")
    contender: ClassVar[Contender] = taking_part("random-forest")


@parameters
class RandomForestRegressor(NumberForest):
    """Random forest for numbers: the mean of trees on bootstrap samples.

    As `RandomForestClassifier`, with the mean number at a leaf in place of class shares, and by
    default all columns looked at in every node, as in scikit-learn.

    Notes
    -----
    See `RandomForestClassifier` for bins, weights, missing values and importances. Categories are
    divided by the order of their means.

    References
    ----------
    Breiman (2001), "Random forests", Machine Learning 45.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from psephos import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RandomForestRegressor(oob_score=True, random_state=0).fit(X, y)
    >>> bool(0.3 < model.oob_score_ < 0.6)
    True
    """

    anatomy: ClassVar[Anatomy] = RandomForestClassifier.anatomy
    contender: ClassVar[Contender] = taking_part("random-forest").of_numbers(
        "random-forest-regressor", "criterion"
    )
