"""What all tests share: the kernel cache, the seed, the real data."""

import gc
import hashlib
import os
import sys
from importlib.metadata import version
from itertools import islice
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(_ROOT / "tests"))  # tests everywhere import `small_settings`


def _kernel_hash() -> str:
    digest = hashlib.sha256(f"{version('numba')} {version('numpy')}".encode())
    source = _ROOT / "src" / "psephos"
    for path in [source / "runtime" / "jit.py", *sorted((source / "kernels").rglob("*.py"))]:
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


# Tests run side by side, one process a core: threads of BLAS would only wait for each other.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
# So would worker processes of fits that are made "one per core", each of which imports everything;
# tests that are about workers ask for two.
os.environ.setdefault("LOKY_MAX_CPU_COUNT", "1")

# numba's cache does not see an edit in another file than the kernel's own, so the folder is
# named by all of them, and by the releases that compile. This must happen before numba is imported.
os.environ.setdefault("NUMBA_CACHE_DIR", str(_ROOT / ".numba_cache" / _kernel_hash()))

# What tests write need not outlast a power failure, and a disk that others use takes milliseconds
# to promise that; tests of full disks put their own in its place.
os.fsync = lambda handle: None

import hypothesis  # noqa: E402

hypothesis.settings.register_profile("psephos", deadline=None, derandomize=True)
hypothesis.settings.load_profile("psephos")


def pytest_collection_finish():
    """Leave what was collected out of every later collection of garbage, and make those rarer."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


#: Folders whose tests need few kernels.
_LIGHT = ("cautions", "datasets", "docs", "figures", "files", "old_files", "theory")


def pytest_collection_modifyitems(items):
    """Let one worker compile the kernels of every model first, while the others need few.

    Workers of xdist begin with equal parts of the list, and would compile the same at once.
    """
    n_workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if n_workers == 1:
        return
    light = [one for one in items if one.nodeid.startswith(tuple(f"tests/{f}/" for f in _LIGHT))]
    few, known, size = -(-len(light) // (n_workers - 1)), set(light), len(items) // n_workers
    rest = [one for one in items if one not in known]
    rest.sort(key=lambda one: not one.nodeid.startswith("tests/contract/"))
    left = iter(rest)
    items[:] = islice(left, size)
    for i in range(n_workers - 1):
        own = light[i * few : (i + 1) * few]
        items += [*own, *islice(left, max(0, size - len(own)))]
    items += left


@pytest.fixture
def random_seed() -> int:
    """Seed of a test's random numbers; PSEPHOS_SEED tries another."""
    return int(os.environ.get("PSEPHOS_SEED", "0"))


@pytest.fixture
def data_dir() -> Path:
    """Folder of the real data sets; without it the test is skipped."""
    folder = os.environ.get("PSEPHOS_DATA")
    if not folder:
        pytest.skip("needs real data: set PSEPHOS_DATA to the folder of the data sets")
    return Path(folder)
