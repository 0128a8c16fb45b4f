"""Vector code for sums over pairs of a reference and a candidate.

Candidates stand in panels: LANES of them side by side in two vectors, ``panel[column, lane]``;
the pairs of some references with one panel are ``tile[reference, lane]``. Every function takes
flat arrays and the place in each where its piece begins. With the JIT off the same functions are
plain NumPy.
"""

from collections.abc import Callable
from typing import Any

import numba
from llvmlite import ir

from psephos.kernels.prototypes.plain import (
    plain_add,
    plain_add_special,
    plain_column,
    plain_column_special,
    plain_hear,
    plain_heard,
    plain_mass_classes,
    plain_mass_targets,
    plain_put,
    plain_put_rows,
    plain_say,
    plain_slope_classes,
    plain_slope_targets,
    plain_sum_lanes,
)
from psephos.kernels.prototypes.vector_code import (
    COLUMNS,
    FEW,
    MANY,
    ROWS,
    TURNS,
    Code,
    make_intrinsic,
)

__all__ = [
    "add_heard",
    "add_products",
    "add_special",
    "add_squares",
    "column_products",
    "column_products_last",
    "column_special",
    "column_squares",
    "column_squares_last",
    "hear",
    "mass_classes",
    "mass_targets",
    "put_products",
    "put_rows",
    "put_squares",
    "say",
    "slope_classes",
    "slope_targets",
    "sum_lanes",
]


def _add(squares: bool) -> Callable[..., None]:
    def write(c: Code, tile, at, x, x_at, stride, panel, panel_at, depth):
        width = 2 * c.length
        row = [c.place(tile, at, r * width) for r in range(ROWS)]
        start = [v for place in row for v in c.load(place)]

        def body(d, sums):
            here = c.load(panel, panel_at, c.times(d, width))
            news = []
            for r in range(ROWS):
                one = c.spread(x, x_at, c.times(stride, r), d)
                for h in range(2):
                    if squares:
                        diff = c.sub(here[h], one)
                        term = c.mul(diff, diff)
                    else:
                        term = c.mul(here[h], one)
                    news.append(c.add(sums[2 * r + h], term))
            return news

        sums = c.loop(depth, start, body)
        for r, place in enumerate(row):
            c.store(sums[2 * r : 2 * r + 2], place)

    return write


def _put(squares: bool) -> Callable[..., None]:
    def write(c: Code, tile, at, x, x_at, panel, panel_at, depth):
        width = 2 * c.length

        def body(d, sums):
            here = c.load(panel, panel_at, c.times(d, width))
            mine = c.place(x, x_at, c.times(d, ROWS))
            news = []
            for r in range(ROWS):
                one = c.spread(mine, r)
                for h in range(2):
                    diff = c.sub(here[h], one) if squares else one
                    news.append(c.add(sums[2 * r + h], c.mul(diff if squares else here[h], diff)))
            return news

        sums = c.loop(depth, [c.number(0.0)] * (2 * ROWS), body)
        for r in range(ROWS):
            c.store(sums[2 * r : 2 * r + 2], tile, at, r * width)

    return write


def _column(columns: int, squares: bool) -> Callable[..., None]:
    def write(c: Code, tile, at, n, x, x_at, stride, panel, panel_at, w, w_at, out, out_at):
        width = 2 * c.length
        here = [c.load(panel, panel_at, d * width) for d in range(columns)]

        def body(r, sums):
            heard = c.load(tile, at, c.times(r, width))
            news = []
            for d in range(columns):
                one = c.spread(x, x_at, c.b.mul(r, stride), d)
                for h in range(2):
                    if squares:
                        diff = c.sub(here[d][h], one)
                        term = c.mul(c.mul(diff, heard[h]), diff)
                    else:
                        term = c.mul(heard[h], one)
                    news.append(c.add(sums[2 * d + h], term))
            return news

        sums = c.loop(n, [c.number(0.0)] * (2 * columns), body)
        weight = c.load(w, w_at)
        for d in range(columns):
            total = sums[2 * d : 2 * d + 2]
            if not squares:
                total = [c.mul(t, p) for t, p in zip(total, here[d], strict=True)]
            old = c.load(out, out_at, d * width)
            new = [c.add(o, c.mul(t, v)) for o, t, v in zip(old, total, weight, strict=True)]
            c.store(new, out, out_at, d * width)

    return write


