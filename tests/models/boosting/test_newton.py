"""What the recipes of second-order boosting promise."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from psephos import NewtonBoostingClassifier, NewtonBoostingRegressor, PsephosError, load, save
from psephos._errors import UnknownLevelWarning

METHODS = ["exact", "hist", "approx"]


def table(n=300, p=6, missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    number = X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.standard_normal(n)
    X[rng.random(X.shape) < missing] = np.nan
    return X, number


def classes(number, k=2):
    return np.array(["ham", "egg", "jam", "tea"])[np.digitize(number, np.linspace(-1, 1, k - 1))]


def small(method="exact", **params):
    return NewtonBoostingClassifier(
        method, **{"n_estimators": 6, "max_depth": 3, "random_state": 0, **params}
    )


def numbers(method="exact", **params):
    return NewtonBoostingRegressor(
        method, **{"n_estimators": 6, "max_depth": 3, "random_state": 0, **params}
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", [2, 4])
def test_methods_learn(method, k):
    X, number = table(600, missing=0.05)
    model = small(method, n_estimators=20).fit(X, classes(number, k))
    assert model.score(X, classes(number, k)) > 0.8
    assert model.vote_.n_voters == 1 + 20 * (1 if k == 2 else k)
    assert model.n_estimators_ == 20
    assert model.stopped_ == "all rounds"
    fit = numbers(method, n_estimators=20).fit(X, number)
    assert fit.score(X, number) > 0.7


def test_bins_lose_nothing_where_values_are_few():
    X, number = table(400)
    X = np.round(X, 1)
    X[::7, 3] = np.nan
    y = classes(number)
    exact = small().fit(X, y).decision_function(X)
    for other in (small("hist"), small("approx"), small("hist", max_bin=128)):
        assert_allclose(other.fit(X, y).decision_function(X), exact, atol=2e-5)


def test_a_tree_votes_for_its_own_class_only():
    X, number = table()
    model = small().fit(X, classes(number, 4))
    votes = model.vote_.votes(X)
    assert_allclose(votes[:, 0].sum(axis=1), 0, atol=1e-6)  # the base score is centred
    for t in range(1, model.vote_.n_voters):
        others = np.arange(4) != (t - 1) % 4
        assert (votes[:, t][:, others] == 0).all()


@pytest.mark.parametrize("method", METHODS)
def test_own_objective_is_the_built_in_one(method):
    X, number = table()
    y = classes(number)
    base = float(np.mean(y == "ham"))

    def log_loss(y, margin):
        e = np.exp(-margin)
        p = 1 / (1 + e)
        return p - y, p * (1 - p)

    built_in = small(method).fit(X, y)
    start = np.log(base / (1 - base))
    own = small(method, objective=log_loss, base_score=start).fit(X, y)
    assert_allclose(own.decision_function(X), built_in.decision_function(X), atol=1e-4)
    assert_allclose(own.predict_proba(X), built_in.predict_proba(X), atol=1e-4)

    def squares(y, margin):
        return margin - y, np.ones(len(y))

    own = numbers(method, objective=squares, base_score=float(number.mean())).fit(X, number)
    assert_allclose(own.predict(X), numbers(method).fit(X, number).predict(X), atol=1e-4)


def test_own_objective_of_many_classes_and_its_file(tmp_path):
    X, number = table()

    def brier(y, margin):
        return margin - np.eye(4)[y], np.ones(margin.shape)

    model = small(objective=brier).fit(X, classes(number, 4))
    assert model.score(X, classes(number, 4)) > 0.6
    save(model, tmp_path / "own.psephos")
    assert_array_equal(load(tmp_path / "own.psephos").predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("said", "word"),
    [
        (lambda y, m: m, "two arrays"),
        (lambda y, m: (m[:-1], m[:-1]), "shape"),
        (lambda y, m: (m + np.nan, m + 1), "finite"),
        (lambda y, m: (m, m - 1), "negative"),
    ],
)
def test_objective_that_says_nonsense(said, word):
    X, number = table()
    with pytest.raises(PsephosError, match=word):
        numbers(objective=said).fit(X, number)


@pytest.mark.parametrize("method", METHODS)
def test_early_stopping_keeps_the_best_round(method):
    X, number = table()
    rng = np.random.default_rng(1)
    params = {"n_estimators": 60, "validation_fraction": 0.3, "n_iter_no_change": 4}
    y = rng.permutation(classes(number))  # nothing to learn
    for model in (small(method, **params).fit(X, y), numbers(method, **params).fit(X, number)):
        losses = model.validation_losses_
        assert model.n_estimators_ == losses.argmin() + 1
        assert model.vote_.n_voters == 1 + model.n_estimators_
    short = small(method, **params).fit(X, y)
    assert short.stopped_ == "validation"
    assert len(short.validation_losses_) == short.n_estimators_ + 4 < 60


def test_watched_loss_is_the_held_out_loss_of_the_vote():
    X, number = table()
    groups = np.arange(300) // 3
    model = numbers(validation_fraction=0.2).fit(X, number, groups=groups)
    stages = list(model.staged_predict(X))
    assert len(stages) == 1 + model.n_estimators_
    assert_array_equal(stages[0], model.vote_.voters.parts[0].values[0, 0])  # from the base
    assert model.validation_losses_.min() < np.mean((number - number.mean()) ** 2)


def test_directions_by_name():
    X, number = table()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = numbers(monotone_constraints={"c": 1}, n_estimators=30).fit(frame, number)
    case = pd.concat([frame.iloc[[5]]] * 50)
    case["c"] = np.linspace(-3, 3, 50)
    assert (np.diff(model.predict(case)) >= -1e-12).all()
    with pytest.raises(PsephosError, match="not a column"):
        numbers(monotone_constraints={"z": 1}).fit(frame, number)
    for odd in ([[1], [0, 1]], [[1]], "up"):
        with pytest.raises(PsephosError, match="give -1, 0 or 1 for each of the 6 columns"):
            numbers(monotone_constraints=odd).fit(frame, number)
    frame["f"] = pd.Categorical(["x", "y"] * 150)
    with pytest.raises(PsephosError, match="no order"):
        numbers(monotone_constraints={"f": 1}).fit(frame, number)


@pytest.mark.parametrize("method", METHODS)
def test_categories(method):
    rng = np.random.default_rng(0)
    site = rng.choice(["a", "b", "c", "d", "e"], 400)
    y = np.isin(site, ["b", "d"]).astype(int)
    frame = pd.DataFrame({"noise": rng.standard_normal(400), "site": pd.Categorical(site)})
    model = small(method).fit(frame, y)
    assert model.score(frame, y) == 1.0
    assert model.n_features_used_ == 1
    assert "site in {" in model.describe()[2]
    strange = frame[:2].assign(site=pd.Categorical(["zebra", None]))
    with pytest.warns(UnknownLevelWarning):
        assert len(model.predict(strange)) == 2  # the unknown counts as missing


@pytest.mark.parametrize("method", METHODS)
def test_weights_and_sparse_tables(method):
    X, number = table()
    y = classes(number)
    X[np.abs(X) < 0.5] = 0.0
    dense = small(method).fit(X, y)
    thin = small(method).fit(sparse.csr_array(X), y)
    assert_array_equal(thin.decision_function(X), dense.decision_function(X))
    one = np.where(np.arange(300) == 7, 1.0, 0.0)
    with pytest.raises(PsephosError, match="class"):
        small(method).fit(X, y, sample_weight=one)
    alone = numbers(method).fit(X, number, sample_weight=one)
    assert_allclose(alone.predict(X), number[7], rtol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_wide_and_tiny_tables(method):
    rng = np.random.default_rng(0)
    wide = rng.standard_normal((12, 70_000)).astype(np.float32)  # more than 16 bits count
    y = np.arange(12) % 2
    wide[:, 66_666] = y
    model = small(method, n_estimators=2, min_child_weight=0.0).fit(wide, y)
    assert model.score(wide, y) == 1.0
    tiny = numbers(method).fit([[1.0]], [3.0])
    assert_array_equal(tiny.predict([[9.0], [np.nan]]), [3.0, 3.0])
    flat = small(method).fit(np.ones((6, 2)), [0, 1] * 3)
    assert flat.n_features_used_ == 0
    assert_allclose(flat.predict_proba(np.ones((1, 2))), 0.5)


@pytest.mark.parametrize("rate", [1e39, 3e38])
def test_answers_beyond_float32_are_refused(rate):
    X, number = table(60)
    with pytest.raises(
        PsephosError, match=r"learning_rate=.*the value of a leaf is beyond float32"
    ):
        numbers("hist", learning_rate=rate).fit(X, number)


def test_a_number_beyond_float32_is_greater_than_the_others():
    X, number = table()
    X[4, 2] = 1e100
    found = small().fit(X, classes(number)).predict_proba(X)
    X[4, 2] = 1e30
    assert_array_equal(small().fit(X, classes(number)).predict_proba(X), found)


@pytest.mark.parametrize("method", ["hist", "approx", "local"])
@pytest.mark.parametrize("k", [-900, -30, 30, 480])
def test_answers_do_not_depend_on_the_unit_of_the_columns(method, k):
    X, number = table(200, missing=0.1)
    given = {"proposal": "local"} if method == "local" else {}
    method = "approx" if given else method
    one = numbers(method, **given).fit(X, number)
    other = numbers(method, **given).fit(np.ldexp(X, k), number)
    new = 3.0 * table(200, missing=0.1, seed=1)[0]
    assert_array_equal(one.predict(new), other.predict(np.ldexp(new, k)))


@pytest.mark.parametrize("method", ["hist", "approx", "local"])
def test_values_that_float32_merges_are_cut_apart(method):
    given = {"proposal": "local"} if method == "local" else {}
    method = "approx" if given else method
    X = np.ones((60, 2))
    X[:, 0] = np.repeat([1e-60, 1e-55, 1.0], 20)
    y = (X[:, 0] == 1e-55).astype(int)
    with pytest.raises(UserWarning, match=r"'column 0' \(1 of 3\)"):
        small().fit(X, y)
    assert small(method, **given).fit(X, y).score(X, y) == 1.0


def test_exact_warns_only_of_columns_where_float32_merges_more_than_chance():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20_000, 2)), np.arange(20_000) % 2
    assert len(np.unique(X[:, 0].astype(np.float32))) < 20_000
    model = small(n_estimators=1)
    model.fit(X, y)
    with pytest.raises(UserWarning, match="'column 1'"):
        model.fit(np.column_stack([X[:, 0], 1000 + X[:, 1] / 1000]), y)


def test_base_score():
    X, number = table()
    y = classes(number)
    assert_allclose(small(base_score=0.5).fit(X, y).vote_.voters.parts[0].values, 0)
    with pytest.raises(PsephosError, match="probability"):
        small(base_score=2.0).fit(X, y)
    assert_allclose(numbers(base_score=2.0).fit(X, number).vote_.voters.parts[0].values, 2)


@pytest.mark.parametrize("method", METHODS)
def test_same_seed_same_bytes_for_any_number_of_threads(method):
    X, number = table(missing=0.1)
    params = {"subsample": 0.6, "colsample_bytree": 0.7, "colsample_bynode": 0.7}
    y = classes(number, 4)
    answers = [
        small(method, n_jobs=jobs, **params).fit(X, y).decision_function(X) for jobs in (None, 1, 2)
    ]
    assert_array_equal(answers[0], answers[1])
    assert_array_equal(answers[0], answers[2])
    assert (small(method, **{**params, "random_state": 1}).fit(X, y).decision_function(X)
            != answers[0]).any()  # fmt: skip


# ---------------------------------------------------------------------- orders of growth
BINNED = ["hist", "approx"]


def sizes(model):
    """Return the number of leaves of each tree."""
    trees = model.vote_.voters.parts[1]
    return np.add.reduceat((trees.feature < 0).astype(int), trees.root)


@pytest.mark.parametrize("method", BINNED)
@pytest.mark.parametrize("policy", ["depthwise", "lossguide"])
def test_leaves_are_limited(method, policy):
    X, number = table(missing=0.1)
    params = {"max_leaves": 5, "grow_policy": policy, "max_depth": None}
    model = numbers(method, **params).fit(X, number)
    assert_array_equal(sizes(model), 5)
    same = numbers(method, n_jobs=2, **params).fit(X, number)
    assert_array_equal(same.predict(X), model.predict(X))


@pytest.mark.parametrize("method", BINNED)
def test_the_order_matters_only_where_leaves_are_limited(method):
    X, number = table(missing=0.1)
    plain = numbers(method).fit(X, number).predict(X)
    for params in ({"grow_policy": "lossguide"}, {"max_leaves": 8}, {"max_leaves": 300}):
        assert_array_equal(numbers(method, **params).fit(X, number).predict(X), plain)
    few = numbers(method, max_leaves=5).fit(X, number)
    best = numbers(method, max_leaves=5, grow_policy="lossguide").fit(X, number)
    assert best.score(X, number) > few.score(X, number)


@pytest.mark.parametrize("method", METHODS)
def test_depth_need_not_be_limited(method):
    X, number = table(60)
    free = {"max_depth": None, "min_child_weight": 0.0, "reg_lambda": 0.0, "n_estimators": 1}
    model = numbers(method, learning_rate=1.0, **free).fit(X, number)
    assert_array_equal(sizes(model), 60)
    assert_allclose(model.predict(X), number, atol=1e-5)


def test_categories_and_draws_of_trees_that_grow_best_first():
    rng = np.random.default_rng(0)
    site = rng.choice(["a", "b", "c", "d", "e"], 400)
    y = np.isin(site, ["b", "d"]).astype(int)
    frame = pd.DataFrame({"noise": rng.standard_normal(400), "site": pd.Categorical(site)})
    best = {"grow_policy": "lossguide", "max_leaves": 4}
    model = small("hist", **best).fit(frame, y)
    assert model.score(frame, y) == 1.0
    drawn = {"colsample_bylevel": 0.5, "colsample_bynode": 0.5, "subsample": 0.7}
    two = [small("hist", **best, **drawn).fit(frame, y).decision_function(frame) for _ in range(2)]
    assert_array_equal(*two)


@pytest.mark.parametrize(
    ("params", "word"),
    [
        ({"max_leaves": 4}, "max_leaves=4 with tree_method='exact'"),
        ({"grow_policy": "lossguide"}, "grow_policy='lossguide' with tree_method='exact'"),
        (
            {"tree_method": "approx", "proposal": "local", "max_leaves": 4},
            "max_leaves=4 with proposal='local'",
        ),
    ],
)
def test_exact_trees_grow_in_whole_levels(params, word):
    X, number = table(40)
    with pytest.raises(PsephosError, match=word):
        numbers().set_params(**params).fit(X, number)


@pytest.mark.parametrize("method", METHODS)
def test_a_leaf_may_have_exactly_the_least_rows(method):
    X = np.arange(9.0)[:, None]  # a sum of nine rounded ones is not nine
    y = (X[:, 0] >= 6.0).astype(float)
    model = numbers(method, min_child_weight=3.0, n_estimators=1, max_depth=1).fit(X, y)
    assert_array_equal(np.unique(model.predict(X), return_counts=True)[1], [6, 3])


def test_a_weight_of_two_is_the_row_twice_in_bins_too():
    X, number = table(800)
    weight = np.random.default_rng(0).integers(1, 4, 800)
    few = numbers("hist", max_bin=8)
    weighted = few.fit(X, number, sample_weight=weight).predict(X)
    again = np.repeat(np.arange(800), weight)
    copied = numbers("hist", max_bin=8).fit(X[again], number[again]).predict(X)
    assert_allclose(weighted, copied, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("proposal", ["global", "local"])
def test_directions_hold_between_neighbours_in_float32(proposal):
    one = np.nextafter(np.float32(1), np.float32(2))
    for low in (np.float32(1), one):  # a middle that rounds up, and one that rounds down
        high = np.nextafter(low, np.float32(2))
        X = np.repeat([low, high, np.nan], [20, 20, 10]).astype(np.float32)[:, None]
        y = np.repeat([0.0, 1.0, 1.0], [20, 20, 10])
        for method in ("exact", "approx", "hist"):
            model = numbers(method, proposal=proposal, monotone_constraints=[1], n_estimators=1)
            answers = model.fit(X, y).predict(X)[[0, 20, 40]]
            assert answers[0] < answers[1] == answers[2]


def test_local_proposals_are_of_each_node():
    X, number = table(500)
    few = {"max_bin": 4, "n_estimators": 10}
    both = [
        numbers("approx", proposal=proposal, **few).fit(X, number).score(X, number)
        for proposal in ("global", "local")
    ]
    assert both[1] > both[0]  # four cuts a node say more than four cuts a tree
    assert numbers(n_estimators=10).fit(X, number).score(X, number) >= both[1] - 0.05


@pytest.mark.parametrize("k", [2, 4])
def test_compiled_sum_is_the_generic_sum(k):
    X, number = table()
    vote = small().fit(X, classes(number, k)).vote_
    for some in (vote, vote.take(np.array([3, 0, 2])), vote.take(np.array([1, 1, 4]))):
        expected = np.einsum("nt,ntk->nk", some.weights(X), some.votes(X))
        assert_allclose(some.score(X), expected, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_numbers_whose_squares_overflow_are_refused(method):
    X, y = np.arange(20.0)[:, None], np.arange(20.0)
    with pytest.raises(PsephosError, match="Divide y"):
        numbers(method).fit(X, y * 1e150)
    with pytest.raises(PsephosError, match="base_score=1e"):
        numbers(method, base_score=1e39).fit(X, y)


@pytest.mark.parametrize("method", METHODS)
def test_costs_and_losses_are_in_the_unit_of_the_numbers(method):
    X, number = table(missing=0.1)
    costs = {"gamma": 2.0, "reg_alpha": 0.5, "max_delta_step": 1.0, "base_score": 0.25}
    held = {"validation_fraction": 0.3}
    plain = numbers(method, **costs, **held).fit(X, number)
    free = numbers(method, **held).fit(X, number)
    assert (plain.predict(X) != free.predict(X)).any()
    for unit in (2.0**-30, 2.0**40):
        factor = {"gamma": unit**2}
        given = {name: value * factor.get(name, unit) for name, value in costs.items()}
        model = numbers(method, **given, **held).fit(X, number * unit)
        assert_array_equal(model.predict(X), plain.predict(X) * unit)
        assert_array_equal(model.validation_losses_, plain.validation_losses_ * unit**2)


@pytest.mark.parametrize("method", METHODS)
def test_numbers_far_from_zero_keep_their_digits(method):
    X, number = table()
    for far in (2.0**20, -(2.0**30)):
        near = np.round(number * 1024) / 1024  # so that the sum has all digits
        found = numbers(method).fit(X, near + far).predict(X) - far
        assert_allclose(found, numbers(method).fit(X, near).predict(X), rtol=0, atol=1e-6)
    flat = numbers(method).fit(X, np.full(len(X), 1e60))
    assert_array_equal(flat.predict(X), 1e60)
