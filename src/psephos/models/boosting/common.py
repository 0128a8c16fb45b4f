"""Parameters and warm starts of boosting; runs of its loop, with or without a validation set."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit

from psephos._errors import PsephosError
from psephos._types import Array, Estimator, Floats, Indices, NDArray, SeedLike
from psephos.base import VoteClassifier, VoteEstimator
from psephos.estimator.input import CategoricalFeatures, Context
from psephos.estimator.members import in_codes, refuse_categories, seed_parameters
from psephos.estimator.params import Constraint, Interval, OneOf, Options, Voter, refuse_unread
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.kernels.numerics.criteria import opposite_labels
from psephos.models.boosting.loop import Round, VoterLearner, boost
from psephos.models.ensemble import Ensemble
from psephos.models.training import FirstFit, Training
from psephos.trees.stump import Criterion, Stump, StumpSearch
from psephos.vote import Constant, ConstantVoters, Readout, StumpVoters, Vote, Voters
from psephos.vote.voters.foreign import from_estimators
from psephos.vote.voters.mixed import mixed_voters


class _Loop(NamedTuple):
    """The state of a boosting loop, and digests of what it was fitted on."""

    first_fit: FirstFit
    state: Any
    n_rounds: int


@parameters
class WarmStart:
    """What boosting models with a warm start share.

    Parameters
    ----------
    warm_start : bool
        Whether `fit` keeps the rounds of the last fit and adds those that `n_estimators` asks for
        more, as one fit of all rounds would. Table, labels, weights and all parameters but
        `n_estimators` and `n_jobs` must be those of the first fit, which must have had
        ``warm_start=True`` in the same process: model files and pickles do not keep the loop.
    """

    _loop: ClassVar[_Loop | None] = None

    _: KW_ONLY
    warm_start: bool = False

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()  # type: ignore[misc]
        return {name: value for name, value in state.items() if name != "_loop"}


def digests(model: "WarmStart", data: Training, context: Context) -> FirstFit | None:
    """Return digests of the training rows; None without a warm start, which alone needs them."""
    if not model.warm_start:
        return None
    return FirstFit.of(model, data.table.values, data.y, data.weight, context.groups, ordered=True)


def continued(model: Any, context: Context, now: FirstFit | None) -> Any:
    """Return a copy of the state that a warm start continues from; None of a first fit.

    The model keeps its own until `keep`, so that a fit that is interrupted changes nothing.

    Raises
    ------
    PsephosError
        If there is none, or the rows, a parameter or `n_estimators` do not allow it.
    """
    loop = model._loop
    if context.previous is None or now is None:
        return None
    if loop is None:
        raise PsephosError(
            "a warm start continues from a completed fit with warm_start=True in the same process, "
            f"and this {type(model).__name__} has none. To fit anew, set warm_start=False."
        )
    loop.first_fit.require(now)
    if model.n_estimators < loop.n_rounds:
        raise PsephosError(
            f"n_estimators={model.n_estimators} must be larger or equal to the {loop.n_rounds} "
            "rounds of the last fit when warm_start=True."
        )
    return _copied(loop.state)


def _copied(state: Any) -> Any:
    """Return a state whose lists and arrays may change; tables of the training rows are shared."""
    new = copy(state)
    for name, value in vars(state).items():
        if isinstance(value, list):
            setattr(new, name, list(value))
        elif isinstance(value, np.ndarray) and name not in ("values", "weight"):
            setattr(new, name, value.copy())
    return new


def keep(model: Any, first_fit: FirstFit | None, state: Any, n_rounds: int) -> None:
    """Keep the state of the loop for a warm start."""
    model._loop = None if first_fit is None else _Loop(first_fit, state, n_rounds)


def refuse_watched(model: Any) -> None:
    """Raise PsephosError if a warm start meets a validation share, which drops rounds."""
    if getattr(model, "warm_start", False):
        raise PsephosError(
            "warm_start=True and validation_fraction exclude each other: the share decides how "
            "many rounds are kept. Set validation_fraction=None."
        )


@parameters
class BoostedClassifier(WarmStart, Ensemble, VoteClassifier):
    """A vote of voters that a boosting loop finds.

    Parameters
    ----------
    estimator : classifier
        The voter; it must take sample weights. None is the library's own stump. Models of this
        library, scikit-learn's trees, linear models and Gaussian naive Bayes can be saved.
    n_estimators : int
        Most voters, T.
    criterion : {'gini', 'error'}
        What the stump minimises: Gini impurity, or weighted error (both sides then answer
        differently).
    min_weight_fraction_leaf : float
        Least share of the sample weights on either side of a stump.
    validation_fraction : float
        Share of the training rows held out to decide how many voters to keep; None holds out
        none. Rows of one group stay together.
    n_iter_no_change : int
        Rounds without a better validation score after which the search ends. Needs
        `validation_fraction`.
    n_jobs : int
        Threads of the stump search; the result does not depend on it.
    random_state : int, RandomState or None
        Seeds `estimator` and the validation share; the stump needs none.

    Attributes
    ----------
    estimator_errors_ : ndarray of shape (T,)
        Weighted training errors eps_t.
    stopped_ : str
        Why the search ended.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        "estimator": Voter(),
        "criterion": Options(("error", "gini")),
        "min_weight_fraction_leaf": Interval(0, 0.5, open_high=True),
    }

    estimator: Any = None
    _: KW_ONLY
    n_estimators: int = 20
    criterion: str = "gini"
    min_weight_fraction_leaf: float = 0.0
    categorical_features: CategoricalFeatures = "from_dtype"
    validation_fraction: float | None = None
    n_iter_no_change: int = 10
    warm_start: bool = False
    n_jobs: int | None = None
    random_state: SeedLike = None
    estimator_errors_: Floats = fitted()
    stopped_: str = fitted()


