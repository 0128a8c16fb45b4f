"""Bias and variance against what can be worked out, and curves of under- and overfitting."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from psephos import CARTClassifier, PsephosError
from psephos.explain import BiasVarianceDisplay
from psephos.explain.bias_variance import DrawnTable, mean_and_error

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
Y = np.where(X[:, 0] + RNG.standard_normal(60) > 0, "ill", "well")
decompose = BiasVarianceDisplay.from_estimator


def test_the_mean_of_a_bootstrap():
    """The mean of n drawn rows, of those other than i: bias (mean_-i - y_i)^2, variance s^2 / n."""
    y = RNG.standard_normal(12)
    got = decompose(DummyRegressor(), np.zeros((12, 1)), y, n_draws=3000)
    others = np.array([np.delete(y, i) for i in range(12)])
    bias = ((others.mean(axis=1) - y) ** 2).mean()
    variance = (others.var(axis=1) / 12).mean()
    assert_allclose(got.value("bias"), bias, rtol=0.02)
    assert_allclose(got.value("variance"), variance, rtol=0.05)
    assert_allclose(got.value("loss"), bias + variance, rtol=0.02)


def test_the_majority_of_a_bootstrap():
    """A model that says the more frequent class: both definitions, from the binomial."""
    n, ones = 15, 9
    y = np.r_[np.zeros(n - ones), np.ones(ones)].astype(int)
    model = DummyClassifier(strategy="most_frequent")
    got = decompose(model, np.zeros((n, 1)), y, n_draws=1500)
    says_one = {  # of rows other than i; a draw of one class alone is drawn again
        k: (binom(n, (ones - k) / (n - 1)).sf(n // 2) - ((ones - k) / (n - 1)) ** n)
        / (1 - ((ones - k) / (n - 1)) ** n - ((n - 1 - ones + k) / (n - 1)) ** n)
        for k in (0, 1)
    }
    p = np.array([says_one[int(k)] for k in y])
    truth = {
        "loss": np.where(y == 1, 1 - p, p),
        "bias": (p > 0.5) != (y == 1),
        "variance": np.minimum(p, 1 - p),
        "unbiased variance": np.where((p > 0.5) == (y == 1), np.minimum(p, 1 - p), 0),
        "biased variance": np.where((p > 0.5) != (y == 1), np.minimum(p, 1 - p), 0),
    }
    for term, values in truth.items():
        assert_allclose(got.value(term, "domingos"), np.mean(values), atol=0.02)
    assert_allclose(got.value("bias", "kohavi-wolpert"), np.mean((y - p) ** 2), atol=0.02)
    assert_allclose(got.value("variance", "kohavi-wolpert"), np.mean(p * (1 - p)), atol=0.02)


@pytest.mark.parametrize("model", [DecisionTreeClassifier(), KNeighborsClassifier(1), LinearSVC()])
def test_terms_add_up_to_the_loss(model):
    three = np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5])
    got = decompose(model, X, three, n_draws=30)
    v = got.value
    assert_allclose(v("loss"), v("bias") + v("unbiased variance") - v("biased variance"))
    assert_allclose(v("net variance"), v("unbiased variance") - v("biased variance"))
    kw = "kohavi-wolpert"
    assert_allclose(v("loss", kw), v("bias", kw) + v("variance", kw))
    assert_allclose(v("loss"), got.terms.row_loss.mean())


def test_probabilities_have_a_squared_error():
    got = decompose(CARTClassifier(n_folds=0, max_depth=2), X, Y, loss="squared", n_draws=20)
    assert_allclose(got.value("loss"), got.value("bias") + got.value("variance"))
    table = got.table()
    assert table["terms"] == ["squared"] * 3
    assert 0 < got.value("loss") < 1  # the Brier score over both classes
    with pytest.raises(PsephosError, match="needs predict_proba, which LinearSVC lacks"):
        decompose(LinearSVC(), X, Y, loss="squared")


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers the first column of its rows, and says the label of a row it knows."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.known_ = set(X[:, 0].tolist())
        return self

    def predict(self, X):
        return np.array([self.classes_[int(x in self.known_)] for x in X[:, 0]])


def test_groups_are_drawn_whole_and_asked_only_unseen():
    group = np.repeat(np.arange(12), 5)
    table = np.column_stack([group, RNG.standard_normal(60)]).astype(float)
    y = np.tile([0, 0, 0, 0, 1], 12)
    got = decompose(Recorder(), table, y, groups=group, n_draws=25)
    assert_allclose(got.value("loss"), 0.2)  # it says 0 of every row of a group it has not seen
    assert_allclose(got.terms.train_loss, 0.8)
    draws = DrawnTable.read(Recorder(), table, y, None, group, 0)
    for b in range(3):
        rows = draws.rows(b)
        assert len(rows) == 60
        assert (np.unique(group[rows], return_counts=True)[1] % 5 == 0).all()
    apart = decompose(Recorder(), table, y, n_draws=25)
    assert apart.value("loss") > 0.5  # rows of a group are on both sides


def test_the_same_whatever_the_jobs_and_a_row_for_each_term():
    forest = RandomForestClassifier(n_estimators=5)  # seeded by the draw
    one, two = (decompose(forest, X, Y, n_draws=8, n_jobs=j) for j in (None, 2))
    assert one.table() == two.table()
    frame = one.frame()
    assert list(frame.columns) == ["terms", "term", "value", "error"]
    text = str(one)
    assert text.startswith("RandomForestClassifier: 0/1 loss 0.")
    assert "Domingos: biased variance" in text
    assert "Kohavi-Wolpert: bias" in text
    pytest.importorskip("matplotlib").use("agg")
    axes = one.plot()
    assert_allclose([bar.get_width() for bar in axes.patches], one.table()["value"])


@pytest.mark.parametrize(
    ("model", "more", "match"),
    [
        (KMeans(), {}, "must be a classifier or a regressor"),
        (DummyRegressor(), {"loss": "zero_one"}, "must be 'squared' for a regressor"),
        (DummyClassifier(), {"loss": "log"}, "one of 'zero_one', 'squared'"),
        (DummyClassifier(), {"n_draws": 1}, "at least 2"),
        (DummyClassifier(), {"n_draws": 2.0}, "got 2.0"),
        (DummyClassifier(), {"groups": [0]}, "one group per row"),
    ],
)
def test_refusals(model, more, match):
    y = X[:, 0] if isinstance(model, DummyRegressor) else Y
    with pytest.raises(PsephosError, match=match):
        decompose(model, X, y, **{"n_draws": 3, **more})


def test_lists_and_numbers_of_numpy():
    model = CARTClassifier(n_folds=0, max_depth=2)
    for loss in ("squared", "zero_one"):
        one = decompose(model, X, Y, loss=loss, n_draws=5)
        other = decompose(model, X.tolist(), Y.tolist(), loss=loss, n_draws=np.int64(5))
        assert one.table() == other.table()


def test_copies_of_rows_are_counted():
    """A row and its copy may be on both sides of a draw unless groups keep them together."""
    twice, y = np.vstack([X, X]), np.r_[Y, Y]
    model = KNeighborsClassifier(1)
    apart = decompose(model, twice, y, n_draws=20)
    together = decompose(model, twice, y, n_draws=20, groups=np.tile(np.arange(60), 2))
    assert apart.value("loss") < together.value("loss") - 0.1
    words = "120 rows equal others in all columns, so a model may have seen them"
    assert words in str(apart).splitlines()[0]
    assert "in all columns" not in str(together)
    assert "in all columns" not in str(decompose(model, X, Y, n_draws=5))
    words = pd.DataFrame({"a": ["x", "y", None] * 4, "b": np.arange(12.0)})
    words.loc[3, "b"] = 0.0
    told = DrawnTable.read(DummyClassifier(), words, Y[:12], None, None, 0)
    assert told.copies == 2


def test_rows_of_a_group_are_one_in_standard_errors():
    """Ten rows of each of six groups that have one loss each: as six rows are."""
    values = np.array([0.0, 0.0, 1.0, 0.0, 1.0, 1.0])
    mean, error = mean_and_error(np.repeat(values, 10), np.repeat(np.arange(6), 10))
    assert_allclose((mean, error), (values.mean(), values.std(ddof=1) / np.sqrt(6)))
    group = np.repeat(np.arange(12), 5)
    got = decompose(DummyRegressor(), np.zeros((60, 1)), 1.0 * group, groups=group, n_draws=20)
    table = got.table()
    losses = got.terms.row_loss
    each = np.array([losses[got.terms.unit == g].mean() for g in np.unique(got.terms.unit)])
    assert len(each) == 12
    assert_allclose(table["error"][0], each.std(ddof=1) / np.sqrt(12))
