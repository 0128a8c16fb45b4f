"""CART as an estimator: what it reads, what it answers, and what it does with odd tables."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

import psephos
from psephos import CARTClassifier, CARTRegressor, PsephosError
from psephos._errors import UnknownLevelWarning
from psephos.vote.target import CostTarget, Target

X, Y = load_iris(return_X_y=True)
X2, Y2 = load_breast_cancer(return_X_y=True)
X0, Y0 = load_diabetes(return_X_y=True)
PLAIN = {"n_folds": 0}


def with_holes(X, share=0.3, seed=0):
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


# ---------------------------------------------------------------------- what it answers
def test_answers_are_the_nodes_of_least_loss():
    loss = np.array([[0, 1, 1], [4, 0, 1], [1, 9, 0.0]])
    model = CARTClassifier(loss=loss, cp=0.001, min_samples_split=4, **PLAIN).fit(X, Y)
    expected = model.predict_proba(X) @ loss
    assert_array_equal(model.predict(X), expected.argmin(axis=1))
    assert isinstance(model.vote_.target, CostTarget)
    dear = CARTClassifier(loss=[[0, 1], [100, 0]], **PLAIN).fit(X2, Y2)
    plain = CARTClassifier(**PLAIN).fit(X2, Y2)
    assert type(plain.vote_.target) is Target
    assert (dear.predict(X2)[Y2 == 1] == 1).all()
    assert (plain.predict(X2)[Y2 == 1] == 0).any()


def test_rows_without_any_value_do_not_unbalance_the_classes():
    holed = X2.copy()
    holed[np.flatnonzero(Y2 == 1)[:200]] = np.nan
    kept = ~np.isnan(holed).all(axis=1)
    balanced = {"class_weight": "balanced", "cp": 0.001, **PLAIN}
    found = CARTClassifier(**balanced).fit(holed, Y2)
    expected = CARTClassifier(**balanced).fit(X2[kept], Y2[kept])
    assert_allclose(found.predict_proba(X2), expected.predict_proba(X2), rtol=1e-12)
    root = CARTClassifier(**{**balanced, "cp": 1.0}).fit(holed, Y2)
    assert_allclose(root.predict_proba(X2[:1]), [[0.5, 0.5]], rtol=1e-12)


def test_answers_with_losses_survive_the_file(tmp_path):
    model = CARTClassifier(loss=[[0, 1], [100, 0]], random_state=0).fit(X2, Y2)
    psephos.save(model, tmp_path / "a")
    again = psephos.load(tmp_path / "a")
    assert_array_equal(again.predict(X2), model.predict(X2))
    for name, column in model.splits_.items():
        assert_array_equal(again.splits_[name], column)
    for name, column in model.cptable_.items():
        assert_array_equal(again.cptable_[name], column)


@pytest.mark.parametrize("k", [3, 6, 11])
def test_the_first_of_equal_classes_is_the_answer(k):
    """A vote of codes must not prefer a class by rounding."""
    for ties in range(2, k + 1):
        y = np.concatenate([np.arange(k), np.tile(np.arange(k - ties, k), 9)])
        model = CARTClassifier(**PLAIN).fit(np.zeros((len(y), 1)), y)
        assert model.predict([[0.0]]) == [k - ties]


def test_priors_are_the_shares_of_the_root():
    model = CARTClassifier(priors=[0.2, 0.5, 0.3], cp=1.0, **PLAIN).fit(X, Y)
    assert_allclose(model.predict_proba(X[:1]), [[0.2, 0.5, 0.3]])
    assert model.get_n_leaves() == 1


def test_costs_of_columns_are_divided_by():
    cheap = CARTClassifier(**PLAIN).fit(X, Y)
    costs = np.ones(4)
    costs[[2, 3]] = 1000.0
    dear = CARTClassifier(costs=costs, **PLAIN).fit(X, Y)
    assert set(cheap.tree_.column[cheap.tree_.column >= 0]) <= {2, 3}
    assert set(dear.tree_.column[dear.tree_.column >= 0]) <= {0, 1}


def test_surrogates_answer_where_the_column_is_missing():
    model = CARTClassifier(**PLAIN).fit(X, Y)
    first = int(model.tree_.column[0])
    blind = X.copy()
    blind[:, first] = np.nan
    assert model.score(blind, Y) > 0.9
    alone = CARTClassifier(max_surrogates=0, **PLAIN).fit(X, Y)
    assert alone.score(blind, Y) < model.score(blind, Y)
    assert_array_equal(alone.features_used_, model.features_used_)
    assert len(model.features_backup_)
    assert not len(alone.features_backup_)
    small = model.reduce(backup=False)
    assert_array_equal(small.predict(blind[:, model.features_used_]), alone.predict(blind))


def test_a_column_of_a_rule_is_no_backup_even_as_a_surrogate():
    model = CARTClassifier(**PLAIN).fit(X2, Y2)
    tree = model.tree_
    rules = np.unique(tree.column[tree.column >= 0])
    assert set(tree.surrogates.column) & set(rules)  # else this shows nothing
    assert_array_equal(model.features_used_, rules)
    spare = np.setdiff1d(tree.surrogates.column, rules)
    assert_array_equal(model.features_backup_, spare)
    assert f"(and {len(spare)} more where those are missing)" in model.describe()[0]
    assert f"reads {len(rules)} of 30 columns" in model.describe()[0]


def test_a_surrogate_of_a_rule_that_lacks_a_category_is_used():
    """A category that a node has not seen is as missing there: complete cases ask the surrogate."""
    rng = np.random.default_rng(0)
    n = 400
    far = rng.random(n) < 0.5
    here, there = rng.choice(2, n, p=[0.2, 0.8]), rng.choice(4, n, p=[0, 0.6, 0.2, 0.2])
    kind = np.where(far, here, there).astype(float)
    twin = ((kind == 1) ^ (rng.random(n) < 0.1)) + 0.01 * rng.standard_normal(n)
    table = np.column_stack([far.astype(float), kind, twin])
    y = np.where(far, kind == 1, rng.random(n) < 0.02).astype(int)
    model = CARTClassifier(categorical_features=[1], **PLAIN).fit(table, y)
    tree = model.tree_
    assert (tree.code_branch < 0).any()  # else this shows nothing
    assert 2 in tree.surrogates.column[tree.surrogates.ptr[0] :]
    assert 2 in model.features_used_
    small = model.reduce(backup=False)
    cases = table.copy()
    cases[:, model.features_backup_] = np.nan
    assert_array_equal(model.predict_proba(cases), model.predict_proba(table))
    read = table[:, model.features_used_]
    assert_array_equal(small.predict_proba(read), model.predict_proba(table))


def test_a_tied_level_of_a_surrogate_goes_as_rpart_sends_it():
    """Most rows are left, but those with a value of s tie, and a tie goes right (rpart 4.1.19)."""
    x = np.repeat([0.0, 1.0, 0.0], [11, 10, 2])
    s = [0] + [1] * 7 + [np.nan] * 3 + [0] + [2] * 7 + [1] * 2 + [2] * 2
    X = np.column_stack([x, s])
    model = CARTClassifier(
        min_samples_split=4, min_samples_leaf=1, n_folds=0, categorical_features=[1]
    ).fit(X, x.astype(int))  # fmt: skip
    assert model.predict([[np.nan, 0.0], [np.nan, 1.0], [np.nan, 2.0]]).tolist() == [1, 0, 1]


def test_rows_that_no_rule_sends_stay():
    model = CARTClassifier(use_surrogates="none", **PLAIN).fit(X, Y)
    assert_allclose(model.predict_proba(np.full((1, 4), np.nan)), [[1 / 3, 1 / 3, 1 / 3]])
    assert set(model.splits_["role"]) == {"primary", "competitor", "surrogate"}
    assert model.n_features_used_ == len(np.unique(model.tree_.column[model.tree_.column >= 0]))


def test_a_number_at_the_threshold_is_not_below_it():
    x = np.repeat([0.0, 2.0], 10)[:, None]
    model = CARTRegressor(**PLAIN).fit(x, x[:, 0])
    assert model.tree_.threshold[0] == 1.0
    assert_array_equal(model.predict([[0.99], [1.0]]), [0.0, 2.0])


def test_the_first_of_equal_losses_is_the_answer():
    shares = np.array([[0.4, 0.35, 0.25], [0.2, 0.4, 0.4], [1.0, 0.0, 0.0]])
    loss = np.array([[0, 2, 2], [3, 0, 1], [3, 1, 0.0]])
    target = CostTarget(np.array(["a", "b", "c"]), loss)
    expected = (shares @ loss).round(12).argmin(axis=1)
    assert_array_equal(target.answers(shares @ target.code), expected)
    assert target.words(shares @ target.code) == target.classes[expected].tolist()
    pair = CostTarget(np.array([0, 1]), np.array([[0, 1], [3, 0.0]]))
    assert_array_equal(pair.answers(np.array([[-0.6], [-0.5], [-0.4]])), [0, 0, 1])
    for wrong in (np.zeros(2), np.ones((2, 2), int), np.full((2, 2), np.nan), -np.eye(2)):
        with pytest.raises(PsephosError, match="losses must be"):
            CostTarget(np.array([0, 1]), wrong)


# ---------------------------------------------------------------------- pruning
@pytest.mark.parametrize(("model", "X", "y"), [
    (CARTClassifier(cp=0.0, random_state=0), X2, Y2),
    (CARTRegressor(cp=0.0, random_state=0), X0, Y0),
])  # fmt: skip
def test_pruned_is_fitted_with_that_cp(model, X, y):
    model.fit(X, y)
    table = model.cptable_
    for cp, splits in zip(table["cp"][:6], table["n_splits"][:6], strict=True):
        smaller = model.prune(cp)
        assert smaller.get_n_leaves() == splits + 1
        rows = len(smaller.cptable_["cp"])
        assert_array_equal(smaller.cptable_["n_splits"], table["n_splits"][:rows])
        again = type(model)(cp=cp * (1 + 1e-9), n_folds=0).fit(X, y)
        assert_array_equal(again.predict(X), smaller.predict(X))
        assert_array_equal(again.variable_importance_, smaller.variable_importance_)
        assert type(smaller) is type(model)
    with pytest.raises(PsephosError, match=r"cp must be .*; got -1"):
        model.prune(-1)


def test_one_standard_error_prunes_to_that_row():
    folds = np.arange(len(Y2)) % 10
    whole = CARTClassifier(cp=0.0, folds=folds).fit(X2, Y2)
    table = whole.cptable_
    best = table["xerror"].argmin()
    row = np.flatnonzero(table["xerror"] <= table["xerror"][best] + table["xstd"][best])[0]
    pruned = CARTClassifier(cp=0.0, folds=folds, one_standard_error=True).fit(X2, Y2)
    assert pruned.get_n_leaves() == table["n_splits"][row] + 1
    assert_array_equal(pruned.predict(X2), whole.prune(table["cp"][row]).predict(X2))
    with pytest.raises(PsephosError, match="one_standard_error needs"):
        CARTClassifier(n_folds=0, one_standard_error=True).fit(X, Y)


def test_folds_are_drawn_by_the_seed_and_respect_groups():
    one, two, other = (
        CARTRegressor(random_state=seed, n_jobs=jobs).fit(X0, Y0).cptable_["xerror"]
        for seed, jobs in ((0, 1), (0, 3), (1, 1))
    )
    assert one.tobytes() == two.tobytes()
    assert one.tobytes() != other.tobytes()
    groups = np.arange(len(Y)) % 3
    given = CARTClassifier(folds=groups).fit(X, Y).cptable_["xerror"]
    drawn = CARTClassifier(n_folds=10, random_state=0).fit(X, Y, groups=groups).cptable_["xerror"]
    assert_allclose(drawn, given)  # three groups: three folds, whichever is left out first
    assert "xerror" not in CARTClassifier(n_folds=0).fit(X, Y).cptable_


def test_rows_of_weight_zero_have_no_fold():
    weight = (np.arange(len(Y)) % 5 > 0) * 1.0
    folds = np.arange(len(Y)) % 7
    kept = weight > 0
    one = CARTClassifier(folds=folds).fit(X, Y, weight).cptable_
    two = CARTClassifier(folds=folds[kept]).fit(X[kept], Y[kept]).cptable_
    assert_array_equal(one["xerror"], two["xerror"])


# ---------------------------------------------------------------------- what it reads
def test_tables_of_nodes_and_splits():
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["a", "b", "c", "d"])
    model = CARTClassifier(random_state=0).fit(frame, Y)
    nodes, splits = model.nodes_, model.splits_
    assert nodes["number"].tolist() == [1, 2, 3, 6, 7]
    assert nodes["n_rows"].tolist() == [150, 50, 100, 54, 46]
    assert_allclose(nodes["risk"], [100, 0, 50, 5, 1])
    own = splits["role"] == "primary"
    assert splits["column"][own].tolist() == ["c", "d"]
    assert splits["below"][own].tolist() == ["left", "left"]
    assert_allclose(splits["threshold"][own], [2.45, 1.75])
    assert len({len(column) for column in splits.values()}) == 1
    others = model.competitors_
    assert others["column"].tolist() == splits["column"][splits["role"] == "competitor"].tolist()
    assert (others["improve"][others["node"] == 1] <= splits["improve"][0]).all()
    order = model.variable_importance_.argsort()[::-1]
    assert order.tolist() == [3, 2, 0, 1]
    reduced = model.reduce()
    assert_array_equal(reduced.splits_["improve"], splits["improve"])


def test_reduced_growth_forgets_competitors_on_other_columns():
    model = CARTClassifier(max_surrogates=0, random_state=0).fit(X2, Y2)
    reduced = model.reduce()
    assert reduced.n_features_in_ < 30
    assert len(reduced.splits_["role"]) < len(model.splits_["role"])
    own, kept = (m.splits_["role"] == "primary" for m in (model, reduced))
    assert_array_equal(reduced.splits_["threshold"][kept], model.splits_["threshold"][own])
    assert_array_equal(
        reduced.variable_importance_, model.variable_importance_[model.vote_.columns]
    )
    cp = model.cptable_["cp"][1]
    seen = X2[:, model.vote_.columns]
    assert_array_equal(reduced.prune(cp).predict(seen), model.prune(cp).predict(X2))


def test_sparse_tables_are_read_alike():
    table = np.where(np.random.default_rng(0).random(X0.shape) < 0.6, 0.0, X0)
    table[::7, 2] = np.nan
    dense = CARTRegressor(random_state=0).fit(table, Y0)
    for kind in (sp.csr_array, sp.csc_array):
        other = CARTRegressor(random_state=0).fit(kind(table), Y0)
        assert_array_equal(other.predict(kind(table)), dense.predict(table))
        assert_array_equal(other.cptable_["xerror"], dense.cptable_["xerror"])


def test_categories_in_words():
    frame = pytest.importorskip("pandas").DataFrame
    rng = np.random.default_rng(0)
    word = rng.choice(["ash", "beech", "cedar", "dogwood"], 200)
    y = np.where(np.isin(word, ["ash", "cedar"]), "even", "odd")
    table = frame({"tree": word, "noise": rng.standard_normal(200)}).astype({"tree": "category"})
    model = CARTClassifier(random_state=0).fit(table, y)
    assert model.score(table, y) == 1.0
    assert model.tree_.column.tolist() == [0, -1, -1]
    assert "ash, cedar" in model.describe()[1]
    strange = frame({"tree": ["elm"], "noise": [0.0]}).astype({"tree": "category"})
    with pytest.warns(UnknownLevelWarning):
        assert model.predict(strange)[0] in ("even", "odd")


def test_whole_weights_are_numbers_of_rows():
    """Ten rows of weight 3 are split as thirty; by parts of a weight they are ten rows."""
    x, y = np.arange(10.0)[:, None], np.repeat([0, 1], 5)
    assert CARTClassifier(**PLAIN).fit(x, y).get_n_leaves() == 1
    assert CARTClassifier(**PLAIN).fit(x, y, np.full(10, 3.0)).get_n_leaves() == 2
    assert CARTClassifier(**PLAIN).fit(x, y, np.full(10, 2.5)).get_n_leaves() == 1


# ---------------------------------------------------------------------- odd tables
@settings(max_examples=25)
@given(
    n=st.integers(1, 30), p=st.integers(1, 4), share=st.sampled_from([0.0, 0.4, 0.9, 1.0]),
    levels=st.integers(1, 3), seed=st.integers(0, 99),
)  # fmt: skip
def test_any_table_gives_a_tree(n, p, share, levels, seed):
    """Ties, holes, constant columns and single rows: finite answers, the prunings in order."""
    rng = np.random.default_rng(seed)
    table = with_holes(rng.integers(0, levels, (n, p)) * 1.0, share, seed)
    weight = rng.choice([0.5, 1.0, 2.0], n)
    options = {"cp": 0.0, "min_samples_split": 2, "n_folds": 3, "random_state": 0}
    options |= {"categorical_features": [0]}
    models = [CARTRegressor(**options).fit(table, rng.standard_normal(n), weight)]
    if n > 1:
        y = np.concatenate([[0, 1], rng.integers(0, 3, n - 2)])
        models.append(CARTClassifier(**options).fit(table, y, weight))
    for model in models:
        assert np.isfinite(model.predict(table)).all()
        found = model.cptable_
        assert (np.diff(found["cp"]) < 0).all()
        assert found["n_splits"][0] == 0
        assert found["n_splits"][-1] == model.get_n_leaves() - 1
        assert (np.diff(found["rel_error"]) <= 1e-12).all()
        assert all(np.isfinite(column).all() for column in found.values())


def test_weight_on_one_row():
    weight = np.zeros(len(Y0))
    weight[7] = 3.0
    model = CARTRegressor().fit(X0, Y0, weight)
    assert_array_equal(model.predict(X0[:2]), Y0[7])
    with pytest.raises(PsephosError, match="must have at least two classes"):
        CARTClassifier().fit(X, Y, np.arange(150) == 3)
    nearly = np.full(len(Y), 1e-300)
    nearly[3] = 1.0
    assert_array_equal(CARTClassifier(min_samples_split=2).fit(X, Y, nearly).predict(X), Y[3])


@pytest.mark.parametrize("k", [0, 2, 3])
def test_a_hundred_thousand_categories(k):
    rng = np.random.default_rng(0)
    code = np.concatenate([np.arange(100_000), rng.integers(0, 100_000, 20_000)])
    y = code % max(k, 2)
    kind = CARTClassifier if k else CARTRegressor
    model = kind(categorical_features=[0], **PLAIN).fit(code[:, None] * 1.0, y)
    assert_allclose(model.predict(code[:50, None] * 1.0), y[:50], atol=1e-12)
    assert model.get_n_leaves() == max(k, 2)


def test_a_hundred_thousand_columns():
    rng = np.random.default_rng(0)
    table = rng.standard_normal((20, 100_000))
    y = (table[:, 777] > 0).astype(int)
    table[:, 777] *= 2.0
    model = CARTClassifier(min_samples_split=4, n_folds=3, random_state=0).fit(table, y)
    assert model.score(table, y) == 1.0
    assert model.n_features_used_ <= 6


def test_numbers_too_large_are_named():
    with pytest.raises(PsephosError, match=r"\|y\| must be below"):
        CARTRegressor().fit(X0, Y0 * 1e200)
    model = CARTClassifier(**PLAIN).fit(X * 1e149, Y)
    assert_array_equal(model.predict(X * 1e149), CARTClassifier(**PLAIN).fit(X, Y).predict(X))


def test_constant_numbers_are_one_leaf():
    for value in (0.0, 0.1, -1e8, 1e-300):
        model = CARTRegressor(cp=0.0, min_samples_split=2, **PLAIN).fit(X0, np.full(len(Y0), value))
        assert model.get_n_leaves() == 1
        assert_allclose(model.predict(X0[:3]), value)


@pytest.mark.parametrize(("options", "words"), [
    ({"priors": [0.5, 0.5]}, "priors must be one share per class"),
    ({"priors": [0.5, 0.2, 0.2]}, "they sum to 0.9"),
    ({"loss": np.eye(3)}, "loss must be 0 on its diagonal"),
    ({"loss": [[0, 0, 0], [1, 0, 1], [1, 1, 0]]}, "loss must not have a row of zeros"),
    ({"costs": [1, 1, 1]}, "costs must be one number per column"),
    ({"costs": [1, 0, 1, 1]}, "that of column 1 is 0"),
    ({"folds": np.zeros(150)}, "folds must have at least two folds"),
    ({"folds": np.arange(3)}, "folds must have one fold per row"),
])  # fmt: skip
def test_wrong_arrays_are_named(options, words):
    with pytest.raises(PsephosError, match=words):
        CARTClassifier(**options).fit(X, Y)


def test_rows_that_no_rule_can_send_go_where_growth_sent_them():
    """The child of more weight, though it has fewer rows."""
    x = np.r_[np.zeros(20), np.ones(5), np.full(5, np.nan)][:, None]
    y = np.r_[np.zeros(20), np.ones(10)].astype(int)
    weight = np.r_[np.full(20, 0.5), np.full(5, 10.5), np.full(5, 0.5)]
    folds = np.arange(30) % 3
    model = CARTClassifier(cp=0.0, min_samples_split=2, folds=folds)
    model.fit(x, y, sample_weight=weight)
    assert model.cptable_["rel_error"][-1] == 0
    assert_array_equal(model.predict(x), y)


def test_every_pruning_is_the_row_of_its_complexity():
    """Weights whose sums round: the root alone comes first, and prune(cp) is that row's tree."""
    X = np.array([[1, 0], [3, 0], [1, 0], [0, 1], [3, 2.0]])
    model = CARTClassifier(min_samples_split=2, min_samples_leaf=1, folds=[0, 1, 0, 1, 1])
    model.fit(X, [0, 0, 1, 0, 0], sample_weight=[0.3, 0.3, 0.7, 0.2, 0.7])
    assert model.cptable_["n_splits"][0] == 0
    for cp, n_splits in zip(model.cptable_["cp"], model.cptable_["n_splits"], strict=True):
        assert model.prune(cp).get_n_leaves() == n_splits + 1


