"""The report as a reader meets it: in a browser, offline."""

import csv

import numpy as np
import pytest

pytestmark = pytest.mark.browser
of_swag = pytest.mark.parametrize("opened", ["swag"], indirect=True)


def by(name):
    return f'[data-test="{name}"]'


def results(folder):
    with (folder / "results.csv").open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["status"] == "ok"]


def read(text):
    return float(text.replace("−", "-"))


def test_points_of_the_chart_are_the_rows_of_the_results(visit, compared):
    page = visit()
    points = page.locator(f"#chart {by('point')}")
    seen = points.evaluate_all(
        "all => all.map(p => [p.dataset.model, +p.dataset.score, +p.dataset.columns,"
        " p.querySelector('.dot').getBoundingClientRect().toJSON()])"
    )
    rows = results(compared)
    assert {s[0] for s in seen} == {r["model"] for r in rows}
    for model, score, columns, _ in seen:
        own = [r for r in rows if r["model"] == model]
        assert score == pytest.approx(
            np.mean([float(r["balanced_accuracy"]) for r in own]), abs=1e-12
        )
        assert columns == pytest.approx(np.mean([float(r["columns_used"]) for r in own]), abs=1e-9)
    # and where they are drawn is where they should be: height is linear in the score
    middle = np.array([box["top"] + box["height"] / 2 for *_, box in seen])
    score = np.array([s[1] for s in seen])
    reads = np.array([s[2] > 0 for s in seen])  # a constant answer may stand at the axis's foot
    slope, start = np.polyfit(score[reads], middle[reads], 1)
    assert slope < 0
    np.testing.assert_allclose(slope * score[reads] + start, middle[reads], atol=0.6)
    assert np.all(middle[~reads] <= slope * score[~reads] + start + 0.6)
    assert np.all(middle[~reads] > middle[reads].max())
    left = [box["left"] + box["width"] / 2 for *_, box in seen]
    assert np.all(np.diff(np.array(left)[np.argsort([s[2] for s in seen], kind="stable")]) > -0.6)


def test_the_table_sorts_by_any_column(visit):
    page = visit()
    heads = page.locator(f"{by('results')} thead th")
    for column in [k for k in range(1, heads.count()) if heads.nth(k).get_attribute("data-sort")]:
        for order in ("descending", "ascending"):
            if heads.nth(column).get_attribute("aria-sort") != order:
                heads.nth(column).locator("button").click()
            assert heads.nth(column).get_attribute("aria-sort") == order
            cells = page.locator(f"{by('row')} td:nth-of-type({column})")
            values = cells.evaluate_all("all => all.map(c => c.dataset.value)")
            known = [float(v) for v in values if v]
            assert known == sorted(known, reverse=order == "descending")
            assert values[: len(known)] == [v for v in values if v]  # unknown ones last
    heads.nth(0).locator("button").click()
    names = page.locator(f"{by('row')} th").evaluate_all("all => all.map(c => c.dataset.value)")
    assert names == sorted(names, key=str.lower)


def test_downloads_are_the_tables_and_no_cell_is_a_formula(visit, compared, tmp_path):
    from psephos.files.escaping import disarmed

    page = visit(accept_downloads=True)
    page.evaluate(
        "() => { const c = document.querySelector('#results tbody th');"
        " c.dataset.value = '=cmd|calc'; }"
    )
    with page.expect_download() as waiting:
        page.locator(by("csv")).filter(visible=True).first.click()
    assert waiting.value.suggested_filename == "results.csv"
    waiting.value.save_as(tmp_path / "results.csv")
    with (tmp_path / "results.csv").open(encoding="utf-8", newline="") as file:
        head, *rows = list(csv.reader(file))
    assert head[0].startswith("model")
    assert rows[0][0] == "'=cmd|calc"
    scores = {r["model"]: [] for r in results(compared)}
    for r in results(compared):
        scores[r["model"]].append(float(r["balanced_accuracy"]))
    for row in rows[1:]:
        assert float(row[1]) == pytest.approx(np.mean(scores[row[0]]), abs=1e-12)
        assert [disarmed(cell) for cell in row] == row


def shares_of(page, name):
    """Return (share, whether it is shown) of the elements of this name."""
    return page.locator(by(name)).evaluate_all(
        "all => all.map(e => [+e.dataset.share, getComputedStyle(e).display !== 'none'])"
    )


def network_of(folder):
    from psephos.explain import ColumnNetwork
    from psephos.report.study.folder import read_folder
    from psephos.report.study.opened import open_model

    return ColumnNetwork.from_estimator(open_model(read_folder(folder).models["swag"]).model)


@of_swag
def test_the_network_is_that_of_the_saved_model(visit, compared):
    page, made = visit(), network_of(compared)
    told, joined = made.nodes(), made.edges()
    rows = page.locator(f"{by('network-columns')} tbody tr")
    assert rows.locator("th").all_text_contents() == told["column"]
    assert [s for s, _ in shares_of(page, "node")] == pytest.approx(told["share"], abs=1e-12)
    shown = rows.locator("td:nth-of-type(1)").all_text_contents()
    assert [float(t.split()[0]) for t in shown] == pytest.approx(
        [100 * s for s in told["share"]], abs=0.5
    )
    assert rows.locator("td:nth-of-type(2)").all_text_contents() == told["role"]
    pairs = page.locator(f"{by('network-pairs')} tbody tr")
    assert pairs.locator("th").all_text_contents() == joined["first"]
    assert pairs.locator("td:nth-of-type(1)").all_text_contents() == joined["second"]
    assert [s for s, _ in shares_of(page, "pair")] == pytest.approx(joined["share"], abs=1e-12)
    radii = page.locator(f"{by('node')} .body").evaluate_all(
        "all => all.map(c => +c.getAttribute('r'))"
    )
    np.testing.assert_allclose(
        np.square(radii) / told["share"], radii[0] ** 2 / told["share"][0], rtol=0.01
    )


