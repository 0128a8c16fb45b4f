"""Rows that a model was fitted on are known as such, and rows that it was not are left alone."""

import json
import pickle
import zipfile

import numpy as np
import pytest

from psephos import (
    AdaBoostClassifier,
    ArrayRows,
    CARTClassifier,
    CARTRegressor,
    NewtonBoostingClassifier,
    PsephosError,
    RandomForestClassifier,
    RankRidgeClassifier,
    SamBAClassifier,
    SoftTreeClassifier,
    calibrate,
    fit_blocks,
    load,
    recalibrated,
    save,
    validate,
)
from psephos.bounds import held_out_bound
from psephos.explain import DiversityDisplay, MissedDisplay
from psephos.vote.seen import first_copies, seen

MODELS = (
    AdaBoostClassifier(n_estimators=10),
    CARTClassifier(cp=0.0),
    RandomForestClassifier(10, random_state=0),
    RankRidgeClassifier(random_state=0),
    SamBAClassifier(n_estimators=10),
)


def table_of(n, p=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, (X[:, 0] + 0.5 * rng.standard_normal(n) > 0).astype(int)


X, Y = table_of(120)
NEW = table_of(90, seed=1)


@pytest.fixture(name="stored", params=["as fitted", "from a file", "pickled", "reduced"])
def _stored(request, tmp_path):
    def store(model):
        if request.param == "from a file":
            save(model, tmp_path / "m.psephos")
            return load(tmp_path / "m.psephos")
        if request.param == "pickled":
            return pickle.loads(pickle.dumps(model))
        return model.reduce() if request.param == "reduced" else model

    return store


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_training_rows_are_refused_in_any_order(model, stored):
    fitted = model.fit(X, Y)
    known, order = stored(fitted), np.random.default_rng(2).permutation(len(X))
    columns = fitted.vote_.columns if known.n_features_in_ < 12 else slice(None)
    for rows in (np.arange(len(X)), order):
        with pytest.raises(PsephosError, match="calibrate needs held-out rows for the"):
            calibrate(known, X[rows][:, columns], Y[rows])
        with pytest.raises(PsephosError, match="MissedDisplay needs held-out rows"):
            MissedDisplay.from_estimator(known, X[rows][:, columns], Y[rows])
    calibrate(known, NEW[0][:, columns], NEW[1])
    MissedDisplay.from_estimator(known, NEW[0][:, columns], NEW[1])


def test_voters_are_not_compared_on_training_rows():
    model = RandomForestClassifier(10, random_state=0).fit(X, Y)
    words = r"120 of the 120 rows are identical to training rows .the first is row 0."
    with pytest.raises(PsephosError, match=words):
        DiversityDisplay.from_estimator(model, X, Y)
    assert len(DiversityDisplay.from_estimator(model, *NEW).error) == 10


def test_some_training_rows_among_others_are_refused_and_a_few_are_not():
    model = AdaBoostClassifier(n_estimators=10).fit(X, Y)
    for n, refused in ((1, False), (3, False), (40, True)):
        rows = np.vstack([X[:n], NEW[0]]), np.append(Y[:n], NEW[1])
        found = seen(model, rows[0])
        assert (found.same.tolist(), found.often, found.whole) == (list(range(n)), refused, False)
        if refused:
            with pytest.raises(PsephosError, match=r"40 of the 130 rows are identical .* is row 0"):
                calibrate(model, *rows)
        else:
            calibrate(model, *rows)
        with pytest.raises(PsephosError, match="identical to training rows"):
            held_out_bound(model, *rows)  # one is enough there


@pytest.mark.parametrize("levels", [2, 10])
@pytest.mark.parametrize("p", [1, 3, 6, 12])
def test_rows_that_are_equal_by_chance_are_not_refused(p, levels):
    rng = np.random.default_rng(p)
    for seed in range(20):
        table = rng.integers(0, levels, (300, p)).astype(float)
        y = (table[:, 0] > levels / 2 - 1) ^ (rng.random(300) < 0.2)
        n = (30, 150, 270)[seed % 3]
        model = CARTClassifier(cp=0.0, min_samples_split=4, n_folds=0).fit(table[:n], y[:n])
        found = seen(model, table[n:])
        assert not found.often
        assert not found.whole
        if p < 6:
            held_out_bound(model, table[n:], y[n:])
        later = pickle.loads(pickle.dumps(model))  # knows the summary alone
        assert not seen(later, table[n : 2 * n]).fitted


def test_rows_of_few_values_are_known_by_their_order_or_all_columns():
    rng = np.random.default_rng(0)
    table = rng.integers(0, 2, (200, 3)).astype(float)
    y = (table.sum(axis=1) > 1) ^ (rng.random(200) < 0.1)
    model = CARTClassifier(cp=0.0, min_samples_split=4, n_folds=0).fit(table, y)
    assert seen(model, table).ordered
    one = CARTClassifier(cp=0.0, n_folds=0).fit(table[:, :1], y)
    again = pickle.loads(pickle.dumps(one))
    assert not seen(again, table[:, :1]).fitted  # one binary column has these counts by chance
    many = rng.integers(0, 2, (200, 16)).astype(float)
    forest = RandomForestClassifier(10, random_state=0).fit(many, y)
    assert seen(pickle.loads(pickle.dumps(forest)), many[::-1]).fitted


def test_categories_and_missing_values_are_compared():
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.integers(0, 4, (90, 3)), rng.standard_normal((90, 3))])
    table[rng.random(table.shape) < 0.1] = np.nan
    y = (np.nan_to_num(table[:, 4]) > 0) ^ (rng.random(90) < 0.1)
    model = RandomForestClassifier(5, categorical_features=[0, 1, 2], random_state=0).fit(table, y)
    later = pickle.loads(pickle.dumps(model))
    order = rng.permutation(90)
    assert seen(later, later._values(table[order])).fitted
    single = table[order].astype(np.float32)
    assert seen(later, later._values(single)).fitted
    assert seen(model, model._values(single), y[order].astype(int)).whole
    other = table[order].copy()
    other[:, 0] = np.where(np.isnan(other[:, 0]), 0, other[:, 0])
    assert not seen(later, later._values(other)).fitted


