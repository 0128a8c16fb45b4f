"""The histograms of all models tried, beside other errors on the same folds."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from psephos import PsephosError, SamBAClassifier, SparseWrapperClassifier
from psephos.explain import ErrorDisplay


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
    with pytest.raises(PsephosError, match="reference 'lda' is nan"):
        ErrorDisplay.from_estimator(fitted, {"lda": float("nan")})
    with pytest.raises(PsephosError, match="SamBAClassifier has no library"):
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
    with pytest.raises(PsephosError, match="give one Axes a dimension"):
        display.plot(plt.subplots()[1])
    plt.close("all")
