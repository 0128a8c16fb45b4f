import os
import subprocess
import sys
import threading

import numba
import numpy as np
import pytest

from psephos.kernels._jit import effective_jobs, jit, run_blocks


def test_a_kernel_compiles_where_no_cache_can_be_written(monkeypatch):
    real = numba.njit

    def njit(*args, **options):
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return real(*args, **options)

    monkeypatch.setattr(numba, "njit", njit)

    @jit
    def double(x):
        return 2 * x

    @jit(inline="never")
    def triple(x):
        return 3 * x

    assert (double(2), triple(2)) == (4, 6)


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 3, -1])
def test_every_block_runs_once(n_jobs):
    seen = np.zeros(17, int)

    def visit(block):
        seen[block] += 1

    run_blocks(visit, 17, n_jobs)
    assert (seen == 1).all()
    run_blocks(visit, 0, n_jobs)


def test_nested_calls_do_not_wait_for_each_other():
    seen = np.zeros((6, 6), int)

    def outer(i):
        def inner(j):
            seen[i, j] += 1

        run_blocks(inner, 6, 3)

    run_blocks(outer, 6, 3)
    assert (seen == 1).all()


def test_the_error_of_a_block_is_raised():
    for failing in (0, 1):

        def fail(block, failing=failing):
            if block == failing:
                raise ValueError("here")

        with pytest.raises(ValueError, match="here"):
            run_blocks(fail, 4, 2)


def test_threads_are_used():
    barrier = threading.Barrier(2, timeout=20)
    run_blocks(lambda block: barrier.wait(), 2, 2)


def test_jobs():
    assert effective_jobs(None) == 1
    assert effective_jobs(3) == 3
    assert effective_jobs(-1) >= 1
    assert effective_jobs(-(10**6)) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_has_its_own_threads():
    code = (
        "import os\n"
        "from psephos.kernels._jit import run_blocks\n"
        "run_blocks(lambda b: None, 4, 2)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    run_blocks(lambda b: None, 4, 2)\n"
        "    os._exit(7)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60)


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled")
def test_a_cache_that_names_a_class_since_gone_is_no_cache(tmp_path):
    kinds = tmp_path / "kinds.py"
    (tmp_path / "kernels.py").write_text(
        "import kinds\nfrom psephos.kernels._jit import jit\n\n\n"
        "@jit\ndef first(pair):\n    return pair[0]\n\n\nprint(first(kinds.make(3, 4)))\n"
    )
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    for name in ("Pair", "Two"):
        kinds.write_text(
            f"from typing import NamedTuple\n\n\nclass {name}(NamedTuple):\n    a: int\n"
            f"    b: int\n\n\nmake = {name}\n"
        )
        command = [sys.executable, "-B", str(tmp_path / "kernels.py")]
        found = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        assert found.stdout == "3\n", found.stderr
    assert list((tmp_path / "cache").rglob("*.nbi"))
