"""SWAG as estimators: a search for small models, and the vote of the strongest."""

from collections.abc import Mapping
from typing import Any, ClassVar

from psephos._types import (
    Array,
    ClassWeightLike,
    ColumnLists,
    Floats,
    LabelsLike,
    PerRow,
    SeedLike,
    TableLike,
)
from psephos.base import Anatomy, Labels, VoteClassifier, VoteRegressor
from psephos.estimator.contender import Contender
from psephos.estimator.input import CategoricalFeatures, Context, Table, VoteFit
from psephos.estimator.params import ClassWeight, Constraint, Options
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.ensemble import Ensemble
from psephos.models.swag.assembling import disagreeing_models, usable_models
from psephos.models.swag.evaluation import StepCost
from psephos.models.swag.fitting import cost_of, fit_library
from psephos.models.swag.library import Library, library_of
from psephos.models.swag.mechanisms import CLASSIFIERS, REGRESSORS, mechanism
from psephos.models.swag.problem import Learner
from psephos.models.swag.settings import CONTENDER, REGRESSOR, SHARED

_VOTERS = (  # quadratic ones in files of earlier releases
    "linear voters", "naive Bayes voters", "quadratic voters", "kernel voters", "tree voters",
    "forest voters", "coded voters", "nested voters", "joined voters",
)  # fmt: skip


@parameters
class _Wrapper(Ensemble):
    """Base class of both estimators.

    Parameters
    ----------
    m : int, inf or None
        Maximum number of candidates of a step; None is C(p*, 2) for a pool of p* columns; inf tries
        all.
    alpha : float, sequence of float or None
        Share of candidates that are strong, for all steps or one per step. None is 0.05, and in the
        first step enough for a pool of 30 columns (all, if the table has fewer): the paper's pools
        have 31, 33 and 157.
    delta : float
        The quantile of post-processing.
    n_folds, n_repeats : int
        Stratified cross-validation of every candidate on the same folds, with groups kept together.
        There are at most as many folds as the smallest class has rows (or as there are groups); see
        ``n_splits_``. The paper repeats it ten times.
    cv : int, splitter or list of (train, test)
        Folds in place of `n_folds` and `n_repeats`.
    dimension : int
        Only models with this number of columns vote.
    sampling : {'parent', 'uniform'}
        How m candidates are drawn: a strong parent and a column (paper), or uniformly among the
        distinct candidates (the authors' program).
    ties : {'log_loss', 'all', 'first'}
        Which candidates of equal error are strong.
    absent : {None, 'vote'}
        'vote': columns of a frame may be absent at prediction; the models that need only present
        columns vote. Missing values in a row are always allowed, and treated in the same way.
    n_reserve : int
        With ``absent='vote'``: number of further strong models that are refitted and vote if no
        chosen model can.
    categorical_features : 'from_dtype', list, mask or None
        Columns of categories: a model that reads one has a 0/1 column for each level.
    folder : path-like
        Folder for finished parts of the search: if the same fit is interrupted and called again, it
        continues from them.
    n_jobs : int
        Threads (batched learners) or processes (others), or as set by ``joblib.parallel_config``
        (Dask, Ray); the result does not depend on it.
    random_state : int, RandomState or None
        Seed of the folds, the draws and the learner.

    Attributes
    ----------
    library_ : Library
        All strong models: `frame()`, `usable_with(columns)`, `synonyms(column)`, `usage()`. Its
        errors are minima over many candidates, and so too optimistic.
    stopped_ : str
        Why the search ended.
    n_splits_ : int
        Number of splits on which every candidate was evaluated.
    """

    searched = library_of
    mechanisms: ClassVar[Mapping[str, Learner]]

    learner: Any = "logistic"
    _: KW_ONLY
    p_max: Any = "epv"
    m: Any = None
    alpha: Any = None
    delta: float = 0.01
    n_folds: int = 10
    n_repeats: int = 1
    cv: Any = None
    scoring: Any = None
    vote: str = "majority"
    dimension: int | None = None
    sampling: str = "parent"
    ties: str = "log_loss"
    absent: str | None = None
    n_reserve: int = 1000
    categorical_features: CategoricalFeatures = "from_dtype"
    folder: Any = None
    verbose: int = False
    n_jobs: int | None = None
    random_state: SeedLike = None
    library_: Library = fitted()
    stopped_: str = fitted()
    n_splits_: int = fitted()

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        return fit_library(self, table, labels, weight, context)

    def estimate_cost(
        self,
        X: TableLike,
        y: LabelsLike,
        sample_weight: PerRow = None,
        *,
        groups: Array | None = None,
        seconds: float = 0.5,
    ) -> list[StepCost]:
        """Return the cost of each step of a fit: candidates, fits, seconds of one worker.

        Some random candidates of each size are timed, `seconds` per size; the model is not fitted.
        """
        return cost_of(self, *self.read(X, y, sample_weight, groups), seconds)

    def usable(self, X: TableLike) -> ColumnLists:
        """Return for each row the number of models that vote, their source and their error.

        Keys: ``case``, ``n_models``, ``source`` ('chosen', 'reserve' or 'prior'), ``error`` (the
        mean cross-validated error, in the search, of those that vote, and so too optimistic; NaN
        if only the prior votes).
        """
        return usable_models(self.vote_, self.library_, self._table(X))


