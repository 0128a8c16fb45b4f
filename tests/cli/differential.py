"""One table in every form: what a model says of it must not depend on the form."""

import csv
import gzip
import io
import itertools

import numpy as np
from small_settings import small_settings

from psephos.registry import estimator_classes

FORMS = ("npz", "csv", "csv.gz", "frame", "array")
NAMED = (True, False)
KINDS = ("numbers", "words", "codes")
NAMES = [f"g{j}" for j in range(8)]
WORDS = np.array(["blue", "green, dark", 'r"ed'])
COLUMN = 5  # that may hold categories


def small_models():
    """Return a small unfitted estimator of every class, by its name."""
    models = {}
    for one in small_settings().values():
        models.setdefault(type(one).__name__, one)
    assert models.keys() == estimator_classes().keys()
    return models


def combinations():
    return list(itertools.product(small_models(), FORMS, NAMED, KINDS))


def values(kind, n=48, seed=0):
    """Return a table of objects whose columns 1, 4, 5 tell the classes apart; None: missing."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, 8))
    X[:, 1] += 2 * y
    X[:, 4] += 1.5 * y
    codes = np.where(rng.random(n) < 0.8, 2 * y, rng.integers(0, 3, n))
    table = X.astype(object)
    table[:, COLUMN] = codes + 1 if kind != "words" else WORDS[codes]
    if kind == "numbers":
        table[:, COLUMN] = X[:, COLUMN]
    table[rng.random((n, 8)) < 0.05] = None
    return table, y


def as_frame(table, names):
    import pandas as pd

    frame = pd.DataFrame(table, columns=names)
    numeric = [j for j in range(8) if not isinstance(table[~missing(table)[:, j], j][0], str)]
    for j in numeric:
        frame[names[j]] = frame[names[j]].astype(float)
    return frame


def missing(table):
    return np.array([[value is None for value in row] for row in table.tolist()])


def as_array(table):
    if any(isinstance(value, str) for value in table.ravel().tolist()):
        return table
    return np.where(missing(table), np.nan, table).astype(float)


def write(folder, form, table, names, whole=str):
    """Write the table to a file; `names` None leaves out what can be left out."""
    path = folder / f"cases.{form}"
    if form == "npz":
        X = as_array(table)
        if X.dtype == object:
            X = np.array([["" if v is None else cell(v, whole) for v in row] for row in X])
        np.savez(path, X=X, **({} if names is None else {"feature_names": np.array(names)}))
        return path
    text = io.StringIO()
    sheet = csv.writer(text)
    sheet.writerow(names or [f"x{j}" for j in range(table.shape[1])])
    for i, row in enumerate(table):
        hole = "" if i % 2 else "NA"
        sheet.writerow([hole if v is None else cell(v, whole) for v in row])
    data = text.getvalue().encode()
    path.write_bytes(gzip.compress(data) if form == "csv.gz" else data)
    return path


def cell(value, whole):
    if isinstance(value, str):
        return value
    return whole(value) if isinstance(value, int | np.integer) else repr(float(value))


def fitted(model, kind, named, table, y):
    """Return the model fitted in Python, from a frame or an array, and its answers to a table."""
    marked = kind != "numbers"
    if marked:
        model.set_params(categorical_features=[NAMES[COLUMN] if named else COLUMN])
    labels = y + 0.25 if type(model).__name__.endswith("Regressor") else WORDS[y]
    given = as_frame(table, NAMES) if named else as_array(table)
    return model.fit(given, labels)


def fitted_from(folder, model, form, kind, table, y):
    """Return the model fitted as the command does, from a file."""
    from psephos.cli.fit import fitted
    from psephos.protocol import read_table

    marked = [NAMES[COLUMN]] if kind == "codes" else []
    if form == "npz":
        path = write(folder, form, table, NAMES)
        arrays = dict(np.load(path))
        np.savez(path, **arrays, y=WORDS[y])
    else:
        path = write(folder, form, np.column_stack([table, WORDS[y]]), [*NAMES, "y"])
    return fitted(model, read_table(path, target="y", categorical=marked))


def answers(model, X):
    told = model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)[:, None]
    return np.asarray(told)


def asked(call, model_path, table_path):
    """Return what `psephos predict` answers."""
    result = call("predict", model_path, table_path)
    assert result.exit_code == 0, result.output
    rows = list(csv.reader(io.StringIO(result.stdout)))
    kept = [j for j, head in enumerate(rows[0]) if head.startswith("probability_")]
    kept = kept or [rows[0].index("predicted")]  # of a number
    return np.array([[float(row[j]) for j in kept] for row in rows[1:]])


def differences(call, folder, name, form, named, kind):
    """Return how far the answers from one form are from those of the table as it was fitted."""
    from psephos.models import load, save

    table, y = values(kind)
    model = fitted(small_models()[name], kind, named, table, y)
    new, _ = values(kind, seed=1)
    expected = answers(model, as_frame(new, NAMES) if named else as_array(new))
    path = folder / "m.psephos"
    save(model, path)
    if form in ("npz", "csv", "csv.gz"):
        found = []
        if named and not name.endswith("Regressor"):  # the same fit from the file
            refit = fitted_from(folder, small_models()[name], form, kind, table, y)
            found.append(answers(refit, as_frame(new, NAMES)))
        for whole in (str, lambda v: f"{v}.0"):
            file = write(folder, form, new, NAMES if named else None, whole)
            found.append(asked(call, path, file))
        return max(float(np.abs(one - expected).max()) for one in found)
    other = load(path)
    if form == "frame" and named:  # the reduced model finds its columns among all, by name
        other = other.reduce()
        frame = as_frame(new, NAMES)
        frame.insert(0, "more", 1.0)
        return float(np.abs(answers(other, frame) - expected).max())
    given = as_array(new)
    if kind == "codes":
        given = given.astype(object)
        known = ~missing(new)[:, COLUMN]
        given[known, COLUMN] = [str(int(v)) for v in given[known, COLUMN]]
    if named:
        given = as_frame(given, NAMES) if kind != "codes" else _objects(given)
    return float(np.abs(answers(other, given) - expected).max())


def _objects(table):
    import pandas as pd

    frame = pd.DataFrame(table, columns=NAMES)
    for j, name in enumerate(NAMES):
        if j != COLUMN:
            frame[name] = frame[name].astype(float)
    return frame
