"""The folder of a study: its identity, its journal, its lock and its files."""

# pyright: reportMissingTypeStubs=false

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import sklearn

from psephos import __version__
from psephos._errors import PsephosError
from psephos._types import JsonObject
from psephos.files.atomic import remove_drafts, sync_folder, unwritable, write_whole
from psephos.protocol.evaluation.splits import Protocol
from psephos.protocol.tables.table import DataTable

_FORM = "the form of its files"  # a key of identities
SCHEMA = 4  # version of the folder's files; part of identities and of every key
_LOCKED_BYTE = 2**31 - 2  # on Windows a locked byte cannot be read: this one is beyond any line


def key_of(configuration: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a configuration of plain values; their order does not matter."""
    text = json.dumps(configuration, sort_keys=True, separators=(",", ":"), default=repr)
    return hashlib.sha256(text.encode()).hexdigest()


class Journal:
    """A file of finished fits, by key, to which lines are appended. Without a path, in memory.

    A line is flushed to the disk before `add` returns, and ends with its checksum. An incomplete
    line after a crash is removed when the journal is next opened, and its fit is repeated. Lines
    that do not match their checksum are ignored (`n_damaged` counts them).

    The open file is locked by the operating system, which releases the lock when the process ends.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.n_damaged = 0
        self._entries: dict[str, dict[str, Any]] = {}
        self._handle = -1
        if path is None:
            return
        try:
            binary = getattr(os, "O_BINARY", 0)
            self._handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | binary, 0o666)
            _lock(self._handle, path.parent)
            sync_folder(path.parent)
            self._read()
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                raise unwritable(path.parent, error) from error
            raise

    def close(self) -> None:
        """Close the file and release its lock; the entries can still be read."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            with suppress(OSError):
                _unlock(handle)
            os.close(handle)

    def clear(self) -> None:
        """Remove all entries."""
        self._entries.clear()
        self.n_damaged = 0
        if self._handle >= 0:
            os.ftruncate(self._handle, 0)
            os.fsync(self._handle)

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the last entry of a key, or None."""
        return self._entries.get(key)

    def models(self) -> list[str]:
        """Return the models that have entries, in the order of their first entry."""
        return list(dict.fromkeys(entry["model"] for entry in self._entries.values()))

    def add(self, entry: dict[str, Any]) -> None:
        """Append an entry (plain values, with its 'key') and flush it to the disk."""
        # through text and back, so that an entry is the same in this run and after a restart
        text = _words(entry)
        if self.path is not None:
            line = _words(entry | {"checksum": _checksum(text)}).encode() + b"\n"
            end = os.lseek(self._handle, 0, os.SEEK_END)
            try:
                _write_all(self._handle, line)
                os.fsync(self._handle)
            except OSError as error:
                with suppress(OSError):
                    os.ftruncate(self._handle, end)  # remove the incomplete line
                raise unwritable(self.path, error) from error
        self._entries[entry["key"]] = json.loads(text)

    def _read(self) -> None:
        os.lseek(self._handle, 0, os.SEEK_SET)
        with os.fdopen(self._handle, "rb", closefd=False) as file:
            content = file.read()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.ftruncate(self._handle, whole)
            os.fsync(self._handle)
        for line in content[:whole].split(b"\n")[:-1]:
            try:
                entry = json.loads(line)
                stored = entry.pop("checksum")
                if _checksum(_words(entry)) != stored:
                    raise ValueError("the line is not what was written")
                self._entries[entry["key"]] = entry
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                self.n_damaged += 1


def _words(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _write_all(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]


# ------------------------------------------------------------------- the lock
def _lock(handle: int, folder: Path) -> None:
    try:
        if os.name == "nt":
            import msvcrt

            os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError) as error:
        raise PsephosError(
            f"another process is writing a comparison into the folder {str(folder)!r}: wait until "
            "it has ended, or give another folder."
        ) from error
    except OSError:
        pass  # a network disk without locks: README.txt says so


def _unlock(handle: int) -> None:
    if os.name == "nt":
        import msvcrt

        os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined]


STUDY = "study.json"
JOURNAL = "journal.jsonl"
MARK = "comparison.json"  # exists only while all other files belong to it
README = "README.txt"
REPORT = "report.html"
CURVE, PERMUTED = "curve.csv", "permuted.csv"

