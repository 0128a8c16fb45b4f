"""Trees on more rows than the memory holds: is the limit kept, and is the disk kept busy?

    python benchmarks/speed/bench_out_of_core.py [--gigabytes 4.4] [--limit-mb 1024] [--columns 28]
        [--rounds 3] [--format npy|parquet] [--folder DIR] [--jobs 1] [--no-memory-run]

Rows of float32 are generated on the disk (a label in the last column: a sum of products of a few
columns and noise). A child process, in a memory cgroup of its own with the limit given, fits
NewtonBoostingClassifier(tree_method="hist") by blocks. The cgroup counts what the process holds and
the pages of files it has read or written. Where no cgroup can be made the peak of the process's own
memory is printed instead, and said to be that.

The disk's own rate is that of plain reads of the same file, 8 MB at a time; pages of the file are
dropped from memory before each. At the end the same fit is tried in memory within the same limit.
"""

import _timing  # noqa: I001  # one thread

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

CHUNK = 1 << 16  # rows generated at once
PART = 16  # chunks of a parquet part
PASSES = ("summaries", "codes", "gradients", "start", "histograms", "leaves", "answer")


# ------------------------------------------------------------------- rows
def chunk(seed, columns, rows=CHUNK):
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((rows, columns + 1), dtype=np.float32)
    score = table[:, 0] * table[:, 1] + table[:, 2] - np.abs(table[:, 3]) + 0.8
    table[:, columns] = score + table[:, columns] > 0
    return table


