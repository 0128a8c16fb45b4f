"""Is what ProsetRegressor predicts honest? Coverage, CRPS and density against three peers.

    PSEPHOS_DATA=... python benchmarks/quality/proset_regression.py [--seeds 10] [--first-seed 200]
        [--sets diabetes,friedman1,...] [--models defaults,search,...] [--rows 500]
        [--set lambda_u=0.01 ...]

Splits 70/30. diabetes and wine (its alcohol from the twelve other columns) come with
scikit-learn; `elevation` is covtype_15k's elevation from its other nine numbers, 500 rows drawn by
the seed. friedman1 and friedman2 are scikit-learn's, 500 rows and another table for each seed, of
signal to noise 4.9 and 3 in standard deviations; `uneven` is friedman1 with noise of standard
deviation 0.5 + 3 x_0.

Models of proset: its defaults, a search of lambda_v and up to five batches, and the steps from
what the authors' program does to what is judged honest: `halves` (half of the rows are candidates,
the others judge them, lambda_u = 1e-3, lambda_w = 1e-8), `all` (all rows judge, and do not hear
themselves), `+ u`, `+ w` (the penalties of the densities' widths and of the prototypes are 10 and
3e-4, divided by the number of training rows), `+ 3u + w` (3 and 3e-4). `--set` adds to the
arguments of `defaults` and the searches.

Peers: a Gaussian process (one length scale a column, noise, the target normalised; its answer is a
normal density), a quantile forest (Meinshausen 2006: the weights a forest of 200 trees, leaves of
at least five rows, gives the training rows), and the training targets themselves, the floor.

CRPS is exact for each: closed form for a normal density and for a mixture of them, sums over the
training targets for weights. CRPS, pinball loss (mean of seven levels) and width (of the 90 %
interval) are in standard deviations of the table's target; density is the mean of -log p(y) in
that unit, and has no value for weights. Means over the seeds; the difference of CRPS is from the
first model named, paired by seed, with its standard error.

Seeds below 100 chose the penalties.
"""

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes, load_wine, make_friedman1, make_friedman2
from sklearn.ensemble import RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from psephos import ProsetRegressor, ProsetSearchCV
from psephos.models.prototypes.mixture import NormalMixture

LEVELS = np.array([0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95])
CENTRAL = {50: (2, 4), 80: (1, 5), 90: (0, 6)}  # places of an interval's ends among the levels
ROWS = 500
drawn = {"rows": ROWS}  # of generated tables, and from elevation


# ---------------------------------------------------------------------- tables
def diabetes(seed):
    return load_diabetes(return_X_y=True)


def wine(seed):
    X = load_wine().data
    return X[:, 1:], X[:, 0]


def elevation(seed):
    path = Path(os.environ["PSEPHOS_DATA"]) / "covtype_15k" / "covtype_15k.npz"
    X = np.load(path, allow_pickle=True)["X"][:, :10].astype(float)
    rows = np.random.default_rng(seed).choice(len(X), drawn["rows"], replace=False)
    return X[rows, 1:], X[rows, 0]


def friedman1(seed):
    return make_friedman1(drawn["rows"], n_features=10, noise=1.0, random_state=seed)


def friedman2(seed):
    return make_friedman2(drawn["rows"], noise=125.0, random_state=seed)


def uneven(seed):
    X, y = make_friedman1(drawn["rows"], n_features=10, noise=0.0, random_state=seed)
    return X, y + (0.5 + 3 * X[:, 0]) * np.random.default_rng(seed).standard_normal(len(y))


SETS = {f.__name__: f for f in (diabetes, wine, elevation, friedman1, friedman2, uneven)}


# ---------------------------------------------------------------------- what each model answers
class Weighted:
    """The training targets, weighted anew for each case."""

    def __init__(self, share, y):
        order = np.argsort(y, kind="stable")
        self.share, self.y = share[:, order], y[order]
        self.reached = self.share.cumsum(axis=1)

    def mean(self):
        return self.share @ self.y

    def quantile(self, levels):
        # the least target whose cumulated weight reaches the level, but for rounding
        at = [(self.reached < q - 1e-12).sum(axis=1) for q in levels]
        return self.y[np.minimum(np.column_stack(at), len(self.y) - 1)]

    def crps(self, observed):
        far = (self.share * np.abs(observed[:, None] - self.y)).sum(axis=1)
        below = self.reached[:, :-1]
        return far - (below * (1.0 - below)) @ np.diff(self.y)

    def density(self, observed):
        return np.full(len(observed), np.nan)


class Mixture:
    """Normal densities: ours, or one a case."""

    def __init__(self, mixture):
        self.mixture = mixture

    def mean(self):
        return self.mixture.moments()[0]

    def quantile(self, levels):
        return self.mixture.quantile(levels)

    def crps(self, observed):
        return self.mixture.crps(observed)

    def density(self, observed):
        return -self.mixture.log_density(observed)


class Normal:
    """One normal density a case, by the package's own sums."""

    def __init__(self, mean, deviation):
        one = np.ones((1, 1))
        self.middle, self.deviation = mean, deviation
        self.unit = NormalMixture(one, np.zeros(1), np.ones(1))

    def mean(self):
        return self.middle

    def quantile(self, levels):
        return self.middle[:, None] + self.deviation[:, None] * self.unit.quantile(levels)

    def _off(self, observed):
        return ((observed - self.middle) / self.deviation)[None]

    def crps(self, observed):
        z = self._off(observed)
        bell, below = self.unit.density(z)[0], self.unit.cdf(z)[0]
        z = z[0]
        return self.deviation * (z * (2 * below - 1) + 2 * bell - 1 / np.sqrt(np.pi))

    def density(self, observed):
        return np.log(self.deviation) - self.unit.log_density(self._off(observed))[0]


