"""Rows in the order of their values."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from psephos.kernels.numerics.ordering import sort_rows


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_rows_are_sorted_by_value_then_by_row(kind):
    rng = np.random.default_rng(0)
    table = np.stack(
        [
            rng.standard_normal(50),
            rng.integers(0, 4, 50),
            1.0 + rng.permutation(50) * 2.0**-52,  # all agree in their leading bits
            np.where(rng.random(50) < 0.3, np.nan, -rng.integers(0, 3, 50)),
            np.where(np.arange(50) < 2, -np.inf, rng.choice([0.0, -0.0, np.inf], 50)),
            np.full(50, np.nan),
        ]
    ).astype(kind)
    order, ranked, known = sort_rows(table)
    assert_array_equal(order, np.argsort(table, axis=1, kind="stable"))
    assert_array_equal(ranked, np.sort(table, axis=1))
    assert_array_equal(known, (~np.isnan(table)).sum(axis=1))
