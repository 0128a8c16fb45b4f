"""A comparison is killed with SIGKILL at 20 moments and run again: are the files the same?

    python benchmarks/quality/kill_resume.py [N_MOMENTS] [SEED]

Each moment has its own folder. A third of the kills falls at a random time, a third the instant
the journal grows (a line is being written), a third while the final files are being written. After
every second journal kill the last line is cut at a random byte besides, as a power failure may.
Every other resumed run uses two processes. Exit code 0 only if all folders end byte-identical.
"""

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TARGET = Path(__file__).resolve().parents[2] / "tests" / "protocol" / "kill_target.py"
FILES = ("results.csv", "predictions.csv", "refits.csv", "comparison.json")
_PATIENCE = 600.0


def start(folder: Path, n_jobs: int = 1) -> subprocess.Popen[bytes]:
    """Start the comparison and return once its imports are done."""
    command = [sys.executable, str(TARGET), str(folder), str(n_jobs)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ.copy())
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def finish(folder: Path, n_jobs: int = 1) -> dict[str, bytes]:
    """Run the comparison to its end and return its files."""
    process = start(folder, n_jobs)
    process.communicate()
    if process.returncode:
        raise SystemExit(f"the run in {folder} ended with {process.returncode}")
    models = sorted((folder / "models").glob("*.psephos"))
    return {
        str(p.relative_to(folder)): p.read_bytes() for p in [*(folder / f for f in FILES), *models]
    }


def lines(folder: Path) -> int:
    """Return how many whole lines the journal has."""
    journal = folder / "journal.jsonl"
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def wait_for(
    folder: Path, process: subprocess.Popen[bytes], kind: str, moment: float, n: int
) -> None:
    """Return at the moment of the kill."""
    started = time.monotonic()
    while process.poll() is None and time.monotonic() - started < _PATIENCE:
        if kind == "time" and time.monotonic() - started >= moment:
            return
        if kind == "journal" and lines(folder) >= n:
            return
        if kind == "files" and any(folder.glob(".*.*")):  # a draft beside its file
            return
        time.sleep(0.0005)


def cut_last_line(folder: Path, chance: random.Random) -> None:
    """Tear the last line of the journal."""
    journal = folder / "journal.jsonl"
    content = journal.read_bytes()
    begin = content.rstrip(b"\n").rfind(b"\n") + 1
    journal.write_bytes(content[: chance.randrange(begin, len(content))])


def main() -> None:
    """Kill and resume, and print one line a moment."""
    n_moments = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    chance = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    with tempfile.TemporaryDirectory() as place:
        expected = finish(Path(place) / "whole")
        process, started = start(Path(place) / "timed"), time.monotonic()
        process.communicate()
        lasts, whole = time.monotonic() - started, lines(Path(place) / "whole")
        same = 0
        for i in range(n_moments):
            folder, kind = Path(place) / f"killed{i}", ("time", "journal", "files")[i % 3]
            process = start(folder)
            wait_for(folder, process, kind, chance.uniform(0, lasts), chance.randint(1, whole - 1))
            alive = process.poll() is None
            process.kill()
            process.communicate()
            kept, torn = lines(folder), kind == "journal" and i % 2 == 1
            if torn:
                cut_last_line(folder, chance)
            found = finish(folder, n_jobs=1 + i % 2)
            differ = sorted(name for name in expected if found.get(name) != expected[name])
            same += not differ
            how = f"{'killed' if alive else 'had ended'} with {kept}/{whole} lines"
            how += ", last line torn" if torn else ""
            print(
                f"{i + 1:2d} {kind:8s} {how}: {f'DIFFERENT: {differ}' if differ else 'same'}",
                flush=True,
            )
    print(f"{same} of {n_moments} the same")
    sys.exit(0 if same == n_moments else 1)


if __name__ == "__main__":
    main()
