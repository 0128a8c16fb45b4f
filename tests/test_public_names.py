"""The package's front door: its names, and what their documentation promises."""

import importlib
import inspect
import subprocess
import sys

import click
import pytest

import psephos
from psephos.cli.app import main


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


def documented(module):
    """The public classes and functions of a module, with their numpydoc documentation."""
    numpydoc = pytest.importorskip("numpydoc.docscrape", reason="it reads the docstrings")
    held = importlib.import_module(module)
    for name in held.__all__:
        found = getattr(held, name)
        if callable(found):
            yield name, found, numpydoc.get_doc_object(found)


def names_of(doc):
    return [n.strip(" *") for one in doc["Parameters"] for n in one.name.split(",")]


def test_every_public_name_has_an_example():
    """tests/test_base.py runs them."""
    assert [n for n, _, doc in documented("psephos") if ">>> " not in str(doc["Examples"])] == []


def test_documented_parameters_are_those_of_the_signature():
    for name, found, doc in documented("psephos"):
        ordinary = isinstance(found, type) and issubclass(found, Exception) and not names_of(doc)
        expected = [] if ordinary else [*inspect.signature(found).parameters]
        assert names_of(doc) == expected, name


#: `psephos.base` documents what recipes inherit.
OTHERS = [f"psephos.{name}" for name in (
    "bounds", "cautions", "datasets", "explain", "figures", "protocol", "report", "scoring",
    "supervision", "testing", "validation", "vote",
)]  # fmt: skip


@pytest.mark.parametrize("module", OTHERS)
def test_a_list_of_parameters_is_complete_in_every_public_module(module):
    for name, found, doc in documented(module):
        listed = names_of(doc)
        assert not listed or {*listed} == {*inspect.signature(found).parameters}, name


def options(command, path="psephos"):
    for one in command.params:
        yield f"{path} {one.name}", one
    for name, below in getattr(command, "commands", {}).items():
        yield from options(below, f"{path} {name}")


def test_every_option_has_help():
    given = [(path, one.help) for path, one in options(main) if isinstance(one, click.Option)]
    assert len(given) > 100
    assert [path for path, words in given if not (words or "").strip()] == []