@parameters
class SparseWrapperClassifier(_Wrapper, VoteClassifier):
    """SWAG, the Sparse Wrapper AlGorithm: a library of small models that vote.

    Step 1 evaluates every column alone by repeated cross-validation and keeps those whose error is
    at most the alpha-quantile: the pool S*. Step d evaluates models of d columns, each a strong
    model of d - 1 columns plus one more column of the pool (all subsets of the pool if they are at
    most m, else m drawn), and keeps the strong ones. The delta-quantile of the step with the lowest
    median error is a threshold: the models of any size with at most this error are refitted on all
    rows, and vote.

    Parameters
    ----------
    learner : str or estimator
        The learning mechanism: 'logistic', 'lasso' (the paper's L1 path), 'lda', 'naive_bayes',
        'ridge', 'linear_svm', 'rbf_svm', 'stump', 'tree', 'forest', one of these with parameters
        of its learner in `psephos.models.swag.learners` ('forest(n_estimators=500)',
        "rbf_svm(C=None, gamma='sigest')", which is caret's), that learner itself, or any
        scikit-learn classifier (cloned and cross-validated; hundreds of times slower; only this
        library's own models can then be saved).
    p_max : int, 'epv', 'curve' or 'embedded'
        Maximum number of columns of a model. 'epv': rows of the smallest class / 5, at most 6.
        'curve': the search ends when the error curve stops decreasing. 'embedded': as many as an
        L1-penalised logistic regression selects.
    scoring : str, callable or array
        The error to be minimised: 'error' (None), 'balanced_error', 'log_loss', 'auc', a matrix of
        costs (by truth in rows and prediction in columns), or any scikit-learn scorer.
    vote : {'majority', 'mean', 'performance', 'best', 'stacked', 'boosted'}
        majority: one vote per model. mean: the mean of their probabilities. performance: this mean
        weighted by the decrease of each error against the prior's. best: only the best model.
        stacked, boosted: the 200 best are weighted by their out-of-fold predictions; stacked: the
        mean probability, with the non-negative weights that minimise the log-loss; boosted: their
        classes, with the weights of AdaBoost with these models as weak learners. With 'majority'
        and 'boosted', `predict_proba` is the share of the votes for a class: models that read the
        same columns agree, so it is too often near 0 or 1. For probabilities use 'mean'.
    class_weight : dict, 'balanced' or None
        Weights of classes in training and in the error.

    Notes
    -----
    Differences from the paper and its program: folds are drawn once and shared by all candidates
    (the program draws new ones for each, which adds noise to their order); the quantile is type 7
    and, by default, exactly a share alpha is kept, by log-loss among equal errors (the paper keeps
    all ties: ``ties='all'``); medians and quantiles are over all candidates of a step.

    If no model has all its columns in a row, the training prior, which is the last voter, predicts.

    References
    ----------
    Molinari, Bakalli, Guerrier, Miglioli, Orso & Scaillet (2020), "SWAG: A Wrapper Method for
    Sparse Learning", arXiv:2006.12837. Breiman (1996), "Stacked regressions", Machine Learning 24.
    Zhu, Zou, Rosset & Hastie (2009), "Multi-class AdaBoost", Statistics and Its Interface 2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from psephos import SparseWrapperClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = SparseWrapperClassifier(p_max=2, random_state=0).fit(X, y)
    >>> int(model.library_.dimension.max()), model.vote_.n_voters > 1
    (2, True)
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        voters=_VOTERS, weighting="available", readout="normalised", found_by="wrapper search"
    )
    contender: ClassVar[Contender] = CONTENDER
    mechanisms = CLASSIFIERS
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "learner": mechanism(CLASSIFIERS),
        "vote": Options(("majority", "mean", "performance", "best", "stacked", "boosted")),
        "class_weight": ClassWeight(),
        **SHARED,
    }

    _: KW_ONLY
    n_reserve: int = 1000
    class_weight: ClassWeightLike = None

    def multiplicity(self, X: Any) -> ColumnLists:
        """Return for each row how many of the equally good models predict another class.

        Keys: ``case``, ``n_models`` (chosen models whose columns are present; if there are none,
        those of the reserve), ``n_disagree`` (those that predict another class than the vote),
        ``share`` (their ratio; NaN without a model), and ``rival``, the class that most of these
        predict (None if none disagrees). It is the ambiguity of one case (Marx, Calmon & Ustun
        2020, "Predictive multiplicity in classification").
        """
        return disagreeing_models(self.vote_, self._table(X))


@parameters
class SparseWrapperRegressor(_Wrapper, VoteRegressor):
    """SWAG for regression: a library of small regression models, and the mean of the strongest.

    The search is that of `SparseWrapperClassifier`.

    Parameters
    ----------
    learner : str or estimator
        'least_squares', 'ridge', 'stump', 'tree', 'forest', one of these with its parameters
        ('forest(n_estimators=500)'), or any scikit-learn regressor.
    p_max : int, 'epv', 'curve' or 'embedded'
        Maximum number of columns of a model. 'epv': rows / 10, at most 6; the others as in
        `SparseWrapperClassifier`.
    scoring : str or callable
        'squared_error' (None), 'absolute_error', or any scikit-learn scorer.
    vote : {'mean', 'performance', 'best', 'stacked'}
        mean: the mean of their predictions. performance: this mean weighted by the decrease of each
        error against the prior's. best: only the best model. stacked: the mean of the 200 best with
        the non-negative weights that minimise the out-of-fold squared error.

    References
    ----------
    Molinari et al. (2020), "SWAG: A Wrapper Method for Sparse Learning", arXiv:2006.12837.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from psephos import SparseWrapperRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SparseWrapperRegressor(p_max=2, alpha=0.3, random_state=0).fit(X, y)
    >>> model.predict(X[:1]).shape
    (1,)
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        voters=(
            "linear voters",
            "tree voters",
            "forest voters",
            "coded voters",
            "nested voters",
            "joined voters",
        ),
        weighting="available",
        readout="normalised",
        found_by="wrapper search",
    )
    contender: ClassVar[Contender] = REGRESSOR
    mechanisms = REGRESSORS
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "learner": mechanism(REGRESSORS),
        "vote": Options(("mean", "performance", "best", "stacked")),
        **SHARED,
    }

    learner: Any = "least_squares"
    _: KW_ONLY
    vote: str = "mean"
