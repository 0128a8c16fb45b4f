"""Powers and the exponential in float64, as loops that the compiler vectorises.

Divisions and square roots of the processor, which would be the bottleneck of roots and reciprocals,
are replaced by a first guess from the bit pattern, within 5 %, a step of fourth order and one of
third.
"""

import math

import numpy as np

from psephos.runtime.jit import jit


@jit(inline="always")
def to_bits(x):
    """Return the bit pattern of a float64 as an int64."""
    return np.float64(x).view(np.int64)


@jit(inline="always")
def to_float(b):
    """Return the float64 of a bit pattern."""
    return np.int64(b).view(np.float64)


_SQRT_HALF_BITS = 0x3FE6A09E667F3BCD
_WHOLE = 6755399441055744.0  # 1.5 * 2^52: numbers added to it are rounded to integers


@jit(fastmath={"contract"})
def root(u):
    """Return the square root of a number that is zero or normal and below 1e300."""
    y = to_float(0x5FE6EB50C7B537A9 - (to_bits(u) >> 1))  # about 1 / sqrt(u)
    e = 1.0 - (u * y) * y
    y = y + (y * e) * (0.5 + e * (0.375 + e * 0.3125))
    h = u * y
    e = 1.0 - h * y
    return h + (h * e) * (0.5 + e * 0.375)


@jit(fastmath={"contract"})
def _one_by(d):
    """Return the reciprocal of d, from 1e-300 to 1e300: ``y / (1 - e)``, ``e = 1 - d y``."""
    y = to_float(0x7FDE623822FC16E6 - to_bits(d))
    e = 1.0 - d * y
    y = y + y * e
    y = y + y * (e * e)
    e = 1.0 - d * y
    return y + y * (e + e * e)


@jit(fastmath={"contract"})
def inverse_power(u, factor, b, base):
    """Replace ``u``, zeros or normal numbers, by ``1 / (base + (factor u)^(b / 2))``.

    ``factor u`` must be normal or zero, b > 0, and the sum between 1e-300 and 1e300; otherwise the
    result is below 1e-290, above 1e290 or not a number. Integers b up to 15 are computed by
    products and a square root. Otherwise ``x^c = 2^(c log2 x)``, ``x = 2^e m`` with m near
    1, ``log2 m = s p(s^2)`` with ``s = (m - 1) / (m + 1)``, and ``2^y = 2^n q(y - n)``: p and q
    interpolate at Chebyshev's points, to 2e-16 and 3e-16 of their values. Relative error about
    ``1e-16 (4 + |c log2 x|)``.
    """
    n = u.shape[0]
    if b == np.floor(b) and b < 16.0:
        whole = int(b)
        odd, by_1, by_2, by_4 = whole & 1, whole & 2, whole & 4, whole & 8
        for i in range(n):
            x = u[i] * factor
            square = x * x if whole > 3 else x  # it may overflow where it is not needed
            p = x if by_1 else 1.0
            p = p * square if by_2 else p
            p = p * (square * square) if by_4 else p
            p = p * root(x) if odd else p
            u[i] = _one_by(base + p)
        return
    half = 0.5 * b
    for i in range(n):
        x = u[i] * factor
        bits = to_bits(x)
        e = (bits - _SQRT_HALF_BITS) >> 52
        m = to_float(bits - (e << 52))
        s = (m - 1.0) / (m + 1.0)
        z = s * s
        # independent powers: long chains of dependent operations are slow
        zz = z * z
        low = (2.885390081777927 + z * 0.9617966939243345) + zz * (
            0.5770780172463286 + z * 0.4121984020482752
        )
        high = (0.32061638813224547 + z * 0.2614442493522915) + zz * 0.2429160853987535
        p = low + (zz * zz) * high
        y = half * ((to_float(e + 0x4338000000000000) - _WHOLE) + s * p)
        y = -1022.0 if y < -1022.0 else y
        y = 1023.0 if y > 1023.0 else y
        t = y + _WHOLE
        f = y - (t - _WHOLE)
        ff = f * f
        low = (1.0 + f * 0.69314718055995) + ff * (0.24022650695910097 + f * 0.05550410866444772)
        mid = (0.009618129107606888 + f * 0.0013333558230164974) + ff * (
            0.0001540353044173605 + f * 1.5252657260200837e-05
        )
        high = (1.321544258792169e-06 + f * 1.0208690299958306e-07) + ff * 7.072585949269223e-09
        f4 = ff * ff
        q = low + f4 * (mid + f4 * high)
        power = q * to_float((to_bits(t) + 1023) << 52)
        u[i] = _one_by(base + (power if x > 0.0 else 0.0))


_LOG2E = 1.0 / math.log(2.0)
_LN2_HIGH = 0.693145751953125  # its product with an integer below 2^20 is exact
_LN2_LOW = 1.4286068203094173e-06


@jit(fastmath={"contract"})
def exp(x):
    """Return e to the power of x, with x clipped to -708 ... 709; relative error below 1e-15.

    ``x = k log 2 + f`` with k an integer and ``|f| <= log(2) / 2``; ``e^f`` is its Taylor sum to
    degree 13 (remainder below 1e-17).
    """
    x = -708.0 if x < -708.0 else x
    x = 709.0 if x > 709.0 else x
    shifted = x * _LOG2E + _WHOLE
    k = shifted - _WHOLE
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
