import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from psephos.cli.words import show_bounds

MODELS = "samba,majority,sklearn-decision-tree"
FAST = ("--protocol", "demo", "--folds", "2")


def test_compare_leaves_results_models_and_a_report(call, table, columns, tmp_path):
    out = tmp_path / "out"
    result = call("compare", table, *columns, *FAST, "--models", MODELS, "--out", out)
    assert result.exit_code == 0, result.output
    with (out / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["model"] for row in rows} == set(MODELS.split(","))
    assert {row["status"] for row in rows} == {"ok"}
    assert {row["n_columns"] for row in rows} == {"4"}  # id, target and group are no columns
    assert (out / "models" / "samba.psephos").is_file()
    page = (out / "report.html").read_text("utf-8")
    assert "Cases of one group (batch, 12 groups)" in page
    for name in ("results.csv", "report.html", "samba.psephos", "sklearn-decision-tree"):
        assert name in result.stdout
    # the same again: nothing is fitted twice, nothing changes
    before = {p.name: p.read_bytes() for p in out.iterdir() if p.is_file()}
    again = call("compare", table, *columns, *FAST, "--models", MODELS, "--out", out)
    assert again.exit_code == 0
    assert {p.name: p.read_bytes() for p in out.iterdir() if p.is_file()} == before


