"""The figures of the panel of values, beside those of scikit-learn, scipy and plain counting."""

import csv
import json
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.inspection import partial_dependence
from sklearn.metrics.pairwise import nan_euclidean_distances

from psephos import AdaBoostClassifier, CARTClassifier, SamBAClassifier
from psephos.explain.effects import (
    axis_of,
    background,
    cut_of,
    mean_answers,
    pieces_of,
    voter_thresholds,
)
from psephos.explain.rising import NumericColumns, rising_with
from psephos.files.names import percent
from psephos.protocol import DataTable, Protocol, compare
from psephos.protocol.evaluation.stability import positions_of
from psephos.protocol.tables.labels import Partial
from psephos.report import summarise
from psephos.report.numbers.column_values import plane, portrait, suppressed
from psephos.report.page.render import render
from psephos.report.panels.case import distances, nearest_own, typical
from psephos.report.study.folder import KeptCases, read_folder
from psephos.report.study.opened import Reduced, Saved
from psephos.report.study.options import brief, carried_rows, rounded
from psephos.report.study.standings import standings
from psephos.report.words import chance, shown_names


def words_of(parts):
    return "".join(part if isinstance(part, str) else part["t"] for part in parts)


def saved_of(folder):
    return Saved(folder, shown_names([str(one) for one in folder.about["columns"]]))


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    X = rng.lognormal(0, 2, size=(90, 4))
    X[rng.random(X.shape) < 0.3] = 0.0
    y = np.where(X[:, 0] + 0.5 * X[:, 2] > 1.0, "ill", "well")
    return X, y


@pytest.fixture(scope="module")
def study(compared):
    folder = read_folder(compared)
    return folder, saved_of(folder)


def asked(model, X):
    """Return a fitted model and the columns of X that it reads."""
    small = model.reduce()
    return Reduced(small, small.vote_, X[:, model.vote_.columns], ["a", "b", "c"], [], {})


MODELS = {
    "cart": CARTClassifier(n_folds=0, max_depth=3),
    "adaboost": AdaBoostClassifier(n_estimators=12),
    "samba": SamBAClassifier(n_estimators=8),
}


@pytest.mark.parametrize("name", MODELS)
def test_mean_answers_are_partial_dependence(name, table):
    X, y = table
    one = asked(MODELS[name].fit(X, y), X)
    values = [0.0, 0.3, 1.0, 7.5]
    for j in range(one.X.shape[1]):
        found = mean_answers(one.vote, background(one), j, values)
        theirs = partial_dependence(
            one.model, one.X, [j], method="brute", response_method="predict_proba",
            custom_values={j: np.array(values)},
        )["average"][0]  # fmt: skip
        np.testing.assert_allclose(found[:, 1], theirs, atol=1e-12)
        np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)


def test_thresholds_are_those_of_the_voters(table):
    X, y = table
    one = asked(AdaBoostClassifier(n_estimators=12).fit(X, y), X)
    found, gradual = voter_thresholds(one)
    voters = one.vote.voters
    for j in range(one.X.shape[1]):
        own = voters.threshold[
            (voters.columns[voters.feature] == j) & np.isfinite(voters.threshold)
        ]
        assert [t.at for t in found.get(j, [])] == sorted(set(own.tolist()))
        assert not any(t.closed for t in found.get(j, []))
    assert gradual == set()
    local = asked(SamBAClassifier(n_estimators=5).fit(X, y), X)
    assert voter_thresholds(local)[1] == set(local.vote.weighting.columns.tolist())


def test_a_value_at_the_threshold_is_on_the_side_that_is_said():
    X = np.array([[1.0], [2.0], [3.0], [4.0]] * 8)
    y = np.array([0, 0, 1, 1] * 8)
    one = asked(CARTClassifier(n_folds=0).fit(X, y), X)
    thresholds = voter_thresholds(one)[0][0]
    at = thresholds[0].at
    side = one.model.predict([[at]])[0]
    assert side == (1 if thresholds[0].closed else 0)


@pytest.mark.parametrize(
    ("values", "log", "zero"),
    [([0, 1, 30], True, True), ([0, 1, 19], False, False), ([-1, 0, 500], False, False),
     ([0.01, 1.0], True, False), ([3, 3, 3], False, False), ([0, 0], False, False)],
)  # fmt: skip
def test_axes_are_logarithmic_only_beyond_twenty_fold(values, log, zero):
    axis = axis_of(np.array(values, dtype=float))
    assert (axis.log, axis.zero, axis.missing) == (log, zero, False)
    assert axis.low < axis.high
    drawn = [v for v in values if v > 0 or not log]
    assert axis.low <= min(drawn)
    assert max(drawn) <= axis.high


