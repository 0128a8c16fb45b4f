"""SWAG killed and resumed, and searched by any workers: are the bytes the same?

    python benchmarks/quality/swag_workers.py [--kills 12] [--losses 2] [--seed 0]

Killed: a fit with ``folder=`` gets SIGKILL at a random time, when a random chunk has been written,
or while a file is half written, and is run again in the same folder; after every second kill by
chunk the last chunk is cut at a random byte besides, as a power failure may. Killed and resumed
runs use one process or two, by turns.

Workers: the same fit with n_jobs 1 and 2, threads, loky, and Dask with two worker processes, of
which one then gets SIGKILL while it works, once where nothing takes its place and once where Dask's
nanny starts another. Dask comes by ``pip install dask distributed``; without it that part is left
out, and the last line says so.

Compared are the SHA-256 of the saved model (voters, weights, library), of the probabilities of new
rows, of the library in words, and of the files in the folder. A model file names the parameters
too: folder and n_jobs are reset before. Learners: logistic regression and small forests in batches,
and scikit-learn's trees, one random column a node, which cannot be saved; their votes on the new
rows are compared instead. The table has gaps. Exit code 0 only if everything is the same.
"""

import argparse
import contextlib
import hashlib
import importlib.util
import json
import logging
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
from psephos.models.library.learners.logistic import LogisticLearner
from psephos.models.library.learners.trees import ForestLearner

PATIENCE = 150.0  # seconds for workers to come and tasks to reach them
KINDS = ("time", "chunk", "draft")


class Logistic(LogisticLearner):
    chunk = 16  # small, so that many moments lie between two of them


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
    if folder is not None:  # but for drafts that a kill left behind
        files = [f for f in sorted(Path(folder).iterdir()) if not f.name.startswith(".")]
        parts |= {f.name: f.read_bytes() for f in files}
    return {name: hashlib.sha256(content).hexdigest() for name, content in parts.items()}


def differing(expected, found):
    """Return in words what differs: 'same' if nothing does."""
    names = sorted(n for n in {*expected, *found} if expected.get(n) != found.get(n))
    return f"DIFFERENT: {', '.join(names)}" if names else "same"


# ------------------------------------------------------------------- killed and resumed
def target(name, place, n_jobs):
    """Fit in this process, to be killed; write the sums."""
    print("ready", flush=True)
    model = fitted(name, folder=f"{place}/search", n_jobs=n_jobs)
    Path(place, "sums.json").write_text(json.dumps(sums(model, place)), encoding="utf-8")


