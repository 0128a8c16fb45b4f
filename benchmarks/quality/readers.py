"""Readers of models against the library: 1,000 hostile rows of every family.

Generated rows lie at thresholds and 1 ulp beside them. Every second one is given an extreme number
or an unknown category, and a missing value where the model takes one. A family is a setting of
tests/small_settings.py, or one of tests/scoring/families.py.

The command reads a model file and a csv file. The scorer runs as a program of its own, under
``python -I -S`` and without an environment: it sees the standard library alone. The script is that
of the page, in Chromium (PSEPHOS_CHROMIUM, or found on the path). SQL is run by SQLite and DuckDB.
ONNX, by onnxruntime, has rows in single precision, whose numbers are at most 1e30.

    python benchmarks/quality/readers.py              # the table; 1 if a reader differs
    python benchmarks/quality/readers.py 0 40         # families 0 to 39 of it
    python benchmarks/quality/readers.py cart bagging # those whose name contains a word
    python benchmarks/quality/readers.py numbers      # regressors on real tables (PSEPHOS_DATA)

The last has 1,000 rows of the table itself, drawn with replacement: one cell in ten is emptied (a
category is one that the model does not know), one in twenty is far out of its range. Every
difference is from `predict`, ONNX's too; rows with a value that single precision rounds to a
threshold are counted apart for ONNX.
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
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from click.testing import CliRunner
from playwright.sync_api import sync_playwright
from sklearn.base import clone, is_regressor

from psephos import (
    AdaBoostRegressor,
    CARTRegressor,
    GradientBoostingRegressor,
    NewtonBoostingRegressor,
    RandomForestRegressor,
    RankRidgeRegressor,
    VotingRegressor,
    save,
)
from psephos._errors import MissingExtraError, PsephosError
from psephos.cli import main as command
from psephos.files.cells import FARTHEST
from psephos.scoring import plain, script
from psephos.scoring.onnx import onnx_model
from psephos.scoring.scorer import scorer
from psephos.scoring.sql import sql
from psephos.scoring.vectors import drawn_rows
from psephos.testing import small_table

_ROWS = 1000
_TESTS = Path(__file__).parents[2] / "tests"
sys.path.append(str(_TESTS))  # of which families.py imports the settings
_FAMILIES = _TESTS / "scoring" / "families.py"
_ODD = [1e150, -1e150, 5e-324, -5e-324, 0.0, -0.0, 1e15, None]
_FAR, _CLOSE, _SINGLE, _TIE = 1e9, 1e-11, 1e-4, 1e-5
#: Settings that databases and ONNX are to read, of two and of three classes.
_OF_BOTH = [
    "column-budget",
    "bagging",
    "adaboost-trees",
    "adaboost-c45",
    "c45",
    "c45-rules",
    "cart",
]


class Wanted(NamedTuple):
    """A model, rows of the columns that it reads, and what the library answers."""

    model: Any
    vote: Any
    names: list[str]
    levels: list[Any]
    X: Any
    rows: list[list[Any]]
    scores: Any
    answers: Any
    probabilities: Any


def wanted(model):
    """Return hostile rows and their answers; without the values that the model refuses."""
    columns, vote = plain(model)["columns"], model.vote_
    vote = vote.select(vote.columns if len(vote.columns) else np.zeros(1, dtype=np.intp))
    levels = [column.get("levels") for column in columns]
    drawn = drawn_rows(vote, {j: own for j, own in enumerate(levels) if own}, _ROWS, 1)
    q = drawn.shape[1]
    X, rng = drawn.copy(), np.random.default_rng(2)
    for i in range(_ROWS):
        j, value = (i // 2) % max(q, 1), _ODD[(i // 2) % len(_ODD)]
        if q and i % 2 and not levels[j]:  # 1 ulp aside
            X[i, j] = np.nextafter(X[i, j], rng.choice([-FARTHEST, FARTHEST]))
        elif q and not i % 2:
            X[i, j] = np.nan if levels[j] or value is None else value
    X[rng.random(_ROWS) < 0.01] = np.nan
    known = np.where(np.isnan(X), np.nan_to_num(drawn), X)
    near = [np.where(np.abs(table) > _FAR, np.nan_to_num(drawn), table) for table in (X, known)]
    for table in (X, near[0], known, near[1]):  # some models refuse missing values, or far ones
        try:
            scores, mass = vote.score_and_mass(table if q else np.zeros((_ROWS, 1)))
            X = table
            break
        except PsephosError as error:
            refused = error
    else:
        raise refused
    chances = None
    if vote.target.n_classes:
        chances = vote.readout.probabilities(scores, vote.target, mass)
    rows = [[_cell(*one) for one in zip(row, levels, strict=True)] for row in X.tolist()]
    names, answers = [column["name"] for column in columns], vote.decided(scores, mass)
    return Wanted(model, vote, names, levels, X, rows, scores, answers.tolist(), chances)


def _cell(value, levels):
    if value != value:
        return "unknown" if levels else None
    return levels[int(value)] if levels else value


def farthest(found, wanted):
    """Return the greatest difference of rows of numbers, as a share of their size."""
    found, wanted = (
        np.asarray(one, dtype=float).reshape(len(wanted), -1) for one in (found, wanted)
    )
    size = np.maximum(1.0, np.abs(wanted).max(axis=1, keepdims=True, initial=0.0))
    return float(np.max(np.abs(found - wanted) / size, initial=0.0))


def _answered(lines, given):
    """Return the greatest difference of lines of csv, whose head names their columns."""
    heads, *rows = csv.reader(lines)
    said = [i for i, head in enumerate(heads) if head == "predicted" or head.startswith("given_")]
    chances = [i for i, head in enumerate(heads) if head.startswith("probability_")]
    if given.probabilities is None:
        return farthest([[row[i] for i in said] for row in rows], given.answers)
    answers = [[str(v) for v in np.atleast_1d(one)] for one in given.answers]
    if [[row[i] for i in said] for row in rows] != answers:
        return np.inf
    return farthest([[row[i] for i in chances] for row in rows], given.probabilities)


def _table(path, given, rows):
    """Write rows as a csv file of all columns of the model."""
    names = given.model.schema_.words().columns
    cells = [dict(zip(given.names, row, strict=True)) for row in rows]
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = [names, *([row.get(name) for name in names] for row in cells)]
        csv.writer(file).writerows(lines)
    return path


def by_command(given, folder):
    """Return the greatest difference of `psephos predict`."""
    save(given.model, folder / "m.psephos")
    paths = folder / "m.psephos", _table(folder / "t.csv", given, given.rows), folder / "said.csv"
    words = ["predict", str(paths[0]), str(paths[1]), "--out", str(paths[2])]
    done = CliRunner().invoke(command, words)
    if done.exit_code:
        raise ValueError(done.output)
    return _answered(paths[2].read_text("utf-8").splitlines(), given)


def by_scorer(given, folder):
    """Return the greatest difference of a scorer, which answers five times from nothing, too."""
    text, own = scorer(given.model), {"__name__": "scorer"}
    exec(compile(text, "scorer.py", "exec"), own)
    reader = own["PlainModel"](plain(given.model))
    cases = [reader.scored(reader.case(row)) for row in given.rows]
    program = folder / "scorer.py"
    program.write_text(text, "utf-8")
    said = _run(program, _table(folder / "t.csv", given, given.rows)).stdout.splitlines()
    one = _table(folder / "one.csv", given, given.rows[:1])
    STARTS.extend(_started(program, one) for _ in range(2))
    return max(_answered(said, given), farthest([case.score for case in cases], given.scores))


STARTS: list[tuple[float, float]] = []


def _run(program, table):
    """Return the finished scorer: no environment, no site, no folder of the user."""
    words = [sys.executable, "-I", "-S", str(program), str(table)]
    return subprocess.run(words, env={}, capture_output=True, encoding="utf-8", check=True)


def _started(program, table):
    """Return wall and CPU seconds of one answer, from nothing."""
    before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    _run(program, table)
    wall, after = time.perf_counter() - wall, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def by_sql(connect):
    """Return what gives the greatest difference of a database's answers."""

    def ask(given, folder):
        select, base = sql(given.model), connect(":memory:")
        kinds = ["TEXT" if own else "DOUBLE" for own in given.levels]
        columns = [
            '"{}" {}'.format(name.replace('"', '""'), kind)
            for name, kind in zip(given.names, kinds, strict=True)
        ]
        base.execute(f"CREATE TABLE cases ({', '.join(columns) or 'nothing DOUBLE'})")
        marks = ", ".join("?" * max(1, len(columns)))
        base.executemany(f"INSERT INTO cases VALUES ({marks})", given.rows)
        found = base.execute(select)
        heads, rows = [one[0] for one in found.description], found.fetchall()
        base.close()
        table = dict(zip(heads, zip(*rows, strict=True), strict=True))
        if given.probabilities is not None and list(table["predicted"]) != given.answers:
            return np.inf
        worst = 0.0
        for word, told in (("score", given.scores), ("probability", given.probabilities)):
            own = [column for head, column in table.items() if head.startswith(word)]
            if own:
                worst = max(worst, farthest(np.array(own, dtype=float).T, told))
        return worst

    return ask


