"""Eight running sums side by side: the two inner loops of the stump screens.

LLVM does not merge eight scalar chains with table look-ups into vector code by itself (numba
leaves that pass out), which costs a factor of two; so these loops are written as vectors. With
the JIT off the same functions are NumPy.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic

LANES = _L = 8
_I8, _I32, _I64, _F32 = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.FloatType()
_config: Any = config  # its fields come from the environment


def _gathers() -> bool:
    """Whether this processor looks up eight numbers in one instruction, and numba may say so."""
    chosen = _config.CPU_NAME or _config.CPU_FEATURES
    return not chosen and bool(binding.get_host_cpu_features().get("avx2"))


_GATHERS = _gathers()


def _data(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return context.make_array(kind)(context, builder, value=value).data


def _splat(value: ir.Constant) -> ir.Constant:
    return ir.Constant(ir.VectorType(value.type, _L), [value] * _L)


def _each_row(builder: Any, rows: Any, bits: int, n: Any, work: Callable[[Any], None]) -> None:
    """Loop over the n rows of a block: ``work`` gets a row's address (8 entries: `bits` bytes)."""
    with cgutils.for_range(builder, n, intp=_I64) as loop:
        work(builder.gep(rows, [builder.mul(loop.index, ir.Constant(_I64, bits))]))


def _looked_up(builder: Any, table: Any, at: Any) -> Any:
    """Eight numbers of a table, by the processor's own instruction."""
    numbers, byte = ir.VectorType(_I32, _L), _I8.as_pointer()
    kind = ir.FunctionType(numbers, [numbers, byte, numbers, numbers, _I8])
    gather = cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.avx2.gather.d.d.256")
    none, every = (_splat(ir.Constant(_I32, v)) for v in (0, -1))
    base = builder.bitcast(table, byte)
    return builder.call(gather, [none, base, at, every, ir.Constant(_I8, 4)])


def _looked_up_singly(builder: Any, table: Any, at: Any) -> Any:
    """Eight numbers of a table, one by one."""
    values = ir.Constant(ir.VectorType(_I32, _L), ir.Undefined)
    for lane in range(_L):
        k = ir.Constant(_I32, lane)
        place = builder.gep(table, [builder.zext(builder.extract_element(at, k), _I64)])
        values = builder.insert_element(values, builder.load(place), k)
    return values


def _gather(builder: Any, row: Any, bits: int, table: Any) -> tuple[Any, Any]:
    """Read eight entries of the order, then the table at each: (numbers, lanes flagged)."""
    kind = ir.VectorType(ir.IntType(bits), _L)
    entries = builder.load(builder.bitcast(row, kind.as_pointer()), align=1)
    if bits < 32:
        entries = builder.zext(entries, ir.VectorType(_I32, _L))
    keep = _splat(ir.Constant(_I32, 2 ** (bits - 1) - 1))
    look_up = _looked_up if _GATHERS else _looked_up_singly
    numbers = look_up(builder, table, builder.and_(entries, keep))
    return numbers, builder.icmp_unsigned(">", entries, keep)


def _rows_of(context: Any, builder: Any, kind: Any, order: Any, block: Any) -> tuple[Any, int, Any]:
    """Return where a block of orders (blocks, n, 8) begins, the bits of an entry, and n."""
    array = context.make_array(kind)(context, builder, value=order)
    bits, n = kind.dtype.bitwidth, builder.extract_value(array.shape, 1)
    start = builder.bitcast(array.data, _I8.as_pointer())
    at = builder.mul(builder.mul(block, n), ir.Constant(_I64, bits))
    return builder.gep(start, [at]), bits, n


def _extremes_code(context, builder, signature, args):
    order, block, table, out = args
    rows, bits, n = _rows_of(context, builder, signature.args[0], order, block)
    sums = _data(context, builder, signature.args[2], table)
    vector = ir.VectorType(_I32, _L)
    low, high = -(2**31) + 1, 2**31 - 1
    running = cgutils.alloca_once_value(builder, _splat(ir.Constant(_I32, 0)))
    top = cgutils.alloca_once_value(builder, _splat(ir.Constant(_I32, low)))
    bottom = cgutils.alloca_once_value(builder, _splat(ir.Constant(_I32, high)))

    def work(at: Any) -> None:
        step, marked = _gather(builder, at, bits, sums)
        s = builder.add(builder.load(running), step)
        builder.store(s, running)
        for store, sign in ((top, ">"), (bottom, "<")):
            old = builder.load(store)
            better = builder.icmp_signed(sign, s, old)
            better = builder.and_(better, marked)
            builder.store(builder.select(better, s, old), store)

    _each_row(builder, rows, bits, n, work)
    target = _data(context, builder, signature.args[3], out)
    for r, store in enumerate((running, top, bottom)):
        place = builder.gep(target, [ir.Constant(_I64, r * _L)])
        builder.store(builder.load(store), builder.bitcast(place, vector.as_pointer()), align=4)
    return context.get_dummy_value()


def _gini_code(context, builder, signature, args):
    order, block, table, total_d, total_w, out = args
    rows, bits, n = _rows_of(context, builder, signature.args[0], order, block)
    signed = _data(context, builder, signature.args[2], table)
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
        step, marked = _gather(builder, at, bits, signed)
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
        better = builder.and_(better, marked)
        builder.store(builder.select(better, value, old), best)

    _each_row(builder, rows, bits, n, work)
    target = _data(context, builder, signature.args[5], out)
    builder.store(builder.load(best), builder.bitcast(target, floats.as_pointer()), align=4)
    return context.get_dummy_value()


def _extremes(typingctx, order, block, table, out):
    return types.void(order, types.int64, table, out), _extremes_code


def _gini(typingctx, order, block, table, total_d, total_w, out):
    i32 = types.int32
    return types.void(order, types.int64, table, i32, i32, out), _gini_code


def _steps(order: Any, block: int, table: Any) -> tuple[Any, Any]:
    """Slow twin of the look-ups: (numbers (n, 8), where a threshold may lie)."""
    entries, flag = order[block].astype(np.int64), 1 << (8 * order.itemsize - 1)
    return table[entries & (flag - 1)].astype(np.int64), entries >= flag


def _plain_extremes(order, block, table, out):
    steps, where = _steps(order, block, table)
    sums = steps.cumsum(axis=0)
    out[0] = sums[-1]
    out[1] = np.max(sums, axis=0, where=where, initial=-(2**31) + 1)
    out[2] = np.min(sums, axis=0, where=where, initial=2**31 - 1)


def _plain_gini(order, block, table, total_d, total_w, out):
    steps, where = _steps(order, block, table)
    d, w = steps.cumsum(axis=0), np.abs(steps).cumsum(axis=0)
    wl, wr = np.maximum(w, 1), np.maximum(total_w - w, 1)
    value = d.astype(float) ** 2 / wl + (float(total_d) - d) ** 2 / wr
    out[:] = np.max(value, axis=0, where=where, initial=-1.0)


#: (order, block, table, out): last, greatest and least admissible sum, into out (3, 8).
lane_extremes: Any = _plain_extremes if _config.DISABLE_JIT else intrinsic(_extremes)
#: (order, block, table, D, W, out): greatest ``d^2 / w``, both sides, into out (8,).
lane_gini: Any = _plain_gini if _config.DISABLE_JIT else intrinsic(_gini)
