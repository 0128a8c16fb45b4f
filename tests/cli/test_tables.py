"""The right columns and values: whatever the form of a table, a model reads the same."""

import csv
import io
import shlex

import numpy as np
import pytest

from psephos import SamBAClassifier, save

from .conftest import write_csv
from .differential import FORMS, KINDS, NAMED, differences, small_models

pytest.importorskip("pandas", reason="needs pandas (extra 'frames')")


def sheet(text):
    return list(csv.DictReader(io.StringIO(text)))


def reduced_combinations():
    """Every estimator with a form in turn, and every form with all names and kinds."""
    return [
        (name, FORMS[i % 5], NAMED[i // 5 % 2], KINDS[i % 3])
        for i, name in enumerate(small_models())
    ]


def test_every_form_meets_all_names_and_kinds():
    met = {tuple(others) for _, *others in reduced_combinations()}
    assert len(met) == len(FORMS) * len(NAMED) * len(KINDS)


@pytest.mark.filterwarnings("ignore::psephos.WeakLabelsWarning")  # every row has a label
@pytest.mark.parametrize(("name", "form", "named", "kind"), reduced_combinations())
def test_answers_do_not_depend_on_the_form_of_a_table(call, tmp_path, name, form, named, kind):
    if kind != "numbers" and "categorical_features" not in small_models()[name].get_params():
        kind = "numbers"
    assert differences(call, tmp_path, name, form, named, kind) <= 1e-12


def unnamed_model(folder):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 12)), np.arange(60) % 2
    X[:, 5] += 2 * y
    X[:, 9] += 2 * y
    model = SamBAClassifier(n_estimators=2, random_state=0).fit(X, y)
    assert model.vote_.columns.tolist() == [5, 9]
    save(model, folder / "m.psephos")
    return model, X


@pytest.mark.parametrize("command", ["predict", "explain"])
def test_a_model_without_names_reads_its_columns_by_position(call, tmp_path, command):
    model, X = unnamed_model(tmp_path)
    np.savez(tmp_path / "t.npz", X=X)
    write_csv(tmp_path / "t.csv", [f"g{j}" for j in range(12)], X.tolist())
    with_id = [[f"p{i}", *row] for i, row in enumerate(X.tolist())]
    write_csv(tmp_path / "i.csv", ["who", *(f"g{j}" for j in range(12))], with_id)
    plain = call(command, tmp_path / "m.psephos", tmp_path / "t.npz")
    assert plain.stderr == ""
    told = call(command, tmp_path / "m.psephos", tmp_path / "t.csv")
    assert "without column names: the 12 columns of 't.csv' are read in their order" in told.stderr
    lines = [[*row.values()][1:] for row in sheet(told.stdout)]
    assert lines == [[*row.values()][1:] for row in sheet(plain.stdout)]
    named = call(command, tmp_path / "m.psephos", tmp_path / "i.csv", "--id", "who")
    assert len(sheet(named.stdout)) == len(sheet(plain.stdout))
    if command == "predict":
        answers = [int(row["predicted"]) for row in sheet(plain.stdout)]
        assert answers == model.predict(X).tolist()
        assert [int(row["predicted"]) for row in sheet(named.stdout)] == answers
    else:
        named = {row["reason"].split(" = ")[0] for row in sheet(plain.stdout)}
        assert named == {"column 5", "column 9"}  # as in the model's own table


def test_a_model_without_names_refuses_a_table_of_another_width(call, tmp_path):
    unnamed_model(tmp_path)
    np.savez(tmp_path / "t.npz", X=np.zeros((3, 13)))
    result = call("predict", tmp_path / "m.psephos", tmp_path / "t.npz")
    assert result.exit_code == 2
    assert "has 13 columns, but the model was fitted on a table of 12 columns" in result.stderr


def coded(folder, code="{}", name="t.csv"):
    """Write a table whose column `site` (codes 1 to 3) tells the classes apart."""
    rng = np.random.default_rng(3)
    site = rng.integers(1, 4, 60)
    y = np.where((site == 2) ^ (rng.random(60) < 0.05), "ill", "well")
    rows = [
        [code.format(s), f"{v:.3f}", c]
        for s, v, c in zip(site, rng.normal(size=60), y, strict=True)
    ]
    return write_csv(folder / name, ["site", "x", "y"], rows), site


FIT = ["--target", "y", "--categorical", "site", "--model", "cart"]


def fit(call, table, folder, *more):
    result = call("fit", table, *FIT, "--out", folder / "m.psephos", *more)
    assert result.exit_code == 0, result.output
    return folder / "m.psephos"


