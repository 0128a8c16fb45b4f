"""Whole fits of proset, ours against the authors' program (0.6.1): the same splits, one run.

python benchmarks/speed/bench_proset.py [--sets iris_2f,wine,...] [--seeds 10] [--first-seed 100]
    [--settings own|ours|theirs|check]

Their program asks for an older matplotlib than ours, so it is in no extra: install proset 0.6.1
without its dependencies, and with statsmodels and xlsxwriter.

Stratified splits 70/30. Each program with its own defaults, or both with the penalties that are
ours, or both with theirs (and then their halves of candidates and references): `--settings`. These
are one fit each, ours without the five of `fallback`, which theirs has nothing like; `check` is
ours with all defaults, those five fits too.
Theirs gets scaled columns (their manual asks for it), ours scales inside. Fit and prediction: CPU
seconds of one thread, medians over the seeds; the first fit of each program on a set is not
counted, nor the first prediction of a model (ours lays its prototypes out then: about 1 ms): the
median of 15 further ones. Memory: the most that Python and NumPy hold during one more fit
(tracemalloc). Log-loss: mean over the seeds, and on how many ours was lower. `fat` is 200 x
5,000, ten columns informative, another table for each seed. Seeds below 100 helped to choose our
defaults.
"""

import argparse
import tracemalloc
import warnings

from _timing import head, line  # first: it asks NumPy for one thread

# isort: split
import time
from functools import partial

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
)
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from psephos import ProsetClassifier
from psephos.datasets import make_checkerboard, make_continuous_xor
from psephos.models.prototypes.problem import automatic

_CALLS = 15


def fat(seed):
    settings = {"n_informative": 10, "n_redundant": 0, "random_state": seed}
    return make_classification(200, 5000, **settings)


def fixed(load):
    X, y = load(return_X_y=True)
    return lambda seed: (X, y)


SETS = {
    "iris_2f": lambda seed: (load_iris().data[:, :2], load_iris().target),
    "wine": fixed(load_wine),
    "cancer": fixed(load_breast_cancer),
    "digits": fixed(load_digits),
    "checker": lambda seed: make_checkerboard(random_state=seed),
    "xor6": lambda seed: make_continuous_xor(6, random_state=seed),
    "fat": fat,
}


#: Defaults of theirs.
THEIRS = {"lambda_v": 1e-3, "lambda_w": 1e-8, "alpha_v": 0.05, "alpha_w": 0.05}


def ours(X, y, seed, settings="own"):
    given = {} if settings == "check" else {"fallback": None}
    given |= {"references": "rest", **THEIRS} if settings == "theirs" else {}
    return ProsetClassifier(random_state=seed, **given).fit(X, y)


def theirs(X, y, seed, settings="own"):
    from proset import ClassifierModel

    given = {}
    if settings == "ours":
        given = {n: automatic(n, len(y), X.shape[1]) for n in ("lambda_v", "lambda_w")}
        given |= {"alpha_v": 0.05, "alpha_w": 1.0}
    return ClassifierModel(random_state=np.random.RandomState(seed), **given).fit(X, y)


def size_of(model):
    """Return (columns, prototypes)."""
    if isinstance(model, ProsetClassifier):
        return model.n_features_used_, int(model.n_prototypes_.sum())
    found = model.set_manager_
    return len(found.get_active_features()), int(found.get_num_prototypes())


def timed(work):
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def one(fit, data, seed):
    """Return (fit seconds, prediction seconds, log-loss, columns, prototypes)."""
    A, B, s, t = data
    spent, model = timed(lambda: fit(A, s, seed))
    P = model.predict_proba(B)
    asked = np.median([timed(lambda: model.predict_proba(B))[0] for _ in range(_CALLS)])
    loss = log_loss(t, np.asarray(P, dtype=float))
    return (spent, asked, loss, *size_of(model))


def peak(fit, data, seed):
    fit(data[0], data[2], seed)  # warms up
    tracemalloc.start()
    fit(data[0], data[2], seed)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 2**20


def row(name, seeds, settings):
    found = {"ours": [], "theirs": []}
    held = {}
    for k, seed in enumerate(seeds):
        X, y = SETS[name](seed)
        A, B, s, t = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
        scaler = StandardScaler().fit(A)
        data = {"ours": (A, B, s, t), "theirs": (scaler.transform(A), scaler.transform(B), s, t)}
        for who, fit in (("ours", ours), ("theirs", theirs)):
            fit = partial(fit, settings=settings)
            if k == 0:
                held[who] = peak(fit, data[who], seed)
            found[who].append(one(fit, data[who], seed))
    mine, peer = (np.array(found[who]) for who in ("ours", "theirs"))
    by = np.median(peer, axis=0) / np.median(mine, axis=0)
    better = int((mine[:, 2] < peer[:, 2]).sum())
    line(
        name, str(len(seeds)), f"{np.median(mine[:, 0]):.3f}", f"{np.median(peer[:, 0]):.3f}",
        f"{by[0]:.1f}x", f"{np.median(mine[:, 1]) * 1e3:.2f}", f"{by[1]:.1f}x",
        f"{held['ours']:.1f}", f"{held['theirs'] / held['ours']:.1f}x",
        f"{mine[:, 2].mean():.3f}", f"{peer[:, 2].mean():.3f}", f"{better} of {len(seeds)}",
        f"{mine[:, 3].mean():.1f} / {mine[:, 4].mean():.0f}",
        f"{peer[:, 3].mean():.1f} / {peer[:, 4].mean():.0f}",
    )  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=100)
    parser.add_argument("--settings", choices=("own", "ours", "theirs", "check"), default="own")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    head(
        "set", "seeds", "fit, s", "theirs, s", "fit", "predict, ms", "predict", "peak, MiB", "peak",
        "log-loss", "theirs", "lower", "columns / prototypes", "theirs",
    )  # fmt: skip
    for name in options.sets.split(","):
        seeds = range(options.first_seed, options.first_seed + options.seeds)
        row(name, seeds, options.settings)


if __name__ == "__main__":
    main()
