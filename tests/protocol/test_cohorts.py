"""Test parts that a column names: each cohort once, or one part."""

import csv
import re

import numpy as np
import pytest

from psephos import read_table
from psephos._errors import PsephosError
from psephos.cli.compare import conclude
from psephos.protocol import better_than_constant, compare
from psephos.protocol.evaluation.splits import PROTOCOLS, Protocol, outer_splits
from psephos.report import summarise

MODELS = ["adaboost", "majority"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 5))
    y = np.where(X[:, 0] + 0.3 * rng.standard_normal(90) > 0, "ill", "well")
    return X, y, np.array(["Bonn", "Kiel", "Ulm"])[np.arange(90) % 3]


@pytest.fixture
def file(data, tmp_path):
    X, y, site = data
    path = tmp_path / "t.csv"
    with path.open("w", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(["a", "b", "c", "d", "e", "site", "state"])
        rows.writerows([*x, s, label] for x, s, label in zip(X, site, y, strict=True))
    return path


def test_each_cohort_is_the_test_part_once(data):
    X, y, site = data
    found = compare(X, y, MODELS, "demo", leave_out=site, n_jobs=1)
    assert [row["cohort"] for row in found.results] == ["Bonn", "Kiel", "Ulm"] * 2
    assert all(row["n_test"] == 30 and row["n_train"] == 60 for row in found.results)
    assert (
        found.about["cohorts"]["Kiel"]
        == np.unique(y[site == "Kiel"], return_counts=True)[1].tolist()
    )
    assert "each of 3 cohorts is the test part once" in found.about["protocol"]
    assert found.bounds == []
    low, high = (getattr(found.difference(*MODELS), k) for k in ("low", "high"))
    assert low < high
    assert "cohort" in found.frame("pandas").columns


def test_the_page_says_which_parts_were_tested(data, tmp_path):
    X, y, site = data
    compare(X, y, ["majority"], "demo", leave_out=site, n_jobs=1, out=tmp_path / "each")
    assert summarise(tmp_path / "each")["methods"][0].startswith(
        "Each of the 3 cohorts of leave_out (Bonn, Kiel and Ulm) was left out of training in turn, "
        "and was the test part then. Each held-out part has 30 cases"
    )
    compare(X, y, ["majority"], "demo", leave_out=site == "Ulm", n_jobs=1, out=tmp_path / "one")
    made = " ".join(summarise(tmp_path / "one")["methods"])
    assert made.startswith(
        "The one test part: the cases whose leave_out is True, left out of training. "
    )
    assert "tratified" not in made


def test_splits_are_the_rows_of_cohorts(file, data):
    _, _, site = data
    table = read_table(file, target="state", leave_out="site")
    assert table.names == ("a", "b", "c", "d", "e")
    assert "site (--leave-out)" in table.left_out
    for (train, test), name in zip(
        outer_splits(table, PROTOCOLS["quick"], 0), ("Bonn", "Kiel", "Ulm"), strict=True
    ):
        assert (site[test] == name).all()
        assert sorted([*train, *test]) == list(range(90))
        assert (site[train] != name).all()


def test_one_named_part_has_no_interval(file):
    found = compare(file, "state", MODELS, "demo", leave_out="site=Ulm", n_jobs=1)
    assert [(row["cohort"], row["fold"]) for row in found.results] == [("Ulm", 0)] * 2
    assert np.isnan(found.difference(*MODELS).low)
    assert "one test part" in found.about["protocol"]


def test_with_one_part_nothing_is_said_of_spread_and_stability(data, tmp_path, capsys):
    X, y, site = data
    found = compare(X, y, ["cart", "sklearn-l1-logistic", "majority"], "demo", n_jobs=1,
                    leave_out=site == "Ulm", curve=True, out=tmp_path / "s")  # fmt: skip
    conclude(found, tmp_path / "s", report=True)
    told = "".join(capsys.readouterr())
    assert "stability: not available with one test part\n" in told
    assert "spread and intervals: not available with one test part\n" in told
    assert "chosen columns; interval and stability: not available with one test part (curve" in told
    page = (tmp_path / "s" / "report.html").read_text("utf-8").partition("<script")[0]
    assert "(95 % interval not available with one test part)" in page
    assert page.count("spread, intervals and stability: not available with one test part") == 2
    assert "Knee: the model's best point; standard error, intervals and stability: not" in page
    stability = summarise(tmp_path / "s")["island"]["stability"]["models"]
    assert {one["words"] for key, one in stability.items() if key != "majority"} == {
        f"In how many folds {key} reads a column: not available with one test part."
        for key in ("cart", "sklearn-l1-logistic")
    }
    for text in (told, page):
        assert not re.search(
            r"\bnan\b|smallest|within one standard error|one fold|± 0|– to –|single folds", text
        )


def test_true_rows_of_a_mask_are_the_test_part(data):
    X, y, _ = data
    mask = np.arange(90) >= 70
    found = compare(X, y, ["majority"], "demo", leave_out=mask, n_jobs=1)
    assert [row["n_test"] for row in found.results] == [20]


def test_a_column_of_the_name_with_an_equals_sign(data, tmp_path):
    X, y, site = data
    path = tmp_path / "t.csv"
    lines = [
        "a,b,site=1,state",
        *(f"{x[0]},{x[1]},{s},{c}" for x, s, c in zip(X, site, y, strict=True)),
    ]
    path.write_text("\n".join(lines))
    assert read_table(path, target="state", leave_out="site=1=").cohorts.tested[0] == "Bonn"
    assert read_table(path, target="state", leave_out="site=1=Ulm").cohorts.tested == ["Ulm"]


def test_groups_on_both_sides_are_refused(data):
    X, y, site = data
    groups = np.arange(90) // 2
    with pytest.raises(PsephosError, match="'0' is in and outside the rows where"):
        compare(X, y, MODELS, leave_out=site, groups=groups)


def test_copies_on_both_sides_are_refused_with_what_to_do(data):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((90, 12))
    X[1] = X[0]
    with (
        pytest.warns(UserWarning, match="copies"),
        pytest.raises(PsephosError, match="Then 'copies'"),
    ):
        compare(X, data[1], MODELS, leave_out=data[2])


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["Bonn"] * 90, "in every row"),
        (["Bonn"] * 89, "89 cohorts for 90 rows"),
        (list(range(90)), "90 values in 90 rows, as measurements and ids do"),
        ([f"{i // 3 + 0.25}" for i in range(90)], "30 values in 90 rows, as measurements"),
        (
            [None, float("nan"), *["Bonn", "Kiel"] * 44],
            "leave_out has no value in row 0 .*, row 1 ",
        ),
        ("site", "one value per row"),
    ],
)
def test_cohorts_that_cannot_serve(data, values, words):
    with pytest.raises(PsephosError, match=words):
        compare(data[0], data[1], MODELS, leave_out=values)


