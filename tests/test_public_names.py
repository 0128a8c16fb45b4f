"""The package's front door."""

import subprocess
import sys

import pytest

import psephos


def test_every_public_name_can_be_had():
    for name in psephos.__all__:
        assert getattr(psephos, name) is not None
    assert set(psephos._PUBLIC) == set(psephos.__all__) - {"__version__"}
    assert dir(psephos) == psephos.__all__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = psephos.nothing


def test_importing_the_package_imports_nothing_heavy():
    heavy = "('numpy', 'sklearn', 'numba')"
    code = f"import psephos, sys; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
