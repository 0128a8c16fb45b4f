"""The study in the manual of proset (its Tables E1 to E12), beside its figures and its program.

    OMP_NUM_THREADS=1 python benchmarks/quality/proset_paper.py --folder FOLDER
        [--experiments E1,E2,...,E12,joint] [--sets iris_2f,wine,...] [--seeds 0-9]
        [--programs psephos,proset,proset-refit,knn,xgboost] [--table]

Every experiment on one table, with one seed and one program, is a JSON file in FOLDER; a second
run skips what is there. `--table` only reads them. proset 0.6.1 asks for an older matplotlib: it
is in no extra, install it without its dependencies, and with statsmodels and xlsxwriter.

Tables: all eleven of the study. Four come with scikit-learn; the others are drawn anew from each
seed. Seed s also draws the split (70/30, stratified) and the five folds, the same for all
programs. The study has one split, and a version of the program before 0.5.

E1, E2, E3: 50 random pairs of lambda_v (1e-6 to 1e-1) and lambda_w (1e-9 to 1e-4) at B = 1, then
B = 0 ... 10 with the one chosen; share of L1 .95, .50, .05 (printed as the share of L2: .05, .50,
.95). E4: as E3, the least mean taken. E5: 11 values of lambda_v, lambda_w = 1e-8. E6: only B is
chosen, lambda_v = 1e-3. E7: E6 with 100, 300, 1,500 candidates. E10: E3 on the further tables.
Chosen is the most penalised of the candidates not worse than the least mean log-loss plus its
standard deviation over the folds (divisor 4), which the study calls one standard error.
Candidates are grouped by right and wrong answers, as in the study.

`proset` does the same with the authors' program on scaled columns: the same folds and pairs, its
tolerances (1e10 in folds, 1e7 at last), its own grouping (likelihood, beta = .1), which later
batches alone depend on. `proset-refit` spares it the search: their last fit with what ours
chose. `joint` is today's search of either program by itself, with its own folds: lambda_v x B.

E8, E11, k-NN: scaled columns, k = 1 ... 100; the largest k not worse. E9, E12, XGBoost ('hist'):
100 draws of depth (0 to 9 in the study's count, 0 to 19 for five and six columns of XOR; depth 0
is one split, XGBoost's 1), share of columns at a node and of rows for a tree (.1 to .9 each) with
100 trees and rate .1; of those not worse the least depth, then columns, then rows. Then 1 to
1,000 trees at rate .01, the fewest not worse. Columns: those of positive importance.
"""

import argparse
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from _proset_sets import PLANS, SETS, TABLES, case_of
from sklearn.metrics import balanced_accuracy_score, log_loss, roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from psephos import ProsetClassifier
from psephos.files.atomic import write_whole
from psephos.protocol import ProsetSearchCV

MOST_BATCHES = 10
FIXED = {"lambda_v": 1e-3, "lambda_w": 1e-8}
GRID = np.logspace(-6, -1, 11)
NEIGHBOURS = 100
DRAWS = 100
DEPTHS = {"xor5": 20, "xor6": 20, "xor6+6": 20}  # else 10, counted from 0


@dataclass(frozen=True)
class Cell:
    """One experiment on one table with one seed, by one program."""

    experiment: str
    name: str
    seed: int
    program: str

    @property
    def key(self):
        return f"{self.experiment}_{self.name}_{self.program}_seed{self.seed}"


def admissible(table):
    """Return the threshold, and which candidates are not worse."""
    mean, sd = np.array(table["mean"]), np.array(table["sd"])
    best = int(np.argmin(mean))
    return float(mean[best] + sd[best]), mean <= mean[best] + sd[best]


def chosen_row(table, rule="one_sd"):
    """Return the row chosen, and the threshold; rows come the most penalised first."""
    threshold, inside = admissible(table)
    return int(np.argmin(table["mean"]) if rule == "best" else np.argmax(inside)), threshold


def part(table, where):
    """Return the rows of a table (a dict of lists) where `where` is true."""
    return {name: np.asarray(values)[where].tolist() for name, values in table.items()}


def row_of(table, k):
    return {name: table[name][k] for name in ("lambda_v", "lambda_w", "n_batches")}


# ------------------------------------------------------------------ ours
def ours(case, plan, seed, lambda_w=FIXED["lambda_w"], **search):
    """Return a search of ours, done."""
    grouping = "likelihood" if plan.chooses == "joint" else "correct"
    model = ProsetClassifier(
        lambda_w=lambda_w, alpha_v=plan.alpha, alpha_w=plan.alpha, grouping=grouping, fallback=None,
        n_candidates=plan.n_candidates, random_state=seed,
    )  # fmt: skip
    own = {} if plan.chooses == "joint" else {"cv": case.folds}
    return (
        ProsetSearchCV(model, max_batches=MOST_BATCHES, **own)
        .set_params(**search)
        .fit(case.A, case.s)
    )


