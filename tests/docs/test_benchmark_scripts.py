"""Scripts of benchmarks: what they import is there, and those that take long run in seconds."""

import ast
import csv
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted([*(ROOT / "benchmarks").rglob("*.py"), *(ROOT / "examples").rglob("*.py")])


def imported(script):
    """Return (module, name) of each name that a script imports from psephos."""
    return [
        (node.module, one.name)
        for node in ast.walk(ast.parse(script.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "psephos"
        for one in node.names
    ]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_names_imported_from_psephos_exist(script):
    for module, name in imported(script):
        there = hasattr(importlib.import_module(module), name)
        assert there or importlib.util.find_spec(f"{module}.{name}"), f"{module}.{name}"


def test_timing_study_measures_prints_and_draws(tmp_path):
    pytest.importorskip("matplotlib", reason="needs matplotlib (extra 'plot')")
    script = ROOT / "benchmarks" / "speed" / "timing_study.py"
    results, picture = tmp_path / "cells.csv", tmp_path / "picture.png"
    small = ("--studies", "10", "--rows", "40", "--columns", "3", "6", "--budget", "5")
    places = ("--out", str(results), "--plot", str(picture))
    done = subprocess.run(
        [sys.executable, str(script), *small, *places], capture_output=True, text=True, check=True
    )
    with results.open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    assert len(cells) == 2 * len({cell["method"] for cell in cells}) >= 18
    assert all(float(cell["fit_s"]) > 0 for cell in cells)
    assert "| SamBA |" in done.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")
