"""comparison.json, environment.json and validation.json vouch for themselves."""

import copy as copies
import hashlib
import json
import shutil

import pytest

from psephos import CARTClassifier, PsephosError, validate
from psephos.protocol.study.folds import read_folds
from psephos.report import build_report, summarise
from psephos.report.study.folder import read_folder
from psephos.testing import small_table
from psephos.validation import read_validation, write_validation


@pytest.fixture(scope="module")
def validated(tmp_path_factory):
    place = tmp_path_factory.mktemp("validated") / "folder"
    X, y = small_table(2)
    write_validation(validate(CARTClassifier(n_folds=0).fit(X[:30], y[:30]), X[30:], y[30:]), place)
    return place


def edits(data):
    """Yield copies of plain values, each with one value or one key changed."""

    def places(value, way=()):
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        for key, one in inner:
            if isinstance(value, dict) and (*way, key) != ("checksum",):
                yield (*way, key), "key"
            if isinstance(one, dict | list):
                yield from places(one, (*way, key))
            else:
                yield (*way, key), "value"

    for way, what in list(places(data)):
        changed = copies.deepcopy(data)
        inner = changed
        for key in way[:-1]:
            inner = inner[key]
        if what == "key":
            inner[f"{way[-1]}x"] = inner.pop(way[-1])
        else:
            inner[way[-1]] = _other(inner[way[-1]])
        yield way, changed


def _other(value):
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, str):
        return value + "x"
    return value + 1 if isinstance(value, int) else value * 1.01 + 0.01


@pytest.mark.parametrize("name", ["comparison.json", "environment.json", "validation.json"])
def test_no_value_is_changed_without_notice(name, compared, validated, tmp_path):
    place, read = tmp_path / "folder", read_folder
    if name == "validation.json":
        compared, read = validated, read_validation
    shutil.copytree(compared, place)
    data = json.loads((place / name).read_text("utf-8"))
    found = list(edits(data))
    assert len(found) > (20 if name == "environment.json" else 100)
    for _, changed in found:
        (place / name).write_text(json.dumps(changed, ensure_ascii=False), "utf-8")
        with pytest.raises(PsephosError, match=r"later version|not match its checksum|damaged"):
            read(place)
    (place / name).write_text(json.dumps(data, ensure_ascii=False), "utf-8")
    read(place)


def test_every_reader_refuses_and_compare_is_named(compared, tmp_path):
    shutil.copytree(compared, tmp_path / "folder")
    path = tmp_path / "folder" / "comparison.json"
    data = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(data | {"target": "another"}), "utf-8")
    for read in (summarise, build_report, read_folds):
        with pytest.raises(PsephosError, match=r"checksum: it was changed .* Run the comparison"):
            read(tmp_path / "folder")


def test_the_checksum_is_that_of_the_documentation(compared, validated):
    for path in (compared / "comparison.json", validated / "validation.json"):
        data = json.loads(path.read_text("utf-8"))
        checksum = data.pop("checksum")
        text = json.dumps(data, sort_keys=True, separators=(",", ":"))
        assert hashlib.sha256(text.encode()).hexdigest() == checksum