@parameters
class LocalClassifier(BoostedClassifier):
    """One whose weights are local.

    Parameters
    ----------
    a : float
        Distance floor: larger is smoother and more robust to wrong labels. In units of the mean
        distance of training pairs unless `distance_scale` says otherwise.
    b : float
        Locality: with larger values only nearer rows count.
    distance_scale : {'mean', 'sum', None}
        'mean' divides distances by their mean over training pairs, so that `a` and `b` mean the
        same at any number of rows and any scale; 'sum' divides the distances of each case by
        their sum over the anchors, as the authors' program does; None is the paper's formula.
    column_scale : {'std', None}
        'std' divides each numeric column by its standard deviation in the distance; None is the
        paper's formula.
    n_anchors : int
        Keep this many training rows, drawn at random, as anchors (appendix D.3); None keeps all.
    categorical_features : 'from_dtype', list, mask or None
        Columns whose values are categories; they differ by 0 or 1 in the distance.
    random_state : int, RandomState or None
        Seeds `estimator`, the anchors and the validation share; the default settings draw none.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        "a": Interval(0),
        "b": Interval(0, open_low=True),
        "distance_scale": Options(("mean", "sum", None)),
        "column_scale": Options(("std", None)),
        "n_anchors": OneOf((Interval(1, whole=True),), none=True),
    }

    _: KW_ONLY
    n_estimators: int = 20
    a: float = 0.1
    b: float = 4.0
    criterion: str = "gini"
    distance_scale: str | None = "mean"
    column_scale: str | None = "std"
    n_anchors: int | None = None


# ---------------------------------------------------------------------- the loop
class StumpLearner:
    """Decision stumps over all columns, sorted once.

    With 'gini' each side predicts its class of greatest weight, as a tree of depth 1 does; with
    'error' the two sides predict different classes (two classes: opposite signs): the pair of least
    weighted error. With `says` 'probability' each side predicts its weighted class frequencies.
    """

    def __init__(
        self,
        data: Training,
        criterion: Criterion,
        min_weight: float,
        n_jobs: int | None,
        says: str = "answer",
    ) -> None:
        table, target = data.table, data.target
        self.n_features = table.values.shape[1]
        self.code = target.code
        self.criterion: Criterion = criterion
        self.min_weight = min_weight
        self.says = says
        self.search = StumpSearch(
            table.values, data.y, target.n_classes, categories=table.n_codes, n_jobs=n_jobs
        )

    def learn(self, pi: Floats, task: int) -> tuple[Any, Array] | None:
        """Return the best stump and its predictions."""
        stump = self.search.best(pi, self.criterion, self.min_weight)
        if stump is None:
            return None
        if self.says == "probability":
            shares = [_shares(side) for side in (stump.left_totals, stump.right_totals)]
            return (stump, *shares), np.where(self.search.left(stump)[:, None], *shares)
        left, right = self._answers(stump)
        answers = np.where(self.search.left(stump), left, right).astype(np.intp)
        return (stump, left, right), answers

    def _answers(self, stump: Stump) -> tuple[int, int]:
        left, right = stump.left_totals, stump.right_totals
        if self.criterion == "gini":
            return int(left.argmax()), int(right.argmax())
        return opposite_labels(left, right)

    def voters(self, found: Sequence[Any]) -> StumpVoters:
        """Return the stumps as voters."""
        stumps: list[Stump] = [f[0] for f in found]
        none = np.empty(0, dtype=bool)
        sets = [none if s.left_categories is None else s.left_categories for s in stumps]
        rules = [(s.threshold, own) for s, own in zip(stumps, sets, strict=True)]
        columns, missing = [s.column for s in stumps], [s.missing_left for s in stumps]
        votes = self._votes([f[1] for f in found]), self._votes([f[2] for f in found])
        return stump_voters(self.n_features, columns, rules, missing, *votes)

    def _votes(self, predicted: list[Any]) -> Floats:
        """Return the (T, K) votes for classes, or for class probabilities."""
        if self.says == "probability":
            return np.stack(predicted) @ self.code
        return self.code[predicted]


def stump_voters(
    n_features: int, columns: list[int], rules: Sequence[tuple[float, NDArray[np.bool_]]],
    missing: list[bool], left: Floats, right: Floats,
) -> StumpVoters:  # fmt: skip
    """Return stumps as voters: a column, a threshold or a set of codes, and two votes each."""
    read, feature = np.unique(columns, return_inverse=True)
    return StumpVoters(
        n_features=n_features,
        columns=read.astype(np.intp),
        feature=feature.astype(np.intp),
        threshold=np.array([threshold for threshold, _ in rules], dtype=np.float64),
        missing_left=np.array(missing, dtype=bool),
        category_ptr=np.cumsum([0, *(len(s) for _, s in rules)]).astype(np.intp),
        category_left=np.concatenate([np.empty(0, dtype=bool), *(s for _, s in rules)]),
        left=left,
        right=right,
    )


def _shares(totals: Floats) -> Floats:
    """Return the class frequencies of a side, by weight; uniform if its weight is 0."""
    total = totals.sum()
    return totals / total if total > 0 else np.full(len(totals), 1.0 / len(totals))


class EstimatorLearner:
    """Any scikit-learn classifier that takes sample weights, cloned and fitted each round.

    Its sample weights are pi times the total weight (the number of rows, without sample weights),
    so that a penalty such as C has the same scale as outside boosting. With `says` 'probability' a
    voter predicts its ``predict_proba``.
    """

    def __init__(
        self, estimator: Estimator, data: Training, context: Context, says: str = "answer"
    ) -> None:
        self.estimator = in_codes(estimator, data.target)
        self.X = data.table.values
        self.y = data.y
        self.total = float(data.weight.sum())
        self.code = data.target.code
        self.context = context
        self.says = says
        self.given = _categories(estimator, data)

    def learn(self, pi: Floats, task: int) -> tuple[Any, Array] | None:
        """Return a fitted clone and its predictions."""
        voter: Any = clone(self.estimator)
        seeds = seed_parameters(voter)
        voter.set_params(**{n: self.context.integer(1 + task, i) for i, n in enumerate(seeds)})
        voter.set_params(**self.given)
        try:
            voter.fit(self.X, self.y, sample_weight=pi * self.total)
        except (TypeError, ValueError) as error:  # a Pipeline raises the second
            if "sample_weight" not in str(error) or isinstance(error, PsephosError):
                raise
            raise PsephosError(
                f"estimator must accept sample_weight in fit; {type(voter).__name__} does not."
            ) from None
        if self.says == "probability":
            return voter, self._probabilities(voter)
        return voter, np.asarray(voter.predict(self.X), dtype=np.intp)

    def _probabilities(self, voter: Any) -> Floats:
        if not hasattr(voter, "predict_proba"):
            raise PsephosError(
                f"estimator {type(voter).__name__} has no predict_proba: set says='answer', or "
                "boost CalibratedClassifierCV of it."
            )
        known = np.asarray(voter.predict_proba(self.X), dtype=np.float64)
        out = np.zeros((len(known), len(self.code)))
        out[:, np.asarray(voter.classes_, dtype=np.intp)] = known
        return out

    def voters(self, found: Sequence[Any]) -> Voters:
        """Return the fitted classifiers as voters; known kinds become plain arrays."""
        if self.says == "probability":
            return mixed_voters(found, self.X.shape[1], self.code, "probability")
        return from_estimators(found, self.X.shape[1], self.code)


def _categories(estimator: Any, data: Training) -> dict[str, Any]:
    """Return the estimator parameters that declare the categorical columns."""
    columns = sorted(data.table.n_codes)
    if not columns:
        return {}
    if isinstance(estimator, VoteEstimator) and estimator.reads_categories():
        return {"categorical_features": columns}
    words = data.table.schema.words().columns
    known = "CARTClassifier, C45Classifier, or the stumps of estimator=None"
    instead = f"boost a model of psephos that knows categories ({known})"
    refuse_categories(estimator, "estimator", [words[j] for j in columns], instead)


def make_learner(model: Any, data: Training, context: Context) -> VoterLearner:
    """Return the base learner of a recipe's parameters."""
    says = getattr(model, "says", "answer")
    if model.estimator is None:
        least = model.min_weight_fraction_leaf
        return StumpLearner(data, model.criterion, least, model.n_jobs, says)
    refuse_unread(
        model,
        ("criterion", "min_weight_fraction_leaf"),
        "with an estimator of your own: it applies to the default stump only; set parameters of "
        "the estimator instead.",
    )
    return EstimatorLearner(model.estimator, data, context, says)


