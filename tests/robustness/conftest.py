"""The fuzzers of `benchmarks/robustness`, with few cases."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "robustness"))


class Unwatched:
    """What the fuzzer measures, not measured here."""

    peak, seconds = 0, 0.0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


@pytest.fixture
def unwatched():
    return Unwatched
