"""The bounds against figures of the programs of their authors, to the last digit that was kept."""

import pytest
from numpy.testing import assert_allclose

from psephos.bounds import formulas
from psephos.bounds.formulas import kl_inverse, xi

pytestmark = pytest.mark.reference

# Gibbs risk, disagreement, rows, KL, delta; then 2 PB-kl (2 sqrt(m) for xi), PAC-Bound 1 (xi),
# PAC-Bound 2 as the maximum of its printed formula, tandem (2 sqrt(m)), and the C-bound
# of the first two
TABLE = [
    (0.2, 0.3, 1000, 5, 0.05, 0.533744, 0.614405, 0.412383, 0.403128, 0.100000),
    (0.3, 0.4, 500, 2, 0.05, 0.779824, 0.881059, 0.731145, 0.694138, 0.200000),
    (0.1, 0.15, 5000, 10, 0.05, 0.254637, 0.279647, 0.182803, 0.180653, 0.085714),
    (0.35, 0.40, 200, 0, 0.1, 0.934722, 0.991637, 0.958382, 0.988322, 0.550000),
]
XI = {
    1: 2, 2: 2.5, 5: 3.5104, 10: 4.660216, 50: 9.543127, 100: 13.209961, 200: 18.398444,
    500: 28.696235, 1000: 40.303213, 10**4: 125.999122, 10**5: 396.999726,
}  # fmt: skip


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row[2]} rows")
def test_the_table(row):
    risk, d, m, divergence, delta, gibbs, first, second, tandem, c = row
    of = (divergence, m, delta)
    found = (
        2 * formulas.gibbs_kl(risk, *of, exact=False),
        formulas.c_bound_1(risk, d, *of),
        formulas.c_bound_2(risk, d, *of),
        formulas.tandem_kl(risk - d / 2, *of, exact=False),
        formulas.c_bound_value(risk, d),
    )
    assert_allclose(found, (gibbs, first, second, tandem, c), atol=1e-6)


def test_with_the_exact_xi():
    assert_allclose(2 * formulas.gibbs_kl(0.2, 5, 1000), 0.531085, atol=1e-6)


def test_xi_and_the_inverses_of_kl():
    assert_allclose([xi(m) for m in XI], list(XI.values()), atol=1e-6)
    both = kl_inverse(0.1, 0.05), kl_inverse(0.1, 0.05, upper=False)
    assert_allclose(both, (0.220079, 0.031278), atol=1e-6)


@pytest.mark.parametrize(
    ("m", "divergence", "risk", "value"),
    [(100, 1, 0.2, 1.026), (500, 2, 0.2, 0.689), (1000, 5, 0.2, 0.620), (5000, 5, 0.1, 0.300)],
)
def test_sample_compression(m, divergence, risk, value):
    assert_allclose(2 * formulas.sample_compression(risk, divergence, m), value, atol=5e-4)