# Task ids of the validation split's seed: for classes (the learners' tasks follow), for regression.
_SPLIT, _SPLIT_NUMBERS = 0, 3

#: Kinds of voters that the stump or a given `estimator` is converted to.
VOTERS = ("stump voters", "tree voters", "linear voters", "naive Bayes voters", "nested voters")


class BoostingSteps(NamedTuple):
    """The steps of the boosting loop that differ by algorithm."""

    # ``reweight(pi, rounds, voters)``: the next sample weights; ``voters(rounds)``: those rounds'
    # voters
    reweight: Callable[[Floats, list[Round], Callable[[list[Round]], Voters]], Floats]
    # ``make_vote(rounds, voters)``: the vote of these rounds
    make_vote: Callable[[list[Round], Voters], Vote]
    # ``relate(pi, t, round)``: a voter's relevance on each training row
    relate: Callable[[Floats, int, Round], Floats] | None = None
    # (m,); the first sample weights, up to a factor; None: the sample weights of fit
    prior: Floats | None = None


def fit_boosted(
    model: Any,
    data: Training,
    context: Context,
    readout: Readout,
    make_steps: Callable[[Training], BoostingSteps],
    prepare: Callable[[Training], Training] = lambda data: data,
    make_learner: Callable[[Any, Training, Context], VoterLearner] = make_learner,
) -> tuple[Vote, dict[str, Any]]:
    """Run the boosting loop for a recipe with the parameters of `BoostedClassifier`.

    Parameters
    ----------
    readout : readout of the constant vote that is returned if no voter beats chance
    make_steps : maps the training rows to the recipe's steps
    prepare : maps the training rows to those the recipe uses; `distinct_rows` if the recipe counts
        rows or leaves one out, so that weight 2 equals the row twice
    make_learner : ``make_learner(model, data, context)`` returns the base learner
    """
    held, now, begun = None, None, None
    watched = getattr(model, "validation_fraction", None) is not None
    if watched:
        refuse_watched(model)
    if hasattr(model, "warm_start"):
        now = digests(model, data, context)
        begun = continued(model, context, now)
    if watched:
        train, rest = hold_out_rows(data, context, model.validation_fraction)
        data, held = data.take(train), data.take(rest)
    data = prepare(data)
    target = data.target
    learner = make_learner(model, data, context)
    steps = make_steps(data)

    def voters(rounds: list[Round]) -> Voters:
        return learner.voters([r.voter for r in rounds])

    def build(rounds: list[Round]) -> Vote:
        return steps.make_vote(rounds, voters(rounds))

    monitor = Monitor(build, held, model.n_iter_no_change) if held is not None else None
    found = boost(
        learner,
        data.y,
        data.weight if steps.prior is None else steps.prior,
        model.n_estimators,
        1.0 - 1.0 / target.n_classes,
        lambda pi, rounds: steps.reweight(pi, rounds, voters),
        monitor,
        steps.relate,
        begun,
    )
    if hasattr(model, "warm_start"):
        keep(model, now, found, len(found.rounds))
    rounds = found.rounds[: monitor.best_round] if monitor else found.rounds
    vote = build(rounds) if rounds else majority_vote(data, readout)
    errors = np.array([r.error for r in rounds])
    return vote, {"estimator_errors_": errors, "stopped_": found.reason}