_RESULTS = (
    "results.csv", "predictions.csv", CURVE, PERMUTED, "labels.csv", "pooled.csv", "refits.csv",
    "bounds.csv", "timings.csv", "used.csv", "environment.json",
)  # fmt: skip
_FILES = (MARK, REPORT, *_RESULTS, "cases.npz", README, JOURNAL, STUDY)
_FOLDERS = ("models", "fits", "folds")

_README_TEXT = """\
This folder holds one study: a comparison of models on one table, made by psephos.

README.txt        this text
study.json        the identity of the study: table, target, groups, settings, versions
journal.jsonl     one line per finished fit; an interrupted run resumes from it, and the running
                  process keeps it locked (where the disk has locks: some network disks do not)
fits/             every model fitted on all rows, by its settings
folds/            the models of the folds on the columns they read, of at most 512 KiB each (larger
                  ones until their columns have been permuted); comparison.json says whose; local
                  models hold the training rows they need
comparison.json   what was compared, in words and settings; there only if the last run was finished
results.csv       one row per model, repeat and fold: the measures. `columns` are positions in the
                  table of comparison.json, from 0: '0..4 7' is the first five and the eighth
predictions.csv   the probabilities of every held-out row; of numbers the prediction
curve.csv         with --curve: the measures of each model on the columns it ranks first, a row per
                  model, repeat, fold and number of columns
permuted.csv      by how much the measure is worse where a column is permuted among the held-out
                  rows of a fold, of the models of the folds
refits.csv        one row per model: what was chosen on all rows
bounds.csv        what can be proved of each model, or why nothing is: a row a bound (of one class a
                  case; of several labels none)
timings.csv       seconds and warnings of every fit
used.csv          what each model used of its budget: draws, failed ones, seconds
environment.json  versions of the packages, and what went wrong
labels.csv        where a case may have several labels: how well each model finds each label
pooled.csv        where the target is a number: each model's figures over all held-out cases
cases.npz         the cases, with the columns that the saved models read
models/           the models of the last run, fitted on all rows
report.html       the report of the last run, if it was requested

comparison.json has the SHA-256 of the models, of cases.npz and of every table but timings.csv and
used.csv; it and environment.json have a checksum of themselves: a report is refused where one of
them was changed later, or a table is lost. The same command again writes it anew.

A run with the same table and settings resumes where the last one stopped; it may name more models.
Results, models and report are those of the models that the last run named; the fits of others stay
in the journal, and are used again without a new fit when they are named. Another table, target,
grouping, protocol, seed or version is another study: it needs another folder, or --replace, which
deletes what is listed here, and all that lies in these folders. Names that end in .psephos-part are
files that were being written when a process was killed; the next run removes them.
"""


def sha256_of(content: Path | bytes) -> str | None:
    """Return the SHA-256 of bytes or of a file; None if the file does not exist."""
    if isinstance(content, Path):
        if not content.is_file():
            return None
        content = content.read_bytes()
    return hashlib.sha256(content).hexdigest()


def changed_file(folder: Path, digests: Mapping[str, str]) -> str | None:
    """Return the name of a file that was changed, or of a table that is lost, or None."""
    for name, digest in digests.items():
        found = sha256_of(folder / name)
        if found != digest and (found is not None or name.endswith(".csv")):
            return name
    return None


def sealed(content: Mapping[str, Any]) -> JsonObject:
    """Return plain values with a checksum of them, as a JSON file holds them."""
    return {**content, "checksum": key_of(json.loads(json.dumps(content)))}


def damaged(path: Path, why: object, again: str = "run the comparison again") -> PsephosError:
    """Return the error of a damaged file."""
    return PsephosError(f"{str(path)!r} is damaged ({why}): {again}.")


def read_sealed(path: Path, again: str = "run the comparison again") -> dict[str, Any]:
    """Return the object of a JSON file; raise PsephosError if it was changed since it was written.

    Files of earlier versions have no checksum and are accepted; errors in them are raised later, by
    `unsealed`.
    """
    try:
        content: dict[str, Any] = dict(json.loads(path.read_bytes()).items())
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise damaged(path, str(error)[:200], again) from error
    rest = {name: value for name, value in content.items() if name != "checksum"}
    if content.get("checksum", "") not in ("", key_of(rest)):
        raise PsephosError(
            f"{str(path)!r} does not match its checksum: it was changed after it was written. "
            f"{again[0].upper()}{again[1:]}, which rewrites it."
        )
    return content


