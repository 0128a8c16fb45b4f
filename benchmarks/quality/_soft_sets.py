"""The five sets of the soft boosting reference, and how it divides them."""

import csv
import gzip
import os
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.model_selection import train_test_split

#       test share, epochs, Adam's step, weight decay
SETS = {
    "digits": (0.25, 60, 1e-3, 5e-4),
    "breast_cancer": (0.25, 100, 1e-3, 5e-4),
    "vowel": (0.30, 150, 1e-3, 5e-4),
    "satellite": (0.20, 30, 1e-3, 5e-4),
    "letter": (0.20, 40, 1e-2, 0.0),
}


def soft_set(name):
    """Return X and class codes; digits and breast_cancer are scikit-learn's own."""
    if name in ("digits", "breast_cancer"):
        return getattr(datasets, f"load_{name}")(return_X_y=True)
    place = os.environ.get("PSEPHOS_DATA")
    if not place:
        raise SystemExit("PSEPHOS_DATA is not set: it names the folder of the tables.")
    packed = Path(place, name, f"{name}.npz")
    if packed.exists():
        with np.load(packed) as held:
            X, y = held["X"], held["y"]
    else:
        X, y = _numbers_of(Path(place, name, f"{name}.csv"))
    return np.asarray(X, dtype=np.float64), np.unique(y, return_inverse=True)[1]


def _numbers_of(path):
    """Return the columns of numbers and the last column of a csv file, packed or not."""
    raw = path.read_bytes() if path.exists() else gzip.decompress(Path(f"{path}.gz").read_bytes())
    *columns, answer = zip(*list(csv.reader(raw.decode().splitlines()))[1:], strict=True)
    numbers = []
    for column in columns:
        try:
            numbers.append(np.array(column, dtype=np.float64))
        except ValueError:
            continue  # names
    return np.column_stack(numbers), np.array(answer)


def divided(name, seed):
    """Return X, y to learn from and X, y to be asked."""
    X, y = soft_set(name)
    share = SETS[name][0]
    train, test, a, b = train_test_split(X, y, test_size=share, random_state=seed, stratify=y)
    return train, a, test, b
