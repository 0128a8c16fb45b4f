"""What the tests of workers have done: workers import this module, which imports little."""

import ctypes
import os
import signal
import sys

from psephos._errors import PsephosError
from psephos.runtime.workers import _EXECUTOR, begin, step


def limit():
    return sys.modules[_EXECUTOR]._MAX_MEMORY_LEAK_SIZE


def work(shared, i, folder, fatal):
    """Return a number; the worker of call `fatal` is killed, the first time or (below 0) always."""
    mark = folder / "killed"
    if i == abs(fatal) and (fatal < 0 or not mark.exists()):
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return float(shared[i].sum()) + i


def kind_of(shared):
    return type(shared["within"][0]).__name__


def steps(shared, folder, slow, fatal):
    """Return the values of four steps, with what befell each."""
    found = []
    begin()
    for i in range(4):
        try:
            found.append(step(one_step, shared, folder, i, slow, fatal))
        except (PsephosError, ZeroDivisionError) as error:
            found.append(type(error).__name__)
    return found


def one_step(shared, folder, i, slow, fatal):
    with (folder / f"step {i}").open("a") as file:
        file.write("x")
    if i == slow:
        ctypes.PyDLL(None).sleep(1000)  # as compiled code that holds Python's lock
    if i == fatal:
        os.kill(os.getpid(), signal.SIGKILL)
    if i == 0:
        raise ZeroDivisionError("nothing")
    if i == -fatal:
        os.abort()
    return float(shared[i].sum())
