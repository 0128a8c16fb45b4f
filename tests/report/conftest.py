import importlib.util
import json
import shutil
from pathlib import Path

import pytest


def _load(path):
    spec = importlib.util.spec_from_file_location("report_builders", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def builders():
    return _load(Path(__file__).with_name("builders.py"))


@pytest.fixture(scope="session", params=[2, 3], ids=["two classes", "three classes"])
def compared(request, builders, tmp_path_factory):
    """Folder of a real comparison whose names are all hostile."""
    return builders.shared_folder(tmp_path_factory, request.param)


@pytest.fixture(scope="session")
def summarised(compared):
    """What a report says of that folder; tests read it and change nothing."""
    from psephos.report import summarise

    return summarise(compared)


@pytest.fixture
def copy(compared, tmp_path):
    """A copy of that folder to be changed: comparison.json has no digests, as older ones."""
    shutil.copytree(compared, tmp_path / "copy")
    path = tmp_path / "copy" / "comparison.json"
    about = json.loads(path.read_text("utf-8"))
    del about["files"], about["checksum"]
    path.write_text(json.dumps(about), "utf-8")
    return tmp_path / "copy"
