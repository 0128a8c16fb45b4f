"""The panels of values and of a new case in a browser, beside the models in Python."""

import itertools
import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_classification

from psephos import (
    AdaBoostClassifier,
    NewtonBoostingClassifier,
    ProsetClassifier,
    RandomForestClassifier,
    RankRidgeClassifier,
    SamBAClassifier,
)
from psephos.explain.missing_columns import next_of
from psephos.report import build_report
from psephos.report.study.folder import read_folder
from psephos.report.study.opened import Saved
from psephos.report.study.options import FIGURES
from psephos.report.words import chance, shown_names
from psephos.scoring import plain
from psephos.scoring.reader.model import PlainModel
from psephos.scoring.vectors import with_rounded_rows

pytestmark = pytest.mark.browser
EXACT = 1e-12
TURNED = {  # kinds whose least changes are held to a brute force
    AdaBoostClassifier: {"n_estimators": 20},
    SamBAClassifier: {},
    RankRidgeClassifier: {},
    NewtonBoostingClassifier: {"n_estimators": 20},
    RandomForestClassifier: {"n_estimators": 15, "random_state": 0},
    ProsetClassifier: {},
}


def by(name):
    return f'[data-test="{name}"]'


@pytest.fixture(scope="session")
def saved(compared):
    folder = read_folder(compared)
    return Saved(folder, shown_names([str(one) for one in folder.about["columns"]]))


@pytest.fixture(scope="session")
def island(summarised):
    return summarised["island"]


def in_page(saved, key):
    """Return a model as a page of rounded values carries it: training cases within it are, too."""
    one = saved.reduced(key)
    model = with_rounded_rows(one.model, FIGURES) if one.keeps_rows else one.model
    return replace(one, model=model, vote=model.vote_)


def choose(page, key):
    """Choose a model for the whole page, as a reader does."""
    page.locator("#model").select_option(key)
    return page


def coded(one, rows):
    """Return rows of numbers, words and None as the model's codes."""
    out = np.full((len(rows), len(one.names)), np.nan)
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            if value is not None:
                out[i, j] = one.levels[j].index(value) if j in one.levels else value
    return out


def worded(one, X):
    """Return rows of codes as the page takes them."""
    return [
        [None if np.isnan(v) else one.levels[j][int(v)] if j in one.levels else float(v)
         for j, v in enumerate(row)]
        for row in X
    ]  # fmt: skip


def drawn_rows(one, n, seed):
    """Return the training rows, and n rows between their values, a fifth of them gaps."""
    rng = np.random.default_rng(seed)
    made = np.array([rng.choice(one.X[:, j], n) for j in range(one.X.shape[1])]).T
    numbers = [j for j in range(one.X.shape[1]) if j not in one.levels]
    made[:, numbers] += rng.normal(0, 0.5, (n, len(numbers)))
    made[rng.random(made.shape) < 0.2] = np.nan
    return np.vstack([one.X, made])


def test_every_carried_model_answers_as_in_python(visit, saved, island):
    page = visit()
    carried = [key for key, one in island["case"]["models"].items() if "plain" in one]
    assert len(carried) >= 3
    for seed, key in enumerate(carried):
        one = in_page(saved, key)
        X = drawn_rows(one, 200, seed)
        found = page.evaluate(
            """([key, rows]) => { const model = openModel(page.data.case.models[key].plain);
            const answers = rows.map((row) => model.answer(row));
            return answers.map((a) => [a.scores, a.probabilities]); }""",
            [key, worded(one, X)],
        )
        score = np.array([scores for scores, _ in found])
        chances = np.array([chances for _, chances in found])
        np.testing.assert_allclose(score, one.vote.score(X), atol=EXACT, rtol=EXACT)
        np.testing.assert_allclose(chances, one.vote.probabilities(X), atol=EXACT)


def set_fields(page, values):
    """Fill the form: numbers, words of categories, None for empty; a field must be open to it."""
    page.locator(f"{by('case-live')} .pick button").click()
    page.locator(f"{by('case-live')} .fields details").evaluate_all(
        "all => all.forEach(one => { one.open = true; })"
    )
    page.locator(by("field")).evaluate_all(
        """(fields, values) => values.forEach((value, i) => {
        if (value === null) return;
        const field = fields[i].querySelector(value.word ? "select" : "input[type=text]");
        const open = field.checkVisibility({ visibilityProperty: true });
        if (!open || field.disabled || field.readOnly) throw new Error(`field ${i} is not open`);
        field.value = value.text;
        if (field.value !== value.text) throw new Error(`field ${i} has no ${value.text}`);
        field.dispatchEvent(new Event("input", { bubbles: true }));
        field.dispatchEvent(new Event("change", { bubbles: true })); })""",
        [
            {"word": True, "text": f"={v}"} if isinstance(v, str) else
            v if v is None else {"word": False, "text": repr(v)}
            for v in values
        ],
    )  # fmt: skip


def test_a_typed_case_gets_the_answer_of_the_model(visit, saved, island):
    page = visit()
    positive = island["values"]["positive"]
    for key, calc in island["case"]["models"].items():
        if "plain" not in calc:
            continue
        choose(page, key)
        one = in_page(saved, key)
        at = [field["at"] for field in calc["fields"]]
        for row in (1, 8):
            values = worded(one, one.X[[row]])[0]
            set_fields(page, [values[j] for j in at])
            chances = one.vote.probabilities(one.X[[row]])[0]
            shown = page.locator(by("case-answer"))
            about = positive if len(chances) == 2 else int(chances.argmax())
            assert float(shown.get_attribute("data-probability")) == pytest.approx(
                chances[about], abs=EXACT
            )
            called = chances.argmax() if len(chances) > 2 else (
                positive if chances[positive] >= 0.5 else 1 - positive
            )  # fmt: skip
            assert shown.inner_text().endswith(f"called {island['values']['classes'][called]}")
            weights = page.locator(by("case-vote")).evaluate_all(
                "all => all.map(v => +v.dataset.weight)"
            )
            if weights and one.vote.readout.score == "normalised":
                assert sum(weights) == pytest.approx(1.0, abs=1e-9)


