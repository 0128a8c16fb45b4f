"""The model file: it returns what was written, holds no more, and no hostile file gets through."""

import copy
import dataclasses
import hashlib
import io
import json
import pickle
import shutil
import struct
import zipfile
import zlib
from collections import defaultdict
from itertools import combinations, cycle, islice

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal, assert_equal
from sklearn.base import BaseEstimator, clone, is_regressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from small_settings import small_settings
from thorough import THOROUGH

from psephos import (
    AdaBoostClassifier,
    BaggingClassifier,
    CARTClassifier,
    ColumnBudgetClassifier,
    LocalBoostingClassifier,
    MultiViewClassifier,
    SamBAClassifier,
    StackingClassifier,
    VotingClassifier,
    load,
    modelfile,
    save,
)
from psephos._errors import ModelFileError, PsephosError
from psephos.base import VoteEstimator
from psephos.estimator.params import Unsaved
from psephos.models.swag.library import Library
from psephos.registry import model_names
from psephos.testing import small_table

# every row of these tables has a label, which weak labels warn of
pytestmark = pytest.mark.filterwarnings("ignore::psephos.WeakLabelsWarning")
SETTINGS = small_settings()


def named_frame(n_classes=2):
    X, y = small_table(n_classes)
    frame = pd.DataFrame(X, columns=[f'k__B;p__<b>"{j}' for j in range(12)])
    frame["site"] = pd.Series(np.array(["skin", "lüng", "骨"])[np.arange(60) % 3])
    frame["site"] = frame["site"].astype("category")
    frame["grade"] = pd.Categorical(np.arange(60) % 4)
    return frame, y


def fitted(name="samba", **kwargs):
    numbers = {"n_classes": 0} if is_regressor(SETTINGS[name]) else {}
    X, y = small_table(**numbers, **kwargs)
    return clone(SETTINGS[name]).fit(X, y), X


def plain(value):
    if isinstance(value, Library):
        return value.table()
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if dataclasses.is_dataclass(value):
        return {name: plain(one) for name, one in vars(value).items()}
    return value


def settings_of(model):
    """Parameters as a file keeps them: models of the library by theirs, foreign ones not."""
    return {name: told(value) for name, value in model.get_params(deep=False).items()}


def told(value):
    if isinstance(value, VoteEstimator):
        return type(value), settings_of(value)
    if isinstance(value, list | tuple):
        return [told(one) for one in value]
    lost = isinstance(value, BaseEstimator | Unsaved) or callable(value)
    return None if lost else value


def file_of(model, tmp_path):
    path = tmp_path / "model.psephos"
    save(model, path)
    return path


# ---------------------------------------------------------------------- round trips
@pytest.mark.parametrize("name", SETTINGS)
def test_round_trip_of_frames_with_categories(name, tmp_path):
    model = clone(SETTINGS[name])  # the contract saves models of two classes, without categories
    frame, y = named_frame(2 if getattr(model, "binary_only", False) else 3)
    if is_regressor(model):
        y = np.unique(y, return_inverse=True)[1] + 0.1 * np.arange(len(y))
    foreign = getattr(model, "estimator", None)
    if foreign is not None:  # voters of scikit-learn know no categories
        frame = frame.drop(columns=["site"])
        model.set_params(categorical_features=None)
    elif not hasattr(model, "categorical_features"):  # numbers only: cells of a cube
        frame = frame.drop(columns=["site"])
    model.fit(frame, y)
    path = file_of(model, tmp_path)
    again = load(path)
    assert type(again) is type(model)
    assert_array_equal(again.predict(frame), model.predict(frame))
    if not is_regressor(model):
        assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    assert_array_equal(again.feature_names_in_, model.feature_names_in_)
    assert again.schema_ == model.schema_
    assert again.explain(frame[:5]).columns() == model.explain(frame[:5]).columns()
    for extra in model.extras:
        assert_equal(plain(getattr(again, extra, None)), plain(getattr(model, extra, None)))
    assert settings_of(again) == settings_of(model)
    kept = foreign is None and not any(map(callable, model.get_params(deep=False).values()))
    if kept and (THOROUGH or name in model_names()):  # of other settings parameters are compared
        refitted = again.fit(frame, y)
        assert_array_equal(refitted.predict(frame), model.predict(frame))
        assert path.read_bytes() == file_of(refitted, tmp_path).read_bytes()


