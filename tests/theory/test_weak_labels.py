"""Risks of weak labels by simulation: what is unbiased, what is not, and how errors fall."""

import numpy as np
import pytest

from psephos import LIoISClassifier
from psephos.supervision import MarginLoss, non_negative_pu_risk, one_sided_risk, pu_risk

pytestmark = pytest.mark.theory
PRIOR, DRAWS = 0.4, 2000


def draw(rng, n, positive=None):
    """Return rows of N(+-0.7, 1), and whether they are positive."""
    y = rng.random(n) < PRIOR if positive is None else np.full(n, positive)
    return rng.normal(0, 1, n) + np.where(y, 0.7, -0.7), y


def score(x):
    return (1.3 * x + 0.2)[:, None]


def true_risk(loss, steep=1):
    x, y = draw(np.random.default_rng(1), 2_000_000)
    g = steep * score(x)[:, 0]
    return float(loss.value(np.where(y, g, -g)).mean())


def simulated(estimate):
    found = np.array([estimate(np.random.default_rng([7, i])) for i in range(DRAWS)])
    return found.mean(), found.std(ddof=1) / DRAWS**0.5


@pytest.mark.parametrize("name", ["sigmoid", "logistic", "ramp"])
def test_the_unbiased_risk_is_unbiased(name):
    loss = MarginLoss(name)
    codes = np.r_[np.full(15, 1), np.full(40, -1)]

    def once(rng):
        x = np.r_[draw(rng, 15, True)[0], draw(rng, 40)[0]]
        return pu_risk(codes, PRIOR, loss).value_and_gradient(score(x))[0]

    mean, error = simulated(once)
    assert abs(mean - true_risk(loss)) < 3 * error


@pytest.mark.parametrize("name", ["sigmoid", "logistic", "ramp"])
def test_one_sided_with_the_true_weights_is_unbiased(name):
    """Positives are missed with a chance that depends on x."""
    loss = MarginLoss(name)

    def missed(x):
        return 0.2 + 0.4 / (1 + np.exp(x))

    def once(rng):
        x, y = draw(rng, 50)
        recorded = y & (rng.random(50) >= missed(x))
        odds = PRIOR / (1 - PRIOR) * np.exp(1.4 * x)  # of positive
        p = odds / (1 + odds)
        negative = (1 - p) / (1 - p * (1 - missed(x)))
        sigma = np.where(recorded, 1 / (1 - missed(x)), negative)
        risk = one_sided_risk(recorded.astype(int), sigma, loss)
        return risk.value_and_gradient(score(x))[0]

    mean, error = simulated(once)
    assert abs(mean - true_risk(loss)) < 3 * error


def test_the_non_negative_risk_is_too_large():
    """Where the cut matters: few rows, and a score that fits the classes."""
    loss, codes = MarginLoss("sigmoid"), np.r_[np.full(3, 1), np.full(3, -1)]

    def of(make):
        def once(rng):
            x = np.r_[draw(rng, 3, True)[0], draw(rng, 3)[0]]
            return make(codes, PRIOR, loss).value_and_gradient(4 * score(x))[0]

        return simulated(once)

    truth = true_risk(loss, 4)
    mean, error = of(pu_risk)
    assert abs(mean - truth) < 3 * error
    mean, error = of(non_negative_pu_risk)
    assert mean - truth > 3 * error


def test_the_excess_risk_falls_with_the_sample():
    """Error above the least of LIoIS, 12 draws a size; flips .3, prior known."""
    mean = {}
    for n in (40, 640):
        each = []
        for seed in range(12):
            rng = np.random.default_rng([seed, n])
            y = rng.random(6 * n) < 0.5
            X = rng.normal(0, 1, (6 * n, 5)) + np.where(y, 0.4, -0.4)[:, None]
            recorded = np.where(y & (rng.random(6 * n) < 0.3), 0.0, y.astype(float))
            recorded[n:] = np.nan
            model = LIoISClassifier(prior=0.5, scaling="standard", random_state=0).fit(X, recorded)
            z = rng.random(4000) < 0.5
            new = rng.normal(0, 1, (4000, 5)) + np.where(z, 0.4, -0.4)[:, None]
            each.append(1 - model.score(new, z.astype(float)))
        mean[n] = np.mean(each) - 0.1856  # Phi(-.4 sqrt(5))
    assert mean[640] < mean[40] / 2
    assert mean[640] < 0.02
