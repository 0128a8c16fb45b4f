"""A float64 power that the compiler can turn into vector code."""

import math
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from psephos.kernels._jit import jit

__all__ = ["power", "to_bits", "to_float"]


def _bits_of(typingctx, x):
    def code(context, builder, signature, args):
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), code


def _float_of(typingctx, b):
    def code(context, builder, signature, args):
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), code


#: The bit pattern of a float64 as an int64, and back.
to_bits: Any = intrinsic(_bits_of)
to_float: Any = intrinsic(_float_of)
if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
    to_bits = lambda x: np.float64(x).view(np.int64)  # noqa: E731
    to_float = lambda b: np.int64(b).view(np.float64)  # noqa: E731

_SQRT_HALF_BITS = int(np.float64(math.sqrt(0.5)).view(np.int64))
_TWO_BY_LN2 = 2.0 / math.log(2.0)
_LN2 = math.log(2.0)


@jit(fastmath={"contract"})
def _log2(x):
    """Logarithm to base 2 of a normal positive number.

    ``x = 2^e m`` with m near 1; ``log m = 2 artanh(s)`` with ``s = (m - 1) / (m + 1)``, whose
    series ends here at ``s^21`` (remainder below 1e-17, as ``|s| < 0.172``).
    """
    bits = to_bits(x)
    e = (bits - _SQRT_HALF_BITS) >> 52
    m = to_float(bits - (e << 52))
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = 1.0 / 21.0
    p = p * z + 1.0 / 19.0
    p = p * z + 1.0 / 17.0
    p = p * z + 1.0 / 15.0
    p = p * z + 1.0 / 13.0
    p = p * z + 1.0 / 11.0
    p = p * z + 1.0 / 9.0
    p = p * z + 1.0 / 7.0
    p = p * z + 1.0 / 5.0
    p = p * z + 1.0 / 3.0
    p = p * z + 1.0
    return e + _TWO_BY_LN2 * s * p


@jit(fastmath={"contract"})
def _exp2(y):
    """Two to the power of y, y held within -1022 and 1023 (Taylor to degree 13)."""
    y = min(max(y, -1022.0), 1023.0)
    n = np.floor(y + 0.5)
    f = (y - n) * _LN2
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
    return p * to_float((np.int64(n) + 1023) << 52)


@jit(fastmath={"contract"})
def power(x, exponent, out):
    """``out = x ** exponent`` for zeros and normal positive numbers; exponent > 0, out is not x.

    Multiples of one half up to 8 are products and one square root. Otherwise relative error
    about ``1e-16 (1 + |exponent log2 x|)``; results are held within 2^-1022 and 2^1023.
    """
    n = x.shape[0]
    twice = 2.0 * exponent
    if twice == 3.0:
        for i in range(n):
            out[i] = x[i] * np.sqrt(x[i])
    elif twice == np.floor(twice) and 1.0 <= twice <= 16.0:
        times = int(twice) // 2
        for i in range(n):
            out[i] = np.sqrt(x[i]) if int(twice) % 2 == 1 else 1.0
        for _ in range(times):
            for i in range(n):
                out[i] *= x[i]
    else:
        for i in range(n):
            out[i] = 0.0 if x[i] == 0.0 else _exp2(exponent * _log2(x[i]))
