"""Committees as a third party would write them: a stack, a cascade and a reader of answers."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

from psephos import CARTClassifier, SamBAClassifier
from psephos.base import Anatomy, VoteClassifier
from psephos.estimator.contender import Contender
from psephos.vote import (
    ComposedVoters,
    ConfidenceGate,
    OutputWeights,
    Readout,
    Vote,
    answer_names,
    mixed_voters,
)


def members():
    return [
        SamBAClassifier(n_estimators=4, random_state=0),
        CARTClassifier(max_depth=3, random_state=0),
        GaussianNB(),
    ]


class StackClassifier(VoteClassifier):
    """One weight per member and class, learnt on out-of-fold probabilities, class by class."""

    anatomy = Anatomy(("joined voters",), "by output", "sum", "out-of-fold answers")
    contender = Contender("third-stack", "committees")

    def _fit_vote(self, table, labels, weight, context):
        X, code, y = table.dense(), labels.target.code, labels.y
        folds = [cross_val_predict(m, X, y, cv=3, method="predict_proba") for m in members()]
        said = np.stack([chances @ code for chances in folds], axis=1)  # (n, T, K)
        alpha = np.column_stack(
            [
                LogisticRegression(C=1.0, fit_intercept=False).fit(said[:, :, k], of).coef_[0]
                for k, of in enumerate([y == c for c in ([1] if len(code) == 2 else np.unique(y))])
            ]
        )
        voters = mixed_voters([m.fit(X, y) for m in members()], X.shape[1], code)
        weights = OutputWeights(X.shape[1], np.ascontiguousarray(alpha))
        return Vote(voters, weights, Readout("sum", "logistic"), labels.target), {}


class GatedClassifier(VoteClassifier):
    """One member after the other, until one is 80 % sure; or all that are, with ``first=False``."""

    anatomy = Anatomy(("joined voters",), "confidence", "normalised", "fitted apart")
    contender = Contender("third-cascade", "committees")

    def __init__(self, first=True):
        self.first = first

    def _fit_vote(self, table, labels, weight, context):
        X, y = table.dense(), labels.y
        voters = mixed_voters([m.fit(X, y) for m in members()], X.shape[1], labels.target.code)
        gate = ConfidenceGate(X.shape[1], np.ones(3), np.full(3, 0.8), np.arange(3), self.first)
        return Vote(voters, gate, Readout("normalised", "share"), labels.target), {}


class ReaderClassifier(VoteClassifier):
    """A tree, and a SamBA, on the columns and the answers of the members."""

    anatomy = Anatomy(("composed voters",), "constant", "normalised", "out-of-fold answers")
    contender = Contender("third-reader", "committees")

    def _fit_vote(self, table, labels, weight, context):
        from psephos.vote import Constant

        X, code, y = table.dense(), labels.target.code, labels.y
        folds = [cross_val_predict(m, X, y, cv=3, method="predict_proba") for m in members()]
        wide = np.hstack([X, *[chances @ code for chances in folds]])
        readers = [
            CARTClassifier(max_depth=2, random_state=0),
            SamBAClassifier(n_estimators=3, random_state=0),
        ]
        fitted = [reader.fit(wide, y) for reader in readers]
        inner = mixed_voters([m.fit(X, y) for m in members()], X.shape[1], code)
        outputs = labels.target.outputs
        voters = ComposedVoters(
            inner,
            mixed_voters(fitted, wide.shape[1], code),
            answer_names(["SamBA", "CART", "naive Bayes"], outputs),
        )
        constant = Constant(X.shape[1], np.ones(2))
        vote = Vote(voters, constant, Readout("normalised", "share"), labels.target)
        return vote.take(np.arange(2)), {}
