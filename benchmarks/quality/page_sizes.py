"""How large is the page, and how long does it take? Studies of generated tables of several shapes.

    python benchmarks/quality/page_sizes.py [--out FOLDER]

The classes differ in 5 columns by one standard deviation; all others are noise. Each study is of
three models (samba, adaboost, majority), fitted in five folds with their default settings. Times
are those of `build_report` in a process that has the study on disk, wall clock and CPU.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from psephos.protocol import Protocol, compare, table_from_arrays
from psephos.report import build_report

SHAPES = ((100, 50), (1_000, 50), (10_000, 50), (100, 100_000))
MODELS = ("samba", "adaboost", "majority")
KINDS = ("rounded", "full", "none")


def table(n, p, seed=0):
    """Return a table of two classes."""
    rng = np.random.default_rng([seed, n, p])
    y = np.arange(n) % 2
    X = rng.standard_normal((n, p))
    X[y == 1, :5] += 1.0
    return table_from_arrays(X, np.array(["healthy", "ill"])[y], dataset=f"{n} x {p}")


def measured(folder, cases):
    """Return the megabytes of a page, and the seconds it took: wall clock and CPU."""
    wall, cpu = time.perf_counter(), time.process_time()
    path = build_report(folder, folder / f"{cases}.html", cases=cases)
    return path.stat().st_size / 1e6, time.perf_counter() - wall, time.process_time() - cpu


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="where to leave the studies")
    out = parser.parse_args().out or Path(tempfile.mkdtemp())
    print("| cases | columns | " + " | ".join(f"{k}: MB | s | CPU s" for k in KINDS) + " |")
    print("|" + "---|" * (2 + 3 * len(KINDS)))
    protocol = Protocol("sizes", draws=1, inner_folds=2)
    for n, p in SHAPES:
        folder = out / f"{n}-{p}"
        compare(table(n, p), models=MODELS, protocol=protocol, out=folder, n_jobs=1)
        cells = [f"{one:.2f}" for kind in KINDS for one in measured(folder, kind)]
        print(f"| {n:,} | {p:,} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
