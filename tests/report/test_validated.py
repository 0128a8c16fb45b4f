"""The page of a validation: its figures beside scikit-learn's, its words, its refusals."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.metrics import confusion_matrix, roc_auc_score

from psephos import CARTClassifier, PsephosError, SamBAClassifier, validate
from psephos.cli.app import main
from psephos.report import PageOptions, summarise_validation
from psephos.report.page.render import render_validation
from psephos.validation import write_validation

HOSTILE = "k__B;</script><b>"


def _cohort(n, seed, shift=0.0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=["a", HOSTILE, "c", "d"])
    y = np.where(X["a"] + X[HOSTILE] + rng.normal(size=n) > 0, "ill", "well")
    X["a"] += shift
    return X, y


@pytest.fixture(scope="module", name="judged")
def _judged(tmp_path_factory):
    place = tmp_path_factory.mktemp("judged") / "folder"
    X, y = _cohort(120, 1, 1.5)
    model = SamBAClassifier(n_estimators=4).fit(*_cohort(80, 0))
    found = validate(
        model, X.drop(columns=HOSTILE), y, positive="ill", threshold=0.4,
        by={"site": np.repeat(["east", "west"], [113, 7])},
    )  # fmt: skip
    write_validation(found, place)
    return place, found, y


def test_the_panel_of_answers_is_the_cohorts(judged):
    place, found, y = judged
    report = summarise_validation(place)
    missed, cases = report["missed"], found.frame("predictions")
    tn, fp, fn, tp = confusion_matrix(y == "ill", cases["p_ill"] >= 0.4).ravel().tolist()
    assert missed["counts"] == {
        "found": tp, "missed": fn, "alarms": fp, "cleared": tn,
        "positive": tp + fn, "negative": fp + tn,
    }  # fmt: skip
    assert report["island"]["first"]["threshold"] == missed["threshold"] == 0.4
    area = roc_auc_score(y == "ill", cases["p_ill"])
    assert missed["model"]["curves"]["roc"]["area"] == f"area {area:.2f}"
    again = report["island"]["missed"]["models"]["recalibrated"]
    np.testing.assert_allclose(np.array(again["q"]) / 1e6, cases["recalibrated_ill"], atol=1.1e-6)
    assert "not the model that is validated" in again["note"]
    assert "not fitted again" in missed["model"]["note"]
    west = next(row for row in missed["groups"]["rows"] if row["level"] == "west")
    assert west["n"] == "7"
    assert not any("(" in one for one in west["measures"])  # counts alone


def test_the_figures_are_those_of_the_validation(judged):
    place, found, _ = judged
    report = summarise_validation(place)
    rows = {row[0]: row for row in report["judged"]["rows"]}
    sensitivity = found.figure("sensitivity")
    assert rows["sensitivity of ill"][1] == f"{sensitivity['value']:.2f}"
    assert rows["sensitivity of ill"][3] == f"{sensitivity['hits']} of {sensitivity['n']}"
    assert rows["log-loss"][1] == f"{found.figure('log-loss')['value']:.3f}"
    area = found.figure("ROC-AUC")
    assert f"{area['value']:.2f} (95 % interval {area['low']:.2f}" in report["verdict"][0]
    after = {row["figure"]: row for row in found.recalibration["figures"]}
    again = {row[0]: row for row in report["recalibrated"]["rows"]}
    assert again["Brier score"][3] == f"{after['Brier score']['value']:.3f}"


def test_shift_and_familiarity_are_told_by_column_and_by_tenths(judged):
    place, found, _ = judged
    alike = summarise_validation(place)["alike"]
    first = alike["columns"][0]
    assert first["cells"][1] == "not in the cohort"
    moved = next(row for row in alike["columns"] if row["name"] == "a")
    assert moved["beyond"]
    assert moved["cells"][-1].endswith("more than chance")
    shares = found.frame("predictions")["share_farther"]
    expected = np.histogram(shares, bins=np.arange(11) / 10)[0].tolist()
    assert [row["n"] for row in alike["tenths"]] == expected
    lacking = [line for line in alike["speaking"] if "without a value" in line]
    assert len(lacking) == 1


def test_the_page_is_safe_and_says_what_it_leaves_out(judged):
    page = render_validation(summarise_validation(judged[0], PageOptions(ids=True)))
    assert HOSTILE not in page
    assert page.count("</script>") == 2
    assert 'id="values"' not in page
    assert "left out, since they compare fits" in page
    assert "SamBAClassifier" in page


def test_calls_that_differ_from_the_validations_are_counted(tmp_path):
    X, y = _cohort(120, 1)
    found = validate(SamBAClassifier(n_estimators=4).fit(*_cohort(80, 0)), X, y, threshold=0.34567)
    write_validation(found, tmp_path / "v")
    caution = summarise_validation(tmp_path / "v", PageOptions(cases="none"))["caution"][0]
    p = found.frame("predictions")["p_well"].to_numpy()
    other = int(((p >= 0.34567) != (p >= 0.35)).sum())
    assert ("called differently" in caution) == (other > 0)


def test_several_classes_and_one_class_alone(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), np.arange(90) % 3
    X[:, 0] += y
    model = CARTClassifier(max_depth=2).fit(X[:45], y[:45])
    write_validation(validate(model, X[45:], y[45:], by={"s": y[45:] > 0}), tmp_path / "three")
    report = summarise_validation(tmp_path / "three")
    said = confusion_matrix(y[45:], model.predict(X[45:])).tolist()
    assert report["missed"]["model"]["grid"] == said
    assert len(report["judged"]["subgroups"]) == 2
    assert "<svg" in render_validation(report)
    X, y = _cohort(60, 1)
    model = CARTClassifier(max_depth=1).fit(X, y)
    write_validation(validate(model, X[y == "ill"], y[y == "ill"]), tmp_path / "one")
    page = render_validation(summarise_validation(tmp_path / "one"))
    assert "is not known (there are cases of one class only)" in page
    assert "None was fitted: " in page


def test_the_command_writes_it_and_refuses_what_it_has_not(judged, tmp_path):
    place = judged[0]
    out = tmp_path / "page.html"
    told = CliRunner().invoke(main, ["report", str(place), "--out", str(out), "--cases", "none"])
    assert told.exit_code == 0, told.output
    page = out.read_text("utf-8")
    assert "counts of the 120 cases" in page
    assert "Subgroup" in page or "subgroup" in page
    for asked, words in (
        (["--model", "cart"], "which has only one"),
        (["--positive", "well"], "must be that of the validation, 'ill'"),
    ):
        told = CliRunner().invoke(main, ["report", str(place), *asked])
        assert told.exit_code == 2
        assert words in told.output


def test_a_damaged_folder_is_refused(judged, tmp_path):
    place = tmp_path / "copy"
    write_validation(judged[1], place)
    whole = json.loads((place / "validation.json").read_text())
    del whole["checksum"]  # as of an older version
    (place / "validation.json").write_text(json.dumps({**whole, "figures": [{"figure": 1}]}))
    with pytest.raises(PsephosError, match=r"validation\.json.*damaged"):
        summarise_validation(place)
    write_validation(judged[1], place)
    table = (place / "predictions.csv").read_text().replace("ill,", "sick,", 1)
    (place / "predictions.csv").write_text(table)
    with pytest.raises(PsephosError, match=r"'predictions\.csv' in .* was changed"):
        summarise_validation(place)
    del whole["files"]
    (place / "validation.json").write_text(json.dumps(whole))
    with pytest.raises(PsephosError, match=r"validation\.json.*damaged"):
        summarise_validation(place)


def test_another_model_in_the_folder_is_refused(judged, tmp_path):
    place = tmp_path / "copy"
    write_validation(judged[1], place)
    summarise_validation(place)
    with (place / "model.psephos").open("ab") as file:
        file.write(b"\0")
    with pytest.raises(PsephosError, match=r"'model\.psephos' in .* was changed"):
        summarise_validation(place)
