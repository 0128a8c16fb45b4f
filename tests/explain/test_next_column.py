"""Which missing measurement would move the answer most, beside its formula."""

import numpy as np
import pandas as pd
import pytest

import psephos
from psephos.explain import next_column


@pytest.fixture(scope="module", name="model")
def _model():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(150, 3)), columns=list("abc"))
    X["d"] = pd.Categorical(np.where(rng.random(150) < 0.3, "u", "v"))
    y = X["a"] + 0.4 * X["b"] + (X["d"] == "u") > 0
    return psephos.AdaBoostClassifier(n_estimators=12).fit(X, y), X


def test_it_is_the_mean_change_over_the_training_values(model):
    model, X = model
    case = X[:1].copy()
    case["a"] = np.nan
    case["d"] = pd.Categorical([None], categories=["u", "v"])
    found = next_column(model, case).frame().set_index("column")
    now = model.predict_proba(case)[0, 1]
    values = np.interp((np.arange(10) + 0.5) / 10, [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1],
                       np.quantile(X["a"], [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1]))  # fmt: skip
    then = [model.predict_proba(case.assign(a=v))[0, 1] for v in values]
    assert found.loc["a", "change"] == pytest.approx(np.abs(np.array(then) - now).mean())
    flips = np.mean([(p > 0.5) != (now > 0.5) for p in then])
    assert found.loc["a", "flips"] == pytest.approx(flips)
    by = {v: model.predict_proba(case.assign(d=pd.Categorical([v], categories=["u", "v"])))[0, 1]
          for v in "uv"}  # fmt: skip
    share = (X["d"] == "u").mean()
    told = share * abs(by["u"] - now) + (1 - share) * abs(by["v"] - now)
    assert found.loc["d", "change"] == pytest.approx(told)
    assert list(found["change"]) == sorted(found["change"], reverse=True)


def test_complete_cases_have_no_line_and_files_keep_what_it_needs(model, tmp_path):
    model, X = model
    assert len(next_column(model, X[:5]).frame()) == 0
    gaps = X[:5].assign(a=np.nan)
    found = next_column(model, gaps)
    assert found.first() == dict.fromkeys(range(5), "a")
    psephos.save(model, tmp_path / "m.psephos")
    assert next_column(psephos.load(tmp_path / "m.psephos"), gaps).table() == found.table()


def test_a_library_names_what_its_silent_models_read():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 3)), columns=list("abc"))
    y = X["a"] + 0.5 * X["b"] > 0
    library = psephos.SparseWrapperClassifier(
        p_max=1, alpha=0.9, delta=0.9, vote="performance", absent="vote", random_state=0
    )
    library.fit(X, y)
    found = next_column(library, X[["c"]][:3])
    assert set(found.first().values()) <= {"a", "b"}


def test_numbers_have_no_classes_to_flip():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    model = psephos.CARTRegressor(max_depth=2).fit(X, X[:, 0])
    row = next_column(model, np.array([[np.nan, 0.0]])).table()
    assert row["column"] == ["column 0"]
    assert row["change"][0] > 0
    assert np.isnan(row["flips"][0])


def test_a_column_of_which_no_value_moves_the_score_is_not_advised():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=(120, 2)), rng.integers(0, 2, 120)])
    model = psephos.CARTClassifier(max_depth=2, n_folds=0).fit(X, X[:, 0] * (X[:, 1] > 0) > 0.3)
    tree = model.vote_.voters.tree(0)
    root, other = int(tree.column[0]), int(tree.column[tree.column > -1][-1])
    assert root != other
    case = X[:1].copy()
    leaf = [v for v in (-9.0, 9.0) if _leads_to_a_leaf(model, case, root, v)]
    assert leaf  # at one side of the root nothing else is read
    case[0, root], case[0, other] = leaf[0], np.nan
    found = next_column(model, case)
    assert found.column == []
    assert found.unmoved == [0]
    assert found.first() == {}
    case[0, root] = -leaf[0]
    moved = next_column(model, np.vstack([case, X[:1]]))
    assert moved.column == [f"column {other}"]
    assert moved.unmoved == []


def _leads_to_a_leaf(model, case, root, value):
    ends = np.repeat(case, 3, axis=0)
    ends[:, root] = value
    ends[:, [j for j in range(3) if j != root]] = np.array([[-9.0], [0.0], [9.0]])
    return len(set(model.apply(ends).ravel().tolist())) == 1


def test_a_value_between_those_of_training_rows_may_move_the_score():
    X = np.repeat([[0.0], [10.0]], 40, axis=0)
    X[79] = 30.0  # beyond the quantiles that are tried
    model = psephos.CARTRegressor(max_depth=1, min_samples_leaf=1).fit(X, X[:, 0] > 20)
    found = next_column(model, np.array([[np.nan]]))
    assert found.column == ["column 0"]
    assert found.unmoved == []
