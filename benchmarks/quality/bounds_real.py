"""What can be proved on real tables: SamBA's published bound, its formula where it does not hold,
and the certificates that say something.

    PSEPHOS_DATA=... python benchmarks/quality/bounds_real.py [--sets colon_alon,...]

At delta = 0.05. "Half": the model is fitted on a half of the rows, stratified, and certified by the
other. "Formula": theorem 3 as printed, of SamBA as it is fitted, lambda = 3 and a uniform prior
over its T m voters, which were learned: not a bound. Distances of the variant are on the columns
after log2(1 + x) of positive ones, divided by the root of their number: fixed before the rows.
"""

import argparse
from functools import partial

import numpy as np
from committees import read
from sklearn.model_selection import StratifiedShuffleSplit

from psephos import (
    CompressedSamBAClassifier,
    PsephosError,
    RandomForestClassifier,
    SamBAClassifier,
)
from psephos.bounds import (
    held_out_bound,
    pac_bayes_c_bound,
    pac_bayes_kl_bound,
    sample_compression_bound,
    tandem_bound,
)
from psephos.bounds.formulas import sample_compression

SETS = "colon_alon,leukemia_golub,gut_cirrhosis,breast_cancer,spambase"


def formula(model, X, y):
    """Return (value, Gibbs risk) of theorem 3's formula for a SamBA that it is not about."""
    vote = model.vote_
    local = vote.weighting
    score, mass = vote.score_and_mass(model._values(X))
    q = local.anchor_weight[:, None] * local.expertise
    scale = local.similarity.a**local.similarity.b / q.sum()
    gibbs = 0.5 * (1 - float((np.where(y == 1, 1, -1) * score[:, 0] * mass).mean()) * scale)
    q = q / q.sum()
    return 2 * sample_compression(gibbs, float((q * np.log(q * q.size)).sum()), len(y)), gibbs


def told(ask):
    try:
        bound = ask()
    except PsephosError:
        return "does not hold"
    return f"{bound.value:.3f}" + (" (vacuous)" if bound.vacuous else "")


def of(name):
    """Yield (what, value)."""
    X, y, _ = read(name)
    n, p = X.shape
    logs = np.log2(1 + X) if X.min() >= 0 else X
    drawn = CompressedSamBAClassifier(
        n_estimators=20, a=1.0, b=4.0, distance_scale=float(np.sqrt(p)), random_state=0
    ).fit(logs, y)
    yield "rows x columns", f"{n} x {p}"
    yield "theorem 3, drawn voters", told(lambda: sample_compression_bound(drawn, logs, y))
    few = CompressedSamBAClassifier(
        n_estimators=20, a=1.0, b=4.0, distance_scale=float(np.sqrt(p)), n_anchors=5, random_state=0
    ).fit(logs, y)
    yield "theorem 4, K = 5", told(lambda: sample_compression_bound(few, logs, y, theorem=4))
    value, gibbs = formula(SamBAClassifier(n_estimators=20).fit(X, y), X, y)
    yield "formula of SamBA (Gibbs risk)", f"{value:.3f} ({gibbs:.3f})"
    trees = RandomForestClassifier(30, random_state=0).fit(X, y)
    yield "tandem, out of bag, 30 trees", told(lambda: tandem_bound(trees, X, y))
    halves = RandomForestClassifier(30, max_samples=0.5, random_state=0).fit(X, y)
    yield "tandem, out of bag, 30 trees of half the rows", told(lambda: tandem_bound(halves, X, y))
    train, test = next(StratifiedShuffleSplit(1, test_size=0.5, random_state=0).split(X, y))
    rest = X[test], y[test]
    for words, model in (
        ("SamBA", SamBAClassifier(n_estimators=20)),
        ("forest", RandomForestClassifier(100, random_state=0)),
        ("drawn voters", drawn),
    ):
        own, other = (X, rest) if words != "drawn voters" else (logs, (logs[test], y[test]))
        model.fit(own[train], y[train])
        wrong = 1 - model.score(*other)
        certified = told(partial(held_out_bound, model, *other))
        yield f"half, {words} (error)", f"{certified} ({wrong:.3f})"
        if words == "forest":
            yield "half, forest, 2 PB-kl", told(partial(pac_bayes_kl_bound, model, *rest))
            yield "half, forest, C-bound 2", told(partial(pac_bayes_c_bound, model, *rest))
            held = partial(tandem_bound, model, *rest, rows="held-out")
            yield "half, forest, tandem", told(held)
    yield "constant answer (error)", f"{1 - np.bincount(y).max() / n:.3f}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", default=SETS)
    names = parser.parse_args().sets.split(",")
    tables = [dict(of(name)) for name in names]
    print(f"| | {' | '.join(names)} |")
    print("|---" * (len(names) + 1) + "|")
    for what in tables[0]:
        print(f"| {what} | {' | '.join(table[what] for table in tables)} |")


if __name__ == "__main__":
    main()
