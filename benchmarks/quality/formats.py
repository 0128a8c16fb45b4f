"""One real table in every format that is read: is the model the same, byte by byte?

    PSEPHOS_DATA=... python benchmarks/quality/formats.py [--set colon_alon] [--model adaboost]

The set is written as csv, and in each other format by the libraries that write it (pandas, h5py,
scipy, or plain lines). `psephos fit` reads each file; printed are the options it needed and
whether the model file has the bytes of the csv's. Features in rows, and labels in another file,
are joined by the names of cases.
"""

import argparse
import bz2
import gzip
import hashlib
import lzma
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse as sp


def data_of(name):
    """Return a frame of a set: sample, columns g0..., and y as words."""
    with np.load(Path(os.environ["PSEPHOS_DATA"]) / name / f"{name}.npz") as held:
        X, y = held["X"].astype(np.float64), held["y"]
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(X.shape[1])])
    frame.insert(0, "sample", [f"s{i:03}" for i in range(len(X))])
    return frame.assign(y=[f"class_{one}" for one in y])


def arff(frame, file):
    lines = ["@relation table", "@attribute sample string"]
    lines += [f"@attribute {name} numeric" for name in frame.columns[1:-1]]
    lines += [
        "@attribute y {" + ",".join(f"'{one}'" for one in sorted(set(frame.y))) + "}",
        "@data",
    ]
    rows = zip(frame["sample"], frame.iloc[:, 1:-1].to_numpy(), frame.y, strict=True)
    lines += [",".join([one, *map(repr, map(float, row)), f"'{k}'"]) for one, row, k in rows]
    file.write_text("\n".join(lines))


def h5ad(frame, file):
    with h5py.File(file, "w") as out:
        out["X"] = frame.iloc[:, 1:-1].to_numpy()
        obs, var = out.create_group("obs"), out.create_group("var")
        obs.attrs["_index"], var.attrs["_index"] = "sample", "gene"
        obs.attrs["column-order"], var.attrs["column-order"] = ["y"], np.empty(0, "S1")
        obs["sample"], var["gene"] = list(frame["sample"]), list(frame.columns[1:-1])
        levels = sorted(set(frame.y))
        obs.create_group("y")["categories"] = levels
        obs["y/codes"] = np.array([levels.index(one) for one in frame.y], dtype=np.int8)


def mtx(frame, file):
    scipy.io.mmwrite(file, sp.coo_array(frame.iloc[:, 1:-1].to_numpy().T))
    (file.parent / "genes.tsv").write_text("\n".join(frame.columns[1:-1]))
    (file.parent / "barcodes.tsv").write_text("\n".join(frame["sample"]))


def geo(frame, file):
    lines = ['!Series_title\t"table"']
    lines += ["\t".join(["!Sample_geo_accession", *(f'"{one}"' for one in frame["sample"])])]
    lines += ["\t".join(["!Sample_characteristics_ch1", *(f'"y: {one}"' for one in frame.y)])]
    lines += ["!series_matrix_table_begin"]
    lines += ["\t".join(['"ID_REF"', *(f'"{one}"' for one in frame["sample"])])]
    lines += ["\t".join([f'"{g}"', *map(repr, map(float, frame[g]))]) for g in frame.columns[1:-1]]
    file.write_text("\n".join([*lines, "!series_matrix_table_end", ""]))


def across(frame, file, first="sample", above=""):
    """Write features in rows, without the answer."""
    table = frame.set_index("sample").drop(columns="y").T
    table.index.name = first
    file.write_text(above + table.to_csv(sep="\t" if file.suffix != ".csv" else ","))


def packed(frame, file):
    text = frame.to_csv(index=False).encode()
    kind = file.suffix
    if kind == ".zip":
        with zipfile.ZipFile(file, "w") as out:
            out.writestr("table.csv", text)
    else:
        write = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}[kind]
        file.write_bytes(write(text))


