"""Work in other processes, any of which may be lost: joblib's workers, and our own processes.

Our own are for work under a time limit, or for other people's code.
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
    """Raised if workers ended repeatedly at the same work; its argument says how often."""

    def __str__(self) -> str:
        return (
            f"its worker process was lost {self.args[0]}: it ran out of memory, ended itself, or "
            "was killed. If memory is the cause, use a machine with more, or fewer rows or columns."
        )


class StoppedError(PsephosError):
    """Raised for work that a time limit stopped."""


def delayed(function: _Work) -> _Work:
    """Wrap a function like `joblib.delayed`, for work that may compile kernels.

    joblib ends a worker whose memory grew by 300 MB since its first task, and warns of a memory
    leak; compiling takes about as much, once. For this work the limit is 4 GiB.
    """
    return partial(_joblib.delayed(_done), function)


def _done(function: _Work, *args: object, **more: object) -> object:
    executor: Any = sys.modules.get(_EXECUTOR)
    if executor is not None:
        executor._MAX_MEMORY_LEAK_SIZE = _ALLOWED
    return function(*args, **more)


# ------------------------------------------------------------------- workers of joblib
_OF_DASK = ("KilledWorker", "CommClosedError", "FutureCancelledError")  # a worker was lost
_SENDS = 5  # times that sending the shared value is tried again


class _Shared:
    """A value that all calls share: loky memory-maps its arrays; Dask sends large values once."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __sizeof__(self) -> int:
        return 1 << 20


def _sent(held: _Shared) -> object:
    """Return the shared value as calls pass it: with Dask, a future of the value sent ahead.

    joblib would send it with the first call, and wait for ever if a worker were lost meanwhile.
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
    """Yield the position and the value of each call ``function(shared, *call)`` when it is done.

    joblib runs them, on the backend of ``joblib.parallel_config``. If a worker process is lost, the
    calls that had begun are repeated. A call that was running at two losses is repeated alone; if
    its worker is lost again, `instead` returns its value.

    Raises
    ------
    WorkerLostError
        If a worker is lost a third time and `instead` is None.
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
            if (not known and type(error).__name__ not in _OF_DASK) or unsent > _SENDS:
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
    """Return whether calls with this `n_jobs` run one at a time."""
    return _joblib.effective_n_jobs(n_jobs) == 1


def _numbered(i: int, function: _Work, held: Any, call: tuple[object, ...]) -> tuple[int, object]:
    own = held if isinstance(held, _Shared) else held.result()  # with Dask, outside a worker
    return i, function(own.value, *call)


def _pool(n_jobs: int | None, prefer: str | None, at_once: int | str) -> Any:
    options = {"n_jobs": n_jobs, "prefer": prefer, "batch_size": 1, "pre_dispatch": at_once}
    for order in ("generator_unordered", "generator"):
        with suppress(ValueError):  # joblib before 1.4, or a backend without generators
            return _joblib.Parallel(**options, return_as=order)
    return _joblib.Parallel(**options)


# ------------------------------------------------------------------- processes of our own
@contextmanager
def rerouted(to: int, *streams: int) -> Generator[None]:
    """Redirect streams 1 or 2 of the process, and of those that it starts, to a file."""
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
    """End this process, at any point, when its parent has ended."""
    while os.getppid() == parent:
        time.sleep(2)
    os._exit(_BROKEN)


class _Steps:
    """The steps of a call; in a process of our own also their known values, by number."""

    limit, n = 0.0, -1
    done: Mapping[int, object] = {}
    nowhere: Any = None

    def begin(self) -> Any:
        """Begin a step of a call whose time may be limited; return its value if it is known.

        The timer does not need Python's lock, so it also stops compiled code.
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
        """Return ``function(*args)``: a step whose value is kept if a later one is stopped."""
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
        """Run the calls that arrive on standard input; a call, or a time limit, may end it."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
        self.nowhere, self.out = open(os.devnull, "wb"), os.fdopen(os.dup(1), "wb")  # noqa: SIM115
        os.dup2(2, 1)  # output that a model prints
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
_OUTSIDE = (-9, -15)  # exit codes of a process that was killed, or that ran out of memory
_TRIES = 2
_lock = threading.Lock()
_children: list[_Process] = []
_idle: list[_Process] = []
_mapped: dict[
    int, tuple[object, TemporaryDirectory[str]]
] = {}  # by id: the shared value, and the folder of its file


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
    """Return ``function(shared, *call)``, run in a process that ends itself at a time limit.

    The function calls `begin` and `step`. The call is repeated in a new process, with known values,
    after a step ends its process. There a step that took `limit` seconds (may be infinite) raises
    `StoppedError`, one that ended the process itself `PsephosError`, and one whose process was
    killed twice `WorkerLostError`; the other steps continue.
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
