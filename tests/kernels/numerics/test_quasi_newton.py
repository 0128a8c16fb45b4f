import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from psephos.kernels.numerics.quasi_newton import steepest, two_loops


def direction(steps, changes, z, gradient, least=1e-12, first=0):
    d = np.empty_like(z)
    room = np.empty_like(z), np.empty((2, len(steps)))
    used = two_loops(steps, changes, first, len(steps), z, gradient, least, *room, d)
    return d, used


def inverse(steps, changes):
    """The matrix H of BFGS from a multiple of the identity, oldest pair first."""
    H = np.eye(steps.shape[1]) * (steps[-1] @ changes[-1]) / (changes[-1] @ changes[-1])
    for s, y in zip(steps, changes, strict=True):
        V = np.eye(len(s)) - np.outer(y, s) / (s @ y)
        H = V.T @ H @ V + np.outer(s, s) / (s @ y)
    return H


def test_it_is_bfgs_on_the_free_parameters(random_seed):
    rng = np.random.default_rng(random_seed)
    for size, n in ((3, 1), (8, 3), (40, 10)):
        A = rng.normal(size=(size, size))
        A = A @ A.T + np.eye(size)
        steps = rng.normal(size=(n, size))
        changes = steps @ A
        z, gradient = np.abs(rng.normal(size=size)), rng.normal(size=size)
        z[: size // 2] = 0.0
        free = (z > 0) | (gradient < 0)
        kept = np.einsum("ij,ij->i", steps[:, free], changes[:, free]) > 1e-9
        found, used = direction(steps, changes, z, gradient)
        assert_array_equal(found[~free], 0.0)
        if not kept.any():
            assert not used
            continue
        H = inverse(steps[kept][:, free], changes[kept][:, free])
        assert_allclose(found[free], -H @ gradient[free], rtol=1e-8, atol=1e-10)
        assert used
        turned = np.roll(steps, 2, axis=0), np.roll(changes, 2, axis=0)
        again, _ = direction(*turned, z, gradient, first=2 % n)
        assert_array_equal(again, found)


def test_the_steepest_entry_is_that_of_the_projected_gradient(random_seed):
    rng = np.random.default_rng(random_seed)
    for size in (0, 1, 40):
        z, gradient = np.maximum(rng.normal(size=size), 0.0), 3.0 * rng.normal(size=size)
        expected = np.abs(z - np.maximum(z - gradient, 0.0)).max(initial=0.0)
        assert steepest(z, gradient) == expected
    gradient[7] = np.nan
    assert np.isnan(steepest(z, gradient))
    assert steepest(np.zeros(3), np.ones(3)) == 0.0


def test_without_a_use_for_the_memory_it_is_the_gradient():
    z, gradient = np.array([0.0, 1.0, 0.0]), np.array([2.0, 3.0, -1.0])
    step = np.array([[1.0, 1.0, 1.0]])
    for change in (-step, np.zeros((1, 3))):
        found, used = direction(step, change, z, gradient)
        assert not used
        assert_array_equal(found, [0.0, -3.0, 1.0])
