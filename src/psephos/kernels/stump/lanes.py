"""Eight running sums side by side: the two inner loops of the stump screens.

LLVM does not merge eight scalar chains with table look-ups into vector code by itself (numba
leaves that pass out), which costs a factor of two; so these loops are written as vectors. With
the JIT off the same functions are NumPy.

The order is read once, in a straight line, yet a quarter of the time went by waiting for it where
it does not fit the second-level cache, and three quarters on a busy machine: so entries take few
bits, and every few rows ask for memory that is due some 4 KB later. What is left is the time of
the look-ups.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic

__all__ = ["LANES", "Packing", "lane_extremes", "lane_gini", "packings"]

LANES = _L = 8
_I8, _I32, _I64, _F32 = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.FloatType()
_STEP = 16  # rows worked on between two calls for memory
_AHEAD = 4096  # bytes from the row at work to the row asked for
_LINE = 64  # bytes that memory hands over at a time
_config: Any = config  # its fields come from the environment


class Bits10(NamedTuple):
    """Entries of 10 bits; a type of its own, so that each width has its own machine code."""

    bits: int = 10


class Bits16(NamedTuple):
    """Entries of 16 bits."""

    bits: int = 16


class Bits32(NamedTuple):
    """Entries of 32 bits."""

    bits: int = 32


Packing = Bits10 | Bits16 | Bits32


def _gathers() -> bool:
    """Whether this processor looks up eight numbers in one instruction, and numba may say so."""
    chosen = _config.CPU_NAME or _config.CPU_FEATURES
    return not chosen and bool(binding.get_host_cpu_features().get("avx2"))


_GATHERS = _gathers()
#: Where look-ups are done one by one, unpacking would take longer than the memory saved. Twelve
#: bits were tried for tables of up to 2,047 rows: no quicker by weighted error, slower by Gini.
packings: tuple[Packing, ...] = (Bits10(), Bits16(), Bits32()) if _GATHERS else (Bits16(), Bits32())


def _data(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return context.make_array(kind)(context, builder, value=value).data


def _splat(value: ir.Constant) -> ir.Constant:
    return ir.Constant(ir.VectorType(value.type, _L), [value] * _L)


def _each_row(builder: Any, rows: Any, bits: int, n: Any, work: Callable[[Any], None]) -> None:
    """Loop over the n rows of a block, memory asked for ahead: ``work`` gets a row's address."""
    shape = ir.FunctionType(ir.VoidType(), [_I8.as_pointer(), _I32, _I32, _I32])
    prefetch = cgutils.get_or_insert_function(builder.module, shape, "llvm.prefetch.p0i8")
    read, keep, data = (ir.Constant(_I32, v) for v in (0, 1, 1))

    def row(k: Any) -> Any:
        return builder.gep(rows, [builder.mul(k, ir.Constant(_I64, bits))])  # 8 lanes: bits bytes

    steps = builder.sdiv(n, ir.Constant(_I64, _STEP))
    done = builder.mul(steps, ir.Constant(_I64, _STEP))
    with cgutils.for_range(builder, steps, intp=_I64) as loop:
        first = builder.mul(loop.index, ir.Constant(_I64, _STEP))
        here = row(first)
        for line in range(0, _STEP * bits, _LINE):
            ahead = builder.gep(here, [ir.Constant(_I64, _AHEAD + line)])
            builder.call(prefetch, [ahead, read, keep, data])
        for k in range(_STEP):
            work(row(builder.add(first, ir.Constant(_I64, k))))
    with cgutils.for_range(builder, builder.sub(n, done), intp=_I64) as loop:
        work(row(builder.add(done, loop.index)))