def test_an_empty_field_is_a_gap_and_the_page_names_the_next_column_of_the_library(
    visit, saved, island
):
    page = visit()
    named = exact = 0
    for key, calc in island["case"]["models"].items():
        if len(calc.get("fields", ())) < 3:
            continue
        choose(page, key)
        one = in_page(saved, key)
        at = [field["at"] for field in calc["fields"]]
        for row, empty in ((3, [0, 1]), (5, range(1, len(at)))):
            values = worded(one, one.X[[row]])[0]
            set_fields(page, [None if i in empty else values[j] for i, j in enumerate(at)])
            gap = one.X[[row]].copy()
            gap[0, [at[i] for i in empty]] = np.nan
            told = next_of(one.vote, saved.reduced(key).profile, one.whole, gap, [0])
            if not told.column:
                continue
            named += 1
            shown = page.locator(by("measure-next"))
            change = float(shown.get_attribute("data-change"))
            assert change == pytest.approx(told.change[0], abs=2e-3)
            gradual = abs(change - told.change[0]) > 1e-9  # values are rounded in the page
            if not gradual or len(told.change) == 1 or told.change[0] - told.change[1] > 4e-3:
                assert shown.get_attribute("data-column") == told.column[0], key
            exact += not gradual
            words = "less than 0.01" if 0 < change < 0.005 else f"by {change:.2f}"
            assert words in shown.inner_text()
    assert named > 3
    assert exact > 1


def test_the_two_predictions_of_a_case_and_which_counts_are_one_sentence(visit, saved, island):
    page = visit()
    study, missed = island["values"], island["missed"]
    key = next(k for k, one in island["case"]["models"].items() if "plain" in one)
    choose(page, key)
    held, threshold = missed["models"][key], island["first"]["threshold"]
    seen = 0
    for row in study["rows"][:8]:
        page.locator(by("case-from")).select_option(f"r{row}")
        i = missed["rows"].index(row)
        if "q" in held:
            p = [held["q"][i] / 1e6, 1 - held["q"][i] / 1e6]
            called = study["positive"] if p[0] >= threshold else 1 - study["positive"]
            share = p[called != study["positive"]]
        else:
            called = held["said"][i]
            share = held["P"][called][i] / 1e6
        words = page.locator(f"{by('case-answer')} ~ .say .quiet").text_content()
        answer = page.locator(by("case-answer")).text_content()
        own = study["classes"][study["y"][study["rows"].index(row)]]
        assert f" is {own}. " in words
        says = f"{study['classes'][called]} ({chance(share)})"
        before = f", which did not see this case, predicted {says}"
        if answer == "No answer":
            assert words.endswith(f"The model of its fold{before}.")
            continue
        seen += 1
        now = f"The saved model, fitted to all cases, predicts {answer.split(' called ')[1]} ("
        assert now in words
        end = ": the second counts in the accuracy above."
        assert words.endswith(f"; the model of its fold{before}{end}")
    assert seen > 3


def test_the_nearest_cases_are_the_nearest(visit, saved, island):
    page = visit()
    study = island["values"]
    key = next(
        key for key, one in island["case"]["models"].items() if len(one.get("fields", ())) > 1
    )
    choose(page, key)
    calc, row = island["case"]["models"][key], 4
    page.locator(by("case-from")).select_option(f"r{row}")
    total, both = np.zeros(len(study["rows"])), np.zeros(len(study["rows"]))
    for field, size in zip(calc["fields"], calc["spread"], strict=False):
        values = study["of"][field["whole"]]
        for i, value in enumerate(values):
            if value is None or values[row] is None:
                continue
            both[i] += 1
            total[i] += (
                float(value != values[row]) if size == 0 else ((value - values[row]) / size) ** 2
            )
    distance = np.sqrt(total * len(calc["spread"]) / both)
    distance[row] = np.inf
    known = sum(study["of"][f["whole"]][row] is not None
                for f, _ in zip(calc["fields"], calc["spread"], strict=False))  # fmt: skip
    distance[2 * both <= known] = np.inf
    order = np.lexsort((-both, distance))[:5]
    shown = page.locator(by("near-person")).evaluate_all("all => all.map(r => +r.dataset.row)")
    assert shown == [study["rows"][i] for i in order]
    share = float(page.locator(by("familiar")).get_attribute("data-share"))
    assert share == pytest.approx(np.mean(np.array(calc["own"]) > distance.min()), abs=0.02)
    says = page.locator(f"{by('case-live')} .say").inner_text()
    assert "The saved model, fitted to all cases, predicts" in says


def test_the_same_values_are_said_only_of_all_columns(visit, island):
    page = visit()
    key = next(
        key for key, one in island["case"]["models"].items() if len(one.get("spread", ())) > 3
    )
    choose(page, key)
    calc, study = island["case"]["models"][key], island["values"]
    columns = [study["of"].get(f["whole"]) or island["case"]["of"][f["whole"]]
               for f in calc["fields"]]  # fmt: skip
    whole = next(
        i for i in range(len(study["rows"])) if all(column[i] is not None for column in columns)
    )
    values = [column[whole] for column in columns]
    set_fields(page, values)
    told = page.locator(by("familiar"))
    assert "1 case of the study has the same values" in told.inner_text()
    set_fields(page, [None, *values[1:]])  # all that both have is the same
    assert "the same values" not in told.inner_text()
    n = len(calc["spread"])
    assert f"rests on {n - 1} of {n} columns" in told.inner_text()
    assert f"{n - 1} of {n}" in page.locator(by("near-person")).first.inner_text()
    few = (n - 1) // 2  # on fewer than half of the columns no familiarity is given
    set_fields(page, [*values[:few], *[None] * (len(values) - few)])
    assert told.count() == 0
    words = page.locator(by("unfamiliar")).inner_text()
    assert f"is not given: {few} of {n} columns are measured, fewer than half" in words


@pytest.mark.parametrize(
    ("own", "x", "words"),
    [
        ([0, 0, 0], 2, "more typical than 0 % of the study's cases: they are farther from"),
        ([0, 0, 9], 2.5, "less typical than 67 % of the study's cases: they are nearer to"),
        ([0, 8, 9], 2.5, "more typical than 67 % of the study's cases: they are farther from"),
    ],
)
def test_a_case_is_more_or_less_typical_than_most(visit, own, x, words):
    page = visit()
    found = page.evaluate(
        """([own, x]) => {
        const box = document.createElement("div"),
          calc = { spread: [1], own, fields: [] },
          study = { rows: [0, 1, 2], y: [0, 0, 1], classes: ["a", "b"], positive: 1 },
          words = { name: String, person: String, heldOut: () => null, two: true },
          about = { calc, study, x: [x, 9], rows: [[2, 1], [2, 2], [2, 3]], self: -1 };
        page.near.show(box, { ...about, ...words, answer: { why: "values" } });
        return box.querySelector('[data-test="familiar"]').textContent; }""",
        [own, x],
    )
    assert found.startswith(f"This case is {words} their nearest case")


