"""Boosted trees on rows that do not fit in memory: on a disk, or on the workers of a cluster."""

from psephos.trees.out_of_core.rows import ArrayRows, ParquetRows, dask_partitions

__all__ = ["ArrayRows", "ParquetRows", "dask_partitions"]
