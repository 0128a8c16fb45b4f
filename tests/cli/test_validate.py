"""psephos validate, and what predict adds to answers."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import psephos
from psephos.cli.app import main


def _run(*args):
    return CliRunner().invoke(main, [str(one) for one in args])


@pytest.fixture(scope="module", name="place")
def _place(tmp_path_factory):
    place = tmp_path_factory.mktemp("cohort")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(160, 4)), columns=list("abcd"))
    y = np.where(X["a"] + rng.normal(size=160) > 0, "ill", "well")
    psephos.save(psephos.SamBAClassifier(n_estimators=3).fit(X[:80], y[:80]), place / "m.psephos")
    table = X[80:].assign(dx=np.where(y[80:] == "ill", "CRC", "healthy"), who=np.arange(80) // 2)
    table.assign(sex=["f", "m"] * 40).to_csv(place / "other.csv", index=False)
    np.savez(place / "other.npz", X=X[80:], feature_names=list("abcd"), y=(y[80:] == "well") * 1,
             classes=["ill", "well"])  # fmt: skip
    return place


_NAMED = ("--classes", "CRC=ill", "--classes", "healthy=well")


def test_it_prints_and_writes_what_the_function_says(place):
    found = _run("validate", place / "m.psephos", place / "other.csv", "--target", "dx", *_NAMED,
                 "--positive", "ill", "--by", "sex", "--group", "who",
                 "--out", place / "out")  # fmt: skip
    assert found.exit_code == 0, found.output
    assert "ROC-AUC of ill" in found.stdout
    assert "sex f: " in found.stdout
    data = pd.read_csv(place / "other.csv")
    y = data["dx"].map({"CRC": "ill", "healthy": "well"})
    again = psephos.validate(
        psephos.load(place / "m.psephos"), data, y, positive="ill",
        groups=data["who"].astype(str), by={"sex": data["sex"]},
    )  # fmt: skip
    written = json.loads((place / "out" / "validation.json").read_text())
    assert written["figures"] == again.figures
    assert written["subgroups"] == again.subgroups
    with (place / "out" / "predictions.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["p_ill"]) for row in rows] == again.frame("predictions")["p_ill"].tolist()


def test_json_and_arrays(place):
    found = _run("validate", place / "m.psephos", place / "other.npz", "--json")
    assert found.exit_code == 0, found.output
    one = json.loads(found.stdout)
    other = _run("validate", place / "m.psephos", place / "other.csv", "--target", "dx", *_NAMED,
                 "--json")  # fmt: skip
    assert one["figures"] == json.loads(other.stdout)["figures"]


def test_bad_input_is_a_sentence(place):
    for args, words in (
        (("--target", "dx"), "'CRC'"),
        ((), "--target COLUMN"),
        (("--target", "diagnosis"), "no column 'diagnosis'"),
        (("--target", "dx", "--classes", "CRC"), "OLD=NEW"),
        (("--target", "dx", *_NAMED, "--calibrated"), "no map of held-out answers"),
    ):
        found = _run("validate", place / "m.psephos", place / "other.csv", *args)
        assert found.exit_code == 2
        assert words in found.output
        assert "Traceback" not in found.output


def test_empty_rows_at_the_end_are_left_out(place, tmp_path):
    text = (place / "other.csv").read_text()
    (tmp_path / "t.csv").write_text(text + "," * text.splitlines()[0].count(",") + "\n")
    found = _run("validate", place / "m.psephos", tmp_path / "t.csv", "--target", "dx", *_NAMED)
    assert found.exit_code == 0
    assert "empty lines are left out: 1" in found.output


def test_a_recalibrated_model_is_another_file(place):
    found = _run("validate", place / "m.psephos", place / "other.csv", "--target", "dx", *_NAMED,
                 "--recalibrate", place / "again.psephos")  # fmt: skip
    assert found.exit_code == 0, found.output
    X = pd.read_csv(place / "other.csv")
    before, after = (psephos.load(place / name) for name in ("m.psephos", "again.psephos"))
    assert not np.allclose(before.predict_proba(X[list("abcd")]), after.predict_proba(X))
    own = _run("validate", place / "m.psephos", place / "other.csv", "--target", "dx", *_NAMED,
               "--recalibrate", place / "m.psephos")  # fmt: skip
    assert own.exit_code == 2


def _answers(*args):
    found = _run("predict", *args)
    assert found.exit_code == 0, found.output
    return list(csv.DictReader(io.StringIO(found.stdout))), found


def test_predict_tells_who_disagrees_and_what_to_measure(place):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 4)), columns=list("abcd"))
    y = np.where(X["a"] + X["b"] + rng.normal(size=120) > 0, "ill", "well")
    library = psephos.SparseWrapperClassifier(p_max=1, alpha=0.5, delta=0.5, random_state=0)
    library.fit(X, y)
    psephos.save(library, place / "swag.psephos")
    X.iloc[0, 0] = np.nan
    X[:30].to_csv(place / "new.csv", index=False)
    rows, _ = _answers(place / "swag.psephos", place / "new.csv", "--multiplicity", "--next-column")
    told = library.multiplicity(X[:30])
    assert [int(row["models_asked"]) for row in rows] == told["n_models"]
    assert [int(row["models_disagreeing"]) for row in rows] == told["n_disagree"]
    assert [row["rival"] or None for row in rows] == told["rival"]
    assert sum(told["n_disagree"]) > 0
    assert rows[0]["next_column"] == "a"
    assert all(row["next_column"] == "" for row in rows[1:])
    other = _run("predict", place / "m.psephos", place / "new.csv", "--multiplicity")
    assert other.exit_code == 2
    assert "library" in other.output


def test_predict_answers_through_the_map_of_held_out_answers(place):
    model = psephos.load(place / "m.psephos")
    from psephos.recalibrating import recalibration_of

    data = pd.read_csv(place / "other.csv")
    codes = (data["dx"] == "healthy").astype(int).to_numpy()
    model.recalibration_ = recalibration_of(model.predict_proba(data[list("abcd")]), codes)
    psephos.save(model, place / "mapped.psephos")
    rows, found = _answers(place / "mapped.psephos", place / "other.csv", "--calibrated")
    told = psephos.recalibrated(model).predict_proba(data[list("abcd")])
    assert [float(row["probability_ill"]) for row in rows] == told[:, 0].tolist()
    assert "held-out answers of 80 cases" in found.stderr
    plain, _ = _answers(place / "mapped.psephos", place / "other.csv")
    assert plain == _answers(place / "m.psephos", place / "other.csv")[0]


def test_labels_that_hold_an_equals_sign_are_renamed(place, tmp_path):
    table = pd.read_csv(place / "other.csv").replace({"healthy": "good=fine"})
    table.to_csv(tmp_path / "t.csv", index=False)
    pairs = ("--classes", "CRC=ill", "--classes", "good=fine=well")
    found = _run("validate", place / "m.psephos", tmp_path / "t.csv", "--target", "dx", *pairs)
    assert found.exit_code == 0, found.output
    assert "good=fine is well" in found.stdout
    table["dx"] = np.where(np.arange(80) % 2, "a", "a=ill")
    table.to_csv(tmp_path / "t.csv", index=False)
    model = tmp_path / "odd.psephos"
    y = np.where(table["a"] > 0, "ill", "ill=ill")
    psephos.save(psephos.CARTClassifier().fit(table[list("abcd")], y), model)
    found = _run("validate", model, tmp_path / "t.csv", "--target", "dx", "--classes", "a=ill=ill")
    assert found.exit_code == 2
    assert "may mean that 'a' is 'ill=ill' or 'a=ill' is 'ill'" in found.output
    found = _run("validate", place / "m.psephos", place / "other.csv", "--target", "dx", *_NAMED,
                 "--classes", "CRC=well")  # fmt: skip
    assert "names 'CRC' twice" in found.output


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_a_target_with_a_unit_and_the_sheet_of_the_model(tmp_path, suffix):
    """The target is read as in the fit; of two sheets the one with the model's columns."""
    rng = np.random.default_rng(0)

    def written(name, unit="€", n=60):
        X = rng.normal(size=(n, 2)).round(3)
        price = [f"{v:.2f} {unit}" for v in 100 + X @ [20, 15]]
        table, path = pd.DataFrame(X, columns=["a", "b"]).assign(price=price), tmp_path / name
        if suffix == ".csv":
            table.to_csv(path, index=False)
            return path
        with pd.ExcelWriter(path) as book:
            pd.DataFrame({"k": range(9), "v": range(9)}).to_excel(book, sheet_name="rates")
            table.to_excel(book, sheet_name="cases", index=False)
        return path

    def run(*words):
        return CliRunner().invoke(main, list(map(str, words)))

    old, new, model = written(f"old{suffix}"), written(f"new{suffix}"), tmp_path / "m.psephos"
    target = ("--target", "price")
    done = run("fit", old, *target, "--task", "numbers", "--model", "rank-ridge", "--out", model)
    assert done.exit_code == 0, done.output
    predicted = run("predict", model, new)
    assert predicted.exit_code == 0, predicted.output
    done = run("validate", model, new, *target)
    assert done.exit_code == 0, done.output
    assert "column 'price': the unit '€' beside numbers is left out." in done.output
    if suffix == ".xlsx":
        only = "the sheet 'cases' is read, the only one of 2 with the columns 'a', 'b'."
        assert only in predicted.output
    done = run("validate", model, written(f"other{suffix}", "$"), *target)
    assert done.exit_code == 2
    assert "column 'price' has '$' in line 2 besides the unit '€' of the model" in done.output
