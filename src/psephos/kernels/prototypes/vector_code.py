"""A writer of vector instructions, for loops the compiler would not turn into vector code."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

__all__ = [
    "COLUMNS",
    "FEW",
    "MANY",
    "ROWS",
    "TURNS",
    "Code",
    "lanes",
    "make_intrinsic",
    "negligible",
]

_features = llvmlite.binding.get_host_cpu_features()
_WIDE = bool(_features.get("avx512f"))
BYTES = 64 if _WIDE else 32 if _features.get("avx") else 16  # of a vector
#: References whose sums are held in registers at once.
ROWS = 12 if _WIDE or "neon" in _features else 6
#: Columns whose sums are held in registers at once, as products and as squares.
MANY, FEW = (ROWS, 6) if ROWS == 12 else (ROWS, 2)
#: References whose exponentials take turns; a divisor of ROWS.
TURNS = 3 if ROWS == 12 else 2
#: Columns are filled up to a multiple of this; what is left of blocks of MANY goes by as many.
COLUMNS = 2
_WORD = ir.IntType(64)
_CONTRACT = ("contract",)


def lanes(dtype: Any) -> int:
    """Candidates in a panel of numbers of this type."""
    return 2 * BYTES // np.dtype(dtype).itemsize


def negligible(dtype: Any) -> float:
    """Exponent from which on 2^-e is taken for 0: against a mass of 1 it is nothing.

    Products of smaller numbers with weights would leave the normal numbers, and processors take
    some hundred times as long over those: an evaluation took up to nine times as long.
    """
    return 90.0 if np.dtype(dtype) == np.float32 else 900.0


def _power_of_two(degree: int) -> list[float]:
    """Coefficients of the polynomial that meets 2^x at Chebyshev's points of [-1/2, 1/2]."""
    cheb = np.polynomial.Chebyshev.interpolate(np.exp2, degree, domain=[-0.5, 0.5])
    return [float(c) for c in cheb.convert(kind=np.polynomial.Polynomial).coef]


