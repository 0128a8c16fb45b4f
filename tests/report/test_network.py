"""The network of columns and the errors of a search, as they are drawn."""

from types import SimpleNamespace

import numpy as np
import pytest

from psephos.explain import ColumnNetwork
from psephos.report import summarise
from psephos.report.panels.network import MOST_COLUMNS, MOST_PAIRS, drawing, together
from psephos.report.study.folder import read_folder
from psephos.report.study.opened import open_model


def network(n_models=40, p=90, seed=0):
    rng = np.random.default_rng(seed)
    chance = np.linspace(0.6, 0.02, p)
    usage = rng.random((n_models, p)) < chance
    return usage, ColumnNetwork.from_usage(usage, [f"m{j}" for j in range(p)])


def test_shares_are_counts_and_areas_are_in_proportion():
    usage, made = network(p=12)
    told = drawing(made)
    for node in told["nodes"]:
        j = int(node["name"][1:])
        assert node["share"] == pytest.approx(usage[:, j].mean())
        assert node["sentence"].startswith(f"{node['name']}: read by ")
    first, *_, last = told["nodes"]
    assert first["share"] > last["share"]
    big = [n for n in told["nodes"] if n["r"] > 3]
    areas = [n["r"] ** 2 / n["share"] for n in big]
    np.testing.assert_allclose(areas, areas[0], rtol=0.01)
    for pair in told["pairs"]:
        a, b = told["nodes"][pair["first"]], told["nodes"][pair["second"]]
        both = usage[:, int(a["name"][1:])] & usage[:, int(b["name"][1:])]
        assert pair["share"] == pytest.approx(both.mean())
        assert (pair["x1"], pair["y1"], pair["x2"], pair["y2"]) == (a["x"], a["y"], b["x"], b["y"])
        assert pair["width"] == pytest.approx(9 * pair["share"], abs=0.005) or pair["width"] == 0.4


def test_what_is_left_out_is_counted():
    usage, made = network()
    told = drawing(made)
    n = int((usage.sum(axis=0) > 0).sum())
    assert len(told["nodes"]) == MOST_COLUMNS
    assert len(told["pairs"]) == MOST_PAIRS
    assert f"{n - MOST_COLUMNS} columns read less often" in told["left_out"]
    shares = [p["share"] for p in told["pairs"]]
    assert shares == sorted(shares, reverse=True)
    assert drawing(network(p=5)[1])["left_out"] == ""


def test_everything_stands_inside_and_names_cover_nothing():
    told = drawing(network()[1])
    boxes = []
    for node in told["nodes"]:
        for v in (node["x"], node["y"]):
            assert node["r"] <= v <= told["side"] - node["r"]
        if node["label"]:
            label, width = node["label"], 6.4 * len(node["label"]["text"])
            left = label["x"] - {"start": 0, "middle": width / 2, "end": width}[label["anchor"]]
            boxes.append((left, label["y"] - 10, left + width, label["y"] + 3))
    assert len(boxes) > 10
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def test_one_column_stands_in_the_middle():
    told = drawing(ColumnNetwork.from_usage(np.ones((3, 1), dtype=bool), ["only"]))
    (node,) = told["nodes"]
    assert (node["x"], node["y"]) == (told["side"] / 2, told["side"] / 2)
    assert node["sentence"].endswith("never with another column shown")
    assert told["pairs"] == []


def test_the_network_is_that_of_the_model_named_above_it(compared):
    report = summarise(compared, model="swag")
    told = report["together"]
    assert told["label"] == report["card"]["label"]
    folder = read_folder(compared)
    model = open_model(folder.models["swag"]).model
    usage = model.vote_.voters.usage().toarray()
    usage = usage[usage.any(axis=1)]
    names = model.schema_.words().columns
    for node in told["network"]["nodes"]:
        assert node["share"] == pytest.approx(usage[:, names.index(node["whole"])].mean())
    assert {n["whole"] for n in told["network"]["nodes"]} == set(model.features_used_.tolist())


def test_a_model_whose_voters_join_no_columns_has_no_network(compared):
    """Not even that of another model."""
    assert summarise(compared, model="samba")["together"] is None  # stumps read one column each
    opened = open_model(read_folder(compared).models["samba"])
    assert opened.network() is None
    assert opened.errors() is None


def test_bars_are_the_counts_of_the_search(compared):
    folder = read_folder(compared)
    library = open_model(folder.models["swag"]).model.library_
    told = summarise(compared, model="swag")["together"]["errors"]
    seen = library.dimensions
    assert [row["dimension"] for row in told["rows"]] == seen.dimension.tolist()
    for row, counts, best in zip(told["rows"], seen.counts, seen.best, strict=True):
        assert row["bars"].count("M") == int((counts > 0).sum())
        assert float(row["best_text"]) == pytest.approx(best, abs=5.1e-4)
    x = [tick["x"] for tick in told["ticks"]]
    assert x == sorted(x)
    assert 0 <= x[0] < x[-1] <= told["width"]


def test_errors_that_are_all_one_still_have_an_axis():
    from psephos.report.panels.network import histograms

    errors = SimpleNamespace(
        dimension=np.array([1]),
        counts=np.array([[0, 0]]),
        edges=np.array([0.2, 0.3, 0.4]),
        threshold=np.array([0.3]),
        median=np.array([0.3]),
        measure="error",
    )
    numbers = {key: [1] for key in ("n_candidates", "n_strong", "best", "threshold", "median")}
    (row,) = histograms(errors, numbers)["rows"]
    assert row["bars"] == ""


@pytest.mark.parametrize("alike", [True, False])
def test_voters_of_one_set_of_columns_join_nothing(alike):
    usage = np.ones((3, 4), dtype=bool)
    usage[0, 0] = alike
    made = ColumnNetwork.from_usage(usage, list("abcd"))
    opened = SimpleNamespace(network=lambda: made, errors=lambda: None, whole={})
    nowhere = SimpleNamespace(value=float("nan"))
    told = together(SimpleNamespace(label="M", summary=SimpleNamespace(stability=nowhere)), opened)
    assert (told["network"] is None) == alike
    assert told["alike"].startswith("The 3 voters that read columns all read the same 4") == alike


def test_labels_of_long_names_differ():
    names = [f"gene_{j}_{'x' * 60}" for j in range(12)]
    told = drawing(ColumnNetwork.from_usage(np.triu(np.ones((12, 12), dtype=bool)), names))
    labels = [node["label"]["text"] for node in told["nodes"] if node["label"]]
    assert len(labels) > 3
    assert len(set(labels)) == len(labels)
    assert max(map(len, labels)) <= 34