def test_cases_of_the_same_group_are_no_neighbours(visit):
    page = visit()
    words, near = page.evaluate(
        """() => {
        const box = document.createElement("div"),
          calc = { spread: [1], own: [1, 1, 1, 1], fields: [] },
          study = { rows: [0, 1, 2, 3], y: [0, 0, 1, 1], classes: ["a", "b"], positive: 1,
            groups: [5, 5, 7, 8] },
          words = { name: String, person: String, heldOut: () => null, two: true },
          about = { calc, study, x: [0], rows: [[0], [0.1], [2], [3]], self: 0 };
        page.near.show(box, { ...about, ...words, answer: { why: "values" } });
        return [box.textContent,
          [...box.querySelectorAll('[data-test="near-person"]')].map((r) => +r.dataset.row)]; }"""
    )
    assert near == [2, 3]  # not 1, the nearest, which is of the same group
    assert "only" not in words
    assert "none are as far from their nearest case of another group" in words
    assert "So are those of its own group." in words


def test_a_person_chosen_anywhere_is_ringed_in_every_strip(visit, island):
    page = visit()
    drawn = [c for c in island["values"]["models"][page.locator("#model").input_value()]["columns"]
             if c["kind"] == "number"][:6]  # fmt: skip
    strips = page.locator(f"{by('values-live')} .chart-box svg circle.pin")
    assert strips.count() == 0
    dot = page.locator(f"{by('values-live')} circle[data-row='7']").first
    dot.dispatch_event("click")
    assert strips.count() == len(drawn)
    assert page.locator(by("case-from")).input_value() == "r7"
    page.locator(f"{by('values-live')} circle[data-row='7']").first.dispatch_event("click")
    assert strips.count() == 0


def test_the_model_of_the_bar_rules_both_panels(visit, island):
    page = visit()
    for key, one in island["values"]["models"].items():
        choose(page, key)
        found = page.locator(by("value-column")).evaluate_all(
            "all => all.map(c => c.dataset.column)"
        )
        assert found == [column["whole"] for column in one["columns"][:6]]
        more = page.locator(by("value-more"))
        assert more.count() == bool(one["rest_words"])
        if one["rest_words"]:
            more.click()
            assert page.locator(by("value-column")).count() == len(one["columns"])
            more.click()
            assert page.locator(by("value-column")).count() == 6
        calc = island["case"]["models"][key]
        if "plain" in calc:
            asked = page.locator(by("field")).evaluate_all("all => all.map(c => c.dataset.column)")
            assert asked == [field["whole"] for field in calc["fields"]]
    every = page.locator("#model option").evaluate_all("all => all.map(o => o.value)")
    peers = [key for key in every if key not in island["values"]["models"]]
    for key in peers:
        choose(page, key)
        assert page.locator(by("value-column")).count() == 0
        assert "has no file" in page.locator(by("values-live")).inner_text()
        page.locator(f"{by('case-live')} button.plain").first.click()
        assert page.locator("#model").input_value() in island["case"]["models"]


def test_counts_of_the_table_are_those_of_the_study(visit, island):
    page = visit()
    key = page.locator("#model").input_value()
    column = next(c for c in island["values"]["models"][key]["columns"] if c["kind"] == "number")
    box = page.locator(by("value-column")).nth(
        island["values"]["models"][key]["columns"].index(column)
    )
    box.locator("details.data summary").click()
    rows = box.locator("tbody tr").evaluate_all(
        "all => all.map(r => [...r.cells].map(c => c.innerText))"
    )
    order = island["values"]["order"]
    missing = next(row for row in rows if row[0] == "missing")
    assert missing[1:] == [str(column["counts"]["missing"][k]) for k in order]
    assert len(rows) >= len(column["moves"]) + 1
    assert box.locator(by("csv")).count() == 1


def test_sliders_move_by_keyboard_and_are_told(visit, saved, island):
    page = visit()
    key = page.locator("#model").input_value()
    calc = island["case"]["models"][key]
    i = next(i for i, field in enumerate(calc["fields"]) if "axis" in field)
    slide = page.locator(by("field")).nth(i).locator("input[type=range]")
    number = page.locator(by("field")).nth(i).locator("input[type=text]")
    before = number.input_value()
    slide.focus()
    for _ in range(10):
        slide.press("ArrowRight")
    assert number.input_value() != before
    told = slide.get_attribute("aria-valuetext").replace("−", "-")
    assert float(told) == pytest.approx(float(number.input_value()), rel=1e-3)
    assert page.locator(by("case-from")).input_value() == "x"
    low, high = calc["fields"][i]["range"]
    slide.press("Home")  # the ends are values
    assert float(number.input_value()) <= low + 0.03 * (high - low)
    slide.press("End")
    assert float(number.input_value()) >= high - 0.03 * (high - low)
    number.fill("")
    assert slide.get_attribute("aria-valuetext") == "not measured"
    values = page.locator(f"{by('field')} input[type=text]").evaluate_all(
        "all => all.map(n => n.value)"
    )
    assert values.count("") >= 1


