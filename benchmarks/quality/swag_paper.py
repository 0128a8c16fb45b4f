"""The studies of the SWAG paper with its settings, beside its figures (Tables 1 to 4).

    OMP_NUM_THREADS=1 PSEPHOS_DATA=... python benchmarks/quality/swag_paper.py --folder FOLDER
        [--sets meterA,lsvt,breast_gravier] [--learners lasso,linear_svm,rbf_svm,forest]
        [--splits 1] [--grouped] [--sensitivity] [--table] [--figures DIR]

Every result is one JSON file in FOLDER, every search a folder in FOLDER/searches: a second run
skips what is there and goes on with what was begun. `--table` and `--figures` only read them.

Rows: a stratified 80/20 split, split s drawn from seed + s. `--grouped` (lsvt) keeps a subject's
rows on one side, in the split and in the folds (5 of them). Tables: meterA with all products of
two raw columns (36 + 630 = 666 columns); lsvt with age and sex, as in the paper (312);
breast_gravier (2,905) in place of AHUS (15,739), whose figures stand beside but are not compared.
Search: alpha .05 (lsvt .1, then .05; breast_gravier .01), p_max 6 (breast_gravier 8), m 40,000,
r = k = 10, delta .01, all ties kept, candidates drawn as in the paper. The forest has 100 trees
and r = 1, because 500 trees x 2 x 10^7 fits are days. 'logistic' is not in the paper.
"Original": the mechanism on all columns, standardised (not the forest), judged on the same folds;
as in the paper a grid's value of least error is taken and that error reported. Lasso: 100
penalties in [0, .30] (0 counts as 1e-4), of equal ones the largest; linear SVM: C = 1; RBF SVM: C
of 1/4 ... 128, caret's kernel widths; forest: 500 trees, r = 1.
CV errors are minima over many candidates and flatter; test errors do not.

Redundancy: mean |correlation| on the training rows between two columns of a model (of two columns
or more). Beside it: random models of the same sizes from the pool S*; the 95 % range of libraries
whose columns are relabelled at random (which share columns just as the real models do, so that
the range is as wide as their overlap demands); the best columns of the first screening.
"""

import argparse
import itertools
import json
import time
import warnings
from dataclasses import asdict, astuple, dataclass
from math import comb
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from realdata import folder as data_folder
from realdata import load
from scipy.spatial.distance import pdist
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from psephos import SparseWrapperClassifier
from psephos.datasets import first_order_products
from psephos.explain import ColumnNetwork, ErrorDisplay, MechanismDisplay
from psephos.files.atomic import write_whole
from psephos.models.swag.learners.support import C_GRID

ALPHA = {"meterA": (0.05,), "lsvt": (0.1, 0.05), "breast_gravier": (0.01,)}
P_MAX = {"meterA": 6, "lsvt": 6, "breast_gravier": 8}
LEARNERS = {
    "lasso": "lasso", "logistic": "logistic", "linear_svm": "linear_svm",
    "rbf_svm": "rbf_svm(C=None, gamma='sigest')", "forest": "forest",
}  # fmt: skip
WORDS = {
    "lasso": "lasso-logistic", "logistic": "logistic (not in the paper)",
    "linear_svm": "linear SVM", "rbf_svm": "RBF SVM", "forest": "forest (100 trees, r = 1)",
}  # fmt: skip
LAMBDAS = np.maximum(np.linspace(0.30, 0.0, 100), 1e-4)
RELABELLED = 2000
LEAST = 0.05  # share of the models below which a picture leaves a column out
FIGURES = (
    "CV error, least", "CV error, most", "test error, least", "test error, most", "majority, test",
    "size, least", "size, most", "original, CV", "original, test", "original, columns",
)  # fmt: skip
#: Tables 1, 3 and 4, the figures in that order.
PAPER = """
1 meterA lasso .013 .019 0 0 0 4 6 .116 .333 12
1 meterA linear_svm .256 .259 0 .055 0 2 6 .097 .722 666
1 meterA rbf_svm .007 .016 0 .055 0 4 6 .101 .388 666
1 meterA forest .044 .050 0 .278 .111 4 6 .079 .278 666
3 lsvt lasso .058 .067 .115 .231 .192 4 6 .138 .115 10
3 lsvt linear_svm .049 .073 .115 .269 .154 5 6 .186 .192 312
3 lsvt rbf_svm .039 .050 .077 .231 .077 4 6 .130 .077 312
3 lsvt forest .087 .108 .115 .269 .154 3 6 .169 .154 312
4/AHUS breast_gravier lasso .038 .054 .065 .226 .129 6 8 .136 .065 17
4/AHUS breast_gravier linear_svm .031 .049 .065 .194 .129 7 8 .121 .032 15739
4/AHUS breast_gravier rbf_svm .031 .039 .032 .194 .032 5 8 .111 .194 15739
4/AHUS breast_gravier forest .031 .040 .032 .194 .097 5 8 .096 .129 15739
"""
PAPERS = {
    (name, learner): (table, dict(zip(FIGURES, map(float, figures), strict=True)))
    for table, name, learner, *figures in map(str.split, PAPER.strip().splitlines())
}
#: Table 2, the linear SVM on Meter A: (m, alpha) to test range, majority rule, sizes.
TABLE_2 = {
    (10_000, 0.2): ((0.056, 0.5), 0, (5, 6)), (10_000, 0.1): ((0, 0.111), 0, (2, 6)),
    (10_000, 0.05): ((0, 0.056), 0, (2, 6)), (40_000, 0.2): ((0.056, 0.722), 0, (4, 6)),
    (40_000, 0.1): ((0, 0.667), 0, (2, 6)), (40_000, 0.05): ((0, 0.056), 0, (2, 6)),
}  # fmt: skip


