"""What the functions of ``vectors`` do, in NumPy: they stand in with the JIT off."""

import numpy as np

from psephos.kernels.prototypes.vector_code import ROWS, lanes, negligible

__all__ = [
    "plain_add",
    "plain_add_special",
    "plain_column",
    "plain_column_special",
    "plain_hear",
    "plain_heard",
    "plain_mass_classes",
    "plain_mass_targets",
    "plain_put",
    "plain_put_rows",
    "plain_say",
    "plain_slope_classes",
    "plain_slope_targets",
    "plain_sum_lanes",
]


def _exp2_minus(e):
    return np.where(e > negligible(e.dtype), 0, np.exp2(-np.maximum(e, 0)))


def plain_add(squares):
    """Do as ``add_squares`` or ``add_products``."""

    def add(tile, at, x, x_at, stride, panel, panel_at, depth):
        width = lanes(tile.dtype)
        here = tile[at : at + ROWS * width].reshape(ROWS, width)
        c = panel[panel_at : panel_at + depth * width].reshape(depth, width)
        rows = np.stack([x[x_at + r * stride :][:depth] for r in range(ROWS)])
        here += ((rows[:, :, None] - c) ** 2).sum(axis=1) if squares else rows @ c

    return add


def plain_put(squares):
    """Do as ``put_squares`` or ``put_products``."""

    def put(tile, at, x, x_at, panel, panel_at, depth):
        tile[at : at + ROWS * lanes(tile.dtype)] = 0
        by_row = np.ascontiguousarray(x[x_at : x_at + depth * ROWS].reshape(depth, ROWS).T).ravel()
        plain_add(squares)(tile, at, by_row, 0, depth, panel, panel_at, depth)

    return put


def plain_put_rows(rows, rows_at, where, table, p, scaling, q, x, at, plain, factor):
    """Do as ``put_rows``."""
    centre, inverse, mean, scale = scaling[:4, :plain, None]
    z = table[rows[rows_at : rows_at + ROWS]][:, where[:plain]].T
    z = ((z - centre) * inverse - mean) * scale
    out = x[at : at + (plain + 2) * ROWS].reshape(plain + 2, ROWS)
    out[:plain], out[plain + 1] = z * factor, 1.0
    out[plain] = 0.0
    for one in z:
        out[plain] += one * one


def plain_column(columns, squares):
    """Do as ``column_squares`` or ``column_products`` of some columns."""

    def column(tile, at, n, x, x_at, stride, panel, panel_at, w, w_at, out, out_at):
        width = lanes(tile.dtype)
        heard = tile[at : at + n * width].reshape(n, width)
        c = panel[panel_at : panel_at + columns * width].reshape(columns, width)
        rows = np.stack([x[x_at + r * stride :][:columns] for r in range(n)])
        if squares:
            sums = ((rows[:, :, None] - c) ** 2 * heard[:, None, :]).sum(axis=0)
        else:
            sums = (rows.T @ heard) * c
        total = out[out_at : out_at + columns * width].reshape(columns, width)
        total += sums * w[w_at : w_at + width]

    return column


def _plain_terms(n, x, x_at, stride, panel, panel_at, terms, terms_at):
    c = panel[panel_at : panel_at + lanes(panel.dtype)]
    rows = x[x_at : x_at + (n - 1) * stride + 1 : stride][:, None]
    mismatch, missing = terms[terms_at], terms[terms_at + 1]
    squares = np.where(rows == c, 0, mismatch) if mismatch >= 0 else (rows - c) ** 2
    return np.where(np.isnan(rows) | np.isnan(c), missing, squares).astype(panel.dtype)


def plain_add_special(tile, at, n, x, x_at, stride, panel, panel_at, terms, terms_at):
    """Do as ``add_special``."""
    here = tile[at : at + n * lanes(tile.dtype)].reshape(n, -1)
    here += _plain_terms(n, x, x_at, stride, panel, panel_at, terms, terms_at)


