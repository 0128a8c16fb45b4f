"""Whole fits, ours against scikit-learn's AdaBoost: sort included, CPU time, one thread, one run.

python benchmarks/speed/bench_fit.py [--small]

Random tables and labels. scikit-learn's stumps cost the same every round, so where T rounds of
them would take minutes a few are timed and scaled, and the table says so. Then the
time of the imports.
"""

import argparse
import subprocess
import sys

from _timing import cpu_time, head, line  # first: it asks NumPy for one thread

# isort: split
import numpy as np
from sklearn.ensemble import AdaBoostClassifier as PeerAdaBoost

from psephos import AdaBoostClassifier, SamBAClassifier

ROUNDS_TIMED = 5  # of the peer, where all would take too long


def table(n, p, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)).astype(np.float32).astype(np.float64)
    return X, rng.integers(0, 2, n)


def fit_seconds(model, X, y):
    return cpu_time(lambda: model.fit(X, y))


def peer_seconds(X, y, rounds):
    """Return (seconds, whether scaled)."""
    scaled = X.size * rounds > 10**8
    timed = ROUNDS_TIMED if scaled else rounds
    model = PeerAdaBoost(n_estimators=timed, random_state=0)
    seconds = cpu_time(lambda: model.fit(X, y), 1 if scaled else 5)
    return seconds * rounds / timed, scaled


def same_stumps(X, y, rounds):
    """How many of the first rounds choose the same column as scikit-learn's trees."""
    ours = AdaBoostClassifier(n_estimators=rounds).fit(X, y).vote_.voters
    peer = PeerAdaBoost(n_estimators=rounds, random_state=0).fit(X, y)
    theirs = [tree.tree_.feature[0] for tree in peer.estimators_]
    return int(np.sum(ours.columns[ours.feature] == theirs[: ours.n_voters]))


def adaboost_rows(shapes):
    print("\n## AdaBoost fit\n")
    head("rows x columns", "T", "error, s", "gini, s", "peer, s", "error", "gini", "same columns")
    for n, p, rounds in shapes:
        X, y = table(n, p)
        error = fit_seconds(AdaBoostClassifier(n_estimators=rounds, criterion="error"), X, y)
        gini = fit_seconds(AdaBoostClassifier(n_estimators=rounds), X, y)
        peer, scaled = peer_seconds(X, y, rounds)
        same = same_stumps(X, y, 10) if not scaled or p <= 12_000 else "-"
        line(
            f"{n} x {p}", str(rounds), f"{error:.3f}", f"{gini:.3f}",
            f"{peer:.2f}{' (scaled)' if scaled else ''}",
            f"{peer / error:.0f} x", f"{peer / gini:.0f} x", f"{same} of 10",
        )  # fmt: skip


def samba_rows(shapes):
    print("\n## SamBA fit, 10 voters\n")
    head("rows x columns", "default, s", "update='sample', s", "peer, s", "default", "sample")
    for n, p in shapes:
        X, y = table(n, p)
        default = fit_seconds(SamBAClassifier(n_estimators=10), X, y)
        sample = fit_seconds(SamBAClassifier(n_estimators=10, update="sample"), X, y)
        peer, scaled = peer_seconds(X, y, 10)
        line(
            f"{n} x {p}", f"{default:.4f}", f"{sample:.4f}",
            f"{peer:.3f}{' (scaled)' if scaled else ''}",
            f"{peer / default:.1f} x", f"{peer / sample:.1f} x",
        )  # fmt: skip


def seconds_of(code):
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    return float(out.stdout)


def import_rows():
    print("\n## Import, CPU s, the least of 25 runs in turn\n")
    head("code", "seconds", "of scikit-learn's own")
    base = "import time; t = time.process_time(); {}; print(time.process_time() - t)"
    codes = [
        "import sklearn.ensemble",
        "import psephos",
        "from psephos import SamBAClassifier",
        "from psephos.models import *",
    ]
    runs = [[seconds_of(base.format(code)) for code in codes] for _ in range(26)][1:]
    for code, seconds in zip(codes, zip(*runs, strict=True), strict=True):
        line(code, f"{min(seconds):.2f}", f"{min(seconds) / min(run[0] for run in runs):.2f} x")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="small tables, to try the command")
    small = parser.parse_args().small
    adaboost_rows([(500, 1_000, 20)] if small else [(640, 12_000, 100), (500, 50_000, 100)])
    wide = (10, 100) if small else (10, 100, 1_000, 10_000, 50_000)
    samba_rows([(n, p) for n in (500, 2_000) for p in wide])
    import_rows()


if __name__ == "__main__":
    main()
