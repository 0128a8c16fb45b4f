"""Labels that are missing or one-sidedly wrong: a reference's table, and LIoIS and its parts.

    PSEPHOS_DATA=... python benchmarks/quality/weak_labels.py table OUT.jsonl --seeds 0-14
    python benchmarks/quality/weak_labels.py compare OUT.jsonl --reference results.jsonl
    PSEPHOS_DATA=... python benchmarks/quality/weak_labels.py objective --program reference.py
    python benchmarks/quality/weak_labels.py excess OUT.jsonl --seeds 0-19
    PSEPHOS_DATA=... python benchmarks/quality/weak_labels.py fat OUT.jsonl --sets prostate_6033

A seed divides a set: a quarter is the test part, 100 rows are labelled, the rest is unlabelled; a
labelled positive is recorded as negative with the chance `flip`. Inputs are standardised, scores
linear, ridge .01, sigmoid loss. `table` fits every method and appends a line a seed and method;
what is there is not fitted again, so that a study runs in pieces. `compare` prints the means, the
paired differences to the reference (by cell, Holm-corrected) and LIoIS less its parts with 95 %
intervals. Seeds divide one set again and again: intervals are of the division, not of new data.
`objective` compares the objective reached with the reference program's, from equal starts.
`excess` simulates the error of LIoIS above the least error as the sample grows. `fat` compares, by
the protocol 'quick' and on the true classes, models that are told 40 % of the labels, with .3 of
the positives among them recorded as negative (for each seed other rows); '-prior' are given the
true share of positives among the unlabelled rows, ranks, and LIoIS the non-negative risk.
"""

import argparse
import importlib.util
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
from forest_sets import read
from realdata import load as load_groups
from scipy import stats
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score

from psephos import LIoISClassifier, OneSidedNoiseClassifier, PUClassifier
from psephos.models.weak.learner import least
from psephos.protocol import compare as compare_models
from psephos.protocol import known_models
from psephos.supervision import (
    ULSIF,
    ElkanNotoPrior,
    MarginLoss,
    one_sided_risk,
    pu_risk,
    supervised_risk,
)

SETS = {"breast_cancer": (1,), "ionosphere": (1,), "satellite": (1, 2, 5), "gauss": (1,)}
ALPHA, LABELLED = 0.01, 100
PLAIN = {"loss": "sigmoid", "alpha": ALPHA, "scaling": "standard", "random_state": 0}
FIXED = ULSIF(sigma="median", alpha=0.1, random_state=0)
# methods of the reference, then ours beside them
OF_REFERENCE = ("noisy supervised", "clean supervised", "uPU", "nnPU", "oIS", "LIoIS", "oIS oracle")
PARTS = ("nnPU", "uPU", "oIS", "noisy supervised")


def load(name):
    """Return X and y, True of the positive class."""
    if name == "gauss":
        rng = np.random.RandomState(0)
        X = np.r_[rng.randn(1500, 10) + 0.6, rng.randn(1500, 10) - 0.6]
        return X, np.arange(3000) < 1500
    if name == "breast_cancer":
        X, y = load_breast_cancer(return_X_y=True)
        return X, y == 1
    X, y = read(name)
    return X, np.isin(y, SETS[name])


