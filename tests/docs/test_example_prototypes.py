"""The example of prototypes shows what its text says."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

matplotlib = pytest.importorskip("matplotlib", reason="needs matplotlib (extra 'plot')")
matplotlib.use("Agg")

PATH = Path(__file__).resolve().parents[2] / "examples" / "plot_prototypes.py"


@pytest.fixture(scope="module")
def module():
    spec = importlib.util.spec_from_file_location("plot_prototypes", PATH)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture(scope="module")
def found(module):
    return module.story()


def test_few_prototypes_on_few_columns_are_accurate(found):
    assert found["model"].n_prototypes_.sum() < 60
    assert found["model"].n_features_used_ < 10
    assert found["accuracy"] > 0.93


def test_few_prototypes_settle_a_doubtful_case(found):
    case, model = found["case"], found["model"]
    sizes = found["ballot"].dominant().sum()
    assert 0 < sizes < model.n_prototypes_.sum() / 2
    probability = model.predict_proba(case)[0]
    assert_allclose(found["ballot"].contributions().sum(axis=1)[0], probability)
    off = np.abs(model.predict_proba(found["cases"])[:, 1] - 0.5)
    assert abs(probability[1] - 0.5) == off[found["p"] > 0.2].min()


def test_the_stranger_gets_the_class_frequencies_and_a_small_p(found):
    assert found["stranger_p"] == pytest.approx(1 / 115)  # of 114 references, none is less familiar
    benign = found["table"].weight[0]
    assert_allclose(found["stranger_probability"], [benign, 1 - benign], atol=1e-3)
    assert np.mean(found["p"] <= 0.05) < 0.1


def test_the_picture_shows_the_tables(module, found):
    figure = module.draw(found)
    surface, ballot, shown, columns = figure.axes[:4]
    assert (surface.get_xlabel(), surface.get_ylabel()) == ("worst radius", "worst texture")
    shares = np.sort(found["ballot"].share()[0, 1:])[::-1][:10]
    assert_allclose([bar.get_width() for bar in ballot.patches][1:], shares)
    assert_array_equal(shown.lines[0].get_xydata(), found["map"].transform(found["case"])[:, :2])
    assert_array_equal(columns.images[0].get_array(), found["columns"].inverse_bandwidth.T)
    matplotlib.pyplot.close("all")
