"""Damage many files, read them back, and count what came of it.

    python benchmarks/robustness/fuzz.py models --cases 20000 --seed 0 --work /tmp/fuzz

Cases run in parts, each in a process of its own with a limit of memory and of time, so that a
crash or a hang is one case's and is counted. Every case is drawn from (seed, case).
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

__all__ = ["main"]

_ADDRESSES = 8 << 30  # of a part, code of compilers and libraries included
_CASE_S = 60.0  # a case that takes longer is a hang


def _memory(key: str) -> int:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith(key))


class Watch:
    """Peak memory and time of one call, above what the process held before."""

    def __enter__(self) -> "Watch":
        with open("/proc/self/clear_refs", "w") as reset:
            reset.write("5")
        self.before, self.began = _memory("VmRSS"), time.perf_counter()
        return self

    def __exit__(self, *_: Any) -> None:
        self.seconds = time.perf_counter() - self.began
        self.peak = _memory("VmHWM") - self.before


def _part(kind: str, work: Path, seed: int, first: int, last: int, out: Path) -> None:
    """Run some cases, a line for each in the file `out`."""
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))
    module: Any = __import__({"models": "models", "tables": "tables", "folders": "folders"}[kind])
    run = module.runner(work, seed)
    with open(out, "a") as lines:
        for case in range(first, last):
            print(json.dumps({"case": case, "began": True}), file=lines, flush=True)
            print(json.dumps({"case": case, **run(case, Watch)}), file=lines, flush=True)


def _run(kind: str, work: Path, seed: int, cases: range, out: Path) -> None:
    """Run a part in processes of its own; a case that kills one is written down and passed."""
    first = cases.start
    while first < cases.stop:
        told = [sys.executable, __file__, kind, "--part", str(first), str(cases.stop)]
        told += ["--seed", str(seed), "--work", str(work), "--out", str(out)]
        limit = 120 + _CASE_S + 2.0 * (cases.stop - first)
        process = subprocess.Popen(told, env={**os.environ, "NUMBA_BOUNDSCHECK": "1"})
        began, seen, since = time.monotonic(), -1, time.monotonic()
        how = None
        while process.poll() is None and how is None:
            time.sleep(0.5)
            size = out.stat().st_size if out.exists() else 0
            if size != seen:
                seen, since = size, time.monotonic()
            if time.monotonic() - since > _CASE_S + 120 or time.monotonic() - began > limit * 5:
                how = "hang"
                process.kill()
        process.wait()
        told_text = out.read_text() if out.exists() else ""
        told_cases = [json.loads(line) for line in told_text.splitlines()]
        done = max((c["case"] for c in told_cases if "outcome" in c), default=-1)
        begun = max((c["case"] for c in told_cases), default=first)
        if process.returncode == 0 and how is None:
            return
        if begun <= done or begun < first:
            raise RuntimeError(f"part {first} of {kind} does not start (exit {process.returncode})")
        lost = {"case": begun, "outcome": how or f"exit {process.returncode}", "source": "?"}
        with open(out, "a") as lines:
            print(json.dumps(lost), file=lines)
        first = begun + 1


def _report(out: Path) -> int:
    """Print how often each outcome was met, and the worst; return the number of faults."""
    cases = [json.loads(line) for line in out.read_text().splitlines()]
    cases = [case for case in cases if "outcome" in case]
    count = Counter((case.get("damage", "?"), case["outcome"].split(":")[0]) for case in cases)
    for (damage, outcome), n in sorted(count.items()):
        print(f"{n:7d}  {damage:16s} {outcome}")
    sound = ("refused", "answered")
    faults = [case for case in cases if case["outcome"] not in sound]
    kinds = Counter(json.dumps([c["outcome"], c.get("where", "")])[:200] for c in faults)
    for words, n in kinds.most_common(40):
        one = next(
            c for c in faults if json.dumps([c["outcome"], c.get("where", "")])[:200] == words
        )
        print(f"{n:7d}  {words}  (case {one['case']} of {one['source']})")
    most = max(cases, key=lambda c: c.get("peak", 0))
    slow = max(cases, key=lambda c: c.get("seconds", 0.0))
    print(f"{len(cases)} cases, {len(faults)} faults")
    peak, declared = most.get("peak", 0) / 1e6, most.get("declared", 0) / 1e6
    print(f"peak {peak:.0f} MB of {declared:.1f} MB declared (case {most['case']})")
    print(f"slowest {slow.get('seconds', 0):.1f} s (case {slow['case']})")
    return len(faults)


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=["models", "tables", "folders"])
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--batch", type=int, default=500)
    parser.add_argument("--part", type=int, nargs=2)
    parser.add_argument("--out", type=Path)
    told = parser.parse_args()
    told.work.mkdir(parents=True, exist_ok=True)
    if told.part:
        _part(told.kind, told.work, told.seed, *told.part, told.out)
        return
    last = told.first + told.cases
    out = told.work / f"{told.kind}-{told.seed}-{told.first}-{last}.jsonl"
    out.unlink(missing_ok=True)
    once = [sys.executable, __file__, told.kind, "--part", "0", "1", "--out", os.devnull]
    once += ["--seed", str(told.seed), "--work", str(told.work)]  # files are made, kernels compiled
    subprocess.run(once, env={**os.environ, "NUMBA_BOUNDSCHECK": "1"}, check=True)
    for first in range(told.first, last, told.batch):
        _run(told.kind, told.work, told.seed, range(first, min(first + told.batch, last)), out)
    sys.exit(bool(_report(out)))


if __name__ == "__main__":
    main()
