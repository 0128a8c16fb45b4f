"""Damaged study folders: `psephos report` makes a page of them, or refuses with a sentence."""

import json
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from commands import command
from damage import damaged_model
from tables import write_tables

from psephos._errors import PsephosError
from psephos.protocol.study.folder import Journal

__all__ = ["damaged_journal", "runner"]

_WORDS = (b"nan", b"inf", b"-1", b"1e400", b"", b"null", b"[]", b"{}", b'"', b",", b"\x00",
          b"\xff\xfe", b"\\ud800", b"a\x1fb", b"9" * 400, b"[" * 400)  # fmt: skip


def _damage(folder: Path, rng: np.random.Generator) -> str:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    path = files[int(rng.integers(len(files)))]
    if path.suffix == ".jsonl":
        path.write_bytes(damaged_journal(path.read_bytes(), rng))
        return path.suffix
    data, draw = path.read_bytes(), rng.random()
    if draw < 0.1:
        path.unlink()
    elif draw < 0.2:
        path.write_bytes(files[int(rng.integers(len(files)))].read_bytes())
    elif path.suffix == ".psephos":
        damaged_model(path, path, (int(rng.integers(2**31)),))
    elif draw < 0.5 or path.suffix == ".npz":
        out = bytearray(data)
        for _ in range(int(rng.integers(1, 6))):
            out[int(rng.integers(len(out)))] ^= 1 << int(rng.integers(8))
        path.write_bytes(out[: int(rng.integers(len(out)))] if rng.random() < 0.2 else out)
    else:
        marks = [i for i, byte in enumerate(data) if byte in b",:\n[{ "] or [0]
        at = marks[int(rng.integers(len(marks)))] + 1
        end = next((m for m in marks if m >= at), len(data))
        path.write_bytes(data[:at] + _WORDS[int(rng.integers(len(_WORDS)))] + data[end:])
    return path.suffix or path.name


def damaged_journal(data: bytes, rng: np.random.Generator) -> bytes:
    """Return a damaged copy of a journal: bits flipped, lines cut, doubled or out of order."""
    draw, lines = rng.random(), data.splitlines(keepends=True)
    if draw < 0.4:
        out = bytearray(data)
        for _ in range(int(rng.integers(1, 6))):
            out[int(rng.integers(len(out)))] ^= 1 << int(rng.integers(8))
        return bytes(out)
    if draw < 0.6:
        return data[: int(rng.integers(len(data)))]
    if draw < 0.8:
        at = int(rng.integers(len(data)))
        return data[:at] + _WORDS[int(rng.integers(len(_WORDS)))] + data[at:]
    return b"".join(lines[int(i)] for i in rng.integers(len(lines), size=len(lines)))


def _resumed(folder: Path) -> tuple[str, str]:
    """Read the journal of a folder as a run that resumes does, and go on in it."""
    try:
        for _ in range(2):
            journal = Journal(folder / "journal.jsonl")
            journal.models()
            journal.add({"key": "another", "model": "cart"})
            journal.close()
    except PsephosError as error:
        return ("refused" if str(error) else "a refusal that is no sentence"), ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:150], "journal"
    return "answered", ""


def runner(work: Path, seed: int) -> Callable[[int, Any], dict[str, Any]]:
    """Return what runs one case."""
    warnings.simplefilter("ignore")
    sound, folder = work / "study", work / f"study-{seed}"
    if not (sound / "comparison.json").exists():
        table = write_tables(work / "tables")[0]
        told = ("--target", "target", "--id", "id", "--models", "cart,adaboost", "--out", sound)
        found, words = command("compare", table, *told, "--n-jobs", "1", "--no-report")
        if found != "answered":
            raise AssertionError(f"a sound study is refused: {found}: {words}")
        about = json.loads((sound / "comparison.json").read_bytes())
        del about["files"], about["checksum"]  # else no damaged file would be read
        whole = json.dumps(about)
        (sound / "comparison.json").write_text(whole, "utf-8")

    def run(case: int, watch: Any) -> dict[str, Any]:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(sound, folder)
        damage = _damage(folder, np.random.default_rng((seed, case)))
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        with watch() as seen:
            found, words = command("report", folder, "--out", work / f"page-{seed}.html")
            if damage == ".jsonl" and found in ("refused", "answered"):
                found, words = _resumed(folder)
        if seen.peak > 4 * size + (200 << 20) and found in ("refused", "answered"):
            found = f"{seen.peak >> 20} MiB"
        return {
            "source": str(case), "damage": damage, "outcome": found, "peak": seen.peak,
            "where": "" if found in ("refused", "answered") else words[-100:], "declared": size,
            "seconds": round(seen.seconds, 3),
        }  # fmt: skip

    return run
