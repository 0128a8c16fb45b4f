"""Damaged tables: read by `read_table`, `psephos fit`, `psephos predict` and a fitted model."""

import gzip
import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
from commands import command

from psephos._errors import PsephosError
from psephos.protocol import read_table

__all__ = ["damaged_table", "outcome", "runner", "write_tables"]

_CELLS = (
    "", " ", "NA", "nan", "?", ".", "-", "inf", "-inf", "1e400", "1e-400", "1,5", "1.000,5",
    "5 mg", "<0.1", "12%", "x", "=cmd|' /C calc'!A0", "a\x1fb", "a\x00b", '"', '""', "'", "é" * 50,
    "\ufeff",
    "1" * 400, "0x10", "1_000", "١", "True", "2020-01-01", "a\nb", "a\rb", "nul\x00", "9" * 19,

    "-0",
    "\ud800", "1e5000", "\u2028", "++1", "1e", "NaN ", "None", "null",
)  # fmt: skip
_TEXTS = ("", "\n", "a", "a,b", "a,b\n", "\x00" * 50, '"' * 99, "target\n", "target,x\n1,2\n",
          "\ufefftarget,x\n", "," * 5000 + "\n" + "," * 5000, "target\t" * 9 + "\n")  # fmt: skip


def write_tables(folder: Path) -> list[Path]:
    """Write the sound tables and return them; 'target' is the column of classes in all."""
    folder.mkdir(parents=True, exist_ok=True)
    rng, paths = np.random.default_rng(0), []
    y = np.array(["well", "ill"])[np.arange(24) % 2]
    X = rng.standard_normal((24, 5)) + 2 * (np.arange(24) % 2)[:, None]
    header = ["id", "target", "batch", "site", *(f"k__B|p__x{j}" for j in range(5))]
    rows = [header]
    for i in range(24):
        numbers = ["" if (i + j) % 9 == 5 else repr(v) for j, v in enumerate(X[i].tolist())]
        rows.append([f"case {i}", str(y[i]), f"b{i % 6}", ["skin", "lung", "é"][i % 3], *numbers])
    for name, mark in (("comma.csv", ","), ("tab.tsv", "\t"), ("semicolon.csv", ";")):
        text = "".join(mark.join(row) + "\n" for row in rows)
        (folder / name).write_text(text, encoding="utf-8")
        paths.append(folder / name)
    (folder / "packed.csv.gz").write_bytes(gzip.compress(paths[0].read_bytes(), mtime=0))
    np.savez(folder / "plain.npz", X=X, target=y, id=np.arange(24), batch=np.arange(24) % 6)
    names = np.array([f"k__B|p__x{j}" for j in range(5)])
    codes = {"target": np.arange(24) % 2, "classes": np.array(["ill", "well"])}
    np.savez_compressed(folder / "named.npz", X=X, **codes, feature_names=names)
    return [*paths, folder / "packed.csv.gz", folder / "plain.npz", folder / "named.npz"]


def _pick(rng: np.random.Generator, options: Any) -> Any:
    return options[int(rng.integers(len(options)))]


def _flipped(rng: np.random.Generator, data: bytes) -> bytes:
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 6))):
        if out:
            out[int(rng.integers(len(out)))] ^= 1 << int(rng.integers(8))
    return bytes(out[: int(rng.integers(len(out) + 1))] if rng.random() < 0.2 else out)


def _damaged_text(rng: np.random.Generator, data: bytes, mark: str) -> bytes:
    rows = [line.split(mark) for line in data.decode().split("\n")]
    for _ in range(int(rng.integers(1, 4))):
        i, draw = int(rng.integers(len(rows))) if rng.random() < 0.8 else 0, rng.random()
        if not rows[i]:  # its last cell is gone
            rows[i] = [""]
        j = int(rng.integers(len(rows[i])))
        if draw < 0.5:
            rows[i][j] = _pick(rng, _CELLS)
        elif draw < 0.6:
            k = int(rng.integers(max(1, len(rows[0]))))
            for row in rows[1:]:
                if k < len(row):
                    row[k] = _pick(rng, _CELLS) if rng.random() < 0.3 else row[0]
        elif draw < 0.65:
            cell = _pick(rng, _CELLS)
            rows = [rows[0], *([*row[:j], cell, *row[j + 1 :]] for row in rows[1:])]
        elif draw < 0.75:
            del rows[i][j]
        elif draw < 0.85:
            rows[i].insert(j, rows[i][j])
        elif draw < 0.95 and len(rows) > 1:
            rows.insert(i, list(_pick(rng, rows)))
        else:
            rows = rows[: max(1, i)]
    text = "\n".join(mark.join(row) for row in rows)
    encoding = _pick(rng, ("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1", "utf-32"))
    errors = "surrogatepass" if encoding != "latin-1" and rng.random() < 0.1 else "replace"
    return text.encode(encoding, errors)


