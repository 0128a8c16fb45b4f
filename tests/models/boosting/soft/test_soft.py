"""Soft gradient boosting and soft trees as estimators."""

import sys
from copy import deepcopy
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_linnerud
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from psephos import (
    CARTClassifier,
    PsephosError,
    SoftGradientBoostingClassifier,
    SoftGradientBoostingRegressor,
    SoftTreeClassifier,
    SoftTreeRegressor,
    load,
    save,
    twice_learn,
)
from psephos._errors import ModelFileError
from psephos.models.boosting.common import hold_out_rows
from psephos.models.boosting.soft.memory import SoftInputs, centre_and_scale
from psephos.models.training import Training, distinct_rows, ordered_rows

FEW = {"max_depth": 3, "max_iter": 20, "random_state": 0}


def iris():
    return load_iris(return_X_y=True)


def same(a, b, X):
    assert_array_equal(a.predict_proba(X), b.predict_proba(X))


def test_two_classes_are_the_difference_of_two_outputs():
    X, y = load_breast_cancer(return_X_y=True)
    model = SoftGradientBoostingClassifier(4, learning_rate=0.5, **FEW).fit(X, y)
    memory = model.memory_
    assert memory.leaf.shape == (4, 2, 8)
    tree = model.vote_.voters
    assert_array_equal(tree.leaf[:, :, 0], memory.leaf[:, 1].astype(float) - memory.leaf[:, 0])
    assert_array_equal(model.vote_.constant_weights(), [0.5] * 4)
    assert model.score(X, y) > 0.97


def test_answers_are_those_of_the_trees_in_training():
    X, y = iris()
    model = SoftGradientBoostingClassifier(4, temperature=0.5, **FEW).fit(X, y)
    from psephos.models.boosting.soft.memory import plan_of

    labels = model.read(X, y)[1]
    trainer = model.memory_.trainer(plan_of(model, labels))
    margins = trainer.margins(model.memory_.inputs.rows(X))
    assert_allclose(model.decision_function(X), margins, atol=1e-4)


@pytest.mark.parametrize("sparse", [0.0, 0.3])
def test_a_warm_start_ends_no_worse_than_it_began(sparse):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 10))
    y = (X[:, 0] + rng.standard_normal(150) > 0).astype(int)
    model = SoftGradientBoostingClassifier(
        10, max_depth=4, validation_fraction=0.3, n_iter_no_change=3, warm_start=True,
        gate_lasso=sparse, random_state=0,
    ).fit(X, y)  # fmt: skip
    least, before = model.validation_losses_.min(), model.memory_
    model.set_params(learning_rate_init=0.5).fit(X, y)
    assert model.validation_losses_.min() > least
    assert (model.n_iter_, model.stopped_) == (0, "validation")
    assert_array_equal(model.memory_.leaf, before.leaf)
    for now, then in zip(model.memory_.first, before.first, strict=True):
        assert_array_equal(now, then)
    assert model.memory_.n_steps == before.n_steps


@pytest.mark.parametrize(
    ("name", "other"), [("temperature", 0.5), ("learning_rate", 2.0), ("gate_lasso", 0.2)]
)
def test_a_warm_start_reinterprets_no_parameter(name, other):
    X, y = iris()
    model = SoftGradientBoostingClassifier(2, warm_start=True, **FEW).fit(X, y)
    model.set_params(**{name: other})
    for going_on in (model.fit, model.partial_fit):
        with pytest.raises(PsephosError, match=f"{name}={other}, but the trees .* were fitted"):
            going_on(X, y)


@pytest.mark.parametrize("cls", [SoftTreeClassifier, SoftGradientBoostingRegressor])
def test_a_file_whose_memory_is_of_another_vote_is_refused(cls, tmp_path, monkeypatch):
    X, y = iris()
    X[:, 3] = y
    model = cls(max_depth=2, max_iter=3, categorical_features=[3], random_state=0).fit(X, y)
    path = tmp_path / "m.psephos"
    save(model, path)
    assert_array_equal(load(path).predict(X), model.predict(X))
    memory = model.memory_
    for changes in (
        {"gate": -memory.gate}, {"leaf": memory.leaf + memory.leaf**2}, {"temperature": 2.0},
        {"learning_rate": 3.0}, {"inputs": replace(memory.inputs, scale=2 * memory.inputs.scale)},
    ):  # fmt: skip
        model.memory_ = replace(memory, **changes)
        save(model, path)
        with pytest.raises(ModelFileError, match="not those of the vote"):
            load(path)


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_change_no_byte(threads):
    X, y = iris()
    with threadpool_limits(threads):
        model = SoftGradientBoostingClassifier(4, **FEW).fit(X, y)
    same(model, SoftGradientBoostingClassifier(4, **FEW).fit(X, y), X)