def test_more_spare_rules_than_columns_are_no_matter():
    many = CARTClassifier(max_competitors=10**9, max_surrogates=10**9, min_samples_split=10**20)
    assert many.fit(X, Y).get_n_leaves() == 1


# ---------------------------------------------------------------------- units
def waves(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    return X, X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.3 * rng.standard_normal(n)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unit", [-1000, -600, 600, 1000])
def test_weights_of_any_size(unit):
    X, z = waves()
    y = np.digitize(z, [-0.5, 0.7])
    heavy = np.full(len(z), np.ldexp(1.0, unit))
    for make, labels in ((CARTClassifier, y), (CARTRegressor, z)):
        model = make(n_folds=3, random_state=0).fit(X, labels, heavy)
        plain = make(n_folds=3, random_state=0).fit(X, labels, np.full(len(z), 0.5))
        assert_array_equal(model.predict(X), plain.predict(X))
        assert model.get_n_leaves() > 5
        for name, column in plain.cptable_.items():
            assert_allclose(model.cptable_[name], column)
        assert_allclose(model.tree_.counts / heavy[0], plain.tree_.counts / 0.5)
        assert_allclose(model.nodes_["risk"] / heavy[0], plain.nodes_["risk"] / 0.5)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unit", [-900, -250, 250, 460])
def test_numbers_of_any_size(unit):
    X, z = waves()
    model = CARTRegressor(n_folds=3, random_state=0).fit(X, np.ldexp(z, unit))
    plain = CARTRegressor(n_folds=3, random_state=0).fit(X, z)
    assert_array_equal(model.predict(X), np.ldexp(plain.predict(X), unit))
    for name, column in plain.cptable_.items():
        assert_allclose(model.cptable_[name], column)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_leaf_of_equal_numbers_answers_them_exactly(weighted):
    """Numbers are centred before they are summed: a leaf of twos answered 1.9999999999999998."""
    from sklearn.datasets import load_diabetes, load_iris

    for loader, unit in ((load_iris, 1.0), (load_diabetes, 1 / 7), (load_diabetes, 1e-40)):
        X, y = loader(return_X_y=True)
        X, y = X[::2], y[::2] * unit + 1000.0 * unit
        weight = np.random.default_rng(0).uniform(0.1, 9.0, len(y)) if weighted else None
        full = {"cp": 0, "min_samples_split": 2, "min_samples_leaf": 1, "max_depth": 62}
        model = CARTRegressor(n_folds=0, **full).fit(X, y, weight)
        same = model.predict(X) == y
        assert same.mean() > 0.95  # but for cuts that gain nothing
        means = CARTRegressor(n_folds=0).fit(X, y, weight)  # of leaves that are not pure
        leaf = means.predict(X)
        for value in np.unique(leaf):
            inside = leaf == value
            of = None if weight is None else weight[inside]
            assert np.isclose(value, np.average(y[inside], weights=of), rtol=1e-12)
