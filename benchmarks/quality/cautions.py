"""Cautions on real tables, further forms, planted replicates and generated tables; what they cost.

python benchmarks/quality/cautions.py [variants|real|planted|generated|cost ...]

Real tables are those of PSEPHOS_DATA, a folder a set.
"""

import os
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from psephos import PsephosError, check_table, read_table
from psephos.cautions import CAUTIONS
from psephos.cautions.replicates import replicates

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests" / "cautions"), str(ROOT / "tests")]


def tables(folder):
    """The tables of a set: name, X, y and groups, or a DataTable."""
    for file in sorted(folder.glob("*.npz")):
        held = np.load(file, allow_pickle=False)
        if "X" not in held:
            continue
        X = held["X"].astype(np.float64)
        given = held["feature_names"] if "feature_names" in held else range(X.shape[1])
        names = pd.Index([str(name) for name in given])
        names = names if names.is_unique else [f"{name} {j}" for j, name in enumerate(names)]
        groups = next((held[g] for g in ("groups", "subject") if g in held), None)
        y = held.get("y")
        if "classes" in held and y is not None and y.dtype.kind in "iu":
            y = held["classes"][y]
        yield file.stem, pd.DataFrame(X, columns=names), y, groups
    if any(folder.glob("*.npz")):
        return
    texts = [*folder.glob("*.csv"), *folder.glob("*.csv.gz")]
    for file in sorted(texts or folder.glob("*.arff")):
        try:
            first = pd.read_csv(file, nrows=1) if ".csv" in file.name else None
            target = "Class" if first is None else first.columns[-1]
            yield file.name, read_table(file, target=target), None, None
        except (PsephosError, KeyError, ValueError) as error:
            print(f"{folder.name}/{file.name}: not read ({str(error)[:120]})")


def real():
    for folder in sorted(Path(os.environ["PSEPHOS_DATA"]).iterdir()):
        for name, X, y, groups in tables(folder) if folder.is_dir() else ():
            start = time.perf_counter()
            found = check_table(X, y, groups=groups)
            seconds = time.perf_counter() - start
            shape = (X.n_rows, X.n_columns) if y is None and hasattr(X, "n_rows") else X.shape
            print(f"{folder.name}/{name} {shape[0]} x {shape[1]} ({seconds:.1f} s)", flush=True)
            for one in found:
                print(f"    {one.code} {one.name}: {one.sentence[:200]}")


def variants():
    """Print on how many tables, clean twins, further forms and their twins each caution fires."""
    from test_cautions import CASES
    from test_variants import EVERY, fires

    print("caution: original, clean twin; further forms, what looks like them")
    for code, rule in CAUTIONS.items():
        first = [fires(code, case) for case, _ in CASES.get(code, ())]
        clean = [fires(code, case) for _, case in CASES.get(code, ())]
        parts = [first, clean, *([fires(code, c) for c in part] for part in EVERY.get(code, ()))]
        counts = [f"{sum(part)} of {len(part)}" for part in parts]
        print(f"{code} {rule.name}: {', '.join(counts[:2])}; {', '.join(counts[2:])}")


def planted():
    from test_replicates import KINDS
    from test_replicates import planted as plant

    print("kind, n x p: found of planted, and others")
    for kind in KINDS:
        for n, p in ((60, 20), (900, 20), (30, 400), (200, 12)):
            X, pairs = plant(kind, 0, n, p)
            found = set(replicates(X))
            right = len(found & set(pairs))
            print(f"{kind}, {n} x {X.shape[1]}: {right} of {len(pairs)}, {len(found) - right}")


def generated():
    from test_replicates import generated as make

    print("generated tables with replicates:", sum(bool(replicates(make(s))) for s in range(60)))


def cost():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 100_000))
    X[:, 50_000:] = rng.integers(0, 100_000, (100, 50_000))
    y = rng.integers(2, size=100)
    for what, table in (("array", X), ("frame", pd.DataFrame(X).rename(columns=str))):
        seconds = []
        for _ in range(3):
            start = time.perf_counter()
            check_table(table, y)
            seconds.append(time.perf_counter() - start)
        print(f"100 x 100,000, {what}: {min(seconds):.2f} to {max(seconds):.2f} s")


if __name__ == "__main__":
    parts = {
        "variants": variants, "real": real, "planted": planted, "generated": generated,
        "cost": cost,
    }  # fmt: skip
    for name in sys.argv[1:] or parts:
        parts[name]()
