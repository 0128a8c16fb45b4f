"""The page on SamBA's a and b, beside the weighting in Python."""

import numpy as np
import pytest

from psephos.report.explorer import build_explorer, estimate, relevances

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


def test_controls_redraw_the_picture_and_say_so(page):
    def drawn():
        page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        return page.locator("#line path.line").get_attribute("d")

    before = drawn()
    page.locator("#kind").select_option("noisy")
    noisy = drawn()
    assert noisy != before
    page.locator("#a").focus()
    page.locator("#a").press("ArrowRight")
    assert page.locator("#a-told").inner_text() == "0.025"
    moved = drawn()
    assert moved != noisy
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
