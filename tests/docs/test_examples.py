"""Every example runs and shows what its text says: the numbers behind the picture are tested."""

import importlib.util
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

matplotlib = pytest.importorskip("matplotlib", reason="needs matplotlib (extra 'plot')")
matplotlib.use("Agg")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TESTED = {
    "plot_ballots", "plot_bayes_optimal", "plot_bias_variance", "plot_bounds", "plot_cohort",
    "plot_contours", "plot_drift", "plot_few_columns", "plot_forest_rates", "plot_iris_surfaces",
    "plot_prototypes", "plot_swag_network", "plot_two_trees", "plot_version_space",
    "plot_weight_estimation",
}  # fmt: skip


def example(name):
    """Import an example as a module; its own run is guarded by __main__."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    import matplotlib.pyplot as plt  # after the backend is chosen

    plt.close("all")


def test_every_example_is_tested_here():
    assert {path.stem for path in EXAMPLES.glob("plot_*.py")} == TESTED


# draws of the same picture
FEWER = {
    "plot_bayes_optimal": ["--targets", "3"], "plot_bias_variance": ["--draws", "3"],
    "plot_version_space": ["--seeds", "2"],
}  # fmt: skip


# of plot_swag_network, which takes long, beside what it shows
@pytest.mark.parametrize("name", sorted(TESTED - {"plot_swag_network"}))
def test_an_example_saves_only_where_it_is_told_to(name, tmp_path, monkeypatch):
    picture = tmp_path / "picture.png"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [f"{name}.py", "--out", str(picture), *FEWER.get(name, ())])
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert list(tmp_path.iterdir()) == [picture]


# --- Figure 1 --------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def weight_curves():
    return example("plot_weight_estimation").curves(n_points=501)


def formula(panel, a, b):
    """Return equation (1) divided by its similarities, one point and one row at a time."""
    heard = np.empty(len(panel["where"]))
    for k, x in enumerate(panel["where"]):
        distance = np.abs(panel["x"] - x)
        if a == 0 and (distance == 0).any():
            heard[k] = panel["omega"][distance == 0].mean()
            continue
        similarity = 1.0 / (a**b + distance**b)
        heard[k] = (similarity * panel["omega"]).sum() / similarity.sum()
    return heard


@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize("b", [1.5, 4.0])
@pytest.mark.parametrize("a", [0.0, 0.02])
def test_the_drawn_curve_is_the_formula(weight_curves, noisy, b, a):
    panel = weight_curves[noisy, b]
    assert_allclose(panel["estimate"][a], formula(panel, a, b), rtol=1e-9)


def test_the_rows_are_those_of_the_supplement(weight_curves):
    for (noisy, _), panel in weight_curves.items():
        expected = np.where(panel["x"] <= 0.5, 0.44, 0.006)
        assert len(panel["x"]) == 200
        wrong = panel["omega"] != expected
        assert_array_equal(
            [wrong[panel["x"] <= 0.5].sum(), wrong[panel["x"] > 0.5].sum()], 3 * noisy
        )
        assert_allclose(panel["flat"], panel["omega"].mean())


def test_at_a_0_the_curve_meets_every_row_and_sags_between_them_at_small_b(weight_curves):
    sag = {}
    for (noisy, b), panel in weight_curves.items():
        at = np.searchsorted(panel["where"], panel["x"])
        assert_allclose(panel["estimate"][0.0][at], panel["omega"], rtol=1e-12)
        inside = panel["where"] < 0.45
        sag[noisy, b] = 0.44 - panel["estimate"][0.0][inside].min()
    assert sag[False, 1.5] > 20 * sag[False, 4.0]


def test_at_a_002_a_wrong_row_is_outvoted(weight_curves):
    for b in (1.5, 4.0):
        panel = weight_curves[True, b]
        at = np.searchsorted(panel["where"], panel["x"])
        high = panel["estimate"][0.02][at] > 0.22
        clear = np.abs(panel["x"] - 0.5) > 0.05
        assert_array_equal(high[clear], (panel["x"] <= 0.5)[clear])


def test_the_weight_picture_shows_the_table(weight_curves):
    figure = example("plot_weight_estimation").draw(weight_curves)
    assert [ax.get_title() for ax in figure.axes] == [
        "pure, b = 1.5", "pure, b = 4", "noisy, b = 1.5", "noisy, b = 4",
    ]  # fmt: skip
    drawn = {line.get_label(): line.get_ydata() for line in figure.axes[3].lines}
    assert_array_equal(drawn["a = 0.02"], weight_curves[True, 4.0]["estimate"][0.02])
    assert_array_equal(drawn["training rows"], weight_curves[True, 4.0]["omega"])


# --- Figure 3 --------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def contour_panels():
    return example("plot_contours").contours(n_points=12)


def test_samba_bends_where_boosting_cannot(contour_panels):
    accuracy = {(p["table"], p["model"]): p["accuracy"] for p in contour_panels}
    assert len(accuracy) == 14
    for name in ("SamBA, the paper's settings", "SamBA, defaults", "k-NN"):
        assert accuracy["moons", name] >= 0.97
        assert accuracy["spirals", name] >= 0.97
    assert accuracy["spirals", "AdaBoost"] < 0.85
    assert accuracy["spirals", "SVM-RBF"] < 0.85


def test_a_linear_tree_follows_what_a_line_cannot():
    panels = example("plot_contours").contours(n_points=12, figure=4)
    accuracy = {(p["table"], p["model"]): p["accuracy"] for p in panels}
    assert len(accuracy) == 8
    assert accuracy["moons", "linear tree"] >= 0.97 > accuracy["moons", "Lasso"]
    assert accuracy["spirals", "linear tree"] > accuracy["spirals", "Lasso"] + 0.2


def test_panels_are_certainties_on_a_grid_around_all_rows(contour_panels):
    for panel in contour_panels:
        assert panel["decision"].shape == (12, 12)
        assert np.abs(panel["decision"]).max() <= 1 + 1e-12
        rows = np.vstack([panel["train"][0], panel["test"][0]])
        assert len(rows) == 1000
        for axis, values in zip(("across", "up"), rows.T, strict=True):
            assert panel[axis][0] < values.min() < values.max() < panel[axis][-1]


@pytest.mark.parametrize("scale", ["mean", "sum", None])
def test_at_the_supplements_a_and_b_the_scale_of_distances_does_not_matter(scale):
    module = example("plot_contours")
    X, Z, y, _ = module.tables()["spirals"]
    answers = []
    for used in ("sum", scale):
        model = module.SamBAClassifier(**module.PAPER | {"distance_scale": used}).fit(X, y)
        answers.append(model.decision_function(Z))
    assert_allclose(*answers, rtol=1e-9, atol=1e-12)


def test_the_programs_own_update_stalls_on_the_spirals():
    module = example("plot_contours")
    X, Z, y, t = module.tables()["spirals"]
    settings = module.PAPER | {"update": "vote", "leave_one_out": False}
    model = module.SamBAClassifier(**settings).fit(X, y)
    assert model.n_features_used_ == 1
    assert model.score(Z, t) < 0.8
    settings["leave_one_out"] = True
    assert module.SamBAClassifier(**settings).fit(X, y).score(Z, t) >= 0.97


# --- Ballots ---------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def ballot_story():
    return example("plot_ballots").story()


def test_the_ballots_sum_to_the_score(ballot_story):
    ballot = ballot_story["ballot"]
    assert_allclose(sum(ballot["contribution"]), ballot["score"], atol=1e-12)
    assert_allclose(abs(ballot["score"]), np.abs(ballot_story["score"]).min(), rtol=1e-12)
    for vote, part in zip(ballot["vote"], ballot["contribution"], strict=True):
        assert vote == ("malignant" if part > 0 else "benign")


def test_the_story_names_every_column_it_uses(ballot_story):
    model = ballot_story["model"]
    assert len(ballot_story["sentences"]) == 1 + model.vote_.n_voters
    for column in model.features_used_:
        assert any(column in sentence for sentence in ballot_story["sentences"][1:])
    assert ballot_story["accuracy"] > 0.9


def test_the_reduced_model_gives_the_same_scores_after_a_file(ballot_story):
    assert_array_equal(ballot_story["loaded_score"], ballot_story["score"])
    assert 0 < ballot_story["file_bytes"] < 100_000


# --- a concept that moves --------------------------------------------------------------------
def test_boosting_stands_drift_better_than_a_bag_that_forgets_nothing():
    drift = example("plot_drift")
    still, fast = ({k: v[5:].mean() for k, v in drift.accuracies(t).items()} for t in (0.0, 12.0))
    assert still["bag of all batches"] > still["boosting"] + 0.02
    assert still["bag of all batches"] > still["bag of the last batch"] - 0.01
    assert fast["boosting"] > fast["bag of all batches"] + 0.03
    assert fast["bag of the last batch"] > fast["boosting"] + 0.02


# --- version spaces --------------------------------------------------------------------------
def test_four_days_leave_six_hypotheses():
    module = example("plot_version_space")
    left, model = module.day_by_day()
    assert left[-1] == 6
    days, labels = zip(*module.DAYS, strict=True)
    assert_array_equal(model.predict(module.table(days)), labels)


def test_questions_where_hypotheses_disagree_rule_out_more_than_cases_at_random():
    module = example("plot_version_space")
    chance, asked = (
        np.median([module.hypotheses_left(how, seed=seed) for seed in range(8)], axis=0)
        for how in ("at random", "where they disagree")
    )
    assert chance[0] == asked[0]
    assert asked[-1] < chance[-1] / 4


# --- bounds ----------------------------------------------------------------------------------
def test_what_is_proved_of_a_forest_is_above_its_error_and_falls_with_rows():
    found = example("plot_bounds").curves((400, 3200), n_trees=40)
    error = np.array(found.pop("error on new rows"))
    for bound in found.values():
        assert (np.array(bound) > error).all()
        assert bound[1] < bound[0]
    assert found["held out"][1] < 0.5


# --- another cohort --------------------------------------------------------------------------
def test_a_shifted_marker_and_a_missing_one_are_named_and_cost_accuracy():
    module = example("plot_cohort")
    found = module.cohorts()
    alike, other = found["as in the fit"], found["the other clinic"]
    assert other.speaking["lacking"] == ["IL-6"]
    assert other.speaking["n_none"] > 0
    columns = other.frame("columns").set_index("column")
    shifted = set(columns.index[columns["distance"] > columns["chance"]])
    assert "CRP" in shifted
    assert columns.loc["CRP", "difference"] > 0.5
    assert alike.shift["n_shifted"] <= 1
    areas = [one.figure("ROC-AUC")["value"] for one in (alike, other)]
    assert areas[0] > areas[1] + 0.05
    display = module.missed(other)
    cases = other.frame("predictions")
    lost = (cases["truth"] == "ill") & (cases["p_ill"] < 0.5)
    assert display.counts.missed == lost.sum()
    figure = module.draw(found)
    assert [ax.get_title().split(":")[0] for ax in figure.axes] == list(found)


# --- CART and C4.5 ---------------------------------------------------------------------------
def test_the_two_trees_differ_as_the_text_says():
    trees, compared = example("plot_two_trees").side_by_side()
    cart, c45 = (compared[name] for name in ("CART", "C4.5"))
    assert cart["answers of its question about the site"] == 2
    assert c45["answers of its question about the site"] == 4
    for name, one in compared.items():
        assert one["leaves"] == trees[name].get_n_leaves() < one["leaves before pruning"]
    lacking, known = "error where the dose is missing", "error, new patients"
    assert cart[lacking] < cart[known] + 0.1
    assert c45[lacking] > 0.4
    assert "marker" in trees["CART"].splits_["column"]


# --- bias and variance -----------------------------------------------------------------------
def test_a_bag_takes_variance_away_and_boosting_bias():
    found = example("plot_bias_variance").terms(n_draws=8)
    deep, bag, stump, boosted = found.values()
    assert bag["variance"] < 0.75 * deep["variance"]
    assert bag["bias"] < deep["bias"] + 0.02
    assert boosted["bias"] < 0.6 * stump["bias"]


def test_a_bag_errs_less_where_its_members_agree():
    module = example("plot_bias_variance")
    errors = module.errors_of_the_surest([0.3, 0.6, 1.0])
    assert errors[0] < errors[2] / 2
    assert errors[1] < errors[2] / 2


# --- The Bayes optimal classifier ---------------------------------------------------------------
def test_no_other_classifier_is_better_on_average():
    made = example("plot_bayes_optimal")
    errors = dict(zip(made.METHODS, made.errors(12, 100, seed=1), strict=True))
    best = errors.pop("Bayes optimal")
    for found in errors.values():
        assert best.mean() <= found.mean() + 2 * (found - best).std() / 10  # standard error of 100
    for name in ("tree", "logistic regression"):
        assert best.mean() + 0.02 < errors[name].mean()
    assert errors["Gibbs"].mean() <= 2 * best.mean()


# --- Surfaces of iris ---------------------------------------------------------------------------
def test_the_surfaces_of_iris_are_of_the_models_that_the_rules_choose():
    made = example("plot_iris_surfaces")
    X, new, y, truth = made.split()
    assert (len(X), len(new)) == (105, 45)
    model = made.searched("one_sd", X, y)
    figure = made.draw({"E3": model, "again": model}, X, y, new, truth)
    assert len(figure.axes) == 2
    words = figure.axes[0].get_title()
    assert f"{int(model.n_prototypes_.sum())} prototypes" in words
    assert f"{(model.predict(new) == truth).mean():.2f}" in words  # classes of equal sizes


def test_few_columns_are_as_good_as_all_and_those_that_decide_return():
    module, rng = example("plot_few_columns"), np.random.default_rng(0)
    X, y = module.rows_of(200, rng)
    curve = module.curve(X, y, (1, 4)).table()
    assert curve["score"][1] > curve["score"][0]
    assert curve["difference"][1] > 0.1
    columns, stated, again = module.rates(X, y, rng, n_samples=4)
    assert sorted(columns[:4]) == [0, 1, 2, 3]
    assert again[:4].min() > again[4:].max()
    assert stated[:4].min() > stated[4:].max()