class Code:
    """Writes vector instructions for numbers of one type."""

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any) -> None:
        self.b, self.given = builder, []
        for kind, value in zip(signature.args, args, strict=True):
            if isinstance(kind, types.Array):
                self.given.append(context.make_array(kind)(context, builder, value=value).data)
                self.dtype = np.dtype(str(kind.dtype))
            else:
                self.given.append(value)
        single = self.dtype == np.float32
        self.single = single
        self.kind = ir.FloatType() if single else ir.DoubleType()
        self.bits = ir.IntType(32 if single else 64)
        self.length = BYTES // self.dtype.itemsize
        self.vector = ir.VectorType(self.kind, self.length)
        self.whole = ir.VectorType(self.bits, self.length)

    def place(self, base: Any, *offsets: Any) -> Any:
        """Add offsets, in numbers, to a pointer."""
        for offset in offsets:
            at = ir.Constant(_WORD, offset) if isinstance(offset, int) else offset
            base = self.b.gep(base, [at])
        return base

    def times(self, a: Any, b: int) -> Any:
        """Multiply places in an array."""
        return self.b.mul(a, ir.Constant(_WORD, b))

    def load_one(self, base: Any, *offsets: Any) -> Any:
        """Load a vector."""
        pointer = self.b.bitcast(self.place(base, *offsets), self.vector.as_pointer())
        return self.b.load(pointer, align=self.dtype.itemsize)

    def load(self, base: Any, *offsets: Any) -> list[Any]:
        """Load two vectors side by side."""
        return [self.load_one(base, *offsets, h) for h in (0, self.length)]

    def store_one(self, value: Any, base: Any, *offsets: Any) -> None:
        """Store a vector."""
        pointer = self.b.bitcast(self.place(base, *offsets), self.vector.as_pointer())
        self.b.store(value, pointer, align=self.dtype.itemsize)

    def store(self, pair: Sequence[Any], base: Any, *offsets: Any) -> None:
        """Store two vectors side by side."""
        for value, h in zip(pair, (0, self.length), strict=True):
            self.store_one(value, base, *offsets, h)

    def spread(self, base: Any, *offsets: Any) -> Any:
        """One number in every lane."""
        one = self.b.load(self.place(base, *offsets))
        first = self.b.insert_element(
            ir.Constant(self.vector, ir.Undefined), one, ir.Constant(ir.IntType(32), 0)
        )
        none = ir.Constant(ir.VectorType(ir.IntType(32), self.length), [0] * self.length)
        return self.b.shuffle_vector(first, ir.Constant(self.vector, ir.Undefined), none)

    def sums_of(self, vectors: Sequence[Any]) -> Any:
        """Add up the lanes of each of as many vectors as one has lanes, half to half."""
        part, some = self.length, list(vectors)
        while part > 1:
            part //= 2
            lanes = range(2 * self.length)
            halves = [
                ir.Constant(
                    ir.VectorType(ir.IntType(32), self.length),
                    [i for i in lanes if i // part % 2 == half],
                )
                for half in (0, 1)
            ]
            pairs = zip(some[::2], some[1::2], strict=True)
            some = [
                self.b.fadd(*(self.b.shuffle_vector(*pair, h) for h in halves)) for pair in pairs
            ]
        return some[0]

    def number(self, value: float) -> Any:
        """Put a constant in every lane."""
        return ir.Constant(self.vector, [value] * self.length)

    def sub(self, a: Any, b: Any) -> Any:
        """Subtract."""
        return self.b.fsub(a, b, flags=_CONTRACT)

    def add(self, a: Any, b: Any) -> Any:
        """Add; with a product it may become one instruction."""
        return self.b.fadd(a, b, flags=_CONTRACT)

    def mul(self, a: Any, b: Any) -> Any:
        """Multiply."""
        return self.b.fmul(a, b, flags=_CONTRACT)

    def loop(
        self, count: Any, carried: Sequence[Any], body: Callable[[Any, list[Any]], list[Any]]
    ) -> list[Any]:
        """``for i in range(count): carried = body(i, carried)``, carried in registers."""
        b, before = self.b, self.b.block
        head = b.append_basic_block("head")
        inside = b.append_basic_block("inside")
        after = b.append_basic_block("after")
        b.branch(head)
        b.position_at_end(head)
        i = b.phi(_WORD)
        i.add_incoming(ir.Constant(_WORD, 0), before)
        phis = [b.phi(value.type) for value in carried]
        for phi, value in zip(phis, carried, strict=True):
            phi.add_incoming(value, before)
        b.cbranch(b.icmp_signed("<", i, count), inside, after)
        b.position_at_end(inside)
        news = body(i, list(phis))
        i.add_incoming(b.add(i, ir.Constant(_WORD, 1)), b.block)
        for phi, value in zip(phis, news, strict=True):
            phi.add_incoming(value, b.block)
        b.branch(head)
        b.position_at_end(after)
        return list(phis)

    def exp2_minus(self, e: Any) -> Any:
        """``2^-e`` for e >= 0 (below is taken for 0); 0 where e exceeds `negligible`."""
        b = self.b
        e = b.select(b.fcmp_ordered(">", e, self.number(0.0)), e, self.number(0.0))
        beyond = b.fcmp_ordered(">", e, self.number(negligible(self.dtype)))
        return b.select(beyond, self.number(0.0), self.powers([e], 6 if self.single else 11)[0])

    def exp2_minus_short(self, exponents: Sequence[Any]) -> list[Any]:
        """``2^-e`` with fewer operations; where e exceeds `negligible`, as if it were that."""
        most = self.number(negligible(self.dtype))
        less = [self.b.select(self.b.fcmp_ordered("<", e, most), e, most) for e in exponents]
        return self.powers(less, 6 if self.single else 10)

    def powers(self, exponents: Sequence[Any], degree: int) -> list[Any]:
        """``2^-e`` for e from just below 0 to `negligible`, of some vectors at once.

        ``-e = k + r``, k whole and ``|r| <= 1/2``; ``2^r`` by a polynomial (relative error below
        1e-9 for degree 6, 2e-16 for 10 and 1e-17 for 11, before rounding), k added to the
        exponent's bits. Each step waits for the last: vectors take turns, so that none is waited
        for.
        """
        b = self.b
        magic = self.number(1.5 * 2.0 ** (23 if self.single else 52))  # what is added is rounded
        shifted = [b.fsub(magic, e) for e in exponents]
        whole = [b.fsub(magic, s) for s in shifted]
        rests = [b.fsub(w, e) for w, e in zip(whole, exponents, strict=True)]
        coefficients = [self.number(c) for c in _power_of_two(degree)]
        powers = [coefficients[-1]] * len(rests)
        for c in reversed(coefficients[:-1]):
            powers = [self.add(self.mul(p, r), c) for p, r in zip(powers, rests, strict=True)]
        shift = ir.Constant(self.whole, [23 if self.single else 52] * self.length)
        by = [b.shl(b.bitcast(s, self.whole), shift) for s in shifted]
        bits = [b.add(b.bitcast(p, self.whole), k) for p, k in zip(powers, by, strict=True)]
        return [b.bitcast(p, self.vector) for p in bits]


def make_intrinsic(write: Callable[..., None]) -> Any:
    """Make of a writer of code a function that kernels can call; it returns nothing."""

    def typed(typingctx, *args):
        def code(context, builder, signature, values):
            writer = Code(context, builder, signature, values)
            write(writer, *writer.given)
            return context.get_dummy_value()

        return types.void(*(types.int64 if isinstance(a, types.Integer) else a for a in args)), code

    names = list(inspect.signature(write).parameters)[1:]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(name, kind) for name in ("typingctx", *names)]
    given: Any = typed
    given.__signature__ = inspect.Signature(parameters)  # Numba asks for arguments one by one
    return intrinsic(given)
