"""The default `compare` of two versions of psephos, in turn in one run: CPU seconds and ratio.

    python benchmarks/speed/compare_versions.py SRC_BEFORE SRC_AFTER [--sizes 100x5000 500x50]

SRC is the `src` folder of a checked-out version. Each version first compares a small table, which
compiles its kernels; then the two take turns on each generated table (the class is the sign of
four columns and noise). CPU seconds of the whole command with one job.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np


def seconds_of(source: str, table: Path, scratch: Path) -> float:
    """Return the CPU seconds that the command takes with the package at ``source``."""
    command = [
        sys.executable, "-m", "psephos", "compare", str(table), "--target", "y",
        "--n-jobs", "1", "--out", str(scratch / "study"),
    ]  # fmt: skip
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        command[-1] = f"{folder}/study"
        subprocess.run(
            command,
            check=True,
            env={**os.environ, "PYTHONPATH": source},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def generated(size: str, scratch: Path) -> Path:
    """Write the table of ``size`` (ROWSxCOLUMNS) and return its file."""
    n, d = map(int, size.split("x"))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = (X[:, :4].sum(axis=1) + rng.normal(size=n) > 0).astype(int)
    np.savez(scratch / f"{size}.npz", X=X, y=y)
    return scratch / f"{size}.npz"


def main() -> None:
    """Compile, then print a line a size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", nargs=2)
    parser.add_argument("--sizes", nargs="+", default=["100x5000", "500x50"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        for source in options.sources:
            seconds_of(source, generated("60x8", scratch), scratch)
        for size in options.sizes:
            table = generated(size, scratch)
            before, after = (seconds_of(source, table, scratch) for source in options.sources)
            print(f"{size}: {before:.1f} s, {after:.1f} s, {after / before:.2f}", flush=True)


if __name__ == "__main__":
    main()
