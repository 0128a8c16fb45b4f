"""Work handed to other processes, any of which may be lost: joblib's, and our own.

Our own are for work that a time limit stops, or that is the code of others.
"""

import faulthandler
import math
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import joblib

from psephos._errors import PsephosError

_EXECUTOR = "joblib.externals.loky.process_executor"
_ALLOWED = 4 << 30  # bytes
_Value = TypeVar("_Value")
_Work = Callable[..., Any]
_joblib: Any = joblib  # it has no types
_Process = subprocess.Popen[bytes]


class WorkerLostError(PsephosError):
    """Raised where workers ended each time at the same work; its argument says how often."""

    def __str__(self) -> str:
        return (
            f"its worker process was lost {self.args[0]}: it took more memory than there is, ended "
            "itself, or was ended from outside. If it is memory, run it where there is more, or on "
            "fewer rows or columns."
        )


class StoppedError(PsephosError):
    """Raised in place of work that a time limit stopped."""


def delayed(function: _Work) -> _Work:
    """Return what `joblib.delayed` does, for work that may compile kernels.

    joblib ends a worker that holds 300 MB more than after its first task, and warns of a memory
    leak; compiling takes about as much, once. Workers that do this work may hold 4 GiB more.
    """
    return partial(_joblib.delayed(_done), function)


def _done(function: _Work, *args: object, **more: object) -> object:
    executor: Any = sys.modules.get(_EXECUTOR)
    if executor is not None:
        executor._MAX_MEMORY_LEAK_SIZE = _ALLOWED
    return function(*args, **more)


# ------------------------------------------------------------------- workers of joblib
_OF_DASK = ("KilledWorker", "CommClosedError", "FutureCancelledError")  # a worker was lost
_TRIES = 5  # to send what calls share


class _Shared:
    """What all calls share: loky maps its arrays; Dask sends it once, as it says it is large."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __sizeof__(self) -> int:
        return 1 << 20


def _sent(held: _Shared) -> object:
    """Return what stands for the shared value in calls: of Dask, where it is once it was sent.

    joblib would send it with the first call, and wait for ever if a worker is lost meanwhile.
    """
    client: Any = getattr(_joblib.parallel.get_active_backend()[0], "client", None)
    return held if client is None else client.scatter(held, hash=False)


def results(
    function: Callable[..., _Value],
    shared: object,
    calls: Sequence[tuple[object, ...]],
    n_jobs: int | None,
    prefer: str | None = None,
    instead: Callable[[int, WorkerLostError], _Value] | None = None,
) -> Iterator[tuple[int, _Value]]:
    """Yield the position and the value of each call ``function(shared, *call)`` once it is there.

    They run by joblib, on whatever ``joblib.parallel_config`` names. If a worker process is lost,
    what had begun is done again. A call that was at work at two losses is done alone; if its
    worker is lost then, too, its value is that of `instead`.

    Raises
    ------
    WorkerLostError
        Where `instead` is None.
    """
    held, lost, left = _Shared(shared), Counter[int](), dict(enumerate(calls))
    unsent = 0

    def handed(which: list[int], held: object) -> Iterator[Any]:
        for i in which:
            begun.append(i)
            yield delayed(_numbered)(i, function, held, left[i])

    while left:
        alone = [i for i in left if lost[i] > 1][:1]
        begun: list[int] = []
        try:
            pool = _pool(n_jobs, prefer, 1 if alone else "n_jobs")
            for i, value in pool(handed(alone or list(left), _sent(held))):
                begun.remove(i)
                del left[i]
                yield i, value
        except Exception as error:
            known = isinstance(error, BrokenExecutor | CancelledError)
            unsent += not begun
            if (not known and type(error).__name__ not in _OF_DASK) or unsent > _TRIES:
                raise
            lost.update(begun)
            for i in [i for i in begun if lost[i] > 2]:
                del left[i]
                final = WorkerLostError("three times, at last with no other work beside it")
                if instead is None:
                    raise final from error
                yield i, instead(i, final)


def in_order(*work: Any) -> list[Any]:
    """Return the values of `results` in the order of the calls."""
    found = dict(results(*work))
    return [found[i] for i in range(len(found))]


def alone(n_jobs: int | None) -> bool:
    """Return whether so many jobs are done one at a time."""
    return _joblib.effective_n_jobs(n_jobs) == 1


def _numbered(i: int, function: _Work, held: Any, call: tuple[object, ...]) -> tuple[int, object]:
    own = held if isinstance(held, _Shared) else held.result()  # of Dask, done without workers
    return i, function(own.value, *call)


def _pool(n_jobs: int | None, prefer: str | None, at_once: int | str) -> Any:
    options = {"n_jobs": n_jobs, "prefer": prefer, "batch_size": 1, "pre_dispatch": at_once}
    for order in ("generator_unordered", "generator"):
        with suppress(ValueError):  # joblib before 1.4, or a backend that gives all at once
            return _joblib.Parallel(**options, return_as=order)
    return _joblib.Parallel(**options)


# ------------------------------------------------------------------- processes of our own
@contextmanager
def rerouted(to: int, *streams: int) -> Generator[None]:
    """Send to a file what the process, or one that it starts, writes to its streams 1 or 2."""
    with ExitStack() as after:
        for number in streams:
            kept = os.dup(number)
            after.callback(os.close, kept)
            after.callback(os.dup2, kept, number)
            os.dup2(to, number)
        for stream in filter(None, (sys.stdout, sys.stderr)):
            after.callback(stream.flush)
        yield


def _end_after(parent: int) -> None:
    """End this process when the one that started it has ended, whatever it is doing."""
    while os.getppid() == parent:
        time.sleep(2)
    os._exit(_BROKEN)


class _Steps:
    """The steps of a call; in a process of our own what is known of each, by its number."""

    limit, n = 0.0, -1
    done: Mapping[int, object] = {}
    nowhere: Any = None

    def begin(self) -> Any:
        """Begin a part of a call whose time may be limited; return its value if it is known.

        The clock does not need Python's lock, so that it ends compiled code, too.
        """
        if not self.limit:
            return None
        self.n += 1
        self.send(("at", self.n))
        if self.limit < math.inf:
            faulthandler.dump_traceback_later(self.limit, exit=True, file=self.nowhere)
        known = self.done.get(self.n)
        if isinstance(known, Exception):
            raise known
        return known

    def step(self, function: Callable[..., _Value], *args: object) -> _Value:
        """Return ``function(*args)``: a part whose value is kept if a later one is stopped."""
        known = self.begin()
        if known is not None:
            return known
        try:
            value = function(*args)
        except Exception as error:
            kind = "" if isinstance(error, PsephosError) else f"{type(error).__name__}: "
            self.send(("kept", PsephosError(f"{kind}{error}")))
            raise
        self.send(("kept", value))
        return value

    def send(self, message: object) -> None:
        if self.limit:
            self.out.write(_pickled(message))
            self.out.flush()

    def serve(self) -> None:
        """Do the calls that come in at standard input; a call, or a time limit, may end it."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # its parent ends it
        self.nowhere, self.out = open(os.devnull, "wb"), os.fdopen(os.dup(1), "wb")  # noqa: SIM115
        os.dup2(2, 1)  # what a model prints
        threading.Thread(target=_end_after, args=(os.getppid(),), daemon=True).start()
        held: dict[str, object] = {}
        try:
            while True:
                path, function, call, self.limit, self.done = pickle.load(sys.stdin.buffer)
                if path not in held:
                    held = {path: joblib.load(path, mmap_mode="r")}
                self.n = -1
                value = function(held[path], *call)
                faulthandler.cancel_dump_traceback_later()
                self.send(("end", value))
        except EOFError:
            return
        except BaseException:
            os._exit(_BROKEN)


