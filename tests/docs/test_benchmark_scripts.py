"""Scripts of benchmarks that take long, in a form of seconds."""

import csv
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


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