def test_a_calibrated_model_knows_the_rows_it_was_calibrated_on(stored):
    model = AdaBoostClassifier(n_estimators=10).fit(X, Y)
    sure = stored(calibrate(model, *NEW))
    columns = model.vote_.columns if sure.n_features_in_ < 12 else slice(None)
    with pytest.raises(PsephosError, match="its probabilities were calibrated on"):
        MissedDisplay.from_estimator(sure, NEW[0][:, columns], NEW[1])
    with pytest.raises(PsephosError, match="its probabilities were calibrated on"):
        held_out_bound(sure, NEW[0][:, columns], NEW[1])
    calibrate(sure, NEW[0][:, columns], NEW[1])  # replaced
    assert not seen(stored(model), NEW[0][:, columns]).words()
    other = table_of(90, seed=5)
    MissedDisplay.from_estimator(sure, other[0][:, columns], other[1])


def test_files_without_the_summary_open_and_a_wrong_one_is_refused(tmp_path):
    from psephos.modelfile import _canonical, _digest

    model = calibrate(CARTClassifier(cp=0.0).fit(X, Y), *NEW)
    path = tmp_path / "m.psephos"

    def rewritten(change):
        save(model, path)
        with zipfile.ZipFile(path) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        manifest = json.loads(files["manifest.json"])
        change(manifest)
        manifest["checksum"] = _digest(_canonical(manifest))
        files["manifest.json"] = json.dumps(manifest).encode()
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in files.items():
                archive.writestr(name, data)
        return path

    old = load(rewritten(lambda m: m.update(calibrated_on=None)))
    np.testing.assert_array_equal(old.predict_proba(X), model.predict_proba(X))
    MissedDisplay.from_estimator(old, *NEW)
    with pytest.raises(PsephosError, match="a summary of other rows"):
        load(rewritten(lambda m: m.update(calibrated_on=m["baseline"])))


def test_a_model_of_numbers_and_one_without_voters():
    model = CARTRegressor(cp=0.0).fit(X, X[:, 0])
    assert seen(model, X).whole
    constant = CARTClassifier(max_depth=1, cp=1.0).fit(X, Y)
    assert not len(constant.vote_.columns)
    assert not seen(constant, X).words()
    with pytest.raises(PsephosError, match="predicts numbers"):
        recalibrated(model)


def test_copies_are_rows_that_chance_does_not_explain():
    twice = np.repeat(X, 2, axis=0)
    assert first_copies(twice).tolist() == np.repeat(np.arange(0, 240, 2), 2).tolist()
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 1000, (30, 20))
    assert len(set(first_copies(np.tile(counts, (2, 1))).tolist())) == 30
    binary = rng.integers(0, 2, (300, 5))
    assert first_copies(binary).tolist() == list(range(300))
    assert set(first_copies(np.full((9, 3), 0.25)).tolist()) == {0}
    assert len(set(first_copies(np.full((9, 3), 1.0)).tolist())) == 9
    words = np.array([["a", "x"], ["b", "y"]] * 50)
    assert len(set(first_copies(words).tolist())) == 100


def six_digits(table):
    return np.array([[float(f"{one:.6g}") for one in row] for row in table])


@pytest.mark.parametrize(
    "stored_as",
    [np.float32, lambda one: one.round(6), lambda one: one.round(4), six_digits],
    ids=["float32", "6 decimals", "4 decimals", "6 digits"],
)
def test_training_rows_in_another_precision_are_refused(stored_as):
    table, order = np.asarray(stored_as(X)), np.random.default_rng(3).permutation(len(X))
    for fitted_on, rows in ((X, table), (table, X)):
        model = AdaBoostClassifier(n_estimators=10).fit(fitted_on, Y)
        for one in (model, pickle.loads(pickle.dumps(model))):
            for at in (slice(None), order):
                with pytest.raises(PsephosError, match=r"training rows|that it was fitted on"):
                    held_out_bound(one, rows[at], Y[at])
            held_out_bound(one, np.asarray(stored_as(NEW[0])), NEW[1])


