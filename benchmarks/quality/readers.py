"""Readers of exported models against the library: 1,000 generated rows of every family.

The scorer runs as a program of its own, under ``python -I -S`` and without an environment: it sees
the standard library alone. The script is that of the page, in Chromium (PSEPHOS_CHROMIUM, or found
on the path). SQL is run by SQLite, ONNX by onnxruntime where that is installed (extra 'onnx').

    python benchmarks/quality/readers.py
"""

import csv
import importlib.util
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from psephos._errors import MissingExtraError, PsephosError
from psephos.scoring import conformance, plain, script
from psephos.scoring.onnx import onnx_model
from psephos.scoring.scorer import scorer
from psephos.scoring.sql import sql

_ROWS = 1000
_FAMILIES = Path(__file__).parents[2] / "tests" / "scoring" / "families.py"


def farthest(found, wanted):
    """Return the greatest difference of rows of numbers, as a share of their size."""
    found, wanted = (
        np.asarray(one, dtype=float).reshape(len(wanted), -1) for one in (found, wanted)
    )
    size = np.maximum(1.0, np.abs(wanted).max(axis=1, keepdims=True))
    return float((np.abs(found - wanted) / size).max())


def by_scorer(model, columns, told):
    """Return the greatest difference of a scorer, and wall and CPU seconds of some starts."""
    text, own = scorer(model), {"__name__": "scorer"}
    exec(compile(text, "scorer.py", "exec"), own)
    reader = own["PlainModel"](plain(model))
    cases = [reader.asked(reader.case(row)) for row in told["rows"]]
    worst = farthest([case.score for case in cases], told["scores"])
    names = model.schema_.words().columns
    with tempfile.TemporaryDirectory() as folder:
        program, table, one = (Path(folder) / n for n in ("scorer.py", "t.csv", "one.csv"))
        program.write_text(text, "utf-8")
        for path, rows in ((table, told["rows"]), (one, told["rows"][:1])):
            cells = [dict(zip(columns, row, strict=True)) for row in rows]
            with path.open("w", newline="", encoding="utf-8") as file:
                lines = [names, *([row.get(name) for name in names] for row in cells)]
                csv.writer(file).writerows(lines)
        said = list(csv.reader(run(program, table).stdout.splitlines()))[1:]
        starts = [started(program, one) for _ in range(5)]
    if told["probabilities"] is None:
        return max(worst, farthest([row[1:] for row in said], told["answers"])), starts
    answers = [[str(v) for v in np.atleast_1d(one)] for one in told["answers"]]
    n = len(answers[0])
    if [row[1 : 1 + n] for row in said] != answers:
        return np.inf, starts
    return max(worst, farthest([row[1 + n :] for row in said], told["probabilities"])), starts


def run(program, table):
    """Return the finished scorer: no environment, no site, no folder of the user."""
    command = [sys.executable, "-I", "-S", str(program), str(table)]
    return subprocess.run(command, env={}, capture_output=True, encoding="utf-8", check=True)


def started(program, table):
    """Return wall and CPU seconds of one answer, from nothing."""
    before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    run(program, table)
    wall, after = time.perf_counter() - wall, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def by_sql(model, columns, told):
    """Return the greatest difference of SQLite's answers."""
    select = sql(model)
    base = sqlite3.connect(":memory:")
    named = [
        '"{}" {}'.format(name.replace('"', '""'), "TEXT" if levels else "REAL")
        for name, levels in columns.items()
    ]
    base.execute(f"CREATE TABLE cases ({', '.join(named)})")
    base.executemany(f"INSERT INTO cases VALUES ({', '.join('?' * len(named))})", told["rows"])
    found = base.execute(select)
    heads, rows = [one[0] for one in found.description], found.fetchall()
    kinds = {"score": "scores", "probability": "probabilities"}
    if told["probabilities"] is not None:
        answers = [row[heads.index("predicted")] for row in rows]
        if answers != told["answers"]:
            return np.inf
    return max(
        farthest([[row[i] for i in places] for row in rows], told[kind])
        for word, kind in kinds.items()
        if (places := [i for i, head in enumerate(heads) if head.startswith(word)])
    )


def by_onnx(model, columns, told):
    """Return the greatest difference of onnxruntime's scores, on rows of single precision."""
    content = onnx_model(model)
    import onnxruntime  # pyright: ignore[reportMissingImports]

    X = np.array(
        [
            [np.nan if v is None else known.index(v) if known else v
             for v, known in zip(row, columns.values(), strict=True)]
            for row in told["rows"]
        ], dtype=np.float32,
    )  # fmt: skip
    vote = model.vote_.select(model.vote_.columns)
    found = onnxruntime.InferenceSession(content).run(None, {"columns": X})
    return farthest(found[0], vote.score(X.astype(np.float64)))


_ASK = """
([plain, rows]) => {
  const model = openModel(plain);
  return rows.map((row) => {
    const { scores, probabilities, label } = model.answer(row);
    return { scores, probabilities, label };
  });
}
"""


def by_script(page, model, told):
    """Return the greatest difference of the page's script."""
    found = page.evaluate(_ASK, [plain(model), told["rows"]])
    worst = farthest([one["scores"] for one in found], told["scores"])
    if told["probabilities"] is None:
        return max(worst, farthest([one["label"] for one in found], told["answers"]))
    if [one["label"] for one in found] != told["answers"]:
        return np.inf
    return max(worst, farthest([one["probabilities"] for one in found], told["probabilities"]))


def chromium(playwright):
    """Return an empty page with the reader, and the list of what goes wrong in it."""
    path = os.environ.get("PSEPHOS_CHROMIUM") or shutil.which("chromium")
    page, errors = playwright.chromium.launch(executable_path=path).new_page(), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text))
    page.on("request", lambda request: errors.append(request.url))
    page.add_script_tag(content=script())
    return page, errors


def cell(ask, *given):
    """Return a difference in words, or why there is none."""
    try:
        return f"{ask(*given):.0e}"
    except (MissingExtraError, ModuleNotFoundError):
        return "not installed"
    except PsephosError:
        return "refused"


def main():
    """Print the table."""
    spec = importlib.util.spec_from_file_location("families", _FAMILIES)
    families = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(families)
    print("| family | scorer | script | SQL | ONNX |\n| --- | --- | --- | --- | --- |")
    times = []
    with sync_playwright() as playwright:
        page, errors = chromium(playwright)
        for name in families.NAMES:
            model = families.fitted(name)
            columns = {c["name"]: c.get("levels") for c in plain(model)["columns"]}
            told = conformance(model, _ROWS, random_state=1)
            worst, starts = by_scorer(model, columns, told)
            times += starts
            cells = [f"{worst:.0e}", f"{by_script(page, model, told):.0e}"]
            cells += [cell(ask, model, columns, told) for ask in (by_sql, by_onnx)]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)
    print(f"\nIn Chromium: {errors or 'no message, no request, no error'}.")
    print(f"\nOne answer of a scorer from nothing, seconds, {len(times)} starts:")
    for what, own in zip(("wall", "CPU"), np.array(times).T, strict=True):
        least, median, most = np.quantile(own, [0, 0.5, 1])
        print(f"{what} {least:.3f} (least), {median:.3f} (median), {most:.3f} (greatest)")


if __name__ == "__main__":
    main()