@dataclass(frozen=True)
class Study:
    """One search: which rows, which mechanism, which meta-parameters."""

    name: str
    learner: str
    grouped: bool
    split: int
    m: int
    alpha: tuple[float, ...]
    p_max: int
    repeats: int
    seed: int
    kind: str  # 'study', or 'sensitivity', which has no original

    @property
    def case(self):
        return self.name + "-grouped" * self.grouped

    @property
    def key(self):
        told = f"-m{self.m}-alpha{self.alpha[0]:g}" if self.kind == "sensitivity" else ""
        return f"{self.kind}-{self.case}-{self.learner}{told}-split{self.split}"


def table_of(name):
    """Return (X, y, groups, column names)."""
    X, y, groups, names = load(name)
    if name == "meterA":
        X, names = first_order_products(X, names)
    if name == "lsvt":
        with np.load(data_folder() / name / f"{name}.npz", allow_pickle=False) as archive:
            X = np.column_stack([X, archive["age"], archive["gender_female"]])
        names = [*names, "age", "female"]
    return X, y, groups, names


def rows_of(study, y, groups):
    """Return training rows, test rows, and folds as positions in the training rows."""
    seed, rows, units = study.seed + study.split, np.arange(len(y)), None
    kind, n_folds = (StratifiedGroupKFold, 5) if study.grouped else (StratifiedKFold, 10)
    if study.grouped:
        train, test = next(kind(5, shuffle=True, random_state=seed).split(rows, y, groups))
        units = groups[train]
    else:
        train, test = train_test_split(rows, test_size=0.2, stratify=y, random_state=seed)
    states = range(1000 * seed, 1000 * seed + study.repeats)
    cuts = (kind(n_folds, shuffle=True, random_state=state) for state in states)
    return train, test, [fold for cut in cuts for fold in cut.split(train, y[train], units)]


def wrapper(study, folds, n_jobs, folder=None):
    return SparseWrapperClassifier(
        LEARNERS[study.learner], p_max=study.p_max, m=study.m, alpha=study.alpha, delta=0.01,
        cv=folds, ties="all", sampling="parent", folder=folder, n_jobs=n_jobs,
        random_state=study.seed + study.split,
    )  # fmt: skip


def extent(values):
    return [np.min(values).item(), np.max(values).item()]


