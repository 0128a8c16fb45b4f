"""SWAG killed and resumed, and searched by any workers: are the bytes the same?

    python benchmarks/quality/swag_workers.py [--kills 12] [--losses 2] [--seed 0]

Killed: a fit with ``folder=`` gets SIGKILL at a random time, when a random chunk is written, or
while a file is half written, and is run again, with one process or two. After every second kill by
chunk the last chunk is cut besides.

Workers: the same fit with n_jobs 1 and 2, threads, loky, and Dask with two worker processes, of
which one then gets SIGKILL at work: nothing takes its place, or Dask's nanny starts another.

Compared are the SHA-256 of the saved model (its folder and n_jobs, which the file would name, are
reset), of the probabilities of new rows, the library in words and the steps in the folder. The
learners: logistic regression and small forests in batches; scikit-learn's trees that draw a column
a node, which cannot be saved: their votes are compared instead. The table has gaps.
"""

import argparse
import contextlib
import hashlib
import importlib.util
import json
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import joblib
import numpy as np
from sklearn.tree import DecisionTreeClassifier

from psephos import SparseWrapperClassifier, save
from psephos.models.swag.learners.logistic import LogisticLearner
from psephos.models.swag.learners.trees import ForestLearner

PATIENCE = 150.0  # seconds for workers to come and tasks to reach them


class Logistic(LogisticLearner):
    chunk = 16  # candidates at once: few, so that there are many moments between


class Forest(ForestLearner):
    chunk = 16


LEARNERS = {
    "logistic": {"learner": Logistic(), "n_repeats": 4},
    "forest": {"learner": Forest(n_estimators=5), "n_repeats": 2},
    "scikit-learn": {"learner": DecisionTreeClassifier(max_features=1), "m": 80},
}