def test_a_text_that_is_no_number_has_no_answer(visit, island):
    page = visit()
    calc = island["case"]["models"][page.locator("#model").input_value()]
    i = next(i for i, field in enumerate(calc["fields"]) if "axis" in field)
    number = page.locator(by("field")).nth(i).locator("input[type=text]")
    number.fill("5.1")
    answer = page.locator(by("case-answer"))
    answered = answer.get_attribute("data-probability")
    for text in ("5,1", "1,234", "five", "0,", "1e", "-", "5.1 5"):
        number.fill("")
        number.type(text)
        page.keyboard.press("Tab")
        now = number.evaluate(
            """(one) => {
            const count = (name) => document.querySelectorAll(`[data-test="${name}"]`).length;
            return [one.value, one.getAttribute("aria-invalid"),
                ...["case-answer", "case-vote", "near-person"].map(count)]; }"""
        )
        assert now == [text, "true", 0, 0, 0]
        said = page.locator(f"#{number.get_attribute('aria-describedby')}")
        assert f"\u201c{text}\u201d is neither" in said.inner_text()
        if page.locator("#threshold").count():  # what else moves brings no answer back
            page.locator("#threshold").fill("0.4")
            assert answer.count() == 0
            assert said.is_visible()
    number.fill("5.1")
    assert number.get_attribute("aria-invalid") is None
    assert answer.get_attribute("data-probability") == answered
    number.fill("x")
    slide = page.locator(by("field")).nth(i).locator("input[type=range]")
    slide.focus()
    slide.press("Home")
    assert number.get_attribute("aria-invalid") is None
    assert answer.count() == 1


def test_the_threshold_turns_the_call(visit, island):
    if len(island["values"]["classes"]) > 2:
        pytest.skip("more than two classes have no threshold")
    page = visit()
    study = island["values"]
    choose(page, "adaboost")
    p = float(page.locator(by("case-answer")).get_attribute("data-probability"))
    for threshold, called in (
        (max(p - 0.02, 0), study["positive"]),
        (min(p + 0.02, 1), 1 - study["positive"]),
    ):
        page.locator("#threshold").fill(f"{threshold:.3f}")
        assert page.locator(by("case-answer")).inner_text().endswith(study["classes"][called])


def test_a_and_b_of_local_weights_answer_as_in_python(visit, saved, island):
    page = visit()
    key = next(
        k
        for k in island["case"]["models"]
        if hasattr(in_page(saved, k).vote.weighting, "similarity")
    )
    choose(page, key)
    one, calc = in_page(saved, key), island["case"]["models"][key]
    page.locator(by("case-from")).select_option("r5")
    page.locator(f"{by('kernel')} summary").click()
    before = page.locator(by("case-answer")).get_attribute("data-probability")
    for name, value in (("a", 0.7), ("b", 3.1)):
        page.locator(f"#kernel-{name}").evaluate(
            "(one, v) => { one.value = v; one.dispatchEvent(new Event('input')); }", value
        )
    weighting = one.vote.weighting
    vote = replace(
        one.vote,
        weighting=replace(weighting, similarity=replace(weighting.similarity, a=0.7, b=3.1)),
    )
    study = island["values"]
    row = [None] * len(calc["fields"])
    for field in calc["fields"]:
        row[field["at"]] = study["of"][field["whole"]][5]
    chances = vote.probabilities(coded(one, [row]))[0]
    about = study["positive"] if len(chances) == 2 else int(chances.argmax())
    shown = page.locator(by("case-answer"))
    assert float(shown.get_attribute("data-probability")) == pytest.approx(
        chances[about], abs=EXACT
    )
    page.locator(f"{by('kernel')} button").click()
    assert shown.get_attribute("data-probability") == before


def test_a_page_without_cases_carries_none(compared, caseless, tmp_path, load):
    from psephos.report import render

    island = caseless["island"]
    assert island["values"]["rows"] == []
    assert all(values == [] for values in island["values"]["of"].values())
    folder = read_folder(compared)
    saved = Saved(folder, shown_names([str(one) for one in folder.about["columns"]]))
    for key, one in island["case"]["models"].items():
        if in_page(saved, key).keeps_rows:
            assert "plain" not in one
    text = json.dumps(island)
    known = [
        v for v in np.ravel(folder.cases.values[:, :2]).tolist() if isinstance(v, float) and v == v
    ]
    assert not any(repr(v) in text for v in known)
    path = tmp_path / "none.html"
    path.write_text(render(caseless), encoding="utf-8")
    page = load(path)
    assert page.locator(by("value-column")).count() > 0
    assert page.locator(f"{by('values-live')} circle[data-row]").count() == 0


def test_recalibrated_answers_are_those_of_predict_calibrated(visit, saved, island):
    import psephos

    page = visit()
    maps = island["maps"]
    assert len(maps) >= 3
    for seed, key in enumerate(maps):
        choose(page, key)
        page.locator(f"#again-here {by('again')}").select_option("again")
        one = in_page(saved, key)
        X = drawn_rows(one, 100, seed)
        found = page.evaluate(
            """(rows) => {
              const form = page.data.case.models[page.hub.get("model")].plain;
              const model = openModel(page.again.plain(form)), raw = openModel(form);
              return rows.map((row) => [
                model.answer(row).probabilities,
                page.again.through(raw.answer(row).probabilities),
              ]);
            }""",
            worded(one, X),
        )
        model = psephos.load(saved.folder.models[key])
        readout = replace(one.vote.readout, calibration=model.recalibration_.calibration)
        told = replace(one.vote, readout=readout).probabilities(X)
        if not one.keeps_rows:  # as the file's own, which predict --calibrated answers with
            own = psephos.recalibrated(model).reduce().vote_.probabilities(X)
            np.testing.assert_array_equal(told, own)
        np.testing.assert_allclose([a for a, _ in found], told, atol=EXACT)
        np.testing.assert_allclose([b for _, b in found], told, atol=EXACT)
        before = float(page.locator(by("case-answer")).get_attribute("data-probability"))
        assert "recalibrated probability" in page.locator(f"{by('case-live')} .say").inner_text()
        page.locator(f"{by('case-live')} {by('again')}").select_option("")
        assert page.locator(f"#again-here {by('again')}").input_value() == ""
        says = island["case"]["models"][key]["says"]
        assert f"The {says} for " in page.locator(f"{by('case-live')} .say").inner_text()
        assert float(page.locator(by("case-answer")).get_attribute("data-probability")) != before