def test_the_order_of_rows_changes_no_byte():
    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    plain = SoftGradientBoostingClassifier(3, **FEW).fit(X, y)
    same(plain, SoftGradientBoostingClassifier(3, **FEW).fit(X[order], y[order]), X)


@pytest.mark.parametrize("sparse", [0.0, 0.4])
def test_a_warm_start_goes_on_as_if_it_had_not_stopped(sparse):
    X, y = iris()
    whole = SoftGradientBoostingClassifier(4, gate_lasso=sparse, **FEW).fit(X, y)
    half = clone(whole).set_params(max_iter=10, warm_start=True).fit(X, y).fit(X, y)
    same(whole, half, X)
    assert len(half.loss_curve_) == 10
    with pytest.raises(PsephosError, match=r"n_estimators=5, but .* n_estimators=4"):
        half.set_params(n_estimators=5).fit(X, y)


def test_partial_fit_takes_a_step_a_batch():
    X, y = iris()
    settings = {"batch_size": 50, "max_depth": 2, "random_state": 0}
    at_once = SoftGradientBoostingClassifier(3, **settings)
    parts = clone(at_once)
    order = np.random.default_rng(0).permutation(150)
    X, y = X[order], y[order]
    at_once.partial_fit(X[:50], y[:50], classes=[0, 1, 2]).partial_fit(X[50:], y[50:])
    for start in (0, 50, 100):
        parts.partial_fit(X[start : start + 50], y[start : start + 50], [0, 1, 2])
    same(at_once, parts, X)
    assert parts.memory_.n_steps == 3
    before = parts.loss_curve_[0]
    for _ in range(60):
        parts.partial_fit(X, y)
    assert parts.loss_curve_[0] < before / 2
    assert parts.score(X, y) > 0.9


@pytest.mark.parametrize("cls", [SoftTreeClassifier, SoftTreeRegressor])
def test_a_stream_begins_with_a_sample(cls):
    X, y = iris()
    known = {"classes": [0, 1, 2]} if cls is SoftTreeClassifier else {}
    with pytest.raises(PsephosError, match=r"1 row, in which no column varies.*representative"):
        cls(2).partial_fit(X[:1], y[:1], **known)
    with pytest.raises(PsephosError, match="no column varies"):
        cls(2).partial_fit(X[[0, 0, 0]], y[:3], **known)
    X[:50, 2] = 7.0
    with pytest.warns(UserWarning, match=r"column 2: constant in the first call"):
        model = cls(2, random_state=0).partial_fit(X[:50], y[:50], **known)
    assert_array_equal(model.partial_fit(X, y).features_used_, [0, 1, 3])


@pytest.mark.parametrize("cls", [SoftGradientBoostingRegressor, SoftTreeRegressor])
def test_a_number_that_never_varies_is_answered_exactly(cls):
    X, Y = load_linnerud(return_X_y=True)
    model = cls(max_depth=2, max_iter=30, random_state=0)
    constant = clone(model).fit(X, np.full(20, 0.1))
    assert_array_equal(constant.predict(X + 1.0), np.full(20, 0.1))
    assert constant.n_features_used_ == 0
    Y[:, 1] = 1 / 3
    several = clone(model).fit(X, Y)
    assert_array_equal(several.predict(X)[:, 1], Y[:, 1])
    assert several.n_features_used_ == 3
    assert np.ptp(several.predict(X)[:, 0]) > 1.0


