"""Threads that other libraries start."""

import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[Any]:
    """Hold BLAS and OpenMP to one thread: small products are slower on more, and sums differ."""
    return _libraries(len(sys.modules)).limit(limits=1)


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:
    """Find the libraries, which takes milliseconds; anew where modules were imported since."""
    return ThreadpoolController()
