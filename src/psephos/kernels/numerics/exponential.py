"""A float64 exponential that the compiler can vectorise."""

import math

from psephos.kernels.numerics.powers import to_bits, to_float
from psephos.runtime.jit import jit

_LOG2E = 1.0 / math.log(2.0)
_LN2_HIGH = 0.693145751953125  # its product with an integer below 2^20 is exact
_LN2_LOW = 1.4286068203094173e-06
_ROUND = 6755399441055744.0  # 1.5 2^52: numbers added to it are rounded to integers


@jit(fastmath={"contract"})
def exp(x):
    """Return e to the power of x, with x clipped to -708 ... 709; relative error below 1e-15.

    ``x = k log 2 + f`` with k an integer and ``|f| <= log(2) / 2``; ``e^f`` is its Taylor sum to
    degree 13 (remainder below 1e-17).
    """
    x = -708.0 if x < -708.0 else x
    x = 709.0 if x > 709.0 else x
    shifted = x * _LOG2E + _ROUND
    k = shifted - _ROUND
    f = (x - k * _LN2_HIGH) - k * _LN2_LOW
    p = 1.0 / 6227020800.0
    p = p * f + 1.0 / 479001600.0
    p = p * f + 1.0 / 39916800.0
    p = p * f + 1.0 / 3628800.0
    p = p * f + 1.0 / 362880.0
    p = p * f + 1.0 / 40320.0
    p = p * f + 1.0 / 5040.0
    p = p * f + 1.0 / 720.0
    p = p * f + 1.0 / 120.0
    p = p * f + 1.0 / 24.0
    p = p * f + 1.0 / 6.0
    p = p * f + 0.5
    p = p * f + 1.0
    p = p * f + 1.0
    return p * to_float((to_bits(shifted) << 52) + 0x3FF0000000000000)
