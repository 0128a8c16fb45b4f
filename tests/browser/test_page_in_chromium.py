"""The page in a browser: every control moves what it says, and what it says is what Python says."""

import csv
import importlib.util
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.metrics import precision_recall_curve, roc_curve

pytestmark = pytest.mark.browser


def by(name):
    return f'[data-test="{name}"]'


@pytest.fixture
def study(summarised):
    """The answers of a study and what Python says of them."""
    return summarised, summarised["island"]["missed"]


def two(study):
    if study[1]["kind"] != "two":
        pytest.skip("of two classes")


def several(study):
    if study[1]["kind"] == "two":
        pytest.skip("of several classes")


def judged(study, model, threshold, prevalence=None):
    """Return what the library says of a model at a threshold."""
    from psephos.report.numbers.classes import ClassNames, fills, measures_rows
    from psephos.report.numbers.measures import counts_at, four

    told = study[1]
    one, code = told["models"][model], told["positive"]
    q = np.array(one["q"])
    known = q >= 0
    positive = (np.array(told["truth"]) == code)[known]
    c = counts_at(q[known], positive, threshold)
    found = four(c)
    if prevalence is not None:
        found[2:] = _mercaldo().predictive(c, prevalence)
    names = ClassNames(told["classes"][code], told["classes"][1 - code], one["label"], one["axis"])
    return fills(c, threshold, names), measures_rows(c, names, found), c


def _mercaldo():
    source = Path(__file__).parent.parent / "report" / "mercaldo.py"
    spec = importlib.util.spec_from_file_location("mercaldo", source)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def settle(page):
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)))")


def set_threshold(page, value):
    page.locator(by("threshold-number")).fill(str(value))
    settle(page)


def said(page):
    """Return what the page says once it has drawn: texts by what they fill, measures, lanes."""
    settle(page)
    return page.evaluate(
        """() => {
        const all = (query) => [...document.querySelectorAll(query)], texts = {};
        all("[data-fill]").forEach((e) => (texts[e.dataset.fill] ??= []).push(e.textContent));
        const measures = all('[data-test="measure"]').map(
            (row) => [...row.cells].slice(0, 4).map((cell) => cell.textContent));
        return { texts, measures, lanes: document.querySelector("#lanes svg").textContent }; }"""
    )


def test_the_script_says_at_every_threshold_what_python_says(visit, study):
    two(study)
    page = visit()
    for model in study[1]["models"]:
        page.locator("#model").select_option(model)
        for threshold in (0, 0.07, 0.29, 0.5, 0.505, 0.9, 1):
            page.locator(by("threshold-number")).fill(str(threshold))
            words, rows, c = judged(study, model, threshold)
            shown = said(page)
            for key in ("model", "found", "missed", "cleared", "alarms", "more", "threshold"):
                assert set(shown["texts"][key]) == {words[key]}, (model, threshold, key)
            assert shown["measures"] == [
                [r["name"], r["counts"], r["value"], r["interval"]] for r in rows
            ]
            for n, what in (
                (c.found, "found"), (c.missed, "missed"),
                (c.alarms, "false alarm"), (c.cleared, "cleared"),
            ):  # fmt: skip
                assert f"{n} {what}" in shown["lanes"]
    share = 0.07
    page.locator("#model").select_option(study[0]["bar"]["key"])
    set_threshold(page, 0.5)
    page.locator(by("prevalence")).fill(str(100 * share))
    page.locator(by("prevalence")).press("Enter")
    _, rows, _ = judged(study, study[0]["bar"]["key"], 0.5, share)
    shown = said(page)["measures"]
    assert [r[2:] for r in shown] == [[r["value"], r["interval"]] for r in rows]
    assert [r[1].endswith(" in this study") for r in shown] == [False, False, True, True]


def test_tables_are_the_same_without_script_and_pictures_need_it(visit, study):
    static, live = visit(1400, java_script_enabled=False), visit(1400)
    for part in (
        "missed-words",
        "measures",
        "tenths",
        "like",
        "by-class",
        "grid",
        "stability-list",
    ):
        one = static.locator(by(part))
        if one.count():
            assert one.inner_text() == live.locator(by(part)).inner_text()
    for picture in ("chart", "lanes", "roc", "values-live"):
        assert not static.locator(by(picture)).first.is_visible()
        assert live.locator(by(picture)).first.is_visible()
    assert not static.locator("#bar select").first.is_visible()


