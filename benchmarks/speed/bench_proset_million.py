"""A million rows, a thousand candidates: what the fit of one batch takes beyond the table.

python benchmarks/speed/bench_proset_million.py [--rows 1000000] [--candidates 1000] [--batches 1]
    [--columns 10] [--flip 0.1] [--jobs 1] [--tol 1e-6]
    [--references all]

A checkerboard of 4 x 4 squares in the first two of the columns (uniform in the unit cube), a share
of the labels flipped: the least log-loss that any model can have is the entropy of the flips. The
table is generated in place, the code warmed up on 2,000 of its rows, and the peak of resident
memory (VmHWM, reset before the fit where the system lets us) is compared with what was resident
before. Log-loss is that of 100,000 fresh rows.
"""

import argparse

from _timing import head, line  # first: it asks NumPy for one thread

# isort: split
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import log_loss

from psephos import ProsetClassifier

SQUARES = 4
STATUS = Path("/proc/self/status")


def table(n, columns, flip, seed):
    """Return (X, y): a checkerboard in columns 0 and 1, a share of its labels flipped."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, columns))
    y = np.floor(SQUARES * X[:, :2]).sum(axis=1).astype(np.int8) % 2
    y ^= rng.random(n) < flip
    return X, y


def resident(what):
    """Return VmRSS (now) or VmHWM (most) in MiB."""
    for told in STATUS.read_text().splitlines():
        if told.startswith(what):
            return int(told.split()[1]) / 1024
    raise RuntimeError(f"{STATUS} has no {what}")


def forget_peak():
    """Set the peak to what is resident now."""
    Path("/proc/self/clear_refs").write_text("5")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--candidates", type=int, default=1000)
    parser.add_argument("--batches", type=int, default=1)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--flip", type=float, default=0.1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--references", choices=["all", "rest"], default="all")
    args = parser.parse_args()
    entropy = -sum(p * np.log(p) for p in (args.flip, 1 - args.flip) if p)
    settings = {"n_candidates": args.candidates, "n_batches": args.batches, "n_jobs": args.jobs,
                "tol": args.tol, "references": args.references}  # fmt: skip
    Z, t = table(100_000, args.columns, args.flip, 1)
    warm = ProsetClassifier(random_state=0, **settings)
    warm.fit(*table(2000, args.columns, args.flip, 2)).predict_proba(Z[:2000])
    head("rows", "table, MiB", "fit, CPU s", "wall s", "peak beyond it, MiB", "times the table",
         "iterations", "stopped", "columns", "prototypes", "log-loss", "least",
         "predict, us a row")  # fmt: skip
    for n in args.rows:
        X, y = table(n, args.columns, args.flip, 0)
        before = resident("VmRSS")
        forget_peak()
        cpu, wall = time.process_time(), time.perf_counter()
        model = ProsetClassifier(random_state=0, **settings).fit(X, y)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        more = resident("VmHWM") - before
        asked = time.process_time()
        P = model.predict_proba(Z)
        asked = time.process_time() - asked
        size = X.nbytes / 2**20
        line(
            f"{n:,}", f"{size:.0f}", f"{cpu:.0f}", f"{wall:.0f}", f"{more:.0f}",
            f"{more / size:.1f}x", str(model.n_iter_.tolist()), "; ".join(model.stopped_),
            str(model.features_used_.tolist()), str(model.n_prototypes_.tolist()),
            f"{log_loss(t, P):.4f}", f"{entropy:.4f}", f"{asked / len(Z) * 1e6:.2f}",
        )  # fmt: skip


if __name__ == "__main__":
    main()