@pytest.mark.parametrize(
    "labels",
    [
        ["ä", "b"], [True, False], [-3, 10**12], [2.5, 1.0], np.array(["b", "a"], dtype=object),
        np.array(["x" * 300, "\N{SNOWMAN}"], dtype=object), np.array([1, 0], dtype=np.uint8),
    ],
)  # fmt: skip
def test_labels_come_back(labels, tmp_path):
    X, _ = small_table()
    y = np.asarray(labels)[np.arange(60) % 2]
    y = pd.Series(y).astype(int) if y.dtype.kind == "f" and (y % 1 == 0).all() else y
    if np.asarray(y).dtype.kind == "f":
        y = np.asarray(y).astype(str)
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    again = load(file_of(model, tmp_path))
    assert again.classes_.dtype == model.classes_.dtype
    assert again.classes_.tolist() == model.classes_.tolist()
    assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize(
    "params",
    [
        {"class_weight": {"ham": 2.0, "egg": 0.5}},
        {
            "class_weight": "balanced",
            "a": np.float32(0.5),
            "n_anchors": np.int64(30),
            "random_state": 1,
        },
        {"categorical_features": [2, 3]},
        {"categorical_features": np.arange(12) == 2},
        {"leave_one_out": np.False_, "n_jobs": -1, "validation_fraction": 0.25, "random_state": 3},
    ],
)
def test_parameters_come_back(params, tmp_path):
    X, y = small_table()
    model = SamBAClassifier(n_estimators=3, **params).fit(X, y)
    again = load(file_of(model, tmp_path))
    for name, value in params.items():
        assert_array_equal(getattr(again, name), value)
    again.fit(X, y)
    assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_an_estimator_or_generator_is_not_kept(tmp_path):
    X, y = small_table()
    tree, state = DecisionTreeClassifier(max_depth=1), np.random.RandomState(0)
    model = AdaBoostClassifier(tree, n_estimators=2, random_state=state).fit(X, y)
    again = load(file_of(model, tmp_path))
    assert isinstance(again.estimator, Unsaved)
    assert isinstance(again.random_state, Unsaved)
    assert_array_equal(again.predict(X), model.predict(X))


def right(seen):
    return 1.0 * (seen.agreement > 0)