def test_pieces_hold_one_threshold_at_most_and_a_value_beside_each():
    axis = axis_of(np.array([0.0, 0.01, 40.0]), [0.5, 3.0])
    for gradual in (False, True):
        pieces = pieces_of(axis, [3.0, 0.5], gradual)
        assert pieces.steps == [0.5, 3.0]
        assert pieces.ends == sorted(pieces.ends)
        assert (len(pieces.ends) == 4) != gradual
        for low, inside, high in zip(pieces.ends, pieces.inside, pieces.ends[1:], strict=False):
            assert low < inside < high
        for t, (below, above) in zip(pieces.steps, pieces.beside, strict=True):
            assert below < t < above
            assert not any(below < end < above for end in pieces.ends if end != t)
    assert len(pieces_of(axis, np.linspace(0.1, 30, 500).tolist(), False).steps) == 48


@pytest.mark.parametrize("gaps", [0.0, 0.1])
def test_columns_that_rise_with_another_are_those_of_spearmanr(gaps):
    rng = np.random.default_rng(0)
    base = rng.normal(size=80)
    X = np.column_stack([base + s * rng.normal(size=80) for s in (0, 0.3, 0.6, 5, 0.2)])
    X[:, 4] *= -1
    X[rng.random(X.shape) < gaps] = np.nan
    X[0, 3] = np.nan  # beside columns without missing values

    def rising(**given):
        return rising_with(NumericColumns(list("abcde"), X.copy()), 0, **given)

    found = rising(most=9, least=0.0)
    assert {one.column for one in found} == {1, 2, 3, 4}
    for one in found:
        theirs = spearmanr(X[:, 0], X[:, one.column], nan_policy="omit").statistic
        assert one.rho == pytest.approx(theirs, abs=1e-12)
    sizes = [abs(one.rho) for one in found]
    assert sizes == sorted(sizes, reverse=True)
    assert [one.column for one in rising()] == [one.column for one in found if abs(one.rho) >= 0.6][
        :3
    ]
    both = np.flatnonzero(~np.isnan(X[:, :2]).any(axis=1))
    X[both[10:], 1] = np.nan  # ten pairs are told, nine say nothing
    assert 1 in {one.column for one in rising(most=9, least=0.0)}
    X[both[9], 1] = np.nan
    assert 1 not in {one.column for one in rising(least=0.0)}


def test_distances_are_those_of_scikit_learn():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 4))
    X[rng.random(X.shape) < 0.2] = np.nan
    spread = np.nanstd(X, axis=0)
    ours = distances(X, spread.tolist())
    np.testing.assert_allclose(ours, nan_euclidean_distances(X / spread), atol=1e-12)


def test_a_case_that_shares_half_of_the_columns_is_nobodys_nearest():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 4))
    X[rng.random(X.shape) < 0.3] = np.nan
    X[7], X[8] = [0.0, np.nan, np.nan, np.nan], np.nan
    X[9] = [0.0, 1.0, 2.0, 3.0]
    spread = np.nanstd(X, axis=0).tolist()
    every, nearest = distances(X, spread), []
    for i, row in enumerate(X):
        known = [j for j in range(4) if not np.isnan(row[j])]
        found = [
            every[i, k]
            for k in range(len(X))
            if k != i and 2 * sum(not np.isnan(X[k, j]) for j in known) > len(known)
        ]
        nearest += [min(found)] if found else []
    assert len(nearest) < len(X)  # an empty case has none
    np.testing.assert_allclose(nearest_own(X, spread), sorted(nearest), rtol=1e-5)
    assert nearest_own(X[[7, 9]], spread) == [0.0]  # 7 has one column, which 9 shares


def test_a_neighbour_is_of_another_group():
    X, groups = np.array([[0.0], [0.1], [2.0], [5.0]]), np.array([3, 3, 1, 3])
    assert nearest_own(X, [1.0]) == [0.1, 0.1, 1.9, 3.0]
    assert nearest_own(X, [1.0], groups) == [1.9, 1.9, 2.0, 3.0]
    assert nearest_own(X, [1.0], np.zeros(4, dtype=np.intp)) == []


