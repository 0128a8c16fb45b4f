import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psephos.report.panels.accuracy import FRAMES, WIDE, Point, interval_strip, pareto_chart


def point(key, columns, score, *, readable=False, frontier=False, fits=(), final=None):
    return Point(key, key, readable, frontier, columns, score, tuple(fits), final)


def test_more_columns_stand_further_right_and_better_scores_higher():
    points = [point(str(c), c, 0.5 + i / 20) for i, c in enumerate([0, 0.5, 1, 3, 40, 2000])]
    marks = pareto_chart(points, 2000, 0.5, WIDE)["marks"]
    assert [m["x"] for m in marks] == sorted({m["x"] for m in marks})
    assert [m["y"] for m in marks] == sorted({m["y"] for m in marks}, reverse=True)


def test_columns_are_logarithmic_from_one_on():
    points = [point(str(c), c, 0.7) for c in (1, 10, 100)]
    x = [m["x"] for m in pareto_chart(points, 1000, 0.5, WIDE)["marks"]]
    assert x[2] - x[1] == pytest.approx(x[1] - x[0], abs=0.02)


def test_the_front_passes_through_the_frontier_only():
    points = [
        point("none", 0, 0.5, frontier=True),
        point("few", 3, 0.8, frontier=True),
        point("bad", 50, 0.7),
        point("many", 90, 0.9, frontier=True),
    ]
    chart = pareto_chart(points, 100, 0.5, WIDE)
    where = {m["key"]: (m["x"], m["y"]) for m in chart["marks"]}
    front = chart["front"]
    assert front.startswith("M{} {}".format(*where["none"]))
    for key in ("few", "many"):
        assert "H{}V{}".format(*where[key]) in front
    assert str(where["bad"][1]) not in front


@given(
    st.lists(
        st.tuples(
            st.floats(0, 1e5), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1e5), st.booleans()
        ),
        min_size=1,
        max_size=12,
    ),
    st.integers(1, 10**5),
)
def test_everything_is_drawn_inside_the_frame(models, n_columns):
    points = [
        point(
            str(i),
            min(columns, n_columns),
            score,
            fits=[(min(other, n_columns), fold), (min(columns, n_columns), score)],
            final=min(other, n_columns),
            readable=readable,
        )
        for i, (columns, score, fold, other, readable) in enumerate(models)
    ]
    for frame in FRAMES:
        chart = pareto_chart(points, n_columns, 0.5, frame)
        for mark in chart["marks"]:
            across = [mark["x"], mark["final"], *mark["span"], *(f["x"] for f in mark["fits"])]
            assert all(frame.left <= x <= frame.inner_right for x in across)
            up = [mark["y"], *(f["y"] for f in mark["fits"])]
            assert all(frame.top - 0.01 <= y <= frame.inner_bottom + 0.01 for y in up)
            assert math.isfinite(mark["text"]["x"])


def test_a_span_goes_from_the_fewest_columns_of_the_folds_to_the_most():
    chart = pareto_chart([point("a", 5, 0.8, fits=[(2, 0.7), (8, 0.9)], final=3)], 100, 0.5, WIDE)
    (mark,) = chart["marks"]
    two, eight = sorted(f["x"] for f in mark["fits"])
    assert mark["span"] == [two, eight]
    assert two < mark["final"] < mark["x"] < eight
    assert pareto_chart([point("a", 5, 0.8)], 100, 0.5, WIDE)["marks"][0]["span"] is None


def test_labels_of_models_that_stand_together_do_not_cover_each_other():
    points = [point("model number one", 20, 0.8), point("model number two", 20, 0.805)]
    a, b = (m["text"] for m in pareto_chart(points, 100, 0.5, WIDE)["marks"])
    apart = abs(a["y"] - b["y"]) >= 12 or a["anchor"] != b["anchor"]
    assert apart


def test_intervals_keep_their_order_around_zero():
    strip = interval_strip([(0.1, -0.05, 0.25), (-0.2, -0.4, 0.0)], width=200)
    first, second = strip["bars"]
    assert first["x1"] < strip["zero"] < first["x"] < first["x2"]
    assert second["x1"] < second["x"] < second["x2"] == strip["zero"]


def test_a_constant_answer_does_not_press_the_others_together():
    points = [point("none", 0, 0.5), point("a", 3, 0.95), point("b", 9, 0.97)]
    chart = pareto_chart(points, 100, 0.5, WIDE)
    marks = {m["key"]: m for m in chart["marks"]}
    assert marks["none"]["y"] == WIDE.inner_bottom
    assert marks["none"]["label"] == "none ↓ 0.50"
    assert not chart["chance"]["inside"]
    assert marks["a"]["label"] == "a"
    assert marks["a"]["y"] - marks["b"]["y"] > 50
    near = [point("none", 0, 0.5), point("a", 3, 0.65)]
    chart = pareto_chart(near, 100, 0.5, WIDE)
    assert chart["chance"]["inside"]
    assert chart["marks"][0]["y"] < WIDE.inner_bottom
