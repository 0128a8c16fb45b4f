"""ML-kNN against scikit-multilearn's, and on 100,000 rows with 50 labels.

    PSEPHOS_DATA=... python benchmarks/speed/bench_ml_knn.py [--large]

CPU seconds of one thread, medians of five runs, ours and theirs in turn in one process: fit on the
authors' training rows, answers and probabilities of their test rows (the peer's neighbours are
searched in each of the two, as ours are). scikit-multilearn 0.2.0 does not run on scikit-learn 1.0
or later, which takes `n_neighbors` by keyword alone: here its module is given a NearestNeighbors
that takes it by position. It is asked for with ``pip install scikit-multilearn``; without it ours
is timed alone. ``--large``: 100,000 x 100 drawn rows, 50 labels, 1,000 rows answered, with the
peak of memory, in a process that does nothing else.
"""

import argparse
import resource
import sys
from pathlib import Path

from _timing import cpu_time, head, line  # first: it asks NumPy for one thread

# isort: split
import numpy as np
from scipy.sparse import csr_matrix
from sklearn.neighbors import NearestNeighbors

from psephos import MLKNeighborsClassifier

sys.path.append(str(Path(__file__).parents[1] / "quality"))
from _label_sets import label_set


def peer_class():
    """Return scikit-multilearn's MLkNN, made to run; None if it is not installed."""
    try:
        from skmultilearn.adapt import mlknn
    except ImportError:
        return None
    mlknn.NearestNeighbors = lambda k: NearestNeighbors(n_neighbors=k)
    return mlknn.MLkNN


def compared(name, Peer):
    """Print the seconds of fit and answers on one table, ours and theirs."""
    X, Y, train = label_set(name)
    cases, labels, asked = X[train], Y[train], X[~train]
    ours = MLKNeighborsClassifier(10)
    theirs = Peer(k=10) if Peer else None
    # theirs works on sparse tables: that they are made is not timed
    sparse = [csr_matrix(one) for one in (cases, labels, asked)]
    works = {
        "fit": (lambda: ours.fit(cases, labels), lambda: theirs.fit(sparse[0], sparse[1])),
        "predict": (lambda: ours.predict(asked), lambda: theirs.predict(sparse[2])),
        "predict_proba": (
            lambda: ours.predict_proba(asked),
            lambda: theirs.predict_proba(sparse[2]),
        ),
    }
    for what, (mine, other) in works.items():
        a = cpu_time(mine)
        b = cpu_time(other) if theirs else float("nan")
        line(name, what, f"{a * 1000:.1f} ms", f"{b * 1000:.1f} ms", f"{b / a:.1f}")


def large():
    """Print the seconds of 100,000 x 100 rows with 50 labels, and the peak of memory."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100_000, 100))
    weight = rng.standard_normal((100, 50)) * (rng.random((100, 50)) < 0.1)
    Y = (X @ weight > 1.0).astype(np.int8)
    asked = rng.standard_normal((1000, 100))
    small = MLKNeighborsClassifier(10).fit(X[:200], Y[:200])  # compiles
    small.predict(asked[:2])
    before = peak()
    model = MLKNeighborsClassifier(10)
    fit = once(lambda: model.fit(X, Y))
    answer = once(lambda: model.predict(asked))
    head("100,000 x 100, 50 labels", "CPU seconds", "peak of the process, before")
    line("fit", f"{fit:.1f}", f"{peak():.0f} MiB, {before:.0f} MiB")
    line("predict 1,000", f"{answer:.2f}", f"{peak():.0f} MiB")


def once(work):
    import time

    start = time.process_time()
    work()
    return time.process_time() - start


def peak():
    """Return the most memory this process has had so far, MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true")
    if parser.parse_args().large:
        large()
        return
    Peer = peer_class()
    head("table", "", "psephos", "scikit-multilearn", "ratio")
    for name in ("yeast", "enron", "scene"):
        compared(name, Peer)


if __name__ == "__main__":
    main()