@contextmanager
def unsealed(
    path: Path, content: Mapping[str, Any], again: str = "run the comparison again"
) -> Generator[None]:
    """Turn errors in the use of content without a checksum into an error that names its file."""
    try:
        yield
    except PsephosError:
        raise
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        if "checksum" in content:
            raise
        raise damaged(path, f"{type(error).__name__}: {error}", again) from error


def identity_of(table: DataTable, protocol: Protocol, seed: int, copies: str) -> dict[str, Any]:
    """Return the identity of a study as plain values: runs with equal ones are the same study."""
    ids = hashlib.sha256("\x1f".join(table.row_names()).encode("utf-8", "surrogatepass"))
    return {
        "table": table.fingerprint(),
        "ids": ids.hexdigest(),
        "cells": table.cells.data(),
        "n_rows": table.n_rows,
        "n_columns": table.n_columns,
        "target": table.target_name,
        "groups": table.group_name if table.groups is not None else None,
        "copies": copies,
        "protocol": protocol.as_dict(),
        "random_state": seed,
        "versions": {"psephos": __version__, "scikit-learn": sklearn.__version__, _FORM: SCHEMA},
        **({"classes": dict(table.joined)} if table.joined else {}),
    }


class Study:
    """A folder of one study, locked for this process; without a folder, all is in memory.

    `identity` is the result of `identity_of`. With `replace`, another study in the folder is
    deleted. It is an error if other files have the names of a study's, or if another process
    writes in the folder.
    """

    def __init__(self, folder: Path | None, identity: Mapping[str, Any], replace: bool) -> None:
        self.folder = folder
        if folder is None:
            self.journal = Journal(None)
            return
        try:
            _refuse_strangers(folder)
            folder.mkdir(parents=True, exist_ok=True)
            self.journal = Journal(folder / JOURNAL)
        except OSError as error:
            raise unwritable(folder, error) from error
        try:
            self._claim(folder, identity, replace)
        except OSError as error:
            self.close()
            raise unwritable(folder, error) from error
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Study":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the lock of the folder."""
        self.journal.close()

    def _claim(self, folder: Path, identity: Mapping[str, Any], replace: bool) -> None:
        """Make it the folder of this study, or raise PsephosError; the folder is locked."""
        other = _identity(folder)
        if other is None:
            _refuse_strangers(folder)
        if other != json.loads(json.dumps(identity)):
            if other is not None and not replace:
                raise PsephosError(
                    f"the folder {str(folder)!r} holds another study: "
                    f"{_difference(other, identity)}. Give another folder with --out, or --replace "
                    "(in Python replace=True) to delete what is there."
                )
            _empty(folder)
            self.journal.clear()
            # the digest distinguishes a damaged identity from another one
            content = {"study": identity, "digest": key_of(identity)}
            write_whole(folder / STUDY, (json.dumps(content, indent=1) + "\n").encode())
        for place in (folder, *(folder / name for name in _FOLDERS)):
            remove_drafts(place, but=REPORT)
        write_whole(folder / README, _README_TEXT.encode())

    def publish(self, files: Mapping[str, bytes], models: Mapping[str, bytes]) -> None:
        """Write the files of a finished run, given by name, without mixing files of two runs.

        Files of models that the run does not have are removed, and a curve that was not requested.
        comparison.json is removed first and written last: a folder without it is not finished.
        Nothing is written if all files exist already.
        """
        folder = self.folder
        assert folder is not None, "a study in memory has no files"
        place = folder / "models"
        wanted = {folder / name: data for name, data in files.items()}
        wanted |= {place / name: data for name, data in models.items()}
        own = {place / f"{name}.psephos" for name in self.journal.models()}
        own |= {folder / CURVE, folder / PERMUTED}  # a run without one removes it
        stale = [path for path in sorted(own - wanted.keys()) if path.is_file()]
        changed = [
            path for path, data in wanted.items() if not path.is_file() or path.read_bytes() != data
        ]
        if not changed and not stale:
            return
        for path in changed:
            if path.is_dir():  # an error before the present results are removed
                raise unwritable(path, IsADirectoryError(errno.EISDIR, ""))
        self.withdraw()
        for path in stale:
            path.unlink()
        for path in changed:
            if path.name != MARK:
                write_whole(path, wanted[path])
        write_whole(folder / MARK, files[MARK])

    def withdraw(self) -> None:
        """Remove comparison.json and the report, before the results in the folder change."""
        assert self.folder is not None, "a study in memory has no files"
        for name in (MARK, REPORT):
            (self.folder / name).unlink(missing_ok=True)
        sync_folder(self.folder)


