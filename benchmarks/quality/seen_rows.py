"""Are rows that a model was fitted on recognised, and rows that it was not left alone?

    PSEPHOS_DATA=... python benchmarks/quality/seen_rows.py

Four tables; without PSEPHOS_DATA the last is left out. It runs on earlier releases as well (with
PYTHONPATH on their src), so that figures can be compared.

1. *Calibration*: 120 training rows by 40 columns, labels at random, and labels that follow the sum
   of three columns. Log-loss on 2,000 new rows, as fitted, calibrated on the training rows (or
   refused), and calibrated on 120 held-out rows.
2. *Out of bag*: 30 subjects, five rows each, 40 columns that are nearly the same in the rows of a
   subject. Labels at random for each subject, or following the sum of three columns. ``oob_score_``
   without and with groups, beside the accuracy on new subjects.
3. *Validation*: the first line of `validate` on the training rows, of models as fitted and from a
   file, and of a recalibrated model on the cohort it was calibrated on.
4. *False alarms*: real tables, and columns of few values, halved at random ten times: how often
   rows of the other half are refused by `calibrate`, called training cases by `validate`, or
   refused by `held_out_bound`.
"""

import json
import os
import tempfile
import warnings
from pathlib import Path

import numpy as np
from sklearn.metrics import log_loss

import psephos
from psephos import (
    AdaBoostClassifier,
    BaggingClassifier,
    CARTClassifier,
    ExtraTreesClassifier,
    NewtonBoostingClassifier,
    RandomForestClassifier,
    RankRidgeClassifier,
    SamBAClassifier,
    calibrate,
)
from psephos.bounds import held_out_bound
from psephos.protocol import read_table

MODELS = {
    "AdaBoost": AdaBoostClassifier(),
    "random forest": RandomForestClassifier(50, random_state=0),
    "SamBA": SamBAClassifier(),
    "Newton boosting": NewtonBoostingClassifier(),
    "CART": CARTClassifier(),
    "rank ridge": RankRidgeClassifier(random_state=0),
}
BAGS = {
    "random forest": RandomForestClassifier(100, oob_score=True, random_state=0),
    "extra trees": ExtraTreesClassifier(100, bootstrap=True, oob_score=True, random_state=0),
    "bagging": BaggingClassifier(n_estimators=50, oob_score=True, random_state=0),
}


def labels(X, planted, rng):
    signal = X[:, :3].sum(axis=1) if planted else rng.standard_normal(len(X))
    return (signal > np.median(signal)).astype(int)


def rows(n, planted, rng):
    X = rng.standard_normal((n, 40))
    return X, labels(X, planted, rng)


def or_refused(ask, *given):
    """Return what a function returns, or None if it refuses."""
    try:
        return ask(*given)
    except psephos.PsephosError:
        return None


def calibration():
    print("\n| labels | model | as fitted | calibrated on training rows | on held-out rows |")
    print("|---|---|---|---|---|")
    for planted in (False, True):
        for name, model in MODELS.items():
            found = [[], [], []]
            for seed in range(3):
                rng = np.random.default_rng(seed)
                (X, y), (Z, z), (new, truth) = (rows(n, planted, rng) for n in (120, 120, 2000))
                fitted = model.fit(X, y)
                for k, one in enumerate((None, (X, y), (Z, z))):
                    sure = fitted if one is None else or_refused(calibrate, fitted, *one)
                    if sure is not None:
                        found[k].append(log_loss(truth, sure.predict_proba(new)))
            cells = [f"{np.mean(one):.2f}" if one else "refused" for one in found]
            print(f"| {'planted' if planted else 'random'} | {name} | {' | '.join(cells)} |")


def subjects(planted, rng, n=30):
    group = np.repeat(np.arange(n), 5)
    centre = rng.standard_normal((n, 40))
    y = labels(centre, planted, rng)
    return centre[group] + 0.02 * rng.standard_normal((len(group), 40)), y[group], group


def out_of_bag():
    print(
        "\n| subjects' labels | model | out of bag, without groups | with groups | new subjects |"
    )
    print("|---|---|---|---|---|")
    for planted in (False, True):
        for name, model in BAGS.items():
            found = []
            for seed in range(5):
                rng = np.random.default_rng(seed)
                X, y, group = subjects(planted, rng)
                new, truth, _ = subjects(planted, rng, 400)
                alone = model.fit(X, y).oob_score_
                model.fit(X, y, groups=group)
                found.append([alone, model.oob_score_, model.score(new, truth)])
            cells = " | ".join(f"{one:.2f}" for one in np.mean(found, axis=0))
            print(f"| {'planted' if planted else 'random'} | {name} | {cells} |")


def validation():
    print("\n| model | as fitted | from a file | recalibrated, on its own cohort |")
    print("|---|---|---|---|")
    rng = np.random.default_rng(0)
    (X, y), (Z, z) = rows(120, True, rng), rows(90, True, rng)
    with tempfile.TemporaryDirectory() as folder:
        for name, model in MODELS.items():
            fitted = model.fit(X, y)
            path = Path(folder) / "m.psephos"
            psephos.save(fitted, path)
            cells = [named(fitted, X, y), named(psephos.load(path), X, y)]
            again = psephos.validate(fitted, Z, z).recalibrated()
            psephos.save(again, path)
            cells.append(named(psephos.load(path), Z[:, fitted.vote_.columns], z))
            print(f"| {name} | {' | '.join(cells)} |")


def named(model, X, y):
    """Return whether the first line of a validation says that it is none."""
    first = str(psephos.validate(model, X, y)).split("\n", 1)[0]
    return "named" if "not validation figures" in first else "silent"


def tables():
    rng = np.random.default_rng(0)
    for p in (3, 8, 20):
        X = rng.integers(0, 2, (400, p)).astype(float)
        yield f"{p} binary columns", X, (X[:, 0] + rng.random(400) > 0.8).astype(int)
    X = rng.standard_normal((400, 5)).round(1)
    yield "5 columns of one decimal", X, labels(X, True, rng)
    if "PSEPHOS_DATA" not in os.environ:
        return
    for name in ("vote", "mushroom", "hepatitis"):
        folder = Path(os.environ["PSEPHOS_DATA"]) / name
        target = json.loads((folder / "schema.json").read_text())["target"]
        table = read_table(folder / f"{name}.arff", target=target)
        some = rng.permutation(table.n_rows)[:1000]
        yield name, table.X[some], table.codes[some]


def false_alarms():
    print("\n| table | model | calibrate refuses | validate names | held_out_bound refuses | of |")
    print("|---|---|---|---|---|---|")
    models = {
        "CART": CARTClassifier(), "AdaBoost 10": AdaBoostClassifier(n_estimators=10),
        "forest": RandomForestClassifier(10, random_state=0),
    }  # fmt: skip
    for table, X, y in tables():
        for name, model in models.items():
            counts = np.zeros(3, dtype=int)
            for seed in range(10):
                order = np.random.default_rng(seed).permutation(len(y))
                fit, new = order[::2], order[1::2]
                other = X[new], y[new]
                fitted = model.fit(X[fit], y[fit])
                counts[0] += or_refused(calibrate, fitted, *other) is None
                counts[1] += named(fitted, *other) == "named"
                counts[2] += or_refused(held_out_bound, fitted, *other) is None
            print(f"| {table} | {name} | {counts[0]} | {counts[1]} | {counts[2]} | 10 |")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    calibration()
    out_of_bag()
    validation()
    false_alarms()