def by_psephos(case, cell, plan, place):
    """Return our last model, and what led to it."""
    rule, before, given = "one_sd", [], FIXED
    if plan.chooses in ("two-stage", "joint"):
        search = ours(case, plan, cell.seed, strategy=plan.chooses)
    else:
        if plan.chooses == "best":
            rule, first = "best", needed(Cell("E3", cell.name, cell.seed, "psephos"), place)
            before = [first["stages"][0]]
            given = row_of(before[0], chosen_row(before[0], "best")[0])
        if plan.chooses == "grid":
            table = ours(case, plan, cell.seed, max_batches=1).cv_results_
            before = [part(table, table["n_batches"] == 1)]
            given = row_of(before[0], chosen_row(before[0])[0])
        settings = {"lambda_v_grid": [given["lambda_v"]], "rule": rule}
        search = ours(case, plan, cell.seed, given["lambda_w"], **settings)
    table = {n: search.cv_results_[n] for n in ("lambda_v", "lambda_w", "n_batches", "mean", "sd")}
    number = search.cv_results_["stage"]
    stages = before + [part(table, number == k) for k in np.unique(number).tolist()]
    model = search.best_estimator_
    size = {"columns": model.n_features_used_, "prototypes": int(model.n_prototypes_.sum())}
    return model.predict_proba(case.B), size | {"chosen": search.best_params_, "stages": stages}


# ------------------------------------------------------------------ the authors' program
def package(plan, seed, factr, lambda_v, lambda_w, n_batches):
    from proset import ClassifierModel

    return ClassifierModel(
        n_iter=n_batches, lambda_v=lambda_v, lambda_w=lambda_w, alpha_v=plan.alpha,
        alpha_w=plan.alpha, num_candidates=plan.n_candidates, solver_factr=factr,
        random_state=np.random.RandomState(seed),
    )  # fmt: skip


def package_stage(case, plan, seed, penalties, batches):
    """Return the table of penalties x batches: mean and deviation of log-loss over the folds."""
    losses = np.empty((len(penalties), len(batches), len(case.folds)))
    for f, (train, test) in enumerate(case.folds):
        scaler = StandardScaler().fit(case.A[train])
        Z, Q = scaler.transform(case.A[train]), scaler.transform(case.A[test])
        for k, one in enumerate(penalties):
            model = package(plan, 1000 * seed + f, 1e10, **one, n_batches=int(batches[-1]))
            model.fit(Z, case.s[train])
            losses[k, :, f] = -model.score(Q, case.s[test], n_iter=batches)
    flat = losses.reshape(-1, len(case.folds))
    return {
        "lambda_v": np.repeat([one["lambda_v"] for one in penalties], len(batches)).tolist(),
        "lambda_w": np.repeat([one["lambda_w"] for one in penalties], len(batches)).tolist(),
        "n_batches": np.tile(batches, len(penalties)).tolist(),
        "mean": flat.mean(axis=1).tolist(), "sd": flat.std(axis=1, ddof=1).tolist(),
    }  # fmt: skip


def package_choice(case, cell, plan, place):
    """Return what the study's two stages choose with the authors' program, and the stages."""
    rule, stages, given = "one_sd", [], [FIXED]
    if plan.chooses == "two-stage":  # the pairs ours drew
        pairs = needed(Cell(cell.experiment, cell.name, cell.seed, "psephos"), place)["stages"][0]
        given = [{n: pairs[n][k] for n in FIXED} for k in range(len(pairs["mean"]))]
    if plan.chooses == "grid":
        given = [FIXED | {"lambda_v": value} for value in GRID[::-1].tolist()]
    if plan.chooses == "best":
        rule = "best"
        stages = needed(Cell("E3", cell.name, cell.seed, "proset"), place)["stages"][:1]
    elif plan.chooses != "fixed":
        stages = [package_stage(case, plan, cell.seed, given, np.array([1]))]
    if stages:
        row = row_of(stages[0], chosen_row(stages[0], rule)[0])
        given = [{n: row[n] for n in FIXED}]
    stages.append(package_stage(case, plan, cell.seed, given, np.arange(MOST_BATCHES + 1)))
    return row_of(stages[-1], chosen_row(stages[-1], rule)[0]), stages