def test_codes_match_by_value(call, tmp_path):
    table, site = coded(tmp_path)
    path = fit(call, table, tmp_path)
    expected = call("predict", path, table)
    assert expected.stderr == ""
    assert len({row["predicted"] for row in sheet(expected.stdout)}) == 2
    for code in ("{}.0", "0{}", "{}e0", " {} "):
        other, _ = coded(tmp_path, code, "other.csv")
        assert call("predict", path, other).stdout == expected.stdout
    for kind in (float, np.int8, str):
        X = np.column_stack([site.astype(kind), np.zeros(60).astype(kind)])
        np.savez(tmp_path / "t.npz", X=X, feature_names=["site", "x"])
        told = sheet(call("predict", path, tmp_path / "t.npz").stdout)
        assert [t["predicted"] for t in told] == [t["predicted"] for t in sheet(expected.stdout)]


def test_a_column_of_unknown_categories_is_refused_by_name(call, tmp_path):
    table, _ = coded(tmp_path)
    path = fit(call, table, tmp_path)
    other, _ = coded(tmp_path, "site {}", "other.csv")
    result = call("predict", path, other)
    assert result.exit_code == 2
    assert "column 'site' has only unknown categories" in result.stderr
    text = table.read_text().replace("\n1,", "\n7,")
    (tmp_path / "some.csv").write_text(text)
    some = call("predict", path, tmp_path / "some.csv")
    n = text.count("\n7,")
    assert some.exit_code == 0
    assert f"column 'site': {n} of 60 values ({n / 60:.0%}) are not cat" in some.stderr


def test_the_form_of_cells_is_remembered_by_the_model(call, tmp_path):
    rng = np.random.default_rng(4)
    y = np.arange(40) % 2
    values = rng.normal(size=40) + 3 * y
    rows = [[f"{v:.3f}".replace(".", ","), "ab"[c]] for v, c in zip(values, y, strict=True)]
    rows[7][0] = "-9"
    text = "\n".join(";".join(row) for row in [["x", "y"], *rows])
    table = tmp_path / "t.csv"
    table.write_text(text)
    out = tmp_path / "m.psephos"
    said = call("fit", table, "--target", "y", "--model", "cart", "--out", out)
    assert said.exit_code == 2
    assert "column 'x' has numbers in another notation" in said.stderr
    assert said.stderr.count(" in line ") == 3
    assert "--decimal ," in said.stderr
    form = ["--decimal", ",", "--missing", "-9"]
    assert (
        call("fit", table, "--target", "y", "--model", "cart", "--out", out, *form).exit_code == 0
    )
    told = call("predict", out, table)
    assert told.exit_code == 0, told.output
    plain = [[r[0].replace(",", "."), r[1]] for r in rows]
    plain[7][0] = ""
    write_csv(tmp_path / "p.csv", ["x", "y"], plain)
    refused = call("predict", out, tmp_path / "p.csv")
    assert refused.exit_code == 2
    assert "column 'x' has numbers in another notation" in refused.stderr
    assert "read the table with --decimal . if all columns are written so" in refused.stderr
    again = call("predict", out, tmp_path / "p.csv", "--decimal", ".")
    assert again.stdout == told.stdout


@pytest.mark.parametrize("word", ["NAN", "NaN", "nan", "NA", "", ".", "?"])
def test_missing_words_mean_the_same_when_a_model_is_asked(call, tmp_path, word):
    table, _ = coded(tmp_path)
    path = fit(call, table, tmp_path)
    lines = table.read_text().splitlines()
    empty, other = list(lines), list(lines)
    empty[3], other[3] = "," + empty[3].partition(",")[2], word + "," + other[3].partition(",")[2]
    empty[5], other[5] = "2,,ill", f"2,{word},ill"
    (tmp_path / "a.csv").write_text("\n".join(empty))
    (tmp_path / "b.csv").write_text("\n".join(other))
    told, other = (call("predict", path, tmp_path / f"{name}.csv") for name in "ba")
    assert told.stderr == other.stderr  # the cases without an answer
    assert told.stdout == other.stdout


def test_a_missing_word_of_the_call_is_missing_even_where_it_is_a_category(call, tmp_path):
    rows = [f"{('a', 'b', 'unk')[i % 3]},{i % 5},{'ab'[i % 3 == 2]}" for i in range(30)]
    table, empty, named = (tmp_path / f"{name}.csv" for name in ("t", "empty", "named"))
    table.write_text("site,x,y\n" + "\n".join(rows))
    path = tmp_path / "m.psephos"
    call("fit", table, "--target", "y", "--model", "cart", "--out", path)
    empty.write_text("site,x\n,1\n")
    named.write_text("site,x\nunk,1\n")
    told = call("predict", path, named, "--missing", "unk")
    assert told.stdout == call("predict", path, empty).stdout
    assert told.stdout != call("predict", path, named).stdout


