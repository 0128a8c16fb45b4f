"""Verdicts of studies in groups: how many independent cases the answers are worth."""

import numpy as np
import pytest
from scipy import stats
from sklearn.model_selection import StratifiedGroupKFold

from psephos.protocol import Protocol, better_than_constant, compare
from psephos.protocol.evaluation.statistics import design_effect, intraclass
from psephos.report import build_report, summarise

GROUPS = np.repeat(np.arange(4), 3)
PAIRS = np.repeat(np.arange(6), 2)


# ------------------------------------------------------------------- known values
def test_the_correlation_of_pairs_is_that_of_the_mean_squares():
    values = np.array([1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1])
    between = 2 * np.sum((values.reshape(6, 2).mean(axis=1) - values.mean()) ** 2) / 5
    within = (0.5**2 + 0.5**2) / 6
    found = intraclass(values, PAIRS)
    assert found == pytest.approx((between - within) / (between + within))
    ratio = between / within / stats.f.ppf(0.05, 5, 6)
    assert intraclass(values, PAIRS, 0.95) == pytest.approx((ratio - 1) / (ratio + 1))
    assert intraclass(values, PAIRS, 0.95) > found


@pytest.mark.parametrize(
    ("values", "groups", "found"),
    [
        ([1, 1, 0, 0], [0, 0, 1, 1], 1.0),  # constant in each group
        ([1, 0, 0, 1], [0, 0, 1, 1], -1.0),  # pairs of both
        ([1, 0, 0] * 4, GROUPS, -0.5),  # the same share in each group: -1 / (size - 1)
        ([1, 1, 1, 1], [0, 0, 1, 1], 0.0),
        ([1, 0, 1, 0], [0, 0, 0, 0], 1.0),  # one group
        ([1, 0, 1, 0], [0, 1, 2, 3], 1.0),  # groups of one case
    ],
)
def test_correlations_of_small_groups(values, groups, found):
    assert intraclass(values, np.asarray(groups)) == pytest.approx(found)


@pytest.mark.parametrize(
    ("labels", "answers", "effect"),
    [
        ([0, 0, 0, 1, 1, 1] * 2, [0, 0, 0, 1, 1, 1] * 2, 3.0),  # neither varies: groups count
        ([0, 0, 1] * 4, [0, 0, 0, 1, 1, 1] * 2, 1.0),  # labels vary, answers do not
        ([0, 0, 1] * 4, [0, 0, 1] * 4, 1.5),  # both do: 1 + (-1/2) (-1/2) (3 - 1)
        ([0, 0, 1] * 4, [0] * 12, 1.0),
        (["a", "a", "a", "b", "b", "b"] * 2, ["a", "a", "a", "b", "b", "b"] * 2, 3.0),
    ],
)
def test_effects_of_small_groups(labels, answers, effect):
    assert design_effect(labels, answers, GROUPS) == pytest.approx(effect)


def test_pairs_of_both_labels_that_are_told_apart_count_once():
    assert design_effect([0, 1] * 6, [0, 1] * 6, PAIRS) == pytest.approx(2)
    assert design_effect([0, 1] * 6, [0, 0, 1, 1] * 3, PAIRS) == 1


def test_unequal_groups_count_as_squared_sizes_where_nothing_varies_in_them():
    groups = np.repeat([0, 1, 2, 3], [1, 2, 3, 6])
    labels = np.array([0, 1, 0, 1])[groups]
    assert design_effect(labels, labels, groups) == pytest.approx((1 + 4 + 9 + 36) / 12)


def test_copies_count_as_one_case_whatever_their_labels():
    copies = np.array([0, 0, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7])
    squares = 4 * (2**2 + 1)
    assert design_effect([0, 0, 1] * 4, [0] * 6 + [1] * 6, GROUPS, copies) == squares / 12
    both = design_effect([0, 0, 0, 1, 1, 1] * 2, [0, 0, 0, 1, 1, 1] * 2, GROUPS, copies)
    assert both == pytest.approx(3.0)
    assert design_effect([0, 1] * 6, [0, 1] * 6, PAIRS, PAIRS) == 2


def test_the_effect_is_the_variance_over_permutations_of_groups_and_within_them():
    """Shuffle whole groups and the labels within each, or all labels, below fixed answers."""
    rng = np.random.default_rng(0)
    n_groups, size = 80, 4
    groups = np.repeat(np.arange(n_groups), size)
    for sharing in ((0.1, 0.1), (0.5, 1.0), (1.0, 0.3)):
        y, a = (
            (rng.random((n_groups, size)) < rng.beta(one, one, n_groups)[:, None]).astype(int)
            for one in sharing
        )
        whole = rng.permuted(np.tile(y.ravel(), (4000, 1)), axis=1)
        order = np.argsort(rng.random((4000, n_groups)), axis=1)
        grouped = rng.permuted(y[order], axis=2).reshape(4000, -1)
        ratio = np.var(grouped @ a.ravel()) / np.var(whole @ a.ravel())
        r_y, r_a = intraclass(y.ravel(), groups), intraclass(a.ravel(), groups)
        assert 1 + r_y * r_a * (size - 1) == pytest.approx(ratio, rel=0.08)
        assert design_effect(y.ravel(), a.ravel(), groups) >= 1 + r_y * r_a * (size - 1)
        assert design_effect(y.ravel(), a.ravel(), groups) < size


# ------------------------------------------------------------------- the verdict
def row(score, fold, model="a"):
    return {
        "model": model, "repeat": 0, "fold": fold, "n_train": 100, "n_test": 25, "n_columns": 4,
        "balanced_accuracy": score, "accuracy": score, "roc_auc": score, "log_loss": 0.5,
        "columns_used": 2, "columns": "0 1", "n_voters": 1, "status": "ok", "error": "",
    }  # fmt: skip


