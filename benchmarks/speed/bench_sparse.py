"""Peak memory from a sparse file of counts to a fitted model, a family of models after the other.

    python benchmarks/speed/bench_sparse.py [ROWS COLUMNS]    # 2000 200000 unless given

A generated h5ad of counts (5 % of the cells, a class that shifts 20 genes); each command is a
process of its own: CPU seconds and the peak of resident memory by getrusage.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import _timing
from bench_reading import _COMMAND, reading

_WRITE = """
import sys
import h5py, numpy as np
path, rows, columns = sys.argv[1], *map(int, sys.argv[2:])
draw = np.random.default_rng(0)
kind = draw.integers(0, 2, rows)
indices, counts = [], []
for i in range(rows):
    genes = np.sort(draw.choice(columns, columns // 19, replace=False)).astype(np.int32)
    indices.append(genes)
    counts.append(1 + draw.poisson(np.where(genes < 20, 1 + 2 * kind[i], 1.0)).astype(np.float32))
with h5py.File(path, "w") as file:
    matrix = file.create_group("X")
    matrix.attrs.update({"encoding-type": "csr_matrix", "encoding-version": "0.1.0",
                         "shape": np.array([rows, columns])})
    matrix["data"], matrix["indices"] = np.concatenate(counts), np.concatenate(indices)
    matrix["indptr"] = np.cumsum([0, *map(len, indices)])
    for name, size, prefix in (("obs", rows, "cell"), ("var", columns, "gene")):
        frame = file.create_group(name)
        frame.attrs.update({"encoding-type": "dataframe", "encoding-version": "0.2.0",
                            "_index": "_index", "column-order": ["kind"] if name == "obs" else []})
        frame["_index"] = [f"{prefix}{i}" for i in range(size)]
    file["obs/kind"] = ["ab"[k] for k in kind]
"""
MODELS = ("adaboost", "random-forest", "extra-trees", "column-budget", "rank-ridge")


def main(rows: int = 2_000, columns: int = 200_000) -> None:
    """Print the line of every command."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.h5ad")
        words = [sys.executable, "-c", _WRITE, path, rows, columns]
        subprocess.run(list(map(str, words)), check=True)
        dense = rows * columns * 8 / 2**20
        print(f"\n{rows} x {columns}, {path.stat().st_size >> 20} MiB, dense {dense:.0f} MiB\n")
        _timing.head("command", "CPU s", "peak, MiB")
        target = ["--target", "kind"]
        saved = ["--out", str(Path(folder, "m.psephos"))]
        commands = {"table": ["table", *target]} | {
            f"fit {name}": ["fit", "--model", name, *target, *saved] for name in MODELS
        }
        for name, options in commands.items():
            command = _COMMAND.format(options[:1]).replace("path]", f"path, *{options[1:]!r}]")
            seconds, peak = reading(command, path)
            _timing.line(name, f"{seconds:.1f}", f"{peak:.0f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
