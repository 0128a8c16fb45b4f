"""One model beside SamBA, the lasso and the forest, by accuracy on held-out folds.

    PSEPHOS_DATA=... python benchmarks/quality/one_beside_others.py --out FOLDER [--model swag]
        [--jobs 1] [--protocol quick] [--sets colon_alon,...] [--others samba,...]

Each set leaves a comparison in FOLDER/<set>, with its report, which a second run resumes. meterA
is read with all products of two columns (36 + 630 = 666 columns), lsvt is grouped by subject.
Balanced accuracy is that of the outer folds, mean and standard deviation; the error of an inner
search is a minimum over many candidates and appears nowhere. Stability is that of the columns used
over the outer folds (Nogueira, Sechidis and Brown 2018). The difference is the model minus the
other one, with its corrected resampled t interval. Time is the wall time of all searches, fits and
answers of a model, refit included, one thread.
"""

import argparse
import csv

from realdata import folder, load

from psephos.datasets import first_order_products
from psephos.protocol import compare, paired_difference, read_table, summary, table_from_arrays
from psephos.report import build_report

SETS = ["meterA", "lsvt", "colon_alon", "gut_cirrhosis"]
OTHERS = "samba,sklearn-l1-logistic,sklearn-random-forest"
GROUPS = {"lsvt": "groups"}
WITH_PRODUCTS = ("meterA",)


def table_of(name):
    if name not in WITH_PRODUCTS:
        return read_table(folder() / name / f"{name}.npz", target="y", group=GROUPS.get(name))
    X, y, _, names = load(name)
    whole, words = first_order_products(X, names)
    return table_from_arrays(whole, y, column_names=words, dataset=f"{name} with products")


def seconds(out):
    """Return the wall time of each model, by what its comparison wrote."""
    spent = {}
    with (out / "timings.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            parts = (row["search_seconds"], row["fit_seconds"], row["predict_seconds"])
            spent[row["model"]] = spent.get(row["model"], 0.0) + sum(float(p or 0) for p in parts)
    return spent


def row(*cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def show(name, found, model):
    spent = seconds(found.out)
    for one in summary(found.results):
        score, columns, stability = (
            one.measures["balanced_accuracy"],
            one.columns_used,
            one.stability,
        )
        told = "–"
        if one.model != model:
            d = paired_difference(found.results, model, one.model)
            told = f"{d.mean:+.3f} ({d.low:+.3f} to {d.high:+.3f})"
        row(
            name, one.model, f"{score.mean:.3f} ± {score.sd:.3f}", told,
            f"{columns.mean:.1f} of {found.about['n_columns']}",
            f"{stability.value:.2f} ({stability.low:.2f} to {stability.high:.2f})",
            f"{spent[one.model]:.1f}",
        )  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--protocol", default="quick")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--model", default="swag")
    parser.add_argument("--others", default=OTHERS)
    args = parser.parse_args()
    head = ("set", "model", "balanced accuracy", f"{args.model} minus it (95 %)", "columns",
            "stability", "seconds")  # fmt: skip
    row(*head)
    row(*["---"] * len(head))
    for name in args.sets.split(","):
        found = compare(
            table_of(name),
            models=[args.model, *args.others.split(",")],
            protocol=args.protocol,
            random_state=0,
            n_jobs=args.jobs,
            out=f"{args.out}/{name}",
        )
        show(name, found, args.model)
        build_report(f"{args.out}/{name}")


if __name__ == "__main__":
    main()
