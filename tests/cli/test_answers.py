"""fit, predict and explain: by column name, from a file that holds data only."""

import csv
import io
import json
import math
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import psephos

from .conftest import HEADER, rows_of, write_csv


def sheet(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def loaded(model):
    from psephos.models import load

    return load(model)


def frame_of(rows):
    pd = pytest.importorskip("pandas", reason="needs pandas (extra 'frames')")
    frame = pd.DataFrame(rows, columns=HEADER).drop(columns=["name", "state", "batch"])
    for name in (HEADER[3], HEADER[5], HEADER[6]):
        frame[name] = pd.to_numeric(frame[name], errors="coerce")
    return frame


def test_fit_writes_a_model_with_its_settings_and_names(loaded):
    assert loaded.get_params()["a"] == 0.1
    assert loaded.vote_.n_voters <= 5
    assert list(loaded.feature_names_in_) == [HEADER[3], "colour", "noise", "age, years"]
    assert list(loaded.classes_) == ["ill", "well"]
    assert {str(name) for name in loaded.features_used_} <= set(loaded.feature_names_in_)


def test_few_answers_of_trees_do_not_import_numba(call, table, tmp_path):
    path, new = tmp_path / "forest.psephos", write_csv(tmp_path / "new.csv", HEADER, rows_of(5, 7))
    known = ["--target", "state", "--id", "name", "--group", "batch", "--seed", 1, "--out", path]
    assert call("fit", table, "--model", "random-forest", *known).exit_code == 0
    words = ["predict", str(path), str(new), "--id", "name"]
    code = f"from psephos.cli.app import main; main({words}, standalone_mode=False)"
    code += "; import sys; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *few, imported = done.stdout.splitlines()
    assert imported == "False"
    assert few == call(*words).stdout.splitlines()  # here numba is imported


def test_predict_gives_the_models_answers(call, model, loaded, tmp_path):
    rows = rows_of(30, 7)
    path = write_csv(tmp_path / "new.csv", HEADER, rows)
    result = call("predict", model, path, "--id", "name")
    assert result.exit_code == 0
    told = sheet(result.stdout)
    assert [t["id"] for t in told] == [row[0] for row in rows]
    frame = frame_of(rows)
    assert [t["predicted"] for t in told] == loaded.predict(frame).tolist()
    chances = [[float(t["probability_ill"]), float(t["probability_well"])] for t in told]
    np.testing.assert_allclose(chances, loaded.predict_proba(frame), rtol=0, atol=1e-12)


def test_a_terminal_shows_ballots_under_the_prediction(call, model, loaded, tmp_path, monkeypatch):
    path = write_csv(tmp_path / "new.csv", HEADER, rows_of(5, seed=9))
    written = sheet(call("explain", model, path, "--id", "name").stdout)
    said = sheet(call("predict", model, path, "--id", "name").stdout)
    screen = SimpleNamespace(isatty=lambda: True)
    monkeypatch.setattr("psephos.cli.explain.sys", SimpleNamespace(stdout=screen))
    shown = call("explain", model, path, "--id", "name").stdout
    for case in said:
        assert f"{case['id']}: {case['predicted']} (" in shown
    assert len({line["case"] for line in written}) == len(said) == shown.count("weight voter")
    call("explain", model, path, "--id", "name", "--out", tmp_path / "b.csv")
    assert sheet((tmp_path / "b.csv").read_text("utf-8")) == written


def test_a_file_whose_rows_are_columns_can_be_transposed(call, model, tmp_path):
    lines = [["feature", "a", "b"], *([name, "1", "2"] for name in HEADER)]
    path = write_csv(tmp_path / "turned.csv", lines[0], lines[1:])
    result = call("predict", model, path, "--no-transpose")
    assert "; or transpose the file if its rows are columns of the model." in result.stderr


def test_columns_are_matched_by_name_and_others_ignored(call, model, loaded, tmp_path):
    rows = rows_of(12, 3)
    whole = write_csv(tmp_path / "whole.csv", HEADER, rows)
    used = [str(name) for name in loaded.features_used_]
    order = [HEADER.index(name) for name in reversed(used)]
    few = [["words, that no model reads", *(row[j] for j in order)] for row in rows]
    small = write_csv(tmp_path / "small.csv", ["remark", *reversed(used)], few)
    out = tmp_path / "answers.csv"
    assert call("predict", model, small, "--out", out).stdout == ""
    whole_answers = sheet(call("predict", model, whole).stdout)
    assert sheet(out.read_text("utf-8")) == whole_answers
    assert [t["id"] for t in whole_answers] == [
        f"row {i}" for i in range(2, 14)
    ]  # lines of the file


def test_a_missing_column_is_one_sentence_that_names_it(call, model, loaded, tmp_path):
    name = str(loaded.features_used_[0])
    header = ["other" if h == name else h for h in HEADER]
    path = write_csv(tmp_path / "t.csv", header, rows_of(5, 0))
    out = tmp_path / "answers.csv"
    for command in ("predict", "explain"):
        result = call(command, model, path, "--out", out)
        assert result.exit_code == 2
        assert repr(name) in result.stderr
        assert result.stderr.startswith("Error: ")
        assert result.stderr.count("\n") == 1
        assert list(tmp_path.iterdir()) == [path]


def test_swag_fits_by_its_word_and_answers(call, table, tmp_path):
    from psephos.models import load

    out, rows = tmp_path / "swag.psephos", rows_of(12, 3)
    settings = ["--model", "swag", "--set", "learner=lda", "--set", "m=inf", "--set", "p_max=2"]
    columns = ["--target", "state", "--id", "name", "--group", "batch"]
    result = call("fit", table, *columns, "--set", "n_folds=4", *settings, "--out", out)
    assert result.exit_code == 0
    model = load(out)
    assert (type(model).__name__, model.learner) == ("SparseWrapperClassifier", "lda")
    assert model.m == math.inf
    told = sheet(call("predict", out, write_csv(tmp_path / "new.csv", HEADER, rows)).stdout)
    assert [t["predicted"] for t in told] == model.predict(frame_of(rows)).tolist()
    heads = ["id", "predicted", "probability_ill", "probability_well", "answered"]
    assert list(told[0]) == heads


def test_a_group_is_not_divided_by_folds_of_the_model_either(call, table, tmp_path, monkeypatch):
    from psephos import SparseWrapperClassifier

    heard, whole = [], SparseWrapperClassifier.fit
    monkeypatch.setattr(
        SparseWrapperClassifier,
        "fit",
        lambda self, *given, **named: (heard.append(named), whole(self, *given, **named))[1],
    )
    columns = ["--target", "state", "--id", "name", "--group", "batch", "--model", "swag"]
    assert call("fit", table, *columns, "--out", tmp_path / "m.psephos").exit_code == 0
    assert len(set(heard[0]["groups"])) == 12


def test_a_library_answers_with_what_was_measured(call, table, tmp_path):
    from psephos.models import load

    out, rows = tmp_path / "swag.psephos", rows_of(12, 3)
    settings = ["alpha=1.0", "delta=1.0", "p_max=2", "absent=vote", "n_folds=4"]
    chosen = [word for one in settings for word in ("--set", one)]
    columns = ["--target", "state", "--id", "name", "--drop", "batch", "--model", "swag"]
    assert call("fit", table, *columns, *chosen, "--out", out).exit_code == 0
    whole = sheet(call("predict", out, write_csv(tmp_path / "a.csv", HEADER, rows)).stdout)
    name = "age, years"
    j = HEADER.index(name)
    header, few = [h for h in HEADER if h != name], [r[:j] + r[j + 1 :] for r in rows]
    part = sheet(call("predict", out, write_csv(tmp_path / "b.csv", header, few)).stdout)
    model = load(out)
    assert [t["predicted"] for t in part] == model.predict(
        frame_of(rows).drop(columns=[name])
    ).tolist()
    n = len(model.library_.chosen().usable_with([c for c in model.features_used_ if c != name]))
    for row, one, other in zip(rows, whole, part, strict=True):
        assert int(other["n_models"]) < int(one["n_models"])
        if row[3]:  # nothing else is missing in this row
            assert int(other["n_models"]) == n
        assert other["source"] == "chosen"
        assert 0 < float(other["search_error"]) < 1
        assert len(other["search_error"]) <= len("0.") + 12  # rounding errors are no digits
    X = np.zeros((2, 1))
    np.savez(tmp_path / "none.npz", X=X, feature_names=np.array(["nothing of use"]))
    silent = sheet(call("predict", out, tmp_path / "none.npz").stdout)
    assert [(t["n_models"], t["source"], t["search_error"]) for t in silent] == [
        ("0", "prior", "")
    ] * 2


def test_a_category_the_model_never_met_is_missing(call, model, loaded, tmp_path):
    rows = rows_of(6, 1)
    for row in rows:
        row[4] = "ultraviolet"
    strange = sheet(call("predict", model, write_csv(tmp_path / "a.csv", HEADER, rows)).stdout)
    for row in rows:
        row[4] = ""
    empty = sheet(call("predict", model, write_csv(tmp_path / "b.csv", HEADER, rows)).stdout)
    assert strange == empty
    assert "colour" in loaded.features_used_  # else this shows nothing


@pytest.mark.parametrize(
    ("cell", "what"), [("tall", "text"), ("1_0", "text"), ("-inf", "infinite")]
)
def test_a_cell_that_is_no_number_is_named(call, model, loaded, tmp_path, cell, what):
    name = next(str(n) for n in loaded.features_used_ if n != "colour")
    rows = rows_of(5, 0)
    rows[3][HEADER.index(name)] = cell
    result = call("predict", model, write_csv(tmp_path / "t.csv", HEADER, rows))
    assert result.exit_code == 2
    assert repr(name) in result.stderr
    assert "line 5" in result.stderr
    assert what in result.stderr


def test_explain_writes_ballots_that_sum_to_the_score(call, model, loaded, table, tmp_path):
    rows, trained = rows_of(9, 5), {t["name"] for t in sheet(table.read_text("utf-8"))}
    result = call("explain", model, write_csv(tmp_path / "t.csv", HEADER, rows), "--id", "name")
    assert result.exit_code == 0
    told = sheet(result.stdout)
    assert len(told) == 9 * loaded.vote_.n_voters
    score = loaded.decision_function(frame_of(rows))
    for i, row in enumerate(rows):
        own = [t for t in told if t["case"] == row[0]]
        total = math.fsum(float(t["contribution"]) for t in own)
        assert total == pytest.approx(score[i], abs=1e-12)
        assert {name for t in own for name in json.loads(t["columns"])} <= set(HEADER)
        nearest = json.loads(own[0]["nearest"])
        assert {near[0] for near in nearest} <= trained


def test_many_rows_are_answered_in_blocks(call, model, tmp_path):
    rows = rows_of(1200, 2)
    path = write_csv(tmp_path / "t.csv", HEADER, rows)
    told = sheet(call("predict", model, path, "--id", "name").stdout)
    assert [t["id"] for t in told] == [row[0] for row in rows]
    ballots = sheet(call("explain", model, path, "--id", "name").stdout)
    assert list(dict.fromkeys(t["case"] for t in ballots)) == [row[0] for row in rows]


def test_npz_in_and_csv_in_are_the_same(call, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 6)), np.arange(40) % 2
    X[:, 2] += 2 * y
    names = [f"gene {j}" for j in range(6)]
    np.savez(tmp_path / "t.npz", X=X, y=y, classes=["a", "b"], feature_names=names)
    path = tmp_path / "m.psephos"
    done = call("fit", tmp_path / "t.npz", "--model", "adaboost", "--out", path)
    assert done.exit_code == 0, done.output
    assert "AdaBoostClassifier" in done.stderr
    write_csv(tmp_path / "t.csv", names, [[repr(v) for v in row] for row in X.tolist()])
    one = call("predict", path, tmp_path / "t.npz").stdout
    told = sheet(call("predict", path, tmp_path / "t.csv").stdout)
    assert [list(t.values())[1:] for t in told] == [list(t.values())[1:] for t in sheet(one)]
    assert (sheet(one)[0]["id"], told[0]["id"]) == ("row 0", "row 2")  # an npz file has no lines
    assert {t["predicted"] for t in sheet(one)} == {"a", "b"}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["--set", "n_estimator=3"], "no parameter 'n_estimator'"),
        (["--set", "a"], "PARAMETER=VALUE"),
        (["--set", "a=-1"], "a"),
        (["--set", "n_estimators=many"], "n_estimators"),
        (
            ["--model", "forest"],
            "did you mean 'random-forest' or",
        ),
        (["--model", "xgboost"], "psephos compare evaluates it"),
        (["--model", "samba", "--set", "categorical_features=1"], "no parameter"),
        (
            ["--model", "SparseWrapperRegressor"],
            "is not a number: correct it, or give --task classes",
        ),
        (["--model", "swag", "--set", "m=some"], "parameter 'm' must be"),
        (["--model", "voting", "--set", "estimators=[]"], "the command fits the default members"),
        (["--model", "stacking", "--set", "levels=[]"], "the command fits the default members"),
        (["--model", "multi-view", "--set", "views=[('a',['nois'])]"], "'nois', which is not a"),
        (["--model", "column-budget", "--set", "prices={'nois':2}"], "got 'nois'"),
    ],
)
def test_parameters_that_cannot_be_set(call, table, tmp_path, settings, words):
    out = tmp_path / "m.psephos"
    roles = ["--target", "state", "--id", "name", "--drop", "batch"]
    result = call("fit", table, *roles, "--out", out, *settings)
    assert result.exit_code == 2
    *first, sentence = result.stderr.splitlines()
    assert words in sentence
    assert not [one for one in first if not one.startswith(("48 cases: ", "FD009 ", "FD025 "))]
    assert not out.exists()


