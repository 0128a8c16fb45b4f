"""Measures by choice: figures of scikit-learn, the order of models, and what is refused."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn import metrics

from psephos._errors import PsephosError
from psephos.cli.compare import compare as compare_command
from psephos.cli.words import show_summary
from psephos.protocol import (
    Protocol,
    better_than_constant,
    compare,
    one_standard_error,
    pareto,
    summary,
)
from psephos.protocol.evaluation.answers import NumberAnswers
from psephos.protocol.evaluation.scores import (
    TABLES,
    ClassAnswers,
    cost_metric,
    display_name,
    metric_named,
)
from psephos.protocol.evaluation.statistics import permuted
from psephos.protocol.running.tasks import Tried, _winner, cheapest
from psephos.report.page.summarise import summarise
from psephos.report.study.options import PageOptions
from psephos.report.words import threshold_words

TINY = Protocol("tiny", folds=3, inner_folds=2, draws=2)
MODELS = ["majority", "sklearn-decision-tree", "sklearn-l1-logistic"]


def answers(rng, k, n=60):
    """Answers with ties, and the truth: of the last class no row, where k is negative."""
    truth = rng.integers(abs(k) - (k < 0), size=n)
    proba = rng.multinomial(10, rng.dirichlet(np.ones(abs(k)), size=n)) / 10
    return ClassAnswers(proba.argmax(axis=1), proba, positive=0), truth


def sensitivity(truth, proba):
    """The greatest over all thresholds, one by one."""
    yes, p = truth == 0, proba[:, 0]
    rates = [((p >= t)[yes].mean(), (p < t)[~yes].mean()) for t in [*np.unique(p), 2.0]]
    return max(found for found, spared in rates if spared >= 0.9)


TWO = {
    "average-precision": lambda a, y: metrics.average_precision_score(y == 0, a.proba[:, 0]),
    "MCC": lambda a, y: metrics.matthews_corrcoef(y, a.codes),
    "f1": lambda a, y: metrics.f1_score(y, a.codes, pos_label=0),
    "brier": lambda a, y: metrics.brier_score_loss(y, a.proba[:, 1]),
    "roc auc": lambda a, y: metrics.roc_auc_score(y, a.proba[:, 1]),
    "log-loss": lambda a, y: metrics.log_loss(y, np.clip(a.proba, 1e-15, None)),
    "balanced accuracy": lambda a, y: metrics.balanced_accuracy_score(y, a.codes),
    "sensitivity@.9": lambda a, y: sensitivity(y, a.proba),
}
SEVERAL = {
    "average-precision": lambda a, y: metrics.average_precision_score(np.eye(4)[y], a.proba),
    "mcc": TWO["MCC"],
    "f1": lambda a, y: metrics.f1_score(y, a.codes, average="macro"),
    "brier": lambda a, y: ((a.proba - np.eye(4)[y]) ** 2).sum(axis=1).mean(),
    "hand-till-auc": lambda a, y: metrics.roc_auc_score(y, a.proba, multi_class="ovo"),
}


@pytest.mark.parametrize(("name", "k"), [*((n, 2) for n in TWO), *((n, 4) for n in SEVERAL)])
def test_a_measure_is_that_of_scikit_learn(name, k):
    measure, theirs = metric_named(name, "classes", range(k)), (TWO if k == 2 else SEVERAL)[name]
    for seed in range(20):
        found, truth = answers(np.random.default_rng(seed), k)
        assert_allclose(measure.measured(found, truth), theirs(found, truth), atol=1e-12)


@pytest.mark.parametrize("name", ["average-precision", "hand-till-auc", "sensitivity@0.9", "auc"])
def test_where_a_class_is_absent_what_needs_it_is_not_defined(name):
    k = 2 if name == "sensitivity@0.9" else 3
    found, truth = answers(np.random.default_rng(0), -k)
    assert metric_named(name, "classes", range(k)).measured(found, truth) is None


def test_f1_without_a_positive_case_or_answer_is_not_defined():
    found, truth = answers(np.random.default_rng(0), 2)
    never = found._replace(codes=np.ones_like(truth))
    assert metric_named("f1", "classes", range(2)).measured(never, np.ones_like(truth)) is None


def test_errors_of_numbers_are_better_the_smaller():
    y, flat = np.array([1.0, 2.0, 4.0]), NumberAnswers(np.array([1.0, 2.0, 2.0]))
    for name, value in (("mae", 2 / 3), ("rmse", math.sqrt(4 / 3))):
        measure = metric_named(name, "numbers")
        assert_allclose(measure.measured(flat, y), value)
        assert measure.lower_is_better
    assert_allclose(metric_named("pinball", "numbers").measured(flat, y), 1 / 3)  # of points


def test_your_own_function_gets_labels_or_probabilities(tmp_path, monkeypatch):
    (tmp_path / "own_measures.py").write_text(
        "def share(y_true, y_pred):\n    return (y_true == y_pred).mean()\n"
        "def worst_error(y_true, y_score):\n    return abs(y_true - y_score).max()\n"
        "def broken(y_true, y_pred):\n    raise ValueError('too few')\n"
        "def each(y_true, y_pred):\n    return y_true == y_pred\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    classes = np.array(["ill", "well"])
    found, truth = answers(np.random.default_rng(1), 2)
    share, worst, broken, each = (
        metric_named(f"own_measures:{name}", "classes", classes)
        for name in ("share", "worst_error", "broken", "each")
    )
    assert_allclose(share.measured(found, truth), (found.codes == truth).mean())
    assert_allclose(worst.measured(found, truth), np.abs((truth == 0) - found.proba[:, 0]).max())
    assert (share.lower_is_better, worst.lower_is_better) == (False, True)
    with pytest.raises(PsephosError, match=r"own_measures:broken .*too few"):
        broken.measured(found, truth)
    with pytest.raises(PsephosError, match="one number"):
        each.measured(found, truth)


@pytest.mark.parametrize("positive", [0, 1])
def test_functions_of_scikit_learn_are_of_the_positive_class(positive):
    """By words, of which scikit-learn would take the later one in the alphabet."""
    found, truth = answers(np.random.default_rng(2), 2)
    found = found._replace(positive=positive)
    own = {
        "roc_auc_score": metrics.roc_auc_score(truth == positive, found.proba[:, positive]),
        "average_precision_score": metrics.average_precision_score(
            truth == positive, found.proba[:, positive]
        ),
        "log_loss": metrics.log_loss(truth, found.proba, labels=[0, 1]),
        "brier_score_loss": metrics.brier_score_loss(truth, found.proba[:, 1]),
        "f1_score": metrics.f1_score(truth, found.codes, pos_label=positive),
        "balanced_accuracy_score": metrics.balanced_accuracy_score(truth, found.codes),
    }
    for classes in (["abnormal", "benign"], ["w", "b"], [0, 1]):
        for name, value in own.items():
            measure = metric_named(f"sklearn.metrics:{name}", "classes", np.array(classes))
            assert_allclose(measure.measured(found, truth), value, err_msg=name)


def test_probabilities_of_more_classes_are_in_the_order_of_sorted_labels():
    found, truth = answers(np.random.default_rng(2), -4)  # no row of the last class
    measure = metric_named("sklearn.metrics:log_loss", "classes", np.array(["d", "b", "a", "c"]))
    value = metrics.log_loss(truth, found.proba, labels=range(4))
    assert_allclose(measure.measured(found, truth), value)


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("brierr", "classes", "balanced_accuracy, .*brier_score.* got 'brierr'"),
        ("f1", "numbers", "must be a measure of such a target"),
        ("coverage_90", "numbers", "must be a measure of such a target"),
        ("sensitivity@1.5", "classes", "below 1"),
        ("nowhere:f", "classes", "No module named"),
        ("sklearn.metrics:make_scorer", "classes", "failed|cannot be used"),
        ("math:tau", "classes", "not a callable"),
    ],
)
def test_what_is_not_a_measure_is_a_sentence(name, kind, words):
    found, truth = answers(np.random.default_rng(0), 2)
    with pytest.raises(PsephosError, match=words):
        metric_named(name, kind, ["a", "b"]).measured(found, truth)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(72, 6))
    return X, np.where(X[:, 0] + rng.normal(size=72) * 0.7 > 0.5, "ill", "well")


@pytest.fixture(scope="module")
def by_loss(table, tmp_path_factory):
    out = tmp_path_factory.mktemp("loss") / "study"
    return compare(*table, MODELS, TINY, metric="Log-Loss", n_jobs=1, out=out)


def test_models_are_ranked_by_it_in_its_direction(by_loss):
    found = by_loss.summary()
    scores = {one.model: one.score for one in found}
    assert scores == {one.model: one.measures["log_loss"].mean for one in found}
    least = min(scores, key=scores.get)
    assert by_loss.pareto()[-1].model == least
    assert scores["majority"] > scores[least]  # and yet no model is better than it by the score
    assert one_standard_error(found).score <= scores[least] + max(one.score_se for one in found)
    assert_allclose(by_loss.difference(least, "majority").mean, scores[least] - scores["majority"])
    # by rows alone the usual measure ranks: with `about` the chosen one
    assert summary(by_loss.results)[0].ranked_by.name == "balanced_accuracy"
    assert [one.model for one in pareto(found)] == [one.model for one in by_loss.pareto()]


def test_a_usual_measure_adds_no_column_and_another_one(by_loss, table):
    usual = compare(*table, MODELS[:1], TINY, n_jobs=1)
    other = compare(*table, MODELS[:1], TINY, metric="f1", positive="well", n_jobs=1)
    assert "f1" in other.frame("pandas").columns
    assert list(by_loss.results[0]) == list(usual.results[0])
    assert set(other.results[0]) - set(usual.results[0]) == {"f1"}
    assert "threshold" not in usual.frame("pandas").columns
    assert "metric" not in usual.about
    assert "metric" not in usual.about["protocol_settings"]
    assert other.about["metric"]["constant"] == other.summary()[0].score  # always the majority


def test_draws_are_chosen_by_it(by_loss):
    assert "by log-loss in" in by_loss.about["protocol"]
    assert all(row["inner_log_loss"] > 0 for row in by_loss.refits if row["draws"] > 1)


def test_the_constant_is_the_best_constant_answer(by_loss):
    majority = next(one for one in by_loss.summary() if one.model == "majority")
    assert_allclose(by_loss.about["metric"]["constant"], majority.score)
    assert "majority" not in by_loss.better(0.99)


def test_it_is_part_of_the_study(by_loss, table):
    with pytest.raises(PsephosError, match="metric is 'log_loss' there and 'mcc' here"):
        compare(*table, MODELS, TINY, metric="mcc", n_jobs=1, out=by_loss.out)
    with pytest.raises(PsephosError, match="metric is 'log_loss' there and 'as usual' here"):
        compare(*table, MODELS, TINY, n_jobs=1, out=by_loss.out)


def test_the_usual_measure_by_name_is_the_usual_study(table, tmp_path):
    usual = compare(*table, MODELS[:2], TINY, n_jobs=1, out=tmp_path)
    before = (tmp_path / "journal.jsonl").read_bytes()
    named = compare(*table, MODELS[:2], TINY, metric="balanced accuracy", n_jobs=1, out=tmp_path)
    assert named.results == usual.results
    assert (tmp_path / "journal.jsonl").read_bytes() == before  # nothing was fitted again


@pytest.mark.parametrize("kind", ["classes", "labels", "numbers"])
def test_a_measure_has_one_name_by_which_it_can_be_chosen(kind):
    for one in (*TABLES[kind], *(TABLES["chosen"] if kind == "classes" else ())):
        if one.name == "coverage_90":
            continue
        for name in (
            one.name,
            one.name.replace("_", "-"),
            one.name.replace("_", ""),
            one.words,
            one.words.upper(),
        ):
            assert metric_named(name, kind, ["a", "b"]).name == one.name
        assert display_name(one.name) == metric_named(one.name, kind).words == one.words
    assert display_name("sensitivity@0.90") == "sensitivity at 0.9 specificity"
    assert display_name("cost") == "cost per case"
    assert display_name("mine:loss") == "mine:loss"


def test_the_help_names_measures_as_the_page_does():
    known = [*TABLES["classes"][1:], *TABLES["chosen"], *TABLES["numbers"][1:-1]]
    option = next(one for one in compare_command.params if one.name == "metric")
    assert [one.words for one in known if one.words not in option.help] == []


def test_the_page_and_the_terminal_name_it(by_loss, capsys):
    from psephos.cli.words import show_summary
    from psephos.report import build_report

    page = build_report(by_loss.out).read_text("utf-8")
    assert "Models are ranked by log-loss: less is better." in page
    assert "most accurate" not in page.split("<script")[0]
    show_summary(by_loss)
    out = capsys.readouterr().out
    assert out.splitlines()[0].split()[:2] == ["model", "log-loss"]
    first = out.splitlines()[1].split()[0]
    assert first == min(by_loss.summary(), key=lambda one: one.score).model
    assert "within one standard error of the best in log-loss" in out


def test_partly_recorded_labels_have_their_own(table):
    X, y = table
    with pytest.raises(PsephosError, match="PU-F"):
        compare(X, np.where(np.arange(72) % 3, y, None), unlabeled=None, truth=y, metric="f1")


def test_one_standard_error_prefers_fewer_columns():
    best = Tried({"a": 1}, 0.9, 0.9, 0.05, 20.0)
    near, far = Tried({"a": 2}, 0.86, 0.86, 0.01, 5.0), Tried({"a": 3}, 0.8, 0.8, 0.01, 1.0)
    assert _winner([best, near, far], "best") is best
    assert _winner([best, near, far], "one-se") is near


def test_one_standard_error_is_part_of_a_comparison(table, tmp_path):
    X, y = table
    both = [
        compare(X, y, ["sklearn-l1-logistic"], TINY, select=one, n_jobs=1, random_state=1)
        for one in ("best", "one-se")
    ]
    columns = [one.summary()[0].columns_used.mean for one in both]
    assert columns[1] <= columns[0]
    assert "fewest columns within one standard error" in both[1].about["protocol"]
    assert json.dumps(both[1].about["protocol_settings"])  # plain values
    compare(X, y, ["sklearn-l1-logistic"], replace(TINY, repeats=2), select="one-se", n_jobs=1,
            out=tmp_path)  # fmt: skip
    splits, tuning = summarise(tmp_path)["methods"][:2]
    assert splits.startswith("Stratified 3-fold cross-validation, repeated 2 times.")
    assert tuning.startswith(
        "Inside each training part, a random search kept the setting of the fewest columns within "
        "one standard error of the best mean balanced accuracy over 2 folds of 2 draws per model"
    )


def test_the_threshold_costs_least_of_all():
    rng = np.random.default_rng(0)
    for _ in range(50):
        yes = rng.random(40) < 0.3
        digits, missed = int(rng.integers(1, 4)), float(rng.integers(1, 9))
        p = np.clip(np.round(rng.random(40), digits), 0.001, 0.999)
        every = [missed * (yes & (p < t)).sum() + (~yes & (p >= t)).sum() for t in [*p, 1.0001]]
        t = cheapest(p, yes, missed)
        found = missed * (yes & (p < t)).sum() + (~yes & (p >= t)).sum()
        assert 0 < t < 1
        assert found == min(every)
    assert cheapest(np.full(9, 0.4), np.arange(9) < 3, 3.0) == 0.25  # of equals 1 / (1 + 3)


@pytest.fixture(scope="module")
def by_cost(table, tmp_path_factory):
    out = tmp_path_factory.mktemp("cost") / "study"
    models = ["majority", "adaboost", "sklearn-l1-logistic"]
    return compare(*table, models, TINY, cost={"missed": 5}, positive="ill", n_jobs=1, out=out)


def test_the_cost_is_that_of_answers_at_a_threshold_of_the_training_part(by_cost):
    entries = [
        json.loads(line) for line in (by_cost.out / "journal.jsonl").read_text().splitlines()
    ]
    by_fit = {(e["model"], *e["split"]): e for e in entries if e.get("split")}
    for row in by_cost.results:
        entry = by_fit[row["model"], row["repeat"], row["fold"]]
        assert 0 < entry["threshold"] < 1
        assert row["cost"] == entry["measures"]["cost"]
        assert row["threshold"] == entry["threshold"]
    written = pd.read_csv(by_cost.out / "results.csv")
    assert written["threshold"].tolist() == [row["threshold"] for row in by_cost.results]
    assert by_cost.frame("pandas")["threshold"].tolist() == written["threshold"].tolist()
    ranked = min(by_cost.summary(), key=lambda one: one.score)
    assert by_cost.pareto()[-1].model == ranked.model
    ill = 25 / 72  # of constant answers calling everybody ill is the best
    assert_allclose(by_cost.about["metric"]["constant"], 1 - ill, atol=0.02)


def test_the_page_says_at_which_thresholds_the_cost_is(by_cost):
    report = summarise(by_cost.out)
    first, island = report["first"], report["island"]
    own = {row["model"]: row["threshold"] for row in by_cost.refits}
    t = own[island["first"]["model"]]
    assert island["first"]["threshold"] == island["missed"]["threshold"] == t != 0.5
    assert "held-out cost per case is" in first[0]
    assert first[2].startswith(f"At threshold {threshold_words(t)} it misses")
    assert len(first) == 3
    assert "The cost is at the thresholds that were chosen in the folds." in report["verdict"]
    assert report["missed"]["weight"] == "5"
    for model, one in island["missed"]["models"].items():
        assert one["own"]["at"] == own[model]
        assert f"{model} is shown first at {threshold_words(own[model])}" in one["own"]["words"]
        kept = "saved in its file" if model == "adaboost" else "chosen for it"
        assert kept in one["own"]["words"] or model == "majority"
    # of the other class it is not the threshold
    other = summarise(by_cost.out, options=PageOptions(positive="well"))
    assert other["island"]["first"]["threshold"] == 0.5
    assert "own" not in other["island"]["missed"]["models"]["adaboost"]
    closed = summarise(by_cost.out, options=PageOptions(cases="none"))["island"]["missed"]
    models = closed["models"].items()
    withheld = {model for model, one in models if "absent" in one}  # counts below ten
    assert withheld == {"adaboost", "sklearn-l1-logistic"}
    assert own["majority"] in closed["models"]["majority"]["edges"]


def test_the_saved_model_answers_at_its_threshold(by_cost, table):
    from psephos.models import load

    row = next(row for row in by_cost.refits if row["model"] == "adaboost")
    model = load(by_cost.out / row["file"])
    place = model.classes_.tolist().index("ill")
    X = pd.DataFrame(table[0], columns=model.feature_names_in_)
    called = model.predict_proba(X)[:, place] >= row["threshold"]
    assert (model.predict(X) == np.where(called, "ill", "well")).all()


def test_the_page_of_a_cost_says_so(by_cost):
    from psephos.report import build_report

    page = build_report(by_cost.out).read_text("utf-8")
    assert "Models are ranked by cost per case: less is better." in page
    assert "no threshold was chosen" not in page


def the_axis_holds(out, *, least, greatest):
    """Whether the chart has a place for every dot, and for no value that the measure has not.

    A constant that is far from all models that read columns, and those that read none, have none.
    """
    chart = summarise(out)["island"]["chart"]
    low, high = sorted(chart["ends"])
    reading = [one for one in chart["points"] if one["columns"] > 0]
    dots = [one["score"] for one in reading]
    dots += [score for one in reading for _, score in one["fits"]]
    assert len(dots) > len(reading)
    far = min(abs(one - chart["constant"]) for one in dots) >= 0.5 * (max(dots) - min(dots))
    drawn = dots if far else [*dots, chart["constant"], *(p["score"] for p in chart["points"])]
    assert low <= min(drawn)
    assert high >= max(drawn)
    assert (low, high) == (max(low, least), min(high, greatest))
    return chart["ends"], dots


def test_the_axis_of_the_chart_is_of_the_measure(by_cost, by_loss, table, tmp_path):
    (worst, best), dots = the_axis_holds(by_cost.out, least=0, greatest=math.inf)
    assert worst > best
    assert worst > max(dots)
    the_axis_holds(by_loss.out, least=0, greatest=math.inf)
    noise = np.random.default_rng(0).normal(size=72)  # R² below 0
    models = ["mean", "sklearn-k-nn-regressor", "sklearn-lasso"]
    compare(table[0], noise, models, TINY, n_jobs=1, out=tmp_path / "r2")
    (worst, best), dots = the_axis_holds(tmp_path / "r2", least=-math.inf, greatest=1)
    assert worst < min(dots) < 0
    assert best > max(dots)
    compare(*table, MODELS, TINY, metric="mcc", n_jobs=1, out=tmp_path / "mcc")
    the_axis_holds(tmp_path / "mcc", least=-1, greatest=1)


@pytest.mark.parametrize("cost", ["five", {"missed": 5, "alarm": 1}, -1, "alarm=3"])
def test_what_is_not_a_cost_is_a_sentence(table, cost):
    with pytest.raises(PsephosError, match="must be missed=5"):
        compare(*table, MODELS[:1], TINY, cost=cost)


def test_a_cost_is_of_two_classes_and_ranks_alone(table):
    X, y = table
    with pytest.raises(PsephosError, match="two classes"):
        compare(X, np.arange(72) % 3, MODELS[:1], TINY, cost=5, task="classes")
    with pytest.raises(PsephosError, match="leave --metric"):
        compare(X, y, MODELS[:1], TINY, cost=5, metric="f1")


@pytest.mark.parametrize(("name", "constant"), [("accuracy", 0.5), ("brier", 0.25)])
def test_random_answers_are_called_better_as_seldom_as_is_said(name, constant):
    measure, called = metric_named(name, "classes", range(2)), 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        rows, chance = [], []
        for fold in range(5):
            truth, p = rng.permutation(np.repeat([0, 1], 10)), rng.random(20)
            proba = np.column_stack([1 - p, p])
            found = ClassAnswers(proba.argmax(axis=1), proba)
            figures = {measure.name: measure.measured(found, truth), "balanced_accuracy": 0.5}
            place = {"model": "random", "repeat": 0, "fold": fold, "status": "ok"}
            sizes = {"n_train": 10**6, "n_test": 20, "columns_used": 1, "n_voters": None}
            rows.append(figures | place | sizes)
            chance.append(permuted(measure, found, truth, fold))
        own = {"name": measure.name, "lower_is_better": measure.lower_is_better}
        own |= {"constant": constant, "chance": {"random": np.mean(chance, axis=0).tolist()}}
        about = {"classes": ["a", "b"], "class_counts": [50, 50], "n_rows": 100, "metric": own}
        called += bool(better_than_constant(rows, about))
    # parts are independent here, so that 10 are expected at most: of probabilities far from the
    # constant's, which is the better one, none
    assert called <= 19
    assert (called == 0) == (name == "brier")


def costs(seed, share, n_parts=5):
    """Rows and facts of a model that calls 30 % of the cases well, `share` of which are ill."""
    rng, measure = np.random.default_rng(seed), cost_metric(5.0)
    rows, chance, counts = [], [], np.zeros(4)
    for fold in range(n_parts):
        p = np.where(rng.random(60) < 0.3, 0.1, 0.9)
        truth = (rng.random(60) < np.where(p < 0.5, share, 0.5)).astype(int)
        proba = np.column_stack([1 - p, p])
        found = ClassAnswers(proba.argmax(axis=1), proba, 1, 0.5)
        figures = {"cost": measure.measured(found, truth), "balanced_accuracy": 0.5}
        place = {"model": "m", "repeat": 0, "fold": fold, "status": "ok"}
        sizes = {"n_train": 240, "n_test": 60, "columns_used": 1, "n_voters": None}
        rows.append(figures | place | sizes)
        chance.append(permuted(measure, found, truth, fold))
        counts += np.bincount(2 * truth + found.codes, minlength=4)
    own = {"name": "cost", "lower_is_better": True, "missed": 5.0, "counts": {"m": counts.tolist()}}
    own |= {"constant": counts[:2].sum() / 300, "chance": {"m": np.mean(chance, axis=0).tolist()}}
    return rows, {"classes": ["well", "ill"], "class_counts": counts.reshape(2, 2).sum(1).tolist(),
                  "n_rows": 300, "metric": own}  # fmt: skip


def test_a_cost_is_compared_with_constants_by_the_cases_that_differ():
    # of the cases called well 1 in 6 is ill: they cost as much as if called ill, 5 to 1
    assert sum(bool(better_than_constant(*costs(seed, 1 / 6))) for seed in range(100)) <= 10
    found, before = 0, 0
    for seed in range(40):
        rows, about = costs(seed, 0.08)
        found += bool(better_than_constant(rows, about))
        grouped = about | {"design_effects": {"m": 20.0}}
        assert not better_than_constant(rows, grouped)
        del about["metric"]["counts"]  # as in a study of before
        before += bool(better_than_constant(rows, about))
    assert found >= 28
    assert before <= 18


def test_the_counts_of_a_cost_are_those_of_its_folds(by_cost, table):
    positive = table[1] == "ill"
    for times in (1, 2):
        plan, models = replace(TINY, repeats=times), ["majority", "adaboost"]
        found = compare(*table, models, plan, cost=5, positive="ill", n_jobs=1)
        told = found.about["metric"]
        for one in found.summary():
            cleared, alarms, lost, right = told["counts"][one.model]
            assert (cleared + alarms, lost + right) == ((~positive).sum(), positive.sum())
            assert (told["missed"] * lost + alarms) / len(positive) == pytest.approx(one.score)


def test_page_and_screen_of_a_cost_agree(by_cost, capsys):
    better = by_cost.better()
    page = summarise(by_cost.out)
    assert {m["key"] for m in page["models"] if m["frontier"]} <= better.keys()
    show_summary(by_cost)
    shown = capsys.readouterr().out
    said = " ".join(page["verdict"])
    assert ("p ≤ 0.05, corrected for 2 models" in said) == bool(better) == ("*: sig" in shown)


def noisy():
    X = np.random.default_rng(0).normal(size=(60, 5))
    return X[:, 1:], 3 * X[:, 1] + X[:, 0]


@pytest.mark.parametrize(("name", "own"), [("crps", 1.0), ("pinball", 0.5)])
def test_a_point_is_a_distribution_where_models_are_ranked_by_one(name, own):
    """CRPS of a point is the absolute error; so is twice its pinball loss over levels about 1/2."""
    X, y = noisy()
    names = ["sklearn-lasso", "mean"]
    found = compare(X, y, names, TINY, metric=name, select="one-se", curve=name == "crps")
    for row in found.results:
        assert row["status"] == "ok"
        assert row[name] == pytest.approx(own * row["mae"])
    assert found.summary()[0].model == "sklearn-lasso"
    plain = compare(X, y, ["mean"], TINY)
    assert {row["crps"] for row in plain.results} == {None}


def test_a_measure_that_is_never_defined_chooses_nothing(tmp_path, monkeypatch):
    (tmp_path / "never.py").write_text("def known(y_true, y_pred):\n    return float('nan')\n")
    monkeypatch.syspath_prepend(tmp_path)
    X, y = noisy()
    found = compare(X, y, ["sklearn-lasso"], TINY, metric="never:known")
    assert {row["status"] for row in found.results} == {"failed"}
    assert "not defined in any inner fold" in found.results[0]["error"]
