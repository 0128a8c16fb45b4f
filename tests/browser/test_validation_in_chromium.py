"""The page of a validation in a browser: quiet, complete, and its figures follow the threshold."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import confusion_matrix

from psephos import CARTRegressor, SamBAClassifier, validate
from psephos.report import build_report
from psephos.validation import write_validation

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module", name="judged")
def _judged(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(160, 3)), columns=["a", "b", "</script>"])
    y = np.where(X["a"] + rng.normal(size=160) > 0, "ill", "well")
    model = SamBAClassifier(n_estimators=3).fit(X[:80], y[:80])
    found = validate(model, X[80:], y[80:], positive="ill", by={"site": np.arange(80) % 3})
    folder = tmp_path_factory.mktemp("judged") / "v"
    write_validation(found, folder)
    return build_report(folder), found.frame("predictions")


def test_it_is_quiet_and_follows_threshold_and_recalibration(load, judged):
    report, cases = judged
    page = load(report, 400)
    for model, column in (("SamBAClassifier", "p_ill"), ("recalibrated", "recalibrated_ill")):
        page.locator("#model").select_option(model)
        for threshold in (0.3, 0.5):
            page.locator('[data-test="threshold-number"]').fill(str(threshold))
            page.evaluate("() => new Promise((d) => requestAnimationFrame(() => setTimeout(d, 0)))")
            told = confusion_matrix(cases["truth"] == "ill", cases[column] >= threshold).ravel()
            shown = [page.locator(f"#n-{key}").text_content() for key in ("tn", "fp", "fn", "tp")]
            assert shown == [str(n) for n in told.tolist()]
    page.locator("circle.case").first.click(force=True)
    assert "In the cohort," in page.locator('[data-test="person"]').text_content()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_shift_and_familiarity_have_bars_and_tables_of_numbers_too(load, tmp_path):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(160, 2)), columns=["a", "b"])
    y = X["a"] + rng.normal(size=160)
    found = validate(CARTRegressor(max_depth=2).fit(X[:80], y[:80]), X[80:], y[80:])
    write_validation(found, tmp_path / "v")
    page = load(build_report(tmp_path / "v"), 400)
    drawn = page.locator("td[data-bar]")
    assert page.locator('[data-test="familiar"] tbody tr').count() in (0, 10)
    for cell in drawn.all():
        share = float(cell.get_attribute("data-bar").split()[0])
        dot = cell.locator("circle").get_attribute("cx")
        assert float(dot) == pytest.approx(1 + 130 * share, abs=0.01)
    assert drawn.count() >= page.locator('[data-test="column"]').count() > 0
    assert page.locator("#scripts-off").is_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
