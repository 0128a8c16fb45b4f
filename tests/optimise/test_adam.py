import numpy as np
import pytest
from numpy.testing import assert_allclose

from psephos import PsephosError
from psephos.optimise.adam import Adam
from psephos.optimise.arrays import like, namespace, on_host


def written_out(x, gradients, rate, decay):
    """Algorithm 1 of Kingma & Ba, a number at a time."""
    m = v = 0.0
    for t, g in enumerate(gradients, start=1):
        g = g + decay * x
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g * g
        x -= rate * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return x


@pytest.mark.parametrize("decay", [0.0, 0.3])
def test_steps_are_those_of_the_source(decay):
    gradients = np.random.default_rng(0).standard_normal((20, 4))
    x = np.linspace(-1, 1, 4)
    expected = [written_out(x[j], gradients[:, j], 0.05, decay) for j in range(4)]
    adam = Adam([x], 0.05, weight_decay=decay)
    for g in gradients:
        adam.step([g])
    assert_allclose(x, expected, rtol=1e-12)


def test_shared_steps_have_one_size_that_a_sudden_gradient_does_not_outgrow():
    x = np.zeros((2, 3))
    adam = Adam([x], 0.1, shared=[True])
    small = np.full((2, 3), 1e-3)
    for _ in range(50):
        adam.step([small])
    before = x.copy()
    large = np.zeros((2, 3))
    large[:, 1] = [3.0, 4.0]
    adam.step([large])
    u = np.sqrt(12.5)
    assert adam.step_size(0) == pytest.approx(0.1 / u, rel=1e-6)
    moved = before - x
    m = 0.9 * (1 - 0.9**50) * small + 0.1 * large
    assert_allclose(moved, 0.1 / (1 - 0.9**51) * m / (u + 1e-8), rtol=1e-10)


def test_a_shared_step_grows_again_as_a_great_gradient_is_forgotten():
    x = np.zeros((2, 3))
    adam = Adam([x], 0.1, shared=[True])
    adam.step([np.full((2, 3), 5.0)])
    for t in range(1, 200):
        adam.step([np.full((2, 3), 1e-3)])
        assert adam.step_size(0) == pytest.approx(0.1 / (5.0 * 0.999**t), rel=1e-6)


def test_arrays_of_no_known_library_are_refused():
    with pytest.raises(PsephosError, match=r"arrays must be of NumPy.*; got list"):
        namespace([1.0])
    assert namespace(np.zeros(1)) is np
    assert on_host(like([1, 2], np.zeros(1, np.float32))).dtype == np.float32
