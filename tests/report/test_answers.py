"""The held-out answers of a study, and the class that they are about."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from psephos._errors import PsephosError
from psephos.figures import called
from psephos.report import build_report
from psephos.report.study.answers import held_out_answers, positive_class, ties_to_the_first
from psephos.report.study.folder import read_folder


def test_answers_are_the_means_of_a_case_over_repeats(builders, tmp_path):
    truth, one = builders.of_two(40)
    _, other = builders.of_two(40, 1)
    folder = builders.written_folder(
        tmp_path, truth, {"a": [one, other], "b": [one, one]}, ["no", "yes"]
    )
    found = held_out_answers(read_folder(folder), ["a", "b"])
    table = pd.read_csv(folder / "predictions.csv")
    for model in ("a", "b"):
        told = table[table.model == model].groupby("row")[["p_no", "p_yes"]].mean()
        np.testing.assert_allclose(found.chances[model], told.to_numpy(), rtol=1e-12)
    assert found.truth.tolist() == truth.tolist()
    assert found.times == 2
    assert set(found.fold.tolist()) == {-1}  # no single fold held a case out


def test_a_failed_fold_leaves_its_cases_without_an_answer(builders, tmp_path):
    truth, proba = builders.of_two(30)
    broken = np.where((np.arange(30) % 5 == 2)[:, None], np.nan, proba)
    folder = builders.written_folder(tmp_path, truth, {"a": [proba], "b": [broken]}, ["x", "y"])
    found = held_out_answers(read_folder(folder), ["a", "b"])
    assert found.known("a").all()
    assert (~found.known("b")).tolist() == (np.arange(30) % 5 == 2).tolist()
    assert found.fold.tolist() == (np.arange(30) % 5).tolist()


@pytest.mark.parametrize("positive", ["x", "y"])
def test_equal_probabilities_are_called_as_the_model_predicts_them(builders, tmp_path, positive):
    truth, proba = builders.of_two(30)
    proba[:3] = 0.5
    folder = builders.written_folder(tmp_path, truth, {"a": [proba]}, ["x", "y"])
    chances = ties_to_the_first(held_out_answers(read_folder(folder), ["a"]).chances["a"])
    code = ["x", "y"].index(positive)
    assert (called(chances[:, code], 0.5) == (proba.argmax(axis=1) == code)).all()
    np.testing.assert_allclose(chances, proba, atol=1.1e-6)


def test_without_the_file_there_are_no_answers(builders, tmp_path):
    truth, proba = builders.of_two(20)
    folder = builders.written_folder(tmp_path, truth, {"a": [proba]}, ["x", "y"])
    (folder / "predictions.csv").unlink()
    assert held_out_answers(read_folder(folder), ["a"]) is None


@pytest.mark.parametrize(
    ("classes", "sizes", "wanted", "code", "rule"),
    [
        (["cancer", "healthy"], [60, 40], None, 0, "“healthy” is a usual word for its absence"),
        (["Evet", "Hayır"], [90, 60], None, 0, "“Hayır” is a usual word for its absence"),
        (
            ["adjacent benign", "tumor"],
            [9, 90],
            None,
            1,
            "“adjacent benign” is a usual word for its absence",
        ),
        (["not normal", "normal"], [60, 40], None, 0, "“normal” is a usual word for its absence"),
        (["benign a", "benign b"], [60, 40], None, 1, "it is the rarest"),
        (["nein", "vielleicht"], [9, 90], None, 1, "“nein” is a usual word for its absence"),
        (["rot", "blau"], [9, 90], None, 0, "it is the rarest"),
        (["0", "1"], [10, 90], None, 1, "“0” is a usual word for its absence"),
        (["Control", "no"], [5, 9], None, 0, "it is the rarest"),
        (["a", "b"], [5, 5], None, 1, "it is the last of the rarest"),
        (["healthy", "x", "y"], [2, 9, 9], None, 0, "it is the rarest"),
        (["cancer", "healthy"], [60, 40], "healthy", 1, "it was requested"),
        (["a", "b"], [], None, 1, "it is the last"),
    ],
)
def test_the_positive_class_is_taken_by_a_rule_that_is_told(classes, sizes, wanted, code, rule):
    found = positive_class(SimpleNamespace(about={"classes": classes}), sizes, wanted)
    assert (found.code, found.rule) == (code, rule)


def test_a_class_that_is_none_is_a_sentence():
    with pytest.raises(PsephosError, match="must be one of a, b; got 'c'"):
        positive_class(SimpleNamespace(about={"classes": ["a", "b"]}), [1, 2], "c")


def test_a_page_takes_the_place_of_nothing_it_is_made_of(builders, tmp_path):
    truth, proba = builders.of_two(20)
    folder = builders.written_folder(tmp_path, truth, {"a": [proba]}, ["x", "y"])
    for out in (folder / "predictions.csv", folder / "results.csv"):
        before = out.read_bytes()
        with pytest.raises(PsephosError, match=r"path must be an \.html file"):
            build_report(folder, out)
        assert out.read_bytes() == before