def hold_out_rows(data: Training, context: Context, share: float) -> tuple[Indices, Indices]:
    """Return (training rows, held-out rows), stratified by class, or by whole groups if given."""
    y, classes = data.y, data.target.n_classes
    kind: Any = GroupShuffleSplit
    if context.groups is None:
        kind = StratifiedShuffleSplit if classes else ShuffleSplit
    seed = context.integer(_SPLIT if classes else _SPLIT_NUMBERS)
    try:
        if share * len(y) < 1.0:
            raise ValueError("that is less than one row")
        splitter = kind(1, test_size=share, random_state=seed)
        train, held = next(splitter.split(y, y, context.groups))
    except ValueError as error:
        raise PsephosError(
            f"validation_fraction={share} of {len(y)} rows cannot be held out ({error}): hold out "
            "another share, or none."
        ) from None
    known = len(np.unique(y)) if classes else 0
    if min(len(np.unique(y[train])), len(np.unique(y[held]))) < known:
        raise PsephosError(
            f"validation_fraction={share} leaves a class without rows in training or validation: "
            "hold out another share, or none."
        )
    return np.sort(train), np.sort(held)


@dataclass
class Monitor:
    """Early stopping: keeps the number of voters with the best score on the validation set.

    A score is better by balanced accuracy, then log-loss, then fewer voters.
    """

    build: Callable[[list[Round]], Vote]  # the vote of some rounds
    held: Training  # the validation set
    patience: int  # rounds without improvement before boosting ends
    best: tuple[float, float] = (-np.inf, -np.inf)
    best_round: int = 0

    def __call__(self, rounds: list[Round]) -> bool:
        """Score the vote of the rounds so far; return whether to stop."""
        score = self._score(self.build(rounds))
        if score > self.best:
            self.best, self.best_round = score, len(rounds)
        return len(rounds) - self.best_round >= self.patience

    def _score(self, vote: Vote) -> tuple[float, float]:
        y, weight = self.held.y, self.held.weight
        score = vote.score(self.held.table.values)
        right = self.held.target.answers(score) == y
        recalls = [np.average(right[y == k], weights=weight[y == k]) for k in np.unique(y)]
        chosen = vote.readout.probabilities(score, vote.target)[np.arange(len(y)), y]
        loss = np.average(-np.log(np.clip(chosen, 1e-15, None)), weights=weight)
        return float(np.mean(recalls)), -float(loss)


def majority_vote(data: Training, readout: Readout) -> Vote:
    """Return the vote of one constant voter for the class of greatest weight."""
    code = data.target.code
    totals = np.bincount(data.y, data.weight, minlength=len(code))
    n_features = data.table.values.shape[1]
    voters = ConstantVoters(n_features, code[[int(totals.argmax())]], "the heaviest class")
    return Vote(voters, Constant(n_features, np.ones(1)), readout, data.target)