def test_all_columns_that_a_new_table_lacks_are_named(call, tmp_path):
    names = [f"c{j}" for j in range(9)]
    rows = [[(i * (j + 2) + j) % 11 for j in range(9)] + ["ab"[i % 2]] for i in range(30)]
    write_csv(tmp_path / "t.csv", [*names, "y"], rows)
    path, told = tmp_path / "m.psephos", tmp_path / "new.csv"
    words = ["--target", "y", "--model", "rank-ridge", "--out", path]
    assert call("fit", tmp_path / "t.csv", *words).exit_code == 0
    write_csv(told, ["c0", "z"], [[1, 2]])
    refused = call("predict", path, told)
    assert refused.exit_code == 2
    assert (
        f"has no column {', '.join(map(repr, names[1:]))}: the model reads them" in refused.stderr
    )
    write_csv(told, names, [[1, *"xyz", *range(5)], [2] * 9])
    refused = call("predict", path, told)
    assert "3 things are wrong" in refused.stderr
    assert all(f"column 'c{j}' has text in line 2" in refused.stderr for j in (1, 2, 3))


def test_the_command_to_repeat_settles_what_options_can(call, tmp_path):
    rows = [[i % 7, f"{i % 5},5", "k.A." if i == 3 else i % 9, "uv"[i % 2]] for i in range(1, 30)]
    write_csv(tmp_path / "t.csv", ["a", "b", "c", "y"], rows)
    out = tmp_path / "m.psephos"
    words = ["fit", str(tmp_path / "t.csv"), "--target", "y", "--model", "cart", "--out", str(out)]
    refused = call(*words)
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 4)
    last = shlex.split(refused.stderr.splitlines()[-1])
    assert last == ["Repeat", "with:", "psephos", *words, "--decimal", ",", "--missing", "k.A."]
    assert call(*last[3:]).exit_code == 0


def test_a_column_that_stands_twice_in_a_new_table_is_refused(call, tmp_path):
    table, _ = coded(tmp_path)
    path = fit(call, table, tmp_path)
    (tmp_path / "t.csv").write_text("site,x,site\n1,2,3\n")
    told = call("predict", path, tmp_path / "t.csv")
    assert told.exit_code == 2
    assert "'t.csv' has two columns named 'site': rename one" in told.stderr


def test_ids_of_another_length_are_refused(call, tmp_path):
    table, _ = coded(tmp_path)
    path = fit(call, table, tmp_path)
    names = np.array(["site", "x"])
    X = np.ones((3, 2))
    np.savez(tmp_path / "t.npz", X=X, feature_names=names, ids=np.array(["a", "b"]))
    told = call("predict", path, tmp_path / "t.npz", "--id", "ids")
    assert told.exit_code == 2
    assert "the array 'ids' of 't.npz' has type" in told.stderr


def test_a_row_without_any_value_is_answered(call, tmp_path):
    table, _ = coded(tmp_path)
    path = fit(call, table, tmp_path)
    (tmp_path / "t.csv").write_text("site,x\n1,2\n,\n2,1\n")
    assert len(sheet(call("predict", path, tmp_path / "t.csv").stdout)) == 3


def test_the_line_of_a_row_is_the_one_it_begins_in(call, tmp_path):
    table, _ = coded(tmp_path)
    path = tmp_path / "m.psephos"
    columns = ["--target", "y", "--drop", "site", "--model", "adaboost"]
    assert call("fit", table, *columns, "--out", path).exit_code == 0
    (tmp_path / "t.csv").write_text('"no\nte",x\n"two\nlines",2\n"two\nlines",tall\n')
    assert "text in line 5 ('tall')" in call("predict", path, tmp_path / "t.csv").stderr


def test_a_nameless_table_of_another_width_is_refused(call, tmp_path):
    """Its columns would be read one place off, without a word."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 4))
    np.savez(tmp_path / "t.npz", X=X, y=(X[:, 1] > 0).astype(int))
    fit = ["fit", tmp_path / "t.npz", "--out", tmp_path / "m.psephos", "--model", "cart"]
    assert call(*fit).exit_code == 0
    np.savez(tmp_path / "wide.npz", X=np.column_stack([X[:, 0], X]))
    np.savez(tmp_path / "narrow.npz", X=X[:, :3])
    for name, width in (("wide", 5), ("narrow", 3)):
        refused = call("predict", tmp_path / "m.psephos", tmp_path / f"{name}.npz")
        assert refused.exit_code == 2
        assert f"has {width} columns and no names, and the model was fitted on 4" in refused.stderr
    small = ["reduce", tmp_path / "m.psephos", "--out", tmp_path / "s.psephos"]
    assert call(*small).exit_code == 0
    whole = call("predict", tmp_path / "m.psephos", tmp_path / "t.npz").stdout
    assert call("predict", tmp_path / "s.psephos", tmp_path / "t.npz").stdout == whole
