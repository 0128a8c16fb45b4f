"""Losses of rows that were left out, against scikit-learn's measures, split by split."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import log_loss, mean_absolute_error, mean_squared_error, roc_auc_score

from psephos.models.swag.measures import (
    absolute_losses,
    area_losses,
    cost_losses,
    log_losses,
    squared_losses,
)

PTR = np.array([0, 11, 30])


def rows(n_scores, seed=0):
    """Return scores (2, 30, n_scores), with ties, weights, and their shares of each split."""
    rng = np.random.default_rng(seed)
    weight = rng.uniform(0.2, 2.0, 30)
    share = np.concatenate([weight[a:b] / weight[a:b].sum() for a, b in spans()])
    return rng.normal(size=(2, 30, n_scores)).round(1), weight, share


def spans():
    return [(0, 11), (11, 30)]


def expected(measure, scores):
    return [[measure(one[a:b], slice(a, b)) for a, b in spans()] for one in scores]


def test_area_is_that_of_weighted_pairs():
    scores, weight, share = rows(1)
    y = np.arange(30) % 3 % 2
    out = np.empty((2, 2))
    area_losses(scores, y, share, PTR, out)
    peer = expected(
        lambda s, at: 1 - roc_auc_score(y[at], s[:, 0], sample_weight=weight[at]), scores
    )
    assert_allclose(out, peer, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_log_loss_and_errors(n_classes):
    scores, weight, share = rows(1 if n_classes == 2 else 3)
    y = np.arange(30) % n_classes
    out, errors = np.empty((2, 2)), np.empty((2, 2))
    log_losses(scores, y, share, PTR, out)
    cost_losses(scores, y, 1.0 - np.eye(n_classes), share, PTR, errors)

    def chances(s):
        odds = np.exp(np.column_stack([0 * s[:, 0], s[:, 0]]) if n_classes == 2 else s)
        return odds / odds.sum(axis=1, keepdims=True)

    def loss(s, at):
        return log_loss(y[at], chances(s), sample_weight=weight[at], labels=range(n_classes))

    def wrong(s, at):
        return np.average(chances(s).argmax(axis=1) != y[at], weights=weight[at])

    assert_allclose(out, expected(loss, scores), atol=1e-12)
    assert_allclose(errors, expected(wrong, scores), atol=1e-12)


def test_numbers():
    scores, weight, share = rows(1)
    y = np.random.default_rng(3).normal(size=30)
    square, size = np.empty((2, 2)), np.empty((2, 2))
    squared_losses(scores, y, share, PTR, square)
    absolute_losses(scores, y, share, PTR, size)
    for out, peer in ((square, mean_squared_error), (size, mean_absolute_error)):
        told = expected(lambda s, at, p=peer: p(y[at], s[:, 0], sample_weight=weight[at]), scores)
        assert_allclose(out, told, atol=1e-12)