def _damaged_npz(rng: np.random.Generator, source: Path) -> bytes:
    with np.load(source) as archive:
        arrays = dict(archive)
    name = _pick(rng, list(arrays))
    changes = (
        lambda a: a[:-1], lambda a: a[:0], lambda a: a[0], lambda a: a[0, ...].sum(), lambda a: a.T,
        lambda a: a[..., None], lambda a: np.concatenate([a, a]), lambda a: a.astype(str),
        lambda a: a.astype("S"), lambda a: a.astype(complex), lambda a: a.astype(object),
        lambda a: np.array("x"), lambda a: np.array(3), lambda a: a.astype("<M8[s]"),
        lambda a: a.astype(bool), lambda a: a * np.nan, lambda a: a * np.inf, lambda a: a.ravel(),
        lambda a: np.full(a.shape, "a\x1fb"), lambda a: np.full(a.shape, "\ud800"),
        lambda a: np.zeros(a.shape, dtype=[("x", "<i8")]), lambda a: np.asfortranarray(a),
        lambda a: np.full(a.shape, 2**63, dtype=np.uint64), lambda a: a.astype(np.float16),
        lambda a: np.full(a.shape, 1e19), lambda a: np.full(a.shape, -(2**62)), lambda a: -a,
    )  # fmt: skip
    try:
        arrays[name] = _pick(rng, changes)(arrays[name])
    except (TypeError, ValueError, IndexError):
        del arrays[name]
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    if rng.random() < 0.2:  # an entry of an archive that is no array
        with ZipFile(buffer, "a", ZIP_DEFLATED) as archive:
            archive.writestr(_pick(rng, ("X.npy", "y.npy", "../x.npy", "groups", "target.npy")),
                             _pick(rng, (b"", bytes(9_999_999),
                              b"\x93NUMPY", b"x" * 99)))  # fmt: skip
    return buffer.getvalue()


def damaged_table(source: Path, folder: Path, seed: tuple[int, ...]) -> tuple[Path, str]:
    """Write a damaged copy of a table; return it and the kind of damage."""
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        path, draw, data = folder / source.name, rng.random(), source.read_bytes()
        if draw < 0.05:
            path = folder / f"other{_pick(rng, ('.csv', '.npz', '.csv.gz', '.tsv'))}"
            path.write_bytes(_pick(rng, (data, _pick(rng, _TEXTS).encode("utf-8", "replace"))))
            return path, "kind"
        if draw < 0.3:
            path.write_bytes(_flipped(rng, data))
            return path, "bytes"
        if source.suffix == ".npz":
            path.write_bytes(_damaged_npz(rng, source))
            return path, "arrays"
        packed = source.suffix == ".gz"
        mark = {"tab.tsv": "\t", "semicolon.csv": ";"}.get(source.name, ",")
        text = _damaged_text(rng, gzip.decompress(data) if packed else data, mark)
        path.write_bytes(gzip.compress(text, mtime=0) if packed else text)
        return path, "cells"


def outcome(path: Path, folder: Path, model: Path, told: tuple[str, ...]) -> tuple[str, str]:
    """Return what came of a table, and where: 'answered', 'refused' or a fault."""
    roles: Any = dict(zip(("target", "id", "group"), told, strict=False))
    try:
        data = read_table(path, **roles)
        data.fingerprint()  # as compare does before its first fit
        read = "answered"
    except PsephosError as error:
        str(error).encode()
        if not str(error) or len(str(error)) > 2_000:
            return "a refusal that is no sentence", "read_table"
        read = "refused"
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:150], "read_table"
    options = [word for pair in zip(("--target", "--id", "--group"), told, strict=False)
               for word in pair]  # fmt: skip
    fitted = folder / "fitted.psephos"
    fitted.unlink(missing_ok=True)
    answers = folder / "answers.csv"
    calls: list[tuple[Any, ...]] = [("predict", model, path, "--out", answers)]
    if read == "answered":
        calls.append(("fit", path, *options, "--model", "cart", "--out", fitted))
        calls.append(("predict", fitted, path, "--out", answers))
    for call in calls:
        if call[1].suffix == ".psephos" and not call[1].exists():
            continue
        answers.unlink(missing_ok=True)
        found, words = command(*call)
        if found not in ("answered", "refused"):
            return found, words[-100:]
        if found == "answered" and call[0] == "predict" and ",nan" in answers.read_text("utf-8"):
            return "an answer that is not a number", "predict"
    return read, ""


def runner(work: Path, seed: int) -> Callable[[int, Any], dict[str, Any]]:
    """Return what runs one case."""
    warnings.simplefilter("ignore")
    sources, folder = write_tables(work / "tables"), work / f"table-{seed}"
    folder.mkdir(exist_ok=True)
    models: dict[Path, Path] = {}
    for source in sources:
        models[source] = folder / f"{source.name}.psephos"
        drop = () if source.suffix == ".npz" else ("--id", "id", "--group", "batch")
        told = ("fit", source, "--target", "target", *drop, "--model", "cart")
        found, words = command(*told, "--out", models[source])
        if found != "answered":
            raise AssertionError(f"a sound table is refused: {found}: {words}")

    def run(case: int, watch: Any) -> dict[str, Any]:
        source = sources[case % len(sources)]
        path, damage = damaged_table(source, folder, (seed, case))
        told = ("target",) if source.suffix == ".npz" else ("target", "id", "batch")
        size = path.stat().st_size
        with watch() as seen:
            found, where = outcome(path, folder, models[source], told[: 1 + case % 3])
        if seen.peak > 20 * size + (200 << 20) and found in ("refused", "answered"):
            found, where = f"{seen.peak >> 20} MiB", "memory"
        return {
            "source": source.name, "damage": damage, "outcome": found, "where": where,
            "peak": seen.peak, "seconds": round(seen.seconds, 3), "declared": size,
        }  # fmt: skip

    return run