def test_parameters_name_columns_as_the_file_does(call, table, tmp_path):
    """By name, or by position among the columns that the model is given."""
    out = tmp_path / "m.psephos"
    roles = ["--target", "state", "--id", "name", "--drop", "batch", "--drop", "colour"]
    views = [("one", ["age, years"]), ("two", [HEADER[3], "noise"])]
    result = call("fit", table, *roles, "--model", "multi-view", "--set", f"views={views}",
                  "--out", out)  # fmt: skip
    assert result.exit_code == 0, result.stderr
    model = psephos.load(out)
    assert {name: list(own) for name, own in model.views} == dict(views)
    usage = model.usage().toarray()
    assert usage[:2].tolist() == [[False, False, True], [True, True, False]]
    assert list(model.reduce().features_used_) == [HEADER[3], "noise", "age, years"]
    at_places = [("one", [2]), ("two", [0, 1])]
    call("fit", table, *roles, "--model", "multi-view", "--set", f"views={at_places}", "--out", out)
    assert (psephos.load(out).usage().toarray() == usage).all()
    priced = {"noise": 9, "age, years": 2}
    call("fit", table, *roles, "--model", "column-budget", "--set", f"prices={priced}",
         "--set", "n_columns=3", "--set", "selector=univariate", "--out", out)  # fmt: skip
    assert "noise" not in psephos.load(out).selected_
    assert len(psephos.load(out).selected_) == 2


