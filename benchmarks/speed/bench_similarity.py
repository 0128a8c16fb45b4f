"""SamBA's sums of local weights, ours against blocked NumPy in float64: CPU time, one thread.

python benchmarks/speed/bench_similarity.py

2,000 anchors, 500 queries. NumPy computes the same formula in blocks of 64 queries: distances by
differences (as the formula asks: the expanded square is not exact near zero), a power, a matrix
product; a second column takes the distances from scipy's compiled ``cdist``. The limit named is
arithmetic: the time of the matrix product with the voters alone.
"""

from _timing import cpu_time, head, line  # first: it asks NumPy for one thread

# isort: split
import numpy as np
from scipy.spatial.distance import cdist

from psephos.kernels.prediction.similarity import InverseKernel, Metric, local_sums

ANCHORS, QUERIES = 2_000, 500


def by_numpy(X, Z):
    squares = np.zeros((len(X), len(Z)))
    for f in range(X.shape[1]):
        diff = X[:, f, None] - Z[:, f]
        diff *= diff
        squares += diff
    return np.sqrt(squares)


def blocked(X, Z, a, b, scale, s, right, distance):
    total, heard = np.empty(len(X)), np.empty((len(X), right.shape[1]))
    table = s[:, None] * right
    for first in range(0, len(X), 64):
        rows = slice(first, first + 64)
        k = 1.0 / (a**b + (distance(X[rows], Z) / scale) ** b)
        total[rows] = k @ s
        heard[rows] = k @ table
    return total, heard


def main() -> None:
    rng = np.random.default_rng(0)
    head("q", "T", "b", "ours, ms", "NumPy, ms", "ratio", "with cdist, ms",
         "ratio", "greatest relative difference",
         "matrix product alone, ms", "ours, ns/pair")  # fmt: skip
    for q in (2, 10):
        X, Z = rng.random((QUERIES, q)), rng.random((ANCHORS, q))
        s = rng.uniform(0.5, 1.5, ANCHORS)
        metric = Metric(np.ones(q), np.zeros(q, np.bool_), np.inf)
        for n_voters in (10, 100):
            right = rng.random((ANCHORS, n_voters)) < 0.7
            full, table = rng.random((QUERIES, ANCHORS)), right.astype(float)
            product = cpu_time(lambda full=full, table=table: full @ table, 15)
            for b in (3.0, 2.7, 4.0):
                kernel = InverseKernel(0.1, b, 0.5)

                def ours(X=X, Z=Z, metric=metric, kernel=kernel, s=s, right=right):
                    return local_sums(X, Z, metric, kernel, s, right)

                def theirs(distance=by_numpy, X=X, Z=Z, b=b, s=s, right=right):
                    return blocked(X, Z, 0.1, b, 0.5, s, right, distance)

                here, there = ours(), theirs()
                apart = max(
                    np.abs(here[0] / there[0] - 1).max(), np.abs(here[1] / there[1] - 1).max()
                )
                fast, slow = cpu_time(ours, 15), cpu_time(theirs, 15)
                scipy = cpu_time(lambda theirs=theirs: theirs(cdist), 15)
                line(
                    str(q), str(n_voters), str(b), f"{fast * 1e3:.2f}", f"{slow * 1e3:.2f}",
                    f"{slow / fast:.1f}x", f"{scipy * 1e3:.2f}", f"{scipy / fast:.1f}x",
                    f"{apart:.1e}", f"{product * 1e3:.2f}",
                    f"{fast * 1e9 / ANCHORS / QUERIES:.2f}",
                )  # fmt: skip


if __name__ == "__main__":
    main()
