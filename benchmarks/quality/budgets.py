"""Equal settings or equal seconds? The default models of `compare` on the five fat sets, twice.

    PSEPHOS_DATA=... python benchmarks/quality/budgets.py --out FOLDER [--jobs 1]
        [--draws 4] [--seconds 5] [--models samba,...] [--sets colon_alon,...]

Each set leaves two studies in FOLDER, which a second run resumes: FOLDER/<set>-draws, where each
search tries as many settings, and FOLDER/<set>-seconds, where each search begins new settings for
as long; the default setting comes first in both. For each model: balanced accuracy, settings
tried in a search (failed ones left out), and seconds in all its searches and fits; the difference
is seconds - settings on the same folds, a corrected resampled t interval a set, pooled as in
`five_sets.py`. Where nothing else runs, or seconds buy fewer settings.
"""

import argparse

import numpy as np
from five_sets import GROUPS, SETS, pooled, row
from realdata import folder

from psephos.protocol import compare, paired_difference, read_table, summary


def study(name, kind, budget, args):
    """Return the comparison of one set under one budget."""
    table = read_table(folder() / name / f"{name}.npz", target="y", group=GROUPS.get(name))
    return compare(
        table,
        models=args.models.split(",") if args.models else None,
        budget=budget,
        random_state=0,
        n_jobs=args.jobs,
        out=f"{args.out}/{name}-{kind}",
        progress=True,
    )


def used(studies):
    """Return for each model the settings that a search tried and the seconds of all."""
    found = {}
    for one in studies:
        for line in one.used:
            found.setdefault(line["model"], []).append(line)
    return {
        model: (
            sum(x["draws"] for x in lines) / sum(x["fits"] for x in lines),
            sum(x["search_seconds"] + x["fit_seconds"] for x in lines),
        )
        for model, lines in found.items()
    }


def scores(studies):
    """Return for each model its balanced accuracy, the mean over the sets."""
    each = [{s.model: s.score for s in summary(one.results)} for one in studies]
    return {model: float(np.mean([found[model] for found in each])) for model in each[0]}


def difference(by_draws, by_seconds, model):
    """Return (mean, low, high) of a model within seconds minus the same within settings."""
    each = []
    for a, b in zip(by_draws, by_seconds, strict=True):
        both = [
            {**line, "model": kind}
            for kind, one in (("draws", a), ("seconds", b))
            for line in one.results
            if line["model"] == model
        ]
        each.append(paired_difference(both, "seconds", "draws", "balanced_accuracy"))
    if all(d.high == d.low for d in each):  # no fold differs: nothing to be uncertain of
        mean = float(np.mean([d.mean for d in each]))
        return mean, mean, mean
    return pooled(each)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--models")
    parser.add_argument("--sets", default=",".join(SETS))
    args = parser.parse_args()
    names = args.sets.split(",")
    a = [study(name, "draws", f"draws={args.draws}", args) for name in names]
    b = [study(name, "seconds", f"seconds={args.seconds:g}", args) for name in names]
    row("model", f"{args.draws} settings", "tried", "s",
        f"{args.seconds:g} seconds", "tried", "s", "difference", "95 %")  # fmt: skip
    row("---", *["---:"] * 7, "---")
    draws, seconds = scores(a), scores(b)
    tried_a, tried_b = used(a), used(b)
    for model in sorted(draws, key=draws.__getitem__, reverse=True):
        mean, low, high = difference(a, b, model)
        (na, sa), (nb, sb) = tried_a[model], tried_b[model]
        row(model, f"{draws[model]:.3f}", f"{na:.1f}", f"{sa:.0f}",
            f"{seconds[model]:.3f}", f"{nb:.1f}", f"{sb:.0f}",
            f"{mean:+.3f}", f"{low:+.3f} to {high:+.3f}")  # fmt: skip


if __name__ == "__main__":
    main()