def test_a_damaged_model_file_is_refused(call, model, table, tmp_path):
    for size in (0, 10, -50):
        broken = tmp_path / "broken.psephos"
        broken.write_bytes(model.read_bytes()[:size])
        result = call("predict", broken, table)
        assert result.exit_code == 2
        assert "broken.psephos" in result.stderr
        assert "Traceback" not in result.stderr


def test_a_folder_that_is_missing_is_made(call, model, table, tmp_path):
    out = tmp_path / "no" / "such" / "m.psephos"
    settings = ["--target", "state", "--id", "name", "--drop", "batch"]
    result = call("fit", table, *settings, "--set", "n_estimators=2", "--out", out)
    assert result.exit_code == 0
    assert out.is_file()
    answers = tmp_path / "other" / "answers.csv"
    assert call("predict", model, table, "--out", answers).exit_code == 0
    assert len(answers.read_text("utf-8").splitlines()) == 49


def test_a_file_that_cannot_be_written_is_named_as_it_was_given(call, model, table, tmp_path):
    (tmp_path / "file").write_text("")
    out = tmp_path / "file" / "answers.csv"
    for command in ("predict", "explain"):
        result = call(command, model, table, "--out", out)
        assert result.exit_code == 2
        assert f"{str(out)!r} cannot be written" in result.stderr
        assert "psephos-part" not in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_exit_codes_of_the_process(model, table, tmp_path):
    run = [sys.executable, "-m", "psephos.cli", "predict", str(model)]
    good = subprocess.run([*run, str(table)], capture_output=True, text=True, check=False)
    assert good.returncode == 0
    assert good.stderr == ""
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    bad = subprocess.run(
        [*run, str(tmp_path / "t.csv")], capture_output=True, text=True, check=False
    )
    assert bad.returncode == 2
    assert bad.stdout == ""
    assert bad.stderr.startswith("Error: ")
    assert "Traceback" not in bad.stderr