def _special_term(c: Code, here: Any, one: Any, mismatch: Any, missing: Any, category: Any) -> Any:
    diff = c.sub(here, one)
    same = c.b.select(c.b.fcmp_ordered("==", here, one), c.number(0.0), mismatch)
    term = c.b.select(category, same, c.mul(diff, diff))
    return c.b.select(c.b.fcmp_unordered("uno", here, one), missing, term)


def _is_category(c: Code, terms: Any, terms_at: Any) -> Any:
    return c.b.fcmp_ordered(">=", c.b.load(c.place(terms, terms_at)), ir.Constant(c.kind, 0.0))


def _add_special(c: Code, tile, at, n, x, x_at, stride, panel, panel_at, terms, terms_at):
    width = 2 * c.length
    here = c.load(panel, panel_at)
    mismatch, missing = c.spread(terms, terms_at), c.spread(terms, terms_at, 1)
    category = _is_category(c, terms, terms_at)

    def body(r, _):
        one = c.spread(x, x_at, c.b.mul(r, stride))
        place = c.place(tile, at, c.times(r, width))
        news = [
            c.add(old, _special_term(c, p, one, mismatch, missing, category))
            for old, p in zip(c.load(place), here, strict=True)
        ]
        c.store(news, place)
        return []

    c.loop(n, [], body)


def _column_special(c: Code, tile, at, n, x, x_at, stride, panel, panel_at, w, w_at, out, out_at,
                  terms, terms_at):  # fmt: skip
    width = 2 * c.length
    here = c.load(panel, panel_at)
    mismatch, missing = c.spread(terms, terms_at), c.spread(terms, terms_at, 1)
    category = _is_category(c, terms, terms_at)

    def body(r, sums):
        one = c.spread(x, x_at, c.b.mul(r, stride))
        heard = c.load(tile, at, c.times(r, width))
        return [
            c.add(s, c.mul(a, _special_term(c, p, one, mismatch, missing, category)))
            for s, a, p in zip(sums, heard, here, strict=True)
        ]

    sums = c.loop(n, [c.number(0.0)] * 2, body)
    old = c.load(out, out_at)
    new = [c.add(o, c.mul(s, v)) for o, s, v in zip(old, sums, c.load(w, w_at), strict=True)]
    c.store(new, out, out_at)


def _own_class(c: Code, theirs: Any, own: Any) -> Any:
    """Whether a reference is of each candidate's class: 1 or 0."""
    return c.b.select(c.b.fcmp_ordered("==", theirs, own), c.number(1.0), c.number(0.0))


def _near_target(c: Code, theirs: Any, own: Any, scale: Any, height: Any) -> tuple[Any, Any]:
    """Say how far a reference is of each candidate's kind; (t_n - t_j)^2 scaled, too."""
    diff = c.mul(c.sub(theirs, own), scale)
    square = c.mul(diff, diff)
    return c.mul(height, c.exp2_minus(square)), square


def _add_masses(c: Code, tile, at, n, t, t_at, w, w_at, own, total, to, match):
    width = 2 * c.length
    weight = c.load(w, w_at)

    def body(r, _):
        here = c.times(r, width)
        mine = c.spread(t, t_at, r)
        kernel = [c.exp2_minus(e) for e in c.load(tile, at, here)]
        c.store(kernel, tile, at, here)
        mass = [c.mul(k, v) for k, v in zip(kernel, weight, strict=True)]
        old = c.load(total, to, here)
        c.store([c.add(o, m) for o, m in zip(old, mass, strict=True)], total, to, here)
        old = c.load(own, to, here)
        new = [c.add(o, c.mul(m, f)) for o, m, f in zip(old, mass, match(mine), strict=True)]
        c.store(new, own, to, here)
        return []

    c.loop(n, [], body)


