"""The same model from any workers, lost ones included."""

import multiprocessing
import os
import signal

import pytest

from psephos._errors import PsephosError
from psephos.models.boosting.out_of_core import fit_blocks, fit_partitions
from psephos.trees.out_of_core.bins import BlockBins, QuantileSummary
from psephos.trees.out_of_core.rows import ArrayRows, PartitionRows, dask_partitions

from .test_out_of_core import make as made
from .test_out_of_core import same_votes, table

distributed = pytest.importorskip("distributed", reason="partitions live in a Dask cluster")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

N, ROWS = 700, 120


def make(classes):
    """Trees grow here, on what the cluster sent: three levels are enough."""
    return made(classes, max_depth=3)


@pytest.fixture(scope="module")
def imported_once():
    """Workers are forked, where they can be, from a process that has imported what they need."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        yield
        return
    from dask import config
    from distributed.utils import get_mp_context

    with config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        get_mp_context().set_forkserver_preload(["distributed", fit_partitions.__module__])
        yield


@pytest.fixture(scope="module")
def client(imported_once):
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
    )
    with cluster, distributed.Client(cluster) as found:
        yield found


def delayed_parts(X, y, w=None, rows=ROWS):
    """Parts that workers can compute again."""
    from dask.delayed import delayed

    given = [a for a in (X, y, w) if a is not None]
    return [
        delayed(tuple)([a[start : start + rows] for a in given]) for start in range(0, len(X), rows)
    ]


@pytest.mark.parametrize("classes", [0, 3])  # two: test_dask_collections
def test_partitions_give_the_trees_of_blocks(client, classes, random_seed):
    X, y, w = table(random_seed, n=N, classes=classes)
    bins = BlockBins.of([QuantileSummary.of(x) for x in X.T])
    expected = fit_blocks(make(classes), ArrayRows(X, y, w), bins=bins)
    parts = delayed_parts(X, y, w)
    same_votes(fit_partitions(make(classes), client, parts, bins=bins), expected)
    # of so few rows the summaries keep all: their bins are the same
    same_votes(fit_partitions(make(classes), client, parts), make(classes).fit(X, y, w))


def test_a_killed_worker_does_not_change_the_model(client, random_seed, monkeypatch):
    X, y, _ = table(random_seed, n=N, classes=3)
    parts = delayed_parts(X, y)
    killed = []
    blocks = PartitionRows.blocks

    def kill_in_the_middle(self):
        for i, block in enumerate(blocks(self)):
            if i == 2:  # once for summaries, once for bins
                pids = client.run(os.getpid)
                killed.append(sorted(pids.values())[0])
                os.kill(killed[-1], signal.SIGKILL)
            yield block

    monkeypatch.setattr(PartitionRows, "blocks", kill_in_the_middle)
    found = fit_partitions(make(3), client, parts)
    assert len(set(killed)) == 2
    same_votes(found, make(3).fit(X, y))  # as without a loss, by the test above


def test_partitions_have_the_bins_of_blocks(client, random_seed):
    """Of more values than a summary keeps, too."""
    X, y, w = table(random_seed, n=30_000)
    expected = fit_blocks(make(2), ArrayRows(X, y, w))
    exact = BlockBins.of([QuantileSummary.of(x, w) for x in X.T])
    other = fit_blocks(make(2), ArrayRows(X, y, w), bins=exact)
    found = fit_partitions(make(2), client, delayed_parts(X, y, w, rows=7000))
    same_votes(found, expected)
    with pytest.raises(AssertionError):
        same_votes(found, other)
    assert found.feature_importances_.sum() == pytest.approx(1.0)  # on rows kept of each partition


def test_dask_collections(client, random_seed):
    da = pytest.importorskip("dask.array", reason="Dask's arrays")
    X, y, w = table(random_seed, n=N)
    chunked = [da.from_array(a, chunks=(ROWS, *a.shape[1:])) for a in (X, y, w)]
    found = fit_partitions(make(2), client, dask_partitions(*chunked), names=list("abcdef"))
    assert found.feature_names_in_.tolist() == list("abcdef")
    same_votes(found, make(2).fit(X, y, w))
    with pytest.raises(PsephosError, match=r"of partitions, by rows only; got \[6, 3\]"):
        dask_partitions(chunked[0], chunked[1].rechunk(300))


def test_partitions_that_do_not_fit(client, random_seed):
    X, y, _ = table(random_seed, n=20)
    (one,) = delayed_parts(X, y)
    (narrow,) = delayed_parts(X[:, :2], y)
    (short,) = delayed_parts(X, y[:-1])
    with pytest.raises(PsephosError, match="at least one partition"):
        fit_partitions(make(2), client, [])
    with pytest.raises(PsephosError, match=r"equal numbers of columns; got \[2, 6\]"):
        fit_partitions(make(2), client, [one, narrow])
    with pytest.raises(PsephosError, match=r"y of shape \(19,\)"):
        fit_partitions(make(2), client, [one, short])
