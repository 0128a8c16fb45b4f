"""Weights of another package: each voter's accuracy on the training rows nearest to the case."""

from dataclasses import dataclass, replace
from typing import ClassVar

import midpoints
import numpy as np
from numpy.typing import NDArray

from psephos.base import Anatomy
from psephos.vote import Nullable, Vote, Weighting, register_part
from psephos.vote.part import ReadsColumns, check, check_columns, usage_of_all


@register_part
@dataclass(frozen=True)
class LocalAccuracy(ReadsColumns, Weighting):
    """w_t(x) = the share of the k nearest training rows that voter t is right on; may be 0."""

    tag: ClassVar[str] = "local accuracy"
    n_features: int
    columns: NDArray[np.intp]
    rows: Nullable
    right: NDArray[np.bool_]
    k: int

    def __post_init__(self):
        check_columns(self.columns, self.n_features)
        check(len(self.rows) == len(self.right) >= self.k > 0, "rows and answers differ in number")

    @property
    def n_voters(self):
        return self.right.shape[1]

    def weights(self, X):
        gap = np.nan_to_num(X[:, None, self.columns] - self.rows)
        near = np.argsort((gap**2).sum(axis=2), axis=1, kind="stable")[:, : self.k]
        return self.right[near].mean(axis=1)

    def mean_share(self):
        return self.right.sum(axis=0) / self.right.sum()

    def words(self):
        return f"weights by accuracy on the {self.k} nearest training rows"

    def usage(self):
        return usage_of_all(self)

    def take(self, voters):
        return replace(self, right=self.right[:, voters])


class LocalAccuracyClassifier(midpoints.MidpointClassifier):
    """Stumps, weighted by accuracy around the case."""

    anatomy = Anatomy(("stump voters",), "local accuracy", "normalised", "class means")
    contender = replace(midpoints.MidpointClassifier.contender, name="third-local")

    def _fit_vote(self, table, labels, weight, context):
        vote, extras = super()._fit_vote(table, labels, weight, context)
        X, columns = table.dense(), vote.voters.columns
        votes = vote.voters.votes(X)
        answers = labels.target.answers(votes.reshape(-1, votes.shape[2])).reshape(votes.shape[:2])
        right = answers == labels.y[:, None]
        weights = LocalAccuracy(X.shape[1], columns, X[:, columns], right, min(3, len(X)))
        return Vote(vote.voters, weights, vote.readout, labels.target), extras
