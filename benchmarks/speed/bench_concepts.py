"""Version spaces and posteriors of 10^6 to 10^19 hypotheses: times, and what is counted.

    python benchmarks/speed/bench_concepts.py

One row is positive and the others are drawn evenly and negative, so that few hypotheses are
excluded; 1,000 new rows that differ from the positive one in a fifth of the columns are asked.
Shares are compared with those of 4,000 hypotheses drawn evenly from the version space, whose
standard error is at most 0.008. Posteriors are of labels by a conjunction of two columns, a tenth
of them wrong.
"""

import resource
import time
from dataclasses import replace

import numpy as np
import pandas as pd

from psephos import BayesOptimalClassifier, GibbsClassifier, VersionSpaceClassifier
from psephos.vote.voters.hypotheses import in_words


def one_positive(q, size, n, seed, *, category):
    """Return (X, y, new): one positive row, n - 1 negative ones, and rows near the positive."""
    rng = np.random.default_rng(seed)
    code = rng.integers(0, size, (n, q))
    new = np.where(rng.random((1000, q)) < 0.2, rng.integers(0, size, (1000, q)), code[0])
    y = (np.arange(n) == 0).astype(int)
    code = np.vstack([code, np.arange(size)[:, None] + np.zeros(q, dtype=int)])
    y = np.append(y, np.zeros(size, dtype=int))  # all categories are there
    return _table(code, size, category), y, _table(new, size, category)


def _table(code, size, category):
    if not category:
        return code.astype(float)
    words = [f"v{k}" for k in range(size)]
    return pd.DataFrame(
        {f"c{j}": pd.Categorical.from_codes(x, words) for j, x in enumerate(code.T)}
    )


def noisy(q, n, seed):
    """Return (X, y): q columns of three categories, y a conjunction of two, a tenth wrong."""
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 3, (n, q))
    y = (code[:, 0] == 1) & (code[:, 1] == 2)
    return _table(code, 3, True), (y ^ (rng.random(n) < 0.1)).astype(int)


def timed(model, X, y, new):
    start = time.perf_counter()
    model.fit(X, y)
    fitted = time.perf_counter()
    share = model.predict_proba(new)[:, 1]
    return fitted - start, time.perf_counter() - fitted, share


def version_spaces():
    print(
        "| columns | space | rows | left | answered by | fit, s | 1,000 rows, s | off the drawn |"
    )
    print("|---|---:|---:|---:|---|---:|---:|---:|")
    for q, size, n, category in (
        (10, 3, 20, True), (20, 3, 20, True), (20, 3, 100, True), (12, 4, 20, False),
        (40, 2, 10, True), (40, 2, 20, True), (40, 2, 100, True),
    ):  # fmt: skip
        X, y, new = one_positive(q, size, n, 0, category=category)
        given = {"max_hypotheses": 0, "n_samples": 4000, "random_state": 0}
        model = VersionSpaceClassifier(size, **given)
        fit, ask, share = timed(model, X, y, new)
        drawn = GibbsClassifier(n_draws=None, noise=0.0, n_bins=size, **given).fit(X, y)
        readout = replace(drawn.vote_.readout, score="normalised", seed=0)
        other = replace(drawn.vote_, readout=readout).score(drawn._values(new))[:, 0]
        space = in_words(model.memory_.space.n_hypotheses)
        left, error = in_words(model.n_hypotheses_[0]), model.n_hypotheses_error_[0]
        left = f"{left} ± {100 * error:.1f} %" if error else left
        off = np.abs(share - (1 + other) / 2).max()
        kind = f"{q} of {size} {'categories' if category else 'bins'}"
        by = "count" if model.vote_.n_voters == 1 else "4,000 drawn"
        print(
            f"| {kind} | {space} | {len(y)} | {left} | {by} | {fit:.2f} | {ask:.2f} | {off:.3f} |",
            flush=True,
        )


def posteriors():
    for q, most in ((10, 2_000_000), (20, 10_000), (100, 10_000)):
        X, y = noisy(q, 200, 0)
        model = BayesOptimalClassifier(max_hypotheses=most)
        fit, ask, _ = timed(model, X, y, X[:100])
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{q} columns: {model.vote_.n_voters:,} hypotheses of at most {model.n_tests_} tests, "
            f"fit {fit:.2f} s, 100 rows {ask:.2f} s, {peak:.0f} MB at most; the most probable has "
            f"{model.posterior_[0][0]:.4f}",
            flush=True,
        )


if __name__ == "__main__":
    version_spaces()
    posteriors()