class Division:
    """What a seed makes of a set: test rows, labelled rows as recorded, unlabelled rows."""

    def __init__(self, X, y, seed, flip):
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(X))
        cut = len(X) // 4
        rest = order[cut:]
        self.X = (X - X[rest].mean(0)) / (X[rest].std(0) + 1e-9)
        self.y, self.test, self.rest = y, order[:cut], rest
        labelled = rest[:LABELLED]
        recorded = y[labelled].astype(float)
        recorded[y[labelled] & (rng.random(LABELLED) < flip)] = 0.0
        self.true = np.r_[y[labelled].astype(float), np.full(len(rest) - LABELLED, np.nan)]
        self.recorded = np.r_[recorded, np.full(len(rest) - LABELLED, np.nan)]
        self.codes = np.where(np.isnan(self.recorded), -1, self.recorded).astype(int)
        self.share = float(y[rest[LABELLED:]].mean())
        self.flip = flip

    def prior(self, kind):
        """Return the share of positives among unlabelled rows, or Elkan and Noto's estimate."""
        if kind == "known":
            return self.share
        Z = self.X[self.rest]
        parts = Z[self.codes == 1], Z[self.codes == -1]
        return ElkanNotoPrior(random_state=0).fit(*parts).prior_

    def accuracy(self, model):
        """Return the accuracy on the test part of a model fitted on the recorded labels."""
        model.fit(self.X[self.rest], self.recorded)
        return accuracy_score(self.y[self.test], model.predict(self.X[self.test]) == 1)

    def of_risk(self, risk):
        """Return the accuracy of the linear score of least risk."""
        Z, rng = self.X[self.rest], np.random.default_rng(0)
        starts = [rng.normal(0, s, Z.shape[1] + 1) for s in (0.01, 0.1, 0.1)]
        w = least(Z, risk, ALPHA, starts)[0]
        said = self.X[self.test] @ w[:-1] + w[-1] > 0
        return accuracy_score(self.y[self.test], said)

    def oracle(self):
        """Return the weights that the flips imply."""
        flipped = (self.codes == 0) & (self.true == 1)
        return np.where(self.codes == 1, 1 / (1 - self.flip), np.where(flipped, 0.0, 1.0))


def methods(own, prior):
    """Return what each method is to fit, by name: a function of nothing."""
    loss, at = MarginLoss("sigmoid"), {**PLAIN, "prior": prior}
    true = np.where(np.isnan(own.true), -1, own.true).astype(int)
    mixed = {**at, "density_ratio": FIXED}
    pu = {**at, "negatives": "ignore"}
    shifted = {f"LIoIS prior {by:+.1f}": by for by in (-0.1, 0.1)}
    nn_shifted = {f"nnPU prior {by:+.1f}": by for by in (-0.1, 0.1)}
    near = lambda by: min(max(prior + by, 0.01), 0.99)  # noqa: E731
    return {
        "noisy supervised": lambda: own.of_risk(supervised_risk(own.codes, loss)),
        "clean supervised": lambda: own.of_risk(supervised_risk(true, loss)),
        "uPU": lambda: own.accuracy(PUClassifier(risk="unbiased", **pu)),
        "nnPU": lambda: own.accuracy(PUClassifier(**pu)),
        "oIS": lambda: own.accuracy(OneSidedNoiseClassifier(**mixed)),
        "LIoIS": lambda: own.accuracy(LIoISClassifier(**mixed)),
        "oIS oracle": lambda: own.of_risk(one_sided_risk(own.codes, own.oracle(), loss)),
        "LIoIS, uLSIF by leave-one-out": lambda: own.accuracy(LIoISClassifier(**at)),
        "LIoIS, KLIEP": lambda: own.accuracy(LIoISClassifier(density_ratio="kliep", **at)),
        "LIoIS, gamma by cv": lambda: own.accuracy(LIoISClassifier(gamma="cv", **mixed)),
        "LIoIS, ranks": lambda: own.accuracy(LIoISClassifier(**{**at, "scaling": "rank"})),
        **{
            name: lambda by=by: own.accuracy(LIoISClassifier(**{**mixed, "prior": near(by)}))
            for name, by in shifted.items()
        },
        **{
            name: lambda by=by: own.accuracy(PUClassifier(**{**pu, "prior": near(by)}))
            for name, by in nn_shifted.items()
        },
    }


# ----------------------------------------------------------------------------- the table
def table(args):
    """Append a line for each set, seed, flip, prior and method."""
    done = {key_of(line) for line in lines_of(args.out)}
    with open(args.out, "a") as file:
        for name in args.sets:
            X, y = load(name)
            for seed in args.seeds:
                for flip in args.flips:
                    own = Division(X, y, seed, flip)
                    for kind in args.priors:
                        prior = own.prior(kind)
                        for method, fit in methods(own, prior).items():
                            line = {"set": name, "flip": flip, "prior_is": kind, "seed": seed}
                            line |= {"method": method, "prior": prior}
                            if key_of(line) in done or (
                                args.methods and method not in args.methods
                            ):
                                continue
                            file.write(json.dumps(line | {"accuracy": fit()}) + "\n")
                            file.flush()


