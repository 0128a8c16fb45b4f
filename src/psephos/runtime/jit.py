"""The one decorator that compiles kernels, and the one thread pool that runs them."""

import logging
import os
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numba
import numpy as np

from psephos._errors import PsephosError

_log = logging.getLogger("psephos")
_lock = threading.Lock()
_pools: dict[tuple[int, int], ThreadPoolExecutor] = {}
_inside = threading.local()
_kernels: list[Any] = []  # all that `jit` made
_unwritten: list[Any] = []  # those that cannot be cached on disk


def drop_older_kernels(folder: Path) -> None:
    """Delete numba's cache files of a folder that are older than its newest source.

    numba checks only the source of a kernel itself, not the kernels that it calls, nor the types
    that the cache index names. A source with a date in the future deletes nothing.
    """
    with suppress(OSError):  # a folder that cannot be written
        newest = max(one.stat().st_mtime for one in folder.rglob("*.py"))
        for index in folder.rglob("*.nb[ic]"):
            if index.stat().st_mtime < newest <= time.time():
                index.unlink(missing_ok=True)


drop_older_kernels(Path(__file__).parent.parent / "kernels")


def jit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a kernel: nogil, NumPy error model, cached on disk where a folder can be written.

    Otherwise (a read-only installation without a home folder) it is compiled again in each process.
    numba caches compiled kernels beside the source or, if that folder cannot be written, in the
    user's cache folder; the variable NUMBA_CACHE_DIR names another.
    """
    if function is None:
        return lambda function: jit(function, **options)
    settings: dict[str, Any] = {"nogil": True, "error_model": "numpy", **options}
    try:
        kernel = numba.njit(cache=True, **settings)(function)
    except RuntimeError:  # no folder can be written
        kernel = numba.njit(**settings)(function)
        _unwritten.append(kernel)
    _kernels.append(kernel)
    return kernel


def frozen(array: Any, dtype: Any = None) -> Any:
    """Return a read-only view in C order: one compiled version serves every memory layout."""
    view = np.ascontiguousarray(array, dtype=dtype).view()
    view.flags.writeable = False
    return view


def n_compiled() -> int:
    """Return how many versions of kernels this process has compiled or begun to compile."""
    stats = (getattr(kernel, "stats", None) for kernel in list(_kernels))
    return sum(sum(one.cache_misses.values()) for one in stats if one is not None)


def damaged_cache(error: BaseException) -> str | None:
    """Return a message if an error came from numba reading its cache on disk; else None."""
    folder, reading, step = None, False, error.__traceback__
    while step is not None:
        frame = step.tb_frame
        reading |= frame.f_globals.get("__name__", "").endswith(".caching")
        kept = getattr(getattr(frame.f_locals.get("self"), "stats", None), "cache_path", None)
        folder, step = kept or folder, step.tb_next
    if not reading or folder is None:
        return None
    return f"numba's cache of compiled kernels cannot be read: delete the folder {folder!r}."


@contextmanager
def logged_compiling(what: str) -> Generator[None]:
    """Log at INFO how many kernels were compiled within the block, if any were.

    If numba cannot read its cache on disk, the error names the folder to be deleted.
    """
    before = n_compiled() if _log.isEnabledFor(logging.INFO) else None
    try:
        yield
    except Exception as error:
        message = damaged_cache(error)
        if message is not None:
            raise PsephosError(message) from error
        raise
    if before is not None and n_compiled() > before:
        number = n_compiled() - before
        _log.info("%s compiled %d kernels; psephos warm-up does so ahead", what, number)


@contextmanager
def announce_compiling(say: Callable[[bool], object]) -> Generator[None]:
    """Within the block, call ``say(kept)`` once, soon after a first kernel begins to be compiled.

    It is not called if every kernel is found on disk. `kept` is whether kernels are cached there,
    so that later processes do not compile them again. A thread checks twice a second, because numba
    has no public hook for compilation.
    """
    before, ended = n_compiled(), threading.Event()

    def watch() -> None:
        while not ended.wait(0.5):
            if n_compiled() > before:
                say(not _unwritten)
                return

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield
    finally:
        ended.set()
        watching.join()


def effective_jobs(n_jobs: int | None) -> int:
    """Return the number of threads: None is 1, -1 all usable cores, -2 all but one, ..."""
    if n_jobs is None:
        return 1
    if n_jobs > 0:
        return n_jobs
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, (usable or 1) + 1 + n_jobs)


def _pool(n_workers: int) -> ThreadPoolExecutor:
    # The key has the process id: threads do not survive a fork, so an inherited pool would hang.
    key = (os.getpid(), n_workers)
    with _lock:
        if key not in _pools:
            for old in [k for k in _pools if k[0] != key[0]]:
                del _pools[old]
            _pools[key] = ThreadPoolExecutor(n_workers, thread_name_prefix="psephos")
        return _pools[key]


# A fork while another thread holds the lock would leave it locked for ever in the child.
if hasattr(os, "register_at_fork"):

    def _renew_lock() -> None:
        global _lock
        _lock = threading.Lock()

    os.register_at_fork(after_in_child=_renew_lock)


def run_blocks(function: Callable[[int], object], n_blocks: int, n_jobs: int | None) -> None:
    """Call ``function(block)`` for every block in ``range(n_blocks)``.

    The caller defines the blocks, so they do not depend on ``n_jobs``: a function that writes only
    to its own block gives the same bytes for any number of threads. A call from inside a block runs
    serially, so that nested calls cannot exhaust the pool. The first exception is raised.
    """
    n_workers = min(effective_jobs(n_jobs), n_blocks)
    if n_workers <= 1 or getattr(_inside, "busy", False):
        for block in range(n_blocks):
            function(block)
        return

    def work(worker: int) -> None:
        _inside.busy = True
        try:
            for block in range(worker, n_blocks, n_workers):
                function(block)
        finally:
            _inside.busy = False

    pool = _pool(n_workers - 1)
    futures: list[Future[None]] = [pool.submit(work, w) for w in range(1, n_workers)]
    try:
        work(0)
    finally:
        errors = [future.exception() for future in futures]
    for error in errors:
        if error is not None:
            raise error