FOREIGN = [("tree", CARTClassifier(n_folds=0)), ("bayes", GaussianNB())]
LOST = {
    "estimator of a bag": (BaggingClassifier(GaussianNB(), 2, random_state=0), "estimator"),
    "estimators": (VotingClassifier(FOREIGN), "estimators"),
    "views": (
        MultiViewClassifier([("a", GaussianNB(), [0, 1]), ("b", [2])], estimator=FOREIGN[0][1]),
        "views",
    ),
    "cv": (StackingClassifier(FOREIGN[:1], cv=KFold(3)), "cv"),
    "within": (
        BaggingClassifier(VotingClassifier(FOREIGN[1:]), n_estimators=2), "estimators"
    ),
    "function": (LocalBoostingClassifier(n_estimators=2, relevance=right), "relevance"),
    "selector": (
        ColumnBudgetClassifier(2, selector=LogisticRegression(), estimator=FOREIGN[0][1]),
        "selector",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", LOST)
def test_what_a_file_does_not_keep_is_asked_for_by_fit(what, tmp_path):
    X, y = small_table(2)
    model, name = LOST[what]
    model = clone(model).fit(X, y)
    path = file_of(model, tmp_path)
    again = load(path)
    assert file_of(again, tmp_path).read_bytes() == path.read_bytes()
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    reduced = again.reduce()
    used = np.union1d(again.features_used_, again.features_backup_).astype(int)
    assert_array_equal(reduced.predict(X[:, used]), model.predict(X))
    for one in (again, clone(again), reduced):
        with pytest.raises(PsephosError, match=f"{name!r} is not kept in model files"):
            one.fit(X[:, : one.n_features_in_] if one is reduced else X, y)
    assert str(again) == str(model)
    assert "not in the model file" in repr(again)
    if what != "within":
        again.set_params(**{name: getattr(model, name)}).fit(X, y)
        assert_array_equal(again.predict_proba(X), clone(model).fit(X, y).predict_proba(X))


def test_folds_given_as_rows_come_back(tmp_path):
    X, y = small_table(2)
    rows = np.arange(len(y))
    folds = [(rows[rows % 3 != f], rows[rows % 3 == f]) for f in range(3)]
    model = StackingClassifier(FOREIGN[:1], cv=folds).fit(X, y)
    path = file_of(model, tmp_path)
    again = load(path)
    before = path.read_bytes()
    assert file_of(again, tmp_path).read_bytes() == before
    assert_array_equal(again.fit(X, y).predict_proba(X), model.predict_proba(X))


def test_weights_given_as_an_array_come_back(tmp_path):
    X, y = small_table(2)
    model = VotingClassifier(FOREIGN, weights=np.array([1.0, 2.0])).fit(X, y)
    before = file_of(model, tmp_path).read_bytes()
    again = load(tmp_path / "model.psephos")
    assert file_of(again, tmp_path).read_bytes() == before


class Derived(CARTClassifier):
    """A subclass that nobody registered."""


def test_a_class_that_load_would_not_know_is_not_saved(tmp_path):
    X, y = small_table(2)
    with pytest.raises(ModelFileError, match=r"@psephos\.register.*or fit CARTClassifier itself"):
        save(Derived(n_folds=0).fit(X, y), tmp_path / "model.psephos")
    assert not list(tmp_path.iterdir())
    with pytest.raises(ModelFileError, match="Derived, which psephos cannot write"):
        save(BaggingClassifier(Derived(n_folds=0), n_estimators=2).fit(X, y), tmp_path / "m")


def test_reduced_models_come_back(tmp_path):
    frame, y = named_frame()
    model = SamBAClassifier(n_estimators=3, categorical_features=["site", "grade"]).fit(frame, y)
    reduced = model.reduce()
    again = load(file_of(reduced, tmp_path))
    used = list(model.features_used_)
    assert_array_equal(again.decision_function(frame[used]), model.decision_function(frame))


def test_a_vote_of_one_constant_comes_back(tmp_path):
    X = np.zeros((6, 2))
    model = SamBAClassifier().fit(X, [0, 0, 0, 0, 1, 1])
    assert len(model.vote_.columns) == 0
    again = load(file_of(model, tmp_path))
    assert_array_equal(again.predict(X), np.zeros(6))
    assert again.reduce().n_features_in_ == 1


@pytest.mark.filterwarnings("ignore:FD004:psephos.TableWarning")
@pytest.mark.parametrize("kind", ["Timestamp", "Interval"])
def test_categories_that_are_neither_words_nor_numbers_are_named(kind, tmp_path):
    values = pd.date_range("2020", periods=30) if kind == "Timestamp" else pd.cut(range(30), 3)
    frame = pd.DataFrame({"size": np.arange(30.0), "when": pd.Categorical(values)})
    model = AdaBoostClassifier(n_estimators=2, categorical_features=["when"]).fit(
        frame, frame["size"] > 12
    )
    with pytest.raises(ModelFileError, match=f"categories of column 'when' are of type {kind}"):
        save(model, tmp_path / "model.psephos")
    assert list(tmp_path.iterdir()) == []


def test_same_model_same_bytes(tmp_path):
    for name in ("adaboost", "samba-anchors", "samba-trees"):
        one = file_of(fitted(name)[0], tmp_path).read_bytes()
        assert one == file_of(fitted(name)[0], tmp_path).read_bytes()
        assert one == file_of(copy.deepcopy(fitted(name)[0]), tmp_path).read_bytes()


def test_only_columns_that_are_read_are_stored(tmp_path):
    """Every value of an unread column is absent from the arrays and the manifest."""
    rng = np.random.default_rng(0)
    X, y = small_table(p=30)
    X[:, 5:] = rng.uniform(3, 4, (60, 25))
    for model in (SamBAClassifier(n_estimators=3), AdaBoostClassifier(n_estimators=3)):
        model.fit(X, y)
        silent = np.setdiff1d(np.arange(30), model.vote_.columns)
        assert len(silent) > 20
        with zipfile.ZipFile(file_of(model, tmp_path)) as archive:
            content = b"".join(archive.read(name) for name in archive.namelist())
            arrays = [np.load(io.BytesIO(archive.read(n))) for n in archive.namelist()[1:]]
        stored = np.concatenate([a.ravel().astype(float) for a in arrays if a.dtype.kind != "U"])
        hidden = X[:, silent[silent >= 5]]
        assert not np.isin(hidden, stored).any()
        for value in hidden.ravel():
            assert struct.pack("<d", value) not in content
            assert struct.pack("<f", value) not in content
            assert repr(float(value)).encode() not in content
        if isinstance(model, SamBAClassifier):  # the anchors are there: the search finds values
            seen = X[:, model.vote_.columns]
            assert np.isin(seen, stored).all()


def test_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    model, _ = fitted()
    path = file_of(model, tmp_path)
    before = path.read_bytes()
    other, _ = fitted("adaboost")

    def broken(*_):
        raise KeyboardInterrupt

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(f"psephos.modelfile.os.{name}", broken)
            with pytest.raises(KeyboardInterrupt):
                save(other, path)
        assert path.read_bytes() == before
        assert [p.name for p in tmp_path.iterdir()] == ["model.psephos"]
    save(other, path)
    assert path.read_bytes() != before


def test_a_file_is_readable_by_others(tmp_path):
    path = file_of(fitted()[0], tmp_path)
    (tmp_path / "plain").write_bytes(b"")
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_what_is_no_model_is_refused(tmp_path):
    for thing in (SamBAClassifier(), DecisionTreeClassifier(), 3):
        with pytest.raises(ModelFileError, match=f"{type(thing).__name__} is not a fitted model"):
            save(thing, tmp_path / "x")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none")
    save(fitted()[0], tmp_path / "new" / "folder")  # is made
    assert (tmp_path / "new" / "folder").is_file()


# ---------------------------------------------------------------------- hostile files
def unpack(path):
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(files.pop("manifest.json")), files


def sealed(manifest):
    """Return the bytes of a manifest, its checksum right, whatever is in it."""
    manifest["checksum"] = hashlib.sha256(modelfile._canonical(manifest)).hexdigest()
    return json.dumps(manifest).encode()


def pack(manifest, files, path, method=zipfile.ZIP_STORED):
    """Write a file whose checksums are right, whatever is in it."""
    if isinstance(manifest, dict):
        names = manifest.get("arrays", {})
        manifest["arrays"] = {n: hashlib.sha256(files[n]).hexdigest() for n in names if n in files}
        manifest = sealed(manifest)
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("manifest.json", manifest)
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def npy(array, **kwargs):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, version=(1, 0), **kwargs)
    return buffer.getvalue()


def use(model):
    """Ask a model that was accepted for everything it can say: it must not crash."""
    X = np.random.default_rng(0).standard_normal((3, model.n_features_in_))
    with np.errstate(all="ignore"):
        model.predict(X)
        if hasattr(model, "predict_proba"):
            model.predict_proba(X)
        model.explain(X).columns()
        model.describe()
        model.local_importance(X)
        model.reduce()
        if hasattr(model, "library_"):
            model.library_.table()
            model.usable(X)


def accepted(path):
    """Load; return the model, or None if it was refused as it should be."""
    sentence = str(path)
    try:
        return load(path)
    except ModelFileError as error:
        sentence = str(error)
    assert sentence.startswith(str(path))
    return None


KINDS = ["samba", "adaboost", "adaboost-trees", "samba-lines", "samba-bayes", "swag-best"]
KINDS += ["swag-naive_bayes", "swag-rbf_svm", "swag-forest", "swag-regressor"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", KINDS)
def test_flipped_and_missing_bytes(name, tmp_path):
    path = file_of(fitted(name)[0], tmp_path)
    data = path.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for trial in range(150):
        damaged = bytearray(data)
        if trial % 3:
            for place in rng.integers(0, len(data), 1 + trial % 5):
                damaged[place] ^= 1 << int(rng.integers(8))
        else:
            damaged = damaged[: int(rng.integers(0, len(data)))]
        path.write_bytes(damaged)
        refused += accepted(path) is None
    assert refused > 130  # what is left are bytes that carry nothing: dates, flags of the archive


def test_content_that_does_not_match_its_checksum(tmp_path):
    path = file_of(fitted()[0], tmp_path)
    manifest, files = unpack(path)
    name = next(n for n in files if "anchors" in n)
    files[name] = files[name][:-8] + bytes(8)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for n, data in files.items():
            archive.writestr(n, data)
    with pytest.raises(ModelFileError, match="does not match its checksum"):
        load(path)
    manifest["n_features"] = 13
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
    with pytest.raises(ModelFileError, match="manifest does not match its checksum"):
        load(path)


def places(value, at=(), field=()):
    """Every place in a manifest, and what it is: in a part, the part's name and its field."""
    yield at, field
    if isinstance(value, dict | list):
        children = value.items() if isinstance(value, dict) else enumerate(value)
        field = (value["part"],) if "part" in value and "fields" in value else field
        for key, child in children:
            yield from places(child, (*at, key), (*field, key))


def at_place(value, at):
    for key in at:
        value = value[key]
    return value


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """Return (manifest, files, what each array is) of a sound file of each kind."""
    path, kept = tmp_path_factory.mktemp("sound") / "model.psephos", []
    for name in KINDS:
        save(fitted(name)[0], path)
        manifest, files = unpack(path)
        fields = defaultdict(set)  # equal arrays are stored once, and are of several fields
        for at, field in places(manifest):
            if at[-1:] == ("array",):
                fields[at_place(manifest, at)].add(field)
        whats = {}
        for name, data in files.items():
            array = np.load(io.BytesIO(data))
            told = frozenset(fields[name.removeprefix("arrays/").removesuffix(".npy")])
            assert told, name
            whats[name] = (told, array.dtype.kind, array.ndim)
        kept.append((manifest, files, whats))
    return kept


def each_array(sound):
    """Yield a file and one of its arrays: every field of every part once, with each form it has."""
    seen = set()
    for manifest, files, whats in sound:
        for name, what in whats.items():
            if what not in seen:
                seen.add(what)
                yield manifest, files, name


def is_refused(manifest, files, path):
    """Return whether a changed file is refused; one that is not is asked everything."""
    model = accepted(pack(copy.deepcopy(manifest), files, path))
    if model is not None:
        use(model)
    return model is None


@pytest.mark.filterwarnings("ignore")
def test_numbers_out_of_range(sound, tmp_path):
    """Every array, with values that are no place in anything: refused, or harmless."""
    found, turns = [], cycle((-1, -(2**62), 2**31, 2**62, np.nan, np.inf, 0, 99, 2**15))
    for manifest, files, name in each_array(sound):
        array = np.load(io.BytesIO(files[name]))
        spots = sorted({0, array.size // 2, array.size - 1}) if array.size else []
        for k in range(3 if spots else 0):  # the values and the places in turn
            bad, value = array.copy(), next(turns)
            with np.errstate(all="ignore"):
                try:
                    bad.flat[spots[k % len(spots)]] = value
                except (OverflowError, ValueError):
                    continue
            found.append(is_refused(manifest, {**files, name: npy(bad)}, tmp_path / "m"))
    assert np.mean(found) > 0.3


@pytest.mark.filterwarnings("ignore")
def test_arrays_of_other_shapes_and_kinds(sound, tmp_path):
    changes = cycle([
        lambda a: a[:0], lambda a: a[:-1], lambda a: np.concatenate([a, a]), lambda a: a[None],
        lambda a: a[..., None], lambda a: a.ravel(), lambda a: a.astype(str), lambda a: a[0, ...],
        lambda a: a.astype("<f4"), lambda a: a.astype(">f8"), lambda a: a.astype("<i4"),
        lambda a: a.astype("u1"), lambda a: a.astype(bool), lambda a: np.array(3.0),
        lambda a: np.array("x"), lambda a: -a, lambda a: a[::-1],
    ])  # fmt: skip
    # refused as the header is read, which knows of no field: each array in one of these forms
    forms = cycle([
        lambda a: a.astype("S9"), lambda a: a.astype(complex), lambda a: a.astype("<M8[s]"),
        lambda a: np.zeros(len(a), dtype=[("x", "<i8")]),
        lambda a: np.asfortranarray(np.atleast_2d(a).repeat(2, 0)),
    ])  # fmt: skip
    found = []
    for manifest, files, name in each_array(sound):
        for change in (*islice(changes, 4), next(forms)):  # all of them, in turn
            try:
                bad = change(np.load(io.BytesIO(files[name])))
            except (IndexError, ValueError, TypeError):
                continue
            found.append(is_refused(manifest, {**files, name: npy(bad)}, tmp_path / "m"))
    assert np.mean(found) > 0.7


@pytest.mark.filterwarnings("ignore")
def test_arrays_exchanged(sound, tmp_path):
    seen = set()
    for manifest, files, whats in sound:
        for one, two in combinations(sorted(files), 2):
            pair = frozenset((whats[one], whats[two]))
            alike = whats[one][-2:] == whats[two][-2:]
            if pair in seen or zlib.crc32((one + two).encode()) % (3 if alike else 16):
                continue  # the others are told apart
            seen.add(pair)
            is_refused(manifest, {**files, one: files[two], two: files[one]}, tmp_path / "m")


@pytest.mark.parametrize(
    ("kind", "field", "change", "sentence"),
    [
        (
            "swag-naive_bayes",
            ("library", "fields", "votes"),
            np.ones_like,
            "library is of another vote",
        ),
        ("swag-regressor", ("scores", "fields", "value"), np.atleast_3d, "not one column"),
    ],
)
def test_parts_that_fit_in_other_models_alone(kind, field, change, sentence, sound, tmp_path):
    manifest, files, whats = sound[KINDS.index(kind)]
    (name,) = [n for n, what in whats.items() if any(f[:3] == field for f in what[0])]
    changed = {**files, name: npy(change(np.load(io.BytesIO(files[name]))))}
    with pytest.raises(ModelFileError, match=sentence):
        load(pack(copy.deepcopy(manifest), changed, tmp_path / "m"))


def header(text, body=b""):
    text = text.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + body


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\x93NUMPY", b"\x93NUMPY\x01\x00\xff\xff", b"\x93NUMPY\x03\x00" + bytes(64),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999,), }"),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }"),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }", bytes(8)),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (0, -5), }"),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (True,), }", bytes(8)),
        header("{'descr': '<U0', 'fortran_order': False, 'shape': (9999999999,), }"),
        header("{'descr': '<U999999999', 'fortran_order': False, 'shape': (1,), }"),
        header("{'descr': '<U1', 'fortran_order': False, 'shape': (1,), }", b"\xff\xff\xff\x7f"),
        header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", pickle.dumps([1])),
        header("{'descr': '<f8', 'fortran_order': True, 'shape': (1,), }", bytes(8)),
        header("__import__('os').system('true')"), header("{"), header("(" * 9000),
        header("{'descr': [('a', '|O')], 'fortran_order': False, 'shape': (1,), }", bytes(8)),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", bytes(16)),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (01,), }", bytes(8)),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (1,%s), }" % (40 * " 1,")),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }" + " " * 20000, bytes(8)),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (1,", b" 1," * 1_000_000),
    ],
)  # fmt: skip
def test_hostile_arrays(data, tmp_path):
    path = file_of(fitted()[0], tmp_path)
    manifest, files = unpack(path)
    for name in files:
        with pytest.raises(ModelFileError):
            load(pack(copy.deepcopy(manifest), {**files, name: data}, path))


