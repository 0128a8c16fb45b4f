"""Sums of weights over many subsets: a matrix product with a table of bits.

Four anchors have sixteen subsets. Their sums are made once and looked up by every voter, which
takes a quarter of the additions of the matrix product and none of its multiplications. Eight
queries stand side by side in a vector. With the JIT off the same function is the product.
"""

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from psephos.kernels._jit import jit

__all__ = ["pack_subsets", "subset_sums"]

_L = 8  # queries side by side
_GROUPS = 32  # groups of four anchors in a block: its sums (32 KB) stay in the nearest cache
_VOTERS = 4  # voters summed at once, so that additions need not wait for each other
_I64, _I8 = ir.IntType(64), ir.IntType(8)
_VECTOR = ir.VectorType(ir.DoubleType(), _L)


def pack_subsets(member: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Codes (blocks, voters, 32) of the four-anchor subsets in which each voter is a member.

    ``member`` is (m, T); one more voter, who is a member everywhere, is appended, and voters are
    padded to a multiple of four.
    """
    m, n_voters = member.shape
    n_blocks = -(-m // (4 * _GROUPS))
    padded = -(-(n_voters + 1) // _VOTERS) * _VOTERS
    bits = np.zeros((padded, n_blocks * _GROUPS, 4), np.uint8)
    flat = bits.reshape(padded, -1)
    flat[:n_voters, :m] = member.T
    flat[n_voters, :m] = 1
    codes = bits @ np.array([1, 2, 4, 8], np.uint8)
    return np.ascontiguousarray(codes.reshape(padded, n_blocks, _GROUPS).swapaxes(0, 1))


def _make_sums_code(typingctx, weights, base, stride, table):
    """``table`` (32, 16, 8): sums of all subsets of each four of 128 anchors, for eight queries.

    ``weights`` holds one query in each ``stride`` numbers, the first anchor's at ``base``.
    """

    def code(context, builder, signature, args):
        arrays = [
            context.make_array(signature.args[k])(context, builder, value=args[k]).data
            for k in (0, 3)
        ]
        target = builder.bitcast(arrays[1], _VECTOR.as_pointer())
        lines = [
            builder.gep(
                arrays[0], [builder.add(args[1], builder.mul(args[2], ir.Constant(_I64, q)))]
            )
            for q in range(_L)
        ]
        with cgutils.for_range(builder, ir.Constant(_I64, _GROUPS), intp=_I64) as loop:
            first = builder.mul(loop.index, ir.Constant(_I64, 4))
            place = builder.mul(loop.index, ir.Constant(_I64, 16))
            sums: list[Any] = [ir.Constant(_VECTOR, [0.0] * _L)]
            for k in range(4):
                at = builder.add(first, ir.Constant(_I64, k))
                weight: Any = ir.Constant(_VECTOR, ir.Undefined)
                for q in range(_L):
                    value = builder.load(builder.gep(lines[q], [at]))
                    lane = ir.Constant(ir.IntType(32), q)
                    weight = builder.insert_element(weight, value, lane)
                sums += [builder.fadd(s, weight) for s in sums]
            for k, s in enumerate(sums):
                at = builder.gep(target, [builder.add(place, ir.Constant(_I64, k))])
                builder.store(s, at, align=8)
        return context.get_dummy_value()

    return types.void(weights, types.int64, types.int64, table), code


def _look_up_code(typingctx, codes, base, table, out, first):
    """Add to four rows of ``out`` (T, 8), from ``first`` on, the sums their codes name."""

    def code(context, builder, signature, args):
        def data(k: int) -> Any:
            array = context.make_array(signature.args[k])(context, builder, value=args[k])
            return array.data

        rows = builder.gep(data(0), [args[1]])
        table, out = (builder.bitcast(data(k), _VECTOR.as_pointer()) for k in (2, 3))
        places = [
            builder.gep(out, [builder.add(args[4], ir.Constant(_I64, v))]) for v in range(_VOTERS)
        ]
        sums = [cgutils.alloca_once_value(builder, builder.load(p, align=8)) for p in places]
        with cgutils.for_range(builder, ir.Constant(_I64, _GROUPS), intp=_I64) as loop:
            group = builder.mul(loop.index, ir.Constant(_I64, 16))
            for v in range(_VOTERS):
                at = builder.add(loop.index, ir.Constant(_I64, v * _GROUPS))
                subset = builder.zext(builder.load(builder.gep(rows, [at])), _I64)
                value = builder.load(builder.gep(table, [builder.add(group, subset)]), align=8)
                builder.store(builder.fadd(builder.load(sums[v]), value), sums[v])
        for place, store in zip(places, sums, strict=True):
            builder.store(builder.load(store), place, align=8)
        return context.get_dummy_value()

    return types.void(codes, types.int64, table, out, types.int64), code


_make_sums: Any = intrinsic(_make_sums_code)
_look_up: Any = intrinsic(_look_up_code)


@jit
def _subset_sums(weights, codes, out):
    n, m = weights.shape
    n_blocks, n_voters, _ = codes.shape
    width = 4 * _GROUPS
    edge = np.zeros((_L, width))
    table = np.empty((_GROUPS, 16, _L))
    sums = np.empty((n_voters, _L))
    for top in range(0, n, _L):
        lanes = min(_L, n - top)
        sums[:] = 0.0
        for block in range(n_blocks):
            start = block * width
            if lanes == _L and start + width <= m:
                _make_sums(weights, top * m + start, m, table)
            else:  # at the edges the block is filled up with zeros
                edge[:] = 0.0
                for q in range(lanes):
                    for i in range(min(width, m - start)):
                        edge[q, i] = weights[top + q, start + i]
                _make_sums(edge, 0, width, table)
            for t in range(0, n_voters, _VOTERS):
                _look_up(codes, (block * n_voters + t) * _GROUPS, table, sums, t)
        for q in range(lanes):
            for t in range(out.shape[1]):
                out[top + q, t] = sums[t, q]


def subset_sums(
    weights: NDArray[np.float64], codes: NDArray[np.uint8], out: NDArray[np.float64]
) -> None:
    """``out`` (n, T + 1): the ``weights`` (n, m) summed over each voter's anchors, then all."""
    if not numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        _subset_sums(weights, codes, out)
        return
    n_blocks, n_voters, _ = codes.shape
    flat = codes.swapaxes(0, 1).reshape(n_voters, n_blocks * _GROUPS, 1)
    member = (flat >> np.arange(4, dtype=np.uint8)) & 1
    table = member.reshape(n_voters, -1)[: out.shape[1], : weights.shape[1]]
    np.matmul(weights, table.T.astype(np.float64), out=out)
