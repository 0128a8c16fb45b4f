import numba
import numpy as np
from numpy.testing import assert_allclose

from psephos.kernels.numerics.powers import exp


@numba.njit
def _all(x, out):
    for i in range(x.shape[0]):
        out[i] = exp(x[i])


def test_exponential():
    x = np.concatenate([np.linspace(-707, 708, 401), np.linspace(-1e-3, 1e-3, 21), [0.0]])
    out = np.empty_like(x)
    _all(x, out)
    assert_allclose(out, np.exp(x), rtol=1e-15)
    edges = np.array([-np.inf, -1e9, 1e9, np.inf])
    out = np.empty_like(edges)
    _all(edges, out)
    assert_allclose(out, np.exp([-708.0, -708.0, 709.0, 709.0]), rtol=1e-12)
