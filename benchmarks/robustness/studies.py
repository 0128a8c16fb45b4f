"""Kills, full disks and two processes: is anything mixed or lost in the folder of a comparison?

    python benchmarks/robustness/studies.py [N_KILLS] [N_DISKS] [SEED]

Compare, fit and report take turns. A kill (SIGKILL, or the SIGINT of Ctrl-C) hits at a random time
while the process runs; one that comes too late is drawn again. A full disk is a limit on the size
of files (RLIMIT_FSIZE) below the largest one the command writes. Each command is then run again and
its files compared with those of an undisturbed run. Exit code 0 only if all are the same, each
limit and each Ctrl-C was told in a sentence, and a second process is refused or waits its turn.
"""

import csv
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SAME = ("results.csv", "predictions.csv", "refits.csv", "comparison.json", "cases.npz")
KINDS = ("compare", "fit", "report")


def command(kind, place, folder, n_jobs=1):
    table = [str(place / "t.csv"), "--target", "y"]
    models = ["--models", "majority,samba", "--n-jobs", str(n_jobs), "--no-report"]
    arguments = {
        "compare": [*table, *models, "--out", str(folder)],
        "fit": [*table, "--out", str(folder / "own" / "m.psephos")],
        "report": [str(folder)],
    }[kind]
    return [sys.executable, "-m", "psephos.cli", kind, *arguments]


def started(kind, place, folder, limit=None, n_jobs=1):
    def prepare():
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell may have it ignored
        if limit:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    return subprocess.Popen(
        command(kind, place, folder, n_jobs),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=prepare,
    )


def finished(kind, place, folder):
    process = started(kind, place, folder)
    _, told = process.communicate()
    if process.returncode:
        raise SystemExit(f"{kind} in {folder} ended with {process.returncode}: {told}")


def content(folder):
    files = [folder / n for n in SAME] + sorted((folder / "models").glob("*"))
    return {str(p.relative_to(folder)): p.read_bytes() for p in files}


def prepared(kind, place, folder):
    """Make what a command needs to start: a report needs a comparison."""
    if kind == "report":
        finished("compare", place, folder)


def sound(kind, folder, whole):
    """Say whether the files a command leaves are whole, and those of an undisturbed run."""
    if kind == "compare":
        return content(folder) == content(whole)
    if kind == "fit":
        path = Path("own", "m.psephos")
        return (folder / path).read_bytes() == (whole / path).read_bytes()
    return content(folder) == content(whole) and whole_page(folder)


def whole_page(folder):
    page = folder / "report.html"
    return not page.exists() or page.read_text("utf-8").rstrip().endswith("</html>")


def left(process):
    """Return the processes of its session that still run after it."""
    time.sleep(0.5)
    own = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (
                os.getsid(int(entry.name)) == process.pid
                and "Z" not in (entry / "stat").read_text().rsplit(")", 1)[1].split()[:1]
            ):
                own.append(int(entry.name))
        except (ProcessLookupError, FileNotFoundError):
            continue
    return own


def killed(kind, place, folder, lasts, chance, interrupt):
    """Run a command and stop it on its way; return when, and what was wrong with its end."""
    while True:
        prepared(kind, place, folder)
        process = started(kind, place, folder, n_jobs=2 if interrupt else 1)
        after = chance.uniform(0.3 if interrupt else 0, lasts)
        time.sleep(after)
        if process.poll() is None:
            break
        process.communicate()
        if folder.exists():
            folder.rename(folder.with_name(folder.name + f"-late{time.monotonic_ns()}"))
    process.send_signal(signal.SIGINT if interrupt else signal.SIGKILL)
    _, told = process.communicate(timeout=60)
    wrong = "" if whole_page(folder) else "a torn page"
    if interrupt and process.returncode and "Traceback" in told:
        wrong = told[-300:]
    if interrupt and left(process):
        wrong = f"processes left: {left(process)}"
    return after, process.returncode, wrong


def kills(place, n, lasts, chance):
    bad = 0
    for i in range(n):
        kind, folder, interrupt = KINDS[i % 3], place / f"k{i}", (i // 3) % 2 == 1
        after, code, wrong = killed(kind, place, folder, lasts[kind], chance, interrupt)
        finished(kind, place, folder)
        wrong = wrong or ("" if sound(kind, folder, place / "whole") else "DIFFERENT")
        bad += bool(wrong)
        how = "SIGINT" if interrupt else "SIGKILL"
        told = f"{how:7s} after {after:4.1f} s (ended with {code}): {wrong or 'same'}"
        print(f"kill {i + 1:2d} {kind:8s} {told}", flush=True)
    return bad


def disks(place, n, largest, chance):
    bad = 0
    for i in range(n):
        kind, folder = KINDS[i % 3], place / f"d{i}"
        prepared(kind, place, folder)
        limit = chance.randrange(100, largest[kind])
        process = started(kind, place, folder, limit)
        _, told = process.communicate()
        sentence = process.returncode == 2 and "Traceback" not in told
        if kind == "compare":
            sentence = sentence and "resumes" in told
        finished(kind, place, folder)
        good = sentence and sound(kind, folder, place / "whole")
        bad += not good
        words = "a sentence, then the same" if good else f"{process.returncode} {told}"
        print(f"disk {i + 1:2d} {kind:8s} {limit:6d} bytes: {words}", flush=True)
    return bad


def main():
    n_kills, n_disks, seed = [*map(int, sys.argv[1:]), *(30, 10, 0)[len(sys.argv) - 1 :]]
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        with (place / "t.csv").open("w", newline="") as file:
            rows = [[chance.gauss(0, 1) for _ in range(4)] for _ in range(60)]
            csv.writer(file).writerows([["a", "b", "c", "d", "y"]])
            csv.writer(file).writerows([*row, "xz"[row[0] > 0]] for row in rows)
        lasts, largest = {}, {}
        for kind in KINDS:
            begin = time.time()
            finished(kind, place, place / "whole")
            lasts[kind] = time.time() - begin
            files = [p for p in (place / "whole").rglob("*") if p.is_file()]
            largest[kind] = max(p.stat().st_size for p in files if p.stat().st_mtime >= begin)
        bad = kills(place, n_kills, lasts, chance) + disks(place, n_disks, largest, chance)
        both = [started("compare", place, place / "two") for _ in range(2)]
        codes = sorted(p.communicate() and p.returncode for p in both)
        finished("compare", place, place / "two")
        good = codes in ([0, 0], [0, 2]) and content(place / "two") == content(place / "whole")
        bad += not good
        print(f"two processes ended with {codes}: {'same' if good else 'DIFFERENT'}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