def by_package(case, cell, plan, place):
    """Return the last model of the authors' program, and what led to it."""
    if cell.program == "proset" and plan.chooses == "joint":
        from proset.utility import select_hyperparameters

        found = select_hyperparameters(
            package(plan, cell.seed, 1e7, **FIXED, n_batches=1), case.A, case.s,
            transform=StandardScaler(), random_state=np.random.RandomState(cell.seed),
        )  # fmt: skip
        P, model = found["model"].predict_proba(case.B), found["model"]["model"]
        told = model.get_params()
        chosen = {name: float(told[name]) for name in FIXED} | {"n_batches": int(told["n_iter"])}
        stages = []
    else:
        if cell.program == "proset":
            chosen, stages = package_choice(case, cell, plan, place)
        else:
            same = Cell(cell.experiment, cell.name, cell.seed, "psephos")
            chosen, stages = needed(same, place)["chosen"], []
        scaler = StandardScaler().fit(case.A)
        model = package(plan, cell.seed, 1e7, **chosen)
        model.fit(scaler.transform(case.A), case.s)
        P = model.predict_proba(scaler.transform(case.B))
    held = model.set_manager_
    columns, prototypes = len(held.get_active_features()), int(held.get_num_prototypes())
    size = {"columns": columns, "prototypes": prototypes}
    P = np.asarray(P, dtype=float)  # single precision: they sum to 1 but nearly
    return P / P.sum(axis=1, keepdims=True), size | {"chosen": chosen, "stages": stages}


# ------------------------------------------------------------------ the others
def summed_up(losses):
    return {"mean": losses.mean(axis=1).tolist(), "sd": losses.std(axis=1, ddof=1).tolist()}


def by_knn(case, cell, plan, place):
    """Return the nearest neighbours' answers with the largest k that is not worse."""
    labels = np.unique(case.s)
    most = min(NEIGHBOURS, *(len(train) for train, _ in case.folds))
    losses = np.empty((most, len(case.folds)))
    for f, (train, test) in enumerate(case.folds):
        scaler = StandardScaler().fit(case.A[train])
        model = KNeighborsClassifier(most).fit(scaler.transform(case.A[train]), case.s[train])
        near = model.kneighbors(scaler.transform(case.A[test]), return_distance=False)
        counts = np.cumsum(case.s[train][near][:, :, None] == labels, axis=1)
        for k in range(1, most + 1):
            losses[k - 1, f] = log_loss(case.s[test], counts[:, k - 1] / k, labels=labels)
    table = summed_up(losses[::-1]) | {"k": list(range(most, 0, -1))}  # the smoothest first
    k = table["k"][chosen_row(table)[0]]
    scaler = StandardScaler().fit(case.A)
    model = KNeighborsClassifier(k).fit(scaler.transform(case.A), case.s)
    told = {"columns": case.A.shape[1], "chosen": {"k": k}, "stages": [table]}
    return model.predict_proba(scaler.transform(case.B)), told


def boosted(parts, params, n_trees, seed, watched=None):
    """Return a booster, and its log-loss on the watched rows after every tree."""
    import xgboost

    said = {} if watched is None else {"evals": [(watched, "left")], "evals_result": {}}
    model = xgboost.train(params | {"seed": seed}, parts, n_trees, verbose_eval=False, **said)
    return model, [] if watched is None else next(iter(said["evals_result"]["left"].values()))


def by_xgboost(case, cell, plan, place):
    """Return XGBoost's answers after the study's two stages."""
    import xgboost

    def matrix(X, y, ref=None):
        return xgboost.QuantileDMatrix(X, y, ref=ref, nthread=1)

    def follow(params, n_trees):
        return [boosted(a, params, n_trees, cell.seed, b)[1] for a, b in folds]

    n_classes, p = len(np.unique(case.s)), case.A.shape[1]
    task = {"objective": "binary:logistic", "eval_metric": "logloss"}
    if n_classes > 2:
        task = {"objective": "multi:softprob", "eval_metric": "mlogloss", "num_class": n_classes}
    task |= {"tree_method": "hist", "nthread": 1}
    folds = []
    for train, test in case.folds:
        a = matrix(case.A[train], case.s[train])
        folds.append((a, matrix(case.A[test], case.s[test], a)))
    rng = np.random.default_rng(cell.seed)
    drawn = [
        (int(rng.integers(DEPTHS.get(cell.name, 10))), rng.uniform(0.1, 0.9), rng.uniform(0.1, 0.9))
        for _ in range(DRAWS)
    ]
    drawn = sorted((d, c if p > 2 else 1.0, r) for d, c, r in drawn)  # the simplest first
    trials = [{"max_depth": d + 1, "colsample_bynode": c, "subsample": r} for d, c, r in drawn]
    last = [[path[-1] for path in follow(task | one | {"eta": 0.1}, 100)] for one in trials]
    first = summed_up(np.array(last)) | {"drawn": [list(one) for one in drawn]}
    k = chosen_row(first)[0]
    params = task | trials[k] | {"eta": 0.01}
    second = summed_up(np.array(follow(params, 1000)).T)
    n_trees = 1 + chosen_row(second)[0]
    model = boosted(matrix(case.A, case.s), params, n_trees, cell.seed)[0]
    P = model.predict(xgboost.DMatrix(case.B, nthread=1)).astype(float)
    P = np.column_stack([1 - P, P]) if n_classes == 2 else P / P.sum(axis=1, keepdims=True)
    names = ("depth", "columns_at_node", "rows_of_tree")
    chosen = dict(zip(names, drawn[k], strict=True)) | {"n_trees": n_trees}
    return P, {"columns": len(model.get_score()), "chosen": chosen, "stages": [first, second]}


