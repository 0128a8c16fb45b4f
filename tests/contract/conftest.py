"""Fixtures: `plain`, predictions without the kernels made for them, and `elsewhere`, the exports.

With PSEPHOS_PLAIN=1 every test of this folder has `plain`.
"""

import csv
import importlib
import os
import pkgutil
import shutil
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache, wraps
from types import FunctionType

import numpy as np
import pytest

import psephos
from psephos.base import VoteEstimator
from psephos.scoring.onnx import onnx_model
from psephos.scoring.scorer import scorer
from psephos.scoring.sql import sql
from psephos.testing import plain_evaluation

_KERNELS = "psephos.kernels.prediction."


def _is_kernel(module, value):
    """Whether to replace it: not where compiled functions call each other, in their own modules."""
    compiled = hasattr(value, "py_func") and not module.__name__.startswith(_KERNELS)
    return (compiled or isinstance(value, FunctionType)) and value.__module__.startswith(_KERNELS)


@cache
def _kernels():
    """Return (module, name, function) of all kernels of predictions, wherever they are imported."""
    for found in pkgutil.walk_packages(psephos.__path__, "psephos."):
        if not found.name.endswith("__main__"):  # one that is imported later would keep what raises
            importlib.import_module(found.name)
    modules = [module for name, module in sys.modules.items() if name.startswith("psephos.")]
    pairs = [(m, name, v) for m in modules for name, v in list(vars(m).items())]
    return [(m, name, v) for m, name, v in pairs if _is_kernel(m, v)]


@pytest.fixture
def plain(monkeypatch):
    """Every function of `psephos.kernels.prediction` raises, but within fits, which use some."""
    fitting = []

    def outside_fits(kernel):
        def called(*args, **kwargs):
            assert fitting, f"a prediction called the kernel {kernel.__name__}"
            return kernel(*args, **kwargs)

        return called

    fit = VoteEstimator.fit

    @wraps(fit)  # its parameters are looked at
    def noted(*args, **kwargs):
        fitting.append(fit)
        try:
            return fit(*args, **kwargs)
        finally:
            fitting.pop()

    found = _kernels()
    assert len({kernel.__name__ for _, _, kernel in found}) > 10
    for module, name, kernel in found:
        monkeypatch.setattr(module, name, outside_fits(kernel))
    monkeypatch.setattr(VoteEstimator, "fit", noted)
    with plain_evaluation():
        yield


@pytest.fixture(autouse=True)
def _plain_if_requested(request):
    if os.environ.get("PSEPHOS_PLAIN") == "1":
        request.getfixturevalue("plain")


class Elsewhere:
    """Places without the library that answer rows of a fitted model: scorer, SQLite, ONNX, page.

    Answers are (labels, probabilities). Rows are on all columns of the model.
    """

    def __init__(self, folder):
        self.folder = folder

    def scorer(self, model, X):
        """Run the scorer by Python alone: no environment, no installed package."""
        names = model.schema_.words().columns
        program, table = self.folder / "scorer.py", self.folder / "cases.csv"
        program.write_text(scorer(model), "utf-8")
        with table.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([names, *self._cells(X)])
        words = [sys.executable, "-I", "-S", str(program), str(table)]
        done = subprocess.run(words, env={}, capture_output=True, encoding="utf-8", check=True)
        return self._told(*csv.reader(done.stdout.splitlines()))

    def sqlite(self, model, X):
        base, names = sqlite3.connect(":memory:"), model.schema_.words().columns
        columns, marks = (
            ", ".join(one) for one in ([f'"{n}" REAL' for n in names], "?" * len(names))
        )
        base.execute(f"CREATE TABLE cases ({columns})")
        base.executemany(f"INSERT INTO cases VALUES ({marks})", self._cells(X))
        found = base.execute(sql(model))
        return self._told([one[0] for one in found.description], *found.fetchall())

    def onnx(self, model, X):
        onnxruntime = pytest.importorskip("onnxruntime", reason="needs the extra 'quality'")
        session = onnxruntime.InferenceSession(onnx_model(model))
        read = X[:, model.vote_.columns].astype(np.float32)
        _, labels, chances = session.run(None, {"columns": read})
        return [str(model.classes_[k]) for k in labels], chances

    def page(self, path, name, table):
        """Open a report in Chromium, and let its script answer a frame by the model of a name."""
        api = pytest.importorskip("playwright.sync_api", reason="needs playwright (extra 'test')")
        chromium = os.environ.get("PSEPHOS_CHROMIUM") or shutil.which("chromium")
        if not chromium:
            pytest.skip("needs Chromium: install it, or set PSEPHOS_CHROMIUM to its path")
        errors = []

        def opened():
            with api.sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=chromium, args=["--no-sandbox"]
                )
                page = browser.new_page()
                page.on("pageerror", lambda error: errors.append(str(error)))
                page.on("console", lambda message: errors.append(message.text))
                page.goto(path.as_uri())
                found = page.evaluate(
                    """([name, names, rows]) => {
                    const { plain } = page.data.case.models[name], model = openModel(plain);
                    const at = plain.columns.map((column) => names.indexOf(column.name));
                    return rows.map((row) => {
                      const { label, probabilities, ballots } = model.answer(at.map((j) => row[j]));
                      return [label, probabilities, ballots.map((b) => `${b.reason} → ${b.says}`)];
                    }); }""",
                    [name, list(table.columns), self._cells(table.to_numpy())],
                )
                browser.close()
            return found

        # a thread of its own: tests of the page may hold a browser in this one
        with ThreadPoolExecutor(1) as pool:
            found = pool.submit(opened).result()
        assert errors == []
        labels, chances, words = zip(*found, strict=True)
        return list(labels), np.array(chances), words

    @staticmethod
    def _told(heads, *rows):
        at = [i for i, head in enumerate(heads) if head.startswith("probability")]
        chances = np.array([[row[i] for i in at] for row in rows], dtype=float)
        return [row[heads.index("predicted")] for row in rows], chances

    @staticmethod
    def _cells(X):
        return [[None if v != v else v for v in row] for row in X.tolist()]


@pytest.fixture
def elsewhere(tmp_path):
    return Elsewhere(tmp_path)
