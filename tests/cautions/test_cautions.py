"""Each caution fires on a table that calls for it, and not on its clean twin."""

import datetime
import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from psephos import (
    AdaBoostClassifier,
    BaggingClassifier,
    PsephosError,
    RandomForestClassifier,
    TableWarning,
    VotingClassifier,
    check_table,
    compare,
    read_table,
)
from psephos.cautions import CAUTIONS, Given, cautions_on
from psephos.cautions.dates import is_date
from psephos.cautions.registry import known_codes

ROOT = Path(__file__).parents[2]
N = 60
RNG = np.random.default_rng(0)
Y = RNG.permutation(np.repeat(["ill", "well"], N // 2))
NOISE = {name: RNG.normal(size=N) for name in ("a", "b", "c")}
DAYS = pd.date_range("2021-01-01", periods=N)
NAMES = [f"P{i:04}" for i in range(N)]
WORDS = RNG.choice(["red", "green", "blue"], N)


def frame(**columns):
    return pd.DataFrame({**NOISE, **columns})


def with_value(value, n=3):
    column = NOISE["a"] * 10 + 50
    return np.where(np.arange(N) < n, value, column)


def with_total(of):
    table = frame()
    return pd.concat([table, of(table).to_frame().T], ignore_index=True)


BATCH = np.where(Y == "ill", "one", "two")
BATCH[:6] = np.where(BATCH[:6] == "one", "two", "one")
SEEN = np.where(Y == "ill", 5.0, 1.0) + RNG.random(N)
ONE_OF_EACH = [*["ill"] * 40, *["well"] * 20]
COPIED = np.vstack([RNG.normal(size=(40, 12))] * 2)[:N]

OF_SUBJECT = np.random.default_rng(7).permutation(np.arange(N) // 3)  # three rows of each of 20
BY_SUBJECT = np.where(np.random.default_rng(8).permutation(20) % 2, "ill", "well")[OF_SUBJECT]
TIME = pd.Series(OF_SUBJECT).groupby(OF_SUBJECT).cumcount() + 1  # 1, 2, 3 of each subject
VISITS = pd.Index([f"P{k:03}_V{t}" for k, t in zip(OF_SUBJECT, TIME, strict=True)])
TYPED = np.where(np.arange(240) % 2, "T", "B")  # cells, and clusters of them: one is another's
CLUSTER = np.where(np.arange(240) == 3, "0", np.where(TYPED == "T", "1", "0"))
CELLS = np.random.default_rng(9).normal(size=240)
# Of each code: (X, y) that it is for, and (X, y) that it is not for.
CASES = {
    "FD001": [
        ((frame(visit=DAYS.astype(str)), Y), (frame(visit=WORDS), Y)),
        ((frame(visit=DAYS), Y), (frame(visit=np.arange(N) % 7), Y)),
        ((frame(visit=[f"{d:%d.%m.%Y}" for d in DAYS]), Y),
         (frame(visit=[f"{i % 9}.{i % 40}.x" for i in range(N)]), Y)),
        ((frame(visit=[int(f"{d:%Y%m%d}") for d in DAYS]), Y),
         (frame(visit=RNG.integers(20_000_000, 29_999_999, N)), Y)),
        ((frame(visit=[datetime.time(i % 24, i % 60) for i in range(N)]), Y),
         (frame(visit=[f"{i % 5}-{i % 3}" for i in range(N)]), Y)),
    ],
    "FD002": [
        ((frame(w=NAMES), Y), (frame(w=WORDS), Y)),
        ((frame(w=[*NAMES[:40], *["other"] * 20]), Y), (frame(w=[*NAMES[:20], *["x"] * 40]), Y)),
    ],
    "FD003": [
        ((frame(w=np.arange(N) + 17), Y), (frame(w=np.arange(N) // 2), Y)),
        ((frame(w=RNG.permutation(N) + 1), Y), (frame(w=RNG.integers(0, N, N)), Y)),
        ((frame(w=np.cumsum(RNG.integers(1, 3, N))), Y), (frame(w=np.arange(N) * 2.5), Y)),
    ],
    "FD004": [
        ((frame(**{"Unnamed: 0": np.arange(N)}), Y), (frame(**{"Unnamed: 0": NOISE["a"] + 1}), Y)),
        ((frame(w=np.arange(N)), Y), (frame(w=np.arange(N) % 30), Y)),
        ((frame(index=RNG.permutation(N) * 3), Y), (frame(index=RNG.integers(0, 9, N)), Y)),
    ],
    "FD005": [
        ((frame(w=RNG.permutation(N) * 7919 + 10_000_000), Y),
         (frame(w=np.exp(RNG.normal(14, 3, N)).round() + np.arange(N)), Y)),
        ((frame(patient_id=RNG.permutation(N) * 37), Y), (frame(paid=RNG.permutation(N) * 37), Y)),
    ],
    "FD006": [
        ((frame(w=2**60 + RNG.integers(0, 2**40, N)), Y), (frame(w=RNG.integers(0, 2**50, N)), Y)),
        ((frame(w=2**54 + 12345 * np.arange(N) % 999), Y),
         (frame(w=1e17 * (1 + (np.arange(N) % 9))), Y)),
    ],
    "FD007": [
        ((frame(w=with_value(-999.0)), Y), (frame(w=with_value(55.0)), Y)),
        ((frame(w=with_value(9999.0, 1)), Y), (frame(w=np.exp(RNG.normal(4, 3, N))), Y)),
        ((frame(w=np.where(np.arange(N) < 5, 9, RNG.integers(1, 4, N))), Y),
         (frame(w=RNG.integers(1, 10, N)), Y)),
        ((frame(), np.where(np.arange(N) < 5, 9, 1 + np.arange(N) % 2).astype(str)),
         (frame(), (1 + np.arange(N) % 3).astype(str))),
    ],
    "FD008": [
        ((frame(w=(Y == "ill") * 1), Y), (frame(w=np.roll(Y == "ill", 1) * 1), Y)),
        ((frame(w=np.where(Y == "ill", "krank", "gesund")), Y), (frame(w=WORDS), Y)),
    ],
    "FD009": [
        ((frame(w=SEEN), Y), (frame(w=np.where(np.arange(N) == 3, 6 - SEEN, SEEN)), Y)),
        ((frame(w=np.where(Y == "ill", WORDS, "none")), Y), (frame(w=WORDS), Y)),
        ((pd.DataFrame({"a": CELLS, "w": CLUSTER}), TYPED),
         (pd.DataFrame({"a": CELLS, "w": np.where(np.arange(240) < 9, "0", CLUSTER)}), TYPED)),
        ((pd.DataFrame({"a": CELLS, "w": CLUSTER.astype(int)}), TYPED),
         (pd.DataFrame({"a": CELLS, "w": CLUSTER.astype(int) + CELLS / 20}), TYPED)),
    ],
    "FD010": [
        ((frame(w=[f"P-{k:03}" for k in OF_SUBJECT], visit=TIME), Y),
         (frame(w=[f"P-{k:03}" for k in OF_SUBJECT], visit=RNG.permutation(TIME)), Y)),
    ],
    "FD011": [
        ((frame(name=[f"A{'bcde'[i % 4]}a {i // 3 % 6}" for i in range(N)]), Y),
         (frame(name=WORDS), Y)),
    ],
    "FD012": [
        ((frame(leiden=(np.arange(N) % 4).astype(str)), Y),
         (frame(leisure=(np.arange(N) % 4).astype(str)), Y)),
        ((frame(), pd.Series(Y, name="seurat_clusters")), (frame(), pd.Series(Y, name="cluster"))),
    ],
    "FD013": [
        ((frame(w=np.take(["a;b", "a", "b;c;d", "a;b;c", "d"], np.arange(N) % 5)), Y),
         (frame(w=np.take(["a", "b", "c", "d", "e"], np.arange(N) % 5)), Y)),
    ],
    "FD020": [((COPIED, Y), (RNG.normal(size=(N, 12)), Y))],
    "FD021": [((frame(), np.sort(Y)), (frame(), Y))],
    "FD022": [((frame(), ["rare"] * 3 + [*Y[3:]]), (frame(), Y))],
    "FD023": [
        ((frame(batch=BATCH), Y), (frame(batch=RNG.permutation(BATCH)), Y)),
        ((frame(scanner_id=(BATCH == "one") * 1), Y), (frame(colour=(BATCH == "one") * 1), Y)),
    ],
    "FD024": [
        ((frame(w=[f"P-{k:03}" for k in OF_SUBJECT]), BY_SUBJECT),
         (frame(w=[f"town {chr(97 + k)}" for k in OF_SUBJECT]), Y)),
        ((frame(subject=[f"S{k}" for k in OF_SUBJECT]), Y),
         (frame(subject=[f"S{k}" for k in range(N)]).iloc[:, :2], Y)),
        ((frame(sample=[f"donor{k}" for k in OF_SUBJECT]), Y),
         (frame(sample=[f"town {chr(97 + k)}" for k in OF_SUBJECT]), Y)),
        ((frame(person_nr=OF_SUBJECT), Y), (frame(income_per_person=OF_SUBJECT), Y)),
        ((frame(patientID=OF_SUBJECT * 7 + 100), BY_SUBJECT),
         (frame(dose=np.sort(OF_SUBJECT)), np.where(np.sort(OF_SUBJECT) < 9, "ill", "well"))),
    ],
    "FD025": [
        ((frame().set_index(VISITS), BY_SUBJECT), (frame(), Y)),
        ((frame().set_index(VISITS), Y),
         (frame().set_index(pd.Index([f"P{i}" for i in range(N)])), Y)),
    ],
    "FD026": [
        ((frame(), NOISE["a"][OF_SUBJECT].round(2)), (frame(), NOISE["a"][OF_SUBJECT].round())),
    ],
    "FD027": [
        ((frame(w=[f"G{k:02}" for k in np.arange(N) // 2]), Y),
         (frame(w=[f"G{k:02}" for k in np.arange(N) // 4]), Y)),
    ],
    "FD030": [
        ((frame(red=WORDS), pd.Series(Y, name="ill")), (frame(), pd.Series(Y, name="state"))),
        ((pd.DataFrame({"0.31": NOISE["a"], "-0.2": NOISE["b"], "0.01": NOISE["c"]}), Y),
         (pd.DataFrame({"1000.5": NOISE["a"], "1001.5": NOISE["b"], "1002.5": NOISE["c"]}), Y)),
        ((frame(red=WORDS, blue=WORDS, green=WORDS), Y),
         (frame(colour=WORDS, x=WORDS, y=WORDS), Y)),
    ],
    "FD031": [((frame(**{"Unnamed: 4": NOISE["a"]}), Y), (frame(named=NOISE["a"]), Y))],
    "FD032": [
        ((frame().set_index(pd.Index([f"ENSG0000{i:07}" for i in range(N)])), Y),
         (frame().set_index(pd.Index(NAMES)), Y)),
        ((pd.DataFrame(COPIED, columns=[f"GSM{i}" for i in range(12)]), Y),
         (pd.DataFrame(COPIED, columns=[f"gene {i}" for i in range(12)]), Y)),
    ],
    "FD033": [
        ((with_total(lambda t: t.sum()), [*Y, "ill"]),
         (with_total(lambda t: t.iloc[3]), [*Y, "ill"])),
        ((with_total(lambda t: t.mean()), [*Y, "ill"]), (frame() * 1e-9, Y)),
    ],
    "FD034": [((frame(), np.where(np.arange(N) % 7, Y, "Ill")), (frame(), Y))],
    "FD035": [((frame(**{"2-Sep": NOISE["a"]}), Y), (frame(**{"2-Step": NOISE["a"]}), Y))],
    "FD036": [
        ((frame(), Y, [f"{'Pp'[k < 9]}{k % 9:02}" for k in range(N)]),
         (frame(), Y, [f"P{k % 9:02}" for k in range(N)])),
    ],
}  # fmt: skip
EACH = [(code, k) for code, cases in CASES.items() for k in range(len(cases))]


def codes(X, y=None, groups=None, **more):
    return [one.code for one in check_table(X, y, groups=groups, **more)]


@pytest.mark.parametrize(("code", "k"), EACH)
def test_each_caution_fires_on_its_table_and_not_on_the_clean_twin(code, k):
    dirty, clean = CASES[code][k]
    assert code in codes(*dirty)
    assert code not in codes(*clean)


def test_what_is_about_classes_is_listed_and_not_tested_of_numbers():
    text = (ROOT / "docs" / "cautions.md").read_text("utf-8")
    listed = re.search(r"Where the target is a number, ([^:]*) are not tested", text)[1]
    own = {code for code, rule in CAUTIONS.items() if rule.classes}
    assert set(re.findall(r"FD\d{3}", listed)) == own
    for code, cases in CASES.items():
        for X, y, *_ in (dirty for dirty, _ in cases):
            found = codes(X, np.sqrt(2.0 + np.unique(y, return_inverse=True)[1]))
            assert not own.intersection(found), code


def test_sentences_on_numbers_say_what_was_found():
    rough, exact = check_table(frame(w=np.floor(8 * SEEN)), SEEN), check_table(frame(w=Y), Y)
    assert "sorts the rows as the target, or the rounded target, does" in rough[0].sentence
    assert "divides the rows exactly as the target does" in exact[0].sentence
    subjects = check_table(frame(patient=OF_SUBJECT), np.cos(OF_SUBJECT))
    assert "whose rows have one number: a model" in subjects[0].sentence


def test_the_sentence_on_a_total_row_states_what_was_found():
    """By its name alone, or by the sums of most columns."""
    table = frame(d=RNG.normal(size=N), e=RNG.normal(size=N))
    total = table.sum().to_frame().T.assign(e=0.5)
    (found,) = check_table(pd.concat([table, total], ignore_index=True))
    assert "(row 60) seems not to be a case: it holds the sums of the first 60 rows in 4 of 5" in (
        str(found)
    )
    few = table.iloc[:4].assign(who=["p1", "p2", "p3", "Total"])
    (found,) = (one for one in check_table(few) if one.code == "FD033")
    assert "(row 3) seems not to be a case: it is named 'Total'. Leave" in str(found)


def test_of_subjects_the_group_is_advised():
    group = np.arange(240) % 6  # six donors
    donors = pd.DataFrame({"a": CELLS, "donor": [f"D{k}" for k in group]})
    told = check_table(donors, np.where(group % 2, "ill", "well"))
    assert [one.code for one in told] == ["FD009", "FD024"]
    assert "If 'donor' names subjects or batches of several rows" in told[0].sentence
    assert "If" not in str(check_table(frame(w=SEEN), Y)).partition("if not")[2]
    grade = np.where(group % 2, np.array(["3+3", "3+4", "4+3"])[group // 2], None)  # of the ill
    (found,) = check_table(donors.assign(donor=grade), np.where(group % 2, "ill", "well"))
    assert found.code == "FD009"
    assert "subjects" not in found.sentence
    days = np.array([f"{d.date()}" for d in DAYS])[OF_SUBJECT]
    assert "FD024" not in codes(frame(scanned=days), BY_SUBJECT)


def test_ids_of_one_stem_are_not_to_be_dropped():
    stem = frame(who=list(VISITS), key=NAMES)
    found = check_table(stem, Y)[0]
    assert "Leave 'key' out, or name it as the id. Values of 'who' begin alike" in found.sentence
    assert found.remedy == (("--group", "who=*_*"), ("--id", "key"))
    lone = check_table(frame(who=NAMES), Y)[0]
    assert lone.remedy == (("--id", "who"),)
    assert "begin alike" not in lone.sentence


def test_sentences_state_what_was_found():
    remarks = [f"seen again after {i // 2} days" for i in range(len(Y))]
    (found,) = check_table(frame(note=remarks), Y)
    counts = f"{(len(Y) + 1) // 2} in {len(Y)} rows"
    assert f"(such as 'seen again after 0 days'), {counts}, as names, ids" in found.sentence
    scale = np.where(np.arange(len(Y)) % 8 == 0, 9, np.random.default_rng(0).integers(1, 6, len(Y)))
    (found,) = check_table(frame(scale=scale), Y)
    assert "missing ones: 9 in 'scale' (the others are 1 to 5). If so" in found.sentence


def test_every_caution_has_a_test_and_a_paragraph():
    assert CASES.keys() | {"FD040", "FD041"} == CAUTIONS.keys()
    text = (ROOT / "docs" / "cautions.md").read_text("utf-8")
    heads = dict(re.findall(r"^## (FD\d{3}) ([\w-]+)$", text, re.M))
    assert heads == {code: rule.name for code, rule in CAUTIONS.items()}
    parts = re.split(r"^## FD\d{3} [\w-]+$", text, flags=re.M)[1:]
    assert all(len(part.split()) > 15 for part in parts)
    assert len({rule.name for rule in CAUTIONS.values()}) == len(CAUTIONS)


def test_sentences_name_columns_and_the_result_prints():
    found = check_table(frame(visit=DAYS.astype(str), nr=np.arange(N)), Y)
    assert [one.code for one in found] == ["FD001", "FD002", "FD004"]
    assert found[0].columns == ("visit",)
    assert "Column 'visit' holds dates or times (such as '2021-01-01')" in found[0].sentence
    assert str(found).splitlines() == [f"{o.code} {o.name}: {o.sentence}" for o in found]
    assert repr(check_table(frame(), Y)) == "no cautions"
    assert [one.code for one in found.refused("fit", ["FD004"])] == ["FD002"]


@pytest.mark.parametrize(
    "word",
    [
        "2021-02-09", "2021-02-09 13:05", "2021-02-09T13:05:22Z", "2021/2/9", "09.02.2021",
        "9.2.21", "02/09/2021", "13/09/2021", "9 Feb 2021", "9. Mai 2021", "Feb 9, 2021",
        "Tue, 9 Feb 2021", "09-Feb-21", "9 de febrero de 2021", "2021-02", "Feb 2021", "2021-W07",
        "2021 Q3", "13:05", "1:05 pm", "5. Dezember 2020", "12 août 2019", "10 dicembre 2020",
    ],
)  # fmt: skip
def test_dates_in_common_forms(word):
    assert is_date(word)


@pytest.mark.parametrize(
    "word",
    ["2021", "20-30", "1-2", "1.5", "may be", "12.40", "2021-13-09", "32.01.2021", "13/13/2021",
     "P-12", "3:1", "v1.2.30", "Q1", "A1", "9", "25:61"],
)  # fmt: skip
def test_what_is_not_a_date(word):
    assert not is_date(word)


@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame, lambda X: X.to_numpy()])
def test_frames_of_any_library_and_arrays(kind):
    X = frame(w=np.arange(N), s=with_value(-999.0))
    assert codes(kind(X), Y) == ["FD004", "FD007"]


def test_sparse_tables_numbers_as_target_and_several_labels():
    X = sparse.random(60, 30, 0.2, random_state=0, format="csr")
    assert codes(X, Y) == []
    assert codes(frame(w=SEEN), SEEN * 2) == ["FD008"]  # the target in another unit
    assert codes(frame(), NOISE["a"] + 1) == ["FD008"]
    lacking = np.where(np.arange(N) % 20, -SEEN, np.nan)
    assert codes(frame(w=lacking), SEEN.round(3)) == ["FD008"]
    assert codes(frame(w=np.where(np.arange(N) % 2, SEEN, np.nan)), SEEN) == []
    assert codes(frame(w=SEEN), np.sort(NOISE["b"])) == []  # what is said of classes is not
    assert codes(frame(), with_value(-999.0)) == ["FD007"]
    assert codes(frame(), with_value(55.0)) == []
    assert codes(frame(w=pd.qcut(SEEN, 5, labels=list("pbxka")).astype(str)), SEEN) == ["FD009"]
    assert codes(frame(w=pd.qcut(NOISE["a"], 5, labels=list("pbxka")).astype(str)), SEEN) == []
    fat, water, error = 9 + np.random.default_rng(4).random((3, N))
    parts = {"fat": fat, "water": water}  # with starch and the target they add up to 100
    starch = 100 - parts["fat"] - parts["water"] - SEEN
    (found,) = check_table(frame(**parts, starch=starch + error / 50), SEEN)
    assert found.code == "FD009"
    assert "'fat', 'water', 'starch' alone predict the target, by a weighted sum." in str(found)
    assert codes(frame(**parts, starch=starch + error), SEEN) == []
    of_subject = frame(w=[f"town {chr(97 + k)}" for k in OF_SUBJECT])
    assert codes(of_subject, np.cos(OF_SUBJECT)) == ["FD024", "FD026"]
    assert codes(of_subject, SEEN) == []
    assert codes(frame(batch=BATCH), np.where(Y == "ill", 5, 1) + NOISE["b"]) == []
    assert codes(pd.DataFrame(COPIED), RNG.normal(size=N)) == ["FD020"]
    assert codes(frame(w=np.arange(N)), SEEN) == ["FD004"]
    assert codes(frame(), [f"no. {i}" for i in range(N)]) == ["FD022"]
    assert codes(frame(), np.ones(N)) == []
    rng = np.random.default_rng(1)
    assert codes(frame(), rng.normal(size=N)) == []  # every value another, as in each column
    assert codes(frame(w=-np.exp(SEEN)), SEEN) == ["FD008"]
    assert codes(frame(w=np.floor(8 * SEEN)), SEEN) == ["FD008"]
    assert codes(frame(w=SEEN + rng.normal(size=N) / 100), SEEN) == []
    assert codes(frame(w=np.arange(N)), np.eye(3)[np.arange(N) % 3]) == ["FD004"]


def test_answers_and_groups_of_another_length_are_refused():
    with pytest.raises(PsephosError, match="y does not have 60 values"):
        check_table(frame(), Y[:5])
    with pytest.raises(PsephosError, match="groups does not have 60 values"):
        check_table(frame(), Y, groups=[1, 2])


# ------------------------------------------------------------------- fit
def test_fit_of_a_frame_warns_once_of_names_and_types():
    X = frame(nr=np.arange(N), visit=DAYS.astype(str).to_numpy()[np.arange(N) % 40])
    with pytest.warns(TableWarning) as caught:
        AdaBoostClassifier(n_estimators=2).fit(X, Y)
    assert [one.message.code for one in caught] == ["FD001", "FD004"]
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "model",
    [
        BaggingClassifier(AdaBoostClassifier(n_estimators=2), n_estimators=3),
        VotingClassifier(
            [("a", AdaBoostClassifier(n_estimators=2)), ("b", RandomForestClassifier(3))]
        ),
    ],
    ids=["bag", "vote"],
)  # fmt: skip
def test_members_do_not_warn_again(model):
    with pytest.warns(TableWarning) as caught:
        model.fit(frame(nr=np.arange(N)), Y)
    assert sum(isinstance(one.message, TableWarning) for one in caught) == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda model, X: cross_val_score(model, X, Y),
        lambda model, X: GridSearchCV(model, {"n_estimators": [1, 2]}).fit(X, Y),
        lambda model, X: cross_val_score(make_pipeline(FunctionTransformer(), model), X, Y),
    ],
    ids=["folds", "search", "pipeline"],
)
def test_folds_searches_and_refits_of_scikit_learn_warn_once(call, request):
    name = f"nr of {request.node.callspec.id}"  # a process is warned of a column once, by clones
    with pytest.warns(TableWarning) as caught:
        call(AdaBoostClassifier(n_estimators=2), frame(**{name: np.arange(N)}))
    assert sum(isinstance(one.message, TableWarning) for one in caught) == 1
    with pytest.warns(TableWarning, match=name):
        AdaBoostClassifier(n_estimators=2).fit(frame(**{name: np.arange(N)}), Y)


def test_fit_is_quiet_on_clean_frames_and_listed_categories():
    AdaBoostClassifier(n_estimators=2).fit(frame(w=WORDS), Y)
    AdaBoostClassifier(n_estimators=2, categorical_features=["w"]).fit(frame(w=NAMES), Y)
    AdaBoostClassifier(n_estimators=2).fit(frame(nr=np.arange(N)).to_numpy(), Y)


def test_compare_warns_of_what_the_command_refuses_and_keeps_all(tmp_path):
    X = frame(nr=np.arange(N), s=with_value(-999.0))
    with pytest.warns(TableWarning, match="FD004"):
        found = compare(X, Y, ["majority"], n_jobs=1)
    kept = {one["code"]: one["accepted"] for one in found.about["cautions"]}
    assert kept == {"FD004": False, "FD007": False}
    found = compare(X, Y, ["majority"], n_jobs=1, accept="FD004")
    assert {one["code"]: one["accepted"] for one in found.about["cautions"]}["FD004"]
    with pytest.raises(PsephosError, match="'FD4', which is not a caution"):
        compare(X, Y, ["majority"], accept=["FD4"])


# ------------------------------------------------------------------- new cases
QUANTILES = np.quantile(
    np.exp(RNG.normal(1, 0.3, (500, 2))), (0, 0.1, 0.25, 0.5, 0.75, 0.9, 1), axis=0
)


@pytest.mark.parametrize(
    ("factor", "shift", "found"),
    [(1, 0, []), (18.016, 0, ["FD041"]), (0.01, 0, ["FD041"]), (1, 50, ["FD040"]), (1, 0.3, [])],
)
def test_new_cases_in_other_units_or_beyond_the_range(factor, shift, found):
    X = np.exp(np.random.default_rng(5).normal(1, 0.3, (40, 2)))
    X[:, 1] = X[:, 1] * factor + shift
    X[3, 1] = np.nan
    cautions = cautions_on(Given(X, ("a", "b"), quantiles=QUANTILES.T), ("FD040", "FD041"))
    assert [one.code for one in cautions] == found
    assert all(one.columns == ("b",) for one in cautions)
    few = cautions_on(Given(X[:3], ("a", "b"), quantiles=QUANTILES.T), ("FD040", "FD041"))
    assert few == ()


def test_a_table_of_a_file_knows_its_rows_by_line(tmp_path):
    X = pd.DataFrame(COPIED, columns=[f"g{i}" for i in range(12)]).assign(y=Y)
    X.to_csv(tmp_path / "t.csv", index=False)
    found = check_table(read_table(tmp_path / "t.csv", target="y"))
    assert [one.code for one in found] == ["FD020"]
    assert "row 2 and row 42" in found[0].sentence
    assert found[0].rows[:2] == (0, 1)


def test_a_code_of_sister_questions_is_named_by_one_pattern():
    scale, row = RNG.integers(1, 6, (N, 4)), np.arange(N)
    few = np.where(row[:, None] < [9, 9, 9, 2], 9, scale)
    asked = pd.DataFrame(few, columns=["q1", "q2", "q3", "q11"])
    found = check_table(asked, Y)[0]
    assert found.columns == ("q1", "q2", "q3", "q11")
    assert found.remedy == (("--missing", "q*=9"),) * 4
    other = asked.assign(quality9=[*range(5, 11)] * 10)  # has a 9 of its own
    assert check_table(other, Y)[0].remedy[0] == ("--missing", "q[0-9]*=9")
    other = asked.assign(q11=np.where(few[:, 3] == 9, 9, few[:, 3] + 3))  # up to 8
    assert check_table(other, Y)[0].columns == ("q1", "q2", "q3")
    assert check_table(other, Y)[0].remedy[0] == ("--missing", "q1=9")


def test_a_rare_code_of_a_scale_that_others_have_is_found():
    scale, row = RNG.integers(1, 6, (N, 4)), np.arange(N)
    few = np.where(row[:, None] < [9, 9, 9, 1], 9, scale)
    asked = pd.DataFrame(few, columns=["noise", "paths", "toilets", "hedges"])
    found = check_table(asked, Y)[0]
    assert found.columns == ("noise", "paths", "toilets", "hedges")
    assert "'hedges' (the others are 1 to 5)" in found.sentence
    for other in (few[:, 3] - 1, [9, *range(1, 10)] * (N // 10)):  # 0 to 4 and 8; 1 to 9
        found = check_table(asked.assign(hedges=other), Y)[0]
        assert found.columns == ("noise", "paths", "toilets")


def test_an_id_that_stands_twice_is_the_group():
    number = 4_000_000 + RNG.choice(90_000, N, replace=False)
    number[-1] = number[0]
    found = check_table(frame(patient_id=number), Y)[0]
    assert (found.code, found.remedy) == ("FD005", (("--group", "patient_id"),))
    assert "occur in several rows ('patient_id')" in found.sentence


BLANK = [None, *["g"] * (N - 1)]
TWICE = pd.DataFrame(RNG.normal(size=(N, 2)), columns=["a", "a"])


@pytest.mark.parametrize(
    ("X", "more", "words"),
    [
        (np.empty((0, 3)), {}, "X has 0 rows and 3 columns: it needs at least one of each"),
        (pd.DataFrame(index=range(N)), {}, "0 columns: it needs"),
        (TWICE, {}, "'a'"),
        (np.where(np.eye(N, 3) > 0, np.inf, 1.0), {}, "column 'column 0' is infinite in row 0"),
        (
            frame(),
            {"groups": np.zeros((N, 2))},
            "groups must have one value per row; got 2 dimensions",
        ),
        (frame(), {"groups": BLANK}, "groups has no value in row 0"),
        (frame(), {"y": BLANK}, "y has no value in row 0"),
    ],
)
def test_what_cannot_be_looked_at_is_refused(X, more, words):
    with pytest.raises(PsephosError, match=re.escape(words)):
        check_table(X, **more)


def test_codes_that_are_accepted_are_words_of_either_case():
    assert known_codes("fd004") == known_codes(["FD004", "fd004"]) == ("FD004",)
    for odd in (3, [3]):
        with pytest.raises(PsephosError, match=r"accept must be the code of a caution.*got"):
            compare(frame(), Y, accept=odd)
