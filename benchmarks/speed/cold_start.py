"""What the first fit of each estimator costs beyond the second: nearly all of it is compiling.

    python benchmarks/speed/cold_start.py [NAME ...]

Each fit is in a process of its own, with an empty kernel cache, on 200 rows and ten columns of
numbers, then with a category beside them. CPU seconds; nothing else should run.
"""

import os
import subprocess
import sys
import tempfile

FIT = """
import sys, time
import numpy as np
from sklearn.datasets import make_classification
import psephos

name, category = sys.argv[1], sys.argv[2] == "1"
X, y = make_classification(200, 10, random_state=0)
if name.endswith("Regressor"):
    y = y + X[:, 0]
if category:
    X = np.column_stack([X, np.random.default_rng(0).integers(0, 6, 200)])
more = {"categorical_features": [10]} if category else {}
took = []
for _ in range(2):
    began = time.process_time()
    getattr(psephos, name)(**more).fit(X, y)
    took.append(time.process_time() - began)
print(took[0] - took[1])
"""


def first_fit(name: str, category: bool) -> str:
    """Return the CPU seconds, or a dash where the estimator takes no categories."""
    import psephos

    if category and not hasattr(getattr(psephos, name)(), "categorical_features"):
        return "–"
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", FIT, name, str(int(category))],
            env={**os.environ, "NUMBA_CACHE_DIR": cache, "OMP_NUM_THREADS": "1"},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    return f"{float(done.stdout):.1f}"


def main() -> None:
    """Print one row an estimator."""
    import psephos

    every = [n for n in psephos.__all__ if n.endswith(("Classifier", "Regressor"))]
    print("| first fit | numbers | with a category |\n| --- | ---: | ---: |")
    for name in sys.argv[1:] or every:
        print(f"| {name} | {first_fit(name, False)} | {first_fit(name, True)} |", flush=True)


if __name__ == "__main__":
    main()