def test_at_the_threshold_held_out_answers_go_through_maps_of_other_cases(visit, island):
    page = visit()
    told = island["missed"]
    key = next(iter(island["maps"]))
    choose(page, key)
    first = page.locator(by("missed-note")).inner_text()
    page.locator(f"#again-here {by('again')}").select_option("again")
    assert page.locator("#verdict .stays").is_visible()  # its figures are those of the model itself
    model = told["models"][key]["again"]
    assert "fitted to the answers of other cases" in page.locator(by("missed-note")).inner_text()
    if told["kind"] == "two":
        q, mine = np.array(model["q"]), np.array(told["truth"]) == told["positive"]
        page.locator("#threshold").fill("0.4")
        page.wait_for_function("document.querySelector('#n-tp').textContent !== ''")
        page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        assert page.locator("#n-tp").text_content() == str(((q >= 400_000) & mine).sum())
        assert page.locator("#n-fp").text_content() == str(((q >= 400_000) & ~mine).sum())
        assert "recalibrated" in page.locator("#bar-threshold").inner_text()
    page.locator(f"#again-here {by('again')}").select_option("")
    assert page.locator(by("missed-note")).inner_text() == first


def test_a_case_without_an_answer_is_said_to_have_none(visit, island):
    page, seen = visit(), 0
    for key, calc in island["case"]["models"].items():
        if "plain" not in calc:
            continue
        choose(page, key)
        page.locator(f"{by('case-live')} .pick button").click()  # empty all
        wanted = page.evaluate(
            """(key) => { const { plain } = page.data.case.models[key];
            return openModel(plain).answer(plain.columns.map(() => null)).unanswered; }""",
            key,
        )
        shown = page.locator(by("case-unanswered"))
        words = wanted if "all classes" in wanted else wanted.split(";")[0]
        assert shown.all_inner_texts() == [words] * bool(wanted)
        if "no voter" in wanted:
            live = page.locator(by("case-live")).inner_text()
            assert "Measured: 0 of" in live
            assert "this is its answer" not in live
            assert "of the weight" not in live
        seen += wanted.startswith("no answer: ")
    assert seen


def test_the_weight_of_the_voters_is_the_share_of_the_vote_only_where_it_is_said(visit, island):
    page, seen = visit(), 0
    names = island["values"]["classes"]
    for key, calc in island["case"]["models"].items():
        if calc.get("says") != "share of the vote":
            continue
        choose(page, key)
        words = page.locator(by("case-votes")).inner_text()
        line = re.search(r"Voters with (.*?)([:;]) (.*)\. Bars", words)
        if line is None:
            continue
        said = re.findall(r"(?:^|, )[<> ]*(\d+) % (?:of the weight predict )?([^,]+)", line[1])
        shown = {name: int(share) for share, name in said}
        chances = page.evaluate(
            """(key) => { const { plain, fields } = page.data.case.models[key],
            open = openModel(plain), row = plain.columns.map(() => null);
            fields.forEach((field, i) => {
              const own = document.getElementById(`field-${i}`), text = own.value;
              row[field.at] = own.tagName === "SELECT" ? text.slice(1) || null
                : text === "" ? null : Number(text); });
            return open.answer(row).probabilities; }""",
            key,
        )
        alike = all(
            abs(shown.get(name, 0) - 100 * p) <= 0.51 or p < 0.01
            for name, p in zip(names, chances, strict=True)
        )
        assert line[3].startswith("that is the share" if line[2] == ":" else "the share of the")
        assert alike or line[2] == ";"
        seen += 1
    assert seen


def test_a_tree_of_a_round_speaks_for_or_against_its_class(visit):
    page = visit()
    words = page.evaluate(
        """() => {
        const ballot = (voter, contribution) => ({ voter, name: "", columns: [0],
          reason: `g = ${voter} > 0`, weight: 1, contribution });
        const answer = { probabilities: [0.2, 0.5, 0.3],
          ballots: [ballot(1, [-0.2, 0, 0]), ballot(2, [0, 0.3, 0]), ballot(3, [0, 0, 0]),
                    ballot(4, [0.1, 0.4, -0.5])] };
        const study = { classes: ["a", "b", "c"], order: [0, 1, 2], positive: 0 };
        const box = page.make("div");
        page.ballot.show(box, answer, { columns: [{ name: "g" }], plain: { voters: {} }, x: [1],
          idle: new Set(), hue: ["one", "two", "three"], study, percent: String, two: false,
          told: (words) => page.make("p", words) });
        return [...box.querySelectorAll("[data-test=case-vote]")].map((one) => one.textContent);
        }"""
    )
    told = {word.split("→")[0].split()[1]: word.split("→ ")[1] for word in words}
    assert told["1"].startswith("against a")
    assert told["1"].endswith("-0.2") or told["1"].endswith("−0.2")
    assert told["2"].startswith("b")
    assert told["3"].startswith("nothing")
    assert told["4"].startswith("b")


@pytest.mark.parametrize(
    ("votes", "of", "against"),
    [
        ([0.3], [1], False),
        ([-0.3], [0], False),
        ([0.0], [], False),
        ([-1.2e-16], [], False),  # the class frequencies, each class alike
        ([0.1, 0.1 + 1e-16, 0.1], [], False),
        ([0.0, -0.2, 0.0, 0.0], [1], True),
        ([0.0, 0.2, 0.0, 0.0], [1], False),
        ([0.1, -0.3, 0.1, 0.1], [1], True),  # centred: against one
        ([0.3, -0.1, -0.1, -0.1], [0], False),
        ([0.2, 0.2, -0.2, -0.2], [0, 1], False),  # a leaf that is even between two
        ([0.1, 0.1, 0.1, 0.1], [], False),
        ([-0.1, 0.4, -0.3, 0.0], [1], False),
    ],
)
def test_a_vote_is_for_or_against_a_class_unless_all_are_alike(visit, votes, of, against):
    found = visit().evaluate("(votes) => page.ballot.saysOf(votes)", votes)
    assert found == {"of": of, "against": against}


def test_no_voter_that_moves_a_class_is_said_to_say_nothing(visit, island):
    page, moved = visit(), 0
    for key, calc in island["case"]["models"].items():
        if "plain" not in calc:
            continue
        choose(page, key)
        found = page.evaluate(
            """() => { const rows = [...document.querySelectorAll("[data-test=case-vote]")];
            return rows.map((row) => [row.querySelector("span").textContent,
              row.querySelector(".w").textContent]); }"""
        )
        for words, size in found:
            moved += 1
            if words.endswith(("nothing", "says nothing whatever is measured")):
                assert size.strip(" %") == "0", (key, words, size)
    assert moved > 5


