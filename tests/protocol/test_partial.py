"""Comparisons on labels that are partly recorded: what is fitted, tuned and measured by what."""

import csv
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal

from psephos import CARTClassifier, PsephosError, PUClassifier, load, read_table
from psephos.cli.app import main
from psephos.cli.words import partial_words
from psephos.estimator.partial import NO_UNLABELED
from psephos.protocol import Protocol, compare, table_from_arrays
from psephos.protocol.evaluation.splits import outer_splits
from psephos.protocol.running.contenders import default_models, partial_contenders
from psephos.protocol.tables.labels import Partial
from psephos.report import build_report
from psephos.supervision import pu_scores

PLAN = Protocol(name="small", outer="kfold", folds=3, repeats=1, inner_folds=2, draws=1)


def cases(n=150, seed=0):
    """Return rows, true classes, records of which some are wrong, and records of positives."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.5
    X = rng.normal(0, 1, (n, 4))
    X[:, :2] += np.where(y, 1.2, -1.2)[:, None]
    truth = np.where(y, "ill", "well")
    record = np.where(y & (rng.random(n) < 0.3), "well", truth).astype(object)
    record[rng.random(n) < 0.5] = None
    return X, truth, record, np.where(record == "ill", "ill", None)


def test_rows_and_labels_of_each_kind_of_model():
    recorded = np.array([0, 1, -1, -1, 1])
    both = Partial(recorded, 1, True)
    rows = np.array([0, 2, 4])
    assert_array_equal(both.training(rows, partial_labels=True)[1], [0, np.nan, 1])
    kept, codes = both.training(rows, partial_labels=False)
    assert_array_equal(kept, [0, 4])
    assert_array_equal(codes, [0, 1])
    one = Partial(np.array([-1, 1, -1, -1, 1]), 1, False)
    kept, codes = one.training(rows, partial_labels=False)
    assert_array_equal(kept, rows)
    assert_array_equal(codes, [0, 0, 1])
    assert_array_equal(Partial(recorded, 0, True).codes, [1, 0, -1, -1, 0])


def test_folds_hold_records_and_truth_alike():
    X, truth, record, _ = cases()
    table = table_from_arrays(X, record, truth=truth)
    assert_array_equal(table.y, truth)
    splits = outer_splits(table, PLAN, 0)
    for code in (-1, 0, 1):
        counts = [(table.partial.codes[test] == code).sum() for _, test in splits]
        assert max(counts) - min(counts) <= 1
    shares = [(truth[test] == "ill").mean() for _, test in splits]
    assert max(shares) - min(shares) < 0.1


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    X, truth, record, _ = cases()
    out = tmp_path_factory.mktemp("partial")
    found = compare(
        X, record, ["pu", "liois", "cart"], PLAN, truth=truth, recorded_class="ill", n_jobs=1,
        out=out, column_names=list("abcd"),
    )  # fmt: skip
    return out, found


def test_the_truth_is_measured_and_never_fitted(folder):
    out, found = folder
    assert not found.failures
    X, truth, record, _ = cases()
    table = table_from_arrays(X, record, truth=truth, recorded_class="ill")
    other = np.where(np.arange(len(truth)) % 2, truth, truth[::-1])  # another truth
    assert_array_equal(table.partial.recorded >= 0, record != None)  # noqa: E711
    row = next(r for r in found.results if r["model"] == "cart")
    train, test = outer_splits(table, PLAN, 0)[0]
    held = train[table.partial.recorded[train] >= 0]
    model = CARTClassifier(**json.loads(row["params"]), random_state=1)
    model.fit(X[held], table.partial.recorded[held])
    said = model.predict(X[test])
    assert_allclose(row["accuracy"], np.mean(said == table.codes[test]))
    scores = pu_scores(said == table.partial.positive, table.partial.codes[test])
    assert_allclose(row["pu_f"], scores["pu_f"])
    assert (out / "report.html").exists() is False
    again = table_from_arrays(X, record, truth=other, recorded_class="ill")
    a = compare(table, models=["pu"], protocol=PLAN, n_jobs=1).refits[0]
    with pytest.warns(
        UserWarning, match="recorded 'ill', which count as certain, are of the other class"
    ):
        b = compare(again, models=["pu"], protocol=PLAN, n_jobs=1).refits[0]
    assert a["inner_pu_f"] == b["inner_pu_f"]  # settings are chosen by records alone


def test_files_tell_truth_and_record(folder):
    out, found = folder
    with (out / "predictions.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    X, truth, record, _ = cases()
    for row in rows[:60]:
        i = int(row["row"])
        assert row["truth"] == truth[i]
        assert row["recorded"] == (record[i] or "")
    about = json.loads((out / "comparison.json").read_text())
    assert about["partial"]["unlabelled"] == sum(label is None for label in record)
    assert about["partial"]["positive"] == "ill"
    assert "PU-F of the recorded labels" in about["protocol"]
    model = load(out / "models" / "pu.psephos")
    assert isinstance(model, PUClassifier)
    assert_array_equal(model.classes_, ["ill", "well"])
    assert model.pos_label == "ill"
    frame = pd.DataFrame(X, columns=list("abcd"))
    assert np.mean(model.predict(frame) == truth) > 0.7
    assert list(found.frame("pandas").columns).count("pu_f") == 1


def test_the_report_says_what_models_were_told(folder):
    out, _ = folder
    page = build_report(out).read_text()
    assert "Models were fitted by recorded labels alone" in page
    assert "PU-F of the recorded labels" in page
    assert (
        "The share of &#39;ill&#39; among cases without a label was estimated in each fit" in page
    )
    assert "true classes: ill" in page  # the counts are not those of the target


def test_without_the_truth_there_are_scores_that_need_none(tmp_path):
    X, _, _, positives = cases()
    found = compare(
        X, positives, ["pu", "cart", "majority"], PLAN, recorded_class="ill", n_jobs=1, out=tmp_path
    )
    assert not found.failures
    assert "balanced_accuracy" not in found.results[0]
    assert found.selected().model in ("pu", "cart")
    assert all(0 <= r["accuracy_low"] <= r["accuracy_high"] <= 1 for r in found.results)
    assert not found.bounds
    header = (tmp_path / "predictions.csv").read_text().splitlines()[0]
    assert "recorded,p_ill,p_not ill" in header
    assert "truth" not in header
    with pytest.raises(PsephosError, match="without true classes"):
        build_report(tmp_path)
    difference = found.difference("pu", "cart")
    assert difference.n == 3


def test_files_are_read_by_options(tmp_path):
    X, truth, record, positives = cases(40)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["seen"] = [label or "?" for label in record]
    frame["sure"] = [label or "no idea" for label in positives]
    frame["true"] = truth
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    table = read_table(path, target="seen", truth="true", drop=["sure"])
    assert table.names == tuple("abcd")
    assert_array_equal(table.partial.recorded >= 0, [label is not None for label in record])
    assert table.partial.truth
    assert table.partial.positive == 1
    one = read_table(path, target="sure", unlabeled="no idea", drop=["seen", "true"])
    assert one.partial.one_class
    assert one.classes.tolist() == ["ill", "not ill"]
    assert one.partial.positive == 0
    assert one.fingerprint() != table.fingerprint()
    codes = np.array([-1 if v is None else int(v == "ill") for v in record])
    np.savez(tmp_path / "t.npz", X=X, y=codes, classes=np.array(["well", "ill"]), true=truth)
    stored = read_table(tmp_path / "t.npz", unlabeled="-1", truth="true", recorded_class="ill")
    assert_array_equal(stored.partial.codes, codes)
    with pytest.raises(PsephosError, match=r"'y' of .* holds the code -1"):
        read_table(tmp_path / "t.npz", truth="true")
    with pytest.raises(PsephosError, match="'no idae', which does not occur in the target 'sure'"):
        read_table(path, target="sure", unlabeled="no idae", drop=["seen", "true"])
    with pytest.raises(PsephosError, match=r"'\?\?', which does not occur"):
        table_from_arrays(X, record, unlabeled="??")


@pytest.mark.parametrize("one", [1, 1.0, np.int64(1), "1"])
def test_classes_of_a_file_may_be_given_as_numbers(one, tmp_path):
    X, truth, _, _ = cases(40)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=(truth == "ill").astype(int))
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert read_table(tmp_path / "t.csv", target="y", positive=one).positive == "1"
    given = compare(tmp_path / "t.csv", "y", ["majority"], PLAN, positive=one, n_jobs=1)
    assert given.about["positive"] == "1"
    zero = type(one)(0)
    table = read_table(tmp_path / "t.csv", target="y", unlabeled=zero, recorded_class=one)
    assert_array_equal(table.partial.recorded, np.where(truth == "ill", 1, -1))
    same = table_from_arrays(X, frame.y.replace(0, -1), unlabeled=-1, recorded_class=one)
    assert same.partial.recorded.max() == same.partial.positive == 1


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"recorded_class": "sick"}, "--recorded-class is 'sick'"),
        ({"truth": ["x"] * 150}, "which is not a class of the truth"),
        ({"truth": ["ill", "well", "odd"] * 50}, "must have two classes; got 3"),
        ({"truth": ["ill", None] * 75}, "has no value in 75 row"),
        ({"unlabeled": "ill"}, "has a label in no row"),
    ],
)
def test_what_does_not_fit_is_refused(settings, words):
    X, truth, _, positives = cases()
    with pytest.raises(PsephosError, match=words):
        compare(X, positives, ["pu"], PLAN, **{"truth": truth, **settings})


def test_too_few_records_are_refused():
    X, truth, _, positives = cases()
    few = np.where(np.cumsum(positives == "ill") > 2, None, positives)
    with pytest.raises(PsephosError, match=r"2 rows are recorded positive, fewer than the 3"):
        compare(X, few, ["pu"], PLAN, truth=truth)


def test_models_of_two_classes_are_not_given_three():
    X, *_ = cases(60)
    with pytest.raises(PsephosError, match="'pu' supports two classes, and there are 3"):
        compare(X, np.arange(60) % 3, ["pu"], PLAN)


def test_full_labels_are_refused_and_left_out_of_all():
    X, truth, *_ = cases(60)
    words = r"pu and liois: every row has a label; .* \(--unlabeled 0\), .* leave the model out"
    with pytest.raises(PsephosError, match=words):
        compare(X, truth, ["pu", "cart", "liois"], PLAN, n_jobs=1)
    full = table_from_arrays(X, truth)
    named = {one.name for one in partial_contenders("all", full, 2)}
    assert "cart" in named
    assert not named & {"pu", "one-sided-noise", "liois"}


@pytest.mark.parametrize("model", ["pu", "one-sided-noise", "liois"])
def test_the_command_refuses_zeros_that_mean_unknown(model, tmp_path):
    X, truth, *_ = cases(60)
    seen = np.where((truth == "ill") & (np.arange(60) % 2 == 0), 1, 0)
    lines = [f"{a},{b},{s}" for (a, b), s in zip(X[:, :2].tolist(), seen.tolist(), strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,seen", *lines]))
    start = ["fit", str(tmp_path / "t.csv"), "--target", "seen", "--model", model]
    out = tmp_path / "m.psephos"
    run = CliRunner().invoke(main, [*start, "--out", str(out)])
    assert run.exit_code == 2
    assert NO_UNLABELED in " ".join(run.stderr.split())
    assert not out.exists()
    run = CliRunner().invoke(main, [*start, "--out", str(out), "--set", "prior=0.5"])
    assert run.exit_code == 2
    assert "prior=0.5 is the share of positives" in " ".join(run.stderr.split())
    if model == "pu":
        run = CliRunner().invoke(main, [*start, "--out", str(out), "--unlabeled", "0"])
        assert run.exit_code == 0, run.output


def test_a_prior_is_given_told_and_used(tmp_path):
    X, truth, record, _ = cases()
    same = {"truth": truth, "recorded_class": "ill", "n_jobs": 1}
    found = compare(X, record, ["pu", "liois", "cart"], PLAN, prior=0.3, out=tmp_path, **same)
    assert not found.failures
    assert {row["prior"] for row in found.results} == {0.3, None}
    assert {row["model"] for row in found.results if row["prior"] is None} == {"cart"}
    assert all(row["prior"] == (None if row["model"] == "cart" else 0.3) for row in found.refits)
    assert found.models["pu"].prior_ == 0.3
    told = "The share of 'ill' among cases without a label was given as 0.3, and used by pu, liois."
    assert found.about["partial"]["told"] == told
    assert told.replace("'", "&#39;") in build_report(tmp_path).read_text()
    lines = list(csv.DictReader((tmp_path / "results.csv").read_text().splitlines()))
    assert [row["prior"] for row in lines if row["model"] == "liois"] == ["0.3"] * 3
    assert "prior" in found.frame("pandas").columns
    row = next(r for r in found.results if r["model"] == "cart")
    wide = next(r for r in compare(X, record, ["cart"], PLAN, **same).results)
    assert row["pu_f"] == wide["pu_f"]  # the same answers
    assert row["accuracy_high"] - row["accuracy_low"] < wide["accuracy_high"] - wide["accuracy_low"]
    table = table_from_arrays(X, record, prior=0.3)
    assert table.fingerprint() != table_from_arrays(X, record, prior=0.4).fingerprint()
    for wrong in (0, 1, 1.5, "a", True):
        with pytest.raises(PsephosError, match=r"--prior \(prior=\) must be"):
            table_from_arrays(X, record, prior=wrong)


def test_doubtful_priors_are_told(tmp_path):
    rng = np.random.default_rng(0)
    X, record = rng.normal(0, 1, (60, 200)), np.where(np.arange(60) % 3 == 0, "ill", None)
    plan = Protocol(name="small", outer="kfold", folds=2, repeats=1, inner_folds=2, draws=1)
    words = r"pu: the class prior it estimated is doubtful in \d of 3 fits \(.*--prior"
    with pytest.warns(UserWarning, match=words):
        compare(X, record, ["pu"], plan, unlabeled="", n_jobs=1, out=tmp_path, recorded_class="ill")
    kept = json.loads((tmp_path / "environment.json").read_text())["warnings"]
    assert any("is doubtful in" in one for one in kept)


def test_who_takes_part_where_labels_are_partly_recorded():
    X, truth, record, positives = cases(60)
    both = table_from_arrays(X, record, truth=truth)
    one = table_from_arrays(X, positives, recorded_class="ill")
    names = [c.name for c in partial_contenders(None, both, 2)]
    assert names == [*default_models(), "pu", "one-sided-noise", "liois"]
    assert [c.name for c in partial_contenders(None, one, 2)] == [*default_models(), "pu"]
    whole = table_from_arrays(X, truth)
    assert [c.name for c in partial_contenders(None, whole, 2)] == list(default_models())
    every = {c.name for c in partial_contenders("all", one, 2)}
    assert "pu" in every
    assert not every & {"one-sided-noise", "liois"}
    with pytest.raises(PsephosError, match="one-sided-noise and liois cannot be fitted"):
        compare(X, positives, ["pu", "one-sided-noise", "liois"], PLAN, recorded_class="ill")


def test_records_that_are_refuted_are_told(tmp_path):
    X, truth, record, _ = cases()
    wrong = np.where(truth == "ill", "well", "ill")
    n = int(((record == "ill") & (wrong != "ill")).sum())
    with pytest.warns(UserWarning, match=f"{n} of the {(record == 'ill').sum()} cases recorded"):
        found = compare(
            X, record, ["majority"], PLAN, truth=wrong, recorded_class="ill", n_jobs=1, out=tmp_path
        )
    assert found.about["partial"]["contradicted"] == n
    assert f"{n} cases are recorded 'ill' but are of the other class." in partial_words(found.about)


def test_a_draw_without_a_positive_answer_beside_records_is_not_the_worst():
    """PU-F is defined where no unlabelled row is answered positive: it is no 0 in tuning."""
    X, _, _, positives = cases(60)
    X[:, 0] = np.where(positives == "ill", 5.0, -5.0)  # a stump finds the records, and them alone
    found = compare(X, positives, ["cart"], PLAN, recorded_class="ill", n_jobs=1)
    for row in found.results:
        split = outer_splits(table_from_arrays(X, positives, recorded_class="ill"), PLAN, 0)[
            row["fold"]
        ]
        unlabelled = sum(positives[i] is None for i in split[1])
        assert_allclose(row["pu_f"], 2 * unlabelled)
    assert found.refits[0]["inner_pu_f"] > 1  # and not 0


def test_fit_takes_labels_that_are_partly_recorded(tmp_path):
    X, _, record, positives = cases(80)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["seen"], frame["sure"] = [v or "?" for v in record], [v or "" for v in positives]
    frame.to_csv(tmp_path / "t.csv", index=False)
    runner = CliRunner()

    def fit(*words):
        out = tmp_path / "m.psephos"
        done = runner.invoke(main, ["fit", str(tmp_path / "t.csv"), "--out", str(out), *words])
        return done, load(out) if done.exit_code == 0 else None

    sure = ("--target", "sure", "--drop", "seen", "--unlabeled", "", "--recorded-class", "ill")
    done, model = fit(*sure, "--model", "pu", "--prior", "0.4")
    n = int((positives == "ill").sum())
    assert f"Fitted on {n} rows labelled positive and {80 - n} without a label" in done.output
    assert "class prior 0.400 (given)" in done.output
    own = PUClassifier(prior=0.4, classes=["ill", "not ill"], pos_label="ill", random_state=0)
    names = frame[list("abcd")]
    assert_array_equal(model.predict(names), own.fit(names, positives).predict(names))
    done, model = fit(*sure, "--model", "cart")
    assert "those without a label as of the other class" in done.output
    assert_array_equal(model.classes_, ["ill", "not ill"])
    done, _ = fit(*sure, "--model", "cart", "--prior", "0.4")
    assert done.exit_code == 2
    assert "CARTClassifier does not" in done.output
    seen = ("--target", "seen", "--drop", "sure", "--unlabeled", "?", "--recorded-class", "ill")
    done, model = fit(*seen, "--model", "cart")
    assert "It was fitted on the cases with a label." in done.output
    held = np.array([v is not None for v in record])
    plain = CARTClassifier(random_state=0).fit(names[held], record[held].astype(str))
    assert_array_equal(model.predict(names), plain.predict(names))
    done, model = fit(*seen, "--model", "liois")
    assert "recorded negative" in done.output
    assert model.pos_label == "ill"
    done, _ = fit("--target", "sure", "--model", "pu")
    assert "--unlabeled ''" in done.output


def test_the_command(tmp_path):
    X, truth, record, positives = cases(120)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["seen"], frame["true"] = [label or "?" for label in record], truth
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    base = ["compare", str(path), "--models", "pu,majority", "--protocol", "demo", "--n-jobs", "1"]
    base += ["--folds", "2"]
    runner = CliRunner()
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        told = runner.invoke(
            main,
            [*base, "--target", "seen", "--unlabeled", "?", "--truth", "true",
             "--recorded-class", "ill",
             "--out", str(tmp_path / "a")],
        )  # fmt: skip
        frame["sure"] = [label or "" for label in positives]
        frame.drop(columns=["seen", "true"]).to_csv(path, index=False)
        alone = runner.invoke(
            main, [*base, "--target", "sure", "--unlabeled", "", "--out", str(tmp_path / "b")]
        )
    assert told.exit_code == 0, told.output
    assert "PU-F" in told.output
    assert "report.html" in told.output
    table = next(line for line in told.output.splitlines() if line.startswith("model "))
    assert len(table) > 100
    assert "…" not in told.output  # nothing is cut
    assert "The share of 'ill' among cases without a label was estimated in each fit: pu" in (
        told.output
    )
    assert "accuracy on new cases like those without a label" in told.output
    assert "Records of 'ill' count as certain" in told.output
    assert alone.exit_code == 0, alone.output
    assert "no report" in alone.output
    assert ("smallest" in alone.output) == ("best in PU-F" in alone.output)
