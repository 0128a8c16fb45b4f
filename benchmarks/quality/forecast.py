"""How well does `compare` forecast its time? Forecasts while it ran against what it took.

    PSEPHOS_DATA=... python benchmarks/quality/forecast.py [--jobs 1] [SET ...]

The default comparison of each table (real ones of PSEPHOS_DATA and generated ones, by name
"ROWSxCOLUMNS") runs as a command whose progress lines are read as they come. For each table: the
time it took, and the total forecast (elapsed + said to be left) over it at the first line that
says a time, at a tenth, a quarter and half of the whole. 1 is right, 2 is twice too long. Run it
where nothing else runs.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SETS = (
    "colon_alon", "gut_cirrhosis", "sonar", "pima", "vehicle", "gasoline_octane", "100x2000",
    "500x50",
)  # fmt: skip
LEFT = re.compile(r"about (\d+) (s|min) left")


def table_of(name, scratch):
    """Return the file of a table and its options."""
    if size := re.fullmatch(r"(\d+)x(\d+)", name):
        n, d = map(int, size.groups())
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, d))
        y = (X[:, :4].sum(axis=1) + rng.normal(size=n) > 0).astype(int)
        np.savez(scratch / f"{name}.npz", X=X, y=y)
        return scratch / f"{name}.npz", ["--target", "y"]
    place = Path(os.environ["PSEPHOS_DATA"]) / name
    if (place / f"{name}.npz").exists():
        return place / f"{name}.npz", ["--target", "y"]
    file = place / f"{name}.csv"
    with file.open() as lines:
        target = next(lines).strip().split(",")[-1]
    return file, ["--target", target]


def forecasts(name, jobs, models):
    """Return (seconds of the whole, [(seconds elapsed, seconds in all as forecast)])."""
    with tempfile.TemporaryDirectory() as scratch:
        file, options = table_of(name, Path(scratch))
        command = [
            sys.executable, "-m", "psephos", "compare", str(file), *options,
            "--n-jobs", str(jobs), "--out", f"{scratch}/study",
        ]  # fmt: skip
        command += ["--models", models] if models else []
        start, lines = time.monotonic(), []
        with subprocess.Popen(
            command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        ) as run:
            lines.extend((time.monotonic() - start, line) for line in run.stderr)
            if run.wait() != 0:
                raise SystemExit("".join(line for _, line in lines))
        whole = time.monotonic() - start
    said = []
    for at, line in lines:
        if found := LEFT.search(line):
            said.append((at, at + int(found[1]) * (60 if found[2] == "min" else 1)))
    return whole, said


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--models")
    args = parser.parse_args()
    print("| table | s | first said after | forecast / taken | at .1 | at .25 | at .5 |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in args.sets:
        whole, said = forecasts(name, args.jobs, args.models)
        if not said:
            print(f"| {name} | {whole:.0f} | never | | | | |")
            continue
        cells = [f"{said[0][1] / whole:.2f}"]
        for share in (0.1, 0.25, 0.5):
            known = [total for at, total in said if at <= share * whole]
            cells.append(f"{known[-1] / whole:.2f}" if known else "")
        print(f"| {name} | {whole:.0f} | {said[0][0]:.0f} s | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
