"""One evaluation of a proset batch, value and gradient, against NumPy: CPU time, one thread.

python benchmarks/speed/bench_proset_evaluation.py [COLUMNS ...] [--growth FILE.svg]

3,500 references and 1,000 candidates of two classes, all columns active, v = 1 / sqrt(p). NumPy,
float64, as a good user would write it: squared distances expanded (one matrix product), one more
product for the gradient by columns; over all pairs at once, or in blocks of 256 references. The
limit is the floating-point work of the two products, 4 p a pair, at the speed of NumPy's own
matrix product of the same precision in this run, plus 25 a pair at the same speed; bytes are what
must be read once. Memory is the most that one call allocates (tracemalloc).

``--growth``: time and memory (of laying out and one call) against references, candidates and
columns, in single precision, beside both limits, drawn; bytes at the speed of a long sum.
"""

from _timing import cpu_time, head, line  # first: it asks NumPy for one thread

# isort: split
import argparse
import tracemalloc
from functools import partial

import numpy as np

from psephos.models.prototypes.objective import BatchObjective

R, M = 3_500, 1_000
PER_PAIR = 25  # operations of exponential, masses and derivatives by weights


def by_numpy(Z, C, y, t, own, total, omega, theta, block):
    """Value and gradient of the data part, float64."""
    q = Z.shape[1]
    v, w = theta[:q], theta[q:]
    c = C * v
    c_squares = (c * c).sum(axis=1)
    value, by_v, by_w = 0.0, np.zeros(q), np.zeros(len(C))
    for start in range(0, len(Z), block):
        rows = slice(start, start + block)
        x = Z[rows] * v
        e = x @ c.T
        e -= 0.5 * (x * x).sum(axis=1)[:, None]
        e -= 0.5 * c_squares
        G = np.exp(e, out=e)
        same = y[rows, None] == t
        mass, whole = own[rows] + (G * same) @ w, total[rows] + G @ w
        value -= (omega[rows] * np.log(mass / whole + 1e-10)).sum()
        G *= (omega[rows] / whole)[:, None] - same * (omega[rows] / mass)[:, None]
        by_w += G.sum(axis=0)
        G *= w
        by_v += (x * x * G.sum(axis=1)[:, None] - 2.0 * x * (G @ c)).sum(axis=0)
        by_v += (G.sum(axis=0)[:, None] * c * c).sum(axis=0)
    return value, np.concatenate([-by_v / v, by_w])


def most_memory(work):
    tracemalloc.start()
    work()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 2**20


class Case:
    """One batch: its objective in both precisions, and NumPy's."""

    def __init__(self, R, M, q):
        rng = np.random.default_rng(0)
        Z, C = rng.standard_normal((R, q)), rng.standard_normal((M, q))
        y, t = rng.integers(0, 2, R), rng.integers(0, 2, M)
        self.shape, none = (R, M, q), np.zeros(q)
        self.given = (Z, C, y, t, np.full(R, 0.5), np.ones(R), np.full(R, 1.0 / R))
        self.rest = none > 0, none
        self.theta = np.concatenate([np.full(q, 1.0 / np.sqrt(q)), rng.uniform(0, 1, M)])

    def objective(self, dtype="float32"):
        return BatchObjective(*self.given, *self.rest, lambda_v=0, lambda_w=0, dtype=dtype)

    def by_numpy(self, block):
        return by_numpy(*self.given, self.theta, block)

    def flops(self):
        R, M, q = self.shape
        return R * M * (4 * q + PER_PAIR)

    def table(self):
        """Bytes of references and candidates in single precision: they must be read once."""
        R, M, q = self.shape
        return 4 * (R + M) * q


def rates(dtype):
    """Operations a second of NumPy's matrix product, and bytes a second of a long sum."""
    a, b = np.ones((R, 1000), dtype), np.ones((1000, M), dtype)
    long = np.ones(2**26, dtype)
    return 2.0 * R * M * 1000 / cpu_time(lambda: a @ b), long.nbytes / cpu_time(long.sum)


