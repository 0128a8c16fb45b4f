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


def test_shares_are_counts():
    usage, made = network(p=12)
    told = drawing(made)
    for node in told["nodes"]:
        j = int(node["name"][1:])
        assert node["share"] == pytest.approx(usage[:, j].mean())
        assert node["sentence"].startswith(f"{node['name']}: read by ")
        assert max(map(abs, node["place"])) <= 1.0
    first, *_, last = told["nodes"]
    assert first["share"] > last["share"]
    for pair in told["pairs"]:
        a, b = told["nodes"][pair["first"]], told["nodes"][pair["second"]]
        both = usage[:, int(a["name"][1:])] & usage[:, int(b["name"][1:])]
        assert pair["share"] == pytest.approx(both.mean())


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


def test_one_column_stands_alone():
    told = drawing(ColumnNetwork.from_usage(np.ones((3, 1), dtype=bool), ["only"]))
    (node,) = told["nodes"]
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


def test_the_rows_of_the_search_are_its_figures(compared):
    library = open_model(read_folder(compared).models["swag"]).model.library_
    told = summarise(compared, model="swag")["together"]["errors"]
    seen = library.dimensions
    assert [row[0] for row in told["rows"]] == list(map(str, seen.dimension))
    for row, counts, best in zip(told["rows"], seen.counts, seen.best, strict=True):
        assert int(row[1]) == counts.sum()
        assert float(row[3]) == pytest.approx(best, abs=5.1e-4)


@pytest.mark.parametrize("alike", [True, False])
def test_voters_of_one_set_of_columns_join_nothing(alike):
    usage = np.ones((3, 4), dtype=bool)
    usage[0, 0] = alike
    made = ColumnNetwork.from_usage(usage, list("abcd"))
    model = SimpleNamespace(vote_=SimpleNamespace(n_voters=5))
    opened = SimpleNamespace(network=lambda: made, errors=lambda: None, whole={}, model=model)
    told = together("M", opened)
    assert (told["network"] is None) == alike
    assert told["alike"].startswith("The 3 voters that read columns all read the same 4") == alike


def test_of_fewer_than_twenty_voters_pairs_are_listed_and_no_network_is_drawn():
    for n_models in (19, 20):
        usage, made = network(n_models=n_models, p=6)
        told = drawing(made)
        assert told["few"] == (n_models < 20)
        for pair in told["pairs"]:
            a, b = (usage[:, int(told["nodes"][pair[k]]["name"][1:])] for k in ("first", "second"))
            assert pair["voters"] == f"{(a & b).sum()} of {usage.any(axis=1).sum()}"
