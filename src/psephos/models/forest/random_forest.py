"""Random forests."""

from typing import ClassVar

from psephos.estimator.contender import Anatomy, Contender
from psephos.estimator.signature import parameters
from psephos.models.forest.common import ClassForest, NumberForest, taking_part, uniform


@parameters
class RandomForestClassifier(ClassForest):
    """Random forest: trees on bootstrap samples, a few columns drawn at every split.

    Use it if accuracy matters more than a model short enough to read: ballots and importances
    explain a prediction, out-of-bag rows estimate the accuracy, and `uncertainty` the uncertainty.

    Tree t is grown on rows drawn with replacement. At a node `max_features` columns are drawn and
    the best split on them is used, until leaves are pure. The tree's vote is the share of each
    class p_tk(x) among the training rows in the leaf of x, and the forest is the mean::

        p_k(x) = 1/T sum_t p_tk(x)

    In the coding of the vote a share is (K p_k - 1) / (K - 1), or 2 p - 1 for two classes;
    ``decision_function`` is the mean in this coding and `predict_proba` the mean itself.

    Notes
    -----
    *Bins.* Columns are cut into at most `max_bins` bins of nearly equal weight before trees grow.
    A column with at most that many distinct values is not coarsened: a threshold is the midpoint
    between the neighbouring values at the node. Missing values go to the better side; if a node
    has none in training, to the side of most rows. Categories are divided into two sets. With two
    classes these are the best sets, in the order of the categories' class shares (unless
    `min_samples_leaf` excludes them); with more classes, one category against the rest. Categories
    not seen at a node go with the missing values.

    *Weights* are how often a row is drawn. If all are integers they are counts, and a tree draws as
    many rows as their sum, otherwise as many as there are rows. Rows of equal bins and label are
    merged, weights summed, and draws do not depend on the order of rows: weight 2 equals the row
    given twice. `min_samples_split` and `min_samples_leaf` count the draws of a bootstrap, with
    repetitions. Without a bootstrap they count integer weights (with a sum below 2^31); if weights
    are not integers every row counts once, and rows are not merged.

    *Three importances.* `impurity_importance_` is computed on the training rows: it prefers columns
    with many values, which have more candidate splits, and is positive for noise columns.
    ``permutation_importance(X, y)`` is the loss of accuracy on the given rows when a column is
    permuted: near 0 for noise, but shared (and so low for each) among correlated columns.
    `feature_importances_` measures how much splits on a column change the votes on the training
    rows.

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
    """Random forest for regression: the mean of trees on bootstrap samples.

    As `RandomForestClassifier`, with the mean of y at a leaf in place of class shares, and by
    default all columns tried at every node, as in scikit-learn.

    Notes
    -----
    See `RandomForestClassifier` for bins, weights, missing values and importances. Categories are
    divided in the order of their means.

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
