"""Damaged model files: each is refused by a sentence, or answers everything it is asked."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from asking import asked
from damage import damaged_model
from seeds import write_models

from psephos import load
from psephos._errors import ModelFileError

__all__ = ["outcome", "runner"]

_FREE = 200 << 20  # bytes a call may take whatever the file declares


def _declared(path: Path) -> int:
    try:
        with ZipFile(path) as archive:
            return sum(entry.file_size for entry in archive.infolist())
    except Exception:
        return 0


def outcome(path: Path, scratch: Path, known: dict[str, str]) -> tuple[str, str]:
    """Return what came of a file: 'refused', 'answered' or a fault, and where it is.

    Parameters
    ----------
    known : dict
        What the sound model of the same kind says to each question.
    """
    try:
        model = load(path)
    except ModelFileError as error:
        short = len(str(error)) < 2_000 + len(str(path)) and str(error).startswith(str(path))
        str(error).encode()  # a sentence that can be printed
        return ("refused", "") if short else ("a refusal that is no sentence", str(error)[:80])
    except Exception as error:
        return f"load raised {type(error).__name__}: {error}"[:150], "load"
    for name, told in asked(model, scratch).items():
        if told and known.get(name) != told:
            return told[:150], name
    return "answered", ""


def runner(work: Path, seed: int) -> Callable[[int, Any], dict[str, Any]]:
    """Return what runs one case."""
    warnings.simplefilter("ignore")
    sources = write_models(work / "seeds")
    known: dict[Path, dict[str, str]] = {}

    def run(case: int, watch: Any) -> dict[str, Any]:
        source = sources[case % len(sources)]
        scratch, path = work / f"again-{seed}.psephos", work / f"case-{seed}.psephos"
        if source not in known:
            known[source] = asked(load(source), scratch)
        damage = damaged_model(source, path, (seed, case))
        declared = _declared(path)
        with watch() as seen:
            found, where = outcome(path, scratch, known[source])
        if seen.peak > 4 * declared + _FREE and found in ("refused", "answered"):
            found, where = f"{seen.peak >> 20} MiB", "memory"
        if seen.seconds > 15 and found in ("refused", "answered"):
            found, where = "slow", "time"
        return {
            "source": source.stem, "damage": damage, "outcome": found, "where": where,
            "peak": seen.peak, "seconds": round(seen.seconds, 3), "declared": declared,
        }  # fmt: skip

    return run
