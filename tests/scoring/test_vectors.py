"""Conformance vectors: rows where answers turn, which travel in the model file."""

import json
import zipfile

import numpy as np
import pytest

from psephos import load, save
from psephos._errors import ModelFileError, PsephosError
from psephos.modelfile import read
from psephos.scoring import conformance, plain
from psephos.scoring.vectors import drawn_rows, vectors_of


def test_vectors_travel_in_the_file(model, tmp_path):
    save(model, tmp_path / "m.psephos")
    number, worst, note = read(tmp_path / "m.psephos").check()
    assert number == 16
    assert worst <= 1e-12
    assert note == ""
    save(load(tmp_path / "m.psephos"), tmp_path / "again.psephos")
    again, first = (tmp_path / f"{name}.psephos" for name in ("again", "m"))
    assert again.read_bytes() == first.read_bytes()


def test_no_row_is_a_training_row_and_no_value_of_kept_rows_is_drawn(families):
    for name in ("samba, 2 classes, 0.2 missing", "ml-knn, 3 classes, 0.2 missing"):
        model = families.fitted(name)
        vote = model.vote_
        weights = vote.weighting
        X = families.small_table(len(model.classes_), missing=0.2).X
        marked, values = weights.marks()
        for j, value in zip(marked, values, strict=True):
            if j not in (2, 3):  # of few whole numbers
                assert value not in set(X[:, j])


def test_rows_meet_thresholds_and_gaps(families):
    model = families.fitted("cart, 3 classes, 0.2 missing")
    rows = np.array(
        [[np.nan if v is None else v for v in r] for r in conformance(model, 200)["rows"]]
    )
    assert np.isnan(rows).mean() == pytest.approx(0.1, abs=0.03)
    thresholds = set(model.vote_.voters.nodes.threshold[model.vote_.voters.nodes.n_children > 0])
    assert thresholds <= set(rows.ravel())
    answers = conformance(model, 200)["answers"]
    assert len(set(answers)) == 3


def test_levels_are_words(families):
    model = families.fitted("cart, frame")
    told = conformance(model, 40)
    columns = plain(model)["columns"]
    for j, column in enumerate(columns):
        if "levels" in column:
            assert {row[j] for row in told["rows"]} <= {*column["levels"], None}


def test_same_seed_same_rows(families):
    model = families.fitted("samba, 2 classes, 0.2 missing")
    assert conformance(model, 9) == conformance(model, 9)
    assert conformance(model, 9)["rows"] != conformance(model, 9, random_state=1)["rows"]


def test_rows_without_gaps_where_a_model_refuses_them(families):
    model = families.fitted("samba-bayes, 2 classes, 0.0 missing")
    assert not any(v is None for row in conformance(model, 50)["rows"] for v in row)


def _changed(path, change):
    """Rewrite a file with another manifest, its checksum as it should be."""
    import hashlib

    from psephos import modelfile

    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(files["manifest.json"])
    change(manifest, files)
    manifest["arrays"] = {
        n: hashlib.sha256(files[n]).hexdigest() for n in manifest["arrays"] if n in files
    }
    manifest["checksum"] = modelfile._digest(modelfile._canonical(manifest))
    files["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)


def test_an_older_file_loads_and_says_that_it_has_no_vectors(families, tmp_path):
    path = tmp_path / "m.psephos"
    save(families.fitted("cart, 3 classes, 0.2 missing"), path)

    def older(manifest, files):
        del manifest["vectors"]
        for name in [n for n in files if n.startswith("arrays/vectors")]:
            del files[name]

    _changed(path, older)
    load(path)
    with pytest.raises(ModelFileError, match="has no conformance vectors"):
        read(path).check()


@pytest.mark.parametrize("change", ["names", "levels", "classes", "version"])
def test_another_name_is_found(change, families, tmp_path):
    path = tmp_path / "m.psephos"
    save(families.fitted("cart, frame"), path)

    def other(manifest, files):
        if change == "names":
            manifest["names"] = [f"{name}'" for name in manifest["names"]]
        elif change == "levels":
            name, *_ = [
                n
                for n in manifest["levels"]["tuple"]
                if "lüng" in json.dumps(n, ensure_ascii=False)
            ]
            levels = name["tuple"][1]["tuple"]
            levels[:2] = levels[1::-1]
        elif change == "classes":
            own = next(n for n in files if n.endswith("classes.npy"))
            files[own] = files[own].replace("egg".encode("utf-32-le"), "EGG".encode("utf-32-le"))
        else:
            manifest["psephos"] = "0.0.0"
            words = manifest["vectors"]["fields"]["words"]["tuple"]
            words[-1] = words[-1].replace(" = ", " is ")

    _changed(path, other)
    load(path)
    if change == "version":
        assert "worded differently" in read(path).check().note
    else:
        with pytest.raises(ModelFileError, match=r"another label|a name, a class or a reason"):
            read(path).check()


def test_another_score_is_found(families, tmp_path):
    path = tmp_path / "m.psephos"
    save(families.fitted("cart, 3 classes, 0.2 missing"), path)

    def other(manifest, files):
        name = "arrays/vectors.scores.npy"
        data = bytearray(files[name])
        data[-2] ^= 64
        files[name] = bytes(data)

    _changed(path, other)
    with pytest.raises(PsephosError, match="has the score"):
        read(path).check()


def test_wide_models_have_fewer_vectors(families):
    model = families.fitted("cart, 3 classes, 0.2 missing")
    vote = model.vote_
    assert len(vectors_of(vote, model.schema_, 3).rows) == 3
    assert drawn_rows(vote, {}, 5).shape == (5, len(vote.columns))
