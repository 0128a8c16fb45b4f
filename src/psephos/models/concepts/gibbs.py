"""The Gibbs classifier: a hypothesis drawn from the posterior predicts."""

from collections.abc import Mapping
from typing import ClassVar

from psephos._types import Floats
from psephos.base import Anatomy, Labels, VoteClassifier
from psephos.estimator.contender import Contender
from psephos.estimator.distributions import Choice, Integers
from psephos.estimator.input import Context, Table, VoteFit
from psephos.estimator.params import Constraint, Interval, OneOf
from psephos.estimator.signature import KW_ONLY, parameters
from psephos.models.concepts.version_space import VOTERS
from psephos.models.concepts.votes import PosteriorVotes


@parameters
class GibbsClassifier(PosteriorVotes, VoteClassifier):
    """A hypothesis drawn from the posterior predicts, or the vote of a few drawn hypotheses.

    Use it for one readable rule if no hypothesis is much more probable than the others. Over
    targets drawn from the prior the expected error is at most twice that of
    `BayesOptimalClassifier`::

        E[error of Gibbs] <= 2 E[error of Bayes-optimal]

    because if a share p of the posterior predicts yes, the error has probability 2 p (1 - p), which
    is at most 2 min(p, 1 - p).

    Parameters
    ----------
    n_draws : int or None
        Number of hypotheses drawn in `fit`, with replacement, to vote; 1 is a single readable rule.
        None: a hypothesis is drawn for each case, with a seed from the values of the columns that
        any hypothesis reads. Equal cases have the same prediction; in other units the draw differs.
    max_hypotheses : int
        Maximum number of conjunctions that are listed; see `BayesOptimalClassifier`. Without noise,
        if more agree with all rows, `n_samples` of them are drawn uniformly, and hypotheses are
        drawn from these.
    random_state : int, RandomState or None
        Seed of the draws, in `fit` and for cases.

    Attributes
    ----------
    posterior_ : tuple of ndarray
        The weights of the voters, one array for each concept: the posterior, or shares of the
        draws.

    Raises
    ------
    PsephosError
        In fit: as `BayesOptimalClassifier`.

    Notes
    -----
    With more than two classes a hypothesis is drawn for each class's concept; if none or several of
    them predict yes for a case, the first of these classes is predicted. If one hypothesis
    predicts, probabilities of two classes are 0 and 1. The bound is on the expectation over targets
    drawn from the prior and over draws; it need not hold for a single target.

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
        "n_draws": OneOf((Interval(1, whole=True),), none=True)
    }

    _: KW_ONLY
    n_draws: int | None = 1

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        score = "drawn" if self.n_draws is None else "normalised"
        return self._vote(
            table, labels, weight, context, prior=self.prior, score=score, n_draws=self.n_draws
        )
