"""psephos fit --blocks: second-order boosting on a parquet table that is larger than memory."""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psephos._errors import PsephosError
from psephos.cli.cautions import read_whole
from psephos.cli.words import say

if TYPE_CHECKING:
    from psephos.protocol import DataTable

_SAMPLE = 10_000  # rows that are checked
_TAKEN = ("target", "task", "drop")
MODEL = "newton-boosting"


def sampled(
    path: Path, roles: dict[str, Any], command: str, accepted: Sequence[str]
) -> "DataTable":
    """Return at most 10,000 evenly spaced rows, read and checked as by `read_whole`."""
    from psephos.files.near import quoted
    from psephos.trees.out_of_core.rows import spread_rows

    if len(roles["target"]) != 1:
        raise PsephosError(f"--blocks needs one --target; got {len(roles['target'])}.")
    other = [name for name, value in roles.items() if value and name not in _TAKEN]
    if other:
        flags = quoted(["--" + name.replace("_", "-") for name in sorted(other)])
        raise PsephosError(
            f"{flags} cannot be used with --blocks, which reads the columns of parquet files as "
            "they are: numbers, and text as categories."
        )
    sample, n = spread_rows(path, _SAMPLE)
    if sample.num_rows < n:
        say(f"{n:,} rows are read in blocks; {sample.num_rows:,} evenly spaced ones are checked:")
    with tempfile.TemporaryDirectory() as folder:
        from pyarrow import parquet

        file = Path(folder) / f"{path.stem}.parquet"
        parquet.write_table(sample, file)
        return read_whole(file, roles, command, accepted)


def fitted_in_blocks(estimator: Any, data: "DataTable", path: Path) -> Any:
    """Fit newton-boosting on all rows of `path`, on the columns that its sample `data` has."""
    from psephos.files.near import quoted
    from psephos.models.boosting.out_of_core import fit_blocks
    from psephos.trees.out_of_core import ParquetRows

    if not hasattr(estimator, "tree_method"):
        raise PsephosError(f"--blocks needs --model {MODEL}; got {type(estimator).__name__}.")
    words = data.cells.missing
    rows = ParquetRows(path, data.target_name, columns=data.names, missing=words, truth_words=True)
    odd = [data.names[j] for j in sorted(rows.levels.keys() ^ data.categories.keys())]
    if odd:
        raise PsephosError(
            f"{quoted(odd)} must have one type in blocks: write numbers as numbers and categories "
            "as text in the parquet file, or leave columns out with --drop."
        )
    model: Any = fit_blocks(estimator.set_params(tree_method="hist"), rows)
    model.schema_ = replace(model.schema_, cells=data.cells)
    return model.set_params(categorical_features=sorted(data.categories) or None)
