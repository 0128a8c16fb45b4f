"""Tables 1 and 2 and Figure 5 of the SamBA paper, on the six of its data types that are public.

    PSEPHOS_DATA=... python benchmarks/quality/samba_paper.py --plan ten [--tables cog ...]
        [--methods samba ...] [--results FILE] [--studies FOLDER] [--jobs 1]
    python benchmarks/quality/samba_paper.py --print [--results FILE] [--figure FILE.png]

The tables of its metagenome study (640 people, samba_metagenome of PSEPHOS_DATA) have the sizes
that the paper names; of the eight, ec and go are not public. The label (a body mass index of 30 or
more) is inferred: see the note there.

A cell is one method on one table; its rows (a split each) are appended to the results file when
all its splits are done, and a second run skips what is there. `--studies` keeps the study of each
cell, so that one that was interrupted resumes.

Plans. `whole`: supplement E.3.1, ten splits 80/20, 50 draws, five inner folds (`--protocol samba`).
`ten`: the same with ten draws and three inner folds. `small`: two splits, two draws, two folds, for
a test of the script. Hyper-parameters are drawn as in E.3.2.

Methods: the nine of the paper, `lasso` being a linear lasso whose value is compared with 0
(penalty log-uniform from 1e-4 to 1; the paper states neither). Beside them `samba-published`
(Algorithm 3 to the letter), `samba-program` (as the authors' program), an L1-penalised logistic
regression, and `forest-weighted`: the forest with class weights drawn, which E.3.2 does not list.
"""

import argparse
import csv
import os
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.stats import t as student
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import Lasso

from psephos.estimator.distributions import LogUniform
from psephos.protocol import PROTOCOLS, Contender, Protocol, compare, known_models, read_table
from psephos.protocol.running.contenders import prepared

RESULTS = Path(__file__).with_name("samba_paper.csv")
FIELDS = ("plan", "table", "method", "split", "balanced_accuracy", "columns", "seconds")
SHUFFLED = {"outer": "shuffle", "defaults_first": False, "distributions": "samba"}
PLANS = {
    "whole": PROTOCOLS["samba"],
    "ten": Protocol("ten", repeats=10, inner_folds=3, draws=10, **SHUFFLED),
    "small": Protocol("small", repeats=2, inner_folds=2, draws=2, **SHUFFLED),
}
METHODS = {
    "samba": "samba",
    "lasso": "lasso",
    "l1-logistic": "sklearn-l1-logistic",
    "decision-tree": "sklearn-decision-tree",
    "k-nn": "sklearn-k-nn",
    "svm-rbf": "sklearn-svm-rbf",
    "adaboost": "adaboost",
    "samba-program": "samba-program",
    "samba-published": "samba-published",
    "random-forest": "sklearn-random-forest",
    "forest-weighted": "forest-weighted",
    "xgboost": "xgboost",
    "gradient-boosting": "sklearn-gradient-boosting",
}
#: Table 1 (balanced accuracy) and Table 2 (columns; None: all) of the paper: (mean, sd) of
#: samba, adaboost, xgboost, gradient-boosting, svm-rbf, k-nn, random-forest, decision-tree, lasso.
ORDER = (
    "samba", "adaboost", "xgboost", "gradient-boosting", "svm-rbf", "k-nn", "random-forest",
    "decision-tree", "lasso",
)  # fmt: skip
ACCURACY = {
    "cog": ".83 .06 .77 .05 .78 .06 .76 .04 .75 .05 .77 .07 .83 .04 .72 .11 .58 .05",
    "taxa_phylum": ".84 .04 .70 .07 .67 .1 .66 .07 .57 .1 .63 .04 .84 .03 .74 .07 .55 .06",
    "taxa_genus": ".80 .06 .63 .08 .70 .06 .70 .05 .68 .05 .68 .05 .80 .06 .73 .06 .64 .06",
    "taxa_family": ".82 .04 .68 .05 .66 .06 .68 .08 .65 .08 .65 .04 .82 .05 .65 .06 .61 .08",
    "kegg_pathway": ".82 .03 .67 .05 .69 .08 .67 .07 .73 .06 .73 .07 .84 .03 .69 .06 .61 .08",
    "kegg_module": ".85 .05 .70 .04 .68 .06 .69 .03 .71 .03 .70 .06 .83 .04 .72 .06 .62 .06",
}
COLUMNS = {
    "cog": "10.7 2.0 9.4 7.27 9.3 8.49 17.4 8.0 - - - - 21.3 4.45 17.4 6.64 12.75 2.33",
    "taxa_phylum": "7.7 3.72 22.4 13.55 27.9 6.07 35.7 2.15 - - - - 32.4 9.72 21.3 9.43 18.9 11.79",
    "taxa_genus": "14.8 2.93 49.5 25.03 42.4 18.19 63.1 10.87 - - - - 69.1 6.52 19.1 15.14 47.6 12.15",  # noqa: E501
    "taxa_family": "11.9 1.7 48.3 25.21 48.1 20.21 79.4 17.56 - - - - 85.9 12.0 27.5 10.47 57.4 12.82",  # noqa: E501
    "kegg_pathway": "22.9 3.24 87.6 63.71 82.1 49.52 208.0 123.65 - - - - 186.3 41.01 28.3 17.27 73.2 61.59",  # noqa: E501
    "kegg_module": "20.1 3.3 44.9 25.83 94.4 88.9 333.0 200.31 - - - - 113.4 67.39 16.2 13.54 185.1 140.51",  # noqa: E501
}
SIZES = {
    "cog": 24, "taxa_phylum": 37, "taxa_genus": 72, "taxa_family": 101, "kegg_pathway": 414,
    "kegg_module": 682,
}  # fmt: skip


