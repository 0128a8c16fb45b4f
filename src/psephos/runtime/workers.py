"""Work handed to joblib's worker processes."""

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import joblib

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