def test_every_case_is_a_dot_at_its_answer(visit, study):
    page = visit(1400)
    told = study[1]
    model = told["models"][page.locator("#model").input_value()]
    answers = model["q"] if told["kind"] == "two" else model["P"][told["positive"]]
    dots = page.locator("#lanes circle.case").evaluate_all(
        "all => all.map(c => ['data-at', 'cx', 'cy', 'r'].map(k => Number(c.getAttribute(k))))"
    )
    assert sorted(dot[0] for dot in dots) == [i for i, u in enumerate(answers) if u >= 0]
    wide = float(page.locator("#lanes svg").get_attribute("width"))
    away = [abs(128 + answers[int(i)] / 1e6 * (wide - 140) - x) for i, x, _, _ in dots]
    assert np.median(away) < 1  # piles at either end spread inwards
    xy = np.array([dot[1:3] for dot in dots])
    apart = np.sqrt(((xy[:, None] - xy[None]) ** 2).sum(axis=2))
    np.fill_diagonal(apart, 99)
    assert apart.min() >= 2 * min(dot[3] for dot in dots)


def shown_model(page):
    """Return the model that each place of the page shows, and what is said of it."""
    settle(page)
    return page.evaluate(
        """() => {
        const all = (query) => [...document.querySelectorAll(query)];
        const models = (query) => all(query).map((e) => e.dataset.model);
        const texts = (query) => all(query).map((e) => e.textContent);
        return [all("#model").map((e) => e.value), models("#results tr.chosen"),
            models("#chart .own"), texts("#missed-note"),
            texts('[data-test="stability-words"]'), texts('[data-test="settings"]')]; }"""
    )


def test_the_model_changes_on_the_whole_page(visit, study):
    page = visit()
    report, told = study
    keys = [m["key"] for m in report["models"]]
    for way in ("bar", "row", "mark"):
        for key in keys:
            if way == "bar":
                page.locator("#model").select_option(key)
            elif way == "row":
                page.locator(f'{by("row")}[data-model="{key}"] button').focus()
                page.keyboard.press("Enter")
            else:
                page.locator(f'#chart {by("point")}[data-model="{key}"] .dot').click(force=True)
            stable = report["island"]["stability"]["models"][key]["words"]
            settings = report["island"]["made"][key]["settings"]
            told_of = [told["models"][key]["note"], stable, settings]
            assert shown_model(page) == [[one] for one in (key, key, key, *told_of)]
    assert page.locator("#chart .own").count() == 1  # folds and span of the chosen model only


def test_parts_of_the_model_shown_first_say_so_once_another_is_chosen(visit, study):
    page, told = visit(), study[0]["island"]["first"]["model"]
    stays = page.locator("#verdict .stays")
    assert stays.is_hidden()
    assert told in stays.text_content()
    other = next(key for key in study[1]["models"] if key != told)
    page.locator(by("model")).select_option(other)
    assert stays.is_visible()
    page.locator(by("model")).select_option(told)
    assert stays.is_hidden()


def test_a_difference_beyond_the_axis_ends_in_an_arrow(load, compared, tmp_path):
    html = (compared / "report.html").read_text("utf-8")
    ends = re.findall(r'data-bar="([^"]*)"', html)
    path = tmp_path / "far.html"
    path.write_text(html.replace(f'data-bar="{ends[0]}"', 'data-bar="-2 -3 0.5"', 1), "utf-8")
    cell = load(path).locator('[data-bar="-2 -3 0.5"]')
    assert (cell.locator("path").count(), cell.locator("circle").count()) == (1, 0)
    assert cell.locator(".interval").get_attribute("x1") == "1"


