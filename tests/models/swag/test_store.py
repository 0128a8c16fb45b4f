"""A killed search goes on where it was, to the same bytes; foreign folders are refused."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.naive_bayes import GaussianNB

from psephos import PsephosError
from psephos.models.swag.evaluation import Evaluation, Store, Workers, identity_of
from psephos.models.swag.fitting import search
from psephos.models.swag.mechanisms import GenericLearner
from psephos.models.swag.problem import Folds
from psephos.models.swag.settings import SearchSettings
from psephos.models.training import make_splits

SETTINGS = SearchSettings(p_max=3, m=40, alpha=0.9)


def evaluation(scoring=None, seed=0, estimator=None):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 9))
    y = (X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=40) > 0).astype(int)
    folds = Folds.of(make_splits(y, 2, n_folds=3))
    learner = GenericLearner(estimator or GaussianNB())
    return Evaluation.of(learner, X, y, 2, folds=folds, seed=seed, scoring=scoring)


def run(folder, judge=None, settings=SETTINGS, seed=1):
    judge = judge or evaluation()
    store = None if folder is None else Store(folder, identity_of(judge, settings, seed))
    return search(Workers(judge, store=store), 9, settings, seed=seed)


def files(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def assert_same(found, other):
    assert found.stopped == other.stopped
    assert_array_equal(found.pool, other.pool)
    for step, twin in zip(found.steps, other.steps, strict=True):
        assert step.quantile == twin.quantile
        for name in ("subsets", "error", "spread", "tie", "errors"):
            assert_array_equal(getattr(step, name), getattr(twin, name))
            assert getattr(step, name).dtype == getattr(twin, name).dtype


@pytest.fixture(scope="module", name="whole")
def _whole(tmp_path_factory):
    """Return the folder of a search that was not stopped, and what it found."""
    folder = tmp_path_factory.mktemp("whole") / "kept"
    return folder, run(folder)


def test_a_folder_changes_nothing_and_is_read_again(tmp_path, monkeypatch):
    plain, kept = run(None), run(tmp_path / "kept")
    assert_same(kept, plain)
    before = files(tmp_path / "kept")
    assert "chunk-03-000000.npz" in before
    assert not any(name.startswith(".") for name in before)
    monkeypatch.setattr(Evaluation, "errors", None)  # nothing is judged again
    assert_same(run(tmp_path / "kept"), plain)
    assert files(tmp_path / "kept") == before


class Killed(Exception):
    pass


@pytest.mark.parametrize("after", [0, 1, 2, 3, 5])
def test_stopped_after_any_chunk(tmp_path, monkeypatch, whole, after):
    judged = []
    errors = Evaluation.errors

    def limited(self, subsets):
        if len(judged) == after:
            raise Killed
        judged.append(len(subsets))
        return errors(self, subsets)

    monkeypatch.setattr(Evaluation, "errors", limited)
    with pytest.raises(Killed):
        run(tmp_path / "part")
    again = []
    monkeypatch.setattr(
        Evaluation, "errors", lambda self, s: again.append(len(s)) or errors(self, s)
    )
    run(tmp_path / "part")
    assert files(tmp_path / "part") == files(whole[0])
    total = sum(step.n_candidates for step in whole[1].steps)
    assert sum(judged) + sum(again) == total  # no chunk twice


CHILD = """
import os, signal, sys, time
from pathlib import Path
sys.path.insert(0, {here!r})
from psephos.models.swag.evaluation import Evaluation
errors = Evaluation.errors
def slow(self, subsets):
    time.sleep(0.2)
    return errors(self, subsets)
Evaluation.errors = slow
import test_store
folder = Path({folder!r})
for reached in ("search.json", "chunk-02-000000.npz"):  # in the first step, in the second
    child = os.fork()
    if child == 0:
        test_store.run(folder)
        os._exit(0)
    while not (folder / reached).exists():
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert not (folder / "chunk-03-000000.npz").exists()
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL, which this system lacks")
def test_sigkill_and_resume(tmp_path, whole):
    folder = tmp_path / "part"
    code = CHILD.format(here=os.path.dirname(__file__), folder=str(folder))
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=300)
    found = run(folder)
    for draft in folder.glob(".*"):
        draft.unlink()  # what a kill leaves of a file that was being written
    assert files(folder) == files(whole[0])
    assert_same(found, whole[1])


def test_another_search_is_refused(tmp_path, whole):
    folder = shutil.copytree(whole[0], tmp_path / "kept")
    others = {
        "learner": {"judge": evaluation(estimator=GaussianNB(var_smoothing=1e-3))},
        "scoring": {"judge": evaluation(scoring="log_loss")},
        "settings": {"settings": replace(SETTINGS, m=39)},
        "seed": {"seed": 2},
        "table": {"judge": _changed("X")},
        "target": {"judge": _changed("y")},
        "folds": {"judge": _changed("folds")},
    }
    for part, options in others.items():
        with pytest.raises(PsephosError, match=f"holds another search .*{part}.*give a new folder"):
            run(folder, **options)
    run(folder, judge=evaluation())


def _changed(what):
    judge = evaluation()
    problem = judge.problem
    if what == "X":
        changed = replace(problem, X=problem.X + 1e-9)
    elif what == "y":
        changed = replace(problem, y=1 - problem.y)
    else:
        changed = replace(problem, folds=Folds.of(make_splits(problem.y, 2, n_folds=3, seed=1)))
    return replace(judge, problem=changed)


def test_other_folders_are_refused(tmp_path, whole):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(PsephosError, match="holds other files"):
        run(tmp_path)
    with pytest.raises(PsephosError, match=r"notes\.txt' cannot be used"):
        run(tmp_path / "notes.txt")
    folder = shutil.copytree(whole[0], tmp_path / "kept")
    (folder / "search.json").write_text("{")
    with pytest.raises(PsephosError, match="cannot be read"):
        run(folder)


@pytest.mark.parametrize("place", [-3, 200, 0.5])
def test_a_damaged_chunk_is_done_again(tmp_path, whole, place):
    shutil.copytree(whole[0], tmp_path / "kept")
    path, before = tmp_path / "kept" / "chunk-02-000000.npz", files(tmp_path / "kept")
    data = bytearray(path.read_bytes())
    data[int(place * len(data)) if isinstance(place, float) else place] ^= 1
    path.write_bytes(data)
    assert_same(run(tmp_path / "kept"), whole[1])
    assert files(tmp_path / "kept") == before


def test_a_chunk_that_is_cut_or_of_another_size_is_done_again(tmp_path):
    judge = evaluation()
    store = Store(tmp_path, identity_of(judge, SETTINGS, 1))
    errors = judge.errors(np.arange(9)[:, None])
    store.put(1, 0, errors)
    assert_array_equal(store.get(1, 0, 9).error, errors.error)
    assert store.get(1, 0, 8) is None
    assert store.get(1, 1, 9) is None
    path = next(tmp_path.glob("chunk*"))
    path.write_bytes(path.read_bytes()[:-70])
    assert store.get(1, 0, 9) is None


def test_what_cannot_be_named_is_refused(tmp_path):
    judge = evaluation(scoring=lambda model, X, y: 0.0)
    with pytest.raises(PsephosError, match="cannot be saved in a folder"):
        identity_of(judge, SETTINGS, 0)