def read_in_single(vote, X):
    """Return rows as a reader of single precision has them.

    Thresholds are rounded as values are, so that a value equal to one stays on its side.
    """
    out = X.astype(np.float32).astype(np.float64)
    for j, value in zip(*vote.marks(), strict=True):
        if np.isfinite(value):
            column = out[:, int(j)]
            column[column == float(np.float32(value))] = value
    return out


def by_onnx(given, folder):
    """Return the greatest difference of onnxruntime's answers, of rows in single precision."""
    content = onnx_model(given.model)
    import onnxruntime  # pyright: ignore[reportMissingImports]

    X = np.clip(given.X, -1e30, 1e30).astype(np.float32)
    found = onnxruntime.InferenceSession(content).run(None, {"columns": X})
    vote = given.vote
    wide = read_in_single(vote, X)
    scores, mass = vote.score_and_mass(wide)
    worst = farthest(found[0], scores)
    if vote.target.n_classes:
        worst = max(worst, farthest(found[2], vote.readout.probabilities(scores, vote.target)))
        two = scores.shape[1] == 1
        bound = getattr(vote.target, "bound", 0.0)
        level = np.full((len(scores), int(two)), bound)
        top = np.sort(np.hstack([scores, level]), axis=1)
        clear = top[:, -1] - top[:, -2] > _TIE
        own = np.array(vote.target.classes)[found[1]]
        if (own != np.array(vote.decided(scores, mass)))[clear].any():
            return np.inf
    return worst