def key_of(line):
    return tuple(line[k] for k in ("set", "flip", "prior_is", "seed", "method"))


def lines_of(path):
    if not Path(path).exists():
        return []
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def compare(args):
    """Print the table, its differences to the reference, and LIoIS beside its parts."""
    ours = {key_of(line): line["accuracy"] for line in lines_of(args.out)}
    cells = sorted(
        {key[:3] for key in ours}, key=lambda c: (c[2] != "known", list(SETS).index(c[0]), c[1])
    )
    names = list(dict.fromkeys(key[4] for key in ours))
    seeds = lambda cell, m: {k[3]: v for k, v in ours.items() if k[:3] == cell and k[4] == m}  # noqa: E731
    for cell in cells:
        print(
            "| "
            + " | ".join(map(str, cell))
            + " | "
            + ", ".join(
                f"{m} {np.mean(list(seeds(cell, m).values())):.4f}" for m in names if seeds(cell, m)
            )
            + " |"
        )
    for part in (
        *PARTS,
        "LIoIS, gamma by cv",
        "LIoIS, uLSIF by leave-one-out",
        "LIoIS, KLIEP",
        "LIoIS, ranks",
    ):
        print(f"\nLIoIS less {part}")
        for cell in cells:
            print("  ", *cell, told(paired(seeds(cell, "LIoIS"), seeds(cell, part))))
    for kind in sorted({c[2] for c in cells}):
        for m, by in (("nnPU", "-0.1"), ("nnPU", "+0.1"), ("LIoIS", "-0.1"), ("LIoIS", "+0.1")):
            own = [c for c in cells if c[2] == kind]
            d = [np.mean(paired(seeds(c, f"{m} prior {by}"), seeds(c, m))) for c in own]
            print(f"prior {kind}, {by}: {m} {np.mean(d):+.4f} over cells, worst {min(d):+.4f}")
    if args.reference:
        against(args.reference, cells, seeds)


def against(path, cells, seeds):
    """Print the differences to the reference by cell and method, with Holm's correction."""
    theirs = {(r["set"], r["flip"], r["prior_is"], r["seed"]): r for r in lines_of(path)}
    found = []
    for cell in cells:
        for method in OF_REFERENCE:
            own = seeds(cell, method)
            d = np.array([v - theirs[(*cell, s)][method] for s, v in own.items()])
            p = 1.0 if np.ptp(d) == 0 and d.mean() == 0 else float(stats.ttest_1samp(d, 0).pvalue)
            found.append((cell, method, float(d.mean()), p, len(d)))
    mean = np.mean([f[2] for f in found])
    print(
        f"\nagainst the reference: {len(found)} cells, mean difference {mean:+.5f}, greatest "
        f"{max(found, key=lambda f: abs(f[2]))[:3]}"
    )
    for method in OF_REFERENCE:
        own = [f for f in found if f[1] == method]
        print(
            f"  {method}: mean {np.mean([f[2] for f in own]):+.5f}, "
            f"from {min(f[2] for f in own):+.4f} to {max(f[2] for f in own):+.4f}"
        )
    ranked = sorted(found, key=lambda f: f[3])
    beyond = []
    for i, f in enumerate(ranked):
        if f[3] * (len(found) - i) > 0.05:
            break
        beyond.append(f)
    print(f"cells beyond a Holm-corrected 5 %: {len(beyond)}; least p {ranked[0]}")


def paired(first, second):
    return np.array([first[s] - second[s] for s in first if s in second])


def told(d):
    if len(d) < 2:
        return "-"
    half = stats.t.ppf(0.975, len(d) - 1) * d.std(ddof=1) / math.sqrt(len(d))
    return f"{d.mean():+.4f} [{d.mean() - half:+.4f}, {d.mean() + half:+.4f}] ({len(d)} seeds)"


