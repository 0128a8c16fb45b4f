"""The example of SWAG's network shows what its text says."""

import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

PATH = Path(__file__).resolve().parents[2] / "examples" / "plot_swag_network.py"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run the example once, as a user does: the folder it ran in, and what it computed."""
    folder = tmp_path_factory.mktemp("example")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "argv", [PATH.name, "--out", str(folder / "picture.png")])
        return folder, runpy.run_path(str(PATH), run_name="__main__")


@pytest.fixture(scope="module")
def module(run):
    return SimpleNamespace(**run[1])


@pytest.fixture(scope="module")
def found(module):
    return module.everything


def test_it_saves_only_where_it_is_told_to(run):
    folder, _ = run
    picture = folder / "picture.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert list(folder.iterdir()) == [picture]


def test_few_columns_beat_all_of_them_on_the_same_folds(module, found):
    better = found["errors"].better()
    assert better["dimension"] == [1, 2, 3]
    assert better["share"][0] > 0.25
    assert min(better["share"][1:]) > 0.99
    X, y = module.demo()
    splits = list(module.FOLDS.split(X, y))
    best = found["model"].library_.subset(0)
    wrong = [
        (module.LinearDiscriminantAnalysis()
         .fit(X.iloc[train, best], y[train]).predict(X.iloc[test, best]) != y[test]).mean()
        for train, test in splits
    ]  # fmt: skip
    assert np.mean(wrong) == pytest.approx(found["model"].library_.error[0], abs=1.5 / len(y))


def test_the_measurements_are_signal_and_shuffled_ones_are_not(found):
    assert found["tests"]["diagnoses"].is_signal(0.05)
    assert not found["tests"]["shuffled diagnoses"].is_signal(0.05)


def test_radius_takes_the_place_of_perimeter(found):
    nodes = found["network"].nodes()
    synonym = dict(zip(nodes["column"], nodes["synonym_of"], strict=True))
    assert synonym["worst radius"] == "worst perimeter"


def test_the_picture_shows_the_tables(module, found):
    figure = module.draw(found)
    network, *histograms = figure.axes
    assert len(histograms) == 3
    shown = found["network"].above(0.05)
    assert [t.get_text() for t in network.texts[:-1]] == [
        str(i + 1) for i in range(len(shown.names))
    ]
    assert_array_equal(
        histograms[0].lines[1].get_xdata(), [found["errors"].reference["all 465 columns"]] * 2
    )
    matplotlib.pyplot.close("all")
