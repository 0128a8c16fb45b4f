"""Progress of fits: what is printed, and that nothing else depends on it."""

import io
import re
from contextlib import redirect_stdout

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from psephos import (
    AdaBoostClassifier,
    BaggingClassifier,
    CARTClassifier,
    GradientBoostingClassifier,
    NewtonBoostingRegressor,
    ProsetClassifier,
    PsephosError,
    PureRandomForestClassifier,
    RandomForestClassifier,
    SamBAClassifier,
    SoftTreeClassifier,
    StackingClassifier,
    VotingClassifier,
    load,
    save,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = (X[:, 0] + 0.5 * RNG.normal(size=40) > 0).astype(int)
TREE = CARTClassifier(n_folds=0)
PAIR = [("a", TREE), ("b", SamBAClassifier(n_estimators=2))]
STEPS = [
    (AdaBoostClassifier(n_estimators=5, random_state=0), "rounds", 5),
    (SamBAClassifier(n_estimators=3), "rounds", 3),
    (GradientBoostingClassifier(n_estimators=4, random_state=0), "rounds", 4),
    (NewtonBoostingRegressor(n_estimators=4, random_state=0), "rounds", 4),
    (RandomForestClassifier(6, random_state=0), "trees", 6),
    (RandomForestClassifier(6, random_state=0, n_jobs=2), "trees", 6),
    (PureRandomForestClassifier(4, random_state=0), "trees", 4),
    (BaggingClassifier(TREE, 3, random_state=0), "members", 3),
    (BaggingClassifier(TREE, 3, random_state=0, n_jobs=2), "members", 3),
    (VotingClassifier(PAIR), "members", 2),
    (SoftTreeClassifier(max_iter=7, random_state=0), "epochs", 7),
]


def printed(model, y=Y):
    """Fit a clone; return it and the lines it printed."""
    out = io.StringIO()
    with redirect_stdout(out):
        fitted = clone(model).fit(X, y)
    assert out.getvalue() == "" or out.getvalue().endswith("\n")
    assert "\r" not in out.getvalue()  # of a notebook each line stands for itself
    return fitted, out.getvalue().splitlines()


@pytest.mark.parametrize(("model", "what", "number"), STEPS)
def test_each_step_is_a_line_and_no_answer_depends_on_it(model, what, number):
    quiet, nothing = printed(model)
    assert nothing == []
    loud, lines = printed(clone(model).set_params(verbose=2))
    kind = type(model).__name__
    assert len(lines) == number
    for i, line in enumerate(lines):
        assert re.fullmatch(rf"{kind}: {i + 1} of {number} {what} \(\d+\.\d s\)", line)
    assert_array_equal(loud.predict(X), quiet.predict(X))
    assert_array_equal(loud.vote_.score(X), quiet.vote_.score(X))


def test_a_long_fit_has_about_ten_lines():
    model = RandomForestClassifier(57, max_depth=1, random_state=0, verbose=1)
    assert len(printed(model)[1]) == 10
    assert len(printed(SoftTreeClassifier(max_iter=30, verbose=1, random_state=0))[1]) == 10


def test_a_fit_that_ends_early_says_its_last_step():
    y = (X[:, 0] > 0).astype(int)  # the first stump is right everywhere
    _, lines = printed(AdaBoostClassifier(n_estimators=50, verbose=2, random_state=0), y)
    assert [line.split(" (")[0] for line in lines] == ["AdaBoostClassifier: 1 of 50 rounds"]


def steps(kind, number, what):
    """Return the lines of a whole fit without their times."""
    return [f"{kind}: {i + 1} of {number} {what}" for i in range(number)]


def test_members_speak_for_themselves():
    loud = SamBAClassifier(n_estimators=2, verbose=2)
    _, lines = printed(VotingClassifier([("a", loud), ("b", TREE)]))
    assert [line.split(" (")[0] for line in lines] == steps("SamBAClassifier", 2, "rounds")
    _, lines = printed(StackingClassifier(PAIR, cv=2, verbose=2, random_state=0))
    assert [line.split(" (")[0] for line in lines] == steps("StackingClassifier", 2, "members") * 3


def test_a_fit_that_tries_several_times_counts_each():
    quiet, _ = printed(ProsetClassifier(n_batches=2, random_state=0))
    loud, lines = printed(ProsetClassifier(n_batches=2, random_state=0, verbose=2))
    assert len(lines) > 2  # it tries more than once
    expected = steps("ProsetClassifier", 2, "batches") * (len(lines) // 2)
    assert [line.split(" (")[0] for line in lines] == expected
    assert_array_equal(loud.predict_proba(X), quiet.predict_proba(X))


def test_it_is_kept_in_no_file_and_free_in_a_warm_start(tmp_path):
    model = RandomForestClassifier(3, random_state=0, warm_start=True, verbose=2)
    with redirect_stdout(io.StringIO()):
        model.fit(X, Y)
    save(model, tmp_path / "loud.psephos")
    assert load(tmp_path / "loud.psephos").verbose == 0
    quiet = RandomForestClassifier(3, random_state=0, warm_start=True).fit(X, Y)
    save(quiet, tmp_path / "quiet.psephos")
    assert load(tmp_path / "quiet.psephos").get_params() == quiet.get_params()
    assert b"verbose" not in (tmp_path / "loud.psephos").read_bytes()
    more = model.set_params(n_estimators=5, verbose=0).fit(X, Y)
    assert_array_equal(
        more.predict_proba(X), RandomForestClassifier(5, random_state=0).fit(X, Y).predict_proba(X)
    )


@pytest.mark.parametrize("wrong", [-1, 0.5, "yes", None])
def test_it_is_a_whole_number(wrong):
    with pytest.raises(PsephosError, match="parameter 'verbose'"):
        CARTClassifier(verbose=wrong).fit(X, Y)


def test_progress_without_an_output_does_not_cost_the_fit(monkeypatch):
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    closed = io.StringIO()
    closed.close()
    for output in (None, closed):
        monkeypatch.setattr("sys.stdout", output)
        model = AdaBoostClassifier(n_estimators=2, verbose=1).fit(X, y)
        assert model.vote_.n_voters >= 1