def gaussian_process(X, y, Z, seed):
    kernel = ConstantKernel(1.0) * RBF(np.ones(X.shape[1]), (1e-2, 1e3)) + WhiteKernel(0.3)
    scaler = StandardScaler().fit(X)
    model = GaussianProcessRegressor(kernel, normalize_y=True).fit(scaler.transform(X), y)
    return Normal(*model.predict(scaler.transform(Z), return_std=True)), X.shape[1], len(y)


def quantile_forest(X, y, Z, seed):
    model = RandomForestRegressor(200, min_samples_leaf=5, max_features=1 / 3, random_state=seed)
    own, asked = model.fit(X, y).apply(X), model.apply(Z)
    share = np.zeros((len(Z), len(X)))
    for a, b in zip(own.T, asked.T, strict=True):
        together = b[:, None] == a
        share += together / together.sum(axis=1, keepdims=True)
    return Weighted(share / own.shape[1], y), X.shape[1], len(y)


def floor(X, y, Z, seed):
    return Weighted(np.full((len(Z), len(y)), 1 / len(y)), y), 0, len(y)


def proset(X, y, Z, seed, search=None, **more):
    model = ProsetRegressor(random_state=seed, **more)
    if search is None:
        model.fit(X, y)
    else:
        model = ProsetSearchCV(model, **search).fit(X, y).best_estimator_
    size = int(model.n_prototypes_.sum()) if len(model.n_prototypes_) else 0
    return Mixture(model.distribution(Z)), model.n_features_used_, size


def step(references, of_u, of_w):
    """Return proset with the arguments that the question of coverage turns on.

    `of_u` and `of_w` are divided by the number of training rows, as lambda_v is.
    """

    def fitted(X, y, Z, seed, **more):
        own = {"lambda_u": of_u / len(y), "lambda_w": of_w / len(y), "references": references}
        return proset(X, y, Z, seed, **own, **more)

    return fitted


SEARCH = {"max_batches": 5, "lambda_v_grid": np.logspace(-4, -1, 7)}
MODELS = {
    "defaults": proset,
    "halves": lambda *data, **more: proset(
        *data, references="rest", lambda_u=1e-3, lambda_w=1e-8, **more
    ),
    "all": lambda *data, **more: proset(
        *data, references="all", lambda_u=1e-3, lambda_w=1e-8, **more
    ),
    "halves + u + w": step("rest", 10, 3e-4),
    "all + u": step("all", 10, 3e-6),
    "all + u + w": step("all", 10, 3e-4),
    "all + 3u + w": step("all", 3, 3e-4),
    "search": lambda *data, **more: proset(*data, search=SEARCH, **more),
    "search best": lambda *data, **more: proset(*data, search={**SEARCH, "rule": "best"}, **more),
    "Gaussian process": gaussian_process,
    "quantile forest": quantile_forest,
    "training targets": floor,
}


# ---------------------------------------------------------------------- measures
def measures(answer, t, unit):
    """Return CRPS, pinball loss, density, R^2, coverages and the width of the widest interval."""
    q = answer.quantile(LEVELS)
    off = t[:, None] - q
    pinball = np.maximum(LEVELS * off, (LEVELS - 1) * off).mean()
    inside = [((q[:, a] <= t) & (t <= q[:, b])).mean() for a, b in CENTRAL.values()]
    width = (q[:, -1] - q[:, 0]).mean()
    density = answer.density(t).mean() - np.log(unit)
    r2 = r2_score(t, answer.mean())
    return [answer.crps(t).mean() / unit, pinball / unit, density, r2, *inside, width / unit]


def judged(name, make, seed, more):
    """Return a model's measures on one split, and its columns, rows kept and CPU seconds."""
    X, y = make(seed)
    A, B, s, t = train_test_split(X, y, test_size=0.3, random_state=seed)
    start = time.process_time()
    answer, columns, kept = MODELS[name](A, s, B, seed, **more)
    spent = time.process_time() - start
    return [*measures(answer, t, y.std()), columns, kept, spent]


def given(pairs):
    """Return the arguments of --set: numbers where they are numbers."""
    found = {}
    for pair in pairs:
        name, value = pair.split("=")
        found[name] = value if value == "auto" else int(value) if value.isdigit() else float(value)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=200)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--rows", type=int, default=ROWS, help="of generated tables, elevation")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    drawn["rows"] = args.rows
    more = given(args.set)
    print("| set | model | CRPS | less the first | pinball | density | R2 | 50 % | 80 % | 90 % |"
          " width | columns | rows kept | fit, s |")  # fmt: skip
    print("|---|---|" + "---:|" * 12)
    for table in args.sets.split(","):
        base = None
        for name in args.models.split(","):
            own = more if name.startswith(("defaults", "search")) else {}
            seeds = range(args.first_seed, args.first_seed + args.seeds)
            found = np.array([judged(name, SETS[table], seed, own) for seed in seeds])
            base = found[:, 0] if base is None else base
            less = found[:, 0] - base
            error = less.std(ddof=1) / np.sqrt(len(less)) if len(less) > 1 else 0.0
            m = found.mean(axis=0)
            density = "-" if np.isnan(m[2]) else f"{m[2]:.3f}"
            print(f"| {table} | {name} | {m[0]:.4f} | {less.mean():+.4f} ({error:.4f}) | "
                  f"{m[1]:.4f} | {density} | {m[3]:.3f} | {m[4]:.3f} | {m[5]:.3f} | {m[6]:.3f} | "
                  f"{m[7]:.2f} | {m[8]:.1f} | {m[9]:.0f} | {np.median(found[:, 10]):.2f} |",
                  flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
