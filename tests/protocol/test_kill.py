"""A comparison killed at any moment and run again ends with the same files."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

TARGET = Path(__file__).with_name("kill_target.py")
SAME = ("results.csv", "predictions.csv", "refits.csv", "comparison.json")


def start(folder):
    process = subprocess.Popen(
        [sys.executable, str(TARGET), str(folder)], stdout=subprocess.PIPE, env=os.environ.copy()
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def finish(folder):
    process = start(folder)
    process.communicate()
    assert process.returncode == 0
    return {name: (folder / name).read_bytes() for name in SAME}


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")
def test_killed_and_resumed(tmp_path, random_seed):
    expected = finish(tmp_path / "whole")
    process, started = start(tmp_path / "timed"), time.monotonic()
    process.communicate()
    lasts = time.monotonic() - started
    rng = np.random.default_rng(random_seed)
    killed = 0
    for moment in rng.uniform(0.02, 0.5, size=3).tolist():
        process = start(tmp_path / "killed")
        time.sleep(moment * lasts)
        killed += process.poll() is None
        process.kill()
        process.communicate()
    assert killed, "every run had ended before it was killed"
    assert finish(tmp_path / "killed") == expected