def test_many_small_cohorts_that_are_no_measurement_can_serve(data):
    X, _, _ = data
    subjects = np.repeat(np.arange(30), 3)
    found = compare(X, X[:, 0] + X[:, 1], ["mean"], "demo", leave_out=subjects, n_jobs=1)
    assert len(found.results) == 30
    assert not found.failures


def test_a_cohort_of_one_row_has_no_r_squared(data):
    X, _, site = data
    site = site.copy()
    site[0] = "Jena"
    with pytest.raises(
        PsephosError, match=r"'Jena' .* are a single row, for which R² is not defined"
    ):
        compare(X, X[:, 0], ["mean"], "demo", leave_out=site)


def test_a_class_of_one_cohort_alone_cannot_be_learnt(file, data, tmp_path):
    X, _, site = data
    y = np.where(site == "Ulm", np.where(X[:, 0] > 0, "rare", "well"), "well")
    y[::5] = "ill"
    with pytest.raises(PsephosError, match="hold all cases of class 'rare', which then cannot"):
        compare(X, y, MODELS, "demo", leave_out=site == "Ulm")


def test_a_small_class_is_not_advised_folds_that_are_refused(data):
    X, y, site = data
    y = y.copy()
    y[:3] = "rare"  # one a cohort, so that two are left to train on
    with pytest.raises(PsephosError, match=r"has 2 row.* leave --leave-out") as found:
        compare(X, y, MODELS, "demo", leave_out=site)
    assert "--folds" not in str(found.value)
    y[3:6] = "rare"
    with pytest.raises(PsephosError, match="use folds=6"):
        compare(X, np.where(np.arange(90) < 6, "rare", y), MODELS, Protocol(inner_folds=5, folds=7))


def test_the_target_and_groups_that_are_the_cohorts_are_refused(file, data):
    X, y, site = data
    with pytest.raises(PsephosError, match="'state' is the target"):
        read_table(file, target="state", leave_out="state")
    with pytest.raises(PsephosError, match=r"the groups \(site\) are the cohorts of 'site'"):
        compare(file, "state", MODELS, groups="site", leave_out="site")
    with pytest.raises(PsephosError, match=r"the groups .* are the cohorts"):
        compare(X, y, MODELS, groups=site, leave_out=np.char.lower(site))


def test_all_cohorts_without_a_class_are_named(data):
    X, y, _ = data
    with pytest.raises(PsephosError) as found:
        compare(X, y, MODELS, leave_out=y.copy())
    for one, lacks in (("ill", "well"), ("well", "ill")):
        assert re.search(f"'{one}' .* have no case of class '{lacks}'", str(found.value))


def test_a_value_that_is_not_there(file):
    with pytest.raises(PsephosError, match="did you mean 'Ulm'"):
        read_table(file, target="state", leave_out="site=Ul")


def test_a_study_resumes_and_another_column_is_another_study(file, tmp_path):
    out = tmp_path / "out"
    first = compare(file, "state", MODELS, "demo", leave_out="site", n_jobs=1, out=out)
    again = compare(file, "state", MODELS, "demo", leave_out="site", n_jobs=1, out=out)
    assert first.results == again.results
    assert "cohort" in (out / "results.csv").read_text().splitlines()[0].split(",")
    with pytest.raises(PsephosError):
        compare(file, "state", MODELS, "demo", leave_out="site=Ulm", n_jobs=1, out=out)


def test_without_cohorts_a_protocol_is_written_as_before():
    assert "cohorts" not in PROTOCOLS["quick"].as_dict()


def test_unequal_cohorts_do_not_make_a_constant_look_better():
    # cohorts of other class shares: a model of no use is called better in few of many tables
    rng = np.random.default_rng(2)
    sizes, shares, often, n = (30, 30, 60), (0.1, 0.5, 0.8), 0, 300
    for _ in range(n):
        rows, counts = [], {}
        for fold, (size, share) in enumerate(zip(sizes, shares, strict=True)):
            k = int(size * share)
            given = rng.random(size) < 0.5
            score = (given[:k].mean() + 1 - given[k:].mean()) / 2
            counts[str(fold)] = [k, size - k]
            rows.append({"model": "m", "repeat": 0, "fold": fold, "status": "ok", "n_test": size,
                         "n_train": 120 - size, "columns_used": 3, "n_voters": 1, "columns": "0..2",
                         "n_columns": 5, "balanced_accuracy": score})  # fmt: skip
        about = {"classes": ["a", "b"], "class_counts": [66, 54], "n_rows": 120, "cohorts": counts}
        often += bool(better_than_constant(rows, about))
    assert often / n < 0.05