def _mass_classes(c: Code, tile, at, n, t, t_at, label, label_at, w, w_at, own, total, to):
    theirs = c.load(label, label_at)

    def match(mine):
        return [_own_class(c, y, mine) for y in theirs]

    _add_masses(c, tile, at, n, t, t_at, w, w_at, own, total, to, match)


def _mass_targets(c: Code, tile, at, n, t, t_at, label, label_at, w, w_at, own, total, to, of):
    theirs, scale, height = c.load(label, label_at), c.spread(of), c.spread(of, 1)

    def match(mine):
        return [_near_target(c, y, mine, scale, height)[0] for y in theirs]

    _add_masses(c, tile, at, n, t, t_at, w, w_at, own, total, to, match)


def _slope_classes(c: Code, tile, at, n, t, t_at, label, label_at, by_total, by_own, out, out_at):
    theirs = c.load(label, label_at)

    def body(r, sums):
        here = c.times(r, 2 * c.length)
        mine, whole, part = c.spread(t, t_at, r), c.spread(by_total, r), c.spread(by_own, r)
        slopes = [
            c.mul(kernel, c.sub(whole, c.mul(part, _own_class(c, y, mine))))
            for kernel, y in zip(c.load(tile, at, here), theirs, strict=True)
        ]
        c.store(slopes, tile, at, here)
        return [c.add(s, new) for s, new in zip(sums, slopes, strict=True)]

    c.store(c.loop(n, [c.number(0.0)] * 2, body), out, out_at)