def _entries(builder: Any, row: Any, bits: int) -> Any:
    """Unpack the eight entries of a row: bytes to where they belong, then a shift of each lane."""
    quarter, whole = ir.VectorType(_I8, 16), ir.VectorType(_I32, _L)
    halves: list[Any] = []
    source: list[int] = []
    shifts: list[int] = []
    for half in range(2):  # each half lies within 16 bytes
        first = half * _L // 2 * bits // 8
        at = builder.gep(row, [ir.Constant(_I64, first)])
        halves.append(builder.load(builder.bitcast(at, quarter.as_pointer()), align=1))
        for lane in range(half * _L // 2, (half + 1) * _L // 2):
            byte, shift = divmod(lane * bits, 8)
            used = range((shift + bits + 7) // 8)
            source += [byte - first + b + 16 * half if b in used else 32 for b in range(4)]
            shifts.append(shift)
    order = ir.Constant(ir.VectorType(_I32, 32), list(range(32)))
    both = builder.shuffle_vector(*halves, order)
    zero = ir.Constant(ir.VectorType(_I8, 32), [0] * 32)
    spread = ir.Constant(ir.VectorType(_I32, 32), source)
    lanes = builder.bitcast(builder.shuffle_vector(both, zero, spread), whole)
    return builder.and_(
        builder.lshr(lanes, ir.Constant(whole, shifts)), _splat(ir.Constant(_I32, 2**bits - 1))
    )


def _looked_up(builder: Any, table: Any, at: Any) -> Any:
    """Eight numbers of a table, by the processor's own instruction."""
    numbers, byte = ir.VectorType(_I32, _L), _I8.as_pointer()
    kind = ir.FunctionType(numbers, [numbers, byte, numbers, numbers, _I8])
    gather = cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.avx2.gather.d.d.256")
    none, every = (_splat(ir.Constant(_I32, v)) for v in (0, -1))
    base = builder.bitcast(table, byte)
    return builder.call(gather, [none, base, at, every, ir.Constant(_I8, 4)])


def _looked_up_singly(builder: Any, table: Any, row: Any, bits: int, keep: int) -> Any:
    """Eight numbers of a table, one by one, at entries of 16 or 32 bits."""
    values = ir.Constant(ir.VectorType(_I32, _L), ir.Undefined)
    word: Any = None
    per_word = 64 // bits
    words = builder.bitcast(row, _I64.as_pointer())
    for lane in range(_L):
        # One 64-bit load serves several lanes: loads, not arithmetic, are the bottleneck.
        if lane % per_word == 0:
            place = builder.gep(words, [ir.Constant(_I64, lane // per_word)])
            word = builder.load(place, align=1)
        at = builder.lshr(word, ir.Constant(_I64, bits * (lane % per_word)))
        value = builder.load(builder.gep(table, [builder.and_(at, ir.Constant(_I64, keep))]))
        values = builder.insert_element(values, value, ir.Constant(_I32, lane))
    return values


def _gather(builder: Any, row: Any, bits: int, table: Any, flagged: bool) -> tuple[Any, Any]:
    """Read eight entries of the order, then the table at each: (numbers, lanes flagged)."""
    keep = 2 ** (bits - 1) - 1 if flagged else 2**bits - 1
    entries = _entries(builder, row, bits)
    marked = None
    if flagged:
        marked = builder.icmp_unsigned(">", entries, _splat(ir.Constant(_I32, keep)))
    if not _GATHERS:
        return _looked_up_singly(builder, table, row, bits, keep), marked
    at = builder.and_(entries, _splat(ir.Constant(_I32, keep))) if flagged else entries
    return _looked_up(builder, table, at), marked


def _bits(packing: Any) -> int:
    """Bits of an entry, of the numba type of a packing."""
    return packing.instance_class().bits


def _extremes_code(flagged: bool) -> Any:
    def code(context, builder, signature, args):
        order, base, n, table, out, _packing = args
        bits = _bits(signature.args[5])
        rows = builder.gep(_data(context, builder, signature.args[0], order), [base])
        sums = _data(context, builder, signature.args[3], table)
        vector = ir.VectorType(_I32, _L)
        low, high = -(2**31) + 1, 2**31 - 1
        running = cgutils.alloca_once_value(builder, _splat(ir.Constant(_I32, 0)))
        top = cgutils.alloca_once_value(builder, _splat(ir.Constant(_I32, low)))
        bottom = cgutils.alloca_once_value(builder, _splat(ir.Constant(_I32, high)))

        def work(at: Any) -> None:
            step, marked = _gather(builder, at, bits, sums, flagged)
            s = builder.add(builder.load(running), step)
            builder.store(s, running)
            for store, sign in ((top, ">"), (bottom, "<")):
                old = builder.load(store)
                better = builder.icmp_signed(sign, s, old)
                if flagged:
                    better = builder.and_(better, marked)
                builder.store(builder.select(better, s, old), store)

        _each_row(builder, rows, bits, n, work)
        target = _data(context, builder, signature.args[4], out)
        for r, store in enumerate((running, top, bottom)):
            place = builder.gep(target, [ir.Constant(_I64, r * _L)])
            builder.store(builder.load(store), builder.bitcast(place, vector.as_pointer()), align=4)
        return context.get_dummy_value()

    return code


def _gini_code(flagged: bool) -> Any:
    def code(context, builder, signature, args):
        order, base, n, table, total_d, total_w, out, _packing = args
        bits = _bits(signature.args[7])
        rows = builder.gep(_data(context, builder, signature.args[0], order), [base])
        signed = _data(context, builder, signature.args[3], table)
        ints, floats = ir.VectorType(_I32, _L), ir.VectorType(_F32, _L)
        zero, one = (_splat(ir.Constant(_I32, v)) for v in (0, 1))
        running_d = cgutils.alloca_once_value(builder, zero)
        running_w = cgutils.alloca_once_value(builder, zero)
        best = cgutils.alloca_once_value(builder, _splat(ir.Constant(_F32, -1.0)))

        def spread(value: Any) -> Any:
            whole = ir.Constant(ints, ir.Undefined)
            for lane in range(_L):
                whole = builder.insert_element(whole, value, ir.Constant(_I32, lane))
            return whole

        all_d, all_w = spread(total_d), spread(total_w)

        def work(at: Any) -> None:
            step, marked = _gather(builder, at, bits, signed, flagged)
            below = builder.icmp_signed("<", step, zero)
            size = builder.select(below, builder.sub(zero, step), step)  # a weight, its sign off
            d = builder.add(builder.load(running_d), step)
            w = builder.add(builder.load(running_w), size)
            builder.store(d, running_d)
            builder.store(w, running_w)

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
                better = builder.and_(better, marked)
            builder.store(builder.select(better, value, old), best)

        _each_row(builder, rows, bits, n, work)
        target = _data(context, builder, signature.args[6], out)
        builder.store(builder.load(best), builder.bitcast(target, floats.as_pointer()), align=4)
        return context.get_dummy_value()

    return code


def _extremes(flagged: bool) -> Any:
    @intrinsic
    def loop(typingctx, order, base, n, table, out, packing):
        signature = types.void(order, types.int64, types.int64, table, out, packing)
        return signature, _extremes_code(flagged)

    return loop


def _ginis(flagged: bool) -> Any:
    @intrinsic
    def loop(typingctx, order, base, n, table, total_d, total_w, out, packing):
        i32, i64 = types.int32, types.int64
        signature = types.void(order, i64, i64, table, i32, i32, out, packing)
        return signature, _gini_code(flagged)

    return loop


def _steps(order: Any, base: int, n: int, table: Any, flagged: bool, bits: int) -> tuple[Any, Any]:
    """Slow twin of the look-ups: (numbers (n, 8), where a threshold may lie)."""
    single = np.unpackbits(order[base : base + n * bits], bitorder="little").reshape(n, _L, bits)
    entries = (single * (np.int64(1) << np.arange(bits))).sum(axis=2)
    flag = 1 << (bits - 1)
    where = entries >= flag if flagged else np.ones(entries.shape, np.bool_)
    return table[entries & (flag - 1) if flagged else entries].astype(np.int64), where


def _plain_extremes(flagged: bool) -> Any:
    def loop(order, base, n, table, out, packing):
        steps, where = _steps(order, base, n, table, flagged, packing.bits)
        sums = steps.cumsum(axis=0)
        out[0] = sums[-1] if n else 0
        out[1] = np.max(sums, axis=0, where=where, initial=-(2**31) + 1)
        out[2] = np.min(sums, axis=0, where=where, initial=2**31 - 1)

    return loop


def _plain_ginis(flagged: bool) -> Any:
    def loop(order, base, n, table, total_d, total_w, out, packing):
        steps, where = _steps(order, base, n, table, flagged, packing.bits)
        d, w = steps.cumsum(axis=0), np.abs(steps).cumsum(axis=0)
        wl, wr = np.maximum(w, 1), np.maximum(total_w - w, 1)
        value = d.astype(float) ** 2 / wl + (float(total_d) - d) ** 2 / wr
        out[:] = np.max(value, axis=0, where=where, initial=-1.0)

    return loop


_extremes_of, _gini_of = (
    (_plain_extremes, _plain_ginis) if _config.DISABLE_JIT else (_extremes, _ginis)
)

#: (order, base, n, table, out, packing): last, greatest and least admissible sum, into out (3, 8).
lane_extremes = _extremes_of(False)
lane_extremes_flagged = _extremes_of(True)
#: (order, base, n, table, D, W, out, packing): greatest ``d^2 / w``, both sides, into out (8,).
lane_gini = _gini_of(False)
lane_gini_flagged = _gini_of(True)