def test_where_every_fit_failed_the_command_does_too(call, table, columns, tmp_path, monkeypatch):
    (tmp_path / "stubborn.py").write_text(
        "import os\n"
        "from sklearn.dummy import DummyClassifier\n"
        "class Never(DummyClassifier):\n"
        "    def fit(self, X, y): raise ValueError('not today')\n"
        "class Ends(DummyClassifier):\n"
        "    def fit(self, X, y): os._exit(1)\n"
        "class Interrupts(DummyClassifier):\n"
        "    def fit(self, X, y): raise KeyboardInterrupt\n"
        "class Talks(DummyClassifier):\n"
        "    def fit(self, X, y):\n"
        "        print('blah blah')\n"
        "        os.write(1, b'blah')\n"
        "        return super().fit(X, y)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    told = ("compare", table, *columns, "--protocol", "demo", "--folds", "2", "--n-jobs", "1")
    result = call(*told, "--models", "stubborn:Never", "--out", tmp_path / "none")
    assert result.exit_code == 2
    assert "every fit of every model failed in the folds" in result.stderr
    assert "not today" in result.stderr
    assert (tmp_path / "none" / "results.csv").is_file()

    # whatever some of them do, the others have their results
    names = ("Ends", "Interrupts", "Talks")
    models = ",".join([*(f"stubborn:{name}" for name in names), "majority"])
    result = call(*told, "--models", models, "--out", tmp_path / "some", "--no-report")
    assert result.exit_code == 0
    assert "blah" not in result.output
    last = result.stderr.splitlines()[-1]
    assert last.startswith("6 of 12 fits failed (2 of 4 models in every fold: Ends, Interrupts; ")
    with (tmp_path / "some" / "results.csv").open(newline="") as file:
        errors = {row["model"]: row["error"] for row in csv.DictReader(file)}
    assert errors["Ends"].startswith("its code ended the process (exit code 1)")
    assert errors["Interrupts"].startswith("KeyboardInterrupt")
    assert errors["Talks"] == errors["majority"] == ""
    notes = json.loads((tmp_path / "some" / "environment.json").read_bytes())["warnings"]
    assert notes[-1] == "Talks printed in 3 fits (the first lines are in timings.csv)."
    assert "printed: blah" in (tmp_path / "some" / "timings.csv").read_text("utf-8")


def test_the_knees_of_curves_are_printed_and_their_fits_counted(call, table, columns, tmp_path):
    settings = ("--models", "sklearn-decision-tree,majority", "--protocol", "demo", "--curve")
    result = call("compare", table, *columns, *settings, "--out", tmp_path)
    assert result.exit_code == 0, result.output
    assert "of them for the curve" in result.stderr
    knee = result.stdout.split("knee of the curve")[1]
    assert "sklearn-decision-tree" in knee.splitlines()[1]
    assert "curve-table" in (tmp_path / "report.html").read_text("utf-8")


def test_a_measure_is_a_row_of_one_table(call, table, columns, tmp_path, monkeypatch):
    from psephos.protocol.evaluation import scores

    def brier(answers, truth):
        return float(np.mean((answers.proba[:, 1] - (truth == 1)) ** 2))

    row = scores.ResultMetric(
        "brier", "Brier score", brier, tabled=True, first=True, lower_is_better=True
    )
    monkeypatch.setitem(scores.TABLES, "classes", (*scores.TABLES["classes"], row))
    out = tmp_path / "out"
    result = call("compare", table, *columns, *FAST, "--models", "adaboost,majority", "--out", out)
    assert result.exit_code == 0, result.output
    with (out / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {0.0 < float(row["brier"]) < 1.0 for row in rows} == {True}
    heads = next(line for line in result.stdout.splitlines() if line.startswith("model"))
    assert heads.split()[:6] == ["model", "balanced", "accuracy", "ROC-AUC", "Brier", "score"]
    assert "Brier score" in (out / "report.html").read_text("utf-8")


def test_no_report_leaves_the_report_out_and_report_writes_it(call, table, columns, tmp_path):
    out, page = tmp_path / "out", tmp_path / "page.html"
    chosen = [*columns, *FAST, "--models", "majority,adaboost", "--out", out, "--drop", "noise"]
    assert call("compare", table, *chosen, "--no-report").exit_code == 0
    assert not (out / "report.html").exists()
    result = call("report", out, "--out", page)
    assert result.exit_code == 0
    assert result.output.strip() == str(page)
    assert "k__Bacteria;p__&lt;b&gt;&#34;x&#34;" in page.read_text("utf-8")
    assert call("report", out).exit_code == 0
    assert (out / "report.html").read_bytes() == page.read_bytes()


def test_the_demonstration_is_the_main_job_on_a_real_table(call, tmp_path, monkeypatch):
    from psephos import datasets
    from psephos.protocol import PROTOCOLS

    fewer = replace(PROTOCOLS["demo"], folds=2, inner_folds=2)  # as it is: tests/cli/test_report.py
    monkeypatch.setitem(PROTOCOLS, "demo", fewer)
    whole = datasets.breast_cancer_interactions()
    part = whole._replace(X=whole.X[:60, ::31], y=whole.y[:60], columns=whole.columns[::31])
    monkeypatch.setattr(datasets, "breast_cancer_interactions", lambda: part)
    result = call("demo", "--out", tmp_path)
    assert result.exit_code == 0, result.output
    assert "Breast cancer with interactions" in (tmp_path / "report.html").read_text("utf-8")
    assert (tmp_path / "models" / "samba.psephos").is_file()


def test_the_table_of_the_demonstration():
    from sklearn.datasets import load_breast_cancer

    from psephos.datasets import breast_cancer_interactions

    table = breast_cancer_interactions()
    assert table.X.shape == (569, 465)
    assert len(set(table.columns)) == 465
    assert sorted(set(table.y)) == ["benign", "malignant"]
    single = load_breast_cancer().data
    j = table.columns.index("mean radius × worst area")
    np.testing.assert_array_equal(table.X[:, j], single[:, 0] * single[:, 23])
    np.testing.assert_array_equal(table.X[:, :30], single)


def test_list_names_models_with_their_anatomy_and_the_contenders(call):
    from psephos.protocol import known_models
    from psephos.protocol.running.contenders import default_models
    from psephos.registry import estimator_classes, model_names

    lines = call("list").output.splitlines()
    text, first = " ".join(" ".join(lines).split()), [line.split()[:2] for line in lines]
    for name, kind in model_names().items():
        assert kind in text
        assert estimator_classes()[kind].anatomy.readout in text
        assert name in [words[0] for words in first if words]
    marked = {words[0] for words in first if words[1:] == ["+"]}
    every = known_models() | known_models("numbers")
    assert marked == {n for n, c in every.items() if c.default}
    assert marked >= {*default_models(), *default_models("numbers")}
    assert set(every) <= {words[0] for words in first if words}


def test_how_to_install_a_model_is_said_whole(call, monkeypatch):
    from psephos.protocol.running.contenders import PEERS, known_models

    gone = replace(known_models()["xgboost"], needs="no_such_extra")
    monkeypatch.setitem(PEERS, "xgboost", gone)
    assert "pip install 'psephos[no_such_extra]'" in call("list").output


def test_what_takes_part_is_said_in_the_help(call):
    from psephos.protocol import known_models

    text = " ".join(call("compare", "--help").output.split()).split("[default: those")[1]
    told = text.split("; for several labels")[0].replace("- ", "-").replace(",", " ").split()
    assert {n for n, c in known_models().items() if c.default} == set(told) & set(known_models())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target", "stat"], "did you mean 'state'"),
        ([], "no target"),
        (["--target", "state", "--id", "nobody"], "'nobody'"),
        (["--target", "state", "--drop", "nothing"], "'nothing'"),
        (["--target", "state", "--models", "samba,samba"], "twice"),
        (["--target", "state", "--models", "sambo"], "did you mean 'samba'"),
        (["--target", "state", "--protocol", "slow"], "protocol 'slow'"),
        (["--target", "noise", "--models", "samba"], "predicts classes"),
        (["--target", "state", "--seed", "-1"], "--seed"),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_nothing(call, table, tmp_path, arguments, words):
    out = tmp_path / "out"
    if "--id" not in arguments:
        arguments = [*arguments, "--id", "name", "--group", "batch"]
    result = call("compare", table, *arguments, "--out", out)
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert not out.exists()


def test_a_table_that_is_not_there(call, tmp_path):
    result = call("compare", tmp_path / "none.csv", "--target", "y")
    assert result.exit_code == 2
    assert "none.csv" in result.stderr


def test_text_in_a_numeric_column_names_column_and_row(call, tmp_path):
    path = tmp_path / "t.csv"
    lines = ["x,y"] + [f"{i},{'ab'[i % 2]}" for i in range(20)]
    lines[7] = "six,b"
    path.write_text("\n".join(lines))
    result = call("compare", path, "--target", "y", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "'x'" in result.stderr
    assert "line 8" in result.stderr


def test_a_bug_is_not_called_bad_input(call, table, columns, tmp_path, monkeypatch):
    import psephos.protocol

    def broken(*args, **kwargs):
        raise RuntimeError("a bug")

    monkeypatch.setattr(psephos.protocol, "compare", broken)
    result = call("compare", table, *columns, "--out", tmp_path / "out", bug=True)
    assert result.exit_code == 1
    assert isinstance(result.exception, RuntimeError)


def test_a_class_of_few_rows_is_compared_with_fewer_folds(call, tmp_path):
    rows = [f"{i % 7},{i % 4},{'rare' if i % 9 == 0 else 'often'}" for i in range(36)]
    (tmp_path / "t.csv").write_text("a,b,y\n" + "\n".join(rows))
    told = ["compare", tmp_path / "t.csv", "--target", "y", "--models", "majority,adaboost"]
    told += ["--n-jobs", "1", "--no-report", "--out", tmp_path / "study"]
    refused = call(*told)
    assert refused.exit_code == 2
    assert "class 'rare' has 4 rows" in refused.stderr
    assert "use folds=4 (--folds 4 on the command line)" in refused.stderr
    short = call(*told, "--folds", "2")  # a training part would hold two, and inner folds are three
    assert "use folds=4 (--folds 4 on the command line)" in short.stderr
    assert call(*told, "--folds", "4").exit_code == 0
    with (tmp_path / "study" / "results.csv").open(newline="") as file:
        assert {row["fold"] for row in csv.DictReader(file)} == {"0", "1", "2", "3"}


def test_what_is_proved_stands_in_the_row_of_its_model(capsys):
    rows = [
        {"model": model, "bound": bound, "value": value, "vacuous": value == 0.75,
         "constant_error": 0.6, "told": ""}
        for model, bound, value in (
            ("cart", "hold-out, folds", 0.25), ("samba", "hold-out, folds", 0.5),
            ("samba", "published", 0.75), ("cart", "out of bag", None),
        )
    ]  # fmt: skip
    show_bounds(rows)
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split("  ")[0] == "error bounds"
    assert [line.split() for line in lines[:2]] == [
        ["cart", "0.250", "does", "not", "hold", "-"],
        ["samba", "0.500", "-", "0.750", "vacuous"],
    ]
    assert "always predicting the most frequent class, 0.600" in lines[2]


def test_where_no_bound_holds_for_one_reason_that_is_one_sentence(capsys):
    kept = {"value": None, "vacuous": None, "constant_error": 0.5, "told": "bounds need rows."}
    rows = [
        {"model": model, "bound": bound, **kept}
        for model in ("cart", "samba") for bound in ("hold-out, folds", "published")
    ]  # fmt: skip
    show_bounds(rows)
    assert capsys.readouterr().out == "error bounds: no bound holds; bounds need rows.\n"
    show_bounds([rows[0], rows[1] | {"told": "another"}])
    assert capsys.readouterr().out.splitlines()[1].split() == ["cart", *["does", "not", "hold"] * 2]
