"""SamBA's sums of local weights, ours against blocked NumPy in float64: CPU time, one thread.

python benchmarks/speed/bench_similarity.py

2,000 anchors, 500 queries. NumPy computes the same formula in blocks of 64 queries with
scipy's ``cdist`` and one matrix product. The physical limit is named as the time the matrix
product with the voters alone takes, and the arithmetic of the power at one vector division each.
"""

from _timing import cpu_time, head, line

import numpy as np
from psephos.kernels.similarity import InverseDistance, Metric, local_sums
from scipy.spatial.distance import cdist

ANCHORS, QUERIES = 2_000, 500


def blocked(X, Z, a, b, scale, s, right):
    total, heard = np.empty(len(X)), np.empty((len(X), right.shape[1]))
    table = s[:, None] * right
    for first in range(0, len(X), 64):
        rows = slice(first, first + 64)
        d = cdist(X[rows], Z)
        k = 1.0 / (a**b + (d / scale) ** b)
        total[rows] = k @ s
        heard[rows] = k @ table
    return total, heard


def main() -> None:
    rng = np.random.default_rng(0)
    head("q", "T", "b", "ours, ms", "NumPy, ms", "ratio", "greatest relative difference",
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
                kernel = InverseDistance(0.1, b, 0.5)

                def ours(X=X, Z=Z, metric=metric, kernel=kernel, s=s, right=right):
                    return local_sums(X, Z, metric, kernel, s, right)

                def theirs(X=X, Z=Z, b=b, s=s, right=right):
                    return blocked(X, Z, 0.1, b, 0.5, s, right)

                here, there = ours(), theirs()
                apart = max(
                    np.abs(here[0] / there[0] - 1).max(), np.abs(here[1] / there[1] - 1).max()
                )
                fast, slow = cpu_time(ours, 15), cpu_time(theirs, 15)
                line(
                    str(q), str(n_voters), str(b), f"{fast * 1e3:.2f}", f"{slow * 1e3:.2f}",
                    f"{slow / fast:.1f}x", f"{apart:.1e}", f"{product * 1e3:.2f}",
                    f"{fast * 1e9 / ANCHORS / QUERIES:.2f}",
                )  # fmt: skip


if __name__ == "__main__":
    main()