_ASK = """
([plain, rows]) => {
  const model = openModel(plain);
  return rows.map((row) => {
    const { scores, probabilities, label } = model.answer(row);
    return { scores, probabilities, label };
  });
}
"""


def by_script(page):
    """Return what gives the greatest difference of the page's script."""

    def ask(given, folder):
        found = page.evaluate(_ASK, [plain(given.model), given.rows])
        worst = farthest([one["scores"] for one in found], given.scores)
        if given.probabilities is None:
            return max(worst, farthest([one["label"] for one in found], given.answers))
        if [one["label"] for one in found] != given.answers:
            return np.inf
        chances = [one["probabilities"] for one in found]
        return max(worst, farthest(chances, given.probabilities))

    return ask


def chromium(playwright):
    """Return an empty page with the reader, and the list of what goes wrong in it."""
    path = os.environ.get("PSEPHOS_CHROMIUM") or shutil.which("chromium")
    page, errors = playwright.chromium.launch(executable_path=path).new_page(), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text))
    page.on("request", lambda request: errors.append(request.url))
    page.add_script_tag(content=script())
    return page, errors


def databases():
    """Return the databases that are installed, by name."""
    found = {"SQLite": sqlite3.connect}
    if importlib.util.find_spec("duckdb"):
        from duckdb import connect  # pyright: ignore[reportMissingImports]

        found["DuckDB"] = connect
    return found


def family_names(families):
    """Return the names of tests/scoring/families.py, and of all other settings."""
    names = list(families.NAMES)
    have = {name.split(",")[0] for name in names}
    for n, (name, setting) in enumerate(families.settings().items()):
        number = is_regressor(setting)
        classes = (0,) if number else (2,) if setting.binary_only or n % 2 else (3,)
        classes = (2, 3) if name in _OF_BOTH else classes
        if name not in have or name in _OF_BOTH:
            names += [f"{name}, {k} classes, {_missing(setting, k)} missing" for k in classes]
    return list(dict.fromkeys(names))


def _missing(setting, k):
    """Return the share of missing values that a setting takes: 0.2, or 0.0."""
    try:
        clone(setting).fit(*small_table(k, missing=0.2))
    except (ValueError, PsephosError):
        return 0.0
    return 0.2


def numbers():
    """Print how far readers of five regressors are from `predict` on rows of real tables."""
    readers = {"scorer": by_scorer, **{n: by_sql(c) for n, c in databases().items()}}
    readers["ONNX"] = by_onnx_alone
    print(f"| set | regressor | {' | '.join(readers)} |\n|{' --- |' * (len(readers) + 2)}")
    worst = 0.0
    for name in ("auto_mpg", "bike_day"):  # gaps and categories; four columns of categories
        table, y = real_numbers(name)
        for model in _regressors():
            given = _drawn_from(model.fit(table, y), table)
            cells = list[str]()
            for reader, ask in readers.items():
                with tempfile.TemporaryDirectory() as folder:
                    off = ask(given, Path(folder))
                worst = max(worst, off / (_SINGLE if reader == "ONNX" else _CLOSE))
                cells.append(f"{off:.0e}")
            cells[-1] += f" ({AT[-1]})"
            print(f"| {name} | {type(model).__name__} | {' | '.join(cells)} |", flush=True)
    return int(worst > 1)