LEAST = """([calc, x]) => { const model = openModel(calc.plain);
const whole = (values) => { const row = Array(model.columns.length).fill(null);
  calc.fields.forEach((field, i) => { row[field.at] = values[i]; }); return row; };
const ask = (values) => { const { scores, probabilities: p } = model.answer(whole(values));
  return { scores, called: p.indexOf(Math.max(...p)) }; };
const cuts = (values, i) => model.cuts(whole(values), calc.fields[i].at);
const found = page.turn.least({ ask, cuts }, x, calc);
return found && found.map((one) => ({ ...one, size: one.size(one.value) })); }"""


def below(calc, i, values):
    """Return the share of training cases below values of a field, from the page's quantiles."""
    low, high = calc["fields"][i]["range"]
    tried = np.clip(calc["tried"][i][0], low, high)
    at = np.array([low, *tried, high])
    share = np.array([0, *(np.arange(len(tried)) + 0.5) / len(tried), 1])
    first = np.searchsorted(at, values, "left").clip(max=len(at) - 1)
    last = (np.searchsorted(at, values, "right") - 1).clip(0)
    tied = (share[first] + share[last]) / 2
    return np.where(first > last, np.interp(values, at, share), tied)


def trials(calc, x, i, marks):
    """Return values of a field and the size of the change to each: fine steps and thresholds."""
    field, (known, *_) = calc["fields"][i], calc["tried"][i]
    if x[i] is None:
        return [], []
    if field.get("levels"):
        others = [level for level in field["levels"] if level != x[i]]
        return others, [1.0] * len(others)
    low, high = field["range"]
    at = marks[1][(marks[0] == field["at"]) & np.isfinite(marks[1])]
    by = np.abs(at) * 1e-7  # beyond what single precision holds
    grid = np.interp(np.linspace(0, 1, 301), np.linspace(0, 1, len(known) + 2), [low, *known, high])
    every = np.unique(np.concatenate([grid, at, at - by, at + by]))
    every = every[(every >= low) & (every <= high) & (every != x[i])]
    return every.tolist(), np.abs(below(calc, i, every) - below(calc, i, x[i])).tolist()


def beyond(x, part, sign):
    """Return the value that turns an answer, or the last that does not, clear of rounding."""
    value = part["value"] if sign > 0 else part["last"]
    if isinstance(value, str):
        return value
    away = np.sign(part["value"] - x[part["i"]]) * sign
    return float(value + away * 1e-9 * max(abs(value), 1e-3))


def check_least(page, one, calc, x, additive=False):
    """Hold a change that the page names to every one of a brute force; return its columns."""
    at, marks = [field["at"] for field in calc["fields"]], one.vote.marks()

    def called(changes):
        rows = [[None] * len(at) for _ in changes]
        for row, change in zip(rows, changes, strict=True):
            for i, j in enumerate(at):
                row[j] = change.get(i, x[i])
        return one.vote.probabilities(coded(one, rows)).argmax(axis=1)

    own = called([{}])[0]
    every = [
        (i, v, s) for i in range(len(at)) for v, s in zip(*trials(calc, x, i, marks), strict=True)
    ]
    turned = called([{i: v} for i, v, _ in every]) != own
    least = min((size for (*_, size), t in zip(every, turned, strict=True) if t), default=None)
    found = page.evaluate(LEAST, [calc, x])
    if found:
        change = {part["i"]: beyond(x, part, 1) for part in found}
        assert called([change])[0] != own
        if len(found) == 1 and found[0]["value"] != found[0]["last"]:
            assert called([{found[0]["i"]: beyond(x, found[0], -1)}])[0] == own
    if least is not None:
        assert len(found) == 1
        assert found[0]["size"] <= least + 1e-6
        return 1
    assert found is None or len(found) == 2
    if additive:
        some = [part for part in every if part[0] < 4][::3]
        both = [(a, b) for a in some for b in some if a[0] < b[0]]
        turned = called([{a[0]: a[1], b[0]: b[1]} for a, b in both]) != own
        sizes = [a[2] + b[2] for (a, b), t in zip(both, turned, strict=True) if t]
        assert not sizes or sum(part["size"] for part in found) <= min(sizes) + 1e-6
    return len(found or [])


def test_the_change_that_turns_an_answer_is_the_least(visit, saved, island):
    page, turned = visit(), 0
    for key, calc in island["case"]["models"].items():
        if "plain" in calc:
            one, at = in_page(saved, key), [field["at"] for field in calc["fields"]]
            for case in (0, 5):
                whole = worded(one, one.X[[case]])[0]
                turned += check_least(page, one, calc, [whole[j] for j in at]) == 1
    assert turned


@pytest.mark.parametrize("kind", TURNED, ids=lambda kind: kind.__name__)
def test_the_least_change_of_models_that_vote_in_steps_or_smoothly(visit, summarised, kind):
    n_classes = len(summarised["island"]["case"]["models"]["samba"]["typical"])
    X, y = make_classification(
        150, 6, n_informative=4, n_classes=n_classes, n_clusters_per_class=1, random_state=4
    )
    X[:, 0] = np.maximum(X[:, 0].round(1), 0)  # many are alike
    model = kind(**TURNED[kind]).fit(X, y).reduce()
    X = X[:, [int(name.split()[1]) for name in model.schema_.words().columns]]
    one = SimpleNamespace(vote=model.vote_, levels={}, names=range(X.shape[1]))
    tenths = (np.quantile(own, (np.arange(10) + 0.5) / 10).tolist() for own in X.T)
    calc = {
        "plain": plain(model), "tried": [[own] for own in tenths],
        "fields": [
            {"at": j, "range": [own.min(), own.max()]} for j, own in enumerate(X.T)
        ],
    }  # fmt: skip
    additive = kind in (AdaBoostClassifier, RankRidgeClassifier)
    page = visit()
    assert {check_least(page, one, calc, x, additive) for x in X[:24:2].tolist()} - {0}


def test_the_form_says_what_would_turn_it_and_leaves_fixed_columns_alone(visit):
    page = visit()
    ask = page.locator(by("turn"))
    ask.click()
    panel = ask.locator("xpath=..")
    assert "not advice to act" in panel.inner_text()
    if page.locator(by("turned")).count():
        name = page.locator(f"{by('turned')} strong span").first.inner_text()
        panel.locator("summary").click()
        panel.locator("label.fixed", has_text=name).first.locator("input").check()
        named = page.locator(f"{by('turned')} strong").all_inner_texts()
        assert name not in named