# ----------------------------------------------------------------------------- objectives
def objective(args):
    """Print the objective reached less the reference's, of uPU and one-sided, from equal starts."""
    spec = importlib.util.spec_from_file_location("reference", args.program)
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    loss = MarginLoss("sigmoid")
    for name in args.sets:
        X, y = load(name)
        gaps = []
        for seed in args.seeds:
            own = Division(X, y, seed, args.flips[0])
            Z = own.X[own.rest]
            with_one = np.c_[Z, np.ones(len(Z))]
            for risk in (
                pu_risk(own.codes, own.share, loss),
                one_sided_risk(own.codes, own.oracle(), loss),
            ):
                terms = [
                    (with_one[r], s, c[r])
                    for s, c in ((1, risk.up), (-1, risk.down))
                    for r in (np.flatnonzero(c),)
                ]
                theirs = reference.minimise(terms, Z.shape[1] + 1)
                rng = np.random.default_rng(0)
                starts = [rng.normal(0, s, Z.shape[1] + 1) for s in (0.01, 0.1, 0.1)]
                _, reached, _ = least(Z, risk, ALPHA, starts)
                value = risk.value_and_gradient((with_one @ theirs)[:, None])[0]
                gaps.append(reached - value - ALPHA * theirs[:-1] @ theirs[:-1])
        print(
            f"{name}: objective less the reference's, {len(gaps)} fits: "
            f"greatest {max(gaps):+.2e}, least {min(gaps):+.2e}",
            flush=True,
        )


# ----------------------------------------------------------------------------- excess risk
def excess(args):
    """Simulate: two Gaussians, flips .3, n labelled and 10 n unlabelled; errors above the least."""
    sizes, shift = (50, 100, 200, 400, 800, 1600), 0.6
    dim = 5
    best = stats.norm.cdf(-shift * math.sqrt(dim))
    done = {(line["n"], line["seed"]) for line in lines_of(args.out)}
    with open(args.out, "a") as file:
        for n in sizes:
            for seed in args.seeds:
                if (n, seed) in done:
                    continue
                rng = np.random.default_rng([seed, n])
                y = rng.random(11 * n) < 0.5
                X = rng.normal(0, 1, (11 * n, dim)) + np.where(y, shift, -shift)[:, None]
                recorded = np.where(y & (rng.random(11 * n) < 0.3), 0.0, y.astype(float))
                recorded[n:] = np.nan
                model = LIoISClassifier(
                    **{**PLAIN, "alpha": 0.01 / math.sqrt(n / 50), "prior": 0.5}
                )
                model.fit(X, recorded)
                # the line that it is: an error in closed form
                line = model.vote_.voters
                w = np.zeros(dim)
                w[line.columns] = line.coef[0]
                b, size = float(line.constant[0, 0]), float(np.linalg.norm(w))
                error = 0.5 * (
                    stats.norm.cdf(-(shift * w.sum() + b) / size)
                    + stats.norm.cdf(-(shift * w.sum() - b) / size)
                )
                file.write(json.dumps({"n": n, "seed": seed, "excess": error - best}) + "\n")
                file.flush()
    found = lines_of(args.out)
    means = []
    for n in sizes:
        d = np.array([line["excess"] for line in found if line["n"] == n])
        means.append(d.mean())
        print(
            f"n = {n}: excess error {d.mean():.5f} "
            f"+- {d.std(ddof=1) / math.sqrt(len(d)):.5f} ({len(d)} seeds)"
        )
    slope = np.polyfit(np.log(sizes), np.log(means), 1)[0]
    print(f"excess falls as n^{slope:.2f} (the bound: n^-0.50)")


# ----------------------------------------------------------------------------- fat sets
FAT = {"gut_cirrhosis": 0, "breast_gravier": 1, "prostate_6033": 1}  # codes of disease
MODELS = ("pu", "one-sided-noise", "liois", "rank-ridge", "random-forest", "majority")


