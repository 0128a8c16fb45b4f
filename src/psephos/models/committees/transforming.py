"""What members answer as a table: `transform` of voting and stacking."""

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import TransformerMixin
from sklearn.utils import Bunch

from psephos.vote import Readout, Vote, as_read
from psephos.vote.part import field_of


class MemberAnswers(TransformerMixin):
    """Mixin of committees whose members have names: `transform` returns what members answer.

    Attributes
    ----------
    named_estimators_ : Bunch
        The members that have a weight, by name, as fitted estimators.
    """

    vote_: Vote

    def _answering(self) -> Any:
        """Return the members: the voters, or those that a final estimator reads."""
        cast("Any", self)._fitted()
        return field_of(self.vote_.voters, "members") or self.vote_.voters

    def _answering_names(self) -> list[str]:
        members = self._answering()
        names = field_of(members, "names", ())
        return list(names) or [f"member {t}" for t in range(members.n_voters)]

    @property
    def named_estimators_(self) -> Bunch:
        """The members that have a weight, by name, as fitted estimators."""
        own: Any = self
        members = self._answering()
        each = [own._voter_of(members, t) for t in range(members.n_voters)]
        return Bunch(**dict(zip(self._answering_names(), each, strict=True)))

    def transform(self, X: Any) -> NDArray[Any]:
        """Return what the members answer to each row.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        answers : ndarray of shape (n_samples, n_columns)
            Of voting: the probabilities of all classes, member by member; with ``voting='hard'``
            the class that each answers. Of stacking, as its final estimator reads them: for two
            classes the probability of the second, else of each class; with ``passthrough=True``
            the columns of X follow. Of regressors: their numbers. Members without a weight are
            left out.
        """
        own: Any = self
        values: Any = own._values(X)
        dense = cast("Any", values).toarray() if issparse(values) else values
        rows = np.ascontiguousarray(dense, np.float64)
        votes = self._answering().votes(rows)
        target, n = self.vote_.target, len(rows)
        flat = votes.reshape(n * votes.shape[1], votes.shape[2])
        if not hasattr(self, "voting"):
            answers = votes.reshape(n, votes.shape[1] * votes.shape[2])
            answers = as_read(answers, target.n_outputs) if target.n_classes else answers
            return np.hstack([answers, rows]) if own.passthrough else answers
        if not target.n_classes:
            return votes[:, :, 0]
        if own.voting == "hard":
            return target.decode(flat).reshape(n, -1)
        return Readout("normalised", "share").probabilities(flat, target).reshape(n, -1)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns of `transform`, as scikit-learn builds them."""
        own: Any = self
        prefix, names = type(self).__name__.lower(), self._answering_names()
        of_voting = hasattr(self, "voting")
        n_each = self.vote_.target.n_classes if of_voting else self.vote_.target.n_outputs
        if n_each > 1 and not (of_voting and own.voting == "hard"):
            found = [f"{prefix}_{name}{k}" for name in names for k in range(n_each)]
        else:
            found = [f"{prefix}_{name}" for name in names]
        if not of_voting and own.passthrough:
            given = own.schema_.names or [f"x{j}" for j in range(own.n_features_in_)]
            found += list(map(str, given if input_features is None else input_features))
        return np.asarray(found, dtype=object)