def test_describe_prints_the_model_in_a_file(call, model, loaded):
    result = call("describe", model)
    assert result.exit_code == 0
    *words, kept = result.stdout.splitlines()
    assert words == loaded.describe()
    assert kept.startswith("The model keeps values of 48 training rows, on 3 columns at most")


def test_reduce_writes_a_model_of_the_columns_it_reads(call, model, loaded, tmp_path):
    from psephos.models import load

    small = tmp_path / "small.psephos"
    result = call("reduce", model, "--out", small)
    assert result.exit_code == 0
    assert load(small).n_features_in_ == loaded.n_features_used_
    assert list(load(small).feature_names_in_) == list(loaded.features_used_)


def test_backup_columns_may_be_absent_and_used_ones_not(call, tmp_path):
    from psephos.models import load

    rng = np.random.default_rng(0)
    level = rng.standard_normal(80)
    rows = np.column_stack([level, level + 0.1 * rng.standard_normal(80)]).tolist()
    cells = [["ab"[x > 0], x, other] for x, other in rows]
    data = write_csv(tmp_path / "data.csv", ["y", "x", "other"], cells)
    kept = tmp_path / "cart.psephos"
    fit = call("fit", data, "--target", "y", "--model", "cart", "--out", kept)
    assert "reads 1 of 2 columns: x (and 1 more where those are missing)." in fit.stderr
    used = write_csv(tmp_path / "used.csv", ["x"], [[x] for x, _ in rows])
    told = call("predict", kept, used)
    assert told.exit_code == 0
    assert "1 column that the model reads only if another is missing ('other')" in told.stderr
    assert told.stdout == call("predict", kept, data).stdout
    spare = write_csv(tmp_path / "spare.csv", ["other"], [[other] for _, other in rows])
    assert "has no column 'x'" in call("predict", kept, spare).stderr
    small = tmp_path / "small.psephos"
    assert call("reduce", kept, "--out", small, "--no-backup").exit_code == 0
    assert list(load(small).feature_names_in_) == ["x"]
    assert call("predict", small, used).stdout == told.stdout


