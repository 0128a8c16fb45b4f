"""The page of a study that was compared by cost: it opens at the threshold of the model shown."""

import numpy as np
import pandas as pd
import pytest

from psephos import compare
from psephos.protocol import Protocol
from psephos.report import build_report

pytestmark = pytest.mark.browser
FRAME = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)))"


@pytest.fixture(scope="module")
def by_cost(tmp_path_factory):
    """A comparison by cost and its page."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(72, 4)), columns=list("abcd"))
    y = np.where(X["a"] + rng.normal(size=72) > 0.4, "ill", "well")
    models = ["majority", "adaboost", "rank-ridge", "sklearn-l1-logistic"]
    plan, out = Protocol("tiny", folds=3, inner_folds=2, draws=2), tmp_path_factory.mktemp("cost")
    found = compare(X, y, models, plan, cost=5, positive="ill", n_jobs=1, out=out / "study")
    return found, build_report(out / "study")


def words(t):
    """Return a threshold as the page writes it."""
    return f"{t:.3f}".removesuffix("0") if abs(round(t, 3) - t) < 1e-9 else f"{t:.7g}"


@pytest.mark.parametrize("width", [1400, 400])
def test_it_opens_at_the_threshold_of_the_model_and_goes_back_to_a_half(load, by_cost, width):
    found, path = by_cost
    own = {row["model"]: words(row["threshold"]) for row in found.refits}
    page = load(path, width)
    shown = page.locator("#model").input_value()

    def stands(at, weight, model):
        page.evaluate(FRAME)
        assert page.locator("#threshold").input_value() == at
        assert page.locator("#weight").input_value() == weight
        note = page.locator('[data-test="own-threshold"]').text_content()
        assert f"{model} is shown first at {own[model]}, the threshold" in note
        assert f"Called ill from {at}" in page.locator('[data-test="missed-words"]').text_content()

    stands(own[shown], "5", shown)
    page.locator("#half").click()
    stands("0.50", "1", shown)
    page.locator("#weight").fill("5")  # the cost of the study is at its threshold
    stands(own[shown], "5", shown)
    page.locator("#half").click()
    page.locator("#back").click()
    stands(own[shown], "5", shown)
    other = next(key for key in own if key not in (shown, "majority"))
    page.locator("#model").select_option(other)  # untouched, it follows the model
    stands(own[other], "5", other)
    page.locator("#threshold").fill("0.3")
    page.locator("#model").select_option(shown)  # what the reader chose stays
    page.evaluate(FRAME)
    assert page.locator("#threshold").input_value() == "0.3"
    assert page.locator("#back").text_content() == f"Back to {own[shown]}"
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_page_without_cases_says_of_each_model_what_it_may_at_its_threshold(load, by_cost):
    found, path = by_cost
    page, few = load(build_report(found.out, path.parent / "none.html", cases="none")), 0
    for row in found.refits:
        page.locator("#model").select_option(row["model"])
        page.evaluate(FRAME)
        text = page.locator("#missed-absent").text_content()
        if f"--model {row['model']}" in text:  # of which no count is small
            continue
        few += 1
        assert text.startswith(f"{row['model']} finds ")
        assert f", called ill from {words(row['threshold'])}. This page has no cases" in text
        assert "fewer than 10 of" in text
    assert few > 1
