"""The fuzzers of `benchmarks/robustness`, with few cases."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "robustness"))