def searched(model, Z, t):
    """Return what the paper tells of the models that post-processing chose, and more."""
    chosen, seen = model.library_.chosen(), model.library_.dimensions
    votes = model.contributions(Z)[:, :-1]  # the last voter is the prior of an unreadable row
    test = (model.classes_[(votes > 0).astype(int)] != t[:, None]).mean(axis=0)
    tried = int(seen.n_candidates.sum())
    return {
        "cv": extent(chosen.error), "test": extent(test), "test_mean": float(test.mean()),
        "majority": float((model.predict(Z) != t).mean()), "sizes": extent(chosen.dimension),
        "n_models": len(chosen), "n_columns": len(chosen.columns), "n_candidates": tried,
        "n_fits": tried * model.n_splits_, "dimensions": seen.columns(),
        "models": [subset.tolist() for subset in chosen.subsets()],
        "words": {int(j): word for j, word in zip(chosen.columns, chosen.words, strict=True)},
        "model_cv": chosen.error.tolist(), "model_test": test.tolist(),
        "edges": seen.edges.tolist(), "counts": seen.counts.tolist(),
    }  # fmt: skip


def redundancy(library, X, seed):
    """Return mean |correlation| within models, of random ones, and of the first screening's."""
    sizes = library.dimension
    pool = np.array([library.subset(m)[0] for m in np.flatnonzero(sizes == 1)])  # best first
    whole = {"strong": library.take(np.flatnonzero(sizes > 1))}
    whole["chosen"] = whole["strong"].chosen()
    q, found = len(pool), {}
    if q < 2:
        return found
    table = np.abs(np.corrcoef(X[:, pool].T))
    upper = np.triu(np.ones((q, q)), 1)
    best = {d: float((table * upper)[:d, :d].sum() / comb(d, 2)) for d in range(2, q + 1)}
    rng = np.random.default_rng(seed)
    for kind, part in whole.items():
        if not len(part):
            continue
        reads = np.asarray(part.usage()[:, pool].toarray(), dtype=float)
        pairs = np.array([1 / comb(d, 2) for d in part.dimension.tolist()]) / len(part)
        joint = upper * (reads.T @ (pairs[:, None] * reads))  # sums to 1
        orders = (rng.permutation(q) for _ in range(RELABELLED))
        null = np.array([(joint * table[np.ix_(o, o)]).sum() for o in orders])
        value = float((joint * table).sum())
        found[kind] = {
            "within": value, "random": float((table * upper).sum() / comb(q, 2)),
            "range": np.quantile(null, [0.025, 0.975]).tolist(),
            "below": float((1 + (null <= value).sum()) / (1 + RELABELLED)),
            "best": float(np.mean([best[d] for d in part.dimension.tolist()])),
            "n_models": len(part),
        }  # fmt: skip
    return found


def sigest(X):
    """Return caret's kernel width for all columns of the training rows."""
    square = pdist(StandardScaler().fit_transform(X), "sqeuclidean")
    return (1 / np.quantile(square[square > 0], [0.1, 0.9])).mean()


def originals(learner, X, seed):
    """Return {grid value: model on all columns}, in the order of preference among equals."""
    n = len(X)
    if learner == "forest":
        return {500: RandomForestClassifier(500, max_features="sqrt", random_state=seed)}
    if learner == "lasso":
        # lambda = 1 / (n C); so scaled, the intercept is hardly penalised
        said = {"solver": "liblinear", "intercept_scaling": 10.0, "max_iter": 1000}
        said |= {"l1_ratio": 1.0, "random_state": seed}
        grid = {lam: LogisticRegression(C=1 / (n * lam), **said) for lam in LAMBDAS.tolist()}
    elif learner == "logistic":
        grid = {1e6: LogisticRegression(C=1e6, max_iter=5000)}
    else:
        kernel, costs = ("linear", (1.0,)) if learner == "linear_svm" else ("rbf", C_GRID)
        grid = {C: SVC(C=C, kernel=kernel, gamma=sigest(X)) for C in costs}
    return {value: make_pipeline(StandardScaler(), model) for value, model in grid.items()}


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def fold_errors(learner, seed, X, y, train, test):
    models = originals(learner, X[train], seed).values()
    return [(fitted(m, X[train], y[train]).predict(X[test]) != y[test]).mean() for m in models]


