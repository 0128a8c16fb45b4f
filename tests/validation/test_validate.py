"""Validation beside scikit-learn, on cohorts that are shifted, renamed, or lack columns."""

import json
import re
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.stats import ks_2samp
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import balanced_accuracy_score, brier_score_loss, log_loss, roc_auc_score

import psephos
from psephos import (
    AdaBoostClassifier,
    CARTClassifier,
    PsephosError,
    RandomForestClassifier,
    SamBAClassifier,
    validate,
)
from psephos.cli import main
from psephos.explain import MissedDisplay
from psephos.recalibrating import cross_fitted
from psephos.report import summarise_validation
from psephos.validation import read_validation, write_validation
from psephos.validation.shift import _shares, ks_at_least
from psephos.vote.profile import LEVELS


def _cohort(n, seed, shift=0.0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 5)), columns=list("abcde"))
    y = np.where(X["a"] + X["b"] + rng.normal(size=n) > 0, "ill", "well")
    return X + shift, y


@pytest.fixture(scope="module", name="model")
def _model():
    return SamBAClassifier(n_estimators=4).fit(*_cohort(80, 0))


@pytest.fixture(scope="module", name="found")
def _found(model):
    X, y = _cohort(120, 1)
    return validate(model, X, y, positive="ill", by={"site": np.arange(120) // 6})


def test_figures_are_those_of_scikit_learn(model, found):
    X, y = _cohort(120, 1)
    ill, p = y == "ill", model.predict_proba(X)[:, 0]
    score = -model.decision_function(X)
    assert found.figure("ROC-AUC")["value"] == pytest.approx(roc_auc_score(ill, score))
    said = model.predict(X)
    balanced = balanced_accuracy_score(y, said)
    assert found.figure("balanced accuracy")["value"] == pytest.approx(balanced)
    assert found.figure("Brier score")["value"] == pytest.approx(brier_score_loss(ill, p))
    kept = np.clip(p, 1e-15, 1 - 1e-15)
    assert found.figure("log-loss")["value"] == pytest.approx(log_loss(ill, kept))
    counts = pd.crosstab(y, said)
    table = found.frame("confusion").set_index("truth")
    assert (table.loc[counts.index, counts.columns] == counts).to_numpy().all()
    cases = found.frame("predictions")
    np.testing.assert_array_equal(cases["predicted"], said)
    np.testing.assert_allclose(cases["p_ill"], p)


def test_columns_are_found_by_name_and_arrays_by_place(model, found):
    X, y = _cohort(120, 1)
    other = X.assign(z="text")[["z", *reversed(X.columns)]]
    assert validate(model, other, y, positive="ill").figures == found.figures
    plain = SamBAClassifier(n_estimators=4).fit(_cohort(80, 0)[0].to_numpy(), _cohort(80, 0)[1])
    assert validate(plain, X.to_numpy(), y, positive="ill").figures == found.figures


def test_several_classes_have_their_own_figures():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), np.arange(90) % 3
    X[:, 0] += y
    model = CARTClassifier(max_depth=2).fit(X[:45], y[:45])
    found = validate(model, X[45:], y[45:])
    p = model.predict_proba(X[45:])
    each = [found.figure("ROC-AUC against the rest", str(k))["value"] for k in range(3)]
    assert each == pytest.approx([roc_auc_score(y[45:] == k, p[:, k]) for k in range(3)])
    mean = found.figure("mean ROC-AUC of pairs (Hand and Till)")["value"]
    assert mean == pytest.approx(roc_auc_score(y[45:], p, multi_class="ovo"))
    assert found.net_benefit == []
    assert "0" in str(found)
    with pytest.raises(PsephosError, match="two classes"):
        validate(model, X, y, threshold=0.5)


def test_labels_that_are_named_otherwise(model, found):
    X, y = _cohort(120, 1)
    other = np.where(y == "ill", "CRC", "healthy")
    renamed = {"CRC": "ill", "healthy": "well"}
    again = validate(model, X, other, positive="ill", classes=renamed)
    assert again.figures == found.figures
    assert "CRC is ill" in str(again)
    with pytest.raises(PsephosError, match="'healthy'"):
        validate(model, X, other, classes={"CRC": "ill"})
    with pytest.raises(PsephosError, match="not a class of the model"):
        validate(model, X, other, classes={"CRC": "sick"})
    with pytest.raises(PsephosError, match="no case"):
        validate(model, X, y, classes={"adenoma": "ill"})
    with pytest.raises(PsephosError, match="1 of 120 cases have no label"):
        validate(model, X, np.where(np.arange(120) == 7, None, y))


def test_a_threshold_calls_cases_by_probability(model):
    X, y = _cohort(120, 1)
    found = validate(model, X, y, positive="ill", threshold=0.3)
    called = model.predict_proba(X)[:, 0] >= 0.3
    assert found.figure("sensitivity")["hits"] == (called & (y == "ill")).sum()
    assert found.figure("specificity")["hits"] == (~called & (y == "well")).sum()


def test_subgroups_under_ten_are_counts_alone(model):
    X, y = _cohort(120, 1)
    found = validate(model, X, y, by={"site": np.repeat(["big", "small"], [113, 7])})
    big, small = found.subgroups
    assert small["n"] == 7
    assert "accuracy" not in small
    right = model.predict(X) == y
    assert small["right"] == right[113:].sum()
    assert big["accuracy"] == pytest.approx(right[:113].mean())


def test_groups_widen_intervals(model):
    X, y = _cohort(120, 1)
    twice = X.loc[X.index.repeat(2)], np.repeat(y, 2)
    alone = validate(model, *twice).figure("ROC-AUC")
    grouped = validate(model, *twice, groups=np.repeat(np.arange(120), 2))
    assert grouped.figure("ROC-AUC")["high"] > alone["high"]
    assert "120 groups" in str(grouped)


# ------------------------------------------------------------------- what is missing
def test_voters_that_lack_a_column_are_counted_and_can_be_left_out():
    X, y = _cohort(200, 0)
    model = AdaBoostClassifier(n_estimators=8).fit(X, y)
    used = [
        rule.split()[0]
        for rule in (model.vote_.voters.rule(t, list("abcde"), {}) for t in range(8))
    ]
    lost = sum(name == "a" for name in used)
    assert 0 < lost < 8
    less = X.drop(columns="a")
    told = validate(model, less, y).speaking
    assert told["lacking"] == ["a"]
    assert (told["n_none"], told["n_all"]) == (lost, 8 - lost)
    silent = validate(model, less, y, absent="silent")
    kept = model.vote_.take(np.array([t for t in range(8) if used[t] != "a"]))
    p = silent.frame("predictions")["p_well"]
    np.testing.assert_allclose(p, kept.probabilities(X.to_numpy())[:, 1])
    assert silent.speaking["share_none"] == 0
    assert "left out of the vote" in str(silent)
    # of columns without a value the same is said
    gone = validate(model, X.assign(a=np.nan), y)
    assert gone.data() == validate(model, less, y).data()


def test_a_cohort_without_any_column_or_voter_is_refused(model):
    X, y = _cohort(60, 1)
    with pytest.raises(PsephosError, match="none of the"):
        validate(model, X[["e"]].rename(columns={"e": "z"}), y)
    tree = CARTClassifier(max_depth=1).fit(X, y)
    column = tree.features_used_[0]
    with pytest.raises(PsephosError, match=f"every voter.*{column}"):
        validate(tree, X.assign(**{column: np.nan}).assign(z=1.0), y, absent="silent")


def test_a_model_that_needs_every_value_is_refused_with_the_columns(model, monkeypatch):
    def refuse(self, X):
        raise PsephosError("row 0 of these lacks a value")

    X, y = _cohort(60, 1)
    monkeypatch.setattr(type(model.vote_), "score", refuse)
    column = str(model.features_used_[0])
    with pytest.raises(PsephosError, match=f"the cohort lacks '{column}'"):
        validate(model, X.drop(columns=column), y)


def test_a_library_answers_with_the_models_that_have_their_columns():
    X, y = _cohort(150, 0)
    library = psephos.SparseWrapperClassifier(p_max=1, alpha=0.9, absent="vote", random_state=0)
    library.fit(X, y)
    found = validate(library, X[["b", "c"]], y)
    np.testing.assert_array_equal(
        found.frame("predictions")["predicted"], library.predict(X[["b", "c"]])
    )
    assert found.speaking["n_none"] > 0


# ------------------------------------------------------------------- shift
def test_the_training_rows_are_not_shifted_and_a_moved_cohort_is(model):
    same = validate(model, *_cohort(80, 0))
    assert same.shift["n_shifted"] == same.shift["cases_outside"] == 0
    assert max(same.frame("columns")["distance"]) <= 1e-12
    moved = validate(model, *_cohort(80, 0, shift=3.0))
    columns = moved.frame("columns")
    assert moved.shift["n_shifted"] == len(columns)
    assert (columns["difference"] > 2).all()
    assert moved.familiarity["beyond_all"] > 40
    assert same.familiarity["same"] == 80
    compared = same.familiarity["compared"]
    assert f"80 cases with the values of a training case in all {compared} columns" in str(same)


@pytest.mark.parametrize("seed", range(6))
def test_the_distance_is_at_most_kolmogorovs(seed):
    rng = np.random.default_rng(seed)
    trained = np.where(rng.random(90) < 0.4, 0.0, rng.exponential(size=90))
    other = np.where(rng.random(50) < 0.7, 0.0, rng.exponential(size=50) + seed / 3)
    told = ks_at_least(other, np.quantile(trained, LEVELS), 90)
    whole = ks_2samp(trained, other).statistic
    assert whole - 0.25 <= told <= whole + 1e-12


def test_a_file_without_a_summary_says_so(model, tmp_path):
    from dataclasses import replace

    again = model.reduce()
    again._baseline = replace(model._known_baseline(), profile=None)
    psephos.save(again, tmp_path / "m.psephos")
    old = psephos.load(tmp_path / "m.psephos")
    assert "shifts cannot be measured" in str(validate(old, *_cohort(60, 1)))


def test_the_summary_of_a_file_is_the_models(model, found, tmp_path):
    psephos.save(model, tmp_path / "m.psephos")
    X, y = _cohort(120, 1)
    site = {"site": np.arange(120) // 6}
    again = validate(psephos.load(tmp_path / "m.psephos"), X, y, positive="ill", by=site)
    assert again.data() == found.data()


# ------------------------------------------------------------------- recalibration
def test_recalibration_is_judged_on_other_cases_and_no_part_of_the_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 1))
    y = rng.random(600) < 1 / (1 + np.exp(-X[:, 0]))
    model = psephos.GradientBoostingClassifier(n_estimators=150, learning_rate=0.5).fit(
        X[:60], y[:60]
    )
    found = validate(model, X[60:], y[60:])
    after = {row["figure"]: row for row in found.recalibration["figures"]}
    assert after["log-loss"]["value"] < found.figure("log-loss")["value"]
    assert abs(after["calibration in the large"]["value"]) < 0.1
    again = found.recalibrated()
    assert not np.allclose(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_allclose(
        validate(model, X[60:], y[60:]).frame("predictions")["p_True"],
        model.predict_proba(X[60:])[:, 1],
    )
    assert "no longer the one that was validated" in str(found)


def test_too_few_cases_have_no_recalibration(model):
    X, y = _cohort(60, 1)
    kept = np.flatnonzero(y == "well")[:1].tolist() + np.flatnonzero(y == "ill")[:9].tolist()
    found = validate(model, X.iloc[kept], y[kept])
    assert found.recalibration["method"] is None
    with pytest.raises(PsephosError, match="at least two cases"):
        found.recalibrated()


def test_one_class_or_one_case_has_counts_and_says_what_cannot_be_said(model):
    X, y = _cohort(120, 1)
    ill = np.flatnonzero(y == "ill")
    for kept in (ill[:20], ill[:1]):
        found = validate(model, X.iloc[kept], y[kept], positive="ill")
        assert found.figure("ROC-AUC")["value"] is None
        assert found.figure("sensitivity")["n"] == len(kept)
        assert "not defined (there are cases of one class only)" in str(found)
        json.dumps(found.data(), allow_nan=False)


def test_a_model_that_reads_nothing_is_judged_too():
    X, y = _cohort(60, 1)
    nothing = CARTClassifier(cp=1.0).fit(X, y)
    assert nothing.n_features_used_ == 0
    found = validate(nothing, X[["e"]], y)
    assert found.figure("ROC-AUC")["value"] == 0.5
    assert found.speaking["n_no_column"] == 1
    assert "alike" in found.figure("calibration slope")["method"]


# ------------------------------------------------------------------- what is written
def test_the_folder_holds_what_was_found_and_is_the_same_twice(found, tmp_path):
    for name in ("one", "two"):
        write_validation(found, tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    again = read_validation(tmp_path / "one")
    assert again["figures"] == json.loads(json.dumps(found.figures))
    assert len(again["predictions"]) == 120
    assert psephos.load(tmp_path / "one" / "model.psephos").vote_.n_voters == 4
    (tmp_path / "two" / "validation.json").unlink()  # cut off, it is written again
    write_validation(found, tmp_path / "two")
    assert (tmp_path / "two" / "validation.json").exists()
    (tmp_path / "three").mkdir()
    (tmp_path / "three" / "mine.txt").write_text("text")
    with pytest.raises(PsephosError, match="are not a validation"):
        write_validation(found, tmp_path / "three")
    with pytest.raises(PsephosError, match="has no"):
        read_validation(tmp_path / "three")


def test_names_of_the_data_are_escaped(model):
    X, y = _cohort(60, 1)
    found = validate(model, X, y, by={"<b>": ["<i>"] * 60})
    assert "<i>" not in found._repr_html_()
    assert "&lt;b&gt;" in found._repr_html_()


def test_parameters_that_are_none_are_refused(model):
    X, y = _cohort(60, 1)
    for wrong, words in (
        ({"absent": "gone"}, "absent"),
        ({"positive": "sick"}, "positive"),
        ({"threshold": 1.5}, "threshold"),
        ({"groups": [1, 2]}, "groups"),
        ({"ids": ["x"]}, "ids"),
        ({"level": 95}, "level"),
    ):
        with pytest.raises(PsephosError, match=words):
            validate(model, X, y, **wrong)
    with pytest.raises(PsephosError, match="that predicts one class, or one number"):
        validate(psephos.CARTRegressor(), X, y)
    with pytest.raises(PsephosError, match="which a model of numbers needs"):
        validate(psephos.CARTRegressor().fit(X, np.arange(60.0)), X, y)


def test_one_rule_says_who_is_called_and_who_ranks_alike():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    forest = RandomForestClassifier(n_estimators=10, random_state=0).fit(X[:300], y[:300])
    X, y = X[300:], y[300:]
    found = validate(forest, X, y, threshold=0.1)
    p = np.floor(forest.predict_proba(X)[:, 1] * 1e6 + 1e-3)
    shares = [found.figure(name)["hits"] for name in ("sensitivity", "specificity")]
    assert shares == [int((p[y == 1] >= 100_000).sum()), int((p[y == 0] < 100_000).sum())]
    display = MissedDisplay.from_estimator(forest, X, y, threshold=0.1)
    assert [display.counts.found, display.counts.cleared] == shares
    assert found.figure("ROC-AUC")["value"] == pytest.approx(roc_auc_score(y, p), abs=1e-12)


def test_the_positive_class_is_taken_as_on_the_page_and_said(model):
    X, y = _cohort(120, 1)
    found = validate(model, X, y)
    assert found.about["positive"] == "ill"
    assert "Figures are about ill: “well” is a usual word for its absence; --positive" in str(found)
    asked = validate(model, X, y, positive="well")
    assert asked.about["positive"] == "well"
    assert "Figures are about well: it was asked for." in str(asked)
    X, y = X.iloc[:60], np.where(y[:60] == "ill", "a", "b")
    other = SamBAClassifier(n_estimators=4).fit(X, y)
    rare = np.r_[np.flatnonzero(y == "a")[:20], np.flatnonzero(y == "b")[:9]]
    told = validate(other, X.iloc[rare], y[rare])
    assert (told.about["positive"], told.about["positive_rule"]) == ("b", "it is the rarest")


def test_tables_without_rows_have_their_columns(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), np.arange(90) % 3
    X[:, 0] += y
    found = validate(CARTClassifier(max_depth=2).fit(X[:45], y[:45]), X[45:], y[45:])
    write_validation(found, tmp_path / "v")
    for name in ("net_benefit", "subgroups"):
        table = pd.read_csv(tmp_path / "v" / f"{name}.csv")
        assert table.empty
        assert list(table.columns) == found.heads(name) == list(found.frame(name).columns)
    by = validate(found.model, X[45:], y[45:], by={"half": ["one"] * 5 + ["two"] * 40})
    assert by.heads("subgroups")[: len(found.heads("subgroups"))] == found.heads("subgroups")


def test_the_folds_of_the_recalibration_keep_groups_whole(model):
    X, y = _cohort(60, 1)
    groups = np.repeat(np.arange(60), 3)
    X, y = X.loc[X.index.repeat(3)].reset_index(drop=True), np.repeat(y, 3)
    cases = validate(model, X, y, groups=groups).frame("predictions")
    chances = cases[["p_ill", "p_well"]].to_numpy()
    told = cases[["recalibrated_ill", "recalibrated_well"]].to_numpy()
    codes = (y == "well").astype(int)
    np.testing.assert_allclose(told, cross_fitted(chances, codes, groups)[0], rtol=1e-12)
    assert not np.allclose(told, cross_fitted(chances, codes, np.arange(180))[0], rtol=1e-6)
    assert len(np.unique(told[:, 0].round(12))) <= 60  # copies of a case have one answer


def test_figures_of_a_subgroup_are_told_from_ten_cases_on(model):
    X, y = _cohort(60, 1)
    by = {"site": np.repeat(["nine", "ten", "rest"], [9, 10, 41])}
    rows = {row["level"]: row for row in validate(model, X, y, by=by).subgroups}
    assert "accuracy" not in rows["nine"]
    assert rows["ten"]["accuracy"] == rows["ten"]["right"] / 10
    assert rows["rest"]["n"] == 41


def test_voters_that_speak_against_have_a_share_of_the_weight_as_well():
    shares = np.array([[[0.5], [-0.25], [0.0]], [[0.1], [-0.3], [0.1]]])
    vote = SimpleNamespace(n_voters=3, output_shares=lambda X: shares)
    found = _shares(vote, SimpleNamespace(X=np.zeros((2, 1))))
    np.testing.assert_allclose(found, [(2 / 3 + 0.2) / 2, (1 / 3 + 0.6) / 2, 0.1])


@pytest.mark.parametrize(
    ("where", "what"),
    [(("shift", "columns", "distance"), {}), (("shift", "columns"), []), (("figures",), {"a": 1}),
     (("subgroups",), [3]), (("shift",), None)],
)  # fmt: skip
def test_a_validation_with_tables_that_are_none_is_damaged(found, tmp_path, where, what):
    write_validation(found, tmp_path / "v")
    path = tmp_path / "v/validation.json"
    data = json.loads(path.read_text())
    del data["checksum"]  # as of an older version
    inner = data
    for key in where[:-1]:
        inner = inner[key]
    inner[where[-1]] = what
    path.write_text(json.dumps(data))
    with pytest.raises(PsephosError, match=r"validation.json' is damaged .*: validate again"):
        summarise_validation(tmp_path / "v")


def test_columns_of_nearly_the_same_name_are_named_as_the_command_names_them(model, tmp_path):
    X, y = _cohort(60, 4)
    renamed = X.rename(columns={"a": "A", "c": "C [mg]"})
    said = "has no column 'a': taken as missing. It has 'A' (rename it 'a'), if these are the same"
    with pytest.warns(UserWarning, match=f"^X {re.escape(said)}") as caught:
        found = validate(model, renamed, y)
    assert Path(caught[0].filename).name == Path(__file__).name
    assert f"X {said}" in str(found)
    psephos.save(model, tmp_path / "m.psephos")
    renamed.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    words = ("validate", str(tmp_path / "m.psephos"), str(tmp_path / "t.csv"), "--target", "y")
    printed = CliRunner().invoke(main, [*words, "--out", str(tmp_path / "v")]).output
    assert said in printed.replace("\n", " ")
    with pytest.raises(PsephosError, match=r"it cannot predict\. It has 'A' \(rename it 'a'\)"):
        validate(model, X.rename(columns=str.upper), y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not validate(model, X.rename(columns={"a": "z"}), y).about["notes"]
        assert not validate(model, X.assign(A=X["a"]), y).about["notes"]
