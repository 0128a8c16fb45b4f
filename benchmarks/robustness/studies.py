"""Kills, full disks and two processes: is anything mixed or lost in the folder of a comparison?

    python benchmarks/robustness/studies.py [N_KILLS] [N_DISKS] [SEED]

Kills hit compare, fit and report in turn at random times; each is run again and compared with an
undisturbed run. A full disk is a limit on the size of files (RLIMIT_FSIZE), drawn anew each time.
Exit code 0 only if every folder ends with the same files and a second process is refused.
"""

import csv
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SAME = ("results.csv", "predictions.csv", "refits.csv", "comparison.json", "cases.npz")
_KINDS = ("compare", "fit", "report")


def command(kind, place, folder):
    table = [str(place / "t.csv"), "--target", "y"]
    models = ["--models", "majority,samba", "--n-jobs", "1", "--no-report"]
    arguments = {
        "compare": [*table, *models, "--out", str(folder)],
        "fit": [*table, "--out", str(folder / "own" / "m.psephos")],
        "report": [str(folder)],
    }[kind]
    return [sys.executable, "-m", "psephos.cli", kind, *arguments]


def started(kind, place, folder, limit=None):
    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    return subprocess.Popen(
        command(kind, place, folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limited if limit else None,
    )


def finished(kind, place, folder):
    process = started(kind, place, folder)
    _, told = process.communicate()
    if process.returncode:
        raise SystemExit(f"{kind} in {folder} ended with {process.returncode}: {told}")


def content(folder):
    files = [folder / n for n in SAME] + sorted((folder / "models").glob("*"))
    return {str(p.relative_to(folder)): p.read_bytes() for p in files}


def main():
    n_kills, n_disks, seed = [*map(int, sys.argv[1:]), *(30, 10, 0)[len(sys.argv) - 1 :]]
    chance, bad = random.Random(seed), 0
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        with (place / "t.csv").open("w", newline="") as file:
            rows = [[chance.gauss(0, 1) for _ in range(4)] for _ in range(60)]
            csv.writer(file).writerows([["a", "b", "c", "d", "y"]])
            csv.writer(file).writerows([*row, "xz"[row[0] > 0]] for row in rows)
        begin = time.monotonic()
        finished("compare", place, place / "whole")
        lasts, expected = time.monotonic() - begin, content(place / "whole")
        for i in range(n_kills):
            kind, folder = _KINDS[i % 3], place / f"k{i}"
            if kind == "report":
                finished("compare", place, folder)
            process = started(kind, place, folder)
            time.sleep(chance.uniform(0, lasts))
            process.kill()
            process.communicate()
            page, model = folder / "report.html", folder / "own" / "m.psephos"
            torn = page.exists() and not page.read_text("utf-8").rstrip().endswith("</html>")
            finished(kind, place, folder)
            good = not torn and (model.exists() if kind == "fit" else content(folder) == expected)
            bad += not good
            print(f"kill {i + 1:2d} {kind:8s} {'same' if good else 'DIFFERENT'}", flush=True)
        for i in range(n_disks):
            folder, limit = place / f"d{i}", chance.randrange(100, 6000)
            process = started("compare", place, folder, limit)
            _, told = process.communicate()
            sentence = process.returncode == 2 and "resumes" in told and "Traceback" not in told
            finished("compare", place, folder)
            good = (sentence or process.returncode == 0) and content(folder) == expected
            bad += not good
            print(f"disk {i + 1:2d} {limit:5d} bytes: {'same' if good else told}", flush=True)
        both = [started("compare", place, place / "two") for _ in range(2)]
        codes = sorted(p.communicate() and p.returncode for p in both)
        finished("compare", place, place / "two")
        good = codes in ([0, 0], [0, 2]) and content(place / "two") == expected
        bad += not good
        print(f"two processes ended with {codes}: {'same' if good else 'DIFFERENT'}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
