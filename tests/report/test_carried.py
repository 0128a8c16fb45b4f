"""What a page carries of cases is what it says, and classes are what they are called."""

import csv
import json
import re

import numpy as np
import pytest

from psephos.explain.effects import axis_of
from psephos.protocol import Protocol, compare, table_from_arrays
from psephos.report import build_report, summarise
from psephos.report.numbers.classes import About, ClassNames, two_classes
from psephos.report.numbers.column_values import FEWEST
from psephos.report.study.answers import class_codes, held_out_answers
from psephos.report.study.folder import read_folder
from psephos.report.study.opened import Saved
from psephos.report.study.options import PageOptions, with_outer_ends
from psephos.report.words import shown_names

_NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e[+-]?\d+)?")


def numbers_of(page):
    """Return the numbers of six figures and more in a page, its style and script apart."""
    text = re.sub(r"<style>.*?</style>|<script>.*?</script>", "", page, flags=re.S)
    found = _NUMBER.findall(text.replace("−", "-"))
    long = [float(t) for t in found if len(re.sub(r"e.*|\D", "", t).lstrip("0")) >= 6]
    # of four figures but for rounding errors are ends of the pieces of an axis
    return np.array([v for v in long if abs(v - float(f"{v:.4g}")) > 1e-12 * abs(v)])


def among(numbers, values):
    """Return the numbers that are one of these values, to six figures."""
    values = np.unique(values[np.isfinite(values) & (values != 0)])
    near = np.abs(numbers[:, None] / values[None] - 1).min(axis=1)
    return numbers[near < 6e-7]


def test_a_page_without_cases_has_no_value_answer_or_place_of_one(compared, tmp_path):
    page = build_report(compared, tmp_path / "none.html", cases="none").read_text("utf-8")
    read = read_folder(compared)
    saved = Saved(read, shown_names([str(c) for c in read.about["columns"]]))
    thresholds = np.concatenate([saved.cuts[name] for name in read.cases.names])
    numbers = numbers_of(page)
    numbers = np.setdiff1d(numbers, among(numbers, thresholds))
    coded = [j for j, name in enumerate(read.cases.names) if name in read.about["categories"]]
    values = np.delete(read.cases.values, coded, axis=1).astype(np.float64)
    assert among(numbers, values.ravel()).tolist() == []
    answers = held_out_answers(read, list(read.about["models"]))
    proba = answers.chances["sklearn-l1-logistic"].ravel()  # of trees they are simple fractions
    assert among(numbers, proba).tolist() == []
    # beside it the page with cases has them: the search finds what is there
    full = build_report(compared, tmp_path / "full.html", cases="full").read_text("utf-8")
    assert len(among(numbers_of(full), values.ravel())) > 48
    assert 'class="case' not in re.sub(r"<script>.*?</script>", "", page, flags=re.S)
    assert not [one for one in read.cases.ids if one in page]
    island = summarise(compared, options=PageOptions(cases="none"))["island"]
    assert island["values"]["rows"] == island["values"]["y"] == []
    assert not any(island["values"]["of"].values())
    assert island["missed"]["truth"] is None
    for one in island["values"]["models"].values():
        for column in one["columns"]:
            told = (column.get("bins") or {"counts": []})["counts"]
            assert all(n == 0 or n >= FEWEST for own in told for n in own)


def test_curves_without_answers_do_not_tell_their_order():
    rng = np.random.default_rng(0)
    tenths, positive = rng.integers(0, 10, 80), rng.random(80) < 0.4
    edges = [k / 10 for k in range(11)]
    about = About("", "", 1, edges=edges)
    drawn = []
    for _ in range(3):
        answers = tenths / 10 + rng.uniform(0.001, 0.099, 80)
        one = two_classes(answers, positive, ClassNames("ill", "well", "m", "p"), about)
        drawn.append([one["curves"][key] for key in ("steps", "nb")] + one["tenths"])
    assert drawn[0] == drawn[1] == drawn[2]
    assert len(drawn[0][0]) <= len(edges) + 1


