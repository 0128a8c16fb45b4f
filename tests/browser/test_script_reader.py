"""The script's reader of plain models gives the library's scores, in Chromium."""

import importlib.util
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from psephos import (
    C45Classifier,
    NewtonBoostingClassifier,
    ProsetClassifier,
    RankRidgeClassifier,
    SamBAClassifier,
    SparseWrapperClassifier,
)  # fmt: skip
from psephos.scoring import conformance, plain, script
from psephos.scoring.reader.model import PlainModel

pytestmark = pytest.mark.browser

# as text both ways: the browser's driver copies one value of a tree of voters at a time
_ASK = """
(text) => {
  const [plain, rows] = JSON.parse(text), model = openModel(plain);
  return JSON.stringify(rows.map((row) => {
    const { scores, probabilities, label, ballots, unanswered } = model.answer(row);
    const name = (b) => (b.name ? `${b.name}: ` : "");
    const between = (b) => (b.says === "not reached" ? ": " : " → ");
    const told = ballots.map((b) => `${name(b)}${b.reason}${between(b)}${b.says}`);
    const parts = ballots.map((b) => b.contribution);
    return { scores, probabilities, label, told, unanswered, parts };
  }));
}
"""
# of these reasons the script says less than the library: gates' columns
_SHORTER = ("soft trees",)


def _families():
    source = Path(__file__).parent.parent / "scoring" / "families.py"
    spec = importlib.util.spec_from_file_location("families", source)
    families = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(families)
    return families


@pytest.fixture
def page(load, tmp_path):
    """An empty page to which a test brings the script."""
    path = tmp_path / "empty.html"
    path.write_text("<!DOCTYPE html><title>.</title>", encoding="utf-8")
    return load(path)


def test_the_script_gives_the_librarys_answers(page):
    families, same = _families(), 0
    page.add_script_tag(content=script())
    for name in families.NAMES:
        model = families.fitted(name)
        wanted, data = conformance(model, 60, random_state=5), plain(model)
        rows = [*wanted["rows"], *families.gappy(model)]
        every = json.loads(page.evaluate(_ASK, json.dumps([data, rows])))
        reader = families.reader(model)
        cases = [reader.case(row) for row in rows]
        reasons = [reader.unanswered(row, reader.scored(row)) for row in cases]
        assert [one["unanswered"] for one in every] == reasons, name
        found = every[:60]
        for i, one in enumerate(found):
            scores = wanted["scores"][i]
            size = max(1.0, *map(abs, scores))
            apart = [abs(a - b) / size for a, b in zip(one["scores"], scores, strict=True)]
            assert max(apart) <= 1e-12, (name, i, one["scores"], scores)
            if wanted["probabilities"] is None:
                assert one["probabilities"] is None
                assert one["label"] == pytest.approx(wanted["answers"][i], rel=1e-12, abs=1e-12)
                continue
            pairs = zip(one["probabilities"], wanted["probabilities"][i], strict=True)
            assert max(abs(a - b) for a, b in pairs) <= 1e-12, (name, i)
            assert one["label"] == wanted["answers"][i], (name, i)
            if model.vote_.readout.is_sum:
                sums = [sum(part[k] for part in one["parts"]) for k in range(len(scores))]
                assert sums == pytest.approx(scores, abs=1e-9)
        if not any(kind in json.dumps(data) for kind in _SHORTER):
            same += _told_alike(families, model, wanted["rows"][:5], found)
    assert same > 400


def _told_alike(families, model, rows, found):
    """Count the reasons that are the reader's in Python, to the last character; assert all are."""
    reader = families.reader(model)
    for values, one in zip(rows, found, strict=False):
        row = reader.case(values)
        wanted = [reader.words(ballot) for ballot in reader.ballots(row, reader.scored(row))]
        assert one["told"] == wanted
    return sum(len(one["told"]) for one in found[: len(rows)])


def _named_alike(page, model, X):
    """Assert that the script says of each row what the reader in Python does; return the words."""
    data = plain(model)
    reader = PlainModel(data)
    read = X[[column["name"] for column in data["columns"]]]
    rows = read.astype(object).where(read.notna(), None).to_numpy().tolist()
    found = json.loads(page.evaluate(_ASK, json.dumps([data, rows])))
    for values, one in zip(rows, found, strict=True):
        row = reader.case(values)
        case = reader.scored(row)
        assert one["told"] == [reader.words(b) for b in reader.ballots(row, case)]
        assert one["unanswered"] == reader.unanswered(row, case)
    return [words for one in found for words in one["told"]]


