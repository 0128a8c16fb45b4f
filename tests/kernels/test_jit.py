import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from psephos.runtime.jit import effective_jobs, jit, run_blocks


def test_a_kernel_compiles_where_no_cache_can_be_written():
    space = {"jit": jit}
    exec(  # numba finds no folder for code that no file holds
        "@jit\ndef double(x):\n    return 2 * x\n\n\n"
        "@jit(inline='never')\ndef triple(x):\n    return 3 * x\n",
        space,
    )
    assert (space["double"](2), space["triple"](2)) == (4, 6)


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
        "from psephos.runtime.jit import run_blocks\n"
        "run_blocks(lambda b: None, 4, 2)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    run_blocks(lambda b: None, 4, 2)\n"
        "    os._exit(7)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60)


compiled = pytest.mark.skipif(
    bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled"
)


def run(program):
    folder = program.parent
    env = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(folder)}
    command = [sys.executable, "-B", str(program)]
    found = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    return found.stdout.split()


@compiled
def test_a_cache_that_names_a_class_since_gone_is_no_cache(tmp_path):
    kinds = tmp_path / "kinds.py"
    (tmp_path / "kernels.py").write_text(
        "import kinds\nfrom psephos.runtime.jit import jit\n\n\n"
        "@jit\ndef first(pair):\n    return pair[0]\n\n\nprint(first(kinds.make(3, 4)))\n"
    )
    for name in ("Pair", "Two"):
        kinds.write_text(
            f"from typing import NamedTuple\n\n\nclass {name}(NamedTuple):\n    a: int\n"
            f"    b: int\n\n\nmake = {name}\n"
        )
        assert run(tmp_path / "kernels.py") == ["3"]
    assert list((tmp_path / "cache").rglob("*.nbi"))


@compiled
def test_a_cache_is_opened_at_the_first_call(tmp_path):
    lines = [
        "from psephos.runtime.jit import jit\n",
        "@jit\ndef double(x):\n    return 2 * x\n",
        "import os",
        "print(os.path.isdir(os.environ['NUMBA_CACHE_DIR']))",
        "print(double(2))",
        "print(sum(double.stats.cache_hits.values()))",
    ]
    (tmp_path / "kernel.py").write_text("\n".join(lines))
    assert run(tmp_path / "kernel.py") == ["False", "4", "0"]
    assert run(tmp_path / "kernel.py") == ["True", "4", "1"]


@compiled
def test_a_source_edited_since_it_was_read_keeps_nothing(tmp_path):
    source = tmp_path / "kernel.py"
    text = "from psephos.runtime.jit import jit\n\n\n@jit\ndef change(x):\n    return {} * x\n"
    source.write_text(text.format(2))
    (tmp_path / "main.py").write_text(
        "import pathlib\nfrom kernel import change\n"
        f"pathlib.Path({str(source)!r}).write_text({text.format(30)!r})\nprint(change(1))\n"
    )
    assert run(tmp_path / "main.py") == ["2"]
    (tmp_path / "main.py").write_text("from kernel import change\nprint(change(1))\n")
    assert run(tmp_path / "main.py") == ["30"]


@jit(inner=True)
def _double(x):
    return 2 * x


@jit(inner=True)
def _eightfold(x):
    return 2 * _double(_double(x))


@jit
def _tenfold(x):
    return _eightfold(x) + _double(x)


@jit
def _double_and_one(x):
    return _double(x) + 1


@jit
def _fourfold(x):
    return _double(_double(x))


@compiled
def test_a_kernel_of_kernels_is_linked_into_each_and_not_called_from_python():
    assert (_double_and_one(3), _fourfold(3), _double_and_one(0.5)) == (7, 12, 2.0)
    assert (_tenfold(3), _tenfold(0.5)) == (30, 5.0)
    with pytest.raises(TypeError, match="the kernel _double is called by kernels alone"):
        _double(3)  # compiled for its callers
    with pytest.raises(TypeError, match="called by kernels alone"):
        _double(1j)  # never compiled
