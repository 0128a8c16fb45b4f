"""Stacking: members are weighted, or read, by a final estimator fitted to their predictions."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from psephos._errors import PsephosError
from psephos._types import ClassWeightLike, Floats
from psephos.base import Anatomy, Labels, VoteClassifier, VoteRegressor
from psephos.estimator.contender import Contender
from psephos.estimator.input import Context, Table, VoteFit
from psephos.estimator.params import Anything, Constraint
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.committees import levels, naming
from psephos.models.committees.fitting import Data, MemberTask, fit_all, mean_vote
from psephos.models.committees.voting import MemberNames
from psephos.vote import OutputWeights, Readout, Vote, Voters


@parameters
class _Stacking(MemberNames, naming.NamedMembers):
    """Base class of both estimators.

    Parameters
    ----------
    levels : list of list of (str, estimator)
        Further levels: the members of each read the predictions of the level before (and, with
        `passthrough`, the columns). The final estimator reads the last level. All levels share one
        plan of folds, and no label of a test fold affects, at any level, the inputs of a model
        tested on it. So members of level 1 of L are fitted once for each set of at most L folds: 16
        times for two levels and five folds.
    final_estimator : {'pool', 'logistic'} or estimator
        pool: weights on the simplex, as above. logistic: a non-negative weight for each member and
        class, and class probabilities by a softmax of the weighted votes; it can correct members
        whose probabilities are too near 1/K. Members with equal predictions have equal weights,
        with 'pool' half of that of one of them, with 'logistic' nearly so. An estimator is fitted
        to the predictions: probabilities, as in scikit-learn (for two classes that of the second).
    cv : int, splitter or list of (training rows, test rows)
        Folds, each row in one test part; a number of folds is stratified by class, with the groups
        of `fit` kept together and passed to members of psephos.
    passthrough : bool
        Whether further levels and a final estimator also read the columns.
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        ("joined voters", "composed voters"), "constant or by output", "normalised or sum",
        "answers to rows out of fold",
    )  # fmt: skip
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "levels": Anything(),
        "final_estimator": Anything(),
        "cv": naming.CV,
    }

    _: KW_ONLY
    levels: Any = None
    final_estimator: Any = "pool"
    cv: Any = 5
    passthrough: bool = False
    member_names_: tuple[str, ...] = fitted()
    member_scores_: tuple[Floats, ...] = fitted()

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        data = Data.of(table, labels, weight, context, self.n_jobs)
        given = _levels(self)
        names = tuple(name for name, _ in given[-1])
        plan = levels.StackLevels(data, self.cv, passthrough=self.passthrough, all_before=False)
        for members in given:
            plan.add(members)
        if len(given) >= plan.n_folds:
            raise PsephosError(
                f"cv must have more folds than there are levels, {len(given)}; got {plan.n_folds}."
            )
        every = [plan.out_of_fold(level) for level in range(len(given))]
        voters, answers = plan.voters(len(given) - 1), every[-1]
        vote = _final(self, data, voters, names, answers)
        scores = tuple(levels.member_scores(data, one) for one in every)
        return vote, {"member_names_": names, "member_scores_": scores}


@parameters
class StackingClassifier(_Stacking, VoteClassifier):
    """A vote whose weights are learned from the members' out-of-fold predictions.

    Use it if some members are better than others; `member_scores_` has the loss of each.

    Members predict each row in a fold on which they were not fitted, a final estimator is fitted to
    these predictions, and members are fitted again on all rows. By default the final estimator is
    weights w_t >= 0 of sum 1 that minimise the log-loss of ``p(x) = sum_t w_t p_t(x)``; they are
    the weights of the vote.

    Attributes
    ----------
    member_names_ : tuple of str
        All members of the last level; those with weight are the voters.
    member_scores_ : tuple of ndarray
        For each level the out-of-fold log-loss of each member.

    Raises
    ------
    PsephosError
        In fit: as `VotingClassifier`; if there are more folds than rows or groups, a class is in
        one fold only, or there are as many levels as folds.

    Notes
    -----
    Weights are non-negative because members fitted on the same table are strongly correlated:
    unrestricted weights are then large, of opposite sign, and do not generalise (Breiman 1996).

    References
    ----------
    Wolpert (1992), "Stacked generalization", Neural Networks 5. Breiman (1996), "Stacked
    regressions", Machine Learning 24. van der Laan, Polley & Hubbard (2007), "Super learner".

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from psephos import CARTClassifier, StackingClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> members = [("tree", CARTClassifier(random_state=0)), ("bayes", GaussianNB())]
    >>> model = StackingClassifier(members, random_state=0).fit(X, y)
    >>> model.vote_.weighting.alpha.shape, bool(model.score(X, y) > 0.93)
    ((2,), True)
    """

    contender: ClassVar[Contender] = Contender(
        "stacking", "committees", ensemble=True, grouped=True,
        small={"estimators": naming.SMALL, "cv": 3, "random_state": 0},
    )  # fmt: skip

    _: KW_ONLY
    passthrough: bool = False
    class_weight: ClassWeightLike = None