def test_a_category_that_differs_counts_one():
    X = np.array([[0.0, 0], [0, 1], [3, 1], [np.nan, 2]])
    found = distances(X, [2.0, 0.0])
    assert found[0, 1] == 1.0
    assert found[0, 2] == pytest.approx(np.hypot(1.5, 1))
    assert found[0, 3] == pytest.approx(np.sqrt(2))


def test_typical_cases_are_medians_and_most_frequent_categories(table):
    X, y = table
    one = asked(AdaBoostClassifier(n_estimators=12).fit(X, y), X)
    row = typical(one, y == "ill")
    which = np.flatnonzero(y == "ill")
    for n in (len(which), len(which) - 1):  # an odd and an even number of cases
        some = np.isin(np.arange(len(y)), which[:n])
        np.testing.assert_allclose(typical(one, some), np.nanmedian(one.X[some], axis=0))
    assert row is not None
    coded = replace(one, levels={0: ["a", "b", "c"]}, X=one.X.copy())
    coded.X[:, 0] = np.where(np.arange(len(y)) % 3, 2.0, 0.0)
    assert typical(coded, y == "ill")[0] == 2.0


def test_rounding_crosses_no_threshold():
    rng = np.random.default_rng(5)
    for _ in range(300):
        value = float(rng.lognormal(0, 4) * rng.choice([-1, 1]))
        cuts = np.sort(value + rng.normal(0, abs(value) * 10.0 ** rng.integers(-9, 1), 3))
        (short,) = rounded(np.array([value]), cuts)
        assert np.array_equal(short > cuts, value > cuts)
        assert short == pytest.approx(value, rel=5.1e-3)
    values = np.array([0.123456, np.nan, 0.51234, 7.0])
    np.testing.assert_array_equal(rounded(values, np.array([0.5])), [0.123, np.nan, 0.512, 7.0])
    assert rounded(values, np.array([0.123456]))[0] == 0.123456
    assert brief(values, np.array([0.5])) == [0.123, None, 0.512, 7]


def test_of_many_cases_200_a_class_are_carried():
    y = np.repeat([0, 1], [900, 150])
    rows = carried_rows(y)
    assert np.bincount(y[rows]).tolist() == [200, 150]
    assert carried_rows(np.repeat([0, 1], [399, 20])).tolist() == list(range(419))


