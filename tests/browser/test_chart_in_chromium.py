"""The chart of accuracy against columns: where the script puts marks, labels and ticks."""

import numpy as np
import pytest

pytestmark = pytest.mark.browser
WIDE, NARROW = 940, 344


def point(key, columns, score, *, readable=False, frontier=False, fits=(), final=None):
    return {
        "key": key, "label": key, "sentence": key, "readable": readable, "frontier": frontier,
        "columns": columns, "score": score, "fits": fits, "final": final,
    }  # fmt: skip


@pytest.fixture
def plan(visit):
    """Return a function that returns a frame, and where models stand in it."""
    page = visit()

    def planned(points, n_columns, frame=WIDE, constant=0.5, **more):
        data = {"measure": "accuracy", "points": points, "n_columns": n_columns}
        return page.evaluate(
            "([data, width]) => { const frame = page.pareto.frameOf(width);"
            " return [frame, page.pareto.plan(data, frame)]; }",
            [data | more | {"constant": constant}, frame],
        )

    return planned


def test_more_columns_stand_further_right_and_better_scores_higher(plan):
    points = [point(str(c), c, 0.5 + i / 20) for i, c in enumerate([0, 0.5, 1, 3, 40, 2000])]
    marks = plan(points, 2000)[1]["marks"]
    assert [m["x"] for m in marks] == sorted({m["x"] for m in marks})
    assert [m["y"] for m in marks] == sorted({m["y"] for m in marks}, reverse=True)


@pytest.mark.parametrize(
    ("ends", "texts"),
    [
        ((0.713, 0.204), ["0.3", "0.4", "0.5", "0.6", "0.7"]),  # a loss: the worst first
        ((0.8123, 0.8391), ["0.815", "0.820", "0.825", "0.830", "0.835"]),
        ((-3.0, 310.0), ["0", "100", "200", "300"]),
    ],
)
def test_ticks_of_a_chosen_measure_are_round(plan, ends, texts):
    frame, chart = plan([point("a", 3, sum(ends) / 2)], 10, ends=ends)
    assert [tick["text"] for tick in chart["scores"]] == texts
    assert all(frame["top"] <= tick["y"] <= frame["bottom"] for tick in chart["scores"])


def test_columns_are_logarithmic_from_one_on(plan):
    x = [m["x"] for m in plan([point(str(c), c, 0.7) for c in (1, 10, 100)], 1000)[1]["marks"]]
    assert x[2] - x[1] == pytest.approx(x[1] - x[0])


def test_the_front_passes_through_the_frontier_only(plan):
    points = [
        point("none", 0, 0.5, frontier=True),
        point("few", 3, 0.8, frontier=True),
        point("bad", 50, 0.7),
        point("many", 90, 0.9, frontier=True),
    ]
    chart = plan(points, 100)[1]
    places = [
        (float(f"{m['x']:.2f}"), float(f"{m['y']:.2f}")) for m in chart["marks"] if m["frontier"]
    ]
    front = chart["front"].replace("H", " ").replace("V", " ").removeprefix("M").split()
    assert [float(v) for v in front] == pytest.approx([v for one in places for v in one], abs=0.011)


def test_everything_is_drawn_inside_the_frame(plan):
    rng = np.random.default_rng(0)
    for frame in (WIDE, 620, NARROW):
        for n_columns in (1, 7, 300, 100_000):
            points = []
            for i in range(12):
                own, other = (min(c, n_columns) for c in np.exp(rng.uniform(-2, 12, 2)).tolist())
                score, fold = rng.random(2).tolist()
                fits, readable = [(other, fold), (own, score)], bool(i % 2)
                points.append(point(f"m{i}", own, score, fits=fits, final=other, readable=readable))
            f, chart = plan(points, n_columns, frame)
            for mark in chart["marks"]:
                across = [mark["x"], mark["final"], *mark["span"], *(m["x"] for m in mark["fits"])]
                assert all(f["left"] <= x <= f["right"] for x in across)
                up = [mark["y"], *(m["y"] for m in mark["fits"])]
                assert all(f["top"] - 0.01 <= y <= f["bottom"] + 0.01 for y in up)
                assert np.isfinite(mark["text"]["x"])
            ticks = [tick["x"] for tick in chart["columns"]]
            assert ticks == sorted(ticks)
            assert chart["columns"][-1]["text"].replace("\u202f", "") == str(n_columns)


def test_a_span_goes_from_the_fewest_columns_of_the_folds_to_the_most(plan):
    own = point("a", 5, 0.8, fits=[(2, 0.7), (8, 0.9)], final=3)
    (mark,) = plan([own], 100)[1]["marks"]
    two, eight = sorted(f["x"] for f in mark["fits"])
    assert mark["span"] == [two, eight]
    assert two < mark["final"] < mark["x"] < eight
    assert plan([point("a", 5, 0.8)], 100)[1]["marks"][0]["span"] is None