# ------------------------------------------------------------------- the fit
def table(seed, n=120, p=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = np.where(X[:, 0] + X[:, 1] - X[:, 2] + rng.normal(size=n) > 0, "ill", "well")
    X[::9, 1] = X[::11, 5] = np.nan
    return X, y


def fitted(name, **params):
    given = {"p_max": 3, "n_folds": 5, "random_state": 1, **LEARNERS[name], **params}
    return SparseWrapperClassifier(**given).fit(*table(0))


def sums(model, place):
    """Return the SHA-256 of all that a fit leaves."""
    fresh, folder, path = table(1)[0], model.folder, Path(place) / "model.psephos"
    parts = {"library": json.dumps(model.library_.table()).encode()}
    parts["probabilities"] = np.ascontiguousarray(model.predict_proba(fresh)).tobytes()
    if isinstance(model.learner, DecisionTreeClassifier):
        parts["votes"] = np.ascontiguousarray(model.vote_.votes(fresh)).tobytes()
    else:
        save(model.set_params(folder=None, n_jobs=None), path)
        parts["model"] = path.read_bytes()
    if folder is not None:
        parts |= {file.name: file.read_bytes() for file in sorted(Path(folder).glob("chunk-*"))}
    return {name: hashlib.sha256(content).hexdigest() for name, content in parts.items()}


def judge(name, how, expected, found):
    """Print a line of the table; return whether nothing differs."""
    names = sorted(n for n in {*expected, *found} if expected.get(n) != found.get(n))
    words = f"DIFFERENT: {', '.join(names)}" if names else "same"
    print(f"| {name} | {how} | {words} |", flush=True)
    return not names


# ------------------------------------------------------------------- killed and resumed
def target(name, place, n_jobs):
    """Fit in this process, to be killed; write the sums."""
    print("ready", flush=True)
    found = sums(fitted(name, folder=f"{place}/search", n_jobs=int(n_jobs)), place)
    Path(place, "sums.json").write_text(json.dumps(found), encoding="utf-8")


def start(name, place, n_jobs):
    """Start a fit in its own group of processes and return once its imports are done."""
    place.mkdir(exist_ok=True)
    command = [sys.executable, __file__, "fit", name, str(place), str(n_jobs)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout.readline() == b"ready\n"
    return process


def finish(name, place, n_jobs):
    process, begun = start(name, place, n_jobs), time.monotonic()
    process.communicate()
    assert not process.returncode, f"the fit in {place} failed"
    return json.loads((place / "sums.json").read_bytes()), time.monotonic() - begun


def kept(search):
    """Return how many steps a search has begun and how many chunks it keeps."""
    chunks = [path.name for path in search.glob("chunk-*.npz")]
    return len({name.split("-")[1] for name in chunks}), len(chunks)


def wait_for(search, process, kind, seconds, least):
    """Return at the moment of the kill: by the clock, or when `least` steps and chunks are kept."""
    until = time.monotonic() + seconds
    while process.poll() is None:
        now = kept(search)
        drafted = now[0] >= least[0] and any(search.glob(".*"))
        if {"time": time.monotonic() >= until, "chunk": now >= least, "draft": drafted}[kind]:
            return
        time.sleep(0.0005)


def kill_and_resume(n_kills, chance, place):
    """Print one line a kill, and yield whether the fit ended the same."""
    whole = {name: finish(name, place / name, 1) for name in LEARNERS}
    for i in range(n_kills):
        name, kind = list(LEARNERS)[i // 3 % 3], ("time", "chunk", "draft")[i % 3]
        expected, lasts = whole[name]
        here, search = place / f"killed{i}", place / f"killed{i}" / "search"
        process = start(name, here, 1 + i % 2)
        least = chance.randint(0, 2), chance.randint(1, 3)
        wait_for(search, process, kind, chance.uniform(0, lasts), least)
        alive = process.poll() is None
        process.kill()
        process.stdout.close()  # its orphans hold the other end open
        process.wait()
        n_steps, n_chunks = kept(search)
        torn = i % 6 == 1 and n_chunks > 0
        for chunk in sorted(search.glob("chunk-*.npz"))[-1:] * torn:
            os.truncate(chunk, chance.randrange(chunk.stat().st_size))
        found, _ = finish(name, here, 1 + i // 2 % 2)
        with contextlib.suppress(ProcessLookupError):  # what the killed one had started
            os.killpg(process.pid, signal.SIGKILL)
        how = (
            f"{kind}: {'killed' if alive else 'HAD ENDED'} with {n_steps} steps, {n_chunks} chunks"
        )
        how += ", one cut" * torn
        yield judge(name, how, expected, found) and alive


# ------------------------------------------------------------------- workers
def by_joblib(name, expected, place):
    for backend in ("n_jobs", "threading", "loky"):
        given = {} if backend == "n_jobs" else {"backend": backend, "n_jobs": 2}
        with joblib.parallel_config(**given):
            found = sums(fitted(name, n_jobs=None if given else 2), place)
        yield judge(name, f"{backend}, two workers", expected, found)


@contextlib.contextmanager
def dask_workers(place, nanny):
    """Yield a Dask client with two worker processes of one thread."""
    from distributed import Client, LocalCluster

    command = [sys.executable, "-m", "distributed.cli.dask_worker", "--nthreads", "1"]
    command += [f"--local-directory={place}", "--no-dashboard", f"--{'no-' * (not nanny)}nanny"]
    scheduler = LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50)
    with scheduler, Client(scheduler) as client:
        command.append(client.scheduler.address)
        own = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for _ in range(2)]
        try:
            client.wait_for_workers(2, timeout=PATIENCE)
            client.run(importlib.import_module, "psephos.models")  # or a kill would hit imports
            yield client
        finally:
            for process in own:
                process.terminate()
                process.wait()


def by_dask(name, client, after):
    """Return a fit by Dask, how many tasks the worker that was killed had, and the seconds."""
    pids, lost, over, begun = client.run(os.getpid), [], threading.Event(), time.monotonic()

    def kill():
        while not over.wait(0.002) and not lost:
            tasks = {worker: len(keys) for worker, keys in client.processing().items()}
            victim = max(tasks, key=tasks.get, default=None)
            if tasks.get(victim) and time.monotonic() - begun >= after:
                os.kill(pids[victim], signal.SIGKILL)
                lost.append(tasks[victim])

    killer = threading.Thread(target=kill)
    with joblib.parallel_config("dask", wait_for_workers_timeout=PATIENCE):
        killer.start()
        model = fitted(name)
    over.set()
    killer.join()
    return model, lost, time.monotonic() - begun


def lose_workers(name, expected, n_losses, chance, place):
    """Print one line a fit by Dask, the first with all its workers, and yield if it is the same."""
    for nanny in (False, True):
        lasts = 0.0
        for i in range(1 + n_losses):
            after = chance.uniform(0, 0.6) * lasts if i else math.inf
            with dask_workers(place, nanny) as client:
                model, lost, took = by_dask(name, client, after)
            lasts = lasts or took
            fate = f", one killed with {lost[0]} tasks" if lost else ", NONE KILLED" * bool(i)
            how = "Dask, two workers" + " under nannies" * nanny + fate
            yield judge(name, how, expected, sums(model, place)) and (bool(lost) or not i)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in {"--kills": 12, "--losses": 2, "--seed": 0}.items():
        parser.add_argument(name, type=int, default=default)
    args = parser.parse_args()
    chance, has_dask = random.Random(args.seed), importlib.util.find_spec("distributed") is not None
    print("| learner | what happened | bytes |\n| --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        same = list(kill_and_resume(args.kills, chance, place))
        for name in LEARNERS:
            alone = sums(fitted(name, n_jobs=1), place)
            same += by_joblib(name, alone, place)
            if has_dask:
                same += lose_workers(name, alone, args.losses, chance, place)
    print(f"\n{sum(same)} of {len(same)} the same")
    if not has_dask:
        print("Dask was left out; to try it: pip install dask distributed")
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(target(*sys.argv[2:]) if sys.argv[1:2] == ["fit"] else main())