def _slope_targets(c: Code, tile, at, n, t, t_at, label, label_at, w, w_at, by_total, by_own, out,
                   out_at, of):  # fmt: skip
    width = 2 * c.length
    theirs, weight = c.load(label, label_at), c.load(w, w_at)
    scale, height = c.spread(of), c.spread(of, 1)

    def body(r, sums):
        here = c.times(r, width)
        mine, whole, part = c.spread(t, t_at, r), c.spread(by_total, r), c.spread(by_own, r)
        slopes, shares, spreads = [], [], []
        for kernel, y in zip(c.load(tile, at, here), theirs, strict=True):
            match, square = _near_target(c, y, mine, scale, height)
            share = c.mul(part, match)
            slopes.append(c.mul(kernel, c.sub(whole, share)))
            shares.append(c.mul(share, kernel))
            spreads.append(c.mul(shares[-1], square))
        c.store(slopes, tile, at, here)
        news = slopes + shares + spreads
        return [c.add(s, new) for s, new in zip(sums, news, strict=True)]

    sums = c.loop(n, [c.number(0.0)] * 6, body)
    c.store(sums[:2], out, out_at)
    for k in (2, 4):
        pair = [c.mul(s, v) for s, v in zip(sums[k : k + 2], weight, strict=True)]
        c.store(pair, out, out_at, k // 2 * width)


def _hear(c: Code, tile, at, n, w, w_at, w_too, out, out_at, out_too):
    weights = c.load_one(w, w_at), c.load_one(w, w_too)

    def body(i, _):
        first = c.times(i, TURNS)
        here, there = c.place(tile, at, c.times(first, 2 * c.length)), c.times(first, c.length)
        exponents = [e for r in range(TURNS) for e in c.load(here, r * 2 * c.length)]
        kernels = c.exp2_minus_short(exponents)
        for r in range(TURNS):
            pair = kernels[2 * r : 2 * r + 2]
            c.store(pair, here, r * 2 * c.length)
            for kernel, weight, begin in zip(pair, weights, (out_at, out_too), strict=True):
                place = c.place(out, begin, there, r * c.length)
                c.store_one(c.add(c.load_one(place), c.mul(kernel, weight)), place)
        return []

    c.loop(c.b.sdiv(n, ir.Constant(ir.IntType(64), TURNS)), [], body)


def _add_heard(c: Code, tile, at, n, w, w_at, out, out_at):
    weight = c.load_one(w, w_at)

    def body(r, _):
        kernel = c.load_one(tile, at, c.times(r, 2 * c.length))
        place = c.place(out, out_at, c.times(r, c.length))
        c.store_one(c.add(c.load_one(place), c.mul(kernel, weight)), place)
        return []

    c.loop(n, [], body)


def _sum_lanes(c: Code, by_lane, n, out):
    def body(i, _):
        first = c.times(i, c.length)
        here = c.place(by_lane, c.times(first, c.length))
        c.store_one(
            c.sums_of([c.load_one(here, k * c.length) for k in range(c.length)]), out, first
        )
        return []

    last = ir.Constant(ir.IntType(64), c.length - 1)
    c.loop(c.b.sdiv(c.b.add(n, last), ir.Constant(ir.IntType(64), c.length)), [], body)


def _put_rows(c: Code, rows, rows_at, where, table, p, scaling, q, x, at, plain, factor):
    # Rows go by in vectors of 8 and 4, or 4 and 2: of 12 or 6 LLVM would carry single numbers.
    double, most = ir.DoubleType(), ROWS * 2 // 3
    sides = [(0, ir.VectorType(double, most)), (most, ir.VectorType(double, ROWS - most))]

    def alike(side, value):
        none = ir.Constant(ir.VectorType(ir.IntType(32), side.count), [0] * side.count)
        first = c.b.insert_element(
            ir.Constant(side, ir.Undefined), value, ir.Constant(ir.IntType(32), 0)
        )
        return c.b.shuffle_vector(first, ir.Constant(side, ir.Undefined), none)

    def put(value, *offsets):
        if c.single:
            value = c.b.fptrunc(value, ir.VectorType(c.kind, value.type.count))
        pointer = c.b.bitcast(c.place(x, at, *offsets), value.type.as_pointer())
        c.b.store(value, pointer, align=c.dtype.itemsize)

    own = [c.place(table, c.b.mul(c.b.load(c.place(rows, rows_at, r)), p)) for r in range(ROWS)]

    def body(k, sums):
        column = c.b.load(c.place(where, k))
        numbers = [c.b.load(c.place(scaling, c.times(q, n), k)) for n in range(4)]
        news = []
        for (begin, side), old in zip(sides, sums, strict=True):
            z = ir.Constant(side, ir.Undefined)
            for r in range(side.count):
                one = c.b.load(c.place(own[begin + r], column))
                z = c.b.insert_element(z, one, ir.Constant(ir.IntType(32), r))
            centre, inverse, mean, scale = (alike(side, number) for number in numbers)
            z = c.b.fmul(c.b.fsub(z, centre), inverse)
            z = c.b.fmul(c.b.fsub(z, mean), scale)
            put(c.b.fmul(z, alike(side, factor)), c.times(k, ROWS), begin)
            news.append(c.b.fadd(old, c.b.fmul(z, z)))
        return news

    zeros = [ir.Constant(side, [0.0] * side.count) for _, side in sides]
    norms = c.loop(plain, zeros, body)
    for (begin, side), norm in zip(sides, norms, strict=True):
        put(norm, c.times(plain, ROWS), begin)
        put(ir.Constant(side, [1.0] * side.count), c.times(plain, ROWS), ROWS + begin)


def _say(c: Code, sums, n, parts, kinds, columns, out):
    def row(i, _):
        mine, there = c.place(sums, c.b.mul(i, parts)), c.place(out, c.b.mul(i, columns))

        def column(v, _):
            at = c.times(v, c.length)

            def part(k, total):
                here = c.load_one(kinds, c.b.mul(k, columns), at)
                return [c.add(total[0], c.mul(c.spread(mine, k), here))]

            c.store_one(c.loop(parts, [c.number(0.0)], part)[0], there, at)
            return []

        c.loop(c.b.sdiv(columns, ir.Constant(ir.IntType(64), c.length)), [], column)
        return []

    c.loop(n, [], row)


def _pick(write: Callable[..., None], plain: Callable[..., None]) -> Any:
    off = numba.config.DISABLE_JIT  # type: ignore[attr-defined]
    return plain if off else make_intrinsic(write)


#: (tile, at, x, x_at, stride, panel, panel_at, depth): add to ROWS rows of the tile the sum of
#: ``x[row, d] panel[d, lane]``, d < depth, row r of x beginning at ``x_at + r stride``.
add_products: Any = _pick(_add(False), plain_add(False))
#: The same of ``(x[row, d] - panel[d, lane])^2``.
add_squares: Any = _pick(_add(True), plain_add(True))
#: (tile, at, x, x_at, panel, panel_at, depth): both put in place of what the tile held, the rows
#: of x side by side, ``x[d, row]``: twelve places to read from would not fit the registers.
put_products: Any = _pick(_put(False), plain_put(False))
put_squares: Any = _pick(_put(True), plain_put(True))
#: (rows, rows_at, where, table, p, scaling, q, x, at, plain, factor): put ROWS rows of a table
#: (n, p), float64, side by side into x: columns ``where``, each less ``scaling[0]`` times
#: ``scaling[1]``, less ``scaling[2]`` times ``scaling[3]``, of (5, q), times the factor; after
#: them the sums of their squares (without it), and ones.
put_rows: Any = _pick(_put_rows, plain_put_rows)
#: (tile, at, n, w, w_at, w_too, out, out_at, out_too): put the kernel 2^-e in place of e, and add
#: ``w kernel`` to ``out[row, lane]``, whose rows are of one vector: each of the two vectors has its
#: own weights and its own place there. (2^-negligible where e exceeds that.)
hear: Any = _pick(_hear, plain_hear)
#: (tile, at, n, w, w_at, out, out_at): the last step once more, for one vector of each row.
add_heard: Any = _pick(_add_heard, plain_heard)
#: (sums, n, parts, kinds, columns, out): put ``sums (n, parts) @ kinds (parts, columns)`` into
#: out, each entry summed in one order; the columns fill whole vectors.
say: Any = _pick(_say, plain_say)
#: (by_lane, n, out): the sum of each of n vectors, its lanes added half to half. Both have room
#: for as many vectors more as fill the last vector of sums.
sum_lanes: Any = _pick(_sum_lanes, plain_sum_lanes)
#: (tile, at, n, x, x_at, stride, panel, panel_at, terms, terms_at): one column that needs a
#: question. ``terms`` holds what it adds where codes differ (negative: a column of numbers, which
#: adds the squared difference) and where a value is missing.
add_special: Any = _pick(_add_special, plain_add_special)
#: (tile, at, n, t, t_at, label, label_at, w, w_at, own, total, to): put the kernel 2^-e in place
#: of e, and add ``w kernel`` to total, times 1[label = t] to own, by row and lane.
mass_classes: Any = _pick(_mass_classes, plain_mass_classes)
#: (..., of): the same with ``of[1] 2^-(of[0] (label - t))^2`` for 1[label = t].
mass_targets: Any = _pick(_mass_targets, plain_mass_targets)
#: (tile, at, n, t, t_at, label, label_at, by_total, by_own, out, out_at): put
#: ``b = kernel (by_total - by_own match)`` in place of the kernel; sum of b over rows into out.
slope_classes: Any = _pick(_slope_classes, plain_slope_classes)
#: (tile, at, n, t, t_at, label, label_at, w, w_at, by_total, by_own, out, out_at, of): the same,
#: then the sums of ``m = w kernel by_own match`` and of ``m (of[0] (label - t))^2``.
slope_targets: Any = _pick(_slope_targets, plain_slope_targets)
#: (tile, at, n, x, x_at, stride, panel, panel_at, w, w_at, out, out_at): add, for some columns d
#: side by side, ``w panel[d] sum over rows of b x[row, d]`` to ``out[d, lane]``.
column_products: Any = _pick(_column(MANY, False), plain_column(MANY, False))
column_products_last: Any = _pick(_column(COLUMNS, False), plain_column(COLUMNS, False))
#: The same of ``w sum over rows of b (x[row, d] - panel[d])^2``.
column_squares: Any = _pick(_column(FEW, True), plain_column(FEW, True))
column_squares_last: Any = _pick(_column(COLUMNS, True), plain_column(COLUMNS, True))
#: (..., terms, terms_at): the same for one column as in ``add_special``.
column_special: Any = _pick(_column_special, plain_column_special)