def test_columns_that_say_the_same_are_not_taken_for_another_precision():
    rng = np.random.default_rng(0)
    for seed in range(10):
        one = rng.standard_normal((600, 1)) + 1000.0 * (seed % 2)
        table = np.hstack([one, 2 * one, one + 1e-6 * rng.standard_normal((600, 1))])
        y = rng.permutation(600) % 2
        model = RandomForestClassifier(3, random_state=0).fit(table[:300], y[:300])
        found = seen(model, table[300:], y[300:])
        assert not found.words()
        assert not found.single
        later = pickle.loads(pickle.dumps(model))
        assert not seen(later, table[300:], y[300:]).words()


@pytest.mark.parametrize("repeats", [1, 4])
def test_another_experiment_of_the_same_design_is_taken(repeats):
    wells = np.array([(i, j) for i in range(8) for j in range(12)] * repeats, dtype=float)
    rng = np.random.default_rng(0)
    one, two = ((wells[:, 1] + rng.normal(0, 5, len(wells)) > 5.5).astype(int) for _ in range(2))
    model = RandomForestClassifier(10, random_state=0).fit(wells, one)
    for rows in (slice(None), slice(None, None, -1), slice(50)):
        held_out_bound(model, wells[rows], two[rows])
        calibrate(model, wells[rows], two[rows])
        MissedDisplay.from_estimator(model, wells[rows], two[rows])
        DiversityDisplay.from_estimator(model, wells[rows], two[rows])
    with pytest.raises(PsephosError, match=r"training rows|was fitted on"):
        held_out_bound(model, wells, one)


def test_one_row_says_nothing_where_training_rows_are_copies_of_each_other():
    rng = np.random.default_rng(0)
    profiles = rng.standard_normal((10, 6))
    y = (profiles[:, 0] > 0).astype(int)
    drawn = rng.integers(0, 10, 40)
    model = RandomForestClassifier(10, random_state=0).fit(profiles[drawn], y[drawn])
    rows = (
        np.vstack([profiles[:1], rng.standard_normal((30, 6))]),
        np.append(y[0], np.arange(30) % 2),
    )
    held_out_bound(model, *rows)
    held_out_bound(model, profiles, y)


@pytest.mark.parametrize("block_rows", [50, 1000])
def test_a_model_of_blocks_knows_its_rows(block_rows):
    table, y = table_of(700)
    model = NewtonBoostingClassifier("hist", n_estimators=5)
    fit_blocks(model, ArrayRows(table.astype(np.float32), y, block_rows=block_rows))
    assert model._sample.values.shape == (512, 12)
    for ask in (calibrate, held_out_bound, MissedDisplay.from_estimator):
        with pytest.raises(PsephosError, match="fitted on"):
            ask(model, table, y)
        ask(model, *NEW)
    assert model.feature_importances_.argmax() == 0


def test_rows_of_all_calls_of_partial_fit_are_known():
    model = SoftTreeClassifier(max_depth=1, random_state=0)
    table, y = table_of(1200)
    for at in range(0, 1200, 300):
        model.partial_fit(table[at : at + 300], y[at : at + 300], classes=[0, 1])
    assert len(model._sample.values) == 512
    for at in range(0, 1200, 300):
        rows = slice(at, at + 300)
        assert 100 < len(seen(model, table[rows], y[rows]).same) < 150
        with pytest.raises(PsephosError, match="identical to training rows"):
            calibrate(model, table[rows], y[rows])
    calibrate(model, *NEW)


def test_rows_that_partial_fit_was_given_again_are_known():
    model = SoftTreeClassifier(max_depth=1, random_state=0)
    for _ in range(6):
        model.partial_fit(X, Y, classes=[0, 1])
    with pytest.raises(PsephosError, match="identical to training rows"):
        calibrate(model, X[10:60], Y[10:60])
    calibrate(model, *NEW)


def test_a_part_of_the_calibration_rows_is_known():
    sure = calibrate(AdaBoostClassifier(n_estimators=10).fit(X, Y), *NEW)
    for one in (sure, sure.reduce()):
        rows = NEW[0][20:60, sure.vote_.columns] if one is not sure else NEW[0][20:60]
        with pytest.raises(PsephosError, match="its probabilities were calibrated on"):
            MissedDisplay.from_estimator(one, rows, NEW[1][20:60])
    mixed = np.vstack([NEW[0][:30], table_of(30, seed=7)[0]])
    labels = np.append(NEW[1][:30], table_of(30, seed=7)[1])
    assert "calibrated on 30 of 60 cases" in validate(sure, mixed, labels).about["cautions"][0]
    assert pickle.loads(pickle.dumps(sure))._calibration_rows is None
