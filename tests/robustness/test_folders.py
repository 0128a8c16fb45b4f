"""Damaged study folders and journals make a page, resume, or are refused by a sentence."""

import json

import numpy as np
import pytest
from folders import damaged_journal, runner

from psephos.protocol.study.folder import Journal

CASES = 20  # 1,000 by benchmarks/robustness/fuzz.py


@pytest.mark.filterwarnings("ignore")
def test_damaged_folders_make_a_page_or_are_refused(tmp_path, unwatched):
    run = runner(tmp_path, 3)
    for case in range(CASES):
        told = run(case, unwatched)
        assert told["outcome"] in ("refused", "answered"), f"case {case}: {told}"


def test_a_damaged_journal_keeps_the_lines_that_are_whole(tmp_path):
    path = tmp_path / "journal.jsonl"
    journal = Journal(path)
    entries = [{"key": f"k{i}", "model": "cart", "proba": [0.5, i]} for i in range(6)]
    for entry in entries:
        journal.add(entry)
    journal.close()
    sound, kept = path.read_bytes(), 0
    for case in range(200):
        path.write_bytes(damaged_journal(sound, np.random.default_rng((5, case))))
        journal = Journal(path)
        found = [journal.get(entry["key"]) for entry in entries]
        assert all(one is None or one in entries for one in found), f"case {case}"
        assert journal.models() in ([], ["cart"])
        journal.add({"key": "new", "model": "cart"})
        journal.close()
        again = Journal(path)
        assert again.get("new") == json.loads('{"key": "new", "model": "cart"}')
        again.close()
        kept += sum(one is not None for one in found)
    assert 0 < kept < 200 * len(entries)