def start(name, place, n_jobs):
    """Start a fit in its own group of processes and return once its imports are done."""
    place.mkdir(exist_ok=True)
    command = [sys.executable, __file__, "--fit", name, str(place), str(n_jobs)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    if process.stdout.readline() != b"ready\n":
        raise SystemExit("a fit did not start")
    return process


def finish(name, place, n_jobs):
    """Run a fit to its end and return its sums and how long it took."""
    process, begun = start(name, place, n_jobs), time.monotonic()
    process.communicate()
    if process.returncode:
        raise SystemExit(f"the fit in {place} ended with {process.returncode}")
    return json.loads((place / "sums.json").read_bytes()), time.monotonic() - begun


def kept(search):
    """Return how many whole steps and chunks the folder of a search holds."""
    return len(list(search.glob("step-*.json"))), len(list(search.glob("chunk-*.npy")))


def wait_for(search, process, kind, seconds, least):
    """Return at the moment of the kill: by the clock, or when `least` steps and chunks are kept."""
    begun = time.monotonic()
    while process.poll() is None:
        if kind == "time" and time.monotonic() - begun >= seconds:
            return
        reached = kind != "time" and kept(search) >= least
        if reached and (kind == "chunk" or any(search.glob(".*"))):
            return
        time.sleep(0.0005)


def cut_last_chunk(search, chance):
    """Cut the last chunk at a random byte; return whether there was one."""
    chunks = sorted(search.glob("chunk-*.npy"))
    for chunk in chunks[-1:]:
        content = chunk.read_bytes()
        chunk.write_bytes(content[: chance.randrange(len(content))])
    return bool(chunks)


def kill_and_resume(n_kills, chance, place):
    """Print one line a kill, and yield whether the fit ended the same."""
    whole = {name: finish(name, place / name, 1) for name in LEARNERS}
    for i in range(n_kills):
        name, kind, here = list(LEARNERS)[i // 3 % 3], KINDS[i % 3], place / f"killed{i}"
        expected, lasts = whole[name]
        process, search = start(name, here, 1 + i % 2), here / "search"
        least = chance.randint(0, 2), chance.randint(1, 3)
        wait_for(search, process, kind, chance.uniform(0, lasts), least)
        alive = process.poll() is None
        process.kill()
        process.communicate()
        n_steps, n_chunks = kept(search)
        torn = kind == "chunk" and i % 2 == 1 and cut_last_chunk(search, chance)
        found, _ = finish(name, here, 1 + i // 2 % 2)
        with contextlib.suppress(ProcessLookupError):  # what the killed one had started
            os.killpg(process.pid, signal.SIGKILL)
        how = f"{'killed' if alive else 'HAD ENDED'} by {kind} with {n_steps} steps, {n_chunks} "
        how += "chunks" + ", the last one cut" * torn
        yield row(name, how, differing(expected, found)) and alive


# ------------------------------------------------------------------- workers
def by_joblib(name, expected, place):
    """Print one line for each of the workers of joblib, and yield if it is the same."""
    found = sums(fitted(name, n_jobs=2), place)
    yield row(name, "n_jobs=2", differing(expected, found))
    for backend in ("threading", "loky"):
        with joblib.parallel_config(backend, n_jobs=2):
            found = sums(fitted(name), place)
        yield row(name, f"{backend}, two workers", differing(expected, found))


@contextlib.contextmanager
def dask_workers(place, nanny):
    """Yield a Dask client with two worker processes of one thread."""
    from distributed import Client, LocalCluster

    kind, options = "--nanny" if nanny else "--no-nanny", ["--nthreads", "1", "--no-dashboard"]
    command = [sys.executable, "-m", "distributed.cli.dask_worker", kind, *options]
    command += ["--local-directory", str(place)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = LocalCluster(0, dashboard_address=None, silence_logs=logging.CRITICAL)
    with scheduler, Client(scheduler) as client:
        own = [subprocess.Popen([*command, client.scheduler.address], **quiet) for _ in range(2)]
        try:
            client.wait_for_workers(2, timeout=PATIENCE)
            yield client
        finally:
            for process in own:
                process.terminate()
                process.wait()


def by_dask(name, client, after):
    """Return a fit by Dask, and how many tasks the worker had that was killed after some time."""
    pids, lost, over = client.run(os.getpid), [], threading.Event()
    victim, begun = min(pids), time.monotonic()

    def kill():
        while not over.wait(0.002):
            tasks = len(client.processing().get(victim, ()))
            if tasks and time.monotonic() - begun >= after:
                os.kill(pids[victim], signal.SIGKILL)
                lost.append(tasks)
                return

    killer = threading.Thread(target=kill)
    with joblib.parallel_config("dask", wait_for_workers_timeout=PATIENCE):
        if after is not None:
            killer.start()
        model = fitted(name)
    over.set()
    return model, lost


def lose_workers(name, expected, n_losses, chance, place):
    """Print one line a fit by Dask, the first with all its workers, and yield if it is the same."""
    for nanny in (False, True):
        lasts = 0.0
        for i in range(1 + n_losses):
            after = chance.uniform(0, 0.6) * lasts if i else None
            with dask_workers(place, nanny) as client:
                begun = time.monotonic()
                model, lost = by_dask(name, client, after)
                lasts = lasts or time.monotonic() - begun
            how = "Dask, two workers" + " under nannies" * nanny
            if i:
                how += f", one killed with {lost[0]} tasks" if lost else ", NONE KILLED"
            same = row(name, how, differing(expected, sums(model, place)))
            yield same and (bool(lost) or not i)


def row(*cells):
    """Print a line of the table; return whether it says that the bytes are the same."""
    print("| " + " | ".join(cells) + " |", flush=True)
    return cells[-1] == "same"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=12)
    parser.add_argument("--losses", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fit", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.fit:
        return target(args.fit[0], args.fit[1], int(args.fit[2]))
    chance, has_dask = random.Random(args.seed), importlib.util.find_spec("distributed") is not None
    row("learner", "what happened", "bytes")
    row(*["---"] * 3)
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
    sys.exit(main())