def test_ticking_columns_that_cannot_change_leaves_their_list_open(visit):
    page = visit()
    ask = page.locator(by("turn"))
    ask.click()
    panel = ask.locator("xpath=..")
    panel.locator("summary").click()
    boxes = panel.locator("label.fixed input")
    for box in boxes.all()[:2]:
        box.check()
        assert box.evaluate("box => document.activeElement === box")
    assert panel.locator("details").get_attribute("open") is not None
    assert boxes.evaluate_all("own => own.filter(({ checked }) => checked).length") == min(
        2, boxes.count()
    )
    assert panel.locator("details").count() == 1


_COVERED = """(query) => {
  const one = document.querySelector(query), { x, y, width, height } = one.getBoundingClientRect();
  return [1, height / 2, height - 1].map((dy) => document.elementFromPoint(x + width / 2, y + dy))
    .filter((top) => !one.contains(top)).length; }"""


def test_nothing_is_covered_by_the_answer_while_values_are_typed(visit):
    page = visit()
    page.set_viewport_size({"width": 1400, "height": 900})
    field = page.locator(f"{by('field')} > input").first
    for text in ("1", ""):  # beside a missing value stands what to measure next
        field.fill(text)
        tests = ["turn", "case-answer"] + (["measure-next"] if not text else [])
        for scrolled in (0, 300):
            page.locator(by("turn")).evaluate("one => one.scrollIntoView({ block: 'center' })")
            page.evaluate("by => scrollBy(0, by)", scrolled)
            assert field.evaluate("one => document.activeElement === one")
            for query in [*map(by, tests), ".pick button"]:
                shown = page.locator(f"{by('case-live')} {query}")
                if shown.count() and shown.bounding_box()["y"] > 80:
                    assert page.evaluate(_COVERED, f"{by('case-live')} {query}") == 0, query


def test_a_typical_case_that_is_called_another_class_is_explained(visit, island):
    page = visit()
    seen = set()
    for key, calc in island["case"]["models"].items():
        if "plain" not in calc:
            continue
        choose(page, key)
        for option in page.locator(f"{by('case-from')} option[value^=t]").all():
            value = option.get_attribute("value")
            page.locator(by("case-from")).select_option(value)
            if not page.locator(f"{by('case-answer')} .call").count():
                continue
            name = island["values"]["classes"][int(value[1:])]
            other = not page.locator(by("case-answer")).inner_text().endswith(f"called {name}")
            words = page.locator(f"{by('case-answer')} ~ .say .quiet").text_content()
            assert (f"among the cases that are {name}: no case need have them" in words) == other
            seen.add(other)
    assert False in seen


def test_the_slider_of_a_missing_value_stands_nowhere(visit):
    page = visit()
    field = page.locator(f"{by('field')}:has(input[type=range])").first
    slide = field.locator("input[type=range]")
    seen = "one => getComputedStyle(one).opacity"
    assert slide.evaluate(seen) == "1"
    field.locator("> input").fill("")
    assert slide.evaluate(seen) == "0"
    slide.focus()
    page.keyboard.press("ArrowRight")
    assert slide.evaluate(seen) == "1"
    assert field.locator("> input").input_value()


def test_the_held_out_cases_with_the_nearest_answers_are_counted(visit, island):
    page = visit()
    key = page.evaluate("() => page.hub.get('model')")
    shown = page.locator(by("case-answer"))
    missed = island["missed"]
    curves = missed["models"][key]["curves"]
    name = re.search(r" (.*): called", shown.inner_text()).group(1)
    if missed["kind"] != "two":
        curves = curves[missed["classes"].index(name)]
    p = float(shown.get_attribute("data-probability"))
    like = min(curves["like"], key=lambda one: abs(one["at"] - p))
    n, between, hits, rate, span = like["cells"]
    assert page.locator(by("case-like")).inner_text() == (
        f"Of the {n} held-out cases with the nearest answers for {name}, {between}, {hits}: {rate}"
        f" (95 % interval {span})."
    )
    page.locator(f"{by('field')} > input").first.fill("")
    assert page.locator(by("case-like")).inner_text() == (
        "Held-out cases with such answers are not counted: they had values in 1 column empty here."
    )


def test_an_answer_has_the_digits_that_show_its_side_of_the_threshold(visit):
    page = visit()
    every = {
        (0.4968, 0.5): "0.497", (0.49996, 0.5): "<0.50", (0.5000001, 0.5): "0.50",
        (0.5, 0.5): "0.50", (0.503, 0.5): "0.503", (0.51, 0.5): "0.51", (0.1251, 0.128): "0.125",
        (0.999, 0.5): ">0.99", (0.001, 0.5): "<0.01", (0.004, 0.003): "0.004",
    }  # fmt: skip
    for (p, t), wanted in every.items():
        assert page.evaluate("([p, t]) => page.words.beside(p, t)", [p, t]) == wanted


def test_a_value_beyond_all_training_cases_is_marked(visit, saved, island):
    page = visit()
    key = page.evaluate("() => page.hub.get('model')")
    calc = island["case"]["models"][key]
    i = next(i for i, field in enumerate(calc["fields"]) if "axis" in field)
    values = saved.reduced(key).X[:, calc["fields"][i]["at"]]
    low, high = calc["fields"][i]["range"]
    assert low <= np.nanmin(values)
    assert high >= np.nanmax(values)
    typed = [None] * len(calc["fields"])
    typed[i] = high
    set_fields(page, typed)
    assert page.locator(by("case-beyond")).count() == 0
    typed[i] = 2 * abs(high) + 1
    set_fields(page, typed)
    assert calc["fields"][i]["name"] in page.locator(by("case-beyond")).inner_text()
    assert page.locator(f"{by('field')} .outside").nth(i).inner_text().startswith("above all")


def wakes_by_hand(reads, whole, weights, empty):
    """Return the fewest empty columns with which a further voter applies, and how many then do."""

    def applies(own, every, gaps):
        return bool(own) and (all if every else any)(j not in gaps for j in own)

    gaps = sorted(empty)
    asleep = [t for t, own in enumerate(reads) if own and not applies(own, whole[t], empty)]
    for size in range(1, len(gaps) + 1):
        found = []
        for chosen in itertools.combinations(gaps, size):
            rest = empty - set(chosen)
            woken = [t for t in asleep if applies(reads[t], whole[t], rest)]
            if woken:
                found.append((sum(weights[t] for t in woken), len(woken), chosen))
        if found:
            most = max(weight for weight, *_ in found)
            return [one for one in found if one[0] >= most - 1e-12]
    return []