def test_labels_of_models_that_stand_together_do_not_cover_each_other(plan):
    points = [point("model number one", 20, 0.8), point("model number two", 20, 0.805)]
    a, b = (m["text"]["box"] for m in plan(points, 100)[1]["marks"])
    assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def apart(mark, box):
    """The distance of a mark from the middle line of a label."""
    left, top, right, bottom = box
    return np.hypot(max(left - mark["x"], 0, mark["x"] - right), (top + bottom) / 2 - mark["y"])


def test_a_label_is_nearest_to_its_own_mark_or_joined_to_it_by_a_line(plan):
    rng, lines = np.random.default_rng(1), 0
    for n in (4, 9, 12) * 4:
        scores, columns = 0.8 + 0.1 * rng.random(n), np.exp(rng.uniform(0, 3 + 2 * rng.random(), n))
        points = [point(f"model {i}", columns[i], scores[i], readable=i % 2) for i in range(n)]
        marks = plan(points, 400, NARROW)[1]["marks"]
        for i, mark in enumerate(marks):
            box = mark["text"]["box"]
            others = [apart(other, box) for j, other in enumerate(marks) if j != i]
            assert mark["text"]["far"] or apart(mark, box) < min(others)
            lines += mark["text"]["far"]
    assert lines < 50  # of a hundred


def strikes(marks):
    """Count lines to a name that cross the middle of another name."""
    found = 0
    for mark in (one for one in marks if one["text"]["far"]):
        (ax, ay), (bx, by) = mark["text"]["ends"]
        for left, top, right, bottom in (m["text"]["box"] for m in marks if m is not mark):
            part = ((top + bottom) / 2 - ay) / (by - ay) if by != ay else -1
            found += 0 < part < 1 and left < ax + part * (bx - ax) < right
    return found


def test_few_lines_run_through_the_name_of_another_model(plan):
    rng, found = np.random.default_rng(0), 0
    for spread in (0.03, 0.05) * 20:
        scores, columns = 0.8 + spread * rng.random(12), np.exp(rng.uniform(1, 3, 12))
        points = [point(f"column-budget {i}", columns[i], scores[i]) for i in range(12)]
        found += strikes(plan(points, 400, NARROW)[1]["marks"])
    assert found < 165  # in 40 charts of 12 names that are close together


def test_a_click_chooses_the_nearest_mark_or_the_model_of_the_label(visit):
    page = visit(400)
    middle = (
        "([key, part]) => { const one = document.querySelectorAll('#chart .mark ' + part)[key];"
        " const { x, y, width, height } = one.getBoundingClientRect();"
        " return [x + width / 2, y + height / 2]; }"
    )
    page.eval_on_selector("#chart svg", "chart => chart.scrollIntoView({ block: 'center' })")
    keys = page.eval_on_selector_all("#chart .mark", "all => all.map(m => m.dataset.model)")
    for i, key in enumerate(keys):
        page.mouse.click(*page.evaluate(middle, [i, "text"]))
        assert page.evaluate("page.hub.get('model')") == key
        x, y = page.evaluate(middle, [i, ".dot"])
        for dx, dy in ((0, 0), (7, 0), (0, -7)):
            page.mouse.click(x + dx, y + dy)
            chosen = keys.index(page.evaluate("page.hub.get('model')"))
            under = page.evaluate(
                "([x, y]) => document.elementsFromPoint(x, y).find(e => e.matches('.mark text'))"
                "?.parentNode.dataset.model",
                [x + dx, y + dy],
            )
            each = [page.evaluate(middle, [k, ".dot"]) for k in range(len(keys))]
            far = [np.hypot(a - x - dx, b - y - dy) for a, b in each]
            assert far[chosen] == pytest.approx(min(far), abs=0.1) or keys[chosen] == under


def test_a_constant_answer_does_not_press_the_others_together(plan):
    points = [point("none", 0, 0.5), point("a", 3, 0.95), point("b", 9, 0.97)]
    frame, chart = plan(points, 100)
    marks = {m["key"]: m for m in chart["marks"]}
    assert marks["none"]["y"] == frame["bottom"]
    assert marks["none"]["label"] == "none ↓ 0.50"
    assert chart["constant"] is None
    assert marks["a"]["label"] == "a"
    assert marks["a"]["y"] - marks["b"]["y"] > 50
    near = [point("none", 0, 0.5), point("a", 3, 0.65)]
    chart = plan(near, 100)[1]
    assert chart["constant"] is not None
    assert chart["marks"][0]["y"] < frame["bottom"]


