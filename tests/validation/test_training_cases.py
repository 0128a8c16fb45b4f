"""The first line of a validation says that it is none, or that classes may be exchanged."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import psephos
from psephos import (
    AdaBoostClassifier,
    CARTClassifier,
    NewtonBoostingClassifier,
    PsephosError,
    RandomForestClassifier,
    RankRidgeClassifier,
    SamBAClassifier,
    VotingClassifier,
    calibrate,
    validate,
)
from psephos.cli.app import main
from psephos.report import build_report
from psephos.validation import read_validation, write_validation

MODELS = (
    AdaBoostClassifier(n_estimators=10),
    CARTClassifier(),
    NewtonBoostingClassifier(n_estimators=10),
    RandomForestClassifier(10, random_state=0),
    RankRidgeClassifier(random_state=0),
    SamBAClassifier(n_estimators=10),
    VotingClassifier([("a", CARTClassifier()), ("b", RankRidgeClassifier(random_state=0))]),
)
ALL = "All 80 cases look like training cases (same values): these are not validation figures."


def cohort(n, seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 5)).round(3), columns=list("abcde"))
    return X, np.where(X["a"] + X["b"] + 0.5 * rng.normal(size=n) > 0, "ill", "well")


TRAIN, NEW = cohort(80, 0), cohort(70, 1)


def first(found):
    return str(found).splitlines()[0]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_training_cases_are_named_first(model, tmp_path):
    fitted = model.fit(*TRAIN)
    psephos.save(fitted, tmp_path / "m.psephos")
    order = np.random.default_rng(0).permutation(80)
    for one in (fitted, psephos.load(tmp_path / "m.psephos")):
        assert first(validate(one, *TRAIN)) == ALL
        assert first(validate(one, TRAIN[0].iloc[order], TRAIN[1][order])) == ALL
        assert first(validate(one, *NEW)).endswith("not fitted again.")
        assert validate(one, *NEW).about["cautions"] == []


def test_the_command_and_the_page_say_so_too(tmp_path):
    path, table = tmp_path / "m.psephos", tmp_path / "t.csv"
    psephos.save(CARTClassifier().fit(*TRAIN), path)
    TRAIN[0].assign(y=TRAIN[1]).to_csv(table, index=False)
    given = ["validate", str(path), str(table), "--target", "y", "--out", str(tmp_path / "v")]
    found = CliRunner().invoke(main, given)
    assert found.stdout.splitlines()[0] == ALL
    assert read_validation(tmp_path / "v")["about"]["cautions"] == [ALL]
    build_report(tmp_path / "v", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.index(ALL) < page.index("not fitted again, predicted")
    assert "It is not known whether" not in page


def test_part_of_the_cases():
    model = AdaBoostClassifier(n_estimators=20).fit(*TRAIN)
    X = pd.concat([TRAIN[0][:30], NEW[0]])
    y = np.append(TRAIN[1][:30], NEW[1])
    assert first(validate(model, X, y)) == (
        "30 of 100 cases look like training cases (same values): these are not validation figures."
    )
    assert validate(model, X[28:], y[28:]).about["cautions"] == []  # two may be so by chance


def test_a_recalibrated_model_knows_its_cohort(tmp_path):
    path, table, again = tmp_path / "m.psephos", tmp_path / "t.csv", tmp_path / "rc.psephos"
    psephos.save(CARTClassifier().fit(*TRAIN), path)
    NEW[0].assign(y=NEW[1], z=1).to_csv(table, index=False)
    given = ["validate", str(path), str(table), "--target", "y", "--recalibrate", str(again)]
    assert CliRunner().invoke(main, given).exit_code == 0
    found = CliRunner().invoke(main, ["validate", str(again), str(table), "--target", "y"])
    assert found.stdout.splitlines()[0] == (
        "The probabilities of this model were calibrated on all 70 cases (same values): these are "
        "not validation figures."
    )
    model = psephos.load(again)
    assert "were calibrated on" in first(validate(model.reduce(), *NEW))
    assert validate(model, *cohort(70, 2)).about["cautions"] == []
    with pytest.raises(PsephosError, match="was not fitted on"):
        calibrate(model, TRAIN[0][list(model.feature_names_in_)], TRAIN[1])


@pytest.mark.parametrize("groups", [None, np.arange(70) // 2])
def test_exchanged_classes_are_asked_about(groups):
    model = AdaBoostClassifier(n_estimators=20).fit(*TRAIN)
    other = np.where(NEW[1] == "ill", "well", "ill")
    found = validate(model, NEW[0], other, groups=groups)
    row = found.figure("ROC-AUC")
    assert row["high"] < 0.5
    shown = f"AUC {row['value']:.3f} ({row['low']:.3f} to {row['high']:.3f})"
    assert first(found).startswith(f"{shown} is significantly worse than chance: are the classes")
    right = validate(model, NEW[0], other, classes={"ill": "well", "well": "ill"}, groups=groups)
    assert right.about["cautions"] == []
    json.dumps(found.data(), allow_nan=False)


@pytest.mark.filterwarnings("ignore:FD004:psephos.TableWarning")
def test_classes_that_are_separated_the_wrong_way_round():
    X = pd.DataFrame({"a": np.arange(40.0)})
    y = np.where(X["a"] > 19, "ill", "well")
    model = RankRidgeClassifier(random_state=0).fit(X, y)
    Z = X[["a"]] + 0.5
    groups = np.arange(40)
    for more in ({}, {"groups": groups // 2}):
        found = validate(model, Z, np.where(y == "ill", "well", "ill"), **more)
        assert "worse than chance" in found.about["cautions"][-1]
    chance = np.random.default_rng(0).permutation(y)
    assert validate(model, Z, chance).about["cautions"] == []


def test_of_more_classes_each_is_compared_with_the_rest():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 3)), np.arange(120) % 3
    X[:, 0] += 3 * y
    model = RandomForestClassifier(20, random_state=0).fit(X[:60], y[:60])
    found = validate(model, X[60:], (y[60:] + 2) % 3)
    assert any("ROC-AUC against the rest of" in one for one in found.about["cautions"])
    write = found.data()["about"]["cautions"]
    assert write == found.about["cautions"]


def test_a_folder_without_cautions_is_shown_as_before(tmp_path):
    found = validate(CARTClassifier().fit(*TRAIN), *NEW)
    for name in ("cautions", "seen"):
        del found.about[name]
    write_validation(found, tmp_path / "v")
    build_report(tmp_path / "v", tmp_path / "page.html")
    assert "It is not known whether" in (tmp_path / "page.html").read_text()
