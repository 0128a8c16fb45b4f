"""Limit of the threads that BLAS and OpenMP start."""

import os
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_inside = 0  # blocks that are entered and not left, over all threads
_limits: list[tuple[int, Any]] = []  # (number of modules at that time, limit) of those in force


@contextmanager
def one_thread() -> Generator[None]:
    """Limit BLAS and OpenMP to one thread: small products are slower on more, and sums differ.

    It is a setting of the whole process: the former setting is restored when the last of several
    overlapping blocks, in any threads, is left.
    """
    global _inside
    with _lock:
        n_modules = len(sys.modules)
        if not _limits or _limits[-1][0] != n_modules:  # libraries may have been loaded since
            _limits.append((n_modules, _libraries(n_modules).limit(limits=1)))
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            while not _inside and _limits:
                _limits.pop()[1].restore_original_limits()


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:
    """Find the libraries (it takes milliseconds), again if modules were imported since."""
    return ThreadpoolController()


# A fork while another thread holds the lock would leave it locked for ever in the child.
if hasattr(os, "register_at_fork"):

    def _renew_lock() -> None:
        global _lock
        _lock = threading.Lock()

    os.register_at_fork(after_in_child=_renew_lock)