@parameters
class StackingRegressor(_Stacking, VoteRegressor):
    """A mean of regressors whose weights are learned from their out-of-fold predictions.

    As `StackingClassifier`; weights of at least 0 and of sum 1 minimise the squared error. Of
    members with equal predictions one has weight and the others have none.

    Parameters
    ----------
    final_estimator : 'pool' or estimator
        pool: weights on the simplex, as above. An estimator is fitted to the predictions.

    Attributes
    ----------
    member_names_ : tuple of str
        All members of the last level.
    member_scores_ : tuple of ndarray
        For each level the out-of-fold mean squared error of each member.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import RidgeCV
    >>> from psephos import CARTRegressor, StackingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> members = [("tree", CARTRegressor(random_state=0)), ("ridge", RidgeCV())]
    >>> bool(StackingRegressor(members, random_state=0).fit(X, y).score(X, y) > 0.4)
    True
    """

    contender: ClassVar[Contender] = Contender(
        "stacking-regressor", "committees", ensemble=True, grouped=True,
        small={"estimators": naming.SMALL_NUMBERS, "cv": 3, "random_state": 0},
    )  # fmt: skip


def _levels(model: Any) -> list[list[tuple[str, Any]]]:
    listed = model.levels is None or isinstance(model.levels, list | tuple)
    given: list[Any] = [model._members(), *((model.levels or ()) if listed else ())]
    for members in given:
        if not listed or not naming.ESTIMATORS.allows(members) or members is None:
            raise PsephosError(
                f"{type(model).__name__}: levels must be a list of lists of pairs (name, "
                "estimator), one list per level."
            )
    return [naming.checked(model, members) for members in given]


def _final(
    model: "_Stacking", data: Data, voters: Voters, names: tuple[str, ...], answers: Floats
) -> Vote:
    """Return the vote of members weighted or read by the final estimator."""
    final, target = model.final_estimator, data.target
    votes = answers.reshape(len(data.y), len(names), -1)
    y, weight, k = data.y, data.weight, data.n_classes
    if final == "pool":
        pooled = (
            levels.pool_weights(votes, y, weight, k)
            if k
            else levels.square_weights(votes, y, weight)
        )
        return mean_vote(voters, target, pooled)
    if final == "logistic" and k:
        alpha = levels.logistic_weights(votes, y, weight, k)
        kept = np.flatnonzero(alpha.any(axis=1))
        weights = OutputWeights(voters.n_features, alpha[kept])
        return Vote(voters.take(kept), weights, Readout("sum", "logistic"), target)
    if not naming.is_member(final):
        allowed = "'pool', 'logistic' or a classifier" if k else "'pool' or a regressor"
        raise PsephosError(
            f"{type(model).__name__}: final_estimator must be {allowed} (an instance, not its "
            f"class); got {final!r}."
        )
    naming.check_kind(model, final, "final_estimator")
    words = data.names_of(names)
    whole = data.reading(answers, words, passthrough=model.passthrough)
    fitted = fit_all(whole, [MemberTask(final, (99,))])
    readers = levels.read_answers(
        voters, fitted, data, words, ("final",), passthrough=model.passthrough
    )
    return mean_vote(readers.take(np.arange(1)), target)
