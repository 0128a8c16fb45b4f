"""psephos report: what the reader of the page asks for."""

import json
import re

import pytest


@pytest.fixture(scope="module")
def study(table, columns, tmp_path_factory):
    from click.testing import CliRunner

    from psephos.cli import main

    folder = tmp_path_factory.mktemp("study") / "out"
    chosen = ["--models", "adaboost,majority", "--protocol", "demo", "--no-report"]
    told = CliRunner().invoke(
        main, ["compare", str(table), *columns, *chosen, "--out", str(folder), "--n-jobs", "1"]
    )
    assert told.exit_code == 0, told.output
    return folder


def data_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])


def test_the_page_is_as_it_is_asked_for(call, study, tmp_path):
    page = tmp_path / "page.html"
    asked = ["--title", "Who is <well>?", "--positive", "well", "--id"]
    result = call("report", study, "--out", page, *asked, "--cases", "full", "--model", "majority")
    assert result.exit_code == 2  # nothing of it was saved
    assert "must be one with a file in this folder" in result.output
    result = call("report", study, "--out", page, *asked, "--cases", "full")
    assert result.exit_code == 0, result.output
    text = page.read_text("utf-8")
    assert "<title>Who is &lt;well&gt;?</title>" in text
    told = data_of(text)["missed"]
    assert told["classes"][told["positive"]] == "well"
    assert told["names"][7] == "case 7"
    assert {one["name"] for one in told["groups"]} >= {"fold", "batch"}
    assert "values of the columns that models read, as they are" in text


def test_by_default_the_page_names_nobody(call, study, tmp_path):
    page = tmp_path / "page.html"
    assert call("report", study, "--out", page).exit_code == 0
    told = data_of(page.read_text("utf-8"))["missed"]
    assert told["names"] is None
    assert told["classes"][told["positive"]] == "ill"  # "well" is a usual word for nothing found
    assert "to three or four figures" in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (["--positive", "happy"], "the positive class must be one of ill, well; got 'happy'"),
        (["--id", "--cases", "none"], "ids must not be given with cases='none'"),
        (["--title", ""], "title must not be empty"),
    ],
)
def test_what_cannot_be_is_a_sentence(call, study, asked, why):
    result = call("report", study, *asked)
    assert result.exit_code == 2
    assert why in " ".join(result.output.split())