def evaluations(columns):
    head("p", "ours f32, ms", "ours f64, ms", "NumPy in blocks, ms", "NumPy at once, ms",
         "f32: at once / ours", "f32: blocks / ours", "f64: at once / ours", "f64: blocks / ours",
         "limit f32, ms", "limit f64, ms", "read once f32, MB", "error of gradient f32", "f64",
         "ours f32, MiB", "NumPy at once, MiB")  # fmt: skip
    for q in columns:
        case = Case(R, M, q)
        theta, both = case.theta, [case.objective(dtype) for dtype in ("float32", "float64")]
        expected = case.by_numpy(256)[1]
        errors = [np.abs(f(theta)[1] - expected).max() / np.abs(expected).max() for f in both]
        work = [partial(f, theta) for f in both] + [partial(case.by_numpy, k) for k in (256, R)]
        f32, f64, blocks, once = (1e3 * cpu_time(one, 9) for one in work)
        limits = [1e3 * case.flops() / rates(dtype)[0] for dtype in (np.float32, np.float64)]
        line(
            str(q), f"{f32:.2f}", f"{f64:.2f}", f"{blocks:.1f}", f"{once:.1f}",
            f"{once / f32:.1f}x", f"{blocks / f32:.1f}x", f"{once / f64:.1f}x",
            f"{blocks / f64:.1f}x", f"{limits[0]:.2f}", f"{limits[1]:.2f}",
            f"{1e-6 * case.table():.2f}", f"{errors[0]:.1e}", f"{errors[1]:.1e}",
            f"{most_memory(work[0]):.1f}", f"{most_memory(work[3]):.0f}",
        )  # fmt: skip


# ------------------------------------------------------------------ growth
AXES = {
    "references": [(n, 1000, 10) for n in (250, 1000, 4000, 16_000, 64_000, 256_000)],
    "candidates": [(4000, m, 10) for m in (30, 100, 300, 1000, 3000, 10_000)],
    "columns": [(4000, 1000, q) for q in (2, 10, 50, 200, 1000, 3000)],
}


def growth(place):
    """Print time and memory of an evaluation along each size, beside the limits; draw them."""
    operations, stream = rates(np.float32)
    head("along", "value", "ours, ms", "NumPy in blocks, ms", "ratio", "limit of operations, ms",
         "of the limit", "limit of bytes, ms", "ours, MiB", "rows and candidates, MiB",
         "pairs at once, MiB")  # fmt: skip
    found = {}
    for label, shapes in AXES.items():
        for shape in shapes:
            case = Case(*shape)
            objective = case.objective()
            ours, peer = (
                1e3 * cpu_time(work, 5)
                for work in (partial(objective, case.theta), partial(case.by_numpy, 256))
            )
            flops, moved = 1e3 * case.flops() / operations, 1e3 * case.table() / stream
            held = most_memory(lambda case=case: case.objective()(case.theta))
            table, pairs = case.table() / 2**20, 8 * shape[0] * shape[1] / 2**20
            value = shape[list(AXES).index(label)]
            found.setdefault(label, []).append(
                (value, ours, peer, flops, moved, held, table, pairs)
            )
            line(
                label, f"{value:,}", f"{ours:.3g}", f"{peer:.3g}", f"{peer / ours:.1f}x",
                f"{flops:.3g}", f"{flops / ours:.0%}", f"{moved:.2g}", f"{held:.2f}",
                f"{table:.2f}", f"{pairs:.0f}",
            )  # fmt: skip
    draw(found, place)


def draw(found, place):
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, len(found), figsize=(4 * len(found), 6.4), sharey="row")
    for column, (label, rows) in zip(axes.T, found.items(), strict=True):
        value, ours, peer, flops, moved, held, table, pairs = np.array(rows).T
        for what, style, name in ((ours, "o-", "psephos, float32"), (peer, "s--", "NumPy, blocks"),
                                  (flops, "k-", "limit: operations"),
                                  (moved, "k:", "limit: bytes")):  # fmt: skip
            column[0].loglog(value, what, style, label=name)
        for what, style, name in ((held, "o-", "psephos, float32"), (table, "k:", "rows, float32"),
                                  (pairs, "s--", "all pairs, float64")):  # fmt: skip
            column[1].loglog(value, what, style, label=name)
        column[1].set_xlabel(label)
    axes[0, 0].set_ylabel("CPU ms an evaluation")
    axes[1, 0].set_ylabel("MiB")
    for ax in axes[:, 0]:
        ax.legend()
    figure.savefig(place, bbox_inches="tight", metadata={"Date": None})
    print(f"\ndrawn to {place}")


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("columns", nargs="*", type=int, default=[2, 10, 50, 200, 1000])
    parser.add_argument("--growth", metavar="FILE", help="draw to this file how the time grows")
    asked = parser.parse_args()
    growth(asked.growth) if asked.growth else evaluations(asked.columns)


if __name__ == "__main__":
    main()