class ThresholdedLasso(ClassifierMixin, BaseEstimator):
    """A linear lasso of -1 and 1, whose value is compared with 0."""

    def __init__(self, alpha=0.01):
        self.alpha = alpha

    def fit(self, X, y):
        self.classes_, coded = np.unique(y, return_inverse=True)
        self.model_ = Lasso(self.alpha, max_iter=20_000).fit(X, 2.0 * coded - 1.0)
        self.coef_ = self.model_.coef_[None]
        return self

    def decision_function(self, X):
        return self.model_.predict(X)

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


def lasso(params, shape, seed):
    """Return the thresholded lasso on scaled columns."""
    return prepared(ThresholdedLasso(**params), shape, scale=True)


def contender_of(method):
    """Return what takes part in `compare` for a method."""
    known = known_models()
    if method == "lasso":
        return Contender("lasso", "linear", {"samba": {"alpha": LogUniform(1e-4, 1)}}, build=lasso)
    if method == "forest-weighted":
        forest = known["sklearn-random-forest"]
        weights = known["samba"].distributions["samba"]["class_weight"]
        drawn = {"samba": {**forest.distributions["samba"], "class_weight": weights}}
        return Contender(method, "forest", drawn, build=forest.build)
    return METHODS[method]


# ------------------------------------------------------------------- cells
def rows_of(results):
    """Return the rows of the results file."""
    if not results.exists():
        return []
    with results.open(newline="") as file:
        return list(csv.DictReader(file))


def run_cell(plan, table, method, studies, jobs):
    """Return the rows of one method on one table, a split each."""
    file = Path(os.environ["PSEPHOS_DATA"]) / "samba_metagenome" / f"{table}.npz"
    data = read_table(file, target="y", drop=["subject"])
    start = time.perf_counter()
    study = None if studies is None else studies / f"{plan}_{table}_{method}"
    found = compare(
        data, models=[contender_of(method)], protocol=PLANS[plan], n_jobs=jobs, out=study,
        fold_models=False, copies="apart",
    )  # fmt: skip
    taken = (time.perf_counter() - start) / len(found.results)
    return [
        {
            "plan": plan, "table": table, "method": method, "split": split,
            "balanced_accuracy": f"{one['balanced_accuracy']:.6f}",
            "columns": one["columns_used"], "seconds": f"{taken:.1f}",
        }
        for split, one in enumerate(found.results)
    ]  # fmt: skip


def run(options):
    """Run the cells that the results file lacks, and append each."""
    done = {(row["plan"], row["table"], row["method"]) for row in rows_of(options.results)}
    for table in options.tables:
        for method in options.methods:
            if (options.plan, table, method) in done:
                continue
            rows = run_cell(options.plan, table, method, options.studies, options.jobs)
            new = not options.results.exists()
            with options.results.open("a", newline="") as file:
                writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
                if new:
                    writer.writeheader()
                writer.writerows(rows)
            mean = np.mean([float(row["balanced_accuracy"]) for row in rows])
            print(f"{options.plan} {table} {method}: {mean:.3f}, {rows[0]['seconds']} s a split")


# ------------------------------------------------------------------- tables and figure
def published(table):
    """Return the (mean, sd) of the paper by method: balanced accuracies, columns."""
    both = []
    for figures in (ACCURACY[table], COLUMNS[table]):
        cells = [None if one == "-" else float(one) for one in figures.split()]
        both.append(dict(zip(ORDER, zip(cells[::2], cells[1::2], strict=True), strict=True)))
    return both


