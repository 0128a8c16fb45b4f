"""What each model takes and what can be written of it, found by trying on a small table."""

import warnings

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.base import is_regressor

from psephos.registry import estimator_classes, model_names
from psephos.scoring.onnx import onnx_model
from psephos.scoring.sheet import sheet
from psephos.scoring.sql import sql

N = 60  # rows of the table
DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(N, 4)).round(2)
NUMBER = X[:, 0] + DRAW.normal(size=N) / 4
TWO, THREE = np.where(NUMBER > 0, "yes", "no"), np.array(["a", "b", "c"])[np.arange(N) % 3]
HOLES = np.where(np.arange(4 * N).reshape(N, 4) % 7 == 0, np.nan, X)
WORDS = pd.DataFrame(X, columns=list("abcd")).assign(
    site=np.array(["u", "v", "w"])[np.arange(N) % 3]
)
LABELS = np.column_stack([NUMBER > 0, X[:, 1] > 0]).astype(int)
HEADS = (
    "target", "several classes", "several labels", "missing values", "categories", "weights",
    "sparse", "partial_fit", "SQL", "ONNX", "paper",
)  # fmt: skip


def works(do):
    """Return whether a call ends without an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            do()
        except Exception:  # whatever it is: it does not work
            return False
    return True


def row_of(name, cls):
    """Return what a model takes, by the heads of the table."""
    y = NUMBER if is_regressor(cls()) else TWO

    def fresh():
        contender = getattr(cls, "contender", None)
        return cls(**(contender.small if contender else {}))

    plain = X
    if name == "version-space" or not works(lambda: fresh().fit(X, y)):
        plain = WORDS[["site"]]
    model = fresh()
    fits = works(lambda: model.fit(plain, y))
    return {
        "target": "numbers" if is_regressor(cls()) else "classes",
        "several classes": not is_regressor(cls()) and works(lambda: fresh().fit(plain, THREE)),
        "several labels": not is_regressor(cls()) and works(lambda: fresh().fit(X, LABELS)),
        "missing values": works(lambda: fresh().fit(HOLES, y).predict(HOLES)),
        "categories": works(lambda: fresh().fit(WORDS, y)),
        "weights": works(lambda: fresh().fit(plain, y, sample_weight=np.arange(N) % 2 + 0.5)),
        "sparse": works(lambda: fresh().fit(csr_array(X * (np.abs(X) > 1)), y)),
        "partial_fit": hasattr(cls, "partial_fit"),
        "SQL": fits and works(lambda: sql(model)),
        "ONNX": fits and works(lambda: onnx_model(model)),
        "paper": fits and works(lambda: sheet(model)),
    }


def markdown():
    """Return the table of all models."""
    classes, names = estimator_classes(), {kind: name for name, kind in model_names().items()}
    lines = [
        "| model | name | " + " | ".join(HEADS) + " |",
        "| --- | --- |" + " --- |" * len(HEADS),
    ]
    for kind in sorted(classes):
        found = row_of(names[kind], classes[kind])
        cells = [v if isinstance(v, str) else "yes" if v else "" for v in map(found.get, HEADS)]
        lines.append(f"| {{py:obj}}`psephos.{kind}` | {names[kind]} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
