"""Ensemble selection: members of a library are chosen greedily by the loss of their mean."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from psephos._types import ClassWeightLike, Floats, Indices
from psephos.base import Anatomy, Labels, VoteClassifier, VoteRegressor
from psephos.estimator.contender import Contender
from psephos.estimator.input import Context, Table, VoteFit
from psephos.estimator.params import Constraint, Interval, Options
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.committees import naming
from psephos.models.committees.fitting import Data, MemberTask, fit_all, mean_vote, voters_of
from psephos.models.committees.levels import StackLevels, chances_of, member_scores
from psephos.models.ensemble import Ensemble
from psephos.models.forest.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from psephos.models.forest.random_forest import RandomForestClassifier, RandomForestRegressor
from psephos.models.linear.rank_ridge import RankRidgeClassifier, RankRidgeRegressor


@parameters
class _Selection(Ensemble, naming.NamedMembers):
    """Base class of both estimators.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The library. None is a random forest, extra trees and a ridge on normal scores.
    n_steps : int
        Number of candidates that are added in a bag.
    n_init : int
        Number of best candidates to start with.
    n_bags : int
        Number of bags: random parts of the library, from each of which members are chosen.
    bag_fraction : float
        The share of the library in a bag, drawn without replacement; at least ten candidates and
        `n_init`. With ten candidates or fewer there is one bag of all.
    cv : int, splitter or list of (training rows, test rows)
        Folds, each row in one test part; a number of folds is stratified by class, with the groups
        of `fit` kept together.
    random_state : int, RandomState or None
        Seed of folds and bags, and of the candidates whose own `random_state` is None.

    Attributes
    ----------
    member_names_ : tuple of str
        The names of all candidates.
    counts_ : ndarray of shape (n_candidates,)
        How often each was chosen, over all bags.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        "n_steps": Interval(1, whole=True),
        "n_init": Interval(0, whole=True),
        "n_bags": Interval(1, whole=True),
        "bag_fraction": Interval(0, 1, open_low=True),
        "cv": naming.CV,
    }

    _: KW_ONLY
    n_steps: int = 25
    n_init: int = 1
    n_bags: int = 10
    bag_fraction: float = 0.5
    cv: Any = 5
    member_names_: tuple[str, ...] = fitted()
    counts_: Indices = fitted()
    member_scores_: Floats = fitted()

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        scoring = getattr(self, "scoring", "squared_error")  # the regressor's only one
        data = Data.of(table, labels, weight, context, self.n_jobs)
        members = naming.checked(self, self._members())
        levels = StackLevels(data, self.cv, passthrough=False, all_before=False)
        levels.add(members)
        answers = levels.out_of_fold(0)
        scores = member_scores(data, answers)
        votes = answers.reshape(len(data.y), len(members), -1)
        unit = 1.0 if data.n_classes else 2.0 ** np.frexp(np.abs(data.y).max())[1]
        predictions = chances_of(votes, data.n_classes) if data.n_classes else votes / unit
        counts = np.zeros(len(members), dtype=np.intp)
        size = max(self.n_init, _FEW, round(self.bag_fraction * len(members)))
        for bag in range(self.n_bags if size < len(members) else 1):
            draw = data.context.generator(0, _BAG, bag)
            inside = np.sort(draw.permutation(len(members))[:size])
            loss = _loss(data if data.n_classes else replace(data, y=data.y / unit), scoring)
            counts[inside] += greedy_counts(predictions[:, inside], loss, self.n_steps, self.n_init)
        kept = np.flatnonzero(counts)
        tasks = [MemberTask(members[t][1], (1, t)) for t in kept.tolist()]
        names = [members[t][0] for t in kept.tolist()]
        voters = voters_of(fit_all(data, tasks), data, names=names)
        vote = mean_vote(voters, data.target, counts[kept].astype(np.float64))
        return vote, {
            "member_names_": tuple(name for name, _ in members),
            "counts_": counts,
            "member_scores_": scores,
        }


