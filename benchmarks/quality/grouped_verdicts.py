"""Are models called better than a constant prediction as seldom, and as often, as they should be?

    python benchmarks/quality/grouped_verdicts.py --out FILE [--series NAME ...] [--part 0.1]

Studies of 126 cases and 6 columns, in 14 groups of 9 or without groups, compared by CART, AdaBoost
and the majority class in 5 folds with their default settings. Columns are the sum of a number of
the group and one of the case, so that answers are alike within groups. Labels:

- "within": 3 of the 9 cases of each group are ill, or (in every other study) a share that is drawn
  for the group from a beta distribution (2, 2);
- "constant": all cases of a group have one label, 7 groups each;
- "alone": no groups, 42 cases are ill.

Noise: labels have nothing to do with the columns. Perfect: a column tells them. Good: a column does
so with a balanced accuracy of about .8. Every study has its own seed, fixed here. A line a study is
appended to the file, which says whether any model was called better, the greatest balanced
accuracy and design effect of the three (the majority class is one answer a fold), and what the rule
of before (groups count, not cases) says of the same figures; studies that are there are not run
again.
"""

import argparse
import csv
import time
from pathlib import Path

import numpy as np
from scipy.stats import binomtest

from psephos import compare
from psephos.protocol import Protocol, better_than_constant

GROUPS, SIZE, COLUMNS, SEED = 14, 9, 6, 41_000
MODELS = ["cart", "adaboost", "majority"]
PROTOCOL = Protocol(folds=5, inner_folds=2, draws=1)
SERIES = {  # labels, distance of the classes in the telling column, studies, those to be called
    "noise, within": ("within", 0.0, 200, "at most 17"),
    "noise, alone": ("alone", 0.0, 200, "at most 17"),
    "noise, constant": ("constant", 0.0, 100, "at most 9"),
    "perfect, within": ("within", 20.0, 20, "20"),
    "good, within": ("within", 2.0, 20, "at least 15"),
    "perfect, constant": ("constant", 20.0, 20, "none asked for"),
    "good, constant": ("constant", 2.0, 20, "none asked for"),
}
FIELDS = ("series", "study", "better", "before", "best", "effect", "seconds")


def labels_of(kind, study, rng):
    if kind == "constant":
        return np.repeat(rng.permutation(np.arange(GROUPS) % 2), SIZE)
    if kind == "alone":
        return rng.permutation(np.repeat([0, 1], [2 * GROUPS * SIZE // 3, GROUPS * SIZE // 3]))
    if study % 2 == 0:
        return np.concatenate([rng.permutation(np.arange(SIZE) % 3 == 0) for _ in range(GROUPS)])
    while True:
        y = rng.random((GROUPS, SIZE)) < rng.beta(2, 2, GROUPS)[:, None]
        if min(y.sum(), (~y).sum()) >= 30:
            return y.ravel()


def table(series, study):
    """Return (X, y, groups) of a study."""
    kind, distance, *_ = SERIES[series]
    rng = np.random.default_rng([SEED, list(SERIES).index(series), study])
    groups = np.repeat(np.arange(GROUPS), SIZE)
    y = labels_of(kind, study, rng).astype(int)
    spread = (1.0, 3.0)[study // 2 % 2] if kind != "alone" else 0.0
    X = rng.standard_normal((len(y), COLUMNS))
    X += spread * rng.standard_normal((GROUPS, COLUMNS))[groups]
    if distance:
        X[:, 2] = distance * y + rng.standard_normal(len(y))
    return X, np.array(["well", "ill"])[y], None if kind == "alone" else groups


def judged(series, study):
    """Return the line of a study."""
    X, y, groups = table(series, study)
    start = time.perf_counter()
    found = compare(X, y, MODELS, PROTOCOL, groups=groups, random_state=study, n_jobs=1)
    before = {k: v for k, v in found.about.items() if k != "design_effects"}
    return {
        "series": series,
        "study": study,
        "better": len(found.better()),
        "before": len(better_than_constant(found.results, before)),
        "best": f"{max(one.score for one in found.summary()):.4f}",
        "effect": f"{max(found.about.get('design_effects', {'none': 1.0}).values()):.4f}",
        "seconds": f"{time.perf_counter() - start:.2f}",
    }


def show(rows):
    print(
        "| series | studies | any model better (95 %) | before | asked for | mean best | effect |"
    )
    print("|---|---|---|---|---|---|---|")
    for series, (*_, asked) in SERIES.items():
        own = [row for row in rows if row["series"] == series]
        if not own:
            continue
        n, called = len(own), sum(row["better"] != "0" for row in own)
        low, high = binomtest(called, n).proportion_ci(0.95)
        best, effect = (np.mean([float(row[k]) for row in own]) for k in ("best", "effect"))
        print(
            f"| {series} | {n} | {called} ({100 * low:.1f} - {100 * high:.1f} %) "
            f"| {sum(row['before'] != '0' for row in own)} | {asked} | {best:.3f} | {effect:.2f} |"
        )
    print(f"\n{sum(float(row['seconds']) for row in rows):.0f} s in all.")


def read(path):
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--series", nargs="+", choices=SERIES, default=list(SERIES))
    parser.add_argument("--part", type=float, default=1.0, help="this share of each series")
    args = parser.parse_args()
    done = {(row["series"], int(row["study"])) for row in read(args.out)}
    with args.out.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        if not args.out.stat().st_size:
            writer.writeheader()
        for series in args.series:
            for study in range(round(args.part * SERIES[series][2])):
                if (series, study) not in done:
                    writer.writerow(judged(series, study))
                    file.flush()
    show(read(args.out))


if __name__ == "__main__":
    main()