class Trap:
    """Writes a file if it is ever unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_no_code_is_run(tmp_path):
    path = file_of(fitted()[0], tmp_path)
    manifest, files = unpack(path)
    trap = tmp_path / "sprung"
    trapped = np.array([Trap(trap)], dtype=object)
    for name in files:
        changed = {**files, name: npy(trapped, allow_pickle=True)}
        with pytest.raises(ModelFileError):
            load(pack(copy.deepcopy(manifest), changed, path))
    path.write_bytes(pickle.dumps(Trap(trap)))
    with pytest.raises(ModelFileError):
        load(path)
    assert not trap.exists()


@pytest.mark.filterwarnings("ignore")
def test_manifests_with_anything_in_any_place(sound, tmp_path):
    odd = cycle([
        None, True, -1, 10**400, 1e308, "x", [], {}, [[]], {"float": "nan"}, {"tuple": [1]},
        {"objects": [1, "a"]}, 1.5,
    ])  # fmt: skip
    # decoding refuses these wherever they stand: all of them where a place may be read otherwise,
    # and one at each place within a field
    broken = [
        {"part": "vote", "fields": {}}, {"array": "nothing"}, {"tuple": 3}, {"float": "1e5"},
        {"part": "stump voters"}, {"array": ["x"]}, {"part": ["vote"]},
    ]  # fmt: skip
    seen, turns = set(), cycle(broken)
    for kind in ("samba", "adaboost-trees"):
        manifest, files, _ = sound[KINDS.index(kind)]
        text = json.dumps(manifest)
        with zipfile.ZipFile(tmp_path / "arrays", "w") as archive:
            for name, data in files.items():
                archive.writestr(name, data)
        for at, field in places(manifest):
            if not at or at[0] in ("checksum", "arrays") or field in seen:
                continue
            seen.add(field)
            for value in (*islice(odd, 4), *(broken if len(at) < 3 else [next(turns)])):
                changed = json.loads(text)
                at_place(changed, at[:-1])[at[-1]] = value
                shutil.copy(tmp_path / "arrays", tmp_path / "m")
                with zipfile.ZipFile(tmp_path / "m", "a") as archive:
                    archive.writestr("manifest.json", sealed(changed))
                model = accepted(tmp_path / "m")
                if model is not None and at[0] == "baseline" and value is None:
                    continue  # as written where training rows were not known: importance says so
                if model is not None and at[0] != "params":
                    use(model)


@pytest.mark.parametrize("depth", [2_000, 200_000])
def test_deep_nesting(depth, tmp_path):
    path = file_of(fitted()[0], tmp_path)
    manifest, files = unpack(path)
    for text in (
        "[" * depth + "]" * depth,
        '{"a":' * depth + "1" + "}" * depth,
        json.dumps({**manifest, "vote": "HERE"}).replace('"HERE"', "[" * depth + "]" * depth),
        json.dumps({**manifest, "vote": "HERE"}).replace(
            '"HERE"', '{"tuple":[' * depth + "1" + "]}" * depth
        ),
    ):
        with pytest.raises(ModelFileError):
            load(pack(text.encode(), files, path))
    deep = 1
    for _ in range(400):
        deep = {"tuple": [deep]}
    with pytest.raises(ModelFileError):
        load(pack({**manifest, "vote": deep}, files, path))


def test_archives_that_claim_more_than_they_may(tmp_path):
    path = tmp_path / "bomb"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", "{}")
        archive.writestr("arrays/x.npy", bytes(1 << 20))
    data = bytearray(path.read_bytes())
    place = data.rindex(struct.pack("<L", 1 << 20))  # the size in the archive's list
    data[place : place + 4] = struct.pack("<L", 0xFFFFFFF0)
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match="more than 2 GiB"):
        load(path)


def test_a_bomb_that_claims_to_be_small(tmp_path):
    path = tmp_path / "bomb"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", bytes(1 << 24))
    data = path.read_bytes()
    path.write_bytes(data.replace(struct.pack("<L", 1 << 24), struct.pack("<L", 100)))
    with pytest.raises(ModelFileError):
        load(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_packings_are_refused(method, tmp_path):
    path = file_of(fitted()[0], tmp_path)
    with pytest.raises(
        ModelFileError, match="compressed by a method that this version does not read"
    ):
        load(pack(*unpack(path), path, method))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"format": "other"}, "not a psephos model file"),
        ({"schema": 2, "psephos": "9.1"}, "written by psephos 9.1 in a newer form: update psephos"),
        ({"class": "Evil"}, "holds a 'Evil', which this version of psephos does not know"),
        ({"class": "VoteClassifier"}, "does not know"),
        ({"n_features": 5}, "does not fit its table"),
        ({"n_features": 0}, "not those of a table"),
        ({"n_features": 10**15}, "not those of a table"),
        ({"names": ["a", "b"]}, "column names do not fit"),
        ({"levels": {"tuple": [{"tuple": [99, {"tuple": ["a"]}]}]}}, "not those of a table"),
    ],
)
def test_sentences(change, sentence, tmp_path):
    path = file_of(fitted()[0], tmp_path)
    manifest, files = unpack(path)
    with pytest.raises(ModelFileError, match=sentence):
        load(pack({**manifest, **change}, files, path))


def test_unknown_parts_are_named(tmp_path):
    path = file_of(fitted()[0], tmp_path)
    manifest, files = unpack(path)
    manifest["vote"]["fields"]["voters"]["part"] = "oracle voters"
    with pytest.raises(ModelFileError, match="names a part 'oracle voters'"):
        load(pack(manifest, files, path))


@pytest.mark.parametrize(
    "data", [b"", b"PK", b"PK\x03\x04" + bytes(50), b"\x80\x04.", zlib.compress(b"x"), b"a,b\n1,2"]
)
def test_what_is_no_archive(data, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match="damaged or not a psephos model file"):
        load(path)


def test_parameters_this_version_does_not_know_are_left_out(tmp_path):
    path = file_of(fitted()[0], tmp_path)
    manifest, files = unpack(path)
    manifest["params"]["later"] = 3
    model = load(pack(manifest, files, path))
    assert not hasattr(model, "later")


def test_attributes_of_a_file_cannot_replace_methods(tmp_path):
    path = file_of(fitted()[0], tmp_path)
    manifest, files = unpack(path)
    manifest["extras"]["predict"] = 3
    assert callable(load(pack(manifest, files, path)).predict)


def test_a_voter_this_version_does_not_know_is_named(tmp_path):
    path = file_of(fitted("adaboost-c45")[0], tmp_path)
    manifest, files = unpack(path)
    manifest["params"]["estimator"]["model"] = "Oracle"
    with pytest.raises(ModelFileError, match="holds a 'Oracle', which this version"):
        load(pack(manifest, files, path))