def original(study, X, y, folds, Z, t, n_jobs):
    """Return CV error, test error and columns of the mechanism on all columns."""
    start, who = time.perf_counter(), (study.learner, study.seed + study.split)
    work = (delayed(fold_errors)(*who, X, y, *fold) for fold in folds)
    errors = np.mean(Parallel(n_jobs=n_jobs)(work), axis=0)
    place = int(np.argmin(np.round(errors, 12)))
    value, model = list(originals(who[0], X, who[1]).items())[place]
    wrong = fitted(model, X, y).predict(Z) != t
    q = int((model[-1].coef_ != 0).sum()) if study.learner == "lasso" else X.shape[1]
    return {"cv": float(errors[place]), "test": float(wrong.mean()), "columns": q, "value": value,
            "seconds": time.perf_counter() - start}  # fmt: skip


def read(path):
    found = json.loads(path.read_text(encoding="utf-8"))
    settings = found["settings"]
    return Study(**settings | {"alpha": tuple(settings["alpha"])}), found


def run(study, place, n_jobs):
    """Do a study and write its result, if it is not there."""
    path = place / f"{study.key}.json"
    if path.exists():
        if read(path)[0] != study:
            raise SystemExit(f"{path} was made with other settings: give another --folder")
        return
    X, y, groups, names = table_of(study.name)
    train, test, folds = rows_of(study, y, groups)
    home = place / "searches" / study.key
    resumed = home.exists()
    model = wrapper(study, folds, n_jobs, home)
    columns = pd.DataFrame(X, columns=names)
    start, spent = time.perf_counter(), time.process_time()
    model.fit(columns.iloc[train], y[train])
    wall, cpu = time.perf_counter() - start, time.process_time() - spent
    found = {
        "settings": asdict(study), "n_train": len(train), "n_test": len(test), "p": X.shape[1],
        "n_jobs": n_jobs, "n_splits": len(folds), "seconds": wall, "cpu_seconds": cpu,
        "resumed": resumed, "swag": searched(model, columns.iloc[test], y[test]),
        "redundancy": redundancy(model.library_, X[train], study.seed),
    }  # fmt: skip
    if study.kind == "study":
        found["original"] = original(study, X[train], y[train], folds, X[test], y[test], n_jobs)
    write_whole(path, json.dumps(found).encode())
    print(f"{study.key}: {wall:.1f} s", flush=True)


