"""The Bayes-optimal classifier: all hypotheses vote, each by its posterior."""

from collections.abc import Mapping
from typing import ClassVar

from psephos._types import Floats
from psephos.base import Anatomy, Labels, VoteClassifier
from psephos.estimator.contender import Contender
from psephos.estimator.distributions import Choice, Integers
from psephos.estimator.input import Context, Table, VoteFit
from psephos.estimator.params import Constraint, Options
from psephos.estimator.signature import KW_ONLY, parameters
from psephos.models.concepts.version_space import VOTERS
from psephos.models.concepts.votes import PosteriorVotes


@parameters
class BayesOptimalClassifier(PosteriorVotes, VoteClassifier):
    """All hypotheses vote, weighted by their posterior: the smallest error under the same prior.

    Use it if the hypotheses can be listed: short rules over a few columns of categories or numbers.
    The posterior shows which are still possible, and how certain a prediction is.

    ::

        P(h | D) = P(D | h) P(h) / P(D),   P(k | x) = sum over h of P(k | h, x) P(h | D)

    where P(D | h) is the product over rows of ``1 - noise`` if h predicts the row's label, ``noise
    / (K - 1)`` if not, to the power of the row's weight.

    Parameters
    ----------
    decision : {'mean', 'map', 'ml'}
        mean: the vote of all hypotheses. map: the most probable hypothesis predicts. ml: the
        hypothesis of maximum likelihood predicts. Of equally probable ones the one with most tests
        is used. With 'map' and 'ml' it is the only voter of its concept.

    Attributes
    ----------
    vote_ : Vote
        Its weights are the posterior.
    posterior_ : tuple of ndarray
        P(h | D) of the voters, one array for each concept (two classes are one concept); 1 for
        hypotheses that are counted.

    Raises
    ------
    PsephosError
        In fit: if `noise` is above 0 and there are more conjunctions of one test than
        `max_hypotheses`, or `noise` is 0 and no hypothesis agrees with all rows (naming the row).

    Notes
    -----
    With more than two classes each is a concept with its own conjunctions and all other rows as
    negatives, and the class with the most probable concept is predicted; `noise` is the same for
    each concept. A missing value passes only ``?``.

    With noise this is a model for tens of columns, or for hundreds with hypotheses of one test.

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
    constraints: ClassVar[Mapping[str, Constraint]] = {"decision": Options(("mean", "map", "ml"))}

    _: KW_ONLY
    decision: str = "mean"

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        score = "normalised" if self.decision == "mean" else "loudest"
        prior = "uniform" if self.decision == "ml" else self.prior
        return self._vote(table, labels, weight, context, prior=prior, score=score)
