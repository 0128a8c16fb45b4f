"""Plant faults in the source, one at a time: is each found by a test?

    python benchmarks/robustness/mutants.py [--faults 40] [--seed 0] [--only FOLDER] [--near]

A fault is drawn from (seed, number): a file, each as likely as its lines are many, and in it a
comparison turned, a sum made a difference, a truth value, a number or a bound moved by one, a
`not` dropped, a line of a branch never taken. The source is copied first; the fault stands in the
copy alone. Tests that mirror the file are asked first, then those of its folder, then those that
name what it defines, then the contract, the models, the input, the command and the report; of a
kernel first as plain Python, which compiles nothing. With `--near` the last are not. Prints what
survived, to be looked at: some faults change nothing that a user could see.
"""

import argparse
import ast
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 900  # seconds of a group of tests
WIDER = [
    "tests/contract", "tests/test_input.py", "tests/test_base.py", "tests/models", "tests/cli",
    "tests/report",
]  # fmt: skip
PLAIN = ["tests/kernels", "tests/trees"]  # pass as plain Python
_TURNED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_SWAPPED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}


def sites(tree):
    """Return the nodes that a fault can be planted in; not in words, annotations or defaults."""
    inside = {id(n) for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) for n in ast.walk(f)}
    skipped = {
        id(n) for n in ast.walk(tree) if isinstance(n, ast.Constant) and id(n) not in inside
    }  # settings
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for part in [*node.decorator_list, node.returns, node.args]:
                skipped |= {id(n) for n in ast.walk(part)} if part else set()
        if isinstance(node, ast.AnnAssign):
            skipped |= {id(n) for n in ast.walk(node.annotation)}
        if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom):
            skipped |= {id(n) for n in ast.walk(node)}
    return [n for n in ast.walk(tree) if id(n) not in skipped and _kind(n)]


def _kind(node):
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _TURNED:
        return "comparison"
    if isinstance(node, ast.BinOp) and type(node.op) in _SWAPPED:
        words = isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
        return "" if words else "operator"
    if isinstance(node, ast.BoolOp):
        return "and, or"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return "not"
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int):
        return "constant"
    return "branch" if isinstance(node, ast.If) and node.orelse == [] else ""


def plant(node):
    """Change a node in place."""
    kind = _kind(node)
    if kind == "comparison":
        node.ops = [_TURNED[type(node.ops[0])]()]
    elif kind == "operator":
        node.op = _SWAPPED[type(node.op)]()
    elif kind == "and, or":
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif kind == "not":
        node.op, node.operand = ast.Not(), ast.UnaryOp(ast.Not(), node.operand)
    elif kind == "constant":
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1
    else:
        node.test = ast.Constant(False)
    return kind


def draw(seed, number, only):
    """Return (file, line, kind, mutated source) of a fault."""
    rng = random.Random(f"{seed}/{number}")
    files = sorted((ROOT / "src" / "psephos" / only).rglob("*.py"))
    weights = [len(f.read_text().splitlines()) for f in files]
    while True:
        (file,) = rng.choices(files, weights)
        tree = ast.parse(file.read_text())
        found = sites(tree)
        if found:
            node = rng.choice(found)
            before = ast.unparse(node)[:90]
            kind = plant(node)
            return file, node.lineno, kind, before, ast.unparse(ast.fix_missing_locations(tree))


def asked(file):
    """Return the groups of tests that are asked, the nearest first: (plain, paths)."""
    inside = file.relative_to(ROOT / "src" / "psephos")
    near = ROOT / "tests" / inside.parent
    stem = inside.stem.strip("_")
    mirror = [str(p) for p in near.glob(f"test_{stem}*.py")]
    folder = near
    while not any(folder.glob("test_*.py")) and folder != ROOT / "tests":
        folder = folder.parent
    own = [str(folder)] if folder != ROOT / "tests" else [str(p) for p in folder.glob("test_*.py")]
    defined = ast.parse(file.read_text()).body
    names = {n.name for n in defined if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    dotted = ".".join(["psephos", *inside.parent.parts])
    naming = re.compile(rf"{re.escape(dotted)}\b|\b({'|'.join(names) or '-'})\b")
    tests = sorted((ROOT / "tests").rglob("test_*.py")) if inside.parent.parts else []
    named = [str(p) for p in tests if "browser" not in p.parts and naming.search(p.read_text())]
    plain = [mirror, own, PLAIN] if "kernels" in inside.parts else []
    groups = [(True, group) for group in plain] + [
        (False, group) for group in (mirror, own, named, WIDER)
    ]
    return [(plain, group) for plain, group in groups if group]


def _status(command, env):
    """Return the exit status of tests; 1 if they do not end, as a fault may make them."""
    quiet = subprocess.DEVNULL
    tests = subprocess.Popen(  # a group of its own: the workers end with it
        command, cwd=ROOT, env=env, stdout=quiet, stderr=quiet, start_new_session=True
    )
    try:
        return tests.wait(LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(tests.pid, signal.SIGKILL)
        return 1


def survives(copy, file, code, groups, jobs):
    """Return whether no test fails on the copy with the fault."""
    place = copy / file.relative_to(ROOT / "src")
    sound = place.read_text()
    place.write_text(code)
    env = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    env["NUMBA_CACHE_DIR"] = (
        str(copy / "numba")
        if "kernels" in file.parts
        else env.get("NUMBA_CACHE_DIR", str(copy / "sound"))
    )
    try:
        for plain, group in groups:
            env["NUMBA_DISABLE_JIT"] = "1" if plain else "0"
            told = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
            told += ["--durations=0", "-n", str(jobs), *group]
            if _status(told, env) not in (0, 5):
                return False
        return True
    finally:
        place.write_text(sound)
        shutil.rmtree(copy / "numba", ignore_errors=True)


def main():
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=40)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--near", action="store_true", help="ask no tests of everything")
    told = parser.parse_args()
    left = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        shutil.copytree(ROOT / "src" / "psephos", copy / "psephos")
        for number in range(told.first, told.first + told.faults):
            file, line, kind, before, code = draw(told.seed, number, told.only)
            began = time.monotonic()
            groups = asked(file)[: -1 if told.near else None]
            alive = survives(copy, file, code, groups, told.jobs)
            left += alive
            verdict = "SURVIVES" if alive else "found"
            where = f"{file.relative_to(ROOT / 'src')}:{line}"
            took = f"{time.monotonic() - began:.0f} s"
            print(f"{number:3d} {verdict:8s} {kind:10s} {where}: {before} ({took})", flush=True)
    print(f"{told.faults} faults, {left} survived")
    sys.exit(bool(left))


if __name__ == "__main__":
    main()
