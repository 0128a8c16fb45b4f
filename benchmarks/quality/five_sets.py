"""Is the small model as good as the big one? Five fat sets under the quick protocol.

    PSEPHOS_DATA=... python benchmarks/quality/five_sets.py --out FOLDER [--jobs 2]
        [--protocol quick] [--models samba,adaboost,...] [--sets colon_alon,...]

Each set leaves a comparison in FOLDER/<set>, which a second run resumes. The table sets SamBA
beside the best other ensemble of each set, chosen by its mean on the same folds (which flatters
it), and beside each other model over all sets. Intervals are corrected resampled t; that of the
mean over sets adds their squared standard errors, with Welch and Satterthwaite's degrees of
freedom.
"""

import argparse
import math

import numpy as np
from realdata import folder
from scipy.stats import t as student

from psephos.protocol import compare, known_models, paired_difference, read_table, summary

SETS = ["colon_alon", "leukemia_golub", "prostate_6033", "gut_cirrhosis", "lsvt"]
GROUPS = {"lsvt": "groups"}


def run(name, args):
    table = read_table(folder() / name / f"{name}.npz", target="y", group=GROUPS.get(name))
    return compare(
        table,
        models=args.models.split(",") if args.models else None,
        protocol=args.protocol,
        random_state=0,
        n_jobs=args.jobs,
        out=f"{args.out}/{name}",
        progress=True,
    ).results


def pooled(differences):
    """Return (mean, low, high) of the mean of independent sets' differences."""
    each = [(d.mean, (d.high - d.mean) / student.ppf(0.975, d.n - 1), d.n - 1) for d in differences]
    mean = float(np.mean([m for m, _, _ in each]))
    parts = np.array([(e / len(each)) ** 2 for _, e, _ in each])
    freedom = parts.sum() ** 2 / sum(p**2 / f for p, (_, _, f) in zip(parts, each, strict=True))
    half = float(student.ppf(0.975, freedom)) * math.sqrt(parts.sum())
    return mean, mean - half, mean + half


def row(*cells):
    print("| " + " | ".join(cells) + " |")


def against_best(results):
    """SamBA beside the best other ensemble of each set, and their differences pooled."""
    head = ("set", "SamBA", "columns", "best other ensemble", "", "columns", "difference", "95 %")
    row(*head)
    row(*["---"] * len(head))
    found = []
    for name, rows in results.items():
        by_name = {s.model: s for s in summary(rows)}
        ensembles = [m for m in by_name if known_models()[m].ensemble and m != "samba"]
        samba, best = by_name["samba"], max((by_name[m] for m in ensembles), key=lambda s: s.score)
        found.append(paired_difference(rows, "samba", best.model, "balanced_accuracy"))
        d = found[-1]
        row(
            name, f"{samba.score:.3f}", f"{samba.columns_used.mean:.1f}", best.model,
            f"{best.score:.3f}", f"{best.columns_used.mean:.1f}",
            f"{d.mean:+.3f}", f"{d.low:+.3f} to {d.high:+.3f}",
        )  # fmt: skip
    mean, low, high = pooled(found)
    print(f"\nMean over sets of SamBA - best other: {mean:+.3f} ({low:+.3f} to {high:+.3f})\n")


def against_each(results):
    """SamBA beside each other model, over all sets."""
    tables = list(results.values())
    by_set = [{s.model: s for s in summary(rows)} for rows in tables]
    small = np.mean([found["samba"].columns_used.mean for found in by_set])
    head = ("SamBA against", "mean difference", "95 %", "its columns", "SamBA's")
    row(*head)
    row(*["---"] * len(head))
    for other in by_set[0]:
        if other in ("samba", "majority"):
            continue
        ds = [paired_difference(rows, "samba", other, "balanced_accuracy") for rows in tables]
        mean, low, high = pooled(ds)
        columns = np.mean([found[other].columns_used.mean for found in by_set])
        row(other, f"{mean:+.3f}", f"{low:+.3f} to {high:+.3f}", f"{columns:.1f}", f"{small:.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--protocol", default="quick")
    parser.add_argument("--models")
    parser.add_argument("--sets", default=",".join(SETS))
    args = parser.parse_args()
    results = {name: run(name, args) for name in args.sets.split(",")}
    against_best(results)
    against_each(results)


if __name__ == "__main__":
    main()
