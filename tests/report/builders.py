"""Small tables whose every string is an attack, and the comparisons made of them."""

import csv
import json
import os
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from psephos.protocol import DataTable, Protocol, compare, known_models
from psephos.protocol.evaluation.scores import measures_for
from psephos.protocol.study.outputs import result_columns

RESULT_COLUMNS = result_columns([one.name for one in measures_for()])
ATTACK = "</script><script>window.__pwned=1;alert(1)</script>"
HOSTILE = (
    'k__Bacteria;p__<b>"x"',
    ATTACK,
    "<img src=x onerror=window.__pwned=1>",
    "{{ 7 * 7 }} & 'quoted' \u2028 next",
)


def _many_voters(params, shape, seed):
    """Return SWAG with more voters of several columns than so small a table would get."""
    return known_models()["swag"].build(
        {"alpha": 1.0, "delta": 1.0, "p_max": 2} | params, shape, seed
    )


SWAG = replace(known_models()["swag"], build=_many_voters, distributions={"quick": {}})
MODELS = ("samba", "adaboost", SWAG, "majority", "sklearn-l1-logistic", "sklearn-decision-tree")


def hostile_table(n=48, n_classes=2, seed=0):
    """Return n cases of 4 hostile columns that tell the classes, and one category."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    X = rng.normal(size=(n, 5))
    X[:, :4] += 1.2 * codes[:, None] * rng.choice([-1, 1], size=4)
    X[::7, 1] = np.nan
    X[:, 4] = rng.integers(0, 2, size=n)
    classes = np.array(["<b>ill</b>", 'well & "fine"', "un<i>known"])[:n_classes]
    return DataTable(
        X=X,
        y=classes[codes],
        names=(*HOSTILE, "kind <of> column"),
        categories={4: ("<u>one</u>", "two")},
        target_name="<em>state</em>",
        ids=np.array([f"case <i>{i}</i> & more" for i in range(n)]),
        dataset="<h1>data</h1> & set",
    )


def hostile_folder(folder, n_classes=2):
    """Compare models on a hostile table; leave everything in `folder`."""
    small = Protocol("small", draws=2, inner_folds=2)
    compare(hostile_table(n_classes=n_classes), models=MODELS, protocol=small, out=folder, n_jobs=1)
    return folder


def shared_folder(tmp_path_factory, n_classes):
    """Return a copy of one's own of `hostile_folder`, made once for all folders of tests."""
    root = tmp_path_factory.getbasetemp()
    root = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root
    made = root / f"hostile of {n_classes} classes"
    if not made.exists():
        draft = hostile_folder(tmp_path_factory.mktemp("draft") / "study", n_classes)
        with suppress(OSError):  # another process was sooner
            draft.rename(made)
    return Path(shutil.copytree(made, tmp_path_factory.mktemp("compared") / "study"))


def written_folder(
    folder, truth, chances, classes, *, fold=None, columns=None, n_columns=9, **about
):
    """Write a study by hand, as `compare` leaves one, without fitting anything.

    Parameters
    ----------
    truth : list of (n,) codes
    chances : dict of str to list of (repeat, (n, K) array), NaN rows where a fit failed
    classes : list of str
    fold : (n,) folds; by default five in turn
    columns : dict of str to list of lists: the columns that each fold's model reads
    """
    truth = np.asarray(truth)
    fold = np.arange(len(truth)) % 5 if fold is None else np.asarray(fold)
    names = [f"column {j}" for j in range(n_columns)]
    rows, answers = [], []
    for model, repeats in chances.items():
        for repeat, proba in enumerate(repeats):
            for k in sorted(set(fold.tolist())):
                mine = np.flatnonzero(fold == k)
                failed = np.isnan(proba[mine]).any()
                read = (columns or {}).get(model, [[0, 1]] * (int(fold.max()) + 1))[k]
                said = proba[mine].argmax(axis=1) if not failed else None
                score = None if failed else _balanced(truth[mine], said)
                rows.append(
                    {
                        "model": model, "repeat": repeat, "fold": k,
                        "n_train": len(truth) - len(mine), "n_test": len(mine),
                        "n_columns": n_columns, "balanced_accuracy": score,
                        "columns_used": None if failed else len(read),
                        "columns": None if failed else " ".join(map(str, read)),
                        "status": "failed" if failed else "ok", "error": "broke" if failed else "",
                    }
                )  # fmt: skip
                answers += [] if failed else [
                    [model, repeat, k, i, f"<b>id</b> {i}", classes[truth[i]], *proba[i].tolist()]
                    for i in mine.tolist()
                ]  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "results.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, RESULT_COLUMNS)
        writer.writeheader()
        writer.writerows({k: "" if v is None else v for k, v in row.items()} for row in rows)
    with (folder / "predictions.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            ["model", "repeat", "fold", "row", "id", "truth", *(f"p_{c}" for c in classes)]
        )
        writer.writerows(answers)
    told = {
        "schema": 3, "dataset": "by hand", "target": "state", "classes": list(classes),
        "class_counts": np.bincount(truth, minlength=len(classes)).tolist(), "n_rows": len(truth),
        "n_columns": n_columns, "columns": names, "categories": {},
        "models": {model: {"origin": "baseline"} for model in chances},
    }  # fmt: skip
    (folder / "comparison.json").write_text(json.dumps(told | about), "utf-8")
    return folder


def of_two(n, seed=0, shift=1.0):
    """Return truth and probabilities of two classes."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < 0.4).astype(int)
    p = 1 / (1 + np.exp(-(rng.normal(size=n) + shift * (2 * truth - 1))))
    return truth, np.column_stack([1 - p, p])


def _balanced(truth, said):
    return float(np.mean([np.mean(said[truth == c] == c) for c in np.unique(truth)]))
