"""Answers through the map that held-out answers justify: cross-fitted, monotone, and told."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

from psephos.report import summarise
from psephos.report.study.answers import cross_fitted_answers, held_out_answers
from psephos.report.study.folder import read_folder
from psephos.report.study.opened import model_facts
from psephos.report.study.options import PageOptions


def test_cross_fitted_answers_have_the_log_loss_that_the_models_file_tells(compared):
    folder = read_folder(compared)
    facts = model_facts(folder.models)
    answers = held_out_answers(folder, list(folder.models))
    told = 0
    for key, fact in facts.items():
        found = cross_fitted_answers(folder, answers, key, fact.recalibration)
        if fact.recalibration is None:
            assert found is None
            continue
        told += 1
        loss = log_loss(answers.truth, found, labels=range(found.shape[1]))
        assert loss == pytest.approx(fact.recalibration.log_loss_after, abs=1e-9)
        np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert told >= 3


def test_a_map_is_offered_where_its_answers_are_judged(summarised):
    island = summarised["island"]
    for key, one in island["maps"].items():
        assert "cross-fitted" in one["words"]
        judged = island["missed"]["models"][key]["again"]
        assert judged["axis"] == "recalibrated probability"
    assert not island["first"]["again"]


def test_a_map_is_left_out_with_its_answers_where_counts_are_small(compared):
    island = summarise(compared, options=PageOptions(cases="none"))["island"]
    models = island["missed"]["models"]
    assert island["maps"].keys() == {key for key, one in models.items() if "again" in one}
    assert all("again" not in one for one in models.values() if "absent" in one)


def test_the_points_of_an_isotonic_map_are_left_out_with_the_cases(compared, monkeypatch):
    monkeypatch.setattr("psephos.report.numbers.measures.FEWEST", 1)  # withhold no count of two
    kept = summarise(compared, options=PageOptions(cases="none"))["island"]["maps"]
    assert {one["map"]["kind"] for one in kept.values()} == {"sigmoid calibration"}
    monkeypatch.setattr("psephos.vote.recalibration.Recalibration.method", "isotonic")
    assert summarise(compared, options=PageOptions(cases="none"))["island"]["maps"] == {}
