"""A cascade: levels of members, each reading the columns and all earlier predictions."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from psephos._errors import PsephosError
from psephos._types import ClassWeightLike, Floats
from psephos.base import Anatomy, Labels, VoteClassifier
from psephos.estimator.contender import Contender
from psephos.estimator.input import Context, Table, VoteFit
from psephos.estimator.params import Constraint, Interval, OneOf
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.committees.fitting import Data, mean_vote, one_voter
from psephos.models.committees.levels import StackLevels, chances_of, log_loss, side_by_side
from psephos.models.committees.naming import CV, SMALL, Members, NamedMembers, checked
from psephos.models.forest.extra_trees import ExtraTreesClassifier
from psephos.models.forest.random_forest import RandomForestClassifier
from psephos.vote import ConfidenceGate, Readout, Vote


@parameters
class CascadeClassifier(NamedMembers, VoteClassifier):
    """Levels of members, each reading the columns and the predictions of earlier levels.

    Use it if more can be learned from the predictions of a first level, and to decide easy cases
    early: with a `threshold`, a case that a level predicts with this probability goes no further,
    and its ballot shows only that level.

    Level 1 is fitted on the columns; level l on the columns and the out-of-fold predictions of all
    levels before. A level is the mean of its members' probabilities. A further level is kept if it
    lowers the out-of-fold log-loss by more than `tol`; the first that does not ends the cascade.
    The last level kept predicts, or an earlier one whose probability is at least `threshold`.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members of every level by name. None is a random forest (``forest``) and extra trees
        (``extra``), of 100 trees each.
    max_levels : int
        Maximum number of levels; must be below the number of folds.
    threshold : float
        The probability from which a level decides; None: the last level always does.
    early_stopping : bool
        False: all `max_levels` levels are kept.
    tol : float
        The decrease of the log-loss that a further level must exceed to be kept.
    cv : int, splitter or list of (training rows, test rows)
        Folds, each row in one test part; a number of folds is stratified by class, with the groups
        of `fit` kept together. No label of a test fold affects, at any level, the inputs of a model
        tested on it. So members of level 1 of L are fitted once for each set of at most L folds: up
        to 16 times for two levels and five folds.

    Attributes
    ----------
    vote_ : Vote
        One voter per level that may decide, under a gate.
    n_levels_ : int
        Number of levels kept.
    level_scores_ : ndarray of shape (n_tried,)
        The out-of-fold log-loss of each level that was tried.

    Raises
    ------
    PsephosError
        In fit: as `StackingClassifier`; if there are not more folds than `max_levels`.

    Notes
    -----
    Level l evaluates all members of the levels before, so a prediction takes about 2^(l - 1) times
    that of level 1. Levels are selected by `level_scores_`, which are therefore slightly
    optimistic; the estimates of `psephos.compare` are not.

    References
    ----------
    Gama & Brazdil (2000), "Cascade generalization", Machine Learning 41. Zhou & Feng (2017), "Deep
    forest: towards an alternative to deep neural networks". Viola & Jones (2001), for the gate.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from psephos import AdaBoostClassifier, CARTClassifier, CascadeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> members = [("tree", CARTClassifier()), ("stumps", AdaBoostClassifier(n_estimators=10))]
    >>> model = CascadeClassifier(members, threshold=0.9, random_state=0).fit(X, y)
    >>> model.n_levels_ <= 2, bool(model.score(X, y) > 0.93)
    (True, True)
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        ("joined voters", "nested voters"), "confidence", "normalised",
        "levels that read answers to rows out of fold",
    )  # fmt: skip
    contender: ClassVar[Contender] = Contender(
        "cascade", "committees", ensemble=True, grouped=True,
        small={
            "estimators": SMALL, "max_levels": 2, "early_stopping": False, "threshold": 0.9,
            "cv": 3, "random_state": 0,
        },
    )  # fmt: skip
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "max_levels": Interval(1, whole=True),
        "threshold": OneOf((Interval(0, 1),), none=True),
        "tol": Interval(0),
        "cv": CV,
    }
    _: KW_ONLY
    max_levels: int = 2
    threshold: float | None = None
    early_stopping: bool = True
    tol: float = 0.0
    cv: int = 5
    class_weight: ClassWeightLike = None
    n_levels_: int = fitted()
    level_scores_: Floats = fitted()

    def _defaults(self) -> Members:
        return [("forest", RandomForestClassifier()), ("extra", ExtraTreesClassifier())]

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        members = checked(self, self._members())
        data = Data.of(table, labels, weight, context, self.n_jobs)
        levels = StackLevels(data, self.cv, passthrough=True, all_before=True)
        if self.max_levels >= levels.n_folds:
            raise PsephosError(
                f"max_levels must be below the number of folds, {levels.n_folds}, as each level "
                f"leaves out one more fold; got {self.max_levels}. Set a larger cv."
            )
        scores: list[float] = []
        kept = 0
        while kept == len(scores) < self.max_levels:
            levels.add(members)
            scores.append(_loss(levels, len(scores)))
            helps = len(scores) == 1 or scores[-1] < scores[-2] - self.tol
            kept += helps or not self.early_stopping
        vote = _gated(levels, kept, self.threshold)
        return vote, {"n_levels_": kept, "level_scores_": np.array(scores)}


def _loss(levels: StackLevels, level: int) -> float:
    """Return the out-of-fold log-loss of the mean of a level's members."""
    data = levels.data
    votes = levels.out_of_fold(level).reshape(len(data.y), -1, data.target.n_outputs)
    chances = chances_of(votes.mean(axis=1, keepdims=True), data.n_classes)
    return log_loss(chances[:, 0], data.y, data.weight)


def _gated(levels: StackLevels, kept: int, threshold: float | None) -> Vote:
    """Return the vote of the levels kept: the first whose probability reaches `threshold` decides.

    Without a threshold only the last level is a voter.
    """
    target = levels.data.target
    first = 0 if threshold is not None else kept - 1
    parts = [
        one_voter(mean_vote(levels.voters(level), target), "probability", f"level {level + 1}")
        for level in range(first, kept)
    ]
    n, bar = len(parts), 1.0 if threshold is None else float(threshold)
    gate = ConfidenceGate(
        parts[0].n_features, np.ones(n), np.full(n, bar), np.arange(n), first=True
    )
    return Vote(side_by_side(parts), gate, Readout("normalised", "share"), target)
