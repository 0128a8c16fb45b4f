"""The sums of ``sums`` with the functions of an array namespace, for other devices.

Every array is of one namespace ``xp`` of the array API standard (NumPy, CuPy, PyTorch through a
compatibility layer), on one device and of one floating type. References go by in blocks of rows,
so memory is ``O(rows of a block * M + (R + M) q)``.
"""

import math
from typing import Any

__all__ = ["dense_sums"]

_TINY = 1e-10


def _outside(xp: Any, v: Any, agree: Any, is_category: bool) -> tuple[Any, Any]:
    """``-e_d(v)`` and delta' of a column that is missing in either row."""
    squared = v * v
    if is_category:
        decay = xp.exp(-0.5 * squared)
        mixed = agree + (1.0 - agree) * decay
        return -xp.log(mixed), (1.0 - agree) * decay / mixed
    return 0.5 * xp.log1p(2.0 * squared), 2.0 / (1.0 + 2.0 * squared)


def _special_column(xp: Any, x: Any, c: Any, is_category: bool) -> tuple[Any, Any]:
    """Delta of one column (n, M), zero where missing, and where that is."""
    x, c = xp.reshape(x, (-1, 1)), xp.reshape(c, (1, -1))
    missing = xp.isnan(x) | xp.isnan(c)
    zero = xp.zeros_like(x)
    delta = xp.astype(x != c, x.dtype) if is_category else (x - c) * (x - c)
    return xp.where(missing, zero, delta), missing


def _exponent(xp: Any, x: Any, c: Any, v: Any, special: list[tuple[int, Any, Any]]) -> Any:
    """``-log G`` (n, M); ``x`` and ``c`` are plain columns, multiplied by v already."""
    squares = xp.sum(x * x, axis=1, keepdims=True) + xp.reshape(xp.sum(c * c, axis=1), (1, -1))
    product = xp.matmul(x, xp.matrix_transpose(c))
    e = 0.5 * squares - product
    e = xp.where(e > 0.0, e, xp.zeros_like(e))
    for d, (delta, missing), (gap, _) in special:
        e = e + xp.where(missing, gap, 0.5 * v[d] * v[d] * delta)
    return e


def dense_sums(
    xp: Any,
    references: Any,
    candidates: Any,
    label: Any,
    candidate_label: Any,
    v: Any,
    w: Any,
    u: Any,
    base_own: Any,
    base_total: Any,
    omega: Any,
    is_category: Any,
    agree: Any,
    block: int = 1024,
    twin: Any = None,
    echo: Any = None,
) -> tuple[Any, Any, Any, Any]:
    """Value and derivatives by v, w and u of the data part of a batch's objective.

    Parameters
    ----------
    xp : namespace
    references, candidates : (R, q), (M, q) arrays of xp, NaN where missing
    label, candidate_label : (R,), (M,) class codes, or targets, of the same floating type
    v, w : (q,), (M,)
    u : array of shape () or None
        Inverse bandwidth of the target; None for classes.
    base_own, base_total, omega : (R,)
    is_category : sequence of q bool
    agree : (q,)
    block : int, default=1024
        References at a time.
    twin : (R,) array of whole numbers, default=None
        Where a reference is itself a candidate, which; -1 elsewhere.
    echo : (R,) array, default=None
        Share of its own weight that it hears there; None: nothing.

    Returns
    -------
    value, by_v (q,), by_w (M,), by_u : arrays of xp; by_u is 0 for classes

    Notes
    -----
    Squares of columns without gaps are expanded: the exponent loses about
    eps (|v x|^2 + |v c|^2), so columns should be near zero on average.
    """
    q = references.shape[1]
    gaps = xp.any(xp.isnan(references), axis=0) | xp.any(xp.isnan(candidates), axis=0)
    special = [d for d in range(q) if is_category[d] or bool(gaps[d])]
    plain = [d for d in range(q) if d not in set(special)]
    outside = {d: _outside(xp, v[d], agree[d], bool(is_category[d])) for d in special}

    def scaled(Z: Any) -> Any:
        if not plain:
            return xp.zeros_like(Z[:, :1])
        return xp.stack([Z[:, d] * v[d] for d in plain], axis=1)

    c = scaled(candidates)
    zero = xp.sum(xp.zeros_like(w))
    value, by_u, by_w = zero, zero, xp.zeros_like(w)
    by_plain, by_special = xp.zeros_like(c[0, :]), [zero for _ in special]
    for start in range(0, references.shape[0], block):
        rows = slice(start, min(start + block, references.shape[0]))
        Z, x = references[rows, :], scaled(references[rows, :])
        parts = [
            (d, _special_column(xp, Z[:, d], candidates[:, d], bool(is_category[d])), outside[d])
            for d in special
        ]
        G = xp.exp(-_exponent(xp, x, c, v, parts))
        if twin is not None:
            place = xp.arange(w.shape[0], dtype=twin.dtype, device=twin.device)
            heard = 0.0 if echo is None else xp.reshape(echo[rows], (-1, 1))
            itself = xp.reshape(twin[rows], (-1, 1)) == xp.reshape(place, (1, -1))
            G = xp.where(itself, G * heard, G)
        diff = xp.reshape(label[rows], (-1, 1)) - xp.reshape(candidate_label, (1, -1))
        if u is None:
            match = xp.astype(diff == 0.0, G.dtype)
        else:
            match = u / math.sqrt(2.0 * math.pi) * xp.exp(-0.5 * (u * diff) * (u * diff))
        own = base_own[rows] + xp.matmul(G * match, w)
        total = base_total[rows] + xp.matmul(G, w)
        value = value - xp.sum(omega[rows] * xp.log(own / total + _TINY))
        b = xp.reshape(omega[rows] / (own + _TINY * total), (-1, 1))
        share = b * match
        B = G * (b * xp.reshape(own / total, (-1, 1)) - share)
        by_w = by_w + xp.sum(B, axis=0)
        A = B * xp.reshape(w, (1, -1))
        heard = xp.matmul(A, c)
        by_plain = by_plain + xp.sum(
            xp.sum(A, axis=1, keepdims=True) * x * x - 2.0 * x * heard, axis=0
        )
        by_plain = by_plain + xp.matmul(xp.sum(A, axis=0), c * c)
        for k, (_, (delta, missing), (_, slope)) in enumerate(parts):
            by_special[k] = by_special[k] + xp.sum(A * xp.where(missing, slope, delta))
        if u is not None:
            by_u = by_u - xp.sum(share * G * (1.0 / u - u * diff * diff) * xp.reshape(w, (1, -1)))
    sums = {d: -by_special[k] * v[d] for k, d in enumerate(special)}
    for k, d in enumerate(plain):  # x and c were multiplied by v
        by = xp.where(v[d] > 0.0, v[d], xp.ones_like(v[d]))
        sums[d] = -by_plain[k] / by
    return value, xp.stack([sums[d] for d in range(q)]), by_w, by_u
