"""The script of the SamBA paper's tables in a form of seconds: two splits, two draws, two folds."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "quality" / "samba_paper.py"


@pytest.fixture
def script(data_dir, monkeypatch):
    monkeypatch.setenv("PSEPHOS_DATA", str(data_dir))
    spec = importlib.util.spec_from_file_location("samba_paper", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(script, monkeypatch, *words):
    monkeypatch.setattr("sys.argv", ["samba_paper.py", *map(str, words)])
    script.main()


def test_cells_are_run_once_and_printed_beside_the_paper(script, monkeypatch, tmp_path, capsys):
    place = tmp_path / "cells.csv"
    methods = ("decision-tree", "lasso", "k-nn")
    words = ("--plan", "small", "--tables", "taxa_phylum", "--results", place, "--methods")
    run(script, monkeypatch, *words, *methods[:2])
    first = place.read_bytes()
    run(script, monkeypatch, *words, *methods)
    assert place.read_bytes().startswith(first)
    rows = script.rows_of(place)
    assert [row["method"] for row in rows] == [m for m in methods for _ in range(2)]
    assert {row["columns"] for row in rows if row["method"] == "k-nn"} == {"37"}
    assert all(0.3 < float(row["balanced_accuracy"]) < 0.95 for row in rows)

    capsys.readouterr()
    run(script, monkeypatch, "--print", "--results", place)
    shown = capsys.readouterr().out
    assert "37.0 ± 0.0 (all)" in shown
    assert "(0.74 ± 0.07)" in shown  # the paper's decision tree on the phyla
    assert "not run" in shown


def test_the_interval_is_corrected_for_shared_rows(script):
    mean, half = script.difference([0.8, 0.9, 0.7], [0.7, 0.7, 0.7])
    assert mean == pytest.approx(0.1)
    # sd .1, variance .01 (1/3 + 1/4), t(.975, 2) = 4.302653
    assert half == pytest.approx(4.302653 * (0.01 * 7 / 12) ** 0.5)
