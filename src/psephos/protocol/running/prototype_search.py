"""How strongly prototypes are penalised, and in how many batches: chosen by cross-validation.

Each penalty is fitted once a fold, a path that is scored after every batch.
"""

# pyright: reportMissingTypeStubs=false

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import sklearn.base
import sklearn.utils
import sklearn.utils.metaestimators
import sklearn.utils.validation
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import Tags

from psephos._errors import PsephosError, PsephosTypeError
from psephos._types import Array, Estimator, Floats, Indices, LabelsLike, PerRow, TableLike, Usage
from psephos.base import Labels
from psephos.estimator.distributions import LogUniform, draw
from psephos.estimator.input import Context, Table
from psephos.estimator.params import Constraint, Interval, Options, check_params
from psephos.estimator.signature import KW_ONLY, parameters
from psephos.files.near import suggest
from psephos.models.prototypes.candidates import target_strata
from psephos.models.prototypes.mixture import NormalMixture
from psephos.models.prototypes.problem import automatic
from psephos.models.prototypes.proset import ProsetClassifier, ProsetRegressor
from psephos.protocol.evaluation.scores import TABLES, ClassAnswers, measures
from psephos.protocol.evaluation.splits import Split, inner_splits, seed_of
from psephos.runtime.threads import one_thread
from psephos.runtime.workers import in_order
from psephos.vote import Vote
from psephos.vote.frames import frame_of

_base: Any = sklearn.base  # it has no types
CLASS_SCORES = ("log_loss", *(m.name for m in TABLES["classes"] if m.name != "log_loss"))
NUMBER_SCORES = ("negative_log_density", "crps")
LOSSES = (*(m.name for m in TABLES["classes"] if m.lower_is_better), *NUMBER_SCORES)
_LEAST = 1e-15  # a probability, in the logarithm: as in the comparison
_HELD = 1 << 22  # weights of (row, voter) held at once: 32 MiB


class Offered(NamedTuple):
    """The rows of a search, as `VoteEstimator.read` returns them."""

    table: Table
    labels: Labels
    weight: Floats


class Paths(NamedTuple):
    """The results of K fits of B batches in F folds, all of shape (K, B + 1, F).

    Entry b is for the fit truncated after b batches; 0 is its prior alone.
    """

    score: Floats
    n_prototypes: Floats
    n_columns: Floats


def follow_paths(
    estimator: Estimator,
    offered: Offered,
    folds: Sequence[Split],
    penalties: Sequence[Mapping[str, Any]],
    scoring: str,
    seed: int,
    n_jobs: int | None,
) -> Paths:
    """Fit `estimator` with each of `penalties` in each fold, and score it after every batch.

    The estimator has the greatest number of batches; `penalties` are parameters to set, one
    dictionary per fit. Fits in one fold have the same seed, and so the same candidates.
    """
    calls = [
        (estimator, fold, one, scoring, seed_of(seed, "fold", f))
        for one in penalties
        for f, fold in enumerate(folds)
    ]
    found = np.array(in_order(_path, offered, calls, n_jobs), dtype=np.float64)
    whole = found.reshape(len(penalties), len(folds), *found.shape[1:])
    score, n_prototypes, n_columns = np.moveaxis(whole, (2, 3), (0, 2))
    bad = np.flatnonzero(~np.isfinite(score).all(axis=(0, 1)))
    if len(bad):
        raise PsephosError(
            f"{scoring} is not defined on fold {bad[0]}: its rows lack a class, or its training "
            "rows have one target only; use fewer folds, or another score."
        )
    return Paths(score, n_prototypes, n_columns)


def unguarded(estimator: Estimator) -> Any:
    """Return an unfitted copy without `fallback`, since the folds evaluate the fits."""
    model: Any = _base.clone(estimator)
    return model.set_params(fallback=None) if "fallback" in model.get_params() else model


