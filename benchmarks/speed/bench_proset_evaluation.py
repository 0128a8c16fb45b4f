"""One evaluation of a proset batch, value and gradient, against NumPy: CPU time, one thread.

python benchmarks/speed/bench_proset_evaluation.py [COLUMNS ...]

3,500 references and 1,000 candidates of two classes, all columns active, v = 1 / sqrt(p). NumPy,
float64, as a good user would write it: squared distances expanded (one matrix product), one more
product for the gradient by columns; over all pairs at once, or in blocks of 256 references. The
limit is the floating-point work of the two products, 4 p a pair, at the speed of NumPy's own
matrix product of the same precision in this run, plus 25 a pair at the same speed; bytes are what
must be read once. Memory is the most that one call allocates (tracemalloc).
"""

from _timing import cpu_time, head, line  # first: it asks NumPy for one thread

# isort: split
import sys
import tracemalloc

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


def main() -> None:
    rng = np.random.default_rng(0)
    head("p", "ours f32, ms", "ours f64, ms", "NumPy in blocks, ms", "NumPy at once, ms",
         "f32: at once / ours", "f32: blocks / ours", "f64: at once / ours", "f64: blocks / ours",
         "limit f32, ms", "limit f64, ms", "read once f32, MB", "error of gradient f32", "f64",
         "ours f32, MiB", "NumPy at once, MiB")  # fmt: skip
    for q in [int(a) for a in sys.argv[1:]] or [2, 10, 50, 200, 1000]:
        Z, C = rng.standard_normal((R, q)), rng.standard_normal((M, q))
        y, t = rng.integers(0, 2, R), rng.integers(0, 2, M)
        own, total, omega = np.full(R, 0.5), np.ones(R), np.full(R, 1.0 / R)
        theta = np.concatenate([np.full(q, 1.0 / np.sqrt(q)), rng.uniform(0, 1, M)])
        given = (Z, C, y, t, own, total, omega)

        def peer(block, given=given, theta=theta):
            return by_numpy(*given, theta, block)

        none = np.zeros(q)
        single, double = (
            BatchObjective(*given, none > 0, none, lambda_v=0, lambda_w=0, dtype=dtype)
            for dtype in ("float32", "float64")
        )
        expected = peer(256)[1]
        errors = [
            np.abs(f(theta)[1] - expected).max() / np.abs(expected).max() for f in (single, double)
        ]

        def ours(f, theta=theta):
            return f(theta)

        times = [
            cpu_time(work, 9)
            for work in (lambda f=single: ours(f), lambda f=double: ours(f),
                         lambda: peer(256), lambda: peer(R))
        ]  # fmt: skip
        limits = []
        for dtype in (np.float32, np.float64):
            a, b = np.ones((R, 1000), dtype), np.ones((1000, M), dtype)
            rate = 2.0 * R * M * 1000 / cpu_time(lambda a=a, b=b: a @ b)
            limits.append(R * M * (4 * q + PER_PAIR) / rate * 1e3)
        f32, f64, blocks, once = (1e3 * s for s in times)
        line(
            str(q), f"{f32:.2f}", f"{f64:.2f}", f"{blocks:.1f}", f"{once:.1f}",
            f"{once / f32:.1f}x", f"{blocks / f32:.1f}x", f"{once / f64:.1f}x",
            f"{blocks / f64:.1f}x", f"{limits[0]:.2f}", f"{limits[1]:.2f}",
            f"{4e-6 * (R + M) * q:.2f}", f"{errors[0]:.1e}", f"{errors[1]:.1e}",
            f"{most_memory(lambda f=single: ours(f)):.1f}",
            f"{most_memory(lambda: peer(R)):.0f}",
        )  # fmt: skip


if __name__ == "__main__":
    main()
