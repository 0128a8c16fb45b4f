"""Replicates are found in noise, whichever way they differ, and nothing else is."""

import numpy as np
import pandas as pd
import pytest
from thorough import seeds

from psephos import check_table
from psephos.cautions.replicates import replicates
from psephos.cautions.stems import stem_form, stem_of

SPEAKERS = ["andrew", "bill", "david", "jo", "kate", "mark", "mike", "nick", "rich", "rose", "sue"]


def planted(kind, seed, n=60, p=20):
    """Return a table of noise, the first third of whose rows stand again behind the others."""
    rng = np.random.default_rng(seed)
    p = 6 if kind == "few columns" else p
    counts = kind == "counts"
    X = rng.poisson(20, (n, p)).astype(float) if counts else rng.normal(size=(n, p)).round(6)
    again = X[: n // 3].copy()
    some = {"all but one": 1, "all but two": 2, "counts": 1}.get(kind, 0)
    for row in again:
        places = rng.choice(p, some, replace=False)
        row[places] = rng.poisson(20, some) if counts else rng.normal(size=some)
    if kind == "missing":
        again[rng.random(again.shape) < 0.05] = np.nan
    if kind == "rounded":
        again = again.round(1)
    if kind == "nearer":
        again += rng.normal(size=again.shape) * 1e-3
    if kind == "proportional":
        again *= 1 + 0.02 * rng.normal(size=again.shape)
    if kind == "batch offset":
        again += 0.05 * rng.normal(size=p) + 0.01 * rng.normal(size=again.shape)
    if kind == "once a patient":
        again = np.where(rng.permutation(p) < p // 3, again, rng.normal(size=again.shape))
    return np.vstack([X, again]), [(i, n + i) for i in range(n // 3)]


KINDS = [
    "equal", "all but one", "all but two", "missing", "rounded", "counts", "few columns", "nearer",
    "proportional", "batch offset", "once a patient",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_replicates_of_each_kind_are_found_and_no_others(kind, seed):
    X, pairs = planted(kind, seed)
    assert replicates(X) == pairs


@pytest.mark.parametrize("kind", KINDS)
def test_in_long_and_in_wide_tables(kind):
    X, pairs = planted(kind, 0, 900)
    found = set(replicates(X))
    assert len(found & set(pairs)) >= 0.95 * len(pairs)
    assert found <= set(pairs)
    X, pairs = planted(kind, 0, 200, 12)
    found = set(replicates(X))
    assert len(found & set(pairs)) >= 0.9 * len(pairs)
    assert found <= set(pairs)
    if kind != "few columns":
        X, pairs = planted(kind, 0, 30, 400)
        assert replicates(X) == pairs


def generated(seed):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(20, 400)), int(rng.integers(2, 300))
    tables = [
        lambda: rng.normal(size=(n, p)),
        lambda: rng.normal(size=(n, 3)) @ rng.normal(size=(3, p)) + 0.3 * rng.normal(size=(n, p)),
        lambda: rng.integers(0, 3, (n, p)).astype(float),
        lambda: rng.poisson(np.exp(rng.normal(-2, 2, p)), (n, p)).astype(float),
        lambda: np.where((X := rng.dirichlet(np.full(p, 0.05), n)) < 1e-4, 0, X),
        lambda: np.cumsum(rng.normal(size=(n, p)), axis=1),
    ]
    return tables[seed % len(tables)]()


@pytest.mark.parametrize("seed", seeds(12, 24))  # two of each kind, or four
def test_nothing_is_found_in_generated_tables(seed):
    assert replicates(generated(seed)) == []


def test_rows_of_one_group_are_not_divided():
    X, pairs = planted("all but one", 0)
    group = np.arange(len(X))
    group[60:] = group[:20]
    assert "FD020" not in str(check_table(X, groups=group))
    group[60] = 999
    found = check_table(X, groups=group)
    assert found[0].rows == pairs[0]


def test_a_column_that_ties_replicates_is_offered_as_the_group():
    X, _ = planted("all but one", 0)
    patient = np.arange(len(X)) % 60 * 3.0
    found = check_table(np.column_stack([X, patient]))
    assert ("--group", "column 20") in found[0].remedy
    assert "column 'column 20' has one value in each pair" in found[0].sentence


def test_a_count_that_replicates_share_by_chance_is_not_offered_as_the_group():
    X, _ = planted("all but one", 0)
    count = np.arange(len(X)) % 60 * 3.0
    count[20:60] *= np.arange(40) % 3 > 0  # zero in rows that are no replicates
    found = check_table(np.column_stack([X, count]))
    assert found[0].code == "FD020"
    assert not found[0].remedy
    named = pd.DataFrame(X).add_prefix("m").assign(patient=count)
    assert ("--group", "patient") in check_table(named)[0].remedy


def test_tables_of_few_rows_or_of_constants():
    assert replicates(np.zeros((50, 8))) == []
    assert replicates(np.arange(24.0).reshape(6, 4)) == []
    assert replicates(np.full((40, 6), np.nan)) == []


def spectra(seed, noise):
    """Return 60 smooth spectra, each three times, with so much noise in each."""
    rng = np.random.default_rng(seed)
    smooth = np.cumsum(rng.normal(size=(60, 200)), axis=1)
    return np.repeat(smooth, 3, axis=0) + noise * rng.normal(size=(180, 200))


@pytest.mark.parametrize("seed", range(3))
def test_of_columns_that_depend_on_each_other(seed):
    same = [(3 * k + a, 3 * k + b) for k in range(60) for a, b in ((0, 1), (0, 2), (1, 2))]
    found = replicates(spectra(seed, 0.05))
    assert set(found) <= set(same)
    assert len(found) > 0.95 * len(same)
    assert replicates(spectra(seed, 0.05)[::3]) == []
    nothing = np.zeros((60, 40))  # of most rows there is no signal: that is no likeness
    nothing[:20] = np.cumsum(np.random.default_rng(seed).normal(size=(20, 40)), axis=1)
    assert replicates(nothing) == []


TAKES = [f"Olsen{k}, visit {v}, take {t}" for k in range(6) for v in (1, 2, 3) for t in "abc"]


@pytest.mark.parametrize(
    ("words", "form", "stem"),
    [
        ([f"{k}.h{v}d.{i}" for k in SPEAKERS for v in "AI" for i in (1, 2)], "*.*.*", "andrew"),
        ([f"Gaso {k:02}{scan}" for k in range(1, 41) for scan in "abc"], "*?", "Gaso 01"),
        ([f"P{k:02}_V{v}_{s}" for k in range(20) for v in (1, 2) for s in "LR"], "*_*_*", "P00"),
        ([f"H{k:03} 2024-{m:02}-11" for k in range(20) for m in (1, 2, 3)], "* *", "H000"),
        ([f"Anna K{k} (visit {v})" for k in range(20) for v in (1, 2)], "* *)", "Anna K0 (visit"),
        ([f"img_{k}_{v}.png" for k in range(30) for v in (1, 2)], "*_*.png", "img_0"),
        ([f"Plate{k}_{r}{c:02}" for k in range(4) for r in "ABCDEF" for c in range(12)], None, ""),
        ([*TAKES, "Olsen1, visit 2, take b (2nd)"], "*, visit *", "Olsen0"),
        ([f"sample {k}, take {t}" for k in range(15) for t in "abc"], "*, take *", "sample 0"),
        ([f"TCGA-{k % 7:02}-{k:04}-01" for k in range(80)], None, ""),
    ],
)
def test_the_shortest_stem_that_words_share(words, form, stem):
    assert stem_form(words) == form
    assert form is None or stem_of(words[0], form) == stem


def test_the_coarsest_group_is_offered_with_the_next_finer():
    found = {one.code: one for one in check_table(pd.DataFrame({"take": TAKES, "x": range(54)}))}
    assert found["FD002"].remedy == (("--group", "take=*, visit *, take *"),)
    assert "6 groups such as 'Olsen0'; or, if parts such as 'Olsen0, visit 1' are" in str(
        found["FD002"]
    )
    assert "--group 'take=*, take *': 18)" in str(found["FD002"])
    few = [take for take in TAKES if take[5] in "0123"]  # fewer subjects than folds
    assert stem_form(few) == "*, take *"


def test_stems_of_words_are_offered_as_the_group():
    names = [f"S{k // 3:02}_{k % 3}" for k in range(180)]
    X = pd.DataFrame(spectra(0, 0.05))
    for table in (X.assign(sample=names), X.set_index(pd.Index(names, name="sample"))):
        found = {one.code: one for one in check_table(table.rename(columns=str))}
        assert found["FD020"].remedy == (("--group", "sample=*_*"),)


@pytest.mark.parametrize("digits", [1, 9])
def test_columns_in_another_unit_count_once(digits):
    """Half of the columns in pounds, too: the replicates are those of the table without them."""
    rng = np.random.default_rng(0)
    X = rng.normal(70, 10, size=(30, 6)).round(1)
    X = np.vstack([X, X + rng.normal(0, 0.05, X.shape).round(1)])
    assert len(replicates(X)) >= 25
    assert replicates(np.hstack([X, (X[:, :3] * 2.2046).round(digits)])) == replicates(X)
    assert replicates(np.hstack([X[:, :3], X[:, :3] * 1.8 + 32])) == []  # three columns say little


def test_a_measurement_that_only_copies_share_is_not_offered_as_the_group():
    """Ids name the subjects; measurements that are equal in copies only, or missing, do not."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(126, 6))
    X[:, 5] = np.round(1e5 * X[:, 5])  # whole numbers
    X = np.vstack([X, X[[3, 40, 77, 90, 120]]])
    X[-5:, 0] += 1e-3
    frame = pd.DataFrame(X, columns=list("abcdef"))
    subject = [*np.repeat(np.arange(14), 9), *(i // 9 for i in (3, 40, 77, 90, 120))]
    visit = [*np.tile(np.arange(9), 14), *[9] * 5]
    frame["recording"] = [f"P{s:02}_V{v}" for s, v in zip(subject, visit, strict=True)]
    found = {one.code: one for one in check_table(frame, rng.integers(0, 2, len(frame)))}
    assert ("--group", "recording=*_*") in found["FD020"].remedy
    assert "begin alike" in str(found["FD002"])
