"""The six multi-label tables of PSEPHOS_DATA, as their authors divided them."""

import os
from pathlib import Path

import numpy as np

from psephos.protocol import read_table

NAMES = ("yeast", "scene", "emotions", "medical", "enron", "genbase")


def label_set(name):
    """Return (X, Y, train): numbers, 0 and 1 a label, and which rows are for training."""
    place = os.environ.get("PSEPHOS_DATA")
    if not place:
        raise SystemExit("PSEPHOS_DATA is not set: it names the folder of the tables.")
    folder = Path(place, f"ml_{name}")
    packed = folder / f"ml_{name}.npz"
    if packed.exists():
        table = read_table(packed)
        with np.load(packed) as arrays:
            return table.X, table.y, arrays["split"] == "train"
    parts = [read_table(folder / f"{name}-{part}.arff.gz") for part in ("train", "test")]
    X, Y = np.vstack([one.X for one in parts]), np.vstack([one.y for one in parts])
    return X, Y, np.arange(len(X)) < parts[0].n_rows


def ten_folds(n):
    """Yield the training and test rows of the specification's ten folds."""
    order = np.random.RandomState(0).permutation(n)
    for fold in range(10):
        test = order[fold::10]
        yield np.setdiff1d(np.arange(n), test), test
