"""The page of a real comparison, read with an HTML parser."""

import base64
import csv
import hashlib
import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from psephos import compare
from psephos.files.names import signs
from psephos.report import build_report
from psephos.report.page.render import embed
from psephos.report.words import short_names

_VOID = {"meta", "link", "input", "br", "img", "line", "rect", "circle", "path"}


class Page(HTMLParser):
    """Elements in order, each with its attributes and its text."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        element = {"tag": tag, "text": "", "in": [e["tag"] for e in self.open], **dict(attrs)}
        assert len(dict(attrs)) == len(attrs), f"an attribute stands twice in {tag}"
        self.elements.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.elements.append({"tag": tag, "text": "", "in": [], **dict(attrs)})

    def handle_endtag(self, tag):
        assert self.open.pop()["tag"] == tag, f"</{tag}> closes another element"

    def handle_data(self, data):
        for element in self.open:
            element["text"] += data

    def all(self, **wanted):
        return [
            e
            for e in self.elements
            if all(e.get(k.replace("_", "-")) == v for k, v in wanted.items())
        ]


@pytest.fixture(scope="module")
def text(compared):
    return build_report(compared).read_text("utf-8")


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


def test_the_page_is_one_small_file_that_names_no_other(text, page):
    assert len(text.encode()) < 1_000_000
    for element in page.elements:
        assert "src" not in element
        assert element.get("href", "#").startswith("#")
        assert element["tag"] not in {"link", "img", "iframe", "object", "embed", "base", "b"}
        assert "style" not in element
        assert not [key for key in element if key.startswith("on")]
    assert "@import" not in text
    addresses = set(re.findall(r"https?://[^\s\"'<]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}  # a name, not a place


def test_the_policy_allows_the_pages_own_style_and_script_only(page):
    (policy,) = [e["content"] for e in page.all(tag="meta") if e.get("http-equiv")]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["base-uri"] == rules["form-action"] == "'none'"
    assert rules["img-src"] == "data:"
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        (body,) = [e["text"] for e in page.all(tag=tag) if e.get("type") is None]
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert rules[f"{tag}-src"] == f"'sha256-{digest}'"


def test_ids_are_unique_and_references_lead_somewhere(page):
    ids = [e["id"] for e in page.elements if e.get("id")]
    assert len(ids) == len(set(ids))
    for element in page.elements:
        for name in (element.get("aria-labelledby") or "").split():
            assert name in ids
        if element.get("href"):
            assert element["href"][1:] in ids
        if element["tag"] == "label" and element.get("for"):
            assert element["for"] in ids


def test_what_can_be_seen_can_be_heard(page):
    assert page.all(tag="html")[0]["lang"] == "en"
    for svg in page.all(tag="svg"):
        assert svg.get("aria-hidden") or svg.get("aria-label") or svg.get("aria-labelledby")
    assert not [e for e in page.all(data_test="point") if "tabindex" in e]  # rows choose, too
    assert len(page.all(tag="caption")) == len(page.all(tag="table"))
    assert all("table" in e["in"] for e in page.all(tag="caption"))
    for head in [e for e in page.elements if e["tag"] == "th"]:
        assert head["scope"] in {"row", "col"}


def test_every_chart_has_its_table(page):
    tables = {e.get("id") for e in page.all(tag="table")}
    figures = page.all(tag="figure")
    assert figures
    for figure in figures:
        assert figure["data-table"] in tables


def test_points_and_rows_are_the_means_of_the_results(compared, page):
    with (compared / "results.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for point in page.all(data_test="point"):
        own = [r for r in rows if r["model"] == point["data-model"] and r["status"] == "ok"]
        score = math.fsum(float(r["balanced_accuracy"]) for r in own) / len(own)
        columns = math.fsum(float(r["columns_used"]) for r in own) / len(own)
        assert float(point["data-score"]) == pytest.approx(score, abs=1e-12)
        assert float(point["data-columns"]) == pytest.approx(columns, abs=1e-9)


def test_what_can_be_proved_is_that_of_the_file(compared, page, text):
    with (compared / "bounds.csv").open(encoding="utf-8", newline="") as file:
        told = list(csv.DictReader(file))
    models, rows = {row["model"] for row in told}, page.all(data_test="bound")
    shown = {m: e["text"] for e in rows for m in models if e["text"].strip().startswith(m)}
    assert set(shown) == models
    for row in told:
        words = "does not hold" if row["value"] == "" else f"{float(row['value']):.3f}"
        assert words in shown[row["model"]]
        assert row["vacuous"] != "True" or "vacuous" in shown[row["model"]]
    constant = f"{float(told[0]['constant_error']):.3f}"
    assert f"the most frequent class is wrong in {constant} of the cases" in text
    reasons = {row["told"] for row in told if row["value"] == ""}
    details = " ".join(e["text"] for e in page.elements if e["tag"] == "details")
    assert reasons
    assert all(reason in details for reason in reasons)


def test_hostile_names_are_text(builders, compared, text, page):
    assert "<script>window" not in text
    assert "<img" not in text
    words = "".join(e["text"] for tag in ("header", "main") for e in page.all(tag=tag))
    about = json.loads((compared / "comparison.json").read_text("utf-8"))
    assert any(name in words for name in builders.HOSTILE)
    for label in about["classes"]:
        assert label in words
    assert about["dataset"] in page.all(tag="h1")[0]["text"]
    assert not [e for e in page.elements if e["tag"] in {"b", "i", "u", "em", "img"}]


def test_the_card_is_the_saved_model_in_its_own_words(compared, summarised, page):
    from psephos.models import load

    report = summarised
    (choice,) = page.all(data_test="card-choice")
    (procedure,) = page.all(data_test="recipe-or-model")
    assert "selected on these folds, so its figures are optimistic" in procedure["text"]
    assert "optimistic by its selection" in page.all(data_test="first")[0]["text"]
    key = re.search(r"models/([\w-]+)\.psephos", choice["text"])[1]
    model = load(compared / "models" / f"{key}.psephos")
    about = json.loads((compared / "comparison.json").read_text("utf-8"))
    short = short_names(about["columns"])
    model.schema_ = replace(model.schema_, names=tuple(short[n] for n in about["columns"]))
    lines = [signs(line) for line in model.describe()[1:]]
    assert [e["text"] for e in page.all(data_test="card-line")] == lines
    named = {e["text"]: e.get("title") for e in page.all(tag="span") if e.get("class") == "column"}
    for name in named:  # shortened ones are whole on hover
        assert named[name] == next((n for n, s in short.items() if s == name and s != n), None)
    shown = [c["whole"] for c in report["card"]["columns"]]
    assert sorted(short[name] for name in shown) == sorted(map(str, model.features_used_))


def test_no_number_is_only_rounding_and_no_plural_is_of_one(text):
    shown = text.partition("<main>")[2].partition("<footer>")[0]
    assert not re.findall(r"\b1 (?:voters|columns|cases|times|draws)\b", shown)
    assert not re.findall(r"\de-1[2-9]", shown)


def test_embedded_data_cannot_leave_its_element():
    text = str(embed({"</script>": "<!-- & \u2028\u2029 ]]>"}))
    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text) == {"</script>": "<!-- & \u2028\u2029 ]]>"}
    with pytest.raises(ValueError, match="JSON compliant"):
        embed(math.nan)


def test_the_same_folder_gives_the_same_bytes(compared, tmp_path):
    one = build_report(compared, tmp_path / "one.html").read_bytes()
    assert build_report(compared, tmp_path / "two" / "other.html").read_bytes() == one


def test_classes_that_doubles_merge_keep_their_names(tmp_path):
    """2^53 and 2^53 + 1 are one number to a script."""
    y = np.tile([2**53, 2**53 + 1], 30)
    X = np.column_stack([y - 2**53 + np.tile([0.1, 0.2, 0.4], 20), np.arange(60) % 7])
    out = tmp_path / "study"
    compare(X, y, models=["cart", "majority"], protocol="demo", out=out)
    text = build_report(out).read_text("utf-8")
    assert re.search(rf'"classes": ?\[{2**53}, ?"{2**53 + 1}"\]', text)
