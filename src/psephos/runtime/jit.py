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
_unwritten: list[Any] = []  # those of them that no folder can be written for


def drop_older_kernels(folder: Path) -> None:
    """Delete what numba kept beside the kernels of a folder before any of their sources changed.

    numba looks at the source of a kernel alone: not at kernels that it calls, nor at the types that
    an index names, without which it cannot be read. A source from the future deletes nothing.
    """
    with suppress(OSError):  # of a folder that is not ours to write
        newest = max(one.stat().st_mtime for one in folder.rglob("*.py"))
        for index in folder.rglob("*.nb[ic]"):
            if index.stat().st_mtime < newest <= time.time():
                index.unlink(missing_ok=True)


drop_older_kernels(Path(__file__).parent.parent / "kernels")


def jit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a kernel: nogil, NumPy error model, cached on disk where a folder can be written.

    Where none can (a read-only installation without a home folder) it is compiled anew in each
    process. numba keeps what it compiled beside the source or, if that cannot be written, in the
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
    """Return how many versions of kernels this process has compiled, or began to compile."""
    stats = (getattr(kernel, "stats", None) for kernel in list(_kernels))
    return sum(sum(one.cache_misses.values()) for one in stats if one is not None)


def damaged_cache(error: BaseException) -> str | None:
    """Return what to do about an error that numba met reading what it kept on disk; else None."""
    folder, reading, step = None, False, error.__traceback__
    while step is not None:
        frame = step.tb_frame
        reading |= frame.f_globals.get("__name__", "").endswith(".caching")
        kept = getattr(getattr(frame.f_locals.get("self"), "stats", None), "cache_path", None)
        folder, step = kept or folder, step.tb_next
    if not reading or folder is None:
        return None
    return f"the compiled kernels that numba keeps cannot be read: delete the folder {folder!r}."


@contextmanager
def logged_compiling(what: str) -> Generator[None]:
    """Log at INFO how many kernels were compiled within the block, if any were.

    Where numba cannot read what it kept on disk, the error names the folder to be deleted.
    """
    before = n_compiled() if _log.isEnabledFor(logging.INFO) else None
    try:
        yield
    except Exception as error:
        told = damaged_cache(error)
        if told is not None:
            raise PsephosError(told) from error
        raise
    if before is not None and n_compiled() > before:
        number = n_compiled() - before
        _log.info("%s compiled %d kernels; psephos warm-up does so ahead", what, number)


@contextmanager
def announce_compiling(say: Callable[[bool], object]) -> Generator[None]:
    """Within the block, call ``say(kept)`` once, soon after a first kernel begins to be compiled.

    Nothing is called where every kernel is found on disk. `kept` is whether kernels are written
    there, so that no later process compiles them again. A thread looks twice a second: numba has
    no public name for a function to be called when it compiles.
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
    """Threads meant by ``n_jobs``: None is 1, negative counts back from the usable cores."""
    if n_jobs is None:
        return 1
    if n_jobs > 0:
        return n_jobs
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, (usable or 1) + 1 + n_jobs)


def _pool(n_workers: int) -> ThreadPoolExecutor:
    # The key holds the process id: threads do not survive a fork, an inherited pool would hang.
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

    The blocks are the caller's, so they do not depend on ``n_jobs``; a function that writes only
    to its own block gives the same bytes for any number of threads. A call from inside a block
    runs serially, so that nested use cannot exhaust the pool. The first exception is raised.
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
