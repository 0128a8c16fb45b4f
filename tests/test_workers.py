"""Work in joblib's worker processes."""

import sys

import joblib
import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor
from threadpoolctl import ThreadpoolController, threadpool_limits

from psephos import MLKNeighborsClassifier, RankRidgeRegressor, SamBAClassifier
from psephos.runtime.threads import one_thread
from psephos.runtime.workers import _ALLOWED, _EXECUTOR, delayed


def numbers_of_threads():
    return {one["num_threads"] for one in ThreadpoolController().info()}


def limit():
    return sys.modules[_EXECUTOR]._MAX_MEMORY_LEAK_SIZE


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
        (MLKNeighborsClassifier(3), "psephos.kernels.prediction.nearest._take"),
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
