"""Proset: prototypes that vote for their own class, or for their own number."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Floats, LabelsLike, NDArray, PerRow, SeedLike, TableLike
from psephos.base import Anatomy, VoteClassifier, VoteRegressor
from psephos.estimator.contender import Contender
from psephos.estimator.input import CategoricalFeatures
from psephos.estimator.params import ClassWeight, Constraint, Interval, OneOf, Options
from psephos.estimator.signature import KW_ONLY, parameters
from psephos.models.prototypes import problem
from psephos.models.prototypes.growing import EXTRAS, Growing, Validated
from psephos.models.prototypes.mixture import NormalMixture, mixture_of
from psephos.vote.target import AnyTarget

_READOUT = "normalised"


@parameters
class _Proset:
    """Base class of both estimators.

    Parameters
    ----------
    n_batches : int
        B. More batches add detail; 0 is the class frequencies.
    lambda_v : float or 'auto'
        Strength of the penalty of the columns: the parameter to tune, 1e-6 to 1e-1. 'auto' is
        ``max(2, log q)`` divided by the number of rows (their total weight), with q the number of
        columns that vary. The penalty is then constant relative to the log-likelihood summed over
        rows, and grows with log q as the chance gain of the best of q noise columns does.
    lambda_w : float or 'auto'
        Strength of the penalty of the prototypes, 1e-9 to 1e-4. 'auto' is 3e-4 divided by the
        number of rows (their total weight).
    n_candidates : int
        Number of candidates of a batch, M.
    references : {'all', 'rest'}
        The rows on which the likelihood is computed. 'all': every row, left out of its own
        prediction; up to `n_candidates` rows nothing is random. 'rest': the rows that are not
        candidates (the authors' program), which halves a small table.
    max_fraction : float
        With ``references='rest'``, the maximum share of any group of rows that becomes candidates.
    tol : float
        A descent ends when an iteration lowers the objective by less than this share of it.
        Smaller values (the authors' program: 2e-9) take twice as long, for slightly fewer
        prototypes and the same predictions.
    max_iter : int
        Maximum number of iterations of a descent.
    min_gain : float
        A batch is kept if it lowers the objective, times the number of rows (their total weight),
        by at least this many nats. Without it later batches may add tens of useless columns.
    warm_start : bool
        Whether `fit` keeps the fitted batches and adds batches up to `n_batches`, with the scaling
        of the first fit. With the same rows and seed it equals a fit of all batches at once. Rows
        are identified by their index in the table, or by a named index of a frame: rows in another
        order without one are not left out of their own prediction.
    categorical_features : 'from_dtype', list, mask or None
        Columns whose values are categories; they differ by 0 or 1.
    random_state : int, RandomState or None
        Seed of the draws of candidates, different for each batch.

    Attributes
    ----------
    vote_ : Vote
        The fitted vote: voter 0 is the prior, the others are the prototypes.
    n_prototypes_ : ndarray of shape (B,)
        Number of prototypes of each batch.
    objective_ : ndarray of shape (B,)
        Final objective of each batch.
    n_iter_ : ndarray of shape (B,)
        Iterations of each batch.
    stopped_ : ndarray of shape (B,)
        Why each descent ended, in words.
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        voters=("prototype voters",),
        weighting="prototype kernels",
        readout=_READOUT,
        found_by="penalised likelihood, batch after batch",
    )

    n_batches: int = 1
    _: KW_ONLY
    lambda_v: float | str = "auto"
    lambda_w: float | str = "auto"
    alpha_v: float = 0.05
    alpha_w: float = 1.0
    beta: float = 0.1
    n_candidates: int = 1000
    references: str = "all"
    max_fraction: float = 0.5
    tol: float = 1e-6
    max_iter: int = 15_000
    min_gain: float = 1.0
    warm_start: bool = False
    categorical_features: CategoricalFeatures = "from_dtype"
    n_jobs: int | None = None
    random_state: SeedLike = None


@parameters
class ProsetClassifier(_Proset, Validated, VoteClassifier):
    """Prototypes: few training rows that vote for their class, each with a local weight.

    Batches b = 1 ... B are fitted one after another, each with inverse bandwidths v_b of the
    columns and prototypes j of weight w_j, both sparse::

        G_b(x, z) = exp(-1/2 sum_d v_bd^2 (x_d - z_d)^2)
        p_k(x)    = (p0_k + sum_{j: y_j = k} w_j G_b(x, x_j)) / (1 + sum_j w_j G_b(x, x_j))

    p0 are the class frequencies, which are predicted far from all prototypes. ``mass(x) - 1``
    measures how familiar a case is. In a batch some rows, the candidates, may become prototypes;
    the mean of ``-log p_y(x)`` over the reference rows is minimised, plus penalties::

        lambda_v [(1 - alpha_v) / 2 sum v_d^2 + alpha_v sum v_d]   and the same of w

    Parameters
    ----------
    alpha_v, alpha_w : float
        Share of L1 in each penalty. (Tables older than release 0.6 of the authors' program give the
        share of L2: their .95 is .05 here.) An L2 penalty of the weights shrinks the few large ones
        and keeps many small ones: without it half as many prototypes are as accurate or better.
    beta : float
        Rows whose own class is less likely than this quantile of its class count as hard; half
        of a class's candidates are drawn from them, if there are enough. At most .5.
    grouping : {'likelihood', 'correct'}
        How the rows of a class are divided for the draw: by `beta`, or by whether the vote so far
        predicts them correctly (releases of the authors' program before 0.5).
    fallback : {'shrink', None}
        'shrink': fits to four fifths of the rows (whole groups) predict the others. If their
        log-loss is not below that of the class frequencies by a standard error, all w are
        multiplied by the best of 1/2, 1/4, ... 1/64, or by 0 if that is not below it either. This
        takes five more fits, or two to four if the gain is clear (three standard errors). None: no
        validation, as in the authors' program, in `partial_fit` and in `ProsetSearchCV`, which
        compares held-out losses itself.

    Attributes
    ----------
    shrinkage_ : float
        The factor of `fallback` on the prototypes' weights: 1 if they lower the loss, 0 if only
        the class frequencies are predicted (`n_prototypes_` is then 0).

    Notes
    -----
    **Scaling** is built in: numeric columns are divided by their standard deviation, so penalties
    have the same meaning in every column.

    **Missing values.** A pair of rows is compared in the columns present in both. For another
    column the kernel's factor is its mean over two independent rows, ``(1 + 2 v_d^2)^(-1/2)`` for a
    normal number and the probability of agreement for a category: without it, rows with missing
    values would seem familiar.

    **Start and collapse.** The authors' program starts at v = 10/D, w = 1; with many columns
    all kernels are then flat and the descent may end at the empty model. Here the start is the
    best of seven bandwidths ``c / sqrt(D)``, by the likelihood of the references, and the weights
    are scaled in the descent.

    **Weights** are numbers of rows: weights that sum to 1 count as one row. Copies of a row are
    merged, weights summed; a row that represents c rows keeps (c - 1) / c of its own weight (c is
    the number of copies, or the ``sample_weight`` if all are integers and there is no
    `class_weight`). Draws of candidates depend neither on weights nor on the order of rows.

    **Few rows.** A class of one row has no prototype, as no other row could validate it.

    **Noise.** Neither penalties nor the leave-one-out loss, which the columns were chosen to lower,
    protect against noise; `fallback` does: on 100 tables of noise, 60 rows by 50 columns, held-out
    log-loss was 1.00 without it and .70 with it, equal to that of the class frequencies. A weak
    signal in few rows may then be lost.

    **Memory.** A fit holds its rows in single precision, n q numbers, and its candidates twice,
    unscaled (shared with the rows if all are candidates) and multiplied by v; a table of at most a
    million pairs during the search for a start, or blocks of its rows; and the memory of L-BFGS,
    25 (q + M) numbers in double precision.

    **Leave-one-out** is this project's addition. Mean held-out log-loss was lower than with halves
    on 15 of 15 tables of 62 to 1,797 rows (`benchmarks/README.md`), by a fifth on those with more
    columns than rows.

    References
    ----------
    Ruf, N., proset (manual of version 0.6), sections on the model, the objective and candidate
    selection. Chen and Chen (2008), "Extended Bayesian information criteria for model selection
    with large model spaces", for a penalty that grows with the logarithm of the columns.

    Examples
    --------
    >>> from psephos import ProsetClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ProsetClassifier(random_state=0).fit(X, y)
    >>> bool(model.n_prototypes_[0] < 75)
    True
    """

    contender: ClassVar[Contender] = problem.CONTENDER
    constraints: ClassVar[Mapping[str, Constraint]] = {
        **problem.SHARED,
        "grouping": Options(("likelihood", "correct")),
        "fallback": Options(("shrink", None)),
        "class_weight": ClassWeight(),
    }
    extras: ClassVar[tuple[str, ...]] = (*EXTRAS, "shrinkage_")

    _: KW_ONLY
    max_fraction: float = 0.5
    grouping: str = "likelihood"
    min_gain: float = 1.0
    fallback: str | None = "shrink"
    warm_start: bool = False
    class_weight: Any = None

    def _totals(self, y: Array, weight: Floats, n_classes: int) -> Floats:
        return np.bincount(y, weight, minlength=n_classes).astype(np.float64)

    def _renewed(self, earlier: Floats, later: Floats, *, added: bool) -> Floats:
        return earlier + later if added else later

    def _prior(self, totals: Floats) -> Floats:
        return totals / totals.sum()

    def _problem(
        self, target: Any, scaled: problem.Scaled, rows: problem.DistinctRows, totals: Floats
    ) -> problem.PrototypeProblem:
        names = tuple(str(name) for name in target.classes.tolist())
        return problem.class_problem(scaled, rows, names, self._prior(totals))

    def partial_fit(
        self,
        X: TableLike,
        y: LabelsLike,
        classes: LabelsLike | None = None,
        sample_weight: PerRow = None,
    ) -> Self:
        """Add one batch whose candidates are new rows.

        Columns, categories, classes and scaling are those of the first call, or of `fit`; the
        prior is the class frequencies of all calls. The rows of all calls (but not of `fit`) are
        kept as references of the new batch; pickles hold them, model files do not.

        Parameters
        ----------
        X : array, data frame or sparse table of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        classes : array of shape (n_classes,), default=None
            All labels of this and later calls. None: those of the first call.
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        self : ProsetClassifier

        Raises
        ------
        PsephosError
            If a parameter, a column, a label or a weight is invalid, no class has two rows, or the
            model was read from a file.
        """
        return self._partial_fit(X, y, sample_weight, classes)


@parameters
class ProsetRegressor(_Proset, Growing, VoteRegressor):
    """Prototypes for numbers: a mixture of normal densities around the targets of few rows.

    With the kernels of `ProsetClassifier`, and 1/u_b the width of batch b's densities (in standard
    deviations of the target)::

        p(y | x) = [N(y; m, s^2) + sum_j w_j G_b(x, x_j) N(y; y_j, 1 / u_b^2)]
                   / [1 + sum_j w_j G_b(x, x_j)]

    m and s are the mean and standard deviation of the training targets, which are predicted far
    from all prototypes. ``predict`` returns the mean of the mixture; `distribution` the mixture,
    with variance, quantiles, CDF and CRPS. The objective is that of the classifier with this
    density for p_y(x), plus ``lambda_u / 2 u^2``.

    Parameters
    ----------
    lambda_u : float or 'auto'
        Strength of the (squared) penalty of u: without it a density may become arbitrarily narrow
        around single rows. 'auto' is 3 divided by the number of rows.
    alpha_v, alpha_w : float
        Share of L1 in each penalty.
    beta : float
        As in `ProsetClassifier`; the classes are five ranges of the target.

    Notes
    -----
    No released program has this model; the density is that of the development branch of the
    authors' program, the objective and its gradient are derived here. In that branch the variance
    omits 1/u^2 and does not follow the law of total variance over batches; here it does both.

    **Coverage.** Intervals come from a fitted density, without a guarantee. With halved rows
    (``references='rest'``) and almost no penalty on w and u (1e-8 and 1e-3), 90 % intervals covered
    .84 of new rows, averaged over six tables of 124 to 350 rows; with the defaults .91, and CRPS
    was 5 to 11 % lower (`benchmarks/README.md`).

    References
    ----------
    Ruf, N., proset (manual of version 0.6, and its development branch for regression).

    Examples
    --------
    >>> from psephos import ProsetRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ProsetRegressor(random_state=0).fit(X, y)
    >>> low, high = model.distribution(X[:1]).interval(0.9)[0]
    >>> bool(low < model.predict(X[:1])[0] < high)
    True
    """

    contender: ClassVar[Contender] = problem.CONTENDER.of_numbers(
        "proset-regressor", "fallback", notes="states a distribution"
    )
    constraints: ClassVar[Mapping[str, Constraint]] = {
        **problem.SHARED,
        "lambda_u": OneOf((Interval(0), Options(("auto",)))),
    }
    extras: ClassVar[tuple[str, ...]] = EXTRAS

    _: KW_ONLY
    lambda_w: float | str = "auto"
    lambda_u: float | str = "auto"
    alpha_w: float = 0.05

    def _totals(self, y: NDArray[Any], weight: Floats, n_classes: int) -> Floats:
        mean = float(np.average(y, weights=weight))
        deviation = float(np.sqrt(np.average((y - mean) ** 2, weights=weight)))
        if not np.isfinite(deviation):
            raise PsephosError("squares of y overflow: divide y by a power of ten.")
        return np.array([mean, deviation])

    def _renewed(self, earlier: Floats, later: Floats, *, added: bool) -> Floats:
        return earlier  # the unit in which densities have widths

    def _prior(self, totals: Floats) -> Floats:
        mean, deviation = totals
        return np.array([mean, max(deviation, 1e-12 * abs(mean), np.finfo(float).tiny)])

    def _problem(
        self, target: AnyTarget, scaled: problem.Scaled, rows: problem.DistinctRows, totals: Floats
    ) -> problem.PrototypeProblem | None:
        mean, deviation = totals.tolist()
        if deviation <= 1e-12 * abs(mean):
            return None
        return problem.number_problem(scaled, rows, (mean, deviation))

    def partial_fit(self, X: TableLike, y: LabelsLike, sample_weight: PerRow = None) -> Self:
        """Add one batch whose candidates are new rows.

        Columns, categories, scaling and the prior are those of the first call, or of `fit`. The
        rows of all calls (but not of `fit`) are kept as references of the new batch; pickles hold
        them, model files do not.

        Parameters
        ----------
        X : array, data frame or sparse table of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        self : ProsetRegressor

        Raises
        ------
        PsephosError
            If a parameter, a column, a number or a weight is invalid, or the model was read from a
            file.
        """
        return self._partial_fit(X, y, sample_weight)

    def distribution(self, X: TableLike) -> NormalMixture:
        """Return the predicted distribution of each row: density, CDF, quantiles, CRPS.

        Parameters
        ----------
        X : array, data frame or sparse table of shape (n_samples, n_features)
        """
        return mixture_of(self.vote_, self._values(X))
