"""The network of columns: shares, roles, files, places, and what the picture is drawn from."""

import sys
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from psephos import AdaBoostClassifier, PsephosError, SparseWrapperClassifier
from psephos._errors import MissingExtraError
from psephos.explain import ColumnNetwork
from psephos.explain.network import entropy_of

ODD = ['k__Bacteria;p__<b>"x"', "a&b", "tab\there", "new\nline", "größe × 2", "'; --", " a "]


def network(*models, p=None):
    """Return the network of models given as tuples of columns."""
    p = p or 1 + max(j for model in models for j in model)
    usage = np.zeros((len(models), p), dtype=bool)
    for t, model in enumerate(models):
        usage[t, list(model)] = True
    return ColumnNetwork.from_usage(usage, [f"c{j}" for j in range(p)])


def said(net, key):
    nodes = net.nodes()
    return dict(zip(nodes["column"], nodes[key], strict=True))


@given(arrays(bool, st.tuples(st.integers(1, 6), st.integers(1, 7))))
def test_shares_are_counts_of_models_that_read_something(usage):
    models = [set(np.flatnonzero(row)) for row in usage if row.any()]
    if not models:
        with pytest.raises(PsephosError, match="must have a model that reads a column"):
            ColumnNetwork.from_usage(usage, ["x"] * usage.shape[1])
        return
    net = ColumnNetwork.from_usage(usage, [str(j) for j in range(usage.shape[1])])
    assert net.n_models == len(models)
    assert set(net.positions) == set.union(*models)
    for a, j in enumerate(net.positions):
        assert net.names[a] == str(j)
        assert net.weight[a] * len(models) == pytest.approx(sum(j in m for m in models))
        for b, k in enumerate(net.positions):
            both = sum({j, k} <= m for m in models)
            assert net.joint[a, b] * len(models) == pytest.approx(both)
    assert (np.diff(net.weight) <= 0).all()
    edges = net.edges()
    expected = {pair for model in models for pair in combinations(sorted(map(str, model)), 2)}
    pairs = zip(edges["first"], edges["second"], strict=True)
    assert {tuple(sorted(pair)) for pair in pairs} == expected
    assert edges["share"] == sorted(edges["share"], reverse=True)


def test_numbers_other_than_one_are_one_use():
    net = ColumnNetwork.from_usage(np.array([[2.0, 0.0, -3.0], [0.5, 0.0, 0.0]]), list("abc"))
    assert net.names == ["a", "c"]
    assert_allclose(net.weight, [1, 0.5])
    with pytest.raises(PsephosError, match="names must name each of 3 columns"):
        ColumnNetwork.from_usage(np.eye(3), ["a", "b"])


# ---------------------------------------------------------------------- roles
def test_the_seeds_example_a_hub_a_secondary_hub_and_its_synonym():
    """A stands with B or with C, never with both; D with either; E is a guest of one model."""
    net = network(
        (0, 1, 3, 4), (0, 1, 3), (0, 1), (0, 1), (0, 2, 3), (0, 2), (0, 2), (0, 3), (0,), (0,),
        (0,), (0,),
    )  # fmt: skip
    role, synonym, hub = (said(net, key) for key in ("role", "synonym_of", "hub"))
    assert role == {
        "c0": "main hub", "c1": "secondary hub", "c2": "synonym", "c3": "secondary hub",
        "c4": "occasional",
    }  # fmt: skip
    assert synonym == {"c0": "", "c1": "", "c2": "c1", "c3": "", "c4": ""}
    assert hub == {"c0": "", "c1": "c0", "c2": "c0", "c3": "c0", "c4": "c0"}
    assert said(net, "lift")["c3"] == pytest.approx(1)  # A is everywhere


def test_the_most_used_companion_of_a_hub_stands_for_its_synonyms():
    net = network(*[(0, j) for j in range(1, 21)])
    role = said(net, "role")
    assert [role[f"c{j}"] for j in (0, 1, 2, 20)] == [
        "main hub", "secondary hub", "synonym", "synonym",
    ]  # fmt: skip
    assert set(said(net, "synonym_of").values()) == {"", "c1"}