def test_an_answer_imports_no_more_than_it_needs(model, table):
    """Most of the time that five rows take is importing: no search, no report, no frames."""
    code = (
        "import sys\nfrom psephos.cli import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit as end:\n    assert not end.code\n"
        "print('IMPORTED', *sys.modules)"
    )
    run = [sys.executable, "-c", code, "predict", str(model), str(table)]
    done = subprocess.run(run, capture_output=True, text=True, check=True, encoding="utf-8")
    imported = set(done.stdout.partition("IMPORTED")[2].split())
    unwanted = {
        "sklearn", "pandas", "polars", "narwhals", "rich", "joblib", "jinja2", "networkx",
        "matplotlib", "psephos.protocol", "psephos.report", "psephos.explain", "psephos.base",
    }  # fmt: skip
    assert not unwanted & imported


def test_what_is_read_is_not_written_over(call, model, table, tmp_path):
    own = tmp_path / "m.psephos"
    own.write_bytes(model.read_bytes())
    rows = tmp_path / "t.csv"
    rows.write_bytes(table.read_bytes())
    for command in ("predict", "explain"):
        for out in (own, rows):
            refused = call(command, own, rows, "--out", out)
            assert refused.exit_code == 2
            assert "is an input file: give another" in refused.stderr
    refused = call("fit", rows, "--target", "y", "--model", "cart", "--out", rows)
    assert "is an input file: give another" in refused.stderr
    assert own.read_bytes() == model.read_bytes()
    assert rows.read_bytes() == table.read_bytes()


