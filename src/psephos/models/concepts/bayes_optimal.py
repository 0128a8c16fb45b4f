"""The Bayes-optimal classifier: all hypotheses vote, each by its posterior."""

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
from psephos.params import Constraint, Options
from psephos.vote import Vote

__all__ = ["BayesOptimalClassifier"]

_Floats = NDArray[np.float64]


class BayesOptimalClassifier(PosteriorVotes, VoteClassifier):
    """All hypotheses vote, each by its posterior: no answer errs less under the same prior.

    Use it where the hypotheses can be named: short rules over a few columns of categories or
    numbers, or a list of fitted models of which one should be right. The posterior says which are
    still possible, and how sure an answer is.

    ::

        P(h | D) = P(D | h) P(h) / P(D),   P(k | x) = sum over h of P(k | h, x) P(h | D)

    where P(D | h) is the product over rows of ``1 - noise`` if h says the row's label, ``noise /
    (K - 1)`` if not, to the power of the row's weight.

    Parameters
    ----------
    estimators : list of (str, estimator), default=None
        The hypotheses: fitted classifiers by name, of psephos or scikit-learn, all on the columns
        of X. They are not fitted again: `fit` asks them about its rows, which should be others than
        they were fitted on. Put each in ``sklearn.frozen.FrozenEstimator`` where the model is
        cloned (cross-validation). None: all conjunctions of one constraint a column (see
        `VersionSpaceClassifier`).
    decision : {'mean', 'map', 'ml'}, default='mean'
        mean: the vote of all. map: the answer of the most probable hypothesis. ml: the answer of
        the hypothesis of greatest likelihood. Of equally probable ones it is that of most tests,
        of estimators the first in the list. That hypothesis is then the only voter of its concept.
    prior : {'uniform', 'short'} or array of shape (n_estimators,), default='uniform'
        P(h). uniform: all alike. short, of conjunctions: each column is tested with the chance 1/2,
        by any of its constraints alike; the empty hypothesis counts as one that tests all. Numbers,
        of estimators: their sum need not be 1.
    noise : float, default=0.1
        The chance that a label is wrong. 0: only hypotheses that agree with all rows are left.
    likelihood : {'answer', 'probability'}, default='answer'
        Whether estimators say a class, or probabilities q: P(y | h, x) is then ``(1 - noise) q_y +
        noise (1 - q_y) / (K - 1)``.
    n_bins : int, default=4
        Bins of a column of numbers; see `VersionSpaceClassifier`.
    max_hypotheses : int, default=10000
        The most conjunctions that are listed as voters. Where there are more and labels are noisy,
        only hypotheses of at most `n_tests_` tests are listed, the greatest number that keeps the
        list within this. Without noise those that agree with all rows are listed,
        or counted as one voter, or `n_samples` of them drawn if they cannot be counted.
    n_samples : int, default=1000
        Hypotheses drawn; a share among them has a standard error of at most
        ``0.5 / sqrt(n_samples)``.
    categorical_features : 'from_dtype', list, mask or None, default='from_dtype'
        Columns whose values are categories; there are none with `estimators`.
    random_state : int, RandomState or None, default=None
        Seeds the draws.

    Attributes
    ----------
    vote_ : Vote
        Its weights are the posterior.
    posterior_ : tuple of ndarray
        P(h | D) of the voters, one array for each concept (two classes are one concept, and so are
        estimators); 1 for hypotheses that are counted.
    hypotheses_ : HypothesisFacts
        The prior of the voters over all hypotheses there were: what `psephos.bounds` need.
    n_tests_ : int
        The most tests a hypothesis may have: the number of columns, unless there would be too many
        (of estimators 0).
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
        In fit: if there are more conjunctions of one test than `max_hypotheses` and labels are
        noisy, no hypothesis has a posterior (without noise, naming the row), an estimator is
        not fitted, is of other columns or knows a label that y lacks, or X holds categories that
        estimators would read as numbers.

    Notes
    -----
    Of more than two classes each is a concept with conjunctions of its own, other rows being its
    negatives, and the class whose concept is most probable is answered; a label counts as wrong for
    a concept with the same `noise`. A missing value meets ``?`` alone.

    With noise this is a model for tens of columns, or of hundreds for hypotheses of one test.

    References
    ----------
    Mitchell (1997), "Machine Learning", sections 6.3 and 6.7.

    Examples
    --------
    >>> import pandas as pd
    >>> from psephos import BayesOptimalClassifier
    >>> X = pd.DataFrame({"sky": ["sunny", "sunny", "rainy", "sunny"],
    ...                   "wind": ["strong", "weak", "strong", "weak"]}, dtype="category")
    >>> model = BayesOptimalClassifier(noise=0.0).fit(X, ["yes", "no", "no", "no"])
    >>> model.predict_proba(X[:2]).round(2).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        VOTERS, "constant", "normalised or loudest", "the posterior of all hypotheses"
    )
    contender: ClassVar[Contender] = Contender(
        "bayes-optimal", "concepts",
        {"quick": {"n_bins": Integers(2, 5), "prior": Choice(("uniform", "short")),
                   "noise": Choice((0.02, 0.1, 0.3))}},
        notes="conjunctions, weighed by their posterior",
        small={"max_hypotheses": 300, "n_samples": 40, "random_state": 0},
    )  # fmt: skip
    constraints: ClassVar[Mapping[str, Constraint]] = {
        **SHARED,
        "decision": Options(("mean", "map", "ml")),
    }
    extras: ClassVar[tuple[str, ...]] = ("posterior_", "hypotheses_", "n_tests_")
    posterior_: tuple[_Floats, ...]
    hypotheses_: HypothesisFacts
    n_tests_: int

    def __init__(
        self,
        estimators: Any = None,
        *,
        decision: str = "mean",
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
        self.decision = decision
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
        score = "normalised" if self.decision == "mean" else "loudest"
        prior = "uniform" if self.decision == "ml" else self.prior
        return self._vote(table, labels, weight, context, prior=prior, score=score)
