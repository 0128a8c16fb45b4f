"""AdaBoost on the boosting loop: one weight a voter (Algorithm 2)."""

import warnings
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from psephos._types import Floats
from psephos.base import Anatomy, Labels
from psephos.estimator.contender import Contender, Params, Shape
from psephos.estimator.distributions import WEIGHTS, Integers, LogUniform
from psephos.estimator.input import Context, Table, VoteFit
from psephos.estimator.params import Constraint, Interval
from psephos.estimator.signature import KW_ONLY, parameters
from psephos.models.boosting.common import VOTERS, BoostedClassifier, BoostingSteps, fit_boosted
from psephos.models.boosting.loop import TOO_GREAT, Round, log_odds
from psephos.models.training import Training
from psephos.vote import Constant, Readout, Vote, Voters

_EPSILON = float(np.finfo(np.float64).eps)


def _settings(params: Params, shape: Shape, seed: int) -> Params:
    """Return own stumps for depth 1, else trees of scikit-learn, in which class weights live."""
    rest = dict(params)
    depth, weight = rest.pop("max_depth", 1), rest.pop("class_weight", None)
    if depth == 1 and weight is None:
        return rest
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(max_depth=depth, class_weight=weight, random_state=seed)
    return {"estimator": tree, **rest}


@parameters
class AdaBoostClassifier(BoostedClassifier):
    """AdaBoost by SAMME: a vote of stumps (or any classifier) with one constant weight each.

    Use it for a small model that reads as a list of weighted rules: with stumps, T rounds read at
    most T columns, and a rule weighs the same in every case.

    With pi the sample weights of round t and eps_t the weighted error of its voter h_t::

        alpha_t     = learning_rate * (ln((1 - eps_t) / eps_t) + ln(K - 1))
        pi_{t+1}(i) = pi_t(i) exp(alpha_t 1[h_t(x_i) != y_i]) / Z_t
        F(x)        = sum_t alpha_t h_t(x) / sum_t alpha_t

    h_t(x) is in {-1, 1} for two classes and in SAMME's coding for K > 2. Probabilities are
    1 / (1 + exp(-2 F)) for two classes and softmax(F / (K - 1)) for more, as scikit-learn's are;
    its ``decision_function`` is 2 F for two classes, ours is F, in [-1, 1].

    Parameters
    ----------
    learning_rate : float
        Shrinks every alpha.
    criterion : {'gini', 'error'}
        What the stump minimises. 'gini' gives the stumps of scikit-learn's depth-1 trees where no
        ties decide; 'error' the stump of least weighted error, which is faster.

    Notes
    -----
    The source (supplement of the SamBA paper, appendix A and Algorithm 2) prints the coefficient
    as (1/2) ln((1 - s_t) / s_t) with s_t = sum_i pi_t(i) omega_t[i] and omega = 1 where the voter
    is right: that is the negative of AdaBoost's. It is computed here from the error. The factor
    1/2 cancels in the normalised score and, in an update of right and wrong rows by
    exp(-alpha y h), gives the same sample weights as the update of wrong rows alone; taking the
    full alpha in such an update, as some course notes do, would count it twice.

    There is no `class_weight`, as in scikit-learn: boosting moves weights given at the start back
    towards balance within a few rounds. Give `sample_weight`, or weigh classes inside the voter:
    ``estimator=DecisionTreeClassifier(max_depth=1, class_weight="balanced")``.

    A perfect voter ends the search, with weight 1 as in scikit-learn. If not even the first voter
    beats chance, the vote is one constant voter for the heaviest class.

    As in scikit-learn, the sample weight of a row stays at machine epsilon (2.2e-16) at least. With
    a `learning_rate` of about 3 or more, sample weights can pass the range of float64: the search
    then ends, with a warning, and `stopped_` is 'sample weights beyond float64'.

    References
    ----------
    Freund & Schapire (1997), J. Comput. System Sci. 55(1). Zhu, Zou, Rosset & Hastie (2009),
    "Multi-class AdaBoost", Statistics and Its Interface 2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from psephos import AdaBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> for sentence in model.describe()[1:]:
    ...     print(sentence)
    Voter 1 (40.1 %): if worst radius <= 16.795 or missing then 1, otherwise 0.
    Voter 2 (32.5 %): if worst concave points < 0.1358 then 1, otherwise 0, also if missing.
    Voter 3 (27.4 %): if worst texture <= 23.35 then 1, otherwise 0, also if missing.
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        VOTERS, "constant", "normalised", "boosting loop, exponential loss"
    )
    contender: ClassVar[Contender] = Contender(
        "adaboost",
        "boosting",
        {
            "quick": {"n_estimators": Integers(5, 100), "learning_rate": LogUniform(0.1, 1)},
            "samba": {
                "n_estimators": Integers(1, 100),
                "max_depth": Integers(1, 3),
                "class_weight": WEIGHTS,
            },
        },
        settings=_settings,
        ensemble=True,
        notes="class_weight is that of its trees; without it, depth 1 is the library's own stump",
        small={"n_estimators": 4, "random_state": 0},
    )
    constraints: ClassVar[Mapping[str, Constraint]] = {"learning_rate": Interval(1e-300, 1e300)}

    _: KW_ONLY
    n_estimators: int = 50
    learning_rate: float = 1.0

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        k = labels.target.n_classes
        readout = Readout("normalised", "logistic", 2.0 if k == 2 else 1.0 / (k - 1))
        data = Training(table, labels.target, labels.y, weight)
        vote, facts = fit_boosted(
            self, data, context, readout, lambda data: self._steps(data, readout)
        )
        if facts["stopped_"] == TOO_GREAT:
            warnings.warn(
                f"learning_rate={self.learning_rate:g}: after {vote.n_voters} of "
                f"{self.n_estimators} voters the sample weights passed the range of float64, and "
                "the search ended; lower learning_rate.",
                stacklevel=5,
            )
        return vote, facts

    def _steps(self, data: Training, readout: Readout) -> BoostingSteps:
        """Return how sample weights move, and the vote: one number a voter."""
        k = data.target.n_classes

        def reweight(pi: Floats, rounds: list[Round], _: object) -> Floats:
            last = rounds[-1]
            if last.error <= 0:
                return pi
            alpha = self._alpha(last.error, k)
            with np.errstate(over="ignore"):  # in two steps: a tiny weight times e^720 is a number
                raised = pi * np.exp(min(alpha, 700.0)) * np.exp(max(alpha - 700.0, 0.0))
                moved = np.where(last.right | (pi == 0), pi, raised)
                least = np.where(data.weight > 0, _EPSILON * moved.sum(), 0.0)
            return np.maximum(moved, least)

        def make_vote(rounds: list[Round], voters: Voters) -> Vote:
            alpha = np.array([self._alpha(r.error, k) for r in rounds])
            return Vote(voters, Constant(voters.n_features, alpha), readout, data.target)

        return BoostingSteps(reweight, make_vote)

    def _alpha(self, error: float, n_classes: int) -> float:
        """Return a voter's weight: 1 for a perfect voter, as in scikit-learn."""
        if error <= 0:
            return 1.0
        return self.learning_rate * log_odds(error, n_classes)
