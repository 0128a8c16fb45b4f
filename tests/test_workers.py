"""Work in joblib's worker processes."""

import math
import os
import pickle
import signal
import sys

import joblib
import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor
from threadpoolctl import ThreadpoolController, threadpool_limits
from worker_tasks import kind_of, limit, steps, work

from psephos import MLKNeighborsClassifier, RankRidgeRegressor, SamBAClassifier
from psephos.runtime.threads import one_thread
from psephos.runtime.workers import (
    _ALLOWED,
    WorkerLostError,
    delayed,
    end_limited,
    in_order,
    limited,
    results,
)


def numbers_of_threads():
    return {one["num_threads"] for one in ThreadpoolController().info()}


def test_a_worker_that_compiles_is_not_taken_for_one_that_leaks():
    get_reusable_executor().shutdown(wait=True)  # workers of other tests know the larger limit
    with joblib.parallel_config("loky"):
        plain = joblib.Parallel(n_jobs=2)(joblib.delayed(limit)() for _ in range(2))
        assert max(plain) < _ALLOWED  # joblib's own limit is where it was
        assert joblib.Parallel(n_jobs=2)(delayed(limit)() for _ in range(4)) == [_ALLOWED] * 4


@pytest.mark.parametrize(
    ("model", "where"),
    [
        (SamBAClassifier(n_estimators=2), "psephos.kernels.prediction.similarity._weigh_rows"),
        (MLKNeighborsClassifier(3), "psephos.kernels.prediction.similarity._take"),
        (RankRidgeRegressor(), "psephos.models.linear.ridge._least_squares"),
    ],
)
def test_small_products_are_made_on_one_thread(model, where, monkeypatch):
    """Threads of BLAS that wait for busy cores take 20 times as long as a prediction."""
    module, name = where.rsplit(".", 1)
    inner, seen = getattr(sys.modules[module], name), []

    def seeing(*arguments):
        seen.append(numbers_of_threads())
        return inner(*arguments)

    monkeypatch.setattr(where, seeing)
    X = np.random.default_rng(0).standard_normal((600, 3))
    with threadpool_limits(2):
        model.fit(X, (X[:, 0] > 0) + 0.0).predict(X)
        after = numbers_of_threads()
    assert seen
    assert set().union(*seen) == {1}
    assert after == {2}


def test_blocks_of_one_thread_may_overlap():
    with threadpool_limits(2):
        first, second = one_thread(), one_thread()
        with first:
            second.__enter__()
        assert numbers_of_threads() == {1}  # the second is inside yet
        second.__exit__(None, None, None)
        assert numbers_of_threads() == {2}
        with pytest.raises(KeyError), one_thread(), one_thread():
            raise KeyError
        assert numbers_of_threads() == {2}


# ------------------------------------------------------------------- workers that are lost
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")
def test_what_a_killed_worker_had_begun_is_done_again(tmp_path):
    table = np.ones((8, 3))
    calls = [(i, tmp_path, 3) for i in range(8)]
    found = in_order(work, table, calls, 2, "processes")
    assert (tmp_path / "killed").exists()
    assert found == [3.0 + i for i in range(8)]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")
def test_work_that_always_kills_its_worker_is_given_up_and_the_rest_is_done(tmp_path):
    calls = [(i, tmp_path, -2) for i in range(5)]
    table = np.ones((5, 3))
    found = dict(results(work, table, calls, 2, "processes", lambda i, error: str(error)))
    assert "three times, at last with no other work beside it" in found.pop(2)
    assert found == {i: 3.0 + i for i in (0, 1, 3, 4)}
    with pytest.raises(WorkerLostError, match="ran out of memory"):
        in_order(work, table, calls, 2, "processes")


def test_a_lost_worker_is_named_once_when_its_error_crosses_processes():
    error = WorkerLostError("twice")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert str(error).count("was lost twice") == 1


def test_a_large_array_is_mapped_and_not_pickled_for_each_call():
    table = np.ones((400, 1000))
    with joblib.parallel_config("loky"):
        kinds = in_order(kind_of, {"within": [table]}, [()] * 4, 2)
    assert kinds == ["memmap"] * 4


# ------------------------------------------------------------------- a time limit
@pytest.mark.skipif(os.name != "posix", reason="it calls sleep of the C library")
def test_a_step_beyond_its_limit_is_stopped_and_those_before_are_kept(tmp_path):
    try:
        found = limited(steps, np.ones((4, 3)), (tmp_path, 2, 3), 1.5)
    finally:
        end_limited()
    assert found == ["PsephosError", 3.0, "StoppedError", "WorkerLostError"]
    counts = [len((tmp_path / f"step {i}").read_text()) for i in range(4)]
    assert counts == [1, 1, 1, 2]


@pytest.mark.skipif(os.name != "posix", reason="the signal has another name")
def test_a_step_that_ends_its_process_is_not_done_again(tmp_path):
    try:
        found = limited(steps, np.ones((4, 3)), (tmp_path, None, -2), math.inf)
    finally:
        end_limited()
    assert found == ["PsephosError", 3.0, "PsephosError", 3.0]
    assert all(len((tmp_path / f"step {i}").read_text()) == 1 for i in range(4))