@of_swag
def test_circles_stand_inside_and_names_cover_nothing(visit):
    page = visit()
    circles = page.locator(f"{by('node')} .body").evaluate_all(
        "all => all.map(c => ['cx', 'cy', 'r'].map(k => Number(c.getAttribute(k))))"
    )
    side = float(page.locator("svg.network").get_attribute("viewBox").split()[-1])
    assert all(r <= v <= side - r for x, y, r in circles for v in (x, y))
    texts = page.locator(f"{by('node')} text").evaluate_all(
        "all => all.map(t => [+t.getAttribute('x'), +t.getAttribute('y'),"
        " t.getAttribute('text-anchor'), [...t.children].map(one => one.textContent)])"
    )
    boxes = []
    for x, y, anchor, lines in texts:
        width, half = 6.4 * max(map(len, lines)), 7 * (len(lines) - 1)
        left = x - {"start": 0, "middle": width / 2, "end": width}[anchor]
        boxes.append((left, y - 10 - half, left + width, y + 3 + half))
    assert boxes
    assert len({" ".join(lines) for *_, lines in texts}) == len(texts)
    for i, a in enumerate(boxes):
        assert 0 <= a[0] <= a[2] <= side
        for b in boxes[:i]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


@of_swag
def test_without_scripts_the_tables_of_the_network_are_there(visit, compared):
    page = visit(java_script_enabled=False)
    made = network_of(compared)
    assert page.locator(by("node-row")).count() == len(made.names)
    assert not page.locator(by("network")).is_visible()
    page.locator("details.lists summary").click()
    assert page.locator(by("network-columns")).is_visible()
    assert page.locator(by("library-warning")).is_visible()


def test_hostile_names_stay_inert(visit):
    page = visit()
    n = page.locator("#case-from").evaluate(
        """(select) => { for (const { value } of [...select.options]) {
            const own = document.getElementById("case-from");
            own.value = value;
            own.dispatchEvent(new Event("change", { bubbles: true })); }
        return select.options.length; }"""
    )
    assert n > 3
    assert page.evaluate("typeof window.__pwned") == "undefined"
    assert page.locator("b, i, u, em, img, h1 h1, main script").count() == 0
    assert page.locator("script").count() == 2


def test_the_policy_stops_what_the_page_does_not_bring(tabs, compared):
    tab = tabs.of({})
    page = tab.page
    page.goto((compared / "report.html").as_uri())
    page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'window.__pwned = 1';"
        " document.body.append(s); }"
    )
    assert page.evaluate("typeof window.__pwned") == "undefined"
    assert any("Content Security Policy" in text for text in tab.console)


@pytest.mark.parametrize("width", [320, 390, 800, 1280])
@of_swag
def test_nothing_runs_over_the_side(visit, width):
    page = visit(width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    room, wide = page.locator(by("results")).evaluate(
        "t => [t.closest('.scroll').clientWidth, t.scrollWidth]"
    )
    assert (wide <= room) == (width >= 800)  # else it scrolls in its own box
    chart = page.locator("#chart .chart-box")
    drawn = float(chart.locator("svg").get_attribute("width"))
    assert drawn == chart.evaluate("box => Math.floor(box.clientWidth)")  # at its size, not shrunk


@of_swag
def test_paper_shows_the_charts_and_leaves_out_what_is_closed(visit):
    page = visit(700)
    page.emulate_media(media="print")
    for part in ("chart", "results", "lanes", "values-live", "network"):
        assert page.locator(by(part)).is_visible()
    for part in (
        "network-pairs",
        "case-live",
        "bar",
        "slider",
        "card",
    ):  # closed, or of no use on paper
        assert not page.locator(by(part)).is_visible()
    assert page.locator(by("beside-words")).is_visible()
    words = page.locator("#chart figcaption")
    assert "Choose a mark" in words.text_content()
    assert "Choose a mark" not in words.inner_text()
    for name in page.locator(f"{by('results')} tbody button").all()[:2]:  # as high as its line
        assert name.evaluate("b => getComputedStyle(b).paddingTop") == "0px"
    pdf = page.pdf(format="A4")
    assert 1 <= pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") <= 8


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_the_paper(visit, scheme):
    page = visit(color_scheme=scheme)
    ratios = page.evaluate(
        """() => {
        const light = (c) => { const v = c.match(/[\\d.]+/g).slice(0, 3).map(x => x / 255)
            .map(x => x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4);
            return .2126 * v[0] + .7152 * v[1] + .0722 * v[2]; };
        const paper = light(getComputedStyle(document.documentElement).backgroundColor);
        return [...document.querySelectorAll("p, td, th, li, caption, h1, h2, text")].map(e => {
            const s = getComputedStyle(e), ink = light(e.tagName === "text" ? s.fill : s.color);
            return (Math.max(ink, paper) + .05) / (Math.min(ink, paper) + .05); }); }"""
    )
    assert min(ratios) >= 4.5