def test_a_stream_of_probabilities_is_learned():
    X, y = iris()
    names = np.array(["setosa", "versicolor", "virginica"])
    forest = RandomForestClassifier(30, min_samples_leaf=20, random_state=0).fit(X, names[y])
    chances, order = forest.predict_proba(X), [2, 0, 1]
    plain = SoftTreeClassifier(3, random_state=0)
    other, frame = clone(plain), clone(plain)
    for turn in range(100):
        for k in range(3):
            rows, said = X[k::3], chances[k::3]
            plain.partial_fit(rows, said, names)
            if turn < 5:
                other.partial_fit(rows, said[:, order], names[order])
                frame.partial_fit(rows, pd.DataFrame(said[:, order], columns=names[order]))
        if turn == 4:
            same(plain, other, X)
            same(plain, frame, X)
            ones = deepcopy(plain).partial_fit(X, np.eye(3)[y])
            same(ones, other.partial_fit(X, names[y]), X)
    assert np.abs(plain.predict_proba(X) - chances).mean() < 0.05
    assert plain.classes_.tolist() == names.tolist()
    hard, soft = (clone(plain).set_params(class_weight={"setosa": 3.0}) for _ in range(2))
    same(hard.partial_fit(X, names[y]), soft.partial_fit(X, np.eye(3)[y], names), X)
    for y, classes, words in (
        (np.full((150, 2), 0.5), None, "y has 2 columns, and there are 3 classes"),
        (chances / 2, None, "row 0 of y"),
        (chances, ["a", "b", "c"], "those of the first call"),
        (pd.DataFrame(chances, columns=["a", "b", "c"]), None, "those of the first call"),
        (chances, ["a", "a", "c"], "'a'"),
    ):
        with pytest.raises(PsephosError, match=words):
            plain.partial_fit(X, y, classes)
    assert clone(plain).partial_fit(X, chances).classes_.tolist() == [0, 1, 2]


def test_a_saved_model_learns_on(tmp_path):
    X, y = iris()
    model = SoftGradientBoostingClassifier(3, **FEW).fit(X, y)
    save(model, tmp_path / "m.psephos")
    loaded = load(tmp_path / "m.psephos")
    same(loaded.partial_fit(X, y), model.partial_fit(X, y), X)


@pytest.mark.parametrize("warm", [True, False])
def test_a_reduced_model_learns_on_from_its_columns(warm, tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    X[::3, 22:] = np.nan
    model = SoftGradientBoostingClassifier(3, gate_lasso=0.7, warm_start=warm, **FEW).fit(X, y)
    assert 0 < model.n_features_used_ < 30
    small, kept = model.reduce(), model.memory_
    save(small, tmp_path / "m.psephos")
    loaded = load(tmp_path / "m.psephos")
    read = X[:, model.vote_.columns]
    memory = small.memory_
    entered = kept.gate.any(axis=(0, 1))
    assert_array_equal(
        memory.gate[memory.gate != 0], kept.gate[:, :, entered][kept.gate[:, :, entered] != 0]
    )
    assert_array_equal(
        memory.inputs.rows(read)[:, memory.gate.any(axis=(0, 1))], kept.inputs.rows(X)[:, entered]
    )
    assert len(memory.first) == 3 * warm
    if warm:  # the means stay those of their columns
        at = memory.gate.any(axis=(0, 1))
        assert_array_equal(memory.first[0][:, :, at], kept.first[0][:, :, entered])
        assert memory.first[0].any()
    before = small.predict_proba(read)
    small.partial_fit(read, y)
    same(small, loaded.partial_fit(read, y), read)
    assert (small.predict_proba(read) != before).any()
    assert small.score(read, y) > 0.85


def test_a_reduced_model_that_reads_nothing_is_saved(tmp_path):
    X, y = iris()
    for cls in (SoftTreeClassifier, SoftGradientBoostingRegressor):
        none = cls(max_depth=2, gate_lasso=50.0, max_iter=2, random_state=0).fit(X, y).reduce()
        save(none, tmp_path / "m.psephos")
        assert load(tmp_path / "m.psephos").n_features_used_ == 0


def test_sparse_gates_are_exactly_zero_and_the_rest_are_found():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 500))
    y = X[:, 3] + X[:, 40] > 0
    few = {"max_depth": 2, "max_iter": 60, "random_state": 0}
    model = SoftGradientBoostingClassifier(5, gate_lasso=0.6, **few).fit(X, y)
    assert {3, 40} <= set(model.features_used_.tolist())
    assert model.n_features_used_ < 50
    assert_array_equal(model.memory_.inputs.source, model.features_used_)
    going_on = clone(model).set_params(warm_start=True).fit(X, y).memory_  # all may enter yet
    unread = np.setdiff1d(np.arange(500), model.features_used_)
    assert not going_on.gate[:, :, unread].any()
    none = SoftGradientBoostingClassifier(5, gate_lasso=50.0, **few).fit(X, y)
    assert none.n_features_used_ == 0
    assert none.score(X, y) >= 0.5