def test_a_column_that_takes_the_place_of_the_hub_itself_is_its_synonym():
    net = network((0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (0, 5), p=6)
    assert said(net, "synonym_of")["c1"] == "c0"
    assert said(net, "role")["c5"] == "synonym"


def test_without_a_majority_the_most_used_are_hubs_and_strangers_are_occasional():
    net = network((0,), (1,), (0,), (1,), (2,))
    assert net.hubs() == ["c0", "c1"]
    assert net.hubs(0.3) == ["c0", "c1"]
    assert net.hubs(0.1) == ["c0", "c1", "c2"]
    assert said(net, "role")["c2"] == "occasional"
    assert np.isnan(said(net, "lift")["c2"])


# ---------------------------------------------------------------------- entropy and parts
def test_entropy_does_not_know_the_numbers_of_the_columns():
    assert network((0,), (1,), (2,), (3,)).entropy() == pytest.approx(np.log(4))
    assert network((7,), (7,)).entropy() == 0
    near = network((0, 1), (0, 2), (0, 3))
    far = network((50, 3), (50, 90), (50, 91))
    assert near.entropy() == pytest.approx(far.entropy())
    f = np.array([3, 1, 1, 1]) / 6
    assert near.entropy() == pytest.approx(-(f * np.log(f)).sum())
    assert entropy_of(np.array([0.0, 2.0, 2.0])) == pytest.approx(np.log(2))


def test_above_keeps_the_shares_of_all_models():
    net = network((0, 1), (0, 1), (0, 2), (0,))
    part = net.above(0.5)
    assert part.names == ["c0", "c1"]
    assert_array_equal(part.joint, net.joint[:2, :2])
    assert part.n_models == 4
    with pytest.raises(PsephosError, match="at most 50%, that of the most used column"):
        network((0,), (1,)).above(0.9)


# ---------------------------------------------------------------------- from estimators
def table(n=60, p=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, (X[:, 0] - X[:, 1] + 0.3 * rng.standard_normal(n) > 0).astype(int)


def test_the_network_of_a_wrapper_is_of_those_who_vote_not_of_the_reserve():
    X, y = table()
    settings = {"p_max": 2, "alpha": 0.5, "n_folds": 4, "random_state": 0}
    swag = SparseWrapperClassifier("lda", absent="vote", **settings).fit(X, y)
    chosen = swag.library_.chosen()
    assert 0 < len(chosen) < len(swag.library_)
    net = ColumnNetwork.from_estimator(swag)
    same = ColumnNetwork.from_library(swag.library_)
    assert net.n_models == same.n_models == len(chosen)
    assert net.names == same.names
    assert_array_equal(net.joint, same.joint)
    assert {"column 0", "column 1"} <= set(net.names)
    every = ColumnNetwork.from_library(swag.library_, chosen=False)
    assert every.n_models == len(swag.library_)


def test_the_network_of_any_vote():
    X, y = table()
    model = AdaBoostClassifier(n_estimators=8).fit(X, y)
    net = ColumnNetwork.from_estimator(model)
    assert net.n_models == model.vote_.n_voters
    assert set(net.positions) == set(model.vote_.columns)
    assert net.edges()["first"] == []  # a stump reads one column
    frame = net.frame()
    assert list(frame.columns) == ["column", "share", "role", "hub", "lift", "synonym_of"]


# ---------------------------------------------------------------------- files
@pytest.fixture
def odd():
    usage = np.zeros((6, len(ODD)), dtype=bool)
    for t in range(6):
        usage[t, [0, t + 1]] = True
    usage[0, 3] = True
    return ColumnNetwork.from_usage(usage, ODD)


def test_networkx_writes_the_graph_and_reads_it_back(odd, tmp_path):
    path, own = tmp_path / "net.graphml", odd.graph()
    nx.write_graphml(own, path)
    back = nx.read_graphml(path)
    assert set(back.nodes) == set(ODD) == set(own.nodes)
    for name, data in own.nodes(data=True):
        assert {key: back.nodes[name][key] for key in data} == data
    for a, b, data in own.edges(data=True):
        assert back.edges[a, b]["weight"] == data["weight"]
    assert back.graph["n_models"] == odd.n_models


# ---------------------------------------------------------------------- places and picture
def test_places_are_the_same_for_the_same_seed_and_near_where_joined(odd):
    assert_array_equal(odd.layout(3), odd.layout(3))
    assert not np.array_equal(odd.layout(3), odd.layout(4))
    assert odd.layout().shape == (len(ODD), 2)
    assert np.abs(odd.layout()).max() <= 1 + 1e-12
    assert_array_equal(network((0,)).layout(), [[0, 0]])
    net = network((0, 1), (0, 1), (0, 1), (2, 3), (2, 3), (1, 2))
    places = dict(zip(net.names, net.layout(), strict=True))
    gap = {pair: np.linalg.norm(places[pair[0]] - places[pair[1]]) for pair in (
        ("c0", "c1"), ("c0", "c3"))}  # fmt: skip
    assert gap["c0", "c1"] < gap["c0", "c3"]


def test_the_picture_shows_the_table(odd):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    axes = odd.plot()
    assert len(axes.lines) == len(odd.edges()["share"])
    numbers = [text.get_text() for text in axes.texts[:-1]]
    assert numbers == [str(i + 1) for i in range(len(ODD))]
    assert axes.texts[-1].get_text().startswith(f"1  {ODD[0]} (100%)")
    few = odd.plot(least=0.5)
    assert few.texts[-1].get_text() == f"1  {ODD[0]} (100%)"
    plt.close("all")


def test_without_matplotlib_the_install_command_is_said(odd, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'psephos\[plot\]'"):
        odd.plot()