def test_the_threshold_moves_by_line_slider_number_and_weight(visit, study):
    two(study)
    page = visit()
    page.locator("#lanes").scroll_into_view_if_needed()
    box = page.locator("#lanes .drag").bounding_box()
    inner = page.locator("#lanes svg").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(inner["x"] + 128 + 0.2 * (inner["width"] - 140), box["y"] + 70, steps=5)
    page.mouse.up()
    settle(page)
    number = page.locator(by("threshold-number"))
    assert float(number.input_value()) == pytest.approx(0.2, abs=0.005)
    slider = page.locator(by("slider"))
    slider.focus()
    page.keyboard.press("ArrowRight")
    settle(page)
    assert float(number.input_value()) == pytest.approx(0.21, abs=0.005)
    words, _, _ = judged(study, page.locator("#model").input_value(), float(number.input_value()))
    spoken = f"misses {words['missed']}, alarms {words['alarms']}"
    assert slider.get_attribute("aria-valuetext").endswith(spoken)
    page.locator(by("weight")).fill("4")
    page.keyboard.press("Tab")
    settle(page)
    assert number.input_value() == "0.20"
    page.locator(by("back")).click()
    settle(page)
    assert (number.input_value(), page.locator(by("weight")).input_value()) == ("0.50", "1")
    page.locator(by("find-most")).click()
    settle(page)
    threshold = float(number.input_value())
    _, _, c = judged(study, page.locator("#model").input_value(), threshold)
    assert c.found >= 0.9 * c.positive
    _, _, above = judged(study, page.locator("#model").input_value(), threshold + 0.001)
    assert above.found < 0.9 * c.positive or threshold == 1


def marks_at(c, threshold, worth, top):
    """Return where a threshold of these counts stands on each curve, by the frame of the page."""
    from psephos.report.numbers.curves import FRAME

    wide = FRAME["width"] - FRAME["left"] - FRAME["right"]
    high = FRAME["height"] - FRAME["top"] - FRAME["bottom"]

    def place(x, y):
        return FRAME["left"] + x * wide, FRAME["top"] + (1 - y) * high

    found, called = c.found / c.positive, c.found + c.alarms
    return {
        "roc": place(c.alarms / c.negative, found),
        "pr": place(found, c.found / called) if called else None,
        "cal": place(threshold, 0)[0],
        "nb": place(threshold, (worth + 0.1) / (top + 0.1)) if worth >= -0.1 else None,
    }


def assert_passes(page, name, x, y):
    """Check that the path of a curve has these points, in the unit square of the frame."""
    from psephos.report.numbers.curves import FRAME

    wide = FRAME["width"] - FRAME["left"] - FRAME["right"]
    high = FRAME["height"] - FRAME["top"] - FRAME["bottom"]
    path = page.locator(f"#{name}-d").get_attribute("d").removeprefix("M").split("L")
    points = np.array([[float(v) for v in one.split()] for one in path])
    np.testing.assert_allclose(points[:, 0], FRAME["left"] + x * wide, atol=0.051)
    np.testing.assert_allclose(points[:, 1], FRAME["top"] + (1 - y) * high, atol=0.051)


def test_curves_are_scikit_learns(visit, study):
    two(study)
    page, told = visit(), study[1]
    one = told["models"][page.locator("#model").input_value()]
    q = np.array(one["q"])
    positive = np.array(told["truth"])[q >= 0] == told["positive"]
    x, y, _ = roc_curve(positive, q[q >= 0], drop_intermediate=False)
    assert_passes(page, "roc", x, y)
    precision, recall, _ = precision_recall_curve(positive, q[q >= 0])
    assert_passes(page, "pr", recall[:-1][::-1], precision[:-1][::-1])
    for name, benefit in (("nb", "model"), ("nb-all", "all")):
        worth, top = np.array(one["curves"]["nb"][benefit]), one["curves"]["nb"]["top"]
        grid = np.array(one["curves"]["nb"]["at"])[worth >= -0.1]
        shown = (worth[worth >= -0.1] + 0.1) / (top + 0.1)
        path = page.locator(f"#{name if name == 'nb-all' else 'nb-d'}").get_attribute("d")
        assert path.count("L") == len(grid) - 1
        if name == "nb":
            assert_passes(page, "nb", grid, shown)


def test_marks_of_the_threshold_stand_on_the_curves(visit, study):
    two(study)
    page = visit()
    key = page.locator("#model").input_value()
    for threshold in (0.2, 0.66):
        set_threshold(page, threshold)
        _, _, c = judged(study, key, threshold)
        worth = (c.found - c.alarms * threshold / (1 - threshold)) / (c.positive + c.negative)
        marks = marks_at(c, threshold, worth, study[1]["models"][key]["curves"]["nb"]["top"])
        for name in ("roc", "pr", "nb"):
            circle = page.locator(f"#{name}-here circle")
            if marks[name] is None:
                assert circle.count() == 0
            else:
                place = [float(circle.get_attribute(k)) for k in ("cx", "cy")]
                assert place == pytest.approx(marks[name], abs=0.06)
        line = page.locator("#cal-here line").get_attribute("x1")
        assert float(line) == pytest.approx(marks["cal"], abs=0.06)


