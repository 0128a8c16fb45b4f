"""The example of rates shows what its text says."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

matplotlib = pytest.importorskip("matplotlib", reason="needs matplotlib (extra 'plot')")
matplotlib.use("Agg")

PATH = Path(__file__).resolve().parents[2] / "examples" / "plot_forest_rates.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("plot_forest_rates", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_picture_is_of_the_numbers(example):
    import matplotlib.pyplot as plt  # after the backend is chosen

    cells, rows = np.array([16, 64, 256]), np.array([64, 128])
    figure = example.draw(cells, rows)
    above = figure.axes[0].lines
    assert len(figure.axes) == 6
    assert len(above) == 6
    assert_allclose(above[0].get_ydata(), example.sides("uniform", 1, cells))
    assert_allclose(above[1].get_ydata()[-1], above[0].get_ydata()[0] * 16 ** (-1 / 3))
    assert_allclose(figure.axes[3].lines[1].get_ydata(), example.errors("midpoint", 1, rows))
    assert "theory -0.33" in above[0].get_label()
    plt.close(figure)


def test_errors_fall_faster_than_the_loose_guarantees(example):
    rows = 2 ** np.array([8, 10, 12])
    for split in ("uniform", "midpoint"):
        found = example.slope(rows, example.errors(split, 1, rows))
        assert found < -example.risk_exponent(split, 1)
