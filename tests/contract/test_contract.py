"""The library's own contract on every estimator."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier, is_regressor
from small_settings import small_settings
from thorough import THOROUGH

from psephos import PsephosError
from psephos.registry import estimator_classes, model_names
from psephos.scoring.vectors import drawn_rows
from psephos.testing import CHECKS, Case

# every row of these tables has a label, which weak labels warn of
pytestmark = pytest.mark.filterwarnings("ignore::psephos.WeakLabelsWarning")
SETTINGS = small_settings()
NUMBERS = {n for n, e in SETTINGS.items() if is_regressor(e)}
CLASSES = SETTINGS.keys() - NUMBERS
MORE = {n for n in CLASSES if not SETTINGS[n].binary_only}
OWN = {n for n in CLASSES if getattr(SETTINGS[n], "estimator", None) is None}

DRAWN = "rows are drawn, and from other rows"
NOT_REPEATED = {
    "adaboost-held-out": DRAWN,
    "samba-held-out": DRAWN,
    "samba-anchors": DRAWN,
    "compressed-samba": DRAWN,
    "compressed-samba-near": DRAWN,
    "gradient-held-out": DRAWN,
    "gradient-sampled": DRAWN,
    "newton-held-out": DRAWN,
    "soft-boosting-held-out": DRAWN,
    "newton-sampled": DRAWN,
    "adaboost-trees": "scikit-learn's tree decides near-ties by rounding, which weights change",
}


FOLDED = ("swag", "stacking", "cascade", "multi-view-stacked", "ensemble", "bagging")


#: Folds, rows, columns or first weights are drawn by the values of rows, and these are others where
#: categories have other codes.
DRAWN_BY_VALUE = {
    *("random-forest", "random-forest-regressor", "forest-entropy", "forest-numbers"),
    *("extra-trees", "extra-trees-regressor", "extra-trees-small", "swag-numbers-forest"),
    *("soft-tree", "soft-tree-regressor", "soft-boosting", "soft-boosting-held-out"),
    *("soft-boosting-regressor", "cascade", "stacking", "stacking-regressor"),
    *("ensemble-selection", "ensemble-selection-regressor", "multi-view-regressor"),
    *("voting", "voting-regressor"),
}


def case(name, **kwargs):
    drawn = DRAWN if name.startswith(FOLDED) else ""
    if name in DRAWN_BY_VALUE:
        kwargs["no_renaming"] = "what is drawn is drawn by the values of rows"
    return Case(SETTINGS[name], no_repetition=NOT_REPEATED.get(name, drawn), **kwargs)


CATEGORICAL = {
    n for n in NUMBERS | OWN if "categorical_features" in SETTINGS[n].get_params(deep=False)
}
#: Further settings of a model, whose parts take two classes as the model's own setting does: they
#: are checked on three classes, and on two with missing values.
FURTHER = (MORE & OWN) - set(model_names())
CASES = {name: case(name) for name in sorted(CLASSES if THOROUGH else CLASSES - FURTHER)}
CASES |= {f"{name}, three classes": case(name, n_classes=3) for name in sorted(MORE)}
CASES |= {name: case(name, n_classes=0) for name in sorted(NUMBERS)}
CASES |= {  # with categories, the others have gaps too
    f"{name}, missing": case(name, n_classes=0 if name in NUMBERS else 2, missing=0.2)
    for name in sorted((NUMBERS | OWN) - CATEGORICAL)
}
CASES |= {
    f"{name}, categories": case(
        name, n_classes=0 if name in NUMBERS else 2, missing=0.1, categories=(4, 5)
    )
    for name in sorted(CATEGORICAL)
}
# draws without some of the categories, which are then missing to the members
CASES["bagging, more gaps"] = case("bagging", missing=0.2, categories=(4, 5))


@pytest.mark.parametrize("name", CASES)
def test_contract(name, request):
    """All checks of a case in one test: they share the fitted model."""
    case = CASES[name]
    for check in CHECKS.values():
        check(case)
    if not case.missing:
        (numbers_agree if case.n_classes == 0 else answers_agree)(case)
    no_prediction_needs_a_kernel(case, request)


def answers_agree(case):
    (X, y), model, k = case.table(), case.model, case.n_classes
    T = model.vote_.n_voters
    score, proba = model.decision_function(X), model.predict_proba(X)
    assert score.shape == ((60,) if k == 2 else (60, k))
    assert proba.shape == (60, k)
    assert_allclose(proba.sum(axis=1), 1)
    assert (proba >= 0).all()
    clear = np.sort(proba, axis=1)[:, -1] - np.sort(proba, axis=1)[:, -2] > 1e-9
    assert_array_equal(model.classes_[proba.argmax(axis=1)][clear], model.predict(X)[clear])
    assert model.contributions(X).shape == ((60, T) if k == 2 else (60, T, k))
    assert model.local_importance(X).shape == (60, len(model.vote_.columns))
    moved = model.local_importance(X).sum(axis=1)
    assert_allclose(moved[moved > 0], 1)  # 0: the score is where it is on the average
    assert (moved > 0).mean() > 0.9
    assert_allclose(model.feature_importances_.sum(), 1)
    assert model.feature_importances_.shape == (12,)
    margins = model.margins(X, y)
    right = model.predict(X) == y
    if k == 2:
        assert_array_equal((margins > 0)[margins != 0], right[margins != 0])
    assert_array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    assert_allclose(list(model.staged_predict_proba(X))[-1], proba, atol=1e-12)
    assert_allclose(list(model.staged_decision_function(X))[-1], score, atol=1e-12)
    assert model.usage().shape == (T, 12)
    if hasattr(model, "estimator_errors_"):
        assert len(model.estimator_errors_) == T
        assert (model.estimator_errors_ < 1 - 1 / k).all()


def numbers_agree(case):
    (X, y), model = case.table(), case.model
    T, said = model.vote_.n_voters, model.predict(X)
    assert said.shape == (60,)
    assert model.score(X, y) > 0.5
    assert model.contributions(X).shape == (60, T)
    assert_allclose(model.local_importance(X).sum(axis=1), 1)
    assert_allclose(model.feature_importances_.sum(), 1)
    assert_allclose(list(model.staged_predict(X))[-1], said, atol=1e-12)
    assert model.usage().shape == (T, 12)
    with pytest.raises(PsephosError, match="needs numbers"):
        clone(model).fit(X, np.where(y > 1, "ham", "egg"))
    with pytest.raises(PsephosError, match="row 3"):
        clone(model).fit(X, np.where(np.arange(60) == 3, np.nan, y))


def drawn_cases(case):
    """Return training rows, new ones, and drawn ones: at thresholds, where answers turn."""
    model, known = case.model, case.cases()
    vote = model.vote_
    drawn = np.repeat(known[:1], 60, axis=0)
    levels = model.schema_.select(vote.columns).levels
    drawn[:, vote.columns] = drawn_rows(vote, levels, 60)
    for j, own in model.schema_.levels.items():  # codes of the schema to values of the table
        read = drawn[:, j]
        if j in vote.columns:
            code = np.where(np.isnan(read), 0, read).astype(np.intp)
            drawn[:, j] = np.where(np.isnan(read), np.nan, np.asarray(own, dtype=float)[code])
    if not case.missing:
        drawn = drawn[~np.isnan(drawn).any(axis=1)]
    return np.vstack([known, drawn])


def figures_of(model, X):
    """Return labels or numbers, and by name the figures of a model that are compared."""
    vote = model.vote_
    read = model._values(X)
    score, mass = vote.score_and_mass(read)
    figures = {
        "score": score,
        "mass": mass,
        "contributions": vote.contributions(read),
        "votes": vote.votes(read),
        "shares": vote.shares(read),
        "importance": model.local_importance(X[:20]),
        "stages": np.array(list(vote.staged_scores(read[:20]))),
    }
    if hasattr(model, "predict_proba"):
        figures["probabilities"] = model.predict_proba(X)
    words = [
        model.explain(X[:3]).words(i, t) for i in range(3) for t in range(min(3, vote.n_voters))
    ]
    return model.predict(X), figures, vote.leaves(read), words


def no_prediction_needs_a_kernel(case, request):
    """Without kernels labels are equal, ties are as with them, and scores differ by 1e-12."""
    X = drawn_cases(case)
    labels, figures, leaves, words = figures_of(case.model, X)
    request.getfixturevalue("plain")
    plain_labels, plain_figures, plain_leaves, plain_words = figures_of(case.model, X)
    if case.n_classes:
        assert_array_equal(plain_labels, labels)
    for what, wanted in figures.items():
        size = max(1.0, np.nanmax(np.abs(wanted), initial=1.0))
        assert_allclose(plain_figures[what] / size, wanted / size, rtol=0, atol=1e-12, err_msg=what)
    assert_array_equal(plain_leaves, leaves)
    assert plain_words == words


def test_every_estimator_has_a_small_setting():
    covered = {type(estimator).__name__ for estimator in SETTINGS.values()}
    assert covered == set(estimator_classes())
    assert all(is_classifier(e) or is_regressor(e) for e in SETTINGS.values())
