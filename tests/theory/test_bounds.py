"""Bounds over drawn tables: they hold, and fail where a hypothesis is broken on purpose.

Few draws of what `benchmarks/quality/bounds_simulated.py` does with 1,000.
"""

import importlib.util
from pathlib import Path

import pytest
from scipy import stats

pytestmark = pytest.mark.theory

_PATH = Path(__file__).resolve().parents[2] / "benchmarks" / "quality" / "bounds_simulated.py"
_SPEC = importlib.util.spec_from_file_location("bounds_simulated", _PATH)
simulated = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(simulated)

DRAWS = {"hold-out, binomial": 300, "hold-out, kl": 300, "PAC-Bayes-kl, Gibbs risk": 100}
FEW = 20


def most(draws):
    """Return the 99.9 % point of how often a bound of delta = 0.05 fails."""
    return int(stats.binom.ppf(0.999, draws, 0.05))


@pytest.mark.parametrize("name", simulated.HOLD)
def test_it_holds(name):
    draws = DRAWS.get(name, FEW)
    assert simulated.simulate(name, simulated.HOLD[name], draws)[0] <= most(draws)


@pytest.mark.parametrize("name", simulated.BROKEN)
def test_it_fails_where_a_hypothesis_is_broken_and_is_refused_there(name):
    case = simulated.BROKEN[name]
    one, refused = case if isinstance(case, tuple) else (case, None)
    draws = 60 if name.startswith("Gibbs") else FEW
    assert simulated.simulate(name, one, draws)[0] > most(draws)
    if refused is not None:
        assert "does not hold" in simulated.refusal(refused)
