"""Every estimator on one table in every form: are the answers the same?

`python benchmarks/robustness/table_forms.py [NAME ...]`: each estimator x {npz, csv, csv.gz, frame,
array} x {named, unnamed} x {numbers, categories as words, as codes}, fitted in Python, saved, and
asked by `psephos predict` (codes written 1 and 1.0) or in Python; fitted from the file, too, where
the table has names. Prints one line an estimator; the exit code is 1 if any answer differs by more
than 1e-12.
"""

import importlib.util
import sys
import tempfile
import time
from pathlib import Path

from click.testing import CliRunner

from psephos.cli import main

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location(
    "differential", ROOT / "tests" / "cli" / "differential.py"
)
differential = importlib.util.module_from_spec(spec)
spec.loader.exec_module(differential)


def call(*arguments):
    return CliRunner().invoke(main, [str(one) for one in arguments], catch_exceptions=False)


def run(names):
    models = differential.small_models()
    failed = 0
    for name in names or models:
        marks = "categorical_features" in models[name].get_params()
        mine = [one for one in differential.combinations() if one[0] == name]
        mine = [one for one in mine if marks or one[3] == "numbers"]
        start, worst = time.perf_counter(), []
        for _, form, named, kind in mine:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    gap = differential.differences(call, Path(folder), name, form, named, kind)
                except Exception as error:
                    print(f"  {form} {'named' if named else 'unnamed'} {kind}: {error!r}")
                    gap = float("inf")
                if not gap <= 1e-12:
                    print(f"  {form} {'named' if named else 'unnamed'} {kind}: {gap:.3g}")
                worst.append(gap)
        bad = sum(not gap <= 1e-12 for gap in worst)
        failed += bad
        seconds = time.perf_counter() - start
        print(f"{name}: {len(worst)} cells, {bad} differ, {seconds:.0f} s", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(bool(run(sys.argv[1:])))
