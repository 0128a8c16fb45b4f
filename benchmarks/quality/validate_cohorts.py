"""What `psephos validate` says of another cohort, of another disease, and of a table with gaps.

    PSEPHOS_DATA=... python benchmarks/quality/validate_cohorts.py [--models samba,swag,...]

Gut species of MetAML. Cohort: cirrhosis in the discovery cohort of Qin et al. (2014; names HD, LD)
fits, their validation cohort (HV, LV) judges; the model does not know which case is of which.
Disease: the same model on the colorectal cases of Zeller et al. (2014), cancer taken for cirrhosis:
it should not tell them apart, and say how unfamiliar they are. Gaps: the cohort again, without a
third of the columns that the models were fitted on, drawn by lot, as missing and as silent.
Settings are those of `psephos fit`, seed 0.
"""

import argparse
import os
from pathlib import Path

import numpy as np
import pandas as pd

from psephos import PsephosError, validate
from psephos.registry import estimator_class, model_names

MODELS = ("samba", "swag", "proset", "cart", "adaboost", "random-forest")
LIBRARY = {"absent": "vote", "vote": "mean"}


def table(name):
    """Return a frame of the species, the classes, and the names of the cases."""
    place = os.environ.get("PSEPHOS_DATA")
    if not place:
        raise SystemExit("PSEPHOS_DATA is not set: it names the folder of the tables.")
    with np.load(Path(place, name, f"{name}.npz"), allow_pickle=False) as file:
        X = pd.DataFrame(file["X"], columns=file["feature_names"].astype(str))
        return X, file["classes"].astype(str)[file["y"]], file["subject"].astype(str)


def fitted(name, X, y):
    """Return a fitted model by its name in `psephos list`."""
    model = estimator_class(model_names()[name])()
    params = model.get_params(deep=False)
    if "random_state" in params:
        model.set_params(random_state=0)
    if name == "swag":
        model.set_params(**LIBRARY)
    return model.fit(X, y)


def line(study, name, found):
    """Print a row of the table."""
    rows = [found.figure("ROC-AUC"), found.figure("balanced accuracy")]
    rows.append(found.figure("calibration slope"))
    told = [
        "-" if r["value"] is None else f"{r['value']:.2f} ({r['low']:.2f}–{r['high']:.2f})"
        for r in rows
    ]
    again = {r["figure"]: r["value"] for r in found.recalibration["figures"]}
    loss = f"{found.figure('log-loss')['value']:.2f} → {again['log-loss']:.2f}"
    shift, near, who = found.shift, found.familiarity, found.speaking
    n = found.about["n_cases"]
    familiar = "-" if near is None else f"{near['beyond_90']} ({near['beyond_all']}) of {n}"
    print(
        f"| {study} | {name} | {' | '.join(told)} | {loss} | {shift['n_shifted']} of "
        f"{shift['n_compared']} | {shift['outside_mean']:.2f} ({shift['outside_expected']:.2f}) "
        f"| {familiar} | "
        f"{len(who['lacking'])} | {who['n_all'] + who['n_no_column']} of {who['n_voters']} |",
        flush=True,
    )


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default=",".join(MODELS))
    names = parser.parse_args().models.split(",")
    X, y, who = table("gut_cirrhosis")
    first = np.array([str(one)[1] == "d" for one in who])
    other, ill, _ = table("gut_colorectal")
    gone = np.random.default_rng(0).permutation(X.columns)[: X.shape[1] // 3]
    print(
        "| study | model | ROC-AUC | balanced accuracy | slope | log-loss, recalibrated | columns "
        "shifted | columns out of range a case (expected) | "
        "cases farther than 90 % (all) of the training cases | "
        "columns lacking | voters with all |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    cancer = {"cancer": "cirrhosis"}
    for name in names:
        model = fitted(name, X[first], y[first])
        line("cohort", name, validate(model, X[~first], y[~first], positive="cirrhosis"))
        found = validate(model, other, ill, positive="cirrhosis", classes=cancer)
        line("disease", name, found)
        for absent in ("missing", "silent"):
            try:
                less = X[~first].drop(columns=gone)
                found = validate(model, less, y[~first], positive="cirrhosis", absent=absent)
                line(f"gaps, {absent}", name, found)
            except PsephosError as error:
                print(f"| gaps, {absent} | {name} | refused: {str(error)[:40]} ... |")


if __name__ == "__main__":
    main()