def test_a_label_does_not_cover_the_mark_of_the_final_fit(plan):
    points = [
        point("majority", 0, 0.5),
        point("cart", 1, 0.86, readable=True, final=1, fits=[(1, 0.82), (1, 0.89)]),
        point("many", 15, 0.86),
    ]
    frame, chart = plan(points, 15, NARROW)
    low, cart, _ = chart["marks"]
    left, top, right, bottom = low["text"]["box"]
    beside = right <= cart["final"] - 6 or left >= cart["final"] + 6
    assert beside or bottom <= frame["bottom"] - 10 or top >= frame["bottom"]


def test_the_words_of_the_axis_of_answers_stay_inside(visit):
    page = visit(400)
    room = page.evaluate(
        """() => {
        const axis = "class-weighted share of the training cases in the same leaf for it, held out",
          { picture } = page.lanes.draw(320, [{ name: "a", kind: "pos", bins: [1, 2] }], { axis });
        document.querySelector("main").append(picture);
        const [words, all] = [picture.lastChild, picture].map((e) => e.getBoundingClientRect());
        return [words.left - all.left, all.right - words.right, all.bottom - words.bottom]; }"""
    )
    assert min(room) >= -0.5


_LONG = [f"Will you renew the lease? (1 yes, 2 no; 9 without any answer) {k}" for k in (1, 2)]


@pytest.mark.parametrize("width", [320, 900])
@pytest.mark.parametrize(
    "names",
    [_LONG, ["Ewing-like | CD99+", "syöpä"], ["SQUAMOUS CELL CARCINOMA IN SITU (G 3)", "a"]],
)
def test_long_names_of_classes_cover_nothing_in_the_lanes(visit, names, width):
    found = visit(1000).evaluate(
        """([names, width]) => {
        const lanes = names.map((name) => ({ name, kind: "pos", bins: [1, 1, 2] })),
          sides = names.map((name) => `called ${name}`),
          counts = [["1 missed", "1 found"], ["1 cleared", "1 false alarm"]],
          look = { axis: "answer", threshold: 0.5, sides, counts },
          { picture, ground } = page.lanes.draw(width, lanes, look);
        document.querySelector("main").replaceChildren(picture);
        const box = (one) => one.getBoundingClientRect(), all = box(picture),
          words = [...picture.querySelectorAll("text")].filter((one) => one.textContent),
          bars = [...picture.querySelectorAll("rect.pos")],
          apart = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) < 1
            || Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) < 4;
        return {
          outside: words.filter((one) => box(one).left < all.left - 1
            || box(one).right > all.right + 1 || box(one).top < all.top - 2)
            .map((one) => one.textContent),
          covered: words.flatMap((a, i) => [...words.slice(i + 1), ...(ground.narrow ? [] : bars)]
            .filter((b) => !apart(box(a), box(b)) && /renew|Ewing|SQ|sy/.test(a.textContent))
            .map((b) => [a.textContent, b.textContent])),
          whole: words.map((one) => one.querySelector("title")?.textContent || box(one).width
            && [...(one.querySelector("tspan") ? one.children : [one])]
              .map((line) => line.textContent).join(" ")),
        }; }""",
        [names, width],
    )
    assert found["outside"] == found["covered"] == []
    assert [sum(name in words for words in found["whole"]) for name in names[:1]] == [2]


def test_no_leader_runs_behind_a_label_where_many_models_are_near(plan):
    near = [
        ("majority", 0, 0.5), ("column-budget-4", 4, 0.755), ("swag", 7.2, 0.79),
        ("column-budget-8", 8, 0.781), ("proset", 14.6, 0.607), ("samba", 15.4, 0.725),
        ("column-budget-16", 16, 0.755), ("newton-boosting", 43, 0.77),
        ("sklearn-l1-logistic", 89, 0.73), ("random-forest", 250, 0.787),
        ("rank-ridge", 480, 0.8), ("sklearn-svm-rbf", 493, 0.624),
    ]  # fmt: skip
    leaders = 0
    for width in (344, 368, 431, 440):
        marks = plan([point(*one, readable=one[0] == "swag") for one in near], 493, width)[1][
            "marks"
        ]
        for mark in marks:
            if not mark["text"]["far"]:
                continue
            leaders += 1
            start, end = np.array(mark["text"]["ends"])
            along = start + np.linspace(0, 1, 200)[:, None] * (end - start)
            for other in marks:
                left, top, right, bottom = other["text"]["box"]
                inside = (along > [left + 1, top + 1]) & (along < [right - 1, bottom - 1])
                assert other is mark or not inside.all(axis=1).any()
    assert leaders > 4