def _path(
    offered: Offered, estimator: Estimator, fold: Split, penalty: Mapping[str, Any], scoring: str,
    seed: int,
) -> Floats:  # fmt: skip
    """Return (3, B + 1): score, prototypes and columns of one fit after 0, 1, ... B batches."""
    train, test = fold
    table, labels, weight = offered
    model: Any = unguarded(estimator).set_params(n_jobs=1, **penalty)
    inside = Labels(labels.target, labels.y[train])
    with one_thread():  # sums of BLAS depend on its threads
        drawn = Context(np.random.SeedSequence(seed))
        vote, extras = model._fit_vote(table.take(train), inside, weight[train], drawn)
        sizes = np.zeros(model.n_batches + 1, dtype=np.intp)  # the fit may have ended early
        sizes[1 : 1 + len(extras["n_prototypes_"])] = extras["n_prototypes_"]
        ends = 1 + np.cumsum(sizes)  # voter 0 is the prior, prototypes follow batch by batch
        scores = _staged(vote, table.take(test).values, ends, labels.y[test], weight[test], scoring)
    return np.array([scores, ends - 1, _columns(vote, ends)], dtype=np.float64)


def _columns(vote: Vote, ends: Indices) -> list[int]:
    """Return the number of columns that the first `end` voters read, for each of the `ends`."""
    usage: Usage = vote.usage()
    return [len(np.unique(usage.indices[: usage.indptr[end]])) for end in ends.tolist()]


def _staged(
    vote: Vote, X: Any, ends: Indices, truth: NDArray[Any], weight: Floats, scoring: str
) -> list[float]:
    """Return the score of the vote truncated after each of the `ends`."""
    stages = ends.tolist()
    if scoring in NUMBER_SCORES:
        losses = np.concatenate(
            [_number_losses(vote, X[rows], stages, truth[rows], scoring)
             for rows in _parts(X.shape[0], vote.n_voters)], axis=1,
        )  # fmt: skip
        return [_mean(loss, weight) for loss in losses]
    each = [_probabilities(vote, X[rows], stages) for rows in _parts(X.shape[0], vote.n_voters)]
    proba = np.concatenate(each, axis=1)
    if scoring == "log_loss":
        own = proba[:, np.arange(len(truth)), truth]
        return [_mean(loss, weight) for loss in -np.log(np.clip(own, _LEAST, 1.0))]
    scores = [measures(ClassAnswers(p.argmax(axis=1), p), truth)[scoring] for p in proba]
    return [np.nan if value is None else value for value in scores]


