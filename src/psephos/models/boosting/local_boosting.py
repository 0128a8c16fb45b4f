"""Algorithm 1: boosting with local expertise, by own relevance and difficulty functions."""

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Floats
from psephos.base import Anatomy, Labels
from psephos.estimator.contender import Contender
from psephos.estimator.distributions import Choice, Integers, LogUniform, Uniform
from psephos.estimator.input import Context, Table, VoteFit
from psephos.estimator.params import ClassWeight, Constraint, Function, OneOf, Options
from psephos.estimator.signature import KW_ONLY, parameters
from psephos.models.boosting import loop
from psephos.models.boosting.common import VOTERS, BoostingSteps, LocalClassifier, fit_boosted
from psephos.models.training import Training, distinct_rows
from psephos.vote import Constant, Readout, Vote, Voters


@parameters
class LocalBoostingClassifier(LocalClassifier):
    """Boosting with local expertise: SamBA's skeleton, with relevance and difficulty of your own.

    Use it to try another idea of where a voter is to be trusted, or of which rows are difficult;
    or SamBA with voters that say how sure they are. Its defaults are Algorithm 3, which is
    ``SamBAClassifier(update="sample")``.

    With y and h_t(x) in [-1, 1], over m training rows (Algorithm 1)::

        pi_1        = prior
        h_t         = the voter of greatest quality under pi_t
        omega_t[i]  = relevance(h_t, (x_i, y_i))
        pi_{t+1}(i) = pi_t(i) difficulty(h_t, (x_i, y_i)) / Z_t
        F(x)        = sum_t w_t(x) h_t(x) / sum_t w_t(x)

    With local weights, w_t(x) is SamBA's sum_i omega_t[i] m / (a^b + d(x_i, x)^b), after dividing
    omega by its sum over i and t.

    Parameters
    ----------
    relevance : {'exp', 'right'} or callable
        omega: 'exp' is SamBA's exp(h_t(x_i) y_i), 'right' AdaBoost's 1[h_t(x_i) = y_i]. A function
        ``relevance(seen)`` returns a number of at least 0 for each row; `seen` is a
        `psephos.models.boosting.BoostingRound`. The fitted vote keeps the numbers, not the
        function.
    difficulty : {'exp', 'log-odds'} or callable
        What multiplies a row's weight: 'exp' is SamBA's exp(-omega_t[i] h_t(x_i) y_i), 'log-odds'
        AdaBoost's exp(-alpha_t h_t(x_i) y_i / 2), up to a common factor. A function
        ``difficulty(seen)`` returns a number of at least 0 for each row, with omega_t in
        ``seen.relevance``; a row of weight 0 keeps weight 0.
    says : {'answer', 'probability'}
        What voters say: a class, so that h_t(x) is -1 or 1, or their probabilities, so that h_t(x)
        is p(+1) - p(-1); a stump's are the weighted class shares of its sides.
    weighting : {'local', 'log-odds'}
        'log-odds' gives each voter AdaBoost's alpha_t = ln((1 - eps_t) / eps_t) + ln(K - 1)
        everywhere, with eps_t = 1 - sum_i pi_t(i) omega_t[i]; it needs relevance='right', and
        reads no anchors: `a`, `b` and the distance parameters have no effect.
    prior : 'balanced', dict or callable
        pi_1 before sample weights: of each class, or ``prior(X, y)`` of each row, at least 0; X and
        y as in `BoostingRound`. It is multiplied by the sample weights and normalised. None: the
        sample weights alone.

    Attributes
    ----------
    estimator_errors_ : ndarray of shape (T,)
        eps_t, the sum of pi_t(i) times voter t's probability of classes other than y_i.

    Notes
    -----
    ``relevance="right", difficulty="log-odds", weighting="log-odds"`` is AdaBoostClassifier, and
    with says='probability' the confidence-rated boosting of Schapire and Singer (1999, section
    3.1) with alpha_t from the edge r_t = 1 - 2 eps_t. The rule `update="vote"` of SamBAClassifier
    depends on all voters so far, so no difficulty function expresses it.

    **Theorem 1.** With a = 0, difficulty='exp' and two classes, the training error of
    ``vote_.anchor_scores()`` under pi_1 is at most the product of Z_t = sum_i pi_t(i)
    exp(-omega_t[i] h_t(x_i) y_i), whatever the relevance. With relevance='exp' and voters that say
    classes, Z_t <= 1 - gamma_t, gamma_t = 1/2 - eps_t. A footnote of the source says that the
    proof holds for voters in [-1, 1], too. It does not: a voter that is a little right everywhere
    has no error and Z_t near 1. With eps_t as above, Z_t <= 1.0020 - 1.8719 gamma_t for
    gamma_t >= 0, which is at most 1 - gamma_t from gamma_t = .0023 on.

    **More than two classes** are coded as by SamBAClassifier: h_t(x_i) y_i is (K p - 1) / (K - 1)
    with p what the voter gives to the row's class.

    A model with functions is saved like any other, as its vote is numbers; loaded, it answers, and
    `fit` asks for the functions. To pickle or clone it for other processes, functions must be named
    at the top of a module, as scikit-learn asks of any parameter.

    References
    ----------
    Bauvin, Capponi, Clerc, Germain, Koco & Corbeil (2023), "Sample Boosting Algorithm (SamBA)",
    UAI, PMLR 216:130-140, and its supplement (Algorithms 1-3, appendices A, B and D.1). Schapire &
    Singer (1999), "Improved boosting algorithms using confidence-rated predictions", Machine
    Learning 37.

    Examples
    --------
    A relevance that a voter has only where it is right, and sure:

    >>> from psephos import LocalBoostingClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> def sure(seen):
    ...     return seen.agreement.clip(0) ** 2
    >>> model = LocalBoostingClassifier(
    ...     n_estimators=1, relevance=sure, says="probability"
    ... ).fit(X, y)
    >>> for sentence in model.describe()[1:]:
    ...     print(sentence)
    Voter 1 (100.0 %): if worst radius <= 16.795 or missing then 1 91.3 %, otherwise 0 94.2 %.
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        (*VOTERS, "joined voters"),
        "local or local relevance or constant",
        "normalised",
        "boosting loop, relevance and difficulty as given",
    )
    contender: ClassVar[Contender] = Contender(
        "local-boosting",
        "boosting",
        {
            "quick": {
                "n_estimators": Integers(20, 80),
                "a": LogUniform(3e-2, 1),
                "b": Uniform(1, 6),
                "criterion": Choice(("error", "gini")),
                "says": Choice(("answer", "probability")),
            }
        },
        ensemble=True,
        notes="SamBA with weights moved by Algorithm 3, distances and columns scaled",
        small={"n_estimators": 4, "says": "probability", "random_state": 0},
    )
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "relevance": Function(tuple(loop.RELEVANCES), "of a BoostingRound that returns one a row"),
        "difficulty": Function(
            tuple(loop.DIFFICULTIES), "of a BoostingRound that returns one a row"
        ),
        "says": Options(("answer", "probability")),
        "weighting": Options(("local", "log-odds")),
        "prior": OneOf((ClassWeight(), Function((), "of X and y that returns one a row")), True),
    }

    _: KW_ONLY
    n_estimators: int = 20
    relevance: Any = "exp"
    difficulty: Any = "exp"
    says: str = "answer"
    weighting: str = "local"
    prior: Any = None

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        k = labels.target.n_classes
        readout, prepare = Readout("normalised", "share"), distinct_rows
        if self.weighting == "log-odds":
            if self.relevance != "right":
                raise PsephosError(
                    "weighting='log-odds' is made of the share of weight that a voter is right on: "
                    "set relevance='right', or weighting='local'."
                )
            readout = Readout("normalised", "logistic", 2.0 if k == 2 else 1.0 / (k - 1))
            prepare = _as_given
        data = Training(table, labels.target, labels.y, weight)
        steps = partial(self._steps, readout=readout, context=context)
        return fit_boosted(self, data, context, readout, steps, prepare=prepare)

    def _steps(self, data: Training, readout: Readout, context: Context) -> BoostingSteps:
        """Return lines 2, 5 and 7 of Algorithm 1, and the vote of the rounds."""
        skeleton = loop.Skeleton(data, self.relevance, self.difficulty)
        bits = isinstance(self.relevance, str) and self.relevance == "exp" and self.says == "answer"

        def reweight(pi: Floats, rounds: list[loop.Round], _: object) -> Floats:
            return skeleton.reweight(pi, rounds)

        def constant(rounds: list[loop.Round], voters: Voters) -> Vote:
            k = data.target.n_classes
            alpha = np.array([loop.log_odds(r.error, k) if r.error > 0 else 1.0 for r in rounds])
            return Vote(voters, Constant(voters.n_features, alpha), readout, data.target)

        prior = loop.first_weights(self.prior, data)
        if self.weighting == "log-odds":
            return BoostingSteps(reweight, constant, skeleton.relate, prior)
        anchors = loop.anchors_of(len(data.y), self.n_anchors, context)
        geometry = loop.Geometry(
            data, anchors, self.a, self.b, self.distance_scale, self.column_scale
        )

        def local(rounds: list[loop.Round], voters: Voters) -> Vote:
            weights = (geometry.local if bits else geometry.graded)(rounds, voters)
            return Vote(voters, weights, readout, data.target)

        return BoostingSteps(reweight, local, skeleton.relate, prior)


def _as_given(data: Training) -> Training:
    """Return the rows as they are: with weights of voters alone, copies need not be joined."""
    return data
