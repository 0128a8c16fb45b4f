"""Two weightings of another package: this file is all of them.

They lower themselves to operations, and are then predicted, explained, saved, exported and in the
page. SQL and ONNX are written for constant weights, so for one of the two.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from psephos import AdaBoostClassifier, PsephosError, compare, load, register, registry, save
from psephos.protocol import Protocol
from psephos.protocol.tables.table import table_from_arrays
from psephos.report import build_report
from psephos.scoring.sql import sql
from psephos.testing import Case, parametrize_with_contract, small_table
from psephos.vote import Constant, Vote, register_part
from psephos.vote.lowered import WeighedAsLowered
from psephos.vote.operations.distance import Batches, Distance
from psephos.vote.operations.distance_weights import DistanceWeights, Gaussian, OwnPoint
from psephos.vote.part import Columns, ReadsColumns, ReadsNothing, check, check_part


@register_part
@dataclass(frozen=True)
class Fading(ReadsNothing, WeighedAsLowered):
    """w_t = rate^t: later voters have less weight."""

    tag: ClassVar[str] = "fading"
    n_features: int
    rate: float
    place: NDArray[np.intp]

    def __post_init__(self):
        check_part(self)
        check(0 < self.rate <= 1, "a rate is not between 0 and 1")

    @property
    def n_voters(self):
        return len(self.place)

    def take(self, voters):
        return replace(self, place=self.place[voters])

    def lowered(self):
        return Constant(self.n_features, self.rate**self.place)


@register_part
@dataclass(frozen=True)
class Around(ReadsColumns, WeighedAsLowered):
    """w_t(x) = exp(-|x - c_t|^2 / (2 width^2)): each voter is for cases around its centre."""

    tag: ClassVar[str] = "around"
    n_features: int
    columns: Columns
    centre: NDArray[np.float64]
    width: float

    def __post_init__(self):
        check_part(self)
        check(self.centre.shape[1:] == self.columns.shape, "centres have other columns")

    @property
    def n_voters(self):
        return len(self.centre)

    def take(self, voters):
        kept = self.columns if len(voters) else self.columns[:0]
        return replace(self, columns=kept, centre=self.centre[voters][:, : len(kept)])

    def lowered(self):
        t, q = self.centre.shape
        none = np.zeros(t, dtype=np.intp)
        batches = Batches(self.n_features, self.columns, np.full((1, q), 1 / self.width), none)
        scales = np.zeros(q), np.ones(q), np.zeros(q, dtype=bool)
        distance = Distance(batches, *scales, self.centre, np.zeros((1, q)), 0.0)
        return DistanceWeights(distance, Gaussian(), np.ones(t), OwnPoint(np.arange(t)))


class FadingClassifier(AdaBoostClassifier):
    """AdaBoost whose later rounds fade."""

    anatomy = AdaBoostClassifier.anatomy._replace(weighting="fading")
    contender = replace(AdaBoostClassifier.contender, name="third-fading")

    def _fit_vote(self, table, labels, weight, context):
        vote, more = super()._fit_vote(table, labels, weight, context)
        fading = Fading(vote.n_features, 0.8, np.arange(vote.n_voters))
        return Vote(vote.voters, fading, vote.readout, vote.target), more


class AroundClassifier(AdaBoostClassifier):
    """AdaBoost whose voters are for one class each: where it lies, they have weight."""

    anatomy = AdaBoostClassifier.anatomy._replace(weighting="around")
    contender = replace(AdaBoostClassifier.contender, name="third-around")

    def _fit_vote(self, table, labels, weight, context):
        vote, more = super()._fit_vote(table, labels, weight, context)
        columns = vote.voters.columns
        X, of_class = table.dense()[:, columns], np.eye(labels.target.n_classes)[labels.y]
        known = ~np.isnan(X) * weight[:, None]
        mean = of_class.T @ (known * np.nan_to_num(X)) / np.maximum(of_class.T @ known, 1e-9)
        centre = mean[np.arange(vote.n_voters) % len(mean)]
        around = Around(vote.n_features, columns, centre, 3.0)
        return Vote(vote.voters, around, vote.readout, vote.target), more


KINDS = {"fading": FadingClassifier, "around": AroundClassifier}


@pytest.fixture(autouse=True, scope="module")
def _known_here_only():
    for kind in KINDS.values():
        register(kind)
    yield
    for name in KINDS:
        registry._registered.pop(f"third-{name}")


CASES = {
    f"{name}, {k} classes, {m}": Case(kind(n_estimators=4, random_state=0), k, m)
    for name, kind in KINDS.items()
    for k, m in ((2, 0.2), (3, 0.0))
}


@parametrize_with_contract(CASES)
def test_contract(check):
    check()


@pytest.fixture(scope="module", params=KINDS)
def model(request):
    X, y = small_table(2, missing=0.2)
    return KINDS[request.param](n_estimators=6, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def X():
    return np.vstack([small_table(2, missing=0.2).X, small_table(2, missing=0.3, seed=1).X])


def test_it_is_explained(model, X):
    shares = model.vote_.shares(X)
    assert_allclose(shares.sum(axis=1), 1)
    local = isinstance(model, AroundClassifier)
    assert bool(np.ptp(shares, axis=0).max() > 0.01) is local
    words = " ".join(model.describe())
    assert ("weights by Gaussian kernels" if local else "constant weights") in words
    assert "column" in model.explain(X[:2]).words(0, 0)


def test_it_is_saved_and_loaded(model, X, tmp_path):
    save(model, tmp_path / "m.psephos")
    loaded = load(tmp_path / "m.psephos")
    assert type(loaded.vote_.weighting) in (Fading, Around)
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("place", ["scorer", "sqlite", "onnx"])
def test_it_is_exported(place, model, X, elsewhere):
    if isinstance(model, AroundClassifier) and place != "scorer":
        with pytest.raises(PsephosError, match="its weights are 'distance weights'"):
            sql(model)
        return
    labels, chances = getattr(elsewhere, place)(model, X)
    assert labels == model.predict(X).tolist()
    assert_allclose(chances, model.predict_proba(X), atol=1e-6 if place == "onnx" else 1e-12)


@pytest.mark.browser
def test_the_page_answers_by_them(X, elsewhere, tmp_path):
    table, names = table_from_arrays(*small_table(2)), [f"third-{name}" for name in KINDS]
    done = compare(
        table,
        models=[*names, "majority"],
        protocol=Protocol(folds=2, draws=2),
        out=tmp_path / "study",
        n_jobs=1,
    )
    assert not done.failures, done.words()
    path = build_report(tmp_path / "study")
    for name in names:
        model = load(tmp_path / "study" / "models" / f"{name}.psephos")
        rows = pd.DataFrame(X, columns=model.feature_names_in_)
        labels, chances, words = elsewhere.page(path, name, rows)
        assert labels == model.predict(rows).tolist()
        assert_allclose(chances, model.predict_proba(rows), atol=1e-12)
        assert "column" in words[0][0]
