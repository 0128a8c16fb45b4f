import numpy as np
import pytest
from numpy.testing import assert_allclose

from psephos.models.prototypes import windows
from psephos.models.prototypes.objective import BatchObjective
from psephos.models.prototypes.windows import Windows

PENALTIES = {"lambda_v": 1e-2, "lambda_w": 1e-3, "lambda_u": 1e-3, "alpha_v": 0.3, "alpha_w": 0.1}


@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("dear", [0, 2**23])
def test_it_is_the_objective_where_all_columns_are_alike(
    random_seed, monkeypatch, regression, both, dear
):
    monkeypatch.setattr(windows, "_DEAR", dear)  # distances made twice, or not
    monkeypatch.setattr(windows, "_HELD", 70)  # a few references at a time
    rng = np.random.default_rng(random_seed)
    Z = rng.standard_normal((50, 80))
    t = rng.standard_normal(50) if regression else rng.integers(0, 3, 50).astype(float)
    candidates = np.arange(20)
    rows = np.arange(50) if both else np.arange(20, 50)
    twin = np.where(rows < 20, rows, -1) if both else None
    echo = rng.choice([0.0, 0.5, 0.9], len(rows)) if both else None
    base = rng.uniform(0.2, 0.5, len(rows))
    given = (base, base + 0.5, rng.uniform(0.5, 2.0, len(rows)) / 50)
    plain = np.zeros(80, np.bool_), np.zeros(80)
    full = BatchObjective(
        Z[rows], Z[candidates], t[rows], t[candidates], *given, *plain, regression=regression,
        dtype="float64", twin=twin, echo=echo, **PENALTIES,
    )  # fmt: skip
    kinds = t[rows], t[candidates]
    u = 2.0 if regression else 0.0
    quick = Windows(*full.tables, *kinds, *given, twin, echo, PENALTIES, u)
    points = [
        np.concatenate([np.full(80, v), rng.uniform(0, 3, 20), [2.0] if regression else []])
        for v in (0.1, 0.0, 0.3, 0.3)
    ]
    assert_allclose(quick.values(points), [full.by_weights(x)[0] for x in points], rtol=1e-6)
    for theta in points:
        value, by_w = full.by_weights(theta)
        assert_allclose(quick(theta)[0], value, rtol=1e-6)
        assert_allclose(quick(theta)[1], by_w, rtol=1e-5, atol=1e-8)


def test_values_are_those_of_the_tables_kept():
    rng = np.random.default_rng(0)
    Z, y = rng.standard_normal((40, 5)), rng.integers(0, 2, 40).astype(float)
    base = np.full(40, 0.5)
    twin = np.arange(40)
    given = (y, y, base, base + 0.5, np.full(40, 1 / 40), twin, None, PENALTIES)
    points = [np.concatenate([np.full(5, v), np.ones(40)]) for v in (0.2, 1.0, 3.0)]
    quick = Windows(Z, Z, *given)
    assert quick.values(points) == [quick(x)[0] for x in points]  # a start hangs on the least


def test_tables_are_kept_where_they_are_small_or_the_rows_long():
    assert Windows.suit(512, 512, 10)
    assert not Windows.suit(513, 512, 10)
    assert Windows.suit(1024, 1024, 64)
    assert not Windows.suit(1500, 1000, 2000)
    assert Windows.suit(1500, 1000, 8000)