def test_levels_of_a_category_enter_together_or_not_at_all():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 6))
    X[:, 1] = rng.integers(4, size=120)
    X[:, 2] = rng.integers(4, size=120)
    y = np.isin(X[:, 1], (1, 3))
    model = SoftTreeClassifier(
        2, gate_lasso=0.5, categorical_features=[1, 2], max_iter=60, random_state=0
    ).fit(X, y)
    inputs, gate = model.memory_.inputs, model.memory_.gate
    for j in (1, 2):
        used = gate[:, :, inputs.source == j].any(axis=(0, 1))
        assert used.all() or not used.any()
    assert 1 in model.features_used_
    assert model.score(X, y) > 0.95
    assert "column 1 = " in str(model.explain(X[:1]))


def test_a_missing_value_can_be_the_signal():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    y = rng.random(200) < 0.5
    X[y, 1] = np.nan
    model = SoftGradientBoostingClassifier(3, **FEW).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.feature_importances_.argmax() == 1


def test_columns_of_one_value_are_not_read():
    X, y = iris()
    X = np.column_stack([X, np.full(150, 7.0), np.full(150, np.nan)])
    model = SoftTreeClassifier(**FEW).fit(X, y)
    assert_array_equal(model.features_used_, range(4))
    gaps = X.copy()
    gaps[:50, 4] = np.nan  # one value, or none: that is told apart
    assert 4 in SoftTreeClassifier(**FEW).fit(gaps, y).features_used_
    nothing = SoftTreeClassifier(**FEW).fit(np.ones((150, 2)), y)
    assert nothing.n_features_used_ == 0
    assert_allclose(nothing.predict_proba(np.ones((1, 2))), 1 / 3, atol=0.05)


@pytest.mark.parametrize("cls", [SoftGradientBoostingRegressor, SoftTreeRegressor])
def test_several_numbers_share_trees(cls, tmp_path):
    X, Y = load_linnerud(return_X_y=True)
    model = cls(max_depth=3, max_iter=400, random_state=0).fit(X, Y)
    assert model.predict(X).shape == Y.shape
    assert model.score(X, Y) > 0.5
    assert_allclose(model.vote_.voters.parts[0].values[0], Y.mean(axis=0), rtol=1e-12)
    scaled = clone(model).fit(X, Y * 1e6 + 1e9)
    assert_allclose(scaled.predict(X), model.predict(X) * 1e6 + 1e9, rtol=1e-6)
    save(model, tmp_path / "m.psephos")
    assert_array_equal(load(tmp_path / "m.psephos").predict(X), model.predict(X))
    with pytest.raises(PsephosError, match="y has 2 numbers a row, the first call had 3"):
        model.partial_fit(X, Y[:, :2])
    assert model.partial_fit(X, Y, np.ones(20)).predict(X).shape == (20, 3)


def test_the_best_epoch_is_kept():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 10))
    y = (X[:, 0] + rng.standard_normal(150) > 0).astype(int)
    watched = SoftGradientBoostingClassifier(
        10, max_depth=4, validation_fraction=0.3, n_iter_no_change=5, random_state=0
    ).fit(X, y)
    assert watched.stopped_ == "validation"
    assert watched.n_iter_ == watched.validation_losses_.argmin() + 1
    assert len(watched.loss_curve_) == watched.n_iter_ + 5
    short = clone(watched).set_params(max_iter=watched.n_iter_).fit(X, y)
    same(watched, short, X)
    assert short.stopped_ == "all epochs"


