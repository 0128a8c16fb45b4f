"""Eight running sums side by side: the two inner loops of the stump screens.

LLVM does not merge eight scalar chains with table look-ups into vector code by itself (numba
leaves that pass out), which costs a factor of two; so these loops are written as vectors. With
the JIT off the same functions are NumPy.

The order is read once, in a straight line, yet a quarter of the time went by waiting for it where
it does not fit the second-level cache, and three quarters on a busy machine: so every four
rows ask for memory that is due some 256 rows later.
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["lane_extremes", "lane_gini"]

_L = 8
_I32, _I64, _F32 = ir.IntType(32), ir.IntType(64), ir.FloatType()
_STEP = 4  # rows worked on between two calls for memory
_AHEAD = 4096  # bytes from the row at work to the row asked for
_LINE = 64  # bytes that memory hands over at a time


def _data(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return context.make_array(kind)(context, builder, value=value).data


def _splat(value: ir.Constant) -> ir.Constant:
    return ir.Constant(ir.VectorType(value.type, _L), [value] * _L)


def _each_row(builder: Any, rows: Any, n: Any, work: Callable[[Any], None]) -> None:
    """Loop over the n rows of a block, memory asked for ahead: ``work`` gets a row's address."""
    byte = ir.IntType(8).as_pointer()
    shape = ir.FunctionType(ir.VoidType(), [byte, _I32, _I32, _I32])
    prefetch = cgutils.get_or_insert_function(builder.module, shape, "llvm.prefetch.p0i8")
    read, keep, data = (ir.Constant(_I32, v) for v in (0, 1, 1))

    def row(k: Any) -> Any:
        return builder.gep(rows, [builder.mul(k, ir.Constant(_I64, _L))])

    steps = builder.sdiv(n, ir.Constant(_I64, _STEP))
    done = builder.mul(steps, ir.Constant(_I64, _STEP))
    with cgutils.for_range(builder, steps, intp=_I64) as loop:
        first = builder.mul(loop.index, ir.Constant(_I64, _STEP))
        here = builder.bitcast(row(first), byte)
        for line in range(0, _STEP * _L * rows.type.pointee.width // 8, _LINE):
            ahead = builder.gep(here, [ir.Constant(_I64, _AHEAD + line)])
            builder.call(prefetch, [ahead, read, keep, data])
        for k in range(_STEP):
            work(row(builder.add(first, ir.Constant(_I64, k))))
    with cgutils.for_range(builder, builder.sub(n, done), intp=_I64) as loop:
        work(row(builder.add(done, loop.index)))


def _gather(builder: Any, rows: Any, table: Any, item: Any, flagged: bool) -> tuple[Any, Any]:
    """Read eight entries of the order, then the table at each: (table values, entries)."""
    width = rows.type.pointee.width
    entries = builder.load(
        builder.bitcast(rows, ir.VectorType(ir.IntType(width), _L).as_pointer()),
        align=width // 8,
    )
    keep = 2 ** (width - 1) - 1 if flagged else 2**width - 1
    values = ir.Constant(ir.VectorType(item, _L), ir.Undefined)
    word: Any = None
    per_word = 64 // width
    words = builder.bitcast(rows, _I64.as_pointer())
    for lane in range(_L):
        # One 64-bit load serves several lanes: loads, not arithmetic, are the bottleneck.
        if lane % per_word == 0:
            word = builder.load(
                builder.gep(words, [ir.Constant(_I64, lane // per_word)]), align=width // 8
            )
        at = builder.lshr(word, ir.Constant(_I64, width * (lane % per_word)))
        at = builder.and_(at, ir.Constant(_I64, keep))
        value = builder.load(builder.gep(table, [at]))
        values = builder.insert_element(values, value, ir.Constant(_I32, lane))
    return values, entries


def _flagged(builder: Any, entries: Any) -> Any:
    """Top bit of each entry: a threshold may lie behind it."""
    zero = ir.Constant(entries.type.element, 0)
    return builder.icmp_signed("<", entries, _splat(zero))


def _extremes_code(flagged: bool) -> Any:
    def code(context, builder, signature, args):
        order, base, n, table, out = args
        rows = builder.gep(_data(context, builder, signature.args[0], order), [base])
        sums = _data(context, builder, signature.args[3], table)
        vector = ir.VectorType(_I32, _L)
        low, high = -(2**31) + 1, 2**31 - 1
        running = cgutils.alloca_once_value(builder, _splat(ir.Constant(_I32, 0)))
        top = cgutils.alloca_once_value(builder, _splat(ir.Constant(_I32, low)))
        bottom = cgutils.alloca_once_value(builder, _splat(ir.Constant(_I32, high)))

        def work(at: Any) -> None:
            step, entries = _gather(builder, at, sums, _I32, flagged)
            s = builder.add(builder.load(running), step)
            builder.store(s, running)
            for store, sign in ((top, ">"), (bottom, "<")):
                old = builder.load(store)
                better = builder.icmp_signed(sign, s, old)
                if flagged:
                    better = builder.and_(better, _flagged(builder, entries))
                builder.store(builder.select(better, s, old), store)

        _each_row(builder, rows, n, work)
        target = _data(context, builder, signature.args[4], out)
        for r, store in enumerate((running, top, bottom)):
            place = builder.gep(target, [ir.Constant(_I64, r * _L)])
            builder.store(builder.load(store), builder.bitcast(place, vector.as_pointer()), align=4)
        return context.get_dummy_value()

    return code


def _gini_code(flagged: bool) -> Any:
    def code(context, builder, signature, args):
        order, base, n, table, total_d, total_w, out = args
        rows = builder.gep(_data(context, builder, signature.args[0], order), [base])
        sums = _data(context, builder, signature.args[3], table)
        ints, floats = ir.VectorType(_I32, _L), ir.VectorType(_F32, _L)
        running = cgutils.alloca_once_value(builder, _splat(ir.Constant(_I64, 0)))
        best = cgutils.alloca_once_value(builder, _splat(ir.Constant(_F32, -1.0)))

        def spread(value: Any) -> Any:
            whole = ir.Constant(ints, ir.Undefined)
            for lane in range(_L):
                whole = builder.insert_element(whole, value, ir.Constant(_I32, lane))
            return whole

        all_d, all_w = spread(total_d), spread(total_w)
        one = _splat(ir.Constant(_I32, 1))

        def work(at: Any) -> None:
            step, entries = _gather(builder, at, sums, _I64, flagged)
            s = builder.add(builder.load(running), step)
            builder.store(s, running)
            d = builder.trunc(s, ints)
            w = builder.trunc(builder.lshr(s, _splat(ir.Constant(_I64, 32))), ints)

            def real(v: Any) -> Any:
                return builder.sitofp(v, floats)

            def positive(v: Any) -> Any:
                return real(builder.select(builder.icmp_signed(">", v, one), v, one))

            dl, dr = real(d), real(builder.sub(all_d, d))
            wl, wr = positive(w), positive(builder.sub(all_w, w))
            above = builder.fadd(
                builder.fmul(builder.fmul(dl, dl), wr), builder.fmul(builder.fmul(dr, dr), wl)
            )
            value = builder.fdiv(above, builder.fmul(wl, wr))
            old = builder.load(best)
            better = builder.fcmp_ordered(">", value, old)
            if flagged:
                better = builder.and_(better, _flagged(builder, entries))
            builder.store(builder.select(better, value, old), best)

        _each_row(builder, rows, n, work)
        target = _data(context, builder, signature.args[6], out)
        builder.store(builder.load(best), builder.bitcast(target, floats.as_pointer()), align=4)
        return context.get_dummy_value()

    return code


def _extremes(flagged: bool) -> Any:
    @intrinsic
    def loop(typingctx, order, base, n, table, out):
        signature = types.void(order, types.int64, types.int64, table, out)
        return signature, _extremes_code(flagged)

    return loop


def _ginis(flagged: bool) -> Any:
    @intrinsic
    def loop(typingctx, order, base, n, table, total_d, total_w, out):
        signature = types.void(
            order, types.int64, types.int64, table, types.int32, types.int32, out
        )
        return signature, _gini_code(flagged)

    return loop


def _prefixes(order: Any, base: int, n: int, table: Any, flagged: bool) -> tuple[Any, Any]:
    """Slow twin of the running sums: (sums (n, 8), where a threshold may lie)."""
    entries = order.reshape(-1)[base : base + n * _L].reshape(n, _L)
    flag = order.dtype.type(1 << (8 * order.itemsize - 1))
    where = (entries & flag) != 0 if flagged else np.ones(entries.shape, np.bool_)
    return table[entries & (flag - 1)].cumsum(axis=0, dtype=np.int64), where


def _plain_extremes(flagged: bool) -> Any:
    def loop(order, base, n, table, out):
        sums, where = _prefixes(order, base, n, table, flagged)
        out[0] = sums[-1] if n else 0
        out[1] = np.max(sums, axis=0, where=where, initial=-(2**31) + 1)
        out[2] = np.min(sums, axis=0, where=where, initial=2**31 - 1)

    return loop


def _plain_ginis(flagged: bool) -> Any:
    def loop(order, base, n, table, total_d, total_w, out):
        sums, where = _prefixes(order, base, n, table, flagged)
        d = sums.astype(np.int32)
        w = sums >> 32
        wl, wr = np.maximum(w, 1), np.maximum(total_w - w, 1)
        value = d.astype(float) ** 2 / wl + (float(total_d) - d) ** 2 / wr
        out[:] = np.max(value, axis=0, where=where, initial=-1.0)

    return loop


_extremes_of, _gini_of = (
    (_plain_extremes, _plain_ginis)
    if numba.config.DISABLE_JIT  # type: ignore[attr-defined]
    else (_extremes, _ginis)
)

#: (order, base, n, table, out): last sum, greatest and least admissible sum, into out (3, 8).
lane_extremes = _extremes_of(False)
lane_extremes_flagged = _extremes_of(True)
#: (order, base, n, table, D, W, out): greatest ``d^2 / w`` of left plus right, into out (8,).
lane_gini = _gini_of(False)
lane_gini_flagged = _gini_of(True)
