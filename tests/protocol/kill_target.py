"""A small comparison in a process of its own, to be killed: python kill_target.py FOLDER [N_JOBS].

It uses psephos models and baselines on a generated table, so that a kill can hit a fit, a model
file, the journal or the final files.
"""

import sys

import numpy as np

from psephos.protocol import DataTable, Protocol, compare

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


def main() -> None:
    """Compare into the folder named on the command line."""
    n_jobs = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    print("ready", flush=True)  # noqa: T201  # imports are done: the clock of the killer starts
    compare(small_table(), models=MODELS, protocol=PROTOCOL, out=sys.argv[1], n_jobs=n_jobs)


if __name__ == "__main__":
    main()
