"""The one decorator that compiles kernels, and the one thread pool that runs them."""

import os
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numba
import numpy as np
from numba.core import event
from numba.core.caching import NullCache

_lock = threading.Lock()
_pools: dict[tuple[int, int], ThreadPoolExecutor] = {}
_inside = threading.local()


def jit(
    function: Callable[..., Any] | None = None,
    *,
    inner: bool = False,
    allocates: bool = False,
    **options: Any,
) -> Any:
    """Compile a kernel: nogil, NumPy error model, cached on disk where a folder can be written.

    Unless it `allocates`, a kernel must neither make nor return arrays, nor define functions or
    lists within: no references are counted, which takes long to compile. An `inner` kernel is
    called by kernels alone: nothing is compiled for calls from Python, and it is kept on disk in
    its callers only.

    Where no folder can be written (a read-only installation without a home folder) the kernel is
    compiled anew in each process. The cache is opened at the kernel's first call, not here:
    ``numba.njit(cache=True)`` tries each folder with a temporary file, a tenth of the time that
    importing this package takes.
    """
    if function is None:
        return lambda function: jit(function, inner=inner, allocates=allocates, **options)
    # A version to be called from C is never wanted, and takes a twentieth of the compiling.
    settings: dict[str, Any] = {
        "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True,
        "no_cpython_wrapper": inner, "_nrt": allocates, **options,
    }  # fmt: skip
    kernel: Any = numba.njit(**settings)(function)
    if not hasattr(kernel, "enable_caching"):  # the JIT is off
        return kernel
    if inner:
        _keep_from_python(kernel)
    else:
        kernel._cache = _LazyCache(kernel, function.__code__.co_filename)
    return kernel


def _keep_from_python(kernel: Any) -> None:
    """Let a kernel be compiled for kernels that call it; a call from Python is refused."""

    def add_overload(result: Any) -> None:
        kernel.overloads[tuple(result.signature.args)] = result

    def refuse(*arguments: Any, **more: Any) -> None:
        raise TypeError(f"the kernel {kernel.__name__} is called by kernels alone (inner=True)")

    kernel.add_overload, kernel._compile_for_args = add_overload, refuse


def frozen(array: Any, dtype: Any = None) -> Any:
    """Return a read-only view in C order: one compiled version serves every memory layout."""
    view = np.ascontiguousarray(array, dtype=dtype).view()
    view.flags.writeable = False
    return view


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


class _LazyCache:
    """Stands for the cache of one kernel until it is first asked for anything."""

    def __init__(self, kernel: Any, path: str):
        self._kernel, self._path, self._seen = kernel, path, _stamp(path)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by copying and by debuggers, which need no cache
            raise AttributeError(name)
        kernel = self._kernel
        # A source edited since it was read must not lend its new date to the old code.
        kept = self._seen is not None and _stamp(self._path) == self._seen
        try:
            if kept:
                kernel.enable_caching()
            else:
                kernel._cache = NullCache()
        except RuntimeError:  # no folder can be written
            kernel._cache = NullCache()
        _mend_index(kernel)
        return getattr(kernel._cache, name)


def is_compiled(kernel: Any) -> bool:
    """Whether some version of a kernel is there already, in this process or kept on disk."""
    if not hasattr(kernel, "signatures") or kernel.signatures:  # the former where the JIT is off
        return True
    index: Any = getattr(kernel._cache, "_cache_file", None)
    read = getattr(index, "_load_index", None)
    return read is not None and bool(read())


class _Announcer(event.Listener):
    """Calls a function when the first kernel of this process is about to be compiled."""

    def __init__(self, say: Callable[[bool], object]):
        self._say: Callable[[bool], object] | None = say

    def on_start(self, event: Any) -> None:
        say, self._say = self._say, None
        if say is not None:
            cache = getattr(event.data["dispatcher"], "_cache", None)
            say(cache is not None and not isinstance(cache, NullCache))

    def on_end(self, event: Any) -> None:
        pass


@contextmanager
def announce_compiling(say: Callable[[bool], object]) -> Generator[None]:
    """Within the block, call ``say(kept)`` once, before the first kernel is compiled.

    Nothing is called where every kernel is found on disk. `kept` is whether this one is written
    there, so that no later process compiles it again.
    """
    with event.install_listener("numba:compile", _Announcer(say)):
        yield


@contextmanager
def timed_compiling() -> Generator[Callable[[], float]]:
    """Yield a function that returns the seconds for which kernels were compiled in the block."""
    with event.install_listener("numba:compile", event.TimingListener()) as timer:
        yield lambda: timer.duration if timer.done else 0.0


def _mend_index(kernel: Any) -> None:
    """Take an index of compiled kernels that cannot be read for none.

    It names the types of arguments; where an older version of this package left one that names a
    class since gone, numba would raise before it sees that the source has changed.
    """
    index: Any = getattr(kernel._cache, "_cache_file", None)
    read = getattr(index, "_load_index", None)
    if read is None:  # nothing is kept, or another numba
        return

    def load_index() -> Any:
        try:
            return read()
        except (AttributeError, ImportError):
            return {}

    index._load_index = load_index


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
