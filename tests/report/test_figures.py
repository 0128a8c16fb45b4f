import csv
import json
import math
from statistics import stdev

import numpy as np
import pytest
from scipy.stats import binomtest
from scipy.stats import t as student

from psephos._errors import PsephosError
from psephos.cli.words import show_summary
from psephos.protocol import better_than_constant, compare
from psephos.protocol.evaluation.scores import measures_for
from psephos.protocol.study.outputs import result_columns
from psephos.report.page.summarise import summarise
from psephos.report.panels.verdict import first_sentences, opened_words, verdict
from psephos.report.study.folder import read_folder
from psephos.report.study.standings import choose, pairs, standings
from psephos.report.words import difference, rate, small_difference

RESULT_COLUMNS = result_columns([one.name for one in measures_for()])


def folder(tmp_path, **models):
    """Return a folder of models given as (origin, scores, columns)."""
    rows, about = [], {}
    for key, (origin, scores, columns) in models.items():
        about[key] = {"family": "x", "origin": origin}
        for fold, score in enumerate(scores):
            failed = score is None
            row = {
                "model": key,
                "repeat": 0,
                "fold": fold,
                "n_train": 80,
                "n_test": 20,
                "balanced_accuracy": score,
                "columns_used": None if failed else columns,
                "status": "failed" if failed else "ok",
                "error": "broke" if failed else "",
            }
            rows.append({c: "" if row.get(c) is None else str(row[c]) for c in RESULT_COLUMNS})
    with (tmp_path / "results.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, RESULT_COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    told = {"models": about, "classes": ["a", "b"], "class_counts": [50, 50]}
    (tmp_path / "comparison.json").write_text(json.dumps(told))
    return read_folder(tmp_path)


def named(made):
    return better_than_constant(made.rows, made.about)


def test_means_spreads_and_order(tmp_path):
    rows = standings(
        folder(
            tmp_path,
            low=("baseline", [0.5, 0.7], 3),
            high=("psephos", [0.8, 0.8], 9),
            broken=("baseline", [None, None], 0),
        )
    )
    assert [s.key for s in rows] == ["high", "low", "broken"]
    assert rows[1].score == pytest.approx(0.6)
    assert rows[1].spread("balanced_accuracy").sd == pytest.approx(math.sqrt(0.02))
    assert math.isnan(rows[2].score)
    assert not rows[2].drawn
    assert len(rows[2].failed) == 2


def test_no_constant_answer_has_a_badge(tmp_path):
    """On the frontier stands who beats a constant answer and is beaten by no smaller model."""
    rows = standings(
        folder(
            tmp_path,
            constant=("baseline", [0.5], 0),
            no_better=("baseline", [0.5], 1),
            few=("psephos", [0.7], 2),
            worse=("baseline", [0.69], 2),
            more=("baseline", [0.7], 5),
            best=("baseline", [0.9], 50),
        ),
        {"few", "worse", "more", "best"},
    )
    assert {s.key for s in rows if s.frontier} == {"few", "best"}


def test_the_smallest_near_the_best_may_be_anyones(tmp_path):
    """Best and smallest are named whoever made them; opened is the best that has a file."""
    made = folder(
        tmp_path,
        best=("baseline", [0.7, 0.9, 0.8, 0.8], 100),
        large=("psephos", [0.79, 0.79, 0.79, 0.79], 30),
        small=("psephos", [0.78, 0.78, 0.78, 0.78], 3),
        other=("baseline", [0.77, 0.77, 0.77, 0.77], 2),
        tiny=("psephos", [0.6, 0.6, 0.6, 0.6], 1),
    )
    choice = choose(standings(made), ["large", "small", "tiny"])
    assert choice is not None
    assert choice.standard_error == pytest.approx(math.sqrt(0.02 / 3) / 2)
    assert (choice.best.key, choice.smallest.key) == ("best", "other")
    assert choice.opened.key == "large"
    assert "Only models of psephos are saved" in opened_words(choice)
    rows = standings(made)
    better = named(made)
    chance, fewest = verdict(made, rows, choice, better)
    assert chance == (
        "Of the 5 models that read columns, 4 are significantly better than a constant prediction"
        " (balanced accuracy 0.50; p\u00a0≤\u00a00.05, corrected for 5 models); tiny is not."
    )
    assert fewest == (
        "Of all within one standard error (0.041) of the best, other reads the fewest columns, 2"
        " columns: 0.77."
    )


def test_the_first_screen_opens_at_the_smallest_model_near_the_best(tmp_path):
    scores = [0.82, 0.83, 0.84, 0.81]
    made = folder(
        tmp_path,
        best=("psephos", [0.9, 0.7, 0.95, 0.8], 60),
        small=("psephos", scores, 3),
        tiny=("psephos", [0.81, 0.82, 0.83, 0.8], 1),
        far=("psephos", [0.5, 0.52, 0.48, 0.51], 1),
    )
    rows, available = standings(made), ["best", "small", "tiny", "far"]
    choice = choose(rows, available, better={"best", "small", "far"})
    assert (choice.opened.key, choice.fewest) == ("small", True)
    assert "significantly better than a constant prediction, small reads the fewest" in (
        opened_words(choice)
    )
    assert choose(rows, available, "best", {"small"}).opened.key == "best"  # by name
    assert choose(rows, available, better={"far"}).opened.key == "best"  # not near enough
    mean = sum(scores) / 4
    by_cases = binomtest(66, 80).proportion_ci(method="wilson")  # wider than of folds that agree
    pair = next(one for one in pairs(made.rows, rows, choice.best) if one.key == "small")
    words = first_sentences(
        made, rows, choice, pairs(made.rows, rows, choice.best), None, {"small"}
    )
    assert words == [
        f"small reads 3 columns; its held-out balanced accuracy is {rate(mean)} (95 %"
        f" interval {rate(by_cases.low)} to {rate(by_cases.high)}), optimistic by its selection.",
        "It is significantly better than a constant prediction (0.50; p\u00a0≤\u00a00.05, corrected"
        f" for 4 models), and differs by {small_difference(pair.mean)}"
        f" ({difference(pair.low, 2)} to {difference(pair.high, 2)}) from best, the most accurate,"
        " on 60 columns.",
    ]
    named = first_sentences(made, rows, choose(rows, available, "small"), [], None, {"small"})
    assert "optimistic" not in named[0]  # it was requested, not selected
    alone = first_sentences(made, rows, choose(rows, available), [], None, set())
    assert alone[1] == (
        "It is not significantly better than a constant prediction (0.50; p\u00a0>\u00a00.05,"
        " corrected for 4 models), though the most accurate of 4 models."
    )
    below = " ".join(verdict(made, rows, choose(rows, available), set()))
    assert (
        "p is about how often, at most, it would do as well if the target were permuted." in below
    )


def test_the_interval_of_the_mean_is_the_wider_of_folds_and_cases(tmp_path):
    spread = [0.9, 0.6, 0.95, 0.7]
    made = folder(tmp_path, far=("psephos", spread, 60), equal=("psephos", [1.0] * 4, 3))
    rows = standings(made)
    mean, half = 0.7875, student.ppf(0.975, 3) * stdev(spread) * math.sqrt(1 / 4 + 20 / 80)
    low = binomtest(80, 80).proportion_ci(method="wilson").low
    for key, ends in (("far", (mean - half, 1.0)), ("equal", (low, 1.0))):
        choice = choose(rows, ["far", "equal"], key)
        first = first_sentences(made, rows, choice, [], None, set())[0]
        assert f"(95 % interval {rate(ends[0])} to {rate(ends[1])})" in first


def test_a_model_is_opened_on_demand(tmp_path):
    made = folder(tmp_path, a=("psephos", [0.6, 0.7], 1), b=("psephos", [0.9, 0.9], 9))
    choice = choose(standings(made), ["a", "b"], "a")
    assert choice.opened.key == "a"
    with pytest.raises(PsephosError, match=r"with a file in this folder \(a, b\); got 'c'"):
        choose(standings(made), ["a", "b"], "c")


def test_nothing_is_opened_without_a_file(tmp_path):
    assert choose(standings(folder(tmp_path, a=("psephos", [0.6], 1))), []).opened is None
    assert choose(standings(folder(tmp_path, a=("psephos", [None], 1))), []) is None


def test_a_pair_with_one_common_fold_has_no_interval(tmp_path):
    made = folder(
        tmp_path,
        best=("baseline", [0.9, 0.8, 0.9, 0.8], 9),
        few=("psephos", [None, None, 0.7, None], 2),
    )
    rows = standings(made)
    choice = choose(rows, ["few"])
    found = [m["difference"] for m in summarise(tmp_path)["models"]]
    assert [(d["text"], d["interval"]) for d in found] == [("the best", ""), ("−0.20", "–")]
    assert len(set(found[1]["bar"])) == 1
    assert choice.opened.key == "few"
    assert "few failed in 3 of 4 folds" in opened_words(choice)


def test_what_failed_in_some_folds_is_not_ranked_among_means_of_all(tmp_path):
    made = folder(
        tmp_path,
        lucky=("psephos", [None, None, 0.99, None], 1),
        best=("baseline", [0.9, 0.8, 0.9, 0.8], 9),
        few=("psephos", [0.8, 0.8, 0.9, 0.8], 2),
    )
    rows = standings(made, {"best", "few", "lucky"})
    assert [s.key for s in rows] == ["best", "few", "lucky"]
    assert {s.key for s in rows if s.frontier} == {"best", "few"}
    choice = choose(rows, ["lucky", "few"])
    assert (choice.best.key, choice.smallest.key, choice.opened.key) == ("best", "few", "few")
    words = " ".join(
        verdict(
            made,
            rows,
            choice,
            named(made),
        )
    )
    assert "lucky failed in 3 of 4 folds" in words
    page = summarise(tmp_path)["island"]["chart"]["points"]
    assert [m["sentence"].split(",")[0].split()[-1] for m in page][2] == "0.990"  # no spread
    assert "±" in page[0]["sentence"]


@pytest.mark.parametrize("also", [{}, {"broken": ("baseline", [None, None], 0)}])
def test_of_one_model_nothing_was_selected(tmp_path, also):
    made = folder(tmp_path, one=("psephos", [0.9, 0.8], 9), **also)
    choice = choose(standings(made), ["one"])
    rows = standings(made)
    words = [*first_sentences(made, rows, choice, [], None, named(made))]
    words += verdict(made, rows, choice, named(made))
    assert not [one for one in words if "most accurate" in one or "differs" in one]
    assert opened_words(choice) == "one is the only model with figures."
    assert "fewest" not in opened_words(choice)


def test_of_constant_columns_the_cause_is_named(tmp_path, capsys):
    X, y = np.ones((60, 3)), np.arange(60) % 2
    models = ["cart", "sklearn-l1-logistic", "majority"]
    found = compare(X, y, models, "demo", n_jobs=1, copies="apart", out=tmp_path / "s")
    show_summary(found)
    told = capsys.readouterr().out
    assert "No model reads a column: each predicts the same for every case." in told
    assert "smallest" not in told
    assert "none is ranked" not in told
    page = summarise(tmp_path / "s")
    assert "No model reads a column: each predicts the same for every case." in page["first"]
    words = [*page["first"], *page["verdict"]]
    assert not [one for one in words if "constant prediction" in one or "most accurate" in one]
