"""Losses and risks: derivatives, what they are equal to, and what they refuse."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from psephos import PsephosError
from psephos.supervision import (
    LOSSES,
    MarginLoss,
    NonNegativeRisk,
    non_negative_pu_risk,
    one_sided_risk,
    pu_risk,
    supervised_risk,
)

RNG = np.random.default_rng(0)
CODES = np.array([1, 1, 1, 0, 0, -1, -1, -1, -1])
G = RNG.normal(0, 1.5, (9, 1))
WEIGHT = RNG.random(9) + 0.5
SIGMA = np.where(CODES == 1, 1.6, 0.4) + RNG.random(9) / 10


def risks(name, weight=None):
    loss = MarginLoss(name)
    return {
        "supervised": supervised_risk(CODES, loss, weight),
        "unbiased": pu_risk(CODES, 0.4, loss, weight),
        "non-negative": non_negative_pu_risk(CODES, 0.4, loss, weight),
        "one-sided": one_sided_risk(CODES, SIGMA, loss, weight),
        "both": pu_risk(CODES, 0.4, loss, weight).mixed(
            one_sided_risk(CODES, SIGMA, loss, weight), 0.3
        ),
    }


@pytest.mark.parametrize("name", LOSSES)
def test_slopes_are_differences(name):
    loss, m, h = MarginLoss(name), np.array([-2.3, -0.7, -0.1, 0.2, 0.9, 3.0]), 1e-6
    assert_allclose(loss.slope(m), (loss.value(m + h) - loss.value(m - h)) / (2 * h), atol=1e-8)
    if loss.symmetric:
        assert_allclose(loss.value(m) + loss.value(-m), 1.0)


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("name", LOSSES)
def test_gradients_are_differences(name, weight):
    for risk in risks(name, weight).values():
        slope = risk.value_and_gradient(G)[1]
        assert slope.shape == G.shape
        for i in range(len(G)):
            step = np.zeros_like(G)
            step[i] = 1e-6
            rise = risk.value_and_gradient(G + step)[0] - risk.value_and_gradient(G - step)[0]
            assert_allclose(slope[i, 0], rise / 2e-6, atol=1e-8)


@pytest.mark.parametrize("name", LOSSES)
def test_the_risks_are_their_formulas(name):
    loss, g = MarginLoss(name), G[:, 0]
    p, n, u = (g[code == CODES] for code in (1, 0, -1))
    found = {k: r.value_and_gradient(G)[0] for k, r in risks(name).items()}
    l_plus, l_minus = loss.value(p).mean(), loss.value(-p).mean()
    rest = loss.value(-u).mean() - 0.4 * l_minus
    assert_allclose(found["unbiased"], 0.4 * l_plus + rest)
    assert_allclose(found["non-negative"], 0.4 * l_plus + max(0.0, rest))
    assert_allclose(found["supervised"], (loss.value(p).sum() + loss.value(-n).sum()) / 5)
    sided = (SIGMA[CODES == 1] @ loss.value(p) + SIGMA[CODES == 0] @ loss.value(-n)) / 5
    assert_allclose(found["one-sided"], sided)
    assert_allclose(found["both"], 0.3 * found["unbiased"] + 0.7 * found["one-sided"])


def test_weights_are_copies():
    loss, twice = MarginLoss("logistic"), np.array([0, 1, 1, 2, 3, 4, 5, 5, 6, 7, 8])
    weight = np.bincount(twice).astype(float)
    for name, risk in risks("logistic", weight).items():
        many = {
            "supervised": supervised_risk(CODES[twice], loss),
            "unbiased": pu_risk(CODES[twice], 0.4, loss),
            "non-negative": non_negative_pu_risk(CODES[twice], 0.4, loss),
            "one-sided": one_sided_risk(CODES[twice], SIGMA[twice], loss),
        }.get(name)
        if many is not None:
            assert_allclose(
                risk.value_and_gradient(G)[0], many.value_and_gradient(G[twice])[0], rtol=1e-12
            )


def test_the_step_undoes_a_negative_part():
    loss = MarginLoss("sigmoid")
    codes = np.array([1, 1, -1, -1])
    far = np.array([[-9.0], [-9.0], [-9.0], [-9.0]])  # positives far on the wrong side
    risk = non_negative_pu_risk(codes, 0.5, loss, gamma=0.7)
    value, slope = risk.negative.value_and_gradient(far)
    assert value > 0
    assert_allclose(risk.step(far), risk.positive.step(far) + slope)
    near = np.array([[9.0], [9.0], [-9.0], [-9.0]])
    value, slope = risk.negative.value_and_gradient(near)
    assert value < 0
    assert_allclose(risk.step(near), -0.7 * slope)
    assert_allclose(risk.value_and_gradient(near)[0], risk.positive.value_and_gradient(near)[0])
    lenient = NonNegativeRisk(risk.positive, risk.negative, beta=1.0)
    assert_allclose(lenient.step(near), risk.positive.step(near) + slope)


def test_only_symmetric_losses_are_weights_of_rows():
    up, down = pu_risk(CODES, 0.4, MarginLoss("sigmoid")).weights
    assert_allclose(up[CODES == 1], 0.8 / 3)
    assert_allclose(down[CODES == -1], 1 / 4)
    assert not (up * down).any()
    with pytest.raises(PsephosError, match=r"'logistic' needs rows of negative weight"):
        _ = pu_risk(CODES, 0.4, MarginLoss("logistic")).weights
    assert (one_sided_risk(CODES, SIGMA, MarginLoss("logistic")).weights[0] >= 0).all()


def test_what_is_no_risk_is_refused():
    loss = MarginLoss("ramp")
    with pytest.raises(PsephosError, match="no row is unlabelled"):
        pu_risk(np.array([1, 0, 1]), 0.5, loss)
    with pytest.raises(PsephosError, match="no row is positive"):
        pu_risk(np.array([-1, 0, -1]), 0.5, loss)
    with pytest.raises(PsephosError, match="prior must be a number above 0 and below 1; got 1"):
        pu_risk(CODES, 1.0, loss)
    with pytest.raises(PsephosError, match=r"loss must be one of .*; got 'hinge'"):
        MarginLoss("hinge")
    with pytest.raises(PsephosError, match="must have the same loss; got ramp and sigmoid"):
        supervised_risk(CODES, loss).mixed(supervised_risk(CODES, MarginLoss("sigmoid")), 0.5)