def difference(first, second):
    """Return mean and half width of the 95 % interval of first - second over the splits.

    The splits share rows, so that the variance is corrected (Nadeau and Bengio, 2003): 1/k + 1/4
    in place of 1/k, the test parts being a quarter of the training parts.
    """
    gaps = np.asarray(first) - np.asarray(second)
    spread = np.sqrt(gaps.var(ddof=1) * (1 / len(gaps) + 0.25))
    return gaps.mean(), student.ppf(0.975, len(gaps) - 1) * spread


def with_paper(ours, paper, digits):
    """Return 'mean ± sd (paper)' of a cell."""
    text = f"{np.mean(ours):.{digits}f} ± {np.std(ours, ddof=1):.{digits}f}"
    if paper is None:
        return text
    return (
        f"{text} (all)"
        if paper[0] is None
        else f"{text} ({paper[0]:.{digits}f} ± {paper[1]:.{digits}f})"
    )


def print_tables(results):
    """Print Tables 1 and 2 of each plan, with the paper's figures in parentheses."""
    cells = defaultdict(list)
    for row in rows_of(results):
        cell = float(row["balanced_accuracy"]), float(row["columns"])
        cells[row["plan"], row["table"], row["method"]].append(cell)
    for plan in sorted({key[0] for key in cells}):
        for k, (title, digits) in enumerate((("balanced accuracy", 2), ("columns", 1))):
            print(f"\nPlan {plan}: {title}, mean ± sd over splits (paper)\n")
            print("| method | " + " | ".join(f"{t} ({SIZES[t]})" for t in SIZES) + " |")
            print("|---" * (len(SIZES) + 1) + "|")
            for method in METHODS:
                shown = []
                for table in SIZES:
                    own = [cell[k] for cell in cells.get((plan, table, method), [])]
                    figures = published(table)[k].get(method)
                    shown.append(with_paper(own, figures, digits) if own else "not run")
                print(f"| {method} | " + " | ".join(shown) + " |")
        print(f"\nPlan {plan}: samba minus each, balanced accuracy, 95 % interval\n")
        print("| method | " + " | ".join(SIZES) + " |")
        print("|---" * (len(SIZES) + 1) + "|")
        for method in METHODS:
            shown = []
            for table in SIZES:
                pair = [[c[0] for c in cells.get((plan, table, m), [])] for m in ("samba", method)]
                whole = all(pair) and method != "samba"
                shown.append("{:+.3f} ± {:.3f}".format(*difference(*pair)) if whole else "")
            if any(shown):
                print(f"| {method} | " + " | ".join(shown) + " |")


def draw(results, place):
    """Draw Figure 5: accuracy against columns of the ensembles, a panel a data type."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    marks = {"samba": "o", "adaboost": "s", "xgboost": "^", "gradient-boosting": "v",
             "random-forest": "D"}  # fmt: skip
    cells = defaultdict(list)
    for row in rows_of(results):
        if row["plan"] == "ten":
            cell = float(row["columns"]), float(row["balanced_accuracy"])
            cells[row["table"], row["method"]].append(cell)
    figure, axes = plt.subplots(2, 3, figsize=(9, 5), sharey=True, constrained_layout=True)
    for panel, table in zip(axes.flat, SIZES, strict=True):
        for k, (method, mark) in enumerate(marks.items()):
            color = f"C{k}"
            if own := cells.get((table, method)):
                (x, y), (dx, dy) = np.mean(own, axis=0), np.std(own, axis=0, ddof=1)
                panel.errorbar(x, y, dy, dx, mark, color=color, ms=5, label=method, lw=0.8)
            x, y = (published(table)[k][method][0] for k in (1, 0))
            panel.plot(x, y, mark, mfc="none", color=color, ms=7)
        size = SIZES[table]
        panel.set(title=f"{table} ({size})", xscale="log", xlim=(1.5, 1.3 * size))
        ticks = [k for k in (2, 5, 10, 20, 50, 100, 200, 500) if k <= size]
        panel.set_xticks(ticks, list(map(str, ticks)))
        panel.minorticks_off()
        panel.set_xlabel("columns used")
    axes[0, 0].set_ylabel("balanced accuracy")
    axes[1, 0].set_ylabel("balanced accuracy")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=5)
    figure.savefig(place, dpi=90, metadata={"Software": None})


def main():
    """Run cells, or print what is there."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--plan", choices=PLANS)
    parser.add_argument("--tables", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--studies", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--print", action="store_true", dest="prints")
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    if options.plan:
        run(options)
    if options.prints or not options.plan:
        print_tables(options.results)
    if options.figure:
        draw(options.results, options.figure)


if __name__ == "__main__":
    main()
