"""Second-order boosting on rows that are read in blocks: from a disk, or from Dask workers."""

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, NDArray
from psephos.base import VoteClassifier
from psephos.estimator.input import Context, Schema, Table, seed_sequence
from psephos.estimator.params import check_params
from psephos.models.boosting.losses import PLAIN, Unit, classification, regression
from psephos.models.boosting.newton_fit import directions, drawn_rows, growth, vote_of
from psephos.runtime.jit import run_blocks
from psephos.trees.bins import category_mass
from psephos.trees.out_of_core.bins import BlockBins, SummaryStream
from psephos.trees.out_of_core.grow import BlockLabels, DiskRows, boost
from psephos.trees.out_of_core.rows import Block, PartitionRows, RowSource, counted
from psephos.vote import Readout, RegressionTarget, Target
from psephos.vote.importance import SampleRows

_Model = TypeVar("_Model")
_Singles = NDArray[np.float32]


class _Learnt(NamedTuple):
    """What labels say: a target, the loss, where margins start, labels as numbers."""

    target: Any
    objective: Any
    base: _Singles
    codes: Callable[[Array], Array]
    unit: Unit = PLAIN


def fit_blocks(
    model: _Model,
    source: RowSource,
    *,
    scratch: str | Path | None = None,
    bins: BlockBins | None = None,
) -> _Model:
    """Fit a second-order boosting estimator on rows that do not fit in memory.

    Two passes over the source (labels and quantile summaries of the columns; bins); then the bins,
    one byte a value, gradients and margins are on the disk, and each level of each tree is a pass
    over them. Memory: a few blocks, the summaries (at most 5 MB a column for 10^8 rows and 256
    bins), and ``2048 * p * 2 ** max_depth`` bytes of histograms.

    Parameters
    ----------
    model : NewtonBoostingClassifier or NewtonBoostingRegressor
        With ``tree_method='hist'``; every tree may read all columns. The source determines which
        columns are categories (`categorical_features` must not name any). With ``subsample`` below
        1, one byte per row more of memory is needed.
    source : RowSource
        `ArrayRows` (memory maps, .npy files) or `ParquetRows` (a directory of parts). Rows of
        weight 0 are left out.
    scratch : str or Path, default=None
        Folder on a disk with free space; None is the system's folder for temporary files.
    bins : BlockBins, default=None
        Bins to use; None makes them of the summaries.

    Returns
    -------
    model : the estimator, fitted
        For any blocks the same, bit for bit, as ``fit`` on one table with the same bins (where
        `base_score` is given, or is the same to the last digit of float32 when found by sums in
        another order; a custom objective must say the same of a row in any block). Bins are the
        same where summaries are exact: for columns of at most 2,048 distinct values, or in all of
        at most 16,384 rows; else they differ from ``fit``'s by ranks of at most 1 / (4 max_bin).

    Raises
    ------
    PsephosError
        If a parameter asks for what blocks cannot do, or a row cannot be used.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from psephos import ArrayRows, NewtonBoostingClassifier, fit_blocks
    >>> X = np.random.default_rng(0).standard_normal((1000, 5)).astype(np.float32)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(folder + "/X.npy", X)
    ...     rows = ArrayRows(folder + "/X.npy", X[:, 1] > 0)
    ...     model = fit_blocks(NewtonBoostingClassifier("hist", n_estimators=3), rows)
    >>> int(model.features_used_[0])
    1
    """
    _check(model)
    labels, found = _seen(model, source, bins)
    learnt = _learnt(model, labels)
    with tempfile.TemporaryDirectory(prefix="psephos-blocks-", dir=scratch) as folder:
        return _fit(model, source, learnt, labels.n_rows, found, Path(folder))


def fit_partitions(
    model: _Model,
    client: Any,
    parts: Sequence[Any],
    *,
    names: list[str] | None = None,
    scratch: str | Path | None = None,
    bins: BlockBins | None = None,
) -> _Model:
    """Fit a second-order boosting estimator on the partitions of a Dask cluster.

    `fit_blocks` on partitions that stay on the workers and are sent here one at a time, twice: for
    labels and summaries of their columns, and for their bins, which are kept on a disk of this
    machine, where the trees are grown. What a lost worker held is computed again by others.

    Parameters
    ----------
    model : NewtonBoostingClassifier or NewtonBoostingRegressor
        As in `fit_blocks`.
    client : distributed.Client
    parts : sequence of Delayed or Future
        Each gives ``(X, y)`` or ``(X, y, weight)``; `dask_partitions` makes them of Dask
        collections.
    names : list of str, default=None
        Names of the columns.
    scratch, bins : see `fit_blocks`

    Returns
    -------
    model : the estimator, fitted
        The same, bit for bit, for any workers: that of `fit_blocks` on these rows in such blocks.

    Examples
    --------
    On a cluster, X and y being Dask collections parted alike:

    >>> from distributed import Client  # doctest: +SKIP
    >>> from psephos import NewtonBoostingRegressor, dask_partitions, fit_partitions
    >>> client = Client("scheduler:8786")  # doctest: +SKIP
    >>> model = fit_partitions(
    ...     NewtonBoostingRegressor("hist"), client, dask_partitions(X, y)
    ... )  # doctest: +SKIP
    """
    return fit_blocks(model, PartitionRows(client, parts, names), scratch=scratch, bins=bins)


