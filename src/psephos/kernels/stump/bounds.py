"""Upper bounds on the best split of every column, from the weights below a few thresholds.

With ``A_j`` and ``B_j`` the weights of the two classes below bin j, a threshold within bin j leaves
between ``A_j`` and ``A_(j+1)`` of the one and between ``B_j`` and ``B_(j+1)`` of the other on its
left: the best of these four corners bounds what the column can reach. Few columns' bounds come near
the best split; only those are screened exactly (``screen``).

The weights below a threshold are looked up for six rows at a time, in 64 columns at once: one
instruction of recent processors (AVX-512 VBMI, ``vpermb``) is 64 look-ups in a table of 64 bytes,
and that table says what any of six rows weigh together (``bins``): about
a third of the time of the exact screen an entry (DECISIONS/0006).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic
from numpy.typing import NDArray

from psephos.kernels.stump.bins import BINS, GROUP, PLANES, WIDTH, Rows, Scales
from psephos.runtime.jit import jit

_I8, _I16, _I32, _I64 = (ir.IntType(bits) for bits in (8, 16, 32, 64))
_BYTES, _HALF = ir.VectorType(_I8, WIDTH), ir.VectorType(_I16, WIDTH // 2)
_BITS = ir.VectorType(_I64, WIDTH // 8)
_config: Any = config  # its fields come from the environment


def _looks_up() -> bool:
    """Whether this processor has the look-up; with the JIT off NumPy stands for it."""
    if _config.DISABLE_JIT:
        return True
    features = binding.get_host_cpu_features()
    chosen = _config.CPU_NAME or _config.CPU_FEATURES
    return not chosen and all(features.get(name) for name in ("avx512bw", "avx512vbmi"))


#: Whether these bounds are to be had here.
has_bounds = _looks_up()


def _long(value: int) -> ir.Constant:
    return ir.Constant(_I64, value)


def _masks(builder: Any, planes: list[Any], eight: int) -> list[Any]:
    """Bits of the rows below each upper end of the bins ``8 eight .. 8 eight + 7``.

    The last set of eight lacks its last end, below which all rows lie. ``planes`` are the bits of
    the bins, the highest first.
    """

    def both(a: Any, b: Any) -> Any:
        return builder.and_(a, b)

    def none(a: Any, b: Any) -> Any:
        return builder.not_(builder.or_(a, b))

    *high, b2, b1, b0 = planes
    within = None  # the set itself
    for digit, plane in enumerate(reversed(high)):
        bit = plane if eight >> digit & 1 else builder.not_(plane)
        within = bit if within is None else both(within, bit)
    # Of a set before this one: its bits say so one by one from the highest.
    before, same = None, None
    for digit, plane in reversed(list(enumerate(reversed(high)))):
        if eight >> digit & 1:
            less = builder.not_(plane) if same is None else both(same, builder.not_(plane))
            before = less if before is None else builder.or_(before, less)
            step = plane
        else:
            step = builder.not_(plane)
        same = step if same is None else both(same, step)
    below = [
        none(builder.or_(b2, b1), b0),  # bin 0
        none(b2, b1),
        none(b2, both(b1, b0)),
        builder.not_(b2),
        builder.not_(both(b2, builder.or_(b1, b0))),
        builder.not_(both(b2, b1)),
        builder.not_(both(both(b2, b1), b0)),
        None,
    ]
    out = []
    for end in below[: 7 if eight == 2 ** len(high) - 1 else 8]:
        mask = within if end is None else both(within, end)
        out.append(mask if before is None else builder.or_(before, mask))
    return out


def _sums_code(context, builder, signature, args):
    codes, first_word, n_groups, tables, visits, n_first, n_all, out = args

    def data(i: int, value: Any) -> Any:
        return context.make_array(signature.args[i])(context, builder, value=value).data

    def bytes_at(pointer: Any) -> Any:
        return builder.bitcast(pointer, _I8.as_pointer())

    def load(kind: Any, pointer: Any) -> Any:
        return builder.load(builder.bitcast(pointer, kind.as_pointer()), align=1)

    shape = ir.FunctionType(_BYTES, [_BYTES, _BYTES])
    look_up = cgutils.get_or_insert_function(
        builder.module, shape, "llvm.x86.avx512.permvar.qi.512"
    )
    block = bytes_at(builder.gep(data(0, codes), [first_word]))
    table, starts, target = data(3, tables), data(4, visits), bytes_at(data(7, out))
    plane = builder.mul(n_groups, _long(WIDTH))
    byte = ir.Constant(_HALF, [8] * (WIDTH // 2))
    zero = ir.Constant(_HALF, [0] * (WIDTH // 2))
    scratch = [
        (cgutils.alloca_once(builder, _HALF), cgutils.alloca_once(builder, _HALF)) for _ in range(8)
    ]

    def visit(i: Any, eight: int) -> None:
        weighs = load(_BYTES, builder.gep(table, [builder.mul(i, _long(1 << GROUP))]))
        at = builder.gep(block, [builder.load(builder.gep(starts, [i]))])
        bits = []
        for _ in range(PLANES):
            bits.append(load(_BITS, at))
            at = builder.gep(at, [plane])
        for mask, (even, odd) in zip(_masks(builder, bits, eight), scratch, strict=False):
            found = builder.call(look_up, [weighs, builder.bitcast(mask, _BYTES)])
            pairs = builder.bitcast(found, _HALF)
            # Two columns' bytes in one lane: the upper one's are taken out again at the end.
            builder.store(builder.add(builder.load(even), pairs), even)
            builder.store(builder.add(builder.load(odd), builder.lshr(pairs, byte)), odd)

    def write(row: int, even: Any, odd: Any) -> None:
        upper = builder.load(odd)
        lower = builder.sub(builder.load(even), builder.shl(upper, byte))
        for part in range(2):
            lanes = range(part * WIDTH // 4, (part + 1) * WIDTH // 4)
            order = [i + half * WIDTH // 2 for i in lanes for half in (0, 1)]
            mixed = builder.shuffle_vector(
                lower, upper, ir.Constant(ir.VectorType(_I32, WIDTH // 2), order)
            )
            place = builder.gep(target, [_long(2 * row * WIDTH + part * WIDTH)])
            builder.store(mixed, builder.bitcast(place, _HALF.as_pointer()), align=1)

    ends = BINS - 1
    for eight in range(BINS // 8):
        for c, (first, last) in enumerate(((_long(0), n_first), (n_first, n_all))):
            for even, odd in scratch:
                builder.store(zero, even)
                builder.store(zero, odd)
            with cgutils.for_range(builder, builder.sub(last, first), intp=_I64) as loop:
                visit(builder.add(first, loop.index), eight)
            for j, (even, odd) in enumerate(scratch[: min(8, ends - 8 * eight)]):
                write(c * ends + 8 * eight + j, even, odd)
    return context.get_dummy_value()


def _vector_sums(typingctx, codes, first_word, n_groups, tables, visits, n_first, n_all, out):
    i64 = types.int64
    return types.void(codes, i64, i64, tables, visits, i64, i64, out), _sums_code


def _plain_sums(codes, first_word, n_groups, tables, visits, n_first, n_all, out):
    words = codes[first_word : first_word + PLANES * n_groups * WIDTH // 8]
    bits = np.unpackbits(words.view(np.uint8), bitorder="little")
    bits = bits.reshape(PLANES, n_groups, WIDTH, 8)[..., :GROUP]
    code = (bits << np.arange(PLANES - 1, -1, -1)[:, None, None, None]).sum(axis=0)
    for j in range(BINS - 1):
        index = ((code <= j) << np.arange(GROUP)).sum(axis=2)
        for c, part in enumerate((slice(0, n_first), slice(n_first, n_all))):
            at = index[visits[part] // WIDTH]
            out[c, j] = np.take_along_axis(tables[part], at, axis=1).sum(axis=0, dtype=np.int64)


#: (codes, first word, n_groups, tables, visits, n_first, n_all, out): the weights of either
#: class below the upper end of each bin but the last, in 64 columns, into out (2, 31, 64) int16.
lane_sums: Callable[..., Any] = (
    _plain_sums if _config.DISABLE_JIT else intrinsic(_vector_sums)  # type: ignore[assignment]
)


@jit
def bound_error(
    codes, n_groups, first, last, tables, visits, n_visited, units, whole_a, whole_b, slack, total,
    extra, sums, scratch, values,
):  # fmt: skip
    """Upper bound of what ``screen_error`` finds in each column.

    Parameters
    ----------
    codes, n_groups : bins of all columns (``bins.code_columns``) and their groups of rows
    first, last : blocks of 64 columns
    tables, visits, n_visited, units, whole_a, whole_b, slack : of ``bins.weigh_groups``
    total : signed sum of the weights
    extra : (>= 64 * last,) added to the bounds
    sums, scratch : (2, 31, 64) and (2, 64) int16
    values : (>= 64 * last,) result
    """
    final = BINS - 2
    top, bottom = scratch[0], scratch[1]
    for block in range(first, last):
        word = block * PLANES * n_groups * (WIDTH // 8)
        lane_sums(codes, word, n_groups, tables, visits, n_visited, visits.shape[0], sums)
        for c in range(WIDTH):
            # The first bin begins with nothing on its left, the last one ends with all.
            top[c] = max(sums[1, 0, c], np.int16(whole_b - sums[0, final, c]))
            bottom[c] = min(np.int16(-sums[0, 0, c]), np.int16(sums[1, final, c] - whole_a))
        for j in range(final):
            for c in range(WIDTH):
                top[c] = max(top[c], np.int16(sums[1, j + 1, c] - sums[0, j, c]))
                bottom[c] = min(bottom[c], np.int16(sums[1, j, c] - sums[0, j + 1, c]))
        for c in range(WIDTH):
            up = 2.0 * (top[c] + slack) / units - total
            down = total - 2.0 * (bottom[c] - slack) / units
            values[block * WIDTH + c] = max(up, down) + extra[block * WIDTH + c]


def reaches(
    ends: NDArray[np.int64], rows: Rows, scales: Scales, weights: tuple[float, float]
) -> NDArray[np.float32]:
    """Add this to a sum of entries for the least and the greatest weight it can stand for.

    By class and bin (2, 32, 2) float32. Groups of which no row lies below are exact, and those of
    which all do make a difference that is known; so sums near either end are nearly exact.
    ``weights`` are those of either class.
    """
    groups = np.array([[rows.n_first], [rows.n_groups - rows.n_first]])
    known = np.array([[scales.whole_a], [scales.whole_b]]) - scales.units * np.array([weights]).T
    above = ends[-1] - ends
    below = 0.5 * np.minimum(groups, ends)
    near = above < below
    middle, half = np.where(near, -known, 0.0), np.where(near, above, below) + 0.01
    # float32 takes less than that hundredth away.
    return np.stack([middle - half, middle + half], axis=2).astype(np.float32)


@jit
def bound_gini(
    codes, n_groups, first, last, tables, visits, n_visited, units, all_a, all_b, reach, extra,
    sums, scratch, values,
):  # fmt: skip
    """Upper bound of what ``screen_gini`` finds in each column; see ``bound_error``.

    On each side ``d^2 / w`` grows with the class that has the greater share there; so of a bin's
    four corners one of the two where one class is least and the other greatest is the best.
    ``all_a`` and ``all_b`` are the weights of either class in units, ``reach`` is of ``reaches``,
    ``scratch`` (5, 64) float32.
    """
    none, tiny = np.float32(0.0), np.float32(1e-3)
    top, low_a, low_b, high_a, high_b = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4]
    for block in range(first, last):
        word = block * PLANES * n_groups * (WIDTH // 8)
        lane_sums(codes, word, n_groups, tables, visits, n_visited, visits.shape[0], sums)
        for c in range(WIDTH):
            top[c] = low_a[c] = low_b[c] = none
        for j in range(BINS):
            least_a, least_b, most_a, most_b = (
                reach[0, j, 0], reach[1, j, 0], reach[0, j, 1], reach[1, j, 1],
            )  # fmt: skip
            for c in range(WIDTH):
                if j < BINS - 1:
                    high_a[c] = min(np.float32(sums[0, j, c]) + most_a, all_a)
                    high_b[c] = min(np.float32(sums[1, j, c]) + most_b, all_b)
                else:
                    high_a[c], high_b[c] = all_a, all_b
            for c in range(WIDTH):
                for corner in range(2):
                    a = low_a[c] if corner == 0 else high_a[c]
                    b = high_b[c] if corner == 0 else low_b[c]
                    rest_a, rest_b = all_a - a, all_b - b
                    left, right = max(a + b, tiny), max(rest_a + rest_b, tiny)
                    d, rest = b - a, rest_b - rest_a
                    value = (d * d * right + rest * rest * left) / (left * right)
                    top[c] = max(top[c], value)
            if j < BINS - 1:
                for c in range(WIDTH):
                    low_a[c] = max(np.float32(sums[0, j, c]) + least_a, none)
                    low_b[c] = max(np.float32(sums[1, j, c]) + least_b, none)
        for c in range(WIDTH):
            # Above the rounding of float32, here and in the screen.
            values[block * WIDTH + c] = (top[c] * 1.0001 + 0.1) / units + extra[block * WIDTH + c]