# ---------------------------------------------------------------------- a whole study
def test_counts_and_folds_are_those_of_the_study(study):
    folder, saved = study
    names = folder.about["columns"]
    with (folder.path / "results.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["status"] == "ok"]
    y = np.asarray(folder.cases.y)
    assert saved.keys
    for key in saved.keys:
        found = portrait(folder, saved.opened(key), saved.reduced(key), key)
        assert found["n_read"] == len(saved.opened(key).model.features_used_)
        own = [saved.opened(key).rank(one["name"]) for one in found["columns"]]
        assert own == sorted(own)
        for column in found["columns"]:
            own = [row for row in rows if row["model"] == key]
            read = [names.index(column["whole"]) in positions_of(row["columns"]) for row in own]
            assert column["folds"] == [int(one) for one in read]
            values = folder.cases.values[:, folder.cases.names.index(column["whole"])]
            if column["kind"] == "category":
                for level in column["levels"]:
                    counted = np.bincount(
                        y[values == level["name"]], minlength=len(level["counts"])
                    )
                    assert level["counts"] == counted.tolist()
                continue
            values = values.astype(float)
            missing = np.bincount(y[np.isnan(values)], minlength=len(folder.about["classes"]))
            assert column["counts"]["missing"] == missing.tolist()
            if column["cut"] is not None:
                at, closed = column["cut"]["at"], column["cut"]["closed"]
                above = values >= at if closed else values > at
                assert column["counts"]["above"] == [
                    int((above & (y == k)).sum()) for k in range(len(missing))
                ]
                printed = float(column["cut"]["text"].replace("−", "-"))
                side = values >= printed if closed else values > printed
                assert np.array_equal(side, above)  # what is printed holds as well
                assert column["cut"]["text"] in words_of(column["direction"])


def test_directions_are_what_the_answers_do(study):
    """Where a panel says that above a value a class is spoken for, so do the mean answers."""
    folder, saved = study
    classes = [str(one) for one in folder.about["classes"]]
    strong = 0
    for key in saved.keys:
        one, asked_model = saved.opened(key), saved.reduced(key)
        rows = background(asked_model)
        base = asked_model.model.predict_proba(_decoded(asked_model, rows)).mean(axis=0)
        found = portrait(folder, one, asked_model, key)
        np.testing.assert_allclose(found["base"], base, atol=5.1e-5)
        for column in found["columns"]:
            words = words_of(column["direction"])
            # a side is never said to be of a class: its mean answer may be below any threshold
            named = [part["t"] for part in column["direction"] if not isinstance(part, str)]
            assert not any(name.endswith(f": {c}.") for name in named for c in classes)
            if column["kind"] != "number" or " than below" in words or "." not in words:
                continue
            if not words.startswith(("Above", "From")):
                continue
            strong += 1
            j = asked_model.whole.index(column["whole"])
            said = [part["k"] for part in column["direction"] if not isinstance(part, str)]
            for value, side in zip(
                [column["axis"]["high"], column["axis"]["low"]], said, strict=True
            ):
                moved = rows.copy()
                moved[:, j] = value
                mean = asked_model.model.predict_proba(_decoded(asked_model, moved)).mean(axis=0)
                assert int((mean - base).argmax()) == side, (key, column["name"], words, classes)
    assert strong > 0


@pytest.mark.parametrize(
    ("above", "below", "told"),
    [
        (
            [121, 173],
            [236, 39],
            "Yet benign is rarer there (121 of 294 cases, elsewhere 236 of 275)",
        ),
        ([100, 100], [52, 48], ""),  # two parts of a hundred are not told
        ([9, 1], [1, 9], ""),
        ([0, 0], [1, 9], ""),
    ],
)
def test_a_direction_against_the_counts_is_explained(above, below, told):
    counts = {"above": above, "below": below, "missing": [0, 0]}
    words = suppressed({"k": 0, "t": "Above 3: benign."}, counts, ["benign", "malignant"])
    assert words.strip().startswith(told)
    assert bool(words) == bool(told)
    assert suppressed("It does not point one way.", counts, ["benign", "malignant"]) == ""


def test_what_a_missing_value_does_is_said(study):
    """In words, on every column that some case lacks: the mean answer if all lacked it."""
    folder, saved = study
    told = barely = 0
    for key in saved.keys:
        one, asked_model = saved.opened(key), saved.reduced(key)
        rows = background(asked_model)
        base = asked_model.vote.probabilities(rows).mean(axis=0)
        for column in portrait(folder, one, asked_model, key)["columns"]:
            words = words_of(column["missing_words"])
            j = asked_model.whole.index(column["whole"])
            if not np.isnan(asked_model.X[:, j]).any():
                assert words == ""
                continue
            moved = rows.copy()
            moved[:, j] = np.nan
            mean = asked_model.vote.probabilities(moved).mean(axis=0)
            np.testing.assert_allclose(column["missing"], mean - base, atol=1e-4)
            if "barely" in words:
                barely += 1
                assert np.abs(mean - base).max() < 0.021
                continue
            told += 1
            k = int((mean - base).argmax())
            name = str(folder.about["classes"][k])
            assert words == (
                f"Missing: more like {name}; the mean answer for {name} is then"
                f" {chance(float(mean[k]))}, and {chance(float(base[k]))} with the values as they"
                " are."
            )
    assert told + barely >= 2
    assert told or len(folder.about["classes"]) == 3  # in one of the two studies


def _decoded(one, rows):
    """Return rows with the words of categories, as the model takes them."""
    out = rows.astype(object)
    for j, levels in one.levels.items():
        out[:, j] = [None if np.isnan(code) else levels[int(code)] for code in rows[:, j]]
    return out


def test_models_come_in_the_order_of_the_verdict(study):
    folder, saved = study
    order = [one.key for one in standings(folder)]
    assert saved.keys == [key for key in order if key in folder.models]


def test_a_study_without_cases_has_no_panel(study):
    folder, _ = study
    assert saved_of(replace(folder, cases=None)).keys == []
    assert saved_of(replace(folder, cases=KeptCases([], [], [], np.empty((0, 0))))).keys == []


def test_no_cut_where_nothing_changes(study):
    from psephos.explain.effects import Axis, Says

    pieces = pieces_of(Axis(False, 0.0, 1.0, False, False), [0.5], False)
    flat = Says(pieces, np.zeros((2, 2)), None, np.full((1, 2), 0.004), 0.005)
    assert cut_of(flat, {0.5: False}, np.array([0.1, 0.9])) is None


def test_a_plane_is_the_models_answers(table):
    X, y = table
    one = asked(SamBAClassifier(n_estimators=6).fit(X[:, [0, 2]], y), X[:, [0, 2]])
    found = plane(one, [0, 1], *voter_thresholds(one))
    across, up = found["axes"]
    assert across["zero"]
    assert len(found["chances"]) == len(found["ends"][1]) - 1 + up["zero"]
    assert len(found["chances"][0]) == len(found["ends"][0])
    corner = one.model.predict_proba([[0.0, 0.0]])[0]
    np.testing.assert_allclose(found["chances"][0][0], corner, atol=5.1e-5)
    low, high = found["ends"][0][3:5], found["ends"][1][5:7]
    inside = [[np.sqrt(low[0] * low[1]), np.sqrt(high[0] * high[1])]]
    np.testing.assert_allclose(
        found["chances"][6][4], one.model.predict_proba(inside)[0], atol=5.1e-5
    )
    assert plane(replace(one, levels={0: ["u"]}), [0, 1], {}, set()) is None


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A study of 900 cases on 30 columns that all tell a little."""
    from psephos.protocol import DataTable, Protocol, compare

    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 900)
    X = np.exp(rng.normal(size=(900, 30)) + 0.5 * y[:, None])
    X[rng.random(X.shape) < 0.2] = 0.0
    names = tuple(f"g{j}" for j in range(30))
    data = DataTable(X=X, y=np.where(y, "ill", "well"), names=names, target_name="state")
    small = Protocol("small", draws=1, folds=2, inner_folds=2)
    folder = tmp_path_factory.mktemp("many")
    compare(data, models=("adaboost",), protocol=small, out=folder, n_jobs=1)
    return read_folder(folder)


def test_many_cases_are_counted_in_bins_and_200_of_a_class_drawn(many):
    saved = saved_of(many)
    found = portrait(many, saved.opened("adaboost"), saved.reduced("adaboost"), "adaboost")
    y = np.asarray(many.cases.y)
    for column in found["columns"]:
        values = many.cases.values[:, many.cases.names.index(column["whole"])]
        for k in (0, 1):
            counted = sum(column["bins"]["counts"][k]) + column["bins"]["zero"][k]
            assert counted == (y == k).sum()
            own = values[(y == k) & (values > 0)]
            spread = np.geomspace if column["axis"]["log"] else np.linspace
            ends = spread(column["axis"]["low"], column["axis"]["high"], 49)
            ends[[0, -1]] = column["axis"]["low"], column["axis"]["high"]
            theirs = np.histogram(own, bins=ends)[0]
            assert column["bins"]["counts"][k] == theirs.tolist()
    island = summarise(many.path)["island"]["values"]
    assert np.bincount(island["y"]).tolist() == [200, 200]
    assert "400 are drawn" in island["sampled"]


def test_of_many_columns_six_are_drawn_and_the_others_listed(many):
    saved = saved_of(many)
    found = portrait(many, saved.opened("adaboost"), saved.reduced("adaboost"), "adaboost")
    used = saved.reduced("adaboost").vote.used
    assert found["n_read"] == len(used) > 24
    assert len(found["table"]) == len(used) - 6
    assert f"{len(used) - 6} columns" in found["rest_words"]
    listed = [column["whole"] for column in [*found["columns"][:6], *found["table"]]]
    assert sorted(listed) == sorted(saved.reduced("adaboost").whole)
    rest = sum(line["share"] for line in found["table"])
    assert f"({100 * rest:.1f} % of the importance)" in found["rest_words"].replace("\u202f", " ")


def test_a_function_that_would_not_fit_says_what_it_adds(many, monkeypatch):
    monkeypatch.setattr("psephos.report.panels.case.CAPACITY", 100)
    report = summarise(many.path)
    assert "it would add" in report["island"]["case"]["models"]["adaboost"]["why"]
    assert report["case"]["votes"]  # a typical case and its ballots stand in its place


def test_the_tables_without_script_count_every_case(compared, summarised):
    report = summarised
    first, cases = report["values"], read_folder(compared).cases
    sizes = np.bincount(cases.y)
    assert sorted(first["order"]) == list(range(len(sizes)))
    assert first["order"] == report["island"]["values"]["order"]
    page = render(report)
    text = page[page.index('id="values-first"') : page.index('id="values-live"')]
    tables = re.findall("<tbody>(.*?)</tbody>", text, flags=re.S)
    assert len(tables) == len(first["columns"])
    for column, body in zip(first["columns"], tables, strict=True):
        rows = re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', body, flags=re.S)
        cells = [(name, re.findall(">([^<]+)</td>", row)) for name, row in rows]
        counts = [[int(n) for n in own] for name, own in cells if "mean answer" not in name]
        if column["kind"] == "category" or column["cut"]:
            assert np.sum(counts, axis=0).tolist() == sizes[first["order"]].tolist()
        means = [[float(v) for v in own] for name, own in cells if "mean answer" in name]
        zero = column.get("zero")
        lines = len(column.get("moves", ())) + bool(column["missing"]) + (zero is not None)
        assert len(means) == lines
        np.testing.assert_allclose([sum(own) for own in means], 1.0, atol=0.02)
        at = [name for name, _ in cells if name.startswith("mean answer") and "if" not in name]
        if zero is not None:  # beside a logarithmic axis
            assert at.pop(0) == "mean answer at 0"
            assert at[0].startswith("mean answer from ")
        elif len(at) > 1:  # ends of the axis lie beyond the data
            assert at[0].startswith("mean answer below ")
        if len(at) > 1:
            assert at[-1].startswith("mean answer from ")
            assert " to " not in at[-1]


def test_voters_that_need_every_value_are_not_asked_without_one(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = np.column_stack([rng.normal(size=60) + y, rng.integers(3, size=60)])
    some = Partial(np.where(np.arange(60) % 6 < 2, -1, y), 1, True, 0.5)
    table = DataTable(X, y, ["a", "site"], {1: ("x", "y", "z")}, partial=some)
    own = Protocol(folds=2, repeats=1, inner_folds=2, draws=1)
    compare(table, models=["majority", "one-sided-noise"], protocol=own, out=tmp_path / "s")
    columns = summarise(tmp_path / "s")["island"]["values"]["models"]["one-sided-noise"]["columns"]
    words = [column for column in columns if column["kind"] == "category"]
    assert [column["missing"] for column in words] == [None]
    assert [level["name"] for level in words[0]["levels"]] == ["x", "y", "z"]


# ---------------------------------------------------------------------- what permuting changes
def test_strips_fields_and_card_stand_in_the_order_of_importance(study):
    folder, saved = study
    with (folder.path / "permuted.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    report = summarise(folder.path)
    ordered = False
    for key in saved.keys:
        worse = {}
        for row in rows:
            if row["model"] == key:
                worse.setdefault(row["column"], []).append(float(row["worse"]))
        means = {name: sum(own) / len(own) for name, own in worse.items()}
        columns = report["island"]["values"]["models"][key]["columns"]
        strips = [one["whole"] for one in columns]
        shares = {one["whole"]: one["share"] for one in columns}
        assert strips == sorted(strips, key=lambda name: (-shares[name], -means[name]))
        ordered = ordered or strips != sorted(strips, key=lambda name: -means[name])
        calculator = report["island"]["case"]["models"][key]
        fields = [one["whole"] for one in calculator["fields"] if not one["backup"]]
        assert fields[: len(strips)] == strips
        for one in columns:
            assert one["share_words"].startswith(f"{percent(one['share'])} of the importance")
            change = one["share_words"].split("permuted in the folds' models ")[1]
            change = change.replace("\N{MINUS SIGN}", "-")
            assert float(change) == pytest.approx(-means[one["whole"]], abs=0.00501)
    assert ordered  # it is another order than that of what permuting costs
    shown = report["island"]["first"]["model"]
    card = [one["whole"] for one in report["card"]["columns"]]
    strips = [one["whole"] for one in report["island"]["values"]["models"][shown]["columns"]]
    assert card[: len(strips)] == strips
    note = report["values"]["notes"][0]
    assert note.startswith("Importance, by which columns and fields are sorted, is ")
    assert "how much this model uses a column" in note
    what = "how the balanced accuracy changes when the column's values are shuffled among held-out"
    assert f" Permuted is {what} cases" in note
    assert note.count("This order, and that by the folds that read a column, may differ") == 1


def test_without_models_of_folds_it_is_said_that_nothing_was_permuted(study, tmp_path):
    folder, _ = study
    copy = tmp_path / "study"
    shutil.copytree(folder.path, copy)
    about = json.loads((copy / "comparison.json").read_text())
    (copy / "permuted.csv").unlink()
    del about["files"]["permuted.csv"], about["checksum"]  # as an earlier version wrote it
    (copy / "comparison.json").write_text(json.dumps(about))
    report = summarise(copy)
    assert "was not measured" in report["values"]["notes"][0]
    columns = report["values"]["columns"]
    assert "permuted" not in columns[0]["share_words"]
    shares = [one["share"] for one in columns]
    assert shares == sorted(shares, reverse=True)