@pytest.mark.parametrize("cases", ["rounded", "none"])
def test_axes_do_not_tell_the_extremes(cases):
    rng = np.random.default_rng(1)
    for scale, shift in ((1, 0), (40, 1000), (1e-5, 0), (3, -7)):
        values = rng.normal(size=60) * scale + shift
        for own in (
            values,
            np.exp(values - shift),
            np.where(rng.random(60) < 0.3, 0, np.abs(values)),
        ):
            found, exact = axis_of(with_outer_ends(own, cases)), axis_of(own)
            assert (found.zero, found.missing) == (exact.zero, exact.missing)
            assert found.low <= exact.low
            assert found.high >= exact.high
            added = with_outer_ends(own, cases)[len(own):]  # fmt: skip
            assert not np.isin(added[added != 0], own).any()
            part = 0.02 if cases == "none" else 1e-4
            near = own * (1 + rng.uniform(-1, 1, len(own)) * part * 1e-3)
            assert np.isclose(axis_of(with_outer_ends(near, cases)).low, found.low, rtol=0.1)
    assert with_outer_ends(values, "full") is values


LABELS = [
    ("a", "b"), ("0", "1"), ("1", "2"), ("1.0", "0.0"), ("True", "False"), ("nan", "None"),
    ("yes ", "Yes"), ("-1", "+1"), ("'=x", "=x"), ("1e3", "1000"), ("Infinity", "inf"),
]  # fmt: skip


@pytest.mark.parametrize("classes", LABELS, ids=lambda c: "|".join(c))
def test_what_classes_are_called_changes_no_figure(builders, tmp_path, classes):
    truth, proba = builders.of_two(60)
    told = []
    for k, names in enumerate((("a", "b"), classes)):
        folder = builders.written_folder(tmp_path / str(k), truth, {"m": [proba]}, list(names))
        report = summarise(folder, options=PageOptions(positive=names[1]))
        one = report["island"]["missed"]["models"]["m"]
        told.append([one["q"], one["tenths"], one["curves"]["roc"], report["missed"]["counts"]])
        shown = report["island"]["missed"]["classes"]
        assert len(set(shown)) == 2
        assert all(name in words for name, words in zip(names, shown, strict=True))
        assert report["missed"]["names"]["pos"] == shown[1]
        assert report["positive_words"].startswith(f"{shown[1]}: ")
    assert told[0] == told[1]
    codes = class_codes(classes)
    assert [codes[name] for name in classes] == [0, 1]


@pytest.mark.parametrize(
    "labels",
    [np.array([False, True]), np.array([1.0, 2.0]), np.array([1, 0]), np.array(["None", "nan"])],
    ids=["bool", "float", "int", "words for nothing"],
)
def test_labels_of_any_kind_are_the_classes_of_the_page(tmp_path, labels):
    rng = np.random.default_rng(0)
    codes = np.arange(40) % 2
    X = rng.normal(size=(40, 3))
    X[:, 0] += 3 * codes
    table = table_from_arrays(X, labels[codes])
    small = Protocol("small", draws=1, inner_folds=2)
    compare(table, models=["cart", "majority"], protocol=small, out=tmp_path / "s", n_jobs=1)
    asked = {2.0: "2"}.get(labels[1].item(), labels[1].item())  # numbers match by value
    report = summarise(tmp_path / "s", options=PageOptions(positive=asked))
    told = report["island"]["missed"]
    about = json.loads((tmp_path / "s" / "comparison.json").read_text("utf-8"))
    assert len(about["classes"]) == 2
    assert str(about["classes"][told["positive"]]) == str(asked)
    with (tmp_path / "s" / "predictions.csv").open(encoding="utf-8", newline="") as file:
        rows = [r for r in csv.DictReader(file) if r["model"] == "cart"]
    known = {int(r["row"]): r["truth"] == str(asked) for r in rows}
    assert [t == told["positive"] for t in told["truth"]] == [known[i] for i in sorted(known)]
    assert known == {i: bool(codes[i]) for i in known}
    build_report(tmp_path / "s", positive=asked)
