"""Work handed to joblib's worker processes, and threads that other libraries start."""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import lru_cache, partial
from typing import Any

import joblib
from threadpoolctl import ThreadpoolController

_EXECUTOR = "joblib.externals.loky.process_executor"
_ALLOWED = 4 << 30  # bytes


def delayed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return what `joblib.delayed` does, for work that may compile kernels.

    joblib ends a worker that holds 300 MB more than after its first task, and warns of a memory
    leak; compiling takes about as much, once. Workers that do this work may hold 4 GiB more.
    """
    later: Any = joblib.delayed(_done)  # it has no types
    return partial(later, function)


def _done(function: Callable[..., Any], *args: Any, **more: Any) -> Any:
    executor: Any = sys.modules.get(_EXECUTOR)
    if executor is not None:
        executor._MAX_MEMORY_LEAK_SIZE = _ALLOWED
    return function(*args, **more)


def one_thread() -> AbstractContextManager[Any]:
    """Hold BLAS and OpenMP to one thread: small products are slower on more, and sums differ."""
    return _libraries(len(sys.modules)).limit(limits=1)


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:
    """Find the libraries, which takes milliseconds; anew where modules were imported since."""
    return ThreadpoolController()