def plain_column_special(tile, at, n, x, x_at, stride, panel, panel_at, w, w_at, out, out_at,
                          terms, terms_at):  # fmt: skip
    """Do as ``column_special``."""
    width = lanes(tile.dtype)
    heard = tile[at : at + n * width].reshape(n, width)
    values = _plain_terms(n, x, x_at, stride, panel, panel_at, terms, terms_at)
    out[out_at : out_at + width] += (heard * values).sum(axis=0) * w[w_at : w_at + width]


def _plain_match(theirs, own, of):
    square = ((theirs - own[:, None]) * of[0]) ** 2
    return of[1] * _exp2_minus(square), square


def _plain_masses(tile, at, n, w, w_at, own, total, to, match):
    width = lanes(tile.dtype)
    here = tile[at : at + n * width].reshape(n, width)
    here[:] = _exp2_minus(here)
    heard = here * w[w_at : w_at + width]
    total[to : to + n * width] += heard.ravel()
    own[to : to + n * width] += (heard * match).ravel()


def plain_mass_classes(tile, at, n, t, t_at, label, label_at, w, w_at, own, total, to):
    """Do as ``mass_classes``."""
    match = label[label_at : label_at + lanes(tile.dtype)] == t[t_at:][:n, None]
    _plain_masses(tile, at, n, w, w_at, own, total, to, match)


def plain_mass_targets(tile, at, n, t, t_at, label, label_at, w, w_at, own, total, to, of):
    """Do as ``mass_targets``."""
    match, _ = _plain_match(label[label_at : label_at + lanes(tile.dtype)], t[t_at:][:n], of)
    _plain_masses(tile, at, n, w, w_at, own, total, to, match)


def plain_slope_classes(tile, at, n, t, t_at, label, label_at, by_total, by_own, out, out_at):
    """Do as ``slope_classes``."""
    width = lanes(tile.dtype)
    here = tile[at : at + n * width].reshape(n, width)
    match = label[label_at : label_at + width] == t[t_at:][:n, None]
    here *= by_total[:n, None] - by_own[:n, None] * match
    out[out_at : out_at + width] = here.sum(axis=0)


def plain_slope_targets(tile, at, n, t, t_at, label, label_at, w, w_at, by_total, by_own, out,
                        out_at, of):  # fmt: skip
    """Do as ``slope_targets``."""
    width = lanes(tile.dtype)
    here = tile[at : at + n * width].reshape(n, width)
    match, square = _plain_match(label[label_at : label_at + width], t[t_at:][:n], of)
    share, weight = by_own[:n, None] * match, w[w_at : w_at + width]
    slope = here * (by_total[:n, None] - share)
    parts = [(share * here).sum(axis=0) * weight, (share * here * square).sum(axis=0) * weight]
    out[out_at : out_at + 3 * width] = np.concatenate([slope.sum(axis=0), *parts])
    here[:] = slope


def plain_hear(tile, at, n, w, w_at, w_too, out, out_at, out_too):
    """Do as ``hear``."""
    width = lanes(tile.dtype)
    here = tile[at : at + n * width]
    here[:] = np.exp2(-np.minimum(here, negligible(tile.dtype)))
    plain_heard(tile, at, n, w, w_at, out, out_at)
    plain_heard(tile, at + width // 2, n, w, w_too, out, out_too)


def plain_heard(tile, at, n, w, w_at, out, out_at):
    """Do as ``add_heard``."""
    width = lanes(tile.dtype)
    half = width // 2
    here = np.stack([tile[at + r * width :][:half] for r in range(n)])
    out[out_at : out_at + n * half] += (here * w[w_at : w_at + half]).ravel()


def plain_say(sums, n, parts, kinds, columns, out):
    """Do as ``say``."""
    out[:] = 0.0
    for k in range(parts):
        out += sums[:, k, None] * kinds[k]


def plain_sum_lanes(by_lane, n, out):
    """Do as ``sum_lanes``."""
    half = lanes(by_lane.dtype) // 2
    n += -n % half
    out[:n] = by_lane[: n * half].reshape(n, half).sum(axis=1)
