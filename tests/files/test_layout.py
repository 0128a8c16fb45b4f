"""Features in rows, labels in another file, and names that stand several times."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from psephos import read_table
from psephos._errors import PsephosError


def write(path, text):
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def wine():
    data = load_wine(as_frame=True)
    frame = data.data.iloc[::3].reset_index(drop=True)
    frame.insert(0, "case", [f"w{i}" for i in range(len(frame))])
    frame["kind"] = data.target_names[data.target[::3]]
    return frame


@pytest.fixture
def files(wine, tmp_path):
    """The whole table, its features in rows without labels, and the labels in another order."""
    wine.to_csv(tmp_path / "whole.csv", index=False)
    wine.drop(columns="kind").set_index("case").T.to_csv(tmp_path / "rows.csv")
    wine.drop(columns="kind").to_csv(tmp_path / "cases.csv", index=False)
    wine[["case", "kind"]][::-1].to_csv(tmp_path / "labels.csv", index=False)
    return tmp_path


def same(found, whole):
    return found.fingerprint() == whole.fingerprint() and found.ids.tolist() == whole.ids.tolist()


@pytest.mark.parametrize("transpose", [None, True])
def test_features_in_rows_and_labels_elsewhere(files, transpose):
    whole = read_table(files / "whole.csv", target="kind", id="case")
    found = read_table(
        files / "rows.csv", target="kind", id="case", labels_from=files / "labels.csv",
        transpose=transpose,
    )  # fmt: skip
    assert same(found, whole)
    assert found.notes == (
        "features are in rows: read as 60 cases of 13 columns (--no-transpose reads cases "
        "in rows).",
    )


def test_labels_elsewhere_for_cases_in_rows(files):
    whole = read_table(files / "whole.csv", target="kind", id="case")
    roles = {"target": "kind", "labels_from": files / "labels.csv"}
    found = read_table(files / "cases.csv", id="case", **roles)
    assert same(found, whole)
    assert found.notes == ()
    assert same(read_table(files / "cases.csv", **roles), whole)  # the first column of either
    labels = pd.read_csv(files / "labels.csv").assign(smoker=range(60))
    labels.to_csv(files / "more.csv", index=False)
    roles["labels_from"] = files / "more.csv"
    (note,) = read_table(files / "cases.csv", **roles).notes
    assert "more.csv used as features: 'smoker'; leave out with --drop" in note
    assert read_table(files / "cases.csv", drop=["smoker"], **roles).notes == ()


def test_ids_that_do_not_match_are_named(files, wine):
    labels = wine[["case", "kind"]].iloc[2:]
    extra = pd.DataFrame({"case": ["x1", "x2"], "kind": ["class_0", "class_1"]})
    pd.concat([labels, extra]).to_csv(files / "labels.csv", index=False)
    roles = {"target": "kind", "id": "case", "labels_from": files / "labels.csv"}
    found = read_table(files / "cases.csv", **roles)
    assert found.ids.tolist() == wine["case"].tolist()[2:]
    assert found.lines[0] == 4
    assert found.notes == (
        "2 ids of 'cases.csv' are only there and are left out: 'w0', 'w1'.",
        "2 ids of 'labels.csv' are only there: 'x1', 'x2'.",
    )
    pd.concat([labels, extra[:1]]).to_csv(files / "labels.csv", index=False)
    notes = read_table(files / "cases.csv", **roles).notes
    assert notes[1] == "1 id of 'labels.csv' is only there: 'x1'."
    extra.to_csv(files / "labels.csv", index=False)
    with pytest.raises(PsephosError, match=r"has the cases 'w0', .* has others \('x1', 'x2'\)"):
        read_table(files / "cases.csv", **roles)


def test_an_id_that_stands_twice_is_refused(files):
    (files / "labels.csv").write_text("case,kind\nw1,a\nw2,b\nw1,b\n")
    with pytest.raises(PsephosError, match=r"'case' of 'labels\.csv' names 'w1' 2 times"):
        read_table(files / "cases.csv", target="kind", id="case", labels_from=files / "labels.csv")


def test_ids_on_both_sides_are_asked_about(tmp_path):
    table = write(tmp_path / "t.csv", "i,a,b\na,1,2\nb,3,4\n")
    labels = write(tmp_path / "l.csv", "i,y\na,u\nb,v\n")
    with pytest.raises(PsephosError, match=r"--transpose if .* columns, --no-transpose if"):
        read_table(table, target="y", labels_from=labels)
    along = read_table(table, target="y", labels_from=labels, transpose=False)
    across = read_table(table, target="y", labels_from=labels, transpose=True)
    assert along.X.tolist() == [[1, 2], [3, 4]]
    assert across.X.tolist() == [[1, 3], [2, 4]]


def test_features_in_rows_are_found_by_the_names(tmp_path):
    path = write(tmp_path / "t.csv", "gene,s1,s2,s3\nBRCA,1,2,3\nTP53,4,5,6\nstate,u,v,u\n")
    found = read_table(path, target="state", id="sample", drop=["TP53"])
    assert (found.names, found.ids.tolist()) == (("BRCA",), ["s1", "s2", "s3"])
    assert found.y.tolist() == ["u", "v", "u"]
    with pytest.raises(PsephosError, match="has no column 'state'"):
        read_table(path, target="state", transpose=False)


def test_a_target_that_is_nowhere_is_asked_about_where_features_may_be_in_rows(tmp_path):
    rows = "".join(f"g{i},{i},{i + 1}\n" for i in range(9))
    path = write(tmp_path / "t.csv", f"gene,s1,s2\n{rows}")
    with pytest.raises(PsephosError, match=r"no column 'y' .* 9 different words .* --transpose"):
        read_table(path, target="y")
    numbers = "".join(f"{i},{i},{i + 1}\n" for i in range(9))
    for text in (f"n,a,b\n{numbers}", "k,a,b\nx,1,2\ny,1,2\nx,1,2\nx,1,2\n"):
        with pytest.raises(PsephosError, match="no column 'y'") as caught:
            read_table(write(path, text), target="y")
        assert "transpose" not in str(caught.value)


def test_arrays_are_not_turned(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.eye(3), y=[0, 1, 0])
    with pytest.raises(PsephosError, match="has labels of its own"):
        read_table(tmp_path / "t.npz", transpose=True)


# ------------------------------------------------------------------- names
TWICE = "a,a,b,a,y\n1,3,5,,u\n2,,6,4,v\n"


@pytest.mark.parametrize(
    ("how", "names", "rows"),
    [
        ("number", ("a", "a.2", "b", "a.3"), [[1, 3, 5, np.nan], [2, np.nan, 6, 4]]),
        ("mean", ("a", "b"), [[2, 5], [3, 6]]),
        ("first", ("a", "b"), [[1, 5], [2, 6]]),
    ],
)
def test_names_that_stand_several_times(tmp_path, how, names, rows):
    path = write(tmp_path / "t.csv", TWICE)
    found = read_table(path, target="y", duplicates=how)
    assert found.names == names
    np.testing.assert_array_equal(found.X, rows)
    assert found.notes == (f"repeated names, --duplicates {how}: 'a'.",)
    turned = tmp_path / "rows.csv"
    pd.read_csv(path, header=None).T.to_csv(turned, index=False, header=["x", "s1", "s2"])
    across = read_table(turned, target="y", duplicates=how, transpose=True)
    assert across.names == names
    np.testing.assert_array_equal(across.X, rows)


def test_sentences_on_names_that_stand_several_times(tmp_path):
    path = write(tmp_path / "t.csv", "a,a,y\n1,x,u\n2,3,v\n")
    with pytest.raises(PsephosError, match=r"occurs twice .* --duplicates number, mean or first"):
        read_table(path, target="y")
    with pytest.raises(PsephosError, match="'a' hold words, which have no mean"):
        read_table(path, target="y", duplicates="mean")
    with pytest.raises(PsephosError, match=r"--duplicates must be one of .*; got 'last'"):
        read_table(path, target="y", duplicates="last")
    # a free number
    path = write(tmp_path / "t.csv", "a,a.2,a,y\n1,2,3,u\n2,3,4,v\n")
    assert read_table(path, target="y", duplicates="number").names == ("a", "a.2", "a.3")


def test_a_word_is_kept(tmp_path):
    path = write(tmp_path / "t.csv", "region,x,y\n" + "NA,1,u\nEU,NA,v\n?,2,u\n" * 3)
    found = read_table(path, target="y", keep_word=["?"], drop=["x"])
    assert found.categories == {0: ("?", "EU")}
    assert np.isnan(found.X[0, 0])
    assert read_table(path, target="y", keep_word=["NA"], drop=["x"]).categories == {
        0: ("EU", "NA")
    }


@pytest.mark.parametrize("ids", [("gsm1", "gsm2"), ("GSM-1", "GSM-2"), ("GSM01", "GSM002")])
@pytest.mark.parametrize("across", [False, True])
def test_ids_that_are_spelled_otherwise_are_named(tmp_path, ids, across):
    words = "f,GSM1,GSM2\nx,1,2\nz,3,4\nu,1,2\n" if across else "id,x\nGSM1,1\nGSM2,2\n"
    path = write(tmp_path / "t.csv", words)
    labels = write(tmp_path / "l.csv", f"id,y\n{ids[0]},u\n{ids[1]},v\n")
    expected = rf"differ in spelling \('GSM1' and '{ids[0]}'\)"
    with pytest.raises(PsephosError, match=expected):
        read_table(path, target="y", labels_from=labels)


def test_ids_of_some_rows_that_are_spelled_otherwise_are_noted(tmp_path):
    path = write(tmp_path / "t.csv", "id,x\nP1,1\nP2,2\nP3,3\n")
    labels = write(tmp_path / "l.csv", "id,y\nP1,u\nP2,v\nP-3,v\n")
    notes = read_table(path, target="y", labels_from=labels).notes
    assert any("differ in spelling are not joined: 'P3' and 'P-3'." in note for note in notes)


@pytest.mark.parametrize("ids", ["GSM1 GSM2 GSM3", "gsm1 gsm2 gsm3"])
def test_ids_in_another_column_of_the_labels_are_named(tmp_path, ids):
    path = write(tmp_path / "t.csv", "f,GSM1,GSM2,GSM3\nx,1,2,1\nz,3,4,1\nu,1,2,1\nv,1,2,3\n")
    rows = [f"{age},{one},{y}\n" for age, one, y in zip("575", ids.split(), "uvu", strict=True)]
    labels = write(tmp_path / "l.csv", "".join(["age,sid,y\n", *rows]))
    with pytest.raises(
        PsephosError,
        match=r"column 'sid' of 'l.csv' has the ids, and not 'age': name it with --id 'sid'",
    ):
        read_table(path, target="y", labels_from=labels)


@pytest.mark.parametrize(("decimal", "mark"), [(None, ","), (",", ".")])
def test_labels_may_have_the_other_decimal_mark(tmp_path, decimal, mark):
    own = decimal or "."
    rows = "".join(f"s{i};{i}{own}5;{i}{own}25\n" for i in range(6))
    cases = write(tmp_path / "cases.csv", "id;a;b\n" + rows)
    rows = "".join(f"s{i};{'uv'[i % 2]};{i}{mark}5;1{mark}125\n" for i in range(6))
    labels = write(tmp_path / "labels.csv", "id;y;age;dose\n" + rows.replace("0" + mark + "5", ""))
    roles = {"target": "y", "labels_from": labels, "decimal": decimal}
    with pytest.raises(PsephosError, match=r"'dose' has numbers in another notation"):
        read_table(cases, **roles)  # 1,125 may be either
    found = read_table(cases, **roles, drop=["dose"])
    np.testing.assert_array_equal(found.X[:, 2], [np.nan, 1.5, 2.5, 3.5, 4.5, 5.5])
    assert f"'labels.csv' has the decimal mark {mark!r}: 'age'." in found.notes
    write(labels, "id;y;age;dose\n" + rows.replace(f"1{mark}125", f"1{own}25"))
    with pytest.raises(PsephosError, match=r"'age' has numbers in another notation"):
        read_table(cases, **roles)  # both marks in one file


def test_words_of_a_column_that_none_holds_are_reported(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": [1, 9, 3, 4], "b": ["no", "yes"] * 2, "y": list("uvuv")})
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv", index=False)
    for name, duplicates in (("t.parquet", None), ("t.csv", None), ("t.csv", "number")):
        ways = {"target": "y", "duplicates": duplicates}
        vain = "'b': no cell equals the --missing word of the column (case matters)."
        assert vain in read_table(tmp_path / name, missing=["b=No"], **ways).notes
        found = read_table(tmp_path / name, missing=["b=no", "a=9"], **ways)
        assert not any("no cell equals" in note for note in found.notes)


def test_all_complaints_of_layout_and_cells_in_one_message(tmp_path):
    path = write(tmp_path / "t.csv", "a,a,,b,y\n1,2,3,x,u\n1,2,3,4,v\n1,2,3\n4,5,6,7,u\n")
    with pytest.raises(PsephosError) as found:
        read_table(path, target="y", duplicates="number")
    assert "line 4 of 't.csv' has 3 cells" in str(found.value)
    assert "column 'b' has text in line 2 ('x')" in str(found.value)
    write(path, path.read_text().replace("1,2,3\n", "").replace("x", "9"))
    found = read_table(path, target="y", duplicates="number")
    assert found.names == ("a", "a.2", "column 3", "b")


def test_names_of_arrays_that_stand_twice_are_numbered(tmp_path):
    y, names = np.array(list("uvuv")), ["a", "y", "a", "c"]
    np.savez(tmp_path / "t.npz", X=np.eye(4), y=y, feature_names=names)
    with pytest.raises(PsephosError, match="occurs twice") as found:
        read_table(tmp_path / "t.npz")
    assert found.value.options == (("--duplicates", "number"),)
    table = read_table(tmp_path / "t.npz", duplicates="number")
    assert table.names == ("a", "y.2", "a.2", "c")
    assert table.y.tolist() == y.tolist()
    with pytest.raises(PsephosError, match="of an npz file"):
        read_table(tmp_path / "t.npz", duplicates="mean")


def test_a_word_for_missing_in_an_array_beside(tmp_path):
    y = np.array(["u", "v", "u", "v", "unk"])
    np.savez(tmp_path / "t.npz", X=np.eye(5), y=y)
    with pytest.raises(PsephosError, match="no value in 1 row"):
        read_table(tmp_path / "t.npz", missing=["y=unk"])
    table = read_table(tmp_path / "t.npz", missing=["y=unk"], classes=["="])
    assert table.classes.tolist() == ["u", "v"]


@pytest.mark.parametrize("duplicates", [None, "number", "mean"])
def test_a_column_without_name_and_value_is_left_out(tmp_path, duplicates):
    path = write(tmp_path / "t.csv", "a,,b,y\n1,,2,u\n3,NA,4,v\n5, ,7,u\n")
    table = read_table(path, target="y", duplicates=duplicates)
    assert table.names == ("a", "b")
    assert "columns without a name and without values are left out: 'column 2'." in table.notes
    path = write(tmp_path / "t.csv", "a,,,y\n1,,2,u\n3,NA,4,v\n5,,7,u\n")
    if duplicates is None:
        with pytest.raises(PsephosError, match=r"column 3 of 't\.csv' has no name"):
            read_table(path, target="y")
    else:
        assert read_table(path, target="y", duplicates=duplicates).names == ("a", "column 3")


def test_the_column_of_ids_is_named_in_the_command_to_repeat(tmp_path):
    path = write(tmp_path / "t.csv", "gene,s1,s2,s3,s4\ng1,1,2,3,4\ng2,5,6,7,9\n")
    cases = write(tmp_path / "c.csv", "age,sample,y\n1,s1,u\n1,s2,v\n2,s3,u\n3,s4,v\n")
    with pytest.raises(PsephosError, match="has the ids") as found:
        read_table(path, target="y", labels_from=cases)
    assert found.value.options == (("--id", "sample"),)
    write(cases, "sample,,age,y\ns1,,1,u\ns2,,1,v\ns3,,2,u\ns4,,3,v\n")
    assert read_table(path, target="y", labels_from=cases).names == ("g1", "g2", "age")


def test_rows_named_twice_may_be_features(tmp_path):
    names = [*(f"g{j}" for j in range(12)), "g3"]
    rows = "".join(f"{name},{j},{j + 1},{-j}\n" for j, name in enumerate(names))
    path = write(tmp_path / "t.csv", f"gene,s1,s2,s3\n{rows}y,u,v,u\n")
    with pytest.raises(PsephosError, match=r"holds 13 different words .* give --transpose"):
        read_table(path, target="y")
    with pytest.raises(PsephosError, match="'g3' occurs twice"):
        read_table(path, target="y", transpose=True)
    found = read_table(path, target="y", transpose=True, duplicates="first")
    assert found.X[:, 3].tolist() == [3, 4, -3]


@pytest.mark.parametrize("names", ["a,column 3,,y", "a,,column 2,y"])
@pytest.mark.parametrize("duplicates", [None, "number", "first"])
def test_a_column_without_name_takes_the_name_of_no_other(tmp_path, names, duplicates):
    path, void = tmp_path / "t.csv", names.split(",").index("")
    rows = [[str(i), str(i % 3), str(i % 3), "uv"[i % 2]] for i in range(9)]
    text = [",".join("" if j == void else w for j, w in enumerate(row)) for row in rows]
    path.write_text("\n".join([names, *text]))
    table = read_table(path, target="y", duplicates=duplicates)
    assert table.names == tuple(w for w in names.split(",")[:3] if w)
    assert table.X[:, 1].tolist() == [i % 3 for i in range(9)]