@parameters
class EnsembleSelectionClassifier(_Selection, VoteClassifier):
    """The best mean of a library of models, chosen one by one on out-of-fold predictions.

    Use it with many candidates, good and bad: those that do not help are left out, and the result
    is a readable vote with integer weights.

    Each candidate predicts every row in a fold on which it was not fitted. Starting from the
    `n_init` best, the candidate that most improves the mean of those chosen so far is added
    `n_steps` times (the same one may be added repeatedly), and the best of these means is kept. To
    reduce overfitting this is done for each of `n_bags` random parts of the library; the weight of
    a candidate is how often it was chosen. Candidates with weight are fitted again on all rows.

    Parameters
    ----------
    scoring : {'log_loss', 'accuracy'}
        The score of the mean that is optimised.

    Attributes
    ----------
    vote_ : Vote
        The candidates with weight.
    member_scores_ : ndarray of shape (n_candidates,)
        The out-of-fold log-loss of each candidate.

    Raises
    ------
    PsephosError
        In fit: as `StackingClassifier`.

    References
    ----------
    Caruana, Niculescu-Mizil, Crew & Ksikes (2004), "Ensemble selection from libraries of models",
    ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from psephos import CARTClassifier, EnsembleSelectionClassifier, SamBAClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> models = [("tree", CARTClassifier()), ("samba", SamBAClassifier()), ("bayes", GaussianNB())]
    >>> model = EnsembleSelectionClassifier(models, random_state=0).fit(X, y)
    >>> model.counts_.shape, bool(model.score(X, y) > 0.95)
    ((3,), True)
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        ("joined voters",), "constant", "normalised", "greedy choice on answers to rows out of fold"
    )
    contender: ClassVar[Contender] = Contender(
        "ensemble-selection", "committees", ensemble=True, grouped=True,
        small={"estimators": naming.SMALL, "n_bags": 2, "cv": 3, "random_state": 0},
    )  # fmt: skip
    constraints: ClassVar[Mapping[str, Constraint]] = {"scoring": Options(("log_loss", "accuracy"))}

    _: KW_ONLY
    scoring: str = "log_loss"
    cv: Any = 5
    class_weight: ClassWeightLike = None

    def _defaults(self) -> naming.Members:
        return [
            ("forest", RandomForestClassifier()),
            ("extra", ExtraTreesClassifier()),
            ("ridge", RankRidgeClassifier()),
        ]


@parameters
class EnsembleSelectionRegressor(_Selection, VoteRegressor):
    """The best mean of a library of regressors, chosen one by one by the squared error.

    As `EnsembleSelectionClassifier`.

    Attributes
    ----------
    member_scores_ : ndarray of shape (n_candidates,)
        The out-of-fold mean squared error of each candidate.

    Notes
    -----
    See `EnsembleSelectionClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import RidgeCV
    >>> from psephos import CARTRegressor, EnsembleSelectionRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> library = [("tree", CARTRegressor()), ("ridge", RidgeCV())]
    >>> bool(EnsembleSelectionRegressor(library, random_state=0).fit(X, y).score(X, y) > 0.4)
    True
    """

    anatomy: ClassVar[Anatomy] = EnsembleSelectionClassifier.anatomy
    contender: ClassVar[Contender] = Contender(
        "ensemble-selection-regressor", "committees", ensemble=True, grouped=True,
        small={"estimators": naming.SMALL_NUMBERS, "n_bags": 2, "cv": 3, "random_state": 0},
    )  # fmt: skip

    def _defaults(self) -> naming.Members:
        return [
            ("forest", RandomForestRegressor(max_features=1 / 3)),
            ("extra", ExtraTreesRegressor()),
            ("ridge", RankRidgeRegressor()),
        ]


_Loss = Callable[[Floats], Floats]  # (c, n, K) means of candidates -> (c,)
_LEAST = 1e-9  # smaller probabilities are raised to it
_TIED = 1e-12  # shares, and losses, that differ by less are equal
_FEW = 10  # minimum number of candidates of a bag
_BAG = 1  # task id of the draws of bags


def _loss(data: Data, scoring: str) -> _Loss:
    """Return the weighted loss of means (c, n, K) of c candidates; for regression 1 - R^2."""
    y = data.y
    share = np.full(len(y), 1.0 / len(y)) if data.weight is None else data.weight
    share = share / share.sum()
    rows = np.arange(len(y))
    spread = 1.0 if data.n_classes else float(share @ (y - share @ y) ** 2) or 1.0

    def squares(means: Floats) -> Floats:
        return ((means[:, :, 0] - y) ** 2) @ share / spread

    def errors(means: Floats) -> Floats:
        near = means >= means.max(axis=2, keepdims=True) - _TIED  # of ties the first class
        wrong = near.argmax(axis=2) != y
        return wrong.sum(axis=1) / len(y) if data.weight is None else wrong @ share

    def logs(means: Floats) -> Floats:
        return -(np.log(np.maximum(means[:, rows, y], _LEAST)) @ share)

    return {"squared_error": squares, "accuracy": errors, "log_loss": logs}[scoring]


def greedy_counts(predictions: Floats, loss: _Loss, n_steps: int, n_init: int) -> Indices:
    """Return how often each of M members is chosen, (M,).

    Parameters
    ----------
    predictions : (n, M, K); probabilities of classes, or numbers
    n_steps, n_init : number of members added one by one, and of best members to start with. Of
        ties the first member is chosen, and the mean of fewest members is kept. Losses that differ
        by rounding are ties.
    """
    each = predictions.transpose(1, 0, 2)
    alone, picks = loss(each), list[int]()
    for _ in range(min(n_init, len(alone))):
        picks.append(_first_of_least(alone))
        alone[picks[-1]] = np.inf
    total = each[picks].sum(axis=0) if picks else np.zeros(each.shape[1:])
    best, kept = (float(loss(total[None] / len(picks))[0]), len(picks)) if picks else (np.inf, 0)
    for _ in range(n_steps):
        losses = loss((total + each) / (len(picks) + 1))
        t = _first_of_least(losses)
        picks.append(t)
        total = total + each[t]
        if losses[t] < best - _slack(losses[t]):
            best, kept = float(losses[t]), len(picks)
    return np.bincount(picks[:kept], minlength=len(each))


def _first_of_least(losses: Floats) -> int:
    least = losses.min()
    return int((losses <= least + _slack(least)).argmax())


def _slack(loss: float) -> float:
    """Return the tolerance within which losses are equal."""
    return _TIED * (1.0 + loss)
