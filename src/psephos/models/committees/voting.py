"""Voting: different models fitted on the same rows, with weights."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Bunch

from psephos._errors import PsephosError
from psephos._types import ClassWeightLike, Floats
from psephos.base import Anatomy, Labels, VoteClassifier, VoteRegressor
from psephos.estimator.contender import Contender
from psephos.estimator.input import Context, Table, VoteFit
from psephos.estimator.params import Anything, ClassWeight, Constraint, Interval, Options
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.committees import naming
from psephos.models.committees.fitting import Data, MemberTask, fit_all, voters_of
from psephos.models.ensemble import Ensemble
from psephos.vote import Constant, Readout, Vote
from psephos.vote.calibration import ClassVotes
from psephos.vote.target import ClassTarget


class MemberNames(Ensemble):
    """Mixin of committees whose members have names.

    Attributes
    ----------
    named_estimators_ : Bunch
        The members with weight above 0, by name, as fitted estimators.
    """

    @property
    def named_estimators_(self) -> Bunch:
        """The members with weight above 0, by name, as fitted estimators."""
        self._fitted()
        members = self.vote_.voters.read_members() or self.vote_.voters
        each = [self._voter_of(members, t) for t in range(members.n_voters)]
        names = members.voter_names() or [f"member {t}" for t in range(members.n_voters)]
        return Bunch(**dict(zip(names, each, strict=True)))


_READ = {
    "soft": "normalised", "hard": "normalised", "mean": "normalised", "borda": "borda",
    "median": "median", "trimmed": "trimmed mean",
}  # fmt: skip


@parameters
class _Voting(MemberNames, naming.NamedMembers):
    """Base class of both estimators.

    Parameters
    ----------
    weights : array of shape (n_members,)
        Weights of `estimators`, at least 0, including dropped ones; a member of weight 0 is not
        fitted.
    cut : float
        The share of the weight that ``voting='trimmed'`` leaves out at either end.
    random_state : int, RandomState or None
        Seed of the members whose own `random_state` is None.

    Attributes
    ----------
    member_names_ : tuple of str
        The names of the voters.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        "weights": Anything(),
        "cut": Interval(0, 0.5, open_high=True),
    }

    _: KW_ONLY
    voting: str = "soft"
    weights: Any = None
    cut: float = 0.1
    member_names_: tuple[str, ...] = fitted()