def test_a_person_is_ringed_wherever_chosen(visit, study):
    page = visit()
    told = study[1]
    page.locator("#lanes circle.case").nth(3).click(force=True)
    settle(page)
    assert page.locator("#lanes circle.pin").count() == 1
    pin, dot = (page.locator(f"#lanes circle.{k}").first for k in ("pin", "case"))
    assert dot.get_attribute("data-at")
    at = int(page.locator("#lanes circle.case").nth(3).get_attribute("data-at"))
    assert pin.get_attribute("cx") == page.locator(
        f'#lanes circle.case[data-at="{at}"]'
    ).get_attribute("cx")
    panel = page.locator(by("person"))
    assert panel.inner_text().startswith(
        f"Case {at + 1} is {told['classes'][told['truth'][at]]}. Held out, "
    )
    buttons = page.locator("#mistakes button")
    if buttons.count():
        buttons.first.focus()
        page.keyboard.press("Enter")
        settle(page)
        assert page.locator("#mistakes tr.chosen button").inner_text() == buttons.first.inner_text()
        assert panel.inner_text().startswith(f"Case {buttons.first.inner_text()} is ")


def test_a_list_of_one_mistake_is_headed_in_the_singular(visit, study):
    two(study)
    page, told = visit(), study[1]
    model = told["models"][page.locator(by("model")).input_value()]
    q, ill = np.array(model["q"]), np.array(told["truth"]) == told["positive"]
    name, seen = told["classes"][told["positive"]], set()
    for t in np.arange(0.01, 1, 0.01).round(2):
        missed = int(((q < t * 1e6) & (q >= 0) & ill).sum())
        alarms = int(((q >= t * 1e6) & ~ill).sum())
        if 1 not in (missed, alarms):
            continue
        set_threshold(page, t)
        captions = page.locator("#mistakes caption").all_inner_texts()
        if missed == 1:
            assert captions[0] == f"1 missed {name} case"
            seen.add("missed")
        if alarms == 1:
            assert "1 false alarm" in captions
            seen.add("alarm")
    assert seen


def test_values_beside_mistakes_have_no_digits_but_their_own(visit, study):
    page = visit()
    tables = page.locator("#mistakes table").evaluate_all(
        "all => all.map((t) => [...t.rows].map((r) => [...r.cells].map((c) => c.textContent)))"
    )
    for heads, *rows in tables:
        assert len(set(heads)) == len(heads)
        columns = [j for j, head in enumerate(heads) if head not in ("case", "answer")]
        words = [row[j] for row in rows for j in columns]
        numbers = [one for one in words if re.fullmatch(r"−?[\d.]+", one)]
        assert numbers
        assert all(re.fullmatch(r"−?\d+(\.\d*[1-9])?", one) for one in numbers)


def test_groups_are_chosen_and_follow_the_model(visit, study):
    from psephos.report.numbers.measures import subgroup_words

    two(study)
    page, told = visit(), study[1]
    set_threshold(page, 0.3)
    for key, model in told["models"].items():
        page.locator("#model").select_option(key)
        for k, parted in enumerate(told["groups"]):
            page.locator(by("group")).select_option(str(k))
            shown = page.locator(f"{by('groups')} tbody tr").evaluate_all(
                "all => all.map(r => [...r.cells].map(c => c.textContent))"
            )
            rows = zip(parted["levels"], model["groups"][k], strict=True)
            assert shown == [
                [level, str(n), *(subgroup_words(*one) for one in cells)]
                for level, (n, *cells) in rows
            ]


def test_several_classes_have_a_grid_and_answers_about_each(visit, study):
    several(study)
    page = visit()
    told = study[1]
    for key, model in told["models"].items():
        page.locator("#model").select_option(key)
        for c, name in enumerate(told["classes"]):
            page.locator("#cls").select_option(str(c))
            settle(page)
            assert page.locator("#cost").text_content() == model["cost"][c]
            grid = page.locator(f"{by('grid')} tbody tr").evaluate_all(
                "all => all.map(r => [...r.cells].slice(1).map(c => +c.textContent))"
            )
            assert grid == model["grid"]
            hits, alarms = np.array(model["curves"][c]["steps"]).T
            assert_passes(page, "roc", alarms / alarms[-1], hits / hits[-1])
            assert set(page.locator('[data-fill="cls"]').all_text_contents()) == {name}
            assert page.locator("#lanes circle.case").count() == model["n"]
            wrong = page.locator("#lanes circle.wrong").count()
            assert wrong == model["n"] - int(model["right"])
    assert page.locator("#threshold").count() == 0  # the most probable class has none


