"""A comparison killed at any moment and run again ends with the same files."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

TARGET = Path(__file__).with_name("kill_target.py")
SAME = ("results.csv", "predictions.csv", "refits.csv", "comparison.json")


@pytest.fixture
def target():
    """A process that compares in its children; how each is asked for and ends: `kill_target`."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "encoding": "utf-8"}
    with subprocess.Popen([sys.executable, str(TARGET)], env=os.environ.copy(), **pipes) as process:
        yield process


def run(target, folder, seconds=""):
    """Compare into the folder in a process of its own; return how it ended and after how long."""
    target.stdin.write(f"{folder}\t{seconds}\n")
    target.stdin.flush()
    code, lasted = target.stdout.readline().split()
    return int(code), float(lasted)


def content(folder):
    return {name: (folder / name).read_bytes() for name in SAME}


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")
def test_killed_and_resumed(target, tmp_path, random_seed):
    assert run(target, tmp_path / "whole")[0] == 0
    code, lasts = run(target, tmp_path / "timed")  # kernels are compiled
    assert code == 0
    rng = np.random.default_rng(random_seed)
    killed = 0
    for moment in rng.uniform(0.02, 0.5, size=3).tolist():
        code, _ = run(target, tmp_path / "killed", moment * lasts)
        assert code in (0, -signal.SIGKILL)
        killed += code != 0
    assert killed, "every run had ended before it was killed"
    assert run(target, tmp_path / "killed")[0] == 0
    assert content(tmp_path / "killed") == content(tmp_path / "whole")
    assert content(tmp_path / "timed") == content(tmp_path / "whole")
