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
from psephos.estimator.input import CategoricalFeatures, Context, FittedVote, Table
from psephos.estimator.params import ClassWeight, Constraint, Options
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.ensemble import Ensemble
from psephos.models.swag.assembling import disagreeing_models, usable_models
from psephos.models.swag.backends import StepCost
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
    """What the two share.

    Parameters
    ----------
    m : int, inf or None
        Most candidates of a step; None is C(p*, 2) for a pool of p* columns; inf tries all.
    alpha : float, sequence of float or None
        Share of candidates that are strong, for all steps or for each. None is 0.05, and in the
        first step as many as make a pool of 30 columns (all, if the table has fewer): the paper's
        pools have 31, 33 and 157.
    delta : float
        The quantile of post-processing.
    n_folds, n_repeats : int
        Stratified cross-validation of every candidate on the same folds; rows of one group are
        never divided. No more folds are made than the smallest class has rows (or than there are
        groups); ``n_splits_`` says how many there were. The paper repeats ten times.
    cv : int, splitter or list of (train, test)
        Takes their place.
    dimension : int
        Only models of so many columns vote.
    sampling : {'parent', 'uniform'}
        How m candidates are drawn: a strong parent and a column (paper), or uniformly among the
        distinct candidates (the authors' program).
    ties : {'log_loss', 'all', 'first'}
        Which candidates of equal error are strong.
    absent : {None, 'vote'}
        'vote': frames may lack columns at prediction; those models vote that need only what is
        there. Missing values in a row are always allowed, and treated so.
    n_reserve : int
        With ``absent='vote'``: strong models that are refitted too and vote where none of the
        chosen can.
    categorical_features : 'from_dtype', list, mask or None
        Columns of categories: a model that takes one gets a 0/1 column for each level.
    folder : path-like
        Where finished parts of the search are kept: the same fit, killed and called again, goes on
        from there.
    n_jobs : int
        Threads (batched learners) or processes (others), or what ``joblib.parallel_config``
        says (Dask, Ray); the result does not depend on it.
    random_state : int, RandomState or None
        Seeds the folds, the draws and the learner.

    Attributes
    ----------
    library_ : Library
        All strong models: `frame()`, `usable_with(columns)`, `synonyms(column)`, `usage()`. Its
        errors are minima over many candidates and flatter the models.
    stopped_ : str
        Why the search ended.
    n_splits_ : int
        Splits on which every candidate was judged.
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

    def _fit_vote(
        self, table: Table, labels: Labels, weight: Floats, context: Context
    ) -> FittedVote:
        return fit_library(self, self.mechanisms, table, labels, weight, context)

    def estimate_cost(
        self,
        X: TableLike,
        y: LabelsLike,
        sample_weight: PerRow = None,
        *,
        groups: Array | None = None,
        seconds: float = 0.5,
    ) -> list[StepCost]:
        """Return what each step of a fit would cost: candidates, fits, seconds of one worker.

        A few random candidates of each size are timed, `seconds` a size; nothing is fitted.
        """
        own: Any = self
        table, labels, weight, context = own.read(X, y, sample_weight, groups)
        return cost_of(self, self.mechanisms, table, labels, weight, context, seconds)

    def usable(self, X: TableLike) -> ColumnLists:
        """Return for each row how many models can vote, who they are, and how good they were.

        Keys: ``case``, ``n_models``, ``source`` ('chosen', 'reserve' or 'prior'), ``error`` (the
        mean cross-validated error of those that vote; of the search, so it flatters; NaN where the
        prior alone votes).
        """
        own: Any = self
        return usable_models(own.vote_, self.library_, own._table(X))


@parameters
class SparseWrapperClassifier(_Wrapper, VoteClassifier):
    """SWAG, the Sparse Wrapper AlGorithm: a library of small models that vote.

    Step 1 judges every column alone by repeated cross-validation and keeps those whose error is
    at most the alpha-quantile: the pool S*. Step d judges models of d columns, each a strong
    model of d - 1 columns and one more of the pool (all subsets of the pool if they are at most
    m, else m drawn), and keeps the strong ones. The step with the lowest median error gives a
    threshold, its delta-quantile: the models of any size below it are refitted on all rows, and
    vote.

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
        Most columns of a model. 'epv': rows of the smallest class / 5, at most 6. 'curve': the
        search ends where the error curve stops falling. 'embedded': as many as an L1-penalised
        logistic regression selects.
    scoring : str, callable or array
        What is minimised: 'error' (None), 'balanced_error', 'log_loss', 'auc', a matrix of costs
        (row the truth, column the answer), or any scikit-learn scorer.
    vote : {'majority', 'mean', 'performance', 'best', 'stacked', 'boosted'}
        One model one vote; mean of their probabilities; the same weighted by how much lower each
        one's error is than the prior's; the best model alone. 'stacked', 'boosted': the 200 best
        are weighted by what they answer out of fold, and those with a weight vote: their mean
        probability with the weights of at least 0 whose log-loss is least, or their answers with
        the weights that AdaBoost gives where they are its weak learners. With 'majority' and
        'boosted', `predict_proba` is the share of the votes for a class: models that read the same
        columns agree, so that it is near 0 or 1 more often than it is right. For probabilities
        take 'mean'.
    class_weight : dict, 'balanced' or None
        Weights of classes in training and in the error.

    Notes
    -----
    Where source and program differ: folds are drawn once and shared by all candidates (the
    program draws new ones for each, which blurs their order); the quantile is type 7 and, by
    default, exactly a share alpha is kept, by log-loss among equal errors (the paper keeps all
    equal ones: ``ties='all'``); medians and quantiles are those of all candidates of a step.

    A row in which no model has all its columns is answered by the training prior, which is the
    last voter.

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
        """Return for each row how many of the equally good models give another answer.

        Keys: ``case``, ``n_models`` (chosen models that have their columns; where none has, of the
        reserve), ``n_disagree`` (those whose own class is not the answer), ``share`` of the two
        (NaN where no model could be asked), and ``rival``, the class that most of these say (None
        where none disagrees). It is the ambiguity of one case (Marx, Calmon & Ustun 2020,
        "Predictive multiplicity in classification").
        """
        return disagreeing_models(self.vote_, self._table(X))


@parameters
class SparseWrapperRegressor(_Wrapper, VoteRegressor):
    """SWAG for numbers: a library of small regression models, and the mean of the strongest.

    The search is that of `SparseWrapperClassifier`.

    Parameters
    ----------
    learner : str or estimator
        'least_squares', 'ridge', 'stump', 'tree', 'forest', one of these with its parameters
        ('forest(n_estimators=500)'), or any scikit-learn regressor.
    p_max : int, 'epv', 'curve' or 'embedded'
        Most columns of a model. 'epv': rows / 10, at most 6; the others as in
        `SparseWrapperClassifier`.
    scoring : str or callable
        'squared_error' (None), 'absolute_error', or any scikit-learn scorer.
    vote : {'mean', 'performance', 'best', 'stacked'}
        Their mean; the same weighted by how much lower each one's error is than the prior's; the
        best model alone; the mean of the 200 best with the weights of at least 0 whose squared
        error out of fold is least.

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
