"""Damaged model files are refused by a sentence, or answer whatever they are asked."""

import hashlib
import io
import json
import resource
import zipfile

import numpy as np
import pytest
from asking import asked
from damage import damaged_model, pack, unpack
from models import outcome
from seeds import model_of

from psephos import load, save
from psephos._errors import ModelFileError

CASES = 16  # for each of the models below; 20,000 over all models by benchmarks/robustness/fuzz.py
KINDS = [
    ("samba", "gaps"), ("adaboost", "frame"), ("c45-release-8", "frame"), ("cart", "gaps"),
    ("swag-c45", "two"), ("proset-batches", "gaps"), ("newton-numbers-hist", "two"),
    ("forest-entropy", "three"),
]  # fmt: skip


@pytest.fixture
def sound(tmp_path):
    path = tmp_path / "sound.psephos"
    save(model_of("adaboost", "two"), path)
    return path


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_damaged_files_are_refused_or_answer_everything(name, kind, tmp_path):
    source, path, scratch = (tmp_path / f"{part}.psephos" for part in ("sound", "bad", "again"))
    save(model_of(name, kind), source)
    known = asked(load(source), scratch)
    assert set(known.values()) <= {"", "not finite"}
    refused = 0
    for case in range(CASES):
        damage = damaged_model(source, path, (7, case))
        found, where = outcome(path, scratch, known)
        assert found in ("refused", "answered"), f"case {case} ({damage}): {found} in {where}"
        refused += found == "refused"
    assert CASES // 3 < refused < CASES


def rewritten(path, change):
    """Write a model file again with something changed in its manifest."""
    manifest, files = unpack(path)
    change(manifest)
    return pack(manifest, files, path)


