"""What answers cost while other programs keep every core busy; see DECISIONS/0047.

    python benchmarks/speed/busy_cores.py [LOOPS A CORE]

Milliseconds, medians of 15: of CPU of all threads, and of the clock. Beside endless loops, two a
core unless told otherwise: as it is, with threads of BLAS left as they are, and scikit-learn's
estimator for the same task. BLAS may use all cores here.
"""

import multiprocessing
import os
import sys
import time
from contextlib import nullcontext
from unittest.mock import patch

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import RidgeCV
from sklearn.neighbors import KNeighborsClassifier

from psephos import MLKNeighborsClassifier, RankRidgeRegressor, SamBAClassifier

WHERE = ("kernels.prediction.similarity", "models.linear.ridge")


def spin():
    while True:
        pass


def measured(work):
    """Return median milliseconds of CPU and of the clock, as a cell."""
    took = []
    for _ in range(15):
        cpu, clock = time.process_time(), time.perf_counter()
        work()
        took.append((time.process_time() - cpu, time.perf_counter() - clock))
    return " / ".join(f"{1e3 * np.median(part):.1f}" for part in zip(*took, strict=True))


def threaded(work):
    patches = [patch(f"psephos.{name}.one_thread", nullcontext) for name in WHERE]
    for one in patches:
        one.start()
    try:
        return measured(work)
    finally:
        for one in patches:
            one.stop()


def main():
    X, y = load_breast_cancer(return_X_y=True)
    samba = SamBAClassifier(n_estimators=20, random_state=0).fit(X, y)
    knn, theirs = MLKNeighborsClassifier(5).fit(X, y), KNeighborsClassifier(algorithm="brute")
    theirs.fit(X, y)
    tasks = {
        "SamBA predict, 20 voters": (lambda: samba.predict(X), None),
        "ML-kNN predict, 5 neighbours": (lambda: knn.predict(X), lambda: theirs.predict(X)),
        "ridge on ranks fit": (
            lambda: RankRidgeRegressor().fit(X, y),
            lambda: RidgeCV(np.logspace(-1, 3, 5), cv=10).fit(X, y),
        ),
    }
    for ours, peer in tasks.values():
        ours(), peer and peer()  # compiled, imported
    quiet = {name: measured(ours) for name, (ours, _) in tasks.items()}
    loops = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    n_busy = loops * (os.cpu_count() or 1)
    busy = [multiprocessing.Process(target=spin, daemon=True) for _ in range(n_busy)]
    for one in busy:
        one.start()
    print(f"{os.cpu_count()} cores, {n_busy} endless loops, 569 x 30", file=sys.stderr)
    print("| CPU / clock, ms | idle | busy | busy, threads of BLAS left | busy, scikit-learn |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, (ours, peer) in tasks.items():
        cells = quiet[name], measured(ours), threaded(ours), measured(peer) if peer else "–"
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    for one in busy:
        one.terminate()


if __name__ == "__main__":
    main()
