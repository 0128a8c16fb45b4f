"""Whom it misses: every figure beside scikit-learn's of the same held-out answers."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import confusion_matrix, precision_score, recall_score, roc_auc_score

from psephos._errors import PsephosError
from psephos.figures import confusion, in_millionths
from psephos.report import build_report, render, summarise
from psephos.report.numbers.classes import About, ClassNames, two_classes
from psephos.report.study.folder import read_folder
from psephos.report.study.options import PageOptions
from psephos.report.words import span


def answers_of(folder, model):
    """Return the truth and the probabilities of one model, case by case."""
    table = pd.read_csv(folder / "predictions.csv")
    mine = table[table.model == model].groupby("row")
    return mine["truth"].first(), mine[[c for c in table if c.startswith("p_")]].mean()


def test_the_first_state_and_every_model_are_their_held_out_answers(compared, summarised):
    report = summarised
    told, classes = report["island"]["missed"], json.loads(
        (compared / "comparison.json").read_text("utf-8")
    )["classes"]  # fmt: skip
    assert set(told["models"]) == {m["key"] for m in report["models"]}
    for key, model in told["models"].items():
        truth, proba = answers_of(compared, key)
        codes = np.array([classes.index(c) for c in truth])
        assert told["truth"] == codes.tolist()
        if len(classes) == 3:
            said = proba.to_numpy().argmax(axis=1)
            assert model["grid"] == confusion_matrix(codes, said, labels=range(3)).tolist()
            assert model["said"] == said.tolist()
            for c, row in enumerate(model["rows"]):
                recall = recall_score(codes == c, said == c)
                precision = precision_score(codes == c, said == c, zero_division=np.nan)
                assert row[2] == f"{recall:.2f}"
                assert row[5] == ("–" if np.isnan(precision) else f"{precision:.2f}")
                under = roc_auc_score(codes == c, proba.iloc[:, c])
                assert row[7] in (f"{under:.2f}", ">0.99" if under > 0.995 else "")
        else:
            p = proba.to_numpy()[:, told["positive"]]
            np.testing.assert_array_less(np.abs(np.array(model["q"]) / 1e6 - p), 1.1e-6)
            for row in model["tenths"]:
                called = p >= float(row[0]) - 1e-9
                if float(row[0]) == 0.5:  # of equal probabilities the first class is predicted
                    called = proba.to_numpy().argmax(axis=1) == told["positive"]
                positive = codes == told["positive"]
                (tn, fp), (fn, tp) = confusion_matrix(positive, called, labels=[False, True])
                assert row[1:5] == [str(k) for k in (tp, fn, fp, tn)]
                benefit = tp / len(p) - fp / len(p) * float(row[0]) / (1 - float(row[0]))
                assert float(row[9].replace("−", "-")) == pytest.approx(benefit, abs=5.1e-4)


def stretches(called):
    """Return where a sequence of booleans by hundredths is true, as the page writes it."""
    runs, start = [], None
    for h, one in enumerate([False, *called, False]):
        if one and start is None:
            start = h
        if not one and start is not None:
            runs.append((start, h - 1))
            start = None
    return [f"{a / 100:.2f}" + (f" to {b / 100:.2f}" if b > a else "") for a, b in runs]


def width(stretch):
    """Return the width of a stretch in hundredths."""
    low, *high = (round(100 * float(end)) for end in stretch.split(" to "))
    return high[0] - low if high else 0


def test_the_range_of_net_benefit_is_recounted_from_the_predictions(compared, summarised):
    told = summarised["island"]["missed"]
    if told["kind"] != "two":
        return
    for key, model in told["models"].items():
        truth, proba = answers_of(compared, key)
        pos = truth.to_numpy() == told["classes"][told["positive"]]
        p, m, n = np.round(proba.to_numpy()[:, told["positive"]], 6), pos.sum(), (~pos).sum()
        better = []
        for h in range(1, 100):
            found, alarms = (p[pos] >= h / 100).sum(), (p[~pos] >= h / 100).sum()
            mine, every = found - alarms * h / (100 - h), m - n * h / (100 - h)
            better.append(mine > max(every, 0) + 1e-7)
        words = re.findall(
            r" threshold of (.*?)(?:, and in (\d+) other ranges?)?\. E", model["note"]
        )
        every = [] if "not significantly" in model["note"] else stretches(better)
        assert len(words) == bool(every)
        for widest, rest in words:
            assert widest == max(every, key=width)
            assert len(every) == 1 + int(rest or 0)


def by_hand(builders, folder, n=60, models=None, classes=("healthy", "ill"), **more):
    truth, proba = builders.of_two(n)
    constant = np.tile([0.6, 0.4], (n, 1))
    models = models or {"good": [proba], "majority": [constant]}
    return builders.written_folder(folder, truth, models, list(classes), **more), truth, proba


def test_a_model_that_calls_nobody_says_so(builders, tmp_path):
    folder, truth, _ = by_hand(builders, tmp_path)
    told = summarise(folder)["island"]["missed"]
    assert "calling everyone, or nobody, ill" in told["models"]["majority"]["note"]
    rows = {row[0]: row for row in told["models"]["majority"]["tenths"]}
    assert rows["0.4"][1:5] == [str(truth.sum()), "0", str((truth == 0).sum()), "0"]
    assert rows["0.5"][1:5] == ["0", str(truth.sum()), "0", str((truth == 0).sum())]
    assert rows["0.5"][7] == "–"  # nobody is called, so that none is called rightly
    assert told["models"]["majority"]["curves"]["roc"]["area"] == "area 0.50"


def test_the_words_of_the_first_sentences_and_of_the_panel_are_the_counts(builders, tmp_path):
    folder, truth, proba = by_hand(builders, tmp_path)
    report = summarise(folder)
    called, positive = proba[:, 1] >= 0.5, truth == 1
    missed, alarms = (~called & positive).sum(), (called & ~positive).sum()
    sensitivity, specificity = report["missed"]["measures"][:2]
    assert report["first"][2] == (
        f"At threshold 0.50 it misses {missed} of {positive.sum()} ill (sensitivity"
        f" {sensitivity['value']}, {sensitivity['interval']}), with false alarms at {alarms}"
        f" of {(~positive).sum()} healthy (specificity {specificity['value']},"
        f" {specificity['interval']})."
    )


@pytest.mark.parametrize(("n", "grouped"), [(60, False), (60, True), (900, False)])
def test_every_threshold_has_its_counts_and_the_intervals_of_figures(
    builders, tmp_path, n, grouped
):
    _, truth, proba = by_hand(builders, tmp_path, n=n)
    positive, units = truth == 1, in_millionths(proba[:, 1])
    groups = np.arange(n) % 20 if grouped else None
    about = About(source="", omits="", times=1, groups=groups, threshold=0.2345)
    names = ClassNames("ill", "healthy", "m", "probability")
    made = two_classes(proba[:, 1], positive, names, about)
    at, steps = made["curves"]["at"], made["curves"]["steps"]
    assert at == sorted(at, reverse=True)
    assert made["curves"]["every"] == (n == 60)
    assert len(at) == (60 if n == 60 else 200)
    if n > 60:
        assert {0, 10_000, 234_500, 500_000, 1_000_000} <= set(at)
    for t, (found, alarms), ends in zip([1_000_001, *at], steps, made["ends"], strict=True):
        told = confusion(positive, units >= t, groups)
        assert (found, alarms) == (told.found, told.alarms)
        for k, one in enumerate((told.sensitivity, told.specificity, told.ppv, told.npv)):
            low, high = ends[2 * k : 2 * k + 2]
            shown = "" if low is None else span(low / 100, high / 100)
            assert shown == span(one.low, one.high)


def test_groups_of_few_cases_have_counts_only(builders, tmp_path):
    folder, truth, proba = by_hand(builders, tmp_path, n=90)
    groups = summarise(folder)["missed"]["groups"]
    assert groups["names"] == ["fold"]
    for k, row in enumerate(groups["rows"]):
        mine = np.arange(90) % 5 == k
        positive, called = truth[mine] == 1, proba[mine, 1] >= 0.5
        pairs = [(called & positive, positive), (~called & ~positive, ~positive),
                 (called & positive, called), (~called & ~positive, ~called)]  # fmt: skip
        for (right, of), cell in zip(pairs, row["measures"], strict=True):
            counts = f"{right.sum()} of {of.sum()}"
            if of.sum() < 10:
                assert cell == counts
            else:
                assert cell.startswith(f"{counts}: {right.sum() / of.sum():.2f} (")


@pytest.mark.parametrize("where", ["one fold", "a class absent from folds", "three repeats"])
def test_degenerate_studies_have_a_page(builders, tmp_path, where):
    truth, proba = builders.of_two(40)
    models, fold = {"a": [proba], "majority": [np.tile([0.7, 0.3], (40, 1))]}, None
    if where == "one fold":
        fold = np.zeros(40, int)
    elif where == "a class absent from folds":
        fold = np.where(truth == 1, 0, 1 + np.arange(40) % 3)
    else:
        models = {k: v * 3 for k, v in models.items()}
    folder = builders.written_folder(tmp_path, truth, models, ["no", "yes"], fold=fold)
    report = summarise(folder)
    page = build_report(folder).read_text("utf-8")
    assert "nan" not in re.sub(r"<script.*</script>|<style.*</style>", "", page, flags=re.S)
    json.dumps(report, allow_nan=False)
    if where == "three repeats":
        assert "held out up to 3 times; its answer is the mean" in report["missed"]["model"]["note"]
        assert report["missed"]["groups"] is None


def test_of_many_cases_the_page_stays_small(builders, tmp_path):
    truth, proba = builders.of_two(10_000)
    rng = np.random.default_rng(0)
    models = {"m": [np.clip(proba + rng.normal(0, 0.05, (10_000, 1)) * [1, -1], 0, 1)]}
    folder = builders.written_folder(tmp_path, truth, models, ["no", "yes"])
    report = summarise(folder)
    one = len(json.dumps(report["island"]["missed"]["models"]["m"]))
    assert len(render(report).encode()) + 24 * one < 5_000_000  # with 24 models more


def test_answers_that_would_make_the_page_too_large_are_left_out_and_it_is_said(
    builders, tmp_path, monkeypatch
):
    monkeypatch.setattr("psephos.report.panels.missed._BYTES", 3_000)
    folder, _, _ = by_hand(builders, tmp_path)
    told = summarise(folder)["island"]["missed"]["models"]
    first, *others = told.values()
    assert "q" in first
    assert all("left out, to keep this page small" in one["absent"] for one in others)
    build_report(folder)


# ------------------------------------------------------------------- what the page carries
def test_ids_are_on_the_page_only_if_asked_for(compared, tmp_path):
    ids = read_folder(compared).cases.ids
    plain = build_report(compared, tmp_path / "a.html").read_text("utf-8")
    asked = build_report(compared, tmp_path / "b.html", ids=True).read_text("utf-8")
    escaped = ids[5].replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    assert escaped in asked
    assert "case <i>" not in plain + asked  # markup of data is text
    assert not [one for one in ids if one in plain]
    assert not re.search(r"case \\u003ci\\u003e|case &lt;i&gt;", plain)


def test_without_cases_the_page_has_counts_alone(compared, builders, tmp_path):
    report = summarise(compared, options=PageOptions(cases="none"))
    told = report["island"]["missed"]
    assert told["truth"] is None
    assert told["rows"] is None
    assert told["groups"] == []
    shown = {key: m for key, m in told["models"].items() if "absent" not in m}
    assert all("q" not in m and "P" not in m and "bins" in m for m in shown.values())
    assert "holds counts of the 48 cases" in report["carries"]
    if told["kind"] == "two":
        assert shown.keys() < told["models"].keys()
        for key, model in told["models"].items():
            truth, proba = answers_of(compared, key)
            p = proba.to_numpy()[:, told["positive"]]
            positive = truth.to_numpy() == told["classes"][told["positive"]]
            for name, mine in (("pos", p[positive]), ("neg", p[~positive])):
                if key not in shown:
                    break
                counted = model["bins"][name]
                for k, edge in enumerate(model["edges"]):
                    assert sum(counted[k:]) == (mine >= edge - 1e-9).sum()
            else:
                continue
            called = p >= 0.5 - 1e-9
            four = [(called == side)[positive == side].sum() for side in (False, True)]
            sizes = [(positive == side).sum() for side in (False, True)]
            assert any(0 < min(k, n - k) < 10 for k, n in zip(four, sizes, strict=True))
    page = build_report(compared, tmp_path / "c.html", cases="none").read_text("utf-8")
    assert "This page has no cases" in page


def test_options_that_contradict_are_a_sentence():
    with pytest.raises(PsephosError, match=r"cases must be one of .*; got"):
        PageOptions(cases="some")
    with pytest.raises(PsephosError, match="ids must not be given with cases='none'"):
        PageOptions(cases="none", ids=True)
    with pytest.raises(PsephosError, match="title must not be empty"):
        PageOptions(title=" ")


def of_three(builders, folder, found, sizes=(30, 20, 10), **about):
    """A study of three classes, of which the model finds these many."""
    truth = np.repeat(np.arange(3), sizes)
    at = np.concatenate([np.arange(n) for n in sizes])
    said = np.where(at < np.array(found)[truth], truth, (truth + 1) % 3)
    proba = np.full((len(truth), 3), 0.1)
    proba[np.arange(len(truth)), said] = 0.8
    return builders.written_folder(folder, truth, {"a": [proba]}, ["x", "y", "z"], **about)


@pytest.mark.parametrize(
    ("found", "opened"),
    [((15, 18, 9), "x"), ((30, 5, 9), "y"), ((15, 10, 9), "y"), ((30, 20, 10), "z")],
)
def test_a_page_of_several_classes_opens_at_the_one_missed_most(builders, tmp_path, found, opened):
    folder = of_three(builders, tmp_path, found)  # of equals at the rarer
    report = summarise(folder)
    assert "xyz"[report["island"]["first"]["cls"]] == opened
    assert report["positive_words"] == f"{opened}: a finds it least"
    assert f"of the 3 classes it finds {opened} least" in report["first"][2]
    assert summarise(folder, options=PageOptions(positive="z"))["island"]["first"]["cls"] == 2


def test_a_comparison_about_one_of_several_classes_opens_at_it(builders, tmp_path):
    folder = of_three(builders, tmp_path, (15, 18, 9), positive="z")
    assert summarise(folder)["island"]["first"]["cls"] == 2
