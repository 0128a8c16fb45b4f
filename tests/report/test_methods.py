"""How the page says that it was made: settings, the checklist, names of training rows."""

import json

import numpy as np
import pytest

from psephos import PsephosError, SamBAClassifier
from psephos.models.prototypes.proset import ProsetClassifier
from psephos.report import PageOptions, build_report, summarise
from psephos.report.panels.methods import ITEMS, read_notes
from psephos.report.study.opened import renamed_rows
from psephos.report.words import shown_names


def test_every_item_of_the_checklist_is_answered_or_left_to_the_authors(compared, summarised):
    report = summarised
    told = report["tripod"]
    answered = {item["no"]: item["words"] for item in told["answered"]}
    left = {item["no"] for item in told["left"]}
    assert not answered.keys() & left
    assert answered.keys() | left == {no for no, _ in ITEMS}
    assert len(ITEMS) == 52
    assert {int("".join(c for c in no if c.isdigit())) for no, _ in ITEMS} == set(range(1, 28))
    assert {"1", "5a", "8a", "17", "18a", "25"} <= left
    about = json.loads((compared / "comparison.json").read_text("utf-8"))
    for name, n in zip(about["classes"], about["class_counts"], strict=True):
        assert f"{name} ({n})" in answered["21"]
    values = np.load(compared / "cases.npz")["values"]
    assert f"{np.isnan(values).sum()} of {values.size} values are missing" in answered["11"]


def test_notes_stand_on_the_page_and_close_their_items(compared, tmp_path, summarised):
    file = tmp_path / "notes.md"
    file.write_text(
        "\ufeff# Intended use\nSecond readers.\n\nNot <b>patients</b>.\n## Ethics:\nNo. 12\n"
        "# 5b Dates\n2019 to 2021\n# Funding\n\n",
        "utf-8",
    )
    report = summarise(compared, options=PageOptions(notes=file))
    assert [(one["head"], one["words"]) for one in report["notes"]] == [
        ("Intended use", ["Second readers.", "Not <b>patients</b>."]),
        ("Ethics", ["No. 12"]),
        ("5b dates", ["2019 to 2021"]),
    ]
    left, before = ({item["no"] for item in one["tripod"]["left"]} for one in (report, summarised))
    assert before - left == {"3b", "17", "5b"}  # nothing stands under funding
    page = build_report(compared, tmp_path / "page.html", notes=file).read_text("utf-8")
    assert "<p>Not &lt;b&gt;patients&lt;/b&gt;.</p>" in page
    assert not summarised["notes"]


def test_table_1_of_the_page_is_that_of_the_display(compared, summarised):
    found = summarised["cohort_table"]
    none = summarise(compared, options=PageOptions(cases="none"))["cohort_table"]
    with np.load(compared / "cases.npz") as file:
        y, names, values = file["y"], file["names"].tolist(), file["values"]
    about = json.loads((compared / "comparison.json").read_text("utf-8"))
    assert found["heads"][1:] == [
        f"{name}, n {(y == k).sum()}" for k, name in enumerate(about["classes"])
    ]
    short, lines = shown_names(about["columns"]), {row[0]: row[1:] for row in found["rows"]}
    called = {f"{short[name].text}: missing": j for j, name in enumerate(names)}
    read = [one for one in called if one in lines]
    assert read
    for one in read:
        missing = np.isnan(values[:, called[one]])
        assert lines[one] == [str(missing[y == k].sum()) for k in range(len(about["classes"]))]
    assert not {str(n) for n in range(1, 10)} & {cell for row in none["rows"] for cell in row[1:]}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("# Purpose\nx", r"line 1 .*'purpose' is not a heading.*# intended use, .*# contact"),
        ("# Ethics\nx\n# ethics\ny", r"line 3 .* is repeated"),
        ("x\n# Ethics", r"line 1 .* before the first heading: begin with # intended use"),
        ("\udc80", "cannot be read"),
    ],
)
def test_notes_that_cannot_be_read_are_refused_with_the_headings_there_are(tmp_path, text, error):
    file = tmp_path / "notes.md"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(PsephosError, match=error):
        read_notes(file)


def test_settings_are_those_of_the_fit_to_all(compared, summarised):
    report = summarised
    assert set(report["island"]["made"]) == {m["key"] for m in report["models"]}
    assert report["model_made"] == report["island"]["made"][report["bar"]["key"]]
    assert "No data from elsewhere were used" in report["not_done"]
    about = json.loads((compared / "comparison.json").read_text("utf-8"))
    assert about["fingerprint"][:12] in report["cite"]


@pytest.mark.parametrize("model", [SamBAClassifier(n_estimators=3), ProsetClassifier()])
def test_training_rows_are_renamed_wherever_a_vote_keeps_them(model):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    X[:, 0] += 2 * y
    vote = model.fit(X, y).vote_.named_rows(np.array([f"secret {i}" for i in range(40)]))
    assert vote.training_rows()
    other = renamed_rows(vote, {f"secret {i}": f"case {i + 1}" for i in range(40)})
    told = [str(one) for part in (other.voters, other.weighting)
            for one in getattr(part, "rows", np.array([])).tolist()]  # fmt: skip
    assert told
    assert not [one for one in told if "secret" in one]
    np.testing.assert_array_equal(other.score(X), vote.score(X))
