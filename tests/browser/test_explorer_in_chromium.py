"""The page on SamBA's a and b, beside the weighting and the model in Python."""

from dataclasses import replace

import numpy as np
import pytest

from psephos.report.explorer import build_explorer, estimate, fitted, relevances

pytestmark = pytest.mark.browser
SETTINGS = [(0.0, 1.5), (0.0, 4.0), (0.02, 1.5), (0.02, 4.0), (0.3, 8.0), (0.001, 0.5)]


@pytest.fixture(scope="module")
def page(chromium, tmp_path_factory):
    path = build_explorer(tmp_path_factory.mktemp("explorer") / "explorer.html")
    assert path.stat().st_size < 1_000_000
    context = chromium.new_context(viewport={"width": 1000, "height": 900})
    context.set_offline(True)
    page, heard = context.new_page(), []
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("request", lambda request: heard.append(request.url))
    page.goto(path.as_uri())
    yield page
    context.close()
    assert heard == [path.as_uri()]


@pytest.mark.parametrize("noisy", [False, True], ids=["pure", "noisy"])
def test_the_curve_is_that_of_the_weighting(page, noisy):
    x, relevant = relevances(noisy)
    where = np.union1d(np.linspace(0, 1, 301), x)
    for a, b in SETTINGS:
        found = page.evaluate(
            "([kind, a, b, where]) => where.map("
            "(z) => page.explorer.meanRelevance(page.explorer.toys[kind], a, b, z))",
            ["noisy" if noisy else "pure", a, b, where.tolist()],
        )
        np.testing.assert_allclose(found, estimate(x, relevant, a, b, where), atol=1e-12)


@pytest.mark.parametrize("noisy", [False, True], ids=["pure", "noisy"])
def test_the_surface_is_that_of_the_model(page, noisy):
    model, X, _ = fitted(noisy)
    vote = model.vote_
    grid = np.array([(u, v) for u in np.linspace(-1, 1, 21) for v in np.linspace(-1, 1, 21)])
    rows = np.vstack([grid, X])
    for a, b in SETTINGS:
        similarity = replace(vote.weighting.similarity, a=a, b=b)
        asked = replace(vote, weighting=replace(vote.weighting, similarity=similarity))
        found = page.evaluate(
            """([kind, a, b, rows]) => {
            const model = page.explorer.model(page.explorer.toys[kind], a, b);
            return rows.map((row) => model.answer(row).probabilities); }""",
            ["noisy" if noisy else "pure", a, b, rows.tolist()],
        )
        np.testing.assert_allclose(found, asked.probabilities(rows), atol=1e-12)


def test_controls_redraw_both_pictures_and_say_so(page):
    def drawn():
        page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        return page.locator("#line path.line").get_attribute("d"), page.locator(
            "#plane"
        ).inner_html()

    before = drawn()
    page.locator("#kind").select_option("noisy")
    noisy = drawn()
    assert noisy[0] != before[0]
    assert noisy[1] != before[1]
    page.locator("#a").focus()
    page.locator("#a").press("ArrowRight")
    assert page.locator("#a-told").inner_text() == "0.025"
    moved = drawn()
    assert moved[0] != noisy[0]
    page.locator(".buttons button").first.click()
    assert page.locator("#a-told").inner_text() == "0"
    assert page.locator("#b-told").inner_text() == "1.5"
    assert drawn() != moved
    # with a = 0 the weight passes through every dot, the wrong ones too
    assert page.locator("#line-told").inner_text().startswith("At every training case")
    page.locator(".buttons button").nth(3).click()
    drawn()
    assert page.locator("#line-told").inner_text().startswith("At ")
    assert not page.locator("#line-told").inner_text().startswith("At every")