def _check(model: Any) -> None:
    """Refuse what blocks cannot do."""
    if not hasattr(model, "tree_method"):
        raise PsephosError(
            f"{type(model).__name__} cannot be fitted in blocks: give a NewtonBoostingClassifier "
            "or NewtonBoostingRegressor."
        )
    check_params(model, model.constraints)
    named = model.categorical_features
    if not (named is None or isinstance(named, str) or len(named) == 0):
        raise PsephosError(
            f"categorical_features={named!r}: of rows that are read in blocks the source names the "
            "categories (text in parquet files); use fit, or None."
        )
    for name, wanted in {
        "tree_method": "hist",
        "colsample_bytree": 1.0,
        "colsample_bylevel": 1.0,
        "colsample_bynode": 1.0,
        "max_leaves": None,
        "grow_policy": "depthwise",
        "validation_fraction": None,
        "class_weight": None,
    }.items():
        if getattr(model, name, wanted) != wanted:
            raise PsephosError(
                f"{name}={getattr(model, name)!r}: on rows that are read in blocks it is "
                f"{wanted!r}."
            )


def _seen(model: Any, source: RowSource, bins: BlockBins | None) -> tuple[BlockLabels, BlockBins]:
    """Return a summary of all labels, and the bins: those given, or bins of equal weight."""
    p = source.n_features
    if bins is not None and len(bins.n_bins) != p:
        raise PsephosError(
            f"bins are of {len(bins.n_bins)} columns, the rows have {p}: give their own."
        )
    n_streams = 0 if bins is not None else p
    streams = [SummaryStream(1.0 / (4 * model.max_bin), source.n_rows) for _ in range(n_streams)]
    mass = {j: np.zeros(len(known)) for j, known in source.levels.items() if n_streams}
    labels: BlockLabels | None = None
    for block in counted(source):
        here = BlockLabels.of(block.y, block.weight, not isinstance(model, VoteClassifier))
        labels = here if labels is None else labels.join(here)

        def work(j: int, block: Block = block) -> None:
            if j in mass:
                mass[j] += category_mass(block.columns[j], block.weight, len(mass[j]))
            else:
                streams[j].push(block.columns[j], block.weight)

        run_blocks(work, n_streams, model.n_jobs)
    if labels is None:
        raise PsephosError("at least one row must have weight above 0; none has.")
    return labels, bins or BlockBins.of([s.summary() for s in streams], model.max_bin, mass)


def _learnt(model: Any, labels: BlockLabels) -> _Learnt:
    if labels.numbers:
        given = regression(model.objective, Unit.of(labels.low, labels.high))
        base = given.start(np.array([labels.mean()]), np.ones(1), model.base_score)
        same = regression(model.objective)  # of margins: blocks hold y as such
        return _Learnt(RegressionTarget(), same, base, given.unit.margins, given.unit)
    classes, weight = labels.classes()
    objective = classification(model.objective, len(classes))
    base = objective.start(np.arange(len(classes)), weight, model.base_score)
    return _Learnt(Target(classes), objective, base, partial(np.searchsorted, classes))


def _fit(
    model: Any, source: RowSource, learnt: _Learnt, n_rows: int, bins: BlockBins, folder: Path
) -> Any:
    p, names = source.n_features, source.names
    schema = Schema(p, None if names is None else tuple(names), dict(source.levels))
    nothing = Table(np.empty((0, p)), schema, np.empty(0))
    signs = directions(model.monotone_constraints, nothing)
    limits = growth(model, signs, n_rows, learnt.unit.size)
    rows = DiskRows(folder, bins, learnt.base, model.n_jobs)
    numbers = isinstance(learnt.target, RegressionTarget)
    sample: SampleRows | None = None
    for block in counted(source):
        codes = learnt.codes(block.y)
        rows.append(block, codes)
        labels = block.y if numbers else codes
        sample = SampleRows.of(None, block.columns.T, labels).after(sample)
    context = Context(seed_sequence(model.random_state))

    def draws(t: int) -> NDArray[np.bool_] | None:
        share = model.subsample
        return drawn_rows(context, t, rows.n_rows, share) if share < 1.0 else None

    rounds = boost(
        rows, learnt.objective, limits,
        n_estimators=model.n_estimators, learning_rate=model.learning_rate, draws=draws,
    )  # fmt: skip
    readout = Readout("sum", "identity" if numbers else "logistic")
    vars(model).pop("feature_names_in_", None)
    schema.name_columns(model)
    extras = {
        "n_estimators_": len(rounds),
        "validation_losses_": np.empty(0),
        "stopped_": "all rounds",
    }
    vote = vote_of(p, learnt.base, rounds, learnt.target, readout, learnt.unit)
    model._set_fitted(vote, schema, extras)
    vars(model)["_sample"] = sample
    return model