def _regressors():
    members = [("tree", CARTRegressor()), ("ridge", RankRidgeRegressor())]
    return [
        CARTRegressor(),
        RandomForestRegressor(50, random_state=0),
        AdaBoostRegressor(n_estimators=20, random_state=0),
        GradientBoostingRegressor(n_estimators=50, random_state=0),
        NewtonBoostingRegressor(n_estimators=50, random_state=0),
        VotingRegressor(members),
    ]


def real_numbers(name):
    """Return a table of mixed columns, and its target."""
    import pandas as pd

    data = pd.read_csv(Path(os.environ["PSEPHOS_DATA"]) / name / f"{name}.csv")
    words = data.select_dtypes(exclude="number").columns
    data = data.astype(dict.fromkeys(words, "category"))
    return data.iloc[:, :-1], data.iloc[:, -1].to_numpy(dtype=float)


def _drawn_from(model, table):
    """Return hostile rows of the fit's table with their answers."""
    columns, rng = plain(model)["columns"], np.random.default_rng(0)
    levels, vote = [column.get("levels") for column in columns], model.vote_
    vote = vote.select(vote.columns)
    X = model._values(table)[:, model.vote_.columns]
    X = X[rng.integers(len(X), size=_ROWS)]
    far = rng.choice([-1e6, -100.0, 1e5, 1e30], size=X.shape)
    is_number = np.array([own is None for own in levels])
    X = np.where((rng.random(X.shape) < 0.05) & is_number, far, X)
    X[rng.random(X.shape) < 0.1] = np.nan
    rows = [[_cell(*one) for one in zip(row, levels, strict=True)] for row in X.tolist()]
    answers = vote.answers(X)
    names = [column["name"] for column in columns]
    return Wanted(model, vote, names, levels, X, rows, answers[:, None], answers.tolist(), None)


AT: list[int] = []  # rows with a value that is rounded to a threshold, of each model


def by_onnx_alone(given, folder):
    """Return the greatest difference of onnxruntime's answers; rows at thresholds are counted."""
    import onnxruntime  # pyright: ignore[reportMissingImports]

    X = given.X.astype(np.float32)
    found = onnxruntime.InferenceSession(onnx_model(given.model)).run(None, {"columns": X})[0]
    moved = read_in_single(given.vote, X) != X.astype(np.float64)
    at = (moved & ~np.isnan(X)).any(axis=1)
    AT.append(int(at.sum()))
    return farthest(found[~at], given.scores[~at])


def main(words):
    """Print the table; return 1 if a reader differs."""
    spec = importlib.util.spec_from_file_location("families", _FAMILIES)
    families = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(families)
    names = family_names(families)
    if len(words) == 2 and all(word.isdigit() for word in words):
        names = names[int(words[0]) : int(words[1])]
    elif words:
        names = [name for name in names if any(word in name for word in words)]
    wrong, refused = [], {}
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        page, errors = chromium(playwright)
        readers = {
            "command": by_command,
            "scorer": by_scorer,
            "script": by_script(page),
            **{name: by_sql(connect) for name, connect in databases().items()},
            "ONNX": by_onnx,
        }
        print(f"| family | {' | '.join(readers)} |\n|{' --- |' * (len(readers) + 1)}")
        for name in names:
            cells, given = [], None
            for reader, ask in readers.items():
                try:
                    given = given or wanted(families.fitted(name))
                    worst = ask(given, Path(folder))
                except (MissingExtraError, ModuleNotFoundError):
                    cells.append("not installed")
                except PsephosError as error:
                    cells.append("refused")
                    refused.setdefault(f"{reader}: {error}".split(": ", 2)[-1], set()).add(name)
                except Exception as error:
                    cells.append(f"**{type(error).__name__}: {str(error)[:300]!r}**")
                    wrong.append(f"{name}: {reader}")
                else:
                    cells.append(f"{worst:.0e}")
                    if not worst <= (_SINGLE if reader == "ONNX" else _CLOSE):
                        wrong.append(f"{name}: {reader}")
            print(f"| {name} | {' | '.join(cells)} |", flush=True)
    print(f"\nIn Chromium: {errors or 'no message, no request, no error'}.")
    for words, some in refused.items():
        print(f"\nRefused: {words} ({len(some)}: {'; '.join(sorted(some))})")
    print(f"\nReaders that differ: {wrong or 'none'}.")
    print(f"\nOne answer of a scorer from nothing, seconds, {len(STARTS)} starts:")
    for what, own in zip(("wall", "CPU"), np.array(STARTS).T, strict=True):
        least, median, most = np.quantile(own, [0, 0.5, 1])
        print(f"{what} {least:.3f} (least), {median:.3f} (median), {most:.3f} (greatest)")
    return int(bool(wrong or errors))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(numbers() if sys.argv[1:] == ["numbers"] else main(sys.argv[1:]))
