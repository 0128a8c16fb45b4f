"""Ratios of two densities: the error against the true ratio as samples grow, beside densratio.

    python benchmarks/quality/density_ratio.py [--seeds 20] [--sizes 50,100,...] [--peer]

The numerator is N(m, .8^2 I), the denominator N(0, I), in 1 and 3 columns, m = .6 / sqrt(columns)
each. For each size n (of both samples) and seed: the mean over 2,000 new rows of the denominator
of |r - true ratio|, with the estimators' own choice of width and penalty. ``--peer`` adds
densratio 0.4.0's two, by its defaults, which are slow above 400 rows.
"""

import argparse

import numpy as np

from psephos.supervision import KLIEP, ULSIF


def sample(n, dim, seed):
    rng = np.random.default_rng([seed, n, dim])
    shift = 0.6 / np.sqrt(dim)
    top = shift + 0.8 * rng.normal(size=(n, dim))
    bottom, new = rng.normal(size=(n, dim)), rng.normal(size=(2000, dim))
    log = (new**2).sum(1) / 2 - ((new - shift) ** 2).sum(1) / 1.28 - dim * np.log(0.8)
    return top, bottom, new, np.exp(log)


def peer(method, top, bottom, new):
    from densratio import densratio

    np.random.seed(0)  # noqa: NPY002  # it draws from NumPy's global generator
    return densratio(top, bottom, method=method, verbose=False).compute_density_ratio(new)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--sizes", type=lambda t: [int(n) for n in t.split(",")])
    parser.add_argument("--peer", action="store_true")
    args = parser.parse_args()
    kinds = {
        "uLSIF": lambda *s: ULSIF(random_state=0).fit(*s[:2]).predict(s[2]),
        "KLIEP": lambda *s: KLIEP(random_state=0).fit(*s[:2]).predict(s[2]),
        "1 everywhere": lambda *s: np.ones(len(s[2])),
    }
    if args.peer:
        kinds["densratio's uLSIF"] = lambda *s: peer("uLSIF", *s[:3])
        kinds["densratio's KLIEP"] = lambda *s: peer("KLIEP", *s[:3])
    for dim in (1, 3):
        for n in args.sizes or (50, 100, 200, 400, 800, 1600):
            told = []
            for name, kind in kinds.items():
                each = []
                for seed in range(args.seeds):
                    top, bottom, new, true = sample(n, dim, seed)
                    each.append(np.mean(np.abs(kind(top, bottom, new) - true)))
                error = np.std(each, ddof=1) / len(each) ** 0.5
                told.append(f"{name} {np.mean(each):.4f} +- {error:.4f}")
            print(f"{dim} columns, n = {n}: {', '.join(told)}", flush=True)


if __name__ == "__main__":
    main()
