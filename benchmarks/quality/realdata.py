"""Real tables for the studies in this folder, found through PSEPHOS_DATA alone."""

import os
from pathlib import Path

import numpy as np


def folder():
    """Return the folder of data sets, or stop with the reason."""
    place = os.environ.get("PSEPHOS_DATA")
    if not place:
        raise SystemExit("this study needs real tables: set PSEPHOS_DATA to their folder")
    return Path(place)


def load(name):
    """Return (X, y, groups or None, column names) of one set."""
    with np.load(folder() / name / f"{name}.npz", allow_pickle=False) as archive:
        groups = archive["groups"] if "groups" in archive.files else None
        X = np.asarray(archive["X"], dtype=np.float64)
        return X, archive["y"], groups, [str(n) for n in archive["feature_names"]]
