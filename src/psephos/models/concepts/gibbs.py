"""The Gibbs classifier: a hypothesis drawn from the posterior answers."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from psephos._distributions import Choice, Integers
from psephos._input import Context, Table
from psephos.base import Anatomy, Labels, VoteClassifier
from psephos.contender import Contender
from psephos.models.concepts.facts import HypothesisFacts
from psephos.models.concepts.posterior_votes import SHARED, PosteriorVotes
from psephos.models.concepts.version_space import VOTERS
from psephos.params import Constraint, Interval, OneOf
from psephos.vote import Vote

__all__ = ["GibbsClassifier"]

_Floats = NDArray[np.float64]


class GibbsClassifier(PosteriorVotes, VoteClassifier):
    """A hypothesis drawn from the posterior answers, or the vote of a few that were drawn.

    Use it where one rule should answer and be read, and none is so much more probable than the
    others that it should be it: over targets drawn from the prior the expected error is at most
    twice that of `BayesOptimalClassifier`, ::

        E[error of Gibbs] <= 2 E[error of Bayes-optimal]

    because a case of which the share p of the posterior says yes is mistaken with probability
    2 p (1 - p), which is at most 2 min(p, 1 - p).

    Parameters
    ----------
    estimators : list of (str, estimator), default=None
        As `BayesOptimalClassifier`: fitted classifiers, or None for conjunctions.
    n_draws : int or None, default=1
        How many hypotheses are drawn in `fit`, with replacement, to vote; 1 answers all cases, and
        is one rule to be read. None: each case is answered by a hypothesis drawn for it, by the
        values of the columns that any hypothesis reads; the same case gets the same answer, and the
        same case in other units another draw.
    prior : {'uniform', 'short'} or array of shape (n_estimators,), default='uniform'
    noise : float, default=0.1
    likelihood : {'answer', 'probability'}, default='answer'
    n_bins : int, default=4
    max_hypotheses : int, default=10000
        The most conjunctions that are gone through; see `BayesOptimalClassifier`. Without noise,
        where more agree with all rows, `n_samples` of them are drawn evenly, and hypotheses are
        drawn from these.
    n_samples : int, default=1000
    categorical_features : 'from_dtype', list, mask or None, default='from_dtype'
    random_state : int, RandomState or None, default=None
        Seeds the draws, in `fit` and for cases.

    Attributes
    ----------
    vote_ : Vote
    posterior_ : tuple of ndarray
        The weights of the voters, one array for each concept: the posterior, or the share of the
        draws.
    hypotheses_ : HypothesisFacts
        The prior of the voters over all hypotheses there were: what `psephos.bounds` need.
    n_tests_ : int
        The most tests a hypothesis may have; see `BayesOptimalClassifier`.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only if X had column names.
    n_features_used_ : int
    features_used_ : ndarray
    feature_importances_ : ndarray of shape (n_features,)

    Raises
    ------
    PsephosError
        In fit: as `BayesOptimalClassifier`.

    Notes
    -----
    Of more than two classes a hypothesis is drawn for each class's concept; a case for which none
    or several say yes is answered with the first of these classes. Where one
    hypothesis answers, probabilities of two classes are 0 and 1. The bound is on expectations over
    targets drawn from the prior, and on draws; it holds for no single target.

    References
    ----------
    Haussler, Kearns & Schapire (1994), "Bounds on the sample complexity of Bayesian learning using
    information theory and the VC dimension", Machine Learning 14. Mitchell (1997), "Machine
    Learning", section 6.8.

    Examples
    --------
    >>> import numpy as np
    >>> from psephos import GibbsClassifier
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = GibbsClassifier(noise=0.0, random_state=0).fit(X, [0, 0, 1, 1])
    >>> model.predict(X).tolist()
    [0, 0, 1, 1]
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        VOTERS, "constant", "normalised or drawn", "draws from the posterior of all hypotheses"
    )
    contender: ClassVar[Contender] = Contender(
        "gibbs", "concepts",
        {"quick": {"n_bins": Integers(2, 5), "prior": Choice(("uniform", "short")),
                   "noise": Choice((0.02, 0.1, 0.3))}},
        notes="a conjunction drawn from the posterior answers",
        small={"max_hypotheses": 300, "n_samples": 40, "random_state": 0},
    )  # fmt: skip
    constraints: ClassVar[Mapping[str, Constraint]] = {
        **SHARED,
        "n_draws": OneOf((Interval(1, whole=True),), none=True),
    }
    extras: ClassVar[tuple[str, ...]] = ("posterior_", "hypotheses_", "n_tests_")
    posterior_: tuple[_Floats, ...]
    hypotheses_: HypothesisFacts
    n_tests_: int

    def __init__(
        self,
        estimators: Any = None,
        *,
        n_draws: int | None = 1,
        prior: Any = "uniform",
        noise: float = 0.1,
        likelihood: str = "answer",
        n_bins: int = 4,
        max_hypotheses: int = 10_000,
        n_samples: int = 1000,
        categorical_features: Any = "from_dtype",
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.n_draws = n_draws
        self.prior = prior
        self.noise = noise
        self.likelihood = likelihood
        self.n_bins = n_bins
        self.max_hypotheses = max_hypotheses
        self.n_samples = n_samples
        self.categorical_features = categorical_features
        self.random_state = random_state

    def _fit_vote(
        self, table: Table, labels: Labels, weight: _Floats, context: Context
    ) -> tuple[Vote, dict[str, Any]]:
        score = "drawn" if self.n_draws is None else "normalised"
        return self._vote(
            table, labels, weight, context, prior=self.prior, score=score, n_draws=self.n_draws
        )