def test_the_probability_is_that_of_so_many_cases():
    rows = [row(0.7, k) for k in range(5)]
    about = {"classes": ["a", "b"], "class_counts": [50, 75], "n_groups": 10}
    for effect in (1.0, 2.5):
        known = about | {"independent_rows": 12.5, "design_effects": {"a": effect}}
        error = np.sqrt((1 / 5 + 1 / 4) * (125 / 50 + 125 / 75) / (16 * (25 / effect - 1)))
        found = better_than_constant(rows, known, chance=0.99)["a"]
        assert found == pytest.approx(stats.norm.sf(0.2 / error))
    spared = better_than_constant(rows, about | {"design_effects": {"a": 0.0}}, chance=0.99)
    assert spared["a"] == better_than_constant(rows, known | {"design_effects": {"a": 1.0}})["a"]
    kept = better_than_constant(rows, about | {"independent_rows": 125 / 2.5}, chance=0.99)
    assert kept["a"] == pytest.approx(found)  # without design effects


def grouped_table(kind, distance, seed, n_groups=14, size=9):
    """Return X, y and groups; a column tells the labels where the distance is above 0."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    if kind == "constant":
        y = rng.permutation(np.arange(n_groups) % 2)[groups]
    elif kind == "within":
        y = rng.permuted(np.tile(np.arange(size) % 3 == 0, (n_groups, 1)), axis=1).ravel()
    else:
        y = rng.random(n_groups * size) < rng.beta(2, 2, n_groups)[groups]
    X = rng.standard_normal((len(groups), 6)) + 2 * rng.standard_normal((n_groups, 6))[groups]
    if distance:
        X[:, 1] = distance * y + rng.standard_normal(len(y))
    return X, y.astype(int), groups


def nearest_mean(X, y, new):
    centres = np.array([X[y == c].mean(axis=0) for c in (0, 1)])
    return ((new[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)


def nearest_row(X, y, new):
    return y[((new[:, None] - X) ** 2).sum(axis=2).argmin(axis=1)]


def judged(kind, seed):
    """Return the least probability of two models on labels that mean nothing."""
    X, y, groups = grouped_table(kind, 0, seed)
    split = StratifiedGroupKFold(5, shuffle=True, random_state=seed).split(X, y, groups)
    answers, rows = np.zeros((2, len(y)), dtype=int), []
    for fold, (train, test) in enumerate(split):
        for m, model in enumerate((nearest_mean, nearest_row)):
            said = answers[m, test] = model(X[train], y[train], X[test])
            score = np.mean([(said[y[test] == c] == c).mean() for c in np.unique(y[test])])
            sizes = {"n_train": len(train), "n_test": len(test)}
            rows.append(row(float(score), fold, model.__name__) | sizes)
    effects = {
        model.__name__: design_effect(y, said, groups)
        for model, said in zip((nearest_mean, nearest_row), answers, strict=True)
    }
    about = {"classes": [0, 1], "class_counts": np.bincount(y).tolist(), "design_effects": effects}
    return min(better_than_constant(rows, about, chance=0.999).values(), default=1.0)


@pytest.mark.parametrize("kind", ["within", "shares", "constant"])
def test_on_labels_that_mean_nothing_groups_are_called_better_as_seldom_as_is_said(kind):
    found = np.array([judged(kind, seed) for seed in range(200)])
    assert (found <= 0.05).mean() <= 0.05
    assert (found <= 0.2).mean() <= 0.2


# ------------------------------------------------------------------- terminal, page and Python
SMALL = Protocol("small", folds=5, draws=1, inner_folds=2)


@pytest.fixture(scope="module")
def told_apart(tmp_path_factory):
    """Return a study of 14 groups, labels varying within them, that a column tells apart."""
    X, y, groups = grouped_table("within", 20, 0)
    out = tmp_path_factory.mktemp("grouped") / "study"
    models = ["cart", "majority"]
    return compare(X, y, models, SMALL, groups=groups, out=out, n_jobs=1), out


def test_a_perfect_model_is_called_better_where_labels_vary_within_groups(told_apart):
    found, folder = told_apart
    assert found.about["n_groups"] == found.about["independent_rows"] == 14
    assert found.about["design_effects"]["cart"] == pytest.approx(1 + 1 / 8)
    assert list(found.better()) == ["cart"]
    assert found.better()["cart"] < 1e-6
    report = summarise(folder)
    assert any("It is significantly better than a constant" in one for one in report["first"])
    assert report["data_line"].startswith("126 cases of 14 groups, 6 columns; ")
    assert {m["key"] for m in report["models"] if m["frontier"]} == {"cart"}
    page = build_report(folder).read_text("utf-8")
    assert "What can be proved: no bound holds; bounds need rows that are drawn independ" in page
    assert 'data-test="bound"' not in page  # one sentence, no table of "does not hold"
    assert "come about by chance" not in page


def test_labels_of_groups_and_copies_keep_what_they_were_worth():
    X, y, groups = grouped_table("constant", 20, 1)
    found = compare(X, y, ["cart", "majority"], SMALL, groups=groups, n_jobs=1)
    assert found.about["design_effects"]["cart"] == pytest.approx(9)
    assert "design_effects" not in compare(X, y, ["majority"], SMALL, n_jobs=1).about
    X, y, groups = grouped_table("within", 0, 2, n_groups=10, size=4)
    X = np.hstack([X, X, X])
    X[1::4] = X[::4]  # the second case of each group is a copy of the first
    with pytest.warns(UserWarning, match="copies of each other"):
        found = compare(X, y, ["majority"], SMALL, groups=groups, n_jobs=1)
    assert found.about["design_effects"]["majority"] == (4 + 1 + 1) / 4