def _identity(folder: Path) -> JsonObject | None:
    """Return the identity of the study in a folder; None without a study."""
    path = folder / STUDY
    if not path.exists():
        return None
    try:
        content = json.loads(path.read_bytes())
        if content["digest"] != key_of(content["study"]):
            raise ValueError("it does not match its digest")
        return content["study"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return {"damaged": True}


def _refuse_strangers(folder: Path) -> None:
    """Raise PsephosError if a folder without a study has files with names that a study writes."""
    if not folder.is_dir() or (folder / STUDY).exists():
        return
    there = [n for n in (*_FILES, *_FOLDERS) if (folder / n).exists() and not _unused(folder / n)]
    if not there:
        return
    raise PsephosError(
        f"the folder {str(folder)!r} has {there[0]!r}, which is not of a comparison: give another "
        "folder with --out, so that nothing is overwritten."
    )


def _unused(path: Path) -> bool:
    """Return whether this is the empty journal of a run that was stopped at once."""
    return path.name == JOURNAL and path.is_file() and path.stat().st_size == 0


def _empty(folder: Path) -> None:
    """Remove all files of a study but its journal and identity; comparison.json first."""
    for name in _FILES:
        if name not in (JOURNAL, STUDY):
            (folder / name).unlink(missing_ok=True)
    for name in _FOLDERS:
        if (folder / name).is_dir():
            shutil.rmtree(folder / name)
    sync_folder(folder)


def _difference(there: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """Return the differences of two studies in words."""
    if there.get("damaged"):
        return f"its {STUDY} is damaged"
    differences: list[str] = []
    if there.get("target") != here["target"]:
        differences.append(_apart("the target is", there.get("target"), here["target"]))
    if there.get("classes") != json.loads(json.dumps(here.get("classes"))):
        differences.append("classes are joined differently (--classes)")
    if any(there.get(name) != here[name] for name in ("n_rows", "n_columns")):
        differences.append(
            f"the table has {there.get('n_rows')} rows and {there.get('n_columns')} columns there, "
            f"{here['n_rows']} and {here['n_columns']} here"
        )
    elif there.get("table") != here["table"]:
        differences.append("values, labels, column names or groups of the table differ")
    if there.get("ids") != here["ids"]:
        differences.append("the names of the cases, or their lines in the file, differ")
    if there.get("cells") != here["cells"]:
        differences.append("the words for missing values or the marks of numbers differ")
    if there.get("groups") != here["groups"]:
        differences.append(_apart("the groups are", there.get("groups"), here["groups"]))
    with suppress(AttributeError, TypeError):
        differences += _other_values(there, here)
    return "; ".join(differences) or "its identity has another form"


def _apart(what: str, before: object, now: object) -> str:
    return f"{what} {before!r} there and {now!r} here"


def _other_values(there: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    differences: list[str] = []
    before, now = there.get("protocol", {}), here["protocol"]
    if before.get("name") != now["name"]:
        differences.append(_apart("the protocol is", before.get("name"), now["name"]))
    else:
        names = [name for name in {**now, **before} if before.get(name) != now.get(name)]
        words = [(f"{n} is", before.get(n, "as usual"), now.get(n, "as usual")) for n in names]
        differences += [_apart(*each) for each in words]
    for name, words in (("random_state", "the seed"), ("copies", "the treatment of copied rows")):
        if there.get(name) != here[name]:
            differences.append(_apart(f"{words} is", there.get(name), here[name]))
    for name, version in here["versions"].items():
        known = there.get("versions", {}).get(name, "another")
        if known != version:
            form = "another version of psephos wrote its files, which this one cannot resume"
            other = f"{name} was {known} there and is {version} here"
            differences.append(form if name == _FORM else other)
    return differences