def test_sums_whose_terms_cancel_have_the_librarys_digits(page):
    page.add_script_tag(content=script())
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"day": 20181100.0 + rng.integers(1, 90, 80), "crp": rng.normal(size=80)})
    y = np.where((X.day - 20181145) / 26 + X.crp > 0, "ill", "well")
    model = SparseWrapperClassifier("lda", p_max=2, random_state=0).fit(X, y)
    words = _named_alike(page, model, X)
    assert any(len(found[0]) > 10 for one in words if (found := re.findall(r"0\.\d+ × 2018", one)))


@pytest.mark.filterwarnings("ignore:tree_method='exact'")
def test_values_compared_in_single_precision_are_the_cases_own(page):
    page.add_script_tag(content=script())
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"day": 20181100.0 + rng.integers(1, 60, 200), "dose": rng.normal(size=200)})
    y = np.where(X["day"] + 9 * X["dose"] > 20181130, "ill", "well")
    model = NewtonBoostingClassifier(n_estimators=4, max_depth=3).fit(X, y)
    assert "(rounded to 2018" in " ".join(_named_alike(page, model, X))


def test_names_stand_in_quotes_where_the_librarys_do(page):
    page.add_script_tag(content=script())
    rng = np.random.default_rng(0)
    sites = ["none, really", "pain", "it's; so"]
    X = pd.DataFrame({"a, b": rng.normal(size=120), "x > 2 and y": rng.normal(size=120),
                      "site": pd.Categorical(rng.choice(sites, 120))})  # fmt: skip
    X.loc[::7, "a, b"] = np.nan
    y = np.where(X["a, b"].fillna(0) + (X.site == "pain") > 0.5, "grade, C", "grade D")
    lda = SparseWrapperClassifier("lda", p_max=3, random_state=0)
    kinds = SamBAClassifier(n_estimators=4), C45Classifier(), RankRidgeClassifier(), lda
    for kind in (*kinds, ProsetClassifier()):
        model = kind.fit(X, y)
        words = _named_alike(page, model, pd.concat([X.head(8), X.head(1).mask(X.head(1).notna())]))
        assert any("'a, b'" in one for one in words), words
        assert not re.search(r"(?<!['\"\w])(a, b|none, really|it's; so|grade, C)", " ".join(words))


def test_a_page_says_what_it_cannot_read(page):
    page.add_script_tag(content=script())
    ask = "(plain) => { try { openModel(plain); } catch (error) { return error.message; } }"
    assert "of version 2" in page.evaluate(ask, {"format": "psephos plain model", "version": 3})
    part = {"kind": "no such voters"}
    data = {
        "format": "psephos plain model", "version": 2, "columns": [], "classes": [],
        "voters": part, "weights": part, "readout": {"calibration": None}, "target": part,
    }  # fmt: skip
    assert "no reader of no such voters" in page.evaluate(ask, data)


def test_what_is_no_number_is_refused(page):
    """As `PlainModel.case` refuses it (tests/scoring/test_readers.py)."""
    families = _families()
    page.add_script_tag(content=script())
    model = plain(families.fitted("newton-boosting, frame"))
    names = [column["name"] for column in model["columns"]]
    ask = """([plain, at, value]) => {
      const row = plain.columns.map(() => null);
      row[at] = value === "Infinity" ? Infinity : value;
      try { return openModel(plain).answer(row).label; } catch (error) { return error.message; }
    }"""
    for value in ("5,1", "5.1", "", "Infinity", 1e300, True):
        told = page.evaluate(ask, [model, names.index("g1"), value])
        assert "must have numbers up to 1e+150; got" in told, value
    told = page.evaluate(ask, [model, names.index("site"), 1])
    assert "must have names of its categories; got 1" in told
    assert "egg" <= page.evaluate(ask, [model, names.index("site"), "elsewhere"]) <= "jam"
    typed = """(text) => {
      try { return openModel.number(text); } catch (error) { return error.message; }
    }"""
    for text, number in ((" 5.1 ", 5.1), ("-1E-5", -1e-5), (".5", 0.5), ("", None)):
        assert page.evaluate(typed, text) == number
    for text in ("5,1", "1,234", "1 000", "1e999", "0x10", "inf", "NaN", "5%", "１", "--5"):
        assert "is not a number" in page.evaluate(typed, text), text


def test_a_known_draw(page):
    """BLAKE2b of the script is that of Python's standard library, whatever the length."""
    import hashlib
    import struct

    page.add_script_tag(
        content=script().replace("return openModel;", "globalThis.drawn = drawnBy;")
    )
    for n in (1, 15, 16, 17, 40):
        row = [0.1 * i - 1.0 for i in range(n)]
        data = struct.pack(f"<{n}d", *row)
        key = (7).to_bytes(8, "little")
        wanted = int.from_bytes(hashlib.blake2b(data, digest_size=8, key=key).digest(), "little")
        assert (
            page.evaluate("([row, seed]) => drawn(row, seed)", [row, 7]) == (wanted >> 11) / 2**53
        )
