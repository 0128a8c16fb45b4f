"""Predicted against observed: every case is where its prediction is, and the worst ones open."""

import csv
import math
import re

import numpy as np
import pytest

from psephos.protocol import Protocol, compare
from psephos.protocol.tables.table import table_from_arrays
from psephos.report import build_report

pytestmark = pytest.mark.browser
MODELS = ["cart-regressor", "proset-regressor"]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    table = table_from_arrays(X, 9 * X[:, 0] + rng.normal(size=80), target_name="<b>dose</b>")
    out = tmp_path_factory.mktemp("numbers") / "s"
    small = Protocol("small", draws=1, inner_folds=2, folds=3)
    compare(table, models=MODELS, protocol=small, n_jobs=1, out=out)
    build_report(out)
    return out


def predictions(study, model):
    with (study / "predictions.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["model"] == model]
    return {int(r["row"]): (float(r["truth"]), float(r["predicted"])) for r in rows}


@pytest.mark.parametrize("model", MODELS)
def test_dots_and_worst_cases_are_those_of_the_model_chosen(load, study, model):
    page = load(study / "report.html")
    page.select_option("#model", model)
    own = predictions(study, model)
    page.wait_for_function("() => document.querySelectorAll('.observed .case').length === 80")
    dots = page.locator(".observed .case").evaluate_all(
        "(all) => all.map((d) => [d.dataset.at, d.cx.baseVal.value, d.cy.baseVal.value])"
    )
    at, x, y = np.array([[float(v) for v in one] for one in dots]).T
    truth, predicted = np.array([own[int(i)] for i in at]).T
    assert np.corrcoef(x, truth)[0, 1] == pytest.approx(1)
    near = np.abs(predicted) < np.abs(truth).max()
    assert np.corrcoef(y[near], predicted[near])[0, 1] == pytest.approx(-1, abs=1e-3)
    worst = max(own, key=lambda i: abs(own[i][1] - own[i][0]))
    assert page.locator(".observed .wrong").count() == 10
    note = page.locator("[data-test=observed-note]").text_content()
    assert note.startswith("Predictions and errors are in units of <b>dose</b>. ")
    assert "The larger dots are the 10 worst." in note
    assert page.locator("#accuracy").text_content().count("in units of <b>dose</b>") == 1
    first = page.locator("#worst tbody button").first
    assert first.text_content() == f"row {worst}"
    first.click()
    assert f"row {worst}: observed" in page.locator("#observed-person").text_content()
    page.wait_for_selector(".observed .pin", state="attached")
    words = page.locator("#case-live").text_content()
    held_out = re.search(
        rf"{model} starts at row {worst} \(observed (\S+), predicted (\S+) when it was held "
        r"out, which counts in the errors above\), one of the cases that it was fitted to",
        words.replace("\N{MINUS SIGN}", "-"),
    )  # fmt: skip
    assert [float(v) for v in held_out.groups()] == pytest.approx(own[worst], rel=0.01)
    value = float(page.locator("[data-test=number-answer]").get_attribute("data-value"))
    like = page.evaluate("key => page.data.observed.models[key].like", model)
    n = next(n for high, _, n, *_ in like if high is None or value <= high)
    assert re.search(rf"Held-out cases[^(]* \({n}\): mean absolute error", words)


def test_without_values_there_is_no_number(load, study):
    page = load(study / "report.html")
    page.select_option("#model", "proset-regressor")
    answer = page.locator("[data-test=number-answer]")
    words = page.locator("#case-live").text_content()
    assert "The prediction is in units of <b>dose</b>. Held-out cases with predictions" in words
    mae = page.evaluate("page.data.number.models['proset-regressor'].mae")
    shown, value = answer.text_content(), float(answer.get_attribute("data-value"))
    assert abs(float(shown.replace("\u2212", "-")) - value) <= mae / 20
    assert len(shown.partition(".")[2]) == max(math.ceil(1 - math.log10(mae)), 0)
    for field in page.locator("#case-live .field input[type=text]").all():
        field.fill("")
    assert answer.text_content() == "No answer"
    words = page.locator("#case-live").text_content()
    assert "no answer: no voter has the values it needs" in words
    assert "Who voted" not in words
    assert "mean absolute error" not in words


def test_a_page_without_cases_has_squares_and_no_list(load, study, tmp_path):
    build_report(study, tmp_path / "none.html", cases="none")
    page = load(tmp_path / "none.html")
    page.wait_for_selector(".observed .cell", state="attached")
    assert page.locator(".observed .case").count() == 0
    assert page.locator("#worst").count() == 0
    assert "the worst cases are not listed" in page.locator("#observed-body").text_content()
    titles = page.locator(".observed .cell title").all_text_contents()
    assert min(int(words.split()[0]) for words in titles) >= 10


def test_on_paper_the_picture_is_whole(load, study):
    page = load(study / "report.html", width=680)  # of A4 without its margins
    page.emulate_media(media="print")
    drawn, room = page.evaluate(
        """() => {
        dispatchEvent(new Event("beforeprint"));
        const box = document.querySelector("#first-observed .chart-box");
        return [box.firstChild.width.baseVal.value, box.clientWidth]; }"""
    )
    assert drawn <= room


def test_the_sum_of_further_votes_has_no_bar(load, study):
    page = load(study / "report.html")
    page.select_option("#model", "proset-regressor")
    votes = page.locator("#case-live .votes li")
    bars = votes.evaluate_all(
        "all => all.map((li) => +li.querySelector('rect').getAttribute('width'))"
    )
    assert "further votes" in votes.last.text_content()
    assert all(bars[:-1])
    assert bars[-1] == 0


@pytest.mark.parametrize("model", MODELS)
def test_the_change_that_is_shown_moves_the_prediction_across_the_value(load, study, model):
    page = load(study / "report.html")
    page.select_option("#model", model)
    shown = page.locator('[data-test="number-answer"]')
    before, goal = float(shown.get_attribute("data-value")), page.locator("#goal")
    mae = page.evaluate("key => page.data.number.models[key].mae", model)
    assert float(goal.input_value()) == pytest.approx(before + mae, abs=mae / 20)
    button = page.get_by_role("button", name="What would change this answer?")
    for way, at in ((1, goal.input_value()), (-1, str(round(before - mae, 4)))):
        page.select_option("#model", MODELS[model == MODELS[0]])
        page.select_option("#model", model)
        goal.fill("1,5")  # not a number
        assert button.is_disabled()
        goal.fill(at)
        button.click()
        words = page.locator('[data-test="turned"]').inner_text().replace("\N{MINUS SIGN}", "-")
        parts = re.findall(r"(\S+) were (at least|above|at most|below) (\S+) \(here", words)
        assert 1 <= len(parts) <= 2
        for name, relation, value in parts:
            up = relation in ("at least", "above")
            edge = float(value) + (1e-6 if up else -1e-6) * (relation in ("above", "below"))
            field = page.locator(".field").filter(has=page.locator("label", has_text=name))
            field.locator("input").first.fill(f"{edge:.9f}")
        after = float(shown.get_attribute("data-value"))
        assert way * (after - float(at)) >= -1e-6
        assert way * (before - float(at)) < 0
        assert float(words.split("prediction is ")[1].rstrip(".")) == pytest.approx(
            after, abs=mae / 20
        )


def test_each_column_has_its_direction_in_the_card_and_at_its_field(load, study):
    page = load(study / "report.html")
    for model in MODELS:
        page.select_option("#model", model)
        says = page.locator('[data-test="field"] .levels').all_inner_texts()
        fields = page.evaluate("key => page.data.number.models[key].fields", model)
        assert says == [one["direction"] for one in fields]
        if model == "cart-regressor":  # the target is 9 times the first column
            assert "igher it is, the higher the prediction, by " in says[0]
    first = page.evaluate("() => page.data.first.model")
    fields = page.evaluate("key => page.data.number.models[key].fields", first)
    lines = page.locator('[data-test="card-column"]').all_inner_texts()
    assert [one["direction"] for one in fields] == [line.split(". ", 1)[1] for line in lines]