def test_files_of_cases_and_thresholds_are_whole(visit, study, tmp_path):
    two(study)
    page = visit(accept_downloads=True)
    set_threshold(page, 0.4)
    told, key, saved = study[1], page.locator("#model").input_value(), []
    page.get_by_text("The curves in numbers").click()
    for link in (
        page.get_by_text("Every case as CSV"),
        page.locator("details:has(#tenths) .csv").first,
    ):
        with page.expect_download() as waiting:
            link.click()
        waiting.value.save_as(tmp_path / "x.csv")
        with (tmp_path / "x.csv").open(encoding="utf-8", newline="") as file:
            saved.append(list(csv.reader(file)))
    head, *rows = saved[0]
    assert head[-1] == "called from 0.40"
    assert [row[0] for row in rows] == [str(i + 1) for i in range(len(told["truth"]))]
    assert [round(float(row[2]) * 1e6) for row in rows] == told["models"][key]["q"]
    assert len(saved[1]) > 5
    for row in saved[1][1:]:
        _, _, c = judged(study, key, float(row[0]))
        assert [int(v) for v in row[1:5]] == [c.found, c.missed, c.alarms, c.cleared]


def test_numbers_are_written_as_python_writes_them(visit):
    from psephos.files.names import signs
    from psephos.report import words

    page = visit()
    values = [0.125, 0.375, 0.005, 0.995, 0.9999, 0, 1, 0.285, 0.145, 2 / 3, 1e-9, 0.235, 0.575]
    values += [-v for v in values] + [12345.0, 0.0049999]
    shown = page.evaluate(
        "values => values.map(v => ["
        "page.words.rate(v), page.words.chance(v), page.words.number(v)])",
        values,
    )
    assert shown == [[words.rate(v), words.chance(v), words.number(v)] for v in values]
    counts = page.evaluate("[0, 999, 9999, 10000, 1234567].map(page.words.count)")
    assert counts == [words.count(n) for n in (0, 999, 9999, 10000, 1234567)]
    sums = ["log-odds of -: - 3.9 × 1 (A = t) = -1.5", "-2 × 'I->N' - 7e-05 × a-2 (-1)", "a - b"]
    assert page.evaluate("sums => sums.map(page.words.signs)", sums) == list(map(signs, sums))


def test_empty_cases_and_ties_are_not_the_nearest(visit):
    page = visit()
    ask = """([spread, x, rows]) => page.near.nearest(spread, x, rows, -1)"""
    rows = [[None] * 4, [1, None, None, None], [1, 2, None, None], [1, 2, 3.5, None], [1, 2, 3, 4]]
    assert page.evaluate(ask, [[1, 1, 1, 1], [1, 2, 3, 4], rows]) == [
        [4, 0, 4], [3, pytest.approx(np.sqrt(0.25 * 4 / 3)), 3],
    ]  # fmt: skip
    assert [one[0] for one in page.evaluate(ask, [[1] * 4, [1, None, None, None], rows])] == [
        1, 2, 3, 4,
    ]  # fmt: skip
    assert page.evaluate(ask, [[1] * 4, [None] * 4, rows]) == []


