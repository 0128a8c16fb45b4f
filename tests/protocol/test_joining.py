"""Classes that are joined, renamed or left out: as if the file had been written so."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from click.testing import CliRunner

import psephos
from psephos import PsephosError
from psephos.cli.app import main
from psephos.protocol import Protocol, compare, read_table
from psephos.protocol.tables.checking import table_given
from psephos.protocol.tables.joining import renaming
from psephos.report import build_report

PLAN = Protocol("own", folds=2, inner_folds=2, draws=1)
MODELS = ["cart", "majority"]
JOIN = ("benign,borderline=negative", "unclear=")


def made():
    rng = np.random.default_rng(0)
    y = np.repeat(["benign", "borderline", "malignant", "unclear"], (30, 20, 30, 10))
    X = pd.DataFrame(rng.normal(size=(90, 3)), columns=list("abc"))
    X["a"] += (y == "malignant") * 1.5
    # a level, and a word among numbers, that only the rows have that are left out
    X["site"] = np.where(y == "unclear", "z", rng.choice(["u", "v"], 90))
    X["dose"] = np.where(y == "unclear", "high", rng.integers(9, size=90).astype(str))
    table = X.assign(dx=y, who=[f"p{i}" for i in range(90)])
    return table.sample(frac=1, random_state=1).reset_index(drop=True)


def by_hand(table):
    return table[table.dx != "unclear"].replace(
        {"dx": {"benign": "negative", "borderline": "negative"}}
    )


@pytest.fixture(name="files")
def _files(tmp_path):
    table = made()
    table.to_csv(tmp_path / "t.csv", index=False)
    by_hand(table).to_csv(tmp_path / "hand.csv", index=False)
    return tmp_path


def run(*args):
    return CliRunner().invoke(main, [str(one) for one in args])


def test_a_file_is_read_as_one_whose_classes_were_joined_by_hand(files):
    how = {"target": "dx", "id": "who"}
    joined = read_table(files / "t.csv", **how, classes=JOIN, dataset="t")
    hand = read_table(files / "hand.csv", **how, dataset="t")
    assert joined.fingerprint() == hand.fingerprint()
    assert joined.row_names() == hand.row_names()
    assert joined.categories == hand.categories == {3: ("u", "v")}
    assert joined.joined == {
        "benign": ("negative", 30), "borderline": ("negative", 20), "unclear": (None, 10),
    }  # fmt: skip
    note = (
        "classes (--classes), with their rows: benign (30) and borderline (20) taken as negative; "
        "unclear (10) left out."
    )
    assert note in joined.notes
    rest = read_table(files / "t.csv", **how, classes=("malignant=ill", "unclear=", "*=well"))
    assert rest.classes.tolist() == ["ill", "well"]
    assert rest.codes.tolist() == joined.codes.tolist()
    mapped = {"benign": "negative", "borderline": "negative", "unclear": None}
    again = read_table(files / "t.csv", **how, classes=mapped, dataset="t")
    assert again.fingerprint() == hand.fingerprint()


@pytest.mark.parametrize("kind", ["array", "pandas", "polars", "sparse", "npz"])
def test_arrays_frames_and_npz_files_are_joined_alike(kind, tmp_path):
    table = made()
    X, y = table[list("abc")], table["dx"].to_numpy()
    kept = y != "unclear"
    wanted = np.where(y == "malignant", "malignant", "negative")[kept]
    given = {
        "array": X.to_numpy, "pandas": lambda: X, "polars": lambda: pl.from_pandas(X),
        "sparse": lambda: sp.csr_array(X.to_numpy()),
    }  # fmt: skip
    if kind == "npz":
        codes, names = np.unique(y, return_inverse=True)[::-1]
        np.savez(tmp_path / "t.npz", X=X.to_numpy(), y=codes, classes=names.astype(str))
        data = read_table(tmp_path / "t.npz", classes=JOIN)
    else:
        data = table_given(
            given[kind](), y, None,
            {"groups": None, "column_names": None, "categorical": (), "unlabeled": None,
             "truth": None, "recorded_class": None, "prior": None, "positive": None, "task": None,
             "leave_out": None, "classes": JOIN}, {},
        )  # fmt: skip
    assert np.array_equal(data.X, X.to_numpy()[kept])
    assert data.y.tolist() == wanted.tolist()
    assert data.row_names() == [f"row {i}" for i in np.flatnonzero(kept)]


def test_whole_numbers_stay_whole_numbers(tmp_path):
    table = pd.DataFrame({"a": np.arange(40.0), "y": np.arange(40) % 4})
    table.to_csv(tmp_path / "t.csv", index=False)
    data = read_table(tmp_path / "t.csv", target="y", classes=("2,3=1",))
    assert data.classes.tolist() == [0, 1]
    words = read_table(tmp_path / "t.csv", target="y", classes=("0=no", "*=yes"))
    assert words.classes.tolist() == ["no", "yes"]


@pytest.mark.parametrize("classes", [("=",), ("ja=yes", "="), {"": None, "ja": "yes"}])
def test_rows_without_a_label_may_be_left_out(tmp_path, classes):
    table = pd.DataFrame({"a": np.arange(40.0), "y": ["ja", "nein", None, "nein"] * 10})
    table.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(PsephosError, match="leave those rows out by --classes =;") as found:
        read_table(tmp_path / "t.csv", target="y")
    assert found.value.options == (("--classes", "="),)
    data = read_table(tmp_path / "t.csv", target="y", classes=classes)
    assert data.classes.tolist() == (["ja", "nein"] if classes == ("=",) else ["nein", "yes"])
    assert data.X[:, 0].tolist() == [i for i in range(40) if i % 4 != 2]
    assert "y has no class in 10 rows: left out (--classes =)." in data.notes


def test_labels_that_are_partly_recorded_are_joined(files):
    table = made().drop(columns="dose")
    table.loc[::5, "dx"] = ""
    table.to_csv(files / "part.csv", index=False)
    data = read_table(files / "part.csv", target="dx", id="who", unlabeled="", classes=JOIN)
    assert data.partial is not None
    assert data.classes.tolist() == ["malignant", "negative"]
    n_known = int((~table["dx"].isin(["", "unclear"])).sum())
    assert int((data.partial.recorded >= 0).sum()) == n_known


@pytest.mark.filterwarnings("ignore:.*--classes:UserWarning")
@pytest.mark.parametrize("blank", [None, -1])
def test_arrays_that_are_partly_recorded_are_joined(blank):
    rng = np.random.default_rng(0)
    true = rng.integers(0, 3, size=60)
    X, y = true[:, None] + rng.normal(size=(60, 2)), true.astype(object)
    y[::3] = blank
    known = y != blank
    joined, truth = np.where(y == 1, 0, y), np.where(true == 1, 0, true)
    how = {"random_state": 0, "n_jobs": 1, "recorded_class": 2, "unlabeled": blank}
    found = compare(X, y, MODELS, PLAN, classes=("1=0",), truth=true, **how)
    assert found.results == compare(X, joined, MODELS, PLAN, truth=truth, **how).results
    left = compare(X, y, MODELS, PLAN, classes=("1=0", "="), n_jobs=1) if blank is None else None
    if left is not None:  # rows without a label are left out
        whole = compare(X[known], joined[known].astype(int), MODELS, PLAN, n_jobs=1)
        assert left.results == whole.results
        with pytest.raises(PsephosError, match="has no value in 20 row"):
            compare(X, y, MODELS, PLAN, classes=("1=0",))


@pytest.mark.parametrize(
    ("classes", "words"),
    [
        (("bengin=negative",), "renames 'bengin', which no case of the target 'dx' has"),
        (("benign=negative", "benign=other"), "names 'benign' twice"),
        (("benign",), "must be OLD=NEW"),
        (("*=one",), "has one class only"),
        (("*=",), "leaves out every row"),
        (("benign=malignant", "malignant=ill"), "choose another name"),
        ("benign=negative", "a list of 'OLD=NEW'"),
    ],
)
def test_what_cannot_be_joined_is_refused(files, classes, words):
    with pytest.raises(PsephosError, match=words.replace("*", r"\*")):
        read_table(files / "t.csv", target="dx", id="who", classes=classes)


def test_numbers_and_several_labels_are_refused(files):
    table = made().assign(z=np.random.default_rng(0).normal(size=90), one=1, two=[0, 1] * 45)
    table.to_csv(files / "n.csv", index=False)
    with pytest.raises(PsephosError, match="the target 'z' holds numbers"):
        read_table(files / "n.csv", target="z", classes=("1=a",))
    with pytest.raises(PsephosError, match="labels of which a case may have several"):
        read_table(files / "n.csv", target=["one", "two"], classes=("1=a",))
    with pytest.raises(PsephosError, match="holds numbers"):
        compare(table[["a"]], table["z"], MODELS, PLAN, classes=("1=a",))


def test_commas_and_equals_signs_of_labels_are_theirs():
    labels = ["a", "b", "a,b", "c=d", "c"]
    assert renaming(("a,b=x",), labels, (), "t") == {2: "x"}
    assert renaming(("b,a=x",), labels, (), "t") == {0: "x", 1: "x"}
    with pytest.raises(PsephosError, match="'c' is 'd=e' or 'c=d' is 'e'"):
        renaming(("c=d=e",), labels, (), "t")
    assert renaming(("c=c", "*=rest"), labels, (), "t") == {
        0: "rest", 1: "rest", 2: "rest", 3: "rest", 4: "c",
    }  # fmt: skip


def test_a_study_keeps_how_classes_were_joined_and_resumes(files):
    how = {"y": "dx", "models": MODELS, "protocol": PLAN, "id": "who", "out": files / "out"}
    how |= {"fold_models": False, "n_jobs": 1}
    with pytest.warns(UserWarning, match=r"benign \(30\) and borderline \(20\) taken as negative"):
        first = compare(files / "t.csv", **how, classes=JOIN)
    journal = (files / "out" / "journal.jsonl").read_text()
    about = json.loads((files / "out" / "comparison.json").read_text())
    assert about["joined"]["unclear"] == [None, 10]
    assert about["classes"] == ["malignant", "negative"]
    for path in (files / "out").glob("*.csv"):
        assert "borderline" not in path.read_text()
    with pytest.warns(UserWarning, match="taken as negative"):
        again = compare(files / "t.csv", **how, classes=JOIN)
    assert again.results == first.results
    assert (files / "out" / "journal.jsonl").read_text() == journal
    with pytest.raises(PsephosError, match="classes are joined differently"), pytest.warns():
        compare(files / "t.csv", **how, classes=("benign=negative", "borderline,unclear="))
    page = build_report(files / "out").read_text()
    assert "Before anything was learnt, classes (--classes), with their rows: benign (30)" in page
    model = psephos.load(files / "out" / "models" / "cart.psephos")
    assert model.joined_ == {
        "benign": ("negative", 30), "borderline": ("negative", 20), "unclear": (None, 10),
    }  # fmt: skip


def test_a_model_remembers_and_validates_a_file_with_the_old_names(files):
    named = ("--target", "dx", "--id", "who")
    options = [part for one in JOIN for part in ("--classes", one)]
    for name in ("t", "hand"):
        pd.read_csv(files / f"{name}.csv").drop(columns="dose").to_csv(
            files / f"{name}.csv", index=False
        )
    for table, out, more in (("t", "m", options), ("hand", "h", [])):
        found = run("fit", files / f"{table}.csv", *named, "--model", "cart", *more,
                    "--out", files / f"{out}.psephos")  # fmt: skip
        assert found.exit_code == 0, found.output
    ours, hand = (psephos.load(files / f"{one}.psephos") for one in "mh")
    assert ours.vote_.target.classes.tolist() == ["malignant", "negative"]
    assert ours.describe()[:-1] == hand.describe()
    assert "unclear (10) left out" in ours.describe()[-1]
    figures = {}
    for model, table, more in (
        ("m", "t", ()),
        ("m", "t", options),
        ("m", "hand", ()),
        ("h", "hand", ()),
    ):
        found = run(
            "validate", files / f"{model}.psephos", files / f"{table}.csv", *named, *more, "--json"
        )
        assert found.exit_code == 0, found.output
        told = json.loads(found.stdout)
        figures[model, table, bool(more)] = told["figures"]
        if table == "t":
            assert told["about"]["renamed"]["unclear"] is None
            assert any(
                "10 cases of classes that are left out" in one for one in told["about"]["notes"]
            )
    assert all(one == figures["h", "hand", False] for one in figures.values())
    lost = run("validate", files / "h.psephos", files / "t.csv", *named)
    assert "'old=' leaves their cases out" in lost.output
    answers = run("predict", files / "m.psephos", files / "t.csv", "--id", "who")
    assert answers.exit_code == 0, answers.output
    assert "benign" not in answers.stdout


@pytest.mark.parametrize("new", [["b"], ("b",), {"b"}])
def test_a_class_becomes_one_other(new):
    X = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.raises(PsephosError, match="from each label to one class, such as"):
        compare(X, ["a", "b"] * 20, classes={"a": new})
