"""Sums of weights over many subsets: a matrix product with a table of bits.

Four anchors have sixteen subsets. Their sums are made once and looked up by every voter, which
takes a quarter of the additions of the matrix product and none of its multiplications. Sixteen
rows stand side by side in vectors. With the JIT off the same functions are plain NumPy.
"""

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

__all__ = ["ANCHORS", "LANES", "add_looked_up", "make_sums", "make_sums_across", "pack_subsets"]

LANES = 16  # rows side by side
ANCHORS = 32  # in a block: the sums of its eight fours (16 KB) stay in the nearest cache
VOTERS = 4  # voters summed at once, so that additions need not wait for each other
_GROUPS = ANCHORS // 4
_HALF = LANES // 2
_I64 = ir.IntType(64)
_VECTOR = ir.VectorType(ir.DoubleType(), _HALF)
_ROW = 8 * LANES  # bytes


def pack_subsets(member: NDArray[np.bool_]) -> NDArray[np.uint16]:
    """Where the sum over each voter's anchors among four stands: (blocks, T', 8), in bytes.

    ``member`` is (m, T). One more voter, who is a member everywhere, is appended, and voters are
    padded to T', a multiple of four.
    """
    m, n_voters = member.shape
    n_blocks = -(-m // ANCHORS)
    bits = np.zeros((-(-(n_voters + 1) // VOTERS) * VOTERS, n_blocks * ANCHORS), np.bool_)
    bits[:n_voters, :m] = member.T
    bits[n_voters, :m] = True
    eights = np.packbits(bits, axis=1, bitorder="little").reshape(len(bits), n_blocks, -1)
    eights = eights.swapaxes(0, 1)
    codes = np.empty((*eights.shape, 2), np.uint16)
    codes[..., 0], codes[..., 1] = eights & 15, eights >> 4
    codes *= np.uint16(_ROW)
    return codes.reshape(n_blocks, len(bits), _GROUPS)


def _number(value: int) -> ir.Constant:
    return ir.Constant(_I64, value)


def _data(context: Any, builder: Any, signature: Any, args: Any, k: int) -> Any:
    return context.make_array(signature.args[k])(context, builder, value=args[k]).data


def _transposed(builder: Any, rows: list[Any]) -> list[Any]:
    """Turn eight vectors of eight: off-diagonal blocks change places at steps 1, 2 and 4."""
    vectors = list(rows)
    for step in (1, 2, 4):
        for i in range(_HALF):
            if i & step:
                continue
            a, b = vectors[i], vectors[i + step]
            for place, shift in ((i, 0), (i + step, step)):
                lanes = [
                    j + shift if not j & step else _HALF + j - step + shift for j in range(_HALF)
                ]
                mask = ir.Constant(ir.VectorType(ir.IntType(32), _HALF), lanes)
                vectors[place] = builder.shuffle_vector(a, b, mask)
    return vectors


def _spread(builder: Any, value: Any) -> Any:
    whole = ir.Constant(_VECTOR, ir.Undefined)
    for lane in range(_HALF):
        whole = builder.insert_element(whole, value, ir.Constant(ir.IntType(32), lane))
    return whole


def _load(builder: Any, base: Any, at: Any) -> Any:
    return builder.load(builder.bitcast(builder.gep(base, [at]), _VECTOR.as_pointer()), align=8)


def _make_sums_code(across: bool) -> Any:
    """Weights of 16 rows: in rows ``stride`` apart, or (``across``) an anchor's side by side."""

    def code(context, builder, signature, args):
        weights, s, table = (_data(context, builder, signature, args, k) for k in (0, 3, 5))
        _, base, stride, _, first, _ = args
        start = builder.gep(weights, [base])

        def load_rows(anchor: Any) -> list[Any]:
            """Return the weights of eight anchors, each on 16 rows as two vectors."""
            if across:
                at = [builder.mul(builder.add(anchor, _number(k)), stride) for k in range(_HALF)]
                return [
                    [_load(builder, start, builder.add(a, _number(h))) for h in (0, _HALF)]
                    for a in at
                ]
            halves = []
            for h in (0, _HALF):
                at = [
                    builder.add(builder.mul(_number(h + r), stride), anchor) for r in range(_HALF)
                ]
                halves.append(_transposed(builder, [_load(builder, start, a) for a in at]))
            return list(zip(*halves, strict=True))

        with cgutils.for_range(builder, _number(_GROUPS // 2), intp=_I64) as loop:
            anchor = builder.mul(loop.index, _number(_HALF))
            own = builder.gep(s, [builder.add(first, anchor)])
            rows = load_rows(anchor)
            place = builder.mul(loop.index, _number(2 * 16 * LANES))
            for group in range(2):
                for h in range(2):
                    sums: list[Any] = [ir.Constant(_VECTOR, [0.0] * _HALF)]
                    for k in range(4 * group, 4 * group + 4):
                        by = builder.load(builder.gep(own, [_number(k)]))
                        weight = builder.fmul(rows[k][h], _spread(builder, by))
                        sums += [weight, *(builder.fadd(v, weight) for v in sums[1:])]
                    for k, total in enumerate(sums):
                        offset = (16 * group + k) * LANES + h * _HALF
                        at = builder.gep(table, [builder.add(place, _number(offset))])
                        builder.store(total, builder.bitcast(at, _VECTOR.as_pointer()), align=8)
        return context.get_dummy_value()

    return code


def _look_up_code(context, builder, signature, args):
    codes, table, out = (_data(context, builder, signature, args, k) for k in (0, 2, 3))
    codes = builder.gep(codes, [args[1]])
    out = builder.gep(out, [args[4]])
    bytes_of = ir.IntType(8).as_pointer()
    starts = [_number(v * LANES + h) for v in range(VOTERS) for h in (0, _HALF)]
    sums = [cgutils.alloca_once_value(builder, _load(builder, out, at)) for at in starts]
    with cgutils.for_range(builder, _number(_GROUPS), intp=_I64) as loop:
        group = builder.gep(table, [builder.mul(loop.index, _number(16 * LANES))])
        group = builder.bitcast(group, bytes_of)
        for v in range(VOTERS):
            at = builder.add(loop.index, _number(v * _GROUPS))
            offset = builder.zext(builder.load(builder.gep(codes, [at])), _I64)
            subset = builder.bitcast(builder.gep(group, [offset]), ir.DoubleType().as_pointer())
            for h in range(2):
                store = sums[2 * v + h]
                value = _load(builder, subset, _number(h * _HALF))
                builder.store(builder.fadd(builder.load(store), value), store)
    for at, store in zip(starts, sums, strict=True):
        place = builder.bitcast(builder.gep(out, [at]), _VECTOR.as_pointer())
        builder.store(builder.load(store), place, align=8)
    return context.get_dummy_value()


def _make_sums(typingctx, weights, base, stride, s, first, table):
    integer = types.int64
    return types.void(weights, integer, integer, s, integer, table), _make_sums_code(False)


def _make_sums_across(typingctx, weights, base, stride, s, first, table):
    integer = types.int64
    return types.void(weights, integer, integer, s, integer, table), _make_sums_code(True)


def _look_up(typingctx, codes, base, table, out, first):
    return types.void(codes, types.int64, table, out, types.int64), _look_up_code


#: (weights, base, stride, s, first, table): the sums of all subsets of each four of 32 anchors,
#: for 16 rows, into ``table`` (8 * 16, 16). The weight of row r and anchor i is
#: ``weights.flat[base + r * stride + i] * s[first + i]``.
make_sums: Any = intrinsic(_make_sums)
#: The same where that weight is ``weights.flat[base + i * stride + r] * s[first + i]``.
make_sums_across: Any = intrinsic(_make_sums_across)
#: (codes, base, table, out, first): add to four rows of 16 of ``out``, from ``first`` on, the
#: sums that the codes of four voters, from ``base`` on, name.
add_looked_up: Any = intrinsic(_look_up)


def _plain_sums(across: bool) -> Any:
    def make(weights, base, stride, s, first, table):
        rows, anchors = np.arange(LANES), np.arange(ANCHORS)
        at = (
            np.add.outer(rows, anchors * stride) if across else np.add.outer(rows * stride, anchors)
        )
        fours = (weights.reshape(-1)[base + at] * s[first + anchors]).reshape(LANES, _GROUPS, 4)
        member = (np.arange(16)[:, None] >> np.arange(4)) & 1
        table[:] = np.einsum("rgk,ck->gcr", fours, member).reshape(table.shape)

    return make


def _plain_look_up(codes, base, table, out, first):
    which = codes.reshape(-1)[base : base + VOTERS * _GROUPS].reshape(VOTERS, _GROUPS).T // _ROW
    sums = table[np.arange(_GROUPS)[:, None] * 16 + which].sum(axis=0)
    out.reshape(-1)[first : first + VOTERS * LANES] += sums.ravel()


if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
    make_sums, make_sums_across = _plain_sums(False), _plain_sums(True)
    add_looked_up = _plain_look_up
