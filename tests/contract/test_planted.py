"""The contract refuses weights with a fault: one planted at a time, each by the check it names."""

import sys
from pathlib import Path

import numpy as np
import pytest

from psephos import PsephosError, registry
from psephos.testing import CHECKS, Case, small_table
from psephos.vote import Vote
from psephos.vote.part import usage_table

sys.path.insert(0, str(Path(__file__).parent))
import local_accuracy
import midpoints

registry._registered.pop("third-midpoint", None)  # other tests ask which models there are

PARTS = {}


class Near(local_accuracy.LocalAccuracy):
    """Weights without a fault: a category differs or not, and codes are no numbers."""

    tag = "planted: none"

    def gap(self, X):
        gap = np.nan_to_num(X[:, None, self.columns] - self.rows)
        return np.where(self.is_category, gap != 0, gap)

    def weights(self, X):
        near = np.argsort((self.gap(X) ** 2).sum(axis=2), axis=1, kind="stable")[:, : self.k]
        return self.right[near].mean(axis=1) + 0.1

    @property
    def is_category(self):
        return np.isin(self.columns, [4, 5])


def planted(check, words):
    """Name the check that must refuse the weights, and words of its sentence."""

    def keep(cls):
        cls.tag = f"planted: {cls.__name__}"
        PARTS[cls.__name__] = (cls, check, words)
        return cls

    return keep


@planted("answers are finite", "votes and weights must be finite")
class NotANumber(Near):
    def weights(self, X):
        with np.errstate(all="ignore"):
            kernel = np.exp(np.nan_to_num(X[:, self.columns]).max(axis=1, keepdims=True))
            return super().weights(X) * kernel / kernel


@planted("codes of categories mean nothing", "names in no order")
class MeanOfCodes(Near):
    is_category = False

    def weights(self, X):
        return super().weights(X) + np.nan_to_num(X[:, [4]]) * np.arange(self.n_voters)


@planted("weights are shares", "has a weight of -")
class BelowZero(Near):
    def weights(self, X):
        return super().weights(X) - 0.3


@planted("parts read no more than they say", "take keeps columns")
class TakesAll(Near):
    def usage(self):
        if self.n_voters > 1:
            return super().usage()
        return usage_table(np.array([0]), self.columns[:1], (1, self.n_features))


@planted("members have their shapes", r"weights\(X\) has the shape .* it must be")
class Flat(Near):
    def weights(self, X):
        return super().weights(X)[:, 0]


@planted("members have their shapes", "is not a boolean CSR table")
class DenseUsage(Near):
    def usage(self):
        return super().usage().toarray()


@planted("members have their shapes", "declares no tag")
class Untagged(Near):
    pass


@planted("members have their shapes", "does not sum to 1")
class Shares(Near):
    def mean_share(self):
        return 2 * super().mean_share()


class PlantedClassifier(local_accuracy.LocalAccuracyClassifier):
    """Stumps with weights of one of these kinds."""

    def __init__(self, n_columns=12, part=Near, categorical_features=None):
        super().__init__(n_columns)
        self.part = part
        self.categorical_features = categorical_features

    def _fit_vote(self, table, labels, weight, context):
        vote, extras = super()._fit_vote(table, labels, weight, context)
        column = vote.voters.columns[vote.voters.feature]
        vote = vote.take(np.flatnonzero(~np.isin(column, [4, 5])))  # a stump halfway takes a mean
        X, w = table.dense(), vote.weighting
        columns = np.union1d(w.columns, [4, 5])
        own = self.part(X.shape[1], columns, X[:, columns], w.right, w.k)
        return Vote(vote.voters, own, vote.readout, vote.target), extras


def case(part):
    model = PlantedClassifier(part=part)
    return Case(model, 2, 0.1, "the k nearest rows are counted", categories=(4, 5))


NEW = {check for _, check, _ in PARTS.values()}


@pytest.mark.parametrize("check", sorted(NEW))
def test_without_a_fault_it_passes(check):
    CHECKS[check](case(Near))


@pytest.mark.parametrize("fault", PARTS)
def test_a_planted_fault_is_refused(fault, monkeypatch):
    part, check, words = PARTS[fault]
    if fault == "Untagged":
        monkeypatch.setattr(part, "tag", None)
    with pytest.raises(AssertionError, match=words):
        CHECKS[check](case(part))


def test_the_shapes_are_checked_first():
    assert next(iter(CHECKS)) == "members have their shapes"


def test_categories_need_an_estimator_that_takes_them():
    with pytest.raises(PsephosError, match="which MidpointClassifier does not have"):
        Case(midpoints.MidpointClassifier(), categories=(4,))


def test_the_small_table_is_the_same_in_its_other_columns():
    plain, coded = small_table(3), small_table(3, categories=(4, 5))
    others = np.setdiff1d(np.arange(12), [4, 5])
    np.testing.assert_array_equal(plain.X[:, others], coded.X[:, others])
    assert set(coded.X[:, 4]) == {0, 1, 2, 3}
