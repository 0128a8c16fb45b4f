"""The main job on real tables; skipped, with the reason, where PSEPHOS_DATA is unset."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from psephos.models import load
from psephos.models.boosting.adaboost import AdaBoostClassifier
from psephos.models.boosting.samba import SamBAClassifier
from psephos.protocol import Protocol, compare, read_table

pytestmark = [pytest.mark.reference, pytest.mark.slow]
SHORT = Protocol("short", folds=3, inner_folds=2, draws=3)


def test_colon_from_table_to_models(data_dir, tmp_path):
    table = read_table(data_dir / "colon_alon" / "colon_alon.npz", target="y")
    done = compare(table, models=["samba", "adaboost"], protocol=SHORT, out=tmp_path, n_jobs=1)
    assert {row["status"] for row in done.results} == {"ok"}
    score = {s.model: s.score for s in done.summary()}
    assert score["samba"] > 0.6
    assert score["adaboost"] > 0.6
    model = load(tmp_path / "models" / "samba.psephos")
    assert 0 < model.n_features_used_ <= 60
    assert model.n_features_in_ == 2000


def test_no_subject_stands_on_both_sides(data_dir, tmp_path):
    table = read_table(data_dir / "lsvt" / "lsvt.npz", target="y", group="groups")
    done = compare(table, models=["majority"], protocol=SHORT, out=tmp_path, n_jobs=1)
    rows = (tmp_path / "predictions.csv").read_text().splitlines()
    header = rows[0].split(",")
    fold, row = header.index("fold"), header.index("row")
    tested = {}
    for line in rows[1:]:
        cells = line.split(",")
        tested.setdefault(cells[fold], set()).add(table.groups[int(cells[row])])
    assert len(done.results) == len(tested) == 3
    assert not set.intersection(*tested.values())
    assert sum(map(len, tested.values())) == len(np.unique(table.groups))


@pytest.mark.filterwarnings("ignore::psephos._errors.UnknownLevelWarning")  # is meant
@pytest.mark.parametrize("Model", [SamBAClassifier, AdaBoostClassifier])
@pytest.mark.parametrize(("name", "least"), [("vote", 0.92), ("hepatitis", 0.6), ("credit_a", 0.8)])
def test_categories_and_missing_values(data_dir, name, least, Model):
    table = read_table(data_dir / name / f"{name}.csv", target="target")
    scores = []
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(table.X, table.y):
        model = Model(categorical_features=sorted(table.categories) or None)
        model.fit(table.X[train], table.y[train])
        scores.append(balanced_accuracy_score(table.y[test], model.predict(table.X[test])))
    assert np.mean(scores) > least


def test_many_classes(data_dir):
    with np.load(data_dir / "srbct" / "srbct.npz", allow_pickle=False) as archive:
        X, y = archive["X"], archive["y"]
    train = np.arange(len(y)) % 3 > 0
    for model in (SamBAClassifier(), AdaBoostClassifier(DecisionTreeClassifier(max_depth=2))):
        model.fit(X[train], y[train])
        assert balanced_accuracy_score(y[~train], model.predict(X[~train])) > 0.7
        assert model.n_features_used_ < 150
