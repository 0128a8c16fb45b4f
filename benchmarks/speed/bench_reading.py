"""Reading a wide csv file of numbers: psephos beside pandas, polars and pyarrow.

    python benchmarks/speed/bench_reading.py [ROWS COLUMNS]    # 100 100000 unless given

Each reading is a process of its own, from nothing to the table, imports included; in turn, three
times, and the least is taken: CPU seconds, and the peak of resident memory by getrusage. psephos
returns the checked float64 table, the others their frames, whose numbers are one column each.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import _timing

_END = """
import resource, sys
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, file=sys.stderr)
"""
_WRITE = """
import sys
import numpy as np
path, rows, columns, digits = sys.argv[1], *map(int, sys.argv[2:])
with open(path, "w") as file:
    file.write(",".join(["y", *(f"g{j}" for j in range(columns))]) + "\\n")
    for i, row in enumerate(np.random.default_rng(0).normal(size=(rows, columns)).tolist()):
        file.write(",".join(["ab"[i % 2], *(f"{v:.{digits}g}" for v in row)]) + "\\n")
"""
_COMMAND = "from psephos.cli import main; main([*{!r}, path], standalone_mode=False)"
READERS = {
    "psephos.read_table": "import psephos; psephos.read_table(path, target='y')",
    "psephos table": _COMMAND.format(["table"]),
    "psephos table --target": _COMMAND.format(["table", "--target", "y"]),
    "pandas": "import pandas; pandas.read_csv(path)",
    "polars": "import polars; polars.read_csv(path)",
    "pyarrow": (
        "from pyarrow import csv; "
        "csv.read_csv(path, read_options=csv.ReadOptions(block_size=1 << 28))"
    ),
}


def reading(code: str, path: Path) -> tuple[float, float]:
    """Return CPU seconds and peak MiB of a process that reads a file."""
    words = [sys.executable, "-W", "ignore", "-c", f"path = {str(path)!r}\n{code}\n{_END}"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    seconds, peak = map(float, done.stderr.split()[-2:])
    return seconds, peak


def main(rows: int = 100, columns: int = 100_000) -> None:
    """Print a table for numbers of six digits, and one for all seventeen."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        for digits in (6, 17):  # written by another process: a new one begins with its peak
            words = [sys.executable, "-c", _WRITE, path, rows, columns, digits]
            subprocess.run(list(map(str, words)), check=True)
            print(f"\n{rows} x {columns}, {digits} digits, {path.stat().st_size >> 20} MiB\n")
            _timing.head("reader", "CPU s", "polars' share", "peak, MiB", "polars' share")
            found = {name: [] for name in READERS}
            for _ in range(3):
                for name, code in READERS.items():
                    found[name].append(reading(code, path))
            least = {name: list(map(min, zip(*runs, strict=True))) for name, runs in found.items()}
            for name, (seconds, peak) in least.items():
                times, more = seconds / least["polars"][0], peak / least["polars"][1]
                _timing.line(name, f"{seconds:.2f}", f"{times:.2f}", f"{peak:.0f}", f"{more:.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