@parameters
class VotingClassifier(_Voting, VoteClassifier):
    """Several classifiers vote: their probabilities, classes or ranks are combined.

    Use it to combine models of different kinds, which err on different cases: a forest and a
    linear model together are often better than either. Ballots show the vote of each member, and
    the inner vote of a member of psephos.

    With weights w_t of the members and v_k of the classes (both 1 unless given), and p_tk(x) the
    probability of class k by member t, the soft vote predicts the class with the largest::

        v_k sum_t w_t p_tk(x)

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members by name: classifiers of psephos, scikit-learn or a Pipeline; 'drop' leaves one
        out. None is a random forest of 300 trees (``forest``) and a
        `RankRidgeClassifier` (``ridge``).
    voting : {'soft', 'hard', 'borda', 'median', 'trimmed'}
        soft: the mean of the probabilities. hard: each member votes for the class it predicts
        (scikit-learn's default). borda: each member ranks the classes by probability, and a class
        has a point for each class ranked below it and half a point for each that is equal (within
        1e-16). median, trimmed: the median or trimmed mean of the probabilities, output by output;
        they are robust to a single deviating member.
    class_votes : dict
        The weight v_k of the votes for a class, by default 1; above 1 the class is predicted more
        often. It does not affect the fit of members (unlike `class_weight`, which weights training
        rows). A class of weight 0 is never predicted: a row whose votes are all for such classes
        is shared equally by the other classes, and the first of these is predicted.
        `predict_proba` has the weighted shares; `psephos.calibrate` keeps them.

    Raises
    ------
    PsephosError
        In fit: if weights and members differ in number, or a member is not a classifier, has no
        probabilities although they are needed, does not accept unequal sample weights, or would
        read the codes of categories as numbers.

    Notes
    -----
    Ties go to the first class. Equal sample weights are not passed on, so members that do not
    accept weights can be fitted. A member that does not accept missing values raises an error at
    them: put an imputer before it in a Pipeline.

    References
    ----------
    Kittler, Hatef, Duin & Matas (1998), "On combining classifiers", IEEE TPAMI 20.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from psephos import CARTClassifier, VotingClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> members = [("tree", CARTClassifier(random_state=0)), ("bayes", GaussianNB())]
    >>> model = VotingClassifier(members, weights=[1, 2]).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), model.member_names_
    (True, ('tree', 'bayes'))
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        ("joined voters",),
        "constant",
        "normalised or borda or median or trimmed mean",
        "members fitted apart on the same rows",
    )
    contender: ClassVar[Contender] = Contender(
        "voting", "committees", ensemble=True, small={"estimators": naming.SMALL, "random_state": 0}
    )
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "voting": Options(("soft", "hard", "borda", "median", "trimmed")),
        "class_votes": ClassWeight(),
    }

    _: KW_ONLY
    weights: Any = None
    class_votes: Any = None
    cut: float = 0.1
    class_weight: ClassWeightLike = None

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        says = "answer" if self.voting == "hard" else "probability"
        vote, names = _fitted(self, says, table, labels, weight, context)
        votes = _class_votes(self.class_votes, labels.target)
        readout = Readout(_READ[self.voting], "share", cut=_cut(self), calibration=votes)
        return Vote(*vote, readout, labels.target), {"member_names_": names}


@parameters
class VotingRegressor(_Voting, VoteRegressor):
    """Several regressors vote: the mean, median or trimmed mean of their predictions.

    As `VotingClassifier`: for models of different kinds, which err on different cases.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members by name. None is a random forest of 300 trees (``forest``) and a
        `RankRidgeRegressor` (``ridge``).
    voting : {'mean', 'median', 'trimmed'}
        How predictions are combined; the last two are robust to a single deviating member.

    Notes
    -----
    See `VotingClassifier` for weights and missing values.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import RidgeCV
    >>> from psephos import CARTRegressor, VotingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> members = [("tree", CARTRegressor(random_state=0)), ("ridge", RidgeCV())]
    >>> bool(VotingRegressor(members).fit(X, y).score(X, y) > 0.4)
    True
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        ("joined voters",), "constant", "normalised or median or trimmed mean",
        "members fitted apart on the same rows",
    )  # fmt: skip
    contender: ClassVar[Contender] = Contender(
        "voting-regressor", "committees", ensemble=True,
        small={"estimators": naming.SMALL_NUMBERS, "random_state": 0},
    )  # fmt: skip
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "voting": Options(("mean", "median", "trimmed"))
    }

    _: KW_ONLY
    voting: str = "mean"

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        vote, names = _fitted(self, "value", table, labels, weight, context)
        readout = Readout(_READ[self.voting], "identity", cut=_cut(self))
        return Vote(*vote, readout, labels.target), {"member_names_": names}


def _fitted(
    model: Any, says: str, table: Table, labels: Labels, weight: Floats, context: Context
) -> tuple[tuple[Any, Any], tuple[str, ...]]:
    """Return (voters, weights) and the names of the members."""
    members, every = naming.checked(model, model._members()), model._members()
    present = np.array([not isinstance(one, str) for _, one in every])
    given = naming.weights_of(
        model.weights, [name for name, _ in every], "members"
    )  # dropped ones, too
    alpha = naming.weights_of(
        given[present], [name for name, _ in members], "members that are left"
    )
    members = [one for one, weight in zip(members, alpha, strict=True) if weight > 0]
    names, alpha = tuple(name for name, _ in members), alpha[alpha > 0]
    data = Data.of(table, labels, weight, context, model.n_jobs)
    fitted = fit_all(data, [MemberTask(one, (1 + t,)) for t, (_, one) in enumerate(members)])
    voters = voters_of(fitted, data, says=says, names=names, instead=", or use voting='hard'")
    return (voters, Constant(voters.n_features, alpha)), names


def _cut(model: "_Voting") -> float:
    return model.cut if model.voting == "trimmed" else 0.0


def _class_votes(given: Any, target: ClassTarget) -> ClassVotes | None:
    """Return the weights of votes by class; None without `class_votes`."""
    if given is None:
        return None
    if isinstance(given, str):
        raise PsephosError("class_votes must be a dict from labels to numbers; got 'balanced'.")
    labels = target.classes.tolist()
    unknown = [label for label in given if label not in labels]
    if unknown:
        raise PsephosError(f"class_votes must name labels of y; got {unknown[0]!r}.")
    weight = naming.within_range(np.array([float(given.get(label, 1.0)) for label in labels]))
    if not (weight > 0).any():
        raise PsephosError("class_votes must be above 0 for at least one class.")
    return ClassVotes(weight)