BY = {
    "psephos": by_psephos, "proset": by_package, "proset-refit": by_package, "knn": by_knn,
    "xgboost": by_xgboost,
}  # fmt: skip


# ------------------------------------------------------------------ cells
def starts(cell, plan):
    """Yield (experiment, program) of the cells whose results this one reads."""
    if cell.program == "proset-refit" or (cell.program, plan.chooses) == ("proset", "two-stage"):
        yield cell.experiment, "psephos"
    elif plan.chooses == "best":
        yield "E3", cell.program


def needed(cell, place):
    """Return the result of a cell; do it, if it is not there."""
    path = place / f"{cell.key}.json"
    if path.exists():
        return json.loads(path.read_text(encoding="utf-8"))
    case, plan = case_of(cell.name, cell.seed), PLANS[cell.experiment]
    for experiment, program in starts(cell, plan):  # not its own time
        needed(Cell(experiment, cell.name, cell.seed, program), place)
    start = time.process_time()
    with threadpool_limits(1):
        P, told = BY[cell.program](case, cell, plan, place)
    spent = time.process_time() - start
    scores = {
        "log_loss": log_loss(case.t, P),
        "roc_auc": roc_auc_score(case.t, P[:, 1] if P.shape[1] == 2 else P, multi_class="ovo"),
        "balanced_accuracy": balanced_accuracy_score(case.t, P.argmax(axis=1)),
    }
    thresholds = [chosen_row(stage)[1] for stage in told["stages"]]
    found = {"cell": asdict(cell), "cpu_seconds": spent, "thresholds": thresholds, **scores, **told}
    write_whole(path, json.dumps(found).encode())
    print(f"{cell.key}: log-loss {scores['log_loss']:.3f}, {spent:.1f} CPU s", flush=True)
    return found


# ------------------------------------------------------------------ command
def kept(args):
    """Return {(experiment, set, program): {seed: result}} of what FOLDER holds."""
    found = {}
    for cell in cells(args):
        path = args.folder / f"{cell.key}.json"
        if path.exists():
            key = cell.experiment, cell.name, cell.program
            found.setdefault(key, {})[cell.seed] = json.loads(path.read_text(encoding="utf-8"))
    kinds = list(PLANS), list(SETS), list(BY)

    def place(key):
        return [kind.index(word) for kind, word in zip(kinds, key, strict=True)]

    return {key: found[key] for key in sorted(found, key=place)}


def arguments():
    def among(known):
        def names(text):
            words = text.split(",")
            if unknown := set(words) - set(known):
                raise argparse.ArgumentTypeError(f"{sorted(unknown)} not among {list(known)}")
            return words

        return names

    def numbers(text):
        first, _, last = text.partition("-")
        return range(int(first), int(last or first) + 1)

    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--experiments", type=among((*PLANS, "E7")), default=list(PLANS))
    parser.add_argument("--sets", type=among(SETS), default=list(SETS))
    parser.add_argument("--seeds", type=numbers, default=range(10), help="as 0-9")
    parser.add_argument("--programs", type=among(BY), default=list(BY))
    parser.add_argument("--table", action="store_true")
    return parser.parse_args()


def cells(args):
    """Yield the cells asked for, a seed after another."""
    asked = [e for e in PLANS if e in args.experiments or e.partition("-")[0] in args.experiments]
    for seed in args.seeds:
        for experiment in asked:
            plan = PLANS[experiment]
            for name in (n for n in plan.sets if n in args.sets):
                for program in (p for p in plan.programs if p in args.programs):
                    yield Cell(experiment, name, seed, program)


def main():
    args = arguments()
    args.folder.mkdir(parents=True, exist_ok=True)
    if not args.table:
        for cell in cells(args):
            needed(cell, args.folder)
        return
    found = kept(args)
    for show in TABLES:
        show(found)


if __name__ == "__main__":
    main()