def generate(args, folder):
    """Write the rows; return what holds them and their number."""
    n_chunks = max(1, round(args.gigabytes * 1e9 / (4 * (args.columns + 1) * CHUNK)))
    if args.format == "npy":
        path, shape = folder / "rows.npy", (n_chunks * CHUNK, args.columns + 1)
        with path.open("wb") as file:
            header = {"descr": "<f4", "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, header)
            for i in range(n_chunks):
                chunk(i, args.columns).tofile(file)
        return path, n_chunks * CHUNK
    import pyarrow as pa
    from pyarrow import parquet

    path = folder / "parts"
    path.mkdir()
    names = [f"x{j}" for j in range(args.columns)] + ["label"]
    for part in range(0, n_chunks, PART):
        numbers = range(part, min(part + PART, n_chunks))
        table = np.concatenate([chunk(i, args.columns) for i in numbers]).T
        columns = [pa.array(column) for column in table]
        whole = pa.table(columns, names=names)
        parquet.write_table(whole, path / f"part-{part:06d}.parquet", row_group_size=CHUNK)
    return path, n_chunks * CHUNK


def files_of(path):
    return [path] if path.is_file() else sorted(path.iterdir())


def forget(path):
    """Drop a file's pages from memory."""
    for file in files_of(path):
        with file.open("rb") as handle:
            os.fsync(handle.fileno())
            os.posix_fadvise(handle.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def disk_rate(path):
    """Return GB/s of plain reads."""
    forget(path)
    buffer, size, start = bytearray(1 << 23), 0, time.perf_counter()
    for file in files_of(path):
        with file.open("rb", buffering=0) as handle:
            while got := handle.readinto(buffer):
                size += got
    return size / (time.perf_counter() - start) / 1e9


# ------------------------------------------------------------------- a limit
@contextlib.contextmanager
def cgroup(limit):
    """Yield a folder of a memory cgroup with this limit in bytes, or None if none can be made."""
    root = Path("/sys/fs/cgroup")
    old = (root / "memory" / "memory.limit_in_bytes").exists()
    place = (root / "memory" if old else root) / f"bench-{os.getpid()}"
    try:
        place.mkdir()
        name = "memory.limit_in_bytes" if old else "memory.max"
        (place / name).write_text(str(limit))
    except OSError:
        with contextlib.suppress(OSError):
            place.rmdir()
        yield None
        return
    try:
        yield place
    finally:
        for _ in range(50):
            with contextlib.suppress(OSError):
                place.rmdir()
                break
            time.sleep(0.1)


def peak_of(place):
    """Return the most bytes that the cgroup has counted."""
    for name in ("memory.max_usage_in_bytes", "memory.peak"):
        if (place / name).exists():
            return int((place / name).read_text())
    return 0


def child(work, args, path, place):
    """Run this file's `work` in a process of the cgroup; return what it printed, or None."""
    enter = None if place is None else lambda: (place / "cgroup.procs").write_text(str(os.getpid()))
    options = [f"--{k.replace('_', '-')}={v}" for k, v in vars(args).items() if k in OPTIONS]
    command = [sys.executable, __file__, f"--{work}={path}", *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, preexec_fn=enter, check=False)
    return json.loads(done.stdout) if not done.returncode else None


# ------------------------------------------------------------------- in the child
def by_blocks(args):
    from psephos import NewtonBoostingClassifier
    from psephos.models.boosting import out_of_core
    from psephos.trees.out_of_core.grow import DiskRows
    from psephos.trees.out_of_core.rows import ArrayRows, ParquetRows

    spent = {}

    def watch(owner, name, label=None):
        inner = getattr(owner, name)

        def outer(*given):
            wall, cpu = time.perf_counter(), time.process_time()
            result = inner(*given)
            took = spent.setdefault(label or name, [0, 0.0, 0.0])
            took[0] += 1
            took[1] += time.perf_counter() - wall
            took[2] += time.process_time() - cpu
            return result

        setattr(owner, name, outer)

    path = Path(args.fit)
    source = ArrayRows(path, args.columns) if path.is_file() else ParquetRows(path, "label")
    warm = chunk(0, args.columns, 2000)
    model = NewtonBoostingClassifier("hist", n_estimators=args.rounds, n_jobs=args.jobs)
    out_of_core.fit_blocks(model, ArrayRows(warm, args.columns))  # compiles
    watch(out_of_core, "_seen", "summaries")
    watch(DiskRows, "append", "codes")
    for name in PASSES[2:]:
        watch(DiskRows, name)
    wall, cpu = time.perf_counter(), time.process_time()
    out_of_core.fit_blocks(model, source, scratch=path.parent)
    took = time.perf_counter() - wall, time.process_time() - cpu
    fresh = chunk(10**6, args.columns)
    values = fresh[:, :-1]
    if source.names:
        import pandas as pd

        values = pd.DataFrame(values, columns=source.names)
    own = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    accuracy = float((model.predict(values) == fresh[:, -1]).mean())
    print(json.dumps({"took": took, "spent": spent, "peak": own, "accuracy": accuracy}))


def in_memory(args):
    from psephos import NewtonBoostingClassifier

    rows = np.load(args.load) if Path(args.load).is_file() else None
    if rows is None:
        import pandas as pd

        rows = pd.read_parquet(args.load).to_numpy()
    model = NewtonBoostingClassifier("hist", n_estimators=1)
    model.fit(rows[:, :-1], rows[:, -1])
    print(json.dumps({}))


# ------------------------------------------------------------------- the table
def report(args, rows, found, rate, size):
    """Print the passes: what each read of the source or of the scratch folder, and how fast."""
    p = args.columns
    read = {
        "summaries": size, "codes": size, "gradients": 12 * rows, "start": 16 * rows,
        "histograms": (p + 12) * rows, "leaves": (p + 20) * rows, "answer": 8 * rows,
    }  # fmt: skip
    _timing.head("pass", "times", "GB read each", "s each", "CPU s each", "GB/s", "of the disk's")
    for name in PASSES:
        times, wall, cpu = found["spent"][name]
        times = 1 if name == "codes" else times  # one for each block
        speed = read[name] * times / wall / 1e9
        _timing.line(
            name, str(times), f"{read[name] / 1e9:.2f}", f"{wall / times:.2f}",
            f"{cpu / times:.2f}", f"{speed:.2f}", f"{speed / rate:.0%}",
        )  # fmt: skip


OPTIONS = {
    "gigabytes": 4.4, "limit_mb": 1024, "columns": 28, "rounds": 3, "format": "npy", "jobs": 1,
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in OPTIONS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    for name in ("--folder", "--fit", "--load"):
        parser.add_argument(name)
    parser.add_argument("--no-memory-run", action="store_true")
    args = parser.parse_args()
    if args.fit or args.load:
        return by_blocks(args) if args.fit else in_memory(args)
    limit = args.limit_mb << 20
    if args.folder:
        Path(args.folder).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        path, rows = generate(args, Path(folder))
        size = sum(file.stat().st_size for file in files_of(path))
        rate = disk_rate(path)
        forget(path)
        with cgroup(limit) as place:
            found = child("fit", args, path, place)
            kept = None if place is None else peak_of(place)
        if found is None:
            print("the fit by blocks did not end: it was killed, or raised (see above)")
            return 1
        print(f"{rows:,} rows of {args.columns} columns, {size / 1e9:.1f} GB of {args.format};")
        print(f"the limit is {limit / 1e9:.2f} GB: {size / limit:.1f} times less.")
        own = f"most of the process itself {found['peak'] / 1e9:.2f} GB (pages of files not all in)"
        print(own if kept is None else f"counted at most {kept / 1e9:.2f} GB; {own}.")
        if kept is None:
            print("No cgroup could be made here: NOTHING WAS LIMITED.")
        wall, cpu = found["took"]
        print(f"{args.rounds} rounds in {wall:.0f} s ({cpu:.0f} s CPU); the disk reads {rate:.2f}")
        print(f"GB/s; {found['accuracy']:.3f} of {CHUNK:,} fresh rows are told rightly.\n")
        report(args, rows, found, rate, size)
        if not args.no_memory_run and kept is not None:
            with cgroup(limit) as place:
                ended = child("load", args, path, place) is not None
            print(f"\nIn memory, within the same limit: {'it fitted' if ended else 'killed'}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