def studies(args):
    """Return the searches asked for; those of Table 2 have a quarter of m and m, three alphas."""

    def study(name, learner, split, m, alpha, kind):
        p_max, repeats = args.p_max or P_MAX[name], 1 if learner == "forest" else args.repeats
        grouped = args.grouped and kind == "study"
        return Study(name, learner, grouped, split, m, alpha, p_max, repeats, args.seed, kind)

    if args.sensitivity:
        settings = itertools.product(range(args.splits), (args.m // 4, args.m), (0.2, 0.1, 0.05))
        return [study("meterA", "linear_svm", s, m, (a,), "sensitivity") for s, m, a in settings]
    places = itertools.product(args.sets, args.learners, range(args.splits))
    return [study(*place, args.m, ALPHA[place[0]], "study") for place in places]


def row(*cells):
    print("| " + " | ".join(cells) + " |")


def head(title, *names):
    print(f"\n#### {title}\n")
    row(*names)
    row(*["---"] * len(names))


def between(pair):
    return f"{pair[0]:.3f}–{pair[1]:.3f}"


def figures_of(found):
    """Return the figures of a result that the paper prints too, by name."""
    swag, other = found["swag"], found["original"]
    alone = other["cv"], other["test"], other["columns"]
    each = (*swag["cv"], *swag["test"], swag["majority"], *swag["sizes"], *alone)
    return dict(zip(FIGURES, each, strict=True))


def cells(figures):
    *f, size, size_most, cv, test, columns = figures.values()
    ranges = between(f[:2]), between(f[2:4]), f"{f[4]:.3f}", f"{size:.0f}–{size_most:.0f}"
    return *ranges, f"{cv:.3f}", f"{test:.3f}", f"{columns:.0f}"


def show_results(results):
    head(
        "SWAG and the same mechanism on all columns", "set", "mechanism", "split", "CV error",
        "test error, each model", "majority, test", "columns of a model", "original: CV", "test",
        "columns", "mean test", "models", "their columns", "candidates", "fits", "wall s", "CPU s",
    )  # fmt: skip
    last = None
    for case, learner, found in results:
        swag, paper = found["swag"], PAPERS.get((case, learner))
        if paper and (case, learner) != last:
            row(case, WORDS[learner], f"paper, {paper[0]}", *cells(paper[1]), *["–"] * 7)
        last = case, learner
        more = "≥ " if found["resumed"] else ""
        row(
            case, WORDS[learner], str(found["settings"]["split"]), *cells(figures_of(found)),
            f"{swag['test_mean']:.3f}", f"{swag['n_models']:,}", str(swag["n_columns"]),
            f"{swag['n_candidates']:,}", f"{swag['n_fits']:,}", f"{more}{found['seconds']:.1f}",
            f"{more}{found['cpu_seconds']:.1f}",
        )  # fmt: skip
    rows = dict.fromkeys(f"{case} {found['n_test']}" for case, _, found in results)
    workers = sorted({found["n_jobs"] for *_, found in results})
    print(f"\nTest rows: {', '.join(rows)}. Workers: {', '.join(map(str, workers))}.")


def show_beside(results):
    """Tell, where there are several splits, whether the paper's figure is one of their kind."""
    by_case = {}
    for case, learner, found in results:
        by_case.setdefault((case, learner), []).append(figures_of(found))
    head("The paper's figures against the spread of ours over splits", "set", "mechanism", "figure",
         "splits", "paper", "least", "median", "most", "within")  # fmt: skip
    inside, chance = [], []
    for (case, learner), each in by_case.items():
        for name, paper in PAPERS.get((case, learner), ("", {}))[1].items():
            values, within = [one[name] for one in each], "not compared"
            alike = case != "breast_gravier" and (learner == "lasso" or "columns" not in name)
            if len(each) > 1 and alike:  # the paper rounds 1/18 to .055 and to .056
                inside.append(min(values) - 0.001 <= paper <= max(values) + 0.001)
                chance.append((len(values) - 1) / (len(values) + 1))
                within = "yes" if inside[-1] else "no"
            spread = (f"{f(values):.3g}" for f in (np.min, np.median, np.max))
            row(case, WORDS[learner], name, str(len(each)), f"{paper:g}", *spread, within)
    print(
        f"\n{sum(inside)} of {len(inside)} figures of the paper lie within our spread (where there"
    )
    print(
        f"are two splits or more); of one more split of ours {sum(chance):.0f} would, or more where"
    )
    print("values are equal. The figures of one mechanism are not independent.")


def show_redundancy(results):
    head(
        "Correlation within models: mean |r| of two columns of a model", "set", "mechanism",
        "split", "models", "number", "within a model", "random, same sizes",
        "95 % range, relabelled", "share of relabelled at or below", "best columns of step 1",
    )  # fmt: skip
    less, more = [], []
    for case, learner, found in results:
        for kind, one in found["redundancy"].items():
            row(
                case, WORDS[learner], str(found["settings"]["split"]), kind, str(one["n_models"]),
                f"{one['within']:.3f}", f"{one['random']:.3f}", between(one["range"]),
                f"{one['below']:.4f}", f"{one['best']:.3f}",
            )  # fmt: skip
            if kind == "chosen":
                less.append(one["within"] < one["range"][0])
                more.append(one["within"] > one["range"][1])
    print(f"\nOf {len(less)} searches, the chosen models are less correlated within than 97.5 % of")
    print(f"the relabelled ones in {sum(less)}, more in {sum(more)}.")


def show_sensitivity(found):
    head("Sensitivity (Table 2): linear SVM on Meter A", "m", "alpha", "split", "test error",
         "majority", "columns of a model", "models", "wall s", "paper: test error", "majority",
         "columns")  # fmt: skip
    for one in found:
        setting, swag = one["settings"], one["swag"]
        told = TABLE_2.get((setting["m"], setting["alpha"][0]))
        paper = (between(told[0]), f"{told[1]:.3f}", "{}–{}".format(*told[2])) if told else "–––"
        row(
            f"{setting['m']:,}", f"{setting['alpha'][0]:g}", str(setting["split"]),
            between(swag["test"]), f"{swag['majority']:.3f}", "{}–{}".format(*swag["sizes"]),
            f"{swag['n_models']:,}", f"{one['seconds']:.1f}", *paper,
        )  # fmt: skip


def network_of(found):
    """Return the network of the chosen models of a result."""
    models, words = map(set, found["swag"]["models"]), found["swag"]["words"]
    usage = np.array([[j in columns for j in range(found["p"])] for columns in models])
    return ColumnNetwork.from_usage(usage, [words.get(str(j), "") for j in range(found["p"])])


def display_of(found):
    """Return the histograms of errors of a result, with the original's CV error."""
    swag, seen = found["swag"], found["swag"]["dimensions"]
    size, errors = np.array([len(c) for c in swag["models"]]), np.array(swag["model_cv"])
    chosen = [np.histogram(errors[size == d], swag["edges"])[0] for d in seen["dimension"]]
    parts = seen["dimension"], swag["counts"], chosen, swag["edges"], seen["threshold"]
    reference = {"all columns": found["original"]["cv"]}
    return ErrorDisplay(*map(np.array, (*parts, seen["median"])), "error", reference)


def side_by_side(results):
    """Return the display of the mechanisms of one set and split: one of the paper's tables."""
    swags = [found["swag"] for *_, found in results]
    other = [found["original"] for *_, found in results]
    words = tuple(WORDS[learner] for _, learner, _ in results)
    errors, tests = (
        tuple(np.array(one[key]) for one in swags) for key in ("model_cv", "model_test")
    )
    sizes = tuple(np.array([len(columns) for columns in one["models"]]) for one in swags)
    alone = {word: (one["cv"], one["test"]) for word, one in zip(words, other, strict=True)}
    majority = np.array([one["majority"] for one in swags])
    return MechanismDisplay(words, errors, tests, sizes, majority, alone, "error")


def draw(results, place):
    """Draw Figures 1 and 2, the histograms of Tables 1, 3 and 4, and those of each search."""
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    place.mkdir(parents=True, exist_ok=True)
    numbers = {("meterA", "lasso"): "figure-1", ("lsvt", "rbf_svm"): "figure-2"}
    first = [one for one in results if not one[2]["settings"]["split"]]
    for case in dict.fromkeys(case for case, *_ in first):
        axes = side_by_side([one for one in first if one[0] == case]).plot()
        axes[0, 0].figure.savefig(place / f"table-{case}.png", dpi=90)
    for case, learner, found in first:
        label, number = f"{case}-{learner}", numbers.get((case, learner))
        display_of(found).plot()[0].figure.savefig(place / f"errors-{label}.png", dpi=120)
        if number:
            network = network_of(found).above(LEAST)
            network.plot(least=LEAST).figure.savefig(place / f"{number}-{label}.png", dpi=150)
            network.write(place / f"{number}-{label}.graphml")
            head(f"{number}, {case}, {WORDS[learner]}", "column", "share of models", "role")
            for name, share, role in zip(*list(network.nodes().values())[:3], strict=True):
                row(name, f"{share:.0%}", role)
        plt.close("all")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--sets", type=lambda text: text.split(","), default=list(P_MAX))
    parser.add_argument("--learners", type=lambda text: text.split(","), default=list(LEARNERS))
    numbers = {"m": 40_000, "repeats": 10, "splits": 1, "seed": 0, "n-jobs": 2}
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--p-max", type=int, help="default: the paper's")
    for name in ("grouped", "sensitivity", "table"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--figures", type=Path)
    return parser.parse_args()


def kept(args):
    """Return the studies that FOLDER holds as (case, learner, result), and those of Table 2."""
    places = sorted(map(read, args.folder.glob("*.json")), key=lambda pair: astuple(pair[0]))
    told = [(s.case, s.learner, one) for s, one in places if s.kind == "study"
            and s.name in args.sets and s.learner in args.learners]  # fmt: skip
    return told, [one for study, one in places if study.kind == "sensitivity"]


def main():
    args = arguments()
    args.folder.mkdir(parents=True, exist_ok=True)
    if not args.table and not args.figures:
        for study in studies(args):
            run(study, args.folder, args.n_jobs)
    results, table_2 = kept(args)
    if args.figures:
        draw(results, args.figures)
        return
    for show in (show_results, show_beside, show_redundancy) if results else ():
        show(results)
    if table_2:
        show_sensitivity(table_2)


if __name__ == "__main__":
    main()
