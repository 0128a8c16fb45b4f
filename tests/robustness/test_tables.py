"""Damaged tables are read, fitted and asked, or refused by a sentence."""

import numpy as np
import pytest
from tables import runner

from psephos._errors import PsephosError
from psephos.protocol import read_table

CASES = 24  # 6,000 by benchmarks/robustness/fuzz.py


@pytest.mark.filterwarnings("ignore")
def test_damaged_tables_are_answered_or_refused(tmp_path, unwatched):
    run = runner(tmp_path, 7)
    for case in range(CASES):
        told = run(case, unwatched)
        assert told["outcome"] in ("refused", "answered"), f"case {case}: {told}"


@pytest.mark.parametrize("cell", ["w" * 5_000, "9" * 5_000 + "x", "\x01" * 5_000])
def test_a_long_cell_or_name_is_not_quoted_whole(cell, tmp_path):
    path = tmp_path / "t.csv"
    name = "n" * 4_000 + "end"
    rows = "".join(f"{i},{i % 2}\n" for i in range(30))
    path.write_text(f"{name},target\n{rows}{cell},1\n", "utf-8")
    with pytest.raises(PsephosError, match="nend") as told:
        read_table(path, target="target")
    assert len(str(told.value)) < 1_000


def test_a_damaged_npz_is_not_quoted_whole(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, X=np.random.default_rng(0).random((40, 40)), y=np.arange(40) % 2)
    whole = bytearray(path.read_bytes())
    whole[26:28] = (5_000).to_bytes(2, "little")  # the length of the first name
    path.write_bytes(whole)
    with pytest.raises(PsephosError, match=r"'t.npz' is damaged, .* …\): write it again") as told:
        read_table(path, target="y")
    assert len(str(told.value)) < 300


def test_names_of_seven_ranks_are_quoted_whole():
    from psephos.files.near import quoted

    rank = "k__Bacteria|p__Firmicutes|c__Clostridia|o__Clostridiales|f__Ruminococcaceae"
    name = f"{rank}|g__Faecalibacterium|s__Faecalibacterium_prausnitzii"
    assert quoted([name]) == repr(name)
    assert len(quoted(np.full(6, "x" * 9_000).tolist())) < 1_000