def _parts(n_rows: int, n_voters: int) -> list[slice]:
    size = max(1, _HELD // n_voters)
    return [slice(first, first + size) for first in range(0, n_rows, size)]


def _mean(loss: Floats, weight: Floats) -> float:
    return float((loss * weight).sum() / weight.sum())


def _probabilities(vote: Vote, X: Any, stages: list[int]) -> Floats:
    """Return (B + 1, n, K) probabilities: kernels are computed once, then summed by batches."""
    voters: Any = vote.voters
    weights, votes = vote.weights(X), voters.values
    total, mass = np.zeros((len(weights), votes.shape[1])), np.zeros(len(weights))
    found: list[Floats] = []
    first = 0
    for end in stages:
        own = weights[:, first:end]
        total = total + np.einsum("nt,tk->nk", own, votes[first:end])
        mass = mass + own.sum(axis=1)
        found.append(vote.readout.probabilities(vote.readout.finish(total, mass), vote.target))
        first = end
    return np.array(found)


def _number_losses(vote: Vote, X: Any, stages: list[int], truth: Floats, scoring: str) -> Floats:
    """Return (B + 1, n): minus the log density, or the CRPS, of the mixture after each batch."""
    voters: Any = vote.voters
    weights = vote.weights(X)
    mean = np.ascontiguousarray(voters.values[:, 0])
    found: list[Floats] = []
    for end in stages:
        share = weights[:, :end] / weights[:, :end].sum(axis=1, keepdims=True)
        mixture = NormalMixture(share, mean[:end], voters.spread[:end])
        found.append(mixture.crps(truth) if scoring == "crps" else -mixture.log_density(truth))
    return np.array(found)


# their type stubs are incomplete
_utils: Any = sklearn.utils
_methods: Any = sklearn.utils.metaestimators
_validation: Any = sklearn.utils.validation

_Penalties = Sequence[Mapping[str, float]]
_GRID = np.logspace(-6, -1, 11)
_STRATA = 5  # maximum strata of a numeric target


class _Stage(NamedTuple):
    """The results of the candidates of a stage, and the index of the chosen one."""

    table: dict[str, NDArray[Any]]
    fold_scores: Floats
    threshold: float
    chosen: int


def _can(method: str) -> Any:
    def check(search: "ProsetSearchCV") -> bool:
        return hasattr(getattr(search, "best_estimator_", search.estimator), method)

    return _methods.available_if(check)


def _admissible(mean: Floats, slack: Floats, *, lower: bool) -> tuple[float, NDArray[np.bool_]]:
    """Return the worst admissible mean, and a mask of the admissible candidates.

    A mean is admissible if it is within the slack of the best candidate, the first among ties.
    """
    loss = mean if lower else -mean
    best = int(np.argmin(loss))
    worst = float(loss[best] + slack[best])
    return (worst if lower else -worst), loss <= worst


@parameters
class ProsetSearchCV(MetaEstimatorMixin, BaseEstimator):
    """Proset with its penalties and its number of batches chosen by cross-validation.

    A fit of B batches contains the fits of 0, 1, ... B - 1: each penalty is fitted once in each
    fold and evaluated after every batch. Among the candidates whose mean score over the folds is
    admissible (`rule`), the most penalised is fitted to all rows.

    Parameters
    ----------
    estimator : ProsetClassifier or ProsetRegressor
        Has all other parameters. Its ``random_state`` is the seed of folds and fits.
    strategy : {'joint', 'two-stage'}, default='joint'
        'joint': all pairs of a ``lambda_v`` of the grid and B = 0 ... `max_batches`, with the
        estimator's ``lambda_w``; chosen is the greatest admissible ``lambda_v``, then the fewest
        batches. 'two-stage': first `n_pairs` random pairs of ``lambda_v`` and ``lambda_w`` at B =
        1, chosen is the greatest admissible ``sqrt(lambda_v lambda_w)``; then B = 0 ...
        `max_batches` with that pair, chosen are the fewest admissible batches.
    rule : {'one_sd', 'one_se', 'best'}, default='one_sd'
        The admissible distance from the best mean: the standard deviation of the best candidate
        over the folds (divisor F - 1), its standard error (that divided by the square root of the
        number of folds), or 0.
    scoring : str, default=None
        'log_loss' (the default), 'balanced_accuracy', 'accuracy' or 'roc_auc' for classes;
        'negative_log_density' (the default) or 'crps' for numbers. Losses use the sample weights;
        the other scores count each row once.
    cv : int, splitter of scikit-learn or iterable of (train, test), default=5
        Folds, the same for all candidates. For a number they are shuffled and stratified by class
        (or range of the target), and groups, if given, stay together.
    max_batches : int, default=10
        The greatest B.
    lambda_v_grid : array of shape (K,), default=None
        For 'joint'; None is 11 values from 1e-6 to 1e-1, evenly spaced in their logarithms.
    lambda_v_range, lambda_w_range : (float, float), default=(1e-6, 1e-1), (1e-9, 1e-4)
        For 'two-stage': pairs are drawn log-uniformly from these.
    n_pairs : int, default=50
        For 'two-stage'.
    fold_tol : float, default=5e-5
        ``tol`` of the fits in the folds; the final fit has the estimator's own.
    n_jobs : int, default=None
        Number of parallel fits in folds (joblib); the result does not depend on it.

    Attributes
    ----------
    best_estimator_ : ProsetClassifier or ProsetRegressor
        The fit to all rows. `vote_`, `predict` and so on are those of this estimator.
    best_params_ : dict
        The chosen ``lambda_v``, ``lambda_w`` and ``n_batches``.
    cv_results_ : dict of str to ndarray
        Columns with a row per candidate, the most penalised first: ``stage`` (1 or 2),
        ``lambda_v``, ``lambda_w``, ``n_batches``; ``mean``, ``sd``, ``se`` of the score over the
        folds; ``n_prototypes``, ``n_columns``, means over the folds; ``admissible``, ``chosen``.
        `frame` returns it as a data frame.
    fold_scores_ : ndarray of shape (n_candidates, n_folds)
        The scores in the folds.
    thresholds_ : ndarray of shape (n_stages,)
        The worst admissible mean.
    n_splits_ : int
        Number of folds. With groups there may be fewer than `cv`.

    Notes
    -----
    All choices use the rows given to ``fit``; an unbiased estimate needs an outer cross-validation
    of the search.

    The default rule is that of the source, which calls one standard deviation over the folds one
    standard error. It prefers sparse models strongly, and may admit the empty model (B = 0);
    'one_se' is the standard error proper.

    Fits have no warm start. Started at the fit of the next smaller ``lambda_v``, first batches need
    half the evaluations but stay near the columns of the weaker penalty: measured on three tables,
    their mean log-loss is up to .04 higher at the penalties that are usually chosen. `fold_tol`
    saves a quarter to a third of the evaluations against the source's 2e-6; on five of six splits
    of two tables it changed the choice only within the noise of the folds.

    References
    ----------
    Ruf, N., manual of proset: hyperparameter selection ('two-stage') and ``select_hyperparameters``
    of releases from 0.4 on ('joint'). Friedman, Hastie and Tibshirani (2010), "Regularization
    paths for generalized linear models via coordinate descent", for the rule.

    Examples
    --------
    >>> from psephos import ProsetClassifier
    >>> from psephos.protocol import ProsetSearchCV
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> search = ProsetSearchCV(ProsetClassifier(random_state=0), max_batches=2).fit(X, y)
    >>> sorted(search.best_params_)
    ['lambda_v', 'lambda_w', 'n_batches']
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        "strategy": Options(("joint", "two-stage")),
        "rule": Options(("one_sd", "one_se", "best")),
        "max_batches": Interval(1, whole=True),
        "n_pairs": Interval(1, whole=True),
        "fold_tol": Interval(0),
    }

    estimator: Any
    _: KW_ONLY
    strategy: str = "joint"
    rule: str = "one_sd"
    scoring: str | None = None
    cv: Any = 5
    max_batches: int = 10
    lambda_v_grid: ArrayLike | None = None
    lambda_v_range: tuple[float, float] = (1e-6, 1e-1)
    lambda_w_range: tuple[float, float] = (1e-9, 1e-4)
    n_pairs: int = 50
    fold_tol: float = 5e-5
    n_jobs: int | None = None

    # ------------------------------------------------------------------ fitting
    def fit(
        self, X: TableLike, y: LabelsLike, sample_weight: PerRow = None, *, groups: PerRow = None
    ) -> Self:
        """Choose penalties and number of batches, and fit the estimator with them to all rows.

        Parameters
        ----------
        X, y, sample_weight
            As for the estimator.
        groups : array of shape (n_samples,), default=None
            Rows of one group stay in one fold.

        Returns
        -------
        self : ProsetSearchCV

        Raises
        ------
        PsephosError
            If a parameter or the table cannot be used, there are too few rows for the folds, or
            the score is not defined on one.
        """
        scoring = self._checked()
        table, labels, weight, context = self.estimator.read(X, y, sample_weight, groups)
        seed = int(context.seed.generate_state(1)[0])
        if Interval(2, whole=True).allows(self.cv):
            folds = self._folds(labels.y, weight, context.groups, seed_of(seed, "folds"))
        else:
            folds = self._given_folds(y, groups, context.kept)
        stages = self._stages(Offered(table, labels, weight), folds, scoring, seed)
        last = stages[-1]
        best = {n: float(last.table[n][last.chosen]) for n in ("lambda_v", "lambda_w")}
        self.best_params_ = {**best, "n_batches": int(last.table["n_batches"][last.chosen])}
        self.best_estimator_: Any = unguarded(self.estimator).set_params(**self.best_params_)
        self.best_estimator_.fit(X, y, sample_weight, groups=groups)
        tables = [stage.table for stage in stages]
        self.cv_results_ = {name: np.concatenate([t[name] for t in tables]) for name in last.table}
        self.fold_scores_ = np.concatenate([stage.fold_scores for stage in stages])
        self.thresholds_ = np.array([stage.threshold for stage in stages])
        self.n_splits_ = len(folds)
        return self

    def _checked(self) -> str:
        """Return the score's name; raise PsephosError if a parameter is invalid."""
        check_params(self, self.constraints)
        if not isinstance(self.estimator, ProsetClassifier | ProsetRegressor):
            raise PsephosTypeError(
                "estimator must be a ProsetClassifier or a ProsetRegressor (an instance, not its "
                f"class); got {type(self.estimator).__name__}."
            )
        known = NUMBER_SCORES if isinstance(self.estimator, ProsetRegressor) else CLASS_SCORES
        scoring = known[0] if self.scoring is None else self.scoring
        if scoring not in known:
            raise PsephosError(f"scoring is {scoring!r}: {suggest(str(scoring), known)}")
        return scoring

    def _folds(
        self, y: NDArray[Any], weight: Floats, groups: NDArray[Any] | None, seed: int
    ) -> list[Split]:
        """Return the training and test rows of `cv` folds."""
        n_folds = int(self.cv)
        if len(y) < n_folds:
            raise PsephosError(
                f"n_samples = {len(y)} is fewer than the {n_folds} folds of cv: use fewer folds."
            )
        codes = y
        if isinstance(self.estimator, ProsetRegressor):
            codes = np.zeros(len(y), dtype=np.intp)
            strata = target_strata(y, weight, max(1, min(_STRATA, len(y) // n_folds)))
            if groups is None and np.bincount(strata).min() >= n_folds:
                codes = strata
        return inner_splits(codes, groups, n_folds, seed)

    def _given_folds(self, y: Any, groups: PerRow, kept: Indices | None) -> list[Split]:
        """Return the folds of a splitter, or given ones, as positions among the rows kept."""
        cv: Any = self.cv
        divides: bool = hasattr(cv, "split")
        if not (divides or hasattr(cv, "__iter__")) or type(cv) is str:
            raise PsephosError(
                "cv must be a whole number of folds, at least 2, a splitter of scikit-learn, or "
                f"pairs of training and test rows; got {cv!r}."
            )
        n_rows = len(y)
        place = np.full(n_rows, -1, dtype=np.intp)
        rows = np.arange(n_rows) if kept is None else kept
        place[rows] = np.arange(len(rows))
        parts: Any = cv.split(np.zeros((n_rows, 1)), y, groups) if divides else cv
        found: list[Split] = []
        for part in parts:
            train, test = (place[np.asarray(side, dtype=np.intp)] for side in part)
            found.append((train[train >= 0], test[test >= 0]))
        empty = [f for f, (train, test) in enumerate(found) if not (len(train) and len(test))]
        if empty or not found:
            raise PsephosError(
                f"fold {empty[0] if empty else 0} of cv has no training rows or no test rows of "
                "positive weight: give folds with both."
            )
        return found

    def _stages(self, rows: Offered, folds: list[Split], scoring: str, seed: int) -> list[_Stage]:
        up_to = np.arange(self.max_batches + 1)
        one_w = self.estimator.lambda_w
        if one_w == "auto":
            one_w = automatic("lambda_w", float(rows.weight.sum()), 1)
        if self.strategy == "joint":
            grid = [{"lambda_v": value, "lambda_w": float(one_w)} for value in self._grid()]
            return [self._stage(1, grid, up_to, rows, folds, scoring, seed)]
        pairs = self._pairs(seed)
        first = self._stage(1, pairs, np.array([1]), rows, folds, scoring, seed)
        return [first, self._stage(2, [pairs[first.chosen]], up_to, rows, folds, scoring, seed)]

    def _grid(self) -> list[float]:
        """Return the grid of lambda_v, the greatest first."""
        given = np.asarray(_GRID if self.lambda_v_grid is None else self.lambda_v_grid)
        usable = given.ndim == 1 and given.size > 0 and given.dtype.kind in "iuf"
        if not (usable and np.isfinite(given).all() and (given >= 0).all()):
            raise PsephosError(
                "lambda_v_grid must be one or more finite numbers of at least 0; got "
                f"{self.lambda_v_grid!r}."
            )
        return np.unique(given)[::-1].astype(np.float64).tolist()

    def _pairs(self, seed: int) -> list[dict[str, float]]:
        """Return the drawn pairs, the greatest geometric mean first."""
        drawn_from: dict[str, Any] = {}
        for name in ("lambda_v", "lambda_w"):
            ends = np.asarray(getattr(self, f"{name}_range"))
            usable = ends.shape == (2,) and ends.dtype.kind in "iuf"
            if not (usable and np.isfinite(ends).all() and 0 < ends[0] <= ends[1]):
                raise PsephosError(
                    f"{name}_range must be two finite numbers above 0, the smaller first; got "
                    f"{getattr(self, f'{name}_range')!r}."
                )
            drawn_from[name] = LogUniform(float(ends[0]), float(ends[1]))
        rng = np.random.default_rng(seed_of(seed, "pairs"))
        pairs = [draw(drawn_from, rng) for _ in range(self.n_pairs)]
        return sorted(pairs, key=lambda pair: -pair["lambda_v"] * pair["lambda_w"])

    def _stage(
        self, number: int, penalties: _Penalties, batches: Indices, offered: Offered,
        folds: list[Split], scoring: str, seed: int,
    ) -> _Stage:  # fmt: skip
        """Compare all pairs of penalties and batches, both ordered from the most penalised."""
        model: Any = _base.clone(self.estimator)
        model.set_params(n_batches=int(batches[-1]), tol=self.fold_tol)
        paths = follow_paths(model, offered, folds, penalties, scoring, seed, self.n_jobs)
        scores = paths.score[:, batches].reshape(-1, len(folds))
        mean = scores.mean(axis=1)
        sd = scores.std(axis=1, ddof=1) if len(folds) > 1 else np.zeros(len(scores))
        se = sd / np.sqrt(len(folds))
        slack = {"one_sd": sd, "one_se": se, "best": np.zeros_like(sd)}[self.rule]
        threshold, admissible = _admissible(mean, slack, lower=scoring in LOSSES)
        chosen = int(np.argmax(admissible))  # the first: the most penalised
        one_each, names = len(batches), ("lambda_v", "lambda_w")
        repeated = {name: np.repeat([one[name] for one in penalties], one_each) for name in names}
        table = {
            "stage": np.full(len(scores), number),
            **repeated,
            "n_batches": np.tile(batches, len(penalties)),
            **{"mean": mean, "sd": sd, "se": se},
            "n_prototypes": paths.n_prototypes[:, batches].mean(axis=2).ravel(),
            "n_columns": paths.n_columns[:, batches].mean(axis=2).ravel(),
            "admissible": admissible,
            "chosen": np.arange(len(scores)) == chosen,
        }
        return _Stage(table, scores, threshold, chosen)

    # ------------------------------------------------------------------ reading
    def frame(self, backend: str | None = None) -> Any:
        """Return `cv_results_` as a data frame (pandas if installed, else polars)."""
        _validation.check_is_fitted(self, "cv_results_")
        return frame_of({name: value.tolist() for name, value in self.cv_results_.items()}, backend)

    @property
    def vote_(self) -> Vote:
        """The vote of the best estimator."""
        _validation.check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.vote_

    @property
    def n_features_in_(self) -> int:
        """Number of columns of the table."""
        return self._best("n_features_in_")

    @property
    def feature_names_in_(self) -> Array:
        """Names of the columns, if the table had any."""
        return self._best("feature_names_in_")

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, sorted; for classes only."""
        return self._best("classes_")

    def _best(self, name: str) -> Any:
        """Return an attribute of the best estimator, or raise AttributeError before `fit`."""
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(f"{type(self).__name__} has no {name} before it is fitted")
        return getattr(self.best_estimator_, name)

    def predict(self, X: TableLike) -> Array:
        """Return the best estimator's predictions."""
        _validation.check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(X)

    def score(self, X: TableLike, y: LabelsLike, sample_weight: PerRow = None) -> float:
        """Return the best estimator's own score: accuracy for classes, R^2 for numbers."""
        _validation.check_is_fitted(self, "best_estimator_")
        return float(self.best_estimator_.score(X, y, sample_weight))

    @_can("predict_proba")
    def predict_proba(self, X: TableLike) -> Floats:
        """Return the best estimator's probabilities, shape (n_samples, n_classes)."""
        _validation.check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_proba(X)

    @_can("decision_function")
    def decision_function(self, X: TableLike) -> Floats:
        """Return the best estimator's score F(x)."""
        _validation.check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.decision_function(X)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_estimator_")

    def __sklearn_tags__(self) -> Tags:
        tags, own = super().__sklearn_tags__(), _utils.get_tags(self.estimator)
        tags.estimator_type = own.estimator_type
        tags.classifier_tags = deepcopy(own.classifier_tags)
        tags.regressor_tags = deepcopy(own.regressor_tags)
        tags.target_tags = deepcopy(own.target_tags)
        tags.input_tags = deepcopy(own.input_tags)
        return tags
