import ast
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import psephos
from psephos.runtime.jit import drop_older_kernels, effective_jobs, jit, run_blocks


def test_a_kernel_compiles_where_no_cache_can_be_written():
    space: dict[str, Any] = {"jit": jit}
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
    path = os.pathsep.join([str(folder), str(Path(psephos.__file__).parents[1])])
    env = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": path}
    command = [sys.executable, "-B", str(program)]
    found = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    return found.stdout.split()


def sources():
    """Return (path, syntax tree) of every module of the package."""
    folder = Path(psephos.__file__).parent
    return [(path, ast.parse(path.read_text())) for path in sorted(folder.rglob("*.py"))]


def names_read(tree):
    """Return what a module imports, and the dotted names that it reads."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{one.name}" for one in node.names)
        elif isinstance(node, ast.Attribute):
            yield ast.unparse(node)


def test_one_name_of_numba_is_read_and_none_of_llvmlite():
    found = {name for _, tree in sources() for name in names_read(tree)}
    assert {name for name in found if re.match(r"(numba|llvmlite)\b", name)} == {
        "numba", "numba.njit",
    }  # fmt: skip


@compiled
def test_kernels_come_from_the_disk_and_from_an_edited_source_anew(tmp_path):
    source = tmp_path / "kernel.py"
    text = (
        "from psephos.runtime.jit import jit, n_compiled\n\n\n@jit\ndef change(x):\n"
        "    return {} * x\n\n\nprint(change(1), n_compiled())\n"
    )
    source.write_text(text.format(2))
    assert run(source) == ["2", "1"]
    assert run(source) == ["2", "0"]
    source.write_text(text.format(30))
    assert run(source) == ["30", "1"]


@compiled
def test_compiling_is_logged_and_announced(tmp_path):
    (tmp_path / "kernel.py").write_text(
        "import logging, sys, time\nfrom psephos.runtime import jit\n\n\n"
        "@jit.jit\ndef double(x):\n    time_ = 0.0\n"
        "    for i in range(x):\n        time_ += i ** 0.5\n    return time_\n\n\n"
        "logging.basicConfig(level='INFO', stream=sys.stdout, format='%(name)s,%(message)s')\n"
        "with jit.announce_compiling(lambda kept: print('kept', kept)):\n"
        "    with jit.logged_compiling('Model.fit'):\n        double(2)\n"
        "    time.sleep(1.0)\n"
    )
    logged = [
        "psephos,Model.fit",
        "compiled",
        "1",
        "kernels;",
        "psephos",
        "warm-up",
        "does",
        "so",
        "ahead",
    ]
    assert sorted(run(tmp_path / "kernel.py")) == sorted([*logged, "kept", "True"])
    assert run(tmp_path / "kernel.py") == []


@compiled
def test_of_a_damaged_cache_the_folder_is_named(tmp_path):
    (tmp_path / "kernel.py").write_text(
        "from psephos.runtime.jit import jit, logged_compiling\n\n\n@jit\ndef double(x):\n"
        "    return 2 * x\n\n\ntry:\n    with logged_compiling('fit'):\n        print(double(2))\n"
        "except ValueError as error:\n    print(error)\n"
    )
    assert run(tmp_path / "kernel.py") == ["4"]
    index = next((tmp_path / "cache").rglob("*.nbi"))
    index.write_bytes(index.read_bytes()[:-9])
    said = " ".join(run(tmp_path / "kernel.py"))
    assert "cannot be read: delete the folder" in said
    assert str(index.parent) in said


def test_kernels_kept_before_a_source_changed_are_deleted(tmp_path):
    kept = tmp_path / "__pycache__" / "a.py311.nbi"
    kept.parent.mkdir()
    kept.write_bytes(b"")
    source = tmp_path / "a.py"
    source.write_text("")
    now = time.time()
    for age, left in ((60, True), (-60, True), (0, False)):  # older; of the future; changed since
        os.utime(source, (now - age, now - age))
        os.utime(kept, (now - 30, now - 30))
        drop_older_kernels(tmp_path)
        assert kept.exists() == left