def test_the_columns_that_wake_voters_are_the_fewest_and_of_most_weight(visit):
    page, rng, cases = visit(), np.random.default_rng(8), []
    for _ in range(120):
        p, voters = int(rng.integers(2, 7)), int(rng.integers(1, 8))
        reads = [sorted(rng.choice(p, rng.integers(0, min(p, 4) + 1), False).tolist())
                 for _ in range(voters)]  # fmt: skip
        whole = (rng.random(voters) < 0.7).tolist()
        weights = np.round(rng.random(voters), 1).tolist()
        cases.append([reads, whole, weights, np.flatnonzero(rng.random(p) < 0.7).tolist()])
    every = page.evaluate(
        """(cases) => cases.map(([reads, whole, weights, empty]) =>
        page.near.wakes([reads, whole], weights, (j) => empty.includes(j)))""",
        cases,
    )
    for found, (reads, whole, weights, empty) in zip(every, cases, strict=True):
        wanted = wakes_by_hand(reads, whole, weights, set(empty))
        if not wanted:
            assert found is None
            continue
        columns, n, _ = found
        assert (n, tuple(columns)) in [(one[1], one[2]) for one in wanted]
    assert sum(one is not None and len(one[0]) > 1 for one in every) > 10


def test_where_all_voters_are_silent_the_page_names_what_wakes_them(visit, island):
    page, seen = visit(), 0
    for key, calc in island["case"]["models"].items():
        if "plain" not in calc:
            continue
        choose(page, key)
        page.locator(f"{by('case-live')} .pick button").click()  # empty all
        reader = PlainModel(calc["plain"])
        reads, whole = reader.vote.column_needs
        if not page.locator(by("case-unanswered")).count() or not any(reads):
            continue
        assert page.locator(by("measure-next")).count() == 0
        chances = page.evaluate(
            """(key) => { const { plain } = page.data.case.models[key];
            return openModel(plain).answer(plain.columns.map(() => null)).probabilities; }""",
            key,
        )
        if max(chances) - min(chances) < 1e-12:
            assert "of the weight" not in page.locator(by("case-votes")).inner_text()
        columns = page.locator(by("wakes")).get_attribute("data-columns")
        found = tuple(int(one) for one in columns.split(","))
        weights = [1.0] * len(reads)
        wanted = wakes_by_hand(reads, whole, weights, {j for own in reads for j in own})
        assert len(found) == len(wanted[0][2])
        start = calc["typical"][1]
        row = [None] * len(calc["plain"]["columns"])
        for field, value in zip(calc["fields"], start, strict=True):
            row[field["at"]] = value if field["at"] in found else None
        case = reader.case(row)
        assert "no voter has the values" not in reader.unanswered(case, reader.scored(case))
        seen += 1
    assert seen


def test_no_advice_moves_the_answer_by_nothing(visit, island):
    page = visit()
    for key, calc in island["case"]["models"].items():
        if "plain" not in calc:
            continue
        choose(page, key)
        page.locator(f"{by('case-live')} .pick button").click()
        assert "by 0.00 on average" not in page.locator(by("case-live")).inner_text()


_STATES = """async () => {
  const texts = [], typed = new Set(), starts = [], hub = page.hub;
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  const count = (query) => document.querySelectorAll(query).length;
  const seen = { drawn: 0, near: 0, turn: 0, next: 0 };
  const kinds = { drawn: "[data-row]", near: "table.near", turn: "[data-test=turn]",
    next: "[data-test=measure-next]" };
  const look = async () => {
    document.querySelectorAll("details").forEach((one) => { one.open = true; });
    await frame();
    const named = [...document.querySelectorAll("[aria-label], [title]")];
    texts.push(document.body.innerText, ...named.map((one) =>
      `${one.getAttribute("aria-label")} ${one.getAttribute("title")}`));
    document.querySelectorAll("#case-live input[type=text]").forEach((one) =>
      typed.add(one.value));
    Object.keys(kinds).forEach((kind) => { seen[kind] += count(kinds[kind]); });
  };
  for (const { value } of [...document.querySelectorAll("#model option")]) {
    hub.set("model", value);
    await look();
    const options = [...(document.querySelector("#case-from")?.options || [])];
    for (const start of options.map((one) => one.value).slice(0, 8)) {
      const select = document.querySelector("#case-from");
      starts.push(start);
      select.value = start;
      select.dispatchEvent(new Event("change"));
      document.querySelector("[data-test=turn]")?.click();
      await look();
    }
  }
  return { texts: texts.join(" "), typed: [...typed], starts, ...seen }; }"""


def values_typed(found, cases):
    """Return the values of cases, in full, that stand in fields of the page."""
    values = {repr(float(v)) for v in cases.values.ravel() if isinstance(v, float)}
    return values & {repr(float(one)) for one in found["typed"] if one}


def test_a_page_without_cases_shows_none_of_them_in_any_state(load, compared, saved, tmp_path):
    page = load(build_report(compared, tmp_path / "none.html", cases="none"))
    found = page.evaluate(_STATES)
    assert set(found["starts"]) <= {"e0", "t0", "t1", "t2"}
    assert found["drawn"] == found["near"] == found["turn"] == found["next"] == 0
    text = found["texts"]
    for words in ("nearest case", "did not see this case", "What would turn"):
        assert words not in text
    cases = saved.folder.cases
    assert not [one for one in cases.ids if one in text]
    assert not re.search(r"\bcase \d+\b", text)
    assert not values_typed(found, cases)
    assert "permuted" in text  # a mean over all held-out cases, and none of one


def test_a_page_with_cases_shows_them_in_those_states(load, compared, saved, tmp_path):
    beside = load(build_report(compared, tmp_path / "full.html", cases="full")).evaluate(_STATES)
    assert values_typed(beside, saved.folder.cases)
    assert beside["drawn"] > 0
    assert beside["near"] > 0
    assert beside["turn"] > 0