def r_table(frame, file):
    """As R's write.table writes: row names, one cell fewer in the first line."""
    lines = [" ".join(f'"{name}"' for name in frame.columns[1:])]
    for one, *row, k in frame.itertuples(index=False):
        lines.append(" ".join([f'"{one}"', *map(repr, map(float, row)), f'"{k}"']))
    file.write_text("\n".join(lines))


OWN = ["--target", "y", "--id", "sample"]
ELSEWHERE = ["--target", "y", "--id", "sample", "--labels-from", "labels.csv"]
COMMA = ["--separator", ";", "--decimal", ","]
FORMATS = {
    "t.tsv": (lambda f, p: f.to_csv(p, sep="\t", index=False), OWN),
    "semicolon.csv": (lambda f, p: f.to_csv(p, sep=";", index=False), OWN),
    "comma.csv": (lambda f, p: f.to_csv(p, sep=";", decimal=",", index=False), [*OWN, *COMMA]),
    "t.csv.gz": (packed, OWN), "t.csv.bz2": (packed, OWN), "t.csv.xz": (packed, OWN),
    "t.zip": (packed, OWN),
    "latin.csv": (lambda f, p: f.to_csv(p, index=False, encoding="cp1252"), OWN),
    "t.data": (lambda f, p: f.to_csv(p, index=False), OWN),
    "t.tab": (lambda f, p: f.to_csv(p, sep="\t", index=False), OWN),
    "r.txt": (r_table, ["--target", "y"]),
    "t.arff": (arff, OWN),
    "t.parquet": (lambda f, p: f.to_parquet(p, index=False), OWN),
    "t.feather": (lambda f, p: f.to_feather(p), OWN),
    "t.xlsx": (lambda f, p: f.to_excel(p, index=False), OWN),
    "t.ods": (lambda f, p: f.to_excel(p, index=False, engine="odf"), OWN),
    "t.h5ad": (h5ad, ["--target", "y"]),
    "matrix.mtx": (mtx, ELSEWHERE),
    "GSE1_series_matrix.txt": (geo, ["--target", "y"]),
    "across.csv": (across, ELSEWHERE),
    "biom.tsv": (
        lambda f, p: across(f, p, "#OTU ID", "# Constructed from biom file\n"), ELSEWHERE
    ),
    "t.npy": (lambda f, p: np.save(p, f.to_numpy(dtype=str)), None),  # no names: by position
}  # fmt: skip


def fitted(folder, file, options, model):
    """Return the digest of the model of a file, or the message."""
    out = folder / "model.psephos"
    command = [sys.executable, "-m", "psephos", "fit", file, *options, "--model", model]
    out.unlink(missing_ok=True)
    done = subprocess.run(
        [*command, "--out", str(out)], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        return (done.stderr or done.stdout).strip().splitlines()[-1][:150]
    return hashlib.sha256(out.read_bytes()).hexdigest()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", default="colon_alon")
    parser.add_argument("--model", default="adaboost")
    parser.add_argument("formats", nargs="*", default=list(FORMATS))
    args = parser.parse_args()
    same = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name in args.formats:
            write, options = FORMATS[name]
            frame, own = data_of(args.set), OWN
            frame[["sample", "y"]].to_csv(folder / "labels.csv", index=False)
            if options is None:
                frame = frame.drop(columns="sample")
                frame.columns = [f"column {j}" for j in range(frame.shape[1])]
                own = options = ["--target", frame.columns[-1]]
            frame.to_csv(folder / "table.csv", index=False)
            write(frame, folder / name)
            wanted = fitted(folder, "table.csv", own, args.model)
            found = fitted(folder, name, options, args.model)
            if " " in wanted:
                raise SystemExit(wanted)
            same += found == wanted
            print(f"{name:24} {'the same bytes' if found == wanted else found}", flush=True)
    print(f"{same} of {len(args.formats)} formats give the model file of the csv")


if __name__ == "__main__":
    main()
