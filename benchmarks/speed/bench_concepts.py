"""Version spaces and posteriors of 10^6 and 10^12 hypotheses: times, and what is counted.

    python benchmarks/speed/bench_concepts.py

Rows are drawn evenly, labelled by a conjunction of two columns (of the last setting a tenth of the
labels is wrong), and 1,000 new rows are asked (100 where all of 10^6 hypotheses vote). Counted
shares are compared with those of 4,000 hypotheses drawn at random from the space.
"""

import resource
import time

import numpy as np
import pandas as pd

from psephos import BayesOptimalClassifier, GibbsClassifier, VersionSpaceClassifier
from psephos.vote.voters.counted import in_words


def categories(q, n, seed):
    """Return (X, y): q columns of three categories, y a conjunction of two."""
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 3, (n, q))
    y = ((code[:, 0] == 1) & (code[:, 1] == 2)).astype(int)
    y[0] = 1
    code[0, :2] = 1, 2
    names = [f"c{j}" for j in range(q)]
    return pd.DataFrame(
        {k: pd.Categorical.from_codes(x, list("abc")) for k, x in zip(names, code.T, strict=True)}
    ), y


def numbers(q, n, seed):
    """Return (X, y): q columns of numbers, y an interval of two."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, q)).astype(float)
    y = ((X[:, 0] >= 2) & (X[:, 1] <= 1)).astype(int)
    X[0, :2], y[0] = (3, 0), 1
    return X, y


def timed(model, X, y, new):
    start = time.perf_counter()
    model.fit(X, y)
    fitted = time.perf_counter()
    share = model.predict_proba(new)[:, 1]
    return fitted - start, time.perf_counter() - fitted, share


def version_spaces():
    print(
        "| space | rows | hypotheses left | answered by | fit, s | 1,000 rows, s | off the drawn |"
    )
    print("|---|---:|---:|---|---:|---:|---:|")
    for made, q, n in (
        (categories, 10, 20), (categories, 20, 10), (categories, 20, 50), (categories, 20, 300),
        (numbers, 12, 50),
    ):  # fmt: skip
        X, y = made(q, n, 0)
        new = made(q, 1000, 1)[0]
        model = VersionSpaceClassifier(max_hypotheses=0)
        fit, ask, share = timed(model, X, y, new)
        drawn = GibbsClassifier(
            n_draws=4000, noise=0.0, max_hypotheses=0, n_samples=4000, random_state=0
        )
        other = timed(drawn, X, y, new)[2]
        size = in_words(model.memory_.space.n_hypotheses)
        left = in_words(model.n_hypotheses_[0])
        off = np.abs(share - other).max()
        kind = model.anatomy_.voters[0]
        print(f"| {size} | {n} | {left} | {kind} | {fit:.3f} | {ask:.3f} | {off:.3f} |", flush=True)


def posteriors():
    X, y = categories(10, 200, 0)
    wrong = np.random.default_rng(2).random(200) < 0.1
    model = BayesOptimalClassifier(max_hypotheses=2_000_000)
    fit, ask, _ = timed(model, X, y ^ wrong, X[:100])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    best = model.posterior_[0][0]
    print(
        f"all {model.vote_.n_voters:,} hypotheses with noise 0.1, 200 rows: fit {fit:.1f} s, 100 rows "
        f"{ask:.1f} s, {peak:.0f} MB at most; the most probable has {best:.4f}"
    )
    for q in (10, 20):
        X, y = categories(q, 200, 0)
        chains = BayesOptimalClassifier(random_state=0, max_hypotheses=0)
        fit, ask, _ = timed(chains, X, y ^ wrong, X)
        top = chains.posterior_[0][0]
        print(
            f"chains, {q} columns: fit {fit:.1f} s, 200 rows {ask:.3f} s; the most drawn has {top:.3f}"
        )


if __name__ == "__main__":
    version_spaces()
    posteriors()