_steps = _Steps()
begin, step, serve = _steps.begin, _steps.step, _steps.serve
_STOPPED, _BROKEN = 1, 70  # exit codes: of faulthandler, and of `serve`
_OUTSIDE = (-9, -15)  # of signals by which others, or a system without memory, end a process
_TRIES = 2
_lock = threading.Lock()
_children: list[_Process] = []
_idle: list[_Process] = []
_mapped: dict[
    int, tuple[object, TemporaryDirectory[str]]
] = {}  # what is shared, and the folder of its file, by its id


def _pickled(message: object) -> bytes:
    return pickle.dumps(_joblib.wrap_non_picklable_objects(message, keep_wrapper=False))


def _started() -> _Process:
    code = f"import sys; sys.path[:] = {sys.path}; from psephos.runtime import workers; "
    command, pipe = [sys.executable, "-c", f"{code}workers.serve()"], subprocess.PIPE
    _children.append(subprocess.Popen(command, stdin=pipe, stdout=pipe))
    return _children[-1]


def limited(
    function: Callable[..., _Value], shared: object, call: tuple[object, ...], limit: float
) -> _Value:
    """Return ``function(shared, *call)``, done in a process that ends itself at a time limit.

    The function calls `begin` and `step`. A step that took `limit` seconds (may be infinite) raises
    `StoppedError` in the next process, one that ended its process `PsephosError`, one that lost it
    twice to others `WorkerLostError`; the others go on.
    """
    with _lock:
        if id(shared) not in _mapped:
            _mapped[id(shared)] = shared, TemporaryDirectory()
            joblib.dump(shared, Path(_mapped[id(shared)][1].name) / "shared")
        path = Path(_mapped[id(shared)][1].name) / "shared"
    done: dict[int, object] = {}
    lost = Counter[int]()
    while True:
        child, at, since = _idle.pop() if _idle else _started(), -1, 0.0
        assert child.stdin and child.stdout, "both are pipes"  # noqa: PT018
        try:
            child.stdin.write(_pickled((str(path), function, call, limit, done)))
            child.stdin.flush()
            while True:
                kind, value = pickle.load(child.stdout)  # of our child
                if kind == "end":
                    _idle.append(child)
                    return value
                if kind == "at":
                    at, since = value, time.monotonic()
                else:
                    done[at] = value
        except (EOFError, OSError, pickle.UnpicklingError):
            code = _ended(child)
            lost[at] += 1
            if child not in _children or code == _BROKEN or (at < 0 and lost[at] == _TRIES):
                raise WorkerLostError("before it had begun") from None
            if code == _STOPPED and time.monotonic() - since > limit / 2:
                done[at] = StoppedError(f"stopped after {limit:g} s, the time limit of a fit")
            elif code not in _OUTSIDE:
                how = f"exit code {code}" if code >= 0 else signal.strsignal(-code)
                done[at] = PsephosError(f"its code ended the process ({how}): correct the model.")
            elif lost[at] == _TRIES:
                done[at] = WorkerLostError("twice")


def end_limited() -> None:
    """End the processes of `limited`, and remove their files."""
    ended, files = _children.copy(), list(_mapped.values())
    for some in (_children, _idle, _mapped):
        some.clear()
    for child in ended:
        child.kill()
        _ended(child)
    for _, folder in files:
        folder.cleanup()


def _ended(child: _Process) -> int:
    child.wait()
    with suppress(OSError), child:  # closes its pipes; it may not have read all
        pass
    return child.returncode
