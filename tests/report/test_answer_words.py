"""One word for what the answers of a model are, everywhere on the page."""

import numpy as np
import pytest

from psephos import AdaBoostClassifier, CARTClassifier, SamBAClassifier
from psephos.datasets import make_continuous_xor
from psephos.models import save
from psephos.report import summarise
from psephos.report.numbers.classes import ClassNames, share_words
from psephos.report.study.opened import model_facts
from psephos.report.words import LEAF_SHARE, STATED, VOTE_SHARE, WEIGHTED_SHARE


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (CARTClassifier(n_folds=0, max_depth=3), LEAF_SHARE),
        (CARTClassifier(n_folds=0, max_depth=3, class_weight="balanced"), WEIGHTED_SHARE),
        (AdaBoostClassifier(n_estimators=5), STATED),
        (SamBAClassifier(n_estimators=5), VOTE_SHARE),
    ],
)
def test_answers_are_called_what_they_are(model, says, tmp_path):
    X, y = make_continuous_xor(2, n_rows_per_orthant=20, random_state=0)
    save(model.fit(X, y), tmp_path / "m.psephos")
    assert model_facts({"m": tmp_path / "m.psephos"})["m"].says == says


def test_a_leaf_share_is_the_share_of_the_training_cases_in_the_leaf():
    X, y = make_continuous_xor(2, n_rows_per_orthant=20, random_state=0)
    model = CARTClassifier(n_folds=0, max_depth=2).fit(X, y)
    chances = model.predict_proba(X)
    for row in np.unique(chances, axis=0):
        inside = (chances == row).all(axis=1)
        np.testing.assert_allclose(np.bincount(y[inside] > 0, minlength=2) / inside.sum(), row)


def test_the_note_says_what_is_no_probability():
    told = {
        axis: share_words(ClassNames("ill", "well", "cart", axis))
        for axis in (STATED, VOTE_SHARE, LEAF_SHARE, WEIGHTED_SHARE, "recalibrated probability")
    }
    assert told[STATED] == told["recalibrated probability"] == ""
    assert told[VOTE_SHARE].startswith(" The answers of cart are shares of its vote, which are no")
    assert "shares of the training cases in the leaf that a case falls in" in told[LEAF_SHARE]
    assert "falls in, each with the weight of its class, which are no" in told[WEIGHTED_SHARE]


def test_first_sentences_panel_and_case_use_the_same_word(compared):
    for key in summarise(compared)["island"]["case"]["models"]:
        report = summarise(compared, key)
        island = report["island"]
        axis = island["missed"]["models"][key]["axis"]
        calc = island["case"]["models"][key]
        assert calc.get("says", axis) == axis
        others = {STATED, VOTE_SHARE, LEAF_SHARE} - {axis, axis.removesuffix(" by class weight")}
        said = [*report["first"], island["missed"]["models"][key]["note"]]
        assert not [one for one in said for other in others if other in one]