def test_a_device_stays_a_device_and_a_link_a_link(call, model, table, tmp_path):
    if not Path("/dev/null").is_char_device():
        pytest.skip("this system has no /dev/null")
    node = tmp_path / "link"
    node.symlink_to("/dev/null")
    assert call("predict", model, table, "--out", node).exit_code == 0
    assert Path("/dev/null").is_char_device()
    aside = tmp_path / "aside.csv"
    link = tmp_path / "link.csv"
    link.symlink_to(aside)
    assert call("predict", model, table, "--out", link).exit_code == 0
    assert link.is_symlink()
    assert aside.read_text("utf-8").count("\n") > 1


def test_cells_of_a_fat_model_are_cut_unless_asked(call, tmp_path):
    """A spreadsheet takes cells of 32,767 characters: what is left out is counted."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((24, 1500)).round(3)
    names = ["state", *(f"gene_{j}_of_the_table" for j in range(1500))]
    rows = [["ill" if x[0] > 0 else "well", *map(repr, x.tolist())] for x in X]
    table = write_csv(tmp_path / "fat.csv", names, rows)
    out = tmp_path / "m.psephos"
    call("fit", table, "--target", "state", "--model", "rank-ridge", "--out", out)
    lines = call("describe", out).stdout.splitlines()
    assert max(map(len, lines)) < 1000
    assert "the greatest (above 0: for the second class)" in lines[1]
    assert "and 1494 more" in lines[1]
    told, asked = (sheet(call("explain", out, table, *how).stdout) for how in ((), ("--details",)))
    assert max(len(cell) for row in told for cell in row.values()) <= 32_000
    short, whole = (json.loads(one[0]["details"]) for one in (told, asked))
    kept = len(short["terms"]) - 1
    assert len(whole["terms"]) == 1500
    assert short["terms"] == [*whole["terms"][:kept], f"and {1500 - kept} more"]
    columns = json.loads(told[0]["columns"])
    assert columns[-1] == f"and {1500 - (len(columns) - 1)} more"


def test_columns_of_another_lab_under_other_spellings_are_named(call, tmp_path):
    lines = [f"{i % 7},{i % 5},{i * 3 % 11},{'ab'[i % 2]}" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["glucose,body weight,crp,y", *lines]))
    (tmp_path / "new.csv").write_text("\n".join(["Glucose,Body-Weight (kg),z,y", *lines]))
    path = tmp_path / "m.psephos"
    words = ["--target", "y", "--model", "rank-ridge", "--out", path]
    assert call("fit", tmp_path / "t.csv", *words).exit_code == 0
    has = "It has 'Glucose' (rename it 'glucose'), 'Body-Weight (kg)' (rename it 'body weight')"
    refused = call("predict", path, tmp_path / "new.csv")
    assert refused.exit_code == 2
    assert has in refused.stderr
    assert "Add the others, left empty" in refused.stderr
    asked = ("validate", path, tmp_path / "new.csv", "--target", "y", "--out", tmp_path / "v")
    assert has in call(*asked).stderr
    (tmp_path / "new.csv").write_text("\n".join(["Glucose,Body-Weight (kg),crp,y", *lines]))
    noted = call(*asked)
    assert noted.exit_code == 0, noted.stderr
    assert f"taken as missing. {has}" in noted.stdout + noted.stderr
    (tmp_path / "none.csv").write_text("\n".join(["a,b,c,y", *lines]))
    assert "It has" not in call("predict", path, tmp_path / "none.csv").stderr
