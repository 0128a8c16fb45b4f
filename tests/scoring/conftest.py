"""Families of fitted models, by name."""

import importlib.util
from pathlib import Path

import pytest

_SPEC = importlib.util.spec_from_file_location("families", Path(__file__).parent / "families.py")
FAMILIES = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(FAMILIES)


def pytest_generate_tests(metafunc):
    if "family" in metafunc.fixturenames:
        metafunc.parametrize("family", FAMILIES.NAMES)


@pytest.fixture
def model(family):
    return FAMILIES.fitted(family)


@pytest.fixture
def families():
    return FAMILIES
