"""The histograms of all models tried, beside other errors on the same folds."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB

from psephos import (
    PsephosError,
    SamBAClassifier,
    SparseWrapperClassifier,
    SparseWrapperRegressor,
)
from psephos.explain import ErrorDisplay, MechanismDisplay


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 20))
    y = (X[:, 0] - X[:, 1] + 0.5 * rng.standard_normal(80) > 0).astype(int)
    settings = {"p_max": 3, "alpha": 0.4, "n_folds": 4, "delta": 0.1, "random_state": 0}
    return SparseWrapperClassifier("lda", **settings).fit(X, y)


def test_every_model_tried_stands_in_a_bar(fitted):
    display = ErrorDisplay.from_estimator(fitted)
    seen = fitted.library_.dimensions
    assert_array_equal(display.counts.sum(axis=1), seen.n_candidates)
    table = display.table()
    assert {len(column) for column in table.values()} == {display.counts.size}
    rows = list(zip(*table.values(), strict=True))
    for d, n in zip(seen.dimension, seen.n_candidates, strict=True):
        assert sum(count for dim, _, _, count, _ in rows if dim == d) == n
    assert list(display.frame().columns) == ["dimension", "low", "high", "count", "chosen"]


def test_those_who_vote_are_among_them(fitted):
    display = ErrorDisplay.from_estimator(fitted)
    chosen = fitted.library_.chosen()
    assert display.chosen.sum() == len(chosen) > 0
    assert (display.chosen <= display.counts).all()
    per_dimension = [int((chosen.dimension == d).sum()) for d in display.dimension]
    assert_array_equal(display.chosen.sum(axis=1), per_dimension)


def test_better_counts_the_bars_below_the_reference(fitted):
    top = float(fitted.library_.dimensions.edges[-1])
    display = ErrorDisplay.from_estimator(fitted, {"worst": top, "none": 0.0})
    better = display.better()
    assert better["reference"] == ["worst"] * 3 + ["none"] * 3
    assert better["share"] == [1.0] * 3 + [0.0] * 3
    assert better["dimension"] == [1, 2, 3] * 2
    middle = float(display.edges[30])
    shares = ErrorDisplay.from_estimator(fitted, {"middle": middle}).better()["share"]
    expected = display.counts[:, :30].sum(axis=1) / display.counts.sum(axis=1)
    assert shares == pytest.approx(expected.tolist())


def test_one_model_of_its_dimension_is_all_of_them(fitted):
    display = ErrorDisplay.from_estimator(fitted, {"worst": 1.0})
    one = np.zeros((1, display.counts.shape[1]), np.intp)
    one[0, 0] = 1
    alone = replace(display, dimension=np.array([1]), counts=one, chosen=one)
    assert alone.better()["share"] == [1.0]
    assert replace(alone, counts=0 * one).better()["share"] == [0.0]


def test_what_cannot_be_shown_is_said(fitted):
    with pytest.raises(PsephosError, match="reference 'lda' must be finite; got nan"):
        ErrorDisplay.from_estimator(fitted, {"lda": float("nan")})
    with pytest.raises(PsephosError, match="got SamBAClassifier, which has no library"):
        ErrorDisplay.from_estimator(SamBAClassifier())


def test_the_picture_shows_the_table(fitted):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    display = ErrorDisplay.from_estimator(fitted, {"all 20 columns": 0.3})
    axes = display.plot()
    assert [ax.get_ylabel() for ax in axes] == ["1 column", "2 columns", "3 columns"]
    assert axes[-1].get_xlabel() == "cross-validated error"
    for d, ax in enumerate(axes):
        lines = {line.get_label(): line.get_xdata()[0] for line in ax.lines}
        assert lines == {"strong below": display.threshold[d], "all 20 columns": 0.3}
        heights = ax.patches[0].get_data().values
        assert_array_equal(heights, display.counts[d] / display.counts[d].max())
    with pytest.raises(PsephosError, match="one per dimension"):
        display.plot(plt.subplots()[1])
    plt.close("all")


# ---------------------------------------------------------------------- several mechanisms
def rows(n, seed, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 20))
    signal = X[:, 0] - X[:, 1] + 0.5 * rng.standard_normal(n)
    cuts = np.quantile(signal, np.linspace(0, 1, classes + 1)[1:-1])
    return X, np.array(["a", "b", "c"])[np.digitize(signal, cuts)], signal


SETTINGS = {"p_max": 2, "alpha": 0.4, "n_folds": 4, "delta": 0.1, "random_state": 0}


@pytest.mark.parametrize("classes", [2, 3])
def test_mechanisms_stand_side_by_side(classes):
    X, y, _ = rows(80, 0, classes)
    fresh, truth, _ = rows(40, 1, classes)
    names = ("lda", "naive_bayes")
    models = {name: SparseWrapperClassifier(name, **SETTINGS).fit(X, y) for name in names}
    display = MechanismDisplay.from_estimators(models, fresh, truth, {"lda": (0.2, 0.25)})
    table = display.table()
    for i, model in enumerate(models.values()):
        own = model.library_.chosen()
        kind = LinearDiscriminantAnalysis if i == 0 else GaussianNB
        errors = [
            np.mean(kind().fit(X[:, s], y).predict(fresh[:, s]) != truth) for s in own.subsets()
        ]
        assert display.test[i] == pytest.approx(errors)
        assert table["test_least"][i] == pytest.approx(min(errors))
        assert table["test_most"][i] == pytest.approx(max(errors))
        assert table["models"][i] == len(own)
        assert table["error_least"][i] == own.error.min()
        assert table["columns_most"][i] == own.dimension.max()
        assert table["vote_test"][i] == np.mean(model.predict(fresh) != truth)
    assert (table["all_error"][0], table["all_test"][0]) == (0.2, 0.25)
    assert np.isnan(table["all_error"][1])
    assert len(display.frame()) == 2


def test_mechanisms_of_numbers_and_of_rows_with_gaps():
    X, _, signal = rows(80, 0)
    fresh, _, truth = rows(40, 1)
    model = SparseWrapperRegressor("ridge", **SETTINGS).fit(X, signal)
    display = MechanismDisplay.from_estimators({"ridge": model}, fresh, truth)
    subset = model.library_.chosen().subset(0)
    fresh[:30, subset[0]] = np.nan
    gaps = MechanismDisplay.from_estimators({"ridge": model}, fresh, truth)
    whole = MechanismDisplay.from_estimators({"ridge": model}, fresh[30:], truth[30:])
    assert gaps.test[0][0] == pytest.approx(whole.test[0][0])
    assert gaps.test[0][0] != pytest.approx(display.test[0][0])
    fresh[:, subset] = np.nan
    assert np.isnan(MechanismDisplay.from_estimators({"ridge": model}, fresh, truth).test[0][0])
    alone = MechanismDisplay.from_estimators({"ridge": model}).table()
    assert np.isnan([alone["test_least"], alone["vote_test"]]).all()


def test_mechanisms_that_cannot_be_shown(fitted):
    for given in ({}, {"samba": SamBAClassifier()}):
        with pytest.raises(PsephosError, match="estimators must be fitted"):
            MechanismDisplay.from_estimators(given)
    with pytest.raises(PsephosError, match="X and y must be given together"):
        MechanismDisplay.from_estimators({"lda": fitted}, np.ones((2, 20)))
    with pytest.raises(PsephosError, match=r"reference must have the names of estimators \(lda\)"):
        MechanismDisplay.from_estimators({"lda": fitted}, reference={"svm": (0.1, 0.2)})


def test_the_picture_of_mechanisms_has_their_histograms(fitted):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    X, _, _ = rows(40, 3)
    y = (X[:, 0] > 0).astype(int)
    both = {"lda": fitted, "again $x": fitted}
    axes = MechanismDisplay.from_estimators(both, X, y, {"lda": (0.3, 0.9)}).plot()
    assert axes.shape == (2, 2)
    for axis in axes.ravel():
        assert axis.patches[0].get_data().values.sum() == fitted.library_.votes.sum()
    assert [line.get_xdata()[0] for line in axes[0, 0].lines + axes[0, 1].lines] == [0.3, 0.9]
    assert not axes[1, 0].lines
    assert axes[0, 1].get_xlim()[1] >= 0.9
    assert MechanismDisplay.from_estimators({"lda": fitted}).plot().shape == (1, 1)
    plt.close("all")
