"""Models and weights of another package: contract, file, command, comparison and report."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from psephos import PsephosError, SamBAClassifier, compare, load, register, registry, save
from psephos.base import VoteClassifier
from psephos.cli.fit import class_of
from psephos.estimator.contender import Contender
from psephos.models.catalogue import catalogue
from psephos.protocol import Protocol, known_models
from psephos.protocol.tables.table import table_from_arrays
from psephos.registry import estimator_classes, model_names
from psephos.report import build_report
from psephos.scoring import plain
from psephos.testing import Case, parametrize_with_contract, small_table
from psephos.vote import register_part
from psephos.vote.reading.core import WEIGHTS

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
import local_accuracy  # noqa: E402
import midpoints  # noqa: E402

registry._registered.pop("third-midpoint", None)  # other tests ask which models there are
SMALL = midpoints.MidpointClassifier(**midpoints.MidpointClassifier.contender.small)
LOCAL = local_accuracy.LocalAccuracyClassifier()
NO_REPETITION = "the k nearest training rows are counted without their weights"
CASES = {f"{k} classes, {m}": Case(SMALL, k, m) for k in (2, 3) for m in (0.0, 0.2)} | {
    f"local, {k} classes, {m}": Case(LOCAL, k, m, NO_REPETITION) for k in (2, 3) for m in (0.0, 0.2)
}


@pytest.fixture(autouse=True, scope="module")
def _known_here_only():
    register(midpoints.MidpointClassifier)
    register(local_accuracy.LocalAccuracyClassifier)
    yield
    registry._registered.pop("third-midpoint")
    registry._registered.pop("third-local")


@parametrize_with_contract(CASES)
def test_contract(check):
    check()


def test_it_is_short():
    assert len((HERE / "midpoints.py").read_text().splitlines()) <= 60


def test_it_is_known_by_its_name():
    assert model_names()["third-midpoint"] == "MidpointClassifier"
    assert estimator_classes()["MidpointClassifier"] is midpoints.MidpointClassifier
    assert known_models()["third-midpoint"].notes == "cuts halfway between the class means"


def test_it_is_compared_and_reported(tmp_path):
    X, y = small_table(2)
    table = table_from_arrays(X, y)
    done = compare(
        table,
        models=["third-midpoint", "majority"],
        protocol=Protocol(folds=2, draws=2),
        out=tmp_path / "study",
        n_jobs=2,
    )
    assert not done.failures, done.words()
    (score,) = [r["draws"] for r in done.results if r["model"] == "third-midpoint"][:1]
    assert score > 1  # its n_columns was drawn
    model = load(tmp_path / "study" / "models" / "third-midpoint.psephos")
    assert isinstance(model, midpoints.MidpointClassifier)
    page = build_report(tmp_path / "study").read_text("utf-8")
    assert "third-midpoint" in page
    assert "cuts halfway between the class means" in page


COMMANDS = """
import json, sys
from click.testing import CliRunner
from psephos.cli import main
runs = [CliRunner().invoke(main, words) for words in json.loads(sys.argv[1])]
print(json.dumps([(run.exit_code, run.output) for run in runs]))
"""


def psephos(*commands, cwd):
    """Run commands one after the other in one new process; return (exit code, output) of each."""
    told = json.dumps([[str(word) for word in words] for words in commands])
    done = subprocess.run(  # -P: the folder is not searched unless the command does so
        [sys.executable, "-P", "-c", COMMANDS, told], cwd=cwd, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_command_knows_what_it_is_told_to_import(tmp_path):
    X, y = small_table(2)
    path = tmp_path / "m.psephos"
    model = midpoints.MidpointClassifier().fit(X, y)
    save(model, path)
    rows = "\n".join(",".join(map(str, [*row, label])) for row, label in zip(X, y, strict=True))
    head = ",".join([*(f"c{j}" for j in range(X.shape[1])), "y"])
    (tmp_path / "t.csv").write_text(f"{head}\n{rows}\n")
    fit = ["fit", tmp_path / "t.csv", "--target", "y", "--out", tmp_path / "f.psephos"]
    refused, wrong, told, shown, done = psephos(
        ["describe", path],
        ["--import", "nowhere", "list"],
        ["--import", "midpoints", "describe", path],
        ["--import", "midpoints", "list"],
        ["--import", "midpoints", *fit, "--model", "third-midpoint"],
        cwd=HERE,
    )
    assert (refused[0], "psephos --import MODULE" in refused[1]) == (2, True)
    assert (wrong[0], "ModuleNotFoundError" in wrong[1]) == (2, True)
    assert told[1].splitlines() == model.describe()
    assert "third-midpoint" in shown[1]
    assert done[0] == 0, done[1]
    assert_array_equal(load(tmp_path / "f.psephos").vote_.used, model.vote_.used)


def test_names_are_not_taken_twice():
    def mine(name, kind="MineClassifier"):
        return type(kind, (VoteClassifier,), {"contender": Contender(name, "tree")})

    with pytest.raises(PsephosError, match="there is a model 'samba' already"):
        register(mine("samba"))
    with pytest.raises(PsephosError, match="another class name"):
        register(mine("other", "SamBAClassifier"))
    with pytest.raises(PsephosError, match="declares no name"):
        register(type("MineClassifier", (VoteClassifier,), {}))
    assert "other" not in model_names()


def test_a_part_does_not_take_the_tag_of_another():
    class Local:
        tag = "local"

    with pytest.raises(PsephosError, match=r"the tag 'local' is already that of psephos.vote"):
        register_part(Local)
    assert register_part(local_accuracy.LocalAccuracy) is local_accuracy.LocalAccuracy


def test_a_part_that_derives_from_no_base_class_is_refused():
    vote = midpoints.MidpointClassifier().fit(*small_table(2)).vote_
    own = {name: getattr(vote.weighting, name) for name in ("n_voters", "n_features", "weights")}
    bare = type("Bare", (), own)()
    with pytest.raises(PsephosError, match=r"Bare does not derive from psephos\.vote\.Weighting"):
        replace(vote, weighting=bare)


def test_it_answers_as_a_model_of_the_package_does():
    X, y = small_table(2)
    model = midpoints.MidpointClassifier(2).fit(X, y)
    assert model.score(X, y) > 0.7
    assert np.isclose(model.feature_importances_.sum(), 1)


class Halfway(midpoints.MidpointClassifier):
    """A class whose name does not say what it is, and whose anatomy is not what it returns."""

    contender = Contender("third-halfway", "stumps", small={"n_columns": 2})
    anatomy = midpoints.MidpointClassifier.anatomy._replace(voters=("tree voters",))


@pytest.fixture
def _halfway():
    register(Halfway)
    yield
    registry._registered.pop("third-halfway")


@pytest.mark.usefixtures("_halfway")
def test_what_its_anatomy_does_not_declare_is_not_saved(tmp_path):
    model = Halfway().fit(*small_table(2))
    with pytest.raises(PsephosError, match=r"has 'stump voters' .* declares \('tree voters',\)"):
        save(model, tmp_path / "m.psephos")
    assert not (tmp_path / "m.psephos").exists()


@pytest.mark.usefixtures("_halfway")
def test_a_classifier_is_one_by_its_class_and_not_by_its_name():
    assert class_of("third-halfway") is Halfway
    assert class_of("cart-regressor").__name__ == "CARTRegressor"
    with pytest.raises(PsephosError, match="there is no model 'third-halfwy'"):
        class_of("third-halfwy")


# ---------------------------------------------------------------------- what is wrong with others
@pytest.mark.parametrize(
    "name",
    ["", " ", "a b", "a/b", "../x", "a\nb", "A" * 65, "\N{LATIN SMALL LETTER U WITH DIAERESIS}ber",
     "All", "-x", "a,b", ".", "nul\0", "<b>", None, 5],
)  # fmt: skip
def test_a_name_is_one_that_a_file_may_have(name):
    with pytest.raises(PsephosError, match="letters, digits, - and _"):
        Contender(name, "tree")


@pytest.mark.parametrize("what", [5, type("Mine", (), {"contender": Contender("mine", "tree")})])
def test_what_is_no_estimator_class_is_not_registered(what):
    with pytest.raises(PsephosError, match="derive a class from psephos"):
        register(what)
    assert "mine" not in model_names()


def test_a_name_of_another_library_is_refused():
    register(type("Other", (VoteClassifier,), {"contender": Contender("xgboost", "tree")}))
    try:
        with pytest.raises(PsephosError, match="'xgboost', the name of another library's"):
            known_models()
    finally:
        registry._registered.pop("xgboost")


def test_a_class_without_a_docstring_is_listed():
    bare = type("Bare", (midpoints.MidpointClassifier,), {"contender": Contender("bare", "tree")})
    register(bare)
    try:
        assert [row["summary"] for row in catalogue() if row["name"] == "bare"] == [""]
    finally:
        registry._registered.pop("bare")


@pytest.mark.parametrize("ask", [estimator_classes, catalogue, lambda: class_of("cart")])
def test_a_model_that_its_module_does_not_have_is_named(monkeypatch, ask):
    from psephos.models.tree import cart

    monkeypatch.delattr(cart, "CARTClassifier")
    with pytest.raises(PsephosError, match=r"cart\.py has no CARTClassifier, but registry\.py"):
        ask()


def test_weights_without_a_reader_have_no_plain_form():
    model = LOCAL.fit(*small_table(2))
    with pytest.raises(PsephosError) as told:
        plain(model)
    assert str(told.value) == (
        "LocalAccuracyClassifier has no plain form: its readers do not support 'local "
        "accuracy'; that is the part LocalAccuracy of local_accuracy."
    )


def test_a_part_of_psephos_is_called_no_other_package(monkeypatch):
    """Where its reader is not written yet."""
    model = SamBAClassifier(n_estimators=2).fit(*small_table(2))
    monkeypatch.delitem(WEIGHTS, "distance weights")
    with pytest.raises(PsephosError, match=r"DistanceWeights of psephos\.vote\.operations\."):
        plain(model)


def test_a_table_with_text_is_encoded_for_it_and_the_refit_is_not_saved(tmp_path):
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=(60, 2)), rng.integers(0, 2, 60)]
    table = replace(
        table_from_arrays(X, np.where(X[:, 0] > 0, "ill", "well")),
        categories={2: ("f", "m")},
    )
    found = compare(
        table, models=["third-midpoint", "majority"], out=tmp_path / "study", n_jobs=1,
        protocol=Protocol("p", draws=1, inner_folds=2, folds=2),
    )  # fmt: skip
    refit = next(row for row in found.refits if row["model"] == "third-midpoint")
    assert (refit["status"], refit["error"]) == ("ok", "")
    assert "third-midpoint" not in found.models
    assert (tmp_path / "study" / "report.html").exists() or build_report(
        tmp_path / "study"
    ).exists()
