"""Work in joblib's worker processes."""

import sys

import joblib
from joblib.externals.loky import get_reusable_executor

from psephos._workers import _ALLOWED, _EXECUTOR, delayed


def limit():
    return sys.modules[_EXECUTOR]._MAX_MEMORY_LEAK_SIZE


def test_a_worker_that_compiles_is_not_taken_for_one_that_leaks():
    get_reusable_executor().shutdown(wait=True)  # workers of other tests know the larger limit
    with joblib.parallel_config("loky"):
        plain = joblib.Parallel(n_jobs=2)(joblib.delayed(limit)() for _ in range(2))
        assert max(plain) < _ALLOWED  # joblib's own limit is where it was
        assert joblib.Parallel(n_jobs=2)(delayed(limit)() for _ in range(4)) == [_ALLOWED] * 4
