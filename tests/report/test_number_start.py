"""The case that a page of numbers starts from has the answer of the medians."""

import numpy as np
import pandas as pd

from psephos.models import load
from psephos.protocol import Protocol, compare, table_from_arrays
from psephos.report import summarise


def test_rounding_the_starting_case_keeps_its_answer(tmp_path):
    rng = np.random.default_rng(0)
    X = 1 + 0.01 * rng.normal(size=(60, 3))  # three figures would lose most of the variation
    y = 90 * (X[:, 0] - X[:, 1]) + 0.1 * rng.normal(size=60)
    table = table_from_arrays(X, y, task="numbers")
    protocol = Protocol("small", draws=1, folds=3, inner_folds=2)
    compare(table, models=["swag-regressor"], protocol=protocol, out=tmp_path / "study", n_jobs=1)
    [one] = summarise(tmp_path / "study")["island"]["number"]["models"].values()
    model = load(next((tmp_path / "study" / "models").glob("*.psephos")))
    medians = np.median(X, axis=0)
    started = medians.copy()
    names = list(table.names)
    for field, value in zip(one["fields"], one["start"], strict=True):
        started[names.index(field["whole"])] = value
    assert any(len(str(value)) > 5 for value in one["start"])
    before, after = model.predict(pd.DataFrame([medians, started], columns=names))
    assert abs(after - before) <= 1e-4 * y.std()