def given(name, kind, **settings):
    """Return a contender of other settings, among them the prior."""
    one = known_models()[name]
    fixed = {"classes": [0, 1], "random_state": 0, "scaling": "rank", **settings}

    def build(params, shape, seed):
        own = {k: v for k, v in params.items() if k not in fixed}
        return kind(**{**own, **fixed, "pos_label": shape.positive})

    return replace(one, name=f"{name}-prior", build=build)


def fat(args):
    """Compare on fat sets: 40 % of the rows are labelled, flip .3 of their positives."""
    done = {(line["set"], line["seed"]) for line in lines_of(args.out)}
    with open(args.out, "a") as file:
        for name in args.sets if args.sets != list(SETS) else FAT:
            X, y, groups, _ = load_groups(name)
            ill = y == FAT[name]
            truth = np.where(ill, "positive", "negative")
            for seed in args.seeds:
                if (name, seed) in done:
                    continue
                rng = np.random.default_rng(seed)
                record = np.where(ill & (rng.random(len(y)) < 0.3), "negative", truth)
                record = np.where(rng.random(len(y)) < 0.4, record, None)
                prior = float(ill[[one is None for one in record]].mean())
                own = (
                    given("pu", PUClassifier, prior=prior, negatives="ignore"),
                    given("one-sided-noise", OneSidedNoiseClassifier, prior=prior),
                    given("liois", LIoISClassifier, prior=prior, risk="non-negative"),
                )
                found = compare_models(
                    X,
                    record,
                    [*MODELS, *own],
                    truth=truth,
                    recorded_class="positive",
                    groups=groups,
                    random_state=seed,
                    n_jobs=1,
                    out=Path(f"{args.out}-folders") / f"{name}-{seed}",  # a study can be stopped
                )
                for one in found.summary():
                    line = {"set": name, "seed": seed, "model": one.model}
                    line |= {m: s.mean for m, s in one.measures.items()}
                    line |= {"columns": one.columns_used.mean, "failed": one.n_failed}
                    file.write(json.dumps(line) + "\n")
                file.flush()
    lines = lines_of(args.out)
    for name in dict.fromkeys(line["set"] for line in lines):
        print(name)
        own = [line for line in lines if line["set"] == name]
        best = {
            line["seed"]: line["balanced_accuracy"]
            for line in own
            if line["model"] == "liois-prior"
        }
        for model in dict.fromkeys(line["model"] for line in own):
            rows = [line for line in own if line["model"] == model]
            means = {
                m: np.mean([line[m] for line in rows])
                for m in ("balanced_accuracy", "roc_auc", "pu_f", "columns", "failed")
            }
            d = np.array([best[line["seed"]] - line["balanced_accuracy"] for line in rows])
            figures = ", ".join(f"{k} {v:.3f}" for k, v in means.items())
            print(f"  {model}: {figures}; liois-prior less it {told(d)}")


def seed_list(text):
    """Return 0 ... 14 of '0-14', or the numbers of '0,3'."""
    if "-" in text:
        low, high = text.split("-")
        return list(range(int(low), int(high) + 1))
    return [int(part) for part in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", choices=["table", "compare", "objective", "excess", "fat"])
    parser.add_argument("out", nargs="?", default="weak_labels.jsonl")
    parser.add_argument("--sets", type=lambda t: t.split(","), default=list(SETS))
    parser.add_argument("--seeds", type=seed_list, default=list(range(15)))
    parser.add_argument(
        "--flips", type=lambda t: [float(f) for f in t.split(",")], default=[0.2, 0.4]
    )
    parser.add_argument("--priors", type=lambda t: t.split(","), default=["known", "estimated"])
    parser.add_argument("--methods", type=lambda t: t.split(";"), default=None)
    parser.add_argument("--reference", help="the reference's lines, one a seed")
    parser.add_argument("--program", help="the reference's program")
    args = parser.parse_args()
    globals()[args.study](args)


if __name__ == "__main__":
    main()
