"""A comparison on Dask, one of whose two workers is killed: is results.csv the same?

    python benchmarks/robustness/workers.py [--kills 2] [--seed 0]

The workers are processes of this script, of one thread each; nothing takes the place of the one
that gets SIGKILL at a random moment. Needs distributed.
"""

import argparse
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import joblib
import numpy as np

from psephos.protocol import Protocol, compare

MODELS = ("samba", "adaboost", "sklearn-decision-tree", "sklearn-k-nn", "majority")
PLAN = Protocol(folds=3, inner_folds=2, draws=3)


def table(n=150, p=2000):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    return X, np.where(X[:, 0] + X[:, 1] > 0, "ill", "well")


def digest(folder):
    return hashlib.sha256(Path(folder, "results.csv").read_bytes()).hexdigest()[:16]


def on_dask(place, after):
    """Compare on two workers, one of which is killed after so many seconds (None: neither)."""
    from distributed import Client, LocalCluster

    command = [sys.executable, "-m", "distributed.cli.dask_worker", "--nthreads", "1"]
    command += ["--no-dashboard", "--no-nanny", f"--local-directory={place}"]
    scheduler = LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50)
    with scheduler, Client(scheduler) as client:
        command.append(client.scheduler.address)
        own = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for _ in range(2)]
        killer = threading.Timer(after or 0, own[0].send_signal, (signal.SIGKILL,))
        try:
            client.wait_for_workers(2, timeout=150)
            if after is not None:
                killer.start()
            with joblib.parallel_config("dask", wait_for_workers_timeout=150):
                compare(*table(), list(MODELS), PLAN, out=place / "study")
            alive = own[0].poll() is None
        finally:
            killer.cancel()
            for process in own:
                process.kill()
                process.wait()
    return digest(place / "study"), alive


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    chance, same = random.Random(args.seed), True
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        compare(*table(), list(MODELS), PLAN, out=place / "alone", n_jobs=1)
        expected = digest(place / "alone")
        for i in range(1 + args.kills):
            own = place / f"dask{i}"
            own.mkdir()
            after = chance.uniform(1, 6) if i else None
            found, alive = on_dask(own, after)
            fate = "" if after is None else f", one killed after {after:.1f} s"
            fate += " (TOO LATE)" * (after is not None and alive)
            print(
                f"| two workers{fate} | {'same' if found == expected else 'DIFFERENT'} |",
                flush=True,
            )
            same &= found == expected
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
