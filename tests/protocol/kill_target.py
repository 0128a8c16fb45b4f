"""A small comparison in a process of its own, to be killed: python kill_target.py FOLDER [N_JOBS].

Without a folder: a comparison for each line "FOLDER" or "FOLDER<tab>SECONDS" of standard input,
each in a child of a process that has imported and done nothing else; it tells "CODE SECONDS" of
each: how the child ended, and after how long. Where seconds are given it is killed after them.

It uses psephos models and baselines on a generated table, so that a kill can hit a fit, a model
file, the journal or the final files.
"""

import os
import signal
import sys
import time
import traceback

import numpy as np

from psephos.protocol import DataTable, Protocol, compare, known_models

PROTOCOL = Protocol(folds=3, inner_folds=2, draws=3, draws_of={"samba": 2, "adaboost": 2})
MODELS = ("samba", "adaboost", "majority", "sklearn-decision-tree", "sklearn-k-nn")


def small_table() -> DataTable:
    """Return 60 cases of three columns that matter, five that do not, and a category."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 9))
    X[:, 8] = rng.integers(3, size=60)
    y = np.where(X[:, 0] + X[:, 1] + (X[:, 8] == 2) > 0, "ill", "well")
    X[::11, 2] = np.nan
    names = tuple(f"m{j}" for j in range(8))
    return DataTable(X, y, (*names, "site"), {8: ("a", "b", "c")}, dataset="small")


def in_a_child(folder: str, seconds: str) -> tuple[int, float]:
    """Return how a child that compares into `folder` ended, and after how many seconds."""
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            compare(small_table(), models=MODELS, protocol=PROTOCOL, out=folder, n_jobs=1)
            code = 0
        except BaseException:
            traceback.print_exc()
        os._exit(code)
    if seconds:
        time.sleep(float(seconds))
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), time.monotonic() - started


def serve() -> None:
    """Compare into the folders named on standard input, each in a child that this process forks."""
    known_models()
    for line in sys.stdin:
        folder, _, seconds = line.rstrip("\n").partition("\t")
        print(*in_a_child(folder, seconds), flush=True)  # noqa: T201


def main() -> None:
    """Compare into the folder named on the command line."""
    if len(sys.argv) == 1:
        return serve()
    n_jobs = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    print("ready", flush=True)  # noqa: T201  # imports are done: the clock of the killer starts
    compare(small_table(), models=MODELS, protocol=PROTOCOL, out=sys.argv[1], n_jobs=n_jobs)


if __name__ == "__main__":
    main()