def test_controls_are_labelled_and_large_enough(visit):
    page = visit(400)
    small = page.evaluate(
        """() => ["button", "select", "input", "summary"]
        .flatMap(tag => [...document.querySelectorAll("main " + tag)])
        .filter(e => e.offsetParent).map(e => [e.outerHTML.slice(0, 80), e.getBoundingClientRect()])
        .filter(([, box]) => box.height < 24).map(([html]) => html)"""
    )
    assert small == []
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("input, select")].filter(e => e.offsetParent)
        .filter(e => !e.labels.length && !e.getAttribute("aria-label")).map(e => e.id)"""
    )
    assert unnamed == []
    assert page.locator("svg [tabindex]").count() == page.locator(".network [tabindex]").count()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_the_panels_of_values_and_of_a_case_stand_without_script(visit, summarised):
    page = visit(java_script_enabled=False)
    key = summarised["bar"]["key"]
    first = page.locator(by("values-first"))
    assert first.is_visible()
    for column in summarised["island"]["values"]["models"][key]["columns"][:6]:
        assert column["name"] in first.inner_text()
    assert page.locator(by("case-first")).is_visible()
    assert not page.locator(by("case-live")).is_visible()
    assert not page.locator(by("beside-words")).is_visible()  # on lists that need the script
    assert page.locator("h3:visible", has_text="Every case by its answer").count() == 0


def test_narrow_screens_do_not_scroll_sideways(visit):
    page = visit(width=400)
    page.locator(by("values-live")).scroll_into_view_if_needed()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    seen, cut = page.evaluate(
        """() => {
        document.querySelectorAll("details").forEach((one) => (one.open = true));
        const shown = [...document.querySelectorAll("table")].filter((t) => t.checkVisibility()),
          hidden = (c) => !c.checkVisibility() && !c.matches(".drawn"),
          box = (t) => t.closest(".scroll")?.getBoundingClientRect().right ?? Infinity,
          wide = (t) => Math.min(box(t), t.getBoundingClientRect().right) > innerWidth,
          name = (t) => t.id || t.dataset.test || t.className;
        return [shown.filter((t) => t.offsetWidth > t.closest(".scroll")?.offsetWidth).map(name),
          shown.filter((t) => wide(t) || [...t.rows[0].cells].some(hidden)).map(name)]; }"""
    )
    assert "results" in seen  # wider than the screen, and scrolled in its own box
    assert cut == []


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_page_without_cases_still_moves(load, builders, tmp_path, n_classes):
    from psephos.report import build_report, summarise
    from psephos.report.study.options import PageOptions

    rng = np.random.default_rng(0)
    truth = rng.integers(n_classes, size=600)
    proba = rng.dirichlet(np.ones(n_classes), size=600)
    proba[np.arange(600), truth] += 0.3
    chances = [proba / proba.sum(axis=1, keepdims=True)]
    folder = builders.written_folder(
        tmp_path / "a", truth, {"a": chances, "b": chances}, "xyz"[:n_classes]
    )
    told = summarise(folder, options=PageOptions(cases="none"))["island"]["missed"]["models"]["a"]
    page = load(build_report(folder, tmp_path / "none.html", cases="none"))
    assert page.locator("#lanes circle.case").count() == 0
    assert page.locator("#lanes rect").count() > 3
    if n_classes == 2:
        for at, threshold in enumerate(told["edges"][:-1]):
            page.evaluate(f"page.setThreshold({threshold})")
            settle(page)
            found, alarms = sum(told["bins"]["pos"][at:]), sum(told["bins"]["neg"][at:])
            assert page.locator("#n-tp").text_content() == str(found)
            assert page.locator("#n-fp").text_content() == str(alarms)
    else:
        cells = page.locator("#grid tbody td").all_text_contents()
        assert cells == [str(n) for row in told["grid"] for n in row]


_COVERED = """() => [...document.querySelectorAll("#curves svg")].flatMap((chart) => {
  const boxes = [...chart.querySelectorAll("text")].map((one) => one.getBoundingClientRect());
  const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 6; // of their lines, not of letters
  return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) => meet(a, b))
    .map(() => chart.dataset.test)); })"""


def test_words_in_curves_cover_no_others(visit, study):
    two(study)
    page = visit()
    for model in study[1]["models"]:
        page.locator("#model").select_option(model)
        for hundredths in (2, 10, 30, 50, 70, 90, 98):
            page.evaluate(f"page.setThreshold({hundredths / 100})")
            settle(page)
            assert page.evaluate(_COVERED) == []


@pytest.mark.parametrize("threshold", [0.15, 0.5, 0.9])
def test_no_line_of_the_threshold_runs_through_words(visit, study, threshold):
    two(study)
    page = visit(400)
    set_threshold(page, threshold)
    crossed = page.evaluate(
        """() => [...document.querySelectorAll("#lanes svg, #curves svg")].flatMap((svg) => {
        const words = [...svg.querySelectorAll("text")], box = (one) => one.getBoundingClientRect();
        return [...svg.querySelectorAll("line.threshold")].flatMap((line) => words.filter((one) => {
          const [a, b] = [box(one), box(line)],
            front = line.compareDocumentPosition(one) & 4 && one.classList.contains("halo"),
            meets = b.left > a.left + 1 && b.left < a.right - 1 && b.bottom > a.top + 2;
          return meets && b.top < a.bottom - 2 && !front;
        }).map((one) => one.textContent)); })"""
    )
    assert crossed == []


def refusal(field):
    """Return what the page does about a field, once it has drawn: of parts, whether each is seen.

    Seen is what has a place on the page and is not hidden there.
    """
    settle(field.page)
    return field.evaluate(
        """(field) => {
        const all = (query) => [...document.querySelectorAll(query)];
        const seen = (query) => all(query).map((e) => {
            const { width, height } = e.getBoundingClientRect();
            return e.checkVisibility({ visibilityProperty: true }) && width > 0 && height > 0; });
        const told = field.getAttribute("aria-describedby");
        const test = (name) => `[data-test="${name}"]`;
        return { value: field.value, invalid: field.getAttribute("aria-invalid"),
            words: told ? all(`#${told}`).map((e) => e.textContent) : [],
            told: told ? seen(`#${told}`) : [],
            measures: all(test("measure")).map((e) => e.innerText),
            cost: seen("#cost"), answer: seen(test("case-answer")),
            rest: [test("missed-words"), "#lanes svg", test("measure"),
                test("case-answer") + " .call"].map(seen) }; }"""
    )


def test_while_a_field_holds_no_number_nothing_follows_from_it(visit, study):
    two(study)
    page = visit()
    number, share = page.locator(by("threshold-number")), page.locator(by("prevalence"))
    weight, cost = page.locator(by("weight")), page.locator("#cost")
    before = page.locator(by("measure")).all_inner_texts()
    for field, right in ((number, "0.25"), (weight, "0.5"), (share, "0.5")):
        for wrong in (right.replace(".", ","), "x", "0.", "1e", "1e-1", "-1", "99999", "\uff11"):
            field.fill("")
            field.type(wrong)
            page.keyboard.press("Tab")
            now = refusal(field)
            assert (now["value"], now["invalid"], now["told"]) == (wrong, "true", [True])
            assert "takes a number from" in now["words"][0]
            if field is share:  # moves PPV and NPV alone
                assert now["measures"][:2] == before[:2]
                assert all("–" in one for one in now["measures"][2:])
                assert now["cost"] == [True]
            else:
                assert now["cost"] == [False]
                assert not any(any(seen) for seen in now["rest"])
                assert now["answer"] == [True]
        field.fill(right)
        settle(page)
        assert field.get_attribute("aria-invalid") is None
        assert page.locator(".refused").count() == 0
        assert cost.is_visible()
        assert page.locator(by("measure")).all_inner_texts() != before
        before = page.locator(by("measure")).all_inner_texts()
    share.fill("")  # nothing is the share here
    settle(page)
    assert page.locator(".refused").count() == 0
    assert page.locator(by("measure")).all_inner_texts() != before
    for field in (number, weight):  # another control rules again, at once
        field.fill("x")
        page.locator(by("back")).click()
        settle(page)
        assert (number.input_value(), weight.input_value()) == ("0.50", "1")
        assert page.locator(".refused").count() == 0
        assert cost.is_visible()


def test_pictures_are_saved_as_svg_files_that_stand_alone(visit, study, tmp_path):
    page = visit()
    for place in ("#lanes-figure", "#chart", ".four figure >> nth=0", ".col figure >> nth=0"):
        figure = page.locator(place)
        drawn = figure.locator("svg").filter(visible=True).first
        for scheme in ("dark", "light"):
            page.emulate_media(color_scheme=scheme)
            with page.expect_download() as waiting:
                figure.locator(by("svg")).press("Enter")
            waiting.value.save_as(tmp_path / f"{scheme}.svg")
        assert (tmp_path / "dark.svg").read_text() == (tmp_path / "light.svg").read_text()
        (tmp_path / "light.svg").rename(tmp_path / "x.svg")
        root = ElementTree.parse(tmp_path / "x.svg").getroot()
        every = list(root.iter())
        assert not [one for one in every if one.get("class") or "var(" in str(one.attrib)]
        hues = {one.get("fill") for one in every} - {None, "none"}
        assert len(hues) > 2
        assert root.find("{*}text").get("font-family")
        words = " ".join(one.text or "" for one in root.iterfind("{*}text"))
        caption = figure.locator("figcaption, h3").first
        told = caption.inner_text() if caption.count() else drawn.get_attribute("aria-label")
        assert words.split()[:4] == told.split()[:4]
        for kind in ("circle", "path", "line"):
            shown = drawn.locator(f"{kind}:visible").count()
            assert sum(one.tag.endswith(kind) for one in every) >= shown
