"""The Gibbs classifier: a hypothesis drawn from the posterior answers."""

from collections.abc import Mapping
from typing import ClassVar

from psephos._types import Floats
from psephos.base import Anatomy, Labels, VoteClassifier
from psephos.estimator.contender import Contender
from psephos.estimator.distributions import Choice, Integers
from psephos.estimator.input import Context, FittedVote, Table
from psephos.estimator.params import Constraint, Interval, OneOf
from psephos.estimator.signature import KW_ONLY, parameters
from psephos.models.concepts.posterior_votes import PosteriorVotes
from psephos.models.concepts.version_space import VOTERS


@parameters
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
    n_draws : int or None
        How many hypotheses are drawn in `fit`, with replacement, to vote; 1 answers all cases, and
        is one rule to be read. None: each case is answered by a hypothesis drawn for it, by the
        values of the columns that any hypothesis reads; the same case gets the same answer, and the
        same case in other units another draw.
    max_hypotheses : int
        The most conjunctions that are gone through; see `BayesOptimalClassifier`. Without noise,
        where more agree with all rows, `n_samples` of them are drawn evenly, and hypotheses are
        drawn from these.
    random_state : int, RandomState or None
        Seeds the draws, in `fit` and for cases.

    Attributes
    ----------
    posterior_ : tuple of ndarray
        The weights of the voters, one array for each concept: the posterior, or the share of the
        draws.

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
        "n_draws": OneOf((Interval(1, whole=True),), none=True),
    }

    _: KW_ONLY
    n_draws: int | None = 1

    def _fit_vote(
        self, table: Table, labels: Labels, weight: Floats, context: Context
    ) -> FittedVote:
        score = "drawn" if self.n_draws is None else "normalised"
        return self._vote(
            table, labels, weight, context, prior=self.prior, score=score, n_draws=self.n_draws
        )
