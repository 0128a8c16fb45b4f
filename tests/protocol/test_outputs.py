"""What a study writes down of where it ran."""

from importlib import metadata

import pytest

from psephos.protocol.study.outputs import versions


def test_installed_packages_are_asked_by_name_alone(monkeypatch):
    def slow():
        pytest.fail("looks through the files of every installed package")

    monkeypatch.setattr(metadata, "packages_distributions", slow)
    found = versions(["pytest"])
    assert found["numpy"] == metadata.version("numpy")
    assert found["pytest"] == metadata.version("pytest")


def test_a_build_of_another_name_and_none(monkeypatch):
    monkeypatch.setattr(metadata, "packages_distributions", lambda: {"other_name": ["numpy"]})
    found = versions(["other-name", "not-installed"])
    assert found["other-name"] == metadata.version("numpy")
    assert found["not-installed"] == "unknown"
