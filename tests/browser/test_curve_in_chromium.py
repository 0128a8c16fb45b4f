"""The curve of accuracy against columns: a line a model, and the one that is read stands out."""

import numpy as np
import pytest

from psephos.protocol import CurveDisplay, compare
from psephos.report import build_report

pytestmark = pytest.mark.browser


def test_a_line_has_the_points_of_its_model_and_chooses_it(load, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    y = np.where(X[:, 1] + X[:, 3] + 0.5 * rng.normal(size=60) > 0, "ill", "well")
    models = ["adaboost", "sklearn-l1-logistic", "majority"]
    study = compare(X, y, models, "demo", n_jobs=1, curve=True, out=tmp_path / "s")
    build_report(tmp_path / "s")
    page = load(tmp_path / "s" / "report.html")
    page.click("[data-test=curve] > summary")
    page.wait_for_selector("[data-test=curve-line]")
    points = CurveDisplay.from_comparison(study).frame()
    lines = page.locator("[data-test=curve-line]")
    assert lines.count() == 2
    for i in range(2):
        own = points[points["model"] == lines.nth(i).get_attribute("data-model")]
        path = lines.nth(i).locator("path:not(.hit, .line)").get_attribute("d")
        x, height = np.array([one.split() for one in path[1:].split("L")], dtype=float).T
        # columns are logarithmic, scores linear, and a better one stands higher
        assert np.corrcoef(x, np.log2(own["columns"]))[0, 1] == pytest.approx(1)
        assert np.corrcoef(height, own["score"])[0, 1] == pytest.approx(-1)
    other = page.locator(".curve-line:not(.chosen)")
    key = other.get_attribute("data-model")
    other.locator(".hit").dispatch_event("click")
    assert page.locator(".curve-line.chosen").get_attribute("data-model") == key
    assert page.locator("#results tr.chosen").get_attribute("data-model") == key
    knees = page.locator("[data-test=curve-row]", has_text="knee").count()
    assert knees == points["knee"].sum() == 2