@pytest.mark.parametrize("grouped", [True, False])
def test_the_validation_loss_is_that_of_the_held_out_rows_by_weight(grouped):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((160, 4))
    y = (X[:, 0] + rng.standard_normal(160) > 0).astype(int)
    X[80:], y[80:] = X[:80], y[:80]  # with groups, equal rows stay apart
    weight, groups = rng.exponential(size=160), rng.integers(40, size=160) if grouped else None
    model = SoftGradientBoostingClassifier(
        3, max_depth=2, max_iter=30, n_iter_no_change=30, validation_fraction=0.3, random_state=0
    ).fit(X, y, weight, groups=groups)
    table, labels, weight, context = model.read(X, y, weight, groups)
    data = Training(table, labels.target, labels.y, weight)
    if groups is None:
        data = ordered_rows(distinct_rows(data))
        assert len(data.y) == 80
    train, held = hold_out_rows(data, context, 0.3)
    if groups is not None:
        assert not set(groups[train]) & set(groups[held])
    chances = model.predict_proba(data.table.values[held])
    losses = -np.log(chances[np.arange(len(held)), data.y[held]])
    expected = np.average(losses, weights=data.weight[held])
    assert model.validation_losses_.min() == pytest.approx(expected, rel=1e-4)


def test_too_large_steps_are_told():
    X, y = load_linnerud(return_X_y=True)
    model = SoftGradientBoostingRegressor(3, learning_rate_init=1e30, **FEW)
    with pytest.raises(PsephosError, match="lower learning_rate_init"):
        model.fit(X, y)


def test_probabilities_are_learned_in_place_of_labels():
    X, y = iris()
    names = np.array(["setosa", "versicolor", "virginica"])
    forest = RandomForestClassifier(30, min_samples_leaf=20, random_state=0).fit(X, names[y])
    student = SoftTreeClassifier(4, max_iter=300, random_state=0).distill(forest, X)
    assert student.classes_.tolist() == names.tolist()
    gap = np.abs(student.predict_proba(X) - forest.predict_proba(X)).mean()
    assert gap < 0.03
    hard = clone(student).fit(X, names[y])
    assert gap < np.abs(hard.predict_proba(X) - forest.predict_proba(X)).mean()
    boosted = SoftGradientBoostingClassifier(5, max_depth=3, random_state=0).distill(forest, X)
    assert (boosted.predict(X) == forest.predict(X)).mean() > 0.97
    table = clone(student).fit(X, forest.predict_proba(X))  # classes are counted
    assert_array_equal(table.predict_proba(X), student.predict_proba(X))
    assert table.classes_.tolist() == [0, 1, 2]
    with pytest.raises(PsephosError, match="LinearSVC has no probabilities"):
        student.distill(LinearSVC().fit(X, y), X)


def test_a_regressor_learns_a_teacher_s_numbers():
    X, Y = load_linnerud(return_X_y=True)
    teacher = RandomForestRegressor(20, random_state=0).fit(X, Y)
    student = SoftGradientBoostingRegressor(5, max_depth=3, max_iter=600, random_state=0)
    student.distill(teacher, X)
    assert student.score(X, teacher.predict(X)) > 0.9


def test_weights_of_any_size_train_the_same():
    X, y = iris()
    plain = SoftGradientBoostingClassifier(3, **FEW).fit(X, y)
    scaled = clone(plain).fit(X, y, np.full(150, 2.0**-40))
    same(plain, scaled, X)


def test_inputs_are_standardised_by_weight_and_gaps_are_told():
    X = np.array([[1.0, 5.0], [3.0, np.nan], [5.0, 7.0]])
    centre, scale = centre_and_scale(X, np.array([1.0, 1.0, 2.0]))
    assert_allclose(centre, [3.5, (5 + 14) / 3])
    assert_allclose(scale[0], np.sqrt((2.5**2 + 0.5**2 + 2 * 1.5**2) / 4))
    table = SoftTreeRegressor().read(X, np.arange(3.0))[0]
    inputs = SoftInputs.of(table, np.ones(3))
    rows = inputs.rows(X)
    assert rows.dtype == np.float32
    assert_array_equal(rows[:, 2], [0, 1, 0])
    assert rows[1, 1] == 0
    assert_array_equal(inputs.group, [0, 1, 1])
    reduced, kept = inputs.select(np.array([1]))
    assert_array_equal(kept, [1, 2])
    assert_array_equal(reduced.rows(X[:, 1:]), rows[:, 1:])