def peak_of(call):
    """Return the bytes a call takes at most beyond what the process has taken before."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    call()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10


def test_a_small_file_of_many_empty_lists_takes_no_memory(sound):
    manifest, files = unpack(sound)
    text = json.dumps({**manifest, "vote": "HERE"}).replace(
        '"HERE"', "[" + "[]," * 4_000_000 + "1]"
    )
    pack(text.encode(), files, sound)
    assert sound.stat().st_size < 100_000

    def refused():
        with pytest.raises(ModelFileError, match="more values than can be read"):
            load(sound)

    assert peak_of(refused) < 4 * len(text) + (200 << 20)


def test_more_columns_than_a_file_can_be_of_are_refused(sound):
    def wide(manifest):
        manifest["n_features"] = 2**31 - 1
        for part in ("voters", "weighting"):
            manifest["vote"]["fields"][part]["fields"]["n_features"] = 2**31 - 1

    with pytest.raises(ModelFileError, match="not those of a table"):
        load(rewritten(sound, wide))


def test_a_model_of_more_columns_than_a_file_is_for_says_to_reduce_it(tmp_path):
    model = model_of("adaboost", "two")
    wide = model.vote_.select(model.vote_.columns)
    for part in (wide.voters, wide.weighting):
        object.__setattr__(part, "n_features", 2**21)
    model._set_fitted(
        wide, type(model.schema_)(2**21), {n: getattr(model, n, None) for n in model.extras}
    )
    with pytest.raises(ModelFileError, match=r"it has 2097152 columns.*Save model.reduce\(\)"):
        save(model, tmp_path / "wide")


def test_an_empty_array_has_no_long_side(sound):
    manifest, files = unpack(sound)
    name = next(n for n in files if n.endswith("category_left.npy"))
    header = b"{'descr': '|b1', 'fortran_order': False, 'shape': (1099511627776, 0), }\n"
    files[name] = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    with pytest.raises(ModelFileError, match="longer than its header"):
        load(pack(manifest, files, sound))


@pytest.mark.parametrize("depth", [60, 400, 100_000])
def test_nesting_beyond_what_a_model_needs_is_a_sentence(depth, sound):
    manifest, files = unpack(sound)
    text = json.dumps({**manifest, "vote": "HERE"})
    text = text.replace('"HERE"', '{"tuple":[' * depth + "1" + "]}" * depth)
    with pytest.raises(ModelFileError, match="nested deeper than 100 levels"):
        load(pack(text.encode(), files, sound))


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("manifest.json", "two entries of the same name"),
        ("../x", "holds an entry '../x', which no model has"),
        ("arrays/other.npy", "an array that its manifest does not name"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_entries_that_no_model_has(name, sentence, sound):
    with zipfile.ZipFile(sound, "a") as archive:
        archive.writestr(name, b"x")
    with pytest.raises(ModelFileError, match=sentence):
        load(sound)


def test_encrypted_entries_are_a_sentence(sound):
    data = bytearray(sound.read_bytes())
    place = data.index(b"PK\x01\x02") + 8
    data[place] |= 1
    sound.write_bytes(data)
    with pytest.raises(ModelFileError, match="encrypted"):
        load(sound)


def test_an_entry_cannot_claim_more_than_packing_can_save(sound):
    data = bytearray(sound.read_bytes())
    place = data.index(b"PK\x01\x02") + 24
    data[place : place + 4] = (1 << 30).to_bytes(4, "little")
    sound.write_bytes(data)
    with pytest.raises(ModelFileError, match="more content than it can hold"):
        load(sound)


def test_half_a_character_is_refused_wherever_it_stands(sound):
    def named(manifest):
        manifest["names"] = ["\ud800", *map(str, range(11))]

    with pytest.raises(ModelFileError, match="surrogates not allowed"):
        load(rewritten(sound, named))


def test_a_number_that_is_not_finite_is_refused_where_its_part_does_not_say_so(sound):
    manifest, files = unpack(sound)
    for name, value in (("left", np.nan), ("right", -np.inf), ("left", 1e300)):
        key = next(n for n in files if n.endswith(f"voters.{name}.npy"))
        array = np.load(io.BytesIO(files[key])).copy()
        array.flat[0] = value
        buffer = io.BytesIO()
        np.lib.format.write_array(buffer, array, version=(1, 0))
        with pytest.raises(ModelFileError, match=f"'{name}' of 'stump voters' has"):
            load(pack(manifest, {**files, key: buffer.getvalue()}, sound))


def test_a_vote_of_another_estimator_is_refused(tmp_path):
    paths = [tmp_path / name for name in ("cart", "adaboost")]
    for path in paths:
        save(model_of(path.name, "two"), path)
    manifest, files = unpack(paths[1])
    other, _ = unpack(paths[0])
    manifest |= {"class": "PureRandomForestClassifier", "params": {}, "extras": {"n_leaves_": 3}}
    assert other["class"] == "CARTClassifier"
    with pytest.raises(ModelFileError, match="not that of PureRandomForestClassifier"):
        load(pack(manifest, files, paths[1]))


def test_a_base_score_that_nobody_asks_changes_nothing(tmp_path):
    """Answers are those of the voters that vote, whatever a part holds."""
    path = tmp_path / "m.psephos"
    model = model_of("newton-numbers-hist", "two")
    save(model, path)
    manifest, files = unpack(path)
    name = next(n for n in files if n.endswith("voters.parts.0.values.npy"))
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.repeat(np.load(io.BytesIO(files[name])), 2, axis=0))
    other = load(pack(manifest, {**files, name: buffer.getvalue()}, path))
    X = np.random.default_rng(0).standard_normal((9, model.n_features_in_))
    np.testing.assert_array_equal(other.predict(X), model.predict(X))


def test_classes_of_words_and_numbers_are_refused(sound):
    def mixed(manifest):
        manifest["vote"]["fields"]["target"]["fields"]["classes"] = {"objects": [1, "a"]}

    with pytest.raises(ModelFileError, match="all strings or all numbers, not both"):
        load(rewritten(sound, mixed))


def test_checksums_of_damaged_files_are_those_of_their_content(sound, tmp_path):
    """What is refused is not refused for its checksum."""
    manifest, files = unpack(pack(*unpack(sound), tmp_path / "again"))
    assert all(hashlib.sha256(files[n]).hexdigest() == d for n, d in manifest["arrays"].items())
    load(tmp_path / "again")