def test_fat_tables_are_compared_with_sparse_gates():
    from psephos.estimator.contender import Shape
    from psephos.protocol import known_models

    contender = known_models()["soft-boosting"]
    drawn = {"gate_lasso": 0.8, "n_estimators": 7}
    wide = contender.build(drawn, Shape(5000, 2), 0)
    assert (wide.gate_lasso, wide.n_estimators, wide.batch_size) == (0.8, 7, 1024)
    assert contender.build({}, Shape(5000, 2), 0).gate_lasso == 0.3
    assert contender.build(drawn, Shape(20, 2), 0).gate_lasso == 0.0


@pytest.mark.parametrize(("first", "then"), [(0.8, 0.0), (0.0, 5.0), (0.8, 0.3)])
def test_trees_go_on_with_the_lasso_they_were_fitted_with(first, then):
    X, y = load_iris(return_X_y=True)
    model = SoftTreeClassifier(2, gate_lasso=first, max_iter=2, warm_start=True, random_state=0)
    model.fit(X, y).set_params(gate_lasso=then)
    for going_on in (model.fit, model.partial_fit):
        with pytest.raises(PsephosError, match=f"gate_lasso={then}, but the trees to go on from"):
            going_on(X, y)


def test_the_last_step_is_looked_at():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(PsephosError, match="in epoch 1: lower learning_rate_init"):
        SoftTreeClassifier(learning_rate_init=1e39, max_iter=1, random_state=0).fit(X, y)


def test_weights_of_twice_learning_are_weights():
    X, y = load_iris(return_X_y=True)
    teacher = RandomForestClassifier(5, random_state=0).fit(X, y)
    for weight in (np.full(150, np.nan), np.full(150, -1.0), np.ones(149)):
        with pytest.raises(PsephosError, match=r"sample_weight"):
            twice_learn(CARTClassifier(), teacher, X, weight)

    class Keyword(DecisionTreeClassifier):
        def fit(self, X, y, eval_set=None, sample_weight=None):
            assert eval_set is None
            return super().fit(X, y, sample_weight)

    alone = twice_learn(DecisionTreeClassifier(random_state=0), teacher, X)
    found = twice_learn(Keyword(random_state=0), teacher, X)
    assert_array_equal(found.predict_proba(X), alone.predict_proba(X))


def pretend_torch(monkeypatch, asarray):
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(asarray=asarray))


def test_training_on_a_device_hands_all_arrays_there(monkeypatch):
    X, y = iris()
    sent = []

    def asarray(array, device):
        sent.append((device, array.dtype.kind))
        return array

    pretend_torch(monkeypatch, asarray)
    for more in ({}, {"gate_lasso": 0.3, "validation_fraction": 0.3}):
        here = SoftGradientBoostingClassifier(3, warm_start=True, **more, **FEW).fit(X, y)
        there = clone(here).set_params(device="cuda:0").fit(X, y)
        same(here, there, X)
        same(here.fit(X, y), there.fit(X, y), X)
        assert_array_equal(here.loss_curve_, there.loss_curve_)
    # rows, answers, weights, three arrays of trees, once a fit; means of Adam in those that go on
    assert {device for device, _ in sent} == {"cuda:0"}
    assert len(sent) == 2 * (6 + 6 + 6)


def test_a_device_that_is_not_there_is_a_sentence(monkeypatch):
    X, y = iris()
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(PsephosError, match="device='cuda' needs PyTorch"):
        SoftTreeClassifier(device="cuda").fit(X, y)

    def asarray(array, device):
        raise RuntimeError(f"Invalid device string: '{device}'\nand more")

    pretend_torch(monkeypatch, asarray)
    with pytest.raises(PsephosError, match="device must be one that PyTorch has here"):
        SoftTreeClassifier(device="cud").fit(X, y)
    with pytest.raises(PsephosError, match="'device' must be a text"):
        SoftTreeClassifier(device=0).fit(X, y)
